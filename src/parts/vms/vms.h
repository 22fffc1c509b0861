/*
 * Virtual machines of nodes, as plans of faults name them: "vm 1 of node 5
 * dies".  The network interface has all else.
 */
#ifndef PARTS_VMS_VMS_H
#define PARTS_VMS_VMS_H

#include "parts/part.h"
#include "topo/parts.h"

/* Its unit is its number on its node, from 1 on. */
extern const struct part_kind part_vm;

extern const struct part_ops part_vms;

#endif
