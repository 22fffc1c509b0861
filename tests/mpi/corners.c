/*
 * What Open MPI does in its own way: communicators of one rank, which need no
 * other rank, graphs, and accumulates of every operation, by the interface
 * where that has them, with and without derived types.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
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

/* --- processes --- */

/* Bit of a signal that is ignored by process `who`, and its parent's number. */
static int ignores(const char *who, int signal, int *parent)
{
	unsigned long long ignored = 0;
	char path[64], line[256];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%s/status", who);
	in = fopen(path, "r");
	CHECK(in);
	while (fgets(line, sizeof(line), in)) {
		sscanf(line, "PPid: %d", parent);
		sscanf(line, "SigIgn: %llx", &ignored);
	}
	fclose(in);
	return ignored >> (signal - 1) & 1;
}

/* PMIx would die of it in the parent, if a rank is killed while it writes. */
static void signals(void)
{
	int parent = 0, other;
	char text[16];

	CHECK(!ignores("self", SIGPIPE, &parent));
	snprintf(text, sizeof(text), "%d", parent);
	CHECK(ignores(text, SIGPIPE, &other));
}

/* --- communicators and windows --- */

/* Nothing is sent, however many there are. */
static void communicators_of_one(void)
{
	MPI_Comm comm[20];
	MPI_Request request;
	int size;

	for (int i = 0; i < 20; i++) {
		if (i % 3 == 0)
			MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
		else if (i % 3 == 1)
			MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm[i]);
		else
			MPI_Comm_idup(MPI_COMM_SELF, &comm[i], &request);
		if (i % 3 == 2)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Comm_size(comm[i], &size);
		CHECK(size == 1);
	}
	for (int i = 0; i < 20; i++)
		MPI_Comm_free(&comm[i]);
}

static void broadcast_by(int color)
{
	unsigned char bytes[300];
	MPI_Comm comm;
	int size, me;

	MPI_Comm_split(MPI_COMM_WORLD, color, rank, &comm);
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &size);
	for (int i = 0; i < 4 * size; i++) {
		memset(bytes, me == i % size ? i + color : 99, sizeof(bytes));
		MPI_Bcast(bytes, sizeof(bytes), MPI_BYTE, i % size, comm);
		CHECK(bytes[0] == i + color && bytes[299] == i + color);
	}
	MPI_Comm_free(&comm);
}

/* Ranks of one node are in different ones. */
static void halves(void)
{
	broadcast_by(0);
	broadcast_by(rank % 2);
	broadcast_by(rank < n / 2);
}

/* More than one time-out of an interface passes before the last rank gets any
 * byte of the first one's. */
static void long_broadcasts(void)
{
	const int size = 4 << 20;
	unsigned char *bytes = malloc((size_t)size);

	for (int i = 1; i <= 3; i++) {
		memset(bytes, rank ? 0 : i, (size_t)size);
		MPI_Bcast(bytes, size, MPI_BYTE, 0, MPI_COMM_WORLD);
		for (int k = 0; k < size; k++)
			CHECK(bytes[k] == i);
	}
	free(bytes);
}

/* With leave to place ranks anew. */
static void graph(void)
{
	int to = (rank + 1) % n, from = (rank + n - 1) % n, all[2], one = 1;
	MPI_Comm ring;

	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &to, &one,
		MPI_INFO_NULL, 1, &ring);
	MPI_Neighbor_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, ring);
	CHECK(all[0] == from);
	MPI_Comm_free(&ring);
}

static void windows_of_one(void)
{
	MPI_Win win;
	int word = 0, one = 1;

	for (int i = 0; i < 8; i++) {
		MPI_Win_create(&word, sizeof(word), 1, MPI_INFO_NULL,
			MPI_COMM_SELF, &win);
		MPI_Win_fence(0, win);
		MPI_Accumulate(
			&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
		MPI_Win_fence(0, win);
		CHECK(word == i + 1);
		MPI_Win_free(&win);
	}
}

/* --- accumulates --- */

enum { OPS = 12 };

struct op {
	MPI_Op op;
	int64_t (*of)(int64_t old, int64_t x);
};

#define OF(name, value)                                                        \
	static int64_t name(int64_t a, int64_t x)                              \
	{                                                                      \
		return value;                                                  \
	}
OF(sum, a + x)
OF(least, a < x ? a : x)
OF(most, a > x ? a : x)
OF(bits_and, a &x)
OF(bits_or, a | x)
OF(bits_xor, a ^ x)
OF(is_and, a &&x)
OF(is_or, a || x)
OF(is_xor, !a != !x)
OF(product, (a) * (x))
OF(other, ((void)a, x))
OF(same, ((void)x, a))

static void list_ops(struct op op[OPS])
{
	const struct op all[OPS] = { { MPI_SUM, sum }, { MPI_MIN, least },
		{ MPI_MAX, most }, { MPI_BAND, bits_and }, { MPI_BOR, bits_or },
		{ MPI_BXOR, bits_xor }, { MPI_LAND, is_and },
		{ MPI_LOR, is_or }, { MPI_LXOR, is_xor }, { MPI_PROD, product },
		{ MPI_REPLACE, other }, { MPI_NO_OP, same } };

	for (int i = 0; i < OPS; i++)
		op[i] = all[i];
}

/* The next rank's words, first one, then all, which are `old` before. */
static void change(MPI_Win win, const struct op *o, int64_t old, int64_t x)
{
	int64_t all[3] = { x, x, x }, is[3] = { -9, -9, -9 };
	int to = (rank + 1) % n;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
	MPI_Fetch_and_op(&x, is, MPI_INT64_T, to, 0, o->op, win);
	MPI_Win_flush(to, win);
	CHECK(is[0] == old);
	if (o->op != MPI_NO_OP)
		MPI_Accumulate(
			all, 2, MPI_INT64_T, to, 1, 2, MPI_INT64_T, o->op, win);
	MPI_Win_flush(to, win);
	MPI_Get_accumulate(all, 3, MPI_INT64_T, is, 3, MPI_INT64_T, to, 0, 3,
		MPI_INT64_T, o->op, win);
	MPI_Win_unlock(to, win);
	for (int i = 0; i < 3; i++)
		CHECK(is[i] == o->of(old, x));
}

static void every_operation(void)
{
	struct op op[OPS];
	int64_t *word, old, x;
	MPI_Win win;

	list_ops(op);
	MPI_Win_allocate(3 * sizeof(*word), sizeof(*word), MPI_INFO_NULL,
		MPI_COMM_WORLD, &word, &win);
	for (int i = 0; i < 3 * OPS; i++) {
		old = i / OPS * 7 - 3;
		x = 5 - 2 * (i / OPS);
		for (int k = 0; k < 3; k++)
			word[k] = old;
		MPI_Barrier(MPI_COMM_WORLD);
		change(win, &op[i % OPS], old, x);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int k = 0; k < 3; k++)
			CHECK(word[k] ==
				op[i % OPS].of(op[i % OPS].of(old, x), x));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&win);
}

/* How MPI_Get_accumulate() describes the same ten words. */
struct types {
	MPI_Datatype origin, result, target;
	int n_origin, n_result, n_target;
};

static void fetch_ten(const struct types *t)
{
	int32_t *word, one[10], is[10];
	MPI_Win win;

	MPI_Win_allocate(10 * sizeof(*word), sizeof(*word), MPI_INFO_NULL,
		MPI_COMM_WORLD, &word, &win);
	for (int i = 0; i < 10; i++)
		one[i] = 1, word[i] = 100 * i;
	MPI_Win_fence(0, win);
	for (int k = 0; k < 3; k++) {
		MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % n, 0, win);
		MPI_Get_accumulate(one, t->n_origin, t->origin, is, t->n_result,
			t->result, (rank + 1) % n, 0, t->n_target, t->target,
			MPI_SUM, win);
		MPI_Win_unlock((rank + 1) % n, win);
		for (int i = 0; i < 10; i++)
			CHECK(is[i] == 100 * i + k);
	}
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
}

static void derived_types(void)
{
	const MPI_Datatype plain = MPI_INT32_T;
	MPI_Datatype ten;

	MPI_Type_contiguous(10, plain, &ten);
	MPI_Type_commit(&ten);
	fetch_ten(&(struct types){ plain, plain, plain, 10, 10, 10 });
	fetch_ten(&(struct types){ ten, plain, plain, 1, 10, 10 });
	fetch_ten(&(struct types){ plain, ten, plain, 10, 1, 10 });
	fetch_ten(&(struct types){ plain, plain, ten, 10, 10, 1 });
	fetch_ten(&(struct types){ ten, ten, ten, 1, 1, 1 });
	MPI_Type_free(&ten);
}

static void finish(void)
{
	if (rank == 0)
		printf("all corners are right\n");
	MPI_Finalize();
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (argc > 1 && !strcmp(argv[1], "long")) {
		long_broadcasts();
		finish();
		return 0;
	}
	signals();
	communicators_of_one();
	windows_of_one();
	halves();
	if (argc == 1) {
		graph();
		every_operation();
		derived_types();
	}
	finish();
	return 0;
}
