#!/bin/sh
#
# Every experiment on every machine, by the interface's own operations and by
# messages.  A run fails by itself unless every byte is right; here each runs
# on other numbers of threads, too.  With $WEFT_SLOW only on three threads.
set -u
. "$(dirname "$0")/tap.sh"

works() { # ARGUMENTS
	run run "$@" --json --quiet
	[ $code -eq 0 ] && [ "$(value ending)" = finished ] ||
		complain "weft run $*: $code: $(cat "$tmp/err")"
}

# ARGUMENTS: on one thread and on three, each machine and layer
everywhere() {
	for machine in 'bgq --shape 3x2x2' 'qsnet2-16 --shape 7' \
		'torus --shape 3x2x2' 'fattree --shape 7'; do
		for via in nic msg; do
			works $machine "$@" via=$via --threads 3
			[ "$(value via)" = $via ] ||
				complain "$machine: via $(value via)"
			[ -z "${WEFT_SLOW:-}" ] || continue
			digest=$(value digest)
			works $machine "$@" via=$via
			[ -n "$digest" ] && [ "$(value digest)" = "$digest" ] ||
				complain "$machine $via: another digest"
		done
	done
	report "on every machine, by interface and by messages: $*"
}

everywhere pingpong bytes=1000 rounds=5 to=6
everywhere stream bytes=1000 rounds=5
everywhere stream bytes=1000 rounds=5 both=yes places=2
everywhere sweep max=2KiB rounds=2 burst=3
everywhere sweep op=get max=2KiB rounds=2 burst=3
everywhere gets batch=3 rounds=20
everywhere gets to=3 rounds=5 bytes=64
everywhere blocks bytes=1000 rounds=3
everywhere exchange bytes=1000 rounds=3
everywhere exchange bytes=1000 rounds=9 driver=pipelined depth=3
everywhere mirror bytes=1000
everywhere alltoall bytes=1304
everywhere alltoall bytes=1304 driver=messages data=synthetic
everywhere storm count=60
for machine in 'bgq --shape 3x2x2' 'qsnet2-16 --shape 7' \
	'torus --shape 3x2x2' 'gemini --shape 2x2x1'; do
	works $machine stream procs=2 bytes=1000 rounds=5 both=yes places=2
	works $machine sweep procs=2 max=2KiB rounds=2 burst=3
done
report 'several processes of a node send to their peers'
for machine in 'bgq --shape 3x2x2' 'torus --shape 3x2x2' 'dragonfly' \
	'gemini --shape 3x2x1'; do
	for keys in 'procs=3 way=out' 'procs=3 way=in' 'via=msg'; do
		works $machine fan bytes=3000 rounds=2 $keys
	done
done
[ "$(value neighbours)" = 3 ] || complain "neighbours: $(value neighbours)"
report 'a node and its neighbours'
for machine in 'gemini --shape 2x2x1' 'torus --shape 3x2x2'; do
	works $machine amo variables=50 senders=4 rounds=400
	digest=$(value digest)
	works $machine amo variables=50 senders=4 rounds=400 --threads 3
	[ "$(value digest)" = "$digest" ] || complain "$machine: another digest"
done
report 'atomic additions lose nothing'
for op in barrier broadcast allreduce; do
	works bgq --shape 3x2x2 collective op=$op
	works qsnet2-16 --shape 7 collective op=$op
	works torus --shape 3x2x2 collective op=$op
done
report 'collectives on every machine'

# --- mistakes ---

refused() { # TEXT ARGUMENTS
	text=$1
	shift
	run run "$@"
	[ $code -eq 2 ] || complain "$*: exit code $code, not 2"
	grep -q "$text" "$tmp/err" || complain "$*: $(cat "$tmp/err")"
}

refused 'want auto, sten or dma' qsnet2-16 stream by=put
refused 'want auto or put' bgq-board exchange by=dma
refused 'want auto)$' torus exchange by=dma
refused 'by: has no effect with via=msg (want via=nic)' \
	qsnet2-16 stream via=msg by=dma
refused 'by: has no effect with via=net' qsnet2-16 pingpong by=dma
refused 'cpu: has no effect with via=net' bgq-board pingpong cpu=1
refused 'fifos: has no effect with via=msg' bgq-board alltoall via=msg fifos=2
refused 'driver: has no effect with via=net' bgq-board alltoall driver=messages
refused 'routing: has no effect' bgq-board alltoall via=msg routing=dynamic
refused 'queues: has no effect' torus gets via=msg queues=2
refused 'depth: has no effect with driver=serial' bgq-board exchange depth=2
refused 'a multiple of 8' qsnet2-16 exchange bytes=9
refused 'same node' qsnet2-16 stream to=0
refused 'same node' bgq-board gets to=0
refused 'want fewer places' bgq-board stream bytes=64MiB rounds=100
refused 'nic.kind elan4' bgq-board events
refused 'node 3 has no neighbours' qsnet2-16 fan node=3
refused 'no atomic operations' bgq-board amo
refused 'at most 15 processes' gemini stream procs=16
refused 'one program per node' gemini stream procs=4 via=msg
refused 'only 4 nodes' gemini --shape 3x1x1 amo senders=5
printf 'schema: 1\nmachine: bare\ntopology:\n  kind: torus\n  shape: [4]\n' \
	>"$tmp/bare.yaml"
for load in stream gets exchange storm collective events 'alltoall via=msg'; do
	refused 'nic.kind is none' "$tmp/bare.yaml" $load \
		--set nic.kind=none
done
report 'mistakes are reported in a line'

exit $status
