#!/bin/sh
#
# The same run to the last bit on any number of threads, and when it is done
# again: everything that a run prints but its cost is compared.
set -u
. "$(dirname "$0")/tap.sh"

short='warmup=8us measure=8us'
many='2 3 7 1'
if [ "${WEFT_SLOW-}" ]; then
	short='warmup=2us measure=2us'
	many='3 4'
fi

# What may differ is what the simulation costs, and budgets, where some are
# kept; with these, also the number of events.
result() { # FILE ARGUMENTS
	file=$1
	shift
	run run "$@" --json
	echo "exit code $code" >"$file"
	sed -e '/^  "budget": {/,/^  },/d' -e '/"threads"/d' -e '/"wall_s"/d' \
		-e '/"cpu_s"/d' -e '/"setup_s"/d' -e '/"checks_s"/d' \
		-e '/"ns_per_packet_hop"/d' \
		-e '/"bytes_per_node"/d' -e '/"trip_/d' "$tmp/out" >>"$file"
	grep -q '"digest": "[0-9a-f]\{16\}"' "$file" ||
		complain "no digest: $(cat "$tmp/err")"
}

compare() { # OPTIONS ARGUMENTS
	options=$1
	shift
	result "$tmp/other" "$@" $options
	case $options in
	*budget*) sed -i '/^    "events": /d' "$tmp/other" ;;
	esac
	diff "$tmp/one" "$tmp/other" >"$tmp/diff" ||
		complain "$options: $(cat "$tmp/diff")"
}

same() { # ARGUMENTS
	result "$tmp/one" "$@" --threads 1
	for threads in $many; do
		compare "--threads $threads" "$@"
	done
	sed -i '/^    "events": /d' "$tmp/one"
	compare '--threads 2 --budget' "$@"
	report "$*"
}

# Large enough to prefetch.
large='gemini random --shape 8x6x6 load=0.2 warmup=1us measure=1us --threads 1'
result "$tmp/one" $large --plain
compare --ahead $large
report 'a run is the same with prefetching and without'

same gemini random --shape 3x2x2 routing=mixed $short
same gemini storm --shape 2x2x1 count=40 rogues=1 \
	--set 'faults.events=20 us link 0,0,0 x+1 dies' \
	--set 'faults.bit-errors=1e-6' --set routing.reload=30us
same bgq random --shape 4x4x4 zones=none $short
same bgq random --shape 8x4x2 $short
same bgq random --shape 5x4x3 routing=deterministic bytes=100 $short
same bgq random --shape 4x4x4 bytes=0 zones=none $short
same bgq random --shape 4x3x3 bytes=33 --set topology.wrap=mesh $short
same bgq random --shape 4x4x2 class=high $short
same bgq random --shape 4x4x2 class=system bytes=64 $short
same bgq random --shape 4x4x4 load=0.5 warmup=5us measure=10us --seed 9
same bgq random --shape 4x4x2 load=1.4 warmup=5us measure=10us
same bgq random --shape 4x4x3 zones=none --set router.transit=2 \
	--set router.queues=2 --set router.packets=2 $short
same bgq hotspot --shape 4x4x3 load=0.3 share=30% hot=7 warmup=5us measure=5us
same bgq tornado --shape 8x8 zones=A,B $short
same bgq neighbours --shape 4x2x2x2x2 $short
same bgq permutation --shape 4x4x4 routing=deterministic --seed 5 $short
same bgq alltoall --shape 4x3x2 bytes=1300
same bgq alltoall --shape 3x3x3 bytes=300 routing=deterministic
same bgq alltoall --shape 4x4 bytes=512 --set routing.bubble=no
same bgq alltoall --shape 5x5 bytes=2000 --set routing.ties=random \
	--set routing.escape=no zones=none
same bgq pingpong --shape 4x4x2 to=31 bytes=512 rounds=20
same bgq-board stream rounds=1 bytes=3000 from=3 to=20
same bgq alltoall --shape 3x3x2 bytes=1300 via=nic
same bgq exchange --shape 3x2x2 bytes=3000 rounds=3
same bgq storm --shape 3x3 kinds=all count=1500
same bgq pingpong via=msg rounds=1 from=0 to=15 bytes=0 --shape 16 --seed 61
same bgq storm --shape 3x2 count=30
same qsnet2-16 random $short
same qsnet2-16 alltoall via=nic bytes=600
same qsnet2-16 pingpong via=msg to=5 rounds=3 bytes=5000
same qsnet2-16 collective rounds=2
same qsnet2-16 stream by=match both=yes procs=2 bytes=5000 rounds=10 \
	--set faults.bit-errors=1e-5 --set nic.match.slots=8
same qsnet2-16 storm count=100 match=yes demand=yes drop=20 rogues=1 \
	--set faults.memories=1e-3 --set faults.bit-errors=1e-6
same qsnet2-64 collective op=barrier by=hardware rounds=5
same qsnet2-16 collective op=allreduce by=hardware type=signed rounds=2
same fattree random --shape 16 $short
same fattree exchange --shape 16 rounds=2
same fattree transpose --shape 256 --set topology.radix=16 \
	--set routing.spread=adaptive $short
same dragonfly random --shape 64 $short
same torus mirror --shape 3x3 rounds=2
same torus gets --shape 3x2 to=4
same torus random --shape 3x3 --set router.arbiter=stages $short
same torus random --shape 3x2 --set topology.nodes=2 $short
same sunway-32 random bytes=2048 $short
same sunway-32 storm count=2000 rogues=2 \
	--faults "$SRC/tests/golden/sunway-faults.yaml"
same sunway-32 collective op=allreduce by=hardware procs=2 rounds=5
same sunway-32 manage rounds=5 watch=200us \
	--faults "$SRC/tests/golden/sunway-faults.yaml"
same sunway-32 exit turns=2 numbers=2 life=20us bytes=2KiB
# with a book, rings take a few events more
result "$tmp/one" apenet random --shape 3x2x2 bytes=1000 $short --threads 1
for threads in $many; do
	compare "--threads $threads" apenet random --shape 3x2x2 bytes=1000 \
		$short
done
report 'apenet random'

# A run that is different has another digest.
result "$tmp/one" bgq random --shape 4x4x2 $short
result "$tmp/other" bgq random --shape 4x4x2 $short --seed 2
[ "$(grep digest "$tmp/one")" != "$(grep digest "$tmp/other")" ] ||
	complain "the same digest for two seeds"
report "another seed is another run"

# Where a process may use one CPU only, it uses one thread.
if command -v taskset >/dev/null; then
	taskset -c 0 "$weft" run bgq random --shape 8x8x8 warmup=1us \
		measure=1us --json >"$tmp/out" 2>"$tmp/err"
	grep -q '"threads": 1,' "$tmp/out" ||
		complain "$(grep threads "$tmp/out" "$tmp/err")"
	report "as many threads as CPUs that may be used"
else
	skip "as many threads as CPUs that may be used" "no taskset"
fi

exit $status
