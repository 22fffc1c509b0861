/* The switch of fiber_switch.S by swapcontext(), for other architectures; part
 * of fiber.c. */
#ifndef SIM_FIBER_UCONTEXT_H
#define SIM_FIBER_UCONTEXT_H

#include <ucontext.h>

/* The contexts lie on the stacks that they describe. */
INLINE void fiber_switch(void **save, void *to)
{
	ucontext_t here;

	*save = &here;
	BUG_IF(swapcontext(&here, to));
}

struct entry {
	void (*run)(void *arg);
	void *arg;
};

/* makecontext() hands on integers only, and of a stack uses the upper end. */
static void on_entry(unsigned high, unsigned low)
{
	uint64_t address = (uint64_t)high << 32 | low;
	struct entry e = *(struct entry *)(uintptr_t)address;

	e.run(e.arg);
}

static void make_first(ucontext_t *first, char *top, struct entry *e)
{
	uint64_t address = (uintptr_t)e;

	BUG_IF(getcontext(first));
	first->uc_stack.ss_sp = top - FIBER_MIN_STACK / 2;
	first->uc_stack.ss_size = FIBER_MIN_STACK / 2;
	first->uc_link = NULL;
	makecontext(first, (void (*)(void))on_entry, 2,
		(unsigned)(address >> 32), (unsigned)address);
}

INLINE void fiber_enter(
	void **save, void *top, void (*run)(void *arg), void *arg)
{
	struct entry e = { .run = run, .arg = arg };
	ucontext_t first;

	make_first(&first, top, &e);
	fiber_switch(save, &first);
}

#endif
