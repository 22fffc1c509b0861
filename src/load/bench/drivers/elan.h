/* What the files of Elan4's driver share. */
#ifndef LOAD_BENCH_DRIVERS_ELAN_H
#define LOAD_BENCH_DRIVERS_ELAN_H

#include "load/bench/bench.h"

/* A program's blocks: tagged messages. */
struct blocks;

/* Where a program keeps them; NULL: not opened. */
struct blocks **bench_elan_blocks(const struct bench_end *x);
/* The rank of its peer at a node, and an address of either of them. */
uint32_t bench_elan_rank(const struct bench_end *x, uint32_t node);
uint64_t bench_elan_address(const struct bench_end *x, uint64_t at);

/* --- elan_blocks.c --- */

extern const struct bench_channel bench_elan_channel;
void bench_elan_blocks_free(struct blocks *b);

/* The first command queue of a program's tagged port. */
enum { BENCH_ELAN_PORT_QUEUE = 3000 };

#endif
