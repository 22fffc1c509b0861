/*
 * The management of a switch in time.
 *
 *	packet ends here -> queue -> RCM, RM, MA -> words -> answer leaves
 *	JTAG             ----------> RCM, RM, MA -> the program reads it later
 *
 * In band, one command is under way at a time; the others wait.  JTAG has a
 * path of its own.
 */
#include <errno.h>

#include "base/mem.h"
#include "host/program.h"
#include "parts/registers/inside.h"
#include "route/lists.h"

/* Above the numbers that switches use for themselves. */
enum {
	ON_EXECUTE = 16 * ENGINE_CLIENT,
	ON_ANSWER,
	ON_REPORT, /* a link has died or returned */
	ON_JTAG, /* numbers from here on: by the upper bits of its node */
};

static struct registers *of(struct net_client *me)
{
	return me->state;
}

struct chip *registers_chip(struct registers *r, site_id s)
{
	struct chip **c = &r->chip[s - r->net->n_nodes];

	if (!*c)
		*c = mem_alloc(1, sizeof(**c));
	return *c;
}

/* --- commands --- */

static void identify(struct registers *r, site_id s, uint32_t came_by,
	struct registers_body *b)
{
	b->kind = REGISTERS_ANSWER;
	b->status = WEFT_SWNET_OK;
	b->n_words = 3;
	b->word[0] = WEFT_SWNET_IDENTITY(1, registers_n_ports(r, s), came_by);
	b->word[1] = registers_guid(r, s);
	b->word[2] = registers_place(r, s);
}

static void execute(struct registers *r, site_id s, uint32_t came_by,
	struct registers_body *b, sim_time t)
{
	struct chip *c = registers_chip(r, s);
	struct bank_state state = { r, c, s, t };
	struct bank bank = { &bank_ops, &state, registers_n_ports(r, s) };

	if (b->command == WEFT_SWNET_IDENTIFY)
		identify(r, s, came_by, b);
	else
		command_run(&c->maps, &bank, b);
}

static void begin(
	struct registers *r, struct sim_worker *w, site_id s, sim_time t)
{
	const struct registers_params *p = r->params;

	sim_post_self(w, s, t + p->control + p->row + p->agent,
		SIM_KEY(PHASE_ENGINE, ON_EXECUTE), 0, 0);
}

/* The port by which a source-routed packet came in last. */
static uint32_t came_by(const struct packet *p)
{
	uint32_t n = route_n_came(p);

	return p->kind == PACKET_VECTOR && n ? route_came(p, n - 1)
					     : WEFT_SWNET_HERE;
}

static void on_execute(
	struct registers *r, struct sim_worker *w, site_id s, sim_time t)
{
	struct chip *c = registers_chip(r, s);
	const struct packet *p = &r->net->packets[c->queue.first];
	struct registers_body *b = registers_body(p);

	c->commands++;
	execute(r, s, came_by(p), b, t);
	sim_post_self(w, s, t + b->n_words * r->params->word,
		SIM_KEY(PHASE_ENGINE, ON_ANSWER), 0, 0);
}

static void inject(struct registers *r, struct sim_worker *w, site_id s,
	packet_id id, sim_time t)
{
	r->net->router[NET_SWITCHES]->calls->inject(r->net, w, s, 0, id, t);
}

/* An answer goes back by the way of its request, or by the tables. */
static void on_answer(
	struct registers *r, struct sim_worker *w, site_id s, sim_time t)
{
	struct chip *c = registers_chip(r, s);
	packet_id id = packet_pop(r->net->packets, &c->queue);
	const struct packet *p = &r->net->packets[id];
	struct registers_body *b = registers_body(p);
	bool is_source = p->kind == PACKET_VECTOR;

	if (is_source)
		registers_reverse(p, b->route);
	inject(r, w, s, registers_packet(r, w, s, b->asker, b, is_source, t),
		t);
	registers_give(r, w, id);
	if (--c->n_queued)
		begin(r, w, s, t);
}

/* --- JTAG --- */

static void on_jtag(
	struct registers *r, site_id s, struct registers_body *b, sim_time t)
{
	struct chip *c = registers_chip(r, s);
	sim_time half = r->params->jtag / 2;

	if (c->jtag_until > t - half) {
		b->kind = REGISTERS_REQUEST; /* still: it was not served */
		return;
	}
	c->jtag_until = t + half;
	c->accesses++;
	execute(r, s, WEFT_SWNET_HERE, b, t);
}

/* The switch acts in the middle of an access, and the program reads the result
 * at its end, which both know. */
int registers_jtag(struct registers *r, uint32_t chip, struct registers_body *b)
{
	struct sim_worker *w = program_worker();
	struct registers_body *own = registers_take(r, w->id);
	site_id s = r->net->n_nodes + chip, node = program_node();
	sim_time now = program_now();
	bool is_served;

	registers_copy(own, b);
	own->kind = REGISTERS_REQUEST;
	sim_post(w, s, now + r->params->jtag / 2,
		SIM_KEY(PHASE_ENGINE, ON_JTAG + (node >> 16)), (uint16_t)node,
		pool_line(&r->pool, own));
	program_wait(now + r->params->jtag);
	is_served = own->kind == REGISTERS_ANSWER;
	if (is_served)
		registers_copy(b, own);
	registers_free(r, program_worker(), own);
	return is_served ? 0 : EBUSY;
}

/* --- events of links --- */

static void on_link(struct net_client *me, struct sim_worker *w, site_id s,
	port_id p, bool is_up, sim_time t)
{
	struct chip *c = registers_chip(of(me), s);
	port_mask bit = (port_mask)1 << p;

	c->down = is_up ? c->down & ~bit : c->down | bit;
	if (c->manager >> 63)
		sim_post_self(w, s, t, SIM_KEY(PHASE_ENGINE, ON_REPORT),
			(uint16_t)p, (uint32_t)p | (uint32_t)is_up << 8);
}

static void on_report(struct registers *r, struct sim_worker *w, site_id s,
	uint32_t what, sim_time t)
{
	struct chip *c = registers_chip(r, s);
	uint64_t guid = c->manager & ~(UINT64_C(1) << 63);
	site_id to = registers_find(r, fattree_place(r->tree, s).rail, guid);
	struct registers_body b = {
		.kind = REGISTERS_EVENT,
		.n_words = 3,
		.word = { what, registers_place(r, s), registers_guid(r, s) },
	};

	if (to >= r->net->n_nodes)
		return;
	b.asker = to;
	inject(r, w, s, registers_packet(r, w, s, to, &b, false, t), t);
}

/* --- the client of the switches --- */

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct registers *r = of(me);
	const struct packet *p = &r->net->packets[id];
	struct chip *c;

	(void)fifo;
	(void)t;
	if (!registers_are(p) || p->flags & PACKET_HURT ||
		registers_body(p)->kind != REGISTERS_REQUEST) {
		registers_give(r, w, id);
		return;
	}
	c = registers_chip(r, s);
	if (c->n_queued > r->params->queue) {
		c->refused++;
		registers_give(r, w, id);
		return;
	}
	packet_push(r->net->packets, &c->queue, id);
	if (!c->n_queued++)
		begin(r, w, s, tail);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct registers *r = of(me);
	uint32_t number = sim_number(&e);

	if (number == ON_EXECUTE)
		on_execute(r, w, s, t);
	else if (number == ON_ANSWER)
		on_answer(r, w, s, t);
	else if (number == ON_REPORT)
		on_report(r, w, s, e.data, t);
	else
		on_jtag(r, s, pool_slot(&r->pool, e.data), t);
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	(void)me;
	(void)w;
	(void)s;
	(void)fifo;
	(void)t;
}

static void on_lost(struct net_client *me, struct sim_worker *w, packet_id id)
{
	of(me)->lost[w->id]++;
	registers_give(of(me), w, id);
}

static const struct net_client_faults faults = { .on_link = on_link };

static void carry_pack(struct net_client *me, struct sim_worker *w,
	packet_id id, struct cluster_bytes *to)
{
	registers_pack(me->state, w, &me->net->packets[id], to);
}

static void carry_unpack(struct net_client *me, struct sim_worker *w,
	packet_id id, const void *from, size_t n)
{
	(void)n;
	registers_unpack(me->state, w, &me->net->packets[id], from);
}

static const struct net_client_carry carry = {
	.pack = carry_pack,
	.unpack = carry_unpack,
};

const struct net_client_ops chip_client = {
	.on_packet = on_packet,
	.on_event = on_event,
	.on_room = on_room,
	.on_lost = on_lost,
	.faults = &faults,
	.carry = &carry,
	.is_sink = true,
};
