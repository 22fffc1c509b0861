#include "net/proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net/rings.h"
#include "route/cdg.h"
#include "route/hint_deps.h"

/* Of hint bits' channels: the first, and those on rings. */
enum { CHANNEL_DYNAMIC, CHANNEL_DETERMINISTIC, RING_CHANNELS = 3 };

/*
 * One ring channel, the deterministic one, stands for all three.  No packet
 * changes from one to another.  On each go packets in the order of dimensions
 * from their source on, and on this one escaped packets too; so its graph has
 * all edges of the other two, and what cannot lock here cannot lock there.
 */
struct work {
	const struct topo *t;
	const struct hint *h;
	uint32_t n_ports; /* of the torus */
	struct hint_deps deps; /* on that channel */
	struct rings rings;
	bool bubble, has_escape;
	int64_t packets; /* that a channel holds */
	struct proof *proof;
};

/* --- rings --- */

static router_id far_end(const struct topo *t, router_id r, port_id p)
{
	return t->ops->peer(t, r, p).router;
}

static port_mask hint_after(const void *arg, uint32_t link)
{
	const struct work *w = arg;

	return hint_deps_after(
		&w->deps, link / w->t->n_ports, link % w->t->n_ports);
}

/* Follows the wires of the whole machine.  A closed ring begins at r. */
static void find_rings(struct work *w)
{
	w->rings = (struct rings){
		.topo = w->t,
		.after = hint_after,
		.arg = w,
	};
	rings_init(&w->rings);
	for (port_id p = 0; p < w->n_ports; p++)
		for (router_id r = 0; r < w->t->n_nodes; r++) {
			struct topo_end before = rings_before(w->t, r, p);

			rings_add(&w->rings, before.router, before.port);
		}
	w->proof->n_rings = w->rings.n;
	w->proof->n_closed = w->rings.n_closed;
}

static port_id port_of(const struct work *w, uint32_t ring)
{
	return w->rings.link[w->rings.ring[ring].first] % w->t->n_ports;
}

void proof_tell(struct proof_step *s, router_id r, port_id p, uint32_t channel)
{
	s->cycle = mem_more(s->cycle, s->n_cycle, sizeof(*s->cycle));
	s->cycle[s->n_cycle++] = (struct proof_channel){
		.router = r,
		.port = p,
		.channel = channel,
	};
}

/* From the channel of a router to that of another one of its ring. */
static void tell_along(const struct work *w, struct proof_step *s,
	router_id from, router_id to, port_id p)
{
	proof_tell(s, from, p, CHANNEL_DETERMINISTIC);
	while (from != to) {
		from = far_end(w->t, from, p);
		if (from == NO_ROUTER) /* a line that was left before */
			from = to;
		proof_tell(s, from, p, CHANNEL_DETERMINISTIC);
	}
}

/* --- a: rings keep moving --- */

/* Whether routes wait for one another all round it. */
static bool is_locking(const struct work *w, const struct ring *ring)
{
	const uint32_t *link = w->rings.link + ring->first;
	port_id p = *link % w->t->n_ports;

	for (uint32_t i = 0; i < ring->n && ring->is_closed; i++)
		if (!(hint_after(w, link[i]) >> p & 1))
			return false;
	return ring->is_closed;
}

static void tell_ring(struct work *w, struct proof_step *s, uint32_t n_locking,
	const struct ring *ring)
{
	snprintf(s->why, sizeof(s->why),
		"routing.bubble is off: packets may fill all channels of a "
		"ring, each waiting for the next; %u of %u rings can deadlock "
		"in this way",
		n_locking, w->rings.n);
	rings_tell(&w->rings, s, ring->first, ring->n, CHANNEL_DETERMINISTIC);
}

static void check_rings(struct work *w, struct proof_step *s)
{
	uint32_t n_locking = 0, example = 0;

	s->what = "each ring of a ring channel keeps moving";
	for (uint32_t i = 0; i < w->rings.n && !w->bubble; i++)
		if (is_locking(w, &w->rings.ring[i]) && !n_locking++)
			example = i;
	s->holds = w->bubble ? w->packets >= 2 : !n_locking;
	if (n_locking)
		tell_ring(w, s, n_locking, &w->rings.ring[example]);
	else if (w->bubble && s->holds)
		snprintf(s->why, sizeof(s->why),
			"entering a ring needs room for 2 full packets, going "
			"straight on room for 1, and a buffer holds %" PRId64
			": %u rings and lines in each of %d channels",
			w->packets, w->rings.n, RING_CHANNELS);
	else if (w->bubble)
		snprintf(s->why, sizeof(s->why),
			"entering a ring needs room for 2 full packets, and a "
			"buffer holds %" PRId64 ": no packet could ever enter",
			w->packets);
	else
		snprintf(s->why, sizeof(s->why),
			"routing.bubble is off, but no minimal route goes all "
			"the way round any of the %u rings and lines",
			w->rings.n);
}

/* --- b: from ring to ring --- */

/* The router by whose channel packets turn from one ring into another. */
static router_id turning(const struct work *w, uint32_t from, uint32_t to)
{
	return rings_turning(&w->rings, from, to) / w->t->n_ports;
}

/* Each ring from where the one before turns into it to where it is left. */
static void tell_turns(
	const struct work *w, struct proof_step *s, const struct cdg_cycle *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t before = c->vertex[i ? i - 1 : c->n - 1];
		uint32_t v = c->vertex[i], after = c->vertex[(i + 1) % c->n];
		router_id in = far_end(
			w->t, turning(w, before, v), port_of(w, before));

		tell_along(w, s, in, turning(w, v, after), port_of(w, v));
	}
}

static void check_turns(struct work *w, struct proof_step *s)
{
	struct cdg g = {
		.n = w->rings.n, .arg = &w->rings, .next = rings_next
	};
	struct cdg_cycle c = cdg_find_cycle(&g);

	s->what = "no path leads from a ring back into it";
	s->holds = !c.n;
	w->proof->n_turns = c.n_edges;
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"%u rings and lines, %" PRIu64
			" turns from one into another, no cycle",
			w->rings.n, c.n_edges);
	else
		snprintf(s->why, sizeof(s->why),
			"packets that turn form a cycle of %u rings", c.n);
	tell_turns(w, s, &c);
	mem_free(c.vertex);
}

/* --- c: escapes --- */

static uint32_t next_dynamic(const void *arg, uint32_t v, uint32_t *at)
{
	const struct work *w = arg;
	router_id r = v / w->n_ports, far;
	port_id p = v % w->n_ports;
	uint32_t m = hint_deps_after(&w->deps, r, p) >> *at << *at;

	if (!m)
		return CDG_NONE;
	far = far_end(w->t, r, p);
	p = (port_id)__builtin_ctz(m);
	*at = p + 1;
	return far * w->n_ports + p;
}

/* Without escapes: do the dynamic channels need any? */
static void check_dynamic(const struct work *w, struct proof_step *s)
{
	struct work dynamic = *w;
	struct cdg g = {
		.n = w->t->n_nodes * w->n_ports,
		.arg = &dynamic,
		.next = next_dynamic,
	};
	struct cdg_cycle c;

	hint_deps_init(&dynamic.deps, w->h, HINT_DEPS_DYNAMIC);
	c = cdg_find_cycle(&g);
	hint_deps_fini(&dynamic.deps);
	s->holds = !c.n;
	snprintf(s->why, sizeof(s->why),
		c.n ? "routing.escape is off: dynamic packets wait only for "
		      "dynamic channels, which wait for each other"
		    : "routing.escape is off, but the dynamic channels form no "
		      "cycle");
	for (uint32_t i = 0; i < c.n; i++)
		proof_tell(s, c.vertex[i] / w->n_ports,
			c.vertex[i] % w->n_ports, CHANNEL_DYNAMIC);
	mem_free(c.vertex);
}

/* Says what is wrong with the tables for a set of hints, if anything is. */
static bool is_set_wrong(
	const struct work *w, uint32_t hints, struct proof_step *s)
{
	const struct hint *h = w->h;

	if (h->first[hints] == PACKET_NO_PORT ||
		!(hints >> h->first[hints] & 1)) {
		snprintf(s->why, sizeof(s->why),
			"hint bits %#x have no escape among them", hints);
		return true;
	}
	for (uint32_t zone = 0; zone < HINT_ZONE_SETS; zone++) {
		uint32_t allowed = h->allowed[zone][hints];

		if (allowed && !(allowed & ~hints))
			continue;
		snprintf(s->why, sizeof(s->why),
			"zones.%u: hint bits %#x allow %s", zone, hints,
			allowed ? "ports that are not among them" : "no port");
		return true;
	}
	return false;
}

static void check_escapes(struct work *w, struct proof_step *s)
{
	uint32_t n_hints = 1u << w->n_ports, n = 0;

	s->what = "a waiting dynamic packet can always request its escape";
	s->holds = true;
	for (uint32_t hints = 1; hints < n_hints && s->holds; hints++) {
		if (!hint_deps_is_set(w->h, hints))
			continue;
		s->holds = !is_set_wrong(w, hints, s);
		n++;
	}
	w->proof->n_hint_sets = n;
	if (!s->holds)
		return;
	if (!w->has_escape)
		check_dynamic(w, s);
	else
		snprintf(s->why, sizeof(s->why),
			"%u sets of hint bits, each with its escape among them "
			"and a port in each of %d zone sets",
			n, HINT_ZONE_SETS);
}

/* --- d: on a ring --- */

/* A way that packets take and that has no wire. */
static bool is_wire_missing(const struct work *w, struct proof_step *s)
{
	for (router_id r = 0; r < w->t->n_nodes; r++) {
		uint32_t m = hint_deps_used(&w->deps, r);

		for (; m; m &= m - 1) {
			port_id p = (port_id)__builtin_ctz(m);

			if (far_end(w->t, r, p) != NO_ROUTER)
				continue;
			snprintf(s->why, sizeof(s->why),
				"packets leave node %u by port %u, which has "
				"no wire",
				r, p);
			return true;
		}
	}
	return false;
}

/* Hint bits with which a packet on a ring has no next channel, or 0. */
static uint32_t find_stranded(const struct work *w)
{
	uint32_t n_hints = 1u << w->n_ports;

	for (uint32_t hints = 1; hints < n_hints; hints++) {
		port_id p = w->h->first[hints];
		uint32_t rest;

		if (!hint_deps_is_set(w->h, hints) || p == PACKET_NO_PORT)
			continue;
		rest = hints & ~(3u << (p & ~1u));
		if (rest && (w->h->first[rest] == PACKET_NO_PORT ||
				    !(rest >> w->h->first[rest] & 1)))
			return rest;
	}
	return 0;
}

static void check_progress(struct work *w, struct proof_step *s)
{
	uint32_t stranded = find_stranded(w);

	s->what = "a packet on a ring never waits for dynamic channels alone";
	s->holds = !stranded && !is_wire_missing(w, s);
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"after each hop it requests a ring channel that has a "
			"wire, or has arrived");
	else if (stranded)
		snprintf(s->why, sizeof(s->why),
			"with hint bits %#x left it has no ring channel to "
			"request",
			stranded);
}

/* --- e: IO links --- */

/*
 * Links to and from IO nodes are on no ring.  Where a packet comes from an IO
 * node its first hop is that link, and where one is shipped its last: so the
 * one kind has nothing before it, and the other nothing behind it, whatever is
 * between them.  Says what is wrong with the tables for a set of hints.
 */
static bool is_io_wrong(
	const struct work *w, uint32_t hints, struct proof_step *s)
{
	const struct hint *h = w->h;
	uint32_t to = hints & h->to_io, from = hints & h->from_io;
	uint32_t torus = hints & ((1u << w->n_ports) - 1);
	uint32_t first = h->first[hints];
	uint32_t rest =
		first < ROUTE_TABLE_PORTS ? hints & h->tables.rest[first] : 1;

	if (from && first == (uint32_t)__builtin_ctz(from) - 1 && rest == torus)
		return false;
	if (!from && torus && first < w->n_ports && rest & to)
		return false;
	if (!from && !torus && first == w->n_ports && !rest)
		return false;
	snprintf(s->why, sizeof(s->why),
		"hint bits %#x use an IO link in the middle of a route", hints);
	return true;
}

static void check_io(struct work *w, struct proof_step *s)
{
	const struct hint *h = w->h;
	uint32_t n = 0;

	s->what = "no packet waits in front of an IO link for another";
	s->holds = true;
	for (uint32_t hints = 1u << w->n_ports; hints >> h->n_bits == 0;
		hints++) {
		uint32_t io = hints >> w->n_ports;
		uint32_t torus = hints & ((1u << w->n_ports) - 1);

		if (io & (io - 1) || (torus && !hint_deps_is_set(h, torus)))
			continue;
		n++;
		if (s->holds)
			s->holds = !is_io_wrong(w, hints, s);
	}
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"in all %u sets of hint bits, an IO link is the last "
			"link to an IO node or the first link from one",
			n);
}

/* --- all --- */

void proof_make(struct proof *p, const struct topo *t, const struct route *r,
	const struct route_written *x, int64_t packets)
{
	static void (*const check[])(struct work *, struct proof_step *) = {
		check_rings,
		check_turns,
		check_escapes,
		check_progress,
		check_io,
	};
	struct work w = {
		.t = t,
		.bubble = r->bubble,
		.has_escape = r->has_escape,
		.packets = packets,
		.proof = p,
	};

	memset(p, 0, sizeof(*p));
	w.h = hint_find(r);
	if (!w.h) {
		proof_walks(p, t, r, x, packets);
		return;
	}
	w.n_ports = 2 * w.h->torus->n_dims;
	hint_deps_init(&w.deps, w.h, HINT_DEPS_ESCAPE);
	find_rings(&w);
	p->is_proved = true;
	p->n_steps = sizeof(check) / sizeof(check[0]) - !t->n_io;
	for (uint32_t i = 0; i < p->n_steps; i++) {
		p->step[i].letter = (char)('a' + i);
		check[i](&w, &p->step[i]);
		p->is_proved &= p->step[i].holds;
	}
	hint_deps_fini(&w.deps);
	rings_fini(&w.rings);
}

void proof_free(struct proof *p)
{
	for (uint32_t i = 0; i < PROOF_STEPS; i++)
		mem_free(p->step[i].cycle);
	mem_free(p->ring.cycle);
}

void proof_name(const struct topo *t, const struct route *r,
	const struct proof_channel *c, char *text, size_t size)
{
	router_id to = far_end(t, c->router, c->port);
	char near[96], far[96] = "nothing", port[16];

	topo_name_site(t, c->router, near, sizeof(near));
	t->ops->name_port(t, c->router, c->port, port, sizeof(port));
	if (to != NO_ROUTER)
		topo_name_site(t, to, far, sizeof(far));
	snprintf(text, size, "%s by %s to %s, channel %s", near, port, far,
		c->name ? c->name : r->ops->channels[c->channel]);
}
