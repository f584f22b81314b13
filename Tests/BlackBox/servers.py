"""Hostile servers: statuses, headers, lengths and bodies."""

import gzip
import time
import zlib

from case import Cases, check, fails, loads, survives
from drawing import png
from origin import Origin, answering, closed_port, saying

CASES = Cases()
PICTURE = png()
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"


def visit(program, handler, *options, limit, path="/a.png"):
    with Origin(handler) as origin:
        return program.load(origin.url + path, "--timeout", "2", *options, limit=limit)


def failing(name, expected, handler, *words, code=None, **limits):
    """A server at which a load fails, with one of these words."""
    @CASES.add(name, expected, **limits)
    def body(program, case):
        outcome = visit(program, handler, limit=case.seconds)
        fails(outcome, *words, code=code)
        return outcome


def surviving(name, handler, **limits):
    """A server that may be understood or not."""
    @CASES.add(name, "ends by itself", **limits)
    def body(program, case):
        outcome = visit(program, handler, limit=case.seconds)
        survives(outcome)
        return outcome


def loading(name, handler, **limits):
    @CASES.add(name, "the picture", **limits)
    def body(program, case):
        outcome = visit(program, handler, limit=case.seconds)
        loads(outcome)
        return outcome


# Statuses

for status in ("000", "001", "050", "099", "-1", "99999999999999999999", "2 0", ""):
    failing(f"status “{status}”", "an error", saying(f"HTTP/1.1 {status} X\r\n\r\n"))
for status in (600, 999):
    failing(f"status {status}", "an error", answering(PICTURE, f"{status} X"))
failing("status 404", "2002", answering(b"none", "404 Not Found"), "404", code=2002)
failing("status 204", "an error", saying("HTTP/1.1 204 No Content\r\n\r\n"))
failing("status 304 that nobody asked for", "an error", saying("HTTP/1.1 304 X\r\n\r\n"))
surviving("status 206 that nobody asked for", answering(PICTURE, "206 Partial Content"))
failing("status 101", "an error",
        saying("HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", b"\0" * 999))
failing("HTTP/9.9", "an error", saying("HTTP/9.9 200 OK\r\n\r\n"))
failing("no HTTP", "an error", saying("SSH-2.0-OpenSSH_9.2\r\n"))
failing("an answer of zeros", "an error", saying(bytes(100_000)))
failing("no answer", "an error", saying())
loading("103 before 200", saying("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", HEAD,
                                 f"Content-Length: {len(PICTURE)}\r\n\r\n", PICTURE))


def repeat(first, part, times=1_000_000, pause=0):
    """A handler that goes on and on."""
    def handler(connection):
        connection.request()
        connection.send(first)
        for _ in range(times):
            connection.send(part)
            time.sleep(pause)
    return handler


failing("endless 100 Continue", "an error", repeat("", "HTTP/1.1 100 Continue\r\n\r\n" * 200))

# Headers

failing("endless header fields", "an error", repeat("HTTP/1.1 200 OK\r\n", "X-A: b\r\n" * 1000))
failing("an endless header field", "an error", repeat("HTTP/1.1 200 OK\r\nX: ", "a" * 60_000))
failing("an endless status line", "an error", repeat("HTTP/1.1 200 ", "a" * 60_000))
failing("a header a byte at a time", "a timeout", repeat(HEAD, "a", pause=0.3), "too l")
surviving("zeros in a header field", saying(HEAD, "X: a\0b\r\n", "Content-Length: 0\r\n\r\n"))
surviving("a header field without a colon", saying(HEAD, "nonsense\r\n\r\n", PICTURE))
surviving("10,000 cookies", saying(HEAD, "Set-Cookie: a=b\r\n" * 10_000, "\r\n", PICTURE))

# Lengths and bodies

for length in ("-1", "1e3", "99999999999999999999", "0x10", "5, 6"):
    surviving(f"Content-Length: {length}", saying(HEAD, f"Content-Length: {length}\r\n\r\n",
                                                  PICTURE))
failing("two lengths", "an error",
        saying(HEAD, f"Content-Length: 5\r\nContent-Length: {len(PICTURE)}\r\n\r\n", PICTURE),
        "several")
failing("two lengths in one field", "an error", answering(PICTURE, length="69, 70"), "several")
loading("the same length twice", answering(
    PICTURE, fields=[f"Content-Length: {len(PICTURE)}"]))
failing("a length of an exabyte", "an error", answering(PICTURE, length=10**18), "limit")
failing("a length too long", "an error", saying(HEAD, "Content-Length: 5000\r\n\r\n", PICTURE),
        "ended", "closed")
failing("a length too short", "an error", answering(PICTURE, length=len(PICTURE) - 20))
failing("an endless body", "an error", repeat(HEAD + "\r\n", b"a" * 1_000_000, times=1000),
        "limit", "larger")
failing("a body a byte at a time", "a timeout",
        repeat(HEAD + "Content-Length: 5000\r\n\r\n", b"a", pause=0.3), "too l")
failing("a silent server", "a timeout", lambda connection: time.sleep(30), "too l")
failing("an empty body", "an error", answering(b""), "empty")


def resetting(connection):
    connection.request()
    connection.send(HEAD, "Content-Length: 5000\r\n\r\n", PICTURE)
    connection.reset()


failing("a reset in the body", "an error", resetting)

CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n"
failing("a chunk of no size", "an error", saying(CHUNKED, "zz\r\nabc\r\n0\r\n\r\n"))
failing("a chunk too large for a number", "an error", saying(CHUNKED, "F" * 17 + "\r\nabc"))
failing("a chunk of a negative size", "an error", saying(CHUNKED, "-5\r\nabc\r\n0\r\n\r\n"))
failing("chunks without an end", "an error", saying(CHUNKED, "5\r\nabcde\r\n"))
failing("an endless chunk extension", "an error", repeat(CHUNKED + "5;", "a" * 60_000))
failing("an endless trailer", "an error",
        repeat(CHUNKED + f"5\r\nabcde\r\n0\r\n", "X-A: b\r\n" * 1000))

# Encodings


@CASES.add("a GiB of zeros in gzip", "an error")
def bomb(program, case):
    packer = zlib.compressobj(1, wbits=31)
    block = bytes(1 << 20)
    data = b"".join(packer.compress(block) for _ in range(1024)) + packer.flush()
    outcome = visit(program, answering(data, fields=["Content-Encoding: gzip"]),
                    limit=case.seconds)
    fails(outcome, "limit", "larger")
    return outcome


failing("gzip in gzip", "an error", answering(gzip.compress(gzip.compress(b"a" * 999)),
                                              fields=["Content-Encoding: gzip"]))
failing("rubbish for gzip", "an error", answering(b"rubbish" * 99,
                                                  fields=["Content-Encoding: gzip"]))
failing("gzip cut short", "an error", answering(gzip.compress(PICTURE)[:-30],
                                                fields=["Content-Encoding: gzip"]))
loading("an unknown encoding of a picture", answering(PICTURE, fields=["Content-Encoding: lzw"]))
failing("an unknown encoding of what is no picture", "an error",
        answering(b"\x01\x02\x03" * 99, fields=["Content-Encoding: lzw"]))

# What is no picture

failing("a page in place of a picture", "an error that says so", answering(
    b"<!DOCTYPE html><html><body>Log in</body></html>", fields=["Content-Type: image/png"]),
    "HTML", code=4001)
failing("JSON in place of a picture", "an error", answering(b'{"error": "quota"}'), code=4001)


@CASES.add("a picture that grows", "each size once it is asked for")
def growing(program, case):
    sizes = iter(range(1, 99))

    def handler(connection):
        while connection.request():
            connection.answer(png(next(sizes), 4), fields=["Cache-Control: no-store"])
    with Origin(handler) as origin:
        first = program.load(origin.url, "--force-refresh", limit=case.seconds)
        second = program.load(origin.url, "--force-refresh", limit=case.seconds)
    loads(first), loads(second)
    check([first.loaded[0]["width"], second.loaded[0]["width"]] == [1, 2], second.summary)
    return second


# Who does not answer at all

@CASES.add("nobody listens", "refused")
def refused(program, case):
    outcome = program.load(f"http://127.0.0.1:{closed_port()}/a.png", limit=case.seconds)
    fails(outcome, "refused")
    return outcome


@CASES.add("an unknown host", "it cannot be found")
def unknown(program, case):
    outcome = program.load("http://nobody.invalid/a.png", limit=case.seconds)
    fails(outcome, "cannot be found", "found")
    return outcome


for url in ("http://", "http://127.0.0.1:99999/a", "http://127.0.0.1:65536/a", "http://[::1/a",
            "http://127.0.0.1:-1/a", "http://127.0.0.1:0/a", "ftp://127.0.0.1/a", "http://a b/",
            "gopher://127.0.0.1/a", "http:///a.png"):
    @CASES.add(f"the URL {url}", "an error")
    def odd(program, case, url=url):
        outcome = program.load(url, "--timeout", "2", limit=case.seconds)
        fails(outcome)
        return outcome
