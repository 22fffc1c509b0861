/* The input processor: see input.c. */
#ifndef NIC_ELAN4_INPUT_H
#define NIC_ELAN4_INPUT_H

#include "nic/elan4/elan.h"

struct elan_input {
	uint16_t inside; /* packets that it is at work on */
	struct packet_list in; /* that wait for it */
	struct packet_list writers; /* inside, not all in memory */
	uint32_t came; /* packets, ever */
	uint32_t turn; /* bursts of writes, to the bus */
};

void elan_input(
	const struct nic_at *a, uint32_t fifo, packet_id id, sim_time tail);
void elan_input_on_write(const struct nic_at *a, packet_id id);
void elan_input_on_written(const struct nic_at *a, packet_id id);
void elan_input_on_tail(const struct nic_at *a, packet_id id);

#endif
