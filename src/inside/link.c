#define _GNU_SOURCE /* MADV_DONTFORK */
#include "inside/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	FREE_LOOKS = 16, /* Open MPI does some of its work at each eighth */
	PIECE_ALIGN = 8,
	KEPT = 1024,
	PATIENT_MS = 10, /* with threads that compute */
};

#define ASK	       0xffffffff /* for the personality */
#define FIRST_DEADLINE (10 * 1000 * INT64_C(1000)) /* 10 us */
#define LAST_CLOCK     (INT64_MAX / 2)
#define LAST_DEADLINE  (PS_PER_S) /* a second: it grows no further */

/* A process is one rank, so there is one of this. */
static struct {
	enum link_phase phase;
	pthread_mutex_t lock;
	struct channel *channel;
	void (*done)(const struct channel_completion *c);
	uint32_t n_commands, room; /* queued; bytes in use */
	uint64_t epoch; /* grows with all that queues can be changed by */
	int64_t clock, charged; /* ps */
	int64_t outside; /* of the clock, since it has the turn */
	uint64_t deeds; /* operations other than clock reads */
	int64_t deadline; /* of the next wait in a call of which nothing is
			     known */
	int rest; /* where to say that it only waits, or -1 */
	bool is_mpi; /* MPI_Init() has started it */
	bool is_busy; /* another of its threads computes */
	bool is_forked; /* a rank's child */
	bool has_threads; /* of the program's own */
	uint32_t reasons; /* why it is not the same each time */
	/* completions that came with a signal */
	struct channel_completion kept[KEPT];
	uint32_t n_kept;
	bool keeps;
} link_ = { .lock = PTHREAD_MUTEX_INITIALIZER, .rest = -1 };

enum link_phase link_phase(void)
{
	return link_.phase;
}

bool link_is_timed(void)
{
	return link_.phase != LINK_NONE && !call_mine()->is_foreign;
}

bool link_is_forked(void)
{
	return link_.is_forked;
}

void weft_link_lock(void)
{
	pthread_mutex_lock(&link_.lock);
}

void weft_link_unlock(void)
{
	int64_t now = link_.phase == LINK_RUNS ? link_.clock : INT64_MIN;

	pthread_mutex_unlock(&link_.lock);
	timers_look(now);
}

/* --- life --- */

static int variable(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : -1;
}

/* A child speaks for nobody, and has the host's time. */
static void on_child(void)
{
	link_.phase = LINK_NONE;
	link_.is_forked = true;
	link_.channel = NULL;
	alloc_on_child();
	tsc_end();
	pthread_mutex_init(&link_.lock, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	if (variable("WEFT_CHANNEL") < 0)
		return;
	if (!alloc_open() || !(personality(ASK) & ADDR_NO_RANDOMIZE))
		link_.reasons |= CHANNEL_ADDRESSES;
	link_.phase = LINK_BEFORE;
	pthread_atfork(NULL, NULL, on_child);
	if (getenv("WEFT_DEBUG"))
		debug_await();
}

/* Programs that a rank starts are no ranks. */
static void forget_variables(void)
{
	unsetenv("WEFT_CHANNEL");
	unsetenv("WEFT_REST");
	unsetenv("WEFT_DEBUG");
}

static struct channel *map(int file)
{
	struct channel *c = mmap(NULL, CHANNEL_BYTES, PROT_READ | PROT_WRITE,
		MAP_SHARED, file, 0);

	if (c == MAP_FAILED)
		return NULL;
	if (c->magic != CHANNEL_MAGIC || c->version != CHANNEL_VERSION) {
		munmap(c, CHANNEL_BYTES);
		return NULL;
	}
	madvise(c, CHANNEL_BYTES, MADV_DONTFORK);
	return c;
}

/* Not before it is needed: until then the process may become another one, as
 * a shell does that starts the program. */
const struct channel *weft_link_open(void)
{
	int file, tracer;

	if (link_.channel || link_.phase != LINK_BEFORE)
		return link_.channel;
	file = variable("WEFT_CHANNEL");
	tracer = variable("WEFT_TRACER");
	if (file < 0)
		return NULL;
	link_.channel = map(file);
	if (!link_.channel)
		return NULL;
	close(file);
	link_.rest = variable("WEFT_REST");
	if (link_.rest >= 0)
		fcntl(link_.rest, F_SETFD, FD_CLOEXEC);
	if (tracer > 0 && !getenv("WEFT_DEBUG"))
		prctl(PR_SET_PTRACER, (unsigned long)tracer, 0, 0, 0);
	forget_variables();
	return link_.channel;
}

void weft_link_serve(void (*done)(const struct channel_completion *c))
{
	link_.done = done;
}

bool link_has_provider(void)
{
	return link_.done;
}

void link_rest(void)
{
	uint32_t rank;

	if (link_.rest < 0 || !link_.channel)
		return;
	rank = link_.channel->rank;
	/* the helper learns it later if this fails: when the process ends */
	if (write(link_.rest, &rank, sizeof(rank)) != sizeof(rank))
		errno = 0;
	close(link_.rest);
	link_.rest = -1;
}

/* --- crossings --- */

static long futex(_Atomic uint32_t *word, int what, uint32_t value)
{
	return syscall(SYS_futex, word, what, value, NULL, NULL, 0);
}

static int64_t cpu_of(clockid_t id)
{
	struct timespec t;

	clock_real(id, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void give_turn(struct channel *c)
{
	atomic_store(&c->turn, CHANNEL_SIM);
	if (atomic_load(&c->sleeps[CHANNEL_SIM]))
		futex(&c->turn, FUTEX_WAKE, 1);
}

static void relax(void)
{
#if defined(__aarch64__)
	__asm__ volatile("yield");
#elif defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* Says that it sleeps before it looks once more: then whoever gives the turn
 * sees it, or it sees the turn. */
static void sleep_until_turn(struct channel *c)
{
	for (uint32_t i = 0; i < c->spins; i++) {
		if (atomic_load(&c->turn) == CHANNEL_RANK)
			return;
		relax();
	}
	while (atomic_load(&c->turn) != CHANNEL_RANK) {
		atomic_store(&c->sleeps[CHANNEL_RANK], 1);
		futex(&c->turn, FUTEX_WAIT, CHANNEL_SIM);
		atomic_store(&c->sleeps[CHANNEL_RANK], 0);
	}
}

/* By the kernel, which refuses what the program does not have; a process may
 * always reach itself, unless such calls are forbidden as a whole. */
static bool copy(struct channel *c)
{
	bool is_out = c->copy == CHANNEL_TO_ROOM;
	void *at = (void *)(uintptr_t)c->copy_at;
	struct iovec room = { c->room, c->copy_bytes };
	struct iovec own = { at, c->copy_bytes };
	long n = syscall(is_out ? SYS_process_vm_readv : SYS_process_vm_writev,
		syscall(SYS_getpid), &room, 1, &own, 1, 0);

	if (n >= 0 || errno == EFAULT)
		return n == (long)c->copy_bytes;
	if (is_out)
		memcpy(c->room, at, c->copy_bytes);
	else
		memcpy(at, c->room, c->copy_bytes);
	return true;
}

/* Some turns are only for copying. */
static void await_turn(struct channel *c)
{
	sleep_until_turn(c);
	while (c->copy == CHANNEL_TO_ROOM || c->copy == CHANNEL_FROM_ROOM) {
		c->copy = copy(c) ? CHANNEL_NO_COPY : CHANNEL_NO_BYTES;
		give_turn(c);
		sleep_until_turn(c);
	}
}

static void take_pieces(const struct channel *c)
{
	const uint8_t *at = c->room;

	for (uint32_t i = 0; i < c->n_pieces; i++) {
		struct channel_piece p;

		memcpy(&p, at, sizeof(p));
		at += sizeof(p);
		memcpy((void *)(uintptr_t)p.at, at, p.bytes);
		at += (p.bytes + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
	}
}

static void end_collective(const struct channel_completion *c)
{
	struct link_collective *wait = (void *)(uintptr_t)c->context;

	wait->is_done = true;
	wait->error = c->error;
	wait->data = c->data;
}

static void complete(const struct channel_completion *c)
{
	if (link_.keeps)
		link_.kept[link_.n_kept++] = *c;
	else if (channel_is_collective(c->kind))
		end_collective(c);
	else if (link_.done)
		link_.done(c);
}

/* False if there are none. */
static bool take_kept(void)
{
	uint32_t n = link_.n_kept;

	link_.n_kept = 0;
	for (uint32_t i = 0; i < n; i++)
		complete(&link_.kept[i]);
	link_.epoch += n > 0;
	return n > 0;
}

static void take_turn(struct channel *c)
{
	uint32_t n = c->n_completions;

	if (c->is_ending)
		_exit(1);
	link_.clock = c->now;
	link_.n_commands = 0;
	link_.room = 0;
	take_pieces(c);
	if (!link_.keeps)
		take_kept();
	for (uint32_t i = 0; i < n; i++)
		complete(&c->completion[i]);
	c->n_completions = 0;
	c->n_called = 0;
	link_.outside = 0;
	if (n > 0) {
		link_.epoch++;
		link_.deadline = FIRST_DEADLINE;
	}
}

static void cross(enum channel_why why, int64_t until)
{
	struct channel *c = link_.channel;
	int saved = errno;

	c->why = why;
	c->until = until;
	c->clock = link_.clock;
	call_mine()->is_told = true;
	c->call = call_mine()->what;
	c->outside = link_.outside;
	c->reasons = link_.reasons;
	c->n_commands = link_.n_commands;
	c->is_busy = link_.is_busy;
	give_turn(c);
	await_turn(c);
	take_turn(c);
	errno = saved;
}

void weft_link_flush(void)
{
	if (link_.phase == LINK_RUNS)
		cross(CHANNEL_FLUSH, INT64_MAX);
}

/* Programs without MPI start with their first operation. */
static bool is_running(void)
{
	if (link_.phase == LINK_BEFORE && link_.channel &&
		!call_mine()->is_setup)
		link_start();
	return link_.phase == LINK_RUNS && !call_mine()->is_foreign;
}

void weft_link_has_threads(void)
{
	if (weft_link_open())
		link_.channel->has_threads = 1;
}

void link_signal(int number)
{
	if (link_.channel)
		link_.channel->own_signal = (uint32_t)number;
}

void link_begin(enum channel_begun how)
{
	if (weft_link_open())
		atomic_store(&link_.channel->begun, how);
}

void link_start(void)
{
	if (link_.phase != LINK_BEFORE || !weft_link_open())
		return;
	link_rest();
	link_.phase = LINK_RUNS;
	link_.clock = 0;
	link_.deadline = FIRST_DEADLINE;
	link_.epoch = 1;
	link_.is_mpi = call_mine()->is_setup;
	cross(CHANNEL_START, INT64_MAX);
	compute_start(link_.channel);
	tsc_start(link_.channel->ways.is_trapped);
	spin_start(link_.channel->ways.is_interrupted);
}

/* The simulator ends it. */
void link_go_astray(uint32_t call, uint64_t n_calls)
{
	link_.channel->n_calls = n_calls;
	call_mine()->what = (struct channel_call){ .name = call };
	cross(CHANNEL_ASTRAY, INT64_MAX);
}

/* --- calls --- */

void link_enter(struct channel_call *c)
{
	c->since = link_.clock;
	if (link_.phase == LINK_RUNS)
		link_.channel->calls[c->name]++;
}

void link_leave(const struct channel_call *c)
{
	struct channel *to = link_.channel;

	if (link_.phase != LINK_RUNS || !to->is_logged)
		return;
	weft_link_lock();
	if (to->n_called < CHANNEL_CALLED)
		to->called[to->n_called++] =
			(struct channel_called){ *c, link_.clock };
	weft_link_unlock();
}

void link_tell_library(const char *text)
{
	if (!weft_link_open())
		return;
	snprintf(link_.channel->library, CHANNEL_LIBRARY, "%.*s",
		CHANNEL_LIBRARY - 1, text);
}

/* --- its end --- */

void link_exit(void)
{
	if (link_.phase != LINK_RUNS)
		return;
	tsc_end();
	link_.channel->cpu = (uint64_t)cpu_of(CLOCK_PROCESS_CPUTIME_ID);
	cross(CHANNEL_EXIT, INT64_MAX);
	link_.phase = LINK_AFTER;
}

/* Of a program that ends without MPI_Finalize(), if no other thread of it is
 * in a crossing.  The provider may be unloaded by now, so nothing that has
 * completed meanwhile is handed to it. */
__attribute__((destructor)) static void end(void)
{
	if (pthread_mutex_trylock(&link_.lock) != 0)
		return;
	link_.done = NULL;
	link_exit();
	pthread_mutex_unlock(&link_.lock);
}

/* --- commands --- */

static uint32_t put_in_room(const void *bytes, uint64_t n)
{
	uint32_t at = link_.room;

	memcpy(link_.channel->room + at, bytes, n);
	link_.room += (uint32_t)n;
	return at;
}

static bool has_room(unsigned n, uint64_t bytes)
{
	return link_.n_commands + n <= CHANNEL_COMMANDS &&
	       link_.room + bytes <= CHANNEL_ROOM;
}

/* The clock stops at a time that no run reaches. */
static void advance(int64_t ps)
{
	if (__builtin_add_overflow(link_.clock, ps, &link_.clock) ||
		link_.clock > LAST_CLOCK)
		link_.clock = LAST_CLOCK;
}

/* Fails a test without a crossing, if nothing can have arrived.  It takes as
 * long as a test with a crossing. */
static bool fails_alone(void)
{
	if (link_.n_commands > 0 || !link_.channel->own_tests)
		return false;
	link_.channel->own_tests--;
	advance(CHANNEL_LONG_TEST);
	return true;
}

/* A peek of a call that tests. */
static bool peek_fails_alone(const struct channel_command *c)
{
	const struct channel_completion none = {
		.context = c->context,
		.kind = c->kind,
		.flags = c->flags,
		.endpoint = c->endpoint,
		.error = ENOMSG,
	};

	if (c->kind != CHANNEL_PEEK || call_mine()->how != CALL_TESTS ||
		!fails_alone())
		return false;
	complete(&none);
	return true;
}

int weft_link_post(
	const struct channel_command *c, unsigned n, const void *bytes)
{
	uint64_t size = bytes ? c->bytes : 0;
	struct channel_command *to;

	if (!is_running() && link_.phase != LINK_BEFORE)
		return ESHUTDOWN;
	if (call_mine()->how == CALL_NONE)
		compute_place(0);
	link_.deeds++;
	if (peek_fails_alone(c))
		return 0;
	if (!has_room(n, size))
		weft_link_flush();
	if (!has_room(n, size))
		return EAGAIN;
	to = &link_.channel->command[link_.n_commands];
	memcpy(to, c, n * sizeof(*c));
	if (bytes) {
		to->flags |= CHANNEL_IN_ROOM;
		to->at = put_in_room(bytes, size);
	}
	link_.n_commands += n;
	link_.epoch++;
	call_mine()->is_told = true;
	call_mine()->what.bytes += c->bytes;
	return 0;
}

/* --- looks --- */

bool weft_link_is_blocking(void)
{
	return call_mine()->how == CALL_BLOCKS;
}

/* Nothing new can be known directly after a crossing or a command, and Open MPI
 * must be called some times to do all of its work: then it sleeps.  A call may
 * have work that needs no other rank, so each has its own looks; an earlier one
 * of another thread does not begin again behind a later one. */
static bool is_free(struct link_looks *l)
{
	uint64_t call = call_mine()->number;

	if (l->epoch != link_.epoch || l->call < call)
		*l = (struct link_looks){ link_.epoch, call, 0 };
	return l->n++ < FREE_LOOKS;
}

/* Lets the program's other threads come to a call, for some time; true if one
 * of them has changed something.  Then time goes on a little: the other one
 * may wait for this one. */
static bool await_threads(uint64_t epoch)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	weft_link_unlock();
	syscall(SYS_sched_yield);
	weft_link_lock();
	link_.is_busy = epoch == link_.epoch && threads_run();
	for (int i = 0; i < PATIENT_MS && link_.is_busy; i++) {
		weft_link_unlock();
		clock_real_sleep(&moment);
		weft_link_lock();
		link_.is_busy = epoch == link_.epoch && threads_run();
	}
	return epoch != link_.epoch;
}

/* In a call of which nothing is known: it may not be waiting at all.  Or what
 * it waits for is the business of another thread, which gets its chance. */
static void wait_some_time(void)
{
	int64_t most = link_.deadline;
	uint64_t epoch = link_.epoch;

	if (link_.has_threads && await_threads(epoch))
		return;
	cross(CHANNEL_WAIT, most < INT64_MAX - link_.clock ? link_.clock + most
							   : INT64_MAX - 1);
	if (epoch == link_.epoch && !link_.is_busy && most < LAST_DEADLINE)
		link_.deadline = most + most / 8;
	link_.is_busy = false;
}

void link_add_thread(void)
{
	link_.has_threads = true;
	link_note(CHANNEL_THREADS);
}

void link_tell_call(const struct channel_call *c)
{
	if (link_.phase == LINK_RUNS)
		link_.channel->call = *c;
}

void link_note(enum channel_reason reason)
{
	if (link_.phase != LINK_NONE && !call_mine()->is_foreign &&
		!call_mine()->is_setup)
		link_.reasons |= reason;
}

/* A call that tests looks once; all that it finds later is from that look,
 * unless it has asked for something since.  One that looks again and again
 * does not test. */
static void test(struct link_looks *l, struct call *call)
{
	if (call->looks++ == 0 && fails_alone())
		return;
	if (call->looks == 1 || link_.n_commands > 0)
		cross(CHANNEL_LOOK, INT64_MAX);
	else if (call->looks > FREE_LOOKS && !is_free(l))
		wait_some_time();
}

/* If it ends with nothing, another rank has written into this one's memory: all
 * that looks there gets its turn. */
static void wait_for_news(void)
{
	uint64_t epoch = link_.epoch;

	cross(CHANNEL_WAIT, INT64_MAX);
	if (epoch == link_.epoch)
		link_.epoch++;
}

void weft_link_look(struct link_looks *l)
{
	struct call *call = call_mine();

	if (!is_running())
		return;
	if (call->how == CALL_NONE)
		compute_place(CHANNEL_LOOKS);
	link_.deeds++;
	if (take_kept())
		return;
	if (link_.channel->has_more)
		cross(CHANNEL_FLUSH, INT64_MAX);
	else if (call->how == CALL_NONE && !link_.is_mpi)
		cross(CHANNEL_LOOK, INT64_MAX);
	else if (call->how == CALL_TESTS)
		test(l, call);
	else if (is_free(l))
		return;
	else if (call->how == CALL_BLOCKS && !link_.has_threads)
		wait_for_news();
	else
		wait_some_time();
}

bool weft_link_wait(int milliseconds)
{
	uint64_t epoch = link_.epoch;
	int64_t until =
		milliseconds < 0
			? INT64_MAX
			: link_.clock + milliseconds * (PS_PER_S / 1000);

	if (!is_running())
		return false;
	if (call_mine()->how == CALL_NONE)
		compute_place(CHANNEL_LOOKS);
	if (take_kept())
		return true;
	/* nobody here looks at memory that others write */
	do
		cross(CHANNEL_WAIT, until);
	while (epoch == link_.epoch && link_.clock < until && is_running());
	return epoch != link_.epoch;
}

void link_look_once(void)
{
	compute_look();
	weft_link_lock();
	link_.deeds++;
	if (link_.phase == LINK_RUNS && call_mine()->how == CALL_NONE)
		cross(CHANNEL_LOOK, INT64_MAX);
	weft_link_unlock();
}

/* The thread that was interrupted may have the lock. */
void link_spin(void)
{
	if (pthread_mutex_trylock(&link_.lock) != 0)
		return;
	if (link_.n_kept <= KEPT - CHANNEL_COMPLETIONS) {
		link_.keeps = true;
		wait_some_time();
		link_.keeps = false;
	}
	pthread_mutex_unlock(&link_.lock);
}

/* --- time --- */

/* What is queued happens now, and not at the end of the time that is charged
 * after it. */
static void settle(void)
{
	if (link_.n_commands > 0)
		weft_link_flush();
}

int64_t link_now(void)
{
	int64_t now;

	weft_link_lock();
	settle();
	now = link_.clock;
	weft_link_unlock();
	return now;
}

static void pass(int64_t ps)
{
	settle();
	advance(ps);
	if (call_mine()->how == CALL_NONE)
		link_.outside += ps;
}

void link_sleep(int64_t ps)
{
	compute_look();
	weft_link_lock();
	link_.deeds++;
	pass(ps);
	weft_link_unlock();
}

int64_t link_read_clock(int64_t ps)
{
	int64_t now;

	compute_look();
	weft_link_lock();
	pass(ps);
	link_.charged += ps;
	now = link_.clock;
	weft_link_unlock();
	return now;
}

uint64_t link_deeds(bool has_done)
{
	uint64_t n;

	weft_link_lock();
	n = link_.deeds += has_done;
	weft_link_unlock();
	return n;
}

void link_compute(int64_t ps)
{
	if (ps == 0)
		return;
	settle();
	advance(ps);
	link_.charged += ps;
	link_.outside += ps;
}

void link_declare(int64_t ps)
{
	compute_look();
	weft_link_lock();
	link_.deeds++;
	link_compute(ps);
	weft_link_unlock();
}

int64_t link_charged(void)
{
	return link_.charged;
}
