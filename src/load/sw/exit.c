/*
 * Jobs that leave in mid-traffic, on Sunway.  Every process belongs to a job,
 * whose members write to, read from and send to each other without a pause.
 * Then the members leave, each at a moment of its own, with whatever is under
 * way; and each begins at once as a member of the next job, which has the same
 * number, interfaces, keys and addresses.
 *
 * What the last job has left on cards and in the network must be dropped.  So
 * each job has bytes of its own, and its memory is full of guards at first:
 * when it leaves, every byte must be a guard or its own.
 */
#include <errno.h>
#include <string.h>

#include "api/sw/sw.h"
#include "base/mem.h"
#include "facts/facts.h"
#include "load/keys.h"
#include "load/programs.h"
#include "load/registry.h"
#include "sim/random.h"

#define AT(field) offsetof(struct exits, field)
#define US	  (1000 * (sim_time)SIM_NS)

enum {
	PEERS = 8, /* that a member sends to, at most */
	DEPTH = 16, /* descriptors under way */
	BUFFERS = 8, /* for messages */
	GUARD = 256, /* bytes between places */
	GUARD_BYTE = 0x5a,
	MOST_NUMBERS = 256,
	TOLD = 64, /* jobs that text shows */
};

/* Members leave within this time; and the next job sends some time after. */
#define SPREAD (2 * US)
#define SETTLE (3 * US)

/* Addresses, the same in all processes. */
#define WORD_AT	   UINT64_C(0x1000)
#define BUFFERS_AT UINT64_C(0x2000)
#define SOURCE_AT  UINT64_C(0x10000)

enum kind { REPLY, SEND, READ, SHORT, WRITE, KINDS };

/* What a member did in one turn. */
struct turn {
	uint64_t sent, done, refused, cut, received;
	uint64_t digest;
};

struct member {
	struct exits *g;
	site_id node;
	uint32_t process, number, rank;
	struct turn *turn; /* [g->turns] */
	/* of this turn */
	uint32_t now;
	struct weft_sw *dev;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq;
	struct weft_sw_rq *rq;
	uint32_t key, under_way;
	uint32_t busy; /* places for reads, bits */
	uint64_t drawn;
};

struct exits {
	struct programs programs;
	/* keys */
	int64_t numbers, turns, procs, bytes, life;

	struct member *member; /* by node and process */
	uint32_t *of_rank; /* members, by number and rank */
	uint32_t n_members;
	struct turn *turn;
};

static const struct param params[] = {
	KEY_COUNT("numbers", AT(numbers), "4", 1, MOST_NUMBERS,
		"numbers of jobs in use, each by one job at a time"),
	KEY_COUNT("turns", AT(turns), "4", 1, 1000,
		"number of jobs that have each number, one after the other"),
	KEY_COUNT("procs", AT(procs), "2", 1, 8,
		"number of processes of a node, which belong to different jobs "
		"if there are several"),
	KEY_BYTES("bytes", AT(bytes), "16KiB", 8, 1 << 20,
		"length of the longest write or read"),
	KEY(PARAM_TIME, "life", AT(life), "40us", 10 * US, PS_PER_S, NULL,
		"time that a job runs, on average"),
};

static struct exits *of(struct load *l)
{
	return (struct exits *)l;
}

/* --- who is who --- */

static uint32_t n_of(const struct exits *g, uint32_t number)
{
	uint32_t n = g->n_members / (uint32_t)g->procs, sum = 0;

	for (uint32_t p = 0; p < (uint32_t)g->procs; p++) {
		uint32_t first = (number + (uint32_t)g->numbers -
					 p % (uint32_t)g->numbers) %
				 (uint32_t)g->numbers;

		sum += first < n ? (n - first - 1) / (uint32_t)g->numbers + 1
				 : 0;
	}
	return sum;
}

static const struct member *peer(const struct member *m, uint32_t rank)
{
	const struct exits *g = m->g;
	uint32_t first = 0;

	for (uint32_t i = 0; i < m->number; i++)
		first += n_of(g, i);
	return &g->member[g->of_rank[first + rank]];
}

/* When the members of a job begin to leave. */
static sim_time ends_at(const struct exits *g, uint32_t number, uint32_t turn)
{
	sim_time t = PROGRAMS_START;

	for (uint32_t i = 0; i <= turn; i++)
		t += g->life / 2 +
		     (sim_time)random_below(random_draw(g->programs.load.seed,
						    number, RANDOM_DATA, i)
						    .a,
			     (uint64_t)g->life);
	return t;
}

static sim_time begins_at(const struct exits *g, uint32_t number, uint32_t turn)
{
	return turn ? ends_at(g, number, turn - 1) + SPREAD + SETTLE
		    : PROGRAMS_START;
}

static uint64_t draw(struct member *m, uint64_t below)
{
	const struct exits *g = m->g;
	uint32_t stream = (uint32_t)(m - g->member) + MOST_NUMBERS;

	return random_below(random_draw(g->programs.load.seed, stream,
				    RANDOM_DATA, m->drawn++)
				    .a,
		below);
}

/* --- memory --- */

/* The bytes that a member of this turn sends. */
static uint64_t pattern(const struct member *m, uint32_t rank)
{
	return (uint64_t)m->number << 48 | (uint64_t)m->now << 24 | rank;
}

static uint64_t reads_at(const struct exits *g)
{
	return SOURCE_AT + (uint64_t)g->bytes + GUARD;
}

static uint64_t place_of_read(const struct exits *g, uint32_t i)
{
	return reads_at(g) + i * ((uint64_t)g->bytes + GUARD);
}

static uint64_t place_of_peer(const struct exits *g, uint32_t i)
{
	return place_of_read(g, DEPTH + i);
}

static uint64_t end_of_memory(const struct exits *g)
{
	return place_of_peer(g, PEERS);
}

static void fill_guards(uint64_t from, uint64_t to)
{
	uint8_t block[4096];
	uint64_t n;

	memset(block, GUARD_BYTE, sizeof(block));
	for (; from < to; from += n) {
		n = to - from < sizeof(block) ? to - from : sizeof(block);
		program_write(program_base() + from, block, n);
	}
}

static void fill_source(const struct member *m)
{
	uint8_t block[4096];
	uint64_t all = (uint64_t)m->g->bytes, n;

	for (uint64_t i = 0; i < all; i += n) {
		n = all - i < sizeof(block) ? all - i : sizeof(block);
		memory_fill_by(1, pattern(m, m->rank), i, block, n);
		program_write(program_base() + SOURCE_AT + i, block, n);
	}
}

/* How many bytes of a place are neither guards nor a member's; the place with
 * the guards behind it enters the digest. */
static uint64_t count_wrong(
	struct member *m, uint64_t at, uint32_t rank, bool is_whole)
{
	uint64_t all = (uint64_t)m->g->bytes, wrong = 0, n;
	struct turn *t = &m->turn[m->now];
	uint8_t block[1024], want[1024];

	for (uint64_t i = 0; i < all + GUARD; i += n) {
		uint64_t end = i < all ? all : all + GUARD;

		n = end - i < sizeof(block) ? end - i : sizeof(block);
		program_read(program_base() + at + i, block, n);
		memset(want, GUARD_BYTE, n);
		if (i < all)
			memory_fill_by(1, pattern(m, rank), i, want, n);
		for (uint64_t k = 0; k < n; k++) {
			wrong += block[k] != want[k] &&
				 (is_whole || block[k] != GUARD_BYTE);
			t->digest = (t->digest ^ block[k]) *
				    UINT64_C(0x100000001b3);
		}
	}
	return wrong;
}

/* Whom a place is for: the i-th member before. */
static uint32_t sender_of(const struct member *m, uint32_t i)
{
	uint32_t n = n_of(m->g, m->number);

	return (m->rank + n - (i + 1) % n) % n;
}

static uint32_t n_peers(const struct member *m)
{
	uint32_t n = n_of(m->g, m->number) - 1;

	return n < PEERS ? n : PEERS;
}

static void check_memory(struct member *m)
{
	uint64_t wrong = count_wrong(m, SOURCE_AT, m->rank, true);

	for (uint32_t i = 0; i < n_peers(m); i++)
		wrong += count_wrong(
			m, place_of_peer(m->g, i), sender_of(m, i), false);
	if (wrong)
		programs_complain(&m->g->programs,
			"job %u, turn %u: %llu bytes of its memory are "
			"nobody's",
			m->number, m->now, (unsigned long long)wrong);
}

/* --- one turn --- */

static bool did(struct member *m, const char *call, int code)
{
	return programs_did(&m->g->programs, call, code);
}

static bool open_queues(struct member *m)
{
	struct weft_sw_rq_options how = { .kind = WEFT_SW_VIRTUAL,
		.depth = BUFFERS };

	if (!swv_new_interface(swv_find(SW_DEVICE, m->dev), 1 + m->process))
		return did(m, "swv_new_interface", ENOSPC);
	if (!did(m, "weft_sw_create_cq",
		    weft_sw_create_cq(m->dev, 256, false, &m->cq)) ||
		!did(m, "weft_sw_create_sq",
			weft_sw_create_sq(m->dev, m->cq, DEPTH, &m->sq)) ||
		!did(m, "weft_sw_create_rq",
			weft_sw_create_rq(m->dev, m->cq, &how, &m->rq)))
		return false;
	for (uint32_t i = 0; i < BUFFERS; i++)
		weft_sw_post_recv(m->rq, i, BUFFERS_AT + i * SWHNI_MESSAGE,
			SWHNI_MESSAGE);
	return true;
}

static bool begin(struct member *m)
{
	struct weft_sw_options o = { .job = m->number, .turn = m->now };
	static const uint64_t zero;

	fill_guards(BUFFERS_AT, end_of_memory(m->g));
	fill_source(m);
	program_write(program_base() + WORD_AT, &zero, sizeof(zero));
	m->under_way = m->busy = 0;
	return did(m, "weft_sw_open", weft_sw_open(&o, &m->dev)) &&
	       did(m, "weft_sw_reg_segment",
		       weft_sw_reg_segment(m->dev, 0, end_of_memory(m->g),
			       WEFT_SW_READ | WEFT_SW_WRITE, &m->key)) &&
	       open_queues(m);
}

/* Behind its peer's number, a random length and what a read's place is. */
static int post(struct member *m)
{
	uint32_t back = 1 + (uint32_t)draw(m, n_peers(m));
	uint32_t n = n_of(m->g, m->number);
	const struct member *p = peer(m, (m->rank + back) % n);
	enum kind kind = (enum kind)draw(m, KINDS);
	uint64_t most = (uint64_t)m->g->bytes;
	struct weft_sw_work w = {
		.to = { .node = p->node,
			.interface = (uint8_t)p->process,
			.engine =
				(uint8_t)swhni_engine(swv_nic(), p->process) },
		/* keys of a node's processes alternate */
		.key = m->key - m->process + p->process,
		.own_key = m->key,
		.at = place_of_peer(m->g, back - 1),
		.own_at = SOURCE_AT,
		.reply = WORD_AT,
		.tag = m->rank,
	};
	struct weft_sw_piece piece = { .at = SOURCE_AT };
	uint32_t place = 0;

	most = kind == SEND    ? SWHNI_MESSAGE
	       : kind == SHORT ? SWHNI_SHORT
			       : most;
	most = most < (uint64_t)m->g->bytes ? most : (uint64_t)m->g->bytes;
	piece.bytes = w.bytes = 1 + (uint32_t)draw(m, most);
	switch (kind) {
	case REPLY:
		return weft_sw_post_write_reply(m->sq, &w);
	case SEND:
		return weft_sw_post_send(m->sq, &w);
	case SHORT:
		return weft_sw_post_fsm(m->sq, &w, &piece, 1);
	case READ:
		while (m->busy >> place & 1)
			place++;
		w.id = 1 + place;
		w.tag = p->rank;
		w.at = SOURCE_AT;
		w.own_at = place_of_read(m->g, place);
		w.reply = UINT64_MAX;
		m->busy |= 1u << place;
		return weft_sw_post_read(m->sq, &w);
	default:
		return weft_sw_post_write(m->sq, &w);
	}
}

/* What came is what a member of this very job has. */
static void check_bytes(
	struct member *m, uint64_t at, uint32_t rank, uint32_t bytes)
{
	uint8_t block[1024];
	uint32_t n;

	for (uint32_t i = 0; i < bytes; i += n) {
		n = bytes - i < sizeof(block) ? bytes - i : sizeof(block);
		program_read(program_base() + at + i, block, n);
		if (!memory_is_by(1, pattern(m, rank), i, block, n)) {
			programs_complain(&m->g->programs,
				"job %u, turn %u: wrong bytes from member %u",
				m->number, m->now, rank);
			return;
		}
	}
}

static void on_received(struct member *m, const struct weft_sw_completion *c)
{
	m->turn[m->now].received++;
	if (!c->status)
		check_bytes(m, c->at, c->tag, c->bytes);
	weft_sw_post_recv(m->rq, c->id, c->at, SWHNI_MESSAGE);
}

static void on_done(struct member *m, const struct weft_sw_completion *c)
{
	const struct exits *g = m->g;
	struct turn *t = &m->turn[m->now];

	m->under_way--;
	t->done += !c->status;
	t->refused += c->status != WEFT_SW_OK;
	if (c->id)
		m->busy &= ~(1u << (c->id - 1));
	/* nobody has left yet */
	if (c->status && !g->programs.load.net->faults &&
		program_now() < ends_at(g, m->number, m->now))
		programs_complain(&m->g->programs, "job %u, turn %u: %s",
			m->number, m->now, weft_sw_status_name(c->status));
}

static void take(struct member *m, const struct weft_sw_completion *c)
{
	if (c->kind == WEFT_SW_DONE)
		on_done(m, c);
	else
		on_received(m, c);
}

/* Until a time, or until nothing is under way. */
static void work(struct member *m, sim_time until)
{
	struct weft_sw_completion c;

	while (program_now() < until) {
		while (m->under_way < DEPTH && !post(m)) {
			m->under_way++;
			m->turn[m->now].sent++;
		}
		if (program_now() < until &&
			!weft_sw_wait(m->cq, &c, until - program_now()))
			take(m, &c);
	}
}

static void finish(struct member *m)
{
	struct weft_sw_completion c;

	while (m->under_way && !weft_sw_wait(m->cq, &c, WEFT_SW_FOREVER))
		take(m, &c);
}

static void live(struct member *m)
{
	const struct exits *g = m->g;
	sim_time end = ends_at(g, m->number, m->now);
	bool is_last = m->now + 1 == (uint32_t)g->turns;

	if (!begin(m))
		return;
	program_wait(begins_at(g, m->number, m->now));
	work(m, is_last ? end : end + (sim_time)draw(m, SPREAD));
	if (is_last) {
		finish(m);
		/* others still read here, and send */
		program_wait(end + SPREAD + 1000 * US);
		while (m->cq) {
			struct weft_sw_completion c;

			if (weft_sw_poll(m->cq, &c))
				break;
			take(m, &c);
		}
	}
	m->turn[m->now].cut = m->under_way;
	check_memory(m);
	did(m, "weft_sw_close", weft_sw_close(m->dev));
}

static void run(void *arg)
{
	struct member *m = arg;

	for (m->now = 0; m->now < (uint32_t)m->g->turns; m->now++)
		live(m);
}

/* --- the course of a run --- */

static int exit_init(struct load *l, struct err *e)
{
	struct exits *g = of(l);
	uint64_t memory = end_of_memory(g) + (1 << 20);

	if (programs_need(
		    &g->programs, "swhni", memory * (uint64_t)g->procs, e))
		return -1;
	g->n_members = l->topo->n_nodes * (uint32_t)g->procs;
	for (uint32_t i = 0; i < (uint32_t)g->numbers; i++)
		if (n_of(g, i) < 2)
			return err_set(e,
				"numbers: a job needs two processes, but %u "
				"processes are too few for %lld jobs",
				g->n_members, (long long)g->numbers);
	g->programs.may_err = true;
	l->needs.n_programs = g->n_members;
	l->needs.n_processes = (uint32_t)g->procs;
	return 0;
}

static void add_member(struct exits *g, uint32_t i, uint32_t *rank)
{
	uint32_t procs = (uint32_t)g->procs;
	struct member *m = &g->member[i];

	m->g = g;
	m->node = i / procs;
	m->process = i % procs;
	m->number = (m->node + m->process) % (uint32_t)g->numbers;
	m->rank = rank[m->number]++;
	m->turn = &g->turn[(uint64_t)i * (uint64_t)g->turns];
	program_start(g->programs.load.host, m->node,
		m->process * host_threads_each(g->programs.load.host), 0, run,
		m);
}

static void exit_start(struct load *l)
{
	struct exits *g = of(l);
	uint32_t rank[MOST_NUMBERS] = { 0 }, k = 0;

	programs_open(&g->programs);
	g->member = mem_alloc(g->n_members, sizeof(*g->member));
	g->of_rank = mem_alloc(g->n_members, sizeof(*g->of_rank));
	g->turn =
		mem_alloc(g->n_members * (uint64_t)g->turns, sizeof(*g->turn));
	for (uint32_t i = 0; i < g->n_members; i++)
		add_member(g, i, rank);
	for (uint32_t j = 0; j < (uint32_t)g->numbers; j++)
		for (uint32_t i = 0; i < g->n_members; i++)
			if (g->member[i].number == j)
				g->of_rank[k++] = i;
}

static void exit_fini(struct load *l)
{
	programs_fini(l);
	mem_free(of(l)->member);
	mem_free(of(l)->of_rank);
	mem_free(of(l)->turn);
}

static uint64_t exit_estimate(const struct load *l)
{
	const struct exits *g = (const struct exits *)l;

	return programs_estimate(l->topo->n_nodes, (uint64_t)g->procs,
		end_of_memory(g) * (uint64_t)g->procs);
}

/* --- results --- */

/* Of a job, all its members'. */
static struct turn sum_of(const struct exits *g, uint32_t number, uint32_t turn)
{
	struct turn sum = { 0 };

	for (uint32_t i = 0; i < g->n_members; i++) {
		const struct turn *t = &g->member[i].turn[turn];

		if (g->member[i].number != number)
			continue;
		sum.sent += t->sent;
		sum.done += t->done;
		sum.refused += t->refused;
		sum.cut += t->cut;
		sum.received += t->received;
		sum.digest = digest_mix(sum.digest + t->digest);
	}
	return sum;
}

static uint64_t dropped(const struct exits *g, uint32_t number, uint32_t turn)
{
	const struct load *l = &g->programs.load;
	uint64_t sum = 0;

	for (site_id s = sim_next_own(l->net->sim, 0); s < l->topo->n_nodes;
		s = sim_next_own(l->net->sim, s + 1))
		sum += swhni_dropped(l->nic, s, SWHNI_JOB(number, turn));
	sim_sum(l->net->sim, &sum, 1);
	return sum;
}

static void exit_report(struct load *l, struct load_result *r)
{
	struct exits *g = of(l);
	uint64_t sent = 0, cut = 0, drops = 0;

	/* a turn is words that only its member's process has set */
	sim_sum(l->net->sim, &g->turn->sent,
		g->n_members * (size_t)g->turns * sizeof(*g->turn) /
			sizeof(g->turn->sent));
	programs_report(&g->programs, r);
	for (uint32_t j = 0; j < (uint32_t)g->numbers; j++)
		for (uint32_t k = 0; k < (uint32_t)g->turns; k++) {
			struct turn t = sum_of(g, j, k);

			sent += t.sent;
			cut += t.cut;
			drops += dropped(g, j, k);
		}
	load_figure(r, "jobs", (double)(g->numbers * g->turns));
	load_figure(r, "exits", (double)(g->numbers * (g->turns - 1)));
	load_figure(r, "messages", (double)sent);
	load_figure(r, "cut_messages", (double)cut);
	load_figure(r, "dropped", (double)drops);
}

static void add_job(
	struct facts *f, const struct exits *g, uint32_t number, uint32_t turn)
{
	struct turn t = sum_of(g, number, turn);

	facts_group(f, NULL);
	facts_count(f, "job", number);
	facts_count(f, "turn", turn);
	facts_count(f, "members", n_of(g, number));
	facts_real(f, "left_us", (double)ends_at(g, number, turn) / (double)US);
	facts_count(f, "sent", t.sent);
	facts_count(f, "done", t.done);
	facts_count(f, "refused", t.refused);
	facts_count(f, "cut", t.cut);
	facts_count(f, "received", t.received);
	facts_count(f, "dropped", dropped(g, number, turn));
	facts_print(f, "digest", "%016llx", (unsigned long long)t.digest);
	facts_end(f);
}

static void exit_facts(const struct load *l, struct facts *f)
{
	const struct exits *g = (const struct exits *)l;

	facts_list(f, "left_jobs");
	for (uint32_t j = 0; j < (uint32_t)g->numbers; j++)
		for (uint32_t k = 0; k < (uint32_t)g->turns; k++)
			add_job(f, g, j, k);
	facts_end(f);
	facts_table(f, "left_jobs",
		">job|>turn|>members|>until={left_us:.2f} us|>sent|>done|"
		">refused|>cut|>received|>dropped|digest",
		TOLD);
}

const struct load_ops load_exit = {
	.name = "exit",
	.help = "reuse of job numbers while old packets are in flight (Sunway)",
	.size = sizeof(struct exits),
	PARAMS(params),
	PROGRAMS_OPS,
	.init = exit_init,
	.start = exit_start,
	.report = exit_report,
	.facts = exit_facts,
	.fini = exit_fini,
	.estimate = exit_estimate,
};
