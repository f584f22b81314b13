"""Measures Halcyon's image server beside others, and prints the tables of Benchmarks/Results/server.md.

usage: scripts/server-bench [OPTION …] [TABLE …]

closed   pictures that have to be made, a connection for each request, 8 at a time
kept     the same over 16 connections that stay
hits     pictures that are kept, answers without a picture, refusals
cost     processor time of a new picture beside that of the library alone
slow     pictures of one server while another one is slow
memory   resident memory: idle, at the peak, after a rest
long     resident memory over many requests

--seconds N     of each turn (30)
--warm-up N     seconds before the first turn (10)
--rounds N      turns of each server (3)
--rest N        seconds before memory is looked at again (30)
--requests N    of the table "long" (20,000; a long run has 1,000,000)
--filter WORD   only rows with this word in their names; may be repeated
--check         whether all of this works: a second for everything, pictures of most rows only once
--markdown      also writes the tables, whole ones only, into Benchmarks/Results/server.md
--program FILE  halcyon-server, built for release; by default it is built
--library FILE  halcyon-benchmarks likewise, for the table "cost"

Nothing else should run meanwhile: load and servers take all cores.
"""

import argparse
import importlib.metadata
import itertools
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Tests/BlackBox"), str(ROOT / "Benchmarks/Peers")]
sys.dont_write_bytecode = True

import cost  # noqa: E402
import hits  # noqa: E402
import misses  # noqa: E402
import strain  # noqa: E402

TABLES = {"closed": misses.closed, "kept": misses.kept, "hits": hits.hits, "cost": cost.cost,
          "slow": strain.slow, "memory": strain.memory, "long": strain.long}


def parsed():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    for name, value in (("seconds", 30), ("warm-up", 10), ("rounds", 3), ("rest", 30), ("requests", 20_000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("tables", nargs="*")
    options = parser.parse_args()
    for name, least in (("seconds", 1), ("warm_up", 0), ("rounds", 1), ("rest", 0), ("requests", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name.replace('_', '-')} is at least {least}")
    if unknown := set(options.tables) - set(TABLES):
        parser.error(f"there is no table {sorted(unknown)[0]}: {', '.join(TABLES)}")
    if options.markdown and (options.check or options.filter):
        parser.error("--markdown is for whole tables: neither --check nor --filter goes with it")
    if options.check:
        options.seconds, options.warm_up, options.rounds, options.rest, options.requests = 1, 0, 1, 0, 500
    options.program, options.library = options.program.resolve(), options.library.resolve()
    options.pictures, options.ceiling = options.folder / "pictures", options.folder / "ceiling"
    options.wants = lambda name: not options.filter or any(
        word.lower() in name.lower() for word in options.filter)
    return options


def machine():
    """What the figures were measured on."""
    def lines(path):
        return pathlib.Path(path).read_text().splitlines()

    def first(*command):
        outcome = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return outcome.stdout.split("\n")[0].strip()

    model = next((line.split(":")[1].strip() for line in lines("/proc/cpuinfo")
                  if line.startswith("model name")), platform.machine())
    memory = int(lines("/proc/meminfo")[0].split()[1]) / 1024 / 1024
    system = next(line.split("=")[1].strip('"') for line in lines("/etc/os-release")
                  if line.startswith("PRETTY_NAME"))
    return [f"- Processor: {model}, {len(os.sched_getaffinity(0))} cores", f"- Memory: {memory:.0f} GB",
            f"- System: {system}, Linux {platform.release()}", f"- {first('swift', '--version')}",
            f"- libvips: {first('pkg-config', '--modversion', 'vips')}", f"- {first('nginx', '-v')}",
            f"- {first('wrk', '-v')}", *(f"- {name}: {version(name)}" for name in ("thumbor", "Pillow"))]


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def write(name, lines):
    """Replaces the lines of a table in the results."""
    file = ROOT / "Benchmarks/Results/server.md"
    begin, end = (re.escape(f"<!-- server {name}: {word}") for word in ("begin", "end"))
    text, count = re.subn(rf"({begin}[^\n]*\n).*?({end})",
                          lambda found: "\n".join([found[1], *lines, "", found[2]]),
                          file.read_text(), flags=re.DOTALL)
    assert count == 1, f"{file} has no place for {name}"
    file.write_text(text)


def main():
    options = parsed()
    failed = False
    with tempfile.TemporaryDirectory(prefix="halcyon-server-bench-", ignore_cleanup_errors=True) as folder:
        numbers = itertools.count(1)

        def new_folder():
            path = pathlib.Path(folder) / str(next(numbers))
            path.mkdir()
            return path

        options.new_folder = new_folder
        print("\n".join(machine()), flush=True)
        if options.markdown:
            write("machine", machine())
        for name in options.tables or TABLES:
            print(f"\n**{name}**\n", flush=True)
            written = [f"**{name}**"]
            try:
                for lines in TABLES[name](options):
                    if lines:
                        print("\n".join(lines) + "\n", flush=True)
                        written += ["", *lines]
                if options.markdown:
                    write(name, written)
            except (RuntimeError, TimeoutError, OSError) as error:
                print(f"failed: {error}", flush=True)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
