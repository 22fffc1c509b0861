/*
 * Bandwidth from rank 0 to rank 1, by size: a window of messages is under way
 * at a time, and each window is answered.  Every byte is looked at.
 *
 *   ./bandwidth [LARGEST [WINDOW]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, window;
static unsigned char *buffer; /* window times the size */
static MPI_Request *request;

static void send(int size)
{
	char answer;

	for (int i = 0; i < window; i++)
		MPI_Isend(buffer + (size_t)i * size, size, MPI_BYTE, 1, 0,
			MPI_COMM_WORLD, &request[i]);
	MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
	MPI_Recv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive(int size)
{
	char answer = 0;

	for (int i = 0; i < window; i++)
		MPI_Irecv(buffer + (size_t)i * size, size, MPI_BYTE, 0, 0,
			MPI_COMM_WORLD, &request[i]);
	MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
	MPI_Send(&answer, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

static unsigned char expected(size_t i)
{
	return (unsigned char)(i * 13 + (i >> 8));
}

static void check(size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (buffer[i] != expected(i)) {
			printf("byte %zu of %zu is wrong\n", i, bytes);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
}

static void measure(int size)
{
	size_t bytes = (size_t)size * window;
	double begin;

	memset(buffer, 0, bytes);
	for (size_t i = 0; i < bytes && rank == 0; i++)
		buffer[i] = expected(i);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	if (rank == 0)
		send(size);
	else if (rank == 1)
		receive(size);
	if (rank == 0)
		printf("%8d B %12.1f MB/s\n", size,
			(double)bytes / (MPI_Wtime() - begin) / 1e6);
	if (rank == 1)
		check(bytes);
}

int main(int argc, char **argv)
{
	int largest, n;

	MPI_Init(&argc, &argv);
	largest = argc > 1 ? atoi(argv[1]) : 1 << 20;
	window = argc > 2 ? atoi(argv[2]) : 8;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n < 2 || largest < 1 || window < 1) {
		fprintf(stderr,
			"usage: bandwidth [LARGEST [WINDOW]], 2 ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	buffer = malloc((size_t)largest * window);
	request = malloc(window * sizeof(*request));
	for (int size = 64; size < largest; size *= 16)
		measure(size);
	measure(largest);
	free(buffer);
	free(request);
	MPI_Finalize();
	return 0;
}
