"""What libvips alone does of a server's work: no server with it can be faster."""

import pathlib
import subprocess
import tempfile

from contestants import CORES
from load import Round

# What Halcyon's settings are by default.
SUFFIXES = {"jpg": ".jpg[Q=80,strip]", "png": ".png[strip]", "webp": ".webp[Q=79,effort=2,strip]",
            "avif": ".avif[Q=63,effort=1,strip]", "gif": ".gif[effort=3,strip]"}


class Ceiling:
    """Takes turns as a server does, but is a program of its own for each turn."""

    name = "libvips alone"

    def __init__(self, program, pictures):
        self.program, self.pictures = pathlib.Path(program), pathlib.Path(pictures)

    def missing(self):
        return None if self.program.exists() else "it could not be compiled"

    def refuses(self, row):
        return "it has no HTTP" if row.is_remote else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, orders, *arguments):
        with tempfile.NamedTemporaryFile("w", prefix="halcyon-orders-") as file:
            file.write("".join(f"{width} {SUFFIXES[result]} {self.pictures / name}\n"
                               for width, result, name in orders))
            file.flush()
            outcome = subprocess.run([str(self.program), file.name, *map(str, arguments)],
                                     capture_output=True, text=True)
        if outcome.returncode != 0:
            raise RuntimeError(outcome.stderr)
        return outcome.stdout

    def sample(self, row, width, file):
        """The bytes of one picture."""
        with tempfile.NamedTemporaryFile(prefix="halcyon-picture-") as output:
            self.run([(width, row.result, file)], "-w", output.name)
            return pathlib.Path(output.name).read_bytes()


class CeilingLoad:
    """Pictures of a row, as many as come in some seconds."""

    def __init__(self, row):
        self.orders = [(width, row.result, file) for width, file in row.steps()]

    def run(self, ceiling, seconds):
        answers, duration, processor, errors = map(
            float, ceiling.run(self.orders, seconds, CORES).split())
        if errors:
            raise RuntimeError(f"libvips alone: {errors:.0f} pictures were not made")
        return Round(int(answers), duration, processor)
