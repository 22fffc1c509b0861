#!/bin/sh
#
# HyperX: what follows from its shape, proofs of its routings, and how much of
# adversarial traffic each carries.
# NET-F33.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

ends 0 show hyperx-672 --json
holds '.nodes == 672 and .switches == 96 and .bisection.links == 192'
report 'half of the machine of Domke et al. has 192 links for 336 nodes'

small='--shape 4x3 --set topology.per-router=2 --set topology.links=1x2'
for mode in minimal adaptive dal ugal; do
	set="--set routing.mode=$mode"
	ends 0 check hyperx $small $set --json
	holds '.proved and .nodes == 24'
	for threads in 1 2 3; do
		ends 0 run hyperx random $small $set load=max warmup=3us \
			measure=5us --set router.packets=2 --threads $threads \
			--json
		[ $threads -gt 1 ] || one=$(jq .digest "$tmp/out")
		holds ".ending == \"finished\" and .digest == $one and
			.results.fraction_of_peak <= 1"
	done
	ends 0 run hyperx alltoall via=msg bytes=4KiB $small $set --json
	holds '.ending == "finished"'
	ends 0 run hyperx random $small $set routing=deterministic load=0.2 \
		warmup=3us measure=5us --json
	holds '.ending == "finished"'
	report "$mode routing is proved, and carries traffic and messages"
done

# From each switch to the next along a dimension, as a share of a node's link:
# one link carries what seven nodes send; with one detour so do all links along
# the dimension, 11 or 7 of them, at two hops a packet but for the direct one.
adverse() { # MODE DIMENSION [TIME]
	ends 0 run hyperx-672 router-shift along=$2 --set routing.mode=$1 \
		bytes=2048 load=max warmup=6us measure=${3:-6us} --json
	jq '.results.throughput_GBps_per_node / 12.2137 * 10000 | round' \
		"$tmp/out"
}
for dim in 1 2; do
	got=$(adverse minimal $dim 30us)
	[ "$got" -ge 1414 ] && [ "$got" -le 1443 ] ||
		complain "minimal along $dim: $got, want 1/7"
done
for mode in dal ugal; do
	got=$(adverse $mode 1)
	[ "$got" -ge 7286 ] && [ "$got" -le 8571 ] ||
		complain "$mode along 1: $got, want 85 % of 6/7"
	got=$(adverse $mode 2)
	[ "$got" -ge 4857 ] && [ "$got" -le 5714 ] ||
		complain "$mode along 2: $got, want 85 % of 4/7"
done
report 'detours use all links along a dimension'

# Links and a switch die and return; in the end all but the switch is reached
# again, and old and new paths together have no cycle.
plan <<END
  events:
    - 5 us link s0 to s1 dies
    - 6 us link s0 to s4 dies
    - 7 us switch s2 dies
    - 60 us switch s2 returns
    - 70 us link s0 to s1 returns
END
for shape in 4x3 2x2 5; do
	small="--shape $shape --set topology.per-router=2"
	[ $shape = 4x3 ] || echo '  events: ["5 us link s0 to s1 dies"]' | plan
	for mode in minimal adaptive dal ugal; do
		set="--set routing.mode=$mode --set routing.reload=2us
			--faults $tmp/plan.yaml"
		ends 0 check hyperx $small $set --json
		holds '.proved' '.repairs | [.[].missing_pairs | . > 0] ==
			[false, false, true, false, false][:length]'
		ends 0 run hyperx alltoall via=msg bytes=8KiB $small $set --json
		holds '.ending == "finished"'
	done
done
report 'packets go round failed links'

# a route for each turn, not for each switch to go through: 135 million
ends 0 check hyperx --shape 16x16 --json
holds '.proved and .turns == 605696 and .routes < 2e6'
report 'the proof of a large HyperX is short'

refuses 'needs 6 channels for 3 dimensions' check hyperx --shape 3x3x3 \
	--set routing.mode=dal
refuses 'want 1 to 4 dimensions' show hyperx --shape 2x2x2x2x2
refuses 'a switch would have 65 ports' show hyperx --shape 58
refuses 'want one number, or one for each of 2' show hyperx \
	--set topology.links=1x1x1
refuses 'needs topology.kind: hyperx' check dragonfly \
	--set routing.kind=hyperx
refuses 'there is no dimension 3' run hyperx router-shift along=3
refuses 'ends at the same one' run hyperx router-shift by=16
refuses 'needs routers in a box' run fattree router-shift
report 'bad input is refused'

exit $status
