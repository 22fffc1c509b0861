#!/bin/sh
#
# Looking inside runs of MPI programs: accounts of ranks, the report, the run
# file with calls and transfers, reruns, pages and traces.  Needs what mpi.sh
# needs.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"
. "$(dirname "$0")/look.sh"

program=$tmp/look
db=$tmp/run.db
mpicc -Wall -o "$program" "$src/tests/mpi/look.c" || complain 'mpicc'

says() { # TEXT; on standard error, where long lines go on below
	{
		cat "$tmp/err"
		sed -e :a -e '$!N' -e 's/\n            / /' -e ta -e 'P;D' \
			"$tmp/err"
	} | grep -qE -- "$1" || complain "no '$1' in: $(cat "$tmp/err")"
}

sql() { # WANTED QUERY, as one line without its head
	got=$("$weft" sql "$db" "$2" | tail -n +2 | tr -s ' \n' '  ' |
		sed 's/^ //; s/ $//')
	[ "$got" = "$1" ] || complain "$2: '$got', not '$1'"
}

mpirun gemini -n 4 --output "$db" -- "$program" talk
[ $code -eq 0 ] || complain "$code: $(cat "$tmp/err")"
says '^weft: gemini 4x4x4.*, 4 ranks on nodes 0\.\.3, Open MPI [0-9.]*: finish'
says '^ranks +slowest .* % waiting for messages, .* % waiting in collect.*, '
says '% in the interface.s calls.*, [0-9.]* % computing$'
says '^messages +[0-9]* short, [0-9]* long, 0\.30[0-9]* MB; calls of .*: 0 '
says '^crossings +[0-9]+, [0-9]+ us each; [0-9.]+ s of the host.s time in ranks'
[ "$(grep -E '^(ranks|messages|  )' "$tmp/err" | wc -L)" -le 80 ] ||
	complain "long lines: $(cat "$tmp/err")"
report 'the report tells where the time went, and what crossed the network'

sql 4 'select count(*) from rank where to_ps > from_ps and to_ps - from_ps =
	computing_ps + own_ps + calls_ps + tests_ps + messages_ps
	+ collectives_ps'
# Each rank sleeps for 2 us; ranks 1 to 3 test, and rank 0 does not.
sql 4 'select count(*) from rank where computing_ps = 2000000'
sql 3 'select count(*) from rank where tests_ps > 100000 and rank > 0'
sql 0 'select tests_ps from rank where rank = 0'
sql '' 'select rank from rank r where messages_ps <
	(select sum(waited_ps) from pair p where p.rank = r.rank)'
sql '1 2 3' 'select peer from pair where rank = 0 and bytes >= 100308
	order by peer'
# Rank 0 waits for nobody but those that it sends to.
sql 1 'select (select sum(waited_ps) from pair where rank = 0) = messages_ps
	from rank where rank = 0'
report 'accounts are exact, and waits have the rank whose message ended them'

sql '9 3 4' "select sum(calls * (name = 'MPI_Isend')),
	sum(calls * (name = 'MPI_Waitall')),
	sum(calls * (name = 'MPI_Barrier')) from called"
sql '1 5 8 1 6 300 1 7 100000' "select peer, tag, bytes from call
	where rank = 0 and name = 'MPI_Isend' and peer = 1 order by id"
sql '0 5 -1 6' "select peer, tag from call where rank = 2
	and name = 'MPI_Recv' order by id"
sql 1 "select count(*) from call where rank = 2 and name = 'MPI_Test'
	and times > 10"
sql 0 "select count(*) from call a join call b on b.rank = a.rank
	and b.id = a.id + 1 where b.from_ps < a.to_ps"
sql 4 "select count(*) from call c join rank r using(rank)
	where name = 'MPI_Finalize' and c.to_ps = r.to_ps"
# Tags are of a communicator that is not the world: its number is above them.
sql '5 8 6 300 7 100000' 'select tag & 0xffffffff, bytes from transfer
	where from_rank = 0 and to_rank = 2 and tag >> 32 > 0
	and received_ps > sent_ps and bytes > 4 order by bytes'
# A message begins with the call that sends it, at its sender's clock.
sql 9 "select count(*) from transfer t join call c on c.rank = from_rank
	and c.peer = to_rank and c.tag = t.tag & 0xffffffff
	where name = 'MPI_Isend' and posted_ps = c.from_ps and
	posted_ps <= sent_ps and sent_ps < received_ps and
	expected_ps <= received_ps"
report 'a run file has calls with peer, tag and bytes, and transfers by rank'

digest=$(sed -n 's/^digest *//p' "$tmp/err")
mpirun gemini -n 4 --json --threads 2 -- "$program" talk
says "\"digest\": \"$digest\""
says '"library": "Open MPI'
says '"computing_ps": 2000000'
says '"call": "MPI_Waitall"'
report 'a run is the same without a record; JSON has accounts and calls'

# Of each message the causes add up; it begins with its call.
mpirun gemini -n 2 --budget --follow 0.0 --output "$db" -- "$program" talk
says '^budget  *average of'
says '^follow  *message 0 of node 0'
sql 1 'select count(*) > 9 from message'
sql 0 'select count(*) from message m where end_ps - start_ps <>
	(select sum(ps) from spent where message = m.id)'
# Three sends follow each other without any time between them.
sql 3 "select count(*) from message m join call c on c.rank = m.node and
	c.from_ps = m.start_ps where name = 'MPI_Isend' and c.bytes = 8"
# Messages of the library's own begin when it sends them, not before a sleep.
mpirun bgq-board -n 2 --budget --output "$db" -- "$program" lock
sql 0 'select count(*) from spent where ps > 500000000'
report 'budgets of messages begin with the calls of ranks, and add up'

# The trip of the only message is all time between the calls of both ranks.
for on in torus,8 torus,2000 bgq-board,100000 gemini,8 qsnet2-16,8 \
	qsnet2-16,100000; do
	mpirun "${on%,*}" -n 2 --budget --json --output "$db" -- "$program" \
		late "${on#*,}"
	trip() { # FILTER
		jq ".results.trips | $1" "$tmp/err"
	}
	sql "$(trip .ps)" "select (select to_ps from call where
		name = 'MPI_Recv') - (select from_ps from call where
		name = 'MPI_Isend') as took"
	[ "$(trip '.messages == 1 and .longest_ps == .ps and
		.ps == ([.[] | objects.ps] | add) and
		.unposted.ps > 985000000 and .unposted.ps < 1000000000 and
		.legs.ps > 500000 and .slots.ps == 0')" = true ] ||
		complain "$on: $(trip .)"
done
# Its last one was of a card that matches.
[ "$(trip '.matching.ps > 100000 and .data.ps > 100000000')" = true ] ||
	complain "matching: $(trip .)"
for threads in 1 2; do
	mpirun torus -n 4 --budget --json --threads $threads -- "$program" talk
	jq -c '[.results | .trips, .trip_ns, .trip_unposted_ns,
		.short_messages + .long_messages]' "$tmp/err" \
		>"$tmp/trips$threads"
done
cmp -s "$tmp/trips1" "$tmp/trips2" || complain "$(cat "$tmp"/trips?)"
[ "$(jq '.[0].messages == .[3] and
	(.[0].ps / 1000 / .[3] - .[1] | fabs) < 0.001' \
	"$tmp/trips1")" = true ] || complain "$(cat "$tmp/trips1")"
mpirun torus -n 4 --budget -- "$program" talk
says '^trips  *average of [0-9]+ messages from call to end; longest [0-9.]+ us'
says '^  no receive yet  *[0-9.]+ ns  *[0-9.]+ %'
report 'trips of messages are exact, also where their receives are late'
mpirun gemini -n 4 --output "$db" -- "$program" talk

rerun() { # WORDS BEHIND --
	timeout 100 "$weft" rerun "$db" "$@" >"$tmp/out" 2>"$tmp/err" \
		</dev/null
	code=$?
}

rerun
[ $code -eq 2 ] || complain "$code without a program"
says "if you trust it, use .weft rerun $db -- $program talk."
rerun -- "$program" wait
[ $code -eq 2 ] || complain "$code with another program"
says "the run was one of .$program talk."
rerun -- "$program" talk
[ $code -eq 0 ] || complain "$code: $(cat "$tmp/err")"
says "^digest *$digest, as before"
strip "$program"
OMP_NUM_THREADS=3 rerun -- "$program" talk
says "^changed *program $program"
says '^new *environment OMP_NUM_THREADS=3'
report 'a rerun starts only what the user names, and tells what has changed'

run report "$db" -o "$tmp/page.html"
[ $code -eq 0 ] || complain "$(cat "$tmp/err")"
grep -q '"rank_names"' "$tmp/page.html" || complain 'the page has no ranks'
if can_look; then
	look "$tmp/page.html"
	case $(attribute ranks) in
	*'waits for messages 3;'*'computing 4') ;;
	*) complain "ranks: $(attribute ranks)" ;;
	esac
	case $(attribute called) in
	*'MPI_Isend 9'*) ;;
	*) complain "called: $(attribute called)" ;;
	esac
	case $(attribute timeline) in
	*'rank 3'*collectives*) ;;
	*) complain "timeline: $(attribute timeline)" ;;
	esac
fi
run trace "$db" -o "$tmp/run.pftrace"
[ $code -eq 0 ] || complain "$(cat "$tmp/err")"
[ "$(grep -ac 'rank 3, node 3' "$tmp/run.pftrace")" -ge 1 ] ||
	complain 'rank 3 has no track'
grep -aq 'received from rank 0' "$tmp/run.pftrace" || complain 'no transfer'
report 'pages and traces have ranks'

mpirun bgq-board -n 4 -- "$program" wait
[ $code -eq 3 ] || complain "$code, not 3"
says 'rank 0 \(node 0\): MPI_Barrier, since .* \(and 2 others\)$'
mpirun bgq-board -n 4 collectives=messages --output "$db" -- "$program" wait
[ $code -eq 3 ] || complain "$code, not 3"
says '^ *(waiting *)?rank 1 \(node 1\): MPI_Waitall, 1 .*, from 0, tag 9, si'
says 'rank 2 \(node 2\): MPI_Barrier, .* \(and 1 other\)$'
sql 'MPI_Waitall' 'select name from call where rank = 1 and to_ps is null'
sql 4 'select count(*) from rank where to_ps - from_ps = computing_ps + own_ps
	+ calls_ps + tests_ps + messages_ps + collectives_ps'
report 'ranks that wait for ever are named with what they have asked for'
exit $status
