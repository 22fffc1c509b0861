/* What the files of the interface share: the way to the node's unit. */
#ifndef API_SPI_UNIT_H
#define API_SPI_UNIT_H

#include "api/spi/spi.h"
#include "host/program.h"
#include "parts/clocks/clocks.h"

/* The message unit of the program's machine; without one, a BUG. */
struct nic *unit(void);
const struct mu_params *unit_params(void);
const struct clock_params *unit_clocks(void);

/* As the program itself, whatever that may do. */
void unit_store(uint32_t reg, uint64_t value);
/* As the kernel for the program, which could not itself. */
void unit_store_as_kernel(uint32_t reg, uint64_t value);
/* An injection FIFO, not enabled yet, that nobody has injected into. */
void unit_place_fifo(
	MUSPI_InjFifo_t *f, uint32_t inj, uint64_t at, uint64_t bytes);
/* Waits for the answer. */
uint64_t unit_load(uint32_t reg);

/* An access to a configuration register, which takes its time. */
void unit_dcr(void);

/* A poll loop in no step with anything. */
struct poll_loop unit_poll_loop(void);
/* Loads of a register one after the other, each of which is at the unit
 * half-way. */
struct poll_loop unit_register_loop(void);

/* The ports of links in a class route's register: links from the top bit down
 * are A-, A+, ..., ports from 0 up are A+, A-, ...; the IO link is last. */
uint32_t unit_ports(uint32_t links);

/* A barrier that was entered: whether all have, also from outside the program;
 * and the next one. */
bool unit_barrier_is_over(
	struct nic *nic, site_id node, const MUSPI_GIBarrier_t *b);
void unit_barrier_next(MUSPI_GIBarrier_t *b);

#endif
