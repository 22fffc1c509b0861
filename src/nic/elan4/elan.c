#include "nic/elan4/parts.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/wide.h"
#include "nic/elan4/params.h"
#include "route/updown.h"
#include "topo/fattree.h"

const char *const elan_error_names[ELAN_ERRORS] = {
	[ELAN_FINE] = "none",
	[ELAN_ERROR_OVERFLOW] = "command queue overflow",
	[ELAN_ERROR_WINDOW] = "stores too far ahead in a command queue",
	[ELAN_ERROR_COMMAND] = "impossible command",
	[ELAN_ERROR_RIGHT] = "command that the queue may not use",
	[ELAN_ERROR_ADDRESS] = "address outside its context",
	[ELAN_ERROR_REFUSED] = "refused by the receiver",
	[ELAN_ERROR_RETRIES] = "too many tries",
};

/* --- a node's part --- */

struct elan_node *elan_node(struct elan *x, site_id s)
{
	if (!x->nodes[s]) {
		x->nodes[s] = mem_alloc(1, sizeof(struct elan_node));
		x->nodes[s]->run_first = ELAN_NO_QUEUE;
	}
	return x->nodes[s];
}

sim_time elan_ser(const struct elan *x, uint32_t bytes)
{
	const struct net *net = x->nic.net;

	return net->link.ser[link_chunks(&net->link, bytes)];
}

/* --- words --- */

void elan_word_write(const struct elan_at *a, uint64_t address, uint64_t value)
{
	struct elan_node *n = a->n;
	uint32_t id, i;

	if (n->words_free == n->words_room) {
		uint32_t room = n->words_room ? 2 * n->words_room : 8;

		n->words = mem_grow(n->words, room, sizeof(*n->words));
		for (i = n->words_room; i < room; i++)
			n->words[i].next = i + 1;
		n->words_room = room;
	}
	id = n->words_free;
	n->words_free = n->words[id].next;
	n->words[id] = (struct elan_word_out){ address, value, 0 };
	if (n->words_first)
		n->words[n->words_last - 1].next = 1 + id;
	else
		n->words_first = 1 + id;
	n->words_last = 1 + id;
	n->words_asked++;
	elan_bus_ask(a, ELAN_BURST_WORD, id, 8);
}

void elan_word_granted(const struct elan_at *a, uint32_t word, sim_time end)
{
	a->n->word_in = end + a->x->host.see;
	elan_post(a, a->n->word_in, ELAN_ENGINE_WORD_IN, word);
	a->n->words_had++;
	elan_thread_on_word(a);
}

void elan_word_on_in(const struct elan_at *a, uint32_t word)
{
	struct elan_word_out *o = &a->n->words[word];

	BUG_IF(a->n->words_first != 1 + word);
	a->n->words_first = o->next;
	host_write(a->x->nic.host, a->w, a->s, a->t, o->address, &o->value, 8);
	/* for those who wait for this or for something else */
	host_poke(a->x->nic.host, a->w, a->s, a->t);
	o->next = a->n->words_free;
	a->n->words_free = word;
}

void elan_read(const struct elan_at *a, uint64_t at, void *to, uint32_t n)
{
	const struct elan_word_out *o;
	uint32_t i;

	host_read(a->x->nic.host, a->s, at, to, n);
	for (i = a->n->words_first; i; i = o->next) {
		o = &a->n->words[i - 1];
		elan_overlay(to, at, n, o->address, (const uint8_t *)&o->value,
			sizeof(o->value));
	}
}

/* --- the network's client --- */

static struct elan_at at(
	struct net *net, struct sim_worker *w, site_id s, sim_time t)
{
	struct elan *x = net->client_state;

	return (struct elan_at){ x, elan_node(x, s), w, s, t };
}

static void on_room(struct net *net, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct elan_at a = at(net, w, s, t);

	elan_send_on_room(&a, fifo);
}

static void on_packet(struct net *net, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct elan_at a = at(net, w, s, t);

	elan_input(&a, fifo, id, tail);
}

/* No two events may leave their order to chance, unless they are the same. */
static void check_order(const struct elan_at *a, const struct sim_event *e)
{
#ifdef WEFT_CHECK
	BUG_IF(a->n->last_at == a->t && a->n->last_rank == e->rank &&
		a->n->last_data != e->data);
	a->n->last_at = a->t;
	a->n->last_rank = e->rank;
	a->n->last_data = e->data;
#else
	(void)a;
	(void)e;
#endif
}

static void on_engine(
	const struct elan_at *a, const struct sim_event *e, uint32_t data)
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
		elan_bus_on_free(a);
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
	struct elan_at a = at(net, w, s, t);

	if (sim_phase(&e) == PHASE_PROGRAM)
		host_event(a.x->nic.host, w, s, t, &e);
	else
		on_engine(&a, &e, e.data);
}

/* --- life --- */

/* What the longest way, and back, takes at least: wires and switches. */
static sim_time round_trip(const struct net *net)
{
	const struct fattree *t = fattree_of(net->topo);
	sim_time way = 0;
	uint32_t i;

	if (net->topo->ops != &fattree_ops)
		return 0;
	for (i = 0; i < t->n_levels; i++)
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

static int elan_init(struct nic *nic, struct err *e)
{
	struct elan *x = (struct elan *)nic;
	const struct net *net = nic->net;

	x->params = *elan_params_of(nic);
	x->host = x->params.host[x->params.platform];
	x->n_nodes = net->topo->n_nodes;
	if (check(x, e))
		return -1;
	x->least = elan_ser(x, 8);
	x->rotates = net->route->ops == &updown_ops &&
		     updown_of(net->route)->spread == UPDOWN_ROTATE;
	x->nodes = map_alloc(x->n_nodes * sizeof(struct elan_node *));
	x->payloads = payload_pool_new(
		net->n_workers, net->n_nodes, sizeof(struct elan_buffer));
	return 0;
}

static void node_free(struct elan_node *n)
{
	uint32_t i;

	if (!n)
		return;
	for (i = 0; i < ELAN_QUEUES; i++)
		elan_queue_free(elan_queue(n, i));
	for (i = 0; i < ELAN_QUEUES / ELAN_GROUP; i++)
		mem_free(n->queues[i]);
	elan_threads_free(n);
	mem_free(n->waiting);
	mem_free(n->sendings);
	mem_free(n->words);
	elan_event_free(n);
	mem_free(n->seen);
	mem_free(n->contexts);
	mem_free(n->gets);
	mem_free(n->maps);
	mem_free(n->line[BUS_IN].burst);
	mem_free(n->line[BUS_OUT].burst);
	mem_free(n);
}

static void elan_fini(struct nic *nic)
{
	struct elan *x = (struct elan *)nic;
	site_id i;

	for (i = 0; i < x->n_nodes; i++)
		node_free(x->nodes[i]);
	map_free(x->nodes, x->n_nodes * sizeof(struct elan_node *));
	payload_pool_free(x->payloads);
}

static int elan_audit(struct nic *nic, struct err *e)
{
	struct elan *x = (struct elan *)nic;
	uint64_t used = payload_pool_used(x->payloads);
	site_id i;

	for (i = 0; i < x->n_nodes; i++) {
		const struct elan_node *n = x->nodes[i];
		uint32_t dmas, inside;

		if (!n)
			continue;
		dmas = n->waiting_n + n->dma[0].is_used + n->dma[1].is_used;
		inside = n->inside + (n->in_first ? 1u : 0u);
		if (n->sendings_used || inside || n->reads || n->read_bytes ||
			n->assembling || dmas || n->gets_first ||
			elan_event_inside(n) || elan_threads_busy(n) ||
			n->run_first != ELAN_NO_QUEUE)
			return err_set_code(e, EXIT_INTERNAL,
				"audit: node %u: %u packets are not "
				"acknowledged, %u not executed, %u reads of "
				"%u bytes, %u packets and %u DMAs not done, "
				"nor %u copies of events; %s queue has work",
				i, n->sendings_used, inside, n->reads,
				n->read_bytes, n->assembling, dmas,
				elan_event_inside(n),
				n->run_first == ELAN_NO_QUEUE ? "no" : "a");
	}
	if (used)
		return err_set_code(e, EXIT_INTERNAL,
			"audit: %llu packets' bytes are still under way",
			(unsigned long long)used);
	return 0;
}

/* The first one is no error. */
static uint64_t describe_errors(
	const struct nic *nic, site_id s, char *text, size_t size)
{
	struct elan_counts c = elan_counts(nic, s);

	return nic_describe_errors(elan_error_names + 1, c.errors + 1,
		ELAN_ERRORS - 1, text, size);
}

struct elan_counts elan_counts(const struct nic *nic, site_id s)
{
	const struct elan *x = (const struct elan *)nic;

	return x->nodes[s] ? x->nodes[s]->counts : (struct elan_counts){ 0 };
}

static uint64_t node_memory(const struct elan_node *n)
{
	uint64_t sum = sizeof(*n);
	uint32_t i;

	for (i = 0; i < ELAN_QUEUES; i++) {
		const struct elan_queue *q = elan_queue(n, i);

		if (q)
			sum += sizeof(*q) + q->depth +
			       q->arrivals_room * sizeof(*q->arrivals) +
			       q->births_room * sizeof(*q->births);
	}
	for (i = 0; i < ELAN_QUEUES / ELAN_GROUP; i++)
		if (n->queues[i])
			sum += ELAN_GROUP * sizeof(*n->queues[i]);
	for (i = 0; i < 2; i++)
		sum += n->line[i].room * sizeof(*n->line[i].burst);
	return sum + elan_threads_memory(n) +
	       n->waiting_room * sizeof(*n->waiting) +
	       n->n_contexts * sizeof(*n->contexts) +
	       n->n_maps * sizeof(*n->maps) + n->gets_room * sizeof(*n->gets) +
	       n->sendings_room * sizeof(*n->sendings) +
	       n->words_room * sizeof(*n->words) + elan_event_memory(n) +
	       n->seen_room * sizeof(*n->seen);
}

static uint64_t elan_memory(const struct nic *nic)
{
	const struct elan *x = (const struct elan *)nic;
	uint64_t sum = payload_pool_memory(x->payloads);
	site_id i;

	for (i = 0; i < x->n_nodes; i++)
		sum += sizeof(x->nodes[i]) +
		       (x->nodes[i] ? node_memory(x->nodes[i]) : 0);
	return sum;
}

/* The card has no registers: what it does is asked for in queues. */
static void elan_reg_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint32_t reg, uint64_t value)
{
	elan_store(nic, w, s, t, reg >> 16, reg & 0xffff, &value, 1);
}

static sim_time elan_slot(struct nic *nic, site_id s, sim_time t)
{
	(void)nic;
	(void)s;
	return t;
}

static uint64_t elan_load(struct nic *nic, site_id s, uint32_t reg)
{
	return elan_queue_room(nic, s, reg >> 16);
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_hurt = elan_frame_on_hurt,
	.on_lost = elan_frame_on_lost,
	.on_copy = elan_input_on_copy,
	.on_absorbed = elan_frame_on_lost,
};

const struct nic_ops elan4_ops = {
	.name = "elan4",
	.title = "Elan4 interface",
	.size = sizeof(struct elan),
	.params = elan_param_rows,
	.n_params = sizeof(elan_param_rows) / sizeof(elan_param_rows[0]),
	.params_size = sizeof(struct elan_params),
	.client = &client,
	.init = elan_init,
	.fini = elan_fini,
	.store = elan_reg_store,
	.slot = elan_slot,
	.load = elan_load,
	.audit = elan_audit,
	.errors = describe_errors,
	.memory = elan_memory,
	.retries = elan_frame_retries,
	.is_stale = elan_send_is_stale,
};
