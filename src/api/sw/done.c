/* Completions, messages and events of SWverbs. */
#include <errno.h>

#include "api/sw/sw.h"

/* --- descriptors that end --- */

void swv_push(struct swv_cq *cq, const struct weft_sw_completion *c)
{
	if (cq->done.n == cq->depth) {
		cq->has_lost = true;
		return;
	}
	*(struct weft_sw_completion *)ring_push(&cq->done) = *c;
}

void swv_end(struct swv_device *dev, uint32_t work, uint32_t status)
{
	const struct swv_work *x = slots_at(&dev->works, work);
	struct swv_sq *sq = x->sq;
	struct swv_tree *tree = x->tree;
	struct weft_sw_completion c = {
		.kind = WEFT_SW_DONE,
		.status = status,
		.id = x->id,
		.node = x->d.node,
		.bytes = x->d.bytes,
	};
	bool is_quiet = x->flags & WEFT_SW_QUIET && !status;

	if (x->has_number)
		swv_windows_done(&dev->windows, x->peer, x->number);
	slots_give(&dev->works, work);
	if (tree)
		tree->used--;
	if (!sq)
		return;
	sq->used--;
	sq->failed += status != WEFT_SW_OK;
	if (!is_quiet)
		swv_push(sq->cq, &c);
}

static uint32_t status_of(uint32_t error)
{
	static const uint8_t status[SWHNI_ERRORS] = {
		[SWHNI_OK] = WEFT_SW_OK,
		[SWHNI_BAD_KEY] = WEFT_SW_BAD_KEY,
		[SWHNI_OUT_OF_BOUNDS] = WEFT_SW_OUTSIDE,
		[SWHNI_NO_RIGHT] = WEFT_SW_NO_RIGHT,
		[SWHNI_BAD_ENTRY] = WEFT_SW_BAD_WORK,
		[SWHNI_BAD_INTERFACE] = WEFT_SW_NO_QUEUE,
		[SWHNI_WRONG_JOB] = WEFT_SW_WRONG_JOB,
		[SWHNI_NO_ANSWER] = WEFT_SW_LOST,
		[SWHNI_FULL] = WEFT_SW_LOST,
		[SWHNI_CANCELLED] = WEFT_SW_CANCELLED,
		[SWHNI_STOPPED] = WEFT_SW_CANCELLED,
		[SWHNI_BROKEN] = WEFT_SW_BROKEN,
	};

	return status[error];
}

/* A write of another process, whose sender wanted this queue to know. */
static void on_arrived(
	const struct swv_interface *in, const struct workq_completion *c)
{
	swv_silent_end(&in->dev->silent, SWHNI_NODE_OF(c->status));
	if (in->sq)
		swv_push(in->sq->cq, &(struct weft_sw_completion){
					     .kind = WEFT_SW_ARRIVED,
					     .node = SWHNI_NODE_OF(c->status),
					     .tag = (uint32_t)c->id,
					     .bytes = c->more,
					     .at = c->value,
				     });
}

/* Whether the end of a descriptor shows that its target has answered. */
static bool has_answered(const struct swv_work *x, uint32_t error)
{
	return !x->tree && x->d.type != SWHNI_DATAGRAM &&
	       error != SWHNI_NO_ANSWER && error != SWHNI_BAD_ENTRY &&
	       error != SWHNI_CANCELLED && error != SWHNI_STOPPED;
}

void swv_on_done(void *interface, const struct workq_completion *c)
{
	struct swv_interface *in = interface;
	struct swv_device *dev = in->dev;
	uint32_t error = SWHNI_ERROR_OF(c->status), id = SW_USER_ID(c->id);
	const struct swv_work *x;

	if (SWHNI_EVENT_OF(c->status) == SWHNI_ARRIVED)
		on_arrived(in, c);
	if (SWHNI_EVENT_OF(c->status) != SWHNI_DONE)
		return;
	x = slots_find(&dev->works, id);
	if (!x || x->in != in || x->d.id != c->id)
		return; /* its queue was reset, or its receiver has answered */
	if (has_answered(x, error))
		swv_silent_end(&dev->silent, x->d.node);
	if ((error == SWHNI_NO_ANSWER || error == SWHNI_FULL) &&
		!(x->flags & WEFT_SW_BARE))
		swv_again(dev, id,
			error == SWHNI_FULL ? SW_REFUSED : SW_NO_ANSWER);
	else if (!error && x->is_again && x->has_number)
		swv_sent_again(dev, id);
	else
		swv_end(dev, id, status_of(error));
}

/* --- messages --- */

static struct weft_sw_completion report(
	const struct swv_rq *rq, const struct swhni_slot *head)
{
	return (struct weft_sw_completion){
		.kind = head->is_notice ? WEFT_SW_NOTICE : WEFT_SW_RECEIVED,
		.node = head->node,
		.tag = SW_TAG(head->word[0]),
		.bytes = head->bytes,
		.at = head->offset,
		.rq = (struct weft_sw_rq *)rq->object.handle,
	};
}

/* Copies a message into the oldest buffer. */
static void fill(
	struct swv_rq *rq, const struct swhni_slot *head, const uint8_t *bytes)
{
	struct swv_buffer b = *(struct swv_buffer *)ring_pop(&rq->buffers);
	struct weft_sw_completion c = report(rq, head);

	c.id = b.id;
	c.at = b.at;
	if (b.bytes < head->bytes)
		c.status = WEFT_SW_TRUNCATED;
	program_write(program_base() + b.at, bytes,
		b.bytes < head->bytes ? b.bytes : head->bytes);
	swv_push(rq->cq, &c);
}

void swv_fill(struct swv_rq *rq)
{
	while (rq->early.n && rq->buffers.n) {
		const struct swv_early *e = ring_pop(&rq->early);

		fill(rq, &e->head, e->bytes);
	}
}

/* Whether the message may be taken out of the ring now: it has a buffer, or may
 * wait for one. */
static bool fits(struct swv_device *dev, const struct swhni_slot *head)
{
	uint32_t i = SW_QUEUE(head->word[0]);
	const struct swv_rq *rq = i < dev->n_queues ? dev->queue[i] : NULL;

	return head->is_notice || head->word[0] & SW_ANSWER || !rq ||
	       rq->buffers.n || rq->early.n < SW_EARLY;
}

static void deliver(
	struct swv_rq *rq, const struct swhni_slot *head, uint64_t at)
{
	struct weft_sw_completion c = report(rq, head);
	struct swv_early *e;

	if (head->is_notice) {
		swv_push(rq->cq, &c);
		return;
	}
	e = ring_push(&rq->early);
	e->head = *head;
	program_read(at, e->bytes, head->bytes);
	swv_fill(rq);
}

/* A message of a raw RQ stays in the ring; one that the library keeps is freed
 * with those before it. */
static void show(struct swv_rq *rq, const struct swhni_slot *head, uint64_t at,
	bool is_for_program)
{
	struct weft_sw_completion c = report(rq, head);

	if (!is_for_program && !rq->slots.n) {
		swv_user_free_slot(&rq->in->user);
		return;
	}
	*(bool *)ring_push(&rq->slots) = is_for_program;
	if (!head->is_notice)
		c.at = at - program_base();
	if (is_for_program)
		swv_push(rq->cq, &c);
}

/* Whether a message is new to this process. */
static bool is_new(struct swv_interface *in, const struct swhni_slot *head)
{
	struct swv_device *dev = in->dev;

	if (!(head->word[0] & SW_NUMBERED))
		return true;
	if (head->word[0] & SW_AGAIN)
		return swv_take_again(in, head);
	if (swv_known_take(&in->known, swv_peer(head->node, head->interface),
		    SW_NUMBER(head->word[1]), SIM_NEVER,
		    program_now()) == SW_KNOWN_NEW)
		return true;
	dev->doubles++;
	return false;
}

static void take(
	struct swv_interface *in, const struct swhni_slot *head, uint64_t at)
{
	uint32_t i = SW_QUEUE(head->word[0]);
	struct swv_rq *rq = i < in->dev->n_queues ? in->dev->queue[i] : NULL;
	bool is_wanted;

	swv_silent_end(&in->dev->silent, head->node);
	if (head->word[0] & SW_ANSWER) {
		swv_answered(in->dev, head);
		is_wanted = false;
	} else {
		is_wanted = is_new(in, head);
	}
	if (in->raw) {
		show(in->raw, head, at, is_wanted);
		return;
	}
	if (rq && is_wanted)
		deliver(rq, head, at);
	swv_user_free_slot(&in->user);
}

/* Takes messages that have come. */
static void take_all(struct swv_interface *in)
{
	struct swhni_slot head;
	uint64_t at;

	in->is_blocked = false;
	while (!in->is_blocked && swv_user_peek(&in->user, &head, &at)) {
		in->is_blocked = !in->raw && !fits(in->dev, &head);
		if (in->is_blocked)
			return;
		in->user.received++;
		take(in, &head, at);
	}
}

sim_time swv_progress(struct swv_device *dev)
{
	dev->looked_at = program_now();
	for (struct swv_interface *in = dev->interfaces; in; in = in->next) {
		swv_user_poll(&in->user);
		take_all(in);
	}
	return swv_look_after(dev);
}

/* --- polling and waiting --- */

static const struct swhni_params *params(void)
{
	return swv_nic()->params;
}

static bool take_done(
	struct swv_cq *cq, struct weft_sw_completion *c, int *code)
{
	*code = 0;
	if (cq->done.n)
		*c = *(struct weft_sw_completion *)ring_pop(&cq->done);
	else if (cq->has_lost)
		*code = EOVERFLOW;
	else
		return false;
	if (*code)
		cq->has_lost = false;
	return true;
}

int weft_sw_poll(struct weft_sw_cq *cq, struct weft_sw_completion *c)
{
	struct swv_cq *q = swv_find(SW_CQ, cq);
	int code;

	if (!q)
		return EBADF;
	if (!c)
		return EINVAL;
	program_charge(params()->work.poll_load);
	swv_progress(q->object.dev);
	return take_done(q, c, &code) ? code : EAGAIN;
}

/* What a program waits for, besides the interfaces of its device. */
struct awaited {
	struct swv_device *dev;
	const struct host *host;
	site_id node;
	uint64_t at, value; /* of a word; 0: none */
	uint32_t peeked; /* completions that it need not be woken for */
};

static bool has_word(const struct awaited *x)
{
	uint64_t word = 0;

	return x->value &&
	       host_read(x->host, x->node, x->at, &word, sizeof(word)) &&
	       word >= x->value;
}

bool swv_has_news(const struct swv_device *dev)
{
	for (const struct swv_interface *in = dev->interfaces; in;
		in = in->next)
		if (swv_user_has_done(&in->user) ||
			(!in->is_blocked && swv_user_has_message(&in->user)))
			return true;
	return false;
}

static bool has_any(void *arg, uint64_t *seen)
{
	const struct awaited *x = arg;

	*seen = 0;
	return swv_has_news(x->dev) || has_word(x);
}

/* Whether a completion changes nothing that a program can wait for, except for
 * room in its queue. */
static bool is_quiet(
	const struct swv_interface *in, const struct workq_completion *c)
{
	const struct swv_work *x =
		slots_find(&in->dev->works, SW_USER_ID(c->id));

	return SWHNI_EVENT_OF(c->status) == SWHNI_DONE &&
	       SWHNI_ERROR_OF(c->status) == SWHNI_OK && x && x->d.id == c->id &&
	       x->in == in && !x->tree && !x->is_again &&
	       x->flags & WEFT_SW_QUIET;
}

static enum poll_news news(void *arg)
{
	struct awaited *x = arg;
	const struct swv_interface *in = x->dev->interfaces;
	struct workq_completion c;
	uint32_t was = x->peeked;

	for (; swv_user_next(&in->user, x->peeked, &c); x->peeked++)
		if (!is_quiet(in, &c) ||
			swv_user_would_ring(&in->user, x->peeked + 1))
			return POLL_ENDS;
	if ((!in->is_blocked && swv_user_has_message(&in->user)) || has_word(x))
		return POLL_ENDS;
	return x->peeked == was ? POLL_NOTHING : POLL_QUIET;
}

static struct poll_loop again(void *arg, uint64_t draw)
{
	const struct awaited *x = arg;
	const struct nic *nic = x->dev->interfaces->user.nic;
	const struct swhni_params *p = nic->params;

	return nic_poll_loop_by(
		nic, x->node, draw, p->work.poll_period, p->work.poll_load);
}

static const struct poll_through through = { news, again };

/* Sleeps until something has come, or until a time; the word has not. */
static void sleep_until(struct awaited *x, sim_time t)
{
	struct poll_loop loop = nic_poll_loop(swv_nic(),
		params()->work.poll_period, params()->work.poll_load);
	uint64_t seen;

	/* for a word, or events of others, and not for its own messages */
	x->peeked = 0;
	loop.is_checked = x->dev->looked_at == program_now();
	if (t == SIM_NEVER && x->value && !x->dev->interfaces->next)
		program_poll_through(has_any, x, loop, &through);
	else if (t == SIM_NEVER)
		program_poll_until(has_any, x, loop, &seen);
	else
		program_poll_before(has_any, x, loop, t, &seen);
}

static struct awaited awaited(struct swv_device *dev)
{
	return (struct awaited){
		.dev = dev, .host = program_host(), .node = program_node()
	};
}

void swv_sleep(struct swv_device *dev, uint64_t at, uint64_t value, sim_time t)
{
	struct awaited x = awaited(dev);

	x.at = at;
	x.value = value;
	sleep_until(&x, t);
}

static sim_time end_of(int64_t timeout)
{
	return timeout >= SIM_NEVER - program_now() ? SIM_NEVER
						    : program_now() + timeout;
}

int weft_sw_wait(
	struct weft_sw_cq *cq, struct weft_sw_completion *c, int64_t timeout)
{
	PROGRAM_CALL("weft_sw_wait", 0, 0);
	struct swv_cq *q = swv_find(SW_CQ, cq);
	struct awaited x;
	sim_time end, next;
	int code;

	if (!q)
		return EBADF;
	if (!c || timeout < 0)
		return EINVAL;
	end = end_of(timeout);
	x = awaited(q->object.dev);
	for (;;) {
		next = swv_progress(q->object.dev);
		if (take_done(q, c, &code))
			return code;
		if (program_now() >= end)
			return ETIMEDOUT;
		sleep_until(&x, next < end ? next : end);
	}
}

int weft_sw_wait_reply(
	struct weft_sw *dev, uint64_t at, uint64_t value, int64_t timeout)
{
	PROGRAM_CALL("weft_sw_wait_reply, at least #", value, 0);
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct awaited x;
	sim_time end, next;

	if (!d)
		return EBADF;
	if (at % 8 || timeout < 0)
		return EINVAL;
	if (!program_has(at, 8))
		return EFAULT;
	end = end_of(timeout);
	x = awaited(d);
	x.at = program_base() + at;
	x.value = value;
	for (;;) {
		next = swv_progress(d);
		if (!value || has_word(&x))
			return 0;
		if (program_now() >= end)
			return ETIMEDOUT;
		sleep_until(&x, next < end ? next : end);
	}
}

/* --- events --- */

/* A queue with completions that the program has not been told of. */
static bool find_cq_event(struct swv_device *d, struct weft_sw_event *e)
{
	struct swv_cq *q = d->cqs;

	while (q && (!q->has_events || q->is_out || !q->done.n))
		q = q->next;
	if (!q)
		return false;
	q->is_out = true;
	*e = (struct weft_sw_event){
		.kind = WEFT_SW_EVENT_CQ,
		.cq = (struct weft_sw_cq *)q->object.handle,
	};
	return true;
}

static bool find_port_event(struct swv_device *d, struct weft_sw_event *e)
{
	for (uint32_t i = 0; i < swhni_n_ports(swv_nic()); i++) {
		bool is_up = swhni_port(swv_nic(), program_node(), i).is_up;

		if (d->has_news[i] || d->is_up[i] == is_up)
			continue;
		d->is_up[i] = is_up;
		d->has_news[i] = true;
		*e = (struct weft_sw_event){
			.kind = is_up ? WEFT_SW_EVENT_PORT_UP
				      : WEFT_SW_EVENT_PORT_DOWN,
			.port = i,
		};
		return true;
	}
	return false;
}

int weft_sw_get_event(
	struct weft_sw *dev, struct weft_sw_event *e, int64_t timeout)
{
	PROGRAM_CALL("weft_sw_get_event", 0, 0);
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct awaited x;
	sim_time end, next;

	if (!d)
		return EBADF;
	if (!e || timeout < 0)
		return EINVAL;
	end = end_of(timeout);
	x = awaited(d);
	for (;;) {
		next = swv_progress(d);
		if (find_cq_event(d, e) || find_port_event(d, e))
			return 0;
		if (program_now() >= end)
			return ETIMEDOUT;
		sleep_until(&x, next < end ? next : end);
	}
}

int weft_sw_ack_event(struct weft_sw *dev, const struct weft_sw_event *e)
{
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct swv_cq *q;

	if (!d)
		return EBADF;
	if (!e)
		return EINVAL;
	if (e->kind == WEFT_SW_EVENT_CQ) {
		q = swv_find(SW_CQ, e->cq);
		if (!q || !q->is_out)
			return EINVAL;
		q->is_out = false;
		return 0;
	}
	if (e->kind > WEFT_SW_EVENT_PORT_UP || e->port >= WEFT_SW_PORTS ||
		!d->has_news[e->port])
		return EINVAL;
	d->has_news[e->port] = false;
	return 0;
}

const char *weft_sw_status_name(uint32_t status)
{
	static const char *const names[WEFT_SW_STATUSES] = {
		"success",
		"no such key at the target",
		"outside of the key's bytes",
		"no permission for this access",
		"another job's memory or queue",
		"no such queue at the target",
		"message longer than its buffer",
		"no answer",
		"cancelled",
		"invalid descriptor",
		"a member of the collective has failed",
	};

	return status < WEFT_SW_STATUSES ? names[status] : "unknown";
}
