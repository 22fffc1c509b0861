#!/bin/sh
#
# The libraries as programs from outside meet them: the names that they
# export, the headers in C and C++, other libraries with the same names,
# plugins.  Needs $WEFT, in its build directory.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/installed.sh"
cd "$tmp" || exit 1

# --- names ---

headers=$prefix/include/weft
if command -v ctags >/dev/null; then
	# preprocessed, for what macros declare; what rank.h declares is in
	# the library that ranks of MPI programs load
	for header in "$headers"/*.h; do
		[ "${header##*/}" != rank.h ] || continue
		$cc -std=c11 -E $cflags "$header"
	done | awk '/^# /{ is_ours = index($3, "/weft/") > 0; next } is_ours' \
		>all.h
	ctags --languages=C --langmap=C:.h --c-kinds=px --fields= -f - all.h |
		cut -f 1 | grep -v '^!' | sort -u >declared
	nm -g --defined-only "$libdir/libweft.a" | awk 'NF == 3 { print $3 }' |
		grep -v '^__' | sort -u >static
	nm -D --defined-only "$libdir/libweft.so" |
		awk '$2 != "A" && sub(/@@WEFT_[0-9.]*$/, "", $3) { print $3 }' |
		grep -v '^__' | sort -u >shared
	[ "$(wc -l <declared)" -gt 100 ] || complain "no declarations found"
	for kind in static shared; do
		for name in $(comm -13 declared $kind); do
			complain "$kind: $name is in no header"
		done
		for name in $(comm -23 declared $kind); do
			complain "$kind: $name is missing"
		done
	done
	report "both libraries export what the headers declare, no more"
else
	skip "both libraries export what the headers declare, no more" ctags
fi

# --- prefetches ---

# Compilers have left out, as calls without effect, those that a router makes by
# the events that wait for a site.
what="prefetches are in the code"
objects=$(dirname "$weft")
if command -v objdump >/dev/null && [ -d "$objects/libweft_visit.a.p" ]; then
	for router in direct_visit:12 direct_visit_tree:12 crossbar_visit:2; do
		n_found=$(objdump -d \
			"$objects"/libweft_*.a.p/"router_${router%:*}.c.o" |
			grep -cE 'prefetch(t0|w|it)|prfm|call.*mem_prefetch')
		[ "$n_found" -ge "${router#*:}" ] ||
			complain "${router%:*}: $n_found of them"
	done
	report "$what"
else
	skip "$what" "no objdump, or no object files"
fi

# --- headers ---

names=$(cd "$headers/.." && ls weft/*.h weft/*/*.h)
for name in $names; do
	echo "#include <$name>" >one.c
	$cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror \
		$cflags -c one.c -o one.o >log 2>&1 ||
		complain "$name: $(head -n 5 log)"
done
report "each public header needs no other"

what="each one is C++ as well"
if command -v g++ >/dev/null; then
	for name in $names; do
		echo "#include <$name>" >one.cc
		g++ -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Werror \
			$cflags -c one.cc -o one.o >log 2>&1 ||
			complain "$name: $(head -n 5 log)"
	done
	report "$what"
else
	skip "$what" "no g++"
fi

cat >plus.cc <<'END'
#include <weft/msg.h>
#include <weft/run.h>

static void run(void *mine)
{
	weft_msg m;

	weft_msg_init(&m, nullptr);
	*static_cast<uint32_t *>(mine) = weft_msg_ranks(&m);
	weft_msg_fini(&m);
}

static bool check(const weft_result *r, const void *nodes, char *, size_t)
{
	return *static_cast<const uint32_t *>(nodes) == r->n_nodes;
}

int main(int argc, char **argv)
{
	weft_app app = {};

	app.name = "plus";
	app.run = run;
	app.node_bytes = sizeof(uint32_t);
	app.check = check;
	return weft_main(argc, argv, &app);
}
END
what="a program in C++ runs"
if command -v g++ >/dev/null && [ -z "${CFLAGS-}" ]; then
	for kind in static shared; do
		g++ -std=c++17 -Wall -Wextra -Werror $cflags \
			plus.cc -o plus $(libs $kind) >log 2>&1 &&
			./plus qsnet2-16 >log 2>&1 ||
			complain "$kind: $(head -n 5 log)"
	done
	report "$what"
else
	skip "$what" "no g++, or none with this sanitizer"
fi

# --- beside other code ---

cat >app.h <<'END'
#include <weft/msg.h>
#include <weft/run.h>

static void run(void *mine)
{
	struct weft_msg m;

	weft_msg_init(&m, NULL);
	weft_msg_barrier(&m);
	weft_msg_fini(&m);
	*(char *)mine = 1;
}

static const struct weft_app app = {
	.name = "app", .run = run, .node_bytes = 1
};
END

# A program whose crc32() is zlib's, or its own; the simulator has one, too.
cat >crc.c <<'END'
#include "app.h"
#ifdef OWN
unsigned long crc32(unsigned long crc, const unsigned char *at, unsigned n);
unsigned long crc32(unsigned long crc, const unsigned char *at, unsigned n)
{
	return at && n ? 0xcbf43926 : crc;
}
#else
#include <zlib.h>
#endif

int main(int argc, char **argv)
{
	const unsigned char *digits = (const unsigned char *)"123456789";

	if (crc32(0, digits, 9) != 0xcbf43926 || weft_main(argc, argv, &app))
		return 1;
	return crc32(0, digits, 9) != 0xcbf43926;
}
END
echo '#include <zlib.h>' >zlib.c
for kind in static shared; do
	compile $kind -DOWN crc.c -o crc-own && ./crc-own bgq-board >log 2>&1 ||
		complain "$kind, a crc32() of its own: $(cat log)"
	$cc -c zlib.c -o zlib.o 2>/dev/null || continue
	compile $kind crc.c -lz -o crc && ./crc bgq-board >log 2>&1 ||
		complain "$kind, zlib's crc32(): $(cat log)"
done
report "a program with a crc32(), zlib's or its own, runs"

what="a program that is linked with -static runs"
if [ -z "${CFLAGS-}" ] && $cc -static -DOWN $cflags crc.c -o whole \
	$(ask --libs --static) >log 2>&1; then
	./whole bgq-board >log 2>&1 || complain "exit code $?: $(cat log)"
	report "$what"
elif [ -z "${CFLAGS-}" ] && ! grep -q 'cannot find' log; then
	complain "$(head -n 5 log)"
	report "$what"
else
	skip "$what" "a library that is not static, or a sanitizer"
fi

cat >plugin.c <<'END'
#include "app.h"

int plugin(int argc, char **argv);
int plugin(int argc, char **argv)
{
	return weft_main(argc, argv, &app);
}
END
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *so = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	int (*plugin)(int, char **);

	if (!so) {
		puts(dlerror());
		return 9;
	}
	*(void **)&plugin = dlsym(so, "plugin");
	return plugin(argc - 1, argv + 1);
}
END
$cc ${CFLAGS-} loads.c -o loads -ldl
for kind in static shared; do
	compile $kind -fPIC -shared plugin.c -o plugin-$kind.so
	./loads ./plugin-$kind.so qsnet2-16 >log 2>&1 ||
		complain "$kind: exit code $?: $(cat log)"
	grep -q finished log || complain "$kind: $(cat log)"
done
report "a shared object that is loaded at run time runs a program"

# --- several processes a node ---

cat >processes.c <<'END'
#include <stdio.h>
#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>

struct mine {
	uint32_t rank, ranks, node, process, processes, thread, spawned, sum;
};

/* Threads of a process are its own. */
static void other(void *arg)
{
	struct mine *m = arg;

	m->spawned = weft_process() == m->process && weft_thread() == 2;
}

static void run(void *arg)
{
	struct mine *m = arg;
	struct weft_msg msg;
	uint64_t word;

	m->node = weft_node();
	m->process = weft_process();
	m->processes = weft_n_processes();
	m->thread = weft_thread();
	if (weft_spawn(64 / m->processes, other, m) ||
		!weft_spawn(2, other, m))
		return;
	weft_msg_init(&msg, NULL);
	m->rank = weft_msg_rank(&msg);
	m->ranks = weft_msg_ranks(&msg);
	/* the same address, and others' bytes */
	word = 1000 + m->rank;
	weft_msg_store(64, &word, 8);
	weft_msg_barrier(&msg);
	weft_msg_get(&msg, (m->rank + 1) % m->ranks, 64, 128, 8, NULL);
	weft_msg_load(128, &word, 8);
	m->sum = (uint32_t)word;
	weft_msg_fini(&msg);
}

static bool check(
	const struct weft_result *r, const void *ranks, char *text, size_t size)
{
	const struct mine *m = ranks;
	uint32_t i, n = r->n_nodes * r->n_processes;

	for (i = 0; i < n; i++, m++) {
		if (m->rank == i && m->ranks == n && m->spawned && !m->thread &&
			m->node == i / r->n_processes &&
			m->process == i % r->n_processes &&
			m->processes == r->n_processes &&
			m->sum == 1000 + (i + 1) % n)
			continue;
		snprintf(text, size, "rank %u is wrong", i);
		return false;
	}
	snprintf(text, size, "%u ranks", n);
	return true;
}

int main(int argc, char **argv)
{
	struct weft_app app = { .name = "processes", .run = run,
		.node_bytes = sizeof(struct mine), .n_spawned = PROCESSES,
		.n_processes = PROCESSES, .check = check };

	return weft_main(argc, argv, &app);
}
END
for procs in 1 2 3 4; do
	compile shared -DPROCESSES=$procs processes.c -o processes
	for machine in bgq-board qsnet2-16; do
		./processes $machine >log 2>&1 ||
			complain "$procs on $machine: $(cat log)"
	done
done
grep -q '64 ranks' log || complain "$(cat log)"
compile shared -DPROCESSES=65 processes.c -o processes
./processes bgq-board >log 2>&1
[ $? -eq 2 ] || complain "65: $(cat log)"
report "a node has several processes, each with its own threads and memory"

compile shared -DPROCESSES=2 processes.c -o processes
./processes torus --shape 4x2 >one 2>&1 || complain "$(cat one)"
./processes torus --shape 4x2 --processes 3 >log 2>&1 || complain "$?"
cmp -s one log || complain "$(cat log)"
report "programs run in several Weft processes, too, and are checked once"

# --- idling ---

cat >idle.c <<'END'
#include <weft/program.h>
#include <weft/run.h>

static void run(void *mine)
{
	int i;

	for (i = 0; i < 15000 && !weft_node(); i++)
		weft_wait_until(10000000 * WEFT_NS * (i + 1));
	*(char *)mine = 1;
}

int main(int argc, char **argv)
{
	const struct weft_app app = { .name = "idle", .run = run,
		.node_bytes = 1 };

	return weft_main(argc, argv, &app);
}
END
compile shared idle.c -o idle
for machine in bgq-board qsnet2-16; do
	(
		[ -n "${WEFT_SLOW-}" ] || ulimit -t 1
		./idle $machine >log 2>&1
	) || complain "$machine: exit code $?: $(cat log)"
	grep -q 'simulated  *150 s: ' log || complain "$machine: $(cat log)"
done
report "150 s with something to do every 10 ms take less than a second"

# --- the ends of time and memory ---

cat >ends.c <<'END'
#include <stdint.h>
#include <stdlib.h>
#include <weft/program.h>
#include <weft/run.h>

static int what;

static void run(void *mine)
{
	*(char *)mine = 1;
	weft_compute(1);
	if (what == 0)
		weft_compute(INT64_MAX);
	if (what == 1)
		weft_wait_until(INT64_MAX);
	weft_compute(INT64_MIN);
	weft_wait_until(INT64_MIN);
}

int main(int argc, char **argv)
{
	struct weft_app app = { .name = "ends", .run = run, .node_bytes = 1 };

	what = atoi(getenv("WHAT"));
	if (what == 2)
		app.node_bytes = SIZE_MAX;
	if (what == 3)
		app.node_bytes = (size_t)1 << 50;
	if (what == 4)
		app.stack_bytes = SIZE_MAX;
	return weft_main(argc, argv, &app);
}
END
compile shared ends.c -o ends
ends() { # WHAT CODE TEXT
	(
		[ -n "${WEFT_SLOW-}" ] || ulimit -t 1
		WHAT=$1 ./ends qsnet2-16 >log 2>&1
	)
	is=$?
	[ $is = "$2" ] && grep -q "$3" log ||
		complain "$1: exit code $is: $(cat log)"
}
ends 0 4 'reached 275 s'
ends 1 4 'reached 275 s'
ends 2 2 'node_bytes'
ends 3 4 'GiB of memory'
ends 4 2 'stack'
report "waits without end and impossible sizes are refused at once"

# --- mistakes inside of a run ---

# Calls of a machine's own interface where there is none of it.
cat >wrong.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <weft/program.h>
#include <weft/run.h>
#include <weft/spi.h>

static void misuse(void *mine)
{
	weft_compute(1000 * WEFT_NS);
	if (weft_node() == 5)
		spi_upc(MU_UPC_PACKETS_IN, 0);
	*(char *)mine = 1;
}

static void use(void *mine)
{
	*(char *)mine = 1;
}

static void on_signal(int number)
{
	printf("signal %d\n", number);
}

int main(int argc, char **argv)
{
	struct weft_app app = { .name = "wrong", .run = misuse,
		.node_bytes = 1 };
	int i;

	signal(SIGINT, on_signal);
	for (i = 0; i < 3; i++)
		printf("code %d\n", weft_main(argc, argv, &app));
	app.run = use;
	printf("code %d\n", weft_main(argc, argv, &app));
	raise(SIGINT);
	fflush(stdout);
	weft_node();
	puts("not reached");
	return 0;
}
END
compile shared wrong.c -o wrong
for threads in 1 3; do
	./wrong qsnet2-16 --threads $threads --json >log 2>err
	[ "$(grep -c '^code 5$' log)" = 3 ] && grep -q '^code 0$' log ||
		complain "$threads threads: $(grep ^code log)"
	grep -q 'wrong: internal error at ' err ||
		complain "$threads threads: $(cat err)"
	grep -q '^signal' log || complain "the handler of SIGINT is lost"
	grep -q 'not reached' log && complain "outside of a run it goes on"
done
report "a mistake in a program ends its run with 5, and main() goes on"

exit $status
