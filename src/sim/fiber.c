/*
 * A pool's memory, low addresses first, with a guard for every third stack:
 *
 *     | guard | stack 0 | stack 1 | stack 2 | guard | stack 3 | stack 4 | ...
 *
 * Stacks grow to the left.  A stack's uppermost CANARY_BYTES belong to its
 * right neighbour, as that one's canary, unless a guard lies between them.  So
 * a canary lies in a page that is touched anyway, and an idle fiber costs one
 * page of stack and one struct fiber.
 *
 * A stack begins a few cache lines below its top, by a colour of its own:
 * otherwise the frames of all fibers would contend for the same cache sets.
 */
#define _GNU_SOURCE
#include "sim/fiber.h"
#include "base/err.h"
#include "base/inline.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if !defined(__LP64__) || !(defined(__aarch64__) || defined(__x86_64__))
#define WEFT_FIBER_UCONTEXT
#endif

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum {
	CANARY_BYTES = CACHE_LINE,
	CANARY_WORDS = CANARY_BYTES / sizeof(uint64_t),
	N_COLOURS = 15,
	ALT_STACK_BYTES = 64 << 10,
	MAX_POOLS = 64, /* that the SIGSEGV handler knows */
};

static const uint64_t CANARY = 0xc5a7f1e3b26d9840;

struct fiber {
	_Alignas(CACHE_LINE) void *sp; /* where it stands while suspended */
	void *back; /* where its resumer stands while it runs */
	void (*run)(void *arg);
	void *arg;
	uintptr_t low; /* the stack's lowest byte */
	uint64_t *canary; /* just below it, or NULL above a guard */
	enum fiber_state state;
#ifdef FIBER_ASAN
	void *fake_self, *fake_back;
	const void *back_low;
	size_t back_bytes;
#endif
#ifdef FIBER_TSAN
	void *tsan_self, *tsan_back;
#endif
};

struct fiber_pool {
	struct fiber *fibers;
	uintptr_t map; /* all stacks and guards */
	size_t map_bytes;
	size_t stack_bytes; /* from one stack to the next */
	size_t guard_bytes;
	size_t group_bytes; /* from one guard to the next */
	uint32_t group; /* stacks above each guard */
	uint32_t n_fibers;
	uint32_t n_guards; /* taken from the process's share */
};

/*
 * The process-wide state: a signal handler can find the pools in no other way,
 * the handler itself is the process's, and so is the map count.
 */
static _Atomic(struct fiber_pool *) pools[MAX_POOLS];
static atomic_uint guards_taken;
static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction other_handler;

/* That runs on this thread, for its SIGSEGV handler. */
static _Thread_local const struct fiber *running;

static struct fiber *fiber_of(const struct fiber_pool *p, uint32_t id)
{
	BUG_IF(id >= p->n_fibers);
	return &p->fibers[id];
}

/* ---- overflows ---- */

/* A line put together without stdio, which is not for signal handlers. */
struct message {
	char text[160];
	size_t len;
};

static void add_text(struct message *m, const char *s)
{
	while (*s && m->len < sizeof(m->text) - 1)
		m->text[m->len++] = *s++;
}

static void add_number(struct message *m, uint64_t n)
{
	char digits[21];
	size_t i = sizeof(digits);

	digits[--i] = '\0';
	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	add_text(m, digits + i);
}

static _Noreturn void report_overflow(const struct fiber_pool *p, uint32_t id)
{
	struct message m = { .len = 0 };

	add_text(&m, "fiber ");
	add_number(&m, id);
	add_text(&m, ": stack overflow (stack of ");
	add_number(&m, p->stack_bytes >> 10);
	add_text(&m, " KiB; a program asks for more by stack_bytes)");
	err_last_words(m.text);
	_exit(EXIT_LIMIT);
}

static void set_canary(struct fiber *f)
{
	if (!f->canary)
		return;
	for (int i = 0; i < CANARY_WORDS; i++)
		f->canary[i] = CANARY;
}

/* Frames that ran over it may have left it poisoned, hence the attribute. */
__attribute__((no_sanitize("address"))) static bool is_overrun(
	const struct fiber *f)
{
	uint64_t wrong = 0;

	if (!f->canary)
		return false;
	for (int i = 0; i < CANARY_WORDS; i++)
		wrong |= f->canary[i] ^ CANARY;
	return wrong != 0;
}

/*
 * Who ran into the guard at the low end of a group: the highest fiber that is
 * running and has lost its canary, having trodden on all below it; or else the
 * running one that is nearest.
 */
static uint32_t find_runaway(const struct fiber_pool *p, uint32_t first)
{
	uint32_t n = p->n_fibers - first, found = first;

	if (n > p->group)
		n = p->group;
	for (uint32_t id = first + n; id-- > first;) {
		const struct fiber *f = &p->fibers[id];

		if (f->state != FIBER_RUNNING)
			continue;
		found = id;
		if (is_overrun(f))
			break;
	}
	return found;
}

static void check_guards(const struct fiber_pool *p, uintptr_t address)
{
	uintptr_t at = address - p->map;
	uint32_t first = (uint32_t)(at / p->group_bytes) * p->group;

	if (at < p->map_bytes && at % p->group_bytes < p->guard_bytes)
		report_overflow(p, find_runaway(p, first));
}

static uintptr_t stack_pointer(const ucontext_t *c)
{
#if defined(__x86_64__)
	return (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	return (uintptr_t)c->uc_mcontext.sp;
#else
	(void)c;
	return 0;
#endif
}

/* A frame may be larger than a guard: where it stands then belongs to another
 * fiber, or to nobody. */
static void check_frame(const struct fiber_pool *p, uintptr_t sp)
{
	const struct fiber *f = running;

	if (f && f >= p->fibers && f < p->fibers + p->n_fibers && sp &&
		sp - f->low >= p->stack_bytes)
		report_overflow(p, (uint32_t)(f - p->fibers));
}

/* A fault that is not ours comes again, and then meets the other handler. */
static void on_segv(int signal, siginfo_t *info, void *context)
{
	bool is_fault = info->si_code > 0;

	for (size_t i = 0; i < MAX_POOLS && is_fault; i++) {
		const struct fiber_pool *p = atomic_load(&pools[i]);

		if (!p)
			continue;
		check_frame(p, stack_pointer(context));
		check_guards(p, (uintptr_t)info->si_addr);
	}
	sigaction(signal, &other_handler, NULL);
	if (!is_fault)
		raise(signal);
}

/* In front of the process's own, which may have changed since the last run. */
static void install_handler(void)
{
	struct sigaction now, a = {
		.sa_sigaction = on_segv,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	sigemptyset(&a.sa_mask);
	pthread_mutex_lock(&handler_lock);
	BUG_IF(sigaction(SIGSEGV, NULL, &now));
	if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_segv) {
		other_handler = now;
		BUG_IF(sigaction(SIGSEGV, &a, NULL));
	}
	pthread_mutex_unlock(&handler_lock);
}

void fiber_thread_init(struct fiber_thread *t)
{
	stack_t s;

	t->alt_stack = NULL;
	BUG_IF(sigaltstack(NULL, &s));
	if (s.ss_flags & SS_DISABLE) {
		t->alt_stack = map_alloc(ALT_STACK_BYTES);
		s.ss_sp = t->alt_stack;
		s.ss_size = ALT_STACK_BYTES;
		s.ss_flags = 0;
		BUG_IF(sigaltstack(&s, NULL));
	}
}

void fiber_thread_fini(struct fiber_thread *t)
{
	stack_t s = { .ss_flags = SS_DISABLE };

	if (!t->alt_stack)
		return;
	BUG_IF(sigaltstack(&s, NULL));
	map_free(t->alt_stack, ALT_STACK_BYTES);
	t->alt_stack = NULL;
}

/* ---- pools ---- */

/* At least one, and otherwise what is left of the process's share. */
static uint32_t take_guards(size_t want)
{
	unsigned taken = atomic_load(&guards_taken), n;

	do {
		unsigned left =
			taken < FIBER_MAX_GUARDS ? FIBER_MAX_GUARDS - taken : 1;

		n = want < left ? (unsigned)want : left;
	} while (!atomic_compare_exchange_weak(
		&guards_taken, &taken, taken + n));
	return n;
}

/*
 * NULL for new takes a pool from the handler's list, NULL for old adds one.
 * With more pools than places, overflows in the last are plain SIGSEGVs.
 */
static void replace_pool(struct fiber_pool *old, struct fiber_pool *new)
{
	for (size_t i = 0; i < MAX_POOLS; i++) {
		struct fiber_pool *expected = old;

		if (atomic_compare_exchange_strong(&pools[i], &expected, new))
			return;
	}
}

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static int check_sizes(size_t n_fibers, size_t stack_bytes, struct err *e)
{
	size_t most;

	if (stack_bytes < FIBER_MIN_STACK || stack_bytes > FIBER_MAX_STACK)
		return err_set(e,
			"fiber stacks of %zu bytes (want %d KiB to %d MiB)",
			stack_bytes, FIBER_MIN_STACK >> 10,
			FIBER_MAX_STACK >> 20);
	most = SIZE_MAX / 4 / (stack_bytes + FIBER_GUARD_BYTES);
	if (most >= FIBER_NONE)
		most = FIBER_NONE - 1;
	if (n_fibers < 1 || n_fibers > most)
		return err_set(e, "%zu fibers (want 1 to %zu)", n_fibers, most);
	return 0;
}

static void lay_out(struct fiber_pool *p, size_t n_fibers, size_t stack_bytes)
{
	uint32_t n = (uint32_t)n_fibers, n_groups;

	p->n_fibers = n;
	p->n_guards = take_guards(n);
	p->group = n / p->n_guards + (n % p->n_guards != 0);
	p->stack_bytes = whole_pages(stack_bytes);
	p->guard_bytes = whole_pages(FIBER_GUARD_BYTES);
	p->group_bytes = p->guard_bytes + p->group * p->stack_bytes;
	n_groups = n / p->group + (n % p->group != 0);
	p->map_bytes = n_groups * p->group_bytes;
}

/* Huge pages would make every first touch cost the memory of many stacks. */
static int map_stacks(struct fiber_pool *p, struct err *e)
{
	void *map = mmap(NULL, p->map_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return err_set_code(e, EXIT_LIMIT,
			"no memory for %u fiber stacks of %zu KiB: %s",
			p->n_fibers, p->stack_bytes >> 10, strerror(errno));
	p->map = (uintptr_t)map;
	madvise(map, p->map_bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < p->map_bytes; at += p->group_bytes) {
		if (mprotect((void *)(p->map + at), p->guard_bytes, PROT_NONE))
			return err_set_code(e, EXIT_LIMIT,
				"no guard pages for %u fiber stacks: %s (see "
				"the kernel's setting vm.max_map_count)",
				p->n_fibers, strerror(errno));
	}
	return 0;
}

struct fiber_pool *fiber_pool_new(
	size_t n_fibers, size_t stack_bytes, struct err *e)
{
	struct fiber_pool *p;

	if (check_sizes(n_fibers, stack_bytes, e))
		return NULL;
	p = mem_alloc(1, sizeof(*p));
	lay_out(p, n_fibers, stack_bytes);
	if (map_stacks(p, e)) {
		fiber_pool_free(p);
		return NULL;
	}
	p->fibers = map_alloc(n_fibers * sizeof(*p->fibers));
	replace_pool(NULL, p);
	install_handler();
	return p;
}

/* What the sanitizers keep of suspended fibers and of their frames. */
static void forget_fibers(struct fiber_pool *p)
{
#ifdef FIBER_TSAN
	for (uint32_t id = 0; id < p->n_fibers; id++)
		if (p->fibers[id].tsan_self)
			__tsan_destroy_fiber(p->fibers[id].tsan_self);
#endif
#ifdef FIBER_ASAN
	__asan_unpoison_memory_region((void *)p->map, p->map_bytes);
#endif
	(void)p;
}

void fiber_pool_free(struct fiber_pool *p)
{
	if (!p)
		return;
	replace_pool(p, NULL);
	if (p->fibers)
		forget_fibers(p);
	map_free(p->fibers, p->n_fibers * sizeof(*p->fibers));
	map_free((void *)p->map, p->map_bytes);
	atomic_fetch_sub(&guards_taken, p->n_guards);
	mem_free(p);
}

/* ---- what the sanitizers are told ---- */

/*
 * Inlined always: in a sanitizer's eyes the switch is where it is told, so that
 * between there and the true switch no function may begin or return.
 */
INLINE void note_entering(struct fiber *f, size_t stack_bytes)
{
	(void)f, (void)stack_bytes;
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(
		&f->fake_back, (void *)f->low, stack_bytes - CANARY_BYTES);
#endif
#ifdef FIBER_TSAN
	if (!f->tsan_self)
		f->tsan_self = __tsan_create_fiber(0);
	f->tsan_back = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(f->tsan_self, 0);
#endif
}

INLINE void note_entered(struct fiber *f)
{
	(void)f;
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(
		f->fake_self, &f->back_low, &f->back_bytes);
#endif
}

INLINE void note_leaving(struct fiber *f)
{
	(void)f;
#ifdef FIBER_ASAN
	void **keep = f->state == FIBER_ENDED ? NULL : &f->fake_self;

	f->fake_self = NULL;
	__sanitizer_start_switch_fiber(keep, f->back_low, f->back_bytes);
#endif
#ifdef FIBER_TSAN
	__tsan_switch_to_fiber(f->tsan_back, 0);
#endif
}

INLINE void note_left(struct fiber *f)
{
	(void)f;
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(f->fake_back, NULL, NULL);
#endif
#ifdef FIBER_TSAN
	if (f->state == FIBER_ENDED) {
		__tsan_destroy_fiber(f->tsan_self);
		f->tsan_self = NULL;
	}
#endif
}

/* ---- switches ---- */

#ifdef WEFT_FIBER_UCONTEXT

#include "sim/fiber_ucontext.h"

#else

/* fiber_switch.S */
void fiber_switch(void **save, void *to);
void fiber_enter(void **save, void *top, void (*run)(void *arg), void *arg);

#endif

/* To whoever resumed it, for the last time. */
INLINE void end_fiber(struct fiber *f)
{
	f->state = FIBER_ENDED;
	note_leaving(f);
	fiber_switch(&f->sp, f->back);
	BUG("a fiber went on after its end");
}

/* A fiber's lowest frame.  It is never returned to once the fiber has ended. */
static void fiber_main(void *arg)
{
	struct fiber *f = arg;

	note_entered(f);
	f->run(f->arg);
	end_fiber(f);
}

void fiber_abandon(struct fiber_pool *p)
{
	uint32_t id = fiber_current(p);

	if (id != FIBER_NONE)
		end_fiber(&p->fibers[id]);
}

static void *stack_top(const struct fiber_pool *p, uint32_t id)
{
	size_t ours = CANARY_BYTES + id % N_COLOURS * CACHE_LINE;

	return (void *)(p->fibers[id].low + p->stack_bytes - ours);
}

void fiber_start(
	struct fiber_pool *p, uint32_t id, void (*run)(void *arg), void *arg)
{
	struct fiber *f = fiber_of(p, id);
	uint32_t nth = id % p->group;

	if (f->state != FIBER_UNUSED && f->state != FIBER_ENDED)
		BUG("fiber %u is started but has not ended", id);
	f->run = run;
	f->arg = arg;
	f->low = p->map + id / p->group * p->group_bytes + p->guard_bytes +
		 nth * p->stack_bytes;
	f->canary = nth ? (uint64_t *)(f->low - CANARY_BYTES) : NULL;
	f->state = FIBER_READY;
}

/* The stack is first touched here, by the thread that will use it. */
enum fiber_state fiber_resume(struct fiber_pool *p, uint32_t id)
{
	struct fiber *f = fiber_of(p, id);
	bool is_first = f->state == FIBER_READY;

	if (!is_first && f->state != FIBER_SUSPENDED)
		BUG("fiber %u is resumed but does not wait", id);
	if (is_first)
		set_canary(f);
	f->state = FIBER_RUNNING;
	running = f;
	note_entering(f, p->stack_bytes);
	if (is_first)
		fiber_enter(&f->back, stack_top(p, id), fiber_main, f);
	else
		fiber_switch(&f->back, f->sp);
	note_left(f);
	running = NULL;
	if (is_overrun(f))
		report_overflow(p, id);
	return f->state;
}

static _Noreturn void report_stranger(
	const struct fiber_pool *p, uint32_t id, uintptr_t here)
{
	const struct fiber *f = &p->fibers[id];

	if (running == f ||
		(f->state == FIBER_RUNNING && here - p->map < p->map_bytes &&
			here < f->low))
		report_overflow(p, id);
	BUG("fiber %u is suspended by somebody else", id);
}

void fiber_suspend(struct fiber_pool *p, uint32_t id)
{
	struct fiber *f = fiber_of(p, id);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (f->state != FIBER_RUNNING || here - f->low >= p->stack_bytes)
		report_stranger(p, id, here);
	f->state = FIBER_SUSPENDED;
	note_leaving(f);
	fiber_switch(&f->sp, f->back);
	note_entered(f);
}

uint32_t fiber_current(const struct fiber_pool *p)
{
	uintptr_t at = (uintptr_t)__builtin_frame_address(0) - p->map;
	size_t in_group = at % p->group_bytes;

	if (at >= p->map_bytes || in_group < p->guard_bytes)
		return FIBER_NONE;
	return (uint32_t)(at / p->group_bytes) * p->group +
	       (uint32_t)((in_group - p->guard_bytes) / p->stack_bytes);
}

enum fiber_state fiber_state_of(const struct fiber_pool *p, uint32_t id)
{
	return fiber_of(p, id)->state;
}
