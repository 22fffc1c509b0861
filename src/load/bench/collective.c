/*
 * A collective, many times back to back, on all nodes.  Every result is
 * checked: the bytes of a broadcast and the elements of a reduction differ from
 * round to round, and no node may leave the last barrier before the last node
 * has entered it.
 *
 * QsNetII's network can broadcast by itself.  Receivers must be ready for it,
 * so each broadcast follows a barrier, whose time is not counted; broadcasts by
 * messages can be measured in the same way, to compare.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "load/bench/collective.h"
#include "load/coll/plan.h"
#include "load/keys.h"
#include "load/registry.h"
#include "weft/msg.h"

#define AT(field) offsetof(struct collective, field)

enum { KINDS = 16, MOST_WORD = 512, MOST_BYTES = 1 << 24 };

static const struct param params[] = {
	KEY_WORD("op", AT(op), "barrier",
		"barrier|broadcast|reduce|allreduce|reducescatter|allgather|"
		"alltoall|alltoallv",
		"operation; reductions are sums of integers, unless by "
		"hardware; those after allreduce need algo"),
	KEY_TEXT("algo", AT(algo), "library",
		"algorithm: ring, tree, doubling, halving, bruck, pairwise, "
		"hierarchical, network (by=hardware), auto (the fastest, as "
		"measured before the rounds) or library (weft/msg.h's own); "
		"see weft-collective(7)"),
	KEY_COUNT("channels", AT(channels), "1", 1, ALGO_CHANNELS,
		"number of parts of the data that an algorithm moves side by "
		"side"),
	KEY(PARAM_BYTES, "chunk", AT(chunk), "auto", 8, 1 << 30, "auto",
		"longest message of an algorithm; auto: by the algorithm, "
		"8 KiB to 512 KiB"),
	KEY(PARAM_COUNT, "unit", AT(unit), "auto", 1, TOPO_MAX_ROUTERS, "auto",
		"number of neighbouring members that are close to each other, "
		"for hierarchical and ring; auto: the ranks of a node, if the "
		"members can be divided so"),
	KEY_TEXT("group", AT(members), "all",
		"ranks that take part, by an algorithm: all, or a list such as "
		"[0..63] or [0..62:2,63]"),
	KEY_FLAG("overlap", AT(overlap), "yes",
		"whether the stages of hierarchical overlap"),
	KEY_TEXT("sizes", AT(sizes), "none",
		"file with source, destination and weight of the blocks of "
		"alltoallv, as for the workload matrix; the rank that sends "
		"most sends bytes"),
	KEY_WORD("by", AT(by), "software", "software|hardware|mpi|domain",
		"implementation; software: messages between nodes; hardware: "
		"the network copies packets and cards combine integers "
		"(QsNetII), or the network combines and copies "
		"packets and bits of barriers (Blue Gene/Q), or interfaces "
		"combine along a tree (Sunway); mpi: messages with the times "
		"of MPI's calls (Sunway); domain: the switch of the one node "
		"adds (domain.sums)"),
	KEY(PARAM_COUNT, "nodes", AT(nodes), "all", 1, TOPO_MAX_ROUTERS, "all",
		"number of nodes that take part, the first ones, by MPI or by "
		"Sunway's hardware"),
	KEY(PARAM_COUNTS, "tree", AT(fan), "0", 0, TOPO_MAX_ROUTERS, NULL,
		"members of a group on each level of the tree, from below, by "
		"Sunway's hardware; 0: by switches"),
	KEY_FLAG("apart", AT(apart), "no",
		"whether a barrier separates the rounds of a broadcast, "
		"without counting its time; always yes with by=hardware"),
	KEY_BYTES("bytes", AT(bench.bytes), "8", 0, INT64_C(1) << 36,
		"length of a rank's data, a multiple of 8 bytes, of which each "
		"rank has a block in reducescatter, allgather and alltoall; 0: "
		"headers alone, by Blue Gene/Q's hardware"),
	KEY_COUNT("rounds", AT(bench.rounds), "10", 1, 1000000,
		"number of back-to-back repetitions"),
	KEY_WARM(AT(bench.warm)),
	KEY(PARAM_COUNT, "root", AT(root), "auto", 0, TOPO_MAX_ROUTERS,
		"rotate|auto",
		"node, or rank if nodes have several processes, that "
		"broadcasts or receives the sum; rotate: each in turn, a round "
		"each; auto: 0, or the first of group if 0 is not in it"),
	KEY_PROCS(AT(bench.procs)),
	KEY_WORD("type", AT(type), "double",
		"double|signed|unsigned|bits|float",
		"type of the words of a reduction, by hardware that combines; "
		"float on Sunway, no double on QsNetII"),
	KEY_WORD("combine", AT(combine), "add", "add|min|max|and|or|xor",
		"operation of a reduction, by hardware that combines"),
	KEY_BYTES("word", AT(word), "8", 4, 512,
		"length of the words of a reduction, by hardware that "
		"combines"),
	KEY(PARAM_COUNTS, "box", AT(shape), "0", 0, TOPO_MAX_ROUTERS, NULL,
		"shape of the box of nodes that take part, by Blue Gene/Q's "
		"hardware; 0: all nodes"),
	KEY(PARAM_COUNTS, "at", AT(at), "0", 0, TOPO_MAX_ROUTERS, NULL,
		"coordinates of the first node of the box"),
	KEY_COUNT("boxes", AT(boxes), "1", 1, 16,
		"number of overlapping boxes, each shifted by one node from "
		"the previous one in every dimension with room; if more than "
		"1, all nodes of all boxes broadcast at once"),
	KEY_TEXT("split", AT(split), "none",
		"dimensions of a tree, such as AB; there is one tree for each "
		"position in the other dimensions"),
	KEY_WORD("channel", AT(channel), "world", "world|sub|system",
		"virtual channel of the collective network; world becomes sub "
		"if not all nodes take part or there are several trees; system "
		"needs as=system"),
	KEY_WORD("as", AT(is_system), "user", "user|system",
		"privilege of the programs; channel=system is refused to "
		"users"),
};

static struct collective *of(const struct bench_end *x)
{
	return (struct collective *)x->bench;
}

uint32_t collective_root(const struct collective *c, int64_t round)
{
	return (uint32_t)(c->root < 0 ? round % c->bench.needs.n_programs
				      : c->root);
}

static bool is_root(const struct bench_end *x, int64_t round)
{
	return x->rank == collective_root(of(x), round);
}

/* --- data: small numbers, whose sums have no end to be rounded --- */

static int64_t base(const struct collective *c, int64_t round, uint64_t i)
{
	return (int64_t)((c->bench.programs.load.seed + (uint64_t)round + i) %
			 (c->is_float ? 50 : 1000));
}

static bool is_bits(const struct collective *c)
{
	return c->arith.op >= COLL_AND;
}

/* Those with one index of KINDS are alike. */
static int64_t value(
	const struct collective *c, int64_t round, uint64_t i, uint32_t index)
{
	int64_t b = base(c, round, i);

	if (is_bits(c))
		return b * KINDS | (index % KINDS);
	return b - 500 * (c->arith.type == COLL_SIGNED) + index % KINDS;
}

/* What all members together make of it. */
static int64_t combined(const struct collective *c, const struct member *m,
	int64_t round, uint64_t i)
{
	uint32_t n = m->count;
	int64_t all = c->arith.op == COLL_ADD ? 0 : value(c, round, i, 0);

	for (uint32_t k = 0; k < KINDS && k < n; k++) {
		int64_t v = value(c, round, i, k);
		uint32_t alike = (n - 1 - k) / KINDS + 1;

		switch (c->arith.op) {
		case COLL_ADD:
			all += v * alike;
			break;
		case COLL_MIN:
			all = v < all ? v : all;
			break;
		case COLL_MAX:
			all = v > all ? v : all;
			break;
		case COLL_AND:
			all &= v;
			break;
		case COLL_OR:
			all |= v;
			break;
		default:
			all = (k ? all : 0) ^ (alike % 2 ? v : 0);
		}
	}
	return all;
}

static void to_word(
	const struct collective *c, int64_t v, uint8_t word[MOST_WORD])
{
	double d = (double)v;
	float f = (float)v;

	memset(word, v < 0 ? 0xff : 0, c->arith.word);
	if (c->is_float)
		memcpy(word, &f, sizeof(f));
	else if (c->arith.type == COLL_DOUBLE)
		memcpy(word, &d, 8);
	else
		memcpy(word, &v, c->arith.word < 8 ? c->arith.word : 8);
}

static uint64_t n_words(const struct collective *c)
{
	return (uint64_t)c->bench.bytes / c->arith.word;
}

void collective_fill(
	const struct bench_end *x, uint64_t at, int64_t round, uint32_t index)
{
	const struct collective *c = of(x);
	uint8_t word[MOST_WORD];

	for (uint64_t i = 0; i < n_words(c); i++) {
		to_word(c, value(c, round, i, index), word);
		bench_write(x, at + i * c->arith.word, word, c->arith.word);
	}
}

static bool is_right(const struct bench_end *x, uint64_t at, int64_t round,
	uint64_t i, int64_t v)
{
	struct collective *c = of(x);
	uint8_t want[MOST_WORD], got[MOST_WORD];

	to_word(c, v, want);
	bench_read(x, at, got, c->arith.word);
	return memcmp(want, got, c->arith.word) == 0 ||
	       programs_complain(&c->bench.programs,
		       "round %" PRId64 ": element %" PRIu64
		       " is not what all members make of it",
		       round, i);
}

bool collective_has(const struct bench_end *x, uint64_t at, int64_t round,
	uint64_t first, uint64_t n, uint32_t index)
{
	const struct collective *c = of(x);
	uint64_t word = c->arith.word, i = first / word;

	for (uint64_t end = i + n / word; i < end; i++, at += word)
		if (!is_right(x, at, round, i,
			    index == COLLECTIVE_SUM
				    ? combined(c, x->data, round, i)
				    : value(c, round, i, index)))
			return false;
	return true;
}

bool collective_is_from(
	const struct bench_end *x, uint64_t at, int64_t round, uint32_t index)
{
	return collective_has(
		x, at, round, 0, (uint64_t)of(x)->bench.bytes, index);
}

/* Among the members; the root may be another process's. */
static uint32_t root_index(const struct collective *c, int64_t round)
{
	uint32_t root = collective_root(c, round);

	return c->tree ? collective_tree_index(&c->bench.ends[root]) : root;
}

bool collective_is_right(const struct bench_end *x, uint64_t at, int64_t round)
{
	const struct collective *c = of(x);

	if (c->op == OP_BARRIER || (c->op == OP_REDUCE && !is_root(x, round)))
		return true;
	return collective_is_from(x, at, round,
		c->op == OP_BROADCAST ? root_index(c, round) : COLLECTIVE_SUM);
}

/* --- the program --- */

/* A broadcast by the network; EIO where the card has given up, which reports
 * why itself. */
static int cast(struct bench_end *x, int64_t round)
{
	const struct bench_cast *c = of(x)->cast;
	struct member *m = x->data;

	if (is_root(x, round))
		c->send(m->own, x->load->net->n_nodes, BENCH_SOURCE,
			(uint64_t)x->bench->bytes);
	return c->await(m->own, BENCH_TARGET, (uint64_t)round + 1) ? 0 : EIO;
}

static int perform(struct bench_end *x, struct weft_msg *m, int64_t round)
{
	const struct collective *c = of(x);
	uint64_t bytes = (uint64_t)c->bench.bytes;
	uint32_t root = collective_root(c, round);

	if (c->cast)
		return cast(x, round);
	switch (c->op) {
	case OP_BARRIER:
		return weft_msg_barrier(m);
	case OP_BROADCAST:
		return weft_msg_broadcast(m, root, BENCH_SOURCE, bytes);
	case OP_REDUCE:
		return weft_msg_reduce(m, root, WEFT_MSG_SUM_INT, BENCH_SOURCE,
			BENCH_TARGET, bytes / 8);
	default:
		return weft_msg_allreduce(m, WEFT_MSG_SUM_INT, BENCH_SOURCE,
			BENCH_TARGET, bytes / 8);
	}
}

void collective_count(const struct bench_end *x, int64_t round)
{
	struct member *m = x->data;

	m->left = program_now();
	if (round < x->bench->warm)
		return;
	m->all_came += m->came;
	m->all_left += m->left;
	m->all_stored += m->stored;
	m->all_done += m->done;
}

static int64_t all_rounds(const struct collective *c)
{
	return c->bench.warm + c->bench.rounds;
}

static bool pass(const struct collective *c, struct member *m)
{
	m->done = 0;
	m->came = m->stored = program_now();
	return c->barrier->enter(m->own) && c->barrier->await(m->own);
}

/*
 * Barriers by the network, of which one goes before those that count.  As with
 * trees, rounds begin at the same time everywhere: programs see the end of a
 * barrier when they look, and if they entered the next one then, its time would
 * depend on when that was.
 */
static void run_barriers(struct bench_end *x)
{
	const struct collective *c = of(x);
	struct member *m = x->data;

	if (!c->barrier->open(x->programs, m->own))
		return;
	if (!pass(c, m))
		return;
	x->start = PROGRAMS_START + c->bench.warm * COLLECTIVE_PERIOD;
	for (int64_t round = 0; round < all_rounds(c); round++) {
		program_wait(PROGRAMS_START + round * COLLECTIVE_PERIOD);
		if (!pass(c, m))
			return;
		collective_count(x, round);
	}
	x->end = program_now();
}

/* The status is read now and then, but has said so from this time on. */
static void barrier_told(
	struct collective *c, site_id s, const struct packet *p, sim_time t)
{
	struct member *m;

	if (!c->barrier->is_over)
		return;
	m = c->bench.ends[s].data;
	if (!m->done && c->barrier->is_over(m->own, p))
		m->done = t;
}

static void run_messages(struct bench_end *x)
{
	struct collective *c = of(x);
	struct member *m = x->data;
	struct weft_msg *msg = bench_messages(x);
	int code;

	if (!bench_open(x) ||
		(c->cast && !c->cast->open(&c->bench.programs, m->own)))
		return;
	for (int64_t round = 0; round < all_rounds(c); round++) {
		if (!round || round == c->bench.warm) {
			weft_msg_barrier(msg);
			bench_count(x);
		}
		if (c->op != OP_BROADCAST || is_root(x, round))
			collective_fill(x, BENCH_SOURCE, round, m->index);
		if (c->cast)
			c->cast->expect(m->own, (uint64_t)c->bench.bytes,
				BENCH_TARGET, (uint64_t)round + 1);
		if (c->apart)
			weft_msg_barrier(msg);
		m->came = program_now();
		code = perform(x, msg, round);
		if ((code == EIO && c->by != BY_DOMAIN) ||
			!programs_did(&c->bench.programs, "collective", code))
			return;
		collective_count(x, round);
		if (!collective_is_right(x,
			    c->op == OP_BROADCAST ? BENCH_SOURCE : BENCH_TARGET,
			    round))
			return;
	}
	x->end = program_now();
}

/* --- the course of a run --- */

/* What to write for messages. */
static const char *by_messages(const struct collective *c)
{
	return c->is_network ? "algo=ring" : "by=software";
}

/* Keys that only some implementations have. */
static int check_own_keys(const struct collective *c, struct err *e)
{
	bool has_shape = c->group && c->group->has_shape;
	bool has_members = c->by == BY_MPI || has_shape;
	bool has_tree = c->fan.n > 1 || c->fan.v[0];

	if (c->by == BY_HARDWARE && !has_shape && c->bench.procs > 1)
		return err_set(e,
			"procs: several processes per node need %s, or one "
			"node with domain.sums",
			by_messages(c));
	if (c->nodes > 0 && !has_members)
		return err_set(e, "nodes: all take part (want by=mpi, or "
				  "hardware of interfaces)");
	if (has_tree && !has_shape)
		return err_set(e, "tree: only where interfaces combine");
	if (c->type == TYPE_FLOAT && !has_shape)
		return err_set(e, "type: float only where interfaces combine");
	if (c->root < 0 && (c->cast || c->tree))
		return err_set(e, "root: this hardware broadcasts from one "
				  "node (want a node)");
	return 0;
}

/* Whether interfaces do it because another one broadcasts each time. */
static bool turns(const struct collective *c, const struct bench_driver *d)
{
	return c->root < 0 && d->group;
}

/* Sums by the switch of the node that has all ranks. */
static int check_domain(const struct collective *c, struct err *e)
{
	const struct load *l = &c->bench.programs.load;

	if (!driver_domain_adds(l))
		return err_set(e, "by: domain needs nodes with a switch that "
				  "adds (want domain.sums)");
	if (c->op != OP_REDUCE && c->op != OP_ALLREDUCE)
		return err_set(e, "op: the switch of a node only adds (want "
				  "op=allreduce or op=reduce)");
	if (load_n_nodes(l) > 1 || c->bench.procs < 2)
		return err_set(e,
			"%s is for processes of one node (want --shape 1 and "
			"procs of 2 or more)",
			c->is_network ? "algo: network" : "by: domain");
	return 0;
}

/* What of the machine does it, where it is not messages. */
static int find_hardware(struct collective *c, struct err *e)
{
	static const char *const what[] = { "barriers", "broadcasts",
		"reductions", "reductions" };
	static const char *const how[] = { "combines bits", "copies packets",
		"combines packets", "combines packets" };
	const struct load *l = &c->bench.programs.load;
	const struct nic_ops *nic = l->nic_ops;
	const struct bench_driver *d = bench_find_driver(nic);
	bool is_copied;

	if (c->boxes > 1 && (c->by != BY_HARDWARE || c->op != OP_BROADCAST ||
				    !d || !d->tree))
		return err_set(e, "boxes: only for op=broadcast by=hardware "
				  "on Blue Gene/Q");
	/* by messages: sums of integers */
	c->arith = (struct coll_arith){ COLL_ADD, COLL_UNSIGNED, 8 };
	if (c->by == BY_HARDWARE && d) {
		c->barrier = c->op == OP_BARRIER ? d->barrier : NULL;
		c->tree = c->op != OP_BARRIER ? d->tree : NULL;
		c->cast = c->op == OP_BROADCAST && !c->tree && !turns(c, d)
				  ? d->cast
				  : NULL;
		c->group = c->barrier || c->cast ? NULL : d->group;
	}
	if (check_own_keys(c, e) || (c->by == BY_DOMAIN && check_domain(c, e)))
		return -1;
	if (c->by != BY_HARDWARE || c->group)
		return 0;
	if (c->tree)
		return collective_tree_check(c, l->topo, e);
	if (!c->barrier && !c->cast)
		return err_set(e,
			"%s: hardware %s need a network that %s, and the "
			"network of the %s does not (want %s)",
			c->is_network ? "algo" : "by", what[c->op], how[c->op],
			nic->title, by_messages(c));
	is_copied = c->cast || (c->barrier && c->barrier->is_copied);
	if (is_copied && !l->route->ops->spread)
		return err_set(e,
			"%s: hardware %s need a fat tree, not "
			"routing.kind %s (want %s)",
			c->is_network ? "algo" : "by", what[c->op],
			l->route->ops->name, by_messages(c));
	c->apart |= c->cast != NULL;
	return 0;
}

static uint32_t n_nodes(const struct collective *c)
{
	return c->nodes < 0 ? load_n_nodes(&c->bench.programs.load)
			    : (uint32_t)c->nodes;
}

static int collective_init(struct load *l, struct err *e)
{
	struct collective *c = (struct collective *)l;
	struct bench_needs n = {
		.n_programs = load_n_nodes(l),
		.memory = BENCH_MEMORY,
		.touched = 2 * (uint64_t)c->bench.bytes,
		.data = sizeof(struct member),
		.results = offsetof(struct member, own),
		.is_msg = true,
		.is_for_all = true,
	};

	if (load_check_node(l, "nodes", c->nodes - 1, e) ||
		collective_algo_init(c, e))
		return -1;
	if (c->root == COLLECTIVE_ROOT_AUTO)
		c->root = 0;
	n.n_programs = n_nodes(c);
	n.is_software = c->by != BY_DOMAIN;
	if (c->root >= n.n_programs * c->bench.procs)
		return err_set(e,
			"root: out of range (want one of the %s 0 to %lld)",
			c->bench.procs > 1 ? "ranks" : "nodes",
			(long long)(n.n_programs * c->bench.procs - 1));
	if (c->by && l->place)
		return err_set(e,
			"%s: hardware collectives are for all nodes (want %s)",
			c->is_network ? "algo" : "by", by_messages(c));
	if (c->bench.bytes > MOST_BYTES && !c->steps)
		return err_set(e,
			"bytes: want at most 16 MiB%s, or an algorithm by "
			"messages (algo=ring)",
			c->is_network ? " with algo=network" : "");
	if (c->bench.bytes % 8 && c->by != BY_HARDWARE)
		return err_set(e, "bytes: want a multiple of 8");
	if ((c->op != OP_BROADCAST || c->root < 0) && c->apart)
		return err_set(e, "apart: only for op=broadcast%s",
			c->root < 0 ? " of one root" : "");
	if (c->channel == BENCH_TREE_SYSTEM && !c->is_system)
		return err_set(e, "channel: user programs may not use "
				  "system (want world or sub, or as=system)");
	if (c->channel != BENCH_TREE_SYSTEM && c->is_system)
		return err_set(e, "as: system is only for channel=system");
	if (programs_need_nic(&c->bench.programs, e) || find_hardware(c, e))
		return -1;
	if (c->steps)
		n.memory = collective_algo_memory(c, &n.touched);
	n.data += c->cast ? c->cast->size : 0;
	n.is_msg = !c->tree;
	if (c->barrier) {
		n.data += c->barrier->size;
		n.is_msg = false;
		n.memory = n.touched = c->barrier->memory;
	}
	if (c->by == BY_MPI || c->group) {
		n.is_msg = false;
		n.has_processes = true;
	}
	if (bench_init(&c->bench, &n, e))
		return -1;
	if (c->steps)
		l->needs.n_programs = collective_algo_members(c);
	if (c->by == BY_MPI)
		return collective_mpi_check(c, e);
	return c->group ? collective_group_check(c, l->topo, e) : 0;
}

static void collective_start(struct load *l)
{
	static const struct bench_program barriers = { .run = run_barriers };
	static const struct bench_program trees = {
		.run = collective_tree_run
	};
	static const struct bench_program messages = { .run = run_messages };
	static const struct bench_program groups = {
		.run = collective_group_run
	};
	static const struct bench_program mpi = { .run = collective_mpi_run };
	struct collective *c = (struct collective *)l;

	if (c->steps)
		collective_algo_start(c);
	else
		bench_start_all(&c->bench, c->barrier	     ? &barriers
					   : c->tree	     ? &trees
					   : c->group	     ? &groups
					   : c->by == BY_MPI ? &mpi
							     : &messages);
	if (c->by == BY_MPI)
		collective_mpi_open(c);
	if (c->group && c->group->start)
		c->group->start(&c->bench, &c->groups);
	for (uint32_t i = 0; i < c->bench.needs.n_programs; i++) {
		struct member *m = c->bench.ends[i].data;

		m->index = i;
		m->count = c->bench.needs.n_programs;
	}
}

static void collective_delivered(
	void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct collective *c = arg;

	if (c->tree)
		collective_tree_delivered(c, s, t);
	if (c->barrier)
		barrier_told(c, s, p, t);
	programs_delivered(arg, s, p, t);
}

/* The latest times of all members, as sums over the rounds. */
struct latest {
	sim_time came, left, done;
};

static struct latest find_latest(const struct collective *c)
{
	struct latest x = { 0 };

	for (uint32_t i = 0; i < c->bench.needs.n_programs; i++) {
		const struct member *m = c->bench.ends[i].data;

		x.came = m->all_came > x.came ? m->all_came : x.came;
		x.left = m->all_left > x.left ? m->all_left : x.left;
		x.done = m->all_done > x.done ? m->all_done : x.done;
	}
	return x;
}

/* The time of all rounds that count; after others, which no barrier separates
 * from them, from the time at which those are over everywhere. */
static sim_time rounds_took(const struct collective *c)
{
	const struct bench *b = &c->bench;
	sim_time start = 0, end = 0;

	if (!b->warm || b->needs.is_msg)
		return bench_time(b);
	for (uint32_t i = 0; i < b->needs.n_programs; i++) {
		const struct bench_end *x = &b->ends[i];

		start = x->end && x->start > start ? x->start : start;
		end = x->end > end ? x->end : end;
	}
	return end - start;
}

/* Of messages: all rounds or, where the rounds of a broadcast are apart, from
 * the root's call until the node for which it takes longest has the bytes. */
static sim_time time_taken(const struct collective *c)
{
	const struct member *root = c->bench.ends[collective_root(c, 0)].data;

	return c->apart ? find_latest(c).left - root->all_came : rounds_took(c);
}

/* Of barriers by the network: from when the last node enters until the last
 * one's program has seen the end, and until its register has said so. */
static void report_barriers(const struct collective *c, struct load_result *r)
{
	double rounds = (double)c->bench.rounds * SIM_NS;
	struct latest x = find_latest(c);

	load_figure(r, "time_ns", (double)(x.left - x.came) / rounds);
	if (c->barrier->is_over)
		load_figure(
			r, "hardware_ns", (double)(x.done - x.came) / rounds);
}

static void collective_report(struct load *l, struct load_result *r)
{
	struct collective *c = (struct collective *)l;
	bool is_done = bench_report(&c->bench, r);

	if (c->steps)
		collective_algo_share(c);
	r->via = c->cast || c->tree || c->barrier || c->group ? "nic" : "msg";
	if (is_done && c->tree)
		collective_tree_report(c, r);
	else if (is_done && c->barrier)
		report_barriers(c, r);
	else if (is_done)
		load_figure(r, "time_ns",
			(double)time_taken(c) / SIM_NS /
				(double)c->bench.rounds);
	if (is_done && (collective_algo_is_named(c) || c->by == BY_DOMAIN))
		collective_algo_report(c, r->figure[0].value, r);
}

static void collective_facts(const struct load *l, struct facts *f)
{
	collective_algo_facts((const struct collective *)l, f);
}

static int collective_check(struct load *l, struct err *e)
{
	struct collective *c = (struct collective *)l;
	sim_time came = 0, left = SIM_NEVER;

	if (programs_check(l, e))
		return -1;
	for (uint32_t i = 0; i < c->bench.needs.n_programs; i++) {
		const struct member *m = c->bench.ends[i].data;

		if (!m->left)
			continue;
		came = m->came > came ? m->came : came;
		left = m->left < left ? m->left : left;
	}
	if ((c->op == OP_BARRIER || c->op == OP_ALLREDUCE) &&
		(c->bench.bytes || c->tree || c->group) && !c->split_dims &&
		!host_n_dead(l->host) && left < came)
		return err_set_code(e, EXIT_INTERNAL,
			"a node left the barrier before the last node had "
			"entered it");
	return 0;
}

static void collective_fini(struct load *l)
{
	collective_mpi_close((struct collective *)l);
	collective_algo_close((struct collective *)l);
	bench_fini(l);
}

const struct load_ops load_collective = {
	.name = "collective",
	.can_share = true,
	.help = "a barrier, broadcast, reduction or exchange of all ranks",
	.size = sizeof(struct collective),
	PARAMS(params),
	.init = collective_init,
	.start = collective_start,
	.report = collective_report,
	.facts = collective_facts,
	.fini = collective_fini,
	.estimate = bench_estimate,
	.message = collective_algo_message,
	.on_delivered = collective_delivered,
	.next = programs_next,
	.check = collective_check,
};
