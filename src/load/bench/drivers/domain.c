/* Fast domains of nodes. */
#include "parts/domain/domain.h"

#include "load/bench/bench.h"

bool driver_domain_adds(const struct load *l)
{
	const struct domain_params *p = domain_params(l->parts);

	return p && p->sums;
}
