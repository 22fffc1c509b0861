/*
 * Management stops injection and drains the network, since old and new paths
 * together could deadlock: packets that have not left by then are dropped.
 */
#include "net/send.h"
#include "router/crossbar/crossbar.h"

void crossbar_drop(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, port_id in, uint32_t came, packet_id id,
	sim_time t)
{
	const struct packet *p = &x->packets[id];
	const struct crossbar_port *i = &s->port[in];
	sim_time tail = p->head + x->link->ser[p->size];

	net_give_back(w, &i->sender, i->back,
		(tail > t ? tail : t) + x->link->latency[i->sender.wire], came,
		(uint32_t)crossbar_takes(x, p, came));
	net_drop(x->router.net, w, id);
}

static void empty(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, port_id out, uint32_t came, sim_time t)
{
	struct crossbar_port *o = &s->port[out];
	struct packet_list *queues = crossbar_queue(x, s, came, out, 0);

	for (uint64_t m = o->want[came]; m; m &= m - 1) {
		port_id in = (port_id)__builtin_ctzll(m);

		while (queues[in].first)
			crossbar_drop(x, w, s, in, came,
				packet_pop(x->packets, &queues[in]), t);
	}
	o->want[came] = 0;
}

void crossbar_manage(struct router *r, struct sim_worker *w, site_id site,
	const struct route *tables, sim_time t)
{
	struct crossbar *x = crossbar_of(r);
	struct crossbar_site *s = crossbar_at(x, site);

	for (port_id out = 0; out < s->n_ports && tables; out++) {
		struct crossbar_port *o = &s->port[out];

		for (uint32_t m = o->busy; m; m &= m - 1)
			empty(x, w, s, out, (uint32_t)__builtin_ctz(m), t);
		o->busy = 0;
		o->backlog = 0;
	}
}
