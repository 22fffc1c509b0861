/*
 * Ping-pong between ranks 0 and 1: half the time of a round trip, by size.
 * Every byte that comes back is looked at.  Ten more rounds of each size come
 * first and do not count.
 *
 *   ./latency [LARGEST [ROUNDS [FACTOR]]]; from one size to the next
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 10, PAGE = 4096 };

static unsigned char *buffer;

static void fill(int size, int round)
{
	for (int i = 0; i < size; i++)
		buffer[i] = (unsigned char)(i * 7 + round);
}

static void check(int size, int round)
{
	for (int i = 0; i < size; i++)
		if (buffer[i] != (unsigned char)(i * 7 + round)) {
			printf("byte %d of %d is wrong\n", i, size);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	memset(buffer, 0, (size_t)size);
}

static void ping(int size, int rounds)
{
	double begin = 0;

	for (int i = -WARM; i < rounds; i++) {
		if (i == 0)
			begin = MPI_Wtime();
		fill(size, i);
		MPI_Send(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		memset(buffer, 0, (size_t)size);
		MPI_Recv(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		check(size, i + 1);
	}
	printf("%8d B %12.4f us\n", size,
		(MPI_Wtime() - begin) / rounds / 2 * 1e6);
}

static void pong(int size, int rounds)
{
	for (int i = -WARM; i < rounds; i++) {
		MPI_Recv(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		check(size, i);
		fill(size, i + 1);
		MPI_Send(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int largest, rounds, factor, rank, n;

	MPI_Init(&argc, &argv);
	largest = argc > 1 ? atoi(argv[1]) : 1 << 20;
	rounds = argc > 2 ? atoi(argv[2]) : 10;
	factor = argc > 3 ? atoi(argv[3]) : 2;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n < 2 || largest < 0 || rounds < 1 || factor < 2) {
		fprintf(stderr, "usage: latency [LARGEST [ROUNDS [FACTOR]]], "
				"2 ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	buffer = aligned_alloc(PAGE, ((size_t)largest / PAGE + 1) * PAGE);
	if (!buffer)
		MPI_Abort(MPI_COMM_WORLD, 3);
	for (int size = 0; size <= largest; size = size ? factor * size : 1) {
		if (rank == 0)
			ping(size, rounds);
		else if (rank == 1)
			pong(size, rounds);
	}
	free(buffer);
	MPI_Finalize();
	return 0;
}
