/*
 * Nodes that do not answer.  Tries of the card and of the library cost a
 * message to such a node milliseconds, so only the first one has them all.
 * Later ones fail at once, except for one in each SW_SILENCE, which shows
 * whether the node is back.  Anything that comes from the node ends its
 * silence.
 *
 * A message that is bound to a port says nothing about the other port, so a
 * node is remembered with the port, 0 if the card chooses it.
 */
#ifndef API_SW_SILENT_H
#define API_SW_SILENT_H

#include "sim/sim.h"

/* The most that are remembered: then the one that is tried next is forgotten.
 */
enum { SW_SILENT = 256 };

/* As long as the tries of a message. */
#define SW_SILENCE (5000000 * (sim_time)SIM_NS)

struct swv_silent_node;

struct swv_silent {
	struct swv_silent_node *node; /* [SW_SILENT]; NULL until one is */
	uint32_t n;
};

void swv_silent_fini(struct swv_silent *s);
uint64_t swv_silent_memory(const struct swv_silent *s);

/* A message to a node was given up. */
void swv_silent_add(
	struct swv_silent *s, uint32_t node, uint32_t port, sim_time now);
bool swv_silent_has(const struct swv_silent *s, uint32_t node, uint32_t port);
/* Whether a new message is to fail at once; if the node is silent and it is
 * not, others are until the next SW_SILENCE has passed. */
bool swv_silent_stops(
	struct swv_silent *s, uint32_t node, uint32_t port, sim_time now);
/* The node has answered. */
void swv_silent_end(struct swv_silent *s, uint32_t node);

#endif
