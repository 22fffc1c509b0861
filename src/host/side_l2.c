/*
 * An interface on the processor's chip, at its L2: requests of a line or less,
 * one after the other, whose data comes by itself.  Cores reach it at once.
 */
#include "host/side_l2.h"

#include "base/units.h"
#include "host/params.h"

enum {
	READS = 16, /* as many as a message unit's port has under way */
	/* of ports */
	READ_UNIT = 32,
	LINE = 128,
	FULL = 4, /* lines of a packet */
	WORD = 8,
};

static int side_l2_init(struct side *side, const void *params, struct err *e)
{
	struct side_l2 *s = (struct side_l2 *)side;

	if (l2_check(params, e))
		return -1;
	s->l2 = l2_new(params, side->n_places);
	side->most_read = L2_PAGE;
	side->n_reads = READS;
	return 0;
}

static void side_l2_fini(struct side *side)
{
	l2_free(((struct side_l2 *)side)->l2);
}

/* All lines are asked for now; it is done with the last of them. */
static sim_time access(const struct side *side, site_id node, sim_time t,
	uint64_t at, uint32_t bytes, enum l2_op op)
{
	struct l2 *l2 = ((const struct side_l2 *)side)->l2;
	uint32_t line = (uint32_t)l2_params(l2)->line, n;
	sim_time end = t;

	for (; bytes; at += n, bytes -= n) {
		sim_time done;

		n = line - (uint32_t)(at % line);
		n = n < bytes ? n : bytes;
		done = l2_access(l2, node, t, at, n, op).done;
		end = done > end ? done : end;
	}
	return end;
}

static sim_time side_l2_request(struct side *side, site_id node, sim_time t,
	uint64_t at, uint32_t bytes)
{
	return access(side, node, t, at, bytes, L2_READ);
}

static sim_time side_l2_data(struct side *side, site_id node, sim_time t,
	uint64_t at, uint32_t bytes)
{
	(void)side, (void)node, (void)at, (void)bytes;
	return t;
}

static sim_time side_l2_write(struct side *side, site_id node, sim_time t,
	uint64_t at, uint32_t bytes)
{
	return access(side, node, t, at, bytes, L2_WRITE);
}

static sim_time side_l2_atomic(
	struct side *side, site_id node, sim_time t, uint64_t at)
{
	return access(side, node, t, at, 8, L2_ATOMIC);
}

static sim_time side_l2_store(
	struct side *side, site_id node, sim_time t, uint32_t bytes)
{
	(void)side, (void)node, (void)bytes;
	return t;
}

static uint64_t side_l2_memory(const struct side *side)
{
	return l2_memory(((const struct side_l2 *)side)->l2);
}

/* --- ports --- */

/* A turn: the state of its port while it lasts. */
struct turn {
	struct side_port *port;
	struct l2 *l2;
	struct l2_node *node;
	sim_time issue; /* of the next request */
	sim_time cycle, fifo, done, outstanding;
	uint32_t bypassed;
};

static inline struct turn begin(
	const struct side_l2 *s, struct side_port *p, site_id node, sim_time t)
{
	return (struct turn){
		.port = p,
		.l2 = s->l2,
		.node = l2_node(s->l2, node),
		.issue = p->free_at > t ? p->free_at : t,
		.cycle = s->how.cycle,
		.fifo = s->how.fifo,
		.done = t,
	};
}

static inline __attribute__((always_inline)) sim_time request(
	struct turn *r, uint64_t at, sim_time busy, enum l2_op op)
{
	uint32_t slice = l2_slice_of(r->l2, at);
	sim_time *slot = &r->port->slot[slice % SIDE_SLOTS];
	sim_time enter = r->issue, ready = *slot;
	struct l2_times l;

	if (ready > enter) {
		enter += r->fifo;
		enter = ready > enter ? ready : enter;
	} else {
		r->bypassed++;
	}
	l = l2_take(r->l2, r->node, enter, slice, busy, at, op);
	*slot = l.taken;
	if (l.taken > r->port->calm_at)
		r->port->calm_at = l.taken;
	return l.done;
}

/* A request is done, and the port free for the next one. */
static inline void go_on(struct turn *r, sim_time done)
{
	r->outstanding += done - r->issue;
	r->done = done > r->done ? done : r->done;
	r->issue += r->cycle;
}

static inline sim_time end(const struct turn *r, uint32_t n, enum l2_op op)
{
	struct side_port *p = r->port;

	p->free_at = r->issue;
	p->outstanding += r->outstanding;
	p->requests += n;
	p->bypassed += r->bypassed;
	l2_count(r->node, op, n);
	return r->done;
}

/*
 * Requests for n lines from at on, or one in one line, where nothing is in
 * their way: they bypass the FIFO, their slices take them as they come, and
 * they hit.  Their times are the issue's and the following cycles then, and
 * what is left to the caller is when they are done.  False, and nothing
 * happened, where that is not so.
 */
static inline __attribute__((always_inline)) bool calm(const struct turn *r,
	uint64_t at, uint32_t n, uint32_t bytes, enum l2_op op)
{
	struct side_port *p = r->port;
	uint32_t slice = l2_slice_of(r->l2, at), i;
	sim_time *free = &r->node->free[slice];
	sim_time t = r->issue, busy = l2_busy(r->l2, bytes);

	/* a page ends where the slices begin anew */
	if (p->calm_at > t || (n > 1 && slice + n > r->l2->slice_mask + 1) ||
		!l2_is_warm(r->node, at, op))
		return false;
	for (i = 0; i < n; i++)
		if (free[i] > t + i * r->cycle)
			return false;
	/* their slots are empty again before the port is free */
	for (i = 0; i < n; i++, t += r->cycle)
		free[i] = t + busy;
	p->free_at = t;
	p->requests += n;
	p->bypassed += n;
	l2_count(r->node, op, n);
	return true;
}

/* One request after the other. */
static __attribute__((noinline)) sim_time read_all(const struct side_l2 *s,
	struct side_port *p, site_id node, sim_time t, uint64_t at,
	uint32_t bytes)
{
	struct turn r = begin(s, p, node, t);
	uint64_t next = at - at % READ_UNIT;
	uint32_t left = bytes + (uint32_t)(at % READ_UNIT), count = 0;
	sim_time beat = s->beat, rest = s->read_rest;
	sim_time data_at = r.port->data_at;

	for (;;) {
		uint32_t n = READ_UNIT;
		sim_time done, path;

		if (next % LINE == 0 && left > LINE / 2 + READ_UNIT)
			n = LINE;
		else if (next % (LINE / 2) == 0 && left > READ_UNIT)
			n = LINE / 2;
		done = request(&r, next, l2_busy(r.l2, n), L2_READ);
		/* what the data path has had to carry since it was idle */
		data_at = data_at > r.issue ? data_at : r.issue;
		data_at += (n / READ_UNIT) * beat;
		path = data_at + rest;
		go_on(&r, path > done ? path : done);
		count++;
		if (left <= n)
			break;
		next += n;
		left -= n;
	}
	r.port->data_at = data_at;
	return end(&r, count, L2_READ);
}

/* A full packet of whole lines: they come back one behind the other. */
static inline sim_time read_lines(const struct side_l2 *s, const struct turn *r)
{
	struct side_port *p = r->port;
	sim_time line = 4 * s->beat, hit = r->l2->latency[L2_READ];
	sim_time from = p->data_at > r->issue ? p->data_at : r->issue;

	p->data_at = from + FULL * line;
	p->outstanding += FULL * (from - r->issue + hit) +
			  FULL * (FULL - 1) / 2 * (line - r->cycle);
	return from + (FULL - 1) * line + hit;
}

/* One request, of a line's half: a descriptor. */
static inline sim_time read_half(const struct side_l2 *s, const struct turn *r)
{
	struct side_port *p = r->port;
	sim_time from = p->data_at > r->issue ? p->data_at : r->issue;
	sim_time hit = r->issue + r->l2->latency[L2_READ], path;

	p->data_at = from + 2 * s->beat;
	path = p->data_at + s->read_rest;
	path = path > hit ? path : hit;
	p->outstanding += path - r->issue;
	return path;
}

static sim_time port_read(struct side *side, struct side_port *p, site_id node,
	sim_time t, uint64_t at, uint32_t bytes)
{
	const struct side_l2 *s = (const struct side_l2 *)side;
	struct turn r;

	if (!bytes)
		return t;
	r = begin(s, p, node, t);
	if (s->is_plain && bytes == FULL * LINE && at % LINE == 0 &&
		calm(&r, at, FULL, LINE, L2_READ))
		return read_lines(s, &r);
	if (s->is_plain && bytes == LINE / 2 && at % (LINE / 2) == 0 &&
		calm(&r, at, 1, LINE / 2, L2_READ))
		return read_half(s, &r);
	return read_all(s, p, node, t, at, bytes);
}

/* Requests of up to a unit, one after the other. */
static inline __attribute__((always_inline)) sim_time ask_all(
	const struct side_l2 *s, struct side_port *p, site_id node, sim_time t,
	uint64_t at, uint32_t bytes, uint32_t unit, enum l2_op op)
{
	struct turn r = begin(s, p, node, t);
	uint32_t n = unit - (uint32_t)(at % unit), count = 1;

	for (; n < bytes; count++, n = unit) {
		go_on(&r, request(&r, at, l2_busy(r.l2, n), op));
		at += n;
		bytes -= n;
	}
	go_on(&r, request(&r, at, l2_busy(r.l2, bytes), op));
	return end(&r, count, op);
}

static __attribute__((noinline)) sim_time write_all(const struct side_l2 *s,
	struct side_port *p, site_id node, sim_time t, uint64_t at,
	uint32_t bytes)
{
	return ask_all(s, p, node, t, at, bytes, LINE, L2_WRITE);
}

static sim_time port_write(struct side *side, struct side_port *p, site_id node,
	sim_time t, uint64_t at, uint32_t bytes)
{
	const struct side_l2 *s = (const struct side_l2 *)side;
	struct turn r;
	sim_time hit;

	if (!bytes)
		return t;
	r = begin(s, p, node, t);
	if (!s->is_plain || bytes != FULL * LINE || at % LINE ||
		!calm(&r, at, FULL, LINE, L2_WRITE))
		return write_all(s, p, node, t, at, bytes);
	hit = r.l2->latency[L2_WRITE];
	r.port->outstanding += FULL * hit;
	return r.issue + (FULL - 1) * r.cycle + hit;
}

static __attribute__((noinline)) sim_time change_all(const struct side_l2 *s,
	struct side_port *p, site_id node, sim_time t, uint64_t at,
	uint32_t bytes)
{
	return ask_all(s, p, node, t, at, bytes, WORD, L2_ATOMIC);
}

static sim_time port_atomic(struct side *side, struct side_port *p,
	site_id node, sim_time t, uint64_t at, uint32_t bytes)
{
	const struct side_l2 *s = (const struct side_l2 *)side;
	struct turn r;
	sim_time hit;

	if (!bytes)
		return t;
	r = begin(s, p, node, t);
	if (!s->is_plain || bytes > WORD || !calm(&r, at, 1, WORD, L2_ATOMIC))
		return change_all(s, p, node, t, at, bytes);
	hit = r.l2->latency[L2_ATOMIC];
	r.port->outstanding += hit;
	return r.issue + hit;
}

static void port_set(struct side *side, const struct side_port_how *how)
{
	struct side_l2 *s = (struct side_l2 *)side;
	const struct l2_params *p = l2_params(s->l2);

	s->how = *how;
	s->beat = units_time(READ_UNIT, how->read_rate);
	s->read_rest = p->read - LINE / READ_UNIT * s->beat;
	s->is_plain = p->line == LINE && p->slices <= SIDE_SLOTS &&
		      LINE / READ_UNIT * s->beat >= how->cycle;
}

static const struct side_ports ports = {
	.set = port_set,
	.read = port_read,
	.write = port_write,
	.atomic = port_atomic,
};

const struct side_ops side_l2_ops = {
	.name = "l2",
	.title = "the processor's L2",
	.size = sizeof(struct side_l2),
	.params = l2_params_table,
	.n_params = L2_PARAMS,
	.params_size = sizeof(struct l2_params),
	.init = side_l2_init,
	.fini = side_l2_fini,
	.request = side_l2_request,
	.data = side_l2_data,
	.write = side_l2_write,
	.atomic = side_l2_atomic,
	.store = side_l2_store,
	.memory = side_l2_memory,
	.ports = &ports,
};
