/*
 * Gets that wait for their answers.  The acknowledgement of a get does not
 * guarantee an answer: the other node may give up.  So the getter keeps a get
 * until it is answered, repeats it after a time-out, and stops the queue in the
 * end, as for an unacknowledged packet.
 *
 * An answer names its get.  Only the first one is executed, and none to a get
 * that was given up.  The gets of a packet are kept together; only those that
 * were not answered are repeated, without the rest of the packet.
 */
#include "nic/elan4/units.h"

static struct elan_gets *gets_of(const struct nic_at *a)
{
	return &elan_here(a)->gets;
}

static struct elan_get *find(
	const struct elan_gets *x, const struct elan_cookie *c)
{
	struct elan_get *g = slots_find(&x->items, c->place);

	return g && g->cookie.number == c->number ? g : NULL;
}

static struct elan_get *find_unanswered(
	const struct elan_gets *x, const struct elan_cookie *c)
{
	struct elan_get *g = find(x, c);

	return g && g->left ? g : NULL;
}

/* --- the list of waiting gets, the oldest first --- */

static void join(struct elan_gets *x, struct elan_get *g)
{
	g->is_waiting = true;
	slots_push(&x->items, &x->late, g->cookie.place);
}

static void leave(struct elan_gets *x, struct elan_get *g)
{
	if (g->is_waiting)
		slots_remove(&x->items, &x->late, g->cookie.place);
	g->is_waiting = false;
}

/* NULL: none waits. */
static struct elan_get *eldest(const struct elan_gets *x)
{
	return slots_find(&x->items, x->late.first);
}

/* One event for all: at the first time-out. */
static void set_clock(const struct nic_at *a)
{
	const struct elan_get *g = eldest(gets_of(a));

	if (gets_of(a)->is_posted || !g)
		return;
	gets_of(a)->is_posted = true;
	elan_post(a, g->until, ELAN_ENGINE_GET, 0);
}

/* --- life --- */

struct elan_cookie elan_get_new(const struct nic_at *a, struct elan_queue *q,
	const struct elan_route *to, const struct elan_buffer *b)
{
	struct elan_gets *x = gets_of(a);
	uint32_t place = slots_take(&x->items), i;
	struct elan_get *g = slots_at(&x->items, place);
	bool is_sure = true;

	g->cookie = (struct elan_cookie){ .place = place, .number = x->made++ };
	g->queue = q;
	g->to = *to;
	for (i = 0; i < b->n_pieces; i++) {
		is_sure &= b->piece[i].what != ELAN_TEST;
		if (b->piece[i].what != ELAN_GET)
			continue;
		g->sure |= (uint8_t)(is_sure << g->n_pieces);
		g->left |= (uint8_t)(1u << g->n_pieces);
		g->piece[g->n_pieces++] = b->piece[i];
	}
	q->gets++;
	return g->cookie;
}

static void forget(struct elan_node *n, struct elan_get *g)
{
	leave(&n->gets, g);
	g->queue->gets--;
	g->queue->answered -= g->running;
	slots_give(&n->gets.items, g->cookie.place);
}

bool elan_get_context(
	const struct nic_at *a, const struct elan_cookie *c, uint16_t *context)
{
	const struct elan_get *g = find(gets_of(a), c);

	if (g)
		*context = g->queue->context;
	return g;
}

bool elan_get_answered(const struct nic_at *a, const struct elan_cookie *c)
{
	struct elan_get *g = find_unanswered(gets_of(a), c);
	uint32_t bit = 1u << (c->get & 7);

	if (!g || !(g->left & bit))
		return false;
	g->left = (uint8_t)(g->left & ~bit);
	g->running++;
	g->queue->answered++;
	if (!g->left)
		leave(gets_of(a), g);
	return true;
}

void elan_get_done(const struct nic_at *a, const struct elan_cookie *c)
{
	struct elan_get *g = find(gets_of(a), c);

	if (!g)
		return;
	g->running--;
	g->queue->answered--;
	if (!g->left && !g->running)
		forget(elan_here(a), g);
}

void elan_get_forget(struct elan_node *n, const struct elan_queue *q)
{
	for (uint32_t i = 1; i <= n->gets.items.room; i++) {
		struct elan_get *g = slots_find(&n->gets.items, i);

		if (g && g->queue == q)
			forget(n, g);
	}
}

/* --- waiting --- */

void elan_get_acked(const struct nic_at *a, const struct elan_cookie *c,
	const struct elan_account *account)
{
	struct elan_get *g = find_unanswered(gets_of(a), c);

	/* the answer may have been faster */
	if (!g)
		return;
	g->account = *account;
	g->until = a->t + elan_params(a)->get_timeout;
	leave(gets_of(a), g);
	join(gets_of(a), g);
	set_clock(a);
}

void elan_get_denied(const struct nic_at *a, const struct elan_cookie *c)
{
	struct elan_get *g = find_unanswered(gets_of(a), c);
	uint32_t kept;

	if (!g)
		return;
	kept = c->get < ELAN_MOST_PIECES ? (1u << c->get) - 1 : g->sure;
	g->left = (uint8_t)(g->left & kept);
	if (!g->left && !g->running)
		forget(elan_here(a), g);
}

void elan_get_failed(const struct nic_at *a, const struct elan_cookie *c,
	enum elan_error why)
{
	struct elan_get *g = find_unanswered(gets_of(a), c);

	if (!g)
		return;
	elan_queue_stop(a, g->queue, why);
	forget(elan_here(a), g);
}

static void on_acked(
	const struct nic_at *a, const struct elan_sent *s, bool is_yes)
{
	(void)is_yes;
	window_done(&gets_of(a)->channel, s->sequence);
	elan_get_acked(a, &s->get, &s->account);
}

static void on_failed(
	const struct nic_at *a, const struct elan_sent *s, enum elan_error why)
{
	window_done(&gets_of(a)->channel, s->sequence);
	elan_get_failed(a, &s->get, why);
}

static const struct elan_owner owner = { .done = on_acked,
	.failed = on_failed };

/* Repeats a get, by a packet of the card's own. */
static void ask(const struct nic_at *a, struct elan_get *g)
{
	uint32_t id = elan_send_new(a), i;
	struct elan_sending *s = elan_sending(a, id);
	sim_time start = elan_start(a);

	*s->copy = (struct elan_buffer){
		.kind = ELAN_DATA,
		.context = g->to.context,
		.channel = ELAN_GET_CHANNEL,
		.sequence = gets_of(a)->channel.next++,
		.sending = id,
		.asked = a->t,
		.left_at = start,
		.get = g->cookie,
	};
	for (i = 0; i < g->n_pieces; i++)
		if (g->left >> i & 1)
			s->copy->piece[s->copy->n_pieces++] = g->piece[i];
	s->item.dst = g->to.node;
	s->routes = g->to.routes;
	s->owner = &owner;
	s->fifo = ELAN_FIFO_STEN;
	s->account = g->account;
	elan_send_at(a, id, start);
}

void elan_get_on_late(const struct nic_at *a, uint32_t none)
{
	struct elan_gets *x = gets_of(a);
	struct elan_get *g;

	(void)none;
	x->is_posted = false;
	while ((g = eldest(x)) && g->until <= a->t) {
		if (g->tries == elan_params(a)->get_retries) {
			elan_get_failed(a, &g->cookie, ELAN_ERROR_RETRIES);
			continue;
		}
		leave(x, g);
		/* if too many are repeated, this one waits on */
		if (window_span(&x->channel) < ELAN_SPAN) {
			g->tries++;
			elan_count(a)->asked_again++;
			ask(a, g);
			continue;
		}
		g->until = a->t + elan_params(a)->get_timeout;
		join(x, g);
	}
	set_clock(a);
}
