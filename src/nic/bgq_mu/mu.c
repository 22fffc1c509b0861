#include "nic/bgq_mu/units.h"

#include <string.h>

#include "base/mem.h"
#include "base/secded.h"
#include "base/units.h"
#include "parts/trees/trees.h"

_Static_assert(sizeof(struct mu_descriptor) == MU_DESCRIPTOR_BYTES, "packed");

#define AT(field) offsetof(struct mu_params, field)
#define MOST_TIME (PS_PER_S / 1000)
#define SPLIT	  "assumed: share of the end points' 580 ns (BGQ datasheet, M2)"

#define TIME(name_, field_, def_, min_, help_, source_)                        \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, min_, MOST_TIME, help_, \
		source_)

#define RATE(name_, field_, def_, help_, source_)                              \
	PARAM_ROW(PARAM_RATE, name_, AT(field_), def_, 1000000, PS_PER_S,      \
		help_, source_)

static const struct param params[] = {
	TIME("mmio-store", mmio_store, "55 ns", 1,
		"time until a core's store to a register takes effect",
		"BGQ-G35"),
	TIME("mmio-load", mmio_load, "130 ns", 1,
		"round-trip time of a core's load from a register", "BGQ-G35"),
	TIME("slave", slave, "5 ns", 0,
		"time that the slave port is busy with an access",
		"assumed: four cycles of 800 MHz (BGQ-F103)"),
	PARAM_ROW(PARAM_COUNT, "port.count", AT(ports), "3", 1, MU_MAX_PORTS,
		"number of master ports into the crossbar", "BGQ-G16"),
	TIME("port.cycle", port_cycle, "1.25 ns", 1,
		"interval between requests of a master port",
		"BGQ-N25, BGQ-N66"),
	TIME("port.fifo", port_fifo, "2.5 ns", 0,
		"time of a request in the request FIFO, unless it bypasses the "
		"FIFO",
		"assumed: two cycles (BGQ-F99, BGQ-F100)"),
	RATE("port.read-rate", read_rate, "25.6 GB/s",
		"rate at which data returns to a master port", "BGQ-N67"),
	TIME("injection.arbitration", arbitration, "15 ns", 0,
		"time to choose the injection FIFO whose descriptor is fetched "
		"next",
		SPLIT),
	TIME("injection.header", header, "34 ns", 1,
		"time to choose a message for an engine and to build a packet "
		"header",
		"calibrated: BGQ-N90 (35 ns of the datasheet's M2, rounded)"),
	TIME("injection.fifo-write", fifo_write, "20 ns", 0,
		"time to write a packet into a network FIFO, including the "
		"clock crossing",
		SPLIT),
	TIME("reception.pull", pull, "30 ns", 0,
		"time from a packet's tail in the network FIFO to its tail in "
		"the engine, including the clock crossing",
		SPLIT),
	RATE("reception.drain-rate", drain_rate, "3.2 GB/s",
		"rate at which an engine empties its network FIFO", "BGQ-N73"),
	TIME("reception.lookup", lookup, "10 ns", 1,
		"time to look up the base address and to add the offset",
		SPLIT),
	PARAM_ROW(PARAM_COUNT, "reception.buffers", AT(buffers), "4", 1, 255,
		"number of packets that an engine can write to memory at the "
		"same time",
		"assumed: enough for short packets (BGQ-F119)"),
	TIME("software.descriptor", software, "98 ns", 0,
		"time that a core takes to post a descriptor: copy it, "
		"synchronise, and advance the tail",
		"BGQ-N81"),
	TIME("software.poll-period", poll_period, "60 ns", 1,
		"period of a poll loop",
		"assumed: half a period and the load make up the 80 ns of M2"),
	TIME("software.poll-load", poll_load, "50 ns", 0,
		"latency of a poll loop's load from L2",
		"assumed: 82 core cycles (BGQ datasheet, M2)"),
	PARAM_ROW(PARAM_COUNT, "barrier.classes", AT(classes), "16", 1,
		BARRIER_CLASSES,
		"number of classes of barriers and global interrupts",
		"BGQ-N43"),
	PARAM_ROW(PARAM_BYTES, "barrier.packet", AT(barrier_bytes), "16 B", 1,
		512, "length of a barrier packet on a link", "BGQ-G31"),
	TIME("barrier.ends", barrier_ends, "240 ns", 0,
		"time between the registers of a barrier and the network, for "
		"both ends together",
		"calibrated: BGQ-N42 less BGQ-N44 (0.2 us of hardware)"),
};

#define TOLD(what_, key_)                                                      \
	[what_] = {                                                            \
		.key = key_,                                                   \
		.unit = "times",                                               \
		.offset = offsetof(struct mu_node, errors) +                   \
			  (what_) * sizeof(uint64_t),                          \
		.is_error = (uint32_t)(what_) < MU_ERRORS,                     \
	}

/* Interrupts, by enum mu_interrupt, and other counts. */
static const struct nic_counter counters[] = {
	TOLD(MU_ERROR_RANGE, "address outside the permitted ranges"),
	TOLD(MU_ERROR_PERMISSION, "user access to a system resource"),
	TOLD(MU_ERROR_DESCRIPTOR, "invalid descriptor"),
	TOLD(MU_ERROR_OVERRUN, "FIFO overrun by software"),
	TOLD(MU_ERROR_REGISTER, "invalid register access"),
	TOLD(MU_ERROR_FIFO, "packet for a FIFO that does not exist"),
	TOLD(MU_ERROR_BASE, "base address not set"),
	TOLD(MU_ERROR_COUNTER, "counter is not an atomic word"),
	TOLD(MU_ERROR_PACKET, "invalid packet"),
	TOLD(MU_ERROR_MEMORY, "engine stopped by a memory error"),
	TOLD(MU_ERROR_COLLECTIVE, "class route stopped"),
	TOLD(MU_INT_CORRECTED, "memory error corrected"),
	TOLD(MU_INT_INJ_THRESHOLD, "injection FIFO above threshold"),
	TOLD(MU_INT_REC_THRESHOLD, "reception FIFO below threshold"),
	TOLD(MU_INT_ARRIVAL, "packet arrival"),
	TOLD(MU_INT_REC_FULL, "reception FIFO full"),
	TOLD(MU_INT_GET_FULL, "remote-get FIFO full"),
	TOLD(MU_INT_EXCEPTION, "exception in a reduction"),
	TOLD(MU_INT_BARRIER, "global interrupt"),
	{ "messages", "messages", offsetof(struct mu_node, messages_out),
		false },
	{ "rejected", "packets", offsetof(struct mu_node, rejected), false },
	{ "barrier packets", "packets",
		offsetof(struct mu_node, barrier_packets), false },
	{ 0 },
};

/* --- a node's part --- */

/* All of memory is open until software closes ranges; errors are critical,
 * other interrupts are not. */
static void node_init(struct nic *nic, void *node, site_id s)
{
	struct mu_node *n = node;
	uint32_t errors = (1u << MU_ERRORS) - 1;

	ring_init(&n->stores, sizeof(struct mu_store));
	n->range[0] = (struct mu_range){
		.last = host_memory(nic->host) - 1,
		.rights = MU_ALL_RIGHTS,
	};
	mu_registers_open(n);
	n->lfsr = (uint16_t)(0xace1u ^ s * 0x9e37u);
	if (!n->lfsr)
		n->lfsr = 0xace1u;
	n->mask = (1u << MU_INTERRUPTS) - 1;
	n->group[MU_MACHINE_CHECK] =
		1u << MU_ERROR_MEMORY | 1u << MU_ERROR_COLLECTIVE;
	n->group[MU_CRITICAL] = errors & ~n->group[MU_MACHINE_CHECK];
	n->group[MU_NON_CRITICAL] = n->mask & ~errors;
	n->error_address = UINT64_MAX;
}

struct mu_subgroup *mu_subgroup_new(struct mu_node *n, uint64_t id)
{
	struct mu_subgroup *g;

	if (id >= MU_SUBGROUPS)
		return NULL;
	n->subgroup[id] = g = mem_alloc(1, sizeof(*g));
	for (uint32_t i = 0; i < MU_PER_SUBGROUP; i++)
		g->inj[i].level = (uint8_t)mu_level_of(
			(uint32_t)id * MU_PER_SUBGROUP + i, 0);
	return g;
}

struct mu_rec_fifo *mu_rec(struct mu_node *n, uint64_t id)
{
	struct mu_subgroup *g = mu_subgroup(n, id / MU_REC_PER_SUBGROUP);

	return g ? &g->rec[id % MU_REC_PER_SUBGROUP] : NULL;
}

void mu_tell(const struct nic_at *a, enum mu_interrupt what, uint64_t number,
	uint64_t address)
{
	struct mu_node *n = a->node;

	n->errors[what]++;
	n->status |= 1u << what;
	if (what < MU_ERRORS) {
		n->error_address = address;
		n->error_number = number;
	}
	host_poke(a->nic->host, a->w, a->s, a->t);
}

bool mu_pass_flips(const struct nic_at *a, uint32_t engine, uint64_t word)
{
	uint64_t *flips = &mu_here(a)->flips[engine];
	uint64_t data;
	enum secded_state state;

	if (!*flips)
		return true;
	data = word ^ *flips;
	*flips = 0;
	state = secded_decode(&data, secded_encode(word));
	if (state != SECDED_BAD) {
		mu_tell(a, MU_INT_CORRECTED, engine, UINT64_MAX);
		return true;
	}
	mu_tell(a, MU_ERROR_MEMORY, engine, UINT64_MAX);
	return false;
}

/* --- the network's client --- */

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	uint32_t engine = mu_of(&a)->engine_of[fifo];

	mu_here(&a)->crowded &= (uint16_t) ~(1u << engine);
	mu_inject_go_on(&a, engine);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	mu_receive(&a, mu_of(&a)->engine_of[fifo], id, tail);
}

/* A bit was flipped, and the hop has not detected it.  The changes of the
 * checks at the destination are kept in place; a damaged network header passes
 * no check. */
static void on_hurt(struct net_client *me, struct sim_worker *w, packet_id id,
	const struct net_flip *flip)
{
	struct net *net = me->net;
	struct mu_buffer *b = mu_buffer_of(&net->packets[id]);
	uint32_t bit = flip->bit, byte = bit / 8, other = 0x80u >> bit % 8;

	(void)w;
	b->place ^= checks_end(net->link.checks, bit);
	if (byte < MU_NETWORK_BYTES)
		b->place |= UINT64_C(1) << 32;
	else if (byte < MU_HEADER_BYTES)
		b->header.byte[byte] ^= (uint8_t)other;
	else if (byte - MU_HEADER_BYTES < net->packets[id].bytes)
		b->payload[byte - MU_HEADER_BYTES] ^= (uint8_t)other;
}

_Static_assert(ENGINE_CLIENT % MU_NET_FIFOS == 0 && MU_NET_FIFOS == 16,
	"a kind of event is a number's upper bits");

static inline void on_engine(const struct nic_at *a, const struct sim_event *e)
{
	uint32_t number = sim_number(e), data = e->data;
	uint32_t f = number % MU_NET_FIFOS;

	switch (number / MU_NET_FIFOS) {
	case MU_ENGINE_INJECTED / MU_NET_FIFOS:
		mu_inject_on_done(a, f);
		return;
	case MU_ENGINE_PULLED / MU_NET_FIFOS:
		mu_receive_on_pulled(a, f);
		return;
	case MU_ENGINE_WRITTEN / MU_NET_FIFOS:
		mu_receive_on_written(a, f, data);
		return;
	case MU_ENGINE_COUNTED / MU_NET_FIFOS:
		mu_receive_on_counted(a, f, data);
		return;
	case MU_ENGINE_PORT / MU_NET_FIFOS:
		mu_port_on_free(a, f);
		return;
	case MU_ENGINE_BARRIER / MU_NET_FIFOS:
		mu_barrier_on_event(a, e);
		return;
	default:
		if (number == MU_ENGINE_SLAVE)
			mu_registers_on_store(a);
		else
			mu_fetch_on_done(a, number - MU_ENGINE_FETCHED);
	}
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic *nic = me->state;
	struct nic_at a;

	if (sim_phase(&e) != PHASE_ENGINE) {
		host_event(nic->host, w, s, t, &e);
		return;
	}
	/* the node exists, except for barriers */
	a = (struct nic_at){ nic, nic->nodes[s], w, s, 0, t };
	on_engine(&a, &e);
}

/* --- life --- */

static int check(const struct mu *mu, struct err *e)
{
	const struct torus *t = torus_find(mu->nic.net->topo);
	uint32_t payload = mu->nic.net->link.max_payload;

	if (!t || t->n_dims > MU_DIMS)
		return err_set(e,
			"nic.kind: bgq-mu supports tori of at most %d "
			"dimensions",
			MU_DIMS);
	for (uint32_t i = 0; i < t->n_dims; i++)
		if (torus_corner(t, i) + t->dim[i] > 1u << MU_COORD_BITS)
			return err_set(e,
				"nic.kind: bgq-mu supports at most %u nodes in "
				"a dimension, not %u",
				1u << MU_COORD_BITS,
				torus_corner(t, i) + t->dim[i]);
	if (t->nodes > 1)
		return err_set(e,
			"topology.nodes: bgq-mu addresses one node at a "
			"router, "
			"not %lld (want at most 1)",
			(long long)t->nodes);
	if (mu->nic.net->topo->node_ports > 2 * MU_DIMS)
		return err_set(e,
			"topology.links: bgq-mu has engines for %d links of a "
			"node, not %u",
			2 * MU_DIMS, mu->nic.net->topo->node_ports);
	if (mu->params.mmio_load < mu->params.mmio_store)
		return err_set(e, "nic.mmio-load: shorter than nic.mmio-store, "
				  "which is only one direction");
	if (!payload || payload % MU_DESCRIPTOR_BYTES)
		return err_set(e,
			"link.payload: the message unit needs a positive "
			"multiple of %d B, the size of its descriptors, not %u "
			"B",
			MU_DESCRIPTOR_BYTES, payload);
	if (host_params(mu->nic.host)->l2.line < MU_LINE)
		return err_set(e,
			"host.l2.line: the message unit needs lines of at "
			"least %d B",
			MU_LINE);
	return 0;
}

/* Assigns master ports.  Descriptors have the last one, with engines that are
 * seldom busy (BGQ-F110); the ten links' engines share the others. */
static void attach(struct mu *mu)
{
	uint32_t n = (uint32_t)mu->params.ports, last = n - 1, i;
	uint32_t shared = last ? last : 1;

	for (i = 0; i < MU_NET_FIFOS; i++) {
		bool is_rare = i >= 2 * MU_DIMS;

		mu->port_of[MU_ASK_INJECT + i] =
			(uint8_t)(is_rare ? last : i % shared);
		mu->port_of[MU_ASK_WRITE + i] = mu->port_of[MU_ASK_COUNT + i] =
			(uint8_t)(is_rare ? last : (i + 1) % shared);
	}
	mu->port_of[MU_ASK_FETCH] = (uint8_t)last;
}

/* The first engine of a network FIFO serves it, and works for others. */
static void give_fifo(struct mu *mu, uint32_t engine, uint32_t fifo)
{
	uint32_t first = mu->engine_of[fifo];

	if (!(mu->serving >> first & 1) || mu->fifo_of[first] != fifo) {
		mu->serving |= (uint16_t)(1u << engine);
		mu->engine_of[fifo] = (uint8_t)engine;
	}
	mu->fifo_of[engine] = (uint8_t)fifo;
	mu->worker_of[engine] = mu->engine_of[fifo];
}

/* Engines are given FIFOs of their class, of which there may be fewer. */
static void give_fifos(struct mu *mu)
{
	static const struct {
		enum net_class class;
		uint32_t first, n;
	} sets[] = {
		{ NET_USER, MU_NET_USER, 2 * MU_DIMS },
		{ NET_HIGH, MU_NET_HIGH, 1 },
		{ NET_LOCAL, MU_NET_LOCAL, 2 },
		{ NET_SYSTEM, MU_NET_SYSTEM, 1 },
	};

	/* collectives' are the tree's */
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		mu->fifo_of[i] = mu->engine_of[i] = (uint8_t)i;
	for (uint32_t k = 0; k < N_NET_CLASSES; k++) {
		struct net_fifos f = net_fifos(mu->nic.net, sets[k].class);

		BUG_IF(f.first + f.most > MU_NET_FIFOS);
		for (uint32_t i = 0; i < sets[k].n; i++)
			give_fifo(mu, sets[k].first + i, f.first + i % f.most);
	}
}

static int mu_init(struct nic *nic, struct err *e)
{
	struct mu *mu = (struct mu *)nic;
	const struct net *net = nic->net;

	mu->params = *mu_params_of(nic);
	if (check(mu, e))
		return -1;
	mu->packets = net->packets;
	mu->torus = torus_of(net->topo);
	mu->n_dims = mu->torus->n_dims;
	mu->payload = net->link.max_payload;
	if (mu->payload > MU_PAYLOAD)
		mu->payload = MU_PAYLOAD;
	mu->side = host_cache(nic->host);
	mu->ports = *mu->side->ops->ports;
	mu->ports.set(mu->side,
		&(struct side_port_how){ .cycle = mu->params.port_cycle,
			.fifo = mu->params.port_fifo,
			.read_rate = mu->params.read_rate });
	for (uint32_t i = 0; i < MU_DRAINS; i++)
		mu->drain[i] = units_time(i * MU_CHUNK, mu->params.drain_rate);
	attach(mu);
	give_fifos(mu);
	mu_header_init(mu);
	mu->trees = part_params(host_parts(nic->host), &part_trees);
	topo_grid_of(net->topo, &mu->grid);
	if (mu->trees && torus_is_plain(mu->torus))
		mu->tree = tree_new(nic->net, mu->trees, MU_NET_COLLECTIVE);
	mu_barrier_init(mu);
	nic->load_size = sizeof(struct mu_buffer) + mu->payload + MU_CHUNK;
	return 0;
}

static void subgroup_free(struct mu_subgroup *g)
{
	for (uint32_t i = 0; g && i < MU_PER_SUBGROUP; i++)
		mem_free(g->inj[i].gets);
	mem_free(g);
}

static void node_fini(struct nic *nic, void *node)
{
	struct mu_node *n = node;

	(void)nic;
	for (uint32_t i = 0; i < MU_SUBGROUPS; i++)
		subgroup_free(n->subgroup[i]);
	mem_free(n->flips);
	mem_free(n->sent);
	mem_free(n->timeout);
	mu_barrier_free(n);
	mu_account_free(n);
	ring_fini(&n->stores);
}

/* --- audit --- */

static int left(struct err *e, site_id s, const char *what, uint32_t number)
{
	return err_set_code(
		e, EXIT_INTERNAL, "audit: node %u: %s %u", s, what, number);
}

static int audit_engines(const struct mu_node *n, site_id s, struct err *e)
{
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++) {
		const struct mu_rme *r = &n->rme[i];

		if (n->broken >> i & 1)
			return left(e, s, "stopped: injection engine", i);
		if (n->busy >> i & 1)
			return left(e, s, "at work: injection engine", i);
		if (n->rme_broken >> i & 1)
			return left(e, s, "stopped: reception engine", i);
		if (n->rme_held >> i & 1 && r->held_for < MU_REC_FIFOS)
			return left(e, s, "a packet waits for reception FIFO",
				r->held_for);
		if (n->rme_held >> i & 1)
			return left(e, s, "a packet waits for injection FIFO",
				r->held_for - MU_REC_FIFOS);
		if (r->in.first || r->n_inside || r->counts.first)
			return left(e, s, "at work: reception engine", i);
	}
	for (uint32_t i = 0; i < MU_MAX_PORTS; i++)
		if (n->port[i].asking)
			return left(e, s, "requests for master port", i);
	return 0;
}

static bool is_unfinished(const struct mu_order *o)
{
	return o && window_span(&o->window);
}

static int audit_fifos(const struct mu_node *n, site_id s, struct err *e)
{
	for (uint32_t i = 0; i < MU_INJ_FIFOS; i++) {
		const struct mu_subgroup *g = n->subgroup[i / MU_PER_SUBGROUP];
		const struct mu_inj_fifo *f =
			g ? &g->inj[i % MU_PER_SUBGROUP] : NULL;

		if (!f)
			continue;
		if (f->state != MU_INJ_IDLE && f->state != MU_INJ_HALTED)
			return left(e, s, "not sent: of injection FIFO", i);
		if (is_unfinished(f->gets))
			return left(e, s, "not stored: in injection FIFO", i);
	}
	for (uint32_t i = 0; i < MU_REC_FIFOS; i++) {
		const struct mu_subgroup *g =
			n->subgroup[i / MU_REC_PER_SUBGROUP];

		if (g && is_unfinished(&g->rec[i % MU_REC_PER_SUBGROUP].order))
			return left(e, s, "not stored: in reception FIFO", i);
	}
	return 0;
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct mu_node *n = node;

	if (n->stores.n)
		return left(e, s, "stores under way:", n->stores.n);
	if (audit_engines(n, s, e))
		return -1;
	return audit_fifos(n, s, e);
}

static uint64_t subgroup_memory(const struct mu_subgroup *g)
{
	uint64_t sum = sizeof(*g);

	for (uint32_t i = 0; i < MU_PER_SUBGROUP; i++)
		sum += g->inj[i].gets ? sizeof(*g->inj[i].gets) : 0;
	return sum;
}

static uint64_t node_memory(const void *node)
{
	const struct mu_node *n = node;
	uint64_t sum = ring_memory(&n->stores);

	sum += n->flips ? MU_FLIPS * sizeof(*n->flips) : 0;
	sum += n->sent ? MU_SENT * sizeof(*n->sent) : 0;
	sum += n->timeout ? MU_TIMEOUTS * sizeof(*n->timeout) : 0;
	sum += mu_barrier_memory(n);
	for (uint32_t i = 0; i < MU_SUBGROUPS; i++)
		sum += n->subgroup[i] ? subgroup_memory(n->subgroup[i]) : 0;
	return sum;
}

static size_t load_bytes(const struct packet *p)
{
	return sizeof(struct mu_buffer) +
	       (p->bytes + MU_CHUNK - 1u) / MU_CHUNK * MU_CHUNK;
}

static const struct net_client_faults faults = {
	.on_hurt = on_hurt,
};

static const struct net_client_combine combine = {
	.on_copy = nic_on_copy,
	.on_absorbed = nic_on_lost,
	.combine = mu_collective_combine,
	.on_stopped = mu_collective_stopped,
};

static const struct net_client_look look = {
	.describe = mu_collective_describe,
	.header = mu_header_on_link,
};

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.faults = &faults,
	.combine = &combine,
	.carry = &nic_carry,
	.look = &look,
};

const struct nic_ops bgq_mu_ops = {
	.has = "l2 symbol-codes class-routes checked-memories clocks",
	.name = "bgq-mu",
	.title = "message unit",
	.machine = "bgq-board",
	.can = NIC_ATOMICS,
	.most_memory = MU_ATOMIC, /* addresses above it are operations */
	.size = sizeof(struct mu),
	.node_size = sizeof(struct mu_node),
	PARAMS(params),
	.params_size = sizeof(struct mu_params),
	.client = &client,
	.counters = counters,
	.follows = mu_clocks,
	.init = mu_init,
	.node_init = node_init,
	.node_fini = node_fini,
	.node_memory = node_memory,
	.audit_node = audit_node,
	.describe_stall = mu_barrier_describe,
	.load_bytes = load_bytes,
	.how_waits = "holds packets for full FIFOs in memory: programs must "
		     "empty reception FIFOs, and have no more remote gets in "
		     "flight than injection FIFOs hold",
};
