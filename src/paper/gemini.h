/* The Cray Gemini paper. */
#ifndef PAPER_GEMINI_H
#define PAPER_GEMINI_H

#include "paper/paper.h"

extern const struct paper_system paper_gemini;

#endif
