#include "meas/batches.h"

#include "base/wide.h"

enum { WARM_GROUP = 4, JOINED = 20, LEAST = 5 };

/* Student's t for 97.5 % by degrees of freedom, in thousandths. */
static const uint32_t student[] = { 0, 12706, 4303, 3182, 2776, 2571, 2447,
	2365, 2306, 2262, 2228, 2201, 2179, 2160, 2145, 2131, 2120, 2110, 2101,
	2093 };

static uint64_t sum(const uint64_t *sample, uint32_t n)
{
	uint64_t s = 0;

	for (uint32_t i = 0; i < n; i++)
		s += sample[i];
	return s;
}

bool batches_warm(const uint64_t *sample, uint32_t n)
{
	uint64_t a, b, apart;

	if (n < 3 * WARM_GROUP) /* the first group is never to be trusted */
		return false;
	a = sum(sample + n - 2 * WARM_GROUP, WARM_GROUP);
	b = sum(sample + n - WARM_GROUP, WARM_GROUP);
	apart = a > b ? a - b : b - a;
	return apart * 100 <= b;
}

static uint64_t root(uint128 x)
{
	uint64_t r = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1)
		if ((uint128)(r | bit) * (r | bit) <= x)
			r |= bit;
	return r;
}

uint32_t batches_half_width(const uint64_t *sample, uint32_t n)
{
	uint32_t per = n > JOINED ? n / JOINED : 1, k = n / per;
	const uint64_t *from = sample + n % per;
	uint128 square = 0;
	uint64_t total, error;

	if (k > JOINED) {
		from += (k - JOINED) * per;
		k = JOINED;
	}
	total = sum(from, k * per);
	if (k < LEAST || !total)
		return UINT32_MAX;
	for (uint32_t i = 0; i < k; i++) {
		uint64_t x = sum(from + i * per, per) * k;
		uint64_t d = x > total ? x - total : total - x;

		square += (uint128)d * d;
	}
	/* t * sqrt(var / k) / mean, all scaled by k and by a million. */
	error = root(square / (k - 1) / k);
	return (uint32_t)((uint128)error * student[k - 1] * 1000 / total);
}

double batches_student(uint32_t freedom)
{
	enum { N = sizeof(student) / sizeof(student[0]) };

	return freedom < N ? student[freedom] / 1e3 : 1.96;
}
