#include "net/proof.h"

#include <stdio.h>

/* What waits behind packets of other channels of its group waits for what these
 * wait for. */
static void share(const struct route_graph *g, uint32_t n_channels)
{
	uint32_t n = g->n_channels;
	size_t n_wires = (size_t)g->topo->n_routers * g->topo->n_ports;

	for (size_t i = 0; i < n_wires; i++) {
		port_mask *of = &g->after[i * n * n];

		for (uint32_t c = 0; c < n; c++)
			for (uint32_t k = 0; k < n * n; k++)
				if (k / n != c &&
					k / n / n_channels == c / n_channels)
					of[c * n + k % n] |= of[k];
	}
}

/* Step s says whether the channels that share the places of a stage wait for
 * themselves. */
static void check_shared(struct proof_step *s, const struct topo *t,
	const struct route *r, const struct route_written *x,
	const struct net_stage *stage)
{
	struct route_walks w = { 0 };
	struct route_graph g;

	proof_graph(&g, t, r, x, &w);
	share(&g, stage->n_channels);
	proof_find_cycle(s, &g, 0);
	route_graph_fini(&g);
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"a %s is for one input and %u channels, which wait for "
			"each other, but none for itself",
			stage->name, stage->n_channels);
	else
		snprintf(s->why, sizeof(s->why),
			"a %s is for one input and %u channels, so packets "
			"that wait for room at the receiving end of their link "
			"block those of another channel: %u channels form a "
			"cycle",
			stage->name, stage->n_channels, s->n_cycle);
}

void proof_places(struct proof *p, const struct topo *t, const struct route *r,
	const struct route_written *x, const struct net_stage *stage,
	uint32_t n_stages)
{
	struct proof_step *s = &p->step[p->n_steps];
	uint32_t i = 1;

	s->letter = (char)('a' + p->n_steps++);
	s->what = "inside a switch, no packet waits for one of another input "
		  "or channel";
	while (i < n_stages && !stage[i].needs_far_room)
		i++;
	s->holds = i == n_stages || stage[i].n_channels == 1;
	if (i == n_stages)
		snprintf(s->why, sizeof(s->why),
			"a packet leaves its %s only if there is room at the "
			"receiving end of its link",
			stage[0].name);
	else if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"a %s, where packets wait for room at the receiving "
			"end of their link, is for one input and channel; "
			"later stages wait for nothing",
			stage[i].name);
	else if (stage[i].n_channels)
		check_shared(s, t, r, x, &stage[i]);
	else
		snprintf(s->why, sizeof(s->why),
			"packets of all inputs wait in a %s for room at the "
			"receiving end of their link",
			stage[i].name);
	p->is_proved &= s->holds;
}
