#include "base/crc32.h"
#include "nic/plain/card.h"

/* --- bits that were flipped --- */

enum {
	CRC = 4,
	FRAME_MOST = sizeof(struct plain_header) + PLAIN_MOST_PAYLOAD + CRC,
};

static uint32_t frame_bytes(const struct plain_buffer *b)
{
	return (uint32_t)sizeof(b->h) + plain_data(&b->h) + CRC;
}

void plain_receive_on_hurt(struct net *net, struct sim_worker *w, packet_id id,
	uint32_t bit, uint32_t bits)
{
	const struct packet *p = &net->packets[id];
	struct plain_buffer *b = plain_buffer(p);

	(void)w;
	flips_note(
		&b->flips, net->link.code, p->head, frame_bytes(b), bit, bits);
}

/* A packet becomes what the flips made of it, if its CRC does not see them. */
static bool is_sound(struct plain_node *n, struct plain_buffer *b)
{
	uint8_t frame[FRAME_MOST], room[CODE_ROOM * FRAME_MOST];
	uint32_t all = frame_bytes(b), n_data = plain_data(&b->h);
	uint32_t bytes = all - CRC, crc;
	struct plain_header h;

	memcpy(frame, &b->h, sizeof(h));
	memcpy(frame + sizeof(h), b->data, n_data);
	crc = crc32(frame, bytes);
	memcpy(frame + bytes, &crc, CRC);
	if (flips_apply(&b->flips, frame, all, room) < all)
		return false;
	memcpy(&crc, frame + bytes, CRC);
	memcpy(&h, frame, sizeof(h));
	if (crc != crc32(frame, bytes) || plain_data(&h) != n_data)
		return false;
	n->escapes += memcmp(&h, &b->h, sizeof(h)) ||
		      memcmp(b->data, frame + sizeof(h), n_data);
	b->h = h;
	memcpy(b->data, frame + sizeof(h), n_data);
	b->flips.n = 0;
	return true;
}

/* --- coming and going --- */

void plain_receive(
	const struct nic_at *a, uint32_t fifo, packet_id id, sim_time tail)
{
	const struct packet *p = &a->nic->net->packets[id];
	struct plain_buffer *b = plain_buffer(p);

	b->fifo = fifo;
	b->chunks = p->chunks;
	plain_here(a)->inside++;
	plain_post(a, tail + plain_of(a)->params.input, ENGINE_INPUT, id);
}

/* What a packet has spent is its message's, or nobody's. */
static void close_book(const struct nic_at *a, packet_id id, bool is_done)
{
	struct book *k = plain_book(a);

	if (!k || !book_has(k, id))
		return;
	if (is_done)
		book_close(k, a->w->id, id, a->t);
	else
		book_hold(k, a->w->id, id);
}

/* It leaves nothing behind. */
static void finish(const struct nic_at *a, packet_id id, bool is_done)
{
	struct plain_buffer *b = plain_buffer(&a->nic->net->packets[id]);
	uint32_t fifo = b->fifo, chunks = b->chunks;

	close_book(a, id, is_done);
	plain_here(a)->inside--;
	nic_give(a->nic, a->w, id);
	net_release(a->nic->net, a->w, a->s, fifo, chunks, a->t);
}

/* It goes back to its sender as its own answer. */
static void answer(const struct nic_at *a, packet_id id)
{
	struct net *net = a->nic->net;
	struct packet *p = &net->packets[id];
	struct plain_buffer *b = plain_buffer(p);
	struct book_message none = {
		.birth = a->t, .src = a->s, .n_packets = 1
	};

	if (b->h.status || b->is_again)
		close_book(a, id, false);
	b->h.is_answer = true;
	*p = (struct packet){
		.src = a->s,
		.dst = p->src,
		.number = plain_here(a)->number++,
		.born = a->t,
		.kind = PACKET_HIGH,
		.bytes = (uint16_t)plain_data(&b->h),
		.load = p->load,
	};
	if (plain_book(a) && !book_has(plain_book(a), id))
		book_open(plain_book(a), id, &none);
	plain_here(a)->answers++;
	outbox_send(a, &plain_here(a)->out, FIFO_HIGH, id, plain_send_leave);
}

/* --- requests --- */

/* Addresses take the place of offsets. */
static enum plain_status check(
	const struct plain_node *n, struct plain_header *h)
{
	uint32_t right = h->op == PLAIN_PUT   ? PLAIN_WRITE
			 : h->op == PLAIN_GET ? PLAIN_READ
					      : PLAIN_ATOMIC;
	enum plain_status status = plain_look_up(
		n, h->key, h->offset, h->bytes, right, 0, &h->offset);
	bool is_odd = h->op > PLAIN_GET && h->offset % 8;

	if (h->op == PLAIN_PUT && h->operand && !status) {
		status = plain_look_up(
			n, h->key, h->operand - 1, 8, right, 0, &h->operand);
		is_odd = h->operand++ % 8;
	}
	if (!status && (h->op >= PLAIN_OPS || is_odd))
		status = PLAIN_BAD_ENTRY;
	return status;
}

/* What is asked for goes over the side; what was done before follows that. */
static void execute(
	const struct nic_at *a, packet_id id, struct plain_buffer *b)
{
	struct side *side = plain_of(a)->side;
	struct plain_header *h = &b->h;
	sim_time t;

	if (h->op == PLAIN_GET) {
		side_reads_begin(a, &plain_here(a)->reads, h->offset, h->bytes,
			READ_ANSWER, id);
		return;
	}
	if (h->op > PLAIN_GET && !side->ops->atomic && !b->is_again) {
		side_reads_begin(
			a, &plain_here(a)->reads, h->offset, 8, READ_WORD, id);
		return;
	}
	if (h->op > PLAIN_GET && side->ops->atomic)
		t = side->ops->atomic(side, a->s, a->t, h->offset);
	else
		t = side->ops->write(side, a->s, a->t, h->offset,
			b->is_again ? 0 : h->bytes);
	if (h->op == PLAIN_PUT && h->operand && !b->is_again)
		t = side->ops->write(side, a->s, a->t, h->operand - 1, 8);
	plain_post(a, t, ENGINE_WRITTEN, id);
}

static void take_request(
	const struct nic_at *a, packet_id id, struct plain_buffer *b)
{
	struct plain_node *n = a->node;
	struct plain_header *h = &b->h;
	uint32_t src = a->nic->net->packets[id].src;
	enum seen_answer was = SEEN_NOT;

	h->status = (uint8_t)check(n, h);
	if (h->op != PLAIN_GET) {
		was = seen_find(&n->seen, src, h->channel, h->number);
		if (was == SEEN_NOT)
			seen_add(&n->seen, src, h->channel, h->number,
				!h->status);
		if (was == SEEN_NOT && h->op > PLAIN_GET)
			seen_note(&n->seen, src, h->channel, NULL);
	}
	/* what was refused stays so */
	if (was == SEEN_NO && !h->status)
		h->status = PLAIN_BAD_KEY;
	b->is_again = was != SEEN_NOT;
	if (h->status || !h->bytes)
		answer(a, id);
	else
		execute(a, id, b);
}

void plain_receive_on_read(const struct nic_at *a, const struct side_read *x)
{
	struct plain_buffer *b = plain_buffer(&a->nic->net->packets[x->id]);
	struct side *side = plain_of(a)->side;

	plain_charge(a, x->id, CAUSE_MEMORY_READ, a->t);
	if (x->what == READ_WORD) {
		plain_post(a, side->ops->write(side, a->s, a->t, x->at, 8),
			ENGINE_WRITTEN, x->id);
		return;
	}
	if (!host_read(a->nic->host, a->s, x->at, b->data, x->bytes))
		b->h.status = PLAIN_OUT_OF_BOUNDS;
	answer(a, x->id);
}

static uint64_t changed(const struct plain_header *h, uint64_t word)
{
	switch (h->op) {
	case PLAIN_ADD:
		return word + h->operand;
	case PLAIN_COMPARE_SWAP:
		return word == h->compare ? h->operand : word;
	case PLAIN_AND:
		return word & h->operand;
	case PLAIN_OR:
		return word | h->operand;
	case PLAIN_XOR:
		return word ^ h->operand;
	case PLAIN_MAX:
		return word > h->operand ? word : h->operand;
	default:
		return h->operand;
	}
}

/* In one instant. */
static bool write_bytes(const struct nic_at *a, struct plain_buffer *b)
{
	struct host *host = a->nic->host;
	struct plain_header *h = &b->h;
	uint64_t old, new;

	if (h->op <= PLAIN_GET)
		return host_write(host, a->w, a->s, a->t, h->offset, b->data,
			       h->bytes) &&
		       (!h->operand ||
			       host_add(host, a->w, a->s, a->t, h->operand - 1,
				       -(uint64_t)h->bytes));
	if (!host_read(host, a->s, h->offset, &old, 8))
		return false;
	new = changed(h, old);
	h->operand = old;
	return host_write(host, a->w, a->s, a->t, h->offset, &new, 8);
}

static void on_delivered(const struct nic_at *a, packet_id id)
{
	if (a->nic->on_delivered)
		a->nic->on_delivered(
			a->nic->arg, a->s, &a->nic->net->packets[id], a->t);
}

static void request_written(
	const struct nic_at *a, packet_id id, struct plain_buffer *b)
{
	struct seen *seen = &plain_here(a)->seen;
	struct plain_header *h = &b->h;
	uint32_t src = a->nic->net->packets[id].src;

	plain_charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	if (!b->is_again) {
		if (!write_bytes(a, b)) {
			h->status = PLAIN_OUT_OF_BOUNDS;
			seen_add(seen, src, h->channel, h->number, false);
		}
		if (h->op != PLAIN_PUT)
			seen_note(seen, src, h->channel, &h->operand);
		else
			close_book(a, id, !h->status);
		on_delivered(a, id);
	} else if (h->op != PLAIN_PUT &&
		   !seen_noted(seen, src, h->channel, &h->operand)) {
		/* it is being done now, and will be answered */
		finish(a, id, false);
		return;
	}
	answer(a, id);
}

/* --- answers --- */

static void take_answer(
	const struct nic_at *a, packet_id id, struct plain_buffer *b)
{
	struct plain_node *n = a->node;
	struct plain_header *h = &b->h;
	const struct plain_sending *s =
		slots_find(&n->resend.items, h->sending);
	struct side *side = plain_of(a)->side;
	const struct plain_work *x;
	uint32_t work;

	/* to what has been answered before */
	if (!s || s->copy->h.number != h->number ||
		s->copy->h.channel != h->channel) {
		finish(a, id, false);
		return;
	}
	work = s->work;
	x = slots_at(&n->works, work);
	h->offset = x->from + (s->copy->h.offset - x->e.offset);
	if (h->op == PLAIN_GET)
		h->operand = x->e.operand;
	resend_answered(a, &n->resend, h->sending);
	plain_send_answered(a, h->sending);
	h->sending = work;
	if (plain_data(h)) {
		plain_post(a,
			side->ops->write(side, a->s, a->t, h->offset, h->bytes),
			ENGINE_WRITTEN, id);
		return;
	}
	plain_send_done(a, work, h->status, h->op > PLAIN_GET ? h->operand : 0);
	finish(a, id, h->op > PLAIN_GET && !h->status);
}

void plain_receive_on_input(const struct nic_at *a, packet_id id)
{
	struct plain_buffer *b = plain_buffer(&a->nic->net->packets[id]);

	plain_charge(a, id, CAUSE_RECEIVER, a->t);
	if (plain_book(a))
		book_note(plain_book(a), id, "node %u, card", a->s);
	if (b->flips.n && !is_sound(a->node, b)) {
		plain_here(a)->torn++;
		finish(a, id, false);
	} else if (b->h.is_answer) {
		take_answer(a, id, b);
	} else {
		take_request(a, id, b);
	}
}

void plain_receive_on_written(const struct nic_at *a, packet_id id)
{
	struct plain_buffer *b = plain_buffer(&a->nic->net->packets[id]);
	bool is_there;

	if (!b->h.is_answer) {
		request_written(a, id, b);
		return;
	}
	plain_charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	is_there = write_bytes(a, b);
	on_delivered(a, id);
	plain_send_done(
		a, b->h.sending, is_there ? PLAIN_OK : PLAIN_OUT_OF_BOUNDS, 0);
	finish(a, id, is_there);
}
