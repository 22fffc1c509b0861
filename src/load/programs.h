/*
 * What workloads have in common whose nodes run programs: the course of a
 * run, and what is looked at when it is over.  A variant begins with a struct
 * programs and puts programs_next(), programs_check(), ... into its operations.
 *
 * A run is over when nothing is left to happen.  If programs wait then, they
 * would for ever: an error that says who waits for what, with exit code 3.
 * Those on nodes that die are no more then, and only counted.
 */
#ifndef LOAD_PROGRAMS_H
#define LOAD_PROGRAMS_H

#include "host/program.h"
#include "load/load.h"

/* When sending begins, where nothing else is said: everybody is ready by
 * then, which software would make sure of with a barrier. */
#define PROGRAMS_START (10000 * (sim_time)SIM_NS)

struct programs_arrivals; /* per worker */

struct programs {
	struct load load;
	struct programs_arrivals *arrivals; /* [worker] */
	const uint8_t *owner; /* [site] its worker */
	uint64_t expected; /* packets, for the progress; 0: not known */
	uint32_t quiet; /* times in a row that it did nothing: see place */
	uint64_t hops; /* of all packets, where a unit has stopped ... */
	sim_time hops_at; /* ... and when they were first as many */
	bool is_stalled;
	bool may_err; /* its programs make mistakes */
};

/*
 * In init(), of a workload for one network interface, by its word in machine
 * files: whether the machine has it, and each node so many bytes of memory.
 */
int programs_need(const struct programs *p, const char *nic, uint64_t memory,
	struct err *e);
/* Whether it has any at all. */
int programs_need_nic(const struct programs *p, struct err *e);
/* Of memory alone. */
int programs_need_memory(
	const struct programs *p, uint64_t memory, struct err *e);

/* In start(), before programs are started. */
void programs_open(struct programs *p);

/* load_ops' own. */
sim_time programs_next(struct load *l);
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

/*
 * For estimate(): what nodes with so many programs each take, when their
 * memories hold so many bytes each.
 */
uint64_t programs_estimate(
	uint64_t n_nodes, uint64_t programs_per_node, uint64_t bytes_per_node);

/*
 * A program has set up what others send to: false, and the run will end with an
 * error, where they have begun to.
 */
bool programs_is_early(struct programs *p);

/*
 * From a program: something is wrong, our own mistake.  Of all complaints
 * that of the node with the lowest number is told, its first.  Returns false.
 */
bool programs_complain(struct programs *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The same of a transfer that an interface reports as failed.  Faults are to
 * blame where there are some, and it ends as stalled; else the network did not
 * answer in time, which is a limit.
 */
bool programs_fail(struct programs *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same of what is no mistake of ours: an exit code, and why. */
void programs_give_up(struct programs *p, int code, const char *text);

/* Complains of a call that returned an error number; true where it is 0. */
bool programs_did(struct programs *p, const char *call, int32_t code);

#endif
