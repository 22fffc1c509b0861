/* Shared by the files of the interface: access to the node's message unit. */
#ifndef API_SPI_UNIT_H
#define API_SPI_UNIT_H

#include "api/spi/spi.h"
#include "host/program.h"
#include "parts/clocks/clocks.h"

/* The message unit of the program's node; a BUG if there is none. */
struct nic *unit(void);
const struct mu_params *unit_params(void);
const struct clock_params *unit_clocks(void);

/* With the program's own rights. */
void unit_store(uint32_t reg, uint64_t value);
/* With the kernel's rights. */
void unit_store_as_kernel(uint32_t reg, uint64_t value);
/* Sets up an empty injection FIFO, not yet enabled. */
void unit_place_fifo(
	MUSPI_InjFifo_t *f, uint32_t inj, uint64_t at, uint64_t bytes);
/* Waits for the answer. */
uint64_t unit_load(uint32_t reg);

/* The time of an access to a configuration register. */
void unit_dcr(void);

/* A poll loop with a phase of its own. */
struct poll_loop unit_poll_loop(void);
/* Consecutive loads of a register, each of which reaches the unit half-way. */
struct poll_loop unit_register_loop(void);

/* The ports of links in a class route's register: links from the top bit down
 * are A-, A+, ..., ports from 0 up are A+, A-, ...; the IO link is last. */
uint32_t unit_ports(uint32_t links);

/* Whether all have entered a barrier that the program has entered, also outside
 * of the program; and prepares the next one. */
bool unit_barrier_is_over(
	struct nic *nic, site_id node, const MUSPI_GIBarrier_t *b);
void unit_barrier_next(MUSPI_GIBarrier_t *b);

#endif
