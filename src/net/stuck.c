/*
 * What links hold for ever, and what they report of themselves: found while
 * nothing runs, of all processes, in the order of links.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "net/send.h"

static void add_stuck(
	const struct net *n, uint32_t link, sim_time since, struct net_stuck *x)
{
	struct topo_end at = topo_link_end(&n->links, link);

	x->site = at.router;
	x->port = at.port;
	x->since = since;
}

static bool is_any_stuck(const struct net *n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n->n_workers; i++)
		sum += n->tally[i].stuck;
	sim_sum(n->sim, &sum, 1);
	return sum;
}

/* Links that hold packets, the first of them in the order of links. */
struct stuck {
	struct stuck_link {
		uint64_t order;
		struct net_stuck is;
	} * list;
	size_t n_listed, most;
	uint64_t n;
};

/* The next one; NULL: only its number counts. */
static struct net_stuck *next_stuck(struct stuck *s, uint32_t link)
{
	struct stuck_link *x;

	if (s->n++ >= s->most)
		return NULL;
	x = &s->list[s->n_listed++];
	x->order = (uint64_t)link << 32 | s->n_listed;
	return &x->is;
}

static void find_stuck(const struct net *n, sim_time since, struct stuck *s)
{
	struct net_stuck *x;

	for (uint32_t i = 0; n->retry && i < n->links.n; i++) {
		const struct link_retry *q = &n->retry[i];

		if (q->held && q->since <= since) {
			x = next_stuck(s, i);
			if (x) {
				add_stuck(n, i, q->since, x);
				memcpy(x->what, q->held, strlen(q->held) + 1);
			}
		}
		if (q->short_since && q->short_since <= since) {
			x = next_stuck(s, i);
			if (x) {
				add_stuck(n, i, q->short_since, x);
				snprintf(x->what, sizeof(x->what),
					"a barrier packet");
			}
		}
	}
}

static int by_order(const void *a, const void *b)
{
	const struct stuck_link *x = a, *y = b;

	return order((int64_t)x->order, (int64_t)y->order);
}

uint64_t net_stuck(const struct net *n, sim_time since, struct net_stuck *list,
	uint32_t most)
{
	struct stuck s = { .most = most };

	if (!is_any_stuck(n))
		return 0;
	s.list = mem_alloc(most + 1, sizeof(*s.list));
	find_stuck(n, since, &s);
	s.list = sim_gather(n->sim, s.list, &s.n_listed, sizeof(*s.list));
	sim_sum(n->sim, &s.n, 1);
	qsort(s.list, s.n_listed, sizeof(*s.list), by_order);
	for (uint32_t i = 0; i < most && i < s.n_listed; i++)
		list[i] = s.list[i].is;
	mem_free(s.list);
	return s.n;
}

uint64_t net_escaped(const struct net *n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; n->faults && i < n->topo->n_wires; i++)
		sum += faults_total(n->faults, i).escaped;
	return sum;
}

static int by_link(const void *a, const void *b)
{
	const struct ras_event *x = a, *y = b;

	return 2 * order(x->site, y->site) + order(x->port, y->port);
}

/* Links whose two ends have different sums; they belong to their senders, and
 * are in the order of links. */
static struct ras_event *find_sums(const struct net *n, size_t *n_found)
{
	struct ras_event *v = mem_alloc(1, sizeof(*v));
	sim_time end = sim_last_time(n->sim);

	*n_found = 0;
	for (uint32_t i = 0; n->retry && i < n->links.n; i++) {
		const struct link_retry *q = &n->retry[i];
		struct topo_end at = topo_link_end(&n->links, i);

		if (!checks_differ(&q->sums, q->good))
			continue;
		v = mem_grow(v, *n_found + 1, sizeof(*v));
		v[(*n_found)++] = (struct ras_event){
			.at = end,
			.site = at.router,
			.port = at.port,
			.what = RAS_SUMS,
			.number = q->escaped,
		};
	}
	v = sim_gather(n->sim, v, n_found, sizeof(*v));
	if (*n_found)
		qsort(v, *n_found, sizeof(*v), by_link);
	return v;
}

struct ras_event *net_ras(const struct net *n, size_t *n_events)
{
	struct ras_event *v = faults_events(n->faults, n_events), *sums;
	size_t more;

	sums = find_sums(n, &more);
	v = mem_grow(v, *n_events + more + 1, sizeof(*v));
	if (more)
		memcpy(v + *n_events, sums, more * sizeof(*v));
	*n_events += more;
	mem_free(sums);
	return v;
}

/* --- what clients keep --- */

uint32_t net_kept(const struct net *n, site_id s, uint32_t fifo, uint32_t *by)
{
	const struct net_client *c = net_client(n, s);
	const struct router *r = net_router(n, s);
	uint32_t kept;

	if (!c->ops.look->n_kept || s >= n->n_nodes)
		return 0;
	kept = c->ops.look->n_kept(c, s, fifo, by);
	if (r->ops->channel_by)
		*by = r->ops->channel_by(r, *by);
	return kept;
}
