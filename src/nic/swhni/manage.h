/*
 * Management messages of SWHNI, for the manager of a node: requests to the
 * registers of switches (parts/registers/registers.h), and their answers.
 */
#ifndef NIC_SWHNI_MANAGE_H
#define NIC_SWHNI_MANAGE_H

#include "nic/nic.h"

struct registers_body;

/* Of the calling program's node.  ENOSYS: switches have no registers; EBUSY:
 * the node has a manager. */
int swhni_manage_open(const struct nic_at *a, uint32_t process);
/* Answers that come later are dropped. */
void swhni_manage_close(const struct nic_at *a);

/*
 * Stores a request into the chip's window; it leaves by a port, by its route or
 * to a GUID.  EINVAL: no such port or GUID; EAGAIN: the window is full.
 */
int swhni_manage_send(const struct nic_at *a, uint32_t port,
	const uint64_t *guid, struct registers_body *b);
/* Whether there are answers or events; takes the first one. */
bool swhni_manage_has(const struct nic *nic, site_id s);
bool swhni_manage_take(const struct nic_at *a, struct registers_body *b);

#endif
