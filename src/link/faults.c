#include "link/faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/wide.h"
#include "sim/exponential.h"
#include "sim/random.h"

#define PER	 UINT64_C(1000000000000000000)
#define FAR_AWAY (UINT64_C(1) << 62)

/* What a line that is sampled outside of its eye adds to the rate of errors:
 * one in 16 of its own bits is read wrong, which is assumed. */
#define BLIND (PER / 16 / TRAINING_DATA)

/* --- bit errors --- */

static uint64_t rate_of(const struct faults *f, uint32_t link, uint32_t wire)
{
	uint64_t rate = f->rate[wire];

	if (f->blind)
		rate += (uint64_t)__builtin_popcount(f->blind[link]) * BLIND;
	return rate;
}

uint64_t faults_distance(const struct faults *f, uint64_t rate,
	uint32_t purpose, uint32_t who, uint64_t n)
{
	uint64_t x = random_draw(f->seed, who, purpose, n).a;
	uint128 gap;

	if (!rate)
		return FAR_AWAY;
	gap = ((uint128)exponential_q32(x | 1) * PER >> 32) / rate;
	return gap < FAR_AWAY ? (uint64_t)gap : FAR_AWAY;
}

uint64_t faults_gap(
	const struct faults *f, uint32_t link, uint32_t wire, uint64_t n)
{
	return faults_distance(f, rate_of(f, link, wire), RANDOM_ERROR,
		faults_key(f, link), n);
}

bool faults_is_marked(struct faults *f, uint32_t worker, router_id chip)
{
	struct fault_link *c;

	if (!f->chip)
		return false;
	c = &f->chip[chip];
	if (c->left--)
		return false;
	c->left = faults_distance(f, f->chips, RANDOM_CHIP, chip, c->draws++);
	f->tally[worker].marked++;
	return true;
}

void faults_share(const struct faults *f, uint64_t *x, size_t n)
{
	if (f->sim)
		sim_sum(f->sim, x, n);
}

uint64_t faults_marked(const struct faults *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->n_workers; i++)
		sum += f->tally[i].marked;
	faults_share(f, &sum, 1);
	return sum;
}

uint32_t faults_place(const struct faults *f, uint32_t link, uint32_t wire,
	uint64_t n, uint32_t bit, uint32_t bits)
{
	uint64_t x;
	uint32_t lines, place;

	if (!f->blind || !f->blind[link])
		return bit;
	x = random_below(
		random_draw(f->seed, faults_key(f, link), RANDOM_ERROR, n).b,
		rate_of(f, link, wire));
	if (x < f->rate[wire])
		return bit;
	lines = f->blind[link];
	for (uint64_t i = (x - f->rate[wire]) / BLIND; i; i--)
		lines &= lines - 1;
	place = bit - bit % TRAINING_DATA + (uint32_t)__builtin_ctz(lines);
	/* without its control or its clock any bit may be wrong */
	return __builtin_ctz(lines) < TRAINING_DATA && place < bits ? place
								    : bit;
}

/* --- lists by link --- */

/* Of a list whose elements begin with a link, in order, each link's first; n if
 * it has none.  At an offset in struct fault_link. */
static void find_first(struct faults *f, const void *list, size_t n,
	size_t size, size_t offset)
{
	size_t link;

	for (size_t i = f->links.n + n; i--;) {
		link = i < n ? *(const uint32_t *)((const char *)list +
						   i * size)
			     : i - n;
		*(uint32_t *)(void *)((char *)&f->link[link] + offset) =
			(uint32_t)(i < n ? i : n);
	}
}

static struct fault_escape *list_by_link(
	struct faults *f, const struct fault_escape *v, size_t n, size_t offset)
{
	struct fault_escape *list = mem_alloc(n + 1, sizeof(*list));

	if (n)
		memcpy(list, v, n * sizeof(*list));
	list[n].link = NO_LINK;
	find_first(f, list, n, sizeof(*list), offset);
	return list;
}

/* --- fibres --- */

bool faults_has_fibres(const struct topo *t)
{
	for (uint32_t i = 0; i < t->n_wires; i++)
		if (t->wire[i].is_fibre)
			return true;
	return false;
}

static void set_escapes(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	if (p->n_escapes)
		f->escape = list_by_link(f, p->escape, p->n_escapes,
			offsetof(struct fault_link, escape));
	if (!faults_has_fibres(t))
		return;
	f->fibre = list_by_link(
		f, p->fibre, p->n_fibres, offsetof(struct fault_link, fibre));
	f->fibres = map_alloc(f->links.n * sizeof(struct link_chips *));
}

struct link_chips *faults_chips(struct faults *f, uint32_t link)
{
	if (!f->fibres[link])
		f->fibres[link] = mem_alloc(1, sizeof(struct link_chips));
	return f->fibres[link];
}

static void free_escapes(struct faults *f)
{
	for (size_t i = 0; f->fibres && i < f->links.n; i++)
		mem_free(f->fibres[i]);
	if (f->fibres)
		map_free(f->fibres, f->links.n * sizeof(struct link_chips *));
	mem_free(f->fibre);
	mem_free(f->escape);
}

/* --- training --- */

static void lines_of(const struct faults *f, const struct fault_plan *p,
	uint32_t link, struct training_line line[TRAINING_LINES])
{
	for (uint32_t i = 0; i < TRAINING_LINES; i++)
		line[i] = training_line(
			&p->training, p->bit, f->seed, faults_key(f, link), i);
	for (size_t k = 0; k < p->n_lines; k++) {
		const struct fault_line *l = &p->line[k];

		if (l->link != link)
			continue;
		if (l->is_closed)
			line[l->line].eye = 0;
		else
			line[l->line].skew = l->skew;
	}
}

/* Lines that are sampled wrong where nothing is trained. */
static void find_blind(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	struct training_line line[TRAINING_LINES];
	uint32_t i;

	if (!p->training.lines || p->training.is_on)
		return;
	f->blind = map_alloc(f->links.n * sizeof(*f->blind));
	for (uint32_t link = 0; link < f->links.n; link++) {
		struct topo_end end = topo_link_end(&f->links, link);

		if (t->ops->peer(t, end.router, end.port).router == NO_ROUTER)
			continue;
		lines_of(f, p, link, line);
		for (i = 0; i < TRAINING_CLOCK; i++)
			if (!training_falls_right(&line[i]))
				f->blind[link] |= (uint16_t)(1u << i);
		/* the clock has any phase: only a dead one is wrong */
		if (!line[i].eye)
			f->blind[link] |= (uint16_t)(1u << i);
		f->trainings.n_blind += f->blind[link] != 0;
	}
}

static bool train_link(
	struct faults *f, const struct fault_plan *p, uint32_t link)
{
	struct fault_trainings *t = &f->trainings;
	struct training_line line[TRAINING_LINES];
	struct training_result r;

	lines_of(f, p, link, line);
	r = training_run(
		&p->training, p->bit, line, f->seed, faults_key(f, link));
	if (!r.failed) {
		if (!t->margin || r.margin < t->margin)
			t->margin = r.margin;
		return true;
	}
	t->untrained =
		mem_more(t->untrained, t->n_untrained, sizeof(*t->untrained));
	t->untrained[t->n_untrained++] =
		(struct fault_untrained){ link, r.failed };
	return false;
}

static int by_untrained(const void *a, const void *b)
{
	const struct fault_untrained *x = a, *y = b;

	return order(x->link, y->link);
}

/* One may have been tried several times. */
static void unite_untrained(struct fault_trainings *t)
{
	size_t n = 0;

	if (t->n_untrained)
		qsort(t->untrained, t->n_untrained, sizeof(*t->untrained),
			by_untrained);
	for (size_t i = 0; i < t->n_untrained; i++)
		if (!n || t->untrained[n - 1].link != t->untrained[i].link)
			t->untrained[n++] = t->untrained[i];
	t->n_untrained = n;
}

/* --- outages --- */

static int by_link(const void *a, const void *b)
{
	const struct fault_outage *x = a, *y = b;

	return 2 * order(x->link, y->link) + order(x->from, y->from);
}

struct outages {
	struct fault_outage *v;
	size_t n;
	const struct topo *topo;
	const struct fault_plan *plan;
	struct faults *faults;
};

static uint32_t link_of(const struct faults *f, struct topo_end end)
{
	return topo_link(&f->links, end.router, end.port);
}

static void add_end(struct outages *o, struct topo_end end, sim_time from,
	sim_time trains, sim_time until, bool is_death)
{
	o->v = mem_more(o->v, o->n, sizeof(*o->v));
	o->v[o->n++] = (struct fault_outage){
		.link = link_of(o->faults, end),
		.from = from,
		.trains = trains,
		.until = until,
		.known = from,
		.is_death = is_death,
	};
}

/* Both directions. */
static void add_outage(struct outages *o, struct topo_end a, struct topo_end b,
	sim_time from, sim_time trains, sim_time until, bool is_death)
{
	add_end(o, a, from, trains, until, is_death);
	add_end(o, b, from, trains, until, is_death);
}

/* Both directions, since one without the other carries nothing. */
static bool train_wire(
	const struct outages *o, struct topo_end a, struct topo_end b)
{
	bool there = train_link(o->faults, o->plan, link_of(o->faults, a));
	bool back = train_link(o->faults, o->plan, link_of(o->faults, b));

	return there && back;
}

/* A wire that is away from some time on, and could come back at another. */
static void add_wire(struct outages *o, struct topo_end a, struct topo_end b,
	sim_time from, sim_time back)
{
	const struct fault_plan *p = o->plan;
	sim_time up = back, trains = back;

	if (back != SIM_NEVER && p->training.lines && p->training.is_on) {
		if (train_wire(o, a, b)) {
			up += training_time(&p->training, p->bit);
			o->faults->trainings.n++;
		} else {
			up = trains = SIM_NEVER;
		}
	}
	if (up != from)
		add_outage(o, a, b, from, trains, up, true);
}

/* Both directions of what goes down with a part. */
static void add_wires(
	struct outages *o, const struct fault_event *e, sim_time until)
{
	const struct topo *t = o->topo;
	sim_time drain = e->is_announced ? o->plan->drain : 0;
	struct topo_end end;
	size_t first = o->n;

	for (uint32_t i = 0; part_wire(t, &e->part, i, &end); i++)
		add_wire(o, end, t->ops->peer(t, end.router, end.port),
			e->at + drain, until);
	for (; e->is_announced && first < o->n; first++) {
		o->v[first].is_announced = true;
		o->v[first].known = e->at;
	}
}

static bool has_lines(const struct fault_plan *p, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < p->n_lines; i++)
		if (p->line[i].link == a || p->line[i].link == b)
			return true;
	return false;
}

/*
 * Before a run all links have been trained, and all but those that the plan
 * says something of have come up; or that is done now.
 */
static void add_start(struct outages *o)
{
	const struct fault_plan *p = o->plan;
	const struct topo *t = o->topo;

	if (!p->training.lines || !p->training.is_on ||
		(!p->cold_start && !p->n_lines))
		return;
	for (uint32_t link = 0; link < o->faults->links.n; link++) {
		struct topo_end a = topo_link_end(&o->faults->links, link);
		struct topo_end b = t->ops->peer(t, a.router, a.port);

		if (b.router == NO_ROUTER || link_of(o->faults, b) < link)
			continue;
		if (p->cold_start)
			add_wire(o, a, b, 0, 0);
		else if (has_lines(p, link, link_of(o->faults, b)) &&
			 !train_wire(o, a, b))
			add_wire(o, a, b, 0, SIM_NEVER);
	}
}

/* --- lanes --- */

/* A lane of a wire that dies or returns. */
struct change {
	struct topo_end end;
	sim_time at;
	int by;
};

static int by_wire(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return 4 * order(x->end.router, y->end.router) +
	       2 * order(x->end.port, y->end.port) + order(x->at, y->at);
}

static int by_width(const void *a, const void *b)
{
	const struct fault_width *x = a, *y = b;

	return 2 * order(x->link, y->link) + order(x->from, y->from);
}

/* One wire's changes, in order: it is narrower, or while too few lanes are
 * left, or it is trained anew, dead. */
static void add_widths(struct outages *o, const struct change *c, size_t n)
{
	const struct fault_plan *p = o->plan;
	struct faults *f = o->faults;
	struct topo_end a = c->end;
	struct topo_end b = o->topo->ops->peer(o->topo, a.router, a.port);
	int64_t dead = 0, least = p->least_lanes > 0 ? p->least_lanes : 1;

	for (size_t i = 0; i < n; i++) {
		sim_time until = i + 1 < n ? c[i + 1].at : SIM_NEVER;
		sim_time up = c[i].at + p->retrain;
		uint32_t lacks;

		dead += c[i].by;
		lacks = (uint32_t)dead;
		if (p->lanes - dead < least) {
			up = until;
			lacks = 0; /* nothing passes anyway */
		}
		up = up < until ? up : until;
		if (up > c[i].at)
			add_outage(o, a, b, c[i].at, up, up,
				p->lanes - dead < least);
		f->width[f->n_widths++] =
			(struct fault_width){ link_of(f, a), lacks, c[i].at };
		f->width[f->n_widths++] =
			(struct fault_width){ link_of(f, b), lacks, c[i].at };
	}
	f->n_narrow += 2;
}

static size_t list_changes(const struct fault_plan *p, struct change *c)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_events; i++) {
		const struct fault_event *e = &p->event[i];

		if (e->kind == &fault_lane)
			c[n++] = (struct change){ { e->site, e->port }, e->at,
				e->returns ? -1 : 1 };
	}
	if (n)
		qsort(c, n, sizeof(*c), by_wire);
	return n;
}

static void add_lanes(struct outages *o)
{
	const struct fault_plan *p = o->plan;
	struct faults *f = o->faults;
	struct change *c = mem_alloc(p->n_events + 1, sizeof(*c));
	size_t n = list_changes(p, c), i, k;

	if (n)
		f->width = mem_alloc(2 * n + 1, sizeof(*f->width));
	for (i = 0; i < n; i = k) {
		for (k = i + 1; k < n && c[k].end.router == c[i].end.router &&
				c[k].end.port == c[i].end.port;
			k++)
			;
		add_widths(o, c + i, k - i);
	}
	mem_free(c);
	if (!n)
		return;
	qsort(f->width, f->n_widths, sizeof(*f->width), by_width);
	f->width[f->n_widths].link = NO_LINK;
	find_first(f, f->width, f->n_widths, sizeof(*f->width),
		offsetof(struct fault_link, width));
}

/* In order; those that overlap become one. */
static void merge(struct outages *o)
{
	size_t n = 0;

	if (o->n)
		qsort(o->v, o->n, sizeof(*o->v), by_link);
	for (size_t i = 0; i < o->n; i++) {
		struct fault_outage *last = n ? &o->v[n - 1] : NULL;

		if (last && last->link == o->v[i].link &&
			last->until >= o->v[i].from) {
			last->is_death |= o->v[i].is_death;
			if (last->until < o->v[i].until) {
				last->trains = o->v[i].trains;
				last->until = o->v[i].until;
			}
			continue;
		}
		o->v[n++] = o->v[i];
	}
	o->n = n;
}

static void make_outages(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	struct outages o = { .topo = t, .plan = p, .faults = f };
	const struct fault_event *e = p->event;

	if (p->training.lines)
		f->trainings.time = training_time(&p->training, p->bit);
	add_start(&o);
	add_lanes(&o);
	/* What dies returns with the next event, if it does. */
	for (size_t i = 0; i < p->n_events; i++) {
		bool ends = i + 1 < p->n_events && e[i + 1].returns;

		if (e[i].kind != &fault_lane && !e[i].returns && !e[i].is_sick)
			add_wires(&o, &e[i], ends ? e[i + 1].at : SIM_NEVER);
	}
	merge(&o);
	unite_untrained(&f->trainings);
	f->n_outages = o.n;
	add_end(&o, (struct topo_end){ 0, 0 }, 0, 0, 0, false);
	f->outage = o.v;
	f->outage[f->n_outages].link = NO_LINK;
	find_first(f, f->outage, f->n_outages, sizeof(*f->outage),
		offsetof(struct fault_link, outage));
}

struct faults *faults_new(const struct fault_plan *p, const struct topo *t,
	uint64_t seed, uint32_t n_workers)
{
	struct faults *f = mem_alloc(1, sizeof(*f));

	memcpy(f->rate, p->rate, sizeof(f->rate));
	f->chips = p->chips;
	f->seed = seed;
	f->n_workers = n_workers;
	f->links = topo_links(t);
	f->link = map_alloc(f->links.n * sizeof(*f->link));
	f->tally = map_alloc(n_workers * sizeof(*f->tally));
	f->patience = p->is_managed ? p->notice : SIM_NEVER;
	f->heals = p->heals;
	faults_set_bursts(f, p, t);
	make_outages(f, p, t);
	set_escapes(f, p, t);
	faults_set_memories(f, p, t);
	if (p->is_managed)
		faults_plan_reloads(f, p, t);
	find_blind(f, p, t);
	faults_note_deaths(f, p, t);
	faults_note_losses(f, p);
	if (f->chips)
		f->chip = map_alloc(t->n_routers * sizeof(*f->chip));
	for (router_id r = 0; f->chip && r < t->n_routers; r++)
		f->chip[r].left = faults_distance(
			f, f->chips, RANDOM_CHIP, r, f->chip[r].draws++);
	f->n_chips = f->chip ? t->n_routers : 0;
	for (uint32_t link = 0; link < f->links.n; link++) {
		struct topo_end end = topo_link_end(&f->links, link);

		if (t->ops->peer(t, end.router, end.port).router == NO_ROUTER)
			continue;
		faults_draw(f, link, t->ops->wire(t, end.router, end.port));
		f->link[link].left--; /* the first may be hit */
	}
	return f;
}

void faults_free(struct faults *f)
{
	if (!f)
		return;
	map_free(f->link, f->links.n * sizeof(*f->link));
	if (f->bursts)
		map_free(f->bursts, f->links.n * sizeof(*f->bursts));
	if (f->blind)
		map_free(f->blind, f->links.n * sizeof(*f->blind));
	mem_free(f->width);
	mem_free(f->trainings.untrained);
	free_escapes(f);
	faults_free_memories(f);
	for (uint32_t i = 0; i < f->n_workers; i++)
		mem_free(f->tally[i].ras);
	map_free(f->tally, f->n_workers * sizeof(*f->tally));
	mem_free(f->outage);
	if (f->chip)
		map_free(f->chip, f->n_chips * sizeof(*f->chip));
	mem_free(f->death);
	mem_free(f->loss);
	mem_free(f->reload);
	mem_free(f);
}

void fault_counts_add(struct fault_counts *sum, const struct fault_counts *c)
{
	const uint64_t *from = (const uint64_t *)c;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*c) / sizeof(*from); i++)
		to[i] += from[i];
}

struct fault_counts faults_total(const struct faults *f, uint32_t wire)
{
	struct fault_counts sum = { 0 };

	for (uint32_t i = 0; i < f->n_workers; i++)
		fault_counts_add(&sum, &f->tally[i].wire[wire]);
	faults_share(f, &sum.bit_errors, sizeof(sum) / sizeof(sum.bit_errors));
	return sum;
}

enum fault_state faults_state(const struct faults *f, uint32_t link, sim_time t)
{
	for (size_t i = 0; i < f->n_outages; i++) {
		const struct fault_outage *o = &f->outage[i];

		if (o->link == link && o->from <= t && t < o->until)
			return t < o->trains ? FAULT_DOWN : FAULT_TRAINING;
	}
	return FAULT_UP;
}

const struct fault_outage *faults_loser(
	const struct faults *f, sim_time now, uint64_t *lost)
{
	uint64_t first = 0; /* counted from the end */

	for (size_t i = 0; i < f->n_outages && !first; i++) {
		const struct fault_outage *o = &f->outage[i];

		if (o->from <= now && now < o->until && f->link[o->link].lost)
			first = f->n_outages - i;
	}
	if (f->sim)
		sim_max(f->sim, &first, 1);
	if (!first)
		return NULL;
	first = f->n_outages - first;
	*lost = f->link[f->outage[first].link].lost;
	faults_share(f, lost, 1);
	return &f->outage[first];
}
