/*
 * QsNetII's Elan4: puts are short packets that the core writes itself (STEN),
 * or DMAs; gets are short packets that ask.  Events count what is waited for,
 * and write a number when all has come: another one each time.
 */
#include <errno.h>

#include "api/elan/elan.h"
#include "load/bench/drivers/elan.h"
#include "sim/random.h"

enum { MEANS_AUTO, MEANS_STEN, MEANS_DMA, MEANS_MATCH };

enum {
	MOST_QUEUES = 64,
	MOST_LANES = 16,
	COUNTERS = 96,
	EVENT = 1, /* of counter 0; those of lanes follow */
	EVENT_LANE = EVENT + COUNTERS,
	CAST_QUEUE = 100, /* beyond those of messages */
	SYNC_QUEUE, /* two */
	GROUP_QUEUE = SYNC_QUEUE + 2, /* two */
	GROUP_INPUT = 200, /* three */
	GROUP_CODE = 200,
	CAST_EVENT = 60000,
	GROUP_EVENT,
	PORT_QUEUE = BENCH_ELAN_PORT_QUEUE,
	RECEIVES = 512,
	OTHERS = 4096, /* receives that match nothing, at most */
	SENDS = 64, /* that have not been waited for */
	HANDLES = RECEIVES + OTHERS + SENDS,
};

#define WORDS_AT UINT64_C(0x1000) /* by event */
#define SYNC_AT	 UINT64_C(0x1000)
#define GROUP_AT UINT64_C(0x800)
#define PORTS_AT (UINT64_C(512) << 20) /* by lane */

struct own {
	uint64_t base; /* of the process's memory */
	uint32_t each, process; /* of a node; its number there */
	uint64_t value[COUNTERS]; /* that were expected last */
	uint64_t lane_value;
	uint32_t next; /* queue, of those that will do */
	struct elan_tport port;
	uint32_t receive[RECEIVES], posted, awaited; /* ever */
	uint32_t send[SENDS], sent, finished; /* ever */
	struct elan_hgroup group;
	uint64_t networked, network_ps; /* counts, by warm rounds */
	struct blocks *blocks; /* or NULL */
	struct elan_cq queue[];
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

/* A lane is a process, and its peer the process of the same number. */
static uint32_t rank_at(const struct bench_end *x, uint32_t node)
{
	return node * own(x)->each + own(x)->process;
}

/* An address of either of them. */
static uint64_t address(const struct bench_end *x, uint64_t at)
{
	return own(x)->base + at;
}

struct blocks **bench_elan_blocks(const struct bench_end *x)
{
	return &own(x)->blocks;
}

uint32_t bench_elan_rank(const struct bench_end *x, uint32_t node)
{
	return rank_at(x, node);
}

uint64_t bench_elan_address(const struct bench_end *x, uint64_t at)
{
	return address(x, at);
}

static uint64_t word_at(const struct bench_end *x, uint32_t event)
{
	return address(x, WORDS_AT + 64 * (uint64_t)event);
}

static uint32_t lane_event(const struct bench_end *x)
{
	return EVENT_LANE + x->lane;
}

static struct elan_cq *queue(const struct bench_end *x, uint32_t i)
{
	if (i == BENCH_ANY)
		i = own(x)->next++ % x->bench->needs.queues;
	return &own(x)->queue[i];
}

static bool port_open(struct bench_end *x)
{
	const struct elan_tport_options o = {
		.port = x->lane,
		.queue = PORT_QUEUE + ELAN_TPORT_QUEUES * x->lane,
		.handles = HANDLES,
		.at = address(
			x, PORTS_AT + x->lane * elan_tport_bytes(HANDLES)),
	};

	return programs_did(x->programs, "elan_tport_open",
		elan_tport_open(&own(x)->port, &o));
}

static bool elan_open(struct bench_end *x)
{
	uint32_t n = x->bench->needs.queues;

	own(x)->base = elan_memory_at();
	own(x)->each = weft_n_processes();
	own(x)->process = weft_process();
	for (uint32_t i = 0; i < n; i++)
		if (!programs_did(x->programs, "elan_cq_open",
			    elan_cq_open(queue(x, i), x->lane * n + i, ELAN_64K,
				    ELAN_MAY_ALL)))
			return false;
	return x->bench->means != MEANS_MATCH || port_open(x);
}

static void elan_expect(struct bench_end *x, uint32_t counter, uint64_t bytes)
{
	elan_arm(queue(x, 0), EVENT + counter, bytes,
		word_at(x, EVENT + counter), ++own(x)->value[counter]);
}

static bool elan_await(struct bench_end *x, uint32_t counter)
{
	return elan_wait_word(
		word_at(x, EVENT + counter), own(x)->value[counter]);
}

/* What the library would choose, where the rate does not count. */
static uint32_t choose(
	const struct bench_end *x, uint32_t means, uint64_t bytes)
{
	if (means != MEANS_AUTO)
		return means;
	if (x->bench->needs.is_for_rate)
		return MEANS_DMA;
	return elan_write_is_dma(bytes, ELAN_FOR_LATENCY) ? MEANS_DMA
							  : MEANS_STEN;
}

static void elan_put_by(struct bench_end *x, const struct bench_transfer *p)
{
	struct elan_cq *q = queue(x, p->queue);
	uint32_t come = p->counter == BENCH_NONE ? 0 : EVENT + p->counter;
	struct elan_dma d = {
		.bytes = p->bytes,
		.destination = rank_at(x, p->node),
		.from = address(x, p->from),
		.to = address(x, p->to),
		.source_event = p->is_tracked ? lane_event(x) : 0,
		.target_event = come,
	};

	if (choose(x, p->means, p->bytes) == MEANS_DMA)
		programs_did(x->programs, "elan_dma", elan_dma(q, &d));
	else
		programs_did(x->programs, "elan_put_from",
			elan_put_from(q, (uint32_t)d.destination, d.to, d.from,
				d.bytes, come, (uint32_t)d.source_event));
}

static void elan_get_by(struct bench_end *x, const struct bench_transfer *g)
{
	uint64_t n;

	for (uint64_t at = 0; at < g->bytes; at += n) {
		n = g->bytes - at < ELAN_PACKET ? g->bytes - at : ELAN_PACKET;
		elan_get(queue(x, g->queue), rank_at(x, g->node),
			address(x, g->from + at), address(x, g->to + at),
			(uint32_t)n, g->is_tracked ? lane_event(x) : 0);
	}
}

static void track(struct bench_end *x, uint64_t count)
{
	elan_arm(queue(x, 0), lane_event(x), count, word_at(x, lane_event(x)),
		++own(x)->lane_value);
}

static void elan_track_puts(
	struct bench_end *x, uint32_t means, uint64_t n, uint64_t bytes)
{
	bool is_dma = choose(x, means, bytes) == MEANS_DMA;

	track(x, n * (is_dma ? 1 : elan_put_packets(bytes)));
}

static void elan_track_gets(struct bench_end *x, uint64_t n, uint64_t bytes)
{
	track(x, n * bytes);
}

/* Restarts a queue that the card has stopped, once none of its commands is in
 * flight. */
static void restart(struct programs *p, struct elan_cq *q)
{
	int code;

	while ((code = elan_queue_restart(
			p->load.nic, program_node(), q->id)) == EBUSY)
		program_wait(program_now() + 5000 * (sim_time)SIM_NS);
	programs_did(p, "elan_queue_restart", code);
	q->stored = 0;
	q->n = 0;
}

/* A queue that the card has stopped is restarted. */
static bool elan_flush_all(struct bench_end *x)
{
	if (elan_wait_event(
		    queue(x, 0), word_at(x, lane_event(x)), own(x)->lane_value))
		return true;
	restart(x->programs, queue(x, 0));
	return false;
}

static bool elan_wait(struct bench_end *x, uint64_t at, uint64_t value)
{
	return elan_wait_word(address(x, at), value);
}

static uint32_t elan_packet_bytes(const struct bench *b)
{
	const struct elan_params *p = b->programs.load.nic_params;

	return b->means == MEANS_STEN ? ELAN_PACKET : (uint32_t)p->read_block;
}

static uint64_t elan_counter(const struct bench *b, site_id node, uint32_t i)
{
	return (uint64_t)elan_event_count(
		b->programs.load.nic, node, EVENT + i);
}

static uint64_t elan_stored(const struct bench_end *x, sim_time *at)
{
	*at = queue(x, 0)->free_at;
	return x->bench->means == MEANS_STEN ? queue(x, 0)->stored : 0;
}

static int64_t elan_cpus(const struct bench *b)
{
	const struct elan_params *p = b->programs.load.nic_params;

	return p->cpus;
}

/* After a run: of all processes. */
static struct elan_counts counts_of(const struct bench *b, int64_t node)
{
	const struct load *l = &b->programs.load;
	struct elan_counts c = { 0 };

	if (sim_has(l->net->sim, (site_id)node))
		c = elan_counts(l->nic, (site_id)node);
	sim_tell(l->net->sim, (site_id)node, &c, sizeof(c));
	return c;
}

static void elan_warmed(struct bench_end *x)
{
	struct elan_counts c = elan_counts(x->load->nic, x->node);

	own(x)->networked = c.networked;
	own(x)->network_ps = c.network_ps;
}

/* From the sending card to the receiving one's bus. */
static void elan_report(const struct bench *b, struct load_result *r)
{
	struct elan_counts x = counts_of(b, b->to), y = counts_of(b, b->from);
	uint64_t n = x.networked + y.networked;
	uint64_t ps = x.network_ps + y.network_ps, warm[2] = { 0 };

	for (uint32_t i = 0; i < b->needs.n_programs; i++) {
		warm[0] += own(&b->ends[i])->networked;
		warm[1] += own(&b->ends[i])->network_ps;
	}
	sim_sum(b->programs.load.net->sim, warm, 2);
	n -= warm[0];
	ps -= warm[1];
	if (n)
		load_figure(r, "network_ns", (double)ps / SIM_NS / (double)n);
}

/* What reads and writes of memory carried on the bus, on average. */
static void elan_report_rate(
	const struct bench *b, struct load_result *r, double bytes)
{
	struct elan_counts x = counts_of(b, b->from), y = counts_of(b, b->to);

	bytes *= (double)bench_rounds(b) / (double)b->rounds;
	if (b->means != MEANS_STEN && x.reads)
		load_figure(r, "read_B", bytes / (double)x.reads);
	if (y.writes)
		load_figure(r, "write_B", bytes / (double)y.writes);
}

static void elan_drop(struct bench_end *x, uint64_t at, uint64_t bytes)
{
	programs_did(x->programs, "elan_vm_drop",
		elan_vm_drop(address(x, at), bytes));
}

static void elan_fini(struct bench_end *x)
{
	bench_elan_blocks_free(own(x)->blocks);
}

/* --- messages that are matched on the card --- */

static bool match_post(
	struct bench_end *x, uint32_t node, uint64_t to, uint64_t bytes)
{
	return programs_did(x->programs, "elan_tport_rx_start",
		elan_tport_rx_start(&own(x)->port, rank_at(x, node), x->lane,
			UINT64_MAX, address(x, to), bytes,
			&own(x)->receive[own(x)->posted++ % RECEIVES]));
}

static bool match_await(struct bench_end *x)
{
	return programs_did(x->programs, "elan_tport_wait",
		elan_tport_wait(&own(x)->port,
			own(x)->receive[own(x)->awaited++ % RECEIVES], NULL));
}

/* Of the tag of a lane that nobody has. */
static bool match_obstruct(struct bench_end *x, uint32_t node, uint32_t n)
{
	uint32_t handle;

	for (uint32_t i = 0; i < n; i++)
		if (!programs_did(x->programs, "elan_tport_rx_start",
			    elan_tport_rx_start(&own(x)->port, node, MOST_LANES,
				    UINT64_MAX, PORTS_AT, 0, &handle)))
			return false;
	return true;
}

/* Waits until at most so many sends have not ended. */
static bool match_flush(struct bench_end *x, uint32_t most)
{
	struct own *o = own(x);

	while (o->sent - o->finished > most)
		if (!programs_did(x->programs, "elan_tport_wait",
			    elan_tport_wait(&o->port,
				    o->send[o->finished++ % SENDS], NULL)))
			return false;
	return true;
}

static bool match_send(
	struct bench_end *x, uint32_t node, uint64_t from, uint64_t bytes)
{
	struct own *o = own(x);

	return match_flush(x, SENDS - 1) &&
	       programs_did(x->programs, "elan_tport_tx_start",
		       elan_tport_tx_start(&o->port, rank_at(x, node), x->lane,
			       address(x, from), bytes,
			       &o->send[o->sent++ % SENDS]));
}

static bool match_finish(struct bench_end *x)
{
	return match_flush(x, 0);
}

static const struct bench_tagged tagged = {
	.most = RECEIVES,
	.post = match_post,
	.await = match_await,
	.send = match_send,
	.obstruct = match_obstruct,
	.finish = match_finish,
};

/* --- misuse --- */

enum {
	ROGUE_QUEUE = 4000,
	DEEDS = 5, /* kinds of misdeeds */
};

static void store(const struct bench_rogue *r, uint64_t at,
	const uint64_t *word, uint32_t n)
{
	elan_store(r->programs->load.nic, program_worker(), program_node(),
		program_now(), ROGUE_QUEUE, (uint32_t)(at % ELAN_PAGE), word,
		n);
}

/* Breaks a rule of a queue of 1 KB that is empty. */
static void misbehave(const struct bench_rogue *r, uint64_t k)
{
	uint64_t word[16] = { 0 }, i;
	struct random_bits x;

	switch (k % DEEDS) {
	case 0: /* more than fits, at once */
		for (i = 0; i < 9; i++)
			store(r, 128 * i, word, 16);
		break;
	case 1: /* no such command */
		word[0] = 0xff;
		store(r, 0, word, 1);
		break;
	case 2: /* too far ahead */
		store(r, 2048, word, 1);
		break;
	case 3: /* to nobody */
		word[0] = elan_word(ELAN_RUN_DMA, 0, 0);
		word[1] = 8;
		word[3] = UINT32_MAX;
		store(r, 0, word, 8);
		break;
	default: /* anything, that cannot be a packet */
		for (i = 0; i < 16; i++) {
			x = random_draw(r->programs->load.seed, r->stream,
				RANDOM_DATA, 16 * k + i);
			word[i] = x.a | 0x80;
		}
		store(r, 0, word, 16);
	}
}

/* It alone is stopped, and lets itself be restarted. */
static void elan_rogue(void *arg)
{
	struct bench_rogue *r = arg;
	struct elan_cq q;
	uint64_t tries;

	if (!programs_did(r->programs, "elan_cq_open",
		    elan_cq_open(&q, ROGUE_QUEUE, ELAN_1K, ELAN_MAY_ALL)))
		return;
	program_wait(PROGRAMS_START);
	for (uint64_t k = 0; k < r->deeds; k++) {
		misbehave(r, k);
		for (tries = 0; tries < 1000; tries++) {
			if (elan_queue_error(r->programs->load.nic,
				    program_node(), ROGUE_QUEUE) != ELAN_FINE)
				break;
			program_wait(program_now() + 1000 * (sim_time)SIM_NS);
		}
		if (tries == 1000) {
			programs_complain(r->programs,
				"violation %llu did not stop its queue",
				(unsigned long long)k);
			return;
		}
		r->done++;
		restart(r->programs, &q);
	}
}

/* --- broadcasts by the network --- */

static bool cast_open(struct programs *p, void *own)
{
	return programs_did(p, "elan_cq_open",
		elan_cq_open(own, CAST_QUEUE, ELAN_8K,
			ELAN_MAY_EVENT | ELAN_MAY_BROADCAST));
}

static void cast_expect(
	void *own, uint64_t bytes, uint64_t done, uint64_t round)
{
	elan_arm(own, CAST_EVENT, bytes ? bytes : 1, done, round);
}

/* The root's own bytes come, too: it may not change them before. */
static void cast_send(void *own, uint32_t n_nodes, uint64_t at, uint64_t bytes)
{
	elan_broadcast_from(own, 0, n_nodes - 1, at, at, bytes, CAST_EVENT, 0);
}

static bool cast_await(void *own, uint64_t done, uint64_t round)
{
	return elan_wait_event(own, done, round);
}

static const struct bench_cast cast = {
	.size = sizeof(struct elan_cq),
	.open = cast_open,
	.expect = cast_expect,
	.send = cast_send,
	.await = cast_await,
};

/* --- barriers by the network --- */

struct barrier {
	struct programs *programs;
	struct elan_hgsync sync;
};

static bool barrier_open(struct programs *p, void *own)
{
	struct barrier *b = own;

	b->programs = p;
	return programs_did(p, "elan_hgsync_open",
		elan_hgsync_open(&b->sync, SYNC_QUEUE, SYNC_AT));
}

/* A card that has given up is not a mistake. */
static bool barrier_did(const struct barrier *b, const char *call, int code)
{
	if (code == EIO)
		return programs_fail(
			b->programs, "%s: rank 0's queue stopped", call);
	return programs_did(b->programs, call, code);
}

static bool barrier_enter(void *own)
{
	(void)own;
	return true;
}

/* Both at once. */
static bool barrier_await(void *own)
{
	struct barrier *b = own;

	return barrier_did(b, "elan_hgsync", elan_hgsync(&b->sync));
}

static const struct bench_barrier barrier = {
	.size = sizeof(struct barrier),
	.memory = SYNC_AT + ELAN_HGSYNC_BYTES,
	.open = barrier_open,
	.enter = barrier_enter,
	.await = barrier_await,
	.is_copied = true,
};

/* --- what cards combine, and broadcasts that need nobody to be ready --- */

static int group_check(const struct bench *b, const struct bench_group_work *w,
	const struct bench_group_shape *g, struct err *e)
{
	const struct load *l = &b->programs.load;
	bool combines = w->what != BENCH_GROUP_BROADCAST;

	(void)g;
	if (!l->route->ops->spread)
		return err_set(e,
			"by: hardware collectives need a fat tree, not "
			"routing.kind %s (want by=software)",
			l->route->ops->name);
	if (combines && w->arith.type == COLL_DOUBLE)
		return err_set(e, "type: the thread processors of cards have "
				  "no floating point (want signed, unsigned or "
				  "bits, or by=software)");
	if (combines && (w->arith.word != 8 || !w->bytes))
		return err_set(e, "%s: cards combine words of 8 bytes",
			w->bytes ? "word" : "bytes");
	return 0;
}

static bool group_open(struct bench_end *x, const struct bench_group_shape *g)
{
	const struct elan_hgroup_options o = {
		.queue = GROUP_QUEUE,
		.input = GROUP_INPUT,
		.code = GROUP_CODE,
		.event = GROUP_EVENT,
		.at = GROUP_AT,
	};

	(void)g;
	return programs_did(x->programs, "elan_hgroup_open",
		elan_hgroup_open(&own(x)->group, &o));
}

static enum elan_reduction reduction_of(const struct coll_arith *a)
{
	bool is_signed = a->type == COLL_SIGNED;

	switch (a->op) {
	case COLL_MIN:
		return is_signed ? ELAN_MIN : ELAN_MIN_UNSIGNED;
	case COLL_MAX:
		return is_signed ? ELAN_MAX : ELAN_MAX_UNSIGNED;
	case COLL_AND:
		return ELAN_AND;
	case COLL_OR:
		return ELAN_OR;
	case COLL_XOR:
		return ELAN_XOR;
	default:
		return ELAN_SUM;
	}
}

static int group_call(struct bench_end *x, const struct bench_group_work *w)
{
	struct elan_hgroup *g = &own(x)->group;

	if (w->what == BENCH_GROUP_BROADCAST) {
		if (w->root == x->rank)
			program_move(w->to, w->from, w->bytes);
		return elan_hbcast(g, w->root, w->to, w->bytes);
	}
	return elan_hreduce(g,
		w->what == BENCH_GROUP_ALLREDUCE ? ELAN_ALL : w->root,
		reduction_of(&w->arith), w->from, w->to, w->bytes / 8);
}

static bool group_run(struct bench_end *x, const struct bench_group_work *w)
{
	int code = group_call(x, w);

	if (code == EIO)
		return programs_fail(
			x->programs, "a queue of the group stopped");
	return programs_did(x->programs, "a collective", code);
}

static const struct bench_group group = {
	.check = group_check,
	.open = group_open,
	.run = group_run,
};

static const struct bench_tracking tracking = {
	.puts = elan_track_puts,
	.gets = elan_track_gets,
};

static const struct bench_looks looks = {
	.counter = elan_counter,
	.stored = elan_stored,
	.cpus = elan_cpus,
	.warmed = elan_warmed,
	.report = elan_report,
	.report_rate = elan_report_rate,
};

static const struct bench_means means[] = {
	[MEANS_AUTO] = { .name = "auto" },
	[MEANS_STEN] = { .name = "sten", .label = "put", .is_quick = true },
	[MEANS_DMA] = { .name = "dma" },
	[MEANS_MATCH] = { .name = "match",
		.is_alone = true,
		.is_tagged = true },
	{ 0 },
};

const struct bench_driver bench_elan = {
	.name = "elan4",
	.means = means,
	.most = { .grain = 8,
		.counters = COUNTERS,
		.queues = MOST_QUEUES,
		.lanes = MOST_LANES,
		.get_bytes = ELAN_PACKET },
	.is = BENCH_SETS_LATER | BENCH_HAS_ACKS | BENCH_HAS_PROCESSES,
	.size = sizeof(struct own),
	.queue_size = sizeof(struct elan_cq),
	.open = elan_open,
	.expect = elan_expect,
	.await = elan_await,
	.put = elan_put_by,
	.get = elan_get_by,
	.flush = elan_flush_all,
	.wait_word = elan_wait,
	.packet = elan_packet_bytes,
	.rogue = elan_rogue,
	.drop = elan_drop,
	.fini = elan_fini,
	.tracking = &tracking,
	.tagged = &tagged,
	.channel = &bench_elan_channel,
	.looks = &looks,
	.cast = &cast,
	.barrier = &barrier,
	.group = &group,
};
