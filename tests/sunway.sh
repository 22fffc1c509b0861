#!/bin/sh
#
# Sunway's machines as a user sees them.
set -u
. "$(dirname "$0")/tap.sh"

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

exit $status
