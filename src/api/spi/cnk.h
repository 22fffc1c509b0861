/*
 * Function-shipped IO: the protocol of a compute node's kernel and the daemon
 * of an IO node.
 *
 * A request is one packet for a reception FIFO of the daemon.  The daemon
 * fetches written bytes by remote gets through an injection FIFO of the client,
 * and puts the bytes of reads and the answer.  All packets are system packets.
 * Puts of different FIFOs may overtake each other, so they are counted: the
 * answer says how many bytes the client has to wait for.
 */
#ifndef API_SPI_CNK_H
#define API_SPI_CNK_H

#include "api/spi/unit.h"
#include "topo/torus.h"
#include "weft/cnk.h"

enum cnk_op { CNK_OPEN, CNK_CLOSE, CNK_WRITE, CNK_READ, CNK_SYNC };

struct cnk_request {
	uint32_t op, node, process;
	int32_t file;
	uint64_t ticket; /* of the client's requests */
	uint64_t at, bytes, offset; /* at: of all the node's memory */
	uint32_t how;
	char name[CNK_NAME];
};

struct cnk_answer {
	int64_t result;
	uint64_t ticket;
};

/* The kernel's memory of a client, closed to users, with a part for each
 * process. */
#define CNK_KERNEL_AT (UINT64_C(1) << 35)

enum {
	CNK_PART = 0x4000,
	CNK_AT_FIFO = 0, /* of requests */
	CNK_AT_GETS = 0x1000, /* of remote gets */
	CNK_AT_REQUEST = 0x2000,
	CNK_AT_ANSWER = 0x2400,
	CNK_AT_COUNTER = 0x2800, /* of the bytes that were read */
	CNK_AT_NOBODY = 0x2c00, /* a counter that nobody reads */
	/* injection FIFOs and base addresses, two of each for a process */
	CNK_SUBGROUP = MU_SUBGROUPS - 1,
	CNK_FIRST = CNK_SUBGROUP * MU_PER_SUBGROUP,
	CNK_REQUESTS = 0,
	CNK_GETS = 1,
	CNK_MEMORY = 0, /* all of the node's */
	CNK_COUNTER = 1, /* atomic, at the process's part */
};

static inline uint64_t cnk_part(uint32_t process, uint64_t at)
{
	return CNK_KERNEL_AT + process * (uint64_t)CNK_PART + at;
}

/* Threads of a daemon, each with a reception FIFO; a client uses one. */
enum { CNK_THREADS = 16, CNK_REC = MU_SYSTEM_SUBGROUP * MU_REC_PER_SUBGROUP };

static inline uint32_t cnk_thread_of(
	const struct torus *t, uint32_t node, uint32_t process)
{
	return (node % (uint32_t)t->io_every + process) % CNK_THREADS;
}

/* A thread of an IO node's daemon, which never ends; arg is a struct
 * files_seat. */
void cnk_serve(void *arg);

/* Opens an injection FIFO of a system sub-group. */
int32_t cnk_open_fifo(MUSPI_InjFifoSubGroup_t *g, uint32_t subgroup,
	uint32_t id, uint64_t at, uint64_t bytes, bool is_for_gets);
/* Sets a base address of such a sub-group. */
int32_t cnk_open_base(uint32_t subgroup, uint32_t id, uint64_t address);
/* Common fields of descriptors for system packets. */
MUSPI_BaseDescriptorInfoFields_t cnk_base(
	uint32_t node, uint64_t from, uint64_t bytes, uint64_t map);
MUSPI_Pt2PtDescriptorInfoFields_t cnk_way(uint8_t bits);

#endif
