#!/bin/sh
#
# What follows from a network's shape holds however it is described: a torus, a
# tree, a dragonfly and a HyperX, and lists of their edges, have the same peak,
# distances and latency, and nothing carries more than its peak.
# NET-F33.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

# The edges of a machine, from `weft show`: lengths follow from latencies, of
# which switches have the part that wires to nodes lack.
edges() { # into $tmp/edges.csv; $logic and $node are of its switches and nodes
	jq -r '(.wires | map({(.class): .latency_ns}) | add) as $at |
		($at["node down"] - $at["node up"]) as $logic |
		def name: .[7:] | gsub(","; ".");
		"\($logic) \($at["node up"] / 5)",
		([.edges[] | select(.from | startswith("node"))] |
			group_by(.to) |
			map({ n: (.[0].from[5:] | split(" ")[0] | tonumber),
				s: (.[0].to | name), k: length }) |
			sort_by(.n)[] | "node,\(.s),\(.k)"),
		([.edges[] | select(.from | startswith("switch")) |
			select(.to | startswith("switch")) |
			"\(.from | name),\(.to | name)," as $pair |
			{ $pair, m: (($at[.class] - $logic) / 5) }] |
			to_entries | group_by(.value.pair) |
			sort_by(.[0].key)[] |
			"\(.[0].value.pair)\(length),\(.[0].value.m)")' \
		"$tmp/out" >"$tmp/all"
	read -r logic node <"$tmp/all"
	sed 1d "$tmp/all" >"$tmp/edges.csv"
}
facts() { # the peak of the largest packet, and the lengths of paths
	jq -c '[([.. | .random_peak_GBps_per_node? // empty] | max),
		.hops]' "$tmp/out"
}
carries() { # MACHINE...: no more than its peak; its latency at a low load
	ends 0 run "$@" random load=max bytes=2048 warmup=10us measure=20us \
		--json
	holds '.results.fraction_of_peak <= 1'
	ends 0 run "$@" random load=0.2 bytes=2048 warmup=5us measure=40us \
		--json
	holds '.results.fraction_of_peak | . > 0.19 and . < 0.21'
	jq '.results.latency_ns.mean * 100 | round' "$tmp/out"
}
fly() { # NODES PER-ROUTER ROUTERS
	echo "dragonfly --shape $1 --set topology.per-router=$2 --set" \
		"topology.routers=$3 --set topology.global=2"
}
{
	echo torus --shape 8x4 --set topology.nodes=2 --set router.kind=crossbar
	echo fattree --shape 64
	fly 72 2 4
	fly 30 3 2
	echo hyperx --shape 4x3 --set topology.per-router=2
} >"$tmp/machines"
while read -r machine; do
	same="--set routing.kind=layers --set routing.by=layer
		--set routing.overflow=updown --set router.packets=8"
	ends 0 show $machine $same --json
	edges
	one=$(facts)
	list="graph --set topology.edges=$tmp/edges.csv
		--set topology.router=${logic}ns
		--set topology.cable.node=$node"
	ends 0 show $list $same --json
	[ "$(facts)" = "$one" ] ||
		complain "$machine: $one, its edges: $(facts)"
	one=$(carries $machine $same)
	other=$(carries $list $same)
	[ $((100 * (one - other))) -le "$one" ] &&
		[ $((100 * (other - one))) -le "$one" ] ||
		complain "$machine takes $one, its edges $other"
done <"$tmp/machines"
report 'a network and the list of its edges are the same'

# The links between both halves are what can flow from the nodes of one to those
# of the other: augmenting paths, one link after the other.
flow() {
	jq -r '"\(.nodes) 0 0", (.edges[] | "\(.from | gsub(" "; "_")) " +
		"\(.to | gsub(" "; "_")) \(if .from | startswith("node")
		then 9999 else 1 end)")' "$tmp/out" | awk '
	function find(    head, tail, at, i, to) {
		delete came
		queue[0] = "s"
		came["s"] = "s"
		tail = 1
		for (head = 0; head < tail; head++) {
			at = queue[head]
			for (i = 0; i < n[at]; i++) {
				to = next_of[at, i]
				if (to in came || !room[at, to])
					continue
				came[to] = at
				if (to == "t")
					return 1
				queue[tail++] = to
			}
		}
		return 0
	}
	function join(a, b, links) {
		if (!((a, b) in room)) {
			next_of[a, n[a]++] = b
			next_of[b, n[b]++] = a
		}
		room[a, b] += links
		room[b, a] += links
	}
	NR == 1 { half = $1 / 2; next }
	{ join($1, $2, $3) }
	$1 ~ /^node_/ {
		split($1, part, "_")
		join(part[2] < half ? "s" : "t", $1, 9999)
	}
	END {
		for (sum = 0; find(); sum++)
			for (at = "t"; at != "s"; at = came[at]) {
				room[came[at], at]--
				room[at, came[at]]++
			}
		print sum
	}'
}
{
	echo torus --shape 4x8 --set topology.nodes=2 --set router.kind=crossbar
	echo fattree --shape 64
	fly 64 2 4
	echo hyperx --shape 3x4 --set topology.per-router=2 \
		--set topology.links=2x1
} >"$tmp/machines"
while read -r machine; do
	ends 0 show $machine --json
	[ "$(jq .bisection.links "$tmp/out")" = "$(flow)" ] ||
		complain "$machine: $(jq .bisection.links "$tmp/out")" \
			"links, but a flow of $(flow)"
done <"$tmp/machines"
report 'the links between two halves are the greatest flow'

# Links inside of groups are few, or some have more to carry than others: by
# detours more may arrive than by the shortest paths, but no more than the peak.
for how in '30 3 2' '64 2 4' '56 2 4'; do
	for mode in minimal ugal ugal-g par; do
		ends 0 run $(fly $how) random --set routing.mode=$mode \
			load=max bytes=2048 warmup=5us measure=10us --json
		holds '.results.fraction_of_peak <= 1'
	done
done
# Nor do the cards of its nodes send more out of a group than its global links
# carry: of 32 nodes, to 30 links; of two groups of 8 and 3 nodes, to 8 links.
peak() { # NODES GROUP LINKS: the greatest of packets of one way
	holds "[.packets[1:][] | .random_peak_GBps_per_node -
		.one_way_GBps * $3 * ($1 - 1) / ($2 * ($1 - $2))] | max < 0.001"
}
ends 0 show dragonfly --shape 128 --set nic.cards=4 --json
peak 128 32 30
ends 0 show dragonfly --shape 1024 --set nic.cards=4 --json
peak 1024 32 31
ends 0 show $(fly 56 2 4) --json
peak 56 8 6
uneven="$(fly 11 2 4) --set topology.groups=2 --set nic.cards=4"
ends 0 show $uneven --json
peak 11 8 8
for mode in minimal ugal; do
	ends 0 run $uneven random --set routing.mode=$mode load=max bytes=2048 \
		warmup=5us measure=5us --json
	holds '.results.fraction_of_peak <= 1'
done
report 'no routing carries more than the peak'

# While queues still grow, what takes free ways may be more than the peak.
short="dragonfly --shape 64 --set topology.global=1 random load=max measure=2us"
ends 0 run $short warmup=1us
grep -q '^warning .*more than the peak arrives' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
ends 0 run $short warmup=60us
! grep -q 'more than the peak' "$tmp/out" || complain "$(cat "$tmp/out")"
report 'more than the peak is said to be for a short time only'

# The permutation with the longest paths: all pairs of nodes as far from each
# other as can be, where each has one at the greatest distance.
longest() { # HOPS MACHINE...
	hops=$1
	shift
	ends 0 run "$@" worst load=0.05 bytes=64 warmup=1us measure=20us --json
	holds ".work.packet_hops / .work.packets | . > 0.97 * $hops and
		. < 1.03 * $hops"
}
longest 5 torus --shape 4x6
longest 4 hyperx --shape 4x3 --set topology.per-router=2 \
	--set routing.mode=minimal
longest 6 fattree --shape 64
# three routers in a row: the ends swap, and the middle one sends nowhere
longest 2 torus --shape 3 --set topology.wrap=mesh
ends 0 run torus worst --shape 6x4 --threads 3 warmup=1us measure=2us --json
one=$(jq .digest "$tmp/out")
ends 0 run torus worst --shape 6x4 --processes 2 warmup=1us measure=2us --json
holds ".digest == $one"
printf '%s\n' 'schema: 1' 'jobs:' \
	'- { name: a, nodes: [0, 3, 11], workload: worst }' >"$tmp/jobs.yaml"
refuses 'needs the whole machine' run torus --shape 4x4 --jobs "$tmp/jobs.yaml"
report 'the worst permutation has the longest paths'

exit $status
