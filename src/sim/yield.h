/*
 * A process that waits for another one lets others run meanwhile: perhaps the
 * one that it waits for.  To a program that computes the core would be lost for
 * milliseconds, a thousand windows.  That is noticed; from then on, for some
 * time, such programs get the core only while the process sleeps, since who is
 * woken goes before them.
 */
#ifndef SIM_YIELD_H
#define SIM_YIELD_H

#include <sched.h>
#include <stdint.h>

#include "base/relax.h"

/* A longer moment was for a program that computes; how long that is believed
 * then. */
#define YIELD_LONG_NS	INT64_C(1000000)
#define YIELD_BELIEF_NS INT64_C(100000000)

struct yield {
	int64_t keep_until; /* the core */
};

/* Returns the time after that; now is the time before. */
static inline int64_t yield_core(
	struct yield *y, int64_t now, int64_t (*clock)(void))
{
	int64_t then;

	if (now < y->keep_until)
		relax();
	else
		sched_yield();
	then = clock();
	if (then - now > YIELD_LONG_NS)
		y->keep_until = then + YIELD_BELIEF_NS;
	return then;
}

#endif
