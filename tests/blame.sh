#!/bin/sh
#
# Who is to blame where a run does not end well: faults (3), a network too busy
# to answer in time (4), the command (2); 5 is for Weft's own mistakes alone.
set -u
. "$(dirname "$0")/tap.sh"

ends() { # CODE TEXT ARGUMENTS: of a run; TEXT is in what it says
	want=$1 text=$2
	shift 2
	run run "$@" --quiet
	[ $code -eq "$want" ] ||
		complain "run $*: code $code, want $want: $(cat "$tmp/err")"
	grep -q -- "$text" "$tmp/err" || [ -z "$text" ] ||
		complain "run $*: want \"$text\": $(cat "$tmp/err")"
}

dies='faults.events=5 us node 1 dies'
died='node 1 .*died at 5.000 us; node 0: not all messages were sent'
for machine in 'torus --shape 2x2' 'gemini --shape 2x1x2' qsnet2-16 \
	'fattree --shape 16'; do
	# shellcheck disable=SC2086
	ends 3 "$died" $machine stream --set "$dies"
done
ends 3 "$died" torus --shape 2x2 fan --set "$dies"
report 'messages to a node that has died are not sent'

ends 3 'not all additions were made, because of the planned faults' gemini \
	amo --shape 3x2x1 senders=4 rounds=5000 variables=100 \
	--set faults.chips=1e-3
ends 0 '' gemini amo --shape 3x2x1 senders=4 rounds=5000 variables=100
report 'sums are not judged where additions have failed'

# A packet that was refused ends the whole send with an error at the receiver.
for seed in 1 2 3; do
	ends 0 '' gemini storm --shape 2x1x1 count=3000 --seed $seed \
		--set 'faults.memories=0; double 1e-3'
done
report 'sends over bad memories arrive whole, or with an error'

# A card that gives up is no mistake; nor is one that is told to give up.
{
	echo 'schema: 1'
	echo 'jobs:'
	echo '- { name: a, nodes: [0, 3, 11], workload: permutation }'
	echo '- { name: b, nodes: [1, 2, 5, 7, 8], workload: alltoall,'
	echo '    keys: { via: msg } }'
} >"$tmp/jobs.yaml"
ends 4 'too many retries: .*, since the network did not answer in time' \
	torus --shape 5x4 --jobs "$tmp/jobs.yaml" --no-alone
report 'a network that is too busy to answer in time is a limit'

ends 0 '' apenet storm --shape 2x1x1 count=500 --set nic.software.chunk=5749B
ends 0 '' apenet exchange --shape 2x1x1 bytes=20000 target=gpu0 rounds=2 \
	--set nic.software.chunk=5749B
report 'chunks of odd lengths are staged'

ends 2 'want.*nic.software.p2p\|need nic.software.p2p' apenet crossover \
	--shape 2x1x1 --set nic.software.p2p=no source=gpu0
{
	printf 'num_ranks 2\nrank 0 {\ns: send 8b to 1\n}\nrank 1 {\n'
	printf 'r: recv 4b from 0\n}\n'
} >"$tmp/short.goal"
ends 2 'receives 4 B' torus --shape 2x2 replay file="$tmp/short.goal"
report 'what a command asks for in vain is refused'

# A peer's word that never comes is not looked for until the end of time.
ends 3 'node 1 .*died at 1.000 us' apenet-v5 exchange --shape 2x1x1 \
	bytes=100000 target=gpu1 rounds=1 --set 'faults.events=1 us node 1 dies'
report 'who waits for the credits of a dead peer is stalled'

# A program that looks at a register of a unit that has stopped, too.
for workload in stream fan; do
	ends 3 'a machine check stopped' bgq --shape 3x2 $workload \
		bytes=4096 rounds=8 --set 'faults.memories=0; double 1e-3'
done
{
	echo 'schema: 1'
	echo 'jobs:'
	echo '- { name: a, nodes: 0..5, workload: alltoall,'
	echo '    keys: { via: msg, bytes: 64KiB } }'
} >"$tmp/jobs.yaml"
ends 3 'a machine check stopped .*; job a: node 0' bgq --shape 3x2 \
	--jobs "$tmp/jobs.yaml" --no-alone \
	--set 'faults.memories=0; double 1e-4'
report 'who looks for what a stopped unit never does is stalled'

exit $status
