#!/bin/sh
#
# What Weft processes do beside one run: shares, and points of a sweep that are
# handed out.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/job.sh"

# --- shares ---

shares() { # CUT-WIRES LEAST-NODES MOST-NODES ARGUMENTS
	cut=$1 least=$2 most=$3
	shift 3
	run show "$@" --json
	jq -e ".cut_wires == $cut and ([.shares[].nodes] | min == $least and
		max == $most) and ([.shares[].cut_wires] | add) == 2 * $cut" \
		"$tmp/out" >/dev/null || complain "$(cat "$tmp/out" "$tmp/err")"
	report "shares: weft show $*"
}

if command -v jq >/dev/null; then
	# slabs, and boxes where these cut fewer wires
	shares $((4 * 16 * 16 * 12 * 2)) 24576 24576 bgq-20pf --processes 4
	shares $((6 * 16 * 16 * 12 * 2)) 12288 12288 bgq-20pf --processes 8
	# nodes of a switch stay together, those of a short ring do not
	shares 436 204 208 dragonfly --processes 5
	shares 111 9 10 torus --shape 4x4x4 --processes 7
	run show fattree --shape 4096 --processes 4 --json
	jq -e '[.shares[] | [.nodes, .others]] | unique | length == 1' \
		"$tmp/out" >/dev/null || complain "$(cat "$tmp/out")"
	report 'shares of a fat tree have their switches'
else
	skip 'shares' 'no jq'
fi
refused 'at most one for each of the 4 nodes' show torus --shape 4 \
	--processes 5
refused 'not a number from 1 to 1024' show bgq-20pf --processes 1025
refused 'not a number from 1 to 1024' show bgq-20pf --processes 0
refused 'not a number from 1 to 32' run torus random --processes 33
refused 'not a number from 1 to 32' sweep torus random --processes 200 \
	--processes-per-run 33
refused 'not a number from 1 to 256' sweep torus random --processes 257
refused 'want it without' show torus --processes 2 --svg

# --- what processes would send ---

counted() { # PROCESSES
	run run bgq random load=max --shape 4x4x4 warmup=1us measure=1us \
		--count-mail --threads "$1" --json
}

counted 1
one=$(value digest)
counted 2
two=$(value all_mail)
[ "$(value digest)" = "$one" ] || complain "$(value digest)"
[ "$(value most_events)" -le "$(value all_events)" ] &&
	[ $((2 * $(value most_events))) -ge "$(value all_events)" ] ||
	complain "events: $(value most_events) of $(value all_events)"
counted 8
[ "$(value digest)" = "$one" ] || complain "$(value digest)"
[ "$two" -gt 0 ] && [ "$(value all_mail)" -gt "$two" ] &&
	[ "$(value most_mail_bytes)" -gt $((32 * $(value most_mail))) ] ||
	complain "$two and $(value all_mail) of mail"
report 'threads that stand for processes: the same run, and more cuts more mail'
if command -v bash >/dev/null; then
	"$src/bench/cluster" --event 100 torus random load=max --shape 4x4x4 \
		warmup=0us measure=1us >"$tmp/out" 2>"$tmp/err" ||
		complain "$(cat "$tmp/err")"
	[ "$(grep -c ' %$' "$tmp/out")" -eq 4 ] || complain "$(cat "$tmp/out")"
	report 'bench/cluster prints what to expect'
	"$src/bench/cluster" --compare-threads torus random --shape 4x4 \
		warmup=0us measure=1us >"$tmp/out" 2>"$tmp/err" ||
		complain "$(cat "$tmp/err")"
	grep -q '^torus random .* [0-9]*\.[0-9][0-9]  at least 0.9$' \
		"$tmp/out" || complain "$(cat "$tmp/out")"
	report 'bench/cluster compares two processes with two threads'
fi

# --- work of threads, and waits ---

run run superpod-1024 random load=0.3 warmup=1us measure=2us --threads 16 \
	--count-work --json
[ "$(value all_events)" -ge $((10 * $(value most_events))) ] ||
	complain "events: $(value most_events) of $(value all_events)"
report 'threads have about as much to do in each window'

# Five processes and one core: a process that waits leaves it to the others.
core=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' \
	/proc/self/status)
if command -v taskset >/dev/null && taskset -c "$core" true; then
	"$weft" goal allreduce ranks=32 bytes=64KiB chunk=4KiB rounds=4 \
		-o "$tmp/ring.goal"
	spent() { # PROCESSES: ms of CPU time
		taskset -c "$core" "$weft" run torus --shape 8x4 replay \
			file="$tmp/ring.goal" --processes "$1" --threads 1 \
			--json --quiet >"$tmp/out"
		value cpu_s | awk '{ printf "%d\n", 1000 * $1 }'
	}
	one=$(spent 1) five=$(spent 5)
	[ "$five" -le $((8 * one)) ] ||
		complain "$one ms of CPU time in one process, $five in five"
	report 'processes that wait do not burn CPU time on a busy host'
else
	skip 'processes that wait' 'no taskset'
fi

# --- sweeps ---

points='sweep torus,fattree random load=0.2,0.6 seed=1..2 --shape 16
	warmup=1us measure=2us'
run $points
cp "$tmp/out" "$tmp/one"

same() { # WHAT, of the last run or job
	[ $code -eq 0 ] && cmp -s "$tmp/one" "$tmp/out" ||
		complain "$code: $(diff "$tmp/one" "$tmp/out")" \
			"$(cat "$tmp/err")"
	report "$1 prints the same"
}

run $points --processes 3
same 'a sweep on three processes'
run $points --processes 4 --processes-per-run 2
same 'a sweep of runs that two processes share'
small='sweep torus collective op=allreduce algo=ring procs=8 bytes=4KiB
	rounds=2 --shape 1,2,4 --set domain.rate=450GB/s'
run $small
cp "$tmp/out" "$tmp/small"
run $small --processes 3 --processes-per-run 3
[ $code -eq 0 ] && cmp -s "$tmp/small" "$tmp/out" ||
	complain "$code: $(cat "$tmp/out" "$tmp/err")"
report 'a machine of fewer nodes than processes for a run has fewer of them'
run sweep torus random --shape 2,4x4,3 warmup=0us measure=1us load=0.1,0.2 \
	--processes 1 -o "$tmp/a.db"
"$weft" sql "$tmp/a.db" 'SELECT p.name FROM point p JOIN value v
	ON v.point = p.id GROUP BY p.id ORDER BY min(v.rowid)' |
	sed -n 's/.*shape=\([^ ]*\) load=\([^ ]*\) .*/\1:\2/p' >"$tmp/out"
[ "$(tr '\n' ' ' <"$tmp/out")" = \
	'4x4:0.1 4x4:0.2 3:0.1 3:0.2 2:0.1 2:0.2 ' ] ||
	complain "$(cat "$tmp/out")"
report 'large machines first, and curves from their first point on'
rm -f "$tmp/a.db"

# Points and their figures, by the points' ids.
ids() { # FILE
	"$weft" sql "$1" 'SELECT p.id, p.name, p.digest, v.name, v.value
		FROM point p JOIN value v ON v.point = p.id
		ORDER BY p.id, v.rowid' --json
}

"$weft" $points -o "$tmp/one.db" >"$tmp/out"
"$weft" $points -o "$tmp/a.db" --processes 3 >"$tmp/out"
ids "$tmp/one.db" >"$tmp/ids"
grep -q '"id": 8' "$tmp/ids" || complain "$(tail "$tmp/ids")"
ids "$tmp/a.db" | cmp -s - "$tmp/ids" || complain "$(ids "$tmp/a.db")"
report 'points have the same ids, whichever ends first'
rm -f "$tmp/a.db"
part='random seed=1..2 --shape 16 warmup=1us measure=2us'
"$weft" sweep torus $part load=0.2 -o "$tmp/a.db" >"$tmp/out"
"$weft" $points -o "$tmp/a.db" --processes 3 >"$tmp/out"
ids "$tmp/a.db" | cmp -s - "$tmp/ids" || complain "$(ids "$tmp/a.db")"
report 'and so they have where a sweep continues'
rm -f "$tmp/a.db"
"$weft" sweep torus,fattree $part load=0.6 -o "$tmp/a.db" >"$tmp/out"
"$weft" $points -o "$tmp/a.db" --processes 3 >"$tmp/out"
"$weft" sql "$tmp/a.db" 'SELECT id, curve, x, seed FROM point ORDER BY id' |
	awk '/^ *[0-9]/ { print $1, $2, $3, $4 }' >"$tmp/out"
{
	printf '%s\n' '1 torus 0.6 1' '2 torus 0.6 2' '3 fattree 0.6 1' \
		'4 fattree 0.6 2' '5 torus 0.2 1' '6 torus 0.2 2' \
		'9 fattree 0.2 1' '10 fattree 0.2 2'
} | diff "$tmp/out" - >>"$tmp/complaints"
report 'ids that are there stay, and new ones follow in order'
rm -f "$tmp/a.db"
refused '--jobs has no effect on several' $points --processes 2 --jobs 2
refused 'without --processes' $points --processes-per-run 2
refused '3 is more than the 2' $points --processes 2 --processes-per-run 3

# The first child of a process, as soon as it has one.
child_of() { # PARENT
	until pgrep -P "$1" >"$tmp/children"; do
		kill -0 "$1" || return
		sleep 0.02
	done
	head -n 1 "$tmp/children"
}

# A killed run costs its point, and the same command runs that one again.
long='sweep torus random load=0.3,0.4 --shape 8x8x4 warmup=0us measure=300us
	--past-saturation'
costs_a_point() { # CAUSE
	[ $code -eq 5 ] && [ "$(grep -c '^torus' "$tmp/out")" -eq 1 ] &&
		grep -q "1 of 2 points failed; torus load=0.[34] seed=1: $1" \
			"$tmp/err" || complain "$code: $(cat "$tmp/err")"
	run $long -o "$tmp/a.db" --json
	[ "$(value done)" = 2 ] && [ "$(value failed)" = 0 ] ||
		complain "$(cat "$tmp/out" "$tmp/err")"
	rm -f "$tmp/a.db"
}

"$weft" $long -o "$tmp/a.db" --processes 2 --quiet \
	>"$tmp/out" 2>"$tmp/err" </dev/null &
first=$!
kill -KILL "$(child_of $first)"
wait $first
code=$?
costs_a_point 'the run was killed by signal 9'
report 'a killed run costs its point, not the sweep'

# Children of Weft processes, which run points, below a process.
runs_of() { # PROCESS
	ps -e -o pid=,ppid=,comm= | awk -v top="$1" '
		{ parent[$1] = $2; name[$1] = $3 }
		END {
			for (p in name) {
				if (name[p] != "weft" ||
					name[parent[p]] != "weft")
					continue
				for (q = p; q in parent && q != top; )
					q = parent[q]
				if (q == top)
					print p
			}
		}'
}

jobs_of() { # MPI
	MPI=$1
	if ! has_job "$MPI"; then
		skip "sweeps as a job of $MPI" "there is no mpirun.$MPI"
		return
	fi
	for processes in 2 3; do
		job $processes $points
		same "a sweep of $processes processes of $MPI"
	done
	job 4 $points --processes-per-run 2
	same "a sweep of runs that processes of $MPI share"
	job 3 $small --processes-per-run 3
	[ $code -eq 0 ] && cmp -s "$tmp/small" "$tmp/out" ||
		complain "$code: $(cat "$tmp/out" "$tmp/err")"
	report "$MPI: a machine of fewer nodes has fewer processes for a run"
	job 2 $points --processes-per-run 3
	[ $code -eq 2 ] && [ "$(grep -c '^weft: ' "$tmp/err")" -eq 1 ] &&
		grep -q 'no computer of the job has 3' "$tmp/err" ||
		complain "$code: $(cat "$tmp/err")"
	report "$MPI: too few processes to share a run"

	# To give the core away costs milliseconds then, 13 s in all.
	for core in 1 2; do
		while :; do :; done &
		eval "other$core=$!"
	done
	job 2 run torus pingpong --shape 4x4 from=13 to=2 rounds=3000 --json
	kill $other1 $other2
	wait $other1 $other2
	awk -v s="$(value wall_s)" 'BEGIN { exit !(s > 0 && s < 4) }' ||
		complain "$code: $(value wall_s) s, $(cat "$tmp/err")"
	report "$MPI: programs that compute do not stop two processes"

	(
		job 2 $long -o "$tmp/a.db" --quiet
		echo $code >"$tmp/code"
	) &
	launched=$!
	until runs_of $launched >"$tmp/runs" && [ -s "$tmp/runs" ]; do
		sleep 0.02
	done
	kill -KILL "$(head -n 1 "$tmp/runs")"
	wait $launched
	code=$(cat "$tmp/code")
	costs_a_point 'the run was killed by signal 9 .* (process [01] on '
	report "a killed run costs its point of a job of $MPI"
}

jobs_of openmpi
jobs_of mpich

exit $status
