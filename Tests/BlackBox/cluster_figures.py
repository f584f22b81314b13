"""What several image servers cost: the figures of Benchmarks/Results/cluster.md.

Contestants take turns in an order drawn anew for each round, after one that does not count; a figure is the median
of the rounds. Processor time is that of the servers alone, not of Redis, the store, the origin and who asks.
"""

import random
import statistics
import subprocess
import time
from typing import NamedTuple

from cluster import ROOT, Client, Cluster, PictureOrigin, ask_all, wait_until
from cluster_redis import PATIENT, Redis
from cluster_s3 import SeaweedFS

SOURCES = 20
COUNTS = (1, 2, 4)


class Effort(NamedTuple):
    """How much is measured: rounds, and in each of them hits, pictures of another server, new pictures."""

    rounds: int
    hits: int
    pictures: int
    misses: int


USUAL = Effort(rounds=7, hits=2000, pictures=200, misses=120)
# Whether it works: such figures mean nothing.
SHORT = Effort(rounds=1, hits=80, pictures=20, misses=8)


class Row(NamedTuple):
    """A line of the table: texts by column, and the ratio or count with the most or least that it is to be."""

    name: str
    cells: tuple
    value: float = None
    most: float = None
    least: float = None

    @property
    def is_reached(self):
        return ((self.most is None or self.value <= self.most)
                and (self.least is None or self.value >= self.least))

    @property
    def line(self):
        value = "" if self.value is None else f"{self.value:.2f}".removesuffix(".00")
        target = (f"≤ {self.most:g}" if self.most is not None else
                  f"≥ {self.least:g}" if self.least is not None else "")
        cells = [*self.cells, *[""] * (len(COUNTS) - len(self.cells))]
        return f"| {self.name} | {' | '.join(cells)} | {value} | {target} |"


HEAD = ["| | 1 server | 2 servers | 4 servers | ratio | target |", "|---|---|---|---|---|---|"]


class BenchCluster(Cluster):
    """Servers with the engines named, and an origin whose pictures all are the same one."""

    def __init__(self, program, count, engines=(), origin=None, settings=()):
        super().__init__(program, count, origin or noise(), [*settings, *PATIENT])
        self.redis = Redis() if "redis" in engines else None
        self.store = SeaweedFS(self.folder) if "s3" in engines else None
        for node in self.nodes:
            if self.redis:
                node.settings.append(f"shared.redis.address=127.0.0.1:{self.redis.port}")
            if self.store:
                node.settings += self.store.settings

    def __enter__(self):
        if self.redis:
            self.add(self.redis)
        if self.store:
            self.add(self.store)
            # The first object takes long, as there has to be a place for all.
            first = f"{self.store.url}/first"
            wait_until(lambda: self.store.curl("-X", "PUT", "-d", "1", first) == "200", 60,
                       "the first object")
            self.store.curl("-X", "DELETE", first)
        return super().__enter__()

    def variants(self, name, count, options="w:115/f:png"):
        """Targets of different pictures, each as much work as the others, of few sources."""
        return [self.target(f"{number % SOURCES}.png", f"{options}/cb:{name}-{number}")
                for number in range(count)]

    def warm(self, nodes):
        """Has all of these fetch the sources and open connections."""
        for node in nodes:
            get(node, [self.target(f"{number}.png", f"w:10/cb:{node.port}")
                       for number in range(SOURCES)])


def noise():
    """Pictures 115 pixels wide are PNG files of 20 KB; the source is too large for Redis."""
    return PictureOrigin(600, 400, noise=True)


def photograph():
    """A JPEG of 2 MP, of the pictures for the demonstration."""
    origin = PictureOrigin(1, 1)
    origin.picture = (ROOT / "Sources/Programs/HalcyonSamples/Samples/retina.jpg").read_bytes()
    return origin


def get(node, targets):
    """Asks one server for all of these, one after the other; the answers."""
    client = Client(node.port)
    answers = [client.get(target) for target in targets]
    wrong = {answer.status for answer in answers} - {200}
    assert not wrong, f"answers with {wrong}"
    return answers


def spread(nodes, targets):
    """Asks each server for its share of these, one server after the other."""
    return [answer for place, node in enumerate(nodes)
            for answer in get(node, targets[place::len(nodes)])]


def seconds(nodes):
    return sum(node.seconds() for node in nodes)


def in_turns(effort, contestants):
    """Runs each of the functions, by name, with the number of the round; the figures by name."""
    figures = {name: [] for name in contestants}
    for number in range(effort.rounds + 1):
        for name in random.sample(list(contestants), len(contestants)):
            figure = contestants[name](number)
            # The first round is to warm up.
            if number:
                figures[name].append(figure)
    return figures


def text(values, unit, scale):
    """The median, the least and the greatest."""
    values = [value * scale for value in values]
    if max(values) >= 100:
        return f"{statistics.median(values):.0f} ({min(values):.0f}…{max(values):.0f}) {unit}"
    return f"{statistics.median(values):.3g} ({min(values):.3g}…{max(values):.3g}) {unit}"


# MARK: Hits


def own_hits(program, effort, level):
    """Processor time for each hit in a server's own memory or on its disk."""
    settings = ["cache.results.memoryBytes=0"] if level == "disk" else []
    with BenchCluster(program, sum(COUNTS), ["redis"], settings=settings) as cluster:
        targets = cluster.variants("own", SOURCES)
        for node in cluster.nodes:
            get(node, targets)
        return of_groups(cluster, effort, level, lambda _: targets * (effort.hits // len(targets)))


def shared_hits(program, effort, engine):
    """Processor time for each picture that another server has made."""
    with BenchCluster(program, sum(COUNTS) + 1, [engine]) as cluster:
        maker = cluster.nodes.pop()
        batches = [cluster.variants(f"{engine}{number}", effort.pictures)
                   for number in range(effort.rounds + 1)]
        for batch in batches:
            get(maker, batch)
        name, labels, wanted = {
            "redis": ("halcyon_leases_total", {"event": "published"}, SOURCES),
            "s3": ("halcyon_shared_objects_total", {"operation": "put", "result": "stored"}, 0),
        }[engine]
        wanted += len(batches) * effort.pictures
        wait_until(lambda: maker.metric(name, **labels) >= wanted, 60, "what is shared")
        cluster.warm(cluster.nodes)
        return of_groups(cluster, effort, "shared", lambda number: batches[number])


def of_groups(cluster, effort, level, targets):
    """Turns of one, two and four servers, which ask for the same pictures, as many in all."""
    nodes, groups = list(cluster.nodes), {}
    for count in COUNTS:
        groups[count], nodes = nodes[:count], nodes[count:]

    def turn(count, number):
        before = seconds(groups[count])
        answers = spread(groups[count], targets(number))
        took = seconds(groups[count]) - before
        found = sum(f"detail={level}" in answer.fields["Cache-Status"] for answer in answers)
        assert found == len(answers), f"{found} of {len(answers)} answers are of level {level}"
        return took / len(answers)

    return in_turns(effort, {count: lambda number, count=count: turn(count, number)
                             for count in COUNTS})


def hits(program, effort):
    for name, measure, level in (
            ("in memory", own_hits, "memory"), ("on the disk", own_hits, "disk"),
            ("in Redis", shared_hits, "redis"), ("in the store", shared_hits, "s3")):
        figures = measure(program, effort, level)
        medians = [statistics.median(figures[count]) for count in COUNTS]
        yield Row(f"hit {name}: processor time",
                  tuple(text(figures[count], "µs", 1e6) for count in COUNTS),
                  max(medians) / min(medians), most=1.1)


def round_trips(program, effort):
    """Questions to Redis for a hit of each level, and requests to the store."""
    # With sources that are small enough for Redis; pictures 200 pixels wide are too large for it.
    for place, engines, options in (("in Redis", ["redis"], "w:100/f:png"),
                                    ("in the store", ["redis", "s3"], "w:200/f:png")):
        origin = PictureOrigin() if engines == ["redis"] else noise()
        with BenchCluster(program, 2, engines, origin) as cluster:
            one, two = cluster.nodes
            targets = cluster.variants("trips", SOURCES, options)

            def questions(node, level):
                cluster.redis.tell("CONFIG", "RESETSTAT")
                answers = get(node, targets)
                assert level is None or all(
                    f"detail={level}" in answer.fields["Cache-Status"] for answer in answers), level
                lines = cluster.redis.tell("INFO", "commandstats").splitlines()
                return sum(int(line.split("calls=")[1].split(",")[0]) for line in lines
                           if line.startswith(("cmdstat_hmget", "cmdstat_eval:"))) / len(targets)

            questions(one, None)
            wait_until(lambda: one.metric("halcyon_leases_total", event="published")
                       == 2 * len(targets), what="what is shared")
            shared = questions(two, "shared")
            objects = two.metric("halcyon_shared_objects_total", operation="get") / len(targets)
            if cluster.store:
                yield Row(f"hit {place}: requests to it", (f"{objects:g}",), objects, most=1)
            else:
                memory = questions(two, "memory")
                # What is known of each source has a file with one byte.
                wait_until(lambda: two.metric("halcyon_cache_bytes", cache="source", tier="disk")
                           >= len(targets), what="the files")
                two.stop()
                two.start()
                for name, count in (("in memory", memory), ("on the disk", questions(two, "disk"))):
                    yield Row(f"hit {name}: questions to Redis", (f"{count:g}",), count, most=0)
            yield Row(f"hit {place}: questions to Redis", (f"{shared:g}",), shared, most=1)


def store_hit(program, effort):
    """The time of a hit in the store beside that of the same object, both asked for by curl in turns of ten."""
    count, batch = effort.pictures, 10
    with BenchCluster(program, 2, ["s3"]) as cluster:
        maker, node = cluster.nodes
        targets = cluster.variants("store", count)
        size = len(get(maker, targets)[0].body)
        wait_until(lambda: maker.metric("halcyon_shared_objects_total", operation="put",
                                        result="stored") >= count, 60, "the objects")
        listing = cluster.folder / "listing"
        cluster.store.curl(cluster.store.url, output=str(listing))
        names = [part.split("</Key>")[0] for part in listing.read_text().split("<Key>")[1:]]
        assert len(names) == count, f"{len(names)} objects in place of {count}"
        cluster.warm([node])

        def ask_store(start):
            urls = [f"{cluster.store.url}/{name}" for name in names[start:start + batch]]
            outputs = ["-o", "/dev/null"] * (len(urls) - 1)
            lines = cluster.store.curl(*outputs, *urls, write="%{time_total} %{http_code}\n")
            return times(lines, "200", len(urls))

        def ask_node(start):
            urls = [f"http://127.0.0.1:{node.port}{target}"
                    for target in targets[start:start + batch]]
            lines = subprocess.run(
                ["curl", "-s", "--noproxy", "*", "-w", "%{time_total} %header{cache-status}\n",
                 *["-o", "/dev/null"] * len(urls), *urls],
                capture_output=True, text=True, check=True).stdout
            return times(lines, "detail=shared", len(urls))

        def times(lines, wanted, count):
            found = [float(line.split()[0]) for line in lines.splitlines() if wanted in line]
            assert len(found) == count, lines
            return found

        ours, theirs = [], []
        for start in range(0, count, batch):
            ours += ask_node(start)
            theirs += ask_store(start)
    ratio = statistics.median(ours) / statistics.median(theirs)
    yield Row(f"hit in the store, {size / 1000:.0f} KB: time (curl for the object: "
              f"{statistics.median(theirs) * 1e3:.2f} ms)",
              (f"{statistics.median(ours) * 1e3:.2f} ms",), ratio, most=1.3)


# MARK: New pictures


def misses(program, effort):
    """Processor time for each new picture of a new source: of one server alone, and of four that share."""
    def turn(cluster, number, asks_all):
        before, made = seconds(cluster.nodes), cluster.decodes()
        targets = [cluster.target(f"{asks_all}-{number}-{place}.jpg", "w:600")
                   for place in range(effort.misses)]
        if asks_all:
            answers, failures = ask_all(
                [(node.port, target) for target in targets for node in cluster.nodes], 8)
            assert not failures and {answer.status for answer in answers} == {200}
        else:
            spread(cluster.nodes, targets)
        made = cluster.decodes() - made
        assert made == len(targets), f"{made} pictures made in place of {len(targets)}"
        return (seconds(cluster.nodes) - before) / len(targets)

    with BenchCluster(program, 1, [], photograph()) as one:
        with BenchCluster(program, 4, ["redis"], photograph()) as four:
            figures = in_turns(effort, {
                "alone": lambda number: turn(one, number, False),
                "shared": lambda number: turn(four, number, False),
                "all": lambda number: turn(four, number, True)})
    alone = statistics.median(figures["alone"])
    cells = {name: text(values, "ms", 1e3) for name, values in figures.items()}
    yield Row("new picture: processor time", (cells["alone"], "", cells["shared"]),
              statistics.median(figures["shared"]) / alone, most=1.05)
    yield Row("new picture, all servers asked for it: processor time of all",
              (cells["alone"], "", cells["all"]), statistics.median(figures["all"]) / alone)


def throughput(program, effort):
    """New pictures a second by servers of one core each. Takes two cores whole."""
    with BenchCluster(program, 3, ["redis"], photograph(), ["work.decoders=1"]) as cluster:
        for node, core in zip(cluster.nodes, (0, 0, 1)):
            node.stop()
            node.prefix = ["taskset", "-c", str(core)]
            node.start()
            get(node, [cluster.target("a.jpg", f"w:10/cb:{node.port}")])

        def turn(nodes, number):
            # Others in each turn, of the same sizes in the same mixture.
            requests = [(node.port, cluster.target(
                "a.jpg", f"w:{400 + 89 * place % 200}/cb:{number}-{node.port}"))
                for place in range(effort.misses) for node in nodes]
            took, failed = timed(requests, 4 * len(nodes))
            assert not failed, f"{len(failed)} failed, such as {failed[:1]}"
            return len(requests) / took

        figures = in_turns(effort, {
            1: lambda number: turn(cluster.nodes[:1], number),
            2: lambda number: turn(cluster.nodes[1:], number)})
    yield Row("new pictures a second, servers of one core each",
              tuple(text(figures[count], "", 1).strip() for count in (1, 2)),
              statistics.median(figures[2]) / statistics.median(figures[1]), least=1.8)


def timed(requests, threads):
    """Sends them all; how long that took, and what was no picture."""
    began = time.monotonic()
    answers, failures = ask_all(requests, threads)
    took = time.monotonic() - began
    return took, failures + [answer.status for answer in answers if answer.status != 200]


TABLES = {"hits": hits, "round-trips": round_trips, "store": store_hit, "misses": misses,
          "throughput": throughput}
