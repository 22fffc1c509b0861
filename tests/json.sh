# What tests that look at the program's JSON share; to be sourced behind tap.sh.
if ! command -v jq >/dev/null; then
	echo "there is no jq"
	exit 77
fi

ends() { # CODE ARGUMENTS
	want=$1
	shift
	run "$@"
	[ $code -eq "$want" ] ||
		complain "weft $*: exit code $code, want $want" \
			"$(head -n 1 "$tmp/err")"
}

holds() { # FILTERS of the JSON in $tmp/out, all true
	[ "$(jq "$(printf '(%s) and ' "$@") true" "$tmp/out" 2>&1)" = true ] &&
		return
	for filter in "$@"; do
		[ "$(jq "$filter" "$tmp/out" 2>"$tmp/jq")" = true ] ||
			complain "not so: $filter $(cat "$tmp/jq")" \
				"$(jq -c '.faults // empty' "$tmp/out")"
	done
}

shows() { # WHAT FILTERS: as holds, and that is all of the case
	what=$1
	shift
	[ -s "$tmp/out" ] || complain "no output: $(cat "$tmp/err")"
	holds "$@"
	report "$what"
}

refuses() { # WORDS ARGUMENTS
	words=$1
	shift
	ends 2 "$@"
	[ ! -s "$tmp/out" ] || complain "$*: something on stdout"
	grep -q -e "$words" "$tmp/err" || complain "$*: $(cat "$tmp/err")"
}

plan() { # LINES of the section faults: into $tmp/plan.yaml
	{
		echo 'schema: 1'
		echo 'faults:'
		cat
	} >"$tmp/plan.yaml"
}
