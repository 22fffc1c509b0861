/*
 * Bandwidth of both directions between ranks 0 and 1, which send and receive at
 * the same time, by size.  Every byte is looked at.
 *
 *   ./both_ways [LARGEST [WINDOW]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, window;
static unsigned char *out, *in;
static MPI_Request *request; /* receives, then sends */

static unsigned char expected(int from, size_t i)
{
	return (unsigned char)(i * 11 + (i >> 8) + from);
}

static void exchange(int size)
{
	int other = 1 - rank;

	for (int i = 0; i < window; i++)
		MPI_Irecv(in + (size_t)i * size, size, MPI_BYTE, other, 0,
			MPI_COMM_WORLD, &request[i]);
	for (int i = 0; i < window; i++)
		MPI_Isend(out + (size_t)i * size, size, MPI_BYTE, other, 0,
			MPI_COMM_WORLD, &request[window + i]);
	MPI_Waitall(2 * window, request, MPI_STATUSES_IGNORE);
}

static void measure(int size)
{
	size_t bytes = (size_t)size * window;
	double begin;

	memset(in, 0, bytes);
	for (size_t i = 0; i < bytes; i++)
		out[i] = expected(rank, i);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	if (rank < 2)
		exchange(size);
	if (rank == 0)
		printf("%8d B %12.1f MB/s\n", size,
			2 * (double)bytes / (MPI_Wtime() - begin) / 1e6);
	for (size_t i = 0; i < bytes && rank < 2; i++)
		if (in[i] != expected(1 - rank, i)) {
			printf("rank %d: byte %zu is wrong\n", rank, i);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
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
			"usage: both_ways [LARGEST [WINDOW]], 2 ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	out = malloc((size_t)largest * window);
	in = malloc((size_t)largest * window);
	request = malloc(2 * window * sizeof(*request));
	for (int size = 64; size < largest; size *= 16)
		measure(size);
	measure(largest);
	free(out);
	free(in);
	free(request);
	MPI_Finalize();
	return 0;
}
