#!/bin/sh
#
# Sunway's machines as a user sees them.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

run show sunway
grep -q 'payload 0 to 2048 B in chunks of 64 B' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
grep -q 'words *16 B' "$tmp/out" || complain 'no words of 16 B'
report 'SUN-F19: credits count chunks of 64 B, four words of 16 B'

for threads in 1 2 3; do
	run run sunway-32 storm count=2000 --threads $threads \
		--set 'faults.events=20 us rail 0 dies'
	grep -q '^failed messages 0$' "$tmp/out" || complain "$(cat "$tmp/err")"
	grep '^digest' "$tmp/out"
done | sort -u >"$tmp/digests"
[ "$(wc -l <"$tmp/digests")" = 1 ] || complain "$(cat "$tmp/digests")"
report 'SUN-F93: a rail dies, and no message fails, on any number of threads'

# --- software ---

grep -o 'weft_sw_[a-z_]*(' "$src/include/weft/swverbs.h" | sort -u \
	>"$tmp/calls"
while read -r call; do
	grep -qF "$call" "$src"/src/testing/sw*.c ||
		complain "no test calls $call)"
done <"$tmp/calls"
[ "$(wc -l <"$tmp/calls")" -gt 30 ] || complain "$(cat "$tmp/calls")"
report 'SUN-F72: more than 30 functions, each of which a test calls'

apart() { # FOLDER OTHER: no file of a folder uses another's
	grep -l "^#include \"$2/" "$src/src/$1"/*.[ch] >"$tmp/found" &&
		complain "src/$1 uses $2: $(cat "$tmp/found")"
}
apart nic/swhni api
apart api/sw api/swnet
apart api/swnet api/sw
run run sunway-32 pingpong via=msg bytes=64 rounds=5
[ $code = 0 ] || complain "$(cat "$tmp/err")"
report 'SUN-F71: a library on a driver, management beside it, messages above'

streamed() { # SETTINGS
	ends 0 run sunway-32 stream by=write port=0 from=0 to=31 places=1 \
		bytes=1MiB rounds=4 --threads 1 --json "$@"
}
streamed
segment=$(jq .results.total_MBps "$tmp/out")
streamed --set nic.software.page=4KiB
holds ".results.total_MBps > $segment * 0.99"
streamed --set nic.software.page=4KiB --set nic.tlb.entries=0
holds ".results.total_MBps < $segment * 0.5"
refuses 'pages of 5120 bytes; want a power of two' run sunway-32 stream \
	--set nic.software.page=5KiB
report 'SUN-F45: translations are read ahead, so pages cost a stream nothing'

# A packet is hit if a burst begins in its 17,292 bits; then it and what follows
# it leave again after the packet's time and a round trip of the wire.
law() { # RATE ROUND_TRIP_NS : MB/s
	awk "BEGIN { time = 153.707; hit = 1 - exp(-$1 * 17292)
		print 2048000 / (time + hit / (1 - hit) * (time + $2)) }"
}
for rate in 1e-6 4e-6 1e-5; do
	for way in 'up 130' 'down 250'; do
		left=$(law $rate "${way#* }")
		streamed --set "faults.bursts=node ${way% *} $rate 200"
		holds ".results.total_MBps / $left | . > 0.98 and . < 1.02"
	done
done
report 'under bursts a stream has the rate that go-back-N leaves'

sed -n 's/^.*`weft \(run [^`]*\)`.*/\1/p' "$src/doc/sunway.md" >"$tmp/commands"
[ "$(wc -l <"$tmp/commands")" -ge 4 ] || complain 'no commands'
while read -r command; do
	run $(echo "$command" | sed 's/run sunway manage/run sunway-32 manage/')
	[ $code -eq 0 ] || complain "weft $command: $(cat "$tmp/err")"
done <"$tmp/commands"
report 'doc/sunway.md: its commands run'

run run sunway-32 manage --set 'nic.out=0 ns'
grep -q '^proved *1$' "$tmp/out" || complain "$(cat "$tmp/err")"
report 'an interface in which packets take no time manages its machine'

for what in 'storm count=60' 'collective by=hardware op=allreduce'; do
	run run sunway-32 $what --set topology.cable.length=10000
	[ $code -eq 4 ] || complain "$what: exit code $code"
	grep -q 'since the network did not answer in time' "$tmp/err" ||
		complain "$(cat "$tmp/err")"
done
report 'a network that answers too late is a limit'

run run sunway-32 storm count=60 --set 'side.rate=1 MB/s' --until 20ms
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
report 'a read whose bytes wait for memory is not asked for again'

run run sunway-32 storm count=20 --until 3s --set nic.retry.limit=0 \
	--set 'faults.events=20 us switch 0:1.0 dies' --json
jq -e '.results.waiting_programs == 0 and .results.solved_pct == 0' \
	"$tmp/out" >/dev/null || complain "exit code $code: $(cat "$tmp/err")"
report 'a storm in which every other read fails ends, and no error is solved'

run run sunway-32 storm count=512 --json --set \
	'faults.events=5 us switch 0:1.0 dies; 5 us switch 1:1.0 dies'
jq -e '.ending == "finished" and .results.failed_messages > 10 and
	.results.longest_gap_us < 10000 and .sim_time_ns < 2e8' \
	"$tmp/out" >/dev/null || complain "exit code $code: $(cat "$tmp/err")"
report 'nodes that are cut off cost a message milliseconds only once'

for op in broadcast reduce allreduce; do
	run run sunway-32 collective op=$op by=hardware bytes=0
	[ $code -eq 2 ] || complain "$op of no bytes: exit code $code"
done
report 'no collective of no bytes'

run run sunway-32 manage rounds=2 --set nic.messages=1
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
report 'nodes with one message in flight read from each other'

exit $status
