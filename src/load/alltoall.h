/* All-to-all: by packets of the network, or by programs that put, with the
 * machine's own interface or with messages. */
#ifndef LOAD_ALLTOALL_H
#define LOAD_ALLTOALL_H

#include "load/programs.h"

struct alltoall {
	struct programs programs; /* used by programs only */
	/* keys */
	int64_t bytes;
	int64_t via;
	int64_t routing;
	char zones[PARAM_TEXT_MAX];
	int64_t driver, data, fifos; /* of programs */

	uint32_t rounds, last_bytes, full_bytes; /* packets of a message */
	int64_t peak;
	uint64_t expected; /* packets in all */

	/* via=net */
	uint8_t kind;
	sim_time slice;
	struct sender *sender;
	struct arrivals *arrivals;

	/* by programs */
	bool is_synthetic;
	struct alltoall_node *nodes;
	uint32_t *destination; /* [node], as headers have it */
};

struct alltoall_node {
	struct alltoall *a;
	site_id node;
	int source, target; /* synthetic regions */
	sim_time start, end;
};

extern const struct load_ops load_alltoall;
/* What init() changes to where the key via says so. */
extern const struct load_ops load_alltoall_nic, load_alltoall_msg;

/* --- alltoall_programs.c --- */

/* Bytes that a node gets, and where: one node's behind the other's. */
uint64_t alltoall_bytes(const struct alltoall *a, uint64_t n_nodes);
uint64_t alltoall_target_at(const struct alltoall *a, uint64_t n_nodes);
/* Where in a node's target another one's bytes go. */
uint64_t alltoall_offset(const struct alltoall *a, site_id node, site_id other);
/* The address of what a node sends to another one. */
uint64_t alltoall_source(const struct alltoall *a, site_id node, site_id other);

/* Makes what a node sends; looks at what it got, and complains. */
bool alltoall_make(struct alltoall_node *m, uint64_t n_nodes);
void alltoall_check(struct alltoall_node *m, uint64_t n_nodes);

/* Calls send() for each piece of each message, in the driver's order. */
void alltoall_send_all(struct alltoall_node *m, uint32_t n_nodes,
	void (*send)(void *arg, site_id to, uint64_t at, uint64_t bytes),
	void *arg);

/* In init(): returns the memory that a node needs. */
uint64_t alltoall_init_nodes(struct alltoall *a, uint64_t n_nodes);
void alltoall_start_nodes(struct alltoall *a, void (*run)(void *arg));
void alltoall_report_nodes(struct load *l, struct load_result *r);
void alltoall_fini_nodes(struct load *l);

#endif
