#!/bin/sh
#
# APEnet+'s cards and GPUs from the command line: what limits them, the ways of
# GPU data, and what is refused.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

near() { # WHAT FOUND LEAST MOST
	awk -v x="$2" -v a="$3" -v b="$4" \
		'BEGIN { exit !(x >= a && x <= b) }' ||
		complain "$1: $2 is not within $3 to $4"
}

of() { # FIGURE ARGUMENTS of a run on two nodes
	name=$1
	shift
	ends 0 run "$@" --json
	jq -r ".results.$name" "$tmp/out"
}

ping() {
	of one_way_ns apenet-pair pingpong via=nic bytes=32 rounds=100 "$@"
}
flush() {
	of took_ns apenet-pair stream by=flush bytes=1MiB rounds=1 "$@"
}

# --- latency ---

gpus='source=gpu0 target=gpu0'
near 'host to host' "$(ping)" 6200 6400
near 'GPU to GPU' "$(ping $gpus by=p2p)" 8100 8300
near 'staged' "$(ping $gpus by=staged)" 16500 17200
report 'APE-F5, APE-F6: GPU data goes directly, or through host memory'
near 'rival' "$(ping $gpus by=rival)" 17300 17500
near 'rival, 64 KiB' "$(of one_way_ns apenet-pair pingpong via=nic \
	bytes=64KiB rounds=2 by=rival)" 57900 58100
report "APE-F8: the rival's curve has a latency and a rate"
for via in 'stream bytes=8' sweep; do
	refuses 'a calculated curve' run apenet-pair \
		$via by=rival
done
report 'where bytes must arrive no curve will do'

# --- the host's side ---

one=$(flush --set nic.dma.engines=1) two=$(flush)
near 'two engines over one' "$(echo "$two $one" | awk '{ print $1 / $2 }')" \
	0.56 0.63
report 'APE-F9, APE-F10, APE-F13: two engines overlap their waits'
wide=$(flush --set side.payload=256)
near 'payload of 256 B' "$(echo "$wide $two" | awk '{ print $1 / $2 }')" \
	0.9 0.98
slow=$(flush --set nic.dma.engines=1 --set side.payload=256)
near 'what one engine gains less' "$(echo "$slow $one $wide $two" |
	awk '{ print $1 / $2 - $3 / $4 }')" 0.01 0.03
report 'APE-F12: a larger payload of PCI Express helps two engines most'
# With 128 B in a packet the bus is the limit: 4,096 B of data, 24 B more for
# each 128, and 44 B of command and doorbell at 4 GB/s.  With 256 B the Nios is:
# it handles a command of 4,096 B in 1,150 ns.
rate() {
	of payload_GBps apenet-pair stream by=flush bytes=4MiB rounds=1 "$@"
}
near 'the bus' "$(rate)" 3.31 3.338
near 'the Nios' "$(rate --set side.payload=256)" 3.53 3.562
near 'the bus again' "$(rate --set side.payload=256 \
	--set nic.nios.command=0ns)" 3.58 3.623
report 'the bus or the Nios limits how fast the card reads'
stream() {
	of total_MBps apenet-v5 stream --shape 2x1x1 bytes=1MiB rounds=24 \
		places=1 "$@"
}
near 'the next board' "$(stream)" 3700 4430
near 'with Gen2' "$(stream --set side.generation=2)" 2800 3370
near 'with a narrow data path' "$(stream --set nic.path.width=8)" 1700 2000
near 'with old lanes' "$(stream --set link.lane-rate=7Gb/s)" 1900 2200
report 'APE-F2, APE-F38: Gen3, data path, lanes each limit the next board'

# --- the choice of ways ---

# A GPU makes copies of one direction one after the other, 5.25 us and 6 GB/s
# each, while what was copied before is on its way: 101 KB and 106 KB by hand.
for chunk in 16:101 32:106; do
	cross=$(of crossover_B apenet-pair crossover between=p2p,staged $gpus \
		min=32KiB max=160KiB step=1KiB rounds=1 \
		--set nic.software.chunk=${chunk%:*}KiB)
	near "staged beats p2p, chunks of ${chunk%:*} KiB" "$cross" \
		$(echo ${chunk#*:} | awk '{ print 970 * $1, 1030 * $1 }')
done
report 'APE-F40: staging wins from some size on'

# --- portable things ---

for load in 'alltoall via=msg' collective 'storm count=100' mirror; do
	ends 0 run apenet-quong $load
done
report 'what runs on every machine runs on cards'

for load in 'exchange bytes=40000' 'exchange via=msg bytes=40000' \
	'exchange by=staged bytes=40000' 'alltoall via=msg bytes=6000' \
	'alltoall via=nic bytes=6000' 'alltoall via=nic by=staged bytes=6000' \
	'storm count=100' 'storm count=100 via=msg'; do
	for gpus in 'source=gpu1 target=gpu0' 'target=gpu1' 'source=gpu0'; do
		ends 0 run apenet --shape 2x2x1 $load $gpus
	done
done
report 'exchanges, all-to-alls and storms between all memories'

ends 0 run apenet --shape 2x2x1 storm count=200 rogues=3 source=gpu0 --json
holds '.results.misdeeds == 60 and .results.failed_messages == 0'
report 'programs that break all rules disturb nobody'

# --- misuse ---

refuses 'since a node has 2 GPUs' run apenet-pair stream source=gpu2
refuses 'only host memory' run torus --shape 2x2 stream target=gpu0
refuses 'a node has 0 GPUs' run torus --shape 2x2 mirror via=msg target=gpu0
refuses 'via=net has no memories' run apenet alltoall target=gpu0
refuses 'does not name two' run apenet-pair crossover between=p2p,p3p
refuses 'nic.tlb.entries' run apenet-pair stream --set nic.tlb.entries=100
refuses 'power of two' run apenet-pair stream --set side.payload=100
refuses 'gpu.window' run apenet-pair stream --set gpu.window=4095
refuses 'power of two' run apenet-pair stream --set nic.dma.queue=63
refuses 'gpu.count' show apenet --set gpu.count=9
report 'parameters that cannot be are refused'

exit $status
