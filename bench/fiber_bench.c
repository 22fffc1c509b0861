/*
 * What a switch costs: half of a resume and the suspension that answers it,
 * for pools of several sizes, resumed in turn.  Small pools stay in the first
 * cache; the largest also has canaries, and misses.
 */
#define _GNU_SOURCE
#include "base/err.h"
#include "base/mem.h"
#include "sim/fiber.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { STACK_BYTES = 64 << 10, N_SWITCHES = 20000000 };

struct job {
	struct fiber_pool *pool;
	uint32_t id;
	bool is_over;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void suspend_forever(void *arg)
{
	struct job *j = arg;

	while (!j->is_over)
		fiber_suspend(j->pool, j->id);
}

static double resume_all_ns(struct fiber_pool *p, uint32_t n, uint32_t n_rounds)
{
	double begin = now_ns();

	for (uint32_t i = 0; i < n_rounds; i++)
		for (uint32_t id = 0; id < n; id++)
			fiber_resume(p, id);
	return now_ns() - begin;
}

static void bench_pool(struct fiber_pool *p, uint32_t n)
{
	struct job *jobs = mem_alloc(n, sizeof(*jobs));
	uint32_t n_rounds = N_SWITCHES / 2 / n;
	uint64_t resident = mem_resident();
	double first_ns, ns;

	for (uint32_t id = 0; id < n; id++) {
		jobs[id] = (struct job){ .pool = p, .id = id };
		fiber_start(p, id, suspend_forever, &jobs[id]);
	}
	first_ns = resume_all_ns(p, n, 1);
	resident = mem_resident() - resident;
	ns = resume_all_ns(p, n, n_rounds);
	for (uint32_t id = 0; id < n; id++)
		jobs[id].is_over = true;
	resume_all_ns(p, n, 1);
	printf("%8u %14.1f %14.1f %14.0f\n", n, ns / n_rounds / n / 2,
		first_ns / n, (double)resident / n);
	mem_free(jobs);
}

int main(void)
{
	static const uint32_t sizes[] = { 1, 16, 128, 1000, 16000, 98304 };
	struct err e = { 0 };

	printf("%8s %14s %14s %14s\n", "fibers", "ns per switch",
		"ns first run", "bytes each");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct fiber_pool *p =
			fiber_pool_new(sizes[i], STACK_BYTES, &e);

		if (!p) {
			fprintf(stderr, "%s\n", e.text);
			return e.code;
		}
		bench_pool(p, sizes[i]);
		fiber_pool_free(p);
	}
	return 0;
}
