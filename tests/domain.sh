#!/bin/sh
#
# Processes of a node behind a switch of their own: rates, budgets, faults, and
# what is refused.
# NET-F7, NET-F8, NET-F9.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

node="run torus --shape 1 --quiet --set domain.rate=450GB/s \
	--set host.memory=64GiB"
ring="collective op=allreduce algo=ring procs=8 rounds=1"

# Eight GPUs: NVIDIA's nccl-tests print the rate of a port for a ring.
ends 0 $node $ring bytes=256MiB --set domain.chunk=64KiB --json
shows 'a ring of eight has the rate of a port, and no more' \
	'.results.busbw_GBps | . > 450 * 0.97 and . <= 450' \
	'.domain.busy_pct > 90 and .domain.busy_pct <= 100' \
	'.domain.bytes >= 8 * 2 * 7 / 8 * 256 * 1048576'
# A port carries 9/8 of the data; nccl-tests would print 14/8 of this rate.
for how in by=domain algo=network; do
	ends 0 $node collective op=allreduce $how procs=8 rounds=1 bytes=2MiB \
		--set domain.sums=yes --json
	holds '.results.algbw_GBps * 2 * 7 / 8 | . > 1.05 * 450 and
			. < 2 * 7 / 9 * 450' \
		'.results | .busbw_GBps / .algbw_GBps * 9 / 7 |
			. > 0.999 and . < 1.001'
	value digest >>"$tmp/sums"
done
[ "$(sort -u "$tmp/sums" | wc -l)" -eq 1 ] || complain "$(cat "$tmp/sums")"
report 'a switch that adds is faster than that, also as the network'

# Two processes send 2 MiB each to a third, whose port takes 9.3 us for both;
# and one sends 4 MiB and, at the same time, a few KiB, after which another has
# to send 4 MiB.
cat >"$tmp/in.goal" <<-EOF
	num_ranks 3
	rank 0 {
	a: recv 2097152b from 1
	b: recv 2097152b from 2
	}
	rank 1 {
	a: send 2097152b to 0
	}
	rank 2 {
	a: send 2097152b to 0
	}
EOF
cat >"$tmp/turns.goal" <<-EOF
	num_ranks 4
	rank 0 {
	a: send 4194304b to 1
	b: send 65536b to 2
	}
	rank 1 {
	a: recv 4194304b from 0
	}
	rank 2 {
	a: recv 65536b from 0
	b: send 4194304b to 3
	b requires a
	}
	rank 3 {
	a: recv 4194304b from 2
	}
EOF
ends 0 $node replay file="$tmp/in.goal" --json
shows 'the port of a receiver is shared' \
	'.results.time_ns > 9320 and .results.time_ns < 13000'
ends 0 $node replay file="$tmp/turns.goal" --json
shows 'transfers that share a port take turns' \
	'.results.time_ns > 9320 and .results.time_ns < 15000'

# Chunks of a transfer that is alone are not counted one by one, unless a domain
# may fail: others join one at its sender, or at its receiver.
for to in 1 3; do
	cat >"$tmp/$to.goal" <<-EOF
		num_ranks 4
		rank 0 {
		a: send 4194304b to 1
		b: calc 4000
		c: send 300000b to 3
		c requires b
		}
		rank 1 {
		a: recv 4194304b from 0
		b: recv 1000000b from 2
		}
		rank 2 {
		a: calc $((to * 1000))
		b: send 1000000b to 1
		b requires a
		}
		rank 3 {
		a: recv 300000b from 0
		}
	EOF
	plan <<-EOF
	  events:
	    - 900 ms domain 1 dies
	EOF
	for faults in "" "--faults $tmp/plan.yaml"; do
		ends 0 run torus --shape 2 --quiet --set domain.rate=450GB/s \
			replay file="$tmp/$to.goal" procs=4 --json $faults
		value time_ns >>"$tmp/$to.times"
		value chunks >>"$tmp/$to.times"
	done
	[ "$(sort -u "$tmp/$to.times" | wc -l)" -eq 2 ] ||
		complain "$(cat "$tmp/$to.times")"
done
report 'a transfer that others join half way takes turns with them'

for threads in 1 2 3; do
	ends 0 run torus --shape 5 alltoall via=msg procs=4 bytes=3000 --json \
		--quiet --set domain.rate=100GB/s --threads $threads --budget
	value digest >>"$tmp/digests"
	holds '.budget.causes.domain.ps > 0' '.domain.transfers > 0'
done
[ "$(sort -u "$tmp/digests" | wc -l)" -eq 1 ] ||
	complain "$(cat "$tmp/digests")"
report 'one digest on any number of threads'

rm "$tmp/digests"
for threads in 1 2; do
	ends 0 run torus --shape 2 collective op=allreduce procs=72 bytes=64 \
		--set domain.rate=900GB/s --set host.memory=256GiB --json \
		--quiet --threads $threads rounds=2
	value digest >>"$tmp/digests"
done
[ "$(sort -u "$tmp/digests" | wc -l)" -eq 1 ] ||
	complain "$(cat "$tmp/digests")"
report '72 ranks a node work'

# A put of 8 B over an idle domain takes its latency and eight bytes.
ends 0 $node collective op=allreduce procs=2 rounds=1 --budget --json \
	--set domain.latency=700ns
shows 'time in the domain is a cause of its own' \
	'.budget.causes.domain.ps == .budget.ps' \
	'.budget.mean_ns > 700 and .budget.mean_ns < 701'

plan <<-EOF
  events:
    - 12 us domain 0 dies
    - 40 us domain 0 returns
EOF
ends 0 $node $ring bytes=1MiB --faults "$tmp/plan.yaml" --json
shows 'transfers wait for a domain that returns' \
	'.results.time_ns > 28000 and .results.time_ns < 60000'
plan <<-EOF
  events:
    - 12 us domain 0 dies
EOF
ends 3 $node $ring bytes=1MiB --faults "$tmp/plan.yaml" --json
ends 3 run torus --shape 2 alltoall via=msg procs=3 bytes=20000 \
	--set domain.rate=100GB/s --faults "$tmp/plan.yaml"
grep -q 'weft: domain 0 died at 12.000 us' "$tmp/err" ||
	complain "$(cat "$tmp/err")"
ends 3 $node collective op=broadcast procs=4 rounds=9 bytes=20000 \
	--faults "$tmp/plan.yaml" --json
ends 3 $node collective op=allreduce by=domain procs=4 rounds=9 bytes=20000 \
	--set domain.sums=yes --faults "$tmp/plan.yaml" --json
grep -q 'Input/output error' "$tmp/err" || complain "$(cat "$tmp/err")"
report 'what a dead domain does not carry ends the run'

refused 'domain.chunk: 0 B is out of range' run torus random \
	--set domain.chunk=0B
refused 'domain.chunk: 100 B, want a multiple of 8' run torus random \
	--set domain.chunk=100B
refused 'since domain.rate is 0 B/s' run torus random --set domain.sums=yes
refused 'domain.rate: want 1 MB/s or more' run torus random \
	--set domain.rate=1KB/s
refused 'domain.rate is not a parameter of this machine' run gemini random \
	--set domain.rate=1GB/s
refused 'serves at most 64 processes' run apenet collective procs=72
refused 'nodes have no domain' run torus random --faults "$tmp/plan.yaml"
refused 'want domain.sums' $node collective op=allreduce by=domain procs=8
refused 'or one node with domain.sums' $node collective op=allreduce \
	algo=network procs=8
refused 'at most 16 MiB with algo=network' $node collective op=allreduce \
	algo=network procs=8 bytes=1GiB --set domain.sums=yes
refused 'only adds' $node collective op=broadcast by=domain procs=8 \
	--set domain.sums=yes
refused 'processes of one node' run torus collective op=allreduce by=domain \
	procs=8 --set domain.rate=1GB/s --set domain.sums=yes

exit $status
