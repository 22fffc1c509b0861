/* Common code of the examples for APEnet+.  A call that fails is a bug in the
 * example and ends it.  All nodes register the same buffers in the same order,
 * so they have the same keys. */
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

/* The next event of a kind; other events are discarded. */
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

/* Common to the applications: the transfer method as the only argument, ... */
static inline uint32_t way(void)
{
	const char *word = weft_argument(0);

	return word && !strcmp(word, "staged") ? WEFT_APE_STAGED : WEFT_APE_P2P;
}

static inline bool accept_way(
	const char *const *arguments, char *text, size_t size)
{
	if (!arguments[0] ||
		(!arguments[1] && (!strcmp(arguments[0], "p2p") ||
					  !strcmp(arguments[0], "staged"))))
		return true;
	snprintf(text, size, "want p2p or staged");
	return false;
}

/* ... numbers that depend only on two other numbers, ... */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x =
		(a + 1) * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xd1b54a32d192ed03u;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

/* ... and events, which are counted: puts that are done, and those that have
 * arrived by their tag. */
struct events {
	uint32_t done, arrived[2];
};

static inline void take_event(struct events *x)
{
	struct weft_ape_event e;

	must("wait", weft_ape_wait(&e));
	if (e.kind == WEFT_APE_ERROR)
		must("transfer", 5);
	x->done += e.kind == WEFT_APE_DONE;
	if (e.kind == WEFT_APE_ARRIVED)
		x->arrived[e.tag]++;
}

#endif
