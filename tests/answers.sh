#!/bin/sh
#
# Requests and answers of the plain card on every routing: queues of two packets
# that are full of both do not stop the network, and weft check has proved it.
# A card that holds a request until its answer has left is safe only where the
# proof says so.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

full='alltoall via=nic bytes=65536 --set router.packets=2
	--set router.reception=2 --set router.injection=1
	--set side.rate=2GB/s --set nic.input=500ns'
held='--set nic.answers=held'

proved() { # WHAT A NODE WAITS FOR: true or false; ARGUMENTS
	want=$1
	shift
	run check "$@" --json
	holds "[.steps[] | select(.what | test(\" at a node\")) | .holds] ==
		[$want]"
}

tries() { # safe, unproved or wrong: what held answers are; ARGUMENTS
	how=$1
	shift
	proved true "$@"
	holds .proved
	ends 0 run "$@" $full --json
	holds '.ending == "finished"'
	[ "$how" = safe ] && is=true || is=false
	proved $is "$@" $held
	[ "$how" = wrong ] || return
	run run "$@" $full $held
	[ $code -eq 4 ] || complain "$*: held answers do no harm"
}

for mode in valiant ugal par; do
	tries wrong dragonfly --shape 24 --set topology.per-router=4 \
		--set topology.routers=2 --set topology.global=1 \
		--set routing.mode=$mode
done
tries safe hyperx --shape 3x2 --set topology.per-router=4 \
	--set routing.mode=minimal
for mode in adaptive dal ugal; do
	tries wrong hyperx --shape 3x2 --set topology.per-router=6 \
		--set routing.mode=$mode
done
for by in layer hop; do
	tries unproved graph --shape 6x2x1 --set topology.per-router=4 \
		--set routing.by=$by
done
tries wrong graph --shape 8x3x1 --set topology.per-router=3 \
	--set routing.layers=1 --set routing.overflow=updown
for spread in source adaptive; do
	tries safe fattree --shape 16 --set routing.spread=$spread
done
tries safe torus --shape 3x3
tries wrong torus --shape 3x3 --set topology.nodes=3
report 'requests and answers do not wait for each other, on every routing'

exit $status
