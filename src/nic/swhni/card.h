/*
 * Shared by the card's files, in the order of a message's way:
 *
 *	broker.c     who has which virtual interfaces; virtual machines, jobs
 *	interface.c  virtual interfaces, their queues
 *	address.c    handles, the TLB
 *	engine.c     takes descriptors, issues messages, says whose turn it is
 *	send.c       reads bytes and cuts packets
 *	fsm.c        fast short messages
 *	port.c       which port a packet takes, and when
 *	receive.c    places packets and counts them
 *	complete.c   events, notices, reply words, messages into queues
 *	read.c       reads: the target writes (R2W)
 *	manage.c     management messages
 *	transport.c  acknowledgements, probes, retransmission
 */
#ifndef NIC_SWHNI_CARD_H
#define NIC_SWHNI_CARD_H

#include "base/index.h"
#include "base/ring.h"
#include "base/slots.h"
#include "nic/swhni/swhni.h"
#include "nic/util/flips.h"
#include "nic/util/seen.h"
#include "nic/util/tlb.h"

enum {
	SW_PORTS = 4, /* at most */
	SW_FIFOS = 64,
	SW_LINED = 2, /* packets of a port that are cut and have not left */
	SW_UNCUT = 4, /* messages of an interface that are read ahead */
	SW_ENTRY = sizeof(struct swhni_descriptor),
	SW_COLLECTIVE_EVENTS = 8,
	SW_MISSING = 256, /* bytes of bits in an answer to a probe */
	SW_FEW = 32, /* bytes of a packet with a small buffer */
};

/* Events of an engine; those of engine 1 are SW_EVENTS further on. */
enum sw_event {
	SW_QUEUES = ENGINE_CLIENT,
	SW_READS = SW_QUEUES + WORKQS_EVENTS,
	SW_RESEND = SW_READS + SIDE_READS_EVENTS,
	SW_ISSUED = SW_RESEND + RESEND_EVENTS, /* a message */
	SW_SHORT, /* a fast short message is in the window */
	SW_IN, /* a packet is */
	SW_WRITTEN, /* its bytes are in memory */
	SW_CANCEL, /* a store that cancels is here */
	SW_CHECKED, /* a virtual machine's message may begin */
	SW_CRASH, /* of a virtual machine */
	SW_COLLECTIVE, /* for the collective unit */
	SW_EVENTS = SW_COLLECTIVE + SW_COLLECTIVE_EVENTS - ENGINE_CLIENT,
	/* and of the ports: a packet is ready to leave */
	SW_OUT = ENGINE_CLIENT + SWHNI_ENGINES * SW_EVENTS,
	/* of a management packet: it is at its port; it is in; it is in
	 * memory */
	SW_MANAGE_IN,
	SW_MANAGE_OUT, /* of an answer: later, even if nic.out takes no time */
	SW_MANAGE_SEEN,
	SW_ALL_EVENTS,
};

/* Lines of packets, each with a FIFO of the network for each port. */
enum sw_line_class { SW_DATA, SW_ANSWERS, SW_SYSTEM, SW_LINES };

enum sw_packet_type {
	SW_PUT, /* of a write, into memory or the chip's */
	SW_MESSAGE, /* into a receive queue */
	SW_DATAGRAM,
	SW_ASK, /* for bytes */
	SW_BYTES, /* that were asked for */
	SW_ACK, /* of a message, or its refusal: status */
	SW_PROBE, /* what of a message is there? */
	SW_STATE, /* the answer: bits of packets that are missing */
	SW_GATHER, /* types from here on are the collective unit's */
	SW_GATHERED, /* its answer */
	SW_RESULT,
	SW_WALK, /* up a tree: whether it comes back */
	SW_TYPES,
};

/* Status of an answer, in addition to enum swhni_error. */
enum {
	SW_FULL = SWHNI_FULL, /* no place now: it comes again */
	SW_PARTS = SWHNI_ERRORS, /* of a state: some packets are there */
	SW_UNKNOWN, /* none is */
	SW_QUEUED, /* of a read: the answer is not all sent yet */
	SW_STATUSES,
};

/* What a packet's CRC covers beside its bytes. */
struct sw_header {
	/* of its own bytes, where they go; of a state: since when none came */
	uint64_t offset;
	uint64_t word[2]; /* the descriptor's */
	uint32_t message, generation; /* of the sender, or the asking side */
	uint32_t number, n_packets; /* it is; of the message */
	uint32_t total; /* bytes of the message; of a state: packets there */
	uint32_t bytes; /* of data; or wanted */
	uint32_t key, job;
	uint16_t interface, own_interface; /* of target; of sender */
	uint8_t type, flags;
	uint8_t engine, own_engine;
	uint8_t status;
	uint8_t is_short; /* a fast short message's */
	uint8_t port; /* of the sender */
	uint8_t is_again; /* it is not the first try */
};

/* Behind a packet's load. */
struct sw_load {
	struct sw_header h;
	struct flips flips;
	struct memory_name name;
	sim_time ready; /* at its port; at the target: in memory */
	uint64_t at; /* where its bytes go, once known */
	uint32_t slot; /* the number of its message in the receive queue, */
	uint32_t life; /* ... and that queue's */
	uint32_t handles_life;

	/* 0 in a new packet: their handle, as long as handles are those of that
	 * life, or NULL */
	const struct swhni_handle *handle;
	uint64_t reply; /* the address of its reply word, or 0 */
	uint32_t end; /* a completion that is in memory with it, or 0 */
	/* Of the sender: the message that it counts for, or 0; whether it has a
	 * path of its own, and may take no other port. */
	uint32_t own;
	bool is_fast, is_bound;
	bool is_named; /* data has only a name */
	bool is_local;
	bool is_last; /* completes its message */
	uint8_t data[];
};

/* Why a message is in the card. */
enum sw_role {
	SW_OWN, /* a descriptor's */
	SW_OWN_SHORT, /* a fast short message */
	SW_ANSWER, /* another node has asked for its bytes */
	SW_UNIT, /* the collective unit's */
};

enum { SW_CLASSES = 3 }; /* fast, short, others */

/* Its time so far, for a book of time budgets. */
struct sw_account {
	struct book_message message;
	struct workq_birth birth;
	struct book_held *held; /* of an answer: the request's; or NULL */
	sim_time taken, issued, read; /* read: its last packet's bytes */
	sim_time checked; /* of a virtual machine's */
};

/* A message under way, of the engine that sends it. */
struct sw_message {
	struct resend_item item;
	struct swhni_descriptor d;
	uint32_t interface; /* number; of an answer: none */
	uint32_t queue; /* of an own one; SW_NO_QUEUE: it is gone */
	uint32_t generation;
	uint32_t job;
	uint32_t peer, peer_generation; /* of an answer: the asking message */
	uint32_t n_packets;
	/* Packets of this try: all; their bytes asked for, and here; cut; those
	 * that left.  The numbers of the next to be asked for, and cut. */
	uint32_t todo, asked, here, cut, left;
	uint32_t next_asked, next_cut;
	/* Packets of a read that came, also at the last look; of others:
	 * those that had come at the last probe. */
	uint32_t came, seen;
	uint64_t *map; /* packets to be sent; of a read: that came; or NULL */
	/* Of its bytes here, as long as handles are those of this life. */
	const struct swhni_handle *handle;
	uint32_t handles_life;
	uint32_t window; /* of a fast short message: its bytes */
	uint8_t role, class, peer_engine;
	bool is_issued;
	bool is_short; /* it has a path of its own */
	uint8_t ports, first_ports; /* bits of those used: by this try, and by
				     * the first if that was late */
	bool is_lined; /* in its queue's list */
	bool is_translating; /* its next packet's address */
	bool is_kept; /* a program may let it go on */
	bool is_refused; /* it is to be sent anew */
	bool is_checking; /* whether its virtual machine may send it */
	bool is_told; /* its completion is on its way */
	bool is_over; /* and freed when nothing of it is under way */
	bool is_dead; /* its job has left */
	struct sw_account account;
};

enum {
	SW_NO_QUEUE = WORKQS,
	SW_CANCELLED = 0xff, /* type of a descriptor, with no node */
};

/* The bytes of a fast short message in the window. */
struct sw_short {
	struct slot slot;
	struct swhni_descriptor d;
	uint32_t interface, job;
	uint32_t life; /* of the interface */
	struct workq_birth birth;
	uint8_t data[SWHNI_SHORT];
};

/* A message that has come in part; by sender, engine and message. */
struct sw_entry {
	struct slot slot;
	uint64_t key;
	uint32_t generation;
	uint32_t n, n_packets;
	sim_time at; /* of its last packet */
	uint64_t *map; /* packets that came */
	struct sw_header head; /* of any of them; its completion's */
	uint32_t src;
	bool is_whole; /* but its notice had no place */
};

typedef void sw_translated(
	const struct nic_at *a, uint32_t engine, uint32_t id);

/* Translations of pages that are being read. */
struct sw_walk {
	struct slot slot;
	uint32_t key, n;
	uint64_t page; /* the first */
	sw_translated *done; /* NULL: nobody waits */
	uint32_t id;
};

struct sw_receive {
	uint64_t at;
	uint32_t slots; /* 0: there is none */
	uint32_t number, taken; /* messages, ever */
	uint32_t life; /* differs from those of all others before */
};

/* Messages that are not cut, of a queue, or of those that others asked for. */
struct sw_turns {
	struct slot_list uncut[SW_CLASSES];
	uint32_t n_uncut;
	uint32_t ahead; /* packets that were asked for and are not cut */
	uint8_t in_run; /* bits of classes */
};

/* A program's wish that a descriptor is not executed; or that its message,
 * which is kept, goes on. */
struct sw_cancel {
	uint64_t id;
	uint32_t queue, until; /* descriptors written before it */
	bool is_heard, goes_on;
};

struct sw_interface {
	struct swhni_setup setup;
	struct sw_receive receive;
	uint32_t queue; /* of its engine; SW_NO_QUEUE: none */
	uint32_t n_short; /* in the window */
	uint32_t lost; /* messages, since the last report */
	struct workq_rings rings;
	uint8_t *chip; /* its page, or NULL: zeros */
	uint32_t life; /* a new one with each owner, and each reset */
	bool is_open;
};

/* A queue of descriptors. */
struct sw_queue {
	struct workq q;
	uint32_t interface;
	struct sw_turns turns;
	bool is_waiting; /* in the engine's ring: it has entries */
};

struct sw_engine {
	struct side_reads reads;
	struct workqs queues; /* struct sw_queue */
	struct resend messages; /* struct sw_message */
	struct tlb tlb;
	struct seen seen;
	struct slots entries, shorts; /* struct sw_entry, struct sw_short */
	struct slots walks; /* struct sw_walk */
	struct index by_key; /* of entries */
	uint32_t last_entry; /* that a packet has had, or 0 */
	struct ring fetched; /* queues with entries, in turn */
	struct ring run[SW_CLASSES]; /* queues with uncut messages, in turn */
	struct ring asks; /* packets that ask, without a place */
	struct ring waiting; /* ids of shorts without a place */
	struct ring cancels; /* struct sw_cancel */
	struct sw_turns answers; /* uncut messages that others have asked for */
	uint32_t n_messages; /* places taken */
	/* of these by answers: one never waits for a place, for two nodes may
	 * fill all their places with reads of each other */
	uint32_t n_answers;
	uint32_t n_cut; /* packets that have not left */
	sim_time left_at; /* the last one has */
	uint32_t issuing; /* a message, or 0 */
	sim_time issued_at; /* it will be; 0: not yet known */
	bool is_quiet; /* nothing waits for that: it has no event */
	uint32_t ahead; /* packets asked for or here, and not cut */
	sim_time written_at; /* all that it writes is in memory */
	uint32_t generation;
	uint8_t classes; /* bits of those with messages that are not cut */
	bool is_turning, is_again; /* further down the stack; once more */
};

struct sw_line {
	struct packet_list fast, list;
	uint32_t n; /* in both */
	sim_time out_at; /* of its event, or 0 */
	bool is_busy; /* its FIFO has a packet, of: */
	bool is_fast;
	uint8_t engine;
	uint32_t message; /* or 0 */
};

/* Ports by which a node was not reached lately, though they are up. */
struct sw_avoid {
	site_id dst;
	uint32_t ports; /* bits */
	sim_time until;
};

enum { SW_AVOIDS = 64 }; /* destinations share them */

struct sw_port {
	uint64_t packets;
};

/* Packets and messages of a job that found it gone. */
struct sw_drop {
	struct slot slot;
	uint32_t job;
	uint64_t n;
};

struct sw_broker {
	struct swhni_vm *vm; /* [0]: of the host itself; NULL: none yet */
	uint8_t vm_of[HOST_THREADS]; /* 1 + its own choice; 0: none made */
	uint32_t lives; /* of interfaces and queues, ever */
	struct slots drops;
	struct index by_job; /* of drops */
};

struct sw_node {
	struct ticks ticks;
	struct sw_engine engine[SWHNI_ENGINES];
	/* That were ever opened, and by their numbers: 1 + where they are.
	 * They move when another one is opened. */
	struct sw_interface *interface;
	uint32_t n_interfaces;
	uint8_t interface_at[SWHNI_INTERFACES];
	struct slots handles; /* struct sw_handle */
	struct index by_key;
	uint32_t handles_life; /* another one with each that comes or goes */
	struct sw_line line[SW_LINES][SW_PORTS];
	struct sw_port port[SW_PORTS];
	uint32_t down; /* ports, as bits */
	struct sw_avoid *avoids; /* NULL: no message was ever late */
	uint32_t turn; /* of ports that are alike */
	uint32_t number; /* of packets */
	uint32_t running; /* the event that runs: its number */
	uint32_t inside; /* packets in the card */
	struct sw_collectives *collectives; /* of the unit, or NULL */
	struct sw_manage *manage; /* or NULL */
	struct sw_broker broker;
	/* counters */
	uint64_t packets, delivered, messages, acks, shorts, asks, answers;
	uint64_t looped, crossed, managed;
	uint64_t kept; /* messages, after their last try */
	uint64_t resent, timeouts, probes, refused, doubles, lost;
	uint64_t torn, escapes, strays, overflows, abandoned;
	uint64_t hits, misses, prefetched;
	uint64_t collectives_posted, gathers, spreads;
	uint64_t strangers; /* packets of collectives that are not its own */
	uint64_t unready; /* results without a slot */
	uint64_t memory_reads; /* over PCIe: descriptors, bytes, pages */
	uint64_t error[SW_STATUSES];
};

struct sw_handle {
	struct slot slot;
	struct swhni_handle h;
};

/*
 * The collective unit, which is built beside the engines.  A descriptor of type
 * SWHNI_COLLECTIVE is its own from post() on, until sw_unit_done(); packets of
 * types from SW_GATHER on, and events from SW_COLLECTIVE on (number counts from
 * 0) are its own, too.
 */
struct sw_unit {
	void (*post)(const struct nic_at *a, uint32_t engine, uint32_t queue,
		const struct swhni_collective *c, const struct workq_birth *b);
	void (*on_packet)(
		const struct nic_at *a, uint32_t engine, packet_id id);
	void (*on_event)(const struct nic_at *a, uint32_t engine,
		uint32_t number, uint32_t data);
	/* A message of role SW_UNIT has ended. */
	void (*on_end)(const struct nic_at *a, uint32_t engine, uint32_t id,
		enum swhni_error status);
	/* An interface has another owner, or begins anew. */
	void (*leave)(const struct nic_at *a, uint32_t interface);
	void (*fini)(struct sw_node *n);
	uint64_t (*memory)(const struct sw_node *n);
	bool (*is_busy)(const struct sw_node *n);
	/* An event, counted from 0, is a timer that nothing waits for. */
	bool (*is_stale)(
		const struct sw_node *n, uint32_t number, uint32_t data);
};

extern const struct sw_unit sw_collective_unit;

struct swhni {
	struct nic nic;
	const struct sw_unit *unit;
	struct side *side;
	struct side_reads_how reads[SWHNI_ENGINES];
	struct workqs_how queues[SWHNI_ENGINES];
	struct resend_how resend[SWHNI_ENGINES], unit_resend;
	struct net_fifos fifos[SW_LINES];
	uint8_t line_of[SW_FIFOS]; /* 1 + class * SW_PORTS + port */
	uint32_t n_ports;
	uint32_t most; /* bytes of a packet */
};

/* --- where it is --- */

static inline struct swhni *sw_of(const struct nic_at *a)
{
	return (struct swhni *)a->nic;
}

static inline const struct swhni_params *sw_params(const struct nic_at *a)
{
	return a->nic->params;
}

static inline struct sw_node *sw_here(const struct nic_at *a)
{
	return a->node;
}

static inline struct sw_engine *sw_engine(const struct nic_at *a, uint32_t e)
{
	return &sw_here(a)->engine[e];
}

static inline struct sw_load *sw_load(const struct nic_at *a, packet_id id)
{
	return payload_of_load(a->nic->net->packets[id].load);
}

static inline struct sw_message *sw_message(
	const struct sw_engine *e, uint32_t id)
{
	return slots_at(&e->messages.items, id);
}

static inline struct sw_queue *sw_queue(
	const struct sw_engine *e, uint32_t queue)
{
	return (struct sw_queue *)e->queues.queue[queue];
}

/* NULL: it was never opened. */
static inline struct sw_interface *sw_any_interface(
	const struct sw_node *n, uint32_t interface)
{
	uint32_t at = n->interface_at[interface];

	return at ? &n->interface[at - 1] : NULL;
}

/* Which side an engine's PCIe interface is. */
static inline site_id sw_place(const struct nic_at *a, uint32_t engine)
{
	return side_reads_place(a, &sw_engine(a, engine)->reads);
}

/* Whether an engine has a PCIe interface to the memory of a process. */
static inline bool sw_engine_reaches(
	const struct nic_at *a, uint32_t engine, uint32_t process)
{
	return sw_params(a)->attach == SWHNI_ONE ||
	       process % SWHNI_ENGINES == engine;
}

/* An event is later than what posts it. */
static inline void sw_post(const struct nic_at *a, sim_time t, uint32_t engine,
	enum sw_event number, uint32_t data)
{
	ticks_post(a, &sw_here(a)->ticks, t > a->t ? t : a->t + 1,
		(uint32_t)number + engine * SW_EVENTS, data);
}

/* Whether bit i of a map is set; sets it. */
static inline bool sw_has(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> i % 64 & 1;
}

static inline void sw_set(uint64_t *map, uint32_t i)
{
	map[i / 64] |= UINT64_C(1) << i % 64;
}

static inline uint32_t sw_n_packets(const struct nic_at *a, uint64_t bytes)
{
	uint32_t most = sw_of(a)->most;

	return bytes ? (uint32_t)((bytes - 1) / most + 1) : 1;
}

/* Bytes of a message's i-th packet. */
static inline uint32_t sw_bytes_of(
	const struct nic_at *a, uint32_t total, uint32_t i)
{
	uint32_t most = sw_of(a)->most, left = total - i * most;

	return left < most ? left : most;
}

/* --- broker.c --- */

/* Whether a process may have an interface, which counts; it is back. */
int sw_broker_ask(const struct nic_at *a, const struct swhni_setup *s);
void sw_broker_grant(const struct nic_at *a, struct sw_interface *x);
void sw_broker_return(const struct nic_at *a, struct sw_interface *x);
/* Whether the owner of a message may use the bytes that it names as its own:
 * its job's, and in a virtual machine only that machine's.  Notes their
 * handle. */
enum swhni_error sw_broker_look_up(
	const struct nic_at *a, uint32_t engine, struct sw_message *m);
void sw_broker_on_crash(const struct nic_at *a, uint32_t event);
/* Crashes that a plan of faults has. */
int sw_broker_plan(struct nic *nic, struct err *e);
uint64_t sw_broker_memory(const struct sw_node *n);
void sw_broker_fini(struct sw_node *n);
/* Ends a queue, and all that is under way for an interface. */
void sw_end_interface(
	const struct nic_at *a, uint32_t interface, struct sw_interface *x);
/* Something of a job is dropped, since what it is for is not there. */
void sw_drop(const struct nic_at *a, uint32_t job);
/* Whether a job has anything on a node. */
bool sw_has_job(const struct sw_node *n, uint32_t job);

/* --- interface.c --- */

/* An open one, or NULL; one whose page a process may use, or NULL. */
static inline struct sw_interface *sw_interface(
	const struct sw_node *n, uint32_t interface)
{
	struct sw_interface *x = interface < SWHNI_INTERFACES
					 ? sw_any_interface(n, interface)
					 : NULL;

	return x && x->is_open ? x : NULL;
}

struct sw_interface *sw_mapped(
	const struct nic_at *a, uint32_t interface, uint32_t process);
void sw_interface_fini(struct sw_node *n);
/* Bytes of an interface's page of the chip's memory, or NULL. */
uint8_t *sw_chip(struct sw_interface *x, uint64_t offset, uint32_t bytes);

/* --- address.c --- */

/* Whether a job may access bytes by a key, which must have all of some rights,
 * for other nodes, or any own one (0). */
enum swhni_error sw_look_up(const struct nic_at *a, uint32_t engine,
	uint32_t job, uint32_t key, uint64_t offset, uint64_t bytes,
	uint32_t rights, const struct swhni_handle **h);
/* The address of a byte. */
uint64_t sw_paged_address(
	const struct nic_at *a, const struct swhni_handle *h, uint64_t offset);

/* Whether all bytes of a handle lie in one piece. */
static inline bool sw_is_flat(const struct swhni_handle *h)
{
	return h->space != SWHNI_PAGED || !h->table;
}

static inline uint64_t sw_address(
	const struct nic_at *a, const struct swhni_handle *h, uint64_t offset)
{
	if (h->space == SWHNI_PHYSICAL)
		return offset;
	return sw_is_flat(h) ? h->at + offset : sw_paged_address(a, h, offset);
}

/* Whether what was looked up is still so. */
static inline bool sw_is_known(const struct nic_at *a,
	const struct swhni_handle *h, uint32_t handles_life)
{
	return h && handles_life == sw_here(a)->handles_life;
}

/* Whether the TLB has the pages of some bytes; if not, they are read, and
 * done() follows with this id. */
bool sw_translate(const struct nic_at *a, uint32_t engine,
	const struct swhni_handle *h, uint64_t offset, uint64_t bytes,
	sw_translated *done, uint32_t id);
/* A process's handles are gone; a job's. */
void sw_address_end(struct sw_node *n, uint32_t process);
void sw_address_leave(struct sw_node *n, uint32_t job);
/* Moves bytes that may lie in several pages. */
bool sw_load_bytes(const struct nic_at *a, const struct swhni_handle *h,
	uint64_t offset, void *to, uint32_t bytes);
bool sw_store_bytes(const struct nic_at *a, const struct swhni_handle *h,
	uint64_t offset, const void *from, uint32_t bytes);
/* The same for a packet's bytes, or their name. */
bool sw_store_load(const struct nic_at *a, const struct swhni_handle *h,
	struct sw_load *l);
/* Which bytes of a handle lie in one piece, from an offset on, of n. */
uint32_t sw_piece(const struct swhni_handle *h, uint64_t offset, uint32_t n);

/* --- engine.c --- */

/* Whether flags, target and port of a descriptor of any type can be. */
bool sw_engine_knows(const struct nic_at *a, const struct swhni_descriptor *d);
/* Entries of a queue have come, or it has stopped. */
void sw_engine_fetched(const struct nic_at *a, uint32_t engine, uint32_t queue);
/* Does what can be done now: after bytes have come, packets have left, places
 * have become free. */
void sw_engine_run(const struct nic_at *a, uint32_t engine);

static inline void sw_engine_turn(const struct nic_at *a, uint32_t engine)
{
	struct sw_engine *e = sw_engine(a, engine);

	if (e->is_turning)
		e->is_again = true;
	else if (e->classes || e->issuing || e->fetched.n || e->waiting.n ||
		 e->asks.n)
		sw_engine_run(a, engine);
}

void sw_engine_on_issued(const struct nic_at *a, uint32_t engine, uint32_t id);
/* A new message, or 0 if no place is free. */
uint32_t sw_engine_place(
	const struct nic_at *a, uint32_t engine, enum sw_role role);
/* It waits for its turn, to be sent for the first time or again. */
void sw_engine_line(const struct nic_at *a, uint32_t engine, uint32_t id);
void sw_engine_unline(const struct nic_at *a, uint32_t engine, uint32_t id);
/* It has ended: its place is free soon. */
/* Writes a message's completion, right behind its bytes; it ends later. */
void sw_engine_tell(const struct nic_at *a, uint32_t engine, uint32_t id);
void sw_engine_end(const struct nic_at *a, uint32_t engine, uint32_t id,
	enum swhni_error status);
/* The same: what others have asked for cannot be had. */
void sw_engine_fail(const struct nic_at *a, uint32_t engine, uint32_t id,
	enum swhni_error status);
/* The same, of a job that is gone: nobody is told. */
void sw_engine_kill(const struct nic_at *a, uint32_t engine, uint32_t id);
/* Something of a message that was under way is not any more. */
void sw_engine_settle(const struct nic_at *a, uint32_t engine, uint32_t id);
void sw_engine_on_cancel(const struct nic_at *a, uint32_t engine);
/* The queue that learns of a message's end. */
uint32_t sw_engine_queue(const struct nic_at *a, const struct sw_message *m);
/* It learns that a kept message has had no answer; false: it cannot. */
bool sw_engine_tell_kept(
	const struct nic_at *a, uint32_t engine, const struct sw_message *m);
void sw_engine_on_checked(const struct nic_at *a, uint32_t engine, uint32_t id);

void sw_engine_fini(struct sw_engine *e);

/* --- send.c --- */

/* Asks for the bytes of a message's next packet. */
void sw_send_read(const struct nic_at *a, uint32_t engine, uint32_t id);
/* The port by which its next packet can leave, or SW_NO_PORT; cuts it. */
uint32_t sw_send_port(const struct nic_at *a, const struct sw_message *m);
/* A message begins its first try, or another one: packets of its map. */
void sw_send_begin(struct sw_message *m, uint32_t n_packets);
void sw_send_cut(
	const struct nic_at *a, uint32_t engine, uint32_t id, uint32_t port);
/* A packet that an engine makes, zeroed but for what all have. */
packet_id sw_send_packet(const struct nic_at *a, uint32_t engine,
	enum sw_packet_type type, site_id dst, uint32_t bytes);
/* All packets of a try have left. */
void sw_send_left(const struct nic_at *a, uint32_t engine, uint32_t id);

/* --- port.c --- */

#define SW_NO_PORT UINT32_MAX

/* A port that takes a packet now, or SW_NO_PORT; wanted is 1 + a port, or 0;
 * others are better than those to avoid (bits).  Ports always take what is not
 * of SW_DATA. */
uint32_t sw_port_choose(const struct nic_at *a, enum sw_line_class class,
	uint32_t wanted, bool is_bound, uint32_t avoid);
/* Ports that did not reach a node lately, as bits; notes some. */
uint32_t sw_port_avoided(const struct nic_at *a, site_id dst);
void sw_port_avoid(const struct nic_at *a, site_id dst, uint32_t ports);
/* A packet goes to its port, or stays in the chip. */
void sw_port_send(const struct nic_at *a, enum sw_line_class class,
	uint32_t port, packet_id id);
void sw_port_on_out(const struct nic_at *a, uint32_t line);
void sw_port_on_room(const struct nic_at *a, uint32_t fifo);
void sw_port_on_link(const struct nic_at *a, uint32_t port, bool is_up);

/* --- manage.c --- */

void sw_manage_on_packet(
	const struct nic_at *a, uint32_t port, packet_id id, sim_time tail);
void sw_manage_on_event(const struct nic_at *a, uint32_t number, uint32_t data);
/* The FIFO of a port has room. */
void sw_manage_go_on(const struct nic_at *a, uint32_t port);
void sw_manage_fini(struct sw_node *n);

/* --- receive.c --- */

/* The CRC-32 of a packet does not find the bits that were flipped. */
bool sw_receive_misses(const struct sw_load *l);
void sw_receive_on_in(const struct nic_at *a, uint32_t engine, packet_id id);
void sw_receive_on_written(
	const struct nic_at *a, uint32_t engine, packet_id id);
/* Bytes go to memory over an engine's PCIe interface: when they are there. */
sim_time sw_receive_write(
	const struct nic_at *a, uint32_t engine, uint64_t at, uint32_t bytes);
/* A packet's bytes are where they should be. */
void sw_delivered(const struct nic_at *a, packet_id id);
/* A packet is done with. */
void sw_receive_finish(const struct nic_at *a, packet_id id, bool is_done);
/* A message is refused for good, and is not looked at any more. */
void sw_receive_refuse(
	const struct nic_at *a, uint32_t engine, packet_id id, uint32_t status);
/* A message of a packet was executed, or refused for good, before. */
enum seen_answer sw_receive_was(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id src, uint32_t *status);
/* Drops a packet of such a message, and says again how it ended. */
bool sw_receive_is_double(
	const struct nic_at *a, uint32_t engine, packet_id id);
void sw_receive_note(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id src, uint32_t status);
/* The entry of a packet's message, or 0; frees it. */
uint32_t sw_receive_entry(
	const struct sw_engine *e, const struct sw_header *h, site_id src);
void sw_receive_forget(struct sw_engine *e, uint32_t entry);

/* --- complete.c --- */

/* All of a message is on its way to memory: what it ends with follows.  0, or
 * why not; *t becomes when it will be in memory. */
uint32_t sw_complete_begin(const struct nic_at *a, uint32_t engine,
	struct sw_load *l, site_id src, sim_time *t);
/* It is. */
void sw_complete_end(const struct nic_at *a, struct sw_load *l, site_id src);
/* A message for a receive queue; its bytes are in memory. */
void sw_complete_message(const struct nic_at *a, uint32_t engine, packet_id id);
void sw_complete_written(const struct nic_at *a, uint32_t engine, packet_id id);

/* --- read.c --- */

void sw_read_asked(const struct nic_at *a, uint32_t engine, packet_id id);
/* Places have become free for those that wait. */
void sw_read_next(const struct nic_at *a, uint32_t engine);
void sw_read_came(const struct nic_at *a, uint32_t engine, packet_id id);
void sw_read_written(const struct nic_at *a, uint32_t engine, packet_id id);

/* --- fsm.c --- */

void sw_fsm_on_short(const struct nic_at *a, uint32_t engine, uint32_t id);
void sw_fsm_next(const struct nic_at *a, uint32_t engine);
/* Sends it once more. */
void sw_fsm_again(const struct nic_at *a, uint32_t engine, uint32_t id);

/* --- transport.c --- */

/* Answers a packet of a message: it is acknowledged, or refused. */
void sw_transport_answer(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id to, uint32_t status);
/* Says how far a message is, of which some or nothing has been done. */
void sw_transport_show(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, site_id to, uint32_t status);
/* All packets of a message's first try have left. */
void sw_transport_left(const struct nic_at *a, uint32_t engine, uint32_t id);
void sw_transport_on_ack(const struct nic_at *a, uint32_t engine, packet_id id);
void sw_transport_on_probe(
	const struct nic_at *a, uint32_t engine, packet_id id);
void sw_transport_on_state(
	const struct nic_at *a, uint32_t engine, packet_id id);
/* 1 + the port of a later try. */
uint32_t sw_transport_port(const struct nic_at *a, const struct sw_message *m);
void sw_transport_again(const struct nic_at *a, uint32_t engine, uint32_t id);
/* The last try had no answer; a program lets kept messages go on. */
void sw_transport_give_up(const struct nic_at *a, uint32_t engine, uint32_t id);
void sw_transport_go_on(
	const struct nic_at *a, uint32_t engine, uint32_t queue, uint64_t id);
void sw_transport_late(const struct nic_at *a, uint32_t engine, uint32_t id);

#endif
