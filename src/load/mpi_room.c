#include "load/mpi_room.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/msg/msg.h"
#include "outside/endpoint.h"

static int check_nodes(
	const struct load *l, uint32_t ppn, uint64_t *n, struct err *e)
{
	uint64_t most = (uint64_t)load_n_nodes(l) * ppn;

	/* a job has the nodes that it asked for */
	if (!*n && !l->place)
		return err_set(
			e, "mpi: want the number of ranks, as in ranks=8");
	if (*n > most)
		return err_set(e,
			"ranks: the %s has %u nodes, which have room for "
			"%" PRIu64 " ranks with ppn=%u, not for %" PRIu64,
			l->place ? "job" : "machine", load_n_nodes(l), most,
			ppn, *n);
	*n += *n ? 0 : most;
	return 0;
}

static uint64_t mib(uint64_t bytes)
{
	return bytes >> 20;
}

/* What the interface has in its own memory for each process of a node. */
static int check_card(const struct load *l, const struct msg_ops *ops,
	uint32_t ppn, uint32_t n_ranks, struct err *e)
{
	struct msg_card c;

	if (!ops->card)
		return 0;
	c = ops->card(l->nic_params, n_ranks);
	if (ppn <= c.bytes / c.each)
		return 0;
	return err_set_code(e, EXIT_LIMIT,
		"ppn: %u processes of a node need more than %" PRIu64
		" MiB of the %s's own memory, which has %" PRIu64
		" MiB; use a smaller ppn or a larger %s",
		ppn, mib(ppn * c.each), l->nic_ops->title, mib(c.bytes),
		c.param);
}

/* What libraries keep in the node's memory for each process. */
static int check_memory(
	const struct load *l, uint32_t ppn, uint32_t n_ranks, struct err *e)
{
	uint64_t have = (uint64_t)l->host_params->memory;
	uint64_t each = msg_memory(l->nic_ops, l->nic_params, n_ranks, NULL) +
			ENDPOINT_MEMORY;

	if (ppn <= have / each)
		return 0;
	return err_set_code(e, EXIT_LIMIT,
		"ppn: %u processes of a node need more than %" PRIu64
		" MiB of its memory for messages alone, and it has %" PRIu64
		" MiB; use a smaller ppn or a larger host.memory",
		ppn, mib(ppn * each), mib(have));
}

int mpi_room_check(
	const struct programs *p, uint32_t ppn, uint64_t *n, struct err *e)
{
	const struct load *l = &p->load;
	const struct api *api = api_to(l->nic_ops);
	const struct msg_ops *ops = api ? api->msg : NULL;
	uint32_t n_ranks;

	if (!ops)
		return err_set(e, "mpi: the %s has no operations for messages",
			l->nic_ops->title);
	if (ops->most_processes && ppn > ops->most_processes)
		return err_set(e,
			"ppn: the %s serves at most %u processes of a node",
			l->nic_ops->title, ops->most_processes);
	if (check_nodes(l, ppn, n, e))
		return -1;
	/* the machine has places for ranks of the last node that are none */
	n_ranks = (uint32_t)((*n + ppn - 1) / ppn * ppn);
	return check_card(l, ops, ppn, n_ranks, e) ||
			       check_memory(l, ppn, n_ranks, e)
		       ? -1
		       : 0;
}

void mpi_room_idle(void *arg)
{
	struct weft_msg m;

	(void)arg;
	if (weft_msg_init(&m, NULL))
		return;
	weft_msg_barrier(&m); /* of endpoint_close() */
	weft_msg_fini(&m);
}

void mpi_room_describe(const struct load *l, int error, char *text, size_t size)
{
	const struct msg_ops *ops = api_to(l->nic_ops)->msg;

	if (error == ENOMEM && ops->card)
		snprintf(text, size,
			"the %s's own memory is full; use a smaller ppn or a "
			"larger %s",
			l->nic_ops->title, ops->card(l->nic_params, 1).param);
	else if (error == EFAULT)
		snprintf(text, size,
			"its part of the node's memory is too small for "
			"messages; use a smaller ppn or a larger host.memory");
	else
		snprintf(text, size, "cannot use the %s: %s", l->nic_ops->title,
			strerror(error));
}
