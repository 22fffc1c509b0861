#!/bin/sh
#
# Parts of machines from outside: builds the example plugin against what is
# installed, and runs it; then plugins that are wrong.  Needs $WEFT, in its
# build directory.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/installed.sh"
mkdir "$tmp/plugin"
cp "$src"/examples/plugin/* "$tmp/plugin"
cd "$tmp/plugin" || exit 1

build() { # NAME OPTIONS: NAME.so of NAME.c
	name=$1
	shift
	$cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -O1 \
		${CFLAGS-} $cflags -shared -fPIC "$@" "$name.c" \
		-o "$name.so" >"$tmp/log" 2>&1 ||
		complain "$name: $(head -n 5 "$tmp/log")"
}
build_quickly() { # as build: for those that are refused, or hardly run
	build "$@" -O0
}
small='--shape 3x3 --set topology.per-router=2'
flatfly() { # COMMAND ARGUMENTS
	command=$1
	shift
	run "$command" --plugin ./flatfly.so ./flatfly.yaml $small "$@"
}

build flatfly
flatfly show
[ $code -eq 0 ] &&
	grep -q '^flattened butterfly of 3x3, 18 nodes, 9 sw' "$tmp/out" ||
	complain "show: $(cat "$tmp/out" "$tmp/err")"
flatfly params
grep -q '^routing.bias' "$tmp/out" || complain "params: $(cat "$tmp/err")"
report "a plugin that is built outside brings a topology and a routing"

for mode in minimal valiant ugal; do
	flatfly check --set routing.mode=$mode
	[ $code -eq 0 ] && grep -q 'cannot deadlock' "$tmp/out" ||
		complain "$mode: $(cat "$tmp/out" "$tmp/err")"
done
# All on the channel where Valiant's first half goes: the proof must see it.
sed 's/p->way |= (uint64_t)1 << CHANNEL;/;/' flatfly.c >locks.c
build_quickly locks
run check --plugin ./locks.so ./flatfly.yaml $small --set routing.mode=valiant
[ $code -eq 1 ] || complain "one channel: exit code $code: $(cat "$tmp/out")"
report "its three routings are proved free of deadlock, and a wrong one is not"

# A routing alone, for a network from a spreadsheet.
build spanning
edges='graph --set topology.edges=sites.csv'
own='--plugin ./spanning.so --set routing.kind=spanning'
run check $edges $own
[ $code -eq 0 ] && grep -q 'cannot deadlock' "$tmp/out" ||
	complain "$(cat "$tmp/out" "$tmp/err")"
for how in '' "$own"; do
	run run $edges $how random warmup=2us measure=10us --json
	jq .results.throughput_GBps_per_node "$tmp/out"
done | paste - - | awk '!($1 > 4 * $2 && $2 > 0.5) { print; exit 1 }' ||
	complain 'layers are not far above one tree'
run show torus $own
[ $code -eq 2 ] && grep -q 'spanning needs switches' "$tmp/err" ||
	complain "torus: $(cat "$tmp/err")"
report 'a routing of a plugin runs on a network from a list of edges'

rate() { # MODE WORKLOAD: GB/s per node
	flatfly run "$2" --shape 4x4 --set topology.per-router=4 --quiet \
		--set "routing.mode=$1" warmup=10us measure=20us --json
	[ $code -eq 0 ] || complain "$*: $(cat "$tmp/err")"
	sed -n 's/.*"throughput_GBps_per_node": \([0-9.]*\).*/\1/p' "$tmp/out"
}
small=
for load in random tornado; do
	awk -v load=$load -v minimal="$(rate minimal $load)" \
		-v valiant="$(rate valiant $load)" \
		-v ugal="$(rate ugal $load)" 'BEGIN {
		better = minimal > valiant ? minimal : valiant
		worse = minimal > valiant ? valiant : minimal
		wins = load == "random" ? minimal : valiant
		exit !(wins == better && ugal > 0.95 * better &&
			ugal > 1.6 * worse)
	}' || complain "$load: $(cat "$tmp/out")"
done
small='--shape 3x3 --set topology.per-router=2'
report "UGAL is near minimal on uniform traffic, near Valiant on adversarial"

digest() { # OPTIONS
	flatfly run random warmup=5us measure=5us --json --quiet "$@"
	sed -n 's/.*"digest": "\(.*\)".*/\1/p' "$tmp/out"
}
[ "$(digest --threads 1)" = "$(digest --threads 3 -o run.db)" ] ||
	complain "$(cat "$tmp/err")"
run rerun run.db --plugin "$PWD/flatfly.so"
[ $code -eq 0 ] || complain "rerun: $(cat "$tmp/out" "$tmp/err")"
flatfly sweep random load=0.1,0.3 warmup=5us measure=5us --quiet
[ $code -eq 0 ] && [ "$(grep -c '  0\.[13]  ' "$tmp/out")" = 2 ] ||
	complain "sweep: $(cat "$tmp/out" "$tmp/err")"
report "results do not depend on threads, and runs can be repeated and swept"

by_seed() { # MODE SEED
	flatfly run pingpong from=0 to=17 rounds=5 --quiet --json \
		--set "routing.mode=$1" --seed "$2"
	value digest
}
[ "$(by_seed minimal 1)" = "$(by_seed minimal 2)" ] ||
	complain 'what no seed should change'
[ "$(by_seed valiant 1)" != "$(by_seed valiant 2)" ] ||
	complain 'detours do not depend on the seed'
report 'what a plugin draws depends on the seed of the run'

# 12.5 GB/s less headers
flatfly run stream from=0 to=17 bytes=256KiB rounds=1 --quiet --json
awk -v rate="$(value total_MBps)" 'BEGIN { exit !(rate > 10000) }' ||
	complain "$(cat "$tmp/out" "$tmp/err")"
report 'one flow of the example nearly fills a link'

cat >hello.c <<'END'
#include <weft/msg.h>
#include <weft/plugin/plugin.h>
#include <weft/program.h>

static void hello(void *mine)
{
	struct weft_msg m;

	weft_msg_init(&m, NULL);
	weft_msg_barrier(&m);
	weft_msg_fini(&m);
	*(char *)mine = weft_seed() == 9 ? '9' : *weft_argument(1);
}

static bool check(
	const struct weft_result *r, const void *ranks, char *text, size_t size)
{
	snprintf(text, size, "hello of %u", r->n_nodes);
	return *(const char *)ranks == 'b';
}

static const struct weft_app app = { .name = "hello", .run = hello,
	.node_bytes = 1, .check = check, .usage = "WORD WORD" };
static const struct weft_app *const apps[] = { &app, NULL };

WEFT_PLUGIN(.workloads = apps);
END
build hello
run run torus hello a b --shape 2x2 --plugin ./hello.so --quiet
[ $code -eq 0 ] && grep -qx 'hello of 4' "$tmp/out" ||
	complain "exit code $code: $(cat "$tmp/out" "$tmp/err")"
run sweep torus hello a b bytes=1,2 --shape 2x2 --plugin ./hello.so --quiet
[ $code -eq 0 ] && [ "$(grep -c '^torus ' "$tmp/out")" = 2 ] &&
	grep -q "sim time" "$tmp/out" ||
	complain "sweep: exit code $code: $(cat "$tmp/out" "$tmp/err")"
run sweep torus hello a c bytes=1,2 --shape 2x2 --plugin ./hello.so --quiet
[ $code -ne 0 ] && grep -q '2 points.*wrong result: hello of 4' "$tmp/err" ||
	complain "wrong: exit code $code: $(cat "$tmp/out" "$tmp/err")"
run run torus hello a c --shape 2x2 --plugin hello.so --quiet
[ $code -eq 1 ] || complain "exit code $code: $(cat "$tmp/err")"
run run torus hello a b --shape 2x2 --plugin ./hello.so --quiet --seed 9
[ $code -eq 1 ] || complain "seed: exit code $code: $(cat "$tmp/err")"
report "a plugin's workload is a program, with arguments that can be swept"

printf 'schema: 1\njobs:\n  - { name: a, partition: "%s", workload: greet }\n' \
	'2x2x2x2x2 at 2,2,2,2,0' >jobs.yaml
sed 's/weft_argument(1)/"b"/; s/, .usage = "WORD WORD"//; s/"hello"/"greet"/' \
	hello.c >greet.c
build greet
run run bgq --jobs jobs.yaml --plugin ./greet.so --quiet
[ $code -eq 0 ] && grep -q '^a  *2x2x2x2x2 at 2,2,2,2,0 .* greet ' "$tmp/out" ||
	complain "exit code $code: $(cat "$tmp/out" "$tmp/err")"
report "and a job with a partition may be one"

mkdir -p far/deep
mv hello.so far
cp flatfly.so far/deep
{
	cat flatfly.yaml
	echo 'plugins: flatfly.so'
} >far/deep/named.yaml
cat >far/deep/based.yaml <<'END'
schema: 1
machine: based
base: named
plugins: [ ../hello.so ]
END
run run far/deep/based.yaml hello a b --shape 2x2 --quiet -o named.db
[ $code -eq 0 ] && grep -qx 'hello of 32' "$tmp/out" ||
	complain "exit code $code: $(cat "$tmp/out" "$tmp/err")"
run rerun named.db --plugin far/hello.so --plugin far/deep/flatfly.so
[ $code -eq 0 ] || complain "rerun: $(cat "$tmp/out" "$tmp/err")"
run show far/deep/based.yaml --plugin far/deep/flatfly.so
[ $code -eq 0 ] || complain "by both: $(cat "$tmp/err")"
rm far/hello.so
run show far/deep/based.yaml
[ $code -eq 2 ] && [ "$(wc -l <"$tmp/err")" = 1 ] &&
	grep -q 'based.yaml:4:12: .*hello.so' "$tmp/err" ||
	complain "exit code $code: $(cat "$tmp/err")"
report "a machine file and its base name plugins that they need"

# One that leaves a mark as soon as it is loaded.
{
	echo '#include <stdio.h>'
	cat flatfly.c
	echo '__attribute__((constructor)) static void leave_mark(void)'
	echo '{ FILE *f = fopen("mark", "w"); if (f) fclose(f); }'
} >evil.c
build_quickly evil
mkdir found
{
	cat flatfly.yaml
	echo "plugins: $PWD/evil.so"
} >found/evil.yaml
unmarked() { # WHAT
	[ ! -e mark ] || complain "$1: the plugin ran"
	rm -f mark
}
run run found/evil.yaml random warmup=1us measure=1us -o evil.db --quiet
[ $code -eq 0 ] && [ -e mark ] || complain "no mark: $(cat "$tmp/err")"
rm -f mark
run rerun evil.db
[ $code -eq 2 ] && [ "$(wc -l <"$tmp/err")" = 1 ] &&
	grep -q 'evil.yaml:.* needs the plugin .*/evil.so.*--plugin' \
		"$tmp/err" || complain "machine file: $(cat "$tmp/err")"
unmarked 'rerun, machine file'
run run --plugin ./evil.so ./flatfly.yaml random warmup=1us measure=1us \
	-o given.db --quiet
rm -f mark
for words in '' '--plugin ./flatfly.so'; do
	run rerun given.db $words
	[ $code -eq 2 ] && [ "$(wc -l <"$tmp/err")" = 1 ] &&
		grep -q 'plugin ./evil.so.*rerun given.db --plugin ./evil.so' \
			"$tmp/err" || complain "argument: $(cat "$tmp/err")"
	unmarked 'rerun, argument'
done
for file in evil given; do
	run rerun $file.db --plugin evil.so
	[ $code -eq 0 ] && [ -e mark ] || complain "by hand: $(cat "$tmp/err")"
	rm -f mark
done
echo 'static const char more[] __attribute__((used)) = "more";' >>evil.c
build_quickly evil
run rerun given.db --plugin evil.so
[ $code -eq 0 ] && grep -q '^changed  *plugin evil.so$' "$tmp/out" ||
	complain "changed: $(cat "$tmp/out" "$tmp/err")"
rm -f mark
report "a run file is data: its plugins run only by rerun's own --plugin"

run machines
unmarked machines
(
	WEFT_MACHINES=$PWD/found
	export WEFT_MACHINES
	run machines
	grep -q '^evil .*needs the plugin' "$tmp/out" ||
		complain "machines: $(cat "$tmp/out" "$tmp/err")"
	for words in 'run ' 'run evil --set ' 'sweep evil random --set ' \
		'run evil random ' 'show '; do
		run complete ${words% } ''
		[ $code -eq 0 ] || complain "complete $words: $(cat "$tmp/err")"
	done
	run complete run ./found/evil.yaml --set topology.
	[ $code -eq 0 ] || complain "complete: $(cat "$tmp/err")"
)
unmarked 'machines, complete'
report "what only lists runs no plugin"

wrong() { # FILE TEXT
	run run --plugin "$1" torus random
	[ $code -eq 2 ] && [ "$(wc -l <"$tmp/err")" = 1 ] &&
		[ ! -s "$tmp/out" ] && grep -q "$2" "$tmp/err" ||
		complain "$1: exit code $code: $(cat "$tmp/err")"
}
variant() { # NAME LINE TEXT: of a plugin that ends with this line
	{
		sed '/^WEFT_PLUGIN/,$d' flatfly.c
		echo "$2"
	} >"$1.c"
	build_quickly "$1" -Wno-unused-const-variable -Wno-unused
	wrong "./$1.so" "$3"
}
# Each says something of a switch's port, its wire or its home that is not so.
broken() { # NAME SED TEXT
	sed "$2" flatfly.c >"$1.c"
	cmp -s "$1.c" flatfly.c && complain "$1: nothing is broken"
	build_quickly "$1"
	for words in show check 'run random'; do
		run ${words% *} --plugin "./$1.so" ./flatfly.yaml $small \
			$(echo "$words" | sed -n 's/.* //p')
		[ $code -eq 2 ] && [ "$(wc -l <"$tmp/err")" = 1 ] &&
			[ ! -s "$tmp/out" ] && grep -q "$3" "$tmp/err" ||
			complain "$1, $words: $code: $(cat "$tmp/err")"
	done
}
broken askew 's/port_to(t, to, dim, x) };/port_to(t, to, dim, x) ^ 1 };/' \
	'kind flatfly: peer(18, 2) is router 19, port .* must name each other'
broken beyond 's/port_to(t, to, dim, x) };/port_to(t, to, dim, x) + 64 };/' \
	'peer(18, 2) is router 19, port 66; want'
broken farther 's/topo->n_nodes + to, port/topo->n_nodes + to + 9, port/' \
	'peer(18, 2) is router 28, port .; want NO_ROUTER, or a router below 27'
broken classless 's/: ALONG + dim_of(t, p);/: 40 + dim_of(t, p);/' \
	'wire(18, 2) is class 40; want one below n_wires, 4'
broken homeless 's/(r - topo->n_nodes) \* t->p;/r + 0 * t->p;/' \
	'home(18) is 18; want a node, below 18'
report "a plugin's topology is looked at port by port"

path='kind flatfly: path . from node . to node . uses a'
broken portless 's/(port_mask)1 << step.escape;/(port_mask)1 << 40;/' \
	"$path port that does not exist"
broken wireless 's/step.ports = 1; .*/step.ports = 4;/' \
	"$path port that has no wire"
broken unnamed 's/\(step.channel =\) r->n_channels.*/\1 9;/' \
	"$path channel that does not exist"
broken generous 's/\(r->n_channels = \)h->mode.*/\1200;/' \
	'init() has set n_channels 200; want at most 2'
report "and its routing's steps are looked at"

parts='.topologies = topologies, .routings = routings'
quiet='_Pragma("GCC diagnostic ignored \"-Woverride-init\"")
#ifdef __clang__
_Pragma("GCC diagnostic ignored \"-Winitializer-overrides\"")
#endif'
variant newer "$quiet
WEFT_PLUGIN($parts, .abi = WEFT_PLUGIN_ABI + 1);" \
	'version 3 of the interface.*version 2; compile'
variant other "$quiet
WEFT_PLUGIN($parts, .packet = 72);" 'for another weft.*compile'
variant none 'int nothing;' 'no WEFT_PLUGIN'
lacks() { # NAME TABLE TEXT
	variant "$1" "$2" "lacks the required entry $3 (weft-plugin(7))"
}
lacks hollow 'static const struct topo_ops t2 = { .name = "mine",
	.size = sizeof(struct topo), .init = topo_init };
static const struct topo_ops *const ts[] = { &t2, NULL };
WEFT_PLUGIN(.topologies = ts);' peer
lacks lost 'static const struct route_ops r2 = { .name = "mine",
	.size = sizeof(struct route), .init = route_init, .start = start };
static const struct route_ops *const rs[] = { &r2, NULL };
WEFT_PLUGIN(.routings = rs);' next
lacks idle 'static const struct weft_app a = { .name = "idle" };
static const struct weft_app *const as[] = { &a, NULL };
WEFT_PLUGIN(.workloads = as);' run
variant twice "static const struct topo_ops t2 = { .name = \"torus\" };
static const struct topo_ops *const ts[] = { &t2, NULL };
WEFT_PLUGIN(.topologies = ts);" 'topology torus lacks the required entry size'
variant named "static const struct weft_app a = { .name = \"random\" };
static const struct weft_app *const as[] = { &a, NULL };
WEFT_PLUGIN(.workloads = as);" 'already has a workload called random'
sed 's/\.name = "flatfly",/.name = "dragonfly",/' flatfly.c >taken.c
build_quickly taken
wrong ./taken.so 'topology.kind dragonfly is defined twice'
wrong ./nowhere.so 'nowhere.so'
echo text >text.so
wrong ./text.so 'text.so'
run run --plugin ./flatfly.so --plugin ./flatfly.so torus random
[ $code -eq 2 ] || complain "twice: exit code $code: $(cat "$tmp/err")"
run show ./flatfly.yaml
[ $code -eq 2 ] && grep -q flatfly "$tmp/err" || complain "$(cat "$tmp/err")"
flatfly run random --set router.kind=direct
[ $code -eq 2 ] && grep -q 'want router.kind: crossbar' "$tmp/err" ||
	complain "direct: $(cat "$tmp/err")"
report "wrong plugins are refused in one line, with exit code 2"

exit $status
