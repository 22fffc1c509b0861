/*
 * Collectives of an MPI without help by the network, as far as their times are
 * known: this is a fit of what such an MPI took, no model of it.
 *
 * Groups of 32 ranks meet by a way of their own, of which only the time is
 * assumed: half a microsecond each way.  The first rank of a group leads it,
 * and leaders form a binomial tree, around the leader of the root's group:
 * along it they send messages by the network interface, each of which takes its
 * call's time (bench_mpi_time()) before it leaves.  Barriers and sums go up and
 * down the tree, broadcasts down.  A leader passes on what came from above
 * first to its group and then to other leaders.
 *
 * Bytes within a group go through arrays that both sides reach.  This is safe,
 * since what one has written is read at least a window later, after the writer
 * has told the reader, and is not changed before the reader is done.  Another
 * process has arrays of its own, and gets the bytes as a note (sim_note()).
 */
#include <string.h>

#include "base/mem.h"
#include "load/bench/collective.h"

enum {
	GROUP = 32,
	SLOTS = 16, /* of a leader for messages of another: rounds under way */
	NUMBER = 8, /* bytes of a message's number, its last word */
	LINE = 64,
};

/* Where messages are sent from, so that a program's bytes can change. */
#define OUT_AT ((BENCH_SOURCE + BENCH_TARGET) / 2)

/* From a group's members to its leader, and back. */
#define MEET (500 * (sim_time)SIM_NS)

struct collective_mpi {
	uint32_t n_ranks, n_leaders;
	uint64_t bytes;
	uint64_t slot; /* bytes of one for a message */
	sim_time meet;
	uint32_t procs, threads, cpu; /* of a node, of each, the first used */
	struct sim *sim;
	uint32_t listener; /* of its notes */
	uint8_t *given; /* [rank] what a member gives its leader */
	uint8_t *result; /* [leader][2] for its members, in turn */
	uint8_t *sum; /* [rank] what it has, to be combined */
	uint8_t *got; /* [leader] from another one */
};

/* A program's state. */
struct turn {
	struct collective_mpi *mpi;
	struct bench_end *end;
	int64_t round;
	uint32_t leader; /* of its group: a number among leaders */
	uint32_t top; /* the leader at the top of the tree */
	uint64_t told; /* how often it will have been */
	sim_time released[2]; /* when results were given, in turn */
	uint8_t *sum, *got;
};

static struct collective *of(const struct bench_end *x)
{
	return (struct collective *)x->bench;
}

/* --- processes --- */

/* Bytes of an array that another process has, too. */
struct note {
	uint64_t at;
	uint8_t is_result;
	uint8_t bytes[];
};

static site_id node_of(const struct collective_mpi *m, uint32_t rank)
{
	return rank / m->procs;
}

static void hear(void *arg, const void *bytes, size_t n)
{
	struct collective_mpi *m = arg;
	const struct note *x = bytes;

	BUG_IF(n < sizeof(*x) + m->bytes);
	memcpy((x->is_result ? m->result : m->given) + x->at, x->bytes,
		m->bytes);
}

/* What this program has written, to the process of another rank, if it is
 * another one. */
static void tell_process(
	struct turn *t, uint32_t rank, const uint8_t *from, bool is_result)
{
	struct collective_mpi *m = t->mpi;
	size_t n = (sizeof(struct note) + m->bytes + 7) / 8 * 8;
	struct note *x;

	if (sim_has(m->sim, node_of(m, rank)) || !m->bytes)
		return;
	x = mem_alloc(n, 1);
	x->at = (uint64_t)(from - (is_result ? m->result : m->given));
	x->is_result = is_result;
	memcpy(x->bytes, from, m->bytes);
	sim_note(sim_owner(m->sim, t->end->node),
		sim_process(m->sim, node_of(m, rank)), m->listener, x, n);
	mem_free(x);
}

static void tell_program(struct turn *t, uint32_t rank)
{
	const struct collective_mpi *m = t->mpi;

	program_tell(node_of(m, rank), rank % m->procs * m->threads + m->cpu,
		m->meet);
}

/* --- within a group --- */

static uint8_t *given_by(const struct turn *t, uint32_t rank)
{
	return t->mpi->given + rank * t->mpi->bytes;
}

static uint8_t *result_of(const struct turn *t)
{
	return t->mpi->result +
	       (t->leader * UINT64_C(2) + (uint64_t)t->round % 2) *
		       t->mpi->bytes;
}

static uint32_t first_of(uint32_t leader)
{
	return leader * GROUP;
}

static uint32_t end_of(const struct turn *t)
{
	uint32_t end = first_of(t->leader + 1);

	return end < t->mpi->n_ranks ? end : t->mpi->n_ranks;
}

static void give(struct turn *t, const uint8_t *bytes)
{
	uint8_t *to = given_by(t, t->end->rank);

	memcpy(to, bytes, t->mpi->bytes);
	tell_process(t, first_of(t->leader), to, false);
	tell_program(t, first_of(t->leader));
}

/* Sums of integers. */
static void combine(struct turn *t, const uint8_t *with)
{
	uint64_t a, b;

	for (uint64_t i = 0; i < t->mpi->bytes; i += sizeof(a)) {
		memcpy(&a, t->sum + i, sizeof(a));
		memcpy(&b, with + i, sizeof(b));
		a += b;
		memcpy(t->sum + i, &a, sizeof(a));
	}
}

/* The leader waits for all of its group. */
static void gather(struct turn *t)
{
	t->told += end_of(t) - first_of(t->leader) - 1;
	program_await(t->told);
	for (uint32_t r = first_of(t->leader) + 1; r < end_of(t); r++)
		combine(t, given_by(t, r));
}

/* Whether a rank's process is another one than that of the rank before. */
static bool is_elsewhere(const struct turn *t, uint32_t rank)
{
	const struct sim *s = t->mpi->sim;

	return sim_process(s, node_of(t->mpi, rank)) !=
	       sim_process(s, node_of(t->mpi, rank - 1));
}

/* It gives the result to its group, when the last but one was taken. */
static void release(struct turn *t)
{
	sim_time *last = &t->released[t->round % 2];

	program_wait(*last + 2 * t->mpi->meet);
	memcpy(result_of(t), t->sum, t->mpi->bytes);
	for (uint32_t r = first_of(t->leader) + 1; r < end_of(t); r++) {
		if (is_elsewhere(t, r))
			tell_process(t, r, result_of(t), true);
		tell_program(t, r);
	}
	*last = program_now();
}

/* --- between leaders, which are numbered from the top on --- */

static uint32_t place_of(const struct turn *t, uint32_t leader)
{
	return (leader + t->mpi->n_leaders - t->top) % t->mpi->n_leaders;
}

static uint32_t leader_at(const struct turn *t, uint32_t place)
{
	return (place + t->top) % t->mpi->n_leaders;
}

static uint64_t slot_at(const struct turn *t, uint32_t from)
{
	uint64_t slot = (uint64_t)t->round % SLOTS;

	return (from * (uint64_t)SLOTS + slot) * t->mpi->slot;
}

static void send(struct turn *t, uint32_t place)
{
	struct bench_end *x = t->end;
	const struct bench *b = x->bench;
	uint64_t bytes = t->mpi->bytes, number = (uint64_t)t->round + 1;
	uint32_t to = leader_at(t, place);
	bool has_operand = of(x)->op == OP_REDUCE || of(x)->op == OP_ALLREDUCE;
	struct bench_transfer p = bench_transfer(
		x, first_of(to) / (uint32_t)b->procs, bytes + NUMBER);

	p.from = OUT_AT + slot_at(t, to);
	p.to = BENCH_TARGET + slot_at(t, t->leader);
	p.counter = BENCH_NONE;
	p.means = bench_mpi_is_quick(b->driver, bytes) ? b->driver->mpi->quick
						       : b->driver->mpi->other;
	program_charge(bench_mpi_time(b, bytes, has_operand));
	bench_write(x, p.from, t->sum, bytes);
	bench_write(x, p.from + bytes, &number, sizeof(number));
	x->driver->put(x, &p);
}

static bool receive(struct turn *t, uint32_t place, uint8_t *to)
{
	struct bench_end *x = t->end;
	uint64_t at = BENCH_TARGET + slot_at(t, leader_at(t, place));

	if (!x->driver->mpi->wait(
		    x, at + t->mpi->bytes, (uint64_t)t->round + 1))
		return false;
	bench_read(x, at, to, t->mpi->bytes);
	return true;
}

/* Takes what leaders below have, and gives the sum to the one above. */
static bool climb(struct turn *t)
{
	uint32_t place = place_of(t, t->leader), n = t->mpi->n_leaders;

	for (uint32_t step = 1; step < n; step *= 2) {
		if (place & step) {
			send(t, place - step);
			break;
		}
		if (place + step >= n)
			continue;
		if (!receive(t, place + step, t->got))
			return false;
		combine(t, t->got);
	}
	return true;
}

/* Takes the result from above, and gives it to its group and downwards. */
static bool descend(struct turn *t)
{
	uint32_t place = place_of(t, t->leader), n = t->mpi->n_leaders;
	uint32_t step = 1;

	if (place) {
		step = place & (0u - place);
		if (!receive(t, place - step, t->sum))
			return false;
	} else {
		while (step < n)
			step *= 2;
	}
	release(t);
	while (step /= 2)
		if (place + step < n)
			send(t, place + step);
	return true;
}

/* --- the program --- */

static bool is_leader(const struct bench_end *x)
{
	return x->rank % GROUP == 0;
}

/* The leader's part of a round. */
static bool lead(struct turn *t, uint32_t root)
{
	struct collective *c = of(t->end);

	if (c->op == OP_BROADCAST) {
		if (root / GROUP == t->leader && root != t->end->rank) {
			program_await(++t->told);
			memcpy(t->sum, given_by(t, root), t->mpi->bytes);
		}
		return descend(t);
	}
	gather(t);
	if (!climb(t))
		return false;
	if (c->op == OP_REDUCE) {
		release(t);
		return true;
	}
	return descend(t);
}

static void follow(struct turn *t, uint32_t root)
{
	if (of(t->end)->op != OP_BROADCAST || root == t->end->rank)
		give(t, t->sum);
	program_await(++t->told);
	memcpy(t->sum, result_of(t), t->mpi->bytes);
}

static bool take_part(struct turn *t)
{
	struct bench_end *x = t->end;
	struct member *m = x->data;
	struct collective *c = of(x);
	uint32_t root = collective_root(c, t->round);

	t->top = c->op == OP_BROADCAST || c->op == OP_REDUCE ? root / GROUP : 0;
	if (t->mpi->bytes) {
		collective_fill(x, BENCH_SOURCE, t->round, m->index);
		bench_read(x, BENCH_SOURCE, t->sum, t->mpi->bytes);
	}
	m->came = program_now();
	if (!is_leader(x))
		follow(t, root);
	else if (!lead(t, root))
		return false;
	collective_count(x, t->round);
	bench_write(x, BENCH_SOURCE, t->sum, t->mpi->bytes);
	return collective_is_right(x, BENCH_SOURCE, t->round);
}

void collective_mpi_run(struct bench_end *x)
{
	struct collective *c = of(x);
	int64_t all = c->bench.warm + c->bench.rounds;
	struct turn t = {
		.mpi = c->mpi,
		.end = x,
		.leader = x->rank / GROUP,
		.sum = c->mpi->sum + x->rank * c->mpi->bytes,
		.got = c->mpi->got + x->rank / GROUP * c->mpi->bytes,
	};

	if (is_leader(x) && !bench_open(x))
		return;
	program_wait(PROGRAMS_START);
	while (t.round < c->bench.warm && take_part(&t))
		t.round++;
	bench_count(x);
	while (t.round < all && take_part(&t))
		t.round++;
	x->end = t.round == all ? program_now() : 0;
}

/* --- the course of a run --- */

int collective_mpi_check(struct collective *c, struct err *e)
{
	const struct bench_driver *d = c->bench.driver;
	uint64_t bytes = c->op == OP_BARRIER ? 0 : (uint64_t)c->bench.bytes;
	uint64_t ranks = c->bench.needs.n_programs;

	if (!d->mpi)
		return err_set(e,
			"by: what MPI's calls take is not known of the %s "
			"(want by=software)",
			c->bench.programs.load.nic_ops->title);
	if (GROUP % c->bench.procs)
		return err_set(e,
			"procs: want a divisor of %d, the ranks of "
			"a group, with by=mpi",
			GROUP);
	if ((bytes + LINE) * SLOTS * ranks > BENCH_TARGET - OUT_AT)
		return err_set(e, "bytes: too many for so many ranks by MPI");
	return 0;
}

void collective_mpi_open(struct collective *c)
{
	const struct load *l = &c->bench.programs.load;
	uint32_t width = sim_worker(l->net->sim, 0)->width, n;
	struct collective_mpi *m = mem_alloc(1, sizeof(*m));

	c->mpi = m;
	n = m->n_ranks = c->bench.needs.n_programs;
	m->n_leaders = (n + GROUP - 1) / GROUP;
	m->bytes = c->op == OP_BARRIER ? 0 : (uint64_t)c->bench.bytes;
	m->slot = (m->bytes + NUMBER + LINE - 1) / LINE * LINE;
	m->meet = MEET > width ? MEET : width;
	m->procs = (uint32_t)c->bench.procs;
	m->threads = host_threads_each(l->host);
	m->cpu = (uint32_t)c->bench.cpu;
	m->sim = l->net->sim;
	m->listener = sim_listen(m->sim, hear, m);
	m->given = mem_alloc(n * m->bytes + 1, 1);
	m->result = mem_alloc(2 * m->n_leaders * m->bytes + 1, 1);
	m->sum = mem_alloc(n * m->bytes + 1, 1);
	m->got = mem_alloc(m->n_leaders * m->bytes + 1, 1);
}

void collective_mpi_close(struct collective *c)
{
	if (!c->mpi)
		return;
	mem_free(c->mpi->given);
	mem_free(c->mpi->result);
	mem_free(c->mpi->sum);
	mem_free(c->mpi->got);
	mem_free(c->mpi);
}
