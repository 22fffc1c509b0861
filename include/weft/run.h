/*
 * The main program for simulations that are built outside of Weft: it reads
 * the command line, builds the machine, runs a program on its nodes to the end,
 * and reports the result.
 *
 *	int main(int argc, char **argv)
 *	{
 *		return weft_main(argc, argv, &app);
 *	}
 *
 *	./a.out MACHINE [--shape AxB] [--set PATH=VALUE] [--seed N]
 *		[--threads N] [--until TIME] [--links FILE] [-o FILE]
 *		[--json] [--quiet] [-- ARGUMENTS]
 */
#ifndef WEFT_RUN_H
#define WEFT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Result of a run, for check(). */
struct weft_result {
	uint32_t n_nodes;
	uint32_t n_processes; /* per node */
	int64_t end; /* ps */
	/* received; only Blue Gene/Q's units count messages */
	uint64_t n_messages, n_packets;
	uint64_t n_errors; /* reported by network interfaces */
	const char *const *arguments; /* those after --, then NULL */
};

struct weft_app {
	const char *name;
	const char *help; /* one line */
	/*
	 * Runs on thread 0 of each process of each node, from time 0.  mine is
	 * the state of the process: node_bytes bytes, zero at first, which only
	 * this process may touch while it runs.
	 */
	void (*run)(void *mine);
	size_t node_bytes;
	uint32_t n_nodes; /* nodes that run it, the first ones; 0: all */
	/* Per node; 0: one.  They divide its hardware threads and its memory
	 * among them. */
	uint32_t n_processes;
	uint32_t n_spawned; /* further programs that a node can start, to 64 */
	size_t stack_bytes; /* of each program; 0: 64 KiB */
	bool is_system; /* whether it is system software */
	/*
	 * The machine's own interface that it uses: "spi" for Blue Gene/Q's
	 * message unit (weft/spi.h), "elan" for QsNetII's Elan4
	 * (weft/elan.h), "gni" for Gemini's (weft/gni.h), "ape" for
	 * APEnet+'s card (weft/ape.h, weft/gpu.h), "swverbs" for Sunway's
	 * (weft/swverbs.h).  A machine without
	 * it is refused.  NULL: none, for example only messages (weft/msg.h);
	 * the program runs on every machine.
	 */
	const char *interface;
	/*
	 * Called when all programs have ended; returns whether their results
	 * are right.  ranks is the array of the states of all processes:
	 * process p of node n is rank n * n_processes + p.  text is one line
	 * for the report.  May be NULL.
	 */
	bool (*check)(const struct weft_result *result, const void *ranks,
		char *text, size_t size);
	/*
	 * Describes the arguments after --, for --help: "BYTES [ROUNDS]", for
	 * example.  NULL: there are none, and any argument is an error.
	 */
	const char *usage;
	/*
	 * Called before anything is built; returns whether these arguments,
	 * followed by NULL, are valid.  text describes the error.  May be NULL.
	 * Programs read the arguments with weft_argument().
	 */
	bool (*accept)(const char *const *arguments, char *text, size_t size);
};

/*
 * Returns an exit status: 0 on success, also if --until ended the run; 1 if
 * check() returned false; 2 for an invalid command line, machine or app; 3 if
 * programs wait forever, or packets remain unreceived; 4 for a limit of the
 * host; 5 for a forbidden call of a program, or an error of Weft; 6 if SIGINT,
 * SIGTERM or SIGHUP stopped the run.  It restores the handlers of these
 * signals, of SIGPIPE and of SIGXFSZ, and the locale; all numbers are read and
 * written in the C locale.  It returns in all of these cases and may be called
 * again.  The process ends only if memory runs out or a program overruns its
 * stack (4), if a program calls exit(0) (2), or if the output pipe is closed
 * (2).
 */
int weft_main(int argc, char **argv, const struct weft_app *app);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
