/*
 * One of each kind of call, between 2 to 16 ranks, each with its check:
 * communicators, collectives, probes, tests, cancelled receives, messages that
 * are too long, vectors, threads' level.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, n;

#define CHECK(what)                                                            \
	do {                                                                   \
		if (!(what)) {                                                 \
			printf("rank %d, line %d: not %s\n", rank, __LINE__,   \
				#what);                                        \
			MPI_Abort(MPI_COMM_WORLD, 1);                          \
		}                                                              \
	} while (0)

static void communicators(void)
{
	MPI_Comm dup, half, row;
	int r, size, sum, node;

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_split(dup, rank % 2, -rank, &half);
	MPI_Comm_rank(half, &r);
	MPI_Comm_size(half, &size);
	CHECK(size == (n + 1 - rank % 2) / 2);
	/* Keys run backwards. */
	CHECK(r == size - 1 - rank / 2);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
	CHECK(sum == size * (size - 1) + size * (rank % 2));
	MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &row);
	MPI_Comm_size(row, &node);
	CHECK(node >= 1 && node <= n);
	MPI_Comm_free(&row);
	MPI_Comm_free(&half);
	MPI_Comm_free(&dup);
}

static void collectives(void)
{
	int all[16], mine[16], x = rank == 1 ? 42 : 0;

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Bcast(&x, 1, MPI_INT, 1, MPI_COMM_WORLD);
	CHECK(x == 42);
	MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++) {
		CHECK(all[i] == i);
		mine[i] = 100 * rank + i;
	}
	MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		CHECK(all[i] == 100 * i + rank);
	MPI_Scan(&rank, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(x == rank * (rank + 1) / 2);
	MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < n && rank == 0; i++)
		CHECK(all[i] == i);
	MPI_Reduce(&rank, &x, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	CHECK(rank != 0 || x == n - 1);
}

static void unfinished_collectives(void)
{
	MPI_Request request;
	int sum, is_done = 0, n_tests = 0;

	MPI_Iallreduce(
		&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
	while (!is_done && n_tests++ < 100000)
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
	CHECK(is_done);
	CHECK(sum == n * (n - 1) / 2);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probes(void)
{
	MPI_Status status;
	MPI_Message message;
	int x = rank, is_there = 0, count;

	if (rank == 0) {
		MPI_Iprobe(1, 99, MPI_COMM_WORLD, &is_there, &status);
		CHECK(!is_there);
		MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		CHECK(status.MPI_TAG == 5);
		MPI_Get_count(&status, MPI_INT, &count);
		CHECK(count == 1);
		MPI_Recv(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &status);
		CHECK(x == 1);
		MPI_Mprobe(
			MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, &status);
		MPI_Mrecv(&x, 1, MPI_INT, &message, &status);
		CHECK(x == 2);
		for (is_there = 0; !is_there;)
			MPI_Iprobe(1, 7, MPI_COMM_WORLD, &is_there, &status);
		MPI_Recv(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &status);
		CHECK(x == 3);
	} else if (rank == 1) {
		MPI_Send(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
		x++;
		MPI_Send(&x, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
		x++;
		MPI_Ssend(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
	}
}

static void cancelled(void)
{
	MPI_Request request;
	MPI_Status status;
	int x = 0, is_cancelled;

	MPI_Irecv(&x, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &is_cancelled);
	CHECK(is_cancelled);
}

static void too_long(void)
{
	int two[2] = { 1, 2 }, x[2] = { 0, 7 }, error;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 1)
		MPI_Send(two, 2, MPI_INT, 0, 8, MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Status status;

		error = MPI_Recv(x, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &status);
		MPI_Error_class(error, &error);
		CHECK(error == MPI_ERR_TRUNCATE);
		CHECK(x[1] == 7);
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* All at once, in both directions, of all sizes. */
static void many(void)
{
	enum { SIZES = 9, LARGEST = 1 << 18 };
	MPI_Request request[2 * SIZES];
	int to = (rank + 1) % n, from = (rank + n - 1) % n;
	unsigned char *out = malloc(SIZES * LARGEST);
	unsigned char *in = calloc(SIZES, LARGEST);

	for (int i = 0; i < SIZES * LARGEST; i++)
		out[i] = (unsigned char)(i * 13 + rank);
	for (int i = 0; i < SIZES; i++)
		MPI_Irecv(in + i * LARGEST, 1 << 2 * i, MPI_BYTE, from, 100 + i,
			MPI_COMM_WORLD, &request[i]);
	for (int i = SIZES - 1; i >= 0; i--)
		MPI_Isend(out + i * LARGEST, 1 << 2 * i, MPI_BYTE, to, 100 + i,
			MPI_COMM_WORLD, &request[SIZES + i]);
	MPI_Waitall(2 * SIZES, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < SIZES; i++)
		for (int j = 0; j < 1 << 2 * i; j++)
			CHECK(in[i * LARGEST + j] ==
				(unsigned char)((i * LARGEST + j) * 13 + from));
	free(out);
	free(in);
}

/* Every other element, one from the rank before. */
static void strided(void)
{
	MPI_Datatype column;
	double a[64], b[64] = { 0 };

	for (int i = 0; i < 64; i++)
		a[i] = i + 1000 * rank;
	MPI_Type_vector(32, 1, 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	MPI_Sendrecv(a, 1, column, (rank + 1) % n, 3, b, 1, column,
		(rank + n - 1) % n, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < 64; i++)
		CHECK(b[i] == (i % 2 ? 0 : i + 1000.0 * ((rank + n - 1) % n)));
	MPI_Type_free(&column);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n < 2 || n > 16)
		MPI_Abort(MPI_COMM_WORLD, 2);
	communicators();
	collectives();
	unfinished_collectives();
	probes();
	cancelled();
	too_long();
	many();
	strided();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("all calls are right\n");
	MPI_Finalize();
	return 0;
}
