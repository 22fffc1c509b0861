#!/bin/sh
#
# No workload on any machine reports a rate above what links, buses and engines
# can carry, however many processes share them and however far apart they end.
# The bounds are computed here by hand from the machines' parameters, in GB/s
# of payload:
#
#   cable  all links between node 0 and the node that it sends to
#   bus    a node's bus, one way
#   both   the same, both ways together
#   ports  all links of a node, one way
#
# $most is a number of processes that a node can have.
set -u
. "$(dirname "$0")/tap.sh"

# A line for each figure of the JSON in $tmp/out that is a rate: its name and
# its value in GB/s.  A get and an addition are rates, too.
rates() {
	sed -n 's/^ *"\([A-Za-z0-9_]*\)": \([0-9.e+-]*\),\{0,1\}$/\1 \2/p' \
		"$tmp/out" | awk -v bytes="$1" '
		$1 ~ /^peak/ { next }
		$1 ~ /GBps/ { print $1, $2 }
		$1 ~ /MBps/ { print $1, $2 / 1e3 }
		$1 == "gets_per_us" { print $1, $2 * bytes / 1e3 }
		$1 == "packets_per_us" { print $1, $2 * bytes / 1e3 }'
}

# Sets $bound, that of a workload's figure, as awk computes it.
bound_of() { # WORKLOAD FIGURE
	case "$1 $2" in
	exchange*\ per_link*) bound="least($cable, least($ports, $bus))" ;;
	exchange*\ total* | mirror*\ both*)
		bound="least($both, 2 * $ports)" ;;
	mirror*\ total*) bound="$nodes * least($bus, $ports)" ;;
	stream*both=yes*\ total*) bound="least($both, 2 * $cable)" ;;
	stream*by=flush*) bound=$bus ;;
	*via=net* | random* | neighbours* | complement*) bound=$ports ;;
	fan* | alltoall* | exchange*\ throughput*)
		bound="least($ports, $bus)" ;;
	*) bound="least($cable, $bus)" ;;
	esac
}

# WORKLOAD KEY=VALUE...; a rate is what was counted over what it took, so it is
# at most the bound, but for the digits printed and, where packets are counted
# in a window of time, one packet at its edge.
bounded() {
	run run $machine "$@" --json --quiet
	case $code in
	0 | 4) ;;
	*) complain "weft run $machine $*: $code: $(cat "$tmp/err")" ;;
	esac
	case " $* " in
	*" bytes="*) bytes=${*#*bytes=} bytes=${bytes%% *} ;;
	*) bytes=8 ;;
	esac
	rates $bytes >"$tmp/rates"
	[ -s "$tmp/rates" ] || complain "weft run $machine $*: no rate"
	# all figures in one process: hundreds of runs have some
	while read -r name value; do
		bound_of "$*" "$name"
		echo "look(\"$name\", $value, $bound)"
	done <"$tmp/rates" >"$tmp/looks"
	awk "function least(a, b) { return a < b ? a : b }
		function look(name, value, bound) {
			if (!(value > 0 && value <= bound * 1.00001))
				print name \" is \" value \
					\" GB/s, more than \" bound
		}
		BEGIN { $(cat "$tmp/looks") }" >"$tmp/over" 2>&1
	[ ! -s "$tmp/over" ] ||
		complain "weft run $machine $*: $(cat "$tmp/over")"
}

pairs() { # TO
	for procs in 1 2 $most; do
		for op in put get; do
			bounded sweep op=$op procs=$procs to=$1 min=32KiB \
				max=128KiB rounds=3 burst=4
		done
		bounded stream procs=$procs to=$1 bytes=20000 rounds=6
		bounded stream procs=$procs to=$1 bytes=20000 rounds=6 both=yes
	done
	bounded stream via=msg to=$1 bytes=20000 rounds=6 both=yes
	bounded sweep via=msg op=get to=$1 min=32KiB max=64KiB rounds=2
	bounded sweep to=$1 min=8 max=64 rounds=3 burst=16
	bounded pingpong via=nic to=$1 bytes=100000 rounds=3
	bounded gets to=$1 bytes=512 batch=64 rounds=300
}

all_nodes() {
	bounded exchange bytes=20000 rounds=3
	bounded exchange bytes=20000 rounds=9 driver=pipelined depth=3
	bounded mirror bytes=20000
	bounded alltoall via=nic bytes=4096
	bounded alltoall via=msg bytes=4096
	bounded random load=max measure=20us
}

machine='torus --shape 4x4'
# 12.5 GB/s, 2048 of 2096 B; PCIe of 25 GB/s, 256 of 280 B
cable=12.2138 bus=22.8572 both=45.7143 ports=48.8550 nodes=16 most=4
pairs 1
all_nodes
bounded fan procs=3 bytes=20000
bounded fan procs=3 bytes=20000 way=in
report 'a torus reports no more than its links and buses carry'

ports=12.2138
machine='fattree --shape 16'
pairs 5
all_nodes
machine='dragonfly --shape 64'
pairs 9
bounded fan procs=3 bytes=20000 way=in
report 'nor do trees and dragonflies'

machine=bgq-board
# 2 GB/s, 512 of 560 B; six links of a node have a neighbour, and its memory is
# faster than all of them
cable=1.82858 bus=1000 both=1000 ports=10.9715 nodes=32
pairs 1
all_nodes
bounded fan procs=3 bytes=20000
bounded fan procs=3 bytes=20000 way=in
for op in broadcast allreduce reduce; do
	bounded collective op=$op by=hardware bytes=64KiB rounds=4
done
machine=bgq-io
# the clients have one IO node, with two links of 2 GB/s and PCIe of 4 GB/s
cable=3.65715 bus=4
bounded files clients=16 bytes=64KiB rounds=2
report "nor does Blue Gene/Q, nor its trees and IO nodes"

machine=qsnet2-16
# 1.333 GB/s, 512 of 585 B; PCI-X of 8 B in 7.5 ns, for both ways
cable=1.16667 bus=1.06667 both=1.06667 ports=1.16667 nodes=16 most=2
pairs 5
all_nodes
bounded events bytes=64
report "nor does QsNetII, whose bus is for both ways"

machine='gemini --shape 1x3x1' most=4
# four links of 2.34375 GB/s, 64 of 81 B of an answer to a get; HyperTransport
# of 9.6 GB/s, 64 of 76 B; a node's link of 12.48 GB/s
cable=7.40741 bus=8.08422 both=17.2706 ports=9.86075 nodes=6
pairs 2
all_nodes
for by in fma bte; do
	bounded stream by=$by procs=4 to=2 bytes=20000 rounds=6 both=yes
done
bounded fan procs=4 bytes=20000
bounded fan procs=4 bytes=20000 way=in
report 'nor does Gemini with several processes'

machine=apenet-pair
# 2.8 GB/s, 4096 of 4176 B, 8 of 10 words; eight lanes of PCIe at 0.5 GB/s, 128
# of 152 B
cable=2.19709 bus=3.36843 both=6.73685 ports=2.19709 nodes=2
pairs 1
all_nodes
bounded stream by=flush bytes=1MiB rounds=3
for memories in 'source=gpu0' 'target=gpu0' 'source=gpu0 target=gpu0'; do
	bounded stream $memories bytes=100000 rounds=3
	bounded sweep $memories min=32KiB max=128KiB rounds=2 burst=3
done
report 'nor does APEnet+, from and to GPUs, too'

for variables in 1 64; do
	run run gemini --shape 3x2x2 amo variables=$variables senders=16 \
		rounds=8000 --json --quiet
	rate=$(sed -n 's/.*"rate_Mps": \([0-9.]*\).*/\1/p' "$tmp/out")
	# one in 10 ns (nic.amo.interval)
	awk "BEGIN { exit !(${rate:-1000} <= 100) }" ||
		complain "amo variables=$variables: $rate million a second"
done
report 'nor do atomic operations exceed their engine'

exit $status
