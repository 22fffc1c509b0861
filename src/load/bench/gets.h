/* Reads of words of other nodes' memories on QsNetII. */
#ifndef LOAD_BENCH_GETS_H
#define LOAD_BENCH_GETS_H

#include "load/load.h"

extern const struct load_ops load_gets;

#endif
