/*
 * Ping-pong by programs: each waits until the other one's bytes have all
 * come, as its reception counter tells, and puts its own into the other
 * one's memory.  The bytes of every flight are others, and are looked at.
 */
#include <string.h>

#include "load/pingpong.h"

#define GIB (UINT64_C(1) << 30)

/* Addresses, the same on both nodes. */
#define COUNTER_AT UINT64_C(0x1000)
#define FIFO_AT	   UINT64_C(0x10000)
#define SOURCE_AT  (1 * GIB)
#define TARGET_AT  (2 * GIB)

enum { FIFO_BYTES = 64 << 10, BLOCK = 4096 };

static struct pingpong *of(struct load *l)
{
	return (struct pingpong *)l;
}

/* --- bytes --- */

static size_t block_of(uint64_t at, uint64_t end)
{
	return end - at < BLOCK ? (size_t)(end - at) : BLOCK;
}

/* A flight's number: those of the side that begins are even. */
static uint64_t flight(bool begins, int64_t round)
{
	return 2 * (uint64_t)round + !begins;
}

static void fill(const struct pingpong *g, uint64_t number)
{
	uint64_t at, end = (uint64_t)g->bytes;
	uint8_t block[BLOCK];

	for (at = 0; at < end; at += BLOCK) {
		memory_fill_by(g->programs.load.seed, number, at, block,
			block_of(at, end));
		spi_store(SOURCE_AT + at, block, block_of(at, end));
	}
}

static bool check(struct pingpong *g, uint64_t number)
{
	uint64_t at, end = (uint64_t)g->bytes;
	uint8_t want[BLOCK], got[BLOCK];

	for (at = 0; at < end; at += BLOCK) {
		size_t n = block_of(at, end);

		memory_fill_by(g->programs.load.seed, number, at, want, n);
		spi_load(TARGET_AT + at, got, n);
		if (memcmp(want, got, n) != 0)
			return programs_complain(&g->programs,
				"flight %llu: wrong bytes behind %llu",
				(unsigned long long)number,
				(unsigned long long)at);
	}
	return true;
}

/* --- the programs --- */

static bool prepare(const struct pingpong_side *s, struct programs_fifos *fifos,
	MUHWI_Descriptor_t *desc)
{
	struct pingpong *g = s->game;
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address = SOURCE_AT,
			.Message_Length = (uint64_t)g->bytes,
			.Torus_FIFO_Map = MU_MAP_TORUS,
			.Dest = spi_destination(s->peer) },
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       PROGRAMS_BASE_PAYLOAD,
			.Rec_Counter_Base_Address_Id = PROGRAMS_BASE_COUNTER },
	};

	programs_route(&i, g->routing);
	programs_arm(COUNTER_AT, (uint64_t)g->bytes);
	return programs_did(&g->programs,
		       "MUSPI_CreatePt2PtDirectPutDescriptor",
		       MUSPI_CreatePt2PtDirectPutDescriptor(desc, &i)) &&
	       programs_open_fifos(
		       &g->programs, fifos, 0, 1, FIFO_AT, FIFO_BYTES) &&
	       programs_open_bases(&g->programs, TARGET_AT, COUNTER_AT);
}

static bool receive(struct pingpong_side *s, int64_t round)
{
	struct pingpong *g = s->game;

	if (!spi_poll(COUNTER_AT, 0))
		return false;
	s->end = program_now();
	programs_arm(COUNTER_AT, (uint64_t)g->bytes);
	return check(g, flight(!s->begins, round));
}

static void side_program(void *arg)
{
	struct pingpong_side *s = arg;
	struct programs_fifos fifos;
	MUHWI_Descriptor_t desc;
	int64_t round;

	if (!prepare(s, &fifos, &desc))
		return;
	program_wait(PROGRAMS_START);
	s->start = program_now();
	for (round = 0; round < s->game->rounds; round++) {
		if (!s->begins && !receive(s, round))
			return;
		fill(s->game, flight(s->begins, round));
		programs_inject(programs_fifo(&fifos, 0), &desc);
		if (s->begins && !receive(s, round))
			return;
	}
}

/* --- the course of a run --- */

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct pingpong *g = of(l);

	(void)t;
	(void)r;
	(void)link;
	if (!g->bytes)
		return err_set(e, "bytes: 0, and a put of no bytes is one that "
				  "nobody can see");
	g->programs.expected = 2 * (uint64_t)g->rounds;
	return programs_need(&g->programs, 3 * GIB, e);
}

static void start(struct load *l)
{
	struct pingpong *g = of(l);
	const int64_t node[] = { g->from, g->to };
	uint32_t i;

	if (!programs_open(&g->programs, 2))
		return;
	for (i = 0; i < 2; i++) {
		g->side[i] = (struct pingpong_side){
			.game = g,
			.peer = (uint32_t)node[!i],
			.begins = i == 0,
		};
		program_start(g->programs.host, (site_id)node[i], 0, 0,
			side_program, &g->side[i]);
	}
}

static void report(struct load *l, struct load_result *r)
{
	struct pingpong *g = of(l);
	const struct pingpong_side *s = &g->side[0];
	const struct mu_params *p = l->nic_params;
	double ns =
		(double)(s->end - s->start) / SIM_NS / 2 / (double)g->rounds;

	programs_report(&g->programs, r);
	if (r->ending != LOAD_FINISHED)
		return;
	load_figure(r, "one_way_ns", ns);
	load_figure(r, "hardware_ns", ns - (double)p->software / SIM_NS);
}

static uint64_t estimate(const struct load *l, const struct topo *t)
{
	(void)t;
	return programs_estimate(
		2, 1, 2 * (uint64_t)((const struct pingpong *)l)->bytes);
}

const struct load_ops load_pingpong_nic = {
	.name = "pingpong",
	.init = init,
	.start = start,
	.next = programs_next,
	.report = report,
	.check = programs_check,
	.fini = programs_fini,
	.estimate = estimate,
	.memory = programs_memory,
};
