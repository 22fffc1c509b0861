#!/bin/sh
#
# What a program and its surroundings do to the process: signals, limits,
# exit(), stacks, locales.  Each ends as weft(1) says, with one line.  Needs
# $WEFT, in its build directory.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/installed.sh"
cd "$tmp" || exit 1

judge() { # CODE TEXT
	[ $code -eq "$1" ] || complain "exit code $code, want $1: $(cat err)"
	[ "$(wc -l <err)" -eq 1 ] || complain "said: $(cat err)"
	grep -qF -- "$2" err || complain "no \"$2\": $(cat err)"
}

# --- signals and limits ---

# Writes its exit code to a file, as the last of a pipe has the shell's.
coded() { # ARGUMENTS
	"$weft" "$@" 2>err
	echo $? >code
}

coded params | head -n 1 >out
code=$(cat code)
[ "$code" -eq 2 ] || complain "exit code $code"
[ ! -s err ] || complain "said: $(cat err)"
report 'a pipe that is closed early ends weft without a message'

small='torus random --shape 4x4 warmup=0us measure=5us'
for command in "run $small -o x.db" "run $small --links x.db" \
	"new torus x.db" "goal allreduce ranks=64 -o x.db"; do
	(ulimit -f 4 && exec "$weft" $command) >out 2>err </dev/null
	code=$?
	judge 2 'x.db'
	[ ! -e x.db ] || complain "it is left: $(ls -l x.db)"
	report "a file that may not grow: weft $command"
done
(ulimit -f 1 && exec "$weft" params --json) >out 2>err </dev/null
code=$?
judge 2 'cannot write the output: File too large'
report 'stdout is a file that may not grow'

await() { # PID FILE: until a run has written something
	while kill -0 "$1" 2>/dev/null && ! "$weft" sql "$2" \
		'select count(*) from sample having count(*) > 64' 2>/dev/null |
		grep -q '[1-9]'; do
		sleep 0.05
	done
}

long='torus random --shape 2x2 measure=1s --sample 100ns'
# whoever runs the tests may have been started by nohup
env --default-signal=HUP "$weft" run $long -o h.db >out 2>err </dev/null &
await $! h.db
kill -HUP $!
wait $!
[ $? -eq 6 ] || complain "exit code $?: $(cat err)"
"$weft" sql h.db "select value from meta where key = 'ending'" >out 2>&1
grep -q stopped out || complain "$(cat out)"
report 'SIGHUP stops a run as SIGTERM does'

nohup "$weft" run torus random --shape 2x2 measure=2ms --sample 100ns \
	-o n.db >out 2>err </dev/null &
await $! n.db
kill -HUP $!
wait $!
[ $? -eq 0 ] || complain "exit code $?: $(cat err)"
report 'a run with nohup goes on'

# --- programs ---

cat >odd.c <<'END'
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>

static const char *how;

/* A frame of 1 MiB, of which hardly anything is written. */
__attribute__((noinline)) static void deep(struct weft_msg *m, size_t at)
{
	volatile char big[1 << 20];

	big[at] = 1;
	weft_msg_barrier(m);
	big[at]++;
}

static void run(void *mine)
{
	struct weft_msg m;

	(void)mine;
	weft_msg_init(&m, NULL);
	weft_msg_barrier(&m);
	if (!strcmp(how, "exit") && weft_msg_rank(&m) == 1)
		exit(0);
	if (!strcmp(how, "first") && weft_msg_rank(&m) == 0)
		deep(&m, 0);
	if (!strcmp(how, "middle") && weft_msg_rank(&m) == 2)
		deep(&m, 512 << 10);
	if (!strcmp(how, "last") && weft_msg_rank(&m) == 3)
		deep(&m, (1 << 20) - 1);
	if (!strcmp(how, "inside"))
		setlocale(LC_ALL, "");
	weft_msg_barrier(&m);
	weft_msg_fini(&m);
}

int main(int argc, char **argv)
{
	const struct weft_app app = { .name = "odd", .run = run };
	char comma[32];
	int code;

	how = argv[argc - 1];
	if (!strcmp(how, "before"))
		setlocale(LC_ALL, "");
	code = weft_main(argc - 1, argv, &app);
	snprintf(comma, sizeof(comma), "%.1f", 1.5);
	if (!strcmp(how, "before") && !strchr(comma, ','))
		return 99;
	return code;
}
END
compile shared odd.c -o odd && report 'a program that does odd things'

start() { # ARGUMENTS
	timeout 60 ./odd "$@" >out 2>err </dev/null
	code=$?
}

for threads in 1 2; do
	start torus --shape 2x2 --threads $threads exit
	judge 2 'called exit(0) in the middle of a run'
	[ ! -s out ] || complain "printed $(cat out)"
	report "a program that calls exit(0), on $threads threads"
	for where in first middle last; do
		start torus --shape 2x2 --threads $threads $where
		judge 4 'stack overflow (stack of 64 KiB'
		report "a frame of 1 MiB ($where), on $threads threads"
	done
done

# --- locales ---

if command -v localedef >/dev/null && mkdir locales &&
	localedef --no-archive -i de_DE -f ISO-8859-1 locales/de_DE \
		>log 2>&1 && [ -d locales/de_DE ]; then
	start torus --shape 2x2 --set link.rate=12.5GB/s --json \
		--links plain.csv plain
	cp out plain
	for when in before inside; do
		LOCPATH=$tmp/locales LC_ALL=de_DE start torus \
			--shape 2x2 --set link.rate=12.5GB/s --json \
			--links odd.csv --threads 2 -o l.db $when
		[ $code -eq 0 ] || complain "exit code $code: $(cat err)"
		grep -v '"threads"' out | sed 1d >odd.json
		grep -v '"threads"' plain | sed 1d | cmp -s - odd.json ||
			complain "$(diff plain out | head -n 4)"
		cmp -s plain.csv odd.csv ||
			complain "$(diff plain.csv odd.csv | head -n 4)"
		report "setlocale() $when the run changes no number"
	done
else
	skip 'locales' 'no localedef'
fi

exit $status
