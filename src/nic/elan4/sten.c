/*
 * The STEN, which makes short packets of a queue's words (QSN-F35).  The
 * arrival times of stores are known in advance, so a packet's head can leave
 * before its tail has arrived from the core (QSN-F34).
 */
#include "nic/elan4/units.h"

#include <string.h>

/* --- decoding --- */

enum { INCOMPLETE = -1, IMPOSSIBLE = -2 };

/* A packet out of a queue. */
struct sten {
	uint64_t open, close; /* the commands that began and ended it */
	uint64_t last; /* node of a broadcast */
	struct elan_route to;
	sim_time found; /* when its route is known */
	uint32_t event, no_event; /* of its acknowledgement */
	uint32_t gets;
	/* processes that transactions are for: 1 + rank; 0: its destination */
	uint64_t other, rank[ELAN_MOST_PIECES];
	bool has_others;
	/* when each transaction has come, and its last word */
	sim_time arrived[ELAN_MOST_PIECES], closed;
	struct elan_buffer b;
};

struct reading {
	const struct nic_at *a;
	struct elan_queue *q;
	uint64_t at; /* position */
	bool is_checked; /* words may have bad bits */
};

static int next_word(struct reading *r, uint64_t *word)
{
	if (r->at + 8 > r->q->announced)
		return INCOMPLETE;
	if (r->is_checked && !elan_queue_check(r->a, r->q, r->at, 8))
		return IMPOSSIBLE;
	*word = elan_queue_word(r->q, r->at);
	r->at += 8;
	return 0;
}

static bool is_full(const struct elan_buffer *b)
{
	return b->n_pieces == ELAN_MOST_PIECES;
}

/* Its last word comes by then. */
static int add_piece(
	const struct reading *r, struct sten *p, const struct elan_piece *x)
{
	p->arrived[p->b.n_pieces] = elan_queue_arrival(r->q, r->at);
	p->rank[p->b.n_pieces] = p->other;
	elan_add_piece(&p->b, *x);
	return 0;
}

/* The data of a write, in one piece of the ring. */
static bool copy_out(struct reading *r, uint8_t *to, uint32_t bytes)
{
	uint32_t whole = (bytes + 7) / 8 * 8;

	if (r->is_checked || r->at + whole > r->q->announced ||
		whole > elan_queue_piece(r->q, r->at))
		return false;
	memcpy(to, elan_queue_place(r->q, r->at), bytes);
	r->at += whole;
	return true;
}

/* One transaction of a write or a message. */
static int read_block(struct reading *r, struct sten *p, struct elan_piece x)
{
	uint8_t *to = p->b.data + p->b.data_bytes;
	uint64_t data;
	bool is_out;

	if (is_full(&p->b))
		return IMPOSSIBLE;
	is_out = copy_out(r, to, x.bytes);
	for (uint32_t i = 0; i < x.bytes && !is_out; i += 8) {
		if (next_word(r, &data))
			return INCOMPLETE;
		memcpy(to + i, &data, x.bytes - i < 8 ? x.bytes - i : 8);
	}
	x.at = p->b.data_bytes;
	p->b.data_bytes = (uint16_t)(p->b.data_bytes + x.bytes);
	return add_piece(r, p, &x);
}

static int read_write(struct reading *r, struct sten *p, uint64_t word)
{
	uint32_t bytes = elan_low(word), at, n;
	uint64_t to;
	int code = 0;

	if (!bytes || p->b.data_bytes + bytes > ELAN_PACKET)
		return IMPOSSIBLE;
	if (next_word(r, &to))
		return INCOMPLETE;
	for (at = 0; at < bytes && !code; at += n) {
		n = bytes - at < ELAN_BLOCK ? bytes - at : ELAN_BLOCK;
		code = read_block(r, p,
			(struct elan_piece){ .what = ELAN_WRITE,
				.address = to + at,
				.bytes = (uint16_t)n });
	}
	return code;
}

/* A message, or a part of one, as it would be written.  Without bytes it is one
 * transaction, too. */
static int read_enqueue(struct reading *r, struct sten *p, uint64_t word)
{
	uint32_t bytes = elan_low(word), at = 0, n;
	struct elan_piece x = {
		.what = ELAN_ENQUEUE,
		.event = (elan_high(word) & 0xffff) |
			 elan_rank_of(r->a, r->q) * ELAN_INPUTS,
		.count = elan_high(word) >> 16 |
			 (uint32_t)(word >> ELAN_KIND & 15) << 16,
	};
	uint64_t part = bytes, total, offset;
	int code;

	if (p->b.data_bytes + bytes > ELAN_PACKET ||
		(elan_high(word) & 0xffff) >= ELAN_INPUTS)
		return IMPOSSIBLE;
	if (next_word(r, &x.address) ||
		(word & ELAN_IS_PART && next_word(r, &part)))
		return INCOMPLETE;
	total = part & UINT32_MAX;
	offset = part >> 32;
	if (total > ELAN_SLOT_MOST || offset + bytes > total)
		return IMPOSSIBLE;
	do {
		n = bytes - at < ELAN_BLOCK ? bytes - at : ELAN_BLOCK;
		x.bytes = (uint16_t)n;
		x.back = total << 32 | (offset + at);
		code = read_block(r, p, x);
		at += n;
	} while (at < bytes && !code);
	return code;
}

static int read_get(struct reading *r, struct sten *p, uint64_t word)
{
	struct elan_piece x = {
		.what = ELAN_GET,
		.bytes = (uint16_t)elan_low(word),
		.event = elan_high(word),
		.count = p->gets,
	};

	if (!x.bytes || x.bytes > ELAN_PACKET || is_full(&p->b) || p->b.cast ||
		x.event >= ELAN_EVENT_NAMES)
		return IMPOSSIBLE;
	if (next_word(r, &x.address) || next_word(r, &x.back))
		return INCOMPLETE;
	p->gets++;
	return add_piece(r, p, &x);
}

static int read_test(struct reading *r, struct sten *p, uint64_t word)
{
	struct elan_piece x = {
		.what = ELAN_TEST, .bytes = 8, .event = elan_low(word)
	};

	if (is_full(&p->b) || x.event >= ELAN_OPERATIONS)
		return IMPOSSIBLE;
	if (next_word(r, &x.address) || next_word(r, &x.back))
		return INCOMPLETE;
	return add_piece(r, p, &x);
}

static int read_set(struct reading *r, struct sten *p, uint64_t word)
{
	struct elan_piece x = { .what = ELAN_SET, .count = elan_high(word) };
	uint64_t event = elan_low(word);

	if (is_full(&p->b))
		return IMPOSSIBLE;
	if (word & ELAN_NAMED && next_word(r, &event))
		return INCOMPLETE;
	if (event >= ELAN_EVENT_NAMES)
		return IMPOSSIBLE;
	x.event = (uint32_t)event;
	return add_piece(r, p, &x);
}

/* The events of an acknowledgement. */
static int read_close(struct reading *r, struct sten *p)
{
	uint64_t events = elan_low(p->close);

	events |= (uint64_t)elan_high(p->close) << 32;
	if (p->close & ELAN_NAMED && next_word(r, &events))
		return INCOMPLETE;
	p->event = (uint32_t)events;
	p->no_event = (uint32_t)(events >> 32);
	return p->event < ELAN_EVENT_NAMES && p->no_event < ELAN_EVENT_NAMES
		       ? 0
		       : IMPOSSIBLE;
}

static bool is_range(uint64_t open)
{
	return (open & 0xff) == ELAN_OPEN_RANGE;
}

static uint64_t rank_of(uint64_t open)
{
	return open >> 16 & 0xffffffff;
}

static enum elan_fifo fifo_of(uint64_t open)
{
	return is_range(open) ? ELAN_FIFO_CAST : ELAN_FIFO_STEN;
}

/* Decodes the packet that begins at a position.  Returns its length, INCOMPLETE
 * or IMPOSSIBLE. */
static int64_t decode(const struct nic_at *a, struct elan_queue *q,
	uint64_t position, struct sten *p)
{
	struct reading r = { a, q, position, elan_sdram_may_err(a) };
	bool is_closed = false;
	int code = 0;

	p->b.kind = ELAN_DATA;
	if (next_word(&r, &p->open))
		return INCOMPLETE;
	if (is_range(p->open)) {
		p->b.cast = ELAN_CAST_OUT;
		if (next_word(&r, &p->last))
			return INCOMPLETE;
	}
	while (!is_closed && !code) {
		if (next_word(&r, &p->close))
			return INCOMPLETE;
		switch (p->close & 0xff) {
		case ELAN_CLOSE:
			is_closed = true;
			code = read_close(&r, p);
			break;
		case ELAN_WRITE:
			code = read_write(&r, p, p->close);
			is_closed = p->close & ELAN_CLOSES;
			break;
		case ELAN_ENQUEUE:
			code = read_enqueue(&r, p, p->close);
			is_closed = p->close & ELAN_IS_LAST;
			break;
		case ELAN_GET:
			code = read_get(&r, p, p->close);
			break;
		case ELAN_SET:
			code = read_set(&r, p, p->close);
			break;
		case ELAN_TEST:
			code = read_test(&r, p, p->close);
			break;
		case ELAN_FOR:
			code = p->b.cast ? IMPOSSIBLE : 0;
			p->other = 1 + (p->close >> 16 & UINT32_MAX);
			p->has_others = true;
			break;
		default:
			code = IMPOSSIBLE;
		}
	}
	p->closed = elan_queue_arrival(q, r.at);
	return code ? code : (int64_t)(r.at - position);
}

/* When each transaction leaves, and the tail, which waits for the last word.
 * The head could leave since some time; in the model it does at start, when the
 * whole packet is known. */
static void set_times(const struct nic_at *a, struct elan_buffer *b,
	sim_time start, sim_time since, const struct sten *p)
{
	sim_time command = elan_params(a)->command;
	uint32_t words = 0;

	b->left_at = start;
	b->tail = p->closed + command;
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		sim_time link;

		words += elan_words(&b->piece[i]);
		link = since + elan_ser(a, i + 1, words);
		link = link > start ? link : start;
		b->left[i] = p->arrived[i] + command;
		b->left[i] = b->left[i] > link ? b->left[i] : link;
	}
}

/*
 * The last of several destinations, of which the first is known: p->last
 * becomes its node.  A broadcast goes to one context of all nodes from one to
 * the other, if they are the job's, and this network's switches do that.
 */
static enum elan_error find_last(
	const struct nic_at *a, const struct elan_queue *q, struct sten *p)
{
	struct elan_route last;
	enum elan_error wrong = elan_route_find(
		a, ELAN_BY_COMMAND, q, p->last, &last, &p->found);

	if (wrong)
		return wrong;
	if (!a->nic->net->coll || last.context != p->to.context ||
		last.node < p->to.node ||
		!elan_range_is_own(a, q, rank_of(p->open), p->last))
		return ELAN_ERROR_COMMAND;
	p->last = last.node;
	return ELAN_FINE;
}

/* Looks up the processes of single transactions: of the same node. */
static enum elan_error find_others(
	const struct nic_at *a, const struct elan_queue *q, struct sten *p)
{
	enum elan_error wrong = ELAN_FINE;
	struct elan_route to;

	for (uint32_t i = 0; i < p->b.n_pieces && !wrong; i++) {
		if (!p->rank[i])
			continue;
		wrong = elan_route_find(
			a, ELAN_BY_COMMAND, q, p->rank[i] - 1, &to, &p->found);
		if (!wrong && to.node != p->to.node)
			wrong = ELAN_ERROR_COMMAND;
		p->b.piece[i].context = to.context;
	}
	return wrong;
}

/* Looks up the destination, or the first of several. */
static enum elan_error find_route(
	const struct nic_at *a, const struct elan_queue *q, struct sten *p)
{
	enum elan_error wrong;

	p->found = a->t;
	wrong = elan_route_find(
		a, ELAN_BY_COMMAND, q, rank_of(p->open), &p->to, &p->found);
	if (!wrong && is_range(p->open))
		wrong = find_last(a, q, p);
	p->b.context = p->to.context;
	for (uint32_t i = 0; i < p->b.n_pieces; i++)
		p->b.piece[i].context = p->b.context;
	return !wrong && p->has_others ? find_others(a, q, p) : wrong;
}

/* An incomplete packet is closed by a time-out, when no more of it has arrived
 * for that long (QSN-G22). */
static void await_rest(const struct nic_at *a, struct elan_queue *q)
{
	if (!q->is_half)
		elan_post(a, a->t + elan_params(a)->half_packet,
			ELAN_ENGINE_HALF, q->id);
	if (!q->is_half || q->half_at != q->taken)
		q->half_since = a->t;
	q->is_half = true;
	q->half_at = q->taken;
}

/* The part of an incomplete packet that has left. */
static void send_aborted(const struct nic_at *a, const struct elan_queue *q)
{
	struct sten p;
	uint32_t route;

	memset(&p, 0, offsetof(struct sten, b.data));
	p.b.kind = ELAN_ABORTED;
	p.open = elan_queue_word(q, q->half_at);
	p.last = UINT64_MAX;
	if (is_range(p.open) && q->half_at + 16 <= q->announced)
		p.last = elan_queue_word(q, q->half_at + 8);
	if (find_route(a, q, &p))
		return;
	if (is_range(p.open)) {
		p.b.cast = ELAN_CAST_OUT;
		p.b.last = (uint16_t)p.last;
	}
	route = elan_route_pick(p.to.routes, (uint32_t)(p.open >> 48));
	elan_send_packet(a, fifo_of(p.open), p.to.node, &p.b, route, NULL);
}

void elan_sten_on_half(const struct nic_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(elan_here(a), queue);
	sim_time until;

	/* the queue may have been opened anew */
	if (!q || !q->is_half)
		return;
	until = q->word_at + elan_params(a)->half_packet;
	q->is_half = !q->error && q->taken == q->half_at && a->t < until;
	if (q->is_half)
		elan_post(a, until, ELAN_ENGINE_HALF, queue);
	if (q->is_half || q->error || q->taken != q->half_at)
		return;
	elan_count(a)->aborted++;
	send_aborted(a, q);
}

static void on_acked(
	const struct nic_at *a, const struct elan_sent *s, bool is_yes)
{
	struct elan_queue *q = elan_queue(elan_here(a), s->owner_id);

	q->was_denied |= !is_yes;
	elan_queue_acked(a, q, s->sequence);
	if (!is_yes)
		elan_get_denied(a, &s->get);
	elan_get_acked(a, &s->get, &s->account);
}

static void on_failed(
	const struct nic_at *a, const struct elan_sent *s, enum elan_error why)
{
	struct elan_queue *q = elan_queue(elan_here(a), s->owner_id);

	elan_get_failed(a, &s->get, why);
	elan_queue_failed(a, q, why);
	elan_queue_acked(a, q, s->sequence);
}

/* A packet that is sent again is made again of the words in the backing
 * store. */
static bool make_again(const struct nic_at *a, struct elan_sending *s)
{
	struct elan_queue *q = elan_queue(elan_here(a), s->owner_id);
	struct elan_buffer *b = s->copy;
	struct sten p;
	int64_t n;
	sim_time t;

	memset(&p, 0, offsetof(struct sten, b.data));
	n = decode(a, q, s->position, &p);
	if (n < 0)
		return false;
	t = elan_cache_read(
		a, ELAN_BY_COMMAND, q->ring + s->position % q->depth, 8, a->t);
	for (uint32_t i = 0; i < p.b.n_pieces; i++)
		p.b.piece[i].context = b->piece[i].context;
	b->n_pieces = p.b.n_pieces;
	b->data_bytes = p.b.data_bytes;
	memcpy(b->piece, p.b.piece, sizeof(b->piece));
	memcpy(b->data, p.b.data, p.b.data_bytes);
	for (uint32_t i = 0; t > a->t && i < b->n_pieces; i++)
		b->left[i] = t + elan_params(a)->command;
	return true;
}

static const struct elan_owner owner = {
	.done = on_acked, .again = make_again, .failed = on_failed
};

/* Without a book nobody looks at the rest of it. */
static void set_account(const struct nic_at *a, struct elan_queue *q,
	const struct sten *p, struct elan_sending *s)
{
	s->account.was_missing = false;
	if (!nic_has_book(a))
		return;
	s->account = elan_account_begin(a, q,
		elan_is_message(&p->b) ? BOOK_SEND : BOOK_PACKET, q->taken, 1);
	s->account.built = p->found;
}

/* Keeps and sends a packet of n bytes of commands. */
static void send(const struct nic_at *a, struct elan_queue *q,
	const struct sten *p, uint32_t n)
{
	sim_time start = elan_start(a) + (p->found - a->t);
	bool was_half = q->is_half && q->half_at == q->taken;
	uint32_t id = elan_send_new(a);
	struct elan_sending *s = elan_sending(a, id);

	memcpy(s->copy, &p->b,
		offsetof(struct elan_buffer, data) + p->b.data_bytes);
	s->copy->channel = q->name;
	s->copy->sequence = q->channel.next;
	s->copy->sending = id;
	s->copy->asked = a->t;
	set_times(a, s->copy, start,
		start - (was_half ? a->t - q->half_since : 0), p);
	s->copy->last = (uint16_t)p->last;
	s->item.dst = p->to.node;
	s->routes = p->to.routes;
	s->context = q->context;
	if (p->gets)
		s->copy->get = elan_get_new(a, q, &p->to, &p->b);
	s->owner = &owner;
	s->owner_id = q->id;
	s->position = q->taken;
	s->event = p->event;
	s->no_event = p->no_event;
	s->item.route = (uint8_t)(p->open >> 48);
	s->fifo = fifo_of(p->open);
	set_account(a, q, p, s);
	q->taken += n;
	q->ends[q->channel.next++ % ELAN_ENDS] = q->taken;
	q->outstanding++;
	elan_count(a)->commands++;
	elan_send_at(a, id, start);
}

/* Checks the addresses that this node knows. */
static bool are_addresses_right(const struct nic_at *a,
	const struct elan_queue *q, const struct sten *p)
{
	const struct elan_node *n = a->node;
	if (!elan_event_may(n, q->context, p->event) ||
		!elan_event_may(n, q->context, p->no_event))
		return false;
	for (uint32_t i = 0; i < p->b.n_pieces; i++) {
		const struct elan_piece *x = &p->b.piece[i];

		if (x->what == ELAN_TEST && x->address % 8)
			return false;
		if (x->what == ELAN_GET &&
			(!elan_may(n, q->context, x->back, x->bytes) ||
				!elan_event_may(n, q->context, x->event)))
			return false;
	}
	return true;
}

uint32_t elan_sten_send(const struct nic_at *a, struct elan_queue *q)
{
	enum elan_error wrong;
	struct sten p;
	int64_t n;

	if (window_span(&q->channel) >= (uint32_t)elan_params(a)->outstanding)
		return 0;
	memset(&p, 0, offsetof(struct sten, b.data));
	n = decode(a, q, q->taken, &p);
	if (n == INCOMPLETE) {
		await_rest(a, q);
		return 0;
	}
	wrong = n < 0 ? ELAN_ERROR_COMMAND : find_route(a, q, &p);
	if (wrong) {
		elan_queue_stop(a, q, wrong);
		return 0;
	}
	if (!are_addresses_right(a, q, &p)) {
		elan_queue_stop(a, q, ELAN_ERROR_ADDRESS);
		return 0;
	}
	send(a, q, &p, (uint32_t)n);
	return (uint32_t)n;
}

uint32_t elan_sten_skip(const struct nic_at *a, struct elan_queue *q)
{
	struct sten p;
	int64_t n;

	memset(&p, 0, offsetof(struct sten, b.data));
	n = decode(a, q, q->taken, &p);
	if (n == INCOMPLETE)
		return 0; /* nothing of it leaves: no time-out */
	if (n < 0) {
		elan_queue_stop(a, q, ELAN_ERROR_COMMAND);
		return 0;
	}
	/* Behind a guard nothing is outstanding. */
	q->skips = false;
	q->taken += (uint64_t)n;
	elan_count(a)->commands++;
	elan_queue_freed(a, q, q->taken);
	return (uint32_t)n;
}
