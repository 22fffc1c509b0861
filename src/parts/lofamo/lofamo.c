/* Cards, daemons and what passes between them; the Master is master.c. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/random.h"
#include "parts/lofamo/inside.h"

const char *const health_names[] = {
	[HEALTH_NORMAL] = "normal",
	[HEALTH_SICK] = "sick",
	[HEALTH_ALARM] = "alarm",
	[HEALTH_DEAD] = "dead",
	[HEALTH_UNKNOWN] = "unknown",
};

/* --- events --- */

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

void lofamo_post(struct lofamo *l, const struct event *e)
{
	size_t i = l->n_events++, up;

	l->event = mem_more(l->event, i, sizeof(*l->event));
	l->event[i] = *e;
	l->event[i].number = l->posted++;
	for (; i; i = up) {
		struct event x = l->event[i];

		up = (i - 1) / 2;
		if (!is_before(&x, &l->event[up]))
			return;
		l->event[i] = l->event[up];
		l->event[up] = x;
	}
}

static struct event take_first(struct lofamo *l)
{
	struct event first = l->event[0], last = l->event[--l->n_events];
	size_t i = 0, k;

	while ((k = 2 * i + 1) < l->n_events) {
		k += k + 1 < l->n_events &&
		     is_before(&l->event[k + 1], &l->event[k]);
		if (!is_before(&l->event[k], &last))
			break;
		l->event[i] = l->event[k];
		i = k;
	}
	l->event[i] = last;
	return first;
}

/* --- clocks --- */

static sim_time part_of(const struct lofamo *l, int64_t ppm)
{
	return l->params.period / 1000 * ppm / 1000;
}

static sim_time interval(const struct lofamo *l, enum what clock)
{
	return part_of(l, clock == ON_TEST   ? l->params.read
			  : clock == ON_POLL ? l->params.poll
					     : l->params.write);
}

static sim_time phase_of(const struct lofamo *l, enum what clock, router_id s)
{
	uint64_t phase = random_draw(l->seed, s, RANDOM_WATCH, clock).a;

	return (sim_time)random_below(phase, (uint64_t)interval(l, clock));
}

/* Ticks come at even times from a random one on, each a little late. */
static sim_time tick_at(
	const struct lofamo *l, enum what clock, router_id site, uint64_t k)
{
	sim_time jitter = part_of(l, l->params.jitter) / 2;
	uint64_t late =
		random_draw(l->seed, site, RANDOM_WATCH, 4 * (k + 1) + clock).b;

	return phase_of(l, clock, site) + (sim_time)k * interval(l, clock) +
	       (sim_time)random_below(late, (uint64_t)jitter + 1);
}

static void post_tick(struct lofamo *l, enum what clock, router_id site)
{
	uint64_t k = l->node[site].ticks[clock]++;

	lofamo_post(l, &(struct event){ .at = tick_at(l, clock, site, k),
			       .what = clock,
			       .site = site });
}

/* How many ticks there were before t; a tick is late by less than the time to
 * the next. */
static uint64_t ticks_before(
	const struct lofamo *l, enum what clock, router_id site, sim_time t)
{
	sim_time since = t - phase_of(l, clock, site), every;
	uint64_t k;

	every = interval(l, clock);
	if (since <= 0)
		return 0;
	k = (uint64_t)((since + every - 1) / every);
	return k - (tick_at(l, clock, site, k - 1) >= t);
}

/*
 * As long as a node and its neighbours are well its clocks set and clear bits,
 * and nobody could tell that they do: it sleeps.  When it is woken the bits are
 * as the last ticks have left them.
 */
static void wake(struct lofamo *l, router_id site, sim_time t)
{
	struct node *n = &l->node[site];
	sim_time last[CLOCKS];
	enum what clock;

	if (n->is_awake)
		return;
	n->is_awake = true;
	for (clock = 0; clock < CLOCKS; clock++) {
		uint64_t k = ticks_before(l, clock, site, t);

		last[clock] = k ? tick_at(l, clock, site, k - 1) : -1;
		n->ticks[clock] = k;
		post_tick(l, clock, site);
	}
	n->is_host_valid = last[ON_TEST] < 0 || last[ON_WRITE] > last[ON_TEST];
	n->is_card_valid =
		last[ON_POLL] < 0 || last[ON_REFRESH] > last[ON_POLL];
	n->tested = last[ON_TEST] < 0 ? 0 : last[ON_TEST];
}

/* --- what is alive --- */

struct topo_end lofamo_far(const struct lofamo *l, router_id site, uint32_t p)
{
	if (p >= l->n_ports)
		return (struct topo_end){ .router = NO_ROUTER };
	return l->topo->ops->peer(l->topo, site, p);
}

/* A port's link carries control words from the far card. */
static bool is_audible(const struct lofamo *l, router_id site, uint32_t p)
{
	struct topo_end far = lofamo_far(l, site, p);

	return far.router != NO_ROUTER && !(l->node[site].cut >> p & 1) &&
	       !l->node[site].is_card_dead && !l->node[far.router].is_card_dead;
}

static void note_mute(struct lofamo *l, router_id site, uint32_t p, sim_time t)
{
	sim_time *since = &l->node[site].mute_since[p];

	if (is_audible(l, site, p))
		*since = SIM_NEVER;
	else if (*since == SIM_NEVER)
		*since = t;
}

static void note_all_mute(struct lofamo *l, router_id site, sim_time t)
{
	for (uint32_t p = 0; p < l->n_ports; p++) {
		struct topo_end far = lofamo_far(l, site, p);

		if (far.router == NO_ROUTER)
			continue;
		note_mute(l, site, p, t);
		note_mute(l, far.router, far.port, t);
	}
}

/* A card that comes up knows nothing, and takes nobody for dead. */
static void reset_card(struct node *n, sim_time t)
{
	memset(n->neighbour, HEALTH_NORMAL, sizeof(n->neighbour));
	n->host_state = n->host_code = HEALTH_NORMAL;
	n->is_host_valid = true;
	n->is_card_valid = false;
	n->silent = n->mute_ports = 0;
	n->tested = t;
}

static void wake_around(struct lofamo *l, router_id site, sim_time t)
{
	wake(l, site, t);
	for (uint32_t p = 0; p < l->n_ports; p++) {
		router_id far = lofamo_far(l, site, p).router;

		if (far != NO_ROUTER)
			wake(l, far, t);
	}
}

static void on_fault(struct lofamo *l, const struct event *e)
{
	struct node *n = &l->node[e->site];
	bool is_dead = e->state == HEALTH_DEAD;
	struct topo_end far;

	wake_around(l, e->site, e->at);
	switch (e->kind) {
	case LOFAMO_HOST:
		if (n->host == HEALTH_DEAD && !is_dead)
			memset(&n->told, 0, sizeof(n->told));
		n->host = (uint8_t)e->state;
		return;
	case LOFAMO_SERVICE:
		n->is_service_dead = is_dead;
		return;
	case LOFAMO_GPU:
		set_bit(&n->gpus, e->unit, is_dead);
		return;
	case LOFAMO_CARD:
		n->is_card_dead = is_dead;
		if (!is_dead)
			reset_card(n, e->at);
		break;
	default:
		far = lofamo_far(l, e->site, e->unit);
		set_bit(&n->cut, e->unit, is_dead);
		set_bit(&l->node[far.router].cut, far.port, is_dead);
	}
	note_all_mute(l, e->site, e->at);
}

/* --- control words --- */

/* A link's next one that carries no message yet, which it does now. */
static sim_time take_word(
	struct lofamo *l, struct node *n, uint32_t p, sim_time t)
{
	sim_time at = (t + l->slot - 1) / l->slot * l->slot;

	at = at > n->word_at[p] ? at : n->word_at[p];
	n->word_at[p] = at + l->slot;
	n->words[p]++;
	return at;
}

static void send_word(struct lofamo *l, router_id site, uint32_t p, sim_time t,
	enum what what, const struct note *x)
{
	struct topo_end far = lofamo_far(l, site, p);

	if (!is_audible(l, site, p))
		return;
	t = take_word(l, &l->node[site], p, t);
	lofamo_post(l, &(struct event){ .at = t + l->latency,
			       .what = what,
			       .site = far.router,
			       .unit = far.port,
			       .state = x->state,
			       .note = *x });
}

/* What a card tells its neighbour: its host's health, and whether that has a
 * service port. */
static void send_state(struct lofamo *l, router_id site, uint32_t p, sim_time t)
{
	const struct node *n = &l->node[site];

	send_word(l, site, p, t, ON_SERVICE,
		&(struct note){ .state = n->told.service });
	send_word(l, site, p, t, ON_CODE,
		&(struct note){ .state = n->host_state });
}

static void on_word(struct lofamo *l, const struct event *e)
{
	struct node *n = &l->node[e->site];

	wake(l, e->site, e->at);
	if (n->is_card_dead)
		return;
	if (e->what == ON_CODE) {
		n->neighbour[e->unit] = (uint8_t)e->state;
	} else if (e->what == ON_SERVICE) {
		set_bit(&n->mute_ports, e->unit, e->state == HEALTH_DEAD);
	} else if (n->n_mail < LOFAMO_MAIL) {
		n->mail[n->n_mail++] = e->note;
	}
}

/* --- the card --- */

static void on_test(struct lofamo *l, const struct event *e)
{
	struct node *n = &l->node[e->site];
	uint8_t state = n->is_host_valid ? n->host_code : HEALTH_DEAD;
	uint8_t old = n->host_state;
	uint32_t was = n->silent;

	post_tick(l, ON_TEST, e->site);
	if (n->is_card_dead)
		return;
	n->is_host_valid = false;
	n->silent = 0;
	for (uint32_t p = 0; p < l->n_ports; p++)
		if (lofamo_far(l, e->site, p).router != NO_ROUTER &&
			n->mute_since[p] <= n->tested)
			n->silent |= (uint8_t)(1u << p);
	n->tested = e->at;
	n->host_state = state;
	for (uint32_t p = 0; p < l->n_ports; p++)
		if (state != old || (was & ~n->silent) >> p & 1)
			send_state(l, e->site, p, e->at);
}

/* --- the host's daemon --- */

static void on_write(struct lofamo *l, const struct event *e)
{
	struct node *n = &l->node[e->site];

	post_tick(l, ON_WRITE, e->site);
	if (n->host == HEALTH_DEAD || n->is_card_dead)
		return;
	n->is_host_valid = true;
	n->host_code = n->host;
}

static void on_refresh(struct lofamo *l, const struct event *e)
{
	post_tick(l, ON_REFRESH, e->site);
	if (!l->node[e->site].is_card_dead)
		l->node[e->site].is_card_valid = true;
}

/* To the Master, or to all neighbours, who pass it on; false where neither can
 * be reached. */
static bool send_report(
	struct lofamo *l, router_id site, sim_time t, struct note x)
{
	const struct node *n = &l->node[site];
	bool is_sent = false;

	if (!n->is_service_dead) {
		lofamo_post(l, &(struct event){ .at = t + l->params.service,
				       .what = ON_REPORT,
				       .note = x });
		return true;
	}
	for (uint32_t p = 0; p < l->n_ports; p++) {
		is_sent |= is_audible(l, site, p);
		send_word(l, site, p, t, ON_MAIL, &x);
	}
	return is_sent;
}

/* Reports what is not as it was reported last. */
static void tell(struct lofamo *l, router_id by, sim_time t, uint8_t *told,
	uint8_t state, struct note x)
{
	x.state = state;
	x.by = by;
	x.since = t;
	if (*told != state && send_report(l, by, t, x))
		*told = state;
}

/* The same of parts that are a bit each. */
static void tell_bits(struct lofamo *l, router_id by, sim_time t, uint8_t *told,
	uint8_t bits, struct note x)
{
	for (uint32_t i = 0; i < 8; i++) {
		uint8_t was = *told >> i & 1 ? HEALTH_DEAD : HEALTH_NORMAL;
		uint8_t is = bits >> i & 1 ? HEALTH_DEAD : HEALTH_NORMAL;

		if (x.kind == LOFAMO_SERVICE)
			x.site = lofamo_far(l, by, i).router;
		else
			x.unit = i;
		tell(l, by, t, &was, is, x);
		set_bit(told, i, was);
	}
}

static void tell_of_neighbours(struct lofamo *l, router_id site, sim_time t)
{
	struct node *n = &l->node[site];

	tell_bits(l, site, t, &n->told.silent, n->silent,
		(struct note){ .kind = LOFAMO_LINK, .site = site });
	tell_bits(l, site, t, &n->told.serviceless,
		n->mute_ports & (uint8_t)~n->silent,
		(struct note){ .kind = LOFAMO_SERVICE });
	for (uint32_t p = 0; p < l->n_ports; p++)
		if (!(n->silent >> p & 1))
			tell(l, site, t, &n->told.neighbour[p], n->neighbour[p],
				(struct note){ .kind = LOFAMO_HOST,
					.site = lofamo_far(l, site, p)
							.router });
	for (uint32_t i = 0; i < n->n_mail && !n->is_service_dead; i++)
		send_report(l, site, t, n->mail[i]);
	n->n_mail = 0;
}

/* Of its card the daemon knows what the register says: one that has not
 * refreshed it since the last look is dead, and so is what else is there. */
static void on_poll(struct lofamo *l, const struct event *e)
{
	struct node *n = &l->node[e->site];
	router_id s = e->site;
	uint8_t service = n->is_service_dead ? HEALTH_DEAD : HEALTH_NORMAL;
	bool is_valid = n->is_card_valid;

	post_tick(l, ON_POLL, s);
	if (n->host == HEALTH_DEAD)
		return;
	tell(l, s, e->at, &n->told.card, is_valid ? HEALTH_NORMAL : HEALTH_DEAD,
		(struct note){ .kind = LOFAMO_CARD, .site = s });
	n->is_card_valid = false;
	tell(l, s, e->at, &n->told.self, n->host,
		(struct note){ .kind = LOFAMO_HOST, .site = s });
	tell_bits(l, s, e->at, &n->told.gpus, n->gpus,
		(struct note){ .kind = LOFAMO_GPU, .site = s });
	if (!is_valid)
		return;
	if (n->told.service != service) {
		n->told.service = service;
		for (uint32_t p = 0; p < l->n_ports; p++)
			send_state(l, s, p, e->at);
	}
	tell_of_neighbours(l, s, e->at);
}

/* --- life --- */

struct lofamo *lofamo_new(const struct lofamo_setup *s)
{
	struct lofamo *l = mem_alloc(1, sizeof(*l));

	l->params = *s->params;
	l->topo = s->topo;
	l->n_ports = s->topo->n_ports;
	l->latency = s->latency;
	l->slot = s->slot > 0 ? s->slot : 1;
	l->n_gpus = s->n_gpus;
	l->seed = s->seed;
	l->on_report = s->on_report;
	l->arg = s->arg;
	l->node = mem_alloc(s->topo->n_nodes, sizeof(*l->node));
	for (router_id i = 0; i < s->topo->n_nodes; i++) {
		reset_card(&l->node[i], 0);
		l->node[i].is_card_valid = true;
		for (uint32_t p = 0; p < LOFAMO_PORTS; p++)
			l->node[i].mute_since[p] = SIM_NEVER;
	}
	master_start(l);
	return l;
}

void lofamo_free(struct lofamo *l)
{
	if (!l)
		return;
	mem_free(l->event);
	mem_free(l->node);
	mem_free(l->change);
	mem_free(l->ill);
	mem_free(l);
}

void lofamo_add(struct lofamo *l, const struct lofamo_fault *f)
{
	lofamo_post(l, &(struct event){ .at = f->at,
			       .what = ON_FAULT,
			       .site = f->site,
			       .kind = f->kind,
			       .unit = f->unit,
			       .state = f->state });
}

bool lofamo_step(struct lofamo *l, sim_time t, sim_time *at, router_id *site)
{
	static void (*const on[])(struct lofamo * l, const struct event *e) = {
		[ON_WRITE] = on_write,
		[ON_REFRESH] = on_refresh,
		[ON_TEST] = on_test,
		[ON_POLL] = on_poll,
		[ON_FAULT] = on_fault,
		[ON_CODE] = on_word,
		[ON_SERVICE] = on_word,
		[ON_MAIL] = on_word,
		[ON_REPORT] = master_on_report,
		[ON_SETTLE] = master_on_settle,
		[ON_ROLL] = master_on_roll,
		[ON_ANSWERS] = master_on_answers,
	};
	struct event e;

	if (!l->n_events || l->event[0].at > t)
		return false;
	e = take_first(l);
	*at = e.at;
	*site = e.site;
	on[e.what](l, &e);
	return true;
}

void lofamo_run(struct lofamo *l, sim_time t)
{
	router_id site;
	sim_time at;

	while (lofamo_step(l, t, &at, &site))
		;
}

/* --- from outside --- */

bool lofamo_is_well(const struct lofamo *l, enum lofamo_kind kind,
	router_id site, uint32_t unit)
{
	const struct node *n = &l->node[site];

	return kind == LOFAMO_HOST	? n->host == HEALTH_NORMAL
	       : kind == LOFAMO_CARD	? !n->is_card_dead
	       : kind == LOFAMO_SERVICE ? !n->is_service_dead
	       : kind == LOFAMO_GPU	? !(n->gpus >> unit & 1)
					: !(n->cut >> unit & 1);
}

void lofamo_name(const struct topo *t, enum lofamo_kind kind, router_id site,
	uint32_t unit, char *text, size_t size)
{
	static const char *const word[] = { [LOFAMO_HOST] = "host",
		[LOFAMO_CARD] = "card",
		[LOFAMO_SERVICE] = "service",
		[LOFAMO_LINK] = "link",
		[LOFAMO_GPU] = "gpu" };
	char port[16];

	if (kind == LOFAMO_LINK) {
		t->ops->name_port(t, site, unit, port, sizeof(port));
		snprintf(text, size, "link %u %s", site, port);
	} else if (kind == LOFAMO_GPU) {
		snprintf(text, size, "gpu %u.%u", site, unit);
	} else {
		snprintf(text, size, "%s %u", word[kind], site);
	}
}
