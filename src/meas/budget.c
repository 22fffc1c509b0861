#define _GNU_SOURCE
#include "meas/budget.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "meas/digest.h"

const char *const cause_names[N_CAUSES] = {
	[CAUSE_SOFTWARE] = "software",
	[CAUSE_DESCRIPTOR] = "descriptor fetch",
	[CAUSE_MEMORY_READ] = "memory read",
	[CAUSE_ENGINE] = "engine busy",
	[CAUSE_PACKET] = "packetisation",
	[CAUSE_QUEUE] = "queue",
	[CAUSE_TOKENS] = "token wait",
	[CAUSE_ARBITRATION] = "arbitration",
	[CAUSE_SERIALISATION] = "serialisation",
	[CAUSE_WIRE] = "wire",
	[CAUSE_ROUTER] = "router",
	[CAUSE_RETRY] = "retry",
	[CAUSE_QUIESCE] = "quiesce",
	[CAUSE_TRANSLATION] = "translation",
	[CAUSE_PEERS] = "peers",
	[CAUSE_RECEIVER] = "receiver full",
	[CAUSE_MEMORY_WRITE] = "memory write",
	[CAUSE_COMPLETION] = "completion",
};

const char *const cause_keys[N_CAUSES] = {
	[CAUSE_SOFTWARE] = "software",
	[CAUSE_DESCRIPTOR] = "descriptor",
	[CAUSE_MEMORY_READ] = "memory_read",
	[CAUSE_ENGINE] = "engine",
	[CAUSE_PACKET] = "packet",
	[CAUSE_QUEUE] = "queue",
	[CAUSE_TOKENS] = "tokens",
	[CAUSE_ARBITRATION] = "arbitration",
	[CAUSE_SERIALISATION] = "serialisation",
	[CAUSE_WIRE] = "wire",
	[CAUSE_ROUTER] = "router",
	[CAUSE_RETRY] = "retry",
	[CAUSE_QUIESCE] = "quiesce",
	[CAUSE_TRANSLATION] = "translation",
	[CAUSE_PEERS] = "peers",
	[CAUSE_RECEIVER] = "receiver",
	[CAUSE_MEMORY_WRITE] = "memory_write",
	[CAUSE_COMPLETION] = "completion",
};

/* Of a packet. */
struct entry {
	struct book_account account;
	struct book_trail *trail; /* NULL: not followed */
	uint32_t n_packets; /* of its message */
	uint8_t wait; /* an enum cause */
	bool is_open, is_dropped, is_networks;
};

const size_t book_packet_bytes = sizeof(struct entry);

/* A message some of whose packets have come; those of one packet never get
 * here. */
struct partial {
	uint64_t key;
	uint32_t left; /* 0: nothing is in this place */
	bool is_broken; /* a packet of it was dropped */
};

/* Per worker. */
struct desk {
	_Alignas(CACHE_LINE) struct book_sums sums;
	struct partial *partial; /* open addressing; a power of two */
	uint32_t n, room;
	uint32_t top; /* above all packets that it has seen */
	/* Of copies and packets that took another's place, the last first. */
	struct book_trail *trails;
	struct book_trail *done; /* the longest that completed its message */
};

struct book {
	struct book_how how;
	struct entry *entry; /* [packet] */
	uint32_t *sent; /* [node] messages */
	struct desk *desk; /* [worker] */
	uint32_t n_workers, n_nodes, most;
	/* Of the followed message's packets, the last one first.  Only its
	 * sender's worker adds to the list. */
	struct book_trail *trails;
};

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
	k->desk = map_alloc(n_workers * sizeof(*k->desk));
	return k;
}

static void forget_steps(struct book_trail *r)
{
	uint32_t i;

	for (i = 0; i < r->n; i++)
		mem_free(r->step[i].what);
	mem_free(r->step);
	r->step = NULL;
	r->n = r->room = 0;
}

static void free_trails(struct book_trail *r)
{
	struct book_trail *next;

	for (; r; r = next) {
		next = r->next;
		forget_steps(r);
		mem_free(r->note);
		mem_free(r);
	}
}

void book_free(struct book *k)
{
	uint32_t i;

	if (!k)
		return;
	free_trails(k->trails);
	for (i = 0; i < k->n_workers; i++) {
		free_trails(k->desk[i].trails);
		mem_free(k->desk[i].partial);
	}
	map_free(k->entry, (size_t)k->most * sizeof(*k->entry));
	map_free(k->sent, k->n_nodes * sizeof(*k->sent));
	map_free(k->desk, k->n_workers * sizeof(*k->desk));
	mem_free(k);
}

/* --- packets --- */

struct book_message book_begin(
	struct book *k, uint32_t src, uint32_t n_packets, sim_time birth)
{
	uint32_t number = k->sent[src]++;

	return (struct book_message){
		.birth = birth,
		.src = src,
		.number = number,
		.n_packets = n_packets,
		.is_followed = k->how.follows && src == k->how.node &&
			       number == k->how.number,
	};
}

static struct book_trail *begin_trail(
	struct book_trail **trails, const char *note)
{
	struct book_trail *r = mem_alloc(1, sizeof(*r));

	r->note = mem_text(note);
	r->next = *trails;
	*trails = r;
	return r;
}

void book_add(struct book *k, uint32_t packet, const struct book_message *m)
{
	struct entry *x = &k->entry[packet];

	BUG_IF(x->is_open || packet >= k->most);
	*x = (struct entry){
		.account = { .budget = { .start = m->birth, .at = m->birth },
			.src = m->src,
			.number = m->number },
		.n_packets = m->n_packets,
		.wait = CAUSE_QUEUE,
		.trail = m->is_followed ? begin_trail(&k->trails, "") : NULL,
		.is_open = true,
		.is_networks = m->is_networks,
	};
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

static void add_step(struct book_trail *r, sim_time from, sim_time until,
	enum cause c, const char *what)
{
	if (from == until)
		return;
	if (r->n == r->room) {
		r->room = 2 * r->room + 16;
		r->step = mem_grow(r->step, r->room, sizeof(*r->step));
	}
	r->step[r->n++] = (struct book_step){
		.from = from,
		.until = until,
		.cause = c,
		.what = mem_text(what),
	};
}

/* A trail that goes on from where another one is. */
static struct book_trail *copy_trail(
	struct desk *d, const struct book_trail *of)
{
	struct book_trail *r;
	uint32_t i;

	if (!of)
		return NULL;
	r = begin_trail(&d->trails, of->note);
	for (i = 0; i < of->n; i++)
		add_step(r, of->step[i].from, of->step[i].until,
			of->step[i].cause, of->step[i].what);
	return r;
}

/* A copy is received elsewhere than its message's other packets: it counts
 * as a message of its own, of the same name. */
void book_add_copy(
	struct book *k, uint32_t worker, uint32_t packet, uint32_t copy)
{
	struct entry *x = &k->entry[copy];

	BUG_IF(x->is_open);
	*x = k->entry[packet];
	x->n_packets = 1;
	x->trail = copy_trail(&k->desk[worker], x->trail);
}

void book_charge(struct book *k, uint32_t packet, enum cause c, sim_time t)
{
	struct entry *x = &k->entry[packet];

	BUG_IF(!x->is_open);
	if (__builtin_expect(x->trail != NULL, 0))
		add_step(x->trail, x->account.budget.at, t, c, x->trail->note);
	budget_until(&x->account.budget, c, t);
}

void book_set_wait(struct book *k, uint32_t packet, enum cause c, sim_time t)
{
	struct entry *x = &k->entry[packet];

	book_charge(k, packet, x->wait, t);
	x->wait = (uint8_t)c;
}

bool book_is_followed(const struct book *k, uint32_t packet)
{
	return k->entry[packet].trail != NULL;
}

void book_set_note(struct book *k, uint32_t packet, const char *format, ...)
{
	struct book_trail *r = k->entry[packet].trail;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mem_free(r->note);
	r->note = mem_text(text);
}

/* --- messages of several packets --- */

/* The place of a key, or the empty one where it belongs. */
static uint32_t find(const struct desk *d, uint64_t key)
{
	uint32_t i = (uint32_t)digest_mix(key) & (d->room - 1);

	while (d->partial[i].left && d->partial[i].key != key)
		i = (i + 1) & (d->room - 1);
	return i;
}

static void make_room(struct desk *d)
{
	struct desk old = { .partial = d->partial, .room = d->room };
	uint32_t i;

	if (2 * d->n < d->room)
		return;
	d->room = d->room ? 2 * d->room : 64;
	d->partial = mem_alloc(d->room, sizeof(*d->partial));
	for (i = 0; i < old.room; i++)
		if (old.partial[i].left)
			d->partial[find(d, old.partial[i].key)] =
				old.partial[i];
	mem_free(old.partial);
}

/* Empties a place; what was pushed on past it moves up. */
static void take_out(struct desk *d, uint32_t i)
{
	uint32_t last = d->room - 1;

	d->n--;
	d->partial[i].left = 0;
	for (i = (i + 1) & last; d->partial[i].left; i = (i + 1) & last) {
		struct partial p = d->partial[i];

		d->partial[i].left = 0;
		d->partial[find(d, p.key)] = p;
	}
}

/* A packet of a message has come to its end: whether that completes it. */
static bool completes(struct desk *d, const struct entry *x)
{
	uint64_t key = (uint64_t)x->account.src << 32 | x->account.number;
	struct partial *p;
	bool is_whole;

	if (x->n_packets == 1)
		return !x->is_dropped;
	make_room(d);
	p = &d->partial[find(d, key)];
	if (!p->left) {
		*p = (struct partial){ .key = key, .left = x->n_packets };
		d->n++;
	}
	p->is_broken |= x->is_dropped;
	is_whole = p->left == 1 && !p->is_broken;
	if (p->left == 1)
		take_out(d, (uint32_t)(p - d->partial));
	else
		p->left--;
	return is_whole;
}

/* --- the end --- */

static sim_time whole(const struct budget *b)
{
	return b->at - b->start;
}

/* An order that does not depend on who asks: the longest, then the first. */
static bool is_longer(
	const struct book_account *a, const struct book_account *b)
{
	if (whole(&a->budget) != whole(&b->budget))
		return whole(&a->budget) > whole(&b->budget);
	if (a->budget.start != b->budget.start)
		return a->budget.start < b->budget.start;
	return a->src != b->src ? a->src < b->src : a->number < b->number;
}

static void count(struct book *k, struct desk *d, const struct entry *x)
{
	const struct book_account *a = &x->account;
	struct book_sums *s = &d->sums;
	sim_time sum = 0;
	uint32_t c;

	for (c = 0; c < N_CAUSES; c++) {
		sum += a->budget.spent[c];
		s->spent[c] += (uint64_t)a->budget.spent[c];
	}
	if (sum != whole(&a->budget))
		BUG("message %u of node %u: %lld ps were charged, but it took "
		    "%lld ps",
			a->number, a->src, (long long)sum,
			(long long)whole(&a->budget));
	if (!s->n || is_longer(a, &s->longest))
		s->longest = *a;
	s->n++;
	hist_add(&s->whole, sum);
	if (k->how.on_message)
		k->how.on_message(k->how.arg, a);
}

/* Of two that completed their message; of the same time the one that was at
 * the node whose name comes first, on any number of workers. */
static bool is_shown(const struct book_trail *a, const struct book_trail *b)
{
	if (!b || a->whole != b->whole)
		return !b || a->whole > b->whole;
	return strcmp(a->note, b->note) < 0;
}

static void end_trail(struct desk *d, const struct entry *x, bool is_whole)
{
	struct book_trail *r = x->trail;

	r->is_over = true;
	r->is_done = is_whole;
	r->whole = whole(&x->account.budget);
	if (!is_whole)
		forget_steps(r);
	else if (is_shown(r, d->done))
		d->done = r;
}

static void finish(struct book *k, uint32_t worker, uint32_t packet)
{
	struct entry *x = &k->entry[packet];
	struct desk *d = &k->desk[worker];
	bool is_whole = completes(d, x);

	if (packet >= d->top)
		d->top = packet + 1;
	if (is_whole)
		count(k, d, x);
	if (x->trail)
		end_trail(d, x, is_whole);
	x->is_open = false;
}

void book_end(struct book *k, uint32_t worker, uint32_t packet, sim_time t)
{
	struct entry *x = &k->entry[packet];

	/* what is not charged by now is nobody's */
	BUG_IF(!x->is_open || x->account.budget.at != t);
	finish(k, worker, packet);
}

struct book_held book_hold(struct book *k, uint32_t worker, uint32_t packet)
{
	struct entry *x = &k->entry[packet];
	struct desk *d = &k->desk[worker];

	BUG_IF(!x->is_open);
	if (packet >= d->top)
		d->top = packet + 1;
	x->is_open = false;
	return (struct book_held){ x->account, x->trail, x->n_packets };
}

void book_resume(struct book *k, uint32_t worker, uint32_t packet,
	const struct book_held *h)
{
	struct entry *x = &k->entry[packet];

	BUG_IF(x->is_open);
	if (h->trail)
		h->trail->is_over = true;
	*x = (struct entry){
		.account = h->account,
		.n_packets = h->n_packets,
		.wait = CAUSE_QUEUE,
		.trail = copy_trail(&k->desk[worker], h->trail),
		.is_open = true,
	};
}

void book_cancel(struct book *k, uint32_t worker, uint32_t packet)
{
	BUG_IF(!k->entry[packet].is_open);
	k->entry[packet].is_dropped = true;
	finish(k, worker, packet);
}

/* --- telling --- */

void book_sum(const struct book *k, struct book_sums *s)
{
	uint32_t i, c;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < k->n_workers; i++) {
		const struct book_sums *d = &k->desk[i].sums;

		if (!d->n)
			continue;
		if (!s->n || is_longer(&d->longest, &s->longest))
			s->longest = d->longest;
		s->n += d->n;
		for (c = 0; c < N_CAUSES; c++)
			s->spent[c] += d->spent[c];
		hist_merge(&s->whole, &d->whole);
	}
}

void book_clear(struct book *k)
{
	uint32_t i;

	for (i = 0; k && i < k->n_workers; i++)
		memset(&k->desk[i].sums, 0, sizeof(k->desk[i].sums));
}

static const struct book_trail *first_under_way(const struct book_trail *r)
{
	while (r && r->is_over)
		r = r->next;
	return r;
}

const struct book_trail *book_followed(const struct book *k)
{
	const struct book_trail *done = NULL, *r = NULL;
	uint32_t i;

	for (i = 0; i < k->n_workers; i++) {
		const struct desk *d = &k->desk[i];

		if (d->done && is_shown(d->done, done))
			done = d->done;
		/* what has taken another's place was cut after that */
		r = r ? r : first_under_way(d->trails);
	}
	if (done)
		return done;
	return r ? r : first_under_way(k->trails);
}

uint32_t book_n_sent(const struct book *k, uint32_t node)
{
	return k->sent[node];
}

uint64_t book_memory(const struct book *k)
{
	uint32_t i, top = 0;

	for (i = 0; i < k->n_workers; i++)
		top = k->desk[i].top > top ? k->desk[i].top : top;
	return (uint64_t)top * sizeof(*k->entry);
}
