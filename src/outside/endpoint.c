#include "outside/endpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { NO_STAGE = ENDPOINT_STAGES };

#define NO_HOLD UINT32_MAX
#define NO_OP	UINT32_MAX

/* What is under way. */
struct endpoint_op {
	struct channel_command c;
	uint64_t at; /* of the node */
	uint32_t hold, stage;
	uint32_t next; /* + 1, of unused ones */
	bool is_used;
	bool is_claimed; /* a peek whose message waits for its receive */
};

static struct msg_state *state(struct endpoint *e)
{
	return msg_state(&e->msg);
}

/* --- ops --- */

static uint32_t take_op(struct endpoint *e, const struct channel_command *c)
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
		.c = *c, .hold = NO_HOLD, .stage = NO_STAGE, .is_used = true
	};
	return i - 1;
}

static uint64_t context_of(uint32_t i)
{
	return MSG_TAGGED_OTHER | i;
}

static void give_op(struct endpoint *e, uint32_t i)
{
	struct endpoint_op *x = &e->op[i];

	if (x->hold != NO_HOLD)
		e->client.give(e->client.arg, x->hold);
	if (x->stage != NO_STAGE)
		e->free_stages[x->stage / 64] |= UINT64_C(1) << x->stage % 64;
	x->is_used = false;
	x->next = e->unused;
	e->unused = i + 1;
}

/* --- completions --- */

static void complete(
	struct endpoint *e, const struct channel_completion *c, uint16_t flags)
{
	if (!(flags & CHANNEL_SILENT) || c->error)
		*(struct channel_completion *)ring_push(&e->done) = *c;
}

static struct channel_completion completion_of(const struct channel_command *c)
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

/* A command that has ended, or could not begin. */
static void finish(
	struct endpoint *e, const struct channel_command *c, int error)
{
	struct channel_completion x = completion_of(c);

	x.error = error;
	complete(e, &x, c->flags);
}

static void finish_op(struct endpoint *e, uint32_t i, int error)
{
	const struct channel_command c = e->op[i].c;

	e->n_sends -= c.kind == CHANNEL_SEND;
	give_op(e, i);
	finish(e, &c, error);
}

/* A receive or a peek has its message. */
static void finish_message(
	struct endpoint *e, uint32_t i, const struct msg_tagged_end *end)
{
	const struct channel_command c = e->op[i].c;
	struct channel_completion x = completion_of(&c);
	uint64_t stored = end->bytes < c.bytes ? end->bytes : c.bytes;

	if (c.kind == CHANNEL_RECEIVE && !state(e)->tagged->logs &&
		end->error != ECANCELED)
		program_log_received(msg_log_matched(
			state(e), end->rank, end->tag, end->bytes));
	x.error = end->error;
	x.rank = end->rank;
	x.tag = end->tag;
	x.data = end->data;
	x.bytes = end->bytes;
	x.flags = (uint16_t)(c.flags & ~CHANNEL_HAS_DATA);
	if (end->flags & MSG_TAGGED_DATA)
		x.flags |= CHANNEL_HAS_DATA;
	if (c.kind == CHANNEL_RECEIVE && !(c.flags & CHANNEL_DISCARD) &&
		(!end->error || end->error == EMSGSIZE))
		x.stored = stored;
	if (c.kind == CHANNEL_PEEK && c.flags & CHANNEL_CLAIM && !end->error)
		e->op[i].is_claimed = true;
	else
		give_op(e, i);
	complete(e, &x, c.flags);
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
	if (x->c.kind == CHANNEL_SEND)
		finish_op(e, i, end->error);
	else if (end->error == ENOMSG && x->c.flags & CHANNEL_LASTS)
		want(e, i);
	else
		finish_message(e, i, end);
}

/* --- buffers --- */

/* Bytes that came with the command wait at a stage of the node's memory. */
static int take_stage(struct endpoint *e, struct endpoint_op *x)
{
	uint8_t bytes[CHANNEL_SHORT];
	uint32_t half = e->free_stages[0] ? 0 : 1, i;

	if (x->c.bytes > sizeof(bytes))
		return EMSGSIZE;
	if (!e->free_stages[half])
		return EAGAIN;
	if (!e->client.load(e->client.arg, x->c.at, bytes, x->c.bytes))
		return EFAULT;
	i = (uint32_t)__builtin_ctzll(e->free_stages[half]);
	e->free_stages[half] &= ~(UINT64_C(1) << i);
	x->stage = 64 * half + i;
	x->at = e->stages + (uint64_t)x->stage * CHANNEL_SHORT;
	if (x->c.bytes)
		program_write(x->at, bytes, x->c.bytes);
	return 0;
}

/* An error number, or 0 if the bytes have an address of the node. */
static int take_buffer(struct endpoint *e, uint32_t i)
{
	struct endpoint_op *x = &e->op[i];

	if (x->c.flags & CHANNEL_IN_ROOM)
		return take_stage(e, x);
	x->at = x->c.at;
	if (!x->c.bytes) {
		x->at = e->stages; /* of nothing, any is as good */
		return 0;
	}
	return e->client.take(e->client.arg, x->c.bytes, &x->at, &x->hold);
}

/* --- messages --- */

static uint16_t space_of(const struct channel_command *c, uint16_t endpoint)
{
	bool is_tagged = c->flags & CHANNEL_TAGGED;

	return (uint16_t)(1 + 2 * endpoint + is_tagged);
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
		.space = space_of(c, is_send ? c->to : c->endpoint),
		.flags = flags_of(c->flags),
		.at = x->at,
		.bytes = c->bytes,
		.context = context_of(i),
	};
}

/* While the machine has no room, the rank's library waits for it. */
static int begin(struct endpoint *e, uint32_t i,
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
		msg_log_sent(state(e), x.rank, x.tag, x.bytes);
	if (is_over)
		finish_op(e, i, 0);
	return code;
}

static int try_receive(struct endpoint *e, uint32_t i)
{
	const struct msg_tagged_entry x = entry_of(e, i);

	return state(e)->tagged->receive(state(e), &x);
}

static int peek(struct endpoint *e, uint32_t i)
{
	const struct msg_tagged_entry x = entry_of(e, i);

	return state(e)->tagged->peek(state(e), &x);
}

static bool is_rank(struct endpoint *e, uint32_t rank)
{
	return rank < weft_msg_ranks(&e->msg);
}

static int send(struct endpoint *e, uint32_t i)
{
	int code = is_rank(e, e->op[i].c.rank) ? begin(e, i, take_buffer)
					       : EHOSTUNREACH;

	program_charge(msg_times(state(e), e->op[i].c.bytes).send);
	return code ? code : begin(e, i, try_send);
}

static int receive(struct endpoint *e, uint32_t i)
{
	const struct channel_command *c = &e->op[i].c;
	int code = is_rank(e, c->rank) || c->rank == CHANNEL_ANY
			   ? begin(e, i, take_buffer)
			   : EHOSTUNREACH;

	program_charge(msg_times(state(e), c->bytes).receive);
	return code ? code : begin(e, i, try_receive);
}

static int look(struct endpoint *e, uint32_t i)
{
	const struct channel_command *c = &e->op[i].c;

	if (!is_rank(e, c->rank) && c->rank != CHANNEL_ANY)
		return EHOSTUNREACH;
	e->op[i].c.bytes = 0;
	return begin(e, i, peek);
}

/* It has no completion of its own. */
static void cancel(struct endpoint *e, const struct channel_command *c)
{
	for (uint32_t i = 0; i < e->room; i++) {
		const struct endpoint_op *x = &e->op[i];

		if (x->is_used && x->c.kind == CHANNEL_RECEIVE &&
			x->c.context == c->context &&
			x->c.endpoint == c->endpoint) {
			state(e)->tagged->cancel(state(e), context_of(i));
			return;
		}
	}
}

/* --- commands --- */

static int (*const kinds[CHANNEL_KINDS])(struct endpoint *e, uint32_t i) = {
	[CHANNEL_SEND] = send,
	[CHANNEL_RECEIVE] = receive,
	[CHANNEL_PEEK] = look,
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
		return i;
	}
	return NO_OP;
}

/* One at a time. */
static void keep_collective(struct endpoint *e, const struct channel_command *c)
{
	if (e->has_collective || e->is_inside) {
		finish(e, c, EBUSY);
		return;
	}
	e->collective = *c;
	e->has_collective = true;
}

static void execute(struct endpoint *e, const struct channel_command *c)
{
	uint32_t i;
	int code;

	if (c->kind == CHANNEL_CANCEL) {
		cancel(e, c);
		return;
	}
	if (channel_is_collective(c->kind)) {
		keep_collective(e, c);
		return;
	}
	if (c->kind >= CHANNEL_KINDS || !kinds[c->kind]) {
		finish(e, c, ENOSYS);
		return;
	}
	i = is_for_claimed(c) ? find_claimed(e, c) : take_op(e, c);
	if (i == NO_OP) {
		finish(e, c, EINVAL);
		return;
	}
	e->n_sends += c->kind == CHANNEL_SEND;
	code = kinds[c->kind](e, i);
	if (code)
		finish_op(e, i, code);
}

void endpoint_execute(
	struct endpoint *e, const struct channel_command *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		execute(e, &c[i]);
}

bool endpoint_has_collective(const struct endpoint *e)
{
	return e->has_collective;
}

/* What the collective waits for stays what it was. */
static void relay(void *arg)
{
	struct endpoint *e = arg;
	struct msg_state *m = state(e);
	struct weft_msg_done awaited = m->awaited;
	uint64_t at = m->awaited_at;

	if (!e->is_inside || e->is_relaying || !e->done.n || !e->client.relay)
		return;
	e->is_relaying = true;
	m->awaited = (struct weft_msg_done){ 0 };
	m->awaited_at = 0;
	e->client.relay(e->client.arg);
	m->awaited = awaited;
	m->awaited_at = at;
	e->is_relaying = false;
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
	finish(e, &e->collective, code);
}

/* Peeks that last look again. */
static void look_again(struct endpoint *e)
{
	uint32_t n = e->wanted;

	e->wanted = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = e->wants[k];
		int code = peek(e, i);

		if (code == EAGAIN)
			want(e, i);
		else if (code)
			finish_op(e, i, code);
	}
}

void endpoint_step(struct endpoint *e)
{
	msg_step(state(e));
	look_again(e);
	if (state(e)->tagged->has_next(state(e)))
		msg_step(state(e));
}

void endpoint_wait(struct endpoint *e, sim_time until)
{
	endpoint_step(e);
	if (!e->done.n)
		program_charge(e->look);
	while (!e->done.n && program_now() < until) {
		if (until == SIM_NEVER)
			msg_go_on(state(e));
		else
			msg_sleep_before(state(e), until);
		endpoint_step(e);
	}
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
	if (o)
		mine = *o;
	if (!mine.eager)
		mine.eager = (uint32_t)p->eager;
	code = weft_msg_init(&e->msg, &mine);
	if (code)
		return code;
	if (!mine.eager)
		msg_send_most_at_once(state(e));
	msg_track_slots(state(e));
	if (state(e)->at - state(e)->base < ENDPOINT_MEMORY)
		return EFAULT;
	e->coll = state(e)->at - ENDPOINT_MEMORY;
	e->stages = e->coll + ENDPOINT_COLL;
	e->free = e->coll - state(e)->base;
	e->free_stages[0] = e->free_stages[1] = UINT64_MAX;
	state(e)->match = msg_times(state(e), 0).match;
	state(e)->on_end = on_end;
	state(e)->on_end_arg = e;
	state(e)->between = relay;
	return 0;
}

void endpoint_finish(struct endpoint *e)
{
	while (e->n_sends)
		msg_go_on(state(e));
}

int endpoint_close(struct endpoint *e)
{
	endpoint_finish(e);
	/* receives that never got a message */
	for (uint32_t i = 0; i < e->room; i++)
		if (e->op[i].is_used && e->op[i].c.kind == CHANNEL_RECEIVE)
			state(e)->tagged->cancel(state(e), context_of(i));
	endpoint_step(e);
	return weft_msg_fini(&e->msg);
}

void endpoint_free(struct endpoint *e)
{
	mem_free(e->op);
	mem_free(e->wants);
	endpoint_free_groups(e);
	ring_fini(&e->done);
	e->op = NULL;
	e->wants = NULL;
}
