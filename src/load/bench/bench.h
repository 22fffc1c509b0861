/*
 * Experiments for any machine: programs put bytes into each other's memories,
 * get them, and wait for them.  Drivers make the transfers: each network
 * interface has one, and so has the message layer (weft/msg.h), which runs on
 * every machine.  An experiment knows no machine, and a driver knows no
 * experiment.
 *
 * The key via selects the driver: "nic" the network interface's own, "msg" that
 * of messages.  The key by selects one of its transfer methods ("means").
 *
 * An experiment begins with a struct bench, calls bench_init() in init() and
 * bench_start() in start(), and puts programs_next() and the like into its
 * operations.
 */
#ifndef LOAD_BENCH_BENCH_H
#define LOAD_BENCH_BENCH_H

#include "coll/combine.h"
#include "load/programs.h"
#include "topo/grid.h"

/* A node's memory below this is the driver's. */
#define BENCH_FREE (UINT64_C(16) << 20)
/* Usual source and target of an experiment. */
#define BENCH_SOURCE (UINT64_C(1) << 30)
#define BENCH_TARGET (UINT64_C(2) << 30)
#define BENCH_MEMORY (UINT64_C(3) << 30)

#define BENCH_NONE UINT32_MAX /* no counter */
#define BENCH_ANY  UINT32_MAX /* queue or port */

enum { BENCH_AUTO }; /* the driver's choice, the first of all means */

struct bench;
struct bench_driver;

/* The needs of an experiment. */
struct bench_needs {
	uint32_t n_programs; /* of all nodes; 0: two, on nodes from and to */
	uint64_t memory; /* of each process, from address 0 on */
	uint64_t touched; /* bytes of it, by each program, roughly */
	size_t data; /* bytes of its own state for each program */
	size_t results; /* the first of them, numbers that its report needs */
	uint64_t n_puts; /* of each program to any queue; 0: few */
	uint32_t queues; /* of each program; 0: one */
	uint32_t lanes; /* programs of a node, without messages; 0: few */
	uint32_t queue_bytes; /* sufficient size of a queue; 0: the largest */
	int64_t routing; /* as the key says */
	bool is_msg; /* by messages */
	bool is_endpoint; /* ... as a rank of an MPI program sends them */
	bool is_software; /* no collectives of the network */
	bool has_gets;
	/* Every process runs a program; n_programs are those of nodes with one
	 * process each. */
	bool is_for_all;
	bool is_for_rate; /* measures the rate, not the latency */
	bool has_chances; /* transfers may be left to chance */
	bool is_early; /* needs no counters, so all are ready sooner */
	bool has_port; /* has KEY_PORT */
	bool has_processes; /* may have several on a node, without messages */
	/* Accepts means that are calculated, or that drop their bytes. */
	bool draws, drops;
	bool has_receives; /* it posts receives for means that need them */
};

struct bench {
	struct programs programs;
	/* keys that several experiments have */
	int64_t via, from, to, bytes, rounds, cpu;
	int64_t warm; /* rounds before those that count */
	int64_t procs; /* of each node; 0: one; -1: bench_set_processes() */
	char by[PARAM_TEXT_MAX];
	int64_t source, target; /* memories: 0 the host's, else 1 + a GPU */
	int64_t port; /* of a node, by which transfers leave; or -1 */
	/* Where these begin; 0: BENCH_SOURCE, BENCH_TARGET. */
	uint64_t source_from, target_from;

	const struct bench_driver *driver;
	const struct bench_looks *looks; /* the driver's, or an empty one */
	uint32_t means;
	struct bench_needs needs;
	struct bench_end *ends; /* [program] */
	uint8_t *own; /* the driver's part of them */
	uint8_t *data; /* the experiment's */
	uint32_t *address; /* [node], as the driver writes it, where all send */

	/*
	 * Synthetic memory is made of pieces: the owner of the bytes of the
	 * i-th, in a program's source or target.  NULL: all are alike.
	 */
	uint64_t piece; /* bytes */
	uint64_t (*owner)(
		const struct bench_end *x, uint64_t i, bool is_source);
};

enum { BENCH_REGIONS = 4 };

/* A program's end of the transfers. */
struct bench_end {
	struct bench *bench;
	struct programs *programs; /* these three are the bench's */
	struct load *load;
	const struct bench_driver *driver;
	const struct bench_program *program;
	site_id node;
	uint32_t rank; /* the node, where each has one process */
	uint32_t peer; /* of two nodes */
	bool begins; /* it is the first of two */
	uint32_t lane; /* the thread, where a node has several programs */
	bool is_sink; /* it sends nothing; set before it is opened */
	sim_time start, end; /* of what is measured */
	bool has_ended; /* its program */
	int region[BENCH_REGIONS]; /* synthetic memory that is written to */
	void *data; /* the experiment's */
	void *own; /* the driver's */
};

/* A put to a node, or a get from it. */
struct bench_transfer {
	uint32_t node; /* or rank */
	uint64_t to, from, bytes;
	uint32_t counter; /* of that node, or BENCH_NONE; of puts only */
	uint32_t means;
	uint32_t queue; /* or BENCH_ANY */
	uint32_t port; /* to leave by, or BENCH_ANY */
	bool is_tracked;
	/* Random bits for everything that the interface leaves to software,
	 * such as routes; 0: the driver's usual choice. */
	uint64_t chance;
};

/* One of a driver's ways to transfer bytes. */
struct bench_means {
	const char *name;
	const char *label; /* in names of figures; NULL: the name */
	bool is_quick; /* the best for a few bytes */
	uint32_t most; /* bytes of a transfer; 0: any number */
	bool is_dropped; /* its bytes go nowhere */
	bool is_for_gpus; /* makes no difference between host memories */
	bool is_copied; /* a program places its bytes, with its own rights */
	bool is_alias; /* other means transfer its bytes in the same way */
	/* Receivers wait for it in a way of its own, so it cannot be mixed with
	 * others. */
	bool is_alone;
	/* Messages that are matched with receives: the driver's table, for
	 * experiments that have them. */
	bool is_tagged;
	/* The time of a transfer from program to program, if it is calculated;
	 * NULL: it is simulated. */
	sim_time (*drawn)(const struct bench *b, uint64_t bytes);
};

struct bench_limits {
	uint32_t grain; /* bytes; lengths are multiples of it */
	uint32_t counters;
	uint32_t queues; /* of a program */
	uint32_t lanes; /* programs of a node */
	uint32_t get_bytes; /* of one get; 0: any */
};

/* Properties of a driver. */
enum {
	BENCH_SETS_LATER = 1, /* counters are set by a command, in time */
	BENCH_HAS_SELF = 2, /* a node can put into its own memory */
	BENCH_HAS_ACKS =
		4, /* flush() of a put means that the bytes are there */
	/* A failed transfer may have been made, or a part of it, and another
	 * try may succeed. */
	BENCH_OPEN_ENDED = 8,
	BENCH_GETS_BY_MEANS = 16, /* gets have a choice, too: the key's */
	/* Puts to a GPU may need the program at the target. */
	BENCH_NEEDS_TARGET = 32,
	BENCH_HAS_MESSAGES = 64, /* with send() and receive() */
	BENCH_HAS_PROCESSES = 128, /* lanes are processes, not threads */
};

/*
 * Calls are made by programs, except where noted.  Calls that return bool
 * return false if the program can only give up; they have complained then, or
 * the network interface will report why.
 */
struct bench_driver {
	const char *name; /* the network interface's word, or "msg" */
	const struct bench_means *means; /* "auto" first; no name last */
	struct bench_limits most;
	uint32_t is; /* BENCH_... */
	size_t size; /* of its state for an end, ... */
	size_t queue_size; /* ... and for each queue besides */

	bool (*open)(struct bench_end *x);
	/* A counter becomes zero when this number of bytes has arrived. */
	void (*expect)(struct bench_end *x, uint32_t counter, uint64_t bytes);
	bool (*await)(struct bench_end *x, uint32_t counter);
	void (*put)(struct bench_end *x, const struct bench_transfer *p);
	void (*get)(struct bench_end *x, const struct bench_transfer *g);
	/* Waits for all tracked transfers: for puts until their sources may
	 * change, for gets until the bytes are here.  False if any failed. */
	bool (*flush)(struct bench_end *x);

	/* --- optional --- */

	/* Messages between programs, of a node or rank. */
	bool (*send)(struct bench_end *x, uint32_t node, uint64_t bytes);
	bool (*receive)(struct bench_end *x, uint32_t node, uint64_t bytes);
	/* Frees the state of an end, opened or not; outside of programs. */
	void (*fini)(struct bench_end *x);
	/* Waits until all are ready; NULL: until PROGRAMS_START. */
	void (*ready)(struct bench_end *x);
	/* Waits for a word of memory, if the last word of a transfer arrives
	 * last: then messages need no counters. */
	bool (*wait_word)(struct bench_end *x, uint64_t at, uint64_t value);
	/* Bytes of a put's packet, where a word of each is waited for. */
	uint32_t (*packet)(const struct bench *b);
	/* A program that keeps breaking the rules of its own queue; arg is a
	 * struct bench_rogue. */
	void (*rogue)(void *arg);
	/* The interface loses the pages of some of the process's memory, which
	 * keeps its bytes, and finds them again. */
	void (*drop)(struct bench_end *x, uint64_t at, uint64_t bytes);
	const struct bench_tracking *tracking;
	const struct bench_gpus *gpus;
	const struct bench_atomics *atomics;
	const struct bench_channel *channel;
	const struct bench_tagged *tagged;
	const struct bench_looks *looks;
	/* Operations of the network itself: */
	const struct bench_cast *cast; /* it copies the packets of one node */
	const struct bench_tree *tree; /* it combines and copies packets */
	const struct bench_barrier *barrier;
	const struct bench_group *group; /* interfaces do it, along a tree */
	const struct bench_mpi *mpi;
	/* The ports of a node, one of which a transfer may name. */
	uint32_t (*n_ports)(const struct load *l);
};

/* Called before the first of n tracked transfers of this length. */
struct bench_tracking {
	void (*puts)(struct bench_end *x, uint32_t means, uint64_t n,
		uint64_t bytes); /* or NULL */
	void (*gets)(struct bench_end *x, uint64_t n, uint64_t bytes);
};

/* Transfers from and to memories of GPUs, which are numbered from 0 on. */
struct bench_gpus {
	int64_t (*count)(const struct load *l); /* of a node */
	void (*open)(struct load *l, site_id node); /* before programs run */
	uint64_t (*at)(uint32_t gpu); /* where its memory begins */
	void (*write)(const struct bench_end *x, uint64_t to, const void *from,
		size_t n);
	void (*read)(
		const struct bench_end *x, uint64_t from, void *to, size_t n);
};

/* Observations of the interface, outside of programs.  Each may be NULL. */
struct bench_looks {
	/* A node's counter's value. */
	uint64_t (*counter)(const struct bench *b, site_id node, uint32_t i);
	/* Bytes that the program's core has ever stored for its puts, and when
	 * the last store ended; from a program. */
	uint64_t (*stored)(const struct bench_end *x, sim_time *at);
	/* How a node is addressed. */
	uint32_t (*address)(const struct topo *t, site_id node);
	/* Number of CPUs of a node. */
	int64_t (*cpus)(const struct bench *b);
	/* Errors of the network that the library's calls saw, ever. */
	uint64_t (*n_seen)(const struct bench *b);
	/* The part of a latency that is software. */
	sim_time (*software)(const struct bench *b);
	/* A program has done its warm rounds, which report() leaves out; from
	 * the program. */
	void (*warmed)(struct bench_end *x);
	/* Its own figures of transfers between nodes from and to, and of their
	 * rate. */
	void (*report)(const struct bench *b, struct load_result *r);
	void (*report_rate)(
		const struct bench *b, struct load_result *r, double bytes);
};

/* Changes of a word. */
enum bench_atomic {
	BENCH_ADD,
	BENCH_STORE,
	BENCH_MAX,
	BENCH_XOR,
	BENCH_OR,
	BENCH_ATOMICS
};

struct bench_atomics {
	uint32_t n; /* kinds that the interface has, the first ones */
	bool has_acks; /* after flush() a change has been made */
	bool adds_one; /* every operand is 1 */
	/* Changes a word of a node's memory, with a limited number of changes
	 * in flight, for which flush() waits. */
	void (*change)(struct bench_end *x, uint32_t node, uint64_t at,
		enum bench_atomic kind, uint64_t operand, uint32_t most);
	/* Waits until a node's loads see all changes of its own words; NULL:
	 * they always do. */
	bool (*settle)(struct bench_end *x);
};

/* Blocks that the receiving program takes; the sender does not choose their
 * address. */
struct bench_channel {
	uint32_t most_lanes; /* that can take blocks */
	uint32_t most_bytes; /* of a block; 0: any */
	/* The interface's error for a block without a buffer; NULL: its sender
	 * waits. */
	const char *refusal;
	/* Between two looks of a program whether all others are over, so that
	 * one node can answer all; 0: 10 us. */
	sim_time pause;
	/* Accepts blocks of up to this length, in buffers from an address
	 * on. */
	bool (*open)(struct bench_end *x, uint64_t at, uint32_t bytes);
	/* The next complete block; returns its length, or 0. */
	uint32_t (*take)(struct bench_end *x, void *block);
	/* Bytes for each program from that address on, if they are more than
	 * buffers; NULL: a few blocks'.  Outside of programs. */
	uint64_t (*memory)(const struct load *l, uint32_t bytes);
	/* Tells receivers that no more blocks are sent, so that they can wait
	 * for all.  May be NULL. */
	void (*finish)(struct bench_end *x);
	/* Accepts no more blocks; those that have arrived can be taken.  May be
	 * NULL. */
	void (*close)(struct bench_end *x);
	/* To a lane of a node; flush() is false if it had no buffer. */
	void (*send)(struct bench_end *x, uint32_t node, uint32_t lane,
		uint64_t from, uint64_t bytes);
};

/* Messages that are matched with receives. */
struct bench_tagged {
	uint32_t most; /* receives that have not been awaited */
	/* Posts a receive of a node's next message; awaits the one that was
	 * posted first. */
	bool (*post)(struct bench_end *x, uint32_t node, uint64_t to,
		uint64_t bytes);
	bool (*await)(struct bench_end *x);
	bool (*send)(struct bench_end *x, uint32_t node, uint64_t from,
		uint64_t bytes);
	/* Posts n receives of its messages that none will match, for ever. */
	bool (*obstruct)(struct bench_end *x, uint32_t node, uint32_t n);
	/* Waits until the bytes of all that were sent may change. */
	bool (*finish)(struct bench_end *x);
};

struct bench_rogue {
	struct programs *programs;
	uint32_t stream; /* of random numbers */
	uint64_t deeds, done; /* violations: planned; stopped so far */
};

/* A broadcast by the network, of bytes at one address of all nodes. */
struct bench_cast {
	size_t size; /* of a program's state */
	bool (*open)(struct programs *p, void *own);
	/* Before the root sends, in each round, counted from 1: the word at
	 * done becomes the round's number when the bytes are here. */
	void (*expect)(
		void *own, uint64_t bytes, uint64_t done, uint64_t round);
	void (*send)(void *own, uint32_t n_nodes, uint64_t at, uint64_t bytes);
	bool (*await)(void *own, uint64_t done, uint64_t round);
};

/* An operation of a tree. */
struct bench_tree_how {
	enum { BENCH_BROADCAST, BENCH_REDUCE, BENCH_ALLREDUCE } what;
	struct coll_arith arith;
	enum {
		BENCH_TREE_WORLD, /* of all nodes */
		BENCH_TREE_SUB, /* of some of them */
		BENCH_TREE_SYSTEM,
	} channel;
	bool is_world; /* all nodes */
	const struct topo_box *box; /* the nodes, otherwise */
	uint32_t number; /* of several trees that a node is in */
	uint32_t root; /* that sends, or receives */
	bool is_header; /* packets without payload, whose arrival counts */
};

struct bench_tree {
	bool (*open)(struct bench_end *x, const struct bench_tree_how *how);
	/* A node joins another tree; it sends to the one that it aimed at. */
	uint32_t most; /* trees of a node */
	bool (*join)(struct bench_end *x, const struct bench_tree_how *how);
	bool (*aim)(struct bench_end *x, const struct bench_tree_how *how);
	/* Before a round, by a receiver. */
	void (*expect)(struct bench_end *x, uint64_t bytes);
	/* Contributes; returns when the network interface learned of it. */
	sim_time (*send)(struct bench_end *x, uint64_t from, uint64_t to,
		uint64_t bytes);
	/* Waits until the expected bytes are here, or its own have left. */
	bool (*await)(struct bench_end *x, bool receives);
};

struct bench_barrier {
	size_t size; /* of a program's state */
	uint64_t memory; /* of a node */
	bool (*open)(struct programs *p, void *own);
	bool (*enter)(void *own);
	bool (*await)(void *own);
	bool is_copied; /* by packets that the network copies */
	/* Whether, after this packet, a node's register says that the barrier
	 * that its program has entered is over; outside of programs.  NULL:
	 * there is no register, and programs see it when it is over. */
	bool (*is_over)(const void *own, const struct packet *told);
};

/*
 * Collectives that interfaces make, along a tree of members, which are ranks.
 * Members form groups, of which the first member gathers for all; first members
 * form groups in turn, level by level, until one group is left.
 */
enum { BENCH_LEVELS = 8 };

struct bench_group_shape {
	uint32_t n; /* members: ranks 0 to n - 1 */
	uint32_t procs; /* ranks of each node */
	uint32_t n_levels;
	uint32_t fan[BENCH_LEVELS]; /* members of a group, from below */
};

/* The levels of n members by the switches of a topology: those of one switch,
 * then the first ones of all, in groups that are not too large. */
void bench_group_grow(struct bench_group_shape *g, const struct topo *t);
/* That gathers what a member has, or BENCH_NONE for the root. */
uint32_t bench_group_parent(const struct bench_group_shape *g, uint32_t rank);
/* Those that it gathers from, by level and rank; child may be NULL.  Returns
 * their number. */
uint32_t bench_group_children(
	const struct bench_group_shape *g, uint32_t rank, uint32_t *child);

struct bench_group_work {
	enum {
		BENCH_GROUP_BARRIER,
		BENCH_GROUP_BROADCAST,
		BENCH_GROUP_REDUCE,
		BENCH_GROUP_ALLREDUCE,
	} what;
	struct coll_arith arith;
	bool is_float; /* words of 4 bytes are floats */
	uint32_t root; /* a rank: who broadcasts, or gets the result */
	uint64_t from, to, bytes;
};

struct bench_group {
	/* The keys choose members, tree and processes; otherwise all nodes have
	 * one each, and the tree is the interface's. */
	bool has_shape;
	/* In init(): an error if it cannot. */
	int (*check)(const struct bench *b, const struct bench_group_work *w,
		const struct bench_group_shape *g, struct err *e);
	/* In start(): what has to be set beforehand; or NULL. */
	void (*start)(struct bench *b, const struct bench_group_shape *g);
	bool (*open)(struct bench_end *x, const struct bench_group_shape *g);
	/* Takes part; returns when the operation is over for this member. */
	bool (*run)(struct bench_end *x, const struct bench_group_work *w);
};

/* What the calls of an MPI take, beside the interface's messages. */
struct bench_mpi_cost {
	sim_time message; /* of each */
	sim_time operand; /* more of one that is combined with another */
	sim_time longer; /* more of one that is not a quick message */
	sim_time copy; /* of a byte of these */
};

struct bench_mpi {
	struct bench_mpi_cost (*cost)(const struct load *l);
	/* Waits until a word that a message ended with is at least a value. */
	bool (*wait)(struct bench_end *x, uint64_t at, uint64_t value);
	uint32_t quick; /* the index of means for few bytes, ... */
	uint32_t other; /* ... and for more */
	/* Bytes that are copied at most; longer messages are not. */
	uint32_t most_copied;
};

enum { BENCH_ENVELOPE = 16 }; /* bytes that MPI adds to a message */

/* Whether MPI sends so many bytes as a quick message; and what its call takes.
 */
bool bench_mpi_is_quick(const struct bench_driver *d, uint64_t bytes);
sim_time bench_mpi_time(
	const struct bench *b, uint64_t bytes, bool has_operand);

extern const struct bench_driver bench_msg, bench_endpoint, bench_mu,
	bench_elan, bench_plain, bench_gemini, bench_ape, bench_sw;

extern const struct bench_gpus driver_gpus; /* for any of these */
/* Whether the switch of a node adds. */
bool driver_domain_adds(const struct load *l);
/* As many processes as a node usually has, if they send messages, where the
 * key is auto. */
void bench_set_processes(struct bench *b, bool is_msg);

/* With a budget, the parts of a message's time from call to end: the sums of
 * all programs' messages.  A driver's looks use both; trip_of() returns those
 * of a program. */
struct msg_trip;
void bench_report_trips(const struct bench *b, struct load_result *r,
	struct msg_trip *(*trip_of)(const struct bench_end *x));
void bench_warm_trips(struct msg_trip *t);

/* The driver of a network interface, or NULL. */
const struct bench_driver *bench_find_driver(const struct nic_ops *nic);

/*
 * A program.  Most open their end, prepare, transfer and check.  The transfers
 * are timed from when all programs are ready, except for programs that send
 * nothing.  A call that returns false ends the program.
 */
struct bench_program {
	void (*run)(struct bench_end *x); /* all of these steps; or: */
	bool (*prepare)(struct bench_end *x); /* bytes and counters; or NULL */
	bool (*transfer)(struct bench_end *x); /* what is timed */
	void (*check)(struct bench_end *x); /* what has come; or NULL */
};

/* --- the course of a run --- */

/* In init(): selects the driver, and checks the keys and needs. */
int bench_init(struct bench *b, const struct bench_needs *n, struct err *e);
/* An error if the driver cannot transfer a key's number of bytes. */
int bench_check_bytes(
	const struct bench *b, const char *key, int64_t bytes, struct err *e);
/* In start(), before the others. */
void bench_open_ends(struct bench *b);
/* The i-th program, on a thread of a node. */
void bench_run(struct bench *b, uint32_t i, site_id node, uint32_t thread,
	const struct bench_program *program);
/* The first hardware thread of a lane, in addition to the key's CPU. */
uint32_t bench_thread(const struct bench *b, uint32_t lane);
/* In start(): one on each of two nodes, or as many as needs.lanes says, each
 * with its peer, first those that begin; or one on each node. */
void bench_start_pair(struct bench *b, const struct bench_program *begin,
	const struct bench_program *answer);
void bench_start_all(struct bench *b, const struct bench_program *program);
/* After bench_open_ends(): starts one program alone. */
void bench_start_rank(
	struct bench *b, uint32_t rank, const struct bench_program *program);
/* In report(): the layer, and programs_report(); false if there is nothing else
 * to report. */
bool bench_report(const struct bench *b, struct load_result *r);
/* All rounds of a program, warm ones included. */
static inline uint64_t bench_rounds(const struct bench *b)
{
	return (uint64_t)(b->warm + b->rounds);
}
/* A program's rounds count from now on. */
void bench_count(struct bench_end *x);
/* From the first program's start to the last one's end. */
sim_time bench_time(const struct bench *b);
/* The same of n programs that have ended, from one on. */
void bench_span(const struct bench *b, uint32_t first, uint32_t n,
	sim_time *start, sim_time *end);
/* Memory for a number of synthetic bytes of a node: pages that its cache has
 * touched, or tags. */
uint64_t bench_synthetic(const struct bench *b, uint64_t bytes);

/* A word of a node's host memory; outside of programs. */
uint64_t bench_word(const struct bench *b, site_id node, uint64_t at);

/* load_ops' own. */
uint64_t bench_estimate(const struct load *l);
uint64_t bench_message(const struct load *l);
void bench_fini(struct load *l);

/* As programs_check(); and what a program measures that dies with its node is
 * no result. */
int bench_check_ends(struct load *l, struct err *e);

#define BENCH_OPS                                                              \
	.on_delivered = programs_delivered, .next = programs_next,             \
	.check = bench_check_ends, .estimate = bench_estimate,                 \
	.fini = bench_fini, .message = bench_message

/* The router of a node; and the routers that one has links to, each once, at
 * most that number of them in far; returns how many they are. */
router_id bench_router(const struct topo *t, site_id node);
uint32_t bench_near(
	const struct topo *t, router_id r, router_id *far, uint32_t most);

/* --- for programs --- */

static inline bool bench_open(struct bench_end *x)
{
	return x->driver->open(x);
}
/* The message layer of an end with via=msg. */
struct weft_msg *bench_messages(struct bench_end *x);
/* Waits until all are ready. */
void bench_ready(struct bench_end *x);

/* Synthetic memory; targets are numbered. */
bool bench_add_source(struct bench_end *x, uint64_t at, uint64_t bytes);
bool bench_add_target(
	struct bench_end *x, uint32_t i, uint64_t at, uint64_t bytes);
/* Whether this number of bytes has been written, none of them wrong, and each
 * equally often if times is not 0; complains if not. */
bool bench_check_target(
	struct bench_end *x, uint32_t i, uint64_t bytes, uint64_t times);

static inline void bench_track_puts(
	struct bench_end *x, uint32_t means, uint64_t n, uint64_t bytes)
{
	const struct bench_tracking *t = x->driver->tracking;

	if (t && t->puts)
		t->puts(x, means, n, bytes);
}

static inline void bench_track_gets(
	struct bench_end *x, uint64_t n, uint64_t bytes)
{
	const struct bench_tracking *t = x->driver->tracking;

	if (t)
		t->gets(x, n, bytes);
}

/* From BENCH_SOURCE to BENCH_TARGET, with counter 0, by the key's means, not
 * tracked. */
struct bench_transfer bench_transfer(
	const struct bench_end *x, uint32_t node, uint64_t bytes);

/* The node's address for an experiment's, whose source and target are in the
 * memories that the keys name. */
uint64_t bench_address(const struct bench_end *x, uint64_t at);
/* Whether any of these is a GPU's. */
static inline bool bench_has_gpus(const struct bench *b)
{
	return b->source || b->target;
}
/* One of the driver's means by its name, of n characters; past the last one if
 * there is none. */
uint32_t bench_find_means(
	const struct bench_driver *d, const char *name, size_t n);
/* The best of the driver's means for a few bytes. */
uint32_t bench_quick(const struct bench *b);
/* Whether the key's means drop their bytes. */
static inline bool bench_drops(const struct bench *b)
{
	return b->driver->means[b->means].is_dropped;
}
/* The key's means, if their messages are matched with receives; or NULL. */
static inline const struct bench_tagged *bench_tagged(const struct bench_end *x)
{
	return x->driver->means[x->bench->means].is_tagged ? x->driver->tagged
							   : NULL;
}
/* Access to its memory, by a core or by a GPU. */
void bench_write(
	const struct bench_end *x, uint64_t at, const void *from, size_t n);
void bench_read(const struct bench_end *x, uint64_t at, void *to, size_t n);

/* Writes bytes that depend on a number, and checks them. */
void bench_make(const struct bench_end *x, uint64_t number, uint64_t at,
	uint64_t bytes);
bool bench_check(
	struct bench_end *x, uint64_t number, uint64_t at, uint64_t bytes);

#endif
