#!/bin/sh
#
# The same run to the last bit on any number of Weft processes: everything that
# a run prints but its cost is compared.  State of other processes' sites
# cannot be touched (sim_fence()), so a process that looks at it ends.  In a
# build with the thread sanitizer, threads of processes that race end, too.
#
# WHOLE=1 also takes all golden runs, with their mail packed, and shared among
# processes where that can be: their digests and all that they print are those
# of one process.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/job.sh"

short='warmup=3us measure=3us'

result() { # FILE ARGUMENTS
	file=$1
	shift
	run run "$@" --json
	echo "exit code $code" >"$file"
	sed -e '/"threads"/d' -e '/"wall_s"/d' -e '/"cpu_s"/d' \
		-e '/"setup_s"/d' -e '/"checks_s"/d' \
		-e '/"ns_per_packet_hop"/d' -e '/"bytes_per_node"/d' \
		"$tmp/out" "$tmp/err" >>"$file"
}

# With OPTIONS that differ, what is printed does not.
same() { # OPTIONS ARGUMENTS
	options=$1
	shift
	result "$tmp/one" "$@" --threads 1
	for option in $options; do
		result "$tmp/other" "$@" \
			--processes "${option%x*}" --threads "${option#*x}"
		diff "$tmp/one" "$tmp/other" >"$tmp/diff" ||
			complain "$option: $(cat "$tmp/diff")"
	done
	grep -q '"digest": "[0-9a-f]\{16\}"' "$tmp/one" ||
		complain "no digest: $(cat "$tmp/one")"
	report "$*: processes x threads: $options"
}

same '2x1 3x2 7x1 8x1' bgq random --shape 4x4x2 $short
same '3x1' bgq random --shape 4x3x2 load=0.4 $short --histogram
same '2x2' bgq hotspot --shape 4x4 message=4KiB load=0.3 $short
same '4x1' torus neighbours --shape 4x4x2 $short
same '3x1' qsnet2-16 random $short
same '2x1' gemini random --shape 3x2x2 $short
same '5x1' gemini random --shape 2x2x1 $short # nodes without their chip
same '3x1' sunway-32 random $short
same '2x1' fattree incast --shape 16 $short
same '4x1' dragonfly permutation --shape 64 $short
same '3x1' apenet-quong random $short

# processes that exchange messages, as if they were on several computers
export WEFT_APART=1
same '2x3 3x2 7x1' bgq random --shape 4x4x2 $short
same '3x1' torus alltoall --shape 4x3 via=msg bytes=1300 data=real
same '3x1' torus pingpong --shape 4x4 from=13 to=2 rounds=20
unset WEFT_APART

# programs, with real bytes
same '3x1' torus alltoall --shape 4x3 via=msg bytes=1300 data=real
same '2x3' bgq alltoall --shape 4x3x2 via=nic bytes=1300
same '4x1' qsnet2-16 alltoall via=msg bytes=600
same '2x1' gemini alltoall --shape 2x2x1 via=msg bytes=600
same '3x1' fattree alltoall --shape 16
# trains: a packet between those of one, when tokens return
same '2x1 3x1' hyperx alltoall --shape 4x4 via=msg bytes=10000 coarse=8

# pairs and groups of programs, whose ends are in different processes
same '2x1 3x1' torus pingpong --shape 4x4 from=13 to=2 rounds=20
same '3x2' qsnet2-16 stream by=sten from=15 to=3 bytes=1000 rounds=9 warm=3
same '3x1' gemini gets bytes=4000 from=9 to=1 --shape 3x2x1
same '3x1' gemini amo variables=9 senders=6 rounds=60 --shape 2x2x1
same '3x1' bgq-board collective op=broadcast by=hardware bytes=400 root=29
same '3x1' qsnet2-16 collective op=broadcast by=hardware bytes=600 root=13
same '2x1 3x2' sunway-32 collective by=mpi op=allreduce bytes=64 procs=4
same '3x1' sunway-32 collective by=mpi op=broadcast bytes=904 root=29 procs=2
same '2x1' gemini probe --shape 2x2x1
same '3x1' bgq-board files --set topology.io.every=16 clients=9 bytes=500
same '3x1' sunway-32 exit turns=2 numbers=2 life=10us bytes=1KiB

# faults: counts of all, and everybody's deaths
errors='--set faults.bit-errors=1e-5'
same '3x1' torus storm count=200 --shape 4x4 $errors
same '2x2' bgq-board collective op=barrier by=hardware rounds=5 $errors
same '3x1' torus fan --shape 2x2 --set 'faults.events=5 us node 1 dies'
grep -q '^exit code 3$' "$tmp/one" || complain "$(cat "$tmp/one")"
report 'a death is found, and described in the same words'
same '4x2 7x1' bgq-board permutation load=max $short --seed 69 \
	--set 'faults.events=790 ns link 4 A+ dies' --set routing.notice=0ps
grep -q '"holds": "a packet from node 8 to node 21"' "$tmp/one" ||
	complain "$(cat "$tmp/one")"
report 'packets that wait for dead links are found, also on their way'

# tables of switches, each in its process
same '3x1' sunway-32 random $short --tables "$src/examples/sunway-tables.yaml"

# budgets travel with packets, and so do trails
same '3x1' torus random --shape 4x4 $short --budget --follow 3.2
same '2x2' qsnet2-16 alltoall via=msg bytes=600 --budget --follow 9.4
same '3x1' torus alltoall via=nic bytes=9000 --shape 4x4 --until 11us \
	--follow 2.3
grep -q '"is_complete": false' "$tmp/one" || complain "$(cat "$tmp/one")"
same '3x1' bgq-board collective op=broadcast by=hardware bytes=904 rounds=2 \
	--budget

# a pair's messages: what the sender knows of a trip goes to the receiver
far='from=13 to=2 via=msg --budget'
same '2x1 3x2' torus pingpong --shape 4x4 rounds=20 $far
same '3x1' qsnet2-16 pingpong bytes=1000 rounds=9 $far
same '2x2' bgq-board stream bytes=4000 $far --follow 13.2
same '3x1' torus pingpong --shape 4x4 rounds=20 $far $errors

# jobs, each of which is also run alone, by one of the processes
same '3x1' torus --shape 4x4x2 --jobs "$src/examples/jobs.yaml"

# partitions, each in one process, with those that share an IO node: a reads
# what b writes
{
	echo 'schema: 1'
	echo 'jobs:'
	for job in 'a 0,0 read 30us' 'b 2,0 write 0us' 'c 0,2 write 1us'; do
		set -- $job
		echo "- { name: $1, partition: '2x2x2x2x2 at $2,0,0,0'," \
			"seed: 7, start: $4, workload: files, keys:" \
			"{ clients: 4, bytes: 8KiB, calls: $3, name: /x/ } }"
	done
	echo "- { name: d, partition: '2x2x2x2x2 at 2,2,0,0,0'," \
		"workload: random, keys: { load: 0.2, warmup: 1us," \
		"measure: 1us } }"
} >"$tmp/partitions.yaml"
same '2x1 3x2 5x1' bgq-midplane --set topology.io.every=64 \
	--jobs "$tmp/partitions.yaml"

# Run file and links, but what is the host's.
dump() { # FILE
	for table in meta link shared blocked sample shared_sample figure \
		latency counter cause budget message spent hop call transfer; do
		echo "--- $table"
		"$weft" sql "$1" "select * from $table" --json
	done | sed -e '/"command"/,/}/d' -e '/"threads"/,/}/d'
}

files() { # OPTION ARGUMENTS
	option=$1
	shift
	run run "$@" -o "$tmp/one.db" --links "$tmp/one.csv" --threads 1
	grep -v '^simulated' "$tmp/out" >"$tmp/one"
	run run "$@" -o "$tmp/other.db" --links "$tmp/other.csv" \
		--processes "${option%x*}" --threads "${option#*x}"
	grep -v '^simulated' "$tmp/out" | diff "$tmp/one" - >"$tmp/diff" ||
		complain "$(cat "$tmp/diff" "$tmp/err")"
	cmp "$tmp/one.csv" "$tmp/other.csv" >"$tmp/diff" 2>&1 ||
		complain "$(cat "$tmp/diff")"
	dump "$tmp/one.db" >"$tmp/one"
	dump "$tmp/other.db" | diff "$tmp/one" - >"$tmp/diff" ||
		complain "$(head -n 20 "$tmp/diff")"
	grep -q '"use"' "$tmp/one" || complain "no links: $(cat "$tmp/one")"
	report "files of $*: $option"
}

files 3x1 fattree random --shape 16 $short --sample 500ns
# tokens alone, which are events where both ends are not the same thread's
files 2x1 bgq incast --shape 5x3x4x2 --seed 23
files 3x2 apenet alltoall bytes=100 --shape 5x3 --sample 700ns
files 2x2 bgq alltoall --shape 4x2 via=msg bytes=1300 --sample 1us --budget
run run torus random --shape 4 --processes 2 -o "$tmp/none/run.db"
[ $code -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] ||
	complain "$code: $(cat "$tmp/err")"
report 'a run file that cannot be written is refused once'

# programs that wait for each other for ever
{
	echo num_ranks 6
	for rank in 0 1 2 3 4 5; do
		echo "rank $rank {"
		echo "a: recv 8b from $(((rank + 5) % 6)) tag 1"
		echo "b: send 8b to $(((rank + 1) % 6)) tag 1"
		echo "b requires a"
		echo "}"
	done
} >"$tmp/ring.goal"
same '2x1 4x1' torus replay file="$tmp/ring.goal" --shape 8
grep -q '^exit code 3$' "$tmp/one" && grep -q 'has not started to send' \
	"$tmp/one" || complain "$(cat "$tmp/one")"
report 'programs that wait are found, and what they wait for'

# a cycle that runs through all of them
same '2x1 3x1' bgq random load=max routing=deterministic measure=1ms \
	--shape 8 --set routing.bubble=no --set router.packets=2 \
	--set router.transit=1
grep -q '^exit code 3$' "$tmp/one" && grep -q '"deadlocked"' "$tmp/one" ||
	complain "$(cat "$tmp/one")"
report 'a deadlock is found, and described in the same words'

refused 'processes for 4 nodes' run torus random --shape 4 --processes 5

# --- as a job of Open MPI ---

if has_job openmpi; then
	run run bgq random --shape 4x4x2 $short --threads 1
	grep -v '^simulated' "$tmp/out" >"$tmp/one"
	prints_the_same() { # PROCESSES
		job $1 run bgq random --shape 4x4x2 $short --threads 1
		grep -v '^simulated' "$tmp/out" | diff "$tmp/one" - \
			>"$tmp/diff" ||
			complain "$1: $(cat "$tmp/diff" "$tmp/err")"
	}
	for processes in 2 3; do
		prints_the_same $processes
	done
	report 'a job of Open MPI prints the same, once'
	WEFT_APART=1 prints_the_same 3
	report 'and so it does by messages alone'
	# so much in a window that messages have a second part
	many='bgq random --shape 4x4x4x4x2 warmup=1us measure=1us --threads 1'
	run run $many
	grep '^digest' "$tmp/out" >"$tmp/one"
	WEFT_APART=1 job 2 run $many
	grep '^digest' "$tmp/out" | cmp -s "$tmp/one" - ||
		complain "$code: $(cat "$tmp/out" "$tmp/err")"
	report 'messages of a job may be long'
	job 2 run torus pingpong --shape 4 from=9
	[ "$(grep -c '^weft: ' "$tmp/err")" -eq 1 ] && [ $code -eq 2 ] ||
		complain "$code: $(cat "$tmp/err")"
	report 'an error of all is printed once'
	job 2 run torus random --shape 4 --processes 2
	grep -q 'no effect in a job of MPI' "$tmp/err" ||
		complain "$(cat "$tmp/err")"
	report 'no processes of processes'
else
	skip 'a job of Open MPI' 'there is no mpirun, or no object for it'
fi

# Workers as if they were processes: with mail between them packed, and with
# memory of their own sites only, one after the other.
packed() { # DIGEST ARGUMENTS
	want=$1
	shift
	for fence in '' --fence; do
		run "$@" --pack $fence --threads 3
		[ "$(sed -n 's/^digest *//p' "$tmp/out")" = "$want" ] ||
			complain "$fence: $(cat "$tmp/out" "$tmp/err")"
	done
	report "packed and fenced: $*"
}

# What the last run printed, but its times, threads and processes.
words() {
	echo "exit code $code"
	sed '/^simulated/{
		s/ in [0-9.]* s on [0-9]* threads\{0,1\}//
		s/, [0-9]* ns of CPU time each//
		s/; [0-9.]* s to set it up//
		s/; [0-9.]* s for checks//
	}' "$tmp/out" "$tmp/err"
}

# A golden run in several processes; all have more than one node but one.
spread() { # DIGEST ARGUMENTS
	want=$1
	shift
	for option in 1x1 1x2 2x1 2x2 3x1 3x2 4x1 4x2 7x1 7x2; do
		run "$@" --processes ${option%x*} --threads ${option#*x}
		[ $code -eq 2 ] && grep -q 'processes for 1 node' \
			"$tmp/err" && continue
		[ "$(sed -n 's/^digest *//p' "$tmp/out")" = "$want" ] ||
			complain "$option: $(cat "$tmp/out" "$tmp/err")"
		[ $option != 1x1 ] || words >"$tmp/one"
		words | diff "$tmp/one" - >"$tmp/diff" ||
			complain "$option: $(cat "$tmp/diff")"
	done
	report "processes x threads: $*"
}

sed -n "s|@|$src/|g; s/^\([0-9a-f]\{16\}\)  run \(.*\)/\1 \2/p" \
	"$src/tests/golden/digests.txt" >"$tmp/golden"

# The digests of today's networks, which follow a comment in the file.
twice() { # DIGEST ARGUMENTS
	want=$1
	shift
	for option in '--threads 3' '--processes 2'; do
		run "$@" $option
		[ "$(sed -n 's/^digest *//p' "$tmp/out")" = "$want" ] ||
			complain "$option: $(cat "$tmp/out" "$tmp/err")"
	done
	report "three threads, two processes: $*"
}
sed '1,/^#/d' "$src/tests/golden/digests.txt" | sed -n "s|@|$src/|g
	s/^\([0-9a-f]\{16\}\)  run \(.*\)/\1 \2/p" >"$tmp/today"
while read -r want arguments; do
	twice "$want" run $arguments
done <"$tmp/today"

while read -r want arguments; do
	case "${WHOLE-} $arguments" in
	'1 '*)
		packed "$want" run $arguments
		spread "$want" run $arguments ;;
	*' bgq alltoall via=nic bytes=1300 --shape'*)
		packed "$want" run $arguments ;;
	esac
done <"$tmp/golden"

exit $status
