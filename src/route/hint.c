/*
 * A packet carries one hint bit per direction that it still has to go, at
 * most one per dimension, and the number of hops left in each dimension.
 * When a dimension is done its bit is cleared; without bits the packet is
 * there.  What a set of hint bits allows depends on nothing else, so both
 * answers (the deterministic port, the ports open to a dynamic packet) are
 * tables over all sets of bits, made once.
 *
 * A link to an IO node is one more dimension, with hints of its own: the one
 * for shipping is obeyed when all others are done, and those of an IO node,
 * one for each of its links, before any other.
 */
#include "route/hint.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define AT(field) offsetof(struct hint, field)

static const struct param params[] = {
	PARAM_ROW(PARAM_TEXT, "order", AT(order), "longest-first", 0, 0,
		"dimension order of deterministic packets and of escapes: "
		"letters (\"ABCDE\") or longest-first",
		"BGQ-F34"),
	PARAM_ROW(PARAM_TEXT, "zones.0", AT(zones[0]), "longest-first", 0, 0,
		"first set of zone masks: none, longest-first, order, "
		"or groups of dimensions (\"AB,CD,E\")",
		"BGQ-G7"),
	PARAM_ROW(PARAM_TEXT, "zones.1", AT(zones[1]), "none", 0, 0,
		"second set of zone masks", "BGQ-G7"),
	PARAM_ROW(PARAM_TEXT, "zones.2", AT(zones[2]), "order", 0, 0,
		"third set of zone masks", "BGQ-G7"),
	PARAM_ROW(PARAM_TEXT, "zones.3", AT(zones[3]), "none", 0, 0,
		"fourth set of zone masks", "BGQ-G6"),
	PARAM_ONE_OF("ties", AT(ties), "parity", "parity|random|plus",
		"direction round a ring if both are equally short: by the "
		"parity of the source's coordinates, at random, or always plus",
		"BGQ-G8"),
	PARAM_ROW(PARAM_FLAG, "bubble", AT(bubble), "yes", 0, 0,
		"whether a packet needs room for two full packets to enter a "
		"ring of an escape channel; no: room for one suffices, and "
		"rings can deadlock",
		"BGQ-F38, BGQ-G4"),
	PARAM_ROW(PARAM_FLAG, "escape", AT(escape), "yes", 0, 0,
		"whether dynamic packets may escape to the deterministic "
		"channel; no: adaptive routing can deadlock",
		"BGQ-F38, BGQ-G4"),
	ROUTE_NOTICE(AT(route.notice)),
	ROUTE_TELL(AT(tell)),
};

/* --- programming --- */

static uint16_t dim_ports(uint32_t dim)
{
	return (uint16_t)(3u << (2 * dim));
}

/* Twice the farthest that a packet can have to go. */
static uint32_t reach(const struct torus *t, uint32_t dim)
{
	return torus_is_ring(t, dim) ? t->dim[dim] : 2 * t->dim[dim];
}

/* Dimensions by falling reach; equal ones stay in the order of letters. */
static void longest_first(const struct torus *t, uint8_t *dims)
{
	uint32_t j;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		for (j = i; j && reach(t, dims[j - 1]) < reach(t, i); j--)
			dims[j] = dims[j - 1];
		dims[j] = (uint8_t)i;
	}
}

static int set_order(struct hint *h, struct err *e)
{
	const struct torus *t = h->torus;
	uint32_t seen = 0, n = 0;

	if (!strcmp(h->order, "longest-first")) {
		longest_first(t, h->dims);
		return 0;
	}
	for (const char *c = h->order; *c; c++) {
		int i = grid_letter(t, *c);

		if (i < 0 || seen >> i & 1)
			return err_set(e,
				"routing.order: \"%s\" is not an order of "
				"dimensions (want each of the %u dimensions %c "
				"to %c once, or longest-first)",
				h->order, t->n_dims, t->letters[0],
				t->letters[t->n_dims - 1]);
		seen |= 1u << i;
		h->dims[n++] = (uint8_t)i;
	}
	if (n != t->n_dims)
		return err_set(e,
			"routing.order: \"%s\" names only %u of %u dimensions",
			h->order, n, t->n_dims);
	return 0;
}

static void zones_longest_first(struct hint *h, uint32_t set)
{
	uint8_t dims[TORUS_MAX_DIMS];
	uint32_t n = 0;

	longest_first(h->torus, dims);
	for (uint32_t i = 0; i < h->torus->n_dims; i++) {
		if (i && reach(h->torus, dims[i]) !=
				 reach(h->torus, dims[i - 1]))
			n++;
		h->mask[set][n] |= dim_ports(dims[i]);
	}
	h->n_zones[set] = (uint8_t)(n + 1);
}

static int zones_groups(
	struct hint *h, uint32_t set, const char *text, struct err *e)
{
	uint32_t n = 0, all = 0;

	for (const char *c = text; *c; c++) {
		int d = grid_letter(h->torus, *c);

		if (strchr(",/|", *c) && h->mask[set][n] && n < HINT_ZONES - 1)
			n++;
		else if (d >= 0)
			h->mask[set][n] |= dim_ports((uint32_t)d);
		else
			return err_set(e,
				"zones: \"%s\" is not an order of zones (want "
				"none, longest-first, order, or groups of the "
				"dimensions %c to %c such as \"A,BC\")",
				text, h->torus->letters[0],
				h->torus->letters[h->torus->n_dims - 1]);
	}
	h->n_zones[set] = (uint8_t)(n + (h->mask[set][n] != 0));
	for (uint32_t i = 0; i < h->n_zones[set]; i++)
		all |= h->mask[set][i];
	for (uint32_t i = 0; i < h->torus->n_dims; i++)
		if (!(all & dim_ports(i)))
			return err_set(e,
				"zones: \"%s\" leaves out dimension %c (want "
				"every dimension once)",
				text, h->torus->letters[i]);
	return 0;
}

/* What a dynamic packet with these hints may take. */
static uint16_t allowed(const struct hint *h, uint32_t set, uint32_t hints)
{
	for (uint32_t i = 0; i < h->n_zones[set]; i++)
		if (hints & h->mask[set][i])
			return (uint16_t)(hints & h->mask[set][i]);
	return (uint16_t)hints;
}

int hint_set_zones(
	struct hint *h, uint32_t set, const char *text, struct err *e)
{
	uint32_t n_hints = 1u << h->n_bits;

	memset(h->mask[set], 0, sizeof(h->mask[set]));
	h->n_zones[set] = 0;
	if (!strcmp(text, "longest-first")) {
		zones_longest_first(h, set);
	} else if (!strcmp(text, "order")) {
		for (uint32_t i = 0; i < h->torus->n_dims; i++)
			h->mask[set][i] = dim_ports(h->dims[i]);
		h->n_zones[set] = (uint8_t)h->torus->n_dims;
	} else if (strcmp(text, "none") != 0 && zones_groups(h, set, text, e)) {
		return -1;
	}
	for (uint32_t i = 0; i < n_hints; i++)
		h->allowed[set][i] = allowed(h, set, i);
	return 0;
}

static uint8_t first_port(const struct hint *h, uint32_t hints)
{
	uint32_t io = 2 * h->torus->n_dims, from = hints & h->from_io;

	if (from)
		return (uint8_t)(__builtin_ctz(from) - 1);
	for (uint32_t i = 0; i < h->torus->n_dims; i++) {
		uint32_t bits = hints & dim_ports(h->dims[i]);

		if (bits)
			return (uint8_t)__builtin_ctz(bits);
	}
	return hints & h->to_io ? (uint8_t)io : PACKET_NO_PORT;
}

static int check_lengths(const struct torus *t, struct err *e)
{
	for (uint32_t i = 0; i < t->n_dims; i++)
		if (t->dim[i] > UINT8_MAX) /* hints may lead all around */
			return err_set(e,
				"topology.shape: dimension %c has %u routers, "
				"but hint-bit routing allows at most %d hops "
				"in a dimension",
				t->letters[i], t->dim[i], UINT8_MAX);
	return 0;
}

/* One dimension's step for each difference of coordinates. */
static void list_steps(struct hint *h, uint32_t parity, uint32_t dim)
{
	int32_t d = (int32_t)h->torus->dim[dim], i;
	union hint_step *step = mem_alloc((size_t)(2 * d), sizeof(*step));

	step += d; /* indices run from -d */
	h->step[parity][dim] = step;
	for (i = 1 - d; i < d; i++) {
		int32_t up = i < 0 ? i + d : i;
		bool plus = !torus_is_ring(h->torus, dim) ? i > 0
			    : 2 * up != d
				    ? 2 * up < d
				    : h->ties == GRID_TIES_PLUS || !parity;

		if (!i)
			continue;
		step[i].packet.left[dim] = (uint8_t)(plus ? up : d - up);
		step[i].packet.hints = (uint16_t)((plus ? 1 : 2) << 2 * dim);
	}
}

static void list_io(struct hint *h)
{
	const struct torus *t = h->torus;

	h->n_bits = 2 * t->n_dims;
	if (!t->topo.n_io)
		return;
	h->to_io = hint_to_io(t);
	for (uint32_t k = 0; k < t->io_links; k++)
		h->from_io |= hint_from_io(t, k);
	h->n_bits += 1 + (uint32_t)t->io_links;
}

static void list_ports(struct hint *h)
{
	uint32_t n = 2 * h->torus->n_dims;

	for (uint32_t i = 0; i < h->torus->topo.n_ports; i++) {
		uint32_t bits = i < n ? dim_ports(i / 2)
				      : h->to_io | (uint32_t)h->from_io;

		h->tables.dim[i] = (uint8_t)(i < n ? i / 2 : n / 2);
		h->tables.rest[i] = (uint16_t)~bits;
	}
}

static int hint_init(struct route *r, const struct topo *topo, struct err *e)
{
	struct hint *h = (struct hint *)r;
	uint32_t n_hints;

	h->torus = torus_find(topo);
	if (!h->torus)
		return err_set(e,
			"routing.kind: hint needs topology.kind: torus, not "
			"%s",
			topo->ops->name);
	if (!torus_is_plain(h->torus))
		return err_set(e,
			"routing.kind: hint needs a torus whose routers are "
			"nodes (topology.nodes: 0) with one link in each "
			"direction (topology.links: 1)");
	r->topo = topo;
	h->route.bubble = h->bubble != 0;
	h->route.has_escape = h->escape != 0;
	h->route.told = topo->n_io ? -1 : h->tell;
	h->route.is_blind = h->route.told < 0;
	if (check_lengths(h->torus, e) || set_order(h, e))
		return -1;
	h->coord = grid_list(h->torus);
	for (uint32_t i = 0; i < 2 * TORUS_MAX_DIMS; i++)
		h->step[i % 2][i / 2] = &h->none;
	for (uint32_t i = 0; i < 2 * h->torus->n_dims; i++)
		list_steps(h, i % 2, i / 2);
	list_io(h);
	n_hints = 1u << h->n_bits;
	h->first = mem_alloc(n_hints, sizeof(*h->first));
	for (uint32_t i = 0; i < n_hints; i++)
		h->first[i] = first_port(h, i);
	for (uint32_t i = 0; i < HINT_ZONE_SETS; i++) {
		h->allowed[i] = mem_alloc(n_hints, sizeof(*h->allowed[i]));
		if (hint_set_zones(h, i, h->zones[i], e))
			return -1;
	}
	h->tables.first = h->first;
	h->tables.allowed = (const uint16_t *const *)h->allowed;
	list_ports(h);
	h->route.tables = &h->tables;
	return 0;
}

static void hint_fini(struct route *r)
{
	struct hint *h = (struct hint *)r;

	for (uint32_t i = 0; h->coord && i < 2 * h->torus->n_dims; i++)
		mem_free(h->step[i % 2][i / 2] - h->torus->dim[i / 2]);
	mem_free(h->coord);
	mem_free(h->first);
	for (uint32_t i = 0; i < HINT_ZONE_SETS; i++)
		mem_free(h->allowed[i]);
}

/* --- a packet's way --- */

/* At random: packet by packet, or, where they must stay in order, by flow. */
static bool tie_goes_plus(
	const struct hint *h, const struct packet *p, uint32_t dim)
{
	uint64_t lot = p->kind == PACKET_DYNAMIC ? p->number
						 : UINT64_C(1) << 32 | p->dst;

	return grid_plus((enum grid_ties)h->ties, h->coord[p->src][GRID_PARITY],
		       p->src, lot) >>
		       dim &
	       1;
}

/*
 * Where a sender gave hints, or ties go by lot: hops left in one dimension,
 * up hops away from x by going up, and the bit of the direction.
 */
static uint32_t special(const struct hint *h, struct packet *p, uint32_t dim,
	uint32_t x, uint32_t up)
{
	uint32_t d = h->torus->dim[dim], given = p->hints >> (2 * dim) & 3;
	bool plus = 2 * up < d;

	if (!up && !given)
		return 0;
	if (given)
		plus = given & 1;
	else if (!torus_is_ring(h->torus, dim))
		plus = x + up < d;
	else if (2 * up == d)
		plus = tie_goes_plus(h, p, dim);
	p->left[dim] = (uint8_t)(plus && up ? up : d - up);
	return (plus ? 1u : 2u) << (2 * dim);
}

/* By itself, so that others do not pay for it. */
static __attribute__((noinline)) void start_special(
	const struct hint *h, struct packet *p)
{
	const struct torus *t = h->torus;
	uint32_t i, from = p->hints & h->from_io;
	uint32_t hints = p->hints & (h->to_io | (uint32_t)h->from_io);
	const uint16_t *x = h->coord[p->src], *y = h->coord[p->dst];

	if (from) {
		i = (uint32_t)__builtin_ctz(from) - 2 * t->n_dims - 1;
		x = h->coord[torus_io_exit(t, p->src, i)];
	}
	for (i = 0; i < t->n_dims; i++) {
		p->left[i] = 0;
		hints |= special(h, p, i, x[i],
			(y[i] - (uint32_t)x[i] + t->dim[i]) % t->dim[i]);
	}
	if (t->n_dims < TORUS_MAX_DIMS)
		p->left[t->n_dims] = hints >> 2 * t->n_dims != 0;
	p->hints = (uint16_t)hints;
}

_Static_assert(offsetof(struct packet, left) ==
		       offsetof(struct packet, hints) + sizeof(uint16_t),
	"as in union hint_step");

static void hint_start(const struct route *r, struct packet *p)
{
	const struct hint *h = hint_of(r);
	const uint16_t *x = h->coord[p->src], *y = h->coord[p->dst];
	union hint_step *const *step = h->step[x[GRID_PARITY]];
	union hint_step sum = { .all = 0 };

	if (__builtin_expect(p->hints || h->ties == GRID_TIES_RANDOM, 0)) {
		start_special(h, p);
	} else {
		for (uint32_t i = 0; i < TORUS_MAX_DIMS; i++)
			sum.all |= step[i][(ptrdiff_t)y[i] - x[i]].all;
		memcpy((uint8_t *)p + offsetof(struct packet, hints), &sum,
			sizeof(sum));
	}
}

/* What the tables say, as a step. */
static struct route_step hint_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	(void)at;
	if (in == TOPO_NO_PORT)
		route_look_up(r->tables, p);
	else
		route_hop(r->tables, p, in);
	return (struct route_step){
		.ports = p->kind == PACKET_DYNAMIC ? p->ask
			 : p->escape == PACKET_NO_PORT
				 ? 0
				 : (port_mask)1 << p->escape,
		.escape = p->escape,
		.is_ordered = p->kind != PACKET_DYNAMIC,
	};
}

static struct route_way hint_way(const struct route *r, const int64_t *cost)
{
	const struct hint *h = hint_of(r);

	return grid_way(h->torus, (enum grid_ties)h->ties, cost);
}

/* --- reports --- */

/* "ABC,D": zones in the order in which they are done. */
static void name_zones(
	const struct hint *h, uint32_t set, char text[ROUTE_TEXT])
{
	size_t n = 0;

	for (uint32_t z = 0; z < h->n_zones[set]; z++) {
		if (z)
			text[n++] = ',';
		for (uint32_t d = 0; d < h->torus->n_dims; d++)
			if (h->mask[set][z] >> (2 * d) & 3)
				text[n++] = h->torus->letters[d];
	}
	text[n] = '\0';
	if (!n)
		strcpy(text, "none");
}

/* "ABCD": the deterministic order. */
static void name_order(const struct hint *h, char text[ROUTE_TEXT])
{
	uint32_t d;

	for (d = 0; d < h->torus->n_dims; d++)
		text[d] = h->torus->letters[h->dims[d]];
	text[d] = '\0';
}

static void hint_describe(const struct route *r, FILE *f)
{
	const struct hint *h = hint_of(r);
	char text[ROUTE_TEXT];

	name_order(h, text);
	fprintf(f, "routing     deterministic in the order %s\n", text);
	fprintf(f, "zones      ");
	for (uint32_t i = 0; i < HINT_ZONE_SETS; i++) {
		name_zones(h, i, text);
		fprintf(f, "%s %u: %s", i ? ";" : "", i, text);
	}
	fprintf(f, "\nescape      %s\n",
		!h->escape  ? "none: dynamic packets can deadlock"
		: h->bubble ? "to the deterministic channel, bubble "
			      "rule"
			    : "to the deterministic channel, without "
			      "the bubble rule");
}

static bool hint_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	const struct hint *h = hint_of(r);

	if (!i) {
		f->key = "order";
		name_order(h, f->text);
	} else if (i <= HINT_ZONE_SETS) {
		f->key = "zones";
		f->kind = ROUTE_FACT_LISTED;
		name_zones(h, i - 1, f->text);
	} else {
		f->kind = ROUTE_FACT_FLAG;
		f->key = i == HINT_ZONE_SETS + 1 ? "escape" : "bubble";
		f->flag = i == HINT_ZONE_SETS + 1 ? h->escape : h->bubble;
	}
	return i <= HINT_ZONE_SETS + 2;
}

static const char *const channels[] = { "dynamic", "deterministic", "high",
	"system" };

static int set_zones(
	struct route *r, uint32_t set, const char *text, struct err *e)
{
	return hint_set_zones((struct hint *)r, set, text, e);
}

const struct route_ops hint_ops = {
	.name = "hint",
	.has = "zones orders classes io-ways steady",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct hint),
	PARAMS(params),
	.init = hint_init,
	.fini = hint_fini,
	.start = hint_start,
	.next = hint_next,
	.avoid = hint_avoid,
	.set_zones = set_zones,
	.way = hint_way,
	.describe = hint_describe,
	.fact = hint_fact,
};
