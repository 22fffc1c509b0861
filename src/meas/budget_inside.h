/* The inside of a book: for meas/budget*.c only. */
#ifndef MEAS_BUDGET_INSIDE_H
#define MEAS_BUDGET_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/index.h"
#include "base/mem.h"
#include "meas/budget.h"
#include "meas/trips.h"

/* Of a packet. */
struct book_entry {
	struct book_account account;
	struct book_place at;
	struct book_trail *trail; /* NULL: not followed */
	struct book_way way; /* its room stays with the packet's number */
	sim_time tokens; /* waited for, and asked for */
	uint32_t n_packets; /* that have to come */
	uint8_t wait; /* an enum cause */
	bool is_open, is_dropped, is_networks;
	uint8_t header[BOOK_HEADER]; /* while it is on a link */
};

/* Per worker. */
struct book_desk {
	_Alignas(CACHE_LINE) struct book_sums sums;
	/* Of messages of several packets, some of which have come: those that
	 * are still to come, twice, and 1 if one was dropped. */
	struct index partials;
	/* Of copies and packets that took another's place, the last first;
	 * and of others that came from another process. */
	struct book_trail *trails, *came;
	struct book_trail *held; /* ways of what is held, whoever they are */
	struct book_trail *done; /* the longest that completed its message */
	struct book_slow *slow; /* the slowest first */
	uint32_t n_slow;
};

/* When a message was called for that is born later. */
struct book_call {
	sim_time called, birth;
};

enum { BOOK_CALLS = 4 }; /* of a node */

/* Names of parts, from other processes. */
struct book_words {
	pthread_mutex_t lock;
	char **word;
	uint32_t n;
};

struct book {
	struct book_how how;
	struct book_entry *entry; /* [packet] */
	uint32_t *sent; /* [node] messages */
	struct book_call *calls; /* [node][BOOK_CALLS], the last one first */
	struct trips *trips;
	struct book_desk *desk; /* [worker] */
	uint32_t n_workers, n_nodes, most;
	/* Of the followed message's packets, the last one first.  Only its
	 * sender's worker adds to the list. */
	struct book_trail *trails;
	uint32_t n_trails;
	_Atomic uint32_t top; /* above all packets that it has seen */
	/* Of several processes, or NULL; words of places from other ones. */
	const struct sim *sim;
	struct book_words *words;
};

/* --- budget.c --- */

void book_forget_way(struct book_way *w);
void book_add_step(struct book_way *w, const struct book_step *s);
void book_copy_way(struct book_way *to, const struct book_way *from);
struct book_trail *book_begin_trail(struct book_trail **trails, sim_time start);
/* What a new packet's entry begins with; what belongs to its number stays. */
struct book_entry *book_begin_entry(struct book *k, uint32_t packet);
/* An order that does not depend on who asks: the longest, then the first. */
bool book_is_longer(const struct book_account *a, const struct book_account *b);
/* Of two that completed their message; of the same time the one that was at
 * the first node, on any number of workers. */
bool book_is_shown(const struct book_trail *a, const struct book_trail *b);

/* --- budget_pack.c --- */

/* A way as bytes, and from these: returns what is behind it. */
void book_pack_way(struct cluster_bytes *to, const struct book_way *w);
const char *book_unpack_way(
	const struct book *k, const char *from, struct book_way *w);
struct book_words *book_words_new(void);
void book_words_free(struct book_words *w);

#endif
