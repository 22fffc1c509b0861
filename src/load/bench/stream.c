/*
 * Many messages from one node to another, one after the other, or in both
 * directions at once.
 *
 * Message k is read from place k of the sender's memory and written to place k
 * of the receiver's, or, where there are fewer places, to the place whose turn
 * it is.  What a place's bytes are is a function of its number; around them
 * the receiver's memory holds guards that must not change.
 */
#include <inttypes.h>
#include <string.h>

#include "load/bench/bench.h"
#include "load/filled.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct stream, field)

enum {
	GUARD = 128, /* bytes before and behind a place, at least */
	GUARD_BYTE = 0xa5,
	BLOCK = 4096, /* bytes that programs handle at a time */
};

struct stream;

/* What a program knows. */
struct side {
	struct stream *stream;
	uint32_t peer;
	bool sends, receives;
	sim_time from, until;
	/* what the core stored for its puts, and when that was over */
	uint64_t stored;
	sim_time stored_at;
};

struct stream {
	struct bench bench;
	/* keys */
	int64_t from, to, both, bytes, rounds, places, cpu;
	int64_t source_offset, target_offset;

	uint64_t n_places, source_slot, target_slot; /* slots in bytes */
	struct side side[2];
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_NODE("from", AT(from), "0", "node that sends"),
	KEY_NODE("to", AT(to), "1", "node that receives"),
	{ .name = "both",
		.type = PARAM_FLAG,
		.offset = AT(both),
		.def = "no",
		.help = "both nodes send, and both receive" },
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "64 KiB",
		.min = 0,
		.max = 64 << 20,
		.help = "length of a message; nobody can see that one of 0 "
			"bytes has come" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "16",
		.min = 1,
		.max = 1000000,
		.help = "messages of each node that sends" },
	{ .name = "places",
		.type = PARAM_COUNT,
		.offset = AT(places),
		.def = "all",
		.words = "all",
		.min = 1,
		.max = 1000000,
		.help = "places that messages are written to in turn; all: "
			"each message has its own" },
	{ .name = "source-offset",
		.type = PARAM_BYTES,
		.offset = AT(source_offset),
		.def = "0",
		.min = 0,
		.max = 4095,
		.help = "distance of the bytes from an aligned address" },
	{ .name = "target-offset",
		.type = PARAM_BYTES,
		.offset = AT(target_offset),
		.def = "0",
		.min = 0,
		.max = 4095,
		.help = "the same of where they are written to" },
	KEY_CPU(AT(cpu)),
};

static struct stream *of(struct load *l)
{
	return (struct stream *)l;
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

static void fill_sources(const struct stream *s)
{
	uint64_t i;

	for (i = 0; i < s->n_places; i++)
		filled_write(&s->bench.programs, i + 1, source_of(s, i),
			(uint64_t)s->bytes);
}

static void fill_guards(const struct stream *s)
{
	uint64_t at = BENCH_TARGET, end = slot_of(s, s->n_places);
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
					" outside its place has changed",
					place,
					(int64_t)(at + i -
						  target_of(s, place)));
	}
	return true;
}

static void check_places(struct stream *s)
{
	uint64_t i, at, bytes = (uint64_t)s->bytes;

	for (i = 0; i < s->n_places; i++) {
		at = target_of(s, i);
		if (!filled_compare(
			    &s->bench.programs, "message", i + 1, at, bytes) ||
			!check_guard(s, i, slot_of(s, i), at) ||
			!check_guard(s, i, at + bytes, slot_of(s, i + 1)))
			return;
	}
}

/* --- the program --- */

static void prepare(struct bench_end *x, const struct side *d)
{
	const struct stream *s = d->stream;
	const struct bench_driver *v = x->bench->driver;
	uint64_t rounds = (uint64_t)s->rounds, bytes = (uint64_t)s->bytes;

	if (d->sends)
		fill_sources(s);
	if (d->receives) {
		fill_guards(s);
		v->expect(x, 0, rounds * bytes);
	}
	if (d->sends)
		v->track_puts(x, x->bench->means, rounds, bytes);
}

static void send_all(struct bench_end *x, struct side *d)
{
	const struct stream *s = d->stream;
	const struct bench_driver *v = x->bench->driver;
	struct bench_put p = bench_put(x, d->peer, (uint64_t)s->bytes);
	uint64_t k, n = s->n_places, stored = 0;

	if (v->stored)
		stored = v->stored(x, &d->stored_at);
	p.is_tracked = true;
	for (k = 0; k < (uint64_t)s->rounds; k++) {
		p.from = source_of(s, k % n);
		p.to = target_of(s, k % n);
		v->put(x, &p);
	}
	if (v->stored)
		d->stored = v->stored(x, &d->stored_at) - stored;
}

static void run(void *arg)
{
	struct bench_end *x = arg;
	struct side *d = x->arg;
	const struct bench_driver *v = x->bench->driver;

	x->is_sink = !d->sends;
	if (!bench_open(x))
		return;
	prepare(x, d);
	if (d->sends)
		bench_ready(x, true);
	else
		bench_settle(x);
	d->from = program_now();
	if (d->sends)
		send_all(x, d);
	if (d->receives && !v->await(x, 0))
		return;
	d->until = program_now();
	if (d->receives)
		check_places(d->stream);
	if (d->sends && !v->flush(x))
		programs_complain(
			&x->bench->programs, "not all of it was sent");
}

/* --- the course of a run --- */

static int set_places(struct stream *s, struct err *e)
{
	uint64_t bytes = (uint64_t)s->bytes;
	uint64_t most = BENCH_TARGET - BENCH_SOURCE;

	s->source_slot = (uint64_t)s->source_offset + bytes;
	s->source_slot = (s->source_slot + GUARD - 1) / GUARD * GUARD;
	s->target_slot = (uint64_t)s->target_offset + bytes + 2 * GUARD;
	s->target_slot = (s->target_slot + GUARD - 1) / GUARD * GUARD;
	s->n_places =
		(uint64_t)(s->places < 0 || s->places > s->rounds ? s->rounds
								  : s->places);
	if (s->n_places * s->target_slot > most)
		return err_set(e,
			"places: %" PRIu64 " messages of %" PRIu64 " bytes "
			"need more than the 1 GiB that there is for them; want "
			"fewer places",
			s->n_places, bytes);
	return 0;
}

static int stream_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct stream *s = of(l);
	struct bench_needs n = {
		.n_programs = s->from == s->to ? 1 : 2,
		.memory = BENCH_MEMORY,
		.is_for_rate = true,
	};

	(void)r;
	(void)link;
	if (bench_init(&s->bench, s->bench.via, &n, t, e) ||
		load_check_node(t, "from", s->from, e) ||
		load_check_node(t, "to", s->to, e) || set_places(s, e) ||
		bench_check_bytes(&s->bench, "bytes", s->bytes, e) ||
		bench_check_cpu(&s->bench, s->cpu, e))
		return -1;
	if (s->from == s->to && !s->bench.driver->has_self)
		return err_set(e, "from and to are the same node");
	return 0;
}

static void stream_start(struct load *l)
{
	struct stream *s = of(l);
	uint32_t i, n = s->bench.needs.n_programs;

	bench_start(&s->bench);
	for (i = 0; i < n; i++) {
		s->side[i] = (struct side){
			.stream = s,
			.peer = (uint32_t)(i ? s->from : s->to),
			.sends = !i || s->both,
			.receives = i || s->both || n == 1,
		};
		bench_run(&s->bench, i, (site_id)(i ? s->to : s->from),
			(uint32_t)s->cpu, run, &s->side[i]);
	}
}

static void report_rates(const struct stream *s, struct load_result *r)
{
	const struct side *a = &s->side[0];
	const struct side *b = &s->side[s->bench.needs.n_programs - 1];
	double bytes = (double)s->rounds * (double)s->bytes;
	double dt = (double)(b->until - a->from);
	sim_time until = a->until > b->until ? a->until : b->until;
	double all = s->both ? 2 * bytes : bytes;

	if (s->both) {
		load_figure(r, "out_MBps",
			bytes * 1e6 / (double)(b->until - b->from));
		load_figure(r, "back_MBps",
			bytes * 1e6 / (double)(a->until - a->from));
	} else {
		load_figure(r, "one_way_ns", dt / SIM_NS);
		load_figure(r, "payload_GBps", bytes * 1e3 / dt);
	}
	load_figure(r, "total_MBps", all * 1e6 / (double)(until - a->from));
	if (a->stored)
		load_figure(r, "stored_MBps",
			(double)a->stored * 1e6 /
				(double)(a->stored_at - a->from));
}

static void stream_report(struct load *l, struct load_result *r)
{
	struct stream *s = of(l);
	const struct bench_driver *v = s->bench.driver;
	site_id from = (site_id)s->from, to = (site_id)s->to;

	bench_report(&s->bench, r);
	if (r->ending != LOAD_FINISHED || !s->bytes ||
		!s->side[s->bench.needs.n_programs - 1].until)
		return;
	if (v->report)
		v->report(&s->bench, r, from, to);
	report_rates(s, r);
	if (v->report_rate)
		v->report_rate(&s->bench, r, from, to,
			(double)s->rounds * (double)s->bytes);
}

static uint64_t stream_estimate(const struct load *l, const struct topo *t)
{
	const struct stream *s = (const struct stream *)l;

	(void)t;
	return bench_estimate(&s->bench, 2, 1,
		(s->source_slot + s->target_slot) * s->n_places);
}

const struct load_ops load_stream = {
	.name = "stream",
	.help = "many messages from one node to another, or both ways",
	.size = sizeof(struct stream),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	PROGRAMS_OPS,
	.init = stream_init,
	.start = stream_start,
	.report = stream_report,
	.fini = bench_fini,
	.estimate = stream_estimate,
};
