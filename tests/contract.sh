#!/bin/sh
#
# What scripts may rely on: the keys of the JSON output, the exit codes, the
# help, the manual, and that every number says where it comes from.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

# --- texts ---

# What a terminal of some columns gets of a run's progress.
if command -v script >/dev/null; then
	script -qec "stty cols 30; '$weft' run bgq random --shape 8x8x8 \
		warmup=20us measure=20us --threads 1 >/dev/null" /dev/null \
		</dev/null | tr '\r' '\n' | sed 's/.\[K//' >"$tmp/lines"
	grep -q simulated "$tmp/lines" || complain "no progress"
	awk 'length > 29 { print "too long: " $0 }' "$tmp/lines" \
		>>"$tmp/complaints"
	report "progress fits a narrow terminal"
else
	skip "progress fits a narrow terminal" "no script"
fi

ends 0 run bgq-loop exchange bytes=2MiB rounds=1
grep -q ' 1 node: ' "$tmp/out" || complain "$(head -n 1 "$tmp/out")"
grep -qE '^round  *[0-9.]{4,5} ms$' "$tmp/out" || complain "no long round"
grep -E '[0-9]e[+-]?[0-9]' "$tmp/out" >>"$tmp/complaints"
ends 0 run bgq-board stream bytes=8 rounds=1
grep -q ' 1 packet, 1 packet-hop$' "$tmp/out" ||
	complain "$(grep simulated "$tmp/out")"
report "one node, one packet, no exponents, no cost of a few packets"

# --- weft run --json ---

common='
	(.machine | type == "string") and (.shape | type == "string") and
	(.nodes | type == "number") and (.workload | type == "string") and
	(.params | type == "object") and (.seed | type == "number") and
	(.threads | type == "number") and
	(.ending | IN("finished", "deadlocked", "saturated", "stopped")) and
	(.digest | test("^[0-9a-f]{16}$")) and
	(.sim_time_ns | type == "number") and
	(.results | has("fraction_of_peak")) and
	(.results | has("throughput_GBps_per_node")) and
	(.results | has("latency_ns")) and
	([.work | .packets, .packet_hops, .events, .wall_s,
		.ns_per_packet_hop, .bytes_per_node | type == "number"] | all)'

ends 0 run bgq random load=max zones=longest-first --shape 4x4x2 --json
report "a saturated run ends with 0"
shows "it prints one object" 'type == "object"'
[ "$(jq -s length "$tmp/out")" = 1 ] || complain "more than one value"
report "and nothing else"
[ -s "$tmp/err" ] && complain "stderr: $(cat "$tmp/err")"
report "and says nothing on stderr"
shows "the common keys are there" "$common"
shows "machine, shape, nodes, workload" '.machine == "bgq" and
	.shape == "4x4x2" and .nodes == 32 and .workload == "random"'
shows "the keys of random" '.params | (.load == "max") and
	(.bytes == "512 B") and (.routing == "dynamic") and
	(.zones == "longest-first") and has("warmup") and has("measure")'
shows "seed and threads" '.seed == 1 and .threads >= 1'
shows "it is finished" '.ending == "finished"'
shows "the fraction of the peak" '.results.fraction_of_peak |
	. > 0.5 and . < 1.01'
shows "the throughput" '.results.throughput_GBps_per_node | . > 1 and . < 4'
shows "the latency" '.results.latency_ns | .mean > 300 and .p50 > 300 and
	.p50 <= .p99 and .p99 <= .max and .mean < .max'
shows "the work" '.work | .packets > 1000 and .packet_hops > .packets and
	.events > 0 and .wall_s > 0 and .bytes_per_node > 1000'
shows "the links" '.results.links | map(.port) ==
	["A+", "A-", "B+", "B-", "C+", "C-"] and
	all(.links == 32 and .mean_use > 0 and .mean_use <= .max_use and
		.max_use < 1) and (map(.mean_queue) | max > 0.1)'
digest=$(jq -r .digest "$tmp/out")

ends 0 run bgq random load=max zones=longest-first --shape 4x4x2 --json -t 3
[ "$(jq -r .digest "$tmp/out")" = "$digest" ] || complain "another digest"
report "three threads give the same digest"
ends 0 run bgq random --shape=4x4x2 --json --seed 2
[ "$(jq -r .digest "$tmp/out")" != "$digest" ] || complain "the same digest"
report "another seed gives another one"

short='warmup=10us measure=20us --shape 4x4x2 --json'
for workload in random neighbours bit-reversal tornado complement \
	permutation hotspot; do
	ends 0 run bgq $workload $short
	shows "the common keys of $workload" "$common"
	shows "what it was asked for" ".workload == \"$workload\" and
		.params.warmup == \"10 us\" and .params.measure == \"20 us\""
done
ends 0 run bgq transpose warmup=10us measure=20us --shape 4x4 --json
shows "the common keys of transpose" "$common"
ends 0 run bgq tornado $short
shows "a pattern without a bound has no peak" \
	'.results.fraction_of_peak == null'
ends 0 run bgq random bytes=100 $short
shows "payload is not rounded up in the throughput" '.params.bytes == "100 B"
	and .results.throughput_GBps_per_node < 4'
ends 0 run bgq random routing=deterministic zones=none $short
shows "deterministic routing" '.params.routing == "deterministic" and
	.params.zones == "none"'
ends 0 run bgq random $short --set link.rate=1GB/s
shows "what was set is told" '.set == ["link.rate=1GB/s"]'

ends 0 run bgq alltoall bytes=64 --shape 4x4x2 --json
shows "the common keys of alltoall" "$common"
shows "alltoall names its layer" '.params.via == "net" and .via == "net"'
shows "alltoall tells its time and its fraction of peak" \
	'.results.time_ns > 0 and .results.fraction_of_peak > 0'
ends 0 run bgq pingpong from=0 to=1 bytes=32 rounds=10 --shape 4x4x2 --json
shows "the common keys of pingpong" "$common"
least=$(jq .results.latency_ns.max "$tmp/out")
ends 0 show bgq --shape 4x4x2 --json
shows "weft show knows a neighbour's latency" \
	".packets[] | select(.bytes == 32) | .zero_load_ns.min == $least"

# Of some thousand packets one goes the longest way, and none meets another.
ends 0 show bgq-board --json
mean=$(jq '.packets[-1].zero_load_ns.mean' "$tmp/out")
most=$(jq '.packets[-1].zero_load_ns.max' "$tmp/out")
ends 0 run bgq-board random load=0.0005 warmup=10us measure=20ms --json
shows "an idle network has the latencies of weft show" "
	(.results.latency_ns.mean / $mean | . > 0.99 and . < 1.01) and
	(.results.latency_ns.p99 <= $most * 1.01)"

# --- exit codes ---

ends 4 run bgq random load=2 $short
shows "an open loop beyond its peak: saturated, 4" '.ending == "saturated"'
ends 0 run bgq random load=0.4 $short
shows "one below it: finished, 0" '.ending == "finished" and
	(.results.fraction_of_peak | . > 0.3 and . < 0.5)'
ends 3 run bgq random routing=deterministic --set routing.bubble=no \
	--set router.packets=1 --shape 8x8 --json
shows "a deadlock: 3, with the cycle" '.ending == "deadlocked" and
	(.results.cycle | length > 0)'
"$weft" run bgq random warmup=1s --shape 4x4x4 --json >"$tmp/out" \
	2>"$tmp/err" </dev/null &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
code=$?
[ $code -eq 6 ] || complain "exit code $code, want 6"
shows "a signal: stopped, 6, and what was found so far" \
	'.ending == "stopped"'
ends 0 check bgq-board
report "weft check of a good machine: 0"
ends 1 check bgq --set routing.bubble=no --shape 4x4
[ -s "$tmp/out" ] || complain "no cycle on stdout"
report "weft check of a bad one: 1"
ends 2 run bgq random --shape 0
report "bad input: 2"

# --- help ---

run help
[ $code -eq 0 ] || complain "exit code $code"
report "weft help"
commands=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' "$tmp/out" | grep -v '^help$')
more=' sweep goal sql rerun compare trace plot report new'
few='run mpirun show check machines params paper claims'
[ "$(echo $commands)" = "$few$more" ] ||
	complain "lists: " $commands
report "it lists the commands"
for command in $commands; do
	run $command --help
	[ $code -eq 0 ] || complain "exit code $code"
	[ -s "$tmp/err" ] && complain "stderr: $(cat "$tmp/err")"
	head -n 1 "$tmp/out" | grep -q "^Usage: weft $command " ||
		complain "begins: $(head -n 1 "$tmp/out")"
	cp "$tmp/out" "$tmp/help"
	report "weft $command --help"
	run help $command
	cmp -s "$tmp/out" "$tmp/help" || complain "they differ"
	report "weft help $command is the same"

	page=$src/man/weft-$command.1.scd
	if [ -f "$page" ]; then
		# scdoc takes a backslash before an underscore.
		tr -d '\\' <"$page" >"$tmp/page"
		for option in $(grep -o -- '--[a-z][a-z-]*' "$tmp/help" |
			sort -u); do
			grep -q -- "$option" "$tmp/page" ||
				complain "no $option"
		done
	else
		complain "no man/weft-$command.1.scd"
	fi
	report "the manual of weft $command has all its options"
	grep -q "weft-$command" "$src/man/weft.1.scd" ||
		complain "weft.1.scd does not name it"
	report "and weft(1) leads to it"
done
ends 0 --version
grep -q '^weft [0-9]' "$tmp/out" || complain "$(cat "$tmp/out")"
mv "$tmp/out" "$tmp/version"
for word in -V version; do
	ends 0 $word
	cmp -s "$tmp/out" "$tmp/version" || complain "$word: $(cat "$tmp/out")"
done
report "weft --version"

version=$(awk '{ print $2 }' "$tmp/version")
are() { # FILE PATTERN: all texts after this one are the version
	sed -n "s/^$2\([0-9.]*[0-9]\).*/\1/p" "$1" | sort -u >"$tmp/are"
	[ "$(cat "$tmp/are")" = "$version" ] ||
		complain "${1##*/}: $(cat "$tmp/are"), but weft is $version"
}
are "$src/meson.build" "  version: '"
are "$src/CITATION.cff" ' *version: '
# Above it may be what comes with the next version.
grep -m 1 "^Weft " "$src/NEWS" >"$tmp/NEWS"
are "$tmp/NEWS" 'Weft '
head -n 1 "$src/debian/changelog" >"$tmp/changelog"
are "$tmp/changelog" 'weft ('
for page in "$src"/man/*.scd; do
	page=$(dirname "$weft")/../man/$(basename "$page" .scd)
	if command -v scdoc >/dev/null && [ -d "${page%/*}" ]; then
		are "$page" '\.TH .*"Weft '
	fi
done
report 'NEWS, citation, packages and all man pages have the version'

ends 0 sweep torus,fattree random load=0.1,0.2,4 seed=1..2 --shape 4 \
	warmup=1us measure=5us --json -o "$tmp/curves.db" --quiet
shows 'a sweep as JSON' '.ending == "finished"' '.x == "load"' \
	'.weft | length > 0' \
	'.command | startswith("weft sweep torus,fattree")' \
	'[.points[].curve] | unique == ["fattree", "torus"]' \
	'.points[0].values.load == "0.1"' '.points[0].saturated | not' \
	'[.points[].figures.latency_mean_ns.seeds] | all(. == 2)' \
	'.points[0].figures.latency_mean_ns.half_width_95 > 0' \
	'.done == .runs - .beyond_saturation and .failed == 0'
jq -r '.points[] | select(.curve == "torus" and .values.load == "0.2") |
	.figures.latency_mean_ns.mean * 1000 | round' "$tmp/out" >"$tmp/json"
"$weft" sql "$tmp/curves.db" "select cast(round(avg(value) * 1000) as integer)
	from value join point on point.id = value.point where grp =
	'torus load=0.2' and value.name = 'latency_mean_ns'" |
	tail -n 1 | tr -d ' ' | diff - "$tmp/json" >>"$tmp/complaints"
report 'and its means are those of the file'
# Above the first saturated load nothing is kept, whatever ran beside it.
ends 0 sweep torus random load=1.5,2,3,4 --shape 4 -j 4 warmup=1us measure=5us \
	--json -o "$tmp/past.db" --quiet
shows 'a sweep up to saturation' '.done == 1 and .beyond_saturation == 3' \
	'[.points[].values.load] == ["1.5"]'
"$weft" sql "$tmp/past.db" 'select x from point' | tail -n 1 |
	grep -q "^ *1.5 *$" || complain "$("$weft" sql "$tmp/past.db" \
	'select x from point')"
report 'the file of a sweep ends with saturation, too'

for seed in 1 2; do
	ends 0 run torus random --shape 2x2 warmup=1us measure=5us \
		--seed $seed -o "$tmp/$seed.db" --quiet
done
ends 1 compare "$tmp/1.db" "$tmp/2.db" --json
shows 'a comparison as JSON' '.same_results | not' \
	'[.set_up[].name] == ["seed"]' '.set_up[0].first == 1' \
	'.set_up[0].second == 2' '[.results[].name] | index("digest") != null' \
	'.results[] | select(.name == "packets") | .change_pct != null'
ends 0 compare "$tmp/1.db" "$tmp/1.db" --json
shows 'and one of a file with itself' .same_results '.results == []' \
	'.set_up == []'
for page in "$src"/man/*.scd; do
	scdoc <"$page" >"$tmp/page" 2>"$tmp/err" || complain "$(cat "$tmp/err")"
done
command -v scdoc >/dev/null || : >"$tmp/complaints"
report "scdoc reads every page"
run run --help
for workload in $(sed -n 's/^  \([a-z-]*\)  *[a-z].*/\1/p' "$tmp/out"); do
	grep -q "$workload" "$src/man/weft-run.1.scd" ||
		complain "no $workload"
done
report "the manual of weft run has every workload"

# --- colours ---

escape=$(printf '\033')
for command in 'machines' 'params' 'show bgq' 'params random'; do
	run $command
	grep -q "$escape" "$tmp/out" && complain "weft $command"
done
report "no colours where stdout is no terminal"
if command -v script >/dev/null &&
	script -qec true /dev/null >/dev/null 2>&1; then
	script -qec "stty cols 200; $weft machines" /dev/null \
		>"$tmp/out" 2>&1 </dev/null
	grep -q "$escape\[1m" "$tmp/out" || complain "no bold head"
	report "a terminal gets them"
	NO_COLOR=1 script -qec "stty cols 200; $weft machines" /dev/null \
		>"$tmp/out" 2>&1 </dev/null
	grep -q "$escape" "$tmp/out" && complain "an escape"
	report "but not with NO_COLOR"
	NO_COLOR=1 script -qec "stty cols 60; $weft params random" /dev/null \
		2>&1 </dev/null | tr -d '\r' | awk 'length > 60' >"$tmp/out"
	[ -s "$tmp/out" ] && complain "$(head -n 3 "$tmp/out")"
	report "a narrow terminal gets narrow lines"
	script -qec "stty cols 80; timeout --foreground 4 $weft show graph \
		--set topology.random=6000,5,2" /dev/null </dev/null |
		tr '\r' '\n' >"$tmp/out" 2>&1
	grep -q 'working for 2 s' "$tmp/out" || complain "no line"
	report "a terminal is told that a command still works"
fi

# --- parameters and their sources ---

ends 0 params --json
shows "weft params: every row is whole" '.parameters | length > 30 and
	([.[] | (.name, .default, .type, .range, .help, .source) |
		type == "string" and length > 0] | all)'
shows "every section and every workload" '[.parameters[] | .workload,
	(select(.workload == null) | .name | split(".")[0])] | unique |
	contains(["topology", "link", "router", "routing", "random",
		"hotspot", "alltoall"])'
cp "$tmp/out" "$tmp/defaults"
ends 0 params random --json
shows "the keys of random" '[.parameters[].name] | contains(["load", "bytes",
	"routing", "zones", "warmup", "measure"])'
ends 0 params
for name in $(jq -r '.parameters[].name' "$tmp/defaults"); do
	grep -qF "$name" "$tmp/out" || complain "no $name"
done
report "the text has them all, too"

# An id or several of the datasheet, or calibrated: ..., or assumed: ...
id='(BGQ|QSN|GEM|APE|SUN)-[NFGXY][0-9]+'
source="test(\"^((calibrated|assumed): .+|$id(, $id)*)\$\")"
# A link's rate follows from its lanes, if these have one, and what a chip's
# clock sets from that.  The library's times are no machine's own: their usual
# values have their sources in parts/mpi.
stated='.parameters | (any(.name == "link.lane-rate" and
	(.value | startswith("0") | not))) as $has_lanes |
	map(select(.name != "link.rate" or ($has_lanes | not))) |
	map(select(.from != "default" or (.name | startswith("mpi.") | not))) |'
# Machines that were built have claims; those of one's own need no sources.
# MPI programs, generic networks and collectives have claims, too, and are no
# machine.
for file in $(for system in "$src"/claims/*.yaml; do
	case $(basename "$system" .yaml) in
	mpi | networks | collectives) continue ;;
	esac
	echo "$src/machines/$(basename "$system" .yaml)"*.yaml
done); do
	name=$(basename "$file" .yaml)
	ends 0 params "$file" --json
	shows "$name: every value names its source" \
		"$stated [.[] | select(.source | $source | not).name] == []"
	shows "$name: every value stands in a file" "$stated"'[.[] |
		select(.from | test("\\.yaml:[0-9]+:[0-9]+$|^clock[.]") | not) |
		.name] == []'
done
ends 0 params "$src/machines/bgq.yaml" --json
shows "bgq says what the tables say, but for what is neutral there" '
	[.parameters[] | select(.value != .default) | .name] ==
	["topology.shape", "topology.wires", "link.rate", "link.header",
	"link.trailer", "link.payload", "link.chunk", "link.protocol",
	"link.gap", "link.retry", "link.checks.hop", "link.checks.end",
	"link.checks.header", "router.queues", "routing.kind",
	"routing.notice", "routing.tell", "nic.kind"]'
printf 'schema: 1\nmachine: mine\n' >"$tmp/mine.yaml"
ends 0 params "$tmp/mine.yaml" --json
shows "links and routers of a file from scratch are nobody's" '
	[.parameters[] | select(.name | test("^(link|router)[.]")) |
		select(.source | test("BGQ|QSN|GEM|APE|SUN")) | .name] == []'
ends 0 params bgq-board --set link.rate=1GB/s --shape 4x4 --json
shows "weft params MACHINE tells what was set where" '
	([.parameters[] | select(.name == "link.rate")][0] |
		.value == "1 GB/s" and .default == "10 GB/s" and
		.from == "--set") and
	([.parameters[] | select(.name == "topology.shape")][0] |
		.value == "4x4" and .from == "--shape")'

ends 0 machines --json
shows "weft machines: the seven of Blue Gene/Q" '[.machines[] |
	select(.name | startswith("bgq")) | [.name, .nodes, .shape]] == [
	["bgq", 512, "4x4x4x4x2"], ["bgq-20pf", 98304, "16x16x16x12x2"],
	["bgq-board", 32, "2x2x2x2x2"], ["bgq-io", 1024, "4x4x4x8x2"],
	["bgq-loop", 1, "1x1x1x1x1"],
	["bgq-midplane", 512, "4x4x4x4x2"],
	["bgq-rack", 1024, "4x4x4x8x2"]]'
shows "each kind of machine has its picture" '[.machines[] |
	select(.name | IN("bgq-board", "dragonfly", "gemini", "qsnet2-512")) |
	.picture] == ["[oo][oo][oo][oo](oo)", "(8# of 4o)x32",
	"(####)(####)(####)oo", "512o=128#x4=256#"]'
shows "each with a title and a file" '[.machines[] | (.title, .file) |
	length > 0] | all'
mkdir "$tmp/machines"
cp "$src"/machines/bgq.yaml "$tmp/machines"
echo 'schema: 1' >"$tmp/machines/broken.yaml"
WEFT_MACHINES=$tmp/machines "$weft" machines --json >"$tmp/out" \
	2>"$tmp/err" </dev/null || complain "$(cat "$tmp/err")"
shows "a broken file does not hide the others" '
	([.machines[].name] | contains(["bgq", "broken"])) and
	([.machines[] | select(.name == "broken").error | test("1:1")] | all)'

exit $status
