#ifndef LOAD_PUT_H
#define LOAD_PUT_H

#include "load/load.h"

extern const struct load_ops load_put;

#endif
