/* For tests: programs of nodes, and FIFOs that are opened in one line. */
#ifndef API_SPI_SPI_TESTING_H
#define API_SPI_SPI_TESTING_H

#include "api/spi/spi.h"
#include "host/bytes_testing.h"
#include "host/program.h"
#include "nic/nic_testing.h"

enum {
	SPI_TEST_COUNTER = 0x1000,
	SPI_TEST_FIFOS = 0x10000, /* memory for FIFOs, a page each */
	SPI_TEST_PAGE = 0x1000,
	SPI_TEST_SOURCE = 0x1000000,
	SPI_TEST_TARGET = 0x2000000,
	/* base addresses of sub-group 20 */
	SPI_TEST_BASE = 160,
	SPI_TEST_BASE_COUNTER = 161,
};

/* When all nodes have opened what they use. */
#define SPI_TEST_START (20000 * SIM_NS)

struct spi_test_program {
	uint32_t node, thread;
	void (*run)(void *arg);
	void *arg;
};

/*
 * Runs programs on a torus to their end.  The message units must have told of
 * so many errors altogether.  Returns the digest.
 */
uint64_t spi_test_run(const char *shape, uint32_t n_workers,
	const struct spi_test_program *programs, uint32_t n, uint64_t n_errors);

/* The same of one program, on a thread of node 1 of 2x2. */
void spi_test_alone(void (*run)(void *arg), uint64_t n_errors);
/* The same of one program on each of the first nodes, with an argument of its
 * own, of an array. */
uint64_t spi_test_each(const char *shape, uint32_t n, void (*run)(void *arg),
	void *args, size_t size, uint64_t n_errors);

/* A test: programs of node 0 and of another, or of node 0 alone. */
#define SPI_PAIR(name_, shape_, program_, node_, other_)                       \
	static void name_(void **state)                                        \
	{                                                                      \
		const struct spi_test_program p[] = {                          \
			{ 0, 0, program_, NULL }, { node_, 0, other_, NULL }   \
		};                                                             \
                                                                               \
		(void)state;                                                   \
		spi_test_run(shape_, 1, p, 2, 0);                              \
	}

#define SPI_ALONE(name_, shape_, program_)                                     \
	static void name_(void **state)                                        \
	{                                                                      \
		const struct spi_test_program p = { 0, 0, program_, NULL };    \
                                                                               \
		(void)state;                                                   \
		spi_test_run(shape_, 1, &p, 1, 0);                             \
	}

/* FIFO id of a sub-group, with places for so many descriptors, activated. */
MUSPI_InjFifo_t *spi_test_inj(MUSPI_InjFifoSubGroup_t *g, uint32_t subgrpid,
	uint32_t id, uint32_t places, const Kernel_InjFifoAttributes_t *attrs);
MUSPI_RecFifo_t *spi_test_rec(MUSPI_RecFifoSubGroup_t *g, uint32_t subgrpid,
	uint32_t id, uint32_t bytes);
/* The two base addresses, and the counter's first value. */
void spi_test_bases(uint64_t counter);

/* Bytes of a pattern, as host/bytes_testing.h has them in memory; whether they
 * are there. */
#define spi_test_store bytes_fill
void spi_test_fill(uint32_t j, uint8_t *bytes, uint64_t n);

/* Of bytes at SPI_TEST_SOURCE; one network FIFO keeps their order. */
MUSPI_Pt2PtMemoryFIFODescriptorInfo_t spi_test_packet(
	uint32_t to, uint64_t bytes, uint32_t rec);
MUSPI_Pt2PtDirectPutDescriptorInfo_t spi_test_put(
	uint32_t to, uint64_t bytes, uint64_t offset);
/* Of bytes at SPI_TEST_SOURCE, in words of eight, for all nodes. */
MUSPI_CollectiveDirectPutDescriptorInfo_t spi_test_reduction(
	uint8_t op, uint32_t bytes);
/* Builds and injects it. */
uint64_t spi_test_send(
	MUSPI_InjFifo_t *f, const MUSPI_Pt2PtMemoryFIFODescriptorInfo_t *i);
uint64_t spi_test_send_put(
	MUSPI_InjFifo_t *f, const MUSPI_Pt2PtDirectPutDescriptorInfo_t *i);

#endif
