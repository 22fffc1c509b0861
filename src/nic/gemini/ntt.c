/* The node translation table: from PEs of a job to nodes, of which it looks at
 * the upper bits alone (GEM-F15). */
#include <errno.h>

#include "base/mem.h"
#include "nic/gemini/card.h"

enum { ENTRIES = 1 << (GEMINI_PE_BITS - GEMINI_PE_LOW) };

static bool fits(const uint32_t *nodes, uint32_t n, uint32_t n_nodes)
{
	uint32_t i, low = (1 << GEMINI_PE_LOW) - 1;

	if (n > 1 << GEMINI_PE_BITS)
		return false;
	for (i = 0; i < n; i++)
		if (nodes[i] >= n_nodes || (nodes[i] ^ i) & low ||
			nodes[i] >> GEMINI_PE_LOW !=
				nodes[i & ~low] >> GEMINI_PE_LOW)
			return false;
	return true;
}

int gemini_ntt_load(
	struct nic *nic, site_id s, const uint32_t *nodes, uint32_t n)
{
	struct gem_node *x = nic_node(nic, s);
	uint32_t step = 1 << GEMINI_PE_LOW;

	if (!fits(nodes, n, nic->n_nodes))
		return EINVAL;
	mem_free(x->ntt);
	x->ntt = mem_alloc(ENTRIES, sizeof(*x->ntt));
	for (uint32_t i = 0; i < n; i += step)
		x->ntt[i / step] = (uint16_t)(1 + nodes[i] / step);
	return 0;
}

bool gem_ntt_translate(
	const struct nic_at *a, const struct gemini_post *p, uint32_t *node)
{
	const uint16_t *ntt = gem_here(a)->ntt;
	uint32_t upper = *node >> GEMINI_PE_LOW;

	if (p->is_virtual) {
		if (!ntt || upper >= ENTRIES || !ntt[upper])
			return false;
		*node -= (upper + 1 - ntt[upper]) << GEMINI_PE_LOW;
	}
	return *node < a->nic->n_nodes;
}
