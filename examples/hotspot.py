#!/usr/bin/env python3
"""Load curves of two networks, and which link a hotspot keeps busy.

Usage: hotspot.py [FOLDER]; its run files are written there.
"""
import sys

import weft

folder = sys.argv[1] if len(sys.argv) > 1 else "."

curves = weft.sweep(["fattree", "dragonfly"], "random", shape="64",
                    load="0.2..0.8:0.2", seed="1..2", warmup="5us",
                    measure="20us", output=folder + "/curves.db")
for name, points in curves.curves("throughput_GBps_per_node").items():
    print("%-10s %s" % (name, "  ".join(
        "%s: %.2f ± %.2f GB/s" % (p.x, p.mean, p.half) for p in points)))

run = weft.run("fattree", "hotspot", shape="64", share="50%", warmup="5us",
               measure="50us", output=folder + "/hotspot.db")
print("%s after %.1f us" % (run["ending"], run["sim_time_ns"] / 1e3))
for link in weft.open(folder + "/hotspot.db").hottest(3):
    print("%-12s %-8s %3.0f %% busy"
          % (link["site"], link["link"], 100 * link["use"]))
