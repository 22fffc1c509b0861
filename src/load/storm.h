/* Random puts, DMAs and gets over QsNetII, every byte looked at: see storm.c.
 */
#ifndef LOAD_STORM_H
#define LOAD_STORM_H

#include "load/load.h"

extern const struct load_ops load_storm;

#endif
