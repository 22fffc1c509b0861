#include "weft/ape.h"

#include <errno.h>

#include "api/ape/stage.h"
#include "base/ring.h"
#include "parts/gpus/gpus.h"
#include "parts/lofamo/history.h"

_Static_assert((int)WEFT_APE_COPIED == (int)APE_COPIED &&
		       (int)WEFT_APE_DAMAGED == (int)APE_DAMAGED &&
		       (int)WEFT_APE_ERROR == (int)APE_ERROR,
	"the same numbers");
_Static_assert((int)WEFT_APE_UNKNOWN == (int)HEALTH_UNKNOWN &&
		       (int)WEFT_APE_GPU == (int)LOFAMO_GPU &&
		       (int)WEFT_APE_LINKS == (int)LOFAMO_PORTS &&
		       UINT32_MAX == NO_ROUTER,
	"these too");

#define MOST (UINT64_C(1) << 30)

enum { MOST_TAG = (1 << 19) - 1 };

/* A put of which the last command has not completed. */
struct sent {
	uint32_t number, tag;
};

struct ape {
	bool is_open;
	struct ape_stage stage;
	struct ring events; /* struct weft_ape_event */
	struct ring sent; /* struct sent, in order */
	uint32_t tag; /* of the last put, which may be under way */
	void (*on_change)(void *arg, const struct weft_ape_part *p);
	void *arg;
	size_t n_changes; /* of the Master's picture that it was told of */
};

static void fini(void *kept)
{
	struct ape *a = kept;

	ape_stage_fini(&a->stage);
	ring_fini(&a->events);
	ring_fini(&a->sent);
}

static uint64_t held(const void *kept)
{
	const struct ape *a = kept;

	return ring_memory(&a->events) + ring_memory(&a->sent);
}

static struct ape *ape(void)
{
	static const struct program_library library = {
		.size = sizeof(struct ape),
		.fini = fini,
		.held = held,
	};

	return program_keep(&library);
}

static void push(struct ape *a, struct weft_ape_event e)
{
	*(struct weft_ape_event *)ring_push(&a->events) = e;
}

/* Puts up to a command are done. */
static void tell_done(struct ape *a)
{
	while (a->sent.n) {
		const struct sent *s = ring_at(&a->sent, 0);

		if (!ape_user_is_done(&a->stage.user, s->number))
			return;
		push(a, (struct weft_ape_event){
				.kind = WEFT_APE_DONE, .tag = s->tag });
		ring_pop(&a->sent);
	}
}

/* A command was not sent. */
static void tell_failed(struct ape *a, uint32_t number, uint32_t error)
{
	const struct sent *s = NULL;
	uint32_t i = 0;

	do
		s = i < a->sent.n ? ring_at(&a->sent, i++) : NULL;
	while (s && (int32_t)(s->number - number) < 0);
	push(a, (struct weft_ape_event){ .kind = WEFT_APE_ERROR,
			.error = error,
			.node = program_node(),
			.tag = s ? s->tag : a->tag });
	tell_done(a);
}

static void on_event(void *arg, const struct workq_completion *c)
{
	if (APE_EVENT(c->status) == APE_DONE)
		tell_done(arg);
	else if (APE_EVENT(c->status) == APE_FAILED)
		tell_failed(arg, (uint32_t)c->id, APE_ERROR_OF(c->status));
	else
		push(arg, (struct weft_ape_event){
				  .kind = APE_EVENT(c->status),
				  .error = APE_ERROR_OF(c->status),
				  .node = APE_NODE(c->status),
				  .key = (uint32_t)(c->id >> 32),
				  .tag = (uint32_t)c->id,
				  .offset = c->value,
				  .bytes = c->more,
			  });
}

/* --- open and close --- */

static struct nic *nic(void)
{
	return nic_check(host_nic(program_host()), &apenet_ops);
}

uint64_t weft_ape_memory(void)
{
	return ape_stage_memory(nic(), host_n_processes(program_host()));
}

static bool is_mine(uint64_t at, uint64_t bytes)
{
	const uint32_t both =
		MEMORY_MAY_READ(MEMORY_NIC) | MEMORY_MAY_WRITE(MEMORY_NIC);

	return gpu_of(at) ? !memory_ask(host_at(program_host(), program_node()),
				    both, at, bytes)
			  : program_has(at, bytes);
}

/* EIO where the host knows that the card is dead: what it had was lost. */
static int look_after_card(struct ape *a)
{
	if (!ape_user_has_lost_card(&a->stage.user))
		return 0;
	a->stage.user.done = a->stage.user.posted;
	while (a->sent.n)
		ring_pop(&a->sent);
	return EIO;
}

int weft_ape_open(uint64_t at)
{
	struct ape *a = ape();
	int code;

	if (at % 64)
		return EINVAL;
	if (a->is_open)
		return EBUSY;
	if (gpu_of(at) || !is_mine(at, weft_ape_memory()))
		return EFAULT;
	if (!a->events.size) {
		ring_init(&a->events, sizeof(struct weft_ape_event));
		ring_init(&a->sent, sizeof(struct sent));
	}
	ape_stage_fini(&a->stage);
	a->stage = (struct ape_stage){
		.process = program_process(),
		.n_processes = host_n_processes(program_host()),
		.at = program_base() + at,
		.heeds = true,
		.on_event = on_event,
		.arg = a,
	};
	code = ape_stage_open(&a->stage);
	a->is_open = !code;
	return code;
}

int weft_ape_close(void)
{
	struct ape *a = ape();

	if (!a->is_open)
		return EBADF;
	ape_user_close(&a->stage.user);
	while (a->events.n)
		ring_pop(&a->events);
	while (a->sent.n)
		ring_pop(&a->sent);
	a->is_open = false;
	return 0;
}

/* --- buffers --- */

int weft_ape_register(uint64_t at, uint64_t bytes, uint32_t *key)
{
	struct ape *a = ape();

	if (!a->is_open)
		return EBADF;
	if (!key || !bytes)
		return EINVAL;
	if (!is_mine(at, bytes))
		return EFAULT;
	if (look_after_card(a))
		return EIO;
	*key = ape_stage_register(
		&a->stage, gpu_of(at) ? at : program_base() + at, bytes);
	return *key ? 0 : look_after_card(a) ? EIO : ENOSPC;
}

/* A buffer of the process's, or NULL. */
static const struct range *own_buffer(const struct ape *a, uint32_t key)
{
	if (key >> APE_KEY_SHIFT != a->stage.user.queue ||
		key == ape_key(a->stage.user.queue, APE_STAGE_KEY))
		return NULL;
	return ape_buffer(a->stage.user.nic, a->stage.user.node, key);
}

int weft_ape_deregister(uint32_t key)
{
	struct ape *a = ape();

	if (!a->is_open)
		return EBADF;
	if (!own_buffer(a, key))
		return EINVAL;
	if (look_after_card(a))
		return EIO;
	ape_user_deregister(&a->stage.user, key);
	return look_after_card(a);
}

uint32_t weft_ape_key(uint32_t key, uint32_t process)
{
	return ape_key(process, key & ((1u << APE_KEY_SHIFT) - 1));
}

/* --- transfers --- */

static int check(struct ape *a, const struct weft_ape_transfer *t,
	const struct range **r)
{
	if (!a->is_open)
		return EBADF;
	if (!t || t->node >= a->stage.user.nic->n_nodes || t->bytes > MOST ||
		t->offset > UINT64_MAX - t->bytes || t->tag > MOST_TAG ||
		t->way >= APE_WAYS)
		return EINVAL;
	*r = own_buffer(a, t->own_key);
	if (!*r || t->own_offset > (*r)->last - (*r)->first + 1 ||
		t->bytes > (*r)->last - (*r)->first + 1 - t->own_offset)
		return EFAULT;
	return look_after_card(a);
}

int weft_ape_put(const struct weft_ape_transfer *t)
{
	struct ape *a = ape();
	const struct range *r;
	struct ape_put p;
	uint32_t number;
	int code = check(a, t, &r);

	if (code)
		return code;
	p = (struct ape_put){
		.node = t->node,
		.key = t->key,
		.offset = t->offset,
		.from = r->first + t->own_offset,
		.bytes = t->bytes,
		.tag = t->tag,
	};
	code = ape_stage_check(&a->stage, t->way, &p);
	if (code)
		return code;
	a->tag = t->tag;
	number = ape_stage_put(&a->stage, t->way, &p);
	if (look_after_card(a))
		return EIO;
	*(struct sent *)ring_push(&a->sent) = (struct sent){ number, t->tag };
	tell_done(a);
	return 0;
}

int weft_ape_get(const struct weft_ape_transfer *t)
{
	struct ape *a = ape();
	const struct range *r;
	struct ape_command c;
	int code = check(a, t, &r);

	if (code)
		return code;
	c = (struct ape_command){
		.from = t->own_offset,
		.offset = t->offset,
		.key = t->key,
		.tag = t->own_key,
		.size = t->tag,
	};
	ape_user_send(&a->stage.user, c, APE_GET, t->node, 0, t->bytes,
		program_now());
	return look_after_card(a);
}

/* --- health --- */

int weft_ape_health(struct weft_ape_health *h)
{
	struct nic *n = nic();
	const struct topo *t = n->net->topo;
	const struct ape_params *p = n->params;
	struct lofamo_history *watch = lofamo_of(n->host);
	struct lofamo_registers r;

	if (!h)
		return EINVAL;
	if (!watch)
		return ENOTSUP;
	program_charge(p->work.poll_load);
	r = lofamo_registers_at(watch, program_node(), program_now());
	*h = (struct weft_ape_health){ .host = r.host, .card = r.card };
	for (uint32_t i = 0; i < WEFT_APE_LINKS; i++) {
		h->link[i].node = UINT32_MAX;
		if (i < t->n_ports)
			h->link[i].node =
				t->ops->peer(t, program_node(), i).router;
		h->link[i].host = r.neighbour[i];
		h->link[i].is_silent = r.silent >> i & 1;
	}
	return 0;
}

int weft_ape_on_change(
	void (*on)(void *arg, const struct weft_ape_part *p), void *arg)
{
	struct ape *a = ape();

	if (!a->is_open)
		return EBADF;
	if (!lofamo_of(program_host()))
		return ENOTSUP;
	a->on_change = on;
	a->arg = arg;
	return 0;
}

/* When the next change is heard of; SIM_NEVER: there is none. */
static sim_time next_change(const struct ape *a, struct lofamo_part *p)
{
	struct lofamo_history *watch = lofamo_of(program_host());

	if (!a->on_change || !lofamo_change(watch, a->n_changes, p))
		return SIM_NEVER;
	return p->known + lofamo_latency(watch);
}

/* Tells of all that were heard of; whether there were any. */
static bool tell_changes(struct ape *a)
{
	struct lofamo_part p;
	bool did = false;

	for (; next_change(a, &p) <= program_now(); did = true) {
		a->n_changes++;
		a->on_change(a->arg, &(struct weft_ape_part){
					     .kind = p.kind,
					     .node = p.site,
					     .unit = p.unit,
					     .health = p.state,
					     .since = p.since,
					     .known = p.known,
					     .by = p.by,
				     });
	}
	return did;
}

/* --- events --- */

static bool take(struct ape *a, struct weft_ape_event *e)
{
	if (!a->events.n)
		return false;
	*e = *(struct weft_ape_event *)ring_pop(&a->events);
	return true;
}

int weft_ape_poll(struct weft_ape_event *e)
{
	const struct ape_params *p;
	struct ape *a = ape();

	if (!a->is_open)
		return EBADF;
	if (!e)
		return EINVAL;
	p = a->stage.user.nic->params;
	program_charge(p->work.poll_load);
	tell_changes(a);
	ape_stage_step(&a->stage);
	if (take(a, e))
		return 0;
	return look_after_card(a) ? EIO : EAGAIN;
}

int weft_ape_wait(struct weft_ape_event *e)
{
	PROGRAM_CALL("weft_ape_wait", 0, 0);
	struct ape *a = ape();

	if (!a->is_open)
		return EBADF;
	if (!e)
		return EINVAL;
	ape_stage_step(&a->stage);
	while (!take(a, e)) {
		struct lofamo_part p;

		if (tell_changes(a))
			return EINTR;
		if (look_after_card(a))
			return EIO;
		ape_stage_wait(&a->stage, next_change(a, &p));
		ape_stage_step(&a->stage);
	}
	return 0;
}
