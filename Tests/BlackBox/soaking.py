"""The parts of a soak test: an origin with pictures and failures, and programs that are watched."""

import json
import pathlib
import random
import signal
import statistics
import threading
import time

from drawing import gif, png
from origin import Origin

PAGE = b"<!DOCTYPE html><html><body>Not here</body></html>"


class Pictures:
    """Pictures of several formats and sizes, and the failures among them."""

    SIZES = [(16, 16), (64, 48), (200, 150), (500, 500), (900, 600)]

    def __init__(self, program):
        folder = program.home / "pictures"
        folder.mkdir()
        self.files = [("gif", 40, 30, gif(40, 30, 12))]
        for seed, (width, height) in enumerate(self.SIZES):
            source = folder / f"{seed}.png"
            source.write_bytes(png(width, height, seed=seed + 1, noise=width <= 200))
            self.files.append(("png", width, height, source.read_bytes()))
            for extension in ("jpg", "webp", "tiff"):
                made = folder / f"{seed}.{extension}"
                outcome = program.load(source, "--output", made)
                assert outcome.code == 0, outcome.summary
                self.files.append((extension, width, height, made.read_bytes()))

    def size(self, path):
        """Width and height of the picture at a path; None where there is a failure."""
        number = int(path.strip("/").split(".")[0])
        # 12 of 100 fail.
        if number % 100 >= 88:
            return None
        return self.files[number % len(self.files)][1:3]

    def handler(self, connection):
        while request := connection.request():
            number = int(request[0].strip("/").split(".")[0])
            data = self.files[number % len(self.files)][3]
            kind = number % 100
            if kind < 88:
                if kind % 8 == 0:
                    time.sleep(0.05)
                connection.answer(data)
            elif kind < 94:
                connection.answer(PAGE, "404 Not Found")
            elif kind < 96:
                connection.answer(PAGE)
            elif kind < 98:
                # Within the first frame: of an animation those before a cut are shown.
                connection.answer(data[:len(data) // 20])
            elif kind == 98:
                connection.answer(data, length=len(data) + 99)
                return
            else:
                return connection.reset()

    def urls(self, origin, first, count):
        return [f"{origin.url}/{number}.{self.files[number % len(self.files)][0]}"
                for number in range(first, first + count)]


class Watched:
    """One kind of program that runs all the time, again and again, and its memory."""

    # As many as a program takes at once: a list in a file may be long, so that one program runs on and
    # on, while arguments take time before anything is loaded.
    SOURCES = {"load": 1000, "prefetch": 60_000}

    def __init__(self, name, program, pictures, origin, arguments, first, count=None):
        """With `count`, one run of so many sources, which has to last for the whole time."""
        self.count = count or self.SOURCES[arguments[0]]
        self.lasts = count is not None
        self.name, self.program, self.pictures, self.origin = name, program, pictures, origin
        self.arguments, self.next = arguments, first
        # The memory over time in bytes, of one run after the other.
        self.memory, self.runs, self.problems, self.rows = [], 0, [], 0
        self.process = None

    def start(self):
        urls = self.pictures.urls(self.origin, self.next, self.count)
        self.next += self.count
        self.runs += 1
        if self.arguments[0] == "prefetch":
            path = self.program.home / f"list-{self.name.replace(' ', '-')}.txt"
            path.write_text("\n".join(urls))
            urls = [str(path)]
        self.process = self.program.start(self.arguments[0], *urls, "--json", *self.arguments[1:])
        for body in (self.read, self.drain):
            threading.Thread(target=body, args=[self.process], daemon=True).start()

    def drain(self, process):
        text = process.stderr.read().decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if not line.startswith("[")]
        if lines:
            self.problems.append(f"{self.name}: {lines[0]}")

    def read(self, process):
        """Compares what the program says with what the origin has."""
        for line in process.stdout:
            row = json.loads(line)
            if "source" not in row:
                continue
            self.rows += 1
            name = row["source"].rsplit("/", 1)[1]
            size = self.pictures.size(name)
            failed = "error" in row
            # A prefetched file is not decoded, so that one that is cut short is not noticed.
            if int(name.split(".")[0]) % 100 in (96, 97) and self.arguments == ["prefetch"]:
                continue
            if failed != (size is None):
                self.problems.append(f"{self.name}: {line.decode().strip()[:200]}")
            elif not failed and "width" in row and "--processor" not in self.arguments \
                    and (row["width"], row["height"]) != size:
                self.problems.append(f"{self.name}: not {size}: {line.decode().strip()[:200]}")

    def look(self):
        """Notes the memory, and starts it again when it has ended."""
        code = self.process.poll()
        if code is not None:
            if code != 1:
                self.problems.append(f"{self.name}: exit code {code}")
            if self.lasts:
                self.problems.append(f"{self.name}: its list is over, so that it begins anew")
            self.start()
        try:
            pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            return 0
        self.memory.append(pages * 4096)
        return pages * 4096

    def stop(self, slow):
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(20 * slow)
        except Exception:
            self.process.kill()
            self.problems.append(f"{self.name}: did not end by SIGINT")
            return
        # Before it listens to signals, they end it as they end any program.
        if code not in (1, 130, -signal.SIGINT):
            self.problems.append(f"{self.name}: exit code {code} by SIGINT")

    def growth(self):
        """The memory in the last quarter of the time and in the second one, in bytes."""
        quarter = len(self.memory) // 4
        if quarter < 2:
            return None
        return (statistics.median(self.memory[-quarter:]),
                statistics.median(self.memory[quarter:2 * quarter]))


class Cancelling:
    """Programs that are stopped in the middle, one after the other."""

    def __init__(self, program, pictures, origin, slow):
        self.program, self.pictures, self.origin = program, pictures, origin
        self.slow = slow
        self.count, self.problems, self.is_over = 0, [], threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        chance = random.Random(7)
        while not self.is_over.is_set():
            first = chance.randrange(10**9)
            process = self.program.start(
                "load", "--json", "--jobs", "20", *self.pictures.urls(self.origin, first, 500))
            time.sleep(chance.uniform(0.05, 2))
            process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
            outcome = self.program.finish(process, 20 * self.slow)
            self.count += 1
            # Before it listens, a signal ends it as it ends any program.
            if outcome.killed or outcome.code not in (0, 1, 130, 143, -2, -15):
                self.problems.append(f"stopped: {outcome.summary}")

    def stop(self):
        self.is_over.set()
        self.thread.join()


def start_origin(pictures):
    return Origin(pictures.handler)
