/*
 * Synthetic traffic.  Each node is an endless source.  Packet k of node s, and
 * the time at which an open loop generates it, are functions of (seed, s, k),
 * so a backlog needs no memory: a node only remembers k.
 *
 * A message has one or more packets, all for one node; a unit is a burst of
 * messages that is generated at once.  With per_message packets in a message
 * and per_unit in a unit, packet k belongs to message k / per_message and to
 * unit k / per_unit.
 *
 * With load=max a packet is made whenever an injection FIFO has room.  In an
 * open loop unit u is due a random (exponential) time after unit u - 1, or at
 * fixed times, and the latencies of its packets count from then.
 */
#ifndef LOAD_TRAFFIC_SYNTHETIC_H
#define LOAD_TRAFFIC_SYNTHETIC_H

#include "load/load.h"
#include "load/pattern.h"
#include "base/index.h"
#include "base/slots.h"
#include "sim/random.h"

enum { LOAD_MAX = -1, AUTO = -1, MIXED = 2, PPM = 1000000 };

struct source {
	uint64_t k; /* the next packet's number */
	uint64_t made; /* packets */
	struct random_bits bits; /* one draw serves four messages */
	sim_time due; /* of an open loop's packet k; SIM_NEVER: it has none */
	sim_time gap; /* mean, of an open loop, Q8 */
	packet_id pending; /* made, but its FIFO was full */
	uint32_t fifo; /* of the pending packet; NET_NO_FIFO: any */
	site_id to; /* of the current message */
	uint32_t left; /* packets of it */
	bool is_timed; /* the event of its due time is posted */
};

/* What comes to a node in pieces, in any order, until the last one is there. */
struct pieces {
	struct index index; /* of slots, by what they are pieces of */
	struct slots slots;
};

/* Per worker. */
struct meter {
	_Alignas(64) uint64_t *batch; /* bytes delivered in each */
	uint32_t room;
	uint64_t lost, damaged; /* packets */
	struct hist latency;
	struct hist whole; /* of messages of several packets, or of
			    * incasts */
};

enum stage { WARMING, MEASURING, DONE };

struct synthetic {
	struct load load;
	/* keys */
	int64_t rate; /* a PARAM_LOAD, or LOAD_MAX */
	int64_t bytes, message, burst;
	int64_t routing; /* 0 dynamic, 1 deterministic, MIXED */
	int64_t class; /* 0 user, 1 high, 2 system */
	char zones[PARAM_TEXT_MAX], file[PARAM_TEXT_MAX];
	int64_t warmup, measure; /* or AUTO */
	int64_t hot, share, hashed, fan, period, by, along;

	struct pattern pattern;
	struct matrix matrix;
	uint8_t kind;
	bool is_mixed, is_open;
	uint32_t each; /* payload of a packet, or of a train */
	uint32_t per_message, per_unit; /* packets, or trains */
	uint32_t last_bytes; /* of a message's last packet, or train */
	uint32_t train; /* packets of a train; 1: none */
	uint32_t cut; /* packets of a message, in trains or not */
	uint32_t whole; /* packets that are measured together */
	int64_t peak; /* 0: none */
	int64_t offered; /* bytes per second and node; 0: all it can */
	sim_time gap; /* mean, of an open loop, Q8 */
	struct source *source;
	struct pieces *pieces; /* [node], or NULL */
	struct meter *meter;
	sim_time batch, shift; /* batch i begins at i * batch - shift */
	sim_time packet_time;
	enum stage stage;
	sim_time from, until; /* measured */
	/* Bytes generated, taken by faults and still under way after so many
	 * measured batches: the last two looks. */
	struct judged {
		uint32_t batches;
		uint64_t generated, gone, inside;
	} judged[2];
	uint64_t gone; /* before what is measured; at its end, in it */
	bool is_saturated;
	bool is_short; /* the measurement, for a few messages at most */
};

extern const struct net_client_ops source_client;

/* In start(), and in fini() of what has started. */
void source_start(struct synthetic *y);
void source_fini(struct synthetic *y);
/* Packets of an open loop that are due by now, injected or not. */
uint64_t source_generated(const struct synthetic *y);

#endif
