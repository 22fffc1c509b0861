#define _GNU_SOURCE /* memfd_create(), struct ucred */
#include "outside/siblings.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "outside/pass.h"

enum { PATIENCE = 30000 /* ms for another process to call */ };

struct sibling {
	int socket; /* or -1 */
	pid_t pid;
};

struct siblings {
	uint32_t me, n;
	struct sibling *of; /* [process]; of all but the first, only that */
	int gone; /* of epoll(): the sockets that others have closed */
	atomic_int *word; /* in memory that all share */
};

/* What a process says when it calls. */
struct hello {
	uint32_t process;
};

/* --- the first one --- */

static int fail(struct err *e, const char *what)
{
	return err_set_code(e, EXIT_LIMIT, "%s: %s", what, strerror(errno));
}

/* The kernel chooses the name, which is no file. */
static int open_door(uint64_t *name, struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(at);
	int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (door < 0 ||
		bind(door, (struct sockaddr *)&at, sizeof(at.sun_family)) ||
		listen(door, SOMAXCONN) ||
		getsockname(door, (struct sockaddr *)&at, &size) ||
		size > sizeof(at.sun_family) + sizeof(*name)) {
		fail(e, "no socket for other processes");
		if (door >= 0)
			close(door);
		return -1;
	}
	memcpy(name, at.sun_path, size - sizeof(at.sun_family));
	/* names of the kernel's have no such byte; its length is in the last */
	((uint8_t *)name)[7] = (uint8_t)(size - sizeof(at.sun_family));
	return door;
}

/* Other users may know the name, too. */
static bool is_ours(int socket, pid_t *pid)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) ||
		who.uid != getuid())
		return false;
	*pid = who.pid;
	return true;
}

static bool let_in(struct siblings *s, int socket)
{
	struct hello h;
	pid_t pid;

	if (!is_ours(socket, &pid) ||
		recv(socket, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
		!h.process || h.process >= s->n ||
		s->of[h.process].socket >= 0) {
		close(socket);
		return false;
	}
	s->of[h.process] = (struct sibling){ socket, pid };
	epoll_ctl(s->gone, EPOLL_CTL_ADD, socket,
		&(struct epoll_event){ .events = EPOLLRDHUP });
	return true;
}

static int let_all_in(struct siblings *s, int door, struct err *e)
{
	struct pollfd p = { .fd = door, .events = POLLIN };
	uint32_t n = 1;
	int socket;

	while (n < s->n) {
		if (poll(&p, 1, PATIENCE) == 0) {
			errno = ETIMEDOUT;
			return fail(e, "other processes do not call");
		}
		socket = accept4(door, NULL, NULL, SOCK_CLOEXEC);
		if (socket >= 0)
			n += let_in(s, socket);
		else if (errno != EINTR && errno != EAGAIN)
			return fail(e, "other processes cannot call");
	}
	return 0;
}

static int map_word(struct siblings *s, int file, struct err *e)
{
	s->word = mmap(NULL, sizeof(*s->word), PROT_READ | PROT_WRITE,
		MAP_SHARED, file, 0);
	if (s->word != MAP_FAILED)
		return 0;
	s->word = NULL;
	return fail(e, "no memory for several processes");
}

static int share_word(struct siblings *s, struct err *e)
{
	int file = memfd_create("weft-siblings", MFD_CLOEXEC);
	int code;

	if (file < 0 || ftruncate(file, sizeof(*s->word)))
		code = fail(e, "no memory for several processes");
	else
		code = map_word(s, file, e);
	for (uint32_t i = 1; i < s->n && !code; i++)
		code = siblings_give(s, i, 0, &file, 1, e);
	if (file >= 0)
		close(file);
	return code;
}

/* --- the others --- */

static int call(struct siblings *s, uint64_t name, struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const struct hello h = { .process = s->me };
	size_t n = ((const uint8_t *)&name)[7];
	int files[SIBLINGS_FILES];

	memcpy(at.sun_path, &name, n);
	s->of[0].socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (s->of[0].socket < 0 ||
		connect(s->of[0].socket, (struct sockaddr *)&at,
			(socklen_t)(sizeof(at.sun_family) + n)) ||
		send(s->of[0].socket, &h, sizeof(h), MSG_NOSIGNAL) < 0)
		return fail(e, "cannot reach process 0 on this computer");
	if (siblings_take(s, 0, files, e) < 0)
		return -1;
	map_word(s, files[0], e);
	close(files[0]);
	return e->code ? -1 : 0;
}

/* --- life --- */

static struct siblings *make(uint32_t me, uint32_t n)
{
	struct siblings *s = mem_alloc(1, sizeof(*s));

	s->me = me;
	s->n = n;
	s->of = mem_alloc(n, sizeof(*s->of));
	for (uint32_t i = 0; i < n; i++)
		s->of[i].socket = -1;
	s->of[me].pid = getpid();
	s->gone = me ? -1 : epoll_create1(EPOLL_CLOEXEC);
	return s;
}

struct siblings *siblings_meet(const struct sim *sim, struct err *e)
{
	uint32_t n, me = sim_self(sim, &n);
	struct siblings *s;
	uint64_t name = 0;
	int door = -1;

	if (n < 2)
		return NULL;
	s = make(me, n);
	if (!me)
		door = open_door(&name, e);
	sim_max(sim, &name, 1);
	if (me && name)
		call(s, name, e);
	else if (!me && door >= 0 && !let_all_in(s, door, e))
		share_word(s, e);
	if (door >= 0)
		close(door);
	if (e->code && !me) /* or the others would wait for more */
		siblings_hang_up(s);
	if (!sim_share_error(sim, e))
		return s;
	siblings_free(s);
	return NULL;
}

void siblings_free(struct siblings *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->of[i].socket >= 0)
			close(s->of[i].socket);
	if (s->gone >= 0)
		close(s->gone);
	if (s->word)
		munmap(s->word, sizeof(*s->word));
	mem_free(s->of);
	mem_free(s);
}

/* --- looks --- */

uint32_t siblings_n(const struct siblings *s)
{
	return s ? s->n : 1;
}

uint32_t siblings_me(const struct siblings *s)
{
	return s ? s->me : 0;
}

pid_t siblings_pid(const struct siblings *s, uint32_t process)
{
	return s ? s->of[process].pid : getpid();
}

atomic_int *siblings_word(struct siblings *s)
{
	return s->word;
}

/* --- files --- */

int siblings_give(struct siblings *s, uint32_t process, uint32_t number,
	const int *files, uint32_t n, struct err *e)
{
	if (!pass_send(
		    s->of[process].socket, &number, sizeof(number), files, n))
		return 0;
	return fail(e, "another process does not listen");
}

int siblings_take(struct siblings *s, uint32_t number,
	int files[SIBLINGS_FILES], struct err *e)
{
	uint32_t got = 0;
	ssize_t n;

	for (uint32_t i = 0; i < SIBLINGS_FILES; i++)
		files[i] = -1;
	n = pass_receive(
		s->of[0].socket, &got, sizeof(got), files, SIBLINGS_FILES);
	if (n == (ssize_t)sizeof(got) && got == number && files[0] >= 0) {
		for (n = 1; n < SIBLINGS_FILES && files[n] >= 0;)
			n++;
		return (int)n;
	}
	for (uint32_t i = 0; i < SIBLINGS_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
	return err_set_code(e, EXIT_LIMIT, "process 0 has hung up");
}

/* --- news --- */

void siblings_tell(struct siblings *s, const void *bytes, size_t n)
{
	for (uint32_t i = 1; i < siblings_n(s); i++)
		while (send(s->of[i].socket, bytes, n, MSG_NOSIGNAL) < 0 &&
			errno == EINTR)
			;
}

int siblings_socket(const struct siblings *s)
{
	return s->of[0].socket;
}

int siblings_gone(const struct siblings *s)
{
	return s ? s->gone : -1;
}

void siblings_hang_up(struct siblings *s)
{
	for (uint32_t i = 1; i < siblings_n(s); i++)
		if (s->of[i].socket >= 0)
			shutdown(s->of[i].socket, SHUT_WR);
}
