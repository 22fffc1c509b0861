#!/bin/sh
#
# MPI programs on several Weft processes of one computer: what the program
# prints, the report, the run file, the digest and the words of every ending are
# those of one process.  Needs $WEFT built with libfabric and PMIx, and mpicc.
#
# WHOLE=1 takes more machines and endings, and jobs of Open MPI and of MPICH.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"
. "$(dirname "$0")/job.sh"

for file in examples/mpi/any_source examples/mpi/one_sided tests/mpi/behave \
	tests/mpi/wrong tests/mpi/windows; do
	mpicc -Wall -I"$src/include" -o "$tmp/$(basename $file)" \
		"$src/$file.c" -lpthread || complain "$file: mpicc"
done
report 'Open MPI compiles the programs'

# What came of it, but the host's own and what Open MPI's mpirun says.
result() { # FILE
	{
		echo "exit code $code"
		cat "$tmp/out"
		sed -e '/"threads"/d' -e '/"wall_s"/d' -e '/"cpu_s"/d' \
			-e '/"setup_s"/d' -e '/"checks_s"/d' \
			-e '/"ns_per_packet_hop"/d' -e '/"bytes_per_node"/d' \
			-e '/"crossing_us"/d' -e '/"ranks_cpu_s"/d' \
			-e '/^simulated/d' -e '/^crossings/d' \
			-e '/^-----*$/,/^-----*$/d' "$tmp/err"
	} >"$1"
}

# OPTIONS are processes x threads; the job is one of $MPI instead where that is
# set.
same() { # OPTIONS ARGUMENTS
	options=$1
	shift
	mpirun "$@" --threads 1 -- $program
	result "$tmp/one"
	for option in $options; do
		if [ "${MPI-}" ]; then
			job "${option%x*}" mpirun "$@" \
				--threads "${option#*x}" -- $program
		else
			mpirun "$@" --processes "${option%x*}" \
				--threads "${option#*x}" -- $program
		fi
		result "$tmp/other"
		diff "$tmp/one" "$tmp/other" >"$tmp/diff" ||
			complain "$option: $(head -n 20 "$tmp/diff")"
	done
	report "$* -- ${program#"$tmp"/}: ${MPI-processes} x threads: $options"
}

says() { # CODE TEXT; of the last runs
	grep -q "^exit code $1\$" "$tmp/one" && grep -qE -- "$2" "$tmp/one" ||
		complain "$(tail -n 12 "$tmp/one")"
	report "$1: $2"
}

program="$tmp/any_source"
same '3x2' gemini --shape 2x2x1 -n 6 --json
says 0 '"reproducible": true'

# Keys of memory that a rank registers reach ranks of other processes.
program="$tmp/one_sided"
same '2x1' bgq-board -n 4 place=random --budget
says 0 'all of it is right'
if [ "${WHOLE-}" ]; then
	program="$tmp/windows"
	same '2x1 3x1' torus --shape 2x2 -n 4 ppn=2 --json
	says 0 'all windows are right'
fi

# --- endings ---

program="$tmp/wrong"
ends() { # WORD CODE TEXT
	program="$tmp/wrong $1"
	same '3x1' torus --shape 4 -n 3
	says "$2" "$3"
}

ends kill 1 'rank 1 died of signal 9'
if [ "${WHOLE-}" ]; then
	ends exit 1 'rank 1 ended with exit code 7 at .* us outside of MPI'
	ends leave 1 'rank 1 ended without MPI_Finalize, and other ranks wait'
	ends crash 1 'rank 1 died of signal 11 .* us outside of MPI'
	ends exit-at-once 1 'rank 1 ended with exit code 0 at'
	ends abort 1 'rank 1 called MPI_Abort with code 13 at .* us in'
	ends nowhere 1 'rank 1 called MPI_Abort with code 17 at'
	ends unfinished 0 finished
fi
program="$tmp/behave stall"
same '2x1' bgq-board -n 3 place=random
says 3 'rank [0-9] \(node [0-9]*\): MPI_'
program="$tmp/none"
same '2x1' torus --shape 4 -n 2
says 2 'No such file'

# A node with a rank dies: in one process or another.
program="$tmp/any_source"
dies='faults.events=3 us node 2 dies'
same '3x1' torus --shape 4 -n 4 --set "$dies"
says 1 'node 2 died at 3.000 us, and rank 2 with it'
[ ! "${WHOLE-}" ] || same '3x1' torus --shape 4 -n 4 --set "$dies" death=go-on

# One rank computes for ever, and another one, of another process, is killed.
lost() {
	"$weft" mpirun torus --shape 4 -n 4 --processes 3 -- "$tmp/wrong" loop \
		2>"$tmp/err" &
	sleep 4
	kill -9 "$(pgrep -f "^$tmp/wrong loop" | tail -n 1)"
	wait $!
	code=$?
	[ $code -eq 1 ] && grep -q 'died of signal 9 (Killed) while rank 1' \
		"$tmp/err" || complain "$code: $(cat "$tmp/err")"
	report 'who waits for a rank that computes learns that another is gone'
}
[ ! "${WHOLE-}" ] || lost

# --- files ---

dump() { # FILE
	for table in rank pair called call transfer figure link; do
		"$weft" sql "$1" "select * from $table" --json 2>&1
	done
}

program="$tmp/any_source"
mpirun torus --shape 4x2 -n 6 -o "$tmp/one.db" --threads 1 -- $program
mpirun torus --shape 4x2 -n 6 -o "$tmp/other.db" --processes 3 -- $program
dump "$tmp/one.db" >"$tmp/one"
dump "$tmp/other.db" | diff "$tmp/one" - >"$tmp/diff" ||
	complain "$(head -n 20 "$tmp/diff")"
grep -q '"messages_ps"' "$tmp/one" || complain "$(head -n 20 "$tmp/one")"
report 'the run file has the same ranks, pairs and calls'

recorded() {
	mpirun torus --shape 4 -n 4 compute=record:"$tmp/steps" \
		--processes 3 -- $program
	[ $code -eq 0 ] &&
		[ "$(grep -c '^rank [0-3]$' "$tmp/steps")" -eq 4 ] &&
		[ "$(grep -c '^MPI_Finalize ' "$tmp/steps")" -eq 4 ] ||
		complain "$code: $(cat "$tmp/err") $(head "$tmp/steps")"
	report 'what ranks of all processes compute is recorded'
	same '2x1' torus --shape 4 -n 4 compute=replay:"$tmp/steps" --json
}
[ ! "${WHOLE-}" ] || recorded

# --- as jobs of MPI ---

program="$tmp/any_source"
for MPI in openmpi mpich; do
	if [ $MPI = mpich ] && [ ! "${WHOLE-}" ]; then
		continue
	elif has_job $MPI; then
		same '2x1' torus --shape 4 -n 4
		[ ! "${WHOLE-}" ] || same '3x1' bgq-board -n 8 ppn=2 --json
		[ ! "${WHOLE-}" ] || ends exit 1 'rank 1 ended with exit code 7'
		[ ! "${WHOLE-}" ] || ends kill 1 'rank 1 died of signal 9'
		program="$tmp/any_source"
	else
		skip "a job of $MPI" 'it is not there, or no object for it'
	fi
done

! pgrep -f "$tmp/" >/dev/null || complain "left: $(pgrep -fa "$tmp/")"
report 'no process is left'
exit $status
