/*
 * weft-start, the helper that starts ranks: their parent, and the server that
 * their MPI library asks for who and where they are.
 *
 * start.c    takes orders, forks, tells what happens
 * isolate.c  namespaces for the ranks, or a table of their numbers
 * clean.c    removes what ranks leave behind
 * environ.c  what ranks find in their environment
 * pmix.c     the server, for Open MPI
 * pmi.c      another one, for MPI libraries that know only PMI-1
 */
#ifndef INSIDE_START_H
#define INSIDE_START_H

#include <stdbool.h>
#include <sys/types.h>

#include "outside/channel.h"

enum { CLEAN_PATH = 32 };

/* Numbers of descriptors in a rank. */
enum {
	START_CHANNEL_FD = 3,
	START_REST_FD = 4,
	START_PMI_FD = 5,
	START_PLACES_FD = 6,
};

struct start_rank {
	uint32_t node, process, n_processes, program;
	pid_t tracer; /* the process that reads and writes its memory */
	char **arguments, **variables; /* each ends with NULL */
	int fd[4]; /* channel, standard input, output, errors; or -1 */
	int pmi; /* the rank's end of its socket, or -1 */
	pid_t pid; /* 0: not started, or ended */
	pid_t on_host; /* its number outside of the namespace */
	bool is_busy; /* has not come to rest yet */
};

/* Namespaces of the ranks. */
struct isolation {
	bool is_on;
	bool has_user; /* a user namespace, too */
	uid_t user;
	gid_t group;
	int proc; /* the host's /proc */
	/* Without namespaces: [0] this process, [1 + rank]; or NULL. */
	int32_t *numbers;
	int file; /* that holds numbers */
};

struct start {
	int socket;
	uint32_t n_ranks, n_nodes;
	struct start_rank *rank;
	int places; /* the file of inside/places.h, or -1 */
	const char *folder; /* of this program, and of what ranks load */
	char scratch[CLEAN_PATH]; /* where ranks of one node share memory */
	pid_t self; /* the number that weft knows of this process */
	struct isolation isolation;
};

void start_tell(const struct start *s, enum channel_event event, uint32_t rank,
	int64_t value, const char *text);

/* Both abort() without memory. */
void *start_alloc(void *old, size_t bytes);
char *start_text(const char *form, ...) __attribute__((format(printf, 1, 2)));

/* --- environ.c --- */

/* A rank's environment, but for what the server adds. */
char **environ_make(const struct start *s, uint32_t rank);
/* Sets NAME=VALUE in place of one that is there. */
void environ_set(char ***list, char *pair);
/* Why Open MPI would not use the network with what a user has set; or NULL. */
char *environ_refusal(char **list);

/* --- isolate.c --- */

/* Moves this process into a PID namespace of its own, if the host allows that;
 * otherwise returns false and changes nothing.  To be called before there are
 * threads; parent: of this process.  The caller stays outside as a guard; a new
 * process returns, and the guard ends after it. */
bool isolate(struct start *s, pid_t parent);
/* fork(), but ranks have their own numbers in a namespace. */
pid_t isolate_fork(const struct isolation *x, uint32_t rank, pid_t *on_host);
/* In the rank's process: names its host, and gives up the capabilities that it
 * has in the namespaces. */
void isolate_rank(const struct start *s, uint32_t rank);
/* The rank has ended. */
void isolate_forget(struct isolation *x, uint32_t rank);
/* Without a namespace: a table of numbers that ranks can read. */
bool isolate_open_table(struct start *s);

/* --- clean.c --- */

/* Makes a folder for files that ranks of one node share. */
bool clean_make(char path[CLEAN_PATH]);
void clean_folder(const char *path);
/* Ends all that the ranks of a helper have started. */
void clean_processes(pid_t helper);
/* From now on, the end of the parent ends this process, as clean_soon() does.
 */
void clean_after_parent(const struct start *s);
/* Ends this process in some seconds, whatever it waits for, and all that its
 * ranks have started or left. */
void clean_soon(void);

/* --- pmix.c --- */

/* The file with the table of inside/places.h, or -1. */
int places_make(const struct start *s);
/* Both return NULL, or what went wrong.  The server ends with the process:
 * PMIx_server_finalize() may never return if a rank was killed. */
const char *pmix_open(struct start *s);
const char *pmix_environ(uint32_t rank, char ***list);

/* --- pmi.c --- */

void pmi_open(const struct start *s);
/* Returns the rank's descriptor, or -1. */
int pmi_environ(uint32_t rank, char ***list);
/* To poll, or -1. */
int pmi_fd(uint32_t rank);
/* Reads what a rank says; true if it has come to rest. */
bool pmi_serve(uint32_t rank);

#endif
