/* Neighbours put into each other's memories, over the links between them. */
#ifndef LOAD_EXCHANGE_H
#define LOAD_EXCHANGE_H

#include "load/load.h"

extern const struct load_ops load_exchange;

#endif
