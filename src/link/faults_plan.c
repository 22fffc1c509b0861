/* What a plan of faults says as a whole. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/wide.h"
#include "link/faults.h"

#define AT(field) offsetof(struct fault_params, field)

const struct param fault_params_table[] = {
	PARAM_ROW(PARAM_LINES, "bit-errors", AT(bit_errors), "none", 0, 0,
		"bit error rate of all links (\"1e-9\"), or of one class of "
		"links (\"stage 1 up 1e-7\")",
		"assumed: error-free links"),
	PARAM_ROW(PARAM_LINES, "events", AT(events), "none", 0, 0,
		"times at which parts die, leave or return: \"30 us switch 2.5 "
		"dies\", \"1 ms node 7 returns\", \"30 us link 1.0 up 2 "
		"dies\", \"30 us lane 7 A+ 0 dies\", \"30 us board 1,0,3 "
		"leaves\"",
		"assumed: no failures"),
	{ 0 },
};

const struct param fault_lines_table[] = {
	PARAM_ROW(PARAM_LINES, "lines", AT(lines), "none", 0, 0,
		"defective lines of links, in the direction away from the "
		"port: \"link 1.0 up 2 line 3 skew 900 ps\", \"link 7 line "
		"clock closed\"",
		"assumed: intact cables"),
	PARAM_ROW(PARAM_FLAG, "cold-start", AT(cold_start), "no", 0, 1,
		"whether all links are trained at the beginning of the run",
		"assumed: a machine that is already up"),
	{ 0 },
};

const struct param fault_chips_table[] = {
	PARAM_ROW(PARAM_LINES, "chips", AT(chips), "none", 0, 0,
		"probability that a packet is damaged inside a chip that it "
		"passes (\"1e-9\"); the packet is marked, and its destination "
		"drops it",
		"assumed: chips without errors"),
	{ 0 },
};

const struct param fault_memories_table[] = {
	PARAM_ROW(PARAM_LINES, "memories", AT(memories), "none", 0, 0,
		"probability that a word read from a memory has one flipped "
		"bit (\"1e-9\"), which is corrected, or two (\"double "
		"1e-12\"), which end a transaction of Gemini's interface or "
		"stop a unit of Blue Gene/Q's network",
		"assumed: memories without errors"),
	{ 0 },
};

const struct param fault_bursts_table[] = {
	PARAM_ROW(PARAM_LINES, "bursts", AT(bursts), "none", 0, 0,
		"rate of bursts of errors and their length in bits, on all "
		"links (\"1e-10 40\"), or on one class of links (\"stage 1 up "
		"1e-10 40\")",
		"assumed: error-free links"),
	{ 0 },
};

const struct param fault_lanes_table[] = {
	PARAM_ROW(PARAM_LINES, "fast-lanes", AT(fast_lanes), "none", 0, 0,
		"bit error rate of links whose lanes are faster than "
		"link.lane-reliable, in place of faults.bit-errors (\"1e-9\")",
		"assumed: error-free links"),
	{ 0 },
};

void fault_plan_set_links(struct fault_plan *p, const struct link_params *l,
	const struct training_params *t)
{
	p->training = *t;
	p->bit = training_bit(l->rate);
	p->lanes = l->lanes;
	p->least_lanes = l->least_lanes;
	p->is_fast = link_is_fast(l);
	p->is_checked = l->retry.kind == RETRY_REPLAY && l->check_hop;
	p->retrain = l->retrain;
}

void fault_plan_lacks(struct fault_plan *p, const struct part_kind *kind)
{
	size_t n = 0;

	while (p->lacks[n])
		n++;
	BUG_IF(n == FAULT_LACKS);
	p->lacks[n] = kind;
}

/* --- events --- */

int fault_refuse(
	const char *place, const char *text, const char *why, struct err *e)
{
	return err_set(e, "%s%sfaults: \"%.60s\": %s", place,
		*place ? ": " : "", text, why);
}

/* The lower of a wire's two ends stands for both. */
static void normalise(const struct topo *t, struct fault_event *e)
{
	struct topo_end far;

	if (e->port == FAULT_SITE || e->kind->wire)
		return;
	far = t->ops->peer(t, e->site, e->port);
	if (far.router < e->site) {
		e->site = far.router;
		e->port = far.port;
	}
}

static int by_part(const void *a, const void *b)
{
	const struct fault_event *x = a, *y = b;

	return 16 * order(x->site, y->site) + 8 * order(x->port, y->port) +
	       4 * order(strcmp(x->kind->word, y->kind->word), 0) +
	       2 * order(x->unit, y->unit) + order(x->at, y->at);
}

static bool is_one_part(
	const struct fault_event *x, const struct fault_event *y)
{
	return x->site == y->site && x->port == y->port && x->kind == y->kind &&
	       x->unit == y->unit;
}

/* What dies is alive, and what returns is dead. */
static int check_turns(struct fault_plan *p, struct err *e)
{
	for (size_t i = 0; i < p->n_events; i++) {
		const struct fault_event *x = &p->event[i];
		const struct fault_event *before =
			i && is_one_part(&x[-1], x) ? x - 1 : NULL;

		if (before && before->at == x->at)
			return fault_refuse(x->place, x->text,
				"the same part has another event at this time",
				e);
		if (x->returns == (before && !before->returns)) {
			if (x->returns)
				p->event[i].is_announced = before->is_announced;
			continue;
		}
		return fault_refuse(x->place, x->text,
			x->returns ? "the part is not dead at this time"
				   : "the part is dead already at this time",
			e);
	}
	return 0;
}

int fault_plan_order(struct fault_plan *p, const struct topo *t, struct err *e)
{
	for (size_t i = 0; i < p->n_events; i++)
		normalise(t, &p->event[i]);
	if (p->n_events)
		qsort(p->event, p->n_events, sizeof(*p->event), by_part);
	return check_turns(p, e);
}

/* --- the whole --- */

void fault_plan_free(struct fault_plan *p)
{
	mem_free(p->event);
	mem_free(p->line);
	mem_free(p->escape);
	mem_free(p->fibre);
	mem_free(p->flip);
	*p = (struct fault_plan){ 0 };
}

bool fault_plan_is_empty(const struct fault_plan *p)
{
	uint64_t any = p->n_events | p->n_lines | p->cold_start | p->n_escapes |
		       p->n_fibres | p->n_flips;

	any |= p->chips | p->memories[0] | p->memories[1];
	any |= p->training.lines && !p->training.is_on;
	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		any |= p->rate[i] | p->burst[i].rate;
	return !any;
}

/* Whether event i takes something away for good; of a link's lanes (in order,
 * lane by lane), more than it can do without. */
static bool is_for_good(const struct fault_plan *p, size_t i)
{
	const struct fault_event *e = &p->event[i];
	int64_t gone = 0;

	if (e->returns || (i + 1 < p->n_events && e[1].returns))
		return false;
	if (e->kind != &fault_lane)
		return true;
	for (size_t k = i + 1; k--;) {
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
	static const struct topo_wire fibre = { .is_optical = true };
	uint32_t bytes = (uint32_t)link_wire_bytes(l, l->payload);
	uint64_t bits = code_bits(&link_codes[l->code], bytes);
	uint64_t most = code_bits(link_code_of(l, &fibre), bytes);

	bits = most > bits ? most : bits;

	if (l->retry.kind != RETRY_REPLAY || p->chips)
		return false;
	for (size_t i = 0; p->heals && i < p->n_events; i++)
		if (is_for_good(p, i) || p->event[i].kind != &fault_lane)
			return false;
	for (size_t i = 0; gives_up && i < p->n_events; i++)
		if (is_for_good(p, i) ||
			(p->is_managed && p->event[i].kind != &fault_lane))
			return false;
	for (size_t i = 0; i < TOPO_MAX_WIRES; i++)
		if ((uint128)(p->rate[i] + p->burst[i].rate) * bits >
			UINT64_C(1000000000000000000))
			return false;
	return !p->n_lines && !p->cold_start;
}
