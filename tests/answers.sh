#!/bin/sh
#
# Requests and answers of the plain card on every routing: queues of two packets
# that are full of both do not stop the network, and weft check has proved it.
# A card that holds a request until its answer has left is safe only where the
# proof says so.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/json.sh"

full='alltoall via=nic bytes=8192 --set router.packets=2
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

while read -r how machine; do
	proved true $machine
	holds .proved
	ends 0 run $machine $full --json
	holds '.ending == "finished"'
	case $how in
	safe) proved true $machine $held ;;
	*) proved false $machine $held ;;
	esac
	[ $how = wrong ] || continue
	run run $machine $full $held
	[ $code -eq 4 ] || complain "$machine: held answers do no harm"
done <<END
wrong dragonfly --shape 24 --set topology.per-router=4 --set topology.routers=2 --set topology.global=1 --set routing.mode=valiant
wrong dragonfly --shape 24 --set topology.per-router=4 --set topology.routers=2 --set topology.global=1 --set routing.mode=ugal
wrong dragonfly --shape 24 --set topology.per-router=4 --set topology.routers=2 --set topology.global=1 --set routing.mode=par
safe hyperx --shape 3x2 --set topology.per-router=4 --set routing.mode=minimal
wrong hyperx --shape 3x2 --set topology.per-router=6 --set routing.mode=adaptive
wrong hyperx --shape 3x2 --set topology.per-router=6 --set routing.mode=dal
wrong hyperx --shape 3x2 --set topology.per-router=6 --set routing.mode=ugal
unproved graph --shape 6x2x1 --set topology.per-router=4 --set routing.by=layer
unproved graph --shape 6x2x1 --set topology.per-router=4 --set routing.by=hop
wrong graph --shape 8x3x1 --set topology.per-router=3 --set routing.layers=1 --set routing.overflow=updown
safe fattree --shape 16 --set routing.spread=source
safe fattree --shape 16 --set routing.spread=adaptive
safe torus --shape 3x3
wrong torus --shape 3x3 --set topology.nodes=3
END
report 'requests and answers do not wait for each other, on every routing'

exit $status
