/*
 * Numbers of packets in flight: given out in order, done in any order.  The
 * owner keeps the span from the oldest unfinished one to the newest at 64 or
 * less; in a wide window, at WIDE_WINDOW.
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

enum { WIDE_WINDOW = 256 };

struct wide_window {
	uint32_t next, oldest;
	uint64_t done[WIDE_WINDOW / 64]; /* bit: number modulo WIDE_WINDOW */
};

static inline uint32_t wide_window_span(const struct wide_window *w)
{
	return w->next - w->oldest;
}

static inline void wide_window_done(struct wide_window *w, uint32_t number)
{
	uint32_t i = number % WIDE_WINDOW;

	w->done[i / 64] |= UINT64_C(1) << i % 64;
	for (i = w->oldest % WIDE_WINDOW; w->done[i / 64] >> i % 64 & 1;
		i = ++w->oldest % WIDE_WINDOW)
		w->done[i / 64] &= ~(UINT64_C(1) << i % 64);
}

#endif
