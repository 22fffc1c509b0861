#!/bin/sh
#
# MPI programs that hang or work on after MPI_Finalize, connections that hold up
# the start of a job, and a simulator that is killed.  Nearly all of it is
# waiting, so all runs are started at once.  Needs $WEFT built with libfabric
# and PMIx, and mpicc.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

mpicc -Wall -o "$tmp/hang" "$src/tests/mpi/hang.c" || complain 'hang: mpicc'
report 'Open MPI compiles the program'

# Results are in $tmp/NAME.*; all processes of the run have NAME in their
# environment.
begin() { # NAME OPTIONS CASE
	mark=$tmp/$1
	(
		WEFT_TEST_MARK=$mark timeout --foreground 60 "$weft" mpirun \
			torus -n 2 $2 -- "$tmp/hang" $3 \
			>"$mark.out" 2>"$mark.err"
		echo $? >"$mark.code"
	) <"${input:-/dev/null}" &
}

ends() { # NAME CODE TEXT; what standard error says
	code=$(cat "$tmp/$1.code")
	[ "$code" -eq "$2" ] ||
		complain "$1: $code, not $2: $(cat "$tmp/$1.err")"
	grep -qE -- "$3" "$tmp/$1.err" ||
		complain "$1: no '$3' in: $(cat "$tmp/$1.err")"
}

short=patience-wall=2s
for name in pause stop close child finalize asleep never; do
	begin $name $short $name
done
begin processes "$short --processes 2" pause
for name in silent partial slow; do
	begin $name '' $name
done
begin compute $short compute

# --- killed simulators ---

# For a minute at most.
await() { # FILE TEXT
	for _ in $(seq 600); do
		! grep -q "$2" "$1" 2>/dev/null || return
		sleep 0.1
	done
}

# Processes of one run.
left() { # NAME
	grep -lsxz "WEFT_TEST_MARK=$tmp/$1" /proc/[0-9]*/environ
}

# Folders are named by the helper.
kill_weft() { # PID NAME
	helper=$(cat "/proc/$1/task/$1/children")
	kill -KILL "$1"
	for _ in $(seq 150); do
		[ "$(left "$2")" ] || break
		sleep 0.1
	done
	[ -z "$(left "$2")" ] || echo "$2: left: $(left "$2" | tr '\n' ' ')"
	for pid in $helper; do
		pid=$(printf %010d "$pid")
		find /dev/shm /tmp -maxdepth 1 -name "weft-$pid*"
	done
}

start_killed() { # NAME CASE...
	killed=$1
	shift
	WEFT_TEST_MARK=$tmp/$killed "$weft" mpirun torus -n 2 ppn=2 -- \
		"$tmp/hang" "$@" \
		>"$tmp/$killed.out" 2>&1 </dev/null &
	victim=$!
}

for ms in 100 160 220 280 340 400 460 520 580 640; do
	(
		start_killed "killed$ms" pause
		sleep 0.$ms
		kill_weft $victim "killed$ms" >"$tmp/killed$ms.left"
	) &
done

# The helper's PMIx waits for a connection that stays.
(
	start_killed held pause "$tmp/port"
	await "$tmp/port" .
	"$tmp/hang" hold "$tmp/port" >"$tmp/hold.out" &
	holder=$!
	await "$tmp/hold.out" held
	sleep 0.2
	kill_weft $victim held >"$tmp/held.left"
	kill $holder
) &

# --- runs that must not be ended ---

for name in traced endless; do
	patience=patience-wall=0s
	case=pause
	[ $name = endless ] || patience=$short case=traced
	(
		"$weft" mpirun torus -n 2 $patience -- "$tmp/hang" $case \
			>"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null &
		run=$!
		sleep 4
		[ $name = traced ] || await "$tmp/$name.err" 'no rank has'
		kill -INT $run
		wait $run
		echo $? >"$tmp/$name.code"
	) &
done
# Ranks get a line of input when Weft has said that it waits for it.
for name in read late; do
	text='rank 0, which waits'
	[ $name = read ] || text='rank 0 has not called'
	mkfifo "$tmp/$name.in"
	input=$tmp/$name.in begin $name $short $name
	(
		exec >"$tmp/$name.in"
		await "$tmp/$name.err" "$text"
		sleep 2
		echo
	) &
done
wait

# --- results ---

quiet='no rank has computed for [12] s, and the machine waits for rank 1, which'
over='nothing has happened for 2 s .patience-wall.'
for name in pause processes; do
	ends $name 3 "$quiet sleeps in pause\(\) of .*libc"
	ends $name 3 "rank 1 sleeps in pause\(\) of .*libc.*; $over"
	ends $name 3 'reproducible no: patience-wall'
done
ends stop 3 "$quiet is stopped by a signal"
ends stop 3 "rank 1 is stopped by a signal.*; $over"
ends close 3 "rank 1 does not end .*and has closed all descriptors above 2"
for name in child finalize; do
	ends $name 3 "$quiet waits for process [0-9]*, which it has forked and"
	ends $name 3 "rank 1 waits for .*which calls MPI: .* $over"
done
report 'a run that hangs says why, and ends after some time'

ends endless 6 'no rank has computed for [56] s'
ends traced 6 'stopped$'
! grep 'no rank' "$tmp/traced.err" || complain 'a traced rank is quiet'
ends read 0 'rank 0, which waits for input or output in read\(\)'
report 'a rank that is traced or waits for input is not ended, nor with 0s'

ends compute 0 'rank 1 still runs [12] s after MPI_Finalize'
ends slow 0 'rank 1 still runs [56] s after MPI_Finalize'
asleep='does not end after MPI_Finalize at .*: rank 1 sleeps in pause'
ends asleep 3 "rank 1 $asleep"
ends asleep 3 "$over"
report 'after MPI_Finalize a rank may compute and wait for files, not sleep'

ends silent 0 'finished$'
ends partial 0 'finished$'
! grep 'not called' "$tmp/silent.err" || complain 'silent: it waits'
report 'a connection that says nothing does not hold up the start'

ends late 0 'rank 0 has not called MPI_Init after [12] s'
[ "$(grep -c 'rank 0 has not called' "$tmp/late.err")" -eq 1 ] ||
	complain "not once: $(cat "$tmp/late.err")"
ends never 3 'rank 1 has not called MPI_Init after [12] s'
ends never 3 "rank 1 sleeps in pause\(\) of .*; $over"
report 'ranks that do not reach MPI_Init are named'

for file in "$tmp"/*.left; do
	[ ! -s "$file" ] || complain "$(cat "$file")"
done
report 'when the simulator is killed nothing is left'
! pgrep -f "$tmp/hang" >/dev/null || complain "$(pgrep -fa "$tmp/hang")"
report 'no process is left'
exit $status
