#include "base/mem.h"
#include "nic/plain/card.h"

#define AT(field) offsetof(struct plain_params, field)
#define PS_PER_S  INT64_C(1000000000000)
#define CARD	  "assumed: a card of the 2020s, 100 Gb/s"
#define TIME(name_, field_, def_, min_, help_, source_)                        \
	{                                                                      \
		.name = name_, .type = PARAM_TIME, .offset = AT(field_),       \
		.def = def_, .min = min_, .max = PS_PER_S / 1000,              \
		.help = help_, .source = source_                               \
	}
#define COUNT(name_, field_, def_, min_, max_, help_, source_)                 \
	{                                                                      \
		.name = name_, .type = PARAM_COUNT, .offset = AT(field_),      \
		.def = def_, .min = min_, .max = max_, .help = help_,          \
		.source = source_                                              \
	}

static const struct param params[] = {
	{ .name = "routing",
		.type = PARAM_WORD,
		.offset = AT(routing),
		.def = "dynamic",
		.words = "dynamic|deterministic",
		.help = "routing of requests; deterministic keeps the packets "
			"from one node to another in order",
		.source = "assumed: nothing here needs the order" },
	COUNT("prefetch", prefetch, "4", 1, 64, "work entries of one fetch",
		CARD),
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
	TIME("retry.timeout", timeout, "50 us", 1000000,
		"minimum time after which a packet without an answer is sent "
		"again; doubled for the second and the third try",
		"assumed: far more than an idle round trip"),
	TIME("retry.per-node", per_node, "2 us", 0,
		"additional time-out for each node of the machine",
		"assumed: some packets of each on one link"),
	COUNT("retry.round-trips", round_trips, "4", 0, 1000,
		"minimum time-out, in multiples of the longest recent round "
		"trip",
		"assumed: a loaded network is not a dead one"),
	COUNT("retry.limit", retries, "7", 0, 255,
		"number of times that a packet is sent again", CARD),
	TIME("retry.back-off", back_off, "1 us", 1,
		"pause before a packet is sent again; doubled each time", CARD),
	TIME("software.post", post, "60 ns", 0,
		"time that a core takes to write a work entry",
		"assumed: some hundred instructions"),
	TIME("software.poll-period", poll_period, "20 ns", 1,
		"time from one look of a poll loop to the next",
		"assumed: a loop over a cached word"),
	TIME("software.poll-load", poll_load, "5 ns", 0,
		"time until a look of a poll loop has its value",
		"assumed: a loop over a cached word"),
};

#define COUNTER(key_, field_)                                                  \
	{                                                                      \
		.key = key_, .offset = offsetof(struct plain_node, field_)     \
	}
#define ERROR(key_, status_)                                                   \
	{                                                                      \
		.key = key_, .unit = "entries",                                \
		.offset = offsetof(struct plain_node, status[status_]),        \
		.is_error = true                                               \
	}

static const struct nic_counter counters[] = {
	COUNTER("packets", packets),
	COUNTER("answers", answers),
	COUNTER("fetches", fetches),
	COUNTER("completions", status[PLAIN_OK]),
	COUNTER("resent", resent),
	COUNTER("timeouts", timeouts),
	COUNTER("torn", torn),
	COUNTER("escapes", escapes),
	ERROR("not a work entry", PLAIN_BAD_ENTRY),
	ERROR("unknown key", PLAIN_BAD_KEY),
	ERROR("outside of a key's range", PLAIN_OUT_OF_BOUNDS),
	ERROR("no right", PLAIN_NO_RIGHT),
	ERROR("too many tries", PLAIN_GAVE_UP),
	ERROR("queue stopped", PLAIN_STOPPED),
	ERROR("ring overrun", PLAIN_OVERRUN),
	{ .key = NULL },
};

/* --- the network's client --- */

static void on_room(struct net *net, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct nic_at a = nic_at(net->client_state, w, s, t);

	outbox_on_room(&a, &plain_here(&a)->out, fifo, plain_send_leave);
}

static void on_packet(struct net *net, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct nic_at a = nic_at(net->client_state, w, s, t);

	plain_receive(&a, fifo, id, tail);
}

static void on_lost(struct net *net, struct sim_worker *w, packet_id id)
{
	/* it comes again */
	if (net->book && book_has(net->book, id))
		book_hold(net->book, w->id, id);
	nic_give(net->client_state, w, id);
}

static void on_read(const struct nic_at *a, const struct side_read *x)
{
	if (x->what == READ_ENTRIES)
		plain_queue_on_entries(a, x);
	else if (x->what == READ_PAYLOAD)
		plain_send_on_payload(a, x);
	else
		plain_receive_on_read(a, x);
}

static enum plain_engine engine_of(const struct sim_event *e)
{
	return ENGINE_CLIENT + (sim_number(e) - ENGINE_CLIENT) % PLAIN_ENGINES;
}

static void on_engine(const struct nic_at *a, const struct sim_event *e)
{
	struct plain_node *n = a->node;

	ticks_check(a, &n->ticks, e);
	switch (engine_of(e)) {
	case ENGINE_DOORBELL:
		plain_queue_on_doorbell(a);
		break;
	case ENGINE_TURN:
		plain_send_on_turn(a);
		break;
	case ENGINE_READY:
		side_reads_on_ready(a, &n->reads, e->data);
		break;
	case ENGINE_HERE:
		side_reads_on_here(a, &n->reads, e->data);
		break;
	case ENGINE_LEAVE:
		resend_on_leave(a, &n->resend, e->data);
		break;
	case ENGINE_LATE:
		resend_on_late(a, &n->resend);
		break;
	case ENGINE_LATER:
		resend_on_later(a, &n->resend, e->data);
		break;
	case ENGINE_AGAIN:
		resend_on_again(a, &n->resend, e->data);
		break;
	case ENGINE_INPUT:
		plain_receive_on_input(a, e->data);
		break;
	case ENGINE_WRITTEN:
		plain_receive_on_written(a, e->data);
		break;
	default:
		plain_queue_on_completed(a, e->data);
	}
}

static void on_event(struct net *net, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic_at a = nic_at(net->client_state, w, s, t);

	if (sim_phase(&e) == PHASE_PROGRAM)
		host_event(a.nic->host, w, s, t, &e);
	else
		on_engine(&a, &e);
}

/* --- life --- */

static int plain_init(struct nic *nic, struct err *e)
{
	struct plain *x = (struct plain *)nic;
	const struct link_rules *link = &nic->net->link;

	x->params = *plain_params_of(nic);
	x->side = host_side(nic->host);
	if (!x->side)
		return err_set(e, "nic.kind: plain needs a side (side.kind)");
	if (link->max_payload > PLAIN_MOST_PAYLOAD)
		return err_set(e,
			"link.payload: nic.kind plain sends packets of at most "
			"%d bytes",
			PLAIN_MOST_PAYLOAD);
	x->reads = (struct side_reads_how){ x->side, ENGINE_READY, ENGINE_HERE,
		on_read };
	x->resend = (struct resend_how){
		.leave = ENGINE_LEAVE,
		.late = ENGINE_LATE,
		.later = ENGINE_LATER,
		.again = ENGINE_AGAIN,
		.stride = PLAIN_ENGINES,
		.timeout = x->params.timeout +
			   x->params.per_node * (sim_time)nic->n_nodes,
		.round_trips = x->params.round_trips,
		.retries = x->params.retries,
		.back_off = x->params.back_off,
		.send = plain_send_try,
		.on_late = plain_send_on_late,
		.give_up = plain_send_give_up,
	};
	nic->load_size = sizeof(struct plain_buffer) + link->max_payload;
	return 0;
}

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct plain *x = (const struct plain *)nic;
	struct plain_node *n = node;

	(void)s;
	ring_init(&n->doorbells, sizeof(struct plain_doorbell));
	ring_init(&n->run, sizeof(uint32_t));
	side_reads_init(&n->reads, &x->reads, &n->ticks);
	slots_init(&n->works, sizeof(struct plain_work));
	resend_init(&n->resend, &x->resend, &n->ticks,
		sizeof(struct plain_sending));
}

static void node_fini(struct nic *nic, void *node)
{
	struct plain_node *n = node;
	uint32_t i;

	(void)nic;
	for (i = 0; i < PLAIN_QUEUES; i++)
		plain_queue_fini(n->queue[i]);
	ranges_fini(&n->keys);
	ring_fini(&n->doorbells);
	ring_fini(&n->run);
	side_reads_fini(&n->reads);
	slots_fini(&n->works);
	resend_fini(&n->resend);
	seen_fini(&n->seen);
}

static uint64_t node_memory(const void *node)
{
	const struct plain_node *n = node;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < PLAIN_QUEUES; i++)
		if (n->queue[i])
			sum += sizeof(*n->queue[i]) +
			       ring_memory(&n->queue[i]->entries) +
			       ring_memory(&n->queue[i]->births);
	return sum + ranges_memory(&n->keys) + ring_memory(&n->doorbells) +
	       ring_memory(&n->run) + side_reads_memory(&n->reads) +
	       slots_memory(&n->works) + slots_memory(&n->resend.items) +
	       seen_memory(&n->seen);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct plain_node *n = node;

	if (!n->works.used && !n->resend.items.used && !n->inside &&
		!n->n_made && !n->reads.items.used && !n->doorbells.n)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: node %u: %u work entries and %u reads are under way, "
		"%u packets are not acknowledged, %u not sent, %u not executed",
		s, n->works.used, n->reads.items.used, n->resend.items.used,
		n->n_made, n->inside);
}

static size_t load_bytes(const struct packet *p)
{
	return sizeof(struct plain_buffer) + plain_data(&plain_buffer(p)->h);
}

static bool is_stale(const struct nic *nic, const struct sim_event *e)
{
	const struct plain_node *n =
		e->site < nic->n_nodes ? nic->nodes[e->site] : NULL;

	return n && sim_phase(e) == PHASE_ENGINE &&
	       sim_number(e) >= ENGINE_CLIENT &&
	       resend_is_stale(&n->resend, engine_of(e), e->data);
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_copy = nic_on_copy,
	.on_hurt = plain_receive_on_hurt,
	.on_lost = on_lost,
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
	.load_bytes = load_bytes,
	.is_stale = is_stale,
};
