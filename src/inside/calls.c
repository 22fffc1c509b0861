/*
 * All names of MPI, in C and in Fortran, so that it is known which call a rank
 * is in and whether it waits there.
 *
 * All of them have one form: sixteen words are passed on, whatever they are.
 * MPI has no more arguments, and none of them is a floating-point number.  So
 * no prototype is needed, and what a call does with its words is its own
 * business.  Words beyond a call's arguments are whatever stands on the stack.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "inside/rank.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define WORDS                                                                  \
	long a, long b, long c, long d, long e, long f, long g, long h,        \
		long i, long j, long k, long l, long m, long n, long o, long p
#define PASSED_ON a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p

typedef long any_call(WORDS);

enum { STACK_BYTES = 8 << 10 }; /* more than most calls use */

/* The same call three times: C's, Fortran's, and that of Fortran 2008. */
enum call_form { FORM_C, FORM_F, FORM_F08, N_FORMS };

enum call_number {
	CALL_0,
#define NAME(c_name, f_name, how, rank, tag) CALL_##c_name,
#include "inside/names.h"
#undef NAME
	N_CALLS
};

static const struct call_name {
	const char *name[N_FORMS];
	enum call_how how;
	int rank, tag; /* which arguments they are */
} names[N_CALLS] = {
#define NAME(c_name, f_name, how, rank, tag)                                   \
	[CALL_##c_name] = { { "MPI_" #c_name, "mpi_" #f_name "_",              \
				    "mpi_" #f_name "_f08_" },                  \
		CALL_##how, rank, tag },
#include "inside/names.h"
#undef NAME
};

static _Thread_local struct call mine = { .what.rank = CHANNEL_NONE };
static any_call *next_of[N_CALLS][N_FORMS];
static _Atomic uint64_t n_entered;

struct call *call_mine(void)
{
	return &mine;
}

const char *call_name(uint32_t number)
{
	return number < N_CALLS ? names[number].name[FORM_C] : NULL;
}

/* --- what comes behind a name --- */

/* Libraries that a program has loaded for itself, as Python does, are not among
 * those that come next. */
void *call_find_in(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, name) : NULL;

	if (handle)
		dlclose(handle);
	return found;
}

/* C does not turn pointers to objects into pointers to functions. */
void call_next(void *function, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

static void *find_next_or_in(const char *library, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	return found ? found : call_find_in(library, name);
}

void call_library(void *function, const char *library, const char *name)
{
	void *found = find_next_or_in(library, name);

	memcpy(function, &found, sizeof(found));
}

void *call_find_in_mpi(const char *name)
{
	void *found = find_next_or_in("libmpi.so.40", name);

	return found ? found : call_find_in("libmpi_mpifh.so.40", name);
}

void call_next_of_mpi(void *function, const char *name)
{
	void *found = call_find_in_mpi(name);

	if (!found) {
		fprintf(stderr, "weft: no MPI library has %s\n", name);
		abort();
	}
	memcpy(function, &found, sizeof(found));
}

static any_call *find(const char *name)
{
	any_call *answer;

	call_next_of_mpi(&answer, name);
	return answer;
}

static any_call *next(unsigned number, enum call_form form)
{
	any_call **at = &next_of[number][form];

	if (!*at)
		*at = find(names[number].name[form]);
	return *at;
}

/* --- a call begins, and ends --- */

/* Fortran passes all by reference. */
static int argument(const long *words, int i, enum call_form form)
{
	if (i < 0)
		return -1;
	return form == FORM_C ? (int)words[i] : *(const int *)words[i];
}

static void enter(unsigned number, enum call_form form, const long *words)
{
	const struct call_name *n = &names[number];

	mine.how = n->how;
	mine.number = ++n_entered;
	mine.looks = 0;
	mine.words = words;
	mine.is_fortran = form != FORM_C;
	mine.what.name = number;
	mine.what.rank = (uint32_t)argument(words, n->rank, form);
	mine.what.tag = (uint64_t)argument(words, n->tag, form);
	mine.what.bytes = 0;
	mine.is_told = false;
	link_deeds(true);
	link_enter(&mine.what);
	mine.is_setup = number == CALL_Init || number == CALL_Init_thread ||
			number == CALL_Finalize;
	link_tell_call(&mine.what);
}

static void leave(void)
{
	compute_resume();
	if (mine.is_told && !mine.is_setup)
		link_leave(&mine.what);
	mine.how = CALL_NONE;
	mine.is_setup = false;
	mine.what = (struct channel_call){ .rank = CHANNEL_NONE };
	link_tell_call(&mine.what);
}

/* All must come here, so that none waits for one that has ended. */
static void begin(void)
{
	weft_link_lock();
	link_begin(CHANNEL_IN_INIT);
	weft_link_unlock();
}

typedef int version_call(char *text, int *length);

/* "Open MPI v4.1.4, package: ..." is told without its second half. */
static void tell_library(void)
{
	enum { MPI_MAX_VERSION = 8192 };
	char text[MPI_MAX_VERSION];
	any_call *found = find("MPI_Get_library_version");
	version_call *version;
	int n = 0;

	memcpy(&version, &found, sizeof(found));
	if (version(text, &n) == 0 && n > 0 && n < MPI_MAX_VERSION) {
		text[n] = '\0';
		text[strcspn(text, ",\n")] = '\0';
		link_tell_library(text);
	}
}

/* An MPI library that has not opened the provider talks by other ways: what it
 * does would take no time. */
static void start(void)
{
	weft_link_lock();
	if (!link_has_provider()) {
		link_begin(CHANNEL_ROUND);
		_exit(1);
	}
	tell_library();
	link_start();
	weft_link_unlock();
}

static void finish(void)
{
	weft_link_lock();
	compute_finish();
	link_exit();
	weft_link_unlock();
}

/* A forked child of a rank hangs in most calls.  During the call, its thread
 * has a name that the simulator recognises. */
static long call_forked(any_call *to, WORDS)
{
	char name[16];
	long answer;

	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, CHANNEL_FORKED);
	answer = to(PASSED_ON);
	prctl(PR_SET_NAME, name);
	return answer;
}

/* Calls within a call are its own business. */
static long call(unsigned number, enum call_form form, WORDS)
{
	any_call *to = next(number, form);
	const long words[] = { PASSED_ON };
	long answer;

	if (link_is_forked())
		return call_forked(to, PASSED_ON);
	if (mine.how != CALL_NONE || !link_is_timed())
		return to(PASSED_ON);
	compute_call(names[number].how == CALL_TESTS ? CHANNEL_LOOKS : number);
	enter(number, form, words);
	if (number == CALL_Init || number == CALL_Init_thread)
		begin();
	if (number == CALL_Finalize)
		finish();
	answer = to(PASSED_ON);
	if (number == CALL_Init || number == CALL_Init_thread)
		start();
	leave();
	return answer;
}

/* --- the names --- */

/* What calls leave on the stack below their caller depends on the host, and
 * words that are passed on without being arguments on the caller's other
 * variables.  Programs that use variables before they set them find zeros, the
 * same on every rank each time: here, and where the words were passed on. */
static __attribute__((noinline)) void wipe_stack(
	unsigned number, enum call_form form, WORDS)
{
	char below[STACK_BYTES];

	(void)number, (void)form;
	memset(below, 0, sizeof(below));
	/* keeps all of it */
	__asm__ volatile(""
			 :
			 : "r"(below), "r"(a + b + c + d + e + f), "m"(g),
			 "m"(h), "m"(i), "m"(j), "m"(k), "m"(l), "m"(m), "m"(n),
			 "m"(o), "m"(p)
			 : "memory");
}

#define FORWARD(name, number, form)                                            \
	INSIDE_EXPORT long name(WORDS);                                        \
	long name(WORDS)                                                       \
	{                                                                      \
		long answer = call(number, form, PASSED_ON);                   \
                                                                               \
		wipe_stack(                                                    \
			0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0); \
		return answer;                                                 \
	}
/* What other Fortran compilers make of the same name. */
#define SAME(name, as) INSIDE_EXPORT __attribute__((alias(as))) any_call name;

#define NAME(c_name, f_name, how, rank, tag)                                   \
	FORWARD(MPI_##c_name, CALL_##c_name, FORM_C)                           \
	FORWARD(mpi_##f_name##_, CALL_##c_name, FORM_F)                        \
	FORWARD(mpi_##f_name##_f08_, CALL_##c_name, FORM_F08)                  \
	SAME(mpi_##f_name, "mpi_" #f_name "_")                                 \
	SAME(mpi_##f_name##__, "mpi_" #f_name "_")
#include "inside/names.h"
#undef NAME
