#!/bin/sh
#
# weft run --budget and --follow: the parts sum to the whole, the run is the
# same with and without, and what cannot be followed is said.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

says() { # TEXT: somewhere in $tmp/out
	grep -q -e "$1" "$tmp/out" || complain "no \"$1\": $(cat "$tmp/out")"
}

exact='(.budget | ([.causes[].ps] | add) == .ps and
		(([.causes[].pct] | add) - 100 | fabs) < 1e-6 and
		(([.causes[].ns] | add) - .mean_ns | fabs) < 1e-3 and
		(.longest | ([.causes[].ps] | add) == .ps and
			.ps >= (.ns - 0.001) * 1000))'
short='warmup=4us measure=8us --json'

# --- the same run, and exact sums ---

same() { # ARGUMENTS
	run run "$@"
	plain=$(jq -r .digest "$tmp/out")
	end=$(jq -c '[.sim_time_ns, .results]' "$tmp/out")
	run run "$@" --budget --follow 0
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ "$(jq -r .digest "$tmp/out")" = "$plain" ] ||
		complain "another digest"
	[ "$(jq -c '[.sim_time_ns, .results]' "$tmp/out")" = "$end" ] ||
		complain "other results"
	shows "the same with a budget: $*" "$exact"
	jq -c '[.budget, .follow]' "$tmp/out" >"$tmp/one"
	run run "$@" --budget --follow 0 --threads 3
	jq -c '[.budget, .follow]' "$tmp/out" | diff - "$tmp/one" \
		>"$tmp/diff" || complain "three threads: $(cat "$tmp/diff")"
	report "and on three threads"
}

same bgq random --shape 4x4x2 zones=none $short
same bgq random --shape 4x4x2 zones=none bytes=33 \
	--set router.packets=2 --set router.queues=2 $short
same bgq random --shape 4x3x2 class=high $short
same bgq random --shape 6x2 routing=deterministic load=0.5 $short
same bgq alltoall --shape 3x3x2 bytes=700 --json
same bgq-board stream rounds=1 bytes=3000 --json

run run bgq random --shape 4x4x2 load=0.7 routing=deterministic $short \
	--budget
shows "what is measured is budgeted" '.results.latency_ns as $l | .budget |
	.messages == $l.packets and (.mean_ns - $l.mean | fabs) < 0.01'

# --- by hand: three hops on a board and between boards ---

run run bgq pingpong --shape 8 --set topology.wrap=mesh to=3 rounds=2 \
	bytes=512 --json --budget --follow 3.1
shows "a packet alone" '.budget | .messages == 4 and .ps == 4 * 409000 and
	.causes.router.ps == 4 * 48000 and
	.causes.wire.ps == 4 * (133000 - 48000) and
	.causes.serialisation.ps == 4 * 276000 and
	([.causes[] | select(.ps == 0)] | length) == 20'
shows "its way" '.follow | .node == 3 and .number == 1 and .is_complete and
	(.steps | length == 7 and
	.[0].from_ps == 3 * 409000 and .[-1].until_ps == 4 * 409000 and
	([.[1:], .[:-1]] | transpose | all(.[0].from_ps == .[1].until_ps)) and
	(map(.cause) == ["router", "wire", "router", "wire", "router", "wire",
		"serialisation"]) and
	.[2].where == "node 2 (2), out by A-, deterministic" and
	.[6].where == "node 0 (0), reception FIFO A+")'

run run bgq pingpong --shape 8 --set topology.wrap=mesh to=3 rounds=2 \
	bytes=512 --budget --follow 0
says '^budget  *average of 4 messages'
says '^  serialisation  *276.000 ns  *67.5 %  ####'
says '^  wire  *85.000 ns  *20.8 %'
says '^  sum  *409.000 ns'
says '^longest  *message 0 of node 0, from 0.000 to 409.000 ns'
says '^follow  *message 0 of node 0, sent at 0.000 ns; it took 409.000 ns'
says '^ *42.000  *+16.000 ns  router  *node 1 (1), out by A+, deterministic'
says '^ *409.000  complete'
report "the same as text"

# --- by hand: a put, from its program to its counter ---

run run bgq-board stream rounds=1 bytes=8 --json --budget --follow 0
shows "a put alone" '.budget | .messages == 1 and .ps == 640000 and
	(.causes | map_values(.ps) | with_entries(select(.value > 0))) == {
	"software": 98000, "descriptor": 150000, "memory_read": 80000,
	"packet": 54000, "router": 16000, "wire": 26000,
	"serialisation": 36000, "memory_write": 110000, "completion": 70000 }'
shows "its way" '.follow | .is_complete and (.steps | length) == 10 and
	.steps[0].where == "node 0 (0,0,0,0,0), injection FIFO 0" and
	([.steps[].where] | any(test(", injection engine [0-9]+$"))) and
	(.steps[-1].where | test("^node 1 .*, reception engine [0-9]+$"))'

# Behind others in its FIFO, and in their packets' way.
run run bgq-board stream bytes=3000 from=0 to=5 rounds=4 --json --budget
shows "puts in one FIFO wait for each other" '.budget | .messages == 4 and
	.causes.card_queue.ps > 0 and .causes.queue.ps >= 0 and
	.ps == ([.causes[].ps] | add)'
for load in "exchange bytes=5000 rounds=3 driver=pipelined" \
	"storm kinds=all count=2000" "alltoall via=nic bytes=700"; do
	# shellcheck disable=SC2086 # words
	run run bgq-board $load --json
	digest=$(jq -r .digest "$tmp/out")
	# shellcheck disable=SC2086 # words
	run run bgq-board $load --json --budget --threads 2
	shows "$load: all is charged, nothing is changed" \
		".digest == \"$digest\" and
	(.budget | .messages > 0 and .ps == ([.causes[].ps] | add))"
done

# --- what is not asked for is not told ---

run run bgq pingpong --shape 4 --json
shows "neither without the options" '(has("budget") or has("follow")) | not'
run run bgq pingpong --shape 4 --json --follow 1
shows "one without the other" '(has("budget") | not) and has("follow")'

# --- what cannot be followed ---

refused() { # TEXT ARGUMENTS
	text=$1
	shift
	run run bgq pingpong --shape 4 rounds=5 "$@"
	[ $code -eq 2 ] || complain "exit code $code, want 2"
	grep -q -e "$text" "$tmp/err" || complain "says: $(cat "$tmp/err")"
	report "refused: $*"
}

refused 'node 0 sent only 5 messages, numbers 0 to 4' --follow 5
says '^digest'
report "and yet the run is told"
refused 'node 0 sent only 5 messages' --follow 0.77 --json
shows "as JSON, too" '.digest and (has("follow") | not)'
refused 'node 2 sent no message' --follow 2.0
refused 'the machine has nodes 0 to 3' --follow 4.0
refused 'is not a number' --follow x
refused 'is not a number' --follow 1.
refused 'is not a number' --follow .1
refused 'is not a number' --follow=-1
refused 'is not a number' --follow 1.2.3
refused 'is not a number' --follow 99999999999999999999.1
refused 'is not a number' --follow 000000000000000000002.1
refused 'given twice' --follow 1 --follow 2
refused 'takes no value' --budget=yes

exit $status
