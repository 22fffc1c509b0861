/* Complement traffic through QsNetII's interfaces. */
#ifndef LOAD_BENCH_MIRROR_H
#define LOAD_BENCH_MIRROR_H

#include "load/load.h"

extern const struct load_ops load_mirror;

#endif
