/*
 * Reception engines.  An engine pulls packets out of its network FIFO one after
 * the other; the following steps are pipelined, for as many packets as it has
 * buffers.  A packet whose FIFO in memory is full stays in the network FIFO,
 * with all behind it; only refused packets are discarded.
 *
 * A put's payload is written before its counter changes: when a counter is
 * zero, all bytes are in memory.
 */
#include "nic/bgq_mu/units.h"

#include "base/units.h"
#include "host/atomic.h"

static struct packet *packet_of(const struct nic_at *a, packet_id id)
{
	return &mu_of(a)->packets[id];
}

/* --- ports --- */

/* A packet joins those that ask for a port; true if it need not wait. */
static inline bool may_go_at_once(const struct nic_at *a,
	struct packet_list *asking, uint32_t requester, packet_id id)
{
	bool is_first = !asking->first;

	if (is_first && mu_port_is_free(a, requester))
		return true;
	packet_push(mu_of(a)->packets, asking, id);
	if (is_first)
		mu_port_wait(a, requester);
	return false;
}

/* --- out of the network FIFO --- */

static inline sim_time drain_time(const struct mu *mu, uint32_t chunks)
{
	return chunks < MU_DRAINS
		       ? mu->drain[chunks]
		       : units_time(chunks * MU_CHUNK, mu->params.drain_rate);
}

static inline void pull(const struct nic_at *a, uint32_t fifo, struct mu_rme *r)
{
	const struct packet *x = packet_of(a, r->in.first);
	/* head: where reception keeps the time of the tail */
	sim_time tail = x->head + mu_of(a)->params.pull;
	sim_time drained = a->t + drain_time(mu_of(a), x->chunks);

	r->is_pulling = true;
	sim_post_self(a->w, a->s, drained > tail ? drained : tail,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_PULLED + fifo), 0, 0);
}

static inline void try_pull(const struct nic_at *a, uint32_t fifo)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];

	if (r->in.first && !r->is_pulling &&
		r->n_inside < mu_of(a)->params.buffers &&
		!((mu_here(a)->rme_held | mu_here(a)->rme_broken) >> fifo & 1))
		pull(a, fifo, r);
}

void mu_receive(
	const struct nic_at *a, uint32_t fifo, packet_id id, sim_time tail)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];

	packet_of(a, id)->head = tail;
	packet_push(mu_of(a)->packets, &r->in, id);
	try_pull(a, fifo);
}

static void reject(const struct nic_at *a, packet_id id)
{
	mu_here(a)->rejected++;
	book_drop(a->nic->net->book, a->w->id, id);
	nic_give(a->nic, a->w, id);
}

static inline __attribute__((always_inline)) void deliver(
	const struct nic_at *a, uint32_t fifo, packet_id id)
{
	const struct packet *p = packet_of(a, id);

	mu_here(a)->packets_out[fifo]++;
	mu_here(a)->messages_out += p->tag & MU_TAG_LAST;
	if (__builtin_expect(mu_is_collective_fifo(fifo), 0))
		mu_collective_arrived(a, p);
	if (a->nic->on_delivered)
		a->nic->on_delivered(a->nic->arg, a->s, p, a->t);
	book_until(a->nic->net->book, id, CAUSE_COMPLETION, a->t);
	book_close(a->nic->net->book, a->w->id, id, a->t);
	nic_give(a->nic, a->w, id);
}

/* --- into memory --- */

/* Reports why there is no such entry, or not for this packet. */
static __attribute__((noinline)) bool refuse_base(
	const struct nic_at *a, const struct packet *p, uint32_t base)
{
	enum mu_interrupt why = MU_ERROR_BASE;

	if (base >= MU_BASES)
		why = MU_ERROR_PACKET;
	else if (base >= MU_SYSTEM_SUBGROUP * MU_PER_SUBGROUP &&
		 !mu_is_system_packet(p))
		why = MU_ERROR_PERMISSION;
	mu_tell(a, why, base, UINT64_MAX);
	return false;
}

/* An entry of the base address table plus an offset; false, and reported, if it
 * was never set or is not for this packet. */
static inline bool address(const struct nic_at *a, const struct packet *p,
	uint32_t base, uint64_t offset, uint64_t *at)
{
	uint32_t most = mu_is_system_packet(p)
				? MU_BASES
				: MU_SYSTEM_SUBGROUP * MU_PER_SUBGROUP;
	const struct mu_subgroup *g;

	g = base < most ? mu_here(a)->subgroup[base / MU_PER_SUBGROUP] : NULL;
	if (!g || !(g->base_set >> base % MU_PER_SUBGROUP & 1))
		return refuse_base(a, p, base);
	*at = (g->base[base % MU_PER_SUBGROUP] + offset) & MU_OFFSET_MASK;
	return true;
}

static const enum atomic_op atomic_of[] = {
	[MU_ATOMIC_STORE] = ATOMIC_STORE,
	[MU_ATOMIC_STORE_ADD] = ATOMIC_STORE_ADD,
	[MU_ATOMIC_STORE_ADD_COHERENCE_ON_ZERO] =
		ATOMIC_STORE_ADD_COHERENCE_ON_ZERO,
	[MU_ATOMIC_STORE_OR] = ATOMIC_STORE_OR,
	[MU_ATOMIC_STORE_XOR] = ATOMIC_STORE_XOR,
	[MU_ATOMIC_STORE_MAX] = ATOMIC_STORE_MAX,
};

/* The operation of an address, or -1. */
static int operation(uint64_t at)
{
	uint32_t code = at & 7;

	if (!(at & MU_ATOMIC) || code > MU_ATOMIC_STORE_MAX ||
		code == MU_ATOMIC_STORE_TWIN)
		return -1;
	return (int)atomic_of[code];
}

static uint64_t word_of(uint64_t at)
{
	return at & (MU_ATOMIC - 1) & ~UINT64_C(7);
}

/* Where a put goes, and whether it may; told where not. */
static inline __attribute__((always_inline)) bool find_target(
	const struct nic_at *a, const struct packet *p, uint64_t *at)
{
	const struct mu_header *h = &mu_buffer_of(p)->header;
	uint32_t bytes = mu_valid_bytes(h);
	uint64_t from;

	if (bytes > p->bytes) {
		mu_tell(a, MU_ERROR_PACKET, bytes, UINT64_MAX);
		return false;
	}
	if (!address(a, p, mu_put_base(h), mu_put_offset(h), at))
		return false;
	from = *at & MU_ATOMIC ? word_of(*at) : *at;
	if (*at & MU_ATOMIC && (operation(*at) < 0 || bytes % 8)) {
		mu_tell(a, MU_ERROR_COUNTER, mu_put_base(h), *at);
		return false;
	}
	if (!mu_port_allows(a, from, bytes, true, mu_is_system_packet(p))) {
		mu_tell(a, MU_ERROR_RANGE, mu_put_base(h), from);
		return false;
	}
	return true;
}

/* Requests for a packet's bytes; when they are done, or -1 where refused. */
static inline __attribute__((always_inline)) sim_time write(
	const struct nic_at *a, uint32_t requester, const struct packet *p)
{
	struct mu_buffer *b = mu_buffer_of(p);
	uint32_t bytes = mu_valid_bytes(&b->header);

	if (mu_packet_type(&b->header) != MU_PUT)
		return mu_store_write(a, requester, p);
	if (!find_target(a, p, &b->place))
		return -1;
	if (b->place & MU_ATOMIC)
		return mu_port_atomic(
			a, requester, word_of(b->place), bytes / 8);
	return mu_port_write(a, requester, b->place, bytes);
}

/* The port is the packet's; false where it is refused. */
static inline __attribute__((always_inline)) bool begin_write(
	const struct nic_at *a, uint32_t fifo, packet_id id)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];
	sim_time done = write(a, MU_ASK_WRITE + fifo, packet_of(a, id));

	if (done >= 0) {
		sim_post_self(a->w, a->s, done + mu_of(a)->params.lookup,
			SIM_KEY(PHASE_ENGINE, MU_ENGINE_WRITTEN + fifo),
			r->number++, id);
	} else {
		r->n_inside--;
		reject(a, id);
	}
	return done >= 0;
}

void mu_receive_take_write(const struct nic_at *a, uint32_t fifo)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];
	packet_id id = packet_pop(mu_of(a)->packets, &r->writes);
	bool is_refused = !begin_write(a, fifo, id);

	if (r->writes.first)
		mu_port_ask(a, MU_ASK_WRITE + fifo);
	if (is_refused)
		try_pull(a, fifo);
}

/* --- pulled packets --- */

static bool is_before(const struct mu_rme *r, const struct mu_rme *other)
{
	return (int32_t)(r->turn - other->turn) < 0;
}

/* The engine that has waited longest for a FIFO, or NULL. */
static struct mu_rme *first_held(struct mu_node *n, uint32_t what)
{
	struct mu_rme *best = NULL, *r;

	for (uint32_t m = n->rme_held; m; m &= m - 1) {
		r = &n->rme[__builtin_ctz(m)];
		if (r->held_for == what && (!best || is_before(r, best)))
			best = r;
	}
	return best;
}

/* Finds a place for the pulled packet.  It waits behind engines that are held,
 * or small packets could keep out a full one for ever. */
static enum mu_room find_room(
	const struct nic_at *a, uint32_t fifo, const struct packet *p)
{
	const struct mu_header *h = &mu_buffer_of(p)->header;
	struct mu_rme *r = &mu_here(a)->rme[fifo], *first;
	enum mu_room room;
	uint32_t what;

	what = mu_packet_type(h) == MU_FIFO ? mu_wait_rec(mu_rec_fifo(h))
					    : mu_wait_inj(mu_get_fifo(h));
	first = first_held(mu_here(a), what);
	room = mu_store_reserve(a, p, first && is_before(first, r));
	if (room == MU_NO_ROOM) {
		mu_here(a)->rme_held |= (uint16_t)(1u << fifo);
		r->held_for = (uint16_t)what;
	}
	return room;
}

/* The first packet leaves the network FIFO. */
static inline packet_id pop(
	const struct nic_at *a, uint32_t fifo, struct mu_rme *r)
{
	const struct packet *p = packet_of(a, r->in.first);

	if (__builtin_expect(mu_is_collective_fifo(fifo), 0))
		mu_collective_release(a, fifo, p->chunks);
	else
		net_release(a->nic->net, a->w, a->s, mu_of(a)->fifo_of[fifo],
			p->chunks, a->t);
	return packet_pop(mu_of(a)->packets, &r->in);
}

static inline __attribute__((always_inline)) void take_in(
	const struct nic_at *a, uint32_t fifo)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];
	struct packet *p = packet_of(a, r->in.first);
	enum mu_room room = MU_ROOM;
	packet_id id;

	if (mu_packet_type(&mu_buffer_of(p)->header) != MU_PUT)
		room = find_room(a, fifo, p);
	if (room == MU_NO_ROOM)
		return;
	id = pop(a, fifo, r);
	if (room == MU_REFUSED) {
		reject(a, id);
	} else {
		r->n_inside++;
		if (nic_has_book(a))
			mu_account_pulled(a, fifo, id);
		if (may_go_at_once(a, &r->writes, MU_ASK_WRITE + fifo, id))
			begin_write(a, fifo, id);
	}
	try_pull(a, fifo);
}

/* The end-to-end check, for errors that no hop has detected. */
static __attribute__((noinline)) bool is_rejected(
	const struct nic_at *a, uint32_t fifo)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];
	const struct packet *p = packet_of(a, r->in.first);
	const struct ras_event e = { .at = a->t,
		.site = a->s,
		.port = RAS_NODE,
		.what = RAS_REJECTED,
		.number = p->src };

	if (!mu_buffer_of(p)->place)
		return false;
	faults_report(a->nic->net->faults, a->w->id, &e);
	reject(a, pop(a, fifo, r));
	try_pull(a, fifo);
	return true;
}

void mu_receive_on_pulled(const struct nic_at *a, uint32_t fifo)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];
	const struct packet *p = packet_of(a, r->in.first);

	r->is_pulling = false;
	r->turn = mu_here(a)->n_pulled++;
	if (__builtin_expect(p->flags & PACKET_HURT, 0) && is_rejected(a, fifo))
		return;
	if (mu_is_sound(a, MU_NET_FIFOS + fifo, p->number))
		take_in(a, fifo);
	else
		mu_here(a)->rme_broken |= (uint16_t)(1u << fifo);
}

void mu_receive_retry(const struct nic_at *a, uint32_t what)
{
	const struct mu_rme *r;

	while ((r = first_held(mu_here(a), what))) {
		uint32_t fifo = (uint32_t)(r - mu_here(a)->rme);

		mu_here(a)->rme_held &= (uint16_t) ~(1u << fifo);
		take_in(a, fifo);
		if (mu_here(a)->rme_held >> fifo & 1)
			break;
	}
}

/* --- the counter --- */

static inline __attribute__((always_inline)) bool find_counter(
	const struct nic_at *a, const struct packet *p, uint64_t *at)
{
	const struct mu_header *h = &mu_buffer_of(p)->header;
	uint32_t op;

	if (!address(a, p, mu_counter_base(h), mu_counter_offset(h), at))
		return false;
	op = *at & 7;
	if (!(*at & MU_ATOMIC) ||
		(op != MU_ATOMIC_STORE_ADD &&
			op != MU_ATOMIC_STORE_ADD_COHERENCE_ON_ZERO)) {
		mu_tell(a, MU_ERROR_COUNTER, mu_counter_base(h), *at);
		return false;
	}
	if (!mu_port_allows(a, word_of(*at), 8, true, mu_is_system_packet(p))) {
		mu_tell(a, MU_ERROR_RANGE, mu_counter_base(h), word_of(*at));
		return false;
	}
	return true;
}

static inline __attribute__((always_inline)) void begin_count(
	const struct nic_at *a, uint32_t fifo, packet_id id)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];
	struct mu_buffer *b = mu_buffer_of(packet_of(a, id));

	if (find_counter(a, packet_of(a, id), &b->place))
		sim_post_self(a->w, a->s,
			mu_port_atomic(
				a, MU_ASK_COUNT + fifo, word_of(b->place), 1),
			SIM_KEY(PHASE_ENGINE, MU_ENGINE_COUNTED + fifo),
			r->number++, id);
	else
		reject(a, id);
}

void mu_receive_take_count(const struct nic_at *a, uint32_t fifo)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];

	begin_count(a, fifo, packet_pop(mu_of(a)->packets, &r->counts));
	if (r->counts.first)
		mu_port_ask(a, MU_ASK_COUNT + fifo);
}

/* --- written packets --- */

/* Atomic operations on words (BGQ-F92). */
static void change_words(const struct nic_at *a, const struct mu_buffer *b)
{
	uint32_t bytes = mu_valid_bytes(&b->header), i;
	uint64_t word, old;

	for (i = 0; i < bytes; i += 8) {
		__builtin_memcpy(&word, b->payload + i, 8);
		host_atomic(a->nic->host, a->w, a->s, a->t,
			(enum atomic_op)operation(b->place),
			word_of(b->place) + i, word, &old);
	}
}

void mu_receive_on_written(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	struct mu_rme *r = &mu_here(a)->rme[fifo];
	const struct packet *p = packet_of(a, id);
	const struct mu_buffer *b = mu_buffer_of(p);

	book_until(a->nic->net->book, id, CAUSE_MEMORY_WRITE, a->t);
	r->n_inside--;
	if (mu_packet_type(&b->header) != MU_PUT) {
		mu_store_done(a, p);
		deliver(a, fifo, id);
	} else {
		if (b->place & MU_ATOMIC)
			change_words(a, b);
		else
			host_write(a->nic->host, a->w, a->s, a->t, b->place,
				b->payload, mu_valid_bytes(&b->header));
		if (may_go_at_once(a, &r->counts, MU_ASK_COUNT + fifo, id))
			begin_count(a, fifo, id);
	}
	try_pull(a, fifo);
}

void mu_receive_on_counted(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	const struct mu_buffer *b = mu_buffer_of(packet_of(a, id));
	uint64_t old;

	/* Adds the negative number of bytes. */
	host_atomic(a->nic->host, a->w, a->s, a->t, atomic_of[b->place & 7],
		word_of(b->place), -(uint64_t)mu_valid_bytes(&b->header), &old);
	deliver(a, fifo, id);
}
