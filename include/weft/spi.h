/*
 * Blue Gene/Q's system programming interface: the names are those of the
 * machine's own (BGQ-G42), so that its programs look familiar.  The functions
 * are called from a program (weft/program.h) and work on the node that it
 * runs on.
 *
 * Addresses.  A virtual address is a physical address of the node's memory.
 * A program has no pointers into that memory: it reads and writes it by the
 * functions at the end, where a real one would load and store.
 *
 * Time.  A call that says nothing of it takes none.  A store to a register
 * leaves the core at once and takes effect later (nic.mmio-store); a load
 * waits (nic.mmio-load).  Accesses of a node take effect in order.  A kernel
 * call takes as long as the registers that it reads and writes; traps are not
 * charged.
 *
 * Errors.  A Kernel_ call is the kernel that acts for the program: it looks
 * at what it is asked for.  Where a call returns int32_t that is 0, or the
 * error number of what was wrong, and then nothing has been changed: EINVAL
 * for what cannot be, EPERM for what is the system's alone, EBUSY for what
 * somebody has.  What a program does without the kernel, the unit judges: it
 * refuses, counts and goes on, see Kernel_GetErrors().
 *
 * Ownership.  What a call fills in is the caller's, and no call keeps a
 * pointer.  Threads that share a FIFO's struct lock it.
 *
 * Called from outside a program, or on a machine without a message unit, any
 * of these is an internal error, see weft/program.h.
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

/* What a call that has no error number returns where it could not. */
#define SPI_NONE UINT64_MAX

/* --- memory regions --- */

typedef struct {
	uint64_t BaseVa, BasePa, Bytes;
} Kernel_MemoryRegion_t;

/* ENOMEM where the node has no such memory. */
int32_t Kernel_CreateMemoryRegion(
	Kernel_MemoryRegion_t *region, uint64_t va, uint64_t bytes);

/* The physical address of a virtual one: the same; EINVAL outside. */
int32_t spi_physical(
	const Kernel_MemoryRegion_t *region, uint64_t va, uint64_t *pa);

/* --- injection FIFOs, set up by the kernel --- */

typedef struct {
	uint32_t RemoteGet; /* filled by remote gets alone, not by software */
	uint32_t System; /* asks for what only the system may have */
	uint32_t Priority; /* before other users' FIFOs */
} Kernel_InjFifoAttributes_t;

/* What software knows of an injection FIFO: a shadow of the registers, so
 * that injecting need not read them. */
typedef struct {
	uint32_t id; /* of all the node's */
	uint64_t start, size, tail;
	uint64_t freeSpace; /* descriptors that surely fit */
	uint64_t numInjected;
} MUSPI_InjFifo_t;

typedef struct {
	uint32_t subgrpid;
	MUSPI_InjFifo_t fifo[MU_PER_SUBGROUP];
} MUSPI_InjFifoSubGroup_t;

/*
 * Takes n FIFOs of a sub-group (0 to 67), by their numbers in it (0 to 7).
 * attrs is an array of n, or NULL: plain ones.  Sub-groups from 64 on are the
 * system's.
 */
int32_t Kernel_AllocateInjFifos(uint32_t subgrpid,
	MUSPI_InjFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids,
	const Kernel_InjFifoAttributes_t *attrs);

/*
 * Gives a FIFO that is not active its memory: size_1 + 1 bytes at an offset
 * of a region, and empties it.  Both the place and the size are multiples of
 * 64, and there is room for two descriptors, of which one stays unused.
 */
int32_t Kernel_InjFifoInit(MUSPI_InjFifoSubGroup_t *subgrp, uint32_t id,
	const Kernel_MemoryRegion_t *region, uint64_t offset, uint64_t size_1);

enum { KERNEL_INJ_FIFO_DEACTIVATE = 0, KERNEL_INJ_FIFO_ACTIVATE = 1 };

/*
 * Lets the unit fetch from FIFOs that have memory, or not.  To deactivate
 * one also ends its stop after a descriptor that was rejected.
 */
int32_t Kernel_InjFifoActivate(const MUSPI_InjFifoSubGroup_t *subgrp,
	uint32_t n, const uint32_t *ids, uint32_t how);

/* Gives FIFOs back and deactivates them.  EINVAL where one is nobody's, EBUSY
 * where one has descriptors that the unit has yet to send. */
int32_t Kernel_DeallocateInjFifos(
	const MUSPI_InjFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids);

/* NULL where there is no such FIFO; a pointer into the sub-group's struct. */
MUSPI_InjFifo_t *MUSPI_IdToInjFifo(
	uint32_t id, MUSPI_InjFifoSubGroup_t *subgrp);

/* --- reception FIFOs, set up by the kernel --- */

typedef struct {
	uint32_t System;
} Kernel_RecFifoAttributes_t;

typedef struct {
	uint32_t id; /* of all the node's */
	uint64_t start, size;
	uint64_t head; /* the next packet to be taken */
	uint64_t tail; /* as far as is known */
} MUSPI_RecFifo_t;

typedef struct {
	uint32_t subgrpid;
	MUSPI_RecFifo_t fifo[MU_REC_PER_SUBGROUP];
} MUSPI_RecFifoSubGroup_t;

/* As of injection FIFOs; a sub-group has four. */
int32_t Kernel_AllocateRecFifos(uint32_t subgrpid,
	MUSPI_RecFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids,
	const Kernel_RecFifoAttributes_t *attrs);

/* Place and size are multiples of 32; there is room for a full packet, 544
 * bytes, and 32 more. */
int32_t Kernel_RecFifoInit(MUSPI_RecFifoSubGroup_t *subgrp, uint32_t id,
	const Kernel_MemoryRegion_t *region, uint64_t offset, uint64_t size_1);

/*
 * Opens FIFOs of a group (0 to 16), which is four sub-groups: bit 15 - 4 * s
 * - i is FIFO i of the group's sub-group s.  Those without a bit stay as they
 * are.  EINVAL where one is nobody's or has no memory.
 */
int32_t Kernel_RecFifoEnable(uint32_t group, uint64_t bits);

/* The bit of a FIFO in the mask of its group. */
uint64_t spi_rec_bit(uint32_t subgrpid, uint32_t id);

/* Gives FIFOs back and closes them.  EINVAL where one is nobody's, EBUSY
 * where one has packets. */
int32_t Kernel_DeallocateRecFifos(
	const MUSPI_RecFifoSubGroup_t *subgrp, uint32_t n, const uint32_t *ids);

MUSPI_RecFifo_t *MUSPI_IdToRecFifo(
	uint32_t id, MUSPI_RecFifoSubGroup_t *subgrp);

/* --- the base address table --- */

typedef struct {
	uint32_t subgrpid;
} MUSPI_BaseAddressTableSubGroup_t;

/* Takes n entries of a sub-group, as of injection FIFOs. */
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

/* --- what the kernel keeps for the system: EPERM for any other program --- */

/* Range register i (0 to 7) allows what enum mu_rights says in [first, last];
 * no rights: it allows nothing. */
int32_t Kernel_SetRange(
	uint32_t i, uint64_t first, uint64_t last, uint32_t rights);

/* Which interrupts there are, of all; which are in a group. */
int32_t Kernel_SetInterruptMask(uint64_t mask);
int32_t Kernel_SetInterruptGroup(enum mu_group group, uint64_t mask);
/* Of a group: those that wait to be handled. */
int32_t Kernel_GetInterrupts(enum mu_group group, uint64_t *mask);

/* Sets a counter of a sender to 0 and the channels whose bytes it counts, a
 * bit per enum mu_channel; spi_upc() reads it. */
int32_t Kernel_SetSenderCounter(
	uint32_t sender, uint32_t counter, uint32_t channels);
/* A sender's time-out: 1 to 1,000,000 round trips of its wire. */
int32_t Kernel_SetLinkTimeout(uint32_t sender, uint32_t trips);
int32_t Kernel_GetLinkTimeout(uint32_t sender, uint32_t *trips);

/* --- what the unit refused to do --- */

typedef struct {
	uint64_t Status; /* a bit per enum mu_interrupt, until it is cleared */
	uint64_t Count[MU_INTERRUPTS]; /* since the machine was built */
	uint64_t Address; /* of the last error; all ones: it had none */
	uint64_t Number; /* FIFO, base address, ... of the last error */
} Kernel_Errors_t;

/* Anybody's; loads all of these registers. */
void Kernel_GetErrors(Kernel_Errors_t *errors);
/* Clears bits of the status; EPERM for a program that is not the system's. */
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
	/* to the IO node behind the destination; of IO nodes, the link by which
	 * a packet leaves: 8 times its number */
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
	/* bytes of a header that are software's own */
	SPI_SOFTWARE_BYTES = 14,
};

typedef struct {
	uint32_t Pre_Fetch_Only; /* reads into L2, sends nothing */
	uint64_t Payload_Address; /* physical */
	uint64_t Message_Length; /* bytes */
	uint64_t Torus_FIFO_Map; /* bits of enum mu_map */
	MUHWI_Destination_t Dest;
} MUSPI_BaseDescriptorInfoFields_t;

typedef struct {
	uint8_t Hints_ABCD; /* 0: the network finds the way */
	uint8_t Misc1, Misc2; /* bytes 2 and 3 of the header */
	uint8_t Skip;
} MUSPI_Pt2PtDescriptorInfoFields_t;

typedef struct {
	uint32_t Rec_FIFO_Id; /* of all the receiving node's */
	uint64_t Rec_Put_Offset; /* grows by the bytes sent before a packet */
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

/* The payload is descriptors, which the other node's unit carries out. */
typedef struct {
	uint32_t Rget_Inj_FIFO_Id; /* of all the other node's */
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

/* A coordinate's lower six bits. */
void MUSPI_SetUpDestination(MUHWI_Destination_t *dest, uint32_t a, uint32_t b,
	uint32_t c, uint32_t d, uint32_t e);

/* Where node number n of the machine is.  Where there is no such node: a place
 * that no machine has, and the unit rejects descriptors for it. */
MUHWI_Destination_t spi_destination(uint32_t node);

/*
 * Build descriptors.  EINVAL where a number does not fit its field.  The unit
 * has the last word on what it makes of the rest: a descriptor that it
 * rejects stops its FIFO.
 */
int32_t MUSPI_CreatePt2PtMemoryFIFODescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtMemoryFIFODescriptorInfo_t *info);
int32_t MUSPI_CreatePt2PtDirectPutDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtDirectPutDescriptorInfo_t *info);
int32_t MUSPI_CreatePt2PtRemoteGetDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_Pt2PtRemoteGetDescriptorInfo_t *info);

/* --- sending --- */

/*
 * Copies a descriptor to the FIFO's tail and advances it.  Returns the
 * number of the descriptor, or SPI_NONE where the FIFO is full, which it
 * learns from a register.  Takes software.descriptor.
 */
uint64_t MUSPI_InjFifoInject(
	MUSPI_InjFifo_t *fifo, const MUHWI_Descriptor_t *desc);

/*
 * n descriptors, of which the unit learns at once: all or, where they do not
 * fit, none.  Returns the number of the last one.  Takes software.descriptor
 * for each.
 */
uint64_t MUSPI_InjFifoInjectMultiple(
	MUSPI_InjFifo_t *fifo, uint32_t n, const MUHWI_Descriptor_t *desc);

/*
 * Whether all packets of a descriptor are in the network, so that its memory
 * may change: loads a register.  A FIFO that was filled by remote gets, too,
 * counts those.
 */
bool MUSPI_CheckDescComplete(const MUSPI_InjFifo_t *fifo, uint64_t descriptor);

/* How many more descriptors surely fit; takes no time. */
uint64_t MUSPI_getFreeSpaceFromShadow(const MUSPI_InjFifo_t *fifo);

/* Each loads a register; the first renews the shadow. */
uint64_t MUSPI_getHwFreeSpace(MUSPI_InjFifo_t *fifo);
uint64_t MUSPI_getHwHead(const MUSPI_InjFifo_t *fifo); /* an address */
uint64_t MUSPI_getHwTail(const MUSPI_InjFifo_t *fifo);
uint64_t MUSPI_getHwDescCount(const MUSPI_InjFifo_t *fifo); /* sent */
uint64_t MUSPI_getHwDescFetched(const MUSPI_InjFifo_t *fifo);
bool MUSPI_isStopped(const MUSPI_InjFifo_t *fifo); /* one was rejected */

/*
 * An interrupt comes (MU_INT_INJ_THRESHOLD) when the free space rises above
 * so many descriptors.  A store.
 */
void MUSPI_SetInjFifoThreshold(
	const MUSPI_InjFifo_t *fifo, uint64_t descriptors);

/* A mask of the sub-group's FIFOs that did; clears it.  Loads a register. */
uint64_t MUSPI_getInjFifosCrossed(const MUSPI_InjFifoSubGroup_t *subgrp);

/* --- receiving packets --- */

/* A packet as it lies in a reception FIFO. */
typedef struct {
	MUHWI_MessageUnitHeader_t Header;
	uint8_t Payload[MU_PAYLOAD];
} spi_packet_t;

/*
 * Takes the next packet out of the FIFO.  Returns its bytes, a multiple of
 * 32 with the header's; 0 where there is none, of which it makes sure by a
 * load of the tail.  What lies behind the bytes of the message in its last
 * packet is not said by the hardware.
 */
uint32_t MUSPI_getNextPacket(MUSPI_RecFifo_t *fifo, spi_packet_t *packet);

/* Gives the unit the room of all packets taken; a store. */
void MUSPI_syncRecFifoHwHead(const MUSPI_RecFifo_t *fifo);

/* Of a header: what software's own bytes are, and the put offset. */
const uint8_t *spi_software_bytes(const MUHWI_MessageUnitHeader_t *header);
uint64_t spi_put_offset(const MUHWI_MessageUnitHeader_t *header);

/* Bytes that are stored and not taken yet: loads the tail. */
uint64_t spi_rec_bytes(MUSPI_RecFifo_t *fifo);

/*
 * Waits until the FIFO has a packet: a loop that looks at the tail every
 * software.poll-period, from a random moment on as in spi_poll(), and goes on
 * software.poll-load after the look that saw it.  Takes no time where it is
 * known that there is one.
 */
void spi_wait_packet(MUSPI_RecFifo_t *fifo);

/* An interrupt comes (MU_INT_REC_THRESHOLD) when a packet makes the free
 * space fall below so many bytes.  A store. */
void MUSPI_SetRecFifoThreshold(const MUSPI_RecFifo_t *fifo, uint64_t bytes);

/* Masks of the sub-group's FIFOs whose space did, and that have stored the
 * last packet of a message with Interrupt; each clears it, loads a register. */
uint64_t MUSPI_getRecFifosCrossed(const MUSPI_RecFifoSubGroup_t *subgrp);
uint64_t MUSPI_getRecFifosArrived(const MUSPI_RecFifoSubGroup_t *subgrp);

/* --- barriers and global interrupts --- */

/* A node's registers of a class: which links lead to it from members below,
 * which one leads on, none at the root, and whether it takes part itself. */
typedef struct {
	uint16_t input, output;
} ClassRoute_t;

/* Bits of both. */
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
 * Classes that nobody has.  Number 0 is a barrier of all nodes of the job,
 * ready for use; 14 and 15 are the system's.  EINVAL where there is no room for
 * all their numbers.
 */
int32_t Kernel_QueryGlobalInterruptClassRoutes(
	uint32_t *n, uint32_t *ids, size_t bytes);
/* EAGAIN where somebody has it, EPERM for what is the system's; attr may be
 * NULL. */
int32_t Kernel_AllocateGlobalInterruptClassRoute(
	uint32_t id, const Kernel_GlobalInterruptClassRouteAttributes_t *attr);
/* The node leaves the class; EINVAL where nobody has it. */
int32_t Kernel_DeallocateGlobalInterruptClassRoute(uint32_t id);
/*
 * Whether a class, which must have been allocated, could have these registers;
 * the second sets them.  1: more than one output; 2: the node as an output; 3:
 * a link both ways; 4: links that class id + 8 or id - 8 has; EINVAL and EPERM
 * as above, or for a link that is not there.
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

/* Whether bit giId (0 to 2) of a class's status interrupts when it rises
 * (MU_INT_BARRIER). */
int32_t Kernel_ConfigureGIInterrupts(
	uint32_t id, uint32_t giId, uint32_t interruptFlag);

/*
 * Barriers.  Control is 100, 010 or 001 in turn: who enters gives up the bit
 * that it has and takes the next one, and the barrier is over when nobody has
 * the old one.  To enter twice is to enter once.
 *
 * A new class's barrier is set up by all its nodes: InitMU1, then InitMU2, then
 * Init, with a barrier by other means before, between and behind the first two.
 */
typedef struct {
	uint64_t classRouteId;
	uint64_t state; /* the bit that it waits for */
} MUSPI_GIBarrier_t;

enum { MUSPI_GIBARRIER_INITIAL_STATE = 4 };

/* A store. */
int32_t MUSPI_GIBarrierInitMU1(uint32_t classRouteId);
/* Waits until the status is the initial state; -1 after so many cycles of the
 * core (1.6 GHz). */
int32_t MUSPI_GIBarrierInitMU2(uint32_t classRouteId, uint64_t timeoutInCycles);
/* A load; -1 where the class has no barrier. */
int32_t MUSPI_GIBarrierInit(MUSPI_GIBarrier_t *barrier, uint32_t classRouteId);
/* A store. */
int32_t MUSPI_GIBarrierEnter(MUSPI_GIBarrier_t *barrier);
/* Loads back to back, each of which sees the status half-way, until the barrier
 * is over; the second gives up after so many cycles, with -1. */
int32_t MUSPI_GIBarrierPoll(MUSPI_GIBarrier_t *barrier);
int32_t MUSPI_GIBarrierPollWithTimeout(
	MUSPI_GIBarrier_t *barrier, uint64_t timeoutInCycles);
int32_t MUSPI_GIBarrierEnterAndWait(MUSPI_GIBarrier_t *barrier);

/* Global interrupts: bit GIId (0 to 2) of all nodes of a class is up while any
 * of them has it up. */
typedef struct {
	uint64_t classRouteId;
	uint64_t mask;
} MUSPI_GI_t;

/* -1 where there is no such class or bit. */
int32_t MUSPI_GIInit(MUSPI_GI_t *gi, uint32_t classRouteId, uint32_t GIId);
/* A load and a store each. */
int32_t MUSPI_GISend(const MUSPI_GI_t *gi);
int32_t MUSPI_GISendClear(const MUSPI_GI_t *gi);
/* Waits until it is up, or so many cycles have passed: -1. */
int32_t MUSPI_GIPoll(const MUSPI_GI_t *gi);
int32_t MUSPI_GIPollWithTimeout(const MUSPI_GI_t *gi, uint64_t timeoutInCycles);

/* --- interrupts and counters --- */

/*
 * Waits until one of these interrupts (1 << enum mu_interrupt) is up and not
 * masked.  Returns and clears those that are.  The core sleeps: it wakes at
 * once and then loads a register.  0, at once, where the mask is empty, or
 * where it has errors and the program is not the system's.
 */
uint64_t spi_wait_interrupt(uint64_t mask);

/* What a performance counter counted, of an engine, a master port, or a
 * sender's counter; loads a register.  0 where there is no such one. */
uint64_t spi_upc(enum mu_event event, uint32_t unit);

/* --- the node's memory --- */

/* Bytes; false where it has no such address. */
bool spi_load(uint64_t pa, void *to, size_t n);
bool spi_store(uint64_t pa, const void *from, size_t n);

/*
 * A loop that loads the word at pa until it is a value (is another, is at
 * least so much): it looks every software.poll-period and goes on
 * software.poll-load after the look that saw it.  When it first looks is
 * random, within one period: software is not in step with the network.  False
 * where there is no word at pa.
 */
bool spi_poll(uint64_t pa, uint64_t value);
bool spi_poll_not(uint64_t pa, uint64_t value);
bool spi_poll_at_least(uint64_t pa, uint64_t value);

/*
 * L2 atomics (BGQ-G34) on the word at pa.  Loads take software.poll-load, a
 * way to the L2 and back, and answer the word before.  The bounded ones go
 * no further than the word behind it (in front of it, down) and answer
 * L2_ATOMIC_EMPTY there.  Where there is no such word, which a real program
 * would not survive, the answer is SPI_NONE.
 */
#define L2_ATOMIC_EMPTY (UINT64_C(1) << 63)

uint64_t L2_AtomicLoad(uint64_t pa);
uint64_t L2_AtomicLoadClear(uint64_t pa);
uint64_t L2_AtomicLoadIncrement(uint64_t pa);
uint64_t L2_AtomicLoadDecrement(uint64_t pa);
uint64_t L2_AtomicLoadIncrementBounded(uint64_t pa);
uint64_t L2_AtomicLoadDecrementBounded(uint64_t pa);

/* Stores leave the core at once and take no time; false: no such word. */
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
