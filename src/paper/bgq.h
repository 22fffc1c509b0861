/* The Blue Gene/Q network paper. */
#ifndef PAPER_BGQ_H
#define PAPER_BGQ_H

#include "paper/paper.h"

extern const struct paper_system paper_bgq;

#endif
