/* Calls that wait: what has arrived is taken, and the process sleeps. */
#include "api/msg/domain.h"
#include "api/msg/slots.h"

/* All but what a library above has to do stays until the process takes it. */
static bool has_news(void *arg, uint64_t *seen)
{
	const struct msg_state *m = arg;

	*seen = m->n_news || m->has_all || m->has_word ||
		(m->ops->has_events && m->ops->has_events(m)) ||
		m->tagged->has_next(m) ||
		(m->domain && msg_domain_has_news(m)) ||
		(m->awaited.kind == MSG_DONE_OWN &&
			m->ops->is_done(m, &m->awaited));
	return *seen || (m->can_go_on && m->can_go_on(m->on_end_arg));
}

/* There is no news now. */
static struct poll_loop poll_loop(struct msg_state *m)
{
	struct poll_loop loop = m->ops->loop(m);

	loop.stays = true;
	loop.is_checked = true;
	return loop;
}

static void look_at_all(struct msg_state *m)
{
	m->has_all = false;
	for (uint32_t i = 0; i < m->n_ranks; i++) {
		if (m->tagged->drain)
			m->tagged->drain(m, i);
		msg_atomic_serve(m, i);
	}
}

bool msg_step(struct msg_state *m)
{
	bool did = m->ops->poll && m->ops->poll(m);

	if (m->domain && msg_domain_has_news(m)) {
		msg_domain_take_news(m);
		did = true;
	}
	did |= m->n_news || m->has_all;
	while (m->n_news || m->has_all) {
		uint32_t what = m->news[m->news_first];

		if (!m->n_news) {
			look_at_all(m);
			continue;
		}
		m->news_first = (m->news_first + 1) % MSG_NEWS;
		m->n_news--;
		if (what & MSG_NEWS_ASK)
			msg_atomic_serve(m, what >> 1);
		else
			m->tagged->drain(m, what >> 1);
	}
	if (m->has_word && m->soft)
		m->soft->is_stuck = false;
	m->has_word = false;
	did |= msg_advance_requests(m);
	return (m->go_on && m->go_on(m->on_end_arg)) || did;
}

/* Its own calls do not know what the call waits for. */
static sim_time call_between(struct msg_state *m)
{
	struct weft_msg_done awaited = m->awaited;
	uint64_t at = m->awaited_at;
	sim_time again;

	m->awaited = (struct weft_msg_done){ 0 };
	m->awaited_at = 0;
	again = m->between(m->on_end_arg);
	m->awaited = awaited;
	m->awaited_at = at;
	return again;
}

/* Whether a step would find nothing to do, where there is no news. */
static bool is_idle(const struct msg_state *m)
{
	const struct msg_soft *s = m->soft;

	return s && !m->go_on && !s->active.first && !s->has_lost &&
	       (!s->waiting.first || s->is_stuck) && !m->posted.first &&
	       !m->waiting.first && (!m->ops->poll || m->ops->has_events);
}

/* --- sleep --- */

static enum poll_news news(void *arg)
{
	struct msg_state *m = arg;

	return m->n_news || m->has_all || m->has_word || m->tagged->has_next(m)
		       ? POLL_ENDS
		       : m->ops->peek(m, &m->n_peeked);
}

static struct poll_loop again(void *arg, uint64_t draw)
{
	const struct msg_state *m = arg;
	struct poll_loop loop = m->ops->loop_by(m, draw);

	loop.stays = true;
	return loop;
}

/* Whether the ends of its own puts, or of writes to slots, change nothing for
 * what a call waits for: then it need not wake for them. */
static bool sleeps_on(const struct msg_state *m)
{
	return m->ops->peek && !m->go_on && !m->between && !m->domain &&
	       m->awaited.kind != MSG_DONE_OWN;
}

/* There is no news. */
static void fall_asleep(struct msg_state *m)
{
	static const struct poll_through through = { news, again };
	uint64_t seen;

	if (m->awaited_at) {
		program_poll_with(
			m->awaited_at, has_news, m, poll_loop(m), &seen);
	} else if (sleeps_on(m)) {
		m->n_peeked = 0;
		program_poll_through(has_news, m, poll_loop(m), &through);
	} else {
		program_poll_until(has_news, m, poll_loop(m), &seen);
	}
}

void msg_go_on(struct msg_state *m)
{
	sim_time again = m->between ? call_between(m) : SIM_NEVER;
	uint64_t seen;

	if (!again || ((has_news(m, &seen) || !is_idle(m)) &&
			      (msg_step(m) || has_news(m, &seen))))
		return;
	if (again != SIM_NEVER)
		msg_sleep_before(m, again);
	else
		fall_asleep(m);
}

void msg_sleep_before(struct msg_state *m, sim_time t)
{
	uint64_t seen;

	if (!has_news(m, &seen))
		program_poll_before(has_news, m, poll_loop(m), t, &seen);
}

void weft_msg_progress(struct weft_msg *msg)
{
	struct msg_state *m = msg_state(msg);
	struct poll_loop loop;

	if (!m->ops)
		return;
	loop = m->ops->loop(m);
	program_charge(loop.period > loop.load ? loop.period : loop.load);
	msg_step(m);
}
