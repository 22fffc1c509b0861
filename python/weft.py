"""Weft from Python: run a workload, sweep values, read run files.

    import weft
    r = weft.run("torus", "random", load=0.5, shape="8x8", output="run.db")
    print(r["results"]["throughput_GBps_per_node"])
    f = weft.open("run.db")
    print(f.figures["latency_p99_ns"], f.hottest(5))

It runs the program `weft` and reads its run files, which are SQLite databases
(man weft-runfile).  If pandas is installed, frame() returns tables as data
frames.  The program is searched for in PATH, or given by $WEFT.
"""

import collections
import json
import os
import re
import sqlite3
import subprocess

__all__ = ["Error", "Point", "RunFile", "Sample", "machines", "open", "run",
           "sweep"]

_APPLICATION = 0x77656674
_SCHEMA, _OLDEST = 6, 2

# What each schema has brought, as `weft sql` lists it: columns by table, of
# runs and of sweeps.
_BROUGHT = {
    3: ({"input": ("kind", "path", "hash"), "link": ("wanted",),
         "sample": ("wanted",)},
        {"input": ("kind", "path", "hash"),
         "param": ("path", "value", "source", "place", "machine")}),
    4: ({"call": ("rank", "peer", "tag", "bytes", "times"),
         "transfer": ("from_rank", "to_rank", "posted_ps", "expected_ps"),
         "rank": ("id", "job", "rank", "node", "process", "from_ps", "to_ps",
                  "computing_ps", "own_ps", "calls_ps", "tests_ps",
                  "messages_ps", "collectives_ps", "crossings", "operations",
                  "messages", "bytes"),
         "pair": ("job", "rank", "peer", "messages", "bytes", "waited_ps"),
         "called": ("job", "rank", "name", "calls", "ps")}, {}),
    5: ({"exposed": ("job", "operation", "algorithm", "members", "bytes",
                     "mean_ps", "max_ps")}, {}),
    6: ({"sample": ("timed",)}, {"point": ("outcome",)}),
}

# Parts of one in the lists of samples.
_USE, _WAITING = 10000, 16

# A point of a curve: the mean over n seeds, and half its confidence interval.
Point = collections.namedtuple("Point", "x mean n half")

# A link between two times; wanted is None where it was not observed.
Sample = collections.namedtuple("Sample", "from_ps to_ps use waiting wanted")

# Exit codes of runs that have a result; all others are errors.
_FINE = {0: None, 3: "deadlock", 4: "limit", 6: "stopped"}


class Error(Exception):
    """An error of weft: its message, and its exit code."""

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


def _words(keys):
    for name, value in keys.items():
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, (list, tuple)):
            value = ",".join(str(v) for v in value)
        yield "%s=%s" % (name.rstrip("_").replace("_", "-"), value)


def _options(set, shape, faults, output):
    words = []
    for path, value in (set or {}).items():
        words += ["--set", "%s=%s" % (path, value)]
    for name, value in (("shape", shape), ("faults", faults),
                        ("output", output)):
        if value is not None:
            words += ["--" + name, str(value)]
    return words


def _call(words):
    weft = os.environ.get("WEFT", "weft")
    try:
        done = subprocess.run([weft] + words, capture_output=True, text=True)
    except OSError as e:
        raise Error("%s: %s" % (weft, e.strerror), 127) from None
    if done.returncode not in _FINE or not done.stdout.strip():
        raise Error(done.stderr.strip() or "no output", done.returncode)
    return done.stdout


def run(machine, workload, *, seed=1, threads=None, set=None, shape=None,
        faults=None, output=None, budget=False, **keys):
    """Runs a workload; returns the object of `weft run --json` as a dict.

    set is a dict of machine parameters, keys are those of the workload.  A
    saturated, deadlocked or stalled run is a result: check its "ending".
    """
    words = ["run", "--json", "--quiet", "--seed", str(seed)]
    words += _options(set, shape, faults, output)
    if threads:
        words += ["--threads", str(threads)]
    if budget:
        words.append("--budget")
    # Behind the dashes nothing is an option, whatever a word begins with.
    words += ["--", machine, workload] + list(_words(keys))
    return json.loads(_call(words))


def sweep(machines, workload, *, output, jobs=None, set=None, shape=None,
          past_saturation=False, **keys):
    """Runs every combination of values; returns the sweep's RunFile.

    A value may be a list, or a string with a range: "0.1..1:0.1".
    """
    if not isinstance(machines, str):
        machines = ",".join(machines)
    words = ["sweep", "--quiet"] + _options(set, shape, None, output)
    if jobs:
        words += ["--jobs", str(jobs)]
    if past_saturation:
        words.append("--past-saturation")
    words += ["--", machines, workload] + list(_words(keys))
    _call(words)
    return open(output)


def machines():
    """The available machines, each with a one-line description."""
    return json.loads(_call(["machines", "--json"]))["machines"]


class RunFile:
    """A run file.  Tables are lists of dicts: f.table("link")."""

    def __init__(self, path):
        self.path = path
        if not os.path.exists(path):
            raise Error("%s: there is no such file" % path, 2)
        self._db = sqlite3.connect(path)
        self._db.row_factory = sqlite3.Row
        try:
            ours = self._one("PRAGMA application_id") == _APPLICATION
            schema = self._one("PRAGMA user_version")
        except sqlite3.DatabaseError:
            ours = False
        if not ours:
            raise Error("%s: is not a run file" % path, 2)
        if not _OLDEST <= schema <= _SCHEMA:
            raise Error("%s: is a run file of schema %d" % (path, schema), 2)
        self._complete(schema)

    def _one(self, query):
        return self._db.execute(query).fetchone()[0]

    def _columns(self, table):
        return [r["name"] for r in self._db.execute(
            "SELECT name FROM pragma_table_info(?, 'main')", (table,))]

    def _complete(self, schema):
        """Gives an older file what it lacks, in views of this process."""
        is_sweep, brought = bool(self._columns("point")), {}
        for later in range(schema + 1, _SCHEMA + 1):
            for table, columns in _BROUGHT[later][is_sweep].items():
                brought.setdefault(table, []).extend(columns)
        for table, columns in brought.items():
            there = self._columns(table)
            lacks = ["NULL AS " + c for c in columns if c not in there]
            if lacks:
                self._db.execute(
                    "CREATE TEMP VIEW %s AS SELECT %s %s" % (
                        table, ", ".join((["*"] if there else []) + lacks),
                        "FROM main." + table if there else "WHERE 0"))

    def sql(self, query, *values):
        """The rows of a query, as dicts."""
        return [dict(row) for row in self._db.execute(query, values)]

    def table(self, name):
        return self.sql('SELECT * FROM "%s"' % name.replace('"', '""'))

    def frame(self, query):
        """A table, or the result of a query, as a pandas data frame."""
        import pandas
        if " " not in query:
            query = 'SELECT * FROM "%s"' % query
        return pandas.read_sql_query(query, self._db)

    def close(self):
        self._db.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def meta(self):
        return {r["key"]: r["value"] for r in self.table("meta")}

    @property
    def figures(self):
        return {r["name"]: r["value"] for r in self.table("figure")}

    def hottest(self, n=5):
        """The busiest links: their site, name and use."""
        return self.sql("SELECT site.name AS site, link.name AS link, use "
                        "FROM link JOIN site ON site.id = link.site "
                        "ORDER BY use DESC, link.id LIMIT ?", n)

    def samples(self, link):
        """A link over time: [Sample(from_ps, to_ps, use, waiting, wanted)].

        use is a part of one; waiting are packets at the link's far end, and
        wanted those that wait for it.
        """
        return [Sample(s["from_ps"], s["to_ps"], _item(s["use"], link, _USE),
                       _item(s["waiting"], link, _WAITING),
                       _item(s["wanted"], link, _WAITING))
                for s in self._db.execute("SELECT * FROM sample ORDER BY n")]

    def curves(self, figure):
        """The curves of a sweep: {curve: [Point(x, mean, n, half)]}.

        x is a number (a rate in GB/s, a size in bytes, a time in ns), or the
        text as it was given where it is no number, such as "max".

        The mean is over n seeds; its 95 % confidence interval is from mean -
        half to mean + half.  half is None for one seed.
        """
        values = {}
        for r in self._db.execute(
                "SELECT curve, x, value FROM point "
                "JOIN value ON value.point = point.id WHERE value.name = ? "
                "ORDER BY curve, CAST(x AS REAL), point.id", (figure,)):
            values.setdefault((r["curve"], r["x"]), []).append(r["value"])
        curves = {}
        for (curve, x), v in values.items():
            curves.setdefault(curve, []).append(
                Point(_number(x), sum(v) / len(v), len(v), _half_width(v)))
        return curves


# Factors of units of x: rates become GB/s, sizes bytes, and times ns.
_UNITS = {"": 1, "%": 0.01,
          "B/s": 1e-9, "KB/s": 1e-6, "MB/s": 1e-3, "GB/s": 1, "TB/s": 1e3,
          "b/s": 0.125e-9, "Kb/s": 0.125e-6, "Mb/s": 0.125e-3, "Gb/s": 0.125,
          "Tb/s": 125,
          "B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30,
          "ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def _number(text):
    found = re.fullmatch(r"([0-9.]+) *([A-Za-z/%]*)", text)
    if not found or found.group(2) not in _UNITS:
        return text
    value = float(found.group(1)) * _UNITS[found.group(2)]
    return int(value) if value.is_integer() else value


# Student's t for 97.5 % by degrees of freedom, as `weft sweep` has it.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
            2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101,
            2.093)


def _half_width(values):
    n = len(values)
    if n < 2:
        return None
    mean = sum(values) / n
    t = _STUDENT[n - 2] if n - 2 < len(_STUDENT) else 1.96
    return t * (sum((v - mean) ** 2 for v in values) / (n - 1) / n) ** 0.5


def _item(blob, i, scale):
    """A number of a sample's list, which may be NULL."""
    if blob is None:
        return None
    return int.from_bytes(blob[2 * i:2 * i + 2], "little") / scale


def open(path):
    """Opens a run file."""
    return RunFile(path)
