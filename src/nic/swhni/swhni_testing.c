#include "nic/swhni/swhni_testing.h"

#include <string.h>

#include "host/side_bus.h"
#include "testing/testing.h"

void st_init(struct st *m)
{
	*m = (struct st){ .machine = "sunway-32" };
}

void st_set(struct st *m, const char *set)
{
	assert_true(m->n_sets < ST_SETS);
	m->sets[m->n_sets++] = set;
}

static void program(void *arg)
{
	struct st *m = arg;

	m->run(m, program_node());
}

uint64_t st_run(struct st *m, uint32_t n, void (*run)(struct st *, site_id))
{
	struct kit_how how = {
		.machine = m->machine,
		.shape = m->shape,
		.sets = m->sets,
		.faults = m->faults,
		.n_workers = m->n_workers,
	};
	uint32_t processes = m->n_processes ? m->n_processes : 1;

	m->run = run;
	how.needs.n_processes = m->n_processes;
	how.needs.n_programs = 64 * processes;
	kit_open(&m->kit, &how);
	if (m->prepare)
		m->prepare(m);
	n = n ? n : m->kit.net->n_nodes;
	for (site_id i = 0; i < n; i++)
		for (uint32_t k = 0; k < processes; k++)
			program_start(m->kit.host, i,
				k * host_threads_each(m->kit.host), 0, program,
				m);
	return kit_run(&m->kit, m->may_err);
}

void st_fini(struct st *m)
{
	kit_close(&m->kit);
}

const struct swhni_params *st_params(const struct st *m)
{
	return m->kit.nic->params;
}

uint64_t st_word_at(const struct st *m, site_id node, uint64_t at)
{
	uint64_t word = 0;

	assert_true(host_read(m->kit.host, node, at, &word, 8));
	return word;
}

/* Words of four bytes, at the rate of sixteen lanes. */
sim_time st_bus(const struct st *m, uint32_t bytes)
{
	int64_t rate = host_side(m->kit.host)->rate;
	sim_time words = (bytes + 26 + 3) / 4;

	return (words * 4 * PS_PER_S + rate - 1) / rate;
}

sim_time st_net(const struct st *m, bool is_far, uint32_t bytes)
{
	sim_time wires = 65 + 60 + 65; /* ns: one switch */

	if (is_far)
		wires += 2 * (60 + 65);
	return wires * SIM_NS + link_ser(&m->kit.net->link, bytes);
}

/* --- for programs --- */

struct nic_at st_now(const struct st_queue *q)
{
	return nic_at(q->nic, program_worker(), program_node(), program_now());
}

static void add_key(const struct st_queue *q, const struct swhni_setup *s,
	uint32_t key, uint64_t at, uint32_t rights)
{
	struct nic_at a = st_now(q);
	struct swhni_handle h = {
		.key = key,
		.job = s->job,
		.process = s->process,
		.space = SWHNI_SEGMENT,
		.rights = (uint8_t)rights,
		.at = at,
		.bytes = ST_BYTES,
	};

	if (!swhni_handle(q->nic, program_node(), key))
		assert_int_equal(swhni_register(&a, &h), 0);
}

struct st_queue st_open_as(const struct swhni_setup *s)
{
	struct st_queue q = { .nic = host_nic(program_host()),
		.process = s->process };
	struct nic_at a = st_now(&q);
	struct workq_completion none[ST_ENTRIES] = { { 0 } };
	struct swhni_slot empty = { 0 };
	struct workq_rings r = { .n_entries = ST_ENTRIES,
		.n_completions = ST_ENTRIES };

	assert_int_equal(swhni_open(&a, s, &q.interface), 0);
	q.at = ST_RINGS + (uint64_t)q.interface * ST_EACH;
	r.entries_at = q.at;
	r.completions_at = q.at + ST_COMPLETIONS;
	program_write(r.completions_at, none, sizeof(none));
	for (uint32_t i = 0; i < ST_SLOTS; i++)
		program_write(q.at + ST_RECEIVE + i * SWHNI_SLOT, &empty,
			sizeof(empty));
	assert_int_equal(swhni_open_queues(&a, q.interface, &r), 0);
	assert_int_equal(swhni_open_receive(
				 &a, q.interface, q.at + ST_RECEIVE, ST_SLOTS),
		0);
	add_key(&q, s, ST_KEY, ST_TARGET, SWHNI_MAY_READ | SWHNI_MAY_WRITE);
	add_key(&q, s, ST_OWN, ST_SOURCE, 0);
	return q;
}

struct st_queue st_open(void)
{
	struct swhni_setup s = {
		.job = ST_JOB,
		.process = program_process(),
		.engine = swhni_engine(
			host_nic(program_host()), program_process()),
	};

	return st_open_as(&s);
}

struct swhni_descriptor st_write(site_id node, uint64_t offset, uint32_t bytes)
{
	return (struct swhni_descriptor){
		.type = SWHNI_WRITE,
		.flags = SWHNI_TELL,
		.node = node,
		.bytes = bytes,
		.key = ST_KEY,
		.offset = offset,
		.own_key = ST_OWN,
		.own_offset = offset,
	};
}

void st_put(struct st_queue *q, const struct swhni_descriptor *d)
{
	assert_true(program_write(
		q->at + q->written++ % ST_ENTRIES * sizeof(*d), d, sizeof(*d)));
}

void st_ring(struct st_queue *q)
{
	struct nic_at a = st_now(q);

	assert_int_equal(swhni_ring(&a, q->interface, q->process, q->written,
				 q->taken, a.t, a.t),
		0);
}

void st_post(struct st_queue *q, const struct swhni_descriptor *d)
{
	st_put(q, d);
	st_ring(q);
}

static uint64_t completion_at(const struct st_queue *q, uint32_t i)
{
	return q->at + ST_COMPLETIONS +
	       i % ST_ENTRIES * sizeof(struct workq_completion);
}

struct workq_completion st_wait(struct st_queue *q)
{
	uint64_t at = completion_at(q, q->taken);
	struct workq_completion c;

	st_await(at + offsetof(struct workq_completion, number), ++q->taken);
	assert_true(program_read(at, &c, sizeof(c)));
	return c;
}

bool st_has(const struct st_queue *q)
{
	return st_load(completion_at(q, q->taken) +
		       offsetof(struct workq_completion, number)) ==
	       q->taken + 1;
}

uint32_t st_error(struct st_queue *q)
{
	return SWHNI_ERROR_OF(st_wait(q).status);
}

static uint64_t slot_at(const struct st_queue *q)
{
	return q->at + ST_RECEIVE + q->received % ST_SLOTS * SWHNI_SLOT;
}

bool st_has_message(const struct st_queue *q)
{
	return st_load(slot_at(q)) == q->received + 1;
}

struct swhni_slot st_receive(struct st_queue *q, void *data)
{
	uint64_t at = slot_at(q);
	struct nic_at a;
	struct swhni_slot s;

	st_await(at, ++q->received);
	assert_true(program_read(at, &s, sizeof(s)));
	if (data)
		assert_true(program_read(at + sizeof(s), data, s.bytes));
	a = st_now(q);
	assert_int_equal(
		swhni_took(&a, q->interface, q->process, q->received), 0);
	return s;
}

void st_store(uint64_t at, uint64_t word)
{
	assert_true(program_write(at, &word, 8));
}

uint64_t st_load(uint64_t at)
{
	uint64_t word = 0;

	assert_true(program_read(at, &word, 8));
	return word;
}

void st_await(uint64_t at, uint64_t word)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t seen;

	assert_true(program_poll(at, WORD_IS, word, loop, &seen));
}

void st_fill(uint64_t at, uint64_t bytes, uint64_t number)
{
	uint8_t block[4096];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		memory_fill_by(1, number, i, block, n);
		assert_true(program_write(at + i, block, n));
	}
}

bool st_is(uint64_t at, uint64_t bytes, uint64_t number)
{
	uint8_t block[4096];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		assert_true(program_read(at + i, block, n));
		if (!memory_is_by(1, number, i, block, n))
			return false;
	}
	return true;
}
