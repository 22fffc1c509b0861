#include <string.h>

#include "base/mem.h"
#include "load/replay/goal_pairs.h"
#include "load/replay/player.h"

enum { MOST_PATH = 80 }; /* the end of a longer one is shown */

/* How many of a rank's sends or receives with a peer and tag have begun; *next
 * is the first that has not. */
static uint32_t n_begun(const struct player *p, enum goal_kind kind,
	uint32_t peer, uint32_t tag, uint32_t *next)
{
	const struct goal_rank *r = p->rank;
	uint32_t n = 0, k = r->n_ops;

	*next = UINT32_MAX;
	while (k--) {
		const struct goal_op *o = &r->op[k];

		if (o->kind != kind || o->tag != tag ||
			player_peer(p, o) != peer)
			continue;
		if (p->left && p->left[k] == PLAYER_BEGUN)
			n++;
		else
			*next = k;
	}
	return n;
}

/* The last send of a peer that has come and that nothing has received, by its
 * tag; false where there is none. */
static bool find_sent(
	const struct player *p, const struct player *peer, uint32_t *op)
{
	const struct msg_state *m = msg_state((struct weft_msg *)&p->msg);
	uint32_t rank = player_rank(p), from, i, k;
	uint64_t tag;

	for (i = 0; m->tagged->early && m->tagged->early(m, i, &from, &tag);
		i++) {
		if (&p->replay->player[from] != peer)
			continue;
		for (k = peer->rank->n_ops; k--;) {
			const struct goal_op *o = &peer->rank->op[k];

			*op = k;
			if (o->kind == GOAL_SEND && o->tag == tag &&
				player_peer(peer, o) == rank &&
				peer->left[k] == PLAYER_BEGUN)
				return true;
		}
	}
	return false;
}

/* What a peer receives from this rank instead. */
static bool find_received(
	const struct player *p, const struct player *peer, uint32_t *op)
{
	uint32_t rank = player_rank(p);

	for (const struct active *x = peer->active; x; x = x->next) {
		*op = x->op;
		if (peer->rank->op[*op].kind == GOAL_RECV &&
			player_peer(peer, &peer->rank->op[*op]) == rank)
			return true;
	}
	return false;
}

/* What the peer of a message did, or does instead. */
static void explain_peer(
	const struct player *p, uint32_t op, char *text, size_t size)
{
	const struct goal_op *o = &p->rank->op[op];
	const struct goal *g = &p->replay->goal;
	uint32_t rank = player_rank(p), to = player_peer(p, o), next, other;
	const struct player *peer = &p->replay->player[p->replay->at[to]];
	bool is_send = o->kind == GOAL_SEND;
	enum goal_kind kind = is_send ? GOAL_RECV : GOAL_SEND;
	char ref[GOAL_REF];
	int n;

	if (n_begun(peer, kind, rank, o->tag, &next) >=
		n_begun(p, o->kind, to, o->tag, &other)) {
		snprintf(text, size, "rank %u has started to %s it, but %s", to,
			is_send ? "receive" : "send",
			is_send ? "has not received all of it"
				: "not all of it has arrived");
		return;
	}
	n = snprintf(text, size, "rank %u has not started to %s it", to,
		is_send ? "receive" : "send");
	if (next != UINT32_MAX)
		n += snprintf(text + n, size - (size_t)n, " (%s)",
			goal_ref(g, peer->rank, next, ref));
	if (is_send ? find_received(p, peer, &other)
		    : find_sent(p, peer, &other))
		snprintf(text + n, size - (size_t)n,
			", but %s %llu B with tag %u (%s)",
			is_send ? "receives" : "sent",
			(unsigned long long)peer->rank->op[other].size,
			peer->rank->op[other].tag,
			goal_ref(g, peer->rank, other, ref));
}

void player_explain(void *player, char *text, size_t size)
{
	const struct player *p = player;
	const uint64_t args[HOST_CALL_ARGS] = { player_rank(p), 0, 0 };
	const char *file = p->replay->file;
	const struct active *x = p->active;
	char where[GOAL_WHERE], what[128], why[160];
	uint32_t op;

	if (strlen(file) > MOST_PATH)
		file += strlen(file) - MOST_PATH;
	while (x && x->next)
		x = x->next;
	if (!x && player_oldest(p, &op)) {
		goal_describe(
			&p->replay->goal, p->rank, op, what, sizeof(what));
		snprintf(text, size, "%s%s: %s; not all of them can continue",
			file, goal_where(&p->replay->goal, p->rank, op, where),
			what);
		return;
	}
	if (!x) {
		host_call_text(PLAYER_CALL, args, text, size);
		return;
	}
	goal_describe(&p->replay->goal, p->rank, x->op, what, sizeof(what));
	explain_peer(p, x->op, why, sizeof(why));
	snprintf(text, size, "%s%s: %s; %s", file,
		goal_where(&p->replay->goal, p->rank, x->op, where), what, why);
}

/* --- of several processes --- */

static uint64_t n_active(const struct player *p)
{
	uint64_t n = 0;

	for (const struct active *x = p->active; x; x = x->next)
		n++;
	return n;
}

void player_tell(struct player *p, const struct sim *sim, site_id node)
{
	size_t size = p->rank->n_ops * sizeof(*p->left);
	bool is_own = sim_has(sim, node), has_begun = p->left;
	uint64_t n = n_active(p), *op;
	struct active *x = p->active;

	sim_tell(sim, node, &has_begun, sizeof(has_begun));
	sim_tell(sim, node, &n, sizeof(n));
	if (!has_begun)
		return;
	if (!p->left)
		p->left = mem_alloc(p->rank->n_ops + 1, sizeof(*p->left));
	sim_tell(sim, node, p->left, size);
	op = mem_alloc(n, sizeof(*op));
	for (uint64_t i = 0; is_own && i < n; i++, x = x->next)
		op[i] = x->op;
	sim_tell(sim, node, op, n * sizeof(*op));
	/* what others told before is told again */
	for (uint64_t i = n_active(p); i < n; i++)
		player_take(p);
	x = p->active;
	for (uint64_t i = 0; i < n; i++, x = x->next)
		x->op = (uint32_t)op[i];
	mem_free(op);
}
