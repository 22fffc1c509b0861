#!/bin/sh
#
# Tiled routers under a plain card: planes are proved free of deadlock, and
# rings without them lock; what is proved runs, with links that fail, too.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

m=$tmp/chips.yaml
cat >"$m" <<-EOT
	schema: 1
	machine: chips
	title: chips of 8 x 6 tiles
	topology:
	  kind: torus
	  shape: [3, 3, 2]
	  nodes: 2
	  links: [8, 4, 8]
	  letters: xyz
	  router: 50 ns
	  cable: { length: [11], delay: 5 ns }
	  node: { up: 35 ns, down: 85 ns }
	link:
	  lanes: 3
	  lane-rate: 6.25 Gb/s
	  header: 3 B
	  trailer: 21 B
	  payload: 72 B
	  chunk: 3 B
	  protocol: 0 B
	  gap: 0 B
	router: { kind: tiled }
	routing: { kind: order, dateline: no, planes: yes }
	nic: { kind: plain }
	side: { kind: ht }
EOT
few='--shape 1x8x1 --set router.packets=2 bytes=72 warmup=5us measure=20us'

ends 0 check "$m" --json
holds '.proved and .nodes == 36 and .turns > 1000'
ends 1 check "$m" --shape 4x3x2 --set routing.planes=no --json
holds '(.proved | not) and (.steps[1].cycle | length > 2)'
ends 2 check "$m" --set router.packets=1
for routing in dynamic deterministic; do
	ends 0 run "$m" random load=max routing=$routing $few --json
	holds '.ending == "finished"'
	ends 3 run "$m" random load=max routing=$routing $few \
		--set routing.planes=no --json
	holds '.ending == "deadlocked" and (.results.cycle | length > 1)'
done
report 'rings lock without planes, and not with them'

cat >"$tmp/dead.yaml" <<-EOT
	schema: 1
	faults:
	  events:
	    - 3 us link 0,0,0 x+3 dies
	    - 9 us link 0,0,0 x+3 returns
	    - 5 us lane 1,0,0 y+1 2 dies
EOT
cat >"$tmp/bits.yaml" <<-EOT
	schema: 1
	faults:
	  bit-errors: [0, x 1e-5, y 1e-5, z 1e-5]
EOT
replay='--set link.retry=replay --set link.retry.window=64
	--set link.retry.unit=packets --set link.retry.by=nack'
for threads in 1 2 3; do
	for run in 'random load=0.4 bytes=72 warmup=2us measure=4us' \
		'alltoall via=msg bytes=300' \
		'alltoall via=msg bytes=300 --budget' \
		"alltoall via=msg bytes=300 --faults $tmp/bits.yaml" \
		"alltoall via=msg bytes=300 --faults $tmp/bits.yaml $replay" \
		"alltoall via=msg bytes=900 --faults $tmp/dead.yaml"; do
		ends 0 run "$m" $run --threads $threads --json
		holds '.ending == "finished"'
		jq -r .digest "$tmp/out"
	done >"$tmp/digests.$threads"
	cmp -s "$tmp/digests.1" "$tmp/digests.$threads" ||
		complain "$(paste "$tmp/digests.1" "$tmp/digests.$threads")"
done
[ "$(sed -n 2p "$tmp/digests.1")" = "$(sed -n 3p "$tmp/digests.1")" ] ||
	complain 'a budget changes the digest'
report 'any number of threads gives the same digest'

# The link mends what the card would have to send again.
ends 0 run "$m" alltoall via=msg bytes=300 --faults "$tmp/bits.yaml" $replay \
	--json
holds '.faults | .bit_errors > 10 and .resent_packets > 10 and
	.lost_packets == 0 and .resent == 0'
report 'links that retry lose nothing'

# Adaptive packets avoid a dead link after a microsecond, hashed ones do not.
cat >"$tmp/gone.yaml" <<-EOT
	schema: 1
	faults:
	  events:
	    - 1 us link 0,0,0 x+3 dies
	    - 1 us link 0,0,0 x+4 dies
	    - 1 us link 0,0,0 y-1 dies
EOT
lost() { # ARGUMENTS
	ends 0 run "$m" alltoall via=msg bytes=900 --faults "$tmp/gone.yaml" \
		--set routing.reload=10ms --json "$@"
	jq .faults.lost_packets "$tmp/out"
}
soon=$(lost --set routing.notice=0ns)
late=$(lost --set routing.notice=100us)
[ "$soon" -lt "$late" ] || complain "$soon lost, and $late without notice"
report 'adaptive packets go round a dead link'

# Half of the packets hashed, half adaptive: both buffers are full, none locks.
for shape in 2x2x2 3x5x2 8x1x1; do
	ends 0 run gemini random load=max routing=mixed bytes=64 \
		--shape $shape --set router.packets=2 warmup=2us measure=5us \
		--json
	holds '.ending == "finished"'
done
free='--shape 1x8x1 --set router.packets=2 --set routing.planes=free'
ends 1 check gemini $free --json
holds '(.proved | not) and (.steps[1].cycle | length > 2)'
ends 3 run gemini random load=max routing=mixed $free --json
holds '.ending == "deadlocked" and (.results.cycle | length == 8)'
late='--shape 1x8x1 --set router.packets=2 --set router.tokens=output'
ends 1 check gemini $late --json
holds '(.steps[3].holds | not) and (.steps[3].cycle | length == 8)'
for routing in mixed deterministic; do
	ends 3 run gemini random load=max routing=$routing $late --json
	holds '.ending == "deadlocked" and (.results.cycle | length > 1)'
done
ends 1 check gemini --set nic.responses=wait --json
holds '(.steps[4].holds | not) and (.steps[4].cycle | length == 4)'
full='count=200 bytes=8KiB lanes=8 --set nic.routing=hashed
	--set router.reception=4 --set router.packets=2
	--set router.netlink.buffer=1 --set nic.pending=8'
ends 0 run gemini-board storm $full --json
holds '.ending == "finished"'
ends 3 run gemini-board storm $full --set nic.responses=wait --json
holds '.ending == "deadlocked" and
	(.results.cycle | map(select(test("response can leave"))) | length > 1)'
ends 0 check gemini --json
holds '.proved and ([.steps[].step] == ["a", "b", "c", "d", "e"])'
ends 0 check gemini --shape 9x8x10
report 'half of the packets hashed: none locks but without one of the rules'

# GEM-F1: two nodes on each chip.
for machine in board cabinet 9600 13824; do
	ends 0 show gemini-$machine --json
	jq -r '.nodes' "$tmp/out"
done >"$tmp/nodes"
[ "$(tr '\n' ' ' <"$tmp/nodes")" = '4 96 19200 27648 ' ] ||
	complain "$(cat "$tmp/nodes")"
report 'machines of the sizes that were built'

small='random bytes=72'
refuses 'link x+0 is named twice' run "$m" $small \
	--set 'router.tiles.0=x+0 x-0 p y+0 y-0 x+0'
refuses 'at most 8 links in a direction, not 16' run gemini random \
	--set 'topology.links=2,2,16'
refuses '5 tiles (want 6)' run "$m" $small \
	--set 'router.tiles.0=x+0 x-0 p y+0 y-0'
refuses '0 tiles (want 6)' run "$m" $small \
	--set 'router.tiles.0=x+0 x-0 p y+0 y-0 p'
refuses 'w+3 is not a link' run "$m" $small \
	--set 'router.tiles.0=x+0 x-0 p y+0 y-0 w+3'
refuses '6 tiles (want 0)' run "$m" $small --set router.rows=7 \
	--set router.processors=2 --set 'router.tiles.0=p p x+0 x-0 x+1 x-1' \
	--set 'router.tiles.1=x+2 x-2 x+3 x-3 x+4 x-4' \
	--set 'router.tiles.2=x+5 x-5 x+6 x-6 x+7 x-7' \
	--set 'router.tiles.3=y+0 y-0 y+1 y-1 y+2 y-2' \
	--set 'router.tiles.4=y+3 y-3 z+0 z-0 z+1 z-1' \
	--set 'router.tiles.5=z+2 z-2 z+3 z-3 z+4 z-4' \
	--set 'router.tiles.6=z+5 z-5 z+6 z-6 z+7 z-7' \
	--set 'router.tiles.7=p p p p p p'
refuses 'link z-7 has no tile' run "$m" $small --set router.rows=7 \
	--set router.processors=2 --set 'router.tiles.0=p p x+0 x-0 x+1 x-1' \
	--set 'router.tiles.1=x+2 x-2 x+3 x-3 x+4 x-4' \
	--set 'router.tiles.2=x+5 x-5 x+6 x-6 x+7 x-7' \
	--set 'router.tiles.3=y+0 y-0 y+1 y-1 y+2 y-2' \
	--set 'router.tiles.4=y+3 y-3 z+0 z-0 z+1 z-1' \
	--set 'router.tiles.5=z+2 z-2 z+3 z-3 z+4 z-4' \
	--set 'router.tiles.6=z+5 z-5 z+6 z-6 z+7 p'
report 'refused: tiles that do not name each link once'

# GEM-F50
refuses 'at most 65536' run "$m" $small --shape 64x64x17
refuses 'want 40 links' run gemini random bytes=64 --shape 4x4
refuses 'one letter for each' run gemini random bytes=64 --shape 2x2x2x2
ends 0 run "$m" $small load=0.2 warmup=1us measure=1us \
	--set topology.cable.length=1 --json
holds '.ending == "finished"'
report 'tokens may come back sooner than packets do'

refuses 'want 40 links' run "$m" $small --set topology.links=8
refuses 'none for datelines' run "$m" $small --set routing.planes=no \
	--set routing.dateline=yes
refuses 'either planes or a dateline' check "$m" --set routing.dateline=yes
refuses 'direct routers have no planes' run torus random --shape 4x4 \
	--set routing.kind=order --set routing.dateline=no \
	--set routing.planes=yes
refuses 'not a parameter' run "$m" $small --set router.queues=2
report 'refused: what tiled routers cannot do'

# Packets that are still on a link count in part, also on links that do not
# replay; and no node sends faster than its wire carries.
traffic='random load=max warmup=0us'
for words in '--until 1ps --set faults.bit-errors=1e-5' \
	'--until 300ns --set faults.bit-errors=1e-5' \
	'measure=1us --set topology.node.rate=0B/s' \
	'measure=1us --set router.netlink.packet=1ps'; do
	run run gemini --shape 2x2x2 $traffic $words --json
	holds '[.. | .max_use? // empty | . <= 1] | length > 0 and all' \
		'[.results.links[].max_use] | max > 0.8'
done
report 'no link is used for longer than the run'

exit $status
