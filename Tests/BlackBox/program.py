"""Running the program `halcyon` from outside, with its time, memory and end measured."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def find_program(name="halcyon"):
    """The program of the folder that HALCYON_PROGRAMS names, else of the release build, else of the debug build; None
    when there is none."""
    folders = [os.environ.get("HALCYON_PROGRAMS"), *(ROOT / ".build" / kind
                                                     for kind in ("release", "debug"))]
    files = (pathlib.Path(folder) / name for folder in folders if folder)
    return next((file for file in files if file.exists()), None)


class Outcome:
    """What became of one run."""

    def __init__(self, code, out, err, seconds, peak, killed):
        self.code, self.out, self.err = code, out, err
        self.seconds, self.peak, self.killed = seconds, peak, killed

    @property
    def rows(self):
        rows = []
        for line in self.out.splitlines():
            try:
                rows.append(json.loads(line))
            except ValueError:
                pass
        return rows

    @property
    def errors(self):
        return [row["error"] for row in self.rows if row.get("error")]

    @property
    def loaded(self):
        return [row for row in self.rows if "width" in row]

    @property
    def summary(self):
        """The end in a few words."""
        if self.killed:
            return "did not end"
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        if self.errors:
            error = self.errors[0]
            return f"{error['code']}: {error['message']}"
        if self.loaded:
            row = self.loaded[0]
            more = f" ({len(self.loaded)})" if len(self.loaded) > 1 else ""
            return f"{row['width']}×{row['height']} {row['format']}{more}"
        return (self.err.strip().splitlines() or [f"exit code {self.code}"])[-1]


class Program:
    """`halcyon`, with a home folder and a cache of its own."""

    def __init__(self, path):
        self.path = str(pathlib.Path(path).resolve())
        self.folder = tempfile.TemporaryDirectory(prefix="halcyon-black-box-")
        self.home = pathlib.Path(self.folder.name)
        self.cache = self.home / "cache"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def start(self, *arguments, cache=None, stdin=subprocess.DEVNULL):
        """Starts it in the background."""
        # A crash is told by its signal; the runtime's own report would hold the pipes for long.
        environment = dict(os.environ, HOME=str(self.home), XDG_CACHE_HOME=str(self.home / "xdg"),
                           SWIFT_BACKTRACE="enable=no")
        command = [self.path, *arguments]
        if arguments[0] in ("load", "prefetch", "cache"):
            command += ["--cache-directory", str(cache or self.cache)]
        return subprocess.Popen(
            command, cwd=self.home, env=environment, stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *arguments, limit=60, cache=None):
        """Runs it to its end, or for `limit` seconds."""
        return self.finish(self.start(*arguments, cache=cache), limit)

    def load(self, *arguments, limit=60, cache=None):
        return self.run("load", "--json", *map(str, arguments), limit=limit, cache=cache)

    def finish(self, process, limit=60):
        """Waits for the end of what `start` has started."""
        began = time.monotonic()
        parts = {}

        def read(name, stream):
            parts[name] = stream.read().decode("utf-8", "replace")

        readers = [threading.Thread(target=read, args=pair, daemon=True)
                   for pair in (("out", process.stdout), ("err", process.stderr))]
        for reader in readers:
            reader.start()
        killed = threading.Event()

        def kill():
            killed.set()
            process.kill()

        timer = threading.Timer(limit, kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()
        return Outcome(process.returncode, parts["out"], parts["err"],
                       time.monotonic() - began, usage.ru_maxrss * 1024, killed.is_set())
