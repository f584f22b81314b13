"""Orders to forget, given over HTTP to one server and obeyed by all."""

import http.client
import random
import struct
import threading
import zlib

from case import check
from cluster import Client, Cluster, ClusterCases, Cut, ask_all, clock, wait_until
from cluster_redis import REDIS, UNHURRIED, Redis
from cluster_s3 import SeaweedFS
from drawing import SIGNATURE, chunk, png_header

CASES = ClusterCases()
# How long after the answer to an order a server may still answer with what it had, in seconds of the clock.
GRACE = 1


def painted(version):
    """A picture of one colour, which is the number of its version."""
    row = b"\0" + struct.pack(">I", version)[1:] * 8
    return (SIGNATURE + png_header(8, 8) + chunk(b"IDAT", zlib.compress(row * 8, 1))
            + chunk(b"IEND", b""))


def version(png):
    """The colour of the first pixel, for which no filter of PNG does anything."""
    place, data, palette = 8, b"", b""
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place:place + 8])
        body = png[place + 8:place + 8 + length]
        if kind == b"IHDR":
            depth, colour = body[8:10]
        palette = body if kind == b"PLTE" else palette
        data += body if kind == b"IDAT" else b""
        place += 12 + length
    pixel = zlib.decompress(data)[1:]
    if colour == 3:
        index = pixel[0] >> (8 - depth)
        pixel = palette[3 * index:]
    elif colour in (0, 4):
        # Grey of all kinds of depth is the same three times.
        grey = pixel[0] if depth >= 8 else (pixel[0] >> (8 - depth)) * 255 // ((1 << depth) - 1)
        pixel = bytes([grey]) * 3
    elif depth == 16:
        pixel = pixel[0:6:2]
    return int.from_bytes(pixel[:3], "big")


class ChangingOrigin:
    """Gives each path the picture of its version, good for an hour: who has it does not ask again by itself."""

    def __init__(self):
        self.versions, self.fetches, self.lock = {}, 0, threading.Lock()

    def __call__(self, connection):
        while request := connection.request():
            path, fields = request
            with self.lock:
                self.fetches += 1
                current = self.versions.get(path, 1)
            lines = [f'ETag: "{current}"', "Cache-Control: max-age=3600"]
            if fields.get("if-none-match") == f'"{current}"':
                head = "\r\n".join(["HTTP/1.1 304 Not Modified", *lines])
                connection.send(head + "\r\n\r\n")
            else:
                connection.answer(painted(current), fields=["Content-Type: image/png", *lines])

    def change(self, paths, to):
        with self.lock:
            for path in paths:
                self.versions[path] = to


class PurgedCluster(Cluster):
    """Servers that share a Redis and a store, and an origin whose pictures change without a word."""

    def __init__(self, program, count):
        self.redis = Redis()
        super().__init__(program, count, ChangingOrigin(), UNHURRIED)
        self.store = SeaweedFS(self.folder)
        for node in self.nodes:
            node.settings += [f"shared.redis.address=127.0.0.1:{self.redis.port}",
                              *self.store.settings]

    def __enter__(self):
        self.add(self.redis)
        self.add(self.store)
        return super().__enter__()

    def picture(self, path, options="w:4/f:png"):
        return self.target(path.removeprefix("/"), options)

    def seen(self, path, options="w:4/f:png"):
        """The version that each server answers with."""
        answers = [Client(node.port).get(self.picture(path, options)) for node in self.nodes]
        check({answer.status for answer in answers} == {200}, "not all answers are 200")
        return [version(answer.body) for answer in answers]


def places(cluster, path):
    """Where each server has found a picture."""
    answers = [Client(node.port).get(cluster.picture(path)) for node in cluster.nodes]
    return [answer.fields["Cache-Status"] for answer in answers]


@CASES.add("an order to forget, given to one of three servers, reaches all", [*REDIS, "curl"],
           short=True)
def reaches_all(program):
    with PurgedCluster(program, 3) as cluster:
        url, path = cluster.origin.url, "/a/one.png"
        orders = [("source", {"source": url + path}), ("prefix", {"prefix": f"{url}/a/"}),
                  ("all", {"all": True})]
        slowest = 0.0
        for number, (kind, order) in enumerate(orders, 2):
            for options in ("w:4/f:png", "w:6/f:png"):
                check(set(cluster.seen(path, options)) == {number - 1}, "another picture before")
            check(set(cluster.seen("/b/other.png")) == {1}, "another picture elsewhere")
            cluster.pictures.change([path], number)
            check(set(cluster.seen(path)) == {number - 1}, "the picture changed without an order")
            report = cluster.nodes[number % 3].purge(**order)
            answered = clock.now()
            check(report.get("told") is True, f"{kind}: {report}")
            wait_until(lambda: all(set(cluster.seen(path, options)) == {number}
                                   for options in ("w:4/f:png", "w:6/f:png")), what=kind)
            slowest = max(slowest, clock.now() - answered)
            check(slowest < GRACE + 2, f"{kind}: {slowest:.1f} s until all had the new picture")
            check("detail=memory" in places(cluster, "/b/other.png")[0] or kind == "all",
                  f"{kind}: what was not meant is gone")
        # What a server has on its disk is new, too.
        for node in cluster.nodes:
            node.stop()
            node.start()
        check(set(cluster.seen(path)) == {number}, "an old picture came back from a disk")
        return f"by source, prefix and all; the slowest reached all after {slowest:.2f} s"


@CASES.add("an order to forget a URL of the server is obeyed by all", [*REDIS, "curl"])
def url_reaches_all(program):
    with PurgedCluster(program, 3) as cluster:
        path = "/a/one.png"
        cluster.seen(path)
        cluster.seen(path, "w:6/f:png")
        check(all("detail=memory" in place for place in places(cluster, path)), "not in memory")
        before = cluster.decodes()
        report = cluster.nodes[2].purge(url=cluster.picture(path))
        check(report.get("told") is True and report["results"] == 1, f"{report}")
        clock.sleep(GRACE)
        found = places(cluster, path)
        check(not any("detail=memory" in place or "detail=disk" in place for place in found),
              f"still there: {found}")
        made = cluster.decodes() - before
        check(made >= 1, "nobody has made it again")
        other = Client(cluster.nodes[0].port).get(cluster.picture(path, "w:6/f:png"))
        check("detail=memory" in other.fields["Cache-Status"], "another picture of the source is gone")
        return f"made again {made} time(s), other pictures of the source stay"


@CASES.add("an order to forget without Redis says that nobody was told", ["redis-server", "curl"])
def untold(program):
    with PurgedCluster(program, 2) as cluster:
        path = "/a/one.png"
        cluster.seen(path)
        cluster.redis.stop()
        cluster.pictures.change([path], 2)
        report = cluster.nodes[0].purge(source=cluster.origin.url + path)
        check(report.get("told") is False, f"{report}")
        check(cluster.seen(path)[0] == 2, "the server that was ordered has the old picture")
        return "told: false, and the server that was ordered has the new picture"


class Purger:
    """Changes pictures and orders servers to forget them, from several threads; remembers what may be seen."""

    folders, files = 10, 5

    def __init__(self, cluster, count, seed):
        self.cluster, self.left, self.random = cluster, count, random.Random(seed)
        self.paths = [f"/{folder}/{file}.png" for folder in range(self.folders)
                      for file in range(self.files)]
        # One order at a time for each folder, so that the newest version is the greatest.
        self.busy = [threading.Lock() for _ in range(self.folders)]
        self.lock = threading.Lock()
        self.number = 1
        # For each path, when which version was ordered by the answer.
        self.answered = {path: [(0.0, 1)] for path in self.paths}
        self.kinds, self.wrong = {"source": 0, "prefix": 0, "all": 0}, []

    def least(self, path, now):
        """The oldest version that may be seen in an answer to a request of now."""
        with self.lock:
            orders = self.answered[path]
            while len(orders) > 1 and orders[1][0] <= now - GRACE:
                orders.pop(0)
            return orders[0][1]

    def step(self):
        """One order; whether there was one left."""
        with self.lock:
            if not self.left:
                return False
            self.left -= 1
            draw = self.random.random()
            folder, file = self.random.randrange(self.folders), self.random.randrange(self.files)
            node = self.random.choice(self.cluster.nodes)
        if draw < 0.005:
            kind, folders = "all", range(self.folders)
        else:
            kind, folders = "prefix" if draw < 0.2 else "source", [folder]
        for one in folders:
            self.busy[one].acquire()
        try:
            url = self.cluster.origin.url
            path = f"/{folder}/{file}.png"
            paths, order = {
                "source": ([path], {"source": url + path}),
                "prefix": ([name for name in self.paths if name.startswith(f"/{folder}/")],
                           {"prefix": f"{url}/{folder}/"}),
                "all": (self.paths, {"all": True})}[kind]
            with self.lock:
                self.number += 1
                number = self.number
            self.cluster.pictures.change(paths, number)
            report = node.purge(**order)
            now = clock.now()
            with self.lock:
                self.kinds[kind] += 1
                if report.get("told") is not True:
                    self.wrong.append(f"{kind}: {report}")
                for name in paths:
                    self.answered[name].append((now, number))
        finally:
            for one in folders:
                self.busy[one].release()
        return True


def many(program, count, servers=4):
    seed = random.randrange(1 << 32)
    with PurgedCluster(program, servers) as cluster:
        purger, ended = Purger(cluster, count, seed), threading.Event()
        seen, old, failed = [0], [], []
        options = ("w:4/f:png", "w:6/f:png", "h:2/f:png")

        def read(seed):
            dice = random.Random(seed)
            clients = [Client(node.port) for node in cluster.nodes]
            while not ended.is_set():
                path = dice.choice(purger.paths)
                least = purger.least(path, clock.now())
                try:
                    answer = dice.choice(clients).get(cluster.picture(path, dice.choice(options)))
                except (Cut, OSError, http.client.HTTPException) as error:
                    failed.append(repr(error))
                    continue
                seen[0] += 1
                if answer.status != 200:
                    failed.append(answer.status)
                elif (found := version(answer.body)) < least:
                    old.append(f"{path}: {found} in place of {least} or newer")

        def purge():
            try:
                while purger.step():
                    pass
            except OSError as error:
                purger.wrong.append(repr(error))

        ask_all([(node.port, cluster.picture(path)) for path in purger.paths
                 for node in cluster.nodes], threads=8)
        readers = [threading.Thread(target=read, args=(seed + number,)) for number in range(6)]
        purgers = [threading.Thread(target=purge) for _ in range(3)]
        began = clock.now()
        for thread in readers + purgers:
            thread.start()
        for thread in purgers:
            thread.join()
        seconds = clock.now() - began
        # What came last has to be seen, too.
        clock.sleep(GRACE)
        ended.set()
        for thread in readers:
            thread.join()
        for path in purger.paths:
            for name in options:
                least = cluster.pictures.versions.get(path, 1)
                rest = [found for found in cluster.seen(path, name) if found < least]
                old.extend(f"{path}: {found} at the end in place of {least}" for found in rest)
        text = f"seed {seed}"
        check(not purger.wrong, f"{text}: {len(purger.wrong)} orders failed: {purger.wrong[:2]}")
        check(not failed, f"{text}: {len(failed)} requests failed, such as {failed[:2]}")
        check(not old, f"{text}: {len(old)} old pictures, such as {old[:2]}")
        kinds = ", ".join(f"{number} {kind}" for kind, number in purger.kinds.items())
        return (f"{sum(purger.kinds.values())} orders ({kinds}) in {seconds:.0f} s, {seen[0]} "
                f"answers meanwhile, none older than {GRACE} s; {text}")


CASES.add("300 orders to forget at random, under load", [*REDIS, "curl"], short=True)(
    lambda program: many(program, 300))
CASES.add("10,000 orders to forget at random, under load", [*REDIS, "curl"])(
    lambda program: many(program, 10_000))
