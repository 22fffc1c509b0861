/* For loops that wait for another thread's or process's word. */
#ifndef BASE_RELAX_H
#define BASE_RELAX_H

static inline void relax(void)
{
#if defined(__aarch64__)
	__asm__ volatile("yield");
#elif defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

#endif
