#!/usr/bin/env python3
"""Compares two builds of the benchmarks: the figures of one beside those of the other.

usage: against.py NEW OLD --new-folder F --old-folder F [--passes N] [--rounds N] [--filter NAME …]

NEW and OLD are programs; each runs in its own checkout, without the peers. They take turns, pass after
pass, in an order drawn anew each time, so that what else happens on the machine happens to both. Prints a
table: for each row the median of all passes of the old and the new build, and the ratio old / new, which is
above 1 where the new build is better. At the end, rows that lost more than 5 % in the median; the exit code
is 1 when there are any.
"""

import argparse
import random
import re
import statistics
import subprocess
import sys

LINE = re.compile(r"^(?P<name>.+): (?P<median>[0-9.]+)(?: \([^)]*\))?(?P<rest>.*) (?P<unit>\S+)$")
# What a row may lose before it counts as slower.
TOLERANCE = 0.95


def figures(program, folder, options):
    """The medians of one pass, by the name of the row."""
    command = [program, "--alone", "--rounds", str(options.rounds), "--folder", options.folder]
    for name in options.filter:
        command += ["--filter", name]
    outcome = subprocess.run(
        command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    found = {}
    for line in outcome.stderr.splitlines():
        match = LINE.match(line)
        if match:
            found[match["name"]] = (float(match["median"]), match["unit"])
        elif "failed" in line.lower():
            print(f"{program}: {line}", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("new")
    parser.add_argument("old")
    parser.add_argument("--new-folder", required=True)
    parser.add_argument("--old-folder", required=True)
    parser.add_argument("--folder", required=True, help="photographs and temporary files")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--filter", action="append", default=[])
    options = parser.parse_args()

    sides = {"new": (options.new, options.new_folder), "old": (options.old, options.old_folder)}
    samples = {"new": {}, "old": {}}
    units = {}
    for number in range(1, options.passes + 1):
        for side in random.sample(sorted(sides), 2):
            print(f"pass {number} of {options.passes}: {side}", file=sys.stderr, flush=True)
            for name, (median, unit) in figures(*sides[side], options).items():
                samples[side].setdefault(name, []).append(median)
                units[name] = unit

    slower = []
    print("| benchmark | unit | before | now | ratio |")
    print("| --- | --- | --- | --- | --- |")
    for name, new in samples["new"].items():
        old = samples["old"].get(name)
        if not old:
            continue
        before, now = statistics.median(old), statistics.median(new)
        ratio = before / now if now else float("inf")
        mark = " **slower**" if ratio < TOLERANCE else ""
        print(f"| {name} | {units[name]} | {before:g} ({min(old):g}…{max(old):g}) "
              f"| {now:g} ({min(new):g}…{max(new):g}) | ×{ratio:.2f}{mark} |")
        if mark:
            slower.append(name)
    rows = len(set(samples["new"]) & set(samples["old"]))
    if not rows:
        print("No row was measured by both builds.", file=sys.stderr)
        return 1
    print(f"\n{rows} rows, {len(slower)} of them more than 5 % slower"
          + "".join(f"\n- {name}" for name in slower))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
