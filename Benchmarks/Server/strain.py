"""One server that is slow, and memory."""

import asyncio
import contextlib
import random
import threading
import time

from contestants import ORIGIN_HOST, FileServer, Halcyon, ImageFilter, Thumbor
from drawing import png
from figures import Figure, Goal, goals, number, ratio, table
from load import Load, figure, say, settle
from misses import present
from origin import Origin
from rows import ROWS, SMALL

MEGABYTE = 1_000_000
# A server that takes so long for an answer, and how often it is asked in a round.
DELAY, SLOW_REQUESTS = 10, 500


def slow(options):
    """Pictures of one server while another one takes ten seconds for each answer."""
    row = next(row for row in ROWS if row.is_remote)

    def handler(connection):
        while connection.request():
            time.sleep(DELAY)
            connection.answer(png())

    with contextlib.ExitStack() as stack:
        folder = options.new_folder()
        late = stack.enter_context(Origin(handler))
        origin = stack.enter_context(FileServer(folder / "origin", options.pictures, ORIGIN_HOST))
        server = stack.enter_context(Halcyon(
            folder / "halcyon", options.program, options.pictures, [origin.port, late.port],
            [*Halcyon.UNCACHED, "sources.http.stallTimeout=30", "sources.http.totalTimeout=30"]))
        load = Load(row.targets(server, origin))
        targets = [server.target(row, 100, None, f"{late.url}/{number}.jpg")
                   for number in range(SLOW_REQUESTS)]
        rounds = {"alone": [], "beside it": []}
        if options.warm_up:
            load.run(server, options.warm_up)
        for turn in range(1, options.rounds + 1):
            for name in random.sample(list(rounds), 2):
                say(f"a slow server: round {turn} of {options.rounds}, {name}")
                with Disturbance(server, targets, options.seconds) if name != "alone" else \
                        contextlib.nullcontext():
                    rounds[name].append(load.run(server, options.seconds))
                settle(server)
        alone, beside = (figure(rounds[name], "rate") for name in rounds)
        yield table(["", "pictures/s", "of that"], [
            ["alone", alone.text(), "×1"],
            [f"beside {SLOW_REQUESTS} requests to a slow server", beside.text(), ratio(beside, alone)]])
        yield goals([Goal("what is left of the pictures/s", beside.median / alone.median, least=0.9)])


class Disturbance:
    """Asks for other pictures meanwhile, evenly over some seconds, and leaves when it is over."""

    def __init__(self, server, targets, seconds):
        self.server, self.targets, self.pause = server, targets, seconds / len(targets)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        self.main = self.loop.create_task(self.ask_all())
        self.thread.start()

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.main.cancel)
        self.thread.join()

    def work(self):
        with contextlib.suppress(asyncio.CancelledError):
            self.loop.run_until_complete(self.main)
        self.loop.close()

    async def ask_all(self):
        async with asyncio.TaskGroup() as group:
            for target in self.targets:
                group.create_task(self.ask(target))
                await asyncio.sleep(self.pause)

    async def ask(self, target):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        try:
            writer.write(f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
            await reader.read()
        finally:
            writer.close()


def memory(options):
    """Resident memory before, at the peak of eight pictures of 12 MP at a time, and after a rest."""
    folder, lines, reached = options.new_folder(), [], []
    servers, left_out = present(options, [
        Thumbor(folder / "thumbor", options.pictures), ImageFilter(folder / "filter", options.pictures)])
    row = next(row for row in ROWS if row.name == "12 MP JPEG")
    for server in [Halcyon(folder / "halcyon", options.program, options.pictures), *servers]:
        with server:
            settle(server)
            idle = server.resident()
            say(f"memory: {server.name}")
            Load(row.targets(server, None)).run(server, options.seconds)
            peak = server.peak()
            time.sleep(options.rest)
            lines.append([server.name, *(number(value / MEGABYTE)
                                         for value in (idle, peak, server.resident()))])
            if isinstance(server, Halcyon):
                reached = [Goal("idle, MB", idle / MEGABYTE, most=80), Goal("peak, MB", peak / MEGABYTE, most=350)]
    yield table(["server", "idle, MB", "peak at 8 × 12 MP, MB", f"{options.rest} s later, MB"], lines)
    yield goals(reached)
    yield left_out


def long(options):
    """Resident memory over many requests: small pictures, in three formats and all widths, none of them kept."""
    with Halcyon(options.new_folder() / "halcyon", options.program, options.pictures) as server:
        formats = [row for row in ROWS if row.name in ("3 MP JPEG", "3 MP JPEG → WebP", "1.3 MP PNG")]
        targets = [server.target(formats[(number + width) % 3], width, file, None)
                   for width in range(100, 200) for number, file in enumerate(SMALL)]
        random.Random(1).shuffle(targets)
        settle(server)
        sizes, asked, seconds = [server.resident()], 0, 0.0
        for tenth in range(1, 11):
            while asked < options.requests * tenth / 10:
                missing = options.requests * tenth / 10 - asked
                # At least a second, at most ten: as long as the rate so far says.
                duration = 1 if not asked else max(1, min(10, round(missing * seconds / asked)))
                result = Load(targets, 16, keeps=tenth % 2 == 0).run(server, duration)
                asked, seconds = asked + result.answers, seconds + result.seconds
            say(f"memory over many requests: {asked}")
            sizes.append(server.resident())
    later = Figure(sizes[len(sizes) // 2:])
    yield table(["requests", *(f"{10 * tenth} %" for tenth in range(11))],
                [[f"{asked:,}", *(number(size / MEGABYTE) for size in sizes)]])
    yield [f"MB resident at the start and after each tenth; in the second half {later.text(1 / MEGABYTE)}."]
