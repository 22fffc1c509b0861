#!/bin/sh
#
# Puts, gets and atomics of MPI programs, and of one that calls libfabric
# itself, on simulated machines.  Needs $WEFT built with libfabric and PMIx, and
# mpicc.
set -u
. "$(dirname "$0")/tap.sh"

if [ ! -x "$(dirname "$weft")/inside/weft-start" ] ||
	! command -v mpicc >/dev/null; then
	echo '1..0 # SKIP no libfabric-dev, libpmix-dev or libopenmpi-dev'
	exit 77
fi
for file in examples/mpi/one_sided examples/mpi/put_get tests/mpi/fabric; do
	mpicc -Wall -I"$src/include" -o "$tmp/$(basename $file)" \
		"$src/$file.c" -lfabric || complain "$file: mpicc"
done
report 'Open MPI compiles the programs'

good() { # MACHINE OPTION... -- PROGRAM...
	timeout 100 "$weft" mpirun "$@" >"$tmp/out" 2>"$tmp/err" </dev/null ||
		complain "$*: $(cat "$tmp/out" "$tmp/err")"
}

says() { # TEXT
	grep -qF -- "$1" "$tmp/out" || complain "no '$1' in: $(cat "$tmp/out")"
}

# The interface performs atomics on Gemini, ranks do so on Blue Gene/Q.
for threads in 1 2; do
	good gemini -n 4 --json --threads $threads -- "$tmp/one_sided"
	says 'all of it is right'
	grep '"digest"' "$tmp/err" >>"$tmp/out"
	cp "$tmp/out" "$tmp/out$threads"
done
cmp -s "$tmp/out1" "$tmp/out2" || complain "$(cat "$tmp/out1" "$tmp/out2")"
good bgq-board -n 4 -- "$tmp/one_sided"
says 'all of it is right'
report 'windows with fences, locks and groups are right, on 1 and 2 threads'

good qsnet2-16 -n 3 ppn=3 -- "$tmp/one_sided"
says 'all of it is right'
report 'so they are where all ranks are on one node'

good torus -n 2 -- "$tmp/put_get" 4096 4 4096
[ "$(wc -l <"$tmp/out")" -eq 2 ] || complain "$(cat "$tmp/out")"
report 'puts and gets need no call of the other rank'

good qsnet2-16 -n 2 stack=none -- "$tmp/fabric"
says 'rank 1: all of libfabric is right, 11 sends'
report 'every kind of call of libfabric is right'
exit $status
