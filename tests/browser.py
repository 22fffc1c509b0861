#!/usr/bin/env python3
"""Looks at a report as a phone shows it and as a printer gets it.

browser.py PAGE starts chromedriver, opens PAGE#selftest in a window of 390
pixels and prints it without "background graphics", as browsers do unless they
are told otherwise.  Writes a line for each thing found: "width N", "wrong
TEXT", and "colour #rrggbb" for each colour that fills something on paper.
"""
import base64
import json
import re
import subprocess
import sys
import tempfile
import urllib.request
import zlib

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync"""


# Not by a proxy.
urllib.request.install_opener(urllib.request.build_opener(
    urllib.request.ProxyHandler({})))


def call(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["value"]


def port_of(driver):
    for line in driver.stdout:
        found = re.search(r"successfully on port (\d+)", line)
        if found:
            return found.group(1)
    raise SystemExit("chromedriver did not start")


def colours(pdf):
    found = set()
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.S):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue
        for rgb in re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) rg", text):
            found.add("#%02x%02x%02x" % tuple(
                round(255 * float(v)) for v in rgb))
    return sorted(found)


def look(base, page, profile):
    options = {
        "args": FLAGS.split() + ["--user-data-dir=" + profile],
        "mobileEmulation": {"deviceMetrics": {
            "width": 390, "height": 844, "pixelRatio": 1}},
    }
    session = base + "/session/" + call(base + "/session", {
        "capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options}}})["sessionId"]
    try:
        call(session + "/url", {"url": "file://" + page + "#selftest"})
        width, wrong = call(session + "/execute/sync", {
            "script": "return [innerWidth, "
                      "document.documentElement.dataset.wrong];",
            "args": []})
        print("width", width)
        if wrong is None or wrong:
            print("wrong", wrong)
        pdf = base64.b64decode(call(session + "/print", {
            "background": False}))
        for colour in colours(pdf):
            print("colour", colour)
    finally:
        urllib.request.urlopen(urllib.request.Request(
            session, method="DELETE"), timeout=60)


def main():
    driver = subprocess.Popen(["chromedriver", "--port=0"], text=True,
                              stdout=subprocess.PIPE)
    try:
        with tempfile.TemporaryDirectory() as profile:
            look("http://127.0.0.1:" + port_of(driver), sys.argv[1], profile)
    finally:
        driver.terminate()
        driver.wait()


main()
