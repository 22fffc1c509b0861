/*
 * Barriers: their time, and whether no rank leaves one before the last rank has
 * come, which is another one each time.
 *
 *   ./barrier [ROUNDS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LATE = 200 }; /* us */

static int rank, n;

static void check(int round)
{
	int is_late = rank == round % n;
	double begin;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	if (is_late)
		usleep(LATE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (MPI_Wtime() - begin < LATE / 2 * 1e-6) {
		printf("rank %d leaves before rank %d comes\n", rank,
			round % n);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

int main(int argc, char **argv)
{
	int rounds;
	double begin;

	MPI_Init(&argc, &argv);
	rounds = argc > 1 ? atoi(argv[1]) : 10;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int i = 0; i < 4; i++)
		check(i);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < rounds; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks %12.3f us\n", n,
			(MPI_Wtime() - begin) / rounds * 1e6);
	MPI_Finalize();
	return 0;
}
