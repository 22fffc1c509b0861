/*
 * Master ports.  A requester is attached to one port for good; when the port
 * is free the one with the highest priority has its turn, at random among
 * equals.  A turn is all requests of one packet, or one descriptor, one a
 * cycle.  A request waits for its slice's slot in the look-up table: an empty
 * one is filled at once, else the request goes by the slower FIFO, which
 * keeps the order of each slice.
 */
#include "host/l2_burst.h"
#include "nic/bgq_mu/mu.h"

enum { READ_UNIT = 32, LINE = MU_LINE, FULL = 4 /* lines of a packet */ };

/* --- who is next --- */

static enum mu_level level_of(const struct nic_at *a, uint32_t requester)
{
	uint32_t fifo = requester % MU_NET_FIFOS;

	if (requester == MU_ASK_FETCH)
		return mu_fetch_level(mu_here(a));
	if (requester < MU_ASK_WRITE) {
		uint32_t inj = mu_here(a)->job[fifo].inj;

		return mu_inj_used(mu_here(a), inj)->level;
	}
	if (fifo == MU_NET_SYSTEM)
		return MU_LEVEL_SYSTEM;
	return fifo == MU_NET_HIGH ? MU_LEVEL_HIGH : MU_LEVEL_NORMAL;
}

static uint32_t choose(const struct nic_at *a, uint64_t asking)
{
	enum mu_level best = MU_LEVELS;
	uint64_t equals = 0, m;
	uint32_t k;

	if (!(asking & (asking - 1)))
		return (uint32_t)__builtin_ctzll(asking);
	for (m = asking; m; m &= m - 1) {
		enum mu_level l = level_of(a, (uint32_t)__builtin_ctzll(m));

		if (l < best) {
			best = l;
			equals = 0;
		}
		if (l == best)
			equals |= m & -m;
	}
	k = mu_random(mu_here(a), (uint32_t)__builtin_popcountll(equals));
	while (k--)
		equals &= equals - 1;
	return (uint32_t)__builtin_ctzll(equals);
}

static void take(const struct nic_at *a, uint32_t requester)
{
	uint32_t fifo = requester % MU_NET_FIFOS;

	if (requester == MU_ASK_FETCH)
		mu_fetch_take(a);
	else if (requester >= MU_ASK_COUNT)
		mu_receive_take_count(a, fifo);
	else if (requester >= MU_ASK_WRITE)
		mu_receive_take_write(a, fifo);
	else
		mu_inject_take(a, fifo);
}

static void await(const struct nic_at *a, struct mu_port *p, uint32_t port)
{
	if (p->is_posted)
		return;
	p->is_posted = true;
	sim_post_self(a->w, a->s, p->free_at,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_PORT + port), 0, 0);
}

void mu_port_wait(const struct nic_at *a, uint32_t requester)
{
	uint32_t port = mu_of(a)->port_of[requester];
	struct mu_port *p = &mu_here(a)->port[port];

	p->asking |= UINT64_C(1) << requester;
	await(a, p, port);
}

void mu_port_on_free(const struct nic_at *a, uint32_t port)
{
	struct mu_port *p = &mu_here(a)->port[port];

	p->is_posted = false;
	/* A turn may come to nothing, and take no time. */
	while (p->asking && p->free_at <= a->t) {
		uint32_t requester = choose(a, p->asking);

		p->asking &= ~(UINT64_C(1) << requester);
		take(a, requester);
	}
	if (p->asking)
		await(a, p, port);
}

/* --- protection --- */

bool mu_port_allows_slow(
	const struct nic_at *a, uint64_t at, uint64_t bytes, uint32_t right)
{
	uint32_t i;

	if (!bytes)
		return true;
	for (i = 0; i < MU_RANGES; i++)
		if (mu_is_inside(&mu_here(a)->range[i], right, at, bytes))
			return true;
	/* Not as a whole; but every request is looked at by itself. */
	while (bytes) {
		uint64_t part = LINE - at % LINE;

		part = part < bytes ? part : bytes;
		for (i = 0; i < MU_RANGES; i++)
			if (mu_is_inside(
				    &mu_here(a)->range[i], right, at, part))
				break;
		if (i == MU_RANGES)
			return false;
		at += part;
		bytes -= part;
	}
	return true;
}

/* --- requests --- */

/* A turn: the state of its port while it lasts. */
struct turn {
	struct mu_port *port;
	struct l2 *l2;
	struct l2_node *node;
	sim_time issue; /* of the next request */
	sim_time cycle, fifo, done, outstanding;
	uint32_t bypassed;
};

static inline struct turn begin(const struct nic_at *a, uint32_t requester)
{
	struct mu_port *p = &mu_here(a)->port[mu_of(a)->port_of[requester]];

	return (struct turn){
		.port = p,
		.l2 = mu_of(a)->l2,
		.node = l2_node(mu_of(a)->l2, a->s),
		.issue = p->free_at > a->t ? p->free_at : a->t,
		.cycle = mu_of(a)->params.port_cycle,
		.fifo = mu_of(a)->params.port_fifo,
		.done = a->t,
	};
}

static inline __attribute__((always_inline)) sim_time request(
	struct turn *r, uint64_t at, sim_time busy, enum l2_op op)
{
	uint32_t slice = l2_slice_of(r->l2, at);
	sim_time *slot = &r->port->slot[slice % MU_SLICES];
	sim_time enter = r->issue, ready = *slot;
	struct l2_times l;

	if (ready > enter) {
		enter += r->fifo;
		enter = ready > enter ? ready : enter;
	} else {
		r->bypassed++;
	}
	l = l2_burst_take(r->l2, r->node, enter, slice, busy, at, op);
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
	struct mu_port *p = r->port;

	p->free_at = r->issue;
	p->outstanding += r->outstanding;
	p->requests += n;
	p->bypassed += r->bypassed;
	l2_burst_count(r->node, op, n);
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
	struct mu_port *p = r->port;
	uint32_t slice = l2_slice_of(r->l2, at), i;
	sim_time *free = &r->node->free[slice];
	sim_time t = r->issue, busy = l2_burst_busy(r->l2, bytes);

	/* a page ends where the slices begin anew */
	if (p->calm_at > t || (n > 1 && slice + n > r->l2->slice_mask + 1) ||
		!l2_burst_is_warm(r->node, at, op))
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
	l2_burst_count(r->node, op, n);
	return true;
}

/* One request after the other. */
static __attribute__((noinline)) sim_time read_all(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t bytes)
{
	struct turn r = begin(a, requester);
	uint64_t next = at - at % READ_UNIT;
	uint32_t left = bytes + (uint32_t)(at % READ_UNIT), count = 0;
	sim_time beat = mu_of(a)->beat, rest = mu_of(a)->read_rest;
	sim_time data_at = r.port->data_at;

	for (;;) {
		uint32_t n = READ_UNIT;
		sim_time done, path;

		if (next % LINE == 0 && left > LINE / 2 + READ_UNIT)
			n = LINE;
		else if (next % (LINE / 2) == 0 && left > READ_UNIT)
			n = LINE / 2;
		done = request(&r, next, l2_burst_busy(r.l2, n), L2_READ);
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
static inline sim_time read_lines(const struct mu *mu, const struct turn *r)
{
	struct mu_port *p = r->port;
	sim_time line = 4 * mu->beat, hit = r->l2->latency[L2_READ];
	sim_time from = p->data_at > r->issue ? p->data_at : r->issue;

	p->data_at = from + FULL * line;
	p->outstanding += FULL * (from - r->issue + hit) +
			  FULL * (FULL - 1) / 2 * (line - r->cycle);
	return from + (FULL - 1) * line + hit;
}

/* One request, of a line's half: a descriptor. */
static inline sim_time read_half(const struct mu *mu, const struct turn *r)
{
	struct mu_port *p = r->port;
	sim_time from = p->data_at > r->issue ? p->data_at : r->issue;
	sim_time hit = r->issue + r->l2->latency[L2_READ], path;

	p->data_at = from + 2 * mu->beat;
	path = p->data_at + mu->read_rest;
	path = path > hit ? path : hit;
	p->outstanding += path - r->issue;
	return path;
}

sim_time mu_port_read(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t bytes)
{
	struct turn r;

	if (!bytes)
		return a->t;
	r = begin(a, requester);
	if (mu_of(a)->is_plain && bytes == FULL * LINE && at % LINE == 0 &&
		calm(&r, at, FULL, LINE, L2_READ))
		return read_lines(mu_of(a), &r);
	if (mu_of(a)->is_plain && bytes == LINE / 2 && at % (LINE / 2) == 0 &&
		calm(&r, at, 1, LINE / 2, L2_READ))
		return read_half(mu_of(a), &r);
	return read_all(a, requester, at, bytes);
}

static __attribute__((noinline)) sim_time write_all(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t bytes)
{
	struct turn r = begin(a, requester);
	uint32_t n = LINE - (uint32_t)(at % LINE), count = 1;

	for (; n < bytes; count++, n = LINE) {
		go_on(&r, request(&r, at, l2_burst_busy(r.l2, n), L2_WRITE));
		at += n;
		bytes -= n;
	}
	go_on(&r, request(&r, at, l2_burst_busy(r.l2, bytes), L2_WRITE));
	return end(&r, count, L2_WRITE);
}

sim_time mu_port_write(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t bytes)
{
	struct turn r;
	sim_time hit;

	if (!bytes)
		return a->t;
	r = begin(a, requester);
	if (!mu_of(a)->is_plain || bytes != FULL * LINE || at % LINE ||
		!calm(&r, at, FULL, LINE, L2_WRITE))
		return write_all(a, requester, at, bytes);
	hit = r.l2->latency[L2_WRITE];
	r.port->outstanding += FULL * hit;
	return r.issue + (FULL - 1) * r.cycle + hit;
}

static __attribute__((noinline)) sim_time change_all(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t words)
{
	struct turn r = begin(a, requester);
	uint32_t i;

	for (i = 0; i < words; i++, at += 8)
		go_on(&r, request(&r, at, l2_burst_busy(r.l2, 8), L2_ATOMIC));
	return end(&r, words, L2_ATOMIC);
}

sim_time mu_port_atomic(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t words)
{
	struct turn r;
	sim_time hit;

	if (!words)
		return a->t;
	r = begin(a, requester);
	if (!mu_of(a)->is_plain || words > 1 || !calm(&r, at, 1, 8, L2_ATOMIC))
		return change_all(a, requester, at, words);
	hit = r.l2->latency[L2_ATOMIC];
	r.port->outstanding += hit;
	return r.issue + hit;
}
