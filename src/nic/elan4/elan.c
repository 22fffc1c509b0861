/*
 * The card as a whole: its units put together, their events handed out.  It is
 * the only file that knows all of them.
 */
#include "nic/elan4/elan.h"

#include <stdio.h>

#include "base/mem.h"
#include "nic/elan4/answer.h"
#include "nic/elan4/command.h"
#include "nic/elan4/dma.h"
#include "nic/elan4/event.h"
#include "nic/elan4/frame.h"
#include "nic/elan4/get.h"
#include "nic/elan4/input.h"
#include "nic/elan4/params.h"
#include "nic/elan4/pcix.h"
#include "nic/elan4/queue.h"
#include "nic/elan4/send.h"
#include "nic/elan4/sten.h"
#include "nic/elan4/thread.h"
#include "route/updown.h"
#include "topo/fattree.h"

/* A node's card. */
struct whole {
	struct elan_node n;
	struct elan_queues queues;
	struct elan_events events;
	struct elan_sender sender;
	struct elan_gets gets;
	struct elan_dmas dmas;
	struct elan_answers answers;
	struct elan_input input;
	struct elan_commands commands;
};

/* All of them. */
struct cards {
	struct elan x;
	struct resend_how resend;
	struct reads_how reads;
	struct words_how words;
};

#define ERROR(what_, key_)                                                     \
	[what_] = {                                                            \
		.key = key_,                                                   \
		.unit = "times",                                               \
		.offset = offsetof(struct whole, n.counts.errors) +            \
			  (what_) * sizeof(uint64_t),                          \
		.is_error = (what_) == ELAN_ERROR_RETRIES                      \
				    ? NIC_LATE                                 \
				    : (what_) != ELAN_FINE,                    \
	}

#define COUNTER(field_, unit_)                                                 \
	{                                                                      \
		.key = #field_, .unit = unit_,                                 \
		.offset = offsetof(struct whole, n.counts.field_)              \
	}

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

/* --- what units say to each other --- */

static void on_queue_room(const struct nic_at *a, uint32_t queue)
{
	elan_event_on_room(a, queue);
	host_poke(a->nic->host, a->w, a->s, a->t);
	elan_thread_on_room(a, queue);
}

static const struct elan_queue_calls queue_calls = {
	.on_work = elan_command_go,
	.on_room = on_queue_room,
	.on_restart = elan_get_forget,
};

static void ask_word(const struct nic_at *a, uint32_t id, uint32_t bytes)
{
	elan_bus_ask(a, ELAN_BURST_WORD, id, bytes);
}

static void word_granted(const struct nic_at *a, uint32_t id, sim_time end)
{
	words_granted(a, &elan_here(a)->words, id, end);
}

static void ask_read(const struct nic_at *a, uint32_t id, uint32_t bytes)
{
	elan_bus_ask(a, ELAN_BURST_READ, id, bytes);
}

static void read_granted(const struct nic_at *a, uint32_t id, sim_time end)
{
	reads_granted(a, &elan_here(a)->reads, id, end);
}

static void connect(struct cards *c)
{
	struct elan *x = &c->x;

	elan_send_set_up(&c->resend, x);
	c->reads = (struct reads_how){
		.ready = ELAN_ENGINE_READ,
		.done = ELAN_ENGINE_BLOCK,
		.latency = x->params.read_latency,
		.most = (uint32_t)x->params.reads,
		.ask = ask_read,
	};
	c->words = (struct words_how){
		.in = ELAN_ENGINE_WORD_IN,
		.see = x->host.see,
		.ask = ask_word,
		.on_had = elan_thread_on_word,
	};
	x->granted[ELAN_BURST_WORD] = word_granted;
	x->granted[ELAN_BURST_WRITE] = elan_input_granted;
	x->granted[ELAN_BURST_COPY] = elan_event_granted;
	x->granted[ELAN_BURST_READ] = read_granted;
	x->granted[ELAN_BURST_THREAD] = elan_thread_granted;
}

/* --- a node's part --- */

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct cards *c = (const struct cards *)nic;
	struct whole *x = node;
	struct elan_node *n = &x->n;

	(void)s;
	n->queues = &x->queues;
	n->events = &x->events;
	n->sender = &x->sender;
	n->gets = &x->gets;
	n->dmas = &x->dmas;
	n->answers = &x->answers;
	n->input = &x->input;
	n->commands = &x->commands;
	bus_init(&n->bus, &c->x.params.bus);
	words_init(&n->words, &c->words, &n->ticks);
	reads_init(&n->reads, &c->reads, &n->ticks, sizeof(struct elan_read));
	resend_init(&x->sender.resend, &c->resend, &n->ticks,
		sizeof(struct elan_sending));
	x->sender.on_left = elan_dma_on_left;
	x->queues.calls = &queue_calls;
	elan_events_init(&x->events);
	elan_gets_init(&x->gets);
	elan_dmas_init(&x->dmas);
}

static void node_fini(struct nic *nic, void *node)
{
	struct whole *x = node;

	(void)nic;
	elan_queues_fini(&x->queues);
	elan_threads_free(x->n.threads);
	elan_events_fini(&x->events);
	elan_dmas_fini(&x->dmas);
	resend_fini(&x->sender.resend);
	slots_fini(&x->gets.items);
	words_fini(&x->n.words);
	reads_fini(&x->n.reads);
	seen_fini(&x->n.seen);
	ranges_fini(&x->n.contexts);
	bus_fini(&x->n.bus);
}

static uint64_t node_memory(const void *node)
{
	const struct whole *x = node;
	const struct elan_node *n = &x->n;

	return elan_queues_memory(&x->queues) +
	       elan_threads_memory(n->threads) +
	       elan_events_memory(&x->events) + elan_dmas_memory(&x->dmas) +
	       slots_memory(&x->sender.resend.items) +
	       slots_memory(&x->gets.items) + slots_memory(&n->words.items) +
	       slots_memory(&n->reads.items) + seen_memory(&n->seen) +
	       ranges_memory(&n->contexts) + bus_memory(&n->bus);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct whole *x = node;
	uint32_t dmas = elan_dmas_left(&x->dmas);
	uint32_t copies = elan_events_left(&x->n);
	uint32_t inside = x->input.inside + (x->input.in.first ? 1u : 0u);
	uint32_t sent = x->sender.resend.items.used;

	if (sent || inside || x->n.reads.n || x->dmas.read_bytes ||
		x->dmas.assembling || dmas || x->gets.late.first || copies ||
		elan_threads_busy(x->n.threads) || x->queues.run.first)
		return err_set_code(e, EXIT_INTERNAL,
			"audit: node %u: still to be done: %u packets to be "
			"acknowledged, %u to be executed, %u reads of %u "
			"bytes, %u packets and %u DMAs to be sent, %u copies "
			"of events; %s queue has work",
			s, sent, inside, x->n.reads.n, x->dmas.read_bytes,
			x->dmas.assembling, dmas, copies,
			x->queues.run.first ? "a" : "no");
	return 0;
}

struct elan_counts elan_counts(const struct nic *nic, site_id s)
{
	const struct elan_node *n = nic->nodes[s];

	return n ? n->counts : (struct elan_counts){ 0 };
}

/* --- the network's client --- */

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	elan_send_on_room(&a, fifo);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	elan_input(&a, fifo, id, tail);
}

static enum elan_engine engine_of(const struct sim_event *e)
{
	return (enum elan_engine)(
		ENGINE_CLIENT + (sim_number(e) - ENGINE_CLIENT) % ELAN_ENGINES);
}

static void on_engine(
	const struct nic_at *a, const struct sim_event *e, uint32_t data)
{
	struct resend *r = &elan_here(a)->sender->resend;

	ticks_check(a, &elan_here(a)->ticks, e);
	switch (engine_of(e)) {
	case ELAN_ENGINE_STORE:
		elan_queue_on_store(a, data);
		break;
	case ELAN_ENGINE_HALF:
		elan_sten_on_half(a, data);
		break;
	case ELAN_ENGINE_LEAVE:
		resend_on_leave(a, r, data);
		break;
	case ELAN_ENGINE_LATE:
		resend_on_late(a, r);
		break;
	case ELAN_ENGINE_LATER:
		resend_on_later(a, r, data);
		break;
	case ELAN_ENGINE_AGAIN:
		resend_on_again(a, r, data);
		break;
	case ELAN_ENGINE_READ:
		reads_on_ready(a, &elan_here(a)->reads, data);
		break;
	case ELAN_ENGINE_BLOCK:
		reads_on_done(a, &elan_here(a)->reads, data);
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
		words_on_in(a, &elan_here(a)->words, data);
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

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	if (sim_phase(&e) == PHASE_PROGRAM)
		host_event(a.nic->host, w, s, t, &e);
	else
		on_engine(&a, &e, e.data);
}

/* Time-outs of what has been answered since. */
static bool is_stale(const struct nic *nic, const struct sim_event *e)
{
	const struct elan_node *n;

	if (sim_phase(e) != PHASE_ENGINE || sim_number(e) < ENGINE_CLIENT ||
		e->site >= nic->n_nodes)
		return false;
	n = nic->nodes[e->site];
	if (engine_of(e) == ELAN_ENGINE_GET)
		return !n->gets->late.first;
	return resend_is_stale(&n->sender->resend, engine_of(e), e->data);
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

static int check_net(const struct net *n, struct err *e)
{
	if (net_fifos(n, NET_USER).most <= ELAN_FIFO_ANSWER ||
		net_fifos(n, NET_HIGH).first != ELAN_FIFO_CAST ||
		net_fifos(n, NET_SYSTEM).first != ELAN_FIFO_ACK)
		return err_set(e,
			"nic.kind: elan4 needs the FIFOs of a direct router");
	if (n->link.max_payload < ELAN_PACKET)
		return err_set(e,
			"nic.kind: elan4 needs a link.payload of %d bytes, not "
			"%u",
			ELAN_PACKET, n->link.max_payload);
	return 0;
}

static int check_times(const struct elan *x, struct err *e)
{
	const struct elan_params *p = &x->params;
	sim_time trip = round_trip(x->nic.net);

	if (p->command <= x->least)
		return err_set(e, "nic.command: shorter than the time of the "
				  "shortest packet on the link");
	if (elan_timeout(x) < trip)
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
	elan_bus_set_up(&x->params.bus, &x->host);
	if (check_net(net, e))
		return -1;
	x->least = link_ser(&net->link, 8);
	if (check_times(x, e))
		return -1;
	connect((struct cards *)nic);
	x->rotates = routes && routes->spread == UPDOWN_ROTATE;
	nic->load_size = sizeof(struct elan_buffer);
	return 0;
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
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = nic_on_lost,
	.faults = &faults,
	.combine = &combine,
};

const struct nic_ops elan4_ops = {
	.name = "elan4",
	.title = "Elan4 interface",
	.machine = "qsnet2-16",
	.can = NIC_RESENDS | NIC_CASTS | NIC_THREADS,
	.size = sizeof(struct cards),
	.node_size = sizeof(struct whole),
	PARAMS(elan_param_rows),
	.params_size = sizeof(struct elan_params),
	.client = &client,
	.counters = counters,
	.init = elan_init,
	.node_init = node_init,
	.node_fini = node_fini,
	.node_memory = node_memory,
	.audit_node = audit_node,
	.load_bytes = load_bytes,
	.is_stale = is_stale,
};
