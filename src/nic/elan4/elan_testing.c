#include "nic/elan4/elan_testing.h"

#include <string.h>

#include "base/mem.h"
#include "meas/digest.h"
#include "nic/nic_testing.h"
#include "testing/testing.h"

/* --- the machine --- */

void et_init(struct et *m, const char *nodes)
{
	struct machine *x = kit_machine("qsnet2", NULL, NULL);

	memset(m, 0, sizeof(*m));
	m->nodes = nodes;
	m->link = x->link;
	m->router = x->router;
	m->router.own = NULL; /* as routers do by themselves */
	m->params = *(const struct elan_params *)x->nic_params;
	machine_free(x);
	/* A test's time-out is its time-out. */
	m->params.retry.per_node = m->params.retry.round_trips = 0;
	/* Tests of the cache switch it on; the others are about hits. */
	m->params.cache.on = false;
	/* The same goes for the TLBs. */
	m->params.mmu.on = false;
}

void et_start(struct et *m, uint32_t n_workers, uint32_t n_programs)
{
	struct system_setup s = {
		.seed = 1,
		.threads = n_workers,
		.book = m->book,
		.needs = { .n_programs = n_programs,
			.n_processes = m->n_processes },
	};
	struct machine *x = kit_machine("qsnet2", NULL, m->nodes);

	x->link = m->link;
	x->router = m->router;
	((struct updown *)x->route)->spread = m->spread;
	memcpy(x->nic_params, &m->params, sizeof(m->params));
	x->host.memory = ET_MEMORY;
	if (m->faults) {
		fault_plan_free(&x->faults);
		x->faults = *m->faults;
	}
	kit_start(&m->kit, x, &s);
	m->net = m->kit.net;
	m->host = m->kit.host;
	m->nic = m->kit.nic;
	for (site_id i = 0; i < m->net->n_nodes; i++) {
		elan_context_set(m->nic, i, ET_CONTEXT, 0, ET_MEMORY - 1);
		elan_context_set(m->nic, i, ET_OTHER, ET_OTHER_AT,
			ET_OTHER_AT + ET_OTHER_BYTES - 1);
	}
	nic_testing_mail(&m->mail, m->net);
}

void et_go(struct et *m)
{
	nic_testing_finish(m->nic, m->net, m->host);
}

void et_run(struct et *m, uint32_t n_workers, const struct et_program *programs,
	uint32_t n)
{
	et_start(m, n_workers, n);
	for (uint32_t i = 0; i < n; i++)
		program_start(m->host, programs[i].node, i % HOST_THREADS, 0,
			programs[i].run, programs[i].arg);
	et_go(m);
}

void et_run_two(struct et *m, void (*a)(void *), void (*b)(void *), void *arg)
{
	const struct et_program p[] = { { 0, a, arg }, { 1, b, arg } };

	et_run(m, 1, p, b ? 2 : 1);
}

void et_fini(struct et *m)
{
	if (!m->net)
		return;
	if (m->faults) /* the test's own */
		m->kit.machine->faults = (struct fault_plan){ 0 };
	kit_close(&m->kit);
}

int et_set_up(void **state)
{
	*state = mem_alloc(1, sizeof(struct et));
	et_init(*state, "4");
	return 0;
}

int et_tear_down(void **state)
{
	et_fini(*state);
	mem_free(*state);
	return 0;
}

uint64_t et_digest(const struct et *m)
{
	return digest_fold(m->kit.digest, m->net->n_nodes);
}

struct elan_node *et_node(const struct et *m, site_id s)
{
	return nic_node(m->nic, s);
}

const struct bus *et_bus(const struct et *m, site_id s)
{
	return side_bus_at(((struct elan *)m->nic)->side, s);
}

struct elan_counts et_counts(const struct et *m, site_id s)
{
	return elan_counts(m->nic, s);
}

/* --- queues --- */

struct nic *et_card(void)
{
	return host_nic(program_host());
}

struct et_queue et_open_as(
	uint32_t id, enum elan_depth depth, uint32_t rights, uint32_t context)
{
	assert_int_equal(elan_queue_open(et_card(), program_node(), id, depth,
				 rights, context),
		0);
	return (struct et_queue){ .id = id };
}

struct et_queue et_open(uint32_t id)
{
	return et_open_as(id, ELAN_64K, ELAN_MAY_ALL, ET_CONTEXT);
}

struct et_queue et_open_mapped(uint32_t id, enum elan_depth depth, uint64_t at)
{
	struct et_queue q = et_open_as(id, depth, ELAN_MAY_ALL, ET_CONTEXT);

	et_map(&q, at);
	return q;
}

enum elan_error et_error(const struct et_queue *q)
{
	return elan_queue_error(et_card(), program_node(), q->id);
}

uint64_t et_room(const struct et_queue *q)
{
	return elan_queue_room(et_card(), program_node(), q->id);
}

struct looked {
	struct nic *nic;
	site_id node;
	uint32_t queue;
	uint64_t room;
};

static bool has_room(void *arg, uint64_t *seen)
{
	const struct looked *l = arg;

	*seen = elan_queue_room(l->nic, l->node, l->queue);
	return *seen >= l->room;
}

static bool has_error(void *arg, uint64_t *seen)
{
	const struct looked *l = arg;

	*seen = elan_queue_error(l->nic, l->node, l->queue);
	return *seen != ELAN_FINE;
}

void et_wait_room(const struct et_queue *q, uint64_t bytes)
{
	struct looked l = { et_card(), program_node(), q->id, bytes };
	struct poll_loop loop = { .period = 1 };
	uint64_t seen;

	program_poll_until(has_room, &l, loop, &seen);
}

void et_wait_error(const struct et_queue *q, enum elan_error why)
{
	struct looked l = { et_card(), program_node(), q->id, 0 };
	struct poll_loop loop = { .period = 1 };
	uint64_t seen;

	program_poll_until(has_error, &l, loop, &seen);
	assert_string_equal(
		elan_error_text((enum elan_error)seen), elan_error_text(why));
}

void et_store(const struct et_queue *q, int64_t offset, const uint64_t *words,
	uint32_t n)
{
	elan_store(et_card(), program_worker(), program_node(), program_now(),
		q->id, (uint32_t)((q->stored + (uint64_t)offset) % ELAN_PAGE),
		words, n);
}

void et_push(struct et_queue *q, const uint64_t *words, uint32_t n)
{
	sim_time t = program_now();
	uint32_t k;

	for (uint32_t i = 0; i < n; i += k) {
		k = n - i < 8 ? n - i : 8;
		t = elan_store(et_card(), program_worker(), program_node(), t,
			q->id, (uint32_t)(q->stored % ELAN_PAGE), words + i, k);
		q->stored += 8 * k;
	}
	program_wait(t);
}

/* --- commands --- */

uint32_t et_packet(uint64_t *words, site_id node, uint64_t to, uint64_t seed,
	uint32_t bytes, uint32_t target_event, uint32_t source_event)
{
	uint32_t n = 0;

	words[n++] = elan_word(ELAN_OPEN, node, 0);
	if (bytes) {
		words[n++] = elan_word(ELAN_WRITE, bytes, 0);
		words[n++] = to;
	}
	for (uint32_t i = 0; i < bytes; i++) {
		uint64_t byte = et_byte(seed, i);

		if (i % 8 == 0)
			words[n++] = 0;
		words[n - 1] |= byte << i % 8 * 8;
	}
	if (target_event)
		words[n++] =
			elan_word(ELAN_SET, target_event, bytes ? bytes : 1);
	words[n++] = elan_word(ELAN_CLOSE, source_event, 0);
	return n;
}

void et_put(struct et_queue *q, site_id node, uint64_t to, uint64_t seed,
	uint32_t bytes, uint32_t target_event, uint32_t source_event)
{
	uint64_t words[ET_PACKET_WORDS];

	et_push(q, words,
		et_packet(words, node, to, seed, bytes, target_event,
			source_event));
}

void et_get(struct et_queue *q, site_id node, uint64_t from, uint64_t to,
	uint32_t bytes, uint32_t event)
{
	uint64_t words[] = {
		elan_word(ELAN_OPEN, node, 0),
		elan_word(ELAN_GET, bytes, event),
		from,
		to,
		elan_word(ELAN_CLOSE, 0, 0),
	};

	et_push(q, words, 5);
}

struct elan_dma et_dma_to(site_id node, uint64_t bytes, uint32_t source_event,
	uint32_t target_event)
{
	return (struct elan_dma){ .bytes = bytes,
		.destination = node,
		.from = ET_SOURCE,
		.to = ET_TARGET,
		.source_event = source_event,
		.target_event = target_event };
}

void et_dma(struct et_queue *q, const struct elan_dma *d)
{
	uint64_t words[1 + ELAN_DMA_WORDS] = { ELAN_RUN_DMA };

	memcpy(words + 1, d, sizeof(*d));
	et_push(q, words, 1 + ELAN_DMA_WORDS);
}

void et_cast(struct et_queue *q, uint32_t first, uint32_t last, uint64_t to,
	uint64_t seed, uint32_t bytes, uint32_t target_event,
	uint32_t source_event)
{
	uint64_t words[ET_PACKET_WORDS + 1];
	uint32_t n = et_packet(
		words + 1, first, to, seed, bytes, target_event, source_event);

	words[0] = elan_word(ELAN_OPEN_RANGE, first, 0);
	words[1] = last;
	et_push(q, words, n + 1);
}

void et_expect_at(const struct et *m, site_id s, uint64_t at, uint64_t seed,
	uint32_t bytes, bool has)
{
	uint8_t data[ELAN_PACKET];

	host_read(m->host, s, at, data, bytes);
	for (uint32_t i = 0; i < bytes; i++)
		if (data[i] != (has ? et_byte(seed, i) : 0))
			fail_msg("node %u: byte %u of %llu is %u", s, i,
				(unsigned long long)seed, data[i]);
}

uint64_t et_sum(const struct et *m, size_t field)
{
	uint64_t n = 0;

	for (site_id s = 0; s < m->net->n_nodes; s++) {
		struct elan_counts c = et_counts(m, s);

		n += *(const uint64_t *)((const char *)&c + field);
	}
	return n;
}

void et_load(uint32_t context, uint32_t code, elan_code *run)
{
	assert_int_equal(elan_code_load(et_card(), program_node(), context,
				 code, run, 0, NULL),
		0);
}

void et_map(const struct et_queue *q, uint64_t at)
{
	assert_int_equal(
		elan_queue_map(et_card(), program_node(), q->id, at), 0);
}

uint32_t et_thread_words(uint64_t *words, uint32_t code, uint64_t r)
{
	words[0] = elan_word(ELAN_RUN_THREAD, code, 0);
	for (uint32_t i = 0; i < ELAN_REGISTERS; i++)
		words[i + 1] = r + i;
	return 1 + ELAN_REGISTERS;
}

void et_thread(struct et_queue *q, uint32_t code, uint64_t r)
{
	uint64_t words[1 + ELAN_REGISTERS];

	et_push(q, words, et_thread_words(words, code, r));
}

void et_arm(struct et_queue *q, uint32_t event, uint64_t count)
{
	uint64_t words[] = {
		elan_word(ELAN_ARM, event, 0),
		count,
		ET_FLAG + 8 * event,
		1,
	};

	et_push(q, words, 4);
}

void et_arm_copy(struct et_queue *q, uint32_t event, uint64_t count,
	uint64_t to, const uint64_t *words, uint32_t n)
{
	uint64_t w[3 + ELAN_COPY_MOST / 8];

	w[0] = elan_word(ELAN_ARM_COPY, event, 8 * n);
	w[1] = count;
	w[2] = to;
	memcpy(w + 3, words, 8 * n);
	et_push(q, w, 3 + n);
}

void et_add(struct et_queue *q, uint32_t event, uint32_t count)
{
	uint64_t word = elan_word(ELAN_ADD, event, count);

	et_push(q, &word, 1);
}

uint32_t et_dma_words(uint64_t *words, const struct elan_dma *d)
{
	words[0] = ELAN_RUN_DMA;
	memcpy(words + 1, d, sizeof(*d));
	return 1 + ELAN_DMA_WORDS;
}

uint32_t et_store_words(uint64_t *words, uint64_t at, uint64_t value)
{
	words[0] = ELAN_STORE;
	words[1] = at;
	words[2] = value;
	return 3;
}

void et_wait_word(uint64_t at, uint64_t value)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	assert_true(program_poll(at, WORD_IS, value, loop, &word));
}

void et_wait_event(uint32_t event)
{
	uint64_t none = 0;

	et_wait_word(ET_FLAG + 8 * event, 1);
	assert_true(program_write(ET_FLAG + 8 * event, &none, 8));
}

/* --- memory --- */

uint64_t et_word(uint64_t at)
{
	uint64_t word;

	assert_true(program_read(at, &word, 8));
	return word;
}
