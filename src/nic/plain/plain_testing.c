#include "nic/plain/plain_testing.h"

#include "testing/testing.h"

void pt_init(struct pt *m)
{
	*m = (struct pt){ 0 };
	nic_testing_init(&m->t, &plain_ops, "4");
	m->params = m->t.params;
}

void pt_run(struct pt *m, uint32_t n_workers, uint32_t n, void (*run)(void *))
{
	nic_testing_start(&m->t, n_workers, PT_NODES);
	for (site_id i = 0; i < PT_NODES; i++) {
		struct ranges *keys = plain_keys(m->t.nic, i);

		ranges_add(keys, PT_KEY, PT_TARGET, PT_BYTES,
			PLAIN_FLAGS(
				0, PLAIN_READ | PLAIN_WRITE | PLAIN_ATOMIC));
		ranges_add(
			keys, PT_OWN, PT_SOURCE, PT_BYTES, PLAIN_FLAGS(0, 0));
		ranges_add(keys, PT_READ_ONLY, PT_TARGET, PT_BYTES,
			PLAIN_FLAGS(0, PLAIN_READ));
		ranges_add(keys, PT_FOREIGN, PT_SOURCE, PT_BYTES,
			PLAIN_FLAGS(1, 7));
		ranges_add(keys, PT_NOWHERE, UINT64_MAX - PT_BYTES, PT_BYTES,
			PLAIN_FLAGS(0, 7));
	}
	for (site_id i = 0; i < n; i++)
		program_start(m->t.host, i, 0, 0, run, m);
	nic_testing_run(&m->t);
}

void pt_fini(struct pt *m)
{
	nic_testing_fini(&m->t);
}

uint64_t pt_word_at(const struct pt *m, site_id node, uint64_t at)
{
	uint64_t word = 0;

	assert_true(host_read(m->t.host, node, at, &word, 8));
	return word;
}

/* --- for programs --- */

static struct nic_at at_now(const struct pt_queue *q)
{
	return nic_at(q->nic, program_worker(), program_node(), program_now());
}

struct pt_queue pt_open_as(uint32_t id, uint32_t process, uint32_t completions)
{
	struct pt_queue q = {
		.nic = host_nic(program_host()),
		.all = plain_queues(
			host_nic(program_host()), program_node(), 0),
		.id = id,
		.at = PT_RINGS + id * 0x10000,
	};
	struct workq_rings r = {
		.owner = process,
		.n_entries = PT_ENTRIES,
		.n_completions = completions,
		.entries_at = q.at,
		.completions_at =
			q.at + PT_ENTRIES * sizeof(struct plain_entry),
	};

	struct nic_at a = at_now(&q);

	struct workq_completion none[PT_ENTRIES] = { { 0 } };

	/* of an earlier life */
	program_write(r.completions_at, none, sizeof(none));
	assert_int_equal(workqs_open(&a, q.all, id, &r), 0);
	return q;
}

struct pt_queue pt_open(uint32_t id)
{
	return pt_open_as(id, 0, PT_ENTRIES);
}

void pt_write(struct pt_queue *q, struct plain_entry e)
{
	e.key = e.key ? e.key : PT_KEY;
	e.own_key = e.own_key ? e.own_key : PT_OWN;
	if (e.node == program_node())
		e.node = (e.node + 1) % PT_NODES;
	if (e.node == PT_SELF)
		e.node = program_node();
	assert_true(program_write(
		q->at + q->written++ % PT_ENTRIES * sizeof(e), &e, sizeof(e)));
}

void pt_ring(struct pt_queue *q)
{
	struct nic_at a = at_now(q);

	workqs_ring(&a, q->all, q->id, q->written, q->taken, a.t, a.t);
}

void pt_post(struct pt_queue *q, struct plain_entry e)
{
	pt_write(q, e);
	pt_ring(q);
}

struct workq_completion pt_wait(struct pt_queue *q)
{
	uint64_t at = q->at + PT_ENTRIES * sizeof(struct plain_entry) +
		      q->taken % PT_ENTRIES * sizeof(struct workq_completion);
	struct poll_loop loop = { .period = 10 * SIM_NS };
	struct workq_completion c;
	uint64_t word;

	assert_true(program_poll(at + offsetof(struct workq_completion, number),
		WORD_IS, ++q->taken, loop, &word));
	assert_true(program_read(at, &c, sizeof(c)));
	return c;
}

void pt_store(uint64_t at, uint64_t word)
{
	assert_true(program_write(at, &word, 8));
}

uint64_t pt_load(uint64_t at)
{
	uint64_t word = 0;

	assert_true(program_read(at, &word, 8));
	return word;
}
