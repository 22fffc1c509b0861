/*
 * A descriptor's 64 bytes, and the packet header that is its second half
 * (BGQ-G9 to G12).  These are the bytes that the hardware reads and that
 * cross the network: big-endian, whatever the host is.
 *
 *	 0  flags: bit 0 of byte 3 prefetch only, bit 0 of byte 7 interrupt
 *	 8  physical address of the payload
 *	16  length of the message, bytes
 *	24  torus FIFO map
 *	32  header: the network's part
 *	      0 0x55         1 hints A to D    2 hints E, toIO, dynamic, ...
 *	      3 channel, zone, stay on bubble  4 destination, 6 bits each
 *	      8 packet type, chunks            9 the hardware's
 *	44  header: the unit's part, of a direct put
 *	     12 base of the payload: 10 bits, pacing: 1, put offset: 37
 *	     18 base of the counter: the lower 10 bits of 16
 *	     20 bytes in this packet          24 offset of the counter
 *	    of a memory FIFO packet
 *	     12 reception FIFO: 9 bits, put offset: the lower 37 of 48
 *	     18 software's own, 14 bytes
 *	    of a remote get
 *	     12 injection FIFO: 10 bits of 48
 */
#ifndef NIC_BGQ_MU_DESCRIPTOR_H
#define NIC_BGQ_MU_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MU_DESCRIPTOR_BYTES = 64,
	MU_HEADER_BYTES = 32,
	MU_CHUNK = 32,
	MU_PAYLOAD = 512, /* the most in a packet */
	MU_DIMS = 5,
	MU_COORD_BITS = 6,
};

enum { MU_PT2PT = 0x55 };
enum mu_packet_type { MU_FIFO, MU_PUT, MU_GET, MU_PACED_GET };
enum mu_channel { MU_DYNAMIC, MU_DETERMINISTIC, MU_HIGH, MU_SYSTEM };

struct mu_header {
	uint8_t byte[MU_HEADER_BYTES];
};

struct mu_descriptor {
	uint8_t byte[MU_HEADER_BYTES];
	struct mu_header header;
};

_Static_assert(sizeof(struct mu_descriptor) == MU_DESCRIPTOR_BYTES, "packed");

/* A big-endian number of n bytes. */
static inline uint64_t mu_get(const uint8_t *at, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *at++;
	return v;
}

static inline void mu_set(uint8_t *at, unsigned n, uint64_t v)
{
	for (; n; v >>= 8)
		at[--n] = (uint8_t)v;
}

/* --- the descriptor --- */

static inline bool mu_is_prefetch(const struct mu_descriptor *d)
{
	return d->byte[3] & 1;
}

/* Tells the receiving node's software after the last packet. */
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

/* Two bits a dimension, from A- and A+ at the top down to E- and E+. */
static inline unsigned mu_hints(const struct mu_header *h)
{
	return (unsigned)h->byte[1] << 2 | h->byte[2] >> 6;
}

static inline bool mu_is_for_io(const struct mu_header *h)
{
	return h->byte[2] & 0x38;
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

/* --- the unit's part, of a direct put --- */

#define MU_OFFSET_MASK ((UINT64_C(1) << 37) - 1)

static inline unsigned mu_put_base(const struct mu_header *h)
{
	return (unsigned)mu_get(h->byte + 12, 2) >> 6;
}

static inline uint64_t mu_put_offset(const struct mu_header *h)
{
	return mu_get(h->byte + 12, 6) & MU_OFFSET_MASK;
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
	uint64_t pacing = mu_get(h->byte + 12, 6) & (MU_OFFSET_MASK + 1);

	mu_set(h->byte + 12, 6,
		(uint64_t)base << 38 | pacing | (offset & MU_OFFSET_MASK));
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

static inline unsigned mu_get_fifo(const struct mu_header *h)
{
	return (unsigned)mu_get(h->byte + 12, 2) >> 6;
}

static inline void mu_set_rec_fifo(
	struct mu_header *h, unsigned fifo, uint64_t offset)
{
	mu_set(h->byte + 12, 6,
		(uint64_t)fifo << 39 | (offset & MU_OFFSET_MASK));
}

static inline void mu_set_get_fifo(struct mu_header *h, unsigned fifo)
{
	mu_set(h->byte + 12, 6, (uint64_t)fifo << 38);
}

#endif
