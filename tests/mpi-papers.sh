#!/bin/sh
#
# What papers say of MPI, by MPI programs.  `weft paper` measures the same by
# endpoints, without MPI.  Needs $WEFT built with libfabric and PMIx, and mpicc.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

for file in halo latency; do
	mpicc -O1 -o "$tmp/$file" "$src/examples/mpi/$file.c" ||
		complain "$file: mpicc"
done

holds() { # CONDITION, as awk has it
	awk "BEGIN { exit !($1) }" || complain "not $1"
}

# Edges of 8 points are short messages; the last sum goes over a class route;
# long messages are fetched by remote gets.
good bgq-board -n 4 --json -- "$tmp/halo" 8 2
grep -q ' right$' "$tmp/out" || complain "$(cat "$tmp/out")"
grep -q '"collectives_by_network": *[1-9]' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
good bgq-board -n 2 -- "$tmp/latency" 65536 1
grep -q '^ *65536 B' "$tmp/out" || complain "$(cat "$tmp/out")"
report "BGQ-F140: MPI runs on SPI's descriptors, remote gets and class routes"

microseconds() { # PLACE BYTES
	printf '0\n%s\n' "$1" >"$tmp/place"
	good gemini -n 2 place="$tmp/place" -- "$tmp/latency" "$2" 2
	awk "\$1 == $2 { print \$3 }" "$tmp/out"
}

holds "$(microseconds 2 1) <= 1.5"
report 'GEM-N33, GEM-F60: an MPI message on uGNI takes at most 1.5 us'
holds "1048576 / $(microseconds 8 1048576) / 1000 >= 5"
report 'GEM-N48: an MPI message of 1 MiB has at least 5 GB/s'
exit $status
