/* Ports, and transfers from one process to another. */
#include <string.h>

#include "base/mem.h"
#include "parts/domain/inside.h"

sim_time domain_takes(const struct domain *d, uint64_t bytes)
{
	int64_t rate = d->params.rate / 1000; /* bytes a millisecond */

	/* rounded up: no port is faster than its rate */
	return ((sim_time)bytes * (PS_PER_S / 1000) + rate - 1) / rate;
}

static sim_time later_of(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

static uint64_t piece_of(const struct domain *d, uint64_t bytes)
{
	uint64_t chunk = (uint64_t)d->params.chunk;

	return bytes < chunk ? bytes : chunk;
}

static struct domain_node *here(const struct domain_at *at)
{
	return at->d->nodes[at->node];
}

struct move *domain_move_at(const struct domain_node *n, uint32_t id)
{
	return slots_at(&n->moves, id);
}

/* --- life --- */

static __attribute__((cold)) struct domain_node *new_node(
	struct domain *d, site_id node)
{
	struct domain_node *n = mem_alloc(1, sizeof(*n));

	slots_init(&n->moves, sizeof(struct move));
	sums_init(n);
	ring_init(&n->later, sizeof(struct later));
	n->port = mem_alloc(d->n_ports, sizeof(*n->port));
	for (uint32_t i = 0; i < d->n_ports; i++) {
		ring_init(&n->port[i].ready, sizeof(uint32_t));
		ring_init(&n->port[i].coming, sizeof(uint32_t));
		ring_init(&n->port[i].waiting, sizeof(uint32_t));
	}
	d->nodes[node] = n;
	return n;
}

struct domain_node *domain_node(struct domain *d, site_id node)
{
	return d->nodes[node] ? d->nodes[node] : new_node(d, node);
}

void domain_free_node(struct domain *d, struct domain_node *n)
{
	for (uint32_t i = 0; n && i < d->n_ports; i++) {
		ring_fini(&n->port[i].ready);
		ring_fini(&n->port[i].coming);
		ring_fini(&n->port[i].waiting);
	}
	if (!n)
		return;
	mem_free(n->port);
	ring_fini(&n->later);
	slots_fini(&n->moves);
	sums_free(n);
	mem_free(n);
}

/* --- faults --- */

static sim_time up_at(const struct domain *d, site_id node, sim_time t)
{
	for (size_t i = 0; i < d->n_outages; i++) {
		const struct outage *x = &d->outage[i];

		if (x->node == node && t >= x->from && t < x->until)
			t = x->until;
	}
	return t;
}

bool domain_is_gone(const struct domain *d, site_id node)
{
	return d->nodes[node] && d->nodes[node]->is_gone;
}

/* --- ends --- */

uint32_t domain_take(struct domain_node *n, struct move **m)
{
	uint32_t id = slots_take_any(&n->moves);

	*m = domain_move_at(n, id);
	memset((char *)*m + sizeof(struct slot), 0,
		offsetof(struct move, data) - sizeof(struct slot));
	return id;
}

void domain_set_word(
	const struct domain_at *at, uint64_t word_at, uint64_t value)
{
	if (word_at != DOMAIN_NONE)
		host_write(at->d->host, at->w, at->node, at->t, word_at, &value,
			sizeof(value));
}

static uint32_t owner_of(const struct domain_move *m)
{
	return m->kind == DOMAIN_GET ? m->to : m->from;
}

static void forget(const struct domain_at *at, uint32_t id)
{
	struct domain_node *n = here(at);

	n->port[owner_of(&domain_move_at(n, id)->is)].n_open--;
	slots_give(&n->moves, id);
}

/* The process that began it knows. */
static void end(const struct domain_at *at, uint32_t id)
{
	const struct move *m = domain_move_at(here(at), id);
	uint64_t done_at = m->is.done_at;
	uint32_t owner = owner_of(&m->is);

	if (m->is.kind == DOMAIN_WORD)
		domain_set_word(at, m->is.old_at, m->old);
	forget(at, id);
	domain_set_word(at, done_at, 0);
	host_poke_of(at->d->host, at->w, at->node, at->t, owner);
}

/* It cannot be done any more.  Bytes that were asked for are not there, so
 * nothing says that they are. */
static void give_up(const struct domain_at *at, uint32_t id)
{
	if (domain_move_at(here(at), id)->is.kind == DOMAIN_GET)
		forget(at, id);
	else
		end(at, id);
}

static void put_off(const struct domain_at *at, uint32_t id)
{
	struct domain_node *n = here(at);
	struct later x = { at->t + at->d->params.latency, id };

	*(struct later *)ring_push(&n->later) = x;
	if (!n->is_later_posted)
		host_post_engine(at->w, at->node, x.t, DOMAIN_LATER);
	n->is_later_posted = true;
}

static void change_word(const struct domain_at *at, struct move *m)
{
	struct host *h = at->d->host;
	uint64_t word = 0, new;

	if (!memory_load(host_at(h, at->node), MEMORY_NIC, m->is.to_at, &word))
		return;
	new = atomic_apply(m->is.op, word, m->is.operand, m->is.bound, &m->old);
	domain_set_word(at, m->is.to_at, new);
}

void domain_account(const struct domain_at *at, const struct book_message *m,
	uint32_t process)
{
	const struct book_place where = {
		.what = "domain",
		.site = at->node,
		.number = (uint16_t)process,
		.port = BOOK_NO_PORT,
		.channel = BOOK_NO_CHANNEL,
	};

	if (at->d->book)
		book_whole(
			at->d->book, at->w->id, m, &where, CAUSE_DOMAIN, at->t);
}

/* All of it is there.  The sender of a put learns of it by an answer, which
 * occupies no port. */
static void arrive(const struct domain_at *at, uint32_t id)
{
	struct move *m = domain_move_at(here(at), id);

	if (m->is.kind == DOMAIN_WORD)
		change_word(at, m);
	else if (m->is.count_at != DOMAIN_NONE)
		host_add(at->d->host, at->w, at->node, at->t, m->is.count_at,
			-m->is.bytes);
	domain_account(at, &m->book, m->is.to);
	if (m->is.on_arrived)
		m->is.on_arrived(m->is.arg, at, &m->is);
	if (m->is.kind == DOMAIN_GET || m->is.done_at == DOMAIN_NONE)
		end(at, id);
	else
		put_off(at, id);
}

/* --- bytes --- */

/* Bytes of one page that have no name. */
static void copy_stored(
	struct memory *m, uint64_t to, uint64_t from, uint64_t n)
{
	uint8_t buffer[MEMORY_PAGE];
	const uint8_t *at = memory_stored(m, from, n);

	if (!at && memory_read(m, MEMORY_NIC, from, buffer, n))
		at = buffer;
	if (at)
		memory_write(m, MEMORY_NIC, to, at, n);
}

/* False if they have no one name. */
static bool copy_named(const struct domain_at *at, struct memory *m,
	uint64_t to, uint64_t from, uint64_t n)
{
	struct memory_name name;

	return host_find_name(at->d->host, at->node, from, n, &name) &&
	       memory_write_named(m, MEMORY_NIC, to, &name, n);
}

static void copy_pages(const struct domain_at *at, struct memory *m,
	uint64_t to, uint64_t from, uint64_t bytes)
{
	uint64_t n;

	for (uint64_t i = 0; i < bytes; i += n) {
		n = MEMORY_PAGE - (from + i) % MEMORY_PAGE;
		n = n < bytes - i ? n : bytes - i;
		if (!copy_named(at, m, to + i, from + i, n))
			copy_stored(m, to + i, from + i, n);
	}
}

/* All at once: nothing may look at them before the end. */
static void copy(const struct domain_at *at, const struct move *m)
{
	struct host *h = at->d->host;
	struct memory *memory = host_at(h, at->node);
	uint64_t from = m->is.from_at, to = m->is.to_at, n = m->is.bytes;

	if (m->is.data)
		memory_write(memory, MEMORY_NIC, to, m->data, n);
	else if (!copy_named(at, memory, to, from, n))
		copy_pages(at, memory, to, from, n);
	host_tell(h, at->w, at->node, at->t, to, n);
}

/* --- ports --- */

static sim_time takes(const struct domain *d, uint64_t bytes)
{
	return bytes == (uint64_t)d->params.chunk ? d->chunk
						  : domain_takes(d, bytes);
}

/* From when on the switch has room for another chunk for a port. */
static sim_time has_room_at(const struct domain *d, const struct port *x)
{
	return x->in_free - d->params.latency - d->queue;
}

static void call_at(const struct domain_at *at, uint32_t port, sim_time t)
{
	host_post_engine(
		at->w, at->node, t > at->t ? t : at->t + 1, DOMAIN_CALL + port);
}

/* The switch has no room: the transfer waits for those before it. */
static void queue_up(const struct domain_at *at, uint32_t id)
{
	struct domain_node *n = here(at);
	uint32_t to = domain_move_at(n, id)->is.to;
	struct port *x = &n->port[to];

	if (!x->waiting.n)
		call_at(at, to, has_room_at(at->d, x));
	*(uint32_t *)ring_push(&x->waiting) = id;
}

sim_time domain_leave(
	const struct domain_at *at, struct port *x, uint64_t bytes)
{
	sim_time time = takes(at->d, bytes);

	x->out_free = at->t + time;
	x->out_busy += time;
	x->out += bytes;
	here(at)->n_chunks++;
	return time;
}

/* --- chunks in a row --- */

/*
 * A transfer that is alone at both its ports sends all its chunks but the last
 * in one go.  If another one comes to one of the ports, what has not begun by
 * then is taken back, and they take turns: so the times are those of chunks
 * one by one.
 */

static void post_turn(const struct domain_at *at, uint32_t port, sim_time t)
{
	struct port *x = &here(at)->port[port];

	host_post_engine(at->w, at->node, t, DOMAIN_OUT + port);
	x->is_posted = true;
	x->turn = t;
}

static void end_row(struct domain_node *n, struct port *x)
{
	if (x->row_to)
		n->port[x->row_to - 1].row_from = 0;
	x->row_to = 0;
}

/* Its transfer is the first of those that are ready. */
static void cut_row(const struct domain_at *at, uint32_t port)
{
	struct domain_node *n = here(at);
	struct port *x = &n->port[port], *to = &n->port[x->row_to - 1];
	sim_time chunk = at->d->chunk;
	sim_time end = x->row + ((at->t - x->row) / chunk + 1) * chunk;
	sim_time over = x->out_free - end;
	uint64_t left = (uint64_t)(over / chunk);
	uint64_t bytes = left * (uint64_t)at->d->params.chunk;

	end_row(n, x);
	if (over <= 0)
		return;
	domain_move_at(n, *(uint32_t *)ring_at(&x->ready, 0))->sent -= bytes;
	n->n_chunks -= left;
	x->out -= bytes;
	x->out_busy -= over;
	x->out_free -= over;
	to->in_busy -= over;
	to->in_free -= over;
	post_turn(at, port, end);
}

/* A chunk has been sent by the only transfer that is ready. */
static void begin_row(const struct domain_at *at, struct port *x, uint32_t id)
{
	struct domain_node *n = here(at);
	struct move *m = domain_move_at(n, id);
	struct port *to = &n->port[m->is.to];
	uint64_t chunk = (uint64_t)at->d->params.chunk;
	uint64_t more = (m->is.bytes - m->sent - 1) / chunk;
	sim_time time = (sim_time)more * at->d->chunk;

	if (!more || to->waiting.n || at->d->n_outages ||
		has_room_at(at->d, to) > x->out_free)
		return;
	x->row = at->t;
	x->row_to = m->is.to + 1;
	to->row_from = m->is.from + 1;
	m->sent += more * chunk;
	n->n_chunks += more;
	x->out += more * chunk;
	x->out_busy += time;
	x->out_free += time;
	to->in_busy += time;
	to->in_free += time;
}

/* --- turns --- */

void domain_enter(const struct domain_at *at, struct port *x, sim_time time)
{
	if (x->row_from)
		cut_row(at, x->row_from - 1);
	x->in_free = later_of(at->t + at->d->params.latency, x->in_free) + time;
	x->in_busy += time;
}

void domain_come(const struct domain_at *at, uint32_t to, uint32_t id)
{
	struct port *x = &here(at)->port[to];

	*(uint32_t *)ring_push(&x->coming) = id;
	host_post_engine(at->w, at->node, x->in_free, DOMAIN_IN + to);
}

static void send_chunk(const struct domain_at *at, struct port *x, uint32_t id)
{
	struct domain_node *n = here(at);
	struct move *m = domain_move_at(n, id);
	uint64_t bytes = piece_of(at->d, m->is.bytes - m->sent);

	domain_enter(at, &n->port[m->is.to], domain_leave(at, x, bytes));
	m->sent += bytes;
	m->is_called = false;
	if (m->sent == m->is.bytes) {
		domain_come(at, m->is.to, id);
		return;
	}
	*(uint32_t *)ring_push(&x->ready) = id;
	if (x->ready.n == 1)
		begin_row(at, x, id);
}

/* The transfer whose turn it is sends a chunk, if it may. */
static void send_next(const struct domain_at *at, struct port *x)
{
	uint32_t id = *(uint32_t *)ring_pop(&x->ready);
	const struct move *m = domain_move_at(here(at), id);
	const struct port *to = &here(at)->port[m->is.to];

	if (to->row_from && !m->sum)
		cut_row(at, to->row_from - 1);
	if (m->sum)
		sums_send(at, x, id);
	else if (!m->is_called &&
		 (to->waiting.n || has_room_at(at->d, to) > at->t))
		queue_up(at, id);
	else
		send_chunk(at, x, id);
}

/* Gives a port to the transfer whose turn it is, now or later. */
static void give_turn(const struct domain_at *at, uint32_t port)
{
	struct port *x = &here(at)->port[port];
	sim_time t;

	while (!x->is_posted && x->ready.n) {
		t = later_of(at->t, x->out_free);
		if (at->d->n_outages)
			t = up_at(at->d, at->node, t);
		if (t == SIM_NEVER)
			return;
		if (t == at->t) {
			send_next(at, x);
			continue;
		}
		post_turn(at, port, t);
	}
}

static void on_turn(const struct domain_at *at, uint32_t port)
{
	struct port *x = &here(at)->port[port];

	if (!x->is_posted || x->turn != at->t)
		return;
	x->is_posted = false;
	end_row(here(at), x);
	give_turn(at, port);
}

void domain_make_ready(const struct domain_at *at, uint32_t id)
{
	struct domain_node *n = here(at);
	uint32_t from = domain_move_at(n, id)->is.from;

	if (n->port[from].row_to)
		cut_row(at, from);
	*(uint32_t *)ring_push(&n->port[from].ready) = id;
	give_turn(at, from);
}

/* The switch has room for a transfer that has waited.  The next one is called
 * when this one's chunk is through, wherever it is now. */
static void on_call(const struct domain_at *at, uint32_t port)
{
	struct domain_node *n = here(at);
	struct port *x = &n->port[port];
	uint32_t id = *(uint32_t *)ring_pop(&x->waiting);
	struct move *m = domain_move_at(n, id);
	sim_time time = takes(at->d, piece_of(at->d, m->is.bytes - m->sent));

	m->is_called = true;
	domain_make_ready(at, id);
	if (x->waiting.n)
		call_at(at, port,
			later_of(at->t + time, has_room_at(at->d, x)));
}

/* The last chunk of a transfer is there. */
static void on_last(const struct domain_at *at, uint32_t port)
{
	struct domain_node *n = here(at);
	uint32_t id = *(uint32_t *)ring_pop(&n->port[port].coming);
	struct move *m = domain_move_at(n, id);

	n->port[port].in += m->is.bytes;
	if (m->sum) {
		sums_on_last(at, port, id);
		return;
	}
	m->is_there = true;
	if (m->is.kind != DOMAIN_WORD)
		copy(at, m);
	arrive(at, id);
}

/* A request has come to the process that has the bytes, or an answer to the one
 * that began. */
static void on_later(const struct domain_at *at)
{
	struct domain_node *n = here(at);
	struct later *x;
	uint32_t id;

	n->is_later_posted = false;
	while (n->later.n && (x = ring_at(&n->later, 0))->t <= at->t) {
		id = x->move;
		ring_pop(&n->later);
		if (domain_move_at(n, id)->is_there)
			end(at, id);
		else
			domain_make_ready(at, id);
	}
	if (!n->later.n || n->is_later_posted)
		return;
	x = ring_at(&n->later, 0);
	host_post_engine(at->w, at->node, x->t, DOMAIN_LATER);
	n->is_later_posted = true;
}

/* --- the end of all --- */

/* What is under way ends, and its process learns that from domain_is_gone(). */
static void on_death(const struct domain_at *at)
{
	struct domain_node *n = domain_node(at->d, at->node);
	const struct move *m;

	n->is_gone = true;
	for (uint32_t id = 1; id <= n->moves.room; id++) {
		m = slots_find(&n->moves, id);
		if (m && m->sum)
			slots_give(&n->moves, id);
		else if (m)
			give_up(at, id);
	}
	sums_end_all(at);
	host_poke(at->d->host, at->w, at->node, at->t);
}

void domain_on_event(void *arg, struct sim_worker *w, site_id node, sim_time t,
	uint32_t number)
{
	const struct domain_at at = { arg, w, node, t };
	const struct domain_node *n = at.d->nodes[node];

	if (number == DOMAIN_DIES) {
		on_death(&at);
	} else if (n->is_gone) {
		return;
	} else if (number >= DOMAIN_OUT) {
		on_turn(&at, number - DOMAIN_OUT);
	} else if (number >= DOMAIN_CALL) {
		on_call(&at, number - DOMAIN_CALL);
	} else if (number >= DOMAIN_IN) {
		on_last(&at, number - DOMAIN_IN);
	} else {
		on_later(&at);
	}
}

/* --- for processes --- */

static enum book_kind book_kind_of(enum domain_kind kind)
{
	return kind == DOMAIN_PUT   ? BOOK_PUT
	       : kind == DOMAIN_GET ? BOOK_GET
				    : BOOK_ATOMIC;
}

void domain_begin(const struct domain_at *at, const struct domain_move *is)
{
	struct domain *d = at->d;
	struct domain_node *n = domain_node(d, at->node);
	struct move *m;
	uint32_t id = domain_take(n, &m);
	uint64_t chunk = (uint64_t)d->params.chunk;

	m->is = *is;
	if (is->data)
		memcpy(m->data, is->data, is->bytes);
	n->n_moves++;
	n->port[owner_of(is)].n_open++;
	if (n->is_gone) {
		give_up(at, id);
		return;
	}
	m->book = book_message(d->book, at->node, book_kind_of(is->kind),
		(uint32_t)((is->bytes + chunk - 1) / chunk), at->t);
	if (is->kind == DOMAIN_GET)
		put_off(at, id);
	else
		domain_make_ready(at, id);
}

uint32_t domain_n_open(const struct domain *d, site_id node, uint32_t process)
{
	const struct domain_node *n = d->nodes[node];

	return n ? n->port[process].n_open : 0;
}
