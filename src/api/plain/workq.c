#include "api/plain/workq.h"

#include <string.h>

int workq_user_open(struct workq_user *u)
{
	struct workq_rings r = {
		.owner = u->owner,
		.n_entries = WORKQ_DEPTH,
		.n_completions = WORKQ_DEPTH,
		.entries_at = u->entries_at,
		.completions_at = u->completions_at,
	};
	const struct workq_completion none[WORKQ_DEPTH] = { { 0 } };
	struct nic_at a;

	/* those of an earlier life have numbers, too */
	program_write(u->completions_at, none, sizeof(none));
	u->nic = host_nic(program_host());
	u->node = program_node();
	a = nic_now(u->nic);
	return workqs_open(&a, u->queues, u->queue, &r);
}

/* The i-th completion from the next one on, if it is there. */
static bool look(
	const struct workq_user *u, uint32_t i, struct workq_completion *c)
{
	uint32_t place = (u->taken + i) % WORKQ_DEPTH;

	host_read(u->nic->host, u->node, u->completions_at + place * sizeof(*c),
		c, sizeof(*c));
	return (uint32_t)c->number == u->taken + i + 1;
}

static void take_all(struct workq_user *u)
{
	struct workq_completion c;

	while (look(u, 0, &c)) {
		u->taken++;
		u->failed += c.status != 0;
		u->value[c.id % WORKQ_DEPTH] = c.value;
		window_done(&u->window, (uint32_t)c.id);
		if (c.status && u->on_failed)
			u->on_failed(u->arg, (uint32_t)c.id);
	}
}

bool workq_user_has_failed(const struct workq_user *u)
{
	struct workq_completion c;
	uint32_t i = 0;

	while (look(u, i, &c) && !c.status)
		i++;
	return look(u, i, &c);
}

void workq_user_take(struct workq_user *u)
{
	take_all(u);
}

bool workq_user_is_done(const struct workq_user *u, uint32_t number)
{
	uint32_t from = number - u->window.oldest;
	struct workq_completion c;

	if (from >= WORKQ_DEPTH || u->window.done >> from & 1)
		return true;
	for (uint32_t i = 0; look(u, i, &c); i++)
		if ((uint32_t)c.id == number)
			return true;
	return false;
}

struct awaited {
	const struct workq_user *user;
	uint32_t number;
};

static bool has_come(void *arg, uint64_t *seen)
{
	const struct awaited *x = arg;

	*seen = 0;
	return workq_user_is_done(x->user, x->number);
}

struct poll_loop workq_user_loop(const struct workq_user *u)
{
	const struct workq_params *p = u->queues->how->params;

	return nic_poll_loop(u->nic, p->poll_period, p->poll_load);
}

bool workq_user_wait(struct workq_user *u, uint32_t number)
{
	struct awaited x = { u, number };
	uint64_t seen;

	if (!workq_user_is_done(u, number))
		program_poll_until(has_come, &x, workq_user_loop(u), &seen);
	take_all(u);
	return !u->failed;
}

bool workq_user_wait_all(struct workq_user *u)
{
	while (window_span(&u->window))
		workq_user_wait(u, u->window.oldest);
	return !u->failed;
}

uint32_t workq_user_next(struct workq_user *u)
{
	take_all(u);
	if (window_span(&u->window) == WORKQ_DEPTH)
		workq_user_wait(u, u->window.oldest);
	return u->window.next;
}

/* No more are posted than completions have room for, so none is overrun. */
uint32_t workq_user_post(struct workq_user *u, void *entry, sim_time begun)
{
	workq_user_next(u);
	return workq_user_post_next(u, entry, begun);
}

uint32_t workq_user_post_next(struct workq_user *u, void *entry, sim_time begun)
{
	uint32_t number = u->window.next, n = u->queues->how->entry;
	uint64_t id = number;
	struct nic_at a;

	memcpy(entry, &id, sizeof(id));
	program_charge(u->queues->how->params->post);
	program_write(u->entries_at + number % WORKQ_DEPTH * n, entry, n);
	u->window.next++;
	a = nic_now(u->nic);
	workqs_ring(&a, u->queues, u->queue, u->window.next, u->taken, begun,
		begun);
	return number;
}
