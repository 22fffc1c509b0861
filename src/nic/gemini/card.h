/* Shared by the interface's files: fma.c turns lines into requests, bte.c makes
 * lines of blocks and has buffers for sends, target.c executes requests and
 * takes the responses, amo.c executes atomics, cq.c writes events; harm.c and
 * frame.c are for networks that fail. */
#ifndef NIC_GEMINI_CARD_H
#define NIC_GEMINI_CARD_H

#include "base/index.h"
#include "base/ring.h"
#include "base/slots.h"
#include "nic/gemini/gemini.h"
#include "nic/util/outbox.h"
#include "nic/util/side_reads.h"

/* Formats of packets on the wire, in phits of 3 B. */
enum gem_format { GEM_WRITE, GEM_GET, GEM_DONE, GEM_ERROR, GEM_DATA };

enum gem_engine {
	GEM_OUT = ENGINE_CLIENT, /* a line is through the output side */
	GEM_IN, /* a packet is through the input side */
	GEM_WRITTEN, /* its bytes are in memory */
	GEM_EVENT, /* an event is */
	GEM_TIMEOUT,
	GEM_BLOCK, /* a block transfer's descriptor is in the card */
	GEM_CHANNEL, /* of the block transfer engine begins */
	GEM_ENGINE, /* can make its next packet */
	GEM_BUFFER, /* is in the card */
	GEM_AMO, /* the unit for atomics is free */
	GEM_AMO_WRITTEN, /* a word that it changed is in memory */
	GEM_SYNC, /* a store that asks a window for an event is in the card */
	GEM_BAD_STORE, /* a refused store is in the card */
	GEM_FLUSH, /* a store that asks for a flush is in the card */
	GEM_OVERDUE, /* transactions of other nodes may be overdue */
	GEM_LINE, /* a packet joins the line, or the line may move on */
	GEM_READS,
	GEM_ENGINES = GEM_READS + SIDE_READS_EVENTS - ENGINE_CLIENT,
};

/* Behind a packet's load. */
struct gem_load {
	uint64_t offset; /* once known, an address */
	uint64_t remote_data;
	uint32_t handle, tag, bytes;
	uint32_t request, round; /* place in the ORB, and its use */
	uint32_t ssid; /* of its transaction */
	uint32_t count; /* of a closing packet: those of the transaction */
	uint8_t op, status, is_response, remote_cq;
	uint8_t amo; /* enum gemini_amo; its operands are data */
	bool is_cached;
	bool is_uncounted; /* the target has no entry for its transaction */
	bool is_final; /* the sender says that all packets have arrived */
	uint32_t fifo; /* of reception, where it still has a place if: */
	bool is_held;
	bool is_by_line; /* hashed with the line of its address */
	sim_time event_at; /* its transaction's event is in memory */
	uint8_t data[GEMINI_LINE];
};

/* A line stored by the program, or made by the block transfer engine: a request
 * until it is answered. */
struct gem_line {
	struct slot slot;
	uint32_t transaction, round;
	uint32_t node, handle, bytes;
	uint64_t offset, here;
	uint8_t op;
	bool is_last, is_ordered;
	uint8_t channel; /* of the block transfer engine, from 1 on, or 0 */
	uint8_t status; /* it could not be read */
	bool is_final; /* has no bytes */
	/* It was stored, or the engine took it; it was in the card; it was
	 * through the output side. */
	sim_time made, came, out;
	uint8_t data[GEMINI_LINE];
};

struct gem_transaction {
	struct slot slot;
	struct gemini_post post;
	uint32_t ssid;
	uint32_t cq_round; /* of post.cq */
	uint32_t lines, answered;
	uint32_t status;
	bool has_ssid;
	bool is_uncounted; /* by its target */
	uint32_t window, sync; /* 1 + its number, or 0; and which sync's */
	bool is_block; /* a block transfer, whose descriptor was: */
	sim_time stored, came, taken, begun;
	struct book_message message;
};

/* An incomplete transaction of another node. */
struct gem_remote {
	struct slot slot;
	uint32_t src, ssid;
	uint32_t came, count; /* 0: the closing packet has not arrived */
	bool is_bad; /* one of them was refused */
	sim_time last; /* when a packet of it came */
	/* of a send: */
	bool has_buffer;
	uint32_t status;
	uint64_t bytes; /* that have come */
	struct gemini_buffer buffer;
	uint32_t cq_round; /* of buffer.cq */
};

struct gem_cq {
	uint64_t at;
	uint32_t entries; /* 0: it is not open */
	uint32_t round; /* how often it was opened */
	uint32_t written, taken;
	uint32_t lost; /* events that had no room */
};

/* An event on its way to memory. */
struct gem_event {
	struct slot slot;
	uint32_t cq, round;
	struct gemini_event e;
};

struct gem_deadline {
	sim_time t;
	uint32_t request, round;
};

/* A buffer that waits for a send. */
struct gem_buffer {
	struct slot slot;
	struct gemini_buffer buffer;
	uint32_t cq_round; /* of buffer.cq */
	bool is_posted; /* it is in the card */
};

enum { GEM_CHANNELS = 16 };

struct gem_channel {
	uint32_t transaction; /* or 0 */
	uint32_t reads; /* under way */
	uint64_t made; /* bytes of the transaction */
	bool is_ready; /* it has begun */
	bool does_read; /* its packets' bytes, from memory */
};

struct gem_bte {
	struct ring queue; /* transactions that no channel has yet */
	struct gem_channel channel[GEM_CHANNELS];
	uint32_t able; /* channels that can go; bits */
	uint32_t turn; /* of a channel */
	uint32_t reading; /* channels whose packets are read; bits */
	uint32_t reads; /* of all channels */
	uint32_t waiting; /* lines without a place in the ORB */
	uint32_t n; /* transactions that have left the queue */
	sim_time free_at; /* the engine */
	bool is_posted; /* it is looked at then */
	sim_time due; /* the same, if there is no event, or SIM_NEVER */
	bool is_fenced;
	struct slots buffers;
	struct slot_list posted[GEMINI_PORTS];
	uint64_t blocks; /* that were queued */
};

struct gem_node {
	struct ticks ticks;
	struct index remote; /* remotes by node and SSID */
	struct gem_window *windows;
	uint32_t n_windows; /* that there is memory for */
	uint32_t n_ssids; /* in use */
	uint16_t *ntt; /* [upper bits of a PE]: 1 + those of the node */
	struct slots lines, transactions, remotes, events;
	struct ring waiting; /* lines without a place in the ORB */
	struct ring deadlines;
	struct ranges handles;
	struct side_reads reads;
	struct gem_bte bte;
	struct gem_amo *amo; /* NULL until there is an atomic */
	struct outbox out;
	struct ring line; /* packets that wait, where responses do */
	struct gem_cq cq[GEMINI_CQS];
	uint32_t n_requests; /* in the ORB */
	uint32_t round, number;
	uint32_t n_begun; /* transactions */
	uint32_t inside; /* packets that have come */
	sim_time counted_until; /* so has a response that was counted early */
	bool is_timed;
	bool is_watching; /* for transactions of other nodes that are overdue */
	bool is_quiet; /* management has stopped the network: since */
	sim_time quiet_since;
	bool is_faulty, is_mortal; /* packets may be lost; it dies */
	uint64_t marked, corrected, uncorrectable;
	sim_time event_at; /* the last event that was written is in memory */
	uint64_t requests, responses, events_written, overruns, late;
	uint64_t amos, amo_misses, amo_writes;
	uint64_t rmt_misses;
	uint64_t status[GEMINI_STATUSES]; /* transactions that ended so */
};

struct gemini {
	struct nic nic;
	struct side *side;
	struct side_reads_how reads;
	uint32_t request_fifo, response_fifo;
};

static inline struct gemini *gem_of(const struct nic_at *a)
{
	return (struct gemini *)a->nic;
}

static inline const struct gemini_params *gem_params(const struct nic_at *a)
{
	return a->nic->params;
}

static inline struct gem_node *gem_here(const struct nic_at *a)
{
	return a->node;
}

static inline struct gem_load *gem_load(const struct nic_at *a, packet_id id)
{
	return payload_of_load(a->nic->net->packets[id].load);
}

static inline bool gem_is_atomic(uint32_t op)
{
	return op == GEMINI_AMO || op == GEMINI_FETCH;
}

static inline void gem_post(
	const struct nic_at *a, sim_time t, uint32_t number, uint32_t data)
{
	ticks_post(a, &gem_here(a)->ticks, t, number, data);
}

/* Addresses a packet, which keeps its load, to a node. */
void gem_address(const struct nic_at *a, packet_id id, uint32_t node,
	uint32_t format, uint32_t bytes);
/* A packet with an empty load, to a node. */
packet_id gem_packet(const struct nic_at *a, uint32_t node, uint32_t format,
	uint32_t bytes, bool is_response);
void gem_send(const struct nic_at *a, packet_id id);

/* 0, or an error of a post; right: what the program needs to its own bytes. */
int gem_fma_check(
	const struct nic_at *a, const struct gemini_post *p, uint32_t right);
uint32_t gem_fma_begin(const struct nic_at *a, const struct gemini_post *p);
/* The next line of a transaction, which has no bytes yet. */
uint32_t gem_fma_line(
	const struct nic_at *a, uint32_t transaction, uint64_t made);
/* The program stores a transaction's next line; returns how many bytes. */
uint32_t gem_fma_store(struct nic *nic, uint32_t transaction, uint64_t made);
void gem_fma_on_out(const struct nic_at *a, uint32_t line);
void gem_fma_on_timeout(const struct nic_at *a, uint32_t none);
/* Deadlines are extended by the time since then. */
void gem_fma_extend(const struct nic_at *a, sim_time since);
/* A request has ended; false where it was not under way. */
bool gem_fma_answered(const struct nic_at *a, uint32_t request, uint32_t round,
	uint32_t status);
/* The same for a response without error while no line waits for the ORB; also
 * false if it is the last one of its transaction. */
bool gem_fma_count(const struct nic_at *a, const struct gem_load *l);

/* A packet that a chip has marked goes away. */
void gem_harm_drop(const struct nic_at *a, packet_id id);
/* A word of a table is read; false where it has two bad bits. */
bool gem_harm_read(const struct nic_at *a, uint64_t word);
/* As the network's client has them; the first is in frame.c. */
bool gem_harm_is_found(struct net_client *me, struct sim_worker *w,
	packet_id id, const uint32_t *bit, uint32_t n, uint32_t bits);
void gem_harm_on_quiesce(struct net_client *me, struct sim_worker *w, site_id s,
	bool is_stopped, sim_time t);

void gem_bte_on_block(const struct nic_at *a, uint32_t transaction);
void gem_bte_on_channel(const struct nic_at *a, uint32_t channel);
void gem_bte_on_engine(const struct nic_at *a, uint32_t none);
/* The engine does its work up to t, before an event that is now. */
void gem_bte_settle(const struct nic_at *a, sim_time t);
void gem_bte_on_buffer(const struct nic_at *a, uint32_t buffer);
/* A line of the engine that waited has a place in the ORB; a transaction of the
 * engine is complete. */
void gem_bte_sent(const struct nic_at *a);
void gem_bte_ended(const struct nic_at *a);
/* Finds the buffer of a send for an arriving packet, and sets the packet's
 * address; or returns an error. */
uint32_t gem_bte_match(
	const struct nic_at *a, uint32_t src, struct gem_load *l);
void gem_bte_deliver(const struct nic_at *a, uint32_t src, struct gem_load *l);
/* The event of a send that is complete or given up. */
void gem_bte_close(
	const struct nic_at *a, const struct gem_remote *x, uint32_t status);

/* Finds the transaction of another node, or begins it. */
struct gem_remote *gem_target_remote(
	struct gem_node *n, uint32_t src, uint32_t ssid, uint32_t *id);
void gem_target_forget(struct gem_node *n, uint32_t id);
/* A packet of it has arrived: if packets can be lost, the next must arrive
 * within some time. */
void gem_target_watch(const struct nic_at *a, struct gem_remote *x);
void gem_target_on_overdue(const struct nic_at *a, uint32_t none);
/* Restarts the time-outs of other nodes' transactions. */
void gem_target_extend(const struct nic_at *a);
void gem_target_on_in(const struct nic_at *a, packet_id id);
/* If responses wait in line with requests: a packet joins the line, or
 * NO_PACKET; the first ones are taken in. */
void gem_target_on_line(const struct nic_at *a, packet_id id);
void gem_target_on_written(const struct nic_at *a, packet_id id);
/* A request has been executed, or refused as its load's status says. */
void gem_target_done(const struct nic_at *a, packet_id id);

/* The node of a line; false where there is none. */
bool gem_ntt_translate(
	const struct nic_at *a, const struct gemini_post *p, uint32_t *node);

extern const struct nic_member_ops gem_window_member; /* of the part */
void gem_window_on_sync(const struct nic_at *a, uint32_t window);
void gem_window_on_bad_store(const struct nic_at *a, uint32_t window);
/* A transaction of a window has ended. */
void gem_window_ended(const struct nic_at *a, const struct gem_transaction *x);

/* Executes an atomic whose load has an address that it may touch. */
void gem_amo_execute(const struct nic_at *a, packet_id id);
/* Before the interface reads or writes bytes of memory: words of these in the
 * cache are written and dropped. */
void gem_amo_touch(const struct nic_at *a, uint64_t at, uint32_t bytes);
void gem_amo_on_free(const struct nic_at *a, uint32_t none);
void gem_amo_on_written(const struct nic_at *a, uint32_t none);
void gem_amo_on_flush(const struct nic_at *a, uint32_t event);
extern const struct nic_member_ops gem_amo_member; /* of the pointer */

bool gem_cq_is_open(const struct gem_node *n, uint32_t cq, uint32_t round);
/* The queue that a handle's flags name, or GEMINI_NO_CQ where it is gone. */
uint32_t gem_cq_of_handle(const struct nic_at *a, uint32_t flags);
/* Only if there is a book. */
void gem_account_request(
	const struct nic_at *a, packet_id id, const struct gem_line *x);
/* goes_on: the response continues the budget of its request. */
void gem_account_response(
	const struct nic_at *a, packet_id request, packet_id id, bool goes_on);
/* A packet ends: its part of the transaction is complete, or not. */
void gem_account_end(const struct nic_at *a, packet_id id, bool is_done);

/* False where there is no such queue. */
bool gem_cq_write(
	const struct nic_at *a, uint32_t cq, uint64_t data, uint32_t status);
void gem_cq_on_event(const struct nic_at *a, uint32_t event);

#endif
