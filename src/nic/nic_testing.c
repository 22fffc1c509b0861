#include <string.h>

#include "base/mem.h"
#include "link/link_testing.h"
#include "meas/digest.h"
#include "net/params_testing.h"
#include "nic/nic_testing.h"
#include "parts/clocks/clocks.h"
#include "parts/trees/trees.h"
#include "router/registry.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"
#include "topo/torus_testing.h"

enum { MOST_LOAD = 8192 };

/* Far longer than what any test runs for. */
static const sim_time LONGEST = 20000000 * (sim_time)SIM_NS;

void nic_testing_defaults(const struct param *rows, size_t n, void *values)
{
	struct param_block b = {
		.section = "",
		.rows = rows,
		.n_rows = n,
		.values = values,
	};

	param_defaults(&b);
}

void nic_testing_init(
	struct nic_testing *m, const struct nic_ops *ops, const char *shape)
{
	struct err e = { 0 };

	memset(m, 0, sizeof(*m));
	if (torus_read(&m->torus, shape, NULL, &e))
		fail_msg("%s", e.text);
	nic_testing_defaults(hint_ops.params, hint_ops.n_params, &m->hint);
	net_params_defaults(&m->router);
	m->link = link_test_defaults();
	m->router.queues = 4;
	m->router.kind = router_registry[0];
	m->hint.route.ops = &hint_ops;
	m->ops = ops;
	m->params = mem_alloc(1, ops->params_size);
	nic_testing_defaults(ops->params, ops->n_params, m->params);
	if (!ops->has || strncmp(ops->has, "any-side", 8) != 0)
		return;
	m->side = &side_pcie_ops;
	m->side_params = mem_alloc(1, m->side->params_size);
	nic_testing_defaults(
		m->side->params, m->side->n_params, m->side_params);
}

void nic_testing_machine(
	struct nic_testing *m, const char *machine, const char *shape)
{
	struct machine *x = kit_machine(machine, NULL, NULL);

	nic_testing_init(m, x->nic, shape);
	m->link = x->link;
	m->router = x->router;
	m->router.own = NULL; /* as routers do by themselves */
	memcpy(m->params, x->nic_params, m->ops->params_size);
	machine_free(x);
}

static void on_delivered(
	void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct nic_testing *m = arg;

	m->digest[s] = digest_add(m->digest[s], t, p->src, p->kind, p->bytes);
}

static void on_mail(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *net = me->net;
	const struct nic_mail *m = (const struct nic_mail *)me->from;
	const struct nic *nic = me->state;
	struct packet *p = &net->packets[id];
	uint8_t bytes[MOST_LOAD];
	size_t n;

	assert_true(nic->load_size <= MOST_LOAD);
	n = nic_pack(nic, p, bytes);
	memset(payload_of_load(p->load), 0xa5, n);
	payload_give(nic->payloads, w->id, payload_of_load(p->load));
	p->load = nic_unpack(nic, w->id, bytes, n);
	m->to->on_packet(me, w, s, fifo, id, t, tail);
}

void nic_testing_mail(struct nic_mail *m, struct net *net)
{
	const struct net_client *c = net->client[0];

	m->ops = *c->from;
	m->ops.on_packet = on_mail;
	m->to = c->from;
	net_attach(net, &m->ops, c->state);
}

static void build_net(struct nic_testing *m, uint32_t n_workers, struct err *e)
{
	struct net_setup s = {
		.topo = &m->torus.topo,
		.route = &m->hint.route,
		.link = &m->link,
		.router = &m->router,
		.n_workers = n_workers,
		.seed = 1,
		.book = m->book,
		.faults = m->faults,
	};

	if (torus_ops.init(&m->torus.topo, e) ||
		hint_ops.init(&m->hint.route, &m->torus.topo, e))
		return;
	m->net = net_new(&s, e);
}

void nic_testing_start(
	struct nic_testing *m, uint32_t n_workers, uint32_t n_programs)
{
	static const struct part_ops *const parts[] = { &part_trees,
		&part_clocks, NULL };
	struct host_params p;
	struct host_setup h = {
		.params = &p,
		.n_programs = n_programs,
		.side = m->side,
		.side_params = m->side_params,
	};
	struct nic_setup n = {
		.ops = m->ops,
		.params = m->params,
		.on_delivered = on_delivered,
		.arg = m,
	};
	struct err e = { 0 };

	parts_init(&m->parts, parts);
	for (size_t i = 0; i < m->parts.n; i++)
		m->parts.slot[i].exists = true;
	h.parts = &m->parts;
	host_params_defaults(&p);
	p.memory = NIC_TESTING_MEMORY;
	if (m->l2_capacity)
		p.l2.capacity = m->l2_capacity;
	if (m->processors)
		p.processors = m->processors;
	build_net(m, n_workers, &e);
	if (m->net) {
		h.sim = m->net->sim;
		h.n_nodes = m->net->n_sites;
		m->host = host_new(&h, &e);
	}
	if (m->host) {
		m->digest = mem_alloc(h.n_nodes, sizeof(*m->digest));
		n.net = m->net;
		n.host = m->host;
		m->nic = nic_new(&n, &e);
	}
	if (!m->nic)
		fail_msg("%s", e.text);
	nic_testing_mail(&m->mail, m->net);
}

void nic_testing_finish(struct nic *nic, struct net *net, struct host *host)
{
	struct err e = { 0 };
	char text[128];

	assert_int_equal(sim_run(net->sim, SIM_NEVER - 1), SIM_IDLE);
	host_bury(host);
	if (host_n_running(host)) {
		host_describe_waiting(host, text, sizeof(text));
		fail_msg("%s", text);
	}
	if (net_audit(net, &e) || nic_audit(nic, &e))
		fail_msg("%s", e.text);
	assert_int_equal(packet_pool_used(net->pool), 0);
}

void nic_testing_run(struct nic_testing *m)
{
	/* a program that never stops looking fails the test here */
	assert_int_equal(sim_run(m->net->sim, LONGEST), SIM_IDLE);
	nic_testing_finish(m->nic, m->net, m->host);
}

uint64_t nic_testing_digest(const struct nic_testing *m)
{
	return digest_fold(m->digest, m->net->n_sites);
}

void nic_testing_fini(struct nic_testing *m)
{
	nic_free(m->nic);
	host_free(m->host);
	net_free(m->net);
	parts_fini(&m->parts);
	hint_ops.fini(&m->hint.route);
	mem_free(m->digest);
	mem_free(m->params);
	mem_free(m->side_params);
}
