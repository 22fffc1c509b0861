/* Command queues, and what a core stores into them. */
#include "api/elan/queue.h"

#include <errno.h>
#include <string.h>

#include "host/program.h"

/* How far ahead of the bus stores are handed over: two full packets. */
static const sim_time AHEAD = 2500 * SIM_NS;

struct nic *cq_card(void)
{
	return nic_check(program_nic(), &elan4_ops);
}

const struct elan_params *cq_params(void)
{
	return elan_params_of(cq_card());
}

const struct elan_host *cq_host(void)
{
	const struct elan_params *p = cq_params();

	return &p->host[p->platform];
}

static sim_time way_by(const struct elan_params *p)
{
	sim_time hop = p->host[p->platform].hop;
	uint32_t threads;

	if (!hop)
		return 0;
	threads = host_threads_each(program_host());
	return elan_cpu(p, program_process(), program_thread() % threads) * hop;
}

sim_time cq_way(void)
{
	return way_by(cq_params());
}

/* --- processes --- */

uint32_t cq_context(void)
{
	return ELAN_CONTEXT + program_process();
}

bool cq_is_own(uint64_t at, uint64_t bytes)
{
	const struct host *h = program_host();
	uint64_t each = host_memory_each(h);

	if (host_n_processes(h) > 1) /* it wraps below its first byte */
		at -= program_process() * each;
	return at <= each && bytes <= each - at;
}

bool cq_find(uint64_t *at, uint64_t bytes)
{
	return cq_is_own(*at, bytes) || elan_vm_find(cq_card(), program_node(),
						cq_context(), *at, bytes, at);
}

bool cq_has(uint64_t at, uint64_t bytes)
{
	return cq_find(&at, bytes);
}

uint32_t elan_rank(void)
{
	const struct host_world *w = program_world();
	site_id node = program_node();

	BUG_IF(program_is_card());
	return (w ? w->place[node] : node) * host_n_processes(program_host()) +
	       program_process();
}

uint32_t elan_ranks(void)
{
	const struct host_world *w = program_world();

	return (w ? w->n : cq_card()->n_nodes) *
	       host_n_processes(program_host());
}

/* What the driver does for a process before its first queue: its ranks, and the
 * memory that packets may access. */
static int open_process(void)
{
	const struct elan_job job = {
		.world = program_world(),
		.each = host_n_processes(program_host()),
		.first = ELAN_CONTEXT,
	};

	return elan_process_open(cq_card(), program_node(), cq_context(), &job);
}

int cq_open_memory(void)
{
	uint64_t first = program_base();

	return elan_context_set(cq_card(), program_node(), cq_context(), first,
		first + host_memory_each(program_host()) - 1);
}

/* --- queues --- */

static struct elan_cq new_queue(uint32_t id)
{
	return (struct elan_cq){ .id = id, .is_relaxed = cq_host()->relaxed };
}

int elan_cq_open(
	struct elan_cq *q, uint32_t id, enum elan_depth depth, uint32_t rights)
{
	int code = open_process();

	if (!code)
		code = elan_queue_open(cq_card(), program_node(), id, depth,
			rights, cq_context());
	/* one that was not opened may be another's */
	*q = new_queue(code ? ELAN_QUEUES : id);
	if (!code)
		cq_open_memory();
	return code;
}

int elan_cq_close(struct elan_cq *q)
{
	int code = cq_may_use(q);

	if (code)
		return code == EBADF ? EINVAL : code;
	return elan_queue_close(cq_card(), program_node(), q->id);
}

int elan_cq_restart(struct elan_cq *q)
{
	int code = cq_may_use(q);

	if (code)
		return code == EBADF ? EINVAL : code;
	code = elan_queue_restart(cq_card(), program_node(), q->id);
	if (!code)
		*q = new_queue(q->id);
	return code;
}

enum elan_error elan_cq_error(const struct elan_cq *q)
{
	if (cq_may_use(q))
		return ELAN_FINE;
	return elan_queue_error(cq_card(), program_node(), q->id);
}

const char *elan_error_name(enum elan_error error)
{
	return (uint32_t)error < ELAN_ERRORS ? elan_error_text(error)
					     : "unknown";
}

int elan_cq_map(struct elan_cq *q, uint64_t address)
{
	int code = cq_may_use(q);

	if (code)
		return code == EBADF ? EINVAL : code;
	return elan_queue_map(cq_card(), program_node(), q->id, address);
}

int cq_may_use(const struct elan_cq *q)
{
	uint32_t context = elan_queue_context(cq_card(), program_node(), q->id);

	if (context == cq_context())
		return 0;
	return context == ELAN_CONTEXTS ? EBADF : EACCES;
}

int cq_check(const struct elan_cq *q, uint64_t event, uint64_t other)
{
	int code = cq_may_use(q);

	if (code)
		return code;
	return event < ELAN_EVENT_NAMES && other < ELAN_EVENT_NAMES ? 0
								    : EINVAL;
}

struct room {
	struct nic *nic;
	site_id node;
	uint32_t queue, bytes;
};

static bool has_room(void *arg, uint64_t *seen)
{
	const struct room *r = arg;

	*seen = elan_queue_room(r->nic, r->node, r->queue);
	/* A stopped queue takes nothing, and drops what it gets. */
	return *seen >= r->bytes ||
	       elan_queue_error(r->nic, r->node, r->queue) != ELAN_FINE;
}

struct poll_loop elan_poll_loop(void)
{
	struct nic *nic = cq_card();
	const struct elan_params *p = elan_params_of(nic);

	return nic_poll_loop(nic, p->poll_period, p->poll_load + way_by(p));
}

/*
 * Stores n of the words that wait.  A core's stores go one burst after the
 * other as fast as the bus takes them, and what it will store next is known;
 * so they are handed over some time ahead, and the core waits when that
 * becomes too long.
 */
static void store(struct nic *nic, struct elan_cq *q, uint32_t n)
{
	const struct elan_params *p = elan_params_of(nic);
	uint32_t most = (uint32_t)p->host[p->platform].pio_burst / 8, i, k;
	sim_time now = program_now(), way = way_by(p);

	if (q->free_at < now + way)
		q->free_at = now + way;
	for (i = 0; i < n; i += k) {
		k = n - i < most ? n - i : most;
		cq_drain(nic, q, q->word + i, k);
	}
	q->n -= n;
	if (q->n)
		memmove(q->word, q->word + n, 8 * q->n);
	if (q->free_at > now + AHEAD)
		program_wait(q->free_at - AHEAD);
}

void cq_compute(struct elan_cq *q, sim_time time)
{
	sim_time then = program_now() + cq_way() + time;

	q->free_at = q->free_at > then ? q->free_at : then;
}

sim_time cq_hand_over(struct elan_cq *q)
{
	sim_time now;

	store(cq_card(), q, q->n);
	now = program_now();
	return q->free_at > now ? q->free_at - now : 0;
}

/* The next call has nothing to wait for, except where its time is charged to
 * budgets. */
void elan_flush(struct elan_cq *q)
{
	struct nic *nic = cq_card();

	store(nic, q, q->n);
	if (nic->net->book)
		program_wait(q->free_at);
	else
		program_pass(q->free_at);
}

void cq_add_and_store(struct elan_cq *q, uint64_t word)
{
	uint32_t most = (uint32_t)cq_host()->pio_burst / 8;

	if (q->n == ELAN_CQ_WORDS)
		store(cq_card(), q, q->n - q->n % most);
	q->word[q->n++] = word;
	if (q->is_relaxed && cq_is_early(q))
		store(cq_card(), q, q->n);
}

static inline void need_room(struct nic *nic, struct elan_cq *q, uint32_t bytes)
{
	struct room r = { nic, program_node(), q->id, bytes + 8 * q->n };
	uint64_t seen;

	if (has_room(&r, &seen))
		return;
	store(nic, q, q->n);
	r.bytes = bytes;
	if (!has_room(&r, &seen))
		program_poll_until(has_room, &r, elan_poll_loop(), &seen);
}

void cq_need_room(struct elan_cq *q, uint32_t bytes)
{
	need_room(cq_card(), q, bytes);
}

void cq_add_bytes(struct elan_cq *q, const uint8_t *data, uint32_t bytes)
{
	uint32_t n = (bytes + 7) / 8;
	uint64_t word;

	if (n && n <= ELAN_CQ_WORDS - q->n && !q->is_relaxed) {
		q->n += n;
		q->word[q->n - 1] = 0;
		memcpy(q->word + q->n - n, data, bytes);
		return;
	}
	for (uint32_t i = 0; i < bytes; i += 8) {
		word = 0;
		memcpy(&word, data + i, bytes - i < 8 ? bytes - i : 8);
		cq_add(q, word);
	}
}

void cq_begin(struct elan_cq *q, uint32_t bytes, sim_time born)
{
	struct nic *nic = cq_card();

	need_room(nic, q, bytes);
	if (nic->net->book)
		elan_note_birth(
			nic, program_node(), q->id, q->stored + 8 * q->n, born);
}
