#include "meas/hist.h"

void hist_merge(struct hist *to, const struct hist *from)
{
	if (!from->n)
		return;
	to->min = !to->n || from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->n += from->n;
	to->sum += from->sum;
	for (uint32_t i = 0; i < HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

int64_t hist_upper(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < HIST_SUB)
		return bucket;
	shift = bucket / HIST_SUB - 1;
	return (int64_t)(((uint64_t)(bucket % HIST_SUB) + HIST_SUB + 1)
			 << shift) -
	       1;
}

int64_t hist_quantile(const struct hist *h, uint32_t per_mille)
{
	uint64_t rank = (uint64_t)(((uint128)h->n * per_mille + 999) / 1000);
	uint64_t seen = 0;

	if (!h->n)
		return -1;
	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen && seen >= rank)
			return hist_upper(i) < h->max ? hist_upper(i) : h->max;
	}
	return h->max;
}

int64_t hist_mean(const struct hist *h)
{
	return h->n ? (int64_t)(h->sum / h->n) : -1;
}
