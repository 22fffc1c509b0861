#!/bin/sh
#
# The Python module: runs, sweeps and run files, as the program says them.
set -u
. "$(dirname "$0")/tap.sh"
command -v python3 >/dev/null || exit 77
PYTHONPATH=$src/python
PYTHONDONTWRITEBYTECODE=1
WEFT=$weft
export PYTHONPATH PYTHONDONTWRITEBYTECODE WEFT

try() { # WHAT; the program on stdin
	(cd "$tmp" && python3 - >"$tmp/out" 2>"$tmp/err") ||
		complain "$(tail -n 3 "$tmp/err")"
	report "$1"
}

try 'a run is what weft run --json prints, and its file says the same' <<'E'
import weft
r = weft.run("torus", "random", shape="4x4", load=0.4, warmup="2us",
             measure="10us", output="run.db", set={"link.rate": "5GB/s"})
assert r["ending"] == "finished" and r["set"] == ["link.rate=5GB/s"]
with weft.open("run.db") as f:
    assert f.meta["digest"] == r["digest"]
    assert abs(f.figures["latency_p99_ns"] -
               r["results"]["latency_ns"]["p99"]) < 1e-3
    hot = f.hottest(1)[0]
    assert abs(hot["use"] - r["results"]["hottest_links"][0]["use"]) < 1e-6
    best = f.sql("select id from link order by use desc, id limit 1")[0]["id"]
    rows = f.samples(best)
    mean = sum((s.to_ps - s.from_ps) * s.use for s in rows) / rows[-1].to_ps
    assert abs(mean - hot["use"]) < 1e-3, (mean, hot)
    link = f.sql("select * from link where id = ?", best)[0]
    mean = sum(s.wanted for s in rows) / len(rows)
    assert link["wanted"] > 0 and abs(mean - link["wanted"]) < 0.05, rows
    mean = sum((s.to_ps - s.from_ps) * s.waiting for s in rows) / rows[-1][1]
    assert abs(mean - link["waiting"]) < 0.05, (mean, link)
    assert rows[0][0] == 0 and all(a[1] == b[0] for a, b in zip(rows, rows[1:]))
E

try 'the module knows what schemas have brought, and the scales of lists' <<'E'
import json
import weft
listed = json.loads(weft._call(["sql", "--json"]))["columns"]
assert max(c["schema"] for c in listed) == weft._SCHEMA
for schema in range(weft._OLDEST + 1, weft._SCHEMA + 1):
    for files, brought in zip(("runs", "sweeps"), weft._BROUGHT[schema]):
        want = {}
        for c in listed:
            if c["schema"] == schema and c["files"] in (files, "both"):
                want.setdefault(c["table"], []).append(c["column"])
        assert want == {t: list(c) for t, c in brought.items()}, want
unit = {c["column"]: c["unit"] for c in listed if c["table"] == "sample"}
assert unit["use"] == "1/%d" % weft._USE
assert unit["waiting"] == unit["wanted"] == "1/%d" % weft._WAITING
E

try 'a sweep is a run file with curves' <<'E'
import weft
f = weft.sweep(["torus"], "random", shape="4x4", load=[0.2, 0.4], seed="1..2",
               warmup="2us", measure="10us", output="curves.db")
c = f.curves("throughput_GBps_per_node")
assert list(c) == ["torus"] and [p.x for p in c["torus"]] == [0.2, 0.4]
assert all(p.n == 2 for p in c["torus"])
assert c["torus"][1].mean > 1.8 * c["torus"][0].mean
# Half the width of the interval, by hand: t of one degree of freedom.
for p in c["torus"]:
    a, b = [r["value"] for r in f.sql(
        "select value from value join point on point.id = value.point where "
        "x = ? and value.name = 'throughput_GBps_per_node'", str(p.x))]
    assert abs(p.half - 12.706 * abs(a - b) / 2) < 1e-9, (p, a, b)
one = weft.sweep("torus", "random", shape="4x4", load=0.2, warmup="2us",
                 measure="10us", output="one.db")
assert one.curves("latency_mean_ns")["torus"][0].half is None
E

try 'a word that begins with dashes is a word, not an option' <<'E'
import weft
for call in (lambda: weft.run("--plugin=./mine.so", "random"),
             lambda: weft.run("torus", "--plugin=./mine.so"),
             lambda: weft.run("torus", "random", **{"--plugin": "./mine.so"}),
             lambda: weft.sweep("--plugin=./mine.so", "random", output="a.db"),
             lambda: weft.sweep("torus", "--set=link.rate=1", output="b.db")):
    try:
        call()
    except weft.Error as e:
        assert e.code == 2 and "shared object" not in str(e), e
    else:
        raise AssertionError
E

try "what weft refuses is an error with weft's own words" <<'E'
import weft
for words, text in ((("torus", "randm"), "random"),
                    (("tors", "random"), "torus")):
    try:
        weft.run(*words)
    except weft.Error as e:
        assert e.code == 2 and text in str(e), e
    else:
        raise AssertionError
for path in "none.db", "/dev/null":
    try:
        weft.open(path)
    except weft.Error as e:
        assert path in str(e)
    else:
        raise AssertionError
assert any(m["name"] == "torus" for m in weft.machines())
E

mkdir "$tmp/example"
python3 "$src/examples/hotspot.py" "$tmp/example" >"$tmp/out" 2>"$tmp/err" ||
	complain "$(tail -n 3 "$tmp/err")"
grep -q '^fattree  *0.2: ' "$tmp/out" || complain "no curve: $(cat "$tmp/out")"
grep -q '^switch 1.0 .* \(9.\|100\) % busy$' "$tmp/out" ||
	complain "no hotspot: $(cat "$tmp/out")"
report 'the example runs'

exit $status
