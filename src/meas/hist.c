#include "meas/hist.h"

#include "sim/sim.h"

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

void hist_share(const struct sim *sim, struct hist *h)
{
	uint64_t part[3] = { h->sum & UINT32_MAX, h->sum >> 32 & UINT32_MAX,
		(uint64_t)(h->sum >> 64) };
	uint64_t ends[2] = { (uint64_t)h->max, h->n ? ~(uint64_t)h->min : 0 };

	if (!sim_is_shared(sim))
		return;
	sim_sum(sim, &h->n, 1);
	sim_sum(sim, part, 3);
	sim_sum(sim, h->bucket, HIST_BUCKETS);
	sim_max(sim, ends, 2);
	h->sum = part[0] + ((uint128)part[1] << 32) + ((uint128)part[2] << 64);
	h->max = (int64_t)ends[0];
	h->min = h->n ? (int64_t)~ends[1] : 0;
}
