/* The card's side of the host's bus: whose bursts there are. */
#ifndef NIC_ELAN4_PCIX_H
#define NIC_ELAN4_PCIX_H

#include "nic/elan4/elan.h"

/* A burst is ready; its granted() is called, now or later, with its end. */
void elan_bus_ask(const struct nic_at *a, enum elan_burst_what what,
	uint32_t id, uint32_t bytes);
void elan_bus_on_free(const struct nic_at *a);
/* PCI-X: bursts of any length, each with an overhead of its host's. */
void elan_bus_set_up(struct bus_params *p, const struct elan_host *h);

#endif
