/* The command processor: see command.c. */
#ifndef NIC_ELAN4_COMMAND_H
#define NIC_ELAN4_COMMAND_H

#include "nic/elan4/elan.h"

struct elan_commands {
	sim_time free_at;
	bool is_posted;
};

/* There is a queue with work. */
void elan_command_go(const struct nic_at *a);
void elan_command_on_free(const struct nic_at *a, uint32_t none);

#endif
