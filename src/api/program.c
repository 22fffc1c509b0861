#include "weft/program.h"

#include "host/program.h"
#include "nic/nic.h"

_Static_assert((int)TOPO_MAX_DIMS <= (int)WEFT_MAX_DIMS, "sizes");

static const struct net *net(void)
{
	const struct nic *nic = host_nic(program_host());

	BUG_IF(!nic);
	return nic->net;
}

uint32_t weft_node(void)
{
	return program_node();
}

uint32_t weft_nodes(void)
{
	return net()->n_nodes;
}

/* Of its process, in which threads are counted from 0 on. */
static uint32_t first_thread(void)
{
	return program_process() * host_threads_each(program_host());
}

uint32_t weft_thread(void)
{
	return program_thread() - first_thread();
}

uint32_t weft_process(void)
{
	return program_process();
}

uint32_t weft_n_processes(void)
{
	return host_n_processes(program_host());
}

const char *weft_argument(uint32_t i)
{
	const char *const *a = host_arguments(program_host());

	while (i && *a) {
		a++;
		i--;
	}
	return *a;
}

uint64_t weft_seed(void)
{
	return net()->seed;
}

void *weft_map(uint64_t at, uint64_t bytes)
{
	return program_has(at, bytes) ? program_map(program_base() + at, bytes)
				      : NULL;
}

weft_time weft_now(void)
{
	return program_now();
}

void weft_compute(weft_time time)
{
	program_charge(time);
}

void weft_wait_until(weft_time time)
{
	program_wait(time);
}

bool weft_spawn(uint32_t thread, void (*run)(void *arg), void *arg)
{
	return thread < host_threads_each(program_host()) &&
	       program_spawn(first_thread() + thread, run, arg);
}

uint32_t weft_shape(uint32_t size[WEFT_MAX_DIMS])
{
	const struct topo *t = net()->topo;

	return t->ops->grid ? t->ops->grid(t, size) : 0;
}

void weft_coordinates(uint32_t node, uint32_t x[WEFT_MAX_DIMS])
{
	const struct topo *t = net()->topo;

	BUG_IF(!t->ops->grid);
	t->ops->place(t, node, x);
}

uint32_t weft_node_at(const uint32_t x[WEFT_MAX_DIMS])
{
	const struct topo *t = net()->topo;

	BUG_IF(!t->ops->grid);
	return t->ops->node_at(t, x);
}
