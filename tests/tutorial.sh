#!/bin/sh
#
# weft-tutorial(7), word for word, on 64 nodes; with WHOLE on its 4,096 and
# 8,192.
set -u
. "$(dirname "$0")/tap.sh"

awk '/^```$/ { is_code = !is_code; next } is_code' \
	"$src/man/weft-tutorial.7.scd" >"$tmp/whole"
if [ -z "${WHOLE-}" ]; then
	sed -e 's/16, 16, 16/4, 4, 4/' -e 's/4096/64/' \
		-e 's/radix: 16/radix: 4/' -e 's/per-router: 8/per-router: 2/' \
		-e 's/routers: 16/routers: 4/' -e 's/global: 8/global: 2/' \
		-e 's/share=0.01/share=0.3/' -e 's/8192/64/' \
		-e 's/ports: 64/ports: 8/' \
		-e 's/per-router: 16/per-router: 4/' \
		-e 's/routers: 32/routers: 4/' -e 's/global: 16/global: 4/' \
		-e 's/\[32, 16\]/[4, 4]/' -e 's/row=32/row=4/' "$tmp/whole"
else
	cat "$tmp/whole"
fi >"$tmp/script"
mkdir "$tmp/here"
(
	cd "$tmp/here" && weft() {
		want=0 code=0
		# the hotspot of few nodes is saturated
		case ${WHOLE:-few}:$* in few:*hotspot*) want=4 ;; esac
		echo "== weft $*"
		"$weft" "$@" || code=$?
		[ $code -eq $want ]
	} && set -e && . "$tmp/script"
) >"$tmp/out" 2>"$tmp/err" </dev/null ||
	complain "exit code $?: $(tail -n 2 "$tmp/err")"
[ "$(grep -c '^== weft ' "$tmp/out")" -ge 14 ] ||
	complain "it ended early: $(tail -n 3 "$tmp/out")"
report 'every command ends well'

cd "$tmp/here" || exit 1
for name in torus tree dragonfly; do
	grep -q "my-$name" curves.csv || complain "no curve of the $name"
	grep -q "my-$name" curves.svg || complain "the $name is not drawn"
done
report 'one plot has three curves'
grep -A 1 '^hottest' "$tmp/out" | head -n 1 | grep -q 'switch 1.0 down 0' ||
	complain "$(grep -A 1 '^hottest' "$tmp/out")"
grep -A 2 '^link  *use' "$tmp/out" | grep -q '^switch 1.0 down 0  *0.9' ||
	complain "$(grep -A 2 '^link  *use' "$tmp/out")"
[ "$(wc -l <links.csv)" -gt 64 ] || complain 'few links'
[ -s hot.svg ] && [ -s hot.html ] || complain 'no picture or page'
report 'the hottest link of a hotspot leads down to it'
grep -qi lost "$tmp/out" || complain "$(tail -n 20 "$tmp/out")"
report 'a dead link loses packets, which are counted'
for name in tree taper fly hyperx; do
	for plan in none dead.yaml; do
		"$weft" sql buy.db "select count(*) from point p join value v
			on v.point = p.id where v.name = 'price_per_Gbps' and
			p.curve = './$name.yaml faults=$plan'" |
			tail -n 1 | grep -q '[2-8]' ||
			complain "$name, $plan: no price of a Gb/s"
	done
done
[ -s buy.html ] || complain 'no page'
report 'four offers, whole and with a dead switch, have prices per Gb/s'

exit $status
