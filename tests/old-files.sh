#!/bin/sh
#
# Run files of an older schema: all that reads run files reads them, and what
# they lack is missing, not wrong.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/look.sh"
command -v python3 >/dev/null && python3 -c 'import sqlite3' || exit 77
cd "$tmp" || exit 1

# As they were written before schema 3, from their SQL.
for kind in run sweep; do
	python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[2]).executescript(open(sys.argv[1]).read())' \
		"$src/tests/golden/$kind-schema2.sql" $kind.db ||
		complain "no $kind"
	cp $kind.db $kind.was
done
report 'files to begin with'

works() { # ARGUMENTS
	run "$@"
	[ $code -eq 0 ] || complain "weft $*: $code: $(cat err)"
}

says() { # WANTED QUERY
	works sql run.db "$2" --json
	[ "$(tr -d ' \n' <out)" = "$1" ] || complain "$2: $(cat out)"
}

says '[{"n":16,"w":0,"u":16}]' \
	'select count(*) n, count(wanted) w, count(use) u from link'
says '[{"n":2,"w":0,"t":0}]' 'select count(*) n, count(wanted) w,
	count(timed) t from sample'
says '[{"n":0}]' 'select count(hash) n from input'
says '[{"n":15}]' 'select count(*) n from channel where bytes > 0'
says '[{"name":"wanted"}]' "select name from pragma_table_info('link')
	where cid = 17"
says '[{"n":98}]' 'select count(*) n from param'
report 'queries see all columns and tables'

works report run.db sweep.db -o page.html
python3 - >why 2>&1 <<'E' || complain "$(tail -n 1 why)"
import json, re
page = open("page.html").read()
run, sweep = json.loads(re.search(
    r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.S).group(1))["files"]
assert run["links"]["wanted"] == ["u8", "AA==", 16], run["links"]["wanted"]
assert run["load"]["wanted"] == ["u8", "AA==", 32], run["load"]["wanted"]
assert run["course"]["timed"] == run["course"]["delivered"]
assert run["links"]["use"][0] == "f32" and len(run["slowest"]) == 20
assert [p["mean"] for p in sweep["points"] if p["x"] == "0.2"]
E
can_look && look "$PWD/page.html"
report 'a report has them, without what nobody looked at'

works trace run.db -o run.pftrace
[ -s run.pftrace ] || complain 'no trace'
for picture in links latency budget course; do
	works plot run.db $picture -o $picture.svg
	head -c 4 $picture.svg | grep -q '<svg' || complain "no $picture"
done
works compare run.db run.was
grep -q 'All results are the same' out || complain "$(cat out)"
report 'they are traced, drawn and compared'

run rerun run.db
[ $code -le 1 ] || complain "exit code $code: $(cat err)"
grep -q '^digest  *[0-9a-f]*, ' out || complain "$(cat out)"
grep -q '^changed\|^gone' out && complain "it knows of inputs: $(cat out)"
report 'their runs are run again'

PYTHONPATH=$src/python PYTHONDONTWRITEBYTECODE=1 python3 - >why 2>&1 <<'E' ||
import weft
f = weft.open("run.db")
assert f.table("input") == [] and f.meta["ending"] == "finished"
assert {r["wanted"] for r in f.table("link")} == {None}
assert sum(s.use for s in f.samples(8)) > 0
assert [s.wanted for s in f.samples(8)] == [None, None]
s = weft.open("sweep.db")
assert [p.x for p in s.curves("latency_mean_ns")["torus"]] == [0.1, 0.2]
assert s.table("param") == s.table("input") == []
E
	complain "$(tail -n 3 why)"
report 'Python reads them'

run sweep torus random --shape 2x2 warmup=0us measure=1us load=0.1,0.2 \
	-o sweep.db
[ $code -eq 2 ] && grep -q 'of schema 2, .* continues only schema 6' err ||
	complain "exit code $code: $(cat err)"
for kind in run sweep; do
	cmp -s $kind.db $kind.was || complain "$kind.db is another file"
done
report 'nothing is written to them'

# As schema 3 was, from a new one.
run run torus pingpong --shape 2x2 rounds=2 -o three.db
python3 - <<'E' || complain 'no file of schema 3'
import sqlite3
d = sqlite3.connect("three.db")
for name in ("rank", "pair", "called"):
    d.execute("DROP TABLE " + name)
for table, columns in (("call", "id, node, process, thread, name, from_ps,"
                        " to_ps"), ("transfer", "id, from_node, from_process,"
                        " to_node, to_process, tag, bytes, sent_ps,"
                        " received_ps")):
    d.execute("CREATE TABLE old AS SELECT %s FROM %s" % (columns, table))
    d.execute("DROP TABLE " + table)
    d.execute("CREATE TABLE %s AS SELECT * FROM old" % table)
    d.execute("DROP TABLE old")
d.execute("PRAGMA user_version = 3")
d.commit()
E
works sql three.db 'select rank, from_rank from call, transfer'
works sql three.db 'select waited_ps, ps from rank
	join pair using(rank) join called using(rank)'
works report three.db -o three.html
works trace three.db -o three.pftrace
works rerun three.db
report 'files of schema 3 have no ranks'

# What reads them is as strict as with new ones.
for sql in 'CREATE VIEW input AS SELECT 1 kind, 2 path, 3 hash' \
	'CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM meta; END'; do
	cp run.was bad.db
	python3 -c 'import sqlite3, sys
sqlite3.connect("bad.db").execute(sys.argv[1])' "$sql"
	run sql bad.db 'select * from input'
	[ $code -eq 2 ] && grep -q 'which weft did not make' err ||
		complain "exit code $code: $(cat err)"
done
run sql run.db 'create temp view x as select 1'
[ $code -eq 2 ] && grep -q 'queries can only read' err || complain "$(cat err)"
report 'views and triggers of their own are refused'

exit $status
