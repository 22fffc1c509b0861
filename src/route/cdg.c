#include "route/cdg.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum state { UNSEEN, ON_PATH, DONE };

/* A search in depth; the path is kept here and not on the stack, for it may
 * be as long as the machine is big. */
struct search {
	const struct cdg *g;
	uint8_t *state;
	uint32_t *path, *at;
	uint32_t depth;
	uint64_t n_edges;
};

static void step_into(struct search *s, uint32_t v)
{
	s->state[v] = ON_PATH;
	s->path[s->depth] = v;
	s->at[s->depth] = 0;
	s->depth++;
}

/* A vertex that can be reached from itself and from v, or CDG_NONE. */
static uint32_t search_from(struct search *s, uint32_t v)
{
	step_into(s, v);
	while (s->depth) {
		uint32_t top = s->depth - 1;
		uint32_t to = s->g->next(s->g->arg, s->path[top], &s->at[top]);

		if (to == CDG_NONE) {
			s->state[s->path[top]] = DONE;
			s->depth--;
			continue;
		}
		s->n_edges++;
		if (s->state[to] == ON_PATH)
			return to;
		if (s->state[to] == UNSEEN)
			step_into(s, to);
	}
	return CDG_NONE;
}

static uint32_t find_closed(struct search *s)
{
	uint32_t found = CDG_NONE;

	for (uint32_t v = 0; v < s->g->n && found == CDG_NONE; v++)
		if (s->state[v] == UNSEEN)
			found = search_from(s, v);
	return found;
}

/*
 * In breadth from root until it comes again; from[v] is the vertex that v was
 * reached from.  Returns the last vertex of the cycle.
 */
static uint32_t search_round(
	const struct cdg *g, uint32_t root, uint32_t *from, uint32_t *queue)
{
	uint32_t head = 0, tail = 0, to;

	memset(from, 0xff, g->n * sizeof(*from));
	queue[tail++] = root;
	while (head < tail) {
		uint32_t v = queue[head++];

		for (uint32_t at = 0;
			(to = g->next(g->arg, v, &at)) != CDG_NONE;) {
			if (to == root)
				return v;
			if (from[to] != CDG_NONE)
				continue;
			from[to] = v;
			queue[tail++] = to;
		}
	}
	BUG("a cycle was found and is not there");
}

/* The shortest cycle through root, written into *c from its end. */
static void shortest(const struct cdg *g, uint32_t root, struct cdg_cycle *c)
{
	uint32_t *from = mem_alloc(g->n, sizeof(*from));
	uint32_t *queue = mem_alloc(g->n, sizeof(*queue));
	uint32_t last = search_round(g, root, from, queue), v, i;

	for (c->n = 1, v = last; v != root; v = from[v])
		c->n++;
	c->vertex = mem_alloc(c->n, sizeof(*c->vertex));
	for (i = c->n, v = last; i--; v = from[v])
		c->vertex[i] = v;
	mem_free(queue);
	mem_free(from);
}

struct cdg_cycle cdg_find_cycle(const struct cdg *g)
{
	struct search s = {
		.g = g,
		.state = mem_alloc(g->n, sizeof(*s.state)),
		.path = mem_alloc(g->n, sizeof(*s.path)),
		.at = mem_alloc(g->n, sizeof(*s.at)),
	};
	struct cdg_cycle c = { 0 };
	uint32_t root = find_closed(&s);

	c.n_edges = s.n_edges;
	mem_free(s.at);
	mem_free(s.path);
	mem_free(s.state);
	if (root != CDG_NONE)
		shortest(g, root, &c);
	return c;
}
