#!/bin/sh
#
# Management of Sunway's switches from the command line: workload manage, cables
# in the wrong place, and what is refused.
set -u
. "$(dirname "$0")/tap.sh"

figure() { # NAME
	sed -n "s/^ *\"$1\": \\([0-9.]*\\),*\$/\\1/p" "$tmp/out" | head -n 1
}

expect() { # NAME VALUE
	[ "$(figure "$1")" = "$2" ] || complain "$1 $(figure "$1"), want $2"
}

# Every other node sends while a link, a spine and then the link again change.
events='150 us link 0:1.1 up 6 dies; 200 us switch 0:2.3 dies'
events="$events; 300 us link 0:1.1 up 6 returns"
digest=
for threads in 1 2 3; do
	run run sunway-32 manage rounds=60 --threads $threads --json \
		--set "faults.events=$events"
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	expect switches 40
	expect nodes 32
	expect cables 144
	expect repairs 3
	expect messages 1860
	expect unreachable 0
	expect proved 1
	now=$(sed -n 's/^ *"digest": "\(.*\)",*$/\1/p' "$tmp/out")
	[ "${digest:=$now}" = "$now" ] || complain "$threads threads: $now"
done
report 'tables are rewritten under traffic, for any number of threads'

run run sunway-32 manage
grep -q '^discovery  *[0-9.]* us' "$tmp/out" || complain 'no discovery'
grep -q '^management .* 0 by JTAG' "$tmp/out" || complain 'no commands'
report 'a manager reports its steps'

# In a tree of four leaves, two that are no siblings.
run check sunway --set topology.nodes=64 --set topology.exchanged=0x20x2x20
grep -q 'ends at a switch' "$tmp/out" || complain "$(cat "$tmp/out")"
run run sunway manage --json --set topology.nodes=64 \
	--set topology.exchanged=0x20x2x20
expect wrong_cables 2
expect proved 1
report 'SUN-F82: two exchanged cables are found'

while read -r exchanged why; do
	run show sunway-32 --set "topology.exchanged=$exchanged"
	[ $code -eq 2 ] || complain "$exchanged: exit code $code"
	grep -q "$why" "$tmp/err" || complain "$exchanged: $(cat "$tmp/err")"
done <<-END
	0x20x1 want switch, port, switch, port
	0x17x1x20 switch 0 has no cable at port 17
	0x20x99x20 switch 99 has no cable at port 20
	0x20x1x3 different kinds
END
report 'cables that cannot be exchanged are refused'

run run sunway-32 manage --set router.kind=crossbar
[ $code -eq 2 ] || complain "crossbar: exit code $code"
grep -q 'have no registers' "$tmp/err" || complain "$(cat "$tmp/err")"
run run sunway-32 manage manager=32
[ $code -eq 2 ] || complain "manager=32: exit code $code"
run run bgq-board manage
[ $code -eq 2 ] || complain "bgq-board: exit code $code"
run run sunway-32 manage --set registers.jtag=1ns
[ $code -eq 2 ] || complain "registers.jtag: exit code $code"
report 'machines without registers are refused'

sed -n '/^# EXAMPLES/,/^# SEE/s/^weft //p' "$src/man/weft-swnet.7.scd" \
	>"$tmp/commands"
[ -s "$tmp/commands" ] || complain 'no examples'
while read -r command; do
	eval "run $command"
	[ $code -eq 0 ] || complain "weft $command: $(cat "$tmp/err")"
done <"$tmp/commands"
report 'weft-swnet(7): the examples run'

run run sunway-32 manage rounds=5 --set 'faults.events=0 us node 3 dies'
[ $code -eq 3 ] || complain "exit code $code"
grep -q 'nodes have not ended their traffic, because of' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
report 'a manager does not wait for ever for nodes that are dead'

exit $status
