#!/bin/sh
#
# What commands print stays as it is, byte for byte.
#
#   tests/printed.sh             says which commands print something else
#   tests/printed.sh --write     renews the sums in golden/printed.txt
#   tests/printed.sh --keep DIR  writes outputs to files in DIR, so that those
#                                of two builds can be compared by diff -r
#
# A line of the file is a sum and a piece of shell in which weft is the program;
# it is run once as it is and once with --json.  A new one is entered with "-"
# for its sum.  Times of the host and what depends on it do not count, nor do
# the keys that a workload has.
set -u
. "$(dirname "$0")/tap.sh"
golden=$src/tests/golden/printed.txt
golden=$(cd "$(dirname "$golden")" && pwd)/printed.txt
src=$(cd "$src" && pwd)
keep=$tmp/keep
mode=${1-}
[ "$mode" = --keep ] && keep=$(mkdir -p "${2:?}" && cd "$2" && pwd)
mkdir -p "$keep"

weft() {
	if [ $json = yes ]; then
		set -- "$@" --json
	fi
	"$weft" "$@" </dev/null 2>&1
	echo "exit code $?"
}

normalise() {
	sed -e 's/ in [0-9.]* s on [0-9]* threads*:/ in T:/' \
		-e 's/, [0-9]* ns of CPU time each//' \
		-e '/^ *"params": {/,/}/d' \
		-e '/^ *"\(wall_s\|cpu_s\|setup_s\|checks_s\)":/d' \
		-e '/^ *"\(ns_per_packet_hop\|weft\)":/d' \
		-e '/^ *"\(bytes_per_node\|estimated_bytes\)":/d' \
		-e '/^ *"\(threads\|events\)": [0-9]/d' \
		-e '/^simulation  [0-9]* B of state/d' \
		-e "s|$tmp|TMP|g" -e "s|$src|SRC|g"
}

name_of() { # COMMAND; a file's
	echo "$1" | tr -cs 'A-Za-z0-9.,=\n-' _ | cut -c 1-150
}

print() { # COMMAND FILE
	mkdir "$tmp/work"
	for json in no yes; do
		(cd "$tmp/work" && eval "$1")
		rm -rf "$tmp/work"/*
	done | normalise >"$2"
	rmdir "$tmp/work"
}

printf 'num_ranks 2\nrank 0 {\ns: send 8b to 1\n}\nrank 1 {\n' >"$tmp/goal"
printf 'r: recv 8b from 0\n}\n' >>"$tmp/goal"
{
	printf 'schema: 1\njobs:\n  - name: pair\n    nodes: [2, 9]\n'
	printf '    workload: stream\n    keys: { via: msg, bytes: 4KiB }\n'
	printf '  - name: noise\n    count: 8\n    workload: random\n'
	printf '    keys: { load: 0.3, warmup: 2us, measure: 5us }\n'
} >"$tmp/jobs.yaml"
{
	printf 'schema: 1\njobs:\n  - name: boards\n'
	printf '    partition: 2x2x2x4x2 at 2,0,0,0,0\n    workload: pingpong\n'
	printf '  - name: other\n    partition: 4x4x4x4x2 at 0,0,0,4,0\n'
	printf '    workload: pingpong\n    start: 1 us\n'
} >"$tmp/partitions.yaml"

while read -r want command; do
	file=$keep/$(name_of "$command")
	print "$command" "$file"
	got=$(cksum <"$file" | tr ' ' -)
	echo "$got  $command" >>"$tmp/new"
	[ "$got" = "$want" ] || complain "$command"
done <"$golden"
if [ "$mode" = --write ]; then
	cat "$tmp/new" >"$golden"
	: >"$tmp/complaints"
fi
report 'commands print what they printed'
exit $status
