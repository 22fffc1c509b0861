/*
 * Every algorithm does every operation that it claims, for any number of
 * members, length, chunk and channels: members are played in a random order,
 * with messages whose bytes are read as late as they may be, and compared with
 * a plain loop.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "load/coll/play.h"
#include "testing/testing.h"

enum { MOST_SLOTS = 8 * ALGO_LANES * PLAY_WINDOW };

struct message {
	bool is_used, is_over, is_send;
	uint32_t lane, peer;
	uint64_t at, bytes, number;
};

struct who {
	struct world *world;
	struct play play;
	uint8_t *data;
	struct message slot[MOST_SLOTS];
	uint64_t n_begun;
};

struct world {
	struct algo_plan plan;
	struct who *who;
	uint64_t random;
};

static uint64_t draw(struct world *w)
{
	w->random = w->random * UINT64_C(6364136223846793005) + 1442695041;
	return w->random >> 33;
}

/* --- messages --- */

static int begin(struct who *x, uint32_t slot, uint32_t lane, bool is_send,
	const struct algo_step *s)
{
	assert_true(slot < MOST_SLOTS && !x->slot[slot].is_used);
	assert_true(s->peer < x->world->plan.n && s->peer != x->play.member);
	x->slot[slot] = (struct message){
		.is_used = true,
		.is_send = is_send,
		.lane = algo_tag(lane),
		.peer = s->peer,
		.at = s->kind == ALGO_ADD ? s->to : s->at,
		.bytes = s->bytes,
		.number = x->n_begun++,
	};
	assert_true(x->slot[slot].at + s->bytes <= algo_space(&x->world->plan));
	return 0;
}

static int test_send(
	void *arg, uint32_t slot, uint32_t lane, const struct algo_step *s)
{
	return begin(arg, slot, lane, true, s);
}

static int test_receive(
	void *arg, uint32_t slot, uint32_t lane, const struct algo_step *s)
{
	return begin(arg, slot, lane, false, s);
}

static bool test_is_over(void *arg, uint32_t slot, int *error)
{
	struct who *x = arg;

	(void)error;
	if (!x->slot[slot].is_over)
		return false;
	x->slot[slot].is_used = false;
	return true;
}

static void test_add(void *arg, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct who *x = arg;

	for (uint64_t i = 0; i < bytes; i++)
		x->data[to + i] =
			(uint8_t)(x->data[to + i] + x->data[from + i]);
}

static void test_copy(void *arg, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct who *x = arg;

	memmove(x->data + to, x->data + from, bytes);
}

static const struct play_ops ops = {
	.send = test_send,
	.receive = test_receive,
	.is_over = test_is_over,
	.add = test_add,
	.copy = test_copy,
};

/* The oldest with a peer in a lane. */
static struct message *oldest(
	struct who *x, uint32_t peer, uint32_t lane, bool is_send)
{
	struct message *best = NULL;

	for (uint32_t i = 0; i < play_slots(&x->world->plan); i++) {
		struct message *m = &x->slot[i];

		if (m->is_used && !m->is_over && m->peer == peer &&
			m->lane == lane && m->is_send == is_send &&
			(!best || m->number < best->number))
			best = m;
	}
	return best;
}

/* One message at most of a member reaches its receive. */
static bool deliver(struct world *w, uint32_t member)
{
	struct who *x = &w->who[member], *y;
	uint32_t slots = play_slots(&w->plan);
	uint32_t from = (uint32_t)(draw(w) % slots);

	for (uint32_t k = 0; k < slots; k++) {
		struct message *s = &x->slot[(from + k) % slots], *r;

		if (!s->is_used || s->is_over || !s->is_send ||
			oldest(x, s->peer, s->lane, true) != s)
			continue;
		y = &w->who[s->peer];
		r = oldest(y, member, s->lane, false);
		if (!r)
			continue;
		assert_int_equal(r->bytes, s->bytes);
		memcpy(y->data + r->at, x->data + s->at, s->bytes);
		r->is_over = s->is_over = true;
		return true;
	}
	return false;
}

/* --- data --- */

static uint8_t byte_of(uint32_t member, uint64_t i)
{
	return (uint8_t)(member * 37 + i * 11 + i / 251 + 1);
}

static uint8_t sum_of(uint32_t n, uint64_t i)
{
	uint8_t sum = 0;

	for (uint32_t m = 0; m < n; m++)
		sum = (uint8_t)(sum + byte_of(m, i));
	return sum;
}

static void fill(struct world *w, uint32_t m)
{
	const struct algo_plan *p = &w->plan;
	struct algo_span own = algo_block(p, algo_data(p), m);

	memset(w->who[m].data, 0xee, algo_space(p) + 1);
	for (uint64_t i = 0; i < p->bytes; i++)
		if ((p->op != ALGO_BROADCAST || m == p->root) &&
			(p->op != ALGO_ALLGATHER ||
				(i >= own.at && i < own.at + own.bytes)))
			w->who[m].data[i] = byte_of(m, i);
}

static uint32_t owner_of(const struct algo_plan *p, uint64_t i)
{
	for (uint32_t m = 0;; m++) {
		struct algo_span s = algo_block(p, algo_data(p), m);

		if (i < s.at + s.bytes)
			return m;
	}
}

static void check_moved(struct world *w, uint32_t m)
{
	const struct algo_plan *p = &w->plan;
	uint64_t row = p->n + UINT64_C(1);

	for (uint32_t from = 0; from < p->n; from++) {
		struct algo_span s = algo_block(p, algo_data(p), m);
		struct algo_span to = algo_block(p, algo_data(p), from);

		if (p->op == ALGO_ALLTOALLV) {
			s.at = p->blocks.from[from * row + m];
			s.bytes = p->blocks.from[from * row + m + 1] - s.at;
			to.at = p->blocks.to[m * row + from];
		}
		for (uint64_t i = 0; i < s.bytes && i < to.bytes; i++)
			assert_int_equal(w->who[m].data[p->bytes + to.at + i],
				byte_of(from, s.at + i));
	}
}

static void check(struct world *w, uint32_t m)
{
	const struct algo_plan *p = &w->plan;
	const uint8_t *data = w->who[m].data;

	if (p->op >= ALGO_ALLTOALL) {
		check_moved(w, m);
		return;
	}
	for (uint64_t i = 0; i < p->bytes; i++) {
		uint32_t owner = owner_of(p, i);
		uint8_t want = sum_of(p->n, i);

		if ((p->op == ALGO_REDUCE && m != p->root) ||
			(p->op == ALGO_REDUCESCATTER && owner != m))
			continue;
		if (p->op == ALGO_BROADCAST)
			want = byte_of(p->root, i);
		else if (p->op == ALGO_ALLGATHER)
			want = byte_of(owner, i);
		if (data[i] != want)
			fail_msg("%s %s n=%u bytes=%llu channels=%u chunk=%llu "
				 "unit=%u root=%u: member %u byte %llu",
				p->algo->name, algo_op_names[p->op], p->n,
				(unsigned long long)p->bytes, p->channels,
				(unsigned long long)p->chunk, p->unit, p->root,
				m, (unsigned long long)i);
	}
}

/* --- runs --- */

/* In random order, until a round of all changes nothing. */
static void play_all(struct world *w)
{
	uint32_t n = w->plan.n;
	bool did = true;

	while (did) {
		for (uint32_t k = 0; k < 4 * n; k++) {
			uint32_t m = (uint32_t)(draw(w) % n);

			if (draw(w) % 2)
				deliver(w, m);
			else
				play_go_on(&w->who[m].play);
		}
		did = false;
		for (uint32_t m = 0; m < n && !did; m++)
			did = deliver(w, m) || play_go_on(&w->who[m].play);
	}
}

static void run(const struct algo_plan *plan, uint32_t window)
{
	struct world w = { .plan = *plan, .random = plan->n * 77 + window };
	struct err e = { 0 };
	uint32_t m;

	if (algo_settle(&w.plan, &e))
		return;
	w.who = mem_alloc(w.plan.n, sizeof(*w.who));
	for (m = 0; m < w.plan.n; m++) {
		w.who[m].world = &w;
		w.who[m].data = mem_alloc(1, algo_space(&w.plan) + 1);
		fill(&w, m);
		play_open(&w.who[m].play, &w.plan, m, window, &ops, &w.who[m]);
	}
	play_all(&w);
	for (m = 0; m < w.plan.n; m++) {
		if (!play_is_over(&w.who[m].play))
			fail_msg("%s %s n=%u bytes=%llu channels=%u window=%u: "
				 "member %u hangs",
				w.plan.algo->name, algo_op_names[w.plan.op],
				w.plan.n, (unsigned long long)w.plan.bytes,
				w.plan.channels, window, m);
		check(&w, m);
		play_close(&w.who[m].play);
		mem_free(w.who[m].data);
	}
	mem_free(w.who);
}

static void run_lengths(struct algo_plan p)
{
	static const uint64_t bytes[] = { 0, 8, 264, 520, 768, 840 };
	static const uint64_t chunks[] = { 16, 200, 4096 };

	for (uint32_t b = 0; b < 6; b++)
		for (uint32_t c = 0; c < 3; c++) {
			p.bytes = bytes[b];
			p.chunk = chunks[c];
			p.is_apart = c == 1;
			p.channels = 1 + c;
			run(&p, 2 + 7 * (c % 2));
			p.channels = 1;
			if (p.is_apart && p.algo->has_unit)
				run(&p, 2);
		}
}

static void run_members(const struct algo *a, enum algo_op op)
{
	static const uint32_t members[] = { 1, 2, 3, 4, 5, 8, 11, 12 };

	for (uint32_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		for (uint32_t unit = 1; unit <= (a->has_unit ? 4u : 1u); unit++)
			run_lengths((struct algo_plan){
				.algo = a,
				.op = op,
				.n = members[i],
				.root = members[i] * 2 / 3,
				.unit = unit,
				.grain = 8,
			});
}

/* NET-F32, COL-F1, COL-F2, COL-F3, COL-F4, COL-F5, COL-F6, COL-F7, COL-F8 */
static void every_algorithm_does_what_it_claims(void **state)
{
	uint32_t n = 0;

	for (uint32_t i = 0; algo_registry[i]; i++)
		for (enum algo_op op = 0; op < ALGO_ALLTOALLV; op++)
			if (algo_has(algo_registry[i], op)) {
				run_members(algo_registry[i], op);
				n++;
			}
	assert_int_equal(n, 22);
}

/* COL-F6 */
static void blocks_of_several_lengths_are_exchanged(void **state)
{
	enum { N = 5 };
	uint64_t from[N * (N + 1)], to[N * (N + 1)];
	struct algo_plan p = {
		.algo = &algo_pairwise,
		.op = ALGO_ALLTOALLV,
		.n = N,
		.bytes = 400,
		.blocks = { from, to },
	};

	for (uint32_t a = 0; a < N; a++) {
		from[a * (N + 1)] = to[a * (N + 1)] = 0;
		for (uint32_t b = 0; b < N; b++) {
			from[a * (N + 1) + b + 1] =
				from[a * (N + 1) + b] + a * 7 % 5 * 8 + b;
			to[a * (N + 1) + b + 1] =
				to[a * (N + 1) + b] + b * 7 % 5 * 8 + a;
		}
	}
	run(&p, 2);
}

/* --- how much is sent --- */

static uint64_t most_sent(struct algo_plan p)
{
	struct err e = { 0 };
	uint64_t most = 0;

	assert_int_equal(algo_settle(&p, &e), 0);
	for (uint32_t m = 0; m < p.n; m++) {
		uint64_t sum = 0;

		for (uint32_t lane = 0; lane < algo_lanes(&p); lane++)
			for (uint64_t i = 0; i < algo_count(&p, m, lane); i++) {
				struct algo_step s;

				algo_step(&p, m, lane, i, &s);
				sum += s.kind == ALGO_SEND ? s.bytes : 0;
			}
		most = sum > most ? sum : most;
	}
	return most;
}

/* Bytes that a member sends to members of other units. */
static uint64_t sent_to_others(const struct algo_plan *p, uint32_t member)
{
	uint64_t sum = 0;

	for (uint32_t lane = 0; lane < algo_lanes(p); lane++)
		for (uint64_t i = 0; i < algo_count(p, member, lane); i++) {
			struct algo_step s;

			algo_step(p, member, lane, i, &s);
			if (s.kind == ALGO_SEND &&
				s.peer / p->unit != member / p->unit)
				sum += s.bytes;
		}
	return sum;
}

/* NET-F32: 2 (n/u - 1) / (n/u) of 1/u of the data, and 2 (u - 1) / u inside; in
 * pieces, so that the first of them leave the unit early. */
static void members_of_a_unit_share_what_goes_to_others(void **state)
{
	struct algo_plan p = {
		.algo = &algo_hierarchical,
		.op = ALGO_ALLREDUCE,
		.n = 32,
		.unit = 8,
		.bytes = 8 << 20,
		.chunk = 4096,
		.grain = 8,
	};
	struct algo_step s;
	struct err e = { 0 };

	assert_int_equal(
		most_sent(p), (2 * 7 + 2 * 3 / 4.0) * (uint64_t)(1 << 20));
	assert_int_equal(algo_settle(&p, &e), 0);
	for (uint32_t m = 0; m < p.n; m++)
		assert_int_equal(
			sent_to_others(&p, m), 2 * 3 * (uint64_t)(1 << 20) / 4);
	/* the first to leave its unit waits for the first piece only */
	algo_step(&p, 0, 2, 0, &s);
	assert_int_not_equal(s.peer / p.unit, 0);
	assert_true(s.after.n > 0);
	assert_true(20 * s.after.n < algo_count(&p, 0, s.after.lane));
}

/* COL-F2: what the factors of the bus bandwidth are made of. */
static void members_send_no_more_than_the_best_algorithm_needs(void **state)
{
	struct algo_plan p = { .n = 64, .bytes = 64 << 20, .grain = 8 };

	p.op = ALGO_ALLREDUCE;
	p.algo = &algo_ring;
	assert_int_equal(most_sent(p), 2 * 63 * (uint64_t)(1 << 20));
	p.algo = &algo_halving;
	assert_int_equal(most_sent(p), 2 * 63 * (uint64_t)(1 << 20));
	p.algo = &algo_tree;
	assert_int_equal(most_sent(p), 2 * (uint64_t)(64 << 20));
	p.algo = &algo_doubling;
	assert_int_equal(most_sent(p), 6 * (uint64_t)(64 << 20));
	p.op = ALGO_ALLTOALL;
	p.algo = &algo_pairwise;
	assert_int_equal(most_sent(p), 63 * (uint64_t)(1 << 20));
	p.algo = &algo_bruck;
	assert_int_equal(most_sent(p), 6 * 32 * (uint64_t)(1 << 20));
}

/* COL-F1: of each channel one member of a unit, in turn. */
static void channels_leave_a_unit_by_all_members(void **state)
{
	struct algo_plan p = {
		.algo = &algo_ring,
		.op = ALGO_ALLREDUCE,
		.n = 8,
		.unit = 4,
		.channels = 4,
		.bytes = 8 << 20,
		.grain = 8,
	};
	struct err e = { 0 };

	assert_int_equal(algo_settle(&p, &e), 0);
	for (uint32_t m = 0; m < p.n; m++)
		assert_int_equal(sent_to_others(&p, m), 2 * 7 << 20 >> 2);
}

static uint64_t sent_further(
	const struct algo_plan *p, uint32_t member, uint32_t distance)
{
	struct algo_step s;
	uint64_t sum = 0;

	for (uint64_t i = 0, n = algo_count(p, member, 1); i < n; i++) {
		algo_step(p, member, 1, i, &s);
		if ((s.peer ^ member) > distance)
			sum += s.bytes;
	}
	return sum;
}

/* COL-F4: half of the data goes to a neighbour, a quarter to the next but one;
 * of a reduce-scatter, whose blocks have owners, the other way round. */
static void most_of_halving_stays_near(void **state)
{
	struct algo_plan p = { .algo = &algo_halving,
		.op = ALGO_ALLREDUCE,
		.n = 16,
		.bytes = 16 << 20,
		.grain = 8 };
	struct err e = { 0 };

	assert_int_equal(algo_settle(&p, &e), 0);
	for (uint32_t m = 0; m < p.n; m++)
		assert_int_equal(sent_further(&p, m, 3), 2 * (2 + 1) << 20);
	p.op = ALGO_REDUCESCATTER;
	for (uint32_t m = 0; m < p.n; m++)
		assert_int_equal(sent_further(&p, m, 3), (8 + 4) << 20);
}

/* The time of all messages, if each takes one, and a member can send one and
 * receive one at a time, in the order of its steps. */
struct course {
	struct algo_plan plan;
	uint64_t *came; /* [member][step]: when */
	uint64_t most; /* steps of a lane */
	struct {
		uint64_t sent, received, sent_at;
	} at[16];
};

static bool send_next(struct course *c, uint32_t m)
{
	uint64_t i = c->at[m].sent, time = c->at[m].sent_at, k;
	struct algo_step s, r;

	if (i == algo_count(&c->plan, m, 1))
		return false;
	algo_step(&c->plan, m, 1, i, &s);
	k = c->at[s.peer].received;
	algo_step(&c->plan, s.peer, 0, k, &r);
	if (s.after.n > c->at[m].received || r.peer != m)
		return false;
	if (s.after.n && c->came[m * c->most + s.after.n - 1] > time)
		time = c->came[m * c->most + s.after.n - 1];
	if (k && c->came[s.peer * c->most + k - 1] > time)
		time = c->came[s.peer * c->most + k - 1];
	c->at[m].sent_at = c->came[s.peer * c->most + k] = time + 1;
	c->at[m].sent++;
	c->at[s.peer].received++;
	return true;
}

static uint64_t time_of(struct algo_plan p)
{
	struct course c = { .plan = p };
	uint64_t last = 0;
	struct err e = { 0 };
	bool did = true;

	assert_int_equal(algo_settle(&c.plan, &e), 0);
	for (uint32_t m = 0; m < p.n; m++)
		if (algo_count(&c.plan, m, 0) > c.most)
			c.most = algo_count(&c.plan, m, 0);
	c.came = mem_alloc(p.n * c.most, sizeof(*c.came));
	while (did) {
		did = false;
		for (uint32_t m = 0; m < p.n; m++)
			while (send_next(&c, m))
				did = true;
	}
	for (uint32_t m = 0; m < p.n; m++) {
		assert_int_equal(c.at[m].sent, algo_count(&c.plan, m, 1));
		last = c.at[m].sent_at > last ? c.at[m].sent_at : last;
	}
	mem_free(c.came);
	return last;
}

/* COL-F2: in each turn each member of two trees sends to one and receives from
 * one, so that all take little longer than a member's own messages. */
static void trees_with_long_data_keep_a_timetable(void **state)
{
	struct algo_plan p = { .algo = &algo_tree,
		.op = ALGO_ALLREDUCE,
		.bytes = 2 * 2048 * 8,
		.chunk = 8 };
	static const uint32_t members[] = { 7, 10 };

	for (uint32_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		p.n = members[i];
		assert_in_range(time_of(p), 4 * 2048, 4 * 2048 * 110 / 100);
	}
	p.n = 5;
	run(&p, 0);
	p.op = ALGO_REDUCE;
	p.root = 3;
	run(&p, 0);
	p.op = ALGO_BROADCAST;
	run(&p, 0);
}

static uint64_t five(const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	(void)p;
	(void)member;
	return lane % 2 ? 5 : 0;
}

static void two_at_a_time(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	(void)p;
	(void)lane;
	algo_set(out, ALGO_SEND, 1 - member, (struct algo_span){ i, 1 });
	out->most = 2;
}

static int count_begun(
	void *arg, uint32_t slot, uint32_t lane, const struct algo_step *s)
{
	(void)slot;
	(void)lane;
	(void)s;
	++*(uint32_t *)arg;
	return 0;
}

static bool first_is_over(void *arg, uint32_t slot, int *error)
{
	(void)arg;
	(void)error;
	return slot == PLAY_WINDOW;
}

/* COL-F8 */
static void steps_say_how_many_are_under_way(void **state)
{
	const struct algo two = {
		.lanes = 2, .count = five, .step = two_at_a_time
	};
	const struct algo_plan p = {
		.algo = &two, .n = 2, .bytes = 8, .chunk = 1, .channels = 1
	};
	const struct play_ops counts = { .send = count_begun,
		.is_over = first_is_over };
	uint32_t n = 0;
	struct play play;

	(void)state;
	play_open(&play, &p, 0, 0, &counts, &n);
	play_go_on(&play);
	assert_int_equal(n, 3); /* one is over */
	play_close(&play);
}

/* COL-F2: where a turn begins, few steps are under way beside those of the
 * last one. */
static void turns_begin_slowly(void **state)
{
	struct algo_plan p = { .algo = &algo_tree,
		.op = ALGO_ALLREDUCE,
		.n = 16,
		.bytes = UINT64_C(1) << 30 };
	struct algo_step s;
	struct err e;

	(void)state;
	assert_int_equal(algo_settle(&p, &e), 0);
	for (uint32_t i = 0; i < 64; i++) {
		algo_step(&p, 5, 0, i, &s);
		assert_int_equal(s.most, i % 32 + 2);
		algo_step(&p, 5, 1, i, &s);
		assert_int_equal(s.most, i % 32 + 3);
	}
}

static void refused(struct algo_plan p, const char *text)
{
	struct err e = { 0 };

	p.bytes = p.bytes ? p.bytes : 4096;
	p.grain = 8;
	assert_int_equal(algo_settle(&p, &e), -1);
	if (!strstr(e.text, text))
		fail_msg("\"%s\" does not say \"%s\"", e.text, text);
}

static void what_an_algorithm_cannot_do_is_refused(void **state)
{
	struct err e = { 0 };

	refused(
		(struct algo_plan){
			.algo = &algo_bruck, .op = ALGO_ALLREDUCE, .n = 8 },
		"bruck has no allreduce (want ring, tree, doubling, halving "
		"or hierarchical)");
	refused((struct algo_plan){ .algo = &algo_ring,
			.op = ALGO_REDUCE,
			.n = 8,
			.root = 8 },
		"root: out of range (want one of the members 0 to 7)");
	refused(
		(struct algo_plan){
			.algo = &algo_halving, .op = ALGO_ALLGATHER, .n = 6 },
		"power of two, not 6");
	refused(
		(struct algo_plan){
			.algo = &algo_bruck, .op = ALGO_ALLTOALL, .n = 7 },
		"want a multiple of 56");
	refused((struct algo_plan){ .algo = &algo_hierarchical,
			.op = ALGO_ALLREDUCE,
			.n = 8,
			.unit = 3 },
		"8 members are not units of 3");
	refused((struct algo_plan){ .algo = &algo_hierarchical,
			.op = ALGO_ALLREDUCE,
			.n = 8 },
		"want a divisor of 8, such as 2");
	refused((struct algo_plan){ .algo = &algo_hierarchical,
			.op = ALGO_ALLREDUCE,
			.n = 7 },
		"7 members cannot be divided so");
	assert_null(algo_find("rnig", &e));
	assert_non_null(strstr(e.text, "did you mean ring?"));
}

TESTS(TEST(every_algorithm_does_what_it_claims),
	TEST(blocks_of_several_lengths_are_exchanged),
	TEST(members_of_a_unit_share_what_goes_to_others),
	TEST(members_send_no_more_than_the_best_algorithm_needs),
	TEST(channels_leave_a_unit_by_all_members),
	TEST(most_of_halving_stays_near),
	TEST(trees_with_long_data_keep_a_timetable),
	TEST(steps_say_how_many_are_under_way), TEST(turns_begin_slowly),
	TEST(what_an_algorithm_cannot_do_is_refused))
