/* Many messages between two nodes. */
#ifndef LOAD_BENCH_STREAM_H
#define LOAD_BENCH_STREAM_H

#include "load/load.h"

extern const struct load_ops load_stream;

#endif
