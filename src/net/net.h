/*
 * A network: sites, the wires between them, a routing, and on top a client
 * that injects packets and takes what arrives.  What a site is made of is its
 * router's business (net/router.h): nothing here knows a queue or a port's
 * state, and a network never touches a node's memory.
 *
 * Nodes and switches may have different routers; where all sites are alike
 * there is one.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include "base/wide.h"
#include "link/faults.h"
#include "link/link.h"
#include "link/packet.h"
#include "meas/budget.h"
#include "net/router.h"
#include "route/route.h"
#include "sim/sim.h"

/* Injection FIFOs by class: see net_fifos(). */
enum net_class {
	NET_USER,
	NET_LOCAL, /* for packets to the node itself */
	NET_HIGH,
	NET_SYSTEM,
	N_NET_CLASSES,
};

struct coll;
struct net_guest;

#define NET_NO_FIFO UINT32_MAX

enum { NET_FLIPS = 96 };

/* Engine events below this number are the router's, the others and programs
 * the client's. */
enum { ENGINE_CLIENT = 64 };

struct net_params {
	const struct router_ops *kind; /* of all sites */
	const struct router_ops *switches; /* of these; NULL: the same */
	const void *own; /* what the kind alone has */
	int64_t packets; /* full ones that a channel holds */
	int64_t queues; /* per channel */
	int64_t injection, reception; /* depth of FIFOs, full packets */
	int64_t transit; /* grants to transit per grant to injection */
	int64_t stall; /* a head that waits so long may be deadlocked */
};

/* Of direct routers, and of all. */
extern const struct param net_params_table[], net_every_table[];
extern const size_t net_params_n, net_every_n;
/* Sets the defaults of both. */
void net_params_defaults(struct net_params *p);

struct net_client;

/* What faults do to a client's packets and links; each entry may be NULL. */
struct net_client_faults {
	/* A bit of a packet was flipped on a wire, counted from the first one
	 * of bits that it has there.  NULL: PACKET_HURT says enough. */
	void (*on_hurt)(struct net_client *me, struct sim_worker *w,
		packet_id p, uint32_t bit, uint32_t bits);
	/* Of links that do not retry: some were, on this one; whether the
	 * next router drops it therefore.  NULL: none does. */
	bool (*is_dropped)(
		struct net_client *me, struct sim_worker *w, packet_id p);
	/*
	 * Of links that retry: whether the far end's check finds some flipped
	 * bits of a packet's copy, NET_FLIPS at most.  Where it does not, the
	 * packet is what they have made of it from there on.  NULL: it finds
	 * all.
	 */
	bool (*is_found)(struct net_client *me, struct sim_worker *w,
		packet_id p, const uint32_t *bit, uint32_t n_bits,
		uint32_t bits);
	/* A link of a site has died or returned.  NULL, for all clients: that
	 * is no event. */
	void (*on_link)(struct net_client *me, struct sim_worker *w, site_id s,
		port_id p, bool is_up, sim_time t);
	/* Management has stopped requests of a node, or lets them go on. */
	void (*on_quiesce)(struct net_client *me, struct sim_worker *w,
		site_id s, bool is_stopped, sim_time t);
};

/* Packets that the network copies and combines on their way. */
struct net_client_combine {
	/* A broadcast has made a copy of a packet, which shares the original's
	 * load; may be NULL. */
	void (*on_copy)(
		struct net_client *me, struct sim_worker *w, packet_id copy);
	/* A packet has become part of another, or is nobody's: the client owns
	 * it now.  Of those who send broadcasts, or reductions. */
	void (*on_absorbed)(
		struct net_client *me, struct sim_worker *w, packet_id p);
	/*
	 * Packets meet on the way up a tree: the first becomes what all of them
	 * are together, and is what goes on.  False where they do not fit
	 * together; then nothing has changed.  Of those with a guest.
	 */
	bool (*combine)(struct net_client *me, struct sim_worker *w, site_id s,
		const packet_id *id, uint32_t n_ids, sim_time t);
	/*
	 * A route of the tree is stopped at a site by a packet that it is not
	 * set for, or by registers that break a rule; may be NULL.
	 */
	void (*on_stopped)(struct net_client *me, struct sim_worker *w,
		site_id s, uint32_t route, sim_time t);
};

/* What is seen of its packets from outside; each entry may be NULL. */
struct net_client_look {
	/* What a packet is that waits there, in words. */
	void (*describe)(const struct net_client *me, packet_id p, char *text,
		size_t size);
	/*
	 * What a packet's header is on a link by which it leaves a site, on a
	 * channel and with that link's number: what is written into the book.
	 * NULL: nobody knows.
	 */
	void (*header)(const struct net_client *me, packet_id p,
		uint32_t channel, uint32_t number, uint8_t header[BOOK_HEADER]);
	/*
	 * How many packets a node keeps in a reception FIFO until others can
	 * leave by an injection FIFO, *by; NULL: there are never any.
	 */
	uint32_t (*n_kept)(const struct net_client *me, site_id s,
		uint32_t fifo, uint32_t *by);
};

struct net_client_ops {
	/*
	 * A packet's head entered a reception FIFO at t; its tail does at
	 * tail.  The client owns the packet now, and gives the room back with
	 * net_release(), unless it is a sink.
	 */
	void (*on_packet)(struct net_client *me, struct sim_worker *w,
		site_id s, uint32_t fifo, packet_id p, sim_time t,
		sim_time tail);
	/* An event of its own: ENGINE_CLIENT and above, and programs.  By
	 * value, which is two registers. */
	void (*on_event)(struct net_client *me, struct sim_worker *w, site_id s,
		sim_time t, struct sim_event e);
	/* An injection FIFO has got room for a full packet. */
	void (*on_room)(struct net_client *me, struct sim_worker *w, site_id s,
		uint32_t fifo, sim_time t);
	/* A packet was lost on a dead link, or dropped by management: the
	 * client owns it now.  NULL: it can do without none. */
	void (*on_lost)(
		struct net_client *me, struct sim_worker *w, packet_id p);

	/* What only some clients have; each may be NULL. */
	const struct net_client_faults *faults;
	const struct net_client_combine *combine;
	const struct net_client_look *look;

	bool is_sink; /* reception drains at once */
	/* What finds no room waits in order, and on_room() does nothing but
	 * inject it: how much a FIFO holds makes no difference. */
	bool has_outbox;
};

/* A client of some sites, as the network knows it. */
struct net_client {
	struct net_client_ops ops; /* a copy, whose tables are all there */
	const struct net_client_ops *from; /* of this */
	struct net *net;
	void *state; /* the client's own */
};

/* Per worker, so that nobody shares a line. */
struct net_tally {
	_Alignas(64) uint64_t injected;
	uint64_t delivered;
	uint64_t copies; /* made by broadcasts */
	uint64_t lost; /* on dead links */
	uint64_t dropped; /* when tables were loaded, or without a way */
	uint64_t stranded; /* of these, without a way */
	uint64_t absorbed; /* answers, by switches */
	uint64_t hops; /* of whole packets, by net_total() */
	/* Of what was delivered, since it was born: ps.  Not beside that, or
	 * compilers add both at once, which takes longer. */
	uint64_t latency;
};

/* Nodes' and switches' routers; the same one where there is no difference. */
enum { NET_NODES, NET_SWITCHES, NET_KINDS };

/* What management does: see struct fault_reload. */
struct net_tables {
	sim_time stop, load;
	struct route *route;
};

struct net {
	const struct router_calls *calls; /* of the nodes' router */
	struct router *router[NET_KINDS];
	struct packet *packets;
	const struct route *route;
	struct net_tally *tally;
	struct link_rules link;
	struct net_fifos fifos[N_NET_CLASSES];
	int32_t full; /* chunks of a full packet */
	uint32_t n_ports; /* the most that a site has */

	struct net_client **client; /* by class of sites; the first always is */
	uint16_t *class_of; /* [site] */
	uint32_t n_clients;
	struct faults *faults; /* NULL: there are none */
	struct link_retry *retry; /* [site * n_ports + port], or NULL */
	uint64_t *resent; /* copies in vain, where links retry: by channel */
	struct net_tables *tables; /* that are loaded, in order; or NULL */
	size_t n_tables;
	struct book *book; /* NULL: no budgets are kept */
	sim_time *token_waits; /* where there is a book: by channel */
	/* There: of packets by a link, [site * n_ports + port] */
	uint32_t *numbers;
	struct coll *coll; /* its switches' own; NULL: they have none */
	struct net_guest *guest; /* owned; NULL: there is none */
	struct packet_pool *pool;
	bool is_announced; /* there are events where links die and return */
	/* Links that retry do so for some time only: somebody else resends what
	 * they lose.  The client does, unless something else is said. */
	bool gives_up;
	struct sim *sim;
	struct sim_ops sim_ops;
	const struct topo *topo;
	struct net_params params;
	site_id n_sites;
	site_id n_nodes; /* the first sites, which inject and receive */
	uint32_t n_workers;
	uint64_t seed;
};

struct net_setup {
	const struct topo *topo;
	const struct route *route;
	const struct link_params *link;
	const struct net_params *router;
	const struct net_client_ops *client;
	void *client_state;
	uint32_t n_workers;
	uint64_t seed;
	const atomic_int *stop; /* see struct sim_params */
	const struct book_how *book; /* NULL: keep no time budgets */
	const struct fault_plan *faults; /* NULL: there are none */
};

/* What a network of this size will take, bytes; nothing is built. */
uint64_t net_estimate(const struct net_setup *s);

/* Whether net_new() refuses it; nothing is built. */
int net_check(const struct net_setup *s, struct err *e);
struct net *net_new(const struct net_setup *s, struct err *e);
void net_free(struct net *n);

/* Another client of all sites, in place of those before it; only before
 * anything runs. */
void net_attach(
	struct net *n, const struct net_client_ops *client, void *state);
/* A client for some sites; the others keep theirs. */
void net_attach_some(struct net *n, const site_id *site, uint32_t count,
	const struct net_client_ops *client, void *state);

/* The client of a site; and of who has sent a packet. */
static inline struct net_client *net_client(const struct net *n, site_id s)
{
	return n->client[n->class_of[s]];
}

static inline struct net_client *net_sender(const struct net *n, packet_id p)
{
	return net_client(n, n->packets[p].src);
}

/*
 * Puts a packet whose src, dst, kind, bytes, flags and zone are set into an
 * injection FIFO, which must have room.  Only from the site's own visit, in
 * the engine or program phase.  Where it was given to route_begin() before,
 * that stands (PACKET_BEGUN).
 *
 * A broadcast (PACKET_RANGE, last) is of high priority, and its number is one
 * that its source has used for no other packet.  Each node of the range has to
 * send an answer (PACKET_ANSWER, number, answer; dst is the broadcast's src).
 */
static inline void net_inject(struct net *n, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id p, sim_time t)
{
	n->calls->inject(n, w, s, fifo, p, t);
}

/* Whether an injection FIFO has room for a full packet. */
static inline bool net_has_room(const struct net *n, site_id s, uint32_t fifo)
{
	return n->calls->has_room(n, s, fifo);
}

/* The injection FIFOs of a class, which all nodes have. */
static inline struct net_fifos net_fifos(
	const struct net *n, enum net_class class)
{
	return n->fifos[class];
}

/* Gives chunks of a reception FIFO back; from the site's own visit. */
static inline void net_release(struct net *n, struct sim_worker *w, site_id s,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	n->calls->release(n, w, s, fifo, chunks, t);
}

static inline const struct router *net_router(const struct net *n, site_id s)
{
	return n->router[s < n->n_nodes ? NET_NODES : NET_SWITCHES];
}

/* Of routers, for events of PHASE_TOKEN and numbers from NET_LINK on: tells
 * the router and the client. */
void net_on_link(struct net *n, struct sim_worker *w, site_id s, sim_time t,
	const struct sim_event *e);

/* The same for NET_MANAGE; of routers with manage(). */
void net_on_manage(struct net *n, struct sim_worker *w, site_id s, sim_time t,
	const struct sim_event *e);
/* Gives a packet that has not arrived, and never will, to the client. */
void net_drop(struct net *n, struct sim_worker *w, packet_id id);

/* In lists of what left by ports on channels. */
static inline size_t net_channel_at(
	const struct net *n, site_id s, port_id p, uint32_t channel)
{
	return ((size_t)s * n->n_ports + p) * NET_MOST_CHANNELS + channel;
}

/* Of routers, where there is a book: a packet leaves by a port. */
static inline void net_count_tokens(
	struct net *n, site_id s, port_id p, uint32_t channel, packet_id id)
{
	n->token_waits[net_channel_at(n, s, p, channel)] +=
		book_token_wait(n->book, id);
}

/* The same: it has a number on its link. */
void net_note_header(
	struct net *n, site_id s, port_id p, uint32_t channel, packet_id id);

/* "node 5 (1,1,0), in by B+, dynamic" */
void net_place_name(const struct net *n, const struct book_place *at,
	char *text, size_t size);

/* Bytes that it holds now. */
uint64_t net_memory(const struct net *n);

/* Sums over the workers; and of what was injected, packets that wait by now
 * for room in their FIFOs, see struct router_ops. */
struct net_tally net_total(const struct net *n);
/*
 * Hops of the packets that are inside by now: of those of net_total(), the ones
 * that do not belong to packets that have arrived.  As if packets took shortest
 * ways; of very large networks it is estimated.
 */
uint64_t net_hops_inside(const struct net *n);
uint64_t net_n_early(const struct net *n, sim_time now);

/*
 * Counts every packet and token in the machine and compares: nothing lost,
 * nothing doubled.  Only while nothing runs.
 */
int net_audit(struct net *n, struct err *e);

/*
 * The performance counters of a port over the channels of a mask, as they
 * stand at now.
 */
struct net_counters net_counters(const struct net *n, site_id s, port_id p,
	uint32_t channels, sim_time now);
void net_count(const struct net *n, site_id s, port_id p, uint32_t channels,
	sim_time now, struct net_counters *c);

/*
 * Looks for packets each of which waits only for others of the set.  Returns
 * their number, and describes one cycle of them in text.
 */
uint64_t net_knot(struct net *n, char *text, size_t size);
/* A link that never gives up, and never returns, and what it holds: "a packet
 * from node 3 to node 5", "a barrier packet". */
struct net_stuck {
	site_id site;
	port_id port;
	char what[64];
	sim_time since;
};

/* How many hold one since some time or longer; the first few are listed. */
uint64_t net_stuck(const struct net *n, sim_time since, struct net_stuck *list,
	uint32_t most);
/* Packets that were damaged and not found to be. */
uint64_t net_escaped(const struct net *n);
/* What is to be reported of a run with faults; the caller's to free. */
struct ras_event *net_ras(const struct net *n, size_t *n_events);
/* The longest that a head waits now where tokens are short; 0 where there are
 * too few packets inside for any deadlock. */
sim_time net_longest_wait(const struct net *n, sim_time now);

#endif
