/*
 * Nearest-neighbour exchange: in each round every node puts the same number
 * of bytes to the node at the other end of each of its links, over that very
 * link, and receives as many.
 *
 * The serial driver is the paper's (BGQ datasheet, M3): an injection FIFO and
 * a descriptor per link, then it waits until all reception counters are
 * zero, and begins anew.  The pipelined one has several rounds under way,
 * with as many buffers to receive into.
 *
 * A round's counters are those of round % (2 * depth): a neighbour sends
 * round k when it has seen the end of k - depth, for which it needed what
 * this node sent when it had seen the end of k - 2 * depth, and had set the
 * counters for k.  So none is used before it is set.
 *
 * All bytes are synthetic: each is compared when it arrives, and at the end
 * each must have come once in every round.
 */
#include "load/exchange.h"

#include <inttypes.h>

#include "base/mem.h"
#include "load/programs.h"
#include "topo/torus.h"

#define AT(field) offsetof(struct exchange, field)
#define MIB	  (UINT64_C(1) << 20)
#define GIB	  (UINT64_C(1) << 30)

/* Addresses, the same on every node. */
#define COUNTERS_AT UINT64_C(0x1000)
#define FIFO_AT	    UINT64_C(0x10000)
#define SOURCE_AT   (1 * GIB)

enum {
	LINKS = 2 * MU_DIMS,
	FIFO_BYTES = 16 << 10, /* 255 descriptors */
	LINE = 128, /* a counter has one for itself */
	MOST_DEPTH = 4,
};

struct exchange;

/* A node's program. */
struct exchanger {
	struct exchange *x;
	site_id node;
	uint32_t n_links;
	/* of each link: the port, the other end and its number there */
	uint8_t port[LINKS], index[LINKS];
	site_id peer[LINKS];
	int source, target[MOST_DEPTH]; /* synthetic regions */
	sim_time end; /* it has seen the last round's */
};

struct exchange {
	struct programs programs;
	/* keys */
	int64_t bytes, driver, rounds, resync, depth, idle;

	uint32_t n_depth; /* rounds under way */
	uint64_t n_links; /* of all nodes, each direction by itself */
	struct exchanger *nodes;
};

static const struct param params[] = {
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "1 MiB",
		.min = 1,
		.max = 256 << 20,
		.help = "what goes over each link in each round" },
	{ .name = "driver",
		.type = PARAM_WORD,
		.offset = AT(driver),
		.def = "serial",
		.words = "serial|pipelined",
		.help = "serial: the paper's, one round after the other; "
			"pipelined: several at a time" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "4",
		.min = 1,
		.max = 1000000000,
		.help = "how often" },
	{ .name = "resync",
		.type = PARAM_TIME,
		.offset = AT(resync),
		.def = "800 ns",
		.min = 0,
		.max = INT64_C(1000000000000),
		.help = "software's time between two rounds of the serial "
			"driver",
		.source = "calibrated: BGQ-N103" },
	{ .name = "depth",
		.type = PARAM_COUNT,
		.offset = AT(depth),
		.def = "2",
		.min = 1,
		.max = MOST_DEPTH,
		.help = "rounds that the pipelined driver has under way" },
	{ .name = "idle",
		.type = PARAM_TIME,
		.offset = AT(idle),
		.def = "0 ns",
		.min = 0,
		.max = INT64_C(1000000000000),
		.help = "how long programs wait after the last round" },
};

static struct exchange *of(struct load *l)
{
	return (struct exchange *)l;
}

/* --- bytes --- */

/* Buffers of one node's links lie side by side. */
static uint64_t link_at(const struct exchange *x, uint32_t link)
{
	return link * (uint64_t)x->bytes;
}

static uint64_t target_at(const struct exchange *x, uint32_t buffer)
{
	return SOURCE_AT + (buffer + 1) * link_at(x, LINKS);
}

static uint64_t counter_at(uint32_t set, uint32_t link)
{
	return COUNTERS_AT + (uint64_t)(set * LINKS + link) * LINE;
}

/* What a node sends over a link of its own. */
static void fill_by(const struct exchange *x, site_id node, uint32_t link,
	uint64_t at, uint8_t *out, size_t n)
{
	memory_fill_by(x->programs.load.seed, (uint64_t)node * LINKS + link, at,
		out, n);
}

/* The link that an offset belongs to; *at and *n become that link's. */
static uint32_t split(const struct exchange *x, uint64_t *at, size_t *n)
{
	uint64_t bytes = (uint64_t)x->bytes, link = *at / bytes;

	*at %= bytes;
	*n = *n < bytes - *at ? *n : (size_t)(bytes - *at);
	return (uint32_t)link;
}

static void fill(
	void *arg, uint64_t offset, uint8_t *out, size_t n, bool is_source)
{
	const struct exchanger *m = arg;

	while (n) {
		uint64_t at = offset;
		size_t k = n;
		uint32_t i = split(m->x, &at, &k);

		fill_by(m->x, is_source ? m->node : m->peer[i],
			is_source ? i : m->index[i], at, out, k);
		offset += k;
		out += k;
		n -= k;
	}
}

static void fill_source(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	fill(arg, offset, out, n, true);
}

static void fill_target(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	fill(arg, offset, out, n, false);
}

static void check_region(
	struct exchange *x, struct exchanger *m, int region, uint64_t times)
{
	const struct memory_region *r =
		host_synthetic(x->programs.load.host, m->node, region);

	if (r->wrong)
		programs_complain(&x->programs,
			"%" PRIu64 " wrong bytes, the first one at %" PRIu64
			" of all that were received",
			r->wrong, r->first_wrong);
	else if (!memory_region_is_whole(r, times))
		programs_complain(&x->programs,
			"%" PRIu64 " bytes were written, and not each %" PRIu64
			" times",
			r->written, times);
}

/* --- the program --- */

static bool add_regions(struct exchange *x, struct exchanger *m)
{
	uint64_t bytes = link_at(x, m->n_links);
	uint32_t i;

	m->source = host_add_synthetic(x->programs.load.host, m->node,
		SOURCE_AT, bytes, fill_source, m);
	if (m->source < 0)
		return programs_complain(&x->programs, "no source region");
	for (i = 0; i < x->n_depth; i++) {
		m->target[i] = host_add_synthetic(x->programs.load.host,
			m->node, target_at(x, i), bytes, fill_target, m);
		if (m->target[i] < 0)
			return programs_complain(
				&x->programs, "no target region");
	}
	return true;
}

/* A hint bit and a FIFO, both of one port; the header's order is A-, A+. */
static void take_link(MUSPI_Pt2PtDirectPutDescriptorInfo_t *i, uint32_t port)
{
	uint32_t hint = 0x200u >> (port ^ 1);

	i->Base.Torus_FIFO_Map = (uint64_t)MU_MAP_A_MINUS >> (port ^ 1);
	i->Pt2Pt.Hints_ABCD = (uint8_t)(hint >> 2);
	i->Pt2Pt.Misc1 |= (uint8_t)((hint & 3) << 6);
}

/* The put over a link that belongs to a round. */
static bool build(struct exchange *x, const struct exchanger *m, uint32_t link,
	uint64_t round, MUHWI_Descriptor_t *desc)
{
	uint64_t target = target_at(x, (uint32_t)(round % x->n_depth)) +
			  link_at(x, m->index[link]);
	uint64_t counter = counter_at(
		(uint32_t)(round % (2 * x->n_depth)), m->index[link]);
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address = SOURCE_AT + link_at(x, link),
			.Message_Length = (uint64_t)x->bytes,
			.Dest = spi_destination(m->peer[link]) },
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       PROGRAMS_BASE_PAYLOAD,
			.Rec_Payload_Offset = target - SOURCE_AT,
			.Rec_Counter_Base_Address_Id = PROGRAMS_BASE_COUNTER,
			.Rec_Counter_Offset = counter - COUNTERS_AT },
	};

	programs_route(&i, 0);
	take_link(&i, m->port[link]);
	return programs_did(&x->programs,
		"MUSPI_CreatePt2PtDirectPutDescriptor",
		MUSPI_CreatePt2PtDirectPutDescriptor(desc, &i));
}

static bool send_round(struct exchange *x, const struct exchanger *m,
	struct programs_fifos *fifos, uint64_t round)
{
	MUHWI_Descriptor_t desc;
	uint32_t i;

	for (i = 0; i < m->n_links; i++) {
		if (!build(x, m, i, round, &desc))
			return false;
		programs_inject(programs_fifo(fifos, i), &desc);
	}
	return true;
}

static bool end_round(
	struct exchange *x, const struct exchanger *m, uint64_t round)
{
	uint32_t set = (uint32_t)(round % (2 * x->n_depth)), i;

	for (i = 0; i < m->n_links; i++)
		if (!spi_poll(counter_at(set, i), 0))
			return false;
	for (i = 0; i < m->n_links; i++)
		programs_arm(counter_at(set, i), (uint64_t)x->bytes);
	return true;
}

static bool prepare(
	struct exchange *x, struct exchanger *m, struct programs_fifos *fifos)
{
	uint32_t set, i;

	for (set = 0; set < 2 * x->n_depth; set++)
		for (i = 0; i < m->n_links; i++)
			programs_arm(counter_at(set, i), (uint64_t)x->bytes);
	return add_regions(x, m) &&
	       programs_open_fifos(&x->programs, fifos, 0, m->n_links, FIFO_AT,
		       FIFO_BYTES) &&
	       programs_open_bases(&x->programs, SOURCE_AT, COUNTERS_AT);
}

static void exchange_program(void *arg)
{
	struct exchanger *m = arg;
	struct exchange *x = m->x;
	uint64_t rounds = (uint64_t)x->rounds, sent = 0, done;
	struct programs_fifos fifos;
	uint32_t i;

	if (!prepare(x, m, &fifos))
		return;
	program_wait(PROGRAMS_START);
	for (done = 0; done < rounds; done++) {
		for (; sent < rounds && sent < done + x->n_depth; sent++)
			if (!send_round(x, m, &fifos, sent))
				return;
		if (!end_round(x, m, done))
			return;
		if (!x->driver)
			program_charge(x->resync);
	}
	m->end = program_now();
	for (i = 0; i < x->n_depth; i++)
		check_region(x, m, m->target[i],
			(rounds + x->n_depth - 1 - i) / x->n_depth);
	program_charge(x->idle);
}

/* --- the course of a run --- */

static int exchange_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct exchange *x = of(l);
	uint64_t bytes = (uint64_t)x->bytes, n = 0;
	router_id i;
	port_id p;

	(void)r;
	if (t->ops != &torus_ops || t->n_ports > LINKS)
		return err_set(e,
			"neighbour: wants a torus of at most %d "
			"dimensions",
			MU_DIMS);
	for (i = 0; i < t->n_nodes; i++)
		for (p = 0; p < t->n_ports; p++)
			n += t->ops->peer(t, i, p).router != NO_ROUTER;
	if (!n)
		return err_set(e, "neighbour: no node of this machine has a "
				  "neighbour");
	x->n_links = n;
	x->n_depth = x->driver ? (uint32_t)x->depth : 1;
	if (link->payload)
		x->programs.expected = n * (uint64_t)x->rounds *
				       ((bytes + (uint64_t)link->payload - 1) /
					       (uint64_t)link->payload);
	l->needs.n_programs = t->n_nodes;
	return programs_need(&x->programs, target_at(x, x->n_depth), e);
}

/* Of a router's ports, how many before this one have a link. */
static uint8_t index_of(const struct topo *t, router_id r, port_id port)
{
	uint8_t n = 0;
	port_id p;

	for (p = 0; p < port; p++)
		n = (uint8_t)(n + (t->ops->peer(t, r, p).router != NO_ROUTER));
	return n;
}

static void find_links(struct exchanger *m, const struct topo *t)
{
	port_id p;

	for (p = 0; p < t->n_ports; p++) {
		struct topo_end to = t->ops->peer(t, m->node, p);

		if (to.router == NO_ROUTER)
			continue;
		m->port[m->n_links] = (uint8_t)p;
		m->peer[m->n_links] = to.router;
		m->index[m->n_links++] = index_of(t, to.router, to.port);
	}
}

static void exchange_start(struct load *l)
{
	struct exchange *x = of(l);
	site_id s;

	programs_open(&x->programs);
	x->nodes = mem_alloc(l->net->n_nodes, sizeof(*x->nodes));
	for (s = 0; s < l->net->n_nodes; s++) {
		struct exchanger *m = &x->nodes[s];

		m->x = x;
		m->node = s;
		find_links(m, l->net->topo);
		if (m->n_links)
			program_start(x->programs.load.host, s, 0, 0,
				exchange_program, m);
	}
}

/* As the paper counts: what a node sends and what it receives. */
static void exchange_report(struct load *l, struct load_result *r)
{
	struct exchange *x = of(l);
	uint64_t sent = x->n_links * (uint64_t)x->bytes * (uint64_t)x->rounds;
	sim_time end = 0, dt;
	double rate;
	site_id s;

	programs_report(&x->programs, r);
	if (r->ending != LOAD_FINISHED || !x->nodes)
		return;
	for (s = 0; s < l->net->n_nodes; s++)
		end = x->nodes[s].end > end ? x->nodes[s].end : end;
	dt = end - PROGRAMS_START;
	if (dt <= 0)
		return;
	r->has_throughput = true;
	r->measured = dt;
	r->bytes = sent;
	rate = (double)sent * 1e3 / (double)dt;
	load_figure(r, "total_GBps", 2 * rate / l->net->n_nodes);
	load_figure(r, "per_link_GBps", rate / (double)x->n_links);
	load_figure(r, "round_ns", (double)dt / SIM_NS / (double)x->rounds);
}

static void exchange_fini(struct load *l)
{
	programs_fini(l);
	mem_free(of(l)->nodes);
}

static uint64_t exchange_estimate(const struct load *l, const struct topo *t)
{
	const struct exchange *x = (const struct exchange *)l;
	uint64_t footprint = (1 + x->n_depth) * link_at(x, t->n_ports);
	uint64_t l2 = (uint64_t)l->host_params->l2.capacity;

	/* a cache that overflows has tags, 4 bytes a line */
	return programs_estimate(t->n_nodes, 1,
		footprint < l2 ? footprint / 256
			       : 4 * l2 / (uint64_t)l->host_params->l2.line);
}

const struct load_ops load_exchange = {
	.name = "neighbour",
	.help = "programs on all nodes put into their neighbours' memories",
	.size = sizeof(struct exchange),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = exchange_init,
	.start = exchange_start,
	.next = programs_next,
	.report = exchange_report,
	.check = programs_check,
	.fini = exchange_fini,
	.estimate = exchange_estimate,
	.on_delivered = programs_delivered,
};
