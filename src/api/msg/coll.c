/*
 * Collectives, by messages apart from those of programs: on a lane of their
 * own, so that messages waiting for their receives cannot block them, or with
 * tags of their own.  A process takes these messages of another process in
 * their order, and all processes call collectives in the same order, so nothing
 * else tells them apart.
 *
 * Trees are binomial, by numbers that begin with the root.  Children get the
 * data of a long broadcast; a reduction is sent in pieces of a slot.
 *
 * An all-reduce of a long vector uses a ring: each rank adds its part of a
 * chunk and passes it to the next rank, until every chunk has been everywhere;
 * then the sums go round.  Every link carries about twice the vector,
 * independently of the number of ranks.
 */
#include "api/msg/domain.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

enum {
	PIECE = WEFT_MSG_EAGER / 8, /* elements of a reduction */
	RING_CHUNK =
		1024, /* bytes of each rank, from which on a ring is used */
};

static void send(
	struct msg_state *m, uint32_t rank, const void *data, uint64_t bytes)
{
	m->pieces->give(m, rank, data, bytes);
}

static void receive(
	struct msg_state *m, uint32_t rank, void *data, uint64_t bytes)
{
	if (m->pieces->take(m, rank, data, bytes) != bytes)
		BUG("ranks %u and %u are in different collectives", m->rank,
			rank);
}

int weft_msg_barrier(struct weft_msg *msg)
{
	PROGRAM_CALL("weft_msg_barrier", 0, 0);
	struct msg_state *m = msg_state(msg);
	uint32_t n = m->n_ranks, k;
	int code = ENOSYS;

	if (!m->ops)
		return EBADF;
	if (m->ops->barrier && !m->is_software)
		code = m->ops->barrier(m, NULL);
	if (code != ENOSYS)
		return code;
	for (k = 1; k < n; k *= 2) {
		send(m, (m->rank + k) % n, NULL, 0);
		receive(m, (m->rank + n - k) % n, NULL, 0);
	}
	return 0;
}

/* --- broadcast --- */

/* Places, numbers that begin with the root, and back. */
static uint32_t place_of(const struct msg_state *m, uint32_t root)
{
	return (m->rank + m->n_ranks - root) % m->n_ranks;
}

static uint32_t rank_at(
	const struct msg_state *m, uint32_t root, uint32_t place)
{
	return (place + root) % m->n_ranks;
}

/* The lowest bit of a place, which leads to its parent; the root has one
 * beyond all. */
static uint32_t bit_of(const struct msg_state *m, uint32_t place)
{
	uint32_t bit = 1;

	while (bit < m->n_ranks && !(place & bit))
		bit *= 2;
	return bit;
}

void msg_coll_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t at, uint64_t bytes)
{
	struct weft_msg_done done;

	while (weft_msg_get((struct weft_msg *)m, rank, from, at, bytes, &done))
		msg_go_on(m);
	weft_msg_wait((struct weft_msg *)m, &done);
}

/* Receives the parent's bytes in slots, or gets them from its memory. */
static void take_from_parent(
	struct msg_state *m, uint32_t parent, uint64_t at, uint64_t bytes)
{
	uint8_t data[WEFT_MSG_EAGER];
	uint64_t from;

	if (bytes <= WEFT_MSG_EAGER) {
		receive(m, parent, data, bytes);
		msg_write(msg_address(m, m->rank, at), data, bytes);
		return;
	}
	receive(m, parent, &from, sizeof(from));
	msg_coll_get(m, parent, from, at, bytes);
	send(m, parent, NULL, 0); /* got it */
}

static void give_to_children(struct msg_state *m, uint32_t root, uint32_t bit,
	uint64_t at, uint64_t bytes)
{
	uint32_t place = place_of(m, root), k;
	uint8_t data[WEFT_MSG_EAGER];
	const void *what = &at;

	if (bytes <= WEFT_MSG_EAGER) {
		msg_read(msg_address(m, m->rank, at), data, bytes);
		what = data;
	}
	for (k = bit / 2; k; k /= 2)
		if (place + k < m->n_ranks)
			send(m, rank_at(m, root, place + k), what,
				what == data ? bytes : sizeof(at));
	for (k = bit / 2; k && what != data; k /= 2)
		if (place + k < m->n_ranks)
			receive(m, rank_at(m, root, place + k), NULL, 0);
}

int weft_msg_broadcast(
	struct weft_msg *msg, uint32_t root, uint64_t at, uint64_t bytes)
{
	PROGRAM_CALL("weft_msg_broadcast from #", root, 0);
	struct msg_state *m = msg_state(msg);
	int code = msg_check(m, root, at, bytes);
	uint32_t place, bit;

	if (code)
		return code;
	if (m->ops->broadcast && !m->is_software) {
		code = m->ops->broadcast(
			m, NULL, root, msg_address(m, m->rank, at), bytes);
		if (code != ENOSYS)
			return code;
	}
	place = place_of(m, root);
	bit = bit_of(m, place);
	if (place)
		take_from_parent(m, rank_at(m, root, place - bit), at, bytes);
	give_to_children(m, root, bit, at, bytes);
	return 0;
}

/* --- reductions --- */

static double double_of(uint64_t word)
{
	double x;

	memcpy(&x, &word, 8);
	return x;
}

static uint64_t word_of(double x)
{
	uint64_t word;

	memcpy(&word, &x, 8);
	return word;
}

static uint64_t combined(enum weft_msg_reduction op, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case WEFT_MSG_SUM_INT:
		return a + b;
	case WEFT_MSG_MIN_INT:
		return y < x ? b : a;
	case WEFT_MSG_MAX_INT:
		return y > x ? b : a;
	case WEFT_MSG_MIN_UINT:
		return b < a ? b : a;
	case WEFT_MSG_MAX_UINT:
		return b > a ? b : a;
	case WEFT_MSG_AND_BITS:
		return a & b;
	case WEFT_MSG_OR_BITS:
		return a | b;
	case WEFT_MSG_XOR_BITS:
		return a ^ b;
	case WEFT_MSG_MIN_DOUBLE:
		return double_of(b) < double_of(a) ? b : a;
	case WEFT_MSG_MAX_DOUBLE:
		return double_of(b) > double_of(a) ? b : a;
	default:
		return word_of(double_of(a) + double_of(b));
	}
}

/* a is of the lower ranks. */
void msg_combine(
	enum weft_msg_reduction op, uint64_t *a, const uint64_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		a[i] = combined(op, a[i], b[i]);
}

/* Up the tree, to the root; whether this is the root. */
static bool reduce_piece(struct msg_state *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t *a, uint32_t n)
{
	uint32_t place = place_of(m, root), bit = bit_of(m, place), k;
	uint64_t b[PIECE];

	for (k = 1; k < bit; k *= 2) {
		if (place + k >= m->n_ranks)
			continue;
		receive(m, rank_at(m, root, place + k), b, 8 * n);
		msg_combine(op, a, b, n);
	}
	if (place)
		send(m, rank_at(m, root, place - bit), a, 8 * n);
	return !place;
}

static void exchange(struct msg_state *m, uint32_t other,
	enum weft_msg_reduction op, uint64_t *a, uint32_t n)
{
	uint64_t b[PIECE];

	send(m, other, a, 8 * n);
	receive(m, other, b, 8 * n);
	if (other > m->rank) {
		msg_combine(op, a, b, n);
	} else {
		msg_combine(op, b, a, n);
		memcpy(a, b, 8 * n);
	}
}

/* Recursive doubling among the first 2^k ranks; each other rank gives its
 * values to one of them before, and receives the result afterwards. */
static void allreduce_piece(struct msg_state *m, enum weft_msg_reduction op,
	uint64_t *a, uint32_t n)
{
	uint32_t half = 1;
	uint64_t b[PIECE];

	while (half * 2 <= m->n_ranks)
		half *= 2;
	if (m->rank >= half) {
		send(m, m->rank - half, a, 8 * n);
		receive(m, m->rank - half, a, 8 * n);
		return;
	}
	if (m->rank + half < m->n_ranks) {
		receive(m, m->rank + half, b, 8 * n);
		msg_combine(op, a, b, n);
	}
	for (uint32_t k = 1; k < half; k *= 2)
		exchange(m, m->rank ^ k, op, a, n);
	if (m->rank + half < m->n_ranks)
		send(m, m->rank + half, a, 8 * n);
}

/* --- long ones --- */

/* A rank's own part of a chunk, while it gets the sum of the ranks before it;
 * kept so that it is freed if the program dies meanwhile. */
struct own_part {
	uint64_t *word;
};

static void free_part(void *kept)
{
	struct own_part *own = kept;

	mem_free(own->word);
	own->word = NULL;
}

static const struct program_library library = {
	.size = sizeof(struct own_part),
	.fini = free_part,
};

struct ring {
	struct msg_state *m;
	enum weft_msg_reduction op;
	uint64_t from, to, n; /* as given */
	uint32_t before, behind; /* ranks */
};

/* The first element of a chunk; for the one after the last, the end. */
static uint64_t chunk_at(const struct ring *r, uint32_t chunk)
{
	uint64_t each = r->n / r->m->n_ranks, more = r->n % r->m->n_ranks;

	return chunk * each + (chunk < more ? chunk : more);
}

/* Sends the address of its piece, and gets the other one. */
void msg_coll_pass(struct msg_state *m, const struct msg_piece *given,
	const struct msg_piece *taken)
{
	uint64_t there;

	send(m, given->rank, &given->at, sizeof(given->at));
	receive(m, taken->rank, &there, sizeof(there));
	msg_coll_get(m, taken->rank, there, taken->at, taken->bytes);
}

static struct msg_piece chunk_of(
	const struct ring *r, uint64_t at, uint32_t rank, uint32_t chunk)
{
	uint64_t first = chunk_at(r, chunk);

	return (struct msg_piece){ rank, at + 8 * first,
		8 * (chunk_at(r, chunk + 1) - first) };
}

/* Gives a chunk to the next rank, and takes another chunk. */
static void pass_chunk(
	const struct ring *r, uint64_t at, uint32_t sent, uint32_t got)
{
	const struct msg_piece given = chunk_of(r, at, r->behind, sent);
	const struct msg_piece taken = chunk_of(r, r->to, r->before, got);

	r->m->pieces->pass(r->m, &given, &taken);
}

static void read_part(const struct ring *r, uint32_t chunk, uint64_t *mine)
{
	uint64_t first = chunk_at(r, chunk);

	program_read(r->m->base + r->from + 8 * first, mine,
		8 * (chunk_at(r, chunk + 1) - first));
}

/* Adds its own part to a chunk at to, the sum of the ranks before. */
static void add_part(const struct ring *r, uint32_t chunk, const uint64_t *mine)
{
	uint64_t at = r->m->base + r->to + 8 * chunk_at(r, chunk);
	uint64_t n = chunk_at(r, chunk + 1) - chunk_at(r, chunk), i;
	uint64_t a[PIECE];
	uint32_t k;

	for (i = 0; i < n; i += k) {
		k = n - i < PIECE ? (uint32_t)(n - i) : PIECE;
		program_read(at + 8 * i, a, 8 * k);
		msg_combine(r->op, a, mine + i, k);
		program_write(at + 8 * i, a, 8 * k);
	}
}

/*
 * Chunks go round once to be added up, and once more to distribute the sums. No
 * rank overwrites a chunk that the next rank still gets: a chunk comes back
 * only after all others have had it; for the last one a message confirms it.
 */
static void reduce_ring(struct ring *r)
{
	uint32_t n = r->m->n_ranks, me = r->m->rank, chunk;
	struct own_part *own = program_keep(&library);

	own->word = mem_alloc(r->n / n + 1, sizeof(*own->word));
	r->before = (me + n - 1) % n;
	r->behind = (me + 1) % n;
	for (uint32_t i = 0; i < 2 * (n - 1); i++) {
		chunk = (me + 2 * n - i - 1) % n;
		read_part(r, chunk, own->word);
		pass_chunk(r, i ? r->to : r->from, (chunk + 1) % n, chunk);
		if (i < n - 1)
			add_part(r, chunk, own->word);
	}
	send(r->m, r->before, NULL, 0); /* got it */
	receive(r->m, r->behind, NULL, 0);
	free_part(own);
}

/* root: WEFT_MSG_ANY for all. */
static int reduce(struct msg_state *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	bool is_mine = root == WEFT_MSG_ANY || root == m->rank;
	uint64_t a[PIECE];
	uint32_t k;

	if (!m->ops)
		return EBADF;
	if ((uint32_t)op >= WEFT_MSG_REDUCTIONS || n > UINT64_MAX / 8 ||
		(root != WEFT_MSG_ANY && root >= m->n_ranks))
		return EINVAL;
	if (msg_check_host(m, m->rank, from, 8 * n) ||
		(is_mine && msg_check_host(m, m->rank, to, 8 * n)))
		return EFAULT;
	if (m->ops->reduce && !m->is_software) {
		int code = m->ops->reduce(
			m, NULL, root, op, m->base + from, m->base + to, n);

		if (code != ENOSYS)
			return code;
	}
	if (m->domain && !m->is_software) {
		int code = msg_domain_reduce(
			m, root, op, m->base + from, m->base + to, n);

		if (code != ENOSYS)
			return code;
	}
	if (root == WEFT_MSG_ANY && m->n_ranks > 1 &&
		n / m->n_ranks >= RING_CHUNK / 8) {
		reduce_ring(&(struct ring){ m, op, from, to, n, 0, 0 });
		return 0;
	}
	for (uint64_t i = 0; i < n; i += k) {
		k = n - i < PIECE ? (uint32_t)(n - i) : PIECE;
		program_read(m->base + from + 8 * i, a, 8 * k);
		if (root == WEFT_MSG_ANY)
			allreduce_piece(m, op, a, k);
		else
			reduce_piece(m, root, op, a, k);
		if (is_mine)
			program_write(m->base + to + 8 * i, a, 8 * k);
	}
	return 0;
}

int weft_msg_reduce(struct weft_msg *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	PROGRAM_CALL("weft_msg_reduce to #", root, 0);

	if (root == WEFT_MSG_ANY)
		return EINVAL;
	return reduce(msg_state(m), root, op, from, to, n);
}

int weft_msg_allreduce(struct weft_msg *m, enum weft_msg_reduction op,
	uint64_t from, uint64_t to, uint64_t n)
{
	PROGRAM_CALL("weft_msg_allreduce", 0, 0);

	return reduce(msg_state(m), WEFT_MSG_ANY, op, from, to, n);
}
