#!/bin/sh
#
# Puts of real bytes, from a program on one node to a program on another: the
# command fails unless every byte is right and every counter ends at zero;
# at any alignment (BGQ-F93), also to the node itself (BGQ-F114).
# Needs $WEFT; with $WEFT_SLOW it tries fewer sizes and pairs of nodes.
set -u
export LC_ALL=C
weft=${WEFT:?}
export WEFT_MACHINES="${WEFT_MACHINES:-$(dirname "$0")/../machines}"

n=0
status=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

report() { # WHAT; ok if nothing was complained of since the last one
	n=$((n + 1))
	if [ -s "$tmp/complaints" ]; then
		echo "not ok $n - $1"
		sed -n '1,10s/^/# /p' "$tmp/complaints"
		status=1
	else
		echo "ok $n - $1"
	fi
	: >"$tmp/complaints"
}

complain() {
	echo "$*" >>"$tmp/complaints"
}

run() { # ARGUMENTS: into $tmp/out, or a complaint
	if ! "$weft" run "$@" --json >"$tmp/out" 2>"$tmp/err"; then
		complain "weft run $*: $(cat "$tmp/err")"
		return 1
	fi
}

value() { # KEY of the JSON in $tmp/out
	sed -n "/.*\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/{
		s//\1/p
		q
	}" "$tmp/out"
}

sizes='0 1 7 8 31 32 33 64 127 128 129 500 511 512 513 1000 1024 1025 4096
	10000 65536 1048576'
workers='1 2 3 7'
step=5
if [ -n "${WEFT_SLOW:-}" ]; then
	sizes='0 1 33 512 513 10000'
	workers='1 3'
	step=37
fi

# --- bytes ---

for bytes in $sizes; do
	for offsets in '0 0' '1 0' '0 1' '31 33' '4095 13'; do
		set -- $offsets
		run bgq-board stream rounds=1 bytes=$bytes from=0 to=21 \
			source-offset=$1 target-offset=$2 || continue
		[ "$(value ending)" = finished ] ||
			complain "$bytes bytes, $offsets: $(value ending)"
	done
	report "$bytes bytes arrive whole at any alignment"
done

run bgq-board stream rounds=1 bytes=1000 from=0 to=5 &&
	[ "$(value via)" = nic ] && [ "$(value packets)" = 2 ] ||
	complain "via $(value via), $(value packets) packets"
report 'a put of 1000 bytes is two packets through the message unit'

run bgq-board stream bytes=777 from=3 to=30 rounds=200 source-offset=5
run bgq-board stream bytes=8 from=3 to=30 rounds=3000
report 'many puts arrive, more than an injection FIFO holds'

run bgq stream rounds=1 bytes=3000 from=1 to=8 --shape 3x5
run bgq stream rounds=1 bytes=3000 from=0 to=0 --shape 1
run bgq stream rounds=1 bytes=3000 from=2 to=5 --shape 7 --set link.payload=192
report 'other shapes and packet sizes will do'

# --- the same, whatever the number of threads ---

same() { # ARGUMENTS
	for threads in $workers; do
		run "$@" --threads $threads || continue
		[ -n "$(value digest)" ] || complain 'no digest'
		echo "$(value digest) $(value one_way_ns) $(value sim_time_ns)"
	done | sort -u >"$tmp/same"
	[ "$(wc -l <"$tmp/same")" -eq 1 ] ||
		complain "$*: $(tr '\n' ';' <"$tmp/same")"
}

same bgq-board stream rounds=1 bytes=1000 from=0 to=31
same bgq-board stream rounds=1 bytes=100000 from=17 to=2 target-offset=3
same bgq-board stream bytes=513 from=9 to=9 rounds=50
same bgq-midplane stream bytes=20000 from=0 to=511 rounds=20
report "$workers threads do the same to the picosecond"

# --- pairs of a board's nodes, and how long they take ---

# With looks so dense that they cost no time, 8 bytes take 98 ns of software,
# 284 to inject, 36 on the wire, 180 to receive, 50 for the load that sees
# the counter, and 42 ns for each hop, 54 for one in E (node + 16).
check_times() { # reads the JSON of many runs; complains of each that is wrong
	awk -F '"' '
		$2 == "from" { from = $4 }
		$2 == "to" { to = $4 }
		$2 == "one_way_ns" {
			n++
			want = 648
			for (bit = 1; bit <= 16; bit *= 2)
				if (int(from / bit) % 2 != int(to / bit) % 2)
					want += bit == 16 ? 54 : 42
			split($3, part, /[: ,]+/)
			if (part[2] - want > 0.001 || want - part[2] > 0.001)
				print from, "to", to ":", part[2], "not", want
		}
		END {
			if (n != '"$pairs"')
				print n " times"
		}'
}

pairs=0
i=0
while [ $i -lt 1024 ]; do
	"$weft" run bgq-board stream rounds=1 bytes=8 \
		from=$((i / 32)) to=$((i % 32)) \
		--set nic.software.poll-period=1ps --json
	pairs=$((pairs + 1))
	i=$((i + step))
done >"$tmp/all" 2>>"$tmp/complaints"
check_times <"$tmp/all" >>"$tmp/complaints"
report "$pairs pairs of a board's nodes take what the stages sum up to"

# --- mistakes ---

refused() { # CODE TEXT ARGUMENTS
	want=$1 text=$2
	shift 2
	"$weft" run "$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
	[ $code -eq $want ] || complain "$*: exit code $code, not $want"
	[ ! -s "$tmp/out" ] || complain "$*: something on stdout"
	grep -q "$text" "$tmp/err" || complain "$*: $(cat "$tmp/err")"
}

refused 2 'to: the machine has nodes 0 to 31' bgq-board stream to=32
refused 2 'from: the machine has nodes 0 to 31' bgq-board stream from=99
refused 2 bytes bgq-board stream bytes=65MiB
refused 2 'places: 100000 messages' bgq-board stream bytes=1MiB rounds=100000
refused 2 'did you mean' bgq-board stream target-ofset=1
refused 2 mmio-load bgq-board stream --set nic.mmio-load=1ns
refused 2 '5 dimensions' bgq stream --shape 2x2x2x2x2x2
refused 2 'at most 64' bgq stream --shape 65
report 'mistakes are told in a line, with exit code 2'

exit $status
