/*
 * Looks at messages that came early.  One that is found stays, or is claimed:
 * then it waits in a list of its own, with the number of the look's handle, for
 * the receive with that handle.  Or it is dropped.  A look that lasts waits in
 * a list, as receives do, until there is a message.
 */
#include "api/elan/tport_thread.h"

#include <errno.h>

static void tell_none(struct tport_matcher *x, uint32_t handle)
{
	const struct tport_status s = { .code = ENOMSG, .is_done = 1 };

	tport_compute(x, tport_block_cycles(x, sizeof(s)));
	tport_tell(x, handle, &s);
}

static void drop_message(struct tport_matcher *x, uint32_t handle,
	const struct tport_kept *k, struct elan_message *m)
{
	tport_describe(x, m, k->length, handle, 0);
	tport_discard(x, m);
}

static void claim(struct tport_matcher *x, uint32_t handle,
	const struct tport_kept *k, struct elan_message *m)
{
	uint64_t length = k->length;

	if (x->plan.by == TPORT_INTERRUPT)
		tport_await_host(x, m);
	m->number = (uint16_t)handle;
	tport_put(x, &x->claimed, m);
	tport_describe(x, m, length, handle, TPORT_IS_CLAIMED);
}

static void peek(struct tport_matcher *x, enum tport_kind kind,
	const struct tport_wanted *w)
{
	const uint32_t handle = w->record.handle;
	struct elan_message m;
	struct tport_kept k;

	if (!tport_find(x, &x->early, tport_is_wanted, w, &k, &m))
		tell_none(x, handle);
	else if (kind == TPORT_PROBE)
		tport_describe(x, &m, k.length, handle, 0);
	else if (!tport_take(x, &x->early, tport_is_wanted, w, &m))
		tell_none(x, handle); /* its memory is broken */
	else if (kind == TPORT_PROBE_CLAIM)
		claim(x, handle, &k, &m);
	else
		drop_message(x, handle, &k, &m);
}

/* Whether it is, and has begun to wait. */
static bool waits(struct tport_matcher *x, enum tport_kind kind,
	const struct tport_wanted *w)
{
	const struct tport_record *r = &w->record;
	const struct tport_posted p = {
		.tag = w->tag,
		.mask = r->mask,
		.source = r->source,
		.space = r->space,
		.bytes = kind,
	};
	struct elan_message m;
	struct tport_kept k;

	if (tport_find(x, &x->early, tport_is_wanted, w, &k, &m))
		return false;
	tport_post(x, &x->awaiting, r->handle, &p);
	return true;
}

static enum tport_kind kind_without_wait(enum tport_kind kind)
{
	return kind == TPORT_PROBE_LASTS ? TPORT_PROBE : TPORT_PROBE_CLAIM;
}

void tport_show(struct tport_matcher *x, const struct elan_message *m)
{
	struct tport_posted p;
	uint32_t handle;

	while (x->awaiting.first && (handle = tport_take_posted(x, &x->awaiting,
					     tport_is_for, m, &p))) {
		const struct tport_wanted w = {
			.tag = p.tag,
			.record = { .mask = p.mask,
				.source = p.source,
				.handle = (uint16_t)handle,
				.space = p.space },
		};

		peek(x, kind_without_wait((enum tport_kind)p.bytes), &w);
	}
}

static bool is_claimed(const struct tport_kept *k, const void *arg)
{
	return k->number == *(const uint16_t *)arg;
}

static void take_claimed(
	struct tport_matcher *x, bool is_dropped, const struct tport_record *r)
{
	struct elan_message m;
	struct tport_kept k;

	if (!tport_find(x, &x->claimed, is_claimed, &r->handle, &k, &m) ||
		!tport_take(x, &x->claimed, is_claimed, &r->handle, &m))
		tell_none(x, r->handle);
	else if (is_dropped)
		drop_message(x, r->handle, &k, &m);
	else if (tport_is_name(x, &m))
		tport_hand(x, &m, r);
	else
		tport_deliver(x, &m, r->handle, r->to, r->bytes);
}

void tport_peek(struct tport_matcher *x, enum tport_kind kind,
	const struct tport_wanted *w)
{
	if (kind == TPORT_CLAIMED || kind == TPORT_CLAIMED_DISCARD)
		take_claimed(x, kind == TPORT_CLAIMED_DISCARD, &w->record);
	else if (kind >= TPORT_PROBE && kind <= TPORT_PROBE_DISCARD)
		peek(x, kind, w);
	else if ((kind == TPORT_PROBE_LASTS ||
			 kind == TPORT_PROBE_CLAIM_LASTS) &&
		 !waits(x, kind, w))
		peek(x, kind_without_wait(kind), w);
}
