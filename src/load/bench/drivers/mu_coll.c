/* Collectives of the message unit: trees beside the links, and barriers. */
#include "coll/barrier.h"
#include "load/bench/drivers/mu.h"

/* --- trees --- */

enum { COUNTER_TREE = 0, TREE_CLASS = 1 };

static uint32_t class_of(const struct bench_tree_how *how)
{
	if (how->is_world)
		return SPI_CLASS_WORLD;
	return how->channel == BENCH_TREE_SYSTEM ? (uint32_t)SPI_CLASS_SYSTEM
						 : TREE_CLASS + how->number;
}

/* Number 0 is set for all nodes; any other one is set by its members, which
 * are ready when sending begins. */
static bool set_route(struct bench_end *x, const struct bench_tree_how *how)
{
	static const uint16_t channel[] = {
		[BENCH_TREE_WORLD] = BGQ_CLASS_INPUT_VC_USER,
		[BENCH_TREE_SYSTEM] = BGQ_CLASS_INPUT_VC_SYSTEM,
		[BENCH_TREE_SUB] = BGQ_CLASS_INPUT_VC_SUBCOMM,
	};
	struct programs *p = x->programs;
	ClassRoute_t route;
	MUSPI_Box_t box = { .low = { 0 } };

	for (uint32_t i = 0; i < MU_DIMS && how->box->length[i]; i++) {
		box.low[i] = (uint8_t)how->box->first[i];
		box.high[i] = (uint8_t)(box.low[i] + how->box->length[i] - 1);
	}
	return programs_did(p, "MUSPI_BuildNodeClassroute",
		       MUSPI_BuildNodeClassroute(
			       &box, channel[how->channel], &route)) &&
	       programs_did(p, "MUSPI_SetClassrouteId",
		       MUSPI_SetClassrouteId(class_of(how), &route));
}

/* A FIFO of its own; and no route for users, which would share links. */
static bool become_system(struct bench_end *x)
{
	struct programs *p = x->programs;
	struct own *o = own(x);

	program_become_system();
	if (!programs_did(p, "spi_open_inj",
		    spi_open_inj(&o->system, MU_SYSTEM_SUBGROUP, 0, 1, NULL,
			    LANES_AT, SMALL_FIFO)) ||
		!programs_did(p, "Kernel_DeallocateCollectiveClassRoute",
			Kernel_DeallocateCollectiveClassRoute(SPI_CLASS_WORLD)))
		return false;
	o->tree = MUSPI_IdToInjFifo(0, &o->system);
	return true;
}

static uint8_t op_code(const struct coll_arith *a)
{
	static const uint8_t type[COLL_N_TYPES] = { [COLL_BITS] = MU_OP_AND,
		[COLL_UNSIGNED] = MU_OP_UNSIGNED_ADD,
		[COLL_SIGNED] = MU_OP_SIGNED_ADD,
		[COLL_DOUBLE] = MU_OP_FLOAT_ADD };
	uint32_t op = a->op < COLL_AND ? a->op - COLL_ADD : a->op - COLL_AND;

	return (uint8_t)(type[a->type] + op);
}

/* The descriptor of every round. */
static bool make_tree_descriptor(
	struct bench_end *x, const struct bench_tree_how *how)
{
	static const uint8_t channel[] = { [BENCH_TREE_WORLD] = MU_COMM_WORLD,
		[BENCH_TREE_SYSTEM] = MU_SYSTEM_COLLECTIVE,
		[BENCH_TREE_SUB] = MU_SUB_COMM };
	const MUSPI_CollectiveDirectPutDescriptorInfo_t put = {
		.Base = { .Torus_FIFO_Map = how->channel == BENCH_TREE_SYSTEM
						    ? MU_MAP_SYSTEM_COLLECTIVE
						    : MU_MAP_USER_COLLECTIVE,
			.Dest = spi_destination(how->root) },
		.Collective = { .Op_Code = op_code(&how->arith),
			.Word_Length = how->arith.word,
			.Class_Route = (uint8_t)class_of(how),
			.Misc = (uint8_t)((unsigned)channel[how->channel] << 5 |
					  (unsigned)how->what) },
		.DirectPut = { .Rec_Payload_Base_Address_Id = BASE_PAYLOAD,
			.Rec_Counter_Base_Address_Id = BASE_COUNTER },
	};
	const MUSPI_CollectiveMemoryFIFODescriptorInfo_t header = {
		.Base = put.Base,
		.Collective = put.Collective,
	};

	return programs_did(x->programs, "MUSPI_CreateCollectiveDescriptor",
		how->is_header ? MUSPI_CreateCollectiveMemoryFIFODescriptor(
					 &own(x)->put, &header)
			       : MUSPI_CreateCollectiveDirectPutDescriptor(
					 &own(x)->put, &put));
}

static bool tree_open(struct bench_end *x, const struct bench_tree_how *how)
{
	struct own *o = own(x);

	o->tree = fifos_at(&o->fifos, 0);
	o->is_header = how->is_header;
	return (how->channel != BENCH_TREE_SYSTEM || become_system(x)) &&
	       /* where packets have no bytes to be counted */
	       (!how->is_header || mu_open_rec(x, HEADERS_AT, SMALL_FIFO)) &&
	       (how->is_world || set_route(x, how)) &&
	       make_tree_descriptor(x, how);
}

static void tree_expect(struct bench_end *x, uint64_t bytes)
{
	(void)x;
	spi_store(counter_at(COUNTER_TREE), &bytes, sizeof(bytes));
}

static sim_time tree_send(
	struct bench_end *x, uint64_t from, uint64_t to, uint64_t bytes)
{
	MUHWI_Descriptor_t d = own(x)->put;

	if (!own(x)->is_header)
		mu_set_transfer(&d, to, from, bytes, COUNTER_TREE);
	spi_inject(own(x)->tree, &d);
	return program_now();
}

static bool take_header(struct own *o)
{
	MUSPI_RecFifo_t *f = MUSPI_IdToRecFifo(0, &o->rec);
	spi_packet_t packet;

	spi_wait_packet(f);
	MUSPI_getNextPacket(f, &packet);
	MUSPI_syncRecFifoHwHead(f);
	return true;
}

/* What was sent has left memory when its descriptor is complete. */
static bool tree_await(struct bench_end *x, bool receives)
{
	struct own *o = own(x);

	if (receives)
		return o->is_header ? take_header(o)
				    : spi_poll(counter_at(COUNTER_TREE), 0);
	while (!MUSPI_CheckDescComplete(o->tree, o->tree->numInjected - 1))
		;
	return true;
}

const struct bench_tree mu_tree = {
	.open = tree_open,
	.most = SPI_CLASS_SYSTEM - TREE_CLASS,
	.join = set_route,
	.aim = make_tree_descriptor,
	.expect = tree_expect,
	.send = tree_send,
	.await = tree_await,
};

/* --- barriers by the network --- */

static bool barrier_open(struct programs *p, void *barrier)
{
	uint32_t class = Kernel_GetGlobalBarrierUserClassRouteId();

	return programs_did(
		p, "MUSPI_GIBarrierInit", MUSPI_GIBarrierInit(barrier, class));
}

static bool barrier_enter(void *barrier)
{
	MUSPI_GIBarrierEnter(barrier);
	return true;
}

static bool barrier_await(void *barrier)
{
	MUSPI_GIBarrierPoll(barrier);
	return true;
}

static bool barrier_is_over(const void *own, const struct packet *told)
{
	const MUSPI_GIBarrier_t *b = own;

	return told->bytes >> BARRIER_BITS == b->classRouteId &&
	       !(told->bytes & b->state);
}

const struct bench_barrier mu_barrier = {
	.size = sizeof(MUSPI_GIBarrier_t),
	.open = barrier_open,
	.enter = barrier_enter,
	.await = barrier_await,
	.is_over = barrier_is_over,
};
