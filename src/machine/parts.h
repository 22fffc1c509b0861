/* The parts that machines may have (parts/part.h). */
#ifndef MACHINE_PARTS_H
#define MACHINE_PARTS_H

#include "parts/part.h"

extern const struct part_ops *const part_registry[];

#endif
