#!/bin/sh
#
# QsNetII's tagged messages, which threads on the cards match: figures that
# follow from the same constants as the paper's, and their keys.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

match='pingpong via=nic by=match warm=1'

# From the command's arrival at the sender's card to the first request for the
# receiver's bus: 82.5 + 157.5 + 300 ns in the cards, and 74 L - 13 through L
# levels of switches.
levels='1 3 5 7 9 11'
[ "${WEFT_SLOW-}" ] && levels='1 11'
for switches in $levels; do
	l=$(((switches + 1) / 2))
	to=$(((1 << (2 * l)) - 1))
	ends 0 run qsnet2-4096 $match to=$to bytes=8 rounds=2 --json
	holds "(.results.network_ns - 540 - 74 * $l + 13) | fabs < 1e-9"
	ends 0 run qsnet2-4096 $match to=$to bytes=8 rounds=2 --json \
		--set topology.switch=30ns
	holds "(.results.network_ns - 540 - 74 * $l + 13 - 9 * $switches) |
		fabs < 1e-9"
done
report "QSN-N65: 540 ns in both cards, wherever they are"

put() { # of 8 B, in ps
	ends 0 run qsnet2-16 pingpong via=nic by=sten bytes=8 rounds=200 \
		warm=1 --set nic.platform=$1 --json
	jq '.results.one_way_ns * 1000 | round' "$tmp/out"
}

# 300 ns of the match, a status of 32 B for a word of 8, a packet without its 8;
# and the calls.
for host in opteron:130000 xeon:250000 itanium2:820000; do
	calls=${host#*:} host=${host%:*}
	put=$(put $host)
	ends 0 run qsnet2-16 $match bytes=0 rounds=200 --json \
		--set nic.platform=$host
	holds "(.results.one_way_ns * 1000 - $put - 309000 - $calls) | fabs <
		12000"
done
report "QSN-F84, QSN-F89: MPI's latency by CPU, beside a match of 309 ns"

ends 0 run qsnet2-16 $match bytes=8 rounds=20 --json
base=$(jq '.results.network_ns' "$tmp/out")
for front in 1 7 100; do
	ends 0 run qsnet2-16 $match bytes=8 rounds=20 posted=$front --json
	holds "(.results.network_ns - $base - 20 * $front) | fabs < 1e-9"
done
# 64 B each: more than the cache of 32 KB
ends 0 run qsnet2-16 $match bytes=8 rounds=3 posted=1000 --json
holds ".results.network_ns - $base > 20 * 1000 + 60 * 1000"
report "QSN-G17: each receive in front takes 20 ns, and more beyond the cache"

# Both nodes wait at once: a round takes the pause, the search and the copy.
for pause in 20 50; do
	ends 0 run qsnet2-16 $match bytes=8 rounds=20 early=${pause}us --json
	holds ".results.one_way_ns * 2 - 1000 * $pause | . > 900 and . < 1700"
	holds '.card.early >= 40'
done
report "an early message ends a search and a copy after its receive"

early() { # budget and figures, by a way
	ends 0 run qsnet2-16 $match bytes=8 rounds=20 early=20us --json \
		--budget --set nic.match.by=$1
}

# One of the two is early in each round.
early card
holds '.budget.causes | (.receiver.ns > 5000) and (.retry.ns == 0)'
early reject
holds '.budget.causes | (.receiver.ns < 200) and (.retry.ns > 5000)'
holds '.card.early > 10 and .card.moved == 0'
early interrupt
holds '.card.early > 10 and .card.moved == .card.early'
ends 2 run qsnet2-16 $match bytes=8 --set nic.match.by=nobody
report "QSN-F62: what waits is its receiver, or a rejected try"

# Long ones are DMAs that receivers begin.
ends 0 run qsnet2-16 stream by=match bytes=100000 rounds=10 both=yes --json
ends 0 run qsnet2-16 stream by=match bytes=100000 rounds=10 both=yes --json \
	--threads 3
ends 0 run qsnet2-16 $match bytes=3000 rounds=10 posted=3 early=3us --budget
report "messages of all lengths"

# Lost packets come again, and messages still match in their order: each one's
# bytes are checked.
for bytes in 8 1504 5000; do
	for threads in 1 3; do
		ends 0 run qsnet2-16 stream by=match both=yes procs=2 \
			bytes=$bytes rounds=100 --json --threads $threads \
			--set faults.bit-errors=1e-5 --set nic.match.slots=8
		holds '.card.matched == 400'
		digests="${digests-}$(jq -r .digest "$tmp/out") "
	done
	set -- $digests
	[ "$1" = "$2" ] || complain "digests $digests"
	digests=
done
report "messages match in order where bits flip"

# --- what reports say of it ---

ends 0 run qsnet2-16 gets rounds=3000 batch=8 bytes=64 to=1 --json \
	--set nic.mmu.sizes=4KiB,8KiB
holds '.card | .tlb_hits > 0 and .tlb_fills > 1000 and .tlb_links > 100 and
	.page_faults == 0 and .cache_hits > 1000 and .cache_misses > 10'
ends 0 run qsnet2-16 storm count=500 match=yes drop=20 bytes=1KiB --json
holds '.card | .page_faults > 50 and .matched > 100 and .elements > .matched'
ends 0 run qsnet2-16 storm count=2000 match=yes bytes=1KiB lanes=4 --json \
	--set nic.match.slots=4
holds '.card | .early > 10 and .moved > 0 and .moved < .early'
report "cards count pages, lines, messages and elements"

# Pages that the input and the thread look for, the slot, and the elements.
where() { # KEYS AND SETTINGS
	ends 0 run qsnet2-16 pingpong via=nic by=match bytes=8 rounds=1 \
		--budget --follow 0 --json "$@"
}
where posted=3
holds '[.follow.steps[].where] | index("node 1, input, page hit") and
	index("node 1, match, slot 0") and
	index("node 1, match, page miss") and
	index("node 1, copy, elements 4")'
holds '[.follow.steps[] | select(.cause == "translation") |
	.until_ps - .from_ps] == [120000]'
where --set nic.mmu.demand=yes
holds '[.follow.steps[] | select(.cause == "translation") |
	[.where, .until_ps - .from_ps > 15000000]] ==
	[["node 1, match, page fault", true]]'
holds '[.follow.steps[] | select(.cause == "engine") |
	.until_ps - .from_ps] | add < 1000000'
report "a matched message's way names hits, misses, faults, slot and elements"

ends 2 run qsnet2-16 pingpong via=nic by=sten posted=1
grep -q 'posted: has no effect' "$tmp/err" || complain "$(cat "$tmp/err")"
ends 2 run qsnet2-16 pingpong via=nic by=dma early=1us
grep -q 'early: has no effect' "$tmp/err" || complain "$(cat "$tmp/err")"
ends 2 run qsnet2-16 $match posted=4097
report "keys of messages that are matched"

# Messages of weft/msg.h: by the card unless the machine says otherwise.
for by in card host; do
	ends 0 run qsnet2-16 pingpong via=msg bytes=8 rounds=20 --json \
		--set nic.match.by=$by
	cp "$tmp/out" "$tmp/$by"
done
jq -e '.card.matched >= 40' "$tmp/card" >/dev/null || complain "not matched"
jq -e '.card.matched == 0' "$tmp/host" >/dev/null || complain "matched"
report "messages are matched by the card, or by the host"

cat >"$tmp/crossed" <<'END'
num_ranks 2
rank 0 {
l1: recv 8b from 1 tag 5
l2: send 8b to 1 tag 6
l2 requires l1
}
rank 1 {
l1: recv 8b from 0 tag 6
l2: send 8b to 0 tag 5
l2 requires l1
}
END
for by in card host; do
	ends 3 run qsnet2-16 replay "file=$tmp/crossed" --set nic.match.by=$by
	grep -q 'rank 0 receives 8 B from rank 1 with tag 5' "$tmp/out" ||
		complain "$by: $(cat "$tmp/out")"
done
report "a run in which all wait says who waits for which tag"

exit $status
