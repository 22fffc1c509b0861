/*
 * What commands do on a network that takes no room: messages find receives by
 * two plain lists a rank.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inside/peer_testing.h"
#include "outside/combine.h"

static struct channel_completion answer_to(const struct channel_command *c)
{
	return (struct channel_completion){
		.context = c->context,
		.kind = c->kind,
		.flags = c->flags,
		.endpoint = c->endpoint,
		.rank = c->rank,
		.from_endpoint = c->to,
	};
}

static void finish(struct peer *p, uint32_t rank,
	const struct channel_command *c, int error)
{
	struct channel_completion done = answer_to(c);

	done.error = error;
	if (error || !(c->flags & CHANNEL_SILENT))
		peer_complete(p, &p->rank[rank], &done);
}

static void free_packet(struct packet *k)
{
	free(k->bytes);
	free(k->compare);
	free(k);
}

/* --- matching --- */

static bool is_match(
	const struct channel_command *receive, const struct packet *k)
{
	const struct channel_command *c = &k->command;
	uint64_t other = (receive->tag ^ c->tag) & ~receive->ignore;

	if ((receive->flags ^ c->flags) & CHANNEL_TAGGED ||
		receive->endpoint != c->to)
		return false;
	if (receive->rank != CHANNEL_ANY &&
		(receive->rank != k->from || receive->to != c->endpoint))
		return false;
	return !(c->flags & CHANNEL_TAGGED) || other == 0;
}

static struct channel_completion about(
	const struct channel_command *receive, const struct packet *k)
{
	struct channel_completion done = answer_to(receive);

	done.rank = k->from;
	done.from_endpoint = k->command.endpoint;
	done.bytes = k->command.bytes;
	done.tag = k->command.tag;
	done.data = k->command.data;
	done.flags |= k->command.flags & CHANNEL_HAS_DATA;
	return done;
}

static void scatter(struct rank *r, const struct posted *q,
	const struct packet *k, uint64_t bytes)
{
	const char *from = k->bytes;

	if (q->vector.n == 0) {
		peer_store(r, q->command.at + q->filled, from, bytes);
		return;
	}
	for (unsigned i = 0; i < q->vector.n && bytes > 0; i++) {
		uint64_t n =
			q->piece[i].bytes < bytes ? q->piece[i].bytes : bytes;

		peer_store(r, q->piece[i].at, from, n);
		from += n;
		bytes -= n;
	}
}

/* Whether the receive is used up. */
static bool deliver(
	struct peer *p, struct rank *r, struct posted *q, struct packet *k)
{
	struct channel_completion done = about(&q->command, k);
	uint64_t room = q->command.bytes - q->filled;
	bool is_multi = q->command.flags & CHANNEL_MULTI, is_last = true;

	done.stored = done.bytes < room ? done.bytes : room;
	done.at = q->command.at + q->filled;
	done.error = done.bytes > room ? EMSGSIZE : 0;
	if (q->command.flags & CHANNEL_DISCARD) {
		done.stored = 0;
		done.error = 0;
	}
	scatter(r, q, k, done.stored);
	q->filled += is_multi ? done.stored : 0;
	if (is_multi)
		is_last = q->command.bytes - q->filled < q->command.tag;
	if (is_multi && is_last)
		done.flags |= CHANNEL_RELEASED;
	peer_complete(p, r, &done);
	/* Long ones, and those that are asked for, end with the other side. */
	if (k->command.flags & (CHANNEL_SYNC | CHANNEL_DELIVERED) ||
		k->command.bytes > CHANNEL_SHORT)
		finish(p, k->from, &k->command, 0);
	free_packet(k);
	return is_last;
}

static struct packet **find_early(
	struct rank *r, const struct channel_command *c)
{
	bool is_claim = c->kind == CHANNEL_RECEIVE && c->flags & CHANNEL_CLAIM;
	struct packet **at = &r->early;

	for (; *at; at = &(*at)->next)
		if (is_claim ? (*at)->is_claimed &&
					(*at)->claimed_by == c->context
			     : !(*at)->is_claimed && is_match(c, *at))
			break;
	return at;
}

/* --- receives --- */

static void append(struct posted **list, struct posted *q)
{
	while (*list)
		list = &(*list)->next;
	*list = q;
}

static void receive(struct peer *p, struct rank *r, struct posted *q)
{
	struct packet **at, *k;

	do {
		at = find_early(r, &q->command);
		k = *at;
		if (!k) {
			append(&r->posted, q);
			return;
		}
		*at = k->next;
	} while (!deliver(p, r, q, k));
	free(q);
}

static void found(struct peer *p, struct rank *r,
	const struct channel_command *c, struct packet *k)
{
	struct channel_completion done = about(c, k);

	if (c->flags & CHANNEL_CLAIM) {
		k->is_claimed = true;
		k->claimed_by = c->context;
	}
	peer_complete(p, r, &done);
}

static void peek(struct peer *p, struct rank *r, struct posted *q)
{
	struct packet **at = find_early(r, &q->command), *k = *at;

	if (!k && q->command.flags & CHANNEL_LASTS) {
		append(&r->posted, q);
		return;
	}
	if (!k)
		finish(p, r->number, &q->command, ENOMSG);
	else
		found(p, r, &q->command, k);
	if (k && q->command.flags & CHANNEL_DISCARD) {
		*at = k->next;
		free_packet(k);
	}
	free(q);
}

static void cancel(struct peer *p, struct rank *r, uint64_t context)
{
	for (struct posted **at = &r->posted, *q; (q = *at); at = &q->next)
		if (q->command.context == context) {
			*at = q->next;
			finish(p, r->number, &q->command, ECANCELED);
			free(q);
			return;
		}
}

/* --- messages arrive --- */

/* Peeks do not take it. */
static void arrive_message(struct peer *p, struct rank *r, struct packet *k)
{
	struct posted **at = &r->posted, *q;

	for (; (q = *at); at = &q->next) {
		if (q->command.kind != CHANNEL_RECEIVE ||
			!is_match(&q->command, k))
			continue;
		*at = q->next;
		if (!deliver(p, r, q, k)) {
			q->next = *at;
			*at = q;
		} else {
			free(q);
		}
		return;
	}
	for (struct packet **end = &r->early;; end = &(*end)->next)
		if (!*end) {
			*end = k;
			break;
		}
	for (at = &r->posted; (q = *at); at = &q->next)
		if (q->command.kind == CHANNEL_PEEK &&
			is_match(&q->command, k)) {
			*at = q->next;
			found(p, r, &q->command, k);
			free(q);
			return;
		}
}

/* --- memory of others --- */

static void add_memory(
	struct peer *p, struct rank *r, const struct channel_command *c)
{
	struct channel_completion done = answer_to(c);
	struct memory *m = peer_alloc(1, sizeof(*m));

	*m = (struct memory){
		.next = r->memory,
		.key = c->flags & CHANNEL_HAS_DATA ? c->data : ++r->n_keys,
		.at = c->at,
		.bytes = c->bytes,
		.name = c->tag,
		.rights = c->ignore,
		.has_events = c->flags & CHANNEL_REMOTE,
	};
	r->memory = m;
	done.data = m->key;
	peer_complete(p, r, &done);
}

static void remove_memory(struct rank *r, uint64_t key)
{
	for (struct memory **at = &r->memory, *m; (m = *at); at = &m->next)
		if (m->key == key) {
			*at = m->next;
			free(m);
			return;
		}
}

/* The one that a command means, or NULL. */
static const struct memory *find_memory(
	const struct rank *r, const struct channel_command *c)
{
	const struct memory *m = r->memory;

	while (m && !(m->key == c->ignore && c->tag >= m->name &&
			    c->bytes <= m->bytes &&
			    c->tag - m->name <= m->bytes - c->bytes))
		m = m->next;
	return m;
}

static void atomic_at(
	struct peer *p, struct rank *r, struct packet *k, uint64_t at)
{
	size_t bytes = k->command.bytes;
	char *old = peer_alloc(1, bytes + 1), *new = peer_alloc(1, bytes + 1);

	peer_load(r, old, at, bytes);
	memcpy(new, old, bytes);
	combine(k->command.op >> 8, k->command.op & 255, new, k->bytes,
		k->compare, bytes);
	peer_store_now(r, at, new, bytes);
	if (k->more.at)
		peer_store(&p->rank[k->from], k->more.at, old, bytes);
	free(old);
	free(new);
}

static void tell_remote(struct peer *p, struct rank *r, const struct packet *k,
	const struct memory *m)
{
	struct channel_completion done = {
		.kind = k->command.kind,
		.flags = CHANNEL_REMOTE | (k->command.flags & CHANNEL_HAS_DATA),
		.endpoint = k->command.to,
		.rank = k->from,
		.bytes = k->command.bytes,
		.tag = k->command.ignore,
		.data = k->command.data,
	};

	if (m->has_events || k->command.flags & CHANNEL_HAS_DATA)
		peer_complete(p, r, &done);
}

static void read_at(
	struct peer *p, struct rank *r, const struct packet *k, uint64_t at)
{
	char *bytes = peer_alloc(1, k->command.bytes + 1);

	peer_load(r, bytes, at, k->command.bytes);
	peer_store(&p->rank[k->from], k->command.at, bytes, k->command.bytes);
	free(bytes);
}

static void arrive_remote(struct peer *p, struct rank *r, struct packet *k)
{
	const struct channel_command *c = &k->command;
	const struct memory *m = find_memory(r, c);
	uint64_t at = m ? m->at + (c->tag - m->name) : 0;

	if (m && c->kind == CHANNEL_WRITE)
		peer_store_now(r, at, k->bytes, c->bytes);
	else if (m && c->kind == CHANNEL_READ)
		read_at(p, r, k, at);
	else if (m)
		atomic_at(p, r, k, at);
	if (m && c->kind != CHANNEL_READ)
		peer_touch(p, r);
	if (m)
		tell_remote(p, r, k, m);
	finish(p, k->from, c, m ? 0 : EACCES);
	free_packet(k);
}

void peer_arrive(struct peer *p, struct rank *r, struct packet *k)
{
	if (k->command.kind == CHANNEL_SEND)
		arrive_message(p, r, k);
	else
		arrive_remote(p, r, k);
}

/* --- commands --- */

static char *bytes_of(struct rank *r, const struct channel_command *c,
	const struct posted *pieces)
{
	char *bytes = peer_alloc(1, c->bytes + 1), *to = bytes;

	if (c->flags & CHANNEL_IN_ROOM)
		memcpy(bytes, r->in_room + c->at, c->bytes);
	else if (pieces->vector.n == 0)
		peer_load(r, bytes, c->at, c->bytes);
	for (unsigned i = 0; i < pieces->vector.n; i++) {
		peer_load(r, to, pieces->piece[i].at, pieces->piece[i].bytes);
		to += pieces->piece[i].bytes;
	}
	return bytes;
}

static void start_packet(struct peer *p, struct rank *r,
	const struct channel_command *c, const struct posted *pieces,
	const struct channel_command *more)
{
	struct packet *k = peer_alloc(1, sizeof(*k));

	if (c->rank >= p->n_ranks)
		peer_die("a command to a rank that is not there");
	k->from = r->number;
	k->to = c->rank;
	k->command = *c;
	if (c->kind != CHANNEL_READ)
		k->bytes = bytes_of(r, c, pieces);
	if (more) {
		k->more = *more;
		k->compare = peer_alloc(1, c->bytes + 1);
		if (more->tag)
			peer_load(r, k->compare, more->tag, c->bytes);
	}
	peer_arrive_later(p, k);
	if (c->kind == CHANNEL_SEND && c->bytes <= CHANNEL_SHORT &&
		!(c->flags & (CHANNEL_SYNC | CHANNEL_DELIVERED)))
		finish(p, r->number, c, 0);
}

static void take_vector(
	struct rank *r, struct posted *q, const struct channel_command *c)
{
	if (c->n > CHANNEL_VECTOR)
		peer_die("a vector of too many pieces");
	q->vector = *c;
	memcpy(q->piece, r->in_room + c->at, c->n * sizeof(*q->piece));
}

static struct posted *copy(const struct posted *from)
{
	struct posted *q = peer_alloc(1, sizeof(*q));

	*q = *from;
	return q;
}

uint32_t peer_command(
	struct peer *p, struct rank *r, const struct channel_command *c)
{
	struct posted q = { .next = NULL };
	uint32_t more = 0;

	if (c->kind == CHANNEL_VECTOR_OF) {
		take_vector(r, &q, c++);
		more++;
	}
	q.command = *c;
	switch (c->kind) {
	case CHANNEL_SEND:
	case CHANNEL_WRITE:
	case CHANNEL_READ:
		start_packet(p, r, c, &q, NULL);
		return more;
	case CHANNEL_ATOMIC:
		start_packet(p, r, c, &q, c + 1);
		return more + 1;
	case CHANNEL_RECEIVE:
		receive(p, r, copy(&q));
		return more;
	case CHANNEL_PEEK:
		peek(p, r, copy(&q));
		return more;
	case CHANNEL_CANCEL:
		cancel(p, r, c->context);
		return more;
	case CHANNEL_REGISTER:
		add_memory(p, r, c);
		return more;
	case CHANNEL_UNREGISTER:
		remove_memory(r, c->ignore);
		return more;
	case CHANNEL_UNPOLLED:
		return more;
	case CHANNEL_BARRIER:
	case CHANNEL_BROADCAST:
	case CHANNEL_REDUCE:
	case CHANNEL_GROUP:
	case CHANNEL_UNGROUP:
		peer_collective(p, r, c);
		return more;
	default:
		peer_die("a command that is none");
	}
}
