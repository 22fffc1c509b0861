/*
 * Blue Gene/Q's message unit, as software sees it: registers, the bits of a
 * torus FIFO map, interrupts, and the times that its use takes.  How a
 * descriptor looks is in descriptor.h.
 */
#ifndef NIC_BGQ_MU_BGQ_MU_H
#define NIC_BGQ_MU_BGQ_MU_H

#include "nic/nic.h"

/*
 * FIFOs and base addresses come in sub-groups; a global number is the
 * sub-group times the number of them in it, and the number in it (BGQ-F87,
 * BGQ-G17).  The last group of four sub-groups is the system's.
 */
enum {
	MU_SUBGROUPS = 68,
	MU_SYSTEM_SUBGROUP = 64, /* and above */
	MU_PER_SUBGROUP = 8, /* injection FIFOs, base addresses */
	MU_REC_PER_SUBGROUP = 4,
	MU_INJ_FIFOS = MU_SUBGROUPS * MU_PER_SUBGROUP,
	MU_REC_FIFOS = MU_SUBGROUPS * MU_REC_PER_SUBGROUP,
	MU_BASES = MU_SUBGROUPS * MU_PER_SUBGROUP,
	MU_RANGES = 8, /* range registers */
	MU_GROUPS = 3, /* of interrupts */
};

/*
 * Registers: MU_REGISTER(kind, number).  Where several are of a kind the
 * number is a FIFO's, a base address's, a sub-group's, ...  Those marked S
 * are for the system alone: it stores with MU_PRIVILEGED.  So is everything
 * of a system sub-group.
 */
enum mu_register {
	/* of an injection FIFO */
	MU_INJ_START, /* S where it lies; empties it */
	MU_INJ_SIZE, /* S bytes, a multiple of 64; empties it */
	MU_INJ_ENABLE, /* S 1: active; storing 0 also ends a stop by error */
	MU_INJ_ATTRIBUTES, /* S enum mu_attribute */
	MU_INJ_THRESHOLD, /* descriptors: free space above it interrupts */
	MU_INJ_TAIL, /* where the next descriptor will be written */
	MU_INJ_HEAD, /* read only: the next descriptor to be sent */
	MU_INJ_FREE, /* read only: how many more descriptors fit */
	MU_INJ_COUNT, /* read only: descriptors sent, 64 bits */
	MU_INJ_FETCHED, /* read only: descriptors fetched */
	MU_INJ_STOPPED, /* read only: 1 after a descriptor was rejected */
	/* of a reception FIFO */
	MU_REC_START, /* S */
	MU_REC_SIZE, /* S bytes, a multiple of 32 */
	MU_REC_ENABLE, /* S */
	MU_REC_THRESHOLD, /* bytes: free space below it interrupts */
	MU_REC_HEAD, /* the next byte to be consumed */
	MU_REC_TAIL, /* read only: the end of what has been stored */
	MU_REC_FREE, /* read only: bytes */
	/* of an entry of the base address table */
	MU_BASE,
	/* of a sub-group */
	MU_INJ_OWNED, /* S mask of FIFOs given out */
	MU_REC_OWNED, /* S */
	MU_BASE_OWNED, /* S */
	MU_INJ_CROSSED, /* mask of FIFOs whose free space rose above their
			 * threshold; a store clears the bits that it has */
	MU_REC_CROSSED, /* the same, whose free space fell below it */
	MU_REC_ARRIVED, /* the same, that have stored the last packet of a
			 * message which asked for an interrupt */
	/* of the unit */
	MU_RANGE_FIRST, /* S of a range: its first byte */
	MU_RANGE_LAST, /* S of a range: its last byte */
	MU_RANGE_RIGHTS, /* S of a range: enum mu_rights */
	MU_INT_STATUS, /* S a bit per enum mu_interrupt; a store clears */
	MU_INT_MASK, /* S those that interrupt */
	MU_INT_GROUP, /* S of a group (enum mu_group): those in it */
	MU_INT_PENDING, /* read only, of a group: those in status and mask */
	MU_ERROR_COUNT, /* read only, of an enum mu_interrupt */
	MU_ERROR_ADDRESS, /* read only: of the last error; all ones: none */
	MU_ERROR_NUMBER, /* read only: FIFO, base, ... of the last error */
	MU_UPC, /* read only: enum mu_event, see mu_upc() */
	/* S of an engine, 0 to 15 injection, 16 to 31 reception: a store
	 * flips the bits that it has in a word of its next packet */
	MU_FAULT,
	MU_REGISTERS,
};

#define MU_REGISTER(kind, number) ((uint32_t)(kind) << 16 | (uint32_t)(number))
#define MU_PRIVILEGED		  (UINT32_C(1) << 31)

enum mu_attribute {
	MU_INJ_HIGH = 1, /* user, high priority */
	MU_INJ_REMOTE_GET = 2, /* packets may append descriptors */
};

enum mu_rights {
	MU_USER_READ = 1,
	MU_USER_WRITE = 2,
	MU_SYSTEM_READ = 4,
	MU_SYSTEM_WRITE = 8,
};

/* What the unit tells of.  Up to MU_ERRORS: what it refused to do. */
enum mu_interrupt {
	MU_ERROR_RANGE, /* an address that no range allows */
	MU_ERROR_PERMISSION, /* a user touched what is the system's */
	MU_ERROR_DESCRIPTOR, /* a field that cannot be */
	MU_ERROR_OVERRUN, /* a tail or a head that passes the other one */
	MU_ERROR_REGISTER, /* no such register, or a value it cannot take */
	MU_ERROR_FIFO, /* a packet for a FIFO that is not there */
	MU_ERROR_BASE, /* a packet for a base address that was never set */
	MU_ERROR_COUNTER, /* a counter that is no word for an atomic */
	MU_ERROR_PACKET, /* a packet that cannot be */
	MU_ERROR_MEMORY, /* two bad bits: the engine has stopped */
	MU_ERRORS,
	MU_INT_CORRECTED = MU_ERRORS, /* one bad bit, mended */
	MU_INT_INJ_THRESHOLD,
	MU_INT_REC_THRESHOLD,
	MU_INT_ARRIVAL,
	MU_INT_REC_FULL, /* an engine holds a packet for a full FIFO */
	MU_INT_GET_FULL, /* the same, of an injection FIFO */
	MU_INTERRUPTS,
};

extern const char *const mu_interrupt_names[MU_INTERRUPTS];

/* Which bits are in which is programmable. */
enum mu_group { MU_CRITICAL, MU_NON_CRITICAL, MU_MACHINE_CHECK };

/* Events that the performance counters count. */
enum mu_event {
	MU_UPC_PACKETS_IN, /* of an engine: injected */
	MU_UPC_MESSAGES_IN,
	MU_UPC_PACKETS_OUT, /* of an engine: received */
	MU_UPC_MESSAGES_OUT,
	MU_UPC_REQUESTS, /* of a master port */
	MU_UPC_OUTSTANDING, /* of a master port: integral over time, ps */
	MU_UPC_BYPASSED, /* of a master port: requests past its FIFO */
	MU_UPC_SLAVE_READS,
	MU_UPC_SLAVE_WRITES,
	MU_UPC_EVENTS,
};

/* The number of a MU_UPC register. */
static inline uint32_t mu_upc(enum mu_event event, uint32_t unit)
{
	return (uint32_t)event << 8 | unit;
}

/* A torus FIFO map: which network injection FIFOs may carry a message. */
enum mu_map {
	MU_MAP_A_MINUS = 0x8000, /* then A+, B-, ... E+, a bit each */
	MU_MAP_TORUS = 0xffc0, /* all ten */
	MU_MAP_LOCAL = 0x0030, /* both */
	MU_MAP_HIGH = 0x0008,
	MU_MAP_SYSTEM = 0x0004,
	MU_MAP_COLLECTIVE = 0x0003, /* user and system */
	MU_MAP_ALL = 0xffff,
};

/*
 * An address of an L2 atomic: this bit, and the operation in the low three
 * bits of an address that is a multiple of eight (BGQ-G34).
 */
#define MU_ATOMIC UINT64_C(0x1000000000)

enum mu_atomic {
	MU_ATOMIC_STORE = 0,
	MU_ATOMIC_STORE_TWIN = 1, /* not offered: rejected */
	MU_ATOMIC_STORE_ADD = 2,
	MU_ATOMIC_STORE_ADD_COHERENCE_ON_ZERO = 3,
	MU_ATOMIC_STORE_OR = 4,
	MU_ATOMIC_STORE_XOR = 5,
	MU_ATOMIC_STORE_MAX = 6,
};

/* Times in ps, rates in bytes per second. */
struct mu_params {
	int64_t mmio_store, mmio_load, slave;
	int64_t ports, port_cycle, port_fifo, read_rate;
	int64_t arbitration, header, fifo_write;
	int64_t pull, drain_rate, lookup, buffers;
	int64_t software, poll_period, poll_load;
};

extern const struct nic_ops bgq_mu_ops;

static inline const struct mu_params *mu_params_of(const struct nic *nic)
{
	return nic->params;
}

/* What a node's unit refused to do, of an enum mu_interrupt; only while
 * nothing runs. */
uint64_t mu_errors(const struct nic *nic, site_id node, enum mu_interrupt kind);

#endif
