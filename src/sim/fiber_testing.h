/* What the tests of fibers share. */
#ifndef SIM_FIBER_TESTING_H
#define SIM_FIBER_TESTING_H

#include "base/err.h"
#include "base/mem.h"
#include "sim/fiber.h"
#include "testing/testing.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/*
 * ThreadSanitizer as of gcc 12 can hold some 500 waiting fibers on arm64, and
 * has memory of its own below their stacks.
 * Sanitizers and contexts need memory beside the page that a fiber touches.
 */
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
enum { N_FEW = 200, N_MANY = 400, MAX_PAGES = 1000, IS_MAPPED_BELOW = 1 };
#elif defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) ||     \
	defined(WEFT_FIBER_UCONTEXT)
enum { N_FEW = 1000, N_MANY = 98304, MAX_PAGES = 4, IS_MAPPED_BELOW = 0 };
#else
enum { N_FEW = 1000, N_MANY = 98304, MAX_PAGES = 1, IS_MAPPED_BELOW = 0 };
#endif

enum { KIB = 1024, STACK_BYTES = 64 * KIB };

/* A fiber's argument: who it is, and room for what it found out. */
struct job {
	struct fiber_pool *pool;
	uint32_t id;
	int n_rounds;
	int n_done;
	uint64_t found;
};

static inline struct fiber_pool *new_pool(size_t n)
{
	struct err e = { 0 };
	struct fiber_pool *p = fiber_pool_new(n, STACK_BYTES, &e);

	if (!p)
		fail_msg("%s", e.text);
	return p;
}

static inline void pause_fiber(struct job *j)
{
	fiber_suspend(j->pool, j->id);
}

/* Runs one function on one fiber to its end, counting the resumes. */
static inline int run_alone(struct job *j, void (*run)(void *))
{
	int n = 1;

	fiber_start(j->pool, j->id, run, j);
	while (fiber_resume(j->pool, j->id) == FIBER_SUSPENDED)
		n++;
	return n;
}

static inline void count_rounds(void *arg)
{
	struct job *j = arg;

	for (int i = 0; i < j->n_rounds; i++) {
		j->n_done++;
		pause_fiber(j);
	}
}

/*
 * Many values alive over the suspensions, so that they fill the registers that
 * a callee must preserve; the sums are exact in double.
 */
static inline uint64_t mix_integers(struct job *j, uint64_t seed)
{
	uint64_t a = seed, b = a * 3, c = b * 5, d = c * 7, e = d * 11;
	uint64_t f = e * 13, g = f * 17, h = g * 19, i = h * 23, k = i * 29;

	for (int n = 0; n < j->n_rounds; n++) {
		a += b, b ^= c, c += d, d ^= e, e += f;
		pause_fiber(j);
		f ^= g, g += h, h ^= i, i += k, k ^= a;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ k;
}

static inline void integers_on_a_fiber(void *arg)
{
	struct job *j = arg;

	j->found = mix_integers(j, j->id + 1);
}

/* Goes down in frames of some 300 bytes; fills them, so they are all real. */
static __attribute__((noinline, unused)) int descend(
	struct job *j, uintptr_t from, size_t bytes)
{
	volatile char frame[256];
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	int n = 0;

	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (char)i;
	if (from - here < bytes)
		n = descend(j, from, bytes);
	else if (j->n_rounds)
		pause_fiber(j);
	return n + frame[1];
}

static inline void descend_by_found(void *arg)
{
	struct job *j = arg;

	j->n_done = descend(
		j, (uintptr_t)__builtin_frame_address(0), (size_t)j->found);
}

#endif
