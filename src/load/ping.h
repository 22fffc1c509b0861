/* Pings of QsNetII: puts, DMAs and gets between two nodes. */
#ifndef LOAD_PING_H
#define LOAD_PING_H

#include "load/load.h"

extern const struct load_ops load_ping;

#endif
