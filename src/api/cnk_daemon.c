/*
 * The daemon of an IO node: takes shipped calls, fetches what is written and
 * puts what is read, both over PCIe from and to the file system behind it.
 *
 * Each of its threads has a reception FIFO, an injection FIFO, and two buffers:
 * while one crosses PCIe, the other is filled from the network, or sent.
 */
#include "api/cnk.h"

#include <errno.h>
#include <string.h>

#include "host/bus.h"

/* Files lie one after the other beside the node's own memory. */
#define FILES_AT (UINT64_C(1) << 40)
/* Between looks whether a buffer has been sent. */
#define SENT_POLL (500 * (sim_time)SIM_NS)
/* Of a thread that waits for another to be set up. */
#define TURN (100 * (sim_time)SIM_NS)

enum {
	PIECE = 128 << 10, /* what a buffer holds */
	BLOCK = 4096,
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

struct file {
	char name[CNK_NAME]; /* empty: there is none */
	uint64_t bytes;
	uint64_t high; /* that it ever had, at most */
};

struct opened {
	uint32_t node, process;
	uint32_t file; /* 1 + number; 0: not in use */
};

/* Of an IO node. */
struct daemon {
	struct file file[CNK_FILES];
	struct opened opened[CNK_FILES];
	uint32_t n_open[CNK_THREADS / MU_REC_PER_SUBGROUP]; /* threads */
	struct bus_params pcie_params;
	struct bus pcie;
};

struct server {
	struct daemon *all;
	const struct torus *torus;
	uint32_t thread, subgroup, id; /* id: of two FIFOs and bases */
	uint64_t at;
	MUSPI_InjFifoSubGroup_t inj;
	MUSPI_RecFifoSubGroup_t rec;
	uint64_t sent[BUFFERS]; /* descriptors before a buffer is free */
};

static void daemon_fini(void *kept)
{
	bus_fini(&((struct daemon *)kept)->pcie);
}

static const struct program_library library = {
	.size = sizeof(struct daemon),
	.fini = daemon_fini,
};

/* --- PCIe, and what is behind it --- */

static const struct files_params *params(void)
{
	return &host_params(program_host())->files;
}

/* By the first thread. */
static void open_files(struct daemon *d)
{
	const struct memory_range r = {
		.at = FILES_AT,
		.bytes = CNK_FILES * CNK_BYTES,
		.kind = MEMORY_OF_DEVICE,
		.rights = MEMORY_MAY_READ(MEMORY_DEVICE) |
			  MEMORY_MAY_WRITE(MEMORY_DEVICE),
	};

	if (d->pcie.params)
		return;
	d->pcie_params = (struct bus_params){ .width = 4,
		.clock = 4 * PS_PER_S,
		.cycles = params()->pcie_rate,
		.is_duplex = true };
	bus_init(&d->pcie, &d->pcie_params);
	BUG_IF(!host_add_range(program_host(), program_node(), &r));
}

static void copy(uint64_t to, uint64_t from, uint64_t bytes)
{
	struct host *h = program_host();
	uint8_t block[BLOCK];
	uint64_t i, n;

	for (i = 0; i < bytes; i += n) {
		n = bytes - i < BLOCK ? bytes - i : BLOCK;
		host_device_read(h, program_node(), from + i, block, n);
		host_device_write(h, program_worker(), program_node(),
			program_now(), to + i, block, n);
	}
}

static uint64_t place(const struct daemon *d, const struct file *f, uint64_t at)
{
	return FILES_AT + (uint64_t)(f - d->file) * CNK_BYTES + at;
}

/* Takes bytes over PCIe, to a file or from one. */
static void cross(struct server *v, enum bus_kind kind, uint64_t to,
	uint64_t from, uint64_t bytes)
{
	program_wait(
		bus_burst(&v->all->pcie, program_now(), kind, (uint32_t)bytes));
	copy(to, from, bytes);
}

/* Zeros where a file has had other bytes before it was emptied. */
static void clear(uint64_t at, uint64_t from, uint64_t to)
{
	static const uint8_t zeros[BLOCK];
	uint64_t i, n;

	for (i = from; i < to; i += n) {
		n = to - i < BLOCK ? to - i : BLOCK;
		host_device_write(program_host(), program_worker(),
			program_node(), program_now(), at + i, zeros, n);
	}
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

static uint64_t inject(struct server *v, const MUHWI_Descriptor_t *d)
{
	uint64_t number;

	do
		number = MUSPI_InjFifoInject(fifo_of(v), d);
	while (number == SPI_NONE);
	return number;
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
	return inject(v, &d);
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
	inject(v, &d);
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

static int64_t do_write(
	struct server *v, const struct cnk_request *q, struct file *f)
{
	uint64_t at, n, next;
	uint32_t k = 0;

	if (q->offset > CNK_BYTES || q->bytes > CNK_BYTES - q->offset)
		return -EFBIG;
	clear(place(v->all, f, 0), f->bytes,
		q->offset < f->high ? q->offset : f->high);
	if (q->bytes)
		fetch(v, q, q->at, piece(q->bytes, 0), k);
	for (at = 0; at < q->bytes; at = next, k ^= 1) {
		n = piece(q->bytes, at);
		next = at + n;
		spi_poll(v->at + AT_COUNTER + 8 * k, 0);
		if (next < q->bytes)
			fetch(v, q, q->at + next, piece(q->bytes, next), k ^ 1);
		cross(v, BUS_WRITE, place(v->all, f, q->offset + at),
			buffer_at(v, k), n);
	}
	if (q->bytes && q->offset + q->bytes > f->bytes)
		f->bytes = q->offset + q->bytes;
	f->high = f->bytes > f->high ? f->bytes : f->high;
	return (int64_t)q->bytes;
}

static int64_t do_read(
	struct server *v, const struct cnk_request *q, const struct file *f)
{
	uint64_t left = q->offset < f->bytes ? f->bytes - q->offset : 0;
	uint64_t bytes = q->bytes < left ? q->bytes : left, at, n;
	uint32_t k = 0;

	for (at = 0; at < bytes; at += n, k ^= 1) {
		n = piece(bytes, at);
		while (MUSPI_getHwDescCount(fifo_of(v)) < v->sent[k])
			program_charge(SENT_POLL);
		cross(v, BUS_DATA, buffer_at(v, k),
			place(v->all, f, q->offset + at), n);
		v->sent[k] = 1 + put(v, q, q->at + at, buffer_at(v, k), n,
					 CNK_AT_COUNTER);
	}
	return (int64_t)bytes;
}

static struct file *find_file(
	struct daemon *d, const char *name, struct file **free)
{
	uint32_t i;

	*free = NULL;
	for (i = CNK_FILES; i--;) {
		if (!strcmp(d->file[i].name, name))
			return &d->file[i];
		if (!d->file[i].name[0])
			*free = &d->file[i];
	}
	return NULL;
}

static int64_t do_open(struct daemon *d, const struct cnk_request *q)
{
	struct file *free, *f;
	uint32_t i = 0;

	if (!q->name[0] || q->how & ~(uint32_t)(CNK_CREATE | CNK_TRUNCATE))
		return -EINVAL;
	f = find_file(d, q->name, &free);
	if (!f && !(q->how & CNK_CREATE))
		return -ENOENT;
	while (i < CNK_FILES && d->opened[i].file)
		i++;
	if ((!f && !free) || i == CNK_FILES)
		return -ENFILE;
	if (!f) {
		f = free;
		memcpy(f->name, q->name, sizeof(f->name));
	}
	if (q->how & CNK_TRUNCATE)
		f->bytes = 0;
	d->opened[i] = (struct opened){ q->node, q->process,
		1 + (uint32_t)(f - d->file) };
	return i;
}

/* What a request names, or NULL where that is not the client's. */
static struct opened *find_opened(struct daemon *d, const struct cnk_request *q)
{
	struct opened *o;

	if (q->file < 0 || q->file >= CNK_FILES)
		return NULL;
	o = &d->opened[q->file];
	return o->file && o->node == q->node && o->process == q->process ? o
									 : NULL;
}

static int64_t carry_out(struct server *v, const struct cnk_request *q)
{
	struct opened *o;
	struct file *f;

	program_charge(params()->latency);
	if (q->op == CNK_OPEN)
		return do_open(v->all, q);
	o = find_opened(v->all, q);
	if (!o)
		return -EBADF;
	f = &v->all->file[o->file - 1];
	if (q->op == CNK_WRITE)
		return do_write(v, q, f);
	if (q->op == CNK_READ)
		return do_read(v, q, f);
	if (q->op == CNK_CLOSE)
		o->file = 0;
	return 0;
}

/* --- the thread --- */

static void open_rec(struct server *v)
{
	uint32_t id = v->thread % MU_REC_PER_SUBGROUP;
	Kernel_MemoryRegion_t r;

	BUG_IF(Kernel_CreateMemoryRegion(&r, v->at + AT_REC, REC_BYTES) ||
		Kernel_AllocateRecFifos(v->subgroup, &v->rec, 1, &id, NULL) ||
		Kernel_RecFifoInit(&v->rec, id, &r, 0, REC_BYTES - 1) ||
		Kernel_RecFifoEnable(
			v->subgroup / 4, spi_rec_bit(v->subgroup, id)));
}

static void open_server(struct server *v)
{
	uint32_t *n_open;

	v->all = program_keep(&library);
	v->torus = torus_of(unit()->net->topo);
	v->thread = program_thread();
	v->subgroup = MU_SYSTEM_SUBGROUP + v->thread / MU_REC_PER_SUBGROUP;
	n_open = &v->all->n_open[v->thread / MU_REC_PER_SUBGROUP];
	v->id = 2 * (v->thread % MU_REC_PER_SUBGROUP);
	v->at = v->thread * (uint64_t)PART;
	open_files(v->all);
	/* what is given out is registers, which are read and then written */
	while (*n_open != v->thread % MU_REC_PER_SUBGROUP)
		program_charge(TURN);
	open_rec(v);
	BUG_IF(cnk_open_fifo(&v->inj, v->subgroup, v->id, v->at + AT_FIFO,
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

	(void)arg;
	program_become_system();
	program_become_service();
	open_server(&v);
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
