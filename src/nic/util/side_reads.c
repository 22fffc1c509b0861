#include "nic/util/side_reads.h"

enum {
	TOGETHER = 8,
	STREAMS = 2, /* the part of all reads that a piece of one may have */
};

/* A read that fits into one piece has no item of its own. */
struct piece {
	struct slot slot;
	uint32_t item, bytes;
	uint64_t at;
	sim_time t; /* if settled: it is ready, then it is here */
	uint32_t reads; /* of the side */
	bool is_posted;
	/* Pieces that are asked for together: so many that have not crossed the
	 * bus, of so many bytes but for the last one, and ready one after the
	 * other.  Less than two: all the above is of this one. */
	uint32_t left, each;
	sim_time step;
	struct side_read read; /* where item is 0 */
};

void side_reads_init(struct side_reads *r, const struct side_reads_how *how,
	struct ticks *ticks)
{
	*r = (struct side_reads){
		.how = how, .ticks = ticks, .due = SIM_NEVER
	};
	slots_init(&r->items, sizeof(struct side_read));
	slots_init(&r->pieces, sizeof(struct piece));
	ring_init(&r->silent, sizeof(sim_time));
}

void side_reads_fini(struct side_reads *r)
{
	slots_fini(&r->items);
	slots_fini(&r->pieces);
	ring_fini(&r->silent);
}

static uint64_t side_reads_memory(const struct side_reads *r)
{
	return slots_memory(&r->items) + slots_memory(&r->pieces) +
	       ring_memory(&r->silent);
}

NIC_MEMBER_OPS(side_reads, NULL);

/* Bytes of a piece, at most; and how many reads of the side it is. */
static uint32_t most_of(const struct side_reads *r)
{
	return r->how->whole ? r->how->whole : r->how->side->most_read;
}

static uint32_t reads_of(const struct side_reads *r, uint32_t bytes)
{
	uint32_t most = r->how->side->most_read;

	return bytes > most ? (bytes - 1) / most + 1 : 1;
}

/* An event is later than what posts it. */
static void post(const struct nic_at *a, struct side_reads *r, sim_time t,
	uint32_t number, uint32_t id)
{
	ticks_post(a, r->ticks, t > a->t ? t : a->t + 1, number, id);
}

static sim_time now_of(const struct side_reads *r)
{
	return r->all && r->all->now > r->now ? r->all->now : r->now;
}

/* A piece will be ready, behind others if there are any. */
static void add_ready(struct side_reads *r, const struct piece *p, uint32_t id)
{
	if (!r->ready.first)
		r->due = p->t;
	if (r->all)
		r->all->lagging |= UINT64_C(1) << r->how->processor;
	slots_push(&r->pieces, &r->ready, id);
}

/* Its event is when it can be here at the earliest, behind those before it,
 * unless that is over. */
static inline __attribute__((always_inline)) void post_ahead(
	const struct nic_at *a, struct side_reads *r, struct piece *p,
	uint32_t id)
{
	const struct side *side = r->how->side;
	sim_time t = p->t > r->behind ? p->t : r->behind;

	t += side->ops->least(side, p->bytes);
	r->behind = t;
	p->is_posted = t > now_of(r);
	if (p->is_posted)
		post(a, r, t, r->how->first + 1, id);
	add_ready(r, p, id);
}

/* As some reads of the side. */
static inline __attribute__((always_inline)) void ask(const struct nic_at *a,
	struct side_reads *r, uint32_t id, uint32_t reads)
{
	struct side *side = r->how->side;
	struct piece *p = slots_at(&r->pieces, id);

	p->reads = reads;
	r->n += reads;
	if (!p->bytes) {
		post(a, r, a->t, r->how->first + 1, id);
		return;
	}
	p->t = side->ops->request(
		side, side_reads_place(a, r), a->t, p->at, p->bytes);
	if (r->how->is_settled)
		post_ahead(a, r, p, id);
	else
		post(a, r, p->t, r->how->first, id);
}

/* Of those that were asked for together, all but the last one that are ready by
 * t cross the bus; some of them at a time. */
static void cross_silently(const struct nic_at *a, struct side_reads *r,
	struct piece *p, sim_time t)
{
	struct side *side = r->how->side;
	sim_time over[TOGETHER];
	uint32_t n = p->left - 1;

	n = n < TOGETHER ? n : TOGETHER;
	while (p->t + (n - 1) * p->step > t)
		n--;
	side->ops->data_of(
		side, side_reads_place(a, r), p->t, p->step, p->each, n, over);
	for (uint32_t i = 0; i < n; i++)
		*(sim_time *)ring_push(&r->silent) = over[i];
	p->left -= n;
	p->at += n * p->each;
	p->t += n * p->step;
	r->due = p->t;
}

/* As the bus keeps its order, what had no event comes after all that has. */
void side_reads_cross(const struct nic_at *a, struct side_reads *r, sim_time t)
{
	struct side *side = r->how->side;

	while (r->due <= t) {
		uint32_t id = r->ready.first;
		struct piece *p = slots_at(&r->pieces, id);

		if (p->left > 1) {
			cross_silently(a, r, p, t);
			continue;
		}
		slots_pop(&r->pieces, &r->ready);
		p->t = side->ops->data(
			side, side_reads_place(a, r), p->t, p->at, p->bytes);
		BUG_IF(!p->is_posted && p->t <= now_of(r));
		if (!p->is_posted)
			post(a, r, p->t, r->how->first + 1, id);
		p = slots_at(&r->pieces, r->ready.first);
		r->due = r->ready.first ? p->t : SIM_NEVER;
	}
}

/* The next piece of an item, unless that is more reads than are free. */
static bool cut(const struct nic_at *a, struct side_reads *r, uint32_t item)
{
	struct side_read *x = slots_at(&r->items, item);
	uint32_t left = x->bytes - x->asked, id, reads;
	struct piece *p;

	left = left < x->most ? left : x->most;
	reads = reads_of(r, left);
	if (r->n + reads > r->how->side->n_reads)
		return false;
	id = slots_take(&r->pieces);
	p = slots_at(&r->pieces, id);
	p->item = item;
	p->at = x->at + x->asked;
	p->bytes = left;
	x->asked += left;
	ask(a, r, id, reads);
	return true;
}

/* Silent pieces that are here free their reads. */
static void retire(struct side_reads *r)
{
	while (r->silent.n && *(sim_time *)ring_at(&r->silent, 0) <= r->over) {
		ring_pop(&r->silent);
		r->n--;
	}
}

/* What waits in line goes on when a silent piece is here, or can be at the
 * earliest; others have events of their own. */
static void wake(const struct nic_at *a, struct side_reads *r)
{
	const struct side *side = r->how->side;
	const struct piece *p;
	sim_time t;

	if (r->is_waking)
		return;
	if (r->silent.n) {
		t = *(sim_time *)ring_at(&r->silent, 0);
	} else {
		p = r->ready.first ? slots_at(&r->pieces, r->ready.first)
				   : NULL;
		if (!p || p->left < 2)
			return;
		t = p->t + side->ops->least(side, p->each);
	}
	r->is_waking = true;
	/* perhaps now, after the event that is */
	ticks_post(a, r->ticks, t, r->how->first, 0);
}

static bool has_line(const struct side_reads *r)
{
	return r->line.first || r->ahead.first;
}

static void pump(const struct nic_at *a, struct side_reads *r)
{
	while (has_line(r) && r->n < r->how->side->n_reads) {
		struct slot_list *l = r->ahead.first ? &r->ahead : &r->line;
		const struct side_read *x = slots_at(&r->items, l->first);

		if (!cut(a, r, l->first))
			return;
		if (x->asked == x->bytes)
			slots_pop(&r->items, l);
	}
}

/* What waits in line. */
static __attribute__((noinline)) void go_on(
	const struct nic_at *a, struct side_reads *r)
{
	pump(a, r);
	if (has_line(r) && r->how->is_silent)
		wake(a, r);
}

static inline __attribute__((always_inline)) void begin_at_once(
	const struct nic_at *a, struct side_reads *r, const struct side_read *x,
	uint32_t reads)
{
	uint32_t id = slots_take_any(&r->pieces);
	struct piece *p = slots_at(&r->pieces, id);

	p->item = 0;
	p->at = x->at;
	p->bytes = x->bytes;
	p->t = 0;
	p->left = 1;
	p->read = *x;
	ask(a, r, id, reads);
}

/* All pieces of a read: requests of one instant follow each other evenly, so
 * all but the first are one call. */
static void begin_together(const struct nic_at *a, struct side_reads *r,
	const struct side_read *x, uint32_t many)
{
	struct side *side = r->how->side;
	site_id place = side_reads_place(a, r);
	uint32_t id = slots_take_any(&r->pieces), each = side->most_read;
	struct piece *p = slots_at(&r->pieces, id);
	sim_time first, last;

	p->item = 0;
	p->at = x->at;
	p->bytes = x->bytes - (many - 1) * each; /* of the last one */
	p->reads = 1;
	p->left = many;
	p->each = each;
	p->read = *x;
	p->t = side->ops->request(side, place, a->t, x->at, each);
	p->step = side->ops->request(
			  side, place, a->t, x->at + each, x->bytes - each) -
		  p->t;
	/* the last one is behind the others, or late itself */
	first = p->t > r->behind ? p->t : r->behind;
	first += (many - 1) * side->ops->least(side, each);
	last = p->t + (many - 1) * p->step;
	r->behind = (first > last ? first : last) +
		    side->ops->least(side, p->bytes);
	r->n += many;
	p->is_posted = r->behind > now_of(r);
	if (p->is_posted)
		post(a, r, r->behind, r->how->first + 1, id);
	add_ready(r, p, id);
}

static void begin_in_line(
	const struct nic_at *a, struct side_reads *r, const struct side_read *x)
{
	uint32_t id = slots_take(&r->items);
	struct side_read *item = slots_at(&r->items, id);
	struct slot slot = item->slot;

	*item = *x;
	item->slot = slot;
	slots_push(&r->items, x->bytes <= r->how->ahead ? &r->ahead : &r->line,
		id);
	go_on(a, r);
}

/* True: it fits into one piece, which has been asked for. */
static inline __attribute__((always_inline)) bool try_at_once(
	const struct nic_at *a, struct side_reads *r, const struct side_read *x)
{
	uint32_t reads = reads_of(r, x->bytes);

	retire(r);
	if (x->bytes > x->most || has_line(r) ||
		r->n + reads > r->how->side->n_reads)
		return false;
	begin_at_once(a, r, x, reads);
	return true;
}

void side_reads_begin(const struct nic_at *a, struct side_reads *r, uint64_t at,
	uint32_t bytes, side_read_done *done, void *owner, uint32_t id)
{
	const struct side *side = r->how->side;
	uint32_t most = most_of(r), many;
	const struct side_read x = {
		.at = at,
		.bytes = bytes,
		.done = done,
		.owner = owner,
		.id = id,
		.most = most,
	};

	if (try_at_once(a, r, &x))
		return;
	many = (bytes - 1) / most + 1;
	if (r->how->is_silent && !r->how->whole && bytes > most &&
		!has_line(r) && r->n + many <= side->n_reads)
		begin_together(a, r, &x, many);
	else
		begin_in_line(a, r, &x);
}

static void on_stream(const struct nic_at *a, const struct side_read *x)
{
	(void)a;
	(void)x;
}

void side_reads_stream(const struct nic_at *a, struct side_reads *r,
	uint64_t at, uint32_t bytes)
{
	const struct side *side = r->how->side;
	uint32_t most = side->n_reads / STREAMS * side->most_read;
	const struct side_read x = {
		.at = at,
		.bytes = bytes,
		.done = on_stream,
		.most = most > most_of(r) ? most : most_of(r),
	};

	if (!try_at_once(a, r, &x))
		begin_in_line(a, r, &x);
}

const struct side_read *side_reads_whose(
	const struct side_reads *r, uint32_t piece)
{
	return &((const struct piece *)slots_at(&r->pieces, piece))->read;
}

void side_reads_granted(const struct nic_at *a, struct side_reads *r,
	uint32_t piece, sim_time end)
{
	post(a, r, end, r->how->first + 1, piece);
}

static void on_ready(
	const struct nic_at *a, struct side_reads *r, uint32_t data)
{
	const struct piece *p = slots_at(&r->pieces, data);
	struct side *side = r->how->side;

	if (r->how->ask)
		r->how->ask(a, data, p->at, p->bytes);
	else
		side_reads_granted(a, r, data,
			side->ops->data(side, side_reads_place(a, r), a->t,
				p->at, p->bytes));
}

/* A piece of an item is here; whether that is all. */
static bool add_piece(struct side_reads *r, uint32_t item, uint32_t bytes,
	struct side_read *x)
{
	struct side_read *of = slots_at(&r->items, item);

	of->here += bytes;
	*x = *of;
	if (x->here < x->bytes)
		return false;
	slots_give(&r->items, item);
	return true;
}

static void on_here(const struct nic_at *a, struct side_reads *r, uint32_t data)
{
	const struct piece *p = slots_at(&r->pieces, data);
	struct side_read x;
	bool is_whole;

	if (r->how->is_settled && p->t > a->t) { /* the bus was not free */
		post(a, r, p->t, r->how->first + 1, data);
		return;
	}
	x = p->read;
	is_whole = !p->item || add_piece(r, p->item, p->bytes, &x);
	retire(r);
	r->n -= p->reads;
	slots_give(&r->pieces, data);
	if (has_line(r))
		go_on(a, r);
	if (is_whole)
		x.done(a, &x);
}

static void on_wake(const struct nic_at *a, struct side_reads *r)
{
	r->is_waking = false;
	retire(r);
	if (has_line(r))
		go_on(a, r);
}

bool side_reads_on_event(const struct nic_at *a, struct side_reads *r,
	uint32_t number, uint32_t data)
{
	if (number == r->how->first && r->how->is_silent)
		on_wake(a, r);
	else if (number == r->how->first)
		on_ready(a, r, data);
	else if (number == r->how->first + 1)
		on_here(a, r, data);
	else
		return false;
	return true;
}
