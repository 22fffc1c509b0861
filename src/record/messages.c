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
	int64_t id, const struct book_account *a, struct err *e)
{
	db_bind_int(message, 1, id);
	db_bind_int(message, 2, a->src);
	db_bind_int(message, 3, a->number);
	db_bind_int(message, 4, a->budget.start);
	db_bind_int(message, 5, a->budget.at);
	return db_run(message, e) || write_spent(spent, id, &a->budget, e);
}

int record_messages_write(
	struct record_messages *m, struct db *db, struct err *e)
{
	struct db_query *message, *spent = NULL;
	int failed = 1;
	size_t i;

	message =
		db_prepare(db, "INSERT INTO message VALUES(?, ?, ?, ?, ?)", e);
	if (message)
		spent = db_prepare(db, "INSERT INTO spent VALUES(?, ?, ?)", e);
	if (spent) {
		thin(m);
		failed = 0;
		for (i = 0; i < m->n && !failed; i++)
			failed = write_message(
				message, spent, (int64_t)i, &m->account[i], e);
	}
	db_finish(message);
	db_finish(spent);
	return failed ? -1 : 0;
}
