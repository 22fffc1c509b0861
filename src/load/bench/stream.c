/*
 * Streams: many messages from some programs to others, one after the other.
 *
 * stream   From one node to another, or in both directions at once, by one
 *          process of each node or by several.
 *
 * fan      A node and its neighbours: it sends to all of them in turn, or all
 *          of them send to it.  Neighbours are the nodes of routers one link
 *          away, one of each; where a router is a node, they are the routers
 *          themselves.  A program's messages go to the program of the same
 *          number: so each of them has a counter of its own.
 *
 * A sender's message k is read from place k of its memory and written to place
 * k of those that the receiver has for it, or, where there are fewer places, to
 * the place whose turn it is.  What a place's bytes are is a function of its
 * number; around them the receiver's memory may hold guards that must not
 * change.
 */
#include <inttypes.h>
#include <string.h>

#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct stream, field)

enum {
	GUARD = 128, /* bytes before and after a place, at least */
	GUARD_BYTE = 0xa5,
	MOST_OFFSET = 4095,
	BLOCK = 4096, /* bytes that programs handle at a time */
	NOTICE = 8, /* bytes */
};

enum { STREAM, FAN };
enum { WAY_OUT, WAY_IN };

/* Bytes that a program's core stored for its puts, and when it ended. */
struct side {
	uint64_t stored;
	sim_time stored_at;
	bool sends; /* messages */
};

/* In bytes: from one lane's places to the next one's, from one sender's, and
 * from one place to the next. */
struct layout {
	uint64_t lane, sender, slot;
};

struct stream {
	struct bench bench;
	/* keys */
	int64_t both, places, source_offset, target_offset, procs;
	int64_t node, way; /* fan's */

	uint64_t n_places, guard;
	struct layout source, target;
	uint32_t n; /* neighbours */
	site_id neighbour[TOPO_MAX_PORTS];
};

static const struct param params[] = {
	KEY_VIA_ENDPOINT(AT(bench.via)),
	KEY_MEANS(stream),
	KEY_NODE("from", AT(bench.from), "0", "node that sends"),
	KEY_NODE("to", AT(bench.to), "1", "node that receives"),
	KEY_FLAG("both", AT(both), "no", "whether both nodes send and receive"),
	KEY_BYTES("bytes", AT(bench.bytes), "64 KiB", 0, 64 << 20,
		"length of a message; the arrival of messages of 0 bytes is "
		"not checked"),
	KEY_COUNT("rounds", AT(bench.rounds), "16", 1, 1000000,
		"number of messages from each sending node"),
	KEY_WARM(AT(bench.warm)),
	KEY(PARAM_COUNT, "places", AT(places), "all", 1, 1000000, "all",
		"number of target buffers that messages are written to in "
		"turn; all: one for each message"),
	KEY_BYTES("source-offset", AT(source_offset), "0", 0, MOST_OFFSET,
		"offset of the source from an aligned address"),
	KEY_BYTES("target-offset", AT(target_offset), "0", 0, MOST_OFFSET,
		"offset of the destination from an aligned address"),
	KEY_LANES(AT(procs)),
	KEY_PORT(AT(bench.port)),
	KEY_CPU(AT(bench.cpu)),
};

static const struct param fan_params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_NODE("node", AT(node), "0",
		"node that sends to its neighbours, or receives from them"),
	KEY_WORD("way", AT(way), "out", "out|in",
		"direction of the messages; out: the node sends to its "
		"neighbours; in: they send to it"),
	KEY_BYTES("bytes", AT(bench.bytes), "64 KiB", 8, 1 << 20,
		"length of a message"),
	KEY_COUNT("rounds", AT(bench.rounds), "4", 1, 1000000,
		"number of messages from each program to each of its partners"),
	KEY_LANES(AT(procs)),
};

static struct stream *of(const struct bench_end *x)
{
	return (struct stream *)x->bench;
}

static bool is_fan(const struct stream *s)
{
	return s->bench.programs.load.ops->variant == FAN;
}

/* --- who is who: the programs of a node follow each other --- */

static uint32_t lanes(const struct stream *s)
{
	return (uint32_t)s->procs;
}

/* 0: the first of two nodes, or the middle; others from 1 on. */
static uint32_t place_of(const struct bench_end *x)
{
	return (uint32_t)(x - x->bench->ends) / lanes(of(x));
}

static bool is_middle(const struct bench_end *x)
{
	return is_fan(of(x)) && !place_of(x);
}

/* The number of programs that it sends to or receives from. */
static uint32_t n_partners(const struct bench_end *x)
{
	return is_middle(x) ? of(x)->n : 1;
}

/* In turn; each program of a node begins with another partner. */
static site_id partner(const struct bench_end *x, uint32_t i)
{
	const struct stream *s = of(x);

	return is_middle(x) ? s->neighbour[(i + x->lane) % s->n] : x->peer;
}

static bool sends(const struct bench_end *x)
{
	return ((const struct side *)x->data)->sends;
}

static bool receives(const struct bench_end *x)
{
	if (bench_drops(x->bench))
		return false;
	return !sends(x) || of(x)->both || x->peer == x->node;
}

/* Its number as a sender, if there are several. */
static uint32_t sender_of(const struct bench_end *x)
{
	return is_fan(of(x)) ? place_of(x) : 0;
}

/* The i-th of those who send to it. */
static uint32_t sender_to(const struct bench_end *x, uint32_t i)
{
	return is_middle(x) ? 1 + i : 0;
}

/* --- bytes --- */

static uint64_t source_of(const struct bench_end *x, uint64_t place)
{
	const struct stream *s = of(x);

	return BENCH_SOURCE + x->lane * s->source.lane +
	       place * s->source.slot + (uint64_t)s->source_offset;
}

/* At the receiver. */
static uint64_t slot_of(
	const struct bench_end *x, uint32_t sender, uint64_t place)
{
	const struct layout *t = &of(x)->target;

	return BENCH_TARGET + x->lane * t->lane + sender * t->sender +
	       place * t->slot;
}

static uint64_t target_of(
	const struct bench_end *x, uint32_t sender, uint64_t place)
{
	return slot_of(x, sender, place) + of(x)->guard +
	       (uint64_t)of(x)->target_offset;
}

/* The number that determines a place's bytes. */
static uint64_t number_of(
	const struct bench_end *x, uint32_t sender, uint64_t place)
{
	return (sender * (uint64_t)HOST_THREADS + x->lane) * of(x)->n_places +
	       place + 1;
}

static void fill_guards(const struct bench_end *x)
{
	uint64_t at = slot_of(x, 0, 0), end = slot_of(x, 0, of(x)->n_places);
	uint8_t block[BLOCK];

	memset(block, GUARD_BYTE, sizeof(block));
	for (; of(x)->guard && at < end; at += BLOCK)
		bench_write(x, at, block, end - at < BLOCK ? end - at : BLOCK);
}

/* Each byte is the one before it, and so the first. */
static bool is_guard(const uint8_t *got, size_t n)
{
	return !n || (*got == GUARD_BYTE && !memcmp(got, got + 1, n - 1));
}

static bool check_guard(
	struct bench_end *x, uint64_t place, uint64_t at, uint64_t end)
{
	uint8_t got[MOST_OFFSET + 2 * GUARD];
	size_t n = end - at;

	BUG_IF(n > sizeof(got));
	bench_read(x, at, got, n);
	for (size_t i = 0; !is_guard(got, n) && i < n; i++)
		if (got[i] != GUARD_BYTE)
			return programs_complain(x->programs,
				"message %" PRIu64 ": byte %" PRId64
				" outside its destination has changed",
				place,
				(int64_t)(at + i - target_of(x, 0, place)));
	return true;
}

static bool check_places(struct bench_end *x, uint32_t sender)
{
	uint64_t i, at, bytes = (uint64_t)x->bench->bytes;

	for (i = 0; i < of(x)->n_places; i++) {
		at = target_of(x, sender, i);
		if (!bench_check(x, number_of(x, sender, i), at, bytes))
			return false;
		if (of(x)->guard &&
			(!check_guard(x, i, slot_of(x, sender, i), at) ||
				!check_guard(x, i, at + bytes,
					slot_of(x, sender, i + 1))))
			return false;
	}
	return true;
}

/* --- the program --- */

/* The receives of messages [k, end). */
static bool post(struct bench_end *x, uint64_t k, uint64_t end)
{
	const struct stream *s = of(x);

	for (; k < end; k++)
		if (!bench_tagged(x)->post(x, x->peer,
			    target_of(x, 0, k % s->n_places),
			    (uint64_t)s->bench.bytes))
			return false;
	return true;
}

/* As many of them as may be posted at a time. */
static bool post_first(struct bench_end *x, uint64_t k, uint64_t end)
{
	uint64_t most = k + bench_tagged(x)->most;

	return post(x, k, most < end ? most : end);
}

/* All that were posted, and the rest as it goes. */
static bool receive_all(struct bench_end *x, uint64_t k, uint64_t end)
{
	uint64_t next;

	for (; k < end; k++) {
		next = k + bench_tagged(x)->most;
		if (!bench_tagged(x)->await(x) ||
			!post(x, next, next < end ? next + 1 : next))
			return false;
	}
	return true;
}

/* Bytes of the word that warm rounds are over. */
static uint64_t notice(const struct bench_end *x)
{
	uint64_t bytes = (uint64_t)x->bench->bytes;

	return bytes < NOTICE ? bytes : NOTICE;
}

/* Of a phase before which all must be ready. */
static uint64_t first_rounds(const struct stream *s)
{
	return (uint64_t)(s->bench.warm ? s->bench.warm : s->bench.rounds);
}

static bool prepare(struct bench_end *x)
{
	const struct stream *s = of(x);
	uint64_t n = n_partners(x) * first_rounds(s), i;
	uint64_t bytes = (uint64_t)s->bench.bytes;

	for (i = 0; sends(x) && i < s->n_places; i++)
		bench_make(x, number_of(x, sender_of(x), i), source_of(x, i),
			bytes);
	if (receives(x))
		fill_guards(x);
	if (bench_tagged(x))
		return !receives(x) || post_first(x, 0, first_rounds(s));
	if (receives(x))
		x->driver->expect(x, x->lane, n * bytes);
	if (sends(x) && s->bench.warm && !bench_drops(x->bench))
		x->driver->expect(x, lanes(s) + x->lane, notice(x));
	if (sends(x))
		bench_track_puts(x, x->bench->means, n, bytes);
	return true;
}

/* Rounds [k, end). */
static void send_some(struct bench_end *x, uint64_t k, uint64_t end)
{
	const struct stream *s = of(x);
	struct bench_transfer p =
		bench_transfer(x, 0, (uint64_t)s->bench.bytes);
	uint64_t n = s->n_places;

	p.is_tracked = true;
	p.counter = x->lane;
	for (; k < end; k++) {
		p.from = source_of(x, k % n);
		p.to = target_of(x, sender_of(x), k % n);
		for (uint32_t i = 0; i < n_partners(x); i++) {
			p.node = partner(x, i);
			if (bench_tagged(x))
				bench_tagged(x)->send(
					x, p.node, p.from, p.bytes);
			else
				x->driver->put(x, &p);
		}
	}
}

/* Receivers are ready for what counts, and say so: by messages, ... */
static bool warm_tagged(struct bench_end *x, uint64_t warm, uint64_t end)
{
	const struct bench_tagged *t = bench_tagged(x);

	if (receives(x) && !receive_all(x, 0, warm))
		return false;
	if (sends(x) && !t->post(x, x->peer, target_of(x, 0, 0), 0))
		return false;
	if (receives(x) && (!post_first(x, warm, end) ||
				   !t->send(x, x->peer, source_of(x, 0), 0)))
		return false;
	return !sends(x) || t->await(x);
}

/* ... or by a put of bytes that are there already. */
static bool warm_counted(struct bench_end *x, uint64_t n, uint64_t bytes)
{
	struct bench_transfer p = bench_transfer(x, x->peer, notice(x));

	p.from = source_of(x, 0);
	p.to = target_of(x, 0, 0);
	p.counter = lanes(of(x)) + x->lane;
	if (receives(x)) {
		if (!x->driver->await(x, x->lane))
			return false;
		x->driver->expect(x, x->lane, n * bytes);
		x->driver->put(x, &p);
	}
	if (!sends(x))
		return true;
	if (!bench_drops(x->bench) && !x->driver->await(x, p.counter))
		return false;
	if (!x->driver->flush(x))
		return false;
	bench_track_puts(x, x->bench->means, n, bytes);
	return true;
}

/* The rounds that do not count: the next ones begin when these are there. */
static bool warm_up(struct bench_end *x)
{
	const struct bench *b = x->bench;
	uint64_t warm = (uint64_t)b->warm;

	if (sends(x))
		send_some(x, 0, warm);
	if (!(bench_tagged(x) ? warm_tagged(x, warm, bench_rounds(b))
			      : warm_counted(x, (uint64_t)b->rounds,
					(uint64_t)b->bytes)))
		return false;
	bench_count(x);
	if (!sends(x))
		x->start = SIM_NEVER;
	return true;
}

static bool transfer(struct bench_end *x)
{
	uint64_t (*stored)(const struct bench_end *x, sim_time *at) =
		x->bench->looks->stored;
	uint64_t warm = (uint64_t)x->bench->warm;
	uint64_t all = bench_rounds(x->bench);
	struct side *i = x->data;

	if (warm && !warm_up(x))
		return false;
	if (sends(x)) {
		i->stored = stored ? stored(x, &i->stored_at) : 0;
		send_some(x, warm, all);
		if (stored)
			i->stored = stored(x, &i->stored_at) - i->stored;
	}
	if (bench_drops(x->bench) && sends(x))
		x->driver->flush(x);
	if (bench_tagged(x))
		return (!receives(x) || receive_all(x, warm, all)) &&
		       (!sends(x) || bench_tagged(x)->finish(x));
	return !receives(x) || x->driver->await(x, x->lane);
}

static void check(struct bench_end *x)
{
	uint32_t i, n = receives(x) ? n_partners(x) : 0;

	for (i = 0; i < n && check_places(x, sender_to(x, i)); i++)
		;
	if (sends(x) && !bench_tagged(x) && !x->driver->flush(x))
		programs_fail(x->programs, "not all messages were sent");
}

static const struct bench_program program = {
	.prepare = prepare,
	.transfer = transfer,
	.check = check,
};

/* --- stream --- */

static int set_places(struct stream *s, struct err *e)
{
	uint64_t bytes = (uint64_t)s->bench.bytes;
	uint64_t part = (BENCH_TARGET - BENCH_SOURCE) / (uint64_t)s->procs;

	part -= part % BLOCK;
	s->source.lane = s->target.lane = part;
	s->source.slot = (uint64_t)s->source_offset + bytes;
	s->source.slot = (s->source.slot + GUARD - 1) / GUARD * GUARD;
	s->target.slot = (uint64_t)s->target_offset + bytes + 2 * GUARD;
	s->target.slot = (s->target.slot + GUARD - 1) / GUARD * GUARD;
	s->guard = GUARD;
	s->n_places = bench_rounds(&s->bench);
	if (s->places >= 0 && (uint64_t)s->places < s->n_places)
		s->n_places = (uint64_t)s->places;
	if (s->n_places * s->target.slot > part)
		return err_set(e,
			"places: %" PRIu64 " messages of %" PRIu64
			" bytes for each process need more than the 1 GiB "
			"available; want fewer places",
			s->n_places, bytes);
	return 0;
}

/* The end of warm rounds is seen by counters, two of each process. */
static int check_warm(const struct stream *s, struct err *e)
{
	const struct bench *b = &s->bench;

	if (b->driver->means[b->means].is_tagged)
		return 0;
	if (!b->bytes)
		return err_set(e, "warm: the arrival of messages of 0 bytes is "
				  "not seen (want more bytes)");
	if (b->from == b->to)
		return err_set(e, "warm: needs two nodes");
	if (2 * s->procs > b->driver->most.counters)
		return err_set(e, "warm: needs two counters for each process "
				  "(want fewer procs)");
	return 0;
}

static int stream_init(struct load *l, struct err *e)
{
	struct stream *s = (struct stream *)l;
	struct bench *b = &s->bench;
	struct bench_needs n = {
		.n_programs = (uint32_t)s->procs * (b->from == b->to ? 1 : 2),
		.lanes = (uint32_t)s->procs,
		.memory = BENCH_MEMORY,
		.data = sizeof(struct side),
		.results = sizeof(struct side),
		.is_msg = b->via,
		.is_endpoint = b->via == 2,
		.is_for_rate = true,
		.has_port = true,
		.drops = true,
		.has_receives = true,
	};

	if (set_places(s, e))
		return -1;
	n.touched = (s->source.slot + s->target.slot) * s->n_places;
	if (bench_init(b, &n, e))
		return -1;
	if (b->from == b->to && !(b->driver->is & BENCH_HAS_SELF))
		return err_set(e, "from and to are the same node");
	return b->warm ? check_warm(s, e) : 0;
}

static void stream_start(struct load *l)
{
	struct bench *b = (struct bench *)l;

	bench_start_pair(b, &program, &program);
	for (uint32_t i = 0; i < b->needs.n_programs; i++) {
		struct side *side = b->ends[i].data;

		side->sends = b->ends[i].begins || of(b->ends)->both;
		b->ends[i].is_sink = !side->sends && !b->warm;
	}
}

/* How long a process took in a direction, until its peer has all. */
static sim_time lane_time(const struct bench *b, uint32_t sender)
{
	uint32_t n = b->needs.n_programs, width = b->needs.lanes;
	const struct bench_end *to = &b->ends[(sender + n - width) % n];
	const struct bench_end *from = &b->ends[sender];

	return (bench_drops(b) ? from : to)->end - from->start;
}

/* Of several processes: the rates of the slowest and of the fastest. */
static void report_spread(const struct stream *s, struct load_result *r)
{
	const struct bench *b = &s->bench;
	double bytes = (double)b->rounds * (double)b->bytes * 1e6;
	uint32_t n = b->needs.lanes * (s->both ? 2 : 1);
	sim_time least = SIM_NEVER, most = 0;

	for (uint32_t i = 0; i < n && i < b->needs.n_programs; i++) {
		sim_time t = lane_time(b, i);

		least = t < least ? t : least;
		most = t > most ? t : most;
	}
	if (b->needs.lanes < 2 || least <= 0)
		return;
	load_figure(r, "slowest_MBps", bytes / (double)most);
	load_figure(r, "fastest_MBps", bytes / (double)least);
}

static void report_rates(const struct stream *s, struct load_result *r)
{
	const struct bench *b = &s->bench;
	const struct side *i = b->ends[0].data;
	double bytes = (double)(s->procs * b->rounds) * (double)b->bytes;
	uint32_t n = b->needs.lanes;
	sim_time start, out, back, begun, end;

	bench_span(b, 0, n, &start, &back);
	bench_span(b, b->needs.n_programs - n, n, &begun, &out);
	if (bench_drops(b))
		out = back;
	end = back > out ? back : out;
	if (s->both) {
		load_figure(r, "out_MBps", bytes * 1e6 / (double)(out - start));
		load_figure(
			r, "back_MBps", bytes * 1e6 / (double)(back - begun));
	} else {
		load_figure(r, "one_way_ns", (double)(out - start) / SIM_NS);
		load_figure(
			r, "payload_GBps", bytes * 1e3 / (double)(out - start));
	}
	load_figure(r, "took_ns", (double)(end - start) / SIM_NS);
	load_figure(r, "total_MBps",
		(s->both ? 2 : 1) * bytes * 1e6 / (double)(end - start));
	report_spread(s, r);
	if (i->stored)
		load_figure(r, "stored_MBps",
			(double)i->stored * 1e6 /
				(double)(i->stored_at - start));
}

static void stream_report(struct load *l, struct load_result *r)
{
	const struct stream *s = (const struct stream *)l;
	const struct bench *b = &s->bench;

	if (!bench_report(b, r) || !b->bytes)
		return;
	if (b->looks->report)
		b->looks->report(b, r);
	report_rates(s, r);
	if (b->looks->report_rate)
		b->looks->report_rate(b, r,
			(double)(s->procs * b->rounds) * (double)b->bytes);
}

const struct load_ops load_stream = {
	.name = "stream",
	.can_share = true,
	.help = "many messages from one node to another, or both ways",
	.size = sizeof(struct stream),
	PARAMS(params),
	.variant = STREAM,
	BENCH_OPS,
	.init = stream_init,
	.start = stream_start,
	.report = stream_report,
};

/* --- fan --- */

/* The first node of a router, or NO_ROUTER. */
static router_id first_node(const struct topo *t, router_id r)
{
	for (port_id p = 0; r >= t->n_nodes && p < t->n_ports; p++) {
		router_id far = t->ops->peer(t, r, p).router;

		if (far < t->n_nodes)
			return far;
	}
	return r < t->n_nodes ? r : NO_ROUTER;
}

static void find_neighbours(struct stream *s, const struct topo *t)
{
	router_id far[TOPO_MAX_PORTS];
	uint32_t i, n = bench_near(t, bench_router(t, (site_id)s->node), far,
			    TOPO_MAX_PORTS);

	for (i = 0; i < n; i++)
		if (first_node(t, far[i]) != NO_ROUTER)
			s->neighbour[s->n++] = first_node(t, far[i]);
}

/* One place for each sender's messages, without guards. */
static void set_buffers(struct stream *s)
{
	s->n_places = 1;
	s->source.lane = s->target.lane = (uint64_t)s->bench.bytes;
	s->target.sender = lanes(s) * (uint64_t)s->bench.bytes;
}

static int fan_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct stream *s = (struct stream *)l;
	struct bench *b = &s->bench;
	struct bench_needs n = {
		.memory = BENCH_MEMORY,
		.data = sizeof(struct side),
		.results = sizeof(struct side),
		.is_msg = b->via,
		.is_for_rate = true,
	};

	if (load_check_node(l, "node", s->node, e))
		return -1;
	find_neighbours(s, t);
	if (!s->n)
		return err_set(e,
			"fan: node %lld has no neighbours (want a topology "
			"whose routers with nodes have links to each other)",
			(long long)s->node);
	set_buffers(s);
	if ((s->n + 1) * s->target.sender > BENCH_TARGET - BENCH_SOURCE)
		return err_set(e,
			"bytes: messages of %u neighbours and %u programs "
			"each need more than the 1 GiB available",
			s->n, lanes(s));
	n.n_programs = (s->n + 1) * lanes(s);
	n.lanes = lanes(s);
	n.touched = 2 * s->target.sender;
	return bench_init(b, &n, e);
}

static void fan_start(struct load *l)
{
	struct stream *s = (struct stream *)l;
	struct bench *b = &s->bench;

	bench_open_ends(b);
	for (uint32_t i = 0; i < b->needs.n_programs; i++) {
		struct bench_end *x = &b->ends[i];
		uint32_t place = place_of(x);

		x->lane = i % lanes(s);
		x->peer = place ? (uint32_t)s->node : s->neighbour[0];
		x->is_sink = !place == (s->way == WAY_IN);
		((struct side *)x->data)->sends = !x->is_sink;
		bench_run(b, i,
			place ? s->neighbour[place - 1] : (site_id)s->node,
			bench_thread(b, x->lane), &program);
	}
}

static void fan_report(struct load *l, struct load_result *r)
{
	const struct stream *s = (const struct stream *)l;
	const struct bench *b = &s->bench;
	double bytes = (double)b->rounds * (double)b->bytes * lanes(s) * s->n;

	if (!bench_report(b, r))
		return;
	load_figure(r, "neighbours", s->n);
	load_figure(r, "total_MBps", bytes * 1e6 / (double)bench_time(b));
}

const struct load_ops load_fan = {
	.name = "fan",
	.help = "a node sends to all its neighbours, or they to it",
	.size = sizeof(struct stream),
	PARAMS(fan_params),
	.variant = FAN,
	BENCH_OPS,
	.init = fan_init,
	.start = fan_start,
	.report = fan_report,
};
