/*
 * Commands become packets.  As many fetched commands as there are engines are
 * handed to the Nios ahead of time.  Engines take handled commands in turn and
 * read their bytes; packets leave, and commands complete, in the same order.
 */
#include <string.h>

#include "nic/apenet/frame.h"

static struct ape_queue *queue_of(const struct nic_at *a, uint32_t queue)
{
	return (struct ape_queue *)ape_here(a)->queues.queue[queue];
}

static struct ape_work *work_at(const struct nic_at *a, uint32_t id)
{
	return slots_at(&ape_here(a)->works, id);
}

static uint32_t op_of(const struct ape_work *x)
{
	return x->c.to >> 24 & 15;
}

static uint32_t flags_of(const struct ape_work *x)
{
	return x->c.to >> 28;
}

static uint32_t node_of_work(const struct ape_work *x)
{
	return x->c.to & 0xffffff;
}

static uint32_t bytes_of(const struct ape_work *x)
{
	return x->c.size & 0x1fff;
}

/* Bytes that are read here and sent. */
static uint32_t load_of(const struct ape_work *x)
{
	return op_of(x) == APE_GET || x->error ? 0 : bytes_of(x);
}

/* --- commands --- */

static uint8_t check(const struct nic_at *a, const struct ape_work *x)
{
	bool is_bad = op_of(x) >= APE_OPS || bytes_of(x) > ape_of(a)->most ||
		      node_of_work(x) >= a->nic->n_nodes;

	return is_bad ? APE_BAD_COMMAND : APE_OK;
}

/* Its message's budget; each packet of a get has its own. */
static void join_budget(const struct nic_at *a, struct ape_queue *q,
	struct ape_work *x, const struct workq_birth *b)
{
	bool is_get = op_of(x) == APE_GET;
	uint32_t packets = is_get ? 1 : x->c.size >> 13;

	if (is_get || !q->n_left) {
		q->n_left = packets ? packets : 1;
		if (op_of(x) != APE_FLUSH)
			q->message = book_message(a->nic->net->book, a->s,
				is_get ? BOOK_GET : BOOK_PUT, q->n_left, b->at);
	}
	q->n_left--;
	x->message = q->message;
	x->birth = *b;
}

/* And its message's bytes so far. */
static void join_message(const struct nic_at *a, struct ape_queue *q,
	struct ape_work *x, const struct workq_birth *b)
{
	q->total += bytes_of(x);
	x->total = q->total;
	if (flags_of(x) & APE_LAST)
		q->total = 0;
	if (nic_has_book(a))
		join_budget(a, q, x, b);
}

/* Other fields are set before they are used. */
static struct ape_work *take_work(
	const struct nic_at *a, uint32_t queue, uint32_t *id)
{
	struct ape_work *x;

	*id = slots_take_any(&ape_here(a)->works);
	x = work_at(a, *id);
	x->queue = queue;
	x->state = WORK_WAITS;
	x->last = 0;
	x->is_held = x->is_awaited = false;
	return x;
}

/* Posts an event for the end of the Nios's work, only if an engine waits for
 * it. */
static void await(const struct nic_at *a, struct ape_work *x)
{
	if (!x->is_awaited)
		ticks_post(
			a, &ape_here(a)->ticks, x->done, APE_NIOS, JOB_COMMAND);
	x->is_awaited = true;
}

static void prepare(const struct nic_at *a, uint32_t queue)
{
	struct ape_node *n = a->node;
	struct ape_queue *q = queue_of(a, queue);
	uint32_t id;
	struct ape_work *x = take_work(a, queue, &id);
	struct workq_birth b;

	x->number = q->q.fetched - q->q.entries.n;
	x->c = *(const struct ape_command *)workqs_take(
		a, &n->queues, queue, &b);
	x->error = q->q.is_stopped ? APE_BAD_COMMAND : check(a, x);
	if (!x->error)
		join_message(a, q, x, &b);
	n->n_prepared++;
	x->done = ape_nios_done_at(a, ape_params(a)->command);
	*(uint32_t *)ring_push(&n->ready) = id;
	if (n->ready.n == 1 && !n->engine[n->turn])
		await(a, x);
}

/* Queues with commands take turns. */
static void take_more(const struct nic_at *a)
{
	struct ape_node *n = a->node;

	while (n->run.n && n->n_prepared < ape_params(a)->engines) {
		uint32_t queue = *(uint32_t *)ring_at(&n->run, 0);
		struct ape_queue *q = queue_of(a, queue);

		q->is_waiting = q->q.entries.n > 1;
		if (!q->is_waiting || n->run.n > 1) {
			ring_pop(&n->run);
			if (q->is_waiting)
				*(uint32_t *)ring_push(&n->run) = queue;
		}
		prepare(a, queue);
	}
}

void ape_send_fetched(const struct nic_at *a, uint32_t queue)
{
	struct ape_queue *q = queue_of(a, queue);

	if (!q->is_waiting && q->q.entries.n) {
		q->is_waiting = true;
		*(uint32_t *)ring_push(&ape_here(a)->run) = queue;
	}
	take_more(a);
}

/* --- engines --- */

/* An engine begins; now, if no event comes before. */
static void begin_at(const struct nic_at *a, sim_time t, uint32_t id)
{
	const struct ape_work *x = work_at(a, id);
	struct nic_at b;

	if (load_of(x) && !gpu_of(x->c.from) &&
		ape_is_next(a, t > a->t ? t : a->t + 1, &b))
		ape_send_begin(&b, id);
	else
		ape_post(a, t, APE_BEGIN, id);
}

/* Idle engines take what the Nios has handled by a time: now, or just before.
 */
static void engines_go(const struct nic_at *a, sim_time by)
{
	struct ape_node *n = a->node;
	uint32_t id = 0;
	sim_time t = 0;

	while (n->ready.n && !n->engine[n->turn]) {
		uint32_t next = *(uint32_t *)ring_at(&n->ready, 0);
		struct ape_work *x = work_at(a, next);

		if (x->done > by) {
			await(a, x);
			break;
		}
		if (id)
			ape_post(a, t, APE_BEGIN, id);
		id = next;
		ring_pop(&n->ready);
		n->engine[n->turn] = id;
		x->engine = n->turn;
		x->begun = a->t;
		n->turn = (n->turn + 1) % (uint32_t)ape_params(a)->engines;
		*(uint32_t *)ring_push(&n->order) = id;
		n->n_prepared -= x->queue != APE_NO_QUEUE;
		/* it was set up ahead, if it has waited */
		t = x->done + ape_params(a)->setup;
	}
	if (!id)
		return;
	take_more(a);
	begin_at(a, t, id);
}

void ape_send_go(const struct nic_at *a)
{
	engines_go(a, a->t);
}

/* Before those that the Nios has not handled. */
static void add_ready(const struct nic_at *a, uint32_t work)
{
	struct ring *r = &ape_here(a)->ready;
	uint32_t *at = ring_push(r), i;

	work_at(a, work)->done = a->t;
	for (i = r->n - 1; i; i--) {
		uint32_t *before = ring_at(r, i - 1);

		if (work_at(a, *before)->done <= a->t)
			break;
		*at = *before;
		at = before;
	}
	*at = work;
}

/* Answers a get of another node. */
void ape_send_reply(const struct nic_at *a, packet_id id)
{
	struct ape_node *n = a->node;
	struct ape_load *l = ape_load(a, id);
	struct book *k = a->nic->net->book;
	uint32_t work;
	struct ape_work *x = take_work(a, APE_NO_QUEUE, &work);
	uint64_t at = 0;

	nic_charge(a, id, CAUSE_ENGINE, a->t);
	x->error = (uint8_t)ranges_look_up(
		&n->buffers, l->key, l->offset, l->bytes, 0, 0, &at);
	n->error[x->error] += x->error > 0;
	x->c = (struct ape_command){
		.from = at,
		.offset = l->own_offset,
		.key = l->own_key,
		.tag = l->tag,
		.to = APE_TO(a->nic->net->packets[id].src, APE_REPLY, l->flags),
		.size = l->bytes,
	};
	x->total = l->total;
	if (k && book_has(k, id)) {
		x->held = book_hold(k, a->w->id, id);
		x->is_held = true;
	}
	n->replies++;
	ape_receive_finish(a, id, false);
	add_ready(a, work);
	engines_go(a, a->t);
}

/* --- reading --- */

static void ask_gpu(const struct nic_at *a, uint32_t id, struct ape_work *x)
{
	struct ape_node *n = a->node;
	struct side *side = ape_of(a)->side;
	sim_time t = side->ops->request(side, a->s, a->t, x->c.from, 1);
	struct gpu_times r =
		gpu_read(ape_of(a)->gpus, a->s, t, x->c.from, bytes_of(x));

	n->gpu_out += bytes_of(x);
	n->gpu_reads++;
	x->last = r.last;
	ape_post(a, r.first, APE_READY, id);
}

static bool has_window(const struct nic_at *a, const struct ape_work *x)
{
	int64_t window = gpus_params(ape_of(a)->gpus)->window;

	return ape_here(a)->gpu_out + bytes_of(x) <= (uint64_t)window;
}

static void ask_waiting(const struct nic_at *a)
{
	struct ape_node *n = a->node;
	uint32_t id = n->waiting[0];

	while (n->n_waiting && has_window(a, work_at(a, id))) {
		n->n_waiting--;
		memmove(n->waiting, n->waiting + 1,
			n->n_waiting * sizeof(n->waiting[0]));
		ask_gpu(a, id, work_at(a, id));
		id = n->waiting[0];
	}
}

void ape_send_begin(const struct nic_at *a, uint32_t work)
{
	struct ape_node *n = a->node;
	struct ape_work *x = work_at(a, work);
	struct side *side = ape_of(a)->side;

	x->begun = a->t;
	if (!load_of(x)) {
		ape_send_on_here(a, work);
	} else if (!gpu_of(x->c.from)) {
		ape_post(a,
			side->ops->request(
				side, a->s, a->t, x->c.from, bytes_of(x)),
			APE_READY, work);
	} else if (!ape_of(a)->gpus || ape_is_of_dead_gpu(a, x->c.from)) {
		x->error = APE_UNREADABLE;
		ape_send_on_here(a, work);
	} else {
		n->waiting[n->n_waiting++] = work;
		ask_waiting(a);
	}
}

void ape_send_on_ready(const struct nic_at *a, uint32_t work)
{
	struct ape_work *x = work_at(a, work);
	struct side *side = ape_of(a)->side;
	sim_time t;

	ape_settle(a);
	t = side->ops->data(side, a->s, a->t, x->c.from, bytes_of(x));
	t = t > x->last ? t : x->last;
	ape_post(a, ape_path(a, 0, t, bytes_of(x)), APE_HERE, work);
}

/* --- leaving --- */

static void open_budget(
	const struct nic_at *a, packet_id id, struct ape_work *x)
{
	struct book *k = a->nic->net->book;
	bool is_gpus = gpu_of(x->c.from) && op_of(x) != APE_GET;

	if (!k)
		return;
	if (x->is_held)
		book_resume(k, a->w->id, id, &x->held);
	else if (x->queue != APE_NO_QUEUE)
		book_open(k, id, &x->message);
	if (!book_has(k, id))
		return;
	book_at_part(k, id, a->s, is_gpus ? "card, from its GPU" : "card");
	if (!x->is_held) {
		nic_charge(a, id, CAUSE_COPY, x->birth.copied);
		nic_charge(a, id, CAUSE_SOFTWARE, x->birth.handed);
		nic_charge(a, id, CAUSE_DESCRIPTOR, x->birth.heard);
		nic_charge(a, id, CAUSE_CARD, x->birth.asked);
		nic_charge(a, id, CAUSE_DESCRIPTOR, x->birth.came);
		/* the Nios handles one command after the other */
		nic_charge(a, id, CAUSE_CARD, x->done - ape_params(a)->command);
		nic_charge(a, id, CAUSE_DESCRIPTOR, x->done);
	}
	nic_charge(a, id, CAUSE_ENGINE, x->done);
	nic_charge(a, id, CAUSE_ENGINE, x->begun);
	if (!is_gpus)
		book_at_one(k, id, a->s, "DMA engine", x->engine);
	nic_charge(a, id, CAUSE_MEMORY_READ, x->here);
}

static packet_id make_packet(
	const struct nic_at *a, uint32_t work, struct ape_work *x)
{
	struct net *net = a->nic->net;
	packet_id id = packet_take(net->pool, a->w->id);
	struct ape_load *l = payload_take(a->nic->payloads, a->w->id);
	bool is_get = op_of(x) == APE_GET;

	/* other fields are set before they are used */
	l->offset = x->c.offset;
	l->own_offset = x->c.from;
	l->key = x->c.key;
	l->own_key = is_get ? x->c.tag : 0;
	l->tag = is_get ? x->c.size >> 13 : x->c.tag;
	l->bytes = bytes_of(x);
	l->total = x->total;
	l->work = work;
	l->op = (uint8_t)op_of(x);
	l->flags = (uint8_t)flags_of(x);
	l->error = x->error;
	l->is_local = node_of_work(x) == a->s;
	l->is_named = false;
	l->flips.n = 0;
	net->packets[id] = (struct packet){
		.src = a->s,
		.dst = node_of_work(x),
		.number = ape_here(a)->number++,
		.born = a->t,
		.kind = PACKET_DETERMINISTIC,
		.bytes = (uint16_t)load_of(x),
		.load = payload_to_load(l),
	};
	return id;
}

static void complete_one(
	const struct nic_at *a, uint32_t id, const struct ape_work *x)
{
	struct ape_node *n = a->node;
	uint32_t queue = x->queue, error = x->error;
	struct workq_completion c = {
		.id = x->number,
		.status =
			APE_STATUS(error ? APE_FAILED : APE_DONE, error, a->s),
	};
	bool is_told = error || (flags_of(x) & APE_TELL);

	n->engine[x->engine] = 0;
	slots_give(&n->works, id);
	if (queue == APE_NO_QUEUE)
		return;
	n->error[error] += error > 0;
	if (is_told && !ape_is_dead(a))
		workqs_complete(a, &n->queues, queue, &c);
	else
		workqs_end(&n->queues, queue);
}

/* Completes commands whose packets have left, in order; idle engines go on. */
static void complete(const struct nic_at *a, sim_time by)
{
	struct ape_node *n = a->node;
	bool is_idle = false;

	while (n->order.n) {
		uint32_t id = *(uint32_t *)ring_at(&n->order, 0);
		const struct ape_work *x = work_at(a, id);

		if (x->state != WORK_LEFT)
			break;
		ring_pop(&n->order);
		complete_one(a, id, x);
		is_idle = true;
	}
	if (is_idle)
		engines_go(a, by);
}

static void leave(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	const struct ape_load *l = ape_load(a, id);

	work_at(a, l->work)->state = WORK_LEFT;
	ape_here(a)->packets++;
	if (ape_is_dead(a)) {
		ape_here(a)->inside -= l->is_local;
		ape_here(a)->lost++;
		nic_lose(a->nic, a->w, id);
		return;
	}
	nic_charge(a, id, CAUSE_CARD, a->t);
	if (l->is_local)
		ape_post(a, a->t + ape_params(a)->input, APE_IN, id);
	else
		net_inject(a->nic->net, a->w, a->s, fifo, id, a->t);
}

/* Packets of a message take the same route; on rings it depends only on the
 * destination. */
static void begin_way(const struct nic_at *a, struct packet *p)
{
	struct ape_way *last = &ape_here(a)->way;

	if (!last->is_known || last->dst != p->dst) {
		route_begin(a->nic->net->route, p);
		last->is_known = a->nic->net->route->rings != NULL;
		last->dst = p->dst;
		last->way = p->way;
		last->ask = p->ask;
		last->kind = p->kind;
		last->escape = p->escape;
		last->channel = p->channel;
		return;
	}
	p->way = last->way;
	p->ask = last->ask;
	p->kind = last->kind;
	p->escape = last->escape;
	p->channel = last->channel;
}

/* One for each link that a packet may leave by. */
static uint32_t fifo_of(const struct nic_at *a, packet_id id)
{
	const struct net_fifos *f = &ape_of(a)->fifos;
	struct packet *p = &a->nic->net->packets[id];

	begin_way(a, p);
	p->flags |= PACKET_BEGUN;
	return f->first + p->escape % f->count;
}

/* Loads the bytes, or their name; *size becomes the number of doubled words. */
static void load_data(const struct nic_at *a, const struct ape_work *x,
	struct ape_load *l, uint16_t *size)
{
	struct memory *m = &host_node(a->nic->host, a->s)->memory;
	uint64_t at = x->c.from;
	uint32_t n = bytes_of(x);

	if (host_find_name(a->nic->host, a->s, at, n, &l->name))
		l->is_named = true;
	else if (memory_read_parts(m, MEMORY_NIC, at, l->data, n))
		*size = (uint16_t)ape_frame_doubled(l->data, n);
	else
		l->error = APE_UNREADABLE;
}

static void send(const struct nic_at *a, uint32_t work, struct ape_work *x)
{
	struct ape_load *l;
	packet_id id;

	x->state = WORK_LEFT;
	if (op_of(x) == APE_FLUSH || (x->error && x->queue != APE_NO_QUEUE)) {
		ape_here(a)->flushed += !x->error;
		return;
	}
	id = make_packet(a, work, x);
	l = ape_load(a, id);
	if (load_of(x))
		load_data(a, x, l, &a->nic->net->packets[id].size);
	open_budget(a, id, x);
	x->state = WORK_OUT;
	if (l->is_local) {
		ape_here(a)->inside++;
		leave(a, 0, id);
	} else {
		outbox_send(a, &ape_here(a)->out, fifo_of(a, id), id, leave);
	}
}

void ape_send_on_here(const struct nic_at *a, uint32_t work)
{
	struct ape_node *n = a->node;
	struct ape_work *x = work_at(a, work);
	uint32_t id;

	x->state = WORK_HERE;
	x->here = a->t;
	if (load_of(x) && gpu_of(x->c.from)) {
		n->gpu_out -= bytes_of(x);
		ask_waiting(a);
	}
	for (uint32_t i = 0; i < n->order.n; i++) {
		id = *(uint32_t *)ring_at(&n->order, i);
		x = work_at(a, id);
		if (x->state == WORK_WAITS)
			break;
		if (x->state == WORK_HERE)
			send(a, id, x);
	}
	complete(a, a->t);
}

/* Where nobody waits, nothing changes.  The Nios is done with what it is later
 * than this in an instant. */
void ape_send_on_room(const struct nic_at *a, uint32_t fifo)
{
	if (!ape_here(a)->out.line[fifo].first)
		return;
	outbox_on_room(a, &ape_here(a)->out, fifo, leave);
	complete(a, a->t - 1);
}
