/*
 * Blue Gene/Q's message unit, bit by bit (BGQ-F132): the numbers of its
 * resources, the bits of its masks, and the 64 bytes of a descriptor, whose
 * second half is the header of its packets (BGQ-G9 to G12).  It is the layer
 * below weft/spi.h, whose functions build all of this from named fields.
 *
 * Descriptors and headers are the bytes that the hardware reads and that
 * cross the network: big-endian, whatever the host is.
 *
 *	 0  flags: bit 0 of byte 3 prefetch only, bit 0 of byte 7 interrupt
 *	 8  physical address of the payload
 *	16  length of the message, bytes
 *	24  torus FIFO map
 *	32  header: the network's part
 *	      0 0x55         1 hints A to D    2 hints E, toIO, dynamic, ...
 *	      3 channel, zone, stay on bubble  4 destination, 6 bits each
 *	      8 packet type, chunks            9 for hardware
 *	32  header of a collective: the network's part
 *	      0 0x5a    1 op code: 4 bits, word's bytes: 2 to this power
 *	      2 class route: 4 bits, ...   3 channel: 3 bits, type: 2
 *	      4 destination of a reduction to one node   8 as above
 *	44  header: the unit's part, of a direct put
 *	     12 base of the payload: 10 bits, pacing: 1, put offset: 37
 *	     18 base of the counter: the lower 10 bits of 16
 *	     20 bytes in this packet          24 offset of the counter
 *	    of a memory FIFO packet
 *	     12 reception FIFO: 9 bits, put offset: the lower 37 of 48
 *	     18 for software, 14 bytes
 *	    of a remote get
 *	     12 injection FIFO: 10 bits of 48
 */
#ifndef WEFT_HWI_H
#define WEFT_HWI_H

#include <stdbool.h>
#include <stdint.h>

/* --- resources --- */

/*
 * FIFOs and base addresses come in sub-groups.  A global number is the number
 * of the sub-group times its size, plus the number in the sub-group (BGQ-F87,
 * BGQ-G17).  The last group of four sub-groups belongs to the system.
 */
enum {
	MU_SUBGROUPS = 68,
	MU_SYSTEM_SUBGROUP = 64, /* and above */
	MU_GI_SYSTEM = 14, /* and above: classes of barriers for the system */
	MU_PER_SUBGROUP = 8, /* injection FIFOs, base addresses */
	MU_REC_PER_SUBGROUP = 4,
	MU_PER_GROUP = 32, /* injection FIFOs of four sub-groups */
	MU_INJ_FIFOS = MU_SUBGROUPS * MU_PER_SUBGROUP,
	MU_REC_FIFOS = MU_SUBGROUPS * MU_REC_PER_SUBGROUP,
	MU_BASES = MU_SUBGROUPS * MU_PER_SUBGROUP,
	MU_RANGES = 8, /* range registers */
	MU_GROUPS = 3, /* of interrupts */
};

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

/* Interrupts of the unit.  Those below MU_ERRORS report operations that it
 * refused. */
enum mu_interrupt {
	MU_ERROR_RANGE, /* an address that no range allows */
	MU_ERROR_PERMISSION, /* a user accessed a resource of the system */
	MU_ERROR_DESCRIPTOR, /* an invalid field */
	MU_ERROR_OVERRUN, /* a tail or a head that passes the other */
	MU_ERROR_REGISTER, /* an invalid register or value */
	MU_ERROR_FIFO, /* a packet for a FIFO that is not enabled */
	MU_ERROR_BASE, /* a packet for a base address that was never set */
	MU_ERROR_COUNTER, /* a counter address without a word for an atomic */
	MU_ERROR_PACKET, /* an invalid packet */
	MU_ERROR_MEMORY, /* two bad bits: the engine has stopped */
	/* contributions that do not match, or a packet on a class route that is
	 * not set for it: the route has stopped here */
	MU_ERROR_COLLECTIVE,
	MU_ERRORS,
	MU_INT_CORRECTED = MU_ERRORS, /* one bad bit, corrected */
	MU_INT_INJ_THRESHOLD,
	MU_INT_REC_THRESHOLD,
	MU_INT_ARRIVAL,
	MU_INT_REC_FULL, /* an engine holds a packet for a full FIFO */
	MU_INT_GET_FULL, /* the same for an injection FIFO */
	MU_INT_EXCEPTION, /* a NaN or an overflow in a reduction */
	MU_INT_BARRIER, /* a global interrupt */
	MU_INTERRUPTS,
};

/* Software assigns interrupts to groups. */
enum mu_group { MU_CRITICAL, MU_NON_CRITICAL, MU_MACHINE_CHECK };

/* Events that the performance counters count. */
enum mu_event {
	MU_UPC_PACKETS_IN, /* of an engine: injected */
	MU_UPC_MESSAGES_IN,
	MU_UPC_PACKETS_OUT, /* of an engine: received */
	MU_UPC_MESSAGES_OUT,
	MU_UPC_REJECTED, /* discarded packets */
	MU_UPC_REQUESTS, /* of a master port */
	MU_UPC_OUTSTANDING, /* of a master port: integral over time, ps */
	MU_UPC_BYPASSED, /* of a master port: requests past its FIFO */
	MU_UPC_SLAVE_READS,
	MU_UPC_SLAVE_WRITES,
	MU_UPC_SENT, /* of a counter of a sender: bytes */
	MU_UPC_EVENTS,
};

/*
 * Each sender of the torus, A+, A-, B+, ...  E-, has four counters.  Each
 * counts the bytes of a set of channels, a bit per enum mu_channel (BGQ-F71).
 * Counter c of sender s is number s * MU_SENDER_COUNTERS + c.
 */
enum { MU_SENDERS = 10, MU_SENDER_COUNTERS = 4 };

/* A torus FIFO map: the network injection FIFOs that may carry a message. */
enum mu_map {
	MU_MAP_A_MINUS = 0x8000, /* then A+, B-, ... E+, a bit each */
	MU_MAP_TORUS = 0xffc0, /* all ten */
	MU_MAP_LOCAL = 0x0030, /* both */
	MU_MAP_HIGH = 0x0008,
	MU_MAP_SYSTEM = 0x0004,
	MU_MAP_USER_COLLECTIVE = 0x0002,
	MU_MAP_SYSTEM_COLLECTIVE = 0x0001,
	MU_MAP_COLLECTIVE = 0x0003, /* both */
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

/* The same for the address of a payload: each word is sent as the result of the
 * load.  The bound is the word after an incremented word, and the word before a
 * decremented one. */
enum mu_atomic_load {
	MU_ATOMIC_LOAD = 0,
	MU_ATOMIC_LOAD_CLEAR = 1,
	MU_ATOMIC_LOAD_INCREMENT = 2,
	MU_ATOMIC_LOAD_DECREMENT = 3,
	MU_ATOMIC_LOAD_INCREMENT_BOUNDED = 4,
	MU_ATOMIC_LOAD_DECREMENT_BOUNDED = 5,
};

/* --- bytes --- */

enum {
	MU_DESCRIPTOR_BYTES = 64,
	MU_HEADER_BYTES = 32,
	MU_CHUNK = 32,
	MU_PAYLOAD = 512, /* per packet, at most */
	MU_SOFTWARE_AT = 18, /* of a memory FIFO packet's header */
	MU_DIMS = 5,
	MU_COORD_BITS = 6,
};

enum { MU_PT2PT = 0x55, MU_COLLECTIVE = 0x5a };
enum mu_packet_type { MU_FIFO, MU_PUT, MU_GET, MU_PACED_GET };
enum mu_channel {
	MU_DYNAMIC,
	MU_DETERMINISTIC,
	MU_HIGH,
	MU_SYSTEM,
	/* of collectives */
	MU_COMM_WORLD,
	MU_SUB_COMM,
	MU_SYSTEM_COLLECTIVE,
};

/* The result of a collective. */
enum mu_collective {
	MU_BROADCAST, /* one member's data, at all members */
	MU_REDUCE, /* combined data, at one member */
	MU_ALLREDUCE, /* combined data, at all members */
};

/* The upper two bits are the type: bits, unsigned, signed, floating point. */
enum mu_op_code {
	MU_OP_AND = 0x0,
	MU_OP_OR = 0x1,
	MU_OP_XOR = 0x2,
	MU_OP_UNSIGNED_ADD = 0x4,
	MU_OP_UNSIGNED_MIN = 0x5,
	MU_OP_UNSIGNED_MAX = 0x6,
	MU_OP_SIGNED_ADD = 0x8,
	MU_OP_SIGNED_MIN = 0x9,
	MU_OP_SIGNED_MAX = 0xa,
	MU_OP_FLOAT_ADD = 0xc,
	MU_OP_FLOAT_MIN = 0xd,
	MU_OP_FLOAT_MAX = 0xe,
};

struct mu_header {
	uint8_t byte[MU_HEADER_BYTES];
};

struct mu_descriptor {
	uint8_t byte[MU_HEADER_BYTES];
	struct mu_header header;
};

/* Eight bytes, most significant first, in any host order; compilers make one or
 * two instructions of these. */
static inline uint64_t mu_get8(const uint8_t *at)
{
	uint64_t v;

	__builtin_memcpy(&v, at, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline void mu_set8(uint8_t *at, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	__builtin_memcpy(at, &v, 8);
}

/* A big-endian number of n bytes. */
static inline uint64_t mu_get(const uint8_t *at, unsigned n)
{
	uint64_t v = 0;

	if (n == 8)
		return mu_get8(at);
	if (n == 4)
		return (uint64_t)at[0] << 24 | (uint64_t)at[1] << 16 |
		       (uint64_t)at[2] << 8 | at[3];
	while (n--)
		v = v << 8 | *at++;
	return v;
}

static inline void mu_set(uint8_t *at, unsigned n, uint64_t v)
{
	if (n == 8) {
		mu_set8(at, v);
		return;
	}
	for (; n; v >>= 8)
		at[--n] = (uint8_t)v;
}

/* --- the descriptor --- */

static inline bool mu_is_prefetch(const struct mu_descriptor *d)
{
	return d->byte[3] & 1;
}

/* Interrupts the receiving node after the last packet. */
static inline bool mu_interrupts(const struct mu_descriptor *d)
{
	return d->byte[7] & 1;
}

static inline void mu_set_interrupts(struct mu_descriptor *d, bool is_wanted)
{
	mu_set(d->byte + 4, 4, is_wanted);
}

static inline uint64_t mu_payload(const struct mu_descriptor *d)
{
	return mu_get(d->byte + 8, 8);
}

static inline uint64_t mu_length(const struct mu_descriptor *d)
{
	return mu_get(d->byte + 16, 8);
}

static inline uint64_t mu_fifo_map(const struct mu_descriptor *d)
{
	return mu_get(d->byte + 24, 8);
}

static inline void mu_set_prefetch(struct mu_descriptor *d, bool is_only)
{
	mu_set(d->byte, 4, is_only);
}

static inline void mu_set_payload(
	struct mu_descriptor *d, uint64_t address, uint64_t length)
{
	mu_set(d->byte + 8, 8, address);
	mu_set(d->byte + 16, 8, length);
}

static inline void mu_set_fifo_map(struct mu_descriptor *d, uint64_t map)
{
	mu_set(d->byte + 24, 8, map);
}

/* --- the network's part of the header --- */

/* Two bits per dimension, from A- and A+ at the top down to E- and E+. */
static inline unsigned mu_hints(const struct mu_header *h)
{
	return (unsigned)h->byte[1] << 2 | h->byte[2] >> 6;
}

static inline bool mu_is_for_io(const struct mu_header *h)
{
	return h->byte[2] & 0x38;
}

/* The packet continues to the IO node of its destination. */
static inline bool mu_is_to_io(const struct mu_header *h)
{
	return h->byte[2] & 0x20;
}

/* The link by which the packet leaves an IO node. */
static inline unsigned mu_io_link(const struct mu_header *h)
{
	return h->byte[2] >> 3 & 3;
}

static inline bool mu_is_dynamic(const struct mu_header *h)
{
	return h->byte[2] & 0x04;
}

static inline bool mu_is_deposit(const struct mu_header *h)
{
	return h->byte[2] & 0x02;
}

/* The last packet of a message that interrupts. */
static inline bool mu_is_interrupt(const struct mu_header *h)
{
	return h->byte[2] & 0x01;
}

static inline unsigned mu_channel(const struct mu_header *h)
{
	return h->byte[3] >> 5;
}

static inline unsigned mu_zone(const struct mu_header *h)
{
	return h->byte[3] >> 3 & 3;
}

static inline bool mu_stays_on_bubble(const struct mu_header *h)
{
	return h->byte[3] & 0x04;
}

/* A 0, ... E 4. */
static inline unsigned mu_coord(const struct mu_header *h, unsigned dim)
{
	unsigned shift = (MU_DIMS - 1 - dim) * MU_COORD_BITS;

	return (unsigned)(mu_get(h->byte + 4, 4) >> shift) & 63;
}

static inline enum mu_packet_type mu_packet_type(const struct mu_header *h)
{
	return (enum mu_packet_type)(h->byte[8] >> 6);
}

static inline unsigned mu_chunks(const struct mu_header *h)
{
	return h->byte[8] & 0x1f;
}

static inline void mu_set_packet(
	struct mu_header *h, enum mu_packet_type type, unsigned chunks)
{
	h->byte[8] = (uint8_t)((unsigned)type << 6 | chunks);
}

/* --- the network's part, of a collective --- */

static inline bool mu_is_collective(const struct mu_header *h)
{
	return h->byte[0] == MU_COLLECTIVE;
}

static inline unsigned mu_op_code(const struct mu_header *h)
{
	return h->byte[1] >> 4;
}

/* Bytes. */
static inline unsigned mu_word(const struct mu_header *h)
{
	return 1u << (h->byte[1] & 0xf);
}

static inline unsigned mu_class_route(const struct mu_header *h)
{
	return h->byte[2] >> 4;
}

static inline unsigned mu_collective_type(const struct mu_header *h)
{
	return h->byte[3] & 3;
}

/* --- the unit's part, of a direct put --- */

#define MU_OFFSET_MASK ((UINT64_C(1) << 37) - 1)

static inline unsigned mu_put_base(const struct mu_header *h)
{
	return (unsigned)mu_get(h->byte + 12, 2) >> 6;
}

static inline uint64_t mu_put_offset(const struct mu_header *h)
{
	return mu_get(h->byte + 10, 8) & MU_OFFSET_MASK;
}

static inline unsigned mu_counter_base(const struct mu_header *h)
{
	return (unsigned)mu_get(h->byte + 18, 2) & 0x3ff;
}

static inline unsigned mu_valid_bytes(const struct mu_header *h)
{
	return (unsigned)mu_get(h->byte + 20, 2);
}

static inline uint64_t mu_counter_offset(const struct mu_header *h)
{
	return mu_get(h->byte + 24, 8) & MU_OFFSET_MASK;
}

/* Keeps the pacing bit. */
static inline void mu_set_put(
	struct mu_header *h, unsigned base, uint64_t offset)
{
	uint64_t word = mu_get(h->byte + 10, 8);

	word &= UINT64_C(0xffff) << 48 | (MU_OFFSET_MASK + 1);
	mu_set(h->byte + 10, 8,
		word | (uint64_t)base << 38 | (offset & MU_OFFSET_MASK));
}

static inline void mu_set_counter(
	struct mu_header *h, unsigned base, uint64_t offset)
{
	mu_set(h->byte + 18, 2, base);
	mu_set(h->byte + 24, 8, offset & MU_OFFSET_MASK);
}

static inline void mu_set_valid_bytes(struct mu_header *h, unsigned bytes)
{
	mu_set(h->byte + 20, 2, bytes);
}

/* --- of a memory FIFO packet, and of a remote get --- */

static inline unsigned mu_rec_fifo(const struct mu_header *h)
{
	return (unsigned)mu_get(h->byte + 12, 2) >> 7;
}

/* Bytes that software wrote into the descriptor; the same in every packet. */
static inline uint8_t *mu_software_bytes(struct mu_header *h)
{
	return h->byte + MU_SOFTWARE_AT;
}

static inline unsigned mu_get_fifo(const struct mu_header *h)
{
	return (unsigned)mu_get(h->byte + 12, 2) >> 6;
}

static inline void mu_set_rec_fifo(
	struct mu_header *h, unsigned fifo, uint64_t offset)
{
	uint64_t word = mu_get(h->byte + 10, 8) & UINT64_C(0xffff) << 48;

	mu_set(h->byte + 10, 8,
		word | (uint64_t)fifo << 39 | (offset & MU_OFFSET_MASK));
}

static inline void mu_set_get_fifo(struct mu_header *h, unsigned fifo)
{
	mu_set(h->byte + 12, 6, (uint64_t)fifo << 38);
}

#endif
