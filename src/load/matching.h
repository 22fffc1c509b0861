/*
 * A perfect matching of the greatest weight.
 *
 * There are n classes of nodes.  Each node of one is to be matched with one
 * node as a target, of the same class or another one, and each is the target of
 * one. The sum of weight[class of a node][class of its target] is to be as
 * large as possible.
 *
 * This is the method of Kuhn and Munkres, on classes: every class has a price
 * as a source and as a target, which together are at least the weight.  Pairs
 * whose weight is their price are matched as far as possible; then prices
 * change by as much as it takes for new pairs.  Weights are small, so that
 * happens rarely.
 */
#ifndef LOAD_MATCHING_H
#define LOAD_MATCHING_H

#include <stdint.h>

/* from[] gets the class of the source for each target: for size[0] targets of
 * the first class, then those of the second. */
void matching_find(const uint8_t *weight, const uint32_t *size, uint32_t n,
	uint32_t *from);

#endif
