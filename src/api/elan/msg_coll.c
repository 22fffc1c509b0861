/*
 * Collectives of messages by cards and network (weft/elan_coll.h), if each node
 * has one process, and the job's nodes lie side by side.
 *
 * The first ones are messages between processes, since opening barrier and
 * group takes as long as some of these; most programs have few.  Then all
 * processes open them, and agree by messages on whether all could.
 *
 * While a process waits it serves others, as in all calls that wait.
 */
#include "api/elan/msg_coll.h"

#include <errno.h>

#include "api/elan/queue.h"

enum {
	FIRST = 3, /* calls by messages */
	QUEUE_SYNC = 240, /* two each */
	QUEUE_GROUP = QUEUE_SYNC + 2,
	QUEUES = 4,
	INPUT = 240, /* beyond those of ports */
	CODE = 240,
	EVENT = 62000,
	CLOSE_TRIES = 100,

	/* memory, from own_at on */
	AT_SYNC = 0,
	AT_GROUP = 64,
	AT_AGREE = 128, /* two words */
	AT_FROM = 512,
	AT_TO = 1024,

	/* words of a reduction: longer ones are faster by messages, which
	 * several CPUs combine at once */
	WORDS = 64,
};

_Static_assert(AT_TO + 8 * WORDS <= MSG_COLL_BYTES, "memory");

/* Of a process. */
struct coll {
	struct elan_hgsync sync;
	struct elan_hgroup group;
	uint32_t calls; /* up to the first that is not by messages */
	bool is_open, has_sync;
};

static const struct program_library library = { .size = sizeof(struct coll) };

static struct coll *coll(void)
{
	return program_keep(&library);
}

/* --- waiting --- */

bool msg_coll_is_done(
	const struct msg_state *m, const struct weft_msg_done *done)
{
	uint64_t word = 0;
	uint32_t stopped = 0;

	host_read(m->host, m->node, m->awaited_at, &word, 8);
	for (uint32_t i = 0; i < QUEUES; i++)
		stopped +=
			elan_queue_error(m->nic, m->node, QUEUE_SYNC + i) != 0;
	return word >= done->number || stopped;
}

static void wait(void *arg, uint64_t at, uint64_t least)
{
	struct msg_state *m = arg;
	struct weft_msg_done done = { MSG_DONE_OWN, 0, least };

	m->awaited_at = at;
	weft_msg_wait(arg, &done);
	m->awaited_at = 0;
}

/* --- opening --- */

static int open_both(struct msg_state *m, struct coll *c)
{
	const struct elan_hgroup_options o = {
		.queue = QUEUE_GROUP,
		.input = INPUT,
		.code = CODE,
		.event = EVENT,
		.at = m->own_at + AT_GROUP,
	};
	int code = elan_hgsync_open(&c->sync, QUEUE_SYNC, m->own_at + AT_SYNC);

	if (code)
		return code;
	code = elan_hgroup_open(&c->group, &o);
	if (code)
		elan_hgsync_close(&c->sync);
	c->sync.wait = c->group.wait = (struct elan_wait){ wait, m };
	return code;
}

static void close_both(struct coll *c)
{
	int code = elan_hgroup_close(&c->group);

	for (uint32_t i = 0; i < CLOSE_TRIES && !code &&
			     elan_hgsync_close(&c->sync) == EBUSY;
		i++)
		program_charge(1000 * (sim_time)SIM_NS);
	c->is_open = false;
}

/* By messages: whether all say yes. */
static bool agree(struct msg_state *m, bool is_yes)
{
	uint64_t at = m->own_at - m->base + AT_AGREE, word = is_yes;
	bool was_software = m->is_software;

	program_write(m->own_at + AT_AGREE, &word, 8);
	m->is_software = true;
	weft_msg_allreduce(
		(struct weft_msg *)m, WEFT_MSG_MIN_INT, at, at + 8, 1);
	m->is_software = was_software;
	program_read(m->own_at + AT_AGREE + 8, &word, 8);
	return word;
}

/* Whether cards have a part in this call: alike for all. */
static struct coll *find(struct msg_state *m)
{
	struct coll *c = coll();

	if (m->n_processes > 1 || m->n_ranks < 2)
		return NULL;
	if (c->calls == FIRST) {
		c->is_open = !open_both(m, c);
		if (!agree(m, c->is_open) && c->is_open)
			close_both(c);
		/* it fails for all, if it does */
		c->has_sync = c->is_open && !elan_hgsync(&c->sync);
	}
	c->calls += c->calls <= FIRST;
	return c->is_open ? c : NULL;
}

/* --- operations --- */

int msg_coll_barrier(struct msg_state *m, struct msg_group *g)
{
	struct coll *c = find(m);

	(void)g;
	return c && c->has_sync ? elan_hgsync(&c->sync) : ENOSYS;
}

int msg_coll_broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes)
{
	struct coll *c = find(m);
	int code = ENOSYS;

	(void)g;
	if (c && !gpu_of(at))
		code = elan_hbcast(&c->group, root, at, bytes);
	/* a long one to different addresses: all know */
	return code == EINVAL ? ENOSYS : code;
}

/* The words may be at any address, also at one that is not a multiple of 8. */
int msg_coll_reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	/* cards have no floating point */
	static const uint8_t reductions[WEFT_MSG_REDUCTIONS] = {
		[WEFT_MSG_SUM_DOUBLE] = ELAN_REDUCTIONS,
		[WEFT_MSG_SUM_INT] = ELAN_SUM,
		[WEFT_MSG_MIN_INT] = ELAN_MIN,
		[WEFT_MSG_MAX_INT] = ELAN_MAX,
		[WEFT_MSG_MIN_UINT] = ELAN_MIN_UNSIGNED,
		[WEFT_MSG_MAX_UINT] = ELAN_MAX_UNSIGNED,
		[WEFT_MSG_AND_BITS] = ELAN_AND,
		[WEFT_MSG_OR_BITS] = ELAN_OR,
		[WEFT_MSG_XOR_BITS] = ELAN_XOR,
		[WEFT_MSG_MIN_DOUBLE] = ELAN_REDUCTIONS,
		[WEFT_MSG_MAX_DOUBLE] = ELAN_REDUCTIONS,
	};
	struct coll *c = find(m);
	bool is_mine = root == WEFT_MSG_ANY || root == m->rank;
	int code;

	(void)g;
	if (!c || reductions[op] == ELAN_REDUCTIONS || n > WORDS)
		return ENOSYS;
	program_move(m->own_at + AT_FROM, from, 8 * n);
	code = elan_hreduce(&c->group, root == WEFT_MSG_ANY ? ELAN_ALL : root,
		reductions[op], m->own_at + AT_FROM, m->own_at + AT_TO, n);
	if (!code && is_mine)
		program_move(to, m->own_at + AT_TO, 8 * n);
	return code;
}

bool msg_coll_has_group(struct msg_state *m, const struct msg_group *g)
{
	return m->n_processes == 1 && g->n == m->n_ranks;
}

/* Barrier and group are opened with the first call that needs them. */
int msg_coll_open_group(struct msg_state *m, struct msg_group *g)
{
	(void)m;
	g->is_alike = true;
	return 0;
}

void msg_coll_close_group(struct msg_state *m, struct msg_group *g)
{
	(void)m, (void)g;
}

void msg_coll_close(struct msg_state *m)
{
	struct coll *c = coll();

	(void)m;
	if (c->is_open)
		close_both(c);
	c->calls = 0;
}
