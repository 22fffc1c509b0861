#!/bin/sh
#
# Corners of Open MPI that other suites of tests go into: each case here failed
# once.  Needs $WEFT built with libfabric and PMIx, and mpicc.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

mpicc -Wall -O1 -o "$tmp/corners" "$src/tests/mpi/corners.c" ||
	complain 'corners: mpicc'
report 'Open MPI compiles the program'

good torus -n 1 -- "$tmp/corners" alone
prints 'all corners are right'
report 'a rank alone makes any number of communicators and windows'

for machine in gemini qsnet2-16; do
	good $machine -n 3 -- "$tmp/corners"
	prints 'all corners are right'
done
report 'so are graphs, and accumulates of all operations and derived types'

good sunway-32 -n 6 ppn=2 -- "$tmp/corners" groups
prints 'all corners are right'
report 'groups that share nodes broadcast their own bytes'

good sunway-32 -n 8 -- "$tmp/corners" long
prints 'all corners are right'
report 'ranks that wait for bytes of a busy one get them'
exit $status
