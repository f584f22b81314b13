"""Pictures that end, hold or mislead their decoder: they cost themselves, and nobody else."""

import contextlib
import http.client
import os
import pathlib
import shutil
import subprocess
import threading
import time

from case import Cases, Skipped, check, survives
from drawing import plain_png, png, png_pixels
from origin import closed_port
from program import ROOT, Outcome, find_program

CASES = Cases()
# Set by scripts/hostile: whether there are few pictures in the cases of many.
SHORT = False
FOUND = ROOT.parent / "shared/corpus/found-2"


def drawing(content, head='xmlns="http://www.w3.org/2000/svg" width="90" height="90"'):
    return f"<svg {head}>{content}</svg>".encode()


def drawings():
    """Drawings that end librsvg 2.54, or hold it for ever, by name: those of a folder, or ours."""
    flood = '<feFlood flood-color="lime" x="80" y="9" width="9" height="9" result="a"/>'
    own = {
        "a tile of nothing": drawing(
            f'<filter id="f">{flood}<feTile in="a" x="0" y="0" width="90" height="90"/></filter>'
            '<rect x="9" y="9" width="50" height="50" filter="url(#f)"/>'),
        "a private language": drawing(
            '<style>rect:lang(x-word){fill:red}</style>'
            '<g xml:lang="en"><rect width="50" height="50"/></g>'),
        "endless octaves without a size": drawing(
            '<filter id="a"><feTurbulence numOctaves="44444444444"/></filter>'
            '<path d="m9 9 H1 V1" filter="url(#a)"/>', head=""),
        "a pattern of a billion": drawing(
            '<pattern id="p" width="1e9" height="1e9" patternUnits="userSpaceOnUse">'
            '<rect width="1" height="1"/></pattern><rect width="90" height="90" fill="url(#p)"/>'),
    }
    found = {path.name: path.read_bytes() for path in sorted(FOUND.glob("svg-*.svg"))}
    return found or own


for name, data in drawings().items():
    @CASES.add(f"killers: {name}, beside a picture", "one picture at least", seconds=15, memory=560)
    def beside(program, case, data=data):
        killer, good = program.home / "killer.svg", program.home / "good.png"
        killer.write_bytes(data)
        good.write_bytes(png())
        outcome = program.load(killer, good, "--decoding-timeout", "3", limit=case.seconds * 4)
        survives(outcome)
        check(any(row["source"].endswith("good.png") for row in outcome.loaded), outcome.summary)
        return outcome

    @CASES.add(f"killers: what is told of {name}", "within the limits", seconds=45, memory=560)
    def told(program, case, data=data):
        path = program.home / "killer.svg"
        path.write_bytes(data)
        outcome = program.run("info", "--json", str(path), limit=case.seconds * 4)
        survives(outcome)
        return outcome


def served(port, name, width=30):
    """The status of a picture that a server makes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=90)
    with contextlib.closing(connection):
        connection.request("GET", f"/_/rs:fit:{width}:{width}/plain/local:///{name}@png")
        response = connection.getresponse()
        body = response.read()
        return response.status if response.status != 200 or body[:4] == b"\x89PNG" else 0


def beside_it(program, name):
    """A program of the same build as the one that is tested, or one that there is."""
    path = pathlib.Path(program.path).with_name(name)
    path = path if path.exists() else find_program(name)
    if not path:
        raise Skipped(f"there is no {name}: swift build --product {name}")
    return path


@contextlib.contextmanager
def server(program, folder):
    """A server of the pictures in a folder; its process and port."""
    path = beside_it(program, "halcyon-server")
    port = closed_port()
    environment = dict(os.environ, HOME=str(program.home), SWIFT_BACKTRACE="enable=no")
    process = subprocess.Popen(
        [path, "--bind", f"127.0.0.1:{port}", "--ops-bind", "off", "--unsigned",
         "--local-root", folder, "--cache-directory", program.home / "server",
         "--log-level", "error"],
        env=environment, cwd=program.home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            with contextlib.suppress(OSError):
                served(port, "none.png")
                break
            time.sleep(0.05)
        yield process, port
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@CASES.add("killers: all drawings at once, to a server", "pictures all the time", seconds=120,
           memory=1500)
def at_once(program, case):
    began = time.monotonic()
    folder = program.home / "pictures"
    folder.mkdir()
    for number in range(100):
        (folder / f"good{number}.png").write_bytes(png(40, 40, seed=number))
    names = []
    for number, data in enumerate(drawings().values()):
        names.append(f"killer{number}.svg")
        (folder / names[-1]).write_bytes(data)
    with server(program, folder) as (process, port):
        killed = {}

        def ask(name):
            with contextlib.suppress(OSError):
                killed[name] = served(port, name)

        threads = [threading.Thread(target=ask, args=(name,), daemon=True) for name in names]
        for thread in threads:
            thread.start()
        statuses = [served(port, f"good{number}.png") for number in range(100)]
        check(statuses == [200] * 100, f"{statuses.count(200)} of 100 pictures")
        for thread in threads:
            thread.join(90)
        check(len(killed) == len(names), f"{len(names) - len(killed)} without an answer")
        check(0 not in killed.values(), "what is no picture as one")
        check(process.poll() is None, "the server has ended")
        # Once more, now that it knows them.
        check(served(port, "good0.png", width=20) == 200, "no picture afterwards")
    outcome = Outcome(0, "", f"100 pictures, and {sorted(killed.values())}",
                      time.monotonic() - began, 0, False)
    return outcome


@CASES.add("killers: all drawings in the gallery", "the picture beside them", seconds=60, memory=1500)
def in_gallery(program, case):
    began = time.monotonic()
    path = beside_it(program, "halcyon-gallery")
    if not shutil.which("xvfb-run"):
        raise Skipped("there is no xvfb-run")
    folder, screen = program.home / "pictures", program.home / "screen.png"
    folder.mkdir()
    (folder / "black.png").write_bytes(plain_png(64, 64, 8, 2))
    for number, data in enumerate(drawings().values()):
        (folder / f"killer{number}.svg").write_bytes(data)
    environment = dict(os.environ, HOME=str(program.home), SWIFT_BACKTRACE="enable=no",
                       TMPDIR=str(program.home), GSK_RENDERER="cairo", GTK_A11Y="none")
    process = subprocess.run(
        ["xvfb-run", "-a", path, folder, "--page", "grid", "--screenshot", screen, "--at", "5"],
        env=environment, cwd=program.home, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=case.seconds * 4)
    check(process.returncode == 0, f"exit code {process.returncode}: {process.stderr}")
    black = sum(pixel[:3] == bytes(3) for pixel in png_pixels(screen.read_bytes()))
    # A cell of the grid has 22,000 pixels; text is black, too.
    check(black > 10_000, f"{black} black pixels")
    return Outcome(0, "", f"{black} pixels of the picture", time.monotonic() - began, 0, False)


# Actions of DecodingTrial: those that end a worker at once, and those that have to be waited for.
QUICK = ("abort,outside,recurse,fork,execute,connect,flood,none,zero,frames,cut,twice,other,stop,exit,"
         "errors,size,channels,depth,huge,svg-tile,svg-language")
SLOW = "spin,sleep,allocate,svg-turbulence"


def mixed(program, case, good, killers, actions, *options):
    path = beside_it(program, "DecodingTrial")
    environment = dict(os.environ, HOME=str(program.home), SWIFT_BACKTRACE="enable=no")
    process = subprocess.Popen(
        [path, "mixed", str(good), str(killers), "--actions", actions, *options],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    outcome = program.finish(process, limit=case.seconds * 4)
    check(outcome.code in (0, 1) and not outcome.killed, outcome.summary)
    passes = {row["pass"]: row for row in outcome.rows if "pass" in row}
    last = outcome.rows[-1]
    check(set(passes) == {"alone", "mixed"} and "throughput" in last, outcome.summary)
    for row in passes.values():
        check(row["wrong"] == 0 and row["lost"] == 0 and row["right"] == good,
              f"{row['pass']}: {row['right']} right, {row['wrong']} wrong, {row['lost']} lost")
    outcome.out = ""
    alone, both = passes["alone"], passes["mixed"]
    outcome.err = (f"{alone['good a second']} a second alone, {both['good a second']} mixed "
                   f"({last['throughput']}), longest {both['longest']} ms, {last['started']} started, "
                   f"{last['died']} died, {last['killed']} killed")
    return outcome


@CASES.add("killers: many pictures with some that end their decoder", "all others right",
           seconds=1200, memory=2000)
def quick(program, case):
    good, killers = (200, 20) if SHORT else (10_000, 1_000)
    return mixed(program, case, good, killers, QUICK, "--size", "400x300")


@CASES.add("killers: many pictures with the same few killers again and again", "all others right",
           seconds=1200, memory=2000)
def alike(program, case):
    good, killers = (200, 20) if SHORT else (10_000, 1_000)
    return mixed(program, case, good, killers, f"{QUICK},{SLOW}", "--size", "400x300", "--limit",
                 "1000", "--alike")


@CASES.add("killers: many pictures with some that hold their decoder", "all others right",
           seconds=1200, memory=2000)
def slow(program, case):
    good, killers = (100, 4) if SHORT else (2_000, 200)
    return mixed(program, case, good, killers, SLOW, "--size", "400x300", "--limit", "1000")
