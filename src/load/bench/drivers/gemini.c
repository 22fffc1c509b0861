/*
 * Gemini's interface: puts and gets by FMA, or as block transfers, which the
 * library leaves long ones to.  A counter is what the target's
 * events say of bytes that have come: each put raises one there that names
 * its counter.  Completions are events at the sender.
 */
#include "api/gni/queue.h"
#include "load/bench/bench.h"
#include "sim/random.h"

enum {
	HANDLE = 1, /* to all of a node's memory */
	ENTRIES = 4096,
	COUNTERS = 128,
	MOST_LANES = GEMINI_CQS / 2 - 1,
	ROGUE_CQ = GEMINI_CQS - 1,
	WINDOW = 1024, /* transactions that are not complete */
	PLACES = 4, /* for blocks */
	MOST_FILLED = 8,
};

#define RINGS_AT UINT64_C(0x10000)
#define RING	 (ENTRIES * sizeof(struct gemini_event))
/* Of an event's data: it is a block's, for a place; else it has a counter. */
#define BLOCK (UINT64_C(1) << 63)

struct own {
	struct gemini_queue done, came; /* here; from others */
	uint64_t posted, ended, failed; /* transactions with an event */
	int64_t left[COUNTERS]; /* bytes that a counter waits for */
	uint64_t filled[MOST_FILLED]; /* events of blocks that came here */
	uint32_t n_filled, n_taken;
	uint64_t places_at;
	uint32_t place_bytes;
	bool is_closed;
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

static bool open_queue(struct bench_end *x, struct gemini_queue *q, uint32_t cq)
{
	return programs_did(x->programs, "gemini_cq_open",
		gemini_queue_open(q, cq, RINGS_AT + cq * RING, ENTRIES));
}

/* The programs of a node share a handle, which the first registers. */
static bool gem_open(struct bench_end *x)
{
	struct load *l = x->load;
	struct own *o = own(x);

	if (!x->lane)
		ranges_add(gemini_handles(l->nic, x->node), HANDLE, 0,
			host_memory(l->host), GEMINI_READ | GEMINI_WRITE);
	return open_queue(x, &o->done, 2 * x->lane) &&
	       open_queue(x, &o->came, 2 * x->lane + 1);
}

/* --- events --- */

/* Takes what has come in both queues. */
static void take_all(struct bench_end *x)
{
	struct own *o = own(x);
	struct gemini_event e;

	while (gemini_queue_take(&o->done, &e)) {
		o->ended++;
		o->failed += e.status != GEMINI_OK;
	}
	while (gemini_queue_take(&o->came, &e))
		if (e.data & BLOCK) /* or a part of one: none of its bytes */
			o->filled[o->n_filled++ % MOST_FILLED] =
				e.status ? e.data >> 32 << 32 : e.data;
		else
			o->left[e.data >> 32] -= (int64_t)(uint32_t)e.data;
}

static void wait_for(struct bench_end *x, struct gemini_queue *q)
{
	gemini_queue_wait(q);
	take_all(x);
}

/* --- transfers --- */

static void gem_expect(struct bench_end *x, uint32_t counter, uint64_t bytes)
{
	own(x)->left[counter] = (int64_t)bytes;
}

static bool gem_await(struct bench_end *x, uint32_t counter)
{
	take_all(x);
	while (own(x)->left[counter] > 0)
		wait_for(x, &own(x)->came);
	return true;
}

enum { BY_FMA = 1, BY_BTE };

/* Waits until fewer than that number are in flight, and counts one more. */
static void make_room(struct bench_end *x, uint64_t most)
{
	struct own *o = own(x);

	take_all(x);
	while (o->posted - o->ended >= most)
		wait_for(x, &o->done);
	o->posted++;
}

static void post(
	struct bench_end *x, uint32_t means, const struct gemini_post *p)
{
	struct own *o = own(x);
	bool is_block = means == BENCH_AUTO
				? gemini_is_block(o->done.nic, p->bytes)
				: means == BY_BTE;

	make_room(x, WINDOW);
	programs_did(x->programs, is_block ? "gemini_bte" : "gemini_fma",
		is_block ? gemini_bte(o->done.nic, p)
			 : gemini_fma(o->done.nic, p));
}

/* What all transactions have in common; the rest is for the caller. */
static struct gemini_post transaction(struct bench_end *x, enum gemini_op op,
	uint32_t node, uint64_t there, uint64_t here, uint64_t bytes)
{
	return (struct gemini_post){
		.op = op,
		.node = node,
		.handle = HANDLE,
		.offset = there,
		.here = here,
		.bytes = bytes,
		.cq = own(x)->done.cq,
		.remote_cq = GEMINI_NO_CQ,
	};
}

static void gem_put(struct bench_end *x, const struct bench_transfer *p)
{
	struct gemini_post post_ =
		transaction(x, GEMINI_PUT, p->node, p->to, p->from, p->bytes);

	if (p->counter != BENCH_NONE) {
		post_.remote_cq = own(x)->came.cq;
		post_.remote_data = (uint64_t)p->counter << 32 | p->bytes;
	}
	post(x, p->means, &post_);
}

static void gem_get(struct bench_end *x, const struct bench_transfer *g)
{
	struct gemini_post post_ =
		transaction(x, GEMINI_GET, g->node, g->from, g->to, g->bytes);

	post(x, g->means, &post_);
}

static void gem_change(struct bench_end *x, uint32_t node, uint64_t at,
	enum bench_atomic kind, uint64_t operand, uint32_t most)
{
	struct gemini_post post_ = transaction(x, GEMINI_AMO, node, at, 0, 8);

	(void)kind;
	post_.amo = GEMINI_ADD;
	post_.operand[0] = operand;
	post_.is_cached = true;
	make_room(x, most);
	programs_did(x->programs, "gemini_fma",
		gemini_fma(own(x)->done.nic, &post_));
}

static bool gem_flush(struct bench_end *x)
{
	struct own *o = own(x);
	bool is_good;

	take_all(x);
	while (o->ended < o->posted)
		wait_for(x, &o->done);
	is_good = !o->failed;
	o->failed = 0;
	return is_good;
}

/* How long packets of a channel are that a node has sent, on average: a sender
 * counts bytes, the receiver at the other end packets. */
static void report_phits(const struct bench *b, struct load_result *r,
	const char *name, site_id node, uint32_t channel)
{
	const struct net *n = b->programs.load.net;
	struct topo_end chip = n->topo->ops->peer(n->topo, node, 0);
	sim_time now = sim_now(n->sim);
	uint64_t bytes = 0, packets = 0;

	if (sim_has(n->sim, node))
		bytes = net_counters(n, node, 0, 1u << channel, now).sent_bytes;
	if (sim_has(n->sim, chip.router))
		packets = net_counters(
			n, chip.router, chip.port, 1u << channel, now)
				  .packets;
	sim_tell(n->sim, node, &bytes, sizeof(bytes));
	sim_tell(n->sim, chip.router, &packets, sizeof(packets));
	if (packets)
		load_figure(r, name,
			(double)bytes / (double)packets / n->link.chunk);
}

static void gem_report(const struct bench *b, struct load_result *r)
{
	report_phits(b, r, "request_phits", (site_id)b->from, 0);
	report_phits(b, r, "response_phits", (site_id)b->to, 1);
}

/* What the cache of atomics still has. */
static bool gem_settle(struct bench_end *x)
{
	struct own *o = own(x);

	o->posted++;
	return programs_did(x->programs, "gemini_amo_flush",
		       gemini_amo_flush(o->done.nic, o->done.cq, 0)) &&
	       gem_flush(x);
}

static const struct bench_atomics atomics = {
	.n = BENCH_ADD + 1,
	.has_acks = true,
	.change = gem_change,
	.settle = gem_settle,
};

/* --- blocks for who has offered a place; a lane has a port --- */

static uint64_t place_at(const struct own *o, uint32_t place)
{
	return o->places_at + (uint64_t)place * o->place_bytes;
}

static bool offer(struct bench_end *x, uint32_t place)
{
	struct gemini_buffer b = {
		.port = x->lane,
		.at = place_at(own(x), place),
		.bytes = own(x)->place_bytes,
		.cq = own(x)->came.cq,
		.data = (uint32_t)(BLOCK >> 32) | place,
	};

	return programs_did(x->programs, "gemini_bte_receive",
		gemini_bte_receive(own(x)->came.nic, &b));
}

static bool gem_open_channel(struct bench_end *x, uint64_t at, uint32_t bytes)
{
	own(x)->places_at = at;
	own(x)->place_bytes = bytes;
	for (uint32_t i = 0; i < PLACES; i++)
		if (!offer(x, i))
			return false;
	return true;
}

/* A place is offered again when its block was taken, or has come only in
 * part. */
static uint32_t gem_take(struct bench_end *x, void *block)
{
	struct own *o = own(x);
	uint32_t place, bytes = 0;
	uint64_t data;

	take_all(x);
	while (!bytes && o->n_taken != o->n_filled) {
		data = o->filled[o->n_taken++ % MOST_FILLED];
		place = (uint32_t)((data ^ BLOCK) >> 32);
		bytes = (uint32_t)data;
		program_read(place_at(o, place), block, bytes);
		if (!o->is_closed)
			offer(x, place);
	}
	return bytes;
}

static void gem_close(struct bench_end *x)
{
	own(x)->is_closed = true;
	gemini_bte_withdraw(own(x)->came.nic, x->node, x->lane);
}

static void gem_send_block(struct bench_end *x, uint32_t node, uint32_t lane,
	uint64_t from, uint64_t bytes)
{
	struct gemini_post post_ =
		transaction(x, GEMINI_SEND, node, 0, from, bytes);

	post_.handle = lane;
	post(x, BY_BTE, &post_);
}

static const struct bench_channel channel = {
	.most_lanes = GEMINI_PORTS,
	.refusal = "no buffer posted for a send",
	.open = gem_open_channel,
	.take = gem_take,
	.close = gem_close,
	.send = gem_send_block,
};

/* --- misuse --- */

/* What no program may do, by kinds. */
static struct gemini_post misdeed(
	const struct bench_rogue *r, uint64_t k, uint32_t n_nodes)
{
	struct random_bits x =
		random_draw(r->programs->load.seed, r->stream, RANDOM_DATA, k);
	struct gemini_post p = {
		.op = k % 2 ? GEMINI_GET : GEMINI_PUT,
		.node = (uint32_t)(x.a % n_nodes),
		.handle = HANDLE,
		.bytes = 8 + x.b % 500,
		.cq = ROGUE_CQ,
		.remote_cq = GEMINI_NO_CQ,
	};

	if (k % 5 == 0)
		p.handle = HANDLE + 1 + (uint32_t)(x.b % 4000);
	else if (k % 5 == 1)
		p.offset = UINT64_MAX - x.b % 4096;
	else if (k % 5 == 2)
		p.tag = 1 + (uint32_t)x.b;
	else if (k % 5 == 3)
		p.op = GEMINI_SEND, p.handle = GEMINI_PORTS;
	else
		p.node = n_nodes + (uint32_t)(x.b % 1000);
	return p;
}

/* Each is refused, at once or by its event. */
static void gem_rogue(void *arg)
{
	struct bench_rogue *r = arg;
	struct nic *nic = r->programs->load.nic;
	struct gemini_queue q;

	if (!programs_did(r->programs, "gemini_cq_open",
		    gemini_queue_open(
			    &q, ROGUE_CQ, RINGS_AT + ROGUE_CQ * RING, 4)))
		return;
	program_wait(PROGRAMS_START);
	for (uint64_t k = 0; k < r->deeds; k++) {
		struct gemini_post p = misdeed(r, k, nic->n_nodes);
		struct gemini_event e = { .status = GEMINI_BAD_HANDLE };

		if (!(p.op == GEMINI_SEND ? gemini_bte(nic, &p)
					  : gemini_fma(nic, &p))) {
			gemini_queue_wait(&q);
			gemini_queue_take(&q, &e);
		}
		if (e.status == GEMINI_OK)
			programs_complain(r->programs,
				"misdeed %llu was not refused",
				(unsigned long long)k);
		r->done++;
	}
}

static const struct bench_looks looks = { .report = gem_report };

static const struct bench_means means[] = {
	{ .name = "auto" },
	[BY_FMA] = { .name = "fma" },
	[BY_BTE] = { .name = "bte" },
	{ 0 },
};

const struct bench_driver bench_gemini = {
	.name = "gemini",
	.means = means,
	.most = { .grain = 1,
		.counters = COUNTERS,
		.queues = 16, /* which are one */
		.lanes = MOST_LANES },
	.is = BENCH_HAS_SELF | BENCH_HAS_ACKS | BENCH_OPEN_ENDED |
	      BENCH_GETS_BY_MEANS,
	.size = sizeof(struct own),
	.open = gem_open,
	.expect = gem_expect,
	.await = gem_await,
	.put = gem_put,
	.get = gem_get,
	.flush = gem_flush,
	.rogue = gem_rogue,
	.atomics = &atomics,
	.channel = &channel,
	.looks = &looks,
};
