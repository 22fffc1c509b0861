#!/bin/sh
#
# Packets of a message that travel as a train: what they carry is the same, and
# the time nearly so.
set -u
. "$(dirname "$0")/tap.sh"

near() { # FIGURE PER-CENT WORKLOAD...; of trains of 4, and of single packets
	figure=$1 most=$2
	shift 2
	run run fattree "$@" --json
	one=$(value "$figure")
	n_one=$(value packets)
	run run fattree "$@" --set link.train=4 --json
	[ $code -eq 0 ] || complain "$(cat "$tmp/err")"
	awk -v a="$one" -v b="$(value "$figure")" -v most="$most" 'BEGIN {
		d = 100 * (b / a - 1); exit !(a > 0 && d < most && d > -most) }' ||
		complain "$one, and with trains $(value "$figure")"
	awk -v a="$n_one" -v b="$(value packets)" 'BEGIN {
		exit !(b > 0 && 2 * b < a) }' ||
		complain "$n_one packets, and with trains $(value packets)"
	report "trains: $*"
}

near payload_GBps 1 stream via=nic bytes=1MiB rounds=1 --shape 16
near time_ns 3 collective op=allreduce algo=ring bytes=8MiB rounds=1 warm=0 \
	chunk=128KiB --shape 8

run run fattree stream via=nic bytes=64KiB --shape 16 --set link.train=16
grep -q 'warning .*two trains of 16 packets' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'buffers that have grown are named'

refused 'want at most 31' run fattree stream --shape 4 --set link.train=32
refused 'must travel one by one' run fattree stream --shape 4 \
	--set link.train=2 --set faults.bit-errors=1e-9
refused 'not a parameter of this machine' run bgq-board stream \
	--set link.train=2
exit $status
