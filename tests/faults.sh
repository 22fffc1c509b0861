#!/bin/sh
#
# Random messages on QsNetII while links flip bits, links, switches and nodes
# die and return, and a process breaks its queue's rules: nothing is lost,
# doubled or wrong (the workload looks at every byte, and fails otherwise), and
# threads change nothing.
# Needs $WEFT and jq; with $WEFT_SLOW it sends fewer messages.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"
count=1000
many=10000
seeds='1 2'
passing='11 12'
if [ -n "${WEFT_SLOW:-}" ]; then
	count=500
	many=1700
	passing=11
fi

storm() { # ARGUMENTS: must finish
	run run qsnet2-16 storm count=$count --json "$@"
	[ $code = 0 ] || complain "weft run storm $*: $code: $(cat "$tmp/err")"
}

same_for() { # THREADS: as the first of a row, whose $first is empty
	now=$(jq -c '[.digest, .ras, .sim_time_ns]' "$tmp/out")
	[ "$now" = "${first:=$now}" ] ||
		complain "$1 threads: $now, and not $first"
}

# --- without any ---

storm
holds '.faults == null' '.results.failed_messages == 0' \
	'.results.checked_bytes > 0'
report 'a storm without faults'
clean=$(jq -r .digest "$tmp/out")

# Other orders of things: each seed has its own.
storms() { # SEEDS ARGUMENTS
	seeds=$1
	shift
	for seed in $seeds; do
		run run qsnet2-16 storm count=$many --seed $seed \
			--json "$@"
		[ $code = 0 ] ||
			complain "seed $seed: $code: $(cat "$tmp/err")"
	done
}

storms "$seeds"
report 'storms of other seeds'

# A get behind a put reads what that has written, however long it takes until
# a core would see it, and whoever has the bus first.
storms '19 20' --set nic.platform=itanium2
storms "$passing" --set nic.bus.reads=50
report 'no read passes a write'

plan <<-'EOF'
	  events:
	    - 1 s node 3 dies
EOF
storm --faults "$tmp/plan.yaml"
holds ".digest == \"$clean\"" '.faults.resent <= .faults.timeouts' \
	'.faults.lost_packets == 0'
report 'a plan of what never happens changes nothing'

# --- bit errors: QSN-F6, QSN-F39 ---

storm --set faults.bit-errors=2e-5
holds '.faults.torn > 100' '.faults.unreadable > 10' '.faults.escapes == 0' \
	'.faults.nacks >= .faults.torn / 2' '.faults.timeouts > 0' \
	'.faults.resent > 100' '.faults.lost_packets == 0' \
	'.results.failed_messages == 0' \
	'.faults.hurt_packets <= .faults.bit_errors' \
	'(.faults.links | map(.bit_errors) | add) == .faults.bit_errors'
report 'hurt packets are noticed and sent again (QSN-F6, QSN-F39)'

storm --set 'faults.bit-errors=stage 1 down 2e-5'
holds '(.faults.links | map(select(.bit_errors > 0) | .class)) ==
	["stage 1 down"]'
report 'errors on one class of links alone'

# Acknowledgements are packets without data: what comes twice was acknowledged
# once, and that got lost (QSN-F25: what is sent again is in the card; QSN-F33:
# nobody but the card has to do anything for it).
storm bytes=8 --set faults.bit-errors=1e-4
holds '.faults.duplicates > 5' '.results.failed_messages == 0'
report 'lost acknowledgements: nothing is executed twice (QSN-F25, QSN-F33)'

storm --seed 2 --set faults.bit-errors=2e-5
first=$(jq -c .faults "$tmp/out")
storm --seed 3 --set faults.bit-errors=2e-5
[ "$first" != "$(jq -c .faults "$tmp/out")" ] ||
	complain 'two seeds, the same errors'
report 'another seed, other errors'

# --- what dies: QSN-F6, QSN-F71 ---

plan <<-'EOF'
	  events:
	    - 50 us link 1.0 up 1 dies
	    - 300 us link 1.0 up 1 returns
EOF
storm --faults "$tmp/plan.yaml"
holds '.faults.lost_packets > 0' '.faults.bit_errors == 0' \
	'.faults.resent >= .faults.timeouts' '.results.failed_messages == 0'
report 'a link dies and returns'

plan <<-'EOF'
	  events:
	    - 50 us switch 2.1 dies
EOF
storm --faults "$tmp/plan.yaml"
holds '.faults.lost_packets > 0' '.results.failed_messages == 0'
report 'a switch dies in mid-transfer: other routes (QSN-F6, QSN-F71)'

# One is on a way from node 0 to 14, one on another's way back.
plan <<-'EOF'
	  events:
	    - 0 us link 1.0 up 1 dies
	    - 0 us link 2.2 down 3 dies
EOF
for load in 'pingpong via=nic by=sten' 'pingpong via=nic by=dma' gets; do
	run run qsnet2-16 $load rounds=200 from=0 to=14 \
		--faults "$tmp/plan.yaml"
	[ $code = 0 ] || complain "$load: $code: $(cat "$tmp/err")"
done
storm --faults "$tmp/plan.yaml"
holds '.results.failed_messages == 0' '.faults.lost_packets > 0'
report 'acknowledgements come back by the way of their packets'

# What is lost and sent again is one message, whoever does the work.
storm --budget
all=$(jq .budget.messages "$tmp/out")
plan <<-'EOF'
	  bit-errors: 1e-5
	  events:
	    - 50 us link 1.0 up 0 dies
EOF
first=
for threads in 1 3; do
	storm --budget --threads $threads --faults "$tmp/plan.yaml"
	holds ".budget.messages == $all" '.faults.lost_packets > 0'
	now=$(jq -c .budget "$tmp/out")
	[ "$now" = "${first:=$now}" ] || complain "$threads threads: $now"
done
report 'the time budget counts each message once'

plan <<-'EOF'
	  events:
	    - 50 us switch 1.2 dies
	    - 800 us switch 1.2 returns
EOF
storm --faults "$tmp/plan.yaml"
holds '.faults.lost_packets > 0' '.results.failed_messages == 0'
report 'without another route it is tried until the switch is back'

plan <<-'EOF'
	  events:
	    - 100 us node 5 dies
EOF
storm --faults "$tmp/plan.yaml"
holds '.results.failed_messages > 0' '.results.checked_bytes > 0' \
	".results.messages > $count / 2" ".results.messages < $count" \
	'.results.waiting_programs == 0' '.faults.dead_programs == 2'
report 'a node dies for good: messages to it fail, all others go on'
now=$(jq -c '[.digest, .faults, .results]' "$tmp/out")
storm --faults "$tmp/plan.yaml" --threads 3
[ "$now" = "$(jq -c '[.digest, .faults, .results]' "$tmp/out")" ] ||
	complain 'three threads: another result'
run run qsnet2-16 storm count=$count --faults "$tmp/plan.yaml"
grep -q '^programs  *2 ended by the death of nodes$' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'its programs die with it, at the same instant on all threads'

plan <<-'EOF'
	  events:
	    - 20 us node 5 dies
	    - 40 us node 5 returns
EOF
storm --faults "$tmp/plan.yaml"
holds '.faults.dead_programs == 2' '.results.failed_messages == 0' \
	".results.messages < $count"
report 'a node that comes back is written to, and has no programs'

plan <<-'EOF'
	  events:
	    - 20 us node 1 dies
EOF
run run qsnet2-16 pingpong via=nic by=sten rounds=200 --faults "$tmp/plan.yaml"
[ $code = 3 ] || complain "exit status $code"
grep -q 'node 0, thread 0: polling' "$tmp/err" || complain "$(cat "$tmp/err")"
refuses 'faults: node 1 dies' run qsnet2-16 storm via=msg \
	--faults "$tmp/plan.yaml"
report 'who waits for a dead node is told of'

run run qsnet2-16 pingpong via=msg bytes=8 rounds=3 \
	--set 'faults.events=18 us node 0 dies'
[ $code = 3 ] || complain "exit status $code"
grep -q 'node 0 died at 18.000 us; the program of node 0 had not' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
! grep '^one way' "$tmp/out" || complain 'a time that nobody has measured'
report 'who dies while it measures has measured nothing'

# --- all at once ---

plan <<-'EOF'
	  bit-errors: [1e-5, node up 2e-5]
	  events:
	    - 50 us link 1.0 up 0 dies
	    - 1 ms link 1.0 up 0 returns
	    - 100 us switch 2.1 dies
	    - 900 us switch 2.1 returns
	    - 200 us node 9 dies
	    - 400 us node 9 returns
EOF
first=
for threads in 1 2 7; do
	storm rogues=2 --threads $threads --faults "$tmp/plan.yaml"
	holds '.results.misdeeds == 40' '.results.failed_messages == 0' \
		'.faults.lost_packets > 0' '.faults.duplicates > 0'
	now=$(jq -c '[.digest, .faults, .sim_time_ns]' "$tmp/out")
	[ "$now" = "${first:=$now}" ] ||
		complain "$threads threads: $now, and not $first"
done
report 'everything at once, by 1, 2 and 7 threads'

run run qsnet2-16 storm rogues=16 count=100 --threads 3
[ $code = 0 ] || complain "$(cat "$tmp/err")"
report 'a process on each node breaks its queue'\''s rules'

# --- links that retry ---

first=
for threads in 1 3; do
	ends 0 run bgq random --shape 4x4x4 load=0.6 warmup=20us measure=40us \
		--json --threads $threads --set faults.bit-errors=1e-6
	holds '.faults.hurt_packets > 50' '.faults.lost_packets == 0' \
		'.faults.resent_packets == .faults.hurt_packets'
	now=$(jq -c '[.digest, .faults]' "$tmp/out")
	[ "$now" = "${first:=$now}" ] ||
		complain "$threads threads: $now, and not $first"
done
ends 0 run bgq-board alltoall bytes=4KiB via=msg --json \
	--set link.retry.by=nack --set faults.bit-errors=1e-5
holds '.faults.resent_packets > 0' '.faults.lost_packets == 0'
refuses 'retransmits' run bgq-board stream --set faults.bit-errors=0.01
refuses 'this machine has: lane, buffer, link, node' run bgq-board stream \
	--set 'faults.events=5 us switch 1.0 dies'
report 'links that retry lose nothing, on a machine that resends nothing'

# --- links that never give up ---

dead='link 0 A+ dies'
ends 0 run bgq-board alltoall via=nic bytes=1300 --json \
	--set "faults.events=5 us $dead; 1 ms link 0 A+ returns"
holds '.faults.reported_dead == 2' '.faults.lost_packets == 0' \
	'.results.time_ns > 990000'
report 'a link that returns after a thousand time-outs has lost nothing'

for load in 'alltoall via=nic bytes=1300' 'exchange bytes=3000'; do
	ends 3 run bgq-board $load --set "faults.events=5 us $dead"
	grep -q 'node 0 (0,0,0,0,0) A+ is dead and never returns' \
		"$tmp/err" || complain "$load: $(cat "$tmp/err")"
done
ends 3 run bgq-board storm count=300 --set 'faults.events=5 us node 9 dies'
grep -q 'to node 9 has waited' "$tmp/err" || complain "$(cat "$tmp/err")"
ends 0 run bgq-board stream --set 'faults.events=5 us node 9 dies'
report 'a run waits for a dead link, says so, and others go on'

# --- what checks packets on Blue Gene/Q ---

for threads in 1 3; do
	ends 3 run bgq-board stream --json --threads $threads \
		--set 'faults.events=11 us link 0 A+ escapes'
	holds '.ras.escapes == 1' '.ras.packets_resent == 0' \
		'[.ras.events[] | .unit] == ["reception", "link A+"]' \
		'.ras.events[0].what | test("node 0 rejected by the end")' \
		'.ras.events[1].what | test("checksums .* differ .*: 1")'
done
ends 3 run bgq-board storm count=300 --json \
	--set 'faults.events=5 us link 5 D+ escapes'
holds '.ras.escapes == 1' '.ras.events | length == 2'
report 'BGQ-F75, BGQ-F78: an escape is seen at the end and in the checksums'

ends 3 run bgq-board stream --json --set faults.bit-errors=1e-6 \
	--set link.checks.hop=0
holds '.ras.escapes > 3' '.ras.packets_resent <= .ras.bad_headers' \
	'([.ras.events[] | select(.what | test("rejected"))] | length) ==
		.ras.escapes'
ends 0 run bgq-board stream --json --set faults.bit-errors=1e-5
holds '.ras.escapes == 0' '.ras.bad_headers > 0' \
	'.ras.packets_resent > 10 * .ras.bad_headers' '.ras.events == []'
ends 0 run bgq-board stream --json --set faults.bit-errors=1e-5 \
	--set link.checks.header=0
holds '.ras.escapes == 0' '.ras.bad_headers == 0' '.ras.packets_resent > 10'
report 'BGQ-F76, BGQ-F77: each check finds what is left to it'

ends 3 run bgq-board stream --json --set faults.bit-errors=1e-6 \
	--set link.checks.hop=0 --set link.checks.end=0
holds '.ras.escapes > 3' '[.ras.events[] | .unit] == ["link A+"]'
# A get whose length is damaged would keep the network busy for seconds.
ends 3 run bgq-board storm count=1000 --json --set faults.bit-errors=1e-5 \
	--set link.checks.hop=0 --set link.checks.end=0
holds '.sim_time_ns < 5e6'
report 'without symbols the workload finds wrong bytes, and checksums differ'

# Go back N: 280 ns a packet of 552 B, and for each copy in vain its own 276 ns
# and four round trips of 84 ns.
ends 0 run bgq-board stream bytes=1MiB rounds=2 to=1 --json \
	--set faults.bit-errors=2e-5
holds 'pow(1 - 2e-5; 4416) as $passes |
	(280 + (1 / $passes - 1) * (276 + 336)) as $ns |
	.results.payload_GBps / (512 / $ns) | . > 0.97 and . < 1.03'
report 'BGQ-F73: a stream runs at what go back N leaves'

# --- fibres of Blue Gene/Q ---

fibres='run bgq --shape 8x2x2 stream from=3 to=4 --json'
ends 0 $fibres --set 'faults.bit-errors=midplanes 1e-7'
clean=$(jq -r .digest "$tmp/out")
holds '.ras.symbols_rebuilt > 0' '.ras.packets_resent == 0'
ends 0 $fibres
holds ".digest == \"$clean\""
first=
for threads in 1 3; do
	ends 0 $fibres --threads $threads \
		--set 'faults.events=20 us lane 3 A+ 5 fails'
	holds '[.ras.events[].what] == ["fibre 5 replaced by the spare"]' \
		'.ras.packets_resent > 0' ".digest != \"$clean\"" \
		'.ras.symbols_rebuilt >= 64'
	same_for $threads
done
# Without the spare parity goes on rebuilding, and nothing is late.
ends 0 $fibres --set 'faults.events=20 us lane 3 A+ 5 fails' \
	--set link.chips.threshold=0
holds '.ras.symbols_rebuilt > 1000' '.ras.packets_resent == 0' \
	'.ras.events == []' ".digest == \"$clean\""
ends 3 $fibres --set \
	'faults.events=20 us lane 3 A+ 5 fails; 30 us lane 3 A+ 8 fails'
holds '.ras.events[1].what | test("no spare is left")' '.ras.dead_links == 1'
report 'parity rebuilds, the spare replaces a fibre, and a second is too many'

refuses 'lanes 0 to 8' run bgq --shape 8x2x2 stream \
	--set 'faults.events=20 us lane 3 A+ 9 fails'
refuses 'this link has no fibres' run bgq --shape 8x2x2 stream \
	--set 'faults.events=20 us lane 0 A+ 3 fails'

# --- memories of Blue Gene/Q ---

all='run bgq-board alltoall via=nic bytes=3000 --json'
ends 0 $all
clean=$(jq -r .digest "$tmp/out")
ends 0 $all --set faults.memories=1e-4
holds ".digest == \"$clean\"" '.ras.mended_words > 50' '.ras.events == []'
first=
for threads in 1 3; do
	ends 3 $all --threads $threads --set 'faults.memories=1e-4' \
		--set 'faults.events=20 us buffer 5 B+ dynamic flips 2'
	holds '[.ras.events[].unit] == ["receiver B+"]' \
		'.ras.stopped_units == 1' '.ras.mended_words > 50'
	same_for $threads
done
grep -q 'node 5 .*: a machine check stopped receiver B+ at 2.*; .*polling' \
	"$tmp/err" || complain "$(cat "$tmp/err")"
tree='run bgq-board collective by=hardware bytes=2KiB type=double --json'
for unit in 'receiver E-;17 E- world' 'injection FIFO 10;0 injection 10' \
	'reception FIFO 10;0 reception 10'; do
	ends 3 $tree op=allreduce --set \
		"faults.events=9 us buffer ${unit#*;} flips 2"
	holds "[.ras.events[].unit] == [\"${unit%;*}\"]"
done
refuses 'want flips 1 or flips 2' run bgq-board stream \
	--set 'faults.events=9 us buffer 5 B+ system flips 3'
report 'BGQ-F79: one bad bit of a buffer is mended, two stop its unit'

# --- collectives of Blue Gene/Q ---

plan <<-'EOF'
	  bit-errors: 2e-5
	  memories: 1e-4
	  events:
	    - 1500 ns link 17 E- dies
	    - 90 us link 17 E- returns
EOF
for run in 'allreduce;1 2 3 7' 'broadcast;1 3' 'reduce;3' 'barrier;1 7'; do
	first=
	for threads in ${run#*;}; do
		ends 0 $tree op=${run%;*} rounds=3 --faults "$tmp/plan.yaml" \
			--threads $threads
		holds '.faults.bit_errors > 0' '.faults.lost_packets == 0' \
			'.sim_time_ns > 90000'
		same_for $threads
	done
done
ends 0 $tree op=barrier rounds=40 --set faults.bit-errors=1e-4
holds '.ras.short_packets_resent > 20' '.ras.packets_resent == 0'
report 'collectives with errors and a link that is away: every sum is right'

# A hundredth of tests/campaign-bgq: a million packet-hops.
machine=bgq-midplane
nodes=512
[ -z "${WEFT_SLOW:-}" ] || machine=bgq-board nodes=32
{
	echo '  bit-errors: 2e-5'
	echo '  memories: 1e-4'
	echo '  events:'
	awk -v nodes=$nodes 'BEGIN {
		for (i = 0; i < 100 && i < nodes; i++) {
			what = i % 20 ? "link " i " E" (i % 2 ? "-" : "+") \
				      : "node " i
			printf "    - %d ns %s dies\n", 100 * (i + 1), what
			printf "    - %d ns %s returns\n", 100 * i + 1500, what
		}
	}'
} | plan
ends 0 run $machine alltoall via=net bytes=64 --json --faults "$tmp/plan.yaml"
holds '.ras.mended_words > 3' '.ras.packets_resent > 50' '.ras.events == []' \
	'.faults.lost_packets == 0' '.ras.escapes == 0'
[ -n "${WEFT_SLOW:-}" ] || holds '.work.packet_hops > 1e6' \
	'.faults.bit_errors > 1e4' '.ras.mended_words > 1e3'
report 'a million packet-hops with faults of all kinds: nothing is lost'

for end in 'link 17 E-;E. is dead and never returns, and a' 'node 9;node 9 '; do
	for op in 'allreduce;packet of class route 0' 'barrier;barrier p'; do
		ends 3 $tree op=${op%;*} rounds=6 --set \
			"faults.events=1500 ns ${end%;*} dies"
		case $end in link*) wants="${end#*;} ${op#*;}" ;;
		*) wants='node 9 .* died at 1.500 us' ;;
		esac
		grep -q "$wants" "$tmp/err" || complain "$(cat "$tmp/err")"
	done
done
report 'what waits for a dead link or node is named, trees and barriers too'

# --- bad plans ---

refuses 'escapes is only for links' run bgq-board stream \
	--set 'faults.events=5 us node 3 escapes'
refuses 'want dies or returns' run qsnet2-16 storm \
	--set 'faults.events=5 us link 0 escapes'

plan <<-'EOF'
	  events:
	    - 30 us swich 1.0 dies
EOF
refuses 'plan.yaml:4:7: .*did you mean switch' run qsnet2-16 storm --faults \
	"$tmp/plan.yaml"
refuses 'none.yaml: No such file' run qsnet2-16 storm --faults "$tmp/none.yaml"
refuses 'did you mean node up' run qsnet2-16 storm \
	--set 'faults.bit-errors=node ip 1e-9'
printf 'schema: 1\nmachine: x\n' >"$tmp/plan.yaml"
refuses 'allowed only in machine files' run qsnet2-16 storm \
	--faults "$tmp/plan.yaml"
printf 'schema: 1\nlink:\n  rate: 1 GB/s\n' >"$tmp/plan.yaml"
refuses 'unknown key' run qsnet2-16 storm --faults "$tmp/plan.yaml"
report 'bad plans are refused'

# --- use of links ---

# Copies that leave after the end, and outages, are not part of it.
uses='[.results.hottest_links[].use, .results.links[].max_use,
	.results.links[].mean_use] | length > 2 and all(. >= 0 and . <= 1) and
	any(. > 0.01)'
errors='--set faults.bit-errors'
replay="--set link.retry=replay measure=5us $errors"
for words in "torus bit-reversal --shape 2x2x1 $replay=1e-3" \
	"torus random load=max --shape 2x2 $replay=1e-4" \
	"fattree random load=max --shape 16 $replay=1e-4" \
	"gemini random load=max --shape 2x2x1 measure=3us $errors=1e-3" \
	'gemini random load=max --shape 2x2x1 warmup=0us measure=1us'; do
	# shellcheck disable=SC2086
	run run $words --json
	[ $code = 0 ] || [ $code = 4 ] || complain "$words: $(cat "$tmp/err")"
	holds "$uses"
done
run run bgq random --shape 2x2x2 load=max measure=5us --json \
	--set 'faults.events=1 us node 1 dies; 3 us node 1 returns'
holds "$uses"
report 'no link is used for more than all of the time'

# --- forward error correction ---

fec='--set link.code=64b66b --set link.fec=rs528 --set link.retry=replay'
# with a seed by which no two bursts hit one codeword
random='run torus random --shape 4x4x4 load=0.3 warmup=5us measure=20us --json
	--seed 2'
# shellcheck disable=SC2086
run $random $fec
clean=$(jq .latency_mean_ns <"$tmp/out")
# shellcheck disable=SC2086
run $random $fec --set 'faults.bursts=1e-6 40'
holds '.faults.codewords_corrected > 100 and .faults.codewords_failed == 0'
holds '.faults.resent_packets == 0'
[ "$(jq .latency_mean_ns <"$tmp/out")" = "$clean" ] ||
	complain 'corrected bursts took time'
report 'SUN-F89: short bursts are corrected, and take no time'

# shellcheck disable=SC2086
run $random $fec --set 'faults.bursts=1e-6 100'
holds '.faults.codewords_failed > 100 and .faults.resent_packets > 100'
holds '.faults.lost_packets == 0'
report 'SUN-F90: long bursts are not, and links send again'

# --- every workload of programs ---

while read -r load; do
	# shellcheck disable=SC2086
	run run qsnet2-16 $load --set faults.bit-errors=4e-6 --json
	[ $code = 0 ] || complain "$load: $code: $(cat "$tmp/err")"
	holds '.faults.bit_errors > 0'
done <<-'EOF'
	alltoall via=msg bytes=3000
	pingpong via=msg to=15 bytes=5000 rounds=50
	collective
	mirror bytes=4KiB
	crossover step=512 rounds=2
	gets batch=8
	events rounds=500
	sweep by=sten to=15 max=16KiB
	sweep by=dma to=15 max=16KiB
	sweep op=get to=15 max=16KiB
	pingpong via=nic by=sten bytes=3000 rounds=50 to=15
	pingpong via=nic by=dma bytes=8KiB rounds=50 to=15
	stream by=dma both=yes places=1 bytes=10000 rounds=20 to=15
	gets bytes=512 rounds=50 to=15
EOF
report 'workloads of programs finish, every byte right'

run run sunway-32 random warmup=1us measure=5us \
	--faults "$src/examples/sunway-day.yaml"
[ $code = 0 ] || complain "$(cat "$tmp/err")"
grep -q 'correction  [1-9][0-9]* codewords corrected' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report "a plan for links that correct errors is read"
run run qsnet2-64 storm count=500 --faults "$src/examples/faults.yaml"
[ $code = 0 ] || complain "$(cat "$tmp/err")"
report 'the example'

exit $status
