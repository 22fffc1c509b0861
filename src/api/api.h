/* A machine's own programming interface: the network interface that it is for,
 * and the message layer's operations on it. */
#ifndef API_API_H
#define API_API_H

#include "nic/nic.h"

struct msg_ops;

struct api {
	const char *name; /* for struct weft_app; NULL: messages only */
	const struct nic_ops *nic;
	const char *machine; /* an example that has it */
	const struct msg_ops *msg;
	uint32_t n_io; /* threads of an IO node that run serve() */
	void (*serve)(void *arg);
};

extern const struct api *const api_registry[]; /* ends with NULL */
extern const struct api spi_api, elan_api, gni_api, plain_api, ape_api, sw_api;

/* The interface for a network interface, or NULL. */
const struct api *api_to(const struct nic_ops *nic);
/* The interface of a name; an error lists all names. */
const struct api *api_find(const char *name, struct err *e);

#endif
