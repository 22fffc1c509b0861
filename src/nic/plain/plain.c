#include "nic/plain/card.h"

#define AT(field) offsetof(struct plain_params, field)
#define CARD	  "assumed: a card of the 2020s, 100 Gb/s"
#define COUNT(name_, field_, ...)                                              \
	PARAM_ROW(PARAM_COUNT, name_, AT(field_), __VA_ARGS__)
#define TIME(name_, field_, def_, min_, ...)                                   \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, min_, PS_PER_S / 1000,  \
		__VA_ARGS__)

static const struct param params[] = {
	PARAM_ONE_OF("routing", AT(routing), "dynamic", "dynamic|deterministic",
		"routing of requests; deterministic routing keeps the packets "
		"between two nodes in order",
		"assumed: nothing here needs the order"),
	PARAM_ONE_OF("answers", AT(answers), "buffered", "buffered|held",
		"place of answers that wait to leave; buffered: buffers of the "
		"card; held: the reception FIFO, where each request keeps its "
		"place until its answer has left, which can deadlock if "
		"requests and answers share channels",
		"assumed: answers are short, or an address, and fit into the "
		"card's or the host's memory"),
	COUNT("window", window, "32", 1, 32,
		"largest number of unacknowledged packets of a queue", CARD),
	COUNT("buffers", buffers, "16", 1, 256,
		"number of buffers for packets that are being built or wait to "
		"leave",
		CARD),
	TIME("dispatch", dispatch, "40 ns", 0,
		"time from an idle card's doorbell to the start of a work "
		"entry",
		CARD),
	TIME("packet", packet, "10 ns", 1, "minimum interval between packets",
		CARD),
	TIME("input", input, "60 ns", 0,
		"time from a packet's tail to its first access to memory",
		CARD),
	WORKQ_ROWS(AT(work), "4", "60 ns"),
	RESEND_ROWS(AT(retry), "50 us", "7",
		"assumed: a few packets from each node on one link",
		"assumed: a packet lost so often is lost for good",
		"assumed: a round trip"),
};

#define COUNT_OF(field_) "", offsetof(struct plain_node, field_)

static const struct nic_counter counters[] = {
	{ "packets", COUNT_OF(asks.packets), false },
	{ "answers", COUNT_OF(asks.answers), false },
	{ "fetches", COUNT_OF(queues.fetches), false },
	{ "completions", COUNT_OF(status[PLAIN_OK]), false },
	{ "resent", COUNT_OF(asks.resent), false },
	{ "timeouts", COUNT_OF(asks.timeouts), false },
	{ "torn", COUNT_OF(asks.torn), false },
	{ "escapes", COUNT_OF(asks.escapes), false },
	{ "invalid work entry", COUNT_OF(status[PLAIN_BAD_ENTRY]), true },
	{ "unknown key", COUNT_OF(status[PLAIN_BAD_KEY]), true },
	{ "address outside the key's range",
		COUNT_OF(status[PLAIN_OUT_OF_BOUNDS]), true },
	{ "no permission", COUNT_OF(status[PLAIN_NO_RIGHT]), true },
	{ "too many retries", COUNT_OF(status[PLAIN_GAVE_UP]), NIC_LATE },
	{ "queue has stopped", COUNT_OF(status[PLAIN_STOPPED]), true },
	{ "ring overrun", COUNT_OF(queues.overruns), true },
	{ .key = NULL },
};

struct workqs *plain_queues(struct nic *nic, site_id s)
{
	return &((struct plain_node *)nic_node(nic, s))->queues;
}

struct ranges *plain_keys(struct nic *nic, site_id s)
{
	return &((struct plain_node *)nic_node(nic, s))->keys;
}

/* Data that is at the far end of the bus before an event crosses it first. */
static inline void settle(const struct nic_at *a, uint32_t number)
{
	struct side_reads *r = &plain_here(a)->reads;

	r->now = a->t;
	if (r->due > a->t && !r->silent.n)
		return;
	r->over = a->t - (number < PLAIN_READS);
	side_reads_settle(a, r, r->over);
}

static void leave(const struct nic_at *a)
{
	bool is_last = asks_is_last(a);

	if (is_last)
		settle(a, PLAIN_ASKS);
	asks_leave(a, is_last);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic_at a = nic_at(me->state, w, s, t);
	struct plain_node *n = a.node;
	uint32_t number;

	if (sim_phase(&e) == PHASE_PROGRAM) {
		settle(&a, PLAIN_READS);
		host_event(a.nic->host, w, s, t, &e);
		return;
	}
	number = asks_number(&n->asks, sim_number(&e));
	settle(&a, number);
	ticks_check(&a, &n->asks.ticks, &e);
	if (number == PLAIN_TURN)
		plain_send_on_turn(&a);
	else if (number == PLAIN_WRITTEN)
		plain_receive_on_written(&a, e.data);
	else if (number >= PLAIN_ASKS)
		asks_on_event(&a, number, e.data);
	else if (number >= PLAIN_READS)
		side_reads_on_event(&a, &n->reads, number, e.data);
	else
		workqs_on_event(&a, &n->queues, number, e.data);
	if (n->asks.is_leaving)
		leave(&a);
}

static uint32_t plain_waits_for(const void *values, enum net_class class)
{
	const struct plain_params *p = values;

	return class == NET_USER && p->answers == PLAIN_HELD ? 1u << NET_HIGH
							     : 0;
}

/* Room for a train, and for one more behind it. */
static uint32_t at_least(int64_t packets, uint32_t train)
{
	return packets > train ? (uint32_t)packets : train + (train > 1);
}

static int plain_init(struct nic *nic, struct err *e)
{
	struct plain *x = (struct plain *)nic;
	const struct plain_params *p = nic->params;

	x->side = host_side(nic->host);
	if (!x->side)
		return err_set(e, "side.kind: nic.kind plain needs a bus or a "
				  "cache between card and memory");
	x->reads = (struct side_reads_how){ .side = x->side,
		.first = PLAIN_READS,
		.is_settled = x->side->ops->least != NULL,
		.is_silent = x->side->ops->least != NULL };
	x->queues = (struct workqs_how){
		.first = PLAIN_QUEUES,
		.entry = sizeof(struct plain_entry),
		.size = sizeof(struct plain_queue),
		.params = &p->work,
		.fetched = plain_send_wake,
	};
	x->asks = (struct asks_how){
		.resend.give_up = plain_send_give_up,
		.latency = p->input,
		.kind = p->routing ? PACKET_DETERMINISTIC : PACKET_DYNAMIC,
		.kept = PLAIN_GET,
		.holds = p->answers == PLAIN_HELD,
		.left = plain_send_left,
		.asked = plain_receive_asked,
		.fits = plain_receive_fits,
		.answered = plain_receive_answered,
	};
	x->window = at_least(p->window, nic->net->link.train);
	x->buffers = at_least(p->buffers, nic->net->link.train);
	asks_set_up(&x->asks, &p->retry, nic->net, PLAIN_ASKS, PLAIN_ENGINES);
	return asks_check(nic, e);
}

static const struct nic_member members[] = {
	NIC_MEMBER(asks, struct plain_node, asks, 0),
	NIC_MEMBER(ranges, struct plain_node, keys, 0),
	NIC_MEMBER(side_reads, struct plain_node, reads, 0),
	NIC_MEMBER(workqs, struct plain_node, queues, 0),
	NIC_MEMBER(ring, struct plain_node, run, sizeof(uint32_t)),
	NIC_MEMBER(slots, struct plain_node, works, sizeof(struct plain_work)),
	{ 0 },
};

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct plain *x = (const struct plain *)nic;
	struct plain_node *n = node;

	(void)s;
	asks_init(&n->asks, &x->asks, sizeof(struct plain_sending));
	side_reads_init(&n->reads, &x->reads, &n->asks.ticks);
	workqs_init(&n->queues, &x->queues, &n->reads);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct plain_node *n = node;

	if (!n->works.used && !n->n_made && asks_is_idle(&n->asks) &&
		!workqs_is_busy(&n->queues))
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: node %u: %u work entries, %u requests and %u packets "
		"are unfinished",
		s, n->works.used, n->asks.resend.items.used, n->asks.inside);
}

static const struct net_client_faults faults = {
	.on_hurt = asks_on_hurt,
};

static const struct net_client_ops client = {
	.on_room = asks_on_room,
	.on_packet = asks_on_packet,
	.on_event = on_event,
	.on_lost = nic_on_lost,
	.faults = &faults,
	.combine = &nic_combine,
	.carry = &nic_carry,
};

const struct nic_ops plain_ops = {
	.name = "plain",
	.title = "plain RDMA card",
	.machine = "torus",
	.can = NIC_RESENDS | NIC_ATOMICS | NIC_FETCHES,
	.has = "any-side domain trains",
	.size = sizeof(struct plain),
	.node_size = sizeof(struct plain_node),
	PARAMS(params),
	.params_size = sizeof(struct plain_params),
	.client = &client,
	.counters = counters,
	.init = plain_init,
	.members = members,
	.node_init = node_init,
	.audit_node = audit_node,
	.load_bytes = asks_load_bytes,
	.is_stale = asks_is_stale,
	.waits_for = plain_waits_for,
	.how_waits = "keeps the place of a request in the reception FIFO until "
		     "its answer has left (nic.answers: held)",
};
