/*
 * Ranks that differ while the network executes collectives.
 *
 *   ./mixed levels            each asks for another level of threads, and one
 *                             has threads that call MPI
 *   ./mixed groups            communicators are freed while others are made
 *   ./mixed CASE COLLECTIVE   rank 1 ends in one of these ways while the others
 *                             are in the collective: abort, exit, leave, kill,
 *                             wait
 *
 * With wait it says so, and somebody else must end it.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 8, THREADS = 3, KEPT = 5 };

static int rank, n;

static void check(int is_good, const char *what, int line)
{
	if (is_good)
		return;
	printf("rank %d, line %d: %s is wrong\n", rank, line, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(what) check(what, #what, __LINE__)

static void sum(MPI_Comm comm)
{
	int me, all, total = -1;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &all);
	MPI_Allreduce(&me, &total, 1, MPI_INT, MPI_SUM, comm);
	CHECK(total == all * (all - 1) / 2);
	MPI_Barrier(comm);
}

/* --- levels --- */

/* Messages to itself, beside what the first thread does. */
static void *talk(void *arg)
{
	int tag = *(int *)arg, out, in;

	for (int i = 0; i < ROUNDS; i++) {
		out = 100 * tag + i;
		MPI_Sendrecv(&out, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank,
			tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(in == out);
	}
	return NULL;
}

static void try_levels(int level)
{
	pthread_t thread[THREADS];
	int tag[THREADS];
	int has_threads = level == MPI_THREAD_MULTIPLE;

	for (int i = 0; has_threads && i < THREADS; i++) {
		tag[i] = i + 1;
		pthread_create(&thread[i], NULL, talk, &tag[i]);
	}
	for (int i = 0; i < ROUNDS; i++)
		sum(MPI_COMM_WORLD);
	for (int i = 0; has_threads && i < THREADS; i++)
		pthread_join(thread[i], NULL);
	sum(MPI_COMM_WORLD);
}

/* --- groups --- */

/* Each is freed while its neighbours are made.  Open MPI itself crashes where
 * one is freed with an operation under way. */
static void try_groups(void)
{
	MPI_Comm kept[KEPT], half, request_of;
	MPI_Request request;

	for (int i = 0; i < KEPT; i++)
		kept[i] = MPI_COMM_NULL;
	for (int i = 0; i < 6 * KEPT; i++) {
		MPI_Comm *k = &kept[i % KEPT];

		if (*k != MPI_COMM_NULL) {
			MPI_Ibarrier(*k, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			MPI_Comm_free(k);
		}
		if (i % 2)
			MPI_Comm_dup(MPI_COMM_WORLD, k);
		else
			MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, k);
		sum(*k);
		MPI_Comm_idup(*k, &request_of, &request);
		MPI_Comm_split(MPI_COMM_WORLD, rank < n / 2, -rank, &half);
		sum(half);
		MPI_Comm_free(&half);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		sum(request_of);
		MPI_Comm_free(&request_of);
	}
	for (int i = 0; i < KEPT; i++)
		MPI_Comm_free(&kept[i]);
}

/* --- ends --- */

static void collect(const char *what)
{
	static double a[512], b[512];

	if (!strcmp(what, "barrier"))
		MPI_Barrier(MPI_COMM_WORLD);
	else if (!strcmp(what, "broadcast"))
		MPI_Bcast(a, 512, MPI_DOUBLE, 1, MPI_COMM_WORLD);
	else if (!strcmp(what, "reduce"))
		MPI_Reduce(a, b, 512, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	else
		MPI_Allreduce(a, b, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static void end(const char *how)
{
	if (!strcmp(how, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 13);
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "leave"))
		exit(0);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	printf("%ld waits\n", (long)getpid());
	fflush(stdout);
	for (volatile int i = 0;; i++)
		continue;
}

static void try_end(const char *how, const char *what)
{
	for (int i = 0; i < ROUNDS; i++)
		collect(what);
	if (rank == 1)
		end(how);
	for (;;)
		collect(what);
}

int main(int argc, char **argv)
{
	static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE,
		MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED };
	const char *what = argc > 1 ? argv[1] : "levels";
	const char *number = getenv("WEFT_RANK");
	int wanted = levels[number ? atoi(number) % 4 : 0], level;

	if (strcmp(what, "levels") != 0)
		wanted = MPI_THREAD_SINGLE;
	MPI_Init_thread(&argc, &argv, wanted, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	CHECK(level >= wanted);
	if (!strcmp(what, "levels"))
		try_levels(wanted);
	else if (!strcmp(what, "groups"))
		try_groups();
	else
		try_end(what, argc > 2 ? argv[2] : "barrier");
	MPI_Finalize();
	if (!rank)
		printf("all %s are right\n", what);
	return 0;
}
