#include "cli/run.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "net/use.h"
#include "out/file.h"

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

/*
 * Links that are told of together: of a direct network those that leave by
 * the same port, of others those of the same class.  False after the last.
 */
static bool get_group(const struct machine_run *r, uint32_t i,
	struct net_use *u, char name[16])
{
	const struct topo *t = r->system->net->topo;
	bool is_direct = topo_is_direct(t);

	if (i == (is_direct ? t->n_ports : t->n_wires))
		return false;
	if (is_direct) {
		*u = net_port_use(r->system->net, i, r->result.end);
		t->ops->name_port(t, 0, i, name, 16);
	} else {
		*u = net_wire_use(r->system->net, i, r->result.end);
		snprintf(name, 16, "%s", t->wire[i].name);
	}
	return true;
}

static void json_groups(struct json *j, const struct machine_run *r)
{
	struct net_use u;
	char name[16];
	uint32_t i;

	json_array(j, "links");
	for (i = 0; get_group(r, i, &u, name); i++) {
		if (!u.n_links)
			continue;
		json_object(j, NULL);
		json_text(j, "port", name);
		json_count(j, "links", u.n_links);
		json_real(j, "mean_use", use(r, (double)u.busy, u.n_links));
		json_real(j, "max_use", use(r, (double)u.most_busy, 1));
		json_real(j, "mean_queue",
			mean_waiting(r, u.waited) / (double)u.n_links);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void print_groups(FILE *f, const struct machine_run *r)
{
	struct net_use u;
	char name[16];
	uint32_t i;

	fputs("links       ", f);
	for (i = 0; get_group(r, i, &u, name); i++) {
		if (i && i % 4 == 0 && !topo_is_direct(r->system->net->topo))
			fputs("\n            ", f);
		if (u.n_links)
			fprintf(f, "%s %.0f %%  ", name,
				use(r, (double)u.busy, u.n_links) * 100);
	}
	fputs("of the raw rate, including the warm-up\n", f);
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
};

/* Routers by the packets that wait in them, whichever way these came. */
static struct heat measure(const struct machine_run *r)
{
	const struct net *n = r->system->net;
	sim_time *waited = mem_alloc(n->n_sites, sizeof(*waited));
	struct heat heat = { 0 };
	struct net_links all;
	site_id s;
	size_t i;

	net_links_init(&all, n);
	for (i = 0; i < all.n; i++) {
		struct net_carried c =
			net_carried(n, &all.link[i], UINT32_MAX, r->result.end);

		waited[all.link[i].to.router] += c.waited;
		if (c.busy)
			hottest_add(&heat.links, &all.link[i], c.busy);
	}
	for (s = 0; s < n->n_sites; s++)
		if (waited[s])
			hottest_add(&heat.routers,
				&(struct net_link){ .site = s }, waited[s]);
	net_links_fini(&all);
	mem_free(waited);
	return heat;
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

void run_link_name(const struct machine_run *r, site_id s, port_id p,
	char *text, size_t size)
{
	char name[NAME_SIZE];

	name_link(r->system->net->topo, s, p, name);
	snprintf(text, size, "%s", name);
}

static void print_hot(
	FILE *f, const struct machine_run *r, const struct heat *heat, size_t i)
{
	const struct topo *t = r->system->net->topo;
	const struct hot *link = &heat->links.of[i];
	const struct hot *router = &heat->routers.of[i];
	char text[NAME_SIZE];

	name_link(t, link->link.site, link->link.port, text);
	fprintf(f, "%-12s%-27s %5.1f %%", i ? "" : "hottest", text,
		use(r, (double)link->time, 1) * 100);
	if (i < heat->routers.n) {
		topo_name_site(t, router->link.site, text, sizeof(text));
		fprintf(f, "   %s: %.3g waiting", text,
			mean_waiting(r, router->time));
	}
	fputs("\n", f);
}

void run_links_text(FILE *f, const struct machine_run *r)
{
	struct heat heat = measure(r);
	size_t i;

	run_warnings_text(f, r);
	print_groups(f, r);
	for (i = 0; i < heat.links.n; i++)
		print_hot(f, r, &heat, i);
}

static void json_hot(struct json *j, const struct machine_run *r)
{
	const struct topo *t = r->system->net->topo;
	struct heat heat = measure(r);
	char text[NAME_SIZE];
	size_t i;

	json_array(j, "hottest_links");
	for (i = 0; i < heat.links.n; i++) {
		const struct hot *h = &heat.links.of[i];

		json_object(j, NULL);
		json_count(j, "site", h->link.site);
		json_count(j, "port", h->link.port);
		name_link(t, h->link.site, h->link.port, text);
		json_text(j, "name", text);
		json_real(j, "use", use(r, (double)h->time, 1));
		json_end(j, '}');
	}
	json_end(j, ']');
	json_array(j, "fullest_routers");
	for (i = 0; i < heat.routers.n; i++) {
		const struct hot *h = &heat.routers.of[i];

		json_object(j, NULL);
		json_count(j, "site", h->link.site);
		topo_name_site(t, h->link.site, text, sizeof(text));
		json_text(j, "name", text);
		json_real(j, "mean_waiting", mean_waiting(r, h->time));
		json_end(j, '}');
	}
	json_end(j, ']');
}

void run_links_json(struct json *j, const struct machine_run *r)
{
	json_groups(j, r);
	json_hot(j, r);
}

/* --- all of them --- */

/* A channel that no packet can take has no line. */
static void write_channel(FILE *f, const struct machine_run *r,
	const struct net_link *l, uint32_t channel)
{
	const struct net *n = r->system->net;
	const struct topo *t = n->topo;
	struct net_carried c =
		net_carried(n, l, (uint32_t)1 << channel, r->result.end);
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

static void write_links(FILE *f, const struct machine_run *r)
{
	const struct net *n = r->system->net;
	struct net_links all;
	uint32_t c;
	size_t i;

	fputs("site,port,name,to_site,to_port,to_name,wire,channel,bytes,"
	      "packets,use,mean_waiting\n",
		f);
	net_links_init(&all, n);
	for (i = 0; i < all.n; i++) {
		const struct net_link *l = &all.link[i];

		for (c = 0; c < net_router(n, l->to.router)->ops->n_channels;
			c++)
			write_channel(f, r, l, c);
	}
	net_links_fini(&all);
}

int run_links_write(
	const char *path, const struct machine_run *r, struct err *e)
{
	struct out_file f;

	if (out_file_open(&f, path, &out_links, e))
		return -1;
	write_links(f.stream, r);
	return out_file_close(&f, e);
}
