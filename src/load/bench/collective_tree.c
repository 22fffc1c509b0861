/*
 * Collectives by a network with trees.  Rounds begin at the same time
 * everywhere, when the last one is over for long: so all members are at rest,
 * and what is measured is the hardware.
 */
#include "load/bench/collective.h"

#include <inttypes.h>
#include <string.h>

#include "coll/class_route.h"
#include "topo/torus.h"

enum { KINDS = 16, MOST_WORD = 512 };

static struct collective *of(const struct bench_end *x)
{
	return (struct collective *)x->bench;
}

/* --- who takes part --- */

static uint32_t n_nodes(const struct class_box *b)
{
	uint32_t i, n = 1;

	for (i = 0; i < TORUS_MAX_DIMS && b->length[i]; i++)
		n *= b->length[i];
	return n;
}

static bool is_all(const struct collective *c)
{
	return c->shape.n == 1 && !c->shape.v[0];
}

static int check_shape(
	struct collective *c, const struct torus *t, struct err *e)
{
	uint32_t i;

	c->box = class_box_all(t);
	if (c->shape.n > t->n_dims || c->at.n > t->n_dims)
		return err_set(e, "%s: the torus has %u dimensions",
			c->shape.n > t->n_dims ? "box" : "at", t->n_dims);
	for (i = 0; i < c->at.n; i++)
		c->box.first[i] = (uint32_t)c->at.v[i];
	for (i = 0; i < t->n_dims; i++) {
		if (is_all(c))
			c->box.length[i] -= c->box.first[i];
		else
			c->box.length[i] =
				i < c->shape.n ? (uint32_t)c->shape.v[i] : 1;
		if (c->box.first[i] >= t->dim[i] || !c->box.length[i] ||
			c->box.length[i] > t->dim[i] - c->box.first[i])
			return err_set(e,
				"box: sticks out of the machine, which is %u "
				"long in dimension %c",
				t->dim[i], t->letters[i]);
	}
	return 0;
}

static int check_split(
	struct collective *c, const struct torus *t, struct err *e)
{
	const char *s;

	if (!strcmp(c->split, "none"))
		return 0;
	for (s = c->split; *s; s++) {
		const char *at = strchr(t->letters, *s);

		if (!at || at >= t->letters + t->n_dims)
			return err_set(e,
				"split: no dimension %c (want letters of %.*s)",
				*s, (int)t->n_dims, t->letters);
		c->split_dims |= 1u << (at - t->letters);
	}
	return 0;
}

static int check_arith(const struct collective *c, struct err *e)
{
	const struct coll_arith a = { (uint8_t)(COLL_ADD + c->combine),
		(uint8_t)(COLL_DOUBLE - c->type), (uint16_t)c->word };
	struct err why = { 0 };

	if (c->op == OP_BROADCAST || !coll_arith_check(&a, 0, &why))
		return c->bench.bytes % c->word
			       ? err_set(e,
					 "bytes: want a multiple of the word's "
					 "%lld",
					 (long long)c->word)
			       : 0;
	return err_set(e, "type and combine: %s", why.text);
}

int collective_tree_check(
	struct collective *c, const struct topo *topo, struct err *e)
{
	const struct torus *t = torus_find(topo);

	if (!t)
		return err_set(e, "by: trees need a torus");
	if (check_shape(c, t, e) || check_split(c, t, e) || check_arith(c, e))
		return -1;
	/* what is not all nodes is a communicator of its own */
	if (!c->channel && (n_nodes(&c->box) < topo->n_nodes || c->split_dims))
		c->channel = 1;
	if (c->op != OP_ALLREDUCE &&
		!class_box_has(&c->box, t, (router_id)c->root))
		return err_set(e, "root: node %lld is not in the box",
			(long long)c->root);
	if (c->op != OP_ALLREDUCE && c->split_dims)
		return err_set(e, "split: only for op=allreduce");
	return 0;
}

/* The box of a node's tree, and its place there; false where it has none. */
static bool find_place(struct bench_end *x)
{
	const struct collective *c = of(x);
	const struct torus *t = torus_of(x->bench->programs.load.net->topo);
	struct member *m = x->data;
	uint32_t at[TORUS_MAX_DIMS], i;

	for (i = 0; i < t->n_dims; i++)
		at[i] = torus_coord(t, x->node, i);
	m->box = c->box;
	for (i = 0; i < t->n_dims && c->split_dims; i++)
		if (!(c->split_dims >> i & 1)) {
			m->box.first[i] = at[i];
			m->box.length[i] = 1;
		}
	m->count = n_nodes(&m->box);
	for (i = t->n_dims; i--;)
		m->index =
			m->index * m->box.length[i] + at[i] - m->box.first[i];
	return class_box_has(&c->box, t, x->node);
}

/* --- data: small numbers, whose sums have no end to be rounded --- */

static int64_t base(const struct collective *c, int64_t round, uint64_t i)
{
	return (int64_t)((c->bench.programs.load.seed + (uint64_t)round + i) %
			 1000);
}

static bool is_bits(const struct collective *c)
{
	return c->combine >= COLL_AND - COLL_ADD;
}

/* Those with one index of KINDS are alike. */
static int64_t value(
	const struct collective *c, int64_t round, uint64_t i, uint32_t index)
{
	int64_t b = base(c, round, i);

	if (is_bits(c))
		return b * KINDS | (index % KINDS);
	return b - 500 * (c->type == COLL_DOUBLE - COLL_SIGNED) + index % KINDS;
}

/* What all members together make of it. */
static int64_t combined(const struct collective *c, const struct member *m,
	int64_t round, uint64_t i)
{
	uint32_t n = m->count, k;
	int64_t all = c->combine ? value(c, round, i, 0) : 0;

	for (k = 0; k < KINDS && k < n; k++) {
		int64_t v = value(c, round, i, k);
		uint32_t alike = (n - 1 - k) / KINDS + 1;

		switch (c->combine + COLL_ADD) {
		case COLL_ADD:
			all += v * alike;
			break;
		case COLL_MIN:
			all = v < all ? v : all;
			break;
		case COLL_MAX:
			all = v > all ? v : all;
			break;
		case COLL_AND:
			all &= v;
			break;
		case COLL_OR:
			all |= v;
			break;
		default:
			all = (k ? all : 0) ^ (alike % 2 ? v : 0);
		}
	}
	return all;
}

static void to_word(
	const struct collective *c, int64_t v, uint8_t word[MOST_WORD])
{
	bool is_double = c->type == COLL_DOUBLE - COLL_DOUBLE;
	double d = (double)v;

	memset(word, v < 0 ? 0xff : 0, (size_t)c->word);
	if (is_double)
		memcpy(word, &d, 8);
	else
		memcpy(word, &v, c->word < 8 ? (size_t)c->word : 8);
}

static void fill(const struct bench_end *x, int64_t round)
{
	const struct collective *c = of(x);
	const struct member *m = x->data;
	uint64_t i, n = (uint64_t)(c->bench.bytes / c->word);
	uint8_t word[MOST_WORD];

	if (c->op == OP_BROADCAST && x->rank != (uint32_t)c->root)
		return;
	for (i = 0; i < n; i++) {
		to_word(c, value(c, round, i, m->index), word);
		program_write(BENCH_SOURCE + i * (uint64_t)c->word, word,
			(size_t)c->word);
	}
}

static bool check(struct bench_end *x, int64_t round)
{
	struct collective *c = of(x);
	const struct member *m = x->data;
	const struct member *root = c->bench.ends[c->root].data;
	uint64_t i, n = (uint64_t)(c->bench.bytes / c->word);
	uint8_t want[MOST_WORD], got[MOST_WORD];

	if (c->op == OP_REDUCE && x->rank != (uint32_t)c->root)
		return true;
	for (i = 0; i < n; i++) {
		to_word(c,
			c->op == OP_BROADCAST ? value(c, round, i, root->index)
					      : combined(c, m, round, i),
			want);
		program_read(BENCH_TARGET + i * (uint64_t)c->word, got,
			(size_t)c->word);
		if (memcmp(want, got, (size_t)c->word) != 0)
			return programs_complain(&c->bench.programs,
				"round %" PRId64 ": element %" PRIu64
				" is not what all members make of it",
				round, i);
	}
	return true;
}

/* --- the program --- */

/* From one round's start to the next: longer than any takes. */
static sim_time period(const struct collective *c)
{
	return (50000 + 5 * c->bench.bytes) * (sim_time)SIM_NS;
}

static bool take_part(struct bench_end *x, int64_t round)
{
	struct collective *c = of(x);
	struct member *m = x->data;
	bool receives = c->op != OP_REDUCE || x->rank == (uint32_t)c->root;
	bool sends = c->op != OP_BROADCAST || x->rank == (uint32_t)c->root;

	fill(x, round);
	if (receives)
		c->tree->expect(x, (uint64_t)c->bench.bytes);
	program_wait(PROGRAMS_START + round * period(c));
	m->came = program_now();
	m->stored = sends ? c->tree->send(x, BENCH_SOURCE, BENCH_TARGET,
				    (uint64_t)c->bench.bytes)
			  : program_now();
	if (!c->tree->await(x, receives))
		return false;
	m->left = program_now();
	if (!receives)
		m->done = m->left;
	m->all_came += m->came;
	m->all_left += m->left;
	m->all_stored += m->stored;
	m->all_done += m->done;
	return check(x, round);
}

void collective_tree_run(void *arg)
{
	struct bench_end *x = arg;
	struct collective *c = of(x);
	struct member *m = x->data;
	static const uint8_t channel[] = { CLASS_WORLD, CLASS_SUB,
		CLASS_SYSTEM };
	const struct bench_tree_how how = {
		.what = (uint32_t)(c->op - OP_BROADCAST),
		.arith = { (uint8_t)(COLL_ADD + c->combine),
			(uint8_t)(COLL_DOUBLE - c->type), (uint16_t)c->word },
		.channel = channel[c->channel],
		.box = &m->box,
		.is_world = !c->channel,
		.root = (uint32_t)c->root,
		.is_header = !c->bench.bytes,
	};
	int64_t round;

	if (!find_place(x) || !bench_open(x) || !c->tree->open(x, &how))
		return;
	x->start = PROGRAMS_START;
	for (round = 0; round < c->bench.rounds; round++)
		if (!take_part(x, round))
			return;
	x->end = program_now();
}

/* --- what is measured --- */

void collective_tree_delivered(struct collective *c, site_id s, sim_time t)
{
	struct member *m = c->bench.ends[s].data;

	m->done = t;
}

void collective_tree_report(const struct collective *c, struct load_result *r)
{
	const struct member *last = NULL, *from;
	double rounds = (double)c->bench.rounds * SIM_NS, time;
	uint32_t i;

	for (i = 0; i < c->bench.needs.n_programs; i++) {
		const struct member *m = c->bench.ends[i].data;

		if (c->op == OP_REDUCE && i != (uint32_t)c->root)
			continue;
		if (!last || m->all_done > last->all_done)
			last = m;
	}
	/* a broadcast begins where it is sent */
	from = c->op == OP_BROADCAST ? c->bench.ends[c->root].data : last;
	time = (double)(last->all_left - from->all_came) / rounds;
	load_figure(r, "time_ns", time);
	load_figure(r, "hardware_ns",
		(double)(last->all_done - from->all_stored) / rounds);
	load_figure(r, "rate_GBps", (double)c->bench.bytes / time);
}
