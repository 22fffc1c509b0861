/*
 * A link: the time that a packet occupies it, the length of the wire, and the
 * tokens of its receiving end.  It does not know who may use it next; that is
 * up to the router.
 *
 * The sender's whole state is time stamps.  The link is free from free_at.  It
 * owes protocol bytes (acknowledgements and tokens for packets that arrived at
 * its own port), which will be paid by owed_until if it stays idle; the rest
 * extends the busy time after the next granted packet.
 */
#ifndef LINK_LINK_H
#define LINK_LINK_H

#include <stdint.h>

#include "base/param.h"
#include "link/checks.h"
#include "link/chips.h"
#include "link/code.h"
#include "link/fec.h"
#include "link/packet.h"
#include "link/retry.h"
#include "sim/sim.h"
#include "topo/topo.h"

enum {
	LINK_MAX_CHUNKS = 4095, /* of one packet, header included */
	LINK_FORMATS = 8,
	LINK_CHANNELS = 4,
	LINK_RETURNS = 7,
	LINK_MAX_ROUTE = 15, /* longest carried route, in switches */
	LINK_TRANSACTIONS = 6, /* most that a sender counts in a packet */
	LINK_TRAIN = 64, /* packets of a train, at most */
};

/*
 * The format of a kind of packets on the wire (requests, responses), if they
 * differ; an interface declares formats. packet.format selects one.  A packet
 * takes as many chunks as its bytes on the wire fill.
 */
struct link_format {
	const char *name;
	int64_t header, trailer; /* bytes */
	int64_t word; /* bytes of a word of payload on the wire */
};

struct link_params {
	int64_t rate; /* bytes per second, of all lanes together */
	int64_t lanes, lane_rate; /* the latter is 0 if rate is given */
	int64_t lane_limit, lane_reliable; /* of lane_rate; 0: none */
	int64_t least_lanes; /* with fewer a link is dead */
	/* Numbers of lanes that a link can run with, from all of them down;
	 * 0: any number. */
	struct param_list widths;
	int64_t retrain; /* outage when it loses or gets a lane, ps */
	int64_t code; /* an index of link_codes */
	int64_t fibre_code; /* 1 + that of optical cables; 0: code */
	int64_t fec; /* FEC_NONE ... */
	int64_t header, trailer; /* bytes */
	int64_t route; /* bytes for each switch still to pass */
	int64_t payload; /* the most, bytes */
	int64_t chunk; /* bytes per token */
	int64_t word; /* payload is rounded up to this on the wire, bytes; 0: a
			 chunk */
	/* Control words after every control_every words. */
	int64_t control, control_every;
	const struct link_format *formats; /* NULL: header and trailer */
	uint32_t n_formats;
	/* Payload is divided into transactions with a head each; 0: it is
	 * not.  A sender that counts its transactions names their number by
	 * packet.format; 0: as many as the payload fills. */
	int64_t transaction, per_transaction; /* bytes */
	int64_t protocol; /* bytes owed for each arriving packet */
	int64_t gap; /* bytes between packets */
	/*
	 * Packets of a message that travel as one train, with the time and the
	 * space of all of them; 0 or 1: each by itself.
	 */
	int64_t train;
	struct retry_params retry;
	struct chip_params chips; /* of wires that are fibres */
	/* Symbols of ten bits that check a packet, hop by hop and end to end;
	 * bits that check its header. */
	int64_t check_hop, check_end, check_header;
};

/* For all links; for networks whose packets carry routes; for lanes that are
 * transceivers; for links that send blocks of 66 bits; for chips that can use
 * another code for optical cables. */
extern const struct param link_checks_table[], link_fibre_table[];
extern const struct param link_params_table[], link_carried_table[],
	link_lane_table[], link_block_table[];
/* For interfaces that can send trains. */
extern const struct param link_train_table[];

/* Whether lanes have bit errors because of their rate. */
static inline bool link_is_fast(const struct link_params *p)
{
	return p->lane_reliable && p->lane_rate > p->lane_reliable;
}

/* The line code of a class of wires. */
static inline const struct link_code *link_code_of(
	const struct link_params *p, const struct topo_wire *w)
{
	bool is_own = p->fibre_code && w->is_optical;

	return &link_codes[is_own ? p->fibre_code - 1 : p->code];
}

/* Makes rate and lanes agree; the rate may be one that was given, or the
 * default, which lanes and their rate overrule. */
int link_params_settle(struct link_params *p, bool has_rate, struct err *e);

/* A rate that links run at. */
struct link_rate {
	sim_time gap, owed; /* gap after a packet; debt for an arrival */
};

/*
 * Derived from the parameters; the same for all links of a machine.
 *
 * Costs are a row for each rate at which a link may run: first by lost lanes,
 * then by the class of wire.  A row is indexed by packet.size: one format after
 * the other, each by words.  If all links run at one rate, there is only the
 * first row.
 */
struct link_rules {
	sim_time *ser; /* serialisation, trailer included */
	uint32_t *bytes; /* on the wire, control words included */
	uint16_t *chunks; /* of the first row */
	sim_time gap, owed; /* of the first rate */
	sim_time latency[TOPO_MAX_WIRES]; /* by class of wire */
	sim_time logic[TOPO_MAX_WIRES]; /* the router's part of it */
	uint32_t max_chunks; /* of a full packet */
	uint32_t max_payload, chunk, word; /* the payload of a whole train */
	uint32_t train; /* packets; 1: none */
	uint32_t each; /* payload of a packet of a train */
	uint32_t empty; /* bytes of a packet without payload, with its gap */
	uint32_t first[LINK_FORMATS]; /* of a row, by format */
	uint32_t n_formats; /* 1: all packets have the same one */
	uint32_t extra; /* additional words that a packet may have */
	uint32_t row; /* costs in one */
	uint32_t n_rates; /* of links that have all their lanes */
	uint8_t rate_of[TOPO_MAX_WIRES]; /* by class of wire */
	int64_t bps[TOPO_MAX_WIRES]; /* the same, without the line code */
	uint32_t lanes;
	struct link_rate *rate; /* like the rows of costs */
	sim_time longest; /* serialisation, of links that lack no lane */
	const struct link_code *code; /* of links in general */
	const struct link_code *code_of[TOPO_MAX_WIRES]; /* by class of wire */
	uint32_t route; /* bytes in front for each switch still to pass */
	uint32_t header; /* bytes */
	uint32_t protocol; /* bytes owed for an arrival */
	struct retry_params retry;
	struct chip_params chips;
	struct link_checks *checks; /* NULL: links have none */
	struct link_fec *fec; /* the same */
	sim_time route_ser[LINK_MAX_ROUTE + 1]; /* by switches */
	sim_time *routes; /* the same for each of the n_rates */
};

/* Latencies and rates of the topology override those of links; it may be
 * NULL. */
int link_rules_init(struct link_rules *r, const struct link_params *p,
	const struct topo *t, struct err *e);
void link_rules_fini(struct link_rules *r);
/* Whether replay buffers are so small that links wait even without errors, if
 * senders have tokens for some number of packets. */
bool link_retry_binds(const struct link_rules *r, int64_t packets);

/*
 * Number of full packets that a channel must hold to keep one link of a class
 * busy: packets sent until the space of the first is known to be free again.
 */
int64_t link_round_trip(const struct link_rules *r, uint32_t wire);

/* The longest payload, of a packet or of a train. */
static inline int64_t link_longest(const struct link_params *p)
{
	return p->train > 1 ? p->payload * p->train : p->payload;
}

/* Bytes of a payload on the wire: whole words and all overhead, but no gap. */
int64_t link_wire_bytes(const struct link_params *p, int64_t payload);
/* Number of lanes that a link uses of those that work. */
int64_t link_width(const struct link_params *p, int64_t working);
/* Data rate: the raw rate less its line code. */
int64_t link_data_rate(const struct link_params *p);
/* The same for a class of wires. */
int64_t link_wire_rate(const struct link_params *p, const struct topo_wire *w);
/* Interval between groups of control words, ps; 0: there are none. */
sim_time link_control_slot(const struct link_params *p);

/* The number of packets of a train. */
static inline uint32_t link_packets(const struct link_rules *r, uint32_t bytes)
{
	return bytes > r->each ? (bytes - 1) / r->each + 1 : 1;
}

/*
 * Trains in place of a number of packets, in a buffer or a window.  A train
 * frees its space all at once, and waits for whole trains of others, so the
 * same bytes would hold traffic up: there are some more, which fade out as
 * trains become packets, but no more trains than there were packets.
 */
enum { LINK_BUFFER_MORE = 5, LINK_WINDOW_MORE = 8 };

static inline int64_t link_trains(int64_t train, int64_t packets, int64_t more)
{
	int64_t n = packets;

	if (train <= 1)
		return n;
	n = (packets + more * (train - 1) + train / 2) / train;
	n = n < packets ? n : packets;
	return n < 2 ? 2 : n;
}

/* Index of the costs of a payload in a row. */
static inline uint32_t link_place(
	const struct link_rules *r, uint32_t format, uint32_t bytes)
{
	return r->first[format] + (bytes + r->word - 1) / r->word;
}

/* Time of header and payload, in the first format. */
static inline sim_time link_ser(const struct link_rules *r, uint32_t bytes)
{
	return r->ser[link_place(r, 0, bytes)];
}

/* Time of a packet of the link itself, with a total number of bytes. */
static inline sim_time link_short(
	const struct link_rules *r, uint32_t wire, uint32_t bytes)
{
	return ((int64_t)bytes * PS_PER_S + r->bps[wire] - 1) / r->bps[wire];
}

/* Sets a packet's chunks and size. */
static inline void link_measure(const struct link_rules *r, struct packet *p)
{
	uint32_t i = link_place(r, p->format, p->bytes);

	p->chunks = r->chunks[i];
	p->size = (uint16_t)(p->size + i);
}

/* The row of a link with a class of wire and a number of missing lanes. */
static inline uint32_t link_row(
	const struct link_rules *r, uint32_t wire, uint32_t dead)
{
	return dead * r->n_rates + r->rate_of[wire];
}

/* Time of header and payload on a class of wires, in the first format. */
static inline sim_time link_ser_on(
	const struct link_rules *r, uint32_t wire, uint32_t bytes)
{
	return r->ser[link_row(r, wire, 0) * r->row + link_place(r, 0, bytes)];
}

/* The same of a route of so many switches. */
static inline sim_time link_route_on(
	const struct link_rules *r, uint32_t wire, uint32_t switches)
{
	return r->routes[r->rate_of[wire] * (LINK_MAX_ROUTE + 1) + switches];
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
 * Tokens on their way back to a sender: time stamps that are read when tokens
 * are needed, instead of events.  Unordered, since packets of different sizes
 * leave a buffer at different times.  The other end writes here, so everything
 * that it touches is in one cache line.
 */
struct link_returns {
	uint32_t n;
	uint32_t is_starving; /* a packet waits for tokens */
	uint64_t stamp[LINK_RETURNS]; /* see link_stamp() */
};

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "all_tokens has channel 0 in its low bits"
#endif

_Static_assert(sizeof(struct link_returns) == 64, "one cache line");

/* The low bits are the position and the amount to add to the tokens as one
 * number; times have 48 bits, 281 s. */
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
	return x & 0xfff;
}

/* What to add to all tokens: no channel overflows into the next. */
static inline uint64_t link_stamp_tokens(uint64_t x)
{
	return (x & 0xfff) << (x >> 8 & 0x30);
}

/* Chunks of a channel that are on their way back. */
static inline int32_t link_returning(
	const struct link_returns *r, uint32_t channel)
{
	int32_t sum = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (link_stamp_channel(r->stamp[i]) == channel)
			sum += (int32_t)link_stamp_chunks(r->stamp[i]);
	return sum;
}

/* The tokens of each channel, with those on their way back. */
static inline void link_all_tokens(const struct link_sender *l,
	const struct link_returns *r, int32_t *tokens)
{
	uint64_t sum = l->all_tokens;

	for (uint32_t i = 0; i < r->n; i++)
		sum += link_stamp_tokens(r->stamp[i]);
	for (uint32_t c = 0; c < LINK_CHANNELS; c++)
		tokens[c] = (int16_t)(sum >> 16 * c);
}

/* Whether some channel has fewer tokens: all at once, since neither has the
 * highest bit of its part. */
static inline bool link_is_below(const struct link_sender *l, int32_t tokens)
{
	const uint64_t ones = UINT64_C(0x0001000100010001), high = ones << 15;

	return ~((l->all_tokens | high) - (uint64_t)tokens * ones) & high;
}

/* Collects the tokens that have returned by t. */
static inline void link_collect(
	struct link_sender *l, struct link_returns *r, sim_time t)
{
	uint64_t due = (uint64_t)(t + 1) << 16, sum = 0;
	const uint64_t *end = r->stamp + r->n;
	uint64_t *to = r->stamp;

	for (const uint64_t *at = to; at < end; at++) {
		if (*at < due)
			sum += link_stamp_tokens(*at);
		else
			*to++ = *at;
	}
	r->n = (uint32_t)(to - r->stamp);
	l->all_tokens += sum;
}

/* What a channel with some tokens has taken of the chunks that it shares. */
static inline int32_t link_shared(int32_t tokens, int32_t pool)
{
	return tokens < pool ? pool - tokens : 0;
}

/* A number of chunks that all channels share: it, and as many for each of them
 * like their tokens, which do not use their highest bits. */
struct link_pool {
	int32_t chunks;
	uint64_t of_each;
};

static inline struct link_pool link_pool(int32_t chunks)
{
	return (struct link_pool){ chunks,
		(uint64_t)chunks * UINT64_C(0x0001000100010001) };
}

/* Whether no channel but one has taken any. */
static inline bool link_is_alone(
	const struct link_sender *l, uint32_t channel, struct link_pool pool)
{
	const uint64_t high = UINT64_C(0x8000800080008000);
	uint64_t others = l->all_tokens | UINT64_C(0x7fff) << 16 * channel;

	return !(~((others | high) - pool.of_each) & high);
}

/*
 * Room for a channel where each has private chunks, and all share a pool.  The
 * tokens of a channel count both together: what it lacks of the pool's chunks
 * is what it has taken from the pool.  So it has the room of its tokens, less
 * what others have taken.
 */
static inline int32_t link_room(
	const struct link_sender *l, uint32_t channel, struct link_pool pool)
{
	int32_t room = l->tokens[channel];

	if (__builtin_expect(link_is_alone(l, channel, pool), 1))
		return room;
	for (uint32_t c = 0; c < LINK_CHANNELS; c++)
		room -= c == channel ? 0
				     : link_shared(l->tokens[c], pool.chunks);
	return room;
}

/* A data packet arrived at this port: its acknowledgement is owed. */
static inline void link_owe(struct link_sender *l, sim_time owed, sim_time t)
{
	l->owed_until = (l->owed_until > t ? l->owed_until : t) + owed;
}

/* The debt for a packet, or for those of a train. */
static inline sim_time link_owed(
	const struct link_rules *r, sim_time owed, const struct packet *p)
{
	return __builtin_expect(r->train > 1, 0)
		       ? owed * link_packets(r, p->bytes)
		       : owed;
}

/*
 * Words more of a packet without payload that stands for those that belong to
 * the packets of a train, such as its acknowledgements.
 */
static inline uint16_t link_others(const struct link_rules *r, uint32_t bytes)
{
	uint32_t n = link_packets(r, bytes) - 1;

	return (uint16_t)((n * r->empty + r->word / 2) / r->word);
}

/* Whether a packet is so short that it goes between packets of a train that has
 * the link, rather than wait for it, if that has several. */
enum { LINK_GAPS = 4, LINK_LONG_TRAIN = 8 };

static inline bool link_slips_in(
	const struct link_rules *r, const struct packet *p)
{
	return r->train >= LINK_GAPS && p->bytes <= r->each / 8;
}

/*
 * When it goes: at the end of the next packet of the train or, since exact runs
 * take that long, of the one behind it in a train that is not long; but not
 * before the last one that went between packets has gone.  No two heads leave
 * at the same time: what goes behind the last packet of a train goes just
 * before the next train may.  SIM_NEVER: it waits for its turn.
 */
static inline sim_time link_next_gap(const struct link_rules *r,
	const struct link_sender *l, sim_time last, sim_time t)
{
	sim_time each = link_ser(r, r->each) + r->gap, left = l->free_at - t;

	if (left <= 0)
		return SIM_NEVER;
	if (r->train < LINK_LONG_TRAIN && left > each)
		left -= each;
	t = left < each ? l->free_at - 1 : l->free_at - left / each * each;
	t = t > last ? t : last;
	return t < l->free_at ? t : SIM_NEVER;
}

/* Takes the link at t for a packet whose tail leaves at tail. */
static inline void link_take(
	struct link_sender *l, sim_time gap, sim_time t, sim_time tail)
{
	sim_time owed_until = l->owed_until > t ? l->owed_until : t;

	l->free_at = l->owed_until = owed_until + (tail - t) + gap;
}

#endif
