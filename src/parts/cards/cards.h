/*
 * Cards and hosts as parts that fail: "card 3.1 dies" takes away card 1 of node
 * 3, that is its link and what it has to do, and nothing else of the node;
 * "host 3 dies" all of the node.  What a card does then is its interface's.
 */
#ifndef PARTS_CARDS_CARDS_H
#define PARTS_CARDS_CARDS_H

#include "link/faults.h"
#include "parts/part.h"

extern const struct part_ops part_cards;

/* Whether any card dies. */
bool cards_fail(const struct fault_plan *p);
/* Whether a card dies at a time. */
bool cards_dies(
	const struct fault_plan *p, site_id node, uint32_t card, sim_time t);

#endif
