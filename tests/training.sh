#!/bin/sh
#
# The lines of QsNetII's links: a link that comes back trains before it carries
# anything, one that cannot be trained stays down and is told of, and without
# training skewed lines make errors (QSN-F73, QSN-F74).  Coded wires see most
# of their errors twice (QSN-F76).
# Needs $WEFT and jq.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

storm() { # ARGUMENTS: must finish
	run run qsnet2-16 storm count=500 --json "$@"
	[ $code = 0 ] || complain "weft run storm $*: $code: $(cat "$tmp/err")"
}

# --- what is told of a machine ---

run show qsnet2-16 --json
holds '.lines == { "n": 10, "data": 8, "bit_ps": 750, "skew_ps": 500,
	"eye_ps": 400, "training": true, "taps": 64, "step_ps": 25,
	"training_ns": 18048 }'
run show bgq-board --json
holds '.lines == null'
report 'weft show tells of lines (QSN-F73)'

# --- a link that comes back ---

plan <<-'EOP'
	  events:
	    - 20 us node 5 dies
	    - 40 us node 5 returns
EOP
storm --faults "$tmp/plan.yaml" --set link.lines=0
holds '.faults.training == null' '.results.failed_messages == 0'
short=$(jq .faults.lost_packets "$tmp/out")
storm --faults "$tmp/plan.yaml"
holds '.faults.training | .trained == 1 and .time_ns == 18048 and
	.margin_ps >= 150 and .untrained == [] and .blind_links == 0' \
	".faults.lost_packets > $short" '.results.failed_messages == 0'
report 'a link that comes back trains first (QSN-F74)'

storm --faults "$tmp/plan.yaml" --set link.training.repeats=40
holds '.faults.training.time_ns == 180480' ".faults.lost_packets > $short" \
	'.results.failed_messages == 0'
report 'the longer it trains, the longer it is away'

storm --set faults.cold-start=yes
holds '.faults.training.trained == 32' '.faults.lost_packets > 0' \
	'.results.failed_messages == 0'
report 'a cold machine trains all its links'

run run qsnet2-16 storm count=500 --set faults.cold-start=yes
grep -q '^training    32 links, each in 18.048 us; smallest margin 1.[05] ps$' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
report 'the report tells of it'

# --- one that cannot be trained ---

plan <<-'EOP'
	  lines:
	    - link 1.0 up 1 line 3 skew 900 ps
	    - link 2.1 down 3 line clock closed
	    - link 4 line control skew -550 ps
EOP
first=
for threads in 1 3; do
	storm --faults "$tmp/plan.yaml" --threads $threads
	holds '.faults.training.untrained ==
		["link 1.0 up 1: line 3", "link 2.1 down 3: line clock"]' \
		'.faults.lost_packets > 0' '.results.failed_messages == 0' \
		'.faults.resent > 0'
	now=$(jq -c '[.digest, .faults]' "$tmp/out")
	[ "$now" = "${first:=$now}" ] ||
		complain "$threads threads: $now, and not $first"
done
report 'links that cannot be trained stay down, other routes are taken'

run run qsnet2-16 storm count=500 --faults "$tmp/plan.yaml"
grep -q '^untrained   link 1.0 up 1: line 3: cannot be trained, stays down$' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
report 'they are told of'

storm --set 'faults.lines=link 5 line 0 closed'
holds '.results.failed_messages > 0' '.results.checked_bytes > 0'
report 'a node whose only link cannot be trained is not reached'

# --- without training ---

storm --set link.training.on=no --set link.training.skew=199ps
holds '.faults.training.blind_links == 0' '.faults.bit_errors == 0' \
	'.results.failed_messages == 0'
report 'without training and with little skew all is well'

storm --set link.training.on=no --set link.training.skew=199ps \
	--set 'faults.lines=link 1.0 up 1 line 3 skew 300 ps'
holds '.faults.training.blind_links == 1' '.faults.bit_errors > 100' \
	'(.faults.links | map(select(.bit_errors > 0) | .class)) ==
	["stage 1 up"]' '.faults.torn + .faults.unreadable > 0' \
	'.faults.escapes == 0' '.results.failed_messages == 0'
report 'without training a skewed line makes errors'

run run qsnet2-16 storm count=20 --set link.training.on=no --json
holds '.faults.training.blind_links == 64' '.results.failed_messages == 20' \
	'.results.checked_bytes == 0'
report 'without training real cables carry nothing'

# --- 4b5b ---

# Two fifths of all flips make a symbol that there is not; zeros, of which
# storms have many, have a symbol of which fewer do.
storm --set link.code=4b5b --set faults.bit-errors=2e-5
holds '.faults.violations > 0.25 * (.faults.torn + .faults.unreadable)' \
	'.faults.violations < 0.42 * (.faults.torn + .faults.unreadable)' \
	'.faults.escapes == 0' '.results.failed_messages == 0'
coded=$(jq .faults.bit_errors "$tmp/out")
storm --set faults.bit-errors=2e-5
holds '.faults.violations == 0' ".faults.bit_errors < $coded"
report 'the code sees a part of the flips, the CRCs the rest (QSN-F76)'

# --- bad input ---

plan <<-'EOP'
	  lines:
	    - link 1.0 up 1 line 3 skew 900 ps
	    - link 1.0 up 1 line clok closed
EOP
refuses 'plan.yaml:5:7: .*did you mean clock' run qsnet2-16 storm --faults \
	"$tmp/plan.yaml"
refuses 'not a parameter of this machine' run bgq-board stream \
	--set 'faults.lines=link 1 line 3 closed'
refuses 'not a parameter of this' run bgq-board stream --set link.lines=10
refuses 'not a parameter of this' run bgq-board stream --set link.route=1B
refuses 'link.lines: 9' run qsnet2-16 storm --set link.lines=9
refuses 'link.training.eye' run qsnet2-16 storm --set link.training.eye=740ps
refuses 'link.lines is 0' run qsnet2-16 storm --set link.lines=0 \
	--set faults.cold-start=yes
refuses 'shortest wire' run qsnet2-16 storm --set link.route=64B
printf 'schema: 1\nfaults:\n  lines: [link 1 line 3 closed]\n' \
	>"$tmp/plan.yaml"
refuses 'plan.yaml:3:.*link.lines is 0' run bgq-board stream --faults \
	"$tmp/plan.yaml"
report 'bad input is refused'

exit $status
