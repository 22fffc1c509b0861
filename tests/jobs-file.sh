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
	[ $code -eq 2 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ -s "$tmp/out" ] && complain "stdout: $(head -1 "$tmp/out")"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || complain "said: $(cat "$tmp/err")"
	grep -qF -- "$text" "$tmp/err" || complain "said: $(cat "$tmp/err")"
	report "refused: $text"
}
