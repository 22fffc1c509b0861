#include <errno.h>

#include "nic/gemini/card.h"

int gemini_cq_open(
	struct nic *nic, site_id s, uint32_t cq, uint64_t at, uint32_t entries)
{
	const uint32_t both =
		MEMORY_MAY_READ(MEMORY_NIC) | MEMORY_MAY_WRITE(MEMORY_NIC);
	struct gem_node *n = nic_node(nic, s);

	if (cq >= GEMINI_CQS || !entries || entries & (entries - 1) || at % 16)
		return EINVAL;
	if (n->cq[cq].entries)
		return EBUSY;
	if (host_ask(nic->host, s, both, at,
		    entries * sizeof(struct gemini_event)))
		return EFAULT;
	n->cq[cq] = (struct gem_cq){ .at = at, .entries = entries };
	return 0;
}

void gemini_cq_close(struct nic *nic, site_id s, uint32_t cq)
{
	((struct gem_node *)nic_node(nic, s))->cq[cq].entries = 0;
}

void gemini_cq_take(struct nic *nic, site_id s, uint32_t cq, uint32_t taken)
{
	((struct gem_node *)nic_node(nic, s))->cq[cq].taken = taken;
}

/* One that has no room is counted and lost; the next one's number tells. */
bool gem_cq_write(
	const struct nic_at *a, uint32_t cq, uint64_t data, uint32_t status)
{
	struct gem_node *n = a->node;
	struct side *side = gem_of(a)->side;
	struct gem_event *x;
	struct gem_cq *q;
	uint32_t id;

	if (cq >= GEMINI_CQS || !n->cq[cq].entries)
		return false;
	q = &n->cq[cq];
	if (q->written++ - q->taken >= q->entries) {
		n->overruns++;
		return true;
	}
	id = slots_take(&n->events);
	x = slots_at(&n->events, id);
	x->cq = cq;
	x->e = (struct gemini_event){ data, status, q->written };
	gem_post(a,
		side->ops->write(side, a->s, a->t,
			q->at + (q->written - 1) % q->entries * sizeof(x->e),
			sizeof(x->e)),
		GEM_EVENT, id);
	return true;
}

void gem_cq_on_event(const struct nic_at *a, uint32_t event)
{
	struct gem_node *n = a->node;
	const struct gem_event *x = slots_at(&n->events, event);
	const struct gem_cq *q = &n->cq[x->cq];

	n->events_written++;
	host_write(a->nic->host, a->w, a->s, a->t,
		q->at + (x->e.number - 1) % q->entries * sizeof(x->e), &x->e,
		sizeof(x->e));
	host_poke(a->nic->host, a->w, a->s, a->t);
	slots_give(&n->events, event);
}
