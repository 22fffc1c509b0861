#!/bin/sh
#
# Messages as ranks of MPI programs send them, without any MPI: via=endpoint.
# MPI-F6.
set -u
. "$(dirname "$0")/tap.sh"

# Polls come often, so that it does not matter which of them sees a message.
often='--set nic.software.poll-period=1ns'

took() { # FIGURE ARGUMENTS; of a run that must finish
	figure=$1
	shift
	run run "$@" --json
	[ $code -eq 0 ] || complain "$*: $code: $(cat "$tmp/err")"
	value "$figure"
}

one_way() { # MACHINE ARGUMENTS
	machine=$1
	shift
	took one_way_ns "$machine" pingpong rounds=20 warm=4 $often "$@"
}

near() { # WHAT GOT WANT; within half a nanosecond
	awk "BEGIN { d = $2 - ($3); exit !(d < 0.5 && d > -0.5) }" ||
		complain "$1: $2 ns, not $3"
}

for machine in bgq-board qsnet2-16 gemini apenet torus sunway-32; do
	for bytes in 0 1 481 5000; do
		got=$(one_way $machine via=endpoint bytes=$bytes)
		[ "${got%.*}" -gt 500 ] || complain "$machine, $bytes B: $got"
	done
	[ -n "$(took total_MBps $machine stream via=endpoint bytes=700)" ] ||
		complain "$machine: no rate"
done
[ -n "$(took total_MBps qsnet2-16 --set router.kind=array stream \
	via=endpoint from=0 to=0 bytes=700 rounds=1)" ] ||
	complain 'a node does not reach itself by an array router'
[ -n "$(took time_ns bgq-board alltoall via=endpoint bytes=64)" ] ||
	complain 'no time'
[ -n "$(took time_ns qsnet2-16 alltoall via=endpoint bytes=5000)" ] ||
	complain 'no time'
report 'pingpong, stream and alltoall send by endpoints on any machine'

# Each fourth send waits for the card, which tells the other side of emptied
# slots: then its time does not show.  A receive is posted while its message is
# under way.
base=$(one_way torus via=endpoint posted=10)
near 'mpi.receive' "$(one_way torus via=endpoint posted=10 \
	--set mpi.receive=100ns)" "$base"
long=$(one_way torus via=endpoint posted=10 --set mpi.receive=10us)
awk "BEGIN { exit !($long > $base + 1000) }" ||
	complain "mpi.receive: $long ns, longer than the way"
near 'mpi.send' "$(one_way torus via=endpoint posted=10 \
	--set mpi.send=100ns)" "$base + 75"
near 'mpi.match' "$(one_way torus via=endpoint posted=10 \
	--set mpi.match=20ns)" "$base + 10 * 20"
near 'of messages' "$(one_way torus via=msg --set mpi.send=1us \
	--set mpi.match=1us)" "$(one_way torus via=msg)"
report 'sends, receives and entries that do not match take their time'

base=$(one_way sunway-32 via=endpoint --set nic.software.mpi=0ns)
near sunway-32 "$(one_way sunway-32 via=endpoint --set nic.software.mpi=2us \
	--set mpi.send=5us)" "$base + 2000"
report 'on Sunway this time is that of its MPI'

# A message of MPI needs no more on the wire than one of a tagged port.
for platform in opteron xeon itanium2; do
	near $platform \
		"$(one_way qsnet2-16 via=endpoint bytes=0 \
			--set nic.platform=$platform)" \
		"$(one_way qsnet2-16 via=nic by=match bytes=0 \
			--set nic.platform=$platform)"
done
report 'on QsNetII an endpoint is as fast as the tagged ports of the paper'

# With --budget, every picosecond from the call to the end of the receive is in
# one part: so are those that an endpoint takes more than messages do.
parts() { # MACHINE VIA BYTES [ARGUMENTS]; the sum of parts, and one way
	run run "$1" pingpong via="$2" bytes="$3" rounds=20 warm=4 --budget \
		--json $4
	sum=0
	for part in library slots legs unposted look matching data \
		end; do
		sum="$sum + $(value trip_${part}_ns)"
	done
	way=$(value one_way_ns)
	awk "BEGIN { d = $sum - $way; exit !(d < 1e-3 && d > -1e-3) }" ||
		complain "$1, $2, $3 B: $way ns, but the parts are $sum"
}

for machine in bgq-board qsnet2-16 gemini torus sunway-32; do
	for bytes in 8 2000 64KiB; do
		parts $machine msg $bytes ''
		parts $machine endpoint $bytes ''
	done
done
costs='--set mpi.send=100ns --set mpi.match=20ns --set mpi.receive=30ns'
parts torus endpoint 8 "$costs posted=5"
near 'library' "$(value trip_library_ns)" 100
near 'matching' "$(value trip_matching_ns)" 100
# A card's thread looks at one element in nic.match.element cycles of 5 ns.
parts qsnet2-16 endpoint 8 ''
lone=$(value trip_matching_ns)
parts qsnet2-16 endpoint 8 '--set nic.match.element=20 posted=5'
near 'QsNetII' "$(value trip_matching_ns)" "$lone + 5 * 20 * 5"
report 'the parts of a message add up to its time, with and without MPI'

followed() { # ARGUMENTS; how long the first message of node 0 took
	run run torus pingpong via=endpoint rounds=4 --follow 0.0 "$@"
	sed -n 's/^follow .*it took \([0-9.]*\) ns$/\1/p' "$tmp/out"
}

near 'followed' "$(followed --set mpi.send=500ns)" "$(followed) + 500"
report 'a message is followed from the call on'

# Where an interface gives up, whoever waits is told.
printf 'schema: 1\nfaults:\n  events:\n    - 30us node 1 dies\n' >"$tmp/plan"
for machine in gemini torus sunway-32; do
	run run $machine stream via=endpoint bytes=64KiB rounds=400 \
		--faults "$tmp/plan"
	[ $code -eq 3 ] || complain "$machine: $code"
	[ $machine = torus ] ||
		grep -q 'endpoint_execute: Input/output error' "$tmp/err" ||
		complain "$machine: $(cat "$tmp/err")"
done
run run torus stream via=endpoint bytes=8 rounds=400 --faults "$tmp/plan"
grep -q 'endpoint_execute: Input/output error' "$tmp/err" ||
	complain "torus: $(cat "$tmp/err")"
report 'a message to a rank that cannot be reached ends with an error'
exit $status
