/*
 * What all-to-alls by programs have in common, whatever they send with: the
 * bytes, which are others for each pair of nodes and are looked at, the order
 * in which a node sends, and the course of a run.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "load/alltoall.h"
#include "load/order.h"
#include "sim/random.h"

#define GIB (UINT64_C(1) << 30)

#define SOURCE_AT (1 * GIB) /* on every node */
#define MOST_REAL (1 * GIB) /* of all nodes, where nobody says */

enum { LINE = 128 };

/* --- bytes --- */

/* Of other nodes there are n - 1, of which this is the i-th for a node. */
static uint64_t index_of(site_id node, site_id other)
{
	return other < node ? other : other - 1;
}

static site_id other_of(site_id node, uint64_t index)
{
	return (site_id)(index < node ? index : index + 1);
}

uint64_t alltoall_bytes(const struct alltoall *a, uint64_t n_nodes)
{
	return (n_nodes - 1) * (uint64_t)a->bytes;
}

uint64_t alltoall_target_at(const struct alltoall *a, uint64_t n_nodes)
{
	return SOURCE_AT +
	       (alltoall_bytes(a, n_nodes) + LINE - 1) / LINE * LINE;
}

static uint64_t owner_of(site_id from, site_id to)
{
	return (uint64_t)from << 32 | to;
}

/* What a node sends to another one. */
static void fill_by(const struct alltoall *a, site_id from, site_id to,
	uint64_t at, uint8_t *out, size_t n)
{
	memory_fill_by(a->programs.load.seed, owner_of(from, to), at, out, n);
}

static void fill(
	void *arg, uint64_t offset, uint8_t *out, size_t n, bool is_source)
{
	const struct alltoall_node *m = arg;
	uint64_t bytes = (uint64_t)m->a->bytes;

	while (n) {
		uint64_t at = offset % bytes;
		size_t k = n < bytes - at ? n : (size_t)(bytes - at);
		site_id other = other_of(m->node, offset / bytes);

		fill_by(m->a, is_source ? m->node : other,
			is_source ? other : m->node, at, out, k);
		offset += k;
		out += k;
		n -= k;
	}
}

static void fill_source(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	fill(arg, offset, out, n, true);
}

static void fill_target(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	fill(arg, offset, out, n, false);
}

static bool make_synthetic(struct alltoall_node *m, uint64_t n_nodes)
{
	struct alltoall *a = m->a;
	uint64_t bytes = alltoall_bytes(a, n_nodes);

	m->source = host_add_synthetic(a->programs.load.host, m->node,
		SOURCE_AT, bytes, fill_source, m);
	m->target = host_add_synthetic(a->programs.load.host, m->node,
		alltoall_target_at(a, n_nodes), bytes, fill_target, m);
	return (m->source >= 0 && m->target >= 0) ||
	       programs_complain(&a->programs, "no synthetic regions");
}

/* Goes through the bytes of a region where they are stored. */
struct cursor {
	uint64_t at;
	uint8_t *bytes;
};

/* The next ones that lie side by side, *n at most; *n is how many. */
static uint8_t *next_bytes(struct cursor *c, size_t *n)
{
	size_t left = MEMORY_PAGE - c->at % MEMORY_PAGE;
	uint8_t *bytes;

	if (left == MEMORY_PAGE || !c->bytes)
		c->bytes = program_place(c->at, 1);
	*n = *n < left ? *n : left;
	bytes = c->bytes;
	c->bytes += *n;
	c->at += *n;
	return bytes;
}

static void make_message(struct alltoall_node *m, site_id to, struct cursor *c)
{
	size_t at = 0, end = (size_t)m->a->bytes, n;

	for (; at < end; at += n) {
		uint8_t *bytes;

		n = end - at;
		bytes = next_bytes(c, &n);
		fill_by(m->a, m->node, to, at, bytes, n);
	}
}

static bool make_real(struct alltoall_node *m, uint64_t n_nodes)
{
	struct cursor c = { .at = SOURCE_AT };
	uint64_t i;

	/* what it sends and what comes */
	program_reserve(2 * alltoall_bytes(m->a, n_nodes));
	for (i = 0; i < n_nodes - 1; i++)
		make_message(m, other_of(m->node, i), &c);
	return true;
}

static void check_synthetic(struct alltoall_node *m)
{
	struct alltoall *a = m->a;
	const struct memory_region *r =
		host_synthetic(a->programs.load.host, m->node, m->target);

	if (!memory_region_is_whole(r, 1))
		programs_complain(&a->programs,
			"%" PRIu64 " bytes were written, of which %" PRIu64
			" were wrong, and not each once",
			r->written, r->wrong);
}

static bool is_right(
	const struct alltoall_node *m, site_id from, struct cursor *c)
{
	size_t at = 0, end = (size_t)m->a->bytes, n;

	for (; at < end; at += n) {
		const uint8_t *bytes;

		n = end - at;
		bytes = next_bytes(c, &n);
		if (!memory_is_by(m->a->programs.load.seed,
			    owner_of(from, m->node), at, bytes, n))
			return false;
	}
	return true;
}

static void check_real(struct alltoall_node *m, uint64_t n_nodes)
{
	struct cursor c = { .at = alltoall_target_at(m->a, n_nodes) };
	uint64_t i;

	for (i = 0; i < n_nodes - 1; i++) {
		site_id from = other_of(m->node, i);

		if (is_right(m, from, &c))
			continue;
		programs_complain(
			&m->a->programs, "wrong bytes from node %u", from);
		return;
	}
}

bool alltoall_make(struct alltoall_node *m, uint64_t n_nodes)
{
	return m->a->is_synthetic ? make_synthetic(m, n_nodes)
				  : make_real(m, n_nodes);
}

void alltoall_check(struct alltoall_node *m, uint64_t n_nodes)
{
	if (m->a->is_synthetic)
		check_synthetic(m);
	else
		check_real(m, n_nodes);
}

uint64_t alltoall_offset(const struct alltoall *a, site_id node, site_id other)
{
	return index_of(node, other) * (uint64_t)a->bytes;
}

uint64_t alltoall_source(const struct alltoall *a, site_id node, site_id other)
{
	return SOURCE_AT + alltoall_offset(a, node, other);
}

/* --- order --- */

void alltoall_send_all(struct alltoall_node *m, uint32_t n_nodes,
	void (*send)(void *arg, site_id to, uint64_t at, uint64_t bytes),
	void *arg)
{
	const struct alltoall *a = m->a;
	uint32_t rounds = a->driver ? 1 : a->rounds, round, i;
	uint64_t left = (uint64_t)a->bytes, at = 0, bytes;

	for (round = 0; round < rounds; round++) {
		uint64_t key = random_draw(
			a->programs.load.seed, m->node, RANDOM_TARGET, round)
				       .a;

		bytes = !a->driver && left > a->full_bytes ? a->full_bytes
							   : left;
		for (i = 0; i < n_nodes - 1; i++) {
			uint32_t off = 1 + order_at(key, n_nodes - 1, i);

			send(arg, (m->node + off) % n_nodes, at, bytes);
		}
		at += bytes;
		left -= bytes;
	}
}

/* --- the course of a run --- */

uint64_t alltoall_init_nodes(struct alltoall *a, uint64_t n_nodes)
{
	uint64_t bytes = alltoall_bytes(a, n_nodes);

	a->is_synthetic =
		a->data ? a->data == 2 : 2 * bytes > MOST_REAL / n_nodes;
	a->programs.expected = a->expected;
	return alltoall_target_at(a, n_nodes) + bytes;
}

void alltoall_start_nodes(struct alltoall *a, void (*run)(void *arg))
{
	site_id s, n = a->programs.load.net->n_nodes;

	programs_open(&a->programs);
	a->nodes = mem_alloc(n, sizeof(*a->nodes));
	for (s = 0; s < n; s++) {
		a->nodes[s] = (struct alltoall_node){ .a = a, .node = s };
		program_start(
			a->programs.load.host, s, 0, 0, run, &a->nodes[s]);
	}
}

void alltoall_report_nodes(struct load *l, struct load_result *r)
{
	struct alltoall *a = (struct alltoall *)l;
	uint64_t n = l->net->n_nodes;
	sim_time start, end = 0;
	site_id s;

	r->has_peak = a->peak > 0;
	r->peak_bps = a->peak;
	programs_report(&a->programs, r);
	if (r->ending != LOAD_FINISHED || !a->nodes)
		return;
	start = a->nodes[0].start;
	for (s = 0; s < n; s++) {
		const struct alltoall_node *m = &a->nodes[s];

		end = m->end > end ? m->end : end;
		start = m->start < start ? m->start : start;
	}
	if (end <= start)
		return;
	r->has_throughput = true;
	r->measured = end - start;
	r->bytes = n * alltoall_bytes(a, n);
	load_figure(r, "time_ns", (double)r->measured / SIM_NS);
}

void alltoall_fini_nodes(struct load *l)
{
	programs_fini(l);
	mem_free(((struct alltoall *)l)->nodes);
	mem_free(((struct alltoall *)l)->destination);
}
