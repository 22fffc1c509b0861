/*
 * Which messages are kept: those whose name, hashed, is smallest.  Which these
 * are depends on nothing but the messages that there were, whoever tells of
 * them and in whatever order.
 */
#include "record/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/tables.h"

static uint64_t rank(const struct book_account *a)
{
	return digest_mix((uint64_t)a->src << 32 | a->number);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = rank(a), y = rank(b);

	return x < y ? -1 : x > y;
}

/* Twice as many as are kept may come in before they are looked through. */
static void thin(struct record_messages *m)
{
	if (m->n <= RECORD_MESSAGES)
		return;
	qsort(m->account, m->n, sizeof(*m->account), compare);
	m->n = RECORD_MESSAGES;
	atomic_store(&m->below, rank(&m->account[m->n - 1]));
}

static void on_message(void *arg, const struct book_account *a)
{
	struct record_messages *m = arg;

	atomic_fetch_add_explicit(&m->ended, 1, memory_order_relaxed);
	if (rank(a) > atomic_load_explicit(&m->below, memory_order_relaxed))
		return;
	pthread_mutex_lock(&m->lock);
	if (m->n == 2 * RECORD_MESSAGES)
		thin(m);
	m->account[m->n++] = *a;
	pthread_mutex_unlock(&m->lock);
}

struct record_messages *record_messages_new(struct book_how *how)
{
	struct record_messages *m = mem_alloc(1, sizeof(*m));

	m->account = map_alloc(2 * RECORD_MESSAGES * sizeof(*m->account));
	atomic_init(&m->below, UINT64_MAX);
	pthread_mutex_init(&m->lock, NULL);
	how->n_slowest = RECORD_SLOWEST;
	how->on_message = on_message;
	how->arg = m;
	return m;
}

void record_messages_free(struct record_messages *m)
{
	if (!m)
		return;
	pthread_mutex_destroy(&m->lock);
	map_free(m->account, 2 * RECORD_MESSAGES * sizeof(*m->account));
	mem_free(m);
}

/* Those of all processes, in an order that depends on none. */
struct kept {
	struct book_account *account;
	size_t n;
};

static struct kept keep_all(struct record_messages *m, const struct sim *sim)
{
	struct kept k;

	thin(m);
	k.n = m->n;
	k.account = mem_alloc(k.n + 1, sizeof(*k.account));
	if (k.n)
		memcpy(k.account, m->account, k.n * sizeof(*k.account));
	k.account = sim_gather(sim, k.account, &k.n, sizeof(*k.account));
	if (k.n)
		qsort(k.account, k.n, sizeof(*k.account), compare);
	if (k.n > RECORD_MESSAGES)
		k.n = RECORD_MESSAGES;
	return k;
}

static void write_message(struct db *d, int64_t id,
	const struct book_account *a, bool is_sampled, struct err *e)
{
	char class[64];
	struct row_message row = {
		.id = id,
		.node = a->src,
		.number = a->number,
		.start_ps = a->budget.start,
		.end_ps = a->budget.at,
		.to_node = a->dst,
		.class = class,
		.packets = a->n_packets,
		.is_sampled = is_sampled,
	};
	struct row_spent spent = { .message = id };

	book_class_name(book_class(a), class, sizeof(class));
	row_put_message(d, &row, e);
	for (uint32_t c = 0; c < N_CAUSES; c++) {
		spent.cause = causes[c].key;
		spent.ps = a->budget.spent[c];
		if (spent.ps)
			row_put_spent(d, &spent, e);
	}
}

/* --- the slowest --- */

static void write_hop(struct db *d, const struct record_links *k, size_t id,
	const struct book_way *w, uint32_t i, struct err *e)
{
	const struct book_step *s = &w->step[i];
	bool is_known = s->at.what != NULL; /* where it was */
	struct row_hop row = {
		.message = (int64_t)id,
		.n = i,
		.from_ps = book_step_from(w, i),
		.to_ps = s->until,
		.cause = causes[s->cause].key,
		.site = s->at.site,
		.what = is_known ? s->at.what : "",
		.number = ROW_NULL,
		.link = ROW_NULL,
	};

	if (is_known && s->at.number != BOOK_NO_NUMBER)
		row.number = s->at.number;
	if (is_known && s->at.port != BOOK_NO_PORT)
		row.link = record_link_at(k, s->at.site, s->at.port);
	if (is_known && s->at.channel != BOOK_NO_CHANNEL)
		row.channel = net_router(k->net, s->at.site)
				      ->ops->channels[s->at.channel];
	row_put_hop(d, &row, e);
}

/* Its place among those that are kept, or their number. */
static size_t find(const struct kept *m, const struct book_account *a)
{
	size_t i = 0;

	while (i < m->n && (m->account[i].src != a->src ||
				   m->account[i].number != a->number ||
				   m->account[i].dst != a->dst ||
				   m->account[i].budget.at != a->budget.at))
		i++;
	return i;
}

static void write_slowest(struct db *d, const struct kept *m,
	const struct record_links *links, struct err *e)
{
	uint32_t many;
	struct book_slow *slow = book_slowest(links->net->book, &many);

	for (uint32_t i = 0; i < many; i++) {
		size_t id = find(m, &slow[i].account);

		if (id == m->n) {
			id += i;
			write_message(
				d, (int64_t)id, &slow[i].account, false, e);
		}
		for (uint32_t k = 0; k < slow[i].way.n; k++)
			write_hop(d, links, id, &slow[i].way, k, e);
	}
	mem_free(slow);
}

/* --- all --- */

void record_messages_write(struct record_messages *m,
	const struct record_links *links, struct db *d, struct err *e)
{
	struct kept k = keep_all(m, links->net->sim);

	for (size_t i = 0; i < k.n; i++)
		write_message(d, (int64_t)i, &k.account[i], true, e);
	write_slowest(d, &k, links, e);
	mem_free(k.account);
}

uint64_t record_messages_ended(
	const struct record_messages *m, const struct sim *sim)
{
	uint64_t n = m->ended;

	sim_sum(sim, &n, 1);
	return n;
}

void record_classes_write(
	const struct book_class *class, struct db *d, struct err *e)
{
	char name[64];

	for (uint32_t i = 0; i < BOOK_CLASSES; i++) {
		book_class_name(i, name, sizeof(name));
		for (uint32_t c = 0; c < N_CAUSES; c++)
			if (class[i].spent[c])
				row_put_budget(d,
					&(struct row_budget){ .class = name,
						.messages =
							(int64_t) class[i].n,
						.cause = causes[c].key,
						.ps = (int64_t) class[i]
							      .spent[c] },
					e);
	}
}
