#!/bin/sh
#
# The programs of examples/mpi: they check themselves, and have one output and
# one digest, however they are run.
#
#   tests/mpi-examples.sh        some of them, with few ranks
#   tests/mpi-examples.sh all    all, on five machines, ten times each: with one
#                                thread and two, recorded, with budgets, with
#                                copies by ranks
set -u
. "$(dirname "$0")/tap.sh"

if [ ! -x "$(dirname "$weft")/inside/weft-start" ] ||
	! command -v mpicc >/dev/null; then
	echo '1..0 # SKIP no libfabric-dev, libpmix-dev or libopenmpi-dev'
	exit 77
fi
how=${1-}

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
	if [ "$how" = all ]; then
		for i in 1 2 3; do
			again "$machine" "$ranks" -- "$tmp/$program" "$@"
			again "$machine" "$ranks" copy=channel --threads 2 -- \
				"$tmp/$program" "$@"
		done
		again "$machine" "$ranks" --output "$tmp/run.db" -- \
			"$tmp/$program" "$@"
		rm -f "$tmp/run.db"
		again "$machine" "$ranks" --budget -- "$tmp/$program" "$@"
	fi
	report "$program on $machine: right, and the same each time"
}

files='rate cg'
[ "$how" != all ] || files=$(cd "$src/examples/mpi" && echo *.c)
for file in $files; do
	file=${file%.c}
	mpicc -O1 -I"$src/include" -o "$tmp/$file" \
		"$src/examples/mpi/$file.c" || complain "$file: mpicc"
done
report 'Open MPI compiles the programs'

if [ "$how" != all ]; then
	check gemini 2 rate 8 16 2
	check torus 3 cg 10
	exit $status
fi
for machine in bgq-board qsnet2-16 gemini apenet sunway-32; do
	check $machine 2 latency 65536 5
	check $machine 2 bandwidth 65536 4
	check $machine 2 both_ways 65536 4
	check $machine 8 rate
	check $machine 8 allreduce 512 2
	check $machine 8 alltoall 512 2
	check $machine 8 broadcast 4096 2
	check $machine 8 barrier
	check $machine 8 any_source
	check $machine 8 halo
	check $machine 8 cg
	check $machine 8 ring
	check $machine 4 every_call
	check $machine 8 tour 65536
done
exit $status
