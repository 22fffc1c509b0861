#!/bin/sh
#
# Price lists: the parts of known machines are counted exactly, each part has a
# price or is named, and the energy of a run is that of its links.
# NET-F30, NET-F31.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

list=$src/examples/prices.yaml

# Each line: kind, number, ports in use, ports empty, metres, key.
counts() { # WHAT LINES ARGUMENTS
	what=$1 lines=$2
	shift 2
	ends 0 show "$@" --bill "$list" --json
	jq -r '.bill.parts[] | "\(.kind) \(.number) \(.ports_used // "-")" +
		" \(.ports_empty // "-") \(.metres // "-") \(.key)"' \
		"$tmp/out" >"$tmp/counts"
	[ "$(cat "$tmp/counts")" = "$lines" ] ||
		complain "$(cat "$tmp/counts")"
	holds '.bill | .sum.price ==
			([.parts[] | .number * .price_each] | add)' \
		'.bill | .sum.watts ==
			([.parts[] | .number * .watts_each] | add)'
	report "$what"
}

# NVIDIA's table of NDR clusters: switches of 64 ports, all in use, and as many
# cables at each stage.
for nodes in 1024:48 4096:320 8192:640; do
	n=${nodes%:*}
	lines="switch ${nodes#*:} 64 0 - switches.64
card $n 1 0 - cards
cable $n - - 3 cables.copper.3
cable $n - - 10 cables.fibre.10"
	[ "$n" = 1024 ] || lines="$lines
cable $n - - 10 cables.fibre.10"
	counts "a tree of $n nodes uses all ports" "$lines" \
		fattree --shape "$n" --set topology.ports=64
done
ends 0 show fattree --shape 8192 --set topology.ports=64 --json
holds '[.levels[].switches] == [256, 256, 128]' \
	'[.levels[].ports_empty] == [0, 0, 0]'
ends 0 show fattree --shape 4096 --set topology.ports=64 --json
holds '[.levels[].switches] == [128, 128, 64]'
ends 0 show fattree --shape 1024 --set topology.ports=64 --json
holds '[.levels[].switches] == [32, 16]'
peak=$(jq '[.packets[].random_peak_GBps_per_node // empty] | max' "$tmp/out")
counts 'a tree with a switch for each up-link: half of the top is empty' \
'switch 32 32 32 - switches.64
switch 32 64 0 - switches.64
card 1024 1 0 - cards
cable 1024 - - 3 cables.copper.3
cable 1024 - - 10 cables.fibre.10' fattree --shape 1024 \
	--set topology.radix=32
ends 0 show fattree --shape 1024 --set topology.ports=64 --bill "$list" --json
holds '.bill.sum == { switches: 48, cards: 1024, cables: 2048,
	price: (4800 + 10240 + 1024 + 10240),
	watts: (4800 + 10240 + 1024) }' \
	'.bill.per_node == { price: 25.6875, watts: 15.6875 }' \
	".bill.random_peak_Gbps / ($peak * 8 * 1024) - 1 | fabs < 1e-6" \
	'.bill | .per_Gbps.price * .random_peak_Gbps / .sum.price - 1 |
		fabs < 1e-8'
report 'sums, and shares of nodes and of the random peak'

# 32 groups, each with 31 global links on 8 routers with 4 ports for them: one
# port is empty.
counts 'a dragonfly of 1,024 nodes has two kinds of routers' \
'switch 32 14 2 - switches.16
switch 224 15 1 - switches.16
card 1024 1 0 - cards
cable 1024 - - 2 cables.copper.3
cable 896 - - 2 cables.copper.3
cable 496 - - 20 cables.fibre.100' dragonfly
counts 'a Slim Fly of q = 5' \
'switch 50 11 5 - switches.16
card 200 1 0 - cards
cable 200 - - 2 cables.copper.3
cable 175 - - 10 cables.copper.10' slimfly --shape 5
counts 'a random graph of 10 switches with 3 links each' \
'switch 10 7 9 - switches.16
card 40 1 0 - cards
cable 40 - - 2 cables.copper.3
cable 15 - - 10 cables.copper.10' graph --shape 10x3x1 \
	--set topology.per-router=4
counts 'a torus has cards with routers, and rings of two have two cables' \
'card 24 6 0 - cards
cable 24 - - 1 cables.copper.3
cable 24 - - 2 cables.copper.3
cable 24 - - 4 cables.copper.10' torus --shape 2x3x4
counts 'a mesh has cards with empty ports' \
'card 4 3 1 - cards
card 2 4 0 - cards
cable 4 - - 1 cables.copper.3
cable 6 - - 2 cables.copper.3' torus --shape 3x2 \
	--set topology.wrap=mesh,torus
# On each rail 4 leaves with 16 nodes, 18 links up and 4 to the sibling, and 18
# spines; chips have 40 ports.
counts 'two rails of 64 nodes: a card for each port of a node' \
'switch 36 4 60 - switches.64
switch 8 38 26 - switches.64
card 128 1 0 - cards
cable 128 - - 13 cables.fibre.100
cable 144 - - 13 cables.fibre.100
cable 16 - - 13 cables.fibre.100' sunway --shape 64

for machine in $("$weft" machines --json |
	sed -n 's/^ *"name": "\(.*\)",$/\1/p'); do
	ends 0 show "$machine" --bill "$list" --csv "$tmp/bill.csv"
	[ "$(awk -F , '$NF ~ /[0-9]/ { n++ } END { print n + 0 }' \
		"$tmp/bill.csv")" -gt 1 ] || complain "$machine: no CSV"
done
report 'every machine has a bill'

# --- what is missing or wrong ---

without() { # SED-COMMANDS
	sed "$1" "$list" >"$tmp/list.yaml"
}

without '/^  64:/d'
refused 'no price for "switch of 42 ports"; the nearest is switches.16' \
	show gemini --bill "$tmp/list.yaml"
without '/^switches/,/^  64/d'
refused 'no price for "switch of 42 ports"; want switches.42' \
	show gemini --bill "$tmp/list.yaml"
without '/^cards/d'
refused 'no price for "card"; want cards' show torus --bill "$tmp/list.yaml"
without '/ fibre/,/ 100:/d'
refused 'no price for "cable global, 20 m"; the nearest is cables.copper.10' \
	show dragonfly --bill "$tmp/list.yaml"
without '/^  wires/d'
refused 'no price for "wire board"; want cables.wires' \
	show bgq --bill "$tmp/list.yaml"
without '/^cards/s/, watts: 10//'
refused 'cards has no watts' show torus --bill "$tmp/list.yaml"
without '/^cards/s/, pj-per-bit: 10//'
refused 'cards has no pj-per-bit' run torus random \
	--energy "$tmp/list.yaml"
for wrong in -1 nan 0x10 1e16 '""' '[1]'; do
	without "/^cards/s/price: 10/price: $wrong/"
	refused "list.yaml:13:17: " show torus --bill "$tmp/list.yaml"
done
without 's/^  64:/  16:/'
refused 'list.yaml:12:3: size 16 is given twice' \
	show torus --bill "$tmp/list.yaml"
without 's/^cards/card/'
refused 'want schema, title, currency, switches, cards, domains or cables' \
	show torus --bill "$tmp/list.yaml"
refused '--csv has no effect without --bill' show torus --csv "$tmp/x.csv"
refused 'a bill is text or JSON' show torus --bill "$list" --svg
refused 'is not a bill' show torus --bill "$list" --csv "$tmp/list.yaml"

# A class of wires may have a price of its own.
{ cat "$list"; echo '  "global": { price: 7, watts: 0 }'; } >"$tmp/list.yaml"
ends 0 show dragonfly --bill "$tmp/list.yaml" --json
holds '.bill.parts[-1] | .key == "cables.global" and .price == 496 * 7'
report 'a class of wires has a price of its own'

# --- energy ---

for machine in 'fattree --shape 16' 'torus --shape 3x3'; do
	ends 0 run $machine random load=0.5 warmup=1us measure=4us --json
	digest=$(jq .digest "$tmp/out")
	ends 0 run $machine random load=0.5 warmup=1us measure=4us --json \
		--energy "$list" --links "$tmp/links.csv" -o "$tmp/run.db"
	holds ".digest == $digest" \
		'.energy | ([.parts[].idle_J] | add) / .idle_J - 1 |
			fabs < 1e-8'
	# by the bytes of each wire: 10 pJ a bit at the sender, and 1 or 10 in
	# the cable
	traffic=$(awk -F , 'NR > 1 {
		bytes = $(NF - 3)
		sum += bytes * 8e-12 * (10 + ($0 ~ /stage/ ? 10 : 1))
	} END { printf "%.12g", sum }' "$tmp/links.csv")
	idle=$("$weft" show $machine --bill "$list" --json | jq .bill.sum.watts)
	holds ".energy.traffic_J / $traffic - 1 | fabs < 1e-8" \
		".energy.idle_J / ($idle * .sim_time_ns / 1e9) - 1 |
			fabs < 1e-8" \
		'.energy | (.idle_J + .traffic_J) / .total_J - 1 | fabs < 1e-8'
	energy=$(jq .energy.traffic_J "$tmp/out")
	"$weft" sql "$tmp/run.db" "select value from figure where
		name = 'traffic_J'" --json >"$tmp/out"
	jq -e "[.. | numbers] | any(. / $energy - 1 | fabs < 1e-8)" \
		"$tmp/out" >/dev/null ||
		complain "in the file: $(cat "$tmp/out")"
	report "$machine: energy is that of the links and of the time"
done
ends 0 run $machine random load=0.5 warmup=1us measure=4us --json \
	--energy "$list" --processes 2
holds ".energy.traffic_J == $energy"
report 'two processes find the same energy'
run rerun "$tmp/run.db"
[ $code -eq 0 ] || complain "$(cat "$tmp/out" "$tmp/err")"
grep -q -- "--energy $list" "$tmp/out" || complain "$(cat "$tmp/out")"
report 'a run with --energy can be repeated'

# --- sweeps ---

cat >"$tmp/last.yaml" <<END
schema: 1
faults: { events: [ 0 us switch last dies ] }
END
small='random load=0.5 warmup=1us measure=4us'
for machine in fattree dragonfly; do
	"$weft" show $machine --shape 32 --bill "$list" --json |
		jq .bill.sum.price
	for plan in '' "--faults $tmp/last.yaml"; do
		"$weft" run $machine --shape 32 $small $plan --json |
			jq .results.throughput_GBps_per_node
	done
done | paste - - - >"$tmp/want"
ends 0 sweep fattree,dragonfly --shape 32 $small --bill "$list" \
	--faults none,"$tmp/last.yaml" --json
jq -r '.points[].figures | [.price.mean, .throughput_GBps_per_node.mean,
	.price_per_Gbps.mean] | @tsv' "$tmp/out" | paste - - |
	paste "$tmp/want" - | awk '
	function near(a, b) { return a / b < 1 + 1e-6 && b / a < 1 + 1e-6 }
	near($1, $4) && near($1, $7) && near($2, $5) && near($3, $8) &&
	near($6, $4 / (8 * 32 * $5)) && near($9, $4 / (8 * 32 * $8)) &&
	$2 > $3 { good++ } { print >"/dev/stderr" }
	END { exit good != 2 }' 2>"$tmp/table" ||
	complain "$(cat "$tmp/table")"
report 'a sweep with plans of faults has what each rate costs'
{ sed '/^currency:/d' "$list" && echo 'currency: EUR'; } >"$tmp/eur.yaml"
"$weft" sweep fattree --shape 32 $small --bill "$tmp/eur.yaml" >"$tmp/out" \
	2>"$tmp/err"
grep -q 'price per Gb/s, EUR' "$tmp/out" || complain "$(head -1 "$tmp/out")"
report 'a price in a sweep has its currency'

refused 'cards' sweep fattree --shape 32 $small --bill "$tmp/last.yaml"
report 'a sweep refuses what is no price list'

exit $status
