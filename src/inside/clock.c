/*
 * The clock that a rank sees, under the names that programs use.
 *
 * While a rank runs, its clock is the machine's: reading it takes 25 ns or
 * more, a sleep takes its time.  The day begins with the year 2000.  Before
 * that and behind it sleeps are real, and the clock creeps: it stands just
 * below the start, or at the end, so that differences are never negative and
 * never depend on the host.  MPI_Init(), MPI_Finalize() and threads of the MPI
 * library have the host's clock: some libraries measure it when they are
 * loaded.
 */
#define _GNU_SOURCE /* clocks of Linux */
#include "inside/rank.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

enum { SHORT_READS = 1 << 14 }; /* in a row; later ones are longer */

#define READ_PS	     (25 * (int64_t)PS_PER_NS)
#define LONG_READ_PS (10000 * (int64_t)PS_PER_NS)
#define NS_PER_S     INT64_C(1000000000)
#define DAY_S	     INT64_C(946684800) /* 2000-01-01 */
#define UP_S	     INT64_C(1000) /* since when the host runs, at the start */
#define BEFORE_PS    (-PS_PER_S) /* where the clock creeps from */
#define LONG_NS	     INT64_C(10000000) /* a sleep while time is real */

static _Atomic int64_t n_creeps;
static int64_t end_ps; /* of the rank's time */

/* --- the host's --- */

#define REAL(type, name, parameters)                                           \
	static type(*real_##name) parameters;                                  \
	if (!real_##name)                                                      \
	call_next(&real_##name, #name)

void clock_real(clockid_t id, struct timespec *t)
{
	REAL(int, clock_gettime, (clockid_t, struct timespec *));
	real_clock_gettime(id, t);
}

void clock_real_sleep(const struct timespec *t)
{
	syscall(SYS_nanosleep, t, NULL);
}

/* --- the rank's --- */

static bool is_simulated(void)
{
	return link_phase() == LINK_RUNS && !call_mine()->is_foreign;
}

static bool is_real(void)
{
	return !link_is_timed() || call_mine()->is_setup;
}

static int64_t creep(void)
{
	int64_t n = atomic_fetch_add(&n_creeps, 1);
	int64_t now = BEFORE_PS + n * READ_PS;

	if (link_phase() == LINK_AFTER)
		return end_ps + n * READ_PS;
	return now < 0 ? now : -1;
}

/*
 * A program that only reads a clock waits for a certain time.  After many reads
 * in a row, each read takes a fixed part of the time of the reads before it, so
 * such a wait ends late by no more than that part.  If computing takes time, a
 * loop of reads takes the time that it computes.
 */
static int64_t next_read(void)
{
	static _Thread_local uint64_t deeds;
	static _Thread_local int64_t n, taken;
	int64_t ps = READ_PS;

	if (deeds != link_deeds(false))
		n = taken = 0;
	deeds = link_deeds(false);
	if (n++ >= SHORT_READS && compute_is_free())
		ps = taken / SHORT_READS;
	if (ps > LONG_READ_PS)
		ps = LONG_READ_PS;
	taken += ps;
	return ps;
}

int64_t clock_read(void)
{
	return link_read_clock(next_read());
}

static int64_t look(void)
{
	if (!is_simulated())
		return creep();
	end_ps = clock_read();
	return end_ps;
}

int64_t clock_begin(bool is_real_time)
{
	return is_real_time ? DAY_S : UP_S;
}

/* Nanoseconds of a clock; negative ones are rounded down. */
static int64_t nanoseconds(clockid_t id)
{
	int64_t ns = (look() - BEFORE_PS) / PS_PER_NS + BEFORE_PS / PS_PER_NS;

	switch (id) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		return DAY_S * NS_PER_S + ns;
	case CLOCK_PROCESS_CPUTIME_ID:
	case CLOCK_THREAD_CPUTIME_ID:
		return link_charged() / PS_PER_NS;
	default:
		return UP_S * NS_PER_S + ns;
	}
}

/* Clocks of processes and threads have negative numbers, in which theirs are
 * (see the kernel's posix-timers.h); those of other ones stay the host's. */
static clockid_t own_clock(clockid_t id)
{
	enum { THREAD = 4, NUMBER = 3 };
	pid_t who = ~(id >> NUMBER);

	if (id >= 0 || is_real())
		return id;
	if (who == 0 || who == (pid_t)syscall(SYS_gettid) ||
		who == (pid_t)syscall(SYS_getpid))
		return id & THREAD ? CLOCK_THREAD_CPUTIME_ID
				   : CLOCK_PROCESS_CPUTIME_ID;
	link_note(CHANNEL_CLOCKS);
	return id;
}

INSIDE_EXPORT int clock_getcpuclockid(pid_t pid, clockid_t *id)
{
	REAL(int, clock_getcpuclockid, (pid_t, clockid_t *));
	pid = numbers_is_own(pid) ? 0 : numbers_real(pid);
	return pid == NUMBERS_NOBODY ? ESRCH
				     : real_clock_getcpuclockid(pid, id);
}

INSIDE_EXPORT int clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t ns;

	id = own_clock(id);
	if (is_real() || id < 0) {
		REAL(int, clock_gettime, (clockid_t, struct timespec *));
		return real_clock_gettime(id, t);
	}
	ns = nanoseconds(id);
	*t = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
	return 0;
}

INSIDE_EXPORT int clock_getres(clockid_t id, struct timespec *t)
{
	REAL(int, clock_getres, (clockid_t, struct timespec *));
	if (is_real() || id < 0)
		return real_clock_getres(id, t);
	if (t)
		*t = (struct timespec){ 0, 1 };
	return 0;
}

INSIDE_EXPORT int timespec_get(struct timespec *t, int base)
{
	return clock_gettime(CLOCK_REALTIME, t) == 0 ? base : 0;
}

INSIDE_EXPORT int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*t = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
	return 0;
}

INSIDE_EXPORT time_t time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}

INSIDE_EXPORT clock_t clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * CLOCKS_PER_SEC +
	       now.tv_nsec / (NS_PER_S / CLOCKS_PER_SEC);
}

INSIDE_EXPORT clock_t times(struct tms *t)
{
	long ticks = sysconf(_SC_CLK_TCK);
	struct timespec now;

	if (is_real()) {
		REAL(clock_t, times, (struct tms *));
		return real_times(t);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (t)
		*t = (struct tms){
			.tms_utime = link_charged() / (PS_PER_S / ticks),
		};
	return now.tv_sec * ticks + now.tv_nsec / (NS_PER_S / ticks);
}

/* Of a process: the rest of it is the host's. */
INSIDE_EXPORT int getrusage(__rusage_who_t who, struct rusage *u)
{
	struct timespec cpu;
	int error;

	REAL(int, getrusage, (__rusage_who_t, struct rusage *));
	error = real_getrusage(who, u);
	if (error || !is_simulated())
		return error;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	u->ru_utime = (struct timeval){ cpu.tv_sec, cpu.tv_nsec / 1000 };
	u->ru_stime = (struct timeval){ 0, 0 };
	return 0;
}

/* --- sleeps --- */

/*
 * Open MPI polls 10,000 times a second while it waits in MPI_Init(): with many
 * ranks a host does nothing else.  So the longer a thread has only slept, the
 * longer it sleeps.
 */
static int64_t drawn_out(int64_t ns)
{
	enum { PARTS = 16, WORK_NS = 200000 };
	static _Thread_local int64_t slept, worked;
	struct timespec t;
	int64_t cpu;

	clock_real(CLOCK_THREAD_CPUTIME_ID, &t);
	cpu = t.tv_sec * NS_PER_S + t.tv_nsec;
	if (cpu > worked + WORK_NS)
		slept = 0;
	worked = cpu;
	if (ns < slept / PARTS)
		ns = slept / PARTS < LONG_NS ? slept / PARTS : LONG_NS;
	slept += ns;
	return ns;
}

/* In MPI_Finalize() Open MPI sleeps for a second, so that launchers can take
 * what was printed; ours has it. */
static void sleep_really(int64_t ns)
{
	if (call_mine()->is_setup) {
		link_rest();
		ns = drawn_out(ns);
		if (ns > LONG_NS && link_phase() == LINK_AFTER)
			ns = LONG_NS;
	}
	clock_real_sleep(&(struct timespec){ ns / NS_PER_S, ns % NS_PER_S });
}

/* Longer than any run lasts is long enough. */
static int64_t ps_of(uint64_t ns)
{
	return ns < INT64_MAX / PS_PER_NS ? (int64_t)ns * PS_PER_NS : INT64_MAX;
}

static void sleep_for(int64_t ns)
{
	if (is_simulated())
		link_sleep(ps_of((uint64_t)ns));
	else
		sleep_really(ns);
}

static bool is_good(const struct timespec *t)
{
	return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < NS_PER_S;
}

static int64_t ns_of(const struct timespec *t)
{
	if (t->tv_sec > INT64_MAX / NS_PER_S - 1)
		return INT64_MAX;
	return t->tv_sec * NS_PER_S + t->tv_nsec;
}

INSIDE_EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
	REAL(int, nanosleep, (const struct timespec *, struct timespec *));
	if (!link_is_timed() || !is_good(t))
		return real_nanosleep(t, left);
	sleep_for(ns_of(t));
	return 0;
}

INSIDE_EXPORT int clock_nanosleep(clockid_t id, int flags,
	const struct timespec *t, struct timespec *left)
{
	int64_t ns;

	REAL(int, clock_nanosleep,
		(clockid_t, int, const struct timespec *, struct timespec *));
	if (!link_is_timed() || !is_good(t))
		return real_clock_nanosleep(id, flags, t, left);
	ns = ns_of(t);
	if (flags & TIMER_ABSTIME)
		ns -= nanoseconds(id);
	if (ns > 0)
		sleep_for(ns);
	return 0;
}

INSIDE_EXPORT int usleep(useconds_t us)
{
	REAL(int, usleep, (useconds_t));
	if (!link_is_timed())
		return real_usleep(us);
	sleep_for(us * INT64_C(1000));
	return 0;
}

INSIDE_EXPORT unsigned sleep(unsigned seconds)
{
	REAL(unsigned, sleep, (unsigned));
	if (!link_is_timed())
		return real_sleep(seconds);
	sleep_for(seconds * NS_PER_S);
	return 0;
}

/* --- waiting for no descriptor is sleeping, too --- */

INSIDE_EXPORT int poll(struct pollfd *fds, nfds_t n, int milliseconds)
{
	REAL(int, poll, (struct pollfd *, nfds_t, int));
	if (n > 0 || milliseconds <= 0 || !is_simulated())
		return real_poll(fds, n, milliseconds);
	sleep_for(milliseconds * INT64_C(1000000));
	return 0;
}

INSIDE_EXPORT int select(
	int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *t)
{
	REAL(int, select,
		(int, fd_set *, fd_set *, fd_set *, struct timeval *));
	if (n > 0 || !t || !is_simulated())
		return real_select(n, r, w, x, t);
	sleep_for(ns_of(&(struct timespec){ t->tv_sec, t->tv_usec * 1000 }));
	*t = (struct timeval){ 0, 0 };
	return 0;
}

INSIDE_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t,
	const sigset_t *mask)
{
	REAL(int, ppoll,
		(struct pollfd *, nfds_t, const struct timespec *,
			const sigset_t *));
	if (n > 0 || !t || !is_good(t) || !is_simulated())
		return real_ppoll(fds, n, t, mask);
	sleep_for(ns_of(t));
	return 0;
}

INSIDE_EXPORT int pselect(int n, fd_set *r, fd_set *w, fd_set *x,
	const struct timespec *t, const sigset_t *mask)
{
	REAL(int, pselect,
		(int, fd_set *, fd_set *, fd_set *, const struct timespec *,
			const sigset_t *));
	if (n > 0 || !t || !is_good(t) || !is_simulated())
		return real_pselect(n, r, w, x, t, mask);
	sleep_for(ns_of(t));
	return 0;
}

INSIDE_EXPORT int epoll_wait(
	int set, struct epoll_event *to, int most, int milliseconds)
{
	REAL(int, epoll_wait, (int, struct epoll_event *, int, int));
	if (milliseconds <= 0 || !is_simulated() || !files_is_empty_set(set))
		return real_epoll_wait(set, to, most, milliseconds);
	sleep_for(milliseconds * INT64_C(1000000));
	return 0;
}

INSIDE_EXPORT int epoll_pwait(int set, struct epoll_event *to, int most,
	int milliseconds, const sigset_t *mask)
{
	REAL(int, epoll_pwait,
		(int, struct epoll_event *, int, int, const sigset_t *));
	if (milliseconds <= 0 || !is_simulated() || !files_is_empty_set(set))
		return real_epoll_pwait(set, to, most, milliseconds, mask);
	sleep_for(milliseconds * INT64_C(1000000));
	return 0;
}

INSIDE_EXPORT int sched_yield(void)
{
	REAL(int, sched_yield, (void));
	if (!is_simulated())
		return real_sched_yield();
	link_look_once();
	return 0;
}

/* --- computing that a program declares --- */

INSIDE_EXPORT void weft_rank_compute(uint64_t nanoseconds);

INSIDE_EXPORT void weft_rank_compute(uint64_t nanoseconds)
{
	if (is_simulated())
		link_declare(ps_of(nanoseconds));
}
