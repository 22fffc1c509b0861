#!/bin/sh
#
# What Gemini's machine file makes of the machine: chips, links, packets.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

near() { # WHAT FOUND LEAST MOST
	awk -v x="$2" -v a="$3" -v b="$4" \
		'BEGIN { exit !(x >= a && x <= b) }' ||
		complain "$1: $2 is not within $3 to $4"
}

figure() { # NAME
	jq -r ".results.$1" "$tmp/out"
}

ends 0 run gemini random bytes=64 load=0.1 warmup=0us measure=1us --json \
	--shape 4x4x4 --links "$tmp/links.csv"
[ "$(jq -r .nodes "$tmp/out")" = 128 ] || complain 'not two nodes on a chip'
report 'GEM-F1: a chip serves two nodes'

# site,port,"name",... of the first chip, number 128; requests only
grep '^128,.*,"[^"]*",[a-z0-9]*,request,' "$tmp/links.csv" |
	sed 's/^[^"]*"\([^"]*\)".*/"\1"/' >"$tmp/chip"
for direction in x+ x- y+ y- z+ z-; do
	links=$(grep -c " $direction[0-7]\"" "$tmp/chip")
	case $direction in
	y*) [ "$links" = 4 ] || complain "$links links in $direction" ;;
	*) [ "$links" = 8 ] || complain "$links links in $direction" ;;
	esac
done
report 'GEM-F3, GEM-F4: eight links to x and z neighbours, four to those in y'

# Three lanes of 6.25 Gb/s carry 2.34375 GB/s; 64 of a packet's 96 B are data.
ends 0 run gemini stream via=nic by=bte bytes=1MiB from=0 to=8 rounds=2 --json
near 'four links of three lanes' "$(figure total_MBps)" 5900 6260
report 'GEM-F4, GEM-F41: one stream fills four links of three lanes'

# Both ways, each direction also carries responses of 6 B.
ends 0 run gemini stream procs=4 by=fma both=yes bytes=64KiB rounds=4 \
	to=8 --json
near 'out of a y pair' "$(figure out_MBps)" 5823 5941
near 'and back' "$(figure back_MBps)" 5823 5941
# One link has a quarter of y's 6,250 MB/s; a tile carries 3 B in 1.25 ns.
ends 0 run gemini stream by=bte bytes=256KiB rounds=1 to=2 \
	--set nic.routing=hashed --json
near 'one of eight links' "$(figure total_MBps)" 1530 1563
ends 0 run gemini stream procs=4 by=fma bytes=64KiB rounds=4 to=8 --json \
	--set router.processors=1 --set router.rows=3 --set router.columns=5 \
	--set topology.links=1,4,2
near 'one tile towards the nodes' "$(figure total_MBps)" 1584 1601
report 'a pair of streams, a flow without choice, a tile have their rates'

ends 0 run gemini random bytes=64 warmup=3us measure=5us --shape 4x4x2 --json
near 'the fraction of the peak' "$(figure fraction_of_peak)" 0.5 1.02
report 'the peak counts parallel links, and wires at their own rate'

# 16 bits, both edges, at 2,400 MHz: 9.6 GB/s, of which 64 in 76 B are data.
ends 0 run gemini stream procs=4 by=fma bytes=64KiB to=2 --json
near 'stores over HyperTransport' "$(figure total_MBps)" 7920 8170
report 'GEM-F2: the bus of a node carries 9.6 GB/s'

# Store, output, Netlink, input, write, event: 660 ns, of which the bus takes 80
# to the card.
ends 0 run gemini pingpong via=nic bytes=8 to=1 --json
near 'a put' "$(figure one_way_ns)" 655 665
report 'GEM-F12: stores are commands, which one side sends and one executes'

# 64 B to the next chip by the network alone, to the chip's other node by the
# network alone, and there from program to program.
clocks() { # ONE TWO THREE [PARAMETER=VALUE]
	times=$1/$2/$3
	found=
	shift 3
	for how in 'via=net to=2' 'via=net to=1' 'via=nic to=1'; do
		ends 0 run gemini pingpong bytes=64 rounds=2 $how --json \
			--set nic.software.poll-period=1ps ${1:+--set "$1"}
		found=$found/$(figure one_way_ns)
	done
	[ "${found#/}" = "$times" ] || complain "$*: ${found#/}, not $times"
}
clocks 265.96 127.692 661.443
# the lanes: 32 phits of 1.28 ns become twice as long
clocks 306.92 127.692 661.443 link.lane-rate=3.125Gb/s
# routers: now they need longer for 32 phits than the lanes, 80 ns
clocks 305 127.692 661.443 router.cycle=2500ps
# interfaces: five cycles of 650 MHz
clocks 265.96 135.384 669.135 router.netlink.packet=15384ps
# HyperTransport: two transfers of 76 B and an event of 28 B
clocks 265.96 127.692 680.194 side.rate=4.8GB/s
report 'GEM-F9: each clock changes its own times'

# The engine takes longer to begin, and less for each line; where they cross
# is nobody's parameter.
ends 0 run gemini crossover to=2 --shape 2x1x1 min=1KiB max=16KiB step=1KiB \
	rounds=1 --json
[ "$(jq '.results | .fma_1024B_ns < .bte_1024B_ns / 2 and
	.fma_16384B_ns > .bte_16384B_ns' "$tmp/out")" = true ] ||
	complain 'block transfers are never faster, or always'
near 'where they cross' "$(figure crossover_B)" 4096 15360
report 'GEM-F62: short transfers are faster by FMA, long ones as blocks'

phits() { # OP BYTES REQUEST RESPONSE
	case $1 in
	put) ends 0 run gemini pingpong via=nic bytes=$2 to=2 --json ;;
	get) ends 0 run gemini gets bytes=$2 to=2 rounds=2 --json ;;
	esac
	[ "$(figure request_phits)" = "$3" ] ||
		complain "$1 of $2 B: request of $(figure request_phits)"
	[ "$(figure response_phits)" = "$4" ] ||
		complain "$1 of $2 B: response of $(figure response_phits)"
}
phits put 8 11 2
phits put 64 32 2
report 'GEM-F47, GEM-F51: writes have 7 phits, 3 for each 8 B, and one more'
phits get 64 8 27
phits get 8 8 6
report 'GEM-F48: responses have 2 phits, and what a get asks for'

# Netlink, five hops and the packet's 32 phits of 1.28 ns; the last chip is
# number 30, at 2,3,1.
route=x+0,x+3,y-1,z+7,x-0
ends 0 run gemini probe route=$route from=3 --json
near 'a probe' "$(figure latency_ns.max)" 685.9 686
[ "$(figure to)" = 60 ] || complain "it came to node $(figure to)"
[ "$(jq -r '.results.hottest_links[].name' "$tmp/out" | tr '\n' /)" = \
	"$(printf 'switch %s/' '1,0,0 x+0' '2,0,0 x+3' '3,0,0 y-1' \
		'3,3,0 z+7' '3,3,1 x-0')" ] || complain 'it took other links'
refuses 'router 2,0,0 has no link y+4' run gemini probe route=x+0,x+3,y+4
refuses 'cannot carry their route' run bgq probe
report 'GEM-F45: a packet takes the ports that its payload names'

# Two nodes out of 2 x 2 x 2 chips are beside the link; neither tables nor
# management keep probes off it.
ends 0 run gemini probe --shape 2x2x2 --json \
	--set 'faults.events=0 ns link 1,0,1 x+5 dies'
[ "$(figure probes)/$(figure lost)/$(figure links_lost)" = 320/2/2 ] ||
	complain "$(figure lost) of $(figure probes) probes were lost"
[ "$(figure first_lost_router)/$(figure first_lost_port)" = 4/11 ] ||
	complain "chip $(figure first_lost_router) is the first"
report 'GEM-F45: probes find the links that do not work'

# Where links do not retry, a corrupted packet is as good as none.
ends 0 run gemini probe --shape 2x1x2 --json --set link.retry=none \
	--set faults.bit-errors=1e-4
[ "$(jq '.results.lost > 0 and .results.lost == .faults.hurt_packets' \
	"$tmp/out")" = true ] ||
	complain "$(figure lost) lost, $(jq -c .faults "$tmp/out")"
report 'a probe that is corrupted on its way does not count as arrived'

refuses 'at most 65536' run gemini random bytes=64 load=0.01 \
	warmup=0us measure=1us --shape 256x256x4
report 'GEM-F50: there are at most 65,536 chips'

# 48 tiles, of which eight face nodes; each link has its own.
ends 0 show gemini
sed -n '/^tiles/,/^inside/p' "$tmp/out" | sed '1d;$d' | tr -s ' ' '\n' |
	sed '/^$/d' >"$tmp/tiles"
[ "$(wc -l <"$tmp/tiles")/$(sort -u "$tmp/tiles" | wc -l)/$(
	grep -c '^p$' "$tmp/tiles")" = 48/41/8 ] ||
	complain 'the tiles that are shown'
report 'which link is at which tile is shown'

# Six neighbours, or four where two are the same chip.
ends 0 run gemini exchange bytes=64 rounds=3 --shape 3x2x3 --json
[ "$(jq .work.packets "$tmp/out")" = $((2 * 3 * 36 * 5)) ] ||
	complain 'it is another number of packets'
refuses 'no node of this machine has a neighbour' run gemini exchange \
	--shape 1x1x1
report 'each node puts to the nodes of its number at the next chips'

# Of 8,192 words hardly any is in the cache, so it is not missed.
for lines in 64 0; do
	ends 0 run gemini amo variables=8192 rounds=8000 --json \
		--set nic.amo.lines=$lines
	near "atomics with a cache of $lines words" "$(figure rate_Mps)" 44.5 46
done
report 'atomics on many words are as fast without a cache'

# Between all hits and all misses neither bound alone holds: the unit begins
# one in 10 ns, and twelve reads of 262.5 ns are under way.  With 128 words and
# 64 lines 13 of the 26 that could begin during a read miss on average, but as
# they come at random the unit now waits for a read and now reads wait for it;
# and one whose word is being read passes the unit twice.
expected() { # WORDS; million a second
	awk -v words="$1" 'BEGIN {
		srand(1)
		rounds = 20000
		while (done < rounds) {
			for (; n > first && ends[first] <= t; first++) {
				w = word[first]
				for (done++; waits[w]; waits[w]--)
					again[last++] = w
				delete ends[first]
				delete reading[w]
			}
			if (next_again < last)
				w = again[next_again++]
			else if (is_stuck)
				w = head
			else
				w = int(rand() * words)
			is_stuck = 0
			if (w in reading) {
				waits[w]++
			} else if (w in used) {
				used[w] = ++clock
				done++
			} else if (n - first == 12) {
				is_stuck = 1
				head = w
				if (ends[first] > t + 10)
					t = ends[first] - 10
			} else {
				ends[n] = t + 262.5
				word[n++] = w
				reading[w] = 1
				if (lines == 64) {
					oldest = ""
					for (i in used)
						if (oldest == "" ||
						    used[i] < used[oldest])
							oldest = i
					delete used[oldest]
				} else {
					lines++
				}
				used[w] = ++clock
			}
			t += 10
		}
		print 1000 * done / t }'
}
for words in 96 128 256; do
	ends 0 run gemini amo variables=$words --json
	rate=$(expected $words)
	near "atomics on $words words, by hand $rate" "$(figure rate_Mps)" \
		$(awk "BEGIN { print 0.98 * $rate, 1.02 * $rate }")
done
report 'atomics on some words wait for reads as a queue does'

# 2,000 operations from each of 32 nodes at a rate of 45 million a second take
# longer than the time-out; all of them are to be served meanwhile.
ends 0 run gemini amo variables=8192 rounds=64000
ends 4 run gemini amo variables=8192 rounds=192000 --set router.patience=1s
grep -q 'the network did not answer in time' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
# Where all wait for long, no more packets are let in than leave.
ends 0 run gemini tornado load=max routing=mixed --shape 1x16x1 warmup=100us \
	measure=100us --set router.packets=2 --set topology.links=1,2,1 \
	--set router.rows=4 --set router.columns=4 --json
near 'a saturated ring' "$(figure throughput_GBps_per_node)" 0.045 0.07
report 'a hot spot starves no node, for packets that enter rings are let in'

refuses '24 links do not fit' run gemini random --shape 4x4
refuses 'one letter for each of the 4' run gemini random --shape 4x4x4x4
refuses '32 links do not fit' run gemini random --set topology.links=8,4,4
refuses 'did you mean nic.orb' run gemini random --set nic.orbb=3
refuses 'not a parameter of this machine' run gemini random \
	--set nic.dma.reads=3
report 'refused: other dimensions, links that make no 40 tiles, parameters'

run run gemini hotspot hashed=0.124 --shape 3x4x1 --seed 313 \
	--set topology.connection=2 warmup=600ns measure=5us --json
jq -e '[.. | .max_use? // empty] | length > 3 and max <= 1' "$tmp/out" \
	>"$tmp/jq" || complain "$(cat "$tmp/jq" "$tmp/err")"
report 'links to nodes carry no more than they can'

exit $status
