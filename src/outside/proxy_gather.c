/* What each of several processes knows of its ranks, told to all. */
#include <string.h>

#include "base/mem.h"
#include "outside/proxy.h"
#include "sim/cluster.h"

/* Of a rank: this, then pairs and calls of its account. */
struct record {
	uint32_t rank;
	uint32_t reasons;
	sim_time ended;
	uint64_t crossings, turns_ns, cpu_ns;
	struct account account; /* without what it points to */
	char library[CHANNEL_LIBRARY];
};

static void put(struct cluster_bytes *to, const void *from, size_t n)
{
	if (n)
		memcpy(cluster_add(to, n), from, n);
}

static const char *get(const char *from, void *to, size_t n)
{
	if (n)
		memcpy(to, from, n);
	return from + n;
}

static void pack(struct cluster_bytes *to, const struct proxy *p)
{
	const struct account *a = &p->account;
	struct record r = {
		.rank = p->rank,
		.reasons = p->reasons,
		.ended = p->ended,
		.crossings = p->crossings,
		.turns_ns = p->turns_ns,
		.cpu_ns = p->cpu_ns,
		.account = *a,
	};

	memcpy(r.library, p->library, sizeof(r.library));
	put(to, &r, sizeof(r));
	put(to, a->pair, a->n_pairs * sizeof(*a->pair));
	put(to, a->call, a->n_calls * sizeof(*a->call));
}

static const char *skip(const char *from, const struct record *r)
{
	return from + r->account.n_pairs * sizeof(*r->account.pair) +
	       r->account.n_calls * sizeof(*r->account.call);
}

static const char *unpack(
	struct proxy *p, const char *from, const struct record *r)
{
	struct account *a = &p->account;

	p->reasons = r->reasons;
	p->ended = r->ended;
	p->crossings = r->crossings;
	p->turns_ns = r->turns_ns;
	p->cpu_ns = r->cpu_ns;
	memcpy(p->library, r->library, sizeof(p->library));
	account_free(a);
	*a = r->account;
	a->pair = mem_alloc(a->n_pairs + 1, sizeof(*a->pair));
	a->call = mem_alloc(a->n_calls + 1, sizeof(*a->call));
	from = get(from, a->pair, a->n_pairs * sizeof(*a->pair));
	return get(from, a->call, a->n_calls * sizeof(*a->call));
}

void proxy_gather(struct proxy *p, uint32_t n, const struct sim *sim)
{
	struct cluster_bytes own = { 0 };
	const char *at, *end;
	struct record r;
	char *all;

	if (!sim_is_shared(sim))
		return;
	for (uint32_t i = 0; i < n; i++)
		if (sim_has(sim, p[i].node))
			pack(&own, &p[i]);
	all = sim_gather(sim, own.at, &own.n, 1);
	for (at = all, end = all + own.n; at < end;) {
		at = get(at, &r, sizeof(r));
		BUG_IF(r.rank >= n);
		at = sim_has(sim, p[r.rank].node) ? skip(at, &r)
						  : unpack(&p[r.rank], at, &r);
	}
	mem_free(all);
}
