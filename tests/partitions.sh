#!/bin/sh
#
# Jobs with links of their own: parts of a machine that are machines by
# themselves.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/jobs-file.sh"

rack='bgq --shape 4x4x4x12x2'
machine=$rack

one() { # FILTER: of the last run's JSON
	jq -c "$1" "$tmp/out"
}

work='workload: random, keys: { load: 0.2, warmup: 1us, measure: 2us }'
a="- { name: a, partition: '2x2x2x2x2 at 0,0,0,0,0', $work }"
b="- { name: b, partition: '2x4x2x2x2 at 2,0,0,0,0', $work }"
c="- { name: c, partition: \"2x2x2x2x2 at 2,2,2,6,0\", seed: 5,
    workload: pingpong, keys: { from: 0, to: 3 }, start: 3us }"

write "$a" "$b" "$c"
run run $rack --jobs "$jobs" --json
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
together=$(one '.jobs[] | select(.name == "b") | del(.at)')
write "$b"
run run $rack --jobs "$jobs" --json
[ "$together" = "$(one '.jobs[0] | del(.at)')" ] ||
	complain "$together, alone $(one '.jobs[0]')"
run run bgq random load=0.2 warmup=1us measure=2us --shape 2x4x2x2x2 \
	--set topology.wrap=mesh,mesh,mesh,mesh,torus --json
for key in throughput_GBps_per_node fraction_of_peak latency_mean_ns \
	latency_p50_ns latency_p99_ns latency_max_ns; do
	[ "$(echo "$together" | jq -c ".results.$key")" = \
		"$(one ".results | . + (.latency_ns | with_entries(.key |=
			\"latency_\\(.)_ns\")) | .$key")" ] ||
		complain "$key differs on a machine of that shape"
done
[ "$(echo "$together" | jq .digest)" = "$(one .digest)" ] ||
	complain 'the digest differs on a machine of that shape'
report 'BGQ-F85: a job is the same with and without neighbours'

# What a schedule waits for, as on a machine of that shape.
goal=$tmp/goal
printf '%s\n' 'num_ranks 2' 'rank 0..1 {' 'a: allreduce 65536b algo ring' \
	'b: calc 2000' 'b requires a' '}' >"$goal"
write "$b" "- { name: train, partition: '2x2x2x2x2 at 0,0,0,0,0',
    workload: replay, keys: { file: $goal } }"
run run $rack --jobs "$jobs"
tail -n 2 "$tmp/out" | tr -s ' ' | tr '\n' ' ' | grep -q \
	'^job train: exposed allreduce by ring of 2 ranks, 65536 B: mean' ||
	complain "$(cat "$tmp/out" "$tmp/err")"
run run $rack --jobs "$jobs" --json
want=$(one '[.jobs[].results.exposed]')
run run $rack --jobs "$jobs" --json --processes 2
[ "$want" = "$(one '[.jobs[].results.exposed]')" ] || complain 'processes'
run run bgq replay file="$goal" --shape 2x2x2x2x2 \
	--set topology.wrap=mesh,mesh,mesh,mesh,torus --json
[ "$want" = "$(one '[null, .results.exposed]')" ] ||
	complain "$want, alone $(one .results.exposed)"
report 'a job has the exposed time of its schedule'

# Headers have the machine's coordinates: here (1,0,0,2,1) is (3,2,2,8,1).
part="--shape 2x2x2x4x2 --set topology.wrap=mesh,mesh,mesh,mesh,torus"
for corner in 0 2x2x2x6x0; do
	run run bgq pingpong via=nic to=49 rounds=1 $part --json --follow 0.0 \
		--set topology.corner=$corner
	one '[.digest, ([.follow.steps[].header // empty | .[8:16]] |
		unique[])]'
done >"$tmp/corners"
[ "$(jq -r '.[1:] | join(" ")' "$tmp/corners" | tr '\n' ' ')" = \
	'01000081 03082201 ' ] || complain "$(cat "$tmp/corners")"
[ "$(jq '.[0]' "$tmp/corners" | uniq | wc -l)" -eq 1 ] ||
	complain "$(cat "$tmp/corners")"
report "a partition's headers have the machine's coordinates"

# In D, of three midplanes: one by itself, two of three, and none.
write '- { name: x, partition: "4x4x4x4x2 at 0,0,0,0,0", workload: random }' \
	'- { name: y, partition: "4x4x4x8x2 at 0,0,0,4,0", workload: random }'
run show $rack --jobs "$jobs" --json
[ "$(one '[.units[] | [.jobs, ."D-", ."D+", ."A-"]]')" = \
	'[["x","loop","loop","loop"],["y","reset","next","loop"]'\
',["y","next","reset","loop"]]' ] ||
	complain "$(cat "$tmp/out" "$tmp/err")"
write '- { name: all, partition: "4x4x4x12x2", workload: random }'
run show $rack --jobs "$jobs" --json
[ "$(one '[.units[] | [."D-", ."D+"]] | unique')" = '[["next","next"]]' ] ||
	complain "$(cat "$tmp/out" "$tmp/err")"
write '- { name: b, partition: "2x2x2x2x2 at 2,0,0,4,0", workload: random }'
run show $rack --jobs "$jobs"
[ "$(grep -c '^0,0,0.*reset  reset' "$tmp/out")" -eq 3 ] ||
	complain "$(cat "$tmp/out" "$tmp/err")"
report 'BGQ-F83: link chips loop, pass on, or hold in reset'

write "$a" "$b" "$c"
run check $rack --jobs "$jobs" --json
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
[ "$(one '[.[] | [.shape, .proved]]')" = \
	'[["2x2x2x2x2",true],["2x4x2x2x2",true]]' ] ||
	complain "$(cat "$tmp/out")"
report 'each shape is proved once'

# The root is node 31: up is A+ wherever two nodes of A meet.
with() { # REGISTER...: a job with these class routes
	echo "- { name: r, partition: '2x2x2x2x2', $work, routes: [" \
		"$(printf '{ channel: sub, %s },' "$@") ] }"
}
up='id: 3, node: 0, inputs: local, output: A+'
write "$(with "$up" 'id: 3, node: 1, inputs: [A-, local]')"
run check $rack --jobs "$jobs" --json
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
[ "$(one '.[0].steps[4].why | test("1 set register by register")')" = true ] ||
	complain "$(cat "$tmp/out")"
write "$(with 'id: 3, node: 1, inputs: local, output: A-' \
	'id: 3, node: 0, inputs: [A+, local]')"
run check $rack --jobs "$jobs" --json
[ $code -eq 1 ] || complain "exit code $code: $(cat "$tmp/err")"
bad='.[0].steps[] | select(.holds | not) | .step, (.cycle | length)'
[ "$(one "[$bad]")" = '["f",2]' ] || complain "$(cat "$tmp/out")"
report 'class routes that are written out are proved, or not'

run run bgq --shape 4x4x8x12x2 --jobs "$src/examples/partitions.yaml"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
[ "$(grep -cE '^(midplane|slab|boards) ' "$tmp/out")" -eq 3 ] ||
	complain "$(cat "$tmp/out")"
report 'the example runs'

# What dies stalls one job, and the others do not notice.
write "$(echo "$a" | sed "s,work,faults: $tmp/dead.yaml\, &,")" "$b"
for what in 'link 3 A-' 'node 9'; do
	printf 'schema: 1\nfaults: { events: ["1 us %s dies"] }\n' "$what" \
		>"$tmp/dead.yaml"
	run run $rack --jobs "$jobs" --json
	[ $code -eq 3 ] || complain "exit code $code: $(cat "$tmp/err")"
	grep -q '^weft: job a: stalled' "$tmp/err" ||
		complain "$(cat "$tmp/err")"
	[ "$(one '.jobs[1] | del(.at)')" = "$together" ] ||
		complain "job b differs when $what dies"
done
report 'a fault is that of one job'

# --- files of an IO node that has a link into each of two boards ---

io='bgq-midplane --set topology.io.every=64'
on() { # NAME BOARD KEYS [MORE]: a job of clients with files
	echo "- { name: $1, partition: '2x2x2x2x2 at $2,0,0,0', ${4-}" \
		"workload: files, keys: { clients: 4, bytes: 64KiB, $3 } }"
}
write "$(on a 0,0 'calls: write, name: /x/' 'seed: 7,')" \
	"$(on b 2,0 'calls: read, name: /x/' 'seed: 7, start: 1ms,')"
run run $io --jobs "$jobs"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
grep -q '^b .*files' "$tmp/out" || complain "$(cat "$tmp/out")"
run show $io --jobs "$jobs" --json
[ "$(one .shared_io)" = '[{"io":0,"jobs":"a b"}]' ] ||
	complain "$(cat "$tmp/out")"
report 'BGQ-F139: a job reads what one in another partition has written'

slow="$io --set nic.pcie.rate=1GB/s"
rates='[.jobs[].results.write_GBps]'
write "$(on a 0,0 '')" "$(on b 2,0 '')"
run run $slow --jobs "$jobs" --json --threads 1
both=$(one .)
write "$(on b 2,0 '')"
run run $slow --jobs "$jobs" --json
# one alone has most of it, and both together have no more, in equal parts
one "$rates" | jq -e '.[0] > 0.75 and .[0] <= 1' >"$tmp/x" ||
	complain "alone $(one "$rates")"
echo "$both" | jq -e "$rates | all(.[]; . > 0.4) and add <= 1" >"$tmp/x" ||
	complain "together $(echo "$both" | jq -c "$rates")"
# a neighbour that is elsewhere, or has no files, changes nothing
alone=$(one '.jobs[0] | del(.name)')
c="- { name: c, partition: '2x2x2x2x2 at 0,0,0,0,0', $work }"
write "$c" "$(on b 2,0 '')" "$(on d 0,2 '')"
run run $slow --jobs "$jobs" --json
[ "$(one '.jobs[1] | del(.name)')" = "$alone" ] ||
	complain "$(one .), alone $alone"
beside=$(one '.jobs[0]')
write "$c"
run run $slow --jobs "$jobs" --json
[ "$(one '.jobs[0]')" = "$beside" ] || complain "$(one .), not $beside"
report 'an IO node is shared by the files of two partitions, and nothing else'

write "$(on a 0,0 'rounds: 3')" "$(on b 2,0 '' 'start: 1001 ps,')"
for threads in 1 2; do
	run run $slow --jobs "$jobs" --json --threads $threads
	one .
done >"$tmp/threads"
[ "$(uniq "$tmp/threads" | wc -l)" -eq 1 ] || complain "$(cat "$tmp/threads")"
report 'calls of partitions have the same order on several threads'

machine=$io
refused 'its file does not exist' "$(on a 0,0 'calls: write, name: /x/')" \
	"$(on b 2,0 'calls: read, name: /x/')"
refused 'more than 53 characters' \
	"$(on a 0,0 "name: $(printf %60s | tr ' ' x)")"
machine='bgq-midplane --set topology.io.every=128'
refused 'no IO node has a link into this' "$(on b 2,0 '')"
machine=$rack

refused 'node 0 is in job a, too' "$a" "$(echo "$a" | sed 's/name: a/name: d/')"
refused 'another job is called a' "$a" "$(echo "$b" | sed 's/name: b/name: a/')"
w='workload: random }'
refused 'does not fit' "- { name: a, partition: '4x4x4x8x2 at 0,0,0,8,0', $w"
refused 'whole midplanes' "- { name: a, partition: '4x4x4x4x2 at 0,0,0,2,0', $w"
refused 'of 5 dimensions' "- { name: a, partition: '4x4', $w"
refused 'uses all its nodes' \
	"- { name: a, partition: '4x4x4x4x2', nodes: 0..3, $w"
refused 'give all jobs one, or none' "$a" "- { name: d, nodes: 0..3, $w"
refused 'want 0 to 31' "$(with 'id: 3, node: 32, inputs: local')"
refused 'id: want 1 to 15' "$(with 'id: 0, node: 3, inputs: local')"
refused '"F+" is not a link' "$(with 'id: 3, node: 3, inputs: F+')"
refused 'needs its node' "$(with 'id: 3, inputs: local')"
refused 'local cannot be an output' \
	"$(with 'id: 3, node: 1, inputs: [], output: local')"
refused 'written twice' "$(with "$up" "$up")"
refused 'on channel sub in another register' "$(with "$up" \
	'id: 3, node: 1, inputs: local' | sed 's/sub/world/2')"
refused 'only jobs with a partition have routes' \
	"- { name: d, nodes: 0..3, routes: [], $w"
refused 'a program with its own main() is not a workload' \
	"- { name: a, partition: '4x4x4x4x2', workload: ./ring }"
refused 'job a: ' "- { name: a, partition: '4x4x4x4x2', workload: randon }"
write "$a"
run run torus --shape 4x4 --jobs "$jobs"
[ $code -eq 2 ] || complain "exit code $code"
run run qsnet2 --jobs "$jobs"
grep -q 'cannot be divided' "$tmp/err" || complain "$(cat "$tmp/err")"
run run $rack --jobs "$jobs" -o "$tmp/x.db"
grep -q 'a run of its own' "$tmp/err" || complain "$(cat "$tmp/err")"
run show $rack --jobs "$src/examples/jobs.yaml"
[ $code -eq 2 ] || complain "exit code $code"
report 'what cannot be divided, or looked into'

exit $status
