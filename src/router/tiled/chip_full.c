/* The same code once more, for networks that keep time budgets, have faults or
 * links of different rates, or rings without planes. */
#define TILED_FULL 1
#define TILED_CHIP tiled_full_chip

#include "router/tiled/chip.c"
