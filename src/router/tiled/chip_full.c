/* The full build: with time budgets, faults, links of different rates, and
 * rings without planes. */
#define TILED_FULL 1
#define TILED_CHIP tiled_full_chip

#include "router/tiled/chip.c"
