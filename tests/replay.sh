#!/bin/sh
#
# Schedules: what they say is what happens, on every machine, and what no run
# could do is refused with its line.
set -u
. "$(dirname "$0")/tap.sh"

goal=$tmp/x.goal

replay() { # MACHINE KEYS
	machine=$1
	shift
	run run $machine replay file="$goal" "$@" --json
	[ $code -eq 0 ] || complain "$machine: $code: $(cat "$tmp/err")"
}

for pattern in 'allreduce bytes=64KiB' 'allreduce algo=doubling compute=1us' \
	'alltoall bytes=600 rounds=2' 'stencil rounds=3' \
	'allreduce as=operations algo=tree rounds=2' \
	'training pipeline=2 rounds=2 layers=2 hidden=32 tokens=1024'; do
	case $pattern in training*) ;; *) pattern="$pattern ranks=8" ;; esac
	run goal $pattern -o "$goal"
	[ $code -eq 0 ] || complain "$(cat "$tmp/err")"
	ops=$(grep -v '^//' "$goal" | grep -c ': ')
	for machine in 'bgq --shape 2x2x2' qsnet2-16 'torus --shape 4x2' \
		'gemini --shape 2x2x1' 'dragonfly --shape 32'; do
		replay "$machine"
		[ "$(value operations)" = "$ops" ] ||
			complain "$machine: $(value operations) of $ops"
	done
	report "$pattern is replayed to its end on every machine"
done

replay 'bgq --shape 2x2x2' --threads 1
one=$(value digest)
replay 'bgq --shape 2x2x2' --threads 2
[ "$(value digest)" = "$one" ] || complain 'another digest on two threads'
replay 'bgq --shape 2x2x2' place=random
[ "$(value digest)" != "$one" ] || complain 'random places are none'
replay 'bgq --shape 2x2' # two on each
seq 7 -1 0 >"$tmp/place"
replay 'bgq --shape 2x2x2' place="$tmp/place"
[ "$(value digest)" != "$one" ] || complain 'a file places nothing'
seq 0 7 >"$tmp/place"
replay 'bgq --shape 2x2x2' place="$tmp/place"
[ "$(value digest)" = "$one" ] || complain 'the same places are others'
report 'ranks are where they were placed'

# What must take how long: the time of a message is what is left.
schedule() {
	printf '%s\n' "$@" >"$goal"
}
took() {
	replay 'torus --shape 2x2' --seed 1
	value time_ns | cut -d. -f1
}
schedule 'num_ranks 2' 'rank 0 {' 's: send 100000b to 1 tag 5' '}' \
	'rank 1 {' 'c: calc 300000' 'r: recv 100000b from 0 tag 5' \
	'r requires c' '}'
late=$(took)
schedule 'num_ranks 2' 'rank 0 {' 's: send 100000b to 1 tag 5' '}' \
	'rank 1 {' 'c: calc 300000' 'r: recv 100000b from 0 tag 5 cpu 1' '}'
hidden=$(took)
[ "$late" -gt $((hidden + 5000)) ] || complain "not hidden: $late $hidden"
report 'a message is hidden behind a computation that it does not wait for'

# The time is that of the schedule: neither launching nor agreeing on a
# beginning counts, however many ranks there are.
schedule 'num_ranks 1' 'rank 0 {' 'calc 1000' '}'
[ "$(took)" -eq 1000 ] || complain "calc 1000 takes $(took) ns"
turns=8
{
	echo num_ranks 2
	for rank in 0 1; do
		echo "rank $rank {"
		for i in $(seq $turns); do
			if [ $((i % 2)) -eq $rank ]; then
				echo "m$i: recv 8b from $((1 - rank))"
			else
				echo "m$i: send 8b to $((1 - rank))"
			fi
			[ $i -eq 1 ] || echo "m$i requires m$((i - 1))"
		done
		echo '}'
	done
} >"$goal"
for machine in 'torus --shape 2x2' 'torus --shape 8x8' 'bgq --shape 4x4' \
	'gemini --shape 2x2x2' qsnet2-16; do
	replay "$machine"
	time=$(($(value time_ns | cut -d. -f1) / turns))
	run run $machine pingpong via=msg bytes=8 --json
	one_way=$(value one_way_ns | cut -d. -f1)
	[ $((time * 100)) -gt $((one_way * 85)) ] &&
		[ $((time * 100)) -lt $((one_way * 115)) ] ||
		complain "$machine: $time, by pingpong $one_way"
done
schedule 'num_ranks 2' 'rank 0 {' 'send 8b to 1' '}' 'rank 1 {' \
	'recv 8b from 0' '}'
cat >"$tmp/jobs.yaml" <<-EOF
	schema: 1
	jobs:
	  - { name: early, nodes: 0..1, workload: replay,
	      keys: { file: $goal } }
	  - { name: late, nodes: 2..3, workload: replay, start: 40us,
	      keys: { file: $goal } }
EOF
run run torus --shape 2x2 --jobs "$tmp/jobs.yaml" --json
[ $code -eq 0 ] || complain "jobs: $code: $(cat "$tmp/err")"
sed -n 's/^ *"time_ns": *\([0-9]*\)\..*/\1/p' "$tmp/out" >"$tmp/times"
[ "$(wc -l <"$tmp/times")" -eq 4 ] || complain 'not four times of two jobs'
while read -r time; do
	[ "$time" -gt 880 ] && [ "$time" -lt 1200 ] ||
		complain "a job takes $time ns"
done <"$tmp/times"
report 'the time of a replay counts from the beginning of its schedule'

# A schedule costs what its own ranks do, however large the machine is.
{
	echo num_ranks 128
	for rank in $(seq 0 127); do
		printf 'rank %d {\ncalc 1000\n}\n' $rank
	done
} >"$goal"
for place in linear random; do
	replay superpod-1024 place=$place
	jq -e '.results.time_ns == 1000 and .work.packets == 0 and
		.work.events <= 5 * 128 and .work.bytes_per_node < 65536' \
		"$tmp/out" >"$tmp/jq" || complain "$place: $(value time_ns) ns,
		$(value packets) packets, $(value events) events,
		$(value bytes_per_node) B a node"
done
report 'only the ranks of a schedule have programs'

members='collective op=allreduce algo=auto group=[44..50] bytes=4KiB'
run run torus --shape 8x8 $members --json --threads 1
jq -e '.work.events < 30000 and ([.results.plan.tried[].time_ns] | min) > 0' \
	"$tmp/out" >"$tmp/jq" || complain "$(value events) events"
jq .results "$tmp/out" >"$tmp/one"
run run torus --shape 8x8 $members --json --processes 2 --threads 1
jq .results "$tmp/out" | cmp - "$tmp/one" || complain 'two processes differ'
report 'only the members of a collective have programs'

# --- what no run could do ---

one_line() { # TEXT
	printf %s "$1" | tr -d '\n'
}

refused() { # TEXT LINES...
	text=$(one_line "$1")
	shift
	schedule "$@"
	run run 'torus' --shape 2x2 replay file="$goal"
	judge 2 "$text"
	report "refused: $text"
}

refused ':1: want "num_ranks"' ''
refused 'ends inside a rank' 'num_ranks 1' 'rank 0 {' 'a: calc 1'
refused 'are more than 128 on each' 'num_ranks 1000'

# --- the binary form ---

bytes() { # HEX...
	printf "$(printf '\\%03o' $(printf ' 0x%s' "$@"))" >"$tmp/x.bin"
}

refused_bytes() { # TEXT
	run run torus --shape 2x2 replay file="$tmp/x.bin"
	[ $code -eq 2 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || complain "said: $(cat "$tmp/err")"
	text=$(one_line "$1")
	grep -qF -- "$text" "$tmp/err" || complain "said: $(cat "$tmp/err")"
	report "refused: $text"
}

magic='7f 10 0 0 0 0 0 0'
one="$magic 1 0 0 0 0 0 16 0 0 0 0 0 0 0" # rank, whose part ends at:
calc='3 0 0 0 0 e8 3 0 0 0 0 0 0 0 0 0 0' # 1000 ns; then cpu and nic
schedule 'num_ranks 2' 'rank 0 {' 'a: calc 1000 cpu 1' \
	'b: send 8b to 1 tag 7 nic 2' 'c: calc 1000' 'c irequires a' \
	'b requires a' '}' 'rank 1 {' 'r: recv 8b from 0 tag 7' '}'
bytes $magic 2 0 0 0 1 2 26 0 0 0 0 0 0 0 af 0 0 0 0 0 0 0 \
	af 0 0 0 0 0 0 0 e2 0 0 0 0 0 0 0 \
	3 0 0 0 1 0 0 0 0 0 0 0 \
	0 0 0 0 $calc 1 0 1 0 0 0 0 0 0 0 1 0 0 0 1 0 0 0 \
	1 0 0 0 1 1 0 0 0 8 0 0 0 0 0 0 0 7 0 0 0 0 2 \
	0 0 0 0 2 0 0 0 0 0 0 0 2 0 0 0 \
	1 0 0 0 $calc 0 0 0 0 0 0 2 0 0 0 0 0 0 0 2 0 0 0 \
	1 0 0 0 2 0 0 0 \
	1 0 0 0 1 0 0 0 0 0 0 0 \
	0 0 0 0 2 0 0 0 0 8 0 0 0 0 0 0 0 7 0 0 0 0 0 \
	0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
run goal convert file="$goal" --binary -o "$tmp/y.bin"
cmp -s "$tmp/x.bin" "$tmp/y.bin" || complain "$(od -An -tx1 "$tmp/y.bin")"
report 'the binary form has the bytes that the manual describes'

training='training pipeline=2 rounds=2 layers=2 hidden=32 tokens=1024'
for pattern in 'stencil ranks=8 rounds=3' "$training"; do
	run goal $pattern -o "$goal"
	run goal $pattern --binary -o "$tmp/x.bin"
	replay 'torus --shape 4x2' --seed 1
	text=$(value digest)
	run run torus --shape 4x2 replay file="$tmp/x.bin" --seed 1 --json
	[ -n "$text" ] && [ "$(value digest)" = "$text" ] ||
		complain "$pattern: $text: $(value digest) $(cat "$tmp/err")"
	run goal convert file="$goal" --binary -o "$tmp/y.bin"
	cmp "$tmp/x.bin" "$tmp/y.bin" || complain "$pattern: other bytes"
	run goal convert file="$tmp/x.bin" -o "$tmp/y.goal"
	run goal convert file="$tmp/y.goal" --binary -o "$tmp/y.bin"
	cmp "$tmp/x.bin" "$tmp/y.bin" || complain "$pattern: not as it was"
done
report 'both forms convert to each other and have the same digest'

for n in 1 13 14 20 900; do
	head -c $n "$tmp/y.bin" >"$tmp/x.bin"
	run goal convert file="$tmp/x.bin"
	[ $code -eq 2 ] && grep -q 'x.bin: the file ends too early' \
		"$tmp/err" || complain "$n: $code: $(cat "$tmp/err")"
	[ ! -s "$tmp/out" ] || complain "$n: something was written"
done
report 'refused: a truncated binary schedule'
bytes 7f 45 4c 46 2 1 1 0 0 0 0 0 0 0 0 0
refused_bytes 'x.bin: not GOAL, neither text nor binary'
bytes 6e 75 6d 0 5f
refused_bytes 'x.bin:1: not GOAL, neither text nor binary'
bytes 26 9 0 0 0 0 0 0 1 0 0 0 0 0 16
refused_bytes 'x.bin: a simulator has overwritten this file'
bytes $magic 0 ca 9a 3b 0 0
refused_bytes 'x.bin: more than 1048576 ranks'
bytes $one 49 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 \
	1 0 0 0 $calc 0 0 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0
refused_bytes 'x.bin: rank 0, operation 0: this operation waits for itself'
bytes $one 49 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 \
	1 0 0 0 $calc 0 0 2 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0
refused_bytes 'operation 0: has more dependants than the file lists'
bytes $one 49 0 0 0 0 0 0 0 1 0 0 0 1 0 0 0 0 0 0 0 \
	2 0 0 0 $calc 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
refused_bytes 'operation 0: waits for more or fewer operations'
bytes $one 49 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 \
	0 0 0 0 b 0 0 0 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0
refused_bytes 'the file ends too early'
bytes $one ae 0 0 0 0 0 0 0 1 0 0 0 1 0 0 0 0 0 0 0 \
	0 0 0 0 7 0 0 0 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
refused_bytes 'its operations do not fill its part'

# --- sends and receives that do not meet ---

refused 'x.goal:3: rank 0 receives 8 B from rank 1 with tag 9, but rank 1 never
 sends it; it sends 64 B with tag 7 instead (line 6)' 'num_ranks 2' \
	'rank 0 {' 'recv 8b from 1 tag 9' '}' \
	'rank 1 {' 'send 64b to 0 tag 7' '}'
refused ':4: rank 0 receives 4 B from rank 1 with tag 0, but rank 1 sends it at
 least 8 B (line 7)' 'num_ranks 2' 'rank 0 {' 'recv 9b from 1' \
	'recv 4b from 1' '}' 'rank 1 {' 'send 8b to 0' 'send 9b to 0' '}'
"$weft" goal convert file="$goal" --binary -o "$tmp/x.bin"
refused_bytes 'x.bin: rank 0, operation 1: rank 0 receives 4 B from rank 1 with
 tag 0, but rank 1 sends it at least 8 B (operation 0)'

# --- training ---

run goal training layers=80 hidden=8192 sequence=4096 tokens=4194304 \
	parameters=70000000000 tensor=8 pipeline=4 data=32 batches=1 \
	as=operations -o "$tmp/model.goal"
[ $code -eq 0 ] || complain "$(cat "$tmp/err")"
for text in '1024 ranks: tensor 8, data 32, pipeline 4' \
	'a rank has 20 layers and 1 micro-batch of 131072 tokens' \
	'tensor: 80 all-reduces of 2147483648 B a rank and step' \
	'pipeline: 268435456 B between stages for each micro-batch, each way' \
	'data: 4375000000 B of gradients a rank and step'; do
	grep -qxF "$text" "$tmp/out" || complain "$(cat "$tmp/out")"
	grep -qxF "// $text" "$tmp/model.goal" || complain "no comment: $text"
done
sums() { grep -c 'allreduce 218750000b.* cpu 1' "$1"; }
[ "$(sums "$tmp/model.goal")" -eq 80 ] ||
	complain 'not 20 sums of gradients of each stage'
# each after the one before, but for a stage's first
after() {
	awk '/allreduce 218750000b.* cpu 1$/ { sum[$1]; now = $1; next }
		/^}/ { delete sum }
		$1 ":" == now && $2 == "requires" && $3 ":" in sum { n++ }
		END { print n }' "$1"
}
[ "$(after "$tmp/model.goal")" -eq 76 ] ||
	complain 'sums of gradients do not follow each other'
run goal convert file="$tmp/model.goal" -o "$tmp/ranks.goal"
[ "$(sums "$tmp/ranks.goal")" -eq 20480 ] ||
	complain 'not 20 sums of gradients of each rank'
rm "$tmp/model.goal" "$tmp/ranks.goal"
for keys in 'tensor=2 data=4 experts=2' 'data=8 shard=yes overlap=no' \
	'tensor=2 pipeline=4 data=1'; do
	for as in steps operations; do
		run goal training layers=4 hidden=64 tokens=1024 pipeline=1 \
			$keys as=$as -o "$goal"
		[ $code -eq 0 ] || complain "$keys: $(cat "$tmp/err")"
		replay 'fattree --shape 8'
	done
done
report 'a model has the bytes that follow from its keys, and is trained'
run goal training data=4 algo=hierarchical
judge 2 'hierarchical needs units, and training has no key'
report 'an algorithm that training cannot use is refused'

big="tensor=8 pipeline=4 data=32 layers=80 hidden=8192 sequence=4096"
run goal training $big tokens=4194304
judge 2 'as: these keys give 1.2e+09 operations'
run goal allreduce ranks=1048576 bytes=8MiB as=operations rounds=1000
judge 2 'rounds: these keys give 1e+09 operations'
report 'what no schedule can hold is refused before it fills the disk'

run run fattree --shape 16 --set domain.rate=100GB/s replay file="$goal" \
	procs=4 --json
[ $code -eq 0 ] && grep -q '"domain": {' "$tmp/out" ||
	complain "$(cat "$tmp/err")"
run run fattree --shape 4 replay file="$goal" procs=1
[ $code -eq 2 ] && grep -q 'procs: .* which need 2 processes' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
report 'procs ranks of a schedule share a node'

# As those of a collective do: neighbours share a node, and so its domain.
gpus="--set domain.rate=100GB/s --set domain.ranks=4"
for each in auto 4; do
	run run fattree --shape 16 $gpus replay file="$goal" procs=$each --json
	[ $code -eq 0 ] || complain "$(cat "$tmp/err")"
	value digest >>"$tmp/of-a-node"
done
[ "$(sort -u "$tmp/of-a-node" | wc -l)" -eq 1 ] ||
	complain "$(cat "$tmp/of-a-node")"
report 'a node has domain.ranks ranks of a schedule'

# --- collectives ---

refused ':6: rank 1 does allreduce of 16 B by ring with 2 members, but rank 0
 does allreduce of 8 B by ring with 2 members (line 3): members of a collective
 must agree' 'num_ranks 2' 'rank 0 {' 'allreduce 8b algo ring' '}' 'rank 1 {' \
	'allreduce 16b algo ring group 0..1' '}'
refused ':3: rank 0 does reduce of 8 B by tree with 2 members, but rank 2 never
 does' 'num_ranks 3' 'rank 0 {' 'reduce 8b algo tree group 0,2 root 2' '}'
refused ':3: rank 0 is not in the group' 'num_ranks 3' 'rank 0 {' \
	'allreduce 8b algo ring group 1..2' '}'
refused ':3: group: rank 1 is in it twice' 'num_ranks 3' 'rank 0 {' \
	'allreduce 8b algo ring group 0..2,1' '}'
refused ':3: algo: bruck has no allreduce (want ring' 'num_ranks 2' \
	'rank 0 {' 'allreduce 8b algo bruck' '}'
refused ':3: root: rank 2 is not in the group' 'num_ranks 3' 'rank 0 {' \
	'reduce 8b algo tree group 0,1 root 2' '}'
refused ':3: algo: no algorithm is called "rnig"; did you mean ring?' \
	'num_ranks 2' 'rank 0 {' 'allreduce 8b algo rnig' '}'
refused ':3: want an algorithm' 'num_ranks 2' 'rank 0 {' 'allreduce 8b' '}'
refused ':4: beside collectives tags must be below 2^31' 'num_ranks 2' \
	'rank 0 {' 'allreduce 8b algo ring' 'send 8b to 1 tag 2147483648' '}' \
	'rank 1 {' 'allreduce 8b algo ring' 'recv 8b from 0 tag 2147483648' '}'
schedule 'num_ranks 4' 'rank 0 {' 'a: allreduce 40000b algo ring' \
	'b: reduce 9b algo ring group 0,2 root 2 tag 3' 'b irequires a' '}' \
	'rank 1 {' 'allreduce 40000b algo ring group 0..3' '}' 'rank 2 {' \
	'b: reduce 9b algo ring group 0,2 root 2 tag 3' \
	'c: calc 5000' 'a: allreduce 40000b algo ring group all cpu 1' \
	'a requires c' '}' 'rank 3 {' 'allreduce 40000b algo ring' '}'
replay 'torus --shape 2x2' --threads 1
one=$(value digest)
[ "$(value operations)" = 7 ] && [ "$(value collective_steps)" = 98 ] ||
	complain "$(value operations) $(value collective_steps)"
replay 'torus --shape 2x2' --threads 2
[ "$(value digest)" = "$one" ] || complain 'another digest on two threads'
run goal convert file="$goal" -o "$tmp/y.goal"
mv "$tmp/y.goal" "$goal"
replay 'torus --shape 2x2'
[ "$(value digest)" = "$one" ] || complain 'converted, it is another schedule'
report 'collectives of groups overlap, and are the same after a conversion'

for algo in ring tree doubling halving; do
	for as in steps operations; do
		run goal allreduce algo=$algo ranks=8 bytes=200000 as=$as \
			-o "$goal"
		replay 'fattree --shape 8'
		eval "$as=$(value time_ns | cut -d. -f1)"
	done
	[ $((steps * 100)) -gt $((operations * 80)) ] &&
		[ $((steps * 100)) -lt $((operations * 125)) ] ||
		complain "$algo: $steps ns by steps, $operations as operation"
done
report 'an operation takes the time of its steps'

hangs() { # TEXT...; each is what somebody waits for
	run run torus --shape 2x2 replay file="$goal" --json
	[ $code -eq 3 ] || complain "exit code $code: $(cat "$tmp/err")"
	grep -qF "weft: node 0, thread 0: $goal$(one_line "$1")" "$tmp/err" ||
		complain "said: $(cat "$tmp/err")"
	for text in "$@"; do
		text=$(one_line "$text")
		grep -qF "\"call\": \"$goal$text\"" "$tmp/out" ||
			complain "not said: $text; but $(grep call "$tmp/out")"
	done
}

schedule 'num_ranks 3' 'rank 0 {' 'a: recv 8b from 1 tag 9' \
	'b: send 8b to 1 tag 3' 'c: recv 64b from 1 tag 7' 'b requires a' \
	'c requires b' '}' 'rank 1 {' 'a: send 64b to 0 tag 7' \
	'b: recv 8b from 0 tag 3' 'c: send 8b to 0 tag 9' 'c requires b' '}'
hangs ':3: rank 0 receives 8 B from rank 1 with tag 9; rank 1 has not started to
 send it (line 12), but sent 64 B with tag 7 (line 10)' \
	':11: rank 1 receives 8 B from rank 0 with tag 3; rank 0 has not started
 to send it (line 4)'
schedule 'num_ranks 2' 'rank 0 {' 'a: send 80000b to 1 tag 9' \
	'b: send 70000b to 1 tag 3' 'b requires a' '}' 'rank 1 {' \
	'a: recv 70000b from 0 tag 3' 'b: recv 80000b from 0 tag 9' \
	'b requires a' '}'
hangs ':3: rank 0 sends 80000 B to rank 1 with tag 9; rank 1 has not started to
 receive it (line 9), but receives 70000 B with tag 3 (line 8)' \
	':8: rank 1 receives 70000 B from rank 0 with tag 3; rank 0 has not
 started to send it (line 4), but sent 80000 B with tag 9 (line 3)'
report 'a schedule that hangs names operations, their lines and their peers'

# A collective alone is exposed; beside a longer computation it is not.
schedule 'num_ranks 2' 'rank 0 {' 'allreduce 65536b algo ring' '}' 'rank 1 {' \
	'allreduce 65536b algo ring' '}'
run run torus --shape 2x2 replay file="$goal" --json
jq -e '.results | .exposed[0].max_ns > 0.9 * .time_ns and
	.exposed[0].members == 2' "$tmp/out" >"$tmp/jq" ||
	complain "$(grep -A8 exposed "$tmp/out")"
schedule 'num_ranks 2' 'rank 0 {' 'calc 1000000' \
	'allreduce 65536b algo ring cpu 1' '}' 'rank 1 {' 'calc 1000000' \
	'allreduce 65536b algo ring cpu 1' '}'
run run torus --shape 2x2 replay file="$goal" --json
jq -e '.results.exposed == []' "$tmp/out" >"$tmp/jq" ||
	complain "$(grep -A8 exposed "$tmp/out")"
report 'the exposed time of each kind of collective is reported'

# A job has the exposed time of its own run, whatever runs elsewhere.
schedule 'num_ranks 2' 'rank 0..1 {' 'a: allreduce 65536b algo ring' \
	'b: calc 2000' 'b requires a' '}'
. "$(dirname "$0")/jobs-file.sh"
write "- { name: train, nodes: 0..1, workload: replay, keys:
    { file: $goal } }" \
	'- { name: noise, nodes: 4..7, workload: random, keys: { load: 0.2,
    warmup: 2us, measure: 5us } }'
one='job operation algorithm members bytes
train allreduce ring 2 65536'
run run torus --shape 4x4 --no-alone --jobs "$jobs" -o "$tmp/jobs.db"
sed -n '/^job train:/,/^[jsd]/p' "$tmp/out" | tail -n +2 |
	grep -q '^exposed  *allreduce by ring of 2 ranks, 65536 B: mean' ||
	complain "text: $(cat "$tmp/out" "$tmp/err")"
grep -q '^job noise:' "$tmp/out" && complain 'a job without lines has a title'
"$weft" sql "$tmp/jobs.db" 'select job, operation, algorithm, members, bytes
	from exposed' | tr -s ' ' >"$tmp/sql"
[ "$(cat "$tmp/sql")" = "$one" ] || complain "run file: $(cat "$tmp/sql")"
run report "$tmp/jobs.db" -o "$tmp/jobs.html"
grep -A2 '"exposed": \[' "$tmp/jobs.html" | grep -q '"job": "train"' ||
	complain 'the page does not have it'
run run torus --shape 4x4 --no-alone --jobs "$jobs" --json
ps=$("$weft" sql "$tmp/jobs.db" 'select max_ps from exposed' | tail -n 1)
jq -e ".jobs[0].results | .exposed[0].max_ns * 1000 == $ps and
	.exposed[0].max_ns + 2000 <= .time_ns" "$tmp/out" >"$tmp/jq" ||
	complain "JSON: $ps; $(grep -A8 exposed "$tmp/out")"
run run torus --shape 2x2 replay file="$goal" -o "$tmp/one.db"
"$weft" sql "$tmp/one.db" 'select job, operation from exposed' |
	grep -q '^- *allreduce' || complain 'run file of a run without jobs'
report 'reports, JSON, run files and pages have it, also of a job'

run run torus --shape 2x2 replay
[ $code -eq 2 ] || complain "exit code $code"
run run torus --shape 2x2 replay file="$tmp/none"
[ $code -eq 2 ] || complain "exit code $code"
run goal allreduc
[ $code -eq 2 ] && grep -q allreduce "$tmp/err" || complain "$(cat "$tmp/err")"
run goal allreduce ranks=6 algo=doublin
[ $code -eq 2 ] && grep -q 'did you mean doubling' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
run run torus --shape 2x2 replay file="$tmp"
[ $code -eq 2 ] && grep -q ': Is a directory$' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
: >"$goal"
run run torus --shape 2x2 replay file="$goal"
[ $code -eq 2 ] && grep -q ': is empty$' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
run goal convert
[ $code -eq 2 ] && grep -q 'want the file of a schedule' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
run goal allgather ranks=6 algo=halving
[ $code -eq 2 ] || complain "exit code $code"
run goal allreduce as=operations --binary -o "$tmp/x.bin"
[ $code -eq 2 ] || complain "exit code $code"
run goal training pipeline=3 layers=4
[ $code -eq 2 ] || complain "exit code $code"
run goal allreduce -o "$tmp/none/x"
[ $code -eq 2 ] || complain "exit code $code"
report 'a schedule that is missing or impossible is refused'

exit $status
