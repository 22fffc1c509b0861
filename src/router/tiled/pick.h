/*
 * Which link or which tile towards the nodes a head takes, and which heads get
 * the tokens of a link.  Private to chip.c.
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

/* A pseudo-random number. */
static inline uint32_t draw(struct tiled_chip *s)
{
	return s->lfsr = lfsr_step(s->lfsr);
}

/* The input of a mask whose turn it is. */
static inline uint32_t first_from(uint32_t turn, uint64_t m)
{
	uint64_t high = m >> turn << turn;

	return (uint32_t)__builtin_ctzll(high ? high : m);
}

/* The same; the next turn starts after it. */
static inline uint32_t choose(uint8_t *turn, uint64_t m)
{
	uint32_t in = first_from(*turn, m);

	*turn = (in + 1) % TILED_INPUTS;
	return in;
}

static inline bool is_single(uint32_t links)
{
	return !(links & (links - 1));
}

/* Collects the tokens that have returned by t. */
static inline void collect(struct tiled_gate *g, sim_time t)
{
	while (g->returns.next <= t)
		tiled_add(g, tiled_take(&g->returns) & 0xff);
}

/* For links that share one bubble: a head that enters their ring leaves room
 * for a packet on one of them. */
static inline uint32_t freely(const struct tiled *d, const struct tiled_chip *s,
	uint32_t in, uint32_t gate, uint32_t one, uint32_t two)
{
	bool has_room = two & 0xff || !is_single(one & 0xff);

	return has_room || d->ahead_gate[in] == gate ? one
						     : one & ~s->rings[gate];
}

/* The links of a head that have the tokens it needs: two if it enters a ring.
 */
static inline uint32_t eligible(const struct tiled *d,
	const struct tiled_chip *s, uint32_t in, const struct tiled_gate *g,
	const struct packet *p)
{
	uint32_t two = g->levels >> 8 | g->levels >> 16 | g->levels >> 24;
	uint32_t one = g->levels & ~(uint32_t)g->kept;

	if (!TILED_FULL || d->need > 1)
		one &= ~tiled_entered(d, s, in, gate_of(p));
	else if (d->is_free)
		one = freely(d, s, in, gate_of(p), one, two);
	return links_of(p) & (one | two);
}

/* The link with the most tokens; of several the first from some number on. */
static inline uint32_t most_tokens(
	const struct tiled_gate *g, uint32_t links, uint32_t from)
{
	uint32_t m;

	for (uint32_t bit = 24; bit < 32; bit -= 8) {
		m = links & g->levels >> bit;
		links = m ? m : links;
	}
	m = (links | links << TILED_LINKS) >> from;
	return ((uint32_t)__builtin_ctz(m) + from) % TILED_LINKS;
}

static inline uint32_t column_of(const struct tiled *d, port_id port)
{
	return d->column_of[d->tile_of[port]];
}

/* The same for links whose row buffers have room; TILED_LINKS: none has, and
 * *room is when one will have. */
static inline uint32_t most_with_room(const struct tiled *d,
	const struct tiled_gate *g, const struct tiled_bus *b,
	const uint8_t *port_at, uint32_t links, uint32_t from, sim_time t,
	sim_time *room)
{
	while (links) {
		uint32_t link = most_tokens(g, links, from);
		sim_time at = inner_room(d, b, column_of(d, port_at[link]));

		if (at <= t)
			return link;
		*room = inner_min(*room, at);
		links &= ~(1u << link);
	}
	return TILED_LINKS;
}

/* At the crossing tile a packet may change to another link of that column that
 * is free sooner. */
static inline port_id second_choice(const struct tiled *d,
	const struct tiled_chip *s, const uint8_t *port_at, uint32_t links,
	port_id port, sim_time t)
{
	sim_time first = s->output[d->tile_of[port]].free_at;

	links &= d->beside[port];
	for (; links && first > t; links &= links - 1) {
		port_id other = port_at[__builtin_ctz(links)];
		sim_time at = s->output[d->tile_of[other]].free_at;

		if (at < first) {
			first = at;
			port = other;
		}
	}
	return port;
}

/* If outputs give tokens: a head joins the line of its row at the link with the
 * most tokens.  Returns that link if the head is first, or none. */
static __attribute__((noinline)) uint32_t wait_in_line(const struct tiled *d,
	struct tiled_lines *l, uint32_t in, const struct tiled_gate *g,
	const struct packet *p, uint32_t from)
{
	uint32_t head = p->channel * TILED_INPUTS + in;

	if (l->port[head] == TILED_NO_TILE) {
		l->port[head] = d->port_at[gate_of(p)]
					  [most_tokens(g, links_of(p), from)];
		l->since[head] = ++l->joined;
	}
	return tiled_first(d, l, head) == head ? 1u << d->link_of[l->port[head]]
					       : 0;
}

/* The link that a head takes, or TOPO_NO_PORT: then *room is when a row buffer
 * has room, or SIM_NEVER if the head lacks tokens. */
static inline port_id pick_link(const struct tiled *d, struct tiled_chip *s,
	uint32_t in, struct tiled_gate *g, const struct packet *p, sim_time t,
	sim_time *room)
{
	const uint8_t *port_at = d->port_at[gate_of(p)];
	const struct tiled_bus *b = &s->bus[d->tile_of[in]];
	bool is_any = !is_single(links_of(p));
	uint32_t from = is_any ? draw(s) % TILED_LINKS : 0, links, link;

	collect(g, t);
	links = eligible(d, s, in, g, p);
	if (tiled_lines(d, s))
		links &= wait_in_line(d, tiled_lines(d, s), in, g, p, from);
	link = most_with_room(d, g, b, port_at, links, from, t, room);
	if (link == TILED_LINKS)
		return TOPO_NO_PORT;
	return is_any ? second_choice(d, s, port_at, links, port_at[link], t)
		      : port_at[link];
}

/* Whether a head could take a link if its bus were free. */
static inline bool has_tokens(const struct tiled *d, const struct tiled_chip *s,
	uint32_t in, struct tiled_gate *g, const struct packet *p, sim_time t)
{
	collect(g, t);
	return eligible(d, s, in, g, p);
}

/* A hash that is the same for all packets that keep their order together. */
static inline uint32_t hash_of(const struct packet *p)
{
	uint32_t x = p->src * 0x9e3779b1u ^ p->dst * 0x85ebca77u ^
		     p->hints * 0xc2b2ae3du;

	return (x ^ x >> 15) * 0x27d4eb2fu >> 16;
}

/* The tile towards the nodes that is free first; for packets that keep their
 * order always the same one. */
static inline uint32_t pick_tile(const struct tiled *d, struct tiled_chip *s,
	uint32_t in, const struct packet *p, sim_time t, sim_time *room)
{
	const struct tiled_bus *b = &s->bus[d->tile_of[in]];
	uint32_t row = d->row_of[d->tile_of[in]], best = TILED_NO_TILE;
	uint32_t n = (uint32_t)d->how.processors;
	bool is_hashed = p->kind != PACKET_DYNAMIC;
	uint32_t i = (is_hashed ? hash_of(p) : draw(s)) % n;
	sim_time first = SIM_NEVER;
	uint32_t end;

	*room = SIM_NEVER;
	end = i + (is_hashed ? 1 : n);
	for (; i < end && first > t; i++) {
		uint32_t tile = d->processor[i];
		uint32_t column = d->column_of[tile];
		sim_time at = inner_room(d, b, column);

		if (at > t) {
			*room = inner_min(*room, at);
			continue;
		}
		if (s->output[tile].free_at >= first)
			continue;
		at = inner_start(d, b, &s->output[tile], row, column, t);
		if (at < first) {
			first = at;
			best = tile;
		}
	}
	return best;
}

/* --- heads that get tokens --- */

/* Heads from other directions that wait for a link. */
static inline uint64_t entering(
	const struct tiled *d, const struct tiled_gate *g, port_id port)
{
	return (g->one[d->link_of[port]] | g->any) &
	       ~d->straight[d->gate_of[port]];
}

/* All heads that wait for a gate's tokens. */
static inline uint64_t waiting(const struct tiled_gate *g)
{
	uint64_t m = g->any;

	for (uint32_t i = 0; i < TILED_LINKS; i++)
		m |= g->one[i];
	return m;
}

/* Heads for which the tokens of a link may suffice. */
static inline uint64_t helped(const struct tiled *d, const struct tiled_chip *s,
	const struct tiled_gate *g, port_id port)
{
	uint32_t gate = d->gate_of[port], link = d->link_of[port];
	uint64_t m = g->one[link] | g->any;
	bool is_kept = g->kept >> link & 1;
	int16_t tokens = g->tokens[link];

	if (tokens <= 0)
		return 0;
	if (TILED_FULL && d->is_free)
		return waiting(g);
	if (tokens >= d->need || !(s->rings[gate] >> link & 1))
		return is_kept && entering(d, g, port) ? entering(d, g, port)
						       : m;
	/* heads that go straight on in their plane */
	return is_kept ? 0 : m & d->behind[port];
}

/*
 * A head that waited for a link has gone.  Packets that enter a ring need two
 * tokens, and packets that go straight on could for ever take each token that
 * returns.  So if one that went straight on is much younger than the next to
 * enter, the link is kept until it has two tokens.  A long wait alone is no
 * reason: if all wait for long, more packets would enter until the ring is full
 * and hardly moves.  A link is kept only for that long, and then others go
 * first: if a ring has no other room, nothing else would move.
 */
static inline void keep(const struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, struct tiled_gate *g, uint32_t channel,
	port_id port, uint32_t in, sim_time born, sim_time t)
{
	uint32_t link = d->link_of[port], next;
	const struct packet *p;
	uint64_t m;

	g->passed[link]++;
	if (!(d->straight[d->gate_of[port]] >> in & 1)) {
		g->kept &= (uint8_t) ~(1u << link);
		return;
	}
	m = entering(d, g, port);
	if (!m || (TILED_FULL && d->is_free))
		return;
	next = first_from(g->turn, m);
	p = &d->packets[s->input[next].queue[channel].list.first];
	if (born - p->born < d->how.patience)
		return;
	g->kept |= (uint8_t)(1u << link);
	sim_post_self(w, s->id, t + d->how.patience,
		SIM_KEY(PHASE_TOKEN, TILED_KEPT + port), (uint16_t)channel,
		g->passed[link]);
}

/* A link has been kept since some number of heads had passed.  If none has
 * entered since, others may take its token. */
static inline void on_kept(const struct tiled *d, struct tiled_chip *s,
	port_id port, uint32_t channel, uint32_t passed)
{
	struct tiled_gate *g = tiled_gate(s, d->gate_of[port], channel);
	uint32_t link = d->link_of[port];

	if (g->passed[link] != passed)
		return;
	g->kept &= (uint8_t) ~(1u << link);
	if (g->returns.is_awaited)
		s->ports[channel] |= BIT(port);
}

#endif
