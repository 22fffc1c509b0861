#include "record/calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "outside/proxy.h"
#include "record/ranks.h"
#include "record/tables.h"

enum { CALL_TEXT = 96 };

/* --- calls --- */

/* A call with its text, of any process. */
struct told {
	struct row_call row; /* id: its number of this process */
	char name[HOST_WHAT];
};

struct calls {
	struct db *db;
	const struct host *host;
	const struct host_log *log;
	const struct sim *sim;
	const struct proxy *const *rank; /* [process of the log], or NULL */
	struct told *told; /* not yet written, of this process */
	size_t n_told;
	int64_t id;
	struct err *e;
};

static void write_call(struct calls *c, struct row_call *row)
{
	row->id = c->id++;
	row_put_call(c->db, row, c->e);
}

/* Writes it, or keeps it for the process that does. */
static void add_call(struct calls *c, struct row_call *row)
{
	struct told *x;

	if (!sim_is_shared(c->sim)) {
		write_call(c, row);
		return;
	}
	c->told = mem_more(c->told, c->n_told, sizeof(*c->told));
	x = &c->told[c->n_told++];
	x->row = *row;
	x->row.id = (int64_t)c->n_told;
	snprintf(x->name, sizeof(x->name), "%s", row->name);
}

static int by_process(const void *a, const void *b)
{
	const struct row_call *x = &((const struct told *)a)->row;
	const struct row_call *y = &((const struct told *)b)->row;

	return 4 * order(x->node, y->node) + 2 * order(x->process, y->process) +
	       order(x->id, y->id);
}

/* Those of all processes, in the order of nodes and theirs. */
static void write_calls(struct calls *c)
{
	if (!sim_is_shared(c->sim))
		return;
	c->told = sim_gather(c->sim, c->told, &c->n_told, sizeof(*c->told));
	if (c->n_told)
		qsort(c->told, c->n_told, sizeof(*c->told), by_process);
	for (size_t i = 0; i < c->n_told; i++) {
		c->told[i].row.name = c->told[i].name;
		write_call(c, &c->told[i].row);
	}
	mem_free(c->told);
	c->told = NULL;
	c->n_told = 0;
}

static int64_t number_of(const struct proxy *rank)
{
	return rank ? rank->rank : ROW_NULL;
}

/* An argument that there is, as a number of MPI's: -1 is any. */
static int64_t argument(uint64_t v)
{
	return v == HOST_LOG_NONE ? ROW_NULL : (int32_t)v;
}

static void put_peer(struct row_call *row, const uint64_t args[HOST_CALL_ARGS])
{
	row->peer = argument(args[0]);
	row->tag = argument(args[1]);
	row->bytes = (int64_t)args[2];
}

/* The call of MPI that a rank is in. */
static void put_open_call(struct row_call *row, const struct proxy *p)
{
	const struct channel_call *c = &p->turn.call;
	bool has_peer = account_has_peer(c->name);

	row->name = account_call_name(c->name);
	row->from_ps = c->since;
	put_peer(row, (const uint64_t[]){ has_peer ? c->rank : HOST_LOG_NONE,
			      has_peer ? c->tag : HOST_LOG_NONE, c->bytes });
}

/* It never came back. */
static void put_waiting(void *arg, const struct host_waiting *w)
{
	struct calls *c = arg;
	struct host_waiting told = *w;
	const struct proxy *p =
		c->rank[w->node * c->log->n_processes + w->process];
	struct row_call row = { .node = w->node,
		.process = w->process,
		.thread = w->thread,
		.name = told.what,
		.from_ps = w->since,
		.to_ps = ROW_NULL,
		.rank = number_of(p),
		.peer = ROW_NULL,
		.tag = ROW_NULL,
		.bytes = ROW_NULL,
		.times = 1 };

	host_describe(c->host, &told);
	if (p)
		put_open_call(&row, p);
	add_call(c, &row);
}

static void put_call(struct calls *c, uint32_t i, const struct host_log_call *x)
{
	char text[CALL_TEXT];
	struct row_call row = {
		.node = i / c->log->n_processes,
		.process = i % c->log->n_processes,
		.thread = x->thread,
		.name = text,
		.from_ps = x->from,
		.to_ps = x->to == SIM_NEVER ? ROW_NULL : x->to,
		.rank = number_of(c->rank[i]),
		.peer = ROW_NULL,
		.tag = ROW_NULL,
		.bytes = ROW_NULL,
		.times = 1 + (int64_t)x->more,
	};

	host_call_text(x->text, x->args, text, sizeof(text));
	if (x->has_peer)
		put_peer(&row, x->args);
	add_call(c, &row);
}

static void put_calls(struct calls *c)
{
	const struct host_log *l = c->log;

	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t k = 0; k < l->process[i].n_calls; k++)
			put_call(c, i, &l->process[i].call[k]);
	write_calls(c);
	host_each_waiting(c->host, put_waiting, c);
	write_calls(c);
}

/* --- messages --- */

/* One end of a message. */
struct end {
	uint32_t from, to; /* processes */
	uint64_t tag;
	uint32_t n; /* the n-th of these */
	struct host_log_message is;
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
static struct end *find_ends(const struct calls *c, bool are_sent, size_t *n)
{
	const struct host_log *l = c->log;
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
				.is = *m,
			};
		}
	}
	all = sim_gather(c->sim, all, n, sizeof(*all));
	qsort(all, *n, sizeof(*all), in_order);
	return all;
}

static int64_t since(const struct end *x)
{
	return x && x->is.since ? x->is.since : ROW_NULL;
}

/* Either end may be missing, of those that were too many. */
static void put_transfer(const struct calls *c, const struct end *sent,
	const struct end *received)
{
	const struct host_log *l = c->log;
	const struct end *x = sent ? sent : received;
	struct row_transfer row = {
		.id = ROW_NULL,
		.from_node = x->from / l->n_processes,
		.from_process = x->from % l->n_processes,
		.to_node = x->to / l->n_processes,
		.to_process = x->to % l->n_processes,
		.tag = (int64_t)x->tag,
		.bytes = (int64_t)x->is.bytes,
		.sent_ps = sent ? sent->is.at : ROW_NULL,
		.received_ps = ROW_NULL,
		.from_rank = number_of(c->rank[x->from]),
		.to_rank = number_of(c->rank[x->to]),
		.posted_ps = since(sent),
		.expected_ps = since(received),
	};

	if (received && received->is.at != SIM_NEVER)
		row.received_ps = received->is.at;
	row_put_transfer(c->db, &row, c->e);
}

static void put_transfers(const struct calls *c)
{
	size_t n_sent, n_received, s = 0, r = 0;
	struct end *sent = find_ends(c, true, &n_sent);
	struct end *received = find_ends(c, false, &n_received);

	while (s < n_sent || r < n_received) {
		int order = s == n_sent	      ? 1
			    : r == n_received ? -1
					      : compare(&sent[s], &received[r]);

		put_transfer(c, order <= 0 ? &sent[s] : NULL,
			order >= 0 ? &received[r] : NULL);
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
	const struct proxy **rank;
	struct calls c;

	if (!l)
		return;
	rank = record_ranks_find(r, l);
	c = (struct calls){ .db = d,
		.host = h,
		.log = l,
		.sim = r->system->net->sim,
		.rank = rank,
		.e = e };
	load_tell_waiting(r->load);
	put_calls(&c);
	put_transfers(&c);
	mem_free(rank);
}
