/*
 * The results of a run that has ended, as facts (facts/facts.h).  Each function
 * adds its part to the open group, in the order of JSON, or nothing if the run
 * has none.
 */
#ifndef MACHINE_FACTS_H
#define MACHINE_FACTS_H

#include "facts/facts.h"
#include "machine/run.h"

/* The order of their lines. */
enum facts_place {
	FACTS_AT_TOP,
	FACTS_AT_WAITING,
	FACTS_AT_JOBS, /* or the words of a program */
	FACTS_AT_RESULTS,
	FACTS_AT_LINKS,
	FACTS_AT_FAULTS,
	FACTS_AT_ENERGY,
	FACTS_AT_OWN, /* of each job */
	FACTS_AT_END,
	FACTS_AT_BUDGET,
};

/* The keys machine and shape. */
void facts_of_machine(struct facts *f, const struct machine *m);

/* The name of a site, or of a port of it. */
void facts_site(
	struct facts *f, const char *key, const struct topo *t, router_id r);
void facts_port(struct facts *f, const char *key, const struct topo *t,
	router_id r, port_id p);

/* Parameters with their values, as texts. */
void facts_of_params(
	struct facts *f, const char *key, const struct param_block *b);

/* The numbers that sweeps, papers and run files take from a run and from a job.
 * A run has a group for each of its jobs. */
struct jobs_part;
void facts_of_figures(struct facts *f, const struct machine_run *r);
void facts_of_job(struct facts *f, const struct jobs_part *p);

/* Throughput, latency and the workload's own figures. */
void facts_of_results(
	struct facts *f, const struct machine_run *r, bool has_histogram);
/* The key latency_histogram with every bucket that is not empty; text has fewer
 * bars. */
void facts_of_histogram(struct facts *f, const struct hist *h);

/* Packets in a deadlock. */
void facts_of_knot(struct facts *f, const struct load_result *l);
/* Programs that still wait at the end of a run, and dead links that hold
 * packets. */
void facts_of_waiting(struct facts *f, const struct machine_run *r);

/* Groups of links, the busiest links and the fullest routers: the keys links,
 * hottest_links and fullest_routers. */
void facts_of_links(struct facts *f, const struct machine_run *r);
/* The name of the busiest link, up to RUN_WARNING letters, and its busy share;
 * false if no link carried a packet. */
bool facts_busiest(const struct machine_run *r, char *text, double *part);
/* A line of CSV for every link and channel. */
void facts_write_links(FILE *f, const struct machine_run *r);

/* The keys faults and ras, and the facts of parts (parts/part.h). */
void facts_of_faults(struct facts *f, const struct machine_run *r);

/* The key energy, if a price list was given. */
void facts_of_energy(struct facts *f, const struct machine_run *r);

/* The key budget, on request, and the key follow of a message that was sent. */
void facts_of_budget(struct facts *f, const struct net *n, bool has_budget,
	const struct book_how *how);

/* The key work: the cost of the simulation. */
void facts_of_work(struct facts *f, const struct machine_run *r);
/* After it: a line for the cost of ranks of an MPI program. */
void facts_of_ranks(struct facts *f, const struct machine_run *r);
/* The key card: counts of interfaces that have memory of their own. */
void facts_of_card(struct facts *f, const struct machine_run *r);

/* Reasons to doubt the result, each with a remedy: the key warnings. */
enum run_warning {
	RUN_SHORT,
	RUN_ROOM,
	RUN_HOST,
	RUN_SHORTFALL,
	RUN_ABOVE,
	RUN_TRAINS,
	RUN_NOTHING,
	RUN_LATE,
	N_RUN_WARNINGS
};
enum { RUN_WARNING = 256 };
/* False, with an empty text, if there is no reason for this warning. */
bool run_warning(const struct machine_run *r, enum run_warning which,
	char *text, size_t size);
/* Adds all warnings to the notes of a result. */
struct batch_result;
void run_warnings_note(
	const struct machine_run *r, struct batch_result *result);
void facts_of_warnings(struct facts *f, const struct machine_run *r);

#endif
