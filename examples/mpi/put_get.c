/*
 * Puts and gets of rank 0 into the memory of rank 1, which makes no call
 * meanwhile: the time of one, with its flush, and the bandwidth of several at
 * once, by size.  Every byte is looked at.
 *
 *   ./put_get [LARGEST [ROUNDS [FACTOR]]]; from one size to the next
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 16, WARM = 2 };

static unsigned char *window, *mine;
static MPI_Win win;

static unsigned char byte_of(int size, int i, int round)
{
	return (unsigned char)(i * 7 + size + round);
}

static void check(const unsigned char *at, int size, int round)
{
	for (int i = 0; i < size; i++)
		if (at[i] != byte_of(size, i, round)) {
			printf("byte %d of %d is wrong\n", i, size);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
}

static void put(int size)
{
	MPI_Put(mine, size, MPI_BYTE, 1, 0, size, MPI_BYTE, win);
}

static void get(int size)
{
	MPI_Get(mine, size, MPI_BYTE, 1, 0, size, MPI_BYTE, win);
}

/* Microseconds of one, some at a time. */
static double measure(void (*move)(int size), int size, int rounds, int n)
{
	double begin = 0;

	for (int i = -WARM; i < rounds; i++) {
		if (i == 0)
			begin = MPI_Wtime();
		for (int k = 0; k < n; k++)
			move(size);
		MPI_Win_flush(1, win);
	}
	return (MPI_Wtime() - begin) / rounds / n * 1e6;
}

static void one_size(int size, int rounds)
{
	double time[4];

	for (int i = 0; i < size; i++)
		mine[i] = byte_of(size, i, 1);
	time[0] = measure(put, size, rounds, 1);
	time[1] = measure(put, size, rounds, AT_ONCE);
	for (int i = 0; i < size; i++)
		mine[i] = 0;
	time[2] = measure(get, size, rounds, 1);
	time[3] = measure(get, size, rounds, AT_ONCE);
	check(mine, size, 1);
	printf("%8d B   put %10.4f us %9.1f MB/s   get %10.4f us %9.1f MB/s\n",
		size, time[0], size / time[1], time[2], size / time[3]);
}

int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : 65536, rank;
	int rounds = argc > 2 ? atoi(argv[2]) : 20;
	int factor = argc > 3 ? atoi(argv[3]) : 4;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
	mine = malloc((size_t)most + 1);
	memset(window, 0, (size_t)most);
	MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int size = 1; rank == 0 && size <= most; size *= factor)
		one_size(size, rounds);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	free(mine);
	MPI_Finalize();
	return 0;
}
