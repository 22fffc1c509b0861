#!/usr/bin/env bash
# Every command that the README shows is run.
set -u
n=0
failed=0
readme=$SRC/README.md

weft() {
	"$WEFT" "$@" --quiet 2>/dev/null || "$WEFT" "$@"
}

check() {
	n=$((n + 1))
	if eval "$1" >/dev/null 2>&1; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		failed=1
	fi
}

commands=$(awk '/^```sh$/{p=1;next} /^```$/{p=0} p' "$readme")
while IFS= read -r line; do
	# tests/paper.sh runs the papers; zones and what is shown of a dying
	# rail are below; slow builds leave runs out, which they have in other
	# tests
	case ${WEFT_SLOW:+slow}$line in
	'weft paper bgq --quick' | 'weft paper qsnet2' | *' zones='* | \
		'weft run sunway storm '* | \
		'slowweft paper '* | 'slowweft run '* | 'slowweft report '*)
		continue ;;
	esac
	# the campaign runs it on 98,304 nodes, and looks what comes out
	line=${line/#weft run bgq-20pf /weft run bgq-midplane }
	# how fast a machine is when it is full, others measure
	case $line in
	*' random load='*) line+=' warmup=2us measure=5us' ;;
	# one machine is enough, if programs can be built
	examples/mpi/*)
		command -v mpicc >/dev/null || continue
		[ -x "$(dirname "$WEFT")/inside/weft-start" ] || continue
		line="'$SRC/$line' gemini" ;;
	esac
	[ -n "$line" ] && check "$line"
done <<<"$commands"

targets=$(grep -oE '(^ *|`)make [a-z]+' "$readme" | sed 's/.* //' | sort -u)
for target in $targets; do
	check "make -C '$SRC' -n $target"
done

# What it shows below its first result's command, and below that of a rail that
# dies, is what these print.
result() { # WORKLOAD LINES
	command=$(grep -m 1 " $1 " <<<"$commands")
	shown=$(awk -v w=" $1 " 'index($0, w) { p = 1 }
		p && /^    / { print substr($0, 5) }
		p && /^[A-Z]/ { exit }' "$readme" | grep -v '^\.\.\.$')
	printed=$(eval "$command") || failed=1
	[ "$(wc -l <<<"$shown")" -ge "$2" ] || failed=1
	while IFS= read -r line; do
		check 'grep -qxF -- "$line" <<<"$printed"'
	done <<<"$shown"
}
result stream 6
[ -n "${WEFT_SLOW:-}" ] || result storm 4

# What it says of zones is what comes out.
part() { # ZONES KEYS: of the command that it shows
	shown=$(grep -m 1 " zones=$1\$" <<<"$commands") || return
	shift
	"$WEFT" ${shown#weft } "$@" --json |
		jq '.results.fraction_of_peak * 100 | round'
}
if [ -z "${WEFT_SLOW:-}" ]; then
	check "[ $(part none warmup=150us measure=30us) -lt 72 ]"
	check "[ $(part longest-first warmup=60us measure=60us) -ge 92 ]"
fi
# The networks that it compares are those of the tutorial.
squeezed() { # FILE
	sed -n '/^ *weft sweep .\/tree.yaml/,/buy.db/p' "$1" |
		tr -d '\\' | xargs
}
check '[ "$(squeezed "$readme")" = \
	"$(squeezed "$SRC/man/weft-tutorial.7.scd")" ]'
# One sentence says what Weft is.
what=$(sed -n 's/^weft - //p' "$SRC/man/weft.1.scd")
check 'grep -q "^Weft is a $what" "$readme"'
check '[ "$(grep -c "^ *title: \"Weft: a $what\"$" "$SRC/CITATION.cff")" = 2 ]'
check '! grep -q "url:\|example" "$SRC/CITATION.cff"'
[ $n -gt 10 ] || failed=1
exit $failed
