/*
 * What the router writes into the book of time budgets.  Private to chip.c
 * and node.c; without a book all of this is a branch.
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
	const struct book_place at = { what, s, BOOK_NO_NUMBER, (uint8_t)port,
		d->packets[id].channel, 0 };

	if (booked(d))
		book_set_place(d->book, id, &at);
}

static inline void booked_inject(const struct tiled *d, site_id s, packet_id id,
	const struct packet *p, sim_time t)
{
	struct book_message m;

	if (!booked(d))
		return;
	if (!book_has(d->book, id)) {
		m = book_message(d->book, s, BOOK_PACKET, 1, p->born);
		m.is_networks = true;
		book_open(d->book, id, &m);
	}
	book_at_part(d->book, id, s, "injection FIFO");
	book_wait(d->book, id, CAUSE_QUEUE, t);
}

/* It leaves its queue at t, has come through the tiles at ready, and is on a
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
	net_count_tokens(d->router.net, s, port, d->packets[id].channel, id);
	booked_at(d, id, s, "out by", port);
	book_until(d->book, id, CAUSE_ROUTER, start + d->link->logic[class]);
	book_until(d->book, id, CAUSE_WIRE, start + d->link->latency[class]);
}

static inline void booked_receive(const struct tiled *d, struct sim_worker *w,
	site_id s, packet_id id, sim_time t, sim_time tail)
{
	if (!booked(d))
		return;
	book_at_part(d->book, id, s, "reception FIFO");
	book_wait(d->book, id, CAUSE_RECEIVER, t);
	book_until(d->book, id, CAUSE_SERIALISATION, tail);
	if (book_is_networks(d->book, id))
		book_close(d->book, w->id, id, tail);
}

#endif
