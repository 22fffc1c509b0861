/* The Quadrics QsNetII paper. */
#ifndef PAPER_QSNET2_H
#define PAPER_QSNET2_H

#include "paper/paper.h"

extern const struct paper_system paper_qsnet2;

#endif
