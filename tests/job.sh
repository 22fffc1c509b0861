# Weft processes as a job of MPI; to be sourced after tap.sh.

# Whether an MPI, openmpi or mpich, and Weft's object for it are there.
has_job() { # MPI
	command -v "mpirun.$1" >/dev/null &&
		[ -e "$(dirname "$weft")/weft-cluster-$1.so" ]
}

# Mpirun may be told that root and few cores are fine.  LAUNCH holds options of
# mpirun, MPI names another one than Open MPI.
job() { # PROCESSES ARGUMENTS
	processes=$1
	shift
	[ "${MPI-openmpi}" != openmpi ] || set -- --oversubscribe \
		-n "$processes" ${LAUNCH-} "$weft" "$@"
	[ "${MPI-openmpi}" = openmpi ] || set -- \
		-n "$processes" ${LAUNCH-} "$weft" "$@"
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		timeout 60 "mpirun.${MPI-openmpi}" "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}
