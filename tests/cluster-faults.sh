#!/bin/sh
#
# How Weft processes end where the host does not let them go on, or where they
# are not alike: one line, and an exit code.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/job.sh"

# a process that gives up does not wait for its threads
export TSAN_OPTIONS="${TSAN_OPTIONS:-} report_thread_leaks=0"

# --- faults of the host ---

endless='run bgq random --shape 4x4x4 warmup=1s measure=1s --quiet'

cat >"$tmp/jobs.yaml" <<EOF
schema: 1
jobs:
  - name: low
    partition: 2x2x2x4x2 at 0,0,0,0,0
    workload: random
    keys: { warmup: 1s, measure: 1s }
  - name: high
    partition: 2x2x2x4x2 at 2,2,2,0,0
    workload: random
    keys: { warmup: 1s, measure: 1s }
EOF
partitions="run bgq --shape 4x4x4x4x2 --jobs $tmp/jobs.yaml --quiet"

# A run of three processes that does not end by itself; $first and $second are
# two of them.
begin() { # OPTIONS
	"$weft" $endless --processes 3 "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null &
	first=$!
	until [ "$(pgrep -P $first | wc -l)" -eq 2 ]; do
		sleep 0.02
	done
	second=$(pgrep -P $first | head -n 1)
	# they have built it and run
	until [ "$(cut -d ' ' -f 14 <"/proc/$second/stat")" -gt 8 ]; do
		sleep 0.02
	done
}

# It ends soon, with a code and one line, and leaves nobody.
over() { # CODE LINE
	children=$(pgrep -P $first)
	since=$(date +%s)
	wait $first
	code=$?
	[ $(($(date +%s) - since)) -le 5 ] || complain 'it took too long'
	[ $code -eq "$1" ] || complain "exit code $code"
	if [ -n "$2" ]; then
		[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "^weft: $2" \
			"$tmp/err" || complain "$(cat "$tmp/err")"
	else
		[ ! -s "$tmp/err" ] || complain "$(cat "$tmp/err")"
	fi
	for child in $children; do
		case $(ps -o stat= -p "$child") in
		'' | Z*) ;;
		*) complain "$child is left" ;;
		esac
	done
}

ends() { # WHAT CODE LINE
	over "$2" "$3"
	report "$1"
}

# Who waits for an answer does so for four seconds: beside all else.
stuck() (
	tmp=$tmp/stuck
	mkdir "$tmp"
	begin
	kill -STOP $second
	kill -INT $first
	over 6 '.*stopped by a signal; the other processes did not answer'
)

begin -o "$tmp/run.db" --sample 1us
kill -KILL $second
ends 'a process that is killed' 3 'process 1 on .* was killed by signal 9'
"$weft" sql "$tmp/run.db" "SELECT value FROM meta WHERE key = 'ending'" \
	>"$tmp/out"
grep -q stopped "$tmp/out" || complain "$(cat "$tmp/out")"
"$weft" sql "$tmp/run.db" "SELECT count(*) > 1 FROM sample" >"$tmp/out"
grep -q '^ *1$' "$tmp/out" || complain "$(cat "$tmp/out")"
report 'its run file is as far as it was, and says so'

begin
kill -STOP $second
sleep 0.1
kill -CONT $second
sleep 0.1
kill -INT $second
ends 'a process that was stopped goes on; SIGINT at another than the first' 6 ''
grep -q ': stopped$' "$tmp/out" || complain "$(cat "$tmp/out")"
report 'what was found until then is printed'

stuck &
waits=$!

# Each process runs partitions of its own, or none; there is a room, or not.
endless=$partitions
begin
kill -KILL $second
ends 'partitions: a process that is killed' 3 \
	'process 1 on .* was killed by signal 9'
export WEFT_APART=1
begin
kill -INT $second
ends 'partitions: SIGINT at another process than the first' 6 \
	'stopped before all jobs ended'
unset WEFT_APART

run run torus random --shape 4 --processes 2 warmup=0us measure=1us
cp "$tmp/out" "$tmp/one"
"$weft" run torus random --shape 4 --processes 2 warmup=0us measure=1us \
	<&- >"$tmp/out" 2>"$tmp/err"
grep -v '^simulated' "$tmp/one" >"$tmp/want"
grep -v '^simulated' "$tmp/out" | cmp -s - "$tmp/want" ||
	complain "$(cat "$tmp/out" "$tmp/err")"
report 'stdin may be closed'
"$weft" run torus random --shape 4x4 measure=1us --processes 3 \
	>&- 2>"$tmp/err"
code=$?
[ $code -eq 2 ] && [ "$(cat "$tmp/err")" = \
	'weft: cannot write the output: Bad file descriptor' ] ||
	complain "exit code $code: $(cat "$tmp/err")"
report 'if stdout is closed, that is said once'
"$weft" run torus random --shape 4 --processes 2 warmup=0us measure=1us \
	>/dev/full 2>"$tmp/err" </dev/null
[ $? -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
	grep -q 'cannot write the output: No space left' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
report 'a full disk at process 0'

# --- jobs that cannot be ---

tiny='random --shape 4 warmup=0us measure=1us --threads 1'
points='random load=0.2,0.4 warmup=0us measure=1us'
small='random --shape 16x16x16 warmup=0us measure=1us --threads 1'

wrong() { # WHAT CODE LINE, of the last job
	[ $code -eq "$2" ] && [ "$(grep -c '^weft: ' "$tmp/err")" -eq 1 ] &&
		grep -q "^weft: $3" "$tmp/err" ||
		complain "$code: $(cat "$tmp/err")"
	report "$MPI: $1"
}

cannot_be() { # MPI
	MPI=$1
	has_job "$MPI" || {
		skip "$MPI: jobs that cannot be" "there is no mpirun.$MPI"
		return
	}
	job 5 run torus $tiny
	wrong 'more processes than nodes' 2 '5 processes for 4 nodes'
	job 2 paper gemini
	wrong 'paper in a job' 2 \
		'weft paper cannot be run in a job of MPI with 2 processes$'
	cp "$weft" "$tmp/weft"
	printf '\001' | dd of="$tmp/weft" bs=1 seek=12 conv=notrunc 2>/dev/null
	cp "$(dirname "$weft")/weft-cluster-$MPI.so" "$tmp"
	launch -n 1 "$weft" run torus $tiny : -n 1 "$tmp/weft" run torus $tiny
	wrong 'another build' 2 'process 1 on .*: it is another version or'
	for option in '--seed 2' --budget; do
		launch -n 1 "$weft" run torus $tiny : \
			-n 1 "$weft" run torus $tiny $option
		wrong "other arguments: $option" 2 \
			'process 1 on .*: it has other arguments'
	done
	launch -n 1 "$weft" run torus $tiny : -n 1 "$weft" run torus --quiet \
		random --shape 4 warmup=0us measure=1us --threads 2
	[ $code -eq 0 ] && [ ! -s "$tmp/err" ] || complain "$(cat "$tmp/err")"
	report "$MPI: processes with other numbers of threads"
	mkdir -p "$tmp/a" "$tmp/b"
	printf 'schema: 1\nmachine: mine\nbase: torus\n' >"$tmp/a/m.yaml"
	printf 'schema: 1\nmachine: mine\nbase: torus\n\n' >"$tmp/b/m.yaml"
	launch -n 1 -wdir "$tmp/a" "$weft" run m.yaml $tiny : \
		-n 1 -wdir "$tmp/b" "$weft" run m.yaml $tiny
	wrong 'another machine file' 2 \
		'process 1 on .*: the machine file m.yaml is not the same'
	launch -n 1 -wdir "$tmp/a" "$weft" sweep ./m.yaml $points : \
		-n 1 -wdir "$tmp/b" "$weft" sweep ./m.yaml $points
	wrong 'another machine file, in a sweep' 2 \
		'process 1 on .*: the machine file ./m.yaml is not the same'
	# MPICH's mpirun kills the others, and may end with the code of one
	launch -n 1 "$weft" run bgq $small : -n 1 \
		sh -c "ulimit -v 1000000; $weft run bgq $small; code=\$?
			echo \$code >$tmp/own; exit \$code"
	[ $code -eq 0 ] || code=$(cat "$tmp/own")
	wrong 'a process that is out of memory' 4 \
		'process 1 on .*: out of memory'
	rm "$tmp/b/m.yaml"
	launch -n 1 -wdir "$tmp/a" "$weft" run m.yaml $tiny : \
		-n 1 -wdir "$tmp/b" "$weft" run m.yaml $tiny
	wrong 'a file that is missing' 2 'process 1 on .*: .*m.yaml'
}

# The second of two processes gets a signal when it has run for a while.
stopped() { # MPI
	MPI=$1
	has_job "$MPI" || {
		skip "$MPI: partitions" "there is no mpirun.$MPI"
		return
	}
	launch -n 1 "$weft" $partitions : -n 1 \
		sh -c "$weft $partitions & "'
			until [ "$(cut -d " " -f 14 </proc/$!/stat)" -gt 20 ]
			do
				sleep 0.02
			done
			kill -INT $!
			wait $!'
	wrong 'partitions: SIGINT at another process than the first' 6 \
		'stopped before all jobs ended'
}

cannot_be openmpi
cannot_be mpich
stopped openmpi
stopped mpich

# The environment of a job, without its launcher.
if has_job openmpi; then
	OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$weft" run torus $tiny \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	code=$? MPI=openmpi
	wrong 'no launcher' 2 'the environment is that of process 0 of 2'
	OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 "$weft" paper gemini \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
	wrong 'no launcher, and not the first process' 2 \
		'weft paper cannot be run in a job'
fi
# A job inside of another one.
if has_job openmpi && has_job mpich; then
	MPI=openmpi
	launch -n 2 sh -c "mpirun.mpich -n 2 $weft run torus $tiny"
	[ $code -eq 0 ] && [ ! -s "$tmp/err" ] &&
		[ "$(grep -c '^torus' "$tmp/out")" -eq 2 ] ||
		complain "$code: $(cat "$tmp/out" "$tmp/err")"
	report "jobs of MPICH inside a job of Open MPI"
fi
if has_job openmpi; then
	OMPI_COMM_WORLD_SIZE=1025 OMPI_COMM_WORLD_RANK=0 "$weft" run torus \
		$tiny >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$? MPI=openmpi
	wrong 'too many processes' 2 '1025 processes in a job of MPI (want at'
fi
# An object that was not built with weft, or before objects said so.
if has_job openmpi; then
	mkdir "$tmp/other"
	cp "$weft" "$tmp/other/weft"
	for change in 's/weft-cluster [0-9a-f]/weft-cluster x/' \
		's/weft_cluster_build/weft_cluster_older/'; do
		LC_ALL=C sed "$change" \
			"$(dirname "$weft")/weft-cluster-openmpi.so" \
			>"$tmp/other/weft-cluster-openmpi.so"
		OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 \
			"$tmp/other/weft" run torus $tiny \
			>"$tmp/out" 2>"$tmp/err" </dev/null
		code=$? MPI=openmpi
		wrong "an object of another build: $change" 2 \
			'.*/weft-cluster-openmpi.so is from another build'
	done
fi
if has_job mpich; then
	PMI_SIZE=2 PMI_RANK=0 "$weft" run torus $tiny \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	code=$? MPI=mpich
	wrong 'no launcher' 2 'the environment is that of process 0 of 2'
fi

wait $waits
cat "$tmp/stuck/complaints" >>"$tmp/complaints" 2>/dev/null
report 'SIGINT where another process is stopped'
exit $status
