/*
 * Many messages from one node to another, one after the other, or in both
 * directions at once, by one process of each node or by several.
 *
 * Message k is read from place k of the sender's memory and written to place k
 * of the receiver's, or, where there are fewer places, to the place whose turn
 * it is.  What a place's bytes are is a function of its number; around them
 * the receiver's memory holds guards that must not change.
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

	uint64_t n_places, source_slot, target_slot; /* slots in bytes */
	uint64_t part; /* of the memory of places, a process's, in bytes */
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
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
	KEY_LANES(AT(procs)),
	KEY_CPU(AT(bench.cpu)),
};

static struct stream *of(struct load *l)
{
	return (struct stream *)l;
}

/* --- bytes --- */

static const struct stream *stream_of(const struct bench_end *x)
{
	return (const struct stream *)x->bench;
}

/* Where the places of a process begin, and those of its peer. */
static uint64_t part_of(const struct bench_end *x)
{
	return x->lane * stream_of(x)->part;
}

static uint64_t source_of(const struct bench_end *x, uint64_t place)
{
	const struct stream *s = stream_of(x);

	return BENCH_SOURCE + part_of(x) + place * s->source_slot +
	       (uint64_t)s->source_offset;
}

static uint64_t slot_of(const struct bench_end *x, uint64_t place)
{
	return BENCH_TARGET + part_of(x) + place * stream_of(x)->target_slot;
}

static uint64_t target_of(const struct bench_end *x, uint64_t place)
{
	return slot_of(x, place) + GUARD +
	       (uint64_t)stream_of(x)->target_offset;
}

/* What a place's bytes are a function of. */
static uint64_t number_of(const struct bench_end *x, uint64_t place)
{
	return x->lane * stream_of(x)->n_places + place + 1;
}

static size_t block_of(uint64_t at, uint64_t end)
{
	return end - at < BLOCK ? (size_t)(end - at) : BLOCK;
}

static void fill_guards(const struct bench_end *x)
{
	uint64_t at = slot_of(x, 0), end = slot_of(x, stream_of(x)->n_places);
	uint8_t block[BLOCK];

	memset(block, GUARD_BYTE, sizeof(block));
	for (; at < end; at += BLOCK)
		bench_write(x, at, block, block_of(at, end));
}

static bool check_guard(
	struct bench_end *x, uint64_t place, uint64_t at, uint64_t end)
{
	uint8_t got[BLOCK];
	size_t i, n;

	for (; at < end; at += BLOCK) {
		n = block_of(at, end);
		bench_read(x, at, got, n);
		for (i = 0; i < n; i++)
			if (got[i] != GUARD_BYTE)
				return programs_complain(&x->bench->programs,
					"message %" PRIu64 ": byte %" PRId64
					" outside its destination has changed",
					place,
					(int64_t)(at + i -
						  target_of(x, place)));
	}
	return true;
}

static void check_places(struct bench_end *x)
{
	uint64_t i, at, bytes = (uint64_t)x->bench->bytes;

	for (i = 0; i < stream_of(x)->n_places; i++) {
		at = target_of(x, i);
		if (!bench_check(x, number_of(x, i), at, bytes) ||
			!check_guard(x, i, slot_of(x, i), at) ||
			!check_guard(x, i, at + bytes, slot_of(x, i + 1)))
			return;
	}
}

/* --- the program --- */

static void prepare(struct bench_end *x, bool receives)
{
	const struct stream *s = (struct stream *)x->bench;
	const struct bench_driver *d = x->bench->driver;
	uint64_t rounds = (uint64_t)s->bench.rounds, i;
	uint64_t bytes = (uint64_t)s->bench.bytes;

	for (i = 0; !x->is_sink && i < s->n_places; i++)
		bench_make(x, number_of(x, i), source_of(x, i), bytes);
	if (receives) {
		fill_guards(x);
		d->expect(x, x->lane, rounds * bytes);
	}
	if (!x->is_sink)
		bench_track_puts(x, x->bench->means, rounds, bytes);
}

static void send_all(struct bench_end *x)
{
	const struct stream *s = (struct stream *)x->bench;
	const struct bench_driver *d = x->bench->driver;
	struct bench_transfer p =
		bench_transfer(x, x->peer, (uint64_t)s->bench.bytes);
	struct side *i = x->data;
	uint64_t k, n = s->n_places;

	if (d->stored)
		i->stored = d->stored(x, &i->stored_at);
	p.is_tracked = true;
	p.counter = x->lane;
	for (k = 0; k < (uint64_t)s->bench.rounds; k++) {
		p.from = source_of(x, k % n);
		p.to = target_of(x, k % n);
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
	bool is_dropped = d->dropped && x->bench->means == d->dropped;
	bool receives =
		(!x->begins || both || x->peer == x->node) && !is_dropped;

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
	if (is_dropped && !x->is_sink)
		d->flush(x);
	x->end = program_now();
	if (receives)
		check_places(x);
	if (!x->is_sink && !d->flush(x))
		programs_fail(
			&x->bench->programs, "not all messages were sent");
}

/* --- the course of a run --- */

static int set_places(struct stream *s, struct err *e)
{
	uint64_t bytes = (uint64_t)s->bench.bytes;

	s->part = (BENCH_TARGET - BENCH_SOURCE) / (uint64_t)s->procs;
	s->part -= s->part % BLOCK;
	s->source_slot = (uint64_t)s->source_offset + bytes;
	s->source_slot = (s->source_slot + GUARD - 1) / GUARD * GUARD;
	s->target_slot = (uint64_t)s->target_offset + bytes + 2 * GUARD;
	s->target_slot = (s->target_slot + GUARD - 1) / GUARD * GUARD;
	s->n_places = (uint64_t)(s->places < 0 || s->places > s->bench.rounds
					 ? s->bench.rounds
					 : s->places);
	if (s->n_places * s->target_slot > s->part)
		return err_set(e,
			"places: %" PRIu64 " messages of %" PRIu64
			" bytes for each process need more than the 1 GiB "
			"available; want fewer places",
			s->n_places, bytes);
	return 0;
}

static int stream_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct stream *s = of(l);
	struct bench *b = &s->bench;
	struct bench_needs n = {
		.n_programs = (uint32_t)s->procs * (b->from == b->to ? 1 : 2),
		.lanes = (uint32_t)s->procs,
		.memory = BENCH_MEMORY,
		.data = sizeof(struct side),
		.is_msg = b->via,
		.is_for_rate = true,
		.drops = true,
	};

	(void)r;
	(void)link;
	if (set_places(s, e))
		return -1;
	n.touched = (s->source_slot + s->target_slot) * s->n_places;
	if (bench_init(b, &n, t, e))
		return -1;
	if (b->from == b->to && !b->driver->has_self)
		return err_set(e, "from and to are the same node");
	return 0;
}

static void stream_start(struct load *l)
{
	struct bench *b = (struct bench *)l;

	bench_start_pair(b, run, run);
}

/* From the first one's start to the last one's end, of so many programs from
 * one on. */
static void time_of(
	const struct bench *b, uint32_t first, sim_time *start, sim_time *end)
{
	uint32_t i;

	*start = SIM_NEVER;
	*end = 0;
	for (i = first; i < first + b->needs.lanes; i++) {
		const struct bench_end *x = &b->ends[i];

		*start = x->start < *start ? x->start : *start;
		*end = x->end > *end ? x->end : *end;
	}
}

static void report_rates(const struct stream *s, struct load_result *r)
{
	const struct bench *b = &s->bench;
	const struct side *i = b->ends[0].data;
	double bytes = (double)(s->procs * b->rounds) * (double)b->bytes;
	sim_time start, out, back, begun, end;

	time_of(b, 0, &start, &back);
	time_of(b, b->needs.n_programs - b->needs.lanes, &begun, &out);
	if (b->driver->dropped && b->means == b->driver->dropped)
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
	if (i->stored)
		load_figure(r, "stored_MBps",
			(double)i->stored * 1e6 /
				(double)(i->stored_at - start));
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
			(double)(of(l)->procs * b->rounds) * (double)b->bytes);
}

const struct load_ops load_stream = {
	.name = "stream",
	.can_share = true,
	.help = "many messages from one node to another, or both ways",
	.size = sizeof(struct stream),
	PARAMS(params),
	BENCH_OPS,
	.init = stream_init,
	.start = stream_start,
	.report = stream_report,
};
