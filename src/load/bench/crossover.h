/* Puts against DMAs of QsNetII, by size. */
#ifndef LOAD_BENCH_CROSSOVER_H
#define LOAD_BENCH_CROSSOVER_H

#include "load/load.h"

extern const struct load_ops load_crossover;

#endif
