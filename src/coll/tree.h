/*
 * Blue Gene/Q's collective network: a guest of its routers' links
 * (net/guest.h) with FIFOs, tokens and logic of its own at every node that
 * has a class route (BGQ-F44 to F54).
 *
 *	receivers' FIFOs, two each        injection FIFOs, user and system
 *	   | heads                           | heads
 *	   v                                 v
 *	up-tree logic: waits until a route's inputs have all come, makes one
 *	packet of them on its way out           -> the link to the parent
 *	   | at the root: slots to turn in
 *	   v
 *	down-tree logic: a copy by each leg     -> links to the children,
 *	                                           reception FIFO -> client
 *
 * A reduction waits at the head of its FIFO until the head of every other
 * input is there, the logic and the link are idle and the parent has room for
 * a full packet; then all inputs stream through together and leave.  Other
 * packets rise as they come.  What is on its way down leaves by each leg as
 * soon as that can take it, and its buffer with the last one.
 *
 * Nothing here knows what the bytes are: the network's client combines them.
 */
#ifndef COLL_TREE_H
#define COLL_TREE_H

#include "coll/class_route.h"
#include "net/guest.h"

enum { TREE_BUFFERS = 2 }; /* of a receiver: class_buffer() */

/* Injection and reception FIFOs, behind those of the links. */
enum tree_fifos { TREE_USER, TREE_SYSTEM, TREE_FIFOS };

struct tree_params {
	int64_t up, down, turn; /* ps */
	int64_t packets; /* full ones that a buffer holds */
	int64_t slots; /* packets of a channel that turn at a root */
	int64_t routes;
	int64_t root; /* an enum tree_root */
};

enum tree_root { TREE_ROOT_PARTITION, TREE_ROOT_BOX };

enum { TREE_PARAMS = 7 };
extern const struct param tree_params_table[TREE_PARAMS];

/* Of a packet, in its hints: what the network looks at. */
enum tree_word {
	TREE_ROUTE = 0x000f,
	TREE_CHANNEL = 0x0030, /* an enum class_channel */
	TREE_REDUCES = 0x0040, /* waits for others on its way up */
	TREE_DOWN = 0x0080, /* has turned */
};

static inline uint16_t tree_word(uint32_t route, uint32_t channel, bool reduces)
{
	return (uint16_t)(route | channel << 4 | (reduces ? TREE_REDUCES : 0));
}

struct tree;

/* Makes it the network's guest; fifo is the number of the first of the
 * client's TREE_FIFOS. */
struct tree *tree_new(
	struct net *n, const struct tree_params *p, uint32_t fifo);
/* That of a network which has one. */
struct tree *tree_of(const struct net *n);

/* --- of a node; from its visit, or before anything runs --- */

/* A route, and whether it is set. */
bool tree_route(
	const struct tree *t, site_id s, uint32_t route, struct class_route *r);
/* No output and no inputs: it is not set any more.  While packets wait on its
 * way up it stops. */
void tree_set_route(
	struct tree *t, site_id s, uint32_t route, const struct class_route *r);

/* Whether it and another one would share links and buffers (BGQ-F24).  Written
 * all the same, it is stopped at that node. */
bool tree_shares(const struct tree *t, site_id s, uint32_t route,
	const struct class_route *r);

/* Whether its number is given out: 0 always is. */
bool tree_is_taken(const struct tree *t, site_id s, uint32_t route);
void tree_take_route(struct tree *t, site_id s, uint32_t route, bool is_taken);
/* The node that all routes lead towards. */
site_id tree_root(const struct tree *t);
/* A node's route over a box; false where it is not in it. */
bool tree_build(const struct tree *t, const struct topo_box *box, site_id s,
	uint32_t channel, struct class_route *r);

/*
 * A packet whose src, dst, kind, bytes and word (hints) are set goes into an
 * injection FIFO, which must have room.  dst is the only node that receives
 * what becomes of it, or NO_SITE.  Where there is a book the client opens and
 * closes it.
 */
void tree_inject(struct tree *t, struct sim_worker *w, site_id s,
	enum tree_fifos fifo, packet_id id, sim_time now);
bool tree_has_room(const struct tree *t, site_id s, enum tree_fifos fifo);

#endif
