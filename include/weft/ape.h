/*
 * APEnet+: puts and gets between registered buffers of nodes, in host memory or
 * in GPU memory (weft/gpu.h), without a processor of the other node.  The man
 * page is weft-ape(7).
 *
 * A process has one queue and one set of events, which its threads share.  Keys
 * name buffers, for all processes; programs must exchange them.  Processes that
 * register the same number of buffers of the same kinds in the same order get
 * keys that differ only in the process: see weft_ape_key().
 *
 * Nothing is acknowledged.  WEFT_APE_DONE reports that the source buffer of a
 * put may be reused.  WEFT_APE_ARRIVED reports to the target process that all
 * bytes of a put are in memory, except for packets that were lost or reported
 * as errors.  Puts between two nodes arrive in order.  The target drops invalid
 * packets and reports them to the owner of the buffer.
 *
 * Errors are returned as numbers of errno.h; a call that fails does nothing.
 * EBADF: the interface is not open.  EIO: the host knows that the node's card
 * is dead.  Operations that the card had not sent are lost, or are sent when
 * the card returns, and no event reports it, since events come from the card.
 */
#ifndef WEFT_APE_H
#define WEFT_APE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Bytes of memory that weft_ape_open() needs. */
uint64_t weft_ape_memory(void);

/* Opens the queue of the process in its memory, at an address that is a
 * multiple of 64.  That memory belongs to the library until weft_ape_close().
 * EINVAL, EFAULT: invalid address; EBUSY: already open. */
int weft_ape_open(uint64_t at);
/* Waits for all transfers of the process.  Events that were not read are
 * lost. */
int weft_ape_close(void);

/*
 * Registers bytes of the process's memory, or of a GPU's; from then on others
 * may write and read them.  Buffers may overlap.  Takes nic.software.register
 * and a turn of the card's processor.  EFAULT: invalid bytes; ENOSPC: no more
 * keys.
 */
int weft_ape_register(uint64_t at, uint64_t bytes, uint32_t *key);
/* Must not be called while the process sends from the buffer.  Packets that
 * arrive for it afterwards are dropped.  EINVAL: the process has no such
 * key. */
int weft_ape_deregister(uint32_t key);
/* The key of another process for the buffer that this process has registered as
 * key, if both have registered the same buffers in the same order. */
uint32_t weft_ape_key(uint32_t key, uint32_t process);

enum weft_ape_way {
	WEFT_APE_AUTO, /* by size: nic.software.p2p-until */
	WEFT_APE_P2P, /* the card reads and writes GPU memory */
	WEFT_APE_STAGED, /* through host memory, in chunks */
	WEFT_APE_COPIED, /* as staged, with one more copy at each end */
};

struct weft_ape_transfer {
	uint32_t node;
	uint32_t key; /* of the buffer at that node */
	uint64_t offset;
	uint32_t own_key; /* of the local buffer */
	uint64_t own_offset;
	uint64_t bytes; /* to 1 GiB */
	uint32_t tag; /* appears in its events; at most 524287 */
	uint32_t way; /* enum weft_ape_way, for puts */
};

/*
 * Writes bytes of a local buffer into a buffer of any node.  The struct may be
 * reused when the call returns.  Takes nic.software.post and waits for room in
 * the queue; a staged put also waits for its copies.  EINVAL: the node or the
 * way does not exist, or the transfer is too long; ENOTSUP: nic.software.p2p is
 * off; EIO also: the GPU that would copy is dead; EFAULT: the bytes are not in
 * a local buffer.
 */
int weft_ape_put(const struct weft_ape_transfer *t);
/* Requests bytes of a remote buffer from the other node's card, into a local
 * buffer. */
int weft_ape_get(const struct weft_ape_transfer *t);

enum weft_ape_kind {
	WEFT_APE_DONE, /* a put of this process; only tag is set */
	WEFT_APE_ARRIVED, /* a put of another process: its last packet is in
			     memory */
	WEFT_APE_GOT, /* a get of this process */
	WEFT_APE_ERROR, /* a packet was dropped, see error; or a command of this
			   node was not sent */
};

enum weft_ape_error {
	WEFT_APE_NO_BUFFER = 1, /* not registered, or no longer */
	WEFT_APE_OUTSIDE, /* of the buffer */
	WEFT_APE_BAD_COMMAND,
	WEFT_APE_UNREACHABLE, /* the memory, for example of a dead GPU */
	WEFT_APE_DAMAGED, /* on the network: tag and offset are unknown */
};

struct weft_ape_event {
	uint32_t kind, error;
	uint32_t node; /* source of the transfer */
	uint32_t key, tag;
	uint64_t offset, bytes;
};

/* Reads the next event; EAGAIN: there is none.  Takes
 * nic.software.poll-load. */
int weft_ape_poll(struct weft_ape_event *e);
/* Waits for the next event.  EINTR: the function of weft_ape_on_change() was
 * called meanwhile. */
int weft_ape_wait(struct weft_ape_event *e);

/* --- health, as LO|FA|MO knows it (section lofamo of a machine file) --- */

enum weft_ape_health_code {
	WEFT_APE_NORMAL,
	WEFT_APE_SICK,
	WEFT_APE_ALARM, /* something is wrong, but it is not yet known what */
	WEFT_APE_DEAD,
	WEFT_APE_UNKNOWN,
};

enum { WEFT_APE_LINKS = 6 };

/* Codes of the node's own registers. */
struct weft_ape_health {
	uint32_t host; /* as its card sees it */
	uint32_t card; /* as the host last found it */
	struct {
		uint32_t node; /* that the link leads to, or UINT32_MAX */
		uint32_t host; /* of that node, as its card has reported */
		bool is_silent; /* nothing arrives over the link */
	} link[WEFT_APE_LINKS]; /* X+, X-, Y+, Y-, Z+, Z- */
};

/* Reads the registers.  Takes nic.software.poll-load.  ENOTSUP: LO|FA|MO is off
 * (lofamo.on). */
int weft_ape_health(struct weft_ape_health *h);

enum weft_ape_part_kind {
	WEFT_APE_HOST,
	WEFT_APE_CARD,
	WEFT_APE_SERVICE, /* port of the service network */
	WEFT_APE_LINK,
	WEFT_APE_GPU,
};

/* A part of some node, as the Master sees it. */
struct weft_ape_part {
	uint32_t kind, node;
	uint32_t unit; /* number of a GPU, or index of a link as above */
	uint32_t health;
	int64_t since, known; /* ps: when it was detected, and when the Master
				 learned of it */
	uint32_t by; /* the node that reported it; UINT32_MAX: none */
};

/*
 * Sets a function that is called for every change of the Master's picture,
 * lofamo.service after the Master learns of it, including the first changes.
 * It is called from the process's own weft_ape_poll() and weft_ape_wait(); it
 * may use the card, but must not wait for events.  NULL: none.  ENOTSUP:
 * LO|FA|MO is off.
 */
int weft_ape_on_change(
	void (*on)(void *arg, const struct weft_ape_part *p), void *arg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
