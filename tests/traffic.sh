#!/bin/sh
#
# What users bring as traffic: loads as rates, matrices, incast, bursts; and
# what becomes of it where parts fail.
set -u
. "$(dirname "$0")/tap.sh"

near() { # WHAT WANTED FOUND PERCENT
	awk -v a="$2" -v b="$3" -v p="$4" 'BEGIN {
		d = a - b; if (d < 0) d = -d; exit !(d <= a * p / 100) }' ||
		complain "$1: want $2, found $3"
}

small='warmup=5us measure=20us --shape'

# --- loads as rates ---

for machine in 'torus 3x3x3' 'fattree 27' 'gemini 2x2x2'; do
	run run ${machine% *} random load=100MB/s bytes=64 $small \
		${machine#* } --json
	near offered 0.1 "$(value offered_GBps_per_node)" 0
	near throughput 0.1 "$(value throughput_GBps_per_node)" 10
	report "${machine% *}: a rate is offered and arrives"
done

run run torus random load=0.8Gb/s $small 3x3x3
grep -q '^digest' "$tmp/out" && grep '^digest' "$tmp/out" >"$tmp/bits"
run run torus random load=100MB/s $small 3x3x3
grep '^digest' "$tmp/out" | cmp -s - "$tmp/bits" || complain 'they differ'
report 'bits and bytes per second are the same load'

refused 'load: more than 4 times what all links' run torus random load=9999GB/s
refused 'is not a fraction or rate' run torus random load=5GBs
refused 'a different unit' sweep torus random load=0.5,1GB/s

run sweep fattree random load=50..100MB/s:50 warmup=5us measure=10us \
	--shape 27 --quiet --plot "$tmp/x.svg"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
[ "$(grep -c '^fattree .*MB/s' "$tmp/out")" -eq 2 ] ||
	complain "$(cat "$tmp/out")"
grep -q 'load, GB/s per node' "$tmp/x.svg" || complain 'no unit in the picture'
report 'a sweep goes along a rate'

run run fattree random load=8Gb/s $small 27
grep -q '^throughput .* Gb/s per node of 8 offered: .* Gb/s$' "$tmp/out" ||
	complain "$(sed -n 2p "$tmp/out")"
report 'a load in bits per second is answered in bits per second'

run sweep torus,torus random load=0.1,0.1 warmup=1us measure=1us --shape 4x4
[ "$(grep -c '^torus' "$tmp/out")" -eq 1 ] || complain "$(cat "$tmp/out")"
report 'a value that is given twice is run once'
run sweep torus random load=0.1 message=1KiB..2KiB:x2 warmup=1us measure=9us \
	--shape 4x4
[ "$(grep -c 'message=[12]KiB' "$tmp/out")" -eq 2 ] ||
	complain "$(cat "$tmp/out" "$tmp/err")"
report 'both ends of a range may have a unit'
run sweep torus collective op=allreduce bytes=64 algo=ring,tree,hierarchical \
	unit=4 --shape 4x4
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
report 'a unit stands in a sweep over algorithms of which some have none'
run sweep torus random load=0.1,0.9 warmup=1us measure=5us --shape 4x4 \
	--past-saturation -o "$tmp/ends.db"
[ "$("$weft" sql "$tmp/ends.db" 'select group_concat(outcome) from point' |
	tail -n 1)" = 'finished,saturated' ] ||
	complain "$("$weft" sql "$tmp/ends.db" 'select * from point')"
report 'the file of a sweep says in words how points ended'
refused 'algo: no algorithm is called "foo"' run torus collective algo=foo
refused '/no1: No such file or directory; /no2: No' compare /no1 /no2
echo 'schema: 1' >"$tmp/x.yaml"
refused 'x.yaml is not a shared object' run torus random --plugin "$tmp/x.yaml"
: >"$tmp/empty.so"
refused 'is not a shared object' run torus random --plugin "$tmp/empty.so"

# --- the layout of texts ---

"$weft" help run >"$tmp/out"
sed -n '/^Workloads/,/^$/p' "$tmp/out" | sed '1d;$d' | grep -v '^  ' &&
	complain 'a line of the list begins in the first column'
grep -E '^.{81}' "$tmp/out" && complain 'a line is longer than 80 columns'
report 'each workload has one line of the help'
for what in 'torus random warmup=1us measure=1us --shape 4x4' \
	'gemini random warmup=1us measure=1us --shape 2x2x2' \
	'dragonfly random warmup=1us measure=1us --shape 32'; do
	run run $what
	grep ' $' "$tmp/out" && complain 'a line ends in blanks'
	# a label has at most 11 characters
	sed 1d "$tmp/out" | cut -c 12 | grep -v ' ' &&
		complain "a label is too long: $(cat "$tmp/out")"
	report "labels and lines keep to their columns: $what"
done
run run torus random warmup=1us measure=1us --shape 4x4
grep -q '^hottest .* A[-+] to node ' "$tmp/out" ||
	grep -q '^hottest .* B[-+] to node ' "$tmp/out" ||
	complain "$(grep hottest "$tmp/out")"
report 'the hottest links name both of their ends'

# --- matrices ---

matrix=$tmp/matrix.csv
printf 'source,destination,rate\n0,1,200MB/s\n5,3,100MB/s # few\n' >"$matrix"
for machine in torus fattree dragonfly; do
	run run $machine matrix file="$matrix" bytes=256 warmup=5us \
		measure=400us --json --links "$tmp/links.csv" -o "$tmp/run.db"
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	nodes=$(value nodes)
	near offered "$(awk "BEGIN { print 0.3 / $nodes }")" \
		"$(value offered_GBps_per_node)" 1
	near throughput "$(awk "BEGIN { print 0.3 / $nodes }")" \
		"$(value throughput_GBps_per_node)" 15
	[ -s "$tmp/links.csv" ] || complain 'no links'
	report "$machine: rates of a matrix arrive"
done
run rerun "$tmp/run.db"
[ $code -eq 0 ] || complain "$(cat "$tmp/out" "$tmp/err")"
report 'a run with a matrix can be repeated'

printf '0,1,1\n0,2,3\n1,0,4\n' >"$matrix"
run run torus matrix file="$matrix" $small 3x3 --links "$tmp/links.csv"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
awk -F, 'NR > 1 && $0 !~ /,0,0,0/ { print $1 }' "$tmp/links.csv" |
	grep -q '^[3-8]$' && complain 'a link of another node was used'
bytes() { # PORT: bytes that node 0 sent by it
	sed -n "s/^0,$1,.*,dynamic,\([0-9]*\),.*/\1/p" "$tmp/links.csv"
}
near 'three times as much' "$((3 * $(bytes 0)))" "$(bytes 1)" 15
report 'only those send that have weights'

printf '0,1,1\n0,9,3\n' >"$matrix"
refused 'matrix.csv:2: there is no node 9' \
	run torus matrix file="$matrix" --shape 3x3
refused 'want a traffic matrix' run torus matrix
refused 'cannot read' run torus matrix file="$tmp/none.csv"

# --- incast ---

run run fattree incast message=2KiB fan=5 period=20us hot=3 --shape 27 \
	warmup=20us measure=400us --json
near incasts 20 "$(value incasts)" 5
[ "$(value incast_mean_ns | cut -d. -f1)" -gt 1000 ] ||
	complain "faster than the link: $(value incast_mean_ns)"
near offered "$(awk 'BEGIN { print 5 * 2048 / 20e3 / 27 }')" \
	"$(value throughput_GBps_per_node)" 1
report 'an incast comes once in a period'
refused 'fan: only 8' run torus incast fan=9 --shape 3x3
refused 'hot: node 9 is out of range' run torus incast hot=9 --shape 3x3
refused 'period: too short' run torus incast period=1ns --shape 3x3

# --- messages and bursts ---

for machine in 'bgq 2x2x2' 'qsnet2 16' 'gemini 2x2x2' 'torus 3x3' \
	'dragonfly 64'; do
	run run ${machine% *} random message=1000 bytes=64 load=0.2 $small \
		${machine#* } --json
	few=$(value message_mean_ns)
	[ -n "$few" ] || complain "no messages: $(cat "$tmp/err")"
	awk "BEGIN { exit !($few > $(value mean)) }" ||
		complain 'a message is faster than its packets'
	run run ${machine% *} random burst=8 bytes=64 load=0.2 $small \
		${machine#* } --json
	burst=$(value mean)
	run run ${machine% *} random bytes=64 load=0.2 $small ${machine#* } \
		--json
	awk "BEGIN { exit !($burst > $(value mean)) }" ||
		complain 'bursts do not wait'
	report "${machine% *}: messages of many packets, and bursts"
done
refused 'burst: has no effect with load=max' run torus random burst=2
refused 'carry no message' run torus random bytes=0 message=5

# --- saturated or not ---

# The hot node's link carries 4.1 of 5.6: the switches' buffers hid that.  Half
# of a torus is enough, and where nodes of a permutation stay silent, too.
for seed in 1 2 3; do
	run run fattree hotspot load=0.5 $small 64 --seed $seed --json
	[ "$(value ending)" = saturated ] || complain "seed $seed: $(value \
		ending) at $(value throughput_GBps_per_node) GB/s"
	[ $code -eq 4 ] || complain "exit code $code"
	for pattern in random permutation; do
		run run torus $pattern load=0.5 $small 4x4x4 --seed $seed --json
		[ "$(value ending)" = finished ] ||
			complain "$pattern, seed $seed: $(value ending)"
	done
	# the network still fills up, but carries all
	run run torus random load=0.5 warmup=0s measure=5us --shape 4x4x4 \
		--seed $seed --json
	[ "$(value ending)" = finished ] || complain "filling: $(value ending)"
done
report 'saturated is what gets less than it makes, whatever the seed'

# A message takes 94 us, and there is one in a millisecond.
for seed in 1 2 3; do
	run run torus random load=0.1 message=1MiB warmup=0s measure=100us \
		--shape 4x4x4 --seed $seed
	[ $code -eq 0 ] || complain "seed $seed: exit code $code"
	grep -q '^warning  *measure is too short: one message takes 94\.'\
'.* us; set measure=944us or more$' "$tmp/out" ||
		complain "$(cat "$tmp/out")"
done
for key in measure=944us measure=auto; do
	run run torus random load=0.1 message=1MiB $key --shape 2x2 --json
	tr -d '\n ' <"$tmp/out" | grep -q '"warnings":\[\]' ||
		complain "$key: too short"
done
report 'a time too short for messages is not judged, and named'

# Loads and error rates are written alike.
run run torus random load=1e-2 measure=2e1us warmup=0us --shape 4x4 --json \
	--set faults.bit-errors=1E-9
[ "$(jq -r .params.load "$tmp/out")" = '1 %' ] ||
	complain "$(jq -c .params "$tmp/out") $(cat "$tmp/err")"
refused 'load: "1e-9" is not a fraction or rate (finer than a millionth' \
	run torus random load=1e-9 --shape 4x4
report 'loads may have powers of ten'

# No message begins within 5 us.
idle='random load=0.01 message=1MiB warmup=0us measure=5us --shape 4x4'
run run torus $idle
[ $code -eq 0 ] && grep -q '^warning  *nothing was delivered within 5 us$' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
run run torus $idle --json
[ "$(jq -c '[.ending, (.warnings | length)]' "$tmp/out")" = \
	'["finished",2]' ] || complain "$(jq -c .warnings "$tmp/out")"
report 'a run in which nothing was delivered says so'

# --- faults ---

plan() { # LINE...: of a plan, in $tmp/plan.yaml
	printf 'schema: 1\ntitle: "bad"\nfaults:\n'
	printf '  %s\n' "$@"
}

brief='warmup=2us measure=8us bytes=64 load=0.3'
plan 'events:' '  - 4 us node 3 dies' >"$tmp/dead.yaml"
plan 'bit-errors:' '  - 3e-6' >"$tmp/bits.yaml"
for machine in 'bgq 4x2x2' 'qsnet2 16' 'gemini 2x2x2' 'torus 3x3x3' \
	'fattree 27' 'dragonfly 64'; do
	name=${machine% *}
	loses=
	[ $name != bgq ] || loses='--set link.retry=none'
	run run $name random $brief --shape ${machine#* } --json \
		--faults "$tmp/dead.yaml" $loses
	[ $code -eq 0 ] || [ $code -eq 4 ] ||
		complain "exit code $code: $(cat "$tmp/err")"
	[ "$(value packets_lost)" != 0 ] || complain 'nothing was lost'
	[ "$(value packets_lost)" = "$(value lost_packets)" ] ||
		complain 'traffic and links disagree'
	digest=$(value digest)
	run run $name random $brief --shape ${machine#* } --json --threads 2 \
		--faults "$tmp/dead.yaml" $loses
	[ "$(value digest)" = "$digest" ] || complain 'threads change it'
	report "$name: what a dead node does not get is counted"
	run run $name hotspot $brief message=400 --shape ${machine#* } --json \
		--faults "$tmp/bits.yaml" --set link.retry=none
	[ "$(value packets_damaged)" -gt 0 ] || complain 'nothing was damaged'
	[ "$(value resent_packets)" = '' ] || complain 'somebody resent it'
	report "$name: what is damaged is counted"
	run run $name hotspot $brief --shape ${machine#* } --json \
		--faults "$tmp/bits.yaml" --set link.retry=replay
	[ "$(value packets_damaged)" = 0 ] || complain 'something was damaged'
	[ "$(value resent_packets)" != 0 ] || complain 'nothing was resent'
	report "$name: links that replay bring everything through"
done

# A death after the end is not survived.
plan 'events:' '  - 400 us node 3 dies' '  - 500 us node 3 returns' \
	'  - 450 us node 4 dies' >"$tmp/late.yaml"
late='2 planned faults had no effect, since the run ended at'
for command in 'run torus random load=0.1 warmup=1us measure=5us' \
	'run torus storm count=20' \
	'sweep torus random load=0.1,0.2 warmup=1us measure=5us'; do
	run $command --shape 4x4 --faults "$tmp/late.yaml"
	grep -q "^warning.* $late [0-9.]* us; the first: 400 us node 3 dies" \
		"$tmp/out" || complain "weft $command: $(cat "$tmp/out")"
done
run run torus random load=0.1 warmup=1us measure=500us --shape 2x2 \
	--set 'faults.events=400 us link 3 A+ dies|1 ms link 3 A+ returns'
grep '^warning' "$tmp/out" && complain "$(cat "$tmp/out")"
report 'faults after the end of the run are warned of'

# A run that ends before its buffers are full is not well for that.
run run fattree hotspot share=0.5 load=0.2 warmup=2us measure=5us --shape 64
grep -q '^warning .* [1-6][0-9] % of the offered.*switch 1.0 down 0' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
grep -q '^hottest  *switch 1.0 down 0 to node 0  *9[0-9]' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
run run fattree random load=0.2 warmup=2us measure=5us --shape 64
grep -q '^warning' "$tmp/out" && complain "$(cat "$tmp/out")"
report 'a hotspot says where it is hot, and that it takes less than is offered'

# Blue Gene/Q's interface resends nothing, so its links may not give up.
run run bgq random load=0.3 bytes=64 warmup=2us measure=400us --shape 4x2x2 \
	--faults "$tmp/dead.yaml"
[ $code -eq 3 ] || complain "exit code $code: $(cat "$tmp/err")"
grep -q 'is dead and never returns, and a packet from node' "$tmp/err" ||
	complain "said: $(cat "$tmp/err")"
grep -q ': stalled$' "$tmp/out" || complain "$(head -1 "$tmp/out")"
grep -q '^throughput' "$tmp/out" || complain 'nothing was measured until then'
report 'a link that never gives up and never returns stalls'

{
	printf 'schema: 1\nfaults:\n  events:\n'
	for link in '0 A+' '1 A+' '2 B+' '3 B+' '4 C+' '5 C+' '6 A-' '7 A-' \
		'8 B-' '9 B-'; do
		echo "    - 5 us link $link dies"
	done
} >"$tmp/many.yaml"
run run bgq random load=0.5 bytes=64 warmup=2us measure=400us --shape 4x2x2 \
	--faults "$tmp/many.yaml" --set link.retry=replay
n=$(sed -n 's/.*; links that hold packets: \([0-9]*\),.*/\1/p' "$tmp/err")
[ "$n" -gt 8 ] || complain "said: $(cat "$tmp/err")"
[ "$(grep -c ': holds a packet from node' "$tmp/out")" = 8 ] &&
	grep -q "^ *and $((n - 8)) more$" "$tmp/out" ||
	complain "$(grep -A 9 '^dead links' "$tmp/out")"
report 'of many links that hold packets, the first eight are named'

# What is lost waits nowhere.
cat >"$tmp/switch.yaml" <<-EOF
	schema: 1
	faults:
	  events:
	    - 0 us switch last dies
EOF
run run dragonfly random load=0.3 warmup=2us measure=3us --shape 64 \
	--faults "$tmp/switch.yaml"
grep -q '^packets lost [1-9]' "$tmp/out" &&
	! grep -q '^warning .*offered' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
run run fattree hotspot share=0.5 load=0.2 warmup=2us measure=5us --shape 64 \
	--faults "$tmp/switch.yaml"
grep -q '^warning .* offered load is delivered, [1-9][0-9]* % is lost to' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
report 'load that faults take is not called queued'

refused 'nothing retransmits those of alltoall' run torus alltoall --shape 3x3 \
	--faults "$tmp/dead.yaml"

exit $status
