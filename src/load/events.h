/* Packets that events build on QsNetII. */
#ifndef LOAD_EVENTS_H
#define LOAD_EVENTS_H

#include "load/load.h"

extern const struct load_ops load_events;

#endif
