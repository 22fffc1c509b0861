/*
 * Who is where; then a token goes round all ranks, and each adds its number.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	char host[MPI_MAX_PROCESSOR_NAME];
	long token = 0;
	int rank, n, length;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Get_processor_name(host, &length);
	printf("rank %d of %d on %s\n", rank, n, host);
	if (rank == 0) {
		double begin = MPI_Wtime();

		MPI_Send(&token, 1, MPI_LONG, 1 % n, 1, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_LONG, n - 1, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		printf("round the ring in %.3f us\n",
			(MPI_Wtime() - begin) * 1e6);
	} else {
		MPI_Recv(&token, 1, MPI_LONG, rank - 1, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		token += rank;
		MPI_Send(
			&token, 1, MPI_LONG, (rank + 1) % n, 1, MPI_COMM_WORLD);
	}
	if (rank == 0 && token != (long)n * (n - 1) / 2) {
		printf("the token is %ld\n", token);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Finalize();
	return 0;
}
