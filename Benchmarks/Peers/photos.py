"""Photos downloaded, reduced and stored by a program of Python: aiohttp and pyvips, two processes.

usage: photos.py

Speaks as worker.py does: a line with its versions, then an answer to each line of standard input, an
object with `command`, `url`, `first`, `count`, `side`, `connections` and `folder`.
"""

import asyncio
import json
import multiprocessing
import os
import sys
import time

import peak_memory

PROCESSES = 2


async def load(session, request, indices, pyvips):
    """Takes indices until there are none; decoding runs on a thread, beside the downloads."""

    def reduce(data, index):
        image = pyvips.Image.thumbnail_buffer(data, request["side"], height=request["side"])
        # The quality that Halcyon stores with.
        image.jpegsave(os.path.join(request["folder"], f"{index}.jpg"), Q=100)

    for index in indices:
        async with session.get(f"{request['url']}/{request['first'] + index}") as response:
            response.raise_for_status()
            data = await response.read()
        await asyncio.to_thread(reduce, data, index)


async def share(request, number, pyvips):
    import aiohttp

    connections = request["connections"] // PROCESSES
    indices = iter(range(number, request["count"], PROCESSES))
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections)
    ) as session:
        await asyncio.gather(
            *(load(session, request, indices, pyvips) for _ in range(connections))
        )


def process(number, connection):
    import pyvips

    pyvips.cache_set_max(0)
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        cpu = time.process_time()
        asyncio.run(share(request, number, pyvips))
        connection.send((time.process_time() - cpu, peak_memory.current()))


def main():
    import aiohttp
    import pyvips

    version = ".".join(str(pyvips.version(part)) for part in range(3))
    context = multiprocessing.get_context("spawn")
    connections = []
    for number in range(PROCESSES):
        ours, theirs = context.Pipe()
        context.Process(target=process, args=(number, theirs), daemon=True).start()
        theirs.close()
        connections.append(ours)
    print(json.dumps({"version": f"{aiohttp.__version__}, {version}"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        wall = time.perf_counter()
        for connection in connections:
            connection.send(request)
        results = [connection.recv() for connection in connections]
        wall = time.perf_counter() - wall
        if request["command"] == "peak":
            answer = {"value": sum(peak for _, peak in results)}
        else:
            answer = {"wall": wall, "cpu": sum(cpu for cpu, _ in results)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
