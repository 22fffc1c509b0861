#define _GNU_SOURCE /* execvpe(), pipe2() */
#include "inside/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOWEST_FD = 16 /* of what ranks get: above their own numbers */ };

struct loop {
	struct start start;
	int rest[2]; /* ranks write here that they have come to rest */
	int signals;
	uint32_t n_started, n_ended, n_busy, most_busy;
	sigset_t old_signals;
	void (*old_pipe)(int); /* what SIGPIPE did */
	struct rlimit old_files;
	enum { STACK_OPENMPI, STACK_PMI, STACK_NONE } stack;
	const char *folder; /* where ranks begin, or NULL */
	uint32_t debugged; /* rank that waits for a debugger, or n_ranks */
	pid_t parent;
	struct pollfd *poll; /* three, and one for each rank */
};

enum { POLL_SOCKET, POLL_REST, POLL_SIGNALS, POLL_RANKS };

enum {
	PATIENCE = 2000, /* ms until one more is started all the same */
	GRACE = 1000, /* ms that ranks have to end when they are asked to */
};

/* --- small things --- */

void *start_alloc(void *old, size_t bytes)
{
	void *p = realloc(old, bytes);

	if (!p) {
		fprintf(stderr, "weft-start: no memory\n");
		abort();
	}
	return p;
}

char *start_text(const char *form, ...)
{
	va_list list;
	char *text;
	int n;

	va_start(list, form);
	n = vasprintf(&text, form, list);
	va_end(list);
	if (n < 0)
		abort();
	return text;
}

void start_tell(const struct start *s, enum channel_event event, uint32_t rank,
	int64_t value, const char *text)
{
	struct channel_news n = {
		.event = event, .rank = rank, .value = value
	};

	snprintf(n.text, sizeof(n.text), "%s", text ? text : "");
	/* If nobody listens, the loop sees it. */
	send(s->socket, &n, sizeof(n), MSG_NOSIGNAL);
}

/* Above the numbers that ranks have for them, or these would be in the way. */
static int move_up(int fd)
{
	int to = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);

	if (fd >= 0)
		close(fd);
	return to;
}

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "weft-start: %s: %s\n", what, why);
	return 1;
}

/* --- orders --- */

static char **split(const char **at, const char *end, uint32_t n)
{
	char **list = start_alloc(NULL, (n + (size_t)1) * sizeof(*list));

	for (uint32_t i = 0; i < n; i++) {
		size_t bytes = strnlen(*at, (size_t)(end - *at));

		list[i] = start_text("%.*s", (int)bytes, *at);
		*at += bytes + (*at + bytes < end);
	}
	list[n] = NULL;
	return list;
}

static void take_rank(struct start *s, const struct channel_rank *order,
	const char *end, const int *fd)
{
	struct start_rank *r = &s->rank[order->rank];
	const char *at = order->text;

	*r = (struct start_rank){
		.node = order->node,
		.process = order->process,
		.n_processes = order->n_processes,
		.program = order->program,
		.tracer = order->tracer,
	};
	s->n_nodes = order->n_nodes;
	r->arguments = split(&at, end, order->n_arguments);
	r->variables = split(&at, end, order->n_variables);
	for (int i = 0; i < 4; i++)
		r->fd[i] = move_up(fd[i]);
}

/* Descriptors of a packet; those that did not come are -1. */
static void take_fds(struct msghdr *m, int *fd)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t bytes =
		c && c->cmsg_type == SCM_RIGHTS ? c->cmsg_len - CMSG_LEN(0) : 0;

	for (int i = 0; i < 4; i++)
		fd[i] = -1;
	if (bytes > 4 * sizeof(int))
		bytes = 4 * sizeof(int);
	if (bytes > 0)
		memcpy(fd, CMSG_DATA(c), bytes);
}

static ssize_t receive(int socket, struct channel_rank *order, int *fd)
{
	char control[CMSG_SPACE(4 * sizeof(int))];
	struct iovec part = { order, sizeof(*order) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);

	if (n > 0)
		take_fds(&m, fd);
	return n;
}

/* One order a rank, and one more to begin. */
static bool take_orders(struct start *s)
{
	struct channel_rank *order = start_alloc(NULL, sizeof(*order));
	bool is_good = false;
	ssize_t n;
	int fd[4];

	while ((n = receive(s->socket, order, fd)) >=
		(ssize_t)offsetof(struct channel_rank, text)) {
		if (!s->rank) {
			size_t bytes = order->n_ranks * sizeof(*s->rank);

			s->n_ranks = order->n_ranks;
			s->rank = start_alloc(NULL, bytes);
			memset(s->rank, 0, bytes);
		}
		is_good = order->rank == s->n_ranks;
		if (order->rank >= s->n_ranks)
			break;
		take_rank(s, order, (char *)order + n, fd);
	}
	free(order);
	return is_good;
}

/* --- a rank's process --- */

/* Between fork and exec: other threads hold locks that nobody gives back. */
static void become(const struct loop *l, const struct start_rank *r,
	char **variables, int told, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigprocmask(SIG_SETMASK, &l->old_signals, NULL);
	signal(SIGPIPE, l->old_pipe);
	setrlimit(RLIMIT_NOFILE, &l->old_files);
	personality(ADDR_NO_RANDOMIZE);
	/* Signals from a terminal or a script to weft's group are for weft,
	 * which ends ranks in order.  Signals of a rank to its own group stay
	 * there. */
	setsid();
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	isolate_rank(&l->start, (uint32_t)(r - l->start.rank));
	for (int i = 1; i < 4; i++)
		if (r->fd[i] >= 0)
			dup2(r->fd[i], i - 1);
	dup2(r->fd[0], START_CHANNEL_FD);
	dup2(l->rest[1], START_REST_FD);
	if (r->pmi >= 0)
		dup2(r->pmi, START_PMI_FD);
	if (l->start.places >= 0)
		dup2(l->start.places, START_PLACES_FD);
	if (!l->folder || chdir(l->folder) == 0)
		execvpe(r->arguments[0], r->arguments, variables);
	if (write(told, &errno, sizeof(errno)) < 0)
		_exit(1);
	_exit(127);
}

/* 0, or why it could not become the program. */
static int fork_rank(struct loop *l, struct start_rank *r, char **variables)
{
	int told[2], error = 0;
	pid_t parent = getpid();

	if (pipe2(told, O_CLOEXEC) < 0)
		return errno;
	r->pid = isolate_fork(&l->start.isolation,
		(uint32_t)(r - l->start.rank), &r->on_host);
	if (r->pid == 0)
		become(l, r, variables,
			fcntl(told[1], F_DUPFD_CLOEXEC, LOWEST_FD), parent);
	close(told[1]);
	if (r->pid < 0)
		error = errno;
	else if (read(told[0], &error, sizeof(error)) < 0)
		error = errno;
	close(told[0]);
	if (error && r->pid > 0)
		waitpid(r->pid, NULL, 0);
	if (error)
		r->pid = 0;
	return error;
}

static void free_list(char **list)
{
	for (size_t i = 0; list[i]; i++)
		free(list[i]);
	free(list);
}

/* What is wrong with a rank's environment, or NULL. */
static const char *check_environ(struct loop *l, uint32_t rank, char ***list)
{
	const char *why =
		l->stack == STACK_OPENMPI ? environ_refusal(*list) : NULL;

	if (!why && l->stack == STACK_OPENMPI)
		why = pmix_environ(rank, list);
	if (rank == l->debugged)
		environ_set(list, start_text("WEFT_DEBUG=1"));
	return why;
}

static void start_one(struct loop *l, uint32_t rank)
{
	struct start_rank *r = &l->start.rank[rank];
	char **variables = environ_make(&l->start, rank);
	const char *why = check_environ(l, rank, &variables);
	int error;

	r->pmi = l->stack == STACK_PMI ? move_up(pmi_environ(rank, &variables))
				       : -1;
	error = why	       ? EINVAL
		: r->fd[0] < 0 ? EMFILE
			       : fork_rank(l, r, variables);

	for (int i = 0; i < 4; i++)
		if (r->fd[i] >= 0)
			close(r->fd[i]);
	if (r->pmi >= 0)
		close(r->pmi);
	free_list(variables);
	if (error) {
		l->n_ended++;
		start_tell(&l->start, CHANNEL_FAILED, rank, error,
			why ? why : strerror(error));
		return;
	}
	r->is_busy = true;
	l->n_busy++;
	start_tell(&l->start, CHANNEL_BEGAN, rank, r->on_host, NULL);
}

/* --- what happens --- */

static void on_rest(struct loop *l, uint32_t rank)
{
	if (rank < l->start.n_ranks && l->start.rank[rank].is_busy) {
		l->start.rank[rank].is_busy = false;
		l->n_busy--;
	}
}

static void take_rests(struct loop *l)
{
	uint32_t rank;

	while (read(l->rest[0], &rank, sizeof(rank)) == sizeof(rank))
		on_rest(l, rank);
}

static void on_end(struct loop *l, pid_t pid, int status)
{
	for (uint32_t i = 0; i < l->start.n_ranks; i++)
		if (l->start.rank[i].pid == pid) {
			l->start.rank[i].pid = 0;
			isolate_forget(&l->start.isolation, i);
			l->n_ended++;
			on_rest(l, i);
			start_tell(&l->start, CHANNEL_ENDED, i, status, NULL);
		}
}

static void signal_all(const struct loop *l, int number)
{
	for (uint32_t i = 0; i < l->n_started; i++)
		if (l->start.rank[i].pid > 0)
			kill(l->start.rank[i].pid, number);
}

/* A terminal stops weft and this process; ranks have sessions of their own and
 * would continue to compute. */
static void stop_and_continue(const struct loop *l)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	signal_all(l, SIGSTOP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	raise(SIGTSTP); /* does nothing if nobody could continue weft */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	signal_all(l, SIGCONT);
}

/* Whether the parent is gone.  What a terminal sends to all of a group is for
 * the parent, which hangs up then. */
static bool take_signals(struct loop *l)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(l->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGTSTP)
			stop_and_continue(l);
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		on_end(l, pid, status);
	return getppid() != l->parent;
}

/* Many that start at once would leave the host no time for anything else. */
static void start_some(struct loop *l)
{
	while (l->n_started < l->start.n_ranks && l->n_busy < l->most_busy)
		start_one(l, l->n_started++);
}

static bool has_hung_up(int socket)
{
	char byte;

	return recv(socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

static nfds_t set_poll(struct loop *l)
{
	struct pollfd *p = l->poll;
	nfds_t n = POLL_RANKS;

	p[POLL_SOCKET] = (struct pollfd){ l->start.socket, POLLIN, 0 };
	p[POLL_REST] = (struct pollfd){ l->rest[0], POLLIN, 0 };
	p[POLL_SIGNALS] = (struct pollfd){ l->signals, POLLIN, 0 };
	for (uint32_t i = 0; i < l->start.n_ranks && l->stack == STACK_PMI; i++)
		p[n++] = (struct pollfd){ pmi_fd(i), POLLIN, 0 };
	return n;
}

static void take_lines(struct loop *l)
{
	for (uint32_t i = 0; i < l->start.n_ranks && l->stack == STACK_PMI; i++)
		if (l->poll[POLL_RANKS + i].revents && pmi_serve(i))
			on_rest(l, i);
}

/* Ranks that wait for others in a way that nobody sees must not keep these from
 * starting. */
static void run(struct loop *l)
{
	start_some(l);
	while (l->n_ended < l->start.n_ranks) {
		bool has_more = l->n_started < l->start.n_ranks;
		int n = poll(l->poll, set_poll(l), has_more ? PATIENCE : -1);

		if (n < 0 && errno != EINTR)
			break;
		if (n == 0)
			start_one(l, l->n_started++);
		if (l->poll[POLL_SOCKET].revents &&
			has_hung_up(l->start.socket))
			break;
		take_lines(l);
		take_rests(l);
		if (take_signals(l))
			break;
		start_some(l);
	}
}

/* Kills the children of this process; false if the kernel does not say who they
 * are. */
static bool kill_children(void)
{
	char path[64];
	FILE *list;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children",
		(int)getpid());
	list = fopen(path, "re");
	if (!list)
		return false;
	while (fscanf(list, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	fclose(list);
	return true;
}

/* Ranks are asked to end, and then not asked. */
static void end_all(struct loop *l)
{
	struct pollfd p = { l->signals, POLLIN, 0 };

	signal_all(l, SIGTERM);
	while (l->n_ended < l->n_started && poll(&p, 1, GRACE) > 0)
		take_signals(l);
	signal_all(l, SIGKILL);
	/* what a rank has started became a child of this process when the rank
	 * ended, and ends with the job */
	do
		if (!kill_children())
			clean_processes(l->start.self);
	while (waitpid(-1, NULL, 0) > 0);
}

/* --- a folder for what ranks of one node share --- */

/* Weft knows the name of the folder, so that another helper can remove it if
 * this one is killed. */
static bool open_scratch(struct start *s)
{
	if (!clean_make(s->scratch))
		return false;
	start_tell(s, CHANNEL_SCRATCH, 0, 0, s->scratch);
	return true;
}

/* Where no ranks share a node nobody needs it, and if all are killed, nobody is
 * left to remove it. */
static bool is_scratch_used(const struct start *s)
{
	for (uint32_t i = 0; i < s->n_ranks; i++)
		if (s->rank[i].n_processes > 1)
			return true;
	return false;
}

/* --- life --- */

static const char *own_folder(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n < 0)
		return NULL;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (slash)
		*slash = 0;
	return path;
}

/* Four for each rank, until it has started. */
static void allow_files(struct loop *l)
{
	struct rlimit all;

	getrlimit(RLIMIT_NOFILE, &l->old_files);
	all = l->old_files;
	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
}

static bool open_loop(struct loop *l)
{
	sigset_t signals;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	allow_files(l);
	sigfillset(&signals); /* ranks may send any */
	sigprocmask(SIG_BLOCK, &signals, &l->old_signals);
	/* PMIx writes to ranks that may have been killed */
	l->old_pipe = signal(SIGPIPE, SIG_IGN);
	l->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	l->most_busy = (uint32_t)(cores > 0 ? 2 * cores : 2);
	if (l->signals < 0 || pipe2(l->rest, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	l->rest[1] = move_up(l->rest[1]);
	return l->rest[1] >= 0;
}

static void read_options(struct loop *l)
{
	const char *stack = getenv("WEFT_STACK"), *rank = getenv("WEFT_DEBUG");

	if (stack && strcmp(stack, "pmi") == 0)
		l->stack = STACK_PMI;
	else if (stack && strcmp(stack, "none") == 0)
		l->stack = STACK_NONE;
	l->folder = getenv("WEFT_FOLDER");
	l->debugged = rank ? (uint32_t)atoi(rank) : l->start.n_ranks;
}

static const char *open_server(struct loop *l)
{
	size_t n = POLL_RANKS + l->start.n_ranks;

	l->poll = start_alloc(NULL, n * sizeof(*l->poll));
	l->start.places = -1;
	if (l->stack == STACK_OPENMPI) {
		l->start.places = move_up(places_make(&l->start));
		return l->start.places < 0 ? "no table of ranks"
					   : pmix_open(&l->start);
	}
	if (l->stack == STACK_PMI)
		pmi_open(&l->start);
	return NULL;
}

/* Cleans up for a helper that was killed, or for this process before it
 * executed itself again. */
static int clean_up(pid_t helper)
{
	const char *scratch = getenv("WEFT_SCRATCH");

	clean_processes(helper);
	if (scratch)
		clean_folder(scratch);
	return 0;
}

/* Gives ranks their process numbers, by a namespace or by a table. */
static const char *isolate_ranks(struct loop *l)
{
	const char *how = getenv("WEFT_ISOLATION");

	l->start.self = getpid();
	if (!(how && strcmp(how, "none") == 0) && isolate(&l->start, l->parent))
		start_tell(&l->start, CHANNEL_ISOLATED, 0, 0, NULL);
	else if (!isolate_open_table(&l->start))
		return "no memory for numbers of ranks";
	l->parent = getppid();
	/* orphans of ranks become children of this process */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	clean_after_parent(&l->start);
	return NULL;
}

static const char *begin(struct loop *l)
{
	const char *why;

	if (!open_scratch(&l->start))
		return "no folder in /dev/shm or /tmp";
	why = isolate_ranks(l);
	if (!why)
		why = open_server(l);
	if (!is_scratch_used(&l->start))
		rmdir(l->start.scratch);
	return why;
}

int main(void)
{
	static struct loop l;
	const char *number = getenv("WEFT_START"), *why;

	if (getenv("WEFT_CLEAN"))
		return clean_up(atoi(getenv("WEFT_CLEAN")));
	if (!number)
		return fail("WEFT_START", "not set: weft starts this program");
	l.start.socket = atoi(number);
	l.start.folder = own_folder();
	fcntl(l.start.socket, F_SETFD, FD_CLOEXEC);
	l.parent = getppid();
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* it wakes the guard */
	if (!l.start.folder || !open_loop(&l))
		return fail("no descriptors", strerror(errno));
	if (!take_orders(&l.start))
		return fail("orders", "they end too early");
	read_options(&l);
	why = begin(&l);
	if (why) {
		start_tell(&l.start, CHANNEL_FAILED, 0, EIO, why);
		return fail("PMIx", why);
	}
	run(&l);
	clean_soon();
	end_all(&l);
	clean_folder(l.start.scratch);
	_exit(0); /* no exit handlers of libpmix: its threads still run */
}
