/* The card's side of the host's bus: whose bursts there are. */
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

extern const struct bus_card elan_bus_card;

/* A burst is ready; its granted() is called, now or later, with its end. */
void elan_bus_ask(const struct nic_at *a, enum elan_burst_what what,
	uint32_t id, uint32_t bytes);

#endif
