/*
 * A histogram of times from 0 to 2^62 ps whose buckets are at most 1/64 of
 * their value wide.  Sums, counts and the extremes are exact; adding two is
 * commutative, so per-thread ones can be merged in any order.
 */
#ifndef MEAS_HIST_H
#define MEAS_HIST_H

#include <stdint.h>

#include "base/wide.h"

enum { HIST_SUB = 64, HIST_BUCKETS = 58 * HIST_SUB };

struct hist {
	uint64_t n;
	int64_t min, max;
	uint128 sum;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_merge(struct hist *to, const struct hist *from);

struct sim;
/* Of several processes: adds the histograms of all of them. */
void hist_share(const struct sim *sim, struct hist *h);

/* The bucket of a value: exact below 64, then 64 buckets per octave. */
static inline uint32_t hist_bucket(int64_t v)
{
	uint32_t shift;

	if (v < HIST_SUB)
		return (uint32_t)v;
	shift = 57u - (uint32_t)__builtin_clzll((uint64_t)v);
	return (shift + 1) * HIST_SUB + (uint32_t)((uint64_t)v >> shift) -
	       HIST_SUB;
}

static inline void hist_add(struct hist *h, int64_t v)
{
	h->min = !h->n || v < h->min ? v : h->min;
	h->max = v > h->max ? v : h->max;
	h->n++;
	h->sum += (uint64_t)v;
	h->bucket[hist_bucket(v)]++;
}

/* The upper end of the bucket that holds the value of this rank, but at most
 * the maximum; -1 if it is empty.  per_mille is 0 to 1000. */
int64_t hist_quantile(const struct hist *h, uint32_t per_mille);
int64_t hist_mean(const struct hist *h);

/* The largest value that falls into a bucket. */
int64_t hist_upper(uint32_t bucket);

#endif
