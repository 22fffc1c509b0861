/* Synthetic traffic: endless packets by a pattern, measured in the middle. */
#ifndef LOAD_SYNTHETIC_H
#define LOAD_SYNTHETIC_H

#include "load/load.h"

extern const struct load_ops load_random, load_neighbour, load_transpose,
	load_reversal, load_tornado, load_complement, load_permutation,
	load_hotspot;

#endif
