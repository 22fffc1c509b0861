#!/bin/sh
#
# Reports: that a page is one file that needs nothing else, holds what was
# measured, refuses what is no run file, and, where chromium is installed, that
# it draws itself without errors and answers a click; and pictures.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/look.sh"

db=$tmp/run.db
page=$tmp/run.html

small='warmup=2us measure=10us bytes=64 --budget --sample 200ns'
run run bgq random --shape 2x2x2 $small -o "$db"
run report "$db" -o "$page"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
digest=$("$weft" sql "$db" "select value from meta where key = 'digest'" |
	tail -n 1)
grep -q "\"digest\": \"$digest\"" "$page" || complain 'the digest is missing'
grep -q '"throughput_GBps_per_node"' "$page" || complain 'no throughput'
report 'a page holds the figures of its run'

run run fattree random --shape 16 $small -o "$tmp/tree.db"
run report "$tmp/tree.db" -o "$tmp/tree.html"
grep -q '"machine_caveat": "generic: not compared .* no congestion control' \
	"$tmp/tree.html" && grep -q 'caveat(run)' "$tmp/tree.html" ||
	complain 'no caveat'
grep -q '"machine_caveat"' "$page" && complain 'a caveat for Blue Gene/Q'
report 'a page says that its machine was not compared with measurements'

# Namespaces are no addresses that are fetched.
grep -o 'https*://[^" ]*' "$page" | grep -v '^http://www.w3.org/2000/svg$' |
	while read -r url; do complain "refers to $url"; done
if grep -qE '<(script|link|img|iframe)[^>]*(src|href)=|@import|url\(' \
	"$page"; then
	complain 'loads something'
fi
grep -q "default-src 'none'" "$page" || complain 'may load something'
report 'a page refers to nothing outside'

[ "$(wc -c <"$page")" -lt 500000 ] || complain "$(wc -c <"$page") bytes"
report 'the page of a small run is smaller than 500 kB'

run run apenet random --shape 4x2x2 load=max $small -o "$tmp/$$<b>.db"
run report "$tmp/$$<b>.db" -o "$tmp/evil.html"
sed -n '/id="data"/,/^<\/script>/p' "$tmp/evil.html" | sed '1d;$d' |
	grep -q '<' && complain 'data hold a tag'
report 'what comes from a file cannot end the data'

run sweep bgq random load=0.2,0.4 seed=1,2 --shape 2x2x2 warmup=2us \
	measure=5us bytes=64 -o "$tmp/curves.db"
run report "$db" "$tmp/curves.db" "$tmp/$$<b>.db"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
[ "$(grep -c '"kind": "sweep"' "$page")" -eq 1 ] || complain 'no sweep'
[ "$(grep -c '"kind": "run"' "$page")" -eq 2 ] || complain 'not two runs'
cp "$page" "$tmp/all.html"
report 'runs and sweeps go into one page, named after the first'

echo nothing >"$tmp/foreign.db"
head -c 20000 "$db" >"$tmp/cut.db"
refused 'want a run file' report
refused 'No such file' report "$tmp/none.db"
refused 'is not a run file' report "$tmp/foreign.db"
cp "$db" "$tmp/newer.db"
printf '\000\000\000\143' |
	dd of="$tmp/newer.db" bs=1 seek=60 conv=notrunc 2>/dev/null
refused 'is a run file of schema 99' report "$tmp/newer.db"
refused "$tmp/cut.db" report "$tmp/cut.db" -o "$tmp/cut.html"
refused 'is a directory' report "$db" -o "$tmp"
refused 'cannot be created' report "$db" -o "$tmp/none/x.html"
refused 'would overwrite' report "$db" -o "$db"
[ ! -e "$tmp/cut.html" ] || complain 'half a page is left'
report 'a file that cannot be read leaves no page'

for what in 'links A+' 'latency packets' 'budget serialisation' \
	'course delivered'; do
	run plot "$db" "${what% *}" -o "$tmp/x.svg"
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	grep -q '^</svg>$' "$tmp/x.svg" || complain "${what% *} has no end"
	grep -qF -- "${what#* }" "$tmp/x.svg" ||
		complain "${what% *} does not say ${what#* }"
	[ "${what% *}" != links ] || grep -q 'busiest: node ' "$tmp/x.svg" ||
		complain 'the busiest link is no curve'
	[ "$(grep -c -e '<path fill' -e '<rect x' "$tmp/x.svg")" -gt 0 ] ||
		complain "${what% *} shows nothing"
done
report 'every picture of a run is drawn'

# PDF and PNG need cairo, which may be missing.
run plot "$db" latency -o "$tmp/x.pdf"
if grep -q 'install it (Debian: libcairo2)' "$tmp/err"; then
	[ $code -eq 2 ] || complain "exit code $code"
	[ ! -e "$tmp/x.pdf" ] || complain 'half a picture is left'
	report 'a PDF without cairo is refused'
else
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ "$(head -c 5 "$tmp/x.pdf")" = %PDF- ] || complain 'it is no PDF'
	[ "$(tail -n 1 "$tmp/x.pdf")" = %%EOF ] || complain 'the PDF has no end'
	for what in budget links; do # the second one replaces the first
		run plot "$db" $what -o "$tmp/x.png"
		[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
		[ "$(head -c 4 "$tmp/x.png" | tail -c 3)" = PNG ] ||
			complain 'it is no PNG'
	done
	report 'pictures are PDF and PNG, too'
fi
echo mine >"$tmp/own.pdf"
refused 'exists and is not a PDF' plot "$db" links -o "$tmp/own.pdf"
refused 'pictures are .svg, .pdf or .png' plot "$db" links -o "$tmp/x.jpg"
refused 'pictures are .svg, .pdf or .png' sweep torus random load=0.1 \
	--plot "$tmp/x.jpg"

# A sweep: machines by name, units, and one colour for one machine.
cp "$WEFT_MACHINES/torus.yaml" "$tmp/own.yaml"
printf 'schema: 1\nfaults:\n  events:\n    - 1 us node 5 dies\n' \
	>"$tmp/dead.yaml"
run sweep "$tmp/own.yaml" random load=10..30Gb/s:10 --shape 4x4 warmup=1us \
	measure=1us --faults "none,$tmp/dead.yaml" -o "$tmp/sweep.db" \
	--plot "$tmp/sweep.svg"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
grep -q 'per node, Gb/s ' "$tmp/out" || complain 'bits came back as bytes'
for text in '>own<' '>own, dead<' '>load, Gb/s per node<' \
	'>throughput per node, Gb/s<'; do
	grep -qF "$text" "$tmp/sweep.svg" || complain "there is no $text"
done
[ "$(grep -o "stroke='#0[^']*'" "$tmp/sweep.svg" | sort -u | wc -l)" -eq 1 ] ||
	complain 'the two curves have different colours'
# the curve and its line in the legend
[ "$(grep -c stroke-dasharray "$tmp/sweep.svg")" -eq 2 ] ||
	complain 'the curve with a fault is not dashed'
run plot "$tmp/sweep.db" curves -o "$tmp/again.svg"
cmp "$tmp/sweep.svg" "$tmp/again.svg" || complain 'the two pictures differ'
run plot "$tmp/sweep.db" curves --figures latency_mean_ns
grep -q '>latency mean, ns<' "$tmp/out" || complain 'it is another figure'
report 'a sweep is drawn with words, units and the names of its machines'
# Files of others: names that do not fit, and values that are none.
cp "$tmp/sweep.db" "$tmp/odd.db"
python3 - "$tmp/odd.db" <<'E' || complain 'no odd file'
import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("UPDATE point SET grp = 'g' || id, curve = curve || ?",
          (" " + "x" * 999,))
d.execute("UPDATE value SET value = 'word' WHERE point = 1")
d.commit()
E
run plot "$tmp/odd.db" curves -o "$tmp/odd.svg"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
[ "$(grep -c '<circle' "$tmp/odd.svg")" -eq 5 ] ||
	complain 'a word is drawn as a point'
report 'an odd file of a sweep is drawn as far as it goes'
refused 'no point has a figure "foo"' plot "$tmp/sweep.db" curves --figures foo
refused 'which has the picture "curves"' plot "$tmp/sweep.db" latency
refused 'is the file of a run; only a sweep' plot "$db" curves
run sweep torus collective op=allreduce bytes=8..4KiB:x8 algo=ring \
	--shape 4x4 --plot "$tmp/sizes.svg"
for text in '>8 B<' '>512 B<' '>4 KiB<'; do
	grep -qF "$text" "$tmp/sizes.svg" || complain "there is no $text"
done
report 'sizes of a wide range have a logarithmic axis'

# A run that was killed has no result, and its page says so.
"$weft" run bgq random --shape 4x4x4 measure=1s --sample 100ns \
	-o "$tmp/killed.db" >/dev/null 2>&1 &
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 0.1
	[ "$("$weft" sql "$tmp/killed.db" 'select count(*) from sample' \
		2>/dev/null | tail -n 1 | tr -d ' ')" -gt 0 ] 2>/dev/null &&
		break
done
kill -9 $!
wait $! 2>/dev/null
run report "$tmp/killed.db" -o "$tmp/killed.html"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
grep -q '"ending": "stopped"' "$tmp/killed.html" || complain 'it was stopped'
report 'a run that was killed has a page'

refused 'no picture is called "link"; did you mean' plot "$db" link
run run bgq random --shape 2x2x2 warmup=2us measure=5us bytes=64 \
	-o "$tmp/plain.db"
refused 'has no budget' plot "$tmp/plain.db" budget
refused 'want a run file and a picture' plot "$db"
refused 'is the file of a sweep' plot "$tmp/curves.db" links
refused 'would overwrite' plot "$db" links -o "$db"

# A file that fails is removed, a device is not.
ln -s /dev/full "$tmp/full.svg"
for command in "plot $db links" "report $db" 'goal allreduce ranks=4'; do
	refused 'cannot be written: No space left' $command -o "$tmp/full.svg"
	[ -L "$tmp/full.svg" ] || complain "$command: removed what is no file"
	report "weft ${command%% *} into a full device"
done

# Texts of pages, without a browser.
if command -v node >/dev/null; then
	says() { # TEXT of the page of the last run
		"$weft" report "$tmp/says.db" -o "$tmp/says.html" >/dev/null
		node "$src/tests/page.js" "$tmp/says.html" >"$tmp/says" 2>&1
		for text; do
			grep -q -- "$text" "$tmp/says" ||
				complain "no \"$text\": $(cat "$tmp/says")"
		done
	}
	run run fattree random load=1.3 warmup=2us measure=10us --shape 64 \
		--set topology.taper=2 --budget --sample 1us -o "$tmp/says.db"
	says 'wait for a link, [0-9.]*.*% are still at their source and' \
		'% wait for stage 1 up links\. The stage 1 up .*full' \
		'full.* Delivered messages spent .*% of their time in q' \
		'\. Undelivered messages are not included\.$'
	run run fattree random load=0.1 warmup=2us measure=10us --shape 64 \
		--budget -o "$tmp/says.db"
	says '\. Messages spent [0-9.]*.*% of their time in routers'
	grep -q 'are not included\|at their source' "$tmp/says" &&
		complain "$(head -n 1 "$tmp/says")"
	report 'a report of a saturated run names queues first'
	run goal allreduce ranks=4 bytes=4KiB -o "$tmp/says.goal"
	run run torus --shape 2x2 replay file="$tmp/says.goal" -o "$tmp/says.db"
	says 'Its 4 ranks took .* The slowest, rank [0-3], ended with [a-z]'
	[ "$(sed -n 's/^card: //p' "$tmp/says" | head -n 2 | tr '\n' ,)" = \
		'Programs over time,The machine,' ] ||
		complain "$(cat "$tmp/says")"
	run run torus --shape 4x4x2 --jobs "$src/examples/jobs.yaml" \
		-o "$tmp/says.db" --no-alone
	says 'card: '
	report 'a report of a replay begins with ranks'
else
	skip 'a report of a saturated run names queues first' 'no node'
fi

if can_look; then
	"$weft" report "$db" -o "$page" >/dev/null
	look "$page"
	case $(attribute answer) in
	*'It delivered '*' GB/s per node, '*' of the peak'*) ;;
	*) complain "answers: $(attribute answer)" ;;
	esac
	case $(attribute before) in
	'Busiest links'*) ;;
	*) complain "before: $(attribute before)" ;;
	esac
	case $(attribute after) in
	'node '*', '*busy*) ;;
	*) complain "after: $(attribute after)" ;;
	esac
	[ "$(attribute curves)" = 2 ] || complain 'no curves of the link'
	[ "$(attribute drawn)" = true ] || complain 'nothing is marked'
	[ "$(attribute played)" = true ] || complain 'time changes nothing'
	[ "$(attribute hops)" -gt 3 ] || complain 'no way of a slow message'
	[ "$(attribute blocked)" -gt 1 ] || complain 'nothing is waited for'
	report 'in a browser a click on a link shows its curves'

	look "$tmp/killed.html"
	case $(attribute answer) in
	*'until it was stopped. It ended before its links were recorded'*) ;;
	*) complain "answers: $(attribute answer)" ;;
	esac
	report 'the page of a run that was killed says that it was stopped'

	look "$tmp/all.html"
	[ "$(attribute title)" = '2 runs side by side' ] ||
		complain "begins with: $(attribute title)"
	case $(attribute charts) in
	*'; Load by channel; Packets waiting by channel'*) ;;
	*) complain "curves: $(attribute charts)" ;;
	esac
	report 'several files are drawn without an error'

	run goal allreduce ranks=8 bytes=4KiB -o "$tmp/x.goal"
	run run torus --shape 4x2 replay file="$tmp/x.goal" --sample 500ns \
		-o "$tmp/replay.db"
	run run torus --shape 4x4x2 --jobs "$src/examples/jobs.yaml" \
		--sample 1us -o "$tmp/jobs.db"
	run sweep torus random load=2GB/s,50GB/s,max --shape 2x2 \
		warmup=2us measure=5us -o "$tmp/rates.db"
	run report "$tmp/replay.db" -o "$tmp/replay.html"
	look "$tmp/replay.html"
	case "$(attribute timeline); " in
	*'rank 0; rank 1; '*'rank 7; '*'sends; receives; '*) ;;
	*) complain "says: $(attribute timeline)" ;;
	esac
	for what in calc,computes send,sends recv,receives; do
		ops=$(grep -c ": ${what%,*}" "$tmp/x.goal")
		case "$(attribute bars);" in
		*"${what#*,} $((ops + 1));"*) ;;
		*) [ "$ops" -eq 0 ] || complain "$ops, $(attribute bars)" ;;
		esac
	done
	report 'a page shows what each rank of a schedule does over time'
	run report "$tmp/replay.db" "$tmp/jobs.db" "$tmp/rates.db" \
		-o "$tmp/kinds.html"
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	look "$tmp/kinds.html"
	[ "$(attribute pictures)" -ge 12 ] ||
		complain "$(attribute pictures) charts"
	report 'curves of replays and jobs stay inside their charts'
	case $(attribute says) in
	*'saturates at load 50 GB/s per node.; load, GB/s per node'*) ;;
	*) complain "says: $(attribute says)" ;;
	esac
	report 'a sweep of rates names the one that saturates, with its unit'
	for row in 'job|figure|together|alone|change' 'solver|[a-z]' \
		'pair|[a-z]' 'noise|throughput, GB/s per node|[0-9.]*|[0-9.]*|'
	do
		attribute jobs | tr ';' '\n' | grep -q "^ *$row" ||
			complain "no $row: $(attribute jobs)"
	done
	report 'a report of jobs has them together and alone'

	what='a phone shows pages whole, and paper has their colours'
	if command -v chromedriver && command -v python3; then
		timeout 60 python3 "$src/tests/browser.py" "$tmp/kinds.html" \
			>"$tmp/seen" 2>&1 || complain "$(tail -n 3 "$tmp/seen")"
		grep -qx 'width 390' "$tmp/seen" || complain 'no window'
		grep '^wrong' "$tmp/seen" >"$tmp/wrong" &&
			complain "$(cat "$tmp/wrong")"
		# the background of bars, which only CSS paints
		grep -q '^colour #f1efe9$' "$tmp/seen" || complain 'grey bars'
		report "$what"
	else
		skip "$what" 'no chromedriver'
	fi >"$tmp/which"
	grep '^\(not \)*ok\|^#' "$tmp/which"
else
	skip 'in a browser a click on a link shows its curves' 'no chromium'
fi
exit $status
