/*
 * For tests of SWHNI: two leaves with 32 nodes, and what software does with a
 * virtual interface, without a library that helps it.  Functions on a struct st
 * are for the test itself, all others for programs.
 */
#ifndef NIC_SWHNI_SWHNI_TESTING_H
#define NIC_SWHNI_SWHNI_TESTING_H

#include "nic/swhni/swhni.h"
#include "testing/kit_testing.h"

enum {
	ST_KEY = 1, /* ST_BYTES at ST_TARGET, for all to read and write */
	ST_OWN = 2, /* the same at ST_SOURCE, for nobody else */
	ST_SOURCE = 0x10000000,
	ST_TARGET = 0x20000000,
	ST_BYTES = 0x8000000,
	ST_RINGS = 0x100000, /* of interface 0; others follow */
	ST_ENTRIES = 64,
	ST_SLOTS = 16,
	ST_JOB = 7,
	ST_SETS = 24,
	/* Entries of ST_RINGS of an interface, completions, slots. */
	ST_COMPLETIONS = 0x4000,
	ST_RECEIVE = 0x8000,
	ST_EACH = 0x20000,
};

struct st {
	struct kit kit;
	const char *sets[ST_SETS + 1];
	uint32_t n_sets;
	const char *machine, *shape, *faults;
	const char *events; /* of a plan, as parameters */
	uint32_t n_workers, n_processes, n_nodes;
	bool may_err;
	struct book_how *book;
	void (*run)(struct st *m, site_id node);
	void (*prepare)(struct st *m); /* before it runs, or NULL */
	/* the test's own */
	sim_time at, end;
	uint64_t seen, word[8];
	const void *arg;
};

void st_init(struct st *m);
void st_set(struct st *m, const char *set);
/* Runs a program for each process of the first n nodes (0: all); returns the
 * digest. */
uint64_t st_run(struct st *m, uint32_t n, void (*run)(struct st *, site_id));
void st_fini(struct st *m);
const struct swhni_params *st_params(const struct st *m);
uint64_t st_word_at(const struct st *m, site_id node, uint64_t at);
/* How long a packet of the bus takes; from node to node in the network, in one
 * leaf or far away. */
sim_time st_bus(const struct st *m, uint32_t bytes);
sim_time st_net(const struct st *m, bool is_far, uint32_t bytes);

/* --- for programs --- */

struct st_queue {
	struct nic *nic;
	uint32_t interface, process;
	uint32_t written, taken, received;
	uint64_t at;
};

/* An interface of the calling program's process, with all queues, and both
 * keys if they are not there yet. */
struct st_queue st_open(void);
struct st_queue st_open_as(const struct swhni_setup *s);
struct nic_at st_now(const struct st_queue *q);
/* A write of bytes between the same offsets, with a completion. */
struct swhni_descriptor st_write(site_id node, uint64_t offset, uint32_t bytes);
void st_put(struct st_queue *q, const struct swhni_descriptor *d);
void st_ring(struct st_queue *q);
/* Both. */
void st_post(struct st_queue *q, const struct swhni_descriptor *d);
/* The next completion; whether there is one; the error of the next. */
struct workq_completion st_wait(struct st_queue *q);
bool st_has(const struct st_queue *q);
uint32_t st_error(struct st_queue *q);
/* The next message. */
struct swhni_slot st_receive(struct st_queue *q, void *data);
bool st_has_message(const struct st_queue *q);

void st_store(uint64_t at, uint64_t word);
uint64_t st_load(uint64_t at);
/* Until a word is, exactly when it changes. */
void st_await(uint64_t at, uint64_t word);
void st_fill(uint64_t at, uint64_t bytes, uint64_t number);
bool st_is(uint64_t at, uint64_t bytes, uint64_t number);

#endif
