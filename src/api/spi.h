/*
 * Blue Gene/Q's system programming interface, as much of it as a direct put
 * needs.  Names are those of the machine's own interface (BGQ-G42), so that
 * its programs look familiar; the functions are called from a program
 * (host/program.h) and work on the node that it runs on.
 *
 * A virtual address is a physical address of the node's memory.  A program
 * has no pointers into that memory: it reads and writes it by the functions
 * at the end, where a real one would load and store.
 *
 * Time: a call that says nothing of it takes none.  A store to a register
 * leaves the core at once and takes effect later (nic.mmio-store); a load
 * waits (nic.mmio-load).  A kernel call takes as long as the registers that
 * it reads and writes; traps are not charged.
 *
 * Where a call returns int32_t it is 0, or the error number of what was
 * wrong, and then nothing has been changed.
 */
#ifndef API_SPI_H
#define API_SPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nic/bgq_mu/bgq_mu.h"
#include "nic/bgq_mu/descriptor.h"

/* --- memory regions --- */

typedef struct {
	uint64_t BaseVa, BasePa, Bytes;
} Kernel_MemoryRegion_t;

/* ENOMEM where the node has no such memory. */
int32_t Kernel_CreateMemoryRegion(
	Kernel_MemoryRegion_t *region, uint64_t va, uint64_t bytes);

/* --- injection FIFOs --- */

/* What software knows of an injection FIFO: a shadow of the registers, so
 * that injecting need not read them. */
typedef struct {
	uint32_t id; /* of all the node's */
	uint64_t start, size, tail;
	uint64_t freeSpace; /* descriptors that surely fit */
	uint64_t numInjected;
} MUSPI_InjFifo_t;

/* The caller's; a program that shares it with other threads locks it. */
typedef struct {
	uint32_t subgrpid;
	MUSPI_InjFifo_t fifo[MU_PER_SUBGROUP];
} MUSPI_InjFifoSubGroup_t;

/*
 * Takes n FIFOs of a sub-group (0 to 67), by their numbers in it (0 to 7).
 * EINVAL where there is no such FIFO, EBUSY where somebody has one.
 */
int32_t Kernel_AllocateInjFifos(uint32_t subgrpid,
	MUSPI_InjFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids);

/*
 * Gives a FIFO its memory: size_1 + 1 bytes at an offset of a region.  Both
 * the place and the size are multiples of 64, and there is room for two
 * descriptors, of which one stays unused.  EINVAL where that is not so.
 */
int32_t Kernel_InjFifoInit(MUSPI_InjFifoSubGroup_t *subgrp, uint32_t id,
	const Kernel_MemoryRegion_t *region, uint64_t offset, uint64_t size_1);

enum { KERNEL_INJ_FIFO_DEACTIVATE = 0, KERNEL_INJ_FIFO_ACTIVATE = 1 };

/* Lets the unit fetch from FIFOs, or not. */
int32_t Kernel_InjFifoActivate(const MUSPI_InjFifoSubGroup_t *subgrp,
	uint32_t n, const uint32_t *ids, uint32_t how);

MUSPI_InjFifo_t *MUSPI_IdToInjFifo(
	uint32_t id, MUSPI_InjFifoSubGroup_t *subgrp);

/* --- the base address table --- */

typedef struct {
	uint32_t subgrpid;
} MUSPI_BaseAddressTableSubGroup_t;

/* Takes n entries of a sub-group; errors as of Kernel_AllocateInjFifos(). */
int32_t Kernel_AllocateBaseAddressTable(uint32_t subgrpid,
	MUSPI_BaseAddressTableSubGroup_t *subgrp, uint32_t n,
	const uint32_t *ids);

/* EINVAL where there is no such entry. */
int32_t MUSPI_SetBaseAddress(const MUSPI_BaseAddressTableSubGroup_t *subgrp,
	uint32_t id, uint64_t address);

/* The address of an L2 atomic on the word at pa, a multiple of eight. */
uint64_t MUSPI_GetAtomicAddress(uint64_t pa, enum mu_atomic opcode);

/* --- descriptors --- */

typedef struct mu_descriptor MUHWI_Descriptor_t;

typedef struct {
	uint32_t Destination; /* as in a header: 6 bits a coordinate */
} MUHWI_Destination_t;

enum {
	/* of Misc1 */
	MUHWI_PACKET_USE_DETERMINISTIC_ROUTING = 0x00,
	MUHWI_PACKET_USE_DYNAMIC_ROUTING = 0x04,
	/* of Misc2 */
	MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC = MU_DYNAMIC << 5,
	MUHWI_PACKET_VIRTUAL_CHANNEL_DETERMINISTIC = MU_DETERMINISTIC << 5,
	MUHWI_PACKET_VIRTUAL_CHANNEL_HIGH_PRIORITY = MU_HIGH << 5,
	MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM = MU_SYSTEM << 5,
};

typedef struct {
	struct {
		uint32_t Pre_Fetch_Only;
		uint64_t Payload_Address;
		uint64_t Message_Length;
		uint64_t Torus_FIFO_Map; /* bits of enum mu_map */
		MUHWI_Destination_t Dest;
	} Base;
	struct {
		uint8_t Hints_ABCD; /* 0: the network finds the way */
		uint8_t Misc1, Misc2; /* bytes 2 and 3 of the header */
		uint8_t Skip;
	} Pt2Pt;
	struct {
		uint32_t Rec_Payload_Base_Address_Id; /* of all the node's */
		uint64_t Rec_Payload_Offset;
		uint32_t Rec_Counter_Base_Address_Id;
		uint64_t Rec_Counter_Offset;
		uint8_t Pacing;
	} DirectPut;
} MUSPI_Pt2PtDirectPutDescriptorInfo_t;

void MUSPI_SetUpDestination(MUHWI_Destination_t *dest, uint32_t a, uint32_t b,
	uint32_t c, uint32_t d, uint32_t e);

/*
 * Builds a descriptor; both are the caller's.  EINVAL where a number does
 * not fit its field.  The unit has the last word on what it makes of it.
 */
int32_t MUSPI_CreatePt2PtDirectPutDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtDirectPutDescriptorInfo_t *info);

/*
 * Copies a descriptor to the FIFO's tail and advances it.  Returns the
 * number of the descriptor, counted from 0, or (uint64_t)-1 where the FIFO
 * is full, which it learns from a register.  Takes software.descriptor.
 */
uint64_t MUSPI_InjFifoInject(
	MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc);

/* Whether all packets of a descriptor are in the network: loads a register. */
bool MUSPI_CheckDescComplete(const MUSPI_InjFifo_t *fifo, uint64_t descriptor);

/* --- what a real program would not call a function for --- */

/* Where node number n of the machine is, for a descriptor. */
MUHWI_Destination_t spi_destination(uint32_t node);

/* Bytes of the node's memory; false where it has no such address. */
bool spi_load(uint64_t pa, void *to, size_t n);
bool spi_store(uint64_t pa, const void *from, size_t n);

/*
 * A loop that loads the word at pa until it is a value: it looks every
 * software.poll-period, and goes on software.poll-load after the look that
 * saw it.  False where there is no word at pa.
 */
bool spi_poll(uint64_t pa, uint64_t value);

#endif
