/* Answers to gets: packets like others, kept until they are acknowledged, which
 * name the get. */
#include "nic/elan4/units.h"

static struct window *channel(const struct nic_at *a)
{
	return &elan_here(a)->answers;
}

bool elan_answer_has_room(const struct nic_at *a, uint32_t n)
{
	return window_span(channel(a)) + n <= ELAN_SPAN;
}

uint32_t elan_answer_numbers(const struct nic_at *a, uint32_t n)
{
	channel(a)->next += n;
	return channel(a)->next - n;
}

void elan_answer_cancel(const struct nic_at *a, uint32_t number)
{
	window_done(channel(a), number);
}

static void on_acked(
	const struct nic_at *a, const struct elan_sent *s, bool is_yes)
{
	(void)is_yes;
	window_done(channel(a), s->sequence);
}

/* The getter repeats its get. */
static void on_failed(
	const struct nic_at *a, const struct elan_sent *s, enum elan_error why)
{
	window_done(channel(a), s->sequence);
	elan_count(a)->errors[why]++;
}

static const struct elan_owner owner = { .done = on_acked,
	.failed = on_failed };

uint32_t elan_answer_begin(const struct nic_at *a, packet_id get,
	const struct elan_piece *want, uint32_t number, void **data)
{
	const struct elan_buffer *g = elan_buffer(a, get);
	uint32_t id = elan_send_new(a);
	struct elan_sending *s = elan_sending(a, id);

	*s->copy = (struct elan_buffer){
		.kind = ELAN_DATA,
		.context = want->context,
		.channel = ELAN_ANSWER_CHANNEL,
		.sequence = number,
		.get = g->get,
		.sending = id,
		.asked = a->t,
	};
	s->copy->get.get = want->count;
	elan_send_cut(s->copy, want->back, want->bytes);
	if (want->event)
		elan_add_piece(s->copy, (struct elan_piece){ .what = ELAN_SET,
						.event = want->event,
						.count = want->bytes });
	s->is_free = want->event;
	s->item.dst = elan_packet(a, get)->src;
	s->owner = &owner;
	s->fifo = ELAN_FIFO_ANSWER;
	*data = s->copy->data;
	return id;
}

void elan_answer_send(const struct nic_at *a, packet_id get, uint32_t sending)
{
	struct elan_sending *s = elan_sending(a, sending);

	elan_send_set_times(a, s->copy, elan_start(a), 0);
	elan_account_answer(a, get, &s->account);
	elan_send_at(a, sending, elan_start(a));
}
