#define _GNU_SOURCE
#include "outside/start_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft_paths.h> /* made by meson */

#include "base/beside.h"
#include "base/mem.h"
#include "outside/debugger.h"
#include "outside/limits.h"
#include "outside/pass.h"

enum {
	FILES = 4, /* of a rank */
	HELPER_SOCKET = 3, /* its number in the helper */
	PATIENCE = 3000, /* ms, which the helper has to end ranks */
};

/* --- what the helper says --- */

static void note_end(struct start *s, struct rank *r, const struct start_end *e)
{
	pthread_mutex_lock(&s->lock);
	if (!r->end.has_ended) {
		r->end = *e;
		r->end.has_ended = true;
		s->n_ended++;
		pthread_cond_broadcast(&s->ended);
	}
	pthread_mutex_unlock(&s->lock);
	watch_end(s->watch, (uint32_t)(r - s->rank));
	/* whoever waits for it is in the process that serves it */
	if (r->home == siblings_me(s->siblings))
		handover_gone(&r->channel);
}

static void invite_debugger(struct start *s, uint32_t rank, int pid)
{
	s->debugger = debugger_start(pid);
	if (s->debugger > 0)
		return;
	fprintf(stderr,
		"weft: rank %u of %u is process %d and waits for a debugger: "
		"gdb -p %d\n",
		rank, s->n_ranks, pid, pid);
}

static void on_news(struct start *s, const struct channel_news *n)
{
	struct start_end end = { .how = (enum channel_event)n->event,
		.value = n->value };
	struct rank *r;

	if (n->rank >= s->n_ranks)
		return;
	r = &s->rank[n->rank];
	memcpy(end.text, n->text, sizeof(end.text) - 1);
	if (n->event == CHANNEL_SCRATCH) {
		memcpy(s->scratch, end.text, sizeof(s->scratch) - 1);
	} else if (n->event == CHANNEL_ISOLATED) {
		pthread_mutex_lock(&s->lock);
		s->is_isolated = true;
		pthread_mutex_unlock(&s->lock);
	} else if (n->event == CHANNEL_BEGAN) {
		pthread_mutex_lock(&s->lock);
		r->pid = (pid_t)n->value;
		pthread_mutex_unlock(&s->lock);
		watch_begin(s->watch, n->rank, r->pid, &r->channel);
		if (n->rank == s->debugged && start_is_first(s))
			invite_debugger(s, n->rank, (int)n->value);
	} else {
		note_end(s, r, &end);
	}
}

/* The helper is gone, and all ranks with it. */
static void on_silence(struct start *s)
{
	const struct start_end end = { .how = CHANNEL_FAILED,
		.value = ESRCH,
		.text = "weft-start was killed" };

	for (uint32_t i = 0; i < s->n_ranks; i++)
		note_end(s, &s->rank[i], &end);
	if (start_is_first(s))
		siblings_hang_up(s->siblings);
}

/* False when nothing more will come. */
static bool listen_to_helper(struct start *s)
{
	struct channel_news news;
	ssize_t n = recv(s->socket, &news, sizeof(news), 0);

	if (n == (ssize_t)sizeof(news) && start_is_first(s))
		siblings_tell(s->siblings, &news, sizeof(news));
	if (n == (ssize_t)sizeof(news))
		on_news(s, &news);
	else if (n >= 0 || errno != EINTR)
		return false;
	return true;
}

static void *listen_to_all(void *arg)
{
	struct start *s = arg;
	struct pollfd p[] = {
		{ .fd = s->socket, .events = POLLIN },
		{ .fd = s->wake[0], .events = POLLIN },
		{ .fd = output_file(s->output), .events = POLLIN },
		{ .fd = siblings_gone(s->siblings), .events = POLLIN },
	};
	bool is_on = true;

	while (is_on) {
		if (poll(p, sizeof(p) / sizeof(p[0]), -1) < 0)
			continue;
		if (p[2].revents)
			output_take(s->output);
		if (p[3].revents) { /* the next meeting will say why */
			atomic_store(siblings_word(s->siblings), 1);
			p[3].fd = -1;
		}
		if (p[0].revents)
			is_on = listen_to_helper(s);
		is_on = is_on && !p[1].revents;
	}
	on_silence(s);
	return NULL;
}

/* --- what the helper is told --- */

/* Appends strings with their ends; false if they do not fit. */
static bool add_strings(
	const char *const *strings, char *text, size_t *used, uint32_t *n)
{
	for (*n = 0; strings && strings[*n]; ++*n) {
		size_t bytes = strlen(strings[*n]) + 1;

		if (bytes > CHANNEL_START_TEXT - *used)
			return false;
		memcpy(text + *used, strings[*n], bytes);
		*used += bytes;
	}
	return true;
}

static int send_packet(int socket, const struct channel_rank *r, size_t text,
	const int *files, uint32_t n_files, struct err *e)
{
	size_t size = offsetof(struct channel_rank, text) + text;

	if (!pass_send(socket, r, size, files, n_files))
		return 0;
	return err_set_code(e, EXIT_LIMIT, "weft-start does not listen: %s",
		strerror(errno));
}

/* Ranks have no terminal, so the kernel would let one read what a user types
 * for another program. */
static bool may_read(void)
{
	return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static int tell_rank(struct start *s, const struct start_setup *set, uint32_t i,
	int nothing, struct err *e)
{
	const struct start_rank *place = &set->rank[i];
	struct channel_rank *r = mem_alloc(1, sizeof(*r));
	int files[FILES] = {
		s->rank[i].channel.file,
		i || !set->has_input || !may_read() ? nothing : STDIN_FILENO,
		output_pipe(s->output, i, OUTPUT_OUT),
		output_pipe(s->output, i, OUTPUT_ERR),
	};
	size_t used = 0;
	int code = 0;

	r->rank = i;
	r->n_ranks = s->n_ranks;
	r->node = place->node;
	r->n_nodes = set->n_nodes;
	r->process = place->process;
	r->program = place->program;
	r->n_processes = set->n_processes;
	r->tracer = siblings_pid(s->siblings, place->home);
	if (!add_strings(place->command, r->text, &used, &r->n_arguments) ||
		!add_strings(set->variables, r->text, &used, &r->n_variables))
		code = err_set(e,
			"the arguments of rank %u are longer than %d bytes", i,
			CHANNEL_START_TEXT);
	else
		code = send_packet(s->socket, r, used, files, FILES, e);
	mem_free(r);
	return code;
}

static int tell_all(
	struct start *s, const struct start_setup *set, struct err *e)
{
	struct channel_rank *end = mem_alloc(1, sizeof(*end));
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int code = nothing < 0 ? err_set_code(e, EXIT_LIMIT, "/dev/null: %s",
					 strerror(errno))
			       : 0;

	for (uint32_t i = 0; i < s->n_ranks && !code; i++)
		code = tell_rank(s, set, i, nothing, e);
	end->rank = end->n_ranks = s->n_ranks;
	if (!code)
		code = send_packet(s->socket, end, 0, NULL, 0, e);
	if (nothing >= 0)
		close(nothing);
	mem_free(end);
	return code;
}

/* --- the helper --- */

static int set_number(const char *name, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	return setenv(name, text, 1);
}

/* What all ranks have in common. */
static int set_variables(const struct start_setup *set)
{
	unsetenv("WEFT_CLEAN");
	unsetenv("WEFT_FOLDER");
	unsetenv("WEFT_DEBUG");
	unsetenv("WEFT_ISOLATION");
	unsetenv("WEFT_SCRATCH");
	return set_number("WEFT_START", HELPER_SOCKET) ||
	       setenv("WEFT_STACK", set->stack, 1) ||
	       (set->folder && setenv("WEFT_FOLDER", set->folder, 1)) ||
	       (!set->is_isolated && setenv("WEFT_ISOLATION", "none", 1)) ||
	       (set->debugged != CHANNEL_NONE &&
		       set_number("WEFT_DEBUG", set->debugged));
}

/* In the child: becomes the helper. */
static _Noreturn void become_helper(const struct start_setup *set, int socket,
	const struct rlimit *files, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_NOFILE, files);
	if (getppid() == parent && dup2(socket, HELPER_SOCKET) >= 0 &&
		fcntl(HELPER_SOCKET, F_SETFD, 0) >= 0 && !set_variables(set))
		execl(set->helper, set->helper, (char *)NULL);
	_exit(127);
}

static int start_helper(
	struct start *s, const struct start_setup *set, struct err *e)
{
	const char *path = set->helper;
	pid_t parent = getpid();
	int ends[2];

	if (access(path, X_OK))
		return err_set(e, "%s: %s", path, strerror(errno));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set_code(e, EXIT_LIMIT, "no socket for %s: %s", path,
			strerror(errno));
	s->socket = ends[0];
	s->helper = fork();
	if (!s->helper)
		become_helper(set, ends[1], &s->files, parent);
	watch_helper(s->watch, s->helper);
	close(ends[1]);
	if (s->helper < 0)
		return err_set_code(e, EXIT_LIMIT, "no process for %s: %s",
			path, strerror(errno));
	return 0;
}

static bool is_helper(const char *path)
{
	return access(path, X_OK) == 0;
}

int start_find_helper(char *path, size_t size, struct err *e)
{
	static const char *const ways[] = { "inside/weft-start",
		"../lib/weft/weft-start" };

	for (uint32_t i = 0; i < 2; i++)
		if (beside_program(ways[i], path, size) && is_helper(path))
			return 0;
	snprintf(path, size, "%s/weft-start", WEFT_INSIDE_DIR);
	if (is_helper(path))
		return 0;
	return err_set(e, "weft-start is missing: MPI programs need Weft built "
			  "with libfabric-dev and libpmix-dev");
}

/* --- life --- */

static int open_channels(
	struct start *s, const struct start_setup *set, struct err *e)
{
	struct handover_place p = { .n_ranks = s->n_ranks,
		.n_processes = set->n_processes,
		.collectives = set->collectives,
		.ways = set->ways };
	int code = 0;

	for (uint32_t i = 0; i < s->n_ranks && !code; i++) {
		p.rank = i;
		p.node = set->rank[i].node;
		p.process = set->rank[i].process;
		p.seed = set->seed + i;
		code = handover_open(&s->rank[i].channel, &p, e);
		if (code)
			break;
		s->rank[i].channel.channel->spins = set->spins;
	}
	return code;
}

/* The rank has its own now. */
static void close_files(struct start *s)
{
	for (uint32_t i = 0; i < s->n_ranks; i++) {
		close(s->rank[i].channel.file);
		s->rank[i].channel.file = -1;
	}
	output_begin(s->output);
}

/* What another process needs to serve a rank, or to know how it ended. */
static int give_rank(
	struct start *s, uint32_t process, uint32_t i, struct err *e)
{
	const int files[] = { s->rank[i].channel.file,
		output_reader(s->output, i, OUTPUT_OUT),
		output_reader(s->output, i, OUTPUT_ERR) };

	return siblings_give(s->siblings, process, i, files,
		s->rank[i].home == process ? 3 : 1, e);
}

static int give_away(struct start *s, struct err *e)
{
	int code = 0;

	for (uint32_t k = 1; k < siblings_n(s->siblings); k++)
		for (uint32_t i = 0; i < s->n_ranks && !code; i++)
			code = give_rank(s, k, i, e);
	for (uint32_t i = 0; i < s->n_ranks; i++)
		if (s->rank[i].home)
			output_leave(s->output, i);
	return code;
}

static int take_rank(struct start *s, uint32_t i, struct err *e)
{
	int files[SIBLINGS_FILES], n;
	int code;

	n = siblings_take(s->siblings, i, files, e);
	if (n < 0)
		return -1;
	code = handover_join_file(&s->rank[i].channel, files[0], e);
	for (int k = 1; k < n; k++)
		code |= output_take_over(
			s->output, i, (enum output_stream)(k - 1), files[k], e);
	if (s->rank[i].channel.file >= 0)
		close(s->rank[i].channel.file);
	s->rank[i].channel.file = -1;
	return code;
}

/* In the first process: all that ranks need. */
static int lead(struct start *s, const struct start_setup *set, struct err *e)
{
	if (output_open(s->output, e) || open_channels(s, set, e) ||
		give_away(s, e) || start_helper(s, set, e) ||
		tell_all(s, set, e))
		return -1;
	close_files(s);
	return 0;
}

/* In the others. */
static int follow(struct start *s, struct err *e)
{
	for (uint32_t i = 0; i < s->n_ranks; i++)
		if (take_rank(s, i, e))
			return -1;
	s->socket = siblings_socket(s->siblings);
	return 0;
}

static int begin(struct start *s, const struct start_setup *set, struct err *e)
{
	int code;

	if (pipe2(s->wake, O_CLOEXEC) < 0)
		return err_set_code(
			e, EXIT_LIMIT, "no pipe: %s", strerror(errno));
	if (start_is_first(s) ? lead(s, set, e) : follow(s, e))
		return -1;
	code = pthread_create(&s->thread, NULL, listen_to_all, s);
	s->has_thread = !code;
	return code ? err_set_code(
			      e, EXIT_LIMIT, "no thread: %s", strerror(code))
		    : 0;
}

struct start *start_ranks(const struct start_setup *set, struct err *e)
{
	struct start *s = mem_alloc(1, sizeof(*s));

	s->n_ranks = set->n_ranks;
	s->rank = mem_alloc(set->n_ranks, sizeof(*s->rank));
	for (uint32_t i = 0; i < s->n_ranks; i++)
		s->rank[i].home = set->rank[i].home;
	s->output = set->output;
	s->siblings = set->siblings;
	s->debugged = set->debugged;
	s->stop[0] = set->stop[0];
	s->stop[1] = set->stop[1];
	s->watch = watch_new(
		s->n_ranks, set->patience, s->debugged != CHANNEL_NONE);
	s->files = set->files;
	snprintf(s->path, sizeof(s->path), "%s", set->helper);
	s->socket = s->wake[0] = s->wake[1] = -1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->ended, NULL);
	if (begin(s, set, e)) {
		start_free(s);
		return NULL;
	}
	return s;
}

/* Behind a helper that was killed. */
static void clean_up(const struct start *s)
{
	pid_t child = fork();

	if (!child && !set_number("WEFT_CLEAN", s->helper) &&
		!setenv("WEFT_SCRATCH", s->scratch, 1))
		execl(s->path, s->path, (char *)NULL);
	if (!child)
		_exit(127);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Asks the helper to end, which ends the ranks; then does not ask. */
static void end_helper(struct start *s)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	int status;

	shutdown(s->socket, SHUT_WR);
	for (uint32_t t = 0; t < PATIENCE / 5; t++) {
		if (waitpid(s->helper, &status, WNOHANG)) {
			if (!WIFEXITED(status))
				clean_up(s);
			return;
		}
		nanosleep(&moment, NULL);
	}
	kill(s->helper, SIGKILL);
	waitpid(s->helper, &status, 0);
	clean_up(s);
}

void start_free(struct start *s)
{
	if (!s)
		return;
	if (s->helper > 0)
		end_helper(s);
	if (s->has_thread) {
		while (write(s->wake[1], "", 1) < 0 && errno == EINTR)
			;
		pthread_join(s->thread, NULL);
	}
	if (s->debugger > 0)
		debugger_end(s->debugger);
	for (uint32_t i = 0; i < s->n_ranks; i++)
		handover_close(&s->rank[i].channel);
	for (uint32_t i = 0; i < 2; i++)
		if (s->wake[i] >= 0)
			close(s->wake[i]);
	if (s->socket >= 0 && start_is_first(s)) /* siblings close theirs */
		close(s->socket);
	setrlimit(RLIMIT_NOFILE, &s->files);
	pthread_cond_destroy(&s->ended);
	pthread_mutex_destroy(&s->lock);
	watch_free(s->watch);
	mem_free(s->rank);
	mem_free(s);
}

/* --- looks --- */

struct watch *start_watch(struct start *s)
{
	return s->watch;
}

struct handover *start_channel(struct start *s, uint32_t rank)
{
	return &s->rank[rank].channel;
}

pid_t start_pid(struct start *s, uint32_t rank)
{
	pid_t pid;

	pthread_mutex_lock(&s->lock);
	pid = s->rank[rank].pid;
	pthread_mutex_unlock(&s->lock);
	return pid;
}

bool start_is_isolated(struct start *s)
{
	bool is;

	pthread_mutex_lock(&s->lock);
	is = s->is_isolated;
	pthread_mutex_unlock(&s->lock);
	return is;
}

/* While it has not ended its number is its own. */
void start_kill(struct start *s, uint32_t rank)
{
	const struct rank *r = &s->rank[rank];

	pthread_mutex_lock(&s->lock);
	if (r->pid > 0 && !r->end.has_ended)
		kill(r->pid, SIGKILL);
	pthread_mutex_unlock(&s->lock);
}

struct start_end start_end(struct start *s, uint32_t rank)
{
	struct start_end end;

	pthread_mutex_lock(&s->lock);
	end = s->rank[rank].end;
	pthread_mutex_unlock(&s->lock);
	return end;
}

/* What a host lacks is a limit; what it does not like is bad input. */
static int code_of(int error)
{
	return error == EAGAIN || error == ENOMEM || error == EMFILE ||
			       error == ENFILE
		       ? EXIT_LIMIT
	       : error == ESRCH ? EXIT_ANSWER_NO
				: EXIT_BAD_INPUT;
}

int start_describe(const struct start_end *end, char *text, size_t size)
{
	int status = (int)end->value;

	if (end->how == CHANNEL_FAILED) {
		snprintf(text, size, "%s: %s",
			status == ESRCH ? "has lost its parent"
					: "cannot be started",
			end->text[0] ? end->text : strerror(status));
		return code_of(status);
	}
	if (end->how == CHANNEL_ABORTED)
		snprintf(text, size, "called MPI_Abort with code %d", status);
	else if (WIFSIGNALED(status))
		snprintf(text, size, "died of signal %d (%s%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)),
			WCOREDUMP(status) ? ", core dumped" : "");
	else
		snprintf(text, size, "ended with exit code %d",
			WEXITSTATUS(status));
	return EXIT_ANSWER_NO;
}

static bool is_its_own(int number)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
		SIGSYS, SIGABRT, SIGPIPE };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (number == own[i])
			return true;
	return false;
}

bool start_was_killed(struct start *s, uint32_t rank)
{
	const struct channel *c = s->rank[rank].channel.channel;
	struct start_end end = start_end(s, rank);
	int status = (int)end.value;

	if (end.how == CHANNEL_FAILED)
		return true;
	return end.how == CHANNEL_ENDED && WIFSIGNALED(status) &&
	       !is_its_own(WTERMSIG(status)) &&
	       c->own_signal != (uint32_t)WTERMSIG(status);
}
