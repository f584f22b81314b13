"""What libvips alone does of a server's work: no server with it can be faster."""

import pathlib
import signal
import subprocess
import tempfile

from contestants import CORES
from load import Round

# What Halcyon's settings are by default.
QUALITIES = {"jpg": 80, "webp": 79, "avif": 63}
EFFORTS = {"webp": 2, "avif": 1, "gif": 3}


def suffix(row):
    """How libvips is told a format."""
    values = {"Q": row.quality or QUALITIES.get(row.result), "effort": EFFORTS.get(row.result)}
    told = [f"{name}={value}" for name, value in values.items() if value is not None]
    return f".{row.result}[{','.join([*told, 'strip'])}]"


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
            file.write("".join(f"{width} {options} {self.pictures / name}\n"
                               for width, options, name in orders))
            file.flush()
            for _ in range(5):
                outcome = subprocess.run([str(self.program), file.name, *map(str, arguments)],
                                         capture_output=True, text=True)
                # The Orc of Debian 12 ends a program of several threads now and then.
                if outcome.returncode != -signal.SIGSEGV:
                    break
        if outcome.returncode != 0:
            raise RuntimeError(outcome.stderr or f"it ended with {outcome.returncode}")
        return outcome.stdout

    def sample(self, row, width, file):
        """The bytes of one picture."""
        with tempfile.NamedTemporaryFile(prefix="halcyon-picture-") as output:
            self.run([(width, suffix(row), file)], "-w", output.name)
            return pathlib.Path(output.name).read_bytes()


class CeilingLoad:
    """Pictures of a row, as many as come in some seconds."""

    def __init__(self, row):
        self.orders = [(width, suffix(row), file) for width, file in row.steps()]

    def run(self, ceiling, seconds):
        answers, duration, processor, errors = map(
            float, ceiling.run(self.orders, seconds, CORES).split())
        if errors:
            raise RuntimeError(f"libvips alone: {errors:.0f} pictures were not made")
        return Round(int(answers), duration, processor)
