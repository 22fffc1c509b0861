#include "nic/swhni/collective.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "coll/multicast.h"

/* --- posts --- */

/* Of a descriptor that is no collective, or not in its turn. */
static void refuse(const struct nic_at *a, uint32_t engine, uint32_t interface,
	uint32_t queue, const struct swhni_collective *c, uint32_t status)
{
	struct swc_group g = { .engine = engine, .interface = interface };
	struct swc_round r = { .c = *c, .queue = queue };

	swc_complete(a, &g, &r, status);
}

static bool is_same(const struct swhni_member *x, const struct swhni_member *y)
{
	return x->node == y->node && x->interface == y->interface;
}

/* No member is named twice, and none is this one. */
static bool is_tree(const struct nic_at *a, const struct swc_group *g)
{
	const struct swhni_member own = { .node = a->s,
		.interface = (uint16_t)g->interface };

	for (uint32_t i = 0; i < g->n_children; i++) {
		if (is_same(&g->child[i], &own) ||
			is_same(&g->child[i], &g->parent) ||
			g->child[i].node >= a->nic->n_nodes ||
			g->child[i].engine >= SWHNI_ENGINES)
			return false;
		for (uint32_t k = 0; k < i; k++)
			if (is_same(&g->child[i], &g->child[k]))
				return false;
	}
	return swc_is_root(g) || (!is_same(&g->parent, &own) &&
					 g->parent.node < a->nic->n_nodes &&
					 g->parent.engine < SWHNI_ENGINES);
}

/* One of its lists, a head and n members; *at is behind it then. */
static uint32_t read_some(const struct nic_at *a, const struct swc_group *g,
	const struct swhni_collective *c, uint64_t *at, uint32_t n,
	struct swhni_member *list)
{
	uint32_t bytes = (1 + n) * (uint32_t)sizeof(*list);
	const struct swhni_handle *h;
	uint32_t status = sw_look_up(
		a, g->engine, g->job, c->list_key, *at, bytes, 0, &h);

	if (!status && !sw_load_bytes(a, h, *at, list, bytes))
		status = SWHNI_OUT_OF_BOUNDS;
	sw_here(a)->memory_reads += !status;
	*at += bytes;
	return status;
}

/* Adds a list's members to the children; the head goes elsewhere. */
static void add_list(
	struct swc_group *g, const struct swhni_member *list, uint32_t n)
{
	if (!n)
		return;
	g->child = mem_grow(g->child, g->n_children + n, sizeof(*g->child));
	memcpy(g->child + g->n_children, list + 1, n * sizeof(*list));
	g->n_children = (uint8_t)(g->n_children + n);
	g->all = ((uint128)1 << g->n_children) - 1;
}

static uint32_t read_more(const struct nic_at *a, struct swc_group *g,
	const struct swhni_collective *c, uint64_t at)
{
	struct swhni_member list[1 + SWHNI_CHILDREN];
	uint32_t status = SWHNI_OK, n;

	if (g->parent.more >= SWHNI_LISTS)
		return SWHNI_BAD_ENTRY;
	for (uint32_t i = 0; !status && i < g->parent.more; i++) {
		uint64_t from = at;

		status = read_some(a, g, c, &from, 0, list);
		n = list[0].node;
		if (!status && n > SWHNI_CHILDREN)
			status = SWHNI_BAD_ENTRY;
		if (!status)
			status = read_some(a, g, c, &at, n, list);
		if (!status)
			add_list(g, list, n);
	}
	return status;
}

/* Reads the lists, which a chip keeps for the tree's further rounds. */
static uint32_t read_list(const struct nic_at *a, struct swc_group *g,
	const struct swhni_collective *c)
{
	struct swhni_member list[1 + SWHNI_CHILDREN];
	uint64_t at = c->list;
	uint32_t status = read_some(a, g, c, &at, c->n_children, list);

	if (status)
		return status;
	g->parent = list[0];
	g->n_children = 0;
	g->all = 0;
	add_list(g, list, c->n_children);
	status = read_more(a, g, c, at);
	if (status || !is_tree(a, g))
		return status ? status : SWHNI_BAD_ENTRY;
	g->entry = c->entry;
	g->has_list = true;
	return SWHNI_OK;
}

static bool is_known(const struct nic_at *a, const struct swhni_collective *c)
{
	struct err e = { 0 };

	if (c->n_children > SWHNI_CHILDREN || !c->round || c->op >= SWHNI_OPS ||
		c->bytes > sw_of(a)->most ||
		c->flags & ~(SWHNI_TELL | SWHNI_FAST) ||
		(c->entry >= MULTICAST_ENTRIES && c->entry != SWHNI_NO_ENTRY))
		return false;
	if (!swc_is_reduction(c))
		return swc_is_broadcast(c) ? c->bytes > 0 : !c->bytes;
	return c->data < SWHNI_DATA && !ordered_check(swc_coll_op[c->op],
					       swc_type[c->data], c->bytes, &e);
}

/* Its contribution is here. */
static void contribute(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r)
{
	r->is_own = true;
	r->own_at = a->t;
	if (swc_is_broadcast(&r->c) && swc_has_bytes(&r->c))
		swc_pass_up(a, g, r, r->bytes, r->c.bytes);
	swc_watch(a, g, r);
	swc_go_on(a, g, r);
}

/* The round of an event whose bytes are awaited, or NULL; and its group. */
static struct swc_round *awaited(
	const struct nic_at *a, uint32_t ref, struct swc_group **g)
{
	struct swc_round *r;

	*g = swc_find_group(swc_of(a), ref / SWC_ROUNDS);
	r = *g ? &(*g)->round[ref % SWC_ROUNDS] : NULL;
	return r && r->is_posted && !r->is_own && !r->is_taken ? r : NULL;
}

/* Its bytes have come over PCIe, if its job is still there. */
static void on_data(const struct nic_at *a, const struct side_read *x)
{
	struct swc_group *g;
	struct swc_round *r = awaited(a, x->id, &g);
	const struct swhni_handle *h;

	if (!r)
		return;
	if (!sw_look_up(a, g->engine, g->job, r->c.own_key, r->c.own_offset,
		    r->c.bytes, 0, &h))
		sw_load_bytes(a, h, r->c.own_offset, r->bytes, r->c.bytes);
	contribute(a, g, r);
}

static void read_bytes(const struct nic_at *a, const struct swc_group *g,
	struct swc_round *r, const struct swhni_handle *h)
{
	struct sw_engine *e = sw_engine(a, g->engine);

	sw_here(a)->memory_reads++;
	side_reads_begin(a, &e->reads, sw_address(a, h, r->c.own_offset),
		r->c.bytes, on_data, e, swc_ref(g, r));
}

static void on_translated(const struct nic_at *a, uint32_t engine, uint32_t ref)
{
	struct swc_group *g;
	struct swc_round *r = awaited(a, ref, &g);
	const struct swhni_handle *h;

	if (!r)
		return;
	if (sw_look_up(a, engine, g->job, r->c.own_key, r->c.own_offset,
		    r->c.bytes, 0, &h))
		swc_break(a, g);
	else
		read_bytes(a, g, r, h);
}

/* Its bytes came with the descriptor, or are read. */
static void begin_bytes(const struct nic_at *a, struct swc_group *g,
	struct swc_round *r, const uint8_t *data, const struct swhni_handle *h)
{
	if (!swc_has_bytes(&r->c)) {
		contribute(a, g, r);
		return;
	}
	r->bytes = mem_alloc(r->c.bytes, 1);
	if (data) {
		memcpy(r->bytes, data, r->c.bytes);
		contribute(a, g, r);
	} else if (sw_translate(a, g->engine, h, r->c.own_offset, r->c.bytes,
			   on_translated, swc_ref(g, r))) {
		read_bytes(a, g, r, h);
	}
}

/* What came before the children were known. */
static void take_early(const struct nic_at *a, struct swc_group *g)
{
	while (g->early.n)
		swc_take(a, g, *(packet_id *)ring_pop(&g->early));
}

static uint32_t check(const struct nic_at *a, struct swc_group *g,
	const struct swhni_collective *c, const uint8_t *data,
	const struct swhni_handle **h)
{
	uint32_t status = SWHNI_OK;

	if (!is_known(a, c))
		return SWHNI_BAD_ENTRY;
	if (!g->has_list)
		status = read_list(a, g, c);
	if (!status && c->bytes &&
		(swc_has_bytes(c) || c->result != SWHNI_NO_RESULT) && !data)
		status = sw_look_up(a, g->engine, g->job, c->own_key,
			swc_has_bytes(c) ? c->own_offset : c->result, c->bytes,
			0, h);
	return !status && g->is_broken ? SWHNI_BROKEN : status;
}

static void post(const struct nic_at *a, uint32_t interface, uint32_t job,
	uint32_t queue, const struct swhni_collective *c, const uint8_t *data,
	const struct workq_birth *b)
{
	uint32_t status;
	struct swc_group *g = swc_find(a, interface, c->tree, job, &status);
	const struct swhni_handle *h = NULL;
	struct swc_round *r = NULL;
	bool is_old;

	if (!status)
		status = check(a, g, c, data, &h);
	if (!status)
		r = swc_round(a, g, c->round, &is_old);
	if (!r || r->is_posted) {
		refuse(a, g ? g->engine : 0, interface, queue, c,
			status ? status : SWHNI_BAD_ENTRY);
		return;
	}
	r->c = *c;
	if (a->nic->net->book) {
		r->birth = mem_alloc(1, sizeof(*b));
		*r->birth = *b;
	}
	r->queue = queue;
	r->is_posted = true;
	r->since = a->t;
	sw_here(a)->collectives_posted++;
	if (r->has_result) {
		r->is_own = true;
		r->own_at = a->t;
		swc_deliver(a, g, r);
		return;
	}
	if (r->shape && r->shape != swc_shape(c->op, c->data, c->bytes) &&
		!swc_is_broadcast(c)) {
		swc_break(a, g);
		return;
	}
	r->shape = swc_shape(c->op, c->data, c->bytes);
	r->is_ready |= swc_is_broadcast(c);
	take_early(a, g);
	begin_bytes(a, g, r, data, h);
}

/* --- the table --- */

static void swc_post(const struct nic_at *a, uint32_t engine, uint32_t queue,
	const struct swhni_collective *c, const struct workq_birth *b)
{
	uint32_t interface = sw_queue(sw_engine(a, engine), queue)->interface;
	uint32_t job = sw_any_interface(a->node, interface)->setup.job;

	post(a, interface, job, queue, c, NULL, b);
}

static __attribute__((noinline)) void on_stored(
	const struct nic_at *a, uint32_t id)
{
	struct sw_collectives *u = swc_of(a);
	struct swc_post x = *(struct swc_post *)slots_at(&u->posts, id);
	const struct sw_interface *i = sw_interface(a->node, x.interface);

	slots_give(&u->posts, id);
	x.birth.heard = x.birth.asked = x.birth.came = a->t;
	if (i && i->life == x.life)
		post(a, x.interface, x.job, SW_NO_QUEUE, &x.c, x.data,
			&x.birth);
	mem_free(x.data);
}

/* Bytes that are stored with the descriptor: few, or a broadcast's. */
static uint32_t n_stored(const struct swhni_collective *c)
{
	uint32_t most =
		swc_is_broadcast(c) ? SWHNI_MESSAGE : (uint32_t)SWHNI_SHORT;

	return swc_has_bytes(c) && c->bytes <= most ? c->bytes : 0;
}

int swhni_collect(const struct nic_at *a, uint32_t interface, uint32_t process,
	const struct swhni_collective *c, const void *data, sim_time birth,
	sim_time copied)
{
	struct sw_interface *i = sw_mapped(a, interface, process);
	struct sw_collectives *u = swc_of(a) ? swc_of(a) : swc_make(a);
	uint32_t n = n_stored(c);
	struct side *side = sw_of(a)->side;
	struct swc_post *x;
	uint32_t id;
	sim_time t;

	if (!i)
		return EACCES;
	id = slots_take_any(&u->posts);
	x = slots_at(&u->posts, id);
	x->c = *c;
	x->interface = interface;
	x->job = i->setup.job;
	x->life = i->life;
	x->birth = (struct workq_birth){
		.at = birth, .copied = copied, .handed = a->t
	};
	x->data = n ? mem_alloc(n, 1) : NULL;
	if (n)
		memcpy(x->data, data, n);
	t = side->ops->store(side, sw_place(a, i->setup.engine), a->t,
		(uint32_t)sizeof(*c) + n);
	sw_post(a, t, i->setup.engine, SW_COLLECTIVE + SWC_STORED, id);
	return 0;
}

int swhni_set_chain(struct nic *nic, uint32_t entry, const site_id *node,
	uint32_t n, struct err *e)
{
	struct swhni *x = (struct swhni *)nic;

	if (!multicast_has(nic->net->coll))
		return 0;
	for (uint32_t port = 0; port < x->n_ports; port++)
		if (multicast_join(nic->net->coll, entry, port, node, n, e))
			return -1;
	return 0;
}

static void swc_on_event(
	const struct nic_at *a, uint32_t engine, uint32_t number, uint32_t data)
{
	switch (number) {
	case SWC_STORED:
		on_stored(a, data);
		break;
	case SWC_SERVED:
		swc_on_served(a, engine, data);
		break;
	case SWC_WRITTEN:
		swc_on_written(a, data);
		break;
	case SWC_WATCH:
		swc_on_watch(a, data);
		break;
	default:
		resend_on_event(
			a, &swc_of(a)->sent, SW_COLLECTIVE + number, data);
	}
}

static void swc_leave(const struct nic_at *a, uint32_t interface)
{
	struct sw_collectives *u = swc_of(a);

	for (uint32_t i = 1; u && i <= u->groups.room; i++) {
		struct swc_group *g = swc_find_group(u, i);

		if (g && g->interface == interface)
			swc_free(a, g);
	}
}

static void swc_fini(struct sw_node *n)
{
	struct sw_collectives *u = n->collectives;

	if (!u)
		return;
	for (uint32_t i = 1; i <= u->groups.room; i++) {
		struct swc_group *g = swc_find_group(u, i);

		for (uint32_t k = 0; g && k < SWC_ROUNDS; k++) {
			mem_free(g->round[k].part);
			mem_free(g->round[k].bytes);
			mem_free(g->round[k].spread);
			mem_free(g->round[k].kept);
			mem_free(g->round[k].birth);
		}
		if (!g)
			continue;
		mem_free(g->child);
		ring_fini(&g->early);
		mem_free(g);
	}
	for (uint32_t i = 1; i <= u->posts.room; i++) {
		struct swc_post *x = slots_find(&u->posts, i);

		if (x)
			mem_free(x->data);
	}
	slots_fini(&u->groups);
	slots_fini(&u->posts);
	resend_fini(&u->sent);
	index_fini(&u->by_key);
	mem_free(u);
}

static uint64_t swc_memory(const struct sw_node *n)
{
	const struct sw_collectives *u = n->collectives;

	return u ? sizeof(*u) + slots_memory(&u->groups) +
			       u->groups.used * sizeof(struct swc_group) +
			       slots_memory(&u->posts) +
			       resend_memory(&u->sent) +
			       index_memory(&u->by_key)
		 : 0;
}

static bool swc_is_busy(const struct sw_node *n)
{
	const struct sw_collectives *u = n->collectives;

	return u && (u->posts.used || u->sent.items.used || u->n_lined);
}

static bool swc_is_stale(
	const struct sw_node *n, uint32_t number, uint32_t data)
{
	const struct sw_collectives *u = n->collectives;
	const struct swc_group *g = u ? swc_find_group(u, data) : NULL;

	if (number != SWC_WATCH)
		return u &&
		       resend_is_stale(&u->sent, SW_COLLECTIVE + number, data);
	for (uint32_t i = 0; g && i < SWC_ROUNDS; i++)
		if (g->round[i].is_posted && !g->round[i].is_taken)
			return false;
	return true;
}

const struct sw_unit sw_collective_unit = {
	.post = swc_post,
	.on_packet = swc_on_packet,
	.on_event = swc_on_event,
	.leave = swc_leave,
	.fini = swc_fini,
	.memory = swc_memory,
	.is_busy = swc_is_busy,
	.is_stale = swc_is_stale,
};
