/*
 * Shared by the files of the management library (weft/swnet.h).
 *
 * A manager knows the network only by answers to its requests.  Several
 * requests are under way at a time; one without an answer is sent again.  The
 * wire is the node's interface, or in tests anything else.
 */
#ifndef API_SWNET_MANAGER_H
#define API_SWNET_MANAGER_H

#include "base/index.h"
#include "base/ring.h"
#include "parts/registers/registers.h"
#include "sim/sim.h"
#include "weft/swnet.h"

enum {
	/* As many as a switch lets wait, so that none is refused where there is
	 * one manager. */
	MANAGER_WINDOW = 16,
	MANAGER_TRIES = 3, /* of a request */
};

/* From a request until it is sent again: longer than its way, there and back,
 * in a busy network. */
#define MANAGER_PATIENCE ((sim_time)40000 * SIM_NS)

/* What carries requests and answers. */
struct manager_wire {
	/* 0, or EINVAL: no such port or GUID. */
	int (*send)(void *arg, const struct weft_swnet_target *to,
		const struct registers_body *b);
	/* Waits for an answer or an event; false: there was none in time. */
	bool (*receive)(void *arg, struct registers_body *b, sim_time until);
	/* As registers_jtag(). */
	int (*jtag)(void *arg, uint32_t chip, struct registers_body *b);
	sim_time (*now)(void *arg);
	void (*close)(void *arg);
	uint32_t (*n_rails)(void *arg);
	uint64_t (*guid)(void *arg); /* of the manager's node */
};

/* Called with the answer; NULL: there was none. */
typedef void manager_done(
	void *arg, uint64_t tag, const struct registers_body *answer);

/* A request under way. */
struct manager_ask {
	bool is_open;
	uint32_t tries;
	sim_time until; /* then it is sent again */
	struct weft_swnet_target to;
	struct registers_body b;
	manager_done *done;
	void *arg;
	uint64_t tag;
};

struct weft_swnet {
	const struct manager_wire *wire;
	void *arg; /* of the wire */
	uint32_t sequence, n_open;
	struct manager_ask ask[MANAGER_WINDOW];
	struct ring events; /* struct weft_swnet_event */
	struct plan *plan; /* entries as they were last written, or NULL */
};

struct weft_swnet *manager_new(const struct manager_wire *wire, void *arg);
void manager_free(struct weft_swnet *m);

/* --- ask.c --- */

/* Sends a request, when fewer than MANAGER_WINDOW are under way. */
int manager_post(struct weft_swnet *m, const struct weft_swnet_target *to,
	const struct registers_body *b, manager_done *done, void *arg,
	uint64_t tag);
/* Waits until something has happened, an answer or a time-out. */
void manager_wait(struct weft_swnet *m);
/* Waits until no request is under way. */
void manager_drain(struct weft_swnet *m);
/* Sends a request and waits for its answer, which takes its place. */
int manager_call(struct weft_swnet *m, const struct weft_swnet_target *to,
	struct registers_body *b);
/* The number of errno.h for a status. */
int manager_error(uint32_t status);

/* --- call.c --- */

/* Requests, as commands have them. */
void manager_read(struct registers_body *b, uint32_t scope, uint32_t reg,
	uint32_t index, uint32_t count);
int manager_entries(struct registers_body *b, uint32_t scope,
	const struct weft_swnet_entries *e);

/* --- plan.c --- */

/* The entries that packets of one kind of port use, at one switch, for nodes
 * whose numbers follow each other. */
struct plan_item {
	uint32_t device; /* of the map */
	uint64_t who; /* rail << 56 and GUID of the switch */
	uint32_t scope;
	struct weft_swnet_entries e;
};

/* Sorted by who, part, first and scope. */
struct plan {
	struct plan_item *item;
	uint32_t n;
	uint32_t n_missing; /* pairs of a switch and nodes without a way */
};

struct plan *plan_new(const struct weft_swnet_map *map);
void plan_free(struct plan *p);
/* The same entries in another plan; NULL: it has none. */
const struct plan_item *plan_find(
	const struct plan *p, const struct plan_item *like);
bool plan_is_same(const struct plan_item *a, const struct plan_item *b);

#endif
