/*
 * Looks of a rank that computes without a call, for programs that wait for
 * memory to change: a signal after each 10 ms of a thread's CPU time.  The rank
 * may be anywhere then, within malloc() say, so what is completed is kept until
 * the next call (link_spin()).
 */
#define _GNU_SOURCE /* sigev_notify_thread_id */
#include "inside/rank.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INTERVAL_NS 10000000

static bool is_on;

static void on_signal(int number)
{
	(void)number;
	if (link_phase() == LINK_RUNS && call_mine()->how == CALL_NONE)
		link_spin();
}

/* The C library's own would be a timer of the rank's time. */
static void start_timer(void)
{
	const struct itimerspec each = { { 0, INTERVAL_NS },
		{ 0, INTERVAL_NS } };
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGRTMAX - 1 };
	int id;

	how._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (!syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &how, &id))
		syscall(SYS_timer_settime, id, 0, &each, NULL);
}

void spin_start(bool is_interrupted)
{
	struct sigaction a = { .sa_handler = on_signal,
		.sa_flags = SA_RESTART | SA_ONSTACK };

	if (!is_interrupted)
		return;
	is_on = true;
	sigemptyset(&a.sa_mask);
	sigaction(SIGRTMAX - 1, &a, NULL);
	start_timer();
}

void spin_start_thread(void)
{
	if (is_on)
		start_timer();
}
