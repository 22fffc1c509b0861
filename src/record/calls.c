#include "record/calls.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "record/tables.h"

enum { CALL_TEXT = 96 };

/* --- calls --- */

struct calls {
	struct db *db;
	const struct host *host;
	int64_t id;
	struct err *e;
};

/* It never came back. */
static void put_waiting(void *arg, const struct host_waiting *w)
{
	struct calls *c = arg;
	struct host_waiting told = *w;

	host_describe(c->host, &told);
	row_put_call(c->db,
		&(struct row_call){ .id = c->id++,
			.node = w->node,
			.process = w->process,
			.thread = w->thread,
			.name = told.what,
			.from_ps = w->since,
			.to_ps = ROW_NULL },
		c->e);
}

static void put_calls(const struct host_log *l, const struct host *h,
	struct db *d, struct err *e)
{
	struct calls c = { .db = d, .host = h, .e = e };
	char text[CALL_TEXT];

	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t k = 0; k < l->process[i].n_calls; k++) {
			const struct host_log_call *x = &l->process[i].call[k];
			struct row_call row = {
				.id = c.id++,
				.node = i / l->n_processes,
				.process = i % l->n_processes,
				.thread = x->thread,
				.name = text,
				.from_ps = x->from,
				.to_ps = x->to == SIM_NEVER ? ROW_NULL : x->to,
			};

			host_call_text(x->text, x->args, text, sizeof(text));
			row_put_call(d, &row, e);
		}
	host_each_waiting(h, put_waiting, &c);
}

/* --- messages --- */

/* One end of a message. */
struct end {
	uint32_t from, to; /* processes */
	uint64_t tag;
	uint32_t n; /* the n-th of these */
	const struct host_log_message *is;
};

static int compare(const struct end *a, const struct end *b)
{
	return 4 * order(a->from, b->from) + 2 * order(a->to, b->to) +
	       order((int64_t)a->tag, (int64_t)b->tag);
}

static int in_order(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return 2 * compare(x, y) + order(x->n, y->n);
}

/* All that were sent, or received, those of one kind beside each other. */
static struct end *find_ends(const struct host_log *l, bool are_sent, size_t *n)
{
	struct end *all = NULL;
	uint32_t i;

	for (i = 0, *n = 0; i < l->n; i++)
		*n += are_sent ? l->process[i].n_sent
			       : l->process[i].n_received;
	all = mem_alloc(*n + 1, sizeof(*all));
	for (i = 0, *n = 0; i < l->n; i++) {
		const struct host_log_process *p = &l->process[i];
		uint32_t many = are_sent ? p->n_sent : p->n_received;

		for (uint32_t k = 0; k < many; k++) {
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
static void put_transfer(struct db *d, const struct host_log *l,
	const struct end *sent, const struct end *received, struct err *e)
{
	const struct end *x = sent ? sent : received;
	struct row_transfer row = {
		.id = ROW_NULL,
		.from_node = x->from / l->n_processes,
		.from_process = x->from % l->n_processes,
		.to_node = x->to / l->n_processes,
		.to_process = x->to % l->n_processes,
		.tag = (int64_t)x->tag,
		.bytes = (int64_t)x->is->bytes,
		.sent_ps = sent ? sent->is->at : ROW_NULL,
		.received_ps = ROW_NULL,
	};

	if (received && received->is->at != SIM_NEVER)
		row.received_ps = received->is->at;
	row_put_transfer(d, &row, e);
}

static void put_transfers(const struct host_log *l, struct db *d, struct err *e)
{
	size_t n_sent, n_received, s = 0, r = 0;
	struct end *sent = find_ends(l, true, &n_sent);
	struct end *received = find_ends(l, false, &n_received);

	while (s < n_sent || r < n_received) {
		int order = s == n_sent	      ? 1
			    : r == n_received ? -1
					      : compare(&sent[s], &received[r]);

		put_transfer(d, l, order <= 0 ? &sent[s] : NULL,
			order >= 0 ? &received[r] : NULL, e);
		s += order <= 0;
		r += order >= 0;
	}
	mem_free(sent);
	mem_free(received);
}

void record_calls_write(
	const struct machine_run *r, struct db *d, struct err *e)
{
	const struct host *h = r->system->host;
	const struct host_log *l = h ? host_log(h) : NULL;

	if (!l)
		return;
	put_calls(l, h, d, e);
	put_transfers(l, d, e);
}
