/* A packet, as routings see it: they read who sent it to whom, and keep its way
 * in it. */
#ifndef WEFT_PLUGIN_PACKET_H
#define WEFT_PLUGIN_PACKET_H

#include <stdint.h>

typedef int64_t sim_time; /* picoseconds */
typedef uint32_t packet_id;

#define NO_PACKET 0u

/* How a packet asks to be carried. */
enum packet_kind {
	PACKET_DYNAMIC, /* adaptive, may escape to the deterministic channel */
	PACKET_DETERMINISTIC,
	PACKET_HIGH, /* user, high priority */
	PACKET_SYSTEM,
	N_PACKET_KINDS, /* that all routers know; with route.has_vectors: */
	/* Goes by the ports that its payload names, a byte each; load is the
	 * payload's address. */
	PACKET_VECTOR = N_PACKET_KINDS,
};

enum packet_flags {
	PACKET_STAY = 1, /* once on the escape channel, stays there */
	PACKET_DEPOSIT = 2, /* leaves a copy at every router on its line */
	PACKET_COPY = 4, /* is such a copy */
	PACKET_HURT = 8, /* bits of it were flipped on a wire */
	PACKET_RANGE = 16, /* for all nodes from dst to last */
	PACKET_ANSWER = 32, /* to one of these: goes back to its sender dst, by
			     * the way it came; number is that one's */
	PACKET_HELD = 64, /* waits in a switch for others to come */
	PACKET_BEGUN = 128, /* has its way before it is injected */
};

enum { PACKET_DIMS = 6, PACKET_NO_PORT = 0xff };

struct packet {
	packet_id next; /* in whatever list it is in */
	uint32_t src, dst; /* routers */
	uint32_t number; /* counted by its source */
	sim_time born; /* what its latency is measured from */
	sim_time head; /* when its head came to the router it is in */
	/* Its way: what routing keeps. */
	union {
		__extension__ struct {
			/* directions left to go, a bit per port; or which way
			 * its sender names: 1 + number */
			uint16_t hints;
			uint8_t left[PACKET_DIMS]; /* hops per dimension */
		};
		uint64_t way; /* its low 16 bits are the hints */
	};
	uint16_t ask; /* ports it may take now; none: it is there */
	uint8_t escape; /* its deterministic port, or PACKET_NO_PORT */
	uint8_t kind; /* an enum packet_kind */
	uint8_t flags;
	union {
		uint8_t zone; /* which set of zone masks it obeys */
		uint8_t channel; /* its next one, where routing names it */
	};
	uint8_t format; /* of its link's (link.h); 0: the only one */
	uint8_t answer; /* of those that became one, the greatest */
	uint16_t bytes; /* of payload */
	uint16_t chunks; /* what it takes of a buffer, in units of tokens */
	/* Before it is injected, words on the wire beyond its payload's; then
	 * the place of its costs in link_rules. */
	uint16_t size;
	union {
		uint16_t tag; /* its sender's */
		uint16_t last; /* of a range */
	};
	uint64_t load; /* its sender's: where its bytes are; 0 if none */
};

#endif
