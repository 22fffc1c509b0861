/*
 * What ranks see of the world, and how they end: each word is one case, in
 * their order.
 */
#define _GNU_SOURCE /* gethostname(), usleep() */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/rank.h>

static int rank, n;

/* Nanoseconds of the clock. */
static long long now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Receives what nobody sends. */
static void stall(void)
{
	int x;

	if (rank == 1)
		MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	else
		MPI_Probe(1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void show_clock(void)
{
	struct timeval t;
	long long a, b, c, d;

	a = now(CLOCK_MONOTONIC);
	usleep(1500);
	b = now(CLOCK_MONOTONIC);
	sleep(3600);
	c = now(CLOCK_MONOTONIC);
	nanosleep(&(struct timespec){ .tv_nsec = 10 }, NULL);
	d = now(CLOCK_MONOTONIC);
	gettimeofday(&t, NULL);
	printf("%lld %lld %lld, day %ld, cpu %lld\n", b - a, c - b, d - c,
		(long)t.tv_sec - 946684800,
		now(CLOCK_PROCESS_CPUTIME_ID) > 3600 * 1000000000LL ? 1LL
								    : 0LL);
}

static void show_self(void)
{
	unsigned char bytes[4];
	char host[64];

	gethostname(host, sizeof(host));
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		exit(9);
	printf("%s, process %d of %d, random %02x%02x%02x%02x\n", host,
		(int)getpid(), (int)getppid(), bytes[0], bytes[1], bytes[2],
		bytes[3]);
}

static void compute(void)
{
	long long a = now(CLOCK_MONOTONIC), b;
	long long cpu = now(CLOCK_PROCESS_CPUTIME_ID);

	if (!weft_rank_compute)
		exit(9);
	weft_rank_compute(123456);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	b = now(CLOCK_MONOTONIC);
	printf("%lld ns, cpu %lld, processors %ld\n", b - a, cpu,
		sysconf(_SC_NPROCESSORS_ONLN));
}

/* The processor's clock, if it is trapped. */
static void ticks(void)
{
#if defined(__x86_64__)
	unsigned long long a = __builtin_ia32_rdtsc(), b;
	unsigned cpu;

	usleep(3);
	b = __builtin_ia32_rdtscp(&cpu);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%llu ticks\n", b - a);
#else
	printf("3025 ticks\n");
#endif
}

static int n_alarms;

static void on_alarm(int number)
{
	(void)number;
	n_alarms++;
}

/* Alarms come in simulated time, and so does what is left of one. */
static void alarms(void)
{
	struct itimerval each = { { 0, 1000 }, { 0, 500 } }, none = { 0 };
	unsigned rest;

	signal(SIGALRM, on_alarm);
	alarm(5);
	usleep(4900000);
	rest = alarm(3);
	printf("%d alarms, %u s left, ", n_alarms, rest);
	sleep(4);
	printf("%d alarms, ", n_alarms);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; i < 10; i++)
		usleep(1000);
	setitimer(ITIMER_REAL, &none, &each);
	usleep(10000);
	printf("%d alarms, every %ld us\n", n_alarms,
		(long)each.it_interval.tv_usec);
}

/* A child of a rank has the host's clock, and does no harm to its parent. */
static void fork_one(void)
{
	int status, is_now = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(time(NULL) > 946684800 + 86400 ? 3 : 4);
	waitpid(pid, &status, 0);
	is_now = WEXITSTATUS(status) == 3;
	MPI_Barrier(MPI_COMM_WORLD);
	printf("child in real time: %d\n", is_now);
}

/* Tests that find nothing take time, so they end. */
static void test_in_vain(void)
{
	MPI_Request request;
	long long begin = now(CLOCK_MONOTONIC);
	int x, is_done, n_tests = 0;

	MPI_Irecv(&x, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
	while (now(CLOCK_MONOTONIC) - begin < 100000) {
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
		n_tests++;
	}
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	printf("%d tests\n", n_tests);
}

static void end_by(const char *how)
{
	if (rank != 1)
		return;
	if (strcmp(how, "exit") == 0)
		exit(7);
	if (strcmp(how, "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 13);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
}

static void behave(const char *word)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} cases[] = {
		{ "stall", stall },
		{ "clock", show_clock },
		{ "self", show_self },
		{ "compute", compute },
		{ "alarm", alarms },
		{ "ticks", ticks },
		{ "fork", fork_one },
		{ "test", test_in_vain },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(word, cases[i].word) == 0)
			cases[i].run();
	end_by(word);
}

int main(int argc, char **argv)
{
	long long before = now(CLOCK_REALTIME);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (now(CLOCK_REALTIME) < before)
		printf("time runs backwards\n");
	for (int i = 1; i < argc; i++)
		behave(argv[i]);
	before = now(CLOCK_REALTIME);
	MPI_Finalize();
	if (now(CLOCK_REALTIME) < before)
		printf("time runs backwards\n");
	return 0;
}
