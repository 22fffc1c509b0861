#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/cluster.h"
#include "sim/kin.h"
#include "sim/random.h"
#include "sim/sim.h"
#include "testing/testing.h"

enum { WINDOW = 20000, SITES = 12, HOPS = 300, LETTERS = 5, PROCESSES = 3 };

#define SECOND (INT64_C(1000000000) * SIM_NS)

/* Letters that go from site to site.  An event's data is the number of a
 * letter, which differs from process to process. */
struct post {
	struct sim *sim;
	struct letter {
		uint32_t hop, name;
	} letter[1 << 16];
	uint32_t n_letters;
	struct {
		uint64_t n, sum; /* of letters, and their times */
	} site[SITES];
	uint32_t hops; /* of each letter */
	site_id wrong; /* ends the run; NO_SITE: none */
	bool stays; /* the only letter, at its site */
	bool is_slow; /* to visit */
	uint8_t lead; /* windows that letters take; 0: as many as they like */
	size_t load; /* bytes that go with a letter */
	uint64_t n_spoilt;
};

/* Where all share memory, and where messages go between them. */
static struct cluster *meet(uint32_t n, bool is_apart)
{
	struct err e = { 0 };
	struct cluster *c;

	if (is_apart)
		setenv("WEFT_APART", "1", 1);
	else
		unsetenv("WEFT_APART");
	c = kin_start(n, &e);
	assert_non_null(c);
	assert_int_equal(!c->room, is_apart);
	return c;
}

static sim_time delay(uint32_t name, uint32_t hop)
{
	struct random_bits r = random_draw(name, 1, RANDOM_TEST, hop);
	sim_time most = SECOND >> random_below(r.a, 26);

	return WINDOW + (sim_time)random_below(r.b, (uint64_t)most);
}

static void visit(struct sim_worker *w, site_id s)
{
	struct post *p = w->model;
	const struct sim_event *e;
	sim_time t;

	while ((e = sim_next(w, &t))) {
		struct letter *l = &p->letter[e->data];

		if (p->is_slow)
			usleep(1000);
		p->site[s].n++;
		p->site[s].sum += (uint64_t)t * (l->hop + 1);
		if (s == p->wrong && l->hop > p->hops / 2)
			err_give_up(EXIT_LIMIT, "site %u has had enough", s);
		if (l->hop++ < p->hops)
			sim_post(w, p->stays ? s : (s + 1 + l->hop % 5) % SITES,
				t + (p->lead ? p->lead * (sim_time)WINDOW
					     : delay(l->name, l->hop)),
				SIM_KEY(PHASE_ARRIVAL, l->name), 0, e->data);
	}
}

static void pack(struct sim_worker *w, const struct sim_event *e,
	struct cluster_bytes *to)
{
	struct post *p = w->model;
	char *load;

	memcpy(cluster_add(to, sizeof(*p->letter)), &p->letter[e->data],
		sizeof(*p->letter));
	load = cluster_add(to, p->load);
	for (size_t i = 0; i < p->load; i++)
		load[i] = (char)(i % 127);
	memset(&p->letter[e->data], 0xff, sizeof(*p->letter));
}

static uint32_t unpack(struct sim_worker *w, const struct sim_event *e,
	const void *from, size_t n)
{
	struct post *p = w->model;

	(void)e;
	for (size_t i = 0; i < p->load; i++) {
		const char *load = (const char *)from + sizeof(*p->letter);

		p->n_spoilt += load[i] != (char)(i % 127);
	}
	p->n_spoilt += n < sizeof(*p->letter) + p->load;
	memcpy(&p->letter[p->n_letters], from, sizeof(*p->letter));
	return p->n_letters++;
}

static const struct sim_ops ops = {
	.visit = visit,
	.pack = pack,
	.unpack = unpack,
};

static void start_letters(
	struct post *p, struct cluster *c, site_id wrong, uint8_t letter_lead)
{
	uint8_t lead[PROCESSES * PROCESSES];
	uint16_t process[SITES];
	struct sim_params s = {
		.n_sites = SITES,
		.n_workers = c ? 1 : 3,
		.window = WINDOW,
		.reach = 20 * WINDOW,
		.ops = &ops,
		.model = p,
		.cluster = c,
		.process = process,
		.lead = lead,
	};
	struct err e = { 0 };

	memset(p, 0, sizeof(*p));
	p->hops = HOPS;
	memset(lead, letter_lead ? letter_lead : 1, sizeof(lead));
	p->lead = letter_lead;
	p->wrong = wrong;
	for (site_id i = 0; i < SITES; i++)
		process[i] = (uint16_t)(i * PROCESSES / SITES);
	p->sim = sim_new(&s, &e);
	assert_non_null(p->sim);
	for (uint32_t i = 0; i < LETTERS; i++) {
		p->letter[p->n_letters].name = i;
		if (sim_has(p->sim, 2 * i))
			sim_post(sim_owner(p->sim, 2 * i), 2 * i, i * WINDOW,
				SIM_KEY(PHASE_ARRIVAL, i), 0, p->n_letters);
		p->n_letters++;
	}
}

static void start(struct post *p, struct cluster *c, site_id wrong)
{
	start_letters(p, c, wrong, 0);
}

/* The letters that sites got, in all processes. */
static void count(struct post *p)
{
	sim_sum(p->sim, &p->site[0].n, (size_t)2 * SITES);
}

/* Children end where their test does; what they found is known to all. */
static void end(struct cluster *c, struct post *p)
{
	bool is_child = c->me;

	sim_free(p->sim);
	c->ops->leave(c, 0);
	if (is_child)
		_exit(0);
}

static void compare(bool is_apart, size_t load, uint32_t hops)
{
	static struct post one, many;
	struct cluster *c;
	uint64_t x[2], n_events;
	sim_time last;

	start(&one, NULL, NO_SITE);
	one.hops = hops;
	assert_int_equal(sim_run(one.sim, SIM_NEVER - 1), SIM_IDLE);
	n_events = sim_n_events(one.sim);
	last = sim_last_time(one.sim);
	sim_free(one.sim);
	c = meet(PROCESSES, is_apart);
	start(&many, c, NO_SITE);
	many.load = load;
	many.hops = hops;
	x[0] = sim_run(many.sim, hops * SECOND / 100) != SIM_REACHED;
	x[0] |= sim_run(many.sim, SIM_NEVER - 1) != SIM_IDLE;
	count(&many);
	x[0] |= memcmp(one.site, many.site, sizeof(one.site)) != 0;
	x[0] |= n_events != sim_n_events(many.sim);
	x[0] |= last != sim_last_time(many.sim);
	x[1] = sim_next_time(many.sim) != SIM_NEVER || many.n_spoilt;
	sim_max(many.sim, x, 2);
	end(c, &many);
	assert_int_equal(x[0], 0);
	assert_int_equal(x[1], 0);
}

static void letters_go_from_process_to_process(void **state)
{
	compare(false, 0, HOPS);
	compare(true, 0, HOPS);
	(void)state;
}

/* Mail of three processes in a room goes through boxes of 1 MiB. */
enum { LONG = (1 << 20) + 1, FEW_HOPS = 10 };

static void letters_may_be_longer_than_a_box(void **state)
{
	compare(false, LONG, FEW_HOPS);
	(void)state;
}

static void run(void *sim)
{
	sim_run(sim, SIM_NEVER - 1);
}

static void end_by_error(
	bool is_apart, size_t load, uint32_t hops, uint8_t lead)
{
	static struct post many;
	struct err e = { 0 };
	struct cluster *c = meet(PROCESSES, is_apart);
	uint64_t differs;

	start_letters(&many, c, SITES - 1, lead);
	many.load = load;
	many.hops = hops;
	err_guard(run, many.sim, &e);
	differs = e.code != EXIT_LIMIT ||
		  strcmp(e.text, "site 11 has had enough") != 0;
	sim_max(many.sim, &differs, 1);
	end(c, &many);
	assert_int_equal(differs, 0);
}

static void an_error_of_one_process_is_that_of_all(void **state)
{
	end_by_error(false, 0, HOPS, 0);
	end_by_error(true, 0, HOPS, 0);
	(void)state;
}

static void an_error_comes_while_a_box_is_full(void **state)
{
	for (uint32_t i = 0; i < 2; i++)
		end_by_error(false, LONG, FEW_HOPS + i, 1);
	(void)state;
}

static void a_site_of_another_process_has_no_owner(void **state)
{
	static struct post many;
	struct err e = { 0 };
	struct cluster *c = kin_start(PROCESSES, &e);
	uint64_t x[3] = { 0 };
	uint32_t told;

	assert_non_null(c);
	start(&many, c, NO_SITE);
	for (site_id s = 0; s < SITES; s++) {
		bool is_own = s * PROCESSES / SITES == c->me;

		x[0] += sim_has(many.sim, s);
		x[1] |= (sim_owner(many.sim, s) != NULL) != is_own;
	}
	for (site_id s = sim_next_own(many.sim, 0); s < SITES;
		s = sim_next_own(many.sim, s + 1))
		x[2]++;
	told = c->me;
	sim_tell(many.sim, SITES - 1, &told, sizeof(told));
	x[1] |= told != PROCESSES - 1;
	sim_sum(many.sim, x, 3);
	end(c, &many);
	assert_int_equal(x[0], SITES);
	assert_int_equal(x[1], 0);
	assert_int_equal(x[2], SITES);
	(void)state;
}

static uint32_t n_meetings;

static void count_meeting(struct cluster *c, uint64_t word[N_CLUSTER_WORDS])
{
	const struct cluster_ops *kin = c->ops + 1;

	n_meetings++;
	kin->agree(c, word);
}

/* Counts meetings, as a process of a cluster with these two tables. */
static void count_meetings(struct cluster *c, struct cluster_ops counted[2])
{
	counted[0] = counted[1] = *c->ops;
	counted[0].agree = count_meeting;
	c->ops = counted;
	n_meetings = 0;
}

static void a_process_runs_ahead_of_idle_ones(void **state)
{
	static struct post many;
	struct cluster_ops counted[2];
	struct cluster *c = meet(PROCESSES, true);
	uint64_t n, most;

	count_meetings(c, counted);
	start(&many, c, NO_SITE);
	many.stays = true;
	for (uint32_t i = 1; i < LETTERS; i++) /* these have arrived */
		many.letter[i].hop = HOPS;
	sim_run(many.sim, SIM_NEVER - 1);
	count(&many);
	n = many.site[0].n;
	most = n_meetings;
	sim_max(many.sim, &most, 1);
	end(c, &many);
	assert_int_equal(n, HOPS + 1);
	assert_true(most < 20);
	(void)state;
}

/* In each window, some of them have letters, and most have one soon.  Returns
 * how often they met. */
static uint64_t be_busy(bool is_apart, uint8_t lead)
{
	static struct post one, many;
	struct cluster_ops counted[2];
	struct cluster *c;
	uint64_t x[2];

	start_letters(&one, NULL, NO_SITE, lead);
	sim_run(one.sim, SIM_NEVER - 1);
	sim_free(one.sim);
	c = meet(PROCESSES, is_apart);
	count_meetings(c, counted);
	start_letters(&many, c, NO_SITE, lead);
	sim_run(many.sim, 100 * WINDOW);
	sim_run(many.sim, SIM_NEVER - 1);
	x[0] = n_meetings;
	count(&many);
	x[1] = memcmp(one.site, many.site, sizeof(one.site)) != 0;
	sim_max(many.sim, x, 2);
	end(c, &many);
	assert_int_equal(x[1], 0);
	return x[0];
}

static void busy_processes_talk_to_neighbours_only(void **state)
{
	assert_in_range(be_busy(true, 1), 2, 10); /* in 300 windows */
	assert_in_range(be_busy(true, 3), 2, 10);
	be_busy(false, 1);
	be_busy(false, 3);
	(void)state;
}

static uint64_t own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The first one takes 300 ms, of which it is asleep for the most part, too. */
static void an_idle_process_sleeps(void **state)
{
	static struct post many;
	struct cluster *c = meet(PROCESSES, false);
	uint64_t most;

	start(&many, c, NO_SITE);
	many.stays = many.is_slow = true;
	for (uint32_t i = 1; i < LETTERS; i++)
		many.letter[i].hop = HOPS;
	most = own_ns();
	sim_run(many.sim, SIM_NEVER - 1);
	most = c->me ? own_ns() - most : 0;
	sim_max(many.sim, &most, 1);
	end(c, &many);
	assert_true(most < 20000000);
	(void)state;
}

static void sum(void *arg)
{
	struct cluster *c = arg;
	uint64_t x = 1;

	cluster_sum(c, &x, 1);
}

static void lose(bool is_apart)
{
	struct err e = { 0 };
	struct cluster *c = meet(PROCESSES, is_apart);
	char want[CLUSTER_NAME + 32], name[CLUSTER_NAME];

	if (c->me == 2)
		mem_give_up();
	err_guard(sum, c, &e);
	if (c->me)
		_exit(0);
	c->ops->leave(c, e.code);
	cluster_name(2, name);
	snprintf(want, sizeof(want), "%s: out of memory", name);
	assert_int_equal(e.code, EXIT_LIMIT);
	assert_string_equal(e.text, want);
}

static void the_first_process_says_why_another_has_ended(void **state)
{
	lose(false);
	lose(true);
	(void)state;
}

/* Each of two sites tells the other's process in which window it is, and both
 * are alone in some. */
struct talk {
	struct sim *sim;
	uint32_t listener;
	uint64_t heard, n_heard, n_late;
};

enum { TALKS = 500 };

static bool is_silent(uint64_t window, site_id s)
{
	return window / 7 % 3 == s;
}

static void hear_window(void *arg, const void *bytes, size_t n)
{
	struct talk *x = arg;

	assert_int_equal(n, sizeof(x->heard));
	memcpy(&x->heard, bytes, n);
	x->n_heard++;
}

/* What the other one has last said in an earlier window. */
static uint64_t last_said(uint64_t window, site_id other)
{
	while (window-- && is_silent(window, other))
		;
	return window;
}

static void say_window(struct sim_worker *w, site_id s)
{
	struct talk *x = w->model;
	uint64_t k = (uint64_t)w->start / w->width, last = last_said(k, !s);
	sim_time t;

	while (sim_next(w, &t))
		;
	if (last != UINT64_MAX && (!x->n_heard || x->heard < last))
		x->n_late++;
	if (!is_silent(k, s))
		sim_note(w, !s, x->listener, &k, sizeof(k));
	if (k < TALKS)
		sim_post(w, s, t + WINDOW, SIM_KEY(PHASE_ENGINE, 0), 0, 0);
}

static uint64_t hear_late(bool is_apart, uint64_t *n)
{
	static const struct sim_ops say = { .visit = say_window };
	static const uint16_t process[] = { 0, 1 };
	static const uint8_t lead[4];
	struct cluster *c = meet(2, is_apart);
	struct talk x = { 0 };
	struct err e = { 0 };
	const struct sim_params p = { .n_sites = 2,
		.n_workers = 1,
		.window = WINDOW,
		.reach = 10 * WINDOW,
		.ops = &say,
		.model = &x,
		.cluster = c,
		.process = process,
		.lead = lead };

	x.sim = sim_new(&p, &e);
	assert_non_null(x.sim);
	x.listener = sim_listen(x.sim, hear_window, &x);
	sim_post(sim_owner(x.sim, c->me), c->me, 0, SIM_KEY(PHASE_ENGINE, 0), 0,
		0);
	sim_run(x.sim, SIM_NEVER - 1);
	*n = x.n_heard;
	sim_sum(x.sim, n, 1);
	sim_sum(x.sim, &x.n_late, 1);
	sim_free(x.sim);
	if (c->me) {
		c->ops->leave(c, 0);
		_exit(0);
	}
	c->ops->leave(c, 0);
	return x.n_late;
}

static void notes_are_heard_before_the_next_window(void **state)
{
	uint64_t n;

	for (uint32_t is_apart = 0; is_apart < 2; is_apart++) {
		assert_int_equal(hear_late(is_apart, &n), 0);
		assert_in_range(n, TALKS, 2 * TALKS);
	}
	(void)state;
}

static const atomic_int is_asked = 1;

static void who_is_asked_to_end_does_not_wait_for_ever(void **state)
{
	struct err e = { 0 };
	struct cluster *c = kin_start(2, &e);

	assert_non_null(c);
	if (c->me) { /* it does not come, until the first one has gone */
		sleep(60);
		_exit(0);
	}
	c->stop = &is_asked;
	c->asked = 1; /* a long time ago */
	err_guard(sum, c, &e);
	c->ops->leave(c, e.code);
	assert_int_equal(e.code, EXIT_STOPPED);
	(void)state;
}

TESTS(TEST(letters_go_from_process_to_process),
	TEST(an_error_of_one_process_is_that_of_all),
	TEST(an_error_comes_while_a_box_is_full),
	TEST(a_site_of_another_process_has_no_owner),
	TEST(letters_may_be_longer_than_a_box),
	TEST(a_process_runs_ahead_of_idle_ones),
	TEST(busy_processes_talk_to_neighbours_only),
	TEST(an_idle_process_sleeps),
	TEST(notes_are_heard_before_the_next_window),
	TEST(the_first_process_says_why_another_has_ended),
	TEST(who_is_asked_to_end_does_not_wait_for_ever))
