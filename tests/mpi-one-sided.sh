#!/bin/sh
#
# Puts, gets and atomics of MPI programs, and of one that calls libfabric
# itself, on simulated machines.  Needs $WEFT built with libfabric and PMIx, and
# mpicc.
# MPI-F9.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

for file in examples/mpi/one_sided examples/mpi/put_get tests/mpi/fabric \
	tests/mpi/windows tests/mpi/strided; do
	mpicc -Wall -I"$src/include" -o "$tmp/$(basename $file)" \
		"$src/$file.c" -lfabric || complain "$file: mpicc"
done
report 'Open MPI compiles the programs'

# The interface performs atomics on Gemini, ranks do so on Blue Gene/Q.
for threads in 1 2; do
	good gemini -n 4 --json --threads $threads -- "$tmp/one_sided"
	prints 'all of it is right'
	grep '"digest"' "$tmp/err" >>"$tmp/out"
	cp "$tmp/out" "$tmp/out$threads"
done
cmp -s "$tmp/out1" "$tmp/out2" || complain "$(cat "$tmp/out1" "$tmp/out2")"
good bgq-board -n 4 -- "$tmp/one_sided"
prints 'all of it is right'
report 'fences, locks and groups are right, on any number of threads'

good qsnet2-16 -n 3 ppn=3 -- "$tmp/one_sided"
prints 'all of it is right'
report 'so they are where all ranks are on one node'

# Each put would wake a rank that waits for others: 30,000 crossings.
for machine in gemini torus; do
	good $machine -n 2 --json -- "$tmp/strided"
	prints 'all puts are right'
	[ "$(grep -c '^seen at once$' "$tmp/out")" -eq 2 ] ||
		complain "$machine: $(cat "$tmp/out")"
	awk '$1 == "\"crossings\":" { exit !($2 + 0 < 9000) }' "$tmp/err" ||
		complain "$machine: $(grep crossings "$tmp/err")"
done
# Nor do packets of its own gets: 41,000.
good gemini -n 2 --json -- "$tmp/put_get" 65536 1 256
awk '$1 == "\"crossings\":" { exit !($2 + 0 < 3000) }' "$tmp/err" ||
	complain "$(grep crossings "$tmp/err")"
report 'puts do not wake a rank that waits for something else'

# Open MPI would share memory among ranks of a node.
for machine in sunway-32 qsnet2-16 bgq-board torus; do
	good $machine -n 4 ppn=2 -- "$tmp/windows"
	prints 'all windows are right, 2 ranks on a node'
	grep -q ' 94 puts, 114 gets' "$tmp/err" || complain "$(cat "$tmp/err")"
done
report 'all kinds of windows are right with several ranks on several nodes'

# As a tool calls them, which has MPI's names for itself.
for name in create allocate create_dynamic; do
	set -- "$@" "-DMPI_Win_$name=PMPI_Win_$name"
done
mpicc -Wall "$@" -o "$tmp/windows" "$src/tests/mpi/windows.c" ||
	complain 'windows by PMPI: mpicc'
good torus -n 4 ppn=2 -- "$tmp/windows"
prints 'all windows are right, 2 ranks on a node'
report 'windows that are made by names of PMPI are no others'

good torus -n 2 -- "$tmp/put_get" 4096 4 4096
[ "$(wc -l <"$tmp/out")" -eq 2 ] || complain "$(cat "$tmp/out")"
report 'puts and gets need no call of the other rank'

took() { # ARGUMENTS; ns of a run
	good torus -n 2 --json "$@" -- "$tmp/put_get" 64 1 64
	sed -n 's/^  "sim_time_ns": \([0-9]*\),$/\1/p' "$tmp/err"
}

free=$(took)
paid=$(took --set mpi.register=900us)
[ "$paid" -ge $((free + 900000)) ] || complain "$paid ns, without it $free"
report 'to register memory takes its time'

good qsnet2-16 -n 2 stack=none -- "$tmp/fabric"
prints 'rank 1: all of libfabric is right, 12 sends'
report 'every kind of call of libfabric is right'
exit $status
