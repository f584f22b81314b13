"""Image servers with a Redis between them, which is taken away in every way."""

import signal
import subprocess
import threading
import time

from case import check
from cluster import (
    Client, Cluster, ClusterCases, Load, Network, PictureOrigin, Service, address, ask_all,
    ask_for_one, clock, closed_port, wait_until)

CASES = ClusterCases()
REDIS = ["redis-server", "redis-cli"]
# Longer than a node alone takes, even built for debugging on a busy machine.
PATIENCE = 3
# Where it is not about a Redis that is slow: on a busy machine each question may take its time.
UNHURRIED = ["shared.redis.timeout=5"]
# Where work is counted, too: a hundred clients on the same machine take what the nodes need to renew a lease in
# time.
PATIENT = [*UNHURRIED, "shared.redis.lease=20"]
# Where something is done to a node while it works: how long its origin takes and its lease lasts, in seconds. Both
# are long enough for a busy machine; and a node that sleeps meanwhile does not take its origin for a silent one.
FETCH, LEASE = 2, 4
HELD = [*UNHURRIED, f"shared.redis.lease={LEASE}", "sources.http.stallTimeout=60",
        "sources.http.totalTimeout=60", "work.requestTimeout=60"]


class Redis(Service):
    def __init__(self, network=None):
        port = closed_port()
        super().__init__(port, "redis-server", "--port", port, "--bind", address(network),
                         "--protected-mode", "no", "--save", "", "--appendonly", "no",
                         network=network)

    def tell(self, *words):
        return subprocess.run(
            ["redis-cli", "-h", self.host, "-p", str(self.port), *map(str, words)], check=True,
            capture_output=True, text=True).stdout.strip()


class SharingCluster(Cluster):
    """Nodes that share a Redis."""

    def __init__(self, program, count, origin=None, settings=(), redis=None):
        self.redis = redis or Redis()
        address = f"{self.redis.host}:{self.redis.port}"
        super().__init__(program, count, origin, [f"shared.redis.address={address}", *settings])

    def __enter__(self):
        self.add(self.redis)
        return super().__enter__()

    def leases(self, event):
        return [node.metric("halcyon_leases_total", event=event) for node in self.nodes]

    def is_shared(self, name):
        """Whether a new picture that one node has made is known to another."""
        target = self.target(name)
        Client(self.nodes[0].port).get(target)
        answer = Client(self.nodes[1].port).get(target)
        return "detail=shared" in answer.fields["Cache-Status"]


@CASES.add("four nodes, 250 requests each for one new picture", REDIS, short=True)
def one_picture(program):
    with SharingCluster(program, 4, PictureOrigin(delay=0.3), PATIENT) as cluster:
        target = cluster.target("a.png")
        answers = ask_for_one(cluster, target, 250)
        return f"{len(answers)} requests, 1 fetch, 1 decode"


@CASES.add("a hit asks Redis once at most, one in memory or on the disk never", REDIS, short=True)
def round_trips(program):
    with SharingCluster(program, 2, settings=UNHURRIED) as cluster:
        one, two = cluster.nodes
        target = cluster.target("a.png")

        def commands(node):
            cluster.redis.tell("CONFIG", "RESETSTAT")
            answer = Client(node.port).get(target)
            check(answer.status == 200, f"status {answer.status}")
            names = {"hmget", "eval"}
            lines = cluster.redis.tell("INFO", "commandstats").splitlines()
            counts = {line.split(":")[0].removeprefix("cmdstat_"):
                      int(line.split("calls=")[1].split(",")[0]) for line in lines if "calls=" in line}
            return sum(count for name, count in counts.items() if name in names)

        miss = commands(one)
        wait_until(lambda: one.metric("halcyon_leases_total", event="published") == 2,
                   what="the publications")
        shared, memory = commands(two), commands(two)
        for cache in ("source", "result"):
            wait_until(lambda cache=cache: two.metric("halcyon_cache_bytes", cache=cache,
                                                      tier="disk") > 0, what="the files")
        two.stop()
        two.start()
        disk = commands(two)
        check(shared <= 1, f"{shared} questions for what another has")
        check((memory, disk) == (0, 0), f"{memory} and {disk} questions for what is there")
        return f"questions: {miss} for a miss, {shared} shared, {memory} in memory, {disk} on the disk"


def certificates(folder):
    """A root, a server's certificate for 127.0.0.1 by it, and a root of somebody else."""
    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], cwd=folder, check=True,
                       capture_output=True)

    for name in ("root", "stranger"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", 2, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out",
                f"{name}.pem")
    for name, address in (("server", "127.0.0.1"), ("other", "127.0.0.9")):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (folder / "names").write_text(f"subjectAltName=IP:{address}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "root.pem", "-CAkey", "root.key",
                "-CAcreateserial", "-days", 2, "-extfile", "names", "-out", f"{name}.pem")


@CASES.add("Redis over TLS", [*REDIS, "openssl"], short=True)
def encrypted(program):
    def shares(certificate, roots):
        with SharingCluster(program, 2, settings=UNHURRIED) as cluster:
            certificates(cluster.folder)
            cluster.redis.stop()
            cluster.redis.command += [
                "--port", "0", "--tls-port", str(cluster.redis.port), "--tls-auth-clients", "no",
                "--tls-ca-cert-file", f"{cluster.folder}/root.pem",
                "--tls-cert-file", f"{cluster.folder}/{certificate}.pem",
                "--tls-key-file", f"{cluster.folder}/{certificate}.key"]
            cluster.redis.start()
            for node in cluster.nodes:
                node.stop()
                node.settings += ["shared.redis.tls=true",
                                  f"shared.redis.tlsRoots={cluster.folder}/{roots}.pem"]
                node.start()
            return cluster.is_shared("a.png")

    check(shares("server", "root"), "nothing is shared over TLS")
    check(not shares("server", "stranger"), "the certificate of a stranger is trusted")
    check(not shares("other", "root"), "a certificate for another host is trusted")
    return "shared; not with a certificate of a stranger or for another host"


@CASES.add("1,000 pictures at each of four nodes", REDIS)
def many_pictures(program):
    with SharingCluster(program, 4, settings=PATIENT) as cluster:
        answers, failures = ask_all(
            [(node.port, cluster.target(f"{number}.png")) for number in range(1000)
             for node in cluster.nodes], threads=32)
        check(not failures, f"{len(failures)} failures, such as {failures[:1]}")
        check({answer.status for answer in answers} == {200}, "not all answers are 200")
        fetches, decodes = cluster.pictures.total, cluster.decodes()
        check(fetches <= 1000 and decodes <= 1000,
              f"{fetches} fetches, {decodes} decodes for 1,000 pictures")
        return f"{len(answers)} requests, {fetches} fetches, {decodes} decodes"


def with_holder(cluster, act):
    """Has the first node hold the lease of a picture, does something to it, and asks the others.

    The slowest of their answers, in seconds."""
    target = cluster.target("a.png")
    answers = []

    def ask(node):
        try:
            answers.append(Client(node.port).get(target))
        except OSError:
            pass

    holder = threading.Thread(target=ask, args=(cluster.nodes[0],))
    holder.start()
    wait_until(lambda: cluster.pictures.total == 1, what="the fetch")
    act(cluster.nodes[0])
    others, failures = ask_all([(node.port, target) for node in cluster.nodes[1:]], threads=8)
    check(not failures, f"failures, such as {failures[:1]}")
    check({answer.status for answer in others} == {200}, "not all answers are 200")
    return holder, max(answer.seconds for answer in others)


@CASES.add("the holder of a lease is killed", REDIS, short=True)
def killed_holder(program):
    with SharingCluster(program, 4, PictureOrigin(delay=FETCH), HELD) as cluster:
        holder, slowest = with_holder(cluster, lambda node: node.kill())
        holder.join()
        fetches = cluster.pictures.total
        check(fetches <= 2, f"{fetches} fetches")
        check(slowest < LEASE + FETCH + PATIENCE, f"somebody waited {slowest:.1f} s")
        return f"{fetches} fetches, slowest {slowest:.2f} s (lease {LEASE} s, fetch {FETCH} s)"


@CASES.add("the holder of a lease sleeps past its end", REDIS, short=True)
def sleeping_holder(program):
    with SharingCluster(program, 3, PictureOrigin(delay=FETCH), HELD) as cluster:
        holder, slowest = with_holder(cluster, lambda node: node.send(signal.SIGSTOP))
        wait_until(lambda: sum(node.metric("halcyon_leases_total", event="published")
                               for node in cluster.nodes[1:]) >= 2, what="the publications")
        keys = [key for key in cluster.redis.tell("KEYS", "*").splitlines() if ":record:" in key]
        before = [cluster.redis.tell("HGET", key, "g") for key in keys]
        cluster.nodes[0].send(signal.SIGCONT)
        holder.join()
        first = cluster.nodes[0]
        wait_until(lambda: first.metric("halcyon_leases_total", event="lost")
                   + first.metric("halcyon_leases_total", event="refused") >= 1,
                   what="the late result")
        check(first.metric("halcyon_leases_total", event="published") == 0,
              "the late result was published")
        check(before == [cluster.redis.tell("HGET", key, "g") for key in keys],
              "the record has changed")
        fetches = cluster.pictures.total
        check(fetches <= 2, f"{fetches} fetches")
        return f"{fetches} fetches, slowest {slowest:.2f} s, nothing late was published"


def redis_fails(program, act, repair, redis=None):
    """Requests for new and for known pictures while something is done to Redis and undone."""
    with SharingCluster(program, 2, redis=redis) as cluster:
        def target(number):
            return cluster.target(f"{number % 97}.png", f"w:{20 + number % 41}")

        check(cluster.is_shared("before.png"), "nothing was shared before")
        loads = [Load(node.port, target, threads=4) for node in cluster.nodes]
        with loads[0], loads[1]:
            wait_until(lambda: loads[0].answered > 200, 60, "load")
            act(cluster)
            middle = [load.answered for load in loads]
            wait_until(lambda: all(load.answered > count + 400
                                   for load, count in zip(loads, middle)), 60, "load")
            repair(cluster)
        failed = loads[0].failed + loads[1].failed
        check(not failed, f"{len(failed)} failures, such as {failed[:2]}")
        slowest = max(load.slowest for load in loads)
        check(slowest < PATIENCE, f"somebody waited {slowest:.1f} s")
        names = iter(range(10_000))
        began = time.monotonic()
        wait_until(lambda: cluster.is_shared(f"after{next(names)}.png"), 60, "the recovery")
        return (f"{sum(load.answered for load in loads)} requests, 0 failed, slowest "
                f"{slowest:.2f} s, sharing again after {time.monotonic() - began:.1f} s")


def nothing(_):
    pass


def restart(cluster):
    cluster.redis.stop()
    cluster.redis.start()


def refuse(cluster):
    cluster.redis.tell("CONFIG", "SET", "requirepass", "secret")
    subprocess.run(["redis-cli", "-p", str(cluster.redis.port), "-a", "secret", "CLIENT", "KILL",
                    "TYPE", "normal"], check=True, capture_output=True)


def accept(cluster):
    subprocess.run(["redis-cli", "-p", str(cluster.redis.port), "-a", "secret", "CONFIG", "SET",
                    "requirepass", ""], check=True, capture_output=True)


for title, act, repair, is_short in (
        ("is killed and started again", lambda cluster: cluster.redis.stop(),
         lambda cluster: cluster.redis.start(), True),
        ("is restarted", restart, nothing, False),
        ("forgets everything", lambda cluster: cluster.redis.tell("FLUSHALL"), nothing, False),
        ("takes bytes and says nothing", lambda cluster: cluster.redis.send(signal.SIGSTOP),
         lambda cluster: cluster.redis.send(signal.SIGCONT), True),
        ("is full", lambda cluster: cluster.redis.tell("CONFIG", "SET", "maxmemory", "1"),
         lambda cluster: cluster.redis.tell("CONFIG", "SET", "maxmemory", "0"), False),
        ("wants a password", refuse, accept, False)):
    CASES.add(f"Redis {title}", REDIS, is_short)(
        lambda program, act=act, repair=repair: redis_fails(program, act, repair))


@CASES.add("the network to Redis is cut", [*REDIS, "ip"])
def cut_network(program):
    with Network() as network:
        return redis_fails(program, lambda _: network.cut(), lambda _: network.mend(),
                           Redis(network))


@CASES.add("an origin that asks one node for a pause is left alone by all", REDIS, short=True)
def paused_origin(program):
    def answer(connection):
        while request := connection.request():
            path, _ = request
            asked.append(path)
            connection.answer(b"", "429 Too Many Requests", ["Retry-After: 60"])

    asked = []
    with SharingCluster(program, 4, answer, UNHURRIED) as cluster:
        first = Client(cluster.nodes[0].port).get(cluster.target("a.png"))
        check(first.status == 503, f"status {first.status}")
        began = time.monotonic()
        clock.sleep(1)
        del asked[:]
        answers, failures = ask_all([(node.port, cluster.target(f"{number}.png"))
                                     for number in range(50) for node in cluster.nodes], threads=8)
        check(not failures, f"{len(failures)} failures, such as {failures[:1]}")
        check({answer.status for answer in answers} == {503}, "not all answers are 503")
        check(all(answer.fields["Retry-After"] for answer in answers), "no Retry-After")
        check(not asked, f"{len(asked)} requests to the origin")
        return f"{len(answers)} requests {time.monotonic() - began:.1f} s later, none to the origin"
