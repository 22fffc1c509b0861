/*
 * Blue Gene/Q's collective network: a guest of the routers' links (net/guest.h)
 * with its own FIFOs, tokens and logic at every node that has a class route
 * (BGQ-F44 to F54).
 *
 *	receivers' FIFOs, two each        injection FIFOs, user and system
 *	   | heads                           | heads
 *	   v                                 v
 *	up-tree logic: waits until all inputs of a route have come, combines
 *	them on the way out                     -> the link to the parent
 *	   | at the root: slots to turn in
 *	   v
 *	down-tree logic: a copy by each leg     -> links to the children,
 *	                                           reception FIFO -> client
 *
 * A reduction waits at the head of its FIFO until the heads of all other inputs
 * have come, logic and link are idle, and the parent has room for a full
 *packet; then all inputs stream through together.  Other packets rise as they
 *come.  A packet on its way down leaves by each leg as soon as possible, and
 *frees its buffer with the last leg.
 *
 * Nothing here knows the content of packets: the network's client combines
 *them.
 */
#ifndef COLL_TREE_H
#define COLL_TREE_H

#include "coll/class_route.h"
#include "net/guest.h"

enum { TREE_BUFFERS = 2 }; /* of a receiver: class_buffer() */

/* Injection and reception FIFOs, numbered after those of the links. */
enum tree_fifos { TREE_USER, TREE_SYSTEM, TREE_FIFOS };

struct tree_params {
	int64_t up, down, turn; /* ps */
	int64_t packets; /* capacity of a buffer, in full packets */
	int64_t slots; /* packets of a channel that can turn at a root */
	int64_t routes;
	int64_t root; /* an enum tree_root */
};

enum tree_root { TREE_ROOT_PARTITION, TREE_ROOT_BOX };

enum { TREE_PARAMS = 7 };
extern const struct param tree_params_table[TREE_PARAMS];

/* The hints of a packet, which the network reads. */
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

/* Makes a guest of the network; fifo is the number of the client's first of
 * TREE_FIFOS. */
struct tree *tree_new(
	struct net *n, const struct tree_params *p, uint32_t fifo);
/* The tree of a network that has one. */
struct tree *tree_of(const struct net *n);

/* --- a node's part; from its visit, or before anything runs --- */

/* Reads a route; false if it is not set. */
bool tree_route(
	const struct tree *t, site_id s, uint32_t route, struct class_route *r);
/* Writes a route; one without output and inputs is not set any more.  If
 * packets of the route wait on the way up, it stops. */
void tree_set_route(
	struct tree *t, site_id s, uint32_t route, const struct class_route *r);

/* Whether a route would share links and buffers with another one (BGQ-F24).  If
 * it is written all the same, it stops at that node. */
bool tree_shares(const struct tree *t, site_id s, uint32_t route,
	const struct class_route *r);

/* Whether the number of a route is in use; 0 always is. */
bool tree_is_taken(const struct tree *t, site_id s, uint32_t route);
void tree_take_route(struct tree *t, site_id s, uint32_t route, bool is_taken);
/* The node that all routes lead towards. */
site_id tree_root(const struct tree *t);
/* A node's route over a box; false if the node is not in the box. */
bool tree_build(const struct tree *t, const struct topo_box *box, site_id s,
	uint32_t channel, struct class_route *r);

/*
 * Injects a packet whose src, dst, kind, bytes and word (hints) are set into a
 * FIFO, which must have room.  dst is the only node that receives the result,
 * or NO_SITE: all do.  With a book, the client opens and closes the account.
 */
void tree_inject(struct tree *t, struct sim_worker *w, site_id s,
	enum tree_fifos fifo, packet_id id, sim_time now);
bool tree_has_room(const struct tree *t, site_id s, enum tree_fifos fifo);

#endif
