#include "nic/swhni/collective.h"

#include "base/bits.h"
#include "base/mem.h"
#include "parts/registers/registers.h"

#define AT(field) offsetof(struct swhni_params, field)
#define COUNT(name_, field_, ...)                                              \
	PARAM_ROW(PARAM_COUNT, name_, AT(field_), __VA_ARGS__)
#define TIME(name_, field_, def_, ...)                                         \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, 0, PS_PER_S / 1000,     \
		__VA_ARGS__)
#define BYTES(name_, field_, def_, min_, max_, ...)                            \
	PARAM_ROW(PARAM_BYTES, name_, AT(field_), def_, min_, max_, __VA_ARGS__)

static const struct param params[] = {
	PARAM_ONE_OF("attach", AT(attach), "two", "one|two",
		"number of processors that the chip's two PCIe interfaces "
		"serve; one: a processor uses both engines; two: each has its "
		"own",
		"SUN-F36"),
	TIME("out", out, "40 ns", "time from an engine to a port", "SUN-G2"),
	TIME("in", in, "60 ns",
		"time from a packet's tail to its first access to memory",
		"SUN-G2"),
	TIME("issue", issue, "271 ns",
		"time in which an engine issues a message and cuts no packet "
		"of any other",
		"calibrated: SUN-N67"),
	COUNT("messages", messages, "256", 1, 256,
		"largest number of messages of an engine under way", "SUN-N35"),
	COUNT("entries", entries, "256", 1, 256,
		"number of messages that a receiving engine counts at a time",
		"SUN-G19"),
	COUNT("window", window, "16", 1, 256,
		"largest number of fast short messages of a virtual interface "
		"under way",
		"assumed: not in the paper"),
	BYTES("ahead", ahead, "32 KiB", 2048, 1 << 24,
		"largest amount of data that an engine has read or asked for "
		"and not sent",
		"assumed: as much as its reads can ask for"),
	BYTES("backlog", backlog, "256 KiB", 2048, 1 << 30,
		"largest amount of arrived data that waits for PCIe; more is "
		"refused and sent again",
		"assumed: not in the paper"),
	COUNT("tlb.entries", tlb_entries, "2048", 0, 65536,
		"number of pages in an engine's TLB; 0: all are read from "
		"memory",
		"SUN-N37"),
	COUNT("tlb.ways", tlb_ways, "8", 1, 64,
		"number of pages in a set of the TLB", "SUN-G28"),
	COUNT("tlb.prefetch", tlb_prefetch, "16", 0, 64,
		"number of pages whose translations are read ahead of the last "
		"one used; 0: none",
		"SUN-G28; assumed: as many as cover the wait"),
	COUNT("vms", vms, "0", 0, 64,
		"number of virtual machines of a node; 0: none", "SUN-F84"),
	TIME("vm", vm, "10 ns",
		"time by which a virtual machine's messages take longer",
		"calibrated: SUN-N68"),
	TIME("collective.child", child, "180.6 ns",
		"time that the collective unit takes to receive, answer and "
		"combine the data of a child",
		"calibrated: SUN-N70, SUN-N72"),
	COUNT("collective.slots", slots, "2", 1, 2,
		"number of rounds of a tree whose results a member has places "
		"for",
		"assumed: with one, a broadcast cannot be faster than a "
		"barrier, SUN-N79"),
	TIME("software.collective", call, "440 ns",
		"time of software's call for a collective",
		"calibrated: SUN-N70, SUN-N72"),
	TIME("software.bcast", bcast, "5.6 us", "the same for a broadcast",
		"calibrated: SUN-N77"),
	TIME("software.copy", copy, "1.02 ns",
		"time that software takes to copy a byte of a broadcast",
		"calibrated: SUN-N77"),
	BYTES("software.page", page, "0 B", 0, INT64_C(1) << SWHNI_MOST_PAGE,
		"size of the pages by which experiments address memory, from "
		"4 KiB to 8 MiB; 0 B: they use a segment, without the TLB",
		"assumed: segments"),
	TIME("software.mpi", mpi, "8.7 us", "time of MPI's part of a message",
		"calibrated: SUN-N70"),
	TIME("software.mpi-operand", mpi_operand, "660 ns",
		"additional time of a message of a reduction",
		"calibrated: SUN-N73"),
	TIME("software.mpi-long", mpi_long, "2 us",
		"additional time of a message that is too long for a fast "
		"short message",
		"calibrated: SUN-N80"),
	WORKQ_ROWS(AT(work), "8", "10 ns"),
	RESEND_ROWS(AT(retry), "50 us", "2",
		"assumed: a few packets from each node on one link",
		"SUN-G20: then software takes over", "assumed: a round trip"),
	COUNT("retry.patience", patience, "64", 1, 1000,
		"largest number of tries of a message whose receiver is full",
		"assumed: programs take their messages sooner"),
};

#define COUNT_OF(field_)  "", offsetof(struct sw_node, field_)
#define ERROR_OF(status_) COUNT_OF(error[status_])
#define SUM_OF(field_)	  COUNT_OF(field_), false

static const struct nic_counter counters[] = {
	{ "packets", SUM_OF(packets) },
	{ "delivered", SUM_OF(delivered) },
	{ "messages", SUM_OF(messages) },
	{ "short_messages", SUM_OF(shorts) },
	{ "completions", COUNT_OF(error[SWHNI_OK]), false },
	{ "acknowledgements", SUM_OF(acks) },
	{ "reads_asked", SUM_OF(asks) },
	{ "reads_answered", SUM_OF(answers) },
	{ "in_engine", SUM_OF(looped) },
	{ "by_crossbar", SUM_OF(crossed) },
	{ "management_messages", SUM_OF(managed) },
	{ "by_port_0", COUNT_OF(port[0].packets), false },
	{ "by_port_1", COUNT_OF(port[1].packets), false },
	{ "collectives", SUM_OF(collectives_posted) },
	{ "gathers", SUM_OF(gathers) },
	{ "spreads", SUM_OF(spreads) },
	{ "strangers", SUM_OF(strangers) },
	{ "results_without_slot", SUM_OF(unready) },
	{ "memory_reads", SUM_OF(memory_reads) },
	{ "tlb_hits", SUM_OF(hits) },
	{ "tlb_misses", SUM_OF(misses) },
	{ "tlb_prefetched", SUM_OF(prefetched) },
	{ "kept", SUM_OF(kept) },
	{ "resent", SUM_OF(resent) },
	{ "timeouts", SUM_OF(timeouts) },
	{ "probes", SUM_OF(probes) },
	{ "refused", SUM_OF(refused) },
	{ "overflows", SUM_OF(overflows) },
	{ "doubles", SUM_OF(doubles) },
	{ "strays", SUM_OF(strays) },
	{ "abandoned", SUM_OF(abandoned) },
	{ "datagrams_lost", SUM_OF(lost) },
	{ "torn", SUM_OF(torn) },
	{ "escapes", SUM_OF(escapes) },
	{ "cancelled", COUNT_OF(error[SWHNI_CANCELLED]), false },
	{ "unknown key", ERROR_OF(SWHNI_BAD_KEY), true },
	{ "address outside a handle", ERROR_OF(SWHNI_OUT_OF_BOUNDS), true },
	{ "no permission", ERROR_OF(SWHNI_NO_RIGHT), true },
	{ "invalid descriptor", ERROR_OF(SWHNI_BAD_ENTRY), true },
	{ "no such virtual interface or queue", ERROR_OF(SWHNI_BAD_INTERFACE),
		true },
	{ "another job's memory or interface", ERROR_OF(SWHNI_WRONG_JOB),
		true },
	{ "stopped queue", ERROR_OF(SWHNI_STOPPED), true },
	{ "receive queue full for too long", ERROR_OF(SWHNI_FULL), NIC_LATE },
	{ "no answer", ERROR_OF(SWHNI_NO_ANSWER), NIC_LATE },
	{ "broken collective", ERROR_OF(SWHNI_BROKEN), NIC_LATE },
	{ "completion queue overrun", COUNT_OF(engine[0].queues.overruns),
		true },
	{ "completion queue overrun, engine 1",
		COUNT_OF(engine[1].queues.overruns), true },
	{ .key = NULL },
};

/* --- the network's client --- */

/* Data that is at a bridge crosses the bus before anything else does. */
static __attribute__((noinline)) void settle_all(const struct nic_at *a)
{
	for (uint32_t i = 0; i < SWHNI_ENGINES; i++)
		if (sw_engine(a, i)->reads.due <= a->t)
			side_reads_settle(a, &sw_engine(a, i)->reads, a->t);
}

static inline bool is_settled(const struct nic_at *a)
{
	return sw_engine(a, 0)->reads.due > a->t &&
	       sw_engine(a, 1)->reads.due > a->t;
}

static inline void settle(const struct nic_at *a)
{
	if (!is_settled(a))
		settle_all(a);
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct nic *nic = me->state;
	struct nic_at a;

	if (!nic->nodes[s])
		return;
	a = nic_at(nic, w, s, t);
	sw_here(&a)->running = 0;
	settle(&a);
	sw_port_on_room(&a, fifo);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct nic_at a = nic_at(me->state, w, s, t);
	uint32_t engine;

	if (registers_are(&me->net->packets[id])) {
		sw_manage_on_packet(&a, fifo % sw_of(&a)->n_ports, id, tail);
		return;
	}
	engine = sw_load(&a, id)->h.engine;
	sw_here(&a)->inside++;
	sw_post(&a, tail + sw_params(&a)->in,
		engine < SWHNI_ENGINES ? engine : 0, SW_IN, id);
}

static void on_engine(
	const struct nic_at *a, uint32_t engine, uint32_t number, uint32_t data)
{
	struct sw_engine *e = sw_engine(a, engine);
	uint32_t first = number + engine * SW_EVENTS;

	switch (number) {
	case SW_ISSUED:
		sw_engine_on_issued(a, engine, data);
		return;
	case SW_SHORT:
		sw_fsm_on_short(a, engine, data);
		return;
	case SW_IN:
		sw_receive_on_in(a, engine, data);
		return;
	case SW_WRITTEN:
		sw_receive_on_written(a, engine, data);
		return;
	case SW_CANCEL:
		sw_engine_on_cancel(a, engine);
		return;
	case SW_CHECKED:
		sw_engine_on_checked(a, engine, data);
		return;
	case SW_CRASH:
		sw_broker_on_crash(a, data);
		return;
	default:
		break;
	}
	if (number >= SW_COLLECTIVE)
		sw_of(a)->unit->on_event(
			a, engine, number - SW_COLLECTIVE, data);
	else if (number < SW_READS)
		workqs_on_event(a, &e->queues, first, data);
	else if (number < SW_RESEND)
		side_reads_on_event(a, &e->reads, first, data);
	else
		resend_on_event(a, &e->messages, first, data);
}

static __attribute__((noinline)) void on_program(struct nic *nic,
	struct sim_worker *w, site_id s, sim_time t, struct sim_event e)
{
	struct nic_at a = { nic, nic->nodes[s], w, s, 0, t };

	if (a.node) {
		sw_here(&a)->running = SW_ALL_EVENTS;
		settle(&a);
	}
	host_event(nic->host, w, s, t, &e);
}

/* An event of the card, when what was due before it is settled. */
static inline void run_event(const struct nic_at *a, const struct sim_event *e)
{
	uint32_t number = sim_number(e);

	sw_here(a)->running = number;
	ticks_check(a, &sw_here(a)->ticks, e);
	if (number < ENGINE_CLIENT + SW_EVENTS)
		on_engine(a, 0, number, e->data);
	else if (number < SW_OUT)
		on_engine(a, 1, number - SW_EVENTS, e->data);
	else if (number == SW_OUT)
		sw_port_on_out(a, e->data);
	else
		sw_manage_on_event(a, number, e->data);
}

static __attribute__((noinline)) void settle_first(
	const struct nic_at *a, struct sim_event e)
{
	settle_all(a);
	run_event(a, &e);
}

/* Nothing of it is needed after a call, so that none costs more than it must:
 * a message has a dozen. */
static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic *nic = me->state;
	struct nic_at a;

	if (sim_phase(&e) == PHASE_PROGRAM) {
		on_program(nic, w, s, t, e);
		return;
	}
	/* a plan's event may be a node's first */
	a = nic_at(nic, w, s, t);
	if (is_settled(&a))
		run_event(&a, &e);
	else
		settle_first(&a, e);
}

static void on_hurt(struct net_client *me, struct sim_worker *w, packet_id id,
	const struct net_flip *flip)
{
	struct net *net = me->net;
	const struct packet *p = &net->packets[id];
	struct sw_load *l = payload_of_load(p->load);
	uint32_t bytes = (uint32_t)sizeof(l->h) + p->bytes + FLIPS_CRC;

	(void)w;
	if (registers_are(p))
		return; /* PACKET_HURT is enough */
	flips_note(
		&l->flips, flip->code, p->head, bytes, flip->bit, flip->bits);
}

/* At the end of each link that sends again. */
static bool is_found(struct net_client *me, struct sim_worker *w, packet_id id,
	const uint32_t *bit, uint32_t n_bits, uint32_t bits)
{
	const struct packet *p = &me->net->packets[id];
	struct sw_load *l = payload_of_load(p->load);
	struct flips before;

	if (registers_are(p))
		return true;
	before = l->flips;
	for (uint32_t i = 0; i < n_bits; i++)
		on_hurt(me, w, id,
			&(struct net_flip){ bit[i], bits, me->net->link.code });
	if (sw_receive_misses(l))
		return false;
	l->flips = before;
	return true;
}

static void on_lost(struct net_client *me, struct sim_worker *w, packet_id id)
{
	struct nic *nic = me->state;

	if (registers_are(&me->net->packets[id]))
		registers_give(registers_of(nic->host), w, id);
	else
		nic_on_lost(me, w, id);
}

static void on_link(struct net_client *me, struct sim_worker *w, site_id s,
	port_id p, bool is_up, sim_time t)
{
	struct nic *nic = me->state;
	struct nic_at a;

	if (s >= nic->n_nodes)
		return;
	a = nic_at(nic, w, s, t);
	sw_here(&a)->running = 0;
	settle(&a);
	sw_port_on_link(&a, p, is_up);
}

static const struct net_client_faults faults = {
	.on_hurt = on_hurt,
	.is_found = is_found,
	.on_link = on_link,
};

static void carry_pack(struct net_client *me, struct sim_worker *w,
	packet_id id, struct cluster_bytes *to)
{
	const struct packet *p = &me->net->packets[id];
	struct nic *nic = me->state;

	if (registers_are(p))
		registers_pack(registers_of(nic->host), w, p, to);
	else
		nic_carry.pack(me, w, id, to);
}

static void carry_unpack(struct net_client *me, struct sim_worker *w,
	packet_id id, const void *from, size_t n)
{
	struct packet *p = &me->net->packets[id];
	struct nic *nic = me->state;

	if (registers_are(p))
		registers_unpack(registers_of(nic->host), w, p, from);
	else
		nic_carry.unpack(me, w, id, from, n);
}

static const struct net_client_carry carry = {
	.pack = carry_pack,
	.unpack = carry_unpack,
};

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = on_lost,
	.faults = &faults,
	.combine = &nic_combine,
	.carry = &carry,
	.is_sink = true,
};

/* --- life --- */

static int check_params(
	const struct swhni_params *p, uint32_t most, struct err *e)
{
	if (p->tlb_entries &&
		(p->tlb_entries % p->tlb_ways ||
			!bits_is_power(p->tlb_entries / p->tlb_ways)))
		return err_set(e,
			"nic.tlb.entries: %lld entries are not a power of two "
			"of sets with %lld entries each (nic.tlb.ways)",
			(long long)p->tlb_entries, (long long)p->tlb_ways);
	if (p->page &&
		(p->page >> SWHNI_LEAST_PAGE == 0 || !bits_is_power(p->page)))
		return err_set(e,
			"nic.software.page: pages of %lld bytes; want a power "
			"of two from 4 KiB to 8 MiB",
			(long long)p->page);
	if (p->ahead < most)
		return err_set(e,
			"nic.ahead: %lld bytes are less than a packet "
			"(link.payload)",
			(long long)p->ahead);
	return 0;
}

/* Each engine has its own, since they are called without its number. */
#define ENGINE(n_)                                                             \
	static void fetched_##n_(const struct nic_at *a, uint32_t queue)       \
	{                                                                      \
		sw_engine_fetched(a, n_, queue);                               \
	}                                                                      \
	static void again_##n_(const struct nic_at *a, uint32_t id)            \
	{                                                                      \
		sw_transport_again(a, n_, id);                                 \
	}                                                                      \
	static void late_##n_(const struct nic_at *a, uint32_t id)             \
	{                                                                      \
		sw_transport_late(a, n_, id);                                  \
	}                                                                      \
	static void give_up_##n_(const struct nic_at *a, uint32_t id)          \
	{                                                                      \
		sw_transport_give_up(a, n_, id);                               \
	}

ENGINE(0)
ENGINE(1)

static void set_up_engine(struct swhni *x, uint32_t i)
{
	const struct swhni_params *p = x->nic.params;
	uint32_t first = i * SW_EVENTS;

	x->reads[i] = (struct side_reads_how){ .side = x->side,
		.processor = i % host_processors(x->nic.host),
		.first = SW_READS + first,
		/* a packet's bytes, if the side allows so many reads */
		.whole = x->side->n_reads >= x->most / x->side->most_read
				 ? x->most
				 : 0,
		.is_settled = x->side->ops->least != NULL };
	x->queues[i] = (struct workqs_how){
		.first = SW_QUEUES + first,
		.entry = SW_ENTRY,
		.size = sizeof(struct sw_queue),
		.params = &p->work,
		.fetched = i ? fetched_1 : fetched_0,
	};
	resend_set_up(
		&x->resend[i], &p->retry, x->nic.n_nodes, SW_RESEND + first);
	x->resend[i].stride = SW_ALL_EVENTS - ENGINE_CLIENT;
	x->resend[i].send = i ? again_1 : again_0;
	x->resend[i].on_late = i ? late_1 : late_0;
	x->resend[i].give_up = i ? give_up_1 : give_up_0;
}

static void set_up_unit(struct swhni *x)
{
	const struct swhni_params *p = x->nic.params;

	resend_set_up(&x->unit_resend, &p->retry, x->nic.n_nodes,
		SW_COLLECTIVE + SWC_RESEND);
	x->unit_resend.stride = SW_ALL_EVENTS - ENGINE_CLIENT;
	x->unit_resend.send = swc_again;
	x->unit_resend.on_late = swc_late;
	x->unit_resend.give_up = swc_give_up;
}

/* The chip chooses among ports that have a FIFO of each class; otherwise the
 * router does. */
static void set_up_ports(struct swhni *x)
{
	static const enum net_class classes[] = {
		[SW_DATA] = NET_USER,
		[SW_ANSWERS] = NET_HIGH,
		[SW_SYSTEM] = NET_SYSTEM,
	};

	x->n_ports = SW_PORTS;
	for (uint32_t c = 0; c < SW_LINES; c++) {
		uint32_t n;

		x->fifos[c] = net_fifos(x->nic.net, classes[c]);
		n = x->fifos[c].count;
		if (n && n < x->n_ports)
			x->n_ports = n;
	}
	for (uint32_t i = SW_LINES * SW_PORTS; i--;) {
		const struct net_fifos *f = &x->fifos[i / SW_PORTS];
		uint32_t port = i % SW_PORTS;

		if (f->count && port < x->n_ports)
			x->line_of[f->first + port] = (uint8_t)(i + 1);
	}
}

static int swhni_init(struct nic *nic, struct err *e)
{
	struct swhni *x = (struct swhni *)nic;
	uint32_t most = nic->net->link.max_payload;

	x->side = host_side(nic->host);
	x->most = SWHNI_MESSAGE;
	x->unit = &sw_collective_unit;
	if (!x->side)
		return err_set(e, "side.kind: nic.kind swhni needs a bus "
				  "between chip and memory, such as pcie");
	if (most < SWHNI_MESSAGE) /* a packet holds a queue message */
		return err_set(e,
			"link.payload: nic.kind swhni needs at least %d bytes",
			SWHNI_MESSAGE);
	for (uint32_t i = 0; i < SWHNI_ENGINES; i++)
		set_up_engine(x, i);
	set_up_unit(x);
	set_up_ports(x);
	nic->load_size = sizeof(struct sw_load) + x->most;
	nic->small_load = sizeof(struct sw_load) + SW_FEW;
	if (check_params(nic->params, x->most, e))
		return -1;
	return sw_broker_plan(nic, e);
}

#define ENGINE_MEMBERS(n_)                                                     \
	NIC_MEMBER(side_reads, struct sw_node, engine[n_].reads, 0),           \
		NIC_MEMBER(workqs, struct sw_node, engine[n_].queues, 0),      \
		NIC_MEMBER(tlb, struct sw_node, engine[n_].tlb, 0),            \
		NIC_MEMBER(seen, struct sw_node, engine[n_].seen, 0),          \
		NIC_MEMBER(slots, struct sw_node, engine[n_].entries,          \
			sizeof(struct sw_entry)),                              \
		NIC_MEMBER(slots, struct sw_node, engine[n_].shorts,           \
			sizeof(struct sw_short)),                              \
		NIC_MEMBER(slots, struct sw_node, engine[n_].walks,            \
			sizeof(struct sw_walk)),                               \
		NIC_MEMBER(index, struct sw_node, engine[n_].by_key, 0),       \
		NIC_MEMBER(ring, struct sw_node, engine[n_].fetched,           \
			sizeof(uint32_t)),                                     \
		NIC_MEMBER(ring, struct sw_node, engine[n_].run[0],            \
			sizeof(uint32_t)),                                     \
		NIC_MEMBER(ring, struct sw_node, engine[n_].run[1],            \
			sizeof(uint32_t)),                                     \
		NIC_MEMBER(ring, struct sw_node, engine[n_].run[2],            \
			sizeof(uint32_t)),                                     \
		NIC_MEMBER(ring, struct sw_node, engine[n_].asks,              \
			sizeof(packet_id)),                                    \
		NIC_MEMBER(ring, struct sw_node, engine[n_].waiting,           \
			sizeof(uint32_t)),                                     \
		NIC_MEMBER(ring, struct sw_node, engine[n_].cancels,           \
			sizeof(struct sw_cancel))

static const struct nic_member members[] = {
	ENGINE_MEMBERS(0),
	ENGINE_MEMBERS(1),
	NIC_MEMBER(slots, struct sw_node, handles, sizeof(struct sw_handle)),
	NIC_MEMBER(index, struct sw_node, by_key, 0),
	NIC_MEMBER(slots, struct sw_node, broker.drops, sizeof(struct sw_drop)),
	NIC_MEMBER(index, struct sw_node, broker.by_job, 0),
	{ 0 },
};

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct swhni *x = (const struct swhni *)nic;
	const struct swhni_params *p = nic->params;
	struct sw_node *n = node;

	(void)s;
	for (uint32_t i = 0; i < SWHNI_ENGINES; i++) {
		struct sw_engine *e = &n->engine[i];

		side_reads_init(&e->reads, &x->reads[i], &n->ticks);
		workqs_init(&e->queues, &x->queues[i], &e->reads);
		resend_init(&e->messages, &x->resend[i], &n->ticks,
			sizeof(struct sw_message));
		tlb_init(&e->tlb, (uint32_t)p->tlb_entries,
			(uint32_t)p->tlb_ways);
	}
}

static void node_fini(struct nic *nic, void *node)
{
	const struct swhni *x = (const struct swhni *)nic;
	struct sw_node *n = node;

	for (uint32_t i = 0; i < SWHNI_ENGINES; i++) {
		struct sw_engine *e = &n->engine[i];

		sw_engine_fini(e);
		for (uint32_t k = 1; k <= e->entries.room; k++)
			if (slots_find(&e->entries, k))
				sw_receive_forget(e, k);
	}
	sw_interface_fini(n);
	mem_free(n->avoids);
	sw_manage_fini(n);
	sw_broker_fini(n);
	if (x->unit->fini)
		x->unit->fini(n);
}

static uint64_t node_memory(const void *node)
{
	const struct sw_node *n = node;
	uint64_t sum = sw_broker_memory(n);

	for (uint32_t i = 0; i < SWHNI_ENGINES; i++)
		sum += resend_memory(&n->engine[i].messages);
	for (uint32_t i = 0; i < n->n_interfaces; i++)
		sum += sizeof(n->interface[i]) +
		       (n->interface[i].chip ? SWHNI_CHIP : 0);
	return sum + sw_collective_unit.memory(n);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct sw_node *n = node;
	uint32_t messages = 0, works = 0, n_cut = 0;

	for (uint32_t i = 0; i < SWHNI_ENGINES; i++) {
		const struct sw_engine *x = &n->engine[i];

		messages += x->n_messages + x->shorts.used + x->waiting.n;
		works += x->walks.used + x->asks.n + workqs_is_busy(&x->queues);
		n_cut += x->n_cut + x->ahead;
	}
	works += sw_collective_unit.is_busy(n);
	if (!messages && !works && !n_cut && !n->inside)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: node %u: %u messages, %u packets, and %u reads or "
		"queues are unfinished",
		s, messages, n->inside + n_cut, works);
}

static size_t load_bytes(const struct packet *p)
{
	const struct sw_load *l = payload_of_load(p->load);

	return sizeof(*l) + (l->is_named ? 0 : p->bytes);
}

static bool is_stale(const void *node, uint32_t number, uint32_t data)
{
	const struct sw_node *n = node;
	uint32_t i = (number - ENGINE_CLIENT) / SW_EVENTS;
	uint32_t k = number - i * SW_EVENTS;

	if (i < SWHNI_ENGINES && k >= SW_COLLECTIVE)
		return sw_collective_unit.is_stale(n, k - SW_COLLECTIVE, data);
	return i < SWHNI_ENGINES &&
	       resend_is_stale(&n->engine[i].messages, number, data);
}

const struct nic_ops swhni_ops = {
	.name = "swhni",
	.title = "SWHNI",
	.machine = "sunway",
	.can = NIC_RESENDS | NIC_ATOMICS,
	.has = "any-side processors vms",
	.size = sizeof(struct swhni),
	.node_size = sizeof(struct sw_node),
	PARAMS(params),
	.params_size = sizeof(struct swhni_params),
	.client = &client,
	.counters = counters,
	.init = swhni_init,
	.members = members,
	.node_init = node_init,
	.node_fini = node_fini,
	.node_memory = node_memory,
	.audit_node = audit_node,
	.load_bytes = load_bytes,
	.is_stale = is_stale,
};
