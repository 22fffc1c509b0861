/*
 * Collectives: descriptors with the other format of header, and the reduction
 * of their packets (BGQ-F45 to F57, F135).  coll/tree.h transports them.
 */
#include <stdio.h>

#include "coll/combine.h"
#include "coll/tree.h"
#include "nic/bgq_mu/units.h"

/* --- descriptors --- */

static const uint8_t channel_of[] = {
	[MU_COMM_WORLD - MU_COMM_WORLD] = CLASS_WORLD,
	[MU_SUB_COMM - MU_COMM_WORLD] = CLASS_SUB,
	[MU_SYSTEM_COLLECTIVE - MU_COMM_WORLD] = CLASS_SYSTEM,
};

/* The arithmetic of a header; false: no such op code. */
static bool arith_of(const struct mu_header *h, struct coll_arith *a)
{
	static const uint8_t type[] = { COLL_BITS, COLL_UNSIGNED, COLL_SIGNED,
		COLL_DOUBLE };
	static const uint8_t op[] = { COLL_ADD, COLL_MIN, COLL_MAX };
	static const uint8_t bits[] = { COLL_AND, COLL_OR, COLL_XOR };
	unsigned code = mu_op_code(h);

	if ((code & 3) == 3)
		return false;
	a->type = type[code >> 2];
	a->op = code >> 2 ? op[code & 3] : bits[code & 3];
	a->word = (uint16_t)mu_word(h);
	return true;
}

static bool is_system_channel(const struct mu_header *h)
{
	return mu_channel(h) == MU_SYSTEM_COLLECTIVE;
}

/* Packets and messages consist of whole words. */
static bool is_whole(const struct mu *mu, const struct mu_descriptor *d)
{
	struct coll_arith x;
	struct err e;

	return arith_of(&d->header, &x) && !coll_arith_check(&x, 0, &e) &&
	       !((mu_length(d) | mu->payload) & (x.word - 1u));
}

enum mu_interrupt mu_collective_take(
	const struct nic_at *a, struct mu_inj_fifo *f, uint32_t inj)
{
	const struct mu_descriptor *d = &f->descriptor;
	const struct mu_header *h = &d->header;
	uint64_t map = mu_fifo_map(d);
	unsigned type = mu_collective_type(h);
	bool is_system = is_system_channel(h);

	(void)inj;
	if (!mu_of(a)->tree || mu_channel(h) < MU_COMM_WORLD ||
		mu_channel(h) > MU_SYSTEM_COLLECTIVE || type > MU_ALLREDUCE ||
		map != (is_system ? MU_MAP_SYSTEM_COLLECTIVE
				  : MU_MAP_USER_COLLECTIVE) ||
		!is_whole(mu_of(a), d))
		return MU_ERROR_DESCRIPTOR;
	if (mu_packet_type(h) >= MU_GET &&
		(!mu_length(d) || mu_length(d) % MU_DESCRIPTOR_BYTES ||
			type != MU_BROADCAST))
		return MU_ERROR_DESCRIPTOR;
	if (type == MU_REDUCE && f->dst == NO_SITE)
		return MU_ERROR_DESCRIPTOR;
	if (type != MU_REDUCE)
		f->dst = a->s; /* and all others */
	f->engines = (uint16_t)(1u << (MU_NET_COLLECTIVE +
					(is_system ? TREE_SYSTEM : TREE_USER)));
	f->kind = is_system ? PACKET_SYSTEM : PACKET_DETERMINISTIC;
	f->tag = is_system ? MU_TAG_SYSTEM : 0;
	f->flags = 0;
	f->hints = tree_word(mu_class_route(h),
		channel_of[mu_channel(h) - MU_COMM_WORLD],
		type != MU_BROADCAST);
	return MU_INTERRUPTS;
}

/* --- packets --- */

static struct mu_buffer *buffer_of(const struct net *n, packet_id id)
{
	return mu_buffer_of(&n->packets[id]);
}

/* The collective network acts after the programs of an instant, which notice it
 * in the next one. */
static void tell(struct nic *nic, struct sim_worker *w, site_id s, sim_time t,
	enum mu_interrupt what, uint32_t route)
{
	struct nic_at a = nic_at(nic, w, s, t + 1);

	mu_tell(&a, what, route, UINT64_MAX);
}

/* Doubles that are not numbers are normalised in broadcasts, too. */
static void normalise(const struct nic_at *a, struct packet *p)
{
	static const struct coll_arith copy = { COLL_BROADCAST, COLL_DOUBLE,
		8 };
	struct mu_buffer *b = mu_buffer_of(p);
	const void *from = b->payload;

	if (mu_op_code(&b->header) < MU_OP_FLOAT_ADD ||
		!coll_combine(&copy, b->payload, &from, 1, p->bytes))
		return;
	p->answer = true;
	mu_tell(a, MU_INT_EXCEPTION, 0, 0);
}

void mu_collective_inject(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct packet *p = &mu_of(a)->packets[id];
	enum tree_fifos fifo = engine - MU_NET_COLLECTIVE;
	struct mu_buffer *b = mu_buffer_of(p);

	if (mu_collective_type(&b->header) != MU_REDUCE)
		p->dst = NO_SITE;
	if (!(p->hints & TREE_REDUCES))
		normalise(a, p);
	tree_inject(mu_of(a)->tree, a->w, a->s, fifo, id, a->t);
	if (!tree_has_room(mu_of(a)->tree, a->s, fifo))
		mu_here(a)->crowded |= (uint16_t)(1u << engine);
}

void mu_collective_release(
	const struct nic_at *a, uint32_t fifo, uint32_t chunks)
{
	struct net_guest *g = a->nic->net->guest;

	g->ops->release(g, a->w, a->s, fifo, chunks, a->t);
}

/* answer: the bit of the trailer that says so (BGQ-F57). */
void mu_collective_arrived(const struct nic_at *a, const struct packet *p)
{
	if (p->answer)
		mu_tell(a, MU_INT_EXCEPTION, 0, 0);
}

/* --- reduction --- */

/* Op code, word, type, channel, size. */
static bool is_like(const struct net *n, packet_id a, packet_id b)
{
	const struct mu_header *x = &buffer_of(n, a)->header;
	const struct mu_header *y = &buffer_of(n, b)->header;

	return x->byte[1] == y->byte[1] && x->byte[3] == y->byte[3] &&
	       mu_chunks(x) == mu_chunks(y) &&
	       n->packets[a].bytes == n->packets[b].bytes;
}

void mu_collective_stopped(struct net_client *me, struct sim_worker *w,
	site_id s, uint32_t route, sim_time t)
{
	tell(me->state, w, s, t, MU_ERROR_COLLECTIVE, route);
}

/* "floating point add, words of 8 B, all-reduce, 64 B" */
void mu_collective_describe(
	const struct net_client *me, packet_id id, char *text, size_t size)
{
	const struct net *n = me->net;
	static const char *const op[] = { "AND", "OR", "XOR", "?",
		"unsigned add", "unsigned min", "unsigned max", "?",
		"signed add", "signed min", "signed max", "?",
		"floating point add", "floating point min",
		"floating point max", "?" };
	static const char *const type[] = { [MU_BROADCAST] = "broadcast",
		[MU_REDUCE] = "reduce",
		[MU_ALLREDUCE] = "all-reduce" };
	const struct mu_header *h = &buffer_of(n, id)->header;

	snprintf(text, size, "%s, words of %u B, %s, %u B",
		op[mu_op_code(h) % 16], (unsigned)mu_word(h),
		type[mu_collective_type(h) % 3], n->packets[id].bytes);
}

bool mu_collective_combine(struct net_client *me, struct sim_worker *w,
	site_id s, const packet_id *id, uint32_t n_ids, sim_time t)
{
	struct net *n = me->net;
	const void *from[COLL_MAX_INPUTS];
	struct coll_arith arith;

	from[0] = buffer_of(n, id[0])->payload;
	for (uint32_t i = 1; i < n_ids; i++) {
		from[i] = buffer_of(n, id[i])->payload;
		if (is_like(n, id[0], id[i]))
			continue;
		mu_collective_stopped(me, w, s,
			mu_class_route(&buffer_of(n, id[0])->header), t);
		return false;
	}
	arith_of(&buffer_of(n, id[0])->header, &arith);
	if (coll_combine(&arith, buffer_of(n, id[0])->payload, from, n_ids,
		    n->packets[id[0]].bytes)) {
		n->packets[id[0]].answer = true;
		tell(me->state, w, s, t, MU_INT_EXCEPTION, 0);
	}
	for (uint32_t i = 1; i < n_ids; i++)
		n->packets[id[0]].answer |= n->packets[id[i]].answer;
	return true;
}
