/*
 * The proof that a network cannot deadlock, made before
 * anything runs.  It is made of the machine's own wires and routing tables,
 * and looks at no queue, for it holds for every traffic whose packets go
 * minimal ways and whose receivers take in what arrives.
 *
 * A packet is in one buffer at a time, whole (virtual cut-through), so what
 * it waits for follows from where it is.  Then these things are enough:
 *
 * For hint bits on a torus:
 *
 * a  Each ring of a ring channel keeps moving by itself: to enter it takes
 *    room for two full packets, to go straight on room for one, and its
 *    buffers hold two; so a hole always stays, whatever is behind it can
 *    move, and the hole goes round (the bubble).  Or no routes close it.
 * b  From ring to ring, as packets turn, no way leads back; so the last rings
 *    drain, then those before them.
 * c  A dynamic packet that waits may always enter a ring, by its escape.  Or
 *    the dynamic channels have no cycle of their own.
 * d  A packet on a ring always asks for its next ring channel, or is there.
 * e  Of IO nodes: packets enter rings from their links, or leave them by these
 *    and are there, but never both; so they wait for no link like it.
 */
#ifndef NET_PROOF_H
#define NET_PROOF_H

#include "net/net.h"
#include "route/route.h"

/* The buffer at the far end of a wire: packets that left router by port. */
struct proof_channel {
	router_id router;
	port_id port;
	uint32_t channel; /* one of the routing's */
	const char *name; /* of one of its guest's; or NULL */
};

struct proof_step {
	char letter;
	const char *what; /* it claims */
	bool holds;
	char why[256]; /* or why not */
	/* Each waits for the next, the last for the first. */
	struct proof_channel *cycle;
	uint32_t n_cycle;
};

enum { PROOF_STEPS = 10 }; /* the most */

struct proof {
	struct proof_step step[PROOF_STEPS];
	uint32_t n_steps;
	bool is_proved;
	uint32_t n_rings; /* and lines, of each ring channel */
	uint32_t n_closed; /* rings that have no end */
	struct proof_step ring; /* of planes, the cycle of a closed one */
	uint64_t n_turns; /* edges from ring to ring */
	uint32_t n_hint_sets;
	uint64_t n_routes; /* stored ones that were walked; the rest are 0 */
	uint64_t n_missing; /* pairs of nodes without any */
	uint32_t n_channels; /* that they use */
};

/*
 * The part of proof_make() for routings without rings: three things are
 * enough.
 *
 * a  Each route leads over wires to its end.
 * b  No channel waits for itself: the graph of what may follow what on a way
 *    has no cycle.  A channel is one of a wire's, by router, port and
 *    number; packets of another class go by the same routes beside it.
 * c  Nor does one with all broadcasts and their answers beside these, or with
 *    multicasts; only of routings that have them.
 *
 * x is what software has written into the switches, or NULL: then multicasts
 * are all that the routing allows.
 */
void proof_walks(struct proof *p, const struct topo *t, const struct route *r,
	const struct route_written *x, int64_t packets);

/* Its graph of what may follow what, to be freed with route_graph_fini(). */
void proof_graph(struct route_graph *g, const struct topo *t,
	const struct route *r, const struct route_written *x,
	struct route_walks *w);
/* The number of ways from one channel of a graph to the next; s says whether
 * they make a cycle.  first is what the graph's first channel is to the
 * routing. */
uint64_t proof_find_cycle(
	struct proof_step *s, const struct route_graph *g, uint32_t first);

/*
 * The same for routings with planes, from the graph of what may follow what;
 * dead links are none of them, and break theirs into single links.
 *
 * b  Each plane keeps moving by itself: to enter it takes room for two full
 *    packets, to go straight on in it room for one, and its buffers hold two.
 * c  From plane to plane, as packets turn, no way leads back.
 *
 * What is no matter of wires or tables is in proof_waits().
 */
void proof_planes(struct proof *p, const struct route_graph *g,
	const port_mask *dead, int64_t packets);

/* What packets wait for inside of routers, and in interfaces. */
struct proof_waits {
	const struct net_stage *stage; /* the first are the buffers of links */
	uint32_t n_stages;
	const char *const *channel; /* names */
	uint32_t n_channels;
	/* [channel]: of these there must be room before a node takes one in;
	 * bits */
	uint32_t answers[NET_MOST_CHANNELS];
	const struct topo *topo; /* for an example; may be NULL */
};

/*
 * Two more steps, of what a router and an interface say of themselves.
 *
 * d  From stage to stage no packet waits for itself, and behind the first none
 *    waits for room at the far end of a link: so what has left its buffer gets
 *    out, and the proof need not know of it.
 * e  From channel to channel no packet waits for itself: each has its own
 *    buffers, so one whose packets are always taken in drains, and then those
 *    that wait for it.
 */
void proof_waits(struct proof *p, const struct proof_waits *w);

/*
 * One more step for routers in whose stages packets wait for far room behind
 * their buffers: a place there must belong to one input and one channel, so
 * that what is behind a packet in it waits for nothing else than before.  Where
 * several channels share it, their packets wait for what each of them waits
 * for, and the step says whether channels then wait for themselves.
 */
void proof_places(struct proof *p, const struct topo *t, const struct route *r,
	const struct route_written *x, const struct net_stage *stage,
	uint32_t n_stages);

/* What packets wait for in interfaces. */
struct proof_nodes {
	const char *nic; /* its kind */
	const char *how; /* packets wait, as nic_ops.how_waits; or NULL */
	/* [class]: packets of these must be able to leave before a node takes
	 * one in; bits */
	uint32_t waits[N_NET_CLASSES];
	bool is_shared; /* all classes have the same queues */
	const struct topo *topo;
	const struct route *route;
};

/*
 * One more step, the last, where proof_waits() has none of this: no packet
 * keeps its place at a node until another one leaves that may wait, somewhere,
 * behind a packet for such a place.  So receivers take in what arrives, as the
 * other steps assume.
 */
void proof_nodes(struct proof *p, const struct proof_nodes *x);

struct net_repair;

/*
 * One more step for routings that avoid failed links: no channel waits for
 * itself by the paths of the whole network and of all views of it together, for
 * packets are on all of them when paths change; or since injection stopped and
 * the network drained.
 */
void proof_repair(struct proof *p, const struct net_repair *x);

/* Whether the paths of each view have a cycle together with those before it,
 * back to the last view that had: then the network must drain between them.
 * The repair keeps the first cycle. */
void proof_find_stops(struct net_repair *x, bool *stops);

/* Adds a channel to the cycle of a step. */
void proof_tell(struct proof_step *s, router_id r, port_id p, uint32_t channel);

/* packets: full ones that a channel holds; x: what software has written into
 * the switches, or NULL. */
void proof_make(struct proof *p, const struct topo *t, const struct route *r,
	const struct route_written *x, int64_t packets);
void proof_free(struct proof *p);

/* "node 3 (3) by A+ to node 4 (4), channel deterministic" */
void proof_name(const struct topo *t, const struct route *r,
	const struct proof_channel *c, char *text, size_t size);

#endif
