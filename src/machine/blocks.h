/*
 * The blocks of parameters that machines have: those of every variant in the
 * registries, and which of them the variants of one machine use.
 */
#ifndef MACHINE_BLOCKS_H
#define MACHINE_BLOCKS_H

#include "machine/machine.h"

/* Adds the variants that its plugins bring. */
int machine_add_plugins(struct machine *m, struct err *e);

/* What has been chosen by the kinds as read so far; NULL: none. */
struct topo *machine_topo_now(const struct machine *m);
struct topo_words machine_words_now(const struct machine *m);
size_t machine_route_now(const struct machine *m); /* its index */
const struct nic_ops *machine_nic_now(const struct machine *m);
const struct side_ops *machine_side_now(const struct machine *m);

#endif
