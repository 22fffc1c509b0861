/* The card's side of the host's bus: what waits for it, and who is next. */
#ifndef NIC_ELAN4_PCIX_H
#define NIC_ELAN4_PCIX_H

#include "host/bus.h"

struct nic_at;

enum elan_burst_what {
	ELAN_BURST_WORD, /* id: a word */
	ELAN_BURST_WRITE, /* id: packet */
	ELAN_BURST_COPY, /* id: a copy */
	/* from memory: */
	ELAN_BURST_READ, /* id: a read */
	ELAN_BURST_THREAD, /* id: one that reads */
};

struct elan_burst {
	enum elan_burst_what what;
	uint32_t id, bytes;
};

struct elan_line {
	struct elan_burst *burst; /* a ring */
	uint32_t first, n, room;
	int64_t had; /* of the bus's time, while the other waited */
};

/* A burst is ready; its granted() is called, now or later, with its end. */
void elan_bus_ask(const struct nic_at *a, enum elan_burst_what what,
	uint32_t id, uint32_t bytes);
void elan_bus_on_free(const struct nic_at *a);

#endif
