/* What LO|FA|MO is told: its parameters, and the parts that plans name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "parts/lofamo/lofamo.h"

#define AT(field) offsetof(struct lofamo_params, field)

#define PART(name_, field_, def_, help_, source_)                              \
	PARAM_ROW(PARAM_FRACTION, name_, AT(field_), def_, 0, 10000000, help_, \
		source_)

const struct param lofamo_params_table[LOFAMO_PARAMS] = {
	PARAM_ROW(PARAM_FLAG, "on", AT(is_on), "no", 0, 1,
		"whether hosts and cards watch each other",
		"assumed: no watchdogs"),
	PARAM_ROW(PARAM_TIME, "period", AT(period), "500 ms", 1000000,
		INT64_C(100000000000000), "watchdog period", "APE-N21"),
	PART("write", write, "0.4",
		"interval between refreshes of a valid bit, as a fraction of "
		"the period",
		"calibrated: APE-N22"),
	PART("read", read, "1",
		"interval between the card's tests of a valid bit, as a "
		"fraction of the period",
		"APE-G18"),
	PART("poll", poll, "1",
		"interval between a host's polls of its card's registers, as a "
		"fraction of the period",
		"APE-G18"),
	PART("jitter", jitter, "0.1",
		"largest variation of lofamo.write, lofamo.read and "
		"lofamo.poll, as a fraction of the period",
		"assumed: clocks and daemons are not exact"),
	PARAM_ROW(PARAM_TIME, "service", AT(service), "1 ms", 0,
		INT64_C(10000000000000), "latency of the service network",
		"APE-G19"),
	PARAM_ROW(PARAM_COUNT, "roll-call", AT(roll), "4", 1, 1000,
		"number of periods between roll calls of the Master",
		"assumed: longer than any report takes"),
};

int lofamo_check(
	const struct lofamo_params *p, const struct topo *t, struct err *e)
{
	if (p->write + p->jitter >= p->read || p->write < 2 * p->jitter)
		return err_set(e,
			"lofamo.write: want more than twice lofamo.jitter, "
			"and the sum of both below lofamo.read, or healthy "
			"hosts would be reported as dead");
	if (p->poll <= p->jitter || p->write + p->jitter >= p->poll)
		return err_set(e,
			"lofamo.poll: want more than lofamo.write and "
			"lofamo.jitter together");
	if (t->n_nodes != t->n_routers || t->n_ports > LOFAMO_PORTS)
		return err_set(e,
			"lofamo.on: cards have registers for %d neighbours, "
			"not %u",
			LOFAMO_PORTS, t->n_ports);
	return 0;
}

/* --- parts --- */

/* "5.1" */
static int read_gpu(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	char node[24], *end;
	size_t dot = n == 1 ? strcspn(word[0], ".") : 0;

	(void)k;
	p->port = PART_SITE;
	if (n != 1 || !word[0][dot] || dot >= sizeof(node))
		return err_set(e, "want a node and a number after gpu, for "
				  "example gpu 5.1");
	snprintf(node, sizeof(node), "%.*s", (int)dot, word[0]);
	p->unit = (uint32_t)strtoul(word[0] + dot + 1, &end, 10);
	if (*end || !word[0][dot + 1] || p->unit >= LOFAMO_GPUS)
		return err_set(e, "\"%.20s\" is not the number of a GPU",
			word[0] + dot + 1);
	return part_find_site(
		names, "node", node, 0, names->topo->n_nodes, &p->site, e);
}

static const struct part_kind host = { .word = "host",
	.is_site = true,
	.can_sicken = true,
	.read = part_read_node };
static const struct part_kind card = {
	.word = "card", .is_whole = true, .read = part_read_node
};
static const struct part_kind service = { .word = "service",
	.read = part_read_node };
static const struct part_kind gpu = { .word = "gpu", .read = read_gpu };

const struct part_kind *const lofamo_parts[] = { &host, &card, &service, &gpu,
	NULL };

void lofamo_set_plan(struct fault_plan *p, bool is_on, uint32_t n_gpus)
{
	if (!n_gpus)
		fault_plan_lacks(p, &gpu);
	if (!is_on)
		fault_plan_lacks(p, &service);
}

int lofamo_check_plan(
	const struct fault_plan *p, uint32_t n_gpus, struct err *e)
{
	for (size_t i = 0; i < p->n_events; i++)
		if (p->event[i].kind == &gpu && p->event[i].unit >= n_gpus)
			return err_set(e,
				"%s%sfaults: \"%.60s\": nodes have %u GPUs, "
				"numbered from 0",
				p->event[i].place,
				*p->event[i].place ? ": " : "",
				p->event[i].text, n_gpus);
	return 0;
}

/* When what dies in an event returns. */
static sim_time returns_at(const struct fault_plan *p, size_t i)
{
	const struct fault_event *e = &p->event[i];

	while (++i < p->n_events)
		if (p->event[i].kind == e->kind && p->event[i].returns &&
			p->event[i].site == e->site &&
			p->event[i].unit == e->unit && p->event[i].at >= e->at)
			return p->event[i].at;
	return SIM_NEVER;
}

size_t lofamo_outages(
	const struct fault_plan *p, router_id site, struct lofamo_outage **v)
{
	size_t n = 0;

	*v = NULL;
	for (size_t i = 0; p && i < p->n_events; i++) {
		const struct fault_event *e = &p->event[i];

		if (e->site != site || e->returns || e->is_sick ||
			(e->kind != &card && e->kind != &part_node &&
				e->kind != &gpu))
			continue;
		*v = mem_more(*v, n, sizeof(**v));
		(*v)[n++] = (struct lofamo_outage){
			.kind = e->kind == &gpu ? LOFAMO_GPU : LOFAMO_CARD,
			.unit = e->kind == &gpu ? e->unit : 0,
			.from = e->at,
			.until = returns_at(p, i),
		};
	}
	return n;
}

static void add(struct lofamo *l, const struct fault_event *e,
	enum lofamo_kind kind, uint32_t unit)
{
	const struct lofamo_fault f = { .at = e->at,
		.kind = kind,
		.site = e->site,
		.unit = unit,
		.state = e->returns   ? HEALTH_NORMAL
			 : e->is_sick ? HEALTH_SICK
				      : HEALTH_DEAD };

	lofamo_add(l, &f);
}

void lofamo_add_plan(struct lofamo *l, const struct fault_plan *p)
{
	for (size_t i = 0; i < p->n_events; i++) {
		const struct fault_event *e = &p->event[i];

		if (e->kind == &host || e->kind == &part_node)
			add(l, e, LOFAMO_HOST, 0);
		if (e->kind == &card || e->kind == &part_node)
			add(l, e, LOFAMO_CARD, 0);
		if (e->kind == &service)
			add(l, e, LOFAMO_SERVICE, 0);
		if (e->kind == &gpu)
			add(l, e, LOFAMO_GPU, e->unit);
		if (e->port != PART_SITE && e->kind->is_whole)
			add(l, e, LOFAMO_LINK, e->port);
	}
}
