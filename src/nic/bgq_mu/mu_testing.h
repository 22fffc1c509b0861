/*
 * For tests of the message unit: what software does with it, byte by byte
 * and register by register, without an interface that helps it.
 *
 * All but sw_run() is for programs.  Stores take the time they take; loads
 * take none, and see what is at the unit now.
 */
#ifndef NIC_BGQ_MU_MU_TESTING_H
#define NIC_BGQ_MU_MU_TESTING_H

#include "host/bytes_testing.h"
#include "host/l2.h"
#include "host/program.h"
#include "nic/bgq_mu/bgq_mu.h"
#include "nic/nic_testing.h"

/* Where things are on every node, unless a test says otherwise. */
enum {
	SW_COUNTER = 0x2000,
	SW_FIFOS = 0x10000, /* injection FIFO i is at SW_FIFOS + i * room */
	SW_FIFO_BYTES = 1024,
	SW_SOURCE = 0x1000000,
	SW_TARGET = 0x2000000,
	SW_REC = 0x4000000, /* reception FIFO i, the same */
	SW_REC_BYTES = 0x10000,
	SW_BASE_TARGET = 3,
	SW_BASE_COUNTER = 511,
	SW_SYSTEM_TARGET = 515, /* the same places, for system packets */
	SW_SYSTEM_COUNTER = 543,
};

/* --- registers --- */

/* As a user and as the system; a register and its number. */
void sw_store(enum mu_register kind, uint32_t number, uint64_t value);
void sw_store_system(enum mu_register kind, uint32_t number, uint64_t value);
uint64_t sw_load(enum mu_register kind, uint32_t number);
/* A counter of the unit: sw_upc(MU_UPC_REQUESTS, 2). */
uint64_t sw_upc(enum mu_event event, uint32_t unit);
/* The same, of all master ports. */
uint64_t sw_upc_ports(enum mu_event event);

/* --- setting up --- */

/* An injection FIFO, as its user sees it. */
struct sw_fifo {
	uint32_t id;
	uint64_t at, bytes;
	uint64_t n; /* descriptors injected */
};

/* Opens an injection FIFO at its usual place; attributes of enum
 * mu_attribute. */
struct sw_fifo sw_open(uint32_t id, uint64_t attributes);
struct sw_fifo sw_open_at(
	uint32_t id, uint64_t attributes, uint64_t at, uint64_t bytes);

/* A reception FIFO at its usual place; returns where. */
uint64_t sw_open_rec(uint32_t id, uint64_t bytes);

/* The base addresses, user's and system's, and what the counter is to count
 * down from. */
void sw_open_bases(uint64_t count);

/* --- descriptors --- */

/*
 * To a node of the program's machine, dynamically routed over any link (or
 * by the local FIFOs to itself), from SW_SOURCE.  put: to SW_TARGET, counted
 * at SW_COUNTER.  fifo: into a reception FIFO.  get: length bytes of
 * descriptors for an injection FIFO.
 */
struct mu_descriptor sw_put(site_id dst, uint64_t length);
struct mu_descriptor sw_fifo_message(
	site_id dst, uint32_t rec, uint64_t length);
struct mu_descriptor sw_get(site_id dst, uint32_t inj, uint64_t length);

void sw_set_destination(struct mu_descriptor *d, site_id dst);
/* The channel; the dynamic bit follows it. */
void sw_set_channel(struct mu_descriptor *d, enum mu_channel channel);
/* By the system's channel, FIFO and base addresses. */
void sw_make_system(struct mu_descriptor *d);

/* Ways to spoil a user's put to another node, of an odd number of bytes, on a
 * torus of two to four dimensions of which the first has at most four nodes;
 * and what the unit says of it. */
struct sw_bad {
	enum mu_interrupt why;
	/* what becomes of some bytes of the descriptor, as a number; a
	 * paced get has no payload besides */
	uint32_t at, bytes;
	uint64_t and, or ;
};

void sw_spoil(struct mu_descriptor *d, const struct sw_bad *b);

enum { SW_BADS = 21 };

extern const struct sw_bad sw_bads[SW_BADS];

/* Writes a descriptor at the tail; the second also advances the tail. */
void sw_write(struct sw_fifo *f, const struct mu_descriptor *d);
void sw_inject(struct sw_fifo *f, const struct mu_descriptor *d);
/* Advances the tail past all that was written. */
void sw_advance(const struct sw_fifo *f);

/* --- memory --- */

/* host/bytes_testing.h, by the names that these tests have. */
#define sw_byte	      bytes_at
#define sw_fill	      bytes_fill
#define sw_expect     bytes_expect
#define sw_expect_all bytes_expect_all

/* --- waiting: looks every picosecond --- */

void sw_wait_counter(uint64_t at);
/* Until an injection FIFO has sent so many descriptors; and all of its. */
void sw_wait_count(uint32_t inj, uint64_t count);
void sw_wait_sent(const struct sw_fifo *f);

/* Of a node's cache. */
struct l2_counts sw_l2_counts(struct host *h, site_id node);

/* --- a whole run --- */

struct sw_program {
	site_id node;
	void (*run)(void *arg);
	void *arg;
};

/* Starts the programs at time 0, on threads of their own, runs and audits;
 * the machine is set up and the caller ends it. */
void sw_run(struct nic_testing *m, uint32_t n_workers,
	const struct sw_program *programs, uint32_t n);
/* The same on a machine of that shape which is gone afterwards; returns the
 * digest of what was delivered. */
uint64_t sw_run_on(const char *shape, uint32_t n_workers,
	const struct sw_program *programs, uint32_t n);

/* --- a reception FIFO as software reads it --- */

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

/* --- tests --- */

/* Programs that several tests have: open bases for a uint64_t of bytes, and
 * wait for them; open bases for nothing that is counted. */
void sw_open_and_wait(void *arg);
void sw_open_only(void *arg);

/* A test: programs of node 0 and of another, or of node 0 alone. */
#define SW_PAIR(name_, shape_, program_, node_, other_)                        \
	static void name_(void **state)                                        \
	{                                                                      \
		const struct sw_program p[] = { { 0, program_, NULL },         \
			{ node_, other_, NULL } };                             \
                                                                               \
		(void)state;                                                   \
		sw_run_on(shape_, 1, p, 2);                                    \
	}

#define SW_ALONE(name_, shape_, program_)                                      \
	static void name_(void **state)                                        \
	{                                                                      \
		const struct sw_program p = { 0, program_, NULL };             \
                                                                               \
		(void)state;                                                   \
		sw_run_on(shape_, 1, &p, 1);                                   \
	}

#endif
