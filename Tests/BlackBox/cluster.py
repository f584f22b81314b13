"""Several image servers on the loopback interface, what stands before them, and those who ask."""

import atexit
import collections
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

from case import Skipped, check
from drawing import png
from origin import Origin, closed_port
from program import find_program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def find_server():
    """The server to be tested; None when there is none."""
    return find_program("halcyon-server")


class Clock:
    """The time, without what of it this machine took away from all that runs on it.

    While a machine is stopped, or busy with something else for the tenth of a second and more, no program is slow.
    """

    STEP, LONGEST = 0.01, 0.1

    def __init__(self):
        # How much has passed so far, and when that was counted.
        self.counted = 0.0, time.monotonic()
        threading.Thread(target=self.count, daemon=True).start()

    def count(self):
        while True:
            time.sleep(self.STEP)
            passed, before = self.counted
            now = time.monotonic()
            self.counted = passed + min(now - before, self.LONGEST), now

    def now(self):
        passed, before = self.counted
        return passed + min(time.monotonic() - before, self.LONGEST)

    def sleep(self, seconds):
        end = self.now() + seconds
        while self.now() < end:
            time.sleep(self.STEP)


# What durations that have a limit are measured with.
clock = Clock()


def wait_until(condition, seconds=60, what="an event"):
    """Asks again and again until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def listens(port, host="127.0.0.1"):
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


class PictureOrigin:
    """Gives a picture for every path, after `delay` seconds, and counts the requests."""

    def __init__(self, width=200, height=130, delay=0.0, noise=False):
        self.picture, self.delay = png(width, height, seed=3, noise=noise), delay
        self.counts, self.lock = collections.Counter(), threading.Lock()
        self.tag = '"1"'

    def __call__(self, connection):
        while request := connection.request():
            path, fields = request
            with self.lock:
                self.counts[path] += 1
            time.sleep(self.delay)
            tag = self.tag
            if fields.get("if-none-match") == tag:
                connection.send(f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n")
            else:
                connection.answer(self.picture, fields=[f"ETag: {tag}"])

    @property
    def total(self):
        with self.lock:
            return sum(self.counts.values())


class Node:
    """One image server with caches of its own."""

    def __init__(self, program, folder, origin, settings=()):
        self.program, self.origin, self.settings = program, origin, list(settings)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.port, self.operations = closed_port(), closed_port()
        # Where requests for pictures come in.
        self.host = "127.0.0.1"
        # Put before the command, such as taskset.
        self.prefix = []
        self.process = None
        # Others know its port then.
        self.was_started = False

    def start(self):
        try:
            self.launch()
        except RuntimeError as error:
            # Somebody else was given the port since it was found free.
            if "Address already in use" not in str(error) or self.was_started:
                raise
            self.port, self.operations = closed_port(), closed_port()
            self.launch()
        self.was_started = True

    def launch(self):
        values = {
            "sources.http.ports": self.origin.port, "sources.http.allowLoopback": "true",
            "sources.http.allow": "http://127.0.0.1:*", "log.level": "warning",
            "work.queue": 2000, "signature.required": "false"}
        if self.host != "127.0.0.1":
            # Elsewhere URLs may not be unsigned; theirs have a text that counts as a signature.
            values |= {"signature.keys": "00" * 8, "signature.salts": "00" * 8,
                       "signature.trusted": "_", "signature.required": "true"}
        arguments = [f"--set={name}={value}" for name, value in values.items()]
        arguments += [f"--set={setting}" for setting in self.settings]
        environment = dict(os.environ, HOME=str(self.folder), SWIFT_BACKTRACE="enable=no")
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, str(self.program), "--bind", f"{self.host}:{self.port}",
                 "--ops-bind", f"127.0.0.1:{self.operations}",
                 "--cache-directory", str(self.folder / "cache"), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        wait_until(self.is_ready, what="a node")

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text())
        with contextlib.suppress(OSError):
            url = f"http://127.0.0.1:{self.operations}/ready"
            return urllib.request.urlopen(url, timeout=2).status == 200
        return False

    def metric(self, name, **labels):
        """The sum of all values of a metric with these labels."""
        url = f"http://127.0.0.1:{self.operations}/metrics"
        text = urllib.request.urlopen(url, timeout=30).read().decode()
        total = 0.0
        for line in text.splitlines():
            if match := re.fullmatch(rf"{name}(?:{{(.*)}})? (\S+)", line):
                found = dict(re.findall(r'(\w+)="([^"]*)"', match[1] or ""))
                if all(found.get(key) == value for key, value in labels.items()):
                    total += float(match[2])
        return int(total)

    def seconds(self):
        """Processor time so far, to the nanosecond: /proc counts in hundredths of a second."""
        # The clock that clock_getcpuclockid() gives for the process.
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def order(self, path, what):
        """Tells the server to do something; what it says of it."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.operations}{path}", json.dumps(what).encode(), method="POST")
        return json.load(urllib.request.urlopen(request, timeout=30))

    def purge(self, **what):
        return self.order("/purge", what)

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()


class Network:
    """A network of its own, with one cable to this machine's.

    Several have different numbers. Whoever has no right to make one is told so by `Skipped`.
    """

    def __init__(self, number=77):
        # This machine has two addresses, so that one of them can be out of reach alone.
        self.here, self.there, self.also_here = (f"10.213.{number}.{host}" for host in (1, 2, 3))
        self.name = f"halcyon{os.getpid()}n{number}"
        self.cable = f"hc{os.getpid()}n{number}"

    @property
    def prefix(self):
        """Put before a command that is to run there."""
        return ["ip", "netns", "exec", self.name]

    @staticmethod
    def ip(*words):
        return subprocess.run(["ip", *words], capture_output=True, text=True)

    def __enter__(self):
        if not shutil.which("ip"):
            raise Skipped("ip is not installed")
        steps = (("netns", "add", self.name),
                 ("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns",
                  self.name),
                 ("addr", "add", f"{self.here}/29", "dev", self.cable),
                 ("addr", "add", f"{self.also_here}/29", "dev", self.cable),
                 ("link", "set", self.cable, "up"),
                 ("-n", self.name, "addr", "add", f"{self.there}/29", "dev", "eth0"),
                 ("-n", self.name, "link", "set", "lo", "up"),
                 ("-n", self.name, "link", "set", "eth0", "up"))
        for step in steps:
            done = self.ip(*step)
            if done.returncode:
                self.__exit__()
                raise Skipped(f"there are no network namespaces: {done.stderr.strip()}")
        return self

    def __exit__(self, *_):
        # What was told to end may take its time, and would outlive the network.
        for process in self.ip("netns", "pids", self.name).stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        self.ip("link", "del", self.cable)
        self.ip("netns", "del", self.name)

    def cut(self):
        """What is on its way is lost, and nobody is told."""
        self.ip("-n", self.name, "link", "set", "eth0", "down")

    def mend(self):
        self.ip("-n", self.name, "link", "set", "eth0", "up")

    def lose(self, address):
        """What is sent from there to one address of this machine is lost: it goes to hardware that nobody has."""
        self.ip("-n", self.name, "neigh", "replace", address, "lladdr", "02:00:00:00:00:01", "dev",
                "eth0", "nud", "permanent")

    def find(self, address):
        self.ip("-n", self.name, "neigh", "del", address, "dev", "eth0")


def address(network):
    """Where a program listens that runs there."""
    return network.there if network else "127.0.0.1"


class Service:
    """Another program of the test: haproxy, nginx, redis-server, …, in a network of its own if it is given one."""

    def __init__(self, port, *command, log=subprocess.DEVNULL, network=None):
        self.port, self.command, self.log = port, list(map(str, command)), log
        self.host = address(network)
        if network:
            self.command = [*network.prefix, *self.command]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_until(self.is_up, what=self.command[0])

    def is_up(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.command[0]} has ended")
        return listens(self.port, self.host)

    def send(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()


def front(kind, folder, nodes, network=None):
    """haproxy or nginx with the configuration of the documentation, but for the addresses."""
    port, host = closed_port(), address(network)
    suffix = {"haproxy": "cfg", "nginx": "conf"}[kind]
    text = (ROOT / f"docs/server/cluster/{kind}.{suffix}").read_text()
    for number, node in enumerate(nodes, 1):
        text = text.replace(f"10.0.0.1{number}:8080", f"{node.host}:{node.port}")
    # That the machine of the test is busy does not make a node one that is away.
    text = re.sub(r"(timeout connect|proxy_connect_timeout) 1s", r"\1 10s", text)
    path = pathlib.Path(folder) / f"{kind}.{suffix}"
    if kind == "haproxy":
        path.write_text(text.replace("0.0.0.0:80\n", f"{host}:{port}\n"))
        return Service(port, "haproxy", "-db", "-q", "-f", path, network=network)
    text = text.replace("listen 80;", f"listen {host}:{port};")
    path.write_text(f"pid {folder}/nginx.pid; error_log {folder}/nginx.log; daemon off;\n"
                    f"events {{ worker_connections 4096; }}\nhttp {{ access_log off;\n{text}\n}}")
    return Service(port, "nginx", "-p", folder, "-c", path, network=network)


class Cluster:
    """A folder with an origin and nodes, all of which end with it."""

    def __init__(self, program, count, origin=None, settings=()):
        self.pictures = origin or PictureOrigin()
        self.stack = contextlib.ExitStack()
        # Also when something cannot be started.
        atexit.register(self.stack.close)
        self.folder = pathlib.Path(self.stack.enter_context(
            tempfile.TemporaryDirectory(prefix="halcyon-cluster-", ignore_cleanup_errors=True)))
        self.origin = self.stack.enter_context(Origin(self.pictures))
        self.nodes = [Node(program, self.folder / f"node{number}", self.origin, settings)
                      for number in range(1, count + 1)]

    def __enter__(self):
        for node in self.nodes:
            self.stack.callback(node.stop)
            node.start()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def add(self, service):
        self.stack.callback(service.stop)
        service.start()
        return service

    def target(self, name, options="w:100"):
        return f"/_/{options}/plain/{self.origin.url}/{name}"

    def decodes(self):
        return sum(node.metric("halcyon_images_total") for node in self.nodes
                   if node.process.poll() is None)


class Answer:
    def __init__(self, status, fields, body, seconds):
        self.status, self.fields, self.body, self.seconds = status, fields, body, seconds


class Cut(Exception):
    """An answer that had begun has broken off."""


class Client:
    """One keep-alive connection, on one thread; a closed one is opened again for the next request."""

    def __init__(self, port, timeout=60, host="127.0.0.1"):
        self.connection = http.client.HTTPConnection(host, port, timeout=timeout)

    def get(self, target):
        began = clock.now()
        try:
            self.connection.request("GET", target)
            answer = self.connection.getresponse()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise
        try:
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Cut from error
        return Answer(answer.status, answer.headers, body, clock.now() - began)


def ask_all(requests, threads=100):
    """Sends (port, target) pairs from many threads at once; the answers in some order."""
    requests = collections.deque(requests)
    answers, failures = [], []

    def work():
        clients = {}
        while True:
            try:
                port, target = requests.popleft()
            except IndexError:
                return
            client = clients.setdefault(port, Client(port))
            try:
                answers.append(client.get(target))
            except (OSError, http.client.HTTPException, Cut) as error:
                failures.append(error)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return answers, failures


def ask_for_one(cluster, target, times):
    """Wants one new picture of all nodes, each `times` times at once: one of them loads and makes it."""
    answers, failures = ask_all([(node.port, target) for node in cluster.nodes] * times)
    check(not failures, f"{len(failures)} failures, such as {failures[:1]}")
    check({answer.status for answer in answers} == {200}, "not all answers are 200")
    check(len({answer.body for answer in answers}) == 1, "different answers")
    fetches, decodes = cluster.pictures.total, cluster.decodes()
    check((fetches, decodes) == (1, 1), f"{fetches} fetches, {decodes} decodes")
    return answers


class Load:
    """Requests one after the other from some threads, until it is stopped."""

    def __init__(self, port, target, threads=16):
        self.port, self.target = port, target
        self.answered, self.failed, self.cut = 0, [], 0
        self.slowest = 0.0
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self.work) for _ in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def work(self):
        client, number = Client(self.port), 0
        while not self.ended.is_set():
            number += 1
            try:
                answer = client.get(self.target(number))
                with self.lock:
                    self.answered += answer.status == 200
                    self.slowest = max(self.slowest, answer.seconds)
                    if answer.status != 200:
                        self.failed.append(answer.status)
            except Cut:
                with self.lock:
                    self.cut += 1
            except (OSError, http.client.HTTPException) as error:
                with self.lock:
                    self.failed.append(repr(error))


class ClusterCase:
    def __init__(self, name, body, programs, is_short):
        self.name, self.body, self.programs, self.is_short = name, body, programs, is_short


class ClusterCases:
    """A list of cases, filled by a decorator. A body gets the program, and returns its figures as text."""

    def __init__(self):
        self.all = []

    def add(self, name, programs=(), short=False):
        def register(body):
            self.all.append(ClusterCase(name, body, programs, short))
            return body
        return register
