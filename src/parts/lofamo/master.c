/*
 * The Master: what it concludes from reports and roll calls.  It knows which
 * node is whose neighbour, and nothing else.
 */
#include "base/mem.h"
#include "parts/lofamo/inside.h"

/* All who see a silence have reported it by then, in periods / 1000. */
enum { SETTLE = 2600 };

static uint32_t place_of(enum lofamo_kind kind, uint32_t unit)
{
	return kind == LOFAMO_LINK  ? 3 + unit
	       : kind == LOFAMO_GPU ? 3 + LOFAMO_PORTS + unit
				    : (uint32_t)kind;
}

static sim_time settle_time(const struct lofamo *l)
{
	return l->params.period / 1000 * SETTLE + l->params.service;
}

static struct lofamo_part part_at(
	const struct lofamo *l, router_id site, uint32_t place)
{
	const struct node *n = &l->node[site];

	return (struct lofamo_part){
		.kind = place < 3		   ? (enum lofamo_kind)place
			: place < 3 + LOFAMO_PORTS ? LOFAMO_LINK
						   : LOFAMO_GPU,
		.site = site,
		.unit = place < 3		   ? 0
			: place < 3 + LOFAMO_PORTS ? place - 3
						   : place - 3 - LOFAMO_PORTS,
		.state = (enum health)n->part[place].state,
		.since = n->part[place].since,
		.known = n->part[place].known,
		.by = n->part[place].by,
	};
}

static void set(struct lofamo *l, router_id site, uint32_t place,
	enum health state, const struct note *why, sim_time t)
{
	struct node *n = &l->node[site];

	if (n->part[place].state == state)
		return;
	n->part[place].state = (uint8_t)state;
	n->part[place].since = why ? why->since : t;
	n->part[place].known = t;
	n->part[place].by = why ? why->by : NO_ROUTER;
	l->change = mem_more(l->change, l->n_changes, sizeof(*l->change));
	l->change[l->n_changes++] = part_at(l, site, place);
	if (n->part[place].is_listed)
		return;
	n->part[place].is_listed = true;
	l->ill = mem_more(l->ill, l->n_ill, sizeof(*l->ill));
	l->ill[l->n_ill++] = site * PARTS + place;
}

static enum health state_of(
	const struct lofamo *l, enum lofamo_kind kind, router_id site)
{
	return (enum health)l->node[site].part[place_of(kind, 0)].state;
}

/* --- conclusions --- */

/* Its card says so, and it has not been heard of since. */
static bool is_called_dead(const struct node *n)
{
	return n->said.code == HEALTH_DEAD && n->said.code_at > n->said.heard;
}

/* Its reports can be relied on, and would come. */
static bool is_usable(const struct node *n)
{
	return !is_called_dead(n) &&
	       (!n->said.is_missed || n->said.service == HEALTH_DEAD);
}

struct ears {
	uint32_t hear, silent; /* neighbours who do, and who do not */
};

static struct ears listen(const struct lofamo *l, router_id site)
{
	struct ears x = { 0 };

	for (uint32_t p = 0; p < l->n_ports; p++) {
		struct topo_end far = lofamo_far(l, site, p);
		const struct node *n;

		if (far.router == NO_ROUTER)
			continue;
		n = &l->node[far.router];
		if (!is_usable(n) || n->said.card == HEALTH_DEAD)
			continue;
		if (n->said.silent >> far.port & 1)
			x.silent++;
		else
			x.hear++;
	}
	return x;
}

static bool is_settled(const struct lofamo *l, const struct node *n, sim_time t)
{
	return t - n->said.silent_at >= settle_time(l);
}

static enum health judge_card(
	const struct lofamo *l, const struct node *n, struct ears x, sim_time t)
{
	bool is_known = is_usable(n) && !n->said.is_missed;

	if (n->said.card == HEALTH_DEAD && is_usable(n))
		return HEALTH_DEAD;
	if (x.hear && !x.silent)
		return HEALTH_NORMAL;
	if (!x.silent)
		return is_known ? HEALTH_NORMAL : HEALTH_UNKNOWN;
	if (!is_settled(l, n, t))
		return HEALTH_ALARM;
	if (x.hear || (is_known && n->said.heard > n->said.silent_at))
		return HEALTH_NORMAL;
	return HEALTH_UNKNOWN;
}

static enum health judge_host(const struct lofamo *l, const struct node *n,
	enum health card, struct ears x, sim_time t)
{
	bool is_sick =
		n->said.self == HEALTH_SICK || n->said.code == HEALTH_SICK;
	/* a host that says so itself explains why its card is silent */
	bool is_late = n->said.heard <= n->said.silent_at &&
		       n->said.card != HEALTH_DEAD;

	if (is_called_dead(n))
		return card == HEALTH_UNKNOWN ? HEALTH_UNKNOWN : HEALTH_DEAD;
	if (x.silent && !x.hear && is_late && !is_settled(l, n, t))
		return HEALTH_ALARM;
	if ((n->said.is_missed && (card != HEALTH_NORMAL || !x.hear)) ||
		(x.silent && !x.hear && is_late))
		return HEALTH_UNKNOWN;
	return is_sick ? HEALTH_SICK : HEALTH_NORMAL;
}

/* Who missed a roll call may have died, which others are still to report. */
static enum health judge_service(const struct lofamo *l, const struct node *n,
	enum health host, sim_time t)
{
	bool is_alive = host == HEALTH_NORMAL || host == HEALTH_SICK;

	if (n->said.service == HEALTH_DEAD && is_alive)
		return HEALTH_DEAD;
	if (!n->said.is_missed)
		return HEALTH_NORMAL;
	if (!is_alive)
		return HEALTH_UNKNOWN;
	return t - n->said.missed_at >= settle_time(l) ? HEALTH_DEAD
						       : HEALTH_ALARM;
}

static enum health judge_link(const struct lofamo *l, router_id site,
	uint32_t p, struct topo_end far, sim_time t)
{
	const struct node *a = &l->node[site], *b = &l->node[far.router];
	bool a_sees = is_usable(a) && a->said.card != HEALTH_DEAD;
	bool b_sees = is_usable(b) && b->said.card != HEALTH_DEAD;
	bool is_silent = (a_sees && a->said.silent >> p & 1) ||
			 (b_sees && b->said.silent >> far.port & 1);

	if (!is_silent)
		return a_sees || b_sees ? HEALTH_NORMAL : HEALTH_UNKNOWN;
	if (!is_settled(l, a, t) || !is_settled(l, b, t))
		return HEALTH_ALARM;
	return state_of(l, LOFAMO_CARD, site) == HEALTH_NORMAL &&
			       state_of(l, LOFAMO_CARD, far.router) ==
				       HEALTH_NORMAL
		       ? HEALTH_DEAD
		       : HEALTH_UNKNOWN;
}

static void judge_node(
	struct lofamo *l, router_id site, const struct note *why, sim_time t)
{
	const struct node *n = &l->node[site];
	struct ears x = listen(l, site);
	enum health card = judge_card(l, n, x, t);
	enum health host = judge_host(l, n, card, x, t);

	set(l, site, LOFAMO_CARD, card, why, t);
	set(l, site, LOFAMO_HOST, host, why, t);
	set(l, site, LOFAMO_SERVICE, judge_service(l, n, host, t), why, t);
	for (uint32_t i = 0; i < l->n_gpus; i++)
		set(l, site, place_of(LOFAMO_GPU, i),
			!is_usable(n) || host == HEALTH_UNKNOWN ||
					host == HEALTH_ALARM
				? HEALTH_UNKNOWN
			: n->said.gpus >> i & 1 ? HEALTH_DEAD
						: HEALTH_NORMAL,
			why, t);
}

static void judge_links(
	struct lofamo *l, router_id site, const struct note *why, sim_time t)
{
	for (uint32_t p = 0; p < l->n_ports; p++) {
		struct topo_end far = lofamo_far(l, site, p);
		bool is_lower = far.router > site ||
				(far.router == site && far.port > p);

		if (far.router == NO_ROUTER)
			continue;
		if (is_lower)
			set(l, site, place_of(LOFAMO_LINK, p),
				judge_link(l, site, p, far, t), why, t);
		else
			set(l, far.router, place_of(LOFAMO_LINK, far.port),
				judge_link(l, far.router, far.port,
					(struct topo_end){ site, p }, t),
				why, t);
	}
}

/* A node, and all that is concluded from what it said. */
static void judge(
	struct lofamo *l, router_id site, const struct note *why, sim_time t)
{
	void (*const passes[])(struct lofamo * l, router_id site,
		const struct note *why,
		sim_time t) = { judge_node, judge_links };

	for (uint32_t i = 0; i < 2; i++) {
		passes[i](l, site, why, t);
		for (uint32_t p = 0; p < l->n_ports; p++) {
			router_id far = lofamo_far(l, site, p).router;

			if (far != NO_ROUTER)
				passes[i](l, far, why, t);
		}
	}
}

/* --- reports --- */

static void hear_silence(struct lofamo *l, const struct note *x, sim_time t)
{
	struct node *n = &l->node[x->site];
	struct topo_end far = lofamo_far(l, x->site, x->unit);

	set_bit(&n->said.silent, x->unit, x->state == HEALTH_DEAD);
	if (x->state != HEALTH_DEAD || far.router == NO_ROUTER)
		return;
	n->said.silent_at = l->node[far.router].said.silent_at = t;
	lofamo_post(l, &(struct event){ .at = t + settle_time(l),
			       .what = ON_SETTLE,
			       .site = x->site,
			       .note = *x });
}

void master_on_report(struct lofamo *l, const struct event *e)
{
	const struct note *x = &e->note;
	struct node *n = &l->node[x->site];

	if (l->on_report)
		l->on_report(l->arg, e->at, x->kind, x->site, x->unit,
			(enum health)x->state, x->by);
	if (l->node[x->by].said.heard < e->at)
		l->node[x->by].said.heard = e->at;
	if (x->kind == LOFAMO_LINK) {
		hear_silence(l, x, e->at);
	} else if (x->kind == LOFAMO_GPU) {
		set_bit(&n->said.gpus, x->unit, x->state == HEALTH_DEAD);
	} else if (x->kind == LOFAMO_CARD) {
		n->said.card = x->state;
	} else if (x->kind == LOFAMO_SERVICE) {
		n->said.service = x->state;
	} else if (x->by == x->site) {
		n->said.self = x->state;
	} else if (x->since >= n->said.code_since) {
		n->said.code = x->state;
		n->said.code_since = x->since;
		n->said.code_at = e->at;
	}
	judge(l, x->by, x, e->at);
	if (x->site != x->by)
		judge(l, x->site, x, e->at);
}

void master_on_settle(struct lofamo *l, const struct event *e)
{
	const struct note *why = e->note.since ? &e->note : NULL;

	judge(l, e->site, why, e->at);
	if (why)
		judge(l, lofamo_far(l, e->site, why->unit).router, why, e->at);
}

/* --- roll calls --- */

static sim_time roll_every(const struct lofamo *l)
{
	return l->params.roll * l->params.period;
}

void master_start(struct lofamo *l)
{
	lofamo_post(l, &(struct event){ .at = roll_every(l) + l->params.service,
			       .what = ON_ROLL });
}

/* The call has come to the hosts; those that live answer. */
void master_on_roll(struct lofamo *l, const struct event *e)
{
	for (router_id s = 0; s < l->topo->n_nodes; s++)
		l->node[s].said.has_answered = l->node[s].host != HEALTH_DEAD &&
					       !l->node[s].is_service_dead;
	lofamo_post(l, &(struct event){ .at = e->at + l->params.service,
			       .what = ON_ANSWERS });
	lofamo_post(l, &(struct event){
			       .at = e->at + roll_every(l), .what = ON_ROLL });
}

void master_on_answers(struct lofamo *l, const struct event *e)
{
	for (router_id s = 0; s < l->topo->n_nodes; s++) {
		struct node *n = &l->node[s];
		bool was = n->said.is_missed;

		n->said.is_missed = !n->said.has_answered;
		if (n->said.is_missed && !was) {
			n->said.missed_at = e->at;
			lofamo_post(l,
				&(struct event){ .at = e->at + settle_time(l),
					.what = ON_SETTLE,
					.site = s });
		}
		if (n->said.has_answered)
			n->said.heard = e->at;
		if (was || n->said.is_missed || n->said.silent ||
			n->said.silent_at)
			judge(l, s, NULL, e->at);
	}
}

/* --- from outside --- */

enum health lofamo_state(const struct lofamo *l, enum lofamo_kind kind,
	router_id site, uint32_t unit)
{
	return (enum health)l->node[site].part[place_of(kind, unit)].state;
}

bool lofamo_part(const struct lofamo *l, size_t i, struct lofamo_part *p)
{
	if (i >= l->n_ill)
		return false;
	*p = part_at(l, l->ill[i] / PARTS, l->ill[i] % PARTS);
	return true;
}
