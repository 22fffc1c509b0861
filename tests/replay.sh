#!/bin/sh
#
# Schedules: what they say is what happens, on every machine, and what no run
# could do is refused with its line.
set -u
. "$(dirname "$0")/tap.sh"

goal=$tmp/x.goal

replay() { # MACHINE KEYS
	machine=$1
	shift
	run run $machine replay file="$goal" "$@" --json
	[ $code -eq 0 ] || complain "$machine: $code: $(cat "$tmp/err")"
}

value() { # KEY
	sed -n "s/^ *\"$1\": *\"*\([^\",]*\)\"*,*$/\1/p" "$tmp/out" | head -1
}

for pattern in 'allreduce bytes=64KiB' 'allreduce algorithm=doubling' \
	'alltoall bytes=600 rounds=2' 'stencil rounds=3' \
	'training rounds=2 batches=3 bytes=2000'; do
	run goal $pattern ranks=8 -o "$goal"
	[ $code -eq 0 ] || complain "$(cat "$tmp/err")"
	ops=$(grep -c ': ' "$goal")
	for machine in 'bgq --shape 2x2x2' qsnet2-16 'torus --shape 4x2' \
		'gemini --shape 2x2x1' 'dragonfly --shape 32'; do
		replay "$machine"
		[ "$(value operations)" = "$ops" ] ||
			complain "$machine: $(value operations) of $ops"
	done
	report "$pattern is replayed to its end on every machine"
done

replay 'bgq --shape 2x2x2' --threads 1
one=$(value digest)
replay 'bgq --shape 2x2x2' --threads 2
[ "$(value digest)" = "$one" ] || complain 'another digest on two threads'
replay 'bgq --shape 2x2x2' place=random
[ "$(value digest)" != "$one" ] || complain 'random places are none'
replay 'bgq --shape 2x2' # two on each
seq 7 -1 0 >"$tmp/place"
replay 'bgq --shape 2x2x2' place="$tmp/place"
[ "$(value digest)" != "$one" ] || complain 'a file places nothing'
seq 0 7 >"$tmp/place"
replay 'bgq --shape 2x2x2' place="$tmp/place"
[ "$(value digest)" = "$one" ] || complain 'the same places are others'
report 'ranks are where they were placed'

# What must take how long: the time of a message is what is left.
schedule() {
	printf '%s\n' "$@" >"$goal"
}
took() {
	replay 'torus --shape 2x2' --seed 1
	value time_ns | cut -d. -f1
}
schedule 'num_ranks 2' 'rank 0 {' 'a: calc 100000' 'b: calc 50000' \
	'b requires a' '}'
in_order=$(took)
schedule 'num_ranks 2' 'rank 0 {' 'a: calc 100000' 'b: calc 50000 cpu 1' '}'
beside=$(took)
schedule 'num_ranks 2' 'rank 0 {' 'a: calc 100000' 'b: calc 50000' '}'
one_cpu=$(took)
schedule 'num_ranks 2' 'rank 0 {' 'a: calc 100000' 'b: calc 50000 cpu 1' \
	'c: calc 50000 cpu 2' 'b irequires a' 'c requires b' '}'
at_start=$(took)
[ $((in_order - beside)) -eq 50000 ] || complain "requires: $in_order $beside"
[ "$one_cpu" -eq "$in_order" ] || complain "one cpu: $one_cpu $in_order"
[ "$at_start" -eq "$beside" ] || complain "irequires: $at_start $beside"
report 'what requires others, and what shares a cpu, waits'

schedule 'num_ranks 2' 'rank 0 {' 's: send 100000b to 1 tag 5' '}' \
	'rank 1 {' 'c: calc 300000' 'r: recv 100000b from 0 tag 5' \
	'r requires c' '}'
late=$(took)
schedule 'num_ranks 2' 'rank 0 {' 's: send 100000b to 1 tag 5' '}' \
	'rank 1 {' 'c: calc 300000' 'r: recv 100000b from 0 tag 5 cpu 1' '}'
hidden=$(took)
[ "$late" -gt $((hidden + 5000)) ] || complain "not hidden: $late $hidden"
report 'a message is hidden behind a computation that it does not wait for'

# --- what no run could do ---

refused() { # TEXT LINES...
	text=$1
	shift
	schedule "$@"
	run run 'torus' --shape 2x2 replay file="$goal"
	[ $code -eq 2 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || complain "said: $(cat "$tmp/err")"
	grep -qF -- "$text" "$tmp/err" || complain "said: $(cat "$tmp/err")"
	report "refused: $text"
}

refused ':1: want "num_ranks"' ''
printf '\177\020\000\000\002\000' >"$tmp/x.bin"
run run torus --shape 2x2 replay file="$tmp/x.bin"
[ $code -eq 2 ] && grep -q 'x.bin:1: not text' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
report "refused: GOAL's binary form"
refused ':1: more than 1048576 ranks' 'num_ranks 1000000000'
refused ':2: there are ranks 0 to 1' 'num_ranks 2' 'rank 2 {' '}'
refused ':3: there are ranks 0 to 1' 'num_ranks 2' 'rank 0 {' 'send 1b to 2' '}'
refused ':4: no operation is called "b"' 'num_ranks 1' 'rank 0 {' 'a: calc 1' \
	'a requires b' '}'
refused 'waits for itself' 'num_ranks 1' 'rank 0 {' 'a: calc 1' 'b: calc 1' \
	'a requires b' 'b irequires a' '}'
refused 'ends inside a rank' 'num_ranks 1' 'rank 0 {' 'a: calc 1'
refused ':4: "a" is there twice' 'num_ranks 1' 'rank 0 {' 'a: calc 1' \
	'a: calc 2' '}'
refused ':3: want send, recv, calc' 'num_ranks 1' 'rank 0 {' 'wait 3' '}'
refused ':3: want a number of bytes' 'num_ranks 1' 'rank 0 {' \
	'send -1b to 0' '}'
refused 'are more than 64 on each' 'num_ranks 1000'

schedule 'num_ranks 2' 'rank 0 {' 'r: recv 8b from 1 tag 9' '}'
run run torus --shape 2x2 replay file="$goal" --json
[ $code -eq 3 ] || complain "exit code $code: $(cat "$tmp/err")"
grep -q '"call": "replaying a schedule as rank 0"' "$tmp/out" ||
	complain "said: $(cat "$tmp/out")"
report 'a receive without a send ends with 3, and its rank is named'

run run torus --shape 2x2 replay
[ $code -eq 2 ] || complain "exit code $code"
run run torus --shape 2x2 replay file="$tmp/none"
[ $code -eq 2 ] || complain "exit code $code"
run goal allreduc
[ $code -eq 2 ] && grep -q allreduce "$tmp/err" || complain "$(cat "$tmp/err")"
run goal allreduce ranks=6 algorithm=doubling
[ $code -eq 2 ] || complain "exit code $code"
run goal training ranks=6 stages=4
[ $code -eq 2 ] || complain "exit code $code"
run goal allreduce -o "$tmp/none/x"
[ $code -eq 2 ] || complain "exit code $code"
report 'a schedule that is missing or impossible is refused'

exit $status
