/*
 * What a run that has ended found, as facts (facts/facts.h): each function adds
 * what it knows to the open group, in the order of JSON, and nothing where
 * there is none.
 */
#ifndef MACHINE_FACTS_H
#define MACHINE_FACTS_H

#include "facts/facts.h"
#include "machine/run.h"

/* Where their lines stand. */
enum facts_place {
	FACTS_AT_TOP,
	FACTS_AT_WAITING,
	FACTS_AT_JOBS, /* or what a program says */
	FACTS_AT_RESULTS,
	FACTS_AT_LINKS,
	FACTS_AT_FAULTS,
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

/* What sweeps and run files keep of a run and of a job: numbers, flat but for a
 * group for each job. */
struct jobs_part;
void facts_of_figures(struct facts *f, const struct machine_run *r);
void facts_of_job(struct facts *f, const struct jobs_part *p);

/* Throughput, latency and the workload's own figures. */
void facts_of_results(
	struct facts *f, const struct machine_run *r, bool has_histogram);
/* The key latency_histogram with every bucket that holds something; bars for
 * people, some of them for each doubling of time. */
void facts_of_histogram(struct facts *f, const struct hist *h);

/* Packets that wait for good. */
void facts_of_knot(struct facts *f, const struct load_result *l);
/* Programs that wait in vain at its end, and links that are dead. */
void facts_of_waiting(struct facts *f, const struct machine_run *r);

/* Groups of links, and which links and routers had the most to do: the keys
 * links, hottest_links and fullest_routers. */
void facts_of_links(struct facts *f, const struct machine_run *r);
/* The name of the busiest and its part of the time; false where nothing was
 * carried. */
bool facts_busiest(const struct machine_run *r, char *text, double *part);
/* Every link and channel as a line of a CSV file. */
void facts_write_links(FILE *f, const struct machine_run *r);

/* The keys faults and ras, and what parts have found (parts/part.h). */
void facts_of_faults(struct facts *f, const struct machine_run *r);

/* The key budget, if it is asked for; and follow, of a message that was sent.
 */
void facts_of_budget(struct facts *f, const struct net *n, bool has_budget,
	const struct book_how *how);

/* The key work: what the simulation took. */
void facts_of_work(struct facts *f, const struct machine_run *r);

/* What a user should know before trusting the result, with what to change: the
 * key warnings. */
enum run_warning {
	RUN_SHORT,
	RUN_ROOM,
	RUN_HOST,
	RUN_SHORTFALL,
	N_RUN_WARNINGS
};
enum { RUN_WARNING = 256 };
/* False where there is nothing to say. */
bool run_warning(const struct machine_run *r, enum run_warning which,
	char *text, size_t size);
void facts_of_warnings(struct facts *f, const struct machine_run *r);

#endif
