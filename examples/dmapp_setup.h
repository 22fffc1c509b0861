/* Common code of the examples for DMAPP.  A call that fails is a bug in the
 * example and ends it. */
#ifndef DMAPP_SETUP_H
#define DMAPP_SETUP_H

#include <stdio.h>
#include <stdlib.h>

#include <weft/dmapp.h>
#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>

/* All PEs are ready by then. */
#define START (20000 * WEFT_NS)

static inline void must(const char *what, dmapp_return_t code)
{
	if (code == DMAPP_RC_SUCCESS)
		return;
	fprintf(stderr, "%s: error %d\n", what, (int)code);
	exit(1);
}

/* The segment that every PE has; waits until all have it. */
static inline dmapp_jobinfo_t open_dmapp(void)
{
	dmapp_jobinfo_t job;

	must("init", dmapp_init(NULL, NULL));
	must("job", dmapp_get_jobinfo(&job));
	weft_wait_until(START);
	return job;
}

static inline uint64_t load(uint64_t at)
{
	uint64_t word = 0;

	weft_msg_load(at, &word, sizeof(word));
	return word;
}

static inline void store(uint64_t at, uint64_t word)
{
	weft_msg_store(at, &word, sizeof(word));
}

#endif
