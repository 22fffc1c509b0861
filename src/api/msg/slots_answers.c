/*
 * Tagged messages by slots: what waits for data or for an answer, and ranks
 * that cannot be reached any more.
 */
#include "api/msg/slots.h"

#include <errno.h>

#include "api/msg/domain.h"
#include "base/mem.h"

/* --- answers --- */

/* An index, or MSG_NO_FIN.  The first ones are any call's, the others are for
 * messages alone. */
static uint32_t take_fin(struct msg_state *m)
{
	struct msg_soft *s = m->soft;
	uint32_t fin = msg_take_fin(m);

	if (fin < MSG_FINS)
		return fin;
	if (s->n_free_fins)
		fin = s->free_fins[--s->n_free_fins];
	else if (s->n_fins < m->n_more_fins)
		fin = MSG_FINS + s->n_fins++;
	else
		return MSG_NO_FIN;
	msg_clear_fin(m, fin);
	return fin;
}

static void give_fin(struct msg_state *m, uint32_t fin)
{
	struct msg_soft *s = m->soft;

	if (fin < MSG_FINS) {
		msg_give_fin(m, fin);
		return;
	}
	s->free_fins =
		mem_more(s->free_fins, s->n_free_fins, sizeof(*s->free_fins));
	s->free_fins[s->n_free_fins++] = fin;
}

bool soft_expect_answer(
	struct msg_state *m, struct op *x, struct msg_trailer *t)
{
	x->fin = take_fin(m);
	if (x->fin == MSG_NO_FIN)
		return false;
	t->fin = (uint16_t)x->fin;
	x->state = STATE_TOLD;
	soft_append(&m->soft->active, x);
	return true;
}

/* --- what is under way --- */

/* Whether it has ended. */
static bool advance(struct msg_state *m, struct op *x)
{
	uint64_t value;

	if (x->state == STATE_TOLD) {
		if (!msg_fin(m, x->fin, &value))
			return false;
		give_fin(m, x->fin);
		return true;
	}
	if (x->state == STATE_WANTED) {
		x->word = x->bytes ? msg_take_word(m) : 0;
		if (x->bytes && !x->word)
			return false;
		x->state = STATE_GETTING;
		if (x->bytes)
			msg_get(m, x->end.rank, x->from, x->e.at, x->bytes,
				x->word);
	}
	if (x->bytes && !msg_word_is_zero(m, x->word))
		return false;
	if (x->bytes)
		msg_give_word(m, x->word);
	return true;
}

/* --- ranks that cannot be reached --- */

bool soft_is_lost(const struct msg_soft *s, uint32_t rank)
{
	uint32_t i = 0;

	while (i < s->n_lost && s->lost[i] != rank)
		i++;
	return i < s->n_lost;
}

bool msg_is_lost(const struct msg_state *m, uint32_t rank)
{
	return m->soft && m->soft->n_lost && soft_is_lost(m->soft, rank);
}

void soft_lose(struct msg_state *m, uint32_t rank)
{
	struct msg_soft *s = m->soft;

	if (soft_is_lost(s, rank))
		return;
	s->lost = mem_more(s->lost, s->n_lost, sizeof(*s->lost));
	s->lost[s->n_lost++] = rank;
	s->has_lost = true;
}

/* Ends all of a list that are for or from such a rank.  Its answers and words
 * stay taken: something may still write them. */
static void end_lost(struct msg_state *m, struct ops *l)
{
	struct msg_soft *s = m->soft;
	struct op *x = l->first, *prev = NULL, *next;

	for (; x; x = next) {
		bool has_message =
			x->state == STATE_WANTED || x->state == STATE_GETTING;

		next = x->next;
		if (!soft_is_lost(s, has_message ? x->end.rank : x->e.rank)) {
			prev = x;
			continue;
		}
		soft_take_out(l, prev, x, next);
		soft_end_trip(m, x, NULL);
		soft_end_alone(s, x, EIO);
	}
}

static void end_all_lost(struct msg_state *m)
{
	struct msg_soft *s = m->soft;

	s->has_lost = false;
	end_lost(m, &s->active);
	end_lost(m, &s->posted);
	end_lost(m, &s->waiting);
}

bool soft_advance(struct msg_state *m)
{
	struct op *x, *prev = NULL, *next;
	bool did = m->soft->has_lost, is_receive;

	if (did)
		end_all_lost(m);
	for (x = m->soft->active.first; x; x = next) {
		is_receive = x->state != STATE_TOLD;
		if (!advance(m, x)) {
			next = x->next;
			prev = x;
			continue;
		}
		next = x->next;
		soft_take_out(&m->soft->active, prev, x, next);
		if (x->trip)
			x->trip->at[TRIP_HERE] = program_now();
		if (is_receive) {
			program_log_received(x->mark);
			msg_answer(m, x->end.rank, x->fin, 1, 0);
		}
		if (is_receive)
			soft_end(m->soft, x);
		else
			soft_end_alone(m->soft, x, 0);
		did = true;
	}
	return did;
}
