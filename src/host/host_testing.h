/* A machine of nodes alone, for the tests of programs. */
#ifndef HOST_HOST_TESTING_H
#define HOST_HOST_TESTING_H

#include "host/program.h"

enum {
	HOST_TESTING_WORD = 4096, /* the address that an engine writes */
	HOST_TESTING_MEMORY = 1 << 20, /* bytes per node */
};

/* Set before it is started, as far as 0 will not do. */
struct host_testing {
	site_id n_nodes; /* 0: 6 */
	uint32_t n_workers; /* 0: 1 */
	uint32_t n_programs; /* 0: 32 */
	uint32_t n_processes; /* 0: 1 */
	uint32_t n_spawned;
	size_t stack_bytes;

	struct sim *sim;
	struct host *host;
	uint64_t *device; /* [node] a register that an engine writes */
	uint64_t n_visited; /* events, with one worker */
};

void host_testing_start(struct host_testing *m);
void host_testing_fini(struct host_testing *m);

/* Until nothing is left to do. */
void host_testing_run(struct host_testing *m);

/* At t, an engine writes the word, or the device's register and pokes. */
void host_testing_write(
	struct host_testing *m, site_id node, sim_time t, uint32_t value);
void host_testing_set(
	struct host_testing *m, site_id node, sim_time t, uint32_t value);

/* The same from a program, now. */
void host_testing_set_now(struct host_testing *m, uint64_t value);

/* The system takes all of a node's CPUs for so many ns. */
void host_testing_take(
	struct host_testing *m, site_id node, sim_time t, uint32_t ns);

/* Random, from a count that goes on. */
uint64_t host_testing_draw(uint64_t *n, uint64_t below);

#endif
