/*
 * Multicasts in switches: a packet with PACKET_MANY leaves a switch by all
 * ports of an entry, a copy each (SUN-F30).  Every port of a switch has a table
 * of its own with 32 entries, for packets that arrive there; an entry names the
 * ports by which they leave.  The packet carries the number of its entry in
 * place of a destination (last).
 *
 * A chain of entries that reaches many nodes is set beforehand.  Its links form
 * a tree, and in each switch of the tree a packet that comes by one of them
 * leaves by all others.  So any node of the chain can send, and reaches every
 * other one once.  Chains belong to jobs, not to groups of processes: a node
 * gets packets that are not for it, and drops them (SUN-F57).
 *
 * Tables of a port use no memory until an entry is written.  A switch's entries
 * are written before a run, or by the switch itself.
 */
#ifndef COLL_MULTICAST_H
#define COLL_MULTICAST_H

#include "coll/coll.h"

enum { MULTICAST_ENTRIES = 32 /* of a port */ };

/* Whether the switches of a network have such tables; c may be NULL. */
bool multicast_has(const struct coll *c);

/* Writes the entry of a port: the ports by which packets leave; none: there is
 * no entry. */
int multicast_write(struct coll *c, site_id s, port_id in, uint32_t entry,
	port_mask ports, struct err *e);
port_mask multicast_read(
	const struct coll *c, site_id s, port_id in, uint32_t entry);

/*
 * Sets a chain that joins some nodes by the links at one of their ports: up to
 * a switch above all of them, by links that the number of the entry selects,
 * and down to each.  Refused where a switch uses the entry for others.  Only
 * before a run.
 */
int multicast_join(struct coll *c, uint32_t entry, port_id port,
	const site_id *node, uint32_t n, struct err *e);
/* Clears an entry in all switches that are reached from a port of a node. */
void multicast_part(struct coll *c, uint32_t entry, port_id port, site_id node);

extern const struct coll_ops multicast_ops;

#endif
