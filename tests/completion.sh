#!/bin/bash
#
# Completion in shells: whatever --help lists is completed, and the names of
# machines, workloads, keys and parameters.
set -u
. "$(dirname "$0")/tap.sh"

words() { # WORD...: what completes them
	"$weft" complete "$@" 2>"$tmp/err" | cut -f 1 | sort
	[ ! -s "$tmp/err" ] || complain "$*: $(cat "$tmp/err")"
}

same() { # WHAT: $tmp/want and $tmp/got
	sort -u "$tmp/want" | diff - "$tmp/got" >"$tmp/diff" ||
		complain "$1: $(head -n 5 "$tmp/diff")"
	[ -s "$tmp/want" ] || complain "$1: none are listed"
}

"$weft" help | sed -n 's/^  \([a-z]*\) .*/\1/p' >"$tmp/commands"
{
	cat "$tmp/commands"
	printf '%s\n' --help --version -V
} >"$tmp/want"
words '' >"$tmp/got"
same commands
[ "$(words help sho)" = show ] || complain "help sho: $(words help sho)"
report 'every command'

for command in $(grep -v help "$tmp/commands"); do
	"$weft" $command --help | sed -n 's/^  [-, a-z]* --.*/&/p' |
		sed 's/^ *\(-.\),/\1\n/' |
		sed -n 's/^ *\(-[-a-z]*\).*/\1/p' >"$tmp/want"
	words $command - >"$tmp/got"
	same "$command"
done
report 'every option'

"$weft" machines | sed 1d | cut -d ' ' -f 1 >"$tmp/want"
for command in run show check sweep; do
	words $command '' >"$tmp/got"
	same "$command"
done
"$weft" help run | sed -n '/^Workloads/,/^$/s/^  \([^ ]*\) .*/\1/p' \
	>"$tmp/want"
words run --seed 1 torus '' >"$tmp/got"
same run
report 'machines and workloads'

[ "$(words run torus random loa)" = load= ] || complain 'no key'
words run bgq random routing= | grep -qx routing=dynamic ||
	complain "words: $(words run bgq random routing=)"
words run bgq --set link.ra | grep -qx link.rate= || complain 'no parameter'
[ "$(words sweep bgq,toru)" = bgq,torus ] || complain 'no second machine'
[ "$(words plot x.db late)" = latency ] || complain 'no picture'
[ "$(words goal allreduce ran)" = ranks= ] || complain 'no key of goal'
[ "$(words run torus random bytes=1 loa)" = load= ] || complain 'no second key'
[ "$(words mpirun torus -n 2 pp)" = ppn= ] || complain 'no key of mpirun'
[ -z "$(words run -o '')$(words sql x '')$(words run a b c.d)" ] ||
	complain 'something where files are wanted'
report 'keys, their words, parameters'

# As bash asks.
PATH=$(dirname "$weft"):$PATH
. "$src/completions/weft.bash"
compopt() { :; }
asked() { # LINE: what bash puts in place of the last word
	COMP_LINE=$1 COMP_POINT=${#1}
	_weft
	printf '%s\n' "${COMPREPLY[@]}"
}
[ "$(asked 'weft run bgq-mid')" = bgq-midplane ] || complain 'no machine'
[ "$(asked 'weft run bgq random routing=dy')" = dynamic ] ||
	complain "$(asked 'weft run bgq random routing=dy')"
asked 'weft run torus ' | grep -qx random || complain 'no workload'
report 'bash'

# With -o zsh would offer words that begin with a dash, and no others.
! grep -q '_describe -o' "$src/completions/_weft" || complain 'options alone'
for shell in zsh fish; do
	file=_weft
	[ $shell = zsh ] || file=weft.fish
	# Both pass on what weft says, which is compared above.
	grep -q 'complete.*words.*2>/dev/null' "$src/completions/$file" ||
		complain "$file does not ask weft"
	if command -v $shell >/dev/null; then
		$shell -n "$src/completions/$file" || complain "$file"
		[ $shell = zsh ] || fish --no-config -c "
			source $src/completions/$file
			complete -C 'weft run bgq-mid'" |
			grep -q '^bgq-midplane' || complain 'no machine'
		report "$shell can read its file"
	else
		skip "$shell can read its file" "no $shell"
	fi
done

exit $status
