#define _GNU_SOURCE
#include "sim/kin.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/pace.h"
#include "sim/room.h"

enum {
	MOST_KIN = 32,
	KIN_GONE = 99, /* exit code of one that ends because another has */
	PATIENCE = 2000, /* ms until one that hung up has ended */
	WORDS = 512,
	SPIN_NS = 30000, /* that it looks before it sleeps */
	LOOK_MS = 500, /* time between looks at a wish to end */
};

struct head {
	uint64_t word[N_CLUSTER_WORDS];
	uint64_t n; /* bytes that follow */
};

/* A message to another process, and the one from it. */
struct talk {
	struct head to, from;
	const char *out;
	struct cluster_bytes *in;
	size_t sent, got; /* of head and bytes */
};

struct kin {
	struct cluster c;
	int socket[MOST_KIN]; /* to each process, or -1 */
	pid_t child[MOST_KIN]; /* the first one's */
	struct talk talk[MOST_KIN];
	struct cluster_bytes in[MOST_KIN]; /* of sums */
	/* What a process said before it ended in the middle, in memory that
	 * all share. */
	char (*words)[WORDS];
	char name[CLUSTER_NAME]; /* of the first one */
	void *room; /* the memory of c.room, or NULL */
};

static struct kin *of(struct cluster *c)
{
	return (struct kin *)c;
}

/* --- ends --- */

/* How a child has ended; false if it still runs, or ended because another
 * one had. */
static bool is_cause(struct kin *k, uint32_t i, struct err *e)
{
	char name[CLUSTER_NAME];
	int status;

	if (!k->child[i] || waitpid(k->child[i], &status, WNOHANG) <= 0)
		return false;
	k->child[i] = 0;
	cluster_name(i, name);
	if (WIFSIGNALED(status))
		err_set_code(e, EXIT_DEADLOCK,
			"%s was killed by signal %d (%s)", name,
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (*k->words[i])
		err_set_code(e, WEXITSTATUS(status), "%s: %.400s", name,
			k->words[i]);
	else if (WEXITSTATUS(status) != KIN_GONE)
		err_set_code(e, EXIT_DEADLOCK, "%s ended with exit code %d",
			name, WEXITSTATUS(status));
	return e->code;
}

/* Another process has hung up: which one was the first, and why. */
_Noreturn static void give_up(struct kin *k, uint32_t gone)
{
	struct err e = { 0 };

	if (k->c.me) /* the first one will say it */
		_exit(KIN_GONE);
	for (uint32_t ms = 0; ms < PATIENCE; ms += 10) {
		for (uint32_t i = 1; i < k->c.n; i++)
			if (is_cause(k, i, &e))
				err_raise(&e);
		poll(NULL, 0, 10);
	}
	err_give_up(EXIT_DEADLOCK, "process %u hung up", gone);
}

static bool is_left(pid_t child, int options)
{
	pid_t was = waitpid(child, NULL, options);

	return !was || (was < 0 && errno == EINTR);
}

/* After an error a child may be stopped, or still wait for others. */
static void wait_for(pid_t child, bool is_error)
{
	while (!is_error && is_left(child, 0))
		;
	for (uint32_t ms = 0; is_error && is_left(child, WNOHANG); ms += 10) {
		if (ms == PATIENCE / 4)
			kill(child, SIGKILL);
		poll(NULL, 0, 10);
	}
}

static void kin_leave(struct cluster *c, int code)
{
	struct kin *k = of(c);

	for (uint32_t i = 0; i < c->n; i++) {
		if (k->socket[i] >= 0)
			close(k->socket[i]);
		cluster_bytes_free(&k->in[i]);
	}
	for (uint32_t i = 0; i < c->n; i++)
		if (k->child[i])
			wait_for(k->child[i], code);
	err_name_process(NULL, NULL, 0);
	munmap(k->words, c->n * sizeof(*k->words));
	if (c->room) {
		room_close(c->room);
		munmap(k->room, room_size(c->n));
	}
	mem_free(k);
}

static uint32_t kin_find_gone(struct cluster *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct pollfd p = { .fd = of(c)->socket[i] };

		if (i != c->me && poll(&p, 1, 0) > 0 && p.revents & POLLHUP)
			return i;
	}
	return c->n;
}

static void kin_give_up(struct cluster *c, uint32_t gone)
{
	give_up(of(c), gone);
}

/* --- messages --- */

static bool is_blocked(ssize_t n)
{
	return n < 0 &&
	       (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

/* As much as the socket takes; whether all of it is sent. */
static bool push(struct kin *k, uint32_t i)
{
	struct talk *t = &k->talk[i];
	size_t all = sizeof(t->to) + t->to.n;

	while (t->sent < all) {
		bool is_head = t->sent < sizeof(t->to);
		size_t skip = is_head ? t->sent : t->sent - sizeof(t->to);
		struct iovec part[2] = {
			{ (char *)&t->to + skip, sizeof(t->to) - skip },
			{ (void *)(uintptr_t)t->out, t->to.n },
		};
		struct msghdr m = { .msg_iov = part, .msg_iovlen = 2 };
		ssize_t n;

		if (!is_head) {
			part[0].iov_base = (void *)(uintptr_t)(t->out + skip);
			part[0].iov_len = t->to.n - skip;
			m.msg_iovlen = 1;
		}
		n = sendmsg(k->socket[i], &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (is_blocked(n))
			return false;
		if (n < 0)
			give_up(k, i);
		t->sent += (size_t)n;
	}
	return true;
}

/* As much as there is; whether all has come. */
static bool pull(struct kin *k, uint32_t i)
{
	struct talk *t = &k->talk[i];

	for (;;) {
		bool is_head = t->got < sizeof(t->from);
		size_t had = is_head ? t->got : t->got - sizeof(t->from);
		char *to = is_head ? (char *)&t->from : t->in->at;
		size_t all = is_head ? sizeof(t->from) : t->from.n;
		ssize_t n;

		if (!is_head && had == all)
			return true;
		n = recv(k->socket[i], to + had, all - had, MSG_DONTWAIT);
		if (is_blocked(n))
			return false;
		if (n <= 0)
			give_up(k, i);
		t->got += (size_t)n;
		if (is_head && t->got == sizeof(t->from)) {
			t->in->n = 0;
			cluster_add(t->in, t->from.n);
		}
	}
}

/* One try with each process; returns how many are left to wait for. */
static uint32_t try_all(struct kin *k, struct pollfd wait[MOST_KIN])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->c.n; i++) {
		bool is_sent = i == k->c.me || push(k, i);
		bool has_come = i == k->c.me || pull(k, i);

		if (is_sent && has_come)
			continue;
		wait[n++] = (struct pollfd){
			.fd = k->socket[i],
			.events = (short)((is_sent ? 0 : POLLOUT) |
					  (has_come ? 0 : POLLIN)),
		};
	}
	return n;
}

/* Sends every message, and receives one of each other process.  Looks for some
 * microseconds before it sleeps: to be woken takes longer than many windows. */
static void talk(struct kin *k)
{
	struct pollfd wait[MOST_KIN];
	uint32_t n = try_all(k, wait);
	int64_t since = n ? pace_clock() : 0;

	while (n) {
		if (pace_clock() - since < SPIN_NS) {
			sched_yield();
		} else {
			poll(wait, n, LOOK_MS);
			cluster_look(&k->c);
		}
		n = try_all(k, wait);
	}
}

static void set_talk(struct kin *k, uint32_t i, const void *out, size_t n,
	struct cluster_bytes *in)
{
	k->talk[i] = (struct talk){ .to.n = n, .out = out, .in = in };
}

/* What another process wants. */
static void note_words(uint64_t *word, const uint64_t *from)
{
	if (from[CLUSTER_OWN] > word[CLUSTER_OTHERS])
		word[CLUSTER_OTHERS] = from[CLUSTER_OWN];
	for (uint32_t i = 0; i < N_CLUSTER_WORDS; i++)
		if (from[i] > word[i])
			word[i] = from[i];
}

static void kin_meet(struct cluster *c, const bool *is_near,
	const struct cluster_bytes *out, struct cluster_bytes *in,
	uint64_t word[N_CLUSTER_WORDS])
{
	struct kin *k = of(c);

	for (uint32_t i = 0; i < c->n; i++) {
		set_talk(k, i, out[i].at, is_near[i] ? out[i].n : 0, &in[i]);
		memcpy(k->talk[i].to.word, word, sizeof(k->talk[i].to.word));
	}
	talk(k);
	for (uint32_t i = 0; i < c->n; i++)
		if (i != c->me)
			note_words(word, k->talk[i].from.word);
}

static void kin_tell(struct cluster *c, uint32_t from, void *bytes, size_t n)
{
	struct kin *k = of(c);

	for (uint32_t i = 0; i < c->n; i++)
		set_talk(k, i, bytes, c->me == from ? n : 0, &k->in[i]);
	talk(k);
	if (c->me == from)
		return;
	BUG_IF(k->in[from].n != n);
	memcpy(bytes, k->in[from].at, n);
}

/* The first process computes it, and tells the others. */
static void reduce(struct cluster *c, uint64_t *x, size_t n, bool is_sum)
{
	struct kin *k = of(c);

	for (uint32_t i = 0; i < c->n; i++)
		set_talk(k, i, x, i || !c->me ? 0 : n * sizeof(*x), &k->in[i]);
	talk(k);
	for (uint32_t i = 1; i < c->n && !c->me; i++) {
		const uint64_t *y = (const uint64_t *)(void *)k->in[i].at;

		BUG_IF(k->in[i].n != n * sizeof(*x));
		for (size_t j = 0; j < n; j++)
			x[j] = is_sum ? x[j] + y[j] : x[j] > y[j] ? x[j] : y[j];
	}
	kin_tell(c, 0, x, n * sizeof(*x));
}

static void kin_sum(struct cluster *c, uint64_t *x, size_t n)
{
	reduce(c, x, n, true);
}

static void kin_max(struct cluster *c, uint64_t *x, size_t n)
{
	reduce(c, x, n, false);
}

static const struct cluster_ops kin_ops = {
	.name = "kin",
	.meet = kin_meet,
	.sum = kin_sum,
	.max = kin_max,
	.tell = kin_tell,
	.find_gone = kin_find_gone,
	.give_up = kin_give_up,
	.leave = kin_leave,
};

/* --- a beginning --- */

/* A process keeps its own end of its own pairs. */
static void keep_own(struct kin *k, int pair[MOST_KIN][MOST_KIN])
{
	uint32_t me = k->c.me;

	for (uint32_t i = 0; i < k->c.n; i++)
		for (uint32_t j = 0; j < k->c.n; j++)
			if (i != j && i != me)
				close(pair[i][j]);
	for (uint32_t i = 0; i < k->c.n; i++)
		k->socket[i] = i == me ? -1 : pair[me][i];
}

/* Children end with the first process, however it does. */
static bool fork_child(struct kin *k, uint32_t i)
{
	pid_t first = getpid(), child = fork();

	if (child) {
		k->child[i] = child > 0 ? child : 0;
		return false;
	}
	memset(k->child, 0, sizeof(k->child));
	k->c.me = k->c.me_here = i;
	err_name_process(NULL, k->words[i], sizeof(k->words[i]));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != first)
		_exit(KIN_GONE);
	return true;
}

static int make_pairs(uint32_t n, int pair[MOST_KIN][MOST_KIN], struct err *e)
{
	int two[2];

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++) {
			if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				    two))
				return err_set_code(e, EXIT_LIMIT,
					"cannot connect %u processes: %s", n,
					strerror(errno));
			pair[i][j] = two[0];
			pair[j][i] = two[1];
		}
	return 0;
}

static void *share_memory(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		mem_give_up();
	return p;
}

struct cluster *kin_start(uint32_t n, struct err *e)
{
	int pair[MOST_KIN][MOST_KIN];
	struct kin *k;

	if (n > MOST_KIN) {
		err_set(e, "%u processes (want at most %d)", n, MOST_KIN);
		return NULL;
	}
	if (make_pairs(n, pair, e))
		return NULL;
	k = mem_alloc(1, sizeof(*k));
	k->c = (struct cluster){ .ops = &kin_ops, .n = n, .n_here = n };
	k->words = share_memory(n * sizeof(*k->words));
	if (!cluster_is_apart())
		k->room = share_memory(room_size(n));
	for (uint32_t i = 1; i < n && !fork_child(k, i); i++)
		if (!k->child[i])
			err_set_code(e, EXIT_LIMIT,
				"cannot start %u processes: %s", n,
				strerror(errno));
	keep_own(k, pair);
	if (k->room)
		k->c.room = room_open(k->room, &k->c);
	if (!k->c.me) {
		cluster_name(0, k->name);
		err_name_process(k->name, NULL, 0);
	}
	if (!e->code)
		return &k->c;
	kin_leave(&k->c, e->code);
	return NULL;
}
