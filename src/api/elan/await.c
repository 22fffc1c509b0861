/* What collectives have in common: whether the network can do them, and how
 * programs wait for them. */
#include <errno.h>

#include "api/elan/queue.h"
#include "host/program.h"
#include "net/net.h"

enum { PATIENCE = 100 }; /* looks at a queue that is to be closed */

struct look {
	const struct nic *nic;
	const struct host *host;
	site_id node;
	uint32_t queue[2];
	uint64_t at, least;
};

static bool has_come(void *arg, uint64_t *seen)
{
	const struct look *x = arg;

	host_read(x->host, x->node, x->at, seen, 8);
	return *seen >= x->least ||
	       elan_queue_error(x->nic, x->node, x->queue[0]) ||
	       elan_queue_error(x->nic, x->node, x->queue[1]);
}

uint64_t cq_await(uint64_t at, uint64_t least, const struct elan_cq *a,
	const struct elan_cq *b, const struct elan_wait *how)
{
	struct look x = { cq_card(), program_host(), program_node(),
		{ a->id, b->id }, at, least };
	uint64_t seen = 0;

	if (!how->until) {
		program_poll_with(at, has_come, &x, elan_poll_loop(), &seen);
		return seen;
	}
	how->until(how->arg, at, least);
	elan_load_bytes(at, &seen, 8);
	return seen;
}

bool cq_can_cast(void)
{
	const struct host_world *w = program_world();

	if (host_n_processes(program_host()) > 1 || !cq_card()->net->coll)
		return false;
	for (uint32_t i = 1; w && i < w->n; i++)
		if (w->node[i] != w->node[i - 1] + 1)
			return false;
	return true;
}

int cq_close_later(struct elan_cq *q)
{
	int code = elan_cq_close(q);

	for (uint32_t i = 0; i < PATIENCE && code == EBUSY; i++) {
		program_charge(1000 * (sim_time)SIM_NS);
		code = elan_cq_close(q);
	}
	return code;
}
