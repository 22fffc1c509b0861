/*
 * Messages on Blue Gene/Q: direct puts through injection FIFOs, gets by remote
 * gets, and reception counters.  Writes to slots are staged in memory, with a
 * stage for each of the last descriptors of the first FIFO.  Collectives are in
 * msg_tree.c.
 */
#include <errno.h>

#include "api/spi/cnk.h"
#include "api/spi/msg_tree.h"

enum {
	STAGES = 32,
	FIFO_BYTES = 4096,
	GETS_BYTES = 64 << 10,
	PUT_FIFOS = MU_PER_SUBGROUP,

	/* memory, from own_at on */
	AT_STAGES = 0,
	AT_POST = AT_STAGES + STAGES * MSG_SLOT,
	AT_PUT = AT_POST + FIFO_BYTES,
	AT_GET = AT_PUT + PUT_FIFOS * FIFO_BYTES,
	AT_NOBODY = AT_GET + GETS_BYTES,
	AT_TREE = AT_NOBODY + MSG_SLOT,
	OWN_BYTES = AT_TREE + MSG_TREE_FIFO_BYTES,
	AT_TREE_WORDS = AT_NOBODY + MSG_SLOT / 2,
};

_Static_assert((int)PUT_FIFOS <= (int)MSG_TREE_AWAITED, "numbers");

struct __attribute__((may_alias)) own {
	struct msg_tree tree;
	MUSPI_InjFifoSubGroup_t post, put, get;
	uint64_t posted; /* that are known to have gone */
	uint32_t next; /* FIFO of a put */
	/* The last write to a slot, and 1 + its rank, or 0: the next one to the
	 * same rank differs in addresses and length. */
	uint32_t slot_rank;
	MUHWI_Descriptor_t slot;
};

_Static_assert(sizeof(struct own) <= 8 * MSG_OWN_WORDS, "room");
_Static_assert(WEFT_MSG_DONES * sizeof(MUHWI_Descriptor_t) <= MSG_PAGE,
	"a stage for each word");

static struct own *own(struct msg_state *m)
{
	return (struct own *)m->own;
}

/* --- set-up --- */

static int open_bases(struct msg_state *m)
{
	static const uint32_t ids[] = { BASE_MEMORY, BASE_WORDS, BASE_NOBODY,
		BASE_TREE, BASE_TREE_WORD };
	MUSPI_BaseAddressTableSubGroup_t g;
	int code =
		Kernel_AllocateBaseAddressTable(m->process, &g, BASES, ids, 0);

	if (code)
		return code;
	MUSPI_SetBaseAddress(&g, BASE_MEMORY, 0);
	MUSPI_SetBaseAddress(&g, BASE_WORDS,
		MUSPI_GetAtomicAddress(m->words_at, MU_ATOMIC_STORE_ADD));
	MUSPI_SetBaseAddress(&g, BASE_NOBODY,
		MUSPI_GetAtomicAddress(
			m->own_at + AT_NOBODY, MU_ATOMIC_STORE_ADD));
	return 0;
}

static int spi_open(struct msg_state *m)
{
	static const Kernel_InjFifoAttributes_t gets = { .RemoteGet = 1 };
	struct own *o = own(m);
	uint32_t first = m->process * GROUPS;
	int code = open_bases(m);

	if (!code)
		code = spi_open_inj(&o->post, first + GROUP_POST, 0, 1, NULL,
			m->own_at + AT_POST, FIFO_BYTES);
	if (!code)
		code = spi_open_inj(&o->put, first + GROUP_PUT, 0, PUT_FIFOS,
			NULL, m->own_at + AT_PUT, FIFO_BYTES);
	if (!code)
		code = spi_open_inj(&o->get, first + GROUP_GET, 0, 1, &gets,
			m->own_at + AT_GET, GETS_BYTES);
	return code ? code
		    : msg_tree_open(m, m->own_at + AT_TREE,
			      m->own_at + AT_TREE_WORDS);
}

/* --- descriptors --- */

/* From a rank to another one, perhaps of the same node. */
static MUSPI_BaseDescriptorInfoFields_t make_base(const struct msg_state *m,
	uint32_t source, uint32_t target, uint64_t from, uint64_t bytes)
{
	bool is_local = msg_node_of(m, source) == msg_node_of(m, target);

	return (MUSPI_BaseDescriptorInfoFields_t){
		.Payload_Address = from,
		.Message_Length = bytes,
		.Torus_FIFO_Map = is_local ? MU_MAP_LOCAL : MU_MAP_TORUS,
		.Dest = spi_destination(msg_node_of(m, target)),
	};
}

/* A put from one rank's memory into another's. */
static MUHWI_Descriptor_t make_put(const struct msg_state *m, uint32_t source,
	uint32_t target, uint64_t to, uint64_t from, uint64_t bytes,
	uint32_t word)
{
	uint32_t first = msg_first_of(msg_process_of(m, target));
	bool is_counted = word != WEFT_MSG_NONE;
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = make_base(m, source, target, from, bytes),
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING },
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       first + BASE_MEMORY,
			.Rec_Payload_Offset = to,
			.Rec_Counter_Base_Address_Id =
				first + (is_counted ? BASE_WORDS : BASE_NOBODY),
			.Rec_Counter_Offset = is_counted ? 8 * word : 0 },
	};
	MUHWI_Descriptor_t d;

	BUG_IF(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i));
	return d;
}

/* The address of a stage that is free: its last descriptor has gone. */
static uint64_t take_stage(struct msg_state *m, MUSPI_InjFifo_t *f)
{
	struct own *o = own(m);

	while (f->numInjected - o->posted >= STAGES)
		o->posted = MUSPI_getHwDescCount(f);
	return m->own_at + AT_STAGES + f->numInjected % STAGES * MSG_SLOT;
}

/* --- operations --- */

static void spi_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	struct own *o = own(m);
	MUSPI_InjFifo_t *f = &o->post.fifo[0];
	uint64_t stage = take_stage(m, f);

	if (o->slot_rank == 1 + rank) {
		mu_set_payload(&o->slot, stage, bytes);
		mu_set_put(&o->slot.header, mu_put_base(&o->slot.header), to);
	} else {
		o->slot = make_put(
			m, m->rank, rank, to, stage, bytes, WEFT_MSG_NONE);
		o->slot_rank = 1 + rank;
	}
	program_write(stage, data, bytes);
	spi_inject(f, &o->slot);
}

/* Returns the number of the FIFO for puts that had room. */
static uint32_t inject_put(
	struct msg_state *m, MUHWI_Descriptor_t *d, uint64_t *number)
{
	uint32_t fifo;

	do {
		fifo = own(m)->next++ % PUT_FIFOS;
		*number = MUSPI_InjFifoInject(&own(m)->put.fifo[fifo], d);
	} while (*number == SPI_NONE);
	return fifo;
}

static void spi_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	MUHWI_Descriptor_t d =
		make_put(m, m->rank, rank, to, from, bytes, counter);
	uint64_t number;
	uint32_t fifo = inject_put(m, &d, &number);

	if (done)
		*done = (struct weft_msg_done){ MSG_DONE_OWN, fifo, number };
}

/* A packet that lets a rank's unit execute the put at a stage. */
static MUHWI_Descriptor_t make_get(
	const struct msg_state *m, uint32_t rank, uint64_t stage)
{
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t i = {
		.Base = make_base(
			m, m->rank, rank, stage, sizeof(MUHWI_Descriptor_t)),
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING },
		.RemoteGet = { .Rget_Inj_FIFO_Id = msg_first_of(
				       msg_process_of(m, rank) * GROUPS +
				       GROUP_GET) },
	};
	MUHWI_Descriptor_t d;

	BUG_IF(MUSPI_CreatePt2PtRemoteGetDescriptor(&d, &i));
	return d;
}

static void spi_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	MUSPI_InjFifo_t *f = &own(m)->post.fifo[0];
	uint64_t stage = take_stage(m, f);
	MUHWI_Descriptor_t put = make_put(
				   m, rank, m->rank, to, from, bytes, word),
			   d = make_get(m, rank, stage);

	program_write(msg_word_at(m, word), &bytes, 8);
	program_write(stage, &put, sizeof(put));
	spi_inject(f, &d);
}

/* Packets of descriptors that follow each other keep their order if they take
 * one FIFO of the network and one path. */
static void keep_order(
	const struct msg_state *m, uint32_t rank, MUHWI_Descriptor_t *d)
{
	bool is_local = msg_node_of(m, rank) == m->node;
	uint64_t local = MU_MAP_LOCAL, net = MU_MAP_A_MINUS;
	uint64_t one =
		is_local ? local & -local : net >> rank % MU_NET_COLLECTIVE;

	mu_set_fifo_map(d, one);
	d->header.byte[2] = MUHWI_PACKET_USE_DETERMINISTIC_ROUTING;
	d->header.byte[3] = MUHWI_PACKET_VIRTUAL_CHANNEL_DETERMINISTIC;
}

/* A remote get of a word follows the put on its path: when that is here, the
 * put has arrived. */
static void spi_deliver(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, struct weft_msg_done *source,
	struct weft_msg_done *arrived)
{
	const uint64_t length = sizeof(uint64_t);
	uint32_t word = msg_take_word(m), fifo;
	uint64_t stage = m->stages_at + (uint64_t)(word - WEFT_MSG_COUNTERS) *
						sizeof(MUHWI_Descriptor_t);
	MUHWI_Descriptor_t put = make_put(m, m->rank, rank, to, from, bytes,
				   WEFT_MSG_NONE),
			   get = make_get(m, rank, stage), answer;
	uint64_t number;

	answer = make_put(m, rank, m->rank, m->own_at + AT_NOBODY,
		msg_address(m, rank, m->words_at - m->base), length, word);
	program_write(msg_word_at(m, word), &length, sizeof(length));
	program_write(stage, &answer, sizeof(answer));
	keep_order(m, rank, &put);
	keep_order(m, rank, &get);
	fifo = inject_put(m, &put, &number);
	spi_inject(&own(m)->put.fifo[fifo], &get);
	*source = (struct weft_msg_done){ MSG_DONE_OWN, fifo, number };
	*arrived = (struct weft_msg_done){ MSG_DONE_WORD, word, 0 };
}

static bool spi_is_done(
	const struct msg_state *m, const struct weft_msg_done *done)
{
	uint32_t fifo =
		msg_first_of(m->process * GROUPS + GROUP_PUT) + done->index;

	if (done->index >= PUT_FIFOS)
		return msg_tree_is_done(m, done);
	return mu_peek(m->nic, m->node, MU_REGISTER(MU_INJ_COUNT, fifo)) >
	       done->number;
}

static struct poll_loop spi_loop(struct msg_state *m)
{
	return msg_tree_loop(m);
}

static void spi_close(struct msg_state *m)
{
	struct own *o = own(m);
	MUSPI_InjFifo_t *f = &o->post.fifo[0];

	while (MUSPI_getHwDescCount(f) < f->numInjected)
		;
	for (uint32_t i = 0; i < PUT_FIFOS; i++) {
		f = &o->put.fifo[i];
		while (MUSPI_getHwDescCount(f) < f->numInjected)
			;
	}
}

static const struct msg_ops spi_msg_ops = {
	.memory = OWN_BYTES,
	.most_processes = MU_SYSTEM_SUBGROUP / GROUPS,
	.open = spi_open,
	.close = spi_close,
	.post = spi_post,
	.put = spi_put,
	.deliver = spi_deliver,
	.get = spi_get,
	.expect = msg_word_expect,
	.arrived = msg_word_arrived,
	.is_done = spi_is_done,
	.loop = spi_loop,
	.barrier = msg_tree_barrier,
	.broadcast = msg_tree_broadcast,
	.reduce = msg_tree_reduce,
	.has_group = msg_tree_has_group,
	.open_group = msg_tree_open_group,
	.close_group = msg_tree_close_group,
};

const struct api spi_api = {
	.name = "spi",
	.nic = &bgq_mu_ops,
	.machine = "bgq-board",
	.msg = &spi_msg_ops,
	.n_io = CNK_THREADS,
	.serve = cnk_serve,
};
