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
#include "base/mem.h"
#include "load/alltoall.h"

/* Addresses, the same on every node. */
#define COUNTER_AT UINT64_C(0x1000)
#define FIFO_AT	   UINT64_C(0x10000)

enum {
	FIFO_BYTES = 4096, /* 63 descriptors */
	MOST_BATCH = 8, /* descriptors that are injected at once */
};

/* Descriptors on their way, all made from one. */
struct sending {
	struct alltoall_node *m;
	struct programs_fifos fifos;
	uint32_t next; /* FIFO to try */
	uint32_t n, most;
	MUHWI_Descriptor_t desc[MOST_BATCH];
};

static struct alltoall *of(struct load *l)
{
	return (struct alltoall *)l;
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

static void init_batch(
	struct sending *s, uint32_t n_nodes, const MUHWI_Descriptor_t *desc)
{
	const struct alltoall *a = s->m->a;
	uint64_t most =
		a->driver ? 1
			  : a->rounds * (uint64_t)(n_nodes - 1) / s->fifos.n;
	uint32_t i;

	s->next = s->n = 0;
	/* few ones are better spread over all FIFOs */
	s->most = most > MOST_BATCH ? MOST_BATCH : most ? (uint32_t)most : 1;
	for (i = 0; i < s->most; i++)
		s->desc[i] = *desc;
}

/* Into the next FIFO that has room. */
static void inject(struct sending *s)
{
	uint64_t number;

	if (!s->n)
		return;
	do {
		number = MUSPI_InjFifoInjectMultiple(
			programs_fifo(&s->fifos, s->next), s->n, s->desc);
		s->next = s->next + 1 < s->fifos.n ? s->next + 1 : 0;
	} while (number == (uint64_t)-1);
	s->n = 0;
}

/* The put of bytes from an offset of the message to another node. */
static void send(void *arg, site_id to, uint64_t at, uint64_t bytes)
{
	struct sending *s = arg;
	const struct alltoall_node *m = s->m;
	MUHWI_Descriptor_t *desc = &s->desc[s->n++];

	mu_set_payload(desc, alltoall_source(m->a, m->node, to) + at, bytes);
	mu_set(desc->header.byte + 4, 4, m->a->destination[to]);
	mu_set_put(&desc->header, PROGRAMS_BASE_PAYLOAD,
		alltoall_offset(m->a, to, m->node) + at);
	if (s->n == s->most)
		inject(s);
}

static void node_program(void *arg)
{
	struct alltoall_node *m = arg;
	struct alltoall *a = m->a;
	struct programs *p = &a->programs;
	uint32_t n = p->load.net->n_nodes;
	struct sending s = { .m = m };
	MUHWI_Descriptor_t desc;

	if (!alltoall_make(m, n))
		return;
	programs_arm(COUNTER_AT, alltoall_bytes(a, n));
	if (!programs_open_bases(p, alltoall_target_at(a, n), COUNTER_AT) ||
		!programs_open_fifos(p, &s.fifos, 0, (uint32_t)a->fifos,
			FIFO_AT, FIFO_BYTES) ||
		!build(a, &desc))
		return;
	program_wait(PROGRAMS_START);
	m->start = program_now();
	init_batch(&s, n, &desc);
	alltoall_send_all(m, n, send, &s);
	inject(&s);
	if (!spi_poll(COUNTER_AT, 0))
		return;
	m->end = program_now();
	alltoall_check(m, n);
}

/* --- the course of a run --- */

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct alltoall *a = of(l);

	(void)r;
	(void)link;
	l->needs.n_programs = t->n_nodes;
	return programs_need(
		&a->programs, alltoall_init_nodes(a, t->n_nodes), e);
}

static void start(struct load *l)
{
	struct alltoall *a = of(l);
	site_id s, n = l->net->n_nodes;

	a->destination = mem_alloc(n, sizeof(*a->destination));
	for (s = 0; s < n; s++)
		a->destination[s] =
			spi_destination_in(l->net->topo, s).Destination;
	alltoall_start_nodes(a, node_program);
}

static uint64_t estimate(const struct load *l, const struct topo *t)
{
	const struct alltoall *a = (const struct alltoall *)l;
	uint64_t n = t->n_nodes, footprint = 2 * alltoall_bytes(a, n);
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
	.report = alltoall_report_nodes,
	.check = programs_check,
	.fini = alltoall_fini_nodes,
	.estimate = estimate,
	.on_delivered = programs_delivered,
};
