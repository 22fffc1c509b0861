#!/bin/sh
#
# Time of MPI programs, and what is the same in each run.  Needs $WEFT built
# with libfabric and PMIx, and mpicc.
# MPI-F7.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

for file in tests/mpi/timed examples/mpi/computes examples/mpi/threads; do
	mpicc -Wall -rdynamic -I"$src/include" -o "$tmp/$(basename $file)" \
		"$src/$file.c" || complain "$file: mpicc"
done
report 'Open MPI compiles the programs'

# $code, $tmp/out and $tmp/err are what came of it.
timed() { # OPTION... -- WORD...
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	timeout 100 "$weft" mpirun torus -n 2 $options -- "$tmp/timed" "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}

ends() { # CODE TEXT; what standard error says
	[ $code -eq "$1" ] || complain "$code, not $1: $(cat "$tmp/err")"
	grep -qF -- "$2" "$tmp/err" ||
		complain "no '$2' in: $(cat "$tmp/err")"
}

says() { # TEXT; what all ranks print
	[ "$(grep -cF -- "$1" "$tmp/out")" -eq 2 ] ||
		complain "not twice '$1' in: $(cat "$tmp/out")"
}

timed -- looks sleeps timers declare children reads
ends 0 'reproducible yes'
says 'looks 50 50 50 50 50 50 ns, day 0, resolution 1 ns'
report 'each look at a clock takes 25 ns, and the day begins with 2000'
says 'reads 25 ns each, few, in time, at last 10000, after a call 25'
report 'after 16,384 reads in a row, reads become longer'
says 'sleeps 1000 1000 1000000 1000 500 1000 1000 1000 1000 1000 us'
says 'yield 125 ns'
report 'sleeps take what they say, and to yield is a look'
says 'timers 0 1 of 17 2, overruns 4, 900 us left, 2 3 of 18, 3 4'
report 'timers fire with the first call behind their time'
says 'declared 123456 ns'
"$weft" mpirun torus -n 3 -- "$tmp/computes" >"$tmp/out3" 2>"$tmp/err"
awk '/^sum 18000/ && $5 > 2 && $7 > $5 + 0.5 { is_good = 1 }
	END { exit !is_good }' "$tmp/out3" ||
	complain "$(cat "$tmp/out3" "$tmp/err")"
report 'a program can say how long it computes'
says 'children 3 5 1, parent 0'
report 'children of a rank have the real clock and no channel'

timed tsc=trap -- ticks ends rests
ends 0 'reproducible yes'
says 'ticks 3025'
report "the processor's clock can be the machine's"
says 'at the end 1'
says 'at the start 1'
report 'sleeps in MPI_Init become long, and those in MPI_Finalize are short'

# As many as may begin at once, and one more.
what='no more than twice the cores begin at once'
most=$((2 * $(nproc)))
if [ $most -le 16 ]; then
	"$weft" mpirun torus -n $((most + 1)) -- "$tmp/timed" starts \
		>"$tmp/out" 2>"$tmp/err"
	awk '$3 < 100 { exit 1 }' "$tmp/out" || complain "$(cat "$tmp/out")"
	grep -q '^started' "$tmp/out" || complain "$(cat "$tmp/err")"
	report "$what"
else
	skip "$what" 'many cores'
fi

# From anywhere, and in any environment.
weft=$(realpath "$weft")
WEFT_MACHINES=$(realpath "$WEFT_MACHINES")
folder=$tmp
for i in $(seq "${WEFT_RUNS:-2}"); do
	folder=$folder/$i$i$i
	mkdir "$folder"
	cd "$folder" || exit 1
	export MORE="${MORE:-}much more than before"
	timed --threads $((i % 2 + 1)) -- selves addresses
	ends 0 'reproducible yes'
	cp "$tmp/out" "$tmp/out$i"
	cmp -s "$tmp/out1" "$tmp/out" ||
		complain "$(diff "$tmp/out1" "$tmp/out")"
done
cd "$tmp" || exit 1
grep -q '^node1, timed 1001 of 999, cpu 0 of 1 1 1, random.*, 25$' \
	"$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'name, processors, random numbers and addresses are always the same'

timed --json -- sockets sources
ends 0 '"reproducible": false'
ends 0 '"sockets"'
ends 0 "\"the host's random numbers\""
(
	ulimit -v 60000000
	timed -- looks
	ends 0 'reproducible no: addresses of memory'
)
timed -- threads
ends 0 'reproducible no: threads'
says 'threads have got 41 41, and return 7'
"$weft" mpirun torus -n 3 -- "$tmp/threads" >"$tmp/out" 2>"$tmp/err"
code=$?
ends 0 'reproducible no: threads'
grep -qx 'threads: 190, 20190' "$tmp/out" || complain "$(cat "$tmp/out")"
report 'what cannot be the same is named, and threads compute in peace'

# --- computing ---

timed compute=cpu -- compute
ends 0 'reproducible no: measured computing'
awk '$1 == "computes" && $2 < 300 { exit 1 }' "$tmp/out" ||
	complain "no time passes: $(cat "$tmp/out")"
timed compute=record:"$tmp/recording" -- compute
ends 0 'reproducible no: measured computing'
cp "$tmp/out" "$tmp/recorded"
timed compute=replay:"$tmp/recording" --threads 1 -- compute
ends 0 'reproducible yes'
cmp -s "$tmp/recorded" "$tmp/out" ||
	complain "$(cat "$tmp/recorded" "$tmp/out")"
timed compute=replay:"$tmp/recording" speed=0.5 -- compute
awk 'FNR == NR { t[FNR] = $2; next }
	$1 == "computes" { half = 2 * $2 / t[FNR] }
	$1 == "computes" && (half < 0.95 || half > 1.05) { exit 1 }' \
	"$tmp/recorded" "$tmp/out" || complain "$(cat "$tmp/out")"
timeout 100 "$weft" mpirun gemini -n 2 compute=replay:"$tmp/recording" -- \
	"$tmp/timed" compute >"$tmp/out" 2>"$tmp/err"
code=$?
ends 0 'reproducible yes'
report 'computing is measured, recorded, and replayed on any machine'

timed compute=replay:"$tmp/recording" -- compute otherwise
ends 2 'rank 1 does not make the calls of the recording'
ends 2 'comes MPI_Barrier, and in the recording MPI_Finalize'
timed compute=replay:"$tmp/recording" --
ends 2 'after 2 calls comes MPI_Finalize, and in the recording MPI_Irecv'
report 'a program that takes another way than its recording is told where'

# Of two looks, and the program makes more.
{
	printf 'weft computing 1\nranks 2\n'
	for rank in 0 1; do
		printf 'rank %d\nMPI_Comm_rank 0\nMPI_Comm_size 0\n' $rank
		printf -- '-2 8000\nMPI_Finalize 0\n'
	done
	echo end
} >"$tmp/recording2"
timed compute=replay:"$tmp/recording2" -- looks
says 'looks 8050 8050 8050 8050 8050 8050 ns'
sed 's/^MPI_Finalize 0/&\nMPI_Barrier 0/' "$tmp/recording2" >"$tmp/longer"
timed compute=replay:"$tmp/longer" -- looks
ends 2 'after 3 calls comes its end, and in the recording MPI_Barrier'
report 'further looks take the average, and no recorded call is left over'

bad() { # TEXT; as what replaying $tmp/bad ends
	timed compute=replay:"$tmp/bad" -- compute
	ends 2 "$1"
}

head -n 8 "$tmp/recording" >"$tmp/bad"
bad ':9: the recording is cut off'
sed 's/^ranks 2/ranks 3/' "$tmp/recording" >"$tmp/bad"
bad 'the recording is of 3 ranks, but there are 2'
sed 's/MPI_Irecv/MPI_Nothing/' "$tmp/recording" >"$tmp/bad"
bad 'there is no such call of MPI'
sed 's/^MPI_Irecv .*/MPI_Irecv 99999999999999999999/' "$tmp/recording" \
	>"$tmp/bad"
bad 'want a name, a space and a number'
sed 's/^MPI_Irecv .*/MPI_Irecv 1000000000001/' "$tmp/recording" >"$tmp/bad"
bad 'more than 1,000 s'
sed 's/computing 1/computing 2/' "$tmp/recording" >"$tmp/bad"
bad 'of another version'
head -c 3000 /dev/urandom >"$tmp/bad"
bad 'this is no recording'
sed '/^rank 1$/d' "$tmp/recording" >"$tmp/bad"
bad 'ranks are missing'
timed compute=replay:"$tmp/none" -- compute
ends 2 'No such file'
echo precious >"$tmp/bad"
timed compute=record:"$tmp/bad" -- compute
ends 2 'is not a recording of computing that weft wrote'
timed compute=fast -- compute
ends 2 'fast is none of free, cpu, record:FILE and replay:FILE'
run sweep torus mpi ranks=2 compute=record:"$tmp/new" -- "$tmp/timed"
ends 2 'one file cannot be written by several runs'
[ "$(cat "$tmp/bad")" = precious ] || complain 'a file was overwritten'
report 'recordings that are none are refused, and other files are kept'

# --- waiting ---

timed idle=1ms -- tests
ends 3 'rank 0 (node 0): MPI_Test, 1 receive pending, from any, tag 5'
ends 3 'since 10.000 us'
ends 3 'rank 1 (node 1): MPI_Wait, 1 receive pending'
timed idle=1ms -- probes
ends 3 'rank 0 (node 0): MPI_Iprobe from any, tag 5'
timed idle=1ms -- hides
ends 3 'rank 0 (node 0): outside of MPI'
report 'ranks that test for ever have stalled'

timed -- late
ends 0 finished
grep -q '^few probes, 2001 us' "$tmp/out" || complain "$(cat "$tmp/out")"
timed -- forever
ends 4 'reached 275 s'
timed --json -- hides-long
awk '$1 == "\"crossings\":" { exit !($2 + 0 > 20 && $2 + 0 < 100) }' \
	"$tmp/err" || complain "crossings of 20 ms: $(cat "$tmp/err")"
report 'many tests in vain become fewer, and miss nothing'

few() { # as crossings of the last run
	awk '$1 == "\"crossings\":" { exit !($2 + 0 < 20000) }' "$tmp/err" ||
		complain "$(grep crossings "$tmp/err")"
}

# With a crossing for each test these are two millions.
timed --json -- probes
ends 3 'rank 0 (node 0): MPI_Iprobe from any, tag 5'
few
for threads in 1 2; do
	timed --json --threads $threads -- counts
	ends 0 '"reproducible": true'
	few
	awk '$4 < 455000 || $4 > 490000 { exit 1 }' "$tmp/out" ||
		complain "$(cat "$tmp/out")"
	grep '"digest"' "$tmp/err" >>"$tmp/out"
	cp "$tmp/out" "$tmp/out$threads"
done
cmp -s "$tmp/out1" "$tmp/out2" || complain "$(cat "$tmp/out1" "$tmp/out2")"
report 'if all ranks test and nothing can arrive, few tests cross'

timeout --foreground 60 "$weft" mpirun torus -n 2 patience=50ms -- \
	"$tmp/timed" loops >"$tmp/out" 2>"$tmp/err" </dev/null &
pid=$!
for i in $(seq 300); do
	[ "$(grep -c computed "$tmp/err")" -lt 5 ] || break
	sleep 0.1
done
kill -INT $pid
wait $pid
code=$?
ends 6 'rank 1 has computed for'
! grep -q 'computed for 0\.0 s' "$tmp/err" || complain "$(cat "$tmp/err")"
# Each line takes twice as long: 50, 100, 200, 400 and 800 ms.
sed -n 's/.*computed for \([0-9.]*\) s .*/\1/p' "$tmp/err" |
	awk 'NR == 5 && $1 < 0.75 { exit 1 }' ||
	complain "too often: $(cat "$tmp/err")"
ends 6 "and is in spin_here() of $tmp/timed"
ends 6 ': stopped'
report 'a rank that loops is named with its function, and can be stopped'

timed spin=interrupt -- spins
ends 0 'reproducible no: interrupts of ranks that compute'
grep -qx 'got 0' "$tmp/out" || complain "$(cat "$tmp/out")"
report 'a rank that waits for its memory to change can be interrupted'

# --- ranks at once ---

timed --set mpi.turn=0ns --threads 1 -- overlaps
grep -qx 'overlap 0' "$tmp/out" || complain "turn=0: $(cat "$tmp/out")"
for threads in 1 2; do
	timed --set mpi.turn=5us --threads $threads -- overlaps looks late
	ends 0 'reproducible yes'
	grep -qx 'overlap 1' "$tmp/out" ||
		complain "$threads threads: $(cat "$tmp/out")"
	cp "$tmp/out" "$tmp/out$threads"
	grep '^digest' "$tmp/err" >>"$tmp/out$threads"
	cmp -s "$tmp/out1" "$tmp/out$threads" ||
		complain "$(cat "$tmp/out1" "$tmp/out$threads")"
done
report 'with mpi.turn ranks run at once, with one result on any threads'

! pgrep -f "$tmp/" >/dev/null || complain "left: $(pgrep -fa "$tmp/")"
report 'no process is left'
exit $status
