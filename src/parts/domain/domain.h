/*
 * The fast domain of a node: its processes behind a switch of its own, such as
 * the GPUs of a server.  It moves bytes between memories of one node and has
 * neither packets nor routes, and nothing of it leaves the node: its state
 * belongs to the node's site, and needs no mail.
 *
 * Each process has a port with two directions of domain.rate each.  A transfer
 * is cut into chunks.  A chunk occupies the sender's port for its duration and
 * domain.latency later, as soon as that is free, the receiver's.  Transfers
 * that share a port take turns, chunk by chunk.  The switch holds few chunks
 * for a receiver.  While it has no room, transfers to that receiver wait, one
 * behind the other, and their senders serve others.
 *
 * The bytes of a transfer appear at its end, all at once.  Transfers may
 * overtake each other.
 *
 * With domain.sums the switch adds (sums.c): the processes send chunks, of
 * which one process gets the sum; and it hands a chunk of one to all others.
 */
#ifndef PARTS_DOMAIN_DOMAIN_H
#define PARTS_DOMAIN_DOMAIN_H

#include "host/host.h"
#include "meas/budget.h"
#include "parts/part.h"

struct domain_params {
	int64_t rate; /* bytes a second, each way of a port; 0: there is none */
	int64_t latency; /* ps */
	int64_t chunk; /* bytes */
	int64_t sums; /* the switch adds */
	int64_t ranks; /* that a node usually has */
};

enum {
	DOMAIN_DATA = 512, /* most bytes that a transfer may bring itself */
	DOMAIN_PORTS = 128,
};

#define DOMAIN_NONE UINT64_MAX /* address */

struct domain;

extern const struct part_ops part_domain;

/* Of the host's nodes; NULL where these have none. */
struct domain *domain_of(const struct host *h);
const struct domain_params *domain_params(const struct parts *p);
/* The number of ranks that a node usually has; 1 where nothing says more. */
int64_t domain_ranks(const struct parts *p);

/* The node's own visit. */
struct domain_at {
	struct domain *d;
	struct sim_worker *w;
	site_id node;
	sim_time t;
};

enum domain_kind { DOMAIN_PUT, DOMAIN_GET, DOMAIN_WORD };

/* Bytes from a process to another; or a word that the first one changes in the
 * memory of the second.  All addresses are the node's. */
struct domain_move {
	enum domain_kind kind;
	uint32_t from, to; /* processes; of a get the second one asks */
	uint64_t from_at, to_at, bytes;
	const void *data; /* in place of from_at; or NULL */
	uint64_t count_at; /* a word that arriving bytes are subtracted from */
	/* A word that becomes 0 when the process that began it knows of the
	 * end. */
	uint64_t done_at;
	/* of a word: */
	enum atomic_op op;
	uint64_t operand, bound;
	uint64_t old_at; /* where the previous value goes, before the end */
	/* Called when all bytes are there; may be NULL. */
	void (*on_arrived)(void *arg, const struct domain_at *at,
		const struct domain_move *m);
	void *arg;
};

/* Begins it now.  If the domain is gone (domain_is_gone()), a put and a change
 * of a word end at once without effect, and a get never does. */
void domain_begin(const struct domain_at *at, const struct domain_move *m);
/* Transfers that a process has begun and that have not ended. */
uint32_t domain_n_open(const struct domain *d, site_id node, uint32_t process);
/* Whether it has died and will not return.  Tests of polls are called when that
 * happens. */
bool domain_is_gone(const struct domain *d, site_id node);

#define DOMAIN_ALL UINT32_MAX

/* A sum over all processes of a node, for one of them or for all.  All name the
 * same n, root and operation, and other addresses. */
struct domain_sum {
	uint64_t from_at, to_at; /* may be equal */
	uint64_t n; /* words of eight bytes, 1 or more */
	uint64_t done_at; /* a word that becomes 0 at the end */
	uint32_t root; /* a process, or DOMAIN_ALL */
	uint32_t op;
	/* a = a op b, of n words; a is of lower processes. */
	void (*combine)(
		uint32_t op, uint64_t *a, const uint64_t *b, uint32_t n);
	/* Called at the end; may be NULL. */
	void (*on_end)(void *arg, const struct domain_at *at, uint32_t process);
	void *arg;
};

/* A process joins a sum, which begins when all have and ends for all of them at
 * once. */
void domain_join(const struct domain_at *at, uint32_t process,
	const struct domain_sum *s);

#endif
