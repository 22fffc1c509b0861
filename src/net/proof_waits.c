#include "net/proof.h"

#include <stdio.h>

#include "base/mem.h"
#include "route/cdg.h"

/* The bit of a mask that follows those which have been given. */
static uint32_t next_bit(uint32_t mask, uint32_t *at)
{
	uint32_t m = *at < 32 ? mask >> *at << *at : 0;

	if (!m)
		return CDG_NONE;
	*at = (uint32_t)__builtin_ctz(m) + 1;
	return *at - 1;
}

static uint32_t next_stage(const void *arg, uint32_t v, uint32_t *at)
{
	const struct proof_waits *w = arg;

	return next_bit(w->stage[v].stages, at);
}

static uint32_t next_channel(const void *arg, uint32_t v, uint32_t *at)
{
	const struct proof_waits *w = arg;

	return next_bit(w->answers[v], at);
}

/* One that waits for itself, or CDG_NONE. */
static uint32_t find_cycle(const struct proof_waits *w, uint32_t n,
	uint32_t (*next)(const void *, uint32_t, uint32_t *))
{
	struct cdg graph = { .n = n, .arg = w, .next = next };
	struct cdg_cycle c = cdg_find_cycle(&graph);
	uint32_t v = c.n ? c.vertex[0] : CDG_NONE;

	mem_free(c.vertex);
	return v;
}

/* A packet that enters a ring may stand before one that goes straight on. */
static void tell_ring(struct proof_step *s, const struct proof_step *ring)
{
	for (uint32_t i = 0; i < ring->n_cycle; i++)
		proof_tell(s, ring->cycle[i].router, ring->cycle[i].port, 0);
}

static void check_stages(struct proof_step *s, const struct proof_waits *w,
	const struct proof_step *ring)
{
	uint32_t bad = find_cycle(w, w->n_stages, next_stage), i = 1;

	s->letter = 'd';
	s->what = "inside a router, only the first stage waits for room "
		  "elsewhere";
	while (i < w->n_stages && !w->stage[i].needs_far_room)
		i++;
	s->holds = bad == CDG_NONE && i == w->n_stages;
	if (bad != CDG_NONE)
		snprintf(s->why, sizeof(s->why),
			"packets in a %s wait for each other",
			w->stage[bad].name);
	else if (!s->holds)
		snprintf(s->why, sizeof(s->why),
			"packets in a %s wait for room at the receiving end of "
			"their link, and block packets behind them: a packet "
			"that needs room for 2 holds up others that go "
			"straight on",
			w->stage[i].name);
	else
		snprintf(s->why, sizeof(s->why),
			"a packet leaves its %s only if there is room at the "
			"receiving end of its link; each of the %u later "
			"stages waits only for the next",
			w->stage[0].name, w->n_stages - 1);
	if (bad == CDG_NONE && !s->holds)
		tell_ring(s, ring);
}

/* An example: packets from one node to another of the same router, and those
 * that come back. */
static void tell_nodes(
	struct proof_step *s, const struct topo *t, const char *channel)
{
	struct topo_end of[2];

	if (!t || t->n_nodes < 2)
		return;
	of[0] = t->ops->peer(t, 0, 0);
	of[1] = t->ops->peer(t, 1, 0);
	if (of[0].router != of[1].router || of[0].router < t->n_nodes)
		return;
	for (uint32_t i = 0; i < 2; i++) {
		proof_tell(s, i, 0, 0);
		proof_tell(s, of[!i].router, of[!i].port, 0);
	}
	for (uint32_t i = 0; i < s->n_cycle; i++)
		s->cycle[i].name = channel;
}

static void check_channels(struct proof_step *s, const struct proof_waits *w)
{
	uint32_t bad = find_cycle(w, w->n_channels, next_channel), i, n = 0;

	for (i = 0; i < w->n_channels; i++)
		n += !w->answers[i];
	s->letter = 'e';
	s->what = "no channel waits for itself at a node";
	s->holds = bad == CDG_NONE;
	if (bad != CDG_NONE)
		snprintf(s->why, sizeof(s->why),
			"nodes accept a %s when another packet of its own "
			"channel can leave",
			w->channel[bad]);
	else
		snprintf(s->why, sizeof(s->why),
			"each of %u channels has its own buffers and planes; "
			"packets of %u of them are always accepted, and "
			"packets of the others wait only for these",
			w->n_channels, n);
	if (bad != CDG_NONE)
		tell_nodes(s, w->topo, w->channel[bad]);
}

void proof_waits(struct proof *p, const struct proof_waits *w)
{
	struct proof_step *s = &p->step[p->n_steps];

	check_stages(&s[0], w, &p->ring);
	check_channels(&s[1], w);
	p->n_steps += 2;
	p->is_proved &= s[0].holds & s[1].holds;
}
