/* A packet, as routings see it.  They read its source and destination, and keep
 * its route in it. */
#ifndef WEFT_PLUGIN_PACKET_H
#define WEFT_PLUGIN_PACKET_H

#include <stdint.h>

typedef int64_t sim_time; /* picoseconds */
typedef uint32_t packet_id;

#define NO_PACKET 0u

/* Routing of a packet. */
enum packet_kind {
	PACKET_DYNAMIC, /* adaptive, may escape to the deterministic channel */
	PACKET_DETERMINISTIC,
	PACKET_HIGH, /* user, high priority */
	PACKET_SYSTEM,
	N_PACKET_KINDS, /* known to all routers; with route.has_vectors also: */
	/* Takes the ports that its payload names, a byte each; load is the
	 * address of the payload. */
	PACKET_VECTOR = N_PACKET_KINDS,
};

enum packet_flags {
	PACKET_STAY = 1, /* once on the escape channel, stays there */
	PACKET_DEPOSIT = 2, /* leaves a copy at every router on its line */
	PACKET_COPY = 4, /* is a copy of PACKET_DEPOSIT */
	PACKET_HURT = 8, /* bits of it were flipped on a wire */
	PACKET_RANGE = 16, /* for all nodes from dst to last */
	/* Answers a packet with PACKET_RANGE: returns to its sender dst by the
	 * same route; number is that packet's. */
	PACKET_ANSWER = 32,
	PACKET_MANY = 64, /* a multicast; last is the number of its entry */
	PACKET_BEGUN = 128, /* got its route before it is injected */
};

enum { PACKET_DIMS = 6, PACKET_NO_PORT = 0xff };

struct packet {
	packet_id next; /* in its list */
	uint32_t src, dst; /* routers */
	uint32_t number; /* sequence number of its source */
	sim_time born; /* start of its latency */
	sim_time head; /* when its head reached this router */
	/* Its route, for the routing. */
	union {
		__extension__ struct {
			/* remaining directions, a bit per port; or the route
			 * that its sender names: 1 + number */
			uint16_t hints;
			uint8_t left[PACKET_DIMS]; /* hops per dimension */
		};
		uint64_t way; /* its low 16 bits are the hints */
	};
	union {
		uint16_t ask; /* ports it may take now; none: it has arrived */
		uint16_t passed; /* switches, where routers count them */
	};
	uint8_t escape; /* its deterministic port, or PACKET_NO_PORT */
	uint8_t kind; /* an enum packet_kind */
	uint8_t flags;
	union {
		uint8_t zone; /* number of its set of zone masks */
		uint8_t channel; /* its next channel, if the routing names it */
	};
	uint8_t format; /* of those of its link; 0: the only one */
	uint8_t answer; /* the greatest of the combined answers */
	uint16_t bytes; /* of payload */
	uint16_t chunks; /* buffer space that it takes, in tokens */
	/* Before it is injected: additional words on the wire; then the index
	 * of its costs in link_rules. */
	uint16_t size;
	union {
		uint16_t tag; /* its sender's */
		uint16_t last; /* of a range */
		/* if nodes have several cards (topo.cards): by which it leaves
		 * its source, and comes to its destination */
		__extension__ struct {
			uint8_t card, to_card;
		};
	};
	uint64_t load; /* for its sender: where its bytes are; 0: none */
};

#endif
