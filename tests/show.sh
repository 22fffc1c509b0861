#!/bin/sh
#
# Compares weft show of the machines with tests/golden/show-*.txt, but for the
# line on weft's own memory.  tests/show.sh --write writes what it gets.
set -u
. "$(dirname "$0")/tap.sh"

for machine in bgq bgq-board bgq-midplane bgq-rack bgq-20pf \
	qsnet2-16 qsnet2-512 qsnet2-4096; do
	golden=$src/tests/golden/show-$machine.txt
	run show $machine
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	sed '/^simulation /d' "$tmp/out" >"$tmp/shown"
	if [ "${1-}" = --write ]; then
		cp "$tmp/shown" "$golden"
	else
		diff "$golden" "$tmp/shown" >>"$tmp/complaints" 2>&1
	fi
	awk 'length > 80 { print "too wide: " $0 }' "$tmp/shown" \
		>>"$tmp/complaints"
	report "weft show $machine"
done

if ! command -v jq >/dev/null; then
	skip "what the paper says of it" "no jq"
	exit $status
fi

is() { # WHAT MACHINE JQ-TEST
	run show $2 --json
	jq -e "$3" "$tmp/out" >/dev/null || complain "not so: $3"
	report "$1"
}

is "BGQ-N1: the 20 PF machine has 98304 nodes" bgq-20pf '.nodes == 98304'
is "BGQ-N3: ten torus ports" bgq '.ports == 10'
is "BGQ-N15: its bisection is 46 times that of BG/L" bgq-20pf \
	'.bisection.raw_GBps / (2 * 98304 / 64 * 0.175) | . > 45.5 and . < 46'
is "BGQ-N17: a midplane has 512 nodes" bgq-midplane '.nodes == 512'
is "BGQ-N18: a board has 32" bgq-board '.nodes == 32 and
	.packaging == [{ unit: "board", shape: "2x2x2x2x2", nodes: 32,
		units: 1 }]'
is "BGQ-N31: 2.6 us at worst" bgq-20pf \
	'.packets[0].zero_load_ns.max | . > 2540 and . < 2660'
is "BGQ-N83: 15.5 hops on average" bgq-20pf \
	'.hops.mean | . > 15.495 and . < 15.505'
is "a board alone has no links around" bgq-board \
	'[.dimensions[].links] == [16, 16, 16, 16, 32]'

is "TPU v4 has 6,144 optical ends" tpu-v4 '.nodes == 4096 and
	([.wires[] | select(.class == "midplanes").links] == [6144 / 2])'

# 64 nodes: of three stages with 64 cables each one or more are of fibre, and a
# cable has a transceiver at each end.
while read -r lengths n bisection; do
	is "QSN-F75: cables of $lengths m have $n transceivers" \
		"qsnet2-64 --set topology.cable.length=$lengths" \
		".fibres.transceivers == $n and .fibres.code == \"4b5b\" and
		.fibres.data_GBps == 1.0664 and
		(.bisection.raw_GBps - $bisection | fabs) < 1e-6"
done <<EOF
5,4,14 128 34.1248
5,14,13 128 42.656
5,20 256 34.1248
50 384 34.1248
EOF
# A packet alone takes what its slowest wire takes: 0.25 of 438.86 ns more.
for to in '1 min' '15 max'; do
	for lengths in 20,4 5,20; do
		set -- $to
		run run qsnet2-16 pingpong via=net to="$1" bytes=512 rounds=2 \
			--set topology.cable.length=$lengths --json
		is "QSN-F75: as simulated, over $lengths m to node $1" \
			"qsnet2-16 --set topology.cable.length=$lengths" \
			".packets[2].zero_load_ns.$2 - \
			$(jq .results.latency_ns.max "$tmp/out") | fabs < 0.001"
	done
done
is 'QSN-F75: copper has none' qsnet2-64 '.fibres == null'
is 'the same if fibres have no code of their own' \
	'qsnet2-64 --set topology.cable.length=50 --set link.fibre-code=same' \
	'.fibres == null and (.bisection.raw_GBps - 42.656 | fabs) < 1e-6'

# What bounds one flow, and what a stream then reaches.
while read -r bound set; do
	# shellcheck disable=SC2086
	run show torus --shape 4 $set --json
	jq -e --arg b "$bound" '.one_flow.bound_by | contains($b)' \
		"$tmp/out" >/dev/null || complain "$(jq .one_flow "$tmp/out")"
	most=$(jq .one_flow.GBps "$tmp/out")
	remedy=$(jq -r .one_flow.set "$tmp/out")
	# shellcheck disable=SC2086
	run run torus stream bytes=1MiB rounds=5 --shape 4 $set --json
	jq -e ".results.total_MBps / 1000 | . <= $most and . > 0.95 * $most" \
		"$tmp/out" >/dev/null ||
		complain "$(jq .results.total_MBps "$tmp/out") of $most"
	if [ "$bound" = link ]; then
		[ "$(jq '.warnings | length' "$tmp/out")" -eq 0 ] ||
			complain "$(jq -c .warnings "$tmp/out")"
	else
		jq -e --arg r "$remedy" '.warnings[0] | contains($r)' \
			"$tmp/out" >/dev/null || complain "no $remedy"
		others=$(echo "$set" | sed "s/--set ${remedy%%=*}=[^ ]*//")
		# shellcheck disable=SC2086
		run show torus --shape 4 $others --set "$remedy" --json
		jq -e ".one_flow | .GBps > $most" "$tmp/out" >/dev/null ||
			complain "$remedy does not help"
	fi
	report "one flow is bound by the $bound${set:+ with $set}"
done <<END
link
bus --set link.rate=400Gb/s
bus --set side.reads=2
card --set nic.packet=200ns
END
run sweep torus random load=0.01,0.02 --shape 4 warmup=200us measure=200us \
	--set topology.cable.length=2000
[ "$(grep -c '^warning: ' "$tmp/out")" -eq 1 ] || complain "$(cat "$tmp/out")"
grep -q '^warning: torus load=0.01 seed=1: buffers hold 8 packets, but a round'\
' .* --set router.packets=122; and 1 other point$' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'a sweep prints warnings, with the value to set'

for machine in 'torus --shape 4x3x2' qsnet2-64 'dragonfly --shape 64' \
	'gemini --shape 3x2x2' 'torus --shape 1'; do
	# shellcheck disable=SC2086
	run show $machine --json
	links=$(jq '.edges | length' "$tmp/out")
	sites=$(jq '.nodes + (.switches // 0)' "$tmp/out")
	jq -e '[.edges[] | .from + "," + .port, .to + "," + .to_port] |
		length == (unique | length)' "$tmp/out" >/dev/null ||
		complain 'a port has two links'
	# shellcheck disable=SC2086
	run show $machine --dot
	[ "$(grep -c ' -- ' "$tmp/out")" -eq "$links" ] ||
		complain "not $links links in the graph"
	[ "$(grep -c 'label=.*shape=' "$tmp/out")" -eq "$sites" ] ||
		complain "not $sites sites in the graph"
	# shellcheck disable=SC2086
	run show $machine --svg
	[ "$(grep -c '</title></' "$tmp/out")" -eq "$sites" ] ||
		complain "not $sites sites in the picture"
	[ "$(tail -n 1 "$tmp/out")" = '</svg>' ] || complain 'it has no end'
	report "a picture, a graph and a list of ${machine%% *} are the same"
done

run run torus random --shape 3x2 warmup=1us measure=2us -o "$tmp/run.db"
"$weft" sql "$tmp/run.db" --json "select site.name || ',' || link.name || ',' ||
	far.name || ',' || wire v from link join site on site.id = link.site
	join site far on far.id = link.to_site" | jq -r '.[].v' | sort \
	>"$tmp/links"
run show torus --shape 3x2 --json
jq -r '.edges[] | (.from + "," + .port + "," + .to + "," + .class),
	(.to + "," + .to_port + "," + .from + "," + .class)' "$tmp/out" | sort |
	diff - "$tmp/links" >>"$tmp/complaints" 2>&1
report 'links have the names that they have in run files'
name=$(jq -r '.edges[3].name' "$tmp/out")
plan() { # LINK
	run run torus random --shape 3x2 warmup=1us measure=2us \
		--set "faults.events=1us $1 dies"
}
plan "$name"
grep -v 'packets would be lost' "$tmp/err" >>"$tmp/complaints"
plan "link (7,7) A+"
grep -q '7,7' "$tmp/err" || complain "no error: $(cat "$tmp/err")"
report 'links have the names that they have in fault plans'

# What a report draws has a picture, too: a dot for each site and a line for
# each link, none of which is elsewhere.
for machine in 'torus --shape 16x16x16' 'fattree --shape 2048' qsnet2-1024 \
	'gemini --shape 12x12x8'; do
	# shellcheck disable=SC2086
	run show $machine --json
	sites=$(jq '.nodes + ([.levels[]?.switches] | add // 0)' "$tmp/out")
	links=$(jq '[.wires[].links] | add' "$tmp/out")
	# shellcheck disable=SC2086
	run show $machine --svg
	[ $code -eq 0 ] || complain "$machine: $(cat "$tmp/err")"
	[ "$(tail -n 1 "$tmp/out")" = '</svg>' ] || complain 'it has no end'
	[ "$(grep -o 'M[0-9 ]*h0' "$tmp/out" | wc -l)" -ge "$sites" ] ||
		complain "$machine: not $sites sites"
	[ "$(grep -o 'M[0-9 ]*L[0-9 ]*' "$tmp/out" | wc -l)" -ge \
		"$((links / 2))" ] || complain "$machine: not $links links"
	[ "$(wc -c <"$tmp/out")" -lt 4000000 ] || complain 'it is too large'
done
report 'pictures of large machines have every site and link'

printf 'schema: 1\nmachine: odd\nbase: fattree\ntitle: "<b>1 & 2</b>"\n' \
	>"$tmp/odd.yaml"
run show "$tmp/odd.yaml" --shape 1 --svg
grep -q '<title>&lt;b&gt;1 &amp; 2&lt;/b&gt;</title>' "$tmp/out" ||
	complain "$(cat "$tmp/out" "$tmp/err")"
run show "$tmp/odd.yaml" --shape 1
grep -q ', 1 node, 1 switch of 8 ports$' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
run show "$tmp/odd.yaml" --shape 5
grep -q ', 5 nodes, 6 switches of 8 ports$' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'titles are text in pictures, and numbers have their plurals'

run show bgq-20pf --dot
[ $code -eq 2 ] || complain "exit code $code"
grep -q 'too many for a' "$tmp/err" || complain "$(cat "$tmp/err")"
run show torus --shape 64x64x64 --svg
[ $code -eq 2 ] || complain "exit code $code"
grep -q 'too many for a' "$tmp/err" || complain "$(cat "$tmp/err")"
run show torus --svg --json
[ $code -eq 2 ] || complain "exit code $code"
report 'what is too large to be drawn is refused'

# --- a file to begin with ---

for machine in torus fattree dragonfly bgq-board gemini; do
	run new $machine "$tmp/my.yaml"
	[ $code -eq 0 ] || complain "$machine: $(cat "$tmp/err")"
	for name in $machine "$tmp/my.yaml"; do
		run show "$name" --json
		grep -v '"machine"\|"title"' "$tmp/out" >"$tmp/mine.is"
		[ "$name" = $machine ] &&
			mv "$tmp/mine.is" "$tmp/$machine.is"
	done
	cmp -s "$tmp/$machine.is" "$tmp/mine.is" ||
		complain "$machine: $(diff "$tmp/$machine.is" "$tmp/mine.is" |
			head -n 5)"
	rm "$tmp/my.yaml" "$tmp/mine.is"
done
report 'weft new writes a machine that is the same, and stands alone'

run new torus "$tmp/my.yaml" --shape 4x4 --set link.rate=25GB/s
grep -q '^  rate: 200 Gb/s$' "$tmp/my.yaml" &&
	grep -q '^  shape: 4x4$' "$tmp/my.yaml" &&
	! grep -q 'midplanes:' "$tmp/my.yaml" ||
	complain "$(cat "$tmp/my.yaml")"
run new torus "$tmp/my.yaml"
[ $code -eq 2 ] && grep -q 'exists; remove it first' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
run new torus
[ $code -eq 2 ] || complain "exit code $code"
run new torsu "$tmp/other.yaml"
[ $code -eq 2 ] && [ ! -e "$tmp/other.yaml" ] || complain "exit code $code"
report 'it takes what is set, and leaves files alone that are there'

printf 'schema: 1\nmachine: x\ntitle: x\ntopology:\n  kind: %s\n' fattree \
	>"$tmp/x.yaml"
run show "$tmp/x.yaml"
grep -q '^4-ary 3-tree, 64 nodes, 48 switches of 8 ports' "$tmp/out" ||
	complain "$(head -n 3 "$tmp/out" "$tmp/err")"
printf 'schema: 1\nmachine: x\ntitle: x\ntopology:\n  kind: torus\n' \
	>"$tmp/x.yaml"
run show "$tmp/x.yaml"
grep -q 'board\|midplane' "$tmp/out" && complain "$(cat "$tmp/out")"
report 'a file that sets a kind alone has links up as down, and no boards'

run show fattree --shape 8192 --set topology.ports=64 \
	--set link.rate=400Gb/s
grep -q '^bisection .*: 204800 GB/s each way, 199[0-9]* of' "$tmp/out" ||
	complain "$(grep bisection "$tmp/out")"
report 'a large bisection is written without an exponent'

run show torus
grep -q '^warning' "$tmp/out" && complain "$(cat "$tmp/out")"
run show torus --set topology.cable.length=500
grep -q '^warning .* needs 32 packets (wire A)' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
run show torus --set topology.cable.length=500 --json
grep -q '"needs_packets": 32' "$tmp/out" || complain "$(cat "$tmp/out")"
run run torus random load=0.1 --shape 3x3 --set topology.cable.length=500 \
	warmup=1us measure=1us
grep -q '^warning .* hold 8 packets, but .*router.packets=32$' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'buffers that are smaller than the round trip are warned of'

# --- machines that were not compared with measurements ---

for path in "$src"/machines/*.yaml; do
	machine=$(basename "$path" .yaml)
	head -n 1 "$path" | grep -q 'ot compared with measurements' || continue
	echo "$machine"
	run show "$machine" --json
	jq -e '.caveat | contains("not compared with measurements")' \
		"$tmp/out" >/dev/null || complain "$machine has no caveat"
done >"$tmp/not"
for machine in superpod-1024 frontier hyperx-672 slimfly-200 tpu-v4 fattree \
	torus dragonfly graph; do
	grep -qx "$machine" "$tmp/not" || complain "$machine: its first line"
	run show $machine
	grep -q '^caveat: .*congestion control is .*modelled$' "$tmp/out" ||
		complain "$machine: $(head -n 2 "$tmp/out")"
done
run show bgq-board
grep -q '^caveat' "$tmp/out" && complain "$(head -n 2 "$tmp/out")"
printf 'schema: 1\nmachine: mine\nbase: frontier\n' >"$tmp/mine.yaml"
run show "$tmp/mine.yaml"
grep -q "^caveat: .*Slingshot" "$tmp/out" || complain "$(head -n 2 "$tmp/out")"
report 'show says what was not compared and what is not modelled'

exit $status
