/* For programs of tests: bytes of a pattern in the node's memory. */
#ifndef HOST_BYTES_TESTING_H
#define HOST_BYTES_TESTING_H

#include <stdint.h>

/* A byte of a pattern that has no period of a power of two. */
uint8_t bytes_at(uint64_t seed, uint64_t i);
void bytes_fill(uint64_t at, uint64_t seed, uint64_t bytes);
/* Fails the test where the bytes are not these, or not all one value. */
void bytes_expect(uint64_t at, uint64_t seed, uint64_t bytes);
void bytes_expect_all(uint64_t at, uint8_t value, uint64_t bytes);

#endif
