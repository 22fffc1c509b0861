#!/bin/sh
#
# Every workload on every machine that is shipped, once, in small: it runs, or
# it is refused where the machine lacks what the workload needs.
set -u
. "$(dirname "$0")/tap.sh"

# Weft's own lists, so a new workload or machine is included by itself.
names() { # KEY
	sed -n "s/^ *\"$1\": \"\\([^\"]*\\)\",*\$/\\1/p" "$tmp/out" | sort -u
}
run machines --json
machines=$(names name)
run params --json
workloads=$(names workload)
[ "$(echo "$machines" | wc -l)" -ge 26 ] || complain "machines: $machines"
[ "$(echo "$workloads" | wc -l)" -ge 28 ] || complain "workloads: $workloads"
report 'machines and workloads are listed'

printf '0,1,1\n1,0,1\n' >"$tmp/matrix"
printf 'num_ranks 2\nrank 0 {\ns: send 8b to 1\n}\nrank 1 {\n' >"$tmp/goal"
printf 'r: recv 8b from 0\n}\n' >>"$tmp/goal"
printf 'num_ranks 1\nrank 0 {\nc: calc 100\n}\n' >"$tmp/alone"

shape_of() { # MACHINE
	case $1 in
	*-loop | *-pair | *-board) echo ;;
	apenet*) echo --shape 4x2x2 ;;
	bgq-io) echo --shape 4x2x2x2x2 --set topology.io.every=32 ;;
	bgq*) echo --shape 4x2x2x1x1 ;;
	gemini*) echo --shape 4x2x1 ;;
	torus) echo --shape 4x4 ;;
	dragonfly | kim*) echo --shape 64 ;;
	frontier) echo --shape 64 --set topology.groups=0 \
		--set topology.routers=4 --set topology.per-router=2 \
		--set topology.global=4 --set topology.between=2 ;;
	superpod*) echo --shape 16 --set topology.ports=16 ;;
	sunway*) echo --shape 32 ;;
	slimfly*) echo --shape 3 --set topology.per-router=1 ;;
	hyperx*) echo --shape 4x4 --set topology.per-router=1 ;;
	graph) echo --shape 8x3x1 --set topology.per-router=2 ;;
	*) echo --shape 16 ;;
	esac
}

keys_of() { # WORKLOAD MACHINE
	case $1 in
	matrix) echo "file=$tmp/matrix" warmup=1us measure=2us ;;
	replay) case $2 in
		*-loop) echo "file=$tmp/alone" ;;
		*) echo "file=$tmp/goal" ;;
		esac ;;
	code) echo symbols=3 count=100 ;;
	incast) echo period=1us warmup=1us measure=2us bytes=64 ;;
	stream | gets | fan | mirror | exchange) echo bytes=512 rounds=2 ;;
	amo) echo senders=1 rounds=20 ;;
	crossover) echo max=16 rounds=2 ;;
	sweep) echo max=16 rounds=2 burst=2 ;;
	alltoall) echo via=nic bytes=64 ;;
	collective | pingpong) echo rounds=2 ;;
	storm) echo count=50 ;;
	files) echo bytes=4096 ;;
	manage) echo rounds=2 watch=1us ;;
	exit) echo turns=2 ;;
	reach) echo warmup=1us measure=2us bytes=64 ;;
	card) echo bytes=4096 ;;
	blocks) echo bytes=64 rounds=2 ;;
	probe | lofamo | events | mpi) ;;
	*) echo warmup=1us measure=2us ;;
	esac
}

# Whether a machine lacks what a workload needs, by what it says then.
refusal() { # WORKLOAD MACHINE
	case "$1 $2" in
	mpi\ *) echo 'want a program behind --' ;;
	lofamo\ apenet* | code\ bgq* | collective\ *) ;;
	replay\ * | exchange\ *) ;;
	card\ qsnet2* | events\ qsnet2* | probe\ gemini* | files\ bgq-io) ;;
	manage\ sunway* | exit\ sunway*) ;;
	probe\ sunway* | code\ sunway*) ;;
	reach\ [dfghkqs]*) ;;
	reach\ *) echo 'no switches' ;;
	card\ * | exit\ * | manage\ * | events\ * | files\ [!b]*)
		echo 'only on machines' ;;
	files\ *) echo 'has no IO nodes' ;;
	probe\ *) echo 'cannot carry their route' ;;
	lofamo\ *) echo 'has no watchdogs' ;;
	code\ *) echo 'no symbols' ;;
	amo\ [abq]*) echo 'no atomic operations' ;;
	neighbours\ graph | tornado\ graph) echo 'needs a torus' ;;
	router-shift\ gemini-board) echo 'ends at the same one' ;;
	router-shift\ graph | router-shift\ [dfkqs]*)
		echo 'needs routers in a box' ;;
	neighbours\ [dfkqs]* | tornado\ [dfkqs]*) echo 'needs a torus' ;;
	transpose\ superpod* | fan\ frontier | group-shift\ frontier) ;;
	crossover\ superpod*) echo 'has only one' ;;
	fan\ superpod* | fan\ [fq]* | fan\ *-loop) echo 'no neighbours' ;;
	*\ *-loop) echo 'two nodes|nodes 0 to 0' ;;
	crossover\ [bdfhkt]* | crossover\ graph | crossover\ slimfly*)
		echo 'has only one' ;;
	bit-reversal\ slimfly*) echo 'power of two' ;;
	group-shift\ [!dk]*) echo 'needs a network of groups' ;;
	bit-reversal\ *-pair | permutation\ *-pair) echo 'to itself' ;;
	tornado\ *-pair | tornado\ *-board) echo 'to itself' ;;
	transpose\ *-pair | transpose\ bgq-board | transpose\ s*)
		echo 'power of four' ;;
	esac
}

for machine in $machines; do
	for workload in $workloads; do
		# shellcheck disable=SC2046
		run run "$machine" $(shape_of "$machine") "$workload" \
			$(keys_of "$workload" "$machine") --threads 1 --quiet
		why=$(refusal "$workload" "$machine")
		if [ -z "$why" ]; then
			[ $code -eq 0 ] ||
				complain "$workload: $code: $(cat "$tmp/err")"
		elif [ $code -ne 2 ] || ! grep -qE "$why" "$tmp/err"; then
			complain "$workload: $code, want '$why':" \
				"$(cat "$tmp/err")"
		fi
	done
	report "$machine runs every workload that it can"
done

# The neighbours of a compute node are compute nodes.
for workload in exchange fan neighbours; do
	# shellcheck disable=SC2046
	run run bgq-io $(shape_of bgq-io) "$workload" \
		$(keys_of "$workload" bgq-io) --quiet
	grep -q '^links .* IO 0 %  IO1 0 %' "$tmp/out" ||
		complain "$workload: $(cat "$tmp/out" "$tmp/err")"
done
report 'no neighbour is an IO node'

exit $status
