/*
 * A machine's own programming interface: which network interface it is to,
 * and how the message layer uses that.
 */
#ifndef API_API_H
#define API_API_H

#include "nic/nic.h"

struct msg_ops;

struct api {
	/* what struct weft_app calls it; NULL where programs have no more
	 * than messages */
	const char *name;
	const struct nic_ops *nic;
	const char *machine; /* one that has it, for users to try */
	const struct msg_ops *msg;
	/* what IO nodes run, on so many threads each; 0: nothing */
	uint32_t n_io;
	void (*serve)(void *arg);
};

extern const struct api *const api_registry[]; /* ends with NULL */
extern const struct api spi_api, elan_api, gni_api, plain_api, ape_api;

/* The one to a network interface, or NULL. */
const struct api *api_to(const struct nic_ops *nic);
/* The one of that name; an error says which there are. */
const struct api *api_find(const char *name, struct err *e);

#endif
