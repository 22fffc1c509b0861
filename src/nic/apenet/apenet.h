/*
 * APEnet+'s card.  A process has a queue of commands in host memory
 * (nic/util/workq.h), which also receives its events.  A command puts up to a
 * packet of bytes into a buffer of another node, or asks the card there to put
 * some here (get).  Buffers are named by keys; only registered buffers can be
 * accessed from outside.  Both ends of a put may be host memory or a GPU's
 * (host/gpu.h).
 *
 * A command is fetched, some ahead of time; handled by the Nios II, a processor
 * that does one thing after the other; taken by one of the DMA engines in turn,
 * which reads its bytes; and sent.  Commands complete in order.  The address of
 * an arriving packet is looked up in the TLB; after a miss, the Nios translates
 * and installs the page.
 *
 * Nothing is acknowledged: a put is done when its source may be reused.
 */
#ifndef NIC_APENET_APENET_H
#define NIC_APENET_APENET_H

#include "nic/util/ranges.h"
#include "nic/util/workq.h"

enum {
	APE_MOST = 4096, /* bytes of a command */
	APE_ENGINES = 4, /* DMA engines, at most */
	APE_KEY_SHIFT = 20, /* a key is a queue << this | a number */
	APE_PAGE = 4096, /* of the host; and of a GPU: */
	APE_GPU_PAGE = 65536,
};

enum ape_op {
	APE_PUT,
	APE_GET,
	APE_FLUSH, /* a put whose bytes are read and discarded */
	APE_OPS,
	APE_REPLY = APE_OPS, /* a put that a get has asked for */
};

enum ape_flag {
	APE_LAST = 1, /* of its message: an event at the target */
	APE_TELL = 2, /* an event when it is done */
	APE_QUIET = 4, /* no event at the target */
	APE_GOES_ON = 8, /* a copy there follows: ape_copied() */
};

struct ape_command {
	uint64_t from; /* an address here; of a get, an offset of its buffer */
	uint64_t offset; /* in the buffer there */
	uint32_t key; /* of that */
	uint32_t tag; /* for its event; of a get, its own buffer's key */
	uint32_t to; /* node, op << 24, flags << 28 */
	uint32_t size; /* bytes, packets of the message << 13; or a get's tag */
};

_Static_assert(sizeof(struct ape_command) == 32, "APE-G12");

#define APE_TO(node, op, flags)                                                \
	((uint32_t)(node) | (uint32_t)(op) << 24 | (uint32_t)(flags) << 28)
#define APE_SIZE(bytes, packets) ((uint32_t)(bytes) | (uint32_t)(packets) << 13)

/* The event of a completion's status, with its other fields. */
enum ape_event {
	APE_DONE, /* commands up to number id have left */
	APE_ARRIVED, /* a put: tag and key << 32, offset, bytes */
	APE_GOT, /* the answer to a get; the same */
	APE_ERROR, /* of a packet; the same */
	APE_FAILED, /* command number id was not sent */
};

enum ape_error {
	APE_OK = RANGE_OPEN,
	APE_NO_BUFFER = RANGE_NONE,
	APE_OUTSIDE = RANGE_OUTSIDE, /* of a buffer */
	APE_BAD_COMMAND,
	APE_UNREADABLE, /* memory, or not to be written */
	APE_DAMAGED, /* on the way */
	APE_ERRORS,
};

#define APE_STATUS(event, error, node)                                         \
	((uint32_t)(event) | (uint32_t)(error) << 4 | (uint32_t)(node) << 8)
#define APE_EVENT(status)    ((status)&15)
#define APE_ERROR_OF(status) ((status) >> 4 & 15)
#define APE_NODE(status)     ((status) >> 8)

struct ape_params {
	struct workq_params work;
	int64_t queue, events; /* entries of both rings */
	int64_t engines, setup;
	int64_t width, clock; /* of the data path: bytes; ps */
	int64_t input, hit;
	int64_t entries, ways; /* of the TLB */
	int64_t translate, per_buffer, command, enrol; /* the Nios's times */
	int64_t kernel; /* software's part of a registration, ps */
	int64_t p2p; /* whether there is any */
	int64_t p2p_until, chunk; /* of staging, bytes */
	int64_t copy_rate; /* of the host's copies, bytes a second */
	int64_t rival_latency, rival_rate;
};

extern const struct nic_ops apenet_ops;

struct workqs *ape_queues(struct nic *nic, site_id s);
/* Bytes of a packet, at most. */
uint32_t ape_most(const struct nic *nic);

/* Whether a GPU of a node is dead. */
bool ape_gpu_is_dead(struct nic *nic, site_id s, uint32_t gpu, sim_time t);

/*
 * Asks the Nios to enter a buffer into its list, or to strike it out; wakes
 * programs when it is done: ape_enrolled() is then at least the number
 * returned here.
 */
uint64_t ape_enrol(
	const struct nic_at *a, uint32_t key, uint64_t at, uint64_t bytes);
uint64_t ape_strike(const struct nic_at *a, uint32_t key);
uint64_t ape_enrolled(struct nic *nic, site_id s);
/* Enters or replaces a buffer at once. */
void ape_enter(
	struct nic *nic, site_id s, uint32_t key, uint64_t at, uint64_t bytes);
/* The data of the queue's next event with APE_GOES_ON was copied from begun to
 * end: its budget ends. */
void ape_copied(
	const struct nic_at *a, uint32_t queue, sim_time begun, sim_time end);
/* The buffer of a key, or NULL. */
const struct range *ape_buffer(struct nic *nic, site_id s, uint32_t key);

#endif
