/*
 * The time budgets of transactions (meas/budget.h).
 *
 *	stores of a program, or calls of its kernel     software
 *	on the way to the card; a channel's start       descriptor
 *	a descriptor in the kernel's queue              queue at the card
 *	waits for the engine                            engine
 *	waits for the ORB and the network               queue at the card
 *	the block transfer engine's reads, a get's      memory read
 *	the output side                                 packet
 *	the input side                                  translation
 *	bytes on their way to memory                    memory write
 *	and the event that follows them                 completion
 *
 * A transaction ends where its bytes go: a put at its target, a get at home,
 * where its responses go on with the time of their requests.  Responses to
 * puts are in no budget.
 */
#include "nic/gemini/card.h"

void gem_account_request(
	const struct nic_at *a, packet_id id, const struct gem_line *x)
{
	const struct gem_transaction *of =
		slots_at(&gem_here(a)->transactions, x->transaction);
	struct book *k = a->nic->net->book;

	book_open(k, id, &of->message);
	book_at_part(k, id, a->s, "interface");
	if (x->channel) {
		nic_charge(a, id, CAUSE_SOFTWARE, of->stored);
		nic_charge(a, id, CAUSE_DESCRIPTOR, of->came);
		nic_charge(a, id, CAUSE_CARD, of->taken);
		book_at_one(k, id, a->s, "BTE channel", x->channel - 1U);
		nic_charge(a, id, CAUSE_DESCRIPTOR, of->begun);
		nic_charge(
			a, id, CAUSE_PACKET, of->begun + gem_params(a)->output);
		nic_charge(a, id, CAUSE_ENGINE, x->made);
		nic_charge(a, id, CAUSE_MEMORY_READ, x->out);
	} else {
		nic_charge(a, id, CAUSE_SOFTWARE, x->made);
		nic_charge(a, id, CAUSE_DESCRIPTOR, x->came);
		book_at_part(k, id, a->s, "FMA");
		nic_charge(a, id, CAUSE_PACKET, x->out);
	}
	nic_charge(a, id, CAUSE_CARD, a->t);
}

void gem_account_response(
	const struct nic_at *a, packet_id request, packet_id id, bool goes_on)
{
	struct book *k = a->nic->net->book;

	if (goes_on && book_has(k, request))
		book_replace(k, a->w->id, request, id);
	else
		nic_account_none(a, id);
}

void gem_account_end(const struct nic_at *a, packet_id id, bool is_done)
{
	if (is_done)
		nic_charge(a, id, CAUSE_COMPLETION, gem_load(a, id)->event_at);
	nic_account_end(a, id, is_done);
}
