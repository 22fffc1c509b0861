/*
 * Conjugate gradients: solves A x = b, where A has 4 on its diagonal and -1
 * beside it, and rows are shared out to the ranks.  Each step exchanges one
 * number with each neighbour, and has two sums over all ranks.  x is known, so
 * that every element is checked.
 *
 *   ./cg [ROWS]                rows of each rank
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 200 };
#define SMALL 1e-12

static int rank, n, rows;

/* y = A p; p has room for a neighbour's element at both ends. */
static void multiply(double *p, double *y)
{
	int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int right = rank < n - 1 ? rank + 1 : MPI_PROC_NULL;

	p[0] = p[rows + 1] = 0;
	MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 0, &p[rows + 1], 1, MPI_DOUBLE,
		right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&p[rows], 1, MPI_DOUBLE, right, 1, &p[0], 1, MPI_DOUBLE,
		left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < rows; i++)
		y[i] = 4 * p[i + 1] - p[i] - p[i + 2];
}

static double product(const double *a, const double *b)
{
	double mine = 0, all;

	for (int i = 0; i < rows; i++)
		mine += a[i] * b[i];
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

/* Returns how many steps it took; r is b at first. */
static int solve(double *x, double *r, double *p, double *q)
{
	double rho = product(r, r), before;
	int steps = 0;

	for (int i = 0; i < rows; i++)
		p[i + 1] = r[i];
	while (rho > SMALL * SMALL && steps++ < MOST) {
		double alpha;

		multiply(p, q);
		alpha = rho / product(p + 1, q);
		for (int i = 0; i < rows; i++) {
			x[i] += alpha * p[i + 1];
			r[i] -= alpha * q[i];
		}
		before = rho;
		rho = product(r, r);
		for (int i = 0; i < rows; i++)
			p[i + 1] = r[i] + rho / before * p[i + 1];
	}
	return steps;
}

static double solution(int i)
{
	return 1 + i % 5;
}

int main(int argc, char **argv)
{
	double *x, *r, *p, *q, worst = 0, all, begin;
	int steps;

	MPI_Init(&argc, &argv);
	rows = argc > 1 ? atoi(argv[1]) : 100;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	x = calloc((size_t)rows, sizeof(*x));
	r = calloc((size_t)rows, sizeof(*r));
	p = calloc((size_t)rows + 2, sizeof(*p));
	q = calloc((size_t)rows, sizeof(*q));
	for (int i = 0; i < rows; i++)
		p[i + 1] = solution(rank * rows + i);
	multiply(p, r);
	begin = MPI_Wtime();
	steps = solve(x, r, p, q);
	begin = MPI_Wtime() - begin;
	for (int i = 0; i < rows; i++) {
		double error = x[i] - solution(rank * rows + i);

		if (error * error > worst)
			worst = error * error;
	}
	MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d steps of %.3f us, %s\n", steps, begin / steps * 1e6,
			all < 1e-18 ? "right" : "wrong");
	free(x);
	free(r);
	free(p);
	free(q);
	MPI_Finalize();
	return !(all < 1e-18);
}
