/*
 * A network interface: what stands between a node's memory and programs on
 * one side and the network's FIFOs on the other.  One object serves all
 * nodes of a machine; a node's own part comes into being when it is used.
 *
 * It is the network's client.  Of events it gets its own engines' and those
 * of the programs, which it hands on to the host.  How programs reach it is
 * not said here: registers, queues and what is written into memory for it are
 * each variant's own, and stand in the variant's header for its API driver.
 * What several variants have in common stands in nic/util.
 */
#ifndef NIC_NIC_H
#define NIC_NIC_H

#include "base/param.h"
#include "host/program.h"
#include "net/net.h"
#include "nic/payload.h"

struct nic {
	const struct nic_ops *ops;
	const void *params; /* a struct of ops->params_size */
	struct net *net;
	struct host *host;
	void **nodes; /* [node], of ops->node_size; NULL until used */
	site_id n_nodes;
	struct payload_pool *payloads; /* what packets' load fields point to */
	size_t load_size; /* of one of these, set by ops->init() */
	/* told of every packet whose bytes are in memory; may be NULL */
	void (*on_delivered)(
		void *arg, site_id s, const struct packet *p, sim_time t);
	void *arg;
	const struct fault_plan *plan; /* what becomes of parts; or NULL */
	/* ops->client, unless ops->init() has set another one */
	const struct net_client_ops *client;
};

/* Where and when: what the functions of an interface's units are given. */
struct nic_at {
	struct nic *nic;
	void *node; /* its part */
	struct sim_worker *w;
	site_id s;
	sim_time t;
};

enum nic_can {
	NIC_RESENDS = 1, /* what is lost or damaged, until it is acknowledged */
	NIC_CASTS = 2, /* packets for a range of nodes */
	NIC_ATOMICS = 4, /* changes words of memory rather than writing them */
	NIC_FETCHES = 8, /* ... and returns what they were */
	NIC_COMBINES = 16, /* reduces what several nodes send */
	NIC_SHARES = 32, /* memory of other nodes, read and written by loads
			  * and stores */
	NIC_THREADS = 64, /* runs code of its own */
	NIC_LOSES = 128, /* packets, without a word to who sent them */
};

/*
 * A count that each node's part keeps.  Reports, error messages and run files
 * read these tables.
 */
/* Of an error: no answer came, so it may be nobody's mistake. */
enum { NIC_LATE = 2 };

struct nic_counter {
	const char *key; /* of an error: what it is, in words */
	const char *unit;
	size_t offset; /* of a uint64_t, in a node's part */
	uint8_t is_error; /* something that a program did was refused, or: */
};

/*
 * A member of a node's part that holds memory of its own: it is counted and
 * freed with the part, and made before node_init() where its items have a size.
 */
struct nic_member_ops {
	void (*init)(void *x, size_t size); /* NULL: zeros will do */
	void (*fini)(void *x);
	uint64_t (*memory)(const void *x); /* bytes beside itself */
};

struct nic_member {
	const struct nic_member_ops *ops;
	size_t offset; /* in the part */
	size_t size; /* of an item; 0: node_init() makes it, or nobody need */
};

#define NIC_MEMBER(type_, part_, field_, size_)                                \
	{                                                                      \
		&type_##_member, offsetof(part_, field_), size_                \
	}

extern const struct nic_member_ops slots_member, ring_member, index_member;

/* type_member, of a type with type_fini() and type_memory(). */
#define NIC_MEMBER_OPS(type_, init_)                                           \
	static void type_##_member_fini(void *x)                               \
	{                                                                      \
		type_##_fini(x);                                               \
	}                                                                      \
	static uint64_t type_##_member_memory(const void *x)                   \
	{                                                                      \
		return type_##_memory(x);                                      \
	}                                                                      \
	const struct nic_member_ops type_##_member = { init_,                  \
		type_##_member_fini, type_##_member_memory }

struct nic_ops {
	const char *name; /* the word written in a machine file */
	const char *title; /* what it is called in a sentence */
	const char *machine; /* that has one, of those that are shipped */
	uint32_t can; /* bits of enum nic_can */
	uint64_t most_memory; /* bytes of a node that it addresses; 0: any */
	size_t size; /* of the variant, whose first member is struct nic */
	/* What parameters of other sections need that it has, in words with
	 * blanks between them: see machine_has().  NULL: nothing. */
	const char *has;
	size_t node_size; /* of a node's part */
	const struct param *params; /* of a struct of its own */
	size_t n_params, params_size;
	const struct net_client_ops *client; /* its state is the nic */
	const struct nic_counter *counters; /* the last one has no key */
	/* What its kinds of packets are on the wire; NULL: as links say. */
	const struct link_format *formats;
	uint32_t n_formats;
	/* Parameters of any section that follow others, up to one without a
	 * section; NULL: none do. */
	const struct param_follow *follows;

	/* Checks the values against the network; makes the state and sets
	 * load_size.  What it has set up is freed by fini(), NULL: nothing. */
	int (*init)(struct nic *nic, struct err *e);
	void (*fini)(struct nic *nic);
	/* A node's part, zeroed but for its members, which end with one without
	 * ops; NULL: it has none.  Whatever else it holds besides itself. */
	const struct nic_member *members;
	void (*node_init)(struct nic *nic, void *node, site_id s);
	void (*node_fini)(struct nic *nic, void *node); /* may be NULL */
	uint64_t (*node_memory)(const void *node); /* may be NULL */
	/*
	 * After a run that ended by itself: an error where something is
	 * still inside, or was refused.
	 */
	int (*audit_node)(const void *node, site_id s, struct err *e);

	/*
	 * How many bytes at the beginning of a packet's load say all that its
	 * receiver needs: they hold no pointers.
	 */
	size_t (*load_bytes)(const struct packet *p);
	/* Explains a deadlock of programs: what nodes have not done that others
	 * wait for; optional.  Only while nothing runs. */
	void (*describe_stall)(const struct nic *nic, char *text, size_t size);
	/* Whether an event is a clock that nothing waits for any more; NULL:
	 * there are none.  Only while nothing runs. */
	bool (*is_stale)(const struct nic *nic, const struct sim_event *e);
	/*
	 * Packets of a class may keep their places at a node until others can
	 * leave it, of these classes of FIFOs (bits); NULL: all are always
	 * taken in.  Only of the parameters.
	 */
	uint32_t (*waits_for)(const void *params, enum net_class class);
	/* How, and what programs have to see to, for a sentence that begins
	 * with the interface; NULL: there is nothing to say. */
	const char *how_waits;
};

struct nic_setup {
	const struct nic_ops *ops;
	const void *params; /* borrowed */
	struct net *net;
	struct host *host;
	void (*on_delivered)(
		void *arg, site_id s, const struct packet *p, sim_time t);
	void *arg;
	const struct fault_plan *plan; /* borrowed; NULL: nothing fails */
};

/* Makes itself the client of the network and the host's interface. */
/* Whether an interface, or none (NULL), addresses all of a node's memory. */
int nic_check_memory(const struct nic_ops *ops, int64_t bytes, struct err *e);

struct nic *nic_new(const struct nic_setup *s, struct err *e);
void nic_free(struct nic *nic);

/* --- for variants --- */

/* Of a node that was never used. */
__attribute__((cold)) void *nic_node_new(struct nic *nic, site_id s);

static inline void *nic_node(struct nic *nic, site_id s)
{
	void *n = nic->nodes[s];

	return __builtin_expect(!!n, 1) ? n : nic_node_new(nic, s);
}

static inline struct nic_at nic_at(
	struct nic *nic, struct sim_worker *w, site_id s, sim_time t)
{
	return (struct nic_at){ nic, nic_node(nic, s), w, s, t };
}

/* Gives a packet back with its bytes. */
static inline void nic_give(struct nic *nic, struct sim_worker *w, packet_id id)
{
	payload_give(nic->payloads, w->id,
		payload_of_load(nic->net->packets[id].load));
	packet_give(nic->net->pool, w->id, id);
}

/* For a client's on_copy(): a copy has bytes of its own. */
void nic_on_copy(struct net_client *me, struct sim_worker *w, packet_id id);
/* Where it comes again: what it has spent is charged then; and for on_lost().
 */
void nic_lose(struct nic *nic, struct sim_worker *w, packet_id id);
void nic_on_lost(struct net_client *me, struct sim_worker *w, packet_id id);

/*
 * For a program of the machine: a poll loop in no step with anything, whose
 * first look falls anywhere in its period.
 */
struct poll_loop nic_poll_loop(
	const struct nic *nic, sim_time period, sim_time load);

/* --- a packet's load as bytes, for mail to another process --- */

/* Writes it to a place of nic->load_size bytes; returns how many it took. */
size_t nic_pack(const struct nic *nic, const struct packet *p, void *to);
/* The same as a load of this process's, for a packet that it is to be of. */
uint64_t nic_unpack(
	const struct nic *nic, uint32_t worker, const void *from, size_t n);

/* --- only while nothing runs --- */

int nic_audit(const struct nic *nic, struct err *e);
/* "; barrier class 0: node 3 has not entered, ..."; "" where it knows
 * nothing. */
void nic_describe_stall(const struct nic *nic, char *text, size_t size);
uint64_t nic_memory(const struct nic *nic); /* bytes that it holds */
/* Of these, what a node's part holds besides itself; 0: there is none. */
uint64_t nic_node_memory(const struct nic *nic, site_id s);

/* A counter of one node, or of all; 0 where there is none, or no nic. */
uint64_t nic_count(const struct nic *nic, site_id s, const char *key);
uint64_t nic_sum(const struct nic *nic, const char *key);
/* What a node's interface refused to do: how often, and in words. */
/* Whether any has given up waiting for answers: other errors follow from it. */
bool nic_is_late(const struct nic *nic);
uint64_t nic_errors(const struct nic *nic, site_id s, char *text, size_t size);

/* Events that wait, but for clocks that nobody waits for. */
/* With a world: of interfaces and programs of its nodes alone. */
uint64_t nic_n_events(const struct nic *nic, const struct host_world *only);

extern const struct nic_ops *const nic_registry[];

#endif
