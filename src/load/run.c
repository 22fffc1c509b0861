#include "load/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "net/guest.h"

enum { SLICES_PER_STALL = 2 };

void load_ignore_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	(void)me;
	(void)w;
	(void)s;
	(void)fifo;
	(void)t;
}

void load_share_hist(const struct load *l, struct hist *h)
{
	hist_share(l->net->sim, h);
}

void load_tell(const struct load *l, uint32_t per_mille)
{
	struct load_progress p = {
		.now = sim_now(l->net->sim),
		.per_mille = per_mille,
	};

	if (!l->on_progress)
		return;
	p.hops = net_hops(l->net);
	l->on_progress(l->progress_arg, &p);
}

const struct net_client_ops load_idle_client = {
	.on_room = load_ignore_room,
	.is_sink = true,
};

void load_figure(struct load_result *r, const char *name, double value)
{
	BUG_IF(r->n_figures == LOAD_MAX_FIGURES);
	r->figure[r->n_figures++] =
		(struct load_figure){ .name = name, .value = value };
}

/* Where a FIFO is a port, packets take them in turn. */
static uint32_t in_turn(struct net_fifos f, const struct packet *p)
{
	return f.first + (f.is_bound ? p->number % f.count : 0);
}

uint32_t load_kept_fifo(const struct net *n, packet_id id)
{
	struct packet *p = &n->packets[id];

	if (p->kind == PACKET_HIGH)
		return in_turn(net_fifos(n, NET_HIGH), p);
	if (p->kind == PACKET_SYSTEM)
		return in_turn(net_fifos(n, NET_SYSTEM), p);
	/* One FIFO per first direction keeps each flow in order. */
	route_begin(n->route, p);
	p->flags |= PACKET_BEGUN;
	return net_fifos(n, NET_USER).first + p->escape;
}

uint32_t load_find_fifo(
	const struct net *n, site_id s, packet_id id, uint32_t first)
{
	uint32_t own = load_own_fifo(n, id);

	if (own != NET_NO_FIFO)
		return net_has_room(n, s, own) ? own : NET_NO_FIFO;
	return load_any_fifo(n, s, id, first);
}

static __attribute__((noinline)) uint32_t other_fifo(
	const struct net *n, site_id s, struct net_fifos f, uint32_t first)
{
	for (uint32_t i = 1; i < f.count; i++) {
		uint32_t fifo = f.first + (i + first) % f.count;

		if (net_has_room(n, s, fifo))
			return fifo;
	}
	return NET_NO_FIFO;
}

/* Nearly always the first one has room. */
uint32_t load_any_fifo(
	const struct net *n, site_id s, packet_id id, uint32_t first)
{
	struct net_fifos f = net_fifos(n, NET_USER);
	uint32_t fifo;

	if (f.is_bound)
		first += n->packets[id].number;
	fifo = f.first + first % f.count;
	return net_has_room(n, s, fifo) ? fifo : other_fifo(n, s, f, first);
}

int load_set_zones(struct route *r, const char *zones, struct err *e)
{
	return r->ops->set_zones ? r->ops->set_zones(r, 0, zones, e) : 0;
}

int load_check_node(
	const struct load *l, const char *key, int64_t node, struct err *e)
{
	if (node >= load_n_nodes(l))
		return err_set(e, "%s: the %s has nodes 0 to %u", key,
			l->place ? "job" : "machine", load_n_nodes(l) - 1);
	return 0;
}

const char *load_key_needs(const char *key)
{
	static const char *const needs[][2] = {
		{ "zones", "zones" },
		{ "routing", "orders" },
		{ "class", "classes" },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!strcmp(key, needs[i][0]))
			return needs[i][1];
	return NULL;
}

int load_check_keys(const struct param_block *keys, struct err *e)
{
	static const char *const rules[][3] = {
		/* key, what it depends on, of that the words that go with it */
		{ "by", "via", "nic" },
		{ "fifos", "via", "nic" },
		{ "port", "via", "nic" },
		{ "queues", "via", "nic" },
		{ "routing", "via", "net|nic" },
		{ "cpu", "via", "nic|msg|endpoint" },
		{ "data", "via", "nic|msg" },
		{ "driver", "via", "nic|msg" },
		{ "warm", "via", "nic|msg|endpoint" },
		{ "depth", "driver", "pipelined" },
		{ "resync", "driver", "serial" },
	};
	char word[PARAM_TEXT_MAX];

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct param *row = param_find(keys, rules[i][0]);
		const struct param *on = param_find(keys, rules[i][1]);

		if (!row || !on || !keys->origins[row - keys->rows].set)
			continue;
		param_format(keys, on, word, sizeof(word));
		if (!name_has_word(rules[i][2], '|', word))
			return err_set(e,
				"%s: has no effect with %s=%s (want %s=%s)",
				row->name, on->name, word, on->name,
				rules[i][2]);
	}
	return 0;
}

uint8_t load_kind(int64_t class, int64_t routing)
{
	if (class)
		return class == 1 ? PACKET_HIGH : PACKET_SYSTEM;
	return routing ? PACKET_DETERMINISTIC : PACKET_DYNAMIC;
}

/* Some seconds less than links can tell. */
#define MOST_TIME (INT64_C(275) * 1000000000 * SIM_NS)

_Static_assert(MOST_TIME < LINK_MAX_TIME, "clocks go on until then");

static bool is_locked(struct load *l, struct load_result *r)
{
	r->n_knotted = net_knot(l->net, r->knot, sizeof(r->knot));
	return r->n_knotted != 0;
}

/* Packets wait for long in a full network; so look before judging. */
static bool is_stalled(const struct load *l, sim_time now)
{
	return net_longest_wait(l->net, now) >= l->net->params.stall;
}

static double us(sim_time t)
{
	return (double)t / (1000 * SIM_NS);
}

/* Whether a link of a site is down. */
static bool is_cut(const struct load *l, site_id site)
{
	const struct faults *f = l->net->faults;
	uint32_t n_ports = net_router(l->net, site)->sites.n_ports;
	sim_time now = sim_now(l->net->sim);

	for (port_id p = 0; p < n_ports; p++)
		if (faults_state(f, topo_link(&f->links, site, p), now) !=
			FAULT_UP)
			return true;
	return false;
}

/* The first of the sites that have died and are missed: that have not returned,
 * or whose programs have not; NULL: none. */
static const struct fault_death *find_death(const struct load *l)
{
	const struct faults *f = l->net->faults;
	sim_time now = sim_now(l->net->sim);
	bool has_dead = f->n_deaths && l->host && host_n_dead(l->host);
	const struct fault_death *first = NULL;

	for (size_t i = 0; i < f->n_deaths; i++) {
		const struct fault_death *d = &f->death[i];

		if (d->at > now || (first && first->at <= d->at))
			continue;
		if ((has_dead && d->site < l->net->topo->n_nodes) ||
			is_cut(l, d->site))
			first = d;
	}
	return first;
}

/* A link that is dead and has lost packets. */
static void tell_loss(const struct load *l, char *text, size_t size)
{
	const struct faults *f = l->net->faults;
	const struct topo *t = l->net->topo;
	uint64_t lost = 0;
	const struct fault_outage *o =
		faults_loser(f, sim_now(l->net->sim), &lost);
	char site[64], port[64];
	struct topo_end at;

	if (!o)
		return;
	at = topo_link_end(&f->links, o->link);
	topo_name_site(t, at.router, site, sizeof(site));
	t->ops->name_port(t, at.router, at.port, port, sizeof(port));
	snprintf(text, size,
		"%s %s died at %.3f us and lost %" PRIu64 " packet%s; ", site,
		port, us(o->from), lost, lost == 1 ? "" : "s");
}

/* A part that is gone, and has no links of its own. */
static void tell_part(const struct load *l, char *text, size_t size)
{
	const struct faults *f = l->net->faults;
	sim_time now = sim_now(l->net->sim);

	for (size_t i = 0; i < f->n_losses; i++) {
		const struct fault_loss *x = &f->loss[i];

		if (x->from > now || x->until <= now)
			continue;
		snprintf(text, size, "%s died at %.3f us; ", x->name,
			us(x->from));
		return;
	}
}

/* How it ends where something waits for ever: what a machine check has stopped,
 * or what has died, is named first.  A card before a link, which others may
 * stand in for. */
static void tell_why(
	const struct load *l, struct load_result *r, const char *who)
{
	const struct faults *f = l->net->faults;
	const struct topo *t = l->net->topo;
	const struct fault_death *death = f ? find_death(l) : NULL;
	char site[64], unit[64], first[192] = "";
	struct ras_event e;

	if (f && faults_stopped(f, &e)) {
		topo_name_site(t, e.site, site, sizeof(site));
		ras_unit(&e, t, unit, sizeof(unit));
		snprintf(first, sizeof(first),
			"%s: a machine check stopped %s at %.3f us; ", site,
			unit, us(e.at));
	} else if (death) {
		topo_name_site(t, death->site, site, sizeof(site));
		snprintf(first, sizeof(first), "%s died at %.3f us; ", site,
			us(death->at));
	} else if (f) {
		tell_part(l, first, sizeof(first));
	}
	if (f && !*first)
		tell_loss(l, first, sizeof(first));
	snprintf(r->why, sizeof(r->why), "%s%s", first, who);
}

/* Whether links hold packets forever, since a given time: the first of them. */
static bool is_stuck(
	const struct load *l, struct load_result *r, sim_time since)
{
	const struct net_stuck *s = r->stuck;
	const struct topo *t = l->net->topo;
	char site[64], port[64], text[sizeof(r->why)];

	r->n_stuck = net_stuck(l->net, since, r->stuck, LOAD_MAX_STUCK);
	if (!r->n_stuck)
		return false;
	topo_name_site(t, s->site, site, sizeof(site));
	t->ops->name_port(t, s->site, s->port, port, sizeof(port));
	snprintf(text, sizeof(text),
		"%s %s is dead and never returns, and %s has waited for it "
		"since %.3f us; links that hold packets: %" PRIu64
		", packets in the network: %" PRIu64,
		site, port, s->what, us(s->since), r->n_stuck,
		net_n_packets(l->net));
	tell_why(l, r, text);
	return true;
}

/* When to look for stalls again: soon, or, where nothing happens for long and
 * no packet can stall meanwhile or waits for a dead link, after that. */
static sim_time next_look(const struct load *l)
{
	const struct sim *sim = l->net->sim;
	sim_time slice = l->net->params.stall / SLICES_PER_STALL;
	sim_time soon = sim_now(sim) + slice, end = sim_slice(sim, slice);

	if (end > soon && net_n_packets(l->net) &&
		(is_stalled(l, end) || net_stuck(l->net, end, NULL, 0)))
		return soon;
	return end;
}

/* When to look at it from outside again, if anybody does. */
static sim_time next_sample(const struct load *l)
{
	return l->on_sample ? sim_slice(l->net->sim, l->sample) : SIM_NEVER;
}

static bool stirs(void *arg, sim_time t, const struct sim_event *e)
{
	(void)arg;
	(void)t;
	return !net_is_still(e);
}

/* Whether anything is left to do but tokens, in any process. */
static bool has_more(struct sim *sim)
{
	uint64_t any = sim_any_event(sim, stirs, NULL);

	sim_max(sim, &any, 1);
	return any;
}

/*
 * Others look at it, unless nothing has happened since they last did or only
 * tokens are left: whether a token is an event depends on whose the two ends
 * are, and so does whether a run without any goes on to the end of a slice.
 */
static void let_look(struct load_course *c)
{
	struct load *l = c->load;
	struct sim *sim = l->net->sim;
	uint64_t n = sim_n_events(sim);

	if (n != c->n_sampled && has_more(sim)) {
		l->on_sample(l->sample_arg, sim_now(sim));
		c->n_sampled = n;
	}
	c->sample = next_sample(l);
}

static sim_time earliest(sim_time a, sim_time b, sim_time c)
{
	sim_time t = a < b ? a : b;

	return t < c ? t : c;
}

/*
 * In slices, so that a deadlock of some nodes is found, while others go on,
 * before twice the time is over after which a packet is looked at.  False
 * where it pauses; otherwise the result says how it has ended.
 */
static bool run_slices(struct load_course *c)
{
	struct load *l = c->load;
	struct load_result *r = c->result;
	struct sim *sim = l->net->sim;
	sim_time end = l->until ? l->until : SIM_NEVER;

	while (c->until != SIM_NEVER) {
		sim_time next = earliest(c->until, c->look, c->sample);
		enum sim_ending e = sim_run(sim, earliest(next, end, c->pause));

		r->ending = LOAD_STOPPED;
		if (e == SIM_STOPPED)
			return true;
		r->ending = LOAD_ENDLESS;
		if (sim_now(sim) > MOST_TIME)
			return true;
		if (e == SIM_IDLE)
			break;
		r->ending = LOAD_TIMEOUT;
		if (sim_now(sim) >= end)
			return true;
		if (sim_now(sim) >= c->sample)
			let_look(c);
		if (sim_now(sim) >= c->look) {
			r->ending = LOAD_STALLED;
			if (is_stuck(l, r, sim_now(sim) - l->net->params.stall))
				return true;
			r->ending = LOAD_DEADLOCKED;
			if (is_stalled(l, sim_now(sim)) && is_locked(l, r))
				return true;
			c->look = next_look(l);
		}
		if (sim_now(sim) >= c->until)
			c->until = l->ops->next(l);
		if (c->until != SIM_NEVER && sim_now(sim) >= c->pause)
			return false;
	}
	l->is_idle = c->until != SIM_NEVER;
	r->ending = LOAD_DEADLOCKED;
	if (!l->has_given_up && is_locked(l, r))
		return true;
	r->ending = LOAD_FINISHED;
	if (c->until == SIM_NEVER || l->ops->next(l) == SIM_NEVER)
		return true;
	if (!l->net->faults || !faults_stopped(l->net->faults, NULL))
		BUG("nothing is left to do, but the workload is still waiting");
	tell_why(l, r, "packets wait for it");
	r->ending = LOAD_STALLED;
	return true;
}

/* Packets of the network's guest that wait for good: nothing happens any more,
 * nobody else shares the machine, and no fault and no program is to blame. */
static bool are_guests_left(const struct load *l, struct load_result *r)
{
	const struct net_guest *g = l->net->guest;

	if (!g || l->place || l->net->faults || l->has_given_up)
		return false;
	r->n_knotted = g->ops->knot(g, r->knot, sizeof(r->knot));
	r->is_guests = true;
	return r->n_knotted != 0;
}

/* They wait for a program that has failed. */
static bool are_guests_of_failed(
	struct load *l, struct load_result *r, struct err *e)
{
	if (r->ending != LOAD_DEADLOCKED || !r->is_guests || !l->ops->check)
		return false;
	if (l->ops->check(l, e) && e->code == EXIT_ANSWER_NO)
		return true;
	*e = (struct err){ 0 };
	return false;
}

static int tell_failed(struct load_result *r, struct err *e)
{
	r->ending = LOAD_FAILED;
	snprintf(r->why, sizeof(r->why), "%s", e->text);
	*e = (struct err){ 0 };
	return 0;
}

static void go(void *arg)
{
	struct load_course *c = arg;
	struct load *l = c->load;

	if (!c->has_begun) {
		l->ops->start(l);
		c->until = l->ops->next(l);
		c->look = next_look(l);
		c->sample = next_sample(l);
		c->has_begun = true;
	}
	c->is_over = run_slices(c);
}

void load_begin(struct load_course *c, struct load *l, struct load_result *r)
{
	*c = (struct load_course){ .load = l, .result = r };
	memset(r, 0, sizeof(*r));
	r->via = "net";
	l->digest = mem_alloc(l->net->n_sites, sizeof(*l->digest));
}

int load_go(struct load_course *c, sim_time pause, struct err *e)
{
	c->pause = pause;
	return err_guard(go, c, e) ? -1 : c->is_over;
}

int load_end(struct load_course *c, struct err *e)
{
	struct load *l = c->load;
	struct load_result *r = c->result;

	r->end = sim_last_time(l->net->sim);
	if (r->ending == LOAD_FINISHED && !l->has_given_up &&
		is_stuck(l, r, r->end))
		r->ending = LOAD_STALLED;
	if (r->ending == LOAD_FINISHED && are_guests_left(l, r))
		r->ending = LOAD_DEADLOCKED;
	if (r->ending == LOAD_ENDLESS)
		return err_set_code(e, EXIT_LIMIT,
			"the run reached %d s of simulated time, the most "
			"that can be simulated",
			(int)(MOST_TIME / (1000000000 * (sim_time)SIM_NS)));
	if (net_audit_counting(l->net, &r->counted, e))
		return -1;
	l->ops->report(l, r);
	if (are_guests_of_failed(l, r, e))
		return tell_failed(r, e);
	if (r->ending != LOAD_FINISHED || !l->ops->check ||
		!l->ops->check(l, e))
		return 0;
	if (e->code == EXIT_STOPPED) {
		r->ending = LOAD_STOPPED;
		*e = (struct err){ 0 };
		return 0;
	}
	if (e->code != EXIT_DEADLOCK && e->code != EXIT_ANSWER_NO &&
		!net_escaped(l->net))
		return -1;
	/* not an error of ours, but how it ends */
	if (e->code == EXIT_ANSWER_NO)
		return tell_failed(r, e);
	r->ending = LOAD_STALLED;
	tell_why(l, r, e->text);
	*e = (struct err){ 0 };
	return 0;
}

const char *load_ending_name(enum load_ending e)
{
	static const char *const names[] = {
		[LOAD_FINISHED] = "finished",
		[LOAD_DEADLOCKED] = "deadlocked",
		[LOAD_SATURATED] = "saturated",
		[LOAD_STOPPED] = "stopped",
		[LOAD_STALLED] = "stalled",
		[LOAD_ENDLESS] = "failed",
		[LOAD_TIMEOUT] = "timeout",
		[LOAD_FAILED] = "failed",
	};

	return names[e];
}
