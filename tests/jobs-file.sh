# What tests of files of jobs share; to be sourced behind tap.sh.
jobs=$tmp/jobs.yaml

write() { # LINE...: a file of jobs
	{
		printf 'schema: 1\njobs:\n'
		printf '  %s\n' "$@"
	} >"$jobs"
}

refused() { # TEXT LINE...: a file with these is refused on $machine
	text=$1
	shift
	write "$@"
	run run $machine --jobs "$jobs"
	judge 2 "$text"
	report "refused: $text"
}
