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

refused 'want auto, sten, dma or match' run qsnet2-16 stream by=put
refused 'want auto or put' run bgq-board exchange by=dma
refused 'want auto)' run torus exchange by=dma
refused 'by: has no effect with via=msg (want via=nic)' \
	run qsnet2-16 stream via=msg by=dma
refused 'by: has no effect with via=net' run qsnet2-16 pingpong by=dma
refused 'cpu: has no effect with via=net' run bgq-board pingpong cpu=1
refused 'fifos: has no effect with via=msg' run bgq-board alltoall via=msg \
	fifos=2
refused 'driver: has no effect with via=net' run bgq-board alltoall \
	driver=messages
refused 'routing: has no effect' run bgq-board alltoall via=msg routing=dynamic
refused 'queues: has no effect' run torus gets via=msg queues=2
refused 'depth: has no effect with driver=serial' run bgq-board exchange depth=2
refused 'a multiple of 8' run qsnet2-16 exchange bytes=9
refused 'same node' run qsnet2-16 stream to=0
refused 'same node' run bgq-board gets to=0
refused 'want fewer places' run bgq-board stream bytes=64MiB rounds=100
refused 'nic.kind elan4' run bgq-board events
refused 'node 3 has no neighbours' run qsnet2-16 fan node=3
refused 'no atomic operations' run bgq-board amo
refused 'at most 15 processes' run gemini stream procs=16
refused 'one program per node' run gemini stream procs=4 via=msg
refused 'only 4 nodes' run gemini --shape 3x1x1 amo senders=5
printf 'schema: 1\nmachine: bare\ntopology:\n  kind: torus\n  shape: [4]\n' \
	>"$tmp/bare.yaml"
for load in stream gets exchange storm collective events 'alltoall via=msg'; do
	refused 'nic.kind is none' run "$tmp/bare.yaml" $load \
		--set nic.kind=none
done
report 'mistakes are reported in a line'

exit $status
