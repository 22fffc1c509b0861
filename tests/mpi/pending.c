/*
 * Sends that are not received for a while.  Rank 0 sends, the last rank sleeps
 * for 0.1 s and then receives.  All bytes are checked.
 *
 *   ./pending few [N [BYTES]]   N sends of as many bytes: 100 of 400
 *   ./pending many [N]          N sends of mixed sizes: 10,000
 *   ./pending both [N]          all ranks send to each other, then receive
 *   ./pending rest [N]          the same, and a third rank receives meanwhile
 *
 * Prints how long the sends took, in us.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, n_ranks;

static void fail(const char *what, int i)
{
	printf("rank %d: %s of message %d is wrong\n", rank, what, i);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Mixed: of a packet, of a slot, of several, of several packets, and long. */
static int bytes_of(int i, int bytes)
{
	static const int mixed[] = { 8, 400, 0, 1500, 64, 4096, 2000, 1, 4097,
		480, 250, 3000, 900, 17, 4000, 32 };

	return bytes >= 0 ? bytes : mixed[i % 16];
}

static unsigned char byte_of(int from, int i, int at)
{
	return (unsigned char)(i * 31 + at * 7 + from * 101 + i / 256);
}

static void fill(unsigned char *to, int from, int i, int n)
{
	for (int at = 0; at < n; at++)
		to[at] = byte_of(from, i, at);
}

static void check(const unsigned char *got, int from, int i, int n)
{
	for (int at = 0; at < n; at++)
		if (got[at] != byte_of(from, i, at))
			fail("a byte", i);
}

struct sends {
	MPI_Request *request;
	unsigned char *bytes;
	int n;
	double took;
};

static struct sends begin(int to, int n, int bytes)
{
	struct sends s = { .n = n };
	size_t at = 0, all = 0;

	for (int i = 0; i < n; i++)
		all += (size_t)bytes_of(i, bytes);
	s.request = malloc((size_t)n * sizeof(*s.request));
	s.bytes = malloc(all + 1);
	s.took = MPI_Wtime();
	for (int i = 0; i < n; i++) {
		fill(s.bytes + at, rank, i, bytes_of(i, bytes));
		MPI_Isend(s.bytes + at, bytes_of(i, bytes), MPI_BYTE, to, i,
			MPI_COMM_WORLD, &s.request[i]);
		at += (size_t)bytes_of(i, bytes);
	}
	s.took = MPI_Wtime() - s.took;
	return s;
}

static void end(struct sends *s)
{
	MPI_Waitall(s->n, s->request, MPI_STATUSES_IGNORE);
	free(s->request);
	free(s->bytes);
}

/* Receives in order, but each sixteenth message by its number, ahead of earlier
 * ones. */
static void receive(int from, int n, int bytes)
{
	static unsigned char got[1 << 16];
	MPI_Status status;
	int length;

	for (int k = 0; k < n; k++) {
		int i = n < 16 ? k : k / 16 * 16 + 15 - k % 16;

		i = i < n ? i : k;
		if (n % 16)
			i = k;
		MPI_Recv(got, sizeof(got), MPI_BYTE, from, i, MPI_COMM_WORLD,
			&status);
		MPI_Get_count(&status, MPI_BYTE, &length);
		if (length != bytes_of(i, bytes))
			fail("the length", i);
		check(got, from, i, length);
	}
}

static void to_last(int n, int bytes)
{
	int last = n_ranks - 1;
	struct sends s;

	if (rank == 0) {
		s = begin(last, n, bytes);
		printf("%d sends took %.3f us\n", n, s.took * 1e6);
		end(&s);
	} else if (rank == last) {
		usleep(100000);
		receive(0, n, bytes);
	}
}

static void to_each_other(int n)
{
	int to = (rank + 1) % n_ranks, from = (rank + n_ranks - 1) % n_ranks;
	struct sends s = begin(to, n, -1);

	receive(from, n, -1);
	end(&s);
	if (rank == 0)
		printf("%d sends took %.3f us\n", n, s.took * 1e6);
}

/* Pending sends do not keep another rank waiting. */
static void to_others(int n)
{
	int last = n_ranks - 1, x = 0;
	struct sends s;
	double t;

	if (rank == last) {
		usleep(100000);
		receive(0, n, -1);
	} else if (rank == 1) {
		for (int i = 0; i < 10; i++) {
			MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
			MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		}
	} else if (rank == 0) {
		s = begin(last, n, -1);
		t = MPI_Wtime();
		for (int i = 0; i < 10; i++) {
			MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
		}
		printf("%d sends took %.3f us\n", n, s.took * 1e6);
		printf("meanwhile %.3f us\n", (MPI_Wtime() - t) * 1e6);
		end(&s);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "few";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
	if (!strcmp(what, "few"))
		to_last(n ? n : 100, argc > 3 ? atoi(argv[3]) : 400);
	else if (!strcmp(what, "many"))
		to_last(n ? n : 10000, -1);
	else if (!strcmp(what, "both"))
		to_each_other(n ? n : 10000);
	else
		to_others(n ? n : 10000);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("all bytes are right\n");
	MPI_Finalize();
	return 0;
}
