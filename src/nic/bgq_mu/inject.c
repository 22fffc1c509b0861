/*
 * Injection engines.  An engine has one packet at a time, of a message that
 * it is given by priority and at random, anew for each packet (BGQ-F112), and
 * begins it only when its network FIFO has room for a full one.  When the
 * last packet of a descriptor is in the network its FIFO's head advances.
 */
#include <string.h>

#include "host/atomic.h"
#include "nic/bgq_mu/units.h"

static bool has_room(const struct mu *mu, site_id s, uint32_t engine)
{
	return net_has_room(mu->nic.net, s, mu->fifo_of[engine]);
}

/* --- which message --- */

/* The word that has the k-th one; k of that word. */
static __attribute__((noinline)) uint32_t find_word(
	const struct mu_senders *s, uint32_t *k)
{
	uint32_t words = s->words;

	for (;;) {
		uint32_t word = (uint32_t)__builtin_ctz(words), here;

		here = (uint32_t)__builtin_popcountll(s->word[word]);
		if (*k < here)
			return word;
		*k -= here;
		words &= words - 1;
	}
}

/* The k-th one, by number. */
static inline uint32_t find(const struct mu_senders *s, uint32_t k)
{
	uint32_t word = (uint32_t)__builtin_ctz(s->words);
	uint64_t m;

	if (s->words & (s->words - 1))
		word = find_word(s, &k);
	m = s->word[word];
	for (; k; k--)
		m &= m - 1;
	return word * 64 + (uint32_t)__builtin_ctzll(m);
}

/* The k-th of those that may use an engine. */
static uint32_t find_able(struct mu_node *n, const struct mu_senders *s,
	uint32_t engine, uint32_t k)
{
	uint32_t inj;

	for (uint32_t words = s->words; words; words &= words - 1) {
		uint32_t word = (uint32_t)__builtin_ctz(words);

		for (uint64_t m = s->word[word]; m; m &= m - 1) {
			inj = word * 64 + (uint32_t)__builtin_ctzll(m);
			if (mu_inj_used(n, inj)->engines >> engine & 1 && !k--)
				return inj;
		}
	}
	BUG("no FIFO for engine %u", engine);
}

/* How many there are for an engine. */
static inline uint32_t n_able(const struct mu_senders *s, uint32_t engine)
{
	if (__builtin_expect(s->are_mixed, 0))
		return s->n_able[engine];
	return s->engines >> engine & 1 ? s->n : 0;
}

/* An injection FIFO with a packet for an engine, at random, or MU_INJ_FIFOS. */
static inline uint32_t choose(struct mu_node *n, uint32_t engine)
{
	const struct mu_senders *s = n->sending, *end = s + MU_LEVELS;
	uint32_t able, k;

	while (!(able = n_able(s, engine)))
		if (++s == end)
			return MU_INJ_FIFOS;
	k = able > 1 ? mu_random(n, able) : 0;
	return able == s->n ? find(s, k) : find_able(n, s, engine, k);
}

/* --- a packet's course --- */

static uint32_t packet_bytes(
	const struct mu *mu, const struct mu_inj_fifo *f, uint64_t packet)
{
	uint64_t left = f->length - packet * mu->payload;

	return left < mu->payload ? (uint32_t)left : mu->payload;
}

static inline void post_done(
	const struct nic_at *a, uint32_t engine, sim_time read)
{
	mu_here(a)->job[engine].read = read;
	sim_post_self(a->w, a->s,
		read + mu_of(a)->params.header + mu_of(a)->params.fifo_write,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_INJECTED + engine), 0, 0);
}

/* A payload that the ranges do not allow stops its FIFO. */
static __attribute__((noinline)) void refuse(const struct nic_at *a,
	struct mu_inj_fifo *f, const struct mu_job *job, uint32_t engine,
	uint64_t from)
{
	mu_tell(a, MU_ERROR_RANGE, job->inj, from);
	mu_here(a)->busy &= (uint16_t) ~(1u << engine);
	f->in_flight--;
	mu_fetch_halt(a, job->inj);
	mu_inject_go_on(a, engine);
}

/* --- words that the L2 changes while they are read (BGQ-F92) --- */

static const enum atomic_op load_of[] = {
	[MU_ATOMIC_LOAD] = ATOMIC_LOAD,
	[MU_ATOMIC_LOAD_CLEAR] = ATOMIC_LOAD_CLEAR,
	[MU_ATOMIC_LOAD_INCREMENT] = ATOMIC_LOAD_INCREMENT,
	[MU_ATOMIC_LOAD_DECREMENT] = ATOMIC_LOAD_DECREMENT,
	[MU_ATOMIC_LOAD_INCREMENT_BOUNDED] = ATOMIC_LOAD_INCREMENT_BOUNDED,
	[MU_ATOMIC_LOAD_DECREMENT_BOUNDED] = ATOMIC_LOAD_DECREMENT_BOUNDED,
};

static bool is_atomic(const struct mu_inj_fifo *f)
{
	return f->payload >= MU_ATOMIC && f->payload < 2 * MU_ATOMIC &&
	       (f->payload & 7) <= MU_ATOMIC_LOAD_DECREMENT_BOUNDED;
}

/* Where a packet's words are. */
static uint64_t words_at(
	const struct mu *mu, const struct mu_inj_fifo *f, uint64_t packet)
{
	return (f->payload & (MU_ATOMIC - 1) & ~UINT64_C(7)) +
	       packet * mu->payload;
}

/* Whether they are words, and they and their bounds may be changed. */
static bool allows_words(const struct nic_at *a, const struct mu_inj_fifo *f,
	uint64_t at, const struct mu_job *job)
{
	bool is_system = mu_is_system(job->inj);
	uint64_t bound =
		at + (uint64_t)atomic_bound_at(load_of[f->payload & 7]);

	return job->bytes % 8 == 0 &&
	       mu_port_allows(a, at, job->bytes, false, is_system) &&
	       mu_port_allows(a, at, job->bytes, true, is_system) &&
	       mu_port_allows(a, bound, job->bytes, false, is_system);
}

/* An address that the ranges do not allow: an operation, or an error. */
static __attribute__((noinline)) void read_otherwise(const struct nic_at *a,
	struct mu_inj_fifo *f, const struct mu_job *job, uint32_t engine,
	uint64_t from)
{
	uint64_t at = words_at(mu_of(a), f, job->packet);

	if (is_atomic(f) && allows_words(a, f, at, job))
		post_done(a, engine,
			mu_port_atomic(a, MU_ASK_INJECT + engine, at,
				job->bytes / 8u));
	else
		refuse(a, f, job, engine, from);
}

/* The answers to its loads; zeros for addresses without memory, which ranges
 * may allow. */
static __attribute__((noinline)) void fill_otherwise(const struct nic_at *a,
	const struct mu_inj_fifo *f, const struct mu_job *job, uint8_t *payload)
{
	uint64_t at = words_at(mu_of(a), f, job->packet), old;

	memset(payload, 0, job->bytes);
	for (uint32_t i = 0; is_atomic(f) && i < job->bytes; i += 8)
		if (host_atomic(a->nic->host, a->w, a->s, a->t,
			    load_of[f->payload & 7], at + i, 0, &old))
			memcpy(payload + i, &old, 8);
}

/* --- a packet's bytes --- */

/* The port is the engine's: asks for the packet's bytes. */
static inline void read_payload(const struct nic_at *a, struct mu_inj_fifo *f,
	struct mu_job *job, uint32_t engine)
{
	uint64_t from = f->payload + job->packet * mu_of(a)->payload;

	if (mu_port_allows(a, from, job->bytes, false, mu_is_system(job->inj)))
		post_done(a, engine,
			mu_port_read(
				a, MU_ASK_INJECT + engine, from, job->bytes));
	else
		read_otherwise(a, f, job, engine, from);
}

void mu_inject_take(const struct nic_at *a, uint32_t engine)
{
	struct mu_job *job = &mu_here(a)->job[engine];

	read_payload(a, mu_inj_used(mu_here(a), job->inj), job, engine);
}

static inline bool has_senders(const struct mu_node *n)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < MU_LEVELS; i++)
		any |= n->sending[i].n;
	return any;
}

/* Whether an engine is idle and has room for a packet, and there is one. */
static inline bool may_begin(const struct nic_at *a, uint32_t engine)
{
	struct mu_node *n = a->node;

	if (!has_senders(n))
		return false;
	if ((n->busy | n->broken | n->crowded) >> engine & 1)
		return false;
	if (has_room(mu_of(a), a->s, engine))
		return true;
	n->crowded |= (uint16_t)(1u << engine);
	return false;
}

static __attribute__((noinline)) void begin(
	const struct nic_at *a, uint32_t engine)
{
	struct mu_node *n = a->node;
	struct mu_inj_fifo *f;
	struct mu_job *job = &n->job[engine];
	uint32_t inj = choose(n, engine);

	if (inj == MU_INJ_FIFOS)
		return;
	f = mu_inj_used(n, inj);
	job->inj = (uint16_t)inj;
	job->packet = f->next++;
	job->started = a->t;
	job->bytes = (uint16_t)packet_bytes(mu_of(a), f, job->packet);
	if (f->next == f->n_packets)
		mu_fetch_set_sending(a, f, inj, false);
	f->in_flight++;
	n->busy |= (uint16_t)(1u << engine);
	if (!job->bytes)
		post_done(a, engine, a->t);
	else if (mu_port_is_free(a, MU_ASK_INJECT + engine))
		read_payload(a, f, job, engine);
	else
		mu_port_wait(a, MU_ASK_INJECT + engine);
}

void mu_inject_go_on(const struct nic_at *a, uint32_t engine)
{
	if (may_begin(a, engine))
		begin(a, engine);
}

/* The header that says where these bytes go. */
static void fill_header(const struct nic_at *a, const struct mu_inj_fifo *f,
	const struct mu_job *job, struct mu_header *h)
{
	uint64_t at = job->packet * mu_of(a)->payload;
	enum mu_packet_type type;

	*h = f->descriptor.header;
	type = mu_packet_type(h);
	mu_set_packet(h, type, (job->bytes + MU_CHUNK - 1u) / MU_CHUNK);
	h->byte[2] &= 0xfe;
	if (type == MU_PUT) {
		if (at)
			mu_set_put(h, mu_put_base(h), mu_put_offset(h) + at);
		mu_set_valid_bytes(h, job->bytes);
	} else if (type == MU_FIFO) {
		mu_set_rec_fifo(h, mu_rec_fifo(h), mu_put_offset(h) + at);
		h->byte[2] |= job->packet + 1 == f->n_packets &&
			      mu_interrupts(&f->descriptor);
	}
}

static struct mu_buffer *fill_buffer(const struct nic_at *a,
	const struct mu_inj_fifo *f, const struct mu_job *job)
{
	struct mu *mu = mu_of(a);
	struct mu_buffer *b = payload_take(a->nic->payloads, a->w->id);
	uint32_t end = (job->bytes + MU_CHUNK - 1u) & ~(MU_CHUNK - 1u);

	b->place = 0;
	fill_header(a, f, job, &b->header);
	if (!host_read(mu->nic.host, a->s,
		    f->payload + job->packet * mu->payload, b->payload,
		    job->bytes))
		fill_otherwise(a, f, job, b->payload);
	if (end != job->bytes)
		memset(b->payload + job->bytes, 0, end - job->bytes);
	return b;
}

static packet_id make_packet(const struct nic_at *a,
	const struct mu_inj_fifo *f, const struct mu_job *job)
{
	struct net *net = a->nic->net;
	const struct mu_header *h = &f->descriptor.header;
	struct mu_buffer *b = fill_buffer(a, f, job);
	packet_id id = packet_take(net->pool, a->w->id);

	net->packets[id] = (struct packet){
		.src = a->s,
		.dst = f->dst,
		.number = mu_here(a)->number++,
		.born = a->t,
		.kind = f->kind,
		.hints = f->hints,
		.flags = f->flags,
		.zone = (uint8_t)mu_zone(h),
		.bytes = job->bytes,
		.tag = f->tag |
		       (job->packet + 1 == f->n_packets ? MU_TAG_LAST : 0u),
		.load = payload_to_load(b),
	};
	return id;
}

/* --- its end --- */

/* All packets of the FIFO's descriptor are in the network. */
static void finish(const struct nic_at *a, struct mu_inj_fifo *f, uint32_t inj)
{
	uint64_t was = f->threshold ? mu_inj_room(f, f->tail) : 0;

	f->head += MU_DESCRIPTOR_BYTES;
	if (f->head == f->start + f->size)
		f->head = f->start;
	f->count++;
	f->state = MU_INJ_IDLE;
	mu_here(a)->messages_in++;
	if (f->threshold && was <= f->threshold &&
		mu_inj_room(f, f->tail) > f->threshold) {
		mu_mark(mu_here(a), MU_INJ_CROSSED, inj, MU_PER_SUBGROUP);
		mu_tell(a, MU_INT_INJ_THRESHOLD, inj, f->head);
	}
	host_poke(a->nic->host, a->w, a->s, a->t);
	mu_fetch_want(a, inj);
	if (f->attributes & MU_INJ_REMOTE_GET)
		mu_receive_retry(a, mu_wait_inj(inj));
}

void mu_inject_on_done(const struct nic_at *a, uint32_t engine)
{
	const struct mu_job *job = &mu_here(a)->job[engine];
	uint32_t inj = job->inj;
	struct mu_inj_fifo *f = mu_inj_used(mu_here(a), inj);

	mu_here(a)->busy &= (uint16_t) ~(1u << engine);
	if (!mu_is_sound(a, engine, job->packet)) {
		mu_here(a)->broken |= (uint16_t)(1u << engine);
		return;
	}
	if (!mu_is_prefetch(&f->descriptor)) {
		packet_id id = make_packet(a, f, job);

		if (nic_has_book(a))
			mu_account_packet(a, engine, job, id);
		if (__builtin_expect(mu_is_collective_fifo(engine), 0))
			mu_collective_inject(a, engine, id);
		else
			net_inject(a->nic->net, a->w, a->s,
				mu_of(a)->fifo_of[engine], id, a->t);
		mu_here(a)->packets_in[engine]++;
	}
	f->in_flight--;
	if (!f->in_flight && f->next == f->n_packets &&
		f->state == MU_INJ_SENDING)
		finish(a, f, inj);
	if (may_begin(a, engine))
		begin(a, engine);
}
