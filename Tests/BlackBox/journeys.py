"""Hostile servers: redirects, connections that are kept, credentials, TLS."""

import subprocess
import time

from case import Cases, Skipped, check, fails, loads, survives
from drawing import png, svg
from origin import Origin, answering

CASES = Cases()
PICTURE = png()


def redirecting(location, status="302 Found"):
    return answering(status=status, fields=[f"Location: {location}"])


for location in ("file:///etc/passwd", "ftp://127.0.0.1/a.png", "data:image/png;base64,AAAA",
                 "javascript:alert(1)", "gopher://127.0.0.1/1", "http://127.0.0.1:65536/x",
                 "http://127.0.0.1:99999/x", "http://127.0.0.1:-1/x", "http://[::1/x",
                 "http://", "//", "http://127.0.0.1:0/x", "\u00e9\u00ff", "http://a b/"):
    @CASES.add(f"a redirect to {location}", "an error")
    def elsewhere(program, case, location=location):
        outcome = visit(redirecting(location), program, case, "--timeout", "2")
        fails(outcome)
        return outcome


def visit(handler, program, case, *options, path="/a"):
    """Loads a picture of a server."""
    with Origin(handler) as origin:
        return program.load(origin.url + path, *options, limit=case.seconds)


@CASES.add("a redirect without a location", "an error")
def nowhere(program, case):
    outcome = visit(answering(status="302 Found"), program, case)
    fails(outcome)
    return outcome


@CASES.add("a redirect to itself", "an error about redirects")
def circle(program, case):
    outcome = visit(redirecting("/a"), program, case)
    fails(outcome, "redirect")
    return outcome


@CASES.add("redirects without an end", "an error about redirects")
def endless(program, case):
    def handler(connection):
        while request := connection.request():
            connection.answer(status="302 Found", fields=[f"Location: {request[0]}a"])
    outcome = visit(handler, program, case)
    fails(outcome, "redirect")
    return outcome


@CASES.add("a redirect to another host, with a password", "the other host does not see it")
def stranger(program, case):
    seen, first = [], []
    with Origin(answering(PICTURE, seen=seen)) as other:
        location = f"http://localhost:{other.port}/b.png"

        def handler(connection):
            while request := connection.request():
                first.append(request)
                connection.answer(status="302 Found", fields=[f"Location: {location}"])
        with Origin(handler) as origin:
            url = origin.url.replace("//", "//anna:secret@") + "/a.png?token=abc"
            outcome = program.load(url, limit=case.seconds)
    survives(outcome)
    leaked = [fields for _, fields in seen if {"authorization", "cookie"} & set(fields)
              or "abc" in fields.get("referer", "")]
    check(not leaked, f"sent: {leaked}")
    return outcome


@CASES.add("a password in the URL of a failure", "masked in the message")
def masked(program, case):
    with Origin(answering(status="404 X")) as origin:
        url = origin.url.replace("//", "//anna:hunter2@") + "/a.png?token=abc123&signature=f00"
        process = program.start("load", url)
        outcome = program.finish(process, case.seconds)
    text = outcome.out + outcome.err
    for secret in ("hunter2", "abc123", "f00"):
        check(secret not in text, f"{secret} is in: {text.strip()}")
    return outcome


@CASES.add("401 without an end", "2002")
def challenged(program, case):
    fields = ['WWW-Authenticate: Basic realm="a"', 'WWW-Authenticate: Digest realm="b", nonce="c"']
    outcome = visit(answering(status="401 X", fields=fields), program, case)
    fails(outcome, code=2002)
    return outcome


# Connections that are kept

def closing(kill):
    """Answers one request on each connection, and ends it when the next one comes."""
    def handler(connection):
        if connection.request():
            connection.answer(PICTURE)
            # Says nothing of it.
            if connection.request() is not None and kill:
                connection.reset()
    return handler


def silent(connection):
    if connection.request():
        connection.answer(PICTURE)
        time.sleep(0.005)


for name, handler in (("reset at the next request", closing(kill=True)),
                      ("closed at the next request", closing(kill=False)),
                      ("closed in silence", silent)):
    @CASES.add(f"kept connections that are {name}", "all 40 pictures")
    def kept(program, case, handler=handler):
        with Origin(handler) as origin:
            urls = [f"{origin.url}/{number}.png" for number in range(40)]
            outcome = program.load(*urls, "--jobs", "4", limit=case.seconds)
        loads(outcome, 40)
        return outcome


@CASES.add("a server that closes each connection at once", "an error")
def shut(program, case):
    outcome = visit(lambda connection: None, program, case)
    fails(outcome)
    return outcome


# TLS

def https(handler, program, case, *options):
    """Visits a server of plain TCP as if it had TLS."""
    with Origin(handler) as origin:
        url = origin.url.replace("http:", "https:")
        outcome = program.load(url, "--timeout", "2", *options, limit=case.seconds)
    fails(outcome)
    return outcome


@CASES.add("HTTP in place of TLS", "an error")
def plain(program, case):
    return https(lambda connection: connection.send("HTTP/1.1 200 OK\r\n\r\n"), program, case)


def greet(connection):
    """Begins a TLS handshake."""
    connection.socket.recv(4096)
    connection.send(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03" + bytes(20))


@CASES.add("half a TLS handshake", "an error", seconds=30)
def half(program, case):
    def handler(connection):
        greet(connection)
        time.sleep(30)
    return https(handler, program, case)


@CASES.add("TLS that ends in the handshake", "an error")
def cut(program, case):
    return https(greet, program, case)


@CASES.add("rubbish in TLS records", "an error")
def rubbish(program, case):
    return https(lambda connection: connection.send(b"\x17\x03\x03\xff\xff" * 9999), program, case)


@CASES.add("a certificate that nobody has signed", "an error")
def unsigned(program, case):
    path = program.home / "certificate.pem"
    try:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=127.0.0.1", "-keyout", path, "-out", str(path) + ".crt"],
            check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        raise Skipped("no openssl")
    with open(path, "a") as file, open(str(path) + ".crt") as part:
        file.write(part.read())
    with Origin(answering(PICTURE), certificate=path) as origin:
        outcome = program.load(origin.url + "/a.png", limit=case.seconds)
    fails(outcome)
    return outcome


# What a picture may reach

@CASES.add("an SVG that links to a server and to files", "nothing is asked for")
def links(program, case):
    seen = []
    with Origin(answering(PICTURE, seen=seen)) as origin:
        text = (f'<image xlink:href="{origin.url}/b.png" width="9" height="9"/>'
                '<image xlink:href="file:///etc/passwd" width="9" height="9"/>&x;')
        head = f'<!DOCTYPE svg [<!ENTITY x SYSTEM "{origin.url}/x">]>'
        path = program.home / "links.svg"
        path.write_bytes(svg(text, head=head))
        outcome = program.load(path, limit=case.seconds)
    survives(outcome)
    check(not seen, f"asked for {[path for path, _ in seen]}")
    return outcome
