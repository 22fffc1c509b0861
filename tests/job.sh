# Weft processes as a job of MPI; to be sourced after tap.sh.

# Whether an MPI, openmpi or mpich, and Weft's object for it are there.
has_job() { # MPI
	command -v "mpirun.$1" >/dev/null &&
		[ -e "$(dirname "$weft")/weft-cluster-$1.so" ]
}

# Mpirun, which may be told that root and few cores are fine, not to look for
# cards that are not there, and not to wait for a second before it kills.  MPI
# names another one than Open MPI.
launch() { # ARGUMENTS
	[ "${MPI-openmpi}" != openmpi ] || set -- --oversubscribe "$@"
	case " $* " in
	*' mpirun '*) way= ;; # it has ways of its own
	*) way=OMPI_MCA_pml=ob1 ;;
	esac
	env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		OMPI_MCA_odls_base_sigkill_timeout=0 $way \
		timeout 60 "mpirun.${MPI-openmpi}" "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}

job() { # PROCESSES ARGUMENTS
	processes=$1
	shift
	launch -n "$processes" "$weft" "$@"
}
