/* The message unit, as workloads use it. */
#ifndef LOAD_SPI_FIFOS_H
#define LOAD_SPI_FIFOS_H

#include "api/spi/spi.h"
#include "load/programs.h"

/* Injection FIFOs, in sub-groups that begin with a program's own. */
enum { FIFOS_MOST = 128 };

struct fifos {
	MUSPI_InjFifoSubGroup_t group[FIFOS_MOST / MU_PER_SUBGROUP];
	uint32_t n;
};

/*
 * Takes n FIFOs from sub-group first on, of size bytes each, side by side
 * in memory; false, and complained of, where that fails.
 */
bool fifos_open(struct programs *p, struct fifos *f, uint32_t first, uint32_t n,
	uint64_t at, uint64_t size);
/* Up to a sub-group's, with attributes, one each, or NULL. */
bool fifos_open_group(struct programs *p, MUSPI_InjFifoSubGroup_t *g,
	uint32_t subgroup, uint32_t n, const Kernel_InjFifoAttributes_t *attrs,
	uint64_t at, uint64_t size);

static inline MUSPI_InjFifo_t *fifos_at(struct fifos *f, uint32_t i)
{
	return MUSPI_IdToInjFifo(
		i % MU_PER_SUBGROUP, &f->group[i / MU_PER_SUBGROUP]);
}

/* Injects, as soon as the FIFO has room. */
void fifos_inject(MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc);

#endif
