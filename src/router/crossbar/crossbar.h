/*
 * A textbook switch of up to 64 ports: a packet waits at its input in a queue
 * for its output, and each output serves these queues in turn.
 *
 *	in 0  [ for 0 ][ for 1 ] ...      \
 *	in 1  [ for 0 ][ for 1 ] ...       > link 0, link 1, ...
 *	 ...                              /
 *
 * The queues of an input share its buffer, by channel.  The switch itself is no
 * bottleneck: an input may feed several outputs at once.  If routing offers
 * several ports, an arriving packet takes the one with the least load: packets
 * that wait for the port here, and packets behind it.
 *
 * Nodes have routers of another kind.
 *
 * Private to the router.
 */
#ifndef ROUTER_CROSSBAR_CROSSBAR_H
#define ROUTER_CROSSBAR_CROSSBAR_H

#include "net/net.h"

enum { CROSSBAR_CHANNELS = LINK_CHANNELS };

/* Both directions of a port. */
struct crossbar_port {
	_Alignas(64) struct link_sender sender;
	struct link_returns returns;
	uint64_t want[CROSSBAR_CHANNELS]; /* inputs with packets for it, by the
					   * channel of their arrival */
	uint8_t first[CROSSBAR_CHANNELS]; /* the input to serve first */
	uint8_t turn; /* the channel to serve first */
	bool is_timed; /* an event is pending for when the link is free */
	uint32_t backlog; /* chunks that wait for it */
	uint64_t packets[CROSSBAR_CHANNELS]; /* received that have left */
	sim_time waited[CROSSBAR_CHANNELS]; /* by these */
};

struct crossbar_site {
	uint64_t dirty; /* ports to arbitrate at the end of the instant */
	site_id id;
	uint32_t lfsr;
	struct crossbar_port port[]; /* then [channel][out][in] queues */
};

struct crossbar {
	struct router router;
	struct packet *packets;
	const struct route *route;
	const struct link_rules *link;
	struct net_tally *tally;
	struct book *book;
	bool is_faulty; /* links have faults, or retry */
	bool has_rates; /* they differ, or may */
	bool is_stepped; /* the routing names channels */
	bool is_exact; /* as route.is_exact */
	uint32_t n_ports;
	int32_t full; /* chunks of a full packet */
	int32_t capacity; /* chunks of a channel */
};

static inline struct crossbar *crossbar_of(const struct router *r)
{
	return (struct crossbar *)(uintptr_t)r;
}

static inline struct crossbar_site *crossbar_at(
	const struct crossbar *x, site_id s)
{
	return router_site(&x->router, s);
}

static inline struct packet_list *crossbar_queue(const struct crossbar *x,
	struct crossbar_site *s, uint32_t channel, port_id out, port_id in)
{
	struct packet_list *q = (void *)&s->port[x->n_ports];

	return &q[(channel * x->n_ports + out) * x->n_ports + in];
}

/* The tokens of a channel that a packet takes, as nodes count them. */
static inline int32_t crossbar_takes(
	const struct crossbar *x, const struct packet *p, uint32_t channel)
{
	return channel && !x->is_exact ? x->full : p->chunks;
}

/* The channel on which a packet leaves, by the channel of its arrival. */
static inline uint32_t crossbar_leaves(
	const struct crossbar *x, const struct packet *p, uint32_t came)
{
	return x->is_stepped ? p->channel : came;
}

extern const struct router_ops crossbar_ops;
extern const struct router_calls crossbar_calls;

#endif
