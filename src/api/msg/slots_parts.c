/*
 * Tagged messages by slots: those of several slots, where a pair may have one
 * slot at a time (api/msg/pool.h).  Parts leave when there is a slot, and are
 * taken out of it when they arrive.
 */
#include "api/msg/slots.h"

#include "base/mem.h"

static uint64_t part_of(uint64_t bytes, uint64_t done)
{
	return bytes - done < MSG_PART ? bytes - done : MSG_PART;
}

/* --- sending --- */

static void send_first(struct msg_state *m, struct op *x, struct msg_peer *p,
	const struct msg_wide *w)
{
	struct msg_trailer t = {
		.bytes = x->e.bytes,
		.tag = (uint32_t)x->e.tag,
		.kind = MSG_PARTS,
	};
	uint8_t data[WEFT_MSG_EAGER];

	if (m->trip.trips)
		msg_time_send(m, &x->e, msg_lane_parts(x->e.bytes, w));
	x->sent = msg_lane_first(w);
	msg_read(x->e.at, data, x->sent);
	msg_lane_send(m, MSG_USER, x->e.rank, p, &t, w, data);
}

static void send_next(struct msg_state *m, struct op *x, struct msg_peer *p)
{
	uint64_t n = part_of(x->e.bytes, x->sent);
	uint8_t data[MSG_PART];

	msg_read(x->e.at + x->sent, data, n);
	msg_lane_send_part(m, MSG_USER, x->e.rank, p, data, n);
	x->sent += n;
}

bool soft_send_parts(struct msg_state *m, struct op *x, struct msg_peer *p,
	const struct msg_wide *w)
{
	uint32_t room = msg_pool_room(m, x->e.rank, p);

	for (; room && x->sent < x->e.bytes; room--)
		if (x->sent)
			send_next(m, x, p);
		else
			send_first(m, x, p, w);
	if (x->sent < x->e.bytes)
		return false;
	msg_log_sent(m, x->e.rank, x->e.tag, x->e.bytes, x->e.since);
	return true;
}

/* --- receiving --- */

static void mark(struct msg_state *m, uint32_t rank, bool is_partial)
{
	struct msg_share s = msg_pool_share(m, rank);

	s.is_partial = is_partial;
	msg_pool_set_share(m, rank, &s);
}

void soft_begin_partial(struct msg_state *m, const struct letter *l,
	uint64_t at, uint64_t bytes)
{
	struct msg_soft *s = m->soft;
	struct partial *x = mem_alloc(1, sizeof(*x));

	*x = (struct partial){ .next = s->partial, .done = bytes };
	x->early = mem_alloc(1, sizeof(*x->early) + l->bytes);
	x->early->letter = *l;
	program_read(at, x->early->bytes, bytes);
	s->partial = x;
	s->n_kept += l->bytes + sizeof(*x->early);
	mark(m, l->rank, true);
}

static struct early *end_partial(struct msg_soft *s, struct partial **link)
{
	struct partial *x = *link;
	struct early *e = x->early;

	*link = x->next;
	mem_free(x);
	s->n_kept -= e->letter.bytes + sizeof(*e);
	return e;
}

bool soft_take_part(struct msg_state *m, uint32_t rank, struct msg_peer *p,
	struct early **whole)
{
	struct partial **link = &m->soft->partial, *x;
	uint64_t n, at;

	while (*link && (*link)->early->letter.rank != rank)
		link = &(*link)->next;
	x = *link;
	*whole = NULL;
	if (!x) { /* a put of the program has gone astray */
		mark(m, rank, false);
		return true;
	}
	n = part_of(x->early->letter.bytes, x->done);
	if (!msg_lane_has_part(m, MSG_USER, rank, p, 0, n, &at))
		return false;
	program_read(at, x->early->bytes + x->done, n);
	x->done += n;
	if (x->done == x->early->letter.bytes) {
		mark(m, rank, false);
		*whole = end_partial(m->soft, link);
	}
	msg_lane_taken(m, MSG_USER, rank, p);
	return true;
}

void soft_forget_partial(struct msg_soft *s)
{
	while (s->partial)
		mem_free(end_partial(s, &s->partial));
}
