#include "meas/budget_inside.h"

#include <string.h>

#include "base/mem.h"
#include "meas/calls.h"

const size_t book_packet_bytes = sizeof(struct book_entry);

struct book *book_new(const struct book_how *how, uint32_t n_workers,
	uint32_t n_nodes, uint32_t most_packets)
{
	struct book *k = mem_alloc(1, sizeof(*k));

	k->how = *how;
	k->n_workers = n_workers;
	k->n_nodes = n_nodes;
	k->most = most_packets;
	k->entry = map_alloc((size_t)most_packets * sizeof(*k->entry));
	k->sent = map_alloc(n_nodes * sizeof(*k->sent));
	k->calls = map_alloc((size_t)n_nodes * BOOK_CALLS * sizeof(*k->calls));
	k->trips = trips_new(n_nodes);
	k->desk = map_alloc(n_workers * sizeof(*k->desk));
	atomic_init(&k->top, 0);
	k->words = book_words_new();
	return k;
}

void book_forget_way(struct book_way *w)
{
	mem_free(w->step);
	*w = (struct book_way){ 0 };
}

static void free_trails(struct book_trail *r)
{
	struct book_trail *next;

	for (; r; r = next) {
		next = r->next;
		book_forget_way(&r->way);
		mem_free(r);
	}
}

static void forget_slow(struct book_desk *d)
{
	while (d->n_slow)
		book_forget_way(&d->slow[--d->n_slow].way);
}

void book_free(struct book *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->top; i++)
		book_forget_way(&k->entry[i].way);
	free_trails(k->trails);
	for (uint32_t i = 0; i < k->n_workers; i++) {
		free_trails(k->desk[i].trails);
		free_trails(k->desk[i].came);
		free_trails(k->desk[i].held);
		forget_slow(&k->desk[i]);
		mem_free(k->desk[i].slow);
		index_fini(&k->desk[i].partials);
	}
	trips_free(k->trips);
	book_words_free(k->words);
	map_free(k->entry, (size_t)k->most * sizeof(*k->entry));
	map_free(k->sent, k->n_nodes * sizeof(*k->sent));
	map_free(k->calls, (size_t)k->n_nodes * BOOK_CALLS * sizeof(*k->calls));
	map_free(k->desk, k->n_workers * sizeof(*k->desk));
	mem_free(k);
}

struct trips *book_trips(struct book *k)
{
	return k ? k->trips : NULL;
}

/* --- packets --- */

void book_call(struct book *k, uint32_t src, sim_time called, sim_time birth)
{
	struct book_call *c = &k->calls[(size_t)src * BOOK_CALLS];

	if (called == birth)
		return;
	memmove(c + 1, c, (BOOK_CALLS - 1) * sizeof(*c));
	*c = (struct book_call){ called, birth };
}

static sim_time called_at(const struct book *k, uint32_t src, sim_time birth)
{
	const struct book_call *c = &k->calls[(size_t)src * BOOK_CALLS];

	for (uint32_t i = 0; i < BOOK_CALLS; i++)
		if (c[i].birth == birth && birth)
			return c[i].called;
	return birth;
}

struct book_message book_begin(struct book *k, uint32_t src,
	enum book_kind kind, uint32_t n_packets, sim_time birth)
{
	uint32_t number = k->sent[src]++;

	return (struct book_message){
		.birth = called_at(k, src, birth),
		.src = src,
		.number = number,
		.n_packets = n_packets,
		.kind = (uint8_t)kind,
		.is_followed = k->how.follows && src == k->how.node &&
			       number == k->how.number,
	};
}

struct book_trail *book_begin_trail(struct book_trail **trails, sim_time start)
{
	struct book_trail *r = mem_alloc(1, sizeof(*r));

	r->way.start = start;
	r->next = *trails;
	*trails = r;
	return r;
}

static void raise_top(struct book *k, uint32_t packet)
{
	uint32_t top = atomic_load_explicit(&k->top, memory_order_relaxed);

	while (packet >= top &&
		!atomic_compare_exchange_weak(&k->top, &top, packet + 1))
		;
}

/* What a new packet's entry begins with; what belongs to its number stays. */
struct book_entry *book_begin_entry(struct book *k, uint32_t packet)
{
	struct book_entry *x = &k->entry[packet];
	struct book_way way = x->way;

	BUG_IF(x->is_open || packet >= k->most);
	raise_top(k, packet);
	way.n = 0;
	*x = (struct book_entry){
		.way = way, .wait = CAUSE_QUEUE, .is_open = true
	};
	return x;
}

/* Fills in the entry of a packet of a message, or of all of it. */
static void begin_account(
	struct book *k, struct book_entry *x, const struct book_message *m)
{
	x->account = (struct book_account){
		.budget = { .start = m->birth, .at = m->birth },
		.src = m->src,
		.number = m->number,
		.n_packets = m->n_packets,
		.kind = m->kind,
	};
	x->at = (struct book_place){ .what = "",
		.site = m->src,
		.number = BOOK_NO_NUMBER,
		.port = BOOK_NO_PORT,
		.channel = BOOK_NO_CHANNEL };
	x->way.start = m->birth;
	x->n_packets = m->n_packets;
	x->trail =
		m->is_followed ? book_begin_trail(&k->trails, m->birth) : NULL;
	if (x->trail)
		x->trail->number = ++k->n_trails;
	x->is_networks = m->is_networks;
}

void book_add(struct book *k, uint32_t packet, const struct book_message *m)
{
	begin_account(k, book_begin_entry(k, packet), m);
}

bool book_has(const struct book *k, uint32_t packet)
{
	return k->entry[packet].is_open;
}

sim_time book_at(const struct book *k, uint32_t packet)
{
	return k->entry[packet].account.budget.at;
}

bool book_is_networks(const struct book *k, uint32_t packet)
{
	return k->entry[packet].is_networks;
}

void book_add_step(struct book_way *w, const struct book_step *s)
{
	if (s->until == book_step_from(w, w->n))
		return;
	if (w->n == w->room) {
		w->room = 2 * w->room + 16;
		w->step = mem_grow(w->step, w->room, sizeof(*w->step));
	}
	w->step[w->n++] = *s;
}

void book_copy_way(struct book_way *to, const struct book_way *from)
{
	to->start = from->start;
	to->n = 0;
	for (uint32_t i = 0; i < from->n; i++)
		book_add_step(to, &from->step[i]);
}

/* A trail that goes on from where another one is. */
static struct book_trail *copy_trail(
	struct book_desk *d, const struct book_trail *of)
{
	struct book_trail *r;

	if (!of)
		return NULL;
	r = book_begin_trail(&d->trails, of->way.start);
	book_copy_way(&r->way, &of->way);
	return r;
}

/* A copy is received elsewhere than its message's other packets, and so may the
 * packet be: each counts as a message of its own, of the same name. */
void book_add_copy(
	struct book *k, uint32_t worker, uint32_t packet, uint32_t copy)
{
	struct book_entry *of = &k->entry[packet];
	struct book_entry *x = book_begin_entry(k, copy);

	of->n_packets = of->account.n_packets = 1;
	x->account = of->account;
	x->at = of->at;
	x->tokens = of->tokens;
	x->wait = of->wait;
	x->is_networks = of->is_networks;
	x->n_packets = x->account.n_packets = 1;
	x->trail = copy_trail(&k->desk[worker], of->trail);
	book_copy_way(&x->way, &of->way);
}

/* By itself, since few runs keep ways. */
static __attribute__((noinline)) void keep_step(
	struct book *k, struct book_entry *x, enum cause c, sim_time t)
{
	struct book_step s = { .until = t, .at = x->at, .cause = c };

	if (c == CAUSE_WIRE)
		memcpy(s.header, x->header, sizeof(s.header));
	if (k->how.n_slowest)
		book_add_step(&x->way, &s);
	if (x->trail)
		book_add_step(&x->trail->way, &s);
}

static inline void charge(
	struct book *k, struct book_entry *x, enum cause c, sim_time t)
{
	BUG_IF(!x->is_open);
	if (__builtin_expect(k->how.n_slowest || x->trail, 0))
		keep_step(k, x, c, t);
	budget_until(&x->account.budget, c, t);
}

void book_charge(struct book *k, uint32_t packet, enum cause c, sim_time t)
{
	charge(k, &k->entry[packet], c, t);
}

void book_set_wait(struct book *k, uint32_t packet, enum cause c, sim_time t)
{
	struct book_entry *x = &k->entry[packet];

	charge(k, x, x->wait, t);
	x->wait = (uint8_t)c;
}

void book_set_turn(struct book *k, uint32_t packet, sim_time free, sim_time t)
{
	struct book_entry *x = &k->entry[packet];
	enum cause c = x->wait;

	if (c == CAUSE_LINK || c == CAUSE_ARBITRATION) {
		if (free > x->account.budget.at)
			charge(k, x, CAUSE_LINK, free < t ? free : t);
		x->wait = CAUSE_ARBITRATION;
	}
	charge(k, x, x->wait, t);
}

void book_set_link(struct book *k, uint32_t packet, sim_time came,
	sim_time free, sim_time t)
{
	struct book_entry *x = &k->entry[packet];

	if (came > x->account.budget.at)
		charge(k, x, CAUSE_TOKENS, came);
	if (free > x->account.budget.at)
		charge(k, x, CAUSE_LINK, free < t ? free : t);
	x->wait = CAUSE_ARBITRATION;
	charge(k, x, CAUSE_ARBITRATION, t);
}

void book_set_arrival(struct book *k, uint32_t packet,
	const struct book_place *at, enum cause c, sim_time t)
{
	struct book_entry *x = &k->entry[packet];

	x->at = *at;
	x->header[0] = 0;
	charge(k, x, x->wait, t);
	x->wait = (uint8_t)c;
}

sim_time book_set_wire(struct book *k, uint32_t packet,
	const struct book_place *at, sim_time logic, sim_time wire)
{
	struct book_entry *x = &k->entry[packet];
	sim_time since = x->tokens;

	x->at = *at;
	charge(k, x, CAUSE_ROUTER, logic);
	charge(k, x, CAUSE_WIRE, wire);
	x->tokens = x->account.budget.spent[CAUSE_TOKENS];
	return x->tokens - since;
}

void book_set_place(
	struct book *k, uint32_t packet, const struct book_place *at)
{
	k->entry[packet].at = *at;
	k->entry[packet].header[0] = 0;
}

bool book_is_followed(const struct book *k, uint32_t packet)
{
	return k->entry[packet].trail;
}

void book_set_header(
	struct book *k, uint32_t packet, const uint8_t header[BOOK_HEADER])
{
	memcpy(k->entry[packet].header, header, BOOK_HEADER);
}

/* --- the end --- */

static sim_time whole(const struct budget *b)
{
	return b->at - b->start;
}

/* An order that does not depend on who asks: the longest, then the first. */
bool book_is_longer(const struct book_account *a, const struct book_account *b)
{
	if (whole(&a->budget) != whole(&b->budget))
		return whole(&a->budget) > whole(&b->budget);
	if (a->budget.start != b->budget.start)
		return a->budget.start < b->budget.start;
	if (a->src != b->src)
		return a->src < b->src;
	return a->number != b->number ? a->number < b->number : a->dst < b->dst;
}

/* Puts a message among the slowest, if it is one of these. */
static void keep_slow(
	struct book *k, struct book_desk *d, const struct book_entry *x)
{
	uint32_t most = k->how.n_slowest, i = d->n_slow;
	struct book_way way = { 0 };

	if (i == most && !book_is_longer(&x->account, &d->slow[i - 1].account))
		return;
	if (!d->slow)
		d->slow = mem_alloc(most, sizeof(*d->slow));
	if (i == most)
		way = d->slow[--i].way; /* whose room is used again */
	for (d->n_slow = i + 1;
		i && book_is_longer(&x->account, &d->slow[i - 1].account); i--)
		d->slow[i] = d->slow[i - 1];
	book_copy_way(&way, &x->way);
	d->slow[i] = (struct book_slow){ x->account, way };
}

static void count(
	struct book *k, struct book_desk *d, const struct book_entry *x)
{
	const struct book_account *a = &x->account;
	struct book_sums *s = &d->sums;
	struct book_class *class = &s->class[book_class(a)];
	sim_time sum = 0;

	for (uint32_t c = 0; c < N_CAUSES; c++) {
		sum += a->budget.spent[c];
		s->spent[c] += (uint64_t)a->budget.spent[c];
		class->spent[c] += (uint64_t)a->budget.spent[c];
	}
	class->n++;
	if (sum != whole(&a->budget))
		BUG("message %u of node %u: %lld ps were charged, but it took "
		    "%lld ps",
			a->number, a->src, (long long)sum,
			(long long)whole(&a->budget));
	if (!s->n || book_is_longer(a, &s->longest))
		s->longest = *a;
	s->n++;
	hist_add(&s->whole, sum);
	if (k->how.n_slowest)
		keep_slow(k, d, x);
	if (k->how.on_message)
		k->how.on_message(k->how.arg, a);
}

/* Of two that completed their message; of the same time the one that was at
 * the first node, on any number of workers. */
bool book_is_shown(const struct book_trail *a, const struct book_trail *b)
{
	if (!b || a->whole != b->whole)
		return !b || a->whole > b->whole;
	return a->dst < b->dst;
}

static void end_trail(
	struct book_desk *d, const struct book_entry *x, bool is_whole)
{
	struct book_trail *r = x->trail;

	r->is_over = true;
	r->is_done = is_whole;
	r->whole = whole(&x->account.budget);
	r->dst = x->account.dst;
	if (!is_whole)
		book_forget_way(&r->way);
	else if (book_is_shown(r, d->done))
		d->done = r;
}

/* A packet of a message of so many has come to its end, or was dropped: whether
 * that completes the message. */
static bool end_packet(
	struct index *x, uint64_t key, uint32_t n_packets, bool is_dropped)
{
	uint32_t left;

	if (n_packets == 1)
		return !is_dropped;
	left = index_find(x, key);
	if (!left)
		index_add(x, key, left = 2 * n_packets);
	left = (left - 2) | is_dropped;
	if (left > 1)
		index_set(x, key, left);
	else
		index_remove(x, key);
	return !left;
}

static void finish(struct book *k, uint32_t worker, uint32_t packet)
{
	struct book_entry *x = &k->entry[packet];
	struct book_desk *d = &k->desk[worker];
	bool is_whole = end_packet(&d->partials,
		(uint64_t)x->account.src << 32 | x->account.number,
		x->n_packets, x->is_dropped);

	x->account.dst = x->at.site;
	if (is_whole)
		count(k, d, x);
	if (x->trail)
		end_trail(d, x, is_whole);
	x->is_open = false;
}

void book_whole(struct book *k, uint32_t worker, const struct book_message *m,
	const struct book_place *at, enum cause c, sim_time t)
{
	struct book_desk *d = &k->desk[worker];
	struct book_entry x = { .is_open = true };

	begin_account(k, &x, m);
	x.at = *at;
	x.account.dst = at->site;
	charge(k, &x, c, t);
	count(k, d, &x);
	if (x.trail)
		end_trail(d, &x, true);
	book_forget_way(&x.way);
}

void book_end(struct book *k, uint32_t worker, uint32_t packet, sim_time t)
{
	struct book_entry *x = &k->entry[packet];

	/* what is not charged by now is nobody's */
	BUG_IF(!x->is_open || x->account.budget.at != t);
	finish(k, worker, packet);
}

void book_forget(struct book *k, uint32_t packet)
{
	BUG_IF(!k->entry[packet].is_open);
	k->entry[packet].is_open = false;
}

struct book_held book_hold(struct book *k, uint32_t worker, uint32_t packet)
{
	struct book_entry *x = &k->entry[packet];
	struct book_held h = { x->account, x->trail, NULL, x->n_packets };

	book_forget(k, packet);
	/* the room of its own is the next packet's */
	if (k->how.n_slowest) {
		h.way = book_begin_trail(&k->desk[worker].held, 0);
		book_copy_way(&h.way->way, &x->way);
	}
	return h;
}

void book_resume(struct book *k, uint32_t worker, uint32_t packet,
	const struct book_held *h)
{
	struct book_entry *x = book_begin_entry(k, packet);

	if (h->trail)
		h->trail->is_over = true;
	x->account = h->account;
	x->n_packets = h->n_packets;
	x->trail = copy_trail(&k->desk[worker], h->trail);
	if (h->way)
		book_copy_way(&x->way, &h->way->way);
}

void book_replace(struct book *k, uint32_t worker, uint32_t packet, uint32_t by)
{
	struct book_entry *x = &k->entry[packet], *y = &k->entry[by];
	struct book_held h = { x->account, x->trail, NULL, x->n_packets };
	struct book_way way;

	book_forget(k, packet);
	book_resume(k, worker, by, &h);
	way = y->way;
	y->way = x->way;
	x->way = way;
}

void book_cancel(struct book *k, uint32_t worker, uint32_t packet)
{
	BUG_IF(!k->entry[packet].is_open);
	k->entry[packet].is_dropped = true;
	finish(k, worker, packet);
}

void book_clear(struct book *k)
{
	for (uint32_t i = 0; k && i < k->n_workers; i++) {
		memset(&k->desk[i].sums, 0, sizeof(k->desk[i].sums));
		forget_slow(&k->desk[i]);
	}
}
