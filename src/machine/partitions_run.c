/*
 * Runs partitions, each as a machine of its own with time of its own.  Those
 * that share IO nodes are a team: one thread runs a team, and always goes on
 * with the member whose next window is the earliest in the time of all, so the
 * others have come as far when it asks for its files' answers.  Teams share
 * nothing, and any thread runs the next one.
 */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "machine/partitions.h"

struct crew {
	const struct machine_partitions_run *how;
	struct files *files; /* that some share, or NULL */
	struct files_seat *seat; /* [partition] where there are some */
	uint32_t *team; /* [partition] */
	uint32_t next; /* team to be run; under the lock, as what follows */
	uint32_t n_done;
	/* Also held while machines are brought up and taken down. */
	pthread_mutex_t lock;
};

struct member {
	struct machine_run *run;
	struct machine_run_setup setup;
	struct batch_result *result;
	sim_time begin; /* of its time, in that of all */
	bool is_over;
};

/* --- teams --- */

/* The least number of all that it shares IO nodes with is a team's. */
static void join(uint32_t *team, uint32_t n, uint32_t a, uint32_t b)
{
	uint32_t to = team[a] < team[b] ? team[a] : team[b];
	uint32_t from = team[a] < team[b] ? team[b] : team[a], i;

	for (i = 0; i < n; i++)
		if (team[i] == from)
			team[i] = to;
}

static void make_teams(struct crew *c)
{
	const struct machine_partitions *p = c->how->list;
	const struct topo *t = c->how->machine->topo;
	uint32_t member[FILES_MEMBERS], io, i, n;

	c->team = mem_alloc(p->n, sizeof(*c->team));
	for (i = 0; i < p->n; i++)
		c->team[i] = i;
	for (io = 0; io < t->n_io; io++) {
		n = machine_partitions_of_io(p, t, io, member);
		for (i = 1; i < n; i++)
			join(c->team, p->n, member[0], member[i]);
	}
}

static int open_files(struct crew *c, struct err *e)
{
	const struct machine_partitions *p = c->how->list;
	uint32_t i;

	c->files = machine_partitions_files(p, c->how->machine, e);
	if (!c->files)
		return e->code ? -1 : 0;
	c->seat = mem_alloc(p->n, sizeof(*c->seat));
	for (i = 0; i < p->n; i++)
		c->seat[i] = (struct files_seat){ .files = c->files,
			.is_shared = true,
			.member = i,
			.begin = p->v[i].begin };
	return 0;
}

/* --- running one --- */

static sim_time next_time(const struct member *m)
{
	sim_time t = SIM_NEVER;

	if (!m->is_over)
		t = sim_next_time(m->run->system->net->sim);
	return t == SIM_NEVER ? t : t + m->begin;
}

/* Until some time, of all. */
static void go(struct member *m, sim_time until)
{
	sim_time pause = until == SIM_NEVER ? until : until - m->begin;
	int code = machine_run_go(m->run, pause, &m->result->e);

	m->is_over = code != 0;
	if (code > 0)
		batch_note(m->run, m->result);
}

/* The one to go on with, and when the next of the others does; or NULL. */
static struct member *find_first(struct member *m, uint32_t n, sim_time *second)
{
	struct member *first = NULL;
	sim_time least = SIM_NEVER, t;
	uint32_t i;

	*second = SIM_NEVER;
	for (i = 0; i < n; i++) {
		t = next_time(&m[i]);
		if (!m[i].is_over && (!first || t < least)) {
			*second = least;
			least = t;
			first = &m[i];
		} else if (t < *second) {
			*second = t;
		}
	}
	/* at the same time, one window of the first */
	if (*second <= least && least != SIM_NEVER)
		*second = least + 1;
	return first;
}

static void run_members(struct member *m, uint32_t n)
{
	struct member *first;
	sim_time until;
	uint32_t i;

	for (i = 0; i < n && n > 1; i++)
		if (!m[i].is_over)
			go(&m[i], m[i].begin);
	while ((first = find_first(m, n, &until)))
		go(first, until);
}

static void open_run(void *arg)
{
	struct member *m = arg;

	machine_run_open(m->run, &m->setup, &m->result->e);
}

static uint32_t open_team(struct crew *c, uint32_t team, struct member *m)
{
	const struct machine_partitions *p = c->how->list;
	uint32_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		if (c->team[i] != team)
			continue;
		m[n] = (struct member){ .run = mem_alloc(1, sizeof(*m->run)),
			.setup = c->how->setup[i],
			.result = &c->how->result[i],
			.begin = p->v[i].begin };
		m[n].setup.threads = 1;
		m[n].setup.files = c->seat ? &c->seat[i] : NULL;
		err_guard(open_run, &m[n], &m[n].result->e);
		m[n].is_over = m[n].result->e.code;
		n++;
	}
	return n;
}

static void run_team(struct crew *c, uint32_t team, struct member *m)
{
	uint32_t n, i;

	pthread_mutex_lock(&c->lock);
	n = open_team(c, team, m);
	pthread_mutex_unlock(&c->lock);
	run_members(m, n);
	pthread_mutex_lock(&c->lock);
	for (i = 0; i < n; i++) {
		machine_run_close(m[i].run);
		mem_free(m[i].run);
	}
	c->n_done += n;
	if (n && c->how->on_done)
		c->how->on_done(c->how->arg, c->n_done);
	pthread_mutex_unlock(&c->lock);
}

/* --- all of them --- */

static void *work(void *arg)
{
	struct crew *c = arg;
	uint32_t n = c->how->list->n, team;
	struct member *m = mem_alloc(n, sizeof(*m));
	void *locale = plain_begin();

	for (;;) {
		pthread_mutex_lock(&c->lock);
		team = c->next++;
		pthread_mutex_unlock(&c->lock);
		if (team >= n)
			break;
		run_team(c, team, m);
	}
	plain_end(locale);
	mem_free(m);
	return NULL;
}

/* Where the host lets us start fewer threads, these do it all. */
static void work_together(struct crew *c)
{
	uint32_t n = c->how->threads, i;
	pthread_t *threads = mem_alloc(n, sizeof(*threads));

	for (i = 1; i < n && i < c->how->list->n; i++)
		if (pthread_create(&threads[i], NULL, work, c))
			break;
	work(c);
	while (--i)
		pthread_join(threads[i], NULL);
	mem_free(threads);
}

int machine_partitions_run(
	const struct machine_partitions_run *how, struct err *e)
{
	struct crew c = { .how = how };

	if (open_files(&c, e))
		return -1;
	make_teams(&c);
	pthread_mutex_init(&c.lock, NULL);
	work_together(&c);
	pthread_mutex_destroy(&c.lock);
	mem_free(c.team);
	mem_free(c.seat);
	files_free(c.files);
	return 0;
}
