# For the long runs, to be sourced: $weft is the program, $tmp a folder.  What
# misses is told, and makes $failed 1.
weft=${WEFT:-build/release/src/weft}
export WEFT_MACHINES=${WEFT_MACHINES:-machines}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

complain() {
	echo "MISSES: $*"
	failed=1
}

figure() { # KEY FILE
	jq ".results.$1 // 0" "$2"
}

# holds WHAT CONDITION
holds() {
	[ "$(jq -n "$2")" = true ] || complain "$1: $2"
}

# both NAME ARGS... : a run with one thread and with two, which must be equal
both() {
	local name=$1 threads
	shift
	for threads in 1 2; do
		"$weft" run "$@" --threads $threads --json --quiet \
			>"$tmp/$name.$threads" ||
			complain "$name with $threads threads: exit $?"
	done
	[ "$(jq .digest "$tmp/$name.1")" = "$(jq .digest "$tmp/$name.2")" ] ||
		complain "$name: one and two threads have different digests"
}

# at_least WHAT COUNT WANTED
at_least() {
	printf '%-36s %10d\n' "$1" "$2"
	[ "$2" -ge "$3" ] || complain "$1: $2, want $3"
}
