#include "nic/util/resend.h"

#include "base/mem.h"

enum { MOST_DOUBLINGS = 10, LATE_DOUBLINGS = 2 };

static struct resend_item *item(const struct resend *r, uint32_t id)
{
	return slots_at(&r->items, id);
}

void resend_set_up(struct resend_how *how, const struct resend_params *p,
	site_id n_nodes, uint32_t first)
{
	how->timeout = p->timeout + p->per_node * (sim_time)n_nodes;
	how->round_trips = p->round_trips;
	how->retries = p->limit;
	how->back_off = p->back_off;
	how->leave = first;
	how->late = first + 1;
	how->later = first + 2;
	how->again = first + 3;
}

sim_time resend_longest(const struct resend_how *how)
{
	sim_time sum = 0;

	for (int64_t i = 0; i <= how->retries; i++) {
		sum += how->timeout
		       << (i < LATE_DOUBLINGS ? i : LATE_DOUBLINGS);
		sum += how->back_off
		       << (i < MOST_DOUBLINGS ? i : MOST_DOUBLINGS);
	}
	return sum;
}

void resend_init(struct resend *r, const struct resend_how *how,
	struct ticks *ticks, size_t size)
{
	*r = (struct resend){ .how = how, .ticks = ticks };
	slots_init(&r->items, size);
}

void resend_fini(struct resend *r)
{
	slots_fini(&r->items);
	mem_free(r->detour);
}

uint64_t resend_memory(const struct resend *r)
{
	return slots_memory(&r->items) + (r->detour ? RESEND_DETOURS : 0);
}

NIC_MEMBER_OPS(resend, NULL);

uint32_t resend_take(struct resend *r)
{
	return slots_take(&r->items);
}

/* Where packets to a node start among their routes. */
static uint8_t detour(const struct resend *r, site_id dst)
{
	return r->detour ? r->detour[dst % RESEND_DETOURS] : 0;
}

static void set_detour(struct resend *r, site_id dst, uint32_t route)
{
	if (!r->detour)
		r->detour = mem_alloc(RESEND_DETOURS, sizeof(*r->detour));
	r->detour[dst % RESEND_DETOURS] = (uint8_t)route;
}

static void set_route(const struct resend *r, struct resend_item *x)
{
	x->route = (uint8_t)(x->route + detour(r, x->dst));
}

void resend_at(
	const struct nic_at *a, struct resend *r, uint32_t id, sim_time t)
{
	set_route(r, item(r, id));
	ticks_post(a, r->ticks, t > a->t ? t : a->t, r->how->leave, id);
}

/* --- time-outs --- */

static sim_time timeout(const struct resend *r, uint32_t tries)
{
	sim_time t = r->how->timeout;
	sim_time trips = r->how->round_trips * r->round_trip;

	t = t > trips ? t : trips;
	return t << (tries < LATE_DOUBLINGS ? tries : LATE_DOUBLINGS);
}

static sim_time due(const struct resend *r, const struct resend_item *x)
{
	return x->left_at + timeout(r, x->tries);
}

static void post_later(
	const struct nic_at *a, const struct resend *r, uint32_t id, sim_time t)
{
	ticks_post_late(a, t, r->how->later, r->how->stride, id);
}

static void await_first(const struct nic_at *a, struct resend *r, uint32_t id)
{
	slots_push(&r->items, &r->late, id);
	if (!r->is_posted)
		ticks_post(a, r->ticks, due(r, item(r, id)), r->how->late, 0);
	r->is_posted = true;
}

/* It is answered, or too late. */
static void await_no_more(struct resend *r, uint32_t id)
{
	struct resend_item *x = item(r, id);

	if (x->left_at && !x->tries)
		slots_remove(&r->items, &r->late, id);
	x->left_at = 0;
}

void resend_stop(struct resend *r, uint32_t id)
{
	await_no_more(r, id);
	item(r, id)->again_at = 0;
}

void resend_give(struct resend *r, uint32_t id)
{
	await_no_more(r, id);
	slots_give(&r->items, id);
}

/* Of a first try: what is sent again may be answered by any of its tries. */
void resend_answered(const struct nic_at *a, struct resend *r, uint32_t id)
{
	const struct resend_item *x = item(r, id);
	sim_time took = a->t - x->left_at;

	if (!x->left_at || x->tries)
		return;
	r->round_trip -= r->round_trip / 64;
	r->round_trip = r->round_trip > took ? r->round_trip : took;
}

/* --- tries --- */

static void on_leave(const struct nic_at *a, struct resend *r, uint32_t id)
{
	struct resend_item *x = item(r, id);

	x->left_at = a->t;
	if (x->tries)
		post_later(a, r, id, due(r, x));
	else
		await_first(a, r, id);
	r->how->send(a, id);
}

void resend_now(const struct nic_at *a, struct resend *r, uint32_t id)
{
	set_route(r, item(r, id));
	sim_count(a->w, 1);
	on_leave(a, r, id);
}

void resend_left(const struct nic_at *a, struct resend *r, uint32_t id)
{
	item(r, id)->left_at = a->t;
	await_first(a, r, id);
}

void resend_again(const struct nic_at *a, struct resend *r, uint32_t id)
{
	struct resend_item *x = item(r, id);
	uint32_t doublings =
		x->tries < MOST_DOUBLINGS ? x->tries : MOST_DOUBLINGS;

	await_no_more(r, id);
	if (++x->tries - x->excused > r->how->retries) {
		r->how->give_up(a, id);
		return;
	}
	x->route++;
	x->again_at = a->t + (r->how->back_off << doublings);
	ticks_post_late(a, x->again_at, r->how->again, r->how->stride, id);
}

void resend_excused(const struct nic_at *a, struct resend *r, uint32_t id)
{
	struct resend_item *x = item(r, id);

	/* the longest pauses are all the same */
	if (x->tries > UINT16_MAX / 2)
		x->tries--;
	else
		x->excused++;
	resend_again(a, r, id);
}

void resend_pause(
	const struct nic_at *a, struct resend *r, uint32_t id, sim_time t)
{
	struct resend_item *x = item(r, id);

	x->tries = 1;
	x->excused = 0;
	x->again_at = t;
	ticks_post_late(a, t, r->how->again, r->how->stride, id);
}

static void on_again(const struct nic_at *a, struct resend *r, uint32_t id)
{
	struct resend_item *x = slots_find(&r->items, id);

	/* It may be acknowledged by now, though late. */
	if (!x || x->again_at != a->t)
		return;
	x->again_at = 0;
	on_leave(a, r, id);
}

static void is_late(const struct nic_at *a, struct resend *r, uint32_t id)
{
	const struct resend_item *x = item(r, id);

	r->how->on_late(a, id);
	/* Packets that follow avoid this route from the start. */
	set_detour(r, x->dst, x->route + 1U);
	resend_again(a, r, id);
}

static void on_late(const struct nic_at *a, struct resend *r)
{
	sim_time t;

	r->is_posted = false;
	while (r->late.first) {
		t = due(r, item(r, r->late.first));
		if (t > a->t) {
			r->is_posted = true;
			ticks_post(a, r->ticks, t, r->how->late, 0);
			return;
		}
		is_late(a, r, r->late.first);
	}
}

/* It may be answered by now, or waits to be sent again. */
static const struct resend_item *awaited(const struct resend *r, uint32_t id)
{
	const struct resend_item *x = slots_find(&r->items, id);

	return x && x->tries && x->left_at ? x : NULL;
}

static void on_later(const struct nic_at *a, struct resend *r, uint32_t id)
{
	const struct resend_item *x = awaited(r, id);

	if (!x)
		return;
	if (due(r, x) > a->t)
		post_later(a, r, id, due(r, x));
	else
		is_late(a, r, id);
}

bool resend_on_event(
	const struct nic_at *a, struct resend *r, uint32_t number, uint32_t id)
{
	if (number == r->how->leave)
		on_leave(a, r, id);
	else if (number == r->how->late)
		on_late(a, r);
	else if (number == r->how->later)
		on_later(a, r, id);
	else if (number == r->how->again)
		on_again(a, r, id);
	else
		return false;
	return true;
}

bool resend_is_stale(const struct resend *r, uint32_t number, uint32_t id)
{
	if (number == r->how->late)
		return !r->late.first;
	return number == r->how->later && !awaited(r, id);
}

bool resend_is_put_off(const struct resend_item *x)
{
	return x->excused > MOST_DOUBLINGS && x->excused == x->tries;
}

bool resend_is_patient(const struct resend *r, uint32_t number, uint32_t id)
{
	const struct resend_item *x = slots_find(&r->items, id);

	return number == r->how->again &&
	       (!x || !x->again_at || x->excused > MOST_DOUBLINGS);
}
