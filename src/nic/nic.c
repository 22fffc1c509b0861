#include "nic/nic.h"

#include <stdio.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/ring.h"
#include "base/slots.h"
#include "sim/cluster.h"
#include "sim/random.h"

/* --- members --- */

static void slots_make(void *x, size_t size)
{
	slots_init(x, size);
}

static void ring_make(void *x, size_t size)
{
	ring_init(x, size);
}

NIC_MEMBER_OPS(slots, slots_make);
NIC_MEMBER_OPS(ring, ring_make);
NIC_MEMBER_OPS(index, NULL);

/* --- life --- */

int nic_check_memory(const struct nic_ops *ops, int64_t bytes, struct err *e)
{
	uint64_t most = ops ? ops->most_memory : 0;

	if (!most || (uint64_t)bytes <= most)
		return 0;
	return err_set(e,
		"host.memory: %.1f GiB, but the %s addresses at most %.0f GiB",
		(double)bytes / (1 << 30), ops->title,
		(double)most / (1 << 30));
}

struct nic *nic_new(const struct nic_setup *s, struct err *e)
{
	struct nic *nic = mem_alloc(1, s->ops->size);

	*nic = (struct nic){
		.ops = s->ops,
		.params = s->params,
		.net = s->net,
		.host = s->host,
		.n_nodes = s->net->n_nodes + s->net->topo->n_io,
		.n_cards = s->ops->cards ? s->ops->cards(s->params) : 1,
		.on_delivered = s->on_delivered,
		.arg = s->arg,
		.plan = s->plan,
		.client = s->ops->client,
	};
	if (nic->ops->init(nic, e)) {
		mem_free(nic);
		return NULL;
	}
	nic->nodes = map_alloc(nic->n_nodes * sizeof(*nic->nodes));
	nic->payloads = payload_pool_new(s->net->n_workers, nic->n_nodes,
		nic->load_size, nic->small_load);
	if (s->net->faults)
		s->net->faults->load_bytes = nic->ops->load_bytes;
	net_attach(s->net, nic->client, nic);
	host_set_nic(s->host, nic);
	return nic;
}

static char *card_of(const struct nic *nic, const void *node, uint32_t i)
{
	return (char *)(uintptr_t)node + nic->ops->node_size +
	       i * nic->ops->card_size;
}

static void members_init(const struct nic_member *m, char *part)
{
	for (; m && m->ops; m++)
		if (m->size)
			m->ops->init(part + m->offset, m->size);
}

static void members_fini(const struct nic_member *m, char *part)
{
	for (; m && m->ops; m++)
		m->ops->fini(part + m->offset);
}

static uint64_t members_memory(const struct nic_member *m, const char *part)
{
	uint64_t sum = 0;

	for (; m && m->ops; m++)
		sum += m->ops->memory(part + m->offset);
	return sum;
}

static void node_fini(struct nic *nic, void *node)
{
	if (nic->ops->node_fini)
		nic->ops->node_fini(nic, node);
	for (uint32_t i = 0; i < nic->n_cards; i++)
		members_fini(nic->ops->card_members, card_of(nic, node, i));
	members_fini(nic->ops->members, node);
}

void nic_free(struct nic *nic)
{
	if (!nic)
		return;
	for (site_id i = 0; i < nic->n_nodes; i++) {
		if (nic->nodes[i])
			node_fini(nic, nic->nodes[i]);
		mem_free(nic->nodes[i]);
	}
	map_free(nic->nodes, nic->n_nodes * sizeof(*nic->nodes));
	payload_pool_free(nic->payloads);
	if (nic->ops->fini)
		nic->ops->fini(nic);
	mem_free(nic);
}

static size_t part_size(const struct nic *nic)
{
	return nic->ops->node_size + nic->n_cards * nic->ops->card_size;
}

void *nic_node_new(struct nic *nic, site_id s)
{
	void *n = mem_alloc(1, part_size(nic));

	members_init(nic->ops->members, n);
	for (uint32_t i = 0; i < nic->n_cards; i++)
		members_init(nic->ops->card_members, card_of(nic, n, i));
	nic->ops->node_init(nic, n, s);
	nic->nodes[s] = n;
	return n;
}

struct poll_loop nic_poll_loop(
	const struct nic *nic, sim_time period, sim_time load)
{
	return nic_poll_loop_by(
		nic, program_node(), program_draw(), period, load);
}

struct poll_loop nic_poll_loop_by(const struct nic *nic, site_id node,
	uint64_t draw, sim_time period, sim_time load)
{
	struct random_bits r =
		random_draw(nic->net->seed, node, RANDOM_POLL, draw);

	return (struct poll_loop){
		.period = period,
		.load = load,
		.phase = (sim_time)random_below(r.a, (uint64_t)period),
	};
}

/* --- loads --- */

size_t nic_pack(const struct nic *nic, const struct packet *p, void *to)
{
	size_t n = nic->ops->load_bytes(p);

	memcpy(to, payload_of_load(p->load), n);
	return n;
}

uint64_t nic_unpack(
	const struct nic *nic, uint32_t worker, const void *from, size_t n)
{
	void *load = payload_take_for(nic->payloads, worker, n);

	return payload_to_load(memcpy(load, from, n));
}

static void carry_pack(struct net_client *me, struct sim_worker *w,
	packet_id id, struct cluster_bytes *to)
{
	const struct nic *nic = me->state;
	const struct packet *p = &me->net->packets[id];
	size_t n;

	if (!p->load)
		return;
	cluster_add(to, nic->load_size);
	to->n -= nic->load_size;
	n = nic_pack(nic, p, to->at + to->n);
	to->n += n;
	payload_give(nic->payloads, w->id, payload_of_load(p->load));
}

static void carry_unpack(struct net_client *me, struct sim_worker *w,
	packet_id id, const void *from, size_t n)
{
	const struct nic *nic = me->state;
	struct packet *p = &me->net->packets[id];
	size_t bytes;

	(void)n; /* and padding */
	if (!p->load)
		return;
	p->load = payload_to_load((void *)(uintptr_t)from);
	bytes = nic->ops->load_bytes(p);
	p->load = nic_unpack(nic, w->id, from, bytes);
}

const struct net_client_carry nic_carry = {
	.pack = carry_pack,
	.unpack = carry_unpack,
};

void nic_on_copy(struct net_client *me, struct sim_worker *w, packet_id id)
{
	struct net *net = me->net;
	const struct nic *nic = me->state;
	struct packet *p = &net->packets[id];
	const void *from = payload_of_load(p->load);

	p->load = payload_to_load(
		memcpy(payload_take_like(nic->payloads, w->id, from), from,
			nic->ops->load_bytes(p)));
}

const struct net_client_combine nic_combine = { .on_copy = nic_on_copy };

void nic_lose(struct nic *nic, struct sim_worker *w, packet_id id)
{
	struct book *book = nic->net->book;

	if (book && book_has(book, id))
		book_forget(book, id);
	nic_give(nic, w, id);
}

void nic_on_lost(struct net_client *me, struct sim_worker *w, packet_id id)
{
	nic_lose(me->state, w, id);
}

/* --- time budgets --- */

void nic_charge_book(
	const struct nic_at *a, packet_id id, enum cause c, sim_time t)
{
	struct book *k = a->nic->net->book;

	if (book_has(k, id) && t > book_at(k, id))
		book_until(k, id, c, t);
}

void nic_account_none(const struct nic_at *a, packet_id id)
{
	const struct book_message none = {
		.birth = a->t, .src = a->s, .n_packets = 1
	};

	book_open(a->nic->net->book, id, &none);
}

void nic_account_end(const struct nic_at *a, packet_id id, bool is_done)
{
	struct book *k = a->nic->net->book;

	if (!k || !book_has(k, id))
		return;
	if (is_done)
		book_close(k, a->w->id, id, book_at(k, id));
	else
		book_forget(k, id);
}

/* --- after a run --- */

int nic_audit(const struct nic *nic, struct err *e)
{
	uint64_t used = payload_pool_used(nic->payloads);

	for (site_id i = 0; i < nic->n_nodes; i++)
		if (nic->nodes[i] && nic->ops->audit_node(nic->nodes[i], i, e))
			return -1;
	if (used)
		return err_set_code(e, EXIT_INTERNAL,
			"audit: the bytes of %llu packets are still in flight",
			(unsigned long long)used);
	return 0;
}

uint64_t nic_node_memory(const struct nic *nic, site_id s)
{
	const char *n = nic->nodes[s];
	uint64_t sum;

	if (!n)
		return 0;
	sum = nic->ops->node_memory ? nic->ops->node_memory(n) : 0;
	for (uint32_t i = 0; i < nic->n_cards; i++)
		sum += members_memory(
			nic->ops->card_members, card_of(nic, n, i));
	return sum + members_memory(nic->ops->members, n);
}

uint64_t nic_memory(const struct nic *nic)
{
	uint64_t sum = nic->ops->size + payload_pool_memory(nic->payloads) +
		       nic->n_nodes * sizeof(*nic->nodes);

	for (site_id i = 0; i < nic->n_nodes; i++)
		if (nic->nodes[i])
			sum += part_size(nic) + nic_node_memory(nic, i);
	return sum;
}

static uint64_t count_of(
	const struct nic *nic, site_id s, const struct nic_counter *c)
{
	const char *n = nic->nodes[s];
	uint32_t n_parts = c->offset < nic->ops->node_size ? 1 : nic->n_cards;
	uint64_t sum = 0;

	for (uint32_t i = 0; n && i < n_parts; i++)
		sum += *(const uint64_t *)(const void
				*)(n + c->offset + i * nic->ops->card_size);
	return sum;
}

static const struct nic_counter *find(const struct nic *nic, const char *key)
{
	const struct nic_counter *c = nic ? nic->ops->counters : NULL;

	while (c && c->key && strcmp(c->key, key) != 0)
		c++;
	return c && c->key ? c : NULL;
}

uint64_t nic_count(const struct nic *nic, site_id s, const char *key)
{
	const struct nic_counter *c = find(nic, key);

	return c ? count_of(nic, s, c) : 0;
}

uint64_t nic_total(const struct nic *nic, const struct nic_counter *c)
{
	uint64_t sum = 0;

	for (site_id i = 0; i < nic->n_nodes; i++)
		sum += count_of(nic, i, c);
	sim_sum(nic->net->sim, &sum, 1);
	return sum;
}

uint64_t nic_sum(const struct nic *nic, const char *key)
{
	const struct nic_counter *c = find(nic, key);

	return c ? nic_total(nic, c) : 0;
}

uint64_t nic_errors(const struct nic *nic, site_id s, char *text, size_t size)
{
	uint64_t sum = 0, n;
	size_t used = 0;

	if (size)
		text[0] = '\0';
	for (const struct nic_counter *c = nic->ops->counters; c->key; c++) {
		n = c->is_error ? count_of(nic, s, c) : 0;
		if (n && used < size)
			used += (size_t)snprintf(text + used, size - used,
				"%s%s: %llu", sum ? ", " : "", c->key,
				(unsigned long long)n);
		sum += n;
	}
	return sum;
}

bool nic_is_late(const struct nic *nic)
{
	uint64_t n = 0;

	for (const struct nic_counter *c = nic->ops->counters; c->key; c++)
		n += c->is_error == NIC_LATE ? nic_sum(nic, c->key) : 0;
	return n != 0;
}

struct count {
	const struct nic *nic;
	const struct host_world *only;
	struct nic_pending pending;
	bool asks; /* whether there are programs to do something matters */
};

/* What an interface says of an event of its own. */
static bool says(const struct nic *nic,
	bool (*what)(const void *node, uint32_t number, uint32_t data),
	const struct sim_event *e)
{
	const void *n = e->site < nic->n_nodes ? nic->nodes[e->site] : NULL;

	return n && what && sim_phase(e) == PHASE_ENGINE &&
	       sim_number(e) >= ENGINE_CLIENT &&
	       what(n, sim_number(e), e->data);
}

static bool is_foreign(const struct count *c, const struct sim_event *e)
{
	return c->only && (e->site >= c->nic->n_nodes ||
				  c->only->place[e->site] == UINT32_MAX ||
				  (sim_phase(e) != PHASE_PROGRAM &&
					  sim_phase(e) != PHASE_ENGINE) ||
				  (sim_phase(e) == PHASE_ENGINE &&
					  sim_number(e) < ENGINE_CLIENT));
}

static void count_event(void *arg, sim_time t, const struct sim_event *e)
{
	struct count *c = arg;

	if (is_foreign(c, e))
		return;
	if (sim_phase(e) == PHASE_PROGRAM) {
		if (host_is_stale(c->nic->host, t, e))
			return;
		c->pending.programs++;
	}
	c->pending.n += !says(c->nic, c->nic->ops->is_stale, e);
	c->pending.patient += says(c->nic, c->nic->ops->is_patient, e);
}

/* Whether this one and those before it say all that there is to know. */
static bool count_until_enough(void *arg, sim_time t, const struct sim_event *e)
{
	struct count *c = arg;

	count_event(arg, t, e);
	return c->pending.n > c->pending.patient &&
	       (c->pending.programs || !c->asks);
}

/* Of all processes. */
static void share_pending(const struct nic *nic, struct nic_pending *p)
{
	uint64_t x[] = { p->n, p->patient, p->programs };

	sim_sum(nic->net->sim, x, sizeof(x) / sizeof(*x));
	*p = (struct nic_pending){
		.n = x[0], .patient = x[1], .programs = x[2]
	};
}

struct nic_pending nic_pending(
	const struct nic *nic, const struct host_world *only)
{
	struct count c = { .nic = nic, .only = only };

	sim_each_event(nic->net->sim, count_event, &c);
	share_pending(nic, &c.pending);
	return c.pending;
}

struct nic_pending nic_any_pending(
	const struct nic *nic, const struct host_world *only)
{
	struct count c = {
		.nic = nic, .only = only, .asks = nic->ops->only_asks
	};

	sim_any_event(nic->net->sim, count_until_enough, &c);
	share_pending(nic, &c.pending);
	return c.pending;
}

bool nic_only_asks(
	const struct nic *nic, const struct host_world *only, uint64_t *deeds)
{
	bool (*asks)(const void *node, uint64_t *deeds) = nic->ops->only_asks;

	uint64_t x[2] = { 0 }; /* what they did, and that one does more */

	for (site_id s = 0; s < nic->n_nodes && asks && !x[1]; s++)
		if (nic->nodes[s] && (!only || only->place[s] != UINT32_MAX) &&
			!asks(nic->nodes[s], &x[0]))
			x[1] = 1;
	sim_sum(nic->net->sim, x, 2);
	*deeds = x[0];
	return asks && !x[1];
}

void nic_describe_stall(const struct nic *nic, char *text, size_t size)
{
	text[0] = '\0';
	if (nic->ops->describe_stall)
		nic->ops->describe_stall(nic, text, size);
}
