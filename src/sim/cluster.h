/*
 * Weft processes: several processes, maybe on several computers, that run one
 * simulation together.  Each simulates some of the sites, its own, and never
 * touches the state of others.
 *
 * All processes run the same program with the same arguments.  They call the
 * functions below in the same order, and each call is a meeting of all of
 * them.  So what a process decides between windows may depend only on what is
 * the same everywhere: on arguments, and on what meetings told it.
 *
 * The functions raise an error (base/err.h) where another process is gone.
 */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct room;

enum { CLUSTER_MOST = 1024 }; /* processes */

/* Bytes that grow; zeroed ones are empty. */
struct cluster_bytes {
	char *at;
	size_t n, room;
};

void cluster_bytes_grow(struct cluster_bytes *b, size_t n);
/* Makes room for n more, and returns where it is. */
static inline void *cluster_add(struct cluster_bytes *b, size_t n)
{
	void *at;

	if (b->room - b->n < n)
		cluster_bytes_grow(b, n);
	at = b->at + b->n;
	b->n += n;
	return at;
}
void cluster_bytes_free(struct cluster_bytes *b);

/* What processes agree on when they meet. */
enum cluster_word {
	CLUSTER_NEXT, /* the next window, complemented */
	CLUSTER_OWN, /* the next one of a process and of mail to third ones */
	CLUSTER_OTHERS, /* set by agree(): the greatest CLUSTER_OWN of others */
	CLUSTER_STOP, /* somebody asked to stop */
	CLUSTER_FAILED, /* the process, counted from the end, or 0 */
	CLUSTER_BUSY, /* how many have something to do soon */
	N_CLUSTER_WORDS
};

struct cluster;

/* How processes reach each other. */
struct cluster_ops {
	const char *name;
	/*
	 * Messages from one process to another arrive in the order in which
	 * they were sent.  send() returns at once, and leaves b empty;
	 * receive() makes one that has come the content of b, if there is one;
	 * wait() lasts until more have come than at the last wait(), from
	 * anybody, and should follow receive() of all that are waited for.
	 */
	void (*send)(struct cluster *c, uint32_t to, struct cluster_bytes *b);
	bool (*receive)(
		struct cluster *c, uint32_t from, struct cluster_bytes *b);
	void (*wait)(struct cluster *c);
	/*
	 * Replaces each word by the greatest of all processes, but
	 * CLUSTER_OTHERS, which is 0 before, by the greatest CLUSTER_OWN of all
	 * other processes, and CLUSTER_BUSY by the sum.  Messages sent before
	 * may not have come yet.
	 */
	void (*agree)(struct cluster *c, uint64_t word[N_CLUSTER_WORDS]);
	/* Replace each value by the sum, or by the greatest, of all. */
	void (*sum)(struct cluster *c, uint64_t *x, size_t n);
	void (*max)(struct cluster *c, uint64_t *x, size_t n);
	/* Replaces bytes by those of one process. */
	void (*tell)(struct cluster *c, uint32_t from, void *bytes, size_t n);
	/* For those who wait in a room, both or NULL: a process that has ended,
	 * or n; and the end of the run because of that. */
	uint32_t (*find_gone)(struct cluster *c);
	void (*give_up)(struct cluster *c, uint32_t gone);
	/* The process is about to end.  With a code other than 0 so are all. */
	void (*leave)(struct cluster *c, int code);
};

struct cluster {
	const struct cluster_ops *ops;
	uint32_t me, n; /* of n processes */
	uint32_t me_here, n_here; /* the same, of those on this computer */
	/* Not 0: this process was asked to end, at this time; or NULL. */
	const atomic_int *stop;
	int64_t asked;
	bool knows_error; /* all processes know of one */
	bool is_broken; /* somebody is gone: they cannot meet any more */
	struct room *room; /* that all share, see sim/room.h; or NULL */
};

/* For tests: processes of one computer share no room, as if they were on
 * several. */
bool cluster_is_apart(void);

/* "process 3 on node17", of a process of this computer. */
enum { CLUSTER_NAME = 96 };
void cluster_name(uint32_t process, char text[CLUSTER_NAME]);

/* Meetings as those of struct cluster_ops, in the room if there is one. */
void cluster_sum(struct cluster *c, uint64_t *x, size_t n);
void cluster_max(struct cluster *c, uint64_t *x, size_t n);
void cluster_tell(struct cluster *c, uint32_t from, void *bytes, size_t n);

/* Sends out[i] to process i and receives in[i] from it, for those with
 * is_near[i], the same on both sides, and agrees. */
void cluster_meet(struct cluster *c, const bool *is_near,
	struct cluster_bytes *out, struct cluster_bytes *in,
	uint64_t word[N_CLUSTER_WORDS]);

/* To be called while a meeting lasts: a process that was asked to end waits for
 * the others a few seconds only, and then gives up. */
void cluster_look(struct cluster *c);

/*
 * Each process calls something that needs no other one, and is told when it is
 * to return early: where any process was asked to end, *stop is set in all, and
 * so it is where one is gone.  Lasts until all have returned; -1 with the error
 * where one is gone.  The call is made on another thread.
 */
int cluster_run_alone(struct cluster *c, void (*call)(void *arg), void *arg,
	atomic_int *stop, struct err *e);

/* --- jobs of MPI --- */

/* What sim/mpi.c, which is loaded on its own, needs of weft. */
struct cluster_help {
	void *(*alloc)(size_t n); /* zeroed */
	void (*free)(void *p);
	void *(*add)(struct cluster_bytes *b, size_t n); /* cluster_add() */
	void (*look)(struct cluster *c); /* cluster_look() */
	int64_t (*clock)(void); /* ns */
	bool (*is_apart)(void); /* cluster_is_apart() */
	/* The same names of sim/room.h: */
	size_t (*room_size)(uint32_t n);
	struct room *(*room_open)(void *memory, struct cluster *c);
	void (*room_close)(struct room *r);
};

/* weft_cluster_open() of such a shared object: joins the job.  Its
 * weft_cluster_build is a text that differs where this file or sim/mpi.c does.
 */
typedef struct cluster *cluster_open(const struct cluster_help *help);

/* The number of processes of the job that this process is a part of, and its
 * own; 1 if there is none. */
uint32_t cluster_job(uint32_t *me);
/* Whether its launcher is there; if not, it may be or not. */
bool cluster_has_launcher(void);
/* Joins that job; only before there are threads.  NULL with the error. */
struct cluster *cluster_join(struct err *e);

/* --- */

/* The error of the first process that has one becomes that of all.  Returns
 * -1 if there is one.  Where a process is gone, the others keep theirs. */
int cluster_share_error(struct cluster *c, struct err *e);
/* The same, behind the name of a process unless it is the first: for what may
 * be different on other computers. */
int cluster_share_signed(struct cluster *c, struct err *e);

#endif
