/*
 * Latency and rate by size: of every power of two from the least to the most,
 * one transfer at a time and then many at a time.
 *
 * A put goes from one node to the other; what it takes is seen there, and
 * told back by a put of eight bytes, whose own time is known from puts of
 * eight bytes back and forth.  A get is asked for and seen by the same node,
 * while the other one's network interface answers without any program.
 */
#include "load/sweep.h"

#include <stdio.h>
#include <string.h>

#include "load/keys.h"
#include "nic/elan4/elan4.h"

#define AT(field) offsetof(struct sweep, field)

/* Addresses, the same on both nodes. */
#define COUNTER_AT UINT64_C(0x1000)
#define ANSWER_AT  UINT64_C(0x2000) /* its own counter */
#define ASK_AT	   UINT64_C(0x4000) /* the descriptors that gets carry */
#define FIFO_AT	   UINT64_C(0x10000)
#define GET_AT	   UINT64_C(0x40000)
#define SOURCE_AT  SWEEP_SOURCE_AT
#define TARGET_AT  SWEEP_TARGET_AT

enum {
	FIFO_BYTES = 64 << 10,
	GET_SUBGROUP = 1,
	ANSWER_BYTES = SWEEP_ANSWER,
};

static const struct param params[] = {
	{ .name = "op",
		.type = PARAM_WORD,
		.offset = AT(op),
		.def = "put",
		.words = "put|get",
		.help = "put: from one node to the other; get: the one asks, "
			"the other one's network interface answers" },
	{ .name = "by",
		.type = PARAM_WORD,
		.offset = AT(by),
		.def = "auto",
		.words = "auto|sten|dma",
		.help = "Elan4's puts: by short packets, by the DMA engine, or "
			"as the library chooses" },
	KEY_NODE("from", AT(from), "0", "the node that begins"),
	KEY_NODE("to", AT(to), "1", "the other node"),
	{ .name = "min",
		.type = PARAM_BYTES,
		.offset = AT(min),
		.def = "8",
		.min = 1,
		.max = 4 << 20,
		.help = "the least size" },
	{ .name = "max",
		.type = PARAM_BYTES,
		.offset = AT(max),
		.def = "1 MiB",
		.min = 1,
		.max = 4 << 20,
		.help = "the greatest size; each is twice the one before" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "20",
		.min = 1,
		.max = 1000000,
		.help = "transfers of each size by themselves" },
	{ .name = "burst",
		.type = PARAM_COUNT,
		.offset = AT(burst),
		.def = "16",
		.min = 1,
		.max = 512,
		.help = "transfers of each size at a time" },
};

static struct sweep *of(struct load *l)
{
	return (struct sweep *)l;
}

/* --- bytes --- */

static void fill(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	const struct sweep *s = arg;

	memory_fill_by(s->programs.load.seed, 0, offset, out, n);
}

bool sweep_add_regions(struct sweep *s, uint32_t end)
{
	struct host *h = s->programs.load.host;
	uint64_t bytes = s->size[s->n_sizes - 1].bytes;

	s->target[end] = -1;
	if (host_add_synthetic(h, program_node(), SOURCE_AT, bytes, fill, s) >=
		0)
		s->target[end] = host_add_synthetic(
			h, program_node(), TARGET_AT, bytes, fill, s);
	return s->target[end] >= 0 ||
	       programs_complain(&s->programs, "no synthetic regions");
}

bool sweep_check(struct sweep *s, uint32_t end, uint64_t want)
{
	const struct memory_region *r = host_synthetic(
		s->programs.load.host, program_node(), s->target[end]);

	return (!r->wrong && r->written == want) ||
	       programs_complain(&s->programs,
		       "%llu bytes came, not %llu; %llu were wrong",
		       (unsigned long long)r->written, (unsigned long long)want,
		       (unsigned long long)r->wrong);
}

/* --- what both ends do --- */

static bool build_put(struct sweep *s, uint32_t to, uint64_t source,
	uint64_t target, uint64_t counter, uint64_t bytes,
	MUHWI_Descriptor_t *desc)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address = source,
			.Message_Length = bytes,
			.Torus_FIFO_Map = MU_MAP_TORUS,
			.Dest = spi_destination(to) },
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       PROGRAMS_BASE_PAYLOAD,
			.Rec_Payload_Offset = target,
			.Rec_Counter_Base_Address_Id = PROGRAMS_BASE_COUNTER,
			.Rec_Counter_Offset = counter },
	};

	programs_route(&i, 0);
	return programs_did(&s->programs,
		"MUSPI_CreatePt2PtDirectPutDescriptor",
		MUSPI_CreatePt2PtDirectPutDescriptor(desc, &i));
}

static bool open_end(
	struct sweep *s, uint32_t end, struct programs_fifos *fifos)
{
	programs_arm(COUNTER_AT, ANSWER_BYTES);
	programs_arm(ANSWER_AT, ANSWER_BYTES);
	return sweep_add_regions(s, end) &&
	       programs_open_fifos(
		       &s->programs, fifos, 0, 1, FIFO_AT, FIFO_BYTES) &&
	       programs_open_bases(&s->programs, 0, 0);
}

static bool await(uint64_t counter, uint64_t next)
{
	if (!spi_poll(counter, 0))
		return false;
	programs_arm(counter, next);
	return true;
}

/* --- puts --- */

/* n puts of one size after the other, and the answer. */
static bool put_burst(struct sweep *s, MUSPI_InjFifo_t *fifo, uint64_t bytes,
	uint64_t n, sim_time *took)
{
	sim_time start = program_now();
	MUHWI_Descriptor_t desc;

	if (!build_put(s, (uint32_t)s->to, SOURCE_AT, TARGET_AT, COUNTER_AT,
		    bytes, &desc))
		return false;
	for (; n; n--)
		programs_inject(fifo, &desc);
	if (!await(ANSWER_AT, ANSWER_BYTES))
		return false;
	*took += program_now() - start;
	return true;
}

static void put_program(void *arg)
{
	struct sweep *s = arg;
	struct programs_fifos fifos;
	MUSPI_InjFifo_t *fifo = programs_fifo(&fifos, 0);
	int64_t k, rounds = s->rounds;
	sim_time both = 0;
	uint32_t i;

	if (!open_end(s, 0, &fifos))
		return;
	program_wait(PROGRAMS_START);
	for (k = 0; k < rounds; k++)
		if (!put_burst(s, fifo, ANSWER_BYTES, 1, &both))
			return;
	s->answer = both / (2 * rounds);
	for (i = 0; i < s->n_sizes; i++) {
		struct sweep_size *z = &s->size[i];

		for (k = 0; k < rounds; k++)
			if (!put_burst(s, fifo, z->bytes, 1, &z->one))
				return;
		if (!put_burst(s, fifo, z->bytes, (uint64_t)s->burst, &z->many))
			return;
		z->one = z->one / rounds - s->answer;
		z->many -= s->answer;
	}
}

/* Answers when so many bytes have come, and sets the counter for the next. */
static bool answer(struct sweep *s, MUSPI_InjFifo_t *fifo,
	const MUHWI_Descriptor_t *desc, uint64_t bytes, uint64_t next,
	uint64_t *sum)
{
	if (!await(COUNTER_AT, next))
		return false;
	*sum += bytes;
	programs_inject(fifo, desc);
	return sweep_check(s, 1, *sum);
}

uint64_t sweep_expected(const struct sweep *s, uint64_t k)
{
	uint64_t rounds = (uint64_t)s->rounds, i;

	if (k < rounds)
		return ANSWER_BYTES;
	k -= rounds;
	i = k / (rounds + 1);
	if (i >= s->n_sizes)
		return 0;
	return s->size[i].bytes *
	       (k % (rounds + 1) == rounds ? (uint64_t)s->burst : 1);
}

static void answer_program(void *arg)
{
	struct sweep *s = arg;
	struct programs_fifos fifos;
	MUHWI_Descriptor_t desc;
	uint64_t k, sum = 0;

	if (!open_end(s, 1, &fifos) ||
		!build_put(s, (uint32_t)s->from, SOURCE_AT, TARGET_AT,
			ANSWER_AT, ANSWER_BYTES, &desc))
		return;
	for (k = 0; sweep_expected(s, k); k++)
		if (!answer(s, programs_fifo(&fifos, 0), &desc,
			    sweep_expected(s, k), sweep_expected(s, k + 1),
			    &sum))
			return;
}

/* --- gets --- */

static bool build_get(struct sweep *s, MUHWI_Descriptor_t *desc)
{
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t i = {
		.Base = { .Payload_Address = ASK_AT,
			.Message_Length = sizeof(*desc),
			.Torus_FIFO_Map = MU_MAP_TORUS,
			.Dest = spi_destination((uint32_t)s->to) },
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING,
			.Misc2 = MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC },
		.RemoteGet = { .Rget_Inj_FIFO_Id =
				       GET_SUBGROUP * MU_PER_SUBGROUP },
	};

	return programs_did(&s->programs,
		"MUSPI_CreatePt2PtRemoteGetDescriptor",
		MUSPI_CreatePt2PtRemoteGetDescriptor(desc, &i));
}

static bool get_burst(struct sweep *s, MUSPI_InjFifo_t *fifo, uint64_t bytes,
	uint64_t n, sim_time *took)
{
	sim_time start = program_now();
	MUHWI_Descriptor_t ask, put;

	if (!build_put(s, (uint32_t)s->from, SOURCE_AT, TARGET_AT, COUNTER_AT,
		    bytes, &put) ||
		!build_get(s, &ask))
		return false;
	spi_store(ASK_AT, &put, sizeof(put));
	programs_arm(COUNTER_AT, n * bytes);
	for (; n; n--)
		programs_inject(fifo, &ask);
	if (!spi_poll(COUNTER_AT, 0))
		return false;
	*took += program_now() - start;
	return true;
}

static void get_program(void *arg)
{
	struct sweep *s = arg;
	struct programs_fifos fifos;
	uint64_t sum = 0;
	uint32_t i;
	int64_t k;

	if (!open_end(s, 0, &fifos))
		return;
	program_wait(PROGRAMS_START);
	for (i = 0; i < s->n_sizes; i++) {
		struct sweep_size *z = &s->size[i];
		MUSPI_InjFifo_t *fifo = programs_fifo(&fifos, 0);

		for (k = 0; k < s->rounds; k++)
			if (!get_burst(s, fifo, z->bytes, 1, &z->one))
				return;
		if (!get_burst(s, fifo, z->bytes, (uint64_t)s->burst, &z->many))
			return;
		z->one /= s->rounds;
		sum += z->bytes * (uint64_t)(s->rounds + s->burst);
		if (!sweep_check(s, 0, sum))
			return;
	}
}

/* The other end has an injection FIFO for those who get, and is done. */
static void give_program(void *arg)
{
	static const Kernel_InjFifoAttributes_t attr = { .RemoteGet = 1 };
	struct sweep *s = arg;
	struct programs *p = &s->programs;
	const uint32_t id = 0;
	MUSPI_InjFifoSubGroup_t g;
	Kernel_MemoryRegion_t region;

	if (sweep_add_regions(s, 1) &&
		programs_did(p, "Kernel_CreateMemoryRegion",
			Kernel_CreateMemoryRegion(
				&region, GET_AT, FIFO_BYTES)) &&
		programs_did(p, "Kernel_AllocateInjFifos",
			Kernel_AllocateInjFifos(
				GET_SUBGROUP, &g, 1, &id, &attr)) &&
		programs_did(p, "Kernel_InjFifoInit",
			Kernel_InjFifoInit(&g, id, &region, 0, FIFO_BYTES - 1)))
		programs_did(p, "Kernel_InjFifoActivate",
			Kernel_InjFifoActivate(
				&g, 1, &id, KERNEL_INJ_FIFO_ACTIVATE));
}

/* --- the course of a run --- */

static int sweep_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct sweep *s = of(l);
	int64_t bytes;

	(void)r;
	(void)link;
	if (load_check_pair(t, s->from, s->to, e))
		return -1;
	if (s->min > s->max)
		return err_set(e, "min: more than max");
	for (bytes = s->min; bytes <= s->max; bytes *= 2) {
		BUG_IF(s->n_sizes == SWEEP_SIZES);
		s->size[s->n_sizes++].bytes = (uint64_t)bytes;
	}
	l->needs.n_programs = 2;
	if (l->nic_ops != &elan4_ops) {
		if (s->by != SWEEP_AUTO)
			return err_set(e, "by: only Elan4 has a choice");
		return programs_need(&s->programs, SWEEP_MEMORY, e);
	}
	if (s->op == SWEEP_GET && s->by == SWEEP_DMA)
		return err_set(e, "by: gets are asked for by short packets");
	return programs_need_elan(&s->programs, SWEEP_MEMORY, e);
}

static void sweep_start(struct load *l)
{
	/* [is Elan4's][op][end] */
	static void (*const program[2][2][2])(void *) = {
		{ { put_program, answer_program },
			{ get_program, give_program } },
		{ { sweep_elan_put, sweep_elan_answer },
			{ sweep_elan_get, sweep_elan_give } },
	};
	struct sweep *s = of(l);
	bool is_elan = l->nic_ops == &elan4_ops;

	programs_open(&s->programs);
	program_start(s->programs.load.host, (site_id)s->from, 0, 0,
		program[is_elan][s->op][0], s);
	program_start(s->programs.load.host, (site_id)s->to, 0, 0,
		program[is_elan][s->op][1], s);
}

static void sweep_report(struct load *l, struct load_result *r)
{
	struct sweep *s = of(l);
	uint32_t i;

	programs_report(&s->programs, r);
	if (r->ending != LOAD_FINISHED)
		return;
	for (i = 0; i < s->n_sizes; i++) {
		struct sweep_size *z = &s->size[i];
		unsigned long long bytes = z->bytes;

		if (!z->one || z->many <= 0)
			return;
		snprintf(z->name[0], sizeof(z->name[0]), "%lluB_ns", bytes);
		snprintf(z->name[1], sizeof(z->name[1]), "%lluB_GBps", bytes);
		load_figure(r, z->name[0], (double)z->one / SIM_NS);
		load_figure(r, z->name[1],
			(double)z->bytes * (double)s->burst * 1e3 /
				(double)z->many);
	}
}

static uint64_t sweep_estimate(const struct load *l, const struct topo *t)
{
	(void)l;
	(void)t;
	return programs_estimate(2, 1, 2 * FIFO_BYTES);
}

const struct load_ops load_sweep = {
	.name = "sweep",
	.help = "puts or gets of all sizes: latency, and rate of many",
	.size = sizeof(struct sweep),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = sweep_init,
	.start = sweep_start,
	.next = programs_next,
	.report = sweep_report,
	.check = programs_check,
	.fini = programs_fini,
	.estimate = sweep_estimate,
	.on_delivered = programs_delivered,
};
