/* Shared by the card's files: nios.c is the processor, send.c takes commands
 * and has the DMA engines, receive.c is the receive path. */
#ifndef NIC_APENET_CARD_H
#define NIC_APENET_CARD_H

#include "base/ring.h"
#include "base/slots.h"
#include "parts/gpus/gpus.h"
#include "nic/apenet/apenet.h"
#include "nic/util/flips.h"
#include "nic/util/outbox.h"
#include "nic/util/tlb.h"
#include "parts/lofamo/lofamo.h"

enum ape_engine {
	APE_QUEUES = ENGINE_CLIENT,
	APE_READS = APE_QUEUES + WORKQS_EVENTS,
	APE_NIOS = APE_READS + SIDE_READS_EVENTS, /* has done a job */
	APE_BEGIN, /* an engine asks for a command's bytes */
	APE_READY, /* they are at the bridge */
	APE_HERE, /* in the card */
	APE_IN, /* a packet is */
	APE_LOOKED, /* its address is known */
	APE_WRITTEN, /* and its bytes are in memory */
};

/* Behind a packet's load. */
struct ape_load {
	uint64_t offset, at; /* in its buffer; once known, an address */
	uint64_t own_offset; /* of a get: where its bytes go */
	uint32_t key, own_key, tag;
	uint32_t bytes; /* of data; or wanted by a get */
	uint32_t total; /* of the message so far */
	uint32_t work; /* the sender's */
	uint32_t fifo, chunks; /* held in reception */
	uint32_t misses; /* of its pages */
	uint8_t op, flags, error;
	bool is_local; /* it does not leave the card */
	bool is_named; /* data has only a name: see ape_frame_make() */
	struct memory_name name;
	struct flips flips; /* on its way: see frame.h */
	uint8_t data[];
};

enum ape_state { WORK_WAITS, WORK_HERE, WORK_OUT, WORK_LEFT };

/* A command under way. */
struct ape_work {
	struct slot slot;
	struct ape_command c;
	uint32_t queue; /* or APE_NO_QUEUE */
	uint32_t number; /* in its queue */
	uint32_t total; /* of its message, up to this one */
	uint32_t engine;
	uint64_t own_offset; /* of a get's */
	uint8_t state, error;
	sim_time last; /* bytes of a GPU's are at the bridge */
	/* where its time has gone */
	struct book_message message;
	struct book_held held; /* of the get's request */
	bool is_held;
	bool is_awaited; /* there is an event when the Nios is done */
	struct workq_birth birth; /* of its command */
	sim_time done, begun, here;
};

enum { APE_NO_QUEUE = WORKQS };

/* The start of the last packet's route. */
struct ape_way {
	uint64_t way;
	uint32_t dst;
	uint16_t ask;
	uint8_t kind, escape, channel;
	bool is_known;
};

enum ape_job_kind { JOB_COMMAND, JOB_GET, JOB_MISS, JOB_ENROL, JOB_STRIKE };

struct ape_job {
	enum ape_job_kind kind;
	uint32_t id; /* of a work or packet; or a key */
	/* of a buffer's */
	uint64_t at, bytes;
	uint64_t number; /* as asked_for */
};

struct ape_queue {
	struct workq q;
	struct book_message message; /* that its commands are of */
	uint32_t total, n_left; /* bytes so far; its packets */
	bool is_waiting; /* in n->run */
	struct ring held; /* budgets that go on in software */
};

struct ape_node {
	struct ticks ticks;
	struct side_reads reads;
	struct workqs queues; /* struct ape_queue */
	struct ranges buffers; /* flags: their queue */
	struct tlb tlb;
	struct outbox out;

	struct lofamo_outage *outage; /* of the card and GPUs */
	size_t n_outages;

	struct ring jobs; /* of the Nios, beside commands */
	sim_time nios_at; /* all its jobs are done */
	uint64_t enrolled; /* buffers entered or struck out, ever */
	uint64_t asked_for;

	struct ring run; /* queues with commands */
	struct ring ready; /* works for the engines, by when the Nios is done */
	struct slots works;
	struct ring order; /* of those that engines have */
	uint32_t engine[APE_ENGINES]; /* works, or 0 */
	uint32_t turn, n_prepared;
	uint32_t waiting[APE_ENGINES], n_waiting; /* for a GPU's window */
	uint64_t gpu_out; /* bytes asked of GPUs */
	sim_time path_free[2]; /* out, in */
	struct ape_way way;

	bool is_looking; /* a packet up; those behind it: */
	struct ring rx;
	uint32_t inside, number; /* packets */
	uint64_t busy; /* the Nios, ps */
	uint64_t packets, delivered, replies, dropped, flushed, gpu_reads,
		gpu_writes;
	uint64_t hits, misses, escapes;
	uint64_t lost; /* packets in a dead card */
	uint64_t error[APE_ERRORS];
};

struct apenet {
	struct nic nic;
	struct side *side;
	struct gpus *gpus;
	struct side_reads_how reads;
	struct workqs_how queues;
	struct net_fifos fifos;
	uint32_t most; /* bytes of a packet */
};

static inline struct apenet *ape_of(const struct nic_at *a)
{
	return (struct apenet *)a->nic;
}

static inline const struct ape_params *ape_params(const struct nic_at *a)
{
	return a->nic->params;
}

static inline struct ape_node *ape_here(const struct nic_at *a)
{
	return a->node;
}

static inline struct ape_load *ape_load(const struct nic_at *a, packet_id id)
{
	return payload_of_load(a->nic->net->packets[id].load);
}

bool ape_find_outage(
	const struct ape_node *n, uint32_t kind, uint32_t unit, sim_time t);

/* A dead card has no visible effect: its packets and commands are lost. */
static inline bool ape_is_dead(const struct nic_at *a)
{
	const struct ape_node *n = a->node;

	return __builtin_expect(n->n_outages != 0, 0) &&
	       ape_find_outage(n, LOFAMO_CARD, 0, a->t);
}

/* Whether bytes at an address are a dead GPU's. */
static inline bool ape_is_of_dead_gpu(const struct nic_at *a, uint64_t at)
{
	const struct ape_node *n = a->node;

	return __builtin_expect(n->n_outages != 0, 0) && gpu_of(at) &&
	       ape_find_outage(n, LOFAMO_GPU, gpu_of(at) - 1, a->t);
}

/* An event is later than what posts it. */
static inline void ape_post(
	const struct nic_at *a, sim_time t, uint32_t number, uint32_t data)
{
	ticks_post(
		a, &ape_here(a)->ticks, t > a->t ? t : a->t + 1, number, data);
}

/*
 * For the last thing that an event does, if it leaves the network alone:
 * whether another one at t would be the site's next, so that it can be run at
 * once, as if it had been posted.  *b is then where and when.  What the router
 * does at the end of this instant comes to the card later than that.
 */
static inline bool ape_is_next(
	const struct nic_at *a, sim_time t, struct nic_at *b)
{
	if (t - a->t > ape_params(a)->input || !sim_is_next(a->w, a->s, t))
		return false;
	sim_count(a->w, 1);
	*b = *a;
	b->t = t;
	return true;
}

/* Data that is at the bridge crosses the bus before anything else does. */
static inline void ape_settle(const struct nic_at *a)
{
	struct side_reads *r = &ape_here(a)->reads;

	if (r->due <= a->t)
		side_reads_settle(a, r, a->t);
}

/* Bytes go through the data path, out or in, at t or later: when. */
static inline sim_time ape_path(
	const struct nic_at *a, uint32_t way, sim_time t, uint32_t bytes)
{
	const struct ape_params *p = ape_params(a);
	sim_time *free_at = &ape_here(a)->path_free[way];

	t = t > *free_at ? t : *free_at;
	*free_at = t + (bytes + p->width - 1) / p->width * p->clock;
	return t;
}

/* --- nios.c --- */

/* Adds a job of some time; returns when it will be done. */
sim_time ape_nios_done_at(const struct nic_at *a, sim_time takes);
/* The same, with an event at that time. */
struct ape_job *ape_nios_add(const struct nic_at *a, enum ape_job_kind kind,
	uint32_t id, sim_time takes);
void ape_nios_on_done(const struct nic_at *a, uint32_t kind);

/* --- send.c --- */

void ape_send_fetched(const struct nic_at *a, uint32_t queue);
/* The Nios has handled a command that an idle engine waits for. */
void ape_send_go(const struct nic_at *a);
void ape_send_reply(const struct nic_at *a, packet_id id);
void ape_send_begin(const struct nic_at *a, uint32_t work);
void ape_send_on_ready(const struct nic_at *a, uint32_t work);
void ape_send_on_here(const struct nic_at *a, uint32_t work);
void ape_send_on_room(const struct nic_at *a, uint32_t fifo);

/* --- receive.c --- */

void ape_receive_on_in(const struct nic_at *a, packet_id id);
void ape_receive_translated(const struct nic_at *a, packet_id id);
void ape_receive_on_looked(const struct nic_at *a, packet_id id);
void ape_receive_on_written(const struct nic_at *a, packet_id id);
/* Frees a packet and its place. */
void ape_receive_finish(const struct nic_at *a, packet_id id, bool is_done);

#endif
