/*
 * LO|FA|MO, the local fault monitor: how a machine finds out by itself which of
 * its parts have failed.  It sees registers, control words and messages, and
 * never the plan of faults, which only decides what is alive.
 *
 * A card has a register for its host, one for itself and one for each
 * neighbour. A host's daemon sets its valid bit every W; the card tests and
 * clears it every R, and takes a host whose bit is clear for dead.  The card
 * refreshes a bit of its own every W, which its host tests and clears.  A
 * change travels to the neighbours' cards, and no further, inside control words
 * that links send anyway, after every so many words of data or of nothing: one
 * message in each, and the next one waits for the next.  Data has no part in
 * that, so all of it is simulated beside the network, by events of its own.  A
 * link on which no control word has come for R is silent.
 *
 * Hosts poll their card's registers every P and report changes to the Master
 * over a service network; one whose service port is dead reports by way of its
 * neighbours.  The Master is outside of the torus, and never dies.  What one
 * card calls silent may be a link, a card or a node: it is an alarm until all
 * others have had the time to report.  Every few periods a roll call finds who
 * does not answer.  What cannot be known is unknown, never normal.
 */
#ifndef PARTS_LOFAMO_LOFAMO_H
#define PARTS_LOFAMO_LOFAMO_H

#include "link/faults.h"
#include "parts/part.h"
#include "sim/sim.h"
#include "topo/topo.h"

enum health {
	HEALTH_NORMAL,
	HEALTH_SICK,
	HEALTH_ALARM, /* something there is wrong, and it is not yet known what
		       */
	HEALTH_DEAD,
	HEALTH_UNKNOWN,
};

extern const char *const health_names[];

enum lofamo_kind {
	LOFAMO_HOST,
	LOFAMO_CARD,
	LOFAMO_SERVICE,
	LOFAMO_LINK, /* unit: a port of the lower end */
	LOFAMO_GPU, /* unit: its number */
	LOFAMO_KINDS,
};

enum { LOFAMO_PORTS = 6, LOFAMO_GPUS = 8 };

struct lofamo_params {
	int64_t is_on;
	int64_t period; /* ps; the next four are parts per million of it */
	int64_t write, read, poll, jitter;
	int64_t service; /* latency of the service network, ps */
	int64_t roll; /* periods between roll calls */
};

enum { LOFAMO_PARAMS = 8 };
extern const struct param lofamo_params_table[LOFAMO_PARAMS];
extern const struct part_ops part_lofamo;
int lofamo_check(
	const struct lofamo_params *p, const struct topo *t, struct err *e);

/* Whether a plan's GPUs are there. */
int lofamo_check_plan(
	const struct fault_plan *p, uint32_t n_gpus, struct err *e);

/* Parts that plans of faults name beside the topology's: host, card, gpu,
 * service. */
extern const struct part_kind *const lofamo_parts[];

/* A card or GPU of a node is dead in [from, until). */
struct lofamo_outage {
	enum lofamo_kind kind;
	uint32_t unit;
	sim_time from, until;
};

/* Those of a node, in memory that is the caller's; returns how many. */
size_t lofamo_outages(
	const struct fault_plan *p, router_id site, struct lofamo_outage **v);

/* Something happens to a part. */
struct lofamo_fault {
	sim_time at;
	enum lofamo_kind kind;
	router_id site;
	uint32_t unit;
	enum health state; /* normal, sick or dead */
};

struct lofamo_setup {
	const struct lofamo_params *params;
	const struct topo *topo;
	sim_time latency; /* of a control word to the next card, ps */
	sim_time slot; /* from one control word of a link to the next, ps */
	uint32_t n_gpus; /* of each node */
	uint64_t seed;
	/* A report has come to the Master; may be NULL. */
	void (*on_report)(void *arg, sim_time t, enum lofamo_kind kind,
		router_id site, uint32_t unit, enum health state, router_id by);
	void *arg;
};

/* A part in the Master's picture that is not, or was not always, normal. */
struct lofamo_part {
	enum lofamo_kind kind;
	router_id site;
	uint32_t unit;
	enum health state;
	sim_time since; /* what was read then */
	sim_time known; /* by the Master */
	router_id by; /* who has reported it; NO_ROUTER: a roll call */
};

/* That of a machine; false where nothing watches its nodes. */
bool lofamo_setup(const struct part_place *at, struct lofamo_setup *s);

struct lofamo;

struct lofamo *lofamo_new(const struct lofamo_setup *s);
void lofamo_free(struct lofamo *l);
/* In any order, before it runs. */
void lofamo_add(struct lofamo *l, const struct lofamo_fault *f);
/* All of a plan's that concern it. */
void lofamo_add_plan(struct lofamo *l, const struct fault_plan *p);
/* Until t. */
void lofamo_run(struct lofamo *l, sim_time t);
/* What the Master thinks of a part. */
enum health lofamo_state(const struct lofamo *l, enum lofamo_kind kind,
	router_id site, uint32_t unit);
/* Whether it really is as it was. */
bool lofamo_is_well(const struct lofamo *l, enum lofamo_kind kind,
	router_id site, uint32_t unit);
/* Parts that the Master has ever thought ill of, in the order in which that
 * came up; false where there are no more. */
bool lofamo_part(const struct lofamo *l, size_t i, struct lofamo_part *p);
void lofamo_name(const struct topo *t, enum lofamo_kind kind, router_id site,
	uint32_t unit, char *text, size_t size);

#endif
