#!/bin/sh
#
# Any network of switches: from a file, random, and Slim Flies; its paths are
# proved free of deadlock, and what is proved runs.
# NET-F24.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

lasting='warmup=5us measure=10us'

# A torus of 4 x 4 as a list of edges.
awk 'BEGIN {
	print "from,to"
	for (x = 0; x < 4; x++)
		for (y = 0; y < 4; y++) {
			printf "s%d%d,s%d%d\n", x, y, (x + 1) % 4, y
			printf "s%d%d,s%d%d\n", x, y, x, (y + 1) % 4
		}
}' >"$tmp/torus.csv"
mkdir "$tmp/own"
cp "$tmp/torus.csv" "$tmp/own/edges.csv"
cat >"$tmp/own/mine.yaml" <<END
schema: 1
machine: mine
base: graph
topology:
  edges: edges.csv
  per-router: 1
routing:
  by: layer
END

ends 0 show "$tmp/own/mine.yaml" --json
holds '.nodes == 16 and .switches == 16'
holds '.graph | map(.value) == ["16", "4", "4", "2.133"]'
ends 0 check "$tmp/own/mine.yaml" --json
holds '.proved'
for kind in graph dot anynet; do
	case $kind in
	graph) name=edges.csv; cp "$tmp/torus.csv" "$tmp/$name" ;;
	dot)
		name=edges.dot
		sed '1d; s/,/ -- /; s/$/;/' "$tmp/torus.csv" |
			sed '1i graph {
				$a }' >"$tmp/$name" ;;
	anynet)
		name=edges.anynet
		sed '1d; s/s\(.*\),s\(.*\)/router \1 router \2/' \
			"$tmp/torus.csv" >"$tmp/$name" ;;
	esac
	ends 0 run graph random --set topology.edges="$tmp/$name" \
		--set topology.per-router=1 $lasting --json
	[ $kind != graph ] || one=$(jq .digest "$tmp/out")
	holds ".ending == \"finished\" and .digest == $one"
done
report 'edges are read from lines, DOT and anynet'

# The same bound for random traffic as of the torus that it is.
peak() { # what `weft show` says of the largest packet
	jq '[.. | .random_peak_GBps_per_node? // empty] | max' "$tmp/out"
}
awk 'BEGIN {
	for (x = 0; x < 16; x++)
		for (y = 0; y < 4; y++) {
			printf "s%d.%d,s%d.%d\n", x, y, (x + 1) % 16, y
			printf "s%d.%d,s%d.%d\n", x, y, x, (y + 1) % 4
		}
}' >"$tmp/long.csv"
ends 0 show torus --shape 16x4 --set topology.nodes=2 --json
torus=$(peak)
ends 0 show graph --set topology.edges="$tmp/long.csv" \
	--set topology.per-router=2 --json
[ "${torus%.*}" -lt 4 ] && [ "$torus" = "$(peak)" ] ||
	complain "a torus has a peak of $torus, its edges $(peak)"
report 'a torus has the same peak as its edges'

# Slim Fly: one path for each pair, and above 0.9 of the bound.
ends 0 show slimfly --shape 5 --json
holds '.graph | map(.value) == ["50", "7", "2", "1.857"]'
# A link carries 13 pairs of switches, 208 pairs of nodes, of the 199 that a
# node's link carries; protocol packets take some of it, one way or both ways.
holds '.packets[2] | .random_peak_GBps_per_node * 208 / 199 |
	. > '"$(jq '.packets[2].both_ways_GBps' "$tmp/out")"' and
	. < '"$(jq '.packets[2].one_way_GBps' "$tmp/out")"
least=$(jq '0.9 * 199 / 208 * .packets[2].one_way_GBps' "$tmp/out")
ends 0 run slimfly --shape 5 random load=max bytes=2048 $lasting \
	--set routing.paths=1 --json
holds '.results.fraction_of_peak | . > 0.9 and . <= 1' \
	".results.throughput_GBps_per_node > $least"
ends 0 check slimfly --shape 5 --json
holds '.proved and .nodes == 200'
report 'a Slim Fly comes near its bound'

for set in '' '--set routing.by=layer --set routing.paths=2' \
	'--set routing.paths=3 --set routing.spread=rotate' \
	'--set routing.paths=3 --set routing.spread=adaptive' \
	'--set routing.paths=2 --set routing.slack=1 --set routing.by=layer
	--set routing.spread=adaptive'; do
	set="$set --set topology.random=24x6x1 --set topology.per-router=2"
	ends 0 check graph $set --json
	holds '.proved'
	for threads in 1 2 3; do
		ends 0 run graph random $set --set router.packets=2 load=max \
			warmup=3us measure=5us --threads $threads --json
		[ $threads -gt 1 ] || one=$(jq .digest "$tmp/out")
		holds ".ending == \"finished\" and .digest == $one and
			.results.fraction_of_peak <= 1"
	done
	ends 0 run graph alltoall via=msg bytes=4KiB $set --json
	holds '.ending == "finished"'
done
report 'random networks carry traffic and messages, by any spread'

# Four pairs of nodes with four paths: flows of a queue share them better.
printf '%s\n' a,m1 a,m2 a,m3 a,m4 b,m1 b,m2 b,m3 b,m4 node,a,4 node,b,4 \
	>"$tmp/four.csv"
awk 'BEGIN {
	print "num_ranks 8"
	for (i = 0; i < 8; i++) {
		print "rank " i " {"
		for (k = 0; k < 32; k++)
			print (i < 4 ? "send 32768b to " i + 4 : \
				"recv 32768b from " i - 4) " tag " k
		print "}"
	}
}' >"$tmp/pairs.goal"
for flows in 1 64; do
	ends 0 run graph --set topology.edges="$tmp/four.csv" --json \
		--set routing.paths=4 --set nic.entropy=$flows \
		replay file="$tmp/pairs.goal"
	jq .results.time_ns "$tmp/out"
done | paste - - | awk '!($2 < 0.85 * $1) { print; exit 1 }' >"$tmp/times" ||
	complain "$(cat "$tmp/times")"
report 'a hash spreads the flows of a queue'

# Four layers are too few for these paths, which a tree takes.
many='--set topology.random=40x4x1 --set routing.by=layer
	--set routing.paths=4 --set routing.slack=1 --set routing.layers=2'
refuses 'the paths need [0-9]* layers, more than 2' check graph $many \
	--set routing.overflow=refuse
ends 0 check graph $many --set routing.overflow=updown --json
holds '.proved'
ends 0 run graph random $many --set routing.overflow=updown \
	--set router.packets=2 load=max $lasting --json
holds '.ending == "finished"'
report 'what fits into no layer goes up and down a tree'

# Links and a switch die, and one returns: other paths are found, or added.
plan <<END
  events:
    - 20 us link s0 to s13 dies
    - 22 us link s0 to s9 dies
    - 30 us link s0 to s13 returns
END
on='graph alltoall via=msg bytes=4000 --shape 16x4x1
	--set topology.per-router=2'
for how in by=layer by=hop 'paths=3 --set routing.spread=adaptive'; do
	how="$how --set routing.reload=2us"
	ends 0 run $on --set routing.$how --json
	whole=$(jq .results.time_ns "$tmp/out")
	ends 0 run $on --set routing.$how --faults "$tmp/plan.yaml" --json
	holds '.faults.repairs == 3 and .faults.lost_packets > 0' \
		".results.time_ns < $whole + (50 + 32 * 2) * 1000 + 20000"
	digest=$(jq .digest "$tmp/out")
	ends 0 run $on --set routing.$how --faults "$tmp/plan.yaml" --json \
		--threads 3
	holds ".digest == $digest"
done
ends 3 run $on --set routing.by=hop --set routing.reload=never \
	--faults "$tmp/plan.yaml"
grep -q 'switch s0 to s9 died' "$tmp/err" || complain "$(cat "$tmp/err")"
report 'paths around failed links'

# The network of weft-own(7): paths use parallel links and both spines, whatever
# spreads them, and one link of a bundle may die.
sed -n '/^from,to,links/,/^```/{/^```/d;p}' "$src/man/weft-own.7.scd" \
	>"$tmp/bundles.csv"
on="graph random --set topology.edges=$tmp/bundles.csv load=max bytes=2048"
for spread in hash rotate adaptive; do
	ends 0 run $on $lasting --set routing.spread=$spread --json
	holds '.results.fraction_of_peak | . > 0.9 and . <= 1'
done
ends 0 run $on $lasting --set routing.paths=1 --json
holds '.results.fraction_of_peak > 0.75'
ends 0 check graph --set topology.edges="$tmp/bundles.csv" --json
holds '.proved'
plan <<END
  events:
    - 2 us link leaf1 to spine1 dies
END
ends 0 run $on $lasting --set routing.reload=1us --faults "$tmp/plan.yaml" \
	--json
holds '.results.fraction_of_peak > 0.8 and .faults.lost_packets < 20'
ends 0 check graph --set topology.edges="$tmp/bundles.csv" \
	--faults "$tmp/plan.yaml" --json
holds '.proved'
report 'a path takes all of its parallel links'

# A file that has changed is named when a run is repeated.
cd "$tmp/own" || exit 1
ends 0 run ./mine.yaml random $lasting --output run.db
echo 's00,s22' >>edges.csv
run rerun run.db
grep -q 'changed.*edges.csv' "$tmp/out" ||
	complain 'the changed file is not named'
cd "$OLDPWD" || exit 1
ends 0 new graph "$tmp/new.yaml" --set topology.edges="$tmp/torus.csv"
ends 0 check "$tmp/new.yaml" --json
holds '.proved and .nodes == 128'
cd "$tmp" || exit 1
ends 0 new graph own/beside.yaml --set topology.edges=torus.csv
cd own || exit 1
ends 0 new ./mine.yaml "$tmp/far.yaml"
cd "$OLDPWD" || exit 1
cd /
ends 0 show "$tmp/own/beside.yaml"
ends 0 show "$tmp/far.yaml"
report 'files of edges are inputs of a run, and of new machines'

printf 'a,b\nc,d\n' >"$tmp/apart.csv"
printf 'a,b\nb,a\n' >"$tmp/twice.csv"
printf 'a,b,65\n' >"$tmp/ports.csv"
refuses 'no path leads from switch a to switch c' show graph \
	--set topology.edges="$tmp/apart.csv"
refuses 'twice.csv:2: these switches are joined already' show graph \
	--set topology.edges="$tmp/twice.csv"
refuses 'ports.csv:1: want a number of parallel links, 1 to 64' show graph \
	--set topology.edges="$tmp/ports.csv"
printf 'a,b,1,5,1B/s\n' >"$tmp/rate.csv"
refuses 'rate.csv:1: want a rate such as 400 Gb/s, 1 MB/s to 1000 GB/s' show \
	graph --set topology.edges="$tmp/rate.csv"
sed 's/^node,leaf2/node,laef2/' "$tmp/bundles.csv" >"$tmp/typo.csv"
refuses 'typo.csv:7: no link joins switch laef2 to others; did you mean leaf2' \
	show graph --set topology.edges="$tmp/typo.csv"
refuses 'cannot read' show graph --set topology.edges="$tmp/none.csv"
refuses 'cannot read' show graph --set topology.edges="$tmp"
refuses '6 is not a prime power' show slimfly --shape 6
refuses 'want three numbers' show graph --set topology.random=8x1x1
refuses 'needs a network of' check torus --set routing.kind=layers
refuses 'paths of [0-9] hops need as many channels' check graph \
	--set topology.random=40x4x1 --set routing.by=hop
few="graph random --set topology.edges=$tmp/bundles.csv load=0.1"
refuses 'there is no switch "leaf9"; did you mean leaf1?' run $few \
	--set faults.events='1 us switch leaf9 dies'
refuses 'there is no switch "core" (want leaf1 to leaf2)' run $few \
	--set faults.events='1 us switch core dies'
report 'bad input is refused'

# A switch that a user calls last is meant by this name, and not another one.
cat >"$tmp/names.csv" <<END
a,last,2
last,b,2
node,a,2
node,last,2
node,b,2
END
: >"$tmp/digests"
for name in last b; do
	ends 0 run graph random --set topology.edges="$tmp/names.csv" load=0.3 \
		--set faults.events="1 us switch $name dies" $lasting --json
	value digest >>"$tmp/digests"
done
[ "$(sort -u "$tmp/digests" | wc -l)" -eq 2 ] ||
	complain "$(cat "$tmp/digests")"
report 'a switch may be called last'

# Distances and the peak of 1,500 switches, which took five CPU seconds, come
# before the routing is refused.
if [ -z "${WEFT_SLOW:-}" ]; then
	(
		ulimit -t 2
		run show graph --set topology.random=1500,5,2 \
			--set routing.kind=updown
		[ $code -eq 2 ] || complain "$code: $(cat "$tmp/err")"
	)
	report 'distances in a large network take little time'
fi

exit $status
