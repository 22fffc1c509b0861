#!/bin/sh
#
# Workloads by messages: the same on both machines, with every byte looked at,
# and equal digests on any number of threads.
# Needs $WEFT; with $WEFT_SLOW it tries fewer sizes and numbers of threads.
set -u
. "$(dirname "$0")/tap.sh"

workers='1 2 3'
sizes='0 8 480 481 20000'
many='2 4'
casts='0 8 512 5000'
if [ -n "${WEFT_SLOW:-}" ]; then
	workers=3
	sizes='0 8 20000'
	many=4
	casts='0 5000'
fi

is_more() { # A B
	awk "BEGIN { exit !($1 > $2) }"
}

# On both machines; $bgq and $qsn are what a figure is there.
both() { # FIGURE WORKLOAD
	figure=$1
	shift
	for machine in bgq-board qsnet2-16; do
		digest=
		for threads in $workers; do
			run run $machine "$@" --json --threads $threads
			[ $code -eq 0 ] && [ "$(value ending)" = finished ] ||
				complain "$machine: $code: $(cat "$tmp/err")"
			[ "$(value via)" = msg ] || complain "via $(value via)"
			[ -n "$digest" ] || digest=$(value digest)
			[ -n "$digest" ] && [ "$(value digest)" = "$digest" ] ||
				complain "$machine, $threads threads: digest"
		done
		[ $machine = bgq-board ] && bgq=$(value "$figure")
		[ $machine = bgq-board ] || qsn=$(value "$figure")
		is_more "$(value "$figure")" 0 || complain "no $figure"
	done
}

for bytes in $sizes; do
	both one_way_ns pingpong via=msg bytes=$bytes rounds=50
	# Elan4 stands behind a bus.
	[ $bytes -gt 8 ] || is_more "$qsn" "$bgq" ||
		complain "$bgq ns on Blue Gene/Q, $qsn on QsNetII"
	report "pingpong of $bytes bytes by messages"
done

run run bgq-board pingpong via=nic rounds=50 --json
nic=$(value one_way_ns)
run run bgq-board pingpong via=msg rounds=50 --json
is_more "$(value one_way_ns)" "$nic" && is_more "$((${nic%.*} * 2))" \
	"$(value one_way_ns)" || complain "$(value one_way_ns) ns, by puts $nic"
report "a message takes somewhat longer than a put"

for how in 'bytes=1' 'bytes=512' 'bytes=3001' 'bytes=3001 driver=messages' \
	'bytes=3001 data=synthetic'; do
	both time_ns alltoall via=msg $how
	report "alltoall by messages: $how"
done

for op in barrier broadcast reduce allreduce; do
	both time_ns collective op=$op bytes=8 rounds=5
	both time_ns collective op=$op bytes=8000 rounds=2 root=7
	report "collective: $op"
done
both time_ns collective op=broadcast bytes=0
report "a broadcast of nothing"

for procs in $many; do
	both time_ns alltoall via=msg bytes=600 procs=$procs
	both time_ns alltoall via=msg bytes=600 procs=$procs data=synthetic
	both time_ns collective op=allreduce bytes=80 rounds=3 procs=$procs
	both time_ns collective op=broadcast bytes=8000 rounds=2 root=9 \
		procs=$procs
	report "$procs processes a node"
done

# By QsNetII's network: the same bytes, sooner.
for bytes in $casts; do
	run run qsnet2-64 collective op=broadcast apart=yes bytes=$bytes --json
	[ $code -eq 0 ] || complain "software: $code: $(cat "$tmp/err")"
	software=$(value time_ns)
	digest=
	for threads in $workers; do
		run run qsnet2-64 collective op=broadcast by=hardware root=9 \
			bytes=$bytes --json --threads $threads
		[ $code -eq 0 ] && [ "$(value ending)" = finished ] ||
			complain "$code: $(cat "$tmp/err")"
		[ "$(value via)" = nic ] || complain "via $(value via)"
		[ -n "$digest" ] || digest=$(value digest)
		[ -n "$digest" ] && [ "$(value digest)" = "$digest" ] ||
			complain "$threads threads: digest"
	done
	run run qsnet2-64 collective op=broadcast by=hardware root=9 \
		bytes=$bytes --json --budget
	[ "$(value digest)" = "$digest" ] || complain "budget: digest"
	is_more "$(value time_ns)" 800 || complain "$(value time_ns) ns"
	is_more "$software" "$(value time_ns)" ||
		complain "software $software ns, hardware $(value time_ns)"
	report "QSN-F72: a broadcast of $bytes bytes by the network"
done
for plan in faults.bit-errors=1e-6 'faults.events=15 us switch 2.0 dies'; do
	run run qsnet2-16 collective op=broadcast by=hardware bytes=4096 \
		rounds=30 --set "$plan" --json
	[ $code -eq 0 ] && [ "$(value ending)" = finished ] ||
		complain "$code: $(cat "$tmp/err")"
	report "the same with $plan"
done
printf 'schema: 1\nmachine: m\ntopology: { kind: torus, shape: [4, 4] }\n%s\n' \
	'nic: { kind: elan4 }' >"$tmp/elans.yaml"
for op in broadcast barrier 'collective op=allreduce type=signed' \
	'collective op=broadcast root=rotate'; do
	name=${op%% *}
	run run "$tmp/elans.yaml" collective op=${op#*op=} by=hardware
	[ $code -eq 2 ] &&
		grep -q "^weft: by: .*${name}s need a fat tree, " "$tmp/err" ||
		complain "exit code $code: $(cat "$tmp/err")"
done
report "by=hardware is refused where the network has no broadcasts"

run run gemini-board collective op=broadcast by=hardware
[ $code -eq 2 ] && grep -q 'network that copies' "$tmp/err" ||
	complain "gemini: $code"
run run qsnet2-16 collective apart=yes
[ $code -eq 2 ] && grep -q 'only for op=broadcast' "$tmp/err" ||
	complain "apart: $code"
run run qsnet2-16 collective op=reduce by=hardware
[ $code -eq 2 ] && grep -q 'cards have no floating point' "$tmp/err" ||
	complain "qsnet2: $code: $(cat "$tmp/err")"
run run gemini-board collective op=reduce by=hardware
[ $code -eq 2 ] && grep -q 'network that combines packets' "$tmp/err" ||
	complain "gemini: $code: $(cat "$tmp/err")"
run run gemini-board collective by=hardware
[ $code -eq 2 ] && grep -q 'network that combines bits' "$tmp/err" ||
	complain "gemini: $code: $(cat "$tmp/err")"
report "refused: what no network broadcasts or combines"

# 512 B of payload take 280 ns, 288 with an acknowledgement on the way back.
rate() { # LOW HIGH KEYS
	low=$1 high=$2
	shift 2
	run run bgq-board collective by=hardware --json "$@"
	[ $code -eq 0 ] && is_more "$(value rate_GBps)" $low &&
		is_more $high "$(value rate_GBps)" ||
		complain "$*: $(value rate_GBps) GB/s $(cat "$tmp/err")"
}
rate 1.80 1.829 op=broadcast bytes=256KiB rounds=1 root=31
rate 1.75 1.778 op=broadcast bytes=256KiB rounds=1 root=0
report "a tree's broadcast from its root is faster than from elsewhere"

# 4x4 nodes: 960 ns, whichever of them, and all at once.
for how in 'split=AB' 'box=4x4x1 at=0x0x1' \
	'split=AB channel=system as=system'; do
	run run bgq --shape 4x4x2 collective op=allreduce by=hardware \
		rounds=2 --json $how
	[ $code -eq 0 ] && [ "$(value hardware_ns)" = 960 ] ||
		complain "$how: $(value hardware_ns) ns $(cat "$tmp/err")"
done
# of nothing, a packet is 32 B, and no counter is changed
for how in 'op=allreduce 898' 'op=broadcast 778' 'op=reduce 802'; do
	run run bgq-board collective by=hardware bytes=0 --json ${how% *} \
		root=5
	[ $code -eq 0 ] && [ "$(value hardware_ns)" = "${how#* }" ] ||
		complain "$how: $(value hardware_ns) ns $(cat "$tmp/err")"
done
for how in 'op=reduce root=7 channel=system as=system' \
	'op=reduce root=7 type=signed combine=min' \
	'op=broadcast root=7 channel=sub'; do
	run run bgq-board collective by=hardware bytes=1000 rounds=2 --json $how
	[ $code -eq 0 ] || complain "$how: $code: $(cat "$tmp/err")"
done
report "trees of planes, of headers alone, of the system"

# By Blue Gene/Q's: a tree of 444 ns of wires and 24 ns for each of five
# levels, and 300 ns into it; then a load of 130 ns that looks half-way.
barrier='collective op=barrier by=hardware'
digest=
for threads in $workers; do
	run run bgq-board $barrier --json --threads $threads
	[ $code -eq 0 ] && [ "$(value hardware_ns)" = 864 ] &&
		[ "$(value time_ns)" = 1040 ] ||
		complain "$code, $(value time_ns) ns: $(cat "$tmp/err")"
	[ -n "$digest" ] || digest=$(value digest)
	[ "$(value digest)" = "$digest" ] || complain "$threads threads: digest"
done
run run bgq-board $barrier --json --budget
[ "$(value digest)" = "$digest" ] || complain "budget: digest"
# Its constants count to the nanosecond, however programs look at registers.
run run bgq-board $barrier --json --set nic.barrier.ends=201ns
[ "$(value hardware_ns)" = 825 ] || complain "ends: $(value hardware_ns) ns"
run run bgq-board $barrier --json --set nic.mmio-load=77ns
[ "$(value hardware_ns)" = 864 ] || complain "load: $(value hardware_ns) ns"
report "a barrier by Blue Gene/Q's network takes a tree's time"

run run bgq-board $barrier rounds=20 --json \
	--set 'faults.events=2 us link 1 E+ dies'
[ $code -eq 3 ] && grep -q 'MUSPI_GIBarrierPoll, class 0' "$tmp/out" &&
	grep -q 'E+ is dead .* a barrier packet has waited' "$tmp/err" ||
	complain "dead link: $code: $(cat "$tmp/err")"
printf 'schema: 1\nfaults:\n  events:\n%s\n%s\n' '    - 60 us link 1 E+ dies' \
	'    - 69 us link 1 E+ returns' >"$tmp/plan.yaml"
for plan in "--faults $tmp/plan.yaml" '--set faults.bit-errors=1e-4'; do
	digest=
	for threads in $workers; do
		run run bgq-board $barrier rounds=40 --json $plan \
			--threads $threads
		[ $code -eq 0 ] || complain "$plan: $(cat "$tmp/err")"
		is_more "$(value hardware_ns)" 864 || complain "$plan: no delay"
		[ -n "$digest" ] || digest=$(value digest)
		[ "$(value digest)" = "$digest" ] ||
			complain "$plan, $threads threads: digest"
	done
done
report "barrier packets that are lost are repeated, until a link is dead"

run run bgq-board collective op=reduce bytes=9
[ $code -eq 2 ] && grep -q 'a multiple of' "$tmp/err" || complain "bytes: $code"
run run bgq-board collective root=32
[ $code -eq 2 ] && grep -q 'nodes 0 to 31' "$tmp/err" || complain "root: $code"
run run qsnet2-16 storm via=msg rogues=1
[ $code -eq 2 ] && grep -q 'rogues' "$tmp/err" || complain "rogues: $code"
run run qsnet2-16 collective --set host.memory=1GiB
[ $code -eq 2 ] && grep -q 'host.memory' "$tmp/err" || complain "memory: $code"
run run bgq-board pingpong via=msg to=32
[ $code -eq 2 ] || complain "to: $code"
for how in 'bgq-board alltoall via=nic' 'bgq-board alltoall' \
	'qsnet2-16 collective op=broadcast by=hardware'; do
	run run $how procs=2
	[ $code -eq 2 ] && grep -q '^weft: procs: ' "$tmp/err" ||
		complain "$how procs=2: $code"
done
run run bgq-board alltoall via=msg bytes=8 procs=22 --set host.memory=64GiB
[ $code -eq 2 ] && grep -q 'serves at most 21 processes' "$tmp/err" ||
	complain "procs=22: $code: $(cat "$tmp/err")"
report "what cannot be has exit code 2"

exit $status
