#!/bin/sh
#
# Tables of switches that a user writes: they are proved, and they are what
# runs.  The two agree: what is proved never locks.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

tables() { # LINES of the section tables: into $tmp/tables.yaml
	{
		echo 'schema: 1'
		echo 'tables:'
		cat
	} >"$tmp/tables.yaml"
}

check() { # CODE
	ends "$1" check sunway-32 --tables "$tmp/tables.yaml" --json
}

# --- what is proved ---

ends 0 check sunway-32 --tables "$src/examples/sunway-tables.yaml" --json
holds '.proved' '[.steps[].step] == ["a", "b", "c", "d", "e", "f"]' \
	'.steps[4].why | test("^7 entries of multicasts")'
report 'SUN-F92: written tables and multicasts are proved'

tables <<'END'
  entries:
    - switch 0:1.0 from down 5 to node 17 by none
END
check 1
holds '[.steps[] | select(.holds | not).step] == ["a"]' \
	'.steps[0].why == "route 0 from node 5 to node 17 ends at a switch"'
tables <<'END'
  entries:
    - switch 1:1.1 from up to node 20 by down 5
END
check 1
holds '.steps[0].why | test("to node 20 ends at another node")'
report 'the pair that an entry cuts off is named'

tables <<'END'
  entries:
    - switch 0:1.0 from up 0 to node 5 by up 1
    - switch 0:1.0 from up 1 to node 5 by up 0
END
check 1
holds '[.steps[] | select(.holds | not).step] == ["b", "c"]' \
	'.steps[1].cycle == [
	"switch 0:1.0 by up 0 to switch 0:2.0, channel data",
	"switch 0:2.0 by down 0 to switch 0:1.0, channel data",
	"switch 0:1.0 by up 1 to switch 0:2.1, channel data",
	"switch 0:2.1 by down 0 to switch 0:1.0, channel data"]'
ends 0 run sunway-32 storm count=300 --tables "$tmp/tables.yaml" --json
holds '.results.failed_messages == 0'
report 'entries that lead around are found, and no packet follows them for ever'

tables <<'END'
  multicasts:
    - switch 0:1.0 entry 0 from all by all
    - switch 0:1.1 entry 0 from all by all
    - switch 0:2.0 entry 0 from all by all
    - switch 0:2.1 entry 0 from all by all
END
check 1
holds '[.steps[] | select(.holds | not).step] == ["c", "e"]' \
	'.steps[2].cycle | length == 2' \
	'.steps[4].why | test("ends at switch 0:2.2, which has no such entry")'
ends 3 run sunway-32 collective by=hardware op=barrier \
	--tables "$tmp/tables.yaml"
grep -q '^[0-9]* packets wait only for each other' "$tmp/out" ||
	complain "$(cat "$tmp/out")"
report 'multicasts that lead around are found, and lock the network'

ends 1 check sunway --set router.row-buffers=pairs --json \
	--set 'tables.entries=switch 0:1.0 from down to node 99 by up 3'
holds '[.steps[] | select(.holds | not).step] == ["d"]' \
	'.steps[3].cycle | length == 3'
report 'SUN-G7: with written tables, row buffers for pairs have their cycle'

# --- what runs ---

tables <<'END'
  entries:
    - switch 0:1.0 from down to node 17 by up 3, up 4
END
ups() { # OPTIONS: up-links of a switch that a stream from node 0 to 17 uses
	run run sunway-32 stream by=write port=0 from=0 to=17 bytes=64KiB \
		rounds=1 places=1 --links "$tmp/links" "$@" >"$tmp/out"
	awk -F, '$3 ~ /^"switch 0:1.0 up/ && $8 == "data" && $9 > 0 {
		print $3 }' "$tmp/links" | sort
}
[ "$(ups | wc -l)" = 18 ] || complain "without tables: $(ups)"
ups --tables "$tmp/tables.yaml" >"$tmp/ups"
printf '"switch 0:1.0 up 3"\n"switch 0:1.0 up 4"\n' | cmp -s - "$tmp/ups" ||
	complain "$(cat "$tmp/ups")"
report 'packets go where the entries say'

for threads in 1 2 3; do
	run run sunway-32 random --tables "$src/examples/sunway-tables.yaml" \
		--threads $threads
	grep '^digest' "$tmp/out"
done | sort -u >"$tmp/digests"
[ "$(wc -l <"$tmp/digests")" = 1 ] || complain "$(cat "$tmp/digests")"
report 'on any number of threads'

ends 0 run sunway-32 storm count=100 --tables "$tmp/tables.yaml" \
	-o "$tmp/run.db"
ends 0 rerun "$tmp/run.db"
grep -q 'as before' "$tmp/out" || complain "$(cat "$tmp/out")"
echo '    - switch 0:1.0 from down to node 18 by up 0' >>"$tmp/tables.yaml"
run rerun "$tmp/run.db"
grep -q '^changed *tables ' "$tmp/out" || complain "$(cat "$tmp/out")"
report 'a run file knows its tables'

# --- what is wrong ---

wrong() { # WORDS LINE
	refuses "$1" check sunway-32 --set "tables.entries=$2"
}
wrong 'want "from" in place of "form"' \
	'switch 0:1.0 form down to node 17 by up 3'
wrong 'there is no switch "0:9.0"' 'switch 0:9.0 from down to node 1 by up 3'
wrong 'no node has this number (want 0 to 31)' \
	'switch 0:1.0 from down to node 32 by up 3'
wrong 'unknown port "ap 3"; did you mean up 3?' \
	'switch 0:1.0 from down to node 17 by ap 3'
wrong 'nothing is connected to port down 16' \
	'switch 0:1.0 from down 16 to node 1 by up 3'
wrong 'the switch is of this supernode' \
	'switch 0:1.0 from down to supernode 0 by up 3'
wrong 'no node is of this supernode' \
	'switch 0:1.0 from down to supernode 7 by up 3'
wrong 'did you mean node?' 'switch 0:1.0 from down to nod 7 by up 3'
wrong 'want "to", but the line ends' 'switch 0:1.0 from down'
wrong 'the name of a port is missing' \
	'switch 0:1.0 from to node 1 by up 3'
wrong 'the name of a port is missing' \
	'switch 0:1.0 from down 0 to node 1 by up 3,'
refuses '"32" is no entry (want 0 to 31)' check sunway-32 \
	--set 'tables.multicasts=switch 0:1.0 entry 32 joins down'
refuses 'is of another supernode' check sunway-32 --shape 64 \
	--set topology.radix=4 --set topology.up=4 --set topology.fill=4 \
	--set routing.supernode=16 \
	--set 'tables.entries=switch 0:1.0 from down to node 17 by up 3'
tables <<'END'
  entries:
    - switch 0:1.0 from down to node 17 by up 3
    - switch 0:1.0 from down to node 99 by up 3
END
refuses 'tables.yaml:5:7: tables.entries: .*want 0 to 31' \
	run sunway-32 random --tables "$tmp/tables.yaml"
refuses 'is not a parameter of this machine' \
	check bgq --tables "$tmp/tables.yaml"
refuses 'router.kind array' check sunway-32 --set router.kind=crossbar \
	--tables "$tmp/tables.yaml"
refuses 'unknown key "faults"' check sunway-32 \
	--tables "$src/examples/sunway-day.yaml"
refuses 'No such file' check sunway-32 --tables "$tmp/none.yaml"
report 'what is wrong with tables is said in one line'

exit $status
