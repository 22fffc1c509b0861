/*
 * For tests: chips of tiles in a torus, two nodes on each, with a client that
 * sends what a test has listed for each node and FIFO, and writes down what
 * arrives.  All is as machines/gemini.yaml has it, but what a test sets.
 */
#ifndef ROUTER_TILED_CHIPS_TESTING_H
#define ROUTER_TILED_CHIPS_TESTING_H

#include "router/tiled/tiled.h"
#include "testing/kit_testing.h"

/* Formats of Gemini's interface: requests that write, their responses. */
enum { CHIPS_WRITE = 0, CHIPS_DONE = 2, CHIPS_SETS = 8 };

struct chips_how {
	const char *shape;
	const char *sets[CHIPS_SETS + 1]; /* NULL last */
	int64_t lane_rate[3]; /* bits per second, by dimension; 0: the file's */
	uint32_t n_workers;
	const struct book_how *book;
	bool drains_slowly; /* a node takes 200 ns for each packet */
	bool has_outbox; /* the same, and what it sends has to wait nowhere */
};

struct chips_arrival {
	struct packet packet;
	site_id site;
	uint32_t fifo;
	sim_time sent, head, tail;
};

struct chips_flow {
	struct packet like;
	sim_time from;
	uint32_t fifo, n, first; /* numbers from first on */
};

/* Of one node and FIFO. */
struct chips_end {
	uint32_t *flow; /* indices, in order */
	uint32_t n, room, at, done; /* the one that is being sent */
};

struct chips {
	struct machine *machine;
	struct net *net;
	bool drains_slowly;
	struct chips_flow *flow;
	uint32_t n_flows, flow_room;
	struct chips_end (*end)[TILED_CHANNELS]; /* [node] */
	sim_time *sent; /* [number] */
	uint32_t n_sent, sent_room;
	/* by node, in order of arrival */
	struct chips_arrival **log;
	uint32_t *n_log, *log_room;
	/* set by chips_run(): [number] */
	const struct chips_arrival **got;
};

struct chips *chips_new(const struct chips_how *how);
void chips_free(struct chips *c);

/* n packets like one (src, dst, kind, bytes, format), into a FIFO of its
 * source from t on; returns the number of the first. */
uint32_t chips_send(struct chips *c, sim_time t, uint32_t fifo, uint32_t n,
	struct packet like);
/* To the end; everything arrives, once, and the audit is content. */
void chips_run(struct chips *c);
/* For a time; then everything is counted. */
void chips_run_until(struct chips *c, sim_time t);

/* Packets of one source, destination and FIFO that came before an elder. */
uint32_t chips_overtakings(const struct chips *c, uint8_t kind);

#endif
