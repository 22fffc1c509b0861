#include "api/msg/pool.h"

#include "api/msg/slots.h"
#include "base/mem.h"

enum {
	BLOCK_BITS = 16, /* of a credit */
	OWN = 2, /* slots of a pair */
};

/* Words of the collectives' lane, which has none. */
enum { WORD_ASKED, WORD_RETURNED };

static uint64_t share_at(const struct msg_state *m, uint32_t rank)
{
	return msg_peer_at(m, MSG_COLL, rank);
}

struct msg_share msg_pool_share(const struct msg_state *m, uint32_t rank)
{
	struct msg_share s = { 0 };

	msg_load(m, share_at(m, rank), &s, sizeof(s));
	/* a put of the program may have gone astray */
	s.in = s.in <= m->n_blocks ? s.in : 0;
	s.out = s.out <= m->n_blocks ? s.out : 0;
	return s;
}

void msg_pool_set_share(
	const struct msg_state *m, uint32_t rank, const struct msg_share *s)
{
	msg_store(m, share_at(m, rank), s, sizeof(*s));
}

static uint64_t word_at(const struct msg_state *m, uint32_t rank, uint32_t word)
{
	return msg_credits_at(m, MSG_COLL, rank) + 8 * (uint64_t)word;
}

static uint64_t read_word(
	const struct msg_state *m, uint32_t rank, uint32_t word)
{
	uint64_t value = 0;

	msg_load(m, word_at(m, rank, word), &value, sizeof(value));
	return value;
}

/* --- places --- */

/* Blocks begin with a page. */
static uint64_t own_slots(const struct msg_state *m)
{
	uint64_t each = MSG_PAGE / MSG_SLOT;

	return (OWN * (uint64_t)m->n_ranks + each - 1) / each * each;
}

uint64_t msg_pool_slots(const struct msg_state *m)
{
	return own_slots(m) + (uint64_t)m->n_blocks * m->n_slots;
}

static uint64_t end_of(const struct msg_state *m, uint32_t rank, uint32_t block,
	uint64_t number)
{
	uint64_t slot = mailbox_slot(OWN, number) * (uint64_t)m->n_ranks + rank;

	if (block)
		slot = own_slots(m) + (block - UINT64_C(1)) * m->n_slots +
		       mailbox_slot(m->n_slots, number);
	return m->slots_at + (slot + 1) * MSG_SLOT;
}

uint64_t msg_pool_in(const struct msg_state *m, uint32_t rank, uint64_t number)
{
	return end_of(m, rank, msg_pool_share(m, rank).in, number);
}

uint64_t msg_pool_out(const struct msg_state *m, uint32_t rank, uint64_t number)
{
	return end_of(m, m->rank, msg_pool_share(m, rank).out, number);
}

uint32_t msg_pool_rank(const struct msg_state *m, uint64_t slot)
{
	uint64_t block;

	if (slot < OWN * (uint64_t)m->n_ranks)
		return (uint32_t)(slot % m->n_ranks);
	if (slot < own_slots(m) || slot >= msg_pool_slots(m))
		return MSG_TAGGED_ANY;
	block = (slot - own_slots(m)) / m->n_slots;
	return m->soft->pool.block[block].is_lent
		       ? m->soft->pool.block[block].rank
		       : MSG_TAGGED_ANY;
}

/* --- the sender --- */

static void give_back(struct msg_state *m, uint32_t rank,
	const struct msg_peer *p, struct msg_share *s)
{
	s->out = 0;
	s->left = p->box.sent;
	msg_pool_set_share(m, rank, s);
	msg_post(m, rank, word_at(m, m->rank, WORD_RETURNED), &s->left, 8);
}

/* Returns the number of emptied slots, and takes a block that came with it.
 * The number of a block may be corrupted. */
static uint64_t look_at_credit(struct msg_state *m, uint32_t rank,
	const struct msg_peer *p, struct msg_share *s)
{
	uint64_t words[2] = { 0 }, credit, emptied;
	uint32_t block;

	msg_load(m, msg_credits_at(m, MSG_USER, rank), words, sizeof(words));
	credit = mailbox_emptied(words);
	emptied = credit >> BLOCK_BITS;
	block = credit & ((1 << BLOCK_BITS) - 1);
	if (s->out || !block || emptied <= s->left)
		return emptied;
	s->out = 1 + (block - 1) % m->n_blocks;
	s->since = emptied;
	msg_pool_set_share(m, rank, s);
	if (read_word(m, rank, WORD_ASKED) == s->since)
		give_back(m, rank, p, s);
	return emptied;
}

uint32_t msg_pool_room(
	struct msg_state *m, uint32_t rank, const struct msg_peer *p)
{
	struct msg_share s = msg_pool_share(m, rank);
	uint64_t emptied = look_at_credit(m, rank, p, &s), full;
	uint32_t n = s.out ? m->n_slots : OWN;

	/* a pair's own slots are empty while it has a block */
	if (!s.out && emptied < s.left)
		emptied = s.left;
	full = p->box.sent - emptied;
	return full < n ? n - (uint32_t)full : 0;
}

void msg_pool_give_back(
	struct msg_state *m, uint32_t rank, const struct msg_peer *p)
{
	struct msg_share s = msg_pool_share(m, rank);

	look_at_credit(m, rank, p, &s);
	if (s.out && read_word(m, rank, WORD_ASKED) == s.since)
		give_back(m, rank, p, &s);
}

/* --- the receiver --- */

/* Some at a time, so that blocks do not go round among senders that all need
 * one. */
static uint32_t most_asked_for(const struct msg_state *m)
{
	return (m->n_blocks + 3) / 4;
}

static void ask_for(struct msg_state *m, struct msg_block *b)
{
	b->is_asked_for = true;
	m->soft->pool.n_asked_for++;
	msg_post(m, b->rank, word_at(m, m->rank, WORD_ASKED), &b->since, 8);
}

/* The first block that was not used since it was looked at. */
static void ask_for_one(struct msg_state *m)
{
	struct msg_pool *pool = &m->soft->pool;

	if (pool->n_asked_for >= most_asked_for(m))
		return;
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		struct msg_block *b = &pool->block[pool->hand];

		pool->hand = (pool->hand + 1) % m->n_blocks;
		if (!b->is_asked_for && !b->is_used) {
			ask_for(m, b);
			return;
		}
		b->is_used = false;
	}
}

/* Another rank's messages may have had the numbers that now come. */
static void clear(const struct msg_state *m, uint32_t block)
{
	const uint64_t none = 0;

	for (uint32_t i = 1; i <= m->n_slots; i++) {
		uint64_t at = end_of(m, 0, block, i) - 8, number = 0;

		program_read(at, &number, sizeof(number));
		if (number)
			program_write(at, &none, sizeof(none));
	}
}

/* Lends a block, if one is free. */
static void lend(struct msg_state *m, uint32_t rank, uint64_t credit,
	struct msg_share *s)
{
	struct msg_block *block = m->soft->pool.block;
	uint32_t i = 0;

	while (i < m->n_blocks && block[i].is_lent)
		i++;
	if (i == m->n_blocks)
		return;
	clear(m, i + 1);
	block[i] = (struct msg_block){
		.since = credit, .rank = rank, .is_lent = true, .is_used = true
	};
	s->in = i + 1;
	s->wants = 0;
}

void msg_pool_want(const struct msg_state *m, uint32_t rank)
{
	struct msg_share s = msg_pool_share(m, rank);

	if (s.in)
		return;
	s.wants = 1;
	msg_pool_set_share(m, rank, &s);
}

void msg_pool_taken(struct msg_state *m, uint32_t rank, struct msg_peer *p)
{
	struct msg_share s = msg_pool_share(m, rank);
	bool wants = s.wants, tells;
	uint64_t credit;
	uint32_t word;

	/* own slots when all are empty: then the sender has sent no more */
	tells = mailbox_take(&p->box, s.in ? m->n_slots : 2 * OWN, &word);
	if (s.in)
		m->soft->pool.block[s.in - 1].is_used = true;
	else if (tells)
		lend(m, rank, p->box.taken, &s);
	msg_set_peer(m, MSG_USER, rank, p);
	msg_pool_set_share(m, rank, &s);
	credit = p->box.taken << BLOCK_BITS | s.in;
	if (tells)
		msg_post(m, rank,
			msg_credits_at(m, MSG_USER, m->rank) + 8 * word,
			&credit, 8);
	if (tells && wants && !s.in)
		ask_for_one(m);
}

bool msg_pool_has_back(struct msg_state *m, uint32_t rank, struct msg_peer *p)
{
	struct msg_share s = msg_pool_share(m, rank);
	uint64_t last = read_word(m, rank, WORD_RETURNED);
	struct msg_block *b;

	if (!s.in || last <= s.returned || p->box.taken < last)
		return false;
	b = &m->soft->pool.block[s.in - 1];
	m->soft->pool.n_asked_for -= b->is_asked_for;
	*b = (struct msg_block){ 0 };
	s.in = 0;
	s.returned = last;
	msg_pool_set_share(m, rank, &s);
	p->box.told = last;
	msg_set_peer(m, MSG_USER, rank, p);
	return true;
}

/* --- life --- */

/* A process may have opened it before, with another pool.  All messages have
 * been taken since. */
void msg_pool_open(struct msg_state *m)
{
	struct msg_pool *pool = &m->soft->pool;

	msg_pool_fini(pool);
	if (!m->n_blocks)
		return;
	pool->block = mem_alloc(m->n_blocks, sizeof(*pool->block));
	for (uint32_t i = 0; i < m->n_ranks; i++) {
		struct msg_peer p = msg_peer(m, MSG_USER, i);
		const struct msg_share s = { .returned = p.box.taken,
			.left = p.box.sent };

		if (!p.box.taken && !p.box.sent)
			continue;
		msg_pool_set_share(m, i, &s);
		p.box.told = p.box.taken;
		msg_set_peer(m, MSG_USER, i, &p);
	}
}

void msg_pool_fini(struct msg_pool *p)
{
	mem_free(p->block);
	*p = (struct msg_pool){ 0 };
}
