#!/bin/sh
#
# Deadlock: proved to be impossible before a run, or found in it.  The two
# must agree: what is proved never locks, what locks was not proved.
set -u
. "$(dirname "$0")/tap.sh"

if ! command -v jq >/dev/null; then
	echo "there is no jq"
	exit 77
fi

no_bubble='--set routing.bubble=no'
no_escape='--set routing.escape=no'
few='--set router.packets=2'
fair='--set router.transit=1' # injection has its turn: buffers fill up

ends() { # CODE ARGUMENTS
	want=$1
	shift
	run "$@"
	[ $code -eq "$want" ] ||
		complain "weft $*: exit code $code, want $want" \
			"$(head -n 1 "$tmp/out" "$tmp/err")"
}

holds() { # JQ-TEST: of the JSON in $tmp/out
	jq -e "$1" "$tmp/out" >/dev/null 2>"$tmp/jq" ||
		complain "not so: $1 $(cat "$tmp/jq")"
}

# --- weft check ---

for machine in bgq bgq-board bgq-midplane bgq-rack; do
	ends 0 check $machine --json
	holds '.proved and ([.steps[].holds] | all) and
		([.steps[].step] | add == "abcdefgh") and
		([.steps[].cycle | length] | add == 0)'
	ends 0 check $machine
	grep -q 'cannot deadlock' "$tmp/out" || complain "$(cat "$tmp/out")"
done
report 'the machines cannot deadlock'

# What interfaces wait for; Gemini's steps d and e are of that, too.
for machine in bgq-board qsnet2-16 apenet-quong gemini-board \
	'torus --shape 4x4' 'fattree --shape 16' 'dragonfly --shape 64'; do
	ends 0 check $machine --json
	holds '.proved and ([.steps[] | select(.what | test(" at a node"))] |
		length == 1)'
done
ends 0 check torus --shape 4x4 --set nic.answers=held --json
holds '.steps[-1].why | test("answers have queues of their own")'
# two nodes of a router wait for each other
for machine in 'torus --shape 4x4 --set topology.nodes=2' \
	'dragonfly --shape 64' 'dragonfly --shape 64 --set routing.mode=valiant'
do
	ends 1 check $machine --set nic.answers=held --json
	holds '([.steps[] | select(.holds | not) | .what] |
		length == 1 and all(test(" at a node"))) and
		(.steps[-1].cycle | length == 4 and
		(.[0] | startswith("node 0 by link to switch ")) and
		(.[2] | startswith("node 1 by link to switch "))) and
		(.steps[-1].why | test("nic.answers"))'
done
report 'requests that hold the queues of their answers are found'

if [ -z "${WEFT_SLOW:-}" ]; then
	begin=$(date +%s)
	ends 0 check bgq --shape 16x16x16x12x2 --json
	holds '.proved and .nodes == 98304 and .rings == 151552 and
		.turns == 3932160'
	took=$(($(date +%s) - begin))
	[ $took -le 5 ] || complain "it took $took s"
	report '98,304 nodes are proved in 5 seconds'
fi

ends 1 check bgq --shape 8 $no_bubble --json
holds '(.proved | not) and .machine == "bgq" and .shape == "8" and
	([.steps[] | select(.holds | not) | .step] == ["a"]) and
	(.steps[0].why | test("bubble")) and
	(.steps[0].cycle == [range(8) |
		"node \(.) (\(.)) by A+ to node \((. + 1) % 8) " +
		"(\((. + 1) % 8)), channel deterministic"])'
ends 1 check bgq --shape 8 $no_bubble
grep -q '^ *node 7 (7) by A+ to node 0 (0)' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'a ring without the bubble: its channels are printed'

ends 1 check bgq --shape 4x4 $no_escape --json
holds '([.steps[] | select(.holds | not) | .step] == ["c"]) and
	(.steps[2].cycle | length > 1 and all(test("channel dynamic$")))'
report 'dynamic channels without an escape: a cycle is printed'

ends 0 check bgq --shape 3x3x2 $no_bubble
ends 0 check bgq --shape 8x8 --set topology.wrap=mesh $no_bubble
report 'meshes and short rings need no bubble'

ends 1 check bgq --shape 4x3 --set coll.root=box --json
holds '([.steps[] | select(.holds | not) | .step] == ["f"]) and
	(.steps[5].why | test("coll.root is box")) and
	(.steps[5].cycle == [
		"node 1 (1,0) by A+ to node 2 (2,0), channel collective sub",
		"node 2 (2,0) by A- to node 1 (1,0), channel collective sub"])'
ends 0 check bgq --shape 2x2x2 --set coll.root=box
ends 0 check bgq-board
grep -q 'rule 1: every member .* rule 2: all members make their calls in' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
report 'trees with roots of their own: links that are up and down are printed'

boxes='--shape 5x5 collective op=broadcast by=hardware box=3x3 boxes=3
	bytes=2KiB rounds=1'
ends 1 check bgq --shape 5x5 --set coll.root=box
ends 3 run bgq $boxes --set coll.root=box
grep -q '^  node 6 (1,1), route 1: on the way up, waits for room at the root' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
ends 0 run bgq $boxes --json
holds '.ending == "finished" and .results.time_ns > 0'
while read -r text keys; do
	ends 2 run bgq --shape 5x5 collective by=hardware $keys
	grep -q "^weft: $text: " "$tmp/err" || complain "$(cat "$tmp/err")"
done <<-EOF
	boxes op=broadcast box=3x3 boxes=4
	boxes op=broadcast boxes=2
	boxes op=broadcast box=3x3 boxes=2 channel=system as=system
	channel op=broadcast channel=system
	as op=broadcast as=system
	boxes op=broadcast box=3x3 boxes=2 split=A
	boxes op=allreduce box=3x3 boxes=2
	bytes op=broadcast box=3x3 boxes=2 bytes=0
EOF
report 'broadcasts of boxes that overlap lock without one root for all'

while read -r text machine; do
	for command in check run; do
		words=$machine
		[ $command = run ] && words="$machine random bytes=64"
		ends 2 $command $words
		grep -qE "^weft: (/.*:[0-9]+: |--set: )?$text: " "$tmp/err" ||
			complain "$command: $(cat "$tmp/err")"
	done
done <<-EOF
	router.packets bgq --shape 4x4 --set router.packets=1
	router.packets gemini --set router.packets=1
	router.kind torus --set topology.links=4x4x4
	router.queues dragonfly --set router.kind=direct --set router.queues=3
	router.kind gemini --set topology.cable.length=0
EOF
report 'a machine that no run takes is refused by weft check, too'

ends 2 check
ends 2 check bgq bgq
ends 2 check bgp
ends 2 check bgq --shape 0
[ ! -s "$tmp/out" ] || complain 'something on stdout'
report 'bad input of weft check is refused'

# --- weft run ---

# Each line's port leads to the next line's node and receiver; the last one's
# to the first one's.  A port is asked for in one direction of a dimension and
# arrives at the receiver of the other.
is_cycle() { # SHAPE
	where='^  node .* (\(.*\)), receiver \(.\)\(.\), channel .*'
	sed -n "s/$where, waits for \(.\)\(.\)\$/\1 \2 \3 \4 \5/p" \
		"$tmp/out" >"$tmp/cycle"
	awk -v shape="$1" '
		BEGIN { n_dims = split(shape, length_of, "x") }
		function follow(l, next_line, f, g, x, y, i, d) {
			split(line[l], f, " ")
			split(line[next_line], g, " ")
			split(f[1], x, ",")
			split(g[1], y, ",")
			d = index("ABCDEF", f[4])
			x[d] += f[5] == "+" ? 1 : length_of[d] - 1
			x[d] %= length_of[d]
			for (i = 1; i <= n_dims; i++)
				if (x[i] != y[i])
					bad = 1
			if (g[2] != f[4] || g[3] == f[5])
				bad = 1
			if (bad)
				print line[l] " does not wait for " \
					line[next_line]
		}
		{ line[NR] = $0 }
		END {
			if (NR < 2)
				print "no cycle"
			for (l = 1; l <= NR; l++)
				follow(l, l % NR + 1)
		}
	' "$tmp/cycle" >"$tmp/wrong" || complain 'awk failed'
	[ ! -s "$tmp/wrong" ] || complain "$(cat "$tmp/wrong" "$tmp/out")"
}

locks() { # SHAPE ARGUMENTS
	shape=$1
	shift
	ends 3 run bgq "$@" --shape "$shape"
	grep -q ': deadlocked$' "$tmp/out" || complain "$(cat "$tmp/out")"
	is_cycle "$shape"
	ends 3 run bgq "$@" --shape "$shape" --json
	holds '.ending == "deadlocked" and (.results.cycle | length > 0)'
}

# Locks take up to 78 us to form, all but one of them 36.
lasting='warmup=20us measure=100us'
[ -z "${WEFT_SLOW:-}" ] || lasting='warmup=20us measure=20us'
finishes() { # SHAPE ARGUMENTS
	shape=$1
	shift
	ends 0 run bgq "$@" --shape "$shape" --json $lasting
	holds '.ending == "finished" and (.results | has("cycle") | not)'
}

for keys in routing=deterministic class=high class=system; do
	locks 8 tornado $keys $few $fair $no_bubble
	finishes 8 tornado $keys $few $fair
	finishes 8 random $keys $few $fair
done
locks 8 random routing=deterministic $fair $no_bubble
report 'a full ring locks without the bubble and goes on with it'

locks 8x8 random routing=deterministic $no_bubble
finishes 8x8 random routing=deterministic
locks 5x5x5 random routing=deterministic $few $fair $no_bubble
finishes 5x5x5 random routing=deterministic $few $fair
report 'so does a torus of default buffers'

locks 4x4x4 random $few $fair $no_escape
locks 8x8 random zones=none $few $fair $no_escape
locks 4x4 random --set router.packets=1 $no_escape $no_bubble
finishes 4x4x4 random $few $fair
finishes 8x8 random zones=none $few $fair
report 'dynamic packets lock without the escape and go on with it'

# An open loop is never idle: the lock of some is found by how long they wait.
found() { # STALL: when the lock was found, ns
	ends 3 run bgq random load=0.5 routing=deterministic measure=10ms \
		--shape 8x8 $no_bubble --set router.packets=1 \
		--set "router.stall=$1" --json
	jq -r '.sim_time_ns | floor' "$tmp/out"
}
first=$(found 1us)
for stall in 5 20 100; do
	at=$(found ${stall}us)
	[ "$at" -ge "$first" ] && [ "$at" -le $((first + 2000 * stall)) ] ||
		complain "found at $at ns, with 1 us at $first"
done
report 'a lock is found before twice the stall time is over'

finishes 5x4 hotspot share=1 $few --set router.stall=1us
finishes 4x4x2 hotspot share=1 class=system $few --set router.stall=1us
finishes 8x4 random zones=none $few --set router.stall=1us
report 'waiting for very long is no deadlock'

run run bgq random routing=deterministic $no_bubble --shape 8x8 --threads 1
grep -v '^simulated' "$tmp/out" >"$tmp/one"
for threads in 2 3; do
	run run bgq random routing=deterministic $no_bubble --shape 8x8 \
		--threads $threads
	grep -v '^simulated' "$tmp/out" | cmp -s - "$tmp/one" ||
		complain "$threads threads: $(cat "$tmp/out")"
done
report 'the same lock is found on any number of threads'

# --- both ---

shapes='3x3 4 2x2x2 4x4 5 6x2'
[ -z "${WEFT_SLOW:-}" ] || shapes='3x3 4 2x2x2'
for shape in $shapes; do
	for set in 'routing.bubble=no' 'routing.escape=no' 'routing.ties=plus'
	do
		run check bgq --shape $shape --set $set
		proved=$code
		for keys in zones=none routing=deterministic; do
			run run bgq random $keys --shape $shape --set $set \
				--set router.packets=2 --set router.transit=1
			[ $code -eq 0 ] || { [ $code -eq 3 ] &&
				[ $proved -eq 1 ]; } ||
				complain "$shape $set $keys: check says" \
					"$proved, the run $code"
		done
	done
done
report 'what is proved does not lock'

exit $status
