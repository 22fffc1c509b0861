#!/bin/sh
#
# Nodes with several cards: which one a rank uses, what they carry together, and
# what is refused.
# NET-F4, NET-F5, NET-F6.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

# NVIDIA's table for 1,024 GPUs.
ends 0 show superpod-1024 --bill "$src/examples/prices.yaml" --json
shows 'superpod-1024 has the switches and cables of its reference' \
	'[.levels[].switches] == [32, 16]' \
	'[.bill.parts[] | select(.kind == "switch") | .number] == [48]' \
	'[.bill.parts[] | select(.kind == "card") | .number] == [1024]' \
	'[.bill.parts[] | select(.kind == "cable") | .number] == [1024, 1024]' \
	'[.bill.parts[] | select(.key == "domains") | .number] == [128]' \
	'.bill.sum.domains == 128'
sed '/^domains/d' "$src/examples/prices.yaml" >"$tmp/prices.yaml"
refused 'no price for "domain"; want domains' show superpod-1024 \
	--bill "$tmp/prices.yaml"
ends 0 show superpod-1024 --json
shows 'cards and domains are shown' '.cards == 8' '.domain.rate_GBps == 450' \
	'.domain.latency_ns == 500'

# Of 512 cards of a group 292 links lead out.
ends 0 show frontier --json
shows 'frontier has the groups and links of its papers' '.nodes == 9408' \
	'.cards == 4' '.switches == 74 * 32' '.ports == 64' \
	'[.parts[] | select(.part == "group") | .number, .nodes, .global_links]
		== [74, 128, 292]' \
	'[.wires[].links] == [37632, 37632, 36704, 10804]'

# Two of its nodes, on two leaves for each rail and a spine for each card.
pair="run superpod-1024 --quiet --json --shape 2 --set topology.ports=0 \
	--set topology.radix=2x8 --set link.train=4"
ring="collective op=allreduce algo=ring rounds=1 warm=0 chunk=1MiB"
payload=49.3 # GB/s of a card that sends and receives
ends 0 $pair $ring channels=1 bytes=16MiB
shows 'a ring of one channel has the rate of a card' \
	".results.busbw_GBps | . > 0.95 * $payload and . < 1.01 * $payload"
ends 0 $pair $ring channels=8 bytes=32MiB
shows 'a ring of eight channels has that of several cards' \
	".results.busbw_GBps | . > 5 * $payload and . < 8.01 * $payload"

# COL-F12: notices to the next member do not wait behind long blocks.
ends 0 run superpod-1024 --quiet --json --shape 2 --set topology.join=0 \
	collective op=allreduce algo=ring rounds=1 channels=8 bytes=128MiB \
	coarse=4
shows 'long blocks leave the cards busy while notices go' \
	".results.busbw_GBps > 7.6 * $payload"

# Rank N of a node uses card N.
ends 0 run fattree --quiet --json --shape 4 --set nic.cards=4 \
	--set topology.rails=4 alltoall via=msg procs=2 bytes=4096
shows 'cards that no rank has are idle' \
	'[.. | .hottest_links? // empty | .[].name] as $hot |
		([$hot[] | select(test("port [01]$"))] | length > 0) and
		([$hot[] | select(test("port [23]$"))] | length == 0)'

for threads in 1 2 3; do
	ends 0 run fattree --quiet --json --shape 16 --set nic.cards=4 \
		--set topology.rails=4 --set topology.join=2 \
		--set topology.radix=4x16 alltoall via=msg procs=4 bytes=3000 \
		--threads $threads
	value digest >>"$tmp/digests"
done
[ "$(sort -u "$tmp/digests" | wc -l)" -eq 1 ] ||
	complain "$(cat "$tmp/digests")"
report 'one digest on any number of threads'

# Striped, one rank has all of them, and a card that fails costs its share.
four="run fattree --quiet --shape 4 --set nic.cards=4 --set topology.rails=4"
ends 0 $four stream via=msg to=1 bytes=1MiB --json
one=$(value payload_GBps)
ends 0 $four stream via=msg to=1 bytes=1MiB --json --set nic.stripe=yes
shows 'striped messages take all cards' \
	".results.payload_GBps | . > 3.9 * $one and . < 4 * $one"

striped="$four alltoall via=msg procs=4 bytes=20KiB --json --set nic.stripe=yes"
ends 0 $striped
whole=$(value time_ns)
rm "$tmp/digests"
plan <<-EOF
  events:
    - 20 us card 1.2 dies
    - 1 ms card 1.2 returns
EOF
for threads in 1 2 3; do
	ends 0 $striped --faults "$tmp/plan.yaml" --threads $threads
	value digest >>"$tmp/digests"
	holds '.faults.lost_packets > 0' \
		".results.time_ns > $whole"
done
[ "$(sort -u "$tmp/digests" | wc -l)" -eq 1 ] ||
	complain "$(cat "$tmp/digests")"
report 'striped messages go over the cards that are left'

# Only the packets under way are lost: no more than a window of its packets.
plan <<-EOF
  events: ["20 us card 1.2 dies"]
EOF
ends 0 $four stream via=msg to=1 bytes=1MiB --set nic.stripe=yes --json \
	--faults "$tmp/plan.yaml"
shows 'no packet is sent to a card that is known to have failed' \
	'.faults.lost_packets | . > 0 and . < 200'

plan <<-EOF
  events:
    - 5 us card 0.0 dies
    - 5 us card 0.1 dies
    - 5 us card 0.2 dies
    - 5 us card 0.3 dies
EOF
ends 3 $four stream via=msg to=1 bytes=1MiB --set nic.stripe=yes \
	--faults "$tmp/plan.yaml" --json
grep -q 'card has failed' "$tmp/err" || complain "$(cat "$tmp/err")"
holds '.sim_time_ns < 100000'
report 'a node without cards gets errors, and at once'

plan <<-EOF
  events: ["5 us switch 1.0 dies", "25 us switch 1.0 returns"]
EOF
ends 0 run fattree --quiet --shape 8 --set nic.cards=4 --set nic.stripe=yes \
	--set topology.ports=32 --set topology.rails=4 --set topology.join=1 \
	alltoall via=msg bytes=512 procs=2 --faults "$tmp/plan.yaml" --json
holds '.faults.lost_packets > 0'
report 'links that return are waited for, though all cards had none'

plan <<-EOF
  events:
    - 5 us card 0.0 dies
EOF
ends 3 $four stream via=msg to=1 bytes=1MiB --faults "$tmp/plan.yaml"
grep -q 'card has failed' "$tmp/err" || complain "$(cat "$tmp/err")"
report 'a rank whose card has failed gets errors'
# It returns before the rank sends anything, or too late.
printf '%s\n' 'num_ranks 4' 'rank 0 {' 'c: calc 50000' \
	's: send 100000b to 1 tag 1' 's requires c' '}' 'rank 1 {' \
	'r: recv 100000b from 0 tag 1' '}' 'rank 2 {' '}' 'rank 3 {' '}' \
	>"$tmp/late.goal"
for back in 40:0 300:3; do
	plan <<-EOF
	  events:
	    - 20 us card 0.0 dies
	    - ${back%:*} us card 0.0 returns
	EOF
	ends ${back#*:} $four replay file="$tmp/late.goal" \
		--faults "$tmp/plan.yaml"
done
report 'a card that has returned works, also without stripes'
plan <<-EOF
  events: ["5 us card 1 dies", "15 us card 1 returns"]
EOF
ends 3 run torus --shape 4 --quiet collective op=barrier rounds=9 \
	--faults "$tmp/plan.yaml"
grep -q 'weft: card 1 died at 5.000 us; ' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
report 'a card that has returned is named: its work was lost'
# Packets go round the link.
plan <<-EOF
  events:
    - 10 us link 0:1.0 up 0 dies
    - 15 us card 3.2 dies
EOF
ends 3 run fattree --shape 8 --quiet --set nic.cards=4 \
	--set topology.rails=4 collective op=allreduce algo=ring procs=4 \
	bytes=128KiB rounds=3 --faults "$tmp/plan.yaml"
grep -q '^retries  *[1-9]' "$tmp/out" &&
	grep -q 'weft: card 3.2 died at 15.000 us; ' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
report 'a card that has died is named before a link'
plan <<-EOF
  events:
    - 5 us card 0.1 dies
EOF
ends 0 $four stream via=msg to=1 bytes=1MiB --faults "$tmp/plan.yaml"
report 'a rank does not miss a card that it does not use'

for part in node host; do
	plan <<-EOF
	  events:
	    - 5 us $part 2 dies
	EOF
	run $four alltoall via=msg bytes=20KiB --faults "$tmp/plan.yaml" --json
	value digest >"$tmp/$part"
	holds '.faults.dead_programs == 1'
done
[ -s "$tmp/host" ] && cmp -s "$tmp/host" "$tmp/node" ||
	complain "$(cat "$tmp/host" "$tmp/node")"
report 'a host is a node, with all its cards'

plan <<-EOF
  events:
    - 58 us host 1 dies
    - 1 us host 6 dies
    - 7 us host 6 returns
EOF
ends 3 run torus --shape 7 --quiet collective op=barrier rounds=3 \
	--faults "$tmp/plan.yaml"
grep -q 'weft: node 6 (6) died at 1.000 us; ' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
report 'the node that has died is named, not one that dies later'

for bad in '1.4:no card has this number (want 0 to 3)' \
	'1:"1" is not a card' '9.1:no node has this number' \
	'1.x:"1.x" is not a card'; do
	plan <<-EOF
	  events:
	    - 5 us card ${bad%%:*} dies
	EOF
	refused "${bad#*:}" $four random --faults "$tmp/plan.yaml"
done
plan <<-EOF
  events:
    - 5 us crad 1.1 dies
EOF
refused 'did you mean card?' $four random --faults "$tmp/plan.yaml"

for spread in source rotate adaptive; do
	for join in 0 2; do
		ends 0 check fattree --shape 16 --set nic.cards=4 \
			--set topology.rails=4 --set topology.join=$join \
			--set topology.radix=4x16 --set routing.spread=$spread
		ends 0 run fattree --quiet --shape 16 --set nic.cards=4 \
			--set topology.rails=4 --set topology.join=$join \
			--set topology.radix=4x16 --set routing.spread=$spread \
			alltoall via=msg procs=4 bytes=100
	done
done
report 'packets find the card that they name, on rails that join or not'

fly="dragonfly --shape 24 --set topology.routers=4 --set topology.per-router=2 \
	--set nic.cards=4"
for attach in same spread rails; do
	ends 0 check $fly --set topology.attach=$attach
	ends 0 run $fly --set topology.attach=$attach alltoall via=msg procs=4 \
		bytes=100 --quiet
	ends 0 run $fly --set topology.attach=$attach random load=0.2 --quiet
done
report 'packets find their cards on a dragonfly'
refused '4 cards cannot be spread over the 3 routers of a group' \
	show dragonfly --set nic.cards=4 --set topology.attach=spread \
	--set topology.routers=3 --shape 24
refused 'the 6 routers of a group are no multiple of 4 rails' \
	show dragonfly --set nic.cards=4 --set topology.attach=rails \
	--set topology.routers=6 --shape 24
refused 'only the last may have empty places' show frontier --shape 9300
refused 'topology.groups: 200 groups are 200 groups, but the global links' \
	show dragonfly --set topology.groups=200 --shape 0
refused 'nic.cards: 8 cards, but topology.rails: 4' run fattree random \
	--set nic.cards=8 --set topology.rails=4
refused 'nic.stripe: a node has one card' run fattree alltoall via=msg \
	--set nic.stripe=yes
refused 'nic.cards: 9 is out of range (1 to 8)' run fattree random \
	--set nic.cards=9
refused 'nic.answers: held needs' run fattree alltoall via=msg \
	--set nic.cards=2 \
	--set topology.rails=2 --set nic.answers=held
refused 'nic.cards: 2 cards, but topology.kind torus has one link' \
	run torus random --set nic.cards=2
refused 'nic.cards is not a parameter of this machine' \
	run qsnet2-64 random --set nic.cards=2
refused 'did you mean nic.cards' run fattree random --set nic.card=2

exit $status
