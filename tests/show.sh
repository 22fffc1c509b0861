#!/bin/sh
#
# Compares weft show of the machines with tests/golden/show-*.txt, but for the
# line on weft's own memory.  tests/show.sh --write writes what it gets.
set -u
. "$(dirname "$0")/tap.sh"

for machine in bgq bgq-board bgq-midplane bgq-rack bgq-20pf \
	qsnet2-16 qsnet2-512 qsnet2-4096; do
	golden=$src/tests/golden/show-$machine.txt
	run show $machine
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	sed '/^simulation /d' "$tmp/out" >"$tmp/shown"
	if [ "${1-}" = --write ]; then
		cp "$tmp/shown" "$golden"
	else
		diff "$golden" "$tmp/shown" >>"$tmp/complaints" 2>&1
	fi
	awk 'length > 80 { print "too wide: " $0 }' "$tmp/shown" \
		>>"$tmp/complaints"
	report "weft show $machine"
done

if ! command -v jq >/dev/null; then
	skip "what the paper says of it" "no jq"
	exit $status
fi

is() { # WHAT MACHINE JQ-TEST
	run show $2 --json
	jq -e "$3" "$tmp/out" >/dev/null || complain "not so: $3"
	report "$1"
}

is "BGQ-N1: the 20 PF machine has 98304 nodes" bgq-20pf '.nodes == 98304'
is "BGQ-N3: ten torus ports" bgq '.ports == 10'
is "BGQ-N15: its bisection is 46 times that of BG/L" bgq-20pf \
	'.bisection.raw_GBps / (2 * 98304 / 64 * 0.175) | . > 45.5 and . < 46'
is "BGQ-N17: a midplane has 512 nodes" bgq-midplane '.nodes == 512'
is "BGQ-N18: a board has 32" bgq-board '.nodes == 32 and
	.packaging == [{ unit: "board", shape: "2x2x2x2x2", nodes: 32,
		units: 1 }]'
is "BGQ-N31: 2.6 us at worst" bgq-20pf \
	'.packets[0].zero_load_ns.max | . > 2540 and . < 2660'
is "BGQ-N83: 15.5 hops on average" bgq-20pf \
	'.hops.mean | . > 15.495 and . < 15.505'
is "a board alone has no links around" bgq-board \
	'[.dimensions[].links] == [16, 16, 16, 16, 32]'

exit $status
