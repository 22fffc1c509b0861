/*
 * All-to-all by programs: every node puts bytes into every other node's
 * memory, through some injection FIFOs, over all links, and waits until its
 * own reception counter says that all has come.
 *
 * One driver gives the unit a whole message with a descriptor, as long as
 * some FIFO has room: the packets of as many messages mix.  The other one
 * cuts messages itself, so that one packet goes to every other node before a
 * second one does, each round in another order, as Blue Gene/L's library did;
 * it injects some descriptors at a time.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "load/alltoall.h"
#include "load/order.h"
#include "sim/random.h"

#define GIB (UINT64_C(1) << 30)

/* Addresses, the same on every node. */
#define COUNTER_AT UINT64_C(0x1000)
#define FIFO_AT	   UINT64_C(0x10000)
#define SOURCE_AT  (1 * GIB)

enum {
	FIFO_BYTES = 4096, /* 63 descriptors */
	MOST_BATCH = 8, /* descriptors that are injected at once */
	LINE = 128,
};

#define MOST_REAL (1 * GIB) /* of all nodes, where nobody says */

struct alltoall_node {
	struct alltoall *a;
	site_id node;
	int source, target; /* synthetic regions */
	sim_time end;
};

static struct alltoall *of(struct load *l)
{
	return (struct alltoall *)l;
}

/* --- bytes --- */

/* Of other nodes there are n - 1, of which this is the i-th for a node. */
static uint64_t index_of(site_id node, site_id other)
{
	return other < node ? other : other - 1;
}

static site_id other_of(site_id node, uint64_t index)
{
	return (site_id)(index < node ? index : index + 1);
}

static uint64_t region_bytes(const struct alltoall *a, uint64_t n_nodes)
{
	return (n_nodes - 1) * (uint64_t)a->bytes;
}

static uint64_t target_at(const struct alltoall *a, uint64_t n_nodes)
{
	return SOURCE_AT + (region_bytes(a, n_nodes) + LINE - 1) / LINE * LINE;
}

static uint64_t owner_of(site_id from, site_id to)
{
	return (uint64_t)from << 32 | to;
}

/* What a node sends to another one. */
static void fill_by(const struct alltoall *a, site_id from, site_id to,
	uint64_t at, uint8_t *out, size_t n)
{
	memory_fill_by(a->programs.load.seed, owner_of(from, to), at, out, n);
}

static void fill(
	void *arg, uint64_t offset, uint8_t *out, size_t n, bool is_source)
{
	const struct alltoall_node *m = arg;
	uint64_t bytes = (uint64_t)m->a->bytes;

	while (n) {
		uint64_t at = offset % bytes;
		size_t k = n < bytes - at ? n : (size_t)(bytes - at);
		site_id other = other_of(m->node, offset / bytes);

		fill_by(m->a, is_source ? m->node : other,
			is_source ? other : m->node, at, out, k);
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

static bool make_synthetic(struct alltoall_node *m, uint64_t n_nodes)
{
	struct alltoall *a = m->a;
	uint64_t bytes = region_bytes(a, n_nodes);

	m->source = host_add_synthetic(
		a->programs.host, m->node, SOURCE_AT, bytes, fill_source, m);
	m->target = host_add_synthetic(a->programs.host, m->node,
		target_at(a, n_nodes), bytes, fill_target, m);
	return (m->source >= 0 && m->target >= 0) ||
	       programs_complain(&a->programs, "no synthetic regions");
}

/* Goes through the bytes of a region where they are stored. */
struct cursor {
	uint64_t at;
	uint8_t *bytes;
};

/* The next ones that lie side by side, *n at most; *n is how many. */
static uint8_t *next_bytes(struct cursor *c, size_t *n)
{
	size_t left = MEMORY_PAGE - c->at % MEMORY_PAGE;
	uint8_t *bytes;

	if (left == MEMORY_PAGE || !c->bytes)
		c->bytes = program_place(c->at, 1);
	*n = *n < left ? *n : left;
	bytes = c->bytes;
	c->bytes += *n;
	c->at += *n;
	return bytes;
}

static void make_message(struct alltoall_node *m, site_id to, struct cursor *c)
{
	size_t at = 0, end = (size_t)m->a->bytes, n;

	for (; at < end; at += n) {
		uint8_t *bytes;

		n = end - at;
		bytes = next_bytes(c, &n);
		fill_by(m->a, m->node, to, at, bytes, n);
	}
}

static bool make_real(struct alltoall_node *m, uint64_t n_nodes)
{
	struct cursor c = { .at = SOURCE_AT };
	uint64_t i;

	/* what it sends and what comes */
	program_reserve(2 * region_bytes(m->a, n_nodes));
	for (i = 0; i < n_nodes - 1; i++)
		make_message(m, other_of(m->node, i), &c);
	return true;
}

static void check_synthetic(struct alltoall_node *m)
{
	struct alltoall *a = m->a;
	const struct memory_region *r =
		host_synthetic(a->programs.host, m->node, m->target);

	if (!memory_region_is_whole(r, 1))
		programs_complain(&a->programs,
			"%" PRIu64 " bytes were written, of which %" PRIu64
			" were wrong, and not each once",
			r->written, r->wrong);
}

static bool is_right(
	const struct alltoall_node *m, site_id from, struct cursor *c)
{
	size_t at = 0, end = (size_t)m->a->bytes, n;

	for (; at < end; at += n) {
		const uint8_t *bytes;

		n = end - at;
		bytes = next_bytes(c, &n);
		if (!memory_is_by(m->a->programs.load.seed,
			    owner_of(from, m->node), at, bytes, n))
			return false;
	}
	return true;
}

static void check_real(struct alltoall_node *m, uint64_t n_nodes)
{
	struct cursor c = { .at = target_at(m->a, n_nodes) };
	uint64_t i;

	for (i = 0; i < n_nodes - 1; i++) {
		site_id from = other_of(m->node, i);

		if (is_right(m, from, &c))
			continue;
		programs_complain(
			&m->a->programs, "wrong bytes from node %u", from);
		return;
	}
}

/* --- the program --- */

/* Everything that all puts of a node have in common. */
static bool build(struct alltoall *a, MUHWI_Descriptor_t *desc)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = { .Torus_FIFO_Map = MU_MAP_TORUS },
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       PROGRAMS_BASE_PAYLOAD,
			.Rec_Counter_Base_Address_Id = PROGRAMS_BASE_COUNTER },
	};

	programs_route(&i, a->routing);
	return programs_did(&a->programs,
		"MUSPI_CreatePt2PtDirectPutDescriptor",
		MUSPI_CreatePt2PtDirectPutDescriptor(desc, &i));
}

/* The put of bytes from an offset of the message to another node. */
static void aim(const struct alltoall_node *m, site_id to, uint64_t at,
	uint64_t bytes, MUHWI_Descriptor_t *desc)
{
	uint64_t message = (uint64_t)m->a->bytes;

	mu_set_payload(
		desc, SOURCE_AT + index_of(m->node, to) * message + at, bytes);
	mu_set(desc->header.byte + 4, 4, m->a->destination[to]);
	mu_set_put(&desc->header, PROGRAMS_BASE_PAYLOAD,
		index_of(to, m->node) * message + at);
}

/* Descriptors on their way, all made from one. */
struct batch {
	struct programs_fifos *fifos;
	uint32_t next; /* FIFO to try */
	uint32_t n, most;
	MUHWI_Descriptor_t desc[MOST_BATCH];
};

static void init_batch(struct batch *b, const struct alltoall *a,
	uint64_t n_puts, struct programs_fifos *fifos,
	const MUHWI_Descriptor_t *desc)
{
	uint64_t most = a->driver ? 1 : n_puts / fifos->n;
	uint32_t i;

	b->fifos = fifos;
	b->next = b->n = 0;
	/* few ones are better spread over all FIFOs */
	b->most = most > MOST_BATCH ? MOST_BATCH : most ? (uint32_t)most : 1;
	for (i = 0; i < b->most; i++)
		b->desc[i] = *desc;
}

/* Into the next FIFO that has room. */
static void inject(struct batch *b)
{
	uint64_t number;

	if (!b->n)
		return;
	do {
		number = MUSPI_InjFifoInjectMultiple(
			programs_fifo(b->fifos, b->next), b->n, b->desc);
		b->next = b->next + 1 < b->fifos->n ? b->next + 1 : 0;
	} while (number == (uint64_t)-1);
	b->n = 0;
}

/* One put to every other node, the same bytes of each message. */
static void send_round(struct alltoall_node *m, uint32_t n_nodes,
	uint32_t round, uint64_t at, uint64_t bytes, struct batch *b)
{
	uint64_t key = random_draw(
		m->a->programs.load.seed, m->node, RANDOM_TARGET, round)
			       .a;
	uint32_t i;

	for (i = 0; i < n_nodes - 1; i++) {
		uint32_t off = 1 + order_at(key, n_nodes - 1, i);

		aim(m, (m->node + off) % n_nodes, at, bytes, &b->desc[b->n++]);
		if (b->n == b->most)
			inject(b);
	}
}

static void send_all(struct alltoall_node *m, uint32_t n_nodes,
	struct programs_fifos *fifos, const MUHWI_Descriptor_t *desc)
{
	const struct alltoall *a = m->a;
	uint32_t rounds = a->driver ? 1 : a->rounds, round;
	uint64_t left = (uint64_t)a->bytes, at = 0, bytes;
	struct batch batch;

	init_batch(&batch, a, rounds * (uint64_t)(n_nodes - 1), fifos, desc);
	for (round = 0; round < rounds; round++) {
		bytes = !a->driver && left > a->full_bytes ? a->full_bytes
							   : left;
		send_round(m, n_nodes, round, at, bytes, &batch);
		at += bytes;
		left -= bytes;
	}
	inject(&batch);
}

static void node_program(void *arg)
{
	struct alltoall_node *m = arg;
	struct alltoall *a = m->a;
	struct programs *p = &a->programs;
	uint32_t n = p->load.net->n_nodes;
	struct programs_fifos fifos;
	MUHWI_Descriptor_t desc;

	if (!(a->is_synthetic ? make_synthetic(m, n) : make_real(m, n)))
		return;
	programs_arm(COUNTER_AT, region_bytes(a, n));
	if (!programs_open_bases(p, target_at(a, n), COUNTER_AT) ||
		!programs_open_fifos(p, &fifos, 0, (uint32_t)a->fifos, FIFO_AT,
			FIFO_BYTES) ||
		!build(a, &desc))
		return;
	program_wait(PROGRAMS_START);
	send_all(m, n, &fifos, &desc);
	if (!spi_poll(COUNTER_AT, 0))
		return;
	m->end = program_now();
	if (a->is_synthetic)
		check_synthetic(m);
	else
		check_real(m, n);
}

/* --- the course of a run --- */

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct alltoall *a = of(l);
	uint64_t n = t->n_nodes, all = 2 * region_bytes(a, n);

	(void)r;
	(void)link;
	a->is_synthetic = a->data ? a->data == 2 : all > MOST_REAL / n;
	a->programs.expected = a->expected;
	return programs_need(&a->programs, target_at(a, n) + all / 2, e);
}

static void start(struct load *l)
{
	struct alltoall *a = of(l);
	site_id s, n = l->net->n_nodes;

	if (!programs_open(&a->programs, n))
		return;
	a->nodes = mem_alloc(n, sizeof(*a->nodes));
	a->destination = mem_alloc(n, sizeof(*a->destination));
	for (s = 0; s < n; s++) {
		a->destination[s] =
			spi_destination_in(l->net->topo, s).Destination;
		a->nodes[s] = (struct alltoall_node){ .a = a, .node = s };
		program_start(
			a->programs.host, s, 0, 0, node_program, &a->nodes[s]);
	}
}

static void report(struct load *l, struct load_result *r)
{
	struct alltoall *a = of(l);
	uint64_t n = l->net->n_nodes;
	sim_time end = 0;
	site_id s;

	r->has_peak = a->peak > 0;
	r->peak_bps = a->peak;
	programs_report(&a->programs, r);
	if (r->ending != LOAD_FINISHED || !a->nodes)
		return;
	for (s = 0; s < n; s++)
		end = a->nodes[s].end > end ? a->nodes[s].end : end;
	if (end <= PROGRAMS_START)
		return;
	r->has_throughput = true;
	r->measured = end - PROGRAMS_START;
	r->bytes = n * region_bytes(a, n);
	load_figure(r, "time_ns", (double)r->measured / SIM_NS);
}

static void fini(struct load *l)
{
	programs_fini(l);
	mem_free(of(l)->nodes);
	mem_free(of(l)->destination);
}

static uint64_t estimate(const struct load *l, const struct topo *t)
{
	const struct alltoall *a = (const struct alltoall *)l;
	uint64_t n = t->n_nodes, footprint = 2 * region_bytes(a, n);
	uint64_t l2 = (uint64_t)l->host_params->l2.capacity;
	uint64_t fifos = (uint64_t)a->fifos * FIFO_BYTES;

	/* a cache that overflows has tags, 4 bytes a line */
	fifos += footprint < l2 ? footprint / 256
				: 4 * l2 / (uint64_t)l->host_params->l2.line;
	return programs_estimate(
		n, 1, fifos + (a->is_synthetic ? 0 : footprint));
}

const struct load_ops load_alltoall_nic = {
	.name = "alltoall",
	.init = init,
	.start = start,
	.next = programs_next,
	.report = report,
	.check = programs_check,
	.fini = fini,
	.estimate = estimate,
	.memory = programs_memory,
};
