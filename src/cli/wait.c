/*
 * A line on the terminal for commands that print nothing before their end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "cli/cli.h"

enum { PATIENCE_S = 1 };

struct cli_wait {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_over;
};

/* Until this time, or the end. */
static bool wait_until(struct cli_wait *w, const struct timespec *until)
{
	while (!w->is_over &&
		!pthread_cond_timedwait(&w->changed, &w->lock, until))
		continue;
	return !w->is_over;
}

static void *tell(void *arg)
{
	struct cli_wait *w = arg;
	struct timespec at;
	char line[48];
	int s = PATIENCE_S;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += s;
	pthread_mutex_lock(&w->lock);
	for (; wait_until(w, &at); at.tv_sec++) {
		snprintf(line, sizeof(line), "working for %d s", s++);
		cli_progress(line);
	}
	pthread_mutex_unlock(&w->lock);
	if (s > PATIENCE_S)
		cli_progress(NULL);
	return NULL;
}

/* Signals are for the thread that works. */
static bool start(struct cli_wait *w)
{
	sigset_t all, before;
	bool has_started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	has_started = !pthread_create(&w->thread, NULL, tell, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return has_started;
}

struct cli_wait *cli_wait_begin(void)
{
	pthread_condattr_t clock;
	struct cli_wait *w;

	if (!cli_width(stderr))
		return NULL;
	w = mem_alloc(1, sizeof(*w));
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &clock);
	pthread_condattr_destroy(&clock);
	if (start(w))
		return w;
	mem_free(w);
	return NULL;
}

void cli_wait_end(struct cli_wait *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_over = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	mem_free(w);
}
