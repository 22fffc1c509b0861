/*
 * Each kind of window with each way to synchronise, for all ranks and for those
 * of a node.  Every rank writes into all others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { CREATED, ALLOCATED, DYNAMIC, N_KINDS };
enum { MOST = 64, CELLS = MOST + 2, SUM = MOST, COUNT };

struct window {
	MPI_Comm comm;
	int rank, n;
	MPI_Win win;
	long *cell; /* one of each rank, a sum, and one under a lock */
	MPI_Aint at[MOST]; /* where they are */
};

static void check(const struct window *w, int is_right, const char *what)
{
	if (is_right)
		return;
	printf("rank %d of %d: %s\n", w->rank, w->n, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void open(struct window *w, enum kind kind)
{
	MPI_Aint bytes = CELLS * sizeof(long), mine = 0;

	w->cell = NULL;
	if (kind == ALLOCATED)
		MPI_Win_allocate(
			bytes, 1, MPI_INFO_NULL, w->comm, &w->cell, &w->win);
	else
		w->cell = malloc(CELLS * sizeof(long));
	for (int i = 0; i < CELLS; i++)
		w->cell[i] = 0;
	if (kind == CREATED)
		MPI_Win_create(
			w->cell, bytes, 1, MPI_INFO_NULL, w->comm, &w->win);
	if (kind == DYNAMIC) {
		MPI_Win_create_dynamic(MPI_INFO_NULL, w->comm, &w->win);
		MPI_Win_attach(w->win, w->cell, bytes);
		MPI_Get_address(w->cell, &mine);
	}
	MPI_Allgather(&mine, 1, MPI_AINT, w->at, 1, MPI_AINT, w->comm);
}

static void close(struct window *w, enum kind kind)
{
	MPI_Barrier(w->comm);
	if (kind == DYNAMIC)
		MPI_Win_detach(w->win, w->cell);
	MPI_Win_free(&w->win);
	if (kind != ALLOCATED)
		free(w->cell);
}

static MPI_Aint place(const struct window *w, int rank, int cell)
{
	return w->at[rank] + cell * (MPI_Aint)sizeof(long);
}

static void put_all(const struct window *w, long *value)
{
	for (int i = 0; i < w->n; i++)
		if (i != w->rank)
			MPI_Put(value, 1, MPI_LONG, i, place(w, i, w->rank), 1,
				MPI_LONG, w->win);
}

static void check_all(const struct window *w, long base, const char *what)
{
	for (int i = 0; i < w->n; i++)
		check(w, i == w->rank || w->cell[i] == base + i, what);
}

static void fence(const struct window *w)
{
	long value = 100 + w->rank;

	MPI_Win_fence(0, w->win);
	put_all(w, &value);
	MPI_Win_fence(0, w->win);
	check_all(w, 100, "fence");
	MPI_Barrier(w->comm);
}

/* All others write, and wait for each other. */
static void post_and_start(const struct window *w)
{
	long value = 200 + w->rank;
	MPI_Group all, others;

	MPI_Comm_group(w->comm, &all);
	MPI_Group_excl(all, 1, &w->rank, &others);
	MPI_Win_post(others, 0, w->win);
	MPI_Win_start(others, 0, w->win);
	put_all(w, &value);
	MPI_Win_complete(w->win);
	MPI_Win_wait(w->win);
	check_all(w, 200, "post and start");
	MPI_Group_free(&others);
	MPI_Group_free(&all);
}

/* The last rank's memory. */
static void count(const struct window *w)
{
	long one = 1, old, got;
	int to = w->n - 1;

	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < 3; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_LONG, to, place(w, to, SUM),
			MPI_SUM, w->win);
		MPI_Win_flush(to, w->win);
		check(w, old >= i && old < 3 * w->n, "fetch and add");
	}
	MPI_Win_unlock_all(w->win);
	for (int i = 0; i < 3; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win);
		MPI_Get(&got, 1, MPI_LONG, to, place(w, to, COUNT), 1, MPI_LONG,
			w->win);
		MPI_Win_flush(to, w->win);
		got++;
		MPI_Put(&got, 1, MPI_LONG, to, place(w, to, COUNT), 1, MPI_LONG,
			w->win);
		MPI_Win_unlock(to, w->win);
	}
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, to, 0, w->win);
	MPI_Get(&got, 1, MPI_LONG, to, place(w, to, COUNT), 1, MPI_LONG,
		w->win);
	MPI_Get(&old, 1, MPI_LONG, to, place(w, to, SUM), 1, MPI_LONG, w->win);
	MPI_Win_unlock(to, w->win);
	check(w, got == 3 * w->n && old == 3 * w->n, "locks");
}

static void try(MPI_Comm comm)
{
	struct window w = { .comm = comm };

	MPI_Comm_rank(comm, &w.rank);
	MPI_Comm_size(comm, &w.n);
	for (enum kind kind = CREATED; kind < N_KINDS; kind++) {
		open(&w, kind);
		fence(&w);
		post_and_start(&w);
		count(&w);
		close(&w, kind);
	}
}

int main(int argc, char **argv)
{
	MPI_Comm node;
	int rank, n;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	try(MPI_COMM_WORLD);
	MPI_Comm_split_type(
		MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &n);
	try(node);
	if (rank == 0)
		printf("all windows are right, %d ranks on a node\n", n);
	MPI_Comm_free(&node);
	MPI_Finalize();
	return 0;
}
