/*
 * Gets that wait for their answers.  The acknowledgement of a get says that
 * it was understood, and not that its answer will come: that is the other
 * side's business, which may give up.  So the getter keeps what it asked for
 * until the answer is there, asks again when it has waited too long, and
 * stops the queue in the end, as it would for a packet that nobody takes.
 *
 * An answer names the get that it belongs to.  Only the first one is
 * executed, and none that nobody waits for any more.
 */
#include "nic/elan4/parts.h"

static struct elan_get *find(
	const struct elan_node *n, const struct elan_cookie *c)
{
	struct elan_get *g = slots_find(&n->gets, c->place);

	return g && g->cookie.number == c->number ? g : NULL;
}

static struct elan_get *find_unanswered(
	const struct elan_node *n, const struct elan_cookie *c)
{
	struct elan_get *g = find(n, c);

	return g && !g->is_answered ? g : NULL;
}

/* --- the list of those that are waited for, the longest first --- */

static void join(struct elan_node *n, struct elan_get *g)
{
	g->is_waiting = true;
	slots_push(&n->gets, &n->late_gets, g->cookie.place);
}

static void leave(struct elan_node *n, struct elan_get *g)
{
	if (g->is_waiting)
		slots_remove(&n->gets, &n->late_gets, g->cookie.place);
	g->is_waiting = false;
}

/* NULL: nobody waits. */
static struct elan_get *eldest(const struct elan_node *n)
{
	return slots_find(&n->gets, n->late_gets.first);
}

/* One event for all: at the end of the longest wait. */
static void set_clock(const struct nic_at *a)
{
	const struct elan_get *g = eldest(elan_here(a));

	if (elan_here(a)->is_get_posted || !g)
		return;
	elan_here(a)->is_get_posted = true;
	elan_post(a, g->until, ELAN_ENGINE_GET, 0);
}

/* --- life --- */

struct elan_cookie elan_get_new(const struct nic_at *a, uint32_t queue,
	site_id dst, const struct elan_buffer *b)
{
	struct elan_node *n = a->node;
	uint32_t place = slots_take(&n->gets), i;
	struct elan_get *g = slots_at(&n->gets, place);

	g->cookie = (struct elan_cookie){ place, n->gets_made++ };
	g->queue = queue;
	g->dst = dst;
	g->context = b->context;
	g->n_pieces = b->n_pieces;
	for (i = 0; i < b->n_pieces; i++)
		g->piece[i] = b->piece[i];
	elan_queue(n, queue)->gets++;
	return g->cookie;
}

static void forget(struct elan_node *n, struct elan_get *g)
{
	leave(n, g);
	elan_queue(n, g->queue)->gets--;
	slots_give(&n->gets, g->cookie.place);
}

bool elan_get_answered(const struct nic_at *a, const struct elan_cookie *c)
{
	struct elan_get *g = find_unanswered(elan_here(a), c);

	if (!g)
		return false;
	leave(elan_here(a), g);
	g->is_answered = true;
	return true;
}

void elan_get_done(const struct nic_at *a, const struct elan_cookie *c)
{
	struct elan_get *g = find(elan_here(a), c);

	if (g)
		forget(elan_here(a), g);
}

bool elan_get_is_answered(const struct elan_node *n, uint32_t queue)
{
	uint32_t i;

	for (i = 1; i <= n->gets.room; i++) {
		const struct elan_get *g = slots_find(&n->gets, i);

		if (g && g->is_answered && g->queue == queue)
			return true;
	}
	return false;
}

void elan_get_forget(struct elan_node *n, uint32_t queue)
{
	uint32_t i;

	for (i = 1; i <= n->gets.room; i++) {
		struct elan_get *g = slots_find(&n->gets, i);

		if (g && g->queue == queue)
			forget(n, g);
	}
}

/* --- waiting --- */

void elan_get_acked(const struct nic_at *a, const struct elan_cookie *c,
	const struct elan_account *account)
{
	struct elan_get *g = find_unanswered(elan_here(a), c);

	/* The answer may have been faster. */
	if (!g)
		return;
	g->account = *account;
	g->until = a->t + elan_of(a)->params.get_timeout;
	leave(elan_here(a), g);
	join(elan_here(a), g);
	set_clock(a);
}

void elan_get_failed(const struct nic_at *a, const struct elan_cookie *c,
	enum elan_error why)
{
	struct elan_get *g = find_unanswered(elan_here(a), c);

	if (!g)
		return;
	elan_queue_stop(a, g->queue, why);
	forget(elan_here(a), g);
}

/* Asks again, by a packet of the card's own. */
static void ask(const struct nic_at *a, struct elan_get *g)
{
	struct elan_node *n = a->node;
	uint32_t id = elan_send_new(a), i;
	struct elan_sending *s = elan_sending(n, id);
	sim_time start = a->t + elan_of(a)->params.command - elan_of(a)->least;

	*s->copy = (struct elan_buffer){
		.kind = ELAN_DATA,
		.context = g->context,
		.channel = ELAN_GET_CHANNEL,
		.sequence = n->get_channel.next++,
		.sending = id,
		.asked = a->t,
		.left_at = start,
		.get = g->cookie,
		.n_pieces = g->n_pieces,
	};
	for (i = 0; i < g->n_pieces; i++)
		s->copy->piece[i] = g->piece[i];
	s->dst = g->dst;
	s->owner = ELAN_OWNER_GET;
	s->fifo = ELAN_FIFO_STEN;
	s->account = g->account;
	elan_send_at(a, id, start);
}

void elan_get_on_late(const struct nic_at *a)
{
	struct elan_node *n = a->node;
	struct elan_get *g;

	n->is_get_posted = false;
	while ((g = eldest(n)) && g->until <= a->t) {
		if (g->tries == elan_of(a)->params.get_retries) {
			elan_get_failed(a, &g->cookie, ELAN_ERROR_RETRIES);
			continue;
		}
		leave(n, g);
		/* Where too many are asked for anew, this one waits on. */
		if (elan_channel_span(&n->get_channel) < ELAN_SPAN) {
			g->tries++;
			n->counts.asked_again++;
			ask(a, g);
			continue;
		}
		g->until = a->t + elan_of(a)->params.get_timeout;
		join(n, g);
	}
	set_clock(a);
}
