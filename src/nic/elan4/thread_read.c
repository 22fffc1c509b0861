/*
 * Reads of host memory by the thread that runs (QSN-F64): several at a time,
 * while the processor waits.
 *
 * A read is due on the bus after a latency.  No read overtakes a write, such as
 * one of the thread's own: neither in line for the bus, nor behind it.
 */
#include "nic/elan4/thread.h"

#include <errno.h>

static struct elan_threads *threads(const struct nic_at *a)
{
	return elan_here(a)->threads;
}

static struct thread_read *find(const struct nic_at *a, uint32_t read)
{
	return slots_at(&threads(a)->reads, read);
}

/* The next one of the thread's begins at t. */
static void begin(const struct nic_at *a, struct elan_thread *x, sim_time t)
{
	uint32_t id = slots_take(&threads(a)->reads);
	struct thread_read *r = find(a, id);

	r->what = x->fetch[x->begun++];
	r->what.at =
		elan_where(elan_here(a), x->context, r->what.at, r->what.bytes);
	r->after = elan_here(a)->words.asked;
	elan_count(a)->reads++;
	elan_post(a, t + elan_params(a)->read_latency, ELAN_ENGINE_THREAD,
		id | THREAD_READ);
}

static void granted(const struct nic_at *a, uint32_t id, sim_time end)
{
	if (end < elan_here(a)->words.last_in)
		end = elan_here(a)->words.last_in;
	find(a, id)->is_here = true;
	elan_post(a, end, ELAN_ENGINE_THREAD, id | THREAD_READ);
}

void elan_thread_on_word(const struct nic_at *a)
{
	struct elan_threads *h = threads(a);

	while (h && h->due.first) {
		const struct thread_read *r = find(a, h->due.first);

		if ((int32_t)(elan_here(a)->words.had - r->after) < 0)
			return;
		elan_bus_read(a, r->what.at, r->what.bytes, granted,
			slots_pop(&h->reads, &h->due));
	}
}

/* Its bytes are the thread's, which goes on after the last one. */
static void finish(const struct nic_at *a, uint32_t id)
{
	struct elan_threads *h = threads(a);
	struct elan_thread *x = elan_thread(h, h->running);
	const struct elan_fetch f = find(a, id)->what;

	slots_give(&h->reads, id);
	host_read(a->nic->host, a->s, f.at, f.to, f.bytes);
	x->ended++;
	if (x->begun < x->n_fetches)
		begin(a, x, a->t);
	else if (x->ended == x->n_fetches)
		elan_thread_on_go(a, x->id);
}

void elan_thread_on_read(const struct nic_at *a, uint32_t id)
{
	if (find(a, id)->is_here) {
		finish(a, id);
		return;
	}
	slots_push(&threads(a)->reads, &threads(a)->due, id);
	elan_thread_on_word(a);
}

/* All are translated before the first one begins. */
static int check(const struct elan_fetch *f, uint32_t n)
{
	struct elan_view v;
	struct nic_at a;

	elan_thread_self(&a);

	for (uint32_t i = 0; i < n; i++) {
		if (!f[i].bytes || f[i].bytes > ELAN_BLOCK)
			return EINVAL;
		if (elan_thread_see(
			    &a, f[i].at, f[i].bytes, ELAN_TO_READ, &v) ||
			elan_is_card(v.at))
			return EFAULT;
	}
	return n ? 0 : EINVAL;
}

/* One a cycle, as long as there are places. */
int elan_thread_fetch(const struct elan_fetch *f, uint32_t n)
{
	int code = check(f, n);
	struct nic_at a;
	struct elan_thread *x = elan_thread_self(&a);
	uint32_t most = (uint32_t)elan_params(&a)->thread_reads;

	if (code)
		return code;
	x = elan_thread_settle(&a);
	x->fetch = f;
	x->n_fetches = n;
	x->begun = x->ended = 0;
	for (uint32_t i = 0; i < n && i < most; i++)
		begin(&a, x, a.t + i * elan_params(&a)->thread_clock);
	card_suspend();
	return 0;
}
