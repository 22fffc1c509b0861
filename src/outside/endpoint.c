#include "outside/endpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "outside/endpoint_op.h"

static struct msg_state *state(struct endpoint *e)
{
	return msg_state(&e->msg);
}

/* --- ops --- */

uint32_t endpoint_take_op(struct endpoint *e, const struct channel_command *c)
{
	uint32_t i = e->unused;
	struct endpoint_op *x;

	if (!i) {
		i = ++e->room;
		e->op = mem_more(e->op, i - 1, sizeof(*e->op));
		e->op[i - 1].next = 0;
	}
	x = &e->op[i - 1];
	e->unused = x->next;
	*x = (struct endpoint_op){
		.c = *c,
		.since = e->asked,
		.hold = ENDPOINT_NO_HOLD,
		.stage = ENDPOINT_NO_STAGE,
		.is_used = true,
	};
	return i - 1;
}

uint64_t endpoint_context(uint32_t i)
{
	return MSG_TAGGED_OTHER | i;
}

void endpoint_give_op(struct endpoint *e, uint32_t i)
{
	struct endpoint_op *x = &e->op[i];

	if (x->hold != ENDPOINT_NO_HOLD)
		e->client.give(e->client.arg, x->hold);
	if (x->stage != ENDPOINT_NO_STAGE)
		endpoint_give_stage(e, x);
	mem_free(x->load);
	x->load = NULL;
	x->is_used = false;
	x->next = e->unused;
	e->unused = i + 1;
}

/* --- completions --- */

void endpoint_complete(
	struct endpoint *e, const struct channel_completion *c, uint16_t flags)
{
	if (!(flags & CHANNEL_SILENT) || c->error)
		*(struct channel_completion *)ring_push(&e->done) = *c;
}

struct channel_completion endpoint_completion(const struct channel_command *c)
{
	return (struct channel_completion){
		.context = c->context,
		.kind = c->kind,
		.flags = c->flags,
		.endpoint = c->endpoint,
		.from_endpoint = c->to,
		.rank = c->rank,
		.bytes = c->bytes,
		.tag = c->tag,
		.data = c->data,
		.at = c->at,
	};
}

void endpoint_end(
	struct endpoint *e, const struct channel_command *c, int error)
{
	struct channel_completion x = endpoint_completion(c);

	x.error = error;
	endpoint_complete(e, &x, c->flags);
}

static void finish_op(struct endpoint *e, uint32_t i, int error)
{
	const struct channel_command c = e->op[i].c;

	e->n_sends -= c.kind == CHANNEL_SEND;
	endpoint_give_op(e, i);
	endpoint_end(e, &c, error);
}

/* Bytes that a receive has left: one that stays has taken some before. */
static uint64_t left_of(const struct endpoint_op *x)
{
	return x->c.bytes - x->filled;
}

/* A receive that stays has got a message: whether it was the last. */
static bool fill(struct endpoint *e, uint32_t i, struct channel_completion *x)
{
	struct endpoint_op *o = &e->op[i];
	bool is_last;

	x->at = o->c.at + o->filled;
	o->filled += x->stored;
	is_last = x->error || !left_of(o) || left_of(o) < o->c.tag;
	if (is_last)
		x->flags |= CHANNEL_RELEASED;
	return is_last;
}

/* A receive or a peek has its message. */
static void finish_message(
	struct endpoint *e, uint32_t i, const struct msg_tagged_end *end)
{
	const struct channel_command c = e->op[i].c;
	struct channel_completion x = endpoint_completion(&c);
	uint64_t most = left_of(&e->op[i]);
	uint64_t stored = end->bytes < most ? end->bytes : most;
	bool stays = false;

	if (c.kind == CHANNEL_RECEIVE && !state(e)->tagged->logs &&
		end->error != ECANCELED)
		program_log_received(msg_log_matched(state(e), end->rank,
			end->tag, end->bytes, e->op[i].since));
	x.error = end->error;
	x.rank = end->rank;
	x.from_endpoint = end->space / MSG_SPACES;
	x.tag = end->tag;
	x.data = end->data;
	x.bytes = end->bytes;
	x.flags = (uint16_t)(c.flags & ~CHANNEL_HAS_DATA);
	if (end->flags & MSG_TAGGED_DATA)
		x.flags |= CHANNEL_HAS_DATA;
	if (c.kind == CHANNEL_RECEIVE && !(c.flags & CHANNEL_DISCARD) &&
		(!end->error || end->error == EMSGSIZE))
		x.stored = stored;
	if (c.kind == CHANNEL_RECEIVE && c.flags & CHANNEL_MULTI)
		stays = !fill(e, i, &x);
	if (c.kind == CHANNEL_PEEK && c.flags & CHANNEL_CLAIM && !end->error)
		e->op[i].is_claimed = true;
	else if (stays)
		endpoint_activate(e, i);
	else
		endpoint_give_op(e, i);
	endpoint_complete(e, &x, c.flags);
}

/* A peek that lasts looks again when something has come. */
static void want(struct endpoint *e, uint32_t i)
{
	e->wants = mem_more(e->wants, e->wanted, sizeof(*e->wants));
	e->wants[e->wanted++] = i;
}

static void on_end(void *arg, const struct msg_tagged_end *end)
{
	struct endpoint *e = arg;
	uint32_t i = (uint32_t)end->context;
	const struct endpoint_op *x;

	BUG_IF(i >= e->room || !e->op[i].is_used);
	x = &e->op[i];
	if (e->looking == i + 1)
		e->looking = 0;
	if (x->c.kind == CHANNEL_SEND)
		finish_op(e, i, end->error);
	else if (x->c.kind == CHANNEL_ATOMIC)
		endpoint_on_answer(e, i, end);
	else if (x->c.kind == ENDPOINT_MAIL)
		endpoint_on_mail(e, i, end);
	else if (x->c.kind == ENDPOINT_OUT)
		endpoint_on_sent(e, i);
	else if (end->error == ENOMSG && x->c.flags & CHANNEL_LASTS)
		want(e, i);
	else
		finish_message(e, i, end);
}

/* --- messages --- */

/* Of the receiver's endpoint, and the sender's. */
static uint16_t space_of(const struct channel_command *c)
{
	bool is_tagged = c->flags & CHANNEL_TAGGED;
	bool is_any = c->rank == CHANNEL_ANY;

	if (c->kind == CHANNEL_SEND)
		return MSG_SPACE(1 + 2 * c->to + is_tagged, c->endpoint);
	return MSG_SPACE(
		1 + 2 * c->endpoint + is_tagged, is_any ? MSG_FROM_ANY : c->to);
}

static uint16_t flags_of(uint16_t of_channel)
{
	static const uint16_t same[][2] = {
		{ CHANNEL_SYNC | CHANNEL_DELIVERED, MSG_TAGGED_SYNC },
		{ CHANNEL_CLAIM, MSG_TAGGED_CLAIM },
		{ CHANNEL_DISCARD, MSG_TAGGED_DISCARD },
		{ CHANNEL_HAS_DATA, MSG_TAGGED_DATA },
		{ CHANNEL_LASTS, MSG_TAGGED_LASTS },
	};
	uint16_t flags = 0;

	for (uint32_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (of_channel & same[i][0])
			flags |= same[i][1];
	return flags;
}

static struct msg_tagged_entry entry_of(const struct endpoint *e, uint32_t i)
{
	const struct endpoint_op *x = &e->op[i];
	const struct channel_command *c = &x->c;
	bool is_send = c->kind == CHANNEL_SEND;
	uint64_t ignore = c->flags & CHANNEL_TAGGED ? c->ignore : UINT64_MAX;

	return (struct msg_tagged_entry){
		.tag = c->tag,
		.ignore = is_send ? 0 : ignore,
		.data = c->data,
		.rank = c->rank == CHANNEL_ANY ? MSG_TAGGED_ANY : c->rank,
		.space = space_of(c),
		.flags = flags_of(c->flags),
		.at = x->at + x->filled,
		.bytes = left_of(x),
		.context = endpoint_context(i),
		.since = x->since,
		.called = x->since,
		.ready = x->ready,
	};
}

/* While the machine has no room, the rank's library waits for it. */
int endpoint_begin(struct endpoint *e, uint32_t i,
	int (*try)(struct endpoint *e, uint32_t i))
{
	int code;

	while ((code = try(e, i)) == EAGAIN)
		msg_go_on(state(e));
	return code;
}

static int try_send(struct endpoint *e, uint32_t i)
{
	const struct msg_tagged_entry x = entry_of(e, i);
	bool is_over = false;
	int code = state(e)->tagged->send(state(e), &x, &is_over);

	if (!code && !state(e)->tagged->logs)
		msg_log_sent(state(e), x.rank, x.tag, x.bytes, x.since);
	if (is_over)
		finish_op(e, i, 0);
	return code;
}

static int try_receive(struct endpoint *e, uint32_t i)
{
	const struct msg_tagged_entry x = entry_of(e, i);

	return state(e)->tagged->receive(state(e), &x);
}

bool endpoint_post_again(struct endpoint *e, uint32_t i)
{
	int code = e->op[i].error ? e->op[i].error : try_receive(e, i);

	if (code && code != EAGAIN)
		finish_op(e, i, code);
	return code != EAGAIN;
}

static int peek(struct endpoint *e, uint32_t i)
{
	const struct msg_tagged_entry x = entry_of(e, i);

	return state(e)->tagged->peek(state(e), &x);
}

bool endpoint_is_rank(const struct endpoint *e, uint32_t rank)
{
	return rank < weft_msg_ranks(&e->msg);
}

/* Sends leave in order, so one that follows a send without room waits, too. */
static int send(struct endpoint *e, uint32_t i)
{
	int code = endpoint_is_rank(e, e->op[i].c.rank)
			   ? endpoint_begin(e, i, endpoint_take_buffer)
			   : EHOSTUNREACH;

	msg_charge(state(e), msg_times(state(e), e->op[i].c.bytes).send);
	e->op[i].ready = program_now();
	if (!code)
		code = e->unsent.n ? EAGAIN : try_send(e, i);
	if (code != EAGAIN)
		return code;
	*(uint32_t *)ring_push(&e->unsent) = i;
	return 0;
}

bool endpoint_send_waiting(struct endpoint *e)
{
	bool did = false;

	while (e->unsent.n) {
		uint32_t i = *(const uint32_t *)ring_at(&e->unsent, 0);
		int code = try_send(e, i);

		if (code == EAGAIN)
			break;
		ring_pop(&e->unsent);
		if (code)
			finish_op(e, i, code);
		did = true;
	}
	return did;
}

static int receive(struct endpoint *e, uint32_t i)
{
	const struct channel_command *c = &e->op[i].c;
	int code = endpoint_is_rank(e, c->rank) || c->rank == CHANNEL_ANY
			   ? endpoint_begin(e, i, endpoint_take_buffer)
			   : EHOSTUNREACH;

	msg_charge(state(e), msg_times(state(e), c->bytes).receive);
	return code ? code : endpoint_begin(e, i, try_receive);
}

static int look(struct endpoint *e, uint32_t i)
{
	const struct channel_command *c = &e->op[i].c;

	if (!endpoint_is_rank(e, c->rank) && c->rank != CHANNEL_ANY)
		return EHOSTUNREACH;
	e->op[i].c.bytes = 0;
	return endpoint_begin(e, i, peek);
}

/* One that stays may be about to be posted again. */
static void cancel_receive(struct endpoint *e, uint32_t i)
{
	if (state(e)->tagged->cancel(state(e), endpoint_context(i)))
		e->op[i].error = ECANCELED;
}

/* It has no completion of its own. */
static void cancel(struct endpoint *e, const struct channel_command *c)
{
	for (uint32_t i = 0; i < e->room; i++) {
		const struct endpoint_op *x = &e->op[i];

		if (x->is_used && x->c.kind == CHANNEL_RECEIVE &&
			x->c.context == c->context &&
			x->c.endpoint == c->endpoint) {
			cancel_receive(e, i);
			return;
		}
	}
}

/* --- commands --- */

static int (*const kinds[CHANNEL_KINDS])(struct endpoint *e, uint32_t i) = {
	[CHANNEL_SEND] = send,
	[CHANNEL_RECEIVE] = receive,
	[CHANNEL_PEEK] = look,
	[CHANNEL_WRITE] = endpoint_transfer,
	[CHANNEL_READ] = endpoint_transfer,
};

static bool is_for_claimed(const struct channel_command *c)
{
	return c->kind == CHANNEL_RECEIVE && c->flags & CHANNEL_CLAIM;
}

/* The peek that has claimed a message, which becomes its receive. */
static uint32_t find_claimed(
	struct endpoint *e, const struct channel_command *c)
{
	for (uint32_t i = 0; i < e->room; i++) {
		struct endpoint_op *x = &e->op[i];

		if (!x->is_used || !x->is_claimed ||
			x->c.context != c->context ||
			x->c.endpoint != c->endpoint)
			continue;
		x->is_claimed = false;
		x->c = *c;
		x->since = e->asked;
		return i;
	}
	return ENDPOINT_NO_OP;
}

/* One at a time. */
static void keep_collective(struct endpoint *e, const struct channel_command *c)
{
	if (e->has_collective || e->is_inside) {
		endpoint_end(e, c, EBUSY);
		return;
	}
	e->collective = *c;
	e->has_collective = true;
}

/* Messages and operations on others' memory. */
static void execute_op(struct endpoint *e, const struct channel_command *c)
{
	uint32_t i = ENDPOINT_NO_OP;
	int code;

	if (c->kind >= CHANNEL_KINDS || !kinds[c->kind]) {
		endpoint_end(e, c, ENOSYS);
		return;
	}
	if (c->endpoint < ENDPOINT_NUMBERS && c->to < ENDPOINT_NUMBERS)
		i = is_for_claimed(c) ? find_claimed(e, c)
				      : endpoint_take_op(e, c);
	if (i == ENDPOINT_NO_OP) {
		endpoint_end(e, c, EINVAL);
		return;
	}
	e->n_sends += c->kind == CHANNEL_SEND;
	code = kinds[c->kind](e, i);
	e->n_pieces = 0;
	if (code)
		finish_op(e, i, code);
}

/* Pieces of the next command's buffer. */
static void take_vector(struct endpoint *e, const struct channel_command *c)
{
	uint64_t bytes = c->n * sizeof(e->piece[0]);

	e->n_pieces = UINT32_MAX;
	if (c->n && c->n <= CHANNEL_VECTOR && c->flags & CHANNEL_IN_ROOM &&
		e->client.load(e->client.arg, c->at, e->piece, bytes))
		e->n_pieces = c->n;
}

/* An atomic is two commands. */
static void take_atomic(struct endpoint *e, const struct channel_command *c)
{
	bool is_whole = e->has_atomic && c->kind == CHANNEL_MORE;

	if (is_whole)
		endpoint_atomic(e, &e->atomic, c);
	else if (e->has_atomic)
		endpoint_end(e, &e->atomic, EINVAL);
	else if (c->kind == CHANNEL_MORE)
		endpoint_end(e, c, EINVAL);
	e->has_atomic = c->kind == CHANNEL_ATOMIC;
	if (e->has_atomic)
		e->atomic = *c;
}

static void execute(struct endpoint *e, const struct channel_command *c)
{
	if (e->has_atomic || c->kind == CHANNEL_ATOMIC)
		take_atomic(e, c);
	switch (c->kind) {
	case CHANNEL_ATOMIC:
	case CHANNEL_MORE:
		return;
	case CHANNEL_CANCEL:
		cancel(e, c);
		return;
	case CHANNEL_VECTOR_OF:
		take_vector(e, c);
		return;
	case CHANNEL_REGISTER:
		endpoint_register(e, c);
		return;
	case CHANNEL_UNPOLLED:
		endpoint_unpolled(e, c);
		return;
	case CHANNEL_UNREGISTER:
		endpoint_unregister(e, c);
		return;
	default:
		if (channel_is_collective(c->kind))
			keep_collective(e, c);
		else
			execute_op(e, c);
	}
}

void endpoint_execute(
	struct endpoint *e, const struct channel_command *c, uint32_t n)
{
	/* what follows in a turn was asked for at the same time */
	e->asked = program_now();
	for (uint32_t i = 0; i < n; i++)
		execute(e, &c[i]);
}

bool endpoint_has_collective(const struct endpoint *e)
{
	return e->has_collective;
}

static sim_time relay(void *arg)
{
	struct endpoint *e = arg;

	if (!e->is_inside || e->is_relaying || !e->done.n || !e->client.relay)
		return SIM_NEVER;
	e->is_relaying = true;
	e->client.relay(e->client.arg);
	e->is_relaying = false;
	return SIM_NEVER;
}

void endpoint_meet(struct endpoint *e)
{
	int code;

	if (!e->has_collective)
		return;
	e->has_collective = false;
	e->is_inside = true;
	code = endpoint_collective(e, &e->collective);
	e->is_inside = false;
	endpoint_end(e, &e->collective, code);
}

static void look_at_first(struct endpoint *e)
{
	uint32_t i = e->wants[0];
	int code = peek(e, i);

	e->wanted--;
	memmove(e->wants, e->wants + 1, e->wanted * sizeof(*e->wants));
	if (!code)
		e->looking = i + 1;
	else if (code == EAGAIN)
		want(e, i);
	else
		finish_op(e, i, code);
}

/* Peeks that last look again, one at a time: a card that were always asked
 * would have no time for what comes.  No messages are taken meanwhile, or one
 * would come after the peek that waits for it. */
static void look_again(struct endpoint *e)
{
	for (uint32_t n = e->wanted; n && !e->looking; n--) {
		look_at_first(e);
		msg_take_ends(state(e));
	}
}

void endpoint_step(struct endpoint *e)
{
	msg_step(state(e));
	look_again(e);
	msg_take_ends(state(e));
	endpoint_go_on(e);
}

void endpoint_wait(struct endpoint *e, sim_time until)
{
	endpoint_step(e);
	if (!e->done.n)
		msg_charge(state(e), e->look);
	e->is_waiting = true;
	e->data_ends_wait = until != SIM_NEVER;
	while (!e->done.n && !endpoint_is_touched(e) && program_now() < until) {
		if (until == SIM_NEVER)
			msg_go_on(state(e));
		else
			msg_sleep_before(state(e), until);
		endpoint_step(e);
	}
	e->is_waiting = e->is_touched = e->is_data_touched = false;
}

void endpoint_doze(struct endpoint *e, sim_time until)
{
	endpoint_step(e);
	if (!e->done.n)
		msg_sleep_before(state(e), until);
	endpoint_step(e);
}

bool endpoint_has_next(const struct endpoint *e)
{
	return e->done.n;
}

bool endpoint_next(struct endpoint *e, struct channel_completion *c)
{
	if (!e->done.n)
		return false;
	*c = *(struct channel_completion *)ring_pop(&e->done);
	return true;
}

uint32_t endpoint_first_rank(const struct endpoint *e)
{
	const struct channel_completion *c;

	if (!e->done.n)
		return CHANNEL_ANY;
	c = ring_at(&e->done, 0);
	return c->kind <= CHANNEL_MORE ? c->rank : CHANNEL_ANY;
}

sim_time endpoint_own(struct endpoint *e)
{
	return state(e)->spent;
}

const struct trip_sums *endpoint_trips(const struct endpoint *e)
{
	return &endpoint_msg(e)->trip.sums;
}

uint64_t endpoint_eager(struct endpoint *e)
{
	return state(e)->eager;
}

/* --- what it waits for --- */

static void describe_receive(
	const struct channel_command *c, bool is_mpi, char *text, size_t size)
{
	int n = c->rank == CHANNEL_ANY
			? snprintf(text, size, "from any")
			: snprintf(text, size, "from %u", c->rank);

	if (!is_mpi && c->flags & CHANNEL_TAGGED)
		snprintf(text + n, size - (size_t)n, ", tag %" PRIu64, c->tag);
	else if (is_mpi && !(uint32_t)c->ignore && (int32_t)c->tag >= 0)
		snprintf(text + n, size - (size_t)n, ", tag %d",
			(int32_t)c->tag);
}

void endpoint_describe(
	const struct endpoint *e, bool is_mpi, char *text, size_t size)
{
	const struct channel_command *first = NULL;
	char what[64];
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->room; i++)
		if (e->op[i].is_used && e->op[i].c.kind == CHANNEL_RECEIVE &&
			!n++)
			first = &e->op[i].c;
	text[0] = '\0';
	if (!n)
		return;
	describe_receive(first, is_mpi, what, sizeof(what));
	snprintf(text, size,
		n > 1 ? ", %u receives pending, the first %s"
		      : ", %u receive pending, %s",
		n, what);
}

/* --- life --- */

int endpoint_open(struct endpoint *e, const struct endpoint_client *c,
	const struct weft_msg_options *o)
{
	const struct mpi_params *p = mpi_params_of(program_host());
	struct weft_msg_options mine = { 0 };
	int code;

	*e = (struct endpoint){ .client = *c, .look = p->look };
	ring_init(&e->done, sizeof(struct channel_completion));
	ring_init(&e->waiting, sizeof(uint32_t));
	ring_init(&e->unsent, sizeof(uint32_t));
	if (o)
		mine = *o;
	if (!mine.eager)
		mine.eager = (uint32_t)p->eager;
	if (!mine.pool && msg_count_ranks(program_host()) > p->pool_above)
		mine.pool = (uint32_t)p->pool;
	code = weft_msg_init(&e->msg, &mine);
	if (code)
		return code;
	if (!mine.eager)
		msg_send_most_at_once(state(e));
	msg_track_slots(state(e));
	if (endpoint_open_stages(e))
		return EFAULT;
	state(e)->match = msg_times(state(e), 0).match;
	state(e)->on_end = on_end;
	state(e)->go_on = endpoint_go_on;
	state(e)->can_go_on = endpoint_can_go_on;
	state(e)->on_end_arg = e;
	state(e)->between = relay;
	return 0;
}

void endpoint_finish(struct endpoint *e)
{
	while (e->n_sends || e->n_active || e->waiting.n)
		msg_go_on(state(e));
}

int endpoint_close(struct endpoint *e)
{
	endpoint_finish(e);
	/* others may have operations on this rank's memory */
	if (e->client.registry)
		weft_msg_barrier(&e->msg);
	endpoint_close_mail(e);
	/* receives that never got a message */
	for (uint32_t i = 0; i < e->room; i++)
		if (e->op[i].is_used && e->op[i].c.kind == CHANNEL_RECEIVE)
			state(e)->tagged->cancel(state(e), endpoint_context(i));
	endpoint_step(e);
	endpoint_close_regions(e);
	return weft_msg_fini(&e->msg);
}

void endpoint_free(struct endpoint *e)
{
	for (uint32_t i = 0; i < e->room; i++)
		mem_free(e->op[i].load);
	mem_free(e->op);
	mem_free(e->wants);
	mem_free(e->active);
	mem_free(e->unserved);
	mem_free(e->given);
	mem_free(e->unpolled);
	e->given = NULL;
	e->unpolled = NULL;
	endpoint_free_groups(e);
	ring_fini(&e->done);
	ring_fini(&e->waiting);
	ring_fini(&e->unsent);
	endpoint_free_stages(e);
	e->op = NULL;
	e->wants = e->active = e->unserved = NULL;
	e->room = 0;
}
