/* Requests and their answers. */
#include <errno.h>
#include <string.h>

#include "api/swnet/manager.h"
#include "base/mem.h"

struct weft_swnet *manager_new(const struct manager_wire *wire, void *arg)
{
	struct weft_swnet *m = mem_alloc(1, sizeof(*m));

	m->wire = wire;
	m->arg = arg;
	ring_init(&m->events, sizeof(struct weft_swnet_event));
	return m;
}

void manager_free(struct weft_swnet *m)
{
	plan_free(m->plan);
	ring_fini(&m->events);
	mem_free(m);
}

int manager_error(uint32_t status)
{
	static const int error[WEFT_SWNET_STATUSES] = {
		[WEFT_SWNET_NO_COMMAND] = ENOSYS,
		[WEFT_SWNET_NO_REGISTER] = ENOENT,
		[WEFT_SWNET_NO_PORT] = ENXIO,
		[WEFT_SWNET_NO_ENTRY] = ENOENT,
		[WEFT_SWNET_READ_ONLY] = EROFS,
		[WEFT_SWNET_BAD_VALUE] = EINVAL,
		[WEFT_SWNET_TOO_LONG] = EMSGSIZE,
	};

	return status < WEFT_SWNET_STATUSES ? error[status] : EIO;
}

static struct manager_ask *find_ask(struct weft_swnet *m, uint32_t sequence)
{
	for (uint32_t i = 0; i < MANAGER_WINDOW; i++)
		if (m->ask[i].is_open && m->ask[i].b.sequence == sequence)
			return &m->ask[i];
	return NULL;
}

static void end(struct weft_swnet *m, struct manager_ask *a,
	const struct registers_body *answer)
{
	a->is_open = false;
	m->n_open--;
	a->done(a->arg, a->tag, answer);
}

static void keep_event(struct weft_swnet *m, const struct registers_body *b)
{
	struct weft_swnet_event *e = ring_push(&m->events);

	*e = (struct weft_swnet_event){ .rail = b->rail,
		.port = b->word[0] & 0xff,
		.is_up = b->word[0] >> 8 & 1,
		.level = (uint32_t)(b->word[1] >> 32),
		.number = (uint32_t)b->word[1],
		.guid = b->word[2] };
}

/* An answer may be late, and a second one. */
static void take(struct weft_swnet *m, const struct registers_body *b)
{
	struct manager_ask *a;

	if (b->kind == REGISTERS_EVENT) {
		keep_event(m, b);
		return;
	}
	a = find_ask(m, b->sequence);
	if (a && b->kind == REGISTERS_ANSWER)
		end(m, a, b);
}

static void send_again(struct weft_swnet *m, sim_time now)
{
	for (uint32_t i = 0; i < MANAGER_WINDOW; i++) {
		struct manager_ask *a = &m->ask[i];

		if (!a->is_open || a->until > now)
			continue;
		a->until = now + MANAGER_PATIENCE;
		if (++a->tries > MANAGER_TRIES ||
			m->wire->send(m->arg, &a->to, &a->b))
			end(m, a, NULL);
	}
}

/* When the first of them is sent again. */
static sim_time first_until(const struct weft_swnet *m)
{
	sim_time t = SIM_NEVER;

	for (uint32_t i = 0; i < MANAGER_WINDOW; i++)
		if (m->ask[i].is_open && m->ask[i].until < t)
			t = m->ask[i].until;
	return t;
}

void manager_wait(struct weft_swnet *m)
{
	struct registers_body b;

	if (m->wire->receive(m->arg, &b, first_until(m)))
		take(m, &b);
	else
		send_again(m, m->wire->now(m->arg));
}

void manager_drain(struct weft_swnet *m)
{
	while (m->n_open)
		manager_wait(m);
}

static struct manager_ask *free_ask(struct weft_swnet *m)
{
	uint32_t i = 0;

	while (m->n_open == MANAGER_WINDOW)
		manager_wait(m);
	while (m->ask[i].is_open)
		i++;
	return &m->ask[i];
}

int manager_post(struct weft_swnet *m, const struct weft_swnet_target *to,
	const struct registers_body *b, manager_done *done, void *arg,
	uint64_t tag)
{
	struct manager_ask *a = free_ask(m);
	int error;

	*a = (struct manager_ask){ .to = *to,
		.tries = 1,
		.until = m->wire->now(m->arg) + MANAGER_PATIENCE,
		.done = done,
		.arg = arg,
		.tag = tag };
	memcpy(&a->b, b, REGISTERS_HEAD + b->n_words * sizeof(uint64_t));
	a->b.kind = REGISTERS_REQUEST;
	a->b.sequence = ++m->sequence;
	error = m->wire->send(m->arg, to, &a->b);
	a->is_open = !error;
	m->n_open += !error;
	return error;
}

/* --- one at a time --- */

struct call {
	struct registers_body *b;
	bool is_over, is_answered;
};

static void on_answer(
	void *arg, uint64_t tag, const struct registers_body *answer)
{
	struct call *c = arg;

	(void)tag;
	c->is_over = true;
	c->is_answered = answer != NULL;
	if (answer)
		memcpy(c->b, answer,
			REGISTERS_HEAD + answer->n_words * sizeof(uint64_t));
}

int manager_call(struct weft_swnet *m, const struct weft_swnet_target *to,
	struct registers_body *b)
{
	struct call c = { .b = b };
	int error;

	if (to->by == WEFT_SWNET_BY_JTAG) {
		error = m->wire->jtag(m->arg, to->chip, b);
		return error ? error : manager_error(b->status);
	}
	error = manager_post(m, to, b, on_answer, &c, 0);
	if (error)
		return error;
	while (!c.is_over)
		manager_wait(m);
	return c.is_answered ? manager_error(b->status) : ETIMEDOUT;
}

int weft_swnet_get_event(
	struct weft_swnet *m, struct weft_swnet_event *e, int64_t timeout)
{
	sim_time now, until;
	struct registers_body b;

	if (!m || !e || timeout < 0)
		return EINVAL;
	now = m->wire->now(m->arg);
	until = timeout < SIM_NEVER - now ? now + timeout : SIM_NEVER;
	while (!m->events.n) {
		if (!m->wire->receive(m->arg, &b, until))
			return ETIMEDOUT;
		take(m, &b);
	}
	*e = *(struct weft_swnet_event *)ring_pop(&m->events);
	return 0;
}
