/* Completion queues of Gemini's user-level interface. */
#include <string.h>

#include "api/gni/gni.h"
#include "host/program.h"
#include "weft/kgni.h"

/*
 * Where the kernel keeps the rings: memory that the interface writes and
 * programs only read, a place for each of the node's queues.
 */
#define RINGS_AT (UINT64_C(1) << 52)

enum { RING_BYTES = GNI_CQ_MAX_ENTRIES * sizeof(struct gemini_event) };

static const struct memory_range rings = {
	.at = RINGS_AT,
	.bytes = (uint64_t)GEMINI_CQS * RING_BYTES,
	.kind = MEMORY_OF_HOST,
	.rights = MEMORY_MAY_READ(MEMORY_CORE) | MEMORY_MAY_READ(MEMORY_NIC) |
		  MEMORY_MAY_WRITE(MEMORY_NIC),
};

static uint32_t whole_entries(uint32_t n)
{
	uint32_t entries = 1;

	while (entries < n)
		entries *= 2;
	return entries;
}

/* What an earlier queue has left there. */
static void clear(uint64_t at, uint64_t bytes)
{
	static const uint8_t zeros[4096];
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(zeros) ? bytes - i : sizeof(zeros);
		host_write(program_host(), program_worker(), program_node(),
			program_now(), at + i, zeros, n);
	}
}

/* Any queue of the card that is free; other libraries' are the first ones. */
bool gni_open_queue(struct gemini_queue *q, uint32_t entries)
{
	uint32_t cq = GEMINI_CQS;
	uint64_t at;

	memory_add_range(
		host_at(program_host(), program_node()), &rings); /* once */
	while (cq--) {
		at = RINGS_AT + (uint64_t)cq * RING_BYTES;
		if (!gemini_queue_open(q, cq, at, entries)) {
			clear(at, entries * sizeof(struct gemini_event));
			return true;
		}
	}
	return false;
}

gni_return_t GNI_CqCreate(gni_nic_handle_t nic, uint32_t entry_count,
	uint32_t delay_count, gni_cq_mode_t mode,
	void (*handler)(gni_cq_entry_t *entry, void *context), void *context,
	gni_cq_handle_t *cq)
{
	const struct gni_domain *d = gni_find_nic(nic);
	struct gemini_queue queue;
	struct gni_queue *x;
	uintptr_t handle;

	(void)context;
	if (!d || !entry_count || entry_count > GNI_CQ_MAX_ENTRIES ||
		delay_count || (uint32_t)mode > GNI_CQ_BLOCKING || handler ||
		!cq)
		return GNI_RC_INVALID_PARAM;
	if (!gni_open_queue(&queue, whole_entries(entry_count)))
		return GNI_RC_ERROR_RESOURCE;
	x = gni_new(&gni_process()->cqs, d->object.serial, &handle);
	x->queue = queue;
	x->may_wait = mode == GNI_CQ_BLOCKING;
	x->handle = *cq = (gni_cq_handle_t)handle;
	gni_charge_kernel();
	return GNI_RC_SUCCESS;
}

void gni_close_cq(void *queue)
{
	const struct gni_queue *q = queue;
	struct gni_process *p = gni_process();

	for (uint32_t i = 1; i <= p->posts.room; i++) {
		struct gni_post *x = slots_find(&p->posts, i);

		if (x && x->cq == q->handle)
			gni_give_post(i);
	}
	gemini_cq_close(q->queue.nic, q->queue.node, q->queue.cq);
	gni_give(&p->cqs, queue);
}

gni_return_t GNI_CqDestroy(gni_cq_handle_t cq)
{
	struct gni_queue *q = gni_find_cq(cq);

	if (!q)
		return GNI_RC_INVALID_PARAM;
	gni_close_cq(q);
	gni_charge_kernel();
	return GNI_RC_SUCCESS;
}

/* --- events --- */

/* What an event is to the program, or 0: nothing. */
static gni_cq_entry_t entry_of(const struct gemini_event *e)
{
	uint32_t id = GNI_CQ_GET_TID(e->data);
	struct gni_post *x = slots_find(&gni_process()->posts, id);
	uint32_t status;

	if (GNI_CQ_GET_TYPE(e->data) == GNI_CQ_EVENT_TYPE_REMOTE ||
		GNI_CQ_GET_TYPE(e->data) == KGNI_EVENT_TYPE_BUFFER)
		return e->data | (uint64_t)e->status << 52;
	BUG_IF(!x);
	x->status = x->status ? x->status : e->status;
	if (--x->left)
		return 0;
	status = x->status;
	if (x->d)
		x->is_ended = true;
	else if (!gni_smsg_ended(id, &status))
		return 0;
	return e->data | (uint64_t)status << 52;
}

/* The next event, without taking time. */
static gni_return_t take(struct gni_queue *q, gni_cq_entry_t *entry)
{
	struct gemini_event e;

	while (gemini_queue_take(&q->queue, &e)) {
		*entry = entry_of(&e);
		if (*entry)
			return GNI_CQ_STATUS_OK(*entry)
				       ? GNI_RC_SUCCESS
				       : GNI_RC_TRANSACTION_ERROR;
	}
	return GNI_RC_NOT_DONE;
}

/* Once for any number of events that were lost. */
static bool has_lost(struct gni_queue *q)
{
	uint32_t lost =
		gemini_cq_lost(q->queue.nic, q->queue.node, q->queue.cq);
	bool is_news = lost != q->lost;

	q->lost = lost;
	return is_news;
}

static gni_return_t next(struct gni_queue *q, gni_cq_entry_t *entry)
{
	gni_return_t code = take(q, entry);

	if (code != GNI_RC_NOT_DONE || !has_lost(q))
		return code;
	*entry = UINT64_C(1) << 63;
	return GNI_RC_ERROR_RESOURCE;
}

gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq, gni_cq_entry_t *entry)
{
	struct gni_queue *q = gni_find_cq(cq);
	gni_return_t code;

	if (!q || !entry)
		return GNI_RC_INVALID_PARAM;
	code = next(q, entry);
	program_charge(code == GNI_RC_NOT_DONE ? gni_params()->poll_period
					       : gni_params()->poll_load);
	return code;
}

struct look {
	struct gemini_queue queue;
	uint32_t lost;
};

static bool has_come(void *arg, uint64_t *seen)
{
	const struct look *l = arg;
	struct gemini_event e;

	*seen = 0;
	return gemini_queue_look(&l->queue, &e) ||
	       gemini_cq_lost(l->queue.nic, l->queue.node, l->queue.cq) !=
		       l->lost;
}

static sim_time deadline_of(uint64_t milliseconds)
{
	const sim_time ms = 1000000 * SIM_NS;
	sim_time left = SIM_NEVER - program_now();

	return milliseconds > (uint64_t)(left / ms)
		       ? SIM_NEVER
		       : program_now() + (sim_time)milliseconds * ms;
}

gni_return_t GNI_CqWaitEvent(
	gni_cq_handle_t cq, uint64_t timeout, gni_cq_entry_t *entry)
{
	PROGRAM_CALL("GNI_CqWaitEvent", 0, 0);
	struct gni_queue *q = gni_find_cq(cq);
	sim_time deadline = deadline_of(timeout);
	gni_return_t code;
	uint64_t seen;

	if (!q || !entry || !q->may_wait)
		return GNI_RC_INVALID_PARAM;
	while ((code = next(q, entry)) == GNI_RC_NOT_DONE) {
		struct look look = { q->queue, q->lost };

		if (!program_poll_before(has_come, &look,
			    gemini_queue_loop(q->queue.nic), deadline, &seen))
			return GNI_RC_TIMEOUT;
		/* meanwhile another thread may have destroyed it */
		if (!(q = gni_find_cq(cq)))
			return GNI_RC_INVALID_PARAM;
	}
	return code;
}

/* --- errors --- */

static const char *const texts[GEMINI_STATUSES] = {
	[GEMINI_OK] = "no error",
	[GEMINI_BAD_HANDLE] = "no such memory segment",
	[GEMINI_OUT_OF_BOUNDS] = "address outside the memory segment",
	[GEMINI_NO_RIGHT] = "memory segment not open to this access",
	[GEMINI_BAD_QUEUE] = "no completion queue at the target",
	[GEMINI_UNALIGNED] = "atomic operation on an unaligned address",
	[GEMINI_TIMED_OUT] = "no response",
	[GEMINI_BAD_MEMORY] = "uncorrectable error in a table of the target",
	[GEMINI_NO_BUFFER] = "no buffer at the target",
	[GEMINI_BAD_PE] = "no such PE",
	[GEMINI_BAD_WORD] = "not a control word",
};

gni_return_t GNI_CqErrorStr(gni_cq_entry_t entry, char *buffer, uint32_t length)
{
	uint32_t status = GNI_CQ_GET_STATUS(entry) & 127;
	const char *text = status < GEMINI_STATUSES && texts[status]
				   ? texts[status]
				   : "unknown error";

	if (GNI_CQ_OVERRUN(entry))
		text = "completion queue overrun";
	if (!buffer)
		return GNI_RC_INVALID_PARAM;
	if (strlen(text) >= length)
		return GNI_RC_SIZE_ERROR;
	memcpy(buffer, text, strlen(text) + 1);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqErrorRecoverable(gni_cq_entry_t entry, uint32_t *recoverable)
{
	if (!recoverable)
		return GNI_RC_INVALID_PARAM;
	*recoverable = GNI_CQ_GET_STATUS(entry) == GEMINI_TIMED_OUT;
	return GNI_RC_SUCCESS;
}

static const char *const names[] = {
	"GNI_RC_SUCCESS",
	"GNI_RC_NOT_DONE",
	"GNI_RC_INVALID_PARAM",
	"GNI_RC_ERROR_RESOURCE",
	"GNI_RC_TIMEOUT",
	"GNI_RC_PERMISSION_ERROR",
	"GNI_RC_DESCRIPTOR_ERROR",
	"GNI_RC_ALIGNMENT_ERROR",
	"GNI_RC_INVALID_STATE",
	"GNI_RC_NO_MATCH",
	"GNI_RC_SIZE_ERROR",
	"GNI_RC_TRANSACTION_ERROR",
	"GNI_RC_ILLEGAL_OP",
	"GNI_RC_ERROR_NOMEM",
};

const char *gni_return_name(gni_return_t code)
{
	return (size_t)code < sizeof(names) / sizeof(names[0]) ? names[code]
							       : "unknown";
}
