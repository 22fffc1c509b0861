#!/bin/sh
#
# Traces: that what was written can be read, and says what the run file says.
set -u
. "$(dirname "$0")/tap.sh"
command -v python3 >/dev/null || exit 77

db=$tmp/run.db
small='warmup=2us measure=6us bytes=64 --sample 500ns'

# A decoder of its own: messages to lists of (field, value).
cat >"$tmp/read.py" <<'E'
import sqlite3
import struct
import sys


def fields(b):
    i, out = 0, []

    def varint():
        nonlocal i
        v = shift = 0
        while True:
            v |= (b[i] & 127) << shift
            shift += 7
            i += 1
            if b[i - 1] < 128:
                return v
    while i < len(b):
        tag = varint()
        if tag & 7 == 0:
            v = varint()
        elif tag & 7 == 1:
            v = struct.unpack_from("<Q", b, i)[0]
            i += 8
        elif tag & 7 == 2:
            n = varint()
            v = b[i:i + n]
            assert len(v) == n
            i += n
        else:
            raise ValueError("wire type %d" % (tag & 7))
        out.append((tag >> 3, v))
    assert i == len(b)
    return out


tracks, events = {}, []
for field, b in fields(open(sys.argv[1], "rb").read()):
    p = dict(fields(b))
    assert field == 1 and p[10] == 1
    if 60 in p:
        d = dict(fields(p[60]))
        assert d[1] not in tracks
        name = d[2] if 2 in d else dict(fields(d[3]))[6]
        tracks[d[1]] = (name.decode(), d.get(5))
    else:
        events.append((p[8], dict(fields(p[11]))))
open_at, last = {}, {}
for t, x in events:
    track = x[11]
    assert track in tracks and (x[9] == 3 or t >= last.get(track, 0))
    last[track] = t
    if x[9] == 1:
        assert track not in open_at, "slices overlap"
        open_at[track] = t
    elif x[9] == 2:
        del open_at[track]
assert not open_at
for name, parent in tracks.values():
    assert parent is None or parent in tracks


def path(track):
    name, parent = tracks[track]
    return (path(parent) + "/" if parent else "") + name


db = sqlite3.connect(sys.argv[2])
sent = {x[47]: (path(x[11]), t) for t, x in events if x[9] == 1 and 47 in x
        and x[47] < 1 << 32}
got = {x[48]: (path(x[11]), t) for t, x in events if 48 in x
       and x[48] < 1 << 32}
site = dict(db.execute("select id, name from site"))
n = 0
for id, node, to, start, end in db.execute(
        "select id, node, to_node, start_ps, end_ps from message"):
    assert sent[id + 1] == ("nodes/" + site[node] + "/messages/messages",
                            start // 1000), sent[id + 1]
    assert got[id + 1] == ("nodes/" + site[to] + "/received", end // 1000)
    n += 1
assert n == len(sent) == len(got)
hops = [x for t, x in events if x[9] == 1 and x.get(47, 0) >= 1 << 32]
calls = [x for t, x in events if x[9] == 1 and 47 not in x]
began = {x[47]: (path(x[11]), t) for t, x in events if x[9] == 3
         and x.get(47, 0) >= 1 << 62}
ended = {x[48]: (path(x[11]), t) for t, x in events if x.get(48, 0) >= 1 << 62}
for id, a, p, b, q, s, r in db.execute(
        "select id, from_node, from_process, to_node, to_process, sent_ps,"
        " received_ps from transfer"):
    assert s <= r
    where = "nodes/%s/process %d"
    assert began.pop(id | 1 << 62) == (where % (site[a], p), s // 1000)
    assert ended.pop(id | 1 << 62) == (where % (site[b], q), r // 1000)
assert not began and not ended
for node, p, name, a in db.execute(
        "select node, process, name, from_ps from call"):
    calls.remove(next(x for x in calls if x[23] == name.encode() and path(
        x[11]) == "nodes/%s/process %d/calls" % (site[node], p)))
assert not calls
for what, number in db.execute("select what, number from hop where number"
                               " is not null"):
    assert any((v[0] + " ").startswith("%s %d " % (what, number))
               for v in tracks.values())
assert len(hops) == db.execute("select count(*) from hop").fetchone()[0]
# An injection engine has a track, and does one thing at a time.
for v in tracks.values():
    if v[0].startswith("injection engine"):
        assert len([w for w in tracks.values() if w == v]) == 1, v
top = db.execute("select site.name || ' ' || link.name from link join site on"
                 " site.id = link.site order by use desc, link.id").fetchone()
use = [struct.unpack("<d", struct.pack("<Q", x[44]))[0] for t, x in events
       if x[9] == 4 and path(x[11]) == "the busiest links/" + top[0]]
samples = db.execute("select count(*) from sample").fetchone()[0]
assert len(use) == samples and 0 < max(use) <= 101, use
print(n, len(hops), len(tracks), db.execute(
    "select count(*) from transfer").fetchone()[0], db.execute(
    "select count(*) from hop where number is not null").fetchone()[0])
E

for machine in 'bgq random --shape 2x2x2' 'qsnet2-16 random' \
	'bgq-board stream bytes=3000 from=0 to=5 rounds=4' \
	'qsnet2-16 stream by=dma bytes=3000 rounds=4' \
	'gemini stream by=bte bytes=4KiB rounds=20'; do
	# shellcheck disable=SC2086
	case $machine in
	*random*) run run $machine $small --budget -o "$db" ;;
	*) run run $machine --budget -o "$db" --sample 1us ;;
	esac
	run trace "$db" -o "$tmp/run.pftrace"
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	python3 "$tmp/read.py" "$tmp/run.pftrace" "$db" >"$tmp/out" \
		2>"$tmp/err" || complain "$(tail -n 2 "$tmp/err")"
	grep -q '^[1-9][0-9]* [1-9][0-9]* ' "$tmp/out" ||
		complain "holds: $(cat "$tmp/out")"
	case $machine in
	bgq-*) engines='injection engine [0-9]|reception engine [0-9]' ;;
	qsnet2*stream*) engines='DMA engine|input' ;;
	gemini*) engines='BTE channel 0|BTE channel 1' ;;
	*) engines='in by|out by' ;;
	esac
	for engine in "${engines%|*}" "${engines#*|}"; do
		grep -qa "$engine" "$tmp/run.pftrace" ||
			complain "no track of: $engine"
	done
	report "$machine: a trace has messages, hops, engines and links"
done

# Processes that send each other messages, short and long.
"$weft" goal allreduce ranks=8 bytes=64KiB algo=ring >"$tmp/x.goal"
sed -i 's/^}$/calc 10\n}/' "$tmp/x.goal"
for machine in bgq-board qsnet2-16; do
	run run $machine replay file="$tmp/x.goal" --budget -o "$db"
	[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
	run trace "$db" -o "$tmp/run.pftrace"
	python3 "$tmp/read.py" "$tmp/run.pftrace" "$db" >"$tmp/out" \
		2>"$tmp/err" || complain "$(tail -n 2 "$tmp/err")"
	grep -q '^[1-9][0-9]* [1-9][0-9]* [0-9]* [1-9][0-9]' "$tmp/out" ||
		complain "holds: $(cat "$tmp/out")"
	report "$machine: flows lead from sends to receives of processes"
	for what in 'replaying a schedule as rank 7' 'calc 10 ns' \
		'send [0-9]+ B to rank 1' 'recv [0-9]+ B from rank 7'; do
		grep -qaE "$what" "$tmp/run.pftrace" || complain "not: $what"
	done
	report "$machine: a trace shows the operations of a schedule"
done

# shellcheck disable=SC2086
run run bgq random --shape 2x2x2 $small -o "$db"
run trace "$db"
[ $code -eq 0 ] || complain "exit code $code: $(cat "$tmp/err")"
python3 "$tmp/read.py" "$tmp/run.pftrace" "$db" >"$tmp/out" 2>"$tmp/err" ||
	complain "$(tail -n 2 "$tmp/err")"
report 'a run without a budget has counters, in a file of its own name'

echo nothing >"$tmp/foreign.db"
head -c 30000 "$db" >"$tmp/cut.db"
refused 'want one run file' trace
refused 'want one run file' trace "$db" "$db"
refused 'No such file' trace "$tmp/none.db"
refused 'is not a run file' trace "$tmp/foreign.db"
refused "$tmp/cut.db" trace "$tmp/cut.db" -o "$tmp/cut.pftrace"
refused 'cannot be created' trace "$db" -o "$tmp/none/x.pftrace"
refused 'would overwrite' trace "$db" -o "$db"
[ ! -e "$tmp/cut.pftrace" ] || complain 'half a trace is left'
report 'a file that cannot be read leaves no trace'
exit $status
