/*
 * What the router writes into the book of time budgets.  Private to chip.c
 * and node.c; without a book all of this is a branch.
 *
 *	behind others of its queue                    queue
 *	at its head, until there were tokens          tokens
 *	until its bus and a row buffer were free,
 *	and then inside the tiles                     arbitration
 *	of the link's latency, link.logic             router
 *	the rest of it                                wire
 *	its tail, at its end                          serialisation
 */
#ifndef ROUTER_TILED_BOOKED_H
#define ROUTER_TILED_BOOKED_H

#include "router/tiled/tiled.h"

static inline bool booked(const struct tiled *d)
{
	return TILED_FULL && d->book;
}

static inline void booked_wait(
	const struct tiled *d, packet_id id, enum cause c, sim_time t)
{
	if (booked(d))
		book_wait(d->book, id, c, t);
}

static inline void booked_note(const struct tiled *d, packet_id id, site_id s,
	const char *how, port_id port)
{
	const struct topo *topo = d->router.net->topo;
	char site[96], name[16];

	if (!booked(d) || !book_is_followed(d->book, id))
		return;
	topo_name_site(topo, s, site, sizeof(site));
	topo->ops->name_port(topo, s, port, name, sizeof(name));
	book_set_note(d->book, id, "%s, %s %s, %s", site, how, name,
		d->router.ops->channels[d->packets[id].channel]);
}

static inline void booked_inject(const struct tiled *d, site_id s, packet_id id,
	const struct packet *p, sim_time t)
{
	struct book_message m;

	if (!booked(d))
		return;
	if (!book_has(d->book, id)) {
		m = book_message(d->book, s, 1, p->born);
		m.is_networks = true;
		book_open(d->book, id, &m);
	}
	book_note(d->book, id, "node %u, injection FIFO", s);
	book_wait(d->book, id, CAUSE_QUEUE, t);
}

/* It leaves its queue at t and is on a wire of some class from start on. */
static inline void booked_depart(const struct tiled *d, packet_id id,
	uint32_t class, sim_time t, sim_time start)
{
	if (!booked(d))
		return;
	book_wait(d->book, id, CAUSE_ARBITRATION, t);
	book_until(d->book, id, CAUSE_ARBITRATION, start);
	book_until(d->book, id, CAUSE_ROUTER, start + d->link->logic[class]);
	book_until(d->book, id, CAUSE_WIRE, start + d->link->latency[class]);
}

static inline void booked_receive(const struct tiled *d, struct sim_worker *w,
	site_id s, packet_id id, sim_time t, sim_time tail)
{
	if (!booked(d))
		return;
	book_note(d->book, id, "node %u, reception FIFO", s);
	book_wait(d->book, id, CAUSE_RECEIVER, t);
	book_until(d->book, id, CAUSE_SERIALISATION, tail);
	if (book_is_networks(d->book, id))
		book_close(d->book, w->id, id, tail);
}

#endif
