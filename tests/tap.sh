# What the shell tests share; to be sourced.  Each case prints a line "ok" or
# "not ok"; what is wrong goes below it.  End with: exit $status
export LC_ALL=C
weft=${WEFT:?}
src=${SRC:-$(dirname "$0")/..}
export WEFT_MACHINES="${WEFT_MACHINES:-$src/machines}"
export WEFT_PAPERS="${WEFT_PAPERS:-$src/papers}"

# It starts in 4 ms, jq 1.6 in 55.
if command -v gojq >/dev/null; then
	jq() {
		gojq "$@"
	}
fi

n=0
status=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
: >"$tmp/complaints"

complain() {
	echo "$*" >>"$tmp/complaints"
}

report() { # WHAT; ok if nothing was complained of since the last one
	n=$((n + 1))
	if [ -s "$tmp/complaints" ]; then
		echo "not ok $n - $1"
		sed 's/^/# /' "$tmp/complaints"
		status=1
	else
		echo "ok $n - $1"
	fi
	: >"$tmp/complaints"
}

skip() { # WHAT WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# Runs the program; $code, $tmp/out and $tmp/err are what came of it.
run() { # ARGUMENTS
	"$weft" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}

# The first value of a key, in one process: it is asked thousands of times.
value() { # KEY of the JSON in $tmp/out
	sed -n "/.*\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/{
		s//\1/p
		q
	}" "$tmp/out"
}

# What came of a run that has to be refused, with one line that has the text.
judge() { # CODE TEXT
	[ $code -eq "$1" ] || complain "exit code $code, want $1"
	[ -s "$tmp/out" ] && complain "stdout: $(head -c 200 "$tmp/out")"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] ||
		complain "$(wc -l <"$tmp/err") lines on stderr, want 1"
	grep -q '^weft: ' "$tmp/err" || complain "stderr: no \"weft: \""
	grep -q 'internal error' "$tmp/err" && complain "an internal error"
	grep -qF -- "$2" "$tmp/err" || complain "stderr: no \"$2\""
	[ ! -s "$tmp/complaints" ] || complain "said: $(cat "$tmp/err")"
}

# Bad input.
refused() { # TEXT ARGUMENTS
	text=$1
	shift
	run "$@"
	judge 2 "$text"
	report "refused: weft $*"
}
