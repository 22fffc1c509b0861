/* Virtual machines: the broker, their way, their crashes. */
#include <errno.h>
#include <string.h>

#include "api/sw/sw.h"
#include "testing/sw_testing.h"

enum { MOST = 128, PROCESSES = 4 };

#define AT_SOURCE UINT64_C(0x100000)
#define AT_TARGET UINT64_C(0x200000)
#define SPACE	  UINT64_C(0x400000)
#define START	  (50 * US)

struct world;

struct guest {
	struct world *w;
	uint32_t node, process;
	struct weft_sw *dev;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq;
	uint32_t key;
};

struct world {
	struct kit kit;
	void (*run)(struct guest *g);
	uint32_t n_nodes, n_workers;
	uint64_t result[8], digest;
	sim_time last;
};

static void open_guest(struct guest *g, const struct weft_sw_options *o)
{
	assert_int_equal(weft_sw_open(o, &g->dev), 0);
	assert_int_equal(weft_sw_create_cq(g->dev, 256, false, &g->cq), 0);
	assert_int_equal(weft_sw_create_sq(g->dev, g->cq, 16, &g->sq), 0);
	assert_int_equal(weft_sw_reg_segment(g->dev, 0, SPACE,
				 WEFT_SW_READ | WEFT_SW_WRITE, &g->key),
		0);
}

static void program(void *arg)
{
	struct world *w = arg;
	struct guest g = {
		.w = w, .node = program_node(), .process = program_process()
	};

	w->run(&g);
}

/* Processes of the first nodes, each a program. */
static void run_world(struct world *w, const char *const *sets, bool may_err)
{
	struct kit_how how = {
		.machine = "sunway-32", .sets = sets, .n_workers = w->n_workers
	};

	w->n_nodes = w->n_nodes ? w->n_nodes : 2;
	how.needs.n_programs = w->n_nodes * PROCESSES;
	how.needs.n_processes = PROCESSES;
	kit_open(&w->kit, &how);
	for (uint32_t i = 0; i < how.needs.n_programs; i++)
		program_start(w->kit.host, i / PROCESSES,
			i % PROCESSES * host_threads_each(w->kit.host), 0,
			program, w);
	w->digest = kit_run(&w->kit, may_err);
}

static const char *const two_vms[] = { "nic.vms=2", NULL };

/* --- SUN-F84: on demand --- */

static uint32_t take_all(struct guest *g, struct weft_sw_sq *sq[MOST])
{
	uint32_t n = 0;
	int code;

	while (n < MOST &&
		!(code = weft_sw_create_sq(g->dev, g->cq, 2, &sq[n])))
		n++;
	if (n < MOST)
		assert_int_equal(code, ENOSPC);
	return n;
}

/* Process 0, of machine 1, takes all; what it gives back machine 2 has. */
static void broker_run(struct guest *g)
{
	struct weft_sw_sq *sq[MOST];
	struct weft_sw_vm vm[3];
	uint32_t n;

	if (g->node || g->process > 1)
		return;
	assert_int_equal(weft_sw_open(NULL, &g->dev), 0);
	assert_int_equal(weft_sw_create_cq(g->dev, 256, false, &g->cq), 0);
	if (g->process) {
		program_wait(2 * US);
		assert_int_equal(take_all(g, sq), 0);
		program_wait(4 * US);
		assert_int_equal(take_all(g, sq), 50);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(
				weft_sw_query_vm(g->dev, i, &vm[i]), 0);
		assert_int_equal(vm[0].interfaces + vm[0].granted, 0);
		assert_int_equal(vm[1].interfaces, 78);
		assert_int_equal(vm[1].granted, 128);
		assert_int_equal(vm[1].returned, 50);
		assert_int_equal(vm[2].interfaces, 50);
		assert_int_equal(vm[2].refused, 2);
		return;
	}
	program_wait(1 * US);
	n = take_all(g, sq);
	assert_int_equal(n, 128);
	program_wait(3 * US);
	while (n > 78)
		assert_int_equal(weft_sw_destroy_sq(sq[--n]), 0);
	program_wait(5 * US);
}

/* SUN-F84 */
static void a_broker_gives_and_takes_and_has_no_shares(void **state)
{
	struct world w = { .run = broker_run };

	run_world(&w, two_vms, false);
	kit_close(&w.kit);
}

/* --- SUN-F86: the way of a message --- */

static struct weft_sw_work write_to(
	const struct guest *g, uint32_t node, uint32_t bytes)
{
	return (struct weft_sw_work){
		.to = { .node = node, .engine = (uint8_t)(g->process % 2) },
		.key = g->key,
		.own_key = g->key,
		.at = AT_TARGET,
		.own_at = AT_SOURCE,
		.bytes = bytes,
	};
}

static uint32_t status_of(struct guest *g)
{
	struct weft_sw_completion c;

	assert_int_equal(weft_sw_wait(g->cq, &c, WEFT_SW_FOREVER), 0);
	return c.status;
}

static void way_run(struct guest *g)
{
	struct weft_sw_work x;
	struct weft_sw_vm vm;
	uint32_t own;

	if (g->process)
		return;
	open_guest(g, NULL);
	program_wait(START);
	if (g->node)
		return;
	own = swhni_vm_of(swv_nic(), 0, 0);
	weft_sw_query_vm(g->dev, own, &vm);
	g->w->result[1] = vm.granted;
	x = write_to(g, 1, 8);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(weft_sw_post_write(g->sq, &x), 0);
		assert_int_equal(status_of(g), WEFT_SW_OK);
	}
	g->w->result[0] = (uint64_t)(program_now() - START) / 20;
	weft_sw_query_vm(g->dev, own, &vm);
	/* nobody was asked */
	assert_int_equal(vm.granted, g->w->result[1]);
	g->w->result[2] = nic_count(g->w->kit.nic, 0, "memory_reads");
}

/* SUN-F83, SUN-F86: The same reads over PCIe and packets, and 10 ns; only
 * machines have them. */
static void a_machines_messages_take_the_same_way_10_ns_longer(void **state)
{
	static const char *const sets[][2] = { { "nic.vms=0", NULL },
		{ "nic.vms=1", NULL }, { "nic.vms=2", NULL } };
	uint64_t took[3], reads[3], packets[3];

	for (uint32_t i = 0; i < 3; i++) {
		struct world w = { .run = way_run };

		run_world(&w, sets[i], false);
		took[i] = w.result[0];
		reads[i] = w.result[2];
		packets[i] = nic_count(w.kit.nic, 0, "packets");
		kit_close(&w.kit);
	}
	/* polls are 20 ns apart */
	assert_int_equal((took[1] - took[0] + SIM_NS / 2) / SIM_NS, 10);
	assert_int_equal(took[1], took[2]);
	assert_int_equal(reads[0], reads[1]);
	assert_int_equal(packets[0], packets[1]);
}

/* --- SUN-F85: a machine alone --- */

/* In process 0 and 2, machine 1: writes, until it crashes. */
static void doomed(struct guest *g)
{
	struct weft_sw_work x = write_to(g, 1, 16384);

	for (;;) {
		while (!weft_sw_post_write(g->sq, &x))
			;
		status_of(g);
		/* or another process of the machine does it */
		if (!g->process && program_now() > START + 20 * US)
			weft_sw_kill_vm(g->dev, 1);
		assert_true(program_now() < START + 25 * US);
	}
}

/* In process 1, machine 2: all goes well; then it takes what the other had. */
static void survivor(struct guest *g)
{
	struct weft_sw_work x = write_to(g, 1, 4096);
	struct weft_sw_sq *sq[MOST];
	struct weft_sw_vm vm;

	for (uint32_t i = 0; i < 60; i++) {
		assert_int_equal(weft_sw_post_write(g->sq, &x), 0);
		assert_int_equal(status_of(g), WEFT_SW_OK);
	}
	assert_true(program_now() > START + 30 * US);
	assert_int_equal(weft_sw_query_vm(g->dev, 1, &vm), 0);
	assert_true(vm.is_dead);
	assert_int_equal(vm.interfaces, 0);
	assert_int_equal(vm.returned, vm.granted);
	/* process 3 has one, and itself */
	assert_int_equal(take_all(g, sq), MOST - 2);
	g->w->result[0]++;
}

/* Node 1 writes to the processes of node 0, of which two end. */
static void peer_of_all(struct guest *g)
{
	struct weft_sw_work x = write_to(g, 0, 4096);
	uint32_t status;

	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(weft_sw_post_write(g->sq, &x), 0);
		status = status_of(g);
		if (g->process % 2)
			assert_int_equal(status, WEFT_SW_OK);
		else if (program_now() < START + 20 * US)
			assert_int_equal(status, WEFT_SW_OK);
		else
			g->w->result[1] += status == WEFT_SW_BAD_KEY;
		program_wait(program_now() + US);
	}
}

static void crash_run(struct guest *g)
{
	open_guest(g, NULL);
	program_wait(START);
	if (g->node)
		peer_of_all(g);
	else if (g->process % 2 == 0)
		doomed(g);
	else if (g->process == 1)
		survivor(g);
	else
		program_wait(START + 200 * US);
}

/* SUN-F85 */
static void a_crash_ends_its_machine_and_nothing_else(void **state)
{
	uint64_t digest[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct world w = { .run = crash_run, .n_workers = 1 + i };

		run_world(&w, two_vms, true);
		assert_int_equal(host_n_dead(w.kit.host), 2);
		assert_int_equal(w.result[0], 1);
		assert_true(w.result[1] > 10);
		assert_true(nic_count(w.kit.nic, 0, "strays") > 0);
		digest[i] = w.digest;
		kit_close(&w.kit);
	}
	assert_int_equal(digest[0], digest[1]);
}

/* The host's own process ends machine 1; its guards stay. */
static void guard_run(struct guest *g)
{
	struct weft_sw_options o = { .job = 7, .vm = WEFT_SW_NO_VM };
	uint8_t guard[4096], seen[4096];

	memset(guard, 0x5a, sizeof(guard));
	assert_int_equal(weft_sw_open(&o, &g->dev), 0);
	program_wait(START + 5 * US);
	assert_int_equal(weft_sw_kill_vm(g->dev, 3), EINVAL);
	assert_int_equal(weft_sw_kill_vm(g->dev, 1), 0);
	for (uint64_t at = 0; at < 65536; at += sizeof(guard))
		program_write(AT_TARGET + at, guard, sizeof(guard));
	program_wait(START + 400 * US);
	for (uint64_t at = 0; at < 65536; at += sizeof(guard)) {
		program_read(AT_TARGET + at, seen, sizeof(seen));
		assert_memory_equal(seen, guard, sizeof(guard));
	}
}

/* Node 1 writes to process 0 of node 0, which is in machine 1. */
static void leftover_run(struct guest *g)
{
	struct weft_sw_work x;

	if (!g->node && g->process == 1)
		guard_run(g);
	if (g->process)
		return;
	open_guest(g, NULL);
	program_wait(START);
	if (!g->node)
		program_wait(SIM_NEVER);
	x = write_to(g, 0, 65536);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(weft_sw_post_write(g->sq, &x), 0);
	for (uint32_t i = 0; i < 4; i++)
		g->w->result[2] += status_of(g) != WEFT_SW_OK;
}

/* SUN-F85 */
static void what_was_under_way_is_in_nobodys_memory(void **state)
{
	struct world w = { .run = leftover_run };

	run_world(&w, two_vms, true);
	assert_int_equal(host_n_dead(w.kit.host), 1);
	assert_true(w.result[2] >= 3);
	assert_true(nic_count(w.kit.nic, 0, "strays") > 0);
	kit_close(&w.kit);
}

/* --- who may do what --- */

/* Past the library, which would refuse it: a write of the bytes of a key. */
static void write_of(struct guest *g, uint32_t key)
{
	struct swv_sq *q = swv_find(SW_SQ, g->sq);
	struct swhni_descriptor d = {
		.type = SWHNI_WRITE,
		.flags = SWHNI_TELL,
		.node = 1,
		.bytes = 64,
		.key = g->key,
		.offset = AT_TARGET,
		.own_key = key,
		.own_offset = AT_SOURCE,
	};

	swv_user_post(&q->in->user, &d, program_now());
	program_wait(program_now() + 10 * US);
}

static void rights_run(struct guest *g)
{
	struct weft_sw_options o = { .vm = 5 };
	struct weft_sw *dev;
	struct weft_sw_vm vm;

	if (g->process % 2)
		return;
	open_guest(g, NULL);
	assert_int_equal(weft_sw_open(&o, &dev), EINVAL);
	o.vm = 3 - g->process;
	assert_int_equal(weft_sw_open(&o, &dev), EBUSY);
	o.vm = 1 + g->process;
	assert_int_equal(weft_sw_open(&o, &dev), 0);
	assert_int_equal(weft_sw_query_vm(g->dev, 5, &vm), EINVAL);
	assert_int_equal(weft_sw_query_vm(NULL, 1, &vm), EBADF);
	assert_int_equal(weft_sw_kill_vm(NULL, 1), EBADF);
	assert_int_equal(weft_sw_kill_vm(dev, 0), EINVAL);
	assert_int_equal(weft_sw_kill_vm(dev, 3 - g->process), EPERM);
	program_wait(START);
	if (g->node || g->process)
		return;
	write_of(g, g->key);
	assert_int_equal(nic_count(g->w->kit.nic, 0, "no permission"), 0);
	write_of(g, g->key + 2);
	assert_int_equal(nic_count(g->w->kit.nic, 0, "no permission"), 1);
}

/* SUN-F83: Processes 0 and 2 have one job and one engine. */
static void a_machine_has_no_rights_in_another(void **state)
{
	static const char *const sets[] = { "nic.vms=4", NULL };
	struct world w = { .run = rights_run };

	run_world(&w, sets, true);
	assert_int_equal(nic_count(w.kit.nic, 0, "completions"), 1);
	kit_close(&w.kit);
}

/* --- a plan of faults --- */

static void plan_run(struct guest *g)
{
	open_guest(g, NULL);
	program_wait(START);
	if (!g->node && g->process == 0)
		for (;;) /* until its end */
			program_wait(program_now() + US);
	g->w->last = program_now();
}

/* SUN-F85 */
static void a_plan_can_name_machines(void **state)
{
	static const char *const sets[] = { "nic.vms=4",
		"faults.events=70 us vm 1 of node 0 dies", NULL };
	struct world w = { .run = plan_run };

	run_world(&w, sets, true);
	assert_int_equal(host_n_dead(w.kit.host), 1);
	assert_true(swhni_vm(w.kit.nic, 0, 1).is_dead);
	assert_false(swhni_vm(w.kit.nic, 0, 2).is_dead);
	assert_false(swhni_vm(w.kit.nic, 1, 1).is_dead);
	kit_close(&w.kit);
}

TESTS(TEST(a_broker_gives_and_takes_and_has_no_shares),
	TEST(a_machines_messages_take_the_same_way_10_ns_longer),
	TEST(a_crash_ends_its_machine_and_nothing_else),
	TEST(what_was_under_way_is_in_nobodys_memory),
	TEST(a_machine_has_no_rights_in_another),
	TEST(a_plan_can_name_machines))
