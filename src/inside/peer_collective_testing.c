/* Barriers, broadcasts and reductions of weft-peer, in groups of all ranks:
 * they end with the last rank that comes.  Long ones it cannot do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inside/peer_testing.h"
#include "outside/combine.h"

enum { LONGEST = 32 << 10 };

static void finish(struct peer *p, struct rank *r, int error)
{
	struct channel_completion done = {
		.context = r->collective.context,
		.kind = r->collective.kind,
		.error = error,
		.data = 1,
	};

	peer_complete(p, r, &done);
}

static void add(struct peer *p, struct rank *r)
{
	const struct channel_command *c = &r->collective;
	struct together *t = &p->together;
	char *bytes = peer_alloc(1, c->bytes + 1);
	bool is_root = c->kind == CHANNEL_BROADCAST && c->rank == r->number;

	if (c->flags & CHANNEL_IN_ROOM)
		memcpy(bytes, r->in_room + c->at, c->bytes);
	else
		peer_load(r, bytes, c->at, c->bytes);
	if (t->n == 0)
		t->bytes = peer_alloc(1, c->bytes + 1);
	if (is_root || (c->kind == CHANNEL_REDUCE && t->n == 0))
		memcpy(t->bytes, bytes, c->bytes);
	else if (c->kind == CHANNEL_REDUCE)
		combine(c->op >> 8, c->op & 255, t->bytes, bytes, NULL,
			c->bytes);
	t->n++;
	free(bytes);
}

/* Where a rank gets what came out of it, or 0. */
static uint64_t place_of(const struct rank *r)
{
	const struct channel_command *c = &r->collective;

	if (c->kind == CHANNEL_BROADCAST)
		return c->rank == r->number ? 0 : c->at;
	return c->rank == CHANNEL_ANY || c->rank == r->number ? c->tag : 0;
}

/* Whether a group is that of all ranks, in any order. */
static bool is_whole(const struct peer *p, const struct channel_command *c)
{
	return c->bytes == p->n_ranks * sizeof(uint32_t);
}

void peer_collective(
	struct peer *p, struct rank *r, const struct channel_command *c)
{
	struct together *t = &p->together;

	r->collective = *c;
	if (c->kind == CHANNEL_GROUP || c->kind == CHANNEL_UNGROUP) {
		finish(p, r,
			c->kind == CHANNEL_UNGROUP || is_whole(p, c) ? 0
								     : ENOTSUP);
		return;
	}
	if (c->bytes > LONGEST) {
		finish(p, r, ENOTSUP);
		return;
	}
	add(p, r);
	if (t->n < p->n_ranks)
		return;
	for (uint32_t i = 0; i < p->n_ranks; i++) {
		struct rank *to = &p->rank[i];

		if (c->kind != CHANNEL_BARRIER && place_of(to))
			peer_store(to, place_of(to), t->bytes, c->bytes);
		finish(p, to, 0);
	}
	free(t->bytes);
	t->n = 0;
}
