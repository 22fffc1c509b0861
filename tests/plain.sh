#!/bin/sh
#
# Machines that are nobody's: their card, its workloads, budgets and faults;
# equal digests on any number of threads.  Needs $WEFT.
set -u
. "$(dirname "$0")/tap.sh"

is_more() { # A B
	awk "BEGIN { exit !($1 > $2) }"
}

# Ends by itself, with one digest.
same() { # MACHINE SHAPE WORKLOAD...
	machine=$1
	shape=$2
	shift 2
	digest=
	for threads in 1 3; do
		run run $machine --shape $shape "$@" --json --threads $threads
		[ $code -eq 0 ] && [ "$(value ending)" = finished ] ||
			complain "$machine $*: $code: $(cat "$tmp/err")"
		[ -n "$digest" ] || digest=$(value digest)
		[ -n "$digest" ] && [ "$(value digest)" = "$digest" ] ||
			complain "$machine $*, $threads threads: digest"
	done
}

for at in "torus 4x4" "fattree 16"; do
	set -- $at
	same $1 $2 pingpong via=msg bytes=8
	same $1 $2 pingpong via=msg bytes=20000
	same $1 $2 pingpong via=nic bytes=8
	ns=$(value one_way_ns)
	is_more "$ns" 500 && is_more 2000 "$ns" ||
		complain "$1: a put takes $ns ns"
	same $1 $2 stream via=nic bytes=1MiB
	same $1 $2 gets via=nic
	same $1 $2 alltoall via=msg bytes=3000
	same $1 $2 collective
	same $1 $2 mirror via=msg
	report "$1: workloads run, and are the same on any number of threads"
done

for at in "torus 4x4" "fattree 16"; do
	set -- $at
	for by in msg nic; do
		run run $1 --shape $2 pingpong via=$by --budget
		[ $code -eq 0 ] || complain "$1 $by: $code: $(cat "$tmp/err")"
		grep -q "memory read" "$tmp/out" || complain "$1 $by: no budget"
	done
	run run $1 --shape $2 pingpong via=nic --follow 3
	[ $code -eq 0 ] && grep -q "node 1.*, card" "$tmp/out" ||
		complain "$1: --follow: $code: $(cat "$tmp/err")"
	report "$1: a message's time is told"
done

cat >"$tmp/faults.yaml" <<END
schema: 1
faults:
  bit-errors: ["1e-6"]
END
for at in "torus 4x4" "fattree 16"; do
	set -- $at
	same $1 $2 alltoall via=msg bytes=3000 --faults "$tmp/faults.yaml" \
		--set nic.retry.timeout="20 us" --set nic.retry.per-node="0 ns"
	report "$1: bit errors do not change what arrives"
done

# A FIFO that the last packet leaves needs no event, unless time is budgeted.
for at in "torus --shape 3x3" apenet qsnet2-16; do
	events=
	digest=
	for more in "--threads 1" "--threads 3" --budget; do
		run run $at storm count=60 --json $more
		[ $code -eq 0 ] || complain "$at: $code: $(cat "$tmp/err")"
		now=$(jq .work.events "$tmp/out")
		[ "${digest:=$(value digest)}" = "$(value digest)" ] ||
			complain "$at $more: digest"
		[ "$more" != --budget ] || is_more $now "$events" ||
			complain "$at: $events events, with a budget $now"
		events=$now
	done
	report "${at%% *}: the same run by fewer events"
done

run run torus pingpong via=msg --set side.kind=none
[ $code -eq 2 ] && grep -q side "$tmp/err" || complain "no side: $code"
run run torus pingpong via=msg --set link.payload="5 KiB"
[ $code -eq 2 ] && grep -q link.payload "$tmp/err" || complain "payload: $code"
run run bgq-board pingpong --set side.kind=pcie
[ $code -eq 2 ] && grep -q side.kind "$tmp/err" || complain "a side: $code"
report "what a machine does not take is refused"

exit $status
