/*
 * Collectives by a network with trees.  Rounds begin at the same time
 * everywhere, when the last one is over for long: so all members are at rest,
 * and what is measured is the hardware.
 */
#include "load/bench/collective.h"

#include <string.h>

static struct collective *of(const struct bench_end *x)
{
	return (struct collective *)x->bench;
}

/* --- who takes part --- */

static uint32_t n_nodes(const struct topo_box *b)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < TOPO_MAX_DIMS && b->length[i]; i++)
		n *= b->length[i];
	return n;
}

static bool is_all(const struct collective *c)
{
	return c->shape.n == 1 && !c->shape.v[0];
}

static int check_shape(
	struct collective *c, const struct topo_grid *g, struct err *e)
{
	c->box = topo_box_all(g);
	if (c->shape.n > g->n_dims || c->at.n > g->n_dims)
		return err_set(e, "%s: the machine has %u dimensions",
			c->shape.n > g->n_dims ? "box" : "at", g->n_dims);
	for (uint32_t i = 0; i < c->at.n; i++)
		c->box.first[i] = (uint32_t)c->at.v[i];
	for (uint32_t i = 0; i < g->n_dims; i++) {
		if (is_all(c))
			c->box.length[i] -= c->box.first[i];
		else
			c->box.length[i] =
				i < c->shape.n ? (uint32_t)c->shape.v[i] : 1;
		if (c->box.first[i] >= g->dim[i] || !c->box.length[i] ||
			c->box.length[i] > g->dim[i] - c->box.first[i])
			return err_set(e,
				"box: extends beyond the machine, which is %u "
				"long in dimension %c",
				g->dim[i], g->letter[i]);
	}
	return 0;
}

static int check_split(
	struct collective *c, const struct topo_grid *g, struct err *e)
{
	if (!strcmp(c->split, "none"))
		return 0;
	for (const char *s = c->split; *s; s++) {
		const char *at = memchr(g->letter, *s, g->n_dims);

		if (!at)
			return err_set(e,
				"split: no dimension %c (want letters of %.*s)",
				*s, (int)g->n_dims, g->letter);
		c->split_dims |= 1u << (at - g->letter);
	}
	return 0;
}

static int check_arith(const struct collective *c, struct err *e)
{
	struct err why = { 0 };

	if (c->op == OP_BROADCAST || !coll_arith_check(&c->arith, 0, &why))
		return c->bench.bytes % c->word
			       ? err_set(e,
					 "bytes: want a multiple of the word's "
					 "%lld",
					 (long long)c->word)
			       : 0;
	return err_set(e, "type and combine: %s", why.text);
}

/* How far the last of several boxes can be from the first in a dimension. */
static uint32_t room(
	const struct collective *c, const struct topo_grid *g, uint32_t i)
{
	return g->dim[i] - c->box.first[i] - c->box.length[i];
}

static int check_boxes(
	const struct collective *c, const struct topo_grid *g, struct err *e)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < g->n_dims; i++)
		most = room(c, g, i) > most ? room(c, g, i) : most;
	most = most < c->tree->most ? most + 1 : c->tree->most;
	if (c->split_dims || c->channel == BENCH_TREE_SYSTEM)
		return err_set(e, "boxes: not with split or channel=system");
	if (c->boxes > most)
		return err_set(
			e, "boxes: want at most %u of this shape here", most);
	if (!c->bench.bytes || c->bench.bytes * n_nodes(&c->box) * c->boxes >
				       (int64_t)(BENCH_MEMORY - BENCH_TARGET))
		return err_set(e, "bytes: want 1 B to 1 GiB for all nodes of "
				  "all boxes together");
	return 0;
}

int collective_tree_check(
	struct collective *c, const struct topo *topo, struct err *e)
{
	const struct topo_grid *g = &c->grid;

	c->arith = (struct coll_arith){ (uint8_t)(COLL_ADD + c->combine),
		(uint8_t)(COLL_DOUBLE - c->type), (uint16_t)c->word };
	if (!topo_grid_of(topo, &c->grid))
		return err_set(e, "by: trees need a torus");
	if (check_shape(c, g, e) || check_split(c, g, e) || check_arith(c, e))
		return -1;
	/* what is not all nodes is a communicator of its own */
	if (!c->channel && (n_nodes(&c->box) < topo->n_nodes || c->split_dims))
		c->channel = BENCH_TREE_SUB;
	if (c->boxes > 1)
		return check_boxes(c, g, e);
	if (c->op != OP_ALLREDUCE &&
		!topo_box_has(&c->box, g, (router_id)c->root))
		return err_set(e, "root: node %lld is not in the box",
			(long long)c->root);
	if (c->op != OP_ALLREDUCE && c->split_dims)
		return err_set(e, "split: only for op=allreduce");
	return 0;
}

static uint32_t index_in(
	const struct topo_box *b, const struct topo_grid *g, router_id node)
{
	uint32_t index = 0;

	for (uint32_t i = g->n_dims; i--;)
		index = index * b->length[i] + topo_grid_coord(g, node, i) -
			b->first[i];
	return index;
}

/* The n-th of several boxes, or the box of the node's tree; false where the
 * node is not in it. */
static bool nth_box(const struct bench_end *x, uint32_t n, struct topo_box *box)
{
	const struct collective *c = of(x);
	const struct topo_grid *g = &c->grid;

	*box = c->box;
	for (uint32_t i = 0; i < g->n_dims; i++)
		box->first[i] += n < room(c, g, i) ? n : room(c, g, i);
	if (!topo_box_has(box, g, x->node))
		return false;
	for (uint32_t i = 0; i < g->n_dims && c->split_dims; i++)
		if (!(c->split_dims >> i & 1)) {
			box->first[i] = topo_grid_coord(g, x->node, i);
			box->length[i] = 1;
		}
	return true;
}

uint32_t collective_tree_index(const struct bench_end *x)
{
	struct topo_box box;

	return nth_box(x, 0, &box) ? index_in(&box, &of(x)->grid, x->node)
				   : x->rank;
}

/* --- the program --- */

static sim_time period(const struct collective *c)
{
	int64_t casts = c->boxes > 1 ? c->boxes * n_nodes(&c->box) : 1;

	return COLLECTIVE_PERIOD +
	       5 * casts * c->bench.bytes * (sim_time)SIM_NS;
}

/* Of a node's tree, or of one of several. */
static struct bench_tree_how how_of(
	const struct collective *c, const struct topo_box *box, uint32_t n)
{
	return (struct bench_tree_how){
		.what = (uint32_t)(c->op - OP_BROADCAST),
		.arith = c->arith,
		.channel = (uint32_t)c->channel,
		.box = box,
		.number = n,
		.is_world = !c->channel,
		.root = (uint32_t)c->root,
		.is_header = !c->bench.bytes,
	};
}

/* Where a node's bytes for a box come from, and where a member's go to: of
 * several boxes each member broadcasts. */
static uint64_t source_at(const struct collective *c, uint32_t box)
{
	return BENCH_SOURCE + box * (uint64_t)c->bench.bytes;
}

static uint64_t target_at(
	const struct collective *c, uint32_t box, uint32_t index)
{
	uint64_t n = (uint64_t)box * n_nodes(&c->box) + index;

	return BENCH_TARGET + (c->boxes > 1 ? n * (uint64_t)c->bench.bytes : 0);
}

/* Joins the trees of all boxes that the node is in; false where it is in none.
 */
static bool open_trees(struct bench_end *x)
{
	struct collective *c = of(x);
	struct member *m = x->data;
	struct topo_box box;
	bool is_open = false;

	for (uint32_t i = 0; i < c->boxes; i++) {
		struct bench_tree_how how = how_of(c, &box, i);

		if (!nth_box(x, i, &box))
			continue;
		m->count = n_nodes(&box);
		m->index = index_in(&box, &c->grid, x->node);
		if (is_open ? !c->tree->join(x, &how)
			    : !bench_open(x) || !c->tree->open(x, &how))
			return false;
		is_open = true;
	}
	return is_open;
}

/* Writes its bytes for all boxes that it is in, and returns their number. */
static uint32_t fill_all(struct bench_end *x, int64_t round)
{
	const struct collective *c = of(x);
	struct topo_box box;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->boxes; i++)
		if (nth_box(x, i, &box)) {
			collective_fill(x, source_at(c, i), round,
				index_in(&box, &c->grid, x->node));
			n++;
		}
	return n;
}

/* To all boxes that it is in, in their order. */
static bool send_all(struct bench_end *x)
{
	const struct collective *c = of(x);
	struct member *m = x->data;
	struct topo_box box;
	sim_time stored;

	for (uint32_t i = 0; i < c->boxes; i++) {
		struct bench_tree_how how = how_of(c, &box, i);

		if (!nth_box(x, i, &box))
			continue;
		if (c->boxes > 1 && !c->tree->aim(x, &how))
			return false;
		stored = c->tree->send(x, source_at(c, i),
			target_at(c, i, index_in(&box, &c->grid, x->node)),
			(uint64_t)c->bench.bytes);
		m->stored = c->boxes > 1 ? m->stored : stored;
	}
	return true;
}

static bool check_all(struct bench_end *x, int64_t round)
{
	struct collective *c = of(x);
	struct topo_box box;

	if (c->boxes == 1)
		return collective_is_right(x, BENCH_TARGET, round);
	for (uint32_t i = 0; i < c->boxes; i++)
		for (uint32_t index = 0;
			nth_box(x, i, &box) && index < n_nodes(&box); index++)
			if (!collective_is_from(
				    x, target_at(c, i, index), round, index))
				return false;
	return true;
}

static bool take_part(struct bench_end *x, int64_t round)
{
	struct collective *c = of(x);
	struct member *m = x->data;
	bool is_root = x->rank == (uint32_t)c->root;
	bool receives = c->op != OP_REDUCE || is_root;
	bool sends = c->op != OP_BROADCAST || is_root || c->boxes > 1;
	uint64_t n = sends ? fill_all(x, round) : 1;

	n *= c->boxes > 1 ? n_nodes(&c->box) : 1;
	if (receives)
		c->tree->expect(x, n * (uint64_t)c->bench.bytes);
	program_wait(PROGRAMS_START + round * period(c));
	m->came = m->stored = program_now();
	if ((sends && !send_all(x)) || !c->tree->await(x, receives))
		return false;
	if (!receives)
		m->done = program_now();
	collective_count(x, round);
	return check_all(x, round);
}

void collective_tree_run(struct bench_end *x)
{
	int64_t warm = x->bench->warm, all = warm + x->bench->rounds;

	if (!open_trees(x))
		return;
	x->start = PROGRAMS_START + warm * period(of(x));
	for (int64_t round = 0; round < all; round++)
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

	for (uint32_t i = 0; i < c->bench.needs.n_programs; i++) {
		const struct member *m = c->bench.ends[i].data;

		if (c->op == OP_REDUCE && i != (uint32_t)c->root)
			continue;
		if (!last || m->all_done > last->all_done)
			last = m;
	}
	/* a broadcast begins where it is sent */
	from = c->op == OP_BROADCAST && c->boxes == 1
		       ? c->bench.ends[c->root].data
		       : last;
	time = (double)(last->all_left - from->all_came) / rounds;
	load_figure(r, "time_ns", time);
	load_figure(r, "hardware_ns",
		(double)(last->all_done - from->all_stored) / rounds);
	load_figure(r, "rate_GBps", (double)c->bench.bytes / time);
}
