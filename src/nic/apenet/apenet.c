#include "nic/apenet/frame.h"

#include "base/bits.h"
#include "base/mem.h"

#define AT(field)  offsetof(struct ape_params, field)
#define MOST_BYTES (INT64_C(1) << 40)
#define SPLIT	   "assumed: APE-N14, of which only the sum is known"
#define COUNT(name_, field_, ...)                                              \
	PARAM_ROW(PARAM_COUNT, name_, AT(field_), __VA_ARGS__)
#define TIME(name_, field_, def_, min_, ...)                                   \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, min_, PS_PER_S / 1000,  \
		__VA_ARGS__)
#define BYTES(name_, field_, def_, min_, max_, ...)                            \
	PARAM_ROW(PARAM_BYTES, name_, AT(field_), def_, min_, max_, __VA_ARGS__)
#define RATE(name_, field_, def_, ...)                                         \
	PARAM_ROW(PARAM_RATE, name_, AT(field_), def_, 1000000, PS_PER_S,      \
		__VA_ARGS__)

static const struct param params[] = {
	COUNT("dma.engines", engines, "2", 1, APE_ENGINES,
		"number of DMA engines that read data to be sent", "APE-N6"),
	COUNT("dma.queue", queue, "64", 2, 1024,
		"number of commands that the queue of a process holds, a power "
		"of two",
		"APE-G12"),
	COUNT("dma.prefetch", work.prefetch, "4", 1, 64,
		"largest number of commands fetched at a time", "APE-G12"),
	TIME("dma.setup", setup, "150 ns", 0,
		"time from an engine's start to its first request", SPLIT),
	BYTES("path.width", width, "16 B", 1, 256,
		"bytes that the card's data path moves in a clock cycle",
		"APE-G1; the next board: APE-N29"),
	TIME("path.clock", clock, "4 ns", 1,
		"clock cycle of the card's data path",
		"assumed: as on the next board, APE-N29"),
	TIME("input", input, "350 ns", 0,
		"time from the arrival of a packet's tail to the look-up of "
		"its address",
		SPLIT),
	COUNT("tlb.entries", entries, "512", 0, 65536,
		"number of pages in the TLB; 0: the Nios II translates every "
		"packet's address",
		"APE-G9"),
	COUNT("tlb.ways", ways, "4", 1, 64,
		"number of pages in a set of the TLB, of which the least "
		"recently used is replaced",
		"APE-G9"),
	TIME("tlb.hit", hit, "50 ns", 0, "time of a look-up in the TLB",
		"APE-G9"),
	TIME("nios.translate", translate, "2.98 us", 0,
		"time that the Nios II takes to translate the address of a "
		"page",
		"calibrated: APE-N8"),
	TIME("nios.per-buffer", per_buffer, "20 ns", 0,
		"time that the Nios II takes for each buffer of its list that "
		"it examines",
		"assumed: a few instructions"),
	TIME("nios.command", command, "1.15 us", 0,
		"time that the Nios II takes for a command",
		"calibrated: APE-N14 with APE-N16"),
	TIME("nios.register", enrol, "2 us", 0,
		"time that the Nios II takes to enter a buffer into its list "
		"or to remove one",
		"assumed: not in the paper"),
	COUNT("events", events, "4096", 2, 65536,
		"number of events that the queue of a process holds, a power "
		"of two",
		"assumed: not in the paper"),
	TIME("software.post", work.post, "640 ns", 0,
		"time that a core takes to write the commands of a transfer",
		SPLIT),
	TIME("software.register", kernel, "5 us", 0,
		"time that a core takes to register or deregister a buffer, in "
		"addition to the Nios II's time",
		"assumed: a call of the kernel that pins pages"),
	TIME("software.poll-period", work.poll_period, "100 ns", 1,
		"period of a poll loop", SPLIT),
	TIME("software.poll-load", work.poll_load, "100 ns", 0,
		"latency of a poll loop's load", SPLIT),
	{ .name = "software.p2p",
		.type = PARAM_FLAG,
		.offset = AT(p2p),
		.def = "yes",
		.min = 0,
		.max = 1,
		.help = "whether the card reads and writes GPU memory "
			"directly",
		.source = "APE-F6" },
	BYTES("software.p2p-until", p2p_until, "104 KiB", 0, MOST_BYTES,
		"largest transfer between GPUs that the library makes "
		"directly; longer ones are staged in host memory",
		"APE-F40; both are equally fast at this size"),
	BYTES("software.chunk", chunk, "32 KiB", 4096, 1 << 20,
		"size of the pieces in which a staged transfer is copied",
		"assumed: not in the paper"),
	RATE("software.copy-rate", copy_rate, "5 GB/s",
		"rate at which a core copies host memory",
		"assumed: usual for its memory"),
	TIME("rival.latency", rival_latency, "17.4 us", 0,
		"latency of the InfiniBand network that the paper compares "
		"with",
		"APE-N18"),
	RATE("rival.rate", rival_rate, "1.614 GB/s",
		"rate of the InfiniBand network that the paper compares with",
		"calibrated: APE-N15"),
};

#define COUNT_OF(field_) "", offsetof(struct ape_node, field_)

static const struct nic_counter counters[] = {
	{ "packets", COUNT_OF(packets), false },
	{ "delivered", COUNT_OF(delivered), false },
	{ "replies", COUNT_OF(replies), false },
	{ "fetches", COUNT_OF(queues.fetches), false },
	{ "flushed", COUNT_OF(flushed), false },
	{ "gpu_reads", COUNT_OF(gpu_reads), false },
	{ "gpu_writes", COUNT_OF(gpu_writes), false },
	{ "tlb_hits", COUNT_OF(hits), false },
	{ "tlb_misses", COUNT_OF(misses), false },
	{ "nios_busy", "ps", offsetof(struct ape_node, busy), false },
	{ "dropped", COUNT_OF(dropped), false },
	{ "unknown buffer", COUNT_OF(error[APE_NO_BUFFER]), true },
	{ "address outside a buffer", COUNT_OF(error[APE_OUTSIDE]), true },
	{ "invalid command", COUNT_OF(error[APE_BAD_COMMAND]), true },
	{ "memory that cannot be reached", COUNT_OF(error[APE_UNREADABLE]),
		true },
	{ "torn", COUNT_OF(error[APE_DAMAGED]), false },
	{ "escapes", COUNT_OF(escapes), false },
	{ "lost_in_cards", COUNT_OF(lost), false },
	{ "event queue overrun", COUNT_OF(queues.overruns), true },
	{ .key = NULL },
};

struct workqs *ape_queues(struct nic *nic, site_id s)
{
	return &((struct ape_node *)nic_node(nic, s))->queues;
}

uint32_t ape_most(const struct nic *nic)
{
	return ((const struct apenet *)nic)->most;
}

bool ape_find_outage(
	const struct ape_node *n, uint32_t kind, uint32_t unit, sim_time t)
{
	for (size_t i = 0; i < n->n_outages; i++) {
		const struct lofamo_outage *o = &n->outage[i];

		if (o->kind == kind && o->unit == unit && o->from <= t &&
			t < o->until)
			return true;
	}
	return false;
}

bool ape_gpu_is_dead(struct nic *nic, site_id s, uint32_t gpu, sim_time t)
{
	return ape_find_outage(nic_node(nic, s), LOFAMO_GPU, gpu, t);
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
	ape_send_on_room(&a, fifo);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *net = me->net;
	struct nic_at a = nic_at(me->state, w, s, t);
	struct ape_load *l = ape_load(&a, id);

	l->fifo = fifo;
	l->chunks = net->packets[id].chunks;
	ape_here(&a)->inside++;
	ape_post(&a, tail + ape_params(&a)->input, APE_IN, id);
}

static void (*const on_card[])(const struct nic_at *a, uint32_t id) = {
	[APE_NIOS - APE_NIOS] = ape_nios_on_done,
	[APE_BEGIN - APE_NIOS] = ape_send_begin,
	[APE_READY - APE_NIOS] = ape_send_on_ready,
	[APE_HERE - APE_NIOS] = ape_send_on_here,
	[APE_IN - APE_NIOS] = ape_receive_on_in,
	[APE_LOOKED - APE_NIOS] = ape_receive_on_looked,
	[APE_WRITTEN - APE_NIOS] = ape_receive_on_written,
};

/* Events of programs, which may ring a doorbell, and of queues and reads. */
static __attribute__((noinline)) void on_other(struct net_client *me,
	struct sim_worker *w, site_id s, sim_time t, struct sim_event e)
{
	struct nic *nic = me->state;
	struct nic_at a = { nic, nic->nodes[s], w, s, 0, t };
	uint32_t number = sim_number(&e);
	bool is_program = sim_phase(&e) == PHASE_PROGRAM;

	if (a.node && (is_program || number >= APE_READS))
		ape_settle(&a);
	if (is_program)
		host_event(nic->host, w, s, t, &e);
	else if (number < APE_READS)
		workqs_on_event(&a, &ape_here(&a)->queues, number, e.data);
	else
		side_reads_on_event(&a, &ape_here(&a)->reads, number, e.data);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic *nic = me->state;
	/* the node exists: it has posted the event */
	struct nic_at a = { nic, nic->nodes[s], w, s, 0, t };
	uint32_t i = sim_key(&e) - SIM_KEY(PHASE_ENGINE, APE_NIOS);

	if (sim_phase(&e) == PHASE_ENGINE)
		ticks_check(&a, &ape_here(&a)->ticks, &e);
	if (i < sizeof(on_card) / sizeof(on_card[0]))
		on_card[i](&a, e.data);
	else
		on_other(me, w, s, t, e);
}

static const struct net_client_faults faults = {
	.on_hurt = ape_frame_on_hurt,
	.is_dropped = ape_frame_is_dropped,
	.is_found = ape_frame_is_found,
};

static const struct net_client_ops client = {
	.on_room = on_room,
	.awaits_room = true,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = nic_on_lost,
	.faults = &faults,
	.combine = &nic_combine,
	.carry = &nic_carry,
};

/* --- life --- */

static int check_params(const struct ape_params *p, const struct gpus *g,
	uint32_t most, struct err *e)
{
	if (!bits_is_power(p->queue))
		return err_set(e, "nic.dma.queue: %lld is not a power of two",
			(long long)p->queue);
	if (!bits_is_power(p->events))
		return err_set(e, "nic.events: %lld is not a power of two",
			(long long)p->events);
	if (p->entries &&
		(p->entries % p->ways || !bits_is_power(p->entries / p->ways)))
		return err_set(e,
			"nic.tlb.entries: %lld entries are not a power of two "
			"of sets with %lld entries each (nic.tlb.ways)",
			(long long)p->entries, (long long)p->ways);
	if (g && gpus_params(g)->window < most)
		return err_set(e,
			"gpu.window: %lld bytes are smaller than a packet "
			"(want at least %u)",
			(long long)gpus_params(g)->window, most);
	return 0;
}

static int apenet_init(struct nic *nic, struct err *e)
{
	struct apenet *x = (struct apenet *)nic;
	const struct ape_params *p = nic->params;
	uint32_t most = nic->net->link.max_payload;

	x->side = host_side(nic->host);
	x->gpus = gpus_of(nic->host);
	x->most = most < APE_MOST ? most : APE_MOST;
	if (!x->side)
		return err_set(e, "side.kind: nic.kind apenet needs a bus "
				  "between card and memory, such as pcie");
	if (most < 64)
		return err_set(e, "link.payload: nic.kind apenet needs at "
				  "least 64 bytes");
	x->reads = (struct side_reads_how){ .side = x->side,
		.first = APE_READS,
		.is_settled = x->side->ops->least != NULL };
	x->queues = (struct workqs_how){
		.first = APE_QUEUES,
		.entry = sizeof(struct ape_command),
		.size = sizeof(struct ape_queue),
		.params = &p->work,
		.fetched = ape_send_fetched,
	};
	x->fifos = net_fifos(nic->net, NET_USER);
	nic->load_size = sizeof(struct ape_load) + x->most;
	return check_params(p, x->gpus, x->most, e);
}

static const struct nic_member members[] = {
	NIC_MEMBER(side_reads, struct ape_node, reads, 0),
	NIC_MEMBER(workqs, struct ape_node, queues, 0),
	NIC_MEMBER(ranges, struct ape_node, buffers, 0),
	NIC_MEMBER(tlb, struct ape_node, tlb, 0),
	NIC_MEMBER(ring, struct ape_node, jobs, sizeof(struct ape_job)),
	NIC_MEMBER(ring, struct ape_node, run, sizeof(uint32_t)),
	NIC_MEMBER(ring, struct ape_node, ready, sizeof(uint32_t)),
	NIC_MEMBER(ring, struct ape_node, order, sizeof(uint32_t)),
	NIC_MEMBER(ring, struct ape_node, rx, sizeof(packet_id)),
	NIC_MEMBER(slots, struct ape_node, works, sizeof(struct ape_work)),
	{ 0 },
};

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct apenet *x = (const struct apenet *)nic;
	const struct ape_params *p = nic->params;
	struct ape_node *n = node;

	gpu_open(nic->host, s);
	n->n_outages = lofamo_outages(nic->plan, s, &n->outage);
	side_reads_init(&n->reads, &x->reads, &n->ticks);
	workqs_init(&n->queues, &x->queues, &n->reads);
	tlb_init(&n->tlb, (uint32_t)p->entries, (uint32_t)p->ways);
}

static void node_fini(struct nic *nic, void *node)
{
	struct ape_node *n = node;

	(void)nic;
	for (uint32_t i = 0; i < n->queues.n_queues; i++)
		if (n->queues.queue[i])
			ring_fini(&((struct ape_queue *)n->queues.queue[i])
					   ->held);
	mem_free(n->outage);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct ape_node *n = node;

	if (!n->works.used && !n->inside && !n->jobs.n &&
		!workqs_is_busy(&n->queues))
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: node %u: %u commands, %u packets and %u jobs of the "
		"Nios II are unfinished",
		s, n->works.used, n->inside, n->jobs.n);
}

static size_t load_bytes(const struct packet *p)
{
	const struct ape_load *l = payload_of_load(p->load);

	return sizeof(*l) + (l->is_named ? 0 : p->bytes);
}

const struct nic_ops apenet_ops = {
	.name = "apenet",
	.title = "APEnet+ card",
	.machine = "apenet",
	.can = NIC_LOSES,
	.has = "any-side gpus watchdogs",
	.size = sizeof(struct apenet),
	.node_size = sizeof(struct ape_node),
	PARAMS(params),
	.params_size = sizeof(struct ape_params),
	.client = &client,
	.counters = counters,
	.init = apenet_init,
	.members = members,
	.node_init = node_init,
	.node_fini = node_fini,
	.audit_node = audit_node,
	.load_bytes = load_bytes,
};
