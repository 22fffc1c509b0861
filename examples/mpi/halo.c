/*
 * A halo exchange: heat flows on a grid that is shared out to the ranks in two
 * dimensions; before each step neighbours exchange the edges of their parts.
 * The grid wraps round.  A second run on one rank must give the same points, to
 * the last bit.
 *
 *   ./halo [SIDE [STEPS]]      SIDE points a rank in each dimension
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct grid {
	int rows, columns; /* without the halo */
	double *now, *next;
};

static double *at(const struct grid *g, double *a, int i, int k)
{
	return &a[(size_t)(i + 1) * (g->columns + 2) + k + 1];
}

/* Sums of these are exact. */
static double first(int i, int k)
{
	return (double)((i * 7 + k * 13) % 64);
}

static struct grid make(int rows, int columns, int row, int column)
{
	size_t size = (size_t)(rows + 2) * (columns + 2);
	struct grid g = { rows, columns, calloc(size, sizeof(double)),
		calloc(size, sizeof(double)) };

	for (int i = 0; i < rows; i++)
		for (int k = 0; k < columns; k++)
			*at(&g, g.now, i, k) = first(row + i, column + k);
	return g;
}

static void release(struct grid *g)
{
	free(g->now);
	free(g->next);
}

static void step(struct grid *g)
{
	double *a = g->now;

	for (int i = 0; i < g->rows; i++)
		for (int k = 0; k < g->columns; k++)
			*at(g, g->next, i, k) =
				0.5 * *at(g, a, i, k) +
				0.125 * (*at(g, a, i - 1, k) +
						*at(g, a, i + 1, k) +
						*at(g, a, i, k - 1) +
						*at(g, a, i, k + 1));
	g->now = g->next;
	g->next = a;
}

/* All four edges at once, columns by a type of their own. */
static void exchange(struct grid *g, MPI_Comm comm, MPI_Datatype column)
{
	int up, down, left, right, n = g->columns;
	MPI_Request r[8];
	double *a = g->now;

	MPI_Cart_shift(comm, 0, 1, &up, &down);
	MPI_Cart_shift(comm, 1, 1, &left, &right);
	MPI_Irecv(at(g, a, -1, 0), n, MPI_DOUBLE, up, 0, comm, &r[0]);
	MPI_Irecv(at(g, a, g->rows, 0), n, MPI_DOUBLE, down, 1, comm, &r[1]);
	MPI_Irecv(at(g, a, 0, -1), 1, column, left, 2, comm, &r[2]);
	MPI_Irecv(at(g, a, 0, n), 1, column, right, 3, comm, &r[3]);
	MPI_Isend(
		at(g, a, g->rows - 1, 0), n, MPI_DOUBLE, down, 0, comm, &r[4]);
	MPI_Isend(at(g, a, 0, 0), n, MPI_DOUBLE, up, 1, comm, &r[5]);
	MPI_Isend(at(g, a, 0, n - 1), 1, column, right, 2, comm, &r[6]);
	MPI_Isend(at(g, a, 0, 0), 1, column, left, 3, comm, &r[7]);
	MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
}

/* The same on one rank. */
static void wrap(struct grid *g)
{
	double *a = g->now;

	for (int i = 0; i < g->rows; i++) {
		*at(g, a, i, -1) = *at(g, a, i, g->columns - 1);
		*at(g, a, i, g->columns) = *at(g, a, i, 0);
	}
	for (int k = 0; k < g->columns; k++) {
		*at(g, a, -1, k) = *at(g, a, g->rows - 1, k);
		*at(g, a, g->rows, k) = *at(g, a, 0, k);
	}
}

int main(int argc, char **argv)
{
	int dims[2] = { 0, 0 }, wraps[2] = { 1, 1 }, place[2];
	int side, steps, rank, n, wrong = 0, all;
	MPI_Datatype column;
	struct grid mine, whole;
	MPI_Comm comm;
	double begin;

	MPI_Init(&argc, &argv);
	side = argc > 1 ? atoi(argv[1]) : 16;
	steps = argc > 2 ? atoi(argv[2]) : 10;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Dims_create(n, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 1, &comm);
	MPI_Comm_rank(comm, &rank);
	MPI_Cart_coords(comm, rank, 2, place);
	MPI_Type_vector(side, 1, side + 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	mine = make(side, side, place[0] * side, place[1] * side);
	begin = MPI_Wtime();
	for (int i = 0; i < steps; i++) {
		exchange(&mine, comm, column);
		step(&mine);
	}
	begin = (MPI_Wtime() - begin) / steps * 1e6;
	whole = make(dims[0] * side, dims[1] * side, 0, 0);
	for (int i = 0; i < steps; i++) {
		wrap(&whole);
		step(&whole);
	}
	for (int i = 0; i < side; i++)
		wrong += memcmp(at(&mine, mine.now, i, 0),
				 at(&whole, whole.now, place[0] * side + i,
					 place[1] * side),
				 (size_t)side * sizeof(double)) != 0;
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, comm);
	if (rank == 0)
		printf("%d x %d ranks: %.3f us a step, %s\n", dims[0], dims[1],
			begin, all ? "wrong" : "right");
	release(&mine);
	release(&whole);
	MPI_Type_free(&column);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return all != 0;
}
