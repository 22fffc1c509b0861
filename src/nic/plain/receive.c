#include "nic/plain/card.h"

/* Whether a request has the bytes that its operation has. */
static bool is_whole(const struct ask_header *h, uint32_t most)
{
	uint32_t bytes = plain_bytes(h);

	if (h->op == PLAIN_PUT)
		return bytes == h->bytes;
	return !h->bytes && (h->op == PLAIN_GET ? bytes <= most : bytes == 8);
}

bool plain_receive_fits(
	const struct ask_header *answer, const struct ask_header *request)
{
	uint32_t bytes = request->op == PLAIN_GET && !answer->status
				 ? plain_bytes(request)
				 : 0;

	return answer->op == request->op && answer->bytes == bytes &&
	       answer->status < PLAIN_STATUSES;
}

/* Addresses take the place of offsets. */
static uint32_t check(
	const struct ranges *keys, struct ask_header *h, uint32_t most)
{
	uint32_t right = h->op == PLAIN_PUT   ? PLAIN_WRITE
			 : h->op == PLAIN_GET ? PLAIN_READ
					      : PLAIN_ATOMIC;
	uint32_t key = (uint32_t)h->word[WORD_KEY];
	uint64_t *at = &h->word[WORD_AT], *count = &h->word[WORD_OPERAND];
	uint32_t status = ranges_look_up(
		keys, key, *at, plain_bytes(h), right, right, at);
	bool is_odd = h->op >= PLAIN_WORD && *at % 8;

	if (h->op == PLAIN_PUT && *count && !status) {
		status = ranges_look_up(
			keys, key, *count - 1, 8, right, right, count);
		is_odd = (*count)++ % 8;
	}
	if (!status && (h->op >= PLAIN_OPS || is_odd || !is_whole(h, most)))
		status = PLAIN_BAD_ENTRY;
	return status;
}

/* All is done: an answer to a put carries nothing. */
static void answer(const struct nic_at *a, packet_id id, struct ask *x)
{
	uint32_t came = x->h.bytes;

	x->is_named &= x->h.op == PLAIN_GET && !x->h.status;
	x->h.bytes =
		x->h.op == PLAIN_GET && !x->h.status ? plain_bytes(&x->h) : 0;
	asks_answer(a, id, link_others(&a->nic->net->link, came));
}

static void on_read(const struct nic_at *a, const struct side_read *r)
{
	struct ask *x = ask_of(a, r->id);
	struct side *side = plain_of(a)->side;

	nic_charge(a, r->id, CAUSE_MEMORY_READ, a->t);
	if (x->h.op >= PLAIN_WORD) {
		plain_post_written(a,
			side->ops->write(side, plain_place(a), a->t, r->at, 8),
			r->id);
		return;
	}
	if (!asks_read(a, &x, r->at, plain_bytes(&x->h)))
		x->h.status = PLAIN_OUT_OF_BOUNDS;
	a->nic->net->packets[r->id].load = payload_to_load(x);
	answer(a, r->id, x);
}

/* Requests use the side; repeated ones follow the original there. */
static void execute(const struct nic_at *a, packet_id id, const struct ask *x)
{
	struct side *side = plain_of(a)->side;
	const uint64_t *word = x->h.word;
	bool is_word = x->h.op >= PLAIN_WORD && !x->is_again;
	sim_time t;

	if (x->h.op == PLAIN_GET || (is_word && !side->ops->atomic)) {
		uint32_t bytes = plain_bytes(&x->h);
		uint32_t first = plain_first(a, bytes);

		side_reads_begin(a, &plain_card(a)->reads, word[WORD_AT], first,
			on_read, NULL, id);
		plain_read_rest(a, word[WORD_AT], first, bytes);
		return;
	}
	if (is_word)
		t = side->ops->atomic(
			side, plain_place(a), a->t, word[WORD_AT]);
	else
		t = plain_write(a, word[WORD_AT], x->is_again ? 0 : x->h.bytes);
	if (x->h.op == PLAIN_PUT && word[WORD_OPERAND] && !x->is_again)
		t = side->ops->write(
			side, plain_place(a), a->t, word[WORD_OPERAND] - 1, 8);
	plain_post_written(a, t, id);
}

void plain_receive_asked(const struct nic_at *a, packet_id id, struct ask *x)
{
	uint32_t src = a->nic->net->packets[id].src;
	bool was_refused = x->h.status;
	uint32_t status = check(
		&plain_here(a)->keys, &x->h, a->nic->net->link.max_payload);

	if (x->h.op >= PLAIN_WORD && !x->is_again)
		seen_note(&asks_of(a)->seen, src, x->h.channel, NULL);
	/* a repeated request gets the same answer */
	if (x->is_again && (!was_refused || !status))
		status = was_refused ? PLAIN_BAD_KEY : PLAIN_OK;
	x->h.status = (uint8_t)status;
	if (x->h.status || !plain_bytes(&x->h))
		answer(a, id, x);
	else
		execute(a, id, x);
}

/* In one instant.  The operand of an atomic becomes what its word was. */
static bool write_bytes(const struct nic_at *a, packet_id id, struct ask *x)
{
	struct host *host = a->nic->host;
	uint64_t *operand = &x->h.word[WORD_OPERAND], at = x->h.word[WORD_AT];
	uint64_t old = 0, new;
	bool done;

	nic_charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	if (x->h.op <= PLAIN_GET) {
		done = asks_write(a, x, at);
		if (done && *operand)
			done = host_add(host, a->w, a->s, a->t, *operand - 1,
				-(uint64_t)x->h.bytes);
	} else {
		done = host_read(host, a->s, at, &old, 8);
		new = atomic_apply(x->h.op - PLAIN_WORD, old, *operand,
			x->h.word[WORD_BOUND], operand);
		done = done && host_write(host, a->w, a->s, a->t, at, &new, 8);
	}
	if (a->nic->on_delivered)
		a->nic->on_delivered(
			a->nic->arg, a->s, &a->nic->net->packets[id], a->t);
	return done;
}

static void request_written(const struct nic_at *a, packet_id id, struct ask *x)
{
	struct seen *seen = &asks_of(a)->seen;
	uint32_t src = a->nic->net->packets[id].src;
	uint64_t *value = &x->h.word[WORD_OPERAND];

	if (!x->is_again && !write_bytes(a, id, x))
		x->h.status = PLAIN_OUT_OF_BOUNDS;
	if (x->h.op == PLAIN_PUT) {
		nic_account_end(a, id, !x->h.status && !x->is_again);
	} else if (!x->is_again) {
		seen_note(seen, src, x->h.channel, value);
	} else if (!seen_noted(seen, src, x->h.channel, value)) {
		/* it is being done now, and will be answered */
		asks_finish(a, id, false);
		return;
	}
	answer(a, id, x);
}

void plain_receive_answered(const struct nic_at *a, packet_id id, struct ask *x,
	struct ask_item *item)
{
	const struct plain_work *w = slots_at(
		&plain_here(a)->works, ((struct plain_sending *)item)->work);
	struct ask_header *h = &x->h;
	bool is_atomic = h->op >= PLAIN_WORD;

	/* where a get's bytes go, and are counted */
	h->word[WORD_AT] =
		w->from + (item->copy->h.word[WORD_AT] - w->e.offset);
	if (!is_atomic)
		h->word[WORD_OPERAND] = w->e.operand;
	h->id = plain_send_ended(a, h->id);
	if (h->bytes) {
		plain_post_written(
			a, plain_write(a, h->word[WORD_AT], h->bytes), id);
		return;
	}
	plain_send_done(
		a, h->id, h->status, is_atomic ? h->word[WORD_OPERAND] : 0);
	asks_finish(a, id, is_atomic && !h->status);
}

void plain_receive_on_written(const struct nic_at *a, packet_id id)
{
	struct ask *x = ask_of(a, id);
	bool is_done;

	if (!x->h.is_answer) {
		request_written(a, id, x);
		return;
	}
	is_done = write_bytes(a, id, x);
	plain_send_done(
		a, x->h.id, is_done ? PLAIN_OK : PLAIN_OUT_OF_BOUNDS, 0);
	asks_finish(a, id, is_done);
}
