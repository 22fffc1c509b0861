/*
 * For tests: what every network interface must do, by whatever means it has.
 * A clause is what each node's program does; it is run on one machine of each
 * kind, through the drivers that experiments use, so a new interface inherits
 * all clauses with its driver.
 */
#ifndef TESTING_CONTRACT_TESTING_H
#define TESTING_CONTRACT_TESTING_H

#include "load/bench/bench.h"
#include "machine/run.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

struct clause {
	/* False where it was not as promised. */
	bool (*run)(struct bench_end *x);
	uint64_t n_puts; /* of each program; 0: few */
	bool has_gets;
	uint32_t queues; /* of each program; 0: one */
	/* only of drivers that can: */
	bool needs_self, needs_words, needs_acks;
	bool errs; /* programs make mistakes, which are to be reported */
};

struct outcome {
	struct err e; /* that it ended with */
	uint64_t digest, memory;
	uint64_t errors; /* that interfaces have reported */
};

struct contract_how {
	const char *const *sets; /* NULL last; or NULL */
	const char *faults; /* a file */
	const char *by;
	const struct book_how *book;
	uint32_t threads; /* 0: 1 */
};

/* The kinds of machines; all tests have them as their state. */
int contract_set_up(void **state);
int contract_tear_down(void **state);

/* Whether a kind's driver can do a clause. */
bool contract_applies(const struct clause *c, const struct kit_kind *k);
/* On one kind. */
struct outcome contract_run(const struct clause *c, const struct kit_kind *k,
	const struct contract_how *how);
/*
 * On all kinds, by all means, on one thread and on three: it must end well, or
 * with mistakes reported where it errs, and be the same.
 */
void contract_everywhere(
	void **state, const struct clause *c, const char *const *sets);

/* --- for clauses --- */

enum { PLACE = 16 << 10, GUARD = 64 };

uint32_t contract_nodes(const struct bench_end *x);
/* Whole units of what the driver transfers. */
uint64_t whole(const struct bench_end *x, uint64_t bytes);
uint64_t number(uint32_t from, uint32_t to, uint32_t i);

/* Places to send from and to. */
static inline uint64_t source(uint32_t place)
{
	return BENCH_SOURCE + (uint64_t)place * PLACE;
}

static inline uint64_t target(uint32_t place)
{
	return BENCH_TARGET + (uint64_t)place * PLACE + GUARD;
}

/* Bytes around a target that nobody may touch. */
void guard(struct bench_end *x, uint32_t place, uint64_t bytes);
bool is_guarded(struct bench_end *x, uint32_t place, uint64_t bytes);

/* A put onto counter 0 that nobody tracks; and a get that is waited for. */
void put(struct bench_end *x, uint32_t node, uint32_t place, uint64_t from,
	uint64_t bytes);
bool get(struct bench_end *x, uint32_t node, uint64_t from, uint32_t place,
	uint64_t bytes);

/* Everybody to everybody else, each a length of its own; is_guarded. */
bool put_to_all(struct bench_end *x);

#define CONTRACT_TEST(name, ...)                                               \
	static void name(void **state)                                         \
	{                                                                      \
		contract_everywhere(                                           \
			state, &(struct clause){ __VA_ARGS__ }, NULL);         \
	}

#endif
