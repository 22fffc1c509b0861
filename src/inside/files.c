/* Files that a rank finds otherwise than they are. */
#define _GNU_SOURCE /* memfd_create() */
/* Both names of a function are wanted here, not one for the other. */
#undef _FILE_OFFSET_BITS
#include "inside/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* libfabric looks through all names of the kernel for one: most of the time
 * that a rank takes to start. */
static bool is_hidden(const char *path)
{
	return call_mine()->is_setup && strcmp(path, "/proc/kallsyms") == 0;
}

/* The process may not know the real numbers. */
static const char *real_path(const char *path, char *room, size_t size)
{
	static const char proc[] = "/proc/";
	char *end;
	long pid;

	if (strncmp(path, proc, sizeof(proc) - 1) != 0)
		return path;
	pid = strtol(path + sizeof(proc) - 1, &end, 10);
	if (pid <= 0 || pid > INT32_MAX || (*end && *end != '/'))
		return path;
	if (numbers_is_own((pid_t)pid))
		snprintf(room, size, "/proc/self%s", end);
	else if (numbers_real((pid_t)pid) != NUMBERS_NOBODY)
		snprintf(room, size, "/proc/%d%s", numbers_real((pid_t)pid),
			end);
	else
		return path;
	return room;
}

/* Where random bytes come from: a file of them, the same each time. */
static bool is_random(const char *path)
{
	return self_has_random() && (strcmp(path, "/dev/urandom") == 0 ||
					    strcmp(path, "/dev/random") == 0);
}

/* Those that are another each time all the same. */
static void note(const char *path)
{
	static const char *const sources[] = { "/dev/hwrng",
		"/proc/sys/kernel/random/" };

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (strncmp(path, sources[i], strlen(sources[i])) == 0)
			link_note(CHANNEL_RANDOM);
}

enum { RANDOM_BYTES = 64 << 10 };

static int open_random(int flags)
{
	int file = memfd_create("random", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	unsigned char *bytes = malloc(RANDOM_BYTES);

	if (file >= 0 && bytes) {
		self_random(bytes, RANDOM_BYTES);
		if (write(file, bytes, RANDOM_BYTES) < 0)
			errno = 0;
		lseek(file, 0, SEEK_SET);
	}
	free(bytes);
	return file;
}

static bool has_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name)                                                             \
	INSIDE_EXPORT int name(const char *path, int flags, ...);              \
	INSIDE_EXPORT int name(const char *path, int flags, ...)               \
	{                                                                      \
		static int (*real)(const char *, int, ...);                    \
		mode_t mode = 0;                                               \
		char room[256];                                                \
		va_list list;                                                  \
                                                                               \
		if (!real)                                                     \
			call_next(&real, #name);                               \
		note(path);                                                    \
		if (has_mode(flags)) {                                         \
			va_start(list, flags);                                 \
			mode = va_arg(list, mode_t);                           \
			va_end(list);                                          \
		}                                                              \
		return is_random(path)                                         \
			       ? open_random(flags)                            \
			       : real(real_path(path, room, sizeof(room)),     \
					 flags, mode);                         \
	}

OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                            \
	INSIDE_EXPORT FILE *name(const char *path, const char *mode);          \
	INSIDE_EXPORT FILE *name(const char *path, const char *mode)           \
	{                                                                      \
		static FILE *(*real)(const char *, const char *);              \
		char room[256];                                                \
                                                                               \
		if (!real)                                                     \
			call_next(&real, #name);                               \
		note(path);                                                    \
		if (is_hidden(path)) {                                         \
			errno = ENOENT;                                        \
			return NULL;                                           \
		}                                                              \
		return is_random(path)                                         \
			       ? fdopen(open_random(0), mode)                  \
			       : real(real_path(path, room, sizeof(room)),     \
					 mode);                                \
	}

FOPEN(fopen)
FOPEN(fopen64)

/* --- sets of descriptors --- */

bool files_is_empty_set(int set)
{
	char path[64], text[4096];
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", set);
	file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	n = read(file, text, sizeof(text) - 1);
	close(file);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 && !strstr(text, "tfd:");
}

/* --- sockets: others answer when they like --- */

INSIDE_EXPORT int socket(int domain, int type, int protocol)
{
	static int (*real)(int, int, int);

	if (!real)
		call_next(&real, "socket");
	if (self_is_fixed())
		link_note(CHANNEL_SOCKETS);
	return real(domain, type, protocol);
}
