"""Everything that two image servers lean on is taken away in turn, while haproxy is under load."""

import contextlib
import signal
import time

from case import Skipped, check
from cluster import Cluster, ClusterCases, Network, front, wait_until
from cluster_load import TimedLoad
from cluster_redis import PATIENCE, Redis
from cluster_s3 import SeaweedFS

CASES = ClusterCases()
# haproxy calls a server away that says nothing after two looks of at most 2.5 s each, and then asks another one.
PATIENCE_WITH_NODES = 8


class FailingCluster(Cluster):
    """Two servers behind haproxy, with a Redis and a store between them.

    haproxy, Redis and the store are in networks of their own where these may be made, so that the way to each of
    them can be cut; the way to the second server ends at an address of its own.
    """

    def __init__(self, program):
        super().__init__(program, 2, settings=["drain.delay=2"])
        networks = [None] * 3
        # Why the ways cannot be cut.
        self.uncut = None
        try:
            with contextlib.ExitStack() as made:
                networks = [made.enter_context(Network(number)) for number in (77, 78, 79)]
                self.stack.push(made.pop_all())
        except Skipped as reason:
            self.uncut = reason
        self.network, self.far_redis, self.far_store = networks
        self.redis = Redis(self.far_redis)
        self.store = SeaweedFS(self.folder, self.far_store)
        if self.network:
            for node, host in zip(self.nodes, (self.network.here, self.network.also_here)):
                node.host = host
        for node in self.nodes:
            node.settings += [f"shared.redis.address={self.redis.host}:{self.redis.port}",
                              *self.store.settings, "shared.s3.timeout=0.5"]

    def __enter__(self):
        self.add(self.redis)
        self.add(self.store)
        super().__enter__()
        self.front = self.add(front("haproxy", self.folder, self.nodes, self.network))
        return self

    @property
    def templates(self):
        """Of 16 requests 12 are for pictures that are known, 3 for new ones, and 1 for a new source."""
        known = [self.target(f"{number}.png") for number in range(60)]
        made = [self.target(f"{number}.png", "w:90/cb:NUMBER") for number in range(15)]
        fetched = [self.target("new-NUMBER.png")] * 5
        rows = zip(*[iter(known)] * 12, *[iter(made)] * 3, fetched)
        return [target for row in rows for target in row]

    def published(self):
        return sum(node.metric("halcyon_leases_total", event="published") for node in self.nodes)

    def stored(self):
        return sum(node.metric("halcyon_shared_objects_total", operation="put", result="stored")
                   for node in self.nodes)

    def share_of_second(self):
        return self.nodes[1].metric("halcyon_http_requests_total", route="processing")


def end_node(cluster):
    node = cluster.nodes[1]
    node.process.terminate()
    code = node.process.wait(60)
    check(code == 0, f"the server ended with {code}")


def freeze(engine):
    return lambda: engine.send(signal.SIGSTOP)


def thaw(engine):
    return lambda: engine.send(signal.SIGCONT)


def faults(cluster):
    """What is taken away: its name, what is done to it and undone, how to see that it is used, and patience."""
    second = cluster.nodes[1]
    engines = (
        ("Redis", "killed", cluster.redis, cluster.redis.stop, cluster.published, PATIENCE),
        ("the store", "killed", cluster.store, cluster.store.stop, cluster.stored, PATIENCE),
        ("a server", "told to end", second, lambda: end_node(cluster), cluster.share_of_second,
         PATIENCE_WITH_NODES))
    for name, end, engine, stop, used, patience in engines:
        yield f"{name} {end}", stop, engine.start, used, patience
        yield f"{name} frozen", freeze(engine), thaw(engine), used, patience
    if cluster.network:
        for (name, _, _, _, used, patience), network in zip(
                engines, (cluster.far_redis, cluster.far_store, None)):
            if network:
                yield f"{name} cut off", network.cut, network.mend, used, patience
            else:
                yield (f"{name} cut off", lambda: cluster.network.lose(second.host),
                       lambda: cluster.network.find(second.host), used, patience)


def all_taken_away(program, seconds):
    """Each state lasts for some seconds, and until what has come back is used again."""
    with FailingCluster(program) as cluster:
        # By name: when it began, when it ended, and how long its slowest request may take.
        phases = []

        def phase(name, act, patience, used=None):
            began = time.monotonic()
            act()
            if used:
                before = used()
                wait_until(lambda: used() > before, 60, f"the first use: {name}")
            time.sleep(max(0, began + seconds - time.monotonic()))
            phases.append((name, began, time.monotonic(), patience))

        with TimedLoad(cluster.front.host, cluster.front.port, cluster.templates) as load:
            wait_until(lambda: cluster.published() > 20 and cluster.stored() > 20
                       and cluster.share_of_second() > 20, 60, "load")
            phase("all there", lambda: None, PATIENCE)
            for name, act, undo, used, patience in faults(cluster):
                # Those that haproxy still has to notice.
                longer = PATIENCE_WITH_NODES if patience == PATIENCE_WITH_NODES else 0
                phase(name, act, patience)
                time.sleep(longer)
                phases[-1] = (*phases[-1][:2], time.monotonic(), patience)
                phase("… and back", undo, patience, used)
        text = table(phases, load)
        if cluster.uncut:
            raise Skipped(f"nothing was cut off: {cluster.uncut}; otherwise {text}")
        return text


def table(phases, load):
    """Requests a second and the longest that one took, for each state; requests count where they ended."""
    requests, lines = load.requests, []
    failed = [request for request in requests if request.status != 200]
    for name, began, ended, patience in phases:
        those = [request for request in requests if began <= request.ended < ended]
        check(those, f"no requests at all: {name}")
        slowest = max(request.seconds for request in those)
        wrong = sum(request.status != 200 for request in those)
        lines.append(f"| {name} | {len(those) / (ended - began):.0f} | {slowest * 1000:.0f} ms "
                     f"| {wrong} |")
        check(slowest < patience, "\n".join([f"somebody waited {slowest:.1f} s: {name}", *lines]))
    head = ["| state | requests a second | slowest | failed |", "|---|---|---|---|"]
    text = "\n".join(["", *head, *lines])
    check(not failed, f"{len(failed)} of {len(requests)} failed, such as {failed[:2]}{text}")
    return f"{len(requests)} requests by wrk, 0 failed{text}\n"


CASES.add("every engine and a server are taken away while haproxy is under load",
          ["haproxy", "redis-server", "redis-cli", "curl", "wrk"])(
    lambda program: all_taken_away(program, 4))
