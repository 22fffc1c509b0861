/*
 * A workload: the actions of a machine's nodes, and the end of the run.  It is
 * the client on top of the network; its measurements are returned as a struct
 * load_result.  It prints nothing.
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <stdio.h>

#include "base/param.h"
#include "host/host.h"
#include "host/params.h"
#include "meas/digest.h"
#include "meas/hist.h"
#include "nic/nic.h"
#include "net/net.h"

enum load_ending {
	LOAD_FINISHED,
	LOAD_DEADLOCKED,
	LOAD_SATURATED,
	LOAD_STOPPED,
	LOAD_STALLED, /* programs wait for what never comes */
	LOAD_ENDLESS, /* too long for the network's clocks: an error */
	LOAD_TIMEOUT, /* its time was limited, and is over */
	LOAD_FAILED, /* a program of the host ended as it should not */
};

/* "finished" and so on; "failed" also of errors. */
const char *load_ending_name(enum load_ending e);

/* A figure that only this workload has. */
struct load_figure {
	const char *name; /* snake_case, with its unit */
	double value;
};

enum {
	LOAD_MAX_FIGURES = 64,
	LOAD_MOST_KEYS = 32,
	LOAD_KNOT_TEXT = 4096,
	LOAD_MAX_WAITING = 16,
	LOAD_MAX_STUCK = 8
};

/* The first of several programs that wait for the same thing. */
struct load_waiting {
	struct host_waiting first;
	char who[64]; /* "rank 3 (node 1)", or empty */
	uint64_t same; /* how many there are, it included */
};

struct load_waiters {
	struct load_waiting first[LOAD_MAX_WAITING];
	uint32_t n_listed;
	uint64_t n; /* in all */
};

struct load_result {
	enum load_ending ending;
	const char *via; /* the layer it went through: "net", "nic" */
	sim_time end; /* simulated, warm-up included */
	struct net_counted counted; /* in its network, at the end */
	bool has_peak;
	int64_t peak_bps; /* payload bytes per second and node */
	bool has_throughput;
	sim_time measured; /* over which time */
	uint64_t bytes; /* of payload, delivered in it, by all nodes */
	uint64_t gone; /* bytes offered in it that faults took */
	int64_t offered_bps; /* per node; 0: as much as the network takes */
	/* Time of a message on a link, if the measured time is too short for
	 * messages; 0: it is long enough. */
	sim_time message_time, least_time; /* and what would be enough */
	const char *message_what; /* "one message", or what is sent at once */
	struct hist latency;
	const struct nic *nic; /* whose counters say more; NULL: none */
	uint32_t dead_programs; /* with their nodes */
	struct load_figure figure[LOAD_MAX_FIGURES];
	uint32_t n_figures;
	char knot[LOAD_KNOT_TEXT]; /* where it is deadlocked */
	uint64_t n_knotted; /* packets that wait only for each other */
	bool is_guests; /* these are a guest's, and wait for anything */
	/* Where it is stalled: in a word, and who waits. */
	char why[480];
	struct load_waiters waiters;
	struct net_stuck stuck[LOAD_MAX_STUCK]; /* the first of: */
	uint64_t n_stuck; /* links that hold packets for good */
};

/* The progress of a running workload. */
struct load_progress {
	sim_time now;
	uint64_t hops;
	uint32_t per_mille; /* done; 0 where that is not known */
};

struct facts;
struct parts;
struct proxy;

/* How programs of the host are started. */
struct load_launch {
	const char *folder; /* where they begin; NULL: here */
	const char *const *variables; /* NAME=VALUE, then NULL; or NULL */
	bool is_debugged;
	uint32_t debugged; /* then: the process that waits for a debugger */
	bool is_silent; /* nobody wants what they print, or types for them */
};

/* The needs of a workload for the machine's hosts; set by init(). */
struct load_needs {
	uint32_t n_programs; /* the most that start() will start, in all */
	uint32_t n_spawned; /* besides on each node, at most HOST_THREADS */
	size_t stack_bytes; /* of each; 0: HOST_STACK */
	uint32_t n_processes; /* of each node; 0: one */
	const char *const *arguments; /* of its programs; NULL: none */
	const char *const *command; /* of the host, and its; NULL: none */
	struct load_launch launch; /* of the command */
	bool has_files; /* IO nodes, where there are some, serve files */
	bool all_live; /* nodes, to the end: its programs wait for them all */
};

struct load {
	const struct load_ops *ops;
	const void *arg; /* of a workload that is not in the registry */
	/* the machine's, from init() on */
	const struct topo *topo;
	struct route *route;
	const struct link_params *link;
	const struct nic_ops *nic_ops; /* NULL: none */
	const void *nic_params;
	const struct parts *parts;
	const struct host_params *host_params;
	/* Its nodes, if it shares the machine with others; it numbers them from
	 * 0.  NULL: all nodes. */
	const struct host_world *place;
	/* Those of them that its programs know of, set by start(); NULL: all */
	const struct host_world *world;
	sim_time begin; /* when it begins */
	struct load_needs needs;
	/* the system's, from start() on; host and nic where client is NULL */
	struct net *net;
	struct host *host;
	struct nic *nic;
	uint64_t seed;
	uint64_t *digest; /* [site] */
	sim_time until; /* ends the run; 0: nothing does */
	bool has_book; /* time is budgeted */
	bool is_idle; /* no event is left: what still waits waits for ever */
	bool is_stalled; /* it is over, since a program waits for ever */
	/* It has ended the run, and check() says why: packets may be left
	 * anywhere. */
	bool has_given_up;
	void (*on_progress)(void *arg, const struct load_progress *p);
	void *progress_arg;
	/* NULL, or called while nothing runs, about once in this simulated
	 * time, which it may change. */
	void (*on_sample)(void *arg, sim_time now);
	void *sample_arg;
	sim_time sample;
};

struct load_ops {
	const char *name;
	const char *help; /* one line */
	size_t size; /* of the variant, whose first member is struct load */
	const struct param *params;
	size_t n_params;
	/* For init(), where one file makes several workloads: which it is. */
	uint32_t variant;
	/* Its programs, of the host, print, so reports go elsewhere. */
	bool prints;
	/* It may be one of several, each on some of the nodes. */
	bool can_share;
	/* It cuts messages by link_longest() when it is read, as all do whose
	 * packets enter the network directly (client). */
	bool cuts;
	/* What about it needs all processes on one computer: "a program of
	 * ..."; NULL, or a call that returns NULL: nothing does. */
	const char *(*one_host)(const struct load *l);
	/* Of the network; NULL where it runs programs on hosts instead, which
	 * use the machine's network interface. */
	const struct net_client_ops *client;
	/* Then, if not NULL: called for every packet whose bytes are in memory.
	 * arg is the load. */
	void (*on_delivered)(
		void *arg, site_id s, const struct packet *p, sim_time t);

	/*
	 * Before the network is built: checks the keys against the machine,
	 * and programs the routing's zones where a key asks for it.
	 */
	int (*init)(struct load *l, struct err *e);
	/* The system stands: makes the state, posts the first events. */
	void (*start)(struct load *l);
	/*
	 * The time until which to run before the next call, or SIM_NEVER if
	 * everything is done.  Called while nothing runs.
	 */
	sim_time (*next)(struct load *l);
	/* Fills in the measurements. */
	void (*report)(struct load *l, struct load_result *r);
	/* Adds more, such as lists and tables; NULL: there is nothing else. */
	void (*facts)(const struct load *l, struct facts *f);
	/* The path of a file that it writes after a run that has finished, or
	 * NULL; and its text.  NULL: it never does. */
	const char *(*file)(const struct load *l);
	void (*write)(const struct load *l, FILE *f);
	/* These have lines for its figures, too. */
	bool has_lines;
	/* Of a run that has ended, in place of its name and keys: "8 ranks on
	 * nodes 0..7"; NULL: there is nothing better. */
	void (*describe)(const struct load *l, char *text, size_t size);
	/* Of several processes, before programs that wait are described, each
	 * by its process: tells all of them what that needs of others; NULL:
	 * nothing. */
	void (*tell_waiting)(const struct load *l);
	/* Ranks of an MPI program (outside/proxy.h); NULL: it runs none. */
	const struct proxy *(*ranks)(const struct load *l, uint32_t *n);
	/*
	 * Checks the results of a finished run; an error if they are wrong.
	 * NULL if there is nothing to check.
	 */
	int (*check)(struct load *l, struct err *e);
	void (*fini)(struct load *l); /* NULL: there is nothing to free */
	/* Estimate of its memory in addition to the network, bytes; called
	 * after init().  NULL: next to nothing. */
	uint64_t (*estimate)(const struct load *l);
	/* Bytes of its longest message, after init(); NULL: it has none that
	 * could travel as trains. */
	uint64_t (*message)(const struct load *l);
};

const struct load_ops *load_find(const char *name);
extern const struct load_ops *const load_registry[];

/* --- a run --- */

/* How far it has come. */
struct load_course {
	struct load *load;
	struct load_result *result;
	/* When to ask it, to look for stalls, to let others look; and to
	 * pause. */
	sim_time until, look, sample, pause;
	uint64_t n_sampled; /* events until it was last looked at */
	bool has_begun, is_over;
};

/*
 * For runs that keep time with others: continues until a time and pauses there
 * (0), unless the run has ended (1) or failed (-1).  load_end() audits the
 * network of a run that has ended.
 */
void load_begin(struct load_course *c, struct load *l, struct load_result *r);
int load_go(struct load_course *c, sim_time pause, struct err *e);
int load_end(struct load_course *c, struct err *e);

/* --- for workloads --- */

/* on_room() of a client that looks for room only when it has a packet. */
void load_ignore_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t);

/* The key of a client's own events. */
#define LOAD_EVENT SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT)

/* In start(): the client's first event at a node. */
static inline void load_wake(
	const struct load *l, site_id s, sim_time t, uint16_t aux)
{
	if (sim_has(l->net->sim, s))
		sim_post(sim_owner(l->net->sim, s), s, t, LOAD_EVENT, aux, 0);
}

/* Of several processes: adds the histograms of all of them. */
void load_share_hist(const struct load *l, struct hist *h);

/* Before programs that wait are described, while nothing runs. */
static inline void load_tell_waiting(const struct load *l)
{
	if (l->ops->tell_waiting && sim_is_shared(l->net->sim))
		l->ops->tell_waiting(l);
}

/* In next(): reports the progress to whoever wants to know. */
void load_tell(const struct load *l, uint32_t per_mille);

/* The client of nodes that never send or receive a packet. */
extern const struct net_client_ops load_idle_client;

/* Whether it, or one of its jobs, prints. */
bool load_prints(const struct load *l);

void load_figure(struct load_result *r, const char *name, double value);

/* The topology's peak for packets of a size in bytes; 0 if there is no such
 * bound. */
int64_t load_peak(
	const struct topo *t, const struct link_params *link, uint32_t bytes);
/* Payload bytes per second of one link whose other direction is as busy. */
int64_t load_link_rate(const struct link_params *link, uint32_t bytes);

/* The time of a full packet on a busy link: a unit for durations. */
sim_time load_packet_time(const struct link_params *link, uint32_t bytes);

/* The only injection FIFO that a packet may use, or NET_NO_FIFO if it may use
 * any of its class: load_kept_fifo() is for packets that are not dynamic. */
uint32_t load_kept_fifo(const struct net *n, packet_id id);
static inline uint32_t load_own_fifo(const struct net *n, packet_id id)
{
	return n->packets[id].kind == PACKET_DYNAMIC ? NET_NO_FIFO
						     : load_kept_fifo(n, id);
}

/*
 * The injection FIFO for a packet, or NET_NO_FIFO if none has room; the search
 * starts at first.
 */
uint32_t load_find_fifo(
	const struct net *n, site_id s, packet_id id, uint32_t first);
/* The same for a packet without a FIFO of its own. */
uint32_t load_any_fifo(
	const struct net *n, site_id s, packet_id id, uint32_t first);

/* Programs the first set of zone masks, which packets of workloads obey;
 * a routing without zones has none to set. */
int load_set_zones(struct route *r, const char *zones, struct err *e);

/* The number of its nodes, and the node of a rank. */
static inline uint32_t load_n_nodes(const struct load *l)
{
	return l->place ? l->place->n : l->topo->n_nodes;
}

static inline site_id load_node(const struct load *l, uint32_t rank)
{
	return l->place ? l->place->node[rank] : rank;
}

static inline uint32_t load_rank(const struct load *l, site_id node)
{
	return l->place ? l->place->place[node] : node;
}

/* In init(), for the value of a key: an error if there is no such node. */
int load_check_node(
	const struct load *l, const char *key, int64_t node, struct err *e);

/* The feature that a machine must have for a key to have an effect, a word of
 * machine_has(); NULL: none. */
const char *load_key_needs(const char *key);

/* Keys that have an effect only with some words of another key: an error if one
 * was given without. */
int load_check_keys(const struct param_block *keys, struct err *e);

/* The enum packet_kind of the keys class and routing. */
uint8_t load_kind(int64_t class, int64_t routing);

/* Counts a packet's latency for the samples of run files, which have the
 * latencies of the load's histogram and those of a warm-up. */
static inline void load_count_latency(
	struct load *l, uint32_t worker, sim_time latency)
{
	struct net_tally *x = &l->net->tally[worker];

	x->timed++;
	x->latency += (uint64_t)latency;
}

/* Records a delivery in the site's digest. */
static inline void load_delivered(
	struct load *l, site_id s, const struct packet *p, sim_time tail)
{
	l->digest[s] =
		digest_add(l->digest[s], tail, p->src, p->kind, p->bytes);
}

#endif
