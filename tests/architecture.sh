#!/bin/sh
#
# Each file::function, file and folder that ARCHITECTURE.md, DECISIONS.md and
# doc/ name exists, and the first is short enough to be read.
set -u
. "$(dirname "$0")/tap.sh"

text="$SRC/ARCHITECTURE.md $SRC/DECISIONS.md $SRC/doc/*.md"
[ "$(wc -w <"$SRC/ARCHITECTURE.md")" -le 2500 ] ||
	complain "more than 2,500 words"
report 'ARCHITECTURE.md'
for name in $(grep -ho '[a-z0-9_/]*\.[ch]::[a-z0-9_]*' $text | sort -u); do
	file=${name%%::*}
	grep -qE "(^|[ *])${name##*::}\(" "$SRC/src/$file" 2>/dev/null ||
		complain "src/$file has no ${name##*::}()"
	report "$name"
done
for file in $(grep -ho '`[a-z]*/[a-z0-9_/]*\.[ch]' $text | tr -d '`' |
	sort -u); do
	[ -f "$SRC/src/$file" ] || [ -f "$SRC/$file" ] ||
		[ -f "$SRC/include/$file" ] ||
		complain "no such file"
	report "$file"
done
for layer in $(sed -n 's,^    \([a-z]*\)/  *.*,\1,p' $text); do
	[ -d "$SRC/src/$layer" ] || complain "no such folder"
	report "src/$layer"
done
[ $n -gt 30 ] || status=1
exit $status
