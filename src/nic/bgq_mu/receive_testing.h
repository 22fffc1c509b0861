/*
 * For tests of what the message unit receives: a reception FIFO as software
 * reads it, and waiting for what the unit tells.  All for programs.
 */
#ifndef NIC_BGQ_MU_RECEIVE_TESTING_H
#define NIC_BGQ_MU_RECEIVE_TESTING_H

#include "nic/bgq_mu/mu_testing.h"

/* Where in the header the tests keep numbers of their own. */
enum { SW_OWN = 18, SW_OWN_BYTES = 14 };

/* A reception FIFO, as its reader sees it. */
struct sw_reader {
	uint32_t id;
	uint64_t at, bytes;
	uint64_t head; /* bytes consumed; the unit is told by sw_free() */
};

struct sw_packet {
	struct mu_header header;
	uint32_t bytes; /* of payload, whole chunks */
	uint8_t payload[MU_PAYLOAD];
};

struct sw_reader sw_open_reader(uint32_t id, uint64_t bytes);

/* Bytes between the head and the tail. */
uint64_t sw_available(const struct sw_reader *r);

/* The bytes at an offset from the head, round the end. */
void sw_peek(const struct sw_reader *r, uint64_t offset, void *to, uint64_t n);

/* Waits for a packet and consumes it; its place stays taken. */
void sw_take(struct sw_reader *r, struct sw_packet *p);

/* Gives the unit all places that were consumed. */
void sw_free(const struct sw_reader *r);

/* Of a message from this node: four bytes of the software's own. */
void sw_set_own(struct mu_descriptor *d, uint32_t value);
uint32_t sw_own(const struct mu_header *h);

/* Until a register is at least value; looks every picosecond. */
void sw_wait_register(enum mu_register kind, uint32_t number, uint64_t value);

/* Whether an interrupt is pending in a group. */
bool sw_is_pending(enum mu_group group, enum mu_interrupt what);

#endif
