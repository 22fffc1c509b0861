/*
 * A workload: what the nodes of a machine do, and when they have done enough.
 * It is the client on top of the network; what it measured comes back as a
 * struct load_result.  It reads no file and prints nothing.
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

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
};

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

/* Programs that wait for the same thing: the first of them. */
struct load_waiting {
	struct host_waiting first;
	uint64_t same; /* how many there are, it included */
};

struct load_result {
	enum load_ending ending;
	const char *via; /* the layer it went through: "net", "nic" */
	sim_time end; /* simulated, warm-up included */
	bool has_peak;
	int64_t peak_bps; /* payload bytes per second and node */
	bool has_throughput;
	sim_time measured; /* over which time */
	uint64_t bytes; /* of payload, delivered in it, by all nodes */
	int64_t offered_bps; /* per node; 0: as much as the network takes */
	/* That a message takes on a link, where what was measured is too short
	 * to say anything about messages; 0: it was long enough. */
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
	struct load_waiting waiting[LOAD_MAX_WAITING];
	uint32_t n_waiting;
	uint64_t n_waiters; /* in all */
	struct net_stuck stuck[LOAD_MAX_STUCK]; /* the first of: */
	uint64_t n_stuck; /* links that hold packets for good */
};

/* What a running workload tells, now and then. */
struct load_progress {
	sim_time now;
	uint64_t hops;
	uint32_t per_mille; /* done; 0 where that is not known */
};

struct parts;

/* What a workload needs of the machine's hosts; init() says it. */
struct load_needs {
	uint32_t n_programs; /* the most that start() will start, in all */
	uint32_t n_spawned; /* besides on each node, at most HOST_THREADS */
	size_t stack_bytes; /* of each; 0: HOST_STACK */
	uint32_t n_processes; /* of each node; 0: one */
	const char *const *arguments; /* of its programs; NULL: none */
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
	/* The nodes that it has, where it shares the machine with others: it
	 * counts them from 0 on.  NULL: all nodes. */
	const struct host_world *place;
	sim_time begin; /* when it begins */
	struct load_needs needs;
	/* the system's, from start() on; host and nic where client is NULL */
	struct net *net;
	struct host *host;
	struct nic *nic;
	uint64_t seed;
	uint64_t *digest; /* [site] */
	sim_time until; /* ends the run; 0: nothing does */
	bool is_idle; /* no event is left: what still waits waits for ever */
	void (*on_progress)(void *arg, const struct load_progress *p);
	void *progress_arg;
	/* NULL, or called while nothing runs, about so often in simulated
	 * time; it may change how often. */
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
	/* It may be one of several, each on some of the nodes. */
	bool can_share;
	/* Of the network; NULL where it runs programs on hosts instead, which
	 * use the machine's network interface. */
	const struct net_client_ops *client;
	/* Then, if not NULL: told of every packet whose bytes are in memory.
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
	 * Until when to run before asking again; or, where all is done,
	 * SIM_NEVER.  Called while nothing runs.
	 */
	sim_time (*next)(struct load *l);
	/* Fills in what was measured. */
	void (*report)(struct load *l, struct load_result *r);
	/*
	 * Whether all that a finished run did is right: an error where it is
	 * not.  NULL where there is nothing to look at.
	 */
	int (*check)(struct load *l, struct err *e);
	void (*fini)(struct load *l); /* NULL: there is nothing to free */
	/* Bytes that it will take beside the network, about, asked after
	 * init().  NULL: next to nothing. */
	uint64_t (*estimate)(const struct load *l);
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
	bool has_begun, is_over;
};

/*
 * For runs that keep time with others: it goes on until some time, and pauses
 * there (0), unless it is over (1) or has failed (-1).  load_end() audits the
 * network of one that is over.
 */
void load_begin(struct load_course *c, struct load *l, struct load_result *r);
int load_go(struct load_course *c, sim_time pause, struct err *e);
int load_end(struct load_course *c, struct err *e);

/* Runs it to its end, and audits the network. */
int load_run(struct load *l, struct load_result *r, struct err *e);

/* All sites' digests, in order. */
uint64_t load_digest(const struct load *l);

/* --- for workloads --- */

/* A client's on_room(), of one that looks for room when it has something. */
void load_ignore_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t);

void load_figure(struct load_result *r, const char *name, double value);

/* The topology's peak for packets of so many bytes; 0 where there is no such
 * bound. */
int64_t load_peak(
	const struct topo *t, const struct link_params *link, uint32_t bytes);
/* Payload bytes per second of one link whose other direction is as busy. */
int64_t load_link_rate(const struct link_params *link, uint32_t bytes);

/* The time of a full packet on a busy link: a unit for durations. */
sim_time load_packet_time(const struct link_params *link, uint32_t bytes);

/* The one injection FIFO that a packet may go into, or NET_NO_FIFO where any of
 * its class will do. */
uint32_t load_own_fifo(const struct net *n, packet_id id);

/*
 * The injection FIFO for a packet, or NET_NO_FIFO where none has room; of those
 * that would do, the first from first on.
 */
uint32_t load_find_fifo(
	const struct net *n, site_id s, packet_id id, uint32_t first);

/* Programs the first set of zone masks, which packets of workloads obey;
 * a routing without zones has none to set. */
int load_set_zones(struct route *r, const char *zones, struct err *e);

/* How many nodes it has, and which one a rank is. */
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

/* In init(), of a key's value: an error where the machine has no such node. */
int load_check_node(
	const struct load *l, const char *key, int64_t node, struct err *e);
/* The same of the keys from and to, which must not be the same node, either. */
int load_check_pair(
	const struct load *l, int64_t from, int64_t to, struct err *e);

/* What the machine must have for a key to mean anything, as machine_has() knows
 * it; NULL: nothing. */
const char *load_key_needs(const char *key);

/* Keys that mean something only with some words of another one: an error where
 * the workload was given one without. */
int load_check_keys(const struct param_block *keys, struct err *e);

/* What the keys class and routing ask for: an enum packet_kind. */
uint8_t load_kind(int64_t class, int64_t routing);

/* Records a delivery in the site's digest. */
static inline void load_delivered(
	struct load *l, site_id s, const struct packet *p, sim_time tail)
{
	l->digest[s] =
		digest_add(l->digest[s], tail, p->src, p->kind, p->bytes);
}

#endif
