/*
 * What a packet takes to another process: its entry, with the way so far where
 * ways are kept.  Names of parts are texts there, since addresses mean nothing
 * outside a process.
 */
#include <string.h>

#include "base/mem.h"
#include "meas/budget_inside.h"
#include "meas/trips.h"
#include "sim/cluster.h"

/* --- words --- */

struct book_words *book_words_new(void)
{
	struct book_words *w = mem_alloc(1, sizeof(*w));

	pthread_mutex_init(&w->lock, NULL);
	return w;
}

void book_words_free(struct book_words *w)
{
	while (w->n)
		mem_free(w->word[--w->n]);
	mem_free(w->word);
	pthread_mutex_destroy(&w->lock);
	mem_free(w);
}

/* There are few of them. */
static const char *find_word(struct book_words *w, const char *text, size_t n)
{
	const char *found;
	uint32_t i = 0;

	pthread_mutex_lock(&w->lock);
	while (i < w->n && (strncmp(w->word[i], text, n) || w->word[i][n]))
		i++;
	if (i == w->n) {
		w->word = mem_more(w->word, w->n, sizeof(*w->word));
		w->word[w->n] = mem_alloc(n + 1, 1);
		memcpy(w->word[w->n++], text, n);
	}
	found = w->word[i];
	pthread_mutex_unlock(&w->lock);
	return found;
}

/* --- pieces --- */

static void put(struct cluster_bytes *to, const void *from, size_t n)
{
	if (n)
		memcpy(cluster_add(to, n), from, n);
}

static const char *get(const char *from, void *to, size_t n)
{
	memcpy(to, from, n);
	return from + n;
}

/* The word follows. */
static void put_place(struct cluster_bytes *to, const struct book_place *at)
{
	uint32_t n = at->what ? (uint32_t)strlen(at->what) : UINT32_MAX;

	put(to, at, sizeof(*at));
	put(to, &n, sizeof(n));
	if (at->what)
		put(to, at->what, n);
}

static const char *get_place(
	const struct book *k, const char *from, struct book_place *at)
{
	uint32_t n;

	from = get(from, at, sizeof(*at));
	from = get(from, &n, sizeof(n));
	at->what = NULL;
	if (n == UINT32_MAX)
		return from;
	at->what = find_word(k->words, from, n);
	return from + n;
}

void book_pack_way(struct cluster_bytes *to, const struct book_way *w)
{
	put(to, &w->start, sizeof(w->start));
	put(to, &w->n, sizeof(w->n));
	for (uint32_t i = 0; i < w->n; i++) {
		put(to, &w->step[i], sizeof(w->step[i]));
		put_place(to, &w->step[i].at);
	}
}

const char *book_unpack_way(
	const struct book *k, const char *from, struct book_way *w)
{
	struct book_step s;
	uint32_t n;

	from = get(from, &w->start, sizeof(w->start));
	from = get(from, &n, sizeof(n));
	w->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		from = get(from, &s, sizeof(s));
		from = get_place(k, from, &s.at);
		book_add_step(w, &s);
	}
	return from;
}

/* --- packets --- */

static struct book_trail *take_trail(
	struct book *k, uint32_t worker, uint32_t number)
{
	struct book_desk *d = &k->desk[worker];
	struct book_trail *r =
		book_begin_trail(number ? &d->came : &d->trails, 0);

	r->number = number;
	return r;
}

void book_pack(struct book *k, uint32_t packet, struct cluster_bytes *to)
{
	struct book_entry *x = &k->entry[packet];

	put(to, x, sizeof(*x));
	if (!x->is_open)
		return;
	put_place(to, &x->at);
	if (k->how.n_slowest)
		book_pack_way(to, &x->way);
	if (x->trail) {
		put(to, &x->trail->number, sizeof(x->trail->number));
		book_pack_way(to, &x->trail->way);
		x->trail->is_over = true;
		book_forget_way(&x->trail->way);
	}
	x->is_open = false;
}

const char *book_unpack(
	struct book *k, uint32_t worker, uint32_t packet, const char *from)
{
	struct book_entry is, *x;
	uint32_t number;

	from = get(from, &is, sizeof(is));
	if (!is.is_open)
		return from;
	x = book_begin_entry(k, packet);
	is.way = x->way;
	*x = is;
	from = get_place(k, from, &x->at);
	if (k->how.n_slowest)
		from = book_unpack_way(k, from, &x->way);
	if (x->trail) {
		from = get(from, &number, sizeof(number));
		x->trail = take_trail(k, worker, number);
		from = book_unpack_way(k, from, &x->trail->way);
	}
	return from;
}

void book_share(struct book *k, struct sim *sim)
{
	k->sim = sim;
	trips_share(k->trips, sim);
}
