#!/bin/sh
#
# MPI programs as Debian's Open MPI built them, on simulated machines.  Needs
# $WEFT built with libfabric and PMIx, and mpicc.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

for file in ring latency any_source; do
	mpicc -Wall -o "$tmp/$file" "$src/examples/mpi/$file.c" ||
		complain "$file: mpicc"
done
mpicc -Wall -I"$src/include" -o "$tmp/behave" "$src/tests/mpi/behave.c" ||
	complain 'behave: mpicc'
report 'Open MPI compiles the programs'

ends() { # CODE TEXT; what standard error says
	[ $code -eq "$1" ] || complain "$code, not $1: $(cat "$tmp/err")"
	grep -qF -- "$2" "$tmp/err" ||
		complain "no '$2' in: $(cat "$tmp/err")"
}

mpirun bgq-board -n 2 -- "$tmp/ring"
ends 0 '2 ranks on nodes 0..1, Open MPI '
printf 'rank 0 of 2 on node0\nround the ring in 1 us\n' >"$tmp/want"
echo 'rank 1 of 2 on node1' >>"$tmp/want"
sed 's/\(in 1\)\.[0-9]* us$/\1 us/' "$tmp/out" >"$tmp/got"
cmp -s "$tmp/want" "$tmp/got" || complain "$(cat "$tmp/out")"
report 'two processes exchange messages, and their output is all of stdout'

# A message of a process is one of the machine's, and a look at a queue.
latency() { # MACHINE
	mpirun "$1" -n 2 -- "$tmp/latency" 64 50
	ends 0 finished
	got=$(awk '$1 == 0 { print 1000 * $3 }' "$tmp/out")
	run run "$1" pingpong via=msg bytes=0 rounds=50 --json
	below=$(value one_way_ns)
	awk "BEGIN { exit !($got > $below - 60 && $got < $below + 60) }" ||
		complain "$1: $got ns, by messages $below"
}

machines='bgq-board gemini torus'
[ -z "${WEFT_SLOW:-}" ] || machines=gemini
for machine in $machines; do
	latency $machine
done
report 'the latency of processes is that of messages'

for threads in 1 2; do
	mpirun gemini -n 8 --threads $threads --json -- "$tmp/any_source"
	[ $code -eq 0 ] || complain "$code: $(cat "$tmp/err")"
	cp "$tmp/out" "$tmp/out$threads"
	grep '"digest"' "$tmp/err" >"$tmp/digest$threads"
done
cmp -s "$tmp/out1" "$tmp/out2" || complain "$(cat "$tmp/out1" "$tmp/out2")"
cmp -s "$tmp/digest1" "$tmp/digest2" ||
	complain "$(cat "$tmp/digest1" "$tmp/digest2")"
report 'output and digest are the same on any number of threads'

mpirun torus -n 4 ppn=2 -- "$tmp/ring"
[ "$(grep -c 'on node1$' "$tmp/out")" -eq 2 ] || complain "$(cat "$tmp/out")"
report 'nodes can have several ranks'

mpirun bgq-board -n 3 -- "$tmp/behave" stall
ends 3 'rank 1 (node 1): MPI_Recv from 0, tag 7, since'
mpirun qsnet2-16 -n 2 -- "$tmp/behave" stall
ends 3 'rank 0 (node 0): MPI_Probe from 1, tag 8, since'
report 'ranks that wait for ever are named with their calls'

mpirun bgq-board -n 3 -- "$tmp/behave" exit
ends 1 'rank 1 ended with exit code 7'
ends 1 ': failed'
ends 1 'ranks       slowest '
mpirun bgq-board -n 3 --json --report "$tmp/report" -- "$tmp/behave" exit
grep -q '"error": "node 1: rank 1 ended with exit code 7 at' "$tmp/report" ||
	complain "$(head -n 40 "$tmp/report")"
mpirun bgq-board -n 3 -- "$tmp/behave" kill
ends 1 'rank 1 died of signal 9'
mpirun bgq-board -n 2 -- "$tmp/none"
ends 2 'No such file'
mpirun bgq-board -n 40 -- "$tmp/ring"
ends 2 'room for 32 ranks'
mpirun bgq-board -n 2
ends 2 'want a program behind --'
report 'a rank that fails, or cannot begin, ends the run and is named'

# pending MACHINE MOST WORDS : sends take less than MOST us, and so does an
# exchange with another rank while they pend.
pending() {
	machine=$1
	most=$2
	shift 2
	mpirun "$machine" -n 3 -- "$tmp/pending" "$@"
	grep -qx 'all bytes are right' "$tmp/out" ||
		complain "$machine $*: $(cat "$tmp/out" "$tmp/err")"
	awk -v most="$most" '/ us$/ && $(NF - 1) > most { exit 1 }' \
		"$tmp/out" || complain "$machine $*: $(cat "$tmp/out")"
}

mpicc -Wall -O1 -o "$tmp/pending" "$src/tests/mpi/pending.c" ||
	complain 'pending: mpicc'
for machine in bgq-board gemini torus apenet qsnet2-16 sunway-32; do
	pending $machine 2000 few
	pending $machine 12000 rest 1000
done
pending torus 1000 many
pending qsnet2-16 20000 many
report 'sends that are not received do not delay their sender'

! pgrep -f "$tmp/" >/dev/null || complain "left: $(pgrep -fa "$tmp/")"
report 'no process is left'
exit $status
