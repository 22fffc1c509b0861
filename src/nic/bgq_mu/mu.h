/*
 * The message unit's insides, shared by its files and by nobody else.
 *
 *	program --store--> slave port: registers            (registers.c)
 *	                      |
 *	injection FIFOs in memory -> descriptor fetch       (fetch.c)
 *	                      |
 *	injection engines, one per network injection FIFO: read the payload,
 *	cut packets -> network                              (inject.c)
 *
 *	network -> reception engines, one per network reception FIFO:
 *	   put: base address table -> memory, then the counter
 *	   memory FIFO: reception FIFO in memory
 *	   remote get: injection FIFO in memory             (receive.c, store.c)
 *
 *	all of them -> master ports: ranges, order -> L2    (port.c)
 *
 * mu_of() is the unit of all nodes, and mu_here() the part of the node that
 * is visited.
 */
#ifndef NIC_BGQ_MU_MU_H
#define NIC_BGQ_MU_MU_H

#include "base/lfsr.h"
#include "base/ring.h"
#include "coll/barrier.h"
#include "host/side.h"
#include "nic/bgq_mu/bgq_mu.h"
#include "nic/bgq_mu/descriptor.h"
#include "nic/util/window.h"
#include "topo/torus.h"

/* Numbers of events: ENGINE_CLIENT and above. */
enum mu_engine {
	MU_ENGINE_INJECTED = ENGINE_CLIENT, /* + network FIFO */
	MU_ENGINE_PULLED =
		MU_ENGINE_INJECTED + MU_NET_FIFOS, /* + network FIFO */
	MU_ENGINE_WRITTEN =
		MU_ENGINE_PULLED + MU_NET_FIFOS, /* + network FIFO */
	MU_ENGINE_COUNTED =
		MU_ENGINE_WRITTEN + MU_NET_FIFOS, /* + network FIFO */
	MU_ENGINE_PORT = MU_ENGINE_COUNTED + MU_NET_FIFOS, /* + master port */
	MU_ENGINE_BARRIER = MU_ENGINE_PORT + MU_NET_FIFOS, /* + enum below */
	MU_ENGINE_SLAVE = MU_ENGINE_BARRIER + MU_NET_FIFOS,
	MU_ENGINE_FETCHED, /* + injection FIFO */
};

enum mu_barrier_event { MU_BARRIER_PACKET, MU_BARRIER_LOCAL };

/* Priorities, the highest first. */
enum mu_level { MU_LEVEL_SYSTEM, MU_LEVEL_HIGH, MU_LEVEL_NORMAL, MU_LEVELS };

/* Who asks a master port: a bit each. */
enum mu_requester {
	MU_ASK_INJECT = 0, /* + network FIFO */
	MU_ASK_WRITE = MU_ASK_INJECT + MU_NET_FIFOS, /* + network FIFO */
	MU_ASK_COUNT = MU_ASK_WRITE + MU_NET_FIFOS, /* + network FIFO */
	MU_ASK_FETCH = MU_ASK_COUNT + MU_NET_FIFOS,
	MU_REQUESTERS,
};

enum {
	MU_MAX_PORTS = 3,
	MU_NETWORK_BYTES = 12, /* of a header */
	MU_LINE = 128,
	MU_DRAINS = MU_PAYLOAD / MU_CHUNK + 2, /* with the header's */
	MU_INJ_WORDS = (MU_INJ_FIFOS + 63) / 64,
	MU_MASKS = MU_REC_ARRIVED - MU_INJ_OWNED + 1,
	MU_SENT = MU_SENDERS * MU_SENDER_COUNTERS,
	MU_TIMEOUTS = 16, /* ports whose senders can have their own */
};

enum {
	MU_ALL_RIGHTS =
		MU_USER_READ | MU_USER_WRITE | MU_SYSTEM_READ | MU_SYSTEM_WRITE,
};

enum mu_inj_state {
	MU_INJ_IDLE,
	MU_INJ_WAITING, /* to be fetched */
	MU_INJ_FETCHING,
	MU_INJ_SENDING, /* its descriptor is in the unit */
	MU_INJ_HALTED, /* by a descriptor that was rejected */
};

/*
 * An injection FIFO: what the injection control memory and the message
 * control memory hold of it (BGQ-F106, BGQ-F111).
 */
struct mu_inj_fifo {
	uint64_t start, size, head, tail;
	uint64_t get_tail; /* the end of what remote gets have reserved */
	struct mu_order *gets; /* NULL until used */
	uint64_t count, fetched; /* descriptors sent, fetched */
	uint64_t threshold;
	bool is_enabled;
	uint8_t state;
	uint8_t attributes;
	uint16_t engines; /* network FIFOs that may carry its packets */
	uint16_t hints; /* of the descriptor, in the network's order */
	uint32_t in_flight; /* packets that engines are at work on */
	uint64_t next, n_packets; /* the next packet to be cut; of how many */
	site_id dst;
	uint8_t kind, flags, tag; /* as struct packet has them */
	uint64_t payload, length; /* as the descriptor has them */
	struct mu_descriptor descriptor;
	uint64_t kin_map; /* of a descriptor that nothing was wrong with */
	uint32_t kin_head;
	uint8_t level; /* enum mu_level */
	uint64_t unused[6];
};

_Static_assert(sizeof(struct mu_inj_fifo) == 256, "found by a shift");

/*
 * Packets that were given a place in a FIFO, in order.  They are stored in
 * any order; what software or the unit sees ends before the first one that
 * is not (BGQ-F122).
 */
enum { MU_ORDER = 64 };

struct mu_order {
	struct window window; /* of packets that are done when stored */
	uint64_t marked; /* a bit per packet, by number */
	uint16_t bytes[MU_ORDER]; /* the same */
};

/*
 * A reception FIFO.  Positions count bytes since it was set up, so that
 * they only grow.
 */
struct mu_rec_fifo {
	uint64_t start, size;
	uint64_t head; /* consumed */
	uint64_t tail; /* software sees what is stored before it */
	uint64_t shadow; /* reserved by engines */
	uint64_t threshold;
	struct mu_order order;
	bool is_enabled;
};

struct mu_subgroup {
	struct mu_inj_fifo inj[MU_PER_SUBGROUP];
	struct mu_rec_fifo rec[MU_REC_PER_SUBGROUP];
	uint64_t base[MU_PER_SUBGROUP];
	uint8_t base_set; /* a bit for each that was ever written */
	uint8_t mask[MU_MASKS]; /* registers MU_INJ_OWNED and after */
};

/* The packet that an injection engine is at work on. */
struct mu_job {
	sim_time started, read; /* the engine began; the payload was there */
	uint64_t packet; /* of the message, from 0 */
	uint16_t inj;
	uint16_t bytes;
};

/* A reception engine. */
struct mu_rme {
	struct packet_list in; /* in the network FIFO, not yet pulled */
	struct packet_list writes, counts; /* ask for a port */
	uint16_t number; /* of packets: keeps events of an instant apart */
	uint8_t n_inside; /* pulled, not yet written */
	bool is_pulling;
	uint16_t held_for; /* the FIFO, where what it pulled found no room */
	uint32_t turn; /* of what it pulled, among all engines */
};

struct mu_port {
	struct side_port side;
	uint64_t asking; /* requesters */
	bool is_posted;
};

/* An access on its way to the slave port. */
struct mu_store {
	uint64_t value;
	uint32_t reg;
};

struct mu_range {
	uint64_t first, last;
	uint32_t rights; /* enum mu_rights; 0: not in use */
};

/* Bits to flip in an engine's next packet. */
struct mu_flips {
	uint64_t bits[2 * MU_NET_FIFOS];
};

/* What a counter of a sender counts, and what was sent before. */
struct mu_sent {
	uint32_t channels;
	uint64_t before;
};

/* Injection FIFOs with packets to cut. */
struct mu_senders {
	uint64_t word[MU_INJ_WORDS]; /* a bit for each */
	uint16_t n; /* all of them */
	uint16_t words; /* a bit for each word that is not 0 */
	uint16_t engines; /* that they may use, where all are alike */
	bool are_mixed; /* they are not: counted one by one */
	uint16_t n_able[MU_NET_FIFOS]; /* that an engine may choose, then */
};

struct mu_node {
	struct mu_subgroup *subgroup[MU_SUBGROUPS]; /* NULL until used */
	/* by level: FIFOs that want a descriptor */
	uint64_t wanting[MU_LEVELS][MU_INJ_WORDS];
	uint16_t n_wanting[MU_LEVELS];
	struct mu_senders sending[MU_LEVELS];
	struct mu_job job[MU_NET_FIFOS];
	struct mu_rme rme[MU_NET_FIFOS];
	struct mu_port port[MU_MAX_PORTS];
	struct mu_range range[MU_RANGES];
	uint64_t open_end; /* of memory that the first one opens to all */
	struct ring stores; /* struct mu_store: on their way */
	sim_time slave_at; /* when the slave port is free */
	sim_time dcr_at; /* and the ring of configuration registers */
	uint32_t number; /* of packets sent */
	uint16_t busy; /* injection engines */
	uint16_t broken; /* injection engines that stopped */
	uint16_t crowded; /* their network FIFOs have to give room first */
	uint16_t rme_broken, rme_held;
	uint32_t n_pulled; /* by all reception engines */
	uint16_t lfsr; /* the arbiters' */
	uint32_t status, mask; /* interrupts */
	uint32_t group[MU_GROUPS];
	uint64_t errors[MU_INTERRUPTS];
	uint64_t error_address, error_number;
	uint64_t packets_in[MU_NET_FIFOS], packets_out[MU_NET_FIFOS];
	uint64_t messages_in, messages_out;
	uint64_t rejected; /* packets that were thrown away */
	uint64_t slave_reads, slave_writes;
	struct mu_flips *flips; /* NULL: none ever */
	struct mu_sent *sent; /* [counter]; NULL: none is in use */
	uint32_t *timeout; /* [port] 0: the links'; NULL: none was set */
	struct mu_account **accounts; /* [FIFO], where there is a book */
	struct mu_barrier *barrier; /* NULL until used */
	uint64_t barrier_packets; /* sent */
};

struct tree;
struct tree_params;

struct mu {
	struct nic nic;
	const struct tree_params *trees; /* NULL: it has none */
	struct tree *tree; /* the collective network; NULL: there is none */
	struct packet *packets; /* the network's */
	struct mu_params params;
	struct side *side; /* with ports */
	const struct torus *torus;
	struct topo_grid grid; /* of one that is plain */
	uint32_t payload; /* the most in a packet */
	uint32_t n_dims;
	uint8_t port_of[MU_REQUESTERS];
	/* An engine's network FIFO, and the other way round; who works for an
	 * engine that has no FIFO of its own. */
	uint8_t fifo_of[MU_NET_FIFOS], engine_of[MU_NET_FIFOS];
	uint8_t worker_of[MU_NET_FIFOS];
	/* what a coordinate adds to the number of its node */
	uint64_t place[MU_DIMS][1 << MU_COORD_BITS];
	sim_time drain[MU_DRAINS]; /* of a packet of so many chunks */
	struct barriers barriers;
	uint32_t n_classes; /* 0: there are none */
};

/* What a packet's load field points to. */
struct mu_buffer {
	uint64_t place; /* in a FIFO, given at reception; before that, what
			 * errors have changed of the packet's checks */
	uint64_t number; /* in the FIFO's order */
	struct mu_header header;
	uint8_t payload[];
};

/* The packet's tag: what the receiving unit would learn from the network. */
enum mu_tag {
	MU_TAG_LAST = 1, /* of its message */
	MU_TAG_SYSTEM = 2, /* a routing may change the packet's kind */
};

static inline bool mu_is_system_packet(const struct packet *p)
{
	return p->tag & MU_TAG_SYSTEM;
}

static inline struct mu *mu_of(const struct nic_at *a)
{
	return (struct mu *)a->nic;
}

static inline struct mu_node *mu_here(const struct nic_at *a)
{
	return a->node;
}

/* NULL where there is no such FIFO. */
struct mu_rec_fifo *mu_rec(struct mu_node *n, uint64_t id);

/* Of one that was never used, or NULL where there is none. */
__attribute__((cold)) struct mu_subgroup *mu_subgroup_new(
	struct mu_node *n, uint64_t id);

static inline struct mu_subgroup *mu_subgroup(struct mu_node *n, uint64_t id)
{
	struct mu_subgroup *g = id < MU_SUBGROUPS ? n->subgroup[id] : NULL;

	return __builtin_expect(!!g, 1) ? g : mu_subgroup_new(n, id);
}

static inline struct mu_inj_fifo *mu_inj(struct mu_node *n, uint64_t id)
{
	struct mu_subgroup *g = mu_subgroup(n, id / MU_PER_SUBGROUP);

	return g ? &g->inj[id % MU_PER_SUBGROUP] : NULL;
}

/* One that is in use. */
static inline struct mu_inj_fifo *mu_inj_used(struct mu_node *n, uint32_t id)
{
	return &n->subgroup[id / MU_PER_SUBGROUP]->inj[id % MU_PER_SUBGROUP];
}

/* A mask of a sub-group, by its register. */
static inline uint8_t *mu_mask(struct mu_subgroup *g, enum mu_register kind)
{
	return &g->mask[kind - MU_INJ_OWNED];
}

/* Sets a FIFO's bit in one, of so many FIFOs in a sub-group. */
static inline void mu_mark(
	struct mu_node *n, enum mu_register kind, uint32_t fifo, uint32_t per)
{
	*mu_mask(mu_subgroup(n, fifo / per), kind) |=
		(uint8_t)(1u << fifo % per);
}

/* Records what happened, and interrupts. */
void mu_tell(const struct nic_at *a, enum mu_interrupt what, uint64_t number,
	uint64_t address);

/*
 * Passes a word of a packet through an engine's buffer, with the bits that
 * were to be flipped; false where that was too much for its code, and the
 * engine has to stop.  Injection engines first, then those of reception.
 */
bool mu_pass_flips(const struct nic_at *a, uint32_t engine, uint64_t word);

static inline bool mu_is_sound(
	const struct nic_at *a, uint32_t engine, uint64_t word)
{
	return __builtin_expect(!mu_here(a)->flips, 1) ||
	       mu_pass_flips(a, engine, word);
}

/* A number below a bound, by the node's shift register. */
static inline uint32_t mu_random(struct mu_node *n, uint32_t below)
{
	uint32_t x = lfsr_step(n->lfsr);

	n->lfsr = (uint16_t)x;
	return x * below >> 16;
}

static inline bool mu_is_system(uint32_t inj)
{
	return inj >= MU_SYSTEM_SUBGROUP * MU_PER_SUBGROUP;
}

static inline enum mu_level mu_level_of(uint32_t inj, uint32_t attributes)
{
	if (mu_is_system(inj))
		return MU_LEVEL_SYSTEM;
	return attributes & MU_INJ_HIGH ? MU_LEVEL_HIGH : MU_LEVEL_NORMAL;
}

/* --- account.c: to be called only where budgets are kept --- */

static inline bool mu_has_book(const struct nic_at *a)
{
	return __builtin_expect(!!a->nic->net->book, 0);
}

void mu_account_free(struct mu_node *n);
/* A tail's store leaves the core. */
void mu_account_store(struct mu_node *n, uint32_t inj, sim_time t);
/* The unit wants the next descriptor; it has taken it in. */
void mu_account_want(const struct nic_at *a, uint32_t inj);
void mu_account_fetched(const struct nic_at *a, uint32_t inj);
/* A packet goes into the network; it has been pulled out and has room. */
void mu_account_packet(const struct nic_at *a, uint32_t engine,
	const struct mu_job *job, packet_id id);
void mu_account_pulled(const struct nic_at *a, uint32_t engine, packet_id id);

/* --- port.c --- */

static inline struct mu_port *mu_port(
	const struct nic_at *a, uint32_t requester)
{
	return &mu_here(a)->port[mu_of(a)->port_of[requester]];
}

/*
 * A requester that has a job takes its port where that is free and nobody
 * waits for it; else it waits, and the port calls it.
 */
static inline bool mu_port_is_free(const struct nic_at *a, uint32_t requester)
{
	const struct mu_port *p = mu_port(a, requester);

	return p->side.free_at <= a->t && !p->asking;
}

void mu_port_wait(const struct nic_at *a, uint32_t requester);
void mu_port_on_free(const struct nic_at *a, uint32_t port);

bool mu_port_allows_slow(
	const struct nic_at *a, uint64_t at, uint64_t bytes, uint32_t right);

/* Whether the ranges allow it; most often the first one does. */
static inline bool mu_port_allows(const struct nic_at *a, uint64_t at,
	uint64_t bytes, bool is_write, bool is_system)
{
	uint32_t right = is_system ? is_write ? MU_SYSTEM_WRITE : MU_SYSTEM_READ
			 : is_write ? MU_USER_WRITE
				    : MU_USER_READ;

	if (__builtin_expect(bytes <= mu_here(a)->open_end &&
				     at <= mu_here(a)->open_end - bytes,
		    1))
		return true;
	return mu_port_allows_slow(a, at, bytes, right);
}

/*
 * Requests for [at, at + bytes), which the ranges allow, from the port that a
 * requester took; returns when the last one is done.
 */
static inline sim_time mu_port_read(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t bytes)
{
	struct side *s = mu_of(a)->side;

	return s->ops->ports->read(
		s, &mu_port(a, requester)->side, a->s, a->t, at, bytes);
}

static inline sim_time mu_port_write(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t bytes)
{
	struct side *s = mu_of(a)->side;

	return s->ops->ports->write(
		s, &mu_port(a, requester)->side, a->s, a->t, at, bytes);
}

static inline sim_time mu_port_atomic(
	const struct nic_at *a, uint32_t requester, uint64_t at, uint32_t words)
{
	struct side *s = mu_of(a)->side;

	return s->ops->ports->atomic(
		s, &mu_port(a, requester)->side, a->s, a->t, at, 8 * words);
}

/* How many more descriptors fit behind a tail. */
static inline uint64_t mu_inj_room(const struct mu_inj_fifo *f, uint64_t tail)
{
	uint64_t used =
		tail >= f->head ? tail - f->head : f->size - (f->head - tail);

	/* One place stays free, or full would look like empty. */
	return f->size ? (f->size - used) / MU_DESCRIPTOR_BYTES - 1 : 0;
}

/* --- fetch.c --- */

/* Asks for the FIFO's next descriptor, where there is one and it may. */
void mu_fetch_want(const struct nic_at *a, uint32_t inj);
/* The port is free: chooses a FIFO. */
void mu_fetch_take(const struct nic_at *a);
enum mu_level mu_fetch_level(const struct mu_node *n);
void mu_fetch_on_done(const struct nic_at *a, uint32_t inj);
/* Where not all FIFOs that send may use the same engines. */
void mu_fetch_count_mixed(struct mu_senders *s, uint32_t engines, int by);
/* A FIFO that has packets to cut begins or ends to be chosen from. */
static inline void mu_fetch_set_sending(const struct nic_at *a,
	const struct mu_inj_fifo *f, uint32_t inj, bool is_sending)
{
	struct mu_senders *s = &mu_here(a)->sending[f->level];
	uint64_t bit = UINT64_C(1) << inj % 64;

	if (!s->n)
		s->engines = f->engines;
	if (__builtin_expect(s->engines != f->engines || s->are_mixed, 0))
		mu_fetch_count_mixed(s, f->engines, is_sending ? 1 : -1);
	if (is_sending) {
		s->n++;
		s->word[inj / 64] |= bit;
		s->words |= (uint16_t)(1u << inj / 64);
	} else {
		s->n--;
		if (!(s->word[inj / 64] &= ~bit))
			s->words &= (uint16_t) ~(1u << inj / 64);
	}
}
void mu_fetch_halt(const struct nic_at *a, uint32_t inj);

/* --- header.c, clocks.c --- */

extern const struct param_follow mu_clocks[];
_Static_assert((int)MU_NETWORK_BYTES == (int)BOOK_HEADER, "all of it");

/* Where coordinates in headers lead to. */
void mu_header_init(struct mu *mu);
void mu_header_on_link(const struct net_client *me, packet_id id,
	uint32_t channel, uint32_t number, uint8_t header[BOOK_HEADER]);

/* --- collective.c --- */

static inline bool mu_is_collective_fifo(uint32_t fifo)
{
	return fifo - MU_NET_COLLECTIVE < 2;
}

/* As for other descriptors: MU_INTERRUPTS where nothing is wrong. */
enum mu_interrupt mu_collective_take(
	const struct nic_at *a, struct mu_inj_fifo *f, uint32_t inj);
/* A packet goes into its network FIFO. */
void mu_collective_inject(
	const struct nic_at *a, uint32_t engine, packet_id id);
/* Room of a reception FIFO is given back. */
void mu_collective_release(
	const struct nic_at *a, uint32_t fifo, uint32_t chunks);
/* A packet was received. */
void mu_collective_arrived(const struct nic_at *a, const struct packet *p);
/* net_client_ops' own. */
bool mu_collective_combine(struct net_client *me, struct sim_worker *w,
	site_id s, const packet_id *id, uint32_t n_ids, sim_time t);
void mu_collective_stopped(struct net_client *me, struct sim_worker *w,
	site_id s, uint32_t route, sim_time t);
void mu_collective_describe(
	const struct net_client *me, packet_id id, char *text, size_t size);

/* --- inject.c --- */

/* Lets an idle engine begin a packet, if it can. */
void mu_inject_go_on(const struct nic_at *a, uint32_t engine);
void mu_inject_take(const struct nic_at *a, uint32_t engine);
/* An engine has written its packet into its network FIFO. */
void mu_inject_on_done(const struct nic_at *a, uint32_t engine);

/* --- receive.c --- */

void mu_receive(
	const struct nic_at *a, uint32_t fifo, packet_id id, sim_time tail);
/* The packet is in the engine; its bytes are in memory; so is the change of
 * its counter. */
void mu_receive_on_pulled(const struct nic_at *a, uint32_t fifo);
void mu_receive_take_write(const struct nic_at *a, uint32_t fifo);
void mu_receive_on_written(const struct nic_at *a, uint32_t fifo, packet_id id);
void mu_receive_take_count(const struct nic_at *a, uint32_t fifo);
void mu_receive_on_counted(const struct nic_at *a, uint32_t fifo, packet_id id);
/* A FIFO has changed: engines that wait for room in it try again. */
void mu_receive_retry(const struct nic_at *a, uint32_t fifo);

/* --- store.c: packets that go into FIFOs --- */

enum mu_room { MU_ROOM, MU_NO_ROOM, MU_REFUSED };

/* Gives a packet its place, or tells why not; there is no room for one that
 * has others before it. */
enum mu_room mu_store_reserve(
	const struct nic_at *a, const struct packet *p, bool is_behind);
/* Its requests, from the engine that took a port; when they are done. */
sim_time mu_store_write(
	const struct nic_at *a, uint32_t requester, const struct packet *p);
/* Its bytes are to be in memory now. */
void mu_store_done(const struct nic_at *a, const struct packet *p);

/* FIFOs that engines wait for. */
static inline uint32_t mu_wait_rec(uint32_t rec)
{
	return rec;
}

static inline uint32_t mu_wait_inj(uint32_t inj)
{
	return MU_REC_FIFOS + inj;
}

/* --- barrier.c --- */

void mu_barrier_init(struct mu *mu);
void mu_barrier_free(struct mu_node *n);
uint64_t mu_barrier_memory(const struct mu_node *n);
void mu_barrier_describe(const struct nic *nic, char *text, size_t size);
void mu_barrier_on_event(const struct nic_at *a, const struct sim_event *e);
/* Registers from MU_GI_ROUTE on. */
uint64_t mu_barrier_load(
	struct nic *nic, site_id s, uint32_t kind, uint32_t class);
enum mu_interrupt mu_barrier_store(
	const struct nic_at *a, uint32_t kind, uint32_t class, uint64_t value);

/* --- registers.c --- */

void mu_registers_on_store(const struct nic_at *a);
/* The ranges have changed. */
void mu_registers_open(struct mu_node *n);
/* Descriptors that fit behind a tail, and bytes behind what is reserved. */
uint64_t mu_rec_free(const struct mu_rec_fifo *f);

#endif
