#!/bin/sh
#
# Where outputs go: what is not a file of weft's own is never removed or
# overwritten, links are followed, and what cannot be written is refused with
# one line.
set -u
. "$(dirname "$0")/tap.sh"
cd "$tmp" || exit 1

refused() { # TEXT ARGUMENTS
	text=$1
	shift
	timeout 20 "$weft" "$@" >out 2>err </dev/null
	code=$?
	[ $code -eq 2 ] || complain "exit code $code: $(cat err)"
	[ "$(wc -l <err)" -eq 1 ] || complain "said: $(cat err)"
	grep -qF -- "$text" err || complain "said: $(cat err)"
}

works() { # ARGUMENTS
	timeout 20 "$weft" "$@" >out 2>err </dev/null
	code=$?
	[ $code -eq 0 ] || complain "exit code $code: $(cat err)"
}

# Nothing but these files is in the folder of outputs.
only() { # NAME...
	[ "$(ls -A o | tr '\n' ' ')" = "$* " ] ||
		complain "there are $(ls -A o | tr '\n' ' '), want $*"
}

small='torus random --shape 2x2 warmup=0us measure=1us'
points='torus random --shape 2x2 warmup=0us measure=1us load=0.1,0.2'
mkdir o
works run $small --budget -o run.db
report 'a run file to begin with'

# Every output, with FILE where it goes; those of the first list are streams.
streams="run $small --links FILE
sweep $points --csv FILE
sweep $points --plot FILE
report run.db -o FILE
trace run.db -o FILE
plot run.db links -o FILE
goal allreduce ranks=4 -o FILE
goal allreduce ranks=4 --binary -o FILE
new torus FILE"
files="run $small -o FILE
sweep $points -o FILE"

# Calls a function with each command, with a file's name put in.
each() { # COMMANDS FUNCTION NAME
	echo "$1" | while read -r line; do
		# shellcheck disable=SC2046
		$2 $(echo "$line" | sed "s|FILE|$3|")
	done
}

# --- what is no file ---

mkfifo o/f
try_fifo() { # ARGUMENTS
	refused 'is a FIFO' "$@"
	[ -p o/f ] || complain 'the FIFO is gone'
}
each "$files" try_fifo o/f
only f
report 'a run file is not written to a FIFO, which stays'

try_read() { # ARGUMENTS
	timeout 20 cat o/f >got &
	works "$@"
	wait $!
	[ -s got ] || complain "nothing came of $*"
	[ -p o/f ] || complain 'the FIFO is gone'
}
each "$streams" try_read o/f
only f
report 'streams are written to a FIFO'
rm o/f

mkdir o/d
try_directory() { # ARGUMENTS
	refused 'is a directory' "$@"
}
each "$files
$streams" try_directory o/d
only d
report 'a directory is refused'
rmdir o/d

if mknod o/n c 1 3 2>/dev/null && : 2>/dev/null >o/n; then
	try_device() { # ARGUMENTS
		refused 'is a device' "$@"
		[ -c o/n ] || complain 'the device is gone'
	}
	each "$files" try_device o/n
	report 'a run file is not written to a device, which stays'
	try_null() { # ARGUMENTS
		works "$@"
		[ -c o/n ] || complain 'the device is gone'
	}
	each "$streams" try_null o/n
	only n
	report 'streams are written to a device'
	rm -f o/n
else
	skip 'devices' 'no rights to make one'
fi
rm -f o/n

# --- links ---

try_link() { # ARGUMENTS
	mkdir far
	ln -s ../far/x o/l
	works "$@"
	[ -L o/l ] || complain "the link is gone: $*"
	[ -s far/x ] || complain "nothing is where it leads to: $*"
	[ "$(ls -A far)" = x ] || complain "there is $(ls -A far): $*"
	rm -rf far o/l
}
each "$files
$streams" try_link o/l
report 'a link to what is not there yet is followed'

mkdir far
"$weft" run $small -o far/x >out
ln -s ../far/x o/l
works run $small --seed 3 -o o/l
[ -L o/l ] || complain 'the link is gone'
"$weft" sql far/x "select value from meta where key = 'seed'" | grep -q 3 ||
	complain 'the file is not replaced'
report 'a link to a run file is followed'
rm -rf far o/l

ln -s l o/l
try_loop() { # ARGUMENTS
	refused 'o/l' "$@"
	[ -L o/l ] || complain 'the link is gone'
}
each "$files
$streams" try_loop o/l
report 'a link to itself is refused'
rm o/l

# --- files of others ---

try_other() { # ARGUMENTS
	echo 'my thesis' >o/t
	refused 'o/t: exists' "$@"
	[ "$(cat o/t)" = 'my thesis' ] || complain "overwritten by $*"
}
each "$files
$streams" try_other o/t
only t
report 'a file that weft did not write stays'
rm o/t

try_run_file() { # ARGUMENTS
	cp run.db o/t
	refused 'o/t: exists' "$@"
	cmp -s run.db o/t || complain "overwritten by $*"
}
each "$streams" try_run_file o/t
report 'a run file stays, whatever else is written'
rm o/t

try_again() { # ARGUMENTS
	case $1 in
	new) return ;;
	esac
	rm -f o/x
	works "$@"
	chmod 604 o/x
	works "$@"
	[ "$(stat -c %a o/x)" = 604 ] || complain "other rights after $*"
	only x
}
each "$files
$streams" try_again o/x
report 'a file of the same kind is replaced, and keeps its rights'
rm o/x

# --- failures leave what was there ---

works report run.db -o o/x
cp o/x was
(ulimit -f 4 && trap '' XFSZ && exec "$weft" report run.db -o o/x) \
	>out 2>err </dev/null
[ $? -eq 2 ] || complain 'it worked'
cmp -s was o/x || complain 'the page is gone'
only x
report 'an output that cannot be written leaves the last one'
rm o/x

works goal allreduce ranks=4 -o /dev/stdout
grep -q num_ranks out || complain 'nothing on stdout'
echo before >out
"$weft" goal allreduce ranks=4 -o /dev/stdout >>out
head -1 out | grep -q before || complain 'what was there is gone'
grep -q num_ranks out || complain 'nothing on stdout'
works goal allreduce ranks=4 -o -
grep -q num_ranks out || complain 'nothing on stdout'
[ ! -e ./- ] || complain 'there is a file of that name'
refused '-: is no file' run $small -o -
report '- and /dev/stdout are stdout'

# --- one file, two runs ---

"$weft" run torus random --shape 2x2 measure=1s -o o/x >first 2>&1 &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$weft" sql o/x 'select * from meta' >out 2>err && break
	sleep 0.1
done
refused 'another weft is writing this file' run $small -o o/x
kill -TERM $pid
wait $pid
[ $? -eq 6 ] || complain "the first one: $(cat first)"
works sql o/x "select value from meta where key = 'ending'"
grep -q stopped out || complain "the first one's file: $(cat out)"
works run $small -o o/x
report 'a file that a run is writing is refused to another'

: >first
"$weft" sweep torus random --shape 2x2 measure=1s load=0.1,0.2 -o o/s \
	>first 2>&1 &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$weft" sql o/s 'select * from meta' >out 2>err && break
	sleep 0.1
done
refused 'another weft is writing this file' sweep torus random --shape 2x2 \
	measure=1s load=0.1,0.2 -o o/s
kill -TERM $pid
wait $pid
report 'so is the file of a sweep'

# A run that is killed before its file has begun: it is empty or whole.
for i in 1 2 3 4 5; do
	rm -f o/*
	"$weft" run bgq random --shape 8x8x8x4x2 -o o/k >out 2>err &
	pid=$!
	while [ ! -e o/k-journal ] && kill -0 $pid 2>/dev/null; do :; done
	kill -KILL $pid
	wait $pid 2>/dev/null
	"$weft" sql o/k "select value from meta where key = 'machine'" \
		>out 2>err
	grep -q bgq out || grep -q 'is empty' err ||
		complain "said: $(cat out err)"
	works run $small -o o/k
done
report 'a run that is killed at once leaves no file without tables'

once='random --shape 2x2 load=0.1,0.2 seed=1..2 warmup=0us measure=1us --quiet'
"$weft" sweep /dev/stdin $once <"$src/machines/torus.yaml" >out 2>err ||
	complain "$(cat err)"
cat "$src/machines/torus.yaml" | "$weft" sweep /dev/stdin $once 2>err |
	cmp -s - out || complain "from a pipe: $(cat err)"
report 'a sweep reads the file of a machine once'

exit $status
