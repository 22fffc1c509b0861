/* Shared by the files of the domain. */
#ifndef PARTS_DOMAIN_INSIDE_H
#define PARTS_DOMAIN_INSIDE_H

#include "base/ring.h"
#include "base/slots.h"
#include "parts/domain/domain.h"

/* Numbers of its events. */
enum {
	DOMAIN_DIES,
	DOMAIN_LATER,
	DOMAIN_IN = 16, /* and the port */
	DOMAIN_CALL = DOMAIN_IN + DOMAIN_PORTS,
	DOMAIN_OUT = DOMAIN_CALL + DOMAIN_PORTS,
	DOMAIN_EVENTS = DOMAIN_OUT + DOMAIN_PORTS,
};

_Static_assert((int)DOMAIN_EVENTS <= (int)HOST_ENGINE_EVENTS, "numbers");

/* Of a sum: the bytes of a process on their way into the switch; a chunk of
 * the result on its way to one process, and from there to all others. */
enum sum_role { SUM_NONE, SUM_GIVES, SUM_RESULT, SUM_CAST };

/* What is under way. */
struct move {
	struct slot slot;
	struct domain_move is;
	uint64_t sent; /* bytes */
	uint32_t sum; /* of which it is a part, or 0 */
	enum sum_role role;
	uint32_t missing; /* processes that a cast has not come to */
	bool is_called; /* the switch has room for its next chunk */
	bool is_there; /* all of it */
	uint64_t old; /* of a word */
	struct book_message book;
	uint8_t data[DOMAIN_DATA];
};

struct port {
	struct ring ready; /* transfers that may send a chunk, in turn */
	struct ring waiting; /* transfers to it that found no room */
	struct ring coming; /* transfers whose last chunks are on their way */
	sim_time out_free, in_free;
	sim_time out_busy, in_busy; /* ever */
	uint64_t out, in; /* bytes, ever */
	uint32_t n_open; /* transfers of this process */
	bool is_posted; /* there will be a turn: */
	sim_time turn; /* then, whatever was posted for later */
	/* A row of chunks of one transfer that leave this port, until out_free:
	 * since when, and 1 + the port that they go to, or 0 for none; and for
	 * chunks that come to this port, 1 + the port that they leave. */
	sim_time row;
	uint32_t row_to, row_from;
};

/* A transfer that something happens to later. */
struct later {
	sim_time t;
	uint32_t move;
};

struct domain_node {
	struct slots moves;
	struct ring later; /* all take the latency */
	struct port *port; /* [processes] */
	struct slots sums;
	uint32_t joining; /* the sum that processes join, or 0 */
	bool is_later_posted, is_gone;
	uint64_t n_moves, n_chunks; /* ever */
	/* bytes, ever: that became part of sums, beyond these; that were handed
	 * out more than once */
	uint64_t absorbed, copied;
};

struct outage {
	site_id node;
	sim_time from, until;
};

struct domain {
	struct domain_params params;
	struct host *host;
	struct book *book; /* or NULL */
	struct domain_node **nodes; /* NULL until used */
	site_id n_nodes;
	uint32_t n_ports;
	sim_time chunk; /* of a full one, the duration */
	sim_time queue; /* of the switch, for each port: its duration */
	struct outage *outage;
	size_t n_outages;
};

/* --- domain.c --- */

struct domain_node *domain_node(struct domain *d, site_id node);
void domain_on_event(void *arg, struct sim_worker *w, site_id node, sim_time t,
	uint32_t number);
/* How long a port is occupied. */
sim_time domain_takes(const struct domain *d, uint64_t bytes);
void domain_free_node(struct domain *d, struct domain_node *n);
struct move *domain_move_at(const struct domain_node *n, uint32_t id);
/* All zeros but for its slot. */
uint32_t domain_take(struct domain_node *n, struct move **m);
/* A transfer waits for a turn of its sender. */
void domain_make_ready(const struct domain_at *at, uint32_t id);
/* A chunk leaves a port now: how long it occupies that. */
sim_time domain_leave(
	const struct domain_at *at, struct port *x, uint64_t bytes);
/* It occupies a port that it is bound for, when that is free. */
void domain_enter(const struct domain_at *at, struct port *x, sim_time time);
/* It is the last one of a transfer: that comes by then. */
void domain_come(const struct domain_at *at, uint32_t to, uint32_t id);
void domain_set_word(
	const struct domain_at *at, uint64_t word_at, uint64_t value);
/* Its time, of which all was the domain's. */
void domain_account(const struct domain_at *at, const struct book_message *m,
	uint32_t process);

/* --- sums.c --- */

/* A part of a sum has the turn of its port, or has come to one. */
void sums_send(const struct domain_at *at, struct port *x, uint32_t id);
void sums_on_last(const struct domain_at *at, uint32_t to, uint32_t id);
/* The domain is gone: all sums end. */
void sums_end_all(const struct domain_at *at);
void sums_init(struct domain_node *n);
void sums_free(struct domain_node *n);

#endif
