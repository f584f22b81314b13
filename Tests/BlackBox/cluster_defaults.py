"""Image servers with the limits that they have by themselves, while an engine takes everything and is silent."""

import contextlib
import itertools
import re
import socket
import threading
import time

from case import check
from cluster import Client, ClusterCases, wait_until
from cluster_redis import PATIENCE, REDIS, SharingCluster
from cluster_s3 import FaultyProxy, StoringCluster

CASES = ClusterCases()
# How long a question to Redis and a request to the store may take, in seconds; after how many failures in a row an
# engine is let alone, and for how long at first and at most.
REDIS_TIMEOUT, STORE_TIMEOUT, FAILURES, PAUSE, LONGEST_PAUSE = 0.05, 0.5, 5, 0.5, 10
# What a new picture asks: of Redis what is known of it, of its source and, once more, of it; of the store whether
# it is there.
REDIS_QUESTIONS, STORE_REQUESTS = 3, 1
PICTURES = 40


class SilentRedis:
    """Between a server and its Redis; counts what is asked. Told to be silent, it takes everything and passes on
    nothing."""

    question = re.compile(rb"\r\n(?:EVAL|HMGET)\r\n")

    def __init__(self, redis):
        self.redis, self.is_silent = redis, False
        self.questions, self.lock = 0, threading.Lock()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def stop(self):
        # Wakes the thread that accepts.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.socket.accept()
                there = socket.create_connection((self.redis.host, self.redis.port))
                threading.Thread(target=self.ask, args=(client, there), daemon=True).start()
                threading.Thread(target=self.answer, args=(there, client), daemon=True).start()

    def ask(self, client, there):
        rest = b""
        with client, there, contextlib.suppress(OSError):
            while data := client.recv(65536):
                rest += data
                end = 0
                for found in self.question.finditer(rest):
                    end = found.end()
                    with self.lock:
                        self.questions += 1
                # The beginning of the next one.
                rest = rest[max(end, len(rest) - 8):]
                if not self.is_silent:
                    there.sendall(data)

    def answer(self, there, client):
        with contextlib.suppress(OSError):
            while data := there.recv(65536):
                if not self.is_silent:
                    client.sendall(data)


def most(seconds):
    """How often an engine is asked at most that has been silent for so long.

    Until the first pause, with what was under way when that began; and once after each pause."""
    under_way, questions, pause, end = 4, FAILURES, PAUSE, PAUSE
    while end <= seconds:
        questions += 1
        pause = min(2 * pause, LONGEST_PAUSE)
        end += pause
    return questions + under_way


def by_itself(cluster, node, settings):
    """Starts a server again, without any other limits than its own."""
    node.stop()
    node.settings = [setting for setting in node.settings
                     if not re.match(r"shared\.(redis|s3)\.(timeout|lease)=", setting)]
    node.settings += settings
    node.start()


def ask_for_new(cluster, node, count_asked, began, longest):
    """New pictures, one after the other, of a server whose engine is silent; how often that was asked."""
    client = Client(node.port)
    before = count_asked()
    answers = [client.get(cluster.target(f"silent{number}.png")) for number in range(PICTURES)]
    check({answer.status for answer in answers} == {200}, "not all answers are 200")
    asked, bound = count_asked() - before, most(time.monotonic() - began)
    check(1 <= asked <= bound, f"{asked} questions, and not {bound} at most")
    slowest = max(answer.seconds for answer in answers)
    check(slowest < longest + PATIENCE, f"somebody waited {slowest:.1f} s")
    return (f"{len(answers)} new pictures, {asked} questions ({bound} at most), slowest "
            f"{slowest:.2f} s")


def is_asked(node, engine):
    return node.metric("halcyon_shared_breaker", engine=engine, state="closed") == 1


def redis_is_silent(program, from_start):
    with SharingCluster(program, 1) as cluster:
        node, = cluster.nodes
        proxy = SilentRedis(cluster.redis)
        cluster.stack.callback(proxy.stop)
        proxy.is_silent = from_start
        by_itself(cluster, node, [f"shared.redis.address=127.0.0.1:{proxy.port}"])
        if not from_start:
            client, numbers = Client(node.port), itertools.count()

            def is_published():
                client.get(cluster.target(f"before{next(numbers)}.png"))
                return (node.metric("halcyon_leases_total", event="published") > 0
                        and is_asked(node, "redis"))

            wait_until(is_published, what="a publication")
            check(proxy.questions > 0, "no question was counted")
            proxy.is_silent = True
        return ask_for_new(cluster, node, lambda: proxy.questions, time.monotonic(),
                           REDIS_QUESTIONS * REDIS_TIMEOUT)


for title, from_start in (("falls silent", False), ("is silent from the beginning", True)):
    CASES.add(f"Redis {title}, and servers have limits of their own", REDIS, short=True)(
        lambda program, from_start=from_start: redis_is_silent(program, from_start))


def store_is_slow(program, shares_redis):
    with StoringCluster(program, 1, shares_redis=shares_redis) as cluster:
        node, = cluster.nodes
        proxy = FaultyProxy(cluster.store)
        cluster.stack.callback(proxy.stop)
        by_itself(cluster, node, [f"shared.s3.endpoint=http://127.0.0.1:{proxy.port}"])
        client, numbers = Client(node.port), itertools.count()

        def is_stored():
            client.get(cluster.target(f"before{next(numbers)}.png"))
            return cluster.objects("put", "stored") > 0 and is_asked(node, "s3")

        wait_until(is_stored, what="an object")
        proxy.fault = "slow"
        return ask_for_new(cluster, node, lambda: proxy.requests, time.monotonic(),
                           STORE_REQUESTS * STORE_TIMEOUT + REDIS_QUESTIONS * REDIS_TIMEOUT)


for title, programs, shares_redis in (("", REDIS, True), (" without Redis", [], False)):
    CASES.add(f"a store{title} is slow, and servers have limits of their own",
              [*programs, "curl"])(
        lambda program, shares_redis=shares_redis: store_is_slow(program, shares_redis))
