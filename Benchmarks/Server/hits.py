"""Answers without work on pictures: from the caches, not modified, refused."""

import contextlib
import threading

from contestants import FileServer, Halcyon, Thumbor
from figures import Goal, goals, number, short, table
from load import Load, figure, in_turns
from misses import present
from origin import Origin
from quality import get
from rows import ROWS

HEADS = ["answer", "server", "answers/s", "CPU µs", "answers/s for each core busy", "p50 ms", "p99 ms"]
CONNECTIONS = 16
# Answers per second that each core is to give, by Halcyon.
LEAST = {"from memory": 15_000, "from the disk": 4_000, "304": 20_000, "429": 20_000}
ROW = next(row for row in ROWS if row.name == "3 MP JPEG")


def hits(options):
    """Pictures of about 20 KB that were made before, over connections that stay."""
    with contextlib.ExitStack() as stack:
        folder, pictures = options.new_folder(), options.pictures
        memory = stack.enter_context(
            Halcyon(folder / "memory", options.program, pictures, settings=()))
        disk = stack.enter_context(Halcyon(
            folder / "disk", options.program, pictures, settings=["cache.results.memoryBytes=0"]))
        widths = about_20_kilobytes(memory)
        loads = {"from memory": {memory: load(memory, widths, "detail=memory")},
                 "from the disk": {disk: load(disk, widths, "detail=disk")},
                 "304": {memory: unmodified(memory, widths)}}
        peers, left_out = present(options, [stored_by_thumbor(folder, pictures)])
        for thumbor in peers:
            stack.enter_context(thumbor)
            loads["from the disk"][thumbor] = load(thumbor, widths)
        plain = stack.enter_context(plain_files(folder, memory, widths))
        loads["from the disk"][plain] = Load(
            [f"/0/{width}.jpg" for width in widths], CONNECTIONS, keeps=True)
        measured = {name: in_turns(servers, options, name)
                    for name, servers in loads.items() if options.wants(name)}
        if options.wants("429"):
            measured["429"] = refusals(options, folder)
        yield table(HEADS, [line for name, rounds in measured.items() for line in rows(name, rounds)])
        yield goals([
            Goal(f"{name}: answers/s for each core busy", 1 / figure(mine, "cost").median, LEAST[name])
            for name, rounds in measured.items() for server, mine in rounds.items() if isinstance(server, Halcyon)])
        yield left_out


def rows(name, rounds):
    for server, mine in rounds.items():
        cost = figure(mine, "cost")
        yield [name, server.name, figure(mine, "rate").text(), cost.text(1e6), number(1 / cost.median),
               short(figure(mine, "p50")), short(figure(mine, "p99"))]


def target(server, width):
    return server.target(ROW, width, ROW.files[0], None)


def about_20_kilobytes(server):
    """Twenty widths of pictures that have about 20,000 bytes."""
    sizes = {width: len(get(server, target(server, width))[2]) for width in range(200, 500, 20)}
    best = min(sizes, key=lambda width: abs(sizes[width] - 20_000))
    return list(range(best - 10, best + 10))


def load(server, widths, found=None):
    """What asks for pictures that are kept; `found` is how the answers tell of that."""
    targets = [target(server, width) for width in widths]
    for one in targets:
        get(server, one)
    for one in targets:
        status, fields, _ = get(server, one)
        told = fields.get("Cache-Status", "")
        if status != 200 or (found and found not in told):
            raise RuntimeError(f"{server.name}: status {status}, Cache-Status “{told}” for {one}")
    return Load(targets, CONNECTIONS, keeps=True)


def unmodified(server, widths):
    """What has one of the pictures already."""
    one = target(server, widths[0])
    tag = get(server, one)[1]["ETag"]
    status = get(server, one, {"If-None-Match": tag})[0]
    if status != 304:
        raise RuntimeError(f"{server.name}: status {status} in place of 304 for {one}")
    return Load([one], CONNECTIONS, keeps=True, fields=(f"If-None-Match: {tag}",))


def stored_by_thumbor(folder, pictures):
    return Thumbor(folder / "thumbor", pictures, [
        "RESULT_STORAGE = 'thumbor.result_storages.file_storage'", "RESULT_STORAGE_STORES_UNSAFE = True",
        f"RESULT_STORAGE_FILE_STORAGE_ROOT_PATH = {str(folder / 'results')!r}"])


def plain_files(folder, server, widths):
    """The same pictures as files: what nginx does without any work on them."""
    files = folder / "files"
    files.mkdir()
    for width in widths:
        (files / f"{width}.jpg").write_bytes(get(server, target(server, width))[2])
    return FileServer(folder / "plain", files)


def refusals(options, folder):
    """A server whose one place for fetching is taken, and whose queue has none."""
    asked, ended = threading.Event(), threading.Event()

    def silent(connection):
        connection.request()
        asked.set()
        ended.wait()

    with Origin(silent) as origin, Halcyon(folder / "full", options.program, options.pictures, [origin.port], [
            "work.downloads=1", "work.queue=0", "work.requestTimeout=3600", "cache.negativeTTL=0",
            "sources.http.stallTimeout=3600", "sources.http.totalTimeout=3600"]) as server:
        urls = [f"{origin.url}/{number}.jpg" for number in range(1000)]
        targets = [server.target(ROW, 100, None, url) for url in urls]
        holder = threading.Thread(target=leave_unanswered, args=(server, targets[0]), daemon=True)
        holder.start()
        if not asked.wait(20):
            raise RuntimeError("the silent server is not asked")
        status = get(server, targets[1])[0]
        if status != 429:
            raise RuntimeError(f"status {status} in place of 429")
        full = Load(targets[1:], CONNECTIONS, keeps=True, refused=True)
        result = in_turns({server: full}, options, "429")
        ended.set()
    return result


def leave_unanswered(server, target):
    try:
        get(server, target)
    except OSError:
        # The server has ended, or it took longer than anyone waits.
        pass
