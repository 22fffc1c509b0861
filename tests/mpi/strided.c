/*
 * Many small puts into the window of a rank that waits in a fence, and one into
 * that of a rank that polls it.  Memory of a window that is gone becomes that
 * of another one.
 *
 *   ./strided [N]     N elements, 10,000
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank;

static void fail(const char *what)
{
	printf("rank %d: %s is wrong\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Every other element of rank 0's becomes one of rank 1's. */
static void put_all(int n, MPI_Win win, volatile double *window)
{
	double *from = malloc(2 * (size_t)n * sizeof(*from));
	MPI_Datatype type;

	MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < 2 * n; i++) {
		from[i] = i;
		window[i] = -1;
	}
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(from, 1, type, 1, 0, 1, type, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 2 * n && rank == 1; i++)
		if (window[i] != (i % 2 ? -1 : i))
			fail("an element");
	MPI_Type_free(&type);
	free(from);
}

/* Between its calls a rank sees what others have put. */
static void poll_window(MPI_Win win, volatile double *window)
{
	double x = -2, t;

	MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		usleep(200);
		t = MPI_Wtime();
		MPI_Put(&x, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
		MPI_Win_flush(1, win);
		MPI_Send(&t, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
	} else if (rank == 1) {
		for (int is_there; window[0] != -2;) {
			MPI_Iprobe(0, 1, MPI_COMM_WORLD, &is_there,
				MPI_STATUS_IGNORE);
			MPI_Win_sync(win);
		}
		x = MPI_Wtime();
		MPI_Recv(&t, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		printf("seen %s\n", x - t < 20e-6 ? "at once" : "late");
	}
	MPI_Win_unlock_all(win);
}

/* The states of later windows may be where the first one's memory was. */
static void wait_for_posts(void)
{
	MPI_Group all, other;
	MPI_Win win;
	int who = 1 - rank, *memory;

	if (rank > 1)
		return;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &who, &other);
	MPI_Comm pair;
	MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &pair);
	for (int i = 0; i < 8; i++) {
		MPI_Win_allocate(
			64 << i, 1, MPI_INFO_NULL, pair, &memory, &win);
		if (rank == 0) {
			MPI_Win_start(other, 0, win);
			MPI_Put(&i, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
			MPI_Win_complete(win);
		} else {
			MPI_Win_post(other, 0, win);
			MPI_Win_wait(win);
			if (*memory != i)
				fail("a number");
		}
		MPI_Win_free(&win);
	}
	MPI_Comm_free(&pair);
	MPI_Group_free(&other);
	MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10000;
	double *window;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++) {
		MPI_Win_allocate((MPI_Aint)(2 * (size_t)n * sizeof(*window)),
			sizeof(*window), MPI_INFO_NULL, MPI_COMM_WORLD, &window,
			&win);
		put_all(n, win, window);
		poll_window(win, window);
		MPI_Win_free(&win);
		wait_for_posts();
	}
	window = malloc(2 * (size_t)n * sizeof(*window));
	MPI_Win_create(window, (MPI_Aint)(2 * (size_t)n * sizeof(*window)),
		sizeof(*window), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	put_all(n, win, window);
	MPI_Win_free(&win);
	free(window);
	wait_for_posts();
	if (rank == 0)
		printf("all puts are right\n");
	MPI_Finalize();
	return 0;
}
