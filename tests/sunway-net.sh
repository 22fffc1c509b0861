#!/bin/sh
#
# Sunway's network as a user sees it: rails, siblings, tables, the proof, and
# who reaches whom when links die.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

# --- the machines ---

ends 0 machines --json
holds '[.machines[] | select(.name | startswith("sunway")) | [.name, .nodes]] ==
	[["sunway", 512], ["sunway-32", 32], ["sunway-576", 576],
	["sunway-exa", 104976], ["sunway-x8", 512]]'
report "Sunway's five machines"

ends 0 show sunway --json
holds '.nodes == 512' '.processors == 1024' '.switches == 100' '.ports == 40' \
	'[.levels[].switches] == [64, 36]' '.hops.max == 4' \
	'[.wires[] | [.class, .links]] == [["node up", 1024],
		["node down", 1024], ["stage 1 up", 1152],
		["stage 1 down", 1152], ["siblings", 128]]'
holds '[.wires[] | select(.where == "on one board").class] == ["siblings"]'
cables='([.wires[] | select(.where != "on one board").links] | add)'
needs=$(jq -c "[.switches, .ports, $cables]" "$tmp/out")
ends 0 show sunway --set topology.siblings=0 --json
holds "[.switches, .ports, $cables] == $needs"
ends 0 show sunway --json
report "SUN-F1 SUN-F2 SUN-F3 SUN-F7: processors, switches, links by kind"
holds '.routing.diameter == 3' '.chips.switch_Gbps == 9000' \
	'.chips.node_Gbps == 450' '.link.data_GBps * 1000 | round == 13636' \
	'.packets[-1].one_way_GBps * 1000 | round == 13324' \
	'.routing | .entries_per_port == 1280 and .flat_entries == 262144 and
		(.saved_pct * 100 | round == 9951)'
report "SUN-F26 SUN-N16 SUN-N19 SUN-N26 SUN-N31 SUN-N63 SUN-N65, by show"
ends 0 show sunway-exa --json
holds '.processors == 209952' '.routing.diameter == 7' \
	'.routing.supernodes == 324' '.hops.max == 8' \
	'[.wires[] | select(.class == "siblings").links] == [69984]'
report "SUN-F9 SUN-F10 SUN-N89: 209,952 processors in four levels, diameter 7"

# --- the proof ---

for machine in sunway sunway-32 sunway-576; do
	for how in faults always no; do
		ends 0 check $machine --set routing.sideways=$how --json
		holds '.proved' '[.steps[].step] == ["a", "b", "c", "d", "e"]'
	done
done
report "SUN-F5 SUN-F92: none can deadlock, with siblings and multicasts"
ends 1 check sunway --set router.row-buffers=pairs --json
holds '.proved | not' '[.steps[] | select(.holds | not).step] == ["d"]' \
	'.steps[3].cycle == [
	"switch 0:1.0 by side 0 to switch 0:1.1, channel sideways",
	"switch 0:1.1 by up 0 to switch 0:2.0, channel management",
	"switch 0:2.0 by down 0 to switch 0:1.0, channel management"]'
report "SUN-G7: row buffers for pairs of channels can, and the cycle is shown"

# --- who reaches whom ---

# Eight leaves of the machine are enough, but for its own figures.
eight='--set topology.nodes=128'
reach() { # EVENTS SETTINGS
	events=$1
	shift
	# shellcheck disable=SC2086
	ends 0 run sunway reach leaf=0:1.5 --json --threads 1 $eight \
		--set "faults.events=$events" "$@"
}

cut='0 us uplinks 0:1.5 dies'
ends 0 run sunway reach leaf=0:1.5 --json --threads 1
holds '.results | .pairs == 7936 and .reached_pct == 100 and
	.mean_switches == 3 and .most_switches == 3 and
	.most_more_switches == 0'
report "SUN-F9: three switches on every way to another leaf"
# leaf, bytes, time: four wires, three switches, words of 16 B at 13.6 GB/s
for how in '0:1.5 100 451.733' '1:1.30 2048 593.707' '1:1.0 1 444.693'; do
	set -- $how
	ends 0 run sunway-576 reach leaf=$1 bytes=$2 sources=100 --threads 1 \
		warmup=1us measure=1us --json
	holds ".results.latency_ns | .mean == $3 and .max == $3 and
		.packets == 1800"
done
report "a packet alone: wires, switches and one serialisation"
reach '0 us link 0:1.5 up 3 dies'
holds '.results | .reached_pct == 100 and .most_switches == 4 and
	.mean_switches > 3 and .mean_switches < 3.1'
report "SUN-F5: where the only way down is dead, the sibling leads there"
ends 0 run sunway reach leaf=0:1.5 --json --threads 1 \
	--set "faults.events=$cut"
holds '.results | .reached_pct == 100 and .mean_switches == 4 and
	.most_more_switches == 1' \
	'.results | .full_links > 3.96 and .full_links < 4.04 and
		.of_all_links_pct > 22 and .of_all_links_pct < 22.5'
report "SUN-F6 SUN-N17: all 18 up-links dead, one switch more, 4 of 18 links"
reach "$cut"
digest=$(jq -r .digest "$tmp/out")
for threads in 2 3; do
	# shellcheck disable=SC2086
	ends 0 run sunway reach leaf=0:1.5 --json --threads $threads $eight \
		--set "faults.events=$cut"
	[ "$(jq -r .digest "$tmp/out")" = "$digest" ] ||
		complain "$threads threads: another digest"
done
report "the same with two and three threads"
reach "$cut; 0 us uplinks 0:1.4 dies"
holds '.results | .pairs == 1792 and
	(.reached_pct * 1792 / 100 | round == 256)'
report "where both of a pair are cut, only the sibling's nodes lead there"
reach "$cut; 0 us uplinks 0:1.4 dies; 0 us rail 0 dies"
holds '.results.reached_pct == 0'
# shellcheck disable=SC2086
ends 0 run sunway reach leaf=1:1.5 --json --threads 1 $eight \
	--set 'faults.events=0 us rail 0 dies'
holds '.results | .reached_pct == 100 and .most_switches == 3'
report "SUN-F2: rails share nothing"
reach '0 us link 0:1.5 up 3 dies' --set routing.sideways=no
holds '.results | .reached_pct > 90 and .reached_pct < 99 and
	.most_switches == 3'
report "SUN-F8: in a plain tree one dead way down cuts pairs off"

# --- what is wrong ---

refuses 'there is no leaf "0:1.32"' run sunway reach leaf=0:1.32
refuses 'switch 0:2.1 has no nodes' run sunway reach leaf=0:2.1
refuses 'has no switches' run torus reach
refuses 'want at most 2048' run sunway reach bytes=3KiB
report "reach, of what is not there"

bad() { # WORDS SECTION
	printf 'schema: 1\nmachine: bad\nbase: sunway\n%s\n' "$2" \
		>"$tmp/bad.yaml"
	refuses "bad.yaml:4:[0-9]*: .*$1" check "$tmp/bad.yaml"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || complain "not one line"
}
bad 'topology.nodes: 496 nodes are below 31' 'topology: { nodes: 496 }'
bad 'topology.fill: 19 nodes at a switch with 18' 'topology: { fill: 19 }'
bad 'topology.fill: 16 nodes at a switch with 8' 'topology: { radix: "8, 32" }'
bad 'routing.number-bits: 9 bits are too few' 'routing: { number-bits: 9 }'
bad 'routing.supernode: no level' 'routing: { supernode: 100 }'
bad 'topology.siblings: 40 is out of range' 'topology: { siblings: 40 }'
bad 'unknown key "topology.rail".*did you mean topology.rails' \
	'topology: { rail: 2 }'
bad 'router.rows: 4 rows of 8 tiles are too few' 'router: { rows: 4 }'
bad 'router.private: 32 chunks do not hold a full packet of 33' \
	'router: { private: 32 }'
bad 'router.private: 65 chunks .* more than router.input, 256' \
	'router: { private: 65 }'
bad 'link.widths: the first number, 8, is not' 'link: { widths: [8, 4] }'
bad 'link.widths: no width for 1 lanes' 'link: { widths: [4, 3] }'
bad 'did you mean link.widths' 'link: { width: [4, 2] }'
bad 'there is no rail "2"' 'faults: { events: ["5 us rail 2 dies"] }'
bad 'did you mean rail' 'faults: { events: ["5 us rial 0 dies"] }'
bad 'lanes 0 to 3' 'faults: { events: ["5 us lane 0 port 1 4 dies"] }'
bad 'switch 0:2.0 has no uplinks' \
	'faults: { events: ["5 us uplinks 0:2.0 dies"] }'
bad 'did you mean side 0' \
	'faults: { events: ["5 us link 0:1.3 side 4 dies"] }'
refuses 'nic.tlb.entries: 1000 entries are not a power of two' \
	run sunway-32 pingpong via=nic to=1 --set nic.tlb.entries=1000
refuses 'routing.kind: table needs topology.kind: fattree, not torus' \
	check torus --set routing.kind=table
refuses 'topology.siblings is not a parameter of this machine' \
	check fattree --set topology.siblings=2
refuses 'needs topology.parallel: 1 and topology.join: 0' \
	check sunway-32 --set topology.join=2
report "machines that cannot be: one line, with its place"

exit $status
