#!/bin/sh
#
# QSN-F89: each benchmark of QsNetII's paper is a workload, and shows what the
# paper shows with it.  An application's is an example, elan_multiply.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

figure() { # NAME ARGUMENTS
	name=$1
	shift
	ends 0 run "$@" --json
	jq ".results.$name * 1000 | round" "$tmp/out"
}

less() { # ONE OTHER
	[ "$1" -lt "$2" ] || complain "$1 is not less than $2"
}

much='by=dma places=1 bytes=64KiB rounds=20'
one=$(figure total_MBps qsnet2-16 stream $much)
out=$(figure out_MBps qsnet2-16 stream $much both=yes)
back=$(figure back_MBps qsnet2-16 stream $much both=yes)
less "$out" "$one" && less "$back" "$one" && less "$one" $((2 * (out + back)))
report "QSN-F89: pings one way and both ways"

put=$(figure one_way_ns qsnet2-16 pingpong via=nic by=sten bytes=8 rounds=20)
mpi=$(figure one_way_ns qsnet2-16 pingpong via=nic by=match bytes=0 rounds=20)
less "$put" "$mpi" && less "$mpi" $((2 * put))
report "QSN-F89: MPI's latency"

ends 0 run qsnet2-16 crossover step=256 rounds=2 --json
holds '.results | .crossover_B > 1000 and .crossover_B < 2000 and
	.put_8B_ns < .dma_8B_ns'
report "QSN-F89: puts against DMAs"

alone=$(figure get_ns qsnet2-64 gets)
batch=$(figure gets_per_us qsnet2-64 gets batch=16)
less 2000000 "$alone" && less 2000000 $((alone * batch / 1000))
report "QSN-F89: gets, alone and in batches"

few=$(figure time_ns qsnet2 collective op=barrier rounds=3 --shape 4)
more=$(figure time_ns qsnet2 collective op=barrier rounds=3 --shape 64)
less "$few" "$more" && less "$more" $((16 * few))
report "QSN-F89: barriers"

few=$(figure total_GBps qsnet2-16 mirror bytes=16KiB)
more=$(figure total_GBps qsnet2-64 mirror bytes=16KiB)
less $((35 * few / 10)) "$more"
report "QSN-F89: complement"

exit $status
