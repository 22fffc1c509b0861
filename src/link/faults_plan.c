/* What a plan of faults says as a whole. */
#include "base/mem.h"
#include "base/wide.h"
#include "link/faults.h"

void fault_plan_set_links(struct fault_plan *p, const struct link_params *l,
	const struct training_params *t)
{
	p->training = *t;
	p->bit = training_bit(l->rate);
	p->lanes = l->lanes;
	p->least_lanes = l->least_lanes;
	p->is_fast = link_is_fast(l);
	p->retrain = l->retrain;
}

void fault_plan_free(struct fault_plan *p)
{
	mem_free(p->event);
	mem_free(p->line);
	*p = (struct fault_plan){ 0 };
}

bool fault_plan_is_empty(const struct fault_plan *p)
{
	uint64_t any = p->n_events | p->n_lines | p->cold_start;
	uint32_t i;

	any |= p->chips | p->memories[0] | p->memories[1];
	any |= p->training.lines && !p->training.is_on;
	for (i = 0; i < TOPO_MAX_WIRES; i++)
		any |= p->rate[i];
	return !any;
}

/* Whether event i takes something away for good; of a link's lanes (in order,
 * lane by lane), more than it can do without. */
static bool is_for_good(const struct fault_plan *p, size_t i)
{
	const struct fault_event *e = &p->event[i];
	int64_t gone = 0;
	size_t k;

	if (e->returns || (i + 1 < p->n_events && e[1].returns))
		return false;
	if (e->kind != &fault_lane)
		return true;
	for (k = i + 1; k--;) {
		const struct fault_event *x = &p->event[k];

		if (x->site != e->site || x->port != e->port ||
			x->kind != e->kind)
			break;
		gone += x->returns ? -1 : 1;
	}
	return p->lanes - gone < p->least_lanes;
}

bool fault_plan_passes(
	const struct fault_plan *p, const struct link_params *l, bool gives_up)
{
	uint64_t bits = link_codes[l->code].byte_bits *
			(uint64_t)link_wire_bytes(l, l->payload);
	size_t i;

	if (l->retry.kind != RETRY_REPLAY || p->chips)
		return false;
	for (i = 0; gives_up && i < p->n_events; i++)
		if (is_for_good(p, i) ||
			(p->is_managed && p->event[i].kind != &fault_lane))
			return false;
	for (i = 0; i < TOPO_MAX_WIRES; i++)
		if ((uint128)p->rate[i] * bits > UINT64_C(1000000000000000000))
			return false;
	return !p->n_lines && !p->cold_start;
}
