#!/bin/sh
#
# What a user of `weft mpirun` types, and what becomes of the processes.  Needs
# $WEFT built with libfabric and PMIx, and mpicc.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

mpicc -o "$tmp/ring" "$src/examples/mpi/ring.c" || complain 'ring: mpicc'
for file in launch behave fabric pmi; do
	mpicc -I"$src/include" -o "$tmp/$file" "$src/tests/mpi/$file.c" \
		-lfabric || complain "$file: mpicc"
done
report 'Open MPI compiles the programs'

small='torus --shape 4x4'

says() { # FILE TEXT
	grep -qF -- "$2" "$tmp/$1" || complain "no '$2' in: $(cat "$tmp/$1")"
}

ends() { # CODE TEXT; what standard error says
	[ $code -eq "$1" ] || complain "$code, not $1: $(cat "$tmp/err")"
	says err "$2"
}

# --- the report ---

mpirun bgq-board -n 2 --report "$tmp/report" -- "$tmp/ring"
[ $code -eq 0 ] && [ ! -s "$tmp/err" ] || complain "$code: $(cat "$tmp/err")"
[ "$(wc -l <"$tmp/out")" -eq 3 ] || complain "$(cat "$tmp/out")"
says report 'weft: bgq-board'
says report 'digest '
mpirun bgq-board -n 2 --report "$tmp/report" -- sh -c 'exit 3'
grep -qx 'weft: rank 0 ended with .* 3 before the end of MPI_Init' \
	"$tmp/report" || complain "$(cat "$tmp/report")"
mpirun bgq-board -n 2 --json --report "$tmp/report" -- "$tmp/ring"
says report '"ending": "finished"'
head -c 1 "$tmp/report" | grep -q '{' || complain "$(head -n 1 "$tmp/report")"
cp "$tmp/ring" "$tmp/kept"
mpirun bgq-board -n 2 --report "$tmp/kept" -- "$tmp/ring"
ends 2 'not a report that weft wrote'
cmp -s "$tmp/ring" "$tmp/kept" || complain 'it is replaced'
"$weft" mpirun $small -n 2 -- "$tmp/ring" >"$tmp/out" 2>&-
code=$?
[ $code -eq 2 ] || complain "without standard error: $code"
"$weft" mpirun $small -n 2 -- "$tmp/ring" >"$tmp/out" 2>/dev/full
code=$?
[ $code -eq 2 ] || complain "standard error is full: $code"
report 'the report goes to a file, which is never somebody else'"'"'s'

# --- what ranks get ---

mkdir "$tmp/there"
export WEFT_TEST_A=outer WEFT_TEST_B=outer
OMPI_COMM_WORLD_SIZE=7 PMIX_RANK=9 PMI_RANK=9 SLURM_PROCID=9 mpirun $small \
	-n 2 ppn=2 --wdir "$tmp/there" -x WEFT_TEST_A=inner -x WEFT_TEST_B \
	-- "$tmp/launch" a : -n 1 ../launch b
ends 0 finished
{
	echo '0 of 3 on node0 of 2, program 0 a, in /there, inner outer 1'
	echo '1 of 3 on node0 of 2, program 0 a, in /there, inner outer 1'
	echo '2 of 3 on node1 of 1, program 1 b, in /there, inner outer 1'
} >"$tmp/want"
cmp -s "$tmp/want" "$tmp/out" || complain "$(cat "$tmp/out")"
echo '7 3' >"$tmp/place"
OMP_NUM_THREADS=4 mpirun $small -n 2 place="$tmp/place" -- "$tmp/launch"
says out '0 of 2 on node7 of 1'
says out '1 of 2 on node3 of 1'
says out ' outer outer 4'
report 'programs, nodes, folder and variables are those that were asked for'

printf 'one\ntwo\n' | timeout 100 "$weft" mpirun $small -n 3 tags=yes -- cat \
	>"$tmp/out" 2>"$tmp/err"
[ "$(cat "$tmp/out")" = '0: one
0: two' ] || complain "$(cat "$tmp/out" "$tmp/err")"
echo one | timeout 100 "$weft" mpirun $small -n 3 tags=yes -- \
	sh -c '[ "$WEFT_RANK" = 0 ] || cat; echo end' >"$tmp/out" 2>"$tmp/err"
[ "$(tr '\n' ' ' <"$tmp/out")" = '0: end 1: end 2: end ' ] ||
	complain "$(cat "$tmp/out" "$tmp/err")"
"$weft" mpirun $small -n 2 -- "$tmp/ring" >/dev/full 2>"$tmp/err"
code=$?
ends 2 'cannot write what the program prints: No space left'
report 'standard input is that of rank 0, output that cannot be is an error'

mpirun $small -n 2 -- printenv LD_PRELOAD PYTHONHASHSEED PMIX_RANK
says out libweft-rank.so
! grep -q : "$tmp/out" || complain "$(cat "$tmp/out")"
LD_PRELOAD=libc.so.6 mpirun $small -n 2 -- printenv LD_PRELOAD
says out libweft-rank.so:libc.so.6
for name in OMPI_COMM_WORLD_RANK PMIX_SERVER_TMPDIR PMI_FD SLURM_JOB_ID; do
	env $name=outer-job "$weft" mpirun $small -n 1 -- env 2>/dev/null |
		grep -q outer-job && complain "$name stays"
done
report 'an outer job is forgotten, and a preload of the user stays'

mpirun bgq-board -n 2 stack=none -- "$tmp/fabric"
ends 0 finished
says out 'all of libfabric is right'
mpirun $small -n 3 stack=pmi -- "$tmp/pmi"
ends 0 finished
says out 'rank 2 of 3 knows all'
report 'other stacks: libfabric alone, and PMI-1'

# --- what is refused ---

mpirun bgq-board -n 2 ppn=40 -- "$tmp/ring"
ends 2 'ppn: the message unit serves at most'
mpirun qsnet2-16 -n 64 ppn=64 -- "$tmp/ring"
ends 4 'which has 64 MiB; use a smaller ppn or a larger nic.memory.size'
mpirun qsnet2-16 -n 64 ppn=16 --set host.memory=64MiB -- "$tmp/ring"
ends 4 'for messages alone, and it has 64 MiB; use a smaller ppn or'
mpirun bgq-board -n 20 -- "$tmp/ring" : -n 13 "$tmp/ring"
ends 2 'room for 32 ranks with ppn=1, not for 33'
mpirun bgq-board -n 20 -- "$tmp/ring" : "$tmp/ring"
ends 2 'want the number of ranks of each program'
mpirun bgq-board -n 2 -- "$tmp/ring" :
ends 2 'want a program before and after each colon'
mpirun -n 2 "$tmp/ring"
ends 2 'want a machine, and the program behind --'
mpirun bgq-board -n 2 ppn=1 ./ring
ends 2 '`weft mpirun bgq-board -n 8 -- ./ring`'
mpirun bgq-20pf -- ./ring 100
ends 2 '`weft mpirun bgq-20pf -n 8 -- ./ring`'
run run bgq-board mpi -- "$tmp/ring"
ends 2 'want the number of ranks, as in ranks=8'
mpirun bgq-board ranks=2 -- "$tmp/ring"
ends 0 finished
mpirun bgq-board -- -n 2 "$tmp/ring"
ends 0 finished
mpirun bgq-board -n 0 -- "$tmp/ring"
ends 2 'not a number from 1'
echo '3 3' >"$tmp/place"
mpirun bgq-board -n 2 place="$tmp/place" -- "$tmp/ring"
ends 2 'it has another group'
mpirun bgq-board -n 2 --wdir "$tmp/none" -- "$tmp/ring"
ends 2 'No such file'
mpirun bgq-board -n 2 -x WEFT_TEST_C -- "$tmp/ring"
ends 2 'not in the environment'
mpirun bgq-board -n 2 --debug 2 -- "$tmp/ring"
ends 2 'no rank 2 (want 0 to 1)'
report 'what does not fit is an error before anything starts'

mpirun qsnet2-16 -n 2 ppn=2 --set nic.memory.size=4MiB -- "$tmp/ring"
ends 4 "rank 1: the Elan4 interface's own memory is full; use a smaller ppn or"
report 'a rank that the interface has no room for is an error with a remedy'

(
	ulimit -n 100
	mpirun bgq-board -np 20 -- "$tmp/ring"
	echo $code >"$tmp/code"
)
code=$(cat "$tmp/code")
ends 4 '20 ranks need 164 open files'
# 4.1 MiB each.
mpirun torus --shape 128x128x32 -n 524288 -- "$tmp/ring"
ends 4 'ranks need'
report 'so is what the host does not allow'

OMPI_MCA_pml=ob1 mpirun bgq-board -n 2 -- "$tmp/ring"
ends 2 'OMPI_MCA_pml=ob1: messages would go round the simulated network'
mpirun bgq-board -n 2 -x OMPI_MCA_btl=self,tcp -- "$tmp/ring"
ends 2 'want OMPI_MCA_btl=self,ofi'
mpirun bgq-board -n 2 -x OMPI_MCA_coll=sm,basic -- "$tmp/ring"
ends 2 'sm would go round'
OMPI_MCA_coll=^tuned mpirun bgq-board -n 2 -- "$tmp/ring"
ends 0 finished
# An MPI library that talks by other ways.
echo 'int MPI_Init(void *a, void *b) { return a != b; }' >"$tmp/other.c"
{
	echo 'int MPI_Init(void *a, void *b);'
	echo 'int main(void) { return MPI_Init(0, 0); }'
} >"$tmp/round.c"
${CC:-cc} -shared -fPIC -o "$tmp/libother.so" "$tmp/other.c" &&
	${CC:-cc} -o "$tmp/round" "$tmp/round.c" -L"$tmp" -lother \
		-Wl,-rpath,"$tmp" || complain 'no other library'
mpirun bgq-board -n 2 -- "$tmp/round"
ends 2 "MPI_Init has not opened Weft's provider"
report 'messages that would go round the network are refused'

# --- what a program is ---

check() { # CODE TEXT PROGRAM
	run mpirun --check "$3"
	[ $code -eq "$1" ] || complain "$3: $code, not $1: $(cat "$tmp/out")"
	says out "$2"
}

${CC:-cc} -static -o "$tmp/static" "$tmp/round.c" "$tmp/other.c" ||
	complain 'nothing static'
# Another user's, or nothing is wrong with it.
cp "$tmp/ring" "$tmp/suid"
others=suid
chown nobody "$tmp/suid" 2>/dev/null || others=
chmod u+s "$tmp/suid"
cp "$tmp/ring" "$tmp/dull"
chmod -x "$tmp/dull"
echo 'int MPI_Init(void *a, void *b) { return a != b; }' >"$tmp/mpich.c"
${CC:-cc} -shared -fPIC -Wl,-soname,libmpich.so.12 -o "$tmp/libmpich.so.12" \
	"$tmp/mpich.c" &&
	${CC:-cc} -o "$tmp/mpich" "$tmp/round.c" "$tmp/libmpich.so.12" \
		-Wl,-rpath,"$tmp" || complain 'no MPICH'
${CC:-cc} -shared -fPIC -Wl,-soname,libgone.so.3 -o "$tmp/libgone.so" \
	"$tmp/other.c" && ${CC:-cc} -o "$tmp/gone" "$tmp/round.c" -L"$tmp" \
	-lgone || complain 'nothing is missing'
check 0 'no problem was found' "$tmp/ring"
check 2 'No such file' "$tmp/none"
check 2 'may not be executed' "$tmp/dull"
check 1 'linked statically' "$tmp/static"
[ -z "$others" ] || check 1 'set-user-id' "$tmp/suid"
check 1 'it needs libmpich.so.12' "$tmp/mpich"
check 1 'it needs no MPI library' "$tmp/round"
check 1 "libgone.so.3 is not found; Debian's package should be libgone3" \
	"$tmp/gone"
check 0 'is a script for /bin/sh' "$src/tests/mpi-cli.sh"
printf '#!/none/sh -e\n' >"$tmp/orphan" && chmod +x "$tmp/orphan"
check 1 'names /none/sh, which does not exist' "$tmp/orphan"
if [ "$(uname -m)" = x86_64 ]; then
	{
		echo '#include <x86intrin.h>'
		echo 'int main(void) { unsigned n;'
		echo 'return (int)(__rdtscp(&n) - __rdtsc()); }'
	} >"$tmp/clock.c"
	${CC:-cc} -o "$tmp/clock" "$tmp/clock.c" || complain 'no clock'
	check 1 '(rdtsc) at about 2 places' "$tmp/clock"
fi
run mpirun --check --json "$tmp/mpich"
[ $code -eq 1 ] && [ "$(value library)" = libmpich.so.12 ] &&
	[ "$(value runs)" = false ] || complain "$(cat "$tmp/out")"
for program in none dull static $others mpich; do
	mpirun bgq-board -n 2 -- "$tmp/$program"
	[ $code -eq 2 ] || complain "$program: $code: $(cat "$tmp/err")"
done
report '--check tells what would go wrong, and that is not begun'

# Weft without what is loaded into ranks.
mkdir "$tmp/bare"
cp "$weft" "$tmp/bare/weft"
"$tmp/bare/weft" mpirun $small -n 2 -- "$tmp/ring" >"$tmp/out" 2>"$tmp/err"
code=$?
ends 2 'libfabric-dev and libpmix-dev'
"$tmp/bare/weft" mpirun --check "$tmp/ring" >"$tmp/out" 2>"$tmp/err"
code=$?
[ $code -eq 1 ] || complain "$code: $(cat "$tmp/err")"
says out libfabric-dev
report 'without libfabric and PMIx the packages are named'

# --- how it ends ---

cat >"$tmp/some.sh" <<'EOF'
#!/bin/sh
# One rank ends before MPI_Init(), with a code.
[ $WEFT_RANK != $1 ] || exit $2
exec $3
EOF
chmod +x "$tmp/some.sh"
mpirun bgq-board -n 3 -- "$tmp/some.sh" 1 3 "$tmp/ring"
ends 1 'rank 1 ended with exit code 3 before the end of MPI_Init'
mpirun bgq-board -n 3 -- "$tmp/some.sh" 1 0 "$tmp/ring"
ends 1 'rank 1 ended with exit code 0 without MPI_Init'
mpirun bgq-board -n 2 -- true
ends 0 finished
mpirun bgq-board -n 2 -- "$tmp/behave" abort
ends 1 'rank 1 called MPI_Abort with code 13'
report 'ranks that end early keep nobody waiting'

what='core files are where they would be'
if [ "$(cat /proc/sys/kernel/core_pattern)" = core ] &&
	(ulimit -c 1000 2>/dev/null); then
	(
		ulimit -c 1000
		mpirun bgq-board -n 1 --wdir "$tmp/there" -- \
			sh -c 'kill -ABRT $$'
		echo $code >"$tmp/code"
	)
	code=$(cat "$tmp/code")
	ends 1 'died of signal 6 (Aborted, core dumped)'
	rm "$tmp/there"/core* || complain 'no core file'
	report "$what"
else
	skip "$what" 'no files called core'
fi

# A rank that goes on for ever, and what it has started.
cat >"$tmp/ever.c" <<'EOF'
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

static void leave(int number)
{
	(void)number;
	(void)!write(1, "asked to end\n", 13);
	_exit(0);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	signal(SIGTERM, leave);
	if (fork() == 0)
		for (;;)
			pause();
	for (;;)
		if (argc > 1)
			MPI_Barrier(MPI_COMM_WORLD);
}
EOF
mpicc -o "$tmp/ever" "$tmp/ever.c" || complain 'ever: mpicc'

begin() { # ARGUMENTS of the program; sets $pid
	"$weft" mpirun $small -n 2 ppn=2 -- "$tmp/ever" "$@" \
		>"$tmp/out" 2>"$tmp/err" &
	pid=$!
	for i in $(seq 100); do
		[ "$(pgrep -cf "^$tmp/ever")" -lt 3 ] || return
		sleep 0.05
	done
	complain 'it does not begin'
}

is_gone() { # within two seconds
	for i in $(seq 40); do
		pgrep -f "^$tmp/ever" >/dev/null || return
		sleep 0.05
	done
	complain "left: $(pgrep -af "^$tmp/ever")"
}

begin
kill -INT $pid
wait $pid
code=$?
ends 6 stopped
says out 'asked to end'
is_gone
begin barrier
kill -TERM $pid
wait $pid
code=$?
ends 6 stopped
is_gone
report 'a signal ends ranks, and all that they have started'

begin
kill -KILL $pid
wait $pid 2>/dev/null
is_gone
begin
helper=$(pgrep -P $pid weft-start)
folder=$(tr '\0' '\n' <"/proc/$(pgrep -f "^$tmp/ever" | head -n 1)/environ" |
	sed -n 's/^OMPI_MCA_osc_rdma_backing_directory=//p')
[ -d "$folder" ] || complain "no folder $folder"
[ "$(stat -c %a "$folder")" = 700 ] || complain 'others see the folder'
kill -KILL $helper
wait $pid
code=$?
ends 1 'weft-start was killed'
is_gone
[ ! -e "$folder" ] || complain "a folder is left: $folder"
report 'nothing is left of a launcher that was killed'

cat >"$tmp/attach.c" <<'EOF'
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2 || ptrace(PTRACE_SEIZE, atoi(argv[1]), NULL, NULL))
		return 1;
	usleep(200000);
	return 0;
}
EOF
${CC:-cc} -o "$tmp/attach" "$tmp/attach.c" || complain 'attach: cc'
"$weft" mpirun $small -n 2 --debug 1 -- "$tmp/ring" >"$tmp/out" \
	2>"$tmp/err" </dev/null &
pid=$!
for i in $(seq 100); do
	rank=$(sed -n 's/.*rank 1 of 2 .*gdb -p //p' "$tmp/err")
	[ -z "$rank" ] || break
	sleep 0.05
done
sleep 0.5
[ ! -s "$tmp/out" ] || complain 'it does not wait'
"$tmp/attach" "$rank" || complain 'it cannot be traced'
wait $pid
code=$?
ends 0 finished
says out 'rank 1 of 2 on node1'
report 'a rank waits for a debugger'

# On a terminal gdb is started, here one that only holds the rank for a while.
mkdir "$tmp/debug"
cat >"$tmp/debug/gdb" <<EOF
#!/bin/sh
echo "gdb \$1 \$2 \$(ps -o tpgid= -p \$\$ | tr -d ' ') \$\$"
exec "$tmp/attach" "\$3"
EOF
chmod +x "$tmp/debug/gdb"
if command -v script >/dev/null; then
	PATH="$tmp/debug:$PATH" timeout 60 script -qefc \
		"'$weft' mpirun $small -n 2 --debug 1 -- '$tmp/ring'" \
		/dev/null >"$tmp/out" 2>&1 </dev/null
	code=$?
	tr -d '\r' <"$tmp/out" >"$tmp/err"
	ends 0 finished
	says err 'rank 1 of 2 on node1'
	# it is in the foreground
	grep -qE '^gdb -q -p ([0-9]+) \1$' "$tmp/err" ||
		complain "no gdb: $(cat "$tmp/err")"
	! grep -q 'waits for a debugger' "$tmp/err" || complain 'it waits'
fi
report 'on a terminal a rank starts under gdb'

# --- jobs and sweeps ---

cat >"$tmp/jobs.yaml" <<EOF
schema: 1
jobs:
  - name: ring
    nodes: [0, 5, 10, 15]
    workload: mpi
    command: $tmp/ring
  - name: noise
    count: 12
    workload: random
    keys: { load: 0.9, warmup: 2us, measure: 20us }
EOF
run run torus --shape 4x4 --jobs "$tmp/jobs.yaml" --quiet
ends 2 'if you trust the file, use --allow-programs'
run run torus --shape 4x4 --jobs "$tmp/jobs.yaml" --quiet --allow-programs
ends 0 'jobs: finished'
[ "$(grep -c 'of 4 on node' "$tmp/out")" -eq 4 ] || complain "$(cat "$tmp/out")"
! grep -v 'of 4 on node\|round the ring' "$tmp/out" || complain 'more than that'
sed -n '/^ring/,/^noise/s/.* time .* us .*+\([0-9.]*\) %$/\1/p' "$tmp/err" |
	awk '$1 > 1 { slow = 1 } END { exit !slow }' ||
	complain "no noise: $(cat "$tmp/err")"
sed -i "s|command: .*|command: [$tmp/some.sh, '9', '0', $tmp/ring]|" \
	"$tmp/jobs.yaml"
run run torus --shape 4x4 --jobs "$tmp/jobs.yaml" --quiet --allow-programs \
	--no-alone
ends 0 'jobs: finished'
sed -i "s|command: .*|command: { a: b }|" "$tmp/jobs.yaml"
run run torus --shape 4x4 --jobs "$tmp/jobs.yaml" --quiet --allow-programs
ends 2 'command must be a text or a list'
report 'a job beside noise, if the user allows it'

run sweep bgq-board,torus mpi ranks=2 --quiet --wdir "$tmp" -- ./ring
[ $code -eq 0 ] || complain "$code: $(cat "$tmp/err")"
grep -q '^bgq-board ' "$tmp/out" && grep -q '^torus ' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
! grep -q 'round the ring' "$tmp/out" || complain 'it prints'
run sweep torus mpi ranks=2 --quiet -- sh -c 'exit 3'
ends 1 '1 of 1 points failed; torus seed=1: rank 0 ended with exit code 3'
report 'a sweep runs a program on each machine'

mpirun $small -n 2 --wdir "$tmp/there" -x WEFT_TEST_A=1 -o "$tmp/run.db" -- \
	../ring
ends 0 finished
run rerun "$tmp/run.db" --wdir "$tmp/there" -x WEFT_TEST_A=2 -- ../ring
ends 0 'as before'
says err 'gone        environment WEFT_TEST_A=1'
says err 'new         environment WEFT_TEST_A=2'
echo >>"$tmp/ring"
run rerun "$tmp/run.db" --wdir "$tmp/there" -x WEFT_TEST_A=1 -- ../ring
ends 0 'changed     program'
report 'a run is repeated, with what is different'

! pgrep -f "^$tmp/" >/dev/null || complain "left: $(pgrep -af "^$tmp/")"
report 'no process is left'
exit $status
