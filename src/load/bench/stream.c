/*
 * Many messages from one node to another, one after the other, or in both
 * directions at once.
 *
 * Message k is read from place k of the sender's memory and written to place k
 * of the receiver's, or, where there are fewer places, to the place whose turn
 * it is.  What a place's bytes are is a function of its number; around them
 * the receiver's memory holds guards that must not change.
 *
 * A node may have several programs, each with places of its own: what one sends
 * the other node's program of the same number waits for.
 */
#include <inttypes.h>
#include <string.h>

#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct stream, field)

enum {
	GUARD = 128, /* bytes before and behind a place, at least */
	GUARD_BYTE = 0xa5,
	BLOCK = 4096, /* bytes that programs handle at a time */
};

/* What a program's core stored for its puts, and when that was over. */
struct side {
	uint64_t stored;
	sim_time stored_at;
};

struct stream {
	struct bench bench;
	/* keys */
	int64_t both, places, source_offset, target_offset, procs;

	uint32_t n; /* programs of each node */
	uint64_t n_places, source_slot, target_slot; /* slots in bytes */
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_NODE("from", AT(bench.from), "0", "node that sends"),
	KEY_NODE("to", AT(bench.to), "1", "node that receives"),
	KEY_FLAG("both", AT(both), "no", "whether both nodes send and receive"),
	KEY_BYTES("bytes", AT(bench.bytes), "64 KiB", 0, 64 << 20,
		"length of a message; the arrival of messages of 0 bytes is "
		"not checked"),
	KEY_COUNT("rounds", AT(bench.rounds), "16", 1, 1000000,
		"number of messages from each sending node"),
	KEY(PARAM_COUNT, "places", AT(places), "all", 1, 1000000, "all",
		"number of places that messages are written to in turn; all: "
		"one for each message"),
	KEY_BYTES("source-offset", AT(source_offset), "0", 0, 4095,
		"offset of the source from an aligned address"),
	KEY_BYTES("target-offset", AT(target_offset), "0", 0, 4095,
		"offset of the destination from an aligned address"),
	KEY_CPU(AT(bench.cpu)),
	KEY_PROGRAMS(AT(procs), "1"),
};

static struct stream *of(struct load *l)
{
	return (struct stream *)l;
}

static const struct stream *stream_of(const struct bench_end *x)
{
	return (const struct stream *)x->bench;
}

/* The first of a program's places. */
static uint64_t first_of(const struct bench_end *x)
{
	return x->lane * stream_of(x)->n_places;
}

/* --- bytes --- */

static uint64_t source_of(const struct stream *s, uint64_t place)
{
	return BENCH_SOURCE + place * s->source_slot +
	       (uint64_t)s->source_offset;
}

static uint64_t slot_of(const struct stream *s, uint64_t place)
{
	return BENCH_TARGET + place * s->target_slot;
}

static uint64_t target_of(const struct stream *s, uint64_t place)
{
	return slot_of(s, place) + GUARD + (uint64_t)s->target_offset;
}

static size_t block_of(uint64_t at, uint64_t end)
{
	return end - at < BLOCK ? (size_t)(end - at) : BLOCK;
}

static void fill_guards(const struct bench_end *x)
{
	const struct stream *s = stream_of(x);
	uint64_t at = slot_of(s, first_of(x));
	uint64_t end = slot_of(s, first_of(x) + s->n_places);
	uint8_t block[BLOCK];

	memset(block, GUARD_BYTE, sizeof(block));
	for (; at < end; at += BLOCK)
		program_write(at, block, block_of(at, end));
}

static bool check_guard(
	struct stream *s, uint64_t place, uint64_t at, uint64_t end)
{
	uint8_t got[BLOCK];
	size_t i, n;

	for (; at < end; at += BLOCK) {
		n = block_of(at, end);
		program_read(at, got, n);
		for (i = 0; i < n; i++)
			if (got[i] != GUARD_BYTE)
				return programs_complain(&s->bench.programs,
					"message %" PRIu64 ": byte %" PRId64
					" outside its destination has changed",
					place,
					(int64_t)(at + i -
						  target_of(s, place)));
	}
	return true;
}

static void check_places(struct bench_end *x)
{
	struct stream *s = (struct stream *)x->bench;
	uint64_t i = first_of(x), end = i + s->n_places;
	uint64_t at, bytes = (uint64_t)s->bench.bytes;

	for (; i < end; i++) {
		at = target_of(s, i);
		if (!bench_check(x, i + 1, at, bytes) ||
			!check_guard(s, i, slot_of(s, i), at) ||
			!check_guard(s, i, at + bytes, slot_of(s, i + 1)))
			return;
	}
}

/* --- the program --- */

static void prepare(struct bench_end *x, bool receives)
{
	const struct stream *s = stream_of(x);
	const struct bench_driver *d = x->bench->driver;
	uint64_t rounds = (uint64_t)s->bench.rounds;
	uint64_t i = first_of(x), end = i + s->n_places;
	uint64_t bytes = (uint64_t)s->bench.bytes;

	for (; !x->is_sink && i < end; i++)
		bench_make(x, i + 1, source_of(s, i), bytes);
	if (receives) {
		fill_guards(x);
		d->expect(x, x->lane, rounds * bytes);
	}
	if (!x->is_sink)
		bench_track_puts(x, x->bench->means, rounds, bytes);
}

static void send_all(struct bench_end *x)
{
	const struct stream *s = stream_of(x);
	const struct bench_driver *d = x->bench->driver;
	struct bench_put p = bench_put(x, x->peer, (uint64_t)s->bench.bytes);
	struct side *i = x->data;
	uint64_t k, n = s->n_places;

	if (d->stored)
		i->stored = d->stored(x, &i->stored_at);
	p.is_tracked = true;
	p.counter = x->lane;
	for (k = 0; k < (uint64_t)s->bench.rounds; k++) {
		p.from = source_of(s, first_of(x) + k % n);
		p.to = target_of(s, first_of(x) + k % n);
		d->put(x, &p);
	}
	if (d->stored)
		i->stored = d->stored(x, &i->stored_at) - i->stored;
}

static void run(void *arg)
{
	struct bench_end *x = arg;
	const struct bench_driver *d = x->bench->driver;
	bool both = ((struct stream *)x->bench)->both;
	bool receives = !x->begins || both || x->peer == x->node;

	x->is_sink = !x->begins && !both;
	if (!bench_open(x))
		return;
	prepare(x, receives);
	bench_ready(x, true);
	x->start = program_now();
	if (!x->is_sink)
		send_all(x);
	if (receives && !d->await(x, x->lane))
		return;
	x->end = program_now();
	if (receives)
		check_places(x);
	if (!x->is_sink && !d->flush(x))
		programs_complain(
			&x->bench->programs, "not all messages were sent");
}

/* --- the course of a run --- */

static int set_places(struct stream *s, struct err *e)
{
	uint64_t bytes = (uint64_t)s->bench.bytes;
	uint64_t most = BENCH_TARGET - BENCH_SOURCE;

	s->source_slot = (uint64_t)s->source_offset + bytes;
	s->source_slot = (s->source_slot + GUARD - 1) / GUARD * GUARD;
	s->target_slot = (uint64_t)s->target_offset + bytes + 2 * GUARD;
	s->target_slot = (s->target_slot + GUARD - 1) / GUARD * GUARD;
	s->n_places = (uint64_t)(s->places < 0 || s->places > s->bench.rounds
					 ? s->bench.rounds
					 : s->places);
	if (s->n * s->n_places * s->target_slot > most)
		return err_set(e,
			"places: %" PRIu64 " messages of %" PRIu64
			" bytes need more than the 1 GiB available; want fewer "
			"places",
			s->n * s->n_places, bytes);
	return 0;
}

static int stream_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct stream *s = of(l);
	struct bench *b = &s->bench;
	struct bench_needs n = {
		.memory = BENCH_MEMORY,
		.data = sizeof(struct side),
		.is_msg = b->via,
		.is_for_rate = true,
	};

	(void)r;
	(void)link;
	s->n = (uint32_t)s->procs;
	n.n_programs = b->from == b->to ? s->n : 2 * s->n;
	n.n_lanes = s->n;
	if (set_places(s, e))
		return -1;
	n.touched = (s->source_slot + s->target_slot) * s->n_places;
	if (bench_init(b, &n, t, e))
		return -1;
	if (b->from == b->to && !b->driver->has_self)
		return err_set(e, "from and to are the same node");
	return 0;
}

/* The programs of the node that sends come first. */
static void stream_start(struct load *l)
{
	struct stream *s = of(l);
	struct bench *b = &s->bench;
	uint32_t i;

	bench_open_ends(b);
	for (i = 0; i < b->needs.n_programs; i++) {
		struct bench_end *x = &b->ends[i];

		x->begins = i < s->n;
		x->lane = i % s->n;
		x->peer = (uint32_t)(x->begins ? b->to : b->from);
		bench_run(b, i, (site_id)(x->begins ? b->from : b->to),
			(uint32_t)b->cpu + x->lane, run);
	}
}

/* When the first of a node's programs started, and when the last was done. */
struct span {
	sim_time start, end;
};

static struct span span_of(const struct stream *s, uint32_t first)
{
	struct span p = { SIM_NEVER, 0 };
	uint32_t i;

	for (i = first; i < first + s->n; i++) {
		const struct bench_end *x = &s->bench.ends[i];

		p.start = x->start < p.start ? x->start : p.start;
		p.end = x->end > p.end ? x->end : p.end;
	}
	return p;
}

static void report_stores(
	const struct stream *s, struct load_result *r, sim_time start)
{
	uint64_t stored = 0;
	sim_time at = 0;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		const struct side *x = s->bench.ends[i].data;

		stored += x->stored;
		at = x->stored_at > at ? x->stored_at : at;
	}
	if (stored)
		load_figure(r, "stored_MBps",
			(double)stored * 1e6 / (double)(at - start));
}

static void report_rates(const struct stream *s, struct load_result *r)
{
	const struct bench *b = &s->bench;
	struct span x = span_of(s, 0);
	struct span y = span_of(s, b->needs.n_programs - s->n);
	double bytes = (double)b->rounds * (double)b->bytes * s->n;
	double dt = (double)(y.end - x.start);
	sim_time end = x.end > y.end ? x.end : y.end;
	double all = s->both ? 2 * bytes : bytes;

	if (s->both) {
		load_figure(
			r, "out_MBps", bytes * 1e6 / (double)(y.end - y.start));
		load_figure(r, "back_MBps",
			bytes * 1e6 / (double)(x.end - x.start));
	} else {
		load_figure(r, "one_way_ns", dt / SIM_NS);
		load_figure(r, "payload_GBps", bytes * 1e3 / dt);
	}
	load_figure(r, "total_MBps", all * 1e6 / (double)(end - x.start));
	report_stores(s, r, x.start);
}

static void stream_report(struct load *l, struct load_result *r)
{
	struct bench *b = (struct bench *)l;
	const struct bench_driver *d = b->driver;
	site_id from = (site_id)b->from, to = (site_id)b->to;

	if (!bench_report(b, r) || !b->bytes)
		return;
	if (d->report)
		d->report(b, r, from, to);
	report_rates(of(l), r);
	if (d->report_rate)
		d->report_rate(b, r, from, to,
			(double)b->rounds * (double)b->bytes * of(l)->n);
}

const struct load_ops load_stream = {
	.name = "stream",
	.help = "many messages from one node to another, or both ways",
	.size = sizeof(struct stream),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	BENCH_OPS,
	.init = stream_init,
	.start = stream_start,
	.report = stream_report,
};
