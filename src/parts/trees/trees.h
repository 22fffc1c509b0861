/*
 * Trees of class routes (coll/tree.h) and barriers beside the links, as a part
 * of machines that have them: their parameters and their proof.  Interfaces
 * that use trees make them.
 */
#ifndef PARTS_TREES_TREES_H
#define PARTS_TREES_TREES_H

#include "coll/tree.h"
#include "parts/part.h"

extern const struct part_ops part_trees;

/* Writes class routes before anything runs, past the kernel; none where nothing
 * uses trees. */
void trees_write(struct net *n, const struct class_register *v, size_t count);

#endif
