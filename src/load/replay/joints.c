#include "load/replay/joints.h"

#include "base/mem.h"

struct joint {
	struct coll_run run;
	struct joint_of of;
	struct joint *next;
};

void joints_begin(struct joints *j, const struct coll_run *how,
	const struct algo_plan *plan, uint32_t member, struct joint_of of)
{
	struct joint *x = mem_alloc(1, sizeof(*x)), **end = &j->first;

	*x = (struct joint){ .run = *how, .of = of };
	coll_run_open(&x->run, plan, member, false);
	j->seen = 0;
	while (*end)
		end = &(*end)->next;
	*end = x;
}

/* They go on when a request has ended, and at first. */
bool joints_go_on(struct joints *j, uint64_t n_over)
{
	bool did = false;

	if (j->seen == n_over + 1)
		return false;
	j->seen = n_over + 1;
	for (struct joint *x = j->first; x; x = x->next)
		did |= play_go_on(&x->run.play);
	return did;
}

static void drop(struct joint **at)
{
	struct joint *x = *at;

	*at = x->next;
	coll_run_close(&x->run);
	mem_free(x);
}

bool joints_take(struct joints *j, struct joint_of *of, int *error)
{
	struct joint **at = &j->first;

	while (*at && !play_is_over(&(*at)->run.play))
		at = &(*at)->next;
	if (!*at)
		return false;
	*of = (*at)->of;
	*error = (*at)->run.play.error;
	j->n_steps += (*at)->run.play.n_steps;
	drop(at);
	return true;
}

bool joints_oldest(const struct joints *j, struct joint_of *of)
{
	if (j->first)
		*of = j->first->of;
	return j->first;
}

void joints_fini(struct joints *j)
{
	while (j->first)
		drop(&j->first);
}
