#include <stdio.h>
#include <string.h>

#include "facts/figure.h"
#include "load/jobs.h"
#include "machine/batch.h"
#include "machine/facts.h"
#include "machine/flow.h"
#include "net/use.h"

#define HOST_ENOUGH 0.9 /* of a link's rate */
#define ABOVE_PEAK  1.03 /* destinations may happen to be near */

/* --- what was measured --- */

/* With the time to set in whole microseconds. */
static void warn_short(const struct machine_run *r, char *text, size_t size)
{
	const struct load_result *l = &r->result;
	char time[FIGURE_TEXT];

	if (!l->message_time)
		return;
	figure_text("time_ns", sim_ns(l->message_time), time);
	snprintf(text, size,
		"measure is too short: %s takes %s; set measure=%.0fus or "
		"more",
		l->message_what, time,
		(double)(l->least_time / (1000 * SIM_NS) + 1));
}

/* Of what was offered, the part of some bytes of the measured time. */
static double part_of(const struct machine_run *r, uint64_t bytes)
{
	const struct load_result *l = &r->result;

	return (double)bytes * 1e12 / (double)l->measured /
	       (double)r->machine->topo->n_nodes / (double)l->offered_bps;
}

/* Buffers may hide for a while that a link cannot carry what is offered.  What
 * faults take waits nowhere. */
static void warn_shortfall(const struct machine_run *r, char *text, size_t size)
{
	const struct load_result *l = &r->result;
	char name[RUN_WARNING], lost[64] = "";
	double got, gone, busy;

	if (!l->has_throughput || !l->measured || l->offered_bps <= 0 ||
		l->message_time)
		return;
	got = part_of(r, l->bytes);
	gone = part_of(r, l->gone);
	if (got + gone > 0.9 || !facts_busiest(r, name, &busy))
		return;
	if (gone >= 0.005)
		snprintf(lost, sizeof(lost), "%.0f %% is lost to faults, ",
			gone * 100);
	snprintf(text, size,
		"only %.0f %% of the offered load is delivered, %sand the rest "
		"is queued; %.96s is %.0f %% busy",
		got * 100, lost, name, busy * 100);
}

/*
 * A network that has just begun to fill delivers what takes free ways, and more
 * than it can in the long run.
 */
static void warn_above(const struct machine_run *r, char *text, size_t size)
{
	const struct load_result *l = &r->result;

	if (!l->has_throughput || !l->has_peak || !l->measured ||
		l->offered_bps ||
		machine_throughput(l, r->system->net->n_nodes) * 1e9 <=
			ABOVE_PEAK * (double)l->peak_bps)
		return;
	snprintf(text, size,
		"more than the peak arrives, since queues still grow; set a "
		"longer warmup and measure");
}

static bool got_nothing(const struct load_result *l)
{
	return l->has_throughput && l->measured && !l->bytes && !l->latency.n;
}

/* No packet was delivered while the load was measured. */
static void warn_nothing(const struct machine_run *r, char *text, size_t size)
{
	const struct jobs *j = jobs_of(r->load);
	const struct load_result *l = &r->result;
	const char *job = NULL;
	char time[FIGURE_TEXT];

	for (uint32_t i = 0; j && i < j->n && !job; i++) {
		l = j->part[i].result;
		job = got_nothing(l) ? j->part[i].name : NULL;
	}
	if (!got_nothing(l))
		return;
	figure_text("time_ns", sim_ns(l->measured), time);
	snprintf(text, size, "%s%.48s%snothing was delivered within %s%s",
		job ? "job " : "", job ? job : "", job ? ": " : "", time,
		l->gone || l->message_time ? "" : "; set a longer measure");
}

/* --- faults --- */

struct late {
	sim_time end; /* of the run */
	sim_time first;
	const char *text; /* of the first, or NULL */
	size_t n;
};

static void add_late(struct late *x, sim_time at, const char *text)
{
	if (at <= x->end)
		return;
	if (!x->n++ || at < x->first) {
		x->first = at;
		x->text = text;
	}
}

static struct late find_late(const struct fault_plan *p, sim_time end)
{
	struct late x = { .end = end };

	for (size_t i = 0; i < p->n_events; i++)
		if (!p->event[i].returns)
			add_late(&x, p->event[i].at, p->event[i].text);
	for (size_t i = 0; i < p->n_escapes; i++)
		add_late(&x, p->escape[i].at, NULL);
	for (size_t i = 0; i < p->n_fibres; i++)
		add_late(&x, p->fibre[i].at, NULL);
	for (size_t i = 0; i < p->n_flips; i++)
		add_late(&x, p->flip[i].at, NULL);
	return x;
}

/* Faults of the plan that come after the end of the run. */
static void warn_late(const struct machine_run *r, char *text, size_t size)
{
	struct late x = find_late(&r->machine->faults, r->result.end);
	char end[FIGURE_TEXT], first[FIGURE_TEXT];

	if (!x.n)
		return;
	figure_text("time_ns", sim_ns(x.end), end);
	figure_text("time_ns", sim_ns(x.first), first);
	snprintf(text, size,
		"%zu planned fault%s had no effect, since the run ended at %s; "
		"the first: %.96s",
		x.n, x.n == 1 ? "" : "s", end, x.text ? x.text : first);
}

/* --- the machine --- */

/* Why links may be idle although there is something to send. */
static void warn_room(const struct machine_run *r, char *text, size_t size)
{
	const struct net *n = r->system->net;
	uint32_t wire = net_short_of_room(n->topo, &n->link, &n->params);
	long long needs;

	if (wire == TOPO_MAX_WIRES)
		return;
	needs = link_round_trip(&n->link, wire);
	snprintf(text, size,
		"buffers hold %lld packets, but a round trip needs %lld (wire "
		"%s), so one flow cannot fill a link; use --set "
		"router.packets=%lld",
		(long long)n->params.packets, needs, n->topo->wire[wire].name,
		needs);
}

/* A bus or card that no link can be filled from. */
static void warn_host(const struct machine_run *r, char *text, size_t size)
{
	struct flow_bound bound[FLOW_BOUNDS];
	uint32_t i = 0;
	char low[FIGURE_TEXT], high[FIGURE_TEXT];
	struct flow_bound least;
	double link;

	flow_bounds(r->machine, bound);
	while (strcmp(bound[i].what, "the link") != 0)
		i++;
	link = bound[i].rate;
	if (!i || !strcmp(r->result.via, "net"))
		return;
	least = flow_least(bound, i);
	if (least.rate > HOST_ENOUGH * link)
		return;
	figure_text("rate_GBps", least.rate / 1e9, low);
	figure_text("rate_GBps", link / 1e9, high);
	snprintf(text, size,
		"%s: at most %s, but a link carries %s; to fill the link, use "
		"--set %s",
		least.label, low, high, least.remedy);
}

/* Buffers that are larger than the machine's. */
static void warn_trains(const struct machine_run *r, char *text, size_t size)
{
	const struct machine *m = r->machine;
	int64_t train = m->link.train;

	if (train <= 1 || m->running.packets * train <= m->router.packets)
		return;
	snprintf(text, size,
		"buffers hold %lld trains of %lld packets in place of "
		"router.packets=%lld; to see what this changes, use --error, "
		"or a smaller link.train",
		(long long)m->running.packets, (long long)train,
		(long long)m->router.packets);
}

static void (*const warnings[N_RUN_WARNINGS])(
	const struct machine_run *r, char *text, size_t size) = {
	[RUN_SHORT] = warn_short,
	[RUN_ROOM] = warn_room,
	[RUN_HOST] = warn_host,
	[RUN_SHORTFALL] = warn_shortfall,
	[RUN_ABOVE] = warn_above,
	[RUN_TRAINS] = warn_trains,
	[RUN_NOTHING] = warn_nothing,
	[RUN_LATE] = warn_late,
};

/* Warnings about runs in which packets crossed links. */
static const bool needs_hops[N_RUN_WARNINGS] = {
	[RUN_ROOM] = true,
	[RUN_HOST] = true,
	[RUN_SHORTFALL] = true,
	[RUN_ABOVE] = true,
	[RUN_TRAINS] = true,
};

bool run_warning(const struct machine_run *r, enum run_warning which,
	char *text, size_t size)
{
	*text = '\0';
	if (r->hops || !needs_hops[which])
		warnings[which](r, text, size);
	return *text;
}

void run_warnings_note(const struct machine_run *r, struct batch_result *result)
{
	_Static_assert(N_RUN_WARNINGS <= (int)BATCH_NOTES, "a note each");
	for (uint32_t i = 0; i < N_RUN_WARNINGS; i++)
		run_warning(r, i, result->note[i], BATCH_NOTE);
}

void facts_of_warnings(struct facts *f, const struct machine_run *r)
{
	char text[RUN_WARNING];

	facts_place(f, FACTS_AT_LINKS);
	facts_list(f, "warnings");
	for (uint32_t i = 0; i < N_RUN_WARNINGS; i++)
		if (run_warning(r, i, text, sizeof(text)))
			facts_text(f, NULL, text);
	facts_end(f);
	facts_each(f, "warnings", 0, NULL, "warning     {}");
}
