#include "api/spi/msg_tree.h"

#include <errno.h>

#include "coll/tree.h"

enum {
	DONE_FIFO = MSG_TREE_AWAITED,
	DONE_BARRIER,
	BROADCAST_WORD = 4, /* the network's shortest */
	/* cycles of a core until a barrier's first state is everywhere */
	PATIENCE = 100000,
};

_Static_assert(sizeof(struct msg_route) <= 8 * MSG_GROUP_WORDS, "room");

/* Groups on route 0 share it, and have only this bit. */
enum { IS_WORLD = 1 };

static struct msg_tree *tree(struct msg_state *m)
{
	return (struct msg_tree *)m->own;
}

/* --- set-up --- */

static int open_fifo(struct msg_state *m)
{
	struct msg_tree *t = tree(m);
	int code = t->has_fifo ? 0
			       : spi_open_inj(&t->fifo,
					 m->process * GROUPS + GROUP_POST,
					 MSG_TREE_FIFO, 1, NULL, t->fifo_at,
					 MSG_TREE_FIFO_BYTES);

	t->has_fifo = !code;
	return code;
}

static int open_world(struct msg_state *m)
{
	struct msg_tree *t = tree(m);
	int code = open_fifo(m);

	if (code || t->has_world)
		return code;
	t->world = (struct msg_route){ .class = SPI_CLASS_WORLD,
		.channel = MU_COMM_WORLD,
		.has_barrier = true };
	code = MUSPI_GIBarrierInit(
		&t->world.barrier, Kernel_GetGlobalBarrierUserClassRouteId());
	t->has_world = !code;
	return code;
}

/* All ranks decide alike. */
int msg_tree_open(struct msg_state *m, uint64_t fifo_at, uint64_t words_at)
{
	struct msg_tree *t = tree(m);

	t->fifo_at = fifo_at;
	t->words_at = words_at;
	t->is_whole = m->n_processes == 1 && m->n_ranks > 1 && !m->world &&
		      tree_of(m->nic->net);
	return t->is_whole ? open_world(m) : 0;
}

/* --- groups --- */

static struct msg_route *own_route(struct msg_group *g)
{
	return (struct msg_route *)(void *)&g->own[1];
}

/* NULL: none. */
static struct msg_route *route_of(struct msg_state *m, struct msg_group *g)
{
	if (!g)
		return tree(m)->is_whole ? &tree(m)->world : NULL;
	return g->own[0] == IS_WORLD ? &tree(m)->world : own_route(g);
}

/* The smallest box that all leaders are in, and whether nobody else is. */
static bool find_box(
	const struct msg_state *m, const struct msg_group *g, MUSPI_Box_t *box)
{
	struct topo_grid grid;
	uint64_t volume = 1;

	topo_grid_of(m->nic->net->topo, &grid);
	*box = (MUSPI_Box_t){ { 0 }, { 0 } };
	for (uint32_t i = 0; i < grid.n_dims; i++) {
		uint32_t low = UINT32_MAX, high = 0;

		for (uint32_t k = 0; k < g->n_leaders; k++) {
			uint32_t x = topo_grid_coord(
				&grid, msg_node_of(m, g->leader[k]), i);

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		box->low[i] = (uint8_t)low;
		box->high[i] = (uint8_t)high;
		volume *= high - low + 1;
	}
	return volume == g->n_leaders;
}

/* Only the first process of a node uses the network's FIFOs: packets of two
 * processes, each for another route, could wait for each other, in different
 * orders at different nodes. */
bool msg_tree_has_group(struct msg_state *m, const struct msg_group *g)
{
	MUSPI_Box_t box;

	for (uint32_t i = 0; i < g->n_leaders; i++)
		if (msg_process_of(m, g->leader[i]) != 0)
			return false;
	return tree_of(m->nic->net) && find_box(m, g, &box);
}

/* Classes of global interrupts that could be used: pairs that differ by eight
 * must not share links, so only one of a pair is. */
static uint32_t free_interrupts(void)
{
	uint32_t n = 0, ids[MU_GI_SYSTEM + 2], mask = 0;

	if (Kernel_QueryGlobalInterruptClassRoutes(&n, ids, sizeof(ids)))
		return 0;
	while (n)
		mask |= 1u << ids[--n];
	return mask & mask >> 8 & 0xff;
}

/* The numbers that all members could have: routes, and above them classes of
 * interrupts. */
static uint64_t agree_on_numbers(struct msg_state *m, struct msg_group *g)
{
	uint32_t routes = 0;
	uint64_t both;

	MUSPI_GetClassrouteIds(&routes);
	both = routes | (uint64_t)free_interrupts() << 32;
	msg_group_agree(m, g, WEFT_MSG_AND_BITS, &both);
	return both;
}

static void meet(struct msg_state *m, struct msg_group *g)
{
	uint64_t nothing = 0;

	msg_group_agree(m, g, WEFT_MSG_OR_BITS, &nothing);
}

/* As weft/spi.h says: a barrier of another kind before and behind each step, in
 * which members take part that could not do theirs. */
static int open_barrier(struct msg_state *m, struct msg_group *g, uint32_t id,
	const MUSPI_Box_t *box)
{
	struct msg_route *r = own_route(g);
	ClassRoute_t links;
	int code = Kernel_AllocateGlobalInterruptClassRoute(id, NULL);

	r->has_barrier = !code;
	r->barrier.classRouteId = id;
	if (!code)
		code = MUSPI_BuildNodeClassroute(
			box, BGQ_CLASS_INPUT_VC_USER, &links);
	if (!code)
		code = Kernel_SetGlobalInterruptClassRoute(id, &links);
	meet(m, g);
	if (!code)
		code = MUSPI_GIBarrierInitMU1(id);
	meet(m, g);
	if (!code)
		code = MUSPI_GIBarrierInitMU2(id, PATIENCE);
	meet(m, g);
	if (!code)
		code = MUSPI_GIBarrierInit(&r->barrier, id);
	return code;
}

static int open_box(struct msg_state *m, struct msg_group *g)
{
	struct msg_route *r = own_route(g);
	uint64_t numbers = agree_on_numbers(m, g);
	uint32_t routes = (uint32_t)numbers,
		 interrupts = (uint32_t)(numbers >> 32);
	ClassRoute_t links;
	MUSPI_Box_t box;
	int code, without = 0;

	if (!routes)
		return ENOSYS;
	*r = (struct msg_route){ .class = (uint8_t)__builtin_ctz(routes),
		.channel = MU_SUB_COMM };
	find_box(m, g, &box);
	code = MUSPI_BuildNodeClassroute(
		&box, BGQ_CLASS_INPUT_VC_SUBCOMM, &links);
	if (!code)
		code = MUSPI_SetClassrouteId(r->class, &links);
	if (interrupts)
		without = open_barrier(
			m, g, (uint32_t)__builtin_ctz(interrupts), &box);
	if (without && !code)
		msg_tree_close_group(m, g);
	return code ? code : without;
}

int msg_tree_open_group(struct msg_state *m, struct msg_group *g)
{
	bool is_world = g->n_leaders == m->nic->net->n_nodes;
	int code;

	g->own[0] = is_world ? IS_WORLD : 0;
	g->is_alike = is_world;
	if (is_world)
		return open_world(m);
	code = open_fifo(m);
	return code ? code : open_box(m, g);
}

/* All members are behind their last collective. */
void msg_tree_close_group(struct msg_state *m, struct msg_group *g)
{
	const struct msg_route *r = route_of(m, g);

	if (g->own[0] == IS_WORLD)
		return;
	if (r->has_barrier)
		Kernel_DeallocateGlobalInterruptClassRoute(
			(uint32_t)r->barrier.classRouteId);
	MUSPI_ReleaseClassrouteId(r->class);
}

/* --- waiting --- */

bool msg_tree_is_done(
	const struct msg_state *m, const struct weft_msg_done *done)
{
	const struct msg_tree *t = (const struct msg_tree *)m->own;
	uint32_t fifo =
		msg_first_of(m->process * GROUPS + GROUP_POST) + MSG_TREE_FIFO;

	if (done->index == DONE_BARRIER)
		return unit_barrier_is_over(m->nic, m->node, t->entered);
	return mu_peek(m->nic, m->node, MU_REGISTER(MU_INJ_COUNT, fifo)) >
	       done->number;
}

struct poll_loop msg_tree_loop(const struct msg_state *m)
{
	bool is_barrier = m->awaited.kind == MSG_DONE_OWN &&
			  m->awaited.index == DONE_BARRIER;

	return is_barrier ? unit_register_loop() : unit_poll_loop();
}

/* --- collectives --- */

static void enter(struct msg_state *m, MUSPI_GIBarrier_t *b)
{
	struct weft_msg_done done = { MSG_DONE_OWN, DONE_BARRIER, 0 };

	tree(m)->entered = b;
	MUSPI_GIBarrierEnter(b);
	weft_msg_wait((struct weft_msg *)m, &done);
	unit_barrier_next(b);
}

/* Nodes may use different addresses. */
static void set_base(struct msg_state *m, uint32_t id, uint64_t base)
{
	const MUSPI_BaseAddressTableSubGroup_t g = { .subgrpid = m->process };

	if (tree(m)->bases[id] != base)
		MUSPI_SetBaseAddress(&g, id, base);
	tree(m)->bases[id] = base;
}

/* A word that becomes zero when a collective's bytes are all at an address. */
static struct weft_msg_done expect(
	struct msg_state *m, uint64_t at, uint64_t bytes)
{
	struct weft_msg_done done = { MSG_DONE_WORD, msg_take_word(m), 0 };

	for (; !done.index; done.index = msg_take_word(m))
		msg_go_on(m);
	msg_word_expect(m, done.index, bytes);
	set_base(m, BASE_TREE, at);
	set_base(m, BASE_TREE_WORD,
		MUSPI_GetAtomicAddress(
			msg_word_at(m, done.index), MU_ATOMIC_STORE_ADD));
	return done;
}

/* Returns what is done when the source may change. */
static struct weft_msg_done inject(struct msg_state *m,
	const struct msg_route *r, unsigned type, unsigned op, uint32_t root,
	uint64_t from, uint64_t bytes)
{
	uint32_t first = msg_first_of(m->process);
	MUSPI_CollectiveDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address = from,
			.Message_Length = bytes,
			.Torus_FIFO_Map = MU_MAP_USER_COLLECTIVE,
			.Dest = spi_destination(msg_node_of(m, root)) },
		.Collective = { .Op_Code = (uint8_t)op,
			.Word_Length =
				type == MU_BROADCAST ? BROADCAST_WORD : 8,
			.Class_Route = r->class,
			.Misc = (uint8_t)((unsigned)r->channel << 5 | type) },
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       (uint16_t)(first + BASE_TREE),
			.Rec_Counter_Base_Address_Id =
				(uint16_t)(first + BASE_TREE_WORD) },
	};
	MUHWI_Descriptor_t d;

	BUG_IF(MUSPI_CreateCollectiveDirectPutDescriptor(&d, &i));
	return (struct weft_msg_done){ MSG_DONE_OWN, DONE_FIFO,
		spi_inject(&tree(m)->fifo.fifo[MSG_TREE_FIFO], &d) };
}

static void reduce(struct msg_state *m, const struct msg_route *r,
	uint32_t root, unsigned op, uint64_t from, uint64_t to, uint64_t n)
{
	bool is_for_all = root == WEFT_MSG_ANY;
	struct weft_msg_done come = { 0 }, gone;

	if (is_for_all || root == m->rank)
		come = expect(m, to, 8 * n);
	gone = inject(m, r, is_for_all ? MU_ALLREDUCE : MU_REDUCE, op,
		is_for_all ? m->rank : root, from, 8 * n);
	weft_msg_wait((struct weft_msg *)m, come.kind ? &come : &gone);
}

/* Without a barrier of its own, by a reduction of a word without meaning. */
int msg_tree_barrier(struct msg_state *m, struct msg_group *g)
{
	struct msg_route *r = route_of(m, g);
	uint64_t at = tree(m)->words_at;

	if (!r)
		return ENOSYS;
	if (r->has_barrier)
		enter(m, &r->barrier);
	else
		reduce(m, r, WEFT_MSG_ANY, MU_OP_OR, at, at + 8, 1);
	return 0;
}

int msg_tree_broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes)
{
	struct msg_route *r = route_of(m, g);
	struct weft_msg_done done;

	if (!r || !bytes || bytes % BROADCAST_WORD)
		return ENOSYS;
	done = expect(m, at, bytes);
	/* all are ready */
	if (r->has_barrier)
		enter(m, &r->barrier);
	else
		meet(m, g);
	if (root == m->rank)
		inject(m, r, MU_BROADCAST, MU_OP_OR, root, at, bytes);
	weft_msg_wait((struct weft_msg *)m, &done);
	return 0;
}

int msg_tree_reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	static const uint8_t code[WEFT_MSG_REDUCTIONS] = {
		[WEFT_MSG_SUM_DOUBLE] = MU_OP_FLOAT_ADD,
		[WEFT_MSG_SUM_INT] = MU_OP_SIGNED_ADD,
		[WEFT_MSG_MIN_INT] = MU_OP_SIGNED_MIN,
		[WEFT_MSG_MAX_INT] = MU_OP_SIGNED_MAX,
		[WEFT_MSG_MIN_UINT] = MU_OP_UNSIGNED_MIN,
		[WEFT_MSG_MAX_UINT] = MU_OP_UNSIGNED_MAX,
		[WEFT_MSG_AND_BITS] = MU_OP_AND,
		[WEFT_MSG_OR_BITS] = MU_OP_OR,
		[WEFT_MSG_XOR_BITS] = MU_OP_XOR,
		[WEFT_MSG_MIN_DOUBLE] = MU_OP_FLOAT_MIN,
		[WEFT_MSG_MAX_DOUBLE] = MU_OP_FLOAT_MAX,
	};
	const struct msg_route *r = route_of(m, g);

	if (!r || !n)
		return ENOSYS;
	reduce(m, r, root, code[op], from, to, n);
	return 0;
}
