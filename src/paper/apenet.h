/* The APEnet+ paper. */
#ifndef PAPER_APENET_H
#define PAPER_APENET_H

#include "paper/paper.h"

extern const struct paper_system paper_apenet;

#endif
