#include "load/replay/networks.h"

#include <errno.h>

#include "base/mem.h"
#include "parts/domain/domain.h"

enum {
	MOST_AT_ONCE = 1 << 20,
	LEAST_AT_ONCE = 64,
};

static bool is_one(const struct goal *g, const struct goal_op *o)
{
	return o->kind == GOAL_COLL &&
	       goal_coll_of(g, o)->plan.algo == &algo_network;
}

/* --- what is refused --- */

static bool domain_adds(const struct load *l)
{
	const struct domain_params *p = domain_params(l->parts);

	return p && p->sums && load_n_nodes(l) == 1;
}

static int check_one(const struct networks *x, const struct goal_op *o,
	const char *start, struct err *e)
{
	const struct algo_plan *p = &goal_coll_of(x->goal, o)->plan;

	if (p->n < x->goal->n_ranks)
		return err_set(e,
			"%s: the network adds for all %u ranks, not for %u of "
			"them (want another algorithm, such as algo ring)",
			start, x->goal->n_ranks, p->n);
	if (x->is_domain && p->op == ALGO_BROADCAST)
		return err_set(e,
			"%s: the switch of a node only adds (want another "
			"algorithm, such as algo ring)",
			start);
	return 0;
}

static int check_machine(const struct networks *x, const char *path,
	const struct load *l, uint32_t n_ranks, struct err *e)
{
	if (!x->is_domain && !msg_adds(l->nic_ops))
		return err_set(e,
			"%s: algo network needs a network that adds, and that "
			"of the %s does not (want another algorithm, such as "
			"algo ring)",
			path, l->nic_ops->title);
	if (x->goal->n_ranks < n_ranks)
		return err_set(e,
			"%s: algo network is for all %u processes of the "
			"machine, but the schedule has %u ranks (want a "
			"--shape "
			"that fits)",
			path, n_ranks, x->goal->n_ranks);
	return 0;
}

/* Whatever group it is, it has the first rank, or is refused. */
static int check_groups(const struct networks *x, const char *path,
	const struct goal_rank *r, struct err *e)
{
	char where[GOAL_WHERE], start[PARAM_TEXT_MAX + GOAL_WHERE];

	for (uint32_t k = 0; k < r->n_ops; k++) {
		if (!is_one(x->goal, &r->op[k]))
			continue;
		snprintf(start, sizeof(start), "%s%s", path,
			goal_where(x->goal, r, k, where));
		if (check_one(x, &r->op[k], start, e))
			return -1;
	}
	return 0;
}

/* --- life --- */

static void add(struct networks *x, const struct goal_op *o)
{
	const struct algo_plan *p = &goal_coll_of(x->goal, o)->plan;
	uint64_t most = p->chunk && p->chunk < p->bytes ? p->chunk : p->bytes;

	x->number = mem_more(x->number, x->n, sizeof(*x->number));
	x->number[x->n++] = o->tag;
	if (most > x->most)
		x->most = most;
}

int networks_init(struct networks *x, const struct goal *g, const char *path,
	const struct load *l, uint32_t n_ranks, struct err *e)
{
	uint32_t n = 0;

	*x = (struct networks){ .goal = g, .is_domain = domain_adds(l) };
	for (uint32_t i = 0; g->colls && i < g->colls->n; i++)
		n += g->colls->coll[i].plan.algo == &algo_network;
	if (!n)
		return 0;
	if (check_machine(x, path, l, n_ranks, e))
		return -1;
	for (uint32_t i = 0; i < g->n_ranks; i++)
		if (check_groups(x, path, &g->rank[i], e))
			return -1;
	for (uint32_t k = 0; k < g->rank[0].n_ops; k++)
		if (is_one(g, &g->rank[0].op[k]))
			add(x, &g->rank[0].op[k]);
	x->most = x->most < MOST_AT_ONCE ? x->most : MOST_AT_ONCE;
	return 0;
}

void networks_fini(struct networks *x)
{
	mem_free(x->number);
}

uint64_t networks_space(const struct networks *x)
{
	return 2 * x->most;
}

int networks_open(const struct networks *x, struct networks_end *y,
	struct weft_msg *m, const uint32_t *rank)
{
	y->most = x->most;
	if (!x->n || x->is_domain)
		return 0;
	return msg_group_open(msg_state(m), &y->group, rank, x->goal->n_ranks);
}

void networks_close(
	const struct networks *x, struct networks_end *y, struct weft_msg *m)
{
	if (x->n && !x->is_domain)
		msg_group_close(msg_state(m), &y->group);
}

void networks_end_fini(struct networks_end *y)
{
	msg_group_free(&y->group);
	mem_free(y->ready);
}

/* --- their order --- */

void networks_add(struct networks_end *y, struct joint_of of)
{
	y->ready = mem_more(y->ready, y->n_ready, sizeof(of));
	y->ready[y->n_ready++] = of;
}

bool networks_next(const struct networks *x, const struct networks_end *y,
	const struct goal_rank *r, struct joint_of *of)
{
	for (uint32_t i = 0; i < y->n_ready; i++) {
		*of = y->ready[i];
		if (r->op[of->op].tag == x->number[y->n_done])
			return true;
	}
	return false;
}

bool networks_oldest(const struct networks_end *y, struct joint_of *of)
{
	if (y->n_ready)
		*of = y->ready[0];
	return y->n_ready;
}

void networks_drop(struct networks_end *y, uint32_t op)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < y->n_ready; i++)
		if (y->ready[i].op != op)
			y->ready[n++] = y->ready[i];
	y->n_ready = n;
	y->n_done++;
}

/* --- what the network does --- */

static int perform_some(const struct networks *x, struct networks_end *y,
	struct weft_msg *m, enum algo_op op, uint32_t root, uint64_t bytes)
{
	uint64_t from = x->at, to = from + x->most;
	struct msg_state *s = msg_state(m);

	if (op == ALGO_ALLREDUCE && x->is_domain)
		return weft_msg_allreduce(
			m, WEFT_MSG_SUM_INT, from, to, bytes / 8);
	if (x->is_domain)
		return weft_msg_reduce(
			m, root, WEFT_MSG_SUM_INT, from, to, bytes / 8);
	if (op == ALGO_BROADCAST)
		return msg_group_broadcast(
			s, &y->group, root, s->base + from, bytes);
	return msg_group_reduce(s, &y->group,
		op == ALGO_ALLREDUCE ? WEFT_MSG_ANY : root, WEFT_MSG_SUM_INT,
		s->base + from, s->base + to, bytes / 8);
}

/* All ranks learn alike what is too long for a network. */
int networks_perform(const struct networks *x, struct networks_end *y,
	struct weft_msg *m, const uint32_t *rank, const struct goal_op *op)
{
	const struct goal_coll *c = goal_coll_of(x->goal, op);
	const struct algo_plan *p = &c->plan;
	uint32_t root = rank[algo_group_rank(
		&x->goal->colls->group[c->group], p->root)];
	uint64_t left = p->bytes;
	int code = 0;

	while (left && !code) {
		uint64_t n = left < y->most ? left : y->most;

		if (p->chunk && n > p->chunk)
			n = p->chunk;
		code = perform_some(x, y, m, p->op, root, n);
		if (!code) {
			left -= n;
		} else if (code == ENOSYS && n / 2 >= LEAST_AT_ONCE) {
			y->most = n / 16 * 8;
			code = 0;
		}
	}
	return code;
}
