#!/bin/sh
#
# Nodes with several cards: which one a rank uses, what they carry together, and
# what is refused.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

# NVIDIA's table for 1,024 GPUs.
ends 0 show superpod-1024 --bill "$src/examples/prices.yaml" --json
shows 'superpod-1024 has the switches and cables of its reference' \
	'[.levels[].switches] == [32, 16]' \
	'[.bill.parts[] | select(.kind == "switch") | .number] == [48]' \
	'[.bill.parts[] | select(.kind == "card") | .number] == [1024]' \
	'[.bill.parts[] | select(.kind == "cable") | .number] == [1024, 1024]'

# Two of its nodes, on two leaves for each rail and a spine for each card.
pair="run superpod-1024 --quiet --json --shape 2 --set topology.ports=0 \
	--set topology.radix=2x8 --set link.train=4"
ring="collective op=allreduce algo=ring procs=8 unit=8 rounds=1 warm=0 \
	chunk=1MiB"
payload=49.3 # GB/s of a card that sends and receives
ends 0 $pair $ring channels=1 bytes=16MiB
shows 'a ring of one channel has the rate of a card' \
	".results.busbw_GBps | . > 0.95 * $payload and . < 1.01 * $payload"
ends 0 $pair $ring channels=8 bytes=32MiB
shows 'a ring of eight channels has that of several cards' \
	".results.busbw_GBps | . > 5 * $payload and . < 8.01 * $payload"

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

refused 'nic.cards: 8 cards, but topology.rails: 4' run fattree random \
	--set nic.cards=8 --set topology.rails=4
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
