/* Blue Gene/Q's system programming interface, for the simulator's own
 * programs: the public header, and what only they may call. */
#ifndef API_SPI_SPI_H
#define API_SPI_SPI_H

#include "nic/bgq_mu/bgq_mu.h"
#include "weft/spi.h"
#include "weft/spi_collective.h"

/* Opens n injection FIFOs of a sub-group, from first on, in memory of size
 * bytes each; attrs has an entry for each, or is NULL.  An error number, or 0.
 */
int32_t spi_open_inj(MUSPI_InjFifoSubGroup_t *g, uint32_t subgroup,
	uint32_t first, uint32_t n, const Kernel_InjFifoAttributes_t *attrs,
	uint64_t at, uint64_t size);
/* The same for one reception FIFO. */
int32_t spi_open_rec(MUSPI_RecFifoSubGroup_t *g, uint32_t subgroup, uint32_t id,
	uint64_t at, uint64_t size);
/* Injects a descriptor as soon as there is room; returns its number. */
uint64_t spi_inject(MUSPI_InjFifo_t *f, const MUHWI_Descriptor_t *d);

/* spi_destination() for whoever is no program; t is a torus. */
struct topo;
MUHWI_Destination_t spi_destination_in(const struct topo *t, uint32_t node);

#endif
