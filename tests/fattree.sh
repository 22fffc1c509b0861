#!/bin/sh
#
# QsNetII's network as a user sees it: fat trees of Elite4s, full and tapered.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

lasting='warmup=20us measure=40us'
many='2 7'
large='256 1024'
[ "${WEFT_SLOW-}" ] && lasting='warmup=5us measure=15us' large=

rate() { # ARGUMENTS: MB/s of each node
	ends 0 run "$@" $lasting --json
	jq '.results.throughput_GBps_per_node * 1000 | round' "$tmp/out"
}

about() { # FOUND WANT PER-MILLE
	[ $((($1 - $2) * 1000)) -le $(($2 * $3)) ] &&
		[ $((($2 - $1) * 1000)) -le $(($2 * $3)) ] ||
		complain "$1 MB/s per node, want $2"
}

# --- the machines ---

ends 0 machines --json
holds '[.machines[] | select(.name | startswith("qsnet2")) |
	[.name, .nodes, .shape]] == [["qsnet2", 64, "4-ary 3-tree"],
	["qsnet2-1024", 1024, "4-ary 5-tree"],
	["qsnet2-16", 16, "4-ary 2-tree"],
	["qsnet2-4096", 4096, "4-ary 6-tree"],
	["qsnet2-512", 512, "4-ary 5-tree"],
	["qsnet2-64", 64, "4-ary 3-tree"]]'
report "QsNetII's six machines"

begin=$(date +%s)
for machine in qsnet2 qsnet2-16 qsnet2-64 qsnet2-512 qsnet2-1024 qsnet2-4096
do
	ends 0 check $machine --json
	holds '.proved and (.steps | length == 4) and
		([.steps[].holds] | all) and .routes > 0 and
		([.steps[].cycle | length] | add == 0)'
done
ends 0 check qsnet2 --shape 100 --set topology.up=3x1
grep -q 'cannot deadlock' "$tmp/out" || complain "$(cat "$tmp/out")"
took=$(($(date +%s) - begin))
[ $took -le "${WEFT_SLOW:+6}9" ] || complain "it took $took s"
report "QSN-F69: none of them can deadlock, which is proved in seconds"

ends 0 show qsnet2-4096 --json
holds '.nodes == 4096 and .switches == 6144 and .ports == 8 and
	[.levels[].switches] == [1024, 1024, 1024, 1024, 1024, 1024] and
	.hops.max == 12 and .buffers.channels == 2 and
	(.wires | length == 12 and .[0].latency_ns == 20 and
		.[1].latency_ns == 41 and all(.[2:][]; .latency_ns == 37)) and
	.packets[0].zero_load_ns.max == 431 + .packets[0].serialisation_ns'
report "QSN-N60: weft show knows the 431 ns of 4,096 nodes"
ends 0 show qsnet2-16 --json
holds '.levels[0].switches == 4 and .levels[1].switches == 4 and
	.bisection.links == 8 and .routing.spread == "source"'
ends 0 show qsnet2 --set topology.cable.length=5x14x13 --json
holds '[.wires[].where] == ["5 m, copper", "5 m, copper", "14 m, fibre",
	"14 m, fibre", "13 m, copper", "13 m, copper"]'
report "weft show calls cables above 13 m fibre"

# --- latency ---

ends 0 run qsnet2-4096 pingpong to=4095 bytes=0 rounds=3 --json
least=$(jq .results.one_way_ns "$tmp/out")
ends 0 show qsnet2-4096 --json
holds ".packets[0].zero_load_ns.max == $least"
report "a packet alone takes what weft show says"
ends 0 run qsnet2-4096 pingpong to=4095 rounds=1 --budget --json
holds '.budget.causes | .router.ps == 2 * 11 * 21000 and
	.wire.ps == 2 * 200000'
report "QSN-N58, QSN-N60: of which 231 ns are switches and 200 ns cable"
ends 0 run qsnet2-16 pingpong to=15 rounds=1 --follow 0.0
grep -q 'node 0, out by link' "$tmp/out" &&
	grep -q 'switch 1.0, out by up 0' "$tmp/out" &&
	grep -q 'switch 2.0, out by down 3' "$tmp/out" &&
	grep -q 'switch 1.3, out by down 3' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report "a packet's way can be followed"

# --- throughput ---

for nodes in 4 16 64 $large; do
	about "$(rate qsnet2 complement --shape $nodes)" 1161 20
done
report "QSN-N70: complement traffic grows with the machine"
[ -z "$large" ] || about "$(rate qsnet2-512 complement)" 1161 20
about "$(rate qsnet2 complement --shape 20)" 1161 20
report "QSN-G21: so it does where the tree is not full"
about "$(rate qsnet2 complement --set routing.spread=rotate)" 1161 20
about "$(rate qsnet2 complement --set routing.spread=single)" 73 20
about "$(rate qsnet2-16 complement --set routing.spread=single)" 290 20
report "QSN-G7: not where all take the same way up"
about "$(rate qsnet2 complement --set link.code=4b5b)" 929 5
report "QSN-N51: 928 MB/s with 4b5b"
about "$(rate qsnet2 complement --set topology.up=2)" 290 20
about "$(rate qsnet2 complement --set topology.up=4x2)" 580 20
about "$(rate qsnet2 complement --set topology.up=4x1)" 290 20
report "QSN-F69: a tapered tree carries what its up-links do"
ends 0 run qsnet2 random $lasting --json
holds '.results | .fraction_of_peak > 0.45 and .fraction_of_peak < 0.9 and
	(.peak_GBps_per_node - 1.1579 | fabs < 0.0001) and
	([.links[].port] == ["node up", "node down", "stage 1 up",
		"stage 1 down", "stage 2 up", "stage 2 down"]) and
	all(.links[]; .links == 64 and .mean_use > 0.2 and .max_use < 1)'
ends 0 run qsnet2 pingpong to=1 rounds=5 --json
holds '[.results.links[].mean_use > 0] ==
	[true, true, false, false, false, false]'
report "random traffic, and the use of each stage"
for workload in permutation transpose bit-reversal hotspot; do
	ends 0 run qsnet2 $workload $lasting --json
	holds '.results.throughput_GBps_per_node > 0.05'
done
ends 0 run qsnet2 random class=high load=0.2 $lasting --json
holds '.ending == "finished"'
ends 0 run qsnet2-16 alltoall bytes=2000 --json
holds '.results.fraction_of_peak > 0.3 and .work.packets == 16 * 15 * 4 and
	(.results | .throughput_GBps_per_node * .time_ns / (15 * 2000) |
		. > 0.9999 and . < 1.0001)'
report "other workloads"

# --- the same on any number of threads ---

same() { # ARGUMENTS
	ends 0 run "$@" --json --threads 1
	digest=$(jq -r .digest "$tmp/out")
	for threads in $many; do
		ends 0 run "$@" --json --threads $threads
		[ "$(jq -r .digest "$tmp/out")" = "$digest" ] ||
			complain "$threads threads: another digest"
	done
	report "$*: the same on $many threads"
}

same qsnet2 random warmup=5us measure=5us
same qsnet2 complement --shape 100 --set topology.up=2 warmup=5us measure=5us
same qsnet2 random --set routing.spread=rotate bytes=100 warmup=5us measure=5us
same qsnet2-16 alltoall bytes=1300

# --- chips of a given size ---

# Trees with bundles at the top carry what trees without carry, by the same
# routes, and are proved.
plain="--shape 128 --set topology.radix=8"
for spread in source rotate adaptive; do
	chips="--shape 128 --set topology.ports=16 --set routing.spread=$spread"
	one=$(rate fattree random $plain --set routing.spread=$spread)
	about "$(rate fattree random $chips)" "$one" 10
	ends 0 check fattree $chips --json
	holds .proved
done
chips='--shape 128 --set topology.ports=16'
about "$(rate fattree complement $chips --set routing.spread=source)" \
	"$(rate fattree complement $plain --set routing.spread=source)" 1
ends 0 show fattree $chips --json
holds '[.levels[].switches] == [16, 8] and .bisection.links == 64'
report "bundles at the top carry what single links do"
ends 0 run fattree random --shape 84 --set topology.ports=12 \
	--set topology.taper=3 --set routing.spread=adaptive $lasting --json
holds '.results.fraction_of_peak > 0.93 and .results.fraction_of_peak <= 1'
ends 0 show fattree --shape 84 --set topology.ports=12 --set topology.taper=3
grep -q '9,10-ary 2-tree, taper 3:1 at level 1, 84 nodes' "$tmp/out" &&
	grep -q '^1 *10 *9 *3 *114 *6$' "$tmp/out" &&
	grep -q '^2 *3 *84 *- *30 *6$' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report "a tapered tree of chips"

# The largest tree of three levels of 64-port switches: to the last node and
# back.
ends 0 run fattree pingpong from=0 to=65535 --shape 65536 \
	--set topology.ports=64 --quiet
grep -q 'fattree 32,32,64-ary 3-tree, 65536 nodes.*finished' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
ends 2 run fattree pingpong --shape 65537 --set topology.ports=64
grep -qF '65537, but packets of routing updown can name only nodes 0 to 65535' \
	"$tmp/err" || complain "$(cat "$tmp/err")"
report 'three levels of 64-port switches connect 65536 nodes'

# --- rails ---

# NVIDIA's reference for 1,024 GPUs: 128 nodes with 8 ports, 32 leaves, 16
# spines, as many cables at both stages.
ends 0 show fattree --shape 128 --set topology.ports=64 \
	--set topology.rails=8 --set topology.join=2 --json
holds '[.levels[].switches] == [32, 16] and
	[.levels[].nodes_below] == [32, 128] and
	[.levels[].ports_empty] == [0, 0] and
	all(.wires[]; .links == 1024) and .bisection.links == 512'
report "rails that join: a leaf for each rail of a unit, and spines for all"
rails='--shape 16 --set topology.ports=8 --set topology.rails=2'
for join in 0 1 2; do
	for spread in source adaptive; do
		on="$rails --set topology.join=$join
			--set routing.spread=$spread"
		ends 0 check fattree $on --json
		holds .proved
		ends 0 run fattree alltoall via=msg bytes=3000 $on --json
		holds '.ending == "finished"'
	done
	ends 0 run fattree random $on $lasting --json
	holds '.results.fraction_of_peak > 0.93 and
		.results.fraction_of_peak <= 1 and
		(.results.peak_GBps_per_node / 11.2676 - 2 | fabs < 0.001)'
done
report "two rails carry twice as much, joined or not"
plan <<END
  events: ["0 us rail 1 dies"]
END
ends 0 run fattree random load=0.2 $rails --set topology.join=2 \
	--set routing.spread=rotate --faults "$tmp/plan.yaml" $lasting --json
holds '.faults.lost_packets > 1000'
ends 0 run fattree pingpong to=15 rounds=3 $rails --set topology.join=2 \
	--follow 0.0
grep -q 'switch 1:1.0, out by up' "$tmp/out" &&
	grep -q 'switch 1:1.3, out by down' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report "rails have names, and die"

# A member whose host dies on the way left an earlier round: no mistake.
ends 0 run fattree collective op=allreduce rounds=3 --shape 48 --json \
	--set topology.radix=16 --set topology.rails=2 --set topology.join=2 \
	--set routing.spread=adaptive --set routing.tell=50ns \
	--set faults.events='38383 ns host 45 dies; 62542 ns host 45 returns'
holds '.faults.dead_programs == 1'
report 'a host that dies in a collective'

# --- failed switches and links ---

# A switch dies: after a notice its neighbours avoid it, after a message all
# others do, and stored routes follow when tables are loaded.  Lost packets are
# sent again once, after the time-out of 64 nodes.
plan <<END
  events: ["20 us switch 2.3 dies"]
END
for spread in rotate adaptive; do
	on="fattree alltoall via=msg bytes=8KiB --shape 64
		--set routing.spread=$spread --set routing.reload=2us"
	ends 0 run $on --json
	whole=$(jq .results.time_ns "$tmp/out")
	ends 0 run $on --faults "$tmp/plan.yaml" --json
	holds ".results.time_ns < $whole + (50 + 64 * 2) * 1000" \
		'.faults.repairs == 1 and .faults.lost_packets > 10'
done
ends 0 run $on --faults "$tmp/plan.yaml" --set routing.tell=never --json
holds '.results.time_ns > 1e6'
report "a dead switch costs one time-out"
same $on --faults "$tmp/plan.yaml"

# what only happens later does not happen
ends 0 run fattree random --shape 16 warmup=1us measure=2us \
	--set 'faults.events=1 us uplinks 1.0 dies' --json
holds '.faults.repairs == 0 and (.faults | has("missing_pairs") | not)'
ends 0 run fattree random --shape 16 warmup=1us measure=102us \
	--set 'faults.events=1 us uplinks 1.0 dies' --json
holds '.faults.repairs == 1 and .faults.missing_pairs == 96'
report 'a run counts the repairs until its end'

plan <<END
  events: ["0 us switch 2.3 dies"]
END
for spread in rotate adaptive; do
	on="--shape 256 --set topology.radix=32 --set topology.up=16
		--set routing.spread=$spread --set routing.reload=2us"
	about "$(rate fattree random $on --faults "$tmp/plan.yaml")" \
		$(($(rate fattree random $on) * 15 / 16)) 30
done
report "15 of 16 spines carry 15/16 of what all do"

# Eight links lead to one spine.
plan <<END
  events: ["0 us link 1.1 up 5 dies"]
END
for spread in rotate adaptive; do
	ends 0 run fattree random load=0.5 --shape 48 --set topology.ports=24 \
		--set topology.taper=2 --set routing.spread=$spread \
		--set routing.reload=2us --faults "$tmp/plan.yaml" \
		warmup=10us measure=40us --links "$tmp/links.csv" --json
	holds '.faults.lost_packets < 100'
	awk -F , '$3 ~ /switch 1\.1 up [^5]/ && $8 == "dynamic" {
		n++
		sum += $10
		most = $10 > most ? $10 : most
	} END { exit !(n == 7 && most < 1.1 * sum / n) }' "$tmp/links.csv" ||
		complain "$spread: $(grep 'switch 1.1 up' "$tmp/links.csv")"
done
report "what is left of a bundle shares its load"

# --- bad input ---

refuses 'does not divide the 4 ports down' show fattree --shape 64 \
	--set topology.ports=8 --set topology.rails=3 --set topology.join=2
refuses 'rails: 8 does not divide the 60 ports of a switch of level 2' show \
	fattree --shape 120 --set topology.ports=60 --set topology.rails=8 \
	--set topology.join=2

refuses 'leaves no link up for switches with 8 ports' show fattree \
	--set topology.ports=8 --set topology.taper=8
refuses 'topology.ports: 65 is out of range' show fattree \
	--set topology.ports=65
refuses 'did you mean topology.taper' show fattree --set topology.tapers=2
refuses 'needs topology.parallel: 1 and' show sunway --shape 32 \
	--set topology.parallel=auto

refuses 'neighbours needs a torus' run qsnet2 neighbours
refuses 'tornado needs a torus' run qsnet2 tornado
refuses 'nic.kind bgq-mu' run qsnet2 files
refuses 'nodes 0 to 63' run qsnet2 pingpong to=64
refuses 'nodes 0 to 63' run qsnet2 pingpong --follow 64.0
report "workloads that need more are refused"
refuses 'more than the 4096 nodes' show qsnet2 --shape 4097
refuses '129 is more than the 128 nodes' show fattree --shape 129 \
	--set topology.ports=4
refuses '65 is more than the 64 nodes' show fattree --shape 65 \
	--set topology.ports=4 --set topology.rails=2 --set topology.join=2
refuses 'a fattree has no dimensions' show qsnet2 --shape 4x4
refuses 'topology.up' show qsnet2 --set topology.up=100
refuses 'topology.shape is not a parameter' show qsnet2 \
	--set topology.shape=4x4
refuses 'link.latency.board is not a parameter' show qsnet2 \
	--set link.latency.board=5ns
refuses 'whose routers are nodes' show bgq --set topology.nodes=2
refuses 'routing.spread is not a parameter' show bgq --set routing.spread=single
refuses 'is not one of' show qsnet2 --set routing.spread=even
refuses 'the shortest wire' run qsnet2 random \
	--set topology.cable.length=1
report "trees that cannot be are refused"
printf 'schema: 1\nmachine: m\ntopology: { kind: fattree, nodes: 16 }\n' \
	>"$tmp/m.yaml"
ends 0 check "$tmp/m.yaml"
refuses 'hint needs topology.kind: torus, not fattree' check "$tmp/m.yaml" \
	--set routing.kind=hint
printf 'routing: { kind: updown }\n' >>"$tmp/m.yaml"
ends 0 check "$tmp/m.yaml"
printf 'schema: 1\nmachine: m\nrouting: { kind: updown }\n' >"$tmp/m.yaml"
refuses 'updown needs topology.kind: fattree, not torus' check "$tmp/m.yaml"
report "a topology has its own routing"

exit $status
