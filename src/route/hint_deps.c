/*
 * Where a packet can be is decided dimension by dimension, but for two
 * things.  Half way round a ring the direction goes by the parity of the
 * source, which all dimensions make together; and a dimension can have been
 * gone along, so that the source's coordinate is another than the router's,
 * only where order or zones allowed it before those that are still to go.
 *
 * So each coordinate gets a signature: for either parity of the source, and
 * for each role that the dimension can play for a packet that is there, the
 * parities that the source's coordinate can have (a mask of two bits, 0: the
 * role cannot be played there).  Routers whose coordinates have the same
 * signatures are alike and form a class.  A packet with some hints can be at
 * a router if the dimensions' parities can add up to the source's.
 */
#include "route/hint_deps.h"

#include <string.h>

#include "base/mem.h"

/* What a dimension can be to a packet that leaves a router. */
enum role {
	DONE, /* nothing left to go */
	WAITS, /* + minus: something left, another dimension goes first */
	LAST = 3, /* + minus: the packet takes it, and the hop is its last */
	MORE = 5, /* + minus: it takes it, and more hops follow */
	N_ROLES = 7,
};

/* A packet that leaves by port with hints, where the dimensions of moved may
 * have been gone along before; what it asks for if that hop is its
 * dimension's last, and if not. */
struct departure {
	uint16_t hints, moved;
	uint16_t if_last, if_more;
	port_id port;
};

struct work {
	const struct hint *h;
	struct hint_deps *d;
	bool is_coupled; /* the source's parity matters */
	uint64_t *signature[TORUS_MAX_DIMS]; /* distinct ones */
	uint32_t n_signatures[TORUS_MAX_DIMS];
	struct departure *departures;
	uint32_t n_departures;
};

/* --- signatures --- */

static uint32_t place(uint32_t parity, bool moved, uint32_t role)
{
	return 2 * (role + N_ROLES * (moved + 2 * parity));
}

/* Something that did not move plays the part of one that may have moved. */
static void mark(uint64_t *signature, uint32_t parity, bool moved,
	uint32_t role, uint32_t odd)
{
	*signature |= UINT64_C(1) << (place(parity, true, role) + odd);
	if (!moved)
		*signature |= UINT64_C(1) << (place(parity, false, role) + odd);
}

/* All that one way along a dimension of d makes possible at its routers. */
static void mark_way(const struct work *w, uint64_t *signatures, uint32_t d,
	uint32_t parity, uint32_t from, uint32_t hops, uint32_t minus)
{
	uint32_t odd = w->is_coupled ? from & 1 : 0;

	for (uint32_t k = 0; k <= hops; k++) {
		uint64_t *s =
			&signatures[(minus ? from + d - k : from + k) % d];

		if (k == hops) {
			mark(s, parity, k > 0, DONE, odd);
			continue;
		}
		mark(s, parity, k > 0, WAITS + minus, odd);
		mark(s, parity, k > 0, (hops - k == 1 ? LAST : MORE) + minus,
			odd);
	}
}

/* By the routing's own table of steps. */
static uint64_t *make_signatures(const struct work *w, uint32_t dim)
{
	uint32_t d = w->h->torus->dim[dim], parity, x;
	uint64_t *s = mem_alloc(d, sizeof(*s));

	for (parity = 0; parity < 2; parity++)
		for (x = 0; x < d; x++)
			for (uint32_t y = 0; y < d; y++) {
				const union hint_step *t =
					&w->h->step[parity][dim]
						   [(int32_t)y - (int32_t)x];

				mark_way(w, s, d, w->is_coupled ? parity : 0, x,
					t->packet.left[dim],
					t->packet.hints >> 2 * dim >> 1 & 1);
			}
	return s;
}

/* Numbers the distinct signatures of a dimension. */
static void number_signatures(struct work *w, uint32_t dim)
{
	uint32_t d = w->h->torus->dim[dim], n = 0, k;
	uint64_t *s = make_signatures(w, dim);

	w->d->part[dim] = mem_alloc(d, sizeof(*w->d->part[dim]));
	for (uint32_t i = 0; i < d; i++) {
		uint64_t own = s[i];

		for (k = 0; k < n && s[k] != own; k++)
			;
		s[k] = own; /* k <= i: it is not needed any more */
		w->d->part[dim][i] = k;
		n += k == n;
	}
	w->signature[dim] = s;
	w->n_signatures[dim] = n;
}

/* Where ties go by parity and there are ties. */
static bool is_coupled(const struct hint *h)
{
	for (uint32_t i = 0; i < h->torus->n_dims; i++)
		if (h->ties == GRID_TIES_PARITY && torus_is_ring(h->torus, i) &&
			h->torus->dim[i] % 2 == 0)
			return true;
	return false;
}

/* --- departures --- */

bool hint_deps_is_set(const struct hint *h, uint32_t hints)
{
	for (uint32_t i = 0; i < h->torus->n_dims; i++) {
		uint32_t bits = hints >> (2 * i) & 3;

		if (bits == 3 || (bits && h->torus->dim[i] == 1))
			return false;
	}
	return hints != 0;
}

static uint32_t dim_bits(port_id p)
{
	return 3u << (p & ~1u);
}

/*
 * Dimensions that a packet with hints left to go may have moved in: those in
 * which it could move now, and finished ones in which it could have moved
 * while hints were what else was left.  All of them at once: by zones in the
 * order of zones, then, on the escape channel, the others in theirs; and so
 * each subset.
 */
static uint16_t movable(
	const struct hint *h, uint32_t hints, int zone, bool escapes)
{
	uint32_t dims = 0;

	for (uint32_t i = 0; i < h->torus->n_dims; i++) {
		for (uint32_t minus = 0; minus < 2; minus++) {
			port_id p = 2 * i + minus;
			uint32_t all = hints | 1u << p;

			if (!hint_deps_is_set(h, all))
				continue;
			if ((zone >= 0 && h->allowed[zone][all] >> p & 1) ||
				(escapes && h->first[all] == p))
				dims |= 1u << i;
		}
	}
	return (uint16_t)dims;
}

/* One before which less can have moved than in another adds nothing. */
static void add_departure(struct work *w, const struct departure *c)
{
	for (uint32_t i = w->n_departures; i--;) {
		struct departure *o = &w->departures[i];

		if (o->hints != c->hints)
			break;
		if (o->port != c->port || o->if_last != c->if_last ||
			o->if_more != c->if_more)
			continue;
		if ((o->moved & c->moved) == c->moved)
			return;
		if ((o->moved & c->moved) == o->moved) {
			o->moved = c->moved;
			return;
		}
	}
	w->departures[w->n_departures++] = *c;
}

static uint16_t first_mask(const struct hint *h, uint32_t hints)
{
	uint32_t p = h->first[hints];

	return (uint16_t)(p == PACKET_NO_PORT ? 0 : 1u << p);
}

/* On a ring channel; zone is -1 for packets that were never dynamic. */
static void add_ordered(struct work *w, uint32_t hints, int zone)
{
	port_id p = w->h->first[hints];
	struct departure c = {
		.hints = (uint16_t)hints,
		.moved = movable(w->h, hints, zone, true),
		.port = p,
	};

	if (p == PACKET_NO_PORT)
		return;
	c.if_last = first_mask(w->h, hints & ~dim_bits(p));
	c.if_more = first_mask(w->h, hints);
	add_departure(w, &c);
}

static void add_dynamic(struct work *w, uint32_t hints, int zone)
{
	const uint16_t *allowed = w->h->allowed[zone];

	for (uint32_t m = allowed[hints]; m; m &= m - 1) {
		port_id p = (port_id)__builtin_ctz(m);
		struct departure c = {
			.hints = (uint16_t)hints,
			.moved = movable(
				w->h, hints, zone, w->h->route.has_escape),
			.if_last = allowed[hints & ~dim_bits(p)],
			.if_more = allowed[hints],
			.port = p,
		};

		add_departure(w, &c);
	}
}

static void list_departures(struct work *w, enum hint_deps_of of)
{
	uint32_t n_hints = 1u << (2 * w->h->torus->n_dims), hints;

	w->departures =
		mem_alloc((size_t)n_hints * HINT_ZONE_SETS * TORUS_MAX_DIMS,
			sizeof(*w->departures));
	for (hints = 1; hints < n_hints; hints++) {
		if (!hint_deps_is_set(w->h, hints))
			continue;
		if (of != HINT_DEPS_DYNAMIC)
			add_ordered(w, hints, -1);
		for (int zone = 0; zone < HINT_ZONE_SETS; zone++) {
			if (of == HINT_DEPS_DYNAMIC)
				add_dynamic(w, hints, zone);
			else if (of == HINT_DEPS_ESCAPE &&
				 w->h->route.has_escape)
				add_ordered(w, hints, zone);
		}
	}
}

/* --- classes --- */

/* The parities that two sums can make together. */
static uint32_t add_parities(uint32_t a, uint32_t b)
{
	uint32_t swapped = (b << 1 | b >> 1) & 3;

	return (a & 1 ? b : 0) | (a & 2 ? swapped : 0);
}

/* The role that a dimension plays in a case; taken, if it is the port's. */
static uint32_t role_of(const struct departure *c, uint32_t dim, uint32_t taken)
{
	uint32_t bits = c->hints >> (2 * dim) & 3;

	if (!bits)
		return DONE;
	return (c->port / 2 == dim ? taken : WAITS) + (bits == 2);
}

/* Whether a packet of this case can be at a router of this class. */
static bool can_be(const struct work *w, const struct departure *c,
	const uint64_t *signature, uint32_t parity, uint32_t taken)
{
	uint32_t sum = 1;

	for (uint32_t i = 0; i < w->h->torus->n_dims; i++)
		sum = add_parities(
			sum, signature[i] >> place(parity, c->moved >> i & 1,
						     role_of(c, i, taken)) &
				     3);
	return sum >> parity & 1;
}

static void fill_class(
	struct work *w, uint32_t class, const uint64_t *signature)
{
	struct hint_deps *d = w->d;
	uint16_t *after = &d->after[(size_t) class * d->n_ports];

	for (uint32_t parity = 0; parity < (w->is_coupled ? 2 : 1); parity++) {
		for (uint32_t i = 0; i < w->n_departures; i++) {
			const struct departure *c = &w->departures[i];
			bool last = can_be(w, c, signature, parity, LAST);
			bool more = can_be(w, c, signature, parity, MORE);

			if (last)
				after[c->port] |= c->if_last;
			if (more)
				after[c->port] |= c->if_more;
			if (last || more)
				d->used[class] |= (uint16_t)(1u << c->port);
		}
	}
}

/* Every combination of the dimensions' signatures. */
static void fill_classes(struct work *w)
{
	uint64_t signature[TORUS_MAX_DIMS];
	uint32_t rest;

	for (uint32_t class = 0; class < w->d->n_classes; class ++) {
		rest = class;
		for (uint32_t i = 0; i < w->h->torus->n_dims; i++) {
			signature[i] =
				w->signature[i][rest % w->n_signatures[i]];
			rest /= w->n_signatures[i];
		}
		fill_class(w, class, signature);
	}
}

void hint_deps_init(
	struct hint_deps *d, const struct hint *h, enum hint_deps_of of)
{
	struct work w = { .h = h, .d = d, .is_coupled = is_coupled(h) };

	memset(d, 0, sizeof(*d));
	d->hint = h;
	d->n_ports = 2 * h->torus->n_dims;
	d->n_classes = 1;
	for (uint32_t i = 0; i < h->torus->n_dims; i++) {
		number_signatures(&w, i);
		for (uint32_t x = 0; x < h->torus->dim[i]; x++)
			d->part[i][x] *= d->n_classes;
		d->n_classes *= w.n_signatures[i];
	}
	d->after =
		mem_alloc((size_t)d->n_classes * d->n_ports, sizeof(*d->after));
	d->used = mem_alloc(d->n_classes, sizeof(*d->used));
	list_departures(&w, of);
	fill_classes(&w);
	mem_free(w.departures);
	for (uint32_t i = 0; i < h->torus->n_dims; i++)
		mem_free(w.signature[i]);
}

void hint_deps_fini(struct hint_deps *d)
{
	for (uint32_t i = 0; i < TORUS_MAX_DIMS; i++)
		mem_free(d->part[i]);
	mem_free(d->after);
	mem_free(d->used);
}
