#define _GNU_SOURCE
#include "sim/kin.h"

#include <errno.h>
#include <poll.h>
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
#include "sim/patience.h"
#include "sim/yield.h"

enum {
	KIN_GONE = 99, /* exit code of one that ends because another has */
	PATIENCE = 2000, /* ms until one that hung up has ended */
	WORDS = 512,
	SPIN_NS = 30000, /* longest poll before a sleep */
	LOOK_MS = 500, /* time between looks at a wish to end */
	PIECE = 1 << 16, /* bytes */
};

/* What comes before the bytes of a message: there are messages of meetings, and
 * those that processes send each other. */
struct head {
	uint64_t n; /* bytes that follow */
	bool is_mail;
};

/* To another process, and from it. */
struct line {
	struct cluster_bytes out, in; /* whole messages, but for their ends */
	size_t sent; /* of out */
	bool is_gone; /* it has hung up, maybe after its last meeting */
};

struct kin {
	struct cluster c;
	int socket[KIN_MOST]; /* to each process, or -1 */
	pid_t child[KIN_MOST]; /* the first one's */
	struct line line[KIN_MOST];
	struct cluster_bytes said[KIN_MOST]; /* in a meeting */
	/* What a process said before it ended in the middle, in memory that
	 * all share. */
	char (*words)[WORDS];
	char name[CLUSTER_NAME]; /* of the first one */
	void *room; /* the memory of c.room, or NULL */
	struct yield yield;
	struct patience patience;
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
	err_name_process(NULL, NULL, 0); /* the line names another one */
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
		cluster_bytes_free(&k->line[i].in);
		cluster_bytes_free(&k->line[i].out);
		cluster_bytes_free(&k->said[i]);
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
	struct line *l = &k->line[i];

	while (l->sent < l->out.n) {
		ssize_t n = send(k->socket[i], l->out.at + l->sent,
			l->out.n - l->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (is_blocked(n))
			return false;
		if (n < 0)
			give_up(k, i);
		l->sent += (size_t)n;
	}
	l->sent = l->out.n = 0;
	return true;
}

/* As much as there is; whether there was any. */
static bool pull(struct kin *k, uint32_t i)
{
	struct cluster_bytes *in = &k->line[i].in;
	bool has_come = false;

	while (!k->line[i].is_gone) {
		char *to = cluster_add(in, PIECE);
		ssize_t n = recv(k->socket[i], to, PIECE, MSG_DONTWAIT);

		in->n -= PIECE;
		if (is_blocked(n))
			return has_come;
		if (n > 0)
			in->n += (size_t)n;
		else
			k->line[i].is_gone = true;
		has_come = true;
	}
	return has_come;
}

static void add_message(
	struct kin *k, uint32_t i, bool is_mail, const void *bytes, size_t n)
{
	struct head h = { .n = n, .is_mail = is_mail };
	struct line *l = &k->line[i];

	memcpy(cluster_add(&l->out, sizeof(h)), &h, sizeof(h));
	if (n)
		memcpy(cluster_add(&l->out, n), bytes, n);
	push(k, i);
}

/* The first message of a kind, if one has come. */
static bool find_message(
	struct kin *k, uint32_t i, bool is_mail, struct cluster_bytes *to)
{
	struct cluster_bytes *in = &k->line[i].in;
	struct head h;
	size_t at = 0, all;

	for (;; at += all) {
		if (in->n - at < sizeof(h))
			return false;
		memcpy(&h, in->at + at, sizeof(h));
		all = sizeof(h) + h.n;
		if (in->n - at < all)
			return false;
		if (h.is_mail == is_mail)
			break;
	}
	to->n = 0;
	if (h.n)
		memcpy(cluster_add(to, h.n), in->at + at + sizeof(h), h.n);
	in->n -= all;
	memmove(in->at + at, in->at + at + all, in->n - at);
	return true;
}

/* Takes one from a process that is still to send it. */
static bool take_message(
	struct kin *k, uint32_t i, bool is_mail, struct cluster_bytes *to)
{
	if (find_message(k, i, is_mail, to))
		return true;
	if (k->line[i].is_gone)
		give_up(k, i);
	return false;
}

/* Sends and receives what it can; whether something has come. */
static bool try_all(struct kin *k, struct pollfd wait[KIN_MOST])
{
	bool has_come = false;

	for (uint32_t i = 0; i < k->c.n; i++) {
		short events = POLLIN;

		if (i != k->c.me) {
			has_come |= pull(k, i);
			events |= push(k, i) ? 0 : POLLOUT;
		}
		wait[i] = (struct pollfd){
			.fd = k->line[i].is_gone ? -1 : k->socket[i],
			.events = events,
		};
	}
	return has_come;
}

static void kin_wait(struct cluster *c)
{
	struct kin *k = of(c);
	struct pollfd wait[KIN_MOST];
	int64_t since = pace_clock(), now = since;
	int64_t time = patience_next(&k->patience, SPIN_NS);
	bool has_slept = false;

	while (!try_all(k, wait)) {
		if (now - since < time) {
			now = yield_core(&k->yield, now, pace_clock);
		} else {
			has_slept = true;
			poll(wait, c->n, LOOK_MS);
			cluster_look(c);
		}
	}
	patience_learn(&k->patience, SPIN_NS, !has_slept);
}

static void kin_send(struct cluster *c, uint32_t to, struct cluster_bytes *b)
{
	add_message(of(c), to, true, b->at, b->n);
	b->n = 0;
}

static bool kin_receive(
	struct cluster *c, uint32_t from, struct cluster_bytes *b)
{
	return take_message(of(c), from, true, b);
}

/* --- meetings --- */

/* Each says something to each; what the others say is in k->said. */
static void meet(struct kin *k)
{
	for (uint32_t i = 0; i < k->c.n; i++)
		while (i != k->c.me && !take_message(k, i, false, &k->said[i]))
			kin_wait(&k->c);
	for (uint32_t i = 0; i < k->c.n; i++)
		while (i != k->c.me && !push(k, i)) {
			poll(NULL, 0, 1);
			cluster_look(&k->c);
		}
}

static void say(struct kin *k, uint32_t i, const void *bytes, size_t n)
{
	if (i != k->c.me)
		add_message(k, i, false, bytes, n);
}

/* What another process wants. */
static void note_words(uint64_t *word, const uint64_t *from)
{
	uint64_t busy = word[CLUSTER_BUSY] + from[CLUSTER_BUSY];

	if (from[CLUSTER_OWN] > word[CLUSTER_OTHERS])
		word[CLUSTER_OTHERS] = from[CLUSTER_OWN];
	for (uint32_t i = 0; i < N_CLUSTER_WORDS; i++)
		if (from[i] > word[i])
			word[i] = from[i];
	word[CLUSTER_BUSY] = busy;
}

static void kin_agree(struct cluster *c, uint64_t word[N_CLUSTER_WORDS])
{
	struct kin *k = of(c);
	uint64_t from[N_CLUSTER_WORDS];

	for (uint32_t i = 0; i < c->n; i++)
		say(k, i, word, sizeof(from));
	meet(k);
	for (uint32_t i = 0; i < c->n; i++) {
		if (i == c->me)
			continue;
		memcpy(from, k->said[i].at, sizeof(from));
		note_words(word, from);
	}
}

static void kin_tell(struct cluster *c, uint32_t from, void *bytes, size_t n)
{
	struct kin *k = of(c);

	for (uint32_t i = 0; i < c->n; i++)
		say(k, i, bytes, c->me == from ? n : 0);
	meet(k);
	if (c->me == from)
		return;
	BUG_IF(k->said[from].n != n);
	memcpy(bytes, k->said[from].at, n);
}

/* The first process computes it, and tells the others. */
static void reduce(struct cluster *c, uint64_t *x, size_t n, bool is_sum)
{
	struct kin *k = of(c);

	for (uint32_t i = 0; i < c->n; i++)
		say(k, i, x, i || !c->me ? 0 : n * sizeof(*x));
	meet(k);
	for (uint32_t i = 1; i < c->n && !c->me; i++) {
		const uint64_t *y = (const uint64_t *)(void *)k->said[i].at;

		BUG_IF(k->said[i].n != n * sizeof(*x));
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
	.send = kin_send,
	.receive = kin_receive,
	.wait = kin_wait,
	.agree = kin_agree,
	.sum = kin_sum,
	.max = kin_max,
	.tell = kin_tell,
	.find_gone = kin_find_gone,
	.give_up = kin_give_up,
	.leave = kin_leave,
};

/* --- a beginning --- */

/* A process keeps its own end of its own pairs. */
static void keep_own(struct kin *k, int pair[KIN_MOST][KIN_MOST])
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

static int make_pairs(uint32_t n, int pair[KIN_MOST][KIN_MOST], struct err *e)
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
	int pair[KIN_MOST][KIN_MOST];
	struct kin *k;

	BUG_IF(n > KIN_MOST);
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
