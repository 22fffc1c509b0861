/*
 * Blue Gene/Q's message unit: puts are descriptors in injection FIFOs, gets
 * are puts that the other node's unit is asked for, and counters are words of
 * memory that the unit counts down.
 */
#include <string.h>

#include "coll/barrier.h"
#include "load/bench/bench.h"
#include "load/spi/fifos.h"

enum {
	MOST_LANES = 16,
	MOST_BATCH = 8, /* descriptors that are injected at once */
	COUNTERS = 96,
	COUNTER_GETS = COUNTERS, /* and the following, one of each lane */
	COUNTER_NOBODY = COUNTER_GETS + MOST_LANES,
	LINE = 128, /* a counter has one for itself */
	STAGES = 1024, /* descriptors that gets carry */
	FIFO_BYTES = 64 << 10, /* of the only one */
	SMALL_FIFO = 4 << 10,
	/* sub-groups of injection FIFOs, behind those of the first lane */
	GET_SUBGROUP = FIFOS_MOST / MU_PER_SUBGROUP,
	LANE_SUBGROUP,
};

/* Entries of the base address table. */
enum { BASE_PAYLOAD, BASE_COUNTER };

/* Addresses, the same on every node. */
#define COUNTERS_AT UINT64_C(0x1000)
#define FIFOS_AT    UINT64_C(0x10000)
#define GET_FIFO_AT UINT64_C(0x100000)
#define HEADERS_AT  UINT64_C(0x180000) /* a reception FIFO, of a tree */
#define LANES_AT    UINT64_C(0x200000) /* FIFOs of further lanes */
#define STAGES_AT   UINT64_C(0x400000)

struct own {
	struct fifos fifos;
	uint32_t next; /* FIFO to try */
	uint32_t n, most; /* descriptors to be injected together */
	MUHWI_Descriptor_t batch[MOST_BATCH];
	MUHWI_Descriptor_t put, get; /* all that they have in common */
	MUHWI_Descriptor_t asked; /* in the last stage */
	uint64_t n_stages;
	bool has_puts, has_gets; /* that are tracked */
	/* of a tree */
	MUSPI_InjFifo_t *tree;
	MUSPI_InjFifoSubGroup_t system;
	MUSPI_RecFifoSubGroup_t headers;
	bool is_header;
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

static uint64_t counter_at(uint32_t counter)
{
	return COUNTERS_AT + (uint64_t)counter * LINE;
}

/* --- set-up --- */

static bool make_descriptors(struct bench_end *x)
{
	struct programs *p = &x->bench->programs;
	struct own *o = own(x);
	bool is_ordered = x->bench->needs.routing;
	uint32_t i;
	MUSPI_Pt2PtDirectPutDescriptorInfo_t put = {
		.Base = { .Torus_FIFO_Map = MU_MAP_TORUS },
		.DirectPut = { .Rec_Payload_Base_Address_Id = BASE_PAYLOAD,
			.Rec_Counter_Base_Address_Id = BASE_COUNTER },
	};
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t get = {
		.Base = { .Message_Length = sizeof(MUHWI_Descriptor_t),
			.Torus_FIFO_Map = MU_MAP_TORUS },
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING,
			.Misc2 = MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC },
		.RemoteGet = { .Rget_Inj_FIFO_Id =
				       GET_SUBGROUP * MU_PER_SUBGROUP },
	};

	put.Pt2Pt.Misc1 = is_ordered ? MUHWI_PACKET_USE_DETERMINISTIC_ROUTING
				     : MUHWI_PACKET_USE_DYNAMIC_ROUTING;
	put.Pt2Pt.Misc2 = is_ordered
				  ? MUHWI_PACKET_VIRTUAL_CHANNEL_DETERMINISTIC
				  : MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC;
	if (!programs_did(p, "MUSPI_CreatePt2PtDirectPutDescriptor",
		    MUSPI_CreatePt2PtDirectPutDescriptor(&o->put, &put)))
		return false;
	for (i = 0; i < MOST_BATCH; i++)
		o->batch[i] = o->put;
	return programs_did(p, "MUSPI_CreatePt2PtRemoteGetDescriptor",
		MUSPI_CreatePt2PtRemoteGetDescriptor(&o->get, &get));
}

/* The injection FIFO for those who get. */
static bool open_get_fifo(struct programs *p)
{
	static const Kernel_InjFifoAttributes_t attr = { .RemoteGet = 1 };
	MUSPI_InjFifoSubGroup_t g;

	return fifos_open_group(
		p, &g, GET_SUBGROUP, 1, &attr, GET_FIFO_AT, FIFO_BYTES);
}

/* Payloads and counters lie behind the same address. */
static bool open_bases(struct programs *p)
{
	static const uint32_t ids[] = { BASE_PAYLOAD, BASE_COUNTER };
	MUSPI_BaseAddressTableSubGroup_t g;

	return programs_did(p, "Kernel_AllocateBaseAddressTable",
		       Kernel_AllocateBaseAddressTable(0, &g, 2, ids, 0)) &&
	       programs_did(p, "MUSPI_SetBaseAddress",
		       MUSPI_SetBaseAddress(&g, BASE_PAYLOAD, 0)) &&
	       programs_did(p, "MUSPI_SetBaseAddress",
		       MUSPI_SetBaseAddress(&g, BASE_COUNTER,
			       MUSPI_GetAtomicAddress(0, MU_ATOMIC_STORE_ADD)));
}

/* Few ones are better spread over all FIFOs. */
static uint32_t batch_of(const struct bench_needs *n)
{
	uint64_t most = n->n_puts / n->queues;

	return most > MOST_BATCH ? MOST_BATCH : most ? (uint32_t)most : 1;
}

static bool unit_open(struct bench_end *x)
{
	const struct bench_needs *n = &x->bench->needs;
	struct programs *p = &x->bench->programs;
	uint64_t size = n->queues > 1 ? SMALL_FIFO : FIFO_BYTES;
	struct own *o = own(x);

	o->most = batch_of(n);
	if (x->lane)
		return fifos_open(p, &o->fifos, LANE_SUBGROUP + x->lane,
			       n->queues,
			       LANES_AT + (uint64_t)x->lane * FIFO_BYTES,
			       SMALL_FIFO) &&
		       make_descriptors(x);
	return (x->is_sink ||
		       fifos_open(p, &o->fifos, 0, n->queues, FIFOS_AT,
			       n->queue_bytes ? n->queue_bytes : size)) &&
	       (!n->has_gets || open_get_fifo(p)) && make_descriptors(x) &&
	       open_bases(p);
}

/* --- transfers --- */

static void unit_expect(struct bench_end *x, uint32_t counter, uint64_t bytes)
{
	(void)x;
	spi_store(counter_at(counter), &bytes, sizeof(bytes));
}

/* All that waits, into the next FIFO that has room. */
static void inject(struct own *o)
{
	uint64_t number;

	if (!o->n)
		return;
	do {
		number = MUSPI_InjFifoInjectMultiple(
			fifos_at(&o->fifos, o->next), o->n, o->batch);
		o->next = o->next + 1 < o->fifos.n ? o->next + 1 : 0;
	} while (number == SPI_NONE);
	o->n = 0;
}

static bool unit_await(struct bench_end *x, uint32_t counter)
{
	inject(own(x));
	return spi_poll(counter_at(counter), 0);
}

/* A FIFO and, where the routing goes by them, a hint bit, both of one port; the
 * header's order is A-, A+. */
static void take_port(
	const struct bench_end *x, MUHWI_Descriptor_t *d, uint32_t port)
{
	uint32_t hint = 0x200u >> (port ^ 1);

	mu_set_fifo_map(d, (uint64_t)MU_MAP_A_MINUS >> (port ^ 1));
	if (!x->bench->programs.load.net->route->tables)
		return;
	d->header.byte[1] = (uint8_t)(hint >> 2);
	d->header.byte[2] |= (uint8_t)((hint & 3) << 6);
}

static uint32_t unit_address(const struct topo *t, site_id node)
{
	return spi_destination_in(t, node).Destination;
}

static void aim(const struct bench_end *x, MUHWI_Descriptor_t *d, uint32_t node)
{
	mu_set(d->header.byte + 4, 4,
		x->bench->address ? x->bench->address[node]
				  : spi_destination(node).Destination);
}

static void set_put(MUHWI_Descriptor_t *d, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t counter)
{
	mu_set_payload(d, from, bytes);
	mu_set_put(&d->header, BASE_PAYLOAD, to);
	mu_set_counter(&d->header, BASE_COUNTER, counter_at(counter));
}

/* Those that may go anywhere wait for others, and differ in little. */
static void unit_put(struct bench_end *x, const struct bench_put *p)
{
	struct own *o = own(x);
	bool is_free = p->queue == BENCH_ANY && p->port == BENCH_ANY &&
		       p->node != x->node;
	MUHWI_Descriptor_t bound, *d = is_free ? &o->batch[o->n] : &bound;

	if (!is_free)
		bound = o->put;
	o->has_puts |= p->is_tracked;
	set_put(d, p->to, p->from, p->bytes,
		p->counter == BENCH_NONE ? COUNTER_NOBODY : p->counter);
	aim(x, d, p->node);
	if (is_free) {
		if (++o->n == o->most)
			inject(o);
		return;
	}
	if (p->port != BENCH_ANY)
		take_port(x, d, p->port);
	else if (p->node == x->node)
		mu_set_fifo_map(d, MU_MAP_LOCAL);
	fifos_inject(
		fifos_at(&o->fifos, p->queue == BENCH_ANY ? 0 : p->queue), d);
}

/* A get carries the put that answers it; those of the same bytes share one. */
static uint64_t stage(struct bench_end *x, const MUHWI_Descriptor_t *put)
{
	struct own *o = own(x);
	uint64_t at;

	if (!o->n_stages || memcmp(&o->asked, put, sizeof(*put)) != 0)
		o->n_stages++;
	at = STAGES_AT +
	     (x->lane * STAGES + o->n_stages % STAGES) * (uint64_t)sizeof(*put);
	o->asked = *put;
	spi_store(at, put, sizeof(*put));
	return at;
}

static void unit_get(struct bench_end *x, uint32_t node, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t queue, bool is_tracked)
{
	struct own *o = own(x);
	MUHWI_Descriptor_t put = o->put, d = o->get;

	set_put(&put, to, from, bytes,
		is_tracked ? COUNTER_GETS + x->lane : COUNTER_NOBODY);
	aim(x, &put, x->node);
	mu_set_payload(&d, stage(x, &put), sizeof(put));
	aim(x, &d, node);
	fifos_inject(fifos_at(&o->fifos, queue == BENCH_ANY ? 0 : queue), &d);
}

static void unit_track_gets(struct bench_end *x, uint64_t n, uint64_t bytes)
{
	own(x)->has_gets = true;
	own(x)->n_stages = 0;
	unit_expect(x, COUNTER_GETS + x->lane, n * bytes);
}

static bool unit_flush(struct bench_end *x)
{
	struct own *o = own(x);
	uint32_t i;

	inject(o);
	for (i = 0; o->has_puts && i < o->fifos.n; i++) {
		const MUSPI_InjFifo_t *f = fifos_at(&o->fifos, i);

		while (f->numInjected &&
			!MUSPI_CheckDescComplete(f, f->numInjected - 1))
			;
	}
	if (o->has_gets && !spi_poll(counter_at(COUNTER_GETS + x->lane), 0))
		return false;
	o->has_puts = o->has_gets = false;
	return true;
}

/* --- collectives --- */

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
	struct programs *p = &x->bench->programs;
	ClassRoute_t route;
	MUSPI_Box_t box = { .low = { 0 } };
	uint32_t i;

	for (i = 0; i < MU_DIMS && how->box->length[i]; i++) {
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
	struct programs *p = &x->bench->programs;
	struct own *o = own(x);

	spi_become_system();
	if (!fifos_open_group(p, &o->system, MU_SYSTEM_SUBGROUP, 1, NULL,
		    LANES_AT, SMALL_FIFO) ||
		!programs_did(p, "Kernel_DeallocateCollectiveClassRoute",
			Kernel_DeallocateCollectiveClassRoute(SPI_CLASS_WORLD)))
		return false;
	o->tree = MUSPI_IdToInjFifo(0, &o->system);
	return true;
}

/* A reception FIFO, where packets have no bytes to be counted. */
static bool open_headers(struct bench_end *x)
{
	struct programs *p = &x->bench->programs;
	MUSPI_RecFifoSubGroup_t *g = &own(x)->headers;
	static const uint32_t id = 0;
	Kernel_MemoryRegion_t r;

	return programs_did(p, "Kernel_CreateMemoryRegion",
		       Kernel_CreateMemoryRegion(&r, HEADERS_AT, SMALL_FIFO)) &&
	       programs_did(p, "Kernel_AllocateRecFifos",
		       Kernel_AllocateRecFifos(0, g, 1, &id, NULL)) &&
	       programs_did(p, "Kernel_RecFifoInit",
		       Kernel_RecFifoInit(g, id, &r, 0, SMALL_FIFO - 1)) &&
	       programs_did(p, "Kernel_RecFifoEnable",
		       Kernel_RecFifoEnable(0, spi_rec_bit(0, id)));
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

	return programs_did(&x->bench->programs,
		"MUSPI_CreateCollectiveDescriptor",
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
	       (!how->is_header || open_headers(x)) &&
	       (how->is_world || set_route(x, how)) &&
	       make_tree_descriptor(x, how);
}

static void tree_expect(struct bench_end *x, uint64_t bytes)
{
	unit_expect(x, COUNTER_TREE, bytes);
}

static sim_time tree_send(
	struct bench_end *x, uint64_t from, uint64_t to, uint64_t bytes)
{
	MUHWI_Descriptor_t d = own(x)->put;

	if (!own(x)->is_header)
		set_put(&d, to, from, bytes, COUNTER_TREE);
	fifos_inject(own(x)->tree, &d);
	return program_now();
}

static bool take_header(struct own *o)
{
	MUSPI_RecFifo_t *f = MUSPI_IdToRecFifo(0, &o->headers);
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

static const struct bench_tree tree = {
	.open = tree_open,
	.most = SPI_CLASS_SYSTEM - TREE_CLASS,
	.join = set_route,
	.aim = make_tree_descriptor,
	.expect = tree_expect,
	.send = tree_send,
	.await = tree_await,
};

static uint64_t unit_counter(const struct bench *b, site_id node, uint32_t i)
{
	uint64_t word = 0;

	host_read(b->programs.load.host, node, counter_at(i), &word,
		sizeof(word));
	return word;
}

static sim_time unit_software(const struct bench *b)
{
	const struct mu_params *p = b->programs.load.nic_params;

	return p->software;
}

static const char *const means[] = { "auto", "put", NULL };

/* --- barriers by the network --- */

static bool barrier_open(struct programs *p, void *barrier)
{
	uint32_t class = Kernel_GetGlobalBarrierUserClassRouteId();

	return programs_did(
		p, "MUSPI_GIBarrierInit", MUSPI_GIBarrierInit(barrier, class));
}

static void barrier_enter(void *barrier)
{
	MUSPI_GIBarrierEnter(barrier);
}

static void barrier_await(void *barrier)
{
	MUSPI_GIBarrierPoll(barrier);
}

static bool barrier_is_over(const void *own, const struct packet *told)
{
	const MUSPI_GIBarrier_t *b = own;

	return told->bytes >> BARRIER_BITS == b->classRouteId &&
	       !(told->bytes & b->state);
}

static const struct bench_barrier barrier = {
	.size = sizeof(MUSPI_GIBarrier_t),
	.open = barrier_open,
	.enter = barrier_enter,
	.await = barrier_await,
	.is_over = barrier_is_over,
};

const struct bench_driver bench_mu = {
	.name = "bgq-mu",
	.means = means,
	.grain = 1,
	.n_counters = COUNTERS,
	.most_queues = FIFOS_MOST,
	.most_lanes = MOST_LANES,
	.has_self = true,
	/* where atomics begin, addresses of memory end */
	.size = sizeof(struct own),
	.open = unit_open,
	.expect = unit_expect,
	.await = unit_await,
	.put = unit_put,
	.get = unit_get,
	.track_gets = unit_track_gets,
	.flush = unit_flush,
	.counter = unit_counter,
	.tree = &tree,
	.address = unit_address,
	.software = unit_software,
	.barrier = &barrier,
};
