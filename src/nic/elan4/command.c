/*
 * The command processor.  Queues with work get a turn each: one packet, or a
 * few simple commands (QSN-G24).  A turn is at least one command, so the
 * longest one, an event's copy of 2 KB, delays the others by 2 us.
 */
#include "nic/elan4/units.h"

#include <string.h>

enum { TURN = 64, COPY_MOST = 64 };

/* Words of ELAN_ARM_COPY; 0: invalid. */
static uint32_t copy_length(uint64_t word)
{
	return elan_copy_is_valid(elan_high(word)) ? 3 + elan_high(word) / 8
						   : 0;
}

/* Whether a word with the name of its event follows. */
static bool is_named(uint64_t word)
{
	enum elan_command c = (enum elan_command)(word & 0xff);

	return word & ELAN_NAMED &&
	       (c == ELAN_ADD || c == ELAN_ARM || c == ELAN_ARM_FROM);
}

/* Words of ELAN_ENQUEUE outside of a packet; 0: invalid. */
static uint32_t enqueue_length(uint64_t word)
{
	uint32_t bytes = elan_low(word);

	return bytes <= ELAN_HERE_MOST && !(word & ELAN_IS_PART)
		       ? 2 + (bytes + 7) / 8
		       : 0;
}

/* Words of a simple command, its own included; 0: not a simple command. */
static uint32_t length(enum elan_command c, uint64_t word)
{
	static const uint8_t words[ELAN_COMMANDS] = {
		[ELAN_NOP] = 1,
		[ELAN_RUN_DMA] = 1 + ELAN_DMA_WORDS,
		[ELAN_STORE] = 3,
		[ELAN_COPY] = 3,
		[ELAN_ADD] = 1,
		[ELAN_ARM] = 4,
		[ELAN_GUARD] = 1,
		[ELAN_INTERRUPT] = 1,
		[ELAN_RUN_THREAD] = 1 + ELAN_REGISTERS,
		[ELAN_ARM_FROM] = 4,
	};

	if (c == ELAN_ARM_COPY)
		return copy_length(word);
	if (c == ELAN_ENQUEUE)
		return enqueue_length(word);
	return c < ELAN_COMMANDS ? words[c] + is_named(word) : 0;
}

static uint32_t right_of(enum elan_command c)
{
	static const uint8_t rights[ELAN_COMMANDS] = {
		[ELAN_OPEN] = ELAN_MAY_STEN,
		[ELAN_ENQUEUE] = ELAN_MAY_STEN,
		[ELAN_OPEN_RANGE] = ELAN_MAY_BROADCAST,
		[ELAN_RUN_DMA] = ELAN_MAY_DMA,
		[ELAN_STORE] = ELAN_MAY_STORE,
		[ELAN_COPY] = ELAN_MAY_STORE,
		[ELAN_ADD] = ELAN_MAY_EVENT,
		[ELAN_ARM] = ELAN_MAY_EVENT,
		[ELAN_ARM_COPY] = ELAN_MAY_EVENT,
		[ELAN_ARM_FROM] = ELAN_MAY_EVENT,
		[ELAN_INTERRUPT] = ELAN_MAY_INTERRUPT,
		[ELAN_RUN_THREAD] = ELAN_MAY_THREAD,
	};

	return rights[c];
}

/* --- simple commands --- */

/* Whether memory can be accessed as a command wants to. */
static bool is_memory(const struct elan_view *v, uint64_t at)
{
	return v->state == ELAN_SEEN && !(v->flags & ELAN_TO_QUEUE) &&
	       !(at % 8);
}

static enum elan_error store(const struct nic_at *a, const uint64_t *word,
	const struct elan_view *to)
{
	if (!is_memory(to, word[1]))
		return ELAN_ERROR_ADDRESS;
	elan_word_write(a, to->at, elan_order(to->flags, word[2]));
	return ELAN_FINE;
}

/* The words of ELAN_COPY have been read: they are written, and the queue
 * goes on. */
static void on_copied(const struct nic_at *a, const struct side_read *x)
{
	struct elan_queue *q = elan_queue(elan_here(a), x->id);
	uint64_t from = q->copied[0], to = q->copied[1], word;

	for (uint32_t i = 0; i < q->copying && !q->error; i += 8) {
		elan_read(a, from + i, &word, 8);
		elan_word_write(a, to + i, word);
	}
	q->copying = 0;
	elan_queue_wake(a, q);
}

static enum elan_error copy(const struct nic_at *a, struct elan_queue *q,
	const uint64_t *command, const struct elan_view *v)
{
	uint32_t bytes = elan_low(command[0]);

	if (bytes > COPY_MOST || bytes % 8)
		return ELAN_ERROR_COMMAND;
	if (!is_memory(v, command[1]) || !is_memory(v + 1, command[2]))
		return ELAN_ERROR_ADDRESS;
	if (elan_is_card(v->at) && !elan_sdram_is_sound(a, v->at, bytes))
		return ELAN_ERROR_MEMORY;
	if (!bytes)
		return ELAN_FINE;
	q->copying = (uint8_t)bytes;
	q->copied[0] = v[0].at;
	q->copied[1] = v[1].at;
	elan_read_begin(
		a, ELAN_BY_COMMAND, v->at, bytes, on_copied, NULL, q->id);
	return ELAN_FINE;
}

static void on_looked(const struct nic_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(elan_here(a), queue);

	q->is_looking = false;
	elan_queue_wake(a, q);
}

/* Translates for a queue; false: it waits for that. */
static bool look(const struct nic_at *a, struct elan_queue *q, uint64_t at,
	uint64_t bytes, enum elan_use use, struct elan_view *v)
{
	*v = elan_look(a, q->context, at, bytes, use);
	if (v->state == ELAN_NOWHERE || v->t <= a->t)
		return true;
	q->is_looking = true;
	elan_look_again(a, q->context, v, on_looked, q->id);
	return false;
}

/* A DMA's source: it begins if the context has all of it, or the driver has
 * looked for the rest. */
static bool look_source(const struct nic_at *a, struct elan_queue *q,
	const uint64_t *word, struct elan_view *v)
{
	struct elan_dma d;

	memcpy(&d, word + 1, sizeof(d));
	return elan_may(elan_here(a), q->context, d.from, d.bytes) ||
	       look(a, q, d.from, d.bytes, ELAN_TO_READ, v);
}

/* Translates the addresses of a command; false: its queue waits for that. */
static bool look_all(const struct nic_at *a, struct elan_queue *q,
	const uint64_t *word, struct elan_view v[2])
{
	uint32_t bytes = elan_low(word[0]);

	switch ((enum elan_command)(word[0] & 0xff)) {
	case ELAN_STORE:
		return look(a, q, word[1], 8, ELAN_TO_WRITE, v);
	case ELAN_COPY:
		return look(a, q, word[1], bytes, ELAN_TO_READ, v) &&
		       look(a, q, word[2], bytes, ELAN_TO_WRITE, v + 1);
	case ELAN_RUN_DMA:
		return look_source(a, q, word, v);
	default:
		return true;
	}
}

/* Commands about events: word is what follows the event. */
static enum elan_error work_on_event(const struct nic_at *a,
	struct elan_queue *q, uint64_t first, const uint64_t *word)
{
	uint64_t event = is_named(first) ? *word++ : elan_low(first);
	uint32_t e = event < ELAN_EVENT_NAMES ? (uint32_t)event : UINT32_MAX;

	switch ((enum elan_command)(first & 0xff)) {
	case ELAN_ARM:
		return elan_event_arm(a, q->context, e, word);
	case ELAN_ARM_FROM:
		return elan_event_arm_from(
			a, q->context, e, elan_high(first), word);
	case ELAN_ARM_COPY:
		return elan_event_arm_copy(a, q, e, elan_high(first), word);
	default:
		if (!elan_event_may(elan_here(a), q->context, e))
			return ELAN_ERROR_ADDRESS;
		elan_event_set(a, q->context, e, elan_high(first));
		return ELAN_FINE;
	}
}

static void execute(const struct nic_at *a, struct elan_queue *q,
	const uint64_t *word, const struct elan_view *v)
{
	enum elan_error wrong = ELAN_FINE;
	struct elan_dma d;

	switch ((enum elan_command)(word[0] & 0xff)) {
	case ELAN_RUN_DMA:
		memcpy(&d, word + 1, sizeof(d));
		wrong = elan_dma_add(a, q, &d);
		break;
	case ELAN_ENQUEUE:
		wrong = elan_iq_add(a, q, word);
		break;
	case ELAN_RUN_THREAD:
		wrong = elan_thread_begin(a, q, word);
		break;
	case ELAN_STORE:
		wrong = store(a, word, v);
		break;
	case ELAN_COPY:
		wrong = copy(a, q, word, v);
		break;
	case ELAN_ADD:
	case ELAN_ARM:
	case ELAN_ARM_FROM:
	case ELAN_ARM_COPY:
		wrong = work_on_event(a, q, word[0], word + 1);
		break;
	case ELAN_GUARD:
		q->is_guarded = true;
		q->guard = (uint8_t)elan_low(word[0]);
		if (elan_low(word[0]) >= ELAN_GUARDS)
			wrong = ELAN_ERROR_COMMAND;
		break;
	case ELAN_INTERRUPT:
		elan_interrupt(a, q->context, word[0] >> 16);
		break;
	default:
		break;
	}
	if (wrong)
		elan_queue_stop(a, q, wrong);
}

/* The words of a command have been read. */
static uint32_t take(const struct nic_at *a, struct elan_queue *q, uint32_t n)
{
	q->skips = false;
	if (!q->outstanding)
		elan_queue_freed(a, q, q->taken);
	return 8 * n;
}

/* Reads up to so many words of a queue, from the next one on. */
static void read_words(const struct elan_queue *q, uint64_t *word, uint32_t n)
{
	if (8 * n <= elan_queue_piece(q, q->taken)) {
		memcpy(word, elan_queue_place(q, q->taken), 8 * (size_t)n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		word[i] = elan_queue_word(q, q->taken + 8 * i);
}

/* Bytes taken; 0: the queue has to wait or has stopped. */
static uint32_t simple(const struct nic_at *a, struct elan_queue *q)
{
	uint64_t word[1 + ELAN_DMA_WORDS];
	const uint64_t first = elan_queue_word(q, q->taken);
	uint32_t n = length((enum elan_command)(first & 0xff), first);
	struct elan_view v[2] = { { 0 }, { 0 } };

	if (!n || 8 * n > q->depth) {
		elan_queue_stop(
			a, q, n ? ELAN_ERROR_OVERFLOW : ELAN_ERROR_COMMAND);
		return 0;
	}
	if (elan_queue_arrival(q, q->taken + 8 * n) > a->t)
		return 0;
	if (!elan_queue_is_sound(a, q, q->taken, 8 * n))
		return 0;
	if ((first & 0xff) == ELAN_RUN_THREAD && !q->skips &&
		!elan_thread_has_room(a, q))
		return 0;
	if ((first & 0xff) == ELAN_ENQUEUE && !q->skips &&
		!elan_iq_has_room(a, q, first))
		return 0;
	read_words(q, word, n < 1 + ELAN_DMA_WORDS ? n : 1 + ELAN_DMA_WORDS);
	if (!q->skips && !look_all(a, q, word, v))
		return 0;
	q->taken += 8 * n;
	elan_count(a)->commands++;
	if (!q->skips)
		execute(a, q, word, v);
	return take(a, q, n);
}

/* A word that fills up a burst. */
static uint32_t nothing(const struct nic_at *a, struct elan_queue *q)
{
	q->taken += 8;
	elan_count(a)->commands++;
	return take(a, q, 1);
}

/* --- turns --- */

/* False while packets before a guard are not acknowledged. */
static bool pass_guard(struct elan_queue *q)
{
	if (!q->is_guarded)
		return true;
	if (q->outstanding)
		return false;
	q->is_guarded = false;
	q->skips = (q->guard == ELAN_IF_YES && q->was_denied) ||
		   (q->guard == ELAN_IF_NO && !q->was_denied);
	q->was_denied = false;
	return true;
}

/* One queue's turn; returns the bytes that it took. */
static uint32_t turn(const struct nic_at *a, struct elan_queue *q)
{
	uint32_t sum = 0, n;

	while (sum < TURN && !q->error && !q->is_looking && !q->copying &&
		q->taken < q->announced) {
		enum elan_command c;

		if (elan_queue_arrival(q, q->taken + 8) > a->t)
			break;
		if (!pass_guard(q))
			break;
		if (!elan_queue_is_sound(a, q, q->taken, 8))
			break;
		c = (enum elan_command)(elan_queue_word(q, q->taken) & 0xff);
		if (c >= ELAN_COMMANDS || right_of(c) & ~(uint32_t)q->rights) {
			elan_queue_stop(a, q,
				c >= ELAN_COMMANDS ? ELAN_ERROR_COMMAND
						   : ELAN_ERROR_RIGHT);
			break;
		}
		if (c == ELAN_OPEN || c == ELAN_OPEN_RANGE) {
			if (sum)
				return sum;
			return q->skips ? elan_sten_skip(a, q)
					: elan_sten_send(a, q);
		}
		n = c == ELAN_NOP ? nothing(a, q) : simple(a, q);
		if (!n)
			break;
		sum += n;
	}
	return sum;
}

void elan_command_go(const struct nic_at *a)
{
	struct elan_commands *x = &elan_here(a)->commands;

	if (x->is_posted || !elan_here(a)->queues.run.first)
		return;
	x->is_posted = true;
	elan_post(a, x->free_at > a->t ? x->free_at : a->t, ELAN_ENGINE_COMMAND,
		0);
}

void elan_command_on_free(const struct nic_at *a, uint32_t none)
{
	struct elan_commands *x = &elan_here(a)->commands;
	struct elan_queue *q;
	uint32_t used = 0;

	(void)none;
	x->is_posted = false;
	while (!used && (q = elan_queue_next(elan_here(a)))) {
		if (!elan_chip_has(a, q))
			continue;
		used = turn(a, q);
		if (!used) {
			elan_copy_on_idle(a, q);
			continue;
		}
		x->free_at =
			a->t + used * (PS_PER_S / elan_params(a)->command_rate);
		elan_queue_wake(a, q);
	}
	elan_command_go(a);
}

/* Whether its event would be the next one. */
static bool is_next(const struct nic_at *a)
{
	const struct sim_worker *w = a->w;
	uint32_t key = SIM_KEY(PHASE_ENGINE, ELAN_ENGINE_COMMAND);

	return w->at->rank >= SIM_RANK(a->t - w->start, key, 0) &&
	       !elan_thread_lingers_until(elan_here(a), a->t);
}

void elan_command_go_now(const struct nic_at *a)
{
	const struct elan_commands *x = &elan_here(a)->commands;

	if (!x->is_posted && x->free_at <= a->t && is_next(a))
		elan_command_on_free(a, 0);
	else
		elan_command_go(a);
}
