#!/bin/sh
#
# Signals and other calls of ranks that name a process reach only processes of
# the job, with and without a PID namespace.
# Needs $WEFT built with libfabric and PMIx, and mpicc.  MPI-F11.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

mpicc -Wall -o "$tmp/numbers" "$src/tests/mpi/numbers.c" ||
	complain 'numbers: mpicc'
mpicc -o "$tmp/ring" "$src/examples/mpi/ring.c" || complain 'ring: mpicc'
report 'Open MPI compiles the programs'

ends() { # CODE TEXT; what standard error says
	[ $code -eq "$1" ] || complain "$code, not $1: $(cat "$tmp/err")"
	grep -qE -- "$2" "$tmp/err" ||
		complain "no '$2' in: $(cat "$tmp/err")"
}

# --- processes with the numbers that ranks see ---

cat >"$tmp/inner.sh" <<'EOF'
# The first processes of a PID namespace: strangers with the numbers 700 and
# 999 to 1001.  Each mode must leave all of them alive.
weft=$1 tmp=$2
shift 2
echo 699 >/proc/sys/kernel/ns_last_pid || exit 77
sleep 1000 &
strangers=$!
echo 998 >/proc/sys/kernel/ns_last_pid
for i in 1 2 3; do
	sleep 1000 &
	strangers="$strangers $!"
done
[ "$strangers" = '700 999 1000 1001' ] || exit 77
echo 5000 >/proc/sys/kernel/ns_last_pid

run() { # FILE CASE...
	file=$1
	shift
	timeout 60 "$weft" mpirun torus --shape 4x4 -n 2 isolation=$mode \
		--json -- "$tmp/numbers" "$@" >"$tmp/$file.out.$mode" \
		2>"$tmp/$file.err.$mode" </dev/null
	echo "$file $mode $?"
	for pid in $strangers; do
		kill -0 $pid || echo "$pid is gone"
		[ "$(cut -d ' ' -f 18 /proc/$pid/stat)" = 20 ] ||
			echo "$pid has another priority"
	done
}

for mode in auto none; do
	run tries all system group child everybody
	run group end-group
	run parent end-parent
done
kill $strangers
EOF

user=
[ "$(id -u)" = 0 ] || user=-Ur
what='no rank reaches strangers with the numbers that it sees'
unshare $user -pf --mount-proc sh "$tmp/inner.sh" "$weft" "$tmp" \
	>"$tmp/out" 2>"$tmp/err"
code=$?
if [ $code -eq 77 ] || grep -q '^unshare: ' "$tmp/err"; then
	skip "$what" 'this host gives no PID namespace to a test'
else
	sed 's/^[ 	]*//' >"$tmp/want" <<-'END'
		tries auto 0
		group auto 1
		parent auto 1
		tries none 0
		group none 1
		parent none 1
	END
	cmp -s "$tmp/want" "$tmp/out" || complain "$(cat "$tmp/out" "$tmp/err")"
	cp "$tmp/tries.out.auto" "$tmp/out"
	prints '999: kill 0, itself: kill 0'
	prints '1001: kill yes sigqueue yes tgkill yes killpg yes prlimit yes'
	prints '700: kill ESRCH sigqueue ESRCH tgkill ESRCH killpg ESRCH'
	! grep '^700: .* yes' "$tmp/out" || complain 'it reaches a stranger'
	prints 'system: 0 1 0'
	prints 'group 1000, session 1000, alone 0, signals 1'
	prints 'child 1, status 0'
	prints 'rank 1 got signals'
	cmp -s "$tmp/tries.out.auto" "$tmp/tries.out.none" || complain \
		"none: $(diff "$tmp/tries.out.auto" "$tmp/tries.out.none")"
	for mode in auto none; do
		grep -q 'rank 0 died of signal 15' "$tmp/group.err.$mode" ||
			complain "$mode: $(cat "$tmp/group.err.$mode")"
		grep -q 'rank . has lost its parent' "$tmp/parent.err.$mode" ||
			complain "$mode: $(cat "$tmp/parent.err.$mode")"
	done
	grep -q '"isolation": "none"$' "$tmp/tries.err.none" ||
		complain 'isolation=none isolates'
	report "$what"
fi

# --- what a namespace is, where the host has one ---

what='ranks have a namespace, its numbers and its host name, and no capability'
mpirun torus -n 2 --json -- "$tmp/ring"
if grep -q '"isolation": "namespace"' "$tmp/err"; then
	cat >"$tmp/self.sh" <<-'END'
		echo "$$ of $PPID on $(hostname)"
		sed -n 's/^\(Pid\|PPid\|Uid\|Gid\):/\1/p' /proc/$$/status
		[ "$(id -u)" = 0 ] || grep '^Cap' /proc/self/status
	END
	as() { # USER
		uid=$1
		before="setpriv --reuid=$uid --regid=$uid --clear-groups"
		mpirun torus -n 1 -- sh "$tmp/self.sh"
		before=
	}
	chmod 755 "$tmp" && chmod 644 "$tmp"/*.sh
	uid=$(id -u)
	if [ "$uid" = 0 ]; then
		as 65534
	else
		mpirun torus -n 1 -- sh "$tmp/self.sh"
	fi
	prints "1000 of 999 on node0"
	prints "Uid	$uid	$uid	$uid	$uid"
	[ "$(grep -c '^Cap.*	0000000000000000$' "$tmp/out")" -eq 5 ] ||
		complain "capabilities: $(cat "$tmp/out" "$tmp/err")"
	report "$what"
else
	skip "$what" 'this host has none'
fi

what='where the host has none, the run is the same'
mpirun torus -n 2 --json -- "$tmp/ring"
digest=$(grep '"digest"' "$tmp/err")
cat >"$tmp/none.sh" <<'END'
echo 0 >/proc/sys/user/max_pid_namespaces || exit 77
exec "$@"
END
before="unshare -Ur sh $tmp/none.sh"
mpirun torus -n 2 --json -- "$tmp/ring"
before=
if [ $code -eq 77 ] || grep -q '^unshare: ' "$tmp/err"; then
	skip "$what" 'this host gives no user namespace to a test'
else
	[ "$(grep '"digest"' "$tmp/err")" = "$digest" ] ||
		complain "not $digest: $(cat "$tmp/err")"
	grep -q '"isolation": "none"$' "$tmp/err" || complain 'it isolates'
	report "$what"
fi

# --- groups ---

# Rank 1 does not come to MPI_Init, so rank 0 waits there.  Not under timeout,
# which sends signals twice.
setsid "$weft" mpirun torus -n 2 -- \
	sh -c '[ $WEFT_RANK = 0 ] || exec sleep 86412; exec "$0"' "$tmp/ring" \
	>"$tmp/out" 2>"$tmp/err" </dev/null &
group=$!
for i in $(seq 200); do
	! pgrep -f '^sleep 86412' >/dev/null || ! pgrep -xf "$tmp/ring" \
		>/dev/null || break
	sleep 0.05
done
sleep 0.3
kill -TERM -$group
wait $group
code=$?
[ "$code" = 6 ] || complain "$code, not 6"
! grep -q 'rank 0' "$tmp/err" || complain "blamed: $(cat "$tmp/err")"
report 'a signal to the group in MPI_Init is no failure of a rank'

# --- terminals ---

what='a terminal is read by rank 0, and stops, continues and ends all ranks'
cat >"$tmp/ever.c" <<'END'
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (volatile int i = 0;; i++)
		continue;
}
END
mpicc -o "$tmp/ever" "$tmp/ever.c" || complain 'ever: mpicc'

await() { # STATES of both ranks: what ps says of them at last
	for i in $(seq 200); do
		states=$(pgrep -xf "$tmp/ever" | xargs -r ps -o stat= -p |
			tr -dc 'RST')
		[ "$(echo "$states" | tr S R)" != "$1" ] || return
		sleep 0.05
	done
	complain "states $states, not $1: $(cat "$tmp/err")"
}

# A shell with jobs on a terminal, at which "keys" types.
cat >"$tmp/shell.sh" <<'END'
"$1" mpirun torus -n 1 --quiet -- sh -c 'cat; echo background' &
wait
"$1" mpirun torus -n 2 tags=yes -- head -n 1
"$1" mpirun torus -n 2 --quiet -- "$2"
echo "first $?"
while [ ! -e "$2.fg" ]; do
	sleep 0.05
done
fg >/dev/null
echo "then $?"
END
keys() {
	echo typed
	await RR
	printf '\032'
	await TT
	: >"$tmp/ever.fg"
	await RR
	printf '\003'
	await ''
}

if command -v script >/dev/null; then
	keys | timeout 60 script -qefc \
		"sh -m '$tmp/shell.sh' '$weft' '$tmp/ever'" \
		/dev/null >"$tmp/err" 2>&1
	tr -d '\r' <"$tmp/err" >"$tmp/out"
	prints background
	prints '0: typed'
	prints 'first 148'
	prints 'then 6'
	report "$what"
else
	skip "$what" 'no script(1)'
fi

! pgrep -f "^$tmp/" >/dev/null || complain "left: $(pgrep -af "^$tmp/")"
report 'no process is left'
exit $status
