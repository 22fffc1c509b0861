/*
 * A link: how long a packet occupies it, how long the wire is, and how many
 * tokens its far end has given.  It does not know who may use it next; that
 * is the router's business.
 *
 * The sender's whole state is time stamps.  The link is free from free_at;
 * the protocol bytes it owes (acknowledgements and tokens for what arrived
 * at its own port) will be paid by owed_until if it stays idle, and what is
 * not paid by the next grant lengthens the busy time after that packet.
 */
#ifndef LINK_LINK_H
#define LINK_LINK_H

#include <stdint.h>

#include "base/param.h"
#include "link/code.h"
#include "sim/sim.h"
#include "topo/topo.h"

enum {
	LINK_MAX_CHUNKS = 255, /* of one packet, header included */
	LINK_CHANNELS = 4,
	LINK_RETURNS = 7,
	LINK_MAX_ROUTE = 15, /* switches that a carried route names */
};

struct link_params {
	int64_t rate; /* bytes per second; what its lanes carry together */
	int64_t lanes, lane_rate; /* the latter is 0 where rate is given */
	int64_t code; /* an index of link_codes */
	/* Of a torus's wires: grant to first effect, ps. */
	int64_t latency[N_WIRE_CLASSES];
	int64_t header, trailer; /* bytes */
	int64_t route; /* bytes for each switch that is still to be passed */
	int64_t payload; /* the most, bytes */
	int64_t chunk; /* bytes a token stands for */
	/* Payload is cut into transactions with a head each; 0: it is not. */
	int64_t transaction, per_transaction; /* bytes */
	int64_t protocol; /* bytes owed for each packet that arrives */
	int64_t gap; /* bytes between packets */
	int64_t logic; /* what of a latency is the router's, ps */
};

/* Of all links; of networks whose packets carry their routes; the latencies of
 * a torus's wires. */
extern const struct param link_params_table[], link_carried_table[],
	link_latency_table[];
extern const size_t link_params_n, link_carried_n, link_latency_n;

/* Sets the defaults of all of these. */
void link_params_defaults(struct link_params *p);
/* Makes rate and lanes agree; the rate may be one that was given, or the
 * default, which lanes and their rate overrule. */
int link_params_settle(struct link_params *p, bool has_rate, struct err *e);

/* What follows from the parameters; the same for all links of a machine. */
struct link_rules {
	sim_time ser[LINK_MAX_CHUNKS + 1]; /* by chunks, trailer included */
	sim_time gap, owed; /* gap after a packet; debt for an arrival */
	sim_time latency[TOPO_MAX_WIRES]; /* by class of wire */
	sim_time logic[TOPO_MAX_WIRES]; /* what of it is the router's */
	uint32_t wire_bytes[LINK_MAX_CHUNKS + 1];
	uint32_t max_chunks; /* of a full packet */
	uint32_t max_payload, chunk;
	const struct link_code *code;
	uint32_t route; /* bytes in front for each switch to pass */
	sim_time route_ser[LINK_MAX_ROUTE + 1]; /* by switches */
};

int link_rules_init(
	struct link_rules *r, const struct link_params *p, struct err *e);
/* Takes the latencies that the topology itself gives. */
void link_rules_wires(struct link_rules *r, const struct topo *t);

/* What a payload takes on the wire: whole chunks, and all that goes with
 * them, but no gap. */
int64_t link_wire_bytes(const struct link_params *p, int64_t payload);
/* The rate that its code leaves of a link's raw rate. */
int64_t link_data_rate(const struct link_params *p);

/* Header and payload in chunks. */
static inline uint8_t link_chunks(const struct link_rules *r, uint32_t bytes)
{
	return (uint8_t)(1 + (bytes + r->chunk - 1) / r->chunk);
}

/* The sending side of one port: one cache line. */
struct link_sender {
	union {
		int16_t tokens[LINK_CHANNELS]; /* never below zero */
		uint64_t all_tokens;
	};
	sim_time free_at;
	sim_time owed_until; /* never before free_at */
	router_id peer;
	uint8_t peer_port;
	uint8_t wire; /* its class */
	uint8_t is_far; /* the peer belongs to another worker */
	uint8_t turn; /* the receiver's queue to try first */
	uint64_t count[LINK_CHANNELS]; /* wire bytes by channel */
};

_Static_assert(sizeof(struct link_sender) == 64, "one cache line");

/*
 * Tokens on their way back to a sender: time stamps that are looked at when
 * tokens are needed, in place of events.  Unordered, since packets of
 * different sizes leave a buffer each in its own time.  The far end writes
 * here, so all that it touches is one cache line.
 */
struct link_returns {
	uint32_t n;
	uint32_t is_starving; /* somebody waits for tokens */
	uint64_t stamp[LINK_RETURNS]; /* see link_stamp() */
};

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "all_tokens has channel 0 in its low bits"
#endif

_Static_assert(sizeof(struct link_returns) == 64, "one cache line");

/* The low bits are where and what to add to the tokens as one number; times
 * have 48 bits, 281 s. */
#define LINK_MAX_TIME ((sim_time)1 << 48)

static inline uint64_t link_stamp(sim_time t, uint32_t channel, uint32_t chunks)
{
	return (uint64_t)t << 16 | channel << 12 | chunks;
}

static inline sim_time link_stamp_time(uint64_t x)
{
	return (sim_time)(x >> 16);
}

static inline uint32_t link_stamp_channel(uint64_t x)
{
	return x >> 12 & 3;
}

static inline uint32_t link_stamp_chunks(uint64_t x)
{
	return x & 0xff;
}

/* Takes in the tokens that have come by t. */
static inline void link_collect(
	struct link_sender *l, struct link_returns *r, sim_time t)
{
	uint64_t due = (uint64_t)(t + 1) << 16, sum = 0;
	uint32_t i = r->n, n = i;

	while (i--) {
		uint64_t x = r->stamp[i];

		if (x >= due)
			continue;
		sum += (x & 0xff) << (x >> 8 & 0x30);
		r->stamp[i] = r->stamp[--n];
	}
	r->n = n;
	l->all_tokens += sum; /* no channel overflows into the next */
}

/* A data packet came in at this port: its acknowledgement is owed. */
static inline void link_owe(
	struct link_sender *l, const struct link_rules *r, sim_time t)
{
	l->owed_until = (l->owed_until > t ? l->owed_until : t) + r->owed;
}

/* Takes the link at t for a packet whose tail leaves at tail. */
static inline void link_take(struct link_sender *l, const struct link_rules *r,
	sim_time t, sim_time tail)
{
	sim_time owed = l->owed_until > t ? l->owed_until - t : 0;

	l->free_at = l->owed_until = tail + r->gap + owed;
}

#endif
