/* The first two dimensions of a torus, drawn in ASCII. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <stdio.h>

#include "topo/torus.h"

extern const char *const picture_wires[N_WIRE_CLASSES]; /* in words */

void picture_draw(const struct torus *t, FILE *out);

#endif
