#include "load/coll/play.h"

#include "base/mem.h"

struct play_lane {
	uint64_t next, done, n; /* steps: the next; all before are over; all */
	bool has_step; /* the next one is known */
	struct algo_step step; /* it */
	struct algo_step begun[PLAY_WINDOW]; /* by their number */
};

uint32_t play_slots(const struct algo_plan *plan)
{
	return algo_lanes(plan) * PLAY_WINDOW;
}

static uint32_t n_receives(const struct algo_plan *plan)
{
	uint64_t n =
		PLAY_RECEIVED / plan->chunk / ((plan->algo->lanes + 1) / 2);

	if (n > PLAY_WINDOW)
		return PLAY_WINDOW;
	return n > PLAY_RECEIVES ? (uint32_t)n : PLAY_RECEIVES;
}

void play_open(struct play *p, const struct algo_plan *plan, uint32_t member,
	uint32_t window, const struct play_ops *ops, void *arg)
{
	*p = (struct play){
		.plan = plan,
		.member = member,
		.ops = ops,
		.arg = arg,
		.window = window ? window : PLAY_WINDOW,
		.receives = window ? window : n_receives(plan),
		.n_lanes = algo_lanes(plan),
	};
	if (!window && plan->algo->pace)
		plan->algo->pace(plan, &p->window, &p->receives);
	p->lane = mem_alloc(p->n_lanes, sizeof(*p->lane));
	for (uint32_t i = 0; i < p->n_lanes; i++) {
		p->lane[i].n = algo_count(plan, member, i);
		p->n_over += !p->lane[i].n;
	}
}

void play_close(struct play *p)
{
	mem_free(p->lane);
	p->lane = NULL;
}

static uint32_t slot_of(uint32_t lane, uint64_t i)
{
	return lane * PLAY_WINDOW + (uint32_t)(i % PLAY_WINDOW);
}

static bool is_past(const struct play *p, struct algo_after a)
{
	return p->lane[a.lane].done >= a.n;
}

/* --- ends --- */

static bool has_ended(struct play *p, uint32_t lane, uint64_t i)
{
	const struct algo_step *s = &p->lane[lane].begun[i % PLAY_WINDOW];

	if (s->bytes && !p->ops->is_over(p->arg, slot_of(lane, i), &p->error))
		return false;
	if (s->kind != ALGO_ADD)
		return true;
	if (!is_past(p, s->add_after))
		return false;
	if (p->ops->add && s->bytes)
		p->ops->add(p->arg, s->at, s->to, s->bytes);
	return true;
}

/* In their order, which is all that others wait for. */
static bool end_steps(struct play *p, uint32_t lane)
{
	struct play_lane *l = &p->lane[lane];
	uint64_t before = l->done;

	while (l->done < l->next && has_ended(p, lane, l->done))
		l->done++;
	p->n_steps += l->done - before;
	p->n_over += l->done == l->n && l->done > before;
	return l->done > before;
}

/* --- beginnings --- */

/* Messages without bytes are none. */
static int begin(struct play *p, uint32_t lane, uint64_t i)
{
	struct play_lane *l = &p->lane[lane];
	const struct algo_step *s = &l->step;
	uint32_t slot = slot_of(lane, i);

	l->begun[i % PLAY_WINDOW] = *s;
	if (!s->bytes)
		return 0;
	if (s->kind == ALGO_SEND)
		return p->ops->send(p->arg, slot, lane, s);
	if (s->kind != ALGO_COPY)
		return p->ops->receive(p->arg, slot, lane, s);
	if (p->ops->copy)
		p->ops->copy(p->arg, s->to, s->at, s->bytes);
	l->begun[i % PLAY_WINDOW].bytes = 0;
	return 0;
}

static bool has_room(const struct play_lane *l)
{
	return !l->step.most || l->next - l->done < l->step.most;
}

static bool begin_steps(struct play *p, uint32_t lane)
{
	struct play_lane *l = &p->lane[lane];
	/* what algo_tag() pairs: the even one receives, or is alone */
	uint32_t window = lane % 2 ? p->window : p->receives;
	bool did = false;

	while (l->next < l->n && l->next - l->done < window && !p->error) {
		if (!l->has_step)
			algo_step(p->plan, p->member, lane, l->next, &l->step);
		l->has_step = true;
		if (!is_past(p, l->step.after))
			break;
		if (!has_room(l))
			break;
		p->error = begin(p, lane, l->next);
		l->has_step = false;
		l->next++;
		did = true;
	}
	return did;
}

bool play_go_on(struct play *p)
{
	bool did = false, again;

	do {
		again = false;
		for (uint32_t i = 0; i < p->n_lanes && !p->error; i++) {
			if (p->lane[i].done == p->lane[i].n)
				continue;
			again |= end_steps(p, i);
			again |= begin_steps(p, i);
		}
		did |= again;
	} while (again && !p->error);
	return did;
}
