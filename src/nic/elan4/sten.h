/* The STEN, which makes short packets of a queue's words: see sten.c. */
#ifndef NIC_ELAN4_STEN_H
#define NIC_ELAN4_STEN_H

#include "nic/elan4/elan.h"

/*
 * The packet that is next in a queue: sends it, or skips it.  Bytes taken, or
 * 0 where the queue has to wait or has stopped.
 */
uint32_t elan_sten_send(const struct nic_at *a, uint32_t queue);
uint32_t elan_sten_skip(const struct nic_at *a, uint32_t queue);
void elan_sten_on_half(const struct nic_at *a, uint32_t queue);

#endif
