/*
 * How soon LO|FA|MO (parts/lofamo/lofamo.h) finds single faults, each at a
 * random time and place of a healthy machine.  No packet is sent meanwhile;
 * traffic would change nothing.
 */
#include "load/keys.h"
#include "load/registry.h"
#include "parts/gpus/gpus.h"
#include "sim/random.h"
#include "parts/lofamo/lofamo.h"

enum { HOST, CARD, NODE, LINK, GPU, SERVICE, SICK };

struct trials {
	struct load load;
	int64_t fault, count;

	const struct lofamo_params *watch;
	uint32_t n_gpus; /* of a node */
	const struct topo *topo;
	sim_time latency, slot; /* of control words */
	sim_time at; /* of the fault of this trial */
	double first, last, sum; /* ms, over trials; sum over reports */
	sim_time soonest, latest; /* of this trial */
	uint64_t n_reports, n_heard, undetected, false_alarms;
};

#define AT(field) offsetof(struct trials, field)

static const struct param keys[] = {
	KEY_WORD("fault", AT(fault), "host",
		"host|card|node|link|gpu|service|sick",
		"part that fails; node: a host with its card; sick: a host "
		"that becomes sick"),
	KEY_COUNT("trials", AT(count), "60", 1, 100000,
		"number of faults, each on a healthy machine"),
};

static struct trials *of(struct load *l)
{
	return (struct trials *)l;
}

static int trials_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct trials *x = of(l);

	x->watch = part_params(l->parts, &part_lofamo);
	x->n_gpus = gpus_count(l->parts);
	if (!x->watch || !x->watch->is_on)
		return err_set(e, "lofamo: this machine has no watchdogs (want "
				  "lofamo.on: yes)");
	if (x->fault == GPU && !x->n_gpus)
		return err_set(e, "fault: this machine has no GPUs");
	if (x->fault == LINK && t->n_nodes < 2)
		return err_set(e, "fault: a single node has no neighbours");
	x->topo = t;
	x->latency = t->wire[0].latency;
	x->slot = link_control_slot(l->link);
	return 0;
}

static double ms(sim_time t)
{
	return (double)t / 1e9;
}

/* All that is reported of a single fault comes from it. */
static void on_report(void *arg, sim_time t, enum lofamo_kind kind,
	router_id site, uint32_t unit, enum health state, router_id by)
{
	struct trials *x = arg;

	(void)kind;
	(void)site;
	(void)unit;
	(void)by;
	if (state == HEALTH_NORMAL)
		return;
	if (x->soonest == SIM_NEVER)
		x->soonest = t - x->at;
	x->latest = t - x->at;
	x->sum += ms(t - x->at);
	x->n_reports++;
}

/* Of a link between two nodes, which it stands for. */
static bool is_lower_end(const struct topo *t, router_id site, uint32_t port)
{
	router_id far = t->ops->peer(t, site, port).router;

	return far != NO_ROUTER && far > site;
}

/* Where the fault is: a link that exists, or any node. */
static struct lofamo_fault draw(const struct trials *x, uint32_t trial)
{
	struct random_bits r =
		random_draw(x->load.seed, trial, RANDOM_WATCH, UINT64_MAX);
	sim_time period = x->watch->period;
	struct lofamo_fault f = {
		.at = 4 * period +
		      (sim_time)random_below(r.a, (uint64_t)(4 * period)),
		.site = (router_id)random_below(r.b, x->topo->n_nodes),
		.kind = x->fault == CARD      ? LOFAMO_CARD
			: x->fault == LINK    ? LOFAMO_LINK
			: x->fault == GPU     ? LOFAMO_GPU
			: x->fault == SERVICE ? LOFAMO_SERVICE
					      : LOFAMO_HOST,
		.state = x->fault == SICK ? HEALTH_SICK : HEALTH_DEAD,
	};

	if (x->fault == GPU)
		f.unit = (uint32_t)(r.b % x->n_gpus);
	while (x->fault == LINK && !is_lower_end(x->topo, f.site, f.unit))
		if (++f.unit == x->topo->n_ports) {
			f.unit = 0;
			f.site = (f.site + 1) % x->topo->n_nodes;
		}
	return f;
}

/* Parts that are well and called dead. */
static uint64_t count_false(const struct lofamo *l)
{
	struct lofamo_part p;
	uint64_t n = 0;

	for (size_t i = 0; lofamo_part(l, i, &p); i++)
		n += p.state == HEALTH_DEAD &&
		     lofamo_is_well(l, p.kind, p.site, p.unit);
	return n;
}

static void try(struct trials *x, uint32_t trial)
{
	const struct lofamo_setup s = { .params = x->watch,
		.topo = x->topo,
		.latency = x->latency,
		.slot = x->slot,
		.n_gpus = x->n_gpus,
		.seed = x->load.seed + trial,
		.on_report = on_report,
		.arg = x };
	struct lofamo_fault f = draw(x, trial);
	struct lofamo *l = lofamo_new(&s);
	sim_time t = f.at;

	x->at = f.at;
	x->soonest = SIM_NEVER;
	lofamo_add(l, &f);
	if (x->fault == NODE)
		lofamo_add(l, &(struct lofamo_fault){ .at = f.at,
				      .kind = LOFAMO_CARD,
				      .site = f.site,
				      .state = HEALTH_DEAD });
	for (; t < f.at + 16 * x->watch->period; t += x->watch->period / 4) {
		lofamo_run(l, t);
		x->false_alarms += count_false(l);
	}
	x->undetected +=
		lofamo_state(l, f.kind, f.site, f.unit) == HEALTH_NORMAL;
	if (x->soonest != SIM_NEVER) {
		x->first += ms(x->soonest);
		x->last += ms(x->latest);
		x->n_heard++;
	}
	lofamo_free(l);
}

static void trials_start(struct load *l)
{
	for (uint32_t i = 0; i < of(l)->count; i++)
		try(of(l), i);
}

static sim_time trials_next(struct load *l)
{
	(void)l;
	return SIM_NEVER;
}

static void trials_report(struct load *l, struct load_result *r)
{
	const struct trials *x = of(l);
	double heard = x->n_heard ? (double)x->n_heard : 1;

	load_figure(r, "aware_first_ms", x->first / heard);
	load_figure(r, "aware_mean_ms",
		x->sum / (x->n_reports ? (double)x->n_reports : 1));
	load_figure(r, "aware_last_ms", x->last / heard);
	load_figure(r, "undetected", (double)x->undetected);
	load_figure(r, "false_alarms", (double)x->false_alarms);
}

const struct load_ops load_lofamo = {
	.name = "lofamo",
	.help = "fault-detection time of LO|FA|MO (APEnet+)",
	.size = sizeof(struct trials),
	PARAMS(keys),
	.client = &load_idle_client,
	.init = trials_init,
	.start = trials_start,
	.next = trials_next,
	.report = trials_report,
};
