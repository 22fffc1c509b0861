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

/* What is under way. */
struct move {
	struct slot slot;
	struct domain_move is;
	uint64_t sent; /* bytes */
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
	bool is_posted; /* there will be a turn */
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
	bool is_later_posted, is_gone;
	uint64_t n_moves, n_chunks; /* ever */
	uint64_t lost; /* bytes, with it */
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

#endif
