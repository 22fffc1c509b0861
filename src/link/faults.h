/*
 * Faults: a plan of what goes wrong, and what follows from it for each
 * directed link.
 *
 * Bit errors come at random, each bit on its own: for each link the number
 * of good bits until the next bad one is drawn, as a function of (seed, link,
 * count), and what is sent is taken off it.  So a frame that is not hit costs
 * one comparison, and no thread's course can change who is hit.
 *
 * Links that die are known before the run, so there is nothing to be told to
 * anybody at that time: a link has a list of outages, and a packet that would
 * not be through before the next one begins is lost.
 */
#ifndef LINK_FAULTS_H
#define LINK_FAULTS_H

#include <stdbool.h>

#include "base/param.h"
#include "sim/sim.h"
#include "topo/topo.h"

/* The section "faults" of a machine file, or of one of its own. */
struct fault_params {
	/* "1e-9" of all bits, "node up 2.5e-7" of those on a class of wires */
	struct param_lines bit_errors;
	/* "30 us switch 2.5 dies", "1 ms link 1.0 up 2 returns" */
	struct param_lines events;
};

extern const struct param fault_params_table[];
extern const size_t fault_params_n;

enum { FAULT_SITE = 0xff }; /* of all ports */

struct fault_event {
	sim_time at;
	router_id site;
	port_id port; /* or FAULT_SITE */
	bool returns; /* it dies otherwise */
	const char *place; /* borrowed from the parameters */
};

/* All zero is a plan of no faults. */
struct fault_plan {
	/* bit errors in 10^18 bits, at most a hundredth of them, by class */
	uint64_t rate[TOPO_MAX_WIRES];
	struct fault_event *event; /* by site, port and time */
	size_t n_events;
};

/* The parameters must outlive the plan.  On an error, too, the plan is to be
 * freed. */
int fault_plan_read(struct fault_plan *p, const struct fault_params *text,
	const struct topo *t, struct err *e);
void fault_plan_free(struct fault_plan *p);
bool fault_plan_is_empty(const struct fault_plan *p);

/* --- in a run --- */

/* A link is dead in [from, until). */
struct fault_outage {
	uint32_t link;
	sim_time from, until;
};

struct fault_link {
	uint64_t left; /* good bits until the next bad one */
	uint32_t draws;
	uint32_t outage; /* the first that is not over */
};

struct fault_counts {
	uint64_t bit_errors;
	uint64_t hurt; /* packets that were hit first on such a wire */
	uint64_t lost; /* by a dead link */
};

/* Per worker. */
struct fault_tally {
	_Alignas(64) struct fault_counts wire[TOPO_MAX_WIRES];
};

/* A site that dies: when it first does. */
struct fault_death {
	router_id site;
	sim_time at;
};

struct faults {
	struct fault_link *link; /* [site * n_ports + port] */
	/* in order; the last one is of no link */
	struct fault_outage *outage;
	struct fault_tally *tally; /* [worker] */
	struct fault_death *death; /* by site */
	size_t n_links, n_outages, n_deaths;
	uint64_t rate[TOPO_MAX_WIRES];
	uint64_t seed;
	uint32_t n_workers;
};

struct faults *faults_new(const struct fault_plan *p, const struct topo *t,
	uint64_t seed, uint32_t n_workers);
void faults_free(struct faults *f);

/* Sums over the workers, of a class; only while nothing runs. */
struct fault_counts faults_total(const struct faults *f, uint32_t wire);

/* Good bits before error n of a link whose wire is of a class. */
uint64_t faults_gap(
	const struct faults *f, uint32_t link, uint32_t wire, uint64_t n);

/* The link is hit: takes the next error's distance. */
static inline void faults_draw(struct faults *f, uint32_t link, uint32_t wire)
{
	struct fault_link *l = &f->link[link];

	l->left += 1 + faults_gap(f, link, wire, l->draws++);
}

/* Whether the link is dead at some time from t up to until. */
static inline bool faults_cut(
	struct faults *f, uint32_t link, sim_time t, sim_time until)
{
	const struct fault_outage *o = &f->outage[f->link[link].outage];

	while (o->link == link && o->until <= t) {
		f->link[link].outage++;
		o++;
	}
	return o->link == link && o->from < until;
}

#endif
