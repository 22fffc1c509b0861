/* A node's memory, and the atomics that its L2 does. */
#include "api/spi/unit.h"

bool spi_load(uint64_t pa, void *to, size_t n)
{
	return program_read(pa, to, n);
}

bool spi_store(uint64_t pa, const void *from, size_t n)
{
	return program_write(pa, from, n);
}

static bool poll(uint64_t pa, enum word_test test, uint64_t value)
{
	uint64_t word;

	return program_poll(pa, test, value, unit_poll_loop(), &word);
}

bool spi_poll(uint64_t pa, uint64_t value)
{
	return poll(pa, WORD_IS, value);
}

bool spi_poll_not(uint64_t pa, uint64_t value)
{
	return poll(pa, WORD_IS_NOT, value);
}

bool spi_poll_at_least(uint64_t pa, uint64_t value)
{
	return poll(pa, WORD_AT_LEAST, value);
}

/* --- atomics --- */

static uint64_t load(enum atomic_op op, uint64_t pa)
{
	uint64_t old;

	if (!program_atomic(op, pa, 0, &old))
		return SPI_NONE;
	program_charge(unit_params()->poll_load);
	return old;
}

uint64_t L2_AtomicLoad(uint64_t pa)
{
	return load(ATOMIC_LOAD, pa);
}

uint64_t L2_AtomicLoadClear(uint64_t pa)
{
	return load(ATOMIC_LOAD_CLEAR, pa);
}

uint64_t L2_AtomicLoadIncrement(uint64_t pa)
{
	return load(ATOMIC_LOAD_INCREMENT, pa);
}

uint64_t L2_AtomicLoadDecrement(uint64_t pa)
{
	return load(ATOMIC_LOAD_DECREMENT, pa);
}

uint64_t L2_AtomicLoadIncrementBounded(uint64_t pa)
{
	return load(ATOMIC_LOAD_INCREMENT_BOUNDED, pa);
}

uint64_t L2_AtomicLoadDecrementBounded(uint64_t pa)
{
	return load(ATOMIC_LOAD_DECREMENT_BOUNDED, pa);
}

bool L2_AtomicStore(uint64_t pa, uint64_t value)
{
	return program_atomic(ATOMIC_STORE, pa, value, NULL);
}

bool L2_AtomicStoreAdd(uint64_t pa, uint64_t value)
{
	return program_atomic(ATOMIC_STORE_ADD, pa, value, NULL);
}

bool L2_AtomicStoreOr(uint64_t pa, uint64_t value)
{
	return program_atomic(ATOMIC_STORE_OR, pa, value, NULL);
}

bool L2_AtomicStoreXor(uint64_t pa, uint64_t value)
{
	return program_atomic(ATOMIC_STORE_XOR, pa, value, NULL);
}

bool L2_AtomicStoreMax(uint64_t pa, uint64_t value)
{
	return program_atomic(ATOMIC_STORE_MAX, pa, value, NULL);
}
