/*
 * The barrier by the network.  Process 0 is the root.
 *
 *	each process    stores the round into a word of its card's memory
 *	the root        queries whether all of these words have come to it
 *	 no             an event copies the query into a queue again
 *	 yes            an event copies a broadcast there, which writes the
 *	                round into the memory of every node, where programs poll
 *
 * So no CPU has a part between the last call and the release, and no card reads
 * host memory.  Copies have their source in the root's card memory:
 *
 *	HERE   the round        NAME  the address of all this
 *	block  of even rounds: query, broadcast, and the events yes and no
 *	block  of odd rounds
 *	CHECK  two more events
 *
 * While one round is under way the root prepares the next one's block, behind
 * its query: nothing of it is on the way of this round, and all of it is in the
 * queue before the next query.
 *
 * The root's query names one address for all.  In the first round the root asks
 * whether every card has its own address at NAME: a process that took other
 * card memory before has not, and then the barrier fails everywhere.
 *
 * nic.hgsync has the two ways not taken: the word is in host memory, or the
 * root's CPU sends the broadcast.
 */
#include <errno.h>

#include "api/elan/queue.h"
#include "host/program.h"

enum { HERE = 0, NAME = 8, BLOCKS = 64, BLOCK = 192 };
enum { CHECK = BLOCKS + 2 * BLOCK, CARD = CHECK + 2 * ELAN_EVENT_BYTES };
/* Of a block. */
enum { QUERY = 0, QUERY_WORDS = 10, CAST = 80, CAST_WORDS = 5 };
enum { YES = 128, NO = YES + ELAN_EVENT_BYTES };
/* What changes from round to round: the value of the query, the data of the
 * broadcast. */
enum { QUERY_VALUE = QUERY + 56, CAST_VALUE = CAST + 32 };
/* Words of host memory. */
enum { GO = 0, CAME = 8, ANSWER = 16 };

enum { STORE_WORDS = 3, ASK_WORDS = 7 };

/* In place of a round: cards differ; the root's queue has stopped. */
#define DIFFER UINT64_MAX
#define BROKEN (UINT64_MAX - 1)

/* --- words --- */

static uint64_t block_at(const struct elan_hgsync *h, uint64_t round)
{
	return h->card + BLOCKS + round % 2 * BLOCK;
}

static uint64_t page_of(const struct elan_hgsync *h)
{
	return cq_page(h->sender.id);
}

/* The word that says which round a process has come to. */
static uint64_t here_at(const struct elan_hgsync *h)
{
	return h->by == ELAN_HGSYNC_HOST ? h->at + CAME : h->card + HERE;
}

static uint32_t store_words(uint64_t *words, uint64_t at, uint64_t value)
{
	words[0] = elan_word(ELAN_STORE, 0, 0);
	words[1] = at;
	words[2] = value;
	return STORE_WORDS;
}

static void range_words(uint64_t words[2])
{
	words[0] = elan_word(ELAN_OPEN_RANGE, 0, 0);
	words[1] = elan_ranks() - 1;
}

/* The query of a round. */
static uint32_t ask_words(
	const struct elan_hgsync *h, uint64_t *words, uint64_t round)
{
	uint64_t block = block_at(h, round);

	range_words(words);
	words[2] = elan_word(ELAN_TEST, ELAN_AT_LEAST, 0);
	words[3] = here_at(h);
	words[4] = round;
	return 5 + words_close(words + 5, elan_event_at(block + YES),
			   elan_event_at(block + NO));
}

/* --- what the root prepares --- */

/* Words of card memory, one by one. */
static int keep(
	struct elan_hgsync *h, uint64_t at, const uint64_t *words, uint32_t n)
{
	uint64_t store[STORE_WORDS];
	int code = 0;

	for (uint32_t i = 0; i < n && !code; i++)
		code = elan_issue(&h->queue, store,
			store_words(store, at + 8 * i, words[i]));
	return code;
}

/* The query, which arms its event no again. */
static int keep_query(struct elan_hgsync *h, uint64_t round)
{
	uint64_t block = block_at(h, round), words[QUERY_WORDS];
	uint32_t n = store_words(words, block + NO, 1);
	int code;

	n += ask_words(h, words + n, round);
	code = keep(h, block + QUERY, words, n);
	return code ? code
		    : elan_arm_copy_from(&h->queue, elan_event_at(block + NO),
			      1, page_of(h), block + QUERY, 8 * n);
}

/* The broadcast; or a word for the root's CPU. */
static int keep_cast(struct elan_hgsync *h, uint64_t round)
{
	uint64_t block = block_at(h, round), words[CAST_WORDS];
	uint32_t yes = elan_event_at(block + YES);
	int code;

	if (h->by == ELAN_HGSYNC_CPU)
		return elan_arm(&h->queue, yes, 1, h->at + ANSWER, round);
	range_words(words);
	words[2] = elan_word(ELAN_WRITE, 8, 0) | ELAN_CLOSES;
	words[3] = h->at + GO;
	words[4] = round;
	code = keep(h, block + CAST, words, CAST_WORDS);
	return code ? code
		    : elan_arm_copy_from(&h->queue, yes, 1, page_of(h),
			      block + CAST, 8 * CAST_WORDS);
}

static int prepare(struct elan_hgsync *h, uint64_t round)
{
	int code = keep_query(h, round);

	return code ? code : keep_cast(h, round);
}

/* The words of the next round: all that differs from the one before the last,
 * which is over. */
static uint32_t next_words(const struct elan_hgsync *h, uint64_t *words)
{
	uint64_t round = h->round + 1, block = block_at(h, round);
	uint64_t value = block + CAST_VALUE;
	uint32_t n = 0;

	if (h->by == ELAN_HGSYNC_CPU)
		value = block + YES + offsetof(struct elan_event, from);
	n += store_words(words, block + QUERY_VALUE, round);
	n += store_words(words + n, value, round);
	n += store_words(words + n, block + YES, 1);
	return n + store_words(words + n, block + NO, 1);
}

/* --- waiting --- */

/* Until a word of host memory has come to a number; the word, which is less if
 * a queue of the root has stopped. */
static uint64_t await(
	const struct elan_hgsync *h, uint64_t offset, uint64_t least)
{
	PROGRAM_CALL("elan_hgsync, round #", h->round, 0);
	struct poll_loop loop;
	uint64_t seen;

	if (h->is_root || h->wait.until)
		return cq_await(
			h->at + offset, least, &h->queue, &h->sender, &h->wait);
	loop = elan_poll_loop();
	loop.phase += h->busy;
	program_poll(h->at + offset, WORD_AT_LEAST, least, loop, &seen);
	return seen;
}

/* --- failures --- */

static int failed(struct elan_hgsync *h, uint64_t seen)
{
	if (seen >= BROKEN || seen < h->round)
		h->failed = seen == DIFFER ? EINVAL : EIO;
	return h->failed;
}

/* The root tells all others. */
static int fail(struct elan_hgsync *h, uint64_t why)
{
	while (elan_cq_error(&h->queue) && elan_cq_restart(&h->queue) == EBUSY)
		program_charge(1000 * (sim_time)SIM_NS);
	elan_broadcast(
		&h->queue, 0, elan_ranks() - 1, h->at + GO, &why, 8, 0, 0);
	return failed(h, why);
}

/* --- the first round --- */

/* Whether all have this at the same address. */
static int check(struct elan_hgsync *h)
{
	struct elan_question ask = {
		.at = h->card + NAME,
		.value = h->card,
		.operation = ELAN_EQUAL,
		.yes_event = elan_event_at(h->card + CHECK),
		.no_event = elan_event_at(h->card + CHECK + ELAN_EVENT_BYTES),
	};
	uint64_t none = 0, answer;
	int code = elan_arm(&h->queue, ask.yes_event, 1, h->at + ANSWER, 1);

	if (!code)
		code = elan_arm(
			&h->queue, ask.no_event, 1, h->at + ANSWER, DIFFER);
	if (!code)
		code = elan_query(&h->queue, 0, elan_ranks() - 1, &ask);
	if (code)
		return code;
	answer = await(h, ANSWER, 1);
	elan_store_bytes(h->at + ANSWER, &none, 8);
	if (answer == 1)
		return 0;
	/* a card that has nothing there refuses */
	if (elan_cq_error(&h->queue) == ELAN_ERROR_REFUSED)
		answer = DIFFER;
	return fail(h, answer ? answer : BROKEN);
}

/* --- calls --- */

static void add(struct elan_hgsync *h, const uint64_t *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		cq_add(&h->queue, words[i]);
}

/* The root's query, behind its word, and what it needs for the next round. */
static void ask(struct elan_hgsync *h, sim_time born)
{
	uint64_t words[4 * STORE_WORDS];
	uint32_t n = ask_words(h, words, h->round);

	cq_begin(&h->queue, 8 * n, born);
	add(h, words, n);
	elan_flush(&h->queue);
	elan_issue(&h->queue, words, next_words(h, words));
}

/* The word.  There is room for it in the queues of others than the root, who
 * store nothing else. */
static void come(struct elan_hgsync *h)
{
	sim_time born = program_now();
	uint64_t words[STORE_WORDS];

	h->busy = 0;
	if (h->by == ELAN_HGSYNC_HOST) {
		program_charge(cq_params()->software);
		elan_store_bytes(here_at(h), &h->round, 8);
	} else {
		cq_compute(&h->queue, cq_params()->software);
		if (h->is_root)
			cq_need_room(&h->queue, 8 * STORE_WORDS);
		add(h, words, store_words(words, here_at(h), h->round));
	}
	if (h->is_root)
		ask(h, born);
	else
		h->busy = cq_hand_over(&h->queue);
}

static int start(struct elan_hgsync *h)
{
	int code = 0;

	if (!h->is_open || h->failed)
		return h->is_open ? h->failed : EBADF;
	if (h->is_started)
		return EBUSY;
	if (!h->round++ && h->is_root)
		code = check(h);
	if (!code)
		come(h);
	return code;
}

static int end(struct elan_hgsync *h)
{
	uint64_t seen;

	h->is_started = false;
	if (h->by == ELAN_HGSYNC_CPU && h->is_root &&
		await(h, ANSWER, h->round) >= h->round)
		elan_broadcast(&h->queue, 0, elan_ranks() - 1, h->at + GO,
			&h->round, 8, 0, 0);
	seen = await(h, GO, h->round);
	return seen < h->round ? fail(h, BROKEN) : failed(h, seen);
}

/* A call returns when the bus has taken its stores. */
static void be_free(struct elan_hgsync *h)
{
	program_charge(h->busy);
	h->busy = 0;
}

int elan_hgsync_start(struct elan_hgsync *h)
{
	int code = start(h);

	if (!code) {
		h->is_started = true;
		be_free(h);
	}
	return code;
}

int elan_hgsync_wait(struct elan_hgsync *h)
{
	if (!h->is_open)
		return EBADF;
	return h->is_started ? end(h) : 0;
}

/* Without a stop between storing and polling. */
int elan_hgsync(struct elan_hgsync *h)
{
	int code = start(h);

	if (code)
		return code;
	if (h->wait.until)
		be_free(h);
	return end(h);
}

/* --- life --- */

static int open_queues(struct elan_hgsync *h, uint32_t id)
{
	int code = elan_cq_open(&h->queue, id, ELAN_8K, ELAN_MAY_ALL);

	if (code)
		return code;
	/* of others, too: it takes card memory */
	code = elan_cq_open(&h->sender, id + 1, ELAN_1K,
		ELAN_MAY_STORE | ELAN_MAY_BROADCAST);
	if (!code)
		code = elan_cq_map(&h->sender, page_of(h));
	if (!code)
		return 0;
	elan_cq_close(&h->sender);
	elan_cq_close(&h->queue);
	h->queue.id = ELAN_QUEUES;
	return code;
}

/* What it has in memory. */
static int write_words(struct elan_hgsync *h)
{
	const uint64_t none[ELAN_HGSYNC_BYTES / 8] = { 0 };
	int code;

	elan_store_bytes(h->at, none, sizeof(none));
	code = keep(h, h->card + NAME, &h->card, 1);
	for (uint64_t round = 1; round <= 2 && h->is_root && !code; round++)
		code = prepare(h, round);
	return code;
}

int elan_hgsync_open(struct elan_hgsync *h, uint32_t queue, uint64_t at)
{
	int code;

	*h = (struct elan_hgsync){
		.queue = { .id = ELAN_QUEUES },
		.sender = { .id = ELAN_QUEUES },
		.at = at,
		.is_root = elan_rank() == 0,
		.by = (uint32_t)cq_params()->hgsync,
	};
	if (!cq_can_cast() || at % 8)
		return EINVAL;
	if (!cq_is_own(at, ELAN_HGSYNC_BYTES))
		return EFAULT;
	code = open_queues(h, queue);
	if (code)
		return code;
	code = elan_card_alloc(CARD, &h->card);
	h->is_open = !code;
	if (!code)
		return write_words(h);
	elan_cq_close(&h->sender);
	elan_cq_close(&h->queue);
	h->queue.id = ELAN_QUEUES;
	return code;
}

int elan_hgsync_close(struct elan_hgsync *h)
{
	int code = 0;

	if (!h->is_open)
		return EBADF;
	if (h->is_started)
		return EBUSY;
	if (h->sender.id < ELAN_QUEUES)
		code = elan_cq_close(&h->sender);
	if (code)
		return code;
	h->sender.id = ELAN_QUEUES;
	code = elan_cq_close(&h->queue);
	if (!code)
		elan_card_free(h->card);
	h->is_open = code;
	return code;
}
