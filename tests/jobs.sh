#!/bin/sh
#
# Several workloads at once, each on nodes of its own.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/jobs-file.sh"

digest() { # of $tmp/out
	sed -n 's/^digest *//p' "$tmp/out"
}

run run torus --shape 4x4x2 --jobs "$src/examples/jobs.yaml"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
for job in solver pair noise; do
	grep -q "^$job  *[0-9]" "$tmp/out" || complain "no $job"
done
grep -q ' time  .*%' "$tmp/out" || complain 'nothing of the job alone'
report 'the example runs, and each job alone'

# Also where no event is left when the last job ends, and where a job waits for
# ever then.
for machine in 'bgq 4x4x2' 'apenet 4x4x2' 'gemini 4x2x2' 'qsnet2 64' \
	'fattree 64' 'dragonfly 32'; do
	run run ${machine% *} --shape ${machine#* } --quiet --no-alone \
		--jobs "$src/examples/jobs.yaml"
	[ $code -eq 0 ] || complain "$machine: $code: $(cat "$tmp/err")"
	write '- { name: a, nodes: 0..3, workload: collective }'
	run run ${machine% *} --shape ${machine#* } --quiet --jobs "$jobs"
	[ $code -eq 0 ] || complain "$machine: $code: $(cat "$tmp/err")"
	run run ${machine% *} --shape ${machine#* } --quiet --jobs "$jobs" \
		--no-alone --set 'faults.events=1 us node 2 dies'
	[ $code -eq 3 ] || complain "$machine: $code: $(cat "$tmp/err")"
	grep -q ' died at ' "$tmp/err" || complain "$(cat "$tmp/err")"
done
report 'jobs of collectives run, or stall, on every machine'

# What a job alone is compared with went in the trains of all of them.
ring='workload: collective, keys: { op: allreduce, algo: ring, warm: 0,'
write "- { name: long, nodes: 0..7, $ring bytes: 8MiB, chunk: 1MiB } }" \
	"- { name: short, nodes: 8..15, $ring bytes: 2MiB, chunk: 256KiB } }"
for coarse in 16 auto; do
	run run fattree --shape 16 --jobs "$jobs" coarse=$coarse --json
	jq '.jobs[].alone.time_ns' "$tmp/out" >"$tmp/alone.$coarse"
done
cmp -s "$tmp/alone.16" "$tmp/alone.auto" &&
	[ "$(grep -c '^[0-9]' "$tmp/alone.auto")" -eq 2 ] ||
	complain "$(cat "$tmp"/alone.* "$tmp/err")"
report 'jobs that run alone have the trains of the run together'

# Traffic and programs by messages, with and without threads.
a='- { name: a, nodes: [0, 3], workload: pingpong, start: 2us,'
a="$a keys: { via: msg, bytes: 256, rounds: 5 } }"
b='- { name: b, count: 4, placement: random, workload: random,'
b="$b keys: { load: 0.3, bytes: 64, warmup: 2us, measure: 10us } }"
write "$a" "$b"
for machine in 'bgq 4x2' 'qsnet2 16' 'gemini 2x2x2' 'torus 4x2' 'fattree 8' \
	'dragonfly 32'; do
	run run ${machine% *} --shape ${machine#* } --jobs "$jobs" --no-alone
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	grep -q ' one way ' "$tmp/out" || complain "$(cat "$tmp/out")"
	grep -q ' throughput per node ' "$tmp/out" ||
		complain "$(cat "$tmp/out")"
	one=$(digest)
	run run ${machine% *} --shape ${machine#* } --jobs "$jobs" --no-alone \
		--threads 2
	[ "$one" = "$(digest)" ] || complain 'threads change it'
	report "${machine% *}: a program beside traffic"
done

run run torus --shape 4x2 --jobs "$jobs" --json -o "$tmp/run.db" \
	--links "$tmp/links.csv" --budget
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
grep -q '"alone"' "$tmp/out" || complain 'no "alone"'
[ -s "$tmp/links.csv" ] || complain 'no links'
"$weft" sql "$tmp/run.db" 'select value v from figure where
	name = "a.one_way_ns"' >"$tmp/sql" 2>&1
grep -q '[1-9]' "$tmp/sql" || complain "$(cat "$tmp/sql")"
"$weft" sql "$tmp/run.db" 'select count(*) v from figure a join figure b on
	b.name = replace(a.name, ".alone.", ".") where a.name like
	"a.alone.%"' >"$tmp/sql" 2>&1
grep -q '[1-9]' "$tmp/sql" || complain "alone: $(cat "$tmp/sql")"
run rerun "$tmp/run.db"
[ $code -eq 0 ] || complain "rerun: $(cat "$tmp/out" "$tmp/err")"
report 'JSON, links, budgets and run files know jobs'

# Two halves of a ring that never meet do not disturb each other.
write '- { name: a, box: "4x1 at 0,0", workload: random, keys: { load: 0.3,
    bytes: 64, warmup: 2us, measure: 10us } }' \
	'- { name: b, box: "4x1 at 0,1", workload: random, keys: { load: 0.3,
    bytes: 64, warmup: 2us, measure: 10us } }'
run run torus --shape 4x2 --jobs "$jobs"
[ "$(grep -c 'throughput.*+0.0 %' "$tmp/out")" -eq 2 ] ||
	complain "$(cat "$tmp/out" "$tmp/err")"
report 'jobs that share no link lose nothing'

w='workload: random'
machine='torus --shape 4x2'
refused 'node 3 is in job a, too' "- { name: a, nodes: 0..3, $w }" \
	"- { name: b, nodes: 3..5, $w }"
refused 'there is no node 8' "- { name: a, nodes: 4..8, $w }"
refused ':3:23: the list is empty' "- { name: a, nodes: [], $w }"
refused 'did you mean random?' '- { name: a, nodes: 0..3, workload: randon }'
refused 'only 2 nodes are free' "- { name: a, nodes: 0..5, $w }" \
	"- { name: b, count: 3, $w }"
refused 'unknown key "node"' "- { name: a, node: 0..5, $w }"
refused 'does not fit' "- { name: a, box: '4x2 at 1,0', $w }"
refused 'needs a workload' '- { name: a, nodes: 0..3 }'
refused 'another job is called a' "- { name: a, nodes: 0..1, $w }" \
	"- { name: a, nodes: 2..3, $w }"
refused 'cannot share a machine' \
	'- { name: a, nodes: 0..3, workload: alltoall }'
refused 'needs via=msg' '- { name: a, nodes: 0..3, workload: stream }'
refused 'needs the whole machine' \
	'- { name: a, nodes: 0..3, workload: neighbours }'
refused 'a list of jobs' ''

exit $status
