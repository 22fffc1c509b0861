/* The card as a whole: parameters, counters, life, and its units' events. */
#include "nic/elan4/units.h"

#include "nic/elan4/frame.h"
#include "nic/elan4/params.h"
#include "route/updown.h"
#include "topo/fattree.h"

#define ERROR(what_, key_)                                                     \
	[what_] = {                                                            \
		.key = key_,                                                   \
		.unit = "times",                                               \
		.offset = offsetof(struct elan_node, counts.errors) +          \
			  (what_) * sizeof(uint64_t),                          \
		.is_error = (what_) == ELAN_ERROR_RETRIES                      \
				    ? NIC_LATE                                 \
				    : (what_) != ELAN_FINE,                    \
	}

#define COUNTER(field_, unit_)                                                 \
	{                                                                      \
		.key = #field_, .unit = unit_,                                 \
		.offset = offsetof(struct elan_node, counts.field_)            \
	}

#define CARD(key_, field_, unit_)                                              \
	{                                                                      \
		.key = key_, .unit = unit_,                                    \
		.offset = offsetof(struct elan_node, counts.field_)            \
	}

/* Accesses to card memory by a unit. */
#define ACCESSES(name_, unit_)                                                 \
	CARD(name_ "_hits", hits[unit_], "lines"),                             \
		CARD(name_ "_misses", misses[unit_], "lines")

/* Errors, by enum elan_error, and other counts. */
static const struct nic_counter counters[] = {
	ERROR(ELAN_FINE, "none"),
	ERROR(ELAN_ERROR_OVERFLOW, "command queue overflow"),
	ERROR(ELAN_ERROR_WINDOW,
		"stores too far ahead of a command queue's head"),
	ERROR(ELAN_ERROR_COMMAND, "invalid command"),
	ERROR(ELAN_ERROR_RIGHT, "command without permission"),
	ERROR(ELAN_ERROR_ADDRESS, "address outside its context"),
	ERROR(ELAN_ERROR_REFUSED, "refused by the receiver"),
	ERROR(ELAN_ERROR_RETRIES, "too many retries"),
	ERROR(ELAN_ERROR_MEMORY, "uncorrectable error in card memory"),
	ERROR(ELAN_ERROR_ROOM, "card memory full"),
	COUNTER(nacks, "packets"),
	COUNTER(timeouts, "packets"),
	COUNTER(resent, "packets"),
	COUNTER(duplicates, "packets"),
	COUNTER(torn, "packets"),
	COUNTER(unreadable, "packets"),
	COUNTER(violations, "packets"),
	COUNTER(escapes, "packets"),
	COUNTER(corrected, "words"),
	COUNTER(uncorrectable, "words"),
	{ 0 },
};

static const struct nic_counter card_counters[] = {
	CARD("cache_hits", all_hits, "lines"),
	CARD("cache_misses", all_misses, "lines"),
	CARD("written_back", written_back, "lines"),
	ACCESSES("queue", ELAN_BY_QUEUE),
	ACCESSES("command", ELAN_BY_COMMAND),
	ACCESSES("event", ELAN_BY_EVENT),
	ACCESSES("input", ELAN_BY_INPUT),
	ACCESSES("dma", ELAN_BY_DMA),
	ACCESSES("thread", ELAN_BY_THREAD),
	ACCESSES("core", ELAN_BY_CORE),
	CARD("tlb_hits", tlb_hits, "pages"),
	CARD("tlb_fills", tlb_fills, "pages"),
	CARD("tlb_links", tlb_links, "blocks"),
	CARD("page_faults", faults, "pages"),
	ACCESSES("code", ELAN_BY_CODE),
	CARD("queues_fetched", fetched, "queues"),
	CARD("queues_exchanged", exchanged, "queues"),
	CARD("messages", messages, "messages"),
	CARD("matched", noted[ELAN_MATCHED], "messages"),
	CARD("early", noted[ELAN_EARLY], "messages"),
	CARD("moved", noted[ELAN_MOVED], "messages"),
	CARD("elements", noted[ELAN_ELEMENTS], "elements"),
	CARD("corrected", corrected, "words"),
	CARD("uncorrectable", uncorrectable, "words"),
	{ 0 },
};

const char *elan_error_text(enum elan_error e)
{
	return counters[e].key;
}

/* --- reads --- */

static void read_granted(const struct nic_at *a, uint32_t piece, sim_time end)
{
	struct side_reads *r = &elan_here(a)->reads;
	const struct side_read *x = side_reads_whose(r, piece);

	if (elan_params(a)->cut_through && x->owner)
		elan_dma_granted(a, x->id, end);
	side_reads_granted(a, r, piece, end);
}

static void ask_read(
	const struct nic_at *a, uint32_t piece, uint64_t at, uint32_t bytes)
{
	elan_bus_read(a, at, bytes, read_granted, piece);
}

/* --- a node's part --- */

#define MEMBER(type_, field_, size_)                                           \
	NIC_MEMBER(type_, struct elan_node, field_, size_)

static const struct nic_member members[] = {
	MEMBER(ring, in.waiting, sizeof(struct elan_burst)),
	MEMBER(ring, out.waiting, sizeof(struct elan_burst)),
	MEMBER(slots, words.items, sizeof(struct elan_word)),
	MEMBER(elan_sdram, sdram, 0),
	MEMBER(elan_cache, cache, 0),
	MEMBER(slots, steps, sizeof(struct elan_step)),
	MEMBER(slots, card_reads, sizeof(struct elan_card_read)),
	MEMBER(side_reads, reads, 0),
	MEMBER(elan_areas, areas, 0),
	MEMBER(elan_mmu, mmu, 0),
	MEMBER(slots, driver.duties, sizeof(struct elan_duty)),
	MEMBER(slots, faults.items, sizeof(struct elan_fault)),
	MEMBER(slots, faults.waiters, sizeof(struct elan_waiter)),
	MEMBER(seen, seen, 0),
	MEMBER(elan_queues, queues, 0),
	MEMBER(elan_processes, processes, 0),
	MEMBER(elan_interrupts, interrupts, 0),
	MEMBER(slots, interrupts.items, sizeof(struct elan_pending)),
	MEMBER(elan_chip, chip, 0),
	MEMBER(slots, events.fired, sizeof(struct elan_firing)),
	MEMBER(elan_events, events, 0), /* before its copies go */
	MEMBER(slots, events.copies, sizeof(struct elan_copy)),
	MEMBER(resend, sender.resend, 0),
	MEMBER(slots, gets.items, sizeof(struct elan_get)),
	MEMBER(ring, dmas.waiting, sizeof(struct elan_run)),
	MEMBER(ring, dmas.parked, sizeof(struct elan_run)),
	MEMBER(ring, dmas.again, sizeof(struct elan_run)),
	MEMBER(ring, dmas.ready, sizeof(struct elan_ready)),
	MEMBER(slots, dmas.reads, sizeof(struct elan_read)),
	MEMBER(elan_iqs, inputs, 0),
	MEMBER(slots, inputs.notes, sizeof(struct elan_note)),
	MEMBER(elan_threads, threads, 0),
	{ 0 },
};

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct elan *x = (const struct elan *)nic;
	struct elan_node *n = node;

	elan_sdram_open(&n->sdram, host_at(nic->host, s),
		(uint64_t)x->params.memory.size);
	elan_mmu_init(&n->mmu, &x->params);
	side_reads_init(&n->reads, &x->reads, &n->ticks);
	resend_init(&n->sender.resend, &x->resend, &n->ticks,
		sizeof(struct elan_sending));
}

/* The side's. */
static uint64_t node_memory(const void *node)
{
	(void)node;
	return sizeof(struct bus);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct elan_node *n = node;
	uint32_t dmas = elan_dmas_left(&n->dmas);
	uint32_t copies = elan_copies_left(n);
	uint32_t inside = n->input.inside + (n->input.in.first ? 1u : 0u);
	uint32_t sent = n->sender.resend.items.used;

	if (sent || inside || n->n_reads || n->dmas.read_bytes ||
		n->dmas.assembling || dmas || n->gets.late.first || copies ||
		elan_threads_busy(n->threads) || n->queues.run.first)
		return err_set_code(e, EXIT_INTERNAL,
			"audit: node %u: still to be done: %u packets to be "
			"acknowledged, %u to be executed, %u reads of %u "
			"bytes, %u packets and %u DMAs to be sent, %u copies "
			"of events; %s queue has work",
			s, sent, inside, n->n_reads, n->dmas.read_bytes,
			n->dmas.assembling, dmas, copies,
			n->queues.run.first ? "a" : "no");
	return 0;
}

struct elan_counts elan_counts(const struct nic *nic, site_id s)
{
	const struct elan_node *n = nic->nodes[s];

	return n ? n->counts : (struct elan_counts){ 0 };
}

/* --- the network's client --- */

static enum elan_engine engine_of(uint32_t number)
{
	return (enum elan_engine)(
		ENGINE_CLIENT + (number - ENGINE_CLIENT) % ELAN_ENGINES);
}

#define UNIT(engine_) [engine_ - ENGINE_CLIENT]

static void on_read(const struct nic_at *a, uint32_t piece)
{
	side_reads_on_event(a, &elan_here(a)->reads, ELAN_ENGINE_READ, piece);
}

static void on_block(const struct nic_at *a, uint32_t piece)
{
	side_reads_on_event(a, &elan_here(a)->reads, ELAN_ENGINE_BLOCK, piece);
}

/* By engine; others are the sender's. */
static void (*const units[ELAN_ENGINES])(
	const struct nic_at *a, uint32_t data) = {
	UNIT(ELAN_ENGINE_EVENT) = elan_copy_on_slot,
	UNIT(ELAN_ENGINE_STORE) = elan_queue_on_store,
	UNIT(ELAN_ENGINE_HALF) = elan_sten_on_half,
	UNIT(ELAN_ENGINE_READ) = on_read,
	UNIT(ELAN_ENGINE_BLOCK) = on_block,
	UNIT(ELAN_ENGINE_INPUT) = elan_input_on_write,
	UNIT(ELAN_ENGINE_WRITTEN) = elan_input_on_written,
	UNIT(ELAN_ENGINE_ACK) = elan_input_on_tail,
	UNIT(ELAN_ENGINE_WORD_IN) = elan_word_on_in,
	UNIT(ELAN_ENGINE_BUS) = elan_bus_on_free,
	UNIT(ELAN_ENGINE_THREAD) = elan_thread_on_go,
	UNIT(ELAN_ENGINE_GET) = elan_get_on_late,
	UNIT(ELAN_ENGINE_COPIED) = elan_copy_on_written,
	UNIT(ELAN_ENGINE_CARD) = elan_card_on_step,
	UNIT(ELAN_ENGINE_COMMAND) = elan_command_on_free,
};

static void on_engine(const struct nic_at *a, const struct sim_event *e)
{
	enum elan_engine engine = engine_of(sim_number(e));

	ticks_check(a, &elan_here(a)->ticks, e);
	if (units[engine - ENGINE_CLIENT])
		units[engine - ENGINE_CLIENT](a, e->data);
	else
		resend_on_event(
			a, &elan_here(a)->sender.resend, engine, e->data);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e);

/* The first event of a node; by itself, so that others do not pay for it. */
static __attribute__((noinline)) void on_first_event(struct net_client *me,
	struct sim_worker *w, site_id s, sim_time t, struct sim_event e)
{
	nic_node(me->state, s);
	on_event(me, w, s, t, e);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic *nic = me->state;
	struct nic_at a = { nic, nic->nodes[s], w, s, 0, t };

	if (__builtin_expect(!a.node, 0)) {
		on_first_event(me, w, s, t, e);
		return;
	}
	if (sim_phase(&e) == PHASE_PROGRAM)
		host_event(a.nic->host, w, s, t, &e);
	else
		on_engine(&a, &e);
}

/* Time-outs of answered packets and gets. */
static bool is_stale(const void *node, uint32_t number, uint32_t data)
{
	const struct elan_node *n = node;

	if (engine_of(number) == ELAN_ENGINE_GET)
		return !n->gets.late.first;
	return resend_is_stale(&n->sender.resend, engine_of(number), data);
}

/* Packets for a full input queue. */
static bool is_patient(const void *node, uint32_t number, uint32_t data)
{
	const struct elan_node *n = node;

	return resend_is_patient(&n->sender.resend, engine_of(number), data);
}

/* A packet of tests that was not lost, or one for a full input queue. */
static bool is_question(const struct elan_node *n, uint32_t id)
{
	const struct elan_sending *s = slots_at(&n->sender.resend.items, id);
	const struct elan_buffer *b = s->copy;
	uint32_t i = 0;

	if (s->item.tries)
		return resend_is_put_off(&s->item);
	while (i < b->n_pieces && b->piece[i].what == ELAN_TEST)
		i++;
	return i == b->n_pieces;
}

static bool only_asks(const void *node, uint64_t *deeds)
{
	const struct elan_node *n = node;
	const struct slots *sent = &n->sender.resend.items;
	const struct elan_counts *c = &n->counts;

	*deeds += c->acks + c->dmas + c->gets + c->threads + c->swaps +
		  c->interrupts + c->faults + c->messages;
	if (elan_dmas_left(&n->dmas) || n->gets.items.used ||
		n->faults.items.used || n->interrupts.items.used ||
		elan_threads_busy(n->threads))
		return false;
	for (uint32_t id = 1; id <= sent->room; id++)
		if (slots_find(sent, id) && !is_question(n, id))
			return false;
	return true;
}

/* --- life --- */

/* The least time of the longest route and back: wires and switches. */
static sim_time round_trip(const struct net *net)
{
	const struct fattree *t = fattree_find(net->topo);
	sim_time way = 0;

	for (uint32_t i = 0; t && i < t->n_levels; i++)
		way += net->link.latency[fattree_wire(i, FATTREE_UP)] +
		       net->link.latency[fattree_wire(i, FATTREE_DOWN)];
	return 2 * way;
}

/* Units have FIFOs of their own if there are enough. */
static int find_fifos(struct elan *x, struct err *e)
{
	const struct net *n = x->nic.net;
	struct net_fifos user = net_fifos(n, NET_USER);
	const uint32_t fifo[ELAN_FIFOS] = {
		[ELAN_FIFO_STEN] = user.first,
		[ELAN_FIFO_DMA] = user.first + 1 % user.most,
		[ELAN_FIFO_ANSWER] = user.first + 2 % user.most,
		[ELAN_FIFO_CAST] = net_fifos(n, NET_HIGH).first,
		[ELAN_FIFO_ACK] = net_fifos(n, NET_SYSTEM).first,
	};

	for (uint32_t i = 0; i < ELAN_FIFOS; i++) {
		BUG_IF(fifo[i] >= OUTBOX_FIFOS);
		x->fifo[i] = (uint8_t)fifo[i];
	}
	if (n->link.max_payload < ELAN_PACKET)
		return err_set(e,
			"nic.kind: elan4 needs a link.payload of %d bytes, not "
			"%u",
			ELAN_PACKET, n->link.max_payload);
	return 0;
}

static int check_times(const struct elan *x, struct err *e)
{
	sim_time trip = round_trip(x->nic.net);

	if (x->params.command <= x->least)
		return err_set(e, "nic.command: shorter than the time of the "
				  "shortest packet on the link");
	if (x->resend.timeout < trip)
		return err_set(e,
			"nic.retry.timeout: shorter than the longest round "
			"trip, which takes %lld ns",
			(long long)(trip / SIM_NS));
	return 0;
}

static int elan_init(struct nic *nic, struct err *e)
{
	struct elan *x = (struct elan *)nic;
	const struct net *net = nic->net;
	const struct updown *routes = updown_find(net->route);

	x->params = *elan_params_of(nic);
	x->host = x->params.host[x->params.platform];
	x->rotates = routes && routes->spread == UPDOWN_ROTATE;
	nic->load_size = sizeof(struct elan_buffer);
	elan_send_set_up(x);
	if (find_fifos(x, e))
		return -1;
	x->least = link_ser_on(&net->link, ELAN_FIRST_WIRE, 8);
	if (check_times(x, e) || elan_cache_set_up(&x->cache, &x->params, e) ||
		elan_code_set_up(&x->params, e) ||
		elan_mmu_set_up(&x->mmu, &x->params, e))
		return -1;
	x->side = elan_bus_new(&x->params, nic->n_nodes, e);
	x->reads = (struct side_reads_how){
		.side = x->side, .first = ELAN_ENGINE_READ, .ask = ask_read
	};
	return x->side ? 0 : -1;
}

static void elan_fini(struct nic *nic)
{
	side_free(((struct elan *)nic)->side);
}

static size_t load_bytes(const struct packet *p)
{
	return offsetof(struct elan_buffer, data) +
	       elan_buffer_of(p)->data_bytes;
}

static const struct net_client_faults faults = {
	.on_hurt = elan_frame_on_hurt,
};

static const struct net_client_combine combine = {
	.on_copy = nic_on_copy,
	.on_absorbed = nic_on_lost,
};

static const struct net_client_ops client = {
	.on_room = elan_send_on_room,
	.awaits_room = true,
	.on_packet = elan_input_on_packet,
	.on_event = on_event,
	.on_lost = nic_on_lost,
	.faults = &faults,
	.combine = &combine,
	.carry = &nic_carry,
};

const struct nic_ops elan4_ops = {
	.name = "elan4",
	.title = "Elan4 interface",
	.machine = "qsnet2-16",
	.can = NIC_RESENDS | NIC_CASTS | NIC_THREADS,
	.has = "checked-memories coded-fibres",
	.size = sizeof(struct elan),
	.node_size = sizeof(struct elan_node),
	PARAMS(elan_param_rows),
	.params_size = sizeof(struct elan_params),
	.client = &client,
	.counters = counters,
	.card = card_counters,
	.init = elan_init,
	.fini = elan_fini,
	.members = members,
	.node_init = node_init,
	.node_memory = node_memory,
	.audit_node = audit_node,
	.load_bytes = load_bytes,
	.is_stale = is_stale,
	.is_patient = is_patient,
	.only_asks = only_asks,
};
