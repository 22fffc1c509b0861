/*
 * The command processor.  Queues that have work get a turn each, one after
 * the other: one packet, or a few simple commands (QSN-G24).  A short packet
 * goes out while the rest of it is still coming from the core: all that was
 * stored is known, and when each store arrives, so its head can leave before
 * its tail is here (QSN-F34).
 */
#include "nic/elan4/parts.h"

#include <string.h>

enum { TURN = 64, COPY_MOST = 64 };

#define PS_PER_S INT64_C(1000000000000)

static uint32_t low(uint64_t word)
{
	return (uint32_t)(word >> 16) & 0xffff;
}

static uint32_t high(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* Words of a simple command, its own included; 0: it is none. */
static uint32_t length(enum elan_command c)
{
	static const uint8_t words[ELAN_COMMANDS] = {
		[ELAN_NOP] = 1,
		[ELAN_RUN_DMA] = 1 + ELAN_DMA_WORDS,
		[ELAN_STORE] = 3,
		[ELAN_COPY] = 3,
		[ELAN_ADD] = 1,
		[ELAN_ARM] = 4,
		[ELAN_GUARD] = 1,
		[ELAN_INTERRUPT] = 1,
		[ELAN_RUN_THREAD] = 1 + ELAN_REGISTERS,
	};

	return c < ELAN_COMMANDS ? words[c] : 0;
}

static uint32_t right_of(enum elan_command c)
{
	static const uint8_t rights[ELAN_COMMANDS] = {
		[ELAN_OPEN] = ELAN_MAY_STEN,
		[ELAN_OPEN_RANGE] = ELAN_MAY_BROADCAST,
		[ELAN_RUN_DMA] = ELAN_MAY_DMA,
		[ELAN_STORE] = ELAN_MAY_STORE,
		[ELAN_COPY] = ELAN_MAY_STORE,
		[ELAN_ADD] = ELAN_MAY_EVENT,
		[ELAN_ARM] = ELAN_MAY_EVENT,
		[ELAN_INTERRUPT] = ELAN_MAY_INTERRUPT,
		[ELAN_RUN_THREAD] = ELAN_MAY_THREAD,
	};

	return rights[c];
}

/* --- simple commands --- */

static enum elan_error copy(const struct elan_at *a, uint32_t context,
	uint32_t bytes, uint64_t from, uint64_t to)
{
	uint64_t word;
	uint32_t i;

	if (bytes > COPY_MOST || bytes % 8)
		return ELAN_ERROR_COMMAND;
	if (from % 8 || to % 8 || !elan_may(a->n, context, from, bytes) ||
		!elan_may(a->n, context, to, bytes))
		return ELAN_ERROR_ADDRESS;
	for (i = 0; i < bytes; i += 8) {
		host_read(a->x->nic.host, a->s, from + i, &word, 8);
		elan_word_write(a, to + i, word);
	}
	return ELAN_FINE;
}

static enum elan_error arm(const struct elan_at *a, uint32_t context,
	uint32_t event, const uint64_t *word)
{
	struct elan_event_cell *cell;

	if (!event)
		return ELAN_ERROR_COMMAND;
	if (word[1] % 8 || !elan_may(a->n, context, word[1], 8))
		return ELAN_ERROR_ADDRESS;
	cell = elan_event(a->n, event);
	if (cell->count && cell->context != context)
		return ELAN_ERROR_RIGHT;
	*cell = (struct elan_event_cell){
		.count = word[0] < INT64_MAX ? (int64_t)word[0] : INT64_MAX,
		.address = word[1],
		.value = word[2],
		.context = context,
	};
	return ELAN_FINE;
}

static void execute(
	const struct elan_at *a, uint32_t queue, const uint64_t *word)
{
	struct elan_queue *q = elan_queue(a->n, queue);
	enum elan_error wrong = ELAN_FINE;
	struct elan_dma d;

	switch ((enum elan_command)(word[0] & 0xff)) {
	case ELAN_RUN_DMA:
		memcpy(&d, word + 1, sizeof(d));
		wrong = elan_dma_add(a, queue, &d);
		break;
	case ELAN_RUN_THREAD:
		wrong = elan_thread_begin(a, queue, word);
		break;
	case ELAN_STORE:
		if (word[1] % 8 || !elan_may(a->n, q->context, word[1], 8))
			wrong = ELAN_ERROR_ADDRESS;
		else
			elan_word_write(a, word[1],
				elan_word_order(a->n, q->context, word[2]));
		break;
	case ELAN_COPY:
		wrong = copy(a, q->context, low(word[0]), word[1], word[2]);
		break;
	case ELAN_ADD:
		elan_event_set(a, q->context, low(word[0]), high(word[0]));
		break;
	case ELAN_ARM:
		wrong = arm(a, q->context, low(word[0]), word + 1);
		break;
	case ELAN_GUARD:
		q->is_guarded = true;
		break;
	case ELAN_INTERRUPT:
		a->n->counts.interrupts++;
		host_poke(a->x->nic.host, a->w, a->s, a->t);
		break;
	default:
		break;
	}
	if (wrong)
		elan_queue_stop(a, queue, wrong);
}

/* Bytes that were taken; 0 where the queue has to wait or has stopped. */
static uint32_t simple(const struct elan_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(a->n, queue);
	uint64_t word[1 + ELAN_DMA_WORDS];
	enum elan_command c =
		(enum elan_command)(elan_queue_word(q, q->taken) & 0xff);
	uint32_t n = length(c), i;

	if (!n) {
		elan_queue_stop(a, queue, ELAN_ERROR_COMMAND);
		return 0;
	}
	if (elan_queue_arrival(q, q->taken + 8 * n) > a->t)
		return 0;
	if (c == ELAN_RUN_THREAD && !elan_thread_has_room(a, queue))
		return 0;
	for (i = 0; i < n; i++)
		word[i] = elan_queue_word(q, q->taken + 8 * i);
	q->taken += 8 * n;
	if (!q->outstanding) {
		q->freed = q->taken;
		host_poke(a->x->nic.host, a->w, a->s, a->t);
		elan_thread_on_room(a, queue);
	}
	a->n->counts.commands++;
	execute(a, queue, word);
	return 8 * n;
}

/* --- packets --- */

enum { INCOMPLETE = -1, IMPOSSIBLE = -2 };

struct reading {
	const struct elan_queue *q;
	uint64_t at; /* position */
};

static int next_word(struct reading *r, uint64_t *word)
{
	if (r->at + 8 > r->q->announced)
		return INCOMPLETE;
	*word = elan_queue_word(r->q, r->at);
	r->at += 8;
	return 0;
}

/* One transaction of a write. */
static int read_block(struct reading *r, struct elan_buffer *b, uint64_t to,
	uint32_t bytes, sim_time *arrived)
{
	uint64_t data;
	uint32_t i;

	if (b->n_pieces == ELAN_MOST_PIECES)
		return IMPOSSIBLE;
	for (i = 0; i < bytes; i += 8) {
		if (next_word(r, &data))
			return INCOMPLETE;
		memcpy(b->data + b->data_bytes + i, &data,
			bytes - i < 8 ? bytes - i : 8);
	}
	arrived[b->n_pieces] = elan_queue_arrival(r->q, r->at);
	b->piece[b->n_pieces++] = (struct elan_piece){
		.what = ELAN_WRITE,
		.address = to,
		.bytes = (uint16_t)bytes,
		.at = b->data_bytes,
	};
	b->data_bytes = (uint16_t)(b->data_bytes + bytes);
	return 0;
}

static int read_write(struct reading *r, struct elan_buffer *b, uint64_t word,
	sim_time *arrived)
{
	uint32_t bytes = low(word), at, n;
	uint64_t to;
	int code = 0;

	if (!bytes || b->data_bytes + bytes > ELAN_PACKET ||
		(b->n_pieces && b->piece[0].what == ELAN_GET))
		return IMPOSSIBLE;
	if (next_word(r, &to))
		return INCOMPLETE;
	for (at = 0; at < bytes && !code; at += n) {
		n = bytes - at < ELAN_BLOCK ? bytes - at : ELAN_BLOCK;
		code = read_block(r, b, to + at, n, arrived);
	}
	return code;
}

static int read_get(struct reading *r, struct elan_buffer *b, uint64_t word)
{
	struct elan_piece p = {
		.what = ELAN_GET,
		.bytes = (uint16_t)low(word),
		.event = high(word),
	};

	if (!p.bytes || p.bytes > ELAN_PACKET || b->n_pieces || b->cast ||
		p.event >= ELAN_EVENTS)
		return IMPOSSIBLE;
	if (next_word(r, &p.address) || next_word(r, &p.back))
		return INCOMPLETE;
	b->piece[b->n_pieces++] = p;
	return 0;
}

static int read_set(struct elan_buffer *b, uint64_t word)
{
	if (b->n_pieces == ELAN_MOST_PIECES)
		return IMPOSSIBLE;
	b->piece[b->n_pieces++] = (struct elan_piece){
		.what = ELAN_SET,
		.event = low(word),
		.count = high(word),
	};
	return 0;
}

static bool is_range(uint64_t open)
{
	return (open & 0xff) == ELAN_OPEN_RANGE;
}

static uint8_t fifo_of(uint64_t open)
{
	return is_range(open) ? ELAN_FIFO_CAST : ELAN_FIFO_STEN;
}

/* A packet out of a queue. */
struct sten {
	uint64_t open, close; /* the commands that began and ended it */
	uint64_t last; /* node of a broadcast */
	sim_time arrived[ELAN_MOST_PIECES]; /* when each piece has come */
	struct elan_buffer b;
};

/*
 * Decodes the packet that begins at the queue's next word.  Returns its
 * length, or why not.
 */
static int64_t decode(const struct elan_queue *q, struct sten *p)
{
	struct reading r = { q, q->taken };
	bool is_closed = false;
	int code = 0;

	p->b.kind = ELAN_DATA;
	p->b.context = q->context;
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
			break;
		case ELAN_WRITE:
			code = read_write(&r, &p->b, p->close, p->arrived);
			is_closed = p->close & ELAN_CLOSES;
			break;
		case ELAN_GET:
			code = read_get(&r, &p->b, p->close);
			break;
		case ELAN_SET:
			code = read_set(&p->b, p->close);
			break;
		default:
			code = IMPOSSIBLE;
		}
	}
	return code ? code : (int64_t)(r.at - q->taken);
}

/*
 * When each block has left, if the head could leave since some time, and in
 * the model does at start, when all of the packet is known.
 */
static void set_times(const struct elan_at *a, struct elan_buffer *b,
	sim_time start, sim_time since, const sim_time *arrived)
{
	uint32_t i, sum = 0;

	b->left_at = start;
	for (i = 0; i < b->n_pieces; i++) {
		sim_time link;

		if (b->piece[i].what != ELAN_WRITE)
			continue;
		sum += b->piece[i].bytes;
		link = since + elan_ser(a->x, sum);
		link = link > start ? link : start;
		b->left[i] = arrived[i] + a->x->params.command;
		b->left[i] = b->left[i] > link ? b->left[i] : link;
	}
}

/* The node that a packet is for, or the first of those; NO_SITE: none. */
static site_id destination(
	const struct elan_at *a, uint64_t open, uint64_t last)
{
	uint64_t to = open >> 16 & 0xffffffff;

	if (!is_range(open))
		last = to;
	else if (!a->x->nic.net->route->ops->spread)
		return NO_SITE; /* this network does not broadcast */
	return to <= last && last < a->x->n_nodes ? (site_id)to : NO_SITE;
}

/*
 * A packet that its process does not finish is closed by a time-out, when no
 * more of it has come for that long (QSN-G22).
 */
static void await_rest(const struct elan_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(a->n, queue);

	if (!q->is_half)
		elan_post(a, a->t + a->x->params.half_packet, ELAN_ENGINE_HALF,
			queue);
	if (!q->is_half || q->half_at != q->taken)
		q->half_since = a->t;
	q->is_half = true;
	q->half_at = q->taken;
}

/* What has left of a packet that is never finished. */
static void send_aborted(const struct elan_at *a, const struct elan_queue *q)
{
	struct elan_buffer b = { .kind = ELAN_ABORTED, .sending = UINT32_MAX };
	uint64_t open = elan_queue_word(q, q->half_at), last = UINT64_MAX;
	site_id to;

	if (is_range(open) && q->half_at + 16 <= q->announced)
		last = elan_queue_word(q, q->half_at + 8);
	to = destination(a, open, last);
	if (is_range(open)) {
		b.cast = ELAN_CAST_OUT;
		b.last = (uint16_t)last;
	}
	if (to != NO_SITE)
		elan_send_packet(
			a, fifo_of(open), to, &b, (uint32_t)(open >> 48), NULL);
}

void elan_command_on_half(const struct elan_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(a->n, queue);
	sim_time until;

	/* The queue may be another one by now. */
	if (!q || !q->is_half)
		return;
	until = q->word_at + a->x->params.half_packet;
	q->is_half = !q->error && q->taken == q->half_at && a->t < until;
	if (q->is_half)
		elan_post(a, until, ELAN_ENGINE_HALF, queue);
	if (q->is_half || q->error || q->taken != q->half_at)
		return;
	a->n->counts.aborted++;
	send_aborted(a, q);
}

/* Keeps and sends a packet of so many bytes of commands. */
static void send(const struct elan_at *a, uint32_t queue, const struct sten *p,
	uint32_t n)
{
	struct elan_queue *q = elan_queue(a->n, queue);
	sim_time start = a->t + a->x->params.command - a->x->least;
	bool was_half = q->is_half && q->half_at == q->taken;
	uint32_t id = elan_send_new(a);
	struct elan_sending *s = elan_sending(a->n, id);

	*s->copy = p->b;
	s->copy->channel = q->name;
	s->copy->sequence = q->channel.next;
	s->copy->sending = id;
	s->copy->asked = a->t;
	set_times(a, s->copy, start,
		start - (was_half ? a->t - q->half_since : 0), p->arrived);
	s->copy->last = (uint16_t)p->last;
	s->dst = destination(a, p->open, p->last);
	if (p->b.n_pieces && p->b.piece[0].what == ELAN_GET)
		s->copy->get = elan_get_new(a, queue, s->dst, &p->b);
	s->owner = ELAN_OWNER_QUEUE;
	s->owner_id = queue;
	s->event = (p->close & 0xff) == ELAN_CLOSE ? low(p->close) : 0;
	s->route = (uint8_t)(p->open >> 48);
	s->fifo = fifo_of(p->open);
	s->account = elan_account_begin(a, q, q->taken, 1);
	q->taken += n;
	q->ends[q->channel.next++ % ELAN_ENDS] = q->taken;
	q->outstanding++;
	a->n->counts.commands++;
	elan_send_at(a, id, start);
}

/* Bytes taken, or 0. */
static uint32_t packet(const struct elan_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(a->n, queue);
	const struct elan_piece *first;
	struct sten p;
	int64_t n;

	if (elan_channel_span(&q->channel) >=
		(uint32_t)a->x->params.outstanding)
		return 0;
	memset(&p, 0, offsetof(struct sten, b.data));
	n = decode(q, &p);
	if (n == INCOMPLETE) {
		await_rest(a, queue);
		return 0;
	}
	if (n < 0 || destination(a, p.open, p.last) == NO_SITE) {
		elan_queue_stop(a, queue, ELAN_ERROR_COMMAND);
		return 0;
	}
	first = &p.b.piece[0];
	if (p.b.n_pieces && first->what == ELAN_GET &&
		!elan_may(a->n, q->context, first->back, first->bytes)) {
		elan_queue_stop(a, queue, ELAN_ERROR_ADDRESS);
		return 0;
	}
	send(a, queue, &p, (uint32_t)n);
	return (uint32_t)n;
}

/* --- turns --- */

/* One queue's turn; returns the bytes that it took. */
static uint32_t turn(const struct elan_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(a->n, queue);
	uint32_t sum = 0, n;

	while (sum < TURN && !q->error && q->taken < q->announced) {
		enum elan_command c = (enum elan_command)(
			elan_queue_word(q, q->taken) & 0xff);

		if (elan_queue_arrival(q, q->taken + 8) > a->t)
			break;
		if (q->is_guarded && q->outstanding)
			break;
		q->is_guarded = false;
		if (c >= ELAN_COMMANDS || right_of(c) & ~(uint32_t)q->rights) {
			elan_queue_stop(a, queue,
				c >= ELAN_COMMANDS ? ELAN_ERROR_COMMAND
						   : ELAN_ERROR_RIGHT);
			break;
		}
		if (c == ELAN_OPEN || c == ELAN_OPEN_RANGE)
			return sum ? sum : packet(a, queue);
		n = simple(a, queue);
		if (!n)
			break;
		sum += n;
	}
	return sum;
}

void elan_command_go(const struct elan_at *a)
{
	struct elan_node *n = a->n;

	if (n->is_command_posted || n->run_first == ELAN_NO_QUEUE)
		return;
	n->is_command_posted = true;
	elan_post(a, n->command_at > a->t ? n->command_at : a->t,
		ELAN_ENGINE_COMMAND, 0);
}

void elan_command_on_free(const struct elan_at *a)
{
	struct elan_node *n = a->n;
	uint32_t queue, used = 0;

	n->is_command_posted = false;
	while (!used && n->run_first != ELAN_NO_QUEUE) {
		struct elan_queue *q = elan_queue(n, n->run_first);

		queue = n->run_first;
		n->run_first = q->next;
		q->is_queued = false;
		used = turn(a, queue);
		if (!used)
			continue;
		n->command_at =
			a->t + used * (PS_PER_S / a->x->params.command_rate);
		elan_queue_wake(a, queue);
	}
	elan_command_go(a);
}
