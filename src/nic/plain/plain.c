#include <errno.h>

#include "base/mem.h"
#include "nic/plain/card.h"

#define AT(field) offsetof(struct plain_params, field)
#define PS_PER_S  INT64_C(1000000000000)
#define CARD	  "assumed: a card of the 2020s, 100 Gb/s"
#define ROW(type_, name_, field_, def_, min_, max_, help_, source_)            \
	{                                                                      \
		.name = name_, .type = type_, .offset = AT(field_),            \
		.def = def_, .min = min_, .max = max_, .help = help_,          \
		.source = source_                                              \
	}
#define COUNT(...) ROW(PARAM_COUNT, __VA_ARGS__)
#define TIME(name_, field_, def_, min_, ...)                                   \
	ROW(PARAM_TIME, name_, field_, def_, min_, PS_PER_S / 1000, __VA_ARGS__)

static const struct param params[] = {
	{ .name = "routing",
		.type = PARAM_WORD,
		.offset = AT(routing),
		.def = "dynamic",
		.words = "dynamic|deterministic",
		.help = "routing of requests; deterministic keeps the packets "
			"from one node to another in order",
		.source = "assumed: nothing here needs the order" },
	/* nic/util/seen.h remembers twice as many */
	COUNT("window", window, "32", 1, 32,
		"packets of a queue that are not acknowledged", CARD),
	COUNT("buffers", buffers, "16", 1, 256,
		"packets that are being made or wait to leave", CARD),
	TIME("dispatch", dispatch, "40 ns", 0,
		"time that an idle card takes to begin with a work entry",
		CARD),
	TIME("packet", packet, "10 ns", 1, "time between two packets", CARD),
	TIME("input", input, "60 ns", 0,
		"time from a packet's end to its first access to memory", CARD),
	WORKQ_ROWS(AT(work), "4", "60 ns"),
	RESEND_ROWS(AT(retry), "50 us", "7"),
};

#define COUNTER(key_, field_)                                                  \
	{                                                                      \
		key_, "", offsetof(struct plain_node, field_), 0               \
	}
#define ERROR(key_, field_)                                                    \
	{                                                                      \
		key_, "", offsetof(struct plain_node, field_), 1               \
	}

static const struct nic_counter counters[] = {
	COUNTER("packets", asks.packets),
	COUNTER("answers", asks.answers),
	COUNTER("fetches", queues.fetches),
	COUNTER("completions", status[PLAIN_OK]),
	COUNTER("resent", asks.resent),
	COUNTER("timeouts", asks.timeouts),
	COUNTER("torn", asks.torn),
	COUNTER("escapes", asks.escapes),
	ERROR("bad work entry", status[PLAIN_BAD_ENTRY]),
	ERROR("unknown key", status[PLAIN_BAD_KEY]),
	ERROR("outside of a key's range", status[PLAIN_OUT_OF_BOUNDS]),
	ERROR("no right", status[PLAIN_NO_RIGHT]),
	ERROR("gave up", status[PLAIN_GAVE_UP]),
	ERROR("queue stopped", status[PLAIN_STOPPED]),
	ERROR("ring overrun", queues.overruns),
	{ .key = NULL },
};

/* --- what a kernel does --- */

struct workqs *plain_queues(struct nic *nic, site_id s)
{
	return &((struct plain_node *)nic_node(nic, s))->queues;
}

int plain_register(struct nic *nic, site_id s, uint32_t process, uint32_t key,
	uint64_t at, uint64_t bytes, uint32_t rights)
{
	struct plain_node *n = nic_node(nic, s);

	if (host_ask(nic->host, s, MEMORY_MAY_READ(MEMORY_NIC), at, bytes))
		return EFAULT;
	return ranges_add(&n->keys, key, at, bytes,
		       process << PLAIN_RIGHTS | rights)
		       ? 0
		       : EBUSY;
}

int plain_forget(struct nic *nic, site_id s, uint32_t key)
{
	struct plain_node *n = nic_node(nic, s);

	return ranges_drop(&n->keys, key) ? 0 : EINVAL;
}

/* --- events --- */

static void on_read(const struct nic_at *a, const struct side_read *x)
{
	if (x->what == READ_ENTRIES)
		workqs_on_read(a, &plain_here(a)->queues, x);
	else if (x->what == READ_PAYLOAD)
		plain_send_on_payload(a, x);
	else
		plain_receive_on_read(a, x);
}

static void on_engine(const struct nic_at *a, uint32_t number, uint32_t data)
{
	struct plain_node *n = a->node;

	if (number == PLAIN_TURN)
		plain_send_on_turn(a);
	else if (number == PLAIN_WRITTEN)
		plain_receive_on_written(a, data);
	else if (!side_reads_on_event(a, &n->reads, number, data) &&
		 !workqs_on_event(a, &n->queues, number, data))
		asks_on_event(a, number, data);
}

static void on_event(struct net *net, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic_at a = nic_at(net->client_state, w, s, t);

	if (sim_phase(&e) == PHASE_PROGRAM) {
		host_event(a.nic->host, w, s, t, &e);
		return;
	}
	ticks_check(&a, &asks_of(&a)->ticks, &e);
	on_engine(&a, asks_number(a.node, &e), e.data);
}

/* --- life --- */

static void set_up(struct plain *x, const struct plain_params *p)
{
	x->reads = (struct side_reads_how){ x->side, PLAIN_READS, on_read };
	x->queues = (struct workqs_how){
		.first = PLAIN_QUEUES,
		.read = READ_ENTRIES,
		.entry = sizeof(struct plain_entry),
		.size = sizeof(struct plain_queue),
		.params = &x->params.work,
		.fetched = plain_send_wake,
	};
	x->asks = (struct asks_how){
		.resend.give_up = plain_send_give_up,
		.latency = p->input,
		.kind = p->routing ? PACKET_DETERMINISTIC : PACKET_DYNAMIC,
		.kept = PLAIN_GET,
		.left = plain_send_left,
		.asked = plain_receive_asked,
		.answered = plain_receive_answered,
	};
	asks_set_up(&x->asks, &p->retry, x->nic.net, PLAIN_ASKS, PLAIN_ENGINES);
}

static int plain_init(struct nic *nic, struct err *e)
{
	struct plain *x = (struct plain *)nic;

	x->params = *plain_params_of(nic);
	x->side = host_side(nic->host);
	if (!x->side)
		return err_set(e, "side.kind: nic.kind plain needs a side");
	set_up(x, &x->params);
	return asks_check(nic, e);
}

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct plain *x = (const struct plain *)nic;
	struct plain_node *n = node;

	(void)s;
	asks_init(&n->asks, &x->asks, sizeof(struct plain_sending));
	side_reads_init(&n->reads, &x->reads, &n->asks.ticks);
	workqs_init(&n->queues, &x->queues, &n->reads);
	ring_init(&n->run, sizeof(uint32_t));
	slots_init(&n->works, sizeof(struct plain_work));
}

static void node_fini(struct nic *nic, void *node)
{
	struct plain_node *n = node;

	(void)nic;
	asks_fini(&n->asks);
	ranges_fini(&n->keys);
	side_reads_fini(&n->reads);
	workqs_fini(&n->queues);
	ring_fini(&n->run);
	slots_fini(&n->works);
}

static uint64_t node_memory(const void *node)
{
	const struct plain_node *n = node;

	return asks_memory(&n->asks) + ranges_memory(&n->keys) +
	       side_reads_memory(&n->reads) + workqs_memory(&n->queues) +
	       ring_memory(&n->run) + slots_memory(&n->works);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct plain_node *n = node;

	if (!n->works.used && !n->n_made && asks_is_idle(&n->asks) &&
		!workqs_is_busy(&n->queues))
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: node %u: %u work entries are under way, %u packets are "
		"not acknowledged, %u not sent, %u not executed",
		s, n->works.used, n->asks.resend.items.used, n->n_made,
		n->asks.inside);
}

static const struct net_client_ops client = {
	.on_room = asks_on_room,
	.on_packet = asks_on_packet,
	.on_event = on_event,
	.on_copy = nic_on_copy,
	.on_hurt = asks_on_hurt,
	.on_lost = nic_on_lost,
};

const struct nic_ops plain_ops = {
	.name = "plain",
	.title = "plain RDMA card",
	.can = NIC_RESENDS | NIC_ATOMICS | NIC_FETCHES,
	.has = "any-side",
	.size = sizeof(struct plain),
	.node_size = sizeof(struct plain_node),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.params_size = sizeof(struct plain_params),
	.client = &client,
	.counters = counters,
	.init = plain_init,
	.node_init = node_init,
	.node_fini = node_fini,
	.node_memory = node_memory,
	.audit_node = audit_node,
	.load_bytes = asks_load_bytes,
	.is_stale = asks_is_stale,
};
