/*
 * The daemon of an IO node: takes shipped calls, fetches what is written and
 * puts what is read, both over PCIe from and to the file system behind it.
 *
 * Each of its threads has a reception FIFO, an injection FIFO, and two buffers:
 * while one crosses PCIe, the other is filled from the network, or sent.
 */
#include "api/spi/cnk.h"

#include <errno.h>
#include <string.h>

#include "parts/files/files.h"

/* Between looks whether a buffer has been sent. */
#define SENT_POLL (500 * (sim_time)SIM_NS)
/* Of a thread that waits for another to be set up. */
#define TURN (100 * (sim_time)SIM_NS)

_Static_assert((int)CNK_NAME == FILES_NAME && (int)CNK_FILES == FILES_MOST &&
		       (int)CNK_CREATE == FILES_CREATE &&
		       (int)CNK_TRUNCATE == FILES_TRUNCATE &&
		       (int)CNK_THREADS == FILES_THREADS &&
		       CNK_BYTES == FILES_BYTES,
	"calls are handed over as they are");

enum {
	PIECE = FILES_PIECE, /* what a buffer holds */
	BUFFERS = 2,
	FIFO_BYTES = 4096,
	REC_BYTES = 64 << 10,
	/* memory of a thread */
	PART = 1 << 20,
	AT_FIFO = 0,
	AT_REC = 0x10000,
	AT_GET = 0x20000, /* a descriptor for each buffer */
	AT_COUNTER = 0x21000, /* the same */
	AT_ANSWER = 0x22000, /* one for each place of the FIFO */
	AT_BUFFER = 0x40000,
	ANSWERS = FIFO_BYTES / MU_DESCRIPTOR_BYTES,
	/* base addresses of a thread */
	BASE_BUFFERS = 0,
	BASE_COUNTERS = 1,
};

/* Of an IO node: threads that are set up, by sub-group. */
struct daemon {
	uint32_t n_open[CNK_THREADS / MU_REC_PER_SUBGROUP];
};

struct server {
	struct daemon *all;
	struct files_seat *seat;
	uint32_t io, number; /* among its own, and in the whole machine */
	const struct torus *torus;
	uint32_t thread, subgroup, id; /* id: of two FIFOs and bases */
	uint64_t at;
	MUSPI_InjFifoSubGroup_t inj;
	MUSPI_RecFifoSubGroup_t rec;
	uint64_t sent[BUFFERS]; /* descriptors before a buffer is free */
};

static const struct program_library library = {
	.size = sizeof(struct daemon),
};

/* --- PCIe, and what is behind it --- */

static const struct files_params *params(void)
{
	return part_params(host_parts(program_host()), &part_files);
}

/* One that is filled in and then handed over. */
static struct files_call *call_of(
	const struct server *v, enum files_op op, const struct cnk_request *q)
{
	struct files_call *c = files_call(v->seat, v->io, v->thread);

	*c = (struct files_call){ .op = op,
		.node = q->node,
		.process = q->process,
		.file = q->file,
		.how = q->how };
	memcpy(c->name, q->name, sizeof(c->name));
	return c;
}

/* Its answer is there after a window at the soonest. */
static int64_t hand_over(const struct server *v, struct files_call *c)
{
	sim_time now = program_now();

	files_hand_over(v->seat, c, v->number, now);
	program_wait(now + program_worker()->width);
	program_wait(c->end - v->seat->begin);
	return c->result;
}

/* What the file system looks at. */
static int64_t ask(
	const struct server *v, enum files_op op, const struct cnk_request *q)
{
	sim_time until = program_now() + params()->latency;
	int64_t result = hand_over(v, call_of(v, op, q));

	program_wait(until);
	return result;
}

/* Takes bytes over PCIe, to a file or from one; returns how many. */
static int64_t cross(const struct server *v, enum files_op op,
	const struct cnk_request *q, uint64_t done, uint32_t bytes, uint64_t at)
{
	struct files_call *c = call_of(v, op, q);
	uint8_t *data = files_data(v->seat, c);
	int64_t moved;

	c->offset = q->offset + done;
	c->bytes = bytes;
	if (op == FILES_WRITE)
		memory_read(host_at(program_host(), program_node()),
			MEMORY_DEVICE, at, data, bytes);
	moved = hand_over(v, c);
	if (op == FILES_READ && moved > 0)
		host_write_by(program_host(), program_worker(), program_node(),
			program_now(), MEMORY_DEVICE, at, data, (size_t)moved);
	return moved;
}

/* --- packets --- */

static uint64_t buffer_at(const struct server *v, uint32_t k)
{
	return v->at + AT_BUFFER + k * (uint64_t)PIECE;
}

static uint32_t base_of(const struct server *v, uint32_t base)
{
	return v->subgroup * MU_PER_SUBGROUP + v->id + base;
}

static MUSPI_InjFifo_t *fifo_of(struct server *v)
{
	return &v->inj.fifo[v->id];
}

/* One network FIFO for each thread, so that all links can be busy. */
static uint64_t map_of(const struct server *v)
{
	return MU_MAP_A_MINUS >> v->thread % 10;
}

static uint8_t way_back(const struct server *v, uint32_t node)
{
	return (uint8_t)(SPI_IO_LINK * torus_io_link(v->torus, node));
}

/* Puts bytes into a client's memory, and counts them there. */
static uint64_t put(struct server *v, const struct cnk_request *q, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter)
{
	uint32_t first = CNK_FIRST + 2 * q->process;
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = cnk_base(q->node, from, bytes, map_of(v)),
		.Pt2Pt = cnk_way(way_back(v, q->node)),
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       first + CNK_MEMORY,
			.Rec_Payload_Offset = to,
			.Rec_Counter_Base_Address_Id = first + CNK_COUNTER,
			.Rec_Counter_Offset = counter },
	};
	MUHWI_Descriptor_t d;

	BUG_IF(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i));
	return spi_inject(fifo_of(v), &d);
}

/* The client's unit puts bytes of its memory into a buffer. */
static void fetch(struct server *v, const struct cnk_request *q, uint64_t from,
	uint64_t bytes, uint32_t k)
{
	uint32_t io = program_node(), link = torus_io_link(v->torus, q->node);
	uint64_t stage = v->at + AT_GET + k * MU_DESCRIPTOR_BYTES;
	MUSPI_Pt2PtDirectPutDescriptorInfo_t back = {
		.Base = cnk_base(torus_io_exit(v->torus, io, link), from, bytes,
			MU_MAP_SYSTEM),
		.Pt2Pt = cnk_way(MUHWI_PACKET_ROUTE_TO_IO_NODE),
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       base_of(v, BASE_BUFFERS),
			.Rec_Payload_Offset = k * (uint64_t)PIECE,
			.Rec_Counter_Base_Address_Id =
				base_of(v, BASE_COUNTERS),
			.Rec_Counter_Offset = 8 * k },
	};
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t get = {
		.Base = cnk_base(
			q->node, stage, MU_DESCRIPTOR_BYTES, map_of(v)),
		.Pt2Pt = cnk_way(way_back(v, q->node)),
		.RemoteGet.Rget_Inj_FIFO_Id =
			CNK_FIRST + 2 * q->process + CNK_GETS,
	};
	MUHWI_Descriptor_t d;

	program_write(v->at + AT_COUNTER + 8 * k, &bytes, sizeof(bytes));
	BUG_IF(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &back));
	program_write(stage, &d, sizeof(d));
	BUG_IF(MUSPI_CreatePt2PtRemoteGetDescriptor(&d, &get));
	spi_inject(fifo_of(v), &d);
}

static void answer(struct server *v, const struct cnk_request *q, int64_t code)
{
	struct cnk_answer a = { code, q->ticket };
	uint64_t at = v->at + AT_ANSWER +
		      fifo_of(v)->numInjected % ANSWERS * sizeof(a);

	program_write(at, &a, sizeof(a));
	put(v, q, cnk_part(q->process, CNK_AT_ANSWER), at, sizeof(a),
		CNK_AT_NOBODY);
}

/* --- calls --- */

static uint64_t piece(uint64_t bytes, uint64_t at)
{
	return bytes - at < PIECE ? bytes - at : PIECE;
}

static int64_t do_write(struct server *v, const struct cnk_request *q)
{
	int64_t moved = ask(v, FILES_LOOK, q);
	uint64_t n, next;
	uint32_t k = 0;

	if (moved < 0)
		return moved;
	if (q->offset > CNK_BYTES || q->bytes > CNK_BYTES - q->offset)
		return -EFBIG;
	if (q->bytes)
		fetch(v, q, q->at, piece(q->bytes, 0), k);
	for (uint64_t at = 0; at < q->bytes; at = next, k ^= 1) {
		n = piece(q->bytes, at);
		next = at + n;
		spi_poll(v->at + AT_COUNTER + 8 * k, 0);
		if (next < q->bytes)
			fetch(v, q, q->at + next, piece(q->bytes, next), k ^ 1);
		cross(v, FILES_WRITE, q, at, (uint32_t)n, buffer_at(v, k));
	}
	return (int64_t)q->bytes;
}

static int64_t do_read(struct server *v, const struct cnk_request *q)
{
	int64_t length = ask(v, FILES_LOOK, q), moved;
	uint64_t left, bytes, at, n;
	uint32_t k = 0;

	if (length < 0)
		return length;
	left = q->offset < (uint64_t)length ? (uint64_t)length - q->offset : 0;
	bytes = q->bytes < left ? q->bytes : left;
	for (at = 0; at < bytes; at += n, k ^= 1) {
		while (MUSPI_getHwDescCount(fifo_of(v)) < v->sent[k])
			program_charge(SENT_POLL);
		moved = cross(v, FILES_READ, q, at, (uint32_t)piece(bytes, at),
			buffer_at(v, k));
		/* somebody has emptied it */
		if (moved <= 0)
			break;
		n = (uint64_t)moved;
		v->sent[k] = 1 + put(v, q, q->at + at, buffer_at(v, k), n,
					 CNK_AT_COUNTER);
	}
	return (int64_t)at;
}

static int64_t carry_out(struct server *v, const struct cnk_request *q)
{
	static const enum files_op ops[] = {
		[CNK_OPEN] = FILES_OPEN,
		[CNK_CLOSE] = FILES_CLOSE,
		[CNK_SYNC] = FILES_LOOK,
	};
	int64_t result;

	if (q->op == CNK_WRITE)
		return do_write(v, q);
	if (q->op == CNK_READ)
		return do_read(v, q);
	result = ask(v, ops[q->op], q);
	return q->op == CNK_SYNC && result > 0 ? 0 : result;
}

/* --- the thread --- */

static void open_server(struct server *v, void *arg)
{
	uint32_t rec = program_thread() % MU_REC_PER_SUBGROUP, *n_open;

	v->all = program_keep(&library);
	v->seat = arg;
	v->torus = torus_of(unit()->net->topo);
	v->io = v->number = program_node() - v->torus->n;
	if (v->seat->is_shared)
		v->number = torus_io_number(v->torus, program_node());
	v->thread = program_thread();
	v->subgroup = MU_SYSTEM_SUBGROUP + v->thread / MU_REC_PER_SUBGROUP;
	n_open = &v->all->n_open[v->thread / MU_REC_PER_SUBGROUP];
	v->id = 2 * rec;
	v->at = v->thread * (uint64_t)PART;
	/* what is given out is registers, which are read and then written */
	while (*n_open != rec)
		program_charge(TURN);
	BUG_IF(spi_open_rec(
		       &v->rec, v->subgroup, rec, v->at + AT_REC, REC_BYTES) ||
		cnk_open_fifo(&v->inj, v->subgroup, v->id, v->at + AT_FIFO,
			FIFO_BYTES, false) ||
		cnk_open_base(
			v->subgroup, v->id + BASE_BUFFERS, v->at + AT_BUFFER) ||
		cnk_open_base(v->subgroup, v->id + BASE_COUNTERS,
			MUSPI_GetAtomicAddress(
				v->at + AT_COUNTER, MU_ATOMIC_STORE_ADD)));
	++*n_open;
}

void cnk_serve(void *arg)
{
	struct server v = { 0 };
	MUSPI_RecFifo_t *f;
	struct cnk_request q;
	spi_packet_t p;

	program_become_system();
	program_become_service();
	open_server(&v, arg);
	f = &v.rec.fifo[v.thread % MU_REC_PER_SUBGROUP];
	for (;;) {
		spi_wait_packet(f);
		if (!MUSPI_getNextPacket(f, &p))
			continue;
		MUSPI_syncRecFifoHwHead(f);
		memcpy(&q, p.Payload, sizeof(q));
		answer(&v, &q, carry_out(&v, &q));
	}
}
