/* Shared by the files of the collective experiment. */
#ifndef LOAD_BENCH_COLLECTIVE_H
#define LOAD_BENCH_COLLECTIVE_H

#include "load/bench/bench.h"

/* From OP_BROADCAST on in the order of enum algo_op. */
enum { OP_BARRIER, OP_BROADCAST, OP_REDUCE, OP_ALLREDUCE };
enum { BY_SOFTWARE, BY_HARDWARE, BY_MPI, BY_DOMAIN };
enum { TYPE_FLOAT = 4 }; /* of the key */
enum { COLLECTIVE_ROOT_AUTO = -2 };

/* A program's state. */
struct member {
	sim_time came, left; /* of the last round */
	sim_time all_came, all_left; /* the sums over the rounds */
	/* With trees: the descriptor was handed over; the last byte arrived.
	 * With barriers of the network: it was entered; the status said that
	 * all had entered it. */
	sim_time stored, done, all_stored, all_done;
	uint32_t index, count; /* its number among the members; theirs */
	uint64_t own[]; /* state of casts and barriers */
};

struct collective {
	struct bench bench; /* by messages, or by trees */
	/* keys */
	int64_t op, by, apart;
	int64_t root; /* -1: each in turn; until init(), -2: auto */
	int64_t nodes; /* the first ones; -1: all */
	struct param_list fan; /* of groups */
	int64_t type, combine, word, channel, is_system; /* by trees */
	struct param_list shape, at;
	int64_t boxes;
	char split[PARAM_TEXT_MAX];
	char algo[PARAM_TEXT_MAX], members[PARAM_TEXT_MAX];
	char sizes[PARAM_TEXT_MAX];
	int64_t channels, chunk, unit, overlap;

	struct coll_arith arith;
	const struct bench_cast *cast;
	const struct bench_barrier *barrier;
	const struct bench_tree *tree;
	const struct bench_group *group;
	struct bench_group_shape groups;
	bool is_float;
	struct collective_mpi *mpi; /* NULL: not by MPI */
	struct collective_algo *steps; /* NULL: by no algorithm's steps */
	bool is_network; /* as its algorithm */
	struct topo_grid grid;
	struct topo_box box; /* all members; of several boxes the first */
	uint32_t split_dims; /* a bit for each dimension that is split along */
};

/* The interval between rounds that begin at the same time everywhere: longer
 * than any round. */
#define COLLECTIVE_PERIOD (50000 * (sim_time)SIM_NS)

/* Writes a member's contribution to a round; checks that bytes are a member's
 * contribution, or the result of the operation. */
void collective_fill(
	const struct bench_end *x, uint64_t at, int64_t round, uint32_t index);
bool collective_is_from(
	const struct bench_end *x, uint64_t at, int64_t round, uint32_t index);
bool collective_is_right(const struct bench_end *x, uint64_t at, int64_t round);

/* Checks n bytes at an address: those from a first one on of a member's
 * contribution or, COLLECTIVE_SUM, of the result. */
#define COLLECTIVE_SUM UINT32_MAX
bool collective_has(const struct bench_end *x, uint64_t at, int64_t round,
	uint64_t first, uint64_t n, uint32_t index);

/* A round that a member came to is over: adds its times to the sums, unless it
 * is a warm one. */
void collective_count(const struct bench_end *x, int64_t round);

/* Who broadcasts in a round, or gets the sum: a rank. */
uint32_t collective_root(const struct collective *c, int64_t round);

/* --- collective_tree.c --- */

/* In init(): checks the keys against the machine. */
int collective_tree_check(
	struct collective *c, const struct topo *t, struct err *e);
/* The program. */
void collective_tree_run(struct bench_end *x);
/* A node's number among the members of its only tree. */
uint32_t collective_tree_index(const struct bench_end *x);
/* A packet's bytes are in memory. */
void collective_tree_delivered(struct collective *c, site_id s, sim_time t);
void collective_tree_report(const struct collective *c, struct load_result *r);

/* --- collective_group.c: by interfaces --- */

int collective_group_check(
	struct collective *c, const struct topo *t, struct err *e);
void collective_group_run(struct bench_end *x);

/* --- collective_mpi.c --- */

int collective_mpi_check(struct collective *c, struct err *e);
/* In start(), when the programs are known. */
void collective_mpi_open(struct collective *c);
void collective_mpi_close(struct collective *c);
void collective_mpi_run(struct bench_end *x);

/* --- collective_algo.c: by the steps of an algorithm --- */

/* In init(): whether the key algo names one, or the network; an error if the
 * keys do not fit. */
int collective_algo_init(struct collective *c, struct err *e);
/* Bytes of a process, and how many of them it touches, roughly. */
uint64_t collective_algo_message(const struct load *l);
uint64_t collective_algo_memory(const struct collective *c, uint64_t *touched);
bool collective_algo_is_named(const struct collective *c);
uint32_t collective_algo_members(const struct collective *c);
/* In start(): gives programs to members only. */
void collective_algo_start(struct collective *c);
/* Size, algbw and busbw as nccl-tests print them; time is of one round, ns. */
void collective_algo_report(
	const struct collective *c, double time, struct load_result *r);
/* Collects times from before the rounds from all processes. */
void collective_algo_share(struct collective *c);
struct facts;
void collective_algo_facts(const struct collective *c, struct facts *f);
void collective_algo_close(struct collective *c);

#endif
