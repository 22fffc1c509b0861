#!/bin/sh
#
# What a user can get wrong: each mistake gives one line on stderr, nothing on
# stdout, and exit code 2 (4 for what cannot fit).
set -u
. "$(dirname "$0")/tap.sh"

bad=$tmp/bad.yaml

# The machine file in $bad has to be refused.
file_refused() { # WHAT TEXT
	run show "$bad"
	judge 2 "$2"
	report "a machine file $1"
}

# --- commands ---

refused 'no command given'
refused 'no command is called ""' ''
refused 'did you mean run?' rnu
refused '`weft help` lists them' frobnicate
refused 'no command is called' help frobnicate
refused 'no command is called' --frobnicate
refused 'want a machine and a workload' run
refused 'want a workload after the machine' run bgq
refused 'want one machine' show
refused 'want one machine' show bgq bgq-board
refused 'want one machine' check
refused 'unexpected argument' machines bgq
refused 'unexpected argument' params bgq random

# --- names ---

for command in 'show' 'check' 'params'; do
	refused 'did you mean bgq-midplane?' $command bgq-midplan
	refused '""' $command ''
	refused 'is called' $command qqqqqqqq
	refused 'none.yaml: No such file' $command ./none.yaml
done
refused 'did you mean bgq?' run bqg random
refused '`weft machines` lists them' run qqqqqqqq random
refused 'no machine is called ""' run '' random
refused 'did you mean random?' run bgq rndom
refused 'no workload is called ""' run bgq ''
refused 'did you mean random?' params radnom
refused 'no node of this machine has a neighbour' \
	run torus neighbours --shape 1 --set topology.nodes=3
refused 'did you mean load?' run bgq random laod=1
refused 'unknown key' run bgq random qqqqqqqq=1
refused 'this machine has no IO nodes' run bgq-board files
refused 'runs only on machines with nic.kind bgq-mu' run torus files
io='--set topology.io.every=16'
# shellcheck disable=SC2086
refused 'the machine has 32 compute nodes' run bgq-board files $io clients=33
# shellcheck disable=SC2086
refused 'a file has at most 16 GiB' \
	run bgq-board files $io bytes=64MiB rounds=1000
refused 'cannot be divided among IO nodes of 5 each' \
	show bgq-board --set topology.io.every=5
refused 'topology.io.links: 5 is out of range' \
	show bgq-board --set topology.io.links=5
refused 'need a compute node each, but it has only 1' \
	show bgq-board --set topology.io.every=1
refused 'files.latency is not a parameter of this machine' \
	show torus --set files.latency=1us
refused 'has no value' run bgq random load
refused 'has no value' run bgq random ''
refused 'unknown key' run bgq random =1
refused 'did you mean link.rate?' run bgq random --set link.rat=1GB/s
refused 'unknown parameter' run bgq random --set qqqqqqqq=1
refused 'unknown parameter' show bgq --set =1
refused 'has no value' show bgq --set ''
refused 'has no value' show bgq --set link.rate

# --- values ---

refused 'unit missing' run bgq random --set link.rate=2
refused 'want a number with' run bgq random --set link.rate=2furlong
refused 'want a number with' run bgq random warmup=5parsec
refused 'unit missing' run bgq random warmup=5
refused 'out of range' run bgq random load=0
refused 'out of range' run bgq random load=5
refused 'negative' run bgq random load=-1
refused 'is not a fraction' run bgq random load=
refused 'is not a fraction' run bgq random load=nan
refused 'at most 512' run bgq random bytes=600
refused 'too large' run bgq random bytes=99999999999999999999
refused 'is not one of' run bgq random routing=adaptive
refused 'is not an order of zones' run bgq random zones=AQ
refused 'zones: has no effect on qsnet2-64, whose routing is updown; its '\
'parameters, for --set, are routing.spread' run qsnet2-64 random zones=ABC
refused 'zones: has no effect' run dragonfly alltoall zones=none
refused 'routing: has no effect' run fattree random routing=deterministic
refused 'routing: has no effect' run qsnet2-16 pingpong routing=dynamic
refused 'class: has no effect' run dragonfly random class=high
refused 'no symbols that check them' run torus code symbols=1
refused 'give one of symbols' run bgq-board code
refused 'give one of symbols' run bgq-board code symbols=2 header=3
refused 'a full packet has 441 symbols' run bgq-board code symbols=500
refused 'links correct nothing' run bgq-board code burst=8
fec='--set link.code=64b66b --set link.fec=rs528'
refused 'bursts: not for links with' run fattree code bursts=2 $fec
refused 'give one of symbols and burst' run fattree code burst=2 symbols=2 $fec
refused 'aligned: only with burst' run fattree code symbols=2 aligned=yes $fec
refused 'a codeword has 528 symbols' run fattree code symbols=600 $fec
refused 'cannot name one (want auto)' run gemini stream port=1
refused 'port: has no effect with via=net' run gemini pingpong port=0 to=2
refused 'port: has no effect with via=msg' run gemini storm port=0 via=msg
refused 'take is not known of the' run fattree collective by=mpi
refused 'nodes: all take part' run fattree collective nodes=3
refused 'tree: only where interfaces combine' run fattree collective tree=4
refused 'type: float only where' run bgq-board collective by=hardware \
	op=allreduce type=float
refused 'root: this hardware broadcasts' run bgq-board collective by=hardware \
	op=broadcast root=rotate
refused 'group: rank 2 is in it twice' run fattree collective op=allreduce \
	algo=ring group=[0..5,2]
refused 'apart: only for op=broadcast of one' run fattree collective \
	op=broadcast apart=yes root=rotate
refused 'leaves out' run bgq random zones=A,BC
refused 'have no rate' run bgq random load=0.5 bytes=0
refused 'node 99999' run bgq hotspot hot=99999
refused 'nodes' run bgq transpose --shape 3x3x3
refused 'routing.order' show bgq --set routing.order=AAB
refused 'is not one of' show bgq --set topology.wrap=mobius
refused 'do not fit into a chunk' show bgq --set link.header=64
refused 'needs a link.payload' run qsnet2-16 storm --set link.payload=0B
refused 'words of exactly 8 bytes' run gemini storm --shape 1x2x1 \
	--set link.word=16B --set faults.bit-errors=1e-4
refused 'no control words within its packets (want 0)' run gemini storm \
	--shape 1x2x1 --set link.control.words=8 --set faults.bit-errors=1e-4
# Whoever sets it is named, not a file that sets what it does not fit to.
refused '--set: nic.cards: 2 cards, but' show graph --set nic.cards=2
refused 'weft: --set: topology.rails is not' show torus --set topology.rails=2
refused 'weft: --shape: topology.random' show graph --shape 3
refused 'set only one of the two' show qsnet2 --set link.lane-rate=5Gb/s
refused 'link.retry.window' show bgq --set link.retry=replay \
	--set link.retry.window=16
refused 'link.payload' show bgq --set link.payload=8000B \
	--set link.chunk=1B --set link.header=1B
refused 'multiple of 64 B' run bgq-board stream --set link.payload=0
refused 'multiple of 64 B' run bgq-board stream --set link.payload=100
refused 'lines of at least 128 B' run bgq-board stream --set host.l2.line=64
refused 'too slow' run bgq-board storm kinds=all count=100 \
	--set nic.slave=1ms
refused 'nic.retry.timeout' run qsnet2-16 pingpong via=nic \
	--set topology.cable.length=10000
refused 'out of range' run qsnet2-16 pingpong via=nic --set nic.input=1ms
refused 'bubble' run bgq random --set router.packets=1
refused 'is not a number' run bgq random --seed x
refused 'is not a number' run bgq random --seed -1
refused 'is not a number' run bgq random --seed 99999999999999999999
refused 'is not a number' run bgq random --seed ''
refused 'is not a number' run bgq random --threads 0
refused 'is not a number' run bgq random --threads 1000000

# --- shapes ---

for shape in 0x4 4x x 99999x99999 -1 4x-1 2:1 '' ' ' 4x4.5 4xx4 x4 4x4x \
	'[4' 1e3 4X4 '4;4' 18446744073709551617; do
	refused 'topology.shape' run bgq random --shape "$shape"
	refused 'topology.shape' show bgq "--shape=$shape"
done
refused '7 dimensions' run bgq random --shape 4x4x4x4x4x4x4
refused '9 values' run bgq random --shape 2x2x2x2x2x2x2x2x2
refused 'more than 4194304' run bgq random --shape 256x256x256
refused 'at most 255 hops' run bgq random --shape 1024x2
refused 'at least two' run bgq random --shape 1
refused 'too long' show bgq --shape "$(printf '%0200d' 4)"

run run bgq random --shape 128x128x128x2 --set router.packets=120 \
	--set router.injection=120
judge 4 'GiB of memory'
report "a machine that does not fit the memory"

# --- what would be right ---

cd "$tmp" || exit 1
printf 'schema: 2\nmachine: x\n' >s2.yaml
printf 'schema: 1\nmachine: x\nlink:\n\trate: 1 GB/s\n' >tab.yaml
printf 'schema: 1\nmachine: x\nlink:\n rate: 1\n  gap: 3\n' >indent.yaml
printf 'schema: 1\nmachine: x\nbase: torrus\n' >base.yaml
echo text >there.yaml
refused 'did you mean link.rate or side.rate or domain.rate?' \
	run torus random --set rate=5GB/s
refused '(want topology.groups: 32, or 289 to 320 nodes)' run dragonfly random \
	--set topology.groups=10
refused 'nodes (want 128, or topology.groups: 4)' run dragonfly random \
	--shape 100
refused '(this machine has: link, node, card, host)' run torus random \
	--set 'faults.events=1us foo 3 dies'
refused 'lane, link, node, host, card, gpu)' run apenet --set lofamo.on=no \
	random --set 'faults.events=1us foo 3 dies'
refused 'want a workload after the machine, as in `weft run torus random`' \
	run torus
refused 'before the workload, as in `weft run torus random`' run random
refused 'want a machine and a workload' run
refused '"random" is a workload, not a machine' run random torus
refused 'load=5 GB/s: two words; want load=5GB/s' run torus random load=5 GB/s
refused 'write per cent with the sign, as in 50%' run torus random load=50
refused 'message=1MB sends messages' run torus random bytes=1MB
refused 'nope.yaml: No such file or directory' run nope.yaml random
refused '/tmp: cannot read: Is a directory' run /tmp random
refused 'tab.yaml:4:1: a tab, which YAML does not accept' show tab.yaml
printf 'schema: 1\nmachine: x\nbase: torus\nlink:\n  rate: 1 GB/s\n  rat: 1\n' \
	>known.yaml
refused 'weft: known.yaml:6:3: unknown key "link.rat"' show known.yaml
refused 'indent.yaml:5:6: a colon where no value can follow' show indent.yaml
refused 'schema: "2" is not known to weft' show s2.yaml
refused 'did you mean torus?' show base.yaml
refused 'unit missing (want a number with ns, us' run torus random --until 5
refused 'unknown unit (want a number with ns, us' run torus random --until 5sec
refused 'there.yaml: exists' new torus there.yaml
refused 'they can on gemini' run torus probe
refused 'nic.kind bgq-mu, such as bgq-board' run torus files
refused 'nic.kind elan4, such as qsnet2-16' run torus events
refused 'bgq-io has some' run bgq files
refused 'seed is an option, not a key of random; want --seed 5' \
	run torus random seed=5
refused 'want --threads 4' run torus random threads=4
refused 'want --shape 4x4' run torus random shape=4x4
refused 'a shape is --shape 4x4' run torus random 4x4
refused 'want load=0.5' run torus random load:0.5
refused 'bytes: 4000 is more than a packet carries (want at most 2048, or' \
	run torus random bytes=4KB
refused 'at most 2048, or via=msg' run torus pingpong bytes=64KB
refused 'did you mean link.rate?' run torus random --set bandwidth=5GB/s
refused 'did you mean router.packets?' run torus random \
	--set router.buffers=16
refused 'topology.radix, topology.up' run fattree random \
	--set topology.levels=3
refused 'gemini has 3 dimensions, but --shape has 1' run gemini random \
	--shape 64
refused 'did you mean random?' run torus RANDOM
refused 'did you mean random?' run torus uniform
refused 'did you mean collective op=allreduce?' run torus allreduce
refused 'did you mean bytes?' run torus pingpong size=64
refused 'did you mean file?' run torus replay schedule=x
refused '`weft sweep` runs several values' run torus random load=1,2
refused '`weft sweep` runs several values' run torus random load=0.1..0.5
refused 'a digit is missing before the point' run torus random load=.5
refused '`weft sweep --csv` writes' run torus random --csv x.csv
refused 'then use `weft plot`' run torus random --plot
refused 'want `weft help run`' run help
refused '"torus"; it is a machine (want `weft run' torus random
refused '"random"; it is a workload (want `weft run' random torus
refused 'did you mean machines?' list
refused 'seed: "a" is not a whole number' sweep torus random seed=a
refused 'want load=value' run torus random load
refused 'want link.rate=value' run torus random --set link.rate
refused 'or several with x between them' run torus random --shape '4*4'
refused 'a fattree has no dimensions; want its number of nodes' \
	run fattree random --shape 4x4x4
refused 'a dragonfly has no dimensions' run dragonfly random --shape 4x4
refused 'number of nodes is set by --shape N' run torus random --nodes 64
refused 'want a key without dashes: load=VALUE' run torus random --load 1
refused 'want the key seed, as in seed=1..3' sweep torus random --seed 3
refused 'want --jobs' sweep torus random --threads 2
refused '"0.1-0.5" is not a range' sweep torus random load=0.1-0.5
refused '"0.1:0.5" is not a range' sweep torus random load=0.1:0.5
refused '"[0.1,0.5]" is not a range' sweep torus random 'load=[0.1,0.5]'
refused 'commas without spaces' sweep torus random load=0.1 0.5
refused 'the jobs file names the workloads; want `weft run torus --jobs x`' \
	run torus random --jobs x
refused '`weft sweep` runs on each of them' run torus,fattree random
refused 'did you mean --version?' --verson
refused 'link.rate is a parameter' params link.rate
run show torus --set link.rate=100Gbps --json
grep -q '"raw_Gbps": 100,' "$tmp/out" || complain '100Gbps' "$(cat "$tmp/err")"
for rate in 100Gbit/s '100 Gb/s' 0.1Tb/s 12.5GBps; do
	cp "$tmp/out" "$tmp/other"
	run show torus --set "link.rate=$rate" --json
	cmp -s "$tmp/out" "$tmp/other" || complain "$rate" "$(cat "$tmp/err")"
done
report 'rates are read as people write them'
cd - >/dev/null || exit 1

# --- options ---

refused 'unknown option "--frob"' run bgq random --frob
refused 'unknown option "-y"' run bgq random -y
refused 'did you mean --threads?' run bgq random --thraeds 2
refused 'did you mean --shape?' run bgq random --shpae 4x4
refused 'did you mean --json?' machines --jsno
refused 'unknown option "--shape"' machines --shape 4x4
refused 'unknown option "--seed"' show bgq --seed 4
refused 'unknown option' run bgq random --s 3
refused '--shape needs a value' run bgq random --shape
refused '--set needs a value' run bgq random --set
refused '-t needs a value' run bgq random -t
refused '--json takes no value' run bgq random --json=yes
refused '--seed is given twice' run bgq random --seed 1 --seed 1
refused '--shape is given twice' run bgq random --shape 4x4 --shape 4x4
refused '--threads is given twice' run bgq random -t 1 --threads 2
refused '--json is given twice' show bgq --json --json
refused 'topology.shape is given twice' run bgq random --shape 4x4 \
	--set topology.shape=4x4
refused 'topology.shape is given twice' show bgq --shape 4x4 \
	--set ' topology.shape=4x4'
refused 'link.rate is given twice' show bgq --set link.rate=2GB/s \
	--set link.rate=2GB/s
refused 'load is given twice' run bgq random load=1 load=max
refused 'need a machine' params random --shape 4x4
refused 'need a machine' params --set link.rate=1GB/s

sets=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	sets="$sets -s a=1 -s b=1 -s c=1 -s d=1 -s e=1"
done
run show bgq $sets
judge 2 'more than 64 --set'
report "65 times --set"

words=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	words="$words a b c d e"
done
run run $words
judge 2 'more than 64 arguments'
report "65 words"

line='a
b'
refused 'a?b' show "$line"
refused 'is called' run bgq "$line"
refused 'has no value' run bgq random "$line"
refused 'no command is called' "$line"
refused 'is called' show "$(printf '%05000d' 4)"
refused 'has no value' run bgq random "$(printf '%05000d' 4)"
refused 'unknown option' show bgq "--$(printf '%05000d' 4)"

# --- machine files ---

head='schema: 1
machine: bad
'
printf '' >"$bad"
file_refused 'that is empty' 'bad.yaml:1:1: the file is empty'
printf '\n\n# nothing\n' >"$bad"
file_refused 'of a comment' 'the file is empty'
printf 'machine: bad\n' >"$bad"
file_refused 'without a schema' 'schema is missing'
printf 'schema: 2\nmachine: bad\n' >"$bad"
file_refused 'of another schema' 'bad.yaml:1:9: '
printf 'schema: 1\n' >"$bad"
file_refused 'without a name' 'machine is missing'
printf 'hello\n' >"$bad"
file_refused 'that is a word' 'map of sections'
printf -- '- 1\n- 2\n' >"$bad"
file_refused 'that is a list' 'map of sections'
printf '%slink:\n  rate: 2\n' "$head" >"$bad"
file_refused 'without a unit' 'bad.yaml:4:9: link.rate: "2"'
printf '%sbase: fattree\nrouting:\n  kind: updown\n%s\n' "$head" \
	'topology: { nodes: 70000, ports: 64 }' >"$bad"
file_refused 'too large for its routing' \
	"weft: $bad:6:20: topology.nodes: 70000, but packets of routing updown"
printf '%slink:\n  raet: 2 GB/s\n' "$head" >"$bad"
file_refused 'with an unknown key' 'bad.yaml:4:3: unknown key'
printf '%slnik:\n  rate: 2 GB/s\n' "$head" >"$bad"
file_refused 'with an unknown section' 'did you mean link?'
printf '%slink:\n  rate: 2 GB/s\n  rate: 2 GB/s\n' "$head" >"$bad"
file_refused 'with a key twice' 'bad.yaml:5:3: this key is already set'
printf '%slink:\n  rate: { value: 2 GB/s, sauce: x }\n' "$head" >"$bad"
file_refused 'with more than value and source' 'bad.yaml:4:'
printf '%slink: 3\n' "$head" >"$bad"
file_refused 'with a value for a section' 'bad.yaml:3:'
printf '%slink:\n' "$head" >"$bad"
file_refused 'with an empty section' 'bad.yaml:3:'
printf '%stopology:\n  shape: [4, 0]\n' "$head" >"$bad"
file_refused 'with an impossible shape' 'bad.yaml:4:'
printf '%stopology:\n  shape: [4, [4]]\n' "$head" >"$bad"
file_refused 'with a list in a list' 'bad.yaml:4:'
printf '%slink:\n  rate: {value: 2 GB/s, sou' "$head" >"$bad"
file_refused 'cut off in a map' 'bad.yaml:'
printf '%slink:\n  rate: "2 GB' "$head" >"$bad"
file_refused 'cut off in a text' 'bad.yaml:'
printf '%slink:\n\trate: 2 GB/s\n' "$head" >"$bad"
file_refused 'with a tab' 'bad.yaml:4:1: '
printf '%sbase: &a [*a]\n' "$head" >"$bad"
file_refused 'that refers to itself' 'bad.yaml:3:7: anchors'
printf '%sbase: *a\n' "$head" >"$bad"
file_refused 'with an alias' 'bad.yaml:3:7: '
printf '%sbase: bad\n' "$head" >"$bad"
file_refused 'based on itself' 'base: no bad.yaml in the directory'
printf '%sbase: nowhere\n' "$head" >"$bad"
file_refused 'based on nothing' 'no nowhere.yaml in the directory'
printf '%sbase: ../bad\n' "$head" >"$bad"
file_refused 'based on a path' 'must be a name'
printf '%stitle: !!python/object:os.system [ls]\n' "$head" >"$bad"
file_refused 'with a foreign tag' 'tags'
printf '%s---\nschema: 1\n' "$head" >"$bad"
file_refused 'of two documents' 'more than one YAML document'
printf '\000\001\002\377\376' >"$bad"
file_refused 'that is binary' 'bad.yaml:1:'
printf '%stitle: "a\\0b"\n' "$head" >"$bad"
file_refused 'with a NUL' 'control characters'
printf '%stitle: \377\n' "$head" >"$bad"
file_refused 'that is no UTF-8' 'bad.yaml:3:'
head -c 100000 /dev/zero | tr '\0' '[' >"$bad"
file_refused 'of 100000 brackets' 'nested more than 8 levels'
head -c 100000 /dev/zero | tr '\0' '{' >"$bad"
file_refused 'of 100000 braces' 'bad.yaml:1:'
head -c 2000000 /dev/zero | tr '\0' '#' >"$bad"
file_refused 'of 2 MB' 'larger than 1 MiB'
"$weft" params >"$tmp/params"
cp "$weft" "$bad"
file_refused 'that is a binary program' 'bad.yaml:'

mkdir "$tmp/folder.yaml"
refused 'Is a directory' show "$tmp/folder.yaml"
refused 'Is a directory' run "$tmp/folder.yaml" random
refused 'cannot read' show "$tmp/params/x.yaml"
refused 'the file is empty' show /dev/null
refused 'larger than' show /dev/zero

printf '%s' "$head" >"$tmp/secret.yaml"
chmod 000 "$tmp/secret.yaml"
if [ -r "$tmp/secret.yaml" ]; then # root may read anything but this
	refused 'cannot read' show /proc/self/mem
else
	refused 'Permission denied' show "$tmp/secret.yaml"
fi

# Away from its tree the program finds only what WEFT_MACHINES names, and
# what is installed.
cp "$weft" "$tmp/alone"
WEFT_MACHINES=$tmp/folder.yaml "$tmp/alone" machines >"$tmp/out" \
	2>"$tmp/err" </dev/null
code=$?
if [ $code -eq 0 ]; then
	skip "a folder without machine files" "machines are installed"
else
	judge 2 'no machine files found'
	report "a folder without machine files"
fi

# --- a node ---

refused 'a power of two' run bgq-board stream --set host.l2.slices=12
refused 'a fattree has no dimensions' show qsnet2 --shape 4x4
refused 'a power of two' check bgq-board --set host.l2.ways=3
refused 'host.l2.capacity' show bgq-board --set host.l2.capacity=64KiB
refused 'host.l2.slices' show bgq-board --set host.l2.slices=256 \
	--set host.l2.capacity=128KiB
refused 'host.memory' show bgq-board --set host.memory=1KiB
refused 'host.memory of at least 3.0 GiB' run bgq-board stream \
	--set host.memory=2GiB

# --- outputs ---

if [ -w /dev/full ]; then
	for command in 'machines' 'params' 'params bgq --json' 'show bgq' \
		'check bgq-board' 'help' 'help run' '--version' \
		'run bgq random warmup=1us measure=2us --shape 4x4x2' \
		'run bgq random warmup=1us measure=2us --shape 4x4x2 --json'
	do
		"$weft" $command >/dev/full 2>"$tmp/err" </dev/null
		code=$?
		: >"$tmp/out"
		judge 2 'cannot write the output'
		report "weft $command >/dev/full"
	done
else
	skip "a full disk" "no /dev/full"
fi

"$weft" params bgq >&- 2>"$tmp/err" </dev/null
code=$?
: >"$tmp/out"
judge 2 'cannot write the output'
report "a closed stdout"

refused 'tensor: 3 ranks do not divide hidden=512' goal training tensor=3 \
	hidden=512
run goal training tensor=2 data=2 pipeline=1 layers=3 hidden=64 \
	tokens=1024 sequence=256 parameters=1000001 -o "$tmp/goal"
cat "$tmp/out" "$tmp/err" | grep -q ' 1000002 B of gradients' ||
	complain "$(cat "$tmp/out" "$tmp/err")"
report 'no byte of gradients that are not shared evenly is lost'

if [ -z "${WEFT_SLOW:-}" ]; then
	run run bgq-board pingpong via=nic rounds=1000000 --quiet \
		--set nic.software.poll-period=1ms
	judge 4 'reached 275 s'
	report "more time than clocks have"
fi

exit $status
