#include "nic/elan4/parts.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/wide.h"
#include "nic/elan4/params.h"
#include "route/updown.h"
#include "topo/fattree.h"

#define ERROR(what_, key_)                                                     \
	[what_] = {                                                            \
		.key = key_,                                                   \
		.unit = "times",                                               \
		.offset = offsetof(struct elan_node, counts.errors) +          \
			  (what_) * sizeof(uint64_t),                          \
		.is_error = (what_) != ELAN_FINE,                              \
	}

#define COUNTER(field_, unit_)                                                 \
	{                                                                      \
		.key = #field_, .unit = unit_,                                 \
		.offset = offsetof(struct elan_node, counts.field_)            \
	}

/* Errors, by enum elan_error, and other counts. */
static const struct nic_counter counters[] = {
	ERROR(ELAN_FINE, "none"),
	ERROR(ELAN_ERROR_OVERFLOW, "command queue overflow"),
	ERROR(ELAN_ERROR_WINDOW, "stores too far ahead in a command queue"),
	ERROR(ELAN_ERROR_COMMAND, "impossible command"),
	ERROR(ELAN_ERROR_RIGHT, "command that the queue may not use"),
	ERROR(ELAN_ERROR_ADDRESS, "address outside its context"),
	ERROR(ELAN_ERROR_REFUSED, "refused by the receiver"),
	ERROR(ELAN_ERROR_RETRIES, "too many tries"),
	COUNTER(nacks, "packets"),
	COUNTER(timeouts, "packets"),
	COUNTER(resent, "packets"),
	COUNTER(duplicates, "packets"),
	COUNTER(torn, "packets"),
	COUNTER(unreadable, "packets"),
	COUNTER(violations, "packets"),
	COUNTER(escapes, "packets"),
	{ 0 },
};

const char *elan_error_text(enum elan_error e)
{
	return counters[e].key;
}

struct nic *elan_check(struct nic *nic)
{
	BUG_IF(!nic || nic->ops != &elan4_ops);
	return nic;
}

/* --- a node's part --- */

static void node_init(struct nic *nic, void *node, site_id s)
{
	struct elan_node *n = node;

	(void)s;
	bus_init(&n->bus, &((struct elan *)nic)->params.bus);
	ring_init(&n->waiting, sizeof(struct elan_run));
	ring_init(&n->ready, sizeof(struct elan_ready));
	slots_init(&n->sendings, sizeof(struct elan_sending));
	slots_init(&n->words, sizeof(struct elan_word_out));
	slots_init(&n->copies, sizeof(struct elan_copy));
	slots_init(&n->gets, sizeof(struct elan_get));
}

sim_time elan_ser(const struct elan *x, uint32_t bytes)
{
	const struct net *net = x->nic.net;

	return link_ser(&net->link, bytes);
}

/* --- words --- */

void elan_word_write(const struct nic_at *a, uint64_t address, uint64_t value)
{
	struct elan_node *n = a->node;
	uint32_t id = slots_take(&n->words);
	struct elan_word_out *o = slots_at(&n->words, id);

	o->address = address;
	o->value = value;
	slots_push(&n->words, &n->words_out, id);
	n->words_asked++;
	elan_bus_ask(a, ELAN_BURST_WORD, id, 8);
}

void elan_word_granted(const struct nic_at *a, uint32_t word, sim_time end)
{
	elan_here(a)->word_in = end + elan_of(a)->host.see;
	elan_post(a, elan_here(a)->word_in, ELAN_ENGINE_WORD_IN, word);
	elan_here(a)->words_had++;
	elan_thread_on_word(a);
}

void elan_word_on_in(const struct nic_at *a, uint32_t word)
{
	struct elan_word_out *o = slots_at(&elan_here(a)->words, word);

	BUG_IF(elan_here(a)->words_out.first != word);
	slots_pop(&elan_here(a)->words, &elan_here(a)->words_out);
	host_write(a->nic->host, a->w, a->s, a->t, o->address, &o->value, 8);
	/* for those who wait for this or for something else */
	host_poke(a->nic->host, a->w, a->s, a->t);
	slots_give(&elan_here(a)->words, word);
}

void elan_read(const struct nic_at *a, uint64_t at, void *to, uint32_t n)
{
	const struct elan_word_out *o;
	uint32_t i;

	host_read(a->nic->host, a->s, at, to, n);
	for (i = elan_here(a)->words_out.first; i; i = o->slot.next) {
		o = slots_at(&elan_here(a)->words, i);
		elan_overlay(to, at, n, o->address, (const uint8_t *)&o->value,
			sizeof(o->value));
	}
}

/* --- the network's client --- */

static void on_room(struct net *net, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct nic_at a = nic_at(net->client_state, w, s, t);

	elan_send_on_room(&a, fifo);
}

static void on_packet(struct net *net, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct nic_at a = nic_at(net->client_state, w, s, t);

	elan_input(&a, fifo, id, tail);
}

/* No two events may leave their order to chance, unless they are the same. */
static void check_order(const struct nic_at *a, const struct sim_event *e)
{
#ifdef WEFT_CHECK
	BUG_IF(elan_here(a)->last_at == a->t &&
		elan_here(a)->last_rank == e->rank &&
		elan_here(a)->last_data != e->data);
	elan_here(a)->last_at = a->t;
	elan_here(a)->last_rank = e->rank;
	elan_here(a)->last_data = e->data;
#else
	(void)a;
	(void)e;
#endif
}

static void on_engine(
	const struct nic_at *a, const struct sim_event *e, uint32_t data)
{
	check_order(a, e);
	switch (elan_engine_of(e)) {
	case ELAN_ENGINE_STORE:
		elan_queue_on_store(a, data);
		break;
	case ELAN_ENGINE_HALF:
		elan_sten_on_half(a, data);
		break;
	case ELAN_ENGINE_LEAVE:
		elan_send_on_leave(a, data);
		break;
	case ELAN_ENGINE_LATE:
		elan_send_on_late(a);
		break;
	case ELAN_ENGINE_LATER:
		elan_send_on_later(a, data);
		break;
	case ELAN_ENGINE_AGAIN:
		elan_send_on_again(a, data);
		break;
	case ELAN_ENGINE_READ:
		elan_dma_on_read(a, data);
		break;
	case ELAN_ENGINE_BLOCK:
		elan_dma_on_block(a, data);
		break;
	case ELAN_ENGINE_INPUT:
		elan_input_on_write(a, data);
		break;
	case ELAN_ENGINE_WRITTEN:
		elan_input_on_written(a, data);
		break;
	case ELAN_ENGINE_ACK:
		elan_input_on_tail(a, data);
		break;
	case ELAN_ENGINE_WORD_IN:
		elan_word_on_in(a, data);
		break;
	case ELAN_ENGINE_BUS:
		bus_on_free(&elan_here(a)->bus, &elan_bus_card, a, a->t);
		break;
	case ELAN_ENGINE_THREAD:
		elan_thread_on_go(a, data);
		break;
	case ELAN_ENGINE_GET:
		elan_get_on_late(a);
		break;
	case ELAN_ENGINE_EVENT:
		elan_event_on_done(a);
		break;
	case ELAN_ENGINE_COPIED:
		elan_event_on_copied(a, data);
		break;
	case ELAN_ENGINE_COMMAND:
		elan_command_on_free(a);
		break;
	}
}

static void on_event(struct net *net, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic_at a = nic_at(net->client_state, w, s, t);

	if (sim_phase(&e) == PHASE_PROGRAM)
		host_event(a.nic->host, w, s, t, &e);
	else
		on_engine(&a, &e, e.data);
}

/* --- life --- */

/* What the longest way, and back, takes at least: wires and switches. */
static sim_time round_trip(const struct net *net)
{
	const struct fattree *t = fattree_find(net->topo);
	sim_time way = 0;
	uint32_t i;

	for (i = 0; t && i < t->n_levels; i++)
		way += net->link.latency[fattree_wire(i, FATTREE_UP)] +
		       net->link.latency[fattree_wire(i, FATTREE_DOWN)];
	return 2 * way;
}

static int check(const struct elan *x, struct err *e)
{
	const struct elan_params *p = &x->params;
	uint32_t payload = x->nic.net->link.max_payload;
	sim_time trip = round_trip(x->nic.net);

	if (net_fifos(x->nic.net, NET_USER).most <= ELAN_FIFO_ANSWER ||
		net_fifos(x->nic.net, NET_HIGH).first != ELAN_FIFO_CAST ||
		net_fifos(x->nic.net, NET_SYSTEM).first != ELAN_FIFO_ACK)
		return err_set(e,
			"nic.kind: elan4 needs the FIFOs of a direct router");
	if (payload < ELAN_PACKET)
		return err_set(e,
			"nic.kind: elan4 sends packets of %d bytes, and "
			"link.payload is %u",
			ELAN_PACKET, payload);
	if (p->command <= elan_ser(x, 8))
		return err_set(e,
			"nic.command: shorter than the least packet takes on "
			"the link");
	if (elan_timeout(x) < trip)
		return err_set(e,
			"nic.retry.timeout: shorter than the %lld ns that the "
			"longest way, and back, takes",
			(long long)(trip / SIM_NS));
	return 0;
}

/* PCI-X: bursts of any length, each with an overhead of its host's. */
static void set_up_bus(struct elan *x)
{
	struct bus_params *p = &x->params.bus;

	p->cycles = 1;
	p->overhead[BUS_STORE] = x->host.pio_overhead;
	p->overhead[BUS_DATA] = x->host.dma_overhead;
	p->overhead[BUS_WRITE] = x->host.dma_overhead;
}

static int elan_init(struct nic *nic, struct err *e)
{
	struct elan *x = (struct elan *)nic;
	const struct net *net = nic->net;
	const struct updown *routes = updown_find(net->route);

	x->params = *elan_params_of(nic);
	x->host = x->params.host[x->params.platform];
	set_up_bus(x);
	x->n_nodes = net->topo->n_nodes;
	if (check(x, e))
		return -1;
	x->least = elan_ser(x, 8);
	x->rotates = routes && routes->spread == UPDOWN_ROTATE;
	nic->load_size = sizeof(struct elan_buffer);
	return 0;
}

static void node_fini(struct nic *nic, void *node)
{
	struct elan_node *n = node;
	uint32_t i;

	(void)nic;
	for (i = 0; i < ELAN_QUEUES; i++)
		elan_queue_free(elan_queue(n, i));
	for (i = 0; i < ELAN_QUEUES / ELAN_GROUP; i++)
		mem_free(n->queues[i]);
	elan_threads_free(n);
	ring_fini(&n->waiting);
	ring_fini(&n->ready);
	slots_fini(&n->sendings);
	slots_fini(&n->words);
	elan_event_free(n);
	mem_free(n->seen);
	mem_free(n->contexts);
	slots_fini(&n->gets);
	mem_free(n->maps);
	bus_fini(&n->bus);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct elan_node *n = node;
	uint32_t dmas = n->waiting.n + n->dma[0].is_used + n->dma[1].is_used;
	uint32_t inside = n->inside + (n->in.first ? 1u : 0u);

	if (n->sendings.used || inside || n->reads || n->read_bytes ||
		n->assembling || dmas || n->late_gets.first ||
		elan_event_inside(n) || elan_threads_busy(n) || n->run.first)
		return err_set_code(e, EXIT_INTERNAL,
			"audit: node %u: %u packets are not acknowledged, %u "
			"not executed, %u reads of %u bytes, %u packets and %u "
			"DMAs not done, nor %u copies of events; %s queue has "
			"work",
			s, n->sendings.used, inside, n->reads, n->read_bytes,
			n->assembling, dmas, elan_event_inside(n),
			n->run.first ? "a" : "no");
	return 0;
}

struct elan_counts elan_counts(const struct nic *nic, site_id s)
{
	const struct elan_node *n = nic->nodes[s];

	return n ? n->counts : (struct elan_counts){ 0 };
}

static uint64_t node_memory(const void *node)
{
	const struct elan_node *n = node;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < ELAN_QUEUES; i++) {
		const struct elan_queue *q = elan_queue(n, i);

		if (q)
			sum += sizeof(*q) + q->depth +
			       ring_memory(&q->arrivals) +
			       ring_memory(&q->births);
	}
	for (i = 0; i < ELAN_QUEUES / ELAN_GROUP; i++)
		if (n->queues[i])
			sum += ELAN_GROUP * sizeof(*n->queues[i]);
	return sum + bus_memory(&n->bus) + elan_threads_memory(n) +
	       ring_memory(&n->waiting) + ring_memory(&n->ready) +
	       n->n_contexts * sizeof(*n->contexts) +
	       n->n_maps * sizeof(*n->maps) + slots_memory(&n->gets) +
	       slots_memory(&n->sendings) + slots_memory(&n->words) +
	       elan_event_memory(n) + n->seen_room * sizeof(*n->seen);
}

static size_t load_bytes(const struct packet *p)
{
	return offsetof(struct elan_buffer, data) +
	       elan_buffer_of(p)->data_bytes;
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_hurt = elan_frame_on_hurt,
	.on_lost = elan_frame_on_lost,
	.on_copy = nic_on_copy,
	.on_absorbed = elan_frame_on_lost,
};

const struct nic_ops elan4_ops = {
	.name = "elan4",
	.title = "Elan4 interface",
	.can = NIC_RESENDS | NIC_CASTS | NIC_THREADS,
	.size = sizeof(struct elan),
	.node_size = sizeof(struct elan_node),
	.params = elan_param_rows,
	.n_params = sizeof(elan_param_rows) / sizeof(elan_param_rows[0]),
	.params_size = sizeof(struct elan_params),
	.client = &client,
	.counters = counters,
	.init = elan_init,
	.node_init = node_init,
	.node_fini = node_fini,
	.node_memory = node_memory,
	.audit_node = audit_node,
	.load_bytes = load_bytes,
	.is_stale = elan_send_is_stale,
};
