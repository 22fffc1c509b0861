/*
 * Contexts: which of a node's memory the queues and packets of a job may
 * touch, and in which order that has the bytes of a word.
 */
#include "nic/elan4/parts.h"

#include <errno.h>

#include "base/mem.h"

int elan_context_set(struct nic *nic, site_id s, uint32_t context,
	uint64_t first, uint64_t last)
{
	struct elan_node *n = nic_node(nic, s);
	uint32_t i;

	if (context >= ELAN_CONTEXTS || first > last ||
		last >= host_memory(nic->host))
		return EINVAL;
	for (i = 0; i < n->n_contexts; i++)
		if (n->contexts[i].number == context)
			break;
	if (i == n->n_contexts)
		n->contexts = mem_grow(
			n->contexts, ++n->n_contexts, sizeof(*n->contexts));
	n->contexts[i] = (struct elan_context){
		.first = first, .last = last, .number = context
	};
	return 0;
}

static struct elan_context *find_context(
	const struct elan_node *n, uint32_t context)
{
	uint32_t i;

	for (i = 0; i < n->n_contexts; i++)
		if (n->contexts[i].number == context)
			return &n->contexts[i];
	return NULL;
}

int elan_context_order(
	struct nic *nic, site_id s, uint32_t context, bool is_big)
{
	struct elan_context *c = find_context(nic_node(nic, s), context);

	if (!c)
		return EINVAL;
	c->is_big = is_big;
	return 0;
}

uint64_t elan_word_order(
	const struct elan_node *n, uint32_t context, uint64_t word)
{
	const struct elan_context *c = find_context(n, context);

	return c && c->is_big ? __builtin_bswap64(word) : word;
}

bool elan_may(const struct elan_node *n, uint32_t context, uint64_t at,
	uint64_t bytes)
{
	const struct elan_context *c = find_context(n, context);

	return c && (!bytes || (at >= c->first && at <= c->last &&
				       bytes - 1 <= c->last - at));
}
