"""What several image servers cost: figures for docs/benchmarks.md."""

import shutil
import statistics
import time

from cluster import Client, Cluster, PictureOrigin, ask_all, wait_until
from cluster_redis import PATIENT, Redis
from cluster_s3 import SeaweedFS

# Processor time is counted in hundredths of a second: so many requests that this does not show.
HITS = 4000
PICTURES = 400


class BenchCluster(Cluster):
    """Nodes with the engines named."""

    def __init__(self, program, count, engines=(), origin=None, settings=()):
        super().__init__(program, count, origin or source(), [*settings, *PATIENT])
        self.redis = Redis() if "redis" in engines else None
        self.store = SeaweedFS(self.folder) if "s3" in engines else None
        for node in self.nodes:
            if self.redis:
                node.settings.append(f"shared.redis.address=127.0.0.1:{self.redis.port}")
            if self.store:
                node.settings += self.store.settings

    def __enter__(self):
        for engine in (self.redis, self.store):
            if engine:
                self.add(engine)
        return super().__enter__()

    def seconds(self):
        return sum(node.seconds() for node in self.nodes)

    def forget_pictures(self):
        """Restarts all nodes with what one of them has of sources, and without pictures."""
        for node in self.nodes:
            node.stop()
        for node in self.nodes:
            if node is not self.nodes[0]:
                shutil.rmtree(node.folder / "cache", ignore_errors=True)
                shutil.copytree(self.nodes[0].folder / "cache", node.folder / "cache")
            for folder in (node.folder / "cache").glob("*results*"):
                shutil.rmtree(folder)
            node.start()

    def targets(self, count=PICTURES, options="w:100/f:png"):
        return [self.target(f"{number}.png", options) for number in range(count)]

    def get(self, node, targets):
        """Asks one node for all of these, one after the other; the answers."""
        client = Client(node.port)
        answers = [client.get(target) for target in targets]
        assert all(answer.status == 200 for answer in answers), "not all answers are 200"
        return answers

    def spread(self, targets):
        """Asks each node for its share, one after the other."""
        count = len(self.nodes)
        return [answer for place, node in enumerate(self.nodes)
                for answer in self.get(node, targets[place::count])]

    def metric(self, name, **labels):
        return sum(node.metric(name, **labels) for node in self.nodes)


def source():
    """One whose pictures of 100 pixels are PNG files of 20 KB."""
    return PictureOrigin(600, 400, noise=True)


def cost(cluster, targets):
    """Processor time of the nodes for each request, in microseconds, and the answers."""
    before = cluster.seconds()
    answers = cluster.spread(targets)
    return (cluster.seconds() - before) / len(targets) * 1e6, answers


def level_cost(program, level, count):
    """What a hit of a level costs with so many nodes, in microseconds."""
    engines = {"memory": ["redis"], "disk": ["redis"], "redis": ["redis"], "s3": ["s3"]}[level]
    settings = ["cache.results.memoryBytes=0"] if level == "disk" else []
    with BenchCluster(program, count, engines, settings=settings) as cluster:
        if level in ("memory", "disk"):
            targets = cluster.targets(20)
            for node in cluster.nodes:
                cluster.get(node, targets)
            result, answers = cost(cluster, targets * (HITS // len(targets)))
        else:
            targets = cluster.targets()
            cluster.get(cluster.nodes[0], targets)
            name, labels = (("halcyon_leases_total", {"event": "published"}) if level == "redis" else
                            ("halcyon_shared_objects_total", {"operation": "put", "result": "stored"}))
            wanted = len(targets) * (2 if level == "redis" else 1)
            wait_until(lambda: cluster.metric(name, **labels) >= wanted, 60, "what is shared")
            cluster.forget_pictures()
            result, answers = cost(cluster, targets)
        wanted = {"redis": "shared", "s3": "shared"}.get(level, level)
        found = sum(f"detail={wanted}" in answer.fields["Cache-Status"] for answer in answers)
        assert found == len(answers), f"{found} of {len(answers)} answers are of level {wanted}"
        return result


def levels(program):
    yield "| hit | 1 node | 2 nodes | 4 nodes | most / least |", "|---|---|---|---|---|"
    for level in ("memory", "disk", "redis", "s3"):
        costs = [level_cost(program, level, count) for count in (1, 2, 4)]
        row = " | ".join(f"{cost:.0f} µs" for cost in costs)
        yield f"| {level} | {row} | {max(costs) / min(costs):.2f} |",


def round_trips(program):
    # With sources that are small enough for Redis.
    with BenchCluster(program, 2, ["redis"], PictureOrigin()) as cluster:
        one, two = cluster.nodes
        targets = cluster.targets(20)

        def questions(node):
            cluster.redis.tell("CONFIG", "RESETSTAT")
            cluster.get(node, targets)
            lines = cluster.redis.tell("INFO", "commandstats").splitlines()
            return sum(int(line.split("calls=")[1].split(",")[0]) for line in lines
                       if line.startswith(("cmdstat_hmget", "cmdstat_eval:"))) / len(targets)

        questions(one)
        wait_until(lambda: one.metric("halcyon_leases_total", event="published") == 40,
                   what="what is shared")
        shared, memory = questions(two), questions(two)
        two.stop()
        two.start()
        disk = questions(two)
    yield "| hit | questions to Redis |", "|---|---|"
    for name, value in (("memory", memory), ("disk", disk), ("redis", shared)):
        yield f"| {name} | {value:g} |",


def store_hit(program):
    """The time of a hit in the store beside that of curl for the same object, in turns."""
    with BenchCluster(program, 1, ["s3"]) as cluster:
        node, targets = cluster.nodes[0], cluster.targets(200)
        cluster.get(node, targets)
        wait_until(lambda: cluster.metric(
            "halcyon_shared_objects_total", operation="put", result="stored") >= len(targets), 60,
            "the objects")
        listing = cluster.folder / "listing"
        cluster.store.curl(cluster.store.url, output=str(listing))
        names = [part.split("</Key>")[0] for part in listing.read_text().split("<Key>")[1:]]
        cluster.forget_pictures()
        client, ours, theirs, size = Client(node.port), [], [], 0
        # A connection that is kept, too.
        urls = [f"{cluster.store.url}/{name}" for name in names]
        for start in range(0, len(targets), 20):
            for target in targets[start:start + 20]:
                answer = client.get(target)
                assert "detail=shared" in answer.fields["Cache-Status"], answer.fields
                ours.append(answer.seconds)
                size = len(answer.body)
            batch = urls[start:start + 20]
            outputs = [word for _ in batch[1:] for word in ("-o", "/dev/null")]
            text = cluster.store.curl(*outputs, *batch, write="%{time_total}\n")
            theirs += [float(line) for line in text.split()]
        ours, theirs = statistics.median(ours), statistics.median(theirs)
    yield "| | median | of curl |", "|---|---|---|"
    yield f"| a hit in the store of {size / 1000:.0f} KB | {ours * 1e3:.2f} ms | {ours / theirs:.2f} |",
    yield f"| curl, the same object | {theirs * 1e3:.2f} ms | 1 |",


def misses(program):
    """Processor time for each new picture: one node alone, and four that share."""
    def work(count, engines, asks_all):
        with BenchCluster(program, count, engines) as cluster:
            targets = cluster.targets()
            before = cluster.seconds()
            if asks_all:
                answers, failures = ask_all(
                    [(node.port, target) for target in targets for node in cluster.nodes], 8)
                assert not failures and {answer.status for answer in answers} == {200}
            else:
                cluster.spread(targets)
            assert cluster.decodes() == len(targets), f"{cluster.decodes()} decodes"
            return (cluster.seconds() - before) / len(targets) * 1e3

    alone, shared, all_ask = work(1, [], False), work(4, ["redis"], False), work(4, ["redis"], True)
    yield "| new pictures | processor time for each | of one node |", "|---|---|---|"
    for name, value in (("one node", alone), ("four nodes, each asked for a quarter", shared),
                        ("four nodes, each asked for all", all_ask)):
        yield f"| {name} | {value:.2f} ms | {value / alone:.2f} |",


def throughput(program):
    """New pictures a second by nodes of one core each. Needs two cores, and takes them whole."""
    origin = PictureOrigin(1600, 1200)

    def rate(cores):
        with BenchCluster(program, len(cores), ["redis"], origin,
                          ["work.decoders=1"]) as cluster:
            for node, core in zip(cluster.nodes, cores):
                node.stop()
                node.prefix = ["taskset", "-c", str(core)]
                node.start()
                Client(node.port).get(cluster.target("a.png", "w:10"))
            requests = [(cluster.nodes[number % len(cores)].port,
                         cluster.target("a.png", f"w:{200 + number}"))
                        for number in range(300 * len(cores))]
            began = time.monotonic()
            answers, failures = ask_all(requests, 4 * len(cores))
            seconds = time.monotonic() - began
            assert not failures and {answer.status for answer in answers} == {200}
            return len(requests) / seconds

    one, two = rate([0]), rate([0, 1])
    yield "| nodes of one core | new pictures a second | of one |", "|---|---|---|"
    yield f"| 1 | {one:.0f} | 1 |",
    yield f"| 2 | {two:.0f} | {two / one:.2f} |",


TABLES = {"levels": levels, "round-trips": round_trips, "store": store_hit, "misses": misses,
          "throughput": throughput}
