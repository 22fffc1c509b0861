/* Machines with tables, for tests. */
#ifndef ROUTE_TABLE_TESTING_H
#define ROUTE_TABLE_TESTING_H

#include "route/table.h"
#include "topo/fattree_testing.h"

struct table_how {
	struct tree_how tree;
	const char *sideways, *supernode_bits, *number_bits, *supernode;
};

struct table_machine {
	struct fattree t;
	struct table x;
};

extern const struct table_how table_prototype, table_exa;
/* Small trees of all kinds, ended by one without nodes. */
extern const struct table_how table_some[];

int table_try(
	struct table_machine *m, const struct table_how *how, struct err *e);
void table_make(struct table_machine *m, const struct table_how *how);
void table_unmake(struct table_machine *m);

/* Links that do not work: [router] a bit for each port, of both ends. */
void table_kill(
	const struct table_machine *m, port_mask *dead, router_id r, port_id p);

/*
 * Carries a packet from a node over one rail, by the first candidates whose
 * links work; returns the number of switches that it has passed, 0 if it has
 * found no way.
 */
uint32_t table_carry(const struct table_machine *m, const port_mask *dead,
	struct packet *p, uint32_t rail);

#endif
