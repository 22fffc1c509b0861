#include "api/sw/silent.h"

#include "base/mem.h"

struct swv_silent_node {
	uint32_t node, port;
	sim_time next; /* try */
};

void swv_silent_fini(struct swv_silent *s)
{
	mem_free(s->node);
	*s = (struct swv_silent){ 0 };
}

uint64_t swv_silent_memory(const struct swv_silent *s)
{
	return s->node ? SW_SILENT * sizeof(*s->node) : 0;
}

static struct swv_silent_node *find(
	const struct swv_silent *s, uint32_t node, uint32_t port)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->node[i].node == node && s->node[i].port == port)
			return &s->node[i];
	return NULL;
}

/* A new place, or the place of the node whose next try is due first. */
static struct swv_silent_node *find_place(struct swv_silent *s)
{
	struct swv_silent_node *x;

	if (!s->node)
		s->node = mem_alloc(SW_SILENT, sizeof(*s->node));
	if (s->n < SW_SILENT)
		return &s->node[s->n++];
	x = s->node;
	for (uint32_t i = 1; i < s->n; i++)
		if (s->node[i].next < x->next)
			x = &s->node[i];
	return x;
}

void swv_silent_add(
	struct swv_silent *s, uint32_t node, uint32_t port, sim_time now)
{
	struct swv_silent_node *x = find(s, node, port);

	if (!x)
		x = find_place(s);
	*x = (struct swv_silent_node){ node, port, now + SW_SILENCE };
}

bool swv_silent_has(const struct swv_silent *s, uint32_t node, uint32_t port)
{
	return find(s, node, port);
}

bool swv_silent_stops(
	struct swv_silent *s, uint32_t node, uint32_t port, sim_time now)
{
	struct swv_silent_node *x = find(s, node, port);

	if (!x)
		return false;
	if (now < x->next)
		return true;
	x->next = now + SW_SILENCE;
	return false;
}

void swv_silent_end(struct swv_silent *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->n;)
		if (s->node[i].node == node)
			s->node[i] = s->node[--s->n];
		else
			i++;
}
