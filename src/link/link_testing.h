/* For tests: rules of links, which are freed when the tests are over. */
#ifndef LINK_LINK_TESTING_H
#define LINK_LINK_TESTING_H

#include "link/link.h"

/* Blue Gene/Q's framing, as its file has it, and nothing else of the file. */
struct link_params link_test_defaults(void);

/* What follows from them, on wires of a topology; fails the test where they
 * cannot be. */
struct link_rules link_test_rules_on(
	const struct link_params *p, const struct topo *t);
struct link_rules link_test_rules(const struct link_params *p);

/* Header and payload in chunks, in the first format. */
static inline uint32_t link_chunks(const struct link_rules *r, uint32_t bytes)
{
	return r->chunks[link_place(r, 0, bytes)];
}

/* A test group's teardown: frees all rules that were made. */
int link_test_forget(void **state);

uint64_t link_test_draw(uint64_t *n, uint64_t below);

#endif
