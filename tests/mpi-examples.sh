#!/bin/sh
#
# The programs of examples/mpi: they check themselves, and have one output and
# one digest, however they are run.
# tests/campaign-mpi does the same with all of them.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"


# Output and digest of a run; $code is how it ended.
once() { # MACHINE RANKS OPTION... -- PROGRAM...
	machine=$1 ranks=$2
	shift 2
	timeout 300 "$weft" mpirun "$machine" -n "$ranks" --json "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
	{
		cat "$tmp/out"
		grep -o '"digest": *"[0-9a-f]*"' "$tmp/err"
	} >"$tmp/now"
}

# The same as the first one.
again() { # AS once
	once "$@"
	cmp -s "$tmp/first" "$tmp/now" ||
		complain "$*: $(diff "$tmp/first" "$tmp/now" | head -n 5)"
}

check() { # MACHINE RANKS PROGRAM...
	machine=$1 ranks=$2 program=$3
	shift 3
	once "$machine" "$ranks" --threads 1 -- "$tmp/$program" "$@"
	[ $code -eq 0 ] || complain "$code: $(tail "$tmp/out" "$tmp/err")"
	cp "$tmp/now" "$tmp/first"
	again "$machine" "$ranks" --threads 2 -- "$tmp/$program" "$@"
	report "$program on $machine: right, and the same each time"
}

for file in rate cg; do
	mpicc -O1 -I"$src/include" -o "$tmp/$file" \
		"$src/examples/mpi/$file.c" || complain "$file: mpicc"
done
report 'Open MPI compiles the programs'

check gemini 2 rate 8 16 2
check torus 3 cg 10
exit $status
