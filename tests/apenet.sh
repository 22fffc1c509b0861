#!/bin/sh
#
# What APEnet+'s machine files make of its network: torus, links, buffers.
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

rate() { # ARGUMENTS: GB/s between two nodes, both ways
	ends 0 run apenet-pair complement load=max --json "$@"
	figure throughput_GBps_per_node
}

# --- topology ---

ends 0 show apenet --json
holds '.nodes == 64 and .ports == 6' '[.wires[].class] == ["X", "Y", "Z"]' \
	'[.wires[].links] == [64, 64, 64]' \
	'[.wires[].latency_ns] | unique == [500]'
report 'APE-F1: each card has six links; plus, minus of X, Y, Z form rings'

ends 0 show apenet-quong --json
holds '.nodes == 16' '[.wires[] | [.class, .links]] == [["X", 16], ["Y", 16]]'
report 'APE-F36: a dimension of one node has no links: 32 cables, no Z'

ends 0 show apenet-pair --json
holds '.nodes == 2' '[.wires[].links] == [1]'
report 'a pair has one cable'
ends 0 show apenet-loop --json
holds '.nodes == 1' '[.wires[].links] == [1, 1, 1]'
report 'a looped card has its six links joined in pairs'

# A node and its six neighbours: each link alone would carry 2 GB/s and more.
for way in in out; do
	ends 0 run apenet fan way=$way rounds=16 --json \
		--set nic.path.clock=16ns
	near "$way" "$(figure total_MBps)" 950 1000
done
report 'six links have one path of 16 B a cycle on either side of a card'

for name in X+ Z-; do
	ends 0 run apenet random load=0.01 warmup=0us measure=10us --json \
		--links "$tmp/links.csv"
	grep -q " $name\"" "$tmp/links.csv" || complain "no $name"
done
report 'links are called by their letters'
refuses 'want one letter for each' show apenet --shape 2x2x2x2
report 'a fourth dimension has no letter'

# --- links ---

ends 0 show apenet --json
holds '.link.lanes == 4' '.link.code == "8b10b"' '.link.raw_Gbps == 28' \
	'.link.data_GBps == 2.8'
ends 0 show apenet --set link.lane-rate=8.5Gb/s --json
holds '.link.raw_Gbps == 34' '.link.data_GBps == 3.4'
report 'APE-F19: four lanes of a rate that can be set, with 8b/10b'

refuses 'link.lane-limit' show apenet --set link.lane-rate=8.6Gb/s
refuses 'link.lane-limit' show apenet-v5 --set link.lane-rate=14.2Gb/s
errors='--set faults.fast-lanes=1e-6 --set link.retry=replay'
ends 0 run apenet-pair complement bytes=4096 load=0.1 $errors --json
holds '.faults == null'
ends 0 run apenet-pair complement bytes=4096 load=0.1 $errors --json \
	--set link.lane-rate=7.1Gb/s
holds '.faults.bit_errors > 0'
report 'APE-F23: transceivers have a highest rate'

ends 0 show apenet-v5 --json
holds '.link.raw_Gbps == 56.4'
ends 0 show apenet-v5 --set link.lane-rate=11.3Gb/s --json
holds '.link.raw_Gbps == 45.2'
report 'APE-F39: lanes of the next board run at 14.1 Gb/s, or at 11.3'

# Five words around a packet, two control words after every eight words.
near '4 KiB' "$(rate bytes=4096)" 2.190 2.204
near '1 KiB' "$(rate bytes=1024)" 2.070 2.082
near '64 B' "$(rate bytes=64)" 0.990 1.000
near '4 KiB at 34 Gb/s' \
	"$(rate bytes=4096 --set link.lane-rate=8.5Gb/s)" 2.660 2.672
report 'APE-F21: what the framing leaves is 0.784, and less of small packets'

ends 0 show apenet --json
holds '.buffers.payload_bytes_per_link == 40960'
ends 0 show apenet
grep -q '8 packets to receive and 2 to send: 40 KiB of payload' "$tmp/out" ||
	complain "$(grep -A1 '^buffers' "$tmp/out")"
report 'APE-F22: a link has buffers of 40 KiB'

# Credits count words, on either channel: node 1 sends over the closing link.
near '64 B beyond a dateline' \
	"$(rate bytes=64 --set topology.wrap=torus)" 0.990 1.000
report 'small packets take no more credits than words, on both channels'

# --- routing ---

ends 0 check apenet
ends 0 check apenet-quong
ends 1 check apenet-quong --set routing.dateline=no
grep -q 'by X+ to node 1 (1,0,0), channel 0' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'weft check proves datelines, and shows the cycle without them'
full='random load=max bytes=4096 warmup=100us'
ends 0 run apenet-quong $full measure=1ms --json
ends 3 run apenet-quong $full measure=20ms --json --set routing.dateline=no
holds '.ending == "deadlocked"' '.results.cycle | length > 0'
report 'a saturated torus locks without datelines, and only then'

ends 0 run apenet $full measure=200us --json
plus=$(figure throughput_GBps_per_node)
ends 0 run apenet $full measure=200us --json --set routing.ties=parity
awk -v a="$plus" -v b="$(figure throughput_GBps_per_node)" \
	'BEGIN { exit !(b > 1.2 * a) }' || complain "$plus is not less"
report 'ties to plus cost a good part of the peak on rings of four'

ends 0 run apenet-quong pingpong via=net bytes=64 from=3 to=0 rounds=1 \
	--budget --follow 0
grep -q 'node 0 (0,0,0), out by X-, channel 1$' "$tmp/out" ||
	complain "$(grep 'out by' "$tmp/out")"
report 'weft run --follow names the channel'

for more in '' '--budget' '--threads 3' \
	'--set faults.bit-errors=1e-18 --set link.retry=replay
	--set link.retry.unit=packets --set link.retry.window=16'; do
	ends 0 run apenet $full measure=100us --json $more
	jq -r .digest "$tmp/out"
done | sort -u >"$tmp/digests"
[ "$(wc -l <"$tmp/digests")" = 1 ] || complain "$(cat "$tmp/digests")"
report 'budgets, threads and faults that do not happen change no digest'

# --- LO|FA|MO ---

for fault in host card node link gpu service sick; do
	ends 0 run apenet-quong lofamo fault=$fault trials=10 --json
	holds '.results | .undetected == 0 and .false_alarms == 0' \
		'.results | .aware_first_ms <= .aware_mean_ms and
			.aware_mean_ms <= .aware_last_ms and
			.aware_last_ms < 1600'
done
report 'single faults of all kinds are known in time, without false alarms'

for period in 1ms 30ms 1s none; do
	on="lofamo.period=$period"
	[ $period != none ] || on=lofamo.on=no
	ends 0 run apenet-quong pingpong via=nic bytes=32 rounds=300 --json \
		--set $on --set 'faults.events=1 ms host 4 dies'
	[ $period != 1ms ] || holds '.health[0] | .part == "host 4" and
		.state == "dead" and .known_ms < 5'
	jq -r '.digest, .results.one_way_ns' "$tmp/out"
done | paste - - | sort -u >"$tmp/runs"
[ "$(wc -l <"$tmp/runs")" = 1 ] || complain "$(cat "$tmp/runs")"
report 'APE-F24, APE-F31: watchdogs take no picosecond of data'

# Two control words, a marker and one with room for a message, follow every
# eight words of 16 B: ten take 57 ns at 2.8 GB/s.
ends 2 run apenet-quong pingpong --set lofamo.on=yes \
	--set link.control.words=0
grep -q 'lofamo.on: diagnostics travel in control words' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
report 'APE-F24: without control words there are no diagnostics'

# A GPU that dies with its halo on the way, and one that nobody needs any more.
halos='exchange source=gpu0 target=gpu1 bytes=64KiB --set lofamo.period=1ms'
ends 3 run apenet-quong $halos rounds=2 \
	--set 'faults.events=100 us gpu 5.1 dies' --json
grep -q 'node 1, .* waiting for an event of its card; node 5: .* memory' \
	"$tmp/err" || complain "$(cat "$tmp/err")"
for set in lofamo.on=yes 'faults.events=2 ms gpu 5.1 dies'; do
	ends 0 run apenet-quong $halos idle=10ms --json --set "$set"
	[ "$set" = lofamo.on=yes ] || holds '.health | length == 1' \
		'.health[0] | .part == "gpu 5.1" and .state == "dead"' \
		'.health[0].known_ms < 5'
	jq -r .digest "$tmp/out"
done | sort -u >"$tmp/runs"
[ "$(wc -l <"$tmp/runs")" = 1 ] || complain "$(cat "$tmp/runs")"
report 'a dead GPU ends what waits for it, is known, and disturbs nobody else'

refuses 'link.lanes' show apenet --set link.lanes=0
refuses 'nodes have 2 GPUs' run apenet pingpong \
	--set 'faults.events=1 ms gpu 3.2 dies'
refuses 'cannot be sick' run apenet pingpong \
	--set 'faults.events=1 ms card 3 sick'
refuses 'lofamo.write' show apenet --set lofamo.write=0.95
refuses 'unknown part' run bgq random --set 'faults.events=1 ms host 3 dies'
report 'parts that are not there, and watchdogs that bark at the healthy'

exit $status
