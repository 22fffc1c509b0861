#include <string.h>

#include "base/mem.h"
#include "host/l2_take.h"
#include "host/params.h"
#include "sim/random.h"
#include "testing/testing.h"

enum {
	NODES = 4,
	LINE = 128,
	BUSY = 5 * SIM_NS, /* of a slice, for a line */
	MIB = 1 << 20,
};

#define LATE (INT64_C(1000000000) * SIM_NS)

static uint64_t draw(uint64_t *n, uint64_t below)
{
	uint64_t bits = random_draw(17, 0, RANDOM_TEST, (*n)++).a;

	return random_below(bits, below);
}

static struct l2_params defaults(void)
{
	struct host_params p;

	host_params_defaults(&p);
	return p.l2;
}

/* A small one, so that a test outgrows it soon. */
static struct l2_params small(void)
{
	struct l2_params p = defaults();

	p.capacity = MIB;
	return p;
}

static struct l2 *make(struct l2_params p)
{
	struct err e = { 0 };

	if (l2_check(&p, &e))
		fail_msg("%s", e.text);
	return l2_new(&p, NODES);
}

static sim_time done(struct l2 *c, sim_time t, uint64_t at, enum l2_op op)
{
	return l2_access(c, 0, t, at, LINE, op).done;
}

static uint64_t misses(const struct l2 *c)
{
	return l2_counts(c, 0).misses;
}

/* --- time --- */

static void bgq_g33_a_hit_takes_its_time_at_any_size(void **state)
{
	static const sim_time want[] = { 80 * SIM_NS, 70 * SIM_NS,
		70 * SIM_NS };
	struct l2 *c = make(defaults());
	sim_time t = 0;

	for (uint32_t bytes = 1; bytes <= LINE; bytes++) {
		for (int op = 0; op < L2_OPS; op++) {
			struct l2_times got = l2_access(c, 1, t,
				4096 + LINE - bytes, bytes, (enum l2_op)op);

			assert_int_equal(got.taken, t);
			assert_int_equal(got.done, t + want[op]);
			t += 100 * SIM_NS;
		}
	}
	assert_int_equal(l2_counts(c, 1).reads, LINE);
	assert_int_equal(l2_counts(c, 1).writes, LINE);
	assert_int_equal(l2_counts(c, 1).atomics, LINE);
	assert_int_equal(l2_counts(c, 1).misses, 0);
	assert_int_equal(l2_counts(c, 0).reads, 0);
	l2_free(c);
}

static void bgq_n64_lines_are_interleaved_over_16_slices(void **state)
{
	struct l2 *c = make(defaults());

	for (uint64_t at = 0; at < 64 << 10; at += 8)
		assert_int_equal(l2_slice_of(c, at), at / LINE % 16);
	l2_free(c);
}

/* Requests of one instant wait for each other at one slice only. */
static void a_slice_takes_one_after_the_other(void **state)
{
	static const struct {
		uint32_t bytes;
		sim_time busy;
	} cases[] = { { 1, 1250 }, { 8, 1250 }, { 32, 1250 }, { 40, 1563 },
		{ 64, 2500 }, { 128, 5000 } };

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct l2 *c = make(defaults());
		struct l2_times got;

		for (int i = 0; i < 16; i++) {
			got = l2_access(c, 0, 0, (uint64_t)i * LINE,
				cases[k].bytes, L2_READ);
			assert_int_equal(got.done, 80 * SIM_NS);
		}
		for (int i = 1; i < 16; i++) {
			got = l2_access(c, 0, 0, (uint64_t)i * 16 * LINE,
				cases[k].bytes, L2_WRITE);
			assert_int_equal(got.taken, i * cases[k].busy);
			assert_int_equal(
				got.done, i * cases[k].busy + 70 * SIM_NS);
		}
		got = l2_access(c, 1, 0, 0, LINE, L2_ATOMIC);
		assert_int_equal(got.done, 70 * SIM_NS);
		got = l2_access(c, 0, SIM_NS * 1000, 0, LINE, L2_READ);
		assert_int_equal(got.taken, 1000 * SIM_NS);
		l2_free(c);
	}
}

/* A stream over all slices moves 16 times what a stride of one slice does. */
static void slices_work_in_parallel(void **state)
{
	struct l2 *c = make(defaults());
	sim_time end = 0;

	for (int i = 0; i < 16000; i++)
		end = done(c, 0, (uint64_t)i % 4096 * LINE, L2_READ);
	assert_int_equal(end, 999 * BUSY + 80 * SIM_NS);
	for (int i = 0; i < 1000; i++)
		end = l2_access(c, 1, 0, (uint64_t)i * 16 * LINE, LINE, L2_READ)
			      .done;
	assert_int_equal(end, 999 * BUSY + 80 * SIM_NS);
	l2_free(c);
}

/* --- the footprint --- */

static uint64_t sweep(struct l2 *c, uint64_t bytes, enum l2_op op)
{
	uint64_t before = misses(c), at;
	sim_time t = 0;

	for (at = 0; at < bytes; at += LINE)
		t = done(c, t, at, op);
	return misses(c) - before;
}

static void bgq_g33_what_fits_32_mib_always_hits(void **state)
{
	struct l2 *c = make(defaults());

	for (int i = 0; i < 3; i++) {
		assert_int_equal(sweep(c, 29 * MIB, L2_READ), 0);
		assert_int_equal(sweep(c, 32 * MIB, L2_WRITE), 0);
	}
	assert_true(l2_memory(c) < 110 << 10);
	l2_free(c);
}

static void cyclic_sweeps_of_more_never_hit(void **state)
{
	struct l2 *c = make(defaults());
	uint64_t lines = 40 * MIB / LINE, n;

	n = sweep(c, 40 * MIB, L2_READ);
	assert_int_equal(n, 8 * MIB / LINE); /* the first 32 MiB were warm */
	assert_int_equal(sweep(c, 40 * MIB, L2_READ), lines);
	assert_int_equal(sweep(c, 40 * MIB, L2_WRITE), lines);
	assert_int_equal(l2_counts(c, 0).write_backs, 8 * MIB / LINE);
	assert_int_equal(sweep(c, 40 * MIB, L2_READ), lines);
	assert_int_equal(l2_counts(c, 0).write_backs, 40 * MIB / LINE);
	/* tags are a megabyte, and the set of pages is gone */
	assert_true(l2_memory(c) < MIB + 4096);
	/* other nodes know nothing of it */
	assert_int_equal(l2_counts(c, 1).misses, 0);
	l2_free(c);
}

/* Pages that were written before there were tags are dirty. */
static void what_was_written_goes_back(void **state)
{
	struct l2 *c = make(small());

	sweep(c, MIB / 8, L2_READ);
	sweep(c, MIB / 8, L2_WRITE);
	sweep(c, MIB / 4, L2_ATOMIC);
	for (uint64_t at = MIB / 4; at < MIB / 2; at += L2_PAGE) {
		done(c, 0, at, L2_READ);
		done(c, 0, at, L2_WRITE);
	}
	sweep(c, MIB, L2_READ);
	assert_int_equal(l2_counts(c, 0).misses, 0);
	done(c, 0, 5 * MIB, L2_READ); /* evicts a line of page 0 */
	assert_int_equal(l2_counts(c, 0).misses, 1);
	assert_int_equal(l2_counts(c, 0).write_backs, 1);
	sweep(c, 2 * MIB, L2_READ);
	assert_int_equal(l2_counts(c, 0).write_backs, MIB / 2 / LINE);
	l2_free(c);
}

/* Pages that crowd into a few sets leave the others empty. */
static void an_empty_place_is_no_line(void **state)
{
	struct l2 *c = make(small());
	uint64_t way = MIB / 16;

	for (uint64_t i = 0; i < MIB / L2_PAGE; i++)
		done(c, 0, i * way, L2_WRITE);
	for (uint64_t i = L2_PAGE; i < way; i += LINE)
		done(c, 0, i, L2_READ);
	assert_int_equal(misses(c), (way - L2_PAGE) / LINE);
	assert_int_equal(l2_counts(c, 0).write_backs, 0);
	done(c, 0, MIB * 100, L2_READ);
	assert_int_equal(l2_counts(c, 0).write_backs, 1);
	l2_free(c);
}

static void a_quiet_node_takes_little(void **state)
{
	struct l2 *c = make(defaults());
	uint64_t empty = l2_memory(c), n = 0;

	for (int i = 0; i < 10000; i++)
		done(c, 0, draw(&n, 16) * 77 * L2_PAGE + draw(&n, 31) * LINE,
			draw(&n, 2) ? L2_READ : L2_WRITE);
	assert_true(l2_memory(c) - empty < 1024);
	l2_free(c);
}

/* --- LRU --- */

/* Lines by last use, the latest first; one list for a set. */
struct naive {
	struct l2_params p;
	uint64_t sets;
	struct {
		uint64_t line;
		bool is_dirty;
	} * list;
	uint32_t *n;
	uint64_t misses, write_backs;
};

static void naive_init(struct naive *v, struct l2_params p)
{
	*v = (struct naive){ .p = p };
	v->sets = (uint64_t)(p.capacity / p.line / p.ways);
	v->list = mem_alloc(v->sets * ((size_t)p.ways + 1), sizeof(v->list[0]));
	v->n = mem_alloc(v->sets, sizeof(*v->n));
}

static void naive_fini(struct naive *v)
{
	mem_free(v->list);
	mem_free(v->n);
}

static void naive_use(struct naive *v, uint64_t at, bool is_write)
{
	uint64_t line = at / (uint64_t)v->p.line, set = line % v->sets;
	uint32_t ways = (uint32_t)v->p.ways, i, k;
	bool is_dirty = is_write;

	i = 0;
	while (i < v->n[set] && v->list[set * (ways + 1) + i].line != line)
		i++;
	if (i < v->n[set]) {
		is_dirty |= v->list[set * (ways + 1) + i].is_dirty;
	} else {
		v->misses++;
		v->n[set]++;
	}
	for (k = i; k > 0; k--)
		v->list[set * (ways + 1) + k] =
			v->list[set * (ways + 1) + k - 1];
	v->list[set * (ways + 1)].line = line;
	v->list[set * (ways + 1)].is_dirty = is_dirty;
	if (v->n[set] > ways) {
		v->n[set] = ways;
		v->write_backs += v->list[set * (ways + 1) + ways].is_dirty;
	}
}

/*
 * The first capacity's worth of pages is used whole, a page at a time, as
 * the tags take it that it was; then anything.
 */
static void lru_is_like_a_plain_list(void **state)
{
	static const int64_t ways[] = { 1, 2, 4, 16 },
			     lines[] = { 32, 128, 512 };
	uint64_t n = 0, at;

	for (int round = 0; round < 12; round++) {
		struct l2_params p = defaults();
		struct naive v;
		struct l2 *c;
		uint64_t space;

		p.ways = ways[round % 4];
		p.line = lines[round % 3];
		p.capacity = 32 << 10 << (2 + round % 3);
		space = (uint64_t)p.capacity / 2 * (3 + draw(&n, 4));
		c = make(p);
		naive_init(&v, p);
		for (at = 0; at < (uint64_t)p.capacity;
			at += (uint64_t)p.line) {
			l2_access(c, 0, 0, at, 8, L2_WRITE);
			naive_use(&v, at, true);
		}
		v.misses = 0;
		l2_access(c, 0, 0, 9 * MIB, 8, L2_READ);
		naive_use(&v, 9 * MIB, false);
		for (int i = 0; i < 20000; i++) {
			bool is_write = draw(&n, 2);

			at = draw(&n, space) / 8 * 8;
			if (draw(&n, 2))
				at = at % (space / 4);
			l2_access(
				c, 0, 0, at, 8, is_write ? L2_WRITE : L2_READ);
			naive_use(&v, at, is_write);
			assert_int_equal(misses(c), v.misses);
			assert_int_equal(
				l2_counts(c, 0).write_backs, v.write_backs);
		}
		assert_true(v.misses > 100);
		naive_fini(&v);
		l2_free(c);
	}
}

/* --- DDR --- */

static struct l2 *make_cold(void)
{
	struct l2 *c = make(small());

	sweep(c, 2 * MIB, L2_READ);
	return c;
}

static void a_miss_waits_for_ddr(void **state)
{
	struct l2 *c = make_cold();
	sim_time t = LATE;

	assert_int_equal(done(c, t, 8 * MIB, L2_READ), t + 240 * SIM_NS);
	t += SIM_NS * 1000;
	assert_int_equal(done(c, t, 8 * MIB, L2_READ), t + 80 * SIM_NS);
	t += SIM_NS * 1000;
	assert_int_equal(
		done(c, t, 8 * MIB + LINE, L2_WRITE), t + 230 * SIM_NS);
	assert_int_equal(done(c, t, 8 * MIB + 2 * LINE, L2_ATOMIC),
		t + 230 * SIM_NS + 3413);
	/* a hit does not */
	assert_int_equal(done(c, t, 8 * MIB, L2_READ), t + 80 * SIM_NS);
	l2_free(c);
}

/* Bytes per second that a stream over much memory gets. */
static double rate_of(enum l2_op op)
{
	struct l2 *c = make_cold();
	uint64_t bytes = 16 * MIB;
	sim_time start = LATE, last = 0;

	for (uint64_t at = 0; at < 2 * bytes; at += LINE) {
		if (at == bytes)
			start = last;
		last = done(c, start, at, op);
	}
	l2_free(c);
	return (double)bytes / ((double)(last - start) * 1e-12);
}

static void bgq_n114_ddr_moves_37_5_gb_per_second(void **state)
{
	double reads = rate_of(L2_READ), writes = rate_of(L2_WRITE);

	assert_true(reads > 37.4e9 && reads < 37.6e9);
	assert_true(writes > 18.7e9 && writes < 18.8e9);
}

/* --- parameters --- */

static void sizes_that_do_not_fit_are_refused(void **state)
{
	struct l2_params good = defaults(), p;
	struct err e = { 0 };

	assert_int_equal(l2_check(&good, &e), 0);
	p = good;
	p.slices = 12;
	assert_int_equal(l2_check(&p, &e), -1);
	assert_non_null(strstr(e.text, "a power of two"));
	p = good;
	p.ways = 3;
	assert_int_equal(l2_check(&p, &e), -1);
	p = good;
	p.line = 16;
	assert_int_equal(l2_check(&p, &e), -1);
	p = good;
	p.line = 8192;
	assert_int_equal(l2_check(&p, &e), -1);
	p = good;
	p.capacity = 64 << 10;
	assert_int_equal(l2_check(&p, &e), -1);
	p = good;
	p.line = 4096;
	p.capacity = 128 << 10;
	memset(&e, 0, sizeof(e));
	assert_int_equal(l2_check(&p, &e), -1);
	assert_non_null(strstr(e.text, "2 sets"));
	p.slices = 2;
	assert_int_equal(l2_check(&p, &e), 0);
}

TESTS(TEST(bgq_g33_a_hit_takes_its_time_at_any_size),
	TEST(bgq_n64_lines_are_interleaved_over_16_slices),
	TEST(a_slice_takes_one_after_the_other), TEST(slices_work_in_parallel),
	TEST(bgq_g33_what_fits_32_mib_always_hits),
	TEST(cyclic_sweeps_of_more_never_hit), TEST(what_was_written_goes_back),
	TEST(an_empty_place_is_no_line), TEST(a_quiet_node_takes_little),
	TEST(lru_is_like_a_plain_list), TEST(a_miss_waits_for_ddr),
	TEST(bgq_n114_ddr_moves_37_5_gb_per_second),
	TEST(sizes_that_do_not_fit_are_refused))
