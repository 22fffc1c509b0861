#include "api/msg/group.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

/* --- messages between members --- */

static void give(
	struct msg_state *m, uint32_t rank, const void *data, uint64_t bytes)
{
	m->pieces->give(m, rank, data, bytes);
}

/* EPROTO: the other rank is in another call. */
static int take(struct msg_state *m, uint32_t rank, void *data, uint64_t bytes)
{
	return m->pieces->take(m, rank, data, bytes) == bytes ? 0 : EPROTO;
}

static int take_code(struct msg_state *m, uint32_t rank)
{
	uint64_t code = 0;
	int wrong = take(m, rank, &code, 8);

	return wrong ? wrong : (int)code;
}

static void give_code(struct msg_state *m, uint32_t rank, int code)
{
	give(m, rank, &(uint64_t){ (uint64_t)code }, 8);
}

/* The receiver fetches what does not fit into a message. */
static void give_bytes(
	struct msg_state *m, uint32_t rank, uint64_t at, uint64_t bytes)
{
	uint8_t data[WEFT_MSG_EAGER];
	uint64_t from = at - m->base;

	if (bytes <= sizeof(data)) {
		program_read(at, data, bytes);
		give(m, rank, data, bytes);
		return;
	}
	give(m, rank, &from, sizeof(from));
	take(m, rank, NULL, 0); /* it has them */
}

static int take_bytes(
	struct msg_state *m, uint32_t rank, uint64_t at, uint64_t bytes)
{
	uint8_t data[WEFT_MSG_EAGER];
	uint64_t from;
	int code;

	if (bytes <= sizeof(data)) {
		code = take(m, rank, data, bytes);
		if (!code)
			program_write(at, data, bytes);
		return code;
	}
	code = take(m, rank, &from, sizeof(from));
	if (code)
		return code;
	msg_coll_get(m, rank, from, at - m->base, bytes);
	give(m, rank, NULL, 0);
	return 0;
}

/* --- leaders --- */

static uint32_t own_leader(const struct msg_group *g)
{
	return g->leader[g->place];
}

static bool is_leader(const struct msg_state *m, const struct msg_group *g)
{
	return own_leader(g) == m->rank;
}

uint32_t msg_group_leader(
	const struct msg_state *m, const struct msg_group *g, uint32_t rank)
{
	uint32_t node = msg_node_of(m, rank), i = 0;

	while (i < g->n_leaders && msg_node_of(m, g->leader[i]) != node)
		i++;
	return i < g->n_leaders ? g->leader[i] : WEFT_MSG_ANY;
}

/* Up a binomial tree, and down again. */
void msg_group_agree(struct msg_state *m, const struct msg_group *g,
	enum weft_msg_reduction op, uint64_t *word)
{
	uint32_t n = g->n_leaders, k;
	uint64_t other;

	for (k = 1; k < n && !(g->place & k); k *= 2)
		if (g->place + k < n && !take(m, g->leader[g->place + k],
						&other, sizeof(other)))
			msg_combine(op, word, &other, 1);
	if (g->place) {
		give(m, g->leader[g->place - k], word, sizeof(*word));
		take(m, g->leader[g->place - k], word, sizeof(*word));
	}
	while (k /= 2)
		if (g->place + k < n)
			give(m, g->leader[g->place + k], word, sizeof(*word));
}

/* --- life --- */

/* The group's first rank of a node leads, in the order of all ranks. */
static void find_leaders(struct msg_state *m, struct msg_group *g)
{
	uint32_t n_places = m->n_ranks / m->n_processes;
	uint32_t *first = mem_alloc(n_places, sizeof(*first));

	memset(first, 0xff, n_places * sizeof(*first));
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t *f = &first[g->rank[i] / m->n_processes];

		if (g->rank[i] < *f)
			*f = g->rank[i];
	}
	for (uint32_t i = 0; i < n_places; i++) {
		if (first[i] == WEFT_MSG_ANY)
			continue;
		if (i == m->rank / m->n_processes)
			g->place = g->n_leaders;
		g->leader[g->n_leaders++] = first[i];
	}
	mem_free(first);
}

static void find_others(struct msg_state *m, struct msg_group *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (msg_node_of(m, g->rank[i]) == m->node &&
			g->rank[i] != own_leader(g))
			g->other[g->n_others++] = g->rank[i];
}

static void fill_in(struct msg_state *m, struct msg_group *g,
	const uint32_t *rank, uint32_t n)
{
	*g = (struct msg_group){
		.n = n,
		.rank = mem_alloc(n, sizeof(*g->rank)),
		.leader = mem_alloc(n, sizeof(*g->leader)),
		.other = mem_alloc(n, sizeof(*g->other)),
	};
	memcpy(g->rank, rank, n * sizeof(*rank));
	find_leaders(m, g);
	find_others(m, g);
}

void msg_group_free(struct msg_group *g)
{
	mem_free(g->rank);
	mem_free(g->leader);
	mem_free(g->other);
	*g = (struct msg_group){ 0 };
}

static void tell_others(struct msg_state *m, struct msg_group *g, int code)
{
	for (uint32_t i = 0; i < g->n_others; i++)
		give_code(m, g->other[i], code);
}

/* Whether all leaders could. */
static int open_as_leader(struct msg_state *m, struct msg_group *g)
{
	int code = m->ops->open_group(m, g);
	uint64_t all = !code;

	if (!g->is_alike)
		msg_group_agree(m, g, WEFT_MSG_MIN_INT, &all);
	if (!all && !code)
		m->ops->close_group(m, g);
	code = all ? 0 : ENOSYS;
	tell_others(m, g, code);
	return code;
}

int msg_group_open(struct msg_state *m, struct msg_group *g,
	const uint32_t *rank, uint32_t n)
{
	int code = ENOSYS;

	fill_in(m, g, rank, n);
	if (m->ops->has_group && g->n_leaders > 1 && m->ops->has_group(m, g))
		code = is_leader(m, g) ? open_as_leader(m, g)
				       : take_code(m, own_leader(g));
	if (code)
		msg_group_free(g);
	return code;
}

void msg_group_close(struct msg_state *m, struct msg_group *g)
{
	uint64_t nothing = 0;

	if (g->n && is_leader(m, g)) {
		msg_group_agree(m, g, WEFT_MSG_SUM_INT, &nothing);
		m->ops->close_group(m, g);
	}
	msg_group_free(g);
}

/* --- collectives --- */

static int barrier_as_leader(struct msg_state *m, struct msg_group *g)
{
	int code = 0;

	for (uint32_t i = 0; i < g->n_others && !code; i++)
		code = take(m, g->other[i], NULL, 0);
	if (!code)
		code = m->ops->barrier(m, g);
	tell_others(m, g, code);
	return code;
}

int msg_group_barrier(struct msg_state *m, struct msg_group *g)
{
	if (is_leader(m, g))
		return barrier_as_leader(m, g);
	give(m, own_leader(g), NULL, 0);
	return take_code(m, own_leader(g));
}

static int broadcast_as_leader(struct msg_state *m, struct msg_group *g,
	uint32_t root, uint64_t at, uint64_t bytes)
{
	uint32_t leader = msg_group_leader(m, g, root);
	int code = 0;

	if (leader == m->rank && root != m->rank)
		code = take_bytes(m, root, at, bytes);
	if (!code)
		code = m->ops->broadcast(m, g, leader, at, bytes);
	tell_others(m, g, code);
	for (uint32_t i = 0; i < g->n_others && !code; i++)
		if (g->other[i] != root)
			give_bytes(m, g->other[i], at, bytes);
	return code;
}

int msg_group_broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes)
{
	int code;

	if (is_leader(m, g))
		return broadcast_as_leader(m, g, root, at, bytes);
	if (root == m->rank)
		give_bytes(m, own_leader(g), at, bytes);
	code = take_code(m, own_leader(g));
	return code || root == m->rank
		       ? code
		       : take_bytes(m, own_leader(g), at, bytes);
}

/* Words at a = a op those at b. */
static void combine_at(
	enum weft_msg_reduction op, uint64_t a, uint64_t b, uint64_t n)
{
	uint64_t x[WEFT_MSG_EAGER / 8], y[WEFT_MSG_EAGER / 8], i, k;

	for (i = 0; i < n; i += k) {
		k = n - i < WEFT_MSG_EAGER / 8 ? n - i : WEFT_MSG_EAGER / 8;
		program_read(a + 8 * i, x, 8 * k);
		program_read(b + 8 * i, y, 8 * k);
		msg_combine(op, x, y, (uint32_t)k);
		program_write(a + 8 * i, x, 8 * k);
	}
}

static int reduce_as_leader(struct msg_state *m, struct msg_group *g,
	uint32_t root, enum weft_msg_reduction op, uint64_t from, uint64_t to,
	uint64_t n)
{
	bool is_for_all = root == WEFT_MSG_ANY;
	int code = 0;

	for (uint32_t i = 0; i < g->n_others && !code; i++) {
		code = take_bytes(m, g->other[i], to, 8 * n);
		if (!code)
			combine_at(op, from, to, n);
	}
	if (!code)
		code = m->ops->reduce(m, g,
			is_for_all ? root : msg_group_leader(m, g, root), op,
			from, to, n);
	tell_others(m, g, code);
	for (uint32_t i = 0; i < g->n_others && !code; i++)
		if (is_for_all || root == g->other[i])
			give_bytes(m, g->other[i], to, 8 * n);
	return code;
}

int msg_group_reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	int code;

	if (is_leader(m, g))
		return reduce_as_leader(m, g, root, op, from, to, n);
	give_bytes(m, own_leader(g), from, 8 * n);
	code = take_code(m, own_leader(g));
	if (!code && (root == WEFT_MSG_ANY || root == m->rank))
		code = take_bytes(m, own_leader(g), to, 8 * n);
	return code;
}
