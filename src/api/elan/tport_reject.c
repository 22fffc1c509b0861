/*
 * A way that was not taken (QSN-F62): messages whose receive is not posted are
 * sent back, and tried again by their senders.  The card keeps only their
 * names: tag, sender and number, in the order in which they came.  So a receive
 * that is posted later is promised to the first message that it is for, and no
 * other gets it.
 *
 * A message that is its sender's next one is compared with posted receives. One
 * that came before gets its promised receive, or is sent back again.  One ahead
 * of others is sent back without a name.
 */
#include "api/elan/tport_thread.h"

/* A receive for it: the mask is its number. */
static bool is_promised(
	const struct tport_posted *p, uint32_t handle, const void *arg)
{
	const struct elan_message *m = arg;

	(void)handle;
	return p->source == m->source && p->mask == m->number;
}

static void promise(struct tport_matcher *x, const struct elan_message *name,
	const struct tport_record *r)
{
	const struct tport_posted p = {
		.tag = name->tag,
		.mask = tport_name_number(x, name),
		.source = name->source,
		.to = r->to,
		.bytes = r->bytes,
	};

	tport_drop(x, name);
	tport_post(x, &x->promised, r->handle, &p);
}

void tport_hand(struct tport_matcher *x, const struct elan_message *m,
	const struct tport_record *r)
{
	if (tport_is_name(x, m)) {
		promise(x, m, r);
		return;
	}
	if (x->plan.by == TPORT_INTERRUPT)
		tport_await_host(x, m);
	tport_deliver(x, m, r->handle, r->to, r->bytes);
}

void tport_forget(struct tport_matcher *x, struct elan_message *name)
{
	name->number = tport_name_number(x, name);
	tport_put(x, &x->gone, name);
}

/* Of a message of which only a part is here the handle is kept; 0: it goes. */
static void accept(struct tport_matcher *x, const struct elan_message *m,
	uint32_t handle, const struct tport_posted *p)
{
	const struct tport_kept k = { .length = handle };

	if (m->left)
		tport_store(x, tport_kept_at(&x->plan, m->slot), &k, sizeof(k));
	elan_thread_accept(m->queue, m->slot);
	if (m->left)
		return;
	if (handle)
		tport_deliver(x, m, handle, p->to, p->bytes);
	else
		tport_drop(x, m);
}

void tport_deliver_accepted(
	struct tport_matcher *x, const struct elan_message *m)
{
	struct tport_posted p = { 0 };
	struct tport_kept k;
	uint64_t at;

	tport_load(x, tport_kept_at(&x->plan, m->slot), &k, sizeof(k));
	if (!k.length || k.length > x->plan.handles) {
		tport_drop(x, m);
		return;
	}
	at = tport_element_at(&x->plan, (uint32_t)k.length);
	tport_load(x, at + offsetof(struct tport_posted, to), &p.to, 16);
	tport_deliver(x, m, (uint32_t)k.length, p.to, p.bytes);
}

static void send_back(struct tport_matcher *x, const struct elan_message *m)
{
	tport_compute(x, 0);
	elan_thread_reject(m->queue, m->slot);
}

static bool is_gone(const struct tport_kept *k, const void *arg)
{
	const struct elan_message *m = arg;

	return k->source == m->source && k->number == m->number;
}

/* One that came before, and was sent back. */
static void answer_again(struct tport_matcher *x, const struct elan_message *m)
{
	struct elan_message name;
	struct tport_posted p;
	uint32_t handle =
		tport_take_posted(x, &x->promised, is_promised, m, &p);

	if (handle) {
		accept(x, m, handle, &p);
	} else if (tport_take(x, &x->gone, is_gone, m, &name)) {
		tport_drop(x, &name);
		accept(x, m, 0, NULL);
	} else {
		send_back(x, m);
	}
}

/* One that comes for the first time, in its turn. */
static bool answer_first(struct tport_matcher *x, const struct elan_message *m)
{
	struct tport_posted p;
	uint32_t handle = tport_take_posted(x, &x->posted, tport_is_for, m, &p);
	bool is_named;

	if (handle) {
		accept(x, m, handle, &p);
		return true;
	}
	is_named = tport_keep_name(x, m);
	elan_thread_note(ELAN_EARLY, is_named);
	send_back(x, m);
	if (is_named)
		tport_show(x, m);
	return is_named;
}

bool tport_answer(
	struct tport_matcher *x, const struct elan_message *m, uint16_t next)
{
	if (m->number == next)
		return answer_first(x, m);
	if ((int16_t)(m->number - next) < 0)
		answer_again(x, m);
	else
		send_back(x, m);
	return false;
}
