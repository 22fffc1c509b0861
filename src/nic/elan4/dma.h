/* The DMA engine: see dma.c. */
#ifndef NIC_ELAN4_DMA_H
#define NIC_ELAN4_DMA_H

#include "base/ring.h"
#include "nic/elan4/account.h"
#include "nic/util/window.h"

enum { ELAN_DMAS = 2 };

/* A DMA that is running or waiting.  One of no bytes is one packet. */
struct elan_run {
	struct elan_dma d;
	uint64_t read; /* bytes */
	sim_time ready; /* its descriptor is in the engine */
	uint32_t pending; /* packets that are read or sent */
	uint32_t queue, context; /* whose it is */
	bool is_used, has_failed;
	struct elan_account account;
};

/* A read of one, for a packet. */
struct elan_read {
	struct slot slot;
	uint32_t dma, bytes;
	uint64_t offset;
	uint32_t sequence; /* of its packet */
	sim_time from; /* it was asked for */
	bool is_built; /* its packet is */
};

/* A packet that waits for an assembler. */
struct elan_ready {
	uint32_t sending;
	sim_time since; /* its data comes; 0: is there */
};

struct elan_dmas {
	struct elan_run run[ELAN_DMAS]; /* that the engine works on */
	struct ring waiting; /* struct elan_run */
	struct slots reads; /* struct elan_read */
	uint32_t read_bytes; /* in the buffers */
	uint32_t next; /* whose turn it is */
	struct window channel;
	uint32_t assembling; /* packets, now */
	struct ring ready; /* struct elan_ready */
};

/* DMAs that are not done. */
uint32_t elan_dmas_left(const struct elan_dmas *x);

/* Takes a descriptor, or says what is wrong with it. */
enum elan_error elan_dma_add(
	const struct nic_at *a, uint32_t queue, const struct elan_dma *d);
/* Goes on: somebody else's read is done, and left it a place. */
void elan_dma_go(const struct nic_at *a);
/* Where packets go while their data comes: that of a read has the bus, until
 * end. */
void elan_dma_granted(const struct nic_at *a, uint32_t read, sim_time end);
/* A packet of so many bytes is in the network for the first time. */
void elan_dma_on_left(const struct nic_at *a, uint32_t bytes);

#endif
