#include "api/msg/domain.h"

#include <errno.h>

#include "parts/domain/domain.h"

enum { MOST_OPEN = 64 }; /* transfers of a process */

static struct domain_at now(const struct msg_state *m)
{
	return (struct domain_at){ m->domain, program_worker(), m->node,
		program_now() };
}

/* Deliveries that no packet brings. */
static void on_arrived(
	void *arg, const struct domain_at *at, const struct domain_move *x)
{
	struct nic *nic = arg;
	const struct packet p = {
		.src = at->node,
		.bytes = (uint16_t)(x->from << 8 | x->to),
		.born = SIM_NEVER,
	};

	if (nic->on_delivered)
		nic->on_delivered(nic->arg, at->node, &p, at->t);
}

struct count {
	const struct msg_state *m;
	uint32_t most;
};

static bool are_few(void *arg, uint64_t *seen)
{
	const struct count *x = arg;
	const struct msg_state *m = x->m;

	*seen = domain_n_open(m->domain, m->node, m->process) <= x->most;
	return *seen;
}

/* Waits until at most so many of its own transfers are under way. */
static void wait_for(struct msg_state *m, uint32_t most)
{
	struct count x = { m, most };
	uint64_t seen;

	if (!are_few(&x, &seen))
		program_poll_until(are_few, &x, m->ops->loop(m), &seen);
}

static void begin(struct msg_state *m, struct domain_move *x)
{
	struct domain_at at;

	wait_for(m, MOST_OPEN - 1);
	x->on_arrived = on_arrived;
	x->arg = m->nic;
	at = now(m);
	domain_begin(&at, x);
}

void msg_domain_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	struct domain_move x = {
		.kind = DOMAIN_PUT,
		.from = m->process,
		.to = msg_process_of(m, rank),
		.to_at = to,
		.bytes = bytes,
		.data = data,
		.count_at = DOMAIN_NONE,
		.done_at = DOMAIN_NONE,
	};

	begin(m, &x);
}

/* A word of its own that is not zero before the end. */
static uint64_t arm(struct msg_state *m, uint32_t word)
{
	const uint64_t one = 1;

	program_write(msg_word_at(m, word), &one, sizeof(one));
	return msg_word_at(m, word);
}

void msg_domain_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	struct domain_move x = {
		.kind = DOMAIN_PUT,
		.from = m->process,
		.to = msg_process_of(m, rank),
		.from_at = from,
		.to_at = to,
		.bytes = bytes,
		.count_at = DOMAIN_NONE,
		.done_at = DOMAIN_NONE,
	};

	/* a counter has the same offset in all processes */
	if (counter != WEFT_MSG_NONE)
		x.count_at =
			msg_address(m, rank, msg_word_at(m, counter) - m->base);
	if (done) {
		*done = (struct weft_msg_done){ MSG_DONE_WORD, msg_take_word(m),
			0 };
		x.done_at = arm(m, done->index);
	}
	begin(m, &x);
}

void msg_domain_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	struct domain_move x = {
		.kind = DOMAIN_GET,
		.from = msg_process_of(m, rank),
		.to = m->process,
		.from_at = from,
		.to_at = to,
		.bytes = bytes,
		.count_at = DOMAIN_NONE,
		.done_at = arm(m, word),
	};

	begin(m, &x);
}

/* The request takes the bytes of a work entry.  The old value comes to a page
 * of this layer that machines with slots do not use in calls that wait. */
int msg_domain_atomic(struct msg_state *m, uint32_t rank, uint64_t at,
	enum atomic_op op, uint64_t operand, uint64_t bound, uint64_t *old)
{
	struct weft_msg_done done = { MSG_DONE_WORD, msg_take_word(m), 0 };
	struct domain_move x = {
		.kind = DOMAIN_WORD,
		.from = m->process,
		.to = msg_process_of(m, rank),
		.to_at = at,
		.bytes = 32,
		.count_at = DOMAIN_NONE,
		.op = op,
		.operand = operand,
		.bound = bound,
		.old_at = m->stages_at,
	};

	if (!done.index)
		return EBUSY;
	x.done_at = arm(m, done.index);
	begin(m, &x);
	weft_msg_wait((struct weft_msg *)m, &done);
	if (domain_is_gone(m->domain, m->node))
		return EIO;
	program_read(m->stages_at, old, sizeof(*old));
	return 0;
}

/* --- sums --- */

static void combine(uint32_t op, uint64_t *a, const uint64_t *b, uint32_t n)
{
	msg_combine((enum weft_msg_reduction)op, a, b, n);
}

static void on_end(void *arg, const struct domain_at *at, uint32_t process)
{
	const struct domain_move x = { .from = process, .to = process };

	on_arrived(arg, at, &x);
}

static bool has_sums(const struct msg_state *m)
{
	return domain_params(host_parts(m->host))->sums &&
	       m->n_ranks == m->n_processes && m->n_ranks > 1;
}

int msg_domain_reduce(struct msg_state *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	struct weft_msg_done done = { .kind = MSG_DONE_WORD };
	struct domain_sum x = {
		.from_at = from,
		.to_at = to,
		.n = n,
		.root = root == WEFT_MSG_ANY ? DOMAIN_ALL : root,
		.op = op,
		.combine = combine,
		.on_end = on_end,
		.arg = m->nic,
	};
	struct domain_at at;

	if (!has_sums(m))
		return ENOSYS;
	if (!n)
		return 0;
	while (!(done.index = msg_take_word(m)))
		msg_go_on(m);
	x.done_at = arm(m, done.index);
	at = now(m);
	domain_join(&at, m->process, &x);
	weft_msg_wait((struct weft_msg *)m, &done);
	return domain_is_gone(m->domain, m->node) ? EIO : 0;
}

void msg_domain_close(struct msg_state *m)
{
	wait_for(m, 0);
}

/* --- its death --- */

bool msg_domain_has_news(const struct msg_state *m)
{
	return !m->is_domain_lost && domain_is_gone(m->domain, m->node);
}

void msg_domain_take_news(struct msg_state *m)
{
	m->is_domain_lost = true;
	for (uint32_t i = 0; i < m->n_processes; i++)
		if (i != m->process)
			msg_lose(m, m->node, i);
}
