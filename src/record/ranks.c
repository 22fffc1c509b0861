#include "record/ranks.h"

#include "base/mem.h"
#include "host/log.h"
#include "load/jobs.h"
#include "outside/proxy.h"
#include "record/tables.h"

/* --- the ranks of a run --- */

/* A load whose programs may be ranks. */
struct group {
	const char *job; /* or NULL */
	const struct proxy *proxy;
	uint32_t n;
};

/* The load itself, or one of its jobs; false if there are fewer. */
static bool find_group(const struct machine_run *r, uint32_t i, struct group *g)
{
	const struct jobs *j = jobs_of(r->load);
	const struct load *l = r->load;

	if (i >= (j ? j->n : 1))
		return false;
	if (j)
		l = j->part[i].load;
	*g = (struct group){ .job = j ? j->part[i].name : NULL };
	if (l->ops->ranks)
		g->proxy = l->ops->ranks(l, &g->n);
	return true;
}

const struct proxy **record_ranks_find(
	const struct machine_run *r, const struct host_log *l)
{
	const struct proxy **found = mem_alloc(l->n, sizeof(*found));
	struct group g;

	for (uint32_t i = 0; find_group(r, i, &g); i++)
		for (uint32_t k = 0; k < g.n; k++) {
			const struct proxy *p = &g.proxy[k];

			found[p->node * l->n_processes + p->process] = p;
		}
	return found;
}

/* --- rows --- */

static void put_rank(struct db *d, int64_t id, const char *job,
	const struct proxy *p, struct err *e)
{
	const struct account *a = &p->account;

	row_put_rank(d,
		&(struct row_rank){ .id = id,
			.job = job,
			.rank = p->rank,
			.node = p->node,
			.process = p->process,
			.from_ps = a->began,
			.to_ps = p->ended,
			.computing_ps = a->spent[ACCOUNT_COMPUTING],
			.own_ps = a->spent[ACCOUNT_OWN],
			.calls_ps = a->spent[ACCOUNT_CALLS],
			.tests_ps = a->spent[ACCOUNT_TESTS],
			.messages_ps = a->spent[ACCOUNT_MESSAGES],
			.collectives_ps = a->spent[ACCOUNT_COLLECTIVES],
			.crossings = (int64_t)p->crossings,
			.operations = (int64_t)a->operations,
			.messages = (int64_t)(a->n_short + a->n_long),
			.bytes = (int64_t)a->bytes },
		e);
}

static void put_pairs(
	struct db *d, const char *job, const struct proxy *p, struct err *e)
{
	const struct account *a = &p->account;

	for (uint32_t i = 0; i < a->n_pairs; i++) {
		const struct account_pair *x = &a->pair[i];

		if (!x->messages && !x->waited)
			continue;
		row_put_pair(d,
			&(struct row_pair){ .job = job,
				.rank = p->rank,
				.peer = x->rank,
				.messages = (int64_t)x->messages,
				.bytes = (int64_t)x->bytes,
				.waited_ps = x->waited },
			e);
	}
}

static void put_called(
	struct db *d, const char *job, const struct proxy *p, struct err *e)
{
	const struct account *a = &p->account;

	for (uint32_t i = 0; i < a->n_calls; i++) {
		const struct account_call *c = &a->call[i];

		if (!c->times && !c->spent)
			continue;
		row_put_called(d,
			&(struct row_called){ .job = job,
				.rank = p->rank,
				.name = account_call_name(c->number),
				.calls = (int64_t)c->times,
				.ps = c->spent },
			e);
	}
}

void record_ranks_write(
	const struct machine_run *r, struct db *d, struct err *e)
{
	int64_t id = 0;
	struct group g;

	for (uint32_t i = 0; find_group(r, i, &g); i++)
		for (uint32_t k = 0; k < g.n; k++) {
			put_rank(d, id++, g.job, &g.proxy[k], e);
			put_pairs(d, g.job, &g.proxy[k], e);
			put_called(d, g.job, &g.proxy[k], e);
		}
}
