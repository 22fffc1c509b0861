/*
 * Messages with tags that a machine itself matches with receives, without the
 * help of a process.  A machine that can has a table of these operations, and
 * sends and receives of weft/msg.h use it (tagged.c); so can any other library
 * of messages above it.  Nothing here depends on how weft/msg.h names them.
 *
 * A receive names a rank or any, and a tag; bits of its ignore may differ.  A
 * message is received by the first receive that it matches, in the order of
 * posting, and a receive gets the first message, in the order of arrival;
 * messages of one rank arrive in the order in which they were sent.  Buffers
 * are named by addresses of the node, so foreign regions are as good as others.
 *
 * Everything that was begun ends once, and next() tells of its end with the
 * context that it was begun with.  Contexts of what is under way differ; they
 * are never followed.
 */
#ifndef API_MSG_TAGGED_H
#define API_MSG_TAGGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msg_state;

enum {
	/* A send ends when it is matched, or later. */
	MSG_TAGGED_SYNC = 1,
	/* A peek takes the message away from all receives; later a receive with
	 * the same context and this flag gets it. */
	MSG_TAGGED_CLAIM = 2,
	/* A peek, or a receive of what was claimed, drops the message; its
	 * sender is told that it is matched. */
	MSG_TAGGED_DISCARD = 4,
	/* The message has a data word: of sends, and of ends. */
	MSG_TAGGED_DATA = 8,
	/* A peek that finds no message may wait for one; or it ends, and
	 * whoever asked looks again when something has come. */
	MSG_TAGGED_LASTS = 16,
};

#define MSG_TAGGED_ANY UINT32_MAX /* as a rank */

/*
 * A space is a number below MSG_SPACES and a part of the sender, below
 * MSG_FROM_ANY.  A receive with MSG_FROM_ANY as its part takes messages of any.
 */
enum { MSG_SPACES = 512, MSG_FROM_ANY = 127 };

#define MSG_SPACE(number, from) ((uint16_t)((number) | (from)*MSG_SPACES))

static inline bool msg_space_fits(uint16_t wanted, uint16_t sent)
{
	uint16_t other = wanted ^ sent;

	return !other ||
	       (wanted / MSG_SPACES == MSG_FROM_ANY && !(other % MSG_SPACES));
}

/* What is begun. */
struct msg_tagged_entry {
	uint64_t tag, ignore, data;
	uint32_t rank;
	/* Messages and receives of different spaces do not meet; those of
	 * weft/msg.h have 0.  See MSG_SPACE(). */
	uint16_t space, flags;
	uint64_t at, bytes;
	uint64_t context;
	int64_t since; /* when it was asked for, for the log; 0: not known */
	/* If time is budgeted, of a send: when a program called for it, or -1
	 * for a library's own, and when the library had done its part. */
	int64_t called, ready;
};

/* Bit of the contexts of another library than weft/msg.h: its ends are given to
 * msg_state.on_end(). */
#define MSG_TAGGED_OTHER (UINT64_C(1) << 63)

/* What has ended. */
struct msg_tagged_end {
	uint64_t context;
	/* of the message */
	uint64_t tag, data;
	uint64_t bytes; /* its length, even if it was truncated */
	uint32_t rank;
	uint16_t flags, space;
	/* 0; EMSGSIZE: the rest is lost; ECANCELED; ENOMSG: a peek found no
	 * message; EIO: the other rank cannot be reached. */
	int error;
};

/*
 * All calls are made by the process, but on_write() and has_next() also outside
 * of the program.  Those that begin something return 0, or an error, and then
 * nothing was begun: EAGAIN if there is no room now, EFAULT for bytes outside
 * of the memory, EINVAL for a rank that does not exist, EIO for one that cannot
 * be reached any more.
 */
struct msg_tagged {
	/* Bytes of a process's memory, at tagged_at, for an interface with
	 * these parameters, or with the usual ones for NULL; 0: it is to match
	 * no messages. */
	uint64_t (*memory)(const void *params, uint32_t n_ranks);

	/* Longest message that is sent at once unless the program says so. */
	uint32_t eager;
	/* *is_over: it has ended, and next() will not tell. */
	int (*send)(struct msg_state *m, const struct msg_tagged_entry *e,
		bool *is_over);
	/* EINVAL: nothing was claimed with this context. */
	int (*receive)(struct msg_state *m, const struct msg_tagged_entry *e);
	/* Ends a receive that has no message.  EINVAL: there is none with this
	 * context. */
	int (*cancel)(struct msg_state *m, uint64_t context);
	/* Looks for the message that a receive would get. */
	int (*peek)(struct msg_state *m, const struct msg_tagged_entry *e);
	/* The next one that has ended, if any. */
	bool (*next)(struct msg_state *m, struct msg_tagged_end *end);

	/* --- of software, on machines that do not match; else NULL --- */

	/* It writes the log of messages itself. */
	bool logs;
	void (*open)(struct msg_state *m);
	/* Takes all messages of a rank that have arrived in slots. */
	void (*drain)(struct msg_state *m, uint32_t rank);
	/* Advances what waits for slots, data and answers; returns whether
	 * there was any progress. */
	bool (*go_on)(struct msg_state *m);

	/* A rank cannot be reached any more: what waits for it ends. */
	void (*lose)(struct msg_state *m, uint32_t rank);

	/* Message i, from 0 on, that has come and has no receive; false if
	 * there are fewer.  Also outside of programs. */
	bool (*early)(const struct msg_state *m, uint32_t i, uint32_t *rank,
		uint64_t *tag);

	/* --- for waits --- */

	/* Whether next() has one, or what had no room may have it now. */
	bool (*has_next)(const struct msg_state *m);
	/* Bytes from tagged_at on were written; NULL: nobody writes there. */
	void (*on_write)(struct msg_state *m, int64_t t, uint64_t at, size_t n);
};

/* By slots: of machines without a table of their own. */
extern const struct msg_tagged msg_slots;

#endif
