#!/bin/sh
#
# What the network carries: shares of the peak, in short runs on small tori
# (BGQ-N34 to BGQ-N36 scaled down; datasheet M7).
set -u
. "$(dirname "$0")/tap.sh"

# A tenth of the way to a steady state is enough to see that all is well.
slow=${WEFT_SLOW:+yes}
lasting() { # WARMUP MEASURE, in us
	if [ "$slow" ]; then
		echo "warmup=$(($1 / 3))us measure=$(($2 / 3))us"
	else
		echo "warmup=${1}us measure=${2}us"
	fi
}

ends() { # CODE ENDING ARGUMENTS
	want=$1
	ending=$2
	shift 2
	run run "$@" --json
	[ $code -eq "$want" ] ||
		complain "exit code $code, want $want: $(cat "$tmp/err")"
	grep -q "\"ending\": \"$ending\"" "$tmp/out" ||
		complain "not $ending: $(grep '"ending"' "$tmp/out")"
}

figure() { # KEY
	sed -n "s/.*\"$1\": \([-0-9.e+]*\),*\$/\1/p" "$tmp/out"
}

holds() { # AWK-TEST, of the variables x and y
	awk -v x="${x:-nan}" -v y="${y:-0}" "BEGIN { exit !($1) }" ||
		complain "$1 does not hold: x is ${x:-nothing}, y is ${y:-0}"
}

y=0
ends 0 finished bgq random load=max --shape 4x4x4x4x2 $(lasting 30 30)
x=$(figure fraction_of_peak)
holds 'x >= 0.95 && x < 1'
report "a midplane carries 95 % of its peak"

ends 0 finished bgq random load=max --shape 4x4x4x4x2 zones=none \
	$(lasting 30 30)
x=$(figure fraction_of_peak)
holds 'x >= 0.95 && x < 1'
report "without zones, too"

# Slow builds leave the larger tori to the others.
if [ -z "$slow" ]; then
	ends 0 finished bgq random load=max --shape 8x8x8x4 $(lasting 45 30)
	x=$(figure fraction_of_peak)
	holds 'x >= 0.96 && x < 1'
	report "8x8x8x4 with zones carries 96 %"

	ends 0 finished bgq random load=max --shape 8x4x4x4 $(lasting 60 30)
	y=$(figure fraction_of_peak)
	ends 0 finished bgq random load=max --shape 8x4x4x4 zones=none \
		warmup=150us measure=30us
	x=$(figure fraction_of_peak)
	holds 'y - x >= 0.2 && x > 0.3 && y < 1'
	report "8x4x4x4 loses 20 points without zones"
fi

y=0
ends 0 finished bgq random load=0.3 --shape 4x4x4x4x2 $(lasting 15 105)
x=$(figure fraction_of_peak)
if [ "$slow" ]; then
	holds 'x > 0.294 && x < 0.306'
else
	holds 'x > 0.297 && x < 0.303'
fi
report "what is offered below saturation is carried"

ends 4 saturated bgq random load=1.2 --shape 4x4x4 $(lasting 15 30)
x=$(figure fraction_of_peak)
holds 'x > 0.8 && x < 1'
report "more than the peak is too much"

# 41.4 ns of wire and 72 bytes at 2 GB/s.
ends 0 finished bgq pingpong --shape 4x4x4x4x2 bytes=8 rounds=10
x=$(figure one_way_ns)
holds 'x > 77.9999 && x < 78.0001'
report "a packet to the next node takes 78 ns"

# Two-way streams on all links: 512 bytes every 288 ns on each of eight.
ends 0 finished bgq neighbours load=max --shape 4x4x4x4 \
	warmup=12us measure=12us
x=$(figure throughput_GBps_per_node)
holds 'x > 14.1 && x < 14.3'
report "eight links carry 512 bytes every 288 ns each"

exit $status
