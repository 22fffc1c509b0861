/*
 * Trees of class routes (coll/tree.h) and barriers beside the links, as a part
 * of machines that have them: their parameters, their proof, and the routes
 * that a file of jobs writes (an array of struct class_register).  Interfaces
 * that use trees make them.
 */
#ifndef PARTS_TREES_TREES_H
#define PARTS_TREES_TREES_H

#include "coll/tree.h"
#include "parts/part.h"

extern const struct part_ops part_trees;

#endif
