#include "nic/bgq_mu/mu.h"

#include "base/mem.h"
#include "base/wide.h"
#include "topo/torus.h"

#define AT(field) offsetof(struct mu_params, field)
#define PS_PER_S  INT64_C(1000000000000)
#define MOST_TIME (PS_PER_S / 1000)
#define SPLIT	  "assumed: share of the end points' 581 ns (BGQ datasheet, M2)"

#define TIME(name_, field_, def_, min_, help_, source_)                        \
	{                                                                      \
		.name = name_, .type = PARAM_TIME, .offset = AT(field_),       \
		.def = def_, .min = min_, .max = MOST_TIME, .help = help_,     \
		.source = source_                                              \
	}

#define RATE(name_, field_, def_, help_, source_)                              \
	{                                                                      \
		.name = name_, .type = PARAM_RATE, .offset = AT(field_),       \
		.def = def_, .min = 1000000, .max = PS_PER_S, .help = help_,   \
		.source = source_                                              \
	}

static const struct param params[] = {
	{ .name = "kind",
		.type = PARAM_WORD,
		.offset = AT(kind),
		.def = "bgq-mu",
		.words = "bgq-mu",
		.help = "which network interface" },
	TIME("mmio-store", mmio_store, "55 ns", 1,
		"a core's store to a register, until it takes effect",
		"BGQ-G35"),
	TIME("mmio-load", mmio_load, "130 ns", 1,
		"a core's load of a register, there and back", "BGQ-G35"),
	TIME("injection.arbitration", arbitration, "15 ns", 0,
		"choosing an injection FIFO whose descriptor is fetched",
		SPLIT),
	TIME("injection.descriptor-read", descriptor_read, "80 ns", 1,
		"reading a descriptor from L2", "BGQ-G33"),
	TIME("injection.header", header, "35 ns", 0,
		"choosing a message for an engine, building a header", SPLIT),
	TIME("injection.payload-read", payload_read, "80 ns", 1,
		"reading the first 128 bytes of a packet from L2", "BGQ-G33"),
	RATE("injection.read-rate", read_rate, "25.6 GB/s",
		"rate at which more of them follow", "BGQ-N67"),
	TIME("injection.fifo-write", fifo_write, "20 ns", 0,
		"writing a network FIFO, with the change of clocks", SPLIT),
	TIME("reception.pull", pull, "30 ns", 0,
		"from a packet's tail in the network FIFO to its end in the "
		"engine, with the change of clocks",
		SPLIT),
	RATE("reception.drain-rate", drain_rate, "3.2 GB/s",
		"rate at which an engine empties its network FIFO", "BGQ-N73"),
	TIME("reception.lookup", lookup, "10 ns", 0,
		"looking up the base address and adding the offset", SPLIT),
	TIME("reception.payload-write", payload_write, "70 ns", 1,
		"writing a packet's payload to L2", "BGQ-G33"),
	TIME("reception.counter", counter, "70 ns", 1,
		"changing a counter by an L2 atomic, after the payload",
		"BGQ-G33"),
	TIME("software.descriptor", software, "98 ns", 0,
		"a core's work for a descriptor: to copy it, to synchronise, "
		"to advance the tail",
		"BGQ-N81"),
	TIME("software.poll-period", poll_period, "60 ns", 1,
		"from one look of a poll loop to the next",
		"assumed: half of it and the load are the 80 ns of M2"),
	TIME("software.poll-load", poll_load, "50 ns", 0,
		"until a look at L2 has come back to the core",
		"assumed: 82 core cycles (BGQ datasheet, M2)"),
};

sim_time mu_time(uint64_t bytes, int64_t rate)
{
	int128 ps = (int128)bytes * PS_PER_S;

	return (sim_time)((ps + rate - 1) / rate);
}

/* --- a node's part --- */

struct mu_node *mu_node(struct mu *mu, site_id s)
{
	if (!mu->nodes[s])
		mu->nodes[s] = mem_alloc(1, sizeof(struct mu_node));
	return mu->nodes[s];
}

static struct mu_subgroup *subgroup(struct mu_node *n, uint64_t id)
{
	if (id >= MU_SUBGROUPS)
		return NULL;
	if (!n->subgroup[id])
		n->subgroup[id] = mem_alloc(1, sizeof(struct mu_subgroup));
	return n->subgroup[id];
}

struct mu_inj_fifo *mu_inj(struct mu_node *n, uint64_t id)
{
	struct mu_subgroup *g = subgroup(n, id / MU_PER_SUBGROUP);

	return g ? &g->inj[id % MU_PER_SUBGROUP] : NULL;
}

/* --- registers --- */

static uint64_t free_descriptors(const struct mu_inj_fifo *f)
{
	uint64_t used = f->tail >= f->head ? f->tail - f->head
					   : f->size - (f->head - f->tail);

	/* One place stays free, or full would look like empty. */
	return f->size ? (f->size - used) / MU_DESCRIPTOR_BYTES - 1 : 0;
}

static uint64_t load_inj(const struct mu_inj_fifo *f, uint32_t kind)
{
	switch (kind) {
	case MU_INJ_START:
		return f->start;
	case MU_INJ_SIZE:
		return f->size;
	case MU_INJ_HEAD:
		return f->head;
	case MU_INJ_TAIL:
		return f->tail;
	case MU_INJ_FREE:
		return free_descriptors(f);
	case MU_INJ_COUNT:
		return f->count;
	default:
		return f->is_enabled;
	}
}

static uint64_t mu_load(struct nic *nic, site_id s, uint32_t reg)
{
	struct mu_node *n = mu_node((struct mu *)nic, s);
	uint32_t kind = reg >> 16, id = reg & 0xffff;
	struct mu_subgroup *g;

	if (kind == MU_REFUSED)
		return n->refused;
	if (kind <= MU_INJ_ENABLE)
		return mu_inj(n, id) ? load_inj(mu_inj(n, id), kind) : 0;
	g = subgroup(n, kind == MU_BASE ? id / MU_PER_SUBGROUP : id);
	if (!g)
		return 0;
	return kind == MU_BASE	       ? g->base[id % MU_PER_SUBGROUP]
	       : kind == MU_INJ_OWNED  ? g->inj_owned
	       : kind == MU_BASE_OWNED ? g->base_owned
				       : 0;
}

static bool is_in_fifo(const struct mu_inj_fifo *f, uint64_t at)
{
	return at % MU_DESCRIPTOR_BYTES == 0 && at >= f->start &&
	       at - f->start < f->size;
}

/* False where the unit refuses it. */
static bool store_inj(struct mu_inj_fifo *f, uint32_t kind, uint64_t value)
{
	switch (kind) {
	case MU_INJ_START:
	case MU_INJ_SIZE:
		if (f->is_enabled || value % MU_DESCRIPTOR_BYTES)
			return false;
		f->start = kind == MU_INJ_START ? value : f->start;
		f->size = kind == MU_INJ_SIZE ? value : f->size;
		f->head = f->tail = f->start;
		return true;
	case MU_INJ_TAIL:
		if (!is_in_fifo(f, value))
			return false;
		f->tail = value;
		return true;
	case MU_INJ_ENABLE:
		if (f->size < 2 * MU_DESCRIPTOR_BYTES)
			return false;
		f->is_enabled = value & 1;
		return true;
	default:
		return false;
	}
}

static bool store_other(
	struct mu_node *n, uint32_t kind, uint32_t id, uint64_t value)
{
	struct mu_subgroup *g =
		subgroup(n, kind == MU_BASE ? id / MU_PER_SUBGROUP : id);

	if (!g)
		return false;
	if (kind == MU_BASE) {
		g->base[id % MU_PER_SUBGROUP] = value;
		g->base_set |= (uint8_t)(1u << id % MU_PER_SUBGROUP);
	} else if (kind == MU_INJ_OWNED) {
		g->inj_owned = (uint8_t)value;
	} else if (kind == MU_BASE_OWNED) {
		g->base_owned = (uint8_t)value;
	} else {
		return false;
	}
	return true;
}

/* --- the slave port: one access after the other --- */

static void mu_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint32_t reg, uint64_t value)
{
	struct mu *mu = (struct mu *)nic;
	struct mu_node *n = mu_node(mu, s);
	uint32_t room = n->stores_room, i;

	if (n->stores_n == room) {
		n->stores_room = room ? 2 * room : 8;
		n->stores =
			mem_grow(n->stores, n->stores_room, sizeof(*n->stores));
		/* what had wrapped round follows the rest again */
		for (i = 0; i < n->stores_first; i++)
			n->stores[room + i] = n->stores[i];
	}
	i = (n->stores_first + n->stores_n++) % n->stores_room;
	n->stores[i] = (struct mu_store){ .value = value, .reg = reg };
	sim_post_self(w, s, t + mu->params.mmio_store,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_SLAVE), 0, 0);
}

static void on_store(struct mu *mu, struct sim_worker *w, site_id s, sim_time t)
{
	struct mu_node *n = mu_node(mu, s);
	struct mu_store x = n->stores[n->stores_first];
	uint32_t kind = x.reg >> 16, id = x.reg & 0xffff;
	bool is_done;

	n->stores_first = (n->stores_first + 1) % n->stores_room;
	n->stores_n--;
	if (kind > MU_INJ_ENABLE)
		is_done = store_other(n, kind, id, x.value);
	else
		is_done = mu_inj(n, id) &&
			  store_inj(mu_inj(n, id), kind, x.value);
	if (!is_done)
		n->refused++;
	else if (kind == MU_INJ_TAIL || kind == MU_INJ_ENABLE)
		mu_inject_fetch(mu, n, w, s, t, id);
}

/* --- the network's client --- */

static void on_room(struct net *net, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	mu_inject_on_room(net->client_state, w, s, t, fifo);
}

static void on_packet(struct net *net, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	(void)t;
	mu_receive(net->client_state, w, s, fifo, id, tail);
}

static void on_event(struct net *net, struct sim_worker *w, site_id s,
	sim_time t, const struct sim_event *e)
{
	struct mu *mu = net->client_state;
	uint32_t number = sim_number(e), f = (number - ENGINE_CLIENT) % N_FIFOS;

	if (sim_phase(e) == PHASE_PROGRAM)
		host_event(mu->nic.host, w, s, t, e);
	else if (number >= MU_ENGINE_FETCHED)
		mu_inject_on_fetched(mu, w, s, t, number - MU_ENGINE_FETCHED);
	else if (number == MU_ENGINE_SLAVE)
		on_store(mu, w, s, t);
	else if (number >= MU_ENGINE_COUNTED)
		mu_receive_on_counted(mu, w, s, t, e->data);
	else if (number >= MU_ENGINE_WRITTEN)
		mu_receive_on_written(mu, w, s, t, f, e->data);
	else if (number >= MU_ENGINE_PULLED)
		mu_receive_on_pulled(mu, w, s, t, f, e->data);
	else
		mu_inject_on_done(mu, w, s, t, f);
}

/* --- life --- */

static int check(const struct mu *mu, struct err *e)
{
	const struct topo *topo = mu->nic.net->topo;
	const struct torus *t = torus_of(topo);
	uint32_t i;

	if (topo->ops != &torus_ops || t->n_dims > MU_DIMS)
		return err_set(e,
			"nic.kind: bgq-mu addresses a torus of at most %d "
			"dimensions",
			MU_DIMS);
	for (i = 0; i < t->n_dims; i++)
		if (t->dim[i] > 1u << MU_COORD_BITS)
			return err_set(e,
				"nic.kind: bgq-mu addresses at most %u nodes "
				"in a dimension, not %u",
				1u << MU_COORD_BITS, t->dim[i]);
	if (mu->params.mmio_load < mu->params.mmio_store)
		return err_set(e,
			"nic.mmio-load: shorter than mmio-store, the way "
			"there");
	return 0;
}

static int mu_init(struct nic *nic, struct err *e)
{
	struct mu *mu = (struct mu *)nic;
	const struct net *net = nic->net;

	mu->params = *mu_params_of(nic);
	if (check(mu, e))
		return -1;
	mu->torus = torus_of(net->topo);
	mu->n_dims = mu->torus->n_dims;
	mu->payload = net->link.max_payload;
	if (!mu->payload || mu->payload > MU_PAYLOAD)
		mu->payload = MU_PAYLOAD;
	mu->nodes = map_alloc(net->n_sites * sizeof(struct mu_node *));
	mu->payloads = payload_pool_new(net->n_workers,
		sizeof(struct mu_buffer) + mu->payload + MU_CHUNK);
	return 0;
}

static void node_free(struct mu_node *n)
{
	uint32_t i;

	if (!n)
		return;
	for (i = 0; i < MU_SUBGROUPS; i++)
		mem_free(n->subgroup[i]);
	mem_free(n->stores);
	mem_free(n);
}

static void mu_fini(struct nic *nic)
{
	struct mu *mu = (struct mu *)nic;
	site_id i, n = nic->net->n_sites;

	for (i = 0; i < n; i++)
		node_free(mu->nodes[i]);
	map_free(mu->nodes, n * sizeof(struct mu_node *));
	payload_pool_free(mu->payloads);
}

static int mu_audit(struct nic *nic, struct err *e)
{
	struct mu *mu = (struct mu *)nic;
	uint64_t used = payload_pool_used(mu->payloads);
	site_id i;

	if (used)
		return err_set_code(e, EXIT_INTERNAL,
			"audit: %llu packets' bytes are still under way",
			(unsigned long long)used);
	for (i = 0; i < nic->net->n_sites; i++) {
		const struct mu_node *n = mu->nodes[i];

		if (n && (n->busy || n->stores_n))
			return err_set_code(e, EXIT_INTERNAL,
				"audit: node %u: the message unit is at work",
				i);
	}
	return 0;
}

static uint64_t node_memory(const struct mu_node *n)
{
	uint64_t sum = sizeof(*n) + n->stores_room * sizeof(*n->stores);
	uint32_t i;

	for (i = 0; i < MU_SUBGROUPS; i++)
		sum += n->subgroup[i] ? sizeof(*n->subgroup[i]) : 0;
	return sum;
}

static uint64_t mu_memory(const struct nic *nic)
{
	const struct mu *mu = (const struct mu *)nic;
	uint64_t sum = payload_pool_memory(mu->payloads);
	site_id i;

	for (i = 0; i < nic->net->n_sites; i++)
		sum += sizeof(mu->nodes[i]) +
		       (mu->nodes[i] ? node_memory(mu->nodes[i]) : 0);
	return sum;
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
};

const struct nic_ops bgq_mu_ops = {
	.name = "bgq-mu",
	.size = sizeof(struct mu),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.params_size = sizeof(struct mu_params),
	.client = &client,
	.init = mu_init,
	.fini = mu_fini,
	.store = mu_store,
	.load = mu_load,
	.audit = mu_audit,
	.memory = mu_memory,
};
