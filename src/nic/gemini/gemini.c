#include <string.h>

#include "nic/gemini/card.h"
#include "nic/gemini/frame.h"

#define AT(field) offsetof(struct gemini_params, field)
#define TIME(name_, field_, def_, ...)                                         \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, 0, 1000000000,          \
		__VA_ARGS__)

static const struct param params[] = {
	TIME("output", output, "92 ns",
		"time from a store's arrival in the interface to its packet's "
		"departure",
		"assumed: GEM-N28, 60 cycles"),
	TIME("input", input, "113 ns",
		"time from the arrival of a request's tail to its first access "
		"to memory",
		"calibrated: GEM-N32"),
	TIME("response", response, "0 ns",
		"time from the arrival of a response's tail to its execution",
		"assumed: part of GEM-N34"),
	PARAM_ROW(PARAM_COUNT, "orb", AT(orb), "512", 1, 65536,
		"largest number of unanswered requests", "GEM-G16"),
	PARAM_ROW(PARAM_COUNT, "ssids", AT(ssids), "1024", 128, 65536,
		"largest number of unfinished transactions", "GEM-G16"),
	PARAM_ROW(PARAM_COUNT, "rmt", AT(rmt), "1024", 0, 65536,
		"largest number of unfinished transactions of other nodes with "
		"an event at this node, whose packets are counted",
		"GEM-G16"),
	PARAM_ROW(PARAM_COUNT, "pending", AT(pending), "64", 1, 65536,
		"number of unfinished packets beyond which further requests "
		"stay in the reception FIFO",
		"assumed"),
	PARAM_ONE_OF("responses", AT(responses), "always", "always|wait",
		"acceptance of responses by a node; always: on arrival; wait: "
		"in line with requests that wait until responses can leave, "
		"which can deadlock",
		"assumed: as GEM-F42; wait is for comparison"),
	PARAM_ROW(PARAM_TIME, "timeout", AT(timeout), "1 ms", 1000000, PS_PER_S,
		"time after which an unanswered request fails", "GEM-G26"),
	PARAM_ONE_OF("routing", AT(routing), "adaptive",
		"adaptive|hashed|lines",
		"choice among parallel links; adaptive: any link; hashed: by a "
		"hash of source and destination; lines: by a hash of these and "
		"the line of the remote address",
		"GEM-G19"),
	TIME("amo.interval", amo_interval, "10 ns",
		"interval between atomic operations", "calibrated: GEM-N52"),
	PARAM_ROW(PARAM_COUNT, "amo.lines", AT(amo_lines), "64", 0, 65536,
		"number of words in the cache of atomic operations", "GEM-G18"),
	PARAM_ROW(PARAM_COUNT, "amo.reads", AT(amo_reads), "12", 1, 256,
		"largest number of words being read for atomic operations",
		"calibrated: GEM-N51"),
	PARAM_ONE_OF("amo.update", AT(amo_update), "through", "through|lazy",
		"write policy of the cache of atomic operations; through: a "
		"word is written to memory at every change; lazy: when it is "
		"evicted or flushed",
		"GEM-G18"),
	TIME("software.store", store, "20 ns",
		"time that a core takes to store a line", "assumed: GEM-N54"),
	TIME("software.kernel", kernel, "300 ns",
		"time that a core takes for a call of the kernel", "assumed"),
	PARAM_ROW(PARAM_BYTES, "software.bte-from", AT(bte_from), "4 KiB", 0,
		INT64_C(1) << 32,
		"smallest transfer that libraries leave to the block transfer "
		"engine",
		"GEM-G15"),
	PARAM_ROW(PARAM_COUNT, "bte.channels", AT(channels), "4", 1,
		GEM_CHANNELS,
		"number of block transfers that proceed at the same time",
		"GEM-G14"),
	PARAM_ROW(PARAM_COUNT, "bte.reads", AT(reads), "64", 1, 256,
		"largest number of outstanding reads of a channel of the block "
		"transfer engine",
		"GEM-G14"),
	TIME("bte.start", start, "1 us",
		"time that a channel takes to begin a block transfer",
		"GEM-G14"),
	PARAM_ROW(PARAM_TIME, "bte.interval", AT(interval), "7692 ps", 1,
		1000000000,
		"interval between packets of the block transfer engine",
		"GEM-N36: 5 cycles of 650 MHz"),
	PARAM_ROW(PARAM_TIME, "software.poll-period", AT(poll_period), "20 ns",
		1, 1000000000, "period of a poll loop",
		"assumed: a loop over a cached word"),
	TIME("software.poll-load", poll_load, "100 ns",
		"latency of a poll loop's load", "assumed: GEM-N32"),
};

#define COUNT_OF(field_) "", offsetof(struct gem_node, field_)

static const struct nic_counter counters[] = {
	{ "requests", COUNT_OF(requests), false },
	{ "responses", COUNT_OF(responses), false },
	{ "events", COUNT_OF(events_written), false },
	{ "completions", COUNT_OF(status[GEMINI_OK]), false },
	{ "blocks", COUNT_OF(bte.blocks), false },
	{ "late", COUNT_OF(late), false },
	{ "rmt_misses", COUNT_OF(rmt_misses), false },
	{ "amos", COUNT_OF(amos), false },
	{ "amo_misses", COUNT_OF(amo_misses), false },
	{ "amo_writes", COUNT_OF(amo_writes), false },
	{ "unknown handle", COUNT_OF(status[GEMINI_BAD_HANDLE]), true },
	{ "offset outside the handle's range",
		COUNT_OF(status[GEMINI_OUT_OF_BOUNDS]), true },
	{ "no permission", COUNT_OF(status[GEMINI_NO_RIGHT]), true },
	{ "unknown completion queue", COUNT_OF(status[GEMINI_BAD_QUEUE]),
		true },
	{ "unknown PE", COUNT_OF(status[GEMINI_BAD_PE]), true },
	{ "not a control word", COUNT_OF(status[GEMINI_BAD_WORD]), true },
	{ "unaligned atomic operation", COUNT_OF(status[GEMINI_UNALIGNED]),
		true },
	{ "no buffer posted for a send", COUNT_OF(status[GEMINI_NO_BUFFER]),
		true },
	{ "marked", COUNT_OF(marked), false },
	{ "corrected", COUNT_OF(corrected), false },
	{ "uncorrectable", COUNT_OF(uncorrectable), false },
	{ "timeouts", COUNT_OF(status[GEMINI_TIMED_OUT]), false },
	{ "completion queue overrun", COUNT_OF(overruns), true },
	{ .key = NULL },
};

static const struct link_format formats[] = {
	[GEM_WRITE] = { "write", 21, 3, 9 },
	[GEM_GET] = { "get", 21, 3, 9 },
	[GEM_DONE] = { "response", 3, 3, 9 },
	[GEM_ERROR] = { "error response", 6, 3, 9 },
	[GEM_DATA] = { "get response", 6, 3, 9 },
};

struct ranges *gemini_handles(struct nic *nic, site_id s)
{
	return &((struct gem_node *)nic_node(nic, s))->handles;
}

/* --- packets --- */

void gem_address(const struct nic_at *a, packet_id id, uint32_t node,
	uint32_t format, uint32_t bytes)
{
	struct packet *p = &a->nic->net->packets[id];

	*p = (struct packet){
		.src = a->s,
		.dst = node,
		.number = gem_here(a)->number++,
		.born = a->t,
		.kind = gem_params(a)->routing ? PACKET_DETERMINISTIC
					       : PACKET_DYNAMIC,
		.format = (uint8_t)format,
		.bytes = (uint16_t)bytes,
		.load = p->load,
	};
}

packet_id gem_packet(const struct nic_at *a, uint32_t node, uint32_t format,
	uint32_t bytes, bool is_response)
{
	struct net *net = a->nic->net;
	packet_id id = packet_take(net->pool, a->w->id);
	struct gem_load *l = payload_take(a->nic->payloads, a->w->id);

	memset(l, 0, offsetof(struct gem_load, data));
	l->is_response = is_response;
	l->remote_cq = GEMINI_NO_CQ;
	net->packets[id].load = payload_to_load(l);
	gem_address(a, id, node, format, bytes);
	return id;
}

static void leave(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	nic_charge(a, id, CAUSE_CARD, a->t);
	net_inject(a->nic->net, a->w, a->s, fifo, id, a->t);
}

/* Packets to one line of memory keep their order, those to others need not. */
static void hash_line(const struct nic_at *a, packet_id id)
{
	uint64_t line = gem_load(a, id)->offset / GEMINI_LINE;

	a->nic->net->packets[id].hints =
		(uint16_t)(1 + (line * 0x9e3779b1u >> 8 & 0x7fff));
}

void gem_send(const struct nic_at *a, packet_id id)
{
	if (gem_params(a)->routing == GEM_LINES || gem_load(a, id)->is_by_line)
		hash_line(a, id);
	outbox_send(a, &gem_here(a)->out,
		gem_load(a, id)->is_response ? gem_of(a)->response_fifo
					     : gem_of(a)->request_fifo,
		id, leave);
}

/* --- the network's client --- */

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct nic *nic = me->state;
	struct nic_at a;

	if (!nic->nodes[s])
		return;
	a = nic_at(nic, w, s, t);
	outbox_on_room(&a, &gem_here(&a)->out, fifo, leave);
}

/*
 * Most responses are only counted.  If nothing waits for one, it is counted
 * when its head arrives, which saves the event of its tail.  This is not
 * visible as long as the ORB has more free places than requests can come
 * meanwhile.
 */
enum { SPARE = 16 };

static bool may_be_early(const struct nic_at *a, const struct gem_load *l)
{
	struct gem_node *n = a->node;

	return !l->bytes && !l->status && !l->is_uncounted && !n->waiting.n &&
	       n->n_requests + SPARE < (uint32_t)gem_params(a)->orb &&
	       !n->is_faulty && !nic_has_book(a);
}

static void on_response(const struct nic_at *a, packet_id id, sim_time in)
{
	const struct gem_load *l = gem_load(a, id);

	if (may_be_early(a, l) && gem_fma_count(a, l)) {
		net_release(a->nic->net, a->w, a->s, l->fifo,
			a->nic->net->packets[id].chunks, in);
		gem_here(a)->counted_until = in;
		nic_give(a->nic, a->w, id);
	} else {
		gem_here(a)->inside++;
		gem_post(a, in, GEM_IN, id);
	}
}

/* Whether a packet was damaged on its way: it goes no further. */
static inline bool drop(
	const struct net *net, const struct nic_at *a, packet_id id)
{
	if (!(net->packets[id].flags & PACKET_HURT))
		return false;
	gem_harm_drop(a, id);
	return true;
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *net = me->net;
	struct nic_at a = nic_at(me->state, w, s, t);
	struct gem_load *l = gem_load(&a, id);

	l->fifo = fifo;
	if (drop(net, &a, id))
		return;
	if (l->is_response) {
		on_response(&a, id, tail + gem_params(&a)->response);
		return;
	}
	gem_here(&a)->inside++;
	gem_post(&a, tail + gem_params(&a)->input, GEM_IN, id);
}

/* Does the work without events that is due before an event. */
static inline void settle(const struct nic_at *a, uint32_t number)
{
	struct gem_node *n = a->node;

	n->reads.now = a->t;
	if (n->bte.due <= a->t)
		gem_bte_settle(a, a->t - (number < GEM_ENGINE));
	if (n->reads.due <= a->t)
		side_reads_settle(a, &n->reads, a->t - (number < GEM_READS));
}

#define UNIT(engine_) [engine_ - ENGINE_CLIENT]

static void (*const units[])(const struct nic_at *a, uint32_t data) = {
	UNIT(GEM_OUT) = gem_fma_on_out,
	UNIT(GEM_IN) = gem_target_on_in,
	UNIT(GEM_WRITTEN) = gem_target_on_written,
	UNIT(GEM_EVENT) = gem_cq_on_event,
	UNIT(GEM_TIMEOUT) = gem_fma_on_timeout,
	UNIT(GEM_BLOCK) = gem_bte_on_block,
	UNIT(GEM_CHANNEL) = gem_bte_on_channel,
	UNIT(GEM_ENGINE) = gem_bte_on_engine,
	UNIT(GEM_BUFFER) = gem_bte_on_buffer,
	UNIT(GEM_AMO) = gem_amo_on_free,
	UNIT(GEM_AMO_WRITTEN) = gem_amo_on_written,
	UNIT(GEM_SYNC) = gem_window_on_sync,
	UNIT(GEM_BAD_STORE) = gem_window_on_bad_store,
	UNIT(GEM_FLUSH) = gem_amo_on_flush,
	UNIT(GEM_OVERDUE) = gem_target_on_overdue,
	UNIT(GEM_LINE) = gem_target_on_line,
};

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic *nic = me->state;
	struct nic_at a;
	uint32_t number = sim_number(&e);

	a = nic_at(nic, w, s, t);
	if (sim_phase(&e) == PHASE_PROGRAM) {
		settle(&a, GEM_READS);
		host_event(nic->host, w, s, t, &e);
		return;
	}
	settle(&a, number);
	ticks_check(&a, &gem_here(&a)->ticks, &e);
	if (number < GEM_READS)
		units[number - ENGINE_CLIENT](&a, e.data);
	else
		side_reads_on_event(&a, &gem_here(&a)->reads, number, e.data);
}

static const struct net_client_faults faults = {
	.is_found = gem_harm_is_found,
	.on_quiesce = gem_harm_on_quiesce,
};

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = nic_on_lost,
	.has_outbox = true,
	.faults = &faults,
	.combine = &nic_combine,
	.carry = &nic_carry,
};

/* --- the same if responses wait --- */

static void on_room_in_line(struct net_client *me, struct sim_worker *w,
	site_id s, uint32_t fifo, sim_time t)
{
	struct nic *nic = me->state;
	struct nic_at a;

	on_room(me, w, s, fifo, t);
	if (!nic->nodes[s])
		return;
	a = nic_at(nic, w, s, t);
	if (gem_here(&a)->line.n)
		gem_post(&a, t, GEM_LINE, NO_PACKET);
}

static void on_packet_in_line(struct net_client *me, struct sim_worker *w,
	site_id s, uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *net = me->net;
	struct nic_at a = nic_at(me->state, w, s, t);
	struct gem_load *l = gem_load(&a, id);

	l->fifo = fifo;
	l->is_held = false;
	if (drop(net, &a, id))
		return;
	gem_here(&a)->inside++;
	gem_post(&a,
		tail + (l->is_response ? gem_params(&a)->response
				       : gem_params(&a)->input),
		GEM_LINE, id);
}

/* After an event the line may move on. */
static void on_event_in_line(struct net_client *me, struct sim_worker *w,
	site_id s, sim_time t, struct sim_event e)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	on_event(me, w, s, t, e);
	gem_target_on_line(&a, NO_PACKET);
}

static uint32_t n_kept(
	const struct net_client *me, site_id s, uint32_t fifo, uint32_t *by)
{
	struct nic *nic = me->state;
	const struct gem_node *n = nic->nodes[s];
	const struct nic_at a = { .nic = nic, .s = s };
	uint32_t sum = 0;

	*by = gem_of(&a)->response_fifo;
	if (!n || !n->out.line[*by].first)
		return 0;
	for (uint32_t i = 0; i < n->line.n; i++)
		sum += gem_load(&a, *(packet_id *)ring_at(&n->line, i))->fifo ==
		       fifo;
	return sum;
}

static const struct net_client_look look_in_line = {
	.n_kept = n_kept,
};

static const struct net_client_ops client_in_line = {
	.on_room = on_room_in_line,
	.on_packet = on_packet_in_line,
	.on_event = on_event_in_line,
	.on_lost = nic_on_lost,
	.faults = &faults,
	.combine = &nic_combine,
	.carry = &nic_carry,
	.look = &look_in_line,
};

/* --- life --- */

static uint32_t waits_for(const void *values, enum net_class class)
{
	const struct gemini_params *p = values;

	return class == NET_USER || (class == NET_HIGH && p->responses)
		       ? 1U << NET_HIGH
		       : 0;
}

/* Frames (frame.h) consist of whole lines in words of nine bytes, without
 * control words between them. */
static int check_links(const struct link_rules *r, struct err *e)
{
	const struct link_format *f = &formats[GEM_WRITE];

	if (r->max_payload != GEMINI_LINE)
		return err_set(e,
			"link.payload: nic.kind gemini needs links for a "
			"payload of exactly %d bytes, not %u",
			GEMINI_LINE, r->max_payload);
	if (r->word != GEM_WORD)
		return err_set(e,
			"link.word: nic.kind gemini has words of exactly %d "
			"bytes of payload, not %u",
			GEM_WORD, r->word);
	if (r->bytes[link_place(r, GEM_WRITE, GEMINI_LINE)] !=
		f->header + GEMINI_LINE / GEM_WORD * f->word + f->trailer)
		return err_set(e,
			"link.control.words: nic.kind gemini has no control "
			"words within its packets (want 0)");
	return 0;
}

static int gemini_init(struct nic *nic, struct err *e)
{
	struct gemini *x = (struct gemini *)nic;

	x->side = host_side(nic->host);
	if (!x->side)
		return err_set(e, "side.kind: nic.kind gemini needs a bus or a "
				  "cache between interface and memory");
	if (check_links(&nic->net->link, e))
		return -1;
	x->reads = (struct side_reads_how){ .side = x->side,
		.first = GEM_READS,
		.is_settled = x->side->ops->least != NULL };
	x->request_fifo = net_fifos(nic->net, NET_USER).first;
	x->response_fifo = net_fifos(nic->net, NET_HIGH).first;
	if (x->request_fifo == x->response_fifo)
		return err_set(e,
			"router.kind: nic.kind gemini needs a router with "
			"separate FIFOs for requests and responses, such as "
			"tiled");
	nic->load_size = sizeof(struct gem_load);
	if (((const struct gemini_params *)nic->params)->responses)
		nic->client = &client_in_line;
	return 0;
}

static const struct nic_member members[] = {
	NIC_MEMBER(slots, struct gem_node, lines, sizeof(struct gem_line)),
	NIC_MEMBER(slots, struct gem_node, transactions,
		sizeof(struct gem_transaction)),
	NIC_MEMBER(slots, struct gem_node, remotes, sizeof(struct gem_remote)),
	NIC_MEMBER(slots, struct gem_node, events, sizeof(struct gem_event)),
	NIC_MEMBER(ring, struct gem_node, waiting, sizeof(uint32_t)),
	NIC_MEMBER(
		ring, struct gem_node, deadlines, sizeof(struct gem_deadline)),
	NIC_MEMBER(ring, struct gem_node, line, sizeof(packet_id)),
	NIC_MEMBER(ranges, struct gem_node, handles, 0),
	NIC_MEMBER(side_reads, struct gem_node, reads, 0),
	NIC_MEMBER(ring, struct gem_node, bte.queue, sizeof(uint32_t)),
	NIC_MEMBER(
		slots, struct gem_node, bte.buffers, sizeof(struct gem_buffer)),
	NIC_MEMBER(gem_amo, struct gem_node, amo, 0),
	NIC_MEMBER(index, struct gem_node, remote, 0),
	{ &gem_window_member, 0, 0 },
	{ 0 },
};

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct gemini *x = (const struct gemini *)nic;
	struct gem_node *n = node;

	n->is_faulty = nic->net->faults != NULL;
	n->is_mortal = host_dies_at(nic->host, s) != SIM_NEVER;
	n->bte.due = SIM_NEVER;
	side_reads_init(&n->reads, &x->reads, &n->ticks);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct gem_node *n = node;

	/* a transaction never ends if its last packets are lost, or its
	 * program died before it had stored them */
	if (!n->lines.used && (!n->transactions.used || n->is_mortal) &&
		(!n->remotes.used || n->is_mortal) && !n->inside)
		return 0;
	if (n->line.n)
		return err_set_code(e, EXIT_DEADLOCK,
			"node %u: %u packets wait until a response can leave",
			s, n->line.n);
	return err_set_code(e, EXIT_INTERNAL,
		"audit: node %u: %u requests, %u transactions, %u transactions "
		"of other nodes and %u packets are unfinished",
		s, n->lines.used, n->transactions.used, n->remotes.used,
		n->inside);
}

static size_t load_bytes(const struct packet *p)
{
	(void)p;
	return sizeof(struct gem_load);
}

/* A time-out when nothing is left that could be late. */
static bool is_stale(const void *node, uint32_t number, uint32_t data)
{
	const struct gem_node *n = node;

	(void)data;
	return (number == GEM_TIMEOUT && !n->n_requests) ||
	       (number == GEM_OVERDUE && !n->remotes.used);
}

const struct nic_ops gemini_ops = {
	.name = "gemini",
	.title = "Gemini interface",
	.machine = "gemini",
	.can = NIC_ATOMICS | NIC_FETCHES,
	.has = "any-side checked-chips checked-memories",
	.size = sizeof(struct gemini),
	.node_size = sizeof(struct gem_node),
	PARAMS(params),
	.params_size = sizeof(struct gemini_params),
	.client = &client,
	.counters = counters,
	.formats = formats,
	.n_formats = sizeof(formats) / sizeof(formats[0]),
	.init = gemini_init,
	.members = members,
	.node_init = node_init,
	.audit_node = audit_node,
	.load_bytes = load_bytes,
	.is_stale = is_stale,
	.waits_for = waits_for,
	.how_waits = "accepts a request when its response can leave",
};
