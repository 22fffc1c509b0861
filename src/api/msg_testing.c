#include "api/msg_testing.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "meas/digest.h"
#include "nic/bgq_mu/bgq_mu.h"
#include "nic/elan4/elan4.h"
#include "route/hint.h"
#include "route/updown.h"
#include "router/registry.h"
#include "topo/fattree_testing.h"
#include "topo/torus.h"

#define MEMORY (UINT64_C(1) << 30)

enum { SEED = 7 };

struct rig {
	const struct weft_msg_test *test;
	struct torus torus;
	struct hint hint;
	struct fattree tree;
	struct updown updown;
	struct link_params link;
	struct net_params router;
	void *nic_params;
	struct net *net;
	struct host *host;
	struct nic *nic;
	uint64_t *digest;
};

static void set(const struct param *rows, size_t n, void *values,
	const char *name, const char *text)
{
	struct param_block b = {
		.section = "", .rows = rows, .n_rows = n, .values = values
	};
	struct err e = { 0 };

	param_defaults(&b);
	if (name && param_read(&b, param_find(&b, name), text, &e))
		fail_msg("%s", e.text);
}

static void on_delivered(
	void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct rig *r = arg;

	r->digest[s] = digest_add(r->digest[s], t, p->src, p->kind, p->bytes);
}

static const struct nic_ops *nic_of(const struct rig *r)
{
	return r->test->machine == MSG_TEST_TREE ? &elan4_ops : &bgq_mu_ops;
}

/* As Elite4's links and buffers. */
static void make_tree(struct rig *r, struct net_setup *s, struct err *e)
{
	tree_make(&r->tree, &(struct tree_how){ .nodes = "16" });
	set(updown_ops.params, updown_ops.n_params, &r->updown, NULL, NULL);
	r->updown.route.ops = &updown_ops;
	r->link.rate = INT64_C(1333000000);
	r->link.header = r->link.chunk = 8;
	r->link.transaction = 128;
	r->link.per_transaction = 17;
	r->link.trailer = r->link.protocol = r->link.gap = 0;
	r->router.packets = 2;
	r->router.queues = 1;
	s->topo = &r->tree.topo;
	s->route = &r->updown.route;
	if (updown_ops.init(&r->updown.route, s->topo, e))
		fail_msg("%s", e->text);
}

static void make_torus(struct rig *r, struct net_setup *s, struct err *e)
{
	set(torus_ops.params, torus_ops.n_params, &r->torus, "shape", "2x2x2");
	set(hint_ops.params, hint_ops.n_params, &r->hint, NULL, NULL);
	r->torus.topo.ops = &torus_ops;
	r->hint.route.ops = &hint_ops;
	s->topo = &r->torus.topo;
	s->route = &r->hint.route;
	if (torus_ops.init(&r->torus.topo, e) ||
		hint_ops.init(&r->hint.route, s->topo, e))
		fail_msg("%s", e->text);
}

static void build(struct rig *r)
{
	struct err e = { 0 };
	struct net_setup s = {
		.link = &r->link,
		.router = &r->router,
		.n_workers = r->test->n_workers ? r->test->n_workers : 1,
		.seed = SEED,
	};
	struct host_params p;
	struct host_setup h = { .params = &p, .n_spawned = 1 };
	struct nic_setup n = {
		.ops = nic_of(r), .on_delivered = on_delivered, .arg = r
	};

	link_params_defaults(&r->link);
	set(net_params_table, net_params_n, &r->router, NULL, NULL);
	r->router.kind = router_find("direct");
	if (r->test->machine == MSG_TEST_TREE)
		make_tree(r, &s, &e);
	else
		make_torus(r, &s, &e);
	r->nic_params = mem_alloc(1, n.ops->params_size);
	set(n.ops->params, n.ops->n_params, r->nic_params, NULL, NULL);
	r->net = net_new(&s, &e);
	if (!r->net)
		fail_msg("%s", e.text);
	host_params_defaults(&p);
	h.n_processes = r->test->n_processes ? r->test->n_processes : 1;
	p.memory = MEMORY * h.n_processes;
	h.sim = r->net->sim;
	h.n_nodes = r->net->n_nodes;
	h.n_programs = h.n_nodes * h.n_processes;
	r->digest = mem_alloc(r->net->n_sites, sizeof(*r->digest));
	r->host = n.host = host_new(&h, &e);
	n.net = r->net;
	n.params = r->nic_params;
	r->nic = r->host ? nic_new(&n, &e) : NULL;
	if (!r->nic)
		fail_msg("%s", e.text);
}

static void node_program(void *arg)
{
	const struct weft_msg_test *t = arg;
	struct weft_msg m;

	assert_int_equal(weft_msg_init(&m, &t->options), 0);
	t->run(&m, t->arg);
	if (!t->is_left_open)
		assert_int_equal(weft_msg_fini(&m), 0);
}

static uint64_t finish(struct rig *r)
{
	struct err e = { 0 };
	char text[256];
	site_id i;

	assert_int_equal(sim_run(r->net->sim, SIM_NEVER - 1), SIM_IDLE);
	for (i = 0; i < r->net->n_nodes; i++)
		if (nic_errors(r->nic, i, text, sizeof(text)))
			fail_msg("node %u: %s", i, text);
	if (host_n_running(r->host)) {
		host_describe_waiting(r->host, text, sizeof(text));
		fail_msg("%s", text);
	}
	if (net_audit(r->net, &e) || nic_audit(r->nic, &e))
		fail_msg("%s", e.text);
	return digest_fold(r->digest, r->net->n_nodes);
}

uint64_t msg_test_run(const struct weft_msg_test *t)
{
	struct rig *r = mem_alloc(1, sizeof(*r));
	uint64_t digest;
	uint32_t i, each;

	r->test = t;
	build(r);
	each = host_n_processes(r->host);
	for (i = 0; i < r->net->n_nodes * each; i++)
		program_start(r->host, i / each,
			i % each * host_threads_each(r->host), 0, node_program,
			(void *)t);
	digest = finish(r);
	nic_free(r->nic);
	host_free(r->host);
	if (t->machine == MSG_TEST_TORUS)
		hint_ops.fini(&r->hint.route);
	net_free(r->net);
	mem_free(r->digest);
	mem_free(r->nic_params);
	mem_free(r);
	return digest;
}

void msg_test_everywhere(void (*run)(struct weft_msg *m, void *arg),
	const struct weft_msg_options *o)
{
	static const uint32_t processes[][2] = {
		[MSG_TEST_TORUS] = { 1, 4 }, [MSG_TEST_TREE] = { 1, 2 }
	};
	struct weft_msg_test t = { .run = run };
	uint64_t digest;
	uint32_t i;

	if (o)
		t.options = *o;
	for (; t.machine < MSG_TEST_MACHINES; t.machine++) {
		for (i = 0; i < 2; i++) {
			t.n_processes = processes[t.machine][i];
			t.n_workers = 1;
			digest = msg_test_run(&t);
			t.n_workers = 3;
			assert_true(msg_test_run(&t) == digest);
		}
	}
}

void msg_test_fill(uint64_t at, uint64_t stream, uint64_t bytes)
{
	uint8_t block[512];
	uint64_t i, n;

	for (i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		memory_fill_by(SEED, stream, i, block, n);
		assert_true(weft_msg_store(at + i, block, n));
	}
}

bool msg_test_is(uint64_t at, uint64_t stream, uint64_t bytes)
{
	uint8_t want[512], got[512];
	uint64_t i, n;

	for (i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(want) ? bytes - i : sizeof(want);
		memory_fill_by(SEED, stream, i, want, n);
		assert_true(weft_msg_load(at + i, got, n));
		if (memcmp(want, got, n) != 0)
			return false;
	}
	return true;
}
