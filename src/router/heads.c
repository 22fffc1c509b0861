#include "router/heads.h"

/*
 * An older packet in another queue of this receiver's channel wants the same
 * way: first come, first served keeps deterministic packets in order.
 */
static bool has_elder(const struct net *n, const struct net_site *s,
	uint32_t channel, uint32_t bit, const struct packet *p)
{
	uint32_t first = bit - bit % NET_QUEUES, i, k;

	for (i = first; i < first + NET_QUEUES; i++) {
		packet_id id = s->queue[channel][i].head;

		if (i == bit)
			continue;
		for (k = s->queue[channel][i].count; k--; id = n->packets[id].next) {
			const struct packet *o = &n->packets[id];

			if (o->kind != PACKET_DYNAMIC && o->head < p->head &&
				o->escape == p->escape)
				return true;
		}
	}
	return false;
}

/* A line broadcast also needs room for the copy that it leaves here. */
static bool must_hold(const struct net *n, const struct net_site *s,
	uint32_t channel, uint32_t bit, const struct packet *p)
{
	uint32_t fifo = net_reception_of(p, bit / NET_QUEUES);

	if (has_elder(n, s, channel, bit, p))
		return true;
	return p->flags & PACKET_DEPOSIT && !n->client->is_sink &&
		s->reception[fifo].chunks < p->chunks;
}

static void show_ordered(const struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t channel, uint32_t bit,
	const struct packet *p, sim_time t)
{
	if (must_hold(n, s, channel, bit, p)) {
		s->held[channel] |= BIT(bit);
		s->held_any |= (uint8_t)(1u << channel);
	} else if (heads_arrived(p)) {
		s->local[channel] |= BIT(bit);
		s->dirty |= DIRTY_RECEPTION;
	} else {
		heads_ask(s, 1u << p->escape, REQ_DETERMINISTIC + channel - 1,
			BIT(bit));
		heads_want(w, s, 1u << p->escape, t);
	}
}

/* A dynamic head in the escape channel. */
static void show_escaped(struct sim_worker *w, struct net_site *s,
	uint32_t bit, const struct packet *p, sim_time t)
{
	uint32_t ports = 1u << p->escape;

	s->queue[CHANNEL_DETERMINISTIC][bit].ask = p->ask;
	heads_ask(s, ports, REQ_DETERMINISTIC, BIT(bit));
	if (!(p->flags & PACKET_STAY)) {
		heads_ask(s, p->ask, REQ_RETURN, BIT(bit));
		ports |= p->ask;
	}
	heads_want(w, s, ports, t);
}

void heads_show(struct net *n, struct sim_worker *w, struct net_site *s,
	uint32_t channel, uint32_t bit, const struct packet *p, sim_time t)
{
	if (p->kind != PACKET_DYNAMIC) {
		show_ordered(n, w, s, channel, bit, p, t);
	} else if (heads_arrived(p)) {
		s->local[channel] |= BIT(bit);
		s->dirty |= DIRTY_RECEPTION;
	} else if (channel == CHANNEL_DYNAMIC) {
		uint32_t ports = p->ask;

		s->queue[CHANNEL_DYNAMIC][bit].ask = p->ask;
		s->queue[CHANNEL_DYNAMIC][bit].escape = p->escape;
		heads_ask(s, ports, REQ_DYNAMIC, BIT(bit));
		if (!(ports >> p->escape & 1) && n->route->has_escape) {
			heads_ask(s, 1u << p->escape, REQ_ESCAPE, BIT(bit));
			ports |= 1u << p->escape;
		}
		heads_want(w, s, ports, t);
	} else {
		show_escaped(w, s, bit, p, t);
	}
}

void heads_retry(struct net *n, struct sim_worker *w, struct net_site *s,
	uint32_t channel, uint64_t bits, sim_time t)
{
	uint64_t m = s->held[channel] & bits;

	s->held[channel] &= ~m;
	for (; m; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);

		heads_show(n, w, s, channel, bit,
			&n->packets[s->queue[channel][bit].head], t);
	}
	if (!s->held[channel])
		s->held_any &= (uint8_t)~(1u << channel);
}

static inline void ask_injection(
	struct net_site *s, uint32_t ports, uint32_t request, uint32_t fifo)
{
	for (; ports; ports &= ports - 1) {
		struct net_requests *r =
			&s->port[__builtin_ctz(ports)].requests;

		r->inject[request] |= (uint16_t)(1u << fifo);
		if (request != INJ_DYNAMIC)
			r->n_rare++;
	}
}

void heads_show_injection(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t fifo, const struct packet *p, sim_time t)
{
	uint32_t ports = p->ask;

	if (heads_arrived(p)) {
		s->local_inject |= (uint16_t)(1u << fifo);
		s->dirty |= DIRTY_RECEPTION;
		return;
	}
	if (p->kind != PACKET_DYNAMIC) {
		ports = 1u << p->escape;
		ask_injection(s, ports, heads_injection(p), fifo);
	} else {
		s->inject[fifo].ask = p->ask;
		s->inject[fifo].escape = p->escape;
		ask_injection(s, ports, INJ_DYNAMIC, fifo);
		if (!(ports >> p->escape & 1) && n->route->has_escape) {
			ask_injection(s, 1u << p->escape, INJ_ESCAPE, fifo);
			ports |= 1u << p->escape;
		}
	}
	heads_want(w, s, ports, t);
}
