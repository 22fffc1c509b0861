#!/bin/sh
#
# QsNetII's interface as a user sees it: pings, gets, complement traffic, what
# platforms and choices of the design make of them, and its machine file.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

many='2 7'
much='bytes=256KiB rounds=40'
ping='pingpong via=nic by=sten rounds=200'
sizes=8
[ "${WEFT_SLOW-}" ] && much='bytes=256KiB rounds=10' sizes=64 many=7

figure() { # NAME ARGUMENTS: in thousandths
	name=$1
	shift
	ends 0 run "$@" --json
	jq ".results.$name * 1000 | round" "$tmp/out"
}

within() { # FOUND LEAST MOST
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] ||
		complain "$1, want $2 to $3 thousandths"
}

# --- the card's memory ---

# A line of 64 B in 84.1 ns, two at a time, and then a port's 1.6 GB/s; what is
# in the cache goes by both ports.
for x in 1=761 2=1522 4=1600; do
	rate=$(figure rate_MBps qsnet2-16 card warm=1 \
		--set nic.cache.fills=${x%=*})
	within $(((rate + 500) / 1000)) ${x#*=} ${x#*=}
done
rate=$(figure rate_MBps qsnet2-16 card bytes=16KiB warm=1 rounds=20 ports=2)
within $(((rate + 500) / 1000)) 3200 3200
report "QSN-F14: card memory gives what fills and ports allow"

run run qsnet2-16 card bytes=16KiB warm=1 rounds=9 --json
[ "$(jq -c '.card | [.thread_misses, .thread_hits]' "$tmp/out")" = \
	'[256,2304]' ] || complain "$(jq -c .card "$tmp/out")"
run run qsnet2-16 card --set nic.cache.on=no --json
[ "$(jq '.card.cache_hits + .card.cache_misses' "$tmp/out")" = 0 ] ||
	complain 'a cache that is off counts'
refuses 'nic.memory.size leaves' run qsnet2-16 card bytes=64MiB
refuses 'are not a power of two' run qsnet2-16 card \
	--set nic.cache.size=33KiB
report "the card's cache is counted by unit"

# --- the barrier by the network ---

# The network is crossed three times, each way through L levels in 74 L - 13 ns;
# the rest is cards and hosts: see weft-elan(7).
barrier='collective op=barrier by=hardware rounds=20'
for x in 16.opteron=1779 512.opteron=2445 16.itanium2=2457 512.itanium2=3123; do
	want=${x#*=} who=${x%=*}
	within "$(figure time_ns qsnet2-${who%.*} $barrier \
		--set nic.platform=${who#*.})" $((want * 980)) $((want * 1020))
done
report 'QSN-F78: a barrier takes three ways through the network'

for x in 16=17 64=65; do
	low=$(figure time_ns qsnet2 $barrier --shape ${x%=*})
	high=$(figure time_ns qsnet2 $barrier --shape ${x#*=})
	within $((high - low)) 210000 234000
done
report 'QSN-N68: each level adds a step to barriers'

for x in host=3940 cpu=4200; do
	want=${x#*=}
	within "$(figure time_ns qsnet2-512 $barrier --set nic.hgsync=${x%=*} \
		--set nic.platform=itanium2)" $((want * 980)) $((want * 1020))
done
report 'QSN-N69: neither words in host memory nor a CPU would do'

run run qsnet2-64 $barrier --json
first=$(jq .digest "$tmp/out")
for count in 2 3; do
	run run qsnet2-64 $barrier --threads $count --json
	[ "$(jq .digest "$tmp/out")" = "$first" ] || complain "$count threads"
done
run run qsnet2-16 $barrier --budget --json
[ $code -eq 0 ] || complain "budget: $code: $(cat "$tmp/err")"
refuses 'processes per node need by=software' run qsnet2-16 $barrier procs=2
report 'barriers are the same for any number of threads'

# A node whose program died comes back, and denies queries for ever; one that
# stays away stops rank 0's queue.
cat > "$tmp/away.yaml" << 'EOF'
schema: 1
faults:
  events:
    - 200 us node 7 dies
EOF
for by in card host cpu; do
	run run qsnet2-64 $barrier --faults "$SRC/examples/faults.yaml" \
		--set nic.hgsync=$by
	[ $code -eq 3 ] || complain "$by: $code"
	grep -q 'node 0, thread 0: elan_hgsync, round 6' "$tmp/err" ||
		complain "$by: $(cat "$tmp/err")"
	run run qsnet2-64 $barrier --faults "$tmp/away.yaml" \
		--set nic.hgsync=$by
	[ $code -eq 3 ] || complain "$by: $code"
	grep -q "elan_hgsync: rank 0's queue stopped" "$tmp/err" ||
		complain "$by: $(cat "$tmp/err")"
done
report 'a barrier to which somebody never comes ends the run'

# --- messages that are matched on the card ---

# A put's time from card to card, and the match: the swap's 65 ns and 47 cycles.
matched='pingpong via=nic by=match bytes=8 warm=1 rounds=20'
within "$(figure network_ns qsnet2-16 $matched)" 601000 601000
within "$(figure network_ns qsnet2-4096 $matched to=4095)" 971000 971000
within "$(figure network_ns qsnet2-16 $matched --set nic.match.cycles=57)" \
	651000 651000
report 'QSN-N64: a match takes 300 ns'

# The receives are posted: the thread is busy for 49 cycles each.
many_of='stream via=nic by=match bytes=8 --set nic.cache.on=no'
a=$(figure took_ns qsnet2-16 $many_of rounds=20)
b=$(figure took_ns qsnet2-16 $many_of rounds=40)
within $(((b - a) / 20)) 244500 245500
run run qsnet2-16 stream via=nic by=match bytes=8 rounds=300 --json
[ "$(jq .card.matched "$tmp/out")" = 300 ] ||
	complain "$(jq -c .card "$tmp/out")"
report 'the thread takes one message after the other'

run run qsnet2-16 pingpong via=nic by=match bytes=8 rounds=4 --follow 0.2
grep -q 'match, slot' "$tmp/out" && grep -q 'copy, elements 1' "$tmp/out" ||
	complain 'no match to be seen'
refuses 'needs receives' run qsnet2-16 exchange via=nic by=match bytes=8
refuses 'nic.thread.icache' run qsnet2-16 pingpong via=nic \
	--set nic.thread.icache=3KiB
report 'a matched message can be followed'

# The words of all queues are read through their check bits.
ends 0 run qsnet2-16 storm count=100 --set faults.memories=1e-3 --json
[ "$(jq '.faults.corrected_words > 10' "$tmp/out")" = true ] ||
	complain 'no word was corrected'
[ "$(jq '.faults.uncorrectable_words' "$tmp/out")" = 0 ] ||
	complain 'a word was not corrected'
report "QSN-F15: single bad bits of card memory are mended"

# --- puts and DMAs ---

put=$(figure one_way_ns qsnet2-16 $ping bytes=8)
dma=$(figure one_way_ns qsnet2-16 pingpong via=nic by=dma rounds=200 bytes=8)
within "$put" 833000 867000
within "$dma" 1666000 1734000
stores=$(figure total_MBps qsnet2-16 stream by=sten places=1 $much)
reads=$(figure total_MBps qsnet2-16 stream by=dma places=1 $much)
[ "$reads" -gt $((2 * stores)) ] || complain "$stores and $reads MB/s"
report "QSN-F17: stores of a core have low latency, DMAs have bandwidth"

later=$(figure one_way_ns qsnet2-16 pingpong via=nic by=dma rounds=200 bytes=8 \
	--set nic.software.dma=2us)
within $((later - dma)) 1995000 2005000
report "what software does before a DMA's command is part of its latency"

within "$(figure stored_MBps qsnet2-16 stream by=sten places=1 $much)" \
	443000 457000
for burst in 32B:284000:285000 16B:164000:165000; do
	within "$(figure stored_MBps qsnet2-16 stream by=sten places=1 $much \
		--set nic.opteron.pio-burst=${burst%%:*})" \
		"$(echo $burst | cut -d: -f2)" "$(echo $burst | cut -d: -f3)"
done
within "$(figure stored_MBps qsnet2-16 stream by=sten places=1 $much \
	--set nic.platform=itanium2)" 591000 609000
report "QSN-N29, QSN-N30: longer bursts of stores are faster"

xeon=$(figure one_way_ns qsnet2-16 $ping --set nic.platform=xeon)
itanium2=$(figure one_way_ns qsnet2-16 $ping --set nic.platform=itanium2)
within "$xeon" 1117000 1163000
within "$itanium2" 1568000 1632000
report "QSN-N71 to QSN-N73: a write's latency depends on the platform"

# 82.5 + 157.5 ns in the cards, 200 of cable, 11 switches of 21; the first of
# three packets fetches its route from card memory, in 84.096 ns.
ends 0 run qsnet2-4096 pingpong via=nic by=sten to=4095 rounds=3 --json \
	--set nic.mmu.on=no
holds '(.results.network_ns - 84.096 / 3 - 671) | fabs < 1e-9'
ends 0 run qsnet2-16 pingpong via=nic by=sten to=1 rounds=3 --json \
	--set nic.mmu.on=no
holds '(.results.network_ns - 84.096 / 3 - 301) | fabs < 1e-9'
report "QSN-N63: 671 ns across 4,096 nodes, without the match"

# Both directions share one bus.
ends 0 run qsnet2-16 stream by=dma both=yes places=1 $much --json
holds '.results | .total_MBps < 2 * .out_MBps * 1.01 and
	.out_MBps < 460 and .back_MBps < 460 and
	.out_MBps > 420 and .back_MBps > 420'
report "QSN-N53: both ways together are not faster than one"

# --- the way of a DMA ---

# Descriptor, dispatch, prefetch, assembly, switches, input, events; the pages
# of both ends are cold.
steps() { # of message 0 of a DMA
	ends 0 run qsnet2-16 pingpong via=nic by=dma bytes=8 rounds=1 \
		--budget --follow 0 --json "$@"
}
steps
holds '[.follow.steps[] | .where |
	sub("node [0-9]+, "; "") | sub("^switch .*"; "switch") |
	sub("^out by link.*|^reception.*"; "switch")] |
	reduce .[] as $x ([]; if .[-1] == $x then . else . + [$x] end) ==
	["card, command queue", "card, command processor",
	"DMA engine, prefetcher, page miss", "DMA engine, assembler",
	"switch", "input, page miss"]'
holds '.follow.is_complete'
holds '[.follow.steps[] | select(.cause == "translation") |
	.until_ps - .from_ps] ==
	[120000, 120000]'
steps --set nic.mmu.demand=yes
holds '[.follow.steps[] | select(.cause == "translation") |
	[.where, .until_ps - .from_ps > 15000000]] ==
	[["node 0, DMA engine, prefetcher, page fault", true],
	["node 0, card, page fault at the target", true],
	["node 1, input, page miss", false]]'
report "QSN-F80: a DMA takes seven steps, named, in order, with their times"

# --- what the design is for ---

ends 0 run qsnet2-16 stream by=dma places=1 $much --json
holds '.results | .read_B == 512 and .write_B == 512'
ends 0 run qsnet2-16 stream by=dma places=1 $much --set nic.merge=128B --json
holds '.results.write_B == 128'
within "$(figure total_MBps qsnet2-16 stream by=dma places=1 $much \
	--set nic.merge=128B --set nic.platform=xeon)" 618000 640000
report "QSN-N67: without merged writes a receiver takes 632 MB/s"
within "$(figure total_MBps qsnet2-16 stream by=dma places=1 $much \
	--set nic.dma.reads=1 --set nic.platform=itanium2)" 383000 398000
within "$(figure total_MBps qsnet2-16 stream by=dma places=1 $much \
	--set nic.dma.reads=2 --set nic.platform=itanium2)" 740000 860000
report "QSN-N24: one read at a time brings 390 MB/s"

within "$(figure crossover_B qsnet2-16 crossover step=$sizes rounds=4)" \
	1275000 1725000
within "$(figure crossover_B qsnet2-16 crossover step=$sizes rounds=4 \
	--set nic.dma.cut-through=yes)" 600000 780000
report "QSN-F81: packets of DMAs are whole before they leave"
ends 0 run qsnet2-16 crossover step=504 --json
holds '.results | .put_8B_ns < .dma_8B_ns and .put_512B_ns < .dma_512B_ns and
	.first_B == .crossover_B and .crossover_B % 504 == 8'
ends 0 run qsnet2-16 crossover max=512B step=504 --json
holds '.results | (has("crossover_B") | not) and .put_8B_ns < .put_512B_ns'
report "crossover tells what it measured, and no crossover where there is none"

# --- gets ---

one=$(figure get_ns qsnet2-64 gets)
within "$one" 2185000 2415000
# from pages that have been used before
within "$(figure get_ns qsnet2-64 gets rounds=200 to=63 \
	--set nic.mmu.on=no)" 2250000 2320000
two=$(figure get_ns qsnet2-64 gets batch=2)
eight=$(figure get_ns qsnet2-64 gets batch=8)
[ "$two" -lt $((one * 6 / 10)) ] || complain "batches of two: $two, $one"
[ "$eight" -lt $((one / 3)) ] || complain "batches of eight: $eight, $one"
queues=$(figure get_ns qsnet2-64 gets batch=64 queues=8)
queue=$(figure get_ns qsnet2-64 gets batch=64)
[ "$queues" -lt $((queue * 9 / 10)) ] || complain "$queues, $queue"
ends 0 run qsnet2-64 gets batch=7 bytes=512 rounds=100 from=63 --seed 9 --json
holds '.results.get_ns > 500'
report "QSN-F82: gets in batches, to any nodes"

# --- hosts ---

first=$(figure one_way_ns qsnet2-16 $ping)
within "$(figure one_way_ns qsnet2-16 $ping cpu=1)" $((first + 50000)) \
	$((first + 100000))
within "$(figure one_way_ns qsnet2-16 $ping cpu=3 --set nic.cpus=4)" \
	$((first + 150000)) $((first + 300000))
ends 2 run qsnet2-16 $ping cpu=2
# What each of a host's times does to the latency of messages: as much as it
# is more, or of a burst's overhead a part that is hidden.
mpi() { # ARGUMENTS
	figure one_way_ns qsnet2-16 pingpong via=msg "$@"
}
plain=$(mpi)
within "$(mpi --set nic.opteron.see=176ns)" $((plain + 99000)) \
	$((plain + 101000))
within "$(mpi --set nic.opteron.store=300ns)" $((plain + 99000)) \
	$((plain + 101000))
within "$(mpi --set nic.opteron.pio-overhead=182.5ns)" $((plain + 90000)) \
	$((plain + 600000))
[ "$(mpi --set nic.platform=xeon)" -gt "$plain" ] || complain "xeon"
[ "$(mpi --set nic.platform=itanium2)" -gt \
	"$(mpi --set nic.platform=xeon)" ] || complain "itanium2"
report "QSN-F84: hosts differ, and so do their CPUs"

ends 4 run qsnet2-16 $ping bytes=512 --set nic.retry.limit=0 \
	--set nic.retry.timeout=1us --set nic.retry.per-node=0ns \
	--set nic.retry.round-trips=0
grep -q 'node 0: the Elan4 interface reports: too many retries: 1,' \
	"$tmp/err" || complain "$(cat "$tmp/err")"
report "an interface reports by its own name"

# --- complement traffic ---

sixteen=$(figure both_ways_MBps_per_node qsnet2-16 mirror)
within "$sixteen" 855000 905000
for nodes in 2 64 256; do
	within "$(figure both_ways_MBps_per_node qsnet2 mirror bytes=32KiB \
		rounds=4 --shape $nodes)" \
		$((sixteen * 98 / 100)) $((sixteen * 102 / 100))
done
report "QSN-F85: complement traffic through interfaces grows with the machine"
# Whoever shares one way up shares its 1,160 MB/s: four times four nodes, as
# long as nobody takes congestion for loss and tries another one.
single=$(figure both_ways_MBps_per_node qsnet2-16 mirror \
	--set routing.spread=single)
within "$single" 500000 580000
within "$(figure both_ways_MBps_per_node qsnet2-64 mirror bytes=32KiB \
	--set routing.spread=single)" 120000 \
	$((single * 3 / 10))
report "QSN-G7: not where all take the same way up"
ends 0 run qsnet2 mirror --shape 5 --json
holds '.results | .total_GBps * 1000 / 4 * 2 - .both_ways_MBps_per_node |
	fabs < 0.01'
report "of an odd number of nodes one is idle"

# --- the same on any number of threads ---

same() { # ARGUMENTS
	ends 0 run "$@" --json --threads 1
	digest=$(jq -r '.digest, .results' "$tmp/out")
	for threads in $many; do
		ends 0 run "$@" --json --threads $threads
		[ "$(jq -r '.digest, .results' "$tmp/out")" = "$digest" ] ||
			complain "$threads threads: another result"
	done
	report "$*: the same on $many threads"
}

same qsnet2-16 pingpong via=nic by=sten bytes=1000 to=15 rounds=20
same qsnet2-16 stream by=dma both=yes places=1 bytes=10000 to=15 rounds=20
same qsnet2-64 gets batch=16
same qsnet2-16 crossover step=64 rounds=2
same qsnet2-64 mirror bytes=4KiB
same qsnet2-16 mirror bytes=16KiB --set routing.spread=single

# --- the machine file ---

ends 0 params --json
jq '[.parameters[] | select(.workload == null and
	(.name | startswith("nic."))) | {name, value: .default, source}]' \
	"$tmp/out" >"$tmp/defaults"
ends 0 params "$src/machines/qsnet2.yaml" --json
jq '[.parameters[] | select(.name | startswith("nic.")) |
	select(.name != "nic.kind") | {name, value, source}]' \
	"$tmp/out" >"$tmp/file"
jq -e 'length > 35' "$tmp/file" >/dev/null || complain "too few"
jq -e --slurpfile d "$tmp/defaults" 'all(. as $x | $d[0] | index($x))' \
	"$tmp/file" >/dev/null ||
	complain "$(jq -c --slurpfile d "$tmp/defaults" \
		'[.[] | select(. as $x | $d[0] | index($x) | not)]' \
		"$tmp/file")"
report "qsnet2 says what the tables say, with the same sources"
ends 0 params qsnet2-16 --json
holds '[.parameters[].name | select(startswith("host."))] == ["host.memory"]'
report "a node has memory, and nothing that is only Blue Gene/Q's"

# A name that both interfaces have is that of the machine's own.
ends 0 run qsnet2-16 pingpong via=nic by=sten rounds=5 --json
plain=$(jq -r .digest "$tmp/out")
ends 0 run qsnet2-16 pingpong via=nic by=sten rounds=5 \
	--set nic.software.poll-period=300ns --json
[ "$(jq -r .digest "$tmp/out")" != "$plain" ] || complain "nothing changed"
ends 0 params qsnet2 --set nic.software.poll-period=300ns --json
holds '[.parameters[] | select(.name == "nic.software.poll-period") |
	[.value, .from]] == [["300 ns", "--set"]]'
ends 0 params bgq --set nic.software.poll-period=300ns --json
holds '[.parameters[] | select(.name == "nic.software.poll-period") |
	[.value, .default, .from]] == [["300 ns", "60 ns", "--set"]]'
report "variants may share a name"

# --- bad input ---

refuses 'nodes 0 to 15' run qsnet2-16 $ping to=16
refuses 'the same node' run qsnet2-16 $ping to=0
refuses 'a multiple of' run qsnet2-16 $ping bytes=12
refuses 'at most 512' run qsnet2-16 gets to=1 bytes=1KiB
refuses 'unknown key "mode"' run qsnet2-16 gets to=1 mode=stream
refuses 'unknown key "batch"' run qsnet2-16 $ping batch=2
refuses 'message unit has no "sten" (want auto or put)' run bgq-board $ping
refuses 'two transfer methods' run bgq-board crossover
refuses 'host.memory of' run qsnet2-16 $ping --set host.memory=1GiB
refuses 'larger than max' run qsnet2-16 crossover min=2KiB max=1KiB
refuses 'a multiple of' run qsnet2-16 crossover step=12
refuses 'the same node' run qsnet2-16 crossover from=1
refuses 'nodes 0 to 15' run qsnet2-16 gets from=16
refuses 'a multiple of' run qsnet2-16 gets bytes=9
refuses 'two nodes' run qsnet2 gets --shape 1
refuses 'two nodes' run qsnet2 mirror --shape 1
refuses 'a multiple of' run qsnet2 mirror bytes=9
report "pings and the like that cannot be are refused"
refuses 'host.l2.read is not a parameter' show qsnet2 \
	--set host.l2.read=1ns
refuses 'nic.mmio-store is not a parameter' show qsnet2 \
	--set nic.mmio-store=1ns
refuses 'nic.outstanding is not a parameter' show bgq --set nic.outstanding=2
refuses 'given twice' show qsnet2 --set nic.merge=128B --set nic.merge=256B
refuses 'is not one of' show qsnet2 --set nic.platform=alpha
report "so are parameters of another interface"

# A get's time-out is 20 ms; what has been answered needs none.
run run qsnet2-64 gets batch=16 --json
[ "$(jq '.sim_time_ns < 1e6' "$tmp/out")" = true ] ||
	complain "$(jq .sim_time_ns "$tmp/out") ns"
report 'clocks that nobody waits for keep no run going'

# Reads of one instant come back in order after 65,536 events, too: a DMA's
# last word is its last.
ends 0 run qsnet2 crossover --shape 7 --set link.trailer=64 --json
report 'numbers of events that begin anew change no order'

# Of tables of pages, too, which the card writes and reads at the first use.
memories='schema: 1\nfaults: { memories: [1e-3, double 1e-2] }\n'
printf "$memories" >"$tmp/memories.yaml"
for seed in 2 5 7 9 10; do
	run run qsnet2-16 blocks --faults "$tmp/memories.yaml" --seed $seed
	[ $code -eq 0 ] || [ $code -eq 3 ] ||
		complain "$seed: $code: $(cat "$tmp/err")"
done
report 'no bad word of card memory becomes wrong bytes'

# A word is waited for in each packet of a block, whatever its length.
for block in 64 468 512; do
	run run qsnet2-16 crossover rounds=8 --set nic.dma.read-block=$block \
		--set faults.bit-errors=5e-5
	[ $code -eq 0 ] || complain "$block: $code: $(cat "$tmp/err")"
done
report 'messages of short packets that come again are whole'

exit $status
