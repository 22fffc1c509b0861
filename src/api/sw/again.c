/*
 * Where the card has given up: it has sent a message three times, by both
 * ports, and has had no answer.  A part of the network may be back, so the
 * library continues, and gives up itself only after many tries.
 *
 * Of a write, a read or a fast short message the card keeps what it knows.  The
 * library lets it go on: it asks the target's card, which says whether it has
 * all bytes, some or none, and whether the notice or reply word is written.  So
 * no more is sent than is missing, maybe the notice alone, and nothing is
 * executed twice.
 *
 * A message into a queue is sent again as a new one.  Its number and the time
 * of its first try tell the receiver's library whether it has it already, and
 * that library answers.
 *
 * After its last try the target counts as silent (silent.h), and other messages
 * that the card gives up end with it.
 */
#include "api/sw/sw.h"

/* How long an answer of a peer's library may take. */
static const sim_time PATIENCE = 200000 * (sim_time)SIM_NS;

/* Asks the card to go on with what it has kept. */
static void go_on(const struct swv_work *x)
{
	const struct swv_user *u = &x->in->user;
	struct nic_at a = nic_now(u->nic);

	swhni_again(&a, u->interface, u->process, x->d.id);
}

/* As a new message, when there is room. */
static void post_again(struct swv_device *dev, uint32_t work)
{
	struct swv_work *x = slots_at(&dev->works, work);

	x->awaits = false;
	x->deadline = SIM_NEVER;
	if (x->is_again) {
		x->d.word[0] |= SW_AGAIN;
		x->d.word[1] = x->number |
			       (uint64_t)(uint32_t)(x->first >> SW_TIME_SHIFT)
				       << 32;
	}
	if (swv_user_has_room(&x->in->user) &&
		!swv_post(dev, work, program_now()))
		return;
	x = slots_at(&dev->works, work);
	x->deadline = program_now() + PATIENCE;
}

/* True if a message is not tried again.  If an answer is missing, its target
 * counts as silent from now on. */
static bool is_last_try(
	struct swv_device *dev, const struct swv_work *x, enum swv_why why)
{
	uint32_t node = x->d.node, port = x->d.port;
	bool is_last = x->tries == SW_TRIES ||
		       (why == SW_NO_ANSWER &&
			       swv_silent_has(&dev->silent, node, port));

	if (is_last && why == SW_NO_ANSWER)
		swv_silent_add(&dev->silent, node, port, program_now());
	return is_last;
}

bool swv_ends_at_once(struct swv_device *dev, uint32_t work)
{
	const struct swhni_params *p = swv_nic()->params;
	const struct swv_work *x = slots_at(&dev->works, work);

	if (x->flags & WEFT_SW_BARE || x->d.type == SWHNI_DATAGRAM ||
		!swv_silent_stops(
			&dev->silent, x->d.node, x->d.port, program_now()))
		return false;
	program_charge(p->work.post);
	swv_end(dev, work, WEFT_SW_LOST);
	return true;
}

void swv_again(struct swv_device *dev, uint32_t work, enum swv_why why)
{
	struct swv_work *x = slots_at(&dev->works, work);
	bool was_refused = why == SW_REFUSED;

	/* what was refused has not been executed */
	if (is_last_try(dev, x, why) ||
		(x->has_number && !was_refused && !swv_let_answer(x->in))) {
		swv_end(dev, work, WEFT_SW_LOST);
		return;
	}
	x->tries++;
	if (!was_refused && !x->has_number) {
		dev->probed++;
		go_on(x);
		return;
	}
	x->is_again |= !was_refused;
	dev->resent++;
	post_again(dev, work);
}

void swv_sent_again(struct swv_device *dev, uint32_t work)
{
	struct swv_work *x = slots_at(&dev->works, work);

	x->awaits = true;
	x->deadline = program_now() + PATIENCE;
}

/* Answers the library that has sent a message again. */
static void answer(struct swv_interface *in, const struct swhni_slot *head,
	uint32_t status)
{
	struct swv_interface *by = swv_own_sender(in->dev);
	struct swv_work *x;
	uint32_t id;

	/* without an answer it will come once more */
	if (!by || !swv_user_has_room(&by->user))
		return;
	id = slots_take(&in->dev->works);
	x = slots_at(&in->dev->works, id);
	x->in = by;
	x->flags = WEFT_SW_BARE;
	x->deadline = SIM_NEVER;
	x->d = (struct swhni_descriptor){
		.type = SWHNI_SEND,
		.engine = head->engine,
		.node = head->node,
		.interface = head->interface,
		.word = { SW_ANSWER | in->user.interface << 8 | status,
			SW_NUMBER(head->word[1]) },
	};
	swv_post(in->dev, id, program_now());
}

bool swv_take_again(struct swv_interface *in, const struct swhni_slot *head)
{
	struct swv_device *dev = in->dev;
	enum swv_known_answer k = swv_known_take(&in->known,
		swv_peer(head->node, head->interface), SW_NUMBER(head->word[1]),
		(sim_time)(head->word[1] >> 32) << SW_TIME_SHIFT,
		program_now());

	dev->doubles += k == SW_KNOWN_DOUBLE;
	answer(in, head, k == SW_KNOWN_UNSURE ? WEFT_SW_LOST : WEFT_SW_OK);
	return k == SW_KNOWN_NEW;
}

void swv_answered(struct swv_device *dev, const struct swhni_slot *head)
{
	uint32_t tag = SW_TAG(head->word[0]);
	uint32_t peer = swv_peer(head->node, tag >> 8);

	for (uint32_t i = 1; i <= dev->works.room; i++) {
		const struct swv_work *x = slots_find(&dev->works, i);

		if (x && x->has_number && x->is_again && x->peer == peer &&
			x->number == SW_NUMBER(head->word[1])) {
			/* the card's completion may still come, or not */
			swv_end(dev, i, tag & 0xff);
			return;
		}
	}
}

sim_time swv_look_after(struct swv_device *dev)
{
	sim_time next = SIM_NEVER;

	for (uint32_t i = 1; dev->resent && i <= dev->works.room; i++) {
		const struct swv_work *x = slots_find(&dev->works, i);

		if (x && x->deadline <= program_now())
			swv_again(dev, i, SW_NO_LIBRARY);
		x = slots_find(&dev->works, i);
		if (x && x->deadline < next)
			next = x->deadline;
	}
	return next;
}
