"""A server on the loopback interface that says exactly what it is told to say."""

import contextlib
import random
import socket
import ssl
import threading


class Connection:
    def __init__(self, socket):
        self.socket, self.buffer = socket, b""

    def request(self):
        """The next request as (path, header fields in lower case); None at the end."""
        while b"\r\n\r\n" not in self.buffer:
            data = self.socket.recv(65536)
            if not data:
                return None
            self.buffer += data
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        fields = dict((name.strip().lower(), value.strip()) for name, _, value in
                      (line.partition(":") for line in lines[1:]))
        return lines[0].split(" ")[1], fields

    def send(self, *parts):
        for part in parts:
            self.socket.sendall(part if isinstance(part, bytes) else part.encode("latin-1"))

    def answer(self, body=b"", status="200 OK", fields=(), length=None):
        length = len(body) if length is None else length
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {length}", *fields]
        self.send("\r\n".join(lines) + "\r\n\r\n", body)

    def reset(self):
        """Closes with RST in place of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()


class Origin:
    """Calls `handler(connection)` for each connection, on a thread of its own.

    What the other side does to a connection is nothing that a handler has to care for.
    """

    def __init__(self, handler, certificate=None):
        self.handler, self.requests = handler, []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.socket.getsockname()[1]
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        scheme = "https" if self.context else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Wakes the thread that accepts.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            # What is sent goes at once: the next part does not wait for the last one to be acknowledged.
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            self.handler(Connection(client))
        except (OSError, ValueError):
            pass
        finally:
            client.close()


def answering(body=b"", status="200 OK", fields=(), length=None, seen=None):
    """A handler that gives every request the same answer."""
    def handler(connection):
        while request := connection.request():
            if seen is not None:
                seen.append(request)
            connection.answer(body, status, fields, length)
    return handler


def saying(*parts):
    """A handler that reads a request, sends these bytes and closes."""
    def handler(connection):
        connection.request()
        connection.send(*parts)
    return handler


def closed_port():
    """A port at which nobody listens, and which no connection is given by the kernel meanwhile."""
    while True:
        port = random.randrange(10_240, 32_768)
        if port in _given:
            continue
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            _given.add(port)
            return port


_given = set()
