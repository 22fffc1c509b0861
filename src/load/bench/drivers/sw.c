/*
 * Sunway's interface, as its library uses it: writes whose arrival an event, a
 * reply word or a notice shows, fast short messages, messages into queues, and
 * writes without the library.  A counter is what has come, by events and
 * messages that name it, or by reply words.  Each program has an interface of
 * its own, of the engine of its processor: program p of processor p modulo 2.
 */
#include <errno.h>

#include "api/sw/sw.h"
#include "base/mem.h"
#include "load/bench/drivers/sw.h"
#include "sim/random.h"

enum {
	KEY = SW_KEYS + HOST_THREADS, /* and the program: to all memory */
	COUNTERS = 128,
	DEPTH = 64, /* of send queues */
	HEAD = 16, /* bytes of a queue message that say where it goes */
	CHUNK = SWHNI_MESSAGE - HEAD,
	BUFFERS = 16, /* of its receive queue */
	PLACES = 4, /* for blocks */
};

/* Addresses, the same on every node, by lane. */
#define WORDS_AT   UINT64_C(0x1000) /* reply words of counters */
#define STAGES_AT  UINT64_C(0x100000) /* messages that are sent, ... */
#define BUFFERS_AT UINT64_C(0x600000) /* ... and that come */
#define STAGES	   ((uint64_t)DEPTH * SWHNI_MESSAGE)

enum {
	BY_AUTO,
	BY_WRITE,
	BY_FSM,
	BY_REPLY,
	BY_NOTIFY,
	BY_QUEUE,
	BY_RAW,
	BY_MPI,
};

struct counter {
	int64_t left; /* bytes that it waits for */
	uint64_t was; /* its reply word, when it was set */
};

struct own {
	struct swv_device *dev;
	struct swv_cq *cq;
	struct swv_sq *sq;
	struct weft_sw_sq *to; /* the same, for calls */
	struct weft_sw_rq *queue, *blocks; /* receive queues; or NULL */
	uint32_t who; /* program of its node */
	uint32_t failed; /* descriptors, as far as reported */
	uint32_t stage; /* the next */
	struct counter *counter; /* [COUNTERS], or NULL until one is used */
	struct ring filled; /* struct weft_sw_completion, blocks */
	uint32_t place_bytes;
	struct swv_user *raw; /* NULL until it is used */
	uint32_t raw_posted, raw_ended, raw_failed;
	struct swd_member member;
};

struct head {
	uint64_t to;
	uint32_t counter, bytes;
};

_Static_assert(sizeof(struct head) == HEAD, "queue messages");

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

struct swd_member *swd_member(const struct bench_end *x)
{
	return &own(x)->member;
}

uint32_t swd_key(const struct bench_end *x)
{
	return KEY + own(x)->who;
}

/* --- open --- */

static bool register_all(struct bench_end *x)
{
	struct nic_at a = nic_now(x->load->nic);
	uint64_t page =
		(uint64_t)((const struct swhni_params *)x->load->nic_params)
			->page;
	struct swhni_handle h = {
		.key = KEY + own(x)->who,
		.process = own(x)->who,
		.space = page ? SWHNI_PAGED : SWHNI_SEGMENT,
		.page = page ? (uint8_t)__builtin_ctzll(page) : 0,
		.rights = SWHNI_MAY_READ | SWHNI_MAY_WRITE,
		.bytes = host_memory(x->load->host),
	};

	return programs_did(
		x->programs, "swhni_register", swhni_register(&a, &h));
}

static uint64_t buffer_at(const struct own *o, uint64_t i)
{
	return BUFFERS_AT + (o->who * BUFFERS + i) * SWHNI_MESSAGE;
}

static bool open_queue(struct bench_end *x, struct weft_sw *dev,
	struct weft_sw_cq *cq, uint32_t depth, struct weft_sw_rq **rq)
{
	struct weft_sw_rq_options how = { .kind = WEFT_SW_VIRTUAL,
		.depth = depth };

	return programs_did(x->programs, "weft_sw_create_rq",
		weft_sw_create_rq(dev, cq, &how, rq));
}

static bool sw_open_end(struct bench_end *x)
{
	struct own *o = own(x);
	struct weft_sw_cq *cq;
	struct weft_sw *dev;

	o->who = x->lane + program_process();
	o->dev = swv_open(0, o->who);
	dev = (struct weft_sw *)o->dev->object.handle;
	ring_init(&o->filled, sizeof(struct weft_sw_completion));
	if (!swv_new_interface(o->dev, 1 + o->who) ||
		weft_sw_create_cq(dev, WEFT_SW_DEPTH, false, &cq) ||
		weft_sw_create_sq(dev, cq, DEPTH, &o->to))
		return programs_did(x->programs, "weft_sw_create_sq", 1);
	o->cq = swv_find(SW_CQ, cq);
	o->sq = swv_find(SW_SQ, o->to);
	if (!register_all(x) || !open_queue(x, dev, cq, BUFFERS, &o->queue))
		return false;
	for (uint32_t i = 0; i < BUFFERS; i++)
		weft_sw_post_recv(o->queue, i, buffer_at(o, i), SWHNI_MESSAGE);
	return true;
}

static void sw_fini(struct bench_end *x)
{
	mem_free(own(x)->counter);
	mem_free(own(x)->raw);
	ring_fini(&own(x)->filled);
}

/* --- what has come --- */

static struct counter *counter_of(const struct bench_end *x, uint32_t i)
{
	struct own *o = own(x);

	if (!o->counter)
		o->counter = mem_alloc(COUNTERS, sizeof(*o->counter));
	return &o->counter[i];
}

/* A message of the queue goes where its head says. */
static void place(struct bench_end *x, const struct weft_sw_completion *c)
{
	struct own *o = own(x);
	struct head h;

	program_read(c->at, &h, sizeof(h));
	program_move(h.to, c->at + HEAD, h.bytes);
	if (h.counter < COUNTERS)
		counter_of(x, h.counter)->left -= h.bytes;
	weft_sw_post_recv(o->queue, c->id, c->at, SWHNI_MESSAGE);
}

static void on_completion(
	struct bench_end *x, const struct weft_sw_completion *c)
{
	struct own *o = own(x);

	if (c->kind == WEFT_SW_RECEIVED && c->rq == o->queue)
		place(x, c);
	else if (c->kind == WEFT_SW_RECEIVED)
		*(struct weft_sw_completion *)ring_push(&o->filled) = *c;
	else if (c->kind != WEFT_SW_DONE && c->tag < COUNTERS)
		counter_of(x, c->tag)->left -= c->bytes;
}

static sim_time take_all(struct bench_end *x)
{
	struct own *o = own(x);
	sim_time next = swv_progress(o->dev);

	while (o->cq->done.n) {
		struct weft_sw_completion c =
			*(struct weft_sw_completion *)ring_pop(&o->cq->done);

		on_completion(x, &c);
	}
	return next;
}

static void wait_for_some(struct bench_end *x)
{
	sim_time next = take_all(x);

	swv_sleep(own(x)->dev, 0, 0, next);
	take_all(x);
}

/* --- counters --- */

static uint64_t word_at(uint32_t counter)
{
	return WORDS_AT + 8 * (uint64_t)counter;
}

static uint64_t word_of(uint32_t counter)
{
	uint64_t word = 0;

	program_read(word_at(counter), &word, sizeof(word));
	return word;
}

static void sw_expect(struct bench_end *x, uint32_t counter, uint64_t bytes)
{
	*counter_of(x, counter) =
		(struct counter){ (int64_t)bytes, word_of(counter) };
}

/* A reply word counts messages: those of the key's length. */
static bool is_zero(const struct bench_end *x, uint32_t counter, uint64_t word)
{
	const struct counter *c = counter_of(x, counter);

	return c->left <= (int64_t)(word - c->was) * x->bench->bytes;
}

static bool sw_await(struct bench_end *x, uint32_t counter)
{
	sim_time next = take_all(x);
	uint64_t word;

	while (counter_of(x, counter)->left > 0) {
		word = word_of(counter);
		if (is_zero(x, counter, word))
			break;
		swv_sleep(own(x)->dev, word_at(counter), word + 1, next);
		next = take_all(x);
	}
	return true;
}

/* --- transfers --- */

static struct weft_sw_work work(struct bench_end *x, uint32_t node,
	uint64_t there, uint64_t here, uint64_t bytes)
{
	uint32_t who = own(x)->who;

	return (struct weft_sw_work){
		.to = { .node = node,
			.interface = (uint8_t)who,
			.engine = (uint8_t)swhni_engine(x->load->nic, who) },
		.key = KEY + who,
		.own_key = KEY + who,
		.at = there,
		.own_at = here,
		.reply = UINT64_MAX,
		.bytes = (uint32_t)bytes,
		.flags = WEFT_SW_QUIET,
	};
}

static void post(struct bench_end *x, const struct weft_sw_work *w,
	int (*by)(struct weft_sw_sq *sq, const struct weft_sw_work *w))
{
	int code;

	while ((code = by(own(x)->to, w)) == EAGAIN)
		wait_for_some(x);
	programs_did(x->programs, "a post to the card", code);
}

static void post_short(
	struct bench_end *x, const struct weft_sw_work *w, uint32_t more)
{
	uint8_t data[SWHNI_SHORT];
	int code;

	if (!(w->flags & WEFT_SW_FSM_READ))
		program_read(w->own_at, data, w->bytes);
	while ((code = swv_post_short(own(x)->sq, w, data, w->bytes, more)) ==
		EAGAIN)
		wait_for_some(x);
	programs_did(x->programs, "a fast short message", code);
}

/* In pieces that fit. */
static void put_short(struct bench_end *x, struct weft_sw_work w, bool counts)
{
	uint32_t left = w.bytes;

	do {
		w.bytes = left < SWHNI_SHORT ? left : SWHNI_SHORT;
		post_short(x, &w, counts ? SWHNI_EVENT : 0);
		w.at += w.bytes;
		w.own_at += w.bytes;
		left -= w.bytes;
	} while (left);
}

static void put_messages(struct bench_end *x, struct weft_sw_work w)
{
	struct own *o = own(x);
	uint64_t left = w.bytes, from = w.own_at, n;
	struct head h = { w.at, w.tag, 0 };

	do {
		n = left < CHUNK ? left : CHUNK;
		h.bytes = (uint32_t)n;
		/* as many stages as descriptors */
		while (o->sq->used == DEPTH / 2)
			wait_for_some(x);
		w.own_at = STAGES_AT + o->who * STAGES +
			   (uint64_t)(o->stage++ % DEPTH) * SWHNI_MESSAGE;
		w.bytes = HEAD + h.bytes;
		program_write(w.own_at, &h, HEAD);
		program_move(w.own_at + HEAD, from, n);
		post(x, &w, weft_sw_post_send);
		from += n;
		h.to += n;
		left -= n;
	} while (left);
}

/* --- without the library --- */

static void on_raw(void *arg, const struct workq_completion *c)
{
	struct own *o = arg;

	o->raw_ended += SWHNI_EVENT_OF(c->status) == SWHNI_DONE;
	o->raw_failed += SWHNI_ERROR_OF(c->status) != SWHNI_OK;
}

static bool open_raw(struct bench_end *x)
{
	struct own *o = own(x);

	if (o->raw && o->raw->n_entries)
		return true;
	if (!o->raw)
		o->raw = mem_alloc(1, sizeof(*o->raw));
	*o->raw = (struct swv_user){
		.process = o->who,
		.wanted = 1 + SWD_RAW + o->who,
		.on_done = on_raw,
		.arg = o,
	};
	return programs_did(
		       x->programs, "swv_user_open", swv_user_open(o->raw)) &&
	       programs_did(x->programs, "swv_user_open_send",
		       swv_user_open_send(o->raw, DEPTH, 16 * DEPTH));
}

static void put_raw(struct bench_end *x, const struct weft_sw_work *w)
{
	struct own *o = own(x);
	struct swhni_descriptor d = swv_descriptor(w, SWHNI_WRITE);

	d.flags |= SWHNI_TELL | (w->flags & WEFT_SW_EVENT ? SWHNI_EVENT : 0);
	d.word[0] = w->tag;
	if (!open_raw(x))
		return;
	swv_user_poll(o->raw);
	while (!swv_user_has_room(o->raw) ||
		o->raw_posted - o->raw_ended == DEPTH) {
		swv_user_wait(o->raw, SIM_NEVER);
		swv_user_poll(o->raw);
	}
	o->raw_posted++;
	swv_user_post(o->raw, &d, program_now());
}

/* --- puts and gets --- */

static uint32_t means_of(
	const struct bench_end *x, uint32_t means, uint64_t bytes)
{
	const struct bench_driver *d = x->driver;

	if (means == BY_MPI)
		return bench_mpi_is_quick(d, bytes) ? d->mpi->quick
						    : d->mpi->other;
	if (means != BY_AUTO)
		return means;
	return bytes <= SWHNI_SHORT ? BY_FSM : BY_WRITE;
}

static uint32_t port_flag(uint32_t port)
{
	return port == BENCH_ANY ? 0 : (uint32_t)WEFT_SW_PORT_0 << port;
}

/* Whether a reply word can count it. */
static bool is_unit(const struct bench_end *x, const struct bench_transfer *p)
{
	return p->bytes && p->bytes == (uint64_t)x->bench->bytes;
}

static void sw_put(struct bench_end *x, const struct bench_transfer *p)
{
	struct weft_sw_work w = work(x, p->node, p->to, p->from, p->bytes);
	bool counts = p->counter != BENCH_NONE;

	w.tag = p->counter;
	w.flags |= port_flag(p->port);
	if (p->means == BY_MPI)
		program_charge(bench_mpi_time(x->bench, p->bytes, false));
	switch (means_of(x, p->means, p->bytes)) {
	case BY_REPLY:
		if (counts && !is_unit(x, p))
			break;
		w.reply = word_at(counts ? p->counter : COUNTERS);
		post(x, &w, weft_sw_post_write_reply);
		return;
	case BY_NOTIFY:
		post(x, &w,
			counts ? weft_sw_post_write_notify
			       : weft_sw_post_write);
		return;
	case BY_FSM:
		/* the card says what is wrong with bytes that are not there */
		if (!program_has(p->from, p->bytes))
			break;
		put_short(x, w, counts);
		return;
	case BY_QUEUE:
		put_messages(x, w);
		return;
	default:
		break;
	}
	w.flags |= counts ? WEFT_SW_EVENT : 0;
	if (p->means == BY_RAW)
		put_raw(x, &w);
	else
		post(x, &w, weft_sw_post_write);
}

static void sw_get(struct bench_end *x, const struct bench_transfer *g)
{
	struct weft_sw_work w = work(x, g->node, g->from, g->to, g->bytes);

	w.flags |= port_flag(g->port);
	if (g->means == BY_FSM && g->bytes <= SWHNI_SHORT) {
		w.flags |= WEFT_SW_FSM_READ;
		post_short(x, &w, 0);
	} else {
		post(x, &w, weft_sw_post_read);
	}
}

static bool sw_flush(struct bench_end *x)
{
	struct own *o = own(x);
	bool is_good;

	take_all(x);
	while (o->sq->used)
		wait_for_some(x);
	while (o->raw_posted != o->raw_ended) {
		swv_user_wait(o->raw, SIM_NEVER);
		swv_user_poll(o->raw);
	}
	is_good = o->sq->failed == o->failed && !o->raw_failed;
	o->failed = o->sq->failed;
	o->raw_failed = 0;
	return is_good;
}

/* Adds 1: by a write of nothing with a reply word. */
static void sw_change(struct bench_end *x, uint32_t node, uint64_t at,
	enum bench_atomic kind, uint64_t operand, uint32_t most)
{
	struct weft_sw_work w = work(x, node, at, BENCH_FREE, 0);

	(void)kind;
	(void)operand;
	w.reply = at;
	while (own(x)->sq->used >= most)
		wait_for_some(x);
	post(x, &w, weft_sw_post_write_reply);
}

static const struct bench_atomics atomics = {
	.n = BENCH_ADD + 1,
	.has_acks = true,
	.adds_one = true,
	.change = sw_change,
};

/* --- blocks --- */

static bool sw_open_channel(struct bench_end *x, uint64_t at, uint32_t bytes)
{
	struct own *o = own(x);

	o->place_bytes = bytes;
	if (!open_queue(x, (struct weft_sw *)o->dev->object.handle,
		    (struct weft_sw_cq *)o->cq->object.handle, PLACES,
		    &o->blocks))
		return false;
	for (uint32_t i = 0; i < PLACES; i++)
		weft_sw_post_recv(o->blocks, i, at + i * bytes, bytes);
	return true;
}

static uint32_t sw_take(struct bench_end *x, void *block)
{
	struct own *o = own(x);
	struct weft_sw_completion c;

	take_all(x);
	if (!o->filled.n)
		return 0;
	c = *(struct weft_sw_completion *)ring_pop(&o->filled);
	program_read(c.at, block, c.bytes);
	weft_sw_post_recv(o->blocks, c.id, c.at, o->place_bytes);
	return c.bytes;
}

static void sw_send_block(struct bench_end *x, uint32_t node, uint32_t lane,
	uint64_t from, uint64_t bytes)
{
	struct weft_sw_work w = work(x, node, 0, from, bytes);

	w.to.interface = (uint8_t)lane;
	w.to.engine = (uint8_t)swhni_engine(x->load->nic, lane);
	w.to.queue = 1; /* the second that each has opened */
	post(x, &w, weft_sw_post_send);
}

static const struct bench_channel channel = {
	.most_lanes = SWD_MOST_LANES,
	.most_bytes = SWHNI_MESSAGE,
	.pause = 1000000 * (sim_time)SIM_NS, /* reads take an issue each */
	.open = sw_open_channel,
	.take = sw_take,
	.send = sw_send_block,
};

/* --- misuse --- */

/* What no program may do, by kinds. */
static struct swhni_descriptor misdeed(
	const struct bench_rogue *r, uint64_t k, uint32_t n_nodes)
{
	struct random_bits x =
		random_draw(r->programs->load.seed, r->stream, RANDOM_DATA, k);
	struct swhni_descriptor d = {
		.type = k % 2 ? SWHNI_READ : SWHNI_WRITE,
		.flags = SWHNI_TELL,
		.node = (uint32_t)(x.a % n_nodes),
		.key = KEY,
		.own_key = KEY,
		.own_offset = BENCH_FREE,
		.bytes = 8 + (uint32_t)(x.b % 500),
	};

	switch (k % 8) {
	case 0:
		d.key = SWHNI_KEYS + (uint32_t)(x.b % 4000);
		break;
	case 1:
		d.offset = UINT64_MAX - x.b % 4096;
		break;
	case 2:
		d.node = n_nodes + (uint32_t)(x.b % 1000);
		break;
	case 3:
		d.type = (uint8_t)(SWHNI_TYPES + x.b % 200);
		break;
	case 4:
		d.bytes = SWHNI_MOST + 1 + (uint32_t)(x.b % 4096);
		break;
	case 5:
		d.type = SWHNI_SEND;
		d.bytes = SWHNI_MESSAGE + 1;
		break;
	case 6:
		d.own_key = 1 + (uint32_t)(x.b % 100);
		break;
	default:
		d.type = SWHNI_SEND;
		d.interface = SWD_ROGUE + 1;
	}
	return d;
}

static void on_misdeed(void *arg, const struct workq_completion *c)
{
	uint64_t *ended = arg; /* and how many were not refused */

	ended[0]++;
	ended[1] += SWHNI_ERROR_OF(c->status) == SWHNI_OK;
}

/* Each ends with an error, and does nothing to anybody else. */
static void sw_rogue(void *arg)
{
	struct bench_rogue *r = arg;
	struct nic *nic = r->programs->load.nic;
	uint64_t ended[2] = { 0 };
	struct swv_user u = {
		.wanted = 1 + SWD_ROGUE,
		.on_done = on_misdeed,
		.arg = ended,
	};

	if (!programs_did(r->programs, "swv_user_open", swv_user_open(&u)) ||
		!programs_did(r->programs, "swv_user_open_send",
			swv_user_open_send(&u, 16, 64)))
		return;
	program_wait(PROGRAMS_START);
	for (; r->done < r->deeds; r->done++) {
		struct swhni_descriptor d = misdeed(r, r->done, nic->n_nodes);

		swv_user_post(&u, &d, program_now());
		while (ended[0] <= r->done) {
			swv_user_wait(&u, SIM_NEVER);
			swv_user_poll(&u);
		}
	}
	if (ended[1])
		programs_complain(r->programs, "%llu misdeeds were not refused",
			(unsigned long long)ended[1]);
}

/* --- MPI --- */

static struct bench_mpi_cost mpi_cost(const struct load *l)
{
	const struct swhni_params *p = l->nic_params;

	return (struct bench_mpi_cost){ p->mpi, p->mpi_operand, p->mpi_long,
		p->copy };
}

/* Messages are packets, which are written at once. */
static bool mpi_wait(struct bench_end *x, uint64_t at, uint64_t value)
{
	const struct swhni_params *p = x->load->nic_params;
	uint64_t word;

	return program_poll(at, WORD_AT_LEAST, value,
		nic_poll_loop(
			x->load->nic, p->work.poll_period, p->work.poll_load),
		&word);
}

static const struct bench_mpi mpi = {
	.cost = mpi_cost,
	.wait = mpi_wait,
	.quick = BY_FSM,
	.other = BY_WRITE,
	.most_copied = SWHNI_MESSAGE,
};

/* The card gives up after its last retransmission, and the library goes on. */
static uint64_t sw_n_seen(const struct bench *b)
{
	const struct nic *nic = b->programs.load.nic;

	return nic_sum(nic, "no answer") + nic_sum(nic, "kept");
}

static const struct bench_looks looks = { .n_seen = sw_n_seen };

static uint32_t sw_n_ports(const struct load *l)
{
	return l->topo->node_ports;
}

static const struct bench_means means[] = {
	[BY_AUTO] = { .name = "auto", .is_alias = true },
	[BY_WRITE] = { .name = "write" },
	[BY_FSM] = { .name = "fsm", .is_quick = true, .most = SWHNI_SHORT },
	[BY_REPLY] = { .name = "reply", .is_alone = true },
	[BY_NOTIFY] = { .name = "notify" },
	[BY_QUEUE] = { .name = "queue", .is_copied = true },
	[BY_RAW] = { .name = "raw", .is_alias = true },
	[BY_MPI] = { .name = "mpi", .is_alias = true },
	{ 0 },
};

const struct bench_driver bench_sw = {
	.name = "swhni",
	.means = means,
	.most = { .grain = 1,
		.counters = COUNTERS,
		.queues = 16, /* which are one */
		.lanes = SWD_MOST_LANES },
	.is = BENCH_HAS_SELF | BENCH_HAS_ACKS | BENCH_OPEN_ENDED |
	      BENCH_GETS_BY_MEANS | BENCH_NEEDS_TARGET,
	.size = sizeof(struct own),
	.open = sw_open_end,
	.expect = sw_expect,
	.await = sw_await,
	.put = sw_put,
	.get = sw_get,
	.flush = sw_flush,
	.fini = sw_fini,
	.rogue = sw_rogue,
	.atomics = &atomics,
	.channel = &channel,
	.looks = &looks,
	.group = &swd_group,
	.mpi = &mpi,
	.n_ports = sw_n_ports,
};
