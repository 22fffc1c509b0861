/*
 * Ranks that hang, and connections that hold up the start of a job.
 *
 *   ./hang CASE            as rank 1 of an MPI job; the others wait for it
 *   ./hang hold FILE       no rank: connects to the port in a file, sends one
 *                          byte, and stays
 */
#define _GNU_SOURCE /* close_range() */
#include <arpa/inet.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* --- the port of weft-start --- */

static int port_of_starter(void)
{
	for (char **v = environ; *v; v++)
		if (!strncmp(*v, "PMIX_SERVER_URI", 15) && strrchr(*v, ':'))
			return atoi(strrchr(*v, ':') + 1);
	exit(9);
}

static void connect_to(int port, const char *first)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
		send(fd, first, strlen(first), 0) < 0)
		exit(9);
}

static void hold(const char *path)
{
	FILE *in = fopen(path, "r");
	int port;

	if (!in || fscanf(in, "%d", &port) != 1)
		exit(9);
	connect_to(port, "x");
	printf("held\n");
	fflush(stdout);
	for (;;)
		pause();
}

static void tell_port(const char *path)
{
	char name[4096];
	FILE *out;

	snprintf(name, sizeof(name), "%s.new", path);
	out = fopen(name, "w");
	fprintf(out, "%d\n", port_of_starter());
	fclose(out);
	rename(name, path);
}

/* --- what a rank does --- */

static void stop(void)
{
	raise(SIGSTOP);
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static void close_all(void)
{
	close_range(3, ~0u, 0);
}

static void call_in_child(void)
{
	int x = 0;

	if (fork() == 0) {
		MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		_exit(0);
	}
	wait(NULL);
}

static void finalize_in_child(void)
{
	if (fork() == 0) {
		MPI_Finalize();
		_exit(0);
	}
	wait(NULL);
}

/* A child traces the rank, as a debugger does. */
static void be_traced(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (fork() == 0) {
		ptrace(PTRACE_SEIZE, getppid(), NULL, NULL);
		sleep_for_ever();
	}
	sleep_for_ever();
}

static void read_line(void)
{
	if (getchar() < 0)
		exit(9);
}

static void compute(void)
{
	struct timespec t;

	do
		syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < 1500);
}

/* Waits for longer than the 5 s before a message. */
static void read_slowly(void)
{
	FILE *in = popen("sleep 5.8; echo", "r");

	if (!in || fgetc(in) < 0)
		exit(9);
	pclose(in);
}

static void connect_silently(void)
{
	connect_to(port_of_starter(), "");
}

static void connect_and_stop(void)
{
	connect_to(port_of_starter(), "x");
}

static const struct {
	const char *word;
	int rank;
	enum { BEFORE, DURING, AFTER } when;
	void (*run)(void);
} cases[] = {
	{ "silent", 0, BEFORE, connect_silently },
	{ "partial", 0, BEFORE, connect_and_stop },
	{ "late", 0, BEFORE, read_line },
	{ "never", 1, BEFORE, sleep_for_ever },
	{ "pause", 1, DURING, sleep_for_ever },
	{ "stop", 1, DURING, stop },
	{ "close", 1, DURING, close_all },
	{ "child", 1, DURING, call_in_child },
	{ "finalize", 1, DURING, finalize_in_child },
	{ "traced", 1, DURING, be_traced },
	{ "read", 0, DURING, read_line },
	{ "compute", 1, AFTER, compute },
	{ "slow", 1, AFTER, read_slowly },
	{ "asleep", 1, AFTER, sleep_for_ever },
};

static void act(const char *word, int rank, int when)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(word, cases[i].word) && cases[i].rank == rank &&
			(int)cases[i].when == when)
			cases[i].run();
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const char *number = getenv("WEFT_RANK");
	int rank = number ? atoi(number) : -1;

	if (!strcmp(word, "hold"))
		hold(argv[2]);
	if (argc > 2 && rank == 0)
		tell_port(argv[2]);
	act(word, rank, BEFORE);
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	act(word, rank, DURING);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	act(word, rank, AFTER);
	return 0;
}
