/* Fast domains of nodes. */
#include "parts/domain/domain.h"

#include "load/bench/bench.h"

bool driver_domain_adds(const struct load *l)
{
	const struct domain_params *p = domain_params(l->parts);

	return p && p->sums;
}

void bench_set_processes(struct bench *b, bool is_msg)
{
	if (b->procs < 0)
		b->procs = is_msg ? domain_ranks(b->programs.load.parts) : 1;
}
