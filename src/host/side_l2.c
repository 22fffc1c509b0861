/*
 * An interface on the processor's chip, at its L2: requests of a line or less,
 * one after the other, whose data comes by itself.  Cores reach it at once.
 */
#include "host/l2.h"
#include "host/params.h"
#include "host/side.h"

enum { READS = 16 }; /* as many as a message unit's port has under way */

struct side_l2 {
	struct side side;
	struct l2 *l2;
};

static int side_l2_init(struct side *side, const void *params, struct err *e)
{
	struct side_l2 *s = (struct side_l2 *)side;

	if (l2_check(params, e))
		return -1;
	s->l2 = l2_new(params, side->n_nodes);
	side->most_read = L2_PAGE;
	side->n_reads = READS;
	return 0;
}

static void side_l2_fini(struct side *side)
{
	l2_free(((struct side_l2 *)side)->l2);
}

/* All lines are asked for now; it is done with the last of them. */
static sim_time access(const struct side *side, site_id node, sim_time t,
	uint64_t at, uint32_t bytes, enum l2_op op)
{
	struct l2 *l2 = ((const struct side_l2 *)side)->l2;
	uint32_t line = (uint32_t)l2_params(l2)->line, n;
	sim_time end = t;

	for (; bytes; at += n, bytes -= n) {
		sim_time done;

		n = line - (uint32_t)(at % line);
		n = n < bytes ? n : bytes;
		done = l2_access(l2, node, t, at, n, op).done;
		end = done > end ? done : end;
	}
	return end;
}

static sim_time side_l2_request(struct side *side, site_id node, sim_time t,
	uint64_t at, uint32_t bytes)
{
	return access(side, node, t, at, bytes, L2_READ);
}

static sim_time side_l2_data(struct side *side, site_id node, sim_time t,
	uint64_t at, uint32_t bytes)
{
	(void)side, (void)node, (void)at, (void)bytes;
	return t;
}

static sim_time side_l2_write(struct side *side, site_id node, sim_time t,
	uint64_t at, uint32_t bytes)
{
	return access(side, node, t, at, bytes, L2_WRITE);
}

static sim_time side_l2_atomic(
	struct side *side, site_id node, sim_time t, uint64_t at)
{
	return access(side, node, t, at, 8, L2_ATOMIC);
}

static sim_time side_l2_store(
	struct side *side, site_id node, sim_time t, uint32_t bytes)
{
	(void)side, (void)node, (void)bytes;
	return t;
}

static uint64_t side_l2_memory(const struct side *side)
{
	return sizeof(struct side_l2) +
	       l2_memory(((const struct side_l2 *)side)->l2);
}

const struct side_ops side_l2_ops = {
	.name = "l2",
	.title = "the processor's L2",
	.size = sizeof(struct side_l2),
	.params = l2_params_table,
	.n_params = L2_PARAMS,
	.params_size = sizeof(struct l2_params),
	.init = side_l2_init,
	.fini = side_l2_fini,
	.request = side_l2_request,
	.data = side_l2_data,
	.write = side_l2_write,
	.atomic = side_l2_atomic,
	.store = side_l2_store,
	.memory = side_l2_memory,
};
