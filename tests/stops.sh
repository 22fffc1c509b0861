#!/bin/sh
#
# Repairs that stop injection, by a routing that does not promise to be steady
# (NET-F34): examples/plugin/spanning.c.
set -u
. "$(dirname "$0")/tap.sh"
cc=${CC:-cc}
command -v "${cc%% *}" >/dev/null || exit 77
cp "$src/examples/plugin/spanning.c" "$tmp"
cd "$tmp" || exit 1

build() { # NAME: NAME.so of NAME.c
	$cc -std=c11 -O0 ${CFLAGS-} -I"$src/include" -shared -fPIC "$1.c" \
		-o "$1.so" >log 2>&1 || complain "$1: $(head -n 5 log)"
}
build spanning

# A ring of five, whose tree turns by a link when that fails: packets on both
# trees go all the way round.
for switch in ab bc cd de ea; do
	echo "${switch%?},${switch#?}"
	echo "node,${switch%?},4"
done >ring.csv
cat >plan.yaml <<-'END'
	schema: 1
	faults: { events: [ 10 us link a to b dies ] }
END
five='graph --set topology.edges=ring.csv --set routing.kind=spanning'
ring="$five --faults plan.yaml"
busy="random bytes=2KiB warmup=30us measure=120us --set router.packets=2"
run check $ring --plugin ./spanning.so
[ $code -eq 0 ] && grep -q 'first from 110 us to 130 us' "$tmp/out" &&
	grep -q 'switch e by to a to switch a, channel tree' "$tmp/out" ||
	complain "$(cat "$tmp/out" "$tmp/err")"
run run $ring --plugin ./spanning.so $busy
[ $code -eq 0 ] && grep -q 'because old and new paths together' "$tmp/out" &&
	grep -q 'for repair 1 from 110 us to 130 us (20 us)' "$tmp/out" &&
	grep -q '^drained  *dropped 0 packets' "$tmp/out" ||
	complain "$(cat "$tmp/out" "$tmp/err")"
# Without its link from c to d the tree is the same.
sed 's/a to b/c to d/' plan.yaml >same.yaml
run run $five --faults same.yaml --plugin ./spanning.so $busy
[ $code -eq 0 ] && grep -q 'paths changed 1 time.* without stopping' \
	"$tmp/out" || complain "same tree: $(cat "$tmp/out" "$tmp/err")"
# It knows its tree sooner; it claims that nothing need stop.
sed 's/known = 100000000/known = 2000000/' spanning.c >soon.c
sed 's/has = "orders"/has = "orders steady"/' soon.c >steady.c
sed 's/drain = 20000000/drain = 100000/' soon.c >brief.c
build steady
build brief
run check $ring --plugin ./steady.so
[ $code -eq 1 ] && grep -q 'a cycle of 5 channels' "$tmp/out" ||
	complain "steady: $(cat "$tmp/out" "$tmp/err")"
run run $ring --plugin ./steady.so $busy
[ $code -eq 3 ] && grep -q 'deadlocked' "$tmp/out" ||
	complain "steady: $code: $(cat "$tmp/out" "$tmp/err")"
report 'injection stops where old and new paths together could deadlock'

for threads in 1 2 3; do
	run run $ring --plugin ./brief.so $busy --json --threads $threads
	[ $code -eq 0 ] || complain "$threads threads: $(cat "$tmp/err")"
	jq -r '"\(.digest) \(.faults.dropped_packets > 9)
		\(.faults.stops[0].stopped_us)"' "$tmp/out" | tr -s '\n\t ' ' '
	echo
done | sort -u >"$tmp/all"
[ "$(cut -d ' ' -f 2- "$tmp/all")" = 'true 0.1 ' ] ||
	complain "a brief stop: $(cat "$tmp/all")"
# All that waits for the dead link goes with the old paths.
for until in 12.1us 1ms; do
	run run $ring --plugin ./brief.so $busy --json --until $until
	jq .faults.lost_packets "$tmp/out"
done | paste - - >"$tmp/all"
awk '!($1 > 0 && $1 == $2) { exit 1 }' "$tmp/all" ||
	complain "lost after the stop, too: $(cat "$tmp/all")"
run run $ring --plugin ./brief.so alltoall via=msg bytes=16KiB
[ $code -eq 0 ] && grep -q 'for repair 1 from 12 us' "$tmp/out" ||
	complain "messages: $(cat "$tmp/out" "$tmp/err")"
report 'packets that do not leave in time are dropped, and messages repeat them'

run run $ring --plugin ./brief.so random --set router.kind=direct
[ $code -eq 2 ] && grep -q 'cannot stop injection and drain' "$tmp/err" &&
	[ "$(wc -l <"$tmp/err")" = 1 ] || complain "direct: $(cat "$tmp/err")"
report 'a network that cannot drain is refused before it runs'

exit $status
