#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "machine/facts.h"
#include "net/use.h"

enum { MOST_HOT = 5, NAME_SIZE = 96 };

/* Part of the data rate, over the whole run, warm-up included. */
static double use(const struct machine_run *r, double busy, uint64_t n_links)
{
	double most = (double)r->result.end * (double)n_links;

	return most > 0 ? busy / most : 0;
}

/* Packets on average, of the sum of the times that packets waited. */
static double mean_waiting(const struct machine_run *r, sim_time waited)
{
	return r->result.end ? (double)waited / (double)r->result.end : 0;
}

/* Links that are told of together, by their number. */
static void name_group(const struct topo *t, uint32_t i, char name[16])
{
	if (topo_is_direct(t))
		t->ops->name_port(t, 0, i, name, 16);
	else
		snprintf(name, 16, "%s", t->wire[i].name);
}

/* A group's part of the line for all groups, "  A+ 7 %"; four in a row where
 * there may be many. */
static size_t write_group(const struct machine_run *r, uint32_t i,
	const struct net_use *u, const char *name, char *text, size_t size)
{
	bool is_new = i && i % 4 == 0 && !topo_is_direct(r->machine->topo);
	int n = snprintf(text, size, "%s", is_new ? "\n            " : "");

	if (u->n_links)
		n += snprintf(text + n, size - (size_t)n, "%s%s %.0f %%",
			i && !is_new ? "  " : "", name,
			use(r, (double)u->busy, u->n_links) * 100);
	return (size_t)n;
}

static void add_group(struct facts *f, const struct machine_run *r,
	const struct net_use *u, const char *name)
{
	facts_group(f, NULL);
	facts_text(f, "port", name);
	facts_count(f, "links", u->n_links);
	facts_real(f, "mean_use", use(r, (double)u->busy, u->n_links));
	facts_real(f, "max_use", use(r, (double)u->most_busy, 1));
	facts_real(f, "mean_queue",
		mean_waiting(r, u->waited) / (double)u->n_links);
	facts_end(f);
}

static void add_groups(
	struct facts *f, const struct machine_run *r, const struct net_use *u)
{
	const struct topo *t = r->system->net->topo;
	char name[16], text[64 * TOPO_MAX_WIRES] = "";
	size_t used = 0;

	facts_list(f, "links");
	for (uint32_t i = 0; i < net_n_uses(t); i++) {
		name_group(t, i, name);
		if (u[i].n_links)
			add_group(f, r, &u[i], name);
		if (used < sizeof(text))
			used += write_group(r, i, &u[i], name, text + used,
				sizeof(text) - used);
	}
	facts_end(f);
	facts_text(f, "_by_port", text);
	if (r->hops)
		facts_line(f, "links",
			"{_by_port}  of the raw rate, including the warm-up");
}

/* --- which ones --- */

struct hot {
	struct net_link link; /* or only its site, of a router */
	sim_time time; /* busy, or waited */
};

/* The first ones of all, the longest times first. */
struct hottest {
	struct hot of[MOST_HOT];
	size_t n;
};

static void hottest_add(
	struct hottest *h, const struct net_link *l, sim_time time)
{
	size_t i = h->n < MOST_HOT ? h->n++ : MOST_HOT;

	for (; i && time > h->of[i - 1].time; i--)
		if (i < MOST_HOT)
			h->of[i] = h->of[i - 1];
	if (i < MOST_HOT)
		h->of[i] = (struct hot){ *l, time };
}

struct heat {
	struct hottest links, routers;
	struct net_use *use; /* by groups */
	sim_time *waited; /* [site] */
};

static void add_heat(
	void *arg, const struct net_link *l, sim_time busy, sim_time waited)
{
	struct heat *heat = arg;

	heat->waited[l->site] += waited;
	if (busy)
		hottest_add(&heat->links, l, busy);
}

/* Routers by the packets that wait in them, whichever way these came. */
static struct heat measure(const struct machine_run *r)
{
	const struct net *n = r->system->net;
	struct heat heat = {
		.use = mem_alloc(net_n_uses(n->topo), sizeof(*heat.use)),
		.waited = mem_alloc(n->n_sites, sizeof(*heat.waited)),
	};

	net_uses(n, r->result.end, heat.use, add_heat, &heat);
	for (site_id s = 0; s < n->n_sites; s++)
		if (heat.waited[s])
			hottest_add(&heat.routers,
				&(struct net_link){ .site = s },
				heat.waited[s]);
	return heat;
}

static void free_heat(const struct heat *h)
{
	mem_free(h->use);
	mem_free(h->waited);
}

static void name_link(const struct topo *t, site_id s, port_id p, char *text)
{
	size_t n;

	topo_name_site(t, s, text, NAME_SIZE);
	n = strlen(text);
	snprintf(text + n, NAME_SIZE - n, " ");
	n += n < NAME_SIZE - 1;
	t->ops->name_port(t, s, p, text + n, NAME_SIZE - n);
}

/* "node 0 A+ to node 1" */
static void name_both_ends(
	const struct topo *t, const struct hot *h, char text[2 * NAME_SIZE])
{
	char to[NAME_SIZE];

	name_link(t, h->link.site, h->link.port, text);
	topo_name_site(t, h->link.to.router, to, sizeof(to));
	name_add(text, 2 * NAME_SIZE, " to ");
	name_add(text, 2 * NAME_SIZE, to);
}

static void add_hottest(
	struct facts *f, const struct machine_run *r, const struct heat *heat)
{
	const struct topo *t = r->system->net->topo;
	char text[2 * NAME_SIZE];
	size_t width = 0;

	for (size_t i = 0; i < heat->links.n; i++) {
		name_both_ends(t, &heat->links.of[i], text);
		width = strlen(text) > width ? strlen(text) : width;
	}
	facts_list(f, "hottest_links");
	for (size_t i = 0; i < heat->links.n; i++) {
		const struct hot *h = &heat->links.of[i];

		facts_group(f, NULL);
		facts_count(f, "site", h->link.site);
		facts_count(f, "port", h->link.port);
		name_link(t, h->link.site, h->link.port, text);
		facts_text(f, "name", text);
		facts_site(f, "to", t, h->link.to.router);
		name_both_ends(t, h, text);
		facts_print(f, "_link", "%-*s", (int)width, text);
		facts_real(f, "use", use(r, (double)h->time, 1));
		facts_end(f);
	}
	facts_end(f);
	if (r->hops)
		facts_each(f, "hottest_links", 0, "hottest",
			"{_link} {use*100:5.1f} %");
}

static void add_fullest(
	struct facts *f, const struct machine_run *r, const struct heat *heat)
{
	char text[64], all[MOST_HOT * (NAME_SIZE + 32)] = "";

	facts_list(f, "fullest_routers");
	for (size_t i = 0; i < heat->routers.n; i++) {
		const struct hot *h = &heat->routers.of[i];

		facts_group(f, NULL);
		facts_count(f, "site", h->link.site);
		facts_site(f, "name", r->system->net->topo, h->link.site);
		facts_real(f, "mean_waiting", mean_waiting(r, h->time));
		snprintf(text, sizeof(text), ": %.3g%s",
			mean_waiting(r, h->time), i ? "" : " packets waiting");
		name_add(all, sizeof(all), i ? ", " : "");
		name_add(all, sizeof(all), fact_text(f->at, "name"));
		name_add(all, sizeof(all), text);
		facts_end(f);
	}
	facts_end(f);
	facts_text(f, "_fullest", *all ? all : NULL);
	if (r->hops)
		facts_long_line(f, "fullest", "[{_fullest}]");
}

bool facts_busiest(const struct machine_run *r, char *text, double *part)
{
	struct heat heat = measure(r);
	const struct hot *h = heat.links.of;

	free_heat(&heat);
	if (!heat.links.n)
		return false;
	name_link(r->system->net->topo, h->link.site, h->link.port, text);
	*part = use(r, (double)h->time, 1);
	return true;
}

void facts_of_links(struct facts *f, const struct machine_run *r)
{
	struct heat heat = measure(r);

	facts_place(f, FACTS_AT_LINKS);
	add_groups(f, r, heat.use);
	add_hottest(f, r, &heat);
	add_fullest(f, r, &heat);
	free_heat(&heat);
}

/* --- all of them --- */

/* A channel that no packet can take has no line. */
static void write_channel(FILE *f, const struct machine_run *r,
	const struct net_link *l, uint32_t channel, struct net_carried c)
{
	const struct net *n = r->system->net;
	const struct topo *t = n->topo;
	char from[NAME_SIZE], to[NAME_SIZE];

	if (!c.bytes && !net_uses_channel(n, l->to.router, channel))
		return;
	name_link(t, l->site, l->port, from);
	name_link(t, l->to.router, l->to.port, to);
	fprintf(f, "%u,%u,\"%s\",%u,%u,\"%s\",%s,%s,", l->site, l->port, from,
		l->to.router, l->to.port, to, t->wire[l->class].name,
		net_router(n, l->to.router)->ops->channels[channel]);
	fprintf(f, "%" PRIu64 ",%" PRIu64 ",%.6f,%.6f\n", c.bytes, c.packets,
		use(r, (double)c.busy, 1), mean_waiting(r, c.waited));
}

/* Of all channels of a link. */
static uint32_t carried(const struct machine_run *r, const struct net_link *l,
	struct net_carried *c)
{
	const struct net *n = r->system->net;
	uint32_t i, many = net_router(n, l->to.router)->ops->n_channels;

	for (i = 0; i < many; i++)
		c[i] = net_carried(n, l, (uint32_t)1 << i, r->result.end);
	return many;
}

void facts_write_links(FILE *f, const struct machine_run *r)
{
	const struct net *n = r->system->net;
	struct net_carried *all =
		mem_alloc((size_t)n->links.n * NET_MOST_CHANNELS, sizeof(*all));
	struct net_link l = NET_NO_LINK;
	uint32_t many;
	size_t i = 0;

	while (net_next_link(n, &l))
		i += carried(r, &l, all + i);
	net_share_carried(n, all, i);
	if (f)
		fputs("site,port,name,to_site,to_port,to_name,wire,channel,"
		      "bytes,packets,use,mean_waiting\n",
			f);
	i = 0;
	for (l = NET_NO_LINK; f && net_next_link(n, &l); i += many) {
		many = net_router(n, l.to.router)->ops->n_channels;
		for (uint32_t c = 0; c < many; c++)
			write_channel(f, r, &l, c, all[i + c]);
	}
	mem_free(all);
}
