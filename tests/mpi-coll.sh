#!/bin/sh
#
# Collectives of MPI programs: by the network where it can, by messages
# otherwise, with the same results.  Needs $WEFT built with libfabric and PMIx,
# and mpicc.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

for file in tests/mpi/groups tests/mpi/together tests/mpi/mixed \
	examples/mpi/barrier examples/mpi/allreduce; do
	mpicc -Wall -o "$tmp/$(basename $file)" "$src/$file.c" -lpthread ||
		complain "$file: mpicc"
done
report 'Open MPI compiles the programs'

# A number of the last run's JSON.
number() { # KEY
	tr ',{' '\n\n' <"$tmp/err" | sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" |
		head -n 1
}

holds() { # CONDITION, as awk has it
	awk "BEGIN { exit !($1) }" || complain "not $1"
}

good bgq-board -n 8 ppn=2 --json -- "$tmp/groups"
prints 'all groups are right'
# fewer, if class routes were not given back
holds "$(number collectives_by_network) > 4500"
holds "$(number collectives_by_messages) > 500"
grep -o '"digest": *"[0-9a-f]*"' "$tmp/err" >"$tmp/digest1" ||
	complain 'no digest'
good bgq-board -n 8 ppn=2 --json --threads 2 -- "$tmp/groups"
grep -o '"digest": *"[0-9a-f]*"' "$tmp/err" >"$tmp/digest2"
cmp -s "$tmp/digest1" "$tmp/digest2" || complain 'another digest'
report 'communicators whose nodes are a box have class routes'

good qsnet2-16 -n 4 --json -- "$tmp/groups"
prints 'all groups are right'
holds "$(number collectives_by_network) > 300"
report "cards of QsNetII execute the integers' collectives of all ranks"

good sunway-32 -n 4 ppn=2 --json -- "$tmp/groups"
prints 'all groups are right'
holds "$(number collectives_by_network) > 300"
report 'cards of Sunway execute collectives of any ranks'

good bgq-board -n 4 -- "$tmp/together"
prints 'all together is right'
report 'a rank that waits in the network goes on with all else'

good bgq-board -n 4 -- "$tmp/mixed" groups
prints 'all groups are right'
report 'communicators are freed while others are made'

for machine in bgq-board qsnet2-16 sunway-32; do
	good $machine -n 4 --json -- "$tmp/mixed" levels
	prints 'all levels are right'
	holds "$(number collectives_by_network) == 0"
done
report 'if one rank has threads, all use messages'

while read -r machine how collective text; do
	mpirun "$machine" -n 4 -- "$tmp/mixed" "$how" "$collective"
	[ $code -eq 1 ] || complain "$machine $how $collective: $code"
	grep -q "rank 1 $text" "$tmp/err" ||
		complain "no '$text' in: $(cat "$tmp/err")"
done <<-END
	bgq-board abort allreduce called MPI_Abort with code 13 at
	bgq-board leave reduce ended without MPI_Finalize
	bgq-board kill broadcast died of signal 9
	qsnet2-16 exit allreduce ended with exit code 7 at
	sunway-32 kill reduce died of signal 9
END
report 'a rank that ends while the network waits for it is named'

good bgq-board -n 8 -- "$tmp/barrier"
holds "$(awk '{ print $3 }' "$tmp/out") < 0.85"
good bgq-board -n 8 --json -- "$tmp/allreduce" 512 2
holds "$(awk '$1 == 1 { print $3 }' "$tmp/out") < 1.3"
holds "$(awk '$1 == 512 { print $3 }' "$tmp/out") < 3.7"
holds "$(number collectives_by_messages) == 0"
good bgq-board -n 8 collectives=messages --json -- "$tmp/allreduce" 1 2
holds "$(awk '$1 == 1 { print $3 }' "$tmp/out") > 1.5"
holds "$(number collectives_by_network) == 0"
holds "$(number collectives_by_messages) > 20"
report 'the network takes less time than messages, unless it is switched off'

good bgq-board -n 8 --json -- "$tmp/groups" times
holds "$(awk '$1 == "longest" { print $2 }' "$tmp/out") < 1.3"
holds "$(number collectives_by_messages) == 0"
good qsnet2-16 -n 8 --json -- "$tmp/groups" times
holds "$(number collectives_by_messages) <= 24" # the first three calls
good sunway-32 -n 8 --json -- "$tmp/groups" times
holds "$(number collectives_by_messages) == 0"
report 'the network reduces short integers, and their logical operations'
exit $status
