/*
 * Memory of foreign sites that cannot be touched: of other processes from the
 * start on, of other workers while one of them runs its part of a window.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/inside.h"

enum {
	/* the most ranges of foreign sites in one array that are fenced off:
	 * each is a mapping of the host, which has a limit */
	MOST_FENCES = 1024,
	/* Fences between the sites of one large page would break it up, and an
	 * event takes a tenth longer with small ones.  So arrays between these
	 * sizes have fences around whole large pages, unless these would double
	 * what own sites touch. */
	SMALL_ARRAY = 8 << 20,
	LARGE_ARRAY = 128 << 20,
};

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
static struct range whole_pages(const char *from, const char *to, size_t page)
{
	uintptr_t first = ((uintptr_t)from + page - 1) / page * page;
	uintptr_t end = (uintptr_t)to / page * page;

	return (struct range){
		.from = (void *)first,
		.n = end > first ? end - first : 0,
	};
}

/* The next foreign sites of an array; *at becomes the end of them. */
static struct range next_range(const struct sim *s, const struct array *a,
	uint32_t worker, site_id *at, size_t page)
{
	site_id from = find(s, *at, a->end, worker, true);

	*at = find(s, from, a->end, worker, false);
	return whole_pages(a->base + (from - a->first) * a->size,
		a->base + (*at - a->first) * a->size, page);
}

static size_t small_page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* The bytes within whole pages of sites of other processes. */
static size_t foreign_bytes(
	const struct sim *s, const struct array *a, size_t page)
{
	site_id at = a->first;
	size_t n = 0;

	while (at < a->end)
		n += next_range(s, a, 0, &at, page).n;
	return n;
}

/* The size of the pages that a process's fences stand between. */
static size_t choose_page(const struct sim *s, const struct array *a)
{
	size_t bytes = (a->end - a->first) * a->size, foreign, waste;

	if (bytes <= SMALL_ARRAY || bytes > LARGE_ARRAY)
		return small_page();
	foreign = foreign_bytes(s, a, small_page());
	waste = foreign - foreign_bytes(s, a, MAP_LARGE_PAGE);
	return waste <= bytes - foreign ? MAP_LARGE_PAGE : small_page();
}

static void fence_worker(
	struct fence *f, const struct sim *s, const struct array *a, uint32_t w)
{
	site_id at = a->first;

	for (uint32_t i = 0; at < a->end && i < MOST_FENCES; i++) {
		struct range r = next_range(s, a, w, &at, small_page());

		if (!r.n)
			continue;
		f->range = mem_more(f->range, f->n, sizeof(*f->range));
		f->range[f->n++] = r;
	}
}

static void fence_process(const struct sim *s, const struct array *a)
{
	size_t page = choose_page(s, a);
	site_id at = a->first;

	for (uint32_t i = 0; at < a->end && i < MOST_FENCES; i++) {
		struct range r = next_range(s, a, 0, &at, page);

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
