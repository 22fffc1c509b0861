#include "meas/trips.h"

#include <pthread.h>

#include "base/mem.h"

enum { LOCKS = 64 };

struct trips {
	struct trip **first; /* [node] in the order of their sends */
	uint32_t n_nodes;
	struct sim *sim; /* of several processes, or NULL */
	uint32_t listener; /* of it */
	pthread_mutex_t lock[LOCKS]; /* of nodes that have this rest */
};

const struct trip_part trip_parts[TRIP_BORDERS] = {
	[TRIP_READY] = { "library", "trip_library_ns", "library" },
	[TRIP_SLOTS] = { "slots", "trip_slots_ns", "no room yet" },
	[TRIP_CAME] = { "legs", "trip_legs_ns", "network" },
	[TRIP_POSTED] = { "unposted", "trip_unposted_ns", "no receive yet" },
	[TRIP_TAKEN] = { "look", "trip_look_ns", "until a look" },
	[TRIP_MATCHED] = { "matching", "trip_matching_ns", "matching" },
	[TRIP_HERE] = { "data", "trip_data_ns", "data" },
	[TRIP_ENDED] = { "end", "trip_end_ns", "end of receive" },
};

struct trips *trips_new(uint32_t n_nodes)
{
	struct trips *s = mem_alloc(1, sizeof(*s));

	s->n_nodes = n_nodes;
	s->first = map_alloc(n_nodes * sizeof(*s->first));
	for (uint32_t i = 0; i < LOCKS; i++)
		pthread_mutex_init(&s->lock[i], NULL);
	return s;
}

void trips_free(struct trips *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		while (s->first[i])
			trips_end(s, i, s->first[i], NULL);
	for (uint32_t i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&s->lock[i]);
	map_free(s->first, s->n_nodes * sizeof(*s->first));
	mem_free(s);
}

static pthread_mutex_t *lock_of(struct trips *s, uint32_t node)
{
	return &s->lock[node % LOCKS];
}

/* What processes tell each other. */
struct trips_note {
	uint32_t node;
	uint32_t is_cancelled;
	struct trip trip;
};

static bool is_foreign(const struct trips *s, uint32_t node)
{
	return s->sim && !sim_has(s->sim, node);
}

static void tell(struct trips *s, uint32_t src, uint32_t node,
	const struct trips_note *n)
{
	sim_note(sim_owner(s->sim, src), sim_process(s->sim, node), s->listener,
		n, sizeof(*n));
}

static struct trip *append(struct trips *s, uint32_t node, const struct trip *t)
{
	struct trip *x = mem_alloc(1, sizeof(*x)), **link = &s->first[node];

	*x = *t;
	x->next = NULL;
	pthread_mutex_lock(lock_of(s, node));
	while (*link)
		link = &(*link)->next;
	*link = x;
	pthread_mutex_unlock(lock_of(s, node));
	return x;
}

struct trip *trips_begin(
	struct trips *s, uint32_t src, uint32_t node, const struct trip *t)
{
	if (!is_foreign(s, node))
		return append(s, node, t);
	tell(s, src, node, &(struct trips_note){ .node = node, .trip = *t });
	return NULL;
}

typedef bool accepts(const struct trip *t, const struct trip *wanted);

/* The first one for a rank that is wanted. */
static struct trip *find(struct trips *s, uint32_t node, accepts *is_wanted,
	const struct trip *wanted)
{
	struct trip *t;

	pthread_mutex_lock(lock_of(s, node));
	for (t = s->first[node]; t; t = t->next)
		if (t->to == wanted->to && is_wanted(t, wanted))
			break;
	pthread_mutex_unlock(lock_of(s, node));
	return t;
}

static bool misses(const struct trip *t, const struct trip *wanted)
{
	return t->from == wanted->from && t->missing;
}

void trips_arrive(struct trips *s, uint32_t node, uint32_t to, uint32_t from,
	sim_time now)
{
	struct trip *t =
		find(s, node, misses, &(struct trip){ .from = from, .to = to });

	if (t && !--t->missing)
		t->at[TRIP_CAME] = now;
}

static sim_time later(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

void trips_match(struct trip *t, sim_time called, sim_time now)
{
	if (t->missing)
		t->at[TRIP_CAME] = t->at[TRIP_TAKEN];
	t->missing = 0;
	t->at[TRIP_POSTED] = later(t->at[TRIP_CAME], called);
	t->at[TRIP_TAKEN] = later(t->at[TRIP_TAKEN], t->at[TRIP_POSTED]);
	t->at[TRIP_MATCHED] = now;
}

static bool is_next(const struct trip *t, const struct trip *wanted)
{
	return t->from == wanted->from && !t->is_taken;
}

struct trip *trips_next(
	struct trips *s, uint32_t node, uint32_t to, uint32_t from)
{
	return find(s, node, is_next, &(struct trip){ .from = from, .to = to });
}

static bool has_number(const struct trip *t, const struct trip *wanted)
{
	return t->from == wanted->from && t->is_taken && !t->receive &&
	       t->number == wanted->number;
}

struct trip *trips_numbered(struct trips *s, uint32_t node, uint32_t to,
	uint32_t from, uint32_t number)
{
	return find(s, node, has_number,
		&(struct trip){ .from = from, .to = to, .number = number });
}

static bool has_receive(const struct trip *t, const struct trip *wanted)
{
	return t->receive == wanted->receive;
}

struct trip *trips_received(
	struct trips *s, uint32_t node, uint32_t to, uint32_t receive)
{
	return find(s, node, has_receive,
		&(struct trip){ .to = to, .receive = receive });
}

static void take_out(struct trips *s, uint32_t node, const struct trip *t)
{
	struct trip **link = &s->first[node];

	pthread_mutex_lock(lock_of(s, node));
	while (*link != t)
		link = &(*link)->next;
	*link = t->next;
	pthread_mutex_unlock(lock_of(s, node));
}

void trips_end(
	struct trips *s, uint32_t node, struct trip *t, struct trip_sums *sums)
{
	take_out(s, node, t);
	if (sums && t->is_counted) {
		sim_time whole = t->at[TRIP_ENDED] - t->at[TRIP_CALLED];

		sums->n++;
		for (uint32_t b = 0; b < TRIP_BORDERS; b++)
			sums->at[b] += t->at[b];
		if (whole > sums->longest)
			sums->longest = whole;
	}
	mem_free(t);
}

void trips_gather(struct trip_sums *s, const struct sim *sim)
{
	uint64_t x[1 + TRIP_BORDERS] = { s->n }, longest = (uint64_t)s->longest;

	for (uint32_t b = 0; b < TRIP_BORDERS; b++)
		x[1 + b] = (uint64_t)s->at[b];
	sim_sum(sim, x, 1 + TRIP_BORDERS);
	sim_max(sim, &longest, 1);
	s->n = x[0];
	for (uint32_t b = 0; b < TRIP_BORDERS; b++)
		s->at[b] = (sim_time)x[1 + b];
	s->longest = (sim_time)longest;
}

static void drop_last(
	struct trips *s, uint32_t node, uint32_t from, uint32_t to)
{
	struct trip *last = NULL;

	pthread_mutex_lock(lock_of(s, node));
	for (struct trip *t = s->first[node]; t; t = t->next)
		if (t->from == from && t->to == to)
			last = t;
	pthread_mutex_unlock(lock_of(s, node));
	if (last)
		trips_end(s, node, last, NULL);
}

void trips_cancel(struct trips *s, uint32_t src, uint32_t node, uint32_t from,
	uint32_t to)
{
	const struct trips_note n = { .node = node,
		.is_cancelled = true,
		.trip = { .from = from, .to = to } };

	if (is_foreign(s, node))
		tell(s, src, node, &n);
	else
		drop_last(s, node, from, to);
}

static void hear(void *arg, const void *bytes, size_t size)
{
	const struct trips_note *n = bytes;
	struct trips *s = arg;

	BUG_IF(size != sizeof(*n) || n->node >= s->n_nodes);
	if (n->is_cancelled)
		drop_last(s, n->node, n->trip.from, n->trip.to);
	else
		append(s, n->node, &n->trip);
}

void trips_share(struct trips *s, struct sim *sim)
{
	s->sim = sim_is_shared(sim) ? sim : NULL;
	s->listener = sim_listen(sim, hear, s);
}

void trips_add(struct trip_sums *to, const struct trip_sums *more)
{
	to->n += more->n;
	for (uint32_t b = 0; b < TRIP_BORDERS; b++)
		to->at[b] += more->at[b];
	if (more->longest > to->longest)
		to->longest = more->longest;
}
