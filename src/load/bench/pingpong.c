/*
 * Ping-pong between two nodes: a packet of the network goes back and forth, or
 * messages of programs, each of which receives the other's message, looks at it
 * and sends its own.  Each message has other bytes.
 *
 * crossover   Which of a network interface's two means is faster?  A message of
 *             every size from the least to the most goes back and forth, first
 *             by the one, then by the other: on QsNetII in short packets that
 *             the core writes, and by the DMA engine.  From some size on the
 *             second always is.  That size is the crossover; it is looked for
 *             among what was measured, and known nowhere else.
 */
#include <stdio.h>
#include <string.h>

#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct pingpong, field)

enum {
	WORD = sizeof(uint64_t),
	MOST_MEANS = 2,
	MOST_BYTES = 4 << 20, /* of crossover */
	MOST_ROWS = 20,
};

struct pingpong {
	struct bench bench; /* used by programs only */
	/* keys */
	int64_t routing;
	int64_t posted, early; /* of receives */
	int64_t min, max, step; /* crossover's */
	char between[PARAM_TEXT_MAX];

	/* via=net; only the node that has the packet touches these, which it
	 * knows from the packet: the other one may be another process's */
	uint8_t kind;
	int64_t flights; /* done */
	sim_time last;
	struct hist latency;

	/* by programs: each size, by each of these means */
	uint64_t first; /* number of the first message */
	uint32_t means[MOST_MEANS], n_means, n_sizes;
	char name[MOST_ROWS][MOST_MEANS][24]; /* of figures */
};

static const struct param params[] = {
	KEY_PAIR(pingpong),
	KEY_BYTES("bytes", AT(bench.bytes), "8", 0, 64 << 20,
		"payload of a message, or of the packet with via=net"),
	KEY_COUNT("rounds", AT(bench.rounds), "1000", 1, 1000000000,
		"number of round trips"),
	KEY_WARM(AT(bench.warm)),
	KEY_COUNT("posted", AT(posted), "0", 0, 4096,
		"number of receives of each program in front of the others "
		"that match no message, for means whose messages are matched"),
	KEY(PARAM_TIME, "early", AT(early), "0 ns", 0, PS_PER_S, NULL,
		"time by which each receive is posted later than it could be, "
		"for the same means"),
	KEY_WORD("via", AT(bench.via), "net", "net|nic|msg|endpoint",
		"layer; net: a packet, timed from its injection to the arrival "
		"of its tail; nic: a transfer by the network interface, timed "
		"from program to program; msg: sends and receives of "
		"weft/msg.h, on any machine; endpoint: messages as ranks of "
		"MPI programs send them"),
	KEY_BY(AT(bench.by)),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
	KEY_ROUTING(AT(routing), "deterministic"),
	KEY_PORT(AT(bench.port)),
	KEY_CPU(AT(bench.cpu)),
};

static const struct param crossover_params[] = {
	KEY_PAIR(pingpong),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
	KEY_TEXT("between", AT(between), "auto",
		"two transfer methods, separated by a comma; auto: the network "
		"interface's first two"),
	KEY_BYTES("min", AT(min), "8", 8, MOST_BYTES, "smallest size"),
	KEY_BYTES("max", AT(max), "4 KiB", 8, MOST_BYTES, "largest size"),
	KEY_BYTES("step", AT(step), "8", 8, MOST_BYTES,
		"step from one size to the next"),
	KEY_COUNT("rounds", AT(bench.rounds), "10", 1, 10000,
		"number of round trips for each size"),
};

static struct pingpong *of(struct load *l)
{
	return (struct pingpong *)l;
}

/* --- a packet --- */

/* The node's turn: it sends a packet to the other one. */
static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct net *n = me->net;
	struct pingpong *g = me->state;
	packet_id id = packet_take(n->pool, w->id);

	n->packets[id] = (struct packet){
		.src = s,
		.dst = (site_id)(s == (site_id)g->bench.from ? g->bench.to
							     : g->bench.from),
		.number = e.data,
		.born = t,
		.kind = g->kind,
		.bytes = (uint16_t)g->bench.bytes,
	};
	net_inject(n, w, s, load_find_fifo(n, s, id, 0), id, t);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct pingpong *g = me->state;
	const struct packet *p = &n->packets[id];

	(void)fifo;
	(void)t;
	load_delivered(&g->bench.programs.load, s, p, tail);
	hist_add(&g->latency, tail - p->born);
	load_count_latency(&g->bench.programs.load, w->id, tail - p->born);
	g->last = tail;
	g->flights = (int64_t)p->number + 1;
	packet_give(n->pool, w->id, id);
	if (g->flights < 2 * g->bench.rounds)
		sim_post_self(w, s, tail, LOAD_EVENT, 0, (uint32_t)g->flights);
}

static const struct net_client_ops client = {
	.on_room = load_ignore_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

static void packet_start(struct load *l)
{
	load_wake(l, (site_id)of(l)->bench.from, 0, 0);
}

/* Of several processes: what the one knows that has the packet. */
static void share_flights(struct pingpong *g)
{
	uint64_t x[] = { (uint64_t)g->flights, (uint64_t)g->last };

	sim_max(g->bench.programs.load.net->sim, x, 2);
	g->flights = (int64_t)x[0];
	g->last = (sim_time)x[1];
}

static sim_time packet_next(struct load *l)
{
	struct pingpong *g = of(l);

	share_flights(g);
	if (g->flights == 2 * g->bench.rounds)
		return SIM_NEVER;
	return sim_now(l->net->sim) + 1000000 * (sim_time)SIM_NS;
}

static void packet_report(struct load *l, struct load_result *r)
{
	struct pingpong *g = of(l);

	share_flights(g);
	r->end = g->last;
	hist_merge(&r->latency, &g->latency);
	load_share_hist(l, &r->latency);
	if (!g->flights)
		return;
	load_figure(
		r, "one_way_ns", (double)g->last / (double)g->flights / SIM_NS);
}

/* --- messages there and back --- */

/* Where a message's last word is, which is its number, so that a program can
 * wait for it; short ones have none. */
static uint64_t end_of(uint64_t bytes)
{
	return bytes < WORD ? bytes : bytes - WORD;
}

/* Whether the end of a message is seen by a counter. */
static bool counts(const struct bench_end *x)
{
	return !bench_tagged(x) && !(x->driver->is & BENCH_HAS_MESSAGES) &&
	       !x->driver->wait_word;
}

static void expect(struct bench_end *x, uint64_t bytes)
{
	if (counts(x))
		x->driver->expect(x, 0, bytes);
}

/* The receive of the next message is posted while the last one is under way, or
 * later, so that the message comes early. */
static bool post(struct bench_end *x, uint64_t bytes)
{
	const struct pingpong *g = (struct pingpong *)x->bench;

	if (!bench_tagged(x))
		return true;
	if (g->early)
		program_charge(g->early);
	return bench_tagged(x)->post(x, x->peer, BENCH_TARGET, bytes);
}

/* Before the first message. */
static bool post_first(struct bench_end *x, uint64_t bytes)
{
	return x->begins || post(x, bytes);
}

static bool obstruct(struct bench_end *x)
{
	const struct pingpong *g = (struct pingpong *)x->bench;

	return !g->posted ||
	       bench_tagged(x)->obstruct(x, x->peer, (uint32_t)g->posted);
}

static void send(
	struct bench_end *x, uint64_t number, uint64_t bytes, uint32_t means)
{
	struct bench_transfer p = bench_transfer(x, x->peer, bytes);
	uint64_t end = end_of(bytes);

	bench_make(x, number, BENCH_SOURCE, end);
	if (end < bytes)
		bench_write(x, BENCH_SOURCE + end, &number, WORD);
	p.means = means;
	if (x->driver->wait_word)
		p.counter = BENCH_NONE;
	if (bench_tagged(x))
		bench_tagged(x)->send(x, x->peer, p.from, bytes);
	else if (x->driver->is & BENCH_HAS_MESSAGES)
		x->driver->send(x, x->peer, bytes);
	else
		x->driver->put(x, &p);
}

/* Where faults make packets come again, the last one need not be the last: the
 * last word of each is waited for, or all words if they do not end with one. */
static bool wait_packets(struct bench_end *x, uint64_t number, uint64_t bytes)
{
	uint64_t word, most = x->driver->packet(x->bench);

	most = most % WORD ? WORD : most;
	for (uint64_t i = most - WORD; i < end_of(bytes); i += most) {
		memory_fill_by(
			x->load->seed, number, i, (uint8_t *)&word, WORD);
		if (!x->driver->wait_word(x, BENCH_TARGET + i, word))
			return false;
	}
	return true;
}

static bool wait_message(struct bench_end *x, uint64_t number, uint64_t bytes)
{
	if (bench_tagged(x))
		return bench_tagged(x)->await(x);
	if (x->driver->is & BENCH_HAS_MESSAGES)
		return x->driver->receive(x, x->peer, bytes);
	if (!x->driver->wait_word)
		return x->driver->await(x, 0);
	return x->driver->wait_word(x, BENCH_TARGET + end_of(bytes), number) &&
	       (!x->load->net->faults || wait_packets(x, number, bytes));
}

static bool receive(struct bench_end *x, uint64_t number, uint64_t bytes)
{
	uint64_t last = number, end = end_of(bytes);

	if (!wait_message(x, number, bytes))
		return false;
	x->end = program_now();
	if (end < bytes)
		bench_read(x, BENCH_TARGET + end, &last, WORD);
	return bench_check(x, number, BENCH_TARGET, end) &&
	       (last == number || programs_complain(x->programs,
					  "message %llu: its last word is %llu",
					  (unsigned long long)number,
					  (unsigned long long)last));
}

/* The message of a number there, and the next one back; next is how long the
 * following one is. */
static bool rally(struct bench_end *x, uint64_t number, uint64_t bytes,
	uint64_t next, uint32_t means)
{
	if (x->driver->means[means].drawn) {
		if (!x->begins)
			expect(x, next);
		program_charge(
			2 * x->driver->means[means].drawn(x->bench, bytes));
		x->end = program_now();
		return true;
	}
	if (!x->begins && !receive(x, number, bytes))
		return false;
	expect(x, x->begins ? bytes : next);
	send(x, number + !x->begins, bytes, means);
	if (!post(x, x->begins ? bytes : next))
		return false;
	return !x->begins || receive(x, number + 1, bytes);
}

static uint64_t size_of(const struct pingpong *g, uint64_t i)
{
	return (uint64_t)(g->min + (int64_t)i * g->step);
}

/* Of message k of a side; beyond the last one, the last one's. */
static uint64_t size_at(const struct pingpong *g, uint64_t k)
{
	uint64_t i = k / (g->n_means * (uint64_t)g->bench.rounds);

	return size_of(g, i < g->n_sizes ? i : g->n_sizes - UINT64_C(1));
}

static bool prepare(struct bench_end *x)
{
	const struct pingpong *g = (struct pingpong *)x->bench;
	uint64_t bytes = size_at(g, 0);

	expect(x, bytes);
	return obstruct(x) && (g->early || post_first(x, bytes));
}

/* Rounds of one size by one of the means, from message k on. */
static bool play_rounds(
	struct bench_end *x, uint64_t k, int64_t rounds, uint32_t means)
{
	const struct pingpong *g = (struct pingpong *)x->bench;
	uint64_t end = k + (uint64_t)rounds;

	for (; k < end; k++)
		if (!rally(x, g->first + 2 * k, size_at(g, k),
			    size_at(g, k + 1), means))
			return false;
	return true;
}

/* The time of all rounds of a size, by one of the means. */
static sim_time *took(const struct bench_end *x, uint32_t size, uint32_t m)
{
	return (sim_time *)x->data + size * MOST_MEANS + m;
}

static bool play(struct bench_end *x)
{
	struct pingpong *g = (struct pingpong *)x->bench;
	int64_t rounds = g->bench.rounds;
	uint64_t k = (uint64_t)g->bench.warm;

	if (g->early && !post_first(x, size_at(g, 0)))
		return false;
	if (!play_rounds(x, 0, g->bench.warm, g->means[0]))
		return false;
	for (uint32_t i = 0; i < g->n_sizes; i++)
		for (uint32_t m = 0; m < g->n_means; m++) {
			bench_count(x);
			if (!play_rounds(x, k, rounds, g->means[m]))
				return false;
			k += (uint64_t)rounds;
			*took(x, i, m) = x->end - x->start;
		}
	return true;
}

static const struct bench_program program = {
	.prepare = prepare,
	.transfer = play,
};

static void pair_start(struct load *l)
{
	struct pingpong *g = of(l);

	g->bench.needs.data = g->n_sizes * MOST_MEANS * sizeof(sim_time);
	g->bench.needs.results = g->bench.needs.data;
	bench_start_pair(&g->bench, &program, &program);
}

/* --- pingpong --- */

static int pair_init(struct load *l, struct err *e)
{
	struct pingpong *g = of(l);
	struct bench *b = &g->bench;
	struct bench_needs n = {
		.memory = BENCH_MEMORY,
		.touched = 2 * (uint64_t)b->bytes,
		.routing = g->routing,
		.is_msg = b->via >= 2,
		.is_endpoint = b->via == 3,
		.draws = true,
		.has_port = true,
		.has_receives = true,
	};

	b->programs.expected = 2 * bench_rounds(b);
	if (bench_init(b, &n, e))
		return -1;
	if (!b->bytes && !(b->driver->is & BENCH_HAS_MESSAGES) &&
		!b->driver->means[b->means].is_tagged)
		return err_set(e,
			"bytes: 0 is out of range, because the receiver could "
			"not see the put arrive (want at least 1)");
	if (b->warm && b->driver->means[b->means].drawn)
		return err_set(e, "warm: a calculated curve has no rounds "
				  "that differ");
	if ((g->posted || g->early) && !b->driver->means[b->means].is_tagged)
		return err_set(e,
			"%s: has no effect, because by=%s has no "
			"receives; by=match has",
			g->posted ? "posted" : "early",
			b->driver->means[b->means].name);
	/* nobody has to set anything before the first message comes */
	b->needs.is_early =
		b->driver->is & BENCH_HAS_MESSAGES || b->driver->wait_word;
	g->min = b->bytes;
	g->means[0] = b->means;
	g->n_sizes = g->n_means = 1;
	g->first = 2;
	return 0;
}

static void pair_report(struct load *l, struct load_result *r)
{
	struct pingpong *g = of(l);
	struct bench *b = &g->bench;
	double ns;

	if (!bench_report(b, r))
		return;
	ns = (double)*took(b->ends, 0, 0) / SIM_NS / 2 / (double)b->rounds;
	if (b->looks->report)
		b->looks->report(b, r);
	load_figure(r, "one_way_ns", ns);
	if (b->bytes)
		load_figure(r, "rate_GBps", (double)b->bytes / ns);
	if (b->looks->software)
		load_figure(r, "hardware_ns",
			ns - (double)b->looks->software(b) / SIM_NS);
}

/* What init() changes to where programs play. */
static const struct load_ops load_pingpong_programs = {
	.name = "pingpong",
	.can_share = true,
	BENCH_OPS,
	.init = pair_init,
	.start = pair_start,
	.report = pair_report,
};

static int pingpong_init(struct load *l, struct err *e)
{
	struct pingpong *g = of(l);

	if (load_check_node(l, "from", g->bench.from, e) ||
		load_check_node(l, "to", g->bench.to, e))
		return -1;
	if (g->bench.from == g->bench.to)
		return err_set(e, "from and to are the same node");
	if (g->bench.via) {
		l->ops = &load_pingpong_programs;
		return l->ops->init(l, e);
	}
	if (g->bench.bytes > l->link->payload)
		return err_set(e,
			"bytes: %lld is more than a packet carries (want at "
			"most %lld, or via=msg)",
			(long long)g->bench.bytes, (long long)l->link->payload);
	g->kind = load_kind(0, g->routing);
	return 0;
}

const struct load_ops load_pingpong = {
	.name = "pingpong",
	.help = "a packet or message goes back and forth between two nodes",
	.size = sizeof(struct pingpong),
	PARAMS(params),
	.client = &client,
	.init = pingpong_init,
	.start = packet_start,
	.next = packet_next,
	.report = packet_report,
};

/* --- crossover --- */

static int set_means(struct pingpong *c, struct err *e)
{
	const struct bench_driver *d = c->bench.driver;
	size_t n = strcspn(c->between, ",");
	const char *second = c->between + n + (c->between[n] == ',');
	uint32_t *m = c->means;

	m[0] = 1;
	m[1] = 2;
	if (!strcmp(c->between, "auto"))
		return 0;
	m[0] = bench_find_means(d, c->between, n);
	m[1] = bench_find_means(d, second, strlen(second));
	/* not the driver's own choice, and two that exist */
	return m[0] && m[1] && m[0] != m[1] && d->means[m[0]].name &&
			       d->means[m[1]].name &&
			       !d->means[m[0]].is_alone &&
			       !d->means[m[1]].is_alone
		       ? 0
		       : err_set(e,
				 "between: \"%.60s\" does not name two "
				 "transfer methods of the %s (want for example "
				 "%s,%s)",
				 c->between,
				 c->bench.programs.load.nic_ops->title,
				 d->means[1].name, d->means[2].name);
}

static int crossover_init(struct load *l, struct err *e)
{
	struct pingpong *c = of(l);
	struct bench_needs n = { .memory = BENCH_MEMORY, .draws = true };

	if (bench_init(&c->bench, &n, e) ||
		bench_check_bytes(&c->bench, "min", c->min, e) ||
		bench_check_bytes(&c->bench, "step", c->step, e))
		return -1;
	if (!c->bench.driver->means[1].name || !c->bench.driver->means[2].name)
		return err_set(e,
			"crossover: compares two transfer methods, but the %s "
			"has only one",
			l->nic_ops->title);
	if (set_means(c, e))
		return -1;
	if (c->min > c->max)
		return err_set(e, "min: larger than max");
	c->n_sizes = (uint32_t)((c->max - c->min) / c->step + 1);
	c->n_means = MOST_MEANS;
	c->first = 1;
	return 0;
}

/* One way, to the picosecond. */
static sim_time latency(const struct pingpong *c, uint32_t i, uint32_t m)
{
	return *took(c->bench.ends, i, m) / (2 * c->bench.rounds);
}

static bool is_second_faster(const struct pingpong *c, uint32_t i)
{
	return latency(c, i, 1) < latency(c, i, 0);
}

/* The latencies of sizes that are powers of two. */
static void report_table(struct pingpong *c, struct load_result *r)
{
	const struct bench_driver *d = c->bench.driver;
	uint32_t row = 0;

	for (uint32_t i = 0; i < c->n_sizes && row < MOST_ROWS; i++) {
		uint64_t bytes = size_of(c, i);

		if (bytes & (bytes - 1))
			continue;
		for (uint32_t m = 0; m < MOST_MEANS; m++) {
			const struct bench_means *by = &d->means[c->means[m]];
			char *name = c->name[row][m];

			snprintf(name, sizeof(c->name[row][m]), "%s_%lluB_ns",
				by->label ? by->label : by->name,
				(unsigned long long)bytes);
			load_figure(r, name, (double)latency(c, i, m) / SIM_NS);
		}
		row++;
	}
}

static void crossover_report(struct load *l, struct load_result *r)
{
	struct pingpong *c = of(l);
	uint32_t first = c->n_sizes, always = c->n_sizes;

	if (!bench_report(&c->bench, r))
		return;
	for (uint32_t i = c->n_sizes; i-- && is_second_faster(c, i);)
		always = i;
	for (uint32_t i = c->n_sizes; i--;)
		if (is_second_faster(c, i))
			first = i;
	if (first < c->n_sizes)
		load_figure(r, "first_B", (double)size_of(c, first));
	if (always < c->n_sizes)
		load_figure(r, "crossover_B", (double)size_of(c, always));
	report_table(c, r);
}

const struct load_ops load_crossover = {
	.name = "crossover",
	.help = "size from which one transfer method is faster than another",
	.size = sizeof(struct pingpong),
	PARAMS(crossover_params),
	.init = crossover_init,
	.start = pair_start,
	.report = crossover_report,
	BENCH_OPS,
};
