#!/bin/sh
#
# Collectives of a schedule whose steps are not known before it runs: the
# fastest algorithm (auto), and sums in the network.
# COL-F10, COL-F11.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

goal=$tmp/x.goal

replay() { # MACHINE...
	ends 0 run "$@" replay file="$goal" --json
}

schedule() { # LINES
	printf '%s\n' "$@" >"$goal"
}

# --- auto ---

best='[.results.tried[] | select(.is).algorithm]'
{
	echo 'num_ranks 8'
	for i in 0 1 2 3 4 5 6 7; do
		echo "rank $i {"
		echo 'a: allreduce 64b algo auto'
		of="$((i & 4))..$((i | 3))"
		echo "b: allreduce 2000000b algo auto group $of"
		echo 'b requires a'
		echo '}'
	done
} >"$goal"
replay fattree --shape 8 --threads 1
one=$(jq -r .digest "$tmp/out")
long=$(jq '.results.time_ns' "$tmp/out")
shows 'the fastest algorithm is measured, for each kind of collective' \
	"$best | .[0] == \"doubling\" and (.[1] == \"ring\" or
		.[1] == \"halving\")" \
	'[.results.tried[] | select(.bytes == 64)] | length == 4' \
	'.results.tried | group_by(.bytes) | map(min_by(.time_ns).is) ==
		["chosen", "chosen"]' \
	'[.results.tried[] | select(.bytes == 2000000).members] | unique ==
		[4]' \
	'.results.exposed[0].algorithm == "auto"'
replay fattree --shape 8 --threads 2
[ "$(jq -r .digest "$tmp/out")" = "$one" ] || complain 'another digest'
best=$(jq -r '.results.tried[] | select(.bytes == 2000000 and .is).algorithm' \
	"$tmp/out")
sed "s/^a: .*/a: allreduce 64b algo doubling/;/^b: /s/auto/$best/" "$goal" \
	>"$tmp/named.goal"
mv "$tmp/named.goal" "$goal"
replay fattree --shape 8
holds ".results.time_ns / $long > 0.98 and .results.time_ns / $long < 1.02"
report 'it takes the time of that algorithm, on any number of threads'

for op in reducescatter allgather alltoall 'broadcast root=3' reduce; do
	ends 0 goal $op ranks=6 bytes=4800 algo=auto as=operations -o "$goal"
	replay fattree --shape 8
	holds '.results.operations == 6' \
		'[.results.tried[] | select(.is)] | length == 1'
	one=$(jq -r .digest "$tmp/out")
	ends 0 goal convert file="$goal" -o "$tmp/y.goal"
	mv "$tmp/y.goal" "$goal"
	replay fattree --shape 8
	[ "$(jq -r .digest "$tmp/out")" = "$one" ] ||
		complain "$op: converted, it is another schedule"
done
# groups of one kind that share ranks, and one of another kind
schedule 'num_ranks 6' 'rank 0..1 {' 'a: allreduce 64b algo auto group 0..3' \
	'c: allreduce 128b algo auto group 0..3' 'c requires a' '}' \
	'rank 2..3 {' 'a: allreduce 64b algo auto group 0..3' \
	'b: allreduce 64b algo auto group 2..5' 'b requires a' \
	'c: allreduce 128b algo auto group 0..3' 'c requires a' '}' \
	'rank 4..5 {' 'allreduce 64b algo auto group 2..5' '}'
replay fattree --shape 8
holds '.results.operations == 12' '.results.tried | length == 8'
ends 0 goal training tensor=2 pipeline=1 data=4 layers=2 hidden=64 \
	tokens=1024 algo=auto as=operations -o "$goal"
replay fattree --shape 8
report 'every operation can be left open'

# --- in the network ---

ends 0 goal allreduce ranks=32 bytes=64KiB algo=network rounds=2 \
	as=operations -o "$goal"
replay bgq-board --threads 1
one=$(jq -r .digest "$tmp/out")
sums=$(jq .results.time_ns "$tmp/out")
ends 0 run bgq-board collective op=allreduce by=hardware bytes=64KiB \
	rounds=2 --json
holds "$sums / 2 / .results.time_ns | . > 0.98 and . < 1.02"
replay bgq-board --threads 2
[ "$(jq -r .digest "$tmp/out")" = "$one" ] || complain 'another digest'
report 'the network adds in a schedule as fast as alone'

ends 0 goal reduce ranks=32 root=5 bytes=2KiB algo=network as=operations \
	-o "$goal"
replay bgq-board
replay sunway-32
ends 0 goal broadcast ranks=32 root=5 bytes=8KiB algo=network as=operations \
	-o "$goal"
replay sunway-32
ends 0 run bgq --shape 4x4 replay file="$goal" procs=2 --json
ends 0 goal allreduce ranks=16 bytes=4KiB algo=network chunk=1KiB \
	as=operations -o "$goal"
replay qsnet2-16
report 'sums and broadcasts of several networks'

domain='--shape 1 --set domain.rate=450GB/s --set domain.sums=yes'
ends 0 goal allreduce ranks=8 bytes=8MiB algo=network as=operations -o "$goal"
replay torus $domain
shows 'the switch of a node adds, faster than a ring could' \
	'8388608 / .results.time_ns * 2 * 7 / 8 > 450'

# Rank 1 comes after 100 us.  Meanwhile the others compute, and rank 0 sends.
late() { # FIRST LINE of rank 3
	schedule 'num_ranks 4' 'rank 0 {' 'n: allreduce 4096b algo network' \
		'c: calc 30000 cpu 1' 's: send 40000b to 2 cpu 1' \
		's requires c' '}' 'rank 1 {' 'c: calc 100000' \
		'n: allreduce 4096b algo network' 'n requires c' '}' \
		'rank 2 {' 'n: allreduce 4096b algo network' \
		'r: recv 40000b from 0 cpu 1' 'c: calc 30000 cpu 2' \
		'c requires r' '}' 'rank 3 {' "$1" '}'
}
late 'allreduce 4096b algo network'
replay bgq --shape 2x2
shows 'computation and messages go on while the network waits for a rank' \
	'.results.time_ns > 100000 and .results.time_ns < 110000' \
	'.results.operations == 9'

{
	echo 'num_ranks 4'
	for i in 0 1 2 3; do
		echo "rank $i {"
		echo 'a: allreduce 64b algo network tag 1'
		echo 'b: allreduce 128b algo network tag 2'
		[ $i -ne 2 ] || printf '%s\n' 'c: calc 9000 cpu 1' \
			'a requires c'
		echo '}'
	done
} >"$goal"
replay bgq --shape 2x2
holds '.results.operations == 9'
sed '/^c: /d;s/a requires c/a requires b/' "$goal" >"$tmp/stuck.goal"
ends 3 run bgq --shape 2x2 replay file="$tmp/stuck.goal"
grep -qF 'stuck.goal:12: rank 2 does allreduce of 128 B by network' \
	"$tmp/out" || complain "$(cat "$tmp/out")"
report 'ranks take sums in the order of the first rank, or name what waits'

# --- what is refused ---

refused() { # TEXT MACHINE
	text=$1
	shift
	ends 2 run "$@" replay file="$goal"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qF "$text" "$tmp/err" ||
		complain "$(cat "$tmp/err")"
}

late 'allreduce 4096b algo network'
refused 'needs a network that adds, and that of the plain RDMA card does not' \
	fattree --shape 4
refused 'is for all 8 processes of the machine, but the schedule has 4 ranks' \
	bgq --shape 4x2
schedule 'num_ranks 4' 'rank 0 {' 'allreduce 8b algo network group 0,2' '}' \
	'rank 2 {' 'allreduce 8b algo network group 0,2' '}'
refused ':3: the network adds for all 4 ranks, not for 2 of them' \
	bgq --shape 2x2
schedule 'num_ranks 2' 'rank 0 {' 'broadcast 8b algo network' '}' 'rank 1 {' \
	'broadcast 8b algo network' '}'
refused ':3: the switch of a node only adds' torus $domain
for line in 'allreduce 12b algo network:bytes: the network adds' \
	'allreduce 64b algo network chunk 12b:chunk: the network adds' \
	'allreduce 64b algo network channels 2:channels: the network has one' \
	'alltoall 64b algo network:algo: network has no alltoall' \
	'alltoall 63b algo auto:bytes: alltoall needs blocks of equal length' \
	'allreduce 64b algo auto unit 3:unit: 2 members are not units of 3' \
	'allreduce 64b algo autos:algo: no algorithm is called "autos"'; do
	schedule 'num_ranks 2' 'rank 0 {' "${line%%:*}" '}' 'rank 1 {' \
		"${line%%:*}" '}'
	refused ":3: ${line#*:}" bgq --shape 2
done
for keys in 'allreduce algo=auto' 'allreduce algo=network' \
	'training algo=auto'; do
	ends 2 goal $keys
	grep -qF 'has no steps before it runs (want as=operations)' \
		"$tmp/err" || complain "$keys: $(cat "$tmp/err")"
done
ends 0 goal allreduce ranks=32 bytes=64 algo=network as=operations -o "$goal"
ends 3 run qsnet2-16 replay file="$goal"
grep -qF 'the network cannot add for these processes' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
report 'what no network does is refused, with its line'

exit $status
