#include "load/bench/bench.h"

#include <string.h>

static const struct bench_driver *const bench_drivers[] = {
	&bench_mu,
	&bench_elan,
	&bench_gemini,
	&bench_plain,
	&bench_ape,
	&bench_sw,
	NULL,
};

const struct bench_driver *bench_find_driver(const struct nic_ops *nic)
{
	for (size_t i = 0; nic && bench_drivers[i]; i++)
		if (!strcmp(bench_drivers[i]->name, nic->name))
			return bench_drivers[i];
	return NULL;
}
