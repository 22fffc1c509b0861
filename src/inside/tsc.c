/*
 * The processor's own clock, for programs that read it by its instructions:
 * with tsc=trap they fail, and what they would have read is the rank's
 * time, one tick a nanosecond.  It takes some microseconds of the host's time a
 * look.
 *
 * Looks by the MPI library are free: they only decide how often it polls.
 */
#define _GNU_SOURCE /* registers of a signal's context */
#include "inside/rank.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

#if defined(__x86_64__)

static struct sigaction before;

/* Bytes of the instruction that reads the clock; 0: it is another one. */
static int length_of(const unsigned char *code)
{
	static const unsigned char rdtsc[] = { 0x0f, 0x31 };
	static const unsigned char rdtscp[] = { 0x0f, 0x01, 0xf9 };

	if (memcmp(code, rdtsc, sizeof(rdtsc)) == 0)
		return sizeof(rdtsc);
	return memcmp(code, rdtscp, sizeof(rdtscp)) == 0 ? sizeof(rdtscp) : 0;
}

static uint64_t ticks(void)
{
	if (call_mine()->how != CALL_NONE)
		return 0;
	return (uint64_t)(clock_read() / PS_PER_NS);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL &&
		   before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	} else {
		/* It comes again, and is not caught. */
		sigaction(SIGSEGV, &before, NULL);
	}
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	/* The kernel itself refused it: there is no address. */
	int bytes = info->si_code == SI_KERNEL ? length_of((void *)reg[REG_RIP])
					       : 0;
	uint64_t now;

	if (bytes == 0) {
		pass_on(number, info, context);
		return;
	}
	now = ticks();
	reg[REG_RAX] = (greg_t)(now & UINT32_MAX);
	reg[REG_RDX] = (greg_t)(now >> 32);
	if (bytes > 2)
		reg[REG_RCX] = 0;
	reg[REG_RIP] += bytes;
}

void tsc_start(bool is_trapped)
{
	struct sigaction a = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };

	if (!is_trapped)
		return;
	sigemptyset(&a.sa_mask);
	sigaction(SIGSEGV, &a, &before);
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

void tsc_end(void)
{
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
}

#else

void tsc_start(bool is_trapped)
{
	(void)is_trapped;
}

void tsc_end(void)
{
}

#endif
