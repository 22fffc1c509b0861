/*
 * Sums over the processes of a node, chunk by chunk.  Each process sends its
 * bytes as its port has turns.  When the last process has sent a chunk, its
 * sum leaves the switch for one of them: the root, or each in turn.  If all
 * are to have the result, that process sends it again, and the switch hands it
 * to all others.  So each port carries the vector once, and 1/n of it more.
 */
#include "base/mem.h"
#include "parts/domain/inside.h"

enum {
	AHEAD = 8, /* chunks that the switch holds until the last one comes */
	WORDS = 512, /* that are added at a time */
};

struct sum {
	struct slot slot;
	struct domain_sum *of; /* [process] */
	uint64_t bytes;
	uint32_t n_joined;
	uint32_t n_given[AHEAD]; /* by chunk: processes that have sent it */
	uint64_t whole; /* chunks that all have sent */
	uint64_t missing; /* bytes that have not come to a receiver */
	struct ring parked; /* parts of processes that are too far ahead */
	struct book_message book;
};

static struct domain_node *here(const struct domain_at *at)
{
	return at->d->nodes[at->node];
}

static uint64_t chunk_bytes(const struct domain_at *at)
{
	return (uint64_t)at->d->params.chunk;
}

static void forget(struct domain_node *n, uint32_t id)
{
	struct sum *s = slots_at(&n->sums, id);

	ring_fini(&s->parked);
	mem_free(s->of);
	slots_give(&n->sums, id);
}

void sums_init(struct domain_node *n)
{
	slots_init(&n->sums, sizeof(struct sum));
}

void sums_free(struct domain_node *n)
{
	for (uint32_t id = 1; id <= n->sums.room; id++)
		if (slots_find(&n->sums, id))
			forget(n, id);
	slots_fini(&n->sums);
}

/* For all that have joined. */
static void end_sum(const struct domain_at *at, uint32_t id)
{
	struct domain_node *n = here(at);
	const struct sum *s = slots_at(&n->sums, id);

	if (!n->is_gone)
		domain_account(at, &s->book, 0);
	for (uint32_t i = 0; i < at->d->n_ports; i++) {
		const struct domain_sum *x = &s->of[i];

		if (x->on_end && !n->is_gone)
			x->on_end(x->arg, at, i);
		if (x->n)
			domain_set_word(at, x->done_at, 0);
	}
	forget(n, id);
}

void sums_end_all(const struct domain_at *at)
{
	struct domain_node *n = here(at);

	n->joining = 0;
	for (uint32_t id = 1; id <= n->sums.room; id++)
		if (slots_find(&n->sums, id))
			end_sum(at, id);
}

/* --- bytes --- */

static void write_words(const struct domain_at *at, uint64_t to,
	const uint64_t *word, uint32_t n)
{
	host_write(at->d->host, at->w, at->node, at->t, to, word, 8 * n);
}

/* Of all processes in their order, into the memory of one. */
static void add(const struct domain_at *at, const struct sum *s, uint32_t to,
	uint64_t from, uint64_t bytes)
{
	struct memory *m = host_at(at->d->host, at->node);
	uint64_t a[WORDS], b[WORDS];
	uint32_t n;

	for (uint64_t i = from; i < from + bytes; i += 8 * n) {
		n = from + bytes - i < sizeof(a)
			    ? (uint32_t)(from + bytes - i) / 8
			    : WORDS;
		memory_read(m, MEMORY_NIC, s->of[0].from_at + i, a, 8 * n);
		for (uint32_t p = 1; p < at->d->n_ports; p++) {
			memory_read(
				m, MEMORY_NIC, s->of[p].from_at + i, b, 8 * n);
			s->of[0].combine(s->of[0].op, a, b, n);
		}
		write_words(at, s->of[to].to_at + i, a, n);
	}
}

static void copy(const struct domain_at *at, const struct sum *s, uint32_t to,
	const struct move *m)
{
	struct memory *memory = host_at(at->d->host, at->node);
	uint64_t from = m->is.from_at, word[WORDS];
	uint32_t n;

	for (uint64_t i = 0; i < m->is.bytes; i += 8 * n) {
		n = m->is.bytes - i < sizeof(word)
			    ? (uint32_t)(m->is.bytes - i) / 8
			    : WORDS;
		memory_read(memory, MEMORY_NIC,
			s->of[m->is.from].to_at + from + i, word, 8 * n);
		write_words(at, s->of[to].to_at + from + i, word, n);
	}
}

/* --- chunks --- */

/* A chunk of the result, from an offset on; it is for a process. */
static void send_result(const struct domain_at *at, uint32_t id, uint64_t from,
	uint64_t bytes, uint32_t to)
{
	struct domain_node *n = here(at);
	struct move *m;
	uint32_t result = domain_take(n, &m);

	m->sum = id;
	m->role = SUM_RESULT;
	m->is.to = to;
	m->is.from_at = from;
	m->is.bytes = bytes;
	n->absorbed += (at->d->n_ports - 1) * bytes;
	domain_enter(at, &n->port[to], domain_takes(at->d, bytes));
	domain_come(at, to, result);
}

/* Those that were too far ahead go on, if they are not any more. */
static void unpark(const struct domain_at *at, uint32_t id)
{
	struct domain_node *n = here(at);
	struct sum *s = slots_at(&n->sums, id);

	/* each that goes on may let others go on, too */
	for (uint32_t i = s->parked.n; i && s->parked.n; i--)
		domain_make_ready(at, *(uint32_t *)ring_pop(&s->parked));
}

/* A process has sent a chunk. */
static void count(
	const struct domain_at *at, uint32_t id, uint64_t from, uint64_t bytes)
{
	struct domain_node *n = here(at);
	struct sum *s = slots_at(&n->sums, id);
	uint64_t chunk = from / chunk_bytes(at);
	uint32_t root = s->of[0].root;

	if (++s->n_given[chunk % AHEAD] < at->d->n_ports)
		return;
	s->n_given[chunk % AHEAD] = 0;
	s->whole++;
	if (root == DOMAIN_ALL)
		root = (uint32_t)(chunk % at->d->n_ports);
	send_result(at, id, from, bytes, root);
	unpark(at, id);
}

static void give(const struct domain_at *at, struct port *x, uint32_t id)
{
	struct domain_node *n = here(at);
	struct move *m = domain_move_at(n, id);
	struct sum *s = slots_at(&n->sums, m->sum);
	uint64_t from = m->sent, bytes = m->is.bytes - from;
	uint32_t sum = m->sum;

	if (from / chunk_bytes(at) >= s->whole + AHEAD) {
		*(uint32_t *)ring_push(&s->parked) = id;
		return;
	}
	bytes = bytes < chunk_bytes(at) ? bytes : chunk_bytes(at);
	domain_leave(at, x, bytes);
	m->sent += bytes;
	if (m->sent < m->is.bytes)
		*(uint32_t *)ring_push(&x->ready) = id;
	else
		slots_give(&n->moves, id);
	count(at, sum, from, bytes);
}

static void cast(const struct domain_at *at, struct port *x, uint32_t id)
{
	struct domain_node *n = here(at);
	struct move *m = domain_move_at(n, id);
	sim_time time = domain_leave(at, x, m->is.bytes);

	n->copied += (at->d->n_ports - 2) * m->is.bytes;
	m->missing = at->d->n_ports - 1;
	for (uint32_t i = 0; i < at->d->n_ports; i++) {
		if (i == m->is.from)
			continue;
		domain_enter(at, &n->port[i], time);
		domain_come(at, i, id);
	}
}

void sums_send(const struct domain_at *at, struct port *x, uint32_t id)
{
	if (domain_move_at(here(at), id)->role == SUM_GIVES)
		give(at, x, id);
	else
		cast(at, x, id);
}

void sums_on_last(const struct domain_at *at, uint32_t to, uint32_t id)
{
	struct domain_node *n = here(at);
	struct move *m = domain_move_at(n, id);
	struct sum *s = slots_at(&n->sums, m->sum);
	uint32_t sum = m->sum;

	s->missing -= m->is.bytes;
	if (m->role == SUM_CAST)
		copy(at, s, to, m);
	else
		add(at, s, to, m->is.from_at, m->is.bytes);
	if (m->role == SUM_RESULT && s->of[0].root == DOMAIN_ALL) {
		m->role = SUM_CAST;
		m->is.from = to;
		domain_make_ready(at, id);
	} else if (m->role == SUM_RESULT || !--m->missing) {
		slots_give(&n->moves, id);
	}
	s = slots_at(&n->sums, sum);
	if (!s->missing)
		end_sum(at, sum);
}

/* --- processes --- */

static void begin(const struct domain_at *at, uint32_t id)
{
	struct domain_node *n = here(at);
	struct sum *s = slots_at(&n->sums, id);
	bool is_for_all = s->of[0].root == DOMAIN_ALL;
	struct move *m;
	uint32_t part;

	s->bytes = 8 * s->of[0].n;
	s->missing = is_for_all ? s->bytes * at->d->n_ports : s->bytes;
	s->book = book_message(at->d->book, at->node, BOOK_PUT,
		(uint32_t)((s->bytes + chunk_bytes(at) - 1) / chunk_bytes(at)),
		at->t);
	n->joining = 0;
	for (uint32_t i = 0; i < at->d->n_ports; i++) {
		part = domain_take(n, &m);
		m->sum = id;
		m->role = SUM_GIVES;
		m->is.from = i;
		m->is.bytes = s->bytes;
		n->n_moves++;
		domain_make_ready(at, part);
	}
}

void domain_join(const struct domain_at *at, uint32_t process,
	const struct domain_sum *x)
{
	struct domain_node *n = domain_node(at->d, at->node);
	struct sum *s;

	if (n->is_gone) {
		domain_set_word(at, x->done_at, 0);
		return;
	}
	if (!n->joining) {
		n->joining = slots_take(&n->sums);
		s = slots_at(&n->sums, n->joining);
		s->of = mem_alloc(at->d->n_ports, sizeof(*s->of));
		ring_init(&s->parked, sizeof(uint32_t));
	}
	s = slots_at(&n->sums, n->joining);
	s->of[process] = *x;
	if (++s->n_joined == at->d->n_ports)
		begin(at, n->joining);
}
