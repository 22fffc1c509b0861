/*
 * What switches remember of broadcasts, so that all answers to one become
 * one (QSN-G19).
 *
 * A broadcast that comes to a switch leaves a note: whose it is, by which port
 * it came and by which it goes on.  Every answer to it comes back by one of
 * these; all but the last end here, and the last goes on to where the broadcast
 * came from, with the greatest of their values.  So each receiver's answer
 * needs no route, and the sender gets exactly one.
 *
 * A broadcast that goes up and comes down again passes switches twice; these
 * have two notes of it, with different ports.  A broadcast that is sent again
 * has another number, so that no answer to the first counts for the second.
 * Where an answer is lost, the note is forgotten after routing.answers, and
 * so is what still comes.
 *
 * Notes are kept by site, and only where there were any.  Looking for one
 * takes as long as there are notes.
 */
#ifndef ROUTER_CASTS_H
#define ROUTER_CASTS_H

#include "router/net.h"

/* A note. */
struct net_cast {
	uint32_t src, number; /* the broadcast's */
	sim_time since;
	uint16_t waits; /* ports that no answer has come by */
	uint8_t in; /* the port that it came by */
	uint8_t answer; /* the greatest so far */
};

struct net_casts {
	struct net_cast *cast;
	uint32_t n, room;
	uint64_t strays; /* answers that nobody waited for */
};

/* A broadcast has come to a switch and will leave by some ports. */
void casts_note(struct net *n, site_id s, const struct packet *p, uint32_t in,
	uint32_t ports, sim_time t);

/*
 * An answer has come to a switch: the port that it goes on by, or
 * PACKET_NO_PORT where it ends.  Sets the packet's value.
 */
uint32_t casts_answer(
	struct net *n, site_id s, struct packet *p, uint32_t in, sim_time t);

/* Notes that wait for answers, in all switches. */
uint64_t casts_waiting(const struct net *n);
/* Answers that came too late, or hurt. */
uint64_t casts_strays(const struct net *n);

void casts_free(struct net *n);
uint64_t casts_memory(const struct net *n);

#endif
