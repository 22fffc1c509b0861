#!/bin/sh
#
# Gemini when things go wrong: bits flip, lanes, links, chips and boards fail,
# and management loads tables around what is dead.  Random transactions look at
# every byte, and each one is complete or ends with an error.
# Needs $WEFT and jq; with $WEFT_SLOW it sends fewer messages.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"
count=1500
[ -z "${WEFT_SLOW:-}" ] || count=800

reload=5us
drain=5us

storm() { # ARGUMENTS: on few chips, must finish
	ends 0 run gemini storm --shape 3x2x3 count=$count bytes=512 --json \
		--set routing.reload=$reload --set routing.drain=$drain "$@"
	holds '.ending == "finished"'
}

# One processor would store too slowly: four programs do.
rate() { # ARGUMENTS: what a stream in y comes to, MB/s
	ends 0 run gemini stream --shape 2x3x2 from=0 to=4 bytes=32KiB procs=4 \
		--json "$@"
	jq '.results.total_MBps' "$tmp/out"
}

near() { # VALUE WANTED PER-MILLE
	awk "BEGIN { exit !(($1 - $2) ^ 2 <= ($2 * $3 / 1000) ^ 2) }" ||
		complain "$1, not $2"
}

# --- bits: GEM-F53 ---

# A packet of 768 bits is hit with 1 - (1 - 1e-4)^768, and the link loses what
# it sent in a round trip of 210 ns: 40.96 ns a packet become 60.99.
clean=$(rate)
near "$(rate --set faults.bit-errors=1e-4)" \
	"$(awk "BEGIN { print $clean * 40.96 / 60.99 }")" 20
holds '.faults.resent_packets > 100 and .faults.escapes == 0 and
	.faults.resent_packets == .faults.hurt_packets'
report 'a link goes back to what was damaged (GEM-F53)'

# --- lanes: GEM-F55 ---

plan <<-'EOF'
	  events:
	    - 0 ns lane 0,0,0 y+0 1 dies
	    - 0 ns lane 0,0,0 y+1 0 dies
	    - 0 ns lane 0,0,0 y+2 2 dies
	    - 0 ns lane 0,0,0 y+3 1 dies
EOF
near "$(rate --faults "$tmp/plan.yaml")" \
	"$(awk "BEGIN { print $clean / 1.5 }")" 10
holds '.faults | .narrow_links == 8 and .lost_packets == 0 and .reloads == null'
cat >>"$tmp/plan.yaml" <<-'EOF'
	    - 0 ns lane 0,0,0 y+3 2 dies
EOF
near "$(rate --faults "$tmp/plan.yaml")" \
	"$(awk "BEGIN { print $clean / 2 }")" 30
report 'a link goes on with two of three lanes, not with one (GEM-F55)'

# --- links: GEM-F56 ---

plan <<-'EOF'
	  events:
	    - 15 us link 0,0,0 x+1 dies
	    - 15 us link 1,0,0 z+1 dies
	    - 15 us link 1,0,1 x+3 dies
	    - 15 us link 2,0,1 y+3 dies
EOF
lost() { # ARGUMENTS
	reload=10ms storm --faults "$tmp/plan.yaml" "$@"
	jq .faults.lost_packets "$tmp/out"
}
soon=$(lost)
late=$(lost --set routing.notice=50us)
hashed=$(lost --set nic.routing=hashed)
[ "$soon" -lt "$late" ] && [ "$soon" -lt "$hashed" ] ||
	complain "$soon lost, $late with a later notice, $hashed hashed"
report 'adaptive packets avoid a dead link after some time (GEM-F56)'

# --- management: GEM-F8, GEM-F57, GEM-F59 ---

plan <<-'EOF'
	  events:
	    - 14 us link 1,0,2 x+5 dies
	    - 15 us connection 1,0,0 z-1 dies
	    - 20 us chip 1,1,1 dies
	    - 60 us chip 1,1,1 returns
EOF
for threads in 1 2; do
	storm --faults "$tmp/plan.yaml" --threads $threads
	holds '.faults | .reloads == 3 and .lost_packets > 0 and
		.stranded_packets > 0 and .dead_programs > 0' \
		'.results.failed_messages > 0' \
		'.faults.timeouts >= .results.failed_messages / 3'
	jq -r .digest "$tmp/out" >>"$tmp/digests"
done
[ "$(uniq "$tmp/digests" | wc -l)" = 1 ] || complain "$(cat "$tmp/digests")"
# GEM-F46
report 'management loads tables around what has died (GEM-F8, GEM-F57)'

# Until new tables are there all that is hashed to a dead link is lost.
plan <<-'EOF'
	  events:
	    - 1 us connection 0,0,0 z+0 dies
	    - 1 us connection 0,0,0 z+1 dies
EOF
reload=10ms storm --faults "$tmp/plan.yaml"
holds '.faults.stranded_packets == 0'
late=$(jq .results.failed_messages "$tmp/out")
reload=1us storm --faults "$tmp/plan.yaml"
soon=$(jq .results.failed_messages "$tmp/out")
[ "$soon" -lt "$late" ] || complain "$soon failed, $late with a late reload"
report 'transactions over a lost neighbour fail until a reload (GEM-F59)'

# What leaves is announced: nobody else loses a packet.
plan <<-'EOF'
	  events:
	    - 20 us board 1,0,1 leaves
	    - 90 us board 1,0,1 returns
EOF
storm --faults "$tmp/plan.yaml"
holds '.faults | .reloads == 2 and .lost_packets == 0 and
	.dropped_packets == .stranded_packets and .dead_programs > 4'
drain=0ns storm --faults "$tmp/plan.yaml"
holds '.faults.dropped_packets > .faults.stranded_packets'
report 'a board that leaves costs nobody else a packet (GEM-F57)'

# The second one leaves while the network drains for the first.
for workload in 'storm count=500' 'random warmup=5us measure=50us' \
	'permutation routing=deterministic warmup=5us measure=50us'; do
	# shellcheck disable=SC2086
	run run gemini $workload --shape 2x2x2 --quiet --json --set \
		'faults.events=0 us chip 0,0,0 leaves; 1 us chip 1,0,0 leaves'
	[ $code -eq 0 ] || complain "$workload: $code: $(cat "$tmp/err")"
	[ "$(jq .faults.reloads "$tmp/out")" = 2 ] ||
		complain "$workload: $(jq -c .faults "$tmp/out")"
done
report 'two chips leave within one drain'

storm --faults "$tmp/plan.yaml" --budget
holds '.budget.causes.quiesce.ps > 0'
report 'what waits for management is charged to it'

ends 0 check gemini --shape 3x2x3 --faults "$tmp/plan.yaml" --json
holds '.proved and (.reloads | length == 2) and .reloads[0].dead_links == 76 and
	(.reloads | all(.proved and .missing_pairs == 0))'
report 'all tables are proved free of deadlock'

# --- chips and memories: GEM-F54, GEM-F58 ---

plan <<-'EOF'
	  chips: 2e-4
	  memories: [1e-3, double 4e-4]
EOF
storm --faults "$tmp/plan.yaml"
holds '.faults | .marked_packets > 0 and .lost_packets == 0 and
	.marked_dropped <= .marked_packets and
	.marked_dropped > .marked_packets / 2' \
	'.faults.timeouts > 0'
report 'packets that a chip damages are dropped at their end (GEM-F54)'
holds '.faults | .corrected_words > .uncorrectable_words and
	.uncorrectable_words > 0' '.results.failed_messages > 0'
# of the NTT and SSIDs, of handles, and of the ORB
ends 0 run gemini gets bytes=64 rounds=2000 --shape 2x1x1 to=2 --json \
	--set faults.memories=1e-2
holds '.faults.corrected_words > 45 and .faults.corrected_words < 75'
report 'words of tables are corrected, or their transactions fail (GEM-F58)'

# --- plans of what is not there ---

bad() { # TEXT EVENT
	plan <<-EOF
		  events:
		    - $2
	EOF
	refuses "$1" run gemini storm --faults "$tmp/plan.yaml"
}
bad 'lanes 0 to 2' '1 us lane 0,0,0 x+5 3 dies'
bad 'did you mean x+' '1 us link 0,0,0 x+8 dies'
bad 'did you mean z-' '1 us connection 0,0,0 z-2 dies'
bad 'no chip "4,0,0"' '1 us chip 4,0,0 dies'
bad 'did you mean board' '1 us bord 0,0,0 leaves'
bad 'want dies' '1 us link 0,0,0 x+5 leaves'
refuses 'want dies, escapes or returns' run bgq stream --set \
	'faults.events=1 us node 3 leaves'
refuses 'not a parameter' run bgq stream --set faults.chips=1e-9
report 'refused: plans that name what a machine does not have'

exit $status
