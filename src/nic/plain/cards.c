/*
 * Several cards: which one a packet takes, and what becomes of the work of one
 * that fails.
 *
 * With nic.stripe all cards cut packets from all queues.  A packet whose card
 * is down, here or as far as this node has been told at the other node, takes
 * another one, and one that is not answered is sent again by the next card.
 * Receivers know packets by queue and number, whichever card they come by, so
 * none is executed twice.
 */
#include "net/repair.h"
#include "nic/plain/card.h"
#include "parts/cards/cards.h"

static uint32_t all_cards(const struct nic_at *a)
{
	return (1u << a->nic->n_cards) - 1;
}

/* Cards of another node that are known to be down: what its own ports know was
 * told. */
static uint32_t told_down(const struct nic_at *a, site_id node)
{
	const struct net *net = a->nic->net;
	sim_time later = net->route->told - net->route->notice;

	if (!net->repair || net->route->told < 0 || net->route->notice < 0)
		return 0;
	return (uint32_t)net_repair_dead(
		       net->repair, node, a->t > later ? a->t - later : 0) &
	       all_cards(a);
}

/* The first card from one on that is not down; or from the next ones on, after
 * so many that are up. */
static uint32_t find_up(
	const struct nic_at *a, uint32_t from, uint32_t down, uint32_t skip)
{
	uint32_t n = a->nic->n_cards, i = 0;

	if (!(down >> from % n & 1))
		return from % n;
	for (; i < n; i++)
		if (!(down >> (from + i) % n & 1) && !skip--)
			break;
	return (from + i) % n;
}

/* Cards of this node not to send by: without a link, unless no other is left,
 * in which case a link may return. */
static uint32_t own_down(const struct nic_at *a)
{
	const struct plain_node *n = plain_here(a);

	return n->down == all_cards(a) ? n->dead : n->down;
}

bool plain_has_failed(const struct nic_at *a, uint32_t card)
{
	uint32_t dead = plain_here(a)->dead;

	return plain_of(a)->n_lanes == 1 ? dead >> card & 1
					 : dead == all_cards(a);
}

static uint32_t n_up(const struct nic_at *a, uint32_t down)
{
	uint32_t n = a->nic->n_cards - (uint32_t)__builtin_popcount(down);

	return n ? n : 1;
}

uint32_t plain_leader(const struct nic_at *a)
{
	return find_up(a, a->card, plain_here(a)->down, 0);
}

bool plain_is_resting(const struct nic_at *a)
{
	uint32_t down = plain_here(a)->down;

	return plain_of(a)->n_lanes > 1 && down >> a->card & 1 &&
	       down != all_cards(a);
}

/* Two of the same number that are up, where there are any; packets of one that
 * is not take the others in turn. */
static void stripe(
	const struct nic_at *a, const struct ask_item *s, struct packet *p)
{
	uint32_t here = own_down(a), there = told_down(a, s->item.dst);
	uint32_t from = s->card + s->item.route, both = here | there;
	uint32_t turn = s->copy->h.number;
	bool is_apart = a->nic->net->topo->is_apart;

	if (both != all_cards(a)) {
		p->card = p->to_card =
			(uint8_t)find_up(a, from, both, turn % n_up(a, both));
		return;
	}
	p->card = (uint8_t)find_up(a, from, here, turn % n_up(a, here));
	p->to_card = is_apart ? p->card
			      : (uint8_t)find_up(
					a, from, there, turn % n_up(a, there));
}

bool plain_choose(
	const struct nic_at *a, const struct ask_item *s, struct packet *p)
{
	if (plain_has_failed(a, s->card))
		return false;
	if (plain_of(a)->n_lanes > 1)
		stripe(a, s, p);
	return true;
}

/* --- failures --- */

/* A card's requests that wait for answers or for another try: others send them,
 * or they have failed. */
static void drop_requests(const struct nic_at *a)
{
	struct resend *r = &asks_of(a)->resend;

	for (uint32_t id = 1; id <= r->items.room; id++) {
		const struct ask_item *s = slots_find(&r->items, id);

		if (!s || s->card != a->card || !resend_has_left(&s->item))
			continue;
		if (plain_of(a)->n_lanes == 1)
			plain_send_give_up(a, id);
		else if (s->item.left_at)
			resend_excused(a, r, id);
	}
}

/* Its queues take up what there is to do, if only to say that it has failed. */
static void wake_all(const struct nic_at *a)
{
	for (uint32_t i = 0; i < a->nic->n_cards; i++) {
		const struct nic_at at = plain_at(a, i);
		const struct workqs *x = &plain_card(&at)->queues;

		for (uint32_t k = 0; k < x->n_queues; k++)
			if (x->queue[k])
				plain_send_wake(&at, k);
		plain_send_kick(&at);
	}
}

/* All queues of a card stop when it fails.  When it returns, those go on that
 * had not stopped before. */
static void stop_queues(const struct nic_at *a, bool stops)
{
	const struct workqs *x = &plain_card(a)->queues;

	for (uint32_t k = 0; k < x->n_queues; k++) {
		struct plain_queue *q = (struct plain_queue *)x->queue[k];

		if (!q)
			continue;
		if (stops)
			q->was_stopped = q->q.is_stopped;
		q->q.is_stopped = stops || q->was_stopped;
	}
}

/* A link that fails may return before retransmissions end; the work of a card
 * that fails is lost with it, unless others do it. */
static void fail(const struct nic_at *a)
{
	struct plain_node *n = a->node;
	bool is_striped = plain_of(a)->n_lanes > 1;
	bool dies = cards_dies(a->nic->plan, a->s, a->card, a->t);

	n->down |= 1u << a->card;
	n->dead |= (uint32_t)dies << a->card;
	if (!is_striped && !dies)
		return;
	if (!is_striped)
		stop_queues(a, true);
	drop_requests(a);
	wake_all(a);
}

void plain_on_link(struct net_client *me, struct sim_worker *w, site_id s,
	port_id p, bool is_up, sim_time t)
{
	struct nic *nic = me->state;
	struct plain_node *n;
	struct nic_at a;

	if (s >= nic->n_nodes)
		return; /* a switch's end of it */
	a = nic_at(nic, w, s, t);
	n = a.node;
	a.card = nic->n_cards > 1 ? p : 0;
	plain_settle(&a);
	if (!is_up) {
		fail(&a);
	} else {
		if (plain_of(&a)->n_lanes == 1 && n->dead >> a.card & 1)
			stop_queues(&a, false);
		n->down &= ~(1u << a.card);
		n->dead &= ~(1u << a.card);
		wake_all(&a);
	}
}
