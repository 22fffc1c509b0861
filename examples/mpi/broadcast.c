/*
 * Broadcasts, by size: the time until the last rank has the bytes, which are
 * looked at on every rank.  The root changes with each.
 *
 *   ./broadcast [LARGEST [ROUNDS]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, n;
static unsigned char *buffer;

static unsigned char expected(int root, int i)
{
	return (unsigned char)(root * 17 + i);
}

/* The longest time of a rank, since all have begun at one time. */
static double once(int root, int size)
{
	double mine, all;

	for (int i = 0; i < size; i++)
		buffer[i] = rank == root ? expected(root, i) : 0;
	MPI_Barrier(MPI_COMM_WORLD);
	mine = MPI_Wtime();
	MPI_Bcast(buffer, size, MPI_BYTE, root, MPI_COMM_WORLD);
	mine = MPI_Wtime() - mine;
	for (int i = 0; i < size; i++)
		if (buffer[i] != expected(root, i)) {
			printf("rank %d: byte %d is wrong\n", rank, i);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	int largest, rounds;

	MPI_Init(&argc, &argv);
	largest = argc > 1 ? atoi(argv[1]) : 1 << 15;
	rounds = argc > 2 ? atoi(argv[2]) : 4;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	buffer = malloc((size_t)largest + 1);
	for (int size = 1; size <= largest; size *= 8) {
		double time = 0;

		for (int i = 0; i < rounds; i++)
			time += once(i % n, size);
		if (rank == 0)
			printf("%8d B %12.3f us\n", size, time / rounds * 1e6);
	}
	free(buffer);
	MPI_Finalize();
	return 0;
}
