#include <stdio.h>
#include <string.h>

#include "cli/run.h"
#include "machine/flow.h"
#include "net/use.h"
#include "out/figure.h"

#define HOST_ENOUGH 0.9 /* of a link's rate */

enum { NAME_SIZE = 96 };

/* --- what was measured --- */

/* With the time to set in whole microseconds. */
static void warn_short(const struct machine_run *r, char *text, size_t size)
{
	const struct load_result *l = &r->result;
	char time[FIGURE_TEXT];

	if (!l->message_time)
		return;
	figure_time(sim_ns(l->message_time), time);
	snprintf(text, size,
		"measure is too short: %s takes %s (want measure=%.0fus or "
		"more)",
		l->message_what, time,
		(double)(l->least_time / (1000 * SIM_NS) + 1));
}

/* The busiest link; NULL where none carried anything. */
static const struct net_link *busiest(const struct machine_run *r,
	const struct net_links *all, sim_time *most)
{
	const struct net_link *found = NULL;
	size_t i;

	*most = 0;
	for (i = 0; i < all->n; i++) {
		struct net_carried c = net_carried(r->system->net,
			&all->link[i], UINT32_MAX, r->result.end);

		if (c.busy > *most) {
			*most = c.busy;
			found = &all->link[i];
		}
	}
	return found;
}

/* Buffers may hide for a while that a link cannot carry what is offered. */
static void warn_shortfall(const struct machine_run *r, char *text, size_t size)
{
	double offered = (double)r->result.offered_bps / 1e9;
	double part = offered > 0 ? machine_run_throughput(r) / offered : 1;
	const struct net_link *l;
	struct net_links all;
	char name[NAME_SIZE];
	sim_time busy;

	if (part > 0.9 || !r->result.has_throughput || r->result.message_time)
		return;
	net_links_init(&all, r->system->net);
	l = busiest(r, &all, &busy);
	if (l) {
		run_link_name(r, l->site, l->port, name, sizeof(name));
		snprintf(text, size,
			"only %.0f %% of what is offered is delivered, and the "
			"rest waits; %s is %.0f %% busy",
			part * 100, name,
			100 * (double)busy / (double)r->result.end);
	}
	net_links_fini(&all);
}

/* --- the machine --- */

/* Why links may be idle although there is something to send. */
static void warn_room(const struct machine_run *r, char *text, size_t size)
{
	const struct net *n = r->system->net;
	uint32_t wire = net_short_of_room(n->topo, &n->link, &n->params);

	if (wire == TOPO_MAX_WIRES)
		return;
	snprintf(text, size,
		"buffers of %lld packets are less than a round trip takes "
		"(wire: %s); one flow fills a link with --set "
		"router.packets=%lld",
		(long long)n->params.packets, n->topo->wire[wire].name,
		(long long)link_round_trip(&n->link, wire));
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
		"%s: %s at most, where a link carries %s (as much with --set "
		"%s)",
		least.what, low, high, least.remedy);
}

static void (*const warnings[N_RUN_WARNINGS])(
	const struct machine_run *r, char *text, size_t size) = {
	[RUN_SHORT] = warn_short,
	[RUN_ROOM] = warn_room,
	[RUN_HOST] = warn_host,
	[RUN_SHORTFALL] = warn_shortfall,
};

bool run_warning(const struct machine_run *r, enum run_warning which,
	char *text, size_t size)
{
	*text = '\0';
	if (r->hops)
		warnings[which](r, text, size);
	return *text;
}

void run_warnings_text(FILE *f, const struct machine_run *r)
{
	char text[RUN_WARNING];
	uint32_t i;

	for (i = 0; i < N_RUN_WARNINGS; i++)
		if (run_warning(r, i, text, sizeof(text)))
			fprintf(f, "warning     %s\n", text);
}

void run_warnings_json(struct json *j, const struct machine_run *r)
{
	char text[RUN_WARNING];
	uint32_t i;

	json_array(j, "warnings");
	for (i = 0; i < N_RUN_WARNINGS; i++)
		if (run_warning(r, i, text, sizeof(text)))
			json_text(j, NULL, text);
	json_end(j, ']');
}
