/*
 * For many ranks: a barrier, a sum, and 64 bytes from each to each, of which
 * every one is looked at.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 64 };

static int rank, n;

static unsigned char byte_of(int from, int to)
{
	return (unsigned char)(from + 3 * to);
}

static void fail(const char *what)
{
	fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 2);
}

static void sum(void)
{
	long mine = rank, all = 0;

	MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (all != (long)n * (n - 1) / 2)
		fail("the sum");
}

static void exchange(void)
{
	unsigned char *out = malloc((size_t)n * BYTES);
	unsigned char *in = malloc((size_t)n * BYTES);

	for (int i = 0; i < n; i++)
		memset(out + i * BYTES, byte_of(rank, i), BYTES);
	MPI_Alltoall(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < n * BYTES; i++)
		if (in[i] != byte_of(i / BYTES, rank))
			fail("a byte");
	free(out);
	free(in);
}

int main(int argc, char **argv)
{
	double t[4];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	t[0] = MPI_Wtime();
	MPI_Barrier(MPI_COMM_WORLD);
	t[1] = MPI_Wtime();
	sum();
	t[2] = MPI_Wtime();
	if (argc < 2 || strcmp(argv[1], "sum") != 0)
		exchange();
	t[3] = MPI_Wtime();
	if (rank == 0)
		printf("%d ranks: barrier %.3f us, sum %.3f us, all-to-all "
		       "%.3f us\n",
			n, (t[1] - t[0]) * 1e6, (t[2] - t[1]) * 1e6,
			(t[3] - t[2]) * 1e6);
	MPI_Finalize();
	return 0;
}
