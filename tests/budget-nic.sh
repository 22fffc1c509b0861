#!/bin/sh
#
# weft run --budget and --follow on QsNetII, Gemini and APEnet+: puts, DMAs,
# block transfers and gets between two programs.  The parts sum to the whole,
# and the run is the same.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

exact='(.budget | ([.causes[].ps] | add) == .ps and
		(.longest | ([.causes[].ps] | add) == .ps))'

same() { # MESSAGES MACHINE ARGUMENTS
	messages=$1
	shift
	run run "$@" --json
	plain=$(jq -c '[.digest, .sim_time_ns, .results]' "$tmp/out")
	run run "$@" --json --budget --follow 0
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ "$(jq -c '[.digest, .sim_time_ns, .results]' "$tmp/out")" = \
		"$plain" ] || complain "other results"
	shows "all is charged, nothing is changed: $*" \
		"$exact and .budget.messages == $messages"
	jq -c '[.budget, .follow]' "$tmp/out" >"$tmp/one"
	run run "$@" --json --budget --follow 0 --threads 3
	jq -c '[.budget, .follow]' "$tmp/out" | diff - "$tmp/one" \
		>"$tmp/diff" || complain "three threads: $(cat "$tmp/diff")"
	report "and on three threads"
}

ping='pingpong via=nic'
both='stream both=yes places=1'
same 400 qsnet2-16 $ping by=sten rounds=200 to=15
same 60 qsnet2-16 $ping by=sten bytes=1504 rounds=10 to=15
same 400 qsnet2-16 $ping by=dma bytes=5000 rounds=200 to=3
same 200 qsnet2-16 gets bytes=512 rounds=200 to=7
same 64 qsnet2-16 gets batch=16 rounds=64 to=1
same 160 qsnet2-16 $both by=sten bytes=4096 rounds=10
same 16 qsnet2-16 $both by=dma bytes=100000 rounds=8

same 40 gemini pingpong via=nic by=fma bytes=1000 rounds=20 to=42
same 10 gemini stream by=bte bytes=5000 rounds=5 both=yes to=2
same 20 gemini gets bytes=500 rounds=20 to=9
same 16 gemini sweep op=get by=bte rounds=3 burst=5 min=4KiB max=8KiB to=2
same 6 gemini pingpong via=msg bytes=10000 rounds=1 to=8

gpus='source=gpu0 target=gpu0 bytes=100000 rounds=2'
same 4 apenet-pair $ping by=p2p $gpus
same 30 apenet-pair $ping by=staged $gpus
same 30 apenet-pair $ping by=copied $gpus

# --- by hand: the parts of a put of 8 bytes through three switches ---

run run qsnet2-16 $ping by=sten to=15 rounds=1 --json --budget --follow 0
shows "a put alone" '.budget.longest.causes | map_values(.ps) |
	with_entries(select(.value > 0)) == {
	"software": 20000, "descriptor": 319300, "packet": 59994,
	"serialisation": 22506, "wire": 72000, "router": 63000,
	"memory_write": 348700 }'
shows "its way" '.follow | .is_complete and
	.steps[0].where == "node 0, card" and
	.steps[-1].where == "node 15, input"'

# --- and of 8 bytes by Gemini's block transfer engine, one hop away ---

run run gemini stream by=bte bytes=8 rounds=1 to=2 --json --budget --follow 0
shows "a block of 8 bytes" '.budget.longest.causes | map_values(.ps) |
	with_entries(select(.value > 0)) == {
	"software": 300000, "descriptor": 1087917, "memory_read": 262500,
	"packet": 92000, "serialisation": 14080, "wire": 125000,
	"router": 100000, "translation": 113000, "memory_write": 112084,
	"completion": 2917 }'

# --- and through host memory: two copies of APE-N17, with their bytes ---

run run apenet-pair $ping by=staged source=gpu0 target=gpu0 bytes=36 rounds=1 \
	--json --budget
shows "what is staged is copied twice" '.budget.longest.causes.copy.ps ==
	2 * (5250000 + 6000)'
run run apenet-pair $ping by=p2p source=gpu0 target=gpu0 rounds=1 --json \
	--budget
shows "what is not is not" '.budget.causes.copy.ps == 0'

# --- a barrier: its own way up and down the tree, and the wait for others ---

run run bgq-board collective op=barrier by=hardware rounds=3 --json --budget
shows "a barrier that waits for others" '.budget.longest.causes |
	map_values(.ps) | with_entries(select(.value > 0)) == {
	"descriptor": 55000, "engine": 115000, "wire": 168000, "router": 48000,
	"peers": 452000 }'

# --- the message that a budget calls the longest is the one that is shown ---

shown() { # ARGUMENTS
	run run "$@" --json --budget
	longest=$(jq -r '.budget.longest | "\(.node).\(.number)"' "$tmp/out")
	ps=$(jq .budget.longest.ps "$tmp/out")
	for threads in 1 3; do
		run run "$@" --json --follow "$longest" --threads $threads
		shows "--follow $longest: $* --threads $threads" \
			".follow | .is_complete and
			.steps[-1].until_ps - .steps[0].from_ps == $ps"
	done
}

shown qsnet2-16 storm count=1000 --seed 2 --set faults.bit-errors=2e-5
shown qsnet2-16 storm count=1000 --seed 5 --set faults.bit-errors=2e-5
shown qsnet2-16 collective op=broadcast by=hardware bytes=512 root=5

shown bgq-board collective op=barrier by=hardware rounds=3

exit $status
