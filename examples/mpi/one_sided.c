/*
 * Windows: puts, gets, sums and swaps into the memory of ranks that do not call
 * MPI meanwhile, with fences, locks and flushes, and among ranks that name each
 * other.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 20000 };

static int rank, n;

#define CHECK(what)                                                            \
	do {                                                                   \
		if (!(what)) {                                                 \
			printf("rank %d, line %d: not %s\n", rank, __LINE__,   \
				#what);                                        \
			MPI_Abort(MPI_COMM_WORLD, 1);                          \
		}                                                              \
	} while (0)

static void put_and_get(void)
{
	long *window, *mine = malloc(LENGTH * sizeof(*mine));
	int to = (rank + 1) % n, from = (rank + n - 1) % n;
	MPI_Win win;

	MPI_Win_allocate(LENGTH * sizeof(*window), sizeof(*window),
		MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
	for (int i = 0; i < LENGTH; i++) {
		window[i] = -1;
		mine[i] = rank * 1000000 + i;
	}
	MPI_Win_fence(0, win);
	MPI_Put(mine, LENGTH, MPI_LONG, to, 0, LENGTH, MPI_LONG, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < LENGTH; i++)
		CHECK(window[i] == from * 1000000 + i);
	MPI_Win_fence(0, win);
	MPI_Get(mine, 3, MPI_LONG, to, 5, 3, MPI_LONG, win);
	MPI_Win_fence(0, win);
	CHECK(mine[2] == rank * 1000000 + 7);
	MPI_Win_free(&win);
	free(mine);
}

/* All count in rank 0's memory. */
static void count(void)
{
	long counter[4] = { 0 }, one = 1, old, zero = 0, swapped;
	double sum = 0, mine = rank + 0.5;
	MPI_Win win, sums;

	MPI_Win_create(counter, sizeof(counter), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &win);
	MPI_Win_create(&sum, sizeof(sum), sizeof(sum), MPI_INFO_NULL,
		MPI_COMM_WORLD, &sums);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 10; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 1, MPI_SUM, win);
		MPI_Win_flush(0, win);
		CHECK(old >= i && old < 10 * n);
	}
	MPI_Compare_and_swap(&one, &zero, &swapped, MPI_LONG, 0, 2, win);
	MPI_Win_flush(0, win);
	CHECK(swapped == 0 || swapped == 1);
	MPI_Win_unlock_all(win);
	MPI_Win_fence(0, sums);
	MPI_Accumulate(
		&mine, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, sums);
	MPI_Win_fence(0, sums);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		CHECK(counter[1] == 10 * n);
		CHECK(counter[2] == 1);
		CHECK(sum == n * (n - 1) / 2.0 + 0.5 * n);
	}
	MPI_Win_free(&sums);
	MPI_Win_free(&win);
}

/* A lock keeps others out: no increment is lost. */
static void lock(void)
{
	int total = 0, x;
	MPI_Win win;

	MPI_Win_create(&total, sizeof(total), sizeof(total), MPI_INFO_NULL,
		MPI_COMM_WORLD, &win);
	for (int i = 0; i < 5; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Get(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
		x++;
		MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_unlock(0, win);
	CHECK(x == 5 * n);
	MPI_Win_free(&win);
}

/* Only those take part that name each other. */
static void post_and_start(void)
{
	int next = (rank + 1) % n, prev = (rank + n - 1) % n;
	long cell[2] = { -1, rank }, got = -1, mine = 100 + rank;
	MPI_Group all, from, to;
	MPI_Win win;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &prev, &from);
	MPI_Group_incl(all, 1, &next, &to);
	MPI_Win_create(cell, sizeof(cell), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &win);
	MPI_Win_post(from, 0, win);
	MPI_Win_start(to, 0, win);
	MPI_Put(&mine, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
	MPI_Get(&got, 1, MPI_LONG, next, 1, 1, MPI_LONG, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	CHECK(cell[0] == 100 + prev);
	CHECK(got == next);
	MPI_Win_free(&win);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
	double begin;

	MPI_Init(&argc, &argv);
	begin = MPI_Wtime();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	put_and_get();
	count();
	lock();
	post_and_start();
	if (rank == 0)
		printf("all of it is right, after %.3f us\n",
			(MPI_Wtime() - begin) * 1e6);
	MPI_Finalize();
	return 0;
}
