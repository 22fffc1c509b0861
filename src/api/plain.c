#include "api/plain.h"

#include "host/program.h"

int plain_user_open(struct plain_user *u, uint32_t process, uint64_t base,
	uint64_t bytes, uint64_t at)
{
	struct nic *nic = host_nic(program_host());
	site_id s = program_node();
	int code;
	struct plain_rings r = {
		.process = process,
		.n_entries = PLAIN_DEPTH,
		.n_completions = PLAIN_DEPTH,
		.entries_at = at,
		.completions_at = at + PLAIN_DEPTH * sizeof(struct plain_entry),
	};

	*u = (struct plain_user){
		.nic = nic, .at = at, .process = process, .node = s
	};
	code = plain_register(nic, s, process, PLAIN_KEY + process, base, bytes,
		PLAIN_READ | PLAIN_WRITE | PLAIN_ATOMIC);
	return code ? code : plain_open(nic, s, process, &r);
}

/* The i-th completion from the next one on, if it is there. */
static bool look(
	const struct plain_user *u, uint32_t i, struct plain_completion *c)
{
	uint32_t place = (u->taken + i) % PLAIN_DEPTH;

	host_read(u->nic->host, u->node,
		u->at + PLAIN_DEPTH * sizeof(struct plain_entry) +
			place * sizeof(*c),
		c, sizeof(*c));
	return (uint32_t)c->number == u->taken + i + 1;
}

static void take_all(struct plain_user *u)
{
	struct plain_completion c;

	while (look(u, 0, &c)) {
		u->taken++;
		u->failed += c.status != PLAIN_OK;
		u->value[c.id % PLAIN_DEPTH] = c.value;
		window_done(&u->window, (uint32_t)c.id);
	}
}

bool plain_user_is_done(const struct plain_user *u, uint32_t number)
{
	uint32_t i, from = number - u->window.oldest;
	struct plain_completion c;

	if (from >= PLAIN_DEPTH || u->window.done >> from & 1)
		return true;
	for (i = 0; look(u, i, &c); i++)
		if ((uint32_t)c.id == number)
			return true;
	return false;
}

struct awaited {
	const struct plain_user *user;
	uint32_t number;
};

static bool has_come(void *arg, uint64_t *seen)
{
	const struct awaited *x = arg;

	*seen = 0;
	return plain_user_is_done(x->user, x->number);
}

bool plain_user_wait(struct plain_user *u, uint32_t number)
{
	const struct plain_params *p = plain_params_of(u->nic);
	struct awaited x = { u, number };
	uint64_t seen;

	if (!plain_user_is_done(u, number))
		program_poll_until(has_come, &x,
			nic_poll_loop(u->nic, p->poll_period, p->poll_load),
			&seen);
	take_all(u);
	return !u->failed;
}

bool plain_user_wait_all(struct plain_user *u)
{
	while (window_span(&u->window))
		plain_user_wait(u, u->window.oldest);
	return !u->failed;
}

uint32_t plain_user_next(struct plain_user *u)
{
	take_all(u);
	if (window_span(&u->window) == PLAIN_DEPTH)
		plain_user_wait(u, u->window.oldest);
	return u->window.next;
}

void plain_user_post(
	struct plain_user *u, struct plain_entry *e, sim_time begun)
{
	uint32_t number = plain_user_next(u);

	e->id = number;
	e->own_key = PLAIN_KEY + u->process;
	program_charge(plain_params_of(u->nic)->post);
	program_write(u->at + number % PLAIN_DEPTH * sizeof(*e), e, sizeof(*e));
	u->window.next++;
	plain_ring(u->nic, program_worker(), u->node, program_now(), u->process,
		u->window.next, u->taken, begun);
}
