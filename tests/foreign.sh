#!/bin/sh
#
# Run files that weft did not write: each command refuses them with a line, or
# ends in reasonable time with an output that is well formed.
set -u
. "$(dirname "$0")/tap.sh"
# The program itself: what starts it may be a script.
python=$(python3 -c 'import sqlite3, sys; print(sys.executable)') || exit 77
cd "$tmp" || exit 1

"$weft" run torus random --shape 2x2 warmup=0us measure=5us bytes=64 --budget \
	--sample 500ns -o good.db >out || complain 'no run'
"$weft" sweep torus random --shape 2x2 warmup=0us measure=1us load=0.1,0.2 \
	-o sweep.db >out || complain 'no sweep'
report 'files to begin with'

# A copy of a file after some SQL; the script on stdin has db and its cursor.
change() { # FILE
	cp "${1:-good.db}" bad.db
	"$python" -c 'import sqlite3, sys
db = sqlite3.connect("bad.db")
c = db.cursor()
exec(sys.stdin.read())
db.commit()'
}

# Every command that reads a run file; none crashes, hangs, or writes an escape.
look() { # CODES: that are right
	for command in 'sql SELECT*FROM#meta' 'sql SELECT*FROM#figure' \
		'report -o x.html' 'trace -o x.pftrace' 'plot links -o 1.svg' \
		'plot latency -o 2.svg' 'plot budget -o 3.svg' \
		'plot course -o 4.svg' 'compare good.db' rerun; do
		# shellcheck disable=SC2086
		set -- "$1" $command
		verb=$2
		first=$1
		shift 2
		rm -f x.html x.pftrace
		timeout ${WEFT_SLOW:+1}60 "$weft" "$verb" bad.db \
			"$(echo "${1-}" | tr '#' ' ')" ${2:+"$2"} ${3:+"$3"} \
			>out 2>err </dev/null
		code=$?
		case " $first 2" in
		*" $code"*) ;;
		*) complain "$command: exit code $code: $(head -c 300 err)" ;;
		esac
		[ $code -ne 2 ] || [ "$(wc -l <err)" -eq 1 ] ||
			complain "$command said: $(cat err)"
		LC_ALL=C grep -q "$(printf '[\033\007]')" out err &&
			complain "$command: an escape"
		set -- "$first"
	done
	"$python" -c 'import glob, xml.etree.ElementTree as e
for f in glob.glob("*.svg"):
    t = open(f, "rb").read()
    e.fromstring(t)
    assert b"nan" not in t and b"inf" not in t, f + ": numbers that are none"
' 2>why || complain "$(tail -n 1 why)"
	rm -f ./*.svg
}

refused() { # TEXT
	for command in 'sql meta' report trace rerun 'plot links'; do
		# shellcheck disable=SC2086
		set -- "$1" $command
		timeout 20 "$weft" "$2" bad.db ${3:+"$3"} >out 2>err </dev/null
		code=$?
		[ $code -eq 2 ] || complain "$command: exit code $code"
		grep -qF -- "$1" err || complain "$command said: $(cat err)"
	done
}

# --- what computes ---

change <<'E'
c.execute("DROP TABLE link")
c.execute("CREATE VIEW link AS WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL "
          "SELECT id + 1 FROM n) SELECT id, 0 site, 'x' name, 0 to_site, "
          "'w' wire, 0.0 use, 0.0 waiting FROM n")
E
refused 'has a view "link"'
report 'a view without an end is refused'

change <<'E'
c.execute("DROP VIEW channel")
c.execute("CREATE VIEW channel AS SELECT * FROM shared, shared, shared")
E
refused 'has a view "channel"'
report 'a view of our name that says something else is refused'

change sweep.db <<'E'
c.execute("CREATE TRIGGER t AFTER INSERT ON point BEGIN DELETE FROM meta; END")
E
"$weft" sweep torus random --shape 2x2 warmup=0us measure=1us \
	load=0.1,0.2,0.3 -o bad.db >out 2>err && complain 'it goes on'
grep -q 'has a trigger "t"' err || complain "said: $(cat err)"
report 'a trigger is refused'

change <<'E'
c.execute("ALTER TABLE figure ADD COLUMN x AS (zeroblob(200000000))")
E
refused 'has computed columns'
report 'a column that is computed is refused'

change <<'E'
c.executemany("INSERT INTO param VALUES('same', 'x', 'y', 'z')",
              [()] * 20000)
E
cp bad.db twin.db
timeout 120 "$weft" compare bad.db twin.db >out 2>err
[ $? -eq 2 ] || complain "not refused: $(head -c 200 err)"
grep -q 'more work' err || complain "said: $(cat err)"
report 'a comparison of 20,000 equal names with 20,000 ends'

# --- values ---

change <<'E'
c.execute("UPDATE figure SET value = 9e999 WHERE rowid % 2")
c.execute("UPDATE figure SET value = -9e999 WHERE rowid % 3 = 0")
c.execute("UPDATE link SET use = 9e999, waiting = -9e999, bytes = 9e999")
c.execute("UPDATE latency SET count = 9e999")
c.execute("UPDATE cause SET ps = 9e999")
E
look '0 1'
report 'infinite figures'

for value in 9e999 9223372036854775807 -9223372036854775808 "'x'" NULL; do
	change <<E
for t, columns in (("sample", ("from_ps", "to_ps", "delivered")),
                   ("latency", ("from_ps", "to_ps", "count")),
                   ("message", ("start_ps", "end_ps", "node", "to_node")),
                   ("hop", ("from_ps", "to_ps", "site")),
                   ("cause", ("ps",)), ("spent", ("ps",))):
    for n, k in enumerate(columns):
        c.execute("UPDATE %s SET %s = ? WHERE rowid %% 7 = %d" % (t, k, n),
                  (db.execute("SELECT $value").fetchone()[0],))
E
	look '0 1'
	report "times of $value"
done

change <<'E'
c.execute("UPDATE link SET site = -1, to_site = -5")
c.execute("UPDATE sample SET use = x'01', waiting = x''")
E
look '0 1'
report 'links of sites that are not there'

change <<'E'
c.execute("UPDATE latency SET from_ps = 1000000000000000000 + rowid,"
          " to_ps = 1000000000000000001 + rowid, count = 1")
c.execute("UPDATE sample SET from_ps = 1000000000000000000 + rowid,"
          " to_ps = 1000000000000000001 + rowid")
E
look '0 1'
report 'times that are close to each other and far from 0'

# --- names ---

change <<'E'
evil = '\x1b[31m\x1b]0;x\x07<b>&"\'\u2028\ufffe\ufffd</svg></script>\x01é'
c.execute("UPDATE meta SET value = ? WHERE key NOT IN ('digest', 'ending')",
          (evil,))
for t, k in (("site", "name"), ("link", "name"), ("link", "wire"),
             ("hop", "what"), ("message", "class"), ("param", "path"),
             ("param", "value"), ("spent", "cause"), ("hop", "channel")):
    c.execute("UPDATE %s SET %s = ?" % (t, k), (evil,))
for t in ("figure", "counter", "cause"):
    c.execute("UPDATE %s SET name = ? || rowid" % t, (evil,))
E
look '0 1'
"$weft" sql bad.db 'SELECT name AS "'"$(printf '\033')"'[1mx" FROM site' \
	>out 2>err
LC_ALL=C grep -q "$(printf '\033')" out err && complain 'an escape in a head'
rm -f x.html
"$weft" report bad.db -o x.html >out 2>err || complain "$(cat err)"
[ "$(grep -o '</script>' x.html | wc -l)" = "$("$weft" report good.db \
	-o y.html >out 2>err; grep -o '</script>' y.html | wc -l)" ] ||
	complain 'the name ends a script'
report 'names with escapes, tags and characters that are none'

change <<'E'
c.executemany("INSERT INTO cause VALUES(?, 1)", [(str(i),) for i in
              range(70000)])
c.execute("UPDATE link SET name = id, wire = 'w' || id")
s = c.execute("SELECT * FROM link").fetchall()
c.executemany("INSERT INTO link VALUES(" + ",".join("?" * len(s[0])) + ")",
              [(len(s) + i, 0, 0, "n%d" % i, 0, 0, "w%d" % i) + s[0][7:]
               for i in range(70000)])
c.execute("UPDATE sample SET use = zeroblob(2 * ?), waiting = zeroblob(2 * ?)",
          (70000 + len(s), 70000 + len(s)))
E
look '0 1'
for what in budget links; do
	timeout 20 "$weft" plot bad.db $what >out 2>err
	[ $? -eq 2 ] && grep -q 'has room for' err || complain "$(cat err)"
done
report '70,000 names'

exit $status
