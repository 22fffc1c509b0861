/*
 * A program that breaks the rules of its own command queue all the time: it
 * alone is stopped, and lets itself be restarted.
 */
#ifndef LOAD_BENCH_DRIVERS_ELAN_ROGUE_H
#define LOAD_BENCH_DRIVERS_ELAN_ROGUE_H

#include "api/elan/elan.h"
#include "load/bench/bench.h"

/* The program; arg is a struct bench_rogue.  Complains of a misdeed that was
 * not noticed. */
void rogue_run(void *arg);

/* From a program: lets a queue go on that the card has stopped, when nothing
 * of it is under way any more. */
void rogue_restart(struct programs *p, struct elan_cq *q);

#endif
