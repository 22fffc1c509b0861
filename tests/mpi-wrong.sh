#!/bin/sh
#
# MPI programs where something goes wrong: ranks that end as they should not,
# hosts that forbid to read their memory, links and nodes that die.  Needs
# $WEFT built with libfabric and PMIx, and mpicc.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"
: >"$tmp/start"

mpicc -Wall -o "$tmp/wrong" "$src/tests/mpi/wrong.c" -lpthread ||
	complain 'wrong: mpicc'
mpicc -Wall -o "$tmp/every" "$src/examples/mpi/every_call.c" ||
	complain 'every_call: mpicc'
report 'Open MPI compiles the programs'

ends() { # CODE TEXT; what standard error says
	[ $code -eq "$1" ] || complain "$code, not $1: $(cat "$tmp/err")"
	grep -qE -- "$2" "$tmp/err" ||
		complain "no '$2' in: $(cat "$tmp/err")"
}

digest() {
	sed -n 's/^digest *//p' "$tmp/err"
}

# A rank that may not be looked into copies by itself; root must be kept from
# it by force.
mpirun gemini -n 2 -- "$tmp/wrong" none
ends 0 finished
want=$(digest)
mpirun gemini -n 2 copy=channel -- "$tmp/wrong" none
[ "$(digest)" = "$want" ] || complain "copy=channel: $(cat "$tmp/err")"
before=
[ "$(id -u)" != 0 ] ||
	before='setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace'
mpirun gemini -n 2 -- "$tmp/wrong" hide
[ "$(digest)" = "$want" ] || complain "not dumpable: $(cat "$tmp/err")"
before=
report 'where ranks cannot be read they copy their bytes: the same digest'

while read -r word code_wanted text; do
	mpirun torus -n 3 -- "$tmp/wrong" "$word"
	ends "$code_wanted" "$text"
done <<-END
	crash 1 rank 1 died of signal 11 .* us outside of MPI
	exit 1 rank 1 ended with exit code 7 at .* us outside of MPI
	exit-at-once 1 rank 1 ended with exit code 0 at
	leave 1 rank 1 ended without MPI_Finalize, and other ranks wait for it
	abort 1 rank 1 called MPI_Abort with code 13 at .* us in MPI_Abort
	kill 1 rank 1 died of signal 9
	nowhere 1 rank 1 called MPI_Abort with code 17 at .* us in MPI_Send
	unfinished 0 finished
	fork 0 finished
END
report 'ranks that end as they should not are named with time and call'

for seed in 1 2 3; do
	mpirun torus -n 3 -- "$tmp/wrong" scribble $seed
	case $code in
	1) ends 1 'rank 1' ;;
	4) ends 4 'of simulated time' ;;
	*) complain "seed $seed: $code: $(cat "$tmp/err")" ;;
	esac
done
report 'a rank that writes anything into its channel ends the run, no more'

mpirun torus -n 3 -- "$tmp/wrong" kill
ends 1 'reproducible yes'

# Rank 1 loops, and the others wait for it: it has run for 0.3 s, which is more
# than MPI_Init() takes.
await_loop() {
	for _ in $(seq 500); do
		sleep 0.02
		for rank1 in $(pgrep -f "^$tmp/wrong loop"); do
			grep -zqx WEFT_RANK=1 "/proc/$rank1/environ" &&
				[ "$(cut -d ' ' -f 14 "/proc/$rank1/stat")" \
					-ge 30 ] && return
		done
	done
	complain 'rank 1 does not loop'
}

for rank in 1 2; do
	"$weft" mpirun torus -n 3 -- "$tmp/wrong" loop >"$tmp/out" \
		2>"$tmp/err" </dev/null &
	run=$!
	await_loop
	for victim in $(pgrep -f "^$tmp/wrong loop"); do
		! grep -zqx WEFT_RANK=$rank "/proc/$victim/environ" ||
			kill -KILL "$victim"
	done
	wait $run
	code=$?
	ends 1 "rank $rank died of signal 9"
	ends 1 'reproducible no: a signal from outside'
done
report 'a run whose rank was killed from outside is not called reproducible'

# Not under timeout, which sends signals twice.
"$weft" mpirun torus -n 2 -- "$tmp/wrong" loop \
	>"$tmp/out" 2>"$tmp/err" </dev/null &
run=$!
await_loop
kill -INT $run
wait $run
code=$?
ends 6 stopped
report 'a run whose rank loops for ever can be stopped'

# The plans' links are on the ways between the first nodes.
while read -r machine events; do
	mpirun "$machine" -n 4 --set "faults.events=$events" -- "$tmp/every"
	ends 0 '[1-9][0-9]* packets? lost on failed links'
	grep -q 'all calls are right' "$tmp/out" ||
		complain "$machine: $(cat "$tmp/out" "$tmp/err")"
done <<-END
	qsnet2-16 12 us link 1.0 down 1 dies; 60 us link 1.0 down 1 returns
	gemini 12 us link 0,0,0 x+1 dies; 12500 ns link 1,0,0 x-3 dies
END
report 'machines that retransmit get all messages through when links die'

mpirun bgq-board -n 2 --set 'faults.events=12 us link 0 A+ dies' -- \
	"$tmp/every"
ends 3 'A\+ is dead and never returns, and a packet from node 0 to node 1'
ends 3 'waiting  *rank 0 .node 0.: MPI_'
report 'where a dead link is the only way the run ends, and names link and call'

# Interfaces that know that nobody answers report an error, with which Open MPI
# ends the job.  Others wait, and the link is named.
aborts='rank [01] called MPI_Abort with code 17 at .* us in MPI_Sendrecv'

cut_link() { # MACHINE PLAN CODE TEXT
	mpirun $1 -n 2 --set "faults.events=$2" -- "$tmp/wrong" none
	ends "$3" "$4"
	[ "$3" -eq 1 ] ||
		ends 3 'waiting  *rank 0 .node 0.: MPI_Sendrecv from 1, tag 1'
}

cut_link apenet '30 us link 0 X+ dies' 3 \
	'node 0 .0,0,0. X. died at 30.000 us and lost [0-9]* packets?; rank 0'
cut_link qsnet2-16 '30 us link 1.0 down 1 dies' 3 \
	'(node 1 link|1.0 down 1) died at 30.000 us and lost [0-9]* packets; r'
cut_link gemini '30 us link 0,0,0 node 1 dies' 1 "$aborts"
both='30 us link 0:1.0 down 1 dies; 30 us link 1:1.0 down 1 dies'
cut_link sunway-32 "$both" 1 "$aborts"
cut_link 'torus --set routing.notice=never --set routing.tell=never' \
	'30 us link 0 A+ dies' 1 "$aborts"
report 'a link without any other way: an error of MPI, or the name of the link'

for machine in gemini torus; do
	mpirun $machine -n 2 death=go-on \
		--set 'faults.events=900 us node 1 dies' -- "$tmp/wrong" put
	ends 1 'rank 0 ended with exit code 1 at .* us in MPI_(Put|Win_flush)'
	! grep 'has arrived' "$tmp/out" || complain "$machine: it cannot have"
done
report 'a put that the interface gives up has not arrived'

kill_node() { # MACHINE CODE TEXT: of those that go on
	for death in $deaths; do
		mpirun "$1" -n 2 death=$death \
			--set 'faults.events=25 us node 1 dies' -- \
			"$tmp/wrong" none
		[ $death = go-on ] || ends 1 \
			'node 1 died at 25.000 us, and rank 1 with it, in MPI_'
	done
	ends "$2" "$3"
	! grep 'rank 1 .node 1.: MPI_' "$tmp/err" || complain "$1: it waits"
}

# What a job ends with is nothing that interfaces know of.
deaths='end go-on'
kill_node apenet 3 'node 1 .1,0,0. died at 25.000 us; rank 0 .node 0.: MPI_'
kill_node bgq-board 3 'node 1 .*died at 25.000 us; .* is dead and never returns'
[ "${WHOLE-}" ] || deaths=go-on
kill_node qsnet2-16 3 'node 1 died at 25.000 us; rank 0 .node 0.: MPI_'
for machine in gemini sunway-32 torus; do
	kill_node $machine 1 "$aborts"
done
report 'a rank dies with its node, and the job with the rank, unless it goes on'

# It would have said it 100 us later.
mpirun qsnet2-16 -n 3 --set mpi.turn=100us \
	--set 'faults.events=15 us node 2 dies' -- "$tmp/wrong" say
ends 1 'node 2 died at 15.000 us'
printf 'rank %d is here\n' 0 1 | cmp -s - "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'what a rank would say after the death of its node is dropped'

! pgrep -f "$tmp/" >/dev/null || complain "left: $(pgrep -fa "$tmp/")"
# The folder of another user's run is named in the environment of its ranks.
for file in /dev/shm/weft-?????? /tmp/weft-??????; do
	[ ! "$file" -nt "$tmp/start" ] || grep -qszF "=$file" /proc/*/environ ||
		complain "left: $file"
done
! pgrep -f 'sleep 86413' >/dev/null || complain "a rank's child is left"
report 'nothing is left'
exit $status
