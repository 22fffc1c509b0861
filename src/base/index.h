/*
 * A hash table from keys of 64 bits to numbers that are not 0, such as items of
 * a pool (base/slots.h).  It cannot be iterated, so no result can depend on its
 * order.
 */
#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stdint.h>

struct index_entry {
	uint64_t key;
	uint32_t id; /* 0: empty */
};

struct index {
	struct index_entry *entry; /* open addressing */
	uint32_t room, n; /* room is a power of two, or 0 */
};

void index_fini(struct index *x);

/* A key that it does not have. */
void index_add(struct index *x, uint64_t key, uint32_t id);
/* 0 if it does not have the key. */
uint32_t index_find(const struct index *x, uint64_t key);
/* A key that it has: gives it another number, or takes it out. */
void index_set(struct index *x, uint64_t key, uint32_t id);
void index_remove(struct index *x, uint64_t key);

static inline uint64_t index_memory(const struct index *x)
{
	return x->room * sizeof(*x->entry);
}

#endif
