/*
 * Common code of workloads whose nodes run programs: the course of a run, and
 * the checks at its end.  A variant begins with a struct programs and puts
 * programs_next(), programs_check(), ... into its operations.
 *
 * A run is over when no event is left.  Programs that still wait would wait
 * forever: an error that says who waits for what, with exit code 3.  Programs
 * on nodes that have died are only counted.
 */
#ifndef LOAD_PROGRAMS_H
#define LOAD_PROGRAMS_H

#include "host/program.h"
#include "load/load.h"

/* The usual time at which sending begins: all programs are ready by then, which
 * software would ensure with a barrier. */
#define PROGRAMS_START (10000 * (sim_time)SIM_NS)

struct programs_arrivals; /* per worker */

struct programs {
	struct load load;
	struct programs_arrivals *arrivals; /* [worker] */
	const uint8_t *owner; /* [site] its worker */
	uint64_t expected; /* packets, for the progress; 0: not known */
	/* Times in a row that it did nothing, but other jobs did, and all
	 * events until the last look. */
	uint32_t quiet;
	uint64_t n_events;
	uint64_t hops; /* of all packets, after a unit has stopped ... */
	sim_time hops_at; /* ... and since when the number has not changed */
	/* something was seen but tries of what was put off; or but these and
	 * questions that were denied */
	sim_time busy_at, active_at;
	uint64_t deeds; /* of interfaces, beside such questions */
	bool is_vain; /* interfaces go on for ever, and nobody waits */
	bool may_err; /* its programs make mistakes */
	/* Who waits is named also where links hold packets for ever. */
	bool names_all;
};

/*
 * In init(), for a workload of one network interface (its word in machine
 * files): whether the machine has it, and enough memory for each node.
 */
int programs_need(const struct programs *p, const char *nic, uint64_t memory,
	struct err *e);
/* Whether it has any at all. */
int programs_need_nic(const struct programs *p, struct err *e);
/* Whether each node has enough memory. */
int programs_need_memory(
	const struct programs *p, uint64_t memory, struct err *e);

/* In start(), before programs are started. */
void programs_open(struct programs *p);

/* load_ops' own. */
sim_time programs_next(struct load *l);
/* In next(), with the reason that nothing else will happen: what waits waits
 * for ever. */
sim_time programs_stall(struct programs *p);
int programs_check(struct load *l, struct err *e);
void programs_fini(struct load *l);
void programs_delivered(
	void *arg, site_id s, const struct packet *p, sim_time t);

/* All of them but fini(). */
#define PROGRAMS_OPS                                                           \
	.on_delivered = programs_delivered, .next = programs_next,             \
	.check = programs_check

/* Packets that have arrived, and when the last one did. */
uint64_t programs_arrived(const struct programs *p, sim_time *last);

/* In report(): the packets' latencies; and, of programs, all that is common. */
void programs_latency(const struct programs *p, struct load_result *r);
void programs_report(const struct programs *p, struct load_result *r);

/* For estimate(): the memory for nodes with this number of programs and of
 * stored bytes each. */
uint64_t programs_estimate(
	uint64_t n_nodes, uint64_t programs_per_node, uint64_t bytes_per_node);

/* After the set-up of a target: false if others may have begun to send to it,
 * and the run will end with an error. */
bool programs_is_early(struct programs *p);

/* From a program: its command queue has stopped, by planned faults if there are
 * any, and else by a mistake of Weft. */
void programs_note_stop(struct programs *p);

/* From a program: something is wrong, by a mistake of Weft.  The run reports
 * the first complaint of the node with the lowest number.  Returns false. */
bool programs_complain(struct programs *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The same for a transfer that an interface reports as failed.  The cause is
 * the plan of faults, if there is one, and the run ends as stalled; otherwise
 * the network did not answer in time, which is a limit.
 */
bool programs_fail(struct programs *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for other errors: an exit code, and the reason. */
void programs_give_up(struct programs *p, int code, const char *text);

/* "rank 3 (node 1)", of a program that stands for a rank; else "". */
void programs_name_rank(const struct load *l, site_id node, uint32_t process,
	char *text, size_t size);

/* Complains about a call that returned an error number; true if it is 0. */
bool programs_did(struct programs *p, const char *call, int32_t code);

#endif
