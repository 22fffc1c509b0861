/* Blue Gene/Q's system programming interface, for the simulator's own
 * programs: the public header, and what only they may call. */
#ifndef API_SPI_SPI_H
#define API_SPI_SPI_H

#include "nic/bgq_mu/bgq_mu.h"
#include "weft/spi.h"
#include "weft/spi_collective.h"

/* The program is system software from now on, and so is what it spawns. */
void spi_become_system(void);

/* spi_destination() for whoever is no program; t is a torus. */
struct topo;
MUHWI_Destination_t spi_destination_in(const struct topo *t, uint32_t node);

#endif
