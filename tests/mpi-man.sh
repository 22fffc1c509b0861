#!/bin/sh
#
# What weft-mpirun(1) and weft-mpi(7) show: the report is the one that comes,
# and each command is one that Weft takes.  Commands for programs that are
# downloaded or installed are run by mpi-packages.sh and campaign-mpi-programs.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/ranks.sh"

mpicc -o "$tmp/halo" "$src/examples/mpi/halo.c" -lm || complain 'mpicc'
mpicc -o "$tmp/latency" "$src/examples/mpi/latency.c" || complain 'mpicc'

# Without the host's own times, and the version of Open MPI that it has.
plain() { # FILE
	sed -e 's/ *$//' -e 's/, Open MPI [0-9.]*:/, Open MPI:/' \
		-e 's/, [0-9]* us each; [0-9.]* s of/, T of/' \
		-e 's/ in [0-9.]* s on [0-9]* threads*:/ in T:/' \
		-e 's/, [0-9]* ns of CPU time each//' "$1"
}

sed -n '/^weft: gemini/,/^```/p' "$src/man/weft-mpirun.1.scd" |
	sed '/^```/d' >"$tmp/shown"
[ "$(wc -l <"$tmp/shown")" -gt 10 ] || complain 'no report in the page'
mpirun gemini -n 4 -- "$tmp/halo"
plain "$tmp/shown" >"$tmp/want"
plain "$tmp/err" >"$tmp/got"
cmp -s "$tmp/want" "$tmp/got" || complain "$(diff "$tmp/want" "$tmp/got")"
report 'the report in the manual is the one that comes'

# A line for each command, without those of other people's programs.
commands() {
	sed -e '/^# OSU/,/^# WHAT STAYS OUT/d' "$src/man/weft-mpirun.1.scd" \
		"$src/man/weft-mpi.7.scd" |
		sed -n '/^```/,/^```/p' | sed -e :a -e '/\\\\$/N' \
		-e 's/\\\\\n[	 ]*/ /' -e ta |
		grep -E '^(weft (mpirun|sweep)|mpicc) '
}

# Programs that end at once stand for the user's own.
mkdir "$tmp/place"
for name in solver server client bandwidth ep allreduce; do
	printf '#!/bin/sh\nexit 0\n' >"$tmp/place/$name"
	chmod +x "$tmp/place/$name"
done
ln -s "$tmp/halo" "$tmp/place/halo"
ln -s "$(cd "$src" && pwd)/examples" "$(cd "$src" && pwd)/include" "$tmp/place"
cp "$tmp/place/solver" "$tmp/solver"
commands >"$tmp/commands"
tried=0
while read -r command; do
	case $command in
	*--debug*) continue ;; # mpi-cli.sh has one
	*--check*) command="weft mpirun --check ./halo" ;;
	esac
	tried=$((tried + 1))
	(
		cd "$tmp/place" || exit
		HOME=$tmp
		weft() {
			timeout 100 "$weft" "$@" </dev/null
		}
		eval "$command"
	) >"$tmp/out" 2>"$tmp/err" ||
		complain "$command: $(cat "$tmp/out" "$tmp/err")"
done <"$tmp/commands"
[ $tried -ge 10 ] || complain "only $tried commands: $(cat "$tmp/commands")"
report 'commands of the manual are accepted'
exit $status
