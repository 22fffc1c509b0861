#!/bin/sh
#
# Legal parameters at the ends of their ranges: a run ends as it should, or is
# refused with a line that says why.
set -u
. "$(dirname "$0")/tap.sh"

works() { # ARGUMENTS
	run run "$@" --json --quiet
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	report "weft run $*"
}

# No link of the run in $tmp/out is busy for longer than the run took.
no_link_is_busier_than_the_run_is_long() {
	awk -F'[:,]' '/"(mean|max)_use"/ && $2 > 1 { print "use of" $2 }' \
		"$tmp/out" >>"$tmp/complaints"
}

# Windows that are longer than many batches.
works qsnet2 random --shape 6 warmup=2us measure=2us \
	--set topology.cable.length=9000
works qsnet2 random --shape 6 --set topology.cable.length=9000
works bgq random --shape 2x2 measure=1us --set link.rate=1000GB/s
works bgq random --shape 2x2 measure=1us --set link.latency.board=20us \
	--set link.latency.boards=20us --set link.latency.midplanes=20us \
	--set link.latency.loop=20us --set link.latency.inner=20us

# A measurement that is as short as it can be.
for machine in 'bgq --shape 4x4' 'qsnet2-16' 'torus --shape 4x4' \
	'dragonfly --shape 64'; do
	set -- $machine
	name=$1
	shift
	run run $name random warmup=0us measure=1us "$@" --json
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	grep -q '"max_use"' "$tmp/out" || complain "no max_use"
	no_link_is_busier_than_the_run_is_long
	report "$machine: no link is busier than the run is long"
done

# Sizes below those of an answer.
for machine in bgq-board qsnet2-16 'torus --shape 2x2'; do
	works $machine sweep min=1 max=4
	works $machine sweep min=1 max=4 via=msg op=get
done


# --- limits ---

refused 'addresses at most 64 GiB' run bgq-board pingpong via=msg \
	--set host.memory=128GiB
refused 'addresses at most 64 GiB' run bgq-board pingpong via=msg \
	--set host.memory=129GiB
works bgq-board pingpong via=msg rounds=3 --set host.memory=64GiB

# A plan with one event.
plan() { # EVENT
	printf 'schema: 1\nfaults:\n  events:\n    - %s\n' "$1" \
		>"$tmp/plan.yaml"
}

for machine in qsnet2-16 'torus --shape 3x3'; do
	for time in '0 ns' '1 ns' '9999 ns'; do
		plan "$time node 3 dies"
		works $machine storm count=300 --faults "$tmp/plan.yaml"
	done
done
plan '9223372036854775000 ps node 3 dies'
refused 'later than the end of any run' run qsnet2-16 storm count=300 \
	--faults "$tmp/plan.yaml"

exit $status
