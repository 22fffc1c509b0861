/*
 * The time stamps of inner.h against a chip that is simulated phit by phit: 8
 * x 6 tiles, each input with packets that never end, each output's link
 * always ready.
 */
#include <string.h>

#include "base/mem.h"
#include "router/tiled/inner.h"
#include "testing/testing.h"

enum {
	ROWS = 8,
	COLUMNS = 6,
	TILES = ROWS * COLUMNS,
	ROW_PHITS = 16,
	COLUMN_PHITS = 32,
	MOST = 4096, /* packets of an input */
	CYCLE = 1250,
};

struct parcel {
	uint8_t to;
	uint8_t phits;
};

/* What inputs send, in order. */
struct traffic {
	struct parcel (*from)[MOST]; /* [input] */
	uint32_t n; /* of each */
};

static uint32_t draw(uint64_t *x, uint32_t below)
{
	*x = *x * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((*x >> 33) % below);
}

/* --- phit by phit --- */

struct fifo {
	uint16_t parcel[ROW_PHITS + COLUMN_PHITS]; /* whose phit: number + 1 */
	uint32_t first, n;
};

static void put(struct fifo *f, uint32_t parcel)
{
	uint32_t room = ROW_PHITS + COLUMN_PHITS;

	f->parcel[(f->first + f->n++) % room] = (uint16_t)parcel;
}

static uint32_t take(struct fifo *f)
{
	uint32_t p = f->parcel[f->first];

	f->first = (f->first + 1) % (ROW_PHITS + COLUMN_PHITS);
	f->n--;
	return p;
}

/* A packet that holds a stage: its source, and the phits still to come. */
struct hold {
	uint32_t from, left;
};

struct phits {
	const struct traffic *traffic;
	uint32_t next[TILES], sent[TILES]; /* of each input's packets */
	struct fifo row[TILES][COLUMNS];
	struct hold column[TILES][ROWS]; /* [output][input row] */
	struct fifo end[TILES][ROWS];
	uint8_t sources[TILES][ROWS][COLUMN_PHITS]; /* of packets in end */
	struct hold link[TILES];
	uint32_t turn;
	uint64_t out; /* phits */
	uint64_t last; /* cycle of the last one */
	uint64_t last_of[TILES]; /* by output */
};

static const struct parcel *parcel_of(
	const struct phits *x, uint32_t in, uint32_t number)
{
	return &x->traffic->from[in][number - 1];
}

/* The link of an output: whole packets, by rows in turn. */
static void step_link(struct phits *x, uint32_t o, uint64_t now)
{
	struct hold *h = &x->link[o];

	for (uint32_t k = 0; k < ROWS && !h->left; k++) {
		uint32_t row = (x->turn + k) % ROWS;

		if (!x->end[o][row].n)
			continue;
		h->from = row;
		h->left = x->end[o][row].parcel[x->end[o][row].first];
	}
	if (!h->left || !x->end[o][h->from].n)
		return;
	take(&x->end[o][h->from]);
	h->left--;
	x->out++;
	x->last = x->last_of[o] = now;
}

/* The column channel from a row to an output; what lies in the end buffer is
 * the length of each phit's packet. */
static void step_column(struct phits *x, uint32_t o, uint32_t row)
{
	struct hold *h = &x->column[o][row];
	struct fifo *f;

	for (uint32_t k = 0; k < COLUMNS && !h->left; k++) {
		uint32_t in = row * COLUMNS + (x->turn + k) % COLUMNS;
		const struct parcel *p;

		f = &x->row[in][o % COLUMNS];
		if (!f->n)
			continue;
		p = parcel_of(x, in, f->parcel[f->first]);
		if (p->to != o)
			continue;
		h->from = in;
		h->left = p->phits;
	}
	f = &x->row[h->from][o % COLUMNS];
	if (!h->left || !f->n || x->end[o][row].n == COLUMN_PHITS)
		return;
	put(&x->end[o][row], parcel_of(x, h->from, f->parcel[f->first])->phits);
	take(f);
	h->left--;
}

static void step_bus(struct phits *x, uint32_t in)
{
	const struct parcel *p = &x->traffic->from[in][x->next[in]];
	struct fifo *f;

	if (x->next[in] == x->traffic->n)
		return;
	f = &x->row[in][p->to % COLUMNS];
	if (f->n == ROW_PHITS)
		return;
	put(f, x->next[in] + 1);
	if (++x->sent[in] == p->phits) {
		x->sent[in] = 0;
		x->next[in]++;
	}
}

/* Stages from the last to the first, so that each takes a cycle. */
static void run_phits(struct phits *x, uint64_t cycles)
{
	for (uint64_t now = 0; now < cycles; now++) {
		x->turn = (uint32_t)(now * 7);
		for (uint32_t i = 0; i < TILES; i++)
			step_link(x, i, now);
		for (uint32_t i = 0; i < TILES; i++)
			for (uint32_t row = 0; row < ROWS; row++)
				step_column(x, i, row);
		for (uint32_t i = 0; i < TILES; i++)
			step_bus(x, i);
	}
}

/* --- in time stamps --- */

struct stamps {
	struct tiled chip;
	struct tiled_bus bus[TILES];
	struct tiled_output output[TILES];
	uint32_t next[TILES];
	uint64_t out;
	sim_time last, last_of[TILES];
};

static void set_up(struct stamps *x)
{
	x->chip.how.cycle = CYCLE;
	x->chip.row = ROW_PHITS * CYCLE;
	x->chip.column = COLUMN_PHITS * CYCLE;
}

/* The earliest that an input's next packet can go. */
static sim_time ready(
	const struct stamps *x, const struct traffic *t, uint32_t in)
{
	sim_time room;

	if (x->next[in] == t->n)
		return SIM_NEVER;
	room = inner_room(
		&x->chip, &x->bus[in], t->from[in][x->next[in]].to % COLUMNS);
	return inner_max(inner_max(x->bus[in].free_at, room), 0);
}

static void run_stamps(
	struct stamps *x, const struct traffic *t, sim_time until)
{
	for (;;) {
		uint32_t best = 0, in;
		const struct parcel *p;
		struct inner i;
		sim_time at;

		for (in = 1; in < TILES; in++)
			if (ready(x, t, in) < ready(x, t, best))
				best = in;
		at = ready(x, t, best);
		if (at >= until)
			return;
		p = &t->from[best][x->next[best]++];
		i = inner_pass(&x->chip, &x->bus[best], &x->output[p->to],
			best / COLUMNS, p->to % COLUMNS, p->phits, at, at,
			p->phits * (sim_time)CYCLE);
		if (i.end <= until)
			x->out += p->phits;
		x->last = x->last_of[p->to] = i.end;
	}
}

/* --- tests --- */

static struct traffic *make(uint64_t seed, uint32_t n)
{
	static const uint8_t size[] = { 2, 8, 11, 27, 32, 32 };
	struct traffic *t = mem_alloc(1, sizeof(*t));

	t->from = mem_alloc(TILES, sizeof(*t->from));
	t->n = n;
	for (uint32_t i = 0; i < TILES; i++)
		for (uint32_t k = 0; k < n; k++)
			t->from[i][k] = (struct parcel){
				.to = (uint8_t)draw(&seed, TILES),
				.phits = size[draw(&seed, sizeof(size))],
			};
	return t;
}

static void drop(struct traffic *t)
{
	mem_free(t->from);
	mem_free(t);
}

/* GEM-F38. */
static void a_packet_alone_leaves_as_its_phits_do(void **state)
{
	uint32_t to;

	for (uint32_t phits = 1; phits <= 32; phits++) {
		for (uint32_t from = 0; from < TILES; from += 5) {
			to = (from * 7 + phits) % TILES;
			struct parcel one[1] = { { (uint8_t)to,
				(uint8_t)phits } };
			struct parcel(*all)[MOST] =
				mem_alloc(TILES, sizeof(*all));
			struct traffic t = { all, 0 };
			struct phits *p = mem_alloc(1, sizeof(*p));
			struct stamps *s = mem_alloc(1, sizeof(*s));

			memcpy(all[from], one, sizeof(one));
			t.n = 1;
			p->traffic = &t;
			set_up(s);
			/* the others have nothing */
			for (uint32_t i = 0; i < TILES; i++)
				if (i != from)
					p->next[i] = s->next[i] = 1;
			run_phits(p, 200);
			run_stamps(s, &t, 200 * CYCLE);
			assert_int_equal(p->out, phits);
			/* two stages, and the phit's own cycle */
			assert_int_equal(s->last / CYCLE, p->last - 2 + 1);
			mem_free(p);
			mem_free(s);
			mem_free(all);
		}
	}
}

/* GEM-F37. GEM-F38. */
static void at_saturation_as_much_comes_out_as_by_phits(void **state)
{
	enum { CYCLES = 20000 };

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct traffic *t = make(seed, MOST);
		struct phits *p = mem_alloc(1, sizeof(*p));
		struct stamps *s = mem_alloc(1, sizeof(*s));
		double ratio;

		p->traffic = t;
		set_up(s);
		run_phits(p, CYCLES);
		run_stamps(s, t, (sim_time)CYCLES * CYCLE);
		ratio = (double)s->out / (double)p->out;
		assert_true(ratio > 0.98 && ratio < 1.02);
		mem_free(p);
		mem_free(s);
		drop(t);
	}
}

/* Packets of some inputs, up to two each, of 32 phits; when the last one leaves
 * each output.  One that has waited is through its two stages by then. */
static void check_departures(const uint8_t (*to)[2], uint64_t last[TILES])
{
	struct traffic *t = make(1, 2);
	struct phits *p = mem_alloc(1, sizeof(*p));
	struct stamps *s = mem_alloc(1, sizeof(*s));

	p->traffic = t;
	set_up(s);
	for (uint32_t i = 0; i < TILES; i++) {
		for (uint32_t k = 0; k < 2; k++)
			t->from[i][k] = (struct parcel){ to[i][k], 32 };
		/* 0 is no output of these: it is the end */
		p->next[i] = s->next[i] = !to[i][0] ? 2 : !to[i][1];
		if (to[i][0] && !to[i][1])
			t->from[i][1] = t->from[i][0];
	}
	run_phits(p, 400);
	run_stamps(s, t, (sim_time)400 * CYCLE);
	for (uint32_t i = 0; i < TILES; i++) {
		last[i] = p->last_of[i];
		if (last[i])
			assert_in_range(s->last_of[i] / CYCLE, last[i] - 1,
				last[i] + 1);
	}
	mem_free(p);
	mem_free(s);
	drop(t);
}

/* The switch where row 0 crosses column 1.  Its six row buses bring packets at
 * once, and each output of the column has a channel of its own, which the row
 * shares.  GEM-F39. */
static void a_switch_has_six_rows_and_a_channel_for_each_output(void **state)
{
	static const uint8_t six[TILES][2] = { { 1 }, { 7 }, { 13 }, { 19 },
		{ 25 }, { 31 } };
	/* the second packet of input 2 is behind one that waits for input 1's
	 * to leave the channel to output 7; that of input 3 is not */
	static const uint8_t shared[TILES][2] = {
		[1] = { 7 }, [2] = { 7, 13 }, [3] = { 19, 25 }
	};
	uint64_t last[TILES];

	check_departures(six, last);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(last[1 + 6 * i], 33);
	check_departures(shared, last);
	assert_in_range(last[7], 64, 65);
	assert_in_range(last[13], 96, 97);
	assert_in_range(last[25], 64, 65);
}

/* Three rows send to output 7 at once.  Each has a buffer of its own there, so
 * that the third's packet is out of its row buffer before the first has left,
 * and what is behind it goes to another output.  GEM-F37. */
static void each_row_has_a_column_buffer_at_each_output(void **state)
{
	static const uint8_t to[TILES][2] = {
		[0] = { 7 }, [6] = { 7 }, [12] = { 7, 13 }
	};
	uint64_t last[TILES];

	check_departures(to, last);
	assert_in_range(last[7], 96, 98);
	assert_in_range(last[13], 64, 66);
}

TESTS(TEST(a_packet_alone_leaves_as_its_phits_do),
	TEST(at_saturation_as_much_comes_out_as_by_phits),
	TEST(a_switch_has_six_rows_and_a_channel_for_each_output),
	TEST(each_row_has_a_column_buffer_at_each_output))
