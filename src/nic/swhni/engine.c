/*
 * An engine's decisions.  It takes descriptors from the queues in turn, reads
 * the bytes of messages ahead, issues messages, and cuts one packet after the
 * other: of fast messages first, then of short ones, then of others; in each
 * class of the queues in turn, one packet each.  A queue's messages of a class
 * are cut in order; what is not there yet keeps nobody else waiting.
 *
 * To issue a message the engine stops until all that it has cut has left the
 * ports, and for nic.issue from then on.  That is counted at the ports: the
 * packets that follow pass the way to them meanwhile.
 */
#include "nic/swhni/card.h"

#include "base/mem.h"

enum { ANSWERS = SW_NO_QUEUE }; /* in place of a queue */

static struct sw_turns *turns_of(struct sw_engine *e, uint32_t queue)
{
	return queue == ANSWERS ? &e->answers : &sw_queue(e, queue)->turns;
}

static uint32_t queue_of(const struct sw_message *m)
{
	return m->role == SW_ANSWER || m->role == SW_UNIT ? ANSWERS : m->queue;
}

/* --- lists --- */

void sw_engine_line(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);
	struct sw_turns *x = turns_of(e, queue_of(m));

	m->is_lined = true;
	x->n_uncut++;
	slots_push(&e->messages.items, &x->uncut[m->class], id);
	if (x->in_run >> m->class & 1)
		return;
	x->in_run |= (uint8_t)(1u << m->class);
	e->classes |= (uint8_t)(1u << m->class);
	*(uint32_t *)ring_push(&e->run[m->class]) = queue_of(m);
}

/* Takes the i-th item out of a ring of numbers. */
static uint32_t take_out(struct ring *r, uint32_t i)
{
	uint32_t x = *(uint32_t *)ring_at(r, i);

	for (; i; i--)
		*(uint32_t *)ring_at(r, i) = *(uint32_t *)ring_at(r, i - 1);
	ring_pop(r);
	return x;
}

static void leave_run(struct sw_engine *e, uint32_t class, uint32_t queue)
{
	for (uint32_t i = 0; i < e->run[class].n; i++)
		if (*(uint32_t *)ring_at(&e->run[class], i) == queue) {
			take_out(&e->run[class], i);
			break;
		}
	if (!e->run[class].n)
		e->classes &= (uint8_t) ~(1u << class);
}

/* A queue that has entries waits for its turn to have one taken. */
static void await_taking(struct sw_engine *e, uint32_t queue)
{
	struct sw_queue *q = sw_queue(e, queue);

	if (q->is_waiting || !q->q.entries.n || q->turns.n_uncut >= SW_UNCUT)
		return;
	q->is_waiting = true;
	*(uint32_t *)ring_push(&e->fetched) = queue;
}

void sw_engine_unline(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);
	struct sw_turns *x = turns_of(e, queue_of(m));

	if (!m->is_lined)
		return;
	m->is_lined = false;
	x->n_uncut--;
	x->ahead -= m->asked - m->cut;
	e->ahead -= m->asked - m->cut;
	slots_remove(&e->messages.items, &x->uncut[m->class], id);
	if (!x->uncut[m->class].first) {
		x->in_run &= (uint8_t) ~(1u << m->class);
		leave_run(e, m->class, queue_of(m));
	}
	if (queue_of(m) != ANSWERS)
		await_taking(e, m->queue);
}

/* --- taking descriptors --- */

static bool has_place(const struct nic_at *a, const struct sw_engine *e)
{
	return e->n_messages < (uint32_t)sw_params(a)->messages;
}

uint32_t sw_engine_place(
	const struct nic_at *a, uint32_t engine, enum sw_role role)
{
	struct sw_engine *e = sw_engine(a, engine);
	bool is_answer = role == SW_ANSWER;
	uint32_t id;
	struct sw_message *m;

	if (!has_place(a, e) && (!is_answer || e->n_answers))
		return 0;
	e->n_messages++;
	e->n_answers += is_answer;
	id = resend_take(&e->messages);
	m = sw_message(e, id);
	m->role = (uint8_t)role;
	m->generation = ++e->generation;
	m->queue = SW_NO_QUEUE;
	m->account.taken = a->t;
	return id;
}

bool sw_engine_knows(const struct nic_at *a, const struct swhni_descriptor *d)
{
	uint32_t ends = d->flags & (SWHNI_EVENT | SWHNI_NOTICE | SWHNI_REPLY);

	return !(d->flags & ~SWHNI_FLAGS) && !(ends & (ends - 1)) &&
	       d->node < a->nic->n_nodes && d->engine < SWHNI_ENGINES &&
	       d->port <= sw_of(a)->n_ports;
}

static bool is_known(const struct nic_at *a, const struct swhni_descriptor *d)
{
	return d->type < SWHNI_COLLECTIVE && !(d->flags & SWHNI_ON_CHIP) &&
	       sw_engine_knows(a, d);
}

/* What its own node can say of a descriptor. */
static enum swhni_error check(
	const struct nic_at *a, uint32_t engine, struct sw_message *m)
{
	const struct swhni_descriptor *d = &m->d;
	bool is_read = d->type == SWHNI_READ;
	uint32_t most = d->type >= SWHNI_SEND ? SWHNI_MESSAGE : SWHNI_MOST;

	if (!is_known(a, d) || d->bytes > most || (is_read && !d->bytes))
		return SWHNI_BAD_ENTRY;
	if (is_read && d->flags & (SWHNI_EVENT | SWHNI_NOTICE) &&
		!sw_interface(a->node, d->interface))
		return SWHNI_BAD_INTERFACE;
	if (!d->bytes)
		return SWHNI_OK;
	return sw_broker_look_up(a, engine, m);
}

static uint8_t class_of(const struct swhni_descriptor *d)
{
	if (d->flags & SWHNI_FAST)
		return 0;
	return d->bytes <= SWHNI_MESSAGE ? 1 : 2;
}

static void account(const struct nic_at *a, struct sw_message *m,
	const struct workq_birth *b)
{
	static const uint8_t kinds[] = {
		[SWHNI_WRITE] = BOOK_PUT,
		[SWHNI_READ] = BOOK_GET,
		[SWHNI_SEND] = BOOK_SEND,
		[SWHNI_DATAGRAM] = BOOK_SEND,
	};
	uint32_t n = sw_n_packets(a, m->d.bytes);

	if (!a->nic->net->book)
		return;
	m->account.birth = *b;
	m->account.message = book_message(
		a->nic->net->book, a->s, kinds[m->d.type], n, b->at);
}

/* What a virtual machine names is checked on the way, beside all other work. */
static void check_vm(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	m->is_checking = true;
	turns_of(e, m->queue)->n_uncut++;
	sw_post(a, a->t + sw_params(a)->vm, engine, SW_CHECKED, id);
}

void sw_engine_on_checked(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	m->is_checking = false;
	m->account.checked = a->t;
	turns_of(e, m->queue)->n_uncut--;
	if (m->is_over)
		sw_engine_settle(a, engine, id);
	else
		sw_engine_line(a, engine, id);
	sw_engine_turn(a, engine);
}

/* A message of a descriptor. */
static void begin(const struct nic_at *a, uint32_t engine, uint32_t queue,
	const struct swhni_descriptor *d, const struct workq_birth *b)
{
	struct sw_engine *e = sw_engine(a, engine);
	uint32_t id = sw_engine_place(a, engine, SW_OWN);
	struct sw_message *m = sw_message(e, id);
	enum swhni_error error;

	m->d = *d;
	m->queue = queue;
	m->interface = sw_queue(e, queue)->interface;
	m->job = sw_any_interface(a->node, m->interface)->setup.job;
	error = sw_queue(e, queue)->q.is_stopped ? SWHNI_STOPPED
						 : check(a, engine, m);
	if (d->type == SW_CANCELLED && d->node == SWHNI_NO_NODE)
		error = SWHNI_CANCELLED;
	if (error) {
		sw_engine_end(a, engine, id, error);
		return;
	}
	m->item.dst = d->node;
	m->class = class_of(d);
	m->n_packets = sw_n_packets(a, d->bytes);
	sw_send_begin(m, d->type == SWHNI_READ ? 1 : m->n_packets);
	account(a, m, b);
	sw_here(a)->messages++;
	if (sw_any_interface(a->node, m->interface)->setup.vm)
		check_vm(a, engine, id);
	else
		sw_engine_line(a, engine, id);
}

/* Takes the next entry of a queue. */
static void take_one(const struct nic_at *a, uint32_t engine, uint32_t queue)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct workq_birth b;
	struct swhni_descriptor d =
		*(const struct swhni_descriptor *)workqs_take(
			a, &e->queues, queue, &b);

	if (d.type != SWHNI_COLLECTIVE || sw_queue(e, queue)->q.is_stopped)
		begin(a, engine, queue, &d, &b);
	else
		sw_of(a)->unit->post(a, engine, queue,
			(const struct swhni_collective *)&d, &b);
}

static void take(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);

	while (e->fetched.n && has_place(a, e)) {
		uint32_t queue = *(uint32_t *)ring_pop(&e->fetched);
		struct sw_queue *q = sw_queue(e, queue);

		q->is_waiting = false;
		if (!q->q.entries.n || q->turns.n_uncut >= SW_UNCUT)
			continue;
		take_one(a, engine, queue);
		await_taking(e, queue);
	}
}

/* --- cancelling --- */

/* Entries that were fetched and not taken. */
static void cancel_entries(struct sw_queue *q, uint64_t id)
{
	for (uint32_t i = 0; i < q->q.entries.n; i++) {
		struct swhni_descriptor *d = ring_at(&q->q.entries, i);

		if (d->id != id)
			continue;
		d->type = SW_CANCELLED;
		d->node = SWHNI_NO_NODE;
	}
}

/* Messages that were taken and not begun. */
static void cancel_messages(
	const struct nic_at *a, uint32_t engine, uint32_t queue, uint64_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct slots *items = &e->messages.items;

	for (uint32_t i = 1; i <= items->room; i++) {
		const struct sw_message *m = slots_find(items, i);

		if (m && m->role == SW_OWN && m->queue == queue &&
			m->d.id == id && (m->is_lined || m->is_checking) &&
			!m->cut && !m->is_over)
			sw_engine_end(a, engine, i, SWHNI_CANCELLED);
	}
}

/* A wish lasts until all entries that were written before it are here. */
static void apply_cancels(
	const struct nic_at *a, uint32_t engine, uint32_t queue)
{
	struct sw_engine *e = sw_engine(a, engine);

	for (uint32_t i = e->cancels.n; i--;) {
		struct sw_cancel c = *(struct sw_cancel *)ring_pop(&e->cancels);
		struct sw_queue *q = sw_queue(e, c.queue);

		if (c.is_heard && c.queue == queue)
			cancel_entries(q, c.id);
		if (!c.is_heard || (int32_t)(c.until - q->q.fetched) > 0)
			*(struct sw_cancel *)ring_push(&e->cancels) = c;
	}
}

void sw_engine_on_cancel(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_cancel *c = ring_at(&e->cancels, 0);

	for (uint32_t i = 1; c->is_heard; i++)
		c = ring_at(&e->cancels, i);
	c->is_heard = true;
	c->until = sw_queue(e, c->queue)->q.written;
	if (c->goes_on) {
		sw_transport_go_on(a, engine, c->queue, c->id);
		c->id = UINT64_MAX; /* no descriptor's */
	}
	cancel_messages(a, engine, c->queue, c->id);
	apply_cancels(a, engine, c->queue);
	sw_engine_turn(a, engine);
}

void sw_engine_fetched(const struct nic_at *a, uint32_t engine, uint32_t queue)
{
	struct sw_engine *e = sw_engine(a, engine);

	if (e->cancels.n)
		apply_cancels(a, engine, queue);
	await_taking(e, queue);
	sw_engine_turn(a, engine);
}

/* --- reading ahead --- */

static bool is_all_asked(const struct sw_message *m)
{
	return m->asked == m->todo;
}

/*
 * The first message of a queue that is not all read.  While it waits for a
 * translation, those after it are not read: they would fill what may be read
 * ahead, and are cut only after it.
 */
static uint32_t unread(struct sw_engine *e, uint32_t class, uint32_t queue)
{
	uint32_t id = turns_of(e, queue)->uncut[class].first;

	while (id && is_all_asked(sw_message(e, id)))
		id = sw_message(e, id)->item.slot.next;
	return id && !sw_message(e, id)->is_translating ? id : 0;
}

/* Of the queue that has read least ahead. */
static uint32_t next_to_read(struct sw_engine *e, uint32_t class)
{
	const struct ring *r = &e->run[class];
	uint32_t best = 0, least = UINT32_MAX;

	if (r->n == 1)
		return unread(e, class, *(uint32_t *)ring_at(r, 0));
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t queue = *(uint32_t *)ring_at(r, i);
		uint32_t ahead = turns_of(e, queue)->ahead, id;

		if (ahead >= least)
			continue;
		id = unread(e, class, queue);
		if (id) {
			best = id;
			least = ahead;
		}
	}
	return best;
}

static void read_ahead(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);
	uint32_t most = (uint32_t)sw_params(a)->ahead / SWHNI_MESSAGE;
	uint32_t left = e->classes;

	for (; left && e->ahead < most; left &= left - 1) {
		uint32_t c = (uint32_t)__builtin_ctz(left), id;

		while (e->ahead < most && (id = next_to_read(e, c))) {
			e->ahead++;
			turns_of(e, queue_of(sw_message(e, id)))->ahead++;
			sw_send_read(a, engine, id);
		}
	}
}

/* --- issuing --- */

static void end_issue(struct sw_engine *e)
{
	struct sw_message *m = sw_message(e, e->issuing);

	m->is_issued = true;
	m->account.issued = e->issued_at;
	e->issuing = 0;
	e->issued_at = 0;
	e->is_quiet = false;
}

static void post_issued(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);

	e->is_quiet = false;
	ticks_post(a, &sw_here(a)->ticks, e->issued_at,
		SW_ISSUED + engine * SW_EVENTS, e->issuing);
}

/* Whether anything waits for the message to be issued: its own bytes are here,
 * it is not the only one, or it was stopped and keeps its place until then. */
static bool is_awaited(struct sw_engine *e)
{
	const struct sw_message *m = sw_message(e, e->issuing);

	return m->is_over || m->here > m->cut ||
	       e->classes & (e->classes - 1) || e->run[m->class].n > 1 ||
	       turns_of(e, queue_of(m))->n_uncut > 1;
}

/* All that was cut has left, and so the message's time runs.  Mostly its bytes
 * come later than its end, which then needs no event. */
static void issue(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);
	const struct swhni_params *p = sw_params(a);
	const struct sw_message *m = sw_message(e, e->issuing);
	sim_time from = e->left_at - p->out;

	if (e->n_cut || e->issued_at)
		return;
	from = from > m->account.taken ? from : m->account.taken;
	e->issued_at = from + p->issue;
	if (e->issued_at <= a->t)
		e->issued_at = a->t + 1;
	e->is_quiet = !is_awaited(e);
	if (!e->is_quiet)
		post_issued(a, engine);
}

/* A message whose issue has no event may be issued by now; if not, and
 * something waits for it, it gets one. */
static void look_at_issue(
	const struct nic_at *a, uint32_t engine, bool is_waiting)
{
	struct sw_engine *e = sw_engine(a, engine);
	uint32_t number = SW_ISSUED + engine * SW_EVENTS;

	if (e->issued_at < a->t ||
		(e->issued_at == a->t && sw_here(a)->running > number))
		end_issue(e);
	else if (is_waiting)
		post_issued(a, engine);
}

void sw_engine_on_issued(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	end_issue(sw_engine(a, engine));
	sw_engine_settle(a, engine, id);
	sw_engine_turn(a, engine);
}

/* --- cutting --- */

/* Whether anything of a queue was done. */
static bool serve(
	const struct nic_at *a, uint32_t engine, uint32_t class, uint32_t place)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct ring *run = &e->run[class];
	uint32_t queue = *(uint32_t *)ring_at(run, place);
	uint32_t id = turns_of(e, queue)->uncut[class].first;
	const struct sw_message *m = sw_message(e, id);
	uint32_t port;

	if (!m->is_issued) {
		e->issuing = id;
		issue(a, engine);
		return true;
	}
	if (m->here <= m->cut)
		return false;
	port = sw_send_port(a, m);
	if (port == SW_NO_PORT)
		return false;
	if (run->n > 1) { /* it is another's turn then */
		take_out(run, place);
		*(uint32_t *)ring_push(run) = queue;
	}
	turns_of(e, queue)->ahead--;
	e->ahead--;
	sw_send_cut(a, engine, id, port);
	return true;
}

/* One packet, or the start of a message. */
static bool serve_next(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);

	for (uint32_t left = e->classes; left; left &= left - 1) {
		uint32_t c = (uint32_t)__builtin_ctz(left);

		for (uint32_t i = 0; i < e->run[c].n; i++)
			if (serve(a, engine, c, i))
				return true;
	}
	return false;
}

static void turn(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);

	if (e->waiting.n)
		sw_fsm_next(a, engine);
	if (e->asks.n)
		sw_read_next(a, engine);
	if (e->fetched.n)
		take(a, engine);
	if (e->is_quiet)
		look_at_issue(a, engine, is_awaited(e));
	else if (e->issuing)
		issue(a, engine);
	while (!e->issuing && serve_next(a, engine))
		;
	if (e->fetched.n)
		take(a, engine);
	read_ahead(a, engine);
}

void sw_engine_run(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);

	e->is_turning = true;
	do {
		e->is_again = false;
		turn(a, engine);
	} while (e->is_again);
	e->is_turning = false;
}

/* --- the end of a message --- */

static void free_message(struct sw_message *m)
{
	mem_free(m->map);
	mem_free(m->account.held);
}

void sw_engine_fini(struct sw_engine *e)
{
	for (uint32_t i = 1; i <= e->messages.items.room; i++)
		if (slots_find(&e->messages.items, i))
			free_message(sw_message(e, i));
	resend_fini(&e->messages);
}

/* Nothing under way refers to it. */
static bool is_free(const struct sw_engine *e, uint32_t id)
{
	const struct sw_message *m = sw_message(e, id);

	return m->asked == m->here && m->cut == m->left && !m->is_translating &&
	       !m->is_checking && e->issuing != id;
}

void sw_engine_settle(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	if (!m->is_over || !is_free(e, id))
		return;
	free_message(m);
	if (m->window)
		slots_give(&e->shorts, m->window);
	e->n_answers -= m->role == SW_ANSWER;
	resend_give(&e->messages, id);
	e->n_messages--;
	sw_engine_turn(a, engine);
}

/* Its queue learns of it. */
static void tell(const struct nic_at *a, uint32_t engine,
	const struct sw_message *m, enum swhni_error status)
{
	struct workqs *queues = &sw_engine(a, engine)->queues;
	struct sw_interface *x = sw_interface(a->node, m->interface);
	struct workq_completion c = {
		.id = m->d.id,
		.value = status ? 0 : m->d.bytes,
		.status = SWHNI_STATUS(SWHNI_DONE, status, m->d.node),
	};
	bool is_told = status || m->d.flags & SWHNI_TELL;

	if (m->role == SW_OWN && is_told)
		workqs_complete(a, queues, m->queue, &c);
	else if (m->role == SW_OWN)
		workqs_end(queues, m->queue);
	if (m->role != SW_OWN_SHORT || !x)
		return;
	x->n_short--;
	if (is_told && x->queue != SW_NO_QUEUE)
		workqs_tell(a, queues, x->queue, &c);
}

void sw_engine_tell(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);

	if (m->is_dead || m->is_over)
		return;
	tell(a, engine, m, SWHNI_OK);
	m->is_told = true;
}

uint32_t sw_engine_queue(const struct nic_at *a, const struct sw_message *m)
{
	const struct sw_interface *x = sw_interface(a->node, m->interface);

	return m->role == SW_OWN ? m->queue : x ? x->queue : SW_NO_QUEUE;
}

bool sw_engine_tell_kept(
	const struct nic_at *a, uint32_t engine, const struct sw_message *m)
{
	uint32_t queue = sw_engine_queue(a, m);
	struct workq_completion c = {
		.id = m->d.id,
		.status = SWHNI_STATUS(SWHNI_DONE, SWHNI_NO_ANSWER, m->d.node),
	};

	return !m->is_dead && queue != SW_NO_QUEUE &&
	       workqs_tell(a, &sw_engine(a, engine)->queues, queue, &c);
}

static void stop(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	if (e->is_quiet)
		look_at_issue(a, engine, e->issuing == id);
	resend_stop(&e->messages, id);
	if (m->is_lined)
		sw_engine_unline(a, engine, id);
	m->is_over = true;
	sw_engine_settle(a, engine, id);
}

void sw_engine_end(const struct nic_at *a, uint32_t engine, uint32_t id,
	enum swhni_error status)
{
	struct sw_message *m = sw_message(sw_engine(a, engine), id);

	if (m->is_over)
		return;
	sw_here(a)->error[status]++;
	if (m->role == SW_UNIT)
		sw_of(a)->unit->on_end(a, engine, id, status);
	else if (!m->is_dead && !m->is_told)
		tell(a, engine, m, status);
	stop(a, engine, id);
}

void sw_engine_fail(const struct nic_at *a, uint32_t engine, uint32_t id,
	enum swhni_error status)
{
	const struct sw_message *m = sw_message(sw_engine(a, engine), id);
	struct sw_header h = {
		.message = m->peer,
		.generation = m->peer_generation,
		.own_engine = m->peer_engine,
		.job = m->job,
	};

	if (m->role == SW_ANSWER)
		sw_transport_answer(a, engine, &h, m->item.dst, status);
	sw_engine_end(a, engine, id, status);
}

void sw_engine_kill(const struct nic_at *a, uint32_t engine, uint32_t id)
{
	struct sw_engine *e = sw_engine(a, engine);
	struct sw_message *m = sw_message(e, id);

	if (m->is_over)
		return;
	m->is_dead = true;
	sw_drop(a, m->job);
	if (m->role == SW_OWN && !m->is_told)
		workqs_end(&e->queues, m->queue);
	stop(a, engine, id);
}
