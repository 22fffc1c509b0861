/*
 * Blue Gene/Q's system programming interface.  The names are those of the
 * machine's own interface (BGQ-G42), so that its programs look familiar.  The
 * functions are called from a program (weft/program.h) and work on the node
 * that it runs on.  The man page is weft-spi(7).
 *
 * Addresses.  A virtual address is a physical address of the node's memory.  A
 * program has no pointers into that memory: instead of loads and stores it uses
 * the functions at the end of this file.
 *
 * Time.  A call takes no time unless its description says so.  A store to a
 * register leaves the core at once and takes effect later (nic.mmio-store); a
 * load waits (nic.mmio-load).  Accesses of a node take effect in order.  A
 * kernel call takes the time of the registers that it reads and writes; traps
 * are not charged.
 *
 * Errors.  A Kernel_ call is executed by the kernel, which checks its
 * arguments.  A call that returns int32_t returns 0, or an error number, and
 * then nothing has changed: EINVAL for invalid arguments, EPERM for what only
 * the system may do, EBUSY for resources in use.  The unit checks everything
 * that a program does without the kernel: it refuses, counts and continues, see
 * Kernel_GetErrors().
 *
 * Ownership.  Structs that a call fills in belong to the caller, and no call
 * keeps a pointer.  Threads that share the struct of a FIFO must lock it.
 *
 * Calling any of these from outside a program, or on a machine without a
 * message unit, is an internal error, see weft/program.h.
 */
#ifndef WEFT_SPI_H
#define WEFT_SPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/hwi.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Returned on failure by calls that have no error number. */
#define SPI_NONE UINT64_MAX

/* --- memory regions --- */

typedef struct {
	uint64_t BaseVa, BasePa, Bytes;
} Kernel_MemoryRegion_t;

/* ENOMEM if the node does not have this memory. */
int32_t Kernel_CreateMemoryRegion(
	Kernel_MemoryRegion_t *region, uint64_t va, uint64_t bytes);

/* Physical address of a virtual one: the same; EINVAL outside of the region. */
int32_t spi_physical(
	const Kernel_MemoryRegion_t *region, uint64_t va, uint64_t *pa);

/* --- injection FIFOs, set up by the kernel --- */

typedef struct {
	uint32_t RemoteGet; /* filled only by remote gets, not by software */
	uint32_t System; /* asks for what only the system may have */
	uint32_t Priority; /* served before other users' FIFOs */
} Kernel_InjFifoAttributes_t;

/* Software's view of an injection FIFO: a shadow of its registers, so that
 * injecting need not read them. */
typedef struct {
	uint32_t id; /* of all the node's */
	uint64_t start, size, tail;
	uint64_t freeSpace; /* lower bound of the free space, in descriptors */
	uint64_t numInjected;
} MUSPI_InjFifo_t;

typedef struct {
	uint32_t subgrpid;
	MUSPI_InjFifo_t fifo[MU_PER_SUBGROUP];
} MUSPI_InjFifoSubGroup_t;

/*
 * Allocates n FIFOs of a sub-group (0 to 67), by their numbers in it (0 to 7).
 * attrs is an array of n attributes; NULL: none.  Sub-groups from 64 belong to
 * the system.
 */
int32_t Kernel_AllocateInjFifos(uint32_t subgrpid,
	MUSPI_InjFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids,
	const Kernel_InjFifoAttributes_t *attrs);

/*
 * Gives an inactive FIFO its memory, size_1 + 1 bytes at an offset of a region,
 * and empties it.  Both address and size are multiples of 64, and the size is
 * at least two descriptors, of which one stays unused.
 */
int32_t Kernel_InjFifoInit(MUSPI_InjFifoSubGroup_t *subgrp, uint32_t id,
	const Kernel_MemoryRegion_t *region, uint64_t offset, uint64_t size_1);

enum { KERNEL_INJ_FIFO_DEACTIVATE = 0, KERNEL_INJ_FIFO_ACTIVATE = 1 };

/*
 * Activates or deactivates FIFOs that have memory.  Deactivating a FIFO also
 * clears its stop after a rejected descriptor.
 */
int32_t Kernel_InjFifoActivate(const MUSPI_InjFifoSubGroup_t *subgrp,
	uint32_t n, const uint32_t *ids, uint32_t how);

/* Frees FIFOs and deactivates them.  EINVAL if one is not allocated, EBUSY if
 * one has descriptors that the unit has not sent. */
int32_t Kernel_DeallocateInjFifos(
	const MUSPI_InjFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids);

/* Returns a pointer into the struct of the sub-group; NULL if the FIFO does not
 * exist. */
MUSPI_InjFifo_t *MUSPI_IdToInjFifo(
	uint32_t id, MUSPI_InjFifoSubGroup_t *subgrp);

/* --- reception FIFOs, set up by the kernel --- */

typedef struct {
	uint32_t System;
} Kernel_RecFifoAttributes_t;

typedef struct {
	uint32_t id; /* of all the node's */
	uint64_t start, size;
	uint64_t head; /* of the next packet to read */
	uint64_t tail; /* last known value */
} MUSPI_RecFifo_t;

typedef struct {
	uint32_t subgrpid;
	MUSPI_RecFifo_t fifo[MU_REC_PER_SUBGROUP];
} MUSPI_RecFifoSubGroup_t;

/* As for injection FIFOs; a sub-group has four. */
int32_t Kernel_AllocateRecFifos(uint32_t subgrpid,
	MUSPI_RecFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids,
	const Kernel_RecFifoAttributes_t *attrs);

/* Address and size are multiples of 32; the size is at least a full packet, 544
 * bytes, and 32 more. */
int32_t Kernel_RecFifoInit(MUSPI_RecFifoSubGroup_t *subgrp, uint32_t id,
	const Kernel_MemoryRegion_t *region, uint64_t offset, uint64_t size_1);

/*
 * Enables FIFOs of a group (0 to 16) of four sub-groups: bit 15 - 4 * s - i is
 * FIFO i of the group's sub-group s.  FIFOs without a bit do not change.
 * EINVAL if one is not allocated or has no memory.
 */
int32_t Kernel_RecFifoEnable(uint32_t group, uint64_t bits);

/* The bit of a FIFO in the mask of its group. */
uint64_t spi_rec_bit(uint32_t subgrpid, uint32_t id);

/* Frees FIFOs and disables them.  EINVAL if one is not allocated, EBUSY if one
 * has packets. */
int32_t Kernel_DeallocateRecFifos(
	const MUSPI_RecFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids);

MUSPI_RecFifo_t *MUSPI_IdToRecFifo(
	uint32_t id, MUSPI_RecFifoSubGroup_t *subgrp);

/* --- the base address table --- */

typedef struct {
	uint32_t subgrpid;
} MUSPI_BaseAddressTableSubGroup_t;

/* Allocates n entries of a sub-group, as for injection FIFOs. */
int32_t Kernel_AllocateBaseAddressTable(uint32_t subgrpid,
	MUSPI_BaseAddressTableSubGroup_t *subgrp, uint32_t n,
	const uint32_t *ids, uint32_t is_system);

int32_t Kernel_DeallocateBaseAddressTable(
	const MUSPI_BaseAddressTableSubGroup_t *subgrp, uint32_t n,
	const uint32_t *ids);

/* A store to a register. */
int32_t MUSPI_SetBaseAddress(const MUSPI_BaseAddressTableSubGroup_t *subgrp,
	uint32_t id, uint64_t address);

/* The address of an L2 atomic on the word at pa, a multiple of eight. */
uint64_t MUSPI_GetAtomicAddress(uint64_t pa, enum mu_atomic opcode);

/* --- for system software only: EPERM for other programs --- */

/* Range register i (0 to 7) allows rights (enum mu_rights) in [first, last];
 * without rights it allows nothing. */
int32_t Kernel_SetRange(
	uint32_t i, uint64_t first, uint64_t last, uint32_t rights);

/* Enabled interrupts; interrupts of a group. */
int32_t Kernel_SetInterruptMask(uint64_t mask);
int32_t Kernel_SetInterruptGroup(enum mu_group group, uint64_t mask);
/* Pending interrupts of a group. */
int32_t Kernel_GetInterrupts(enum mu_group group, uint64_t *mask);

/* Sets a counter of a sender to 0, and the channels whose bytes it counts, a
 * bit per enum mu_channel; spi_upc() reads it. */
int32_t Kernel_SetSenderCounter(
	uint32_t sender, uint32_t counter, uint32_t channels);
/* A sender's time-out: 1 to 1,000,000 round trips of its wire. */
int32_t Kernel_SetLinkTimeout(uint32_t sender, uint32_t trips);
int32_t Kernel_GetLinkTimeout(uint32_t sender, uint32_t *trips);

/* --- errors of the unit --- */

typedef struct {
	uint64_t Status; /* a bit per enum mu_interrupt, until it is cleared */
	uint64_t Count[MU_INTERRUPTS]; /* since the machine was built */
	uint64_t Address; /* of the last error; all ones: it had none */
	uint64_t Number; /* FIFO, base address, ... of the last error */
} Kernel_Errors_t;

/* For any program; loads all of these registers. */
void Kernel_GetErrors(Kernel_Errors_t *errors);
/* Clears bits of the status; EPERM for user programs. */
int32_t Kernel_ClearErrors(uint64_t mask);

/* --- descriptors --- */

typedef struct mu_descriptor MUHWI_Descriptor_t;
typedef struct mu_header MUHWI_MessageUnitHeader_t;

typedef struct {
	uint32_t Destination; /* as in a header: 6 bits a coordinate */
} MUHWI_Destination_t;

enum {
	/* of Hints_ABCD */
	MUHWI_PACKET_HINT_AM = 0x80,
	MUHWI_PACKET_HINT_AP = 0x40,
	MUHWI_PACKET_HINT_BM = 0x20,
	MUHWI_PACKET_HINT_BP = 0x10,
	MUHWI_PACKET_HINT_CM = 0x08,
	MUHWI_PACKET_HINT_CP = 0x04,
	MUHWI_PACKET_HINT_DM = 0x02,
	MUHWI_PACKET_HINT_DP = 0x01,
	/* of Misc1 */
	MUHWI_PACKET_HINT_EM = 0x80,
	MUHWI_PACKET_HINT_EP = 0x40,
	/* to the IO node of the destination; at IO nodes, the link by which a
	 * packet leaves: 8 times its number */
	MUHWI_PACKET_ROUTE_TO_IO_NODE = 0x20,
	SPI_IO_LINK = 0x08,
	MUHWI_PACKET_USE_DETERMINISTIC_ROUTING = 0x00,
	MUHWI_PACKET_USE_DYNAMIC_ROUTING = 0x04,
	MUHWI_PACKET_DO_NOT_DEPOSIT = 0x00,
	MUHWI_PACKET_DEPOSIT = 0x02,
	/* of Misc2 */
	MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC = MU_DYNAMIC << 5,
	MUHWI_PACKET_VIRTUAL_CHANNEL_DETERMINISTIC = MU_DETERMINISTIC << 5,
	MUHWI_PACKET_VIRTUAL_CHANNEL_HIGH_PRIORITY = MU_HIGH << 5,
	MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM = MU_SYSTEM << 5,
	MUHWI_PACKET_ZONE_ROUTING_0 = 0 << 3,
	MUHWI_PACKET_ZONE_ROUTING_1 = 1 << 3,
	MUHWI_PACKET_ZONE_ROUTING_2 = 2 << 3,
	MUHWI_PACKET_ZONE_ROUTING_3 = 3 << 3,
	MUHWI_PACKET_STAY_ON_BUBBLE = 0x04,
	/* bytes of a header for software */
	SPI_SOFTWARE_BYTES = 14,
};

typedef struct {
	uint32_t Pre_Fetch_Only; /* reads into L2 and sends nothing */
	uint64_t Payload_Address; /* physical */
	uint64_t Message_Length; /* bytes */
	uint64_t Torus_FIFO_Map; /* bits of enum mu_map */
	MUHWI_Destination_t Dest;
} MUSPI_BaseDescriptorInfoFields_t;

typedef struct {
	uint8_t Hints_ABCD; /* 0: the network chooses the directions */
	uint8_t Misc1, Misc2; /* bytes 2 and 3 of the header */
	uint8_t Skip;
} MUSPI_Pt2PtDescriptorInfoFields_t;

typedef struct {
	uint32_t Rec_FIFO_Id; /* global number at the receiving node */
	uint64_t Rec_Put_Offset; /* plus the bytes of earlier packets */
	uint32_t Interrupt; /* after the last packet */
	uint8_t SoftwareBytes[SPI_SOFTWARE_BYTES]; /* in every packet */
} MUSPI_MemoryFIFODescriptorInfoFields_t;

typedef struct {
	uint32_t Rec_Payload_Base_Address_Id; /* of all the node's */
	uint64_t Rec_Payload_Offset;
	uint32_t Rec_Counter_Base_Address_Id;
	uint64_t Rec_Counter_Offset;
	uint8_t Pacing;
} MUSPI_DirectPutDescriptorInfoFields_t;

/* The payload consists of descriptors, which the other node's unit executes. */
typedef struct {
	uint32_t Rget_Inj_FIFO_Id; /* global number at the other node */
	uint8_t Pacing;
} MUSPI_RemoteGetDescriptorInfoFields_t;

typedef struct {
	MUSPI_BaseDescriptorInfoFields_t Base;
	MUSPI_Pt2PtDescriptorInfoFields_t Pt2Pt;
	MUSPI_MemoryFIFODescriptorInfoFields_t MemFIFO;
} MUSPI_Pt2PtMemoryFIFODescriptorInfo_t;

typedef struct {
	MUSPI_BaseDescriptorInfoFields_t Base;
	MUSPI_Pt2PtDescriptorInfoFields_t Pt2Pt;
	MUSPI_DirectPutDescriptorInfoFields_t DirectPut;
} MUSPI_Pt2PtDirectPutDescriptorInfo_t;

typedef struct {
	MUSPI_BaseDescriptorInfoFields_t Base;
	MUSPI_Pt2PtDescriptorInfoFields_t Pt2Pt;
	MUSPI_RemoteGetDescriptorInfoFields_t RemoteGet;
} MUSPI_Pt2PtRemoteGetDescriptorInfo_t;

/* Uses the lower six bits of each coordinate. */
void MUSPI_SetUpDestination(MUHWI_Destination_t *dest, uint32_t a, uint32_t b,
	uint32_t c, uint32_t d, uint32_t e);

/* Coordinates of node number n of the machine.  If the node does not exist:
 * coordinates that no machine has; the unit rejects descriptors for them. */
MUHWI_Destination_t spi_destination(uint32_t node);

/*
 * Build descriptors.  EINVAL if a number does not fit its field.  The unit
 * checks the rest: a descriptor that it rejects stops its FIFO.
 */
int32_t MUSPI_CreatePt2PtMemoryFIFODescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtMemoryFIFODescriptorInfo_t *info);
int32_t MUSPI_CreatePt2PtDirectPutDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtDirectPutDescriptorInfo_t *info);
int32_t MUSPI_CreatePt2PtRemoteGetDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtRemoteGetDescriptorInfo_t *info);

/* --- sending --- */

/*
 * Copies a descriptor to the tail of the FIFO and advances it.  Returns the
 * number of the descriptor, or SPI_NONE if the FIFO is full, after reading a
 * register.  Takes software.descriptor.
 */
uint64_t MUSPI_InjFifoInject(
	MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc);

/*
 * Injects n descriptors with one store of the tail: all or, if they do not fit,
 * none.  Returns the number of the last one.  Takes software.descriptor for
 * each.
 */
uint64_t MUSPI_InjFifoInjectMultiple(
	MUSPI_InjFifo_t *fifo, uint32_t n, const MUHWI_Descriptor_t *desc);

/*
 * Returns whether all packets of a descriptor are in the network, so that its
 * memory may be reused; loads a register.  If remote gets also fill the FIFO,
 * they count, too.
 */
bool MUSPI_CheckDescComplete(const MUSPI_InjFifo_t *fifo, uint64_t descriptor);

/* Lower bound of the free space in descriptors; takes no time. */
uint64_t MUSPI_getFreeSpaceFromShadow(const MUSPI_InjFifo_t *fifo);

/* Each loads a register; the first updates the shadow. */
uint64_t MUSPI_getHwFreeSpace(MUSPI_InjFifo_t *fifo);
uint64_t MUSPI_getHwHead(const MUSPI_InjFifo_t *fifo); /* an address */
uint64_t MUSPI_getHwTail(const MUSPI_InjFifo_t *fifo);
uint64_t MUSPI_getHwDescCount(const MUSPI_InjFifo_t *fifo); /* sent */
uint64_t MUSPI_getHwDescFetched(const MUSPI_InjFifo_t *fifo);
/* Whether a descriptor was rejected. */
bool MUSPI_isStopped(const MUSPI_InjFifo_t *fifo);

/*
 * Requests an interrupt (MU_INT_INJ_THRESHOLD) when the free space rises above
 * a number of descriptors.  A store.
 */
void MUSPI_SetInjFifoThreshold(
	const MUSPI_InjFifo_t *fifo, uint64_t descriptors);

/* Returns and clears the mask of the sub-group's FIFOs that have crossed it.
 * Loads a register. */
uint64_t MUSPI_getInjFifosCrossed(const MUSPI_InjFifoSubGroup_t *subgrp);

/* --- receiving packets --- */

/* A packet in a reception FIFO. */
typedef struct {
	MUHWI_MessageUnitHeader_t Header;
	uint8_t Payload[MU_PAYLOAD];
} spi_packet_t;

/*
 * Reads the next packet of the FIFO.  Returns its bytes, a multiple of 32
 * including the header; 0 if there is none, after loading the tail.  The
 * hardware does not define the bytes after the end of the message in its last
 * packet.
 */
uint32_t MUSPI_getNextPacket(MUSPI_RecFifo_t *fifo, spi_packet_t *packet);

/* Frees the space of all packets that were read; a store. */
void MUSPI_syncRecFifoHwHead(const MUSPI_RecFifo_t *fifo);

/* The software bytes of a header, and the put offset. */
const uint8_t *spi_software_bytes(const MUHWI_MessageUnitHeader_t *header);
uint64_t spi_put_offset(const MUHWI_MessageUnitHeader_t *header);

/* Bytes that are stored and not read yet: loads the tail. */
uint64_t spi_rec_bytes(MUSPI_RecFifo_t *fifo);

/*
 * Waits until the FIFO has a packet: a loop that polls the tail every
 * software.poll-period, from a random time as in spi_poll(); the program
 * continues software.poll-load after the poll that sees it.  Takes no time if a
 * packet is known to be there.
 */
void spi_wait_packet(MUSPI_RecFifo_t *fifo);

/* Requests an interrupt (MU_INT_REC_THRESHOLD) when a packet makes the free
 * space fall below a number of bytes.  A store. */
void MUSPI_SetRecFifoThreshold(const MUSPI_RecFifo_t *fifo, uint64_t bytes);

/* Return and clear masks of the sub-group's FIFOs: those whose space has
 * crossed it, and those that have stored the last packet of a message with
 * Interrupt.  Each loads a register. */
uint64_t MUSPI_getRecFifosCrossed(const MUSPI_RecFifoSubGroup_t *subgrp);
uint64_t MUSPI_getRecFifosArrived(const MUSPI_RecFifoSubGroup_t *subgrp);

/* --- barriers and global interrupts --- */

/* A node's registers of a class. input: the links from members below, and
 * whether the node itself takes part; output: the link towards the root, none
 * at the root. */
typedef struct {
	uint16_t input, output;
} ClassRoute_t;

/* Bits of input and output. */
enum {
	BGQ_CLASS_LINK_AM = 0x800,
	BGQ_CLASS_LINK_AP = 0x400,
	BGQ_CLASS_LINK_BM = 0x200,
	BGQ_CLASS_LINK_BP = 0x100,
	BGQ_CLASS_LINK_CM = 0x080,
	BGQ_CLASS_LINK_CP = 0x040,
	BGQ_CLASS_LINK_DM = 0x020,
	BGQ_CLASS_LINK_DP = 0x010,
	BGQ_CLASS_LINK_EM = 0x008,
	BGQ_CLASS_LINK_EP = 0x004,
	BGQ_CLASS_LINK_IO = 0x002,
	BGQ_CLASS_INPUT_LINK_LOCAL = 0x001,
	BGQ_CLASS_LINKS = 0xfff,
	BGQ_GI_CLASS_MAX_CLASSROUTES = 16,
	BGQ_GI_CLASS_MAX_GI_PER_CLASSROUTE = 3,
};

typedef struct {
	uint32_t System; /* asks for what only the system may have */
} Kernel_GlobalInterruptClassRouteAttributes_t;

/*
 * Returns the free classes.  Class 0 is a barrier of all nodes of the job,
 * ready for use; 14 and 15 belong to the system.  EINVAL if ids has no room for
 * all their numbers.
 */
int32_t Kernel_QueryGlobalInterruptClassRoutes(
	uint32_t *n, uint32_t *ids, size_t bytes);
/* EAGAIN if the class is in use, EPERM if it belongs to the system; attr may be
 * NULL. */
int32_t Kernel_AllocateGlobalInterruptClassRoute(
	uint32_t id, const Kernel_GlobalInterruptClassRouteAttributes_t *attr);
/* The node leaves the class; EINVAL if it is not allocated. */
int32_t Kernel_DeallocateGlobalInterruptClassRoute(uint32_t id);
/*
 * Checks whether an allocated class could have these registers; the second call
 * sets them. 1: more than one output; 2: the node as an output; 3: a link is
 * input and output; 4: links of class id + 8 or id - 8; EINVAL and EPERM as
 * above, or for a link that does not exist.
 */
int32_t Kernel_CheckGlobalInterruptClassRoute(
	uint32_t id, const ClassRoute_t *cr);
int32_t Kernel_SetGlobalInterruptClassRoute(
	uint32_t id, const ClassRoute_t *cr);
/* The class with a barrier of all nodes. */
uint32_t Kernel_GetGlobalBarrierUserClassRouteId(void);

enum {
	KERNEL_GI_INTERRUPT_FLAG_DISABLE = 0,
	KERNEL_GI_INTERRUPT_FLAG_ENABLE = 1,
};

/* Enables or disables an interrupt (MU_INT_BARRIER) when bit giId (0 to 2) of
 * the status of a class rises. */
int32_t Kernel_ConfigureGIInterrupts(
	uint32_t id, uint32_t giId, uint32_t interruptFlag);

/*
 * Barriers.  Control is 100, 010 or 001 in turn: a node that enters drops its
 * bit and sets the next one, and the barrier is over when no node has the old
 * bit.  Entering twice has no further effect.
 *
 * All nodes of a new class set up its barrier: InitMU1, then InitMU2, then
 * Init, with some other barrier before, between and after the first two.
 */
typedef struct {
	uint64_t classRouteId;
	uint64_t state; /* the bit that it waits for */
} MUSPI_GIBarrier_t;

enum { MUSPI_GIBARRIER_INITIAL_STATE = 4 };

/* A store. */
int32_t MUSPI_GIBarrierInitMU1(uint32_t classRouteId);
/* Waits until the status is the initial state; -1 after a number of core cycles
 * (1.6 GHz). */
int32_t MUSPI_GIBarrierInitMU2(uint32_t classRouteId, uint64_t timeoutInCycles);
/* A load; -1 if the class has no barrier. */
int32_t MUSPI_GIBarrierInit(MUSPI_GIBarrier_t *barrier, uint32_t classRouteId);
/* A store. */
int32_t MUSPI_GIBarrierEnter(MUSPI_GIBarrier_t *barrier);
/* Load back to back until the barrier is over; each load sees the status at
 * half its time.  The second call gives up after a number of cycles and returns
 * -1. */
int32_t MUSPI_GIBarrierPoll(MUSPI_GIBarrier_t *barrier);
int32_t MUSPI_GIBarrierPollWithTimeout(
	MUSPI_GIBarrier_t *barrier, uint64_t timeoutInCycles);
int32_t MUSPI_GIBarrierEnterAndWait(MUSPI_GIBarrier_t *barrier);

/* Global interrupts: bit GIId (0 to 2) of all nodes of a class is set while any
 * of them sets it. */
typedef struct {
	uint64_t classRouteId;
	uint64_t mask;
} MUSPI_GI_t;

/* -1 if the class or the bit does not exist. */
int32_t MUSPI_GIInit(MUSPI_GI_t *gi, uint32_t classRouteId, uint32_t GIId);
/* A load and a store each. */
int32_t MUSPI_GISend(const MUSPI_GI_t *gi);
int32_t MUSPI_GISendClear(const MUSPI_GI_t *gi);
/* Wait until the bit is set; the second call returns -1 after a number of
 * cycles. */
int32_t MUSPI_GIPoll(const MUSPI_GI_t *gi);
int32_t MUSPI_GIPollWithTimeout(const MUSPI_GI_t *gi, uint64_t timeoutInCycles);

/* --- interrupts and counters --- */

/*
 * Waits until one of these interrupts (1 << enum mu_interrupt) is pending and
 * not masked; returns and clears the pending ones.  The core sleeps: it wakes
 * at once and then loads a register.  Returns 0 at once if the mask is empty,
 * or if it includes errors and the program is not the system's.
 */
uint64_t spi_wait_interrupt(uint64_t mask);

/* Value of a performance counter of an engine, a master port, or a sender's
 * counter; loads a register. 0 if it does not exist. */
uint64_t spi_upc(enum mu_event event, uint32_t unit);

/* --- the node's memory --- */

/* Copy bytes; false if the address is outside of the memory. */
bool spi_load(uint64_t pa, void *to, size_t n);
bool spi_store(uint64_t pa, const void *from, size_t n);

/*
 * Wait until the word at pa is a value (is not a value, is at least a value),
 * in a loop: it polls every software.poll-period, and the program continues
 * software.poll-load after the poll that sees it.  The first poll is at a
 * random time within one period: software is not synchronised with the network.
 * False if there is no word at pa.
 */
bool spi_poll(uint64_t pa, uint64_t value);
bool spi_poll_not(uint64_t pa, uint64_t value);
bool spi_poll_at_least(uint64_t pa, uint64_t value);

/*
 * L2 atomics (BGQ-G34) on the word at pa.  Loads take software.poll-load, a
 * round trip to the L2, and return the old value.  The bound of an increment is
 * the next word, the bound of a decrement the previous word; at the bound they
 * return L2_ATOMIC_EMPTY.  If the word does not exist, which would end a real
 * program, the result is SPI_NONE.
 */
#define L2_ATOMIC_EMPTY (UINT64_C(1) << 63)

uint64_t L2_AtomicLoad(uint64_t pa);
uint64_t L2_AtomicLoadClear(uint64_t pa);
uint64_t L2_AtomicLoadIncrement(uint64_t pa);
uint64_t L2_AtomicLoadDecrement(uint64_t pa);
uint64_t L2_AtomicLoadIncrementBounded(uint64_t pa);
uint64_t L2_AtomicLoadDecrementBounded(uint64_t pa);

/* Stores leave the core at once and take no time; false: the word does not
 * exist. */
bool L2_AtomicStore(uint64_t pa, uint64_t value);
bool L2_AtomicStoreAdd(uint64_t pa, uint64_t value);
bool L2_AtomicStoreOr(uint64_t pa, uint64_t value);
bool L2_AtomicStoreXor(uint64_t pa, uint64_t value);
bool L2_AtomicStoreMax(uint64_t pa, uint64_t value); /* unsigned */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
