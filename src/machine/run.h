/*
 * One run: a machine, a workload with its keys, and the results.  All runs of
 * workloads go through here, so commands, the papers' experiments and
 * benchmarks measure the same thing.  It prints nothing.
 */
#ifndef MACHINE_RUN_H
#define MACHINE_RUN_H

#include "machine/system.h"

struct energy;
struct priced;
struct slice;
struct machine_run;

/* A part of a run (machine/slice.h). */
struct slice_setup {
	bool is_counted; /* what nodes receive */
	uint64_t bytes; /* ends the run when nodes have received them; 0: not */
	sim_time step; /* how often to look */
	sim_time most; /* when to give up */
};

/* What to run; the texts must outlive the run. */
struct machine_run_setup {
	struct machine_source machine;
	/* The machine, if it is loaded already: the run owns it from then on.
	 * NULL: the run loads it. */
	struct machine *loaded;
	const char *faults; /* a file with a plan of them, or NULL */
	const char *energy; /* a price list, to find the energy; or NULL */
	const char *bill; /* ... to find what a rate costs; or NULL */
	/* A jobs file in place of a workload; only: the number of one job,
	 * from 1, to run on its own; 0: all jobs. */
	const char *jobs;
	uint32_t only;
	const char *workload;
	/* Instead of it one that is not in the registry, and what it is given
	 * as its arg; or NULL. */
	const struct load_ops *load;
	const void *load_arg;
	/* Then: its name and its arguments, with NULL after the last. */
	const char *program;
	const char *const *arguments;
	/* A program of the host, with NULL after its last argument; or NULL. */
	const char *const *command;
	struct load_launch launch;
	bool allows_programs; /* of the host that a jobs file names */
	/* Runs programs of plugins, which get the keys as their arguments, with
	 * NULL after the last; NULL: they are not run. */
	const struct load_ops *programs;
	const char *const *keys; /* "key=value" */
	size_t n_keys;
	int64_t coarse; /* in place of the key coarse; 0: as it says */
	uint64_t seed;
	sim_time until; /* 0: to its end */
	uint32_t threads; /* 0: as many as make sense */
	const atomic_int *stop; /* not 0: end the run; or NULL */
	void (*on_progress)(void *arg, const struct load_progress *p);
	void *progress_arg;
	const struct book_how *book; /* of time budgets, or NULL */
	/* Class routes that are set before anything runs. */
	const struct class_register *routes;
	size_t n_routes;
	const struct files_seat *files; /* as in struct system_setup */
	uint64_t held; /* as in struct system_setup */
	struct cluster *cluster; /* processes that share it; NULL: none */
	/* Called when everything is read, before anything is built; or NULL. */
	int (*check)(const struct machine_run *r, struct err *e);
	struct sim_trial trial;
	struct slice_setup slice;
};

/* Big: tens of kilobytes; not for a stack. */
struct machine_run {
	struct machine_run_setup setup;
	struct machine *machine;
	struct load *load;
	int64_t coarse; /* as in coarse_read() */
	struct param_block keys; /* the workload's, with their values */
	struct system *system;
	struct energy *energy; /* NULL: not asked for */
	struct priced *bill; /* likewise */
	struct slice *slice; /* likewise */
	uint32_t threads; /* that it runs on */
	bool is_performed; /* or was begun to be */
	struct load_course course;
	/* set by machine_run_perform() */
	struct load_result result;
	uint64_t digest, hops, packets, events, memory;
	uint64_t delivered_hops; /* of the packets that arrived */
	double wall_s, cpu_s; /* of all threads; without these: */
	double setup_s, checks_s;
};

/*
 * Reads machine and keys, and builds the system.  The caller must call
 * machine_run_close(), also after an error.
 */
int machine_run_open(struct machine_run *r, const struct machine_run_setup *s,
	struct err *e);
/* Runs it to its end, once.  A deadlock is a result, not an error. */
int machine_run_perform(struct machine_run *r, struct err *e);
/* The same in pieces: load_go(). */
int machine_run_go(struct machine_run *r, sim_time pause, struct err *e);
/* Takes a zeroed one, too. */
void machine_run_close(struct machine_run *r);

/* Seconds since some time past. */
double machine_clock(void);

/* Payload GB/s per node; 0 if nothing was measured. */
double machine_throughput(const struct load_result *l, uint32_t n_nodes);

/* Calls f for every figure of a run that has ended (machine/facts.h); the
 * figures of a job have its name in front, "job.time_ns". */
void machine_run_each(const struct machine_run *r,
	void (*f)(void *arg, const char *name, double value), void *arg);

#endif
