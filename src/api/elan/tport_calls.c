/* Tagged ports: sends, receives, and their ends, as programs call them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/elan/tport_lib.h"
#include "host/program.h"

enum { FRONT_WORDS = sizeof(struct tport_front) / sizeof(uint64_t) };

/* --- handles --- */

static uint64_t status_at(const struct elan_tport *t, uint32_t h)
{
	return t->statuses + (h - 1) * sizeof(struct tport_status);
}

static uint64_t done_at(const struct elan_tport *t, uint32_t h)
{
	return status_at(t, h) + offsetof(struct tport_status, is_done);
}

static struct tport_status status_of(const struct elan_tport *t, uint32_t h)
{
	struct tport_status s;

	program_read(status_at(t, h), &s, sizeof(s));
	return s;
}

static void set_status(
	const struct elan_tport *t, uint32_t h, const struct tport_status *s)
{
	program_write(status_at(t, h), s, sizeof(*s));
}

static void free_handle(struct elan_tport *t, uint32_t h)
{
	const struct tport_status s = { .bytes = t->free };

	set_status(t, h, &s);
	t->free = h;
}

/* For a message to or from a rank; 0: all are taken. */
static uint32_t take_handle(struct elan_tport *t, uint32_t rank, uint64_t tag)
{
	const struct tport_status s = { .tag = tag, .source = rank };
	uint32_t h = t->free;

	if (h)
		t->free = (uint32_t)status_of(t, h).bytes;
	else if (t->made + 1 < t->handles)
		h = ++t->made;
	else
		return 0;
	set_status(t, h, &s);
	return h;
}

/* Of calls that return when it is free again. */
static uint32_t spare_handle(const struct elan_tport *t)
{
	const struct tport_status none = { 0 };

	set_status(t, t->handles, &none);
	return t->handles;
}

static uint16_t next_number(const struct elan_tport *t, uint32_t rank)
{
	uint64_t at = t->numbers + 2 * (uint64_t)rank;
	uint16_t number = 0, next;

	program_read(at, &number, sizeof(number));
	next = (uint16_t)(number + 1);
	program_write(at, &next, sizeof(next));
	return number;
}

/* --- messages --- */

static int send_record(struct elan_tport *t, enum tport_kind kind, uint64_t tag,
	const struct tport_record *r)
{
	const struct elan_letter l = {
		.queue = 2 * t->port,
		.tag = tag,
		.data = r,
		.bytes = sizeof(*r),
		.number = t->records++,
		.kind = (uint8_t)kind,
	};

	return cq_enqueue(&t->own, t->rank, t->rank, &l, 0);
}

static bool is_rank(const struct elan_tport *t, uint32_t rank)
{
	return rank < t->n_ranks || rank == ELAN_TPORT_ANY;
}

/* The library's part of both calls is divided evenly. */
static sim_time half_mpi(void)
{
	return cq_host()->mpi / 2;
}

static uint64_t event_of(const struct elan_tport *t, uint32_t handle)
{
	return t->card + (handle - 1) * sizeof(struct tport_posted);
}

/* What a message adds, whatever its length. */
static uint8_t kind_of(
	const struct elan_tport *t, const struct elan_tport_message *m)
{
	bool has_data = m->flags & ELAN_TPORT_DATA;

	if (has_data && m->data == t->rank && m->space == TPORT_COMMON)
		return TPORT_USUAL;
	return (uint8_t)((m->space ? TPORT_SPACE : 0) |
			 (has_data ? TPORT_DATA : 0));
}

/* The kind of a message, and what it adds. */
static uint8_t make_front(const struct elan_tport *t,
	const struct elan_tport_message *m, uint32_t handle, bool is_long,
	uint64_t word[FRONT_WORDS])
{
	uint8_t kind = kind_of(t, m) | (is_long ? TPORT_LONG : 0);
	uint32_t n = 0;

	if (kind & TPORT_SPACE)
		word[n++] = m->space;
	if (kind & TPORT_DATA)
		word[n++] = m->data;
	if (handle && !is_long) {
		kind |= TPORT_SYNC;
		word[n++] = event_of(t, handle);
		word[n++] = done_at(t, handle);
	}
	return kind;
}

static int send_message(struct elan_tport *t,
	const struct elan_tport_message *m, struct elan_letter *l)
{
	l->kind = tport_code(l->kind);
	l->queue = 2 * t->port + 1;
	l->tag = m->tag;
	l->number = next_number(t, m->rank);
	return cq_enqueue(&t->queue, m->rank, t->rank, l, half_mpi());
}

static int send_short(struct elan_tport *t, const struct elan_tport_message *m,
	uint32_t handle)
{
	uint8_t block[ELAN_SLOT_MOST];
	uint64_t front[FRONT_WORDS];
	struct elan_letter l = {
		.from = m->at,
		.bytes = (uint32_t)m->bytes,
		.kind = make_front(t, m, handle, false, front),
	};
	uint32_t n = tport_front_bytes(l.kind);

	if (n) {
		program_join(); /* the bytes are the program's */
		memcpy(block, front, n);
		elan_load_bytes(m->at, block + n, m->bytes);
		l.data = block;
		l.bytes += n;
	}
	return send_message(t, m, &l);
}

static int send_long(struct elan_tport *t, const struct elan_tport_message *m,
	uint32_t handle)
{
	struct {
		struct tport_long d;
		uint64_t front[FRONT_WORDS];
	} x = { .d = {
			.bytes = m->bytes,
			.from = m->at,
			.page = tport_page_at(t->port, TPORT_PAGE_DMAS),
			.event = event_of(t, handle),
			.done = done_at(t, handle),
		} };
	struct elan_letter l = {
		.data = &x,
		.kind = make_front(t, m, handle, true, x.front),
	};

	l.bytes = (uint32_t)sizeof(x.d) + tport_front_bytes(l.kind);
	return send_message(t, m, &l);
}

/* Bytes that a short message has beside its own. */
static uint32_t front_bytes(
	const struct elan_tport *t, const struct elan_tport_message *m)
{
	uint32_t kind = kind_of(t, m);

	kind |= m->flags & ELAN_TPORT_SYNC ? TPORT_SYNC : 0;
	return tport_front_bytes(kind);
}

/* Whether a message is sent with its bytes. */
static bool is_short(
	const struct elan_tport *t, const struct elan_tport_message *m)
{
	return m->bytes <= (uint64_t)cq_params()->match.eager &&
	       m->bytes + front_bytes(t, m) <= tport_slot_bytes();
}

int elan_tport_send(struct elan_tport *t, const struct elan_tport_message *m,
	uint32_t *handle)
{
	PROGRAM_PRIVATE();

	*handle = 0;
	if (!t->is_open)
		return EBADF;
	if (m->rank >= t->n_ranks || m->space > UINT16_MAX)
		return EINVAL;
	if (!cq_has(m->at, m->bytes))
		return EFAULT;
	if (is_short(t, m) && !(m->flags & ELAN_TPORT_SYNC))
		return send_short(t, m, 0);
	*handle = take_handle(t, m->rank, m->tag);
	if (!*handle)
		return EAGAIN;
	return is_short(t, m) ? send_short(t, m, *handle)
			      : send_long(t, m, *handle);
}

int elan_tport_tx_start(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t from, uint64_t bytes, uint32_t *handle)
{
	const struct elan_tport_message m = {
		.tag = tag, .rank = rank, .at = from, .bytes = bytes
	};

	return elan_tport_send(t, &m, handle);
}

/* --- receives --- */

/* Of a claim that has ended, which a receive takes. */
static int take_claim(struct elan_tport *t, uint32_t handle)
{
	struct tport_status s = { 0 };

	if (!handle || handle > t->made)
		return EINVAL;
	s = status_of(t, handle);
	if (!s.is_done || !(s.code & TPORT_IS_CLAIMED))
		return EINVAL;
	s.is_done = s.code = 0;
	set_status(t, handle, &s);
	return 0;
}

static int check_receive(
	const struct elan_tport *t, const struct elan_tport_message *m)
{
	if (!t->is_open)
		return EBADF;
	if (!is_rank(t, m->rank) || m->space > UINT16_MAX)
		return EINVAL;
	return cq_has(m->at, m->bytes) ? 0 : EFAULT;
}

/* A record of a new handle, or of a claim. */
static int begin(struct elan_tport *t, enum tport_kind kind,
	const struct elan_tport_message *m, uint32_t *handle)
{
	PROGRAM_PRIVATE();
	struct tport_record r = { .mask = m->mask,
		.source = m->rank,
		.space = (uint16_t)m->space,
		.to = m->at,
		.bytes = m->bytes };
	int code = check_receive(t, m);

	if (code)
		return code;
	if (kind == TPORT_CLAIMED || kind == TPORT_CLAIMED_DISCARD)
		code = take_claim(t, *handle);
	else
		*handle = take_handle(t, m->rank, m->tag);
	r.handle = (uint16_t)*handle;
	if (code || !r.handle)
		return code ? code : EAGAIN;
	return send_record(t, kind, m->tag, &r);
}

int elan_tport_receive(struct elan_tport *t, const struct elan_tport_message *m,
	uint32_t *handle)
{
	enum tport_kind kind = TPORT_RECEIVE;

	if (m->flags & ELAN_TPORT_CLAIM)
		kind = m->flags & ELAN_TPORT_DISCARD ? TPORT_CLAIMED_DISCARD
						     : TPORT_CLAIMED;
	return begin(t, kind, m, handle);
}

int elan_tport_peek(struct elan_tport *t, const struct elan_tport_message *m,
	uint32_t *handle)
{
	struct elan_tport_message what = *m;
	bool lasts = m->flags & ELAN_TPORT_LASTS;
	enum tport_kind kind = lasts ? TPORT_PROBE_LASTS : TPORT_PROBE;

	if (m->flags & ELAN_TPORT_CLAIM)
		kind = lasts ? TPORT_PROBE_CLAIM_LASTS : TPORT_PROBE_CLAIM;
	else if (m->flags & ELAN_TPORT_DISCARD)
		kind = TPORT_PROBE_DISCARD;
	what.at = t->at;
	what.bytes = 0;
	return begin(t, kind, &what, handle);
}

int elan_tport_rx_start(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t mask, uint64_t to, uint64_t bytes, uint32_t *handle)
{
	const struct elan_tport_message m = {
		.tag = tag, .mask = mask, .rank = rank, .at = to, .bytes = bytes
	};

	return elan_tport_receive(t, &m, handle);
}

bool tport_has_room(const struct nic *nic, site_id node,
	const struct elan_tport *t, uint64_t bytes)
{
	uint64_t n = 1 + bytes / ELAN_PACKET;

	if (bytes > ELAN_SLOT_MOST)
		n = 1;
	return elan_queue_room(nic, node, t->queue.id) >=
		       n * (ELAN_PACKET + 64) ||
	       elan_queue_error(nic, node, t->queue.id) != ELAN_FINE;
}

/* --- their ends --- */

static bool is_handle(const struct elan_tport *t, uint32_t handle)
{
	return t->is_open && handle && handle <= t->made;
}

static int result(const struct elan_tport *t, uint32_t handle,
	const struct tport_status *s, struct elan_tport_status *status)
{
	struct elan_tport_status x = {
		.tag = s->tag,
		.source = s->source,
		.bytes = s->bytes,
		.space = s->code >> TPORT_SPACE_SHIFT,
	};

	if (s->code & TPORT_HAS_DATA) {
		x.flags = ELAN_TPORT_DATA;
		elan_load_bytes(
			t->datas + (handle - 1) * sizeof(x.data), &x.data, 8);
	} else if (s->code & TPORT_HAS_RANK) {
		x.flags = ELAN_TPORT_DATA;
		x.data = s->source;
	}
	if (status)
		*status = x;
	return s->code & TPORT_CODE;
}

/* Its time is over. */
static int finish(struct elan_tport *t, uint32_t handle,
	struct elan_tport_status *status, bool *is_claim)
{
	struct tport_status s = status_of(t, handle);

	*is_claim = s.code & TPORT_IS_CLAIMED;
	if (!*is_claim)
		free_handle(t, handle);
	return result(t, handle, &s, status);
}

int tport_finish(struct elan_tport *t, uint32_t handle,
	struct elan_tport_status *status, bool *is_claim)
{
	program_charge(half_mpi());
	return finish(t, handle, status, is_claim);
}

/* For a program that waits forever. */
struct awaited {
	uint64_t tag;
	uint32_t rank;
};

static void explain(void *arg, char *text, size_t size)
{
	const struct awaited *a = arg;

	if (a->rank == ELAN_TPORT_ANY)
		snprintf(text, size,
			"elan_tport_wait for a message from any, tag %" PRIu64,
			a->tag);
	else
		snprintf(text, size,
			"elan_tport_wait for a message from or to %" PRIu32
			", tag %" PRIu64,
			a->rank, a->tag);
}

int elan_tport_wait(
	struct elan_tport *t, uint32_t handle, struct elan_tport_status *status)
{
	PROGRAM_PRIVATE();
	struct awaited what;
	struct tport_status s;
	bool is_done, is_claim;

	if (!handle)
		return 0;
	if (!is_handle(t, handle))
		return EINVAL;
	s = status_of(t, handle);
	what = (struct awaited){ s.tag, s.source };
	program_explain(explain, &what);
	is_done = cq_wait_done(&t->queue, done_at(t, handle), half_mpi());
	program_explain(NULL, NULL);
	return is_done ? finish(t, handle, status, &is_claim) : EIO;
}

int elan_tport_test(
	struct elan_tport *t, uint32_t handle, struct elan_tport_status *status)
{
	bool is_claim;

	if (!handle)
		return 0;
	if (!is_handle(t, handle))
		return EINVAL;
	program_charge(cq_params()->poll_load + cq_way());
	return status_of(t, handle).is_done
		       ? tport_finish(t, handle, status, &is_claim)
		       : EINPROGRESS;
}

int elan_tport_cancel(struct elan_tport *t, uint32_t handle)
{
	const struct tport_record r = { .handle = (uint16_t)handle };

	if (!t->is_open)
		return EBADF;
	return is_handle(t, handle) ? send_record(t, TPORT_CANCEL, 0, &r)
				    : EINVAL;
}

/* A record that the thread answers at once. */
int tport_ask(struct elan_tport *t, enum tport_kind kind, uint64_t tag,
	struct tport_record *r, struct tport_status *s)
{
	int code;

	r->handle = (uint16_t)spare_handle(t);
	code = send_record(t, kind, tag, r);
	if (code)
		return code;
	if (!elan_wait_event(&t->own, done_at(t, r->handle), 1))
		return EIO;
	*s = status_of(t, r->handle);
	return 0;
}

int elan_tport_probe(struct elan_tport *t, uint32_t rank, uint64_t tag,
	uint64_t mask, struct elan_tport_status *status)
{
	struct tport_record r = { .mask = mask, .source = rank };
	struct tport_status s;
	int code;

	if (!t->is_open)
		return EBADF;
	if (!is_rank(t, rank))
		return EINVAL;
	code = tport_ask(t, TPORT_PROBE, tag, &r, &s);
	return code ? code
		    : result(t, r.handle, &s,
			      s.code & TPORT_CODE ? NULL : status);
}
