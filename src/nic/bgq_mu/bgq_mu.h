/*
 * Blue Gene/Q's message unit, as the kernel sees it: registers, and times.
 * weft/hwi.h has what programs see, too.
 */
#ifndef NIC_BGQ_MU_BGQ_MU_H
#define NIC_BGQ_MU_BGQ_MU_H

#include "nic/nic.h"
#include "weft/hwi.h"

/*
 * The unit's engines, a pair of injection and reception for each of Blue
 * Gene/Q's network FIFOs: one for each link, two for collectives, two for the
 * node itself, and one each for high priority and system packets.
 */
enum mu_net_fifo {
	MU_NET_USER = 0,
	MU_NET_COLLECTIVE = 10, /* user and system (BGQ-G13) */
	MU_NET_LOCAL = 12,
	MU_NET_HIGH = 14,
	MU_NET_SYSTEM = 15,
	MU_NET_FIFOS = 16,
};

/*
 * Registers: MU_REGISTER(kind, number); the number is a FIFO's, a base
 * address's, a sub-group's, ...  Only the system may store to those marked S
 * and to a system sub-group's; it stores with MU_PRIVILEGED.
 */
enum mu_register {
	/* of an injection FIFO */
	MU_INJ_START, /* S where it lies; empties it */
	MU_INJ_SIZE, /* S bytes, a multiple of 64; empties it */
	MU_INJ_ENABLE, /* S 1: active; storing 0 also ends a stop by error */
	MU_INJ_ATTRIBUTES, /* S enum mu_attribute */
	MU_INJ_THRESHOLD, /* descriptors: free space that rises above it
			   * interrupts; 0: never */
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
	MU_INJ_ENABLE_GROUP, /* S write only, of a group: a bit for each of its
			      * FIFOs that becomes active */
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
	/* S of a counter of a sender: the channels that it counts; a store
	 * lets it begin at 0 */
	MU_SENT_CHANNELS,
	/* S of a port: the time-out of its sender, round trips of its wire */
	MU_TIMEOUT,
	/* S of an engine, 0 to 15 injection, 16 to 31 reception: a store
	 * flips the bits that it has in a word of its next packet */
	MU_FAULT,
	/* of a class of barriers and global interrupts */
	MU_GI_ROUTE, /* S a struct barrier_route: inputs << 16 | output */
	MU_GI_CONTROL, /* three bits: this node's own */
	MU_GI_STATUS, /* read only: the OR of all */
	MU_GI_ENABLE, /* S bits of it that interrupt when they rise */
	MU_GI_OWNED, /* S of the unit: a mask of classes given out */
	MU_REGISTERS,
};

#define MU_REGISTER(kind, number) ((uint32_t)(kind) << 16 | (uint32_t)(number))
#define MU_PRIVILEGED		  (UINT32_C(1) << 31)

/* The number of a MU_UPC register. */
static inline uint32_t mu_upc(enum mu_event event, uint32_t unit)
{
	return (uint32_t)event << 8 | unit;
}

/* Times in ps, rates in bytes per second. */
struct mu_params {
	int64_t mmio_store, mmio_load, slave;
	int64_t ports, port_cycle, port_fifo, read_rate;
	int64_t arbitration, header, fifo_write;
	int64_t pull, drain_rate, lookup, buffers;
	int64_t software, poll_period, poll_load;
	/* of barriers */
	int64_t classes, barrier_bytes, barrier_ends;
};

extern const struct nic_ops bgq_mu_ops;

static inline const struct mu_params *mu_params_of(const struct nic *nic)
{
	return nic->params;
}

/* A program's store to a register, which leaves the core at t: it takes effect
 * when it reaches the unit, after all earlier ones. */
void mu_registers_store(struct nic *nic, struct sim_worker *w, site_id s,
	sim_time t, uint32_t reg, uint64_t value);
/* When an access that leaves the core at t reaches the unit; it takes the
 * port's next place.  A load is made at that time. */
sim_time mu_registers_slot(struct nic *nic, site_id s, sim_time t);
/* The value for a load that is at the unit now. */
uint64_t mu_registers_load(struct nic *nic, site_id s, uint32_t reg);

/* The ring of configuration registers (BGQ-F126), one access at a time: when an
 * access that begins at t is done, and its effect then. */
bool mu_is_dcr(uint32_t reg);
sim_time mu_dcr_slot(struct nic *nic, site_id s, sim_time t);
/* The time-out of the sender at a port, in round trips.  False: out of range.
 */
uint64_t mu_dcr_timeout(struct nic *nic, site_id s, uint32_t port);
bool mu_dcr_set_timeout(
	struct nic *nic, site_id s, uint32_t port, uint64_t trips);
void mu_dcr_store(struct nic *nic, struct sim_worker *w, site_id s, sim_time t,
	uint32_t reg, uint64_t value);

/* The value of a register, without a load: for program_poll_until(). */
uint64_t mu_peek(struct nic *nic, site_id node, uint32_t reg);

/* For the time budget: a program begins a descriptor for an injection FIFO. */
void mu_note_birth(struct nic *nic, site_id s, uint32_t inj, sim_time t);

#endif
