/*
 * weft-peer: runs an MPI program on no machine at all.
 *
 *   weft-peer [-n RANKS] [-p RANKS A NODE] [-c] [-m] [-v] PROGRAM
 *     [ARGUMENT...]
 *
 * It plays the simulator's side of the channels, so that what is loaded into
 * ranks is tested alone.  The network takes a microsecond a message, whatever
 * its size; all else takes no time.  Ranks take their turns in the order of
 * their clocks, so a run is the same each time.  What ranks print comes rank by
 * rank at the end.
 *
 * With -m ranks copy what is in their memory, as where nobody else may.
 * With -c the network has barriers, broadcasts and reductions of its own.
 * Exit code: 0; 1 if a rank failed; 3 if all wait.  With -v each command and
 * completion is a line on stderr; the last line is always a sum of them all.
 */
#define _GNU_SOURCE /* memfd_create(), process_vm_readv() */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inside/peer_testing.h"

static const char *const call_names[] = {
	"no call",
#define NAME(c, f, how, rank, tag) "MPI_" #c,
#include "inside/names.h"
#undef NAME
};

static const char *const kind_names[] = {
	[CHANNEL_SEND] = "send",
	[CHANNEL_RECEIVE] = "receive",
	[CHANNEL_PEEK] = "peek",
	[CHANNEL_CANCEL] = "cancel",
	[CHANNEL_WRITE] = "write",
	[CHANNEL_READ] = "read",
	[CHANNEL_ATOMIC] = "atomic",
	[CHANNEL_MORE] = "more",
	[CHANNEL_REGISTER] = "register",
	[CHANNEL_UNREGISTER] = "unregister",
	[CHANNEL_VECTOR_OF] = "vector",
	[CHANNEL_UNPOLLED] = "unpolled",
	[CHANNEL_BARRIER] = "barrier",
	[CHANNEL_BROADCAST] = "broadcast",
	[CHANNEL_REDUCE] = "reduce",
	[CHANNEL_GROUP] = "group",
	[CHANNEL_UNGROUP] = "ungroup",
};

_Noreturn void peer_die(const char *what)
{
	fprintf(stderr, "weft-peer: %s\n", what);
	exit(5);
}

void *peer_alloc(size_t n, size_t bytes)
{
	void *p = calloc(n, bytes);

	if (!p)
		peer_die("no memory");
	return p;
}

/* --- the sum of all that crosses --- */

static void mix(struct peer *p, uint64_t word)
{
	p->sum = (p->sum ^ word) * UINT64_C(0x100000001b3);
	p->sum ^= p->sum >> 29;
}

static void note_command(
	struct peer *p, const struct rank *r, const struct channel_command *c)
{
	mix(p, c->kind | (uint64_t)c->flags << 16 | (uint64_t)c->rank << 32);
	mix(p, c->tag);
	mix(p, c->bytes);
	mix(p, (uint64_t)p->now);
	if (p->is_loud)
		fprintf(stderr,
			"%12" PRId64 " %u %s %x to %d.%u tag %" PRIx64
			"/%" PRIx64 " %" PRIu64 " B\n",
			p->now, r->number, kind_names[c->kind], c->flags,
			(int)c->rank, c->to, c->tag, c->ignore, c->bytes);
}

static void note_completion(struct peer *p, const struct rank *r,
	const struct channel_completion *c)
{
	mix(p, c->kind | (uint64_t)c->error << 16 | (uint64_t)c->rank << 32);
	mix(p, c->bytes);
	if (p->is_loud)
		fprintf(stderr,
			"%12" PRId64 " %u %s done, error %d, from %d, "
			"%" PRIu64 " B\n",
			p->now, r->number, kind_names[c->kind], c->error,
			(int)c->rank, c->bytes);
}

/* --- events, in the order of time, then of their making --- */

struct event {
	int64_t at;
	uint64_t number;
	enum { TURN, EXECUTE, ARRIVE, TIMEOUT } what;
	struct rank *rank;
	struct packet *packet;
	uint64_t wait; /* of a time-out: which wait it ends */
};

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void schedule(struct peer *p, struct event e)
{
	if (p->n_events == p->size) {
		p->size = p->size ? 2 * p->size : 64;
		p->events = realloc(p->events, p->size * sizeof(e));
		if (!p->events)
			peer_die("no memory");
	}
	e.number = p->n_made++;
	p->events[p->n_events++] = e;
}

static bool next_event(struct peer *p, struct event *e)
{
	size_t best = 0;

	if (p->n_events == 0)
		return false;
	for (size_t i = 1; i < p->n_events; i++)
		if (is_before(&p->events[i], &p->events[best]))
			best = i;
	*e = p->events[best];
	p->events[best] = p->events[--p->n_events];
	return true;
}

void peer_arrive_later(struct peer *p, struct packet *k)
{
	schedule(p, (struct event){
			    .at = p->now + PEER_LATENCY,
			    .what = ARRIVE,
			    .rank = &p->rank[k->to],
			    .packet = k,
		    });
}

/* --- completions --- */

static void wake(struct peer *p, struct rank *r)
{
	if (r->state != WAITS)
		return;
	r->state = WAKES;
	schedule(p, (struct event){ .at = p->now, .what = TURN, .rank = r });
}

/* Somebody has written into its memory. */
void peer_touch(struct peer *p, struct rank *r)
{
	r->is_touched = true;
	wake(p, r);
}

void peer_complete(
	struct peer *p, struct rank *r, const struct channel_completion *c)
{
	struct done *d = peer_alloc(1, sizeof(*d));

	note_completion(p, r, c);
	d->completion = *c;
	*r->done_end = d;
	r->done_end = &d->next;
	wake(p, r);
}

/* --- whose turn it is --- */

static void take_news(struct peer *p, int flags)
{
	struct channel_news n;

	while (recv(p->socket, &n, sizeof(n), flags) == (ssize_t)sizeof(n)) {
		struct rank *r = &p->rank[n.rank];

		if (n.event == CHANNEL_BEGAN)
			r->pid = (pid_t)n.value;
		if (n.event == CHANNEL_ENDED) {
			r->has_ended = true;
			r->status = (int)n.value;
		}
		if (n.event == CHANNEL_ABORTED || n.event == CHANNEL_FAILED) {
			fprintf(stderr, "weft-peer: rank %u: %s %d: %s\n",
				n.rank,
				n.event == CHANNEL_ABORTED ? "aborted"
							   : "failed",
				(int)n.value, n.text);
			exit(1);
		}
	}
}

/* False if the rank has ended instead. */
static bool await(struct peer *p, struct rank *r)
{
	const struct timespec most = { .tv_nsec = 20 * 1000 * 1000 };
	struct channel *c = r->channel;

	while (atomic_load(&c->turn) != CHANNEL_SIM) {
		atomic_store(&c->sleeps[CHANNEL_SIM], 1);
		syscall(SYS_futex, &c->turn, FUTEX_WAIT, CHANNEL_RANK, &most,
			NULL, 0);
		atomic_store(&c->sleeps[CHANNEL_SIM], 0);
		take_news(p, MSG_DONTWAIT);
		if (r->has_ended && atomic_load(&c->turn) != CHANNEL_SIM)
			return false;
	}
	return true;
}

static void give(struct channel *c)
{
	atomic_store(&c->turn, CHANNEL_RANK);
	if (atomic_load(&c->sleeps[CHANNEL_RANK]))
		syscall(SYS_futex, &c->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- memory of ranks --- */

/* The rank copies a piece of its memory: it is given a turn for that alone. */
static void copy(struct rank *r, enum channel_copy what, uint64_t at,
	char *bytes, size_t n)
{
	struct channel *c = r->channel;

	if (what == CHANNEL_FROM_ROOM)
		memcpy(c->room, bytes, n);
	c->copy = what;
	c->copy_at = at;
	c->copy_bytes = (uint32_t)n;
	give(c);
	if (!await(r->peer, r))
		peer_die("a rank ends while it copies");
	if (what == CHANNEL_TO_ROOM)
		memcpy(bytes, c->room, n);
}

static void copy_all(struct rank *r, enum channel_copy what, uint64_t at,
	char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += CHANNEL_ROOM)
		copy(r, what, at + i, bytes + i,
			n - i < CHANNEL_ROOM ? n - i : CHANNEL_ROOM);
}

void peer_store_now(struct rank *r, uint64_t at, const void *from, size_t bytes)
{
	struct iovec local = { (void *)from, bytes };
	struct iovec remote = { (void *)(uintptr_t)at, bytes };

	if (r->peer->has_copies)
		copy_all(r, CHANNEL_FROM_ROOM, at, (char *)from, bytes);
	else if (bytes > 0 && process_vm_writev(r->pid, &local, 1, &remote, 1,
				      0) != (ssize_t)bytes)
		peer_die("cannot write a rank's memory");
}

void peer_store(struct rank *r, uint64_t at, const void *from, size_t bytes)
{
	struct channel_piece piece = { at, bytes };
	size_t room = sizeof(piece) + (bytes + 7) / 8 * 8;

	if (bytes == 0)
		return;
	if (bytes > CHANNEL_SHORT || r->room + room > CHANNEL_ROOM) {
		peer_store_now(r, at, from, bytes);
		return;
	}
	memcpy(r->pieces + r->room, &piece, sizeof(piece));
	memcpy(r->pieces + r->room + sizeof(piece), from, bytes);
	r->room += room;
	r->n_pieces++;
}

void peer_load(struct rank *r, void *to, uint64_t at, size_t bytes)
{
	struct iovec local = { to, bytes };
	struct iovec remote = { (void *)(uintptr_t)at, bytes };

	if (r->peer->has_copies)
		copy_all(r, CHANNEL_TO_ROOM, at, to, bytes);
	else if (bytes > 0 && process_vm_readv(r->pid, &local, 1, &remote, 1,
				      0) != (ssize_t)bytes)
		peer_die("cannot read a rank's memory");
}

/* --- turns --- */

static void hand_over(struct rank *r)
{
	struct channel *c = r->channel;
	struct done *d;

	for (c->n_completions = 0;
		r->done && c->n_completions < CHANNEL_COMPLETIONS;) {
		d = r->done;
		c->completion[c->n_completions++] = d->completion;
		r->done = d->next;
		free(d);
	}
	if (!r->done)
		r->done_end = &r->done;
	c->has_more = r->done != NULL;
	memcpy(c->room, r->pieces, r->room);
	c->n_pieces = r->n_pieces;
	r->room = 0;
	r->n_pieces = 0;
}

/* The rank runs until it gives the turn back. */
static void turn(struct peer *p, struct rank *r)
{
	p->n_turns++;
	r->n_waits++;
	if (r->state == WAKES)
		r->is_touched = false;
	hand_over(r);
	r->channel->now = p->now;
	r->state = RUNS;
	give(r->channel);
	if (r->has_left)
		return;
	if (!await(p, r)) {
		r->has_left = true;
		return;
	}
	if (r->channel->clock < p->now)
		peer_die("a clock goes backwards");
	schedule(p,
		(struct event){
			.at = r->channel->clock, .what = EXECUTE, .rank = r });
}

static void wait_for_news(struct peer *p, struct rank *r)
{
	int64_t until = r->channel->until;

	r->state = WAITS;
	if (r->done || r->is_touched) {
		wake(p, r);
	} else if (until != INT64_MAX) {
		schedule(p, (struct event){ .at = until,
				    .what = TIMEOUT,
				    .rank = r,
				    .wait = r->n_waits });
	}
}

static void execute(struct peer *p, struct rank *r)
{
	struct channel *c = r->channel;
	uint32_t n = c->n_commands;

	memcpy(r->command, c->command, n * sizeof(*c->command));
	memcpy(r->in_room, c->room, CHANNEL_ROOM);
	mix(p, c->why | (uint64_t)c->call.name << 32);
	if (p->is_loud)
		fprintf(stderr, "%12" PRId64 " %u crosses, why %u in %s\n",
			p->now, r->number, c->why, call_names[c->call.name]);
	for (uint32_t i = 0; i < n; i++) {
		note_command(p, r, &r->command[i]);
		i += peer_command(p, r, &r->command[i]);
	}
	r->has_left |= c->why == CHANNEL_EXIT;
	if (c->why == CHANNEL_WAIT)
		wait_for_news(p, r);
	else
		schedule(p,
			(struct event){
				.at = p->now +
				      (c->why == CHANNEL_LOOK ? PEER_LOOK : 0),
				.what = TURN,
				.rank = r });
}

static void on_event(struct peer *p, const struct event *e)
{
	switch (e->what) {
	case TURN:
		turn(p, e->rank);
		break;
	case EXECUTE:
		execute(p, e->rank);
		break;
	case ARRIVE:
		peer_arrive(p, e->rank, e->packet);
		break;
	case TIMEOUT:
		if (e->wait == e->rank->n_waits)
			wake(p, e->rank);
		break;
	}
}

/* --- life --- */

static int memory_file(const char *name, off_t bytes)
{
	int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file < 0 || ftruncate(file, bytes) < 0)
		peer_die("no file in memory");
	return file;
}

static void allow_files(void)
{
	struct rlimit all;

	getrlimit(RLIMIT_NOFILE, &all);
	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
}

static void open_rank(struct peer *p, uint32_t i)
{
	struct rank *r = &p->rank[i];
	struct channel *c;

	r->number = i;
	r->peer = p;
	r->done_end = &r->done;
	r->file = memory_file("channel", CHANNEL_BYTES);
	r->output = memory_file("output", 0);
	c = mmap(NULL, CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		r->file, 0);
	if (c == MAP_FAILED)
		peer_die("no memory");
	r->channel = c;
	c->magic = CHANNEL_MAGIC;
	c->version = CHANNEL_VERSION;
	c->rank = i;
	c->n_ranks = p->n_ranks;
	c->node = i / p->per_node;
	c->process = i % p->per_node;
	c->seed = 1;
	c->ways.is_trapped = getenv("WEFT_TSC") != NULL;
	if (p->has_collectives)
		c->collectives = 1u << CHANNEL_BARRIER |
				 1u << CHANNEL_BROADCAST | 1u << CHANNEL_REDUCE;
	atomic_store(&c->turn, CHANNEL_RANK);
}

static uint32_t on_node(const struct peer *p, uint32_t node)
{
	uint32_t first = node * p->per_node;

	return p->n_ranks - first < p->per_node ? p->n_ranks - first
						: p->per_node;
}

static void send_order(struct peer *p, const struct channel_rank *order,
	size_t bytes, const int *fd)
{
	char control[CMSG_SPACE(4 * sizeof(int))] = { 0 };
	struct iovec part = { (void *)order, bytes };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(4 * sizeof(int));
		memcpy(CMSG_DATA(c), fd, 4 * sizeof(int));
	}
	if (sendmsg(p->socket, &m, 0) < 0)
		peer_die("cannot give orders");
}

static void order_rank(struct peer *p, struct rank *r, char **arguments)
{
	struct channel_rank *order = peer_alloc(1, sizeof(*order));
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	char *at = order->text;

	order->rank = r->number;
	order->n_ranks = p->n_ranks;
	order->node = r->channel->node;
	order->process = r->channel->process;
	order->n_processes = on_node(p, order->node);
	order->n_nodes = (p->n_ranks + p->per_node - 1) / p->per_node;
	r->channel->n_processes = order->n_processes;
	for (; arguments[order->n_arguments]; order->n_arguments++)
		at = stpcpy(at, arguments[order->n_arguments]) + 1;
	send_order(p, order, (size_t)(at - (char *)order),
		(int[]){ r->file, r->number == 0 ? 0 : nothing, r->output, 2 });
	close(nothing);
	free(order);
}

static void start_helper(struct peer *p, const char *self)
{
	int pair[2];
	char path[PATH_MAX], folder[PATH_MAX], number[16];

	snprintf(folder, sizeof(folder), "%s", self);
	snprintf(path, sizeof(path), "%s/weft-start", dirname(folder));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		peer_die("no sockets");
	p->helper = fork();
	if (p->helper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		snprintf(number, sizeof(number), "%d", dup(pair[1]));
		setenv("WEFT_START", number, 1);
		execl(path, path, (char *)NULL);
		peer_die("weft-start is not beside this program");
	}
	p->socket = pair[0];
	close(pair[1]);
}

static void start_ranks(struct peer *p, char **arguments)
{
	struct channel_rank last = { .rank = p->n_ranks,
		.n_ranks = p->n_ranks };

	for (uint32_t i = 0; i < p->n_ranks; i++)
		order_rank(p, &p->rank[i], arguments);
	send_order(p, &last, offsetof(struct channel_rank, text), NULL);
	for (uint32_t i = 0; i < p->n_ranks; i++) {
		struct rank *r = &p->rank[i];

		/* A program without MPI never starts. */
		if (!await(p, r)) {
			r->has_left = true;
			continue;
		}
		if (r->channel->why != CHANNEL_START)
			peer_die("a rank that does not start");
		schedule(p, (struct event){ .what = EXECUTE, .rank = r });
	}
	take_news(p, MSG_DONTWAIT);
}

static void show_output(struct rank *r)
{
	char bytes[4096];
	ssize_t n;

	lseek(r->output, 0, SEEK_SET);
	while ((n = read(r->output, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)n, stdout);
}

static int say_stalled(const struct peer *p)
{
	for (uint32_t i = 0; i < p->n_ranks; i++) {
		const struct rank *r = &p->rank[i];
		const struct channel_call *c = &r->channel->call;

		if (!r->has_left)
			fprintf(stderr, "rank %u: %s from %d, tag %d\n", i,
				call_names[c->name], (int)c->rank, (int)c->tag);
	}
	fprintf(stderr, "weft-peer: stalled\n");
	return 3;
}

/* All have left the machine: what they do now is their own. */
static int finish(struct peer *p)
{
	uint32_t reasons = 0;
	int code = 0;

	take_news(p, 0);
	waitpid(p->helper, NULL, 0);
	for (uint32_t i = 0; i < p->n_ranks; i++) {
		struct rank *r = &p->rank[i];

		show_output(r);
		if (r->status != 0) {
			fprintf(stderr, "weft-peer: rank %u ended with %d%s\n",
				i, r->status,
				r->channel->begun == CHANNEL_ROUND
					? ": it would go round the network"
					: "");
			code = 1;
		}
	}
	for (uint32_t i = 0; i < p->n_ranks; i++)
		reasons |= p->rank[i].channel->reasons;
	if (reasons)
		fprintf(stderr, "weft-peer: not the same each time: %u\n",
			reasons);
	fprintf(stderr,
		"weft-peer: %" PRIu64 " turns, %" PRId64 " ps, sum %016" PRIx64
		"\n",
		p->n_turns, p->now, p->sum);
	return code;
}

/* Ranks are served until the last one has left. */
static int run(struct peer *p)
{
	struct event e;

	while (next_event(p, &e)) {
		p->now = e.at;
		on_event(p, &e);
	}
	for (uint32_t i = 0; i < p->n_ranks; i++)
		if (!p->rank[i].has_left)
			return say_stalled(p);
	return finish(p);
}

int main(int argc, char **argv)
{
	struct peer p = { .n_ranks = 2, .per_node = 1 };
	char self[PATH_MAX] = { 0 };
	int option;

	while ((option = getopt(argc, argv, "+n:p:cmv")) > 0)
		if (option == 'n')
			p.n_ranks = (uint32_t)atoi(optarg);
		else if (option == 'p')
			p.per_node = (uint32_t)atoi(optarg);
		else if (option == 'c')
			p.has_collectives = true;
		else if (option == 'm')
			p.has_copies = true;
		else if (option == 'v')
			p.is_loud = true;
	if (optind == argc || p.n_ranks == 0 || p.per_node == 0)
		peer_die("usage: weft-peer [-n N] [-p N] [-cmv] PROGRAM ...");
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		peer_die("no /proc");
	allow_files();
	p.rank = peer_alloc(p.n_ranks, sizeof(*p.rank));
	for (uint32_t i = 0; i < p.n_ranks; i++)
		open_rank(&p, i);
	start_helper(&p, self);
	start_ranks(&p, argv + optind);
	return run(&p);
}
