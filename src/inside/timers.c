/*
 * Timers that send SIGALRM, in the rank's time: the signal comes with the first
 * call that ends behind the time it was asked for.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "inside/rank.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#define PS_PER_US (PS_PER_S / 1000000)

static int64_t due = INT64_MAX, interval; /* ps */

static struct timeval time_of(int64_t ps)
{
	return (struct timeval){
		.tv_sec = ps / PS_PER_S,
		.tv_usec = ps % PS_PER_S / PS_PER_US,
	};
}

static int64_t ps_of(const struct timeval *t)
{
	return t->tv_sec * PS_PER_S + t->tv_usec * PS_PER_US;
}

/* Until it is due; 0: there is none.  One that is about to fire has a little
 * left. */
static int64_t left(int64_t now)
{
	if (due == INT64_MAX)
		return 0;
	return due > now + PS_PER_US ? due - now : PS_PER_US;
}

static void set(int64_t now, int64_t first, int64_t each)
{
	due = first > 0 ? now + first : INT64_MAX;
	interval = each;
}

void timers_look(int64_t now)
{
	if (now < due)
		return;
	due = interval > 0 ? now + interval : INT64_MAX;
	raise(SIGALRM);
}

INSIDE_EXPORT unsigned alarm(unsigned seconds)
{
	static unsigned (*real)(unsigned);
	int64_t now, before;

	if (!real)
		call_next(&real, "alarm");
	if (!self_is_fixed())
		return real(seconds);
	now = link_now();
	before = left(now);
	set(now, seconds * PS_PER_S, 0);
	return (unsigned)((before + PS_PER_S - 1) / PS_PER_S);
}

INSIDE_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *new,
	struct itimerval *old)
{
	static int (*real)(
		__itimer_which_t, const struct itimerval *, struct itimerval *);
	int64_t now;

	if (!real)
		call_next(&real, "setitimer");
	if (!self_is_fixed() || which != ITIMER_REAL)
		return real(which, new, old);
	now = link_now();
	if (old)
		*old = (struct itimerval){
			.it_interval = time_of(interval),
			.it_value = time_of(left(now)),
		};
	if (new)
		set(now, ps_of(&new->it_value), ps_of(&new->it_interval));
	return 0;
}

INSIDE_EXPORT int getitimer(__itimer_which_t which, struct itimerval *value)
{
	static int (*real)(__itimer_which_t, struct itimerval *);

	if (!real)
		call_next(&real, "getitimer");
	if (!self_is_fixed() || which != ITIMER_REAL)
		return real(which, value);
	return setitimer(which, NULL, value);
}
