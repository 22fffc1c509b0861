/*
 * Blue Gene/Q's message unit, as software sees it: registers, the bits of a
 * torus FIFO map, and the times that its use takes.  How a descriptor looks
 * is in descriptor.h.
 */
#ifndef NIC_BGQ_MU_BGQ_MU_H
#define NIC_BGQ_MU_BGQ_MU_H

#include "nic/nic.h"

/*
 * FIFOs and base addresses come in sub-groups of eight; a global number is
 * eight times the sub-group and the number in it (BGQ-F87, BGQ-G17).
 */
enum {
	MU_SUBGROUPS = 68,
	MU_PER_SUBGROUP = 8,
	MU_INJ_FIFOS = MU_SUBGROUPS * MU_PER_SUBGROUP,
	MU_BASES = MU_SUBGROUPS * MU_PER_SUBGROUP,
};

/*
 * Registers: MU_REGISTER(kind, number).  Where several are of a kind the
 * number is a FIFO's, a base address's or a sub-group's.
 */
enum mu_register {
	MU_INJ_START, /* where an injection FIFO lies; empties it */
	MU_INJ_SIZE, /* bytes, a multiple of 64 */
	MU_INJ_HEAD, /* read only: the next descriptor to be sent */
	MU_INJ_TAIL, /* where the next one will be written */
	MU_INJ_FREE, /* read only: how many more descriptors fit */
	MU_INJ_COUNT, /* read only: descriptors sent, 64 bits */
	MU_INJ_ENABLE, /* 1: active */
	MU_BASE, /* an entry of the base address table */
	MU_INJ_OWNED, /* of a sub-group: mask of FIFOs given out */
	MU_BASE_OWNED, /* of a sub-group: mask of entries given out */
	MU_REFUSED, /* read only: what the unit refused to do */
	MU_REGISTERS,
};

#define MU_REGISTER(kind, number) ((uint32_t)(kind) << 16 | (uint32_t)(number))

/* A torus FIFO map: which network injection FIFOs may carry a message. */
enum mu_map {
	MU_MAP_A_MINUS = 0x8000, /* then A+, B-, ... E+, a bit each */
	MU_MAP_TORUS = 0xffc0, /* all ten */
	MU_MAP_LOCAL = 0x0030, /* both */
	MU_MAP_HIGH = 0x0008,
	MU_MAP_SYSTEM = 0x0004,
	MU_MAP_COLLECTIVE = 0x0003, /* user and system */
};

/* An address of an L2 atomic: this bit, and the operation in the low three
 * bits of an address that is a multiple of eight. */
#define MU_ATOMIC UINT64_C(0x1000000000)

enum mu_atomic {
	MU_ATOMIC_STORE_ADD = 2,
	MU_ATOMIC_STORE_ADD_COHERENCE_ON_ZERO = 3,
};

/* Times in ps, rates in bytes per second. */
struct mu_params {
	int64_t kind;
	int64_t mmio_store, mmio_load;
	int64_t arbitration, descriptor_read, header, payload_read;
	int64_t read_rate, fifo_write;
	int64_t pull, drain_rate, lookup, payload_write, counter;
	int64_t software, poll_period, poll_load;
};

extern const struct nic_ops bgq_mu_ops;

static inline const struct mu_params *mu_params_of(const struct nic *nic)
{
	return nic->params;
}

#endif
