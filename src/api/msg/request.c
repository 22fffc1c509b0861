/* Sends and receives: the calls, whoever matches them. */
#include "api/msg/msg.h"

#include <errno.h>

#include "host/log.h"

/* --- the log --- */

/* The other end of a message, as it is logged. */
static struct host_log_message logged(const struct msg_state *m, uint32_t rank,
	uint64_t tag, uint64_t bytes, sim_time since)
{
	return (struct host_log_message){
		.node = msg_node_of(m, rank),
		.process = msg_process_of(m, rank),
		.tag = tag,
		.bytes = bytes,
		.since = since,
	};
}

void msg_log_sent(const struct msg_state *m, uint32_t rank, uint64_t tag,
	uint64_t bytes, sim_time since)
{
	struct host_log_message x;

	if (!m->is_logged)
		return;
	x = logged(m, rank, tag, bytes, since);
	program_log_sent(&x);
}

uint32_t msg_log_matched(const struct msg_state *m, uint32_t rank, uint64_t tag,
	uint64_t bytes, sim_time since)
{
	struct host_log_message x;

	if (!m->is_logged)
		return 0;
	x = logged(m, rank, tag, bytes, since);
	return program_log_matched(&x);
}

/* --- calls --- */

int weft_msg_send_start(struct weft_msg *msg, uint32_t rank, uint32_t tag,
	uint64_t from, uint64_t bytes, struct weft_msg_request *r)
{
	struct msg_state *m = msg_state(msg);
	int code = msg_check(m, m->rank, from, bytes);

	if (rank >= m->n_ranks || tag == WEFT_MSG_ANY || code)
		return code ? code : EINVAL;
	*r = (struct weft_msg_request){
		.at = msg_address(m, m->rank, from),
		.bytes = bytes,
		.rank = rank,
		.tag = tag,
		.status = { .rank = rank, .tag = tag, .bytes = bytes },
	};
	msg_begin_send(m, r);
	return 0;
}

int weft_msg_receive_start(struct weft_msg *msg, uint32_t rank, uint32_t tag,
	uint64_t to, uint64_t max, struct weft_msg_request *r)
{
	struct msg_state *m = msg_state(msg);
	int code = msg_check(m, m->rank, to, max);

	if ((rank >= m->n_ranks && rank != WEFT_MSG_ANY) || code)
		return code ? code : EINVAL;
	*r = (struct weft_msg_request){
		.at = msg_address(m, m->rank, to),
		.bytes = max,
		.rank = rank,
		.tag = tag,
	};
	msg_begin_receive(m, r);
	return 0;
}

bool weft_msg_test(struct weft_msg *msg, struct weft_msg_request *r,
	struct weft_msg_status *status)
{
	if (r->state != MSG_OVER)
		weft_msg_progress(msg);
	if (status)
		*status = r->status;
	return r->state == MSG_OVER;
}

static int finish(struct msg_state *m, struct weft_msg_request *r,
	struct weft_msg_status *status)
{
	if (!m->ops)
		return EBADF;
	while (r->state != MSG_OVER)
		msg_go_on(m);
	if (status)
		*status = r->status;
	return r->status.error;
}

int weft_msg_finish(struct weft_msg *msg, struct weft_msg_request *r,
	struct weft_msg_status *status)
{
	PROGRAM_CALL("weft_msg_finish of a message to or from #, tag #",
		r->rank, r->tag);

	return finish(msg_state(msg), r, status);
}

int weft_msg_send(struct weft_msg *m, uint32_t rank, uint32_t tag,
	uint64_t from, uint64_t bytes)
{
	PROGRAM_CALL("weft_msg_send to #, tag #", rank, tag);
	struct weft_msg_request r;
	int code = weft_msg_send_start(m, rank, tag, from, bytes, &r);

	return code ? code : finish(msg_state(m), &r, NULL);
}

int weft_msg_receive(struct weft_msg *m, uint32_t rank, uint32_t tag,
	uint64_t to, uint64_t max, struct weft_msg_status *status)
{
	PROGRAM_CALL("weft_msg_receive from #, tag #", rank, tag);
	struct weft_msg_request r;
	int code = weft_msg_receive_start(m, rank, tag, to, max, &r);

	return code ? code : finish(msg_state(m), &r, status);
}
