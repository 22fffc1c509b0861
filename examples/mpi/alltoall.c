/*
 * All-to-all, by bytes for each rank: the time that rank 0 takes, and whether
 * every byte is right on every rank.
 *
 *   ./alltoall [LARGEST [ROUNDS]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, n;

static unsigned char expected(int from, int to, int i)
{
	return (unsigned char)(from * 31 + to * 7 + i);
}

static void check(const unsigned char *in, int size)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < size; i++)
			if (in[(size_t)k * size + i] != expected(k, rank, i)) {
				printf("rank %d: byte %d of rank %d is wrong\n",
					rank, i, k);
				MPI_Abort(MPI_COMM_WORLD, 1);
			}
}

int main(int argc, char **argv)
{
	int largest, rounds;
	unsigned char *out, *in;

	MPI_Init(&argc, &argv);
	largest = argc > 1 ? atoi(argv[1]) : 4096;
	rounds = argc > 2 ? atoi(argv[2]) : 2;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	out = malloc((size_t)n * largest);
	in = calloc((size_t)n, (size_t)largest);
	for (int size = 1; size <= largest; size *= 8) {
		double begin;

		for (int k = 0; k < n; k++)
			for (int i = 0; i < size; i++)
				out[(size_t)k * size + i] =
					expected(rank, k, i);
		MPI_Barrier(MPI_COMM_WORLD);
		begin = MPI_Wtime();
		for (int i = 0; i < rounds; i++)
			MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE,
				MPI_COMM_WORLD);
		if (rank == 0)
			printf("%8d B %12.3f us\n", size,
				(MPI_Wtime() - begin) / rounds * 1e6);
		check(in, size);
	}
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
