#!/bin/sh
#
# weft run --budget and --follow on QsNetII, Gemini, APEnet+ and Sunway: puts,
# DMAs, block transfers and gets between two programs.  The parts sum to the
# whole, and the run is the same.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

exact='(.budget | ([.causes[].ps] | add) == .ps and
		(.longest | ([.causes[].ps] | add) == .ps))'

# Parts of messages are results of a budget, too.
rest='[.digest, .sim_time_ns,
	(.results | with_entries(select(.key | startswith("trip") | not)))]'

same() { # MESSAGES MACHINE ARGUMENTS
	messages=$1
	shift
	run run "$@" --json
	plain=$(jq -c '[.digest, .sim_time_ns, .results]' "$tmp/out")
	run run "$@" --json --budget --follow 0
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ "$(jq -c "$rest" "$tmp/out")" = "$plain" ] || complain "other results"
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
same 31 apenet-pair $ping by=staged $gpus
same 31 apenet-pair $ping by=copied $gpus

# --- by hand: the parts of a put of 8 bytes through three switches ---

# The first one of a queue waits until its descriptor and its head have come to
# the chip: 60 ns, two lines of 24.096 ns, and 40 ns by a port of the cache.
causes='"serialisation": 22506, "wire": 72000, "router": 63000,
	"memory_write": 348700 }'
run run qsnet2-16 $ping by=sten to=15 rounds=1 --json --budget
shows "a put alone; neither its queue nor its route nor its page is on chip" \
	'.budget.longest.causes | map_values(.ps) |
	with_entries(select(.value > 0)) == {
	"software": 20000, "descriptor": 319300, "card_queue": 148192,
	"engine": 84096, "packet": 59994, "translation": 120000, '"$causes"
run run qsnet2-16 $ping by=sten to=15 rounds=1 --json --budget --follow 0 \
	--set nic.cache.on=no --set nic.mmu.on=no
shows "a put alone" '.budget.longest.causes | map_values(.ps) |
	with_entries(select(.value > 0)) == {
	"software": 20000, "descriptor": 319300, "packet": 59994,
	'"$causes"
shows "its way" '.follow | .is_complete and
	.steps[0].where == "node 0, card, command queue" and
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

run run bgq-board collective op=barrier by=hardware rounds=3 --json --budget \
	--follow 31.1
shows "the farthest node's way in a barrier" '.budget.longest.causes |
	map_values(.ps) | with_entries(select(.value > 0)) == {
	"descriptor": 55000, "engine": 245000, "wire": 444000,
	"router": 120000 }'
shows "the root waits for the others, who come up within 222 + 5 * 18 ns" '
	[.follow.steps[] | select(.cause == "peers") |
	.until_ps - .from_ps] == [312000]'

# --- an all-reduce: the last member's whole way, and the others' waits ---

# Node 0 is farthest from the root; at each node its input is the last.
sum='collective op=allreduce by=hardware rounds=1'
run run bgq-midplane $sum --json --budget --follow 0.0
shows "the last member of an all-reduce waits for nobody" '
	.budget.longest.node == 0 and
	.budget.longest.causes.peers.ps == 0 and
	([.follow.steps[].where] |
	index("node 262 (2,1,0,0,1), up, route 0: " +
		"inputs A+ A- B- E- local, last B-") <
	index("node 426 (2,2,2,2,1), root, route 0: " +
		"inputs A+ A- B+ B- C+ C- D+ D- E- local, last D-"))'
# From its departure, at 10,382 ns, until the head is back: the last input is
# at the root at 10,962, and 314 ns lead down to node 31.
run run bgq-midplane $sum --json --follow 31.0
shows "other members wait until the result's head is back" '
	[.follow.steps[] | select(.cause == "peers") |
	[.from_ps, .until_ps]] == [[10382000, 11276000]]'

# --- BGQ-F16: headers, hop by hop: hints that are left, channel, number ---

headers() { # WHAT HEADERS ARGUMENTS
	what=$1 want=$2
	shift 2
	run run "$@" --json
	jq -r '[.follow.steps[].header // empty] | join(" ")' "$tmp/out" \
		>"$tmp/headers"
	[ "$(cat "$tmp/headers")" = "$(echo $want)" ] ||
		complain "$(cat "$tmp/headers")"
	report "$what"
}

long="bgq-midplane $ping bytes=600 rounds=2 to=300"
headers 'a header says what is left of the way' '55244020000c20014201000e
	55044020000c200142010011 55044020000c200142010011
	55004020000c200142010037' bgq-midplane $ping bytes=64 rounds=2 \
	to=300 --follow 0.1
headers 'and of an adaptive packet, with the numbers of its links' \
	'55244400000c200150010070 55244400000c200150010070
	55044400000c2001500300c2 55004400000c2001500300e4' \
	$long routing=dynamic --follow 0.1
headers 'a collective names its operation and its class route' \
	'5ac310a2000000004200000c 5ac310a2000000004200000c' bgq-board \
	collective op=allreduce by=hardware bytes=64 box=1x1x1x1x2 --follow 0.0

# --- BGQ-F11: a slower clock moves its own times, and nothing else ---

slower() { # CLOCK CHANGES
	run run bgq-board $ping bytes=256 rounds=4 --json --budget \
		--set "clock.$1"
	jq --argjson was "$was" '[.budget.causes | to_entries[] |
		select(.value.ps != $was[.key].ps) |
		{ key, value: (.value.ps - $was[.key].ps) }] | from_entries' \
		"$tmp/out" >"$tmp/moved"
	mv "$tmp/moved" "$tmp/out"
	shows "clock.$1 moves $2" ". == $2"
}

run run bgq-board $ping bytes=256 rounds=4 --json --budget
was=$(jq -c .budget.causes "$tmp/out")
slower core=800MHz '{"software": 784000}'
slower memory=400MHz '{"memory_read": 40000, "receiver": 16000,
	"memory_write": 10000}'
slower network=250MHz '{"serialisation": 1184000}'
run run bgq-board $ping bytes=256 rounds=4 --json --budget \
	--set clock.network=250MHz --set link.rate=2GB/s
shows "what is stated follows no clock" ".budget.causes == $was"

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

# Sunway: each way of a message, and collectives in the interface.
for by in write reply notify fsm queue; do
	same 40 sunway-32 $ping by=$by bytes=64 rounds=20 to=31
done
same 50 sunway-32 gets bytes=4096 rounds=50 to=17
same 16 sunway-32 $both by=write bytes=100000 rounds=8 to=16
for op in barrier allreduce reduce broadcast; do
	same 160 sunway-32 collective op=$op by=hardware rounds=5
done
run run sunway-32 collective op=barrier by=hardware rounds=5 --json --budget
shows "a barrier's call is software, and all others are peers" '
	.budget | .causes.software.ps == 160 * 440000 and
	.causes.copy.ps == 0 and .causes.peers.ps * 2 > .ps'
run run sunway-32 collective op=broadcast by=hardware rounds=5 bytes=1024 \
	--json --budget
shows 'the root of a broadcast alone copies its bytes' '
	.budget | .causes.software.ps == 160 * 5600000 and
	.causes.copy.ps == 5 * 1024 * 1020'

shown qsnet2-16 storm count=1000 --seed 2 --set faults.bit-errors=2e-5
shown qsnet2-16 storm count=1000 --seed 5 --set faults.bit-errors=2e-5
shown qsnet2-16 collective op=broadcast by=hardware bytes=512 root=5

shown bgq-board $sum
shown bgq-board collective op=barrier by=hardware rounds=3

exit $status
