#!/bin/sh
#
# What users bring as traffic: loads as rates, matrices, incast, bursts.
set -u
. "$(dirname "$0")/tap.sh"

refused() { # TEXT ARGUMENTS
	text=$1
	shift
	run "$@"
	[ $code -eq 2 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || complain "said: $(cat "$tmp/err")"
	grep -qF -- "$text" "$tmp/err" || complain "said: $(cat "$tmp/err")"
	report "refused: weft $*"
}

value() { # KEY: of the JSON in $tmp/out
	sed -n "s/^ *\"$1\": *\"*\([^\",]*\)\"*,*$/\1/p" "$tmp/out" | head -1
}

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
refused 'another unit' sweep torus random load=0.5,1GB/s

run sweep fattree random load=50..100MB/s:50 warmup=5us measure=10us \
	--shape 27 --quiet --svg "$tmp/x.svg"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
[ "$(grep -c 'MB/s' "$tmp/out")" -eq 2 ] || complain "$(cat "$tmp/out")"
grep -q 'load, GB/s per node' "$tmp/x.svg" || complain 'no unit in the picture'
report 'a sweep goes along a rate'

exit $status
