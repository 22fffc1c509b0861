#include "host/atomic.h"

uint64_t atomic_apply(enum atomic_op op, uint64_t word, uint64_t operand,
	uint64_t bound, uint64_t *old)
{
	*old = word;
	switch (op) {
	case ATOMIC_LOAD:
		return word;
	case ATOMIC_LOAD_CLEAR:
		return 0;
	case ATOMIC_LOAD_INCREMENT_BOUNDED:
	case ATOMIC_LOAD_DECREMENT_BOUNDED:
		if (word == bound) {
			*old = ATOMIC_REFUSED;
			return word;
		}
		return op == ATOMIC_LOAD_INCREMENT_BOUNDED ? word + 1
							   : word - 1;
	case ATOMIC_LOAD_INCREMENT:
		return word + 1;
	case ATOMIC_LOAD_DECREMENT:
		return word - 1;
	case ATOMIC_STORE:
		return operand;
	case ATOMIC_STORE_ADD:
	case ATOMIC_STORE_ADD_COHERENCE_ON_ZERO:
		return word + operand;
	case ATOMIC_STORE_OR:
		return word | operand;
	case ATOMIC_STORE_XOR:
		return word ^ operand;
	case ATOMIC_STORE_MAX:
		return word > operand ? word : operand;
	case ATOMIC_STORE_AND:
		return word & operand;
	case ATOMIC_STORE_IF:
		return word == bound ? operand : word;
	case ATOMIC_STORE_AND_XOR:
		return (word & bound) ^ operand;
	case N_ATOMICS:
		break;
	}
	return word;
}
