#!/bin/sh
#
# Programs from outside: installs what there is, builds the examples against
# that alone, with the static library and with the shared one, and runs them.
# Needs $WEFT, in its build directory.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/installed.sh"
. "$(dirname "$0")/look.sh"

# They are installed, too, with a Makefile.
cp -r "$prefix/share/weft/examples" "$tmp/made" &&
	make -C "$tmp/made" CC="$cc" CFLAGS="${CFLAGS-}" ring \
		PKG_CONFIG="pkg-config --define-variable=prefix=$prefix" \
		>"$tmp/log" 2>&1 || complain "$(tail -n 5 "$tmp/log")"
"$tmp/made/ring" torus --shape 2x2 >"$tmp/out" 2>&1 ||
	complain "$(cat "$tmp/out")"
report "examples are installed, and make builds them"

grep -q "$(sed -n 's/^prefix=//p' "$pc")/" "$build/compile_commands.json" &&
	complain "compilers are told the prefix"
mkdir -p "$tmp/other/opt"
cp -r "$prefix" "$tmp/other/opt/weft"
DESTDIR=$tmp/other "$src/scripts/installed" /opt/weft >"$tmp/out" 2>&1
for line in PATH=/opt/weft/bin MANPATH=/opt/weft/share/man \
	PYTHONPATH=/opt/weft/lib PKG_CONFIG_PATH=/opt/weft/lib \
	LD_LIBRARY_PATH=/opt/weft/lib; do
	grep -q "^  export $line" "$tmp/out" ||
		complain "no $line: $(cat "$tmp/out")"
done
report "another prefix does not compile all anew, and says what to export"

# A copy, so that nothing of the tree is found by chance.
mkdir "$tmp/examples"
cp "$src"/examples/*.[ch] "$tmp/examples"
cd "$tmp/examples" || exit 1

value() { # KEY of the JSON in $tmp/out
	sed -n "/^ *\"$1\": */{
		s///
		s/,\$//
		s/^\"\(.*\)\"\$/\1/
		p
	}" "$tmp/out"
}

start() { # PROGRAM ARGUMENTS
	"./$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}

for source in *.c; do
	name=${source%.c}
	machine=bgq-board other=qsnet2-16 misses='needs the message unit'
	case $name in
	elan_*)
		machine=qsnet2-16 other=bgq-board
		misses='needs the Elan4 interface'
		;;
	gni_* | dmapp_*)
		machine='gemini --shape 2x2x1'
		misses='needs the Gemini interface'
		;;
	ape_*)
		machine=apenet-quong
		misses='needs the APEnet+ card'
		;;
	sw_*)
		machine=sunway-32
		[ $name = sw_vms ] && machine='sunway-32 --set nic.vms=2'
		misses="needs the SWHNI"
		;;
	ring | allreduce) other= ;;
	shipped_io) machine='bgq-board --set topology.io.every=16' ;;
	esac
	compile shared "$source" -o "$name" || {
		report "$name builds"
		continue
	}
	case $name in
	ape_spin | ape_bfs | ape_spikes)
		lines=150 count=$(sed '/^int main/,$d' "$source" | grep -c .)
		;;
	*) lines=100 count=$(sed '/^int main/,$d' "$source" | wc -l) ;;
	esac
	[ "$count" -le $lines ] || complain "over $lines lines before main"
	digest=
	# slow builds run it once, and try the static library with one
	[ -n "${WEFT_SLOW:-}" ] && counts=2 || counts='1 2'
	for threads in $counts; do
		start "$name" $machine --json --threads $threads
		[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
		[ "$(value ending)" = finished ] ||
			complain "$threads threads: $(value ending)"
		[ "$(value errors)" = 0 ] || complain "$(value errors) errors"
		[ -n "$(value says)" ] || complain "it says nothing"
		[ -n "$digest" ] || digest=$(value digest)
		[ "$(value digest)" = "$digest" ] ||
			complain "$threads threads: digest $(value digest)"
	done
	says=$(value says)
	# one of each interface will do
	case ${WEFT_SLOW:+slow-}$name in
	# SUN-F71: those of Sunway's library, too
	*ring | pingpong | elan_pipeline | gni_put | ape_get | sw_put)
		start "$name" $machine --seed 1
		grep -qxF "$says" "$tmp/out" || complain "does not say: $says"
		grep -q "^digest  *$digest\$" "$tmp/out" ||
			complain "other digest"
		compile static "$source" -o "$name-static" &&
			start "$name-static" $machine
		grep -q "^digest  *$digest\$" "$tmp/out" ||
			complain "static: exit code $code, other digest"
		;;
	esac
	if [ "$machine" = qsnet2-16 ]; then
		start "$name" $machine --shape 1
		[ $code -eq 0 ] || complain "one node: exit code $code"
	fi
	if [ -n "$other" ]; then
		start "$name" $other
		[ $code -eq 2 ] && [ ! -s "$tmp/out" ] &&
			grep -q "$misses" "$tmp/err" ||
			complain "$other: exit code $code: $(cat "$tmp/err")"
	fi
	report "$name: $says"
done

# --- one that needs no message unit ---

for threads in 1 3; do
	start ring qsnet2-16 --json --threads $threads
	[ $code -eq 0 ] && [ "$(value ending)" = finished ] ||
		complain "exit code $code: $(cat "$tmp/err")"
	[ "$(value nodes)" = 16 ] || complain "$(value nodes) nodes"
	case $(value says) in
	"the sum is 120,"*) ;;
	*) complain "it says: $(value says)" ;;
	esac
	[ $threads = 1 ] && digest=$(value digest)
	[ "$(value digest)" = "$digest" ] || complain "$threads threads: digest"
done
start ring gemini --shape 2x2x1 --json
[ $code -eq 0 ] && [ "$(value nodes)" = 8 ] ||
	complain "exit code $code: $(cat "$tmp/err")"
case $(value says) in
"the sum is 28,"*) ;;
*) complain "it says: $(value says)" ;;
esac
report "ring runs on QsNetII and on Gemini, too"

# --- one whose node 5 breaks the rules of collectives ---

# m: it never comes; d: it brings more; o: of two sums over its row the second
# comes first
sed -e 's|"setup.h"|&\
#define BREAKS(c) (weft_node() == 5 \&\& *getenv("BREAKS") == (c))|' \
	-e "s|sizeof(double));\$|sizeof(double) << BREAKS('d'));|" \
	-e 's|^	join(ROW, |	join(3, 0, ROW_DIMS);\
&|' \
	-e "s|^	mine->row = |	if (BREAKS('m')) return;\\
	if (*getenv(\"BREAKS\") == 'o') {\\
		MUHWI_Descriptor_t row = make_sum(ROW, 0, SOURCE_AT, 8);\\
		MUHWI_Descriptor_t next = make_sum(3, 0, SOURCE_AT, 8);\\
		set_counter(16);\\
		inject(f, BREAKS('o') ? \&next : \&row);\\
		inject(f, BREAKS('o') ? \&row : \&next);\\
		spi_poll(COUNTER_AT, 0);\\
	}\\
&|" planes.c >rogue.c
compile shared -include stdlib.h rogue.c -o rogue
while read -r breaks says; do
	export BREAKS="$breaks"
	start rogue bgq-board
	[ $code -eq 3 ] && grep -q "$says" "$tmp/out" ||
		complain "$breaks: exit code $code: $(cat "$tmp/out")"
done <<-'EOF'
	member ^  node 5 (1,0,1,0,0), route 1: waits for local since
	order ^  node [0-9]* .*, route 1: waits for .*(route 3 is first there)
	differ , route 1: stopped, contributions differ: .*16 B
EOF
BREAKS=no
start rogue bgq-board
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/out" "$tmp/err")"
report "a member that never comes, or in another order, or differs: exit code 3"

# APE-F37: applications find what one node finds, on any number of them.
[ -n "${WEFT_SLOW-}" ] && shapes=--shape=5x1x1 ||
	shapes='--shape=5x1x1 --shape=3x2x2'
for name in ape_spin ape_bfs ape_spikes ape_stream; do
	for where in $shapes; do
		for way in p2p staged; do
			start $name apenet $where --threads=3 -- $way
			[ $code -eq 0 ] || complain \
				"$name $where $way: $code $(cat "$tmp/err")"
		done
	done
	start $name apenet-pair -- p2q
	[ $code -eq 2 ] || complain "$name p2q: exit code $code"
	start $name apenet-loop
	[ $name = ape_stream ] || [ $code -eq 0 ] ||
		complain "$name alone: exit code $code"
done
# 20 us are four launches
start ape_spin apenet-pair --json
[ "$(value says)" = "4 sweeps, 192.8 us each, 172.8 in kernels" ] ||
	complain "halos are not hidden: $(value says)"
report "spin glass, search and spikes equal those of one node"

# APE-F33: the Master says that a host is dead, and its work goes on.
for when in 2 5 9; do
	start ape_checkpoint apenet-quong --json --set lofamo.period=1ms \
		--set lofamo.service=50us \
		--set "faults.events=$when ms host 4 dies"
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	[ "$(value says)" = \
		"15 of 15 tasks are done, one by the spare node" ] ||
		complain "it says: $(value says)"
done
report "a spare node goes on with a dead host's work"

# The library's sum of a long vector is no slower than one by hand.
for machine in bgq-board qsnet2-16 'gemini --shape 2x2x2' \
	'torus --shape 4x4'; do
	start allreduce $machine -- 524288
	ratio=$(sed -n 's/.* ratio //p' "$tmp/out")
	[ $code -eq 0 ] && awk "BEGIN { exit !($ratio < 1.1) }" ||
		complain "$machine: $(cat "$tmp/out" "$tmp/err")"
done
report "an all-reduce of 512 KiB takes no longer than a ring of sends"

# --- one in C++, with arguments ---

cp "$src/examples/heat.cc" .
what="a program in C++ works in place, and has arguments of its own"
if command -v g++ >/dev/null && [ -z "${CFLAGS-}" ]; then
	g++ -Wall -Wextra -Wpedantic -Werror $cflags heat.cc \
		-o heat $libs_shared >"$tmp/log" 2>&1 ||
		complain "$(head -n 5 "$tmp/log")"
	for machine in bgq-board qsnet2-16 'gemini --shape 2x2x1' sunway-32; do
		start heat $machine
		[ $code -eq 0 ] && grep -q '^1000.000000 of 1000 is left' \
			"$tmp/out" || complain "$machine: $(cat "$tmp/err")"
	done
	start heat bgq-board --json -- 10 3
	[ "$(value sim_time_ns | cut -d. -f1)" -lt 100000 ] &&
		tr -d ' \n' <"$tmp/out" | grep -q '"arguments":\["10","3"\]' ||
		complain "$(cat "$tmp/out")"
	start heat bgq-board -- 0
	[ $code -eq 2 ] && grep -q '^heat: "0" is not 1 to 1000000 (want' \
		"$tmp/err" || complain "exit code $code: $(cat "$tmp/err")"
	report "$what"
else
	skip "$what" "no g++, or none with this sanitizer"
fi
start ring bgq-board --shape 2x2 -- 7
[ $code -eq 2 ] && grep -q 'takes no arguments after --' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
report "a program without arguments refuses them"

# --- what a run is asked for ---

start ring bgq-board --shape 4x4 --links links.csv -o run.db --histogram \
	--sample 200ns
[ $code -eq 0 ] && grep -q '^hottest  *node ' "$tmp/out" &&
	grep -q '^links  *[A-E]+ ' "$tmp/out" ||
	complain "exit code $code: $(cat "$tmp/out" "$tmp/err")"
# 16 nodes with four links each, in two channels or more
[ "$(wc -l <links.csv)" -gt 128 ] || complain "$(wc -l <links.csv) lines"
"$weft" sql run.db "select value from meta where key='command'" >"$tmp/log"
grep -q '^\./ring bgq-board --shape 4x4 --seed 1$' "$tmp/log" ||
	complain "$(cat "$tmp/log")"
"$weft" sql run.db 'select sum(packets) > 0 from link' | grep -q '^ *1' ||
	complain "no packets in the run file"
"$weft" report run.db -o run.html >"$tmp/log" 2>&1 ||
	complain "report: $(cat "$tmp/log")"
can_look && look "$PWD/run.html"
"$weft" rerun run.db >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'repeat it with `./ring bgq-board' "$tmp/err" ||
	complain "rerun: $(cat "$tmp/err")"
report "a program's run has figures of its links, and a run file"

start ring bgq-board --until 25us --json
[ $code -eq 0 ] && [ "$(value ending)" = timeout ] &&
	[ "$(value sim_time_ns | cut -d. -f1)" -le 25042 ] &&
	[ "$(value packets)" -gt 0 ] ||
	complain "exit code $code: $(cat "$tmp/out" "$tmp/err")"
digest=$(value digest)
start ring bgq-board --until 25us --json --threads 3
[ "$(value digest)" = "$digest" ] || complain "3 threads: digest"
start ring bgq-board --until 1s
grep -q ': finished$' "$tmp/out" || complain "$(cat "$tmp/out")"
start ring bgq-board --until soon
[ $code -eq 2 ] || complain "exit code $code: $(cat "$tmp/err")"
report "--until ends a program's run, and it reports how far it came"

# --- mistakes ---

start pingpong
[ $code -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] ||
	complain "exit code $code: $(cat "$tmp/err")"
start pingpong bgq-bord
[ $code -eq 2 ] && grep -q 'bgq-board' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
start pingpong bgq-board --shape 4x4 twice
[ $code -eq 2 ] || complain "exit code $code: $(cat "$tmp/err")"
start pingpong bgq-board --frobnicate
[ $code -eq 2 ] || complain "exit code $code: $(cat "$tmp/err")"
start pingpong --help
[ $code -eq 0 ] && grep -q -- --shape "$tmp/out" || complain "no help"
report "bad command lines have exit code 2"

sed 's/got != want/got == want/' pingpong.c >wrong.c
compile shared wrong.c -o wrong &&
	start wrong bgq-board
[ $code -eq 1 ] || complain "exit code $code: $(cat "$tmp/err")"
report "a check that fails has exit code 1"

# Who sends to a FIFO that is not there waits for ever, and learns why.
sed 's/Torus_FIFO_Map = MU_MAP_TORUS/Torus_FIFO_Map = 0/' setup.h >none.h
sed 's/setup\.h/none.h/' pingpong.c >stuck.c
compile shared stuck.c -o stuck &&
	start stuck bgq-board
[ $code -eq 3 ] && grep -q 'invalid descriptor' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
report "programs that wait for ever have exit code 3, and are told why"

# Whoever waits for a message that nobody sends is named, also in JSON.
sed '/weft_msg_receive(/s/TAG_TOKEN/TAG_TOKEN + 7/' ring.c >stuck.c
compile shared stuck.c -o stuck &&
	start stuck bgq-board --shape 4x4 --json
[ $code -eq 3 ] || complain "exit code $code: $(cat "$tmp/err")"
[ "$(value ending)" = stalled ] || complain "ending: $(value ending)"
grep -q '"call": "weft_msg_receive from [0-9]*, tag [0-9]*"' "$tmp/out" ||
	complain "said: $(cat "$tmp/out")"
grep -q '"since_ns": [0-9]' "$tmp/out" || complain "since when is not said"
[ "$(value waiters)" -ge 1 ] || complain "$(value waiters) waiters"
start stuck bgq-board --shape 4x4
grep -q '^waiting  *node 0.*weft_msg_receive from' "$tmp/out" ||
	complain "said: $(cat "$tmp/out")"
report "programs that wait for ever are named with the call that they are in"

# QSN-N86: an older card, half as fast or less in all that it does.
start elan_multiply qsnet2-16 --set nic.platform=itanium2
new=$(sed -n 's/^16 results right after \([0-9]*\).*/\1/p' "$tmp/out")
start elan_multiply qsnet2-16 --set nic.platform=itanium2 \
	--set link.rate=400MB/s --set nic.bus.clock=15ns \
	--set nic.dma.read-latency=1500ns
old=$(sed -n 's/^16 results right after \([0-9]*\).*/\1/p' "$tmp/out")
[ "${old:-0}" -gt $((3 * ${new:-0} / 2)) ] ||
	complain "$old us with the older card, $new without"
report 'products of blocks gain substantially from the newer card'

# A queue that the card stops is told of: here there is no such node.
sed 's/weft_node() + 1/weft_nodes()/' elan_pipeline.c >lost.c
# It ends by exit() in a program: the machine still stands then, on a stack that
# the leak detector does not look at.
options=${ASAN_OPTIONS-}
compile shared lost.c -o lost &&
	export ASAN_OPTIONS="${options:+$options:}detect_leaks=0" &&
	start lost qsnet2-16
export ASAN_OPTIONS="$options"
[ $code -eq 1 ] && grep -q 'stopped: invalid command' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
# Who waits for a word that nobody writes waits for ever.
sed 's/elan_wait_event(q, at, 1)/elan_wait_word(at, 2)/' elan_setup.h >none.h
sed 's/elan_setup\.h/none.h/' elan_scatter.c >stuck.c
compile shared stuck.c -o stuck &&
	start stuck qsnet2-16
[ $code -eq 3 ] || complain "exit code $code: $(cat "$tmp/err")"
# Whoever waits for a message is named with its tag; also where a port has no
# room for more, and packets come again for ever.
sed 's/WORD | me, WORDS/WORD << 8 | me, WORDS/' elan_tports.c >other.c
more='for (int i = 0; i < 50; i++)'
more="$more { elan_tport_tx_start(\&t, 0, 1, FROM, 8, \&none); }"
sed "s/weft_wait_until(START + WORK);/$more &/" other.c >flood.c
for program in other flood; do
	compile shared $program.c -o $program &&
		start $program qsnet2-16 --set nic.match.spill=0B
	[ $code -eq 3 ] || complain "$program: exit code $code"
	grep -q 'node 0.*elan_tport_wait for a message from any, tag 256' \
		"$tmp/out" || complain "$program said: $(cat "$tmp/out")"
done
# Letters for a queue that nobody empties come again, until nothing else
# happens.
cat >full.c <<'EOF'
#include "elan_setup.h"

static void run(void *arg)
{
	const struct elan_iq_options o = { .id = 5, .slots = 4, .bytes = 64 };
	struct elan_letter l = { .queue = 5, .data = "a word.", .bytes = 8 };
	struct elan_cq q;

	(void)arg;
	must("elan_cq_open", elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL));
	if (weft_node() == 1)
		must("elan_iq_open", elan_iq_open(&o));
	weft_wait_until(START);
	for (; weft_node() == 0 && l.number < 10; l.number++)
		must("elan_enqueue", elan_enqueue(&q, 1, &l));
}

int main(int argc, char **argv)
{
	const struct weft_app app = { .name = "full",
		.help = "Nobody takes letters.",
		.interface = "elan",
		.run = run };

	return weft_main(argc, argv, &app);
}
EOF
compile shared full.c -o full &&
	start full qsnet2-16
[ $code -eq 3 ] && grep -q 'left packets that no program' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
sed 's/"elan"/"elna"/' elan_scatter.c >no.c
compile shared no.c -o no &&
	start no qsnet2-16
[ $code -eq 2 ] &&
	grep -q '"elna" (want one of spi, .*, ape, swverbs)' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
report "and so it is with programs for QsNetII"

# --- limits, signals ---

# The thread sanitizer hands signals on in calls of the library.
cat >endless.c <<'END'
#include <weft/program.h>
#include <weft/run.h>
#include <stdlib.h>

static void run(void *mine)
{
	(void)mine;
	for (;;) {
		weft_compute(1000000);
		free(malloc(1));
	}
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "endless", .help = "Never ends.", .run = run,
		.node_bytes = NODE_BYTES,
	};

	return weft_main(argc, argv, &app);
}
END
if compile shared -DNODE_BYTES=8 endless.c -o endless; then
	./endless bgq-board --json >"$tmp/out" 2>"$tmp/err" </dev/null &
	pid=$!
	sleep 1
	kill -TERM $pid
	wait $pid
	code=$?
	[ $code -eq 6 ] && [ "$(value ending)" = stopped ] ||
		complain "exit code $code: $(cat "$tmp/err")"
	start endless bgq-board --set nic.kind=none
	[ $code -eq 2 ] || complain "exit code $code: $(cat "$tmp/err")"
fi
report "a signal ends a program's run, which reports how far it came"
compile shared -DNODE_BYTES='((size_t)1 << 44)' endless.c -o huge &&
	start huge bgq-board
[ $code -eq 4 ] && grep -q 'GiB of memory' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
report "a program that does not fit the memory is refused with exit code 4"

exit $status
