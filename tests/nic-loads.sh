#!/bin/sh
#
# Workloads that run programs on nodes.  A run fails by itself unless every
# byte is right, each once, and every counter at zero; here are the figures,
# the same run on other numbers of threads, and what is refused.
set -u
. "$(dirname "$0")/tap.sh"

most=20000
workers='1 2 7'
rounds=500
if [ "${WEFT_SLOW-}" ]; then
	most=1500
	workers='1 7'
	rounds=100
fi

works() { # ARGUMENTS
	run run "$@" --json --quiet
	[ $code -eq 0 ] || complain "weft run $*: $code: $(cat "$tmp/err")"
}

between() { # KEY LOW HIGH
	awk -v x="$(value "$1")" -v a="$2" -v b="$3" \
		'BEGIN { exit !(x != "" && x >= a && x <= b) }' ||
		complain "$1 is $(value "$1"), not $2 to $3"
}

# --- latency and rates ---

# The paper: 622 ns at one hop, 1166 at 13, and 98 of software.
works bgq-midplane pingpong via=nic to=1 rounds=$rounds \
	--set topology.wrap=mesh
between hardware_ns 610 634
between one_way_ns 708 732
works bgq-midplane pingpong via=nic to=511 rounds=$rounds \
	--set topology.wrap=mesh
between hardware_ns 1143 1189
[ "$(value via)" = nic ] || complain "via $(value via)"
report 'ping-pong by programs takes what the paper measured, within 2 %'

works bgq-board pingpong via=nic to=17 bytes=5000 rounds=5
works bgq-board pingpong via=nic to=17 bytes=1 rounds=5 routing=dynamic
works bgq-board pingpong to=17 rounds=5
[ "$(value via)" = net ] || complain "via $(value via)"
report 'ping-pong of many packets, and that of the network'

neighbour() { # BYTES ROUNDS PAPER
	works bgq-loop exchange bytes=$1 rounds=$2
	between total_GBps "$(awk "BEGIN { print $3 * 0.98 }")" \
		"$(awk "BEGIN { print $3 * 1.02 }")"
}

neighbour 4KiB 100 17.0
neighbour 8KiB 60 23.0
neighbour 16KiB 40 27.9
neighbour 32KiB 20 31.3
neighbour 64KiB 10 33.3
[ "${WEFT_SLOW-}" ] || neighbour 1MiB 2 35.4
report 'the looped-back node exchanges what the paper measured, within 2 %'

works bgq-loop exchange bytes=4KiB rounds=100 driver=pipelined depth=4
between total_GBps 25 36
works bgq-loop exchange bytes=5MiB rounds=1
between total_GBps 23 30
report 'a pipelined driver is faster, and DDR is slower'

works bgq-board exchange bytes=3000 rounds=4
works bgq exchange bytes=777 rounds=5 driver=pipelined depth=3 --shape 3x1x2
works bgq exchange bytes=1 rounds=3 --shape 4x5 \
	--set topology.wrap=mesh,torus
report 'neighbours on boards, rings of two, and the edges of meshes'

works bgq alltoall via=nic bytes=1300 --shape 4x3x2
works bgq alltoall via=nic bytes=1300 --shape 4x3x2 data=synthetic
works bgq alltoall via=nic bytes=1300 --shape 4x3x2 driver=messages fifos=3
works bgq-board alltoall via=nic bytes=8KiB routing=deterministic
between fraction_of_peak 0.3 1
report 'all-to-all by programs, with real bytes and without'

works bgq-board sweep max=16KiB rounds=3
between 8B_ns 690 760
between 16384B_GBps 1.75 1.83
works bgq-board sweep op=get to=21 max=16KiB rounds=3
between 16384B_GBps 1.75 1.83
report 'puts and gets of all sizes'

works qsnet2-16 sweep by=sten to=15 max=16KiB rounds=3
between 8B_ns 1000 1300
between 16384B_GBps 0.38 0.45
works qsnet2-16 sweep by=dma to=15 max=16KiB rounds=3
between 8B_ns 1900 2200
between 16384B_GBps 0.84 0.89
works qsnet2-16 sweep to=15 min=1 max=16KiB rounds=3
between 1B_ns 1000 1300
between 16384B_GBps 0.84 0.89
works qsnet2-16 sweep op=get to=15 max=16KiB rounds=12
between 8B_ns 2200 2600
between 16384B_GBps 0.6 0.8
report 'the same on QsNetII, by short packets and by DMAs'

works bgq-board alltoall via=nic fifos=64 bytes=512
report 'setting up many FIFOs may take longer than others wait'

# --- random messages ---

works bgq-board storm kinds=all count=$most
works bgq storm kinds=all count=$most --shape 3x4 --seed 2
works bgq storm kinds=all count=$((most / 4)) lanes=5 --shape 5x2x3 --seed 3 \
	--set topology.wrap=torus,mesh
works bgq-loop storm kinds=all count=$((most / 4)) --seed 4
works bgq storm kinds=all count=$((most / 4)) --shape 2 lanes=16 \
	--set link.payload=64
report 'random messages of all kinds arrive whole'

# --- the same, whatever the number of threads ---

same() { # ARGUMENTS
	for threads in $workers; do
		works "$@" --threads $threads
		[ -n "$(value digest)" ] || complain 'no digest'
		echo "$(value digest) $(value sim_time_ns)"
	done | sort -u >"$tmp/same"
	[ "$(wc -l <"$tmp/same")" -eq 1 ] ||
		complain "$*: $(tr '\n' ';' <"$tmp/same")"
}

same bgq-board pingpong via=nic to=31 bytes=600 rounds=20
same bgq exchange bytes=2000 rounds=3 --shape 4x3x2
same bgq exchange bytes=2000 rounds=9 driver=pipelined --shape 4x3x2
same bgq alltoall via=nic bytes=700 --shape 4x3x2
same bgq alltoall via=nic bytes=700 driver=messages --shape 4x3x2
same bgq-board sweep op=get max=1KiB rounds=3
same qsnet2-16 sweep max=4KiB rounds=3
same bgq storm kinds=all count=2000 --shape 4x3x2
report "$workers threads do the same to the picosecond"

# --- mistakes ---

refused 'could not see the put' run bgq-board pingpong via=nic bytes=0
refused 'same node' run bgq-board pingpong via=nic to=0
refused 'same node' run bgq-board sweep to=0
refused 'min: larger' run bgq-board sweep min=16 max=8
refused 'want auto or put' run bgq-board sweep by=dma
refused 'only one transfer method' run qsnet2-16 sweep op=get by=dma
refused '0 to 31' run bgq-board sweep to=32
refused 'no node' run bgq exchange --shape 1
refused 'host.memory' run bgq-board exchange bytes=256MiB \
	--set host.memory=1GiB
refused 'host.memory' run bgq-board storm kinds=all --set host.memory=32MiB
refused 'at least two' run bgq alltoall via=nic --shape 1
refused '5 dimensions' run bgq exchange --shape 2x2x2x2x2x2
refused 'message unit addresses' run bgq alltoall via=nic bytes=16MiB \
	--set host.memory=1000GiB --shape 64x64
run run bgq alltoall via=nic bytes=16MiB data=real \
	--set host.memory=32GiB --shape 8x8x8
judge 4 'GiB of memory'
report 'mistakes are told in a line, with exit code 2'

exit $status
