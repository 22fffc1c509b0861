/*
 * Numbers of packets in flight: given out in order, done in any order.  The
 * owner keeps the span from the oldest unfinished one to the newest at 64 or
 * less.
 */
#ifndef NIC_UTIL_WINDOW_H
#define NIC_UTIL_WINDOW_H

#include <stdint.h>

struct window {
	uint32_t next, oldest;
	uint64_t done; /* a bit per number from oldest on */
};

static inline uint32_t window_span(const struct window *w)
{
	return w->next - w->oldest;
}

static inline void window_done(struct window *w, uint32_t number)
{
	w->done |= UINT64_C(1) << (number - w->oldest);
	for (; w->done & 1; w->done >>= 1)
		w->oldest++;
}

/* The same for a span of WINDOW_WIDE or less: number n has bit n modulo that.
 */
enum { WINDOW_WIDE = 256 };

struct wide_window {
	uint32_t next, oldest;
	uint64_t done[WINDOW_WIDE / 64];
};

static inline uint32_t wide_window_span(const struct wide_window *w)
{
	return w->next - w->oldest;
}

static inline void wide_window_done(struct wide_window *w, uint32_t number)
{
	uint64_t *word = &w->done[number % WINDOW_WIDE / 64];

	*word |= UINT64_C(1) << number % 64;
	for (;; w->oldest++) {
		uint64_t bit = UINT64_C(1) << w->oldest % 64;

		word = &w->done[w->oldest % WINDOW_WIDE / 64];
		if (!(*word & bit))
			return;
		*word &= ~bit;
	}
}

#endif
