/* Shared by the files of the message unit's driver. */
#ifndef LOAD_BENCH_DRIVERS_MU_H
#define LOAD_BENCH_DRIVERS_MU_H

#include "api/spi/spi.h"
#include "load/bench/bench.h"

enum {
	FIFOS_MOST = 128, /* injection FIFOs of a program */
	MOST_BATCH = 8, /* descriptors that are injected at once */
	SMALL_FIFO = 4 << 10, /* bytes */
	LINE = 128, /* a counter has one for itself */
};

/* Entries of the base address table; those of other atomics follow. */
enum { BASE_PAYLOAD, BASE_COUNTER, N_BASES };

/* Addresses, the same on every node. */
#define COUNTERS_AT UINT64_C(0x1000)
#define WORDS_AT    UINT64_C(0x8000) /* operands of atomics, by lane */
#define FIFOS_AT    UINT64_C(0x10000)
#define GET_FIFO_AT UINT64_C(0x100000)
#define HEADERS_AT  UINT64_C(0x180000) /* a reception FIFO, of a tree */
#define LANES_AT    UINT64_C(0x200000) /* FIFOs of further lanes */
#define STAGES_AT   UINT64_C(0x400000)
#define RECS_AT	    UINT64_C(0x800000) /* reception FIFOs, by lane */

/* Injection FIFOs, in sub-groups that begin with a program's own. */
struct fifos {
	MUSPI_InjFifoSubGroup_t group[FIFOS_MOST / MU_PER_SUBGROUP];
	uint32_t n;
};

struct own {
	struct fifos fifos;
	uint32_t next; /* FIFO to try */
	uint32_t n, most; /* descriptors to be injected together */
	MUHWI_Descriptor_t batch[MOST_BATCH];
	MUHWI_Descriptor_t put, get; /* with all common fields */
	MUHWI_Descriptor_t asked; /* in the last stage */
	uint64_t n_stages;
	bool has_puts, has_gets; /* that are tracked */
	MUSPI_RecFifoSubGroup_t rec; /* for a tree's headers, or blocks */
	/* of a tree */
	MUSPI_InjFifo_t *tree;
	MUSPI_InjFifoSubGroup_t system;
	bool is_header;
	/* of blocks */
	struct mu_partial *partial; /* [sender] */
	uint64_t n_blocks;
};

static inline struct own *own(const struct bench_end *x)
{
	return x->own;
}

static inline uint64_t counter_at(uint32_t counter)
{
	return COUNTERS_AT + (uint64_t)counter * LINE;
}

static inline MUSPI_InjFifo_t *fifos_at(struct fifos *f, uint32_t i)
{
	return MUSPI_IdToInjFifo(
		i % MU_PER_SUBGROUP, &f->group[i / MU_PER_SUBGROUP]);
}

/* A reception FIFO of the lane's own. */
bool mu_open_rec(struct bench_end *x, uint64_t at, uint64_t size);
void mu_set_transfer(MUHWI_Descriptor_t *d, uint64_t to, uint64_t from,
	uint64_t bytes, uint32_t counter);

/* mu_coll.c */
extern const struct bench_tree mu_tree;
extern const struct bench_barrier mu_barrier;

#endif
