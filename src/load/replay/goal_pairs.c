#include "load/replay/goal_pairs.h"

#include <inttypes.h>

#include "base/index.h"
#include "base/mem.h"
#include "load/replay/goal_colls.h"
#include "meas/digest.h"

enum { SENT, RECEIVED, N_ENDS };

/* What is sent from one rank to another with one tag, and what is received. */
struct ends {
	uint64_t n[N_ENDS], least[N_ENDS], most[N_ENDS];
	uint32_t least_op[N_ENDS], most_op[N_ENDS]; /* the first such */
};

struct pairs {
	const struct goal *goal;
	const char *path;
	struct err *e;
	struct index index; /* by hash: of all that fall on it, + 1: */
	struct ends *ends;
	uint32_t n;
};

static uint32_t rank_of(const struct goal *g, const struct goal_rank *r)
{
	return (uint32_t)(r - g->rank);
}

const char *goal_ref(const struct goal *g, const struct goal_rank *r,
	uint32_t op, char *text)
{
	snprintf(text, GOAL_REF, g->is_binary ? "operation %u" : "line %u",
		g->is_binary ? op : r->op[op].line);
	return text;
}

void goal_describe(const struct goal *g, const struct goal_rank *r, uint32_t op,
	char *text, size_t size)
{
	const struct goal_op *o = &r->op[op];

	if (o->kind == GOAL_CALC)
		snprintf(text, size, "rank %u computes for %" PRIu64 " ns",
			rank_of(g, r), o->size);
	else if (o->kind == GOAL_COLL)
		goal_describe_coll(g, rank_of(g, r), o, text, size);
	else
		snprintf(text, size,
			"rank %u %s %" PRIu64 " B %s rank %u with tag %u",
			rank_of(g, r),
			o->kind == GOAL_SEND ? "sends" : "receives", o->size,
			o->kind == GOAL_SEND ? "to" : "from",
			goal_peer(g, r, o), o->tag);
}

/* --- ends --- */

static void add(struct ends *x, uint32_t end, uint64_t bytes, uint32_t op)
{
	if (!x->n[end] || bytes < x->least[end]) {
		x->least[end] = bytes;
		x->least_op[end] = op;
	}
	if (!x->n[end] || bytes > x->most[end]) {
		x->most[end] = bytes;
		x->most_op[end] = op;
	}
	x->n[end]++;
}

/* In whatever order they begin, each message finds a receive that it fits
 * only where the longest and the shortest ones do. */
static bool is_right(const struct ends *x)
{
	return x->n[SENT] == x->n[RECEIVED] &&
	       x->most[SENT] <= x->most[RECEIVED] &&
	       x->least[SENT] <= x->least[RECEIVED];
}

static uint64_t key_of(uint32_t from, uint32_t to, uint32_t tag)
{
	return digest_mix(digest_mix((uint64_t)from << 32 | to) + tag);
}

static uint64_t key(const struct goal *g, const struct goal_rank *r,
	const struct goal_op *o)
{
	uint32_t rank = rank_of(g, r);
	uint32_t peer = goal_peer(g, r, o);

	return o->kind == GOAL_SEND ? key_of(rank, peer, o->tag)
				    : key_of(peer, rank, o->tag);
}

static struct ends *ends_of(struct pairs *p, uint64_t key)
{
	uint32_t id = index_find(&p->index, key);

	if (id)
		return &p->ends[id - 1];
	p->ends = mem_more(p->ends, p->n, sizeof(*p->ends));
	p->ends[p->n] = (struct ends){ 0 };
	index_add(&p->index, key, p->n + 1);
	return &p->ends[p->n++];
}

static void add_all(struct pairs *p)
{
	const struct goal *g = p->goal;

	for (uint32_t i = 0; i < g->n_ranks; i++)
		for (uint32_t k = 0; k < g->rank[i].n_ops; k++) {
			const struct goal_op *o = &g->rank[i].op[k];

			if (goal_is_message(o))
				add(ends_of(p, key(g, &g->rank[i], o)),
					o->kind == GOAL_SEND ? SENT : RECEIVED,
					o->size, k);
		}
}

/* Of this pair and tag alone: others may have the same key. */
static struct ends look(
	const struct goal *g, uint32_t from, uint32_t to, uint32_t tag)
{
	struct ends x = { 0 };

	for (uint32_t end = 0; end < N_ENDS; end++) {
		const struct goal_rank *r = &g->rank[end == SENT ? from : to];
		uint32_t peer = end == SENT ? to : from;

		for (uint32_t k = 0; k < r->n_ops; k++)
			if (r->op[k].kind ==
					(end == SENT ? GOAL_SEND : GOAL_RECV) &&
				goal_peer(g, r, &r->op[k]) == peer &&
				r->op[k].tag == tag)
				add(&x, end, r->op[k].size, k);
	}
	return x;
}

/* --- what is wrong --- */

static struct ends look_at(
	const struct goal *g, const struct goal_rank *r, uint32_t op)
{
	const struct goal_op *o = &r->op[op];
	uint32_t rank = rank_of(g, r);
	uint32_t peer = goal_peer(g, r, o);

	return o->kind == GOAL_SEND ? look(g, rank, peer, o->tag)
				    : look(g, peer, rank, o->tag);
}

/* What the peer does instead, with another tag: "; it sends tag 7 (line 3)". */
static void say_instead(struct pairs *p, const struct goal_rank *r, uint32_t op,
	char *text, size_t size)
{
	const struct goal_op *o = &r->op[op];
	const struct goal_rank *peer = &p->goal->rank[goal_peer(p->goal, r, o)];
	enum goal_kind kind = o->kind == GOAL_SEND ? GOAL_RECV : GOAL_SEND;
	uint32_t more = kind == GOAL_SEND ? SENT : RECEIVED, k;
	char ref[GOAL_REF];

	*text = '\0';
	for (k = 0; k < peer->n_ops; k++) {
		const struct goal_op *q = &peer->op[k];
		struct ends x;

		if (q->kind != kind ||
			goal_peer(p->goal, peer, q) != rank_of(p->goal, r))
			continue;
		x = *ends_of(p, key(p->goal, peer, q));
		if (x.n[more] <= x.n[!more])
			continue;
		snprintf(text, size,
			"; it %s %" PRIu64 " B with tag %u "
			"instead (%s)",
			kind == GOAL_SEND ? "sends" : "receives", q->size,
			q->tag, goal_ref(p->goal, peer, k, ref));
		return;
	}
}

static int say_unmatched(struct pairs *p, const struct goal_rank *r,
	uint32_t op, const struct ends *x)
{
	const struct goal_op *o = &r->op[op];
	bool is_send = o->kind == GOAL_SEND;
	char where[GOAL_WHERE], what[128], instead[128];

	goal_describe(p->goal, r, op, what, sizeof(what));
	say_instead(p, r, op, instead, sizeof(instead));
	if (!x->n[is_send ? RECEIVED : SENT])
		return err_set(p->e, "%s%s: %s, but rank %u never %s it%s",
			p->path, goal_where(p->goal, r, op, where), what,
			goal_peer(p->goal, r, o),
			is_send ? "receives" : "sends", instead);
	return err_set(p->e,
		"%s%s: %s, one of %" PRIu64 " such messages, of which rank %u "
		"%s only %" PRIu64 "%s",
		p->path, goal_where(p->goal, r, op, where), what,
		x->n[is_send ? SENT : RECEIVED], goal_peer(p->goal, r, o),
		is_send ? "receives" : "sends", x->n[is_send ? RECEIVED : SENT],
		instead);
}

static int say_too_short(struct pairs *p, const struct goal_rank *r,
	uint32_t op, const struct ends *x)
{
	const struct goal_op *o = &r->op[op];
	bool is_send = o->kind == GOAL_SEND;
	const struct goal_rank *peer = &p->goal->rank[goal_peer(p->goal, r, o)];
	const struct goal_rank *from = is_send ? r : peer;
	const struct goal_rank *to = is_send ? peer : r;
	bool is_most = x->most[SENT] > x->most[RECEIVED];
	uint32_t sent = is_most ? x->most_op[SENT] : x->least_op[SENT];
	uint32_t got = is_most ? x->most_op[RECEIVED] : x->least_op[RECEIVED];
	char where[GOAL_WHERE], ref[GOAL_REF], what[128];

	goal_describe(p->goal, to, got, what, sizeof(what));
	return err_set(p->e,
		"%s%s: %s, but rank %u sends it %s %" PRIu64
		" B (%s): the message is longer than its buffer",
		p->path, goal_where(p->goal, to, got, where), what,
		rank_of(p->goal, from), is_most ? "a message of" : "at least",
		from->op[sent].size, goal_ref(p->goal, from, sent, ref));
}

static int check_op(struct pairs *p, const struct goal_rank *r, uint32_t op)
{
	const struct goal_op *o = &r->op[op];
	uint32_t more = o->kind == GOAL_SEND ? SENT : RECEIVED;
	struct ends x;

	if (!goal_is_message(o))
		return 0;
	x = *ends_of(p, key(p->goal, r, o));
	if (is_right(&x) || x.n[more] < x.n[!more])
		return 0;
	x = look_at(p->goal, r, op);
	if (x.n[more] > x.n[!more])
		return say_unmatched(p, r, op, &x);
	if (x.n[SENT] == x.n[RECEIVED] && !is_right(&x))
		return say_too_short(p, r, op, &x);
	return 0;
}

static int check_all(struct pairs *p)
{
	const struct goal *g = p->goal;
	uint32_t i;

	for (i = 0; i < p->n && is_right(&p->ends[i]); i++)
		;
	if (i == p->n)
		return 0;
	for (i = 0; i < g->n_ranks; i++)
		for (uint32_t k = 0; k < g->rank[i].n_ops; k++)
			if (check_op(p, &g->rank[i], k))
				return -1;
	return 0;
}

int goal_check_pairs(const struct goal *g, const char *path, struct err *e)
{
	struct pairs p = { .goal = g, .path = path, .e = e };
	int failed;

	add_all(&p);
	failed = check_all(&p);
	index_fini(&p.index);
	mem_free(p.ends);
	return failed;
}
