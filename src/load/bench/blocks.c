/*
 * Products of blocks, as in quantum chemistry: in each round every node gets
 * the blocks of two other nodes, multiplies them, which takes it some time, and
 * accumulates the product at a third one, which need not take part: products
 * land in slots of their own there.
 */
#include <string.h>

#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct blocks, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on all nodes. */
#define GOT_AT	   (16 * MIB) /* two factors */
#define BLOCK_AT   (32 * MIB)
#define PRODUCT_AT (64 * MIB)
#define SLOTS_AT   (128 * MIB)
#define MEMORY	   (192 * MIB)

enum { FACTORS = 2, MOST_BYTES = 1 << 20 };

struct blocks {
	struct bench bench;
	int64_t compute; /* key */
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BYTES("bytes", AT(bench.bytes), "2 KiB", 8, MOST_BYTES,
		"length of a block"),
	KEY_COUNT("rounds", AT(bench.rounds), "8", 1, 1000000,
		"number of products of each node"),
	KEY(PARAM_TIME, "compute", AT(compute), "2 us", 0, PS_PER_S, NULL,
		"time of a product"),
	KEY_CPU(AT(bench.cpu)),
};

static uint64_t owner(const struct bench_end *x, uint64_t i, bool is_source)
{
	(void)i;
	(void)is_source;
	return x->node;
}

/* How far away the nodes of a round are: two with factors, and the one that
 * gets the product. */
static uint32_t step(const struct bench_end *x, uint64_t round, uint32_t which)
{
	uint32_t n = x->bench->needs.n_programs;

	return 1 + (uint32_t)((round * (which + 1) + which) % (n - 1));
}

static uint32_t other(const struct bench_end *x, uint64_t round, uint32_t which)
{
	return (x->rank + step(x, round, which)) % x->bench->needs.n_programs;
}

/* What the bytes of a product depend on. */
static uint64_t number(const struct bench_end *x, uint32_t from, uint64_t round)
{
	return (uint64_t)x->bench->rounds * from + round + 1;
}

static bool prepare(struct bench_end *x)
{
	uint64_t bytes = (uint64_t)x->bench->bytes;

	x->driver->expect(x, 0, (uint64_t)x->bench->rounds * bytes);
	return bench_add_source(x, BLOCK_AT, MOST_BYTES);
}

static bool check_factor(struct bench_end *x, uint32_t node, uint64_t at)
{
	uint8_t want[512], got[512];
	uint64_t n, bytes = (uint64_t)x->bench->bytes;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(want) ? bytes - i : sizeof(want);
		memory_fill_by(x->load->seed, node, i, want, n);
		program_read(at + i, got, n);
		if (memcmp(want, got, n) != 0)
			return programs_complain(
				x->programs, "wrong bytes of node %u", node);
	}
	return true;
}

static bool get_factors(struct bench_end *x, uint64_t round)
{
	uint64_t bytes = (uint64_t)x->bench->bytes;

	bench_track_gets(x, FACTORS, bytes);
	for (uint32_t i = 0; i < FACTORS; i++) {
		struct bench_transfer t =
			bench_transfer(x, other(x, round, i), bytes);

		t.from = BLOCK_AT;
		t.to = GOT_AT + i * bytes;
		t.is_tracked = true;
		x->driver->get(x, &t);
	}
	if (!x->driver->flush(x))
		return false;
	for (uint32_t i = 0; i < FACTORS; i++)
		if (!check_factor(x, other(x, round, i), GOT_AT + i * bytes))
			return false;
	return true;
}

static bool multiply_all(struct bench_end *x)
{
	const struct blocks *b = (const struct blocks *)x->bench;
	uint64_t bytes = (uint64_t)x->bench->bytes;

	for (uint64_t k = 0; k < (uint64_t)x->bench->rounds; k++) {
		struct bench_transfer p =
			bench_transfer(x, other(x, k, FACTORS), bytes);

		if (!get_factors(x, k))
			return false;
		program_charge(b->compute);
		p.from = PRODUCT_AT + k * bytes;
		p.to = SLOTS_AT + k * bytes;
		bench_make(x, number(x, x->rank, k), p.from, bytes);
		x->driver->put(x, &p);
	}
	return x->driver->await(x, 0);
}

/* Products of all rounds, each from the node that many steps before. */
static void check_slots(struct bench_end *x)
{
	uint32_t n = x->bench->needs.n_programs, from;
	uint64_t bytes = (uint64_t)x->bench->bytes;

	for (uint64_t k = 0; k < (uint64_t)x->bench->rounds; k++) {
		from = (x->rank + n - step(x, k, FACTORS)) % n;
		if (!bench_check(
			    x, number(x, from, k), SLOTS_AT + k * bytes, bytes))
			return;
	}
}

static const struct bench_program program = {
	.prepare = prepare,
	.transfer = multiply_all,
	.check = check_slots,
};

static int blocks_init(struct load *l, struct err *e)
{
	struct bench *b = (struct bench *)l;
	struct bench_needs n = {
		.n_programs = l->topo->n_nodes,
		.memory = MEMORY,
		.touched = (uint64_t)(2 * b->rounds + 2) * (uint64_t)b->bytes,
		.is_msg = b->via,
		.has_gets = true,
		.is_for_all = true,
	};

	if (l->topo->n_nodes < 2)
		return err_set(e, "blocks: needs at least two nodes");
	if ((uint64_t)(b->rounds * b->bytes) > SLOTS_AT - PRODUCT_AT)
		return err_set(e, "rounds: products of a node need more than "
				  "the 64 MiB available");
	if (bench_init(b, &n, e))
		return -1;
	b->piece = MOST_BYTES;
	b->owner = owner;
	return 0;
}

static void blocks_start(struct load *l)
{
	bench_start_all((struct bench *)l, &program);
}

static void blocks_report(struct load *l, struct load_result *r)
{
	const struct bench *b = (const struct bench *)l;

	if (!bench_report(b, r))
		return;
	load_figure(r, "time_ns", (double)bench_time(b) / SIM_NS);
	load_figure(r, "product_ns",
		(double)bench_time(b) / SIM_NS / (double)b->rounds);
}

const struct load_ops load_blocks = {
	.name = "blocks",
	.help = "nodes get blocks, multiply and accumulate them",
	.size = sizeof(struct blocks),
	PARAMS(params),
	BENCH_OPS,
	.init = blocks_init,
	.start = blocks_start,
	.report = blocks_report,
};
