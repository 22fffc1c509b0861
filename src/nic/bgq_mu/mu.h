/*
 * The message unit's state, for its own files; what they do for each other is
 * in units.h.
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
 *	all of them -> master ports: ranges, order -> cache (port.c)
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

/* Requesters of a master port: a bit each. */
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
	MU_FLIPS = 2 * MU_NET_FIFOS, /* engines of both directions */
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
	MU_INJ_HALTED, /* by a rejected descriptor */
};

/* An injection FIFO, as in the injection control memory and the message control
 * memory (BGQ-F106, BGQ-F111). */
struct mu_inj_fifo {
	uint64_t start, size, head, tail;
	uint64_t get_tail; /* end of the places reserved by remote gets */
	struct mu_order *gets; /* NULL until used */
	uint64_t count, fetched; /* descriptors sent, fetched */
	uint64_t threshold;
	bool is_enabled;
	uint8_t state;
	uint8_t attributes;
	uint16_t engines; /* network FIFOs that may carry its packets */
	uint16_t hints; /* of the descriptor, in the network's order */
	uint32_t in_flight; /* packets in engines */
	uint64_t next, n_packets; /* next packet to be cut; number of them */
	site_id dst;
	uint8_t kind, flags, tag; /* as struct packet has them */
	uint64_t payload, length; /* as the descriptor has them */
	struct mu_descriptor descriptor;
	uint64_t kin_map; /* of the last valid descriptor; 0: none */
	uint32_t kin_head;
	uint8_t level; /* enum mu_level */
	uint64_t unused[6];
};

_Static_assert(sizeof(struct mu_inj_fifo) == 256, "found by a shift");

/* Packets with a place in a FIFO, in order.  They are stored in any order; the
 * visible part ends before the first one that is not (BGQ-F122). */
enum { MU_ORDER = 64 };

struct mu_order {
	struct window window; /* of packets that are done when stored */
	uint64_t marked; /* a bit per packet, by number */
	uint16_t bytes[MU_ORDER]; /* the same */
};

/* A reception FIFO.  Positions count bytes since it was set up. */
struct mu_rec_fifo {
	uint64_t start, size;
	uint64_t head; /* consumed */
	uint64_t tail; /* visible to software */
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

/* The packet of an injection engine. */
struct mu_job {
	sim_time started, read; /* the engine began; it had the payload */
	uint64_t packet; /* of the message, from 0 */
	uint16_t inj;
	uint16_t bytes;
};

/* A reception engine. */
struct mu_rme {
	struct packet_list in; /* in the network FIFO, not yet pulled */
	struct packet_list writes, counts; /* ask for a port */
	uint16_t number; /* of packets: orders events of an instant */
	uint8_t n_inside; /* pulled, not yet written */
	bool is_pulling;
	uint16_t held_for; /* the FIFO without room for the pulled packet */
	uint32_t turn; /* of the pulled packet, among all engines */
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

/* The channels that a sender's counter counts, and bytes sent before. */
struct mu_sent {
	uint32_t channels;
	uint64_t before;
};

/* Injection FIFOs with packets to cut. */
struct mu_senders {
	uint64_t word[MU_INJ_WORDS]; /* a bit for each */
	uint16_t n; /* all of them */
	uint16_t words; /* a bit for each word that is not 0 */
	uint16_t engines; /* that they may use, if all may use the same */
	bool are_mixed; /* they may not: counted for each engine in: */
	uint16_t n_able[MU_NET_FIFOS];
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
	uint16_t crowded; /* their network FIFOs have no room */
	uint16_t rme_broken, rme_held;
	uint32_t n_pulled; /* by all reception engines */
	uint16_t lfsr; /* the arbiters' */
	uint32_t status, mask; /* interrupts */
	uint32_t group[MU_GROUPS];
	uint64_t errors[MU_INTERRUPTS];
	uint64_t error_address, error_number;
	uint64_t packets_in[MU_NET_FIFOS], packets_out[MU_NET_FIFOS];
	uint64_t messages_in, messages_out;
	uint64_t rejected; /* discarded packets */
	uint64_t slave_reads, slave_writes;
	/* bits to flip in an engine's next packet; NULL: none ever */
	uint64_t *flips;
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
	struct side *side;
	struct side_ports ports; /* the side's */
	const struct torus *torus;
	struct topo_grid grid; /* of one that is plain */
	uint32_t payload; /* the most in a packet */
	uint32_t n_dims;
	uint8_t port_of[MU_REQUESTERS];
	/* An engine's network FIFO, and vice versa; the engine that works for
	 * one without a FIFO of its own. */
	uint8_t fifo_of[MU_NET_FIFOS], engine_of[MU_NET_FIFOS];
	uint8_t worker_of[MU_NET_FIFOS];
	uint16_t serving; /* engines with a FIFO of their own */
	/* contribution of a coordinate to a node's number */
	uint64_t place[MU_DIMS][1 << MU_COORD_BITS];
	sim_time drain[MU_DRAINS]; /* by a packet's number of chunks */
	struct barriers barriers;
	uint32_t n_classes; /* 0: there are none */
};

/* A packet's load field points to it. */
struct mu_buffer {
	uint64_t place; /* in a FIFO, given at reception; before that, the
			 * changes of the packet's checks by errors */
	uint64_t number; /* in the FIFO's order */
	struct mu_header header;
	uint8_t payload[];
};

static inline struct mu_buffer *mu_buffer_of(const struct packet *p)
{
	return payload_of_load(p->load);
}

/* The packet's tag, which the receiving unit gets from the network. */
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

/* NULL: no such FIFO. */
struct mu_rec_fifo *mu_rec(struct mu_node *n, uint64_t id);

/* Makes one on first use; NULL: no such sub-group. */
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

/* Sets a FIFO's bit in a mask; per: FIFOs of a sub-group. */
static inline void mu_mark(
	struct mu_node *n, enum mu_register kind, uint32_t fifo, uint32_t per)
{
	*mu_mask(mu_subgroup(n, fifo / per), kind) |=
		(uint8_t)(1u << fifo % per);
}

#endif
