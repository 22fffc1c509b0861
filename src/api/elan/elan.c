#include <errno.h>
#include <string.h>

#include "api/elan/queue.h"
#include "host/program.h"

/* --- commands --- */

int elan_issue(struct elan_cq *q, const uint64_t *words, uint32_t n)
{
	int code = cq_may_use(q);

	if (code)
		return code;
	if (n > ELAN_CQ_WORDS)
		return EINVAL;
	cq_need_room(q, 8 * n);
	for (uint32_t i = 0; i < n; i++)
		cq_add(q, words[i]);
	elan_flush(q);
	return 0;
}

/* A command about an event, with its operands. */
static int arm(struct elan_cq *q, enum elan_command c, uint32_t event,
	uint32_t bytes, const uint64_t operand[3])
{
	int code = cq_check(q, event, 0);
	uint64_t words[5];
	uint32_t n;

	if (code)
		return code;
	n = words_set(words, c, event, bytes);
	memcpy(words + n, operand, 3 * sizeof(*operand));
	return elan_issue(q, words, n + 3);
}

int elan_arm(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t address, uint64_t value)
{
	const uint64_t operand[] = { count, address, value };

	return arm(q, ELAN_ARM, event, 0, operand);
}

int elan_arm_copy_from(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t to, uint64_t from, uint32_t bytes)
{
	const uint64_t operand[] = { count, to, from };

	int code = cq_check(q, event, 0);

	if (!code && (!bytes || bytes > ELAN_COPY_MOST || bytes % 8 || to % 8 ||
			     from % 8))
		code = EINVAL;
	return code ? code : arm(q, ELAN_ARM_FROM, event, bytes, operand);
}

int elan_arm_copy(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t to, const void *data, uint32_t bytes)
{
	int code = cq_check(q, event, 0);

	if (!code && (!bytes || bytes > ELAN_COPY_MOST || bytes % 8 ||
			     event >= ELAN_EVENTS ||
			     24 + bytes > elan_queue_depth(cq_card(),
						  program_node(), q->id)))
		code = EINVAL;
	if (!code && !data)
		code = EFAULT;
	if (code)
		return code;
	cq_need_room(q, 24 + bytes);
	cq_add(q, elan_word(ELAN_ARM_COPY, event, bytes));
	cq_add(q, count);
	cq_add(q, to);
	cq_add_bytes(q, data, bytes);
	elan_flush(q);
	return 0;
}

int elan_set(struct elan_cq *q, uint32_t event, uint32_t count)
{
	int code = cq_check(q, event, 0);
	uint64_t word[2];

	if (code)
		return code;
	return elan_issue(q, word, words_set(word, ELAN_ADD, event, count));
}

uint64_t elan_put_packets(uint64_t bytes)
{
	return bytes ? bytes / ELAN_PACKET + (bytes % ELAN_PACKET != 0) : 1;
}

static void add_write(struct elan_cq *q, uint64_t to, const uint8_t *data,
	uint32_t bytes, bool closes)
{
	cq_add(q, elan_word(ELAN_WRITE, bytes, 0) | (closes ? ELAN_CLOSES : 0));
	cq_add(q, to);
	cq_add_bytes(q, data, bytes);
}

/* What a put or a broadcast is about. */
struct put {
	bool is_range;
	uint32_t rank, last; /* of a range: the first and last ones */
	uint64_t to;
	const uint8_t *data; /* or NULL: */
	uint64_t from; /* in this node's memory */
	uint64_t bytes;
	uint32_t target_event, source_event;
	const struct elan_question *ask; /* or NULL: it has one packet */
};

static void add_words(struct elan_cq *q, const uint64_t *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		cq_add(q, words[i]);
}

static void add_test(struct elan_cq *q, const struct elan_question *ask)
{
	cq_add(q, elan_word(ELAN_TEST, ask->operation, 0));
	cq_add(q, ask->at);
	cq_add(q, ask->value);
}

/* The part of it that begins at some byte, of which data is the first. */
static void put_packet(struct elan_cq *q, const struct put *p, uint64_t at,
	const uint8_t *data, uint32_t bytes, sim_time born)
{
	bool is_plain =
		bytes && !p->target_event && !p->source_event && !p->ask;
	uint64_t word[2];

	cq_begin(q, ELAN_PACKET + (p->ask ? 88 : 64), born);
	cq_add(q, elan_word(p->is_range ? ELAN_OPEN_RANGE : ELAN_OPEN, p->rank,
			  0));
	if (p->is_range)
		cq_add(q, p->last);
	if (p->ask)
		add_test(q, p->ask);
	if (bytes)
		add_write(q, p->to + at, data, bytes, is_plain);
	if (p->target_event)
		add_words(q, word,
			words_set(word, ELAN_SET, p->target_event,
				bytes ? bytes : 1));
	if (!is_plain)
		add_words(q, word,
			words_close(word, p->source_event,
				p->ask ? p->ask->no_event : 0));
}

static int put(struct elan_cq *q, const struct put *p)
{
	int code = cq_check(q, p->target_event, p->source_event);
	uint8_t block[ELAN_PACKET];
	sim_time born = program_now();
	uint64_t at = 0, from = p->from;

	if (code)
		return code;
	if (!p->data && !cq_find(&from, p->bytes))
		return EFAULT;
	program_charge(cq_params()->software);
	do {
		uint64_t left = p->bytes - at;
		uint32_t n = left < ELAN_PACKET ? (uint32_t)left : ELAN_PACKET;

		if (!p->data)
			program_read(from + at, block, n);
		put_packet(q, p, at, p->data ? p->data + at : block, n, born);
		born = SIM_NEVER;
		at += n;
	} while (at < p->bytes);
	elan_flush(q);
	return 0;
}

/* What every kind of put is given, by the names that the calls below use. */
#define PUT(...)                                                               \
	(struct put)                                                           \
	{                                                                      \
		.to = to, .bytes = bytes, .target_event = target_event,        \
		__VA_ARGS__                                                    \
	}
#define RANGE .is_range = true, .rank = first, .last = last

static int put_data(struct elan_cq *q, const struct put *p)
{
	return p->bytes && !p->data ? EFAULT : put(q, p);
}

int elan_put(struct elan_cq *q, uint32_t rank, uint64_t to, const void *data,
	uint64_t bytes, uint32_t target_event, uint32_t source_event)
{
	return put_data(q,
		&PUT(.rank = rank, .data = data, .source_event = source_event));
}

int elan_put_from(struct elan_cq *q, uint32_t rank, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event)
{
	return put(q,
		&PUT(.rank = rank, .from = from, .source_event = source_event));
}

int elan_broadcast(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, const void *data, uint64_t bytes, uint32_t target_event,
	uint32_t source_event)
{
	return put_data(
		q, &PUT(RANGE, .data = data, .source_event = source_event));
}

int elan_broadcast_from(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, uint64_t from, uint64_t bytes, uint32_t target_event,
	uint32_t source_event)
{
	return put(q, &PUT(RANGE, .from = from, .source_event = source_event));
}

/* A put that is asked for first. */
static int put_if(struct elan_cq *q, struct put *p)
{
	int code = cq_check(q, p->ask->yes_event, p->ask->no_event);

	if (code)
		return code;
	if ((uint32_t)p->ask->operation >= ELAN_OPERATIONS ||
		p->bytes > ELAN_PACKET)
		return EINVAL;
	p->source_event = p->ask->yes_event;
	return put_data(q, p);
}

int elan_put_if(struct elan_cq *q, uint32_t rank,
	const struct elan_question *ask, uint64_t to, const void *data,
	uint32_t bytes, uint32_t target_event)
{
	return put_if(q, &PUT(.rank = rank, .data = data, .ask = ask));
}

int elan_broadcast_if(struct elan_cq *q, uint32_t first, uint32_t last,
	const struct elan_question *ask, uint64_t to, const void *data,
	uint32_t bytes, uint32_t target_event)
{
	return put_if(q, &PUT(RANGE, .data = data, .ask = ask));
}

int elan_test(struct elan_cq *q, uint32_t rank, const struct elan_question *ask)
{
	return elan_put_if(q, rank, ask, 0, NULL, 0, 0);
}

int elan_query(struct elan_cq *q, uint32_t first, uint32_t last,
	const struct elan_question *ask)
{
	return elan_broadcast_if(q, first, last, ask, 0, NULL, 0, 0);
}

int elan_get(struct elan_cq *q, uint32_t rank, uint64_t from, uint64_t to,
	uint32_t bytes, uint32_t event)
{
	int code = cq_check(q, event, 0);
	sim_time born = program_now();

	if (!code && bytes > UINT16_MAX)
		code = EINVAL;
	if (code)
		return code;
	program_charge(cq_params()->software);
	cq_begin(q, 64, born);
	cq_add(q, elan_word(ELAN_OPEN, rank, 0));
	cq_add(q, elan_word(ELAN_GET, bytes, event));
	cq_add(q, from);
	cq_add(q, to);
	cq_add(q, elan_word(ELAN_CLOSE, 0, 0));
	elan_flush(q);
	return 0;
}

int elan_dma(struct elan_cq *q, const struct elan_dma *d)
{
	uint64_t word[1 + ELAN_DMA_WORDS];
	sim_time born = program_now();
	uint32_t n = elan_dma_words(word, d), i;
	int code = cq_may_use(q);

	if (code)
		return code;
	program_charge(cq_params()->software + cq_params()->dma_software);
	cq_begin(q, 8 * n, born);
	for (i = 0; i < n; i++)
		cq_add(q, word[i]);
	elan_flush(q);
	/* what the core still has to do does not hold up the card */
	program_charge(cq_params()->dma_after);
	return 0;
}

int elan_write(struct elan_cq *q, uint32_t rank, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event,
	enum elan_goal goal)
{
	struct elan_dma d = {
		.bytes = bytes,
		.destination = rank,
		.from = from,
		.to = to,
		.source_event = source_event,
		.target_event = target_event,
	};
	uint64_t source = from;
	int code = cq_check(q, target_event, source_event);

	if (code)
		return code;
	if (!cq_find(&source, bytes))
		return EFAULT;
	if (elan_write_is_dma(bytes, goal))
		return elan_dma(q, &d);
	return elan_put_from(
		q, rank, to, from, bytes, target_event, source_event);
}

/* --- waiting --- */

bool elan_wait_word(uint64_t at, uint64_t value)
{
	uint64_t word;

	return cq_find(&at, 8) &&
	       program_poll(at, WORD_IS, value, elan_poll_loop(), &word);
}

struct fired {
	struct nic *nic;
	const struct host *host;
	site_id node;
	uint32_t queue;
	uint64_t at, value;
};

static bool has_fired(void *arg, uint64_t *seen)
{
	const struct fired *f = arg;

	host_read(f->host, f->node, f->at, seen, 8);
	return *seen == f->value ||
	       elan_queue_error(f->nic, f->node, f->queue) != ELAN_FINE;
}

static bool may_wait(const struct elan_cq *q, struct fired *f)
{
	return !cq_may_use(q) && f->at % 8 == 0 && cq_find(&f->at, 8);
}

bool elan_wait_event(const struct elan_cq *q, uint64_t at, uint64_t value)
{
	PROGRAM_CALL("elan_wait_event, queue #", q->id, 0);
	struct fired f = { cq_card(), program_host(), program_node(), q->id, at,
		value };
	uint64_t seen;

	if (!may_wait(q, &f))
		return false;
	program_poll_until(has_fired, &f, elan_poll_loop(), &seen);
	return seen == value;
}

bool cq_wait_done(const struct elan_cq *q, uint64_t at, sim_time after)
{
	PROGRAM_CALL("elan_wait_event, queue #", q->id, 0);
	struct fired f = { cq_card(), program_host(), program_node(), q->id, at,
		1 };
	struct poll_loop loop;
	uint64_t seen;

	if (!may_wait(q, &f))
		return false;
	loop = elan_poll_loop();
	loop.load += after;
	program_poll_done(f.at, has_fired, &f, loop, &seen);
	return seen == f.value;
}

/* --- threads on the card --- */

int elan_thread_load(uint32_t code, elan_code *run)
{
	return elan_thread_load_code(code, run, ELAN_CODE_BYTES);
}

int elan_thread_start(
	struct elan_cq *q, uint32_t code, const uint64_t reg[ELAN_REGISTERS])
{
	uint64_t word[1 + ELAN_REGISTERS] = { elan_word(
		ELAN_RUN_THREAD, code, 0) };

	if (code >= ELAN_CODES)
		return EINVAL;
	for (uint32_t i = 0; i < ELAN_REGISTERS; i++)
		word[i + 1] = reg[i];
	return elan_issue(q, word, 1 + ELAN_REGISTERS);
}

/* --- interrupts --- */

int elan_handle(elan_handler *run, void *arg)
{
	program_be_exact();
	return elan_handler_set(
		cq_card(), program_node(), cq_context(), run, arg);
}

/* --- the card's memory --- */

int elan_card_alloc(uint64_t bytes, uint64_t *at)
{
	if (!at)
		return EFAULT;
	return elan_memory_take(
		cq_card(), program_node(), cq_context(), bytes, at);
}

int elan_card_free(uint64_t at)
{
	return elan_memory_give(cq_card(), program_node(), cq_context(), at);
}

int elan_card_read(uint64_t at, void *to, uint32_t bytes)
{
	uint64_t word;
	sim_time late;

	if (!bytes || bytes % 8 || at % 8)
		return EINVAL;
	elan_vm_find(cq_card(), program_node(), cq_context(), at, bytes, &at);
	for (uint32_t i = 0; i < bytes; i += 8) {
		struct nic_at a = nic_now(cq_card());
		int code = elan_memory_load(
			&a, cq_context(), at + i, &word, &late);

		if (code)
			return code;
		program_charge(cq_params()->read_latency + late);
		memcpy((uint8_t *)to + i, &word, 8);
	}
	return 0;
}

/* --- the node's memory --- */

uint64_t elan_memory_at(void)
{
	return program_base();
}

uint64_t elan_memory_bytes(void)
{
	return host_memory(program_host());
}

bool elan_load_bytes(uint64_t at, void *to, size_t n)
{
	return cq_find(&at, n) && program_read(at, to, n);
}

bool elan_store_bytes(uint64_t at, const void *from, size_t n)
{
	return cq_find(&at, n) && program_write(at, from, n);
}
