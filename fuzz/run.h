/*
 * Runs what an input describes, and looks at how that ended.  The small runs
 * are of machines of at most FUZZ_NODES nodes.
 */
#ifndef FUZZ_RUN_H
#define FUZZ_RUN_H

#include "machine/run.h"

#include "check.h"

enum { FUZZ_NODES = 64 };

/* Refused in one line, at a limit or done; not broken. */
static inline void check_ending(const struct err *e)
{
	struct err refusal = *e;

	check(e->code != EXIT_INTERNAL, e->text);
	if (!e->code)
		return;
	refusal.code = EXIT_BAD_INPUT;
	check_refusal(&refusal);
}

static inline void try_run(const struct machine_run_setup *s)
{
	static struct machine_run r; /* too big for a stack */
	struct err e = { 0 };

	if (!machine_run_open(&r, s, &e))
		machine_run_perform(&r, &e);
	check_ending(&e);
	machine_run_close(&r);
}

#endif
