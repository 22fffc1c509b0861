/*
 * Message rate of many pairs: the lower half of the ranks sends short messages
 * to the upper half, a window at a time, all at once.  Their order and content
 * are checked.
 *
 *   ./rate [BYTES [WINDOW [ROUNDS]]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, half, bytes, window;
static unsigned char *buffer;
static MPI_Request *request;

static unsigned char mark(int from, int round, int i)
{
	return (unsigned char)(from * 5 + round * 3 + i);
}

static void send(int round)
{
	int to = rank + half;
	char answer;

	for (int i = 0; i < window; i++) {
		buffer[(size_t)i * bytes] = mark(rank, round, i);
		MPI_Isend(buffer + (size_t)i * bytes, bytes, MPI_BYTE, to, 0,
			MPI_COMM_WORLD, &request[i]);
	}
	MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
	MPI_Recv(
		&answer, 1, MPI_BYTE, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive(int round)
{
	int from = rank - half;
	char answer = 0;

	for (int i = 0; i < window; i++)
		MPI_Irecv(buffer + (size_t)i * bytes, bytes, MPI_BYTE, from, 0,
			MPI_COMM_WORLD, &request[i]);
	MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < window; i++)
		if (buffer[(size_t)i * bytes] != mark(from, round, i)) {
			printf("rank %d: message %d is wrong\n", rank, i);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	MPI_Send(&answer, 1, MPI_BYTE, from, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int rounds, n;
	double begin;

	MPI_Init(&argc, &argv);
	bytes = argc > 1 ? atoi(argv[1]) : 8;
	window = argc > 2 ? atoi(argv[2]) : 64;
	rounds = argc > 3 ? atoi(argv[3]) : 4;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	half = n / 2;
	if (n < 2 || bytes < 1 || window < 1 || rounds < 1) {
		fprintf(stderr, "usage: rate [BYTES [WINDOW [ROUNDS]]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	buffer = calloc((size_t)window, (size_t)bytes);
	request = malloc(window * sizeof(*request));
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < rounds; i++)
		if (rank < half)
			send(i);
		else if (rank < 2 * half)
			receive(i);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d pairs, %d B: %.3f million messages a second\n", half,
			bytes,
			half * window * rounds / (MPI_Wtime() - begin) / 1e6);
	free(buffer);
	free(request);
	MPI_Finalize();
	return 0;
}
