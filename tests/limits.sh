#!/bin/sh
#
# What runs short: memory, addresses, the disk, patience.  Each ends as weft(1)
# says, with one line, and at once.
set -u
. "$(dirname "$0")/tap.sh"
export WEFT_CLAIMS="$src/claims"

judge() { # CODE TEXT
	[ $code -eq "$1" ] || complain "exit code $code, want $1"
	[ -s "$tmp/out" ] && complain "stdout: $(head -c 200 "$tmp/out")"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] ||
		complain "$(wc -l <"$tmp/err") lines on stderr, want 1"
	LC_ALL=C grep -q '^weft: [ -~]*$' "$tmp/err" ||
		complain "stderr: not one line of plain text"
	grep -qF -- "$2" "$tmp/err" || complain "stderr: no \"$2\""
	[ ! -s "$tmp/complaints" ] || complain "said: $(cat "$tmp/err")"
}

# Ends within some seconds of its own time, however busy the host is.
quickly() { # SECONDS ARGUMENTS
	seconds=$1
	shift
	(
		ulimit -t "$((seconds * ${WEFT_SLOW:+1}5 + seconds))"
		exec "$weft" "$@"
	) >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}

# --- address space ---

if [ -n "${WEFT_SLOW:-}" ]; then
	skip "2 GB of addresses" "sanitizers take more"
else
	for run in 'torus storm count=100 --shape 2x2' \
		'fattree storm count=100 --shape 4' \
		'dragonfly storm count=100 --shape 32' \
		'qsnet2-16 storm count=100' \
		'bgq-board storm kinds=all count=100' \
		'bgq random --shape 2x2 warmup=1us measure=2us' \
		'qsnet2-64 collective' 'torus alltoall --shape 4x4x4'; do
		for budget in '' --budget; do
			(ulimit -v 2000000 && exec "$weft" run $run $budget) \
				>"$tmp/out" 2>"$tmp/err" ||
				complain "exit code $?: $(cat "$tmp/err")"
			report "2 GB of addresses: weft run $run $budget"
		done
	done
fi

(ulimit -v 400000 && exec "$weft" run bgq random) >"$tmp/out" 2>"$tmp/err"
code=$?
if [ -z "${WEFT_SLOW:-}" ]; then
	[ $code -eq 4 ] || complain "exit code $code"
	grep -q 'allows 400000 KiB of address space' "$tmp/err" ||
		complain "said: $(cat "$tmp/err")"
	report 'a limit of addresses is named'
fi

# --- the stack ---

(ulimit -S -s 64 && exec "$weft" --version) >"$tmp/out" 2>"$tmp/err" ||
	complain "exit code $?: $(cat "$tmp/err")"
report 'a small stack is made larger where the limit allows it'
(ulimit -s 64 && exec "$weft" --version) >"$tmp/out" 2>"$tmp/err"
code=$?
[ $code -eq 0 ] || [ $code -eq 2 ] || complain "exit code $code"
[ $code -eq 0 ] || grep -q 'want `ulimit -s 1024`' "$tmp/err" ||
	complain "said: $(cat "$tmp/err")"
report 'a stack that is too small is named'

# --- allocations that fail ---

shim=$(dirname "$weft")/../tests/chaos/libchaos_shim.so
# shellcheck disable=SC2086
spoil() { # ARGUMENTS
	CHAOS_COUNT=3 LD_PRELOAD=$shim "$weft" "$@" 3>"$tmp/count" \
		>"$tmp/whole" 2>"$tmp/err"
	count=$(cat "$tmp/count")
	i=1 j=1
	while [ "$i" -le "$count" ]; do
		for fail in $i $i+; do
			CHAOS_FAIL=$fail LD_PRELOAD=$shim "$weft" "$@" \
				>"$tmp/out" 2>"$tmp/err" </dev/null
			code=$?
			# what can do without it prints all the same
			[ $code -eq 0 ] && cmp -s "$tmp/out" "$tmp/whole" &&
				[ ! -s "$tmp/err" ] && continue
			judge 4 'out of memory'
			[ -s "$tmp/complaints" ] &&
				complain "CHAOS_FAIL=$fail of $count" && break 2
		done
		next=$((i + j)) j=$i i=$next
	done
	report "an allocation fails in weft $*"
}

if [ -f "$shim" ]; then
	spoil help
	spoil run --help
	spoil machines
	spoil params
	spoil claims
	spoil claims qsnet2
	spoil show torus --json
	spoil check qsnet2-16 --json
	spoil params bgq-board --json
else
	skip "allocations that fail" "sanitizers have their own"
fi

# --- a full disk ---

if [ -w /dev/full ]; then
	for command in 'claims' 'claims bgq' 'claims --json' 'machines --json' \
		'params random' 'run --help' 'show qsnet2-16 --json'; do
		"$weft" $command >/dev/full 2>"$tmp/err" </dev/null
		code=$?
		: >"$tmp/out"
		judge 2 'cannot write the output'
		report "weft $command >/dev/full"
	done
fi

# --- signals before a run has begun ---

# Waits until a process can take SIGTERM; before that the kernel ends it.
ready() { # PID
	while mask=$(sed -n 's/^SigCgt:[^0-9a-f]*//p' "/proc/$1/status" \
		2>/dev/null) && [ -n "$mask" ]; do
		[ $((0x$mask & 0x4000)) -ne 0 ] && return
	done
}

for command in 'check bgq-20pf' 'show bgq --shape 64x64x32x16x2' \
	'run bgq-20pf random warmup=1s' 'run qsnet2-4096 storm'; do
	for signal in TERM INT; do
		"$weft" $command >"$tmp/out" 2>"$tmp/err" </dev/null &
		pid=$!
		ready $pid
		kill -$signal $pid
		wait $pid
		code=$?
		judge 6 'stopped by a signal'
		report "SIG$signal while weft $command sets up"
	done
done

# --- readers ---

mkdir "$tmp/claims"
bad=$tmp/claims/bad.yaml
export WEFT_CLAIMS="$tmp/claims"
for bracket in '[' '{'; do
	head -c 400000 /dev/zero | tr '\0' "$bracket" >"$bad"
	quickly 1 claims
	judge 2 'bad.yaml:1:'
	report "400,000 of $bracket in a file of claims"
done
head='schema: 1
system: bad
title: bad
features:
  - id: X-F1
    status: missing
'
printf '%s    what: "\\e[31mred"\n' "$head" >"$bad"
quickly 1 claims bad
judge 2 'control characters'
report "an escape sequence in a file of claims"
printf '%s    what: "\\x9b31mred"\n' "$head" >"$bad"
quickly 1 claims bad
judge 2 'control characters'
report "a control character of eight bits in one"
printf '%s    what: &a x\n' "$head" >"$bad"
quickly 1 claims bad
judge 2 'anchors'
report "an anchor in one"
: >"$bad"
quickly 1 claims bad
judge 2 'empty'
report "an empty one"
head -c 2000000 /dev/zero | tr '\0' '#' >"$bad"
quickly 1 claims
judge 2 'larger than 1 MiB'
report "one of 2 MB"

plan=$tmp/plan.yaml
{
	printf 'schema: 1\nfaults:\n  events:\n'
	awk 'BEGIN { for (i = 0; i < 32587; i++)
		printf "  - %dns switch 6.%d dies\n", i, i % 1024 }'
} >"$plan"
quickly 1 run qsnet2-4096 storm --faults "$plan"
judge 2 "plan.yaml:"
report "a plan of 32,587 lines that name switches"

# Files without an end are refused within their first mebibyte.
mkfifo "$tmp/endless"
for workload in matrix replay; do
	quickly 2 run torus $workload --shape 2x2 file=/dev/zero
	case $workload in
	matrix) judge 2 '/dev/zero:1: is not text' ;;
	*) judge 2 '/dev/zero:1: not GOAL, neither text nor binary' ;;
	esac
	report "/dev/zero as the file of $workload"
	tr '\0' 7 </dev/zero >"$tmp/endless" 2>/dev/null &
	quickly 2 run torus $workload --shape 2x2 file="$tmp/endless"
	judge 2 'endless:1: the line is longer than 1 MiB'
	report "a line without an end in the file of $workload"
	wait
done
for seed in 1.. 1..x ..3 1...3 -1 1e3 x 99999999999999999999; do
	quickly 1 sweep torus random --shape 2x2 measure=1us seed=$seed
	judge 2 'seed: "'
	report "a sweep with seed=$seed"
done

# --- terminals ---

escape=$(printf '\033')
for name in "$escape[31m" "$(printf '\302\23331m')" "$(printf '\23331m')"; do
	run show "$name"
	judge 2 '?'
	report "a machine called like an escape sequence"
	run run bgq random --set "$name=1"
	judge 2 "unknown parameter"
	report "a parameter called so"
	mkdir -p "$tmp/machines"
	cp "$src/machines/torus.yaml" "$tmp/machines/$name.yaml"
	WEFT_MACHINES=$tmp/machines run machines
	LC_ALL=C grep -q "$(printf '[\033\233]')" "$tmp/out" "$tmp/err" &&
		complain "an escape"
	report "a machine file called so"
done

exit $status
