/*
 * Ranks that do what they should not: rank 1 does, the others exchange messages
 * with it for ever.
 *
 *   ./wrong CASE [SEED]
 */
#define _GNU_SOURCE /* close_range() */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ROUNDS = 20, LONG = 8000 };

static int rank, n;
static unsigned seed = 1;

/* All ranks take part, and every byte is looked at. */
static void exchange(int rounds)
{
	static unsigned char out[LONG], in[LONG];
	int to = (rank + 1) % n, from = (rank + n - 1) % n;

	for (int i = 0; i < rounds; i++) {
		int bytes = i % 3 ? i % 100 : LONG;

		memset(out, rank + i, (size_t)bytes);
		MPI_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE,
			from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int k = 0; k < bytes; k++)
			if (in[k] != (unsigned char)(from + i)) {
				printf("byte %d is wrong\n", k);
				MPI_Abort(MPI_COMM_WORLD, 2);
			}
	}
}

/* The channel, in which a rank should write nothing by itself. */
static uint32_t *find_channel(size_t *words)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "weft-rank (deleted)") &&
			sscanf(line, "%lx-%lx", &from, &to) == 2) {
			fclose(maps);
			*words = (to - from) / sizeof(uint32_t);
			return (uint32_t *)from;
		}
	exit(9);
}

static unsigned draw(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 8;
}

/* Writes anything anywhere, the first words above all. */
static void *scribble(void *arg)
{
	size_t words;
	volatile uint32_t *channel = find_channel(&words);

	for (;;) {
		size_t most = draw() % 2 ? 48 : words;

		channel[draw() % most] = draw() % 4 ? draw() % 8 : draw();
		if (draw() % 16 == 0)
			usleep(20);
	}
	return arg;
}

static void start_scribbling(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, scribble, NULL);
}

static void crash(void)
{
	*(volatile int *)(uintptr_t)8 = 1;
}

static void leave(void)
{
	exit(0);
}

static void leave_badly(void)
{
	exit(7);
}

static void leave_at_once(void)
{
	_exit(0);
}

static void stop(void)
{
	MPI_Abort(MPI_COMM_WORLD, 13);
}

static void die(void)
{
	kill(getpid(), SIGKILL);
}

static void close_all(void)
{
	close_range(0, ~0u, 0);
}

/* A child that lives on. */
static void start_child(void)
{
	if (fork() == 0)
		for (;;)
			pause();
	if (system("sleep 86413 &"))
		exit(9);
}

static void loop(void)
{
	for (volatile int i = 0;; i++)
		continue;
}

/* A buffer that is not there, to send from. */
static void send_nothing(void)
{
	MPI_Send((void *)(uintptr_t)4096, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

/* As where one process may not look into another. */
static void hide(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

/* A node with a rank may die meanwhile, or a link. */
static void put(void)
{
	long cell = 0, value = 5;
	MPI_Win win;

	MPI_Win_create(
		&cell, sizeof(cell), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	if (rank == 0) {
		usleep(1000);
		MPI_Put(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
		MPI_Win_flush(1, win);
		printf("the put has arrived\n");
		fflush(stdout);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

static const struct {
	const char *word;
	void (*run)(void);
} cases[] = {
	{ "scribble", start_scribbling },
	{ "crash", crash },
	{ "leave", leave },
	{ "exit", leave_badly },
	{ "exit-at-once", leave_at_once },
	{ "abort", stop },
	{ "kill", die },
	{ "close", close_all },
	{ "fork", start_child },
	{ "loop", loop },
	{ "nowhere", send_nothing },
};

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (argc > 2)
		seed = (unsigned)atoi(argv[2]);
	if (strcmp(word, "hide") == 0)
		hide();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (strcmp(word, "say") == 0) {
		printf("rank %d is here\n", rank);
		fflush(stdout);
	}
	exchange(ROUNDS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (rank == 1 && strcmp(word, cases[i].word) == 0)
			cases[i].run();
	if (strcmp(word, "put") == 0)
		put();
	exchange(ROUNDS);
	if (strcmp(word, "unfinished") == 0) {
		MPI_Barrier(MPI_COMM_WORLD); /* whose sends complete later */
		return 0;
	}
	MPI_Finalize();
	return 0;
}
