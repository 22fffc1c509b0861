#!/bin/sh
#
# Dragonflies whose routers hear of each other's queues, and that take detours
# inside a group.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

small='--shape 72 --set topology.per-router=2 --set topology.routers=4
	--set topology.global=2 --set router.packets=2'

# A turn inside the first group needs a stage of its own: three are too few.
detour='--set routing.local=detour'
for mode in valiant ugal ugal-g par; do
	ends 0 check dragonfly $small $detour --set routing.mode=$mode --json
	holds .proved
	ends 1 check dragonfly $small $detour --set routing.mode=$mode \
		--set routing.channels=3 --json
	holds '(.proved | not) and (.steps[1].cycle | length > 1)'
done
ends 0 check dragonfly $small --set routing.mode=ugal-g \
	--set routing.channels=3 --json
holds .proved
report 'detours inside a group are proved on four stages, and lock on three'

# One group of 8 routers with 4 nodes each, all of which send to the next
# router: 1/4 of a node's link, or all of it by 6 detours of two links each.
awk 'BEGIN {
	for (s = 0; s < 32; s++)
		for (k = 0; k < 4; k++)
			print s "," (int(s / 4) + 1) % 8 * 4 + k ",1"
}' >"$tmp/next.csv"
inside() { # HOW
	ends 0 run dragonfly matrix file="$tmp/next.csv" --shape 32 \
		--set topology.per-router=4 --set topology.routers=8 \
		--set routing.local=$1 bytes=2048 load=max warmup=6us \
		measure=6us --json
	jq '.results.throughput_GBps_per_node / 12.2137 * 10000 | round' \
		"$tmp/out"
}
straight=$(inside minimal) around=$(inside detour)
[ "$straight" -ge 2475 ] && [ "$straight" -le 2525 ] ||
	complain "direct links carry $straight, want 1/4"
[ "$around" -ge 8000 ] || complain "detours carry $around"
report 'detours use all links of a group'

# The same on any number of threads and processes, with little room, with
# faults, and when news are old.
cat >"$tmp/plan.yaml" <<END
schema: 1
faults:
  events: ["2 us link g1.r0 global 0 dies", "2 us link g0.r1 local 0 dies"]
END
same() { # ARGUMENTS
	ends 0 run "$@" --threads 1 --json
	holds '.ending == "finished"'
	one=$(jq .digest "$tmp/out")
	for how in '--threads 3' '--threads 2 --pack' '--processes 3'; do
		ends 0 run "$@" $how --json
		holds ".digest == $one"
	done
}
oracle='--set routing.mode=ugal-g --set routing.bias=1'
same dragonfly group-shift $small $oracle load=max warmup=2us measure=4us
same dragonfly random $small $oracle $detour --set routing.age=1us \
	load=max warmup=2us measure=4us
same dragonfly random $small --set routing.mode=par $detour \
	load=max warmup=2us measure=4us
same dragonfly alltoall via=msg bytes=3000 $small $oracle $detour \
	--faults "$tmp/plan.yaml"
report 'routers hear the same on any number of threads and processes'

# Packets are lost once at most: 50 us + 2 us x 128 nodes until the second try.
cat >"$tmp/plan.yaml" <<END
schema: 1
faults:
  events: ["12 us link g0.r0 local 1 dies"]
END
for mode in minimal ugal par; do
	ends 0 run dragonfly alltoall via=msg bytes=1KiB --shape 128 $detour \
		--set routing.mode=$mode --set routing.reload=2us \
		--faults "$tmp/plan.yaml" --json
	holds '.faults.lost_packets > 0' '.results.time_ns < 400000'
done
report 'no detour leads to a failed link'

# Kim's dragonfly: what leaves a group by one link, and random traffic.  Slow
# builds measure rates for half as long.
[ -n "${WEFT_SLOW:-}" ] && long=10us || long=20us
rate() { # MODE WORKLOAD...
	mode=$1
	shift
	ends 0 run kim-1056 "$@" --set routing.mode=$mode bytes=2048 \
		warmup=$long measure=$long --json
	jq '.results.throughput_GBps_per_node / 12.2137 * 10000 | round' \
		"$tmp/out"
}
valiant=$(rate valiant group-shift) oracle=$(rate ugal-g group-shift)
[ $((100 * oracle)) -ge $((97 * valiant)) ] ||
	complain "ugal-g: $oracle, Valiant: $valiant"
# No stage starves another: nothing waits for several times as long as usual.
for mode in valiant par; do
	ends 0 run kim-1056 group-shift --set routing.mode=$mode bytes=2048 \
		load=max warmup=20us measure=40us --json
	holds '.results.latency_ns | .max < 5 * .mean'
done
minimal=$(rate minimal random)
for mode in ugal ugal-g par; do
	got=$(rate $mode random)
	[ $((10 * got)) -ge $((9 * minimal)) ] ||
		complain "$mode: $got, minimal: $minimal"
done
latency() { # MODE
	ends 0 run kim-1056 random --set routing.mode=$1 load=0.3 \
		warmup=3us measure=4us --json
	jq '.results.latency_ns.mean * 100 | round' "$tmp/out"
}
least=$(latency minimal) got=$(latency ugal-g)
[ $((100 * got)) -le $((105 * least)) ] ||
	complain "latency of ugal-g: $got, minimal: $least"
report 'ugal-g carries as much as Valiant, and random traffic as well'

# Data that a card fetches takes all links between two groups, not one for each
# pair of nodes: four cards of a node have four times the rate of a link.
{
	echo 'num_ranks 128'
	for i in 0 1 2 3; do
		echo "rank $i {"
		echo "l1: send 1048576b to $((64 + i))"
		echo '}'
		echo "rank $((64 + i)) {"
		echo "l1: recv 1048576b from $i"
		echo '}'
	done
} >"$tmp/four.goal"
pair='--shape 32 --set topology.routers=4 --set topology.per-router=4
	--set topology.global=4 --set topology.between=4
	--set topology.attach=rails --set nic.cards=4'
for mode in minimal ugal; do
	ends 0 run dragonfly $pair --set routing.mode=$mode \
		replay file="$tmp/four.goal" procs=4 --json
	holds '.results.time_ns < 2 * 1048576 / 12.2'
done
ends 0 run dragonfly $pair --set nic.routing=deterministic \
	replay file="$tmp/four.goal" procs=4 --json
holds '.results.time_ns < 4 * 1048576 / 12.2'
report 'data that is fetched takes all links between two groups'

ends 0 show kim-1056 --set routing.mode=ugal-g
grep -q 'an oracle: .* 110 to 220 ns ago' "$tmp/out" ||
	complain "$(grep -A 2 '^routing' "$tmp/out")"
ends 0 show kim-1056 --set routing.mode=ugal-g --json
holds '.routing.oracle'
ends 0 show kim-1056 --set routing.mode=ugal --json
holds '.routing | has("oracle") | not'
refuses 'routing.age: a link inside a group already takes 110 ns' \
	show kim-1056 --set routing.mode=ugal-g --set routing.age=100ns
report 'what no router could know is called an oracle'

exit $status
