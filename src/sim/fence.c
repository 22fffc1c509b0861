/*
 * Memory of foreign sites that cannot be touched: of other processes from the
 * start on, of other workers while one of them runs its part of a window.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "sim/inside.h"

/* The most ranges of foreign sites in one array that are fenced off: each is a
 * mapping of the host, which has a limit. */
enum { MOST_FENCES = 1024 };

struct range {
	void *from;
	size_t n;
};

struct fence {
	struct range *range; /* of other workers' sites */
	size_t n;
};

struct array {
	char *base;
	size_t size;
	site_id first, end;
};

static bool is_foreign(const struct sim *s, site_id site, uint32_t worker)
{
	uint8_t owner = s->owner[site];

	return s->process ? owner == SIM_FOREIGN : owner != worker;
}

/* From one site on, before one. */
static site_id find(const struct sim *s, site_id at, site_id end,
	uint32_t worker, bool is_wanted_foreign)
{
	while (at < end && is_foreign(s, at, worker) != is_wanted_foreign)
		at++;
	return at;
}

/* The whole pages between two addresses, since own sites may begin in the last
 * one. */
static struct range whole_pages(const char *from, const char *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)from + page - 1) / page * page;
	uintptr_t end = (uintptr_t)to / page * page;

	return (struct range){
		.from = (void *)first,
		.n = end > first ? end - first : 0,
	};
}

/* The next foreign sites of an array; *at becomes the end of them. */
static struct range next_range(const struct sim *s, const struct array *a,
	uint32_t worker, site_id *at)
{
	site_id from = find(s, *at, a->end, worker, true);

	*at = find(s, from, a->end, worker, false);
	return whole_pages(a->base + (from - a->first) * a->size,
		a->base + (*at - a->first) * a->size);
}

static void fence_worker(
	struct fence *f, const struct sim *s, const struct array *a, uint32_t w)
{
	site_id at = a->first;

	for (uint32_t i = 0; at < a->end && i < MOST_FENCES; i++) {
		struct range r = next_range(s, a, w, &at);

		if (!r.n)
			continue;
		f->range = mem_more(f->range, f->n, sizeof(*f->range));
		f->range[f->n++] = r;
	}
}

static void fence_process(const struct sim *s, const struct array *a)
{
	site_id at = a->first;

	for (uint32_t i = 0; at < a->end && i < MOST_FENCES; i++) {
		struct range r = next_range(s, a, 0, &at);

		if (r.n)
			mprotect(r.from, r.n, PROT_NONE);
	}
}

void sim_fence(
	struct sim *s, void *array, size_t size, site_id first, site_id end)
{
	struct array a = { array, size, first, end };

	if (s->process)
		fence_process(s, &a);
	for (uint32_t w = 0; s->fence && w < s->p.n_workers; w++)
		fence_worker(&s->fence[w], s, &a, w);
}

void fence_init(struct sim *s)
{
	if (s->p.trial.fences && !s->process)
		s->fence = mem_alloc(s->p.n_workers, sizeof(*s->fence));
}

void fence_fini(struct sim *s)
{
	for (uint32_t i = 0; s->fence && i < s->p.n_workers; i++)
		mem_free(s->fence[i].range);
	mem_free(s->fence);
}

static void protect(const struct fence *f, int how)
{
	for (size_t i = 0; i < f->n; i++)
		mprotect(f->range[i].from, f->range[i].n, how);
}

void fence_close(const struct sim_worker *w)
{
	protect(&w->sim->fence[w->id], PROT_NONE);
}

void fence_open(const struct sim_worker *w)
{
	protect(&w->sim->fence[w->id], PROT_READ | PROT_WRITE);
}
