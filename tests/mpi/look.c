/*
 * Messages of three lengths and all kinds of waits, for looks inside runs.
 *
 *   look talk   rank 0 sends to all others on a communicator of its own
 *   look late N rank 1 receives N bytes a millisecond after they were sent
 *   look wait   rank 1 waits for a message that is never sent
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONG = 100000 };

static void send_all(MPI_Comm comm, int n, char *buffer)
{
	static const int bytes[] = { 8, 300, LONG };
	MPI_Request r[3];

	for (int to = 1; to < n; to++) {
		for (int i = 0; i < 3; i++)
			MPI_Isend(buffer, bytes[i], MPI_CHAR, to, 5 + i, comm,
				&r[i]);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
	}
}

static void receive_all(MPI_Comm comm, char *buffer)
{
	MPI_Request r;
	int done = 0;

	MPI_Recv(buffer, LONG, MPI_CHAR, 0, 5, comm, MPI_STATUS_IGNORE);
	MPI_Recv(buffer, LONG, MPI_CHAR, MPI_ANY_SOURCE, 6, comm,
		MPI_STATUS_IGNORE);
	MPI_Irecv(buffer, LONG, MPI_CHAR, 0, 7, comm, &r);
	while (!done)
		MPI_Test(&r, &done, MPI_STATUS_IGNORE);
}

static void talk(int rank, int n)
{
	const struct timespec pause = { 0, 2000 };
	char *buffer = calloc(LONG, 1);
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	nanosleep(&pause, NULL);
	if (rank == 0)
		send_all(comm, n, buffer);
	else
		receive_all(comm, buffer);
	MPI_Barrier(comm);
	MPI_Comm_free(&comm);
	free(buffer);
}

static void wait(int rank)
{
	MPI_Request r;
	int word;

	if (rank == 1) {
		MPI_Irecv(&word, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &r);
		MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void late(int rank, int bytes)
{
	const struct timespec pause = { 0, 1000000 };
	char *buffer = calloc((size_t)bytes + 1, 1);
	MPI_Request r;

	if (rank == 0) {
		MPI_Isend(buffer, bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	} else {
		nanosleep(&pause, NULL);
		MPI_Recv(buffer, bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	}
	free(buffer);
}

/* Sleeps between messages of the library that no call has asked for. */
static void lock(void)
{
	const struct timespec pause = { 0, 1000000 };
	int word = 1, memory = 0;
	MPI_Win win;

	MPI_Win_create(&memory, sizeof(memory), sizeof(memory), MPI_INFO_NULL,
		MPI_COMM_WORLD, &win);
	for (int i = 0; i < 2; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_unlock(0, win);
		MPI_Barrier(MPI_COMM_WORLD);
		nanosleep(&pause, NULL);
	}
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	int rank, n;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (argc > 1 && !strcmp(argv[1], "wait"))
		wait(rank);
	else if (argc > 2 && !strcmp(argv[1], "late"))
		late(rank, atoi(argv[2]));
	else if (argc > 1 && !strcmp(argv[1], "lock"))
		lock();
	else
		talk(rank, n);
	MPI_Finalize();
	return 0;
}
