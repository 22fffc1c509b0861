/*
 * A network: sites, the wires between them, a routing, and on top a client that
 * injects packets and receives them.  The inside of a site belongs to its
 * router (net/router.h): nothing here knows a queue or the state of a port, and
 * a network never touches a node's memory.  Nodes and switches may have
 * different routers; otherwise there is one.
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

enum { NET_FLIPS = 512 };

/* Engine events below this number belong to the router; the others, and
 * programs, to the client. */
enum { ENGINE_CLIENT = 64 };

struct net_params {
	const struct router_ops *kind; /* of all sites */
	const struct router_ops *switches; /* of switches; NULL: the same */
	const void *own; /* parameters of the kind */
	int64_t packets; /* capacity of a channel, in full packets */
	int64_t queues; /* per channel */
	int64_t injection, reception; /* depth of FIFOs, full packets */
	int64_t transit; /* grants to transit per grant to injection */
	int64_t stall; /* a head that waits longer may be deadlocked */
};

/* For direct routers, and for all. */
extern const struct param net_params_table[], net_every_table[];

struct net_client;

/* A flipped bit of a packet on a wire, counted from the first of its bits
 * there. */
struct net_flip {
	uint32_t bit, bits;
	const struct link_code *code; /* of that wire */
};

/* What faults do to a client's packets and links; each entry may be NULL. */
struct net_client_faults {
	/* A bit of a packet was flipped.  NULL: PACKET_HURT is enough. */
	void (*on_hurt)(struct net_client *me, struct sim_worker *w,
		packet_id p, const struct net_flip *flip);
	/* For links that do not retry: bits were flipped on this link; returns
	 * whether the next router drops the packet.  NULL: never. */
	bool (*is_dropped)(
		struct net_client *me, struct sim_worker *w, packet_id p);
	/*
	 * For links that retry: whether the check at the receiving end detects
	 * flipped bits of a copy, at most NET_FLIPS.  If it does not, the
	 * packet keeps them.  NULL: it detects all.
	 */
	bool (*is_found)(struct net_client *me, struct sim_worker *w,
		packet_id p, const uint32_t *bit, uint32_t n_bits,
		uint32_t bits);
	/* A link of a site has died or returned.  If this is NULL for all
	 * clients, there is no such event. */
	void (*on_link)(struct net_client *me, struct sim_worker *w, site_id s,
		port_id p, bool is_up, sim_time t);
	/* Management has stopped the requests of a node, or lets them
	 * continue. */
	void (*on_quiesce)(struct net_client *me, struct sim_worker *w,
		site_id s, bool is_stopped, sim_time t);
};

/* Packets that the network copies and combines on their way. */
struct net_client_combine {
	/* A broadcast has made a copy of a packet, which shares its load; may
	 * be NULL. */
	void (*on_copy)(
		struct net_client *me, struct sim_worker *w, packet_id copy);
	/* A packet has become part of another, or has no owner: the client owns
	 * it now.  For clients that send broadcasts or reductions. */
	void (*on_absorbed)(
		struct net_client *me, struct sim_worker *w, packet_id p);
	/*
	 * Packets meet on the way up a tree: the first one becomes their
	 * combination and continues.  False if they do not match; then nothing
	 * has changed.  For clients with a guest.
	 */
	bool (*combine)(struct net_client *me, struct sim_worker *w, site_id s,
		const packet_id *id, uint32_t n_ids, sim_time t);
	/*
	 * A route of the tree has stopped at a site, because of a packet for
	 * which it is not set, or of registers that break a rule; may be NULL.
	 */
	void (*on_stopped)(struct net_client *me, struct sim_worker *w,
		site_id s, uint32_t route, sim_time t);
};

/* Descriptions of its packets; each entry may be NULL. */
struct net_client_look {
	/* Describes a waiting packet. */
	void (*describe)(const struct net_client *me, packet_id p, char *text,
		size_t size);
	/*
	 * The header of a packet on the link by which it leaves a site, on a
	 * channel and with its number on that link, for the book.  NULL:
	 * unknown.
	 */
	void (*header)(const struct net_client *me, packet_id p,
		uint32_t channel, uint32_t number, uint8_t header[BOOK_HEADER]);
	/*
	 * Number of packets that a node keeps in a reception FIFO until others
	 * can leave by an injection FIFO, *by; NULL: none.
	 */
	uint32_t (*n_kept)(const struct net_client *me, site_id s,
		uint32_t fifo, uint32_t *by);
};

/* What packets carry besides themselves, when they leave the process: pack()
 * appends it and gives it up, unpack() makes it anew.  Padding may follow. */
struct net_client_carry {
	void (*pack)(struct net_client *me, struct sim_worker *w, packet_id p,
		struct cluster_bytes *to);
	void (*unpack)(struct net_client *me, struct sim_worker *w, packet_id p,
		const void *from, size_t n);
};

struct net_client_ops {
	/*
	 * The head of a packet entered a reception FIFO at t; its tail does at
	 * tail.  The client owns the packet now, and frees the space with
	 * net_release(), unless it is a sink.
	 */
	void (*on_packet)(struct net_client *me, struct sim_worker *w,
		site_id s, uint32_t fifo, packet_id p, sim_time t,
		sim_time tail);
	/* An event of the client: ENGINE_CLIENT and above, and programs.  By
	 * value, in two registers. */
	void (*on_event)(struct net_client *me, struct sim_worker *w, site_id s,
		sim_time t, struct sim_event e);
	/* An injection FIFO has room for a full packet again. */
	void (*on_room)(struct net_client *me, struct sim_worker *w, site_id s,
		uint32_t fifo, sim_time t);
	/* A packet was lost on a dead link, or dropped by management: the
	 * client owns it now.  NULL: the client cannot lose packets. */
	void (*on_lost)(
		struct net_client *me, struct sim_worker *w, packet_id p);

	/* Optional tables; each may be NULL. */
	const struct net_client_faults *faults;
	const struct net_client_combine *combine;
	const struct net_client_look *look;
	const struct net_client_carry *carry;

	bool is_sink; /* reception drains at once */
	bool awaits_room; /* on_room() does nothing unless a packet has found
			   * no room */
	/* Packets that find no room wait in order, and on_room() only injects
	 * them: the size of a FIFO makes no difference. */
	bool has_outbox;
};

/* A client of some sites, as the network knows it. */
struct net_client {
	struct net_client_ops ops; /* a copy with all tables present */
	const struct net_client_ops *from; /* of this */
	struct net *net;
	void *state; /* the client's own */
};

/* Per worker, so that no cache line is shared. */
struct net_tally {
	_Alignas(64) uint64_t injected;
	uint64_t delivered;
	uint64_t copies; /* made by broadcasts */
	uint64_t lost; /* on dead links */
	uint64_t dropped; /* when tables were loaded, or without a route */
	uint64_t stranded; /* of these, without a route */
	uint64_t absorbed; /* answers, by switches */
	/* Packets whose latency the client counts, and its sum in ps: see
	 * load_count_latency(). */
	uint64_t timed, latency;
	uint64_t stuck; /* packets that links hold for ever */
};

/* Routers of nodes and of switches; may be the same one. */
enum { NET_NODES, NET_SWITCHES, NET_KINDS };

/* Actions of management: see struct fault_reload. */
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
	uint32_t n_ports; /* largest number of ports of a site */
	struct topo_links links; /* numbers of links: net_link_at() */

	struct net_client **client; /* by class; the first always exists */
	uint16_t *class_of; /* [site] */
	uint32_t n_clients;
	struct faults *faults; /* NULL: there are none */
	struct link_retry *retry; /* [link], or NULL */
	uint64_t *resent; /* with faults: wasted copies, by channel; or NULL */
	/* Loaded, in order, or NULL; with n->repair, these are its views for
	 * which injection stops. */
	struct net_tables *tables;
	size_t n_tables;
	struct net_repair *repair; /* NULL: failed links are not avoided */
	struct book *book; /* NULL: no budgets are kept */
	sim_time *token_waits; /* where there is a book: by channel */
	uint32_t *numbers; /* with a book: of packets on a link, [link] */
	struct coll *coll; /* collectives of its switches; NULL: none */
	struct net_guest *guest; /* owned; NULL: there is none */
	struct packet_pool *pool;
	bool is_announced; /* there are events when links die and return */
	/* Links that retry give up after some time, because the client (by
	 * default) retransmits lost packets. */
	bool gives_up;
	struct sim *sim;
	struct sim_ops sim_ops;
	const struct topo *topo;
	struct net_params params;
	site_id n_sites;
	site_id n_nodes; /* the first sites, which inject and receive */
	uint32_t n_workers;
	uint64_t seed;
	/* Links whose ends are in different processes, by the receiver: see
	 * net/shares.h. */
	uint32_t *cut;
	size_t n_cuts;
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
	struct cluster *cluster; /* of processes that share it; NULL: none */
	struct sim_trial trial;
};

/* Estimate of the memory of a network of this size, bytes; nothing is built. */
uint64_t net_estimate(const struct net_setup *s);
/* The same of so many nodes, and of so many switches and IO nodes. */
uint64_t net_estimate_share(
	const struct net_setup *s, uint64_t nodes, uint64_t others);

/* Whether net_new() would refuse it; nothing is built. */
int net_check(const struct net_setup *s, struct err *e);
struct net *net_new(const struct net_setup *s, struct err *e);
void net_free(struct net *n);

/* Sets one client for all sites and replaces earlier ones; only before anything
 * runs. */
void net_attach(
	struct net *n, const struct net_client_ops *client, void *state);
/* Sets a client for some sites; the others keep theirs. */
void net_attach_some(struct net *n, const site_id *site, uint32_t count,
	const struct net_client_ops *client, void *state);

/* The client of a site; and of the sender of a packet. */
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
 * injection FIFO, which must have room.  Only from the site's own visit, in the
 * engine or program phase.  If it was given to route_begin() before, its route
 * stays (PACKET_BEGUN).
 *
 * A broadcast (PACKET_RANGE, last) has high priority, and its source must use
 * its number for no other packet.  Each node of the range must send an answer
 * (PACKET_ANSWER, number, answer; dst is the broadcast's src).
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

/* The injection FIFOs of a class, the same for all nodes. */
static inline struct net_fifos net_fifos(
	const struct net *n, enum net_class class)
{
	return n->fifos[class];
}

/* Frees chunks of a reception FIFO; from the site's own visit. */
static inline void net_release(struct net *n, struct sim_worker *w, site_id s,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	n->calls->release(n, w, s, fifo, chunks, t);
}

static inline const struct router *net_router(const struct net *n, site_id s)
{
	return n->router[s < n->n_nodes ? NET_NODES : NET_SWITCHES];
}

/* For routers: handles events of PHASE_TOKEN with numbers of NET_LINK and
 * above, by calling the router and the client. */
void net_on_link(struct net *n, struct sim_worker *w, site_id s, sim_time t,
	const struct sim_event *e);

/* The same for NET_MANAGE; for routers with ops->manage(). */
void net_on_manage(struct net *n, struct sim_worker *w, site_id s, sim_time t,
	const struct sim_event *e);
/* Gives a packet that will never arrive to the client. */
void net_drop(struct net *n, struct sim_worker *w, packet_id id);

/* Numbers of the links that leave a site by its ports. */
static inline uint32_t net_link_at(const struct net *n, site_id s, port_id p)
{
	return topo_link(&n->links, s, p);
}

/* Index in lists by port and channel. */
static inline size_t net_channel_at(
	const struct net *n, site_id s, port_id p, uint32_t channel)
{
	return (size_t)net_link_at(n, s, p) * NET_MOST_CHANNELS + channel;
}

/* The largest number of buffers of a site; and a site's buffers that hold
 * packets, in a list of that size, in ascending order. */
uint32_t net_most_buffers(const struct net *n);
uint32_t net_in_use(const struct net *n, site_id s, uint32_t *list);

/* "node 5 (1,1,0), in by B+, dynamic" */
void net_place_name(const struct net *n, const struct book_place *at,
	char *text, size_t size);

/* For the kernel: packets that leave the process, see struct sim_ops. */
void net_pack(struct sim_worker *w, const struct sim_event *e,
	struct cluster_bytes *to);
bool net_is_still(const struct sim_event *e);
bool net_rests(const void *net);
uint32_t net_unpack(struct sim_worker *w, const struct sim_event *e,
	const void *from, size_t bytes);

/* Memory in use, bytes. */
uint64_t net_memory(const struct net *n);

/*
 * From here to the end: while nothing runs.  Of several processes, each calls
 * these at the same point of the program (sim/cluster.h), and learns of the
 * whole network.
 */

/* Sums over the workers; injected packets exclude those that still wait for
 * room in their FIFOs, see struct router_ops. */
struct net_tally net_total(const struct net *n);
/* Hops of whole packets: looks at every buffer and port. */
uint64_t net_hops(const struct net *n);
uint64_t net_n_early(const struct net *n, sim_time now);
/* Number of packets anywhere. */
uint64_t net_n_packets(const struct net *n);

/* Packets that a node keeps in a reception FIFO until others can leave by a
 * channel of its link, *by: see struct net_client_look. */
uint32_t net_kept(const struct net *n, site_id s, uint32_t fifo, uint32_t *by);

/*
 * Counts every packet and token in the machine: nothing may be lost or
 * duplicated.  Only while nothing runs.
 */
int net_audit(struct net *n, struct err *e);

/*
 * What it counts on its way: net_hops(), and its part that does not belong to
 * packets that have arrived.  That is computed as if packets took shortest
 * routes, and estimated for very large networks.
 */
struct net_counted {
	uint64_t hops, hops_inside;
};

int net_audit_counting(struct net *n, struct net_counted *c, struct err *e);

/* The performance counters of a port over the channels of a mask, at now. */
struct net_counters net_counters(const struct net *n, site_id s, port_id p,
	uint32_t channels, sim_time now);

/*
 * Searches for packets that each wait only for others of the set.  Returns
 * their number, and describes one cycle of them in text.
 */
uint64_t net_knot(struct net *n, char *text, size_t size);

enum { NET_STUCK_TEXT = 64 };

/* A link that never gives up and never returns, and the packet that it holds:
 * "a packet from node 3 to node 5", "a barrier packet". */
struct net_stuck {
	site_id site;
	port_id port;
	char what[NET_STUCK_TEXT];
	sim_time since;
};

/* Number of links that hold one since some time or longer; lists the first
 * few. */
uint64_t net_stuck(const struct net *n, sim_time since, struct net_stuck *list,
	uint32_t most);
/* Damaged packets that were not detected. */
uint64_t net_escaped(const struct net *n);
/* Reports of a run with faults; the caller frees them. */
struct ras_event *net_ras(const struct net *n, size_t *n_events);
/* Whether there are enough packets inside for a deadlock. */
bool net_may_lock(const struct net *n);
/* Longest wait of a head for tokens, now; 0 if there are too few packets inside
 * for a deadlock. */
sim_time net_longest_wait(const struct net *n, sim_time now);

#endif
