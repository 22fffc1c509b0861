/* Contexts: the memory of a node that the queues and packets of a job may
 * access, and its byte order; and the end of one. */
#include <errno.h>

#include "nic/elan4/units.h"

static struct ranges *contexts(struct nic *nic, site_id s)
{
	struct elan_node *n = nic_node(nic, s);

	return &n->contexts;
}

int elan_context_set(struct nic *nic, site_id s, uint32_t context,
	uint64_t first, uint64_t last)
{
	if (context >= ELAN_CONTEXTS || first > last ||
		last >= host_memory(nic->host))
		return EINVAL;
	ranges_set(contexts(nic, s), context, first, last);
	return 0;
}

int elan_context_order(
	struct nic *nic, site_id s, uint32_t context, bool is_big)
{
	struct range *r = ranges_find(contexts(nic, s), context);

	if (!r)
		return EINVAL;
	r->flags = is_big ? ELAN_BIG_ENDIAN : 0;
	return 0;
}

void elan_context_stop(const struct nic_at *a, uint32_t context)
{
	struct elan_node *n = a->node;

	ranges_drop(&n->contexts, context);
	for (uint32_t i = 0; i < ELAN_QUEUES; i++) {
		struct elan_queue *q = elan_queue(n, i);

		if (q && q->context == context)
			elan_queue_stop(a, q, ELAN_ERROR_MEMORY);
	}
}

uint64_t elan_word_order(
	const struct elan_node *n, uint32_t context, uint64_t word)
{
	const struct range *r = ranges_find(&n->contexts, context);

	return r && r->flags & ELAN_BIG_ENDIAN ? __builtin_bswap64(word) : word;
}
