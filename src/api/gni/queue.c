#include "api/gni/queue.h"

int gemini_queue_open(
	struct gemini_queue *q, uint32_t cq, uint64_t at, uint32_t entries)
{
	*q = (struct gemini_queue){
		.nic = nic_check(host_nic(program_host()), &gemini_ops),
		.node = program_node(),
		.cq = cq,
		.entries = entries,
		.at = at,
	};
	return gemini_cq_open(q->nic, q->node, cq, at, entries);
}

bool gemini_queue_look(const struct gemini_queue *q, struct gemini_event *e)
{
	uint64_t at = q->at + q->taken % q->entries * sizeof(*e);

	return host_read(q->nic->host, q->node, at, e, sizeof(*e)) &&
	       e->number == q->taken + 1;
}

bool gemini_queue_take(struct gemini_queue *q, struct gemini_event *e)
{
	if (!gemini_queue_look(q, e))
		return false;
	gemini_cq_take(q->nic, q->node, q->cq, ++q->taken);
	return true;
}

static bool has_come(void *arg, uint64_t *seen)
{
	struct gemini_event e;

	*seen = 0;
	return gemini_queue_look(arg, &e);
}

void gemini_queue_wait(struct gemini_queue *q)
{
	uint64_t seen;

	program_poll_until(has_come, q, gemini_queue_loop(q->nic), &seen);
}

struct poll_loop gemini_queue_loop(const struct nic *nic)
{
	const struct gemini_params *p = nic->params;

	return nic_poll_loop(nic, p->poll_period, p->poll_load);
}
