/* Descriptors of SWverbs: what the card is to do. */
#include <errno.h>
#include <string.h>

#include "api/sw/sw.h"

enum {
	PORTS = WEFT_SW_PORT_0 | WEFT_SW_PORT_1,
	ALL = PORTS | WEFT_SW_FAST | WEFT_SW_QUIET | WEFT_SW_BARE,
};

int swv_post(struct swv_device *dev, uint32_t work, sim_time begun)
{
	const struct swv_work *x = slots_at(&dev->works, work);
	struct swhni_descriptor d = x->d;
	uint8_t data[SWHNI_SHORT];
	int code = 0;

	d.id = work;
	d.flags |= SWHNI_TELL;
	/* messages into queues have numbers instead */
	if (!x->has_number && d.type != SWHNI_DATAGRAM &&
		!(x->flags & WEFT_SW_BARE))
		d.flags |= SWHNI_KEEP;
	if (x->is_fsm) { /* others may post meanwhile */
		memcpy(data, x->data,
			d.bytes < sizeof(data) ? d.bytes : sizeof(data));
		code = swv_user_fsm(&x->in->user, &d, data, begun);
	} else {
		swv_user_post(&x->in->user, &d, begun);
	}
	/* by which its completion is known */
	((struct swv_work *)slots_at(&dev->works, work))->d.id = d.id;
	return code;
}

/* What is wrong with a descriptor, whatever it does; else the queue. */
static int check(struct weft_sw_sq *sq, const struct weft_sw_work *w,
	uint32_t flags, struct swv_sq **found)
{
	struct swv_sq *x = swv_find(SW_SQ, sq);

	if (!x)
		return EBADF;
	if (!w || w->flags & ~flags || (w->flags & PORTS) == PORTS ||
		w->to.node >= swv_nic()->n_nodes ||
		w->to.engine >= SWHNI_ENGINES ||
		w->to.interface >= SWHNI_INTERFACES)
		return EINVAL;
	*found = x;
	return 0;
}

bool swv_has_room(struct swv_sq *sq)
{
	if (sq->used == sq->depth || !swv_user_has_room(&sq->in->user))
		swv_progress(sq->object.dev);
	return sq->used < sq->depth && swv_user_has_room(&sq->in->user);
}

struct swhni_descriptor swv_descriptor(
	const struct weft_sw_work *w, enum swhni_type type)
{
	return (struct swhni_descriptor){
		.type = (uint8_t)type,
		.flags = w->flags & WEFT_SW_FAST ? SWHNI_FAST : 0,
		.port = (uint8_t)(w->flags & PORTS),
		.engine = w->to.engine,
		.node = w->to.node,
		.bytes = w->bytes,
		.key = w->key,
		.offset = w->at,
		.own_key = w->own_key,
		.interface = w->to.interface,
		.own_offset = w->own_at,
	};
}

/* A new descriptor as the program's says. */
static uint32_t make(
	struct swv_sq *sq, const struct weft_sw_work *w, enum swhni_type type)
{
	struct swv_device *dev = sq->object.dev;
	uint32_t id = slots_take(&dev->works);
	struct swv_work *x = slots_at(&dev->works, id);

	x->sq = sq;
	x->in = sq->in;
	x->id = w->id;
	x->flags = w->flags;
	x->first = program_now();
	x->deadline = SIM_NEVER;
	x->d = swv_descriptor(w, type);
	sq->used++;
	return id;
}

/* A number in the window of the peer that a descriptor names. */
static void take_number(struct swv_device *dev, struct swv_work *x)
{
	x->peer = swv_peer(x->d.node, x->d.interface);
	x->number = swv_windows_take(&dev->windows, x->peer);
	x->has_number = true;
	x->d.word[0] |= SW_NUMBERED;
	x->d.word[1] = x->number;
}

static bool has_window(const struct swv_sq *sq, const struct weft_sw_work *w)
{
	return swv_windows_has_room(&sq->object.dev->windows,
		swv_peer(w->to.node, w->to.interface));
}

/* Hands a new descriptor to the card, unless its target is known not to
 * answer. */
static int post_new(struct swv_sq *q, uint32_t id, sim_time begun)
{
	struct swv_device *dev = q->object.dev;

	return swv_ends_at_once(dev, id) ? 0 : swv_post(dev, id, begun);
}

int weft_sw_post_send(struct weft_sw_sq *sq, const struct weft_sw_work *w)
{
	sim_time begun = program_now();
	struct swv_work *x;
	struct swv_sq *q;
	bool is_reliable;
	uint32_t id;
	int code = check(sq, w, ALL | WEFT_SW_UNRELIABLE, &q);

	if (code)
		return code;
	is_reliable = !(w->flags & WEFT_SW_UNRELIABLE);
	if (w->bytes > WEFT_SW_MESSAGE)
		return EMSGSIZE;
	if (!swv_has_bytes(q->object.dev, w->own_key, w->own_at, w->bytes))
		return EFAULT;
	if (!swv_has_room(q) || (is_reliable && !has_window(q, w)))
		return EAGAIN;
	id = make(q, w, is_reliable ? SWHNI_SEND : SWHNI_DATAGRAM);
	x = slots_at(&q->object.dev->works, id);
	x->d.word[0] = (uint64_t)w->to.queue << 32 | w->tag;
	if (swv_ends_at_once(q->object.dev, id))
		return 0;
	if (is_reliable)
		take_number(q->object.dev, x);
	return swv_post(q->object.dev, id, begun);
}

/* What all writes and reads have in common: a descriptor, not yet posted. */
static int begin(struct weft_sw_sq *sq, const struct weft_sw_work *w,
	uint32_t flags, enum swhni_type type, struct swv_sq **q, uint32_t *id)
{
	int code = check(sq, w, flags, q);

	if (code)
		return code;
	if (type == SWHNI_READ && !w->bytes)
		return EINVAL;
	if (w->bytes > WEFT_SW_LONGEST)
		return EMSGSIZE;
	if (!swv_has_bytes((*q)->object.dev, w->own_key, w->own_at, w->bytes))
		return EFAULT;
	if (!swv_has_room(*q))
		return EAGAIN;
	*id = make(*q, w, type);
	return 0;
}

static struct swv_work *work_of(const struct swv_sq *q, uint32_t id)
{
	return slots_at(&q->object.dev->works, id);
}

int weft_sw_post_write(struct weft_sw_sq *sq, const struct weft_sw_work *w)
{
	sim_time begun = program_now();
	struct swv_sq *q;
	uint32_t id;
	int code = begin(sq, w, ALL | WEFT_SW_EVENT, SWHNI_WRITE, &q, &id);

	if (code)
		return code;
	if (w->flags & WEFT_SW_EVENT) {
		work_of(q, id)->d.flags |= SWHNI_EVENT;
		work_of(q, id)->d.word[0] = w->tag;
	}
	return post_new(q, id, begun);
}

int weft_sw_post_write_notify(
	struct weft_sw_sq *sq, const struct weft_sw_work *w)
{
	sim_time begun = program_now();
	struct swv_sq *q;
	uint32_t id;
	int code = begin(sq, w, ALL, SWHNI_WRITE, &q, &id);

	if (code)
		return code;
	work_of(q, id)->d.flags |= SWHNI_NOTICE;
	work_of(q, id)->d.word[0] = (uint64_t)w->to.queue << 32 | w->tag;
	return post_new(q, id, begun);
}

static void count_in(struct swv_work *x, uint32_t key, uint64_t offset)
{
	x->d.flags |= SWHNI_REPLY;
	x->d.reply.key = key;
	x->d.reply.offset = offset;
}

int weft_sw_post_write_reply(
	struct weft_sw_sq *sq, const struct weft_sw_work *w)
{
	sim_time begun = program_now();
	struct swv_sq *q;
	uint32_t id;
	int code;

	if (w && w->reply % 8)
		return EINVAL;
	code = begin(sq, w, ALL, SWHNI_WRITE, &q, &id);
	if (code)
		return code;
	count_in(work_of(q, id), w->key, w->reply);
	return post_new(q, id, begun);
}

int weft_sw_post_read(struct weft_sw_sq *sq, const struct weft_sw_work *w)
{
	sim_time begun = program_now();
	bool counts = w && w->reply != UINT64_MAX;
	struct swv_sq *q;
	uint32_t id;
	int code;

	if (counts && w->reply % 8)
		return EINVAL;
	q = swv_find(SW_SQ, sq);
	if (q && counts &&
		!swv_has_bytes(q->object.dev, w->own_key, w->reply, 8))
		return EFAULT;
	code = begin(sq, w, ALL, SWHNI_READ, &q, &id);
	if (code)
		return code;
	if (counts)
		count_in(work_of(q, id), w->own_key, w->reply);
	return post_new(q, id, begun);
}

/* --- fast short messages --- */

/* Gathers pieces; returns an error number, or their sum in *bytes. */
static int gather(const struct weft_sw_piece *pieces, uint32_t n, uint8_t *to,
	uint32_t *bytes)
{
	*bytes = 0;
	if ((n && !pieces) || n > WEFT_SW_PIECES)
		return EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		if (pieces[i].bytes > WEFT_SW_FSM - *bytes)
			return EMSGSIZE;
		if (!program_has(pieces[i].at, pieces[i].bytes))
			return EFAULT;
		program_read(program_base() + pieces[i].at, to + *bytes,
			pieces[i].bytes);
		*bytes += pieces[i].bytes;
	}
	return 0;
}

/* What is wrong with a short message's bytes, which are gathered. */
static int check_short(const struct swv_sq *q, const struct weft_sw_work *w,
	const struct weft_sw_piece *pieces, uint32_t n, uint8_t *data,
	uint32_t *bytes)
{
	if (!(w->flags & WEFT_SW_FSM_READ))
		return gather(pieces, n, data, bytes);
	if (n || !w->bytes)
		return EINVAL;
	if (w->bytes > WEFT_SW_FSM)
		return EMSGSIZE;
	*bytes = w->bytes;
	return swv_has_bytes(q->object.dev, w->own_key, w->own_at, w->bytes)
		       ? 0
		       : EFAULT;
}

int swv_post_short(struct swv_sq *q, const struct weft_sw_work *w,
	const void *data, uint32_t bytes, uint32_t more)
{
	struct swv_device *dev = q->object.dev;
	sim_time begun = program_now();
	bool reads = w->flags & WEFT_SW_FSM_READ;
	struct swv_work *x;
	uint32_t id;
	int code;

	if (!swv_has_room(q))
		return EAGAIN;
	id = make(q, w, reads ? SWHNI_FSM_READ : SWHNI_FSM_WRITE);
	x = slots_at(&dev->works, id);
	x->is_fsm = true;
	x->d.bytes = bytes;
	x->d.flags |= (uint8_t)more;
	if (w->flags & WEFT_SW_CHIP)
		x->d.flags |= SWHNI_ON_CHIP;
	if (more & SWHNI_EVENT)
		x->d.word[0] = w->tag;
	if (!reads)
		memcpy(x->data, data, bytes);
	code = post_new(q, id, begun);
	if (code) { /* the card's window is full */
		q->used--;
		slots_give(&dev->works, id);
	}
	return code;
}

int weft_sw_post_fsm(struct weft_sw_sq *sq, const struct weft_sw_work *w,
	const struct weft_sw_piece *pieces, uint32_t n)
{
	uint8_t data[WEFT_SW_FSM];
	struct swv_sq *q;
	uint32_t bytes;
	int code = check(sq, w, ALL | WEFT_SW_CHIP | WEFT_SW_FSM_READ, &q);

	code = code ? code : check_short(q, w, pieces, n, data, &bytes);
	return code ? code : swv_post_short(q, w, data, bytes, 0);
}

int weft_sw_cancel(struct weft_sw_sq *sq, uint64_t id)
{
	struct swv_sq *q = swv_find(SW_SQ, sq);
	struct swv_device *d = q ? q->object.dev : NULL;
	bool is_there = false;
	struct nic_at a;

	if (!q)
		return EBADF;
	swv_progress(d);
	a = nic_now(swv_nic());
	for (uint32_t i = 1; i <= d->works.room; i++) {
		const struct swv_work *x = slots_find(&d->works, i);

		if (!x || x->sq != q || x->id != id)
			continue;
		is_there = true;
		swhni_cancel(&a, q->in->user.interface, q->in->user.process,
			x->d.id);
	}
	return is_there ? 0 : ENOENT;
}
