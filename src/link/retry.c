#include "link/retry.h"

#include "base/mem.h"

#define AT(field) offsetof(struct retry_params, field)

enum { HOPELESS = 1 << 20 }; /* tries, of one who never gives up */

const struct param retry_kind_table[] = {
	PARAM_ONE_OF("retry", AT(kind), "none", "none|replay",
		"handling of corrupted packets by links; none: they stay "
		"corrupted; replay: they are retransmitted until they arrive "
		"intact",
		NULL),
	{ 0 },
};

const struct param retry_params_table[] = {
	PARAM_ROW(PARAM_COUNT, "retry.window", AT(window), "272", 1, 1 << 20,
		"size of a sender's replay buffer",
		"BGQ-G23 (16 full packets)"),
	PARAM_ONE_OF("retry.unit", AT(unit), "chunks", "chunks|packets",
		"unit of link.retry.window",
		"assumed: a buffer shared in chunks"),
	PARAM_ROW(PARAM_COUNT, "retry.numbers", AT(numbers), "8", 1, 16,
		"width of sequence numbers in bits; the number of packets in "
		"flight stays below the number of values",
		"BGQ-G22"),
	PARAM_ONE_OF("retry.by", AT(by), "timeout", "timeout|nack",
		"trigger of a retransmission: a time-out, or a message from "
		"the receiver",
		"BGQ-G23"),
	PARAM_ROW(PARAM_COUNT, "retry.timeout", AT(timeout), "4", 1,
		RETRY_MOST_TRIPS,
		"time-out of an unacknowledged packet, in round trips of the "
		"wire",
		"BGQ-G23"),
	PARAM_ROW(PARAM_COUNT, "retry.tries", AT(tries), "1000", 1, 1000000,
		"number of consecutive failures after which a link is reported "
		"as dead",
		"assumed"),
	{ 0 },
};

int retry_check(const struct retry_params *p, uint32_t full, struct err *e)
{
	if (p->kind == RETRY_NONE || retry_weight(p, full) <= p->window)
		return 0;
	return err_set(e,
		"link.retry.window: %lld chunks do not hold a full packet "
		"(want at least %u chunks)",
		(long long)p->window, full);
}

/* --- the replay buffer --- */

enum { LEAST = 2 }; /* packets of a ring that is used */

static struct retry_entry *entry(const struct link_retry *q, uint32_t i)
{
	return &q->entry[(q->first + i) & (q->room - 1)];
}

static void forget(
	struct link_retry *q, const struct retry_params *p, sim_time t)
{
	while (q->n && entry(q, 0)->acked <= t) {
		q->chunks -= retry_weight(p, entry(q, 0)->chunks);
		q->first++;
		q->n--;
	}
}

static void grow(struct link_retry *q)
{
	uint32_t room = q->room ? 2 * q->room : LEAST;
	struct retry_entry *v = mem_alloc(room, sizeof(*v));

	for (uint32_t i = 0; i < q->n; i++)
		v[i] = *entry(q, i);
	mem_free(q->entry);
	q->entry = v;
	q->room = room;
	q->first = 0;
}

void retry_make_room(struct link_retry *q, const struct retry_params *p)
{
	forget(q, p, q->sent);
	if (q->n == q->room)
		grow(q);
}

static void keep(struct link_retry *q, const struct retry_params *p,
	uint32_t chunks, sim_time acked)
{
	if (q->n == q->room)
		grow(q);
	/* an acknowledgement is one of all before it */
	for (uint32_t i = q->n; i-- && entry(q, i)->acked > acked;)
		entry(q, i)->acked = acked;
	q->n++;
	*entry(q, q->n - 1) = (struct retry_entry){ acked, chunks };
	q->chunks += retry_weight(p, chunks);
	q->next = (q->next + 1) & ((1u << p->numbers) - 1);
}

/* When there is room for a full packet, and a number for it. */
static sim_time has_room(
	const struct link_retry *q, const struct retry_params *p, uint32_t full)
{
	int64_t chunks = q->chunks, n = q->n;
	sim_time t = 0;

	for (uint32_t i = 0; chunks + retry_weight(p, full) > p->window ||
			     n + 1 >= INT64_C(1) << p->numbers;
		i++) {
		t = entry(q, i)->acked;
		chunks -= retry_weight(p, entry(q, i)->chunks);
		n--;
	}
	return t;
}

void retry_fini(struct link_retry *q)
{
	mem_free(q->entry);
	mem_free(q->copies);
	mem_free(q->held);
	*q = (struct link_retry){ 0 };
}

/* --- copies --- */

static sim_time end_of(const struct retry_copies *c)
{
	return c->start + (sim_time)(c->n - 1) * c->step + c->ser;
}

/* Forgets what was sent by t. */
static void forget_copies(struct link_retry *q, sim_time t)
{
	uint32_t i = 0;

	while (i < q->n_copies && end_of(&q->copies[i]) <= t)
		i++;
	if (!i)
		return;
	for (uint32_t k = i; k < q->n_copies; k++)
		q->copies[k - i] = q->copies[k];
	q->n_copies -= i;
}

/* One more copy joins the last ones where it keeps their step. */
static bool is_joined(
	struct link_retry *q, const struct retry_packet *x, sim_time start)
{
	struct retry_copies *c = q->copies + q->n_copies;

	if (!q->n_copies)
		return false;
	c--;
	if (c->bytes != x->bytes || c->channel != x->channel ||
		c->ser != x->ser ||
		(c->n > 1 && start != c->start + (sim_time)c->n * c->step))
		return false;
	c->step = c->n == 1 ? start - c->start : c->step;
	c->n++;
	return true;
}

static void add_copies(struct link_retry *q, const struct retry_packet *x,
	sim_time start, uint32_t n, sim_time step)
{
	if (!x->bytes || (n == 1 && is_joined(q, x, start)))
		return;
	if (q->n_copies == q->copies_room) {
		q->copies_room = 2 * q->copies_room + 8;
		q->copies =
			mem_grow(q->copies, q->copies_room, sizeof(*q->copies));
	}
	q->copies[q->n_copies++] = (struct retry_copies){ start, step, x->ser,
		n, x->bytes, x->channel };
}

/* Whole copies behind now, and the rest of one that is being sent. */
static uint64_t unsent_of(const struct retry_copies *c, sim_time now)
{
	uint64_t begun = 1, bytes = c->bytes;
	sim_time left;

	if (now <= c->start)
		return c->n * bytes;
	if (c->n > 1)
		begun += (uint64_t)((now - c->start - 1) / c->step);
	begun = begun < c->n ? begun : c->n;
	left = c->start + (sim_time)(begun - 1) * c->step + c->ser - now;
	bytes *= c->n - begun;
	if (left > 0)
		bytes += ((uint64_t)left * c->bytes + (uint64_t)c->ser - 1) /
			 (uint64_t)c->ser;
	return bytes;
}

uint64_t retry_unsent(
	const struct link_retry *q, uint32_t channels, sim_time now)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < q->n_copies; i++)
		if (channels >> q->copies[i].channel & 1)
			sum += unsent_of(&q->copies[i], now);
	return sum;
}

/* --- sending --- */

struct sending {
	struct link_retry *q;
	const struct retry_params *p;
	const struct retry_packet *x;
	const struct retry_luck *luck;
	sim_time whole; /* with the gap behind it */
	struct retry_done done;
};

static sim_time silence(const struct sending *s)
{
	return retry_timeout(s->q, s->p, s->x->latency);
}

sim_time retry_each(const struct link_retry *q, const struct retry_params *p,
	const struct retry_packet *x)
{
	return x->ser + retry_timeout(q, p, x->latency);
}

/* Echoes are sent before anything that could not end in time. */
static void send_echoes(struct sending *s)
{
	struct link_retry *q = s->q;

	if (!q->echo || s->done.start + s->whole <= q->echo)
		return;
	if (s->done.start < q->echo_until)
		s->done.start = q->echo_until;
	q->echo = 0;
	s->done.echoes++;
}

/* When a packet that has failed is sent again. */
static sim_time again(struct sending *s, enum retry_fate fate, sim_time back)
{
	struct link_retry *q = s->q;
	sim_time tail = s->done.start + s->x->ser, next, each;

	next = tail + (s->p->by == RETRY_BY_NACK && fate == RETRY_FAILS
				      ? 2 * s->x->latency
				      : silence(s));
	if (q->echo && q->echo < next) {
		next = q->echo_until; /* behind those */
		s->done.echoes++;
	}
	q->echo = 0; /* a nack tells what has come, too */
	each = retry_each(s->q, s->p, s->x);
	if (fate == RETRY_IS_CUT && next < back) {
		uint64_t n = (uint64_t)((back - next + each - 1) / each);
		uint32_t most = n < HOPELESS ? (uint32_t)n : HOPELESS;

		add_copies(q, s->x, next, most, each);
		next += (sim_time)n * each;
		s->done.resent += most;
	}
	return next;
}

/* Sends until it comes through; false where it never does. */
static bool come_through(struct sending *s)
{
	enum retry_fate fate;
	sim_time back = 0;
	uint32_t tries = 0;

	for (;;) {
		fate = s->luck->packet(s->luck->arg, s->done.start,
			s->done.start + s->x->ser, &back);
		if (fate == RETRY_PASSES)
			return true;
		if (fate == RETRY_IS_DEAD)
			return false;
		s->done.resent++;
		add_copies(s->q, s->x, s->done.start, 1, 0);
		s->done.start = s->q->back = again(s, fate, back);
		s->done.is_reported |=
			++tries >= s->p->tries || s->done.resent >= s->p->tries;
		if (tries >= s->p->tries && s->luck->gives_up)
			return false;
		BUG_IF(tries > HOPELESS);
	}
}

/* The far end has it: what the sender hears of that. */
static sim_time acknowledge(struct sending *s)
{
	struct link_retry *q = s->q;
	sim_time tail = s->done.start + s->x->ser;
	sim_time acked = tail + 2 * s->x->latency;
	bool is_lost = s->luck->is_ack_lost(s->luck->arg);

	if (!is_lost && q->echo && acked <= q->echo)
		q->echo = 0; /* it stands for the one that was lost */
	if (q->echo) {
		q->echo_until += s->whole;
	} else if (is_lost) {
		q->echo = tail + silence(s);
		q->echo_until = q->echo + s->whole;
	}
	return is_lost ? q->echo_until + 2 * s->x->latency : acked;
}

struct retry_done retry_send(struct link_retry *q, const struct retry_params *p,
	uint32_t full, const struct retry_packet *x,
	const struct retry_luck *luck)
{
	struct sending s = { .q = q,
		.p = p,
		.x = x,
		.luck = luck,
		.whole = x->ser + x->gap,
		.done = { .start = x->t > q->clear ? x->t : q->clear } };
	sim_time room;

	forget(q, p, x->t);
	forget_copies(q, x->t);
	send_echoes(&s);
	s.done.is_lost = !come_through(&s);
	if (s.done.start > x->t)
		add_copies(q, x, s.done.start, 1, 0);
	else
		q->sent = x->t + x->ser;
	q->clear = s.done.start + s.whole;
	if (!s.done.is_lost)
		keep(q, p, x->chunks, acknowledge(&s));
	s.done.free_at = x->t + s.whole;
	if (s.done.free_at > q->back && s.done.free_at < q->clear)
		s.done.free_at = q->clear;
	room = has_room(q, p, full);
	if (room > s.done.free_at)
		s.done.free_at = room;
	return s.done;
}

bool retry_binds(const struct retry_params *p, uint32_t full,
	const struct retry_packet *x, sim_time longest,
	const struct retry_tokens *k)
{
	/* a packet's place is taken from its grant to its acknowledgement */
	sim_time whole = x->ser + x->gap, held = longest + 2 * x->latency;
	int64_t n = (held + whole - 1) / whole;
	int64_t most = k->packets * ((held + k->back - 1) / k->back);

	n = most < n ? most : n;
	return (n - 1) * retry_weight(p, x->chunks) + retry_weight(p, full) >
		       p->window ||
	       n >= INT64_C(1) << p->numbers;
}
