/*
 * Two threads of each rank call MPI at once: each plays ping-pong with the same
 * thread of the next rank, so one's wait must not keep the other from sending.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, ROUNDS = 20 };

static int rank, n;

static void *play(void *argument)
{
	int thread = *(int *)argument;
	int to = (rank + 1) % n, from = (rank + n - 1) % n;
	long sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int x = 1000 * thread + i, y = -1;
		MPI_Request request;

		MPI_Irecv(
			&y, 1, MPI_INT, from, thread, MPI_COMM_WORLD, &request);
		MPI_Send(&x, 1, MPI_INT, to, thread, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (y != x)
			MPI_Abort(MPI_COMM_WORLD, 1);
		sum += y;
	}
	*(int *)argument = (int)sum;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	int number[THREADS], level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (level != MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, play, &number[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	if (rank == 0)
		printf("threads: %d, %d\n", number[0], number[1]);
	MPI_Finalize();
	return 0;
}
