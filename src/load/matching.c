#include "load/matching.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define NOBODY UINT32_MAX

struct matching {
	const uint8_t *weight;
	uint32_t n;
	uint32_t *from; /* [target] the class of its source, or NOBODY */
	uint32_t *first; /* [class] its first target, and the end of all */
	int32_t *price, *gain; /* [class] as a source, and as a target */
	uint32_t *left; /* [class] sources without a target */
	uint32_t *used; /* [class] targets with a source: the first ones */
	/* of a search */
	uint32_t *next; /* [class] the first target's class not looked at */
	bool *is_reached, *is_seen; /* [class] as a source, as a target */
};

static int32_t surplus(const struct matching *m, uint32_t i, uint32_t j)
{
	return m->price[i] + m->gain[j] - m->weight[(size_t)i * m->n + j];
}

/*
 * Gives a target to a source of a class: a free one, or one whose source finds
 * another.  Each class is looked at once in a search.
 */
static bool find_target(struct matching *m, uint32_t i)
{
	m->is_reached[i] = true;
	for (; m->next[i] < m->n; m->next[i]++) {
		uint32_t j = m->next[i], *at = &m->from[m->first[j]];

		if (m->is_seen[j] || surplus(m, i, j))
			continue;
		if (m->used[j] < m->first[j + 1] - m->first[j]) {
			at[m->used[j]++] = i;
			return true;
		}
		m->is_seen[j] = true;
		for (uint32_t k = 0; k < m->used[j]; k++)
			if (!m->is_reached[at[k]] && find_target(m, at[k])) {
				at[k] = i;
				return true;
			}
	}
	return false;
}

/* A search from all sources without a target; returns how many got one. */
static uint32_t search(struct matching *m)
{
	uint32_t found = 0;

	memset(m->next, 0, m->n * sizeof(*m->next));
	memset(m->is_reached, 0, m->n * sizeof(*m->is_reached));
	memset(m->is_seen, 0, m->n * sizeof(*m->is_seen));
	for (uint32_t i = 0; i < m->n; i++)
		while (m->left[i] && find_target(m, i)) {
			m->left[i]--;
			found++;
		}
	return found;
}

/* After a search that found nothing: the least change of prices by which
 * classes that were reached may have another target. */
static void change_prices(struct matching *m)
{
	int32_t least = INT32_MAX;
	uint32_t i, j;

	for (i = 0; i < m->n; i++)
		for (j = 0; m->is_reached[i] && j < m->n; j++)
			if (!m->is_seen[j] && surplus(m, i, j) < least)
				least = surplus(m, i, j);
	for (i = 0; i < m->n; i++) {
		m->price[i] -= m->is_reached[i] ? least : 0;
		m->gain[i] += m->is_seen[i] ? least : 0;
	}
}

static void begin(struct matching *m, const uint32_t *size)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const uint8_t *weight = &m->weight[(size_t)i * m->n];

		for (uint32_t j = 0; j < m->n; j++)
			if (weight[j] > m->price[i])
				m->price[i] = weight[j];
		m->first[i + 1] = m->first[i] + size[i];
		m->left[i] = size[i];
	}
}

static bool is_complete(const struct matching *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->left[i])
			return false;
	return true;
}

void matching_find(
	const uint8_t *weight, const uint32_t *size, uint32_t n, uint32_t *from)
{
	struct matching m = {
		.weight = weight,
		.n = n,
		.from = from,
		.first = mem_alloc(n + 1, sizeof(*m.first)),
		.price = mem_alloc(n, sizeof(*m.price)),
		.gain = mem_alloc(n, sizeof(*m.gain)),
		.left = mem_alloc(n, sizeof(*m.left)),
		.used = mem_alloc(n, sizeof(*m.used)),
		.next = mem_alloc(n, sizeof(*m.next)),
		.is_reached = mem_alloc(n, sizeof(*m.is_reached)),
		.is_seen = mem_alloc(n, sizeof(*m.is_seen)),
	};

	begin(&m, size);
	while (!is_complete(&m))
		if (!search(&m))
			change_prices(&m);
	mem_free(m.first);
	mem_free(m.price);
	mem_free(m.gain);
	mem_free(m.left);
	mem_free(m.used);
	mem_free(m.next);
	mem_free(m.is_reached);
	mem_free(m.is_seen);
}
