/*
 * Puts of real bytes from one node to another, by programs on both: the
 * whole way from a descriptor in memory to a counter that is seen at zero.
 *
 * Put k is read from slot k of the sender's memory and written to slot k of
 * the receiver's.  What its bytes are is a function of (seed, k); around
 * them a slot of the receiver holds a guard that must not change.
 */
#include "load/put.h"

#include <inttypes.h>
#include <string.h>

#include "load/keys.h"
#include "load/programs.h"
#include "sim/random.h"

#define AT(field) offsetof(struct put, field)
#define GIB	  (UINT64_C(1) << 30)

/* Addresses, the same on every node. */
#define COUNTER_AT UINT64_C(0x1000)
#define FIFO_AT	   UINT64_C(0x10000)
#define SOURCE_AT  (4 * GIB)
#define TARGET_AT  (8 * GIB)

enum {
	FIFO_BYTES = 64 << 10,
	GUARD = 128, /* bytes before and behind a put's, at least */
	GUARD_BYTE = 0xa5,
	BLOCK = 4096, /* bytes that programs handle at a time */
	PROGRAMS = 2,
};

struct put;

/* What a program knows; the two nodes may belong to different threads. */
struct end {
	struct put *put;
	sim_time at; /* it sent the first one; it saw the last one */
};

struct put {
	struct programs programs;
	/* keys */
	int64_t bytes, from, to, source_offset, target_offset, count;

	uint64_t source_slot, target_slot; /* bytes */
	struct end sender, receiver;
};

static const struct param params[] = {
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "1000",
		.min = 0,
		.max = 1 << 20,
		.help = "length of each put; of 0 bytes, nobody can see when "
			"it has come" },
	KEY_NODE("from", AT(from), "0", "the node that sends"),
	KEY_NODE("to", AT(to), "1",
		"the node that receives; it may be the same"),
	{ .name = "count",
		.type = PARAM_COUNT,
		.offset = AT(count),
		.def = "1",
		.min = 1,
		.max = 1000000,
		.help = "number of puts, one after the other in one "
			"injection FIFO" },
	{ .name = "source-offset",
		.type = PARAM_BYTES,
		.offset = AT(source_offset),
		.def = "0",
		.min = 0,
		.max = 4095,
		.help = "where the bytes begin, behind an aligned address" },
	{ .name = "target-offset",
		.type = PARAM_BYTES,
		.offset = AT(target_offset),
		.def = "0",
		.min = 0,
		.max = 4095,
		.help = "where they are put, behind an aligned address" },
};

static struct put *of(struct load *l)
{
	return (struct put *)l;
}

/* --- bytes --- */

static uint64_t source_of(const struct put *p, uint64_t k)
{
	return SOURCE_AT + k * p->source_slot + (uint64_t)p->source_offset;
}

static uint64_t target_of(const struct put *p, uint64_t k)
{
	return TARGET_AT + k * p->target_slot + GUARD +
	       (uint64_t)p->target_offset;
}

/* Bytes at to at + n of put k; at is a multiple of 16. */
static void make_bytes(
	const struct put *p, uint64_t k, uint64_t at, uint8_t *out, size_t n)
{
	size_t i;

	for (i = 0; i < n; i += 16) {
		struct random_bits r = random_draw(p->programs.load.seed,
			(uint32_t)k, RANDOM_DATA, (at + i) / 16);
		uint8_t b[16];

		memcpy(b, &r.a, 8);
		memcpy(b + 8, &r.b, 8);
		memcpy(out + i, b, n - i < 16 ? n - i : 16);
	}
}

static size_t block_of(uint64_t at, uint64_t end)
{
	return end - at < BLOCK ? (size_t)(end - at) : BLOCK;
}

static void fill_source(const struct put *p, uint64_t k)
{
	uint64_t at, end = (uint64_t)p->bytes;
	uint8_t block[BLOCK];

	for (at = 0; at < end; at += BLOCK) {
		size_t n = block_of(at, end);

		make_bytes(p, k, at, block, n);
		spi_store(source_of(p, k) + at, block, n);
	}
}

static void fill_target(const struct put *p, uint64_t k)
{
	uint64_t at = TARGET_AT + k * p->target_slot;
	uint64_t end = at + p->target_slot;
	uint8_t block[BLOCK];

	memset(block, GUARD_BYTE, sizeof(block));
	for (; at < end; at += BLOCK)
		spi_store(at, block, block_of(at, end));
}

/* Compares [at, at + n), at most a block, with what should be there. */
static void check_block(struct end *r, uint64_t k, const char *what,
	uint64_t at, const uint8_t *want, size_t n)
{
	uint8_t got[BLOCK];
	size_t i;

	spi_load(at, got, n);
	for (i = 0; i < n && got[i] == want[i]; i++)
		;
	if (i < n)
		programs_complain(&r->put->programs,
			"put %" PRIu64 ": byte %" PRId64 " %s is 0x%02x, "
			"and should be 0x%02x",
			k, (int64_t)(at + i - target_of(r->put, k)), what,
			got[i], want[i]);
}

static void check_guard(struct end *r, uint64_t k, uint64_t at, uint64_t end)
{
	uint8_t want[BLOCK];

	memset(want, GUARD_BYTE, sizeof(want));
	for (; at < end; at += BLOCK)
		check_block(
			r, k, "outside its place", at, want, block_of(at, end));
}

static void check_target(struct end *r, uint64_t k)
{
	const struct put *p = r->put;
	uint64_t slot = TARGET_AT + k * p->target_slot;
	uint64_t from = target_of(p, k), end = (uint64_t)p->bytes, at;
	uint8_t want[BLOCK];

	for (at = 0; at < end; at += BLOCK) {
		size_t n = block_of(at, end);

		make_bytes(p, k, at, want, n);
		check_block(r, k, "of its own", from + at, want, n);
	}
	check_guard(r, k, slot, from);
	check_guard(r, k, from + end, slot + p->target_slot);
}

/* --- the programs --- */

static bool build_put(struct end *s, uint64_t k, MUHWI_Descriptor_t *desc)
{
	const struct put *p = s->put;
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address = source_of(p, k),
			.Message_Length = (uint64_t)p->bytes,
			.Torus_FIFO_Map =
				p->from == p->to ? MU_MAP_LOCAL : MU_MAP_TORUS,
			.Dest = spi_destination((uint32_t)p->to) },
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING,
			.Misc2 = MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC },
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       PROGRAMS_BASE_PAYLOAD,
			.Rec_Payload_Offset = target_of(p, k) - TARGET_AT,
			.Rec_Counter_Base_Address_Id = PROGRAMS_BASE_COUNTER },
	};

	return programs_did(&s->put->programs,
		"MUSPI_CreatePt2PtDirectPutDescriptor",
		MUSPI_CreatePt2PtDirectPutDescriptor(desc, &i));
}

static void send_program(void *arg)
{
	struct end *s = arg;
	uint64_t count = (uint64_t)s->put->count, k;
	struct programs_fifos fifos;
	MUSPI_InjFifo_t *fifo = programs_fifo(&fifos, 0);
	MUHWI_Descriptor_t desc;

	for (k = 0; k < count; k++)
		fill_source(s->put, k);
	if (!programs_open_fifos(
		    &s->put->programs, &fifos, 0, 1, FIFO_AT, FIFO_BYTES))
		return;
	program_wait(PROGRAMS_START);
	s->at = program_now();
	for (k = 0; k < count; k++) {
		if (!build_put(s, k, &desc))
			return;
		programs_inject(fifo, &desc);
	}
	while (!MUSPI_CheckDescComplete(fifo, count - 1))
		;
}

static void receive_program(void *arg)
{
	struct end *r = arg;
	uint64_t count = (uint64_t)r->put->count, k;

	for (k = 0; k < count; k++)
		fill_target(r->put, k);
	programs_arm(COUNTER_AT, count * (uint64_t)r->put->bytes);
	if (!programs_open_bases(&r->put->programs, TARGET_AT, COUNTER_AT))
		return;
	if (!spi_poll(COUNTER_AT, 0))
		return;
	r->at = program_now();
	for (k = 0; k < count; k++)
		check_target(r, k);
}

/* --- the course of a run --- */

static int check_nodes(const struct put *p, const struct topo *t, struct err *e)
{
	int64_t worst = p->from > p->to ? p->from : p->to;

	if (worst >= t->n_nodes)
		return err_set(e, "%s: node %lld, and the last one is %u",
			worst == p->from ? "from" : "to", (long long)worst,
			t->n_nodes - 1);
	return 0;
}

static int put_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct put *p = of(l);
	uint64_t bytes = (uint64_t)p->bytes;

	(void)r;
	(void)link;
	l->needs.n_programs = PROGRAMS;
	if (programs_need(&p->programs, TARGET_AT + 2 * GIB, e))
		return -1;
	p->source_slot = (uint64_t)p->source_offset + bytes;
	p->source_slot = (p->source_slot + GUARD - 1) / GUARD * GUARD;
	p->target_slot = (uint64_t)p->target_offset + bytes + 2 * GUARD;
	p->target_slot = (p->target_slot + GUARD - 1) / GUARD * GUARD;
	if (p->target_slot * (uint64_t)p->count > 2 * GIB)
		return err_set(e,
			"count: %lld puts of %lld bytes need more than the 2 "
			"GiB that there are for them",
			(long long)p->count, (long long)p->bytes);
	return check_nodes(p, t, e);
}

static void put_start(struct load *l)
{
	struct put *p = of(l);

	programs_open(&p->programs);
	p->sender.put = p->receiver.put = p;
	program_start(p->programs.load.host, (site_id)p->from, 0, 0,
		send_program, &p->sender);
	program_start(p->programs.load.host, (site_id)p->to, p->from == p->to,
		0, receive_program, &p->receiver);
}

static void put_report(struct load *l, struct load_result *r)
{
	struct put *p = of(l);
	sim_time dt = p->receiver.at - p->sender.at;

	programs_report(&p->programs, r);
	if (r->ending != LOAD_FINISHED || !p->bytes || !p->receiver.at)
		return;
	load_figure(r, "one_way_ns", (double)dt / SIM_NS);
	load_figure(r, "payload_GBps",
		(double)p->bytes * (double)p->count * 1e3 / (double)dt);
}

static uint64_t put_estimate(const struct load *l, const struct topo *t)
{
	const struct put *p = (const struct put *)l;

	(void)t;
	return programs_estimate(PROGRAMS, 1,
		(p->source_slot + p->target_slot) * (uint64_t)p->count);
}

const struct load_ops load_put = {
	.name = "put",
	.help = "one node puts bytes into another one's memory",
	.size = sizeof(struct put),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = put_init,
	.start = put_start,
	.next = programs_next,
	.report = put_report,
	.check = programs_check,
	.fini = programs_fini,
	.estimate = put_estimate,
	.on_delivered = programs_delivered,
};
