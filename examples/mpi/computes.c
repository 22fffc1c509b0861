/*
 * A program that says how long it computes: a stencil whose inner part is
 * computed while the border of its neighbour is under way.  Prints how much of
 * the exchange was hidden.  It runs without Weft, too, where its computing
 * takes what it takes.
 *
 *   weft mpirun torus -n 8 -- ./computes [points [ns a point]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/rank.h>

enum { STEPS = 10 };

static double ns_a_point = 1;

static void compute(double *to, const double *from, int first, int last)
{
	for (int i = first; i < last; i++)
		to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
	if (weft_rank_compute)
		weft_rank_compute((uint64_t)(ns_a_point * (last - first)));
}

/* One step on n points and a border.  Waits for the border before it computes
 * the inner points, or after that. */
static double step(double *a, double *b, int n, int left, int right, int waits)
{
	double begin = MPI_Wtime();
	MPI_Request request[4];

	MPI_Irecv(&a[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request[0]);
	MPI_Irecv(&a[n + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD,
		&request[1]);
	MPI_Isend(&a[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &request[2]);
	MPI_Isend(&a[n], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request[3]);
	if (waits)
		MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
	compute(b, a, 2, n);
	if (!waits)
		MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
	compute(b, a, 1, 2);
	compute(b, a, n, n + 1);
	return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
	double spent[2] = { 0, 0 }, *a, *b, *c, sum = 0, all;
	int rank, size, n = argc > 1 ? atoi(argv[1]) : 2000;

	if (argc > 2)
		ns_a_point = atof(argv[2]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	a = calloc((size_t)n + 2, sizeof(*a));
	b = calloc((size_t)n + 2, sizeof(*b));
	if (n < 2 || !a || !b)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 1; i <= n; i++)
		a[i] = i % 7;
	for (int i = 0; i < 2 * STEPS; i++) {
		spent[i % 2] += step(a, b, n, (rank + size - 1) % size,
			(rank + 1) % size, i % 2);
		c = a;
		a = b;
		b = c;
	}
	for (int i = 1; i <= n; i++)
		sum += a[i];
	/* a ring keeps its sum */
	MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %.0f, a step %.3f us, %.3f us without overlap\n",
			all, spent[0] / STEPS * 1e6, spent[1] / STEPS * 1e6);
	MPI_Finalize();
	return 0;
}
