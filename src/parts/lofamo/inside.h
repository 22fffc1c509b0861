/* Shared by LO|FA|MO's cards and daemons (lofamo.c) and its Master
 * (master.c). */
#ifndef PARTS_LOFAMO_INSIDE_H
#define PARTS_LOFAMO_INSIDE_H

#include "parts/lofamo/lofamo.h"

enum what {
	ON_WRITE,
	ON_REFRESH, /* the card's own bit */
	ON_TEST,
	ON_POLL,
	CLOCKS,
	ON_FAULT = CLOCKS,
	ON_CODE, /* in control words: a neighbour's host's health */
	ON_SERVICE, /* ... whether it has a service port */
	ON_MAIL, /* ... a report to be passed on */
	ON_REPORT, /* at the Master */
	ON_SETTLE,
	ON_ROLL,
	ON_ANSWERS,
};

/* A report. */
struct note {
	enum lofamo_kind kind;
	router_id site; /* of the part */
	uint32_t unit;
	uint8_t state;
	router_id by;
	sim_time since;
};

struct event {
	sim_time at;
	uint64_t number;
	enum what what;
	router_id site;
	uint32_t unit;
	enum lofamo_kind kind;
	enum health state;
	struct note note;
};

enum {
	LOFAMO_MAIL = 32, /* reports that a card keeps for its neighbours */
	PARTS = 3 + LOFAMO_PORTS + LOFAMO_GPUS, /* of a node */
};

struct node {
	/* the true state */
	uint8_t host; /* an enum health */
	bool is_card_dead, is_service_dead;
	uint8_t cut, gpus; /* links and GPUs that are dead, a bit each */
	sim_time mute_since[LOFAMO_PORTS]; /* SIM_NEVER: not mute */
	sim_time word_at[LOFAMO_PORTS]; /* next control word without message */
	uint64_t words[LOFAMO_PORTS]; /* control words with a message */

	/* the card's registers */
	bool is_host_valid, is_card_valid;
	uint8_t host_code, host_state; /* as written; as tested */
	uint8_t neighbour[LOFAMO_PORTS];
	uint8_t silent;
	uint8_t mute_ports; /* neighbours without a service port */
	uint8_t n_mail;
	sim_time tested;
	struct note mail[LOFAMO_MAIL];

	/* reported by the daemon */
	struct {
		uint8_t self, card, service, gpus, silent, serviceless;
		uint8_t neighbour[LOFAMO_PORTS];
	} told;

	/* reports to the Master about this node, or from it */
	struct {
		uint8_t code; /* of its host, by others, lately */
		sim_time code_at, code_since, heard; /* heard of itself */
		uint8_t self, card, gpus, silent, service;
		sim_time silent_at; /* a link to it, last */
		sim_time missed_at; /* a roll call, first */
		bool has_answered, is_missed;
	} said;
	struct {
		uint8_t state;
		bool is_listed;
		sim_time since, known;
		router_id by;
	} part[PARTS];

	bool is_awake; /* its clocks tick */
	uint64_t ticks[CLOCKS];
};

struct lofamo {
	struct lofamo_params params;
	const struct topo *topo;
	uint32_t n_ports, n_gpus;
	sim_time latency, slot;
	uint64_t seed;
	void (*on_report)(void *arg, sim_time t, enum lofamo_kind kind,
		router_id site, uint32_t unit, enum health state, router_id by);
	void *arg;
	struct node *node;
	struct event *event; /* a heap */
	size_t n_events;
	uint64_t posted;
	struct lofamo_part *change; /* of the Master's picture, in order */
	size_t n_changes;
	uint32_t *ill; /* site * PARTS + part, in the order of reports */
	size_t n_ill;
};

/* Runs the next event up to t, and sets its time and site; false: none. */
bool lofamo_step(struct lofamo *l, sim_time t, sim_time *at, router_id *site);

static inline void set_bit(uint8_t *bits, uint32_t i, bool is_set)
{
	*bits = (uint8_t)(is_set ? *bits | 1u << i : *bits & ~(1u << i));
}

void lofamo_post(struct lofamo *l, const struct event *e);
/* The far end of a port; NO_ROUTER: it has none. */
struct topo_end lofamo_far(const struct lofamo *l, router_id site, uint32_t p);

/* --- master.c --- */

void master_start(struct lofamo *l);
void master_on_report(struct lofamo *l, const struct event *e);
void master_on_settle(struct lofamo *l, const struct event *e);
void master_on_roll(struct lofamo *l, const struct event *e);
void master_on_answers(struct lofamo *l, const struct event *e);

#endif
