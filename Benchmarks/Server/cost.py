"""What a new picture costs the server beside the same work by the library alone."""

import random
import subprocess
import time

from contestants import Halcyon
from figures import Figure, Goal, goals, table
from load import Load, say
from rows import ROWS

NAMES = ["3 MP JPEG", "12 MP JPEG"]


def cost(options):
    """Pictures one after the other, by the server and by a program that has the library in it, in turns."""
    lines, reached = [], []
    if not options.library.exists():
        raise RuntimeError(f"there is no {options.library}")
    with Halcyon(options.new_folder() / "halcyon", options.program, options.pictures) as server:
        for row in ROWS:
            if row.name not in NAMES or not options.wants(row.name):
                continue
            load = Load(row.targets(server, None), connections=1, keeps=True)
            parts = {"server": lambda seconds: of_server(server, load, seconds),
                     "library": lambda seconds: of_library(options, row, seconds)}
            if options.warm_up:
                load.run(server, options.warm_up)
            samples = {name: [] for name in parts}
            for turn in range(1, options.rounds + 1):
                for name in random.sample(list(parts), 2):
                    say(f"cost: {row.name}, round {turn} of {options.rounds}, {name}")
                    samples[name].append(parts[name](options.seconds))
            mine, library = Figure(samples["server"]), Figure(samples["library"])
            gap = mine.median - library.median
            lines.append([row.name, mine.text(1000), library.text(1000), f"{gap * 1000:.2f}"])
            reached.append(Goal(f"{row.name}: more than the library's, ms", gap * 1000, most=0.3))
    yield table(["source", "CPU ms of the server", "CPU ms of the library alone", "more"], lines)
    yield goals(reached)


def of_server(server, load, seconds):
    """Processor seconds for one picture."""
    before = processor(server)
    answers = load.run(server, seconds).answers
    return (processor(server) - before) / answers


def of_library(options, row, seconds):
    """The same of the library: reading, decoding, reducing and encoding."""
    widths = [str(width) for width, _ in row.steps()]
    outcome = subprocess.run(
        [str(options.library), "cost", str(options.pictures / row.files[0]), str(seconds), *widths],
        capture_output=True, text=True)
    if outcome.returncode != 0:
        raise RuntimeError(outcome.stderr)
    count, processor_seconds = map(float, outcome.stdout.split())
    return processor_seconds / count


def processor(server):
    """Processor time so far, to the nanosecond: the clock that clock_getcpuclockid() gives for the process."""
    return time.clock_gettime(~server.process.pid << 3 | 2)
