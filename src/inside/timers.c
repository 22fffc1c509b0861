/*
 * Timers in the rank's time: what they do happens with the first call that ends
 * behind the time it was asked for.
 */
#define _GNU_SOURCE /* RTLD_NEXT, sigev_notify_thread_id */
#include "inside/rank.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define PS_PER_US (PS_PER_S / 1000000)
#define NEVER	  INT64_MAX

enum { ALARM, FIRST, TIMERS = 64 };

/* Of the first one: the kernel's own, of before MPI_Init(), are smaller. */
#define FIRST_ID ((uintptr_t)1 << 20)

struct timer {
	bool is_used, is_real_time;
	int64_t due, interval; /* ps; NEVER: it is not set */
	int overruns; /* of the last time */
	struct sigevent how;
};

static struct timer timers[TIMERS] = { [ALARM] = {
					       .is_used = true,
					       .due = NEVER,
					       .how = { .sigev_notify =
								SIGEV_SIGNAL,
						       .sigev_signo = SIGALRM },
				       } };
static int64_t first_due = NEVER; /* of all */

static void find_first(void)
{
	first_due = NEVER;
	for (int i = 0; i < TIMERS; i++)
		if (timers[i].is_used && timers[i].due < first_due)
			first_due = timers[i].due;
}

/* Until it is due; 0: it is not set.  One that is about to fire has a little
 * left. */
static int64_t left(const struct timer *t, int64_t now)
{
	if (t->due == NEVER)
		return 0;
	return t->due > now + PS_PER_US ? t->due - now : PS_PER_US;
}

static void set(struct timer *t, int64_t now, int64_t first, int64_t each)
{
	t->due = first <= 0 ? NEVER : first < NEVER - now ? now + first : NEVER;
	t->interval = each;
	find_first();
}

/* --- what they do --- */

static void send_signal(int i, const struct sigevent *how)
{
	siginfo_t info = { .si_signo = how->sigev_signo,
		.si_code = i == ALARM ? SI_KERNEL : SI_TIMER };
	pid_t me = (pid_t)syscall(SYS_getpid);
	pid_t thread = how->sigev_notify == SIGEV_THREAD_ID
			       ? how->_sigev_un._tid
			       : (pid_t)syscall(SYS_gettid);

	link_signal(how->sigev_signo);
	if (i == ALARM) {
		syscall(SYS_tgkill, me, thread, how->sigev_signo);
		return;
	}
	info.si_timerid = (int)FIRST_ID + i;
	info.si_overrun = timers[i].overruns;
	info.si_value = how->sigev_value;
	syscall(SYS_rt_tgsigqueueinfo, me, thread, how->sigev_signo, &info);
}

static void fire(int i)
{
	const struct sigevent how = timers[i].how;

	if (how.sigev_notify == SIGEV_THREAD)
		how.sigev_notify_function(how.sigev_value);
	else if (how.sigev_notify != SIGEV_NONE)
		send_signal(i, &how);
}

/* Times that nobody saw count, but fire once. */
static void renew(struct timer *t, int64_t now)
{
	int64_t missed = t->interval > 0 ? (now - t->due) / t->interval : 0;

	t->overruns = missed < INT32_MAX ? (int)missed : INT32_MAX;
	t->due = t->interval > 0 ? t->due + (missed + 1) * t->interval : NEVER;
}

void timers_look(int64_t now)
{
	if (now < first_due)
		return;
	for (int i = 0; i < TIMERS; i++) {
		if (!timers[i].is_used || now < timers[i].due)
			continue;
		renew(&timers[i], now);
		find_first();
		fire(i);
	}
}

/* --- alarm() and setitimer() --- */

static struct timeval time_of(int64_t ps)
{
	return (struct timeval){
		.tv_sec = ps / PS_PER_S,
		.tv_usec = ps % PS_PER_S / PS_PER_US,
	};
}

static int64_t ps_of(int64_t seconds, int64_t ns)
{
	if (seconds >= NEVER / PS_PER_S)
		return NEVER - 1;
	return seconds * PS_PER_S + ns * PS_PER_NS;
}

INSIDE_EXPORT unsigned alarm(unsigned seconds)
{
	static unsigned (*real)(unsigned);
	struct timer *t = &timers[ALARM];
	int64_t now, before;

	if (!real)
		call_next(&real, "alarm");
	if (!self_is_fixed())
		return real(seconds);
	now = link_now();
	before = left(t, now);
	set(t, now, ps_of(seconds, 0), 0);
	return (unsigned)((before + PS_PER_S - 1) / PS_PER_S);
}

/* Timers of CPU time stay the host's. */
static bool is_ours(__itimer_which_t which)
{
	if (!self_is_fixed())
		return false;
	if (which != ITIMER_REAL)
		link_note(CHANNEL_CLOCKS);
	return which == ITIMER_REAL;
}

INSIDE_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *new,
	struct itimerval *old)
{
	static int (*real)(
		__itimer_which_t, const struct itimerval *, struct itimerval *);
	struct timer *t = &timers[ALARM];
	int64_t now;

	if (!real)
		call_next(&real, "setitimer");
	if (!is_ours(which))
		return real(which, new, old);
	now = link_now();
	if (old)
		*old = (struct itimerval){
			.it_interval = time_of(t->interval),
			.it_value = time_of(left(t, now)),
		};
	if (new)
		set(t, now,
			ps_of(new->it_value.tv_sec,
				new->it_value.tv_usec *INT64_C(1000)),
			ps_of(new->it_interval.tv_sec,
				new->it_interval.tv_usec *INT64_C(1000)));
	return 0;
}

INSIDE_EXPORT int getitimer(__itimer_which_t which, struct itimerval *value)
{
	static int (*real)(__itimer_which_t, struct itimerval *);

	if (!real)
		call_next(&real, "getitimer");
	if (!is_ours(which))
		return real(which, value);
	return setitimer(which, NULL, value);
}

/* --- timer_create() --- */

static struct timer *timer_of(timer_t id)
{
	uintptr_t i = (uintptr_t)id - FIRST_ID;

	return i >= FIRST && i < TIMERS && timers[i].is_used ? &timers[i]
							     : NULL;
}

INSIDE_EXPORT int timer_create(clockid_t id, struct sigevent *how, timer_t *to)
{
	static int (*real)(clockid_t, struct sigevent *, timer_t *);
	uintptr_t i = FIRST;

	if (!real)
		call_next(&real, "timer_create");
	if (!self_is_fixed() || id < 0)
		return real(id, how, to);
	while (i < TIMERS && timers[i].is_used)
		i++;
	if (i == TIMERS) {
		errno = EAGAIN;
		return -1;
	}
	timers[i] = (struct timer){ .is_used = true,
		.is_real_time = id == CLOCK_REALTIME,
		.due = NEVER };
	if (how) {
		timers[i].how = *how;
	} else {
		timers[i].how.sigev_notify = SIGEV_SIGNAL;
		timers[i].how.sigev_signo = SIGALRM;
		timers[i].how.sigev_value.sival_int = (int)i;
	}
	*to = (timer_t)(FIRST_ID + i);
	return 0;
}

static struct timespec spec_of(int64_t ps)
{
	return (struct timespec){ ps / PS_PER_S, ps % PS_PER_S / PS_PER_NS };
}

static void show(const struct timer *t, struct itimerspec *to)
{
	to->it_interval = spec_of(t->interval);
	to->it_value = spec_of(left(t, link_now()));
}

INSIDE_EXPORT int timer_settime(timer_t id, int flags,
	const struct itimerspec *new, struct itimerspec *old)
{
	static int (*real)(
		timer_t, int, const struct itimerspec *, struct itimerspec *);
	struct timer *t = timer_of(id);
	bool is_set = new->it_value.tv_sec || new->it_value.tv_nsec;
	int64_t now, first, begin = 0;

	if (!real)
		call_next(&real, "timer_settime");
	if (!t)
		return real(id, flags, new, old);
	if (flags & TIMER_ABSTIME && is_set)
		begin = clock_begin(t->is_real_time);
	if (old)
		show(t, old);
	now = link_now();
	first = ps_of(new->it_value.tv_sec - begin, new->it_value.tv_nsec);
	if (flags & TIMER_ABSTIME && is_set)
		first = first > now ? first - now : 1;
	set(t, now, first,
		ps_of(new->it_interval.tv_sec, new->it_interval.tv_nsec));
	return 0;
}

INSIDE_EXPORT int timer_gettime(timer_t id, struct itimerspec *to)
{
	static int (*real)(timer_t, struct itimerspec *);
	const struct timer *t = timer_of(id);

	if (!real)
		call_next(&real, "timer_gettime");
	if (!t)
		return real(id, to);
	show(t, to);
	return 0;
}

INSIDE_EXPORT int timer_getoverrun(timer_t id)
{
	static int (*real)(timer_t);
	const struct timer *t = timer_of(id);

	if (!real)
		call_next(&real, "timer_getoverrun");
	return t ? t->overruns : real(id);
}

INSIDE_EXPORT int timer_delete(timer_t id)
{
	static int (*real)(timer_t);
	struct timer *t = timer_of(id);

	if (!real)
		call_next(&real, "timer_delete");
	if (!t)
		return real(id);
	t->is_used = false;
	find_first();
	return 0;
}
