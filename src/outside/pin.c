#define _GNU_SOURCE /* sched_setaffinity() */
#include "outside/pin.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/barrier.h"

/* A core that a thread of the run has taken. */
struct taken {
	bool is_taken;
	pthread_t thread;
	pid_t id; /* the kernel's number of it */
};

struct pin {
	cpu_set_t all; /* cores that the run may use */
	cpu_set_t home; /* those of them that its threads take */
	pthread_mutex_t lock;
	struct taken taken[CPU_SETSIZE];
};

bool pin_has_cores(uint32_t n)
{
	return barrier_cpus() >= n;
}

/* Every n-th core; where there are fewer, a launcher has chosen them. */
static void leave_others(struct pin *p, uint32_t me, uint32_t n)
{
	uint32_t k = 0;

	if ((uint32_t)CPU_COUNT(&p->all) < n)
		return;
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &p->all) && k++ % n != me)
			CPU_CLR(i, &p->home);
}

struct pin *pin_new(uint32_t me, uint32_t n)
{
	struct pin *p = mem_alloc(1, sizeof(*p));

	if (sched_getaffinity(0, sizeof(p->all), &p->all)) {
		mem_free(p);
		return NULL;
	}
	p->home = p->all;
	leave_others(p, me, n);
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void pin_free(struct pin *p)
{
	if (!p)
		return;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (p->taken[i].is_taken)
			sched_setaffinity(
				p->taken[i].id, sizeof(p->all), &p->all);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}

static bool set_core(pid_t id, int core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	return !sched_setaffinity(id, sizeof(set), &set);
}

static bool is_mine(const struct pin *p, int core)
{
	return p->taken[core].is_taken &&
	       pthread_equal(p->taken[core].thread, pthread_self());
}

static bool is_free(const struct pin *p, int core)
{
	return CPU_ISSET((size_t)core, &p->home) && !p->taken[core].is_taken;
}

/* The calling thread stays where it is, or goes to a core that no other has;
 * if there is none, it stays unbound. */
static int settle_thread(struct pin *p, int core)
{
	int i = core;

	if (is_mine(p, core))
		return core;
	for (int n = 0; n < CPU_SETSIZE && !is_free(p, i); n++)
		i = (i + 1) % CPU_SETSIZE;
	if (!is_free(p, i) || !set_core(0, i))
		return core;
	p->taken[i] = (struct taken){ true, pthread_self(), gettid() };
	return i;
}

void pin_rank(struct pin *p, pid_t rank, int *core)
{
	int here = p ? sched_getcpu() : PIN_ANYWHERE;

	if (here == *core || here < 0 || here >= CPU_SETSIZE)
		return;
	pthread_mutex_lock(&p->lock);
	here = settle_thread(p, here);
	pthread_mutex_unlock(&p->lock);
	if (set_core(rank, here))
		*core = here;
}

void pin_leave(struct pin *p, pid_t rank, int *core)
{
	if (!p || *core == PIN_ANYWHERE)
		return;
	sched_setaffinity(rank, sizeof(p->all), &p->all);
	*core = PIN_ANYWHERE;
}
