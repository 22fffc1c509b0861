/*
 * Threads of a rank.  Those that MPI_Init() makes, and those that they make,
 * are the library's: they live in real time.  The program's own share the
 * rank's clock, which must not run away while one of them waits in a call and
 * another one computes.
 */
#define _GNU_SOURCE /* RTLD_NEXT, syscall() */
#include "inside/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

enum { MOST = 256 /* that are looked after */ };

struct thread {
	void *(*run)(void *);
	void *argument;
	bool is_foreign;
};

/* The program's, by the kernel's number; 0: none.  The first is the main one's.
 */
static _Atomic int own[MOST];

static void enlist(int id)
{
	for (int i = 0; i < MOST; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&own[i], &none, id))
			return;
	}
}

static void leave(void *id)
{
	for (int i = 0; i < MOST; i++) {
		int mine = *(int *)id;

		if (atomic_compare_exchange_strong(&own[i], &mine, 0))
			return;
	}
}

static void *run(void *argument)
{
	struct thread t = *(struct thread *)argument;
	int id = (int)syscall(SYS_gettid);
	void *answer;

	call_mine()->is_foreign = t.is_foreign;
	free(argument);
	if (t.is_foreign)
		return t.run(t.argument);
	enlist(id);
	spin_start_thread();
	pthread_cleanup_push(leave, &id);
	answer = t.run(t.argument);
	pthread_cleanup_pop(1);
	return answer;
}

typedef int create_call(
	pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

INSIDE_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
	void *(*main)(void *), void *argument)
{
	static create_call *real;
	struct thread *t = malloc(sizeof(*t));
	int error;

	if (!real)
		call_next(&real, "pthread_create");
	if (!t)
		return EAGAIN;
	*t = (struct thread){ main, argument,
		call_mine()->is_setup || call_mine()->is_foreign };
	if (!t->is_foreign && link_phase() != LINK_NONE)
		link_add_thread();
	error = real(thread, attr, run, t);
	if (error)
		free(t);
	return error;
}

typedef int c11_call(void *);

/* Of C11, whose library makes threads by itself: as others. */
static void *run_c11(void *argument)
{
	struct thread t = *(struct thread *)argument;
	c11_call *call;

	free(argument);
	memcpy(&call, &t.run, sizeof(call));
	return (void *)(intptr_t)call(t.argument);
}

INSIDE_EXPORT int thrd_create(thrd_t *thread, thrd_start_t call, void *argument)
{
	struct thread *t = malloc(sizeof(*t));

	if (!t)
		return thrd_nomem;
	*t = (struct thread){ .argument = argument };
	memcpy(&t->run, &call, sizeof(call));
	if (!pthread_create(thread, NULL, run_c11, t))
		return thrd_success;
	free(t);
	return thrd_error;
}

/* Not by fopen(): it allocates, and this process has other things there. */
static bool does_run(int id)
{
	char path[64], text[128] = "";
	const char *name_end;
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
	file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	n = read(file, text, sizeof(text) - 1);
	close(file);
	name_end = n > 0 ? strrchr(text, ')') : NULL;
	return name_end && name_end[1] && name_end[2] == 'R';
}

bool threads_run(void)
{
	int me = (int)syscall(SYS_gettid);
	int first = (int)syscall(SYS_getpid);

	if (first != me && does_run(first))
		return true;
	for (int i = 0; i < MOST; i++) {
		int id = own[i];

		if (id && id != me && does_run(id))
			return true;
	}
	return false;
}
