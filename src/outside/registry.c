#include "outside/registry.h"

#include <errno.h>
#include <pthread.h>

#include "base/mem.h"

struct registered {
	struct registered *next;
	struct region region;
	uint64_t key;
	sim_time began, ended; /* SIM_NEVER: it has not */
	uint32_t n_under_way; /* operations */
	sim_time last; /* end of one */
};

/* A rank's. */
struct owner {
	pthread_mutex_t lock;
	struct registered *first;
	uint64_t n_keys;
};

struct registry {
	uint32_t n_ranks;
	struct owner owner[];
};

struct registry *registry_new(uint32_t n_ranks)
{
	struct registry *r =
		mem_alloc(1, sizeof(*r) + n_ranks * sizeof(r->owner[0]));

	r->n_ranks = n_ranks;
	for (uint32_t i = 0; i < n_ranks; i++)
		pthread_mutex_init(&r->owner[i].lock, NULL);
	return r;
}

void registry_free(struct registry *r)
{
	for (uint32_t i = 0; r && i < r->n_ranks; i++) {
		while (registry_take_any(r, i) != UINT32_MAX)
			;
		pthread_mutex_destroy(&r->owner[i].lock);
	}
	mem_free(r);
}

/* --- the owner --- */

static struct owner *lock(struct registry *r, uint32_t rank)
{
	BUG_IF(rank >= r->n_ranks);
	pthread_mutex_lock(&r->owner[rank].lock);
	return &r->owner[rank];
}

static void unlock(struct owner *o)
{
	pthread_mutex_unlock(&o->lock);
}

/* That has not ended. */
static struct registered *find_own(struct owner *o, uint64_t key)
{
	struct registered *x = o->first;

	while (x && (x->key != key || x->ended != SIM_NEVER))
		x = x->next;
	return x;
}

int registry_add(struct registry *r, uint32_t rank, sim_time now,
	const struct region *region, bool is_wanted, uint64_t *key)
{
	struct owner *o = lock(r, rank);
	struct registered *x;

	if (!is_wanted)
		do
			*key = ++o->n_keys;
		while (find_own(o, *key));
	if (find_own(o, *key)) {
		unlock(o);
		return ENOKEY;
	}
	x = mem_alloc(1, sizeof(*x));
	*x = (struct registered){
		.next = o->first,
		.region = *region,
		.key = *key,
		.began = now,
		.ended = SIM_NEVER,
	};
	o->first = x;
	unlock(o);
	return 0;
}

bool registry_end(struct registry *r, uint32_t rank, sim_time now, uint64_t key)
{
	struct owner *o = lock(r, rank);
	struct registered *x = find_own(o, key);

	if (x)
		x->ended = now;
	unlock(o);
	return x;
}

/* Others may begin operations until a window after the end, and this is known a
 * window later; so are the ends of operations. */
static bool is_over(const struct registered *x, sim_time now, sim_time window)
{
	return x->ended != SIM_NEVER && now - 2 * window >= x->ended &&
	       !x->n_under_way && now - window >= x->last;
}

static uint32_t take_out(struct registered **link)
{
	struct registered *x = *link;
	uint32_t hold = x->region.hold;

	*link = x->next;
	mem_free(x);
	return hold;
}

uint32_t registry_take_ended(
	struct registry *r, uint32_t rank, sim_time now, sim_time window)
{
	struct owner *o = lock(r, rank);
	struct registered **link = &o->first;
	uint32_t hold = UINT32_MAX;

	while (*link && !is_over(*link, now, window))
		link = &(*link)->next;
	if (*link)
		hold = take_out(link);
	unlock(o);
	return hold;
}

uint32_t registry_take_any(struct registry *r, uint32_t rank)
{
	struct owner *o = lock(r, rank);
	uint32_t hold = o->first ? take_out(&o->first) : UINT32_MAX;

	unlock(o);
	return hold;
}

/* --- operations --- */

/* Whether it counts for a rank that sees changes after so much time. */
static bool counts(const struct registered *x, sim_time now, sim_time after)
{
	return now - after >= x->began &&
	       (x->ended == SIM_NEVER || now - after < x->ended);
}

static bool allows(const struct region *x, const struct registry_use *u)
{
	return u->at >= x->base && u->bytes <= x->bytes &&
	       u->at - x->base <= x->bytes - u->bytes &&
	       (x->rights & u->rights) == u->rights;
}

struct registered *registry_begin(struct registry *r, uint32_t by,
	uint32_t rank, sim_time now, sim_time window,
	const struct registry_use *u, struct region *x, uint64_t *at)
{
	struct owner *o = lock(r, rank);
	struct registered *found = o->first;
	sim_time after = by == rank ? 0 : window;

	while (found && (found->key != u->key || !counts(found, now, after)))
		found = found->next;
	if (found && allows(&found->region, u)) {
		found->n_under_way++;
		*x = found->region;
		*at = x->at + (u->at - x->base);
	} else {
		found = NULL;
	}
	unlock(o);
	return found;
}

void registry_done(
	struct registry *r, uint32_t rank, struct registered *x, sim_time now)
{
	struct owner *o = lock(r, rank);

	x->n_under_way--;
	x->last = now > x->last ? now : x->last;
	unlock(o);
}
