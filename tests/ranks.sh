# For tests of MPI programs; to be sourced behind tap.sh.  They need a weft that
# was built with libfabric and PMIx, and Open MPI's compiler.
if [ ! -x "$(dirname "$weft")/inside/weft-start" ] ||
	! command -v mpicc >/dev/null; then
	echo '1..0 # SKIP no libfabric-dev, libpmix-dev or libopenmpi-dev'
	exit 77
fi

# $code, $tmp/out and $tmp/err are what came of it.
mpirun() { # ARGUMENTS
	timeout 100 ${before:-} "$weft" mpirun "$@" >"$tmp/out" 2>"$tmp/err" \
		</dev/null
	code=$?
}

good() { # ARGUMENTS
	mpirun "$@"
	[ $code -eq 0 ] || complain "$*: $code: $(cat "$tmp/out" "$tmp/err")"
}

prints() { # TEXT
	grep -qF -- "$1" "$tmp/out" || complain "no '$1' in: $(cat "$tmp/out")"
}
