#!/bin/sh
#
# The causes of a time budget mean what their names say, on every interface: a
# time of the machine is in one cause alone, and a wait is in the cause that
# names what was waited for.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

# --- a message alone: what takes longer moves its own cause ---

base() { # ARGUMENTS
	lone="$*"
	run run $lone --json --budget
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	was=$(jq -c '.budget.causes | map_values(.ps)' "$tmp/out")
}

moves() { # CAUSES SETTING
	run run $lone --json --budget --set "$2"
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	moved=$(jq -r --argjson was "$was" '[.budget.causes | to_entries[] |
		select(.value.ps != $was[.key]).key] | sort | join(" ")' \
		"$tmp/out")
	[ "$moved" = "$1" ] || complain "moves: $moved"
	report "${lone%% *}: $2 is $1"
}

base torus --shape 2x2 stream via=nic rounds=1 bytes=8
moves software nic.software.post=160ns
moves descriptor nic.dispatch=140ns
moves descriptor side.store=200ns
moves 'descriptor memory_read' side.wait=350ns
moves card_input nic.input=160ns
moves memory_write side.see=200ns
moves serialisation link.rate=6GB/s
moves wire topology.cable.length=9

base gemini stream by=bte bytes=8 rounds=1 to=2
moves software nic.software.kernel=400ns
moves descriptor nic.bte.start=2us
moves packet nic.output=192ns
moves translation nic.input=213ns

base qsnet2-16 pingpong via=nic by=sten to=15 rounds=1
moves software nic.software.command=120ns
moves descriptor nic.opteron.store=300ns
moves memory_write nic.opteron.see=176ns

base apenet-pair stream rounds=1 bytes=8
moves software nic.software.post=740ns
moves descriptor nic.nios.command=1250ns
moves card_input nic.input=450ns
moves translation nic.nios.translate=3us

base bgq-board stream rounds=1 bytes=8
moves software nic.software.descriptor=198ns
moves packet nic.injection.fifo-write=120ns

# --- behind other messages of its card: fetching takes no longer by that ---

behind() { # MACHINE AND ARGUMENTS, without rounds
	run run "$@" rounds=1 --json --budget
	lone=$(jq '.budget.causes.descriptor.ps' "$tmp/out")
	queue=$(jq '.budget.causes.card_queue.ps' "$tmp/out")
	[ "$queue" -eq 0 ] || complain "alone it waits for $queue ps"
	run run "$@" rounds=40 --json --budget
	shows "messages behind others are in a queue at the card: $*" "
		.budget | .causes.card_queue.ps > .ps / 5 and
		.causes.descriptor.ps < 2 * .messages * $lone"
}

behind torus --shape 2x2 stream via=nic bytes=8
behind fattree --shape 16 stream via=nic bytes=8
behind qsnet2-16 stream by=sten bytes=8
behind apenet-pair stream bytes=8
behind bgq-board stream bytes=8

# --- waits in the network ---

waits() { # TEST ARGUMENTS
	test=$1
	shift
	run run "$@" warmup=4us measure=10us --json --budget
	shows "$*: $test" ".budget.causes | map_values(.ps) | $test"
}

busy='.link_busy > 0 and .link_busy > 2 * .arbitration'
waits "$busy" torus --shape 4x4 random load=0.7
waits "$busy" torus --shape 8 random load=0.7 --set router.arbiter=stages
waits "$busy" fattree --shape 16 random load=0.7
waits "$busy" bgq random --shape 4x4x2 load=0.7
waits '.link_busy > 0' gemini random --shape 4x2x2 load=0.7
waits '.link_busy > 0 and .arbitration >= 0' apenet random --shape 4x2x2
waits '.tokens > .link_busy' torus --shape 8 random load=max \
	--set router.packets=2 --set topology.cable.length=100

# --- one message of many packets waits for the engine that cuts them ---

run run torus --shape 2x2 stream via=nic rounds=1 bytes=64KiB --json --budget
shows 'packets of one message wait for the engine that makes them' '
	.budget | .causes.engine.ps > .ps / 5'

# --- causes that only some runs have ---

only() { # CAUSE ARGUMENTS SETTING: nothing without it, something with it
	run run $2 --json --budget
	was=$(jq ".budget.causes.$1.ps" "$tmp/out")
	[ "$was" = 0 ] || complain "without: $was"
	run run $2 $3 "$4" --json --budget
	shows "$1: $2 $3 $4" ".budget.causes.$1.ps > 0"
}

only retry 'torus random --shape 2x2 measure=10us --set link.retry=replay' \
	--set faults.bit-errors=1e-5
only retry 'qsnet2-16 stream bytes=4096 rounds=200' \
	--set faults.bit-errors=1e-5
only quiesce 'gemini storm --shape 4x2x1 count=200' \
	--set 'faults.events=1 us chip 0,0,0 leaves'
only copy 'apenet-pair pingpong via=nic target=gpu0 bytes=10000 source=gpu0' \
	--set nic.software.p2p=no
only receiver 'torus fan way=in bytes=16KiB via=nic --shape 2x2' \
	--set side.rate=1GB/s

# A node sends its copies of a broadcast one after the other, and a reduction
# waits for the other nodes.
run run bgq-board collective op=broadcast by=hardware bytes=8000 --json --budget
shows 'trees wait for links that are busy' '
	.budget.causes | .link_busy.ps > 0 and .arbitration.ps == 0'
run run bgq-board collective op=allreduce by=hardware bytes=8 --json --budget
shows 'reductions wait for the other members' '
	.budget.causes | .peers.ps > 0 and .link_busy.ps == 0'

exit $status
