/* Random orders without a table. */
#ifndef LOAD_ORDER_H
#define LOAD_ORDER_H

#include <stdint.h>

/*
 * The i-th element of the order of 0..m-1 that key names, i below m; and
 * where in it x stands.  Some tens of instructions.
 */
uint32_t order_at(uint64_t key, uint32_t m, uint32_t i);
uint32_t order_find(uint64_t key, uint32_t m, uint32_t x);

#endif
