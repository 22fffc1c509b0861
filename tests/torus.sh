#!/bin/sh
#
# A torus whose routers have nodes of their own and parallel links: directions
# in order and a dateline are proved free of deadlock and are not without one,
# and what is proved runs.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

wide='--shape 4x3x2 --set topology.nodes=2 --set topology.links=2x1x2
	--set topology.letters=xyz'
few='--set router.packets=2 --set router.transit=1'
lasting='warmup=5us measure=10us'

ends 0 check torus --set topology.nodes=2 --json
holds '.proved and .nodes == 2048 and .routes > 100000'
for order in xyz z-y-x-x+y+z+; do
	ends 0 check torus $wide --set routing.order=$order --json
	holds '.proved and .nodes == 48'
done
ends 1 check torus $wide --set routing.dateline=no --json
holds '(.proved | not) and (.steps[1].cycle | length > 2 and
	(all(test(" by x[+]")) or all(test(" by x-"))))'
for routing in dynamic deterministic; do
	set="--set topology.nodes=2 --shape 4x4 $few routing=$routing"
	ends 0 run torus random $set $lasting --json
	holds '.ending == "finished"'
	ends 3 run torus random $set $lasting --set routing.dateline=no --json
	holds '.ending == "deadlocked" and (.results.cycle | length > 1)'
done
report 'rings lock without a dateline, and not with one'

# routers that are nodes, as those of a mesh and a ring of two, need no other
for set in '--shape 4x4x1' '--shape 4x4 --set topology.wrap=mesh' \
	'--shape 2x2x2'; do
	set="$set --set routing.kind=order --set routing.ties=plus"
	ends 0 check torus $set --json
	holds .proved
	ends 0 run torus random $set $few $lasting --json
	holds '.ending == "finished"'
done
ends 1 check torus --shape 4x4x1 --set routing.kind=order \
	--set routing.dateline=no --json
ends 3 run torus random --shape 4x4x1 --set routing.kind=order $few $lasting \
	--set routing.dateline=no --json
report 'so do routers that are nodes'

for threads in 1 3; do
	for run in 'random load=max' 'random load=0.3 routing=deterministic' \
		'alltoall via=msg bytes=1300' 'neighbours load=0.5'; do
		case $run in alltoall*) more= ;; *) more=$lasting ;; esac
		ends 0 run torus $run $wide $more --threads $threads --json
		holds '.ending == "finished"'
		jq -r .digest "$tmp/out"
	done >"$tmp/digests.$threads"
done
cmp -s "$tmp/digests.1" "$tmp/digests.3" || complain 'digests differ'
[ "$(sort -u "$tmp/digests.1" | wc -l)" -eq 4 ] || complain 'all alike'
report 'traffic and messages, the same on any number of threads'

# Bounds: two nodes share what was one's, two links carry twice as much, and a
# node never gets more than its own link.
peak() { # SETTINGS
	ends 0 show torus --shape 16x4 "$@" --json
	jq '.packets[2].random_peak_GBps_per_node * 64 / .nodes /
		(1 - 1 / .nodes) * 1000 | round' "$tmp/out"
}
is() { # A B
	[ $(($1 - $2)) -le 2 ] && [ $(($2 - $1)) -le 2 ] ||
		complain "a peak of $1, not $2"
}
one=$(peak)
is "$(peak --set topology.nodes=1)" "$one"
is "$(peak --set topology.nodes=2)" $((one / 4))
is "$(peak --set topology.nodes=2 --set topology.links=2x1)" $((one / 2))
ends 0 show torus --shape 4x4 --set topology.nodes=1 --set topology.links=2 \
	--json
holds '.packets[2].random_peak_GBps_per_node | . > 12.1 and . < 12.3'
ends 0 run torus random load=0.2 $wide $lasting --json
holds '.results.fraction_of_peak | . > 0.18 and . < 0.22'
ends 0 show torus $wide --json
holds '.switches == 24 and .ports == 12 and .routing.dateline and
	.routing.order == "x+ x- y+ y- z+ z-" and
	(.dimensions | map(.links) == [48, 24, 48]) and
	(.wires[] | select(.class == "node up").links == 48)'
report 'a peak counts nodes and links'

# A link that comes back, one of several that does not, and a router.
plan <<END
  events:
    - 1 us link 1,0,1 x+0 dies
    - 30 us link 1,0,1 x+0 returns
    - 2 us link 0,0,0 z-1 dies
    - 3 us switch 2,2,0 dies
    - 20 us switch 2,2,0 returns
END
set -- alltoall via=msg bytes=2000 $wide --faults "$tmp/plan.yaml" --json \
	--set nic.retry.timeout="20 us" \
	--set nic.retry.per-node="0 ns"
for threads in 1 3; do
	ends 0 run torus "$@" --threads $threads
	holds '.ending == "finished" and .faults.lost_packets > 5 and
		.faults.repairs == 5 and .faults.missing_from_us == 5 and
		.faults.missing_such_as == "node 0 to node 20"'
	[ $threads -gt 1 ] || one=$(jq .digest "$tmp/out")
	holds ".digest == $one"
done
ends 0 run torus "$@" --set nic.routing=deterministic
ends 0 run torus "$@" --set routing.tell=never
holds '.faults.lost_packets > 20 and (.faults | has("repairs") | not)'
for bad in 'link 1,0,1 y+0' 'link 1,0,1 x+2' 'switch 4,0,0' 'link 1,0 x+0'; do
	echo "  events: [\"1 us $bad dies\"]" | plan
	refuses 'unknown port\|there is no' run torus random $wide \
		--faults "$tmp/plan.yaml"
done
report 'a plan names routers and each of their links'

# Round the other side of a ring, or beside it; old and new paths together have
# no cycle.  Hint bits lead round rings, so that one that is cut twice has pairs
# without a way; meshes, and directions in order, have spare paths.
one_cut='5 us link 0,0 A+ dies; 40 us link 0,0 A+ returns'
twice="5 us link 0,0 A+ dies; 6 us link 2,0 A+ dies; 7 us link 1,1 B+ dies"
for how in kind=hint 'kind=hint --set topology.wrap=mesh' kind=order \
	'kind=order --set topology.wrap=mesh' \
	'kind=order --set topology.nodes=2' \
	'kind=order --set topology.nodes=2 --set router.kind=crossbar'; do
	set -- --shape 4x4 --set routing.$how
	for plan in "$one_cut" "$twice"; do
		ends 0 check torus "$@" --set faults.events="$plan" --json
		holds '.proved and (.repairs | length >= 2)'
		case $how$plan in
		kind=hint"$twice") continue ;;
		esac
		holds 'all(.repairs[]; .missing_pairs == 0)'
		ends 0 run torus alltoall via=msg bytes=32KiB "$@" --json \
			--set faults.events="$plan"
		holds '.ending == "finished" and .faults.repairs >= 2'
	done
done
ends 0 check torus --shape 4x4 --set faults.events="$twice" --json
holds '.repairs[1] | .missing_pairs == 8 and .such_as == "node 0 to node 1"'
ends 3 run torus alltoall via=msg bytes=4KiB --shape 4x4 \
	--set faults.events="$twice"
grep -q 'no way *from 9 us on 9 pairs of nodes had none, such as node 0 to' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
report 'packets go round failed links'

refuses 'at most 16 ports' run torus random --set topology.nodes=2 \
	--set topology.links=3
refuses 'routing.order' check torus $wide --set routing.order=xy
refuses 'hint needs a torus' check torus $wide --set routing.kind=hint
cat >"$tmp/mu.yaml" <<-EOT
	schema: 1
	machine: mu
	topology: { kind: torus, nodes: 2 }
	nic: { kind: bgq-mu }
EOT
refuses 'topology.nodes: .*at most 1' run "$tmp/mu.yaml" mirror --shape 2x2
report 'bad input is refused'

# Route numbers of the card mean nothing on a torus.
cat >"$tmp/elan.yaml" <<-EOT
	schema: 1
	machine: elan
	topology: { kind: torus }
	nic: { kind: elan4 }
EOT
for shape in 2x4 1x2x4; do
	ends 0 run "$tmp/elan.yaml" pingpong via=nic to=7 --shape $shape --json
	holds '.ending == "finished"'
	jq .digest "$tmp/out" >"$tmp/$shape"
done
cmp -s "$tmp/2x4" "$tmp/1x2x4" || complain 'another digest'
report 'a dimension of length one changes nothing'

# A corner numbers nodes; only that of a partition says which IO nodes it has.
run check bgq-board --set topology.corner=3x1x0x2x0 --set topology.io.every=16
[ $code -eq 0 ] || complain "$code: $(cat "$tmp/err")"
run show bgq-board --set topology.corner=3x1x0x2x0 --set topology.io.every=16
grep -q ' 2 IO nodes' "$tmp/out" || complain "$(cat "$tmp/out" "$tmp/err")"
report 'a machine that begins at a corner has its own IO nodes'

cat >"$tmp/mu.yaml" <<'END'
schema: 1
machine: mu
topology: { kind: torus }
nic: { kind: bgq-mu }
END
run run "$tmp/mu.yaml" storm count=3 --shape 3x3x3x3x3
[ $code -eq 0 ] || complain "$code: $(cat "$tmp/err")"
run run "$tmp/mu.yaml" storm count=3 --shape 3x3x3 --set topology.links=2
[ $code -eq 2 ] && grep -q 'for 10 links of a node, not 12' "$tmp/err" ||
	complain "$code: $(cat "$tmp/err")"
report 'a message unit has engines for ten links'

exit $status
