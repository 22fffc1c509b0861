#include "host/l2_take.h"

#include <string.h>

#include "base/mem.h"
#include "base/wide.h"

/*
 * A page that was touched is page << 1 | is_written, in a hash table; a line
 * in a set is tag << 1 | is_dirty, the one used last in front.
 */
#define NONE UINT32_MAX

enum {
	FIRST_ROOM = 8, /* pages that a node can touch at first */
};

/* --- life --- */

static bool is_power(int64_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

int l2_check(const struct l2_params *p, struct err *e)
{
	if (!is_power(p->slices) || !is_power(p->line) || !is_power(p->ways) ||
		!is_power(p->capacity))
		return err_set(e, "host.l2: slices, line, capacity and ways "
				  "must each be a power of two");
	if (p->line < L2_BEAT || p->line > L2_PAGE)
		return err_set(e, "host.l2.line: %lld bytes (want %d to %d)",
			(long long)p->line, L2_BEAT, L2_PAGE);
	/* else a tag has too few bits */
	if (p->capacity / p->ways < 2 * L2_PAGE)
		return err_set(e,
			"host.l2.capacity: %lld bytes (want at least %lld, "
			"which is %d for each of %lld ways)",
			(long long)p->capacity,
			(long long)p->ways * 2 * L2_PAGE, 2 * L2_PAGE,
			(long long)p->ways);
	if (p->capacity / p->line / p->ways < p->slices)
		return err_set(e,
			"host.l2.slices: %lld slices are more than the cache's "
			"%lld sets",
			(long long)p->slices,
			(long long)(p->capacity / p->line / p->ways));
	return 0;
}

static sim_time time_of(int64_t bytes, int64_t rate)
{
	return (sim_time)(((int128)bytes * PS_PER_S + rate / 2) / rate);
}

static uint32_t log2_of(int64_t power)
{
	return (uint32_t)__builtin_ctzll((unsigned long long)power);
}

static uint32_t n_sets(const struct l2_params *p)
{
	return (uint32_t)(p->capacity / p->line / p->ways);
}

struct l2 *l2_new(const struct l2_params *p, site_id n_nodes)
{
	struct l2 *c = mem_alloc(1, sizeof(*c));
	int64_t n = p->line / L2_WORD;

	c->params = *p;
	c->nodes = map_alloc(n_nodes * sizeof(struct l2_node *));
	c->n_nodes = n_nodes;
	c->line_shift = log2_of(p->line);
	c->set_shift = log2_of(n_sets(p));
	c->slice_mask = (uint32_t)p->slices - 1;
	c->set_mask = n_sets(p) - 1;
	c->ways = (uint32_t)p->ways;
	c->most_pages = (uint32_t)(p->capacity / L2_PAGE);
	c->latency[L2_READ] = p->read;
	c->latency[L2_WRITE] = p->write;
	c->latency[L2_ATOMIC] = p->atomic;
	c->ddr_latency = p->ddr_latency;
	c->ddr_line = time_of(p->line, p->ddr_rate);
	c->busy = mem_alloc((size_t)n + 1, sizeof(*c->busy));
	for (int64_t i = 0; i <= n; i++)
		c->busy[i] =
			time_of(i * L2_WORD > L2_BEAT ? i * L2_WORD : L2_BEAT,
				p->slice_rate);
	return c;
}

void l2_free(struct l2 *c)
{
	if (!c)
		return;
	for (site_id i = 0; i < c->n_nodes; i++) {
		struct l2_node *n = c->nodes[i];

		if (!n)
			continue;
		mem_free(n->pages);
		mem_free(n->table);
		mem_free(n->tags);
		mem_free(n);
	}
	map_free(c->nodes, c->n_nodes * sizeof(struct l2_node *));
	mem_free(c->busy);
	mem_free(c);
}

static size_t node_bytes(const struct l2 *c)
{
	return sizeof(struct l2_node) + (c->slice_mask + 1) * sizeof(sim_time);
}

static size_t tags_bytes(const struct l2 *c)
{
	return (size_t)(c->set_mask + 1) * c->ways * sizeof(uint32_t);
}

struct l2_node *l2_node_new(struct l2 *c, site_id node)
{
	struct l2_node *n = mem_alloc(1, node_bytes(c));

	memset(n->lately, 0xff, sizeof(n->lately));
	c->nodes[node] = n;
	return n;
}

/* --- tags --- */

/* Whether the line was there; it is in front now.  *out is what went. */
static bool use_line(const struct l2 *c, struct l2_node *n, uint64_t line,
	uint32_t is_dirty, uint32_t *out)
{
	uint32_t *set = n->tags + (line & c->set_mask) * c->ways;
	uint32_t entry = (uint32_t)(line >> c->set_shift) << 1, i = 0;
	bool is_hit;

	while (i < c->ways - 1 && (set[i] & ~1u) != entry)
		i++;
	*out = set[i];
	is_hit = (set[i] & ~1u) == entry;
	if (is_hit)
		is_dirty |= set[i] & 1;
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = entry | is_dirty;
	return is_hit;
}

static uint32_t *place_of(const struct l2_node *n, uint32_t page)
{
	uint32_t i = l2_hash(n, page);

	while (n->table[i] != NONE && n->table[i] >> 1 != page)
		i = (i + 1) & n->mask;
	return &n->table[i];
}

static void make_tags(const struct l2 *c, struct l2_node *n)
{
	uint64_t per_page = L2_PAGE >> c->line_shift;
	uint32_t out;

	n->tags = mem_alloc(1, tags_bytes(c));
	memset(n->tags, 0xff, tags_bytes(c));
	for (uint32_t i = 0; i < n->n_pages; i++) {
		uint32_t is_written = *place_of(n, n->pages[i]) & 1;

		for (uint64_t k = 0; k < per_page; k++)
			use_line(c, n, n->pages[i] * per_page + k, is_written,
				&out);
	}
	mem_free(n->pages);
	mem_free(n->table);
	n->pages = n->table = NULL;
	memset(n->lately, 0xff, sizeof(n->lately));
}

/* --- the footprint --- */

static void grow(struct l2_node *n)
{
	uint32_t *old = n->table;
	uint32_t room = n->room;

	n->room = room ? 2 * room : FIRST_ROOM;
	n->mask = 2 * n->room - 1;
	n->pages = mem_grow(n->pages, n->room, sizeof(*n->pages));
	n->table = mem_grow(NULL, 2 * n->room, sizeof(*n->table));
	memset(n->table, 0xff, 2 * n->room * sizeof(*n->table));
	for (uint32_t i = 0; i < 2 * room; i++)
		if (old[i] != NONE)
			*place_of(n, old[i] >> 1) = old[i];
	mem_free(old);
}

/* A page's first touch. */
static __attribute__((noinline)) void add_page(
	struct l2 *c, struct l2_node *n, uint32_t touched)
{
	if (n->n_pages == c->most_pages) {
		make_tags(c, n);
		return;
	}
	if (n->n_pages == n->room)
		grow(n);
	n->pages[n->n_pages++] = touched >> 1;
	*place_of(n, touched >> 1) = touched;
}

/* That, or its first write, or one that was long ago. */
static void touch(struct l2 *c, struct l2_node *n, uint32_t touched)
{
	uint32_t page = touched >> 1;
	uint32_t *place = n->room ? place_of(n, page) : NULL;

	if (!place || *place == NONE) {
		add_page(c, n, touched);
		return;
	}
	*place |= touched & 1;
	n->lately[page % L2_LATELY] = *place;
}

/* --- requests --- */

const struct l2_params *l2_params(const struct l2 *c)
{
	return &c->params;
}

/* The line comes from DDR, and another one may go there. */
static sim_time miss(struct l2 *c, struct l2_node *n, sim_time t, uint32_t out)
{
	if (t < n->ddr_free)
		t = n->ddr_free;
	n->ddr_free = t + c->ddr_line;
	n->counts.misses++;
	if (out != NONE && out & 1) {
		n->ddr_free += c->ddr_line;
		n->counts.write_backs++;
	}
	return t + c->ddr_latency;
}

sim_time l2_look(
	struct l2 *c, struct l2_node *n, sim_time t, uint64_t at, enum l2_op op)
{
	uint32_t is_write = op != L2_READ, out;

	if (!n->tags)
		touch(c, n, (uint32_t)(at / L2_PAGE) << 1 | is_write);
	if (!n->tags || use_line(c, n, at >> c->line_shift, is_write, &out))
		return t + c->latency[op];
	return miss(c, n, t, out) + c->latency[op];
}

struct l2_times l2_access(struct l2 *c, site_id node, sim_time t, uint64_t at,
	uint32_t bytes, enum l2_op op)
{
	struct l2_node *n = l2_node(c, node);

	l2_count(n, op, 1);
	return l2_take(c, n, t, l2_slice_of(c, at), l2_busy(c, bytes), at, op);
}

struct l2_counts l2_counts(const struct l2 *c, site_id node)
{
	return c->nodes[node] ? c->nodes[node]->counts
			      : (struct l2_counts){ 0 };
}

uint64_t l2_memory(const struct l2 *c)
{
	uint64_t bytes;

	if (!c)
		return 0;
	bytes = sizeof(*c) + c->n_nodes * sizeof(struct l2_node *);
	for (site_id i = 0; i < c->n_nodes; i++) {
		const struct l2_node *n = c->nodes[i];

		if (!n)
			continue;
		bytes += node_bytes(c);
		bytes += n->tags ? tags_bytes(c)
				 : 3 * n->room * sizeof(uint32_t);
	}
	return bytes;
}
