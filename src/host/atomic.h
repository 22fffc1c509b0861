/*
 * The atomic operations that an L2 does on words of its memory, in one step
 * (BGQ-G34).
 */
#ifndef HOST_ATOMIC_H
#define HOST_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

enum atomic_op {
	ATOMIC_LOAD,
	ATOMIC_LOAD_CLEAR,
	ATOMIC_LOAD_INCREMENT,
	ATOMIC_LOAD_DECREMENT,
	/*
	 * Not past a bound, which is the word behind (for an increment) or
	 * in front (for a decrement): at the bound nothing changes and the
	 * answer is ATOMIC_REFUSED.
	 */
	ATOMIC_LOAD_INCREMENT_BOUNDED,
	ATOMIC_LOAD_DECREMENT_BOUNDED,
	ATOMIC_STORE,
	ATOMIC_STORE_ADD,
	ATOMIC_STORE_ADD_COHERENCE_ON_ZERO, /* here the same */
	ATOMIC_STORE_OR,
	ATOMIC_STORE_XOR,
	ATOMIC_STORE_MAX, /* unsigned */
	/* not Blue Gene/Q's: and; store where the word is the bound; exclusive
	 * or with what is left of the word by an and with the bound */
	ATOMIC_STORE_AND,
	ATOMIC_STORE_IF,
	ATOMIC_STORE_AND_XOR,
	N_ATOMICS,
};

#define ATOMIC_REFUSED (UINT64_C(1) << 63)

/*
 * What an operation makes of a word; few of them use bound.
 * *old is what it answers: the word before, or ATOMIC_REFUSED.
 */
uint64_t atomic_apply(enum atomic_op op, uint64_t word, uint64_t operand,
	uint64_t bound, uint64_t *old);

/* Where a bounded operation's bound is, relative to its word; else 0. */
static inline int64_t atomic_bound_at(enum atomic_op op)
{
	return op == ATOMIC_LOAD_INCREMENT_BOUNDED   ? 8
	       : op == ATOMIC_LOAD_DECREMENT_BOUNDED ? -8
						     : 0;
}

#endif
