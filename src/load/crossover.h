/* Puts against DMAs of QsNetII, by size. */
#ifndef LOAD_CROSSOVER_H
#define LOAD_CROSSOVER_H

#include "load/load.h"

extern const struct load_ops load_crossover;

#endif
