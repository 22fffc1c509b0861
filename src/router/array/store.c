/*
 * Store and forward: a packet crosses when its tail has arrived, if it comes
 * from a link that is slower than the one that it leaves by, or from one with
 * many errors.  Otherwise it would hold the bus, and then the link, for as long
 * as its own link takes.
 */
#include "router/array/inside.h"

enum { SHIFT = 5, ONE = 1 << 10 }; /* of the average: 32 packets */

void array_note(struct array_port *i, bool is_repeated)
{
	i->errors = (uint16_t)(i->errors - (i->errors >> SHIFT) +
			       (is_repeated ? ONE >> SHIFT : 0));
}

static bool has_errors(const struct array *a, const struct array_port *i)
{
	return (int64_t)i->errors * 1000000 > a->how.errors * ONE;
}

/* Whether a packet came slower than it can leave. */
static bool is_slow(const struct array *a, const struct array_switch *s,
	const struct packet *p, sim_time t)
{
	port_id out = p->escape;
	uint32_t row;

	if (!a->has_rates)
		return false;
	row = net_row(a->router.net, s->id, out, s->port[out].sender.wire, t);
	return a->link->ser[p->size] >
	       a->link->ser[row * a->link->row + p->size % a->link->row];
}

void array_store(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id in, uint32_t list, packet_id id, sim_time t)
{
	struct array_port *i = &s->port[in];
	const struct packet *p = &a->packets[id];

	if (tail_of(a, p) <= t || !(has_errors(a, i) || is_slow(a, s, p, t)))
		return;
	i->storing |= BIT(list);
	sim_post_self(w, s->id, tail_of(a, p),
		SIM_KEY(PHASE_ENGINE, ARRAY_STORED + in), (uint16_t)list, 0);
}
