"""More clients than a server has places for, and what its operators see of it meanwhile."""

import errno
import resource
import selectors
import socket
import sys
import threading
import time
import urllib.request

REQUEST = b"GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Operator(threading.Thread):
    """Asks whether the server is ready, again and again."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.url = f"http://127.0.0.1:{node.operations}/ready"
        self.slowest, self.asked, self.faults = 0.0, 0, []
        self.is_stopped = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_stopped.set()
        self.join(30)

    def run(self):
        while not self.is_stopped.wait(0.02):
            start = time.monotonic()
            try:
                urllib.request.urlopen(self.url, timeout=20).read()
            except OSError as error:
                self.faults.append(str(error))
            self.slowest = max(self.slowest, time.monotonic() - start)
            self.asked += 1


class Crowd:
    """Connections that are opened all at once."""

    def __init__(self, node, count):
        allow_files(count + 100)
        self.selector = selectors.EpollSelector()
        self.connected, self.answered, self.refused = set(), 0, 0
        self.sockets = []
        for _ in range(count):
            client = socket.socket()
            client.setblocking(False)
            if client.connect_ex(("127.0.0.1", node.port)) not in (0, errno.EINPROGRESS):
                self.refused += 1
                client.close()
                continue
            self.selector.register(client, selectors.EVENT_WRITE)
            self.sockets.append(client)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.selector.close()
        for client in self.sockets:
            client.close()

    def stay(self, seconds):
        """Sends nothing."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                self.take_connection(key.fileobj)

    def ask(self, seconds):
        """Each asks once, until all have an answer or the time is over."""
        end = time.monotonic() + seconds
        while self.selector.get_map() and (left := end - time.monotonic()) > 0:
            for key, events in self.selector.select(left):
                client = key.fileobj
                if events & selectors.EVENT_WRITE:
                    if self.take_connection(client):
                        client.send(REQUEST)
                        self.selector.register(client, selectors.EVENT_READ)
                else:
                    self.take_answer(client)

    def take_connection(self, client):
        self.selector.unregister(client)
        if client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.refused += 1
            return False
        self.connected.add(client)
        return True

    def take_answer(self, client):
        try:
            data = client.recv(65536)
        except OSError:
            data = b""
        self.answered += data.startswith(b"HTTP/1.1 200")
        self.selector.unregister(client)
        client.close()


def allow_files(count):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < count:
        raise RuntimeError(f"a process may have {most} files only, and {count} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, most))


def meet_crowds(node, patience):
    """Prints a table; what was not as it should be.

    patience: seconds within which the server has to say that it is ready, whoever else is there.
    """
    problems = []
    # Who asks whether it is ready is not to wait for the crowd in this program.
    sys.setswitchinterval(0.0005)
    print("| crowd | connected | answered | at the server | slowest /ready |\n|---|--:|--:|--:|--:|")
    for name, count in (("5,000 idle connections", 5000), ("10,000 requests at once", 10000)):
        with Operator(node) as operator, Crowd(node, count) as crowd:
            if name.endswith("once"):
                # The system refuses some for whom it has no place in the line before the server.
                crowd.ask(120)
            else:
                crowd.stay(10)
            most = node.metric("halcyon_connections")
        print(f"| {name} | {len(crowd.connected)} | {crowd.answered} | {most} | "
              f"{operator.slowest * 1000:.0f} ms of {operator.asked} |", flush=True)
        problems += operator.faults
        # Connections are accepted in groups of four.
        if most > 2048 + 3:
            problems.append(f"{most} connections were accepted")
        if operator.slowest > patience:
            problems.append(f"ready after {operator.slowest * 1000:.0f} ms only, for {name}")
    return problems
