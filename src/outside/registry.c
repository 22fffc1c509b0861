#include "outside/registry.h"

#include <errno.h>
#include <pthread.h>

#include "base/mem.h"

struct registered {
	struct registered *next;
	struct region region;
	uint64_t key;
	uint64_t number; /* among all of its owner */
	sim_time began, ended; /* SIM_NEVER: it has not */
	uint32_t n_under_way; /* operations */
	sim_time last; /* end of one */
};

/* A rank's. */
struct owner {
	pthread_mutex_t lock;
	struct registered *first;
	uint64_t n_keys, n_added;
};

struct registry {
	struct sim *sim; /* of several processes, or NULL */
	uint32_t listener; /* of it */
	uint32_t each; /* ranks of a node */
	const site_id *node; /* [rank / each] */
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

/* --- several processes --- */

enum change {
	ADDED, /* this and the next two are told to all processes */
	ENDED,
	FORGOTTEN,
	BEGUN, /* and these to the owner's */
	DONE,
};

struct note {
	uint32_t change, rank; /* rank: the owner */
	uint64_t number, key;
	sim_time now;
	struct region region;
};

static site_id node_of(const struct registry *r, uint32_t rank)
{
	return r->node[rank / r->each];
}

/* By a rank of this process. */
static void tell(
	struct registry *r, uint32_t by, uint32_t process, const struct note *n)
{
	sim_note(sim_owner(r->sim, node_of(r, by)), process, r->listener, n,
		sizeof(*n));
}

static void tell_all(struct registry *r, enum change change, uint32_t rank,
	const struct registered *x, sim_time now)
{
	const struct note n = { .change = change,
		.rank = rank,
		.number = x->number,
		.key = x->key,
		.now = now,
		.region = x->region };
	uint32_t n_processes, me;

	if (!r->sim)
		return;
	me = sim_self(r->sim, &n_processes);
	for (uint32_t i = 0; i < n_processes; i++)
		if (i != me)
			tell(r, rank, i, &n);
}

static void tell_owner(struct registry *r, enum change change, uint32_t by,
	uint32_t rank, const struct registered *x, sim_time now)
{
	const struct note n = {
		.change = change, .rank = rank, .number = x->number, .now = now
	};

	if (r->sim && !sim_has(r->sim, node_of(r, rank)))
		tell(r, by, sim_process(r->sim, node_of(r, rank)), &n);
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

static struct registered *add(struct owner *o, const struct region *region,
	uint64_t key, sim_time now)
{
	struct registered *x = mem_alloc(1, sizeof(*x));

	*x = (struct registered){
		.next = o->first,
		.region = *region,
		.key = key,
		.began = now,
		.ended = SIM_NEVER,
	};
	o->first = x;
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
	x = add(o, region, *key, now);
	x->number = o->n_added++;
	tell_all(r, ADDED, rank, x, now);
	unlock(o);
	return 0;
}

bool registry_end(struct registry *r, uint32_t rank, sim_time now, uint64_t key)
{
	struct owner *o = lock(r, rank);
	struct registered *x = find_own(o, key);

	if (x) {
		x->ended = now;
		tell_all(r, ENDED, rank, x, now);
	}
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
	if (*link) {
		tell_all(r, FORGOTTEN, rank, *link, now);
		hold = take_out(link);
	}
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
		tell_owner(r, BEGUN, by, rank, found, now);
		*x = found->region;
		*at = x->at + (u->at - x->base);
	} else {
		found = NULL;
	}
	unlock(o);
	return found;
}

static void end_one(struct registered *x, sim_time now)
{
	x->n_under_way--;
	x->last = now > x->last ? now : x->last;
}

void registry_done(struct registry *r, uint32_t by, uint32_t rank,
	struct registered *x, sim_time now)
{
	struct owner *o = lock(r, rank);

	end_one(x, now);
	tell_owner(r, DONE, by, rank, x, now);
	unlock(o);
}

/* --- what other processes tell --- */

static void change(struct owner *o, const struct note *n)
{
	struct registered **link = &o->first, *x;

	while (*link && (*link)->number != n->number)
		link = &(*link)->next;
	x = *link;
	if (n->change == ADDED)
		add(o, &n->region, n->key, n->now)->number = n->number;
	else if (!x)
		return; /* an operation has outlived its owner */
	else if (n->change == ENDED)
		x->ended = n->now;
	else if (n->change == FORGOTTEN)
		take_out(link);
	else if (n->change == BEGUN)
		x->n_under_way++;
	else
		end_one(x, n->now);
}

static void hear(void *arg, const void *bytes, size_t size)
{
	const struct note *n = bytes;
	struct owner *o;

	BUG_IF(size != sizeof(*n));
	o = lock(arg, n->rank);
	change(o, n);
	unlock(o);
}

void registry_share(
	struct registry *r, struct sim *sim, const site_id *node, uint32_t each)
{
	r->node = node;
	r->each = each;
	r->sim = sim_is_shared(sim) ? sim : NULL;
	r->listener = sim_listen(sim, hear, r);
}
