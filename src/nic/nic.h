/*
 * A network interface: it connects a node's memory and programs to the FIFOs of
 * the network.  One object serves all nodes of a machine; the part of a node is
 * created when it is first used.
 *
 * It is the network's client.  It receives the events of its own engines and
 * those of programs, which it passes on to the host.  Programs reach it by
 * registers, queues and words in memory that differ between variants; the
 * variant's header describes them for its API driver.  Code that several
 * variants share is in nic/util.
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
	/* [node], of ops->node_size and behind it n_cards of ops->card_size;
	 * NULL until used */
	void **nodes;
	site_id n_nodes;
	uint32_t n_cards; /* of a node */
	struct payload_pool *payloads; /* packets' load fields point to them */
	size_t load_size; /* of a payload, set by ops->init() */
	size_t small_load; /* of a small one; 0: there are none */
	/* called for every packet whose bytes are in memory, and for changes
	 * that no packet brings, which have SIM_NEVER as the time of birth; may
	 * be NULL */
	void (*on_delivered)(
		void *arg, site_id s, const struct packet *p, sim_time t);
	void *arg;
	const struct fault_plan *plan; /* failures of parts; or NULL */
	/* ops->client, unless ops->init() has set another one */
	const struct net_client_ops *client;
};

/* Node and time, for the functions of an interface's units. */
struct nic_at {
	struct nic *nic;
	void *node; /* its part */
	struct sim_worker *w;
	site_id s;
	uint32_t card; /* of the node, where it matters */
	sim_time t;
};

enum nic_can {
	NIC_RESENDS = 1, /* packets until they are acknowledged */
	NIC_CASTS = 2, /* packets for a range of nodes */
	NIC_ATOMICS = 4, /* changes words of memory rather than writing them */
	NIC_FETCHES = 8, /* ... and returns their previous values */
	NIC_COMBINES = 16, /* reduces data of several nodes */
	NIC_SHARES = 32, /* memory of other nodes, read and written by loads
			  * and stores */
	NIC_THREADS = 64, /* runs code of its own */
	NIC_LOSES = 128, /* packets, without notice to their sender */
};

/* An error because no answer came, which need not be a mistake of a program. */
enum { NIC_LATE = 2 };

/*
 * A counter in each node's part.  Reports, error messages and run files read
 * these tables.
 */
struct nic_counter {
	const char *key; /* of an error: its description */
	const char *unit;
	/* of a uint64_t, in a node's part; behind it, in each card's */
	size_t offset;
	uint8_t is_error; /* 1: an action of a program was refused; NIC_LATE */
};

/*
 * A member of a node's part that holds memory of its own: it is counted and
 * freed with the part, and made before node_init() where its items have a size.
 */
struct nic_member_ops {
	void (*init)(void *x, size_t size); /* NULL: zeros suffice */
	void (*fini)(void *x);
	uint64_t (*memory)(const void *x); /* bytes in addition to itself */
};

struct nic_member {
	const struct nic_member_ops *ops;
	size_t offset; /* in the part */
	size_t size; /* of an item; 0: node_init() sets it up if needed */
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
	const char *machine; /* a shipped machine that has it */
	uint32_t can; /* bits of enum nic_can */
	uint64_t most_memory; /* bytes of a node that it addresses; 0: any */
	size_t size; /* of the variant, whose first member is struct nic */
	/* Features that parameters of other sections need, as words separated
	 * by spaces: see machine_has().  NULL: none. */
	const char *has;
	size_t node_size; /* of a node's part */
	/* For nodes with several cards: their number, and the size and members
	 * of a card's part.  NULL: a node has one, which is its part. */
	uint32_t (*cards)(const void *params);
	size_t card_size;
	const struct nic_member *card_members;
	const struct param *params; /* of a struct of its own */
	size_t n_params, params_size;
	const struct net_client_ops *client; /* its state is the nic */
	const struct nic_counter *counters; /* the last one has no key */
	/* Counts of a card's own memory, for reports alone; or NULL. */
	const struct nic_counter *card;
	/* Formats of its kinds of packets; NULL: as the links define. */
	const struct link_format *formats;
	uint32_t n_formats;
	/* Parameters of any section that follow others, up to one without a
	 * section; or NULL. */
	const struct param_follow *follows;

	/* Checks the values against the network, makes the state and sets
	 * load_size; fini() frees the state and may be NULL. */
	int (*init)(struct nic *nic, struct err *e);
	void (*fini)(struct nic *nic);
	/* Members of a node's part, up to one without ops, or NULL; the rest of
	 * the part is zeroed.  The functions handle what members do not. */
	const struct nic_member *members;
	void (*node_init)(struct nic *nic, void *node, site_id s);
	void (*node_fini)(struct nic *nic, void *node); /* may be NULL */
	uint64_t (*node_memory)(const void *node); /* may be NULL */
	/*
	 * After a run that ended by itself: an error if work is unfinished or
	 * was refused.
	 */
	int (*audit_node)(const void *node, site_id s, struct err *e);

	/* Number of bytes at the start of a packet's load that its receiver
	 * needs; they hold no pointers. */
	size_t (*load_bytes)(const struct packet *p);
	/* Explains a deadlock of programs: what nodes have not done that others
	 * wait for; optional.  Only while nothing runs. */
	void (*describe_stall)(const struct nic *nic, char *text, size_t size);
	/* Whether an event of a node's part is a timer that nothing waits for
	 * any more; NULL: no event is.  Only while nothing runs. */
	bool (*is_stale)(const void *node, uint32_t number, uint32_t data);
	/* Whether it only tries again what another node has put off for long;
	 * NULL: none does. */
	bool (*is_patient)(const void *node, uint32_t number, uint32_t data);
	/* Whether nothing of a node's part is under way but questions that
	 * others deny, and what is put off for long.  Adds what it has ever
	 * done apart from these to *deeds.  NULL: it asks no such questions.
	 * Only while nothing runs. */
	bool (*only_asks)(const void *node, uint64_t *deeds);
	/*
	 * Classes of FIFOs (bits): packets of class may keep their places at a
	 * node until packets of these classes can leave it.  NULL: all packets
	 * are always accepted.  Depends only on the parameters.
	 */
	uint32_t (*waits_for)(const void *params, enum net_class class);
	/* How it waits and what programs must ensure, as the end of a sentence
	 * that begins with the interface; or NULL. */
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

/* Whether an interface, or none (NULL), addresses all of a node's memory. */
int nic_check_memory(const struct nic_ops *ops, int64_t bytes, struct err *e);

/* Becomes the client of the network and the host's interface. */
struct nic *nic_new(const struct nic_setup *s, struct err *e);
void nic_free(struct nic *nic);

/* --- for variants --- */

/* Creates the part of a node. */
__attribute__((cold)) void *nic_node_new(struct nic *nic, site_id s);

static inline void *nic_node(struct nic *nic, site_id s)
{
	void *n = nic->nodes[s];

	return __builtin_expect(!!n, 1) ? n : nic_node_new(nic, s);
}

static inline struct nic_at nic_at(
	struct nic *nic, struct sim_worker *w, site_id s, sim_time t)
{
	return (struct nic_at){ nic, nic_node(nic, s), w, s, 0, t };
}

/* Of the calling program, now. */
static inline struct nic_at nic_now(struct nic *nic)
{
	return nic_at(nic, program_worker(), program_node(), program_now());
}

/* An interface of some kind; any other, or none, is a BUG. */
static inline struct nic *nic_check(struct nic *nic, const struct nic_ops *ops)
{
	BUG_IF(!nic || nic->ops != ops);
	return nic;
}

/* Frees a packet with its bytes. */
static inline void nic_give(struct nic *nic, struct sim_worker *w, packet_id id)
{
	payload_give(nic->payloads, w->id,
		payload_of_load(nic->net->packets[id].load));
	packet_give(nic->net->pool, w->id, id);
}

/* For clients that do not combine packets: a copy has bytes of its own. */
extern const struct net_client_combine nic_combine;
void nic_on_copy(struct net_client *me, struct sim_worker *w, packet_id id);
/* Frees a lost packet; a retransmission is charged for its time.  The second is
 * for a client's on_lost(). */
void nic_lose(struct nic *nic, struct sim_worker *w, packet_id id);
void nic_on_lost(struct net_client *me, struct sim_worker *w, packet_id id);

/* --- time budgets: these do nothing if there is no book --- */

void nic_charge_book(
	const struct nic_at *a, packet_id id, enum cause c, sim_time t);

static inline bool nic_has_book(const struct nic_at *a)
{
	return __builtin_expect(a->nic->net->book != NULL, 0);
}

/* Charges a packet's time up to t, unless it is charged up to later. */
static inline void nic_charge(
	const struct nic_at *a, packet_id id, enum cause c, sim_time t)
{
	if (nic_has_book(a))
		nic_charge_book(a, id, c, t);
}

/* A packet that belongs to no message. */
void nic_account_none(const struct nic_at *a, packet_id id);
/* A packet ends: its part of the message is complete, or does not count. */
void nic_account_end(const struct nic_at *a, packet_id id, bool is_done);

/* --- */

/*
 * A poll loop for the calling program, with a random phase: its first look
 * falls anywhere in the period.
 */
struct poll_loop nic_poll_loop(
	const struct nic *nic, sim_time period, sim_time load);
/* The same for a program of a node, by the number that it draws. */
struct poll_loop nic_poll_loop_by(const struct nic *nic, site_id node,
	uint64_t draw, sim_time period, sim_time load);

/* --- a packet's load as bytes, for mail to another process --- */

/* Writes it to a buffer of nic->load_size bytes; returns the number used. */
size_t nic_pack(const struct nic *nic, const struct packet *p, void *to);
/* Returns it as a load of this process, for a packet. */
uint64_t nic_unpack(
	const struct nic *nic, uint32_t worker, const void *from, size_t n);
/* The same for clients. */
extern const struct net_client_carry nic_carry;

/* --- only while nothing runs --- */

int nic_audit(const struct nic *nic, struct err *e);
/* "; barrier class 0: node 3 has not entered, ..."; "" if it knows nothing. */
void nic_describe_stall(const struct nic *nic, char *text, size_t size);
uint64_t nic_memory(const struct nic *nic); /* memory in use, bytes */
/* The memory that members of a node's part use; 0 if it has no part. */
uint64_t nic_node_memory(const struct nic *nic, site_id s);

/* A counter of one node, or summed over all; 0 if there is none, or no nic. */
uint64_t nic_count(const struct nic *nic, site_id s, const char *key);
uint64_t nic_sum(const struct nic *nic, const char *key);
uint64_t nic_total(const struct nic *nic, const struct nic_counter *c);
/* Whether any has given up waiting for answers: other errors follow from it. */
bool nic_is_late(const struct nic *nic);
/* Number of errors of a node's interface, and their description. */
uint64_t nic_errors(const struct nic *nic, site_id s, char *text, size_t size);

/* Pending events, without timers that nothing waits for; of these, those that
 * only try again what other nodes have put off for long, and those of programs.
 * With a world: of interfaces and programs of its nodes alone. */
struct nic_pending {
	uint64_t n, patient, programs;
};

struct nic_pending nic_pending(
	const struct nic *nic, const struct host_world *only);
/* Some of them, enough to say whether there are any, whether all are patient
 * and, where interfaces ask others (only_asks), whether any is a program's. */
struct nic_pending nic_any_pending(
	const struct nic *nic, const struct host_world *only);
/* Whether all interfaces, or those of a world, only ask others what these deny;
 * the sum of their deeds. */
bool nic_only_asks(
	const struct nic *nic, const struct host_world *only, uint64_t *deeds);

extern const struct nic_ops *const nic_registry[];

#endif
