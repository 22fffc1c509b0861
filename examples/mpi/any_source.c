/*
 * All send to rank 0, which takes what comes first: the order of arrival is the
 * machine's, and the same in each run.
 */
#include <mpi.h>
#include <stdio.h>

enum { EACH = 8 };

static void collect(int n, double begin)
{
	int next[1024] = { 0 };

	for (int i = 0; i < (n - 1) * EACH; i++) {
		MPI_Status status;
		int number, from;

		MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
			MPI_COMM_WORLD, &status);
		from = status.MPI_SOURCE;
		/* Messages of one rank do not overtake each other. */
		if (number != next[from]++ || status.MPI_TAG != number % 3) {
			printf("rank %d's message %d is out of order\n", from,
				number);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		printf("%d.%d ", from, number);
	}
	printf("\n%.3f us\n", (MPI_Wtime() - begin) * 1e6);
}

int main(int argc, char **argv)
{
	double begin;
	int rank, n;

	MPI_Init(&argc, &argv);
	begin = MPI_Wtime();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n > 1024)
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (rank == 0)
		collect(n, begin);
	else
		for (int i = 0; i < EACH; i++)
			MPI_Send(&i, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
