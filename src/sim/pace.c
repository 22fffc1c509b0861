#define _GNU_SOURCE
#include "sim/pace.h"

#include <time.h>

enum {
	WINDOWS = 64, /* of a stretch, at most */
	SETTLING = 3, /* of a new way */
	EVENTS = 4096,
	MANY = 16384, /* in each window: threads meet seldom enough */
	PATIENCE_FIRST = 8,
	PATIENCE_MOST = 1 << 20,
	FIRST_TRIAL = 2000000, /* ns after the start */
	TRIAL_LEAST = 50000, /* ns that a trial may take, whatever it does */
	/* ns until the next trial of threads, at most, unless one takes long:
	 * what made them slow may be over, such as other work of the host */
	TRIAL_AGAIN = 1000000000,
};

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t pace_clock(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t pace_own_clock(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void pace_init(struct pace *p, enum pace_way way, int64_t (*clock)(void))
{
	*p = (struct pace){
		.clock = clock,
		.part = clock ? 8 : 32,
		.need = clock ? 1 : 3,
		.way = way,
		.patience = PATIENCE_FIRST,
		.first = clock ? clock() : 0,
	};
	p->since = p->first;
}

static void start_timing(struct pace *p, uint64_t events, int64_t now)
{
	p->windows = 0;
	p->events = events;
	p->since = now;
}

static void begin(struct pace *p, enum pace_way way, bool is_trial,
	uint64_t events, int64_t now)
{
	p->settling = p->clock && way != p->way ? SETTLING : 0;
	p->way = way;
	p->is_trial = is_trial;
	p->began = now;
	start_timing(p, events, now);
}

/* A trial that is much slower than what it is compared with ends early. */
static bool is_hopeless(const struct pace *p, uint64_t n, int64_t took)
{
	int64_t other = p->cost[1 - p->way];

	return took > TRIAL_LEAST + 2 * other * (int64_t)n / 1024;
}

/* The trial is over: goes on in the better way, and waits with the next trial
 * until this one's time is a small part of what has passed; or repeats it. */
static void judge(struct pace *p, uint64_t events, int64_t now)
{
	int64_t took = now - p->began;
	enum pace_way other = (enum pace_way)(1 - p->way);
	int64_t usual = p->cost[other] * EVENTS / 1024 + 1;
	int64_t wait = 8 * took / usual;
	bool is_better =
		p->cost[p->way] < p->cost[other] - p->cost[other] / p->part;

	p->won = is_better ? p->won + 1 : 0;
	if (is_better && p->won < p->need) {
		begin(p, other, false, events, now);
		return;
	}
	p->won = 0;
	p->calm = 0;
	p->again = now + (took > TRIAL_AGAIN / 64 ? 64 * took : TRIAL_AGAIN);
	p->patience = is_better ? PATIENCE_FIRST : 2 * p->patience;
	if (p->patience < wait)
		p->patience =
			wait < PATIENCE_MOST ? (uint32_t)wait : PATIENCE_MOST;
	if (p->patience > PATIENCE_MOST)
		p->patience = PATIENCE_MOST;
	begin(p, is_better ? p->way : other, false, events, now);
}

static void end_stretch(
	struct pace *p, uint64_t events, uint64_t n, int64_t now)
{
	int64_t took = now - p->since;
	int64_t cost = took * 1024 / (int64_t)(n ? n : 1) + 1;
	bool is_due;

	p->cost[p->way] = cost;
	if (p->is_trial) {
		judge(p, events, now);
		return;
	}
	if (p->clock && n / p->windows >= MANY) {
		begin(p, PACE_TOGETHER, false, events, now);
		return;
	}
	/* a long run of nearly empty windows counts as what it did */
	p->calm += (uint32_t)(n / EVENTS) + 1;
	is_due = p->won ||
		 (p->calm >= p->patience && now - p->first >= FIRST_TRIAL) ||
		 (p->clock && p->again && now >= p->again);
	begin(p, is_due ? (enum pace_way)(1 - p->way) : p->way, is_due, events,
		now);
}

enum pace_way pace_next(struct pace *p, uint64_t events)
{
	uint64_t n = events - p->events;
	bool is_over = ++p->windows > WINDOWS || n >= EVENTS;

	if (p->settling) {
		if (!--p->settling)
			start_timing(p, events, p->clock());
	} else if (is_over) {
		end_stretch(p, events, n, p->clock());
	} else if (p->is_trial && p->way == PACE_TOGETHER) {
		int64_t now = p->clock();

		if (is_hopeless(p, n, now - p->since))
			end_stretch(p, events, n, now);
	}
	return p->way;
}

enum pace_way pace_at(struct pace *p, uint64_t events, int64_t now)
{
	uint64_t n = events - p->events;
	bool is_over = ++p->windows > WINDOWS || n >= EVENTS;

	if (is_over || (p->is_trial && is_hopeless(p, n, now - p->since)))
		end_stretch(p, events, n, now);
	return p->way;
}
