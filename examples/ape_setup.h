/* What the examples for APEnet+ share.  A call that fails is a mistake of the
 * example and ends it.  All nodes register the same buffers in the same order,
 * so that their keys are the same. */
#ifndef APE_SETUP_H
#define APE_SETUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/ape.h>
#include <weft/gpu.h>
#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>

#define LIBRARY_AT  (UINT64_C(1) << 32) /* memory of the two libraries */
#define MESSAGES_AT (UINT64_C(1) << 33)

static inline void must(const char *what, int code)
{
	if (!code)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(code));
	exit(1);
}

static inline uint32_t buffer(uint64_t at, uint64_t bytes)
{
	uint32_t key;

	must("register", weft_ape_register(at, bytes, &key));
	return key;
}

static inline void open_ape(struct weft_msg *m)
{
	must("messages", weft_msg_init(m, &(struct weft_msg_options){
						  .at = MESSAGES_AT }));
	must("open", weft_ape_open(LIBRARY_AT));
}

/* The next event of a kind; others are taken and forgotten. */
static inline struct weft_ape_event await(uint32_t kind)
{
	struct weft_ape_event e;

	do {
		must("wait", weft_ape_wait(&e));
		if (e.kind == WEFT_APE_ERROR)
			must("transfer", 5);
	} while (e.kind != kind);
	return e;
}

#endif
