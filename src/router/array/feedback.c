/*
 * Feedback of congestion.  An output knows how long its packets wait for
 * credits: if longer than they then take on the link, these return at less than
 * half of its rate.  Where that is usual, or one waits for long, the output is
 * slow.  An input many of whose packets go to slow outputs tells the switch
 * that it gets them from, with its credits; that switch prefers other ports for
 * a while, although it still has credits for this one.  Nothing is told twice
 * before it is forgotten, so this costs few events.
 */
#include "router/array/inside.h"

enum {
	SHIFT = 2, /* of the averages */
	ONE = 252, /* their greatest value, about */
	HALF = ONE / 2,
	SOME = ONE / 4,
	LONG = 4, /* full packets: a wait that needs no average */
	KEEPS = 8, /* full packets: how long it is told for */
};

static uint8_t average(uint8_t x, bool is_so)
{
	uint32_t less = (x + (1u << SHIFT) - 1) >> SHIFT;

	return (uint8_t)(x - less + (is_so ? ONE >> SHIFT : 0));
}

void array_got_credits(const struct array *a, struct array_port *o,
	uint32_t channel, const struct packet *p, sim_time t)
{
	sim_time lacked =
		o->lacking >> channel & 1 ? t - o->lacks_since[channel] : 0;

	o->lacking = (uint8_t)(o->lacking & ~(1u << channel));
	o->slow[channel] =
		average(o->slow[channel], lacked > a->link->ser[p->size]);
}

static bool is_slow(const struct array *a, const struct array_port *o,
	uint32_t channel, sim_time t)
{
	return o->slow[channel] > HALF ||
	       (o->lacking >> channel & 1 &&
		       t - o->lacks_since[channel] > LONG * a->link->longest);
}

void array_feed_back(const struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, port_id out, uint32_t channel,
	sim_time t)
{
	struct array_port *i = &s->port[in];
	const struct link_sender *l = &i->sender;

	i->slowed = average(i->slowed, is_slow(a, &s->port[out], channel, t));
	if (!a->feeds || i->slowed <= SOME || i->told > t ||
		l->peer < a->router.net->n_nodes)
		return;
	i->told = t + KEEPS / 2 * a->link->longest;
	sim_post(w, l->peer, t + a->link->latency[l->wire],
		SIM_KEY(PHASE_TOKEN, ARRAY_WARNING + l->peer_port), 0,
		(uint32_t)(KEEPS * a->link->longest / SIM_NS));
}

void array_be_warned(struct sim_worker *w, struct array_switch *s,
	const struct sim_event *e, sim_time t)
{
	port_id out = sim_number(e) - ARRAY_WARNING;

	sim_discount(w);
	s->warned |= BIT(out);
	s->port[out].warned = t + (sim_time)e->data * SIM_NS;
}

port_mask array_warned(struct array_switch *s, sim_time t)
{
	for (port_mask m = s->warned; m; m &= m - 1) {
		port_id p = (port_id)__builtin_ctzll(m);

		if (s->port[p].warned <= t)
			s->warned &= ~BIT(p);
	}
	return s->warned;
}
