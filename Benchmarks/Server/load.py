"""Requests from many connections at once, by wrk, and what they cost the server."""

import dataclasses
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from figures import Figure

SCRIPT = pathlib.Path(__file__).with_name("walk.lua")


@dataclasses.dataclass
class Round:
    """One turn of a server. Times of answers are in milliseconds, processor time in seconds."""
    answers: int
    seconds: float
    processor: float
    statuses: int = 0
    failures: int = 0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None

    @property
    def rate(self):
        return self.answers / self.seconds

    @property
    def cost(self):
        """Processor seconds for one answer."""
        return self.processor / self.answers


class NoAnswer(RuntimeError):
    """A turn was too short for a single answer."""


@dataclasses.dataclass
class Load:
    """What is asked for, and in which manner."""
    targets: list
    connections: int = 8
    keeps: bool = False
    fields: tuple = ()
    # Whether the answers are to be errors.
    refused: bool = False

    def run(self, server, seconds):
        """One turn of a server that has nothing else to do; before it ends, it has nothing to do again."""
        with tempfile.NamedTemporaryFile("w", prefix="halcyon-targets-") as file:
            file.write("\n".join(self.targets) + "\n")
            file.flush()
            before = server.seconds()
            outcome = subprocess.run(
                ["wrk", "-t1", f"-c{self.connections}", f"-d{seconds}s", "--timeout", "120s",
                 "-s", str(SCRIPT), f"http://127.0.0.1:{server.port}", "--", file.name,
                 "keep" if self.keeps else "close", *self.fields],
                capture_output=True, text=True)
            processor = server.seconds() - before
        if outcome.returncode != 0:
            raise RuntimeError(f"wrk: {outcome.stdout}{outcome.stderr}")
        result = Round(processor=processor, **json.loads(outcome.stdout.splitlines()[-1]))
        settle(server)
        self.check(server, result)
        return result

    def check(self, server, result):
        if result.answers == 0:
            raise NoAnswer(f"{server.name} answered nothing in {result.seconds:.0f} s")
        wanted = result.answers if self.refused else 0
        if result.statuses != wanted or result.failures:
            raise RuntimeError(f"{server.name}: of {result.answers} answers {result.statuses} were errors, "
                               f"and {result.failures} connections failed")


def settle(server, longest=60):
    """Waits until a server has ended what nobody waits for any more."""
    end = time.monotonic() + longest
    before = -1.0
    while (now := server.seconds()) - before > 0.011 and time.monotonic() < end:
        before = now
        time.sleep(0.2)


def in_turns(loads, options, label):
    """Rounds of several servers, each by its load, in an order drawn anew for each round."""
    rounds = {server: [] for server in loads}
    for server, load in loads.items():
        if options.warm_up:
            say(f"{label}: {server.name} warms up")
            answered(load, server, options.warm_up)
    for number in range(1, options.rounds + 1):
        for server in random.sample(list(loads), len(loads)):
            say(f"{label}: round {number} of {options.rounds}, {server.name}")
            rounds[server].append(answered(loads[server], server, options.seconds))
    return rounds


# Seconds of a turn in which any server has to answer.
LONGEST = 120


def answered(load, server, seconds):
    """One turn; without a single answer it is had again, four times as long."""
    try:
        return load.run(server, seconds)
    except NoAnswer:
        if seconds >= LONGEST:
            raise
    return answered(load, server, seconds * 4)


def figure(rounds, name):
    """The median of all rounds and its range; `None` for what the server does not tell."""
    values = [getattr(one, name) for one in rounds]
    return None if None in values else Figure(values)


def say(text):
    print(f"==> {text}", file=sys.stderr, flush=True)
