/*
 * APEnet+: puts and gets between registered buffers of nodes, in host memory
 * or a GPU's (weft/gpu.h), without a processor of the other node.  The man page
 * is weft-ape(7).
 *
 * A process has one queue and one set of events, shared by its threads.
 * Buffers are named by keys, which other processes use as they are: how they
 * get to know them is their business; processes that register the same number
 * of buffers of the same kinds in the same order have the same keys, but for
 * weft_ape_key().
 *
 * Nothing is acknowledged.  WEFT_APE_DONE says that a put's source may change,
 * WEFT_APE_ARRIVED tells the target's process that all of it is in memory, but
 * for packets that were lost on their way or that it was told of as errors.
 * Those between two nodes arrive in order.  What is wrong at the target is
 * dropped, and its owner hears of that.
 *
 * Errors are returned as numbers of errno.h; a call that fails does nothing.
 * EBADF: the interface is not open.  EIO: the host knows that the node's card
 * is dead; what it was given before and had not sent is lost, or leaves when
 * the card returns, and no events tell of that: its sources are the card's.
 */
#ifndef WEFT_APE_H
#define WEFT_APE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Bytes of a process's memory that it takes. */
uint64_t weft_ape_memory(void);

/* Opens the process's queue in its memory, from an address on that is a
 * multiple of 64; that memory is the library's until it is closed.  EINVAL,
 * EFAULT: not there; EBUSY: it is open. */
int weft_ape_open(uint64_t at);
/* Waits for what was begun here.  Events that were not taken are lost. */
int weft_ape_close(void);

/*
 * Registers bytes of the process's memory, or of a GPU's; others may write and
 * read them from then on.  Buffers may overlap.  Takes nic.software.register
 * and a turn of the card's processor.  EFAULT: not there; ENOSPC: no more keys.
 */
int weft_ape_register(uint64_t at, uint64_t bytes, uint32_t *key);
/* Not while the process itself sends from it.  What comes for it from then on
 * is dropped.  EINVAL: no such key of this process. */
int weft_ape_deregister(uint32_t key);
/* The key that another process has for what this one has registered as a key,
 * where both have registered alike. */
uint32_t weft_ape_key(uint32_t key, uint32_t process);

enum weft_ape_way {
	WEFT_APE_AUTO, /* by size: nic.software.p2p-until */
	WEFT_APE_P2P, /* the card reads and writes GPU memory itself */
	WEFT_APE_STAGED, /* through host memory, in chunks */
	WEFT_APE_COPIED, /* the same with one more copy at each end */
};

struct weft_ape_transfer {
	uint32_t node;
	uint32_t key; /* of the buffer there */
	uint64_t offset;
	uint32_t own_key; /* of the process's own */
	uint64_t own_offset;
	uint64_t bytes; /* to 1 GiB */
	uint32_t tag; /* in its events, to 524287 */
	uint32_t way; /* enum weft_ape_way, of puts */
};

/*
 * Writes bytes of an own buffer into another one's, of any node; the struct is
 * read before it returns.  Takes nic.software.post and waits for room; a staged
 * put also for its copies.  EINVAL: no such node or way, or too long; ENOTSUP:
 * nic.software.p2p is off; EIO also: the GPU that would copy is dead; EFAULT:
 * beyond the end of the own buffer, or it is no buffer of the process.
 */
int weft_ape_put(const struct weft_ape_transfer *t);
/* Asks the other node's card for bytes of its buffer, into an own one. */
int weft_ape_get(const struct weft_ape_transfer *t);

enum weft_ape_kind {
	WEFT_APE_DONE, /* a put of this process: only tag */
	WEFT_APE_ARRIVED, /* one of another's: its last packet is here */
	WEFT_APE_GOT, /* a get of this process */
	WEFT_APE_ERROR, /* dropped: see error; or not sent, by this node */
};

enum weft_ape_error {
	WEFT_APE_NO_BUFFER = 1, /* not, or no more, registered */
	WEFT_APE_OUTSIDE, /* of the buffer */
	WEFT_APE_BAD_COMMAND,
	WEFT_APE_UNREACHABLE, /* memory, for one a dead GPU's */
	WEFT_APE_DAMAGED, /* on its way: of tag and offset nothing is known */
};

struct weft_ape_event {
	uint32_t kind, error;
	uint32_t node; /* that it came from */
	uint32_t key, tag;
	uint64_t offset, bytes;
};

/* Takes the next event, if there is one; EAGAIN: none.  Takes
 * nic.software.poll-load. */
int weft_ape_poll(struct weft_ape_event *e);
/* Waits for it; or returns EINTR where weft_ape_on_change()'s function was
 * called meanwhile. */
int weft_ape_wait(struct weft_ape_event *e);

/* --- health, as LO|FA|MO knows it (section lofamo of a machine file) --- */

enum weft_ape_health_code {
	WEFT_APE_NORMAL,
	WEFT_APE_SICK,
	WEFT_APE_ALARM, /* something there is wrong, nobody knows yet what */
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
		uint32_t host; /* of that node, as its card has told this one */
		bool is_silent; /* nothing comes over the link */
	} link[WEFT_APE_LINKS]; /* X+, X-, Y+, Y-, Z+, Z- */
};

/* Reads the registers.  Takes nic.software.poll-load.  ENOTSUP: nobody watches
 * the nodes (lofamo.on). */
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
	uint32_t unit; /* of a GPU its number, of a link its place as above */
	uint32_t health;
	int64_t since, known; /* ps: it was seen then, and the Master knew it */
	uint32_t by; /* the node that has reported it; UINT32_MAX: nobody */
};

/*
 * Has a function called for every change of the Master's picture,
 * lofamo.service after the Master knows it, the first ones included.  It is
 * called from the process's own weft_ape_poll() and weft_ape_wait(), may use
 * the card, and waits for no event itself.  NULL: no more.  ENOTSUP: nobody
 * watches the nodes.
 */
int weft_ape_on_change(
	void (*on)(void *arg, const struct weft_ape_part *p), void *arg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
