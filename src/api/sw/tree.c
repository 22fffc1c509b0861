/*
 * Collectives of SWverbs.  A tree's list, parent and children, lies in the
 * driver's memory, and the card reads it when a collective begins.  The
 * contribution of up to 128 bytes, or to a broadcast, is stored on the card
 * with the descriptor.
 */
#include <errno.h>

#include "api/sw/sw.h"
#include "base/mem.h"

enum { LIST = (1 + WEFT_SW_CHILDREN) * sizeof(struct swhni_member) };

_Static_assert((int)WEFT_SW_XOR == (int)SWHNI_XOR &&
		       (int)WEFT_SW_BROADCAST == (int)SWHNI_BROADCAST &&
		       (int)WEFT_SW_OPS == (int)SWHNI_OPS &&
		       (int)WEFT_SW_FLOAT64 == (int)SWHNI_FLOAT64 &&
		       WEFT_SW_NO_RESULT == SWHNI_NO_RESULT,
	"the same numbers");

/* --- trees --- */

static bool is_same(
	const struct weft_sw_address *a, const struct weft_sw_address *b)
{
	return a->node == b->node && a->interface == b->interface;
}

static bool is_address(const struct weft_sw_address *a)
{
	return a->node < swv_nic()->n_nodes &&
	       a->interface < SWHNI_INTERFACES && a->engine < SWHNI_ENGINES;
}

/* Whether a child is another one than all before it, the parent and this
 * member. */
static bool is_child(const struct weft_sw_tree_options *o,
	const struct weft_sw_address *self, uint32_t i)
{
	const struct weft_sw_address *c = &o->children[i];

	if (!is_address(c) || is_same(c, self) || is_same(c, &o->parent))
		return false;
	while (i--)
		if (is_same(c, &o->children[i]))
			return false;
	return true;
}

static bool is_tree(
	const struct swv_sq *sq, const struct weft_sw_tree_options *o)
{
	struct weft_sw_address self = {
		.node = program_node(),
		.interface = (uint8_t)sq->in->user.interface,
	};

	if (!o || o->number > UINT16_MAX || o->n_children > WEFT_SW_CHILDREN ||
		(o->n_children && !o->children) ||
		(o->chain >= 32 && o->chain != WEFT_SW_NO_CHAIN))
		return false;
	if (o->parent.node != UINT32_MAX &&
		(!is_address(&o->parent) || is_same(&o->parent, &self)))
		return false;
	for (uint32_t i = 0; i < o->n_children; i++)
		if (!is_child(o, &self, i))
			return false;
	return true;
}

static void write_member(uint64_t at, const struct weft_sw_address *a)
{
	struct swhni_member m = {
		.node = a->node == UINT32_MAX ? SWHNI_NO_NODE : a->node,
		.interface = a->interface,
		.engine = a->engine,
	};

	program_write(at, &m, sizeof(m));
}

/* The lists of an SQ's trees have one key. */
static void register_lists(const struct swv_sq *sq)
{
	const struct swv_user *u = &sq->in->user;
	struct nic_at a = nic_now(u->nic);
	struct swhni_handle h = {
		.key = SW_LISTS + u->interface,
		.job = u->job,
		.process = u->process,
		.space = SWHNI_SEGMENT,
		.at = swv_user_lists(u),
		.bytes = SW_TREES * LIST,
	};

	/* another owner of the interface may have left it */
	swhni_deregister(&a, u->job, h.key);
	swhni_register(&a, &h);
}

static struct swv_tree *make(
	struct swv_sq *sq, const struct weft_sw_tree_options *o, uint32_t i)
{
	struct swv_tree *t = mem_alloc(1, sizeof(*t));
	uint64_t at = swv_user_lists(&sq->in->user) + (uint64_t)i * LIST;

	t->sq = sq;
	t->work = (struct swhni_collective){
		.type = SWHNI_COLLECTIVE,
		.tree = (uint16_t)o->number,
		.n_children = (uint8_t)o->n_children,
		.entry = (uint8_t)(o->chain == WEFT_SW_NO_CHAIN ? SWHNI_NO_ENTRY
								: o->chain),
		.list_key = SW_LISTS + sq->in->user.interface,
		.list = (uint64_t)i * LIST,
		.rank = o->rank,
	};
	write_member(at, &o->parent);
	for (uint32_t k = 0; k < o->n_children; k++)
		write_member(at + (k + 1) * sizeof(struct swhni_member),
			&o->children[k]);
	return t;
}

int weft_sw_create_tree(struct weft_sw_sq *sq,
	const struct weft_sw_tree_options *options, struct weft_sw_tree **tree)
{
	struct swv_sq *q = swv_find(SW_SQ, sq);
	uint32_t i = 0;

	if (!q)
		return EBADF;
	if (!tree || !is_tree(q, options))
		return EINVAL;
	while (i < SW_TREES && q->trees[i])
		i++;
	if (i == SW_TREES)
		return ENOSPC;
	register_lists(q);
	q->trees[i] = make(q, options, i);
	*tree = swv_handle(SW_TREE, &q->trees[i]->object, q->object.dev);
	return 0;
}

static void free_tree(struct swv_tree *t)
{
	swv_drop(&t->object);
	mem_free(t);
}

void swv_free_trees(struct swv_sq *sq)
{
	for (uint32_t i = 0; i < SW_TREES; i++) {
		if (sq->trees[i])
			free_tree(sq->trees[i]);
		sq->trees[i] = NULL;
	}
}

int weft_sw_destroy_tree(struct weft_sw_tree *tree)
{
	struct swv_tree *t = swv_find(SW_TREE, tree);
	uint32_t i = 0;

	if (!t)
		return EBADF;
	swv_progress(t->object.dev);
	if (t->used)
		return EBUSY;
	while (t->sq->trees[i] != t)
		i++;
	t->sq->trees[i] = NULL;
	free_tree(t);
	return 0;
}

/* --- collectives --- */

static uint32_t size_of(uint32_t type)
{
	return type == WEFT_SW_INT32 || type == WEFT_SW_FLOAT32 ? 4 : 8;
}

static int check(const struct swv_tree *t, const struct weft_sw_collective *c)
{
	bool is_float;

	if (!c || c->op >= WEFT_SW_OPS || c->type >= WEFT_SW_TYPES ||
		c->flags & ~(uint32_t)(WEFT_SW_FAST | WEFT_SW_QUIET))
		return EINVAL;
	is_float = c->type >= WEFT_SW_FLOAT32;
	if (c->op == WEFT_SW_BARRIER)
		return c->bytes ? EINVAL : 0;
	if (c->bytes > (c->op == WEFT_SW_BROADCAST ? WEFT_SW_MESSAGE
						   : WEFT_SW_REDUCED))
		return EMSGSIZE;
	if (!c->bytes || (c->op < WEFT_SW_BARRIER &&
				 (c->bytes % size_of(c->type) ||
					 (is_float && c->op >= WEFT_SW_AND))))
		return EINVAL;
	if (!swv_has_bytes(t->object.dev, c->key, c->at, c->bytes) ||
		(c->result != WEFT_SW_NO_RESULT &&
			!swv_has_bytes(
				t->object.dev, c->key, c->result, c->bytes)))
		return EFAULT;
	return 0;
}

/* The bytes that may be stored with the descriptor. */
static void read_own(const struct weft_sw_collective *c, uint8_t *data)
{
	const struct swhni_handle *h =
		swhni_handle(swv_nic(), program_node(), c->key);

	if (c->bytes && (c->op == WEFT_SW_BROADCAST || c->bytes <= SWHNI_SHORT))
		program_read((h->space == SWHNI_PHYSICAL ? 0 : h->at) + c->at,
			data, c->bytes);
}

static uint32_t record(struct swv_tree *t, const struct weft_sw_collective *c)
{
	struct swv_device *dev = t->object.dev;
	uint32_t id = slots_take(&dev->works);
	struct swv_work *x = slots_at(&dev->works, id);

	x->sq = t->sq;
	x->tree = t;
	x->in = t->sq->in;
	x->id = c->id;
	x->flags = c->flags | WEFT_SW_BARE; /* the card alone can repeat it */
	x->deadline = SIM_NEVER;
	x->d.own_key = c->key;
	x->d.bytes = c->bytes;
	t->sq->used++;
	t->used++;
	return id;
}

int weft_sw_post_collective(
	struct weft_sw_tree *tree, const struct weft_sw_collective *c)
{
	struct swv_tree *t = swv_find(SW_TREE, tree);
	const struct swhni_params *p = swv_nic()->params;
	sim_time begun = program_now();
	struct swhni_collective w;
	uint8_t data[SWHNI_MESSAGE];
	uint32_t id;
	int code = t ? check(t, c) : EBADF;

	if (code)
		return code;
	if (!swv_has_room(t->sq))
		return EAGAIN;
	id = record(t, c);
	program_charge(c->op == WEFT_SW_BROADCAST ? p->bcast : p->call);
	t->work.round++;
	w = t->work;
	w.id = id;
	w.flags = SWHNI_TELL | (c->flags & WEFT_SW_FAST ? SWHNI_FAST : 0);
	w.op = (uint8_t)c->op;
	w.data = (uint8_t)c->type;
	w.bytes = c->bytes;
	w.own_key = c->key;
	w.own_offset = c->at;
	w.result = c->result;
	w.root = c->root;
	read_own(c, data);
	code = swv_user_collect(&t->sq->in->user, &w, data, begun);
	((struct swv_work *)slots_at(&t->object.dev->works, id))->d.id = w.id;
	return code;
}
