/*
 * One line on a network: latency of 8 B, bandwidth of long messages, messages
 * of 8 B a second of all pairs, an all-reduce of 8 B and a barrier of all
 * ranks, and with "rma" a put and a get of 8 B.  What comes is checked.
 *
 *   ./tour [BYTES [rma]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20, WINDOW = 64, LONG = 4 };

static int rank, n;

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("rank %d: %s is wrong\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Microseconds since a time, for each of so many. */
static double since(double begin, int rounds)
{
	return (MPI_Wtime() - begin) / rounds * 1e6;
}

static double latency(void)
{
	double begin = MPI_Wtime();
	long word = 0;

	for (int i = 0; i < 2 * ROUNDS && rank < 2; i++) {
		if (i % 2 == rank) {
			word++;
			MPI_Send(&word, 1, MPI_LONG, 1 - rank, 0,
				MPI_COMM_WORLD);
		} else {
			MPI_Recv(&word, 1, MPI_LONG, 1 - rank, 0,
				MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			check(word == i + 1, "a message");
		}
	}
	return since(begin, 2 * ROUNDS);
}

/* Sends from one buffer at once, and receives one by one. */
static void send_long(unsigned char *buffer, int bytes)
{
	MPI_Request request[LONG];
	char answer = 0;

	for (int i = 0; i < LONG; i++)
		if (rank == 0)
			MPI_Isend(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
				&request[i]);
		else
			MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	if (rank == 0) {
		MPI_Waitall(LONG, request, MPI_STATUSES_IGNORE);
		MPI_Recv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	} else {
		MPI_Send(&answer, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
	}
}

/* Megabytes a second, when the interface has seen the buffer before. */
static double bandwidth(int bytes)
{
	unsigned char *buffer = calloc(1, (size_t)bytes);
	double begin = 0;

	for (int i = 0; i < bytes && rank == 0; i++)
		buffer[i] = (unsigned char)(i * 7 + i / 256);
	for (int i = 0; i < 2 && rank < 2; i++) {
		begin = MPI_Wtime();
		send_long(buffer, bytes);
	}
	begin = since(begin, 1);
	for (int i = 0; i < bytes && rank == 1; i++)
		check(buffer[i] == (unsigned char)(i * 7 + i / 256),
			"a long message");
	free(buffer);
	return (double)LONG * bytes / begin;
}

/* Millions a second: the lower half of the ranks sends to the upper half. */
static double rate(void)
{
	int half = n / 2, is_sender = rank < half;
	int other = is_sender ? rank + half : rank - half;
	MPI_Request request[WINDOW];
	long word[WINDOW];
	double begin = MPI_Wtime();

	for (int i = 0; i < WINDOW && rank < 2 * half; i++) {
		word[i] = is_sender ? i : -1;
		if (is_sender)
			MPI_Isend(&word[i], 1, MPI_LONG, other, 0,
				MPI_COMM_WORLD, &request[i]);
		else
			MPI_Irecv(&word[i], 1, MPI_LONG, other, 0,
				MPI_COMM_WORLD, &request[i]);
	}
	if (rank < 2 * half)
		MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < WINDOW && rank < 2 * half; i++)
		check(word[i] == i, "the order");
	MPI_Barrier(MPI_COMM_WORLD);
	return half * WINDOW / since(begin, 1);
}

static double all_reduce(void)
{
	double begin = MPI_Wtime(), one = 1, sum;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Allreduce(
			&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		check(sum == n, "a sum");
	}
	return since(begin, ROUNDS);
}

static double barrier(void)
{
	double begin = MPI_Wtime();

	for (int i = 0; i < ROUNDS; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	return since(begin, ROUNDS);
}

/* Times until a put is there, and until a get has come. */
static void one_sided(double *put, double *get)
{
	long *window, word = 0;
	double begin;
	MPI_Win win;

	MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &window, &win);
	*window = 0;
	MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (long i = 1; i <= ROUNDS && rank == 0; i++) {
		MPI_Put(&i, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
		MPI_Win_flush(1, win);
	}
	*put = since(begin, ROUNDS);
	begin = MPI_Wtime();
	for (int i = 0; i < ROUNDS && rank == 0; i++) {
		MPI_Get(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
		MPI_Win_flush(1, win);
		check(word == ROUNDS, "a put");
	}
	*get = since(begin, ROUNDS);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	double us, mbps, mps, sum, meet, put, get;
	int bytes;

	MPI_Init(&argc, &argv);
	bytes = argc > 1 ? atoi(argv[1]) : 1 << 20;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n < 2 || bytes < 1) {
		fprintf(stderr, "usage: tour [BYTES], 2 ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	/* the first of each opens what it needs */
	all_reduce();
	us = latency();
	mbps = bandwidth(bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	mps = rate();
	sum = all_reduce();
	meet = barrier();
	one_sided(&put, &get);
	if (rank == 0)
		printf("%8.3f %8.0f %8.2f %8.3f %8.3f %8.3f %8.3f\n", us, mbps,
			mps, sum, meet, put, get);
	MPI_Finalize();
	return 0;
}
