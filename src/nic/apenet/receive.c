/*
 * The receive path: addresses are looked up one after the other, so packets
 * after a miss wait for the Nios; writes under way go on.
 */
#include "nic/apenet/frame.h"

void ape_receive_finish(const struct nic_at *a, packet_id id, bool is_done)
{
	const struct ape_load *l = ape_load(a, id);
	uint32_t fifo = l->fifo, chunks = l->chunks;
	bool is_local = l->is_local;

	nic_account_end(a, id, is_done);
	ape_here(a)->inside--;
	nic_give(a->nic, a->w, id);
	if (!is_local)
		net_release(a->nic->net, a->w, a->s, fifo, chunks, a->t);
}

/* An event for the process that a key is of; when it is in memory. */
static sim_time tell(const struct nic_at *a, packet_id id, enum ape_event event)
{
	struct ape_node *n = a->node;
	const struct ape_load *l = ape_load(a, id);
	uint32_t queue = l->key >> APE_KEY_SHIFT;
	bool is_known = l->error != APE_DAMAGED; /* what is in its footer */
	struct workq_completion c = {
		.id = (is_known ? l->tag : 0) | (uint64_t)l->key << 32,
		.value = is_known ? l->offset + l->bytes - l->total : 0,
		.status = APE_STATUS(
			event, l->error, a->nic->net->packets[id].src),
		.more = is_known ? l->total : l->bytes,
	};

	if (!workqs_find(&n->queues, queue) || ape_is_dead(a))
		return 0;
	return workqs_tell(a, &n->queues, queue, &c);
}

/* The packet is not written. */
static void drop(const struct nic_at *a, packet_id id)
{
	struct ape_node *n = a->node;

	n->error[ape_load(a, id)->error]++;
	n->dropped++;
	tell(a, id, APE_ERROR);
	ape_receive_finish(a, id, false);
}

/* Number of buffers that the Nios examines to find a key. */
static uint32_t walk_of(const struct ape_node *n, uint32_t key)
{
	const struct range *r = ranges_find(&n->buffers, key);

	return r ? (uint32_t)(r - n->buffers.range) + 1 : n->buffers.n;
}

/* Looks for its pages; those that are missing are put in, to be there when the
 * Nios has translated them. */
static uint32_t look_up(const struct nic_at *a, const struct ape_load *l)
{
	struct ape_node *n = a->node;
	uint32_t space = gpu_of(l->at), misses = 0;
	uint64_t size = space ? APE_GPU_PAGE : APE_PAGE, frame;
	uint64_t page = l->at / size, last = (l->at + l->bytes - 1) / size;

	for (; l->bytes && page <= last; page++)
		misses += !tlb_look(&n->tlb, space, page, &frame);
	n->misses += misses;
	n->hits += !misses && l->bytes;
	return misses;
}

static void ask_nios(
	const struct nic_at *a, packet_id id, const struct ape_load *l)
{
	const struct ape_params *p = ape_params(a);
	sim_time walk = p->per_buffer * walk_of(a->node, l->key);

	if (l->op == APE_GET)
		ape_nios_add(a, JOB_GET, id, p->command + walk);
	else
		ape_nios_add(a, JOB_MISS, id, p->translate + walk);
}

/* Its address is known, now if nothing comes in between. */
static inline void looked_at(const struct nic_at *a, sim_time t, packet_id id)
{
	struct nic_at b;

	if (ape_is_next(a, t > a->t ? t : a->t + 1, &b))
		ape_receive_on_looked(&b, id);
	else
		ape_post(a, t, APE_LOOKED, id);
}

/* Begins with the next packet. */
static void look_at(const struct nic_at *a, packet_id id)
{
	struct ape_node *n = a->node;
	struct ape_load *l = ape_load(a, id);
	sim_time t = a->t + (n->tlb.sets ? ape_params(a)->hit : 0);

	nic_charge(a, id, CAUSE_RECEIVER, a->t);
	if (l->op == APE_GET && l->error != APE_DAMAGED) {
		ask_nios(a, id, l);
		return;
	}
	if (!l->error)
		l->error = (uint8_t)ranges_look_up(
			&n->buffers, l->key, l->offset, l->bytes, 0, 0, &l->at);
	if (l->error) {
		drop(a, id);
		return;
	}
	l->misses = look_up(a, l);
	n->is_looking = true;
	if (l->misses) {
		ask_nios(a, id, l);
		return;
	}
	t = ape_path(a, 1, t, l->bytes);
	if (!n->rx.n)
		looked_at(a, t, id);
	else
		ape_post(a, t, APE_LOOKED, id);
}

static void go_on(const struct nic_at *a)
{
	struct ape_node *n = a->node;

	while (n->rx.n && !n->is_looking)
		look_at(a, *(packet_id *)ring_pop(&n->rx));
}

/* A card that has died meanwhile takes the packet along. */
static bool is_lost(const struct nic_at *a, packet_id id)
{
	if (!ape_is_dead(a))
		return false;
	ape_here(a)->lost++;
	ape_receive_finish(a, id, false);
	return true;
}

void ape_receive_on_in(const struct nic_at *a, packet_id id)
{
	struct ape_node *n = a->node;

	if (is_lost(a, id))
		return;
	nic_charge(a, id, CAUSE_INPUT, a->t);
	if (ape_load(a, id)->flips.n)
		ape_frame_on_arrival(
			a, &a->nic->net->packets[id], ape_load(a, id));
	if (n->is_looking)
		*(packet_id *)ring_push(&n->rx) = id;
	else
		look_at(a, id);
}

void ape_receive_translated(const struct nic_at *a, packet_id id)
{
	struct ape_node *n = a->node;
	const struct ape_load *l = ape_load(a, id);
	uint32_t space = gpu_of(l->at);
	uint64_t size = space ? APE_GPU_PAGE : APE_PAGE;
	uint64_t page = l->at / size, last = (l->at + l->bytes - 1) / size;

	for (; page <= last; page++)
		tlb_put(&n->tlb, space, page, page);
	looked_at(a, ape_path(a, 1, a->t, l->bytes), id);
}

void ape_receive_on_looked(const struct nic_at *a, packet_id id)
{
	struct ape_node *n = a->node;
	struct side *side = ape_of(a)->side;
	const struct ape_load *l = ape_load(a, id);
	static const char *const places[2][2] = {
		{ "card, TLB hit", "card, TLB hit, to its GPU" },
		{ "card, TLB miss", "card, TLB miss, to its GPU" },
	};
	sim_time t = a->t;

	nic_charge(a, id, CAUSE_TRANSLATION, a->t);
	book_at_part(a->nic->net->book, id, a->s,
		places[l->misses != 0][gpu_of(l->at) != 0]);
	n->is_looking = false;
	if (l->bytes)
		t = side->ops->write(side, a->s, a->t, l->at, l->bytes);
	if (gpu_of(l->at)) {
		t += gpus_params(ape_of(a)->gpus)->write;
		n->gpu_writes++;
	}
	ape_post(a, t, APE_WRITTEN, id);
	if (n->rx.n)
		go_on(a);
}

/* Whether software goes on with its budget. */
static bool goes_on(const struct nic_at *a, packet_id id)
{
	const struct ape_load *l = ape_load(a, id);
	struct book *k = a->nic->net->book;
	struct ape_queue *q =
		workqs_find(&ape_here(a)->queues, l->key >> APE_KEY_SHIFT);

	if (!(l->flags & APE_GOES_ON) || !q || !k || !book_has(k, id))
		return false;
	if (!q->held.size)
		ring_init(&q->held, sizeof(struct book_held));
	*(struct book_held *)ring_push(&q->held) = book_hold(k, a->w->id, id);
	return true;
}

void ape_copied(
	const struct nic_at *a, uint32_t queue, sim_time begun, sim_time end)
{
	struct ape_queue *q = workqs_find(&ape_here(a)->queues, queue);
	struct net *net = a->nic->net;
	packet_id id;

	if (!q || !q->held.n)
		return;
	id = packet_take(net->pool, a->w->id);
	net->packets[id] = (struct packet){ .dst = a->s };
	book_resume(net->book, a->w->id, id, ring_pop(&q->held));
	book_at_part(net->book, id, a->s, "host, copying");
	nic_charge(a, id, CAUSE_SOFTWARE, begun);
	nic_charge(a, id, CAUSE_COPY, end);
	nic_charge(a, id, CAUSE_SOFTWARE, a->t);
	book_close(net->book, a->w->id, id, book_at(net->book, id));
	packet_give(net->pool, a->w->id, id);
}

static bool write(const struct nic_at *a, const struct ape_load *l)
{
	struct host *h = a->nic->host;

	if (!l->bytes)
		return true;
	if (l->is_named)
		return host_write_named(
			h, a->w, a->s, a->t, l->at, &l->name, l->bytes);
	return host_write(h, a->w, a->s, a->t, l->at, l->data, l->bytes);
}

void ape_receive_on_written(const struct nic_at *a, packet_id id)
{
	struct ape_load *l = ape_load(a, id);
	bool is_told = (l->flags & (APE_LAST | APE_QUIET)) == APE_LAST;
	sim_time t = a->t;

	nic_charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	if (is_lost(a, id))
		return;
	if (!ranges_find(&ape_here(a)->buffers, l->key)) {
		l->error = APE_NO_BUFFER; /* any more */
		drop(a, id);
		return;
	}
	if (ape_is_of_dead_gpu(a, l->at) || !write(a, l)) {
		l->error = APE_UNREADABLE;
		drop(a, id);
		return;
	}
	ape_here(a)->delivered++;
	if (a->nic->on_delivered)
		a->nic->on_delivered(
			a->nic->arg, a->s, &a->nic->net->packets[id], a->t);
	if (is_told)
		t = tell(a, id, l->op == APE_REPLY ? APE_GOT : APE_ARRIVED);
	nic_charge(a, id, CAUSE_COMPLETION, t);
	ape_receive_finish(a, id, !is_told || !goes_on(a, id));
}
