/*
 * Tagged messages by a tagged port: the card matches them (QSN-F61), so a
 * process that computes receives, too.
 *
 * What is under way has a handle of the port.  The write that ends it is seen
 * by the program's watch, which appends the handle to a list; next() takes it
 * from there.
 */
#include <errno.h>

#include "api/elan/msg_tagged.h"
#include "api/elan/tport_lib.h"
#include "base/mem.h"

enum {
	PORT = 0,
	HANDLES = 16000, /* card memory: 64 bytes each */
	SPILL = 16 << 20, /* by default */
};

/* The latter are under way. */
enum what { FREE, CLAIM, SEND, RECEIVE, PEEK };

/* What has a handle. */
struct begun {
	uint64_t context;
	uint32_t next; /* that has ended */
	uint16_t what; /* an enum what */
	bool is_over; /* in the list */
	sim_time ended; /* when it was seen to have */
};

struct msg_port {
	struct elan_tport port;
	struct begun *of; /* by handle */
	uint32_t n;
	uint32_t first, last; /* handles that have ended */
	bool wants_room; /* a send had none */
	uint64_t wanted; /* by so many bytes */
};

/* --- what is under way --- */

static void port_fini(void *kept)
{
	struct msg_port *p = kept;

	mem_free(p->of);
	p->of = NULL;
	p->n = 0;
}

static uint64_t port_held(const void *kept)
{
	const struct msg_port *p = kept;

	return p->n * sizeof(*p->of);
}

static const struct program_library library = {
	.size = sizeof(struct msg_port),
	.fini = port_fini,
	.held = port_held,
};

/* The handle of something, or 0. */
static uint32_t find(const struct msg_port *p, enum what what, uint64_t context)
{
	for (uint32_t i = 1; i < p->n; i++)
		if (p->of[i].what == what && p->of[i].context == context)
			return i;
	return 0;
}

/* --- ends --- */

static void append(struct msg_port *p, uint32_t handle, sim_time t)
{
	p->of[handle].ended = t;
	p->of[handle].is_over = true;
	p->of[handle].next = 0;
	if (p->first)
		p->of[p->last].next = handle;
	else
		p->first = handle;
	p->last = handle;
}

/* Whether a status says so. */
static bool is_done(const struct msg_state *m, uint64_t end_of_status)
{
	uint64_t word = 0;

	host_read(m->host, m->node, end_of_status - 8, &word, 8);
	return word;
}

/* A status is written up to its last word, or that word alone. */
static void port_on_write(
	struct msg_state *m, sim_time t, uint64_t at, size_t n)
{
	struct msg_port *p = m->port;
	uint64_t end = at + n - p->port.statuses;
	uint64_t handle = end / sizeof(struct tport_status);

	if (at < p->port.statuses || end % sizeof(struct tport_status) ||
		handle >= p->n || p->of[handle].what <= CLAIM ||
		p->of[handle].is_over)
		return;
	if (is_done(m, at + n))
		append(p, (uint32_t)handle, t);
}

static bool port_has_next(const struct msg_state *m)
{
	const struct msg_port *p = m->port;

	return p->first || (p->wants_room && tport_has_room(m->nic, m->node,
						     &p->port, p->wanted));
}

/* The card tells of a message when its bytes are here. */
static void end_trip(struct msg_state *m, uint32_t handle)
{
	struct trip *t =
		trips_received(m->trip.trips, m->node, m->rank, handle);

	if (!t)
		return;
	t->at[TRIP_HERE] = m->port->of[handle].ended;
	t->at[TRIP_ENDED] = program_now();
	trips_end(m->trip.trips, m->node, t, &m->trip.sums);
}

static bool port_next(struct msg_state *m, struct msg_tagged_end *end)
{
	struct msg_port *p = m->port;
	struct elan_tport_status s = { 0 };
	uint32_t handle = p->first;
	bool is_claim;

	if (!handle)
		return false;
	p->first = p->of[handle].next;
	end->error = tport_finish(&p->port, handle, &s, &is_claim);
	end->context = p->of[handle].context;
	end->tag = s.tag;
	end->data = s.data;
	end->bytes = s.bytes;
	end->rank = s.source;
	end->flags = s.flags & ELAN_TPORT_DATA ? MSG_TAGGED_DATA : 0;
	end->space = (uint16_t)s.space;
	if (m->trip.trips)
		end_trip(m, handle);
	p->of[handle].is_over = false;
	p->of[handle].what = is_claim ? CLAIM : FREE;
	return true;
}

/* --- begins --- */

/* The interface has taken it.  It may have ended meanwhile. */
static void note(
	struct msg_state *m, uint32_t handle, enum what what, uint64_t context)
{
	struct msg_port *p = m->port;
	uint32_t n = p->n ? p->n : 16;

	while (n <= handle)
		n *= 2;
	if (n > p->n) {
		p->of = mem_grow(p->of, n, sizeof(*p->of));
		for (uint32_t i = p->n; i < n; i++)
			p->of[i] = (struct begun){ 0 };
		p->n = n;
	}
	p->of[handle] =
		(struct begun){ .context = context, .what = (uint16_t)what };
	if (is_done(m, p->port.statuses + handle * sizeof(struct tport_status)))
		append(p, handle, program_now());
}

static struct elan_tport_message message_of(const struct msg_tagged_entry *e)
{
	static const uint32_t flag[][2] = {
		{ MSG_TAGGED_SYNC, ELAN_TPORT_SYNC },
		{ MSG_TAGGED_CLAIM, ELAN_TPORT_CLAIM },
		{ MSG_TAGGED_DISCARD, ELAN_TPORT_DISCARD },
		{ MSG_TAGGED_DATA, ELAN_TPORT_DATA },
		{ MSG_TAGGED_LASTS, ELAN_TPORT_LASTS },
	};
	struct elan_tport_message x = {
		.tag = e->tag,
		.mask = ~e->ignore,
		.data = e->data,
		.rank = e->rank,
		.space = e->space,
		.at = e->at,
		.bytes = e->bytes,
	};

	for (uint32_t i = 0; i < sizeof(flag) / sizeof(flag[0]); i++)
		x.flags |= e->flags & flag[i][0] ? flag[i][1] : 0;
	return x;
}

static int port_send(
	struct msg_state *m, const struct msg_tagged_entry *e, bool *is_over)
{
	const struct elan_tport_message x = message_of(e);
	struct msg_port *p = m->port;
	uint32_t handle;
	int code;

	p->wanted = e->bytes;
	p->wants_room = !tport_has_room(m->nic, m->node, &p->port, e->bytes);
	if (p->wants_room)
		return EAGAIN;
	if (m->trip.trips)
		msg_time_send(m, e, 1);
	code = elan_tport_send(&p->port, &x, &handle);
	if (code && m->trip.trips && e->rank != m->rank)
		trips_cancel(m->trip.trips, m->node, msg_node_of(m, e->rank),
			m->rank, e->rank);
	*is_over = !code && !handle;
	if (!code && handle)
		note(m, handle, SEND, e->context);
	return code;
}

static int port_receive(struct msg_state *m, const struct msg_tagged_entry *e)
{
	const struct elan_tport_message x = message_of(e);
	struct msg_port *p = m->port;
	uint32_t handle = 0;
	int code;

	if (e->flags & MSG_TAGGED_CLAIM)
		handle = find(p, CLAIM, e->context);
	code = elan_tport_receive(&p->port, &x, &handle);
	if (!code)
		note(m, handle, RECEIVE, e->context);
	return code;
}

static int port_peek(struct msg_state *m, const struct msg_tagged_entry *e)
{
	const struct elan_tport_message x = message_of(e);
	struct msg_port *p = m->port;
	uint32_t handle;
	int code = elan_tport_peek(&p->port, &x, &handle);

	if (!code)
		note(m, handle, PEEK, e->context);
	return code;
}

static int port_cancel(struct msg_state *m, uint64_t context)
{
	struct msg_port *p = m->port;
	uint32_t handle = find(p, RECEIVE, context);

	return handle ? elan_tport_cancel(&p->port, handle) : EINVAL;
}

/* --- its life --- */

static uint64_t port_memory(const void *params, uint32_t n_ranks)
{
	const struct elan_params usual = { .match.spill = SPILL };
	const struct elan_params *p = params ? params : &usual;

	return p->match.by == ELAN_MATCH_HOST
		       ? 0
		       : tport_bytes(p, HANDLES, n_ranks);
}

uint64_t msg_port_card(const struct elan_params *p, uint32_t n_ranks)
{
	return port_memory(p, n_ranks) ? tport_card_least(p, HANDLES, n_ranks)
				       : 0;
}

int msg_port_open(struct msg_state *m, uint32_t queue)
{
	const struct elan_tport_options o = { .port = PORT,
		.queue = queue,
		.handles = HANDLES,
		.at = m->tagged_at };
	struct msg_port *p = program_keep(&library);
	struct elan_tport port;
	int code = elan_tport_open(&port, &o);

	if (code)
		return code;
	port_fini(p);
	*p = (struct msg_port){ .port = port };
	m->port = p;
	return 0;
}

void msg_port_close(struct msg_state *m)
{
	elan_tport_close(&m->port->port);
}

const struct msg_tagged elan_tagged = {
	.memory = port_memory,
	.eager = UINT32_MAX, /* nic.match.eager decides */
	.send = port_send,
	.receive = port_receive,
	.cancel = port_cancel,
	.peek = port_peek,
	.next = port_next,
	.has_next = port_has_next,
	.on_write = port_on_write,
};
