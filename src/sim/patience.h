/*
 * How long a thread or process polls before it sleeps.  Waking it takes some
 * microseconds, so polling is better if waits are short.  If waits are long,
 * because others have more to do or no core, polling wastes a core that others
 * may need.  So each poll that fails halves the time of the next one, and a
 * poll that succeeds restores it.  Now and then a poll has the full time, to
 * find out whether waits have become shorter.
 */
#ifndef SIM_PATIENCE_H
#define SIM_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { PATIENCE_TRIAL = 16 };

struct patience {
	int64_t time; /* of the next poll, in any unit */
	uint32_t n; /* polls so far */
};

/* The time of the next poll, at most `most`. */
static inline int64_t patience_next(struct patience *p, int64_t most)
{
	if (!p->n)
		p->time = most;
	return p->n++ % PATIENCE_TRIAL ? p->time : most;
}

/* A poll is over; has_come: it has succeeded. */
static inline void patience_learn(
	struct patience *p, int64_t most, bool has_come)
{
	p->time = has_come ? most : p->time / 2;
}

#endif
