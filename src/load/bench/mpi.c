/* What the calls of an MPI take (struct bench_mpi). */
#include "load/bench/bench.h"

bool bench_mpi_is_quick(const struct bench_driver *d, uint64_t bytes)
{
	const struct bench_means *m = &d->means[d->mpi->quick];

	return !m->most || bytes + BENCH_ENVELOPE <= m->most;
}

sim_time bench_mpi_time(const struct bench *b, uint64_t bytes, bool has_operand)
{
	const struct bench_driver *d = b->driver;
	struct bench_mpi_cost c = d->mpi->cost(&b->programs.load);
	sim_time t = c.message + (has_operand ? c.operand : 0);
	uint64_t most = d->means[d->mpi->quick].most;

	if (bench_mpi_is_quick(d, bytes))
		return t;
	t += c.longer;
	if (bytes <= d->mpi->most_copied && bytes > most)
		t += (sim_time)(bytes - most) * c.copy;
	return t;
}
