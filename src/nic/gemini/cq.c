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
	if (memory_ask(host_at(nic->host, s), both, at,
		    entries * sizeof(struct gemini_event)))
		return EFAULT;
	n->cq[cq] = (struct gem_cq){
		.at = at,
		.entries = entries,
		.round = n->cq[cq].round + 1,
	};
	return 0;
}

static struct gem_cq *queue(struct nic *nic, site_id s, uint32_t cq)
{
	return &((struct gem_node *)nic_node(nic, s))->cq[cq];
}

void gemini_cq_close(struct nic *nic, site_id s, uint32_t cq)
{
	queue(nic, s, cq)->entries = 0;
}

void gemini_cq_take(struct nic *nic, site_id s, uint32_t cq, uint32_t taken)
{
	queue(nic, s, cq)->taken = taken;
}

uint32_t gemini_cq_lost(struct nic *nic, site_id s, uint32_t cq)
{
	return queue(nic, s, cq)->lost;
}

uint32_t gemini_events_to(struct nic *nic, site_id s, uint32_t cq)
{
	return (cq + 1) << 8 | queue(nic, s, cq)->round << 16;
}

uint32_t gem_cq_of_handle(const struct nic_at *a, uint32_t flags)
{
	uint32_t cq = (flags >> 8 & 255) - 1;

	return cq < GEMINI_CQS && (gem_here(a)->cq[cq].round ^ flags >> 16) %
						  65536 ==
					  0
		       ? cq
		       : GEMINI_NO_CQ;
}

bool gem_cq_is_open(const struct gem_node *n, uint32_t cq, uint32_t round)
{
	return n->cq[cq].entries && n->cq[cq].round == round;
}

/* An event without room is counted and lost. */
bool gem_cq_write(
	const struct nic_at *a, uint32_t cq, uint64_t data, uint32_t status)
{
	struct gem_node *n = a->node;
	struct side *side = gem_of(a)->side;
	struct gem_event *x;
	struct gem_cq *q;
	uint64_t at;
	uint32_t id;

	if (cq >= GEMINI_CQS || !n->cq[cq].entries)
		return false;
	q = &n->cq[cq];
	if (q->written - q->taken >= q->entries) {
		n->overruns++;
		q->lost++;
		/* wakes programs that wait for events */
		host_poke(a->nic->host, a->w, a->s, a->t);
		return true;
	}
	q->written++;
	id = slots_take(&n->events);
	x = slots_at(&n->events, id);
	x->cq = cq;
	x->round = q->round;
	x->e = (struct gemini_event){ data, status, q->written };
	at = q->at + (q->written - 1) % q->entries * sizeof(x->e);
	n->event_at = side->ops->write(side, a->s, a->t, at, sizeof(x->e));
	gem_post(a, n->event_at, GEM_EVENT, id);
	return true;
}

void gem_cq_on_event(const struct nic_at *a, uint32_t event)
{
	struct gem_node *n = a->node;
	const struct gem_event *x = slots_at(&n->events, event);
	const struct gem_cq *q = &n->cq[x->cq];

	/* if it was closed meanwhile, its memory is the program's again */
	if (gem_cq_is_open(n, x->cq, x->round)) {
		n->events_written++;
		host_write(a->nic->host, a->w, a->s, a->t,
			q->at + (x->e.number - 1) % q->entries * sizeof(x->e),
			&x->e, sizeof(x->e));
		host_poke(a->nic->host, a->w, a->s, a->t);
	}
	slots_give(&n->events, event);
}
