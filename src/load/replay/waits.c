/* What a rank of a schedule waits for, in words. */
#include <string.h>

#include "load/replay/goal_colls.h"
#include "load/replay/goal_pairs.h"
#include "load/replay/replay.h"

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

		if (o->kind != kind || o->peer != peer || o->tag != tag)
			continue;
		if (p->left && p->left[k] == BEGUN)
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
	uint32_t rank = replay_rank(p), from, i, k;
	uint64_t tag;

	for (i = 0; m->tagged->early && m->tagged->early(m, i, &from, &tag);
		i++) {
		if (&p->replay->player[from] != peer)
			continue;
		for (k = peer->rank->n_ops; k--;) {
			const struct goal_op *o = &peer->rank->op[k];

			*op = k;
			if (o->kind == GOAL_SEND && o->peer == rank &&
				o->tag == tag && peer->left[k] == BEGUN)
				return true;
		}
	}
	return false;
}

/* What a peer receives from this rank instead. */
static bool find_received(
	const struct player *p, const struct player *peer, uint32_t *op)
{
	uint32_t rank = replay_rank(p);

	for (const struct active *x = peer->active; x; x = x->next) {
		*op = x->op;
		if (peer->rank->op[*op].kind == GOAL_RECV &&
			peer->rank->op[*op].peer == rank)
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
	const struct player *peer = &p->replay->player[p->replay->at[o->peer]];
	uint32_t rank = replay_rank(p), next, other;
	bool is_send = o->kind == GOAL_SEND;
	enum goal_kind kind = is_send ? GOAL_RECV : GOAL_SEND;
	char ref[GOAL_REF];
	int n;

	if (n_begun(peer, kind, rank, o->tag, &next) >=
		n_begun(p, o->kind, o->peer, o->tag, &other)) {
		snprintf(text, size, "rank %u has started to %s it, but %s",
			o->peer, is_send ? "receive" : "send",
			is_send ? "has not received all of it"
				: "not all of it has arrived");
		return;
	}
	n = snprintf(text, size, "rank %u has not started to %s it", o->peer,
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

/* Of all that it waits for, what began first. */
void replay_explain(void *arg, char *text, size_t size)
{
	const struct player *p = arg;
	const uint64_t args[HOST_CALL_ARGS] = { replay_rank(p), 0, 0 };
	const char *file = p->replay->file;
	const struct active *x = p->active;
	char where[GOAL_WHERE], what[128], why[160];
	uint32_t op;

	while (x && x->next)
		x = x->next;
	if (!x && replay_oldest(p, &op)) {
		goal_describe(
			&p->replay->goal, p->rank, op, what, sizeof(what));
		snprintf(text, size, "%s%s: %s; not all of them can continue",
			file, goal_where(&p->replay->goal, p->rank, op, where),
			what);
		return;
	}
	if (!x) {
		host_call_text(CALL, args, text, size);
		return;
	}
	if (strlen(file) > MOST_PATH)
		file += strlen(file) - MOST_PATH;
	goal_describe(&p->replay->goal, p->rank, x->op, what, sizeof(what));
	explain_peer(p, x->op, why, sizeof(why));
	snprintf(text, size, "%s%s: %s; %s", file,
		goal_where(&p->replay->goal, p->rank, x->op, where), what, why);
}
