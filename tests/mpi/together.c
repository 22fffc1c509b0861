/*
 * Collectives that the network may do by itself, and those that it cannot: all
 * have the same results.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, n;

#define CHECK(what)                                                            \
	do {                                                                   \
		if (!(what)) {                                                 \
			printf("rank %d, line %d: not %s\n", rank, __LINE__,   \
				#what);                                        \
			MPI_Abort(MPI_COMM_WORLD, 1);                          \
		}                                                              \
	} while (0)

/* Rank 0 waits in the barrier while others wait for what it has begun. */
static void go_on(void)
{
	MPI_Request request;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	if (rank != 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The same bytes by different types: every other element at the root. */
static void types(MPI_Comm comm)
{
	MPI_Datatype spread;
	int a[20], b[10] = { 0 };

	for (int i = 0; i < 20; i++)
		a[i] = i;
	MPI_Type_vector(10, 1, 2, MPI_INT, &spread);
	MPI_Type_commit(&spread);
	if (rank == n - 1)
		MPI_Bcast(a, 1, spread, n - 1, comm);
	else
		MPI_Bcast(b, 10, MPI_INT, n - 1, comm);
	for (int i = 0; i < 10 && rank != n - 1; i++)
		CHECK(b[i] == 2 * i);
	MPI_Type_free(&spread);
}

static void operations(void)
{
	unsigned long long bits = 1ull << rank, all;
	double x = rank + 0.25, least;
	short small = (short)rank, most;
	int sum = rank, is_true = rank > 0, answer;

	MPI_Allreduce(&bits, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_BOR,
		MPI_COMM_WORLD);
	CHECK(all == (1ull << n) - 1);
	MPI_Allreduce(&x, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
	CHECK(least == 0.25);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(sum == n * (n - 1) / 2);
	sum = rank;
	if (rank == 1)
		MPI_Reduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, 1,
			MPI_COMM_WORLD);
	else
		MPI_Reduce(&sum, NULL, 1, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD);
	CHECK(sum == (rank == 1 ? n - 1 : rank));
	/* No network has these. */
	MPI_Allreduce(&small, &most, 1, MPI_SHORT, MPI_MAX, MPI_COMM_WORLD);
	CHECK(most == n - 1);
	MPI_Allreduce(&is_true, &answer, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	CHECK(answer == 0);
}

static void long_ones(void)
{
	enum { LENGTH = 50000 };
	long *a = malloc(LENGTH * sizeof(*a)), *b = malloc(LENGTH * sizeof(*b));

	for (int i = 0; i < LENGTH; i++)
		a[i] = rank + i;
	MPI_Allreduce(a, b, LENGTH, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < LENGTH; i++)
		CHECK(b[i] == (long)n * (n - 1) / 2 + (long)n * i);
	MPI_Bcast(b, LENGTH, MPI_LONG, 0, MPI_COMM_WORLD);
	MPI_Bcast(b, 2000, MPI_LONG, 1, MPI_COMM_WORLD);
	CHECK(b[1999] == (long)n * (n - 1) / 2 + (long)n * 1999);
	free(a);
	free(b);
}

int main(int argc, char **argv)
{
	MPI_Comm dup;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	go_on();
	types(MPI_COMM_WORLD);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	types(dup);
	MPI_Comm_free(&dup);
	operations();
	long_ones();
	if (rank == 0)
		printf("all together is right\n");
	MPI_Finalize();
	return 0;
}
