/* Common code of the examples for QsNetII.  A call that fails is a bug in the
 * example and ends it. */
#ifndef ELAN_SETUP_H
#define ELAN_SETUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/elan.h>
#include <weft/program.h>
#include <weft/run.h>

/* Nodes send when all are ready; real programs meet at a barrier. */
static const weft_time START = 200000 * WEFT_NS;

static inline void must(const char *what, int error)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

/* Waits until an event has written a 1 to a word. */
static inline void await(const struct elan_cq *q, uint64_t at)
{
	if (elan_wait_event(q, at, 1))
		return;
	fprintf(stderr, "stopped: %s\n", elan_error_name(elan_cq_error(q)));
	exit(1);
}

#endif
