/*
 * Random series of collectives, on two planes of four nodes.  In every second
 * one everybody keeps the rules: all calls end, and what comes of them is what
 * a loop over the members makes of it.  In the others a node of the first plane
 * breaks a rule in one of several ways.  Its own plane may wait for ever; on
 * the other one all calls end, and have the right bytes.
 */
#include <string.h>

#include "testing/collective_testing.h"
#include "testing/testing.h"

enum {
	NODES = 8,
	PLANE = 4,
	CALLS = 12,
	ROUTES = 5, /* all nodes, two on each plane */
	WORDS = 100, /* the most of a call */
	PLACE = 8 * WORDS, /* bytes from one call's to the next one's */
	SERIES = 60,
};

struct call {
	uint32_t route, what, words, root;
	uint8_t op;
};

/* The same on all nodes. */
struct plan {
	uint64_t series, n; /* draws */
	MUSPI_Box_t box[ROUTES];
	struct call call[CALLS];
	uint32_t culprit; /* NODES: everybody keeps the rules */
	uint32_t victim; /* the first call that it breaks them with */
};

static uint64_t series;
static bool is_right[NODES]; /* all that a node received */

static uint32_t any(struct plan *p, uint32_t below)
{
	struct random_bits x = random_draw(p->series, 0, RANDOM_TEST, p->n++);

	return (uint32_t)random_below(x.a, below);
}

static bool is_member(const struct plan *p, uint32_t route, uint32_t node)
{
	const MUSPI_Box_t *b = &p->box[route];

	for (uint32_t i = 0; i < 3; i++)
		if ((node >> i & 1) < b->low[i] || (node >> i & 1) > b->high[i])
			return false;
	return true;
}

static void draw_box(struct plan *p, uint32_t route)
{
	MUSPI_Box_t *b = &p->box[route];

	for (uint32_t i = 0; i < 2; i++) {
		b->low[i] = (uint8_t)(route && !any(p, 3));
		b->high[i] = (uint8_t)(!route || b->low[i] || any(p, 3));
	}
	b->low[2] = route > 2;
	b->high[2] = !route || route > 2;
}

/* Who breaks rules is no member of all nodes' route: it reaches nobody of the
 * other plane. */
static void draw_call(struct plan *p, struct call *c)
{
	static const uint8_t ops[] = { FLOAT_ADD, SIGNED_ADD,
		MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_MAX,
		MUHWI_COLLECTIVE_OP_CODE_XOR };

	c->route = p->culprit < NODES ? 1 + any(p, ROUTES - 1) : any(p, ROUTES);
	c->what = any(p, 3);
	c->words = 1 + any(p, any(p, 2) ? 4 : WORDS);
	c->op = ops[any(p, 4)];
	do
		c->root = any(p, NODES);
	while (!is_member(p, c->route, c->root));
}

static struct plan draw(void)
{
	struct plan p = { .series = series };

	p.culprit = series % 2 ? any(&p, PLANE) : (uint32_t)NODES;
	for (uint32_t i = 0; i < ROUTES; i++)
		draw_box(&p, i);
	for (uint32_t i = 0; i < CALLS; i++)
		draw_call(&p, &p.call[i]);
	/* one that others wait for, if there is any */
	for (uint32_t i = 0; i < CALLS && p.culprit < NODES; i++) {
		p.victim = i;
		if (p.call[i].what != BROADCAST &&
			is_member(&p, p.call[i].route, p.culprit))
			break;
	}
	return p;
}

/* --- what goes in, and what comes out --- */

static uint64_t word_of(const struct call *c, uint64_t v)
{
	double d = (double)v;
	uint64_t w = v;

	if (c->op == FLOAT_ADD)
		memcpy(&w, &d, 8);
	return w;
}

static uint64_t value(uint32_t call, uint32_t node, uint32_t i)
{
	return 1 + (call * 31 + node * 7 + i) % 50;
}

static uint64_t expected(const struct plan *p, uint32_t call, uint32_t i)
{
	const struct call *c = &p->call[call];
	uint64_t all = 0, v;

	if (c->what == BROADCAST)
		return word_of(c, value(call, c->root, i));
	for (uint32_t n = 0; n < NODES; n++) {
		if (!is_member(p, c->route, n))
			continue;
		v = value(call, n, i);
		if (c->op == MUHWI_COLLECTIVE_OP_CODE_XOR)
			all ^= v;
		else if (c->op == MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_MAX)
			all = v > all ? v : all;
		else
			all += v;
	}
	return word_of(c, all);
}

static bool sends(const struct plan *p, const struct call *c, uint32_t node)
{
	return is_member(p, c->route, node) &&
	       (c->what != BROADCAST || c->root == node);
}

static bool receives(const struct plan *p, const struct call *c, uint32_t node)
{
	return is_member(p, c->route, node) &&
	       (c->what != MUHWI_COLLECTIVE_TYPE_REDUCE || c->root == node);
}

static void store_all(const struct plan *p, uint32_t node)
{
	uint32_t k;

	for (k = 0; k < CALLS; k++)
		for (uint32_t i = 0; i < p->call[k].words; i++) {
			uint64_t w = word_of(&p->call[k], value(k, node, i));

			assert_true(spi_store(
				SPI_TEST_SOURCE + k * PLACE + 8 * i, &w, 8));
		}
}

static uint64_t bytes_of(const struct plan *p, uint32_t node)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < CALLS; k++)
		if (receives(p, &p->call[k], node))
			sum += 8 * p->call[k].words;
	return sum;
}

static bool all_is_right(const struct plan *p, uint32_t node)
{
	uint64_t got;

	for (uint32_t k = 0; k < CALLS; k++)
		for (uint32_t i = 0; i < p->call[k].words; i++) {
			if (!receives(p, &p->call[k], node))
				break;
			assert_true(spi_load(
				SPI_TEST_TARGET + k * PLACE + 8 * i, &got, 8));
			if (got != expected(p, k, i))
				return false;
		}
	return true;
}

/* --- programs --- */

static void make(MUSPI_InjFifo_t *f, const struct call *c, uint32_t place)
{
	const MUSPI_CollectiveDirectPutDescriptorInfo_t info = {
		.Base = { .Payload_Address = SPI_TEST_SOURCE + place * PLACE,
			.Message_Length = 8 * c->words,
			.Torus_FIFO_Map = MU_MAP_USER_COLLECTIVE,
			.Dest = spi_destination(c->root) },
		.Collective = { .Op_Code = c->op,
			.Word_Length = 8,
			.Class_Route = (uint8_t)c->route,
			.Misc = (uint8_t)((c->route ? SUB : WORLD) | c->what) },
		.DirectPut = { .Rec_Payload_Base_Address_Id = SPI_TEST_BASE,
			.Rec_Payload_Offset = place * PLACE,
			.Rec_Counter_Base_Address_Id = SPI_TEST_BASE_COUNTER },
	};
	MUHWI_Descriptor_t d;

	assert_int_equal(
		MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info), 0);
	MUSPI_InjFifoInject(f, &d);
}

/* Registers and descriptors of which half are as they should be. */
static void do_anything(MUSPI_InjFifo_t *f, struct plan *p)
{
	uint32_t id = 1 + any(p, 2), i;
	uint32_t link = (uint32_t)BGQ_CLASS_LINK_AM >> any(p, 6);
	const ClassRoute_t r = { .input = (uint16_t)any(p, 65536),
		.output = (uint16_t)(any(p, 2) ? link : any(p, 65536)) };

	if (any(p, 2))
		Kernel_SetCollectiveClassRoute(id, &r);
	else
		MUSPI_ReleaseClassrouteId(id);
	for (i = 0; i < CALLS && !MUSPI_isStopped(f); i++)
		if (any(p, 2))
			coll_call_with(f, id, SUB | any(p, 3), FLOAT_ADD, 64);
		else
			coll_call_with(f, 1 + any(p, 15), any(p, 256),
				(uint8_t)any(p, 16), any(p, 2048));
}

/* From the victim on. */
static void break_rules(MUSPI_InjFifo_t *f, struct plan *p)
{
	uint32_t node = program_node(), k = p->victim;
	struct call c = p->call[k];

	switch (p->series / 2 % 6) {
	case 0: /* leaves it out */
		break;
	case 1: /* its next one of another route comes first */
		while (++k < CALLS && (!sends(p, &p->call[k], node) ||
					      p->call[k].route == c.route))
			;
		if (k < CALLS)
			make(f, &p->call[k], k);
		break;
	case 2:
		c.op = c.op == FLOAT_ADD ? SIGNED_ADD : FLOAT_ADD;
		make(f, &c, p->victim);
		break;
	case 3:
		c.words++;
		make(f, &c, p->victim);
		break;
	default:
		do_anything(f, p);
		return;
	}
	for (k = p->victim + 1; k < CALLS; k++)
		if (sends(p, &p->call[k], node))
			make(f, &p->call[k], k);
}

static void run(void *mine)
{
	struct plan p = draw();
	uint32_t node = program_node(), i;
	MUSPI_InjFifo_t *f = coll_member(bytes_of(&p, node));

	for (i = 1; i < ROUTES; i++)
		assert_int_equal(
			coll_join_box(i, &p.box[i]), is_member(&p, i, node));
	store_all(&p, node);
	program_wait(2 * SPI_TEST_START);
	for (i = 0; i < CALLS; i++) {
		if (node == p.culprit && i == p.victim) {
			break_rules(f, &p);
			return;
		}
		if (sends(&p, &p.call[i], node))
			make(f, &p.call[i], i);
	}
	coll_await();
	is_right[node] = all_is_right(&p, node);
}

/* Threads do not matter; tokens and packets are where they should be. */
static enum load_ending perform(void)
{
	struct coll_how how = { "2x2x2", .run = run };
	struct machine_run *a, *b;
	enum load_ending ending;

	memset(is_right, 0, sizeof(is_right));
	a = coll_perform(&how);
	how.threads = 3;
	b = coll_perform(&how);
	assert_int_equal(a->digest, b->digest);
	assert_int_equal(a->result.ending, b->result.ending);
	assert_string_equal(a->result.knot, b->result.knot);
	ending = a->result.ending;
	coll_drop(a);
	coll_drop(b);
	return ending;
}

static void random_calls_end_right_or_harm_nobody_else(void **state)
{
	uint32_t n_kept = 0, n_locked = 0;

	for (series = 0; series < SERIES; series++) {
		enum load_ending ending = perform();

		if (series % 2 == 0)
			assert_int_equal(ending, LOAD_FINISHED);
		for (uint32_t node = series % 2 ? PLANE : 0; node < NODES;
			node++)
			assert_true(is_right[node]);
		n_kept += series % 2 == 0;
		n_locked += ending == LOAD_DEADLOCKED;
	}
	assert_int_equal(n_kept, SERIES / 2);
	assert_true(n_locked >= SERIES / 3);
}

TESTS(TEST(random_calls_end_right_or_harm_nobody_else))
