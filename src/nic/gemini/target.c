/* Arriving packets: requests at their target, responses at the sender of the
 * request. */
#include <string.h>

#include "nic/gemini/card.h"

static void release(const struct nic_at *a, packet_id id)
{
	net_release(a->nic->net, a->w, a->s, gem_load(a, id)->fifo,
		a->nic->net->packets[id].chunks, a->t);
}

/* Frees a packet; is_done: its bytes are in memory. */
static void finish(const struct nic_at *a, packet_id id, bool is_done)
{
	if (nic_has_book(a))
		gem_account_end(a, id, is_done);
	gem_here(a)->inside--;
	if (gem_load(a, id)->is_held)
		release(a, id);
	nic_give(a->nic, a->w, id);
}

/* --- events at the target --- */

static uint64_t remote_key(uint32_t src, uint32_t ssid)
{
	return (uint64_t)src << 32 | ssid;
}

struct gem_remote *gem_target_remote(
	struct gem_node *n, uint32_t src, uint32_t ssid, uint32_t *id)
{
	struct gem_remote *x;

	*id = index_find(&n->remote, remote_key(src, ssid));
	if (*id)
		return slots_at(&n->remotes, *id);
	*id = slots_take(&n->remotes);
	x = slots_at(&n->remotes, *id);
	x->src = src;
	x->ssid = ssid;
	index_add(&n->remote, remote_key(src, ssid), *id);
	return x;
}

void gem_target_forget(struct gem_node *n, uint32_t id)
{
	const struct gem_remote *x = slots_at(&n->remotes, id);

	index_remove(&n->remote, remote_key(x->src, x->ssid));
	slots_give(&n->remotes, id);
}

/* Longer than any request takes. */
static sim_time longest(const struct nic_at *a)
{
	return 2 * gem_params(a)->timeout;
}

void gem_target_watch(const struct nic_at *a, struct gem_remote *x)
{
	struct gem_node *n = a->node;

	x->last = a->t;
	if (n->is_watching || !n->is_faulty)
		return;
	n->is_watching = true;
	gem_post(a, a->t + longest(a), GEM_OVERDUE, 0);
}

/* Its sender reports the lost packets. */
static void give_up(const struct nic_at *a, uint32_t id)
{
	gem_bte_close(a, slots_at(&gem_here(a)->remotes, id), GEMINI_TIMED_OUT);
	gem_target_forget(a->node, id);
}

void gem_target_on_overdue(const struct nic_at *a, uint32_t none)
{
	struct gem_node *n = a->node;
	sim_time next = a->t;

	(void)none;
	for (uint32_t i = 1; i <= n->remotes.room; i++) {
		const struct gem_remote *x = slots_find(&n->remotes, i);

		if (!x)
			continue;
		if (!n->is_quiet && a->t - x->last >= longest(a))
			give_up(a, i);
		else if (x->last < next)
			next = x->last;
	}
	n->is_watching = n->remotes.used;
	if (n->is_watching)
		gem_post(a, (n->is_quiet ? a->t : next) + longest(a),
			GEM_OVERDUE, 0);
}

void gem_target_extend(const struct nic_at *a)
{
	struct gem_node *n = a->node;

	for (uint32_t i = 1; i <= n->remotes.room; i++) {
		struct gem_remote *x = slots_find(&n->remotes, i);

		if (x)
			x->last = a->t;
	}
}

static uint32_t remote_cq(const struct nic_at *a, const struct gem_load *l)
{
	const struct range *r;

	if (l->remote_cq != GEMINI_CQ_OF_HANDLE)
		return l->remote_cq;
	r = ranges_find(&gem_here(a)->handles, l->handle);
	return r ? gem_cq_of_handle(a, r->flags) : GEMINI_NO_CQ;
}

/* Counts a packet; false until it was the last one.  Where the table is full,
 * the transaction's sender is to say when that was. */
static bool count(
	const struct nic_at *a, uint32_t src, struct gem_load *l, bool *is_bad)
{
	struct gem_node *n = a->node;
	uint32_t id = index_find(&n->remote, remote_key(src, l->ssid));
	struct gem_remote *x;

	if (l->is_final) {
		if (id)
			gem_target_forget(n, id);
		return true;
	}
	if (!id && n->remotes.used >= (uint32_t)gem_params(a)->rmt) {
		l->is_uncounted = true;
		n->rmt_misses++;
		return false;
	}
	x = id ? slots_at(&n->remotes, id)
	       : gem_target_remote(n, src, l->ssid, &id);
	gem_target_watch(a, x);
	x->came++;
	x->is_bad |= *is_bad;
	*is_bad = x->is_bad;
	x->count = l->count ? l->count : x->count;
	if (x->came != x->count)
		return false;
	gem_target_forget(n, id);
	return true;
}

/* Another packet of a transaction that wants an event has come; there is none
 * where any of them was refused. */
static void deliver(const struct nic_at *a, uint32_t src, struct gem_load *l)
{
	struct gem_node *n = a->node;
	bool is_bad = l->status;

	if (l->op == GEMINI_SEND)
		gem_bte_deliver(a, src, l);
	if (l->remote_cq == GEMINI_NO_CQ)
		return;
	if ((l->count != 1 || l->is_final) && !count(a, src, l, &is_bad))
		return;
	if (!is_bad &&
		!gem_cq_write(a, remote_cq(a, l), l->remote_data, GEMINI_OK))
		l->status = GEMINI_BAD_QUEUE;
	l->event_at = n->event_at;
}

/* --- requests --- */

static uint32_t check(const struct nic_at *a, uint32_t src, struct gem_load *l)
{
	bool is_atomic = gem_is_atomic(l->op);
	uint32_t right = is_atomic	       ? GEMINI_READ | GEMINI_WRITE
			 : l->op == GEMINI_PUT ? GEMINI_WRITE
					       : GEMINI_READ;
	const struct range *r;
	uint32_t status;

	if (gem_here(a)->is_faulty &&
		!gem_harm_read(a, (uint64_t)l->handle << 32 | l->ssid))
		return GEMINI_BAD_MEMORY; /* of its handle or buffer */
	if (l->op == GEMINI_SEND && l->status != GEMINI_BAD_MEMORY)
		return gem_bte_match(a, src, l);
	if (l->status) /* it could not be read */
		return l->status;
	r = ranges_find(&gem_here(a)->handles, l->handle);
	if (l->handle >= GEMINI_HANDLES)
		return GEMINI_BAD_HANDLE;
	if (r && r->tag != l->tag)
		return GEMINI_NO_RIGHT;
	status = ranges_look_up(&gem_here(a)->handles, l->handle, l->offset,
		l->bytes, right, right, &l->offset);
	return !status && is_atomic && l->offset % 8 ? GEMINI_UNALIGNED
						     : status;
}

/* The request itself goes back; in books the response has a page of its own. */
static void turn_round(
	const struct nic_at *a, packet_id id, uint32_t format, uint32_t bytes)
{
	struct gem_load *l = gem_load(a, id);
	uint32_t chunks = a->nic->net->packets[id].chunks, fifo = l->fifo;
	bool is_held = l->is_held;

	gem_address(a, id, a->nic->net->packets[id].src, format, bytes);
	l->is_response = true;
	l->remote_cq = GEMINI_NO_CQ;
	l->offset = 0;
	l->bytes = bytes;
	gem_send(a, id);
	gem_here(a)->inside--;
	if (is_held)
		net_release(a->nic->net, a->w, a->s, fifo, chunks, a->t);
}

static void respond(const struct nic_at *a, packet_id id)
{
	const struct gem_load *l = gem_load(a, id);
	bool has_data =
		(l->op == GEMINI_GET || l->op == GEMINI_FETCH) && !l->status;
	uint32_t format = l->status  ? GEM_ERROR
			  : has_data ? GEM_DATA
				     : GEM_DONE;
	uint32_t bytes = has_data ? l->bytes : 0;
	struct gem_load *r;
	packet_id back;

	gem_here(a)->responses++;
	if (!nic_has_book(a)) {
		turn_round(a, id, format, bytes);
		return;
	}
	back = gem_packet(a, a->nic->net->packets[id].src, format, bytes, true);
	r = gem_load(a, back);
	r->op = l->op;
	r->status = l->status;
	r->request = l->request;
	r->round = l->round;
	r->is_uncounted = l->is_uncounted;
	r->bytes = bytes;
	memcpy(r->data, l->data, bytes);
	gem_account_response(a, id, back, has_data);
	gem_send(a, back);
	finish(a, id, !l->status);
}

static void tell_delivered(const struct nic_at *a, packet_id id)
{
	if (a->nic->on_delivered)
		a->nic->on_delivered(
			a->nic->arg, a->s, &a->nic->net->packets[id], a->t);
}

void gem_target_done(const struct nic_at *a, packet_id id)
{
	nic_charge(a, id, CAUSE_ENGINE, a->t);
	deliver(a, a->nic->net->packets[id].src, gem_load(a, id));
	tell_delivered(a, id);
	respond(a, id);
}

static void on_read(const struct nic_at *a, const struct side_read *r)
{
	struct gem_load *l = gem_load(a, r->id);

	if (!host_read(a->nic->host, a->s, r->at, l->data, r->bytes))
		l->status = GEMINI_OUT_OF_BOUNDS;
	nic_charge(a, r->id, CAUSE_MEMORY_READ, a->t);
	respond(a, r->id);
}

static void touch(const struct nic_at *a, const struct gem_load *l)
{
	if (gem_here(a)->amo)
		gem_amo_touch(a, l->offset, l->bytes);
}

static void execute(const struct nic_at *a, packet_id id)
{
	struct side *side = gem_of(a)->side;
	struct gem_load *l = gem_load(a, id);
	uint32_t src = a->nic->net->packets[id].src;

	l->status = (uint8_t)check(a, src, l);
	if (l->status || !l->bytes) {
		deliver(a, src, l);
		respond(a, id);
	} else if (gem_is_atomic(l->op)) {
		gem_amo_execute(a, id);
	} else if (l->op == GEMINI_GET) {
		touch(a, l);
		side_reads_begin(a, &gem_here(a)->reads, l->offset, l->bytes,
			on_read, NULL, id);
	} else {
		touch(a, l);
		gem_post(a,
			side->ops->write(side, a->s, a->t, l->offset, l->bytes),
			GEM_WRITTEN, id);
		/* the event follows the bytes on the bus */
		deliver(a, src, l);
	}
}

/* --- responses --- */

static void take_response(const struct nic_at *a, packet_id id)
{
	struct gem_node *n = a->node;
	struct side *side = gem_of(a)->side;
	struct gem_load *l = gem_load(a, id);
	const struct gem_line *x = slots_find(&n->lines, l->request);

	if (!x || x->round != l->round) {
		n->late++;
		finish(a, id, false);
		return;
	}
	if (n->is_faulty &&
		!gem_harm_read(a, (uint64_t)l->request << 32 | l->round)) {
		l->status = GEMINI_BAD_MEMORY; /* its place in the ORB */
		l->bytes = 0;
	}
	((struct gem_transaction *)slots_at(&n->transactions, x->transaction))
		->is_uncounted |= l->is_uncounted;
	if (l->bytes) {
		l->offset = x->here;
		touch(a, l);
		gem_post(a,
			side->ops->write(side, a->s, a->t, l->offset, l->bytes),
			GEM_WRITTEN, id);
		gem_fma_answered(a, l->request, l->round, l->status);
		l->event_at = n->event_at;
	} else {
		gem_fma_answered(a, l->request, l->round, l->status);
		finish(a, id, false);
	}
}

/* Responses are always taken in.  Requests beyond nic.pending keep their places
 * in the reception FIFO until their responses have left. */
void gem_target_on_in(const struct nic_at *a, packet_id id)
{
	struct gem_load *l = gem_load(a, id);
	const struct gem_node *n = a->node;

	l->is_held =
		!l->is_response && n->inside + (a->t < n->counted_until) >
					   (uint32_t)gem_params(a)->pending;
	if (!l->is_held)
		release(a, id);
	nic_charge(a, id, CAUSE_TRANSLATION, a->t);
	if (l->is_response)
		take_response(a, id);
	else
		execute(a, id);
}

static bool may_be_taken(const struct nic_at *a, packet_id id)
{
	const struct gem_node *n = a->node;

	return gem_load(a, id)->is_response ||
	       (!n->out.line[gem_of(a)->response_fifo].first &&
		       n->inside - n->line.n <
			       (uint32_t)gem_params(a)->pending);
}

/* A request waits while responses before it cannot leave, and all behind it
 * wait with it. */
void gem_target_on_line(const struct nic_at *a, packet_id id)
{
	struct ring *line = &gem_here(a)->line;

	if (id != NO_PACKET)
		*(packet_id *)ring_push(line) = id;
	while (line->n && may_be_taken(a, *(packet_id *)ring_at(line, 0))) {
		id = *(packet_id *)ring_pop(line);
		gem_target_on_in(a, id);
	}
}

void gem_target_on_written(const struct nic_at *a, packet_id id)
{
	struct gem_load *l = gem_load(a, id);

	if (!host_write(a->nic->host, a->w, a->s, a->t, l->offset, l->data,
		    l->bytes))
		l->status = GEMINI_OUT_OF_BOUNDS;
	nic_charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	tell_delivered(a, id);
	if (l->is_response)
		finish(a, id, !l->status);
	else
		respond(a, id);
}
