#!/bin/sh
#
# A process gets what an endpoint gets: ping-pong of MPI takes as long as
# pingpong via=endpoint does, within 1 ns.  Polls come often here, so it does
# not matter which of them sees a message.  Blue Gene/Q chooses at random among
# the FIFOs that wait, so its mean needs more rounds; and the plain card, whose
# first look is at a random time, some hundred.
#
#   tests/mpi-same.sh        some machines, up to 4 KiB
#   tests/mpi-same.sh all    all that the manual lists, up to 1 MiB
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

mpicc -O1 -o "$tmp/latency" "$src/examples/mpi/latency.c" ||
	complain 'latency: mpicc'
often='--set nic.software.poll-period=1ns'
factor=16

compare() { # MACHINE BYTES ROUNDS; the first from $tmp/got
	got=$(awk "\$1 == $2 { printf \"%.1f\", 1000 * \$3 }" "$tmp/got")
	run run "$1" pingpong via=endpoint bytes="$2" rounds="$3" warm=10 \
		$often --json
	below=$(value one_way_ns)
	awk "BEGIN { d = $got - $below; exit !(d < 1 && d > -1) }" ||
		complain "$1, $2 B: $got ns, by an endpoint $below"
}

same() { # MACHINE LARGEST ROUNDS
	run mpirun "$1" -n 2 $often -- "$tmp/latency" "$2" "$3" $factor
	[ $code -eq 0 ] || complain "$1: $code: $(cat "$tmp/err")"
	cp "$tmp/out" "$tmp/got"
	compare "$1" 0 "$3"
	for power in 1 16 256 4096 65536 1048576; do
		[ $power -gt "$2" ] || compare "$1" $power "$3"
	done
	report "$1: MPI is as fast as an endpoint"
}

# The latency of the paper's MPI, within 2 %.
paper() { # PLATFORM MICROSECONDS
	run mpirun qsnet2-16 -n 2 --set nic.platform="$1" -- \
		"$tmp/latency" 0 100
	got=$(awk '$1 == 0 { print $3 }' "$tmp/out")
	awk "BEGIN { d = $got / $2; exit !(d < 1.02 && d > 0.98) }" ||
		complain "$1: $got us, not $2"
	report "QsNetII, $1: MPI takes what the paper says"
}

paper opteron 1.28
if [ "${1-}" = all ]; then
	paper xeon 1.70
	paper itanium2 2.73
	for machine in bgq-board qsnet2-16 gemini apenet torus fattree \
		dragonfly sunway-32; do
		rounds=30
		[ $machine != bgq-board ] || rounds=1000
		same $machine 4096 1000
		same $machine 1048576 $rounds
	done
else
	same bgq-board 256 1000
	for machine in qsnet2-16 gemini apenet torus sunway-32; do
		[ -n "${WEFT_SLOW:-}" ] || same $machine 4096 200
	done
fi
exit $status
