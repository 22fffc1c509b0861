/*
 * Collectives of many communicators: halves, rows, every other rank, reversed
 * ones, duplicates, and more at a time than a network has room for.  All types
 * and operations that a network may do, with every root.
 *
 *   ./groups           checks results
 *   ./groups times     prints the longest time of a reduction of one element
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LENGTH = 30 };

static int world, n_world;

static void check(int is_good, const char *what, int line)
{
	if (is_good)
		return;
	printf("rank %d, line %d: %s is wrong\n", world, line, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(what) check(what, #what, __LINE__)

#define SUM(a, b)  ((a) + (b))
#define MIN(a, b)  ((b) < (a) ? (b) : (a))
#define MAX(a, b)  ((b) > (a) ? (b) : (a))
#define AND(a, b)  ((a) & (b))
#define OR(a, b)   ((a) | (b))
#define XOR(a, b)  ((a) ^ (b))
#define LAND(a, b) ((a) && (b))
#define LOR(a, b)  ((a) || (b))
#define LXOR(a, b) (!(a) != !(b))

/* Small enough that sums of floating point are exact. */
#define VALUE(type, rank, i) ((type)((rank)*3 - (i) % 11 - 5))

#define TEST(name, type, handle, op, with)                                     \
	static void name(MPI_Comm comm, const int *rank, int n, int root)      \
	{                                                                      \
		type a[LENGTH], b[LENGTH] = { 0 }, x;                          \
		int me;                                                        \
                                                                               \
		MPI_Comm_rank(comm, &me);                                      \
		for (int i = 0; i < LENGTH; i++)                               \
			a[i] = VALUE(type, world, i);                          \
		MPI_Reduce(a, b, LENGTH, handle, op, root, comm);              \
		for (int again = 0; again < 2; again++) {                      \
			for (int i = 0; i < LENGTH; i++) {                     \
				x = VALUE(type, rank[0], i);                   \
				for (int k = 1; k < n; k++)                    \
					x = with(x, VALUE(type, rank[k], i));  \
				CHECK(b[i] == x || (!again && me != root));    \
			}                                                      \
			if (!again)                                            \
				MPI_Allreduce(a, b, LENGTH, handle, op, comm); \
		}                                                              \
	}

#define ORDERED(name, type, handle)                                            \
	TEST(name##_sum, type, handle, MPI_SUM, SUM)                           \
	TEST(name##_min, type, handle, MPI_MIN, MIN)                           \
	TEST(name##_max, type, handle, MPI_MAX, MAX)
#define INTEGER(name, type, handle)                                            \
	ORDERED(name, type, handle)                                            \
	TEST(name##_and, type, handle, MPI_BAND, AND)                          \
	TEST(name##_or, type, handle, MPI_BOR, OR)                             \
	TEST(name##_xor, type, handle, MPI_BXOR, XOR)

#define LOGICAL(name, type, handle)                                            \
	TEST(name##_land, type, handle, MPI_LAND, LAND)                        \
	TEST(name##_lor, type, handle, MPI_LOR, LOR)                           \
	TEST(name##_lxor, type, handle, MPI_LXOR, LXOR)

INTEGER(int32, int32_t, MPI_INT32_T)
INTEGER(uint32, uint32_t, MPI_UINT32_T)
INTEGER(int64, int64_t, MPI_INT64_T)
INTEGER(uint64, uint64_t, MPI_UINT64_T)
ORDERED(single, float, MPI_FLOAT)
ORDERED(twice, double, MPI_DOUBLE)

static void (*const tests[])(
	MPI_Comm comm, const int *rank, int n, int root) = { int32_sum,
	int32_min, int32_max, int32_and, int32_or, int32_xor, uint32_sum,
	uint32_min, uint32_max, uint32_and, uint32_or, uint32_xor, int64_sum,
	int64_min, int64_max, int64_and, int64_or, int64_xor, uint64_sum,
	uint64_min, uint64_max, uint64_and, uint64_or, uint64_xor, single_sum,
	single_min, single_max, twice_sum, twice_min, twice_max };

enum { TESTS = sizeof(tests) / sizeof(tests[0]) };

INTEGER(character, char, MPI_CHAR)
INTEGER(int8, int8_t, MPI_INT8_T)
INTEGER(uint8, uint8_t, MPI_UINT8_T)
INTEGER(int16, int16_t, MPI_INT16_T)
INTEGER(uint16, uint16_t, MPI_UINT16_T)
LOGICAL(int8, int8_t, MPI_INT8_T)
LOGICAL(uint8, uint8_t, MPI_UINT8_T)
LOGICAL(int16, int16_t, MPI_INT16_T)
LOGICAL(uint16, uint16_t, MPI_UINT16_T)
LOGICAL(int32, int32_t, MPI_INT32_T)
LOGICAL(uint32, uint32_t, MPI_UINT32_T)
LOGICAL(int64, int64_t, MPI_INT64_T)
LOGICAL(uint64, uint64_t, MPI_UINT64_T)
LOGICAL(boolean, _Bool, MPI_C_BOOL)
TEST(byte_and, uint8_t, MPI_BYTE, MPI_BAND, AND)
TEST(byte_xor, uint8_t, MPI_BYTE, MPI_BXOR, XOR)

/* Reductions of numbers narrower than a network's words, and of logical values.
 */
static void (*const widened[])(MPI_Comm comm, const int *rank, int n,
	int root) = { character_sum, character_min, character_max,
	character_and, character_or, character_xor, int8_sum, int8_min,
	int8_max, int8_and, int8_or, int8_xor, uint8_sum, uint8_min, uint8_max,
	uint8_and, uint8_or, uint8_xor, int16_sum, int16_min, int16_max,
	int16_and, int16_or, int16_xor, uint16_sum, uint16_min, uint16_max,
	uint16_and, uint16_or, uint16_xor, int8_land, int8_lor, int8_lxor,
	uint8_land, uint8_lor, uint8_lxor, int16_land, int16_lor, int16_lxor,
	uint16_land, uint16_lor, uint16_lxor, int32_land, int32_lor, int32_lxor,
	uint32_land, uint32_lor, uint32_lxor, int64_land, int64_lor, int64_lxor,
	uint64_land, uint64_lor, uint64_lxor, boolean_land, boolean_lor,
	boolean_lxor, byte_and, byte_xor };

enum { WIDENED = sizeof(widened) / sizeof(widened[0]) };

static void use_widened(MPI_Comm comm)
{
	int n, *rank;

	MPI_Comm_size(comm, &n);
	rank = malloc((size_t)n * sizeof(*rank));
	MPI_Allgather(&world, 1, MPI_INT, rank, 1, MPI_INT, comm);
	for (int i = 0; i < WIDENED; i++)
		widened[i](comm, rank, n, i % n);
	free(rank);
}

/* Reductions of all types and operations, in an order of their own. */
static double longest(void)
{
	const MPI_Datatype types[] = { MPI_CHAR, MPI_SIGNED_CHAR,
		MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT };
	const MPI_Op ops[] = { MPI_SUM, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR,
		MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR };
	long long a = 1, b;
	double most = 0;

	for (int i = 0; i < 6 * 9; i++) {
		double begin, took;

		MPI_Barrier(MPI_COMM_WORLD);
		begin = MPI_Wtime();
		MPI_Allreduce(
			&a, &b, 1, types[i / 9], ops[i % 9], MPI_COMM_WORLD);
		took = MPI_Wtime() - begin;
		most = i && took > most ? took : most;
	}
	return most;
}

/* Bytes of any number, also of none. */
static void broadcast(MPI_Comm comm, int root, int bytes)
{
	unsigned char *a = malloc((size_t)bytes + 1);
	int me;

	MPI_Comm_rank(comm, &me);
	for (int i = 0; i < bytes; i++)
		a[i] = (unsigned char)(me == root ? i * 7 + root : 0);
	MPI_Bcast(a, bytes, MPI_BYTE, root, comm);
	for (int i = 0; i < bytes; i++)
		CHECK(a[i] == (unsigned char)(i * 7 + root));
	free(a);
}

/* Nobody leaves before the last one comes. */
static void barrier(MPI_Comm comm)
{
	double begin;
	int me;

	MPI_Comm_rank(comm, &me);
	MPI_Barrier(comm);
	begin = MPI_Wtime();
	if (me == 0)
		usleep(200);
	MPI_Barrier(comm);
	CHECK(MPI_Wtime() - begin > 100e-6);
}

static void use(MPI_Comm comm)
{
	int n, *rank;

	MPI_Comm_size(comm, &n);
	rank = malloc((size_t)n * sizeof(*rank));
	MPI_Allgather(&world, 1, MPI_INT, rank, 1, MPI_INT, comm);
	barrier(comm);
	for (int i = 0; i < TESTS; i++)
		tests[i](comm, rank, n, i % n);
	for (int bytes = 0; bytes < 3000; bytes = 3 * bytes + 1)
		broadcast(comm, bytes % n, bytes);
	barrier(comm);
	free(rank);
}

static void split(int color, int key)
{
	MPI_Comm comm;

	MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
	if (comm == MPI_COMM_NULL)
		return;
	use(comm);
	MPI_Comm_free(&comm);
}

/* More than there are class routes; freed ones can be had again. */
static void many(void)
{
	enum { MANY = 20 };
	MPI_Comm comm[MANY];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < MANY; i++) {
			/* another order is another group */
			MPI_Comm_split(MPI_COMM_WORLD, world < n_world / 2,
				world * (i + 3) % 29, &comm[i]);
			barrier(comm[i]);
			broadcast(comm[i], 0, 100);
		}
		for (int i = 0; i < MANY; i++)
			MPI_Comm_free(&comm[i]);
	}
}

int main(int argc, char **argv)
{
	MPI_Comm dup;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	MPI_Comm_size(MPI_COMM_WORLD, &n_world);
	if (argc > 1) {
		double most = longest();

		if (world == 0)
			printf("longest %.3f us\n", most * 1e6);
		MPI_Finalize();
		return 0;
	}
	use(MPI_COMM_WORLD);
	use_widened(MPI_COMM_WORLD);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	use(dup);
	split(0, -world);
	split(world < n_world / 2, world);
	split(world % 2, world);
	split(world % 3, world);
	split(world == 1 ? MPI_UNDEFINED : 0, world);
	many();
	use(dup);
	MPI_Comm_free(&dup);
	if (world == 0)
		printf("all groups are right\n");
	MPI_Finalize();
	return 0;
}
