/* Random orders. */
#ifndef LOAD_ORDER_H
#define LOAD_ORDER_H

#include <stdint.h>

/* The i-th element of the order of 0..m-1 that belongs to a key; and the
 * position of x in it.  Some tens of instructions. */
uint32_t order_at(uint64_t key, uint32_t m, uint32_t i);
uint32_t order_find(uint64_t key, uint32_t m, uint32_t x);

/* The same with a table, if that is small, to go through a whole order. */
enum { ORDER_ROUNDS = 4, ORDER_HALF = 6 /* bits: to 4,096 elements */ };

struct order {
	uint64_t key;
	uint32_t m, half;
	uint16_t mask[ORDER_ROUNDS][1 << ORDER_HALF];
};

void order_init(struct order *o, uint64_t key, uint32_t m);
uint32_t order_look(const struct order *o, uint32_t i);

#endif
