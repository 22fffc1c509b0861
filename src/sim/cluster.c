/* What processes send to each other, whichever way it travels. */
#define _GNU_SOURCE
#include "sim/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "sim/pace.h"
#include "sim/room.h"

enum { FIRST_BYTES = 1024 };

/* That a process waits for others after it was asked to end. */
#define PATIENCE_NS INT64_C(3000000000)

void cluster_bytes_grow(struct cluster_bytes *b, size_t n)
{
	b->room = 2 * (b->n + n) + FIRST_BYTES;
	b->at = mem_grow(b->at, b->room, 1);
}

void cluster_bytes_free(struct cluster_bytes *b)
{
	mem_free(b->at);
	*b = (struct cluster_bytes){ 0 };
}

void cluster_name(uint32_t process, char text[CLUSTER_NAME])
{
	char host[64] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(text, CLUSTER_NAME, "process %u on %s", process, host);
}

bool cluster_is_apart(void)
{
	return getenv("WEFT_APART");
}

void cluster_look(struct cluster *c)
{
	if (!c->stop || !atomic_load_explicit(c->stop, memory_order_relaxed))
		return;
	if (!c->asked)
		c->asked = pace_clock();
	if (pace_clock() - c->asked > PATIENCE_NS)
		err_give_up(EXIT_STOPPED,
			"stopped by a signal; the other processes did not "
			"answer");
}

void cluster_sum(struct cluster *c, uint64_t *x, size_t n)
{
	if (c->room)
		room_reduce(c->room, x, n, true);
	else
		c->ops->sum(c, x, n);
}

void cluster_max(struct cluster *c, uint64_t *x, size_t n)
{
	if (c->room)
		room_reduce(c->room, x, n, false);
	else
		c->ops->max(c, x, n);
}

void cluster_tell(struct cluster *c, uint32_t from, void *bytes, size_t n)
{
	if (c->room)
		room_tell(c->room, from, bytes, n);
	else
		c->ops->tell(c, from, bytes, n);
}

void cluster_meet(struct cluster *c, const bool *is_near,
	struct cluster_bytes *out, struct cluster_bytes *in,
	uint64_t word[N_CLUSTER_WORDS])
{
	for (uint32_t i = 0; i < c->n; i++)
		if (is_near[i])
			c->ops->send(c, i, &out[i]);
	c->ops->agree(c, word);
	for (uint32_t i = 0; i < c->n; i++)
		while (is_near[i] && !c->ops->receive(c, i, &in[i]))
			c->ops->wait(c);
}

static void sign_error(const struct cluster *c, struct err *e)
{
	char name[CLUSTER_NAME], text[sizeof(e->text)];

	cluster_name(c->me, name);
	snprintf(text, sizeof(text), "%s: %.*s", name,
		(int)(sizeof(text) - sizeof(name) - 3), e->text);
	memcpy(e->text, text, sizeof(text));
}

int cluster_share_error(struct cluster *c, struct err *e)
{
	uint64_t first = e->code ? c->n - c->me : 0;

	if (c->is_broken)
		return -1;
	cluster_max(c, &first, 1);
	if (!first)
		return 0;
	cluster_tell(c, (uint32_t)(c->n - first), e, sizeof(*e));
	c->knows_error = true;
	return -1;
}

int cluster_share_signed(struct cluster *c, struct err *e)
{
	if (c->me && e->code && !c->is_broken)
		sign_error(c, e);
	return cluster_share_error(c, e);
}
