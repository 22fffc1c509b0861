/*
 * LO|FA|MO, the local fault monitor: a machine finds out by itself which of its
 * parts have failed.  It uses registers, control words and messages, and never
 * the plan of faults, which only decides which parts are alive.
 *
 * A card has a register for its host, one for itself and one for each
 * neighbour.  The host's daemon sets a valid bit every W; the card tests and
 * clears it every R, and considers a host with a clear bit dead.  The card
 * refreshes a bit of its own every W, which its host tests and clears.  A
 * change is sent to the cards of the neighbours, and no further, in control
 * words, which links send after a fixed number of words, data or idle: one
 * message per control word, while others wait.  Data does not affect control
 * words, so LO|FA|MO is simulated beside the network, with events of its own.
 * A link without a control word for R is silent.
 *
 * Hosts poll the registers of their card every P and report changes to the
 * Master over a service network; a host with a dead service port reports via
 * its neighbours.  The Master is outside of the torus, and never fails.  The
 * cause of a silent link may be the link, a card or a node: it is an alarm
 * until all others have had time to report.  Every few periods a roll call
 * finds nodes that do not answer.  A state that cannot be known is unknown,
 * never normal.
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
	HEALTH_ALARM, /* failed, but the cause is not known yet */
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

/* Kinds of parts that a machine has none of, before its plan is read. */
void lofamo_set_plan(struct fault_plan *p, bool is_on, uint32_t n_gpus);
/* Checks that the GPUs of a plan exist. */
int lofamo_check_plan(
	const struct fault_plan *p, uint32_t n_gpus, struct err *e);

/* Parts in plans of faults in addition to the topology's: host, card, gpu,
 * service. */
extern const struct part_kind *const lofamo_parts[];

/* A card or GPU of a node is dead in [from, until). */
struct lofamo_outage {
	enum lofamo_kind kind;
	uint32_t unit;
	sim_time from, until;
};

/* The outages of a node, to be freed by the caller; returns their number. */
size_t lofamo_outages(
	const struct fault_plan *p, router_id site, struct lofamo_outage **v);

/* A part changes its state. */
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
	/* A report has arrived at the Master; may be NULL. */
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
	sim_time since; /* when the state was read */
	sim_time known; /* when the Master learned of it */
	router_id by; /* the reporting node; NO_ROUTER: a roll call */
};

/* The set-up of a machine; false: its nodes are not monitored. */
bool lofamo_setup(const struct part_place *at, struct lofamo_setup *s);

struct lofamo;

struct lofamo *lofamo_new(const struct lofamo_setup *s);
void lofamo_free(struct lofamo *l);
/* Adds a fault; in any order, before it runs. */
void lofamo_add(struct lofamo *l, const struct lofamo_fault *f);
/* Adds all faults of a plan that concern it. */
void lofamo_add_plan(struct lofamo *l, const struct fault_plan *p);
/* Runs until t. */
void lofamo_run(struct lofamo *l, sim_time t);
/* The state of a part in the Master's picture. */
enum health lofamo_state(const struct lofamo *l, enum lofamo_kind kind,
	router_id site, uint32_t unit);
/* Whether a part really is normal. */
bool lofamo_is_well(const struct lofamo *l, enum lofamo_kind kind,
	router_id site, uint32_t unit);
/* Part i of those that were ever not normal in the Master's picture, in the
 * order of reports; false if there are no more. */
bool lofamo_part(const struct lofamo *l, size_t i, struct lofamo_part *p);
void lofamo_name(const struct topo *t, enum lofamo_kind kind, router_id site,
	uint32_t unit, char *text, size_t size);

#endif
