#include "nic/util/toy_testing.h"

#include "base/mem.h"
#include "testing/testing.h"

enum {
	TOY_LEAVE = ENGINE_CLIENT,
	TOY_LATE,
	TOY_LATER,
	TOY_AGAIN,
	TOY_EVENT,
	TOY_STRIDE = 64,
};

struct toy_nic {
	struct nic nic;
	struct toy *toy; /* a parameter, so to speak */
};

struct toy_load {
	uint32_t id, number, try, verdict;
};

static struct toy *toy_of(const struct nic_at *a)
{
	return ((const struct toy_nic *)a->nic)->toy;
}

struct toy_node *toy_node(const struct nic_at *a)
{
	return a->node;
}

static void note(struct toy_log *l, const struct nic_at *a, uint32_t what,
	uint32_t which)
{
	assert_true(l->n < TOY_MOST);
	l->note[l->n++] = (struct toy_note){ what, which, a->t };
}

static struct toy_item *item(const struct nic_at *a, uint32_t id)
{
	return slots_at(&toy_node(a)->resend.items, id);
}

/* --- packets --- */

static void leave(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	assert_true(net_has_room(a->nic->net, a->s, fifo));
	net_inject(a->nic->net, a->w, a->s, fifo, id, a->t);
}

static void send_load(
	const struct nic_at *a, site_id dst, const struct toy_load *what)
{
	struct net *net = a->nic->net;
	packet_id id = packet_take(net->pool, a->w->id);

	net->packets[id] = (struct packet){
		.src = a->s,
		.dst = dst,
		.number = toy_node(a)->sent++,
		.born = a->t,
		.kind = PACKET_DETERMINISTIC,
		.bytes = 64,
		.load = nic_unpack(a->nic, a->w->id, what, sizeof(*what)),
	};
	outbox_send(a, &toy_node(a)->outbox, net_fifos(net, NET_USER).first, id,
		leave);
}

static void send(const struct nic_at *a, uint32_t id)
{
	const struct toy_item *x = item(a, id);
	struct toy_load l = {
		.id = id, .number = x->number, .try = x->item.tries
	};

	note(&toy_of(a)->routes, a, x->number, x->item.route);
	send_load(a, x->item.dst, &l);
}

static void on_late(const struct nic_at *a, uint32_t id)
{
	note(&toy_of(a)->late, a, item(a, id)->number, item(a, id)->item.tries);
}

static void give_up(const struct nic_at *a, uint32_t id)
{
	note(&toy_of(a)->given_up, a, item(a, id)->number,
		item(a, id)->item.tries);
	resend_give(&toy_node(a)->resend, id);
}

static void on_answer(const struct nic_at *a, const struct toy_load *l)
{
	struct resend *r = &toy_node(a)->resend;
	const struct toy_item *x = slots_find(&r->items, l->id);

	if (!x || x->number != l->number)
		return;
	resend_answered(a, r, l->id);
	if (l->verdict == TOY_TURNED_AWAY) {
		resend_again(a, r, l->id);
		return;
	}
	note(&toy_of(a)->acked, a, x->number, x->item.tries);
	resend_give(r, l->id);
}

static void on_number(
	const struct nic_at *a, site_id src, const struct toy_load *l)
{
	struct toy_load answer = *l;

	note(&toy_of(a)->came, a, l->number, l->try);
	answer.verdict = toy_of(a)->judge ? toy_of(a)->judge(l->number, l->try)
					  : TOY_TAKEN;
	if (answer.verdict != TOY_LOST)
		send_load(a, src, &answer);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *net = me->net;
	struct nic_at a = nic_at(me->state, w, s, t);
	const struct packet *p = &net->packets[id];
	struct toy_load l = *(const struct toy_load *)payload_of_load(p->load);
	site_id src = p->src;

	(void)tail;
	net_release(net, w, s, fifo, p->chunks, t);
	nic_give(a.nic, w, id);
	if (l.verdict == TOY_NUMBER)
		on_number(&a, src, &l);
	else
		on_answer(&a, &l);
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	outbox_on_room(&a, &toy_node(&a)->outbox, fifo, leave);
}

/* --- events --- */

static void on_engine(const struct nic_at *a, const struct sim_event *e)
{
	struct toy_node *n = a->node;
	uint32_t number =
		ENGINE_CLIENT + (sim_number(e) - ENGINE_CLIENT) % TOY_STRIDE;

	ticks_check(a, &n->ticks, e);
	if (!resend_on_event(a, &n->resend, number, e->data))
		note(&toy_of(a)->events, a, e->data, 0);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	if (sim_phase(&e) == PHASE_PROGRAM)
		host_event(a.nic->host, w, s, t, &e);
	else
		on_engine(&a, &e);
}

/* --- life --- */

static int init(struct nic *nic, struct err *e)
{
	(void)e;
	((struct toy_nic *)nic)->toy = *(struct toy *const *)nic->params;
	nic->load_size = sizeof(struct toy_load);
	return 0;
}

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct toy *t = ((const struct toy_nic *)nic)->toy;
	struct toy_node *n = node;

	(void)s;
	resend_init(&n->resend, &t->resend, &n->ticks, sizeof(struct toy_item));
}

static void node_fini(struct nic *nic, void *node)
{
	struct toy_node *n = node;

	(void)nic;
	resend_fini(&n->resend);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct toy_node *n = node;

	if (n->resend.items.used)
		return err_set_code(e, EXIT_INTERNAL, "node %u: not done", s);
	return 0;
}

static size_t load_bytes(const struct packet *p)
{
	(void)p;
	return sizeof(struct toy_load);
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
};

static const struct nic_counter no_counters[] = { { 0 } };

static const struct nic_ops toy_ops = {
	.name = "toy",
	.title = "toy",
	.size = sizeof(struct toy_nic),
	.node_size = sizeof(struct toy_node),
	.params_size = sizeof(struct toy *),
	.client = &client,
	.counters = no_counters,
	.init = init,
	.node_init = node_init,
	.node_fini = node_fini,
	.audit_node = audit_node,
	.load_bytes = load_bytes,
};

struct toy *toy_new(void)
{
	struct toy *t = mem_alloc(1, sizeof(*t));

	t->resend = (struct resend_how){
		.leave = TOY_LEAVE,
		.late = TOY_LATE,
		.later = TOY_LATER,
		.again = TOY_AGAIN,
		.stride = TOY_STRIDE,
		.timeout = 10000 * SIM_NS,
		.retries = 5,
		.back_off = 1000 * SIM_NS,
		.send = send,
		.on_late = on_late,
		.give_up = give_up,
	};
	return t;
}

void toy_run(struct toy *t, void (*run)(void *arg))
{
	nic_testing_init(&t->m, &toy_ops, "2");
	*(struct toy **)t->m.params = t;
	nic_testing_start(&t->m, 1, 1);
	program_start(t->m.host, 0, 0, 0, run, t);
	nic_testing_run(&t->m);
}

void toy_free(struct toy *t)
{
	nic_testing_fini(&t->m);
	mem_free(t);
}

/* --- for the program --- */

struct nic_at toy_at(void)
{
	return nic_at(host_nic(program_host()), program_worker(),
		program_node(), program_now());
}

void toy_send(struct toy *t, uint32_t number)
{
	struct nic_at a = toy_at();
	struct resend *r = &toy_node(&a)->resend;
	uint32_t id = resend_take(r);

	(void)t;
	item(&a, id)->number = number;
	item(&a, id)->item.dst = 1;
	/* programs come after all engines of an instant */
	resend_at(&a, r, id, a.t + 1);
}

void toy_post(struct toy *t, sim_time due, uint32_t data)
{
	struct nic_at a = toy_at();

	(void)t;
	ticks_post(&a, &toy_node(&a)->ticks, due, TOY_EVENT, data);
}
