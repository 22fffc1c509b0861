/*
 * Which messages are kept: those whose name, hashed, is smallest.  Which these
 * are depends on nothing but the messages that there were, whoever tells of
 * them and in whatever order.
 */
#include "record/messages.h"

#include <stdlib.h>

#include "base/mem.h"

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

static int write_spent(
	struct db_query *q, int64_t id, const struct budget *b, struct err *e)
{
	uint32_t c;

	for (c = 0; c < N_CAUSES; c++) {
		if (!b->spent[c])
			continue;
		db_bind_int(q, 1, id);
		db_bind_text(q, 2, cause_keys[c]);
		db_bind_int(q, 3, b->spent[c]);
		if (db_run(q, e))
			return -1;
	}
	return 0;
}

static int write_message(struct db_query *message, struct db_query *spent,
	int64_t id, const struct book_account *a, bool is_sampled,
	struct err *e)
{
	char class[64];

	book_class_name(book_class(a), class, sizeof(class));
	db_bind_int(message, 1, id);
	db_bind_int(message, 2, a->src);
	db_bind_int(message, 3, a->number);
	db_bind_int(message, 4, a->budget.start);
	db_bind_int(message, 5, a->budget.at);
	db_bind_int(message, 6, a->dst);
	db_bind_text(message, 7, class);
	db_bind_int(message, 8, a->n_packets);
	db_bind_int(message, 9, is_sampled);
	return db_run(message, e) || write_spent(spent, id, &a->budget, e);
}

/* --- the slowest --- */

static int write_hop(struct db_query *q, const struct record_links *k,
	const struct book_way *w, uint32_t i, struct err *e)
{
	const struct book_step *s = &w->step[i];
	bool is_known = s->at.what != NULL; /* where it was */
	bool has_port = is_known && s->at.port != BOOK_NO_PORT;

	db_bind_int(q, 2, i);
	db_bind_int(q, 3, book_step_from(w, i));
	db_bind_int(q, 4, s->until);
	db_bind_text(q, 5, cause_keys[s->cause]);
	db_bind_int(q, 6, s->at.site);
	db_bind_text(q, 7, is_known ? s->at.what : "");
	db_bind_int_if(
		q, 8, is_known && s->at.number != BOOK_NO_NUMBER, s->at.number);
	db_bind_int_if(q, 9, has_port,
		has_port ? record_link_at(k, s->at.site, s->at.port) : 0);
	db_bind_text(q, 10,
		is_known && s->at.channel != BOOK_NO_CHANNEL
			? net_router(k->net, s->at.site)
				  ->ops->channels[s->at.channel]
			: NULL);
	return db_run(q, e);
}

/* Its place among those that are kept, or their number. */
static size_t find(
	const struct record_messages *m, const struct book_account *a)
{
	size_t i = 0;

	while (i < m->n && (m->account[i].src != a->src ||
				   m->account[i].number != a->number ||
				   m->account[i].dst != a->dst ||
				   m->account[i].budget.at != a->budget.at))
		i++;
	return i;
}

static int write_slowest(const struct record_messages *m,
	const struct record_links *links, struct db_query *message,
	struct db_query *spent, struct db_query *hop, struct err *e)
{
	uint32_t many, i, k;
	struct book_slow *slow = book_slowest(links->net->book, &many);
	int failed = 0;

	for (i = 0; i < many && !failed; i++) {
		size_t id = find(m, &slow[i].account);

		if (id == m->n) {
			id += i;
			failed = write_message(message, spent, (int64_t)id,
				&slow[i].account, false, e);
		}
		db_bind_int(hop, 1, (int64_t)id);
		for (k = 0; k < slow[i].way.n && !failed; k++)
			failed = write_hop(hop, links, &slow[i].way, k, e);
	}
	mem_free(slow);
	return failed;
}

/* --- all --- */

int record_messages_write(struct record_messages *m,
	const struct record_links *links, struct db *db, struct err *e)
{
	struct db_query *message, *spent = NULL, *hop = NULL;
	int failed = 1;
	size_t i;

	message = db_prepare(
		db, "INSERT INTO message VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", e);
	if (message)
		spent = db_prepare(db, "INSERT INTO spent VALUES(?, ?, ?)", e);
	if (spent)
		hop = db_prepare(db,
			"INSERT INTO hop VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			e);
	if (hop) {
		thin(m);
		failed = 0;
		for (i = 0; i < m->n && !failed; i++)
			failed = write_message(message, spent, (int64_t)i,
				&m->account[i], true, e);
		if (!failed)
			failed =
				write_slowest(m, links, message, spent, hop, e);
	}
	db_finish(message);
	db_finish(spent);
	db_finish(hop);
	return failed ? -1 : 0;
}

static int write_class(struct db_query *q, uint32_t class,
	const struct book_class *s, struct err *e)
{
	char name[64];
	uint32_t c;

	book_class_name(class, name, sizeof(name));
	for (c = 0; c < N_CAUSES; c++) {
		if (!s->spent[c])
			continue;
		db_bind_text(q, 1, name);
		db_bind_int(q, 2, (int64_t)s->n);
		db_bind_text(q, 3, cause_keys[c]);
		db_bind_int(q, 4, (int64_t)s->spent[c]);
		if (db_run(q, e))
			return -1;
	}
	return 0;
}

int record_classes_write(
	const struct book_class *class, struct db *db, struct err *e)
{
	struct db_query *q =
		db_prepare(db, "INSERT INTO budget VALUES(?, ?, ?, ?)", e);
	int failed = !q;
	uint32_t i;

	for (i = 0; i < BOOK_CLASSES && !failed; i++)
		failed = write_class(q, i, &class[i], e);
	db_finish(q);
	return failed ? -1 : 0;
}
