/*
 * Barriers and global interrupts: a node's registers for them, and the path
 * between registers and network (BGQ-F60 to F63).  All of the path's time is on
 * the way out: only the sum of both ways is known.
 */
#include <stdio.h>

#include "base/mem.h"
#include "coll/tree.h"
#include "net/router.h"
#include "nic/bgq_mu/units.h"

/* A change of a control register, until the status shows it. */
struct change {
	packet_id account; /* NO_PACKET: none is under way */
	sim_time entered; /* it is in the network */
	uint8_t gone; /* bits that the register had before */
};

struct mu_barrier {
	struct barrier_node net;
	uint16_t owned;
	sim_time born[BARRIER_CLASSES]; /* when control was last stored to */
	struct change *changes; /* [class], where there is a book */
};

enum {
	FIRST_OWNED = 1 | 1 << MU_GI_SYSTEM | 1 << (MU_GI_SYSTEM + 1),
};

void mu_barrier_init(struct mu *mu)
{
	struct net *net = mu->nic.net;
	const struct mu_params *p = &mu->params;

	if (!mu->trees || !torus_is_plain(mu->torus) ||
		!net_router(net, 0)->ops->guests)
		return;
	mu->n_classes = (uint32_t)p->classes;
	mu->barriers = (struct barriers){
		.net = net,
		.grid = &mu->grid,
		.up = mu->trees->up,
		.down = mu->trees->down,
		.ser = link_short(&net->link, 0, (uint32_t)p->barrier_bytes),
		.bytes = (uint32_t)p->barrier_bytes,
		.key = SIM_KEY(
			PHASE_ENGINE, MU_ENGINE_BARRIER + MU_BARRIER_PACKET),
	};
}

static struct mu_barrier *barrier_of(
	struct nic *nic, struct mu_node *n, site_id s)
{
	const struct mu *mu = (const struct mu *)nic;

	if (n->barrier)
		return n->barrier;
	n->barrier = mem_alloc(1, sizeof(*n->barrier));
	n->barrier->owned = FIRST_OWNED;
	barrier_node_init(&mu->barriers, &n->barrier->net, s);
	if (nic->net->book)
		n->barrier->changes =
			mem_alloc(BARRIER_CLASSES, sizeof(struct change));
	for (uint32_t i = 0; n->barrier->changes && i < BARRIER_CLASSES; i++)
		n->barrier->changes[i].account = NO_PACKET;
	return n->barrier;
}

uint64_t mu_barrier_memory(const struct mu_node *n)
{
	return n->barrier ? sizeof(*n->barrier) : 0;
}

void mu_barrier_free(struct mu_node *n)
{
	if (n->barrier)
		mem_free(n->barrier->changes);
	mem_free(n->barrier);
}

/* --- the time of a change --- */

/* A node's own time is the way of its bits to the root and back; the rest is
 * waiting for others. */
static void account_known(
	const struct nic_at *a, struct mu_barrier *x, uint32_t class)
{
	const struct barriers *b = &mu_of(a)->barriers;
	struct change *c = &x->changes[class];
	struct book *k = a->nic->net->book;
	uint32_t depth = x->net.depth[class];
	sim_time logic = depth * (b->up + b->down);
	sim_time wires = 2 * (sim_time)x->net.wires[class];

	book_at_part(k, c->account, a->s, "barrier");
	book_until(k, c->account, CAUSE_PEERS,
		a->t - logic - wires > c->entered ? a->t - logic - wires
						  : c->entered);
	if (a->t - wires > c->entered)
		book_until(k, c->account, CAUSE_ROUTER, a->t - wires);
	book_until(k, c->account, CAUSE_WIRE, a->t);
	book_close(k, a->w->id, c->account, a->t);
	packet_give(a->nic->net->pool, a->w->id, c->account);
	c->account = NO_PACKET;
}

/* Closes the account when the status shows the change: no node has a bit that
 * this one cleared, and all of its bits are set. */
static void account_status(
	const struct nic_at *a, struct mu_barrier *x, uint32_t class)
{
	const struct barrier_class *g = &x->net.class[class];
	struct change *c = x->changes ? &x->changes[class] : NULL;

	if (c && c->account != NO_PACKET && a->t >= c->entered &&
		!(g->status & c->gone) && !(g->control & ~g->status))
		account_known(a, x, class);
}

static void account_store(const struct nic_at *a, struct mu_barrier *x,
	uint32_t class, uint32_t bits, sim_time entered)
{
	struct change *c = x->changes ? &x->changes[class] : NULL;
	sim_time left = a->t - mu_of(a)->params.mmio_store;
	struct book *k = a->nic->net->book;
	struct book_message m;

	if (!c || c->account != NO_PACKET ||
		bits == x->net.class[class].control)
		return;
	c->account = packet_take(a->nic->net->pool, a->w->id);
	c->gone = x->net.class[class].control & (uint8_t)~bits;
	c->entered = entered;
	m = book_message(k, a->s, BOOK_BARRIER, 1, left);
	book_open(k, c->account, &m);
	book_at_part(k, c->account, a->s, "message unit");
	book_until(k, c->account, CAUSE_DESCRIPTOR, a->t);
	book_until(k, c->account, CAUSE_ENGINE, entered);
}

/* --- changes --- */

/* The status has changed. */
static void tell(const struct nic_at *a, struct mu_barrier *x, uint32_t class,
	uint32_t before)
{
	const struct barrier_class *c = &x->net.class[class];
	const struct packet told = {
		.src = a->s,
		.bytes = (uint16_t)(class << BARRIER_BITS | c->status),
		.born = SIM_NEVER, /* it waits for the other nodes */
	};

	if (a->nic->on_delivered)
		a->nic->on_delivered(a->nic->arg, a->s, &told, a->t);
	account_status(a, x, class);
	if (c->enabled & c->status & ~before)
		mu_tell(a, MU_INT_BARRIER, class, UINT64_MAX);
	host_poke(a->nic->host, a->w, a->s, a->t);
}

void mu_barrier_on_event(const struct nic_at *at, const struct sim_event *e)
{
	struct nic_at a = nic_at(at->nic, at->w, at->s, at->t);
	struct mu_node *n = a.node;
	struct mu_barrier *x = barrier_of(a.nic, n, a.s);
	uint32_t class = barrier_class_of(e);
	uint32_t before = x->net.class[class].status;
	const struct barriers *b = &mu_of(&a)->barriers;
	bool has_changed;

	if (sim_number(e) == MU_ENGINE_BARRIER + MU_BARRIER_PACKET)
		has_changed = barrier_arrive(b, &x->net, a.w, a.s, a.t, e);
	else
		has_changed = barrier_set_local(
			b, &x->net, a.w, a.s, a.t, class, e->data);
	n->barrier_packets = x->net.packets;
	if (has_changed)
		tell(&a, x, class, before);
	else
		account_status(&a, x, class);
}

/* --- registers --- */

uint64_t mu_barrier_load(
	struct nic *nic, site_id s, uint32_t kind, uint32_t class)
{
	const struct mu *mu = (const struct mu *)nic;
	const struct mu_barrier *x;
	const struct barrier_class *c;

	if (class >= mu->n_classes)
		return 0;
	x = barrier_of(nic, nic_node(nic, s), s);
	c = &x->net.class[class];
	switch (kind) {
	case MU_GI_ROUTE:
		return (uint64_t)c->route.inputs << 16 | c->route.output;
	case MU_GI_CONTROL:
		return c->control;
	case MU_GI_STATUS:
		return c->status;
	case MU_GI_ENABLE:
		return c->enabled;
	default:
		return x->owned;
	}
}

static void store_control(const struct nic_at *a, struct mu_barrier *x,
	uint32_t class, uint32_t bits)
{
	const struct mu_params *p = &mu_of(a)->params;
	sim_time entered = a->t + p->slave + p->barrier_ends;
	/* orders changes of one instant */
	uint32_t turn = mu_here(a)->slave_writes & 0xfff;

	account_store(a, x, class, bits, entered);
	x->net.class[class].control = (uint8_t)bits;
	x->born[class] = a->t - p->mmio_store;
	sim_post_self(a->w, a->s, entered,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_BARRIER + MU_BARRIER_LOCAL),
		(uint16_t)(turn << 4 | class), bits);
}

static void store_route(const struct nic_at *a, struct mu_barrier *x,
	uint32_t class, uint64_t value)
{
	uint32_t before = x->net.class[class].status;
	struct barrier_route r = { (uint16_t)(value >> 16), (uint16_t)value };

	if (barrier_set_route(
		    &mu_of(a)->barriers, &x->net, a->w, a->s, a->t, class, r))
		tell(a, x, class, before);
	mu_here(a)->barrier_packets = x->net.packets;
}

enum mu_interrupt mu_barrier_store(
	const struct nic_at *a, uint32_t kind, uint32_t class, uint64_t value)
{
	const struct mu *mu = mu_of(a);
	struct mu_barrier *x;

	if (class >= mu->n_classes || kind == MU_GI_STATUS ||
		(kind != MU_GI_ROUTE && kind != MU_GI_OWNED &&
			value > BARRIER_ALL))
		return MU_ERROR_REGISTER;
	x = barrier_of(a->nic, a->node, a->s);
	if (kind == MU_GI_ROUTE)
		store_route(a, x, class, value);
	else if (kind == MU_GI_CONTROL)
		store_control(a, x, class, (uint32_t)value);
	else if (kind == MU_GI_ENABLE)
		x->net.class[class].enabled = (uint8_t)value;
	else
		x->owned = (uint16_t)value;
	return MU_INTERRUPTS;
}

/* --- nodes that have not entered --- */

/* A node's state of a class; an unused node has entered nothing. */
static struct barrier_class class_of(
	const struct nic *nic, site_id s, uint32_t class)
{
	const struct mu_node *n = nic->nodes[s];

	if (n && n->barrier)
		return n->barrier->net.class[class];
	return (struct barrier_class){ .control = class ? 0 : BARRIER_FIRST,
		.status = class ? 0 : BARRIER_FIRST };
}

/* Registers of all nodes, which may be other processes'. */
struct registers {
	uint64_t control, status;
};

static struct registers *all_registers(const struct nic *nic, uint32_t class)
{
	const struct net *n = nic->net;
	struct registers *all = mem_alloc(n->n_nodes, sizeof(*all));

	for (site_id s = sim_next_own(n->sim, 0); s < n->n_nodes;
		s = sim_next_own(n->sim, s + 1)) {
		struct barrier_class c = class_of(nic, s, class);

		all[s] = (struct registers){ c.control, c.status };
	}
	sim_sum(n->sim, &all->control,
		n->n_nodes * sizeof(*all) / sizeof(all->control));
	return all;
}

/* Bits that a node has cleared and waits for others to clear. */
static uint64_t awaited(const struct registers *r)
{
	return r->control ? r->status & ~r->control : 0;
}

/* The first node that waits, or NO_SITE. */
static site_id find_waiting(const struct registers *all, site_id n_nodes)
{
	for (site_id s = 0; s < n_nodes; s++)
		if (awaited(&all[s]))
			return s;
	return NO_SITE;
}

/* The first node that has not cleared what another waits for; *n is their
 * number. */
static site_id find_missing(const struct registers *all, site_id n_nodes,
	site_id waits, uint32_t *n)
{
	site_id first = NO_SITE;

	*n = 0;
	for (site_id s = 0; s < n_nodes; s++)
		if (all[s].control & awaited(&all[waits]))
			first = (*n)++ ? first : s;
	return first;
}

/* "; barrier class 0: node 3 and 2 more have not entered, and node 0 waits
 * since 1.234 us" */
void mu_barrier_describe(const struct nic *nic, char *text, size_t size)
{
	const struct mu *mu = (const struct mu *)nic;
	const struct net *net = nic->net;
	uint32_t class, n = 0;
	site_id waits = NO_SITE, first = NO_SITE;
	struct registers *all;
	char others[32] = " has";
	sim_time since = 0;

	for (class = 0; class < mu->n_classes && waits == NO_SITE; class ++) {
		all = all_registers(nic, class);
		waits = find_waiting(all, net->n_nodes);
		if (waits != NO_SITE)
			first = find_missing(all, net->n_nodes, waits, &n);
		mem_free(all);
	}
	if (!n)
		return;
	if (sim_has(net->sim, waits))
		since = ((const struct mu_node *)nic->nodes[waits])
				->barrier->born[class - 1];
	sim_tell(net->sim, waits, &since, sizeof(since));
	if (n > 1)
		snprintf(others, sizeof(others), " and %u more have", n - 1);
	snprintf(text, size,
		"; barrier class %u: node %u%s not entered, and node %u has "
		"waited since %.3f us",
		class - 1, first, others, waits,
		(double)since / (1000 * SIM_NS));
}
