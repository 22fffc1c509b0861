/* What a book says at the end, of all processes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "meas/budget_inside.h"
#include "sim/cluster.h"

static void add_classes(struct book_class *to, const struct book_class *from)
{
	for (uint32_t i = 0; i < BOOK_CLASSES; i++) {
		to[i].n += from[i].n;
		for (uint32_t c = 0; c < N_CAUSES; c++)
			to[i].spent[c] += from[i].spent[c];
	}
}

static bool is_shared(const struct book *k)
{
	return k->sim && sim_is_shared(k->sim);
}

/* Of several processes. */
static void share_sums(const struct sim *sim, struct book_sums *s)
{
	size_t n = s->n ? 1 : 0;
	struct book_account *all = mem_alloc(1, sizeof(*all));

	*all = s->longest;
	all = sim_gather(sim, all, &n, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		if (!i || book_is_longer(&all[i], &s->longest))
			s->longest = all[i];
	mem_free(all);
	sim_sum(sim, &s->n, 1);
	sim_sum(sim, s->spent, N_CAUSES);
	sim_sum(sim, &s->class[0].n,
		BOOK_CLASSES * (sizeof(*s->class) / sizeof(uint64_t)));
	hist_share(sim, &s->whole);
}

void book_sum(const struct book *k, struct book_sums *s)
{
	memset(s, 0, sizeof(*s));
	for (uint32_t i = 0; i < k->n_workers; i++) {
		const struct book_sums *d = &k->desk[i].sums;

		if (!d->n)
			continue;
		if (!s->n || book_is_longer(&d->longest, &s->longest))
			s->longest = d->longest;
		s->n += d->n;
		for (uint32_t c = 0; c < N_CAUSES; c++)
			s->spent[c] += d->spent[c];
		add_classes(s->class, d->class);
		hist_merge(&s->whole, &d->whole);
	}
	if (is_shared(k))
		share_sums(k->sim, s);
}

static int compare_slow(const void *a, const void *b)
{
	const struct book_slow *x = a, *y = b;

	return book_is_longer(&y->account, &x->account) -
	       book_is_longer(&x->account, &y->account);
}

/* A way that lasts as long as the book. */
static const char *keep_way(
	const struct book *k, const char *from, struct book_way *w)
{
	struct book_trail *r = book_begin_trail(&k->desk[0].held, 0);

	from = book_unpack_way(k, from, &r->way);
	*w = r->way;
	return from;
}

static struct book_slow *share_slow(
	const struct book *k, struct book_slow *own, uint32_t *n)
{
	struct cluster_bytes b = { 0 };
	struct book_slow *all = NULL;
	size_t size = sizeof(own->account);
	const char *at, *end;

	for (uint32_t i = 0; i < *n; i++) {
		memcpy(cluster_add(&b, size), &own[i].account, size);
		book_pack_way(&b, &own[i].way);
	}
	mem_free(own);
	b.at = sim_gather(k->sim, b.at, &b.n, 1);
	*n = 0;
	for (at = b.at, end = at + b.n; at < end; (*n)++) {
		all = mem_grow(all, *n + 1, sizeof(*all));
		memcpy(&all[*n].account, at, size);
		at = keep_way(k, at + size, &all[*n].way);
	}
	mem_free(b.at);
	return all;
}

struct book_slow *book_slowest(const struct book *k, uint32_t *n)
{
	struct book_slow *all = NULL;

	*n = 0;
	for (uint32_t i = 0; i < k->n_workers; i++) {
		const struct book_desk *d = &k->desk[i];

		if (!d->n_slow)
			continue;
		all = mem_grow(all, *n + d->n_slow, sizeof(*all));
		memcpy(all + *n, d->slow, d->n_slow * sizeof(*all));
		*n += d->n_slow;
	}
	if (is_shared(k))
		all = share_slow(k, all, n);
	if (all)
		qsort(all, *n, sizeof(*all), compare_slow);
	if (*n > k->how.n_slowest)
		*n = k->how.n_slowest;
	return all;
}

static const struct book_trail *first_under_way(const struct book_trail *r)
{
	while (r && r->is_over)
		r = r->next;
	return r;
}

/* Of two under way: one that has taken another's place was cut after that; of
 * others the last one. */
static bool is_later(const struct book_trail *a, const struct book_trail *b)
{
	return !b || (b->number && (!a->number || a->number > b->number));
}

/* Of those that are over, or under way, the one to show. */
static bool is_better(const struct book_trail *a, const struct book_trail *b)
{
	if (b && a->is_done != b->is_done)
		return a->is_done;
	return a->is_done ? book_is_shown(a, b) : is_later(a, b);
}

static const struct book_trail *last_under_way(
	const struct book_trail *r, const struct book_trail *than)
{
	for (; r; r = r->next)
		if (!r->is_over && is_later(r, than))
			than = r;
	return than;
}

/* Each process tells its own; all keep that of another. */
static const struct book_trail *share_trail(
	const struct book *k, const struct book_trail *own)
{
	struct cluster_bytes b = { 0 };
	struct book_trail *all = NULL, **keep = &k->desk[0].held;
	const struct book_trail *best = NULL;
	const char *at, *end;

	if (own) {
		memcpy(cluster_add(&b, sizeof(*own)), own, sizeof(*own));
		book_pack_way(&b, &own->way);
	}
	b.at = sim_gather(k->sim, b.at, &b.n, 1);
	for (at = b.at, end = at + b.n; at < end;) {
		struct book_trail *next;

		all = book_begin_trail(keep, 0);
		next = all->next;
		memcpy(all, at, sizeof(*all));
		all->next = next;
		all->way = (struct book_way){ 0 };
		at = book_unpack_way(k, at + sizeof(*all), &all->way);
		if (is_better(all, best))
			best = all;
	}
	mem_free(b.at);
	return best;
}

const struct book_trail *book_followed(const struct book *k)
{
	const struct book_trail *done = NULL, *r = NULL;

	for (uint32_t i = 0; i < k->n_workers; i++) {
		const struct book_desk *d = &k->desk[i];

		if (d->done && book_is_shown(d->done, done))
			done = d->done;
		r = r ? r : first_under_way(d->trails);
	}
	for (uint32_t i = 0; i < k->n_workers; i++)
		r = last_under_way(k->desk[i].came, r);
	r = last_under_way(k->trails, r);
	r = done ? done : r;
	return is_shared(k) ? share_trail(k, r) : r;
}

uint32_t book_n_sent(const struct book *k, uint32_t node)
{
	uint32_t n = k->sent[node];

	if (k->sim)
		sim_tell(k->sim, node, &n, sizeof(n));
	return n;
}

uint64_t book_memory(const struct book *k)
{
	return (uint64_t)k->top * sizeof(*k->entry);
}
