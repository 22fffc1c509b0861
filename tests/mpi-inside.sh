#!/bin/sh
#
# What is loaded into ranks of MPI programs, without any machine: weft-peer
# plays the simulator.  Needs $WEFT_PEER and mpicc.
set -u
. "$(dirname "$0")/tap.sh"

if [ ! -x "${WEFT_PEER:-}" ] || ! command -v mpicc >/dev/null; then
	echo '1..0 # SKIP no libfabric-dev, libpmix-dev or libopenmpi-dev'
	exit 77
fi
cd "$src" || exit 1
for name in allreduce any_source every_call latency one_sided ring threads \
	behave fabric places pmi together; do
	mpicc -Wall -Iinclude $(pkg-config --cflags pmix) -o "$tmp/$name" \
		*/mpi/$name.c -lfabric || complain "$name: mpicc"
done
report 'Open MPI compiles the programs'

if command -v mpif90 >/dev/null; then
	for file in examples/mpi/fortran.f90 tests/mpi/waits.f90; do
		mpif90 -o "$tmp/$(basename "$file" .f90)" "$file" ||
			complain "$file: mpif90"
	done
fi

options=

# $code, $tmp/out and $tmp/err are what came of it.
peer() { # RANKS PROGRAM...
	ranks=$1 program=$2
	shift 2
	timeout 100 "$WEFT_PEER" -n $ranks ${per_node:+-p $per_node} \
		$options "$tmp/$program" "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}

good() { # RANKS PROGRAM...
	peer "$@"
	[ $code -eq 0 ] || complain "$*: $code: $(cat "$tmp/out" "$tmp/err")"
}

says() { # FILE TEXT
	grep -qF -- "$2" "$tmp/$1" ||
		complain "no '$2' in: $(cat "$tmp/out" "$tmp/err")"
}

good 3 ring
says out 'rank 2 of 3 on node2'
says out 'round the ring in 3.025 us'
good 2 latency 16384 2
says out '16384 B       1.0'
good 4 allreduce 512 1
report 'messages and sums are right, and take the network'"'"'s time'

per_node=2
for i in 1 2; do
	good 5 every_call
	says out 'all calls are right'
	tail -n 1 "$tmp/err" >"$tmp/sum$i"
done
per_node=
cmp -s "$tmp/sum1" "$tmp/sum2" || complain "$(cat "$tmp/sum1" "$tmp/sum2")"
report 'one of each call, and the same commands each time'

for i in 1 2; do
	good 3 one_sided
	says out 'all of it is right'
	tail -n 1 "$tmp/err" >"$tmp/sum$i"
done
cmp -s "$tmp/sum1" "$tmp/sum2" || complain "$(cat "$tmp/sum1" "$tmp/sum2")"
report 'puts, gets, atomics and locks are right, at the same addresses'

per_node=2
good 5 places
few=$(grep -o '^[0-9]*' "$tmp/out")
report 'ranks know where all others are'

good 25 places
many=$(grep -o '^[0-9]*' "$tmp/out")
[ "$many" -lt 4096 ] || complain "$many KB"
[ $((many - few)) -lt 32 ] || complain "$few KB, $many KB"
per_node=
report 'a rank takes less than 4 MiB, however many others there are'

for options in '' -m; do
	good 2 latency 300000 1
	tail -n 1 "$tmp/err" >"$tmp/sum$options"
done
cmp -s "$tmp/sum" "$tmp/sum-m" || complain "$(cat "$tmp/sum" "$tmp/sum-m")"
report 'ranks can copy their memory themselves, with the same result'

for options in '' '-c -v'; do
	good 4 together
	says out 'all together is right'
done
options=
for kind in barrier broadcast reduce; do
	says err "$kind done, error 0"
done
report 'what the network can do it does, all else goes by messages'

good 2 fabric
says out 'rank 1: all of libfabric is right, 12 sends'
report 'a program without MPI uses every kind of call of libfabric'

good 2 threads
says err 'not the same each time: 1'
report 'threads call MPI at once, and are reported'

good 4 any_source
! grep 'not the same' "$tmp/err" || complain "$(cat "$tmp/err")"
says out '1.0 1.1 1.2'
says out '1.025 us'
report 'what comes first is taken first'

WEFT_TSC=trap good 2 behave self clock compute alarm ticks test fork
says out 'node1, process 1001 of 999, random 352d9ab6'
says out '1500025 3600000000025 35, day 3600, cpu 0'
! grep -q backwards "$tmp/out" || complain 'time runs backwards'
says out '123531 ns, cpu 123481, processors 1'
says out '0 alarms, 1 s left, 1 alarms, 11 alarms, every 1000 us'
says out '3025 ticks'
says out '800 tests'
says out 'child in real time: 1'
report 'clock, sleeps, names, children and tests are those of the machine'

peer 2 behave stall
[ $code -eq 3 ] || complain "stall: $code"
says err 'rank 0: MPI_Probe from 1, tag 8'
says err 'rank 1: MPI_Recv from 0, tag 7'
peer 2 behave exit
[ $code -eq 1 ] || complain "exit: $code"
says err 'rank 1 ended with 1792'
peer 2 behave abort
[ $code -eq 1 ] || complain "abort: $code"
says err 'rank 1: aborted 13'
peer 2 behave kill
[ $code -eq 1 ] || complain "kill: $code"
says err 'rank 1 ended with 9'
report 'ranks that wait for ever, exit, abort or are killed are known'

what="Fortran's calls are known, too"
if [ -x "$tmp/waits" ]; then
	good 3 fortran
	says out 'sums are right after    7.025 us'
	peer 2 waits
	[ $code -eq 3 ] || complain "waits: $code"
	says err 'rank 0: MPI_Recv from 1, tag 12'
	says err 'rank 1: MPI_Recv from 0, tag 11'
	report "$what"
else
	skip "$what" 'no mpif90'
fi

WEFT_STACK=pmi good 6 pmi
says out 'rank 5 of 6 knows all'
report 'ranks find each other by PMI-1, too'

OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp peer 2 behave self
[ $code -eq 1 ] || complain "another way: $code"
says err 'go round the simulated network'
report 'a program whose messages would go round the network is stopped'

! pgrep -f "^$tmp/" >/dev/null || complain "left: $(pgrep -af "^$tmp/")"
report 'no process is left'
exit $status
