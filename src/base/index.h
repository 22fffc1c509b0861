/*
 * Finds things by a key of 64 bits: to each key one number, which is not 0, an
 * item of a pool (base/slots.h) say.  It has no order, so that nothing but
 * what a key stands for can depend on it.
 */
#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stdint.h>

struct index_entry {
	uint64_t key;
	uint32_t id; /* 0: nothing is here */
};

struct index {
	struct index_entry *entry; /* open addressing */
	uint32_t room, n; /* room is a power of two, or 0 */
};

void index_fini(struct index *x);

/* A key that it does not have. */
void index_add(struct index *x, uint64_t key, uint32_t id);
/* 0: it does not have the key. */
uint32_t index_find(const struct index *x, uint64_t key);
/* A key that it has: gives it another number, or takes it out. */
void index_set(struct index *x, uint64_t key, uint32_t id);
void index_remove(struct index *x, uint64_t key);

static inline uint64_t index_memory(const struct index *x)
{
	return x->room * sizeof(*x->entry);
}

#endif
