/*
 * Ping-pong by programs: each waits until the other one's bytes have all
 * come, as its reception counter tells, and puts its own into the other
 * one's memory.
 */
#include "load/pingpong.h"

/* Addresses, the same on both nodes. */
#define COUNTER_AT UINT64_C(0x1000)
#define FIFO_AT	   UINT64_C(0x10000)

enum { FIFO_BYTES = 64 << 10 };

static struct pingpong *of(struct load *l)
{
	return (struct pingpong *)l;
}

/* --- the programs --- */

static bool prepare(const struct pingpong_side *s, struct programs_fifos *fifos,
	MUHWI_Descriptor_t *desc)
{
	struct pingpong *g = s->game;
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address = PINGPONG_SOURCE,
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
	       programs_open_bases(&g->programs, PINGPONG_TARGET, COUNTER_AT);
}

static bool receive(struct pingpong_side *s, int64_t round)
{
	struct pingpong *g = s->game;

	if (!spi_poll(COUNTER_AT, 0))
		return false;
	s->end = program_now();
	programs_arm(COUNTER_AT, (uint64_t)g->bytes);
	return pingpong_check(s, round);
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
		pingpong_make(s, round);
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
	l->needs.n_programs = 2;
	return programs_need(&g->programs, PINGPONG_MEMORY, e);
}

static void start(struct load *l)
{
	pingpong_start_sides(of(l), side_program);
}

static void report(struct load *l, struct load_result *r)
{
	struct pingpong *g = of(l);
	const struct mu_params *p = l->nic_params;
	double ns = pingpong_one_way_ns(g);

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
	.on_delivered = programs_delivered,
};
