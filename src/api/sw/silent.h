/*
 * Nodes that do not answer.  All tries of the card and of the library for one
 * message take milliseconds, so only the first message to such a node gets
 * them.  Later messages fail at once, except for one in each SW_SILENCE, which
 * shows whether the node is back.  Anything that comes from the node ends its
 * silence.
 *
 * A message that is bound to a port says nothing about the other port, so a
 * node is remembered with the port, 0 if the card chooses it.
 */
#ifndef API_SW_SILENT_H
#define API_SW_SILENT_H

#include "sim/sim.h"

/* Most nodes that are remembered; a further one replaces the node whose next
 * try is due first. */
enum { SW_SILENT = 256 };

/* As long as the tries of a message. */
#define SW_SILENCE (5000000 * (sim_time)SIM_NS)

struct swv_silent_node;

struct swv_silent {
	struct swv_silent_node *node; /* [SW_SILENT]; NULL: none so far */
	uint32_t n;
};

void swv_silent_fini(struct swv_silent *s);
uint64_t swv_silent_memory(const struct swv_silent *s);

/* A message to a node was given up. */
void swv_silent_add(
	struct swv_silent *s, uint32_t node, uint32_t port, sim_time now);
bool swv_silent_has(const struct swv_silent *s, uint32_t node, uint32_t port);
/* Whether a new message is to fail at once.  If a message to a silent node may
 * try, others fail until the next SW_SILENCE has passed. */
bool swv_silent_stops(
	struct swv_silent *s, uint32_t node, uint32_t port, sim_time now);
/* The node has answered. */
void swv_silent_end(struct swv_silent *s, uint32_t node);

#endif
