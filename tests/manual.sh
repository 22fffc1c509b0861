#!/bin/sh
#
# The manual's pages about machines: every example runs, and parameters that
# they name are there.
set -u
. "$(dirname "$0")/tap.sh"

for page in bgq qsnet2 gemini apenet sunway torus; do
	sed -n '/^# EXAMPLES/,/^# SEE/s/^weft //p' "$src/man/weft-$page.7.scd" \
		>"$tmp/commands"
	[ -s "$tmp/commands" ] || complain 'no examples'
	while read -r command; do
		run $command
		[ $code -eq 0 ] || complain "weft $command: $(cat "$tmp/err")"
	done <"$tmp/commands"
	report "weft-$page(7): the examples run"
	grep -oE '^\*(link|router|routing|nic|side|topology|faults)\.[^_]*\*$' \
		"$src/man/weft-$page.7.scd" | tr -d '*\\,' | tr ' ' '\n' \
		>"$tmp/named"
	others=
	[ $page != torus ] || others='fattree dragonfly'
	for machine in $page $others; do
		"$weft" params $machine
	done >"$tmp/params"
	while read -r name; do
		grep -q "^ *${name%.}" "$tmp/params" ||
			complain "$name is no parameter"
	done <"$tmp/named"
	[ -s "$tmp/named" ] || complain 'no parameters'
	report "weft-$page(7): the parameters are there"
done

# What it says of modes and keys is true of some machine.
page=$src/man/weft-route.7.scd
for machine in torus fattree dragonfly hyperx slimfly gemini sunway; do
	"$weft" params $machine
done >"$tmp/params"
grep -oE '\*(routing|nic)\.[a-z-]+(: [a-z]+)?\*' "$page" | tr -d '*:' |
	sort -u >"$tmp/named"
[ "$(wc -l <"$tmp/named")" -gt 15 ] || complain 'no parameters'
while read -r name value; do
	grep -qE "^ *$name .*\b${value:-}" "$tmp/params" ||
		complain "$name $value is no parameter"
done <"$tmp/named"
sed -n 's/^weft //p' "$page" >"$tmp/commands"
while read -r command; do
	run $command
	[ $code -eq 0 ] || complain "weft $command: $(cat "$tmp/err")"
done <"$tmp/commands"
report 'weft-route(7): parameters and examples'

# Its runs are long: it will do that they begin.
page=$src/man/weft-own.7.scd
sed -n '/^schema: 1/,/^```/{/^```/!p}' "$page" >"$tmp/mine.yaml"
for command in show check; do
	run $command "$tmp/mine.yaml"
	[ $code -eq 0 ] || complain "weft $command: $(cat "$tmp/err")"
done
sed -e ':a' -e '/\\\\$/{N;s/\\\\\n//;ba' -e '}' "$page" |
	sed -n 's/^weft run //p' >"$tmp/commands"
[ "$(wc -l <"$tmp/commands")" -ge 6 ] || complain 'no examples'
while read -r command; do
	eval "run run $command --until 100ns --quiet"
	[ $code -eq 0 ] || complain "weft run $command: $(cat "$tmp/err")"
done <"$tmp/commands"
report 'weft-own(7): the machine stands, and the runs begin'

# Every key of every machine, and no help text is lost.
page=$(dirname "$(dirname "$weft")")/man/weft-machine.5
if [ -s "$page" ]; then
	sed -e 's/\\&//g' -e 's/\\//g' "$page" >"$tmp/page"
	for machine in $("$weft" machines --json |
		sed -n 's/^ *"name": "\(.*\)",$/\1/p'); do
		"$weft" params "$machine" --json |
			sed -n 's/^ *"name": "\(.*\)",$/\1/p'
	done | sort -u >"$tmp/names"
	[ "$(wc -l <"$tmp/names")" -gt 200 ] ||
		complain "only $(wc -l <"$tmp/names") keys"
	while read -r name; do
		grep -qxF "fB${name}fR" "$tmp/page" ||
			complain "$name is missing"
	done <"$tmp/names"
	[ "$(grep -c '; default: ' "$tmp/page")" -ge \
		"$(wc -l <"$tmp/names")" ] || complain 'help texts are missing'
	grep -x 'fB[a-z0-9.-]*fR' "$tmp/page" | sort | uniq -d >"$tmp/twice"
	[ ! -s "$tmp/twice" ] || complain "twice: $(head -n 3 "$tmp/twice")"
	for kind in torus fattree dragonfly; do
		grep -q "^With fBtopology.kindfR fI${kind}fR: Number of nodes" \
			"$tmp/page" || complain "no topology.nodes of $kind"
	done
	report 'weft-machine(5) has every key of every machine, once'
else
	skip 'weft-machine(5) has every key of every machine, once' 'not built'
fi

# Every table of run files, and every column of it.
page=$src/man/weft-runfile.5.scd
"$weft" sql --json >"$tmp/columns"
sed -n -e '/"table"/{s/.*: "\(.*\)",/\1/;h;}' \
	-e '/"files"/{s/.*: "\(.*\)",/\1/;G;s/\n/ /;p;}' "$tmp/columns" |
	sed -e 's/^both \(.*\)/runs \1\nsweeps \1/' | sort -u >"$tmp/want"
sed -n 's/^@columns \(.*\)@$/\1/p' "$page" | sort >"$tmp/found"
[ "$(wc -l <"$tmp/want")" -gt 20 ] || complain 'hardly a table'
diff "$tmp/want" "$tmp/found" >"$tmp/out" || complain "$(cat "$tmp/out")"
run run torus --shape 2 random warmup=0us measure=1us -o "$tmp/run.db"
"$weft" sql "$tmp/run.db" 'select key from meta' | sed 1d | tr -d ' ' |
	while read -r key; do
		grep -qF "*$key*" "$page" || complain "no key $key"
	done
report 'weft-runfile(5) has the columns of every table, and every key'
page=$(dirname "$(dirname "$weft")")/man/weft-runfile.5
if [ -s "$page" ]; then
	sed -e 's/\\&//g' -e 's/\\//g' "$page" >"$tmp/page"
	sed -n 's/^ *"column": "\(.*\)",$/\1/p' "$tmp/columns" | sort |
		uniq -c | while read -r n name; do
		[ "$(grep -c "^fI${name}fR[: ]" "$tmp/page")" -ge "$n" ] ||
			complain "$name is not there $n times"
	done
	report 'and its page lists them'
else
	skip 'and its page lists them' 'not built'
fi

exit $status
