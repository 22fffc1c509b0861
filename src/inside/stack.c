/*
 * Where a rank's stack begins.  The kernel puts arguments and environment above
 * it, so that a longer name of a folder moves all that a program has on its
 * stack.  Therefore main() is called at a fixed place, some room below.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "inside/rank.h"

#include <alloca.h>
#include <stdlib.h>
#include <sys/resource.h>

#define BOUND ((uintptr_t)1 << 20) /* environments are shorter */

typedef int main_call(int, char **, char **);
typedef int start_call(main_call *, int, char **, void (*)(void),
	void (*)(void), void (*)(void), void *);

static main_call *program;

static bool has_room(void)
{
	struct rlimit most;

	return !getrlimit(RLIMIT_STACK, &most) && most.rlim_cur >= 4 * BOUND;
}

static int begin(int n, char **arguments, char **variables)
{
	char here;
	uintptr_t below = (uintptr_t)&here % BOUND;
	volatile char *room = alloca(below);

	*room = 0;
	return program(n, arguments, variables);
}

start_call __libc_start_main; /* the C library's, which calls main() */

INSIDE_EXPORT int __libc_start_main(main_call *call, int n, char **arguments,
	void (*init)(void), void (*fini)(void), void (*end)(void), void *stack)
{
	start_call *real;

	call_next(&real, "__libc_start_main");
	program = call;
	return real(getenv("WEFT_CHANNEL") && has_room() ? begin : call, n,
		arguments, init, fini, end, stack);
}
