/* Command queues, and what a core stores into them. */
#include "api/elan/queue.h"

#include <errno.h>
#include <string.h>

#include "host/program.h"

/* How far ahead of the bus stores are handed over: two full packets. */
static const sim_time AHEAD = 2500 * SIM_NS;

struct nic *cq_card(void)
{
	struct nic *nic = nic_check(host_nic(program_host()), &elan4_ops);

	BUG_IF(program_is_card()); /* a thread on the card is no program */
	return nic;
}

const struct elan_params *cq_params(void)
{
	return elan_params_of(cq_card());
}

const struct elan_host *cq_host(void)
{
	return &cq_params()->host[cq_params()->platform];
}

/* A process begins on a CPU of its own, where there are so many. */
sim_time cq_way(void)
{
	uint32_t threads = host_threads_each(program_host());
	uint32_t cpu = program_process() + program_thread() % threads;

	return cpu % cq_params()->cpus * cq_host()->hop;
}

/* --- queues --- */

int elan_cq_open(
	struct elan_cq *q, uint32_t id, enum elan_depth depth, uint32_t rights)
{
	struct nic *nic = cq_card();
	int code = elan_queue_open(
		nic, program_node(), id, depth, rights, ELAN_CONTEXT);

	/* one that was not opened may be another's */
	*q = (struct elan_cq){ .id = code ? ELAN_QUEUES : id };
	if (!code)
		elan_context_set(nic, program_node(), ELAN_CONTEXT, 0,
			host_memory(program_host()) - 1);
	return code;
}

int elan_cq_close(struct elan_cq *q)
{
	return elan_queue_close(cq_card(), program_node(), q->id);
}

int elan_cq_restart(struct elan_cq *q)
{
	int code = elan_queue_restart(cq_card(), program_node(), q->id);

	if (!code)
		*q = (struct elan_cq){ .id = q->id };
	return code;
}

enum elan_error elan_cq_error(const struct elan_cq *q)
{
	return elan_queue_error(cq_card(), program_node(), q->id);
}

const char *elan_error_name(enum elan_error error)
{
	return (uint32_t)error < ELAN_ERRORS ? elan_error_text(error)
					     : "unknown";
}

int elan_cq_map(struct elan_cq *q, uint64_t address)
{
	return elan_queue_map(cq_card(), program_node(), q->id, address);
}

bool cq_is_open(const struct elan_cq *q)
{
	return elan_queue_depth(cq_card(), program_node(), q->id) != 0;
}

int cq_check(const struct elan_cq *q, uint64_t event, uint64_t other)
{
	if (!cq_is_open(q))
		return EBADF;
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
	return nic_poll_loop(cq_card(), cq_params()->poll_period,
		cq_params()->poll_load + cq_way());
}

/*
 * Stores n of the words that wait.  A core's stores go one burst after the
 * other as fast as the bus takes them, and what it will store next is known;
 * so they are handed over some time ahead, and the core waits when that
 * becomes too long.
 */
static void store(struct elan_cq *q, uint32_t n)
{
	uint32_t most = (uint32_t)cq_host()->pio_burst / 8, i, k;

	if (q->free_at < program_now() + cq_way())
		q->free_at = program_now() + cq_way();
	for (i = 0; i < n; i += k) {
		k = n - i < most ? n - i : most;
		q->free_at = elan_store(cq_card(), program_worker(),
			program_node(), q->free_at, q->id,
			(uint32_t)(q->stored % ELAN_PAGE), q->word + i, k);
		q->stored += 8 * k;
	}
	q->n -= n;
	memmove(q->word, q->word + n, 8 * q->n);
	program_wait(q->free_at - AHEAD);
}

void elan_flush(struct elan_cq *q)
{
	store(q, q->n);
	program_wait(q->free_at);
}

void cq_add(struct elan_cq *q, uint64_t word)
{
	uint32_t most = (uint32_t)cq_host()->pio_burst / 8;

	if (q->n == ELAN_CQ_WORDS)
		store(q, q->n - q->n % most);
	q->word[q->n++] = word;
}

void cq_need_room(struct elan_cq *q, uint32_t bytes)
{
	struct room r = { cq_card(), program_node(), q->id, bytes + 8 * q->n };
	uint64_t seen;

	if (has_room(&r, &seen))
		return;
	store(q, q->n);
	r.bytes = bytes;
	if (!has_room(&r, &seen))
		program_poll_until(has_room, &r, elan_poll_loop(), &seen);
}
