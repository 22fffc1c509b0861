#include "api/elan.h"

#include <errno.h>
#include <string.h>

#include "host/program.h"

/* Longer puts are not reckoned with. */
#define PUT_MOST (UINT64_C(1) << 32)

/* How far ahead of the bus stores are handed over: two full packets. */
static const sim_time AHEAD = 2500 * SIM_NS;

static struct nic *card(void)
{
	struct nic *nic = host_nic(program_host());

	BUG_IF(!nic || nic->ops != &elan4_ops);
	BUG_IF(program_is_card()); /* a thread on the card is no program */
	return nic;
}

static const struct elan_params *params(void)
{
	return elan_params_of(card());
}

static const struct elan_host *host(void)
{
	return &params()->host[params()->platform];
}

/* From the bridge to the CPU that the program runs on, more than to the
 * first. */
static sim_time way(void)
{
	return program_thread() % params()->cpus * host()->hop;
}

/* --- queues --- */

int elan_cq_open(
	struct elan_cq *q, uint32_t id, enum elan_depth depth, uint32_t rights)
{
	struct nic *nic = card();
	int code = elan_queue_open(
		nic, program_node(), id, depth, rights, ELAN_CONTEXT);

	*q = (struct elan_cq){ .id = id };
	if (!code)
		elan_context_set(nic, program_node(), ELAN_CONTEXT, 0,
			host_memory(program_host()) - 1);
	return code;
}

int elan_cq_close(struct elan_cq *q)
{
	return elan_queue_close(card(), program_node(), q->id);
}

int elan_cq_restart(struct elan_cq *q)
{
	int code = elan_queue_restart(card(), program_node(), q->id);

	if (!code)
		*q = (struct elan_cq){ .id = q->id };
	return code;
}

enum elan_error elan_cq_error(const struct elan_cq *q)
{
	return elan_queue_error(card(), program_node(), q->id);
}

const char *elan_error_name(enum elan_error error)
{
	return (uint32_t)error < ELAN_ERRORS ? elan_error_names[error]
					     : "unknown";
}

int elan_cq_map(struct elan_cq *q, uint64_t address)
{
	return elan_queue_map(card(), program_node(), q->id, address);
}

static bool is_open(const struct elan_cq *q)
{
	return elan_queue_is_open(card(), program_node(), q->id);
}

/* What is wrong with a command of a queue that has these events. */
static int check(const struct elan_cq *q, uint64_t event, uint64_t other)
{
	if (!is_open(q))
		return EBADF;
	return event < ELAN_EVENTS && other < ELAN_EVENTS ? 0 : EINVAL;
}

struct room {
	struct nic *nic;
	site_id node;
	uint32_t queue, bytes;
};

static bool has_room(void *arg, uint64_t *seen)
{
	const struct room *r = arg;

	*seen = elan_queue_room(r->nic, r->node, r->queue);
	/* A stopped queue takes nothing, and drops what it gets. */
	return *seen >= r->bytes ||
	       elan_queue_error(r->nic, r->node, r->queue) != ELAN_FINE;
}

struct poll_loop elan_poll_loop(void)
{
	return nic_poll_loop(
		card(), params()->poll_period, params()->poll_load + way());
}

/*
 * Stores n of the words that wait.  A core's stores go one burst after the
 * other as fast as the bus takes them, and what it will store next is known;
 * so they are handed over some time ahead, and the core waits when that
 * becomes too long.
 */
static void store(struct elan_cq *q, uint32_t n)
{
	uint32_t most = (uint32_t)host()->pio_burst / 8, i, k;

	if (q->free_at < program_now() + way())
		q->free_at = program_now() + way();
	for (i = 0; i < n; i += k) {
		k = n - i < most ? n - i : most;
		q->free_at = elan_store(card(), program_worker(),
			program_node(), q->free_at, q->id,
			(uint32_t)(q->stored % ELAN_PAGE), q->word + i, k);
		q->stored += 8 * k;
	}
	q->n -= n;
	memmove(q->word, q->word + n, 8 * q->n);
	program_wait(q->free_at - AHEAD);
}

void elan_flush(struct elan_cq *q)
{
	store(q, q->n);
	program_wait(q->free_at);
}

static void add(struct elan_cq *q, uint64_t word)
{
	uint32_t most = (uint32_t)host()->pio_burst / 8;

	if (q->n == ELAN_CQ_WORDS)
		store(q, q->n - q->n % most);
	q->word[q->n++] = word;
}

/* Waits until so many bytes fit, behind the words that wait. */
static void need_room(struct elan_cq *q, uint32_t bytes)
{
	struct room r = { card(), program_node(), q->id, bytes + 8 * q->n };
	uint64_t seen;

	if (has_room(&r, &seen))
		return;
	store(q, q->n);
	r.bytes = bytes;
	if (!has_room(&r, &seen))
		program_poll_until(has_room, &r, elan_poll_loop(), &seen);
}

/* --- commands --- */

int elan_issue(struct elan_cq *q, const uint64_t *words, uint32_t n)
{
	uint32_t i;

	if (!is_open(q))
		return EBADF;
	if (n > ELAN_CQ_WORDS)
		return EINVAL;
	need_room(q, 8 * n);
	for (i = 0; i < n; i++)
		add(q, words[i]);
	elan_flush(q);
	return 0;
}

int elan_arm(struct elan_cq *q, uint32_t event, uint64_t count,
	uint64_t address, uint64_t value)
{
	int code = check(q, event, 0);

	if (code)
		return code;
	need_room(q, 32);
	add(q, elan_word(ELAN_ARM, event, 0));
	add(q, count);
	add(q, address);
	add(q, value);
	elan_flush(q);
	return 0;
}

int elan_set(struct elan_cq *q, uint32_t event, uint32_t count)
{
	int code = check(q, event, 0);

	if (code)
		return code;
	need_room(q, 8);
	add(q, elan_word(ELAN_ADD, event, count));
	elan_flush(q);
	return 0;
}

uint64_t elan_put_packets(uint64_t bytes)
{
	return bytes ? bytes / ELAN_PACKET + (bytes % ELAN_PACKET != 0) : 1;
}

static void add_write(struct elan_cq *q, uint64_t to, const uint8_t *data,
	uint32_t bytes, bool closes)
{
	uint64_t word;
	uint32_t i;

	add(q, elan_word(ELAN_WRITE, bytes, 0) | (closes ? ELAN_CLOSES : 0));
	add(q, to);
	for (i = 0; i < bytes; i += 8) {
		word = 0;
		memcpy(&word, data + i, bytes - i < 8 ? bytes - i : 8);
		add(q, word);
	}
}

/* What a put or a broadcast is about. */
struct put {
	bool is_range;
	uint32_t node, last; /* of a range: the first and last ones */
	uint64_t to;
	const uint8_t *data; /* or NULL: */
	uint64_t from; /* in this node's memory */
	uint64_t bytes;
	uint32_t target_event, source_event;
};

/* The part of it that begins at some byte, of which data is the first. */
static void put_packet(struct elan_cq *q, const struct put *p, uint64_t at,
	const uint8_t *data, uint32_t bytes, sim_time born)
{
	bool is_plain = bytes && !p->target_event && !p->source_event;

	need_room(q, ELAN_PACKET + 64);
	elan_note_birth(
		card(), program_node(), q->id, q->stored + 8 * q->n, born);
	add(q, elan_word(
		       p->is_range ? ELAN_OPEN_RANGE : ELAN_OPEN, p->node, 0));
	if (p->is_range)
		add(q, p->last);
	if (bytes)
		add_write(q, p->to + at, data, bytes, is_plain);
	if (p->target_event)
		add(q, elan_word(ELAN_SET, p->target_event, bytes ? bytes : 1));
	if (!is_plain)
		add(q, elan_word(ELAN_CLOSE, p->source_event, 0));
}

/* Whether this node has all of these bytes. */
static bool is_here(uint64_t at, uint64_t bytes)
{
	uint64_t memory = elan_memory_bytes();

	return at <= memory && bytes <= memory - at;
}

static int put(struct elan_cq *q, const struct put *p)
{
	int code = check(q, p->target_event, p->source_event);
	uint8_t block[ELAN_PACKET];
	sim_time born = program_now();
	uint64_t at = 0;

	if (code)
		return code;
	if (!p->data && !is_here(p->from, p->bytes))
		return EFAULT;
	program_charge(params()->software);
	do {
		uint64_t left = p->bytes - at;
		uint32_t n = left < ELAN_PACKET ? (uint32_t)left : ELAN_PACKET;

		if (!p->data)
			program_read(p->from + at, block, n);
		put_packet(q, p, at, p->data ? p->data + at : block, n, born);
		born = SIM_NEVER;
		at += n;
	} while (at < p->bytes);
	elan_flush(q);
	return 0;
}

int elan_put(struct elan_cq *q, uint32_t node, uint64_t to, const void *data,
	uint64_t bytes, uint32_t target_event, uint32_t source_event)
{
	struct put p = { .node = node,
		.to = to,
		.data = data,
		.bytes = bytes,
		.target_event = target_event,
		.source_event = source_event };

	if (bytes && !data)
		return EFAULT;
	return put(q, &p);
}

int elan_put_from(struct elan_cq *q, uint32_t node, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event)
{
	struct put p = { .node = node,
		.to = to,
		.from = from,
		.bytes = bytes,
		.target_event = target_event,
		.source_event = source_event };

	return put(q, &p);
}

int elan_broadcast(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, const void *data, uint64_t bytes, uint32_t target_event,
	uint32_t source_event)
{
	struct put p = { .is_range = true,
		.node = first,
		.last = last,
		.to = to,
		.data = data,
		.bytes = bytes,
		.target_event = target_event,
		.source_event = source_event };

	if (bytes && !data)
		return EFAULT;
	return put(q, &p);
}

int elan_broadcast_from(struct elan_cq *q, uint32_t first, uint32_t last,
	uint64_t to, uint64_t from, uint64_t bytes, uint32_t target_event,
	uint32_t source_event)
{
	struct put p = { .is_range = true,
		.node = first,
		.last = last,
		.to = to,
		.from = from,
		.bytes = bytes,
		.target_event = target_event,
		.source_event = source_event };

	return put(q, &p);
}

int elan_get(struct elan_cq *q, uint32_t node, uint64_t from, uint64_t to,
	uint32_t bytes, uint32_t event)
{
	int code = check(q, event, 0);
	sim_time born = program_now();

	if (!code && bytes > UINT16_MAX)
		code = EINVAL;
	if (code)
		return code;
	program_charge(params()->software);
	need_room(q, 64);
	elan_note_birth(
		card(), program_node(), q->id, q->stored + 8 * q->n, born);
	add(q, elan_word(ELAN_OPEN, node, 0));
	add(q, elan_word(ELAN_GET, bytes, event));
	add(q, from);
	add(q, to);
	add(q, elan_word(ELAN_CLOSE, 0, 0));
	elan_flush(q);
	return 0;
}

int elan_dma(struct elan_cq *q, const struct elan_dma *d)
{
	uint64_t word[ELAN_DMA_WORDS];
	sim_time born = program_now();
	uint32_t i;

	if (!is_open(q))
		return EBADF;
	program_charge(params()->software);
	need_room(q, 8 * (1 + ELAN_DMA_WORDS));
	elan_note_birth(
		card(), program_node(), q->id, q->stored + 8 * q->n, born);
	memcpy(word, d, sizeof(word));
	add(q, elan_word(ELAN_RUN_DMA, 0, 0));
	for (i = 0; i < ELAN_DMA_WORDS; i++)
		add(q, word[i]);
	elan_flush(q);
	/* what the core still has to do does not hold up the card */
	program_charge(params()->dma_software);
	return 0;
}

/* --- the library's choice --- */

/* Of bytes of commands. */
static sim_time stores_take(uint64_t bytes)
{
	uint64_t burst = (uint64_t)host()->pio_burst;
	sim_time bursts = (sim_time)((bytes + burst - 1) / burst);

	return way() + bursts * host()->pio_overhead +
	       (sim_time)((bytes + 7) / 8 * 8 / (uint64_t)params()->bus.width) *
		       params()->bus.clock;
}

sim_time elan_put_time(uint64_t bytes)
{
	if (bytes > PUT_MOST)
		return INT64_MAX;
	return params()->software +
	       stores_take(bytes + 24 * elan_put_packets(bytes));
}

sim_time elan_dma_time(void)
{
	return params()->software + params()->dma_software +
	       stores_take(8 * (1 + ELAN_DMA_WORDS));
}

bool elan_write_is_dma(uint64_t bytes, enum elan_goal goal)
{
	if (goal == ELAN_FOR_CPU)
		return elan_put_time(bytes) > elan_dma_time();
	return bytes >= (uint64_t)params()->dma_from;
}

uint64_t elan_write_acks(uint64_t bytes, enum elan_goal goal)
{
	return elan_write_is_dma(bytes, goal) ? 1 : elan_put_packets(bytes);
}

int elan_write(struct elan_cq *q, uint32_t node, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t target_event, uint32_t source_event,
	enum elan_goal goal)
{
	struct elan_dma d = {
		.bytes = bytes,
		.destination = node,
		.from = from,
		.to = to,
		.source_event = source_event,
		.target_event = target_event,
	};

	int code = check(q, target_event, source_event);

	if (code)
		return code;
	if (!is_here(from, bytes))
		return EFAULT;
	if (elan_write_is_dma(bytes, goal))
		return elan_dma(q, &d);
	return elan_put_from(
		q, node, to, from, bytes, target_event, source_event);
}

/* --- waiting, and memory --- */

bool elan_wait_word(uint64_t at, uint64_t value)
{
	uint64_t word;

	return program_poll(at, WORD_IS, value, elan_poll_loop(), &word);
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

bool elan_wait_event(const struct elan_cq *q, uint64_t at, uint64_t value)
{
	struct fired f = { card(), program_host(), program_node(), q->id, at,
		value };
	uint64_t seen;

	if (!is_open(q) || at % 8 || !is_here(at, 8))
		return false;
	program_poll_until(has_fired, &f, elan_poll_loop(), &seen);
	return seen == value;
}

uint64_t elan_memory_bytes(void)
{
	return host_memory(program_host());
}

bool elan_load_bytes(uint64_t at, void *to, size_t n)
{
	return program_read(at, to, n);
}

bool elan_store_bytes(uint64_t at, const void *from, size_t n)
{
	return program_write(at, from, n);
}
