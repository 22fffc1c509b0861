#!/bin/sh
#
# Run files: that they hold what a run printed, change nothing, survive what
# can happen to them, and that sweeps and comparisons work on them.
set -u
. "$(dirname "$0")/tap.sh"

db=$tmp/run.db

ask() { # QUERY: the answer of one row and column
	"$weft" sql "$db" "$1" --json 2>&1 | sed -n 's/^ *"[^"]*": *//p' |
		tr -d '",'
}

is() { # WHAT WANTED FOUND
	[ "$2" = "$3" ] || complain "$1: want $2, found $3"
}

small='random --shape 2x2x2 warmup=2us measure=10us'

small="$small bytes=64"
for machine in bgq torus gemini; do
	run run $machine $small --json
	plain=$(value digest)
	use=$(value use)
	run run $machine $small --json -o "$db" --sample 100ns
	is 'the digest that is printed' "$plain" "$(value digest)"
	is 'the digest in the file' "$plain" \
		"$(ask "select value v from meta where key = 'digest'")"
	is 'the ending' finished \
		"$(ask "select value v from meta where key = 'ending'")"
	is 'the use of the busiest link' "${use%????}" "$(ask 'select
		max(use) v from link' | cut -c 1-$((${#use} - 4)))"
	is 'samples in order, without gaps' 0 "$(ask 'select count(*) v from
		sample a join sample b on b.n = a.n + 1
		where a.to_ps <> b.from_ps')"
	is 'the packets of all samples' \
		"$(ask 'select sum(packets) v from link')" \
		"$(ask 'select sum(hops) v from sample')"
	is 'sites with the place of their neighbours' 0 "$(ask 'select
		count(*) v from link l join site a on a.id = l.site join site b
		on b.id = l.to_site where abs(a.x0 - b.x0) + abs(a.x1 - b.x1) +
		abs(a.x2 - b.x2) > 1')"
	report "$machine: a run file holds what the run printed"
done

run run bgq $small --budget -o "$db"
[ "$(ask 'select count(*) v from message')" -gt 100 ] ||
	complain 'no messages'
is 'messages whose causes do not sum to their time' 0 "$(ask 'select count(*) v
	from message m left join (select message, sum(ps) t from spent
	group by message) s on s.message = m.id
	where end_ps - start_ps is not t')"
report 'every picosecond of a recorded message has its cause'

for machine in bgq gemini; do
	run run $machine $small --budget -o "$db"
	is 'messages of the budgets of classes' \
		"$(ask "select sum(n) v from (select distinct class, messages n
		from budget)")" "$(ask 'select sum(messages) v from (select
		max(messages) messages from budget group by class)')"
	is 'what classes spent' "$(ask 'select sum(ps) v from cause')" \
		"$(ask 'select sum(ps) v from budget')"
	is 'messages with hops' 20 \
		"$(ask 'select count(distinct message) v from hop')"
	is 'hops that do not begin where the last one ended' 0 "$(ask 'select
		count(*) v from hop a join hop b on a.message = b.message and
		b.n = a.n + 1 where a.to_ps <> b.from_ps')"
	is 'ways that are not as long as their messages' 0 "$(ask 'select
		count(*) v from message m join (select message, min(from_ps) a,
		max(to_ps) b from hop group by message) h on h.message = m.id
		where start_ps <> a or end_ps <> b')"
	is 'ways that do not end where their messages do' 0 "$(ask 'select
		count(*) v from message m join hop h on h.message = m.id and
		h.to_ps = m.end_ps where h.site <> m.to_node')"
	is 'hops by links of other sites' 0 "$(ask 'select count(*) v from hop
		join link on link.id = hop.link where link.site <> hop.site')"
	is 'the slowest has hops' 1 "$(ask 'select count(distinct message) v
		from hop where message = (select id from message order by
		start_ps - end_ps limit 1)')"
	is 'token waits of channels and of links' \
		"$(ask 'select sum(token_wait_ps) v from channel')" \
		"$(ask 'select sum(token_wait_ps) v from link')"
	is 'links that never had as many as on average' 0 "$(ask 'select
		count(*) v from link where longest = 0 and waiting > 1')"
	is 'channels whose queues were longer than those of links' 0 "$(ask '
		select count(*) v from channel c join link l on l.id = c.link
		where c.longest > l.longest')"
	report "$machine: the slowest messages have their ways, hop by hop"
done
run run bgq $small --budget -o "$db"

run run bgq random --shape 4x4x4 load=max warmup=0ns measure=40us \
	--sample 1us -o "$tmp/full.db"
db=$tmp/full.db
is 'latencies of all that was delivered' 1 "$(ask 'select abs(1.0 *
	sum(latency_ps) / sum(timed) / 1000 / (select value from figure
	where name = "latency_mean_ns") - 1) < 0.01 v from sample')"
is 'packets without a latency' 0 \
	"$(ask 'select sum(delivered) - sum(timed) v from sample')"
[ "$(ask 'select count(distinct sample) v from blocked')" -ge 2 ] ||
	complain 'nobody waits'
# Every node always has something to send.
is 'links that nothing waits for' 0 "$(ask 'select count(*) v from link
	where wanted <= 0')"
is 'samples without a look' 0 "$(ask 'select count(*) v from sample where
	length(wanted) is not length(use)')"
is 'packets that wait for a way that is not' 0 "$(ask "select count(*) v from
	blocked where wants not in (select name from link) and
	wants <> 'reception'")"
[ "$(ask 'select max(longest) v from link')" -gt 1 ] || complain 'no queues'
db=$tmp/run.db
report 'a run file has latency over time, and what packets wait for'

# Responses of interfaces are delivered, too, but have no latency.
for machine in 'torus --shape 2x2' 'bgq --shape 2x2' qsnet2-16 \
	'gemini --shape 2x2x2' 'apenet --shape 2x2' sunway-32; do
	run run $machine collective op=allreduce bytes=64 rounds=2 \
		--sample 1us -o "$tmp/timed.db"
	db=$tmp/timed.db
	is "the mean of ${machine%% *} over time" 1 "$(ask 'select
		abs(sum(latency_ps) / 1000.0 / sum(timed) - (select value
		from figure where name = "latency_mean_ns")) < 0.001 v
		from sample')"
done
db=$tmp/run.db
report 'on every interface samples have the latencies of the run'

# Node 0 is sent more than its link carries: the queue is before that link, and
# there is none behind it.
for machine in 'fattree 16' 'dragonfly 64' 'gemini 2x2x2'; do
	run run ${machine% *} hotspot share=0.5 load=max --shape ${machine#* } \
		warmup=0ns measure=20us --sample 1us -o "$tmp/hot.db"
	db=$tmp/hot.db
	is 'the busiest link is waited for' 1 "$(ask 'select wanted > 3 and
		waiting < 1 and wanted > 3 * waiting v from link
		where to_site = 0 order by use desc limit 1')"
	is 'and most of all, or one behind it' 1 "$(ask 'select use > 0.9 v
		from link order by wanted desc limit 1')"
	report "${machine% *}: what waits for a link is recorded"
done
db=$tmp/run.db

run run dragonfly random --shape 64 load=max warmup=0ns measure=10us \
	--sample 1us --budget -o "$tmp/tokens.db"
db=$tmp/tokens.db
[ "$(ask 'select max(token_wait_ps) v from link')" -gt 0 ] ||
	complain 'nobody waited for tokens'
for table in 'sample n' 'channel_sample sample'; do
	is "token waits, of ${table% *}" 1 "$(ask "select abs(sum(value *
		(s.to_ps - s.from_ps) / 256.0) / (select sum(token_wait_ps) from
		link) - 1) < 0.02 v from ${table% *} t join sample s on
		s.n = t.${table#* }, items(t.token_wait)")"
done
# A packet that is under way counts for its channel as sent: 45 ns of 1 us.
is 'loads of channels that do not add up to their links' 0 "$(ask 'select
	count(*) v from (select s.n, u.id, u.value, (select sum(item(c.use,
	u.id)) from channel_sample c where c.sample = s.n) parts from sample s,
	items(s.use) u) where parts is not null and abs(parts - value) > 500')"
db=$tmp/run.db
report 'token waits and channels are sampled over time'

run run torus random --shape 2x2x2 --set link.retry=replay bytes=512 \
	--set faults.bit-errors=1e-6 warmup=0ns measure=20us --json \
	-o "$tmp/noise.db"
db=$tmp/noise.db
is 'copies sent in vain, over time' "$(ask 'select sum(retries) v from link')" \
	"$(ask 'select sum(value) v from sample, items(retries)')"
is 'numbers of one link and of all' 0 "$(ask 'select count(*) v from sample,
	items(use) where item(use, id) <> value')"
is 'packets that links sent again' "$(value resent_packets)" \
	"$(ask 'select sum(retries) v from link')"
[ "$(value resent_packets)" -gt 0 ] || complain 'nothing was sent again'
is 'those of channels' "$(value resent_packets)" \
	"$(ask 'select sum(retries) v from channel')"
is 'those of channels over time' "$(value resent_packets)" \
	"$(ask 'select sum(value) v from channel_sample, items(retries)')"
db=$tmp/run.db
report 'retries are counted for each link and channel'

run run bgq $small --budget --threads 2 -o "$tmp/two.db"
run compare "$db" "$tmp/two.db"
is 'the exit code' 0 $code
grep -q 'All results are the same' "$tmp/out" || complain "$(cat "$tmp/out")"
report 'a run on two threads is compared as the same'

run run bgq $small load=0.3 -o "$tmp/other.db"
run compare "$db" "$tmp/other.db"
is 'the exit code' 1 $code
grep -q '^load ' "$tmp/out" || complain "load is not told: $(cat "$tmp/out")"
grep -q '^throughput_GBps_per_node .*%' "$tmp/out" ||
	complain "no change is told: $(cat "$tmp/out")"
report 'what differs in set-up and result is told'

run rerun "$db"
is 'the exit code' 0 $code
grep -q 'as before' "$tmp/out" || complain "$(cat "$tmp/out")"
report 'a rerun has the digest of the run'

# The same file, of which a machine's parameter was another one.
WEFT_MACHINES=$tmp/machines
mkdir "$tmp/machines"
cp "$src"/machines/*.yaml "$tmp/machines"
sed -i 's/value: 500 MHz/value: 250 MHz/' "$tmp/machines/bgq.yaml"
run rerun "$db"
is 'the exit code' 1 $code
grep -q 'parameters  have changed' "$tmp/out" || complain "$(cat "$tmp/out")"
grep -q 'which was' "$tmp/out" || complain "$(cat "$tmp/out")"
export WEFT_MACHINES=$src/machines
report 'a rerun on a machine that has changed says so'

# Programs wait for messages of each other.
printf '%s\n' 'num_ranks 2' 'rank 0 {' 'a: recv 8b from 1 tag 7' \
	'b: send 8b to 1' 'b requires a' '}' 'rank 1 {' 'a: recv 8b from 0' \
	'b: send 8b to 0 tag 7' 'b requires a' '}' >"$tmp/hang.goal"
db=$tmp/hang.db
run run torus --shape 2 replay file="$tmp/hang.goal" -o "$db" --json --budget
is 'the exit code' 3 $code
is 'the JSON' "stalled 2" "$(value ending) $(value waiters)"
is 'the ending' stalled "$(ask "select value v from meta where key = 'ending'")"
is 'the digest' "$(value digest)" \
	"$(ask "select value v from meta where key = 'digest'")"
is 'links' 4 "$(ask 'select count(*) v from link')"
open="from call where to_ps is null and name like"
is 'waits' 2 "$(ask "select count(*) v $open '%has not started to send it%'")"
is 'receives' 2 "$(ask "select count(*) v $open 'recv 8 B from rank %'")"
report 'a run that hangs leaves a file with what there was until then'

# Stopped, killed, out of room.
"$weft" run bgq random --shape 4x4x4 measure=1s -o "$tmp/killed.db" \
	>/dev/null 2>&1 &
db=$tmp/killed.db
i=0
until [ -n "$(ask "select value v from meta where key = 'ending'")" ]; do
	i=$((i + 1))
	[ $i -lt 200 ] || break
	sleep 0.1
done
kill -9 $!
wait $! 2>/dev/null
is 'the ending' stopped "$(ask "select value v from meta where key = 'ending'")"
run rerun "$db"
is 'the exit code of a rerun' 2 $code
report 'a run that was killed leaves a file that says "stopped"'

(
	ulimit -f 40
	trap '' XFSZ
	exec "$weft" run bgq $small --sample 10ns -o "$tmp/full.db"
) >"$tmp/out" 2>"$tmp/err"
code=$?
is 'the exit code' 2 $code
grep -q 'full.db: ' "$tmp/err" || complain "said: $(cat "$tmp/err")"
db=$tmp/full.db
[ ! -e "$db" ] || is 'the ending' stopped \
	"$(ask "select value v from meta where key = 'ending'")"
report 'a full disk is told, and leaves no file that lies'

printf 'mine\n' >"$tmp/mine"
refused 'is not a run file' run bgq $small -o "$tmp/mine"
is 'the file' mine "$(cat "$tmp/mine")"
report "a user's file is not overwritten"
refused 'cannot be created' run bgq $small -o "$tmp/none/run.db"
refused 'is a directory' run bgq $small -o "$tmp"
refused 'cannot be created' run bgq $small --links "$tmp/none/x.csv"
refused 'has no effect without --output' run bgq $small --sample 1us
refused 'has nodes 0 to 7' run bgq $small --follow 99.0
refused 'is not a time' run bgq $small --sample 0ns -o "$tmp/x.db"
refused 'is not a run file' sql "$tmp/mine" 'select 1'
refused 'No such file' sql "$tmp/none.db" 'select 1'
refused 'is not a run file' compare "$tmp/mine" "$tmp/mine"
cp "$tmp/other.db" "$tmp/same.db"
for query in 'delete from meta' 'pragma journal_mode = wal' 'vacuum' \
	"vacuum into '$tmp/new.db'" "attach '$tmp/new.db' as x" \
	'pragma user_version = 7' 'pragma query_only = 0' 'reindex' \
	'create temp table t(x)' 'begin exclusive'; do
	refused 'queries can only read' sql "$tmp/other.db" "$query"
done
cmp -s "$tmp/other.db" "$tmp/same.db" || complain 'it is another file'
[ ! -e "$tmp/new.db" ] || complain 'a new file'
ls "$tmp" | grep -e -wal -e -journal >>"$tmp/complaints"
for query in 'pragma table_info(meta)' 'pragma journal_mode' \
	"select count(*) from pragma_table_info('link')" \
	'select sum(value) from sample, items(use)' \
	"select * from json_each('[1]')"; do
	run sql "$tmp/other.db" "$query"
	[ $code -eq 0 ] || complain "$query: $(cat "$tmp/err")"
done
report 'no query writes, and those that only ask are answered'
refused 'more than one statement' sql "$tmp/other.db" 'select 1; select 2'
cp "$tmp/other.db" "$tmp/old.db"
python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("pragma user_version = 1")' "$tmp/old.db"
for command in report trace 'plot links'; do
	# shellcheck disable=SC2086
	set -- $command
	refused 'is a run file of schema 1, written by an earlier version' \
		"$1" "$tmp/old.db" ${2:+"$2"} -o "$tmp/x"
done
run run bgq $small -o "$tmp/old.db"
is 'the exit code over an older file' 0 $code
head -c 5000 "$tmp/other.db" >"$tmp/cut.db"
refused 'cut.db: ' sql "$tmp/cut.db" 'select * from link'

run run bgq $small --links "$tmp/links.csv" --histogram
grep -q '#' "$tmp/out" || complain "no histogram: $(cat "$tmp/out")"
is 'lines' 193 "$(wc -l <"$tmp/links.csv" | tr -d ' ')"
head -1 "$tmp/links.csv" | grep -q '^site,port,name,' ||
	complain "$(head -1 "$tmp/links.csv")"
report 'every link and channel has its line in --links'
# Of the four that most routers have; a minimal dragonfly has two stages.
for what in 'torus:4' 'fattree:2' 'dragonfly:2' 'gemini:2' 'qsnet2-16:2' \
	'apenet:2'; do
	machine=${what%:*}
	run run $machine random warmup=1us measure=1us --until 2us \
		--links "$tmp/links.csv" --json
	is "channels of $machine" "${what#*:}" \
		"$(sed 1d "$tmp/links.csv" | sed 's/"[^"]*"//g' |
			cut -d , -f 8 | sort -u | wc -l | tr -d ' ')"
done
report 'channels that do not exist have no line in --links'

# Sweeps.
sweep="sweep torus random load=0.2..0.6:0.2 seed=1..2 warmup=2us measure=10us
	--shape 4x4"
run $sweep -o "$tmp/curves.db" --csv "$tmp/a.csv" --svg "$tmp/a.svg"
is 'the exit code' 0 $code
is 'rows' 4 "$(wc -l <"$tmp/out" | tr -d ' ')"
grep -q '±' "$tmp/out" || complain 'no confidence over seeds'
head -1 "$tmp/a.svg" | grep -q '^<svg' || complain 'no picture'
run $sweep -o "$tmp/curves.db" --csv "$tmp/b.csv" --jobs 1
cmp -s "$tmp/a.csv" "$tmp/b.csv" || complain 'another result the second time'
run $sweep --csv "$tmp/c.csv" --jobs 1
cmp -s "$tmp/a.csv" "$tmp/c.csv" || complain 'another result one by one'
report 'a sweep averages seeds, and does nothing twice'

# Sweeps that do not get to their end; the last point takes for ever.
long="sweep torus random load=0.2,0.4 measure=10us,1s --shape 4x4 warmup=2us
	--jobs 1"
points() { # how many a file has
	"$weft" sql "$1" 'select count(*) from point' 2>/dev/null | tail -n 1 |
		tr -d ' '
}
await() { # until the two short ones are done
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ "$(points "$1")" = 2 ] && break
		sleep 0.2
	done
}
for signal in INT KILL; do
	# a shell's jobs in the background ignore Ctrl-C
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$weft" $long -o "$tmp/$signal.db" \
		>"$tmp/out" 2>"$tmp/err" &
	await "$tmp/$signal.db"
	child=$(pgrep -P $! | head -n 1)
	kill -$signal $!
	wait $! 2>/dev/null
	code=$?
	[ -n "$child" ] || complain 'no point was running'
	sleep 0.1
	case $(ps -o stat= -p "$child") in
	'' | Z*) ;;
	*) complain 'a point goes on' ;;
	esac
	is 'points' 2 "$(points "$tmp/$signal.db")"
	[ $signal = KILL ] || is 'the exit code' 6 $code
	[ $signal = KILL ] || grep -q '^stopped after 2 of 4 points; the same' \
		"$tmp/out" || complain "said: $(cat "$tmp/out" "$tmp/err")"
	report "a sweep that is ended by SIG$signal keeps what it has"
done
for most in 20 120; do
	(
		ulimit -f $most
		trap '' XFSZ
		exec "$weft" sweep torus random load=0.1..0.9:0.01 --shape 2 \
			bytes=64 warmup=1us measure=1us -o "$tmp/short.db"
	) >"$tmp/out" 2>"$tmp/err"
	is "the exit code at $most" 2 $?
	grep -q 'short.db: ' "$tmp/err" || complain "said: $(cat "$tmp/err")"
	[ $most = 120 ] || [ ! -e "$tmp/short.db" ] || complain 'a file is left'
done
[ "$(points "$tmp/short.db")" -gt 0 ] || complain 'the first points are lost'
report 'a sweep onto a full disk says so'

run sweep torus hotspot load=0.2,2,4 share=90% warmup=2us measure=10us \
	--shape 4x4 --jobs 1
grep -q 'saturated$' "$tmp/out" || complain 'nothing is saturated'
grep -q 'saturation skipped' "$tmp/out" || complain 'nothing was left out'
rows=$(grep -c 'saturated$' "$tmp/out")
run sweep torus hotspot load=0.2,2,4 share=90% warmup=2us measure=10us \
	--shape 4x4 --jobs 1 --past-saturation
is 'saturated points' $((rows + 1)) "$(grep -c 'saturated$' "$tmp/out")"
! grep -q 'saturation skipped' "$tmp/out" || complain 'something was left out'
report 'a saturated curve ends, or goes on where that is asked for'
for command in trace rerun 'plot links' "compare $tmp/run.db"; do
	# shellcheck disable=SC2086
	set -- $command
	refused 'curves.db: is the file of a sweep' "$1" "$tmp/curves.db" \
		${2:+"$2"}
done
# Files that were read, and a change of each.
mkdir "$tmp/in"
printf 'schema: 1\nmachine: mine\nbase: under\n' >"$tmp/in/mine.yaml"
printf 'schema: 1\nmachine: under\nbase: torus\n' >"$tmp/in/under.yaml"
printf 'schema: 1\nfaults:\n  bit-errors: none\n' >"$tmp/in/plan.yaml"
printf '0,1,1\n1,0,1\n' >"$tmp/in/matrix.txt"
"$weft" goal allreduce ranks=4 bytes=64 -o "$tmp/in/ring.goal" 2>"$tmp/err" ||
	complain "goal: $(cat "$tmp/err")"
cat >"$tmp/in/jobs.yaml" <<END
schema: 1
jobs:
  - { name: a, nodes: 0..3, workload: replay,
      keys: { file: $tmp/in/ring.goal } }
END
changes() { # FILE KIND: of the run in $db; appends a line
	cp "$tmp/in/$1" "$tmp/kept"
	echo '# more' >>"$tmp/in/$1"
	run rerun "$db"
	grep -q "^changed  *$2 .*$1\$" "$tmp/out" ||
		complain "$1: $(cat "$tmp/out" "$tmp/err")"
	cp "$tmp/kept" "$tmp/in/$1"
	run rerun "$db"
	[ $code -eq 0 ] && ! grep -q '^changed' "$tmp/out" ||
		complain "$1: $(cat "$tmp/out" "$tmp/err")"
}
db=$tmp/in.db
tiny='--shape 2x2 warmup=1us measure=2us'
run run "$tmp/in/mine.yaml" matrix file="$tmp/in/matrix.txt" $tiny -o "$db" \
	--faults "$tmp/in/plan.yaml"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
changes mine.yaml 'machine file'
changes under.yaml 'machine file'
changes matrix.txt file
changes plan.yaml 'plan of faults'
mv "$tmp/in/matrix.txt" "$tmp/kept"
run rerun "$db"
[ $code -eq 2 ] || complain "gone: $code: $(cat "$tmp/out")"
mv "$tmp/kept" "$tmp/in/matrix.txt"
run run torus --jobs "$tmp/in/jobs.yaml" --shape 2x2 --no-alone -o "$db"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
changes jobs.yaml 'file of jobs'
changes ring.goal file
db=$tmp/run.db
report 'rerun names the files that are not what they were'

db=$tmp/about.db
run sweep "$tmp/in/mine.yaml,fattree" random load=0.1,0.2 \
	--set link.rate=5GB/s --shape 4 warmup=1us measure=2us -o "$db"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
is 'the version' "$("$weft" --version | cut -d ' ' -f 2)" \
	"$(ask "select value v from meta where key = 'weft'")"
is 'the command' "weft sweep $tmp/in/mine.yaml" "$(ask "select value v from meta
	where key = 'command'" | cut -c "1-$((24 + ${#tmp}))")"
for machine in mine fattree; do
	is "the rate of $machine" '5 GB/s' "$(ask "select value v from param
		where path = 'link.rate' and machine = '$machine'")"
done
is 'machine files' 4 "$(ask "select count(*) v from input where kind =
	'machine file'")"
echo '# more' >>"$tmp/in/under.yaml"
refused 'the sweep cannot continue: machine file' sweep \
	"$tmp/in/mine.yaml,fattree" random load=0.1,0.3 \
	--set link.rate=5GB/s --shape 4 warmup=1us measure=2us -o "$db"
db=$tmp/run.db
report 'a sweep file has its command, version and parameters'

db=$tmp/faulty.db
point='random --shape 16 warmup=1us measure=4us'
cat >"$tmp/plan.yaml" <<END
schema: 1
faults:
  events: [2 us link 1.0 up 0 dies]
END
run run fattree $point load=0.3 --faults "$tmp/plan.yaml" --json
one=$(value digest)
run sweep fattree $point load=0.1,0.3 --faults "$tmp/plan.yaml" -o "$db"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
is 'the digest with faults' "$one" \
	"$(ask 'select digest v from point where x = 0.3')"
run sweep fattree $point load=0.3 --json -o "$tmp/whole.db"
is 'the same digest without faults' 0 "$("$weft" sql "$tmp/whole.db" \
	"select digest from point" | grep -c "$one")"
is 'the plan' "$tmp/plan.yaml" \
	"$(ask "select value v from meta where key = 'faults'")"
report 'every point of a sweep runs with its plan of faults'
refused 'name another file' sweep fattree $point load=0.1 -o "$db"
refused ', but this is "random shape=16 ' sweep fattree $point load=0.1 \
	-o "$db"
# A mistyped file fails in every run; without it the sweep begins anew.
run sweep fattree matrix file=none load=0.1 -o "$tmp/again.db"
[ $code -eq 2 ] || complain "exit code $code"
run sweep fattree $point load=0.1 -o "$tmp/again.db"
[ $code -eq 0 ] || complain "$(cat "$tmp/err")"
report 'a sweep without a result does not hold its file'
echo 'faults: [' >"$tmp/no-plan.yaml"
for plan in missing.yaml no-plan.yaml; do
	run sweep fattree $point load=0.1 --faults "none,$tmp/$plan" \
		-o "$tmp/plans.db"
	[ ! -e "$tmp/plans.db" ] || complain "$plan: there is a file"
	judge 2 "/$plan:"
done
report 'a plan that cannot be read ends a sweep before its first run'
echo '# more' >>"$tmp/plan.yaml"
refused 'the sweep cannot continue: plan of faults' sweep fattree $point \
	load=0.1 --faults "$tmp/plan.yaml" -o "$db"
db=$tmp/run.db

refused 'below its start' sweep torus random load=1..0
refused 'needs a step, as in 0.1..0.5:0.1' sweep torus random load=0.1..0.5
refused 'longer than the range' sweep torus random load=0.1..0.5:0.5
refused 'is not a range' sweep torus random seed=1..
run sweep torus random load=0.2 --shape 16,4x4 warmup=1us measure=2us
grep -q '^warning .*--shape 16 has only one .*--shape 4x2x2$' "$tmp/out" &&
	[ $code -eq 0 ] || complain "sweep: $(cat "$tmp/out" "$tmp/err")"
ring() { # WORDS: prints a warning for one dimension, and none for two
	run "$@" --shape 64
	grep -q '^warning .*has only one .*--shape 4x4x4$' "$tmp/out" ||
		complain "$*: $(cat "$tmp/out" "$tmp/err")"
	run "$@" --shape 8x8
	! grep -q 'only one dimension' "$tmp/out" ||
		complain "8x8: $(cat "$tmp/out")"
}
ring run torus random measure=1us
ring show torus
report 'a shape of one number, for a torus, is said to be one dimension'
refused 'value is missing' sweep torus random load=
refused 'given twice' sweep torus random load=1 load=2
refused 'no workload is called' sweep torus randm
refused 'belongs to another sweep' sweep torus random \
	-o "$tmp/curves.db" bytes=64
refused 'no point has a figure' sweep torus random load=0.2 --shape 2x2 \
	measure=1us warmup=0us --figures nonsense

exit $status
