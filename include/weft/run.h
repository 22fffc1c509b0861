/*
 * The main program of a program that is written outside of Weft: it reads
 * the command line, builds the machine, starts a program on its nodes, runs
 * them to the end and says how it went.
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

/* How it went, for check(). */
struct weft_result {
	uint32_t n_nodes;
	uint32_t n_processes; /* of each node */
	int64_t end; /* ps */
	/* received; messages are counted by Blue Gene/Q's units only */
	uint64_t n_messages, n_packets;
	uint64_t n_errors; /* that network interfaces told of */
	const char *const *arguments; /* behind --, then NULL */
};

struct weft_app {
	const char *name;
	const char *help; /* one line */
	/*
	 * Runs on thread 0 of each process of each node from time 0 on.  mine
	 * is the process's own: node_bytes bytes, zero at first, which nobody
	 * else touches while it runs.
	 */
	void (*run)(void *mine);
	size_t node_bytes;
	uint32_t n_nodes; /* the first ones; 0: all */
	/* Of each node; 0: one.  They share its hardware threads and its
	 * memory out among them. */
	uint32_t n_processes;
	uint32_t n_spawned; /* programs that a node can spawn besides, to 64 */
	size_t stack_bytes; /* of each program; 0: 64 KiB */
	bool is_system; /* it is system software */
	/*
	 * The machine's own interface that it uses: "spi" for Blue Gene/Q's
	 * message unit (weft/spi.h), "elan" for QsNetII's Elan4
	 * (weft/elan.h), "gni" for Gemini's (weft/gni.h), "ape" for
	 * APEnet+'s card (weft/ape.h, weft/gpu.h).  A machine without
	 * it is refused.  NULL: it uses none, only messages (weft/msg.h) say,
	 * and runs on every machine.
	 */
	const char *interface;
	/*
	 * When all programs have ended: whether what they did is right.  ranks
	 * is the array of what each was given: process p of node n is rank
	 * n * n_processes + p.  text is one line for the report.  May be NULL.
	 */
	bool (*check)(const struct weft_result *result, const void *ranks,
		char *text, size_t size);
	/*
	 * What it takes behind -- on the command line, for --help: "BYTES
	 * [ROUNDS]", say.  NULL: nothing, and something is an error.
	 */
	const char *usage;
	/*
	 * Before anything is built: whether these arguments, NULL behind the
	 * last one, make sense.  text is what is wrong.  May be NULL.  Programs
	 * have them by weft_argument().
	 */
	bool (*accept)(const char *const *arguments, char *text, size_t size);
};

/*
 * Returns an exit code: 0, also where --until ended it; 1 where check() said
 * no; 2 for a command line, a machine or an app that cannot be; 3 where
 * programs wait for ever, or packets are left that nobody took; 4 for a limit
 * of the host; 5 for a call that a program may not make, or a mistake of
 * Weft's; 6 where SIGINT, SIGTERM or SIGHUP stopped it.  These, SIGPIPE and
 * SIGXFSZ are the caller's again afterwards, and so is the locale: all numbers
 * are read and written in the C locale.  It returns in all of these cases and
 * may be called again.  The process ends only where memory runs out or a
 * program overruns its stack (4), where a program calls exit(0) (2), or where
 * nobody reads the output any more (2).
 */
int weft_main(int argc, char **argv, const struct weft_app *app);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
