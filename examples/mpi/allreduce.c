/*
 * Sums over all ranks, by length: the time that rank 0 takes, and whether every
 * element is right on every rank.
 *
 *   ./allreduce [LONGEST [ROUNDS]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, n;

static void fill(double *a, int length)
{
	for (int i = 0; i < length; i++)
		a[i] = rank + i;
}

static void check(const double *sum, int length)
{
	for (int i = 0; i < length; i++)
		if (sum[i] != n * (n - 1) / 2.0 + (double)i * n) {
			printf("rank %d: element %d of %d is %f\n", rank, i,
				length, sum[i]);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
}

int main(int argc, char **argv)
{
	int longest, rounds;
	double *a, *sum;

	MPI_Init(&argc, &argv);
	longest = argc > 1 ? atoi(argv[1]) : 8192;
	rounds = argc > 2 ? atoi(argv[2]) : 4;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	a = calloc((size_t)longest, sizeof(*a));
	sum = calloc((size_t)longest, sizeof(*sum));
	for (int length = 1; length <= longest; length *= 8) {
		double begin;

		fill(a, length);
		MPI_Barrier(MPI_COMM_WORLD);
		begin = MPI_Wtime();
		for (int i = 0; i < rounds; i++)
			MPI_Allreduce(a, sum, length, MPI_DOUBLE, MPI_SUM,
				MPI_COMM_WORLD);
		if (rank == 0)
			printf("%8d doubles %12.3f us\n", length,
				(MPI_Wtime() - begin) / rounds * 1e6);
		check(sum, length);
	}
	free(a);
	free(sum);
	MPI_Finalize();
	return 0;
}
