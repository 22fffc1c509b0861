/* Sleeping on a word of memory that processes share. */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until the word is woken, at once if it has another value, or until so much
 * time is over; NULL: for ever.  -1 with errno otherwise. */
static inline int futex_wait(
	_Atomic uint32_t *word, uint32_t value, const struct timespec *most)
{
	return (int)syscall(SYS_futex, word, FUTEX_WAIT, value, most, NULL, 0);
}

/* One process or thread that sleeps on it. */
static inline void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static inline void futex_wake_all(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
