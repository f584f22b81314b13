"""Pictures that have to be made, by each server in turns."""

import contextlib

from ceiling import Ceiling, CeilingLoad
from contestants import ORIGIN_HOST, FileServer, Halcyon, ImageFilter, Thumbor
from figures import Goal, goals, number, ratio, short, table
from load import Load, figure, in_turns, say
from quality import Sample
from rows import ROWS, TRIAL

HEADS = ["source", "server", "pictures/s", "Halcyon's ratio", "target", "CPU ms", "p50 ms", "p95 ms",
         "p99 ms", "KB", "SSIM"]


def closed(options):
    """A connection for each request, eight at a time."""
    yield from measure(options, connections=8, keeps=False)


def kept(options):
    """Sixteen connections that stay: with fewer, workers that were forked may share them badly."""
    yield from measure(options, connections=16, keeps=True)


def present(options, servers):
    """Those of the servers that are there, and a line for each other one."""
    lines = [f"Left out: {server.name}, as {reason}." for server in servers if (reason := server.missing())]
    return [server for server in servers if not server.missing()], lines


def measure(options, connections, keeps):
    with contextlib.ExitStack() as stack:
        folder, pictures = options.new_folder(), options.pictures
        origin = stack.enter_context(FileServer(folder / "origin", pictures, ORIGIN_HOST))
        halcyon = Halcyon(folder / "halcyon", options.program, pictures, [origin.port])
        peers, left_out = present(options, [
            Ceiling(options.ceiling, pictures), Thumbor(folder / "thumbor", pictures),
            ImageFilter(folder / "image_filter", pictures)])
        servers = [stack.enter_context(server) for server in [halcyon, *peers]]
        lines, notes, reached = [], [], []
        for row in ROWS:
            if not options.wants(row.name):
                continue
            able = [server for server in servers if not server.refuses(row)]
            notes += [f"{row.name}: without {server.name}, as {server.refuses(row)}."
                      for server in servers if server not in able]
            say(f"{row.name}: quality")
            samples = {server: Sample.of(server, row, origin, pictures) for server in able}
            loads = {server: CeilingLoad(row) if isinstance(server, Ceiling) else
                     Load(row.targets(server, origin), connections, keeps) for server in able}
            rounds = in_turns(loads, options, row.name) if not options.check or row.name in TRIAL else {}
            notes += told(row, samples)
            lines += [cells(row, server, halcyon, rounds, samples[server]) for server in able]
            if rounds:
                reached += targets(row, halcyon, rounds, connections)
        yield table(HEADS, lines)
        yield goals(reached)
        yield [*left_out, *notes]


def targets(row, halcyon, rounds, connections):
    """What Halcyon is to reach with the pictures of a row."""
    mine = rounds[halcyon]
    for server, others in rounds.items():
        if row.target and server.name == "thumbor":
            ahead = figure(mine, "rate").median / figure(others, "rate").median
            yield Goal(f"{row.name}: pictures/s, thumbor's times", ahead, least=row.target)
    if row.name == "12 MP JPEG" and connections == 8:
        yield Goal(f"{row.name}: CPU ms", figure(mine, "cost").median * 1000, most=30)
        yield Goal(f"{row.name}: p95 in p50", figure(mine, "p95").median / figure(mine, "p50").median, most=2)


def cells(row, server, halcyon, rounds, sample):
    picture = [number(sample.bytes / 1000), f"{sample.similarity:.4f}"]
    if not rounds:
        return [row.name, server.name, *["–"] * 7, *picture]
    mine = rounds[server]
    rate = figure(mine, "rate")
    ahead = "" if server is halcyon else ratio(figure(rounds[halcyon], "rate"), rate)
    target = f"×{row.target:g}" if row.target and server.name == "thumbor" else ""
    return [row.name, server.name, rate.text(), ahead, target, figure(mine, "cost").text(1000),
            *(short(figure(mine, name)) for name in ("p50", "p95", "p99")), *picture]


def told(row, samples):
    """What is not alike in the pictures of a row."""
    most = max(sample.frames for sample in samples.values())
    for server, sample in samples.items():
        if sample.frames < most:
            yield f"{row.name}: {server.name} makes {sample.frames} of {most} frames."
