/*
 * Which way a head takes: a link of its direction, or a tile towards the nodes.
 * Private to chip.c, of which this is a part.
 */
#ifndef ROUTER_TILED_PICK_H
#define ROUTER_TILED_PICK_H

#include "base/lfsr.h"
#include "router/tiled/inner.h"

#define BIT(i) (UINT64_C(1) << (i))

/* Where a packet wants to go: packet.ask is its direction and the links there
 * that it may take, or a node. */
static inline uint32_t group_of(const struct packet *p)
{
	return p->ask >> 8;
}

/* A pseudo-random start for what is looked at in turn. */
static inline uint32_t draw(struct tiled_chip *s)
{
	return s->lfsr = lfsr_step(s->lfsr);
}

/* The first bit of a mask, from some place on and round. */
static inline uint32_t choose(struct tiled_chip *s, uint64_t m)
{
	uint32_t from = draw(s) & 63;
	uint64_t high = m >> from << from;

	return (uint32_t)__builtin_ctzll(high ? high : m);
}

static inline bool is_single(uint32_t links)
{
	return !(links & (links - 1));
}

/* Of the links that a head may take: those with the most tokens, a bit each.
 * *room is when a row buffer has room, of those that have tokens alone. */
static uint32_t most_tokens(const struct tiled *d, const struct tiled_chip *s,
	uint32_t in, uint32_t channel, const struct packet *p, sim_time t,
	sim_time *room)
{
	const struct tiled_bus *b = &s->bus[d->tile_of[in]];
	const uint8_t *port_at = d->port_at[group_of(p)];
	const int16_t *tokens = s->tokens[channel];
	uint32_t links = p->ask & 0xff, best = 0;
	int16_t most = 0;

	*room = SIM_NEVER;
	for (; links; links &= links - 1) {
		uint32_t link = (uint32_t)__builtin_ctz(links);
		port_id port = port_at[link];
		sim_time at;

		if (tokens[port] < most ||
			(tokens[port] < d->need &&
				tokens[port] < tiled_needed(d, s->id,
						       d->source_of[in], port)))
			continue;
		at = inner_room(d, b, d->column_of[d->tile_of[port]]);
		if (at > t) {
			*room = at < *room ? at : *room;
			continue;
		}
		best = tokens[port] > most ? 0 : best;
		best |= 1u << link;
		most = tokens[port];
	}
	return best;
}

/* Of these the one that is free first; TOPO_NO_PORT where there is none. */
static port_id pick_link(const struct tiled *d, struct tiled_chip *s,
	uint32_t in, uint32_t channel, const struct packet *p, sim_time t,
	sim_time *room)
{
	const struct tiled_bus *b = &s->bus[d->tile_of[in]];
	uint32_t best = most_tokens(d, s, in, channel, p, t, room), turn;
	uint32_t row = d->row_of[d->tile_of[in]], links;
	port_id pick = TOPO_NO_PORT;
	sim_time first = SIM_NEVER;

	if (!best)
		return TOPO_NO_PORT;
	if (is_single(best))
		return d->port_at[group_of(p)][__builtin_ctz(best)];
	/* in turn, from anywhere on */
	turn = draw(s) % TILED_LINKS;
	links = (best | best << TILED_LINKS) >> turn & 0xff;
	for (; links; links &= links - 1) {
		uint32_t link =
			((uint32_t)__builtin_ctz(links) + turn) % TILED_LINKS;
		port_id port = d->port_at[group_of(p)][link];
		uint32_t tile = d->tile_of[port];
		sim_time at = inner_start(
			d, b, &s->output[tile], row, d->column_of[tile], t);

		if (at < first) {
			first = at;
			pick = port;
		}
	}
	return pick;
}

/* Of a packet that keeps its order: the same for all that keep it with it. */
static inline uint32_t hash_of(const struct packet *p)
{
	uint32_t x = p->src * 0x9e3779b1u ^ p->dst * 0x85ebca77u ^
		     p->hints * 0xc2b2ae3du;

	return (x ^ x >> 15) * 0x27d4eb2fu >> 16;
}

/* The tile towards the nodes that is free first; of packets that keep their
 * order always the same one. */
static uint32_t pick_tile(const struct tiled *d, const struct tiled_chip *s,
	uint32_t in, const struct packet *p, sim_time t, sim_time *room)
{
	const struct tiled_bus *b = &s->bus[d->tile_of[in]];
	uint32_t row = d->row_of[d->tile_of[in]], best = TILED_NO_TILE, k;
	uint32_t n = (uint32_t)d->how.processors;
	sim_time first = SIM_NEVER;

	*room = SIM_NEVER;
	for (k = 0; k < n; k++) {
		uint32_t tile = d->processor[k], column = d->column_of[tile];
		sim_time at = inner_room(d, b, column);

		if (p->kind != PACKET_DYNAMIC && k != hash_of(p) % n)
			continue;
		if (at > t) {
			*room = at < *room ? at : *room;
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
