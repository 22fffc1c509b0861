/* Queues of SWverbs. */
#include <errno.h>

#include "api/sw/sw.h"
#include "base/bits.h"
#include "base/mem.h"

static bool is_depth(uint32_t n, uint32_t most)
{
	return n <= most && bits_is_power(n);
}

/* --- interfaces --- */

struct swv_interface *swv_new_interface(struct swv_device *d, uint32_t wanted)
{
	struct swv_interface *in = mem_alloc(1, sizeof(*in));

	in->dev = d;
	in->user = (struct swv_user){
		.job = d->job,
		.process = d->process,
		.wanted = wanted,
		.on_done = swv_on_done,
		.arg = in,
	};
	if (swv_user_open(&in->user)) {
		mem_free(in);
		return NULL;
	}
	in->next = d->interfaces;
	d->interfaces = in;
	return in;
}

/* One whose queue to send by, or whose ring, is not in use yet; NULL: there is
 * none left. */
static struct swv_interface *find_interface(struct swv_device *d, bool sends)
{
	struct swv_interface *in = d->interfaces;

	while (in &&
		(in->raw || (sends ? in->user.n_entries : in->user.n_slots)))
		in = in->next;
	return in ? in : swv_new_interface(d, 0);
}

/* The broker takes back one that nothing uses. */
static void drop_unused(struct swv_interface *in)
{
	struct swv_interface **x = &in->dev->interfaces;

	if (in->sq || in->raw || in->has_virtual)
		return;
	while (*x != in)
		x = &(*x)->next;
	*x = in->next;
	swv_user_close(&in->user);
	swv_known_fini(&in->known);
	mem_free(in);
}

/* Completions are those of descriptors, short messages and events. */
static int open_send(struct swv_interface *in, uint32_t depth)
{
	return swv_user_open_send(
		&in->user, depth, depth < 512 ? 1024 : 2 * depth);
}

struct swv_interface *swv_own_sender(struct swv_device *d)
{
	struct swv_interface *in = d->interfaces;

	while (in && (!in->user.n_entries || in->raw))
		in = in->next;
	if (in)
		return in;
	in = find_interface(d, true);
	return in && !open_send(in, SW_OWN_ENTRIES) ? in : NULL;
}

bool swv_let_answer(struct swv_interface *in)
{
	return in->user.n_slots ||
	       !swv_user_open_receive(&in->user, SW_RING, 0);
}

/* --- completion queues --- */

int weft_sw_create_cq(struct weft_sw *dev, uint32_t depth, bool has_events,
	struct weft_sw_cq **cq)
{
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct swv_cq *x;

	if (!d)
		return EBADF;
	if (!cq || !is_depth(depth, WEFT_SW_DEPTH))
		return EINVAL;
	x = mem_alloc(1, sizeof(*x));
	ring_init(&x->done, sizeof(struct weft_sw_completion));
	x->depth = depth;
	x->has_events = has_events;
	x->next = d->cqs;
	d->cqs = x;
	*cq = swv_handle(SW_CQ, &x->object, d);
	return 0;
}

void swv_free_cq(struct swv_cq *cq)
{
	ring_fini(&cq->done);
	mem_free(cq);
}

int weft_sw_destroy_cq(struct weft_sw_cq *cq)
{
	struct swv_cq *q = swv_find(SW_CQ, cq), **x;

	if (!q)
		return EBADF;
	if (q->users || q->is_out)
		return EBUSY;
	for (x = &q->object.dev->cqs; *x != q; x = &(*x)->next)
		;
	*x = q->next;
	swv_drop(&q->object);
	swv_free_cq(q);
	return 0;
}

/* A queue and the completion queue that it is made with. */
static int find_both(const void *dev, const void *cq, struct swv_device **d,
	struct swv_cq **c)
{
	*d = swv_find(SW_DEVICE, dev);
	*c = swv_find(SW_CQ, cq);
	if (!*d || !*c)
		return EBADF;
	return (*c)->object.dev == *d ? 0 : EINVAL;
}

/* --- send queues --- */

int weft_sw_create_sq(struct weft_sw *dev, struct weft_sw_cq *cq,
	uint32_t depth, struct weft_sw_sq **sq)
{
	struct swv_interface *in;
	struct swv_device *d;
	struct swv_cq *c;
	struct swv_sq *x;
	int code = find_both(dev, cq, &d, &c);

	if (code)
		return code;
	if (!sq || !is_depth(depth, WEFT_SW_DEPTH))
		return EINVAL;
	in = find_interface(d, true);
	if (!in)
		return ENOSPC;
	code = open_send(in, depth);
	if (code) {
		drop_unused(in);
		return code;
	}
	x = mem_alloc(1, sizeof(*x));
	x->in = in;
	x->cq = c;
	x->depth = depth;
	in->sq = x;
	c->users++;
	*sq = swv_handle(SW_SQ, &x->object, d);
	return 0;
}

int weft_sw_destroy_sq(struct weft_sw_sq *sq)
{
	struct swv_sq *x = swv_find(SW_SQ, sq);
	struct swv_interface *in;

	if (!x)
		return EBADF;
	swv_progress(x->object.dev);
	if (x->used)
		return EBUSY;
	in = x->in;
	in->sq = NULL;
	x->cq->users--;
	swv_free_trees(x);
	swv_drop(&x->object);
	mem_free(x);
	drop_unused(in);
	return 0;
}

int weft_sw_query_sq(struct weft_sw_sq *sq, struct weft_sw_queue *q)
{
	const struct swv_sq *x = swv_find(SW_SQ, sq);

	if (!x)
		return EBADF;
	if (!q)
		return EINVAL;
	*q = (struct weft_sw_queue){
		.depth = x->depth,
		.used = x->used,
		.failed = x->failed,
		.address = { .node = program_node(),
			.interface = (uint8_t)x->in->user.interface,
			.engine = (uint8_t)x->in->user.engine },
	};
	return 0;
}

int weft_sw_reset_sq(struct weft_sw_sq *sq)
{
	struct swv_sq *x = swv_find(SW_SQ, sq);
	struct swv_device *d;

	if (!x)
		return EBADF;
	d = x->object.dev;
	swv_progress(d);
	swv_user_reset(&x->in->user);
	for (uint32_t i = 1; i <= d->works.room; i++) {
		const struct swv_work *w = slots_find(&d->works, i);

		if (w && w->sq == x)
			swv_end(d, i, WEFT_SW_CANCELLED);
	}
	return 0;
}

/* --- receive queues --- */

/* The ring that virtual RQs of a device share. */
static struct swv_interface *open_ring(struct swv_device *d)
{
	struct swv_interface *in = d->interfaces;

	while (in && !in->has_virtual)
		in = in->next;
	if (in)
		return in;
	/* a ring that was opened for answers will do */
	for (in = d->interfaces; in && (in->raw || !in->user.n_slots);
		in = in->next)
		;
	in = in ? in : find_interface(d, false);
	if (!in || !swv_let_answer(in))
		return NULL;
	in->has_virtual = true;
	return in;
}

static int open_virtual(struct swv_device *d, struct swv_rq *x)
{
	uint32_t i = 0;

	while (i < d->n_queues && d->queue[i])
		i++;
	if (i == SW_QUEUES)
		return ENOSPC;
	x->in = open_ring(d);
	if (!x->in)
		return ENOSPC;
	x->queue = (uint16_t)i;
	if (i == d->n_queues)
		d->queue = mem_more(d->queue, d->n_queues++, sizeof(x));
	d->queue[i] = x;
	return 0;
}

static int open_raw(struct swv_device *d, struct swv_rq *x, uint64_t at)
{
	int code;

	if (at % 64)
		return EINVAL;
	if (!program_has(at, (uint64_t)x->depth * SWHNI_SLOT))
		return EFAULT;
	x->in = swv_new_interface(d, 0);
	if (!x->in)
		return ENOSPC;
	code = swv_user_open_receive(
		&x->in->user, x->depth, program_base() + at);
	if (code)
		drop_unused(x->in);
	else
		x->in->raw = x;
	return code;
}

int weft_sw_create_rq(struct weft_sw *dev, struct weft_sw_cq *cq,
	const struct weft_sw_rq_options *options, struct weft_sw_rq **rq)
{
	struct swv_device *d;
	struct swv_cq *c;
	struct swv_rq *x;
	int code = find_both(dev, cq, &d, &c);

	if (code)
		return code;
	if (!options || !rq || options->kind > WEFT_SW_RAW ||
		!is_depth(options->depth, options->kind == WEFT_SW_RAW
						  ? WEFT_SW_RINGS
						  : WEFT_SW_DEPTH))
		return EINVAL;
	x = mem_alloc(1, sizeof(*x));
	x->is_raw = options->kind == WEFT_SW_RAW;
	x->depth = options->depth;
	x->cq = c;
	ring_init(&x->buffers, sizeof(struct swv_buffer));
	ring_init(&x->early, sizeof(struct swv_early));
	ring_init(&x->slots, sizeof(bool));
	code = x->is_raw ? open_raw(d, x, options->at) : open_virtual(d, x);
	if (code) {
		mem_free(x);
		return code;
	}
	c->users++;
	*rq = swv_handle(SW_RQ, &x->object, d);
	return 0;
}

void swv_free_rq(struct swv_rq *rq)
{
	ring_fini(&rq->buffers);
	ring_fini(&rq->early);
	ring_fini(&rq->slots);
	mem_free(rq);
}

int weft_sw_destroy_rq(struct weft_sw_rq *rq)
{
	struct swv_rq *x = swv_find(SW_RQ, rq);
	struct swv_interface *in;
	struct swv_device *d;
	uint32_t n = 0;

	if (!x)
		return EBADF;
	d = x->object.dev;
	in = x->in;
	if (!x->is_raw)
		d->queue[x->queue] = NULL;
	for (uint32_t i = 0; i < d->n_queues; i++)
		n += d->queue[i] != NULL;
	if (x->is_raw)
		in->raw = NULL;
	else
		in->has_virtual = n > 0;
	x->cq->users--;
	swv_drop(&x->object);
	swv_free_rq(x);
	drop_unused(in);
	return 0;
}

int weft_sw_query_rq(struct weft_sw_rq *rq, struct weft_sw_queue *q)
{
	const struct swv_rq *x = swv_find(SW_RQ, rq);

	if (!x)
		return EBADF;
	if (!q)
		return EINVAL;
	*q = (struct weft_sw_queue){
		.depth = x->depth,
		.used = x->is_raw ? x->slots.n : x->buffers.n,
		.address = { .node = program_node(),
			.interface = (uint8_t)x->in->user.interface,
			.engine = (uint8_t)x->in->user.engine,
			.queue = x->queue },
	};
	return 0;
}

int weft_sw_post_recv(
	struct weft_sw_rq *rq, uint64_t id, uint64_t at, uint32_t bytes)
{
	struct swv_rq *x = swv_find(SW_RQ, rq);

	if (!x)
		return EBADF;
	if (x->is_raw || !bytes)
		return EINVAL;
	if (!program_has(at, bytes))
		return EFAULT;
	if (x->buffers.n == x->depth)
		return EAGAIN;
	*(struct swv_buffer *)ring_push(&x->buffers) =
		(struct swv_buffer){ id, at, bytes };
	swv_fill(x);
	return 0;
}

/* Slots that the library keeps from the program are freed with those before
 * them. */
static void free_hidden(struct swv_rq *x)
{
	while (x->slots.n && !*(bool *)ring_at(&x->slots, 0)) {
		ring_pop(&x->slots);
		swv_user_free_slot(&x->in->user);
	}
}

int weft_sw_release(struct weft_sw_rq *rq)
{
	struct swv_rq *x = swv_find(SW_RQ, rq);

	if (!x)
		return EBADF;
	if (!x->is_raw || !x->slots.n)
		return EINVAL;
	ring_pop(&x->slots);
	swv_user_free_slot(&x->in->user);
	free_hidden(x);
	return 0;
}
