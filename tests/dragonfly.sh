#!/bin/sh
#
# A dragonfly of one's own: its ways are proved free of deadlock and are not
# where all stages share a channel, and what is proved runs.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

small='--shape 72 --set topology.per-router=2 --set topology.routers=4
	--set topology.global=2'
few='--set router.packets=2'
lasting='warmup=5us measure=10us'

for mode in minimal valiant ugal par; do
	set="--set routing.mode=$mode"
	ends 0 check dragonfly $set --json
	holds '.proved and .nodes == 1024 and .channels >= 5600 and
		.routes > 40000'
	ends 1 check dragonfly $small $set --set routing.stages=no --json
	holds '(.proved | not) and (.steps[1].cycle | length > 1 and
		all(test("stage 1$")))'
	ends 0 run dragonfly random $small $few $set $lasting --json
	holds '.ending == "finished"'
	ends 3 run dragonfly random $small $few $set warmup=5us measure=200us \
		--set routing.stages=no --json
	holds '.ending == "deadlocked" and (.results.cycle | length > 1)'
	report "$mode ways lock on one channel, and not on one for each stage"
	ends 0 run dragonfly random $small $set load=0.1 $lasting --json
	held=$(jq .results.fraction_of_peak "$tmp/out")
	holds '.results.fraction_of_peak | . > 0.09 and . < 0.11'
	ends 0 run dragonfly random $small $set load=0.1 $lasting \
		routing=deterministic --json
	holds ".results.fraction_of_peak - $held | fabs < 0.01"
	for via in net msg; do
		ends 0 run dragonfly alltoall $small $set via=$via bytes=4KiB \
			$few --json
		holds '.ending == "finished"'
	done
	report "$mode ways carry traffic in order or not, and messages"
done

# Traffic from each group to the next, as a share of a node's link, and the
# latency of random traffic: the dragonfly of Kim et al., with 33 groups of 32.
adverse() { # MODE
	ends 0 run kim-1056 group-shift --set routing.mode=$1 load=max \
		warmup=20us measure=20us bytes=2048 --json
	jq '.results.throughput_GBps_per_node / 12.2137 * 10000 | round' \
		"$tmp/out"
}
latency() { # MODE
	ends 0 run kim-1056 random --set routing.mode=$1 load=0.3 \
		warmup=3us measure=4us --json
	jq '.results.latency_ns.mean * 100 | round' "$tmp/out"
}
minimal=$(adverse minimal) valiant=$(adverse valiant)
ugal=$(adverse ugal) par=$(adverse par)
[ "$minimal" -ge 309 ] && [ "$minimal" -le 316 ] ||
	complain "minimal: $minimal, want 1/32"
[ "$valiant" -ge 4850 ] && [ "$valiant" -le 5150 ] ||
	complain "Valiant: $valiant, want 1/2"
[ $((10 * ugal)) -ge $((9 * valiant)) ] || complain "ugal: $ugal of $valiant"
[ $((20 * par)) -ge $((19 * valiant)) ] || complain "par: $par of $valiant"
report 'UGAL and PAR leave links that all would use'

least=$(latency minimal)
for mode in ugal par; do
	[ $((100 * $(latency $mode))) -le $((105 * least)) ] ||
		complain "$mode: $(latency $mode), minimal: $least"
	for threads in 2 3; do
		ends 0 run kim-1056 group-shift --set routing.mode=$mode \
			load=max warmup=2us measure=2us --threads 1 --json
		one=$(jq .digest "$tmp/out")
		ends 0 run kim-1056 group-shift --set routing.mode=$mode \
			load=max warmup=2us measure=2us --threads $threads \
			--json
		holds ".digest == $one"
	done
done
ends 1 check dragonfly $small --set routing.mode=par --set routing.channels=3 \
	--json
holds '(.proved | not) and (.steps[1].cycle | all(test("stage 3$")))'
report 'they stay on the shortest paths at low load, on any number of threads'

# Group to group: all by one link of the shortest ways, and by all others.
rate() { # MODE
	ends 0 run dragonfly complement $small $lasting \
		--set routing.mode=$1 --json
	jq '.results.throughput_GBps_per_node * 1000 | round' "$tmp/out"
}
[ "$(rate valiant)" -gt $((2 * $(rate minimal))) ] ||
	complain 'Valiant is no better'
report 'Valiant spreads what would meet at one link'

ends 0 run dragonfly random $small $lasting --threads 1 --json
one=$(jq .digest "$tmp/out")
ends 0 run dragonfly random $small $lasting --threads 3 --json
holds ".digest == $one"
# packets of several classes, whose FIFOs are chosen from
for threads in 1 2 3; do
	ends 0 run dragonfly alltoall via=msg bytes=1300 --shape 64 \
		--threads $threads --json
	[ $threads -gt 1 ] || one=$(jq .digest "$tmp/out")
	holds ".digest == $one"
done
report 'the same on any number of threads'

# Two links between any two groups, one of them dead.
plan <<END
  events: ["1 us link g1.r0 global 0 dies"]
END
ends 0 run dragonfly alltoall via=msg bytes=2000 --shape 40 \
	--set topology.per-router=2 --set topology.routers=4 \
	--set topology.global=2 --faults "$tmp/plan.yaml" \
	--set nic.retry.timeout="20 us" --set nic.retry.per-node="0 ns" --json
holds '.ending == "finished" and .faults.lost_packets > 20'
report 'what a dead link loses is sent again by another one'

# Links inside of groups and between them die: other paths are found, also
# between routers of a group.  Without tables, some nodes cannot be reached.
plan <<END
  events:
    - 10 us link g1.r0 global 0 dies
    - 10 us link g0.r0 local 1 dies
    - 10 us link g2.r3 local 1 dies
END
on='dragonfly alltoall via=msg bytes=4000 --shape 72
	--set topology.per-router=2 --set topology.routers=4
	--set topology.global=2 --set routing.reload=2us'
for mode in minimal valiant ugal par; do
	ends 0 run $on --set routing.mode=$mode --json
	whole=$(jq .results.time_ns "$tmp/out")
	ends 0 run $on --set routing.mode=$mode --faults "$tmp/plan.yaml" --json
	holds '.faults.repairs == 1' \
		".results.time_ns < $whole + (50 + 72 * 2) * 1000 + 20000"
	digest=$(jq .digest "$tmp/out")
	ends 0 run $on --set routing.mode=$mode --faults "$tmp/plan.yaml" \
		--json --threads 3
	holds ".digest == $digest"
done
ends 0 check $(echo "$on" | sed 's/alltoall via=msg bytes=4000//') --json \
	--set routing.mode=minimal --faults "$tmp/plan.yaml"
holds '.proved and .repairs[0].missing_pairs == 0'
ends 3 run ${on% --set*} --set routing.mode=minimal --set routing.reload=never \
	--faults "$tmp/plan.yaml"
grep -q 'switch g0.r0 local 1 died' "$tmp/err" || complain "$(cat "$tmp/err")"
report 'paths around failed links'

# Frontier: 74 groups of 32 routers of 64 ports, 4 links for each pair of
# groups; and the largest machine of such routers.
slingshot='--set topology.per-router=16 --set topology.routers=32
	--set topology.global=17'
ends 0 show dragonfly --shape 37888 $slingshot --set topology.between=4 --json
holds '.ports == 64 and .parts[1].number == 74 and .parts[1].nodes == 512 and
	.parts[1].global_links == 292 and .bisection.links == 37 * 37 * 4'
ends 0 show dragonfly --shape 0 $slingshot --json
holds '.nodes == 279040 and .parts[1].number == 545'
some='--set topology.per-router=2 --set topology.routers=4
	--set topology.global=4'
two="--shape 40 $some --set topology.between=2"
for mode in minimal valiant ugal par; do
	ends 0 check dragonfly $two --set routing.mode=$mode --json
	holds .proved
	ends 0 run dragonfly random $two --set routing.mode=$mode \
		warmup=5us measure=5us --json
	holds '.results.fraction_of_peak > 0.5 and
		.results.fraction_of_peak <= 1'
done
report 'a given number of links between groups, on all routers'
refuses 'join at most 6 by topology.between' show dragonfly --shape 64 $some \
	--set topology.between=3

# Requests and answers share queues, which are full.  Whoever held reception for
# an answer that waits behind requests would stand still.
full='alltoall via=nic bytes=8192 --shape 64 --set router.packets=2
	--set router.reception=2 --set router.injection=1
	--set side.rate=2GB/s --set nic.input=500ns'
for mode in minimal valiant; do
	ends 0 run dragonfly $full --set routing.mode=$mode --json
	holds '.ending == "finished"'
done
run run dragonfly $full --set nic.answers=held --json
[ $code -ne 0 ] || complain 'answers that are held do no harm'
report 'requests and answers do not wait for each other'

refuses 'needs topology.kind: dragonfly' check torus \
	--set routing.kind=dragonfly
refuses 'router.queues' run dragonfly random --set router.kind=direct \
	--set router.queues=3
refuses 'needs a network of groups' run torus group-shift
refuses 'ends in the same group' run dragonfly group-shift by=32
refuses 'is not one of' check dragonfly --set routing.mode=shortest
report 'bad input is refused'

# Global links from a file: those of a rule give the same network.
ends 0 show dragonfly $small --json
jq -r '.edges[] | select(.class == "global") | [.from, .to] |
	map(capture("g(?<g>[0-9]+).r(?<r>[0-9]+)")) |
	"\(.[0].g),\(.[0].r),\(.[1].g),\(.[1].r)"' "$tmp/out" >"$tmp/links.csv"
look='[.wires, .packets, .hops, .bisection, .parts]'
jq "$look" "$tmp/out" >"$tmp/rule"
wired="$small --set topology.wiring=$tmp/links.csv"
ends 0 show dragonfly $wired --json
jq "$look" "$tmp/out" >"$tmp/file"
cmp -s "$tmp/rule" "$tmp/file" || complain "$(diff "$tmp/rule" "$tmp/file")"
for mode in minimal valiant ugal par; do
	ends 0 check dragonfly $wired --set routing.mode=$mode --json
	holds .proved
done
ends 0 run dragonfly random $small load=max $lasting --json
held=$(jq .results.fraction_of_peak "$tmp/out")
ends 0 run dragonfly random $wired load=max $lasting --json
holds ".results.fraction_of_peak / $held - 1 | fabs < 0.03"
report 'global links from a file are those of the rule that made it'

bad() { # TEXT LINE: in place of the first
	{
		echo "$2"
		tail -n +2 "$tmp/links.csv"
	} >"$tmp/bad.csv"
	refused "$1" show dragonfly $small \
		--set topology.wiring="$tmp/bad.csv"
}
bad 'bad.csv:1: there is no group "9"' 9,0,1,1
bad 'bad.csv:1: a group has no router "x"' 0,x,1,1
bad 'bad.csv:1: want GROUP,ROUTER,GROUP,ROUTER' 0,1,1
bad 'bad.csv:1: a global link joins two groups' 1,0,1,2
bad 'groups 0 and 8 are joined by 0 links, groups 0 and 1 by 1' '# none'
bad 'a router of this line has more links than topology.global' 0,3,1,0
echo 0,0,1,0 >"$tmp/one.csv"
refused 'topology.between: 2 links, but' show dragonfly --shape 16 \
	--set topology.per-router=2 --set topology.routers=4 \
	--set topology.between=2 --set topology.wiring="$tmp/one.csv"

# --- packets in order ---

# Interfaces that tell of a message with its last packet need it.
cat >"$tmp/ape.yaml" <<'END'
schema: 1
machine: ape
topology: { kind: dragonfly, per-router: 1, routers: 4, global: 0, between: 0 }
side: { kind: pcie }
nic: { kind: apenet }
END
for kind in direct crossbar; do
	for payload in 1024 4096; do
		run run "$tmp/ape.yaml" stream rounds=1 bytes=64KiB to=1 \
			--set router.kind=$kind --set link.payload=$payload
		[ $code -eq 0 ] || complain "$kind: $(cat "$tmp/err")"
	done
done
report 'packets of one flow arrive in order'

# --- groups that are not full ---

for by in 1 2; do
	run run dragonfly group-shift by=$by load=0.1 --set topology.groups=3 \
		--set topology.nodes=80 --links "$tmp/to$by.csv"
	[ $code -eq 0 ] || complain "$code: $(cat "$tmp/err")"
	[ "$(grep -c '"node [67][0-9] link",node down,.*,[1-9]' \
		"$tmp/to$by.csv")" -ge 16 ] ||
		complain "$(grep '"node 79 link",node down' "$tmp/to$by.csv")"
done
report 'group-shift reaches a group with fewer nodes'
refused 'since there is 1' run dragonfly group-shift \
	--set topology.groups=1 --set topology.nodes=3

exit $status
