#include <string.h>

#include "coll/multicast.h"
#include "nic/swhni/collective.h"

/* --- packets --- */

static packet_id make(const struct nic_at *a, const struct swc_group *g,
	enum sw_packet_type type, uint32_t round, const struct swhni_member *to,
	uint32_t bytes)
{
	packet_id id = sw_send_packet(a, g->engine, type, to->node, bytes);
	struct packet *p = &a->nic->net->packets[id];
	struct sw_header *h = &sw_load(a, id)->h;

	/* a barrier's packets are those of a sum, with an empty operand */
	if (p->bytes < SWC_OPERAND)
		p->bytes = SWC_OPERAND;
	h->number = round;
	h->key = g->tree;
	h->job = g->job;
	h->interface = to->interface;
	h->own_interface = (uint16_t)g->interface;
	h->engine = to->engine;
	h->status = g->is_broken ? SWHNI_BROKEN : SWHNI_OK;
	if (a->nic->net->book)
		nic_account_none(a, id);
	return id;
}

/* By a port, 1 + its number, if it works; 0: any. */
static void leave(const struct nic_at *a, packet_id id, uint32_t wanted)
{
	const struct packet *p = &a->nic->net->packets[id];
	uint32_t avoid =
		p->flags & PACKET_MANY ? 0 : sw_port_avoided(a, p->dst);

	sw_port_send(a, SW_SYSTEM,
		p->dst == a->s
			? 0
			: sw_port_choose(a, SW_SYSTEM, wanted, false, avoid),
		id);
}

/* The port that a packet came by, which leads to its sender. */
static uint32_t port_of(const struct nic_at *a, const struct sw_header *h)
{
	return h->port < sw_of(a)->n_ports ? 1u + h->port : 0;
}

static void fill(struct sw_load *l, const void *from, uint32_t bytes)
{
	if (bytes)
		memcpy(l->data, from, bytes);
}

/* --- to other members, until they acknowledge it --- */

static struct swc_item *item(const struct nic_at *a, uint32_t id)
{
	return slots_at(&swc_of(a)->sent.items, id);
}

static void send_item(const struct nic_at *a, uint32_t id, uint32_t wanted)
{
	const struct swc_item *x = item(a, id);
	const struct swc_group *g = swc_group(a, x->group);
	const struct swc_round *r = &g->round[x->round % SWC_ROUNDS];
	const uint8_t *from = NULL;
	uint32_t bytes = 0;
	packet_id p;
	struct sw_load *l;

	if (r->number == x->round && !g->is_broken && x->kind == SWC_PART) {
		from = r->bytes;
		bytes = from ? r->c.bytes : 0;
	} else if (r->number == x->round && x->kind == SWC_BYTES) {
		from = r->spread;
		bytes = r->n_spread;
	}
	p = make(a, g, SW_GATHER, x->round, &x->to, bytes);
	l = sw_load(a, p);
	l->h.message = id;
	l->h.generation = x->generation;
	l->h.flags = x->kind;
	l->h.word[0] = r->number == x->round ? r->shape : 0;
	fill(l, from, bytes);
	leave(a, p, wanted);
}

void swc_send(const struct nic_at *a, struct swc_group *g, uint32_t round,
	enum swc_kind kind, const struct swhni_member *to)
{
	struct sw_collectives *u = swc_of(a);
	uint32_t id = resend_take(&u->sent);
	struct swc_item *x = item(a, id);

	x->item.dst = to->node;
	x->group = g->id;
	x->round = round;
	x->generation = ++u->generation;
	x->to = *to;
	x->kind = (uint8_t)kind;
	sw_here(a)->gathers += kind != SWC_LOOK;
	send_item(a, id, 0);
	resend_left(a, &u->sent, id);
}

void swc_again(const struct nic_at *a, uint32_t id)
{
	sw_here(a)->resent++;
	send_item(a, id, 1 + item(a, id)->item.route % sw_of(a)->n_ports);
}

void swc_late(const struct nic_at *a, uint32_t id)
{
	(void)id;
	sw_here(a)->timeouts++;
}

static void give_item(const struct nic_at *a, uint32_t id)
{
	resend_give(&swc_of(a)->sent, id);
}

void swc_give_up(const struct nic_at *a, uint32_t id)
{
	struct swc_group *g = swc_group(a, item(a, id)->group);

	give_item(a, id);
	swc_break(a, g);
}

void swc_forget_items(const struct nic_at *a, const struct swc_group *g)
{
	struct slots *items = &swc_of(a)->sent.items;

	for (uint32_t i = 1; i <= items->room; i++) {
		const struct swc_item *x = slots_find(items, i);

		if (x && x->group == g->id)
			give_item(a, i);
	}
}

static void settle(const struct nic_at *a, const struct sw_header *h)
{
	struct sw_collectives *u = swc_of(a);
	const struct swc_item *x =
		u ? slots_find(&u->sent.items, h->message) : NULL;
	struct swc_group *g;

	if (!x || x->generation != h->generation)
		return;
	resend_answered(a, &u->sent, h->message);
	if (h->status == SW_FULL && x->item.tries < sw_params(a)->patience) {
		resend_excused(a, &u->sent, h->message);
		return;
	}
	g = swc_group(a, x->group);
	give_item(a, h->message);
	if (h->status && !g->is_broken)
		swc_break(a, g);
}

static void on_answer(const struct nic_at *a, packet_id id)
{
	settle(a, &sw_load(a, id)->h);
	sw_receive_finish(a, id, false);
}

static void answer(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id to, uint32_t status)
{
	packet_id id = sw_send_packet(a, engine, SW_GATHERED, to, 0);
	struct sw_header *x = &sw_load(a, id)->h;

	x->message = h->message;
	x->generation = h->generation;
	x->engine = h->own_engine;
	x->job = h->job;
	x->status = (uint8_t)status;
	sw_here(a)->acks++;
	if (a->nic->net->book)
		nic_account_none(a, id);
	leave(a, id, port_of(a, h));
}

/* --- the result --- */

static void fill_result(const struct swc_round *r, struct sw_header *h)
{
	h->word[0] = r->shape;
}

void swc_tell(const struct nic_at *a, struct swc_group *g, uint32_t round,
	const struct swhni_member *to, uint32_t wanted)
{
	const struct swc_round *r = &g->round[round % SWC_ROUNDS];
	bool has_bytes = r->number == round && r->has_result && !g->is_broken;
	uint32_t bytes = has_bytes ? r->n_kept : 0;
	packet_id id;

	if (!has_bytes && !g->is_broken)
		return;
	id = make(a, g, SW_RESULT, round, to, bytes);
	fill_result(r, &sw_load(a, id)->h);
	fill(sw_load(a, id), r->kept, bytes);
	leave(a, id, wanted);
}

/* By switches; the entry of their tables takes the place of a destination. */
static void multicast(
	const struct nic_at *a, const struct swc_group *g, packet_id id)
{
	struct packet *p = &a->nic->net->packets[id];

	p->flags |= PACKET_MANY;
	p->last = g->entry;
	leave(a, id, 0);
}

void swc_spread(const struct nic_at *a, struct swc_group *g, uint32_t round)
{
	struct swc_round *r = &g->round[round % SWC_ROUNDS];
	struct sw_header h = { .type = SW_RESULT,
		.key = g->tree,
		.job = g->job,
		.interface = (uint16_t)g->interface,
		.number = round,
		.word = { r->shape },
		.status = g->is_broken ? SWHNI_BROKEN : SWHNI_OK };
	const uint8_t *from = r->has_spread ? r->spread : r->bytes;
	/* some other node: a switch sends no copy back */
	const struct swhni_member any = { .node = a->s ? 0 : 1 };
	bool is_for_all = swc_has_multicast(a, g);
	packet_id id;

	h.bytes = h.status ? 0 : r->has_spread ? r->n_spread : r->c.bytes;
	sw_here(a)->spreads++;
	if (is_for_all) {
		id = make(a, g, SW_RESULT, round, &any, h.bytes);
		fill_result(r, &sw_load(a, id)->h);
		fill(sw_load(a, id), from, h.bytes);
		multicast(a, g, id);
	} else if (h.status) {
		for (uint32_t i = 0; i < g->n_children; i++)
			swc_tell(a, g, round, &g->child[i], 0);
	}
	swc_land(a, &h, from, is_for_all);
}

static void on_result(const struct nic_at *a, packet_id id)
{
	struct sw_load *l = sw_load(a, id);

	swc_land(a, &l->h, l->data,
		a->nic->net->packets[id].flags & PACKET_MANY);
	sw_receive_finish(a, id, false);
}

/* --- serving children --- */

static void serve_next(const struct nic_at *a, uint32_t engine)
{
	struct sw_collectives *u = swc_of(a);

	u->serving[engine] = packet_pop(a->nic->net->packets, &u->line[engine]);
	sw_post(a, a->t + sw_params(a)->child, engine,
		SW_COLLECTIVE + SWC_SERVED, u->serving[engine]);
}

static inline void serve(const struct nic_at *a, uint32_t engine)
{
	const struct sw_collectives *u = swc_of(a);

	if (!u->serving[engine] && u->line[engine].first)
		serve_next(a, engine);
}

/* Whether the same packet waits for the list already. */
static bool is_early(const struct nic_at *a, const struct swc_group *g,
	const struct sw_header *h, site_id src)
{
	for (uint32_t i = 0; i < g->early.n; i++) {
		packet_id id = *(packet_id *)ring_at(&g->early, i);
		const struct sw_header *x = &sw_load(a, id)->h;

		if (a->nic->net->packets[id].src == src &&
			x->own_interface == h->own_interface &&
			x->number == h->number && x->flags == h->flags)
			return true;
	}
	return false;
}

static void take(const struct nic_at *a, struct swc_group *g, packet_id id)
{
	const struct sw_header *h = &sw_load(a, id)->h;

	if (g->has_list)
		swc_take(a, g, id);
	else if (is_early(a, g, h, a->nic->net->packets[id].src))
		sw_receive_finish(a, id, false);
	else
		*(packet_id *)ring_push(&g->early) = id;
}

void swc_on_served(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_collectives *u = swc_of(a);
	const struct sw_header *h = &sw_load(a, id)->h;
	uint32_t status;
	struct swc_group *g =
		swc_find(a, h->interface, h->key, h->job, &status);

	u->serving[engine] = 0;
	u->n_lined--;
	answer(a, engine, h, a->nic->net->packets[id].src, status);
	if (g)
		take(a, g, id);
	else
		sw_receive_finish(a, id, false);
	serve(a, engine);
}

/* Behind all packets that are not of a younger round. */
static void insert(const struct nic_at *a, struct packet_list *line,
	packet_id id, uint32_t age)
{
	struct packet *packets = a->nic->net->packets;
	packet_id at = line->first, before = NO_PACKET;

	while ((int32_t)(sw_load(a, at)->slot - age) <= 0) {
		before = at;
		at = packets[at].next;
	}
	packets[id].next = at;
	if (before)
		packets[before].next = id;
	else
		line->first = id;
}

static void line_up(const struct nic_at *a, uint32_t engine, packet_id id,
	const struct swc_round *r)
{
	struct sw_collectives *u = swc_of(a);
	struct packet_list *line = &u->line[engine];
	uint32_t age = sw_load(a, id)->slot = r ? r->age : 0;

	if (line->first && (int32_t)(sw_load(a, line->last)->slot - age) > 0)
		insert(a, line, id, age);
	else
		packet_push(a->nic->net->packets, line, id);
	u->n_lined++;
	serve(a, engine);
}

/* Somebody asks whether this member is alive, and for a result if it has it. */
static void on_look(const struct nic_at *a, struct swc_group *g,
	const struct sw_header *h, site_id src)
{
	const struct swhni_member to = { .node = src,
		.interface = h->own_interface,
		.engine = h->own_engine };

	sw_here(a)->probes++;
	swc_tell(a, g, h->number, &to, port_of(a, h));
}

/* A packet that is not lined up: why. */
static void turn_away(const struct nic_at *a, uint32_t engine, packet_id id,
	uint32_t status, bool is_old)
{
	const struct sw_header *h = &sw_load(a, id)->h;

	sw_here(a)->strays += status == SWHNI_WRONG_JOB;
	sw_here(a)->doubles += is_old;
	sw_here(a)->refused += status == SW_FULL;
	answer(a, engine, h, a->nic->net->packets[id].src, status);
	sw_receive_finish(a, id, false);
}

static void on_gather(const struct nic_at *a, uint32_t engine, packet_id id)
{
	const struct sw_header *h = &sw_load(a, id)->h;
	uint32_t status;
	struct swc_group *g =
		swc_find(a, h->interface, h->key, h->job, &status);
	struct swc_round *r = NULL;
	bool is_old = false;

	if (g && g->is_broken)
		status = SWHNI_BROKEN;
	else if (g && h->flags != SWC_LOOK && !h->status)
		r = swc_round(a, g, h->number, &is_old);
	if (g && h->flags == SWC_LOOK) {
		on_look(a, g, h, a->nic->net->packets[id].src);
	} else if (!status && (r || h->status) && g->early.n < SWC_EARLY) {
		line_up(a, engine, id, r);
		return;
	} else if (!status && !is_old) {
		status = SW_FULL;
	}
	turn_away(a, engine, id, status, is_old);
}

/* --- trees that are none --- */

static uint64_t name_of(const struct nic_at *a, const struct swc_group *g)
{
	return (uint64_t)a->s << 16 | g->interface;
}

static void walk(const struct nic_at *a, const struct swc_group *g,
	uint32_t round, uint64_t origin, uint32_t hops)
{
	packet_id id = make(a, g, SW_WALK, round, &g->parent, 0);
	struct sw_header *h = &sw_load(a, id)->h;

	h->word[1] = origin;
	h->total = hops;
	leave(a, id, 0);
}

static void on_walk(const struct nic_at *a, packet_id id)
{
	const struct sw_header h = sw_load(a, id)->h;
	uint32_t status;
	struct swc_group *g = swc_find(a, h.interface, h.key, h.job, &status);

	sw_receive_finish(a, id, false);
	if (!g || !g->has_list)
		return;
	if (h.word[1] == name_of(a, g))
		swc_break(a, g);
	else if (!swc_is_root(g) && h.total < SWC_HOPS)
		walk(a, g, h.number, h.word[1], h.total + 1);
}

/* --- what is late --- */

static sim_time due(const struct nic_at *a, const struct swc_round *r)
{
	return r->since + (sw_of(a)->unit_resend.timeout << r->watches);
}

static bool is_waiting(const struct swc_round *r)
{
	return r->is_posted && !r->has_result && r->watches < SWC_WATCHES;
}

static void watch(const struct nic_at *a, struct swc_group *g)
{
	sim_time t = SIM_NEVER;

	if (g->is_watched)
		return;
	for (uint32_t i = 0; i < SWC_ROUNDS; i++)
		if (is_waiting(&g->round[i]) && due(a, &g->round[i]) < t)
			t = due(a, &g->round[i]);
	if (t == SIM_NEVER)
		return;
	g->is_watched = true;
	sw_post(a, t, 0, SW_COLLECTIVE + SWC_WATCH, g->id);
}

void swc_watch(const struct nic_at *a, struct swc_group *g, struct swc_round *r)
{
	r->since = a->t;
	r->watches = 0;
	watch(a, g);
}

/* Children whose packets have not come; of a broadcast, all: any of them may
 * have promised bytes. */
static uint128 missing(const struct swc_group *g, const struct swc_round *r)
{
	if (r->c.op == SWHNI_BROADCAST)
		return swc_all(g);
	return swc_all(g) & ~r->parts;
}

static void look_after(
	const struct nic_at *a, struct swc_group *g, struct swc_round *r)
{
	uint32_t number = r->number;

	r->watches++;
	if (!swc_is_root(g) && (r->is_up || r->is_ready_up))
		swc_send(a, g, number, SWC_LOOK, &g->parent);
	else if (!swc_is_root(g) && g->n_children)
		walk(a, g, number, name_of(a, g), 0);
	for (uint32_t i = 0; i < g->n_children; i++)
		if (missing(g, r) >> i & 1)
			swc_send(a, g, number, SWC_LOOK, &g->child[i]);
}

void swc_on_watch(const struct nic_at *a, uint32_t group)
{
	struct swc_group *g = swc_find_group(swc_of(a), group);

	if (!g)
		return;
	g->is_watched = false;
	for (uint32_t i = 0; i < SWC_ROUNDS; i++)
		if (is_waiting(&g->round[i]) && due(a, &g->round[i]) <= a->t)
			look_after(a, g, &g->round[i]);
	watch(a, g);
}

void swc_on_packet(const struct nic_at *a, uint32_t engine, packet_id id)
{
	switch (sw_load(a, id)->h.type) {
	case SW_GATHER:
		on_gather(a, engine, id);
		break;
	case SW_GATHERED:
		on_answer(a, id);
		break;
	case SW_RESULT:
		on_result(a, id);
		break;
	default:
		on_walk(a, id);
	}
}
