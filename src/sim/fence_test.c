#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/sim.h"
#include "testing/testing.h"

enum { WINDOW = 20000, SITES = 6, WORKERS = 3, ROUNDS = 20 };

/* The state of a site fills whole pages. */
struct site {
	uint64_t n, seen;
	char rest[1 << 16];
};

struct model {
	struct site *site; /* [SITES] */
	bool looks; /* each at the next site, which may be another worker's */
	uint32_t n_workers;
};

static void visit(struct sim_worker *w, site_id s)
{
	struct model *m = w->model;
	sim_time t;

	while (sim_next(w, &t)) {
		m->site[s].n++;
		if (m->looks)
			m->site[s].seen += m->site[(s + 1) % SITES].n;
		if (m->site[s].n < ROUNDS)
			sim_post(w, (s + 1) % SITES, t + WINDOW,
				SIM_KEY(PHASE_ARRIVAL, 0), 0, 0);
	}
}

static const struct sim_ops ops = { .visit = visit };

/* Also reads what all sites have got afterwards. */
static bool runs(struct model *m)
{
	struct sim_params p = {
		.n_sites = SITES,
		.n_workers = m->n_workers,
		.window = WINDOW,
		.reach = WINDOW,
		.ops = &ops,
		.model = m,
		.trial.fences = true,
	};
	struct err e = { 0 };
	struct sim *s = sim_new(&p, &e);
	bool are_right = true;

	assert_non_null(s);
	m->site = map_alloc(SITES * sizeof(*m->site));
	sim_fence(s, m->site, sizeof(*m->site), 0, SITES);
	for (site_id i = 0; i < SITES; i++)
		sim_post(
			sim_owner(s, i), i, 0, SIM_KEY(PHASE_ARRIVAL, 0), 0, 0);
	sim_run(s, SIM_NEVER - 1);
	for (site_id i = 0; i < SITES; i++)
		are_right &= m->site[i].n >= ROUNDS;
	sim_free(s);
	map_free(m->site, SITES * sizeof(*m->site));
	return are_right;
}

/* In a child, which a fence may end. */
static bool ends_well(struct model m)
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		close(STDERR_FILENO); /* where sanitizers say why */
		_exit(!runs(&m));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return !status;
}

static void a_worker_cannot_touch_sites_of_others(void **state)
{
	assert_true(ends_well((struct model){ .n_workers = WORKERS }));
	assert_true(ends_well((struct model){ .n_workers = 1, .looks = true }));
	assert_false(ends_well(
		(struct model){ .n_workers = WORKERS, .looks = true }));
	(void)state;
}

TESTS(TEST(a_worker_cannot_touch_sites_of_others))
