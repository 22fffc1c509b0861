#include <string.h>

#include "base/mem.h"
#include "coll/multicast.h"
#include "nic/swhni/collective.h"

const uint8_t swc_coll_op[] = {
	[SWHNI_SUM] = COLL_ADD,
	[SWHNI_MAX] = COLL_MAX,
	[SWHNI_MIN] = COLL_MIN,
	[SWHNI_AND] = COLL_AND,
	[SWHNI_OR] = COLL_OR,
	[SWHNI_XOR] = COLL_XOR,
};

const uint8_t swc_type[] = {
	[SWHNI_INT32] = ORDERED_INT32,
	[SWHNI_INT64] = ORDERED_INT64,
	[SWHNI_FLOAT32] = ORDERED_FLOAT,
	[SWHNI_FLOAT64] = ORDERED_DOUBLE,
};

/* --- groups and rounds --- */

struct sw_collectives *swc_make(const struct nic_at *a)
{
	struct sw_collectives *u = mem_alloc(1, sizeof(*u));

	slots_init(&u->groups, sizeof(struct swc_place));
	slots_init(&u->posts, sizeof(struct swc_post));
	resend_init(&u->sent, &sw_of(a)->unit_resend, &sw_here(a)->ticks,
		sizeof(struct swc_item));
	sw_here(a)->collectives = u;
	return u;
}

static uint64_t key_of(uint32_t interface, uint32_t tree)
{
	return (uint64_t)interface << 16 | tree;
}

static void free_round(
	const struct nic_at *a, const struct swc_group *g, struct swc_round *r)
{
	for (uint32_t i = 0; r->part && i < g->n_children; i++)
		if (r->part[i])
			sw_receive_finish(a, r->part[i], false);
	if (r->result)
		sw_receive_finish(a, r->result, false);
	mem_free(r->part);
	mem_free(r->bytes);
	mem_free(r->spread);
	mem_free(r->kept);
	mem_free(r->birth);
	*r = (struct swc_round){ 0 };
}

void swc_free(const struct nic_at *a, struct swc_group *g)
{
	struct sw_collectives *u = swc_of(a);

	swc_forget_items(a, g);
	for (uint32_t i = 0; i < SWC_ROUNDS; i++) {
		const struct swc_round *r = &g->round[i];

		if (r->is_posted && !r->is_taken && r->queue != SW_NO_QUEUE)
			workqs_end(&sw_engine(a, g->engine)->queues, r->queue);
		free_round(a, g, &g->round[i]);
	}
	while (g->early.n)
		sw_receive_finish(a, *(packet_id *)ring_pop(&g->early), false);
	ring_fini(&g->early);
	mem_free(g->child);
	index_remove(&u->by_key, key_of(g->interface, g->tree));
	u->last = NULL;
	slots_give(&u->groups, g->id);
	mem_free(g);
}

/* A group of an interface, which is open. */
static __attribute__((noinline)) struct swc_group *make_group(
	const struct nic_at *a, uint32_t interface, uint32_t tree)
{
	struct sw_collectives *u = swc_of(a);
	const struct sw_interface *x = sw_interface(a->node, interface);
	uint32_t id = slots_take(&u->groups);
	struct swc_group *g = mem_alloc(1, sizeof(*g));

	((struct swc_place *)slots_at(&u->groups, id))->group = g;
	g->id = id;
	g->interface = interface;
	g->engine = x->setup.engine;
	g->job = x->setup.job;
	g->tree = (uint16_t)tree;
	ring_init(&g->early, sizeof(packet_id));
	index_add(&u->by_key, key_of(interface, tree), id);
	return g;
}

static __attribute__((noinline)) struct swc_group *find_other(
	const struct nic_at *a, uint32_t interface, uint32_t tree, uint32_t job,
	uint32_t *status)
{
	const struct sw_interface *x = sw_interface(a->node, interface);
	struct sw_collectives *u;
	uint32_t id;

	*status = !x			? SW_FULL
		  : x->setup.job != job ? SWHNI_WRONG_JOB
					: SWHNI_OK;
	if (*status)
		return NULL;
	u = swc_of(a) ? swc_of(a) : swc_make(a);
	id = index_find(&u->by_key, key_of(interface, tree));
	u->last = id ? swc_group(a, id) : make_group(a, interface, tree);
	return u->last;
}

/* Mostly it is the group that was found last.  A group ends with its interface,
 * so as long as it is there its job is the interface's. */
struct swc_group *swc_find(const struct nic_at *a, uint32_t interface,
	uint32_t tree, uint32_t job, uint32_t *status)
{
	const struct sw_collectives *u = swc_of(a);
	struct swc_group *g = u ? u->last : NULL;

	if (!g || g->interface != interface || g->tree != tree || g->job != job)
		return find_other(a, interface, tree, job, status);
	*status = SWHNI_OK;
	return g;
}

/* Nothing of it is needed any more. */
static bool is_over(const struct swc_round *r)
{
	return !r->number || r->is_taken;
}

struct swc_round *swc_other_round(const struct nic_at *a, struct swc_group *g,
	uint32_t number, bool *is_old)
{
	struct swc_round *r = &g->round[number % SWC_ROUNDS];

	*is_old = !number || (r->number && (int32_t)(number - r->number) < 0);
	if (*is_old)
		return NULL;
	if (!is_over(r))
		return NULL;
	free_round(a, g, r);
	r->number = number;
	r->age = ++swc_of(a)->age;
	return r;
}

/* --- the end of a round, for its program --- */

void swc_complete(const struct nic_at *a, struct swc_group *g,
	struct swc_round *r, uint32_t status)
{
	struct workqs *queues = &sw_engine(a, g->engine)->queues;
	const struct sw_interface *x = sw_interface(a->node, g->interface);
	struct workq_completion c = {
		.id = r->c.id,
		.value = status ? 0 : r->c.bytes,
		.status = SWHNI_STATUS(SWHNI_DONE, status, a->s),
	};
	bool is_told = status || r->c.flags & SWHNI_TELL;

	sw_here(a)->error[status]++;
	if (r->queue != SW_NO_QUEUE && is_told)
		workqs_complete(a, queues, r->queue, &c);
	else if (r->queue != SW_NO_QUEUE)
		workqs_end(queues, r->queue);
	else if (is_told && x && x->queue != SW_NO_QUEUE)
		workqs_tell(a, queues, x->queue, &c);
}

/* The account of a program's call is that of the packet which ends it: it has
 * waited for others since its own part was known. */
static void account(
	const struct nic_at *a, const struct swc_round *r, packet_id id)
{
	struct book *k = a->nic->net->book;
	const struct workq_birth *b = r->birth;
	struct book_message m;

	if (!k)
		return;
	m = book_message(k, a->s, BOOK_SEND, 1, b->at);
	book_open(k, id, &m);
	nic_charge(a, id, CAUSE_COPY, b->copied);
	nic_charge(a, id, CAUSE_SOFTWARE, b->handed);
	nic_charge(a, id, CAUSE_DESCRIPTOR, b->heard);
	nic_charge(a, id, CAUSE_CARD, b->asked);
	nic_charge(a, id, CAUSE_DESCRIPTOR, b->came);
	nic_charge(a, id, CAUSE_MEMORY_READ, r->own_at);
	nic_charge(a, id, CAUSE_PEERS, a->t);
}

/* Having taken a broadcast, a member is ready for the one after the next. */
static void get_ready(
	const struct nic_at *a, struct swc_group *g, uint32_t number)
{
	bool is_old;
	struct swc_round *r = swc_round(a, g, number, &is_old);

	if (!r || r->is_ready || g->is_broken)
		return;
	r->is_ready = true;
	swc_go_on(a, g, r);
}

static void end_round(const struct nic_at *a, struct swc_group *g,
	struct swc_round *r, uint32_t status)
{
	bool is_ahead =
		!status && swc_is_broadcast(&r->c) && sw_params(a)->slots > 1;
	packet_id id = r->result;

	if (!r->is_told)
		swc_complete(a, g, r, status);
	r->result = 0;
	r->is_taken = true;
	if (id) {
		sw_delivered(a, id);
		nic_charge(a, id, CAUSE_COMPLETION, a->t);
		sw_receive_finish(a, id, true);
	}
	host_poke(a->nic->host, a->w, a->s, a->t);
	if (is_ahead)
		get_ready(a, g, r->number + 2);
}

/* A group is of no use any more. */
static void end_all(const struct nic_at *a, struct swc_group *g)
{
	g->is_broken = true;
	for (uint32_t i = 0; i < SWC_ROUNDS; i++) {
		struct swc_round *r = &g->round[i];

		if (!r->is_posted || r->is_taken || r->has_result)
			continue;
		r->has_result = true;
		end_round(a, g, r, SWHNI_BROKEN);
	}
}

/* --- the result --- */

/* Whether its bytes go to memory; where. */
static uint32_t target(const struct nic_at *a, const struct swc_group *g,
	const struct swc_round *r, const struct swhni_handle **h)
{
	*h = NULL;
	if (!r->c.bytes || r->c.result == SWHNI_NO_RESULT)
		return SWHNI_OK;
	return sw_look_up(a, g->engine, g->job, r->c.own_key, r->c.result,
		r->c.bytes, 0, h);
}

/* The program has posted the round, and its result is here. */
void swc_deliver(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r)
{
	const struct sw_load *l = sw_load(a, r->result);
	const struct swhni_handle *h;
	uint32_t status = l->h.status;
	sim_time t = a->t;

	if (!status && l->h.bytes != r->c.bytes)
		status = SWHNI_BROKEN;
	if (!status)
		status = target(a, g, r, &h);
	account(a, r, r->result);
	if (status) {
		end_round(a, g, r, status);
		return;
	}
	if (h) {
		t = sw_receive_write(a, g->engine,
			sw_address(a, h, r->c.result), r->c.bytes);
		/* right behind the bytes */
		swc_complete(a, g, r, SWHNI_OK);
		r->is_told = true;
	}
	nic_charge(a, r->result, CAUSE_MEMORY_WRITE, t);
	sw_post(a, t, g->engine, SW_COLLECTIVE + SWC_WRITTEN, swc_ref(g, r));
}

void swc_on_written(const struct nic_at *a, uint32_t ref)
{
	struct swc_group *g = swc_find_group(swc_of(a), ref / SWC_ROUNDS);
	struct swc_round *r = g ? &g->round[ref % SWC_ROUNDS] : NULL;
	const struct swhni_handle *h;

	if (!r || !r->result || !r->is_posted)
		return; /* its job has left */
	if (!target(a, g, r, &h) && h)
		sw_store_bytes(a, h, r->c.result, sw_load(a, r->result)->data,
			r->c.bytes);
	end_round(a, g, r, SWHNI_OK);
}

/* A packet of this node that ends a member's round. */
static packet_id make_result(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, const uint8_t *data)
{
	packet_id id = sw_send_packet(a, engine, SW_RESULT, a->s, h->bytes);
	struct sw_load *l = sw_load(a, id);
	uint8_t own = l->h.own_engine;

	l->h = *h;
	l->h.own_engine = own;
	if (h->bytes)
		memcpy(l->data, data, h->bytes);
	sw_here(a)->inside++;
	return id;
}

static uint8_t *copy_of(const uint8_t *data, uint32_t n)
{
	uint8_t *x = n ? mem_alloc(n, 1) : NULL;

	if (n)
		memcpy(x, data, n);
	return x;
}

/* For those of its members that missed it. */
static void keep(struct swc_round *r, const uint8_t *data, uint32_t n)
{
	mem_free(r->kept);
	r->kept = copy_of(data, n);
	r->n_kept = n;
}

static void land(const struct nic_at *a, struct swc_group *g,
	const struct sw_header *h, const uint8_t *data)
{
	bool is_old;
	struct swc_round *r;

	if (h->status) {
		end_all(a, g);
		return;
	}
	r = swc_round(a, g, h->number, &is_old);
	if (!r || r->has_result)
		return;
	if (!r->is_posted && !r->is_ready) {
		sw_here(a)->unready++; /* there is no slot for it */
		return;
	}
	r->has_result = true;
	r->shape = h->word[0];
	keep(r, data, h->bytes);
	r->result = make_result(a, g->engine, h, data);
	if (!swc_has_multicast(a, g))
		for (uint32_t i = 0; i < g->n_children; i++)
			swc_tell(a, g, h->number, &g->child[i], 0);
	if (r->is_posted)
		swc_deliver(a, g, r);
}

void swc_land(const struct nic_at *a, const struct sw_header *h,
	const uint8_t *data, bool is_for_all)
{
	struct sw_collectives *u = swc_of(a);
	bool is_any = false;

	for (uint32_t i = 1; u && i <= u->groups.room; i++) {
		struct swc_group *g = swc_find_group(u, i);

		if (!g || g->tree != h->key || g->job != h->job ||
			(!is_for_all && g->interface != h->interface))
			continue;
		is_any = true;
		land(a, g, h, data);
	}
	if (!is_any)
		sw_here(a)->strangers++;
}

/* --- going on --- */

/* All parts are here: they are combined in the order of the list. */
static void combine(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r)
{
	for (uint32_t i = 0; i < g->n_children; i++) {
		if (swc_is_reduction(&r->c))
			ordered_combine(swc_coll_op[r->c.op],
				swc_type[r->c.data], r->bytes,
				sw_load(a, r->part[i])->data, r->c.bytes);
		sw_receive_finish(a, r->part[i], false);
	}
	mem_free(r->part);
	r->part = NULL;
}

static void go_on_parts(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r)
{
	if (!r->is_own || r->is_up || swc_is_broadcast(&r->c) ||
		r->parts != swc_all(g))
		return;
	r->is_up = true;
	combine(a, g, r);
	if (!swc_is_root(g)) {
		swc_send(a, g, r->number, SWC_PART, &g->parent);
		swc_watch(a, g, r);
	} else {
		swc_spread(a, g, r->number);
	}
}

static void go_on_broadcast(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r)
{
	if (!r->is_ready || !g->has_list || r->ready != swc_all(g))
		return;
	if (swc_is_root(g) && r->has_spread && !r->is_up) {
		r->is_up = true;
		swc_spread(a, g, r->number);
	}
	if (!swc_is_root(g) && !r->is_ready_up) {
		r->is_ready_up = true;
		swc_send(a, g, r->number, SWC_READY, &g->parent);
	}
}

void swc_go_on(const struct nic_at *a, struct swc_group *g, struct swc_round *r)
{
	if (g->is_broken || r->has_result)
		return;
	go_on_parts(a, g, r);
	go_on_broadcast(a, g, r);
}

/* --- what children send --- */

/* Its number in the list, or n_children.  They come in much the same order in
 * each round, so the one that is found is mostly the first. */
static uint32_t child_of(
	struct swc_group *g, site_id src, const struct sw_header *h)
{
	uint32_t n = g->n_children, i = g->next;

	for (uint32_t k = 0; k < n; k++, i++) {
		i = i < n ? i : 0;
		if (g->child[i].node != src ||
			g->child[i].interface != h->own_interface)
			continue;
		g->next = (uint8_t)(i + 1);
		return i;
	}
	return n;
}

/* The bytes of a broadcast go on at once. */
void swc_pass_up(const struct nic_at *a, struct swc_group *g,
	struct swc_round *r, const uint8_t *data, uint32_t n)
{
	if (r->has_spread)
		return;
	r->has_spread = true;
	r->spread = copy_of(data, n);
	r->n_spread = n;
	if (!swc_is_root(g))
		swc_send(a, g, r->number, SWC_BYTES, &g->parent);
}

/* Members that do not do the same do nothing together. */
static bool differs(const struct swc_round *r, const struct sw_header *h)
{
	return h->flags == SWC_PART &&
	       (r->shape ? r->shape != h->word[0] : false);
}

static bool take_part(const struct swc_group *g, struct swc_round *r,
	uint32_t child, packet_id id)
{
	if (r->parts >> child & 1)
		return false;
	if (!r->part)
		r->part = mem_alloc(g->n_children, sizeof(*r->part));
	r->part[child] = id;
	r->parts |= (uint128)1 << child;
	return true;
}

void swc_take(const struct nic_at *a, struct swc_group *g, packet_id id)
{
	const struct sw_load *l = sw_load(a, id);
	uint32_t child = child_of(g, a->nic->net->packets[id].src, &l->h);
	bool is_old, is_kept = false;
	struct swc_round *r = swc_round(a, g, l->h.number, &is_old);
	bool is_bad = l->h.status || (r && differs(r, &l->h));

	if (child == g->n_children)
		sw_here(a)->strangers++;
	if ((!r && !is_bad) || child == g->n_children || g->is_broken) {
		sw_receive_finish(a, id, false);
		return;
	}
	if (is_bad) {
		sw_receive_finish(a, id, false);
		swc_break(a, g);
		return;
	}
	if (l->h.flags == SWC_PART) {
		r->shape = l->h.word[0];
		is_kept = take_part(g, r, child, id);
	} else if (l->h.flags == SWC_READY) {
		r->ready |= (uint128)1 << child;
	} else {
		swc_pass_up(a, g, r, l->data, l->h.bytes);
	}
	if (!is_kept)
		sw_receive_finish(a, id, false);
	swc_go_on(a, g, r);
}

/* --- errors --- */

void swc_break(const struct nic_at *a, struct swc_group *g)
{
	uint32_t last = 0;

	if (g->is_broken)
		return;
	for (uint32_t i = 0; i < SWC_ROUNDS; i++)
		if (g->round[i].number > last)
			last = g->round[i].number;
	end_all(a, g);
	if (!g->has_list)
		return;
	if (swc_is_root(g))
		swc_spread(a, g, last);
	else
		swc_send(a, g, last, SWC_PART, &g->parent);
}
