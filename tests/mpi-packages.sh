#!/bin/sh
#
# Programs of Debian's packages on simulated machines, as they are shipped:
# ScaLAPACK's testers, NetPIPE, Python, HPCC.  A package that is not installed
# is skipped.
#
#   tests/mpi-packages.sh        what is quick
#   tests/mpi-packages.sh all    HPCC, all of ScaLAPACK's three testers, and
#                                more machines
#
# ScaLAPACK 2.2.1 estimates conditions (PDLACON) by a variable that is not set:
# it must be the same on all ranks, or they go different ways.
set -u
. "$(dirname "$0")/tap.sh"

if [ ! -x "$(dirname "$weft")/inside/weft-start" ]; then
	echo '1..0 # SKIP no libfabric-dev or libpmix-dev'
	exit 77
fi
how=${1-}
machines='bgq-board'
[ "$how" != all ] || machines='bgq-board qsnet2-16 gemini apenet torus'
testers=$(echo /usr/lib/*/scalapack/openmpi-tests)

# A long one may take some minutes.
mpirun() { # ARGUMENTS
	timeout 1000 "$weft" mpirun "$@" >"$tmp/out" 2>"$tmp/err" </dev/null ||
		complain "$*: $?: $(tail -n 20 "$tmp/out" "$tmp/err")"
}

says() { # TEXT
	grep -q -- "$1" "$tmp/out" ||
		complain "no '$1' in: $(tail -n 20 "$tmp/out")"
}

# --- ScaLAPACK ---

# The shipped input; or one problem of it.
input() { # NAME
	cp "$testers/$1.dat" "$tmp/$1.dat"
	[ "$how" = all ] || sed -i -e '/number of problems sizes/s/4/1/' \
		-e "/number of NB's/s/3/1/" -e '/number of NRHS/s/3/1/' \
		-e '/umber of NBRHS/s/3/1/' \
		-e '/number of blocking sizes/s/4/1/' "$tmp/$1.dat"
}

factorise() { # MACHINE PROGRAM INPUT
	input "$3"
	mpirun "$1" -n 4 --wdir "$tmp" -- "$testers/$2"
	says ' PASSED'
	says 'END OF TESTS'
	! grep " FAILED" "$tmp/out" >>"$tmp/complaints"
}

what="ScaLAPACK's testers pass"
if [ -x "$testers/xdlu" ]; then
	for machine in $machines; do
		factorise $machine xdlu LU
		factorise $machine xdllt LLT
		factorise $machine xdqr QR
		report "$what on $machine"
	done
else
	skip "$what" 'no scalapack-mpi-test'
fi

# --- NetPIPE ---

what='NetPIPE measures'
if command -v NPopenmpi >/dev/null; then
	for machine in $machines; do
		mpirun $machine -n 2 -- NPopenmpi -u 300 -n 3 -o "$tmp/np"
		[ "$(wc -l <"$tmp/np")" -gt 20 ] || complain "$(cat "$tmp/np")"
		report "$what on $machine"
	done
else
	skip "$what" 'no netpipe-openmpi'
fi

# --- Python ---

what='Python programs are right'
if /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
	for machine in $machines; do
		mpirun $machine -n 4 -- /usr/bin/python3 \
			"$src/tests/mpi/python.py"
		says 'all of it is right'
		report "$what on $machine"
	done
else
	skip "$what" 'no python3-mpi4py'
fi

# --- HPCC ---

what='HPCC finds no error'
hpcc=/usr/share/doc/hpcc/examples/_hpccinf.txt
if [ "$how" != all ]; then
	:
elif command -v hpcc >/dev/null && [ -f $hpcc ]; then
	for machine in bgq-board qsnet2-16; do
		sed 's/^1000 /100 /; s/^80 /16 /' $hpcc >"$tmp/hpccinf.txt"
		rm -f "$tmp/hpccoutf.txt"
		mpirun $machine -n 4 --wdir "$tmp" -- hpcc
		grep -qx 'Success=1' "$tmp/hpccoutf.txt" &&
			grep -qx 'MPIRandomAccess_Errors=0' \
				"$tmp/hpccoutf.txt" ||
			complain "$(cat "$tmp/hpccoutf.txt")"
		report "$what on $machine"
	done
else
	skip "$what" 'no hpcc'
fi
exit $status
