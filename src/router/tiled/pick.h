/*
 * Which way a head takes: a link of its direction, or a tile towards the nodes.
 * Private to chip.c, of which this is a part.
 */
#ifndef ROUTER_TILED_PICK_H
#define ROUTER_TILED_PICK_H

#include "base/lfsr.h"
#include "router/tiled/inner.h"

#define BIT(i) (UINT64_C(1) << (i))

static inline uint32_t gate_of(const struct packet *p)
{
	return p->ask >> 8;
}

static inline uint32_t links_of(const struct packet *p)
{
	return p->ask & 0xff;
}

/* A pseudo-random start for what is looked at in turn. */
static inline uint32_t draw(struct tiled_chip *s)
{
	return s->lfsr = lfsr_step(s->lfsr);
}

/* The input of a mask whose turn it is; the next turn is of those behind it. */
static inline uint32_t choose(struct tiled_chip *s, uint64_t m)
{
	uint64_t high = m >> s->turn << s->turn;
	uint32_t in = (uint32_t)__builtin_ctzll(high ? high : m);

	s->turn = (in + 1) % TILED_INPUTS;
	return in;
}

static inline bool is_single(uint32_t links)
{
	return !(links & (links - 1));
}

/* Takes in the tokens that have come by t. */
static inline void collect(struct tiled_gate *g, sim_time t)
{
	while (tiled_has_come(&g->returns, t))
		g->tokens[tiled_take(&g->returns) & 0xff]++;
}

/* A look at the links of a gate. */
struct look {
	const struct tiled_gate *gate;
	const struct tiled_bus *bus;
	const uint8_t *port_at;
	uint32_t entered; /* see tiled_entered() */
	uint32_t from; /* the link to begin with */
};

static inline int16_t needed(
	const struct tiled *d, const struct look *l, uint32_t link)
{
	return l->entered >> link & 1 ? d->need : 1;
}

/* Of some links the one with the most tokens, the first of several;
 * TILED_LINKS: none has what it takes. */
static inline uint32_t most_tokens(
	const struct tiled *d, const struct look *l, uint32_t links)
{
	uint32_t m = (links | links << TILED_LINKS) >> l->from & 0xff;
	uint32_t best = TILED_LINKS;
	int16_t most = 0;

	for (; m; m &= m - 1) {
		uint32_t link =
			((uint32_t)__builtin_ctz(m) + l->from) % TILED_LINKS;
		int16_t n = l->gate->tokens[link];

		if (n <= most || n < needed(d, l, link))
			continue;
		best = link;
		most = n;
		if (n == d->capacity)
			break;
	}
	return best;
}

static inline uint32_t column_of(const struct tiled *d, port_id port)
{
	return d->column_of[d->tile_of[port]];
}

/* The same of those whose row buffers have room; if there is none, *room is
 * when one of them has. */
static inline uint32_t most_with_room(const struct tiled *d,
	const struct look *l, uint32_t links, sim_time t, sim_time *room)
{
	uint32_t link;

	while ((link = most_tokens(d, l, links)) != TILED_LINKS) {
		sim_time at =
			inner_room(d, l->bus, column_of(d, l->port_at[link]));

		if (at <= t)
			break;
		*room = inner_min(*room, at);
		links &= ~(1u << link);
	}
	return link;
}

/* At the crossing tile a packet may change to another link of that column: one
 * that is free sooner. */
static inline port_id second_choice(const struct tiled *d,
	const struct tiled_chip *s, const struct look *l, uint32_t links,
	port_id port, sim_time t)
{
	sim_time first = s->output[d->tile_of[port]].free_at;

	links &= d->beside[port];
	for (; links && first > t; links &= links - 1) {
		uint32_t link = (uint32_t)__builtin_ctz(links);
		port_id other = l->port_at[link];
		sim_time at = s->output[d->tile_of[other]].free_at;

		if (at < first && l->gate->tokens[link] >= needed(d, l, link)) {
			first = at;
			port = other;
		}
	}
	return port;
}

/* The link that a head takes, or TOPO_NO_PORT: then *room is when a row buffer
 * has room, or SIM_NEVER where it lacks tokens. */
static inline port_id pick_link(const struct tiled *d, struct tiled_chip *s,
	uint32_t in, struct tiled_gate *g, const struct packet *p, sim_time t,
	sim_time *room)
{
	uint32_t links = links_of(p), link;
	struct look l = {
		.gate = g,
		.bus = &s->bus[d->tile_of[in]],
		.port_at = d->port_at[gate_of(p)],
		.entered = tiled_entered(d, s, d->source_of[in], gate_of(p)),
	};

	collect(g, t);
	if (!is_single(links))
		l.from = draw(s) % TILED_LINKS;
	link = most_with_room(d, &l, links, t, room);
	if (link == TILED_LINKS)
		return TOPO_NO_PORT;
	return is_single(links)
		       ? l.port_at[link]
		       : second_choice(d, s, &l, links, l.port_at[link], t);
}

/* Whether a head could have a link, were its bus free. */
static inline bool has_tokens(const struct tiled *d, const struct tiled_chip *s,
	uint32_t in, struct tiled_gate *g, const struct packet *p, sim_time t)
{
	uint32_t links = links_of(p);
	const struct look l = { .entered = tiled_entered(
					d, s, d->source_of[in], gate_of(p)) };

	collect(g, t);
	for (; links; links &= links - 1) {
		uint32_t link = (uint32_t)__builtin_ctz(links);

		if (g->tokens[link] >= needed(d, &l, link))
			return true;
	}
	return false;
}

/* Of a packet that keeps its order: the same for all that keep it with it. */
static inline uint32_t hash_of(const struct packet *p)
{
	uint32_t x = p->src * 0x9e3779b1u ^ p->dst * 0x85ebca77u ^
		     p->hints * 0xc2b2ae3du;

	return (x ^ x >> 15) * 0x27d4eb2fu >> 16;
}

/* The tile towards the nodes that is free first, from some place on; of packets
 * that keep their order always the same one. */
static inline uint32_t pick_tile(const struct tiled *d, struct tiled_chip *s,
	uint32_t in, const struct packet *p, sim_time t, sim_time *room)
{
	const struct tiled_bus *b = &s->bus[d->tile_of[in]];
	uint32_t row = d->row_of[d->tile_of[in]], best = TILED_NO_TILE, k;
	uint32_t n = (uint32_t)d->how.processors;
	bool is_hashed = p->kind != PACKET_DYNAMIC;
	uint32_t from = is_hashed ? hash_of(p) : draw(s);
	sim_time first = SIM_NEVER;

	*room = SIM_NEVER;
	for (k = 0; k < (is_hashed ? 1 : n) && first > t; k++) {
		uint32_t tile = d->processor[(from + k) % n];
		uint32_t column = d->column_of[tile];
		sim_time at = inner_room(d, b, column);

		if (at > t) {
			*room = inner_min(*room, at);
			continue;
		}
		at = inner_start(d, b, &s->output[tile], row, column, t);
		if (at < first) {
			first = at;
			best = tile;
		}
	}
	return best;
}

#endif
