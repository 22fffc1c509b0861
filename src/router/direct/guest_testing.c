#include "router/direct/guest_testing.h"

#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"

static struct guest_kit *kit_of(const struct net *n)
{
	return n->client[0]->state;
}

static void send_floods(
	struct net *n, struct sim_worker *w, site_id s, sim_time t)
{
	struct guest_flood *f = kit_of(n)->flood;

	for (; !s && f < kit_of(n)->flood + 3; f++)
		while (f->n && net_has_room(n, s, f->fifo)) {
			packet_id id = packet_take(n->pool, w->id);

			f->n--;
			n->packets[id] = (struct packet){ .src = 0,
				.dst = 1,
				.born = t,
				.bytes = 512,
				.kind = f->kind };
			net_inject(n, w, s, f->fifo, id, t);
		}
}

static void send(
	struct net_client *me, struct sim_worker *w, site_id s, sim_time t)
{
	struct net *n = me->net;
	struct guest_kit *k = kit_of(n);
	struct guest_member *m = &k->member[s];

	enum tree_fifos fifo = k->channel_of[m->route] == CLASS_SYSTEM
				       ? TREE_SYSTEM
				       : TREE_USER;

	send_floods(n, w, s, t);
	while (m->done < m->n && tree_has_room(k->tree, s, fifo)) {
		packet_id id = packet_take(n->pool, w->id);
		struct book_message b;

		n->packets[id] = (struct packet){ .src = s,
			.dst = m->dst,
			.born = t,
			.bytes = m->bytes,
			.hints = tree_word(m->route ? m->route : k->route,
				m->route ? k->channel_of[m->route] : k->channel,
				!m->passes),
			.load = m->value + m->done++ };
		b = book_message(n->book, s, BOOK_PACKET, 1, t);
		book_open(n->book, id, &b);
		tree_inject(k->tree, w, s, fifo, id, t);
	}
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	(void)fifo;
	send(me, w, s, t);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	(void)e;
	send(me, w, s, t);
}

/* The others are none of these. */
static bool is_guest(const struct packet *p)
{
	return p->kind == PACKET_DYNAMIC;
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct guest_got *g = &kit_of(n)->got[s];

	static const char letter[] = { [PACKET_DYNAMIC] = 'g',
		[PACKET_SYSTEM] = 's',
		[PACKET_HIGH] = 'h',
		[PACKET_DETERMINISTIC] = 'u' };
	struct guest_kit *k = kit_of(n);

	(void)fifo;
	if (s == 1)
		k->order[k->n_order++] = letter[n->packets[id].kind];
	if (!is_guest(&n->packets[id])) {
		packet_give(n->pool, w->id, id);
		return;
	}
	assert_true(g->n < GUEST_MOST);
	g->head[g->n] = t;
	g->value[g->n++] = n->packets[id].load;
	book_close(n->book, w->id, id, tail);
	packet_give(n->pool, w->id, id);
}

static void on_absorbed(
	struct net_client *me, struct sim_worker *w, packet_id id)
{
	struct net *n = me->net;

	if (n->book && book_has(n->book, id))
		book_forget(n->book, id);
	packet_give(n->pool, w->id, id);
}

static bool combine(struct net_client *me, struct sim_worker *w, site_id s,
	const packet_id *id, uint32_t n_ids, sim_time t)
{
	struct net *n = me->net;

	(void)w;
	(void)s;
	(void)t;
	if (kit_of(n)->refuses)
		return false;
	for (uint32_t i = 1; i < n_ids; i++)
		n->packets[id[0]].load += n->packets[id[i]].load;
	return true;
}

static const struct net_client_combine combines = {
	.on_absorbed = on_absorbed,
	.combine = combine,
};

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_event = on_event,
	.on_packet = on_packet,
	.is_sink = true,
	.combine = &combines,
};

struct guest_kit *guest_kit_on(
	const char *shape, uint32_t n_workers, const struct book_how *book)
{
	struct guest_kit *k = mem_alloc(1, sizeof(*k));
	struct tree_params p;
	const struct param_block block = { .section = "coll",
		.rows = tree_params_table,
		.n_rows = TREE_PARAMS,
		.values = &p };

	param_defaults(&block);
	k->rig = rig_new(&(struct rig_how){
		.way = { .shape = shape },
		.n_workers = n_workers,
		.book = book,
	});
	k->net = k->rig->net;
	net_attach(k->net, &client, k);
	assert_true(topo_grid_of(k->net->topo, &k->grid));
	k->tree = tree_new(k->net, &p, GUEST_FIFO);
	k->member = mem_alloc(k->net->n_nodes, sizeof(*k->member));
	k->got = mem_alloc(k->net->n_nodes, sizeof(*k->got));
	return k;
}

struct guest_kit *guest_kit(const char *shape)
{
	return guest_kit_on(shape, 1, NULL);
}

void guest_kit_free(struct guest_kit *k)
{
	rig_free(k->rig);
	mem_free(k->member);
	mem_free(k->got);
	mem_free(k);
}

void guest_begin(
	struct guest_kit *k, site_id s, sim_time t, struct guest_member m)
{
	k->member[s] = m;
	sim_post(sim_owner(k->net->sim, s), s, t,
		SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
}

struct topo_box guest_box(const struct guest_kit *k, const uint32_t *length)
{
	struct topo_box b = topo_box_all(&k->grid);

	if (length)
		memcpy(b.length, length, 5 * sizeof(*length));
	return b;
}

void guest_set_box(
	struct guest_kit *k, const struct topo_box *b, uint32_t route)
{
	struct topo_box all = guest_box(k, NULL);
	const struct topo_grid *g = &k->grid;
	site_id s;

	for (s = 0; s < k->net->n_nodes; s++)
		if (topo_box_has(b, g, s)) {
			struct class_route r = class_route_build(
				g, b, class_root(g, &all), s, CLASS_SUB);

			tree_set_route(k->tree, s, route, &r);
		}
	k->route = route;
	k->channel = CLASS_SUB;
}

void guest_run(struct guest_kit *k)
{
	struct err e = { 0 };

	while (sim_run(k->net->sim, sim_now(k->net->sim) + 700 * SIM_NS) !=
		SIM_IDLE)
		if (net_audit(k->net, &e))
			fail_msg("%s", e.text);
	if (net_audit(k->net, &e))
		fail_msg("%s", e.text);
}
