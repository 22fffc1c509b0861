/*
 * Blue Gene/Q's message unit: puts are descriptors in injection FIFOs, gets
 * are puts that the other node's unit is asked for, and counters are words of
 * memory that the unit counts down.  Blocks go into reception FIFOs.
 */
#include <string.h>

#include "base/mem.h"
#include "load/bench/drivers/mu.h"
#include "meas/digest.h"

enum {
	MOST_LANES = 16,
	COUNTERS = 96,
	COUNTER_GETS = COUNTERS, /* and the following, one of each lane */
	COUNTER_NOBODY = COUNTER_GETS + MOST_LANES,
	STAGES = 1024, /* descriptors that gets carry */
	FIFO_BYTES = 64 << 10, /* of the only one */
	REC_BYTES = 256 << 10, /* of a reception FIFO for blocks */
	MOST_BLOCK = 4 << 10,
	/* sub-groups of injection FIFOs, after those of the first lane */
	GET_SUBGROUP = FIFOS_MOST / MU_PER_SUBGROUP,
	LANE_SUBGROUP,
};

/* Injection FIFOs, where transfers are left to chance. */
enum { FIFO_USUAL, FIFO_URGENT, N_CHANCE_FIFOS };

/* What has come of a sender's block that is longer than a packet. */
struct mu_partial {
	uint8_t *bytes;
	uint32_t n;
};

/* What each packet of a block carries. */
struct label {
	uint32_t sender, bytes;
};

/* --- FIFOs --- */

static bool fifos_open(struct programs *p, struct fifos *f, uint32_t first,
	uint32_t n, uint64_t at, uint64_t size)
{
	uint32_t k;

	BUG_IF(n > FIFOS_MOST);
	f->n = n;
	for (uint32_t i = 0; i < n; i += k) {
		k = n - i < MU_PER_SUBGROUP ? n - i : MU_PER_SUBGROUP;
		if (!programs_did(p, "spi_open_inj",
			    spi_open_inj(&f->group[i / MU_PER_SUBGROUP],
				    first + i / MU_PER_SUBGROUP, 0, k, NULL,
				    at + i * size, size)))
			return false;
	}
	return true;
}

/* --- set-up --- */

static bool make_descriptors(struct bench_end *x)
{
	struct programs *p = x->programs;
	struct own *o = own(x);
	bool is_ordered = x->bench->needs.routing;
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
	for (uint32_t i = 0; i < MOST_BATCH; i++)
		o->batch[i] = o->put;
	return programs_did(p, "MUSPI_CreatePt2PtRemoteGetDescriptor",
		MUSPI_CreatePt2PtRemoteGetDescriptor(&o->get, &get));
}

/* The injection FIFO for those who get. */
static bool open_get_fifo(struct programs *p)
{
	static const Kernel_InjFifoAttributes_t attr = { .RemoteGet = 1 };
	MUSPI_InjFifoSubGroup_t g;

	return programs_did(p, "spi_open_inj",
		spi_open_inj(&g, GET_SUBGROUP, 0, 1, &attr, GET_FIFO_AT,
			FIFO_BYTES));
}

/* All bases are address 0: as such for payloads, and by an atomic operation for
 * counters and other words. */
static bool open_bases(struct programs *p, uint32_t n)
{
	static const uint32_t ids[] = { 0, 1, 2, 3, 4, 5 };
	static const enum mu_atomic operation[] = { MU_ATOMIC_STORE_ADD,
		MU_ATOMIC_STORE, MU_ATOMIC_STORE_MAX, MU_ATOMIC_STORE_XOR,
		MU_ATOMIC_STORE_OR };
	MUSPI_BaseAddressTableSubGroup_t g;

	if (!programs_did(p, "Kernel_AllocateBaseAddressTable",
		    Kernel_AllocateBaseAddressTable(0, &g, n, ids, 0)))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!programs_did(p, "MUSPI_SetBaseAddress",
			    MUSPI_SetBaseAddress(&g, i,
				    i ? MUSPI_GetAtomicAddress(
						0, operation[i - BASE_COUNTER])
				      : 0)))
			return false;
	return true;
}

/* Few ones are better spread over all FIFOs. */
static uint32_t batch_of(const struct bench_needs *n)
{
	uint64_t most = n->n_puts / n->queues;

	return most > MOST_BATCH ? MOST_BATCH : most ? (uint32_t)most : 1;
}

static bool open_fifos(struct bench_end *x)
{
	static const Kernel_InjFifoAttributes_t attrs[N_CHANCE_FIFOS] = {
		[FIFO_URGENT] = { .Priority = 1 },
	};
	const struct bench_needs *n = &x->bench->needs;
	struct programs *p = x->programs;
	uint64_t size = n->queues > 1 || x->lane ? SMALL_FIFO : FIFO_BYTES;
	uint64_t at = FIFOS_AT;
	uint32_t first = 0;
	struct fifos *f = &own(x)->fifos;

	if (x->lane) {
		at = LANES_AT + (uint64_t)x->lane * FIFO_BYTES;
		first = LANE_SUBGROUP + x->lane;
	} else if (n->queue_bytes) {
		size = n->queue_bytes;
	}
	if (!n->has_chances)
		return fifos_open(p, f, first, n->queues, at, size);
	f->n = N_CHANCE_FIFOS;
	return programs_did(p, "spi_open_inj",
		spi_open_inj(
			&f->group[0], first, 0, f->n, attrs, at, SMALL_FIFO));
}

/* The first of a node's programs opens what they share. */
static bool unit_open(struct bench_end *x)
{
	const struct bench_needs *n = &x->bench->needs;
	struct programs *p = x->programs;

	own(x)->most = batch_of(n);
	if (x->lane)
		return open_fifos(x) && make_descriptors(x);
	return (x->is_sink || open_fifos(x)) &&
	       (!n->has_gets || open_get_fifo(p)) && make_descriptors(x) &&
	       open_bases(p,
		       n->has_chances ? BASE_COUNTER + BENCH_ATOMICS : N_BASES);
}

static void unit_fini(struct bench_end *x)
{
	struct own *o = own(x);

	for (uint32_t i = 0; o->partial && i < x->bench->needs.n_programs; i++)
		mem_free(o->partial[i].bytes);
	mem_free(o->partial);
}

bool mu_open_rec(struct bench_end *x, uint64_t at, uint64_t size)
{
	return programs_did(x->programs, "spi_open_rec",
		spi_open_rec(&own(x)->rec, x->lane, 0, at, size));
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

/* Whether the routing goes by hints. */
static bool has_hints(const struct bench_end *x)
{
	return x->load->net->route->tables;
}

/* A FIFO and, where the routing goes by them, a hint bit, both of one port; the
 * header's order is A-, A+. */
static void take_port(
	const struct bench_end *x, MUHWI_Descriptor_t *d, uint32_t port)
{
	uint32_t hint = 0x200u >> (port ^ 1);

	mu_set_fifo_map(d, (uint64_t)MU_MAP_A_MINUS >> (port ^ 1));
	if (!has_hints(x))
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

/* --- ways that are left to chance --- */

enum way {
	ROUTE_DYNAMIC,
	ROUTE_HINTED, /* dynamic, with hints for some dimensions */
	ROUTE_DETERMINISTIC,
	ROUTE_HIGH,
	N_ROUTES,
};

/* Hints for some of the dimensions in which two nodes differ; around a ring
 * either way will do. */
static uint32_t draw_hints(
	const struct topo *t, uint32_t from, uint32_t to, uint64_t bits)
{
	uint32_t hints = 0;
	struct topo_grid g;

	if (!topo_grid_of(t, &g))
		return 0;
	for (uint32_t i = 0; i < g.n_dims; i++, bits >>= 2) {
		uint32_t x = topo_grid_coord(&g, from, i);
		uint32_t y = topo_grid_coord(&g, to, i);
		router_id last = from + (g.dim[i] - 1 - x) * g.stride[i];
		bool is_plus = y > x;

		if (x == y || !(bits & 2))
			continue;
		if (t->ops->peer(t, last, g.up[i]).router != NO_ROUTER)
			is_plus = bits & 1;
		hints |= (is_plus ? 0x100u : 0x200u) >> 2 * i;
	}
	return hints;
}

/* The map of torus FIFOs, and of the header routing, hints, channel and zone.
 * The deterministic ones keep their order if their bits are the same. */
static void choose_way(const struct bench_end *x, MUHWI_Descriptor_t *d,
	uint32_t from, uint32_t to, enum way route, uint64_t bits)
{
	bool is_dynamic = route < ROUTE_DETERMINISTIC;
	uint64_t map = (uint64_t)MU_MAP_A_MINUS >> bits % (2 * MU_DIMS);
	enum mu_channel channel = is_dynamic ? MU_DYNAMIC : MU_DETERMINISTIC;
	uint32_t hints = 0;

	if (from == to) {
		map = is_dynamic ? MU_MAP_LOCAL : MU_MAP_LOCAL & 0x20;
	} else if (route == ROUTE_HIGH) {
		map = MU_MAP_HIGH;
		channel = MU_HIGH;
	} else if (is_dynamic) {
		map |= digest_mix(bits) & MU_MAP_TORUS;
	}
	if (route == ROUTE_HINTED && has_hints(x))
		hints = draw_hints(x->load->net->topo, from, to, bits >> 8);
	mu_set_fifo_map(d, map);
	d->header.byte[1] = (uint8_t)(hints >> 2);
	d->header.byte[2] = (uint8_t)((hints & 3) << 6 | (is_dynamic ? 4 : 0));
	d->header.byte[3] =
		(uint8_t)((uint32_t)channel << 5 | (bits >> 30 & 3) << 3);
}

/* From this node to another, by a FIFO that fits. */
static void inject_by(struct bench_end *x, uint32_t to, enum way route,
	uint64_t bits, MUHWI_Descriptor_t *d)
{
	choose_way(x, d, x->node, to, route, bits);
	aim(x, d, to);
	spi_inject(fifos_at(&own(x)->fifos,
			   route == ROUTE_HIGH ? FIFO_URGENT : FIFO_USUAL),
		d);
}

static enum way route_of(uint64_t chance)
{
	return (enum way)(chance >> 8 & (N_ROUTES - 1));
}

/* --- puts and gets --- */

void mu_set_transfer(MUHWI_Descriptor_t *d, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t counter)
{
	mu_set_payload(d, from, bytes);
	mu_set_put(&d->header, BASE_PAYLOAD, to);
	mu_set_counter(&d->header, BASE_COUNTER, counter_at(counter));
}

/* Now and then what is put is fetched into the cache first. */
static void put_by_chance(struct bench_end *x, const struct bench_transfer *p,
	MUHWI_Descriptor_t *d)
{
	uint64_t bits = p->chance >> 16;

	if (p->chance >> 12 & 15) {
		inject_by(x, p->node, route_of(p->chance), bits, d);
		return;
	}
	mu_set_prefetch(d, true);
	inject_by(x, p->node, ROUTE_DYNAMIC, bits, d);
	mu_set_prefetch(d, false);
	inject_by(x, p->node, route_of(p->chance), bits, d);
}

/* Those that may go anywhere wait for others, and differ in little. */
static void unit_put(struct bench_end *x, const struct bench_transfer *p)
{
	struct own *o = own(x);
	bool is_free = p->queue == BENCH_ANY && p->port == BENCH_ANY &&
		       p->node != x->node && !p->chance;
	MUHWI_Descriptor_t bound, *d = is_free ? &o->batch[o->n] : &bound;

	if (!is_free)
		bound = o->put;
	o->has_puts |= p->is_tracked;
	mu_set_transfer(d, p->to, p->from, p->bytes,
		p->counter == BENCH_NONE ? COUNTER_NOBODY : p->counter);
	if (p->chance) {
		put_by_chance(x, p, d);
		return;
	}
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
	spi_inject(
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

static void unit_get(struct bench_end *x, const struct bench_transfer *g)
{
	struct own *o = own(x);
	MUHWI_Descriptor_t put = o->put, d = o->get;

	mu_set_transfer(&put, g->to, g->from, g->bytes,
		g->is_tracked ? COUNTER_GETS + x->lane : COUNTER_NOBODY);
	aim(x, &put, x->node);
	if (g->chance || g->node == x->node)
		choose_way(x, &put, g->node, x->node, route_of(g->chance),
			g->chance >> 20);
	mu_set_payload(&d, stage(x, &put), sizeof(put));
	if (g->chance || g->node == x->node) {
		inject_by(x, g->node, route_of(g->chance), g->chance >> 16, &d);
		return;
	}
	aim(x, &d, g->node);
	spi_inject(
		fifos_at(&o->fifos, g->queue == BENCH_ANY ? 0 : g->queue), &d);
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

	inject(o);
	for (uint32_t i = 0; o->has_puts && i < o->fifos.n; i++) {
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

/* --- atomics --- */

static void unit_change(struct bench_end *x, uint32_t node, uint64_t at,
	enum bench_atomic kind, uint64_t operand, uint32_t most)
{
	uint64_t chance = digest_mix(operand), from = WORDS_AT + 8 * x->lane;
	MUHWI_Descriptor_t d = own(x)->put;

	(void)most;
	unit_flush(x); /* the operand of the one before was read */
	spi_store(from, &operand, sizeof(operand));
	mu_set_transfer(&d, at, from, sizeof(operand), COUNTER_NOBODY);
	mu_set_put(&d.header, BASE_COUNTER + (uint32_t)kind, at);
	own(x)->has_puts = true;
	inject_by(x, node, route_of(chance), chance >> 16, &d);
}

static const struct bench_atomics atomics = {
	.n = BENCH_ATOMICS,
	.change = unit_change,
};

/* --- blocks --- */

static bool unit_open_channel(struct bench_end *x, uint64_t at, uint32_t bytes)
{
	(void)at;
	(void)bytes;
	own(x)->partial =
		mem_alloc(x->bench->needs.n_programs, sizeof(*own(x)->partial));
	return mu_open_rec(
		       x, RECS_AT + x->lane * (uint64_t)REC_BYTES, REC_BYTES) &&
	       programs_is_early(x->programs);
}

static uint32_t packet_bytes(const struct bench_end *x)
{
	uint32_t most = x->load->net->link.max_payload;

	return most && most < MU_PAYLOAD ? most : MU_PAYLOAD;
}

/* One of several packets keeps its order, also with those of other blocks for
 * the same program; a packet alone goes by any route. */
static void unit_send_block(struct bench_end *x, uint32_t node, uint32_t lane,
	uint64_t from, uint64_t bytes)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t info = {
		.MemFIFO = { .Rec_FIFO_Id = lane * MU_REC_PER_SUBGROUP },
	};
	struct label l = { (uint32_t)(x - x->bench->ends), (uint32_t)bytes };
	uint64_t to = (uint64_t)node << 16 | lane;
	bool is_one = bytes <= packet_bytes(x);
	uint64_t chance = digest_mix(
		(uint64_t)l.sender << 40 ^ (is_one ? own(x)->n_blocks++ : to));
	enum way route = route_of(chance);
	MUHWI_Descriptor_t d;

	if (!is_one)
		route |= ROUTE_DETERMINISTIC;
	memcpy(info.MemFIFO.SoftwareBytes, &l, sizeof(l));
	own(x)->has_puts = true;
	programs_did(x->programs, "MUSPI_CreatePt2PtMemoryFIFODescriptor",
		MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &info));
	mu_set_payload(&d, from, bytes);
	inject_by(x, node, route, chance >> 16, &d);
}

/* The bytes of a block of which this packet was the last one, or 0. */
static uint32_t add_packet(
	struct bench_end *x, const spi_packet_t *p, uint8_t *block)
{
	struct programs *programs = x->programs;
	uint64_t at = spi_put_offset(&p->Header);
	struct mu_partial *q;
	struct label l;
	uint32_t n;

	memcpy(&l, spi_software_bytes(&p->Header), sizeof(l));
	if (l.sender >= x->bench->needs.n_programs || l.bytes > MOST_BLOCK)
		return programs_complain(programs, "an unexpected packet");
	q = &own(x)->partial[l.sender];
	if (at >= l.bytes || (l.bytes > packet_bytes(x) && at != q->n))
		return programs_complain(programs, "packets out of order");
	n = l.bytes - (uint32_t)at;
	n = n < packet_bytes(x) ? n : packet_bytes(x);
	if (n == l.bytes) {
		memcpy(block, p->Payload, n);
		return n;
	}
	if (!q->bytes)
		q->bytes = mem_alloc(MOST_BLOCK, 1);
	memcpy(q->bytes + at, p->Payload, n);
	q->n += n;
	if (q->n < l.bytes)
		return 0;
	memcpy(block, q->bytes, l.bytes);
	q->n = 0;
	return l.bytes;
}

static uint32_t unit_take(struct bench_end *x, void *block)
{
	MUSPI_RecFifo_t *f = MUSPI_IdToRecFifo(0, &own(x)->rec);
	spi_packet_t packet;
	uint32_t n = 0;

	while (!n && MUSPI_getNextPacket(f, &packet)) {
		MUSPI_syncRecFifoHwHead(f);
		n = add_packet(x, &packet, block);
	}
	return n;
}

static const struct bench_channel blocks = {
	.most_lanes = MOST_LANES,
	.most_bytes = MOST_BLOCK,
	.open = unit_open_channel,
	.take = unit_take,
	.send = unit_send_block,
};

static uint64_t unit_counter(const struct bench *b, site_id node, uint32_t i)
{
	return bench_word(b, node, counter_at(i));
}

static sim_time unit_software(const struct bench *b)
{
	const struct mu_params *p = b->programs.load.nic_params;

	return p->software;
}

static const struct bench_tracking tracking = { .gets = unit_track_gets };

static const struct bench_looks looks = {
	.counter = unit_counter,
	.address = unit_address,
	.software = unit_software,
};

static const struct bench_means means[] = {
	{ .name = "auto" },
	{ .name = "put" },
	{ 0 },
};

const struct bench_driver bench_mu = {
	.name = "bgq-mu",
	.means = means,
	.most = { .grain = 1,
		.counters = COUNTERS,
		.queues = FIFOS_MOST,
		.lanes = MOST_LANES },
	.is = BENCH_HAS_SELF,
	.size = sizeof(struct own),
	.open = unit_open,
	.expect = unit_expect,
	.await = unit_await,
	.put = unit_put,
	.get = unit_get,
	.flush = unit_flush,
	.fini = unit_fini,
	.tracking = &tracking,
	.atomics = &atomics,
	.channel = &blocks,
	.looks = &looks,
	.tree = &mu_tree,
	.barrier = &mu_barrier,
};
