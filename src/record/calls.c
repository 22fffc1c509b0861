#include "record/calls.h"

#include <stdlib.h>

#include "base/mem.h"

enum { CALL_TEXT = 96 };

/* --- calls --- */

struct calls {
	struct db_query *q;
	const struct host *host;
	int64_t id;
	struct err *e;
};

static void put_call(struct calls *c, uint32_t node, uint32_t process,
	uint32_t thread, const char *text, sim_time from, sim_time to)
{
	db_bind_int(c->q, 1, c->id++);
	db_bind_int(c->q, 2, node);
	db_bind_int(c->q, 3, process);
	db_bind_int(c->q, 4, thread);
	db_bind_text(c->q, 5, text);
	db_bind_int(c->q, 6, from);
	db_bind_int_if(c->q, 7, to != SIM_NEVER, to);
	if (!c->e->code)
		db_run(c->q, c->e);
}

/* It never came back. */
static void put_waiting(void *arg, const struct host_waiting *w)
{
	const struct calls *c = arg;
	struct host_waiting told = *w;

	host_describe(c->host, &told);
	put_call(arg, w->node, w->process, w->thread, told.what, w->since,
		SIM_NEVER);
}

static int put_calls(const struct host_log *l, const struct host *h,
	struct db *d, struct err *e)
{
	struct calls c = { .host = h, .e = e };
	char text[CALL_TEXT];
	uint32_t i, k;

	c.q = db_prepare(d, "INSERT INTO call VALUES(?, ?, ?, ?, ?, ?, ?)", e);
	for (i = 0; c.q && i < l->n; i++)
		for (k = 0; k < l->process[i].n_calls && !e->code; k++) {
			const struct host_log_call *x = &l->process[i].call[k];

			host_call_text(x->text, x->args, text, sizeof(text));
			put_call(&c, i / l->n_processes, i % l->n_processes,
				x->thread, text, x->from, x->to);
		}
	if (c.q)
		host_each_waiting(h, put_waiting, &c);
	db_finish(c.q);
	return e->code ? -1 : 0;
}

/* --- messages --- */

/* One end of a message. */
struct end {
	uint32_t from, to; /* processes */
	uint32_t tag, n; /* the n-th of these */
	const struct host_log_message *is;
};

static int compare(const struct end *a, const struct end *b)
{
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int in_order(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	int order = compare(x, y);

	return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* All that were sent, or received, those of one kind beside each other. */
static struct end *find_ends(const struct host_log *l, bool are_sent, size_t *n)
{
	struct end *all = NULL;
	uint32_t i, k;

	for (i = 0, *n = 0; i < l->n; i++)
		*n += are_sent ? l->process[i].n_sent
			       : l->process[i].n_received;
	all = mem_alloc(*n + 1, sizeof(*all));
	for (i = 0, *n = 0; i < l->n; i++) {
		const struct host_log_process *p = &l->process[i];
		uint32_t many = are_sent ? p->n_sent : p->n_received;

		for (k = 0; k < many; k++) {
			const struct host_log_message *m =
				are_sent ? &p->sent[k] : &p->received[k];
			uint32_t far = m->node * l->n_processes + m->process;

			all[(*n)++] = (struct end){
				.from = are_sent ? i : far,
				.to = are_sent ? far : i,
				.tag = m->tag,
				.n = k,
				.is = m,
			};
		}
	}
	qsort(all, *n, sizeof(*all), in_order);
	return all;
}

/* Either end may be missing, of those that were too many. */
static int put_transfer(struct db_query *q, const struct host_log *l,
	const struct end *sent, const struct end *received, struct err *e)
{
	const struct end *x = sent ? sent : received;

	db_bind_int(q, 1, x->from / l->n_processes);
	db_bind_int(q, 2, x->from % l->n_processes);
	db_bind_int(q, 3, x->to / l->n_processes);
	db_bind_int(q, 4, x->to % l->n_processes);
	db_bind_int(q, 5, x->tag);
	db_bind_int(q, 6, (int64_t)x->is->bytes);
	db_bind_int_if(q, 7, sent, sent ? sent->is->at : 0);
	db_bind_int_if(q, 8, received && received->is->at != SIM_NEVER,
		received ? received->is->at : 0);
	return db_run(q, e);
}

static int put_transfers(const struct host_log *l, struct db *d, struct err *e)
{
	size_t n_sent, n_received, s = 0, r = 0;
	struct end *sent = find_ends(l, true, &n_sent);
	struct end *received = find_ends(l, false, &n_received);
	struct db_query *q = db_prepare(d,
		"INSERT INTO transfer VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?)", e);
	int failed = !q;

	while (!failed && (s < n_sent || r < n_received)) {
		int order = s == n_sent	      ? 1
			    : r == n_received ? -1
					      : compare(&sent[s], &received[r]);

		failed = put_transfer(q, l, order <= 0 ? &sent[s] : NULL,
			order >= 0 ? &received[r] : NULL, e);
		s += order <= 0;
		r += order >= 0;
	}
	db_finish(q);
	mem_free(sent);
	mem_free(received);
	return failed ? -1 : 0;
}

int record_calls_write(const struct machine_run *r, struct db *d, struct err *e)
{
	const struct host *h = r->system->host;
	const struct host_log *l = h ? host_log(h) : NULL;

	return l && (put_calls(l, h, d, e) || put_transfers(l, d, e)) ? -1 : 0;
}
