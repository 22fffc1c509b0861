/*
 * What the router writes into the book of time budgets.  Private to chip.c and
 * node.c; without a book this costs a branch.
 *
 *	behind others of its queue                    queue
 *	at its head, until there were tokens          tokens
 *	until its bus was free, and then inside
 *	the tiles                                     arbitration
 *	until a row buffer had room, and then the
 *	link                                          link busy
 *	of the link's latency, link.logic             router
 *	the rest of it                                wire
 *	its tail, at its end                          serialisation
 */
#ifndef ROUTER_TILED_BOOKED_H
#define ROUTER_TILED_BOOKED_H

#include "net/send.h"
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

static inline void booked_at(const struct tiled *d, packet_id id, site_id s,
	const char *what, port_id port)
{
	if (booked(d))
		book_at_port(
			d->book, id, s, what, port, d->packets[id].channel);
}

static inline void booked_inject(
	const struct tiled *d, site_id s, packet_id id, sim_time t)
{
	if (!booked(d))
		return;
	net_book_inject(d->router.net, s, id);
	book_at_part(d->book, id, s, "injection FIFO");
	book_wait(d->book, id, CAUSE_QUEUE, t);
}

/* A packet leaves its queue at t, has passed the tiles at ready, and is on a
 * wire of some class from start on. */
static inline void booked_depart(const struct tiled *d, packet_id id, site_id s,
	port_id port, uint32_t class, sim_time t, sim_time ready,
	sim_time start)
{
	if (!booked(d))
		return;
	book_wait(d->book, id, CAUSE_ARBITRATION, t);
	book_until(d->book, id, CAUSE_ARBITRATION, ready);
	book_until(d->book, id, CAUSE_LINK, start);
	net_book_depart(d->router.net, s, port, class, d->packets[id].channel,
		id, start);
}

static inline void booked_receive(const struct tiled *d, struct sim_worker *w,
	site_id s, packet_id id, sim_time t, sim_time tail)
{
	if (!booked(d))
		return;
	book_at_part(d->book, id, s, "reception FIFO");
	net_book_receive(d->router.net, w, id, t, tail);
}

#endif
