#include "nic/plain/card.h"
#include "parts/cards/cards.h"

#define AT(field) offsetof(struct plain_params, field)
#define CARD	  "assumed: a card of the 2020s, 100 Gb/s"
#define COUNT(name_, field_, ...)                                              \
	PARAM_ROW(PARAM_COUNT, name_, AT(field_), __VA_ARGS__)
#define TIME(name_, field_, def_, min_, ...)                                   \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, min_, PS_PER_S / 1000,  \
		__VA_ARGS__)

/* What receivers remember of a channel suffices for it without a call. */
enum { SHORT_WINDOW = 32 };

static const struct param params[] = {
	PARAM_ONE_OF("routing", AT(routing), "dynamic", "dynamic|deterministic",
		"routing of requests; deterministic routing keeps the packets "
		"between two nodes in order",
		"assumed: nothing here needs the order"),
	PARAM_ONE_OF("answers", AT(answers), "buffered", "buffered|held",
		"place of answers that wait to leave; buffered: buffers of the "
		"card; held: the reception FIFO, where each request keeps its "
		"place until its answer has left, which can deadlock if "
		"requests and answers share channels",
		"assumed: answers are short, or an address, and fit into the "
		"card's or the host's memory"),
	COUNT("cards", cards, "1", 1, PLAIN_CARDS,
		"number of cards of a node, each with its own link "
		"and its own connection to memory; process N uses card N "
		"modulo this number",
		"assumed: one"),
	PARAM_ROW(PARAM_FLAG, "stripe", AT(stripe), "no", 0, 1,
		"whether all cards of a node share the messages of each "
		"process, packet by packet, and replace one that has failed",
		"assumed: a process has a card"),
	COUNT("entropy", entropy, "1", 1, 256,
		"number of flows that the messages of a queue belong to in "
		"turn; routing.spread=hash chooses paths by source, "
		"destination, queue and flow",
		"assumed: a queue is one flow"),
	COUNT("window", window, "32", 1, WINDOW_WIDE,
		"largest number of unacknowledged packets of a queue", CARD),
	COUNT("buffers", buffers, "16", 1, 256,
		"number of buffers for packets that are being built or wait to "
		"leave",
		CARD),
	PARAM_ROW(PARAM_BYTES, "ahead", AT(ahead), "0 B", 0, 4096,
		"reads of memory of at most this length, such as those of work "
		"entries, overtake longer ones that wait; 0: none",
		"assumed: reads keep their order"),
	TIME("dispatch", dispatch, "40 ns", 0,
		"time from an idle card's doorbell to the start of a work "
		"entry",
		CARD),
	TIME("packet", packet, "10 ns", 1, "minimum interval between packets",
		CARD),
	TIME("input", input, "60 ns", 0,
		"time from a packet's tail to its first access to memory",
		CARD),
	WORKQ_ROWS(AT(work), "4", "60 ns"),
	RESEND_ROWS(AT(retry), "50 us", "7",
		"assumed: a few packets from each node on one link",
		"assumed: a packet lost so often is lost for good",
		"assumed: a round trip"),
};

#define COUNT_OF(field_) "", offsetof(struct plain_node, field_)
#define COUNT_OF_CARDS(field_)                                                 \
	"", offsetof(struct plain_node, card) +                                \
		    offsetof(struct plain_card, field_)

static const struct nic_counter counters[] = {
	{ "packets", COUNT_OF(asks.packets), false },
	{ "answers", COUNT_OF(asks.answers), false },
	{ "fetches", COUNT_OF_CARDS(queues.fetches), false },
	{ "completions", COUNT_OF(status[PLAIN_OK]), false },
	{ "resent", COUNT_OF(asks.resent), false },
	{ "timeouts", COUNT_OF(asks.timeouts), false },
	{ "torn", COUNT_OF(asks.torn), false },
	{ "escapes", COUNT_OF(asks.escapes), false },
	{ "invalid work entry", COUNT_OF(status[PLAIN_BAD_ENTRY]), true },
	{ "unknown key", COUNT_OF(status[PLAIN_BAD_KEY]), true },
	{ "address outside the key's range",
		COUNT_OF(status[PLAIN_OUT_OF_BOUNDS]), true },
	{ "no permission", COUNT_OF(status[PLAIN_NO_RIGHT]), true },
	{ "too many retries", COUNT_OF(status[PLAIN_GAVE_UP]), NIC_LATE },
	{ "card has failed", COUNT_OF(status[PLAIN_NO_CARD]), NIC_LATE },
	{ "queue has stopped", COUNT_OF(status[PLAIN_STOPPED]), true },
	{ "ring overrun", COUNT_OF_CARDS(queues.overruns), true },
	{ .key = NULL },
};

struct workqs *plain_queues(struct nic *nic, site_id s, uint32_t card)
{
	return &((struct plain_node *)nic_node(nic, s))->card[card].queues;
}

struct ranges *plain_keys(struct nic *nic, site_id s)
{
	return &((struct plain_node *)nic_node(nic, s))->keys;
}

/* Data that is at the far end of a bus before an event crosses it first. */
static inline void settle_card(
	const struct nic_at *a, struct side_reads *r, uint32_t number)
{
	r->now = a->t;
	if (r->due > a->t && !r->silent.n)
		return;
	r->over = a->t - (number < PLAIN_READS);
	side_reads_settle(a, r, r->over);
}

static void settle_all(const struct nic_at *a, uint32_t number)
{
	struct plain_node *n = a->node;

	n->reads.now = a->t;
	for (uint64_t left = n->reads.lagging; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		settle_card(a, &n->card[i].reads, number);
		if (side_reads_are_settled(&n->card[i].reads))
			n->reads.lagging &= ~(UINT64_C(1) << i);
	}
}

static inline void settle(const struct nic_at *a, uint32_t number, uint32_t n)
{
	if (n > 1)
		settle_all(a, number);
	else
		settle_card(a, &plain_here(a)->card[0].reads, number);
}

void plain_settle(const struct nic_at *a)
{
	settle(a, PLAIN_QUEUES, a->nic->n_cards);
}

/* Several cards: finds the one that an event is of, and returns the event's
 * number as if there were one. */
static uint32_t find_card(
	struct nic_at *a, uint32_t number, const struct sim_event *e)
{
	const struct plain *x = plain_of(a);
	uint32_t card = (number - ENGINE_CLIENT) / PLAIN_OF_CARD;

	if (card < a->nic->n_cards) {
		a->card = card;
		return number - card * PLAIN_OF_CARD;
	}
	number -= x->shift;
	if (number == PLAIN_WRITTEN || number + x->shift == x->asks.input)
		a->card = a->nic->net->packets[e->data].to_card;
	return number;
}

static inline void leave(const struct nic_at *a, uint32_t n_cards)
{
	bool is_last = asks_is_last(a);

	if (is_last)
		settle(a, PLAIN_ASKS, n_cards);
	asks_leave(a, is_last);
}

/* Compiled for one card, and for any number. */
static inline __attribute__((always_inline)) void on_event_of(
	struct nic_at a, const struct sim_event *e, uint32_t n_cards)
{
	struct plain_node *n = a.node;
	struct plain_card *c;
	uint32_t number, was;

	if (sim_phase(e) == PHASE_PROGRAM) {
		settle(&a, PLAIN_READS, n_cards);
		host_event(a.nic->host, a.w, a.s, a.t, e);
		return;
	}
	was = number = asks_number(&n->asks, sim_number(e));
	if (n_cards > 1)
		number = find_card(&a, number, e);
	c = &n->card[n_cards > 1 ? a.card : 0];
	/* what is one card's leaves the buses of the others alone */
	if (n_cards > 1 && number >= PLAIN_ASKS &&
		was != plain_of(&a)->asks.input)
		settle(&a, number, n_cards);
	else
		settle_card(&a, &c->reads, number);
	ticks_check(&a, &n->asks.ticks, e);
	if (number == PLAIN_TURN)
		plain_send_on_turn(&a);
	else if (number == PLAIN_WRITTEN)
		plain_receive_on_written(&a, e->data);
	else if (number >= PLAIN_ASKS)
		asks_on_event(&a, was, e->data);
	else if (number >= PLAIN_READS)
		side_reads_on_event(&a, &c->reads, was, e->data);
	else
		workqs_on_event(&a, &c->queues, was, e->data);
	if (n->asks.is_leaving)
		leave(&a, n_cards);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	on_event_of(nic_at(me->state, w, s, t), &e, 1);
}

static void on_event_of_cards(struct net_client *me, struct sim_worker *w,
	site_id s, sim_time t, struct sim_event e)
{
	const struct nic *nic = me->state;

	on_event_of(nic_at(me->state, w, s, t), &e, nic->n_cards);
}

static uint32_t plain_waits_for(const void *values, enum net_class class)
{
	const struct plain_params *p = values;

	return class == NET_USER && p->answers == PLAIN_HELD ? 1u << NET_HIGH
							     : 0;
}

/* Packets of a window, or of buffers, with room for trains. */
static uint32_t with_trains(int64_t packets, uint32_t train)
{
	return (uint32_t)link_trains(train, packets, LINK_WINDOW_MORE) * train;
}

/* Of nodes whose links are watched. */
static const struct net_client_faults watching_faults = {
	.on_hurt = asks_on_hurt,
	.on_link = plain_on_link,
};

static const struct net_client_ops watching = {
	.on_room = asks_on_room,
	.awaits_room = true,
	.on_packet = asks_on_packet,
	.on_event = on_event_of_cards,
	.on_lost = nic_on_lost,
	.faults = &watching_faults,
	.combine = &nic_combine,
	.carry = &nic_carry,
};

static void set_up_card(struct plain *x, uint32_t card)
{
	const struct plain_params *p = x->nic.params;
	uint32_t shift = card * PLAIN_OF_CARD;

	x->reads[card] = (struct side_reads_how){ .side = x->side,
		.processor = card,
		.first = PLAIN_READS + shift,
		.whole = plain_whole(x->side, &x->nic.net->link),
		.ahead = (uint32_t)p->ahead,
		.is_settled = x->side->ops->least != NULL,
		.is_silent = x->side->ops->least != NULL };
	x->queues[card] = (struct workqs_how){
		.first = PLAIN_QUEUES + shift,
		.entry = sizeof(struct plain_entry),
		.size = (uint32_t)(sizeof(struct plain_queue) +
				   x->n_lanes * sizeof(struct plain_lane)),
		.params = &p->work,
		.fetched = plain_send_wake,
	};
}

static int plain_init(struct nic *nic, struct err *e)
{
	struct plain *x = (struct plain *)nic;
	const struct plain_params *p = nic->params;

	if (nic->n_cards > 1 && p->answers == PLAIN_HELD)
		return err_set(e,
			"nic.answers: held needs FIFOs of its own for "
			"answers, which nodes of several cards "
			"(nic.cards) do not have");
	x->side = host_side(nic->host);
	if (!x->side)
		return err_set(e, "side.kind: nic.kind plain needs a bus or a "
				  "cache between card and memory");
	if (p->stripe && nic->n_cards == 1)
		return err_set(
			e, "nic.stripe: a node has one card (nic.cards)");
	x->n_lanes = p->stripe ? nic->n_cards : 1;
	if (nic->n_cards > 1 || cards_fail(nic->plan))
		nic->client = &watching;
	x->shift = (nic->n_cards - 1) * PLAIN_OF_CARD;
	for (uint32_t i = 0; i < nic->n_cards; i++)
		set_up_card(x, i);
	x->asks = (struct asks_how){
		.resend.give_up = plain_send_give_up,
		.latency = p->input,
		.kind = p->routing ? PACKET_DETERMINISTIC : PACKET_DYNAMIC,
		.kept = PLAIN_GET,
		.holds = p->answers == PLAIN_HELD,
		.has_cards = nic->n_cards > 1,
		.choose = nic->client == &watching ? plain_choose : NULL,
		.left = plain_send_left,
		.asked = plain_receive_asked,
		.fits = plain_receive_fits,
		.answered = plain_receive_answered,
	};
	x->window = with_trains(p->window, nic->net->link.train);
	x->buffers = with_trains(p->buffers, nic->net->link.train);
	if (p->window > SHORT_WINDOW)
		x->seen = 2 * WINDOW_WIDE;
	asks_set_up(&x->asks, &p->retry, nic->net, PLAIN_ASKS + x->shift,
		PLAIN_ENGINES + x->shift);
	return asks_check(nic, e);
}

static const struct nic_member members[] = {
	NIC_MEMBER(asks, struct plain_node, asks, 0),
	NIC_MEMBER(ranges, struct plain_node, keys, 0),
	NIC_MEMBER(slots, struct plain_node, works, sizeof(struct plain_work)),
	{ 0 },
};

static const struct nic_member card_members[] = {
	NIC_MEMBER(side_reads, struct plain_card, reads, 0),
	NIC_MEMBER(workqs, struct plain_card, queues, 0),
	NIC_MEMBER(ring, struct plain_card, run, sizeof(struct plain_run)),
	{ 0 },
};

static uint32_t plain_cards(const void *values)
{
	return (uint32_t)((const struct plain_params *)values)->cards;
}

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct plain *x = (const struct plain *)nic;
	struct plain_node *n = node;

	(void)s;
	asks_init(&n->asks, &x->asks, sizeof(struct plain_sending));
	if (x->seen)
		seen_init(&n->asks.seen, x->seen);
	n->n_cards = nic->n_cards;
	for (uint32_t i = 0; i < nic->n_cards; i++) {
		struct plain_card *c = &n->card[i];

		side_reads_init(&c->reads, &x->reads[i], &n->asks.ticks);
		c->reads.all = nic->n_cards > 1 ? &n->reads : NULL;
		workqs_init(&c->queues, &x->queues[i], &c->reads);
	}
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct plain_node *n = node;
	bool is_busy = n->works.used || !asks_is_idle(&n->asks);

	for (uint32_t i = 0; i < n->n_cards; i++)
		is_busy |=
			n->card[i].n_made || workqs_is_busy(&n->card[i].queues);
	if (!is_busy)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"audit: node %u: %u work entries, %u requests and %u packets "
		"are unfinished",
		s, n->works.used, n->asks.resend.items.used, n->asks.inside);
}

static const struct net_client_faults faults = {
	.on_hurt = asks_on_hurt,
};

static const struct net_client_ops client = {
	.on_room = asks_on_room,
	.awaits_room = true,
	.on_packet = asks_on_packet,
	.on_event = on_event,
	.on_lost = nic_on_lost,
	.faults = &faults,
	.combine = &nic_combine,
	.carry = &nic_carry,
};

const struct nic_ops plain_ops = {
	.name = "plain",
	.title = "plain RDMA card",
	.machine = "torus",
	.can = NIC_RESENDS | NIC_ATOMICS | NIC_FETCHES,
	.has = "any-side domain trains cards",
	.size = sizeof(struct plain),
	.node_size = sizeof(struct plain_node),
	.cards = plain_cards,
	.card_size = sizeof(struct plain_card),
	.card_members = card_members,
	PARAMS(params),
	.params_size = sizeof(struct plain_params),
	.client = &client,
	.counters = counters,
	.init = plain_init,
	.members = members,
	.node_init = node_init,
	.audit_node = audit_node,
	.load_bytes = asks_load_bytes,
	.is_stale = asks_is_stale,
	.waits_for = plain_waits_for,
	.how_waits = "keeps the place of a request in the reception FIFO until "
		     "its answer has left (nic.answers: held)",
};
