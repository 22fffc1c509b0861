/*
 * How long a thread or process looks for what it waits for before it sleeps.
 * To be woken takes some microseconds, so looking is better where waits are
 * short.  Where they are long, because others have more to do or no core, it
 * wastes a core that these may need.  So each look in vain halves the time of
 * the next one, and one that has found something restores it.  Now and then one
 * is as long as it may be, to find out whether that has changed.
 */
#ifndef SIM_PATIENCE_H
#define SIM_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { PATIENCE_TRIAL = 16 };

struct patience {
	int64_t time; /* of the next look, in any unit */
	uint32_t n; /* looks so far */
};

/* The time of the next look, at most so much. */
static inline int64_t patience_next(struct patience *p, int64_t most)
{
	if (!p->n)
		p->time = most;
	return p->n++ % PATIENCE_TRIAL ? p->time : most;
}

/* The look is over; whether what it was for has come. */
static inline void patience_learn(
	struct patience *p, int64_t most, bool has_come)
{
	p->time = has_come ? most : p->time / 2;
}

#endif
